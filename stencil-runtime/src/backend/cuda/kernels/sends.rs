//! The values that launches on a card also store in the memory of other cards, in whose patches they are ghost cells.

use crate::backend::cuda::memory::patches::MeshShape;
use crate::mesh::Neighbours;

/// The cells at both ends of a patch that other patches show as ghost cells, and how far away these are, as parameters of a
/// kernel. Cells are counted as in its arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sends {
    /// Cells before this one are sent.
    pub(crate) low: i32,
    /// This cell, and those behind it, are sent.
    pub(crate) high: i32,
    /// This cell, and those behind it, are no cells of the patch.
    pub(crate) end: i32,
    /// Values from a cell to its ghost cell.
    pub(crate) to_low: i64,
    /// The same for the high end.
    pub(crate) to_high: i64,
}

impl Sends {
    /// No cell is sent.
    pub(crate) const NONE: Self =
        Sends { low: 0, high: i32::MAX, end: i32::MAX, to_low: 0, to_high: 0 };

    /// Returns the cells of a patch that others show, so many layers of them across an axis at each end. There are none if a
    /// patch is thinner than these layers, or if patches have more than one neighbour at an end.
    pub(crate) fn new(
        (neighbours, shape): (&Neighbours, &MeshShape),
        patch: usize,
        (axis, depth): (usize, usize),
    ) -> Option<Self> {
        let unit = [1, i64::from(shape.pitch), i64::from(shape.plane)][axis];
        let depths = std::array::from_fn(|a| if a == axis { depth } else { 0 });
        let cells = neighbours.patches[patch].cells[axis];
        let end = |cells: usize| i32::try_from(cells as i64 * unit).ok();
        let mut sends = Sends { end: end(cells)?, ..Self::NONE };
        for to in 0..neighbours.patches.len() {
            let from_here = neighbours.boxes(to, depths).into_iter().filter(|of| {
                of.from == patch && of.faces[axis].is_none() && !neighbours.is_local(of)
            });
            for of in from_here {
                if of.size[axis] != depth {
                    return None;
                }
                let patches = to as i64 - patch as i64;
                let away = patches * shape.stride() - of.shift[axis] as i64 * unit;
                // The low ghost cells of a patch are the high cells of the one before.
                if of.lo[axis] < 0 {
                    if sends.high != Self::NONE.high {
                        return None;
                    }
                    (sends.high, sends.to_high) = (end(cells - depth)?, away);
                } else {
                    if sends.low != Self::NONE.low {
                        return None;
                    }
                    (sends.low, sends.to_low) = (end(depth)?, away);
                }
            }
        }
        Some(sends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Cut, Shape};
    use crate::mesh::{Mesh, Patches};

    fn on(cells: [usize; 3], counts: [usize; 3], periodic: bool) -> (Neighbours, MeshShape) {
        let mesh = Mesh { cells, extent: [1.0; 3], origin: [0.0; 3], centered: false };
        let patches = Patches::new(&mesh, counts, counts.iter().product()).unwrap();
        let shape = Shape::new(cells, [2; 3], 8).unwrap();
        let cut = Cut::new(shape, patches, [2; 3], 8).unwrap();
        let neighbours = Neighbours::new(&patches, &mesh, [periodic; 3]);
        (neighbours, MeshShape::new(&cut, &mesh, 1 << 20))
    }

    #[test]
    fn ends_are_the_ghost_cells_of_neighbours() {
        // Patches of 3, 4 and 4 planes.
        let (neighbours, shape) = on([8, 6, 11], [1, 1, 3], true);
        let plane = i64::from(shape.plane);
        let sends = |patch| Sends::new((&neighbours, &shape), patch, (2, 2)).unwrap();
        let of = |patch: usize| {
            let Sends { low, high, end, to_low, to_high } = sends(patch);
            assert_eq!(i64::from(end), plane * [3, 4, 4][patch]);
            ([low, high].map(|cell| i64::from(cell) / plane), [to_low, to_high])
        };
        let stride = 1 << 20;
        assert_eq!(of(0), ([2, 1], [2 * stride + 4 * plane, stride - 3 * plane]));
        assert_eq!(of(1), ([2, 2], [-stride + 3 * plane, stride - 4 * plane]));
        assert_eq!(of(2), ([2, 2], [-stride + 4 * plane, -2 * stride - 4 * plane]));
    }

    #[test]
    fn ends_of_the_mesh_are_not_sent() {
        let (neighbours, shape) = on([8, 6, 10], [1, 1, 2], false);
        let sends = |patch| Sends::new((&neighbours, &shape), patch, (2, 2)).unwrap();
        assert_eq!((sends(0).low, sends(0).to_low), (0, 0));
        assert_eq!((sends(1).high, sends(1).to_high), (i32::MAX, 0));
        assert!(sends(0).high < i32::MAX && sends(1).low > 0);
    }

    #[test]
    fn patches_that_are_too_thin_send_nothing() {
        let (neighbours, shape) = on([8, 6, 4], [1, 1, 4], true);
        assert_eq!(Sends::new((&neighbours, &shape), 0, (2, 2)), None);
    }
}
