//! Sampling of cells by pixels.

use ndarray::{Array2, ArrayView2};

/// For every pixel of one direction, the cells that it shows and their weights, which sum to 1.
pub(super) type Weights = Vec<Vec<(usize, f64)>>;

/// Returns weights by which every pixel shows the cell that it lies in.
pub(super) fn nearest(cells: usize, pixels: usize) -> Weights {
    let cell = |p: usize| ((2 * p + 1) * cells / (2 * pixels).max(1)).min(cells.saturating_sub(1));
    (0..pixels).map(|p| vec![(cell(p), 1.0)]).collect()
}

/// Returns linear weights between cell centres; the mean of the cells if there are more cells than pixels.
pub(super) fn smooth(cells: usize, pixels: usize) -> Weights {
    let (n, m) = (cells as f64, pixels.max(1) as f64);
    let weights = |p: usize| {
        if cells > pixels {
            let (from, to) = (p as f64 * n / m, (p + 1) as f64 * n / m);
            let last = (to.ceil() as usize).min(cells);
            let share = |i: usize| ((i + 1) as f64).min(to) - (i as f64).max(from);
            return (from as usize..last).map(|i| (i, share(i) / (to - from))).collect();
        }
        // The outer half cells are flat.
        let at = ((p as f64 + 0.5) * n / m - 0.5).clamp(0.0, (n - 1.0).max(0.0));
        let (i, f) = (at as usize, at.fract());
        if f == 0.0 { vec![(i, 1.0)] } else { vec![(i, 1.0 - f), (i + 1, f)] }
    };
    (0..pixels).map(weights).collect()
}

/// Returns values on `factor` times as many points in each direction, by cubic interpolation (Catmull and Rom 1974).
/// Between cells they stay within the least and the greatest of the cells that are read, so that a density stays
/// positive beside a jump. Quantities that are computed from them, such as the length of a vector, show no cells.
/// Beyond the edges values go on in a straight line. The new points lie around the old ones, so the edges of the
/// picture stay.
///
/// ```
/// use ndarray::arr2;
/// use stencil_runtime::plot::finer;
///
/// let line = finer(&arr2(&[[0.0, 4.0, 8.0]]).view(), 2);
/// assert_eq!(line.dim(), (2, 6));
/// assert_eq!(line.row(0).to_vec(), [-1.0, 1.0, 3.0, 5.0, 7.0, 9.0]);
/// ```
pub fn finer(values: &ArrayView2<'_, f64>, factor: usize) -> Array2<f64> {
    if factor <= 1 || values.is_empty() {
        return values.to_owned();
    }
    let along_x = refine(values, factor);
    refine(&along_x.t(), factor).reversed_axes()
}

/// Interpolates along the rows by cubics.
fn refine(values: &ArrayView2<'_, f64>, factor: usize) -> Array2<f64> {
    let (rows, n) = values.dim();
    let last = n as isize - 1;
    Array2::from_shape_fn((rows, n * factor), |(row, i)| {
        let place = (i as f64 + 0.5) / factor as f64 - 0.5;
        let cell = place.floor();
        let s = place - cell;
        let inside = |j: isize| values[[row, j.clamp(0, last) as usize]];
        let at = |offset: isize| match cell as isize + offset {
            j if j < 0 => inside(0) + j as f64 * (inside(1) - inside(0)),
            j if j > last => inside(last) + (j - last) as f64 * (inside(last) - inside(last - 1)),
            j => inside(j),
        };
        let (a, b, c, d) = (at(-1), at(0), at(1), at(2));
        let cubic = b + 0.5
            * s
            * (c - a + s * (2.0 * a - 5.0 * b + 4.0 * c - d + s * (3.0 * (b - c) + d - a)));
        let is_inside = cell >= 0.0 && cell < last as f64;
        if !cubic.is_finite() || !is_inside {
            return cubic;
        }
        let read = [-1, 0, 1, 2].map(|offset| inside(cell as isize + offset));
        let least = read.into_iter().fold(f64::INFINITY, f64::min);
        let greatest = read.into_iter().fold(f64::NEG_INFINITY, f64::max);
        cubic.max(least).min(greatest)
    })
}

/// Returns the value of one pixel; `None` if most of the cells that it shows are not finite.
pub(super) fn value(
    data: &ArrayView2<'_, f64>,
    rows: &[(usize, f64)],
    columns: &[(usize, f64)],
) -> Option<f64> {
    let (mut sum, mut weight) = (0.0, 0.0);
    for &(row, wy) in rows {
        for &(column, wx) in columns {
            let v = data.get((row, column)).copied().unwrap_or(f64::NAN);
            if v.is_finite() {
                sum += wy * wx * v;
                weight += wy * wx;
            }
        }
    }
    (weight >= 0.5).then(|| sum / weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::arr2;

    #[test]
    fn weights_sum_to_one() {
        for (cells, pixels) in [(1, 7), (5, 5), (5, 12), (12, 5), (1000, 3), (7, 1)] {
            for (p, cell) in smooth(cells, pixels).iter().enumerate() {
                let sum: f64 = cell.iter().map(|c| c.1).sum();
                assert!((sum - 1.0).abs() < 1e-12, "{cells} on {pixels}, pixel {p}: {sum}");
                assert!(cell.iter().all(|c| c.0 < cells && c.1 >= 0.0));
            }
        }
    }

    #[test]
    fn smooth_is_linear_between_centres_and_flat_outside() {
        let data = arr2(&[[0.0, 8.0]]);
        let columns = smooth(2, 16);
        let at = |p: usize| value(&data.view(), &[(0, 1.0)], &columns[p]).unwrap();
        assert_eq!((at(0), at(15)), (0.0, 8.0));
        assert_eq!((at(4), at(7), at(8)), (0.5, 3.5, 4.5));
    }

    #[test]
    fn finer_planes_keep_straight_slopes_and_edges() {
        let plane = Array2::from_shape_fn((5, 4), |(j, i)| 3.0 * i as f64 - 2.0 * j as f64);
        let fine = finer(&plane.view(), 4);
        assert_eq!(fine.dim(), (20, 16));
        for ((j, i), value) in fine.indexed_iter() {
            let place = |k: usize| (k as f64 + 0.5) / 4.0 - 0.5;
            let expected = 3.0 * place(i) - 2.0 * place(j);
            assert!((value - expected).abs() < 1e-12, "[{j}, {i}]: {value} {expected}");
        }
        assert_eq!(finer(&plane.view(), 1), plane);
        assert!(finer(&Array2::zeros((0, 3)).view(), 4).is_empty());
        assert_eq!(finer(&arr2(&[[7.0]]).view(), 3), Array2::from_elem((3, 3), 7.0));
    }

    #[test]
    fn finer_rows_stay_within_their_cells_and_show_what_is_no_number() {
        let fine = finer(&arr2(&[[5.0, 5.0, 0.1, 0.1, 0.1]]).view(), 8);
        let mut between = fine.iter().skip(4).take(32);
        assert!(between.all(|v| (0.1..=5.0).contains(v)), "{fine}");
        let row = [1.0, 1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0];
        let fine = finer(&arr2(&[row]).view(), 2);
        assert!(fine[[0, 6]].is_nan() && fine[[0, 7]].is_nan() && fine[[0, 1]] == 1.0);
    }

    #[test]
    fn many_cells_are_averaged() {
        let data = arr2(&[[1.0, 3.0, 10.0, 20.0]]);
        let columns = smooth(4, 2);
        let at = |p: usize| value(&data.view(), &[(0, 1.0)], &columns[p]);
        assert_eq!((at(0), at(1)), (Some(2.0), Some(15.0)));
    }

    #[test]
    fn missing_cells_stay_missing() {
        let data = arr2(&[[f64::NAN, 8.0]]);
        let columns = smooth(2, 16);
        let at = |p: usize| value(&data.view(), &[(0, 1.0)], &columns[p]);
        assert_eq!((at(0), at(15)), (None, Some(8.0)));
        assert_eq!(at(9), Some(8.0), "a missing neighbour must not pull at a value");
    }

    #[test]
    fn nearest_repeats_cells() {
        let cells: Vec<usize> = nearest(3, 6).iter().map(|w| w[0].0).collect();
        assert_eq!(cells, [0, 0, 1, 1, 2, 2]);
    }
}
