//! What memory a run takes, and for what.

use crate::backend::cpu::array::Shape;

/// Bytes that a run takes on what does its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Values that a step as it is scheduled cannot do without: those of cells in fields, in their new values where these are
    /// apart, in accumulators, in functions that are stored, and in sources.
    pub values: usize,
    /// Values of fields as they were, to go back to.
    pub kept: usize,
    /// Ghost cells around all of these.
    pub ghosts: usize,
    /// What fills up rows and arrays so that the next one begins where it should.
    pub padding: usize,
    /// All else: sums of rows, lists of ghost cells, room to pack arrays in.
    pub others: usize,
}

impl Room {
    /// So many arrays of a shape, others of fields as they were, in so many patches, which take so many bytes.
    pub(crate) fn of_arrays(
        shape: &Shape,
        value_bytes: usize,
        [arrays, kept]: [usize; 2],
        patches: usize,
        bytes: usize,
    ) -> Self {
        let inside: usize = shape.cells.iter().product();
        let around = (0..3).map(|axis| shape.cells[axis] + 2 * shape.halo[axis]);
        let around = around.product::<usize>() - inside;
        let of = |arrays: usize, cells: usize| arrays * patches * cells * value_bytes;
        let all = of(arrays + kept, inside + around);
        debug_assert!(all <= bytes, "{all} bytes of cells in {bytes}");
        Room {
            values: of(arrays, inside),
            kept: of(kept, inside),
            ghosts: of(arrays + kept, around),
            padding: bytes.saturating_sub(all),
            others: 0,
        }
    }

    /// All of them.
    pub fn bytes(&self) -> usize {
        self.values + self.kept + self.ghosts + self.padding + self.others
    }

    /// All of them over the values that a step cannot do without.
    pub fn ratio(&self) -> f64 {
        self.bytes() as f64 / self.values.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_values_ghost_cells_and_padding() {
        // Rows of 12 values and ghost cells before and behind fill up lines of 32 values.
        let shape = Shape::new([12, 5, 4], [2, 1, 0], 4).unwrap();
        let bytes = 3 * 4 * shape.len();
        let room = Room::of_arrays(&shape, 4, [2, 1], 1, bytes);
        let cells = 12 * 5 * 4;
        assert_eq!((room.values, room.kept), (2 * 4 * cells, 4 * cells));
        assert_eq!(room.ghosts, 3 * 4 * (16 * 7 * 4 - cells));
        assert_eq!(room.bytes(), bytes);
        assert!(room.padding >= 3 * 4 * 16 * 7 * 4);
        assert_eq!(room.ratio(), bytes as f64 / (2 * 4 * cells) as f64);
        assert_eq!(Room::default().ratio(), 0.0);
    }
}
