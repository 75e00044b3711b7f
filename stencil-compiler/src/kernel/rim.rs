//! The cells around the tile of a block on which a function is evaluated, since neighbours read it
//! there.

use crate::algorithm::Offset;

/// Cells around a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rim {
    /// Columns before and behind the tile.
    pub x: [u32; 2],
    /// Rows before and behind the tile.
    pub y: [u32; 2],
    /// Are the corners among them?
    pub corners: bool,
}

/// A part of a rim: columns beside the tile, or rows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Band {
    /// Cells of the band before and behind the tile.
    pub(super) sides: [u32; 2],
    /// The axis on which they lie beside the tile: 0 or 1.
    pub(super) axis: usize,
    /// The first cell of the band along the other axis, and how many it has there.
    pub(super) across: (i32, u32),
}

impl Band {
    /// Cells of the band.
    pub(super) fn cells(&self) -> u32 {
        (self.sides[0] + self.sides[1]) * self.across.1
    }
}

impl Rim {
    /// Takes in a read at an offset in the plane from the first of a thread's `points` cells along x.
    pub(super) fn include(&mut self, at: Offset, points: i32) {
        let sides = |known: [u32; 2], low: i32, high: i32| {
            [known[0].max((-low).max(0).unsigned_abs()), known[1].max(high.max(0).unsigned_abs())]
        };
        self.corners |= !(0..points).contains(&at[0]) && at[1] != 0;
        self.x = sides(self.x, at[0], at[0] - points + 1);
        self.y = sides(self.y, at[1], at[1]);
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.x == [0; 2] && self.y == [0; 2]
    }

    /// A thread's cells, and the furthest ones of the rim as seen from them.
    pub(super) fn places(&self, points: i32) -> Vec<Offset> {
        let ends = |sides: [u32; 2], last: i32| -> Vec<i32> {
            let own = 0..=last;
            let beside = [-(sides[0] as i32), last + sides[1] as i32];
            own.chain(beside).collect()
        };
        let (xs, ys) = (ends(self.x, points - 1), ends(self.y, 0));
        let mut places: Vec<Offset> = Vec::new();
        for &y in &ys {
            for &x in &xs {
                let beside = !(0..points).contains(&x) && y != 0;
                if (self.corners || !beside) && !places.contains(&[x, y, 0]) {
                    places.push([x, y, 0]);
                }
            }
        }
        places
    }

    /// The bands around a tile.
    pub(super) fn bands(&self, tile: [u32; 2]) -> Vec<Band> {
        let rows = match self.corners {
            true => (-(self.y[0] as i32), tile[1] + self.y[0] + self.y[1]),
            false => (0, tile[1]),
        };
        let beside = Band { sides: self.x, axis: 0, across: rows };
        let along = Band { sides: self.y, axis: 1, across: (0, tile[0]) };
        let mut bands = vec![beside, along];
        bands.retain(|band| band.cells() > 0);
        bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rim_has_what_is_read_beside_a_tile() {
        let mut rim = Rim::default();
        rim.include([1, 0, 0], 2);
        assert!(rim.is_empty());
        rim.include([3, 0, 0], 2);
        assert_eq!((rim.x, rim.y, rim.corners), ([0, 2], [0, 0], false));
        rim.include([-1, 0, 0], 2);
        rim.include([0, -3, 0], 2);
        assert_eq!((rim.x, rim.y, rim.corners), ([1, 2], [3, 0], false));
        assert_eq!(
            rim.places(2),
            [[0, 0, 0], [1, 0, 0], [-1, 0, 0], [3, 0, 0], [0, -3, 0], [1, -3, 0]]
        );
        rim.include([-1, 1, 0], 2);
        assert_eq!((rim.y, rim.corners), ([3, 1], true));
    }

    #[test]
    fn bands_have_each_cell_of_the_rim_once() {
        for corners in [false, true] {
            let rim = Rim { x: [2, 2], y: [1, 1], corners };
            let cells: u32 = rim.bands([8, 4]).iter().map(Band::cells).sum();
            assert_eq!(cells, 2 * 2 * 4 + 2 * 8 + if corners { 8 } else { 0 });
        }
        assert!(Rim::default().bands([8, 4]).is_empty());
    }
}
