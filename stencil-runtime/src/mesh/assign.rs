//! The boxes that a mesh is cut into for several devices, one for each.

use crate::Error;

/// Layers of ghost cells that cuts are compared by: those of differences of the sixth order.
const DEPTH: u128 = 3;

/// Counts below the wanted one that are tried for a suggestion.
const TRIED: usize = 1000;

/// Returns the patches along x, y, z that a mesh is cut into for so many devices, a box for each; ends of `periodic` axes are
/// joined.
///
/// The largest box has the fewest cells, those that its device receives included. Among equal cuts it is the one with the
/// fewest boxes along x, then along y: rows stay long, and the ghost cells of a cut along z follow each other in memory.
///
/// ```
/// use stencil_runtime::device_boxes;
/// assert_eq!(device_boxes([256; 3], 2, [true; 3])?, [1, 1, 2]);
/// assert_eq!(device_boxes([4096, 4096, 1], 8, [true, true, false])?, [2, 4, 1]);
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
///
/// # Errors
/// If no cut makes as many boxes, each with a cell at least.
pub fn device_boxes(
    cells: [usize; 3],
    devices: usize,
    periodic: [bool; 3],
) -> Result<[usize; 3], Error> {
    let key = |counts: &[usize; 3]| (load(cells, *counts, periodic), counts[0], counts[1]);
    cuts(cells, devices).into_iter().min_by_key(key).ok_or_else(|| {
        let all = cells.into_iter().fold(1, usize::saturating_mul);
        let fewer = (1..=all.min(devices.saturating_sub(1))).rev().take(TRIED);
        let fewer = fewer.into_iter().find(|count| !cuts(cells, *count).is_empty());
        Error::Boxes { devices, cells, fewer: fewer.unwrap_or(1) }
    })
}

/// Returns all cuts into so many boxes that have a cell at least.
fn cuts(cells: [usize; 3], boxes: usize) -> Vec<[usize; 3]> {
    let mut all = Vec::new();
    for p in divisors(boxes).into_iter().filter(|p| *p <= cells[0]) {
        let rest = boxes / p;
        let along_y = divisors(rest).into_iter().filter(|q| *q <= cells[1] && rest / q <= cells[2]);
        all.extend(along_y.map(|q| [p, q, rest / q]));
    }
    all
}

fn divisors(number: usize) -> Vec<usize> {
    let small = (1..=number.isqrt()).filter(|count| number.is_multiple_of(*count));
    let mut all: Vec<usize> = small.flat_map(|count| [count, number / count]).collect();
    all.dedup();
    all
}

/// Returns the cells of the largest box and its ghost cells beyond faces that other boxes share.
fn load(cells: [usize; 3], counts: [usize; 3], periodic: [bool; 3]) -> u128 {
    let size: [u128; 3] = std::array::from_fn(|a| cells[a].div_ceil(counts[a]) as u128);
    let own: u128 = size.iter().product();
    let shared = |axis: usize| match counts[axis] {
        1 => 0,
        2 if !periodic[axis] => 1,
        _ => 2,
    };
    own + (0..3).map(|axis| DEPTH * shared(axis) * own / size[axis]).sum::<u128>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(cells: [usize; 3], devices: usize) -> [usize; 3] {
        device_boxes(cells, devices, [true; 3]).unwrap()
    }

    #[test]
    fn boxes_are_cut_along_z_before_y_before_x() {
        for (devices, expected) in
            [(1, [1, 1, 1]), (2, [1, 1, 2]), (3, [1, 1, 3]), (4, [1, 1, 4]), (5, [1, 1, 5])]
        {
            assert_eq!(cut([128; 3], devices), expected);
        }
        // Two axes and three have the same area then.
        assert_eq!((cut([128; 3], 6), cut([128; 3], 8)), ([1, 2, 3], [1, 2, 4]));
        assert_eq!(cut([128; 3], 64), [4, 4, 4]);
    }

    #[test]
    fn boxes_of_one_and_two_dimensions_are_cut_along_their_axes() {
        for devices in [2, 3, 4, 6, 8] {
            assert_eq!(cut([96, 1, 1], devices), [devices, 1, 1]);
        }
        let planes = [2, 3, 4, 6, 8].map(|devices| cut([96, 96, 1], devices));
        assert_eq!(planes, [[1, 2, 1], [1, 3, 1], [1, 4, 1], [2, 3, 1], [2, 4, 1]]);
    }

    /// A face of the mesh needs no values of another device.
    #[test]
    fn walls_make_other_cuts_cheaper() {
        let walls = |devices| device_boxes([128; 3], devices, [false; 3]).unwrap();
        assert_eq!((walls(2), walls(4), walls(8)), ([1, 1, 2], [1, 2, 2], [2, 2, 2]));
    }

    #[test]
    fn sizes_that_do_not_divide_are_cut_as_evenly_as_can_be() {
        assert_eq!(cut([127; 3], 2), [1, 1, 2]);
        assert_eq!(cut([127; 3], 8), [1, 2, 4]);
        assert_eq!(cut([7, 11, 13], 6), [1, 3, 2]);
        // 65 cells along z of one device are worse than 64 along y.
        assert_eq!(cut([128, 128, 129], 2), [1, 2, 1]);
    }

    #[test]
    fn short_axes_are_not_cut() {
        assert_eq!(cut([64, 64, 2], 2), [1, 2, 1]);
        assert_eq!(cut([256, 4, 4], 8), [8, 1, 1]);
        assert_eq!(cut([1, 2, 3], 6), [1, 2, 3]);
    }

    #[test]
    fn what_cannot_be_cut_is_told_what_can() {
        let told =
            |cells, devices| device_boxes(cells, devices, [true; 3]).unwrap_err().to_string();
        assert_eq!(
            told([4, 4, 4], 7),
            "a mesh of 4 × 4 × 4 cells cannot be cut into 7 boxes, one for each device; give 6 devices, or more cells"
        );
        assert!(told([2, 1, 1], 100).contains("give 2 devices"));
        assert!(told([8, 8, 8], 0).contains("into 0 boxes"));
    }
}
