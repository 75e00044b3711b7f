//! The rows that a kernel over rows accesses.

use std::collections::{BTreeMap, BTreeSet};

use super::{EmitError, get};
use crate::kernel::{BufferId, CellVar, Index, IntVar, Kernel, Mode, Stmt};
use crate::schedule::LaunchKind;

/// A row that a kernel reads: the part from `x = -x_lo` to `n + x_hi` of the row `dy`, `dz` away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowInput {
    /// Index into [`Kernel::buffers`].
    pub buffer: usize,
    /// Rows away along y.
    pub dy: i32,
    /// Rows away along z.
    pub dz: i32,
    /// Cells before the first one of the row.
    pub x_lo: usize,
    /// Cells behind the last one of the row.
    pub x_hi: usize,
}

/// The rows that a kernel over rows reads and writes. Positions count from the row and the first
/// cell of the region that the launch covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowAccess {
    /// Rows that are only read, ordered by buffer, then z, then y.
    pub inputs: Vec<RowInput>,
    /// Buffers of which the own row is written, or read and written, by index.
    pub outputs: Vec<usize>,
}

/// The place of an access relative to the own cell of the region.
pub(super) type Shift = [i64; 3];

/// The rows that a kernel over rows reads and writes.
///
/// # Errors
/// If the kernel is not over rows, or a position is not at a constant distance.
pub fn row_access(kernel: &Kernel) -> Result<RowAccess, EmitError> {
    if kernel.launch.kind != LaunchKind::Rows {
        return Err(EmitError::Launch { kernel: kernel.name.clone() });
    }
    let mut places = Places::new(kernel);
    let mut rows: BTreeMap<(u32, i64, i64), (i64, i64)> = BTreeMap::new();
    let mut written = BTreeSet::new();
    for stmt in &kernel.body {
        match stmt {
            Stmt::Load { buffer, cell, offset, .. } => {
                let [x, y, z] = places.shift(*cell, *offset)?;
                match get(&kernel.buffers, buffer.0, "buffer")?.mode {
                    Mode::Read => {
                        let reach = rows.entry((buffer.0, z, y)).or_default();
                        *reach = (reach.0.min(x), reach.1.max(x));
                    }
                    Mode::Write | Mode::ReadWrite if written.contains(buffer) => {
                        return Err(places.error("a load from a buffer behind a store to it"));
                    }
                    Mode::Write | Mode::ReadWrite => places.own([x, y, z])?,
                }
            }
            Stmt::Store { buffer, cell, offset, .. } => {
                places.own(places.shift(*cell, *offset)?)?;
                written.insert(*buffer);
            }
            other => places.follow(other)?,
        }
    }
    let inputs = rows
        .into_iter()
        .map(|((buffer, z, y), reach)| input(buffer, [y, z], reach))
        .collect::<Result<_, _>>()?;
    Ok(RowAccess { inputs, outputs: outputs(kernel, &written)? })
}

fn input(buffer: u32, [y, z]: [i64; 2], (least, most): (i64, i64)) -> Result<RowInput, EmitError> {
    let small = |value: i64| i32::try_from(value).map_err(|_| EmitError::Constant(value));
    let length = |value: i64| usize::try_from(value).map_err(|_| EmitError::Constant(value));
    Ok(RowInput {
        buffer: buffer as usize,
        dy: small(y)?,
        dz: small(z)?,
        x_lo: length(least.saturating_neg())?,
        x_hi: length(most)?,
    })
}

fn outputs(kernel: &Kernel, written: &BTreeSet<BufferId>) -> Result<Vec<usize>, EmitError> {
    for buffer in written {
        if get(&kernel.buffers, buffer.0, "buffer")?.mode == Mode::Read {
            return Err(EmitError::Rows {
                kernel: kernel.name.clone(),
                has: "a store to a buffer that it only reads",
            });
        }
    }
    let outputs = kernel.buffers.iter().enumerate().filter(|(_, buffer)| buffer.mode != Mode::Read);
    Ok(outputs.map(|(i, _)| i).collect())
}

/// Coordinates relative to the own cell: constants, once thread and block are taken away.
pub(super) struct Places<'a> {
    kernel: &'a Kernel,
    ints: BTreeMap<IntVar, Affine>,
    cells: BTreeMap<CellVar, Shift>,
}

/// A sum of a constant and of how often each axis' own position is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Affine {
    constant: i64,
    axes: [i64; 3],
}

impl Affine {
    fn add(self, other: Affine, factor: i64) -> Affine {
        let axes = std::array::from_fn(|i| {
            self.axes[i].saturating_add(factor.saturating_mul(other.axes[i]))
        });
        Affine {
            constant: self.constant.saturating_add(factor.saturating_mul(other.constant)),
            axes,
        }
    }
}

impl<'a> Places<'a> {
    pub(super) fn new(kernel: &'a Kernel) -> Self {
        Places { kernel, ints: BTreeMap::new(), cells: BTreeMap::new() }
    }

    pub(super) fn error(&self, has: &'static str) -> EmitError {
        EmitError::Rows { kernel: self.kernel.name.clone(), has }
    }

    /// Takes note of a statement that defines an integer variable or a cell.
    pub(super) fn follow(&mut self, stmt: &Stmt) -> Result<(), EmitError> {
        match stmt {
            Stmt::Int { var, value } => {
                let value = self.affine(value)?;
                self.ints.insert(*var, value);
            }
            Stmt::Cell { cell, at } => {
                let mut shift = [0; 3];
                for (axis, index) in at.iter().enumerate() {
                    shift[axis] = self.along(axis, index)?;
                }
                self.cells.insert(*cell, shift);
            }
            Stmt::Note(_) | Stmt::Let { .. } | Stmt::Load { .. } | Stmt::Store { .. } => {}
            Stmt::For { .. } => return Err(self.error("a loop")),
            Stmt::If { .. } => return Err(self.error("a condition")),
            Stmt::Set { .. } => return Err(self.error("a queue")),
            Stmt::LoadShared { .. }
            | Stmt::StoreShared { .. }
            | Stmt::Copy { .. }
            | Stmt::CopyBox { .. } => return Err(self.error("shared memory")),
            Stmt::ArriveCopies { .. }
            | Stmt::Arrive { .. }
            | Stmt::Expect { .. }
            | Stmt::Wait { .. }
            | Stmt::Sync => return Err(self.error("a barrier")),
        }
        Ok(())
    }

    /// The place of an access.
    pub(super) fn shift(&self, cell: CellVar, offset: [i32; 3]) -> Result<Shift, EmitError> {
        let base = self
            .cells
            .get(&cell)
            .ok_or(EmitError::Unknown { what: "cell", id: cell.0 as usize })?;
        Ok(std::array::from_fn(|axis| base[axis].saturating_add(i64::from(offset[axis]))))
    }

    fn own(&self, shift: Shift) -> Result<(), EmitError> {
        if shift == [0; 3] {
            Ok(())
        } else {
            Err(self.error("an access to another cell of a buffer that it writes"))
        }
    }

    fn along(&self, axis: usize, index: &Index) -> Result<i64, EmitError> {
        let value = self.affine(index)?;
        let mut own = [0; 3];
        own[axis] = 1;
        let fixed = axis >= self.kernel.dimension && value.axes == [0; 3];
        if value.axes != own && !fixed {
            return Err(self.error("a cell at no constant distance from its own"));
        }
        Ok(value.constant.saturating_add(i64::from(self.kernel.launch.extend[axis])))
    }

    fn affine(&self, index: &Index) -> Result<Affine, EmitError> {
        let mut axes = [0; 3];
        Ok(match index {
            Index::Const(constant) => Affine { constant: *constant, axes },
            Index::Var(var) => *self
                .ints
                .get(var)
                .ok_or(EmitError::Unknown { what: "integer variable", id: var.0 as usize })?,
            Index::Thread(0) => {
                axes[0] = 1;
                Affine { constant: 0, axes }
            }
            // A row is one block, so the block along x and the threads across are 0.
            Index::Block(0) | Index::Thread(_) => Affine::default(),
            Index::Block(axis) if *axis < 3 => {
                axes[*axis] = 1;
                Affine { constant: 0, axes }
            }
            Index::Add(a, b) => self.affine(a)?.add(self.affine(b)?, 1),
            Index::Sub(a, b) => self.affine(a)?.add(self.affine(b)?, -1),
            Index::Mul(a, by) => Affine::default().add(self.affine(a)?, *by),
            Index::Block(_)
            | Index::Size(_)
            | Index::Div(..)
            | Index::Rem(..)
            | Index::Min(..)
            | Index::Wrap(..)
            | Index::Numbered(..) => {
                return Err(self.error("a position that is not a sum"));
            }
        })
    }
}
