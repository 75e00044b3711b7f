//! Reads and writes of values: in arrays by their index, in surfaces one by one by their places along the axes.

use std::collections::BTreeSet;

use super::c_like::Printer;
use super::index;
use super::infix::{self, SUM, parenthesized};
use super::nest::Tree;
use super::{EmitError, Patches, get};
use crate::kernel::{Buffer, BufferId, CellVar, Index, Kernel, Stmt};

/// Names that a text with surfaces uses for itself.
pub(super) const RESERVED: &[&str] =
    &["read_value", "write_value", "from0", "from1", "from2", "count0", "count1", "rows", "planes"];

/// Parameters behind `first0` to `first2` where a launch covers many patches.
pub(super) const OF_PATCHES: &str =
    "const int count0, const int count1, const int rows, const int planes";

/// The place of cell 0 of a patch: patches stand in a surface as they do in the mesh.
pub(super) const FROM: &str = "  \
  const int from0 = first0 + number % count0 * pitch;
  const int from1 = first1 + number / count0 % count1 * rows;
  const int from2 = first2 + number / (count0 * count1) * planes;
";

/// Has a kernel surfaces?
pub(super) fn has_any(kernel: &Kernel) -> bool {
    kernel.buffers.iter().any(|buffer| buffer.surface)
}

/// Cells of which values are accessed: in arrays, and in surfaces.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) in_arrays: BTreeSet<CellVar>,
    pub(super) in_surfaces: BTreeSet<CellVar>,
}

impl Cells {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut cells = Cells::default();
        cells.find(kernel, &kernel.body);
        cells
    }

    fn find(&mut self, kernel: &Kernel, body: &[Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Load { buffer, cell, .. } | Stmt::Store { buffer, cell, .. } => {
                    let kind = match is_surface(kernel, *buffer) {
                        true => &mut self.in_surfaces,
                        false => &mut self.in_arrays,
                    };
                    kind.insert(*cell);
                }
                Stmt::For { body, .. } | Stmt::If { body, .. } => self.find(kernel, body),
                _ => {}
            }
        }
    }
}

fn is_surface(kernel: &Kernel, buffer: BufferId) -> bool {
    let buffer = kernel.buffers.get(buffer.0 as usize);
    buffer.is_some_and(|buffer| buffer.surface)
}

impl Printer<'_> {
    /// Declares a cell: where it is in arrays, and along each axis in surfaces.
    pub(super) fn cell(&mut self, cell: CellVar, at: &[Index; 3]) -> Result<(), EmitError> {
        self.note_along_x(cell, &at[0])?;
        let name = get(&self.names.cells, cell.0, "cell")?;
        let along = self.names.along.get(&cell);
        if along.is_none() || self.cells.in_arrays.contains(&cell) {
            let at = self.linear(at)?;
            self.line(&format!("const int {name} = {at};"));
        }
        for (axis, name) in along.into_iter().flatten().enumerate() {
            let from = match self.patches {
                Patches::One | Patches::Part => format!("first{axis}"),
                Patches::Many => format!("from{axis}"),
            };
            let value = match &at[axis] {
                Index::Const(0) => from,
                at => format!("{} + {from}", self.index(at, SUM)?),
            };
            self.line(&format!("const int {name} = {value};"));
        }
        Ok(())
    }

    /// Defines a register as the value of a buffer at a cell.
    pub(super) fn load(
        &mut self,
        reg: u32,
        buffer: BufferId,
        (cell, offset): (CellVar, [i32; 3]),
    ) -> Result<(), EmitError> {
        if is_surface(self.kernel, buffer) {
            self.uses.reads_surfaces = true;
            let from = self.in_surface(buffer, cell, offset)?;
            return self.define(reg, &format!("read_value({from})"));
        }
        let at = self.in_array(buffer, cell, offset)?;
        let buffer = get(&self.names.buffers, buffer.0, "buffer")?;
        self.define(reg, &format!("{buffer}[{at}]"))
    }

    /// Writes values of a buffer at a cell and those behind it along x.
    pub(super) fn store(
        &mut self,
        buffer: BufferId,
        (cell, [x, y, z]): (CellVar, [i32; 3]),
        values: &[Tree],
    ) -> Result<(), EmitError> {
        if !is_surface(self.kernel, buffer) {
            let name = get(&self.names.buffers, buffer.0, "buffer")?;
            let at = |printer: &Self, n| printer.in_array(buffer, cell, [x + n, y, z]);
            if let ([value], Some(extreme)) =
                (values, self.kernel.buffers[buffer.0 as usize].extreme)
            {
                return self.store_extreme(extreme, (name, &at(self, 0)?), (cell, x), value);
            }
            if self.patches == Patches::Part && self.kernel.buffers[buffer.0 as usize].sent {
                return self.write_and_send(name, values, at);
            }
            return self.write(name, values, at);
        }
        self.uses.writes_surfaces = true;
        for (x, value) in (x..).zip(values) {
            let to = self.in_surface(buffer, cell, [x, y, z])?;
            let value = infix::print(value, SUM, self)?;
            self.line(&format!("write_value({to}, {value});"));
        }
        Ok(())
    }

    /// The index of a cell's value in an array, whose values lie apart if those of other buffers lie between.
    fn in_array(
        &self,
        buffer: BufferId,
        cell: CellVar,
        offset: [i32; 3],
    ) -> Result<String, EmitError> {
        let cell = get(&self.names.cells, cell.0, "cell")?;
        let at = index::shifted(cell, offset);
        let buffer = self.kernel.buffers.get(buffer.0 as usize);
        Ok(match buffer.map_or(1, Buffer::cell_stride) {
            1 => at,
            stride => format!("{} * {stride}", parenthesized(at, offset != [0; 3])),
        })
    }

    /// Returns the coordinates of a value in a surface, as arguments.
    fn in_surface(
        &self,
        buffer: BufferId,
        cell: CellVar,
        offset: [i32; 3],
    ) -> Result<String, EmitError> {
        let along = self
            .names
            .along
            .get(&cell)
            .ok_or(EmitError::Unknown { what: "cell", id: cell.0 as usize })?;
        let at = [0, 1, 2].map(|axis| index::shifted(&along[axis], [offset[axis], 0, 0]));
        let name = get(&self.names.buffers, buffer.0, "buffer")?;
        Ok(format!("{name}, {}", at.join(", ")))
    }
}
