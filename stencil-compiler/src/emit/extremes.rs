//! Stores of one value of a warp: the largest or the smallest of its cells of a row.

use super::EmitError;
use super::c_like::Printer;
use super::index;
use super::infix::{self, SUM};
use super::nest::Tree;
use crate::kernel::{CellVar, Extreme, Index};

impl Printer<'_> {
    /// Writes the value that a warp keeps to an element of an array; the thread's cell lies `x` cells behind another.
    pub(super) fn store_extreme(
        &mut self,
        extreme: Extreme,
        (array, at): (&str, &str),
        (cell, x): (CellVar, i32),
        value: &Tree,
    ) -> Result<(), EmitError> {
        self.uses.extremes[extreme as usize] = true;
        let value = infix::print(value, SUM, self)?;
        let along = self.along_x.get(&cell);
        let along = along.ok_or(EmitError::Unknown { what: "cell", id: cell.0 as usize })?;
        let along = index::shifted(along, [x, 0, 0]);
        let kept = extreme.name();
        self.line(&format!("store_{kept}(&{array}[{at}], {value}, n0 - ({along}));"));
        Ok(())
    }

    /// Takes note of the place of a cell along x, if stores may ask for it.
    pub(super) fn note_along_x(&mut self, cell: CellVar, at: &Index) -> Result<(), EmitError> {
        if self.kernel.buffers.iter().any(|buffer| buffer.extreme.is_some()) {
            let at = self.index(at, SUM)?;
            self.along_x.insert(cell, at);
        }
        Ok(())
    }
}
