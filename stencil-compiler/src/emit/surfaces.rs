//! Values of surfaces: read and written one by one, by their places along the axes.

use std::collections::BTreeSet;

use super::c_like::Printer;
use super::index;
use super::infix::{self, SUM};
use super::nest::Tree;
use super::{EmitError, Patches, get};
use crate::kernel::{BufferId, CellVar, Index, Kernel, Stmt};

/// Names that a text with surfaces uses for itself.
pub(super) const RESERVED: &[&str] = &[
    "read_value",
    "write_value",
    "from0",
    "from1",
    "from2",
    "count0",
    "count1",
    "rows",
    "planes",
];

/// Parameters behind `first0` to `first2` where a launch covers many patches.
pub(super) const OF_PATCHES: &str =
    "const int count0, const int count1, const int rows, const int planes";

/// The place of cell 0 of a patch: patches stand in a surface as they do in the mesh.
pub(super) const FROM: &str = "  \
  const int from0 = first0 + number % count0 * pitch;
  const int from1 = first1 + number / count0 % count1 * rows;
  const int from2 = first2 + number / (count0 * count1) * planes;
";

/// Has a kernel any?
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
                    let surface = is_surface(kernel, *buffer);
                    let kind = match surface {
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
    pub(super) fn is_surface(&self, buffer: BufferId) -> bool {
        is_surface(self.kernel, buffer)
    }

    /// Declares a cell: its place in arrays, and along each axis in surfaces.
    pub(super) fn cell(&mut self, cell: CellVar, at: &[Index; 3]) -> Result<(), EmitError> {
        let name = get(&self.names.cells, cell.0, "cell")?;
        let along = self.names.along.get(&cell);
        if along.is_none() || self.cells.in_arrays.contains(&cell) {
            let at = self.linear(at)?;
            self.line(&format!("const int {name} = {at};"));
        }
        for (axis, name) in along.into_iter().flatten().enumerate() {
            let from = match self.patches {
                Patches::One => format!("first{axis}"),
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

    /// The arguments that say where a value of a surface is.
    fn place(
        &self,
        buffer: BufferId,
        cell: CellVar,
        offset: [i32; 3],
    ) -> Result<String, EmitError> {
        let along = self.names.along.get(&cell).ok_or(EmitError::Unknown {
            what: "cell",
            id: cell.0 as usize,
        })?;
        let at = [0, 1, 2].map(|axis| index::shifted(&along[axis], [offset[axis], 0, 0]));
        let name = get(&self.names.buffers, buffer.0, "buffer")?;
        Ok(format!("{name}, {}", at.join(", ")))
    }

    pub(super) fn read_surface(
        &mut self,
        reg: u32,
        buffer: BufferId,
        (cell, offset): (CellVar, [i32; 3]),
    ) -> Result<(), EmitError> {
        self.uses.reads_surfaces = true;
        let from = self.place(buffer, cell, offset)?;
        self.define(reg, &format!("read_value({from})"))
    }

    pub(super) fn write_surface(
        &mut self,
        buffer: BufferId,
        (cell, [x, y, z]): (CellVar, [i32; 3]),
        values: &[Tree],
    ) -> Result<(), EmitError> {
        self.uses.writes_surfaces = true;
        for (x, value) in (x..).zip(values) {
            let to = self.place(buffer, cell, [x, y, z])?;
            let value = infix::print(value, SUM, self)?;
            self.line(&format!("write_value({to}, {value});"));
        }
        Ok(())
    }
}
