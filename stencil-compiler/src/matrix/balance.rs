//! Balancing of matrices by powers of two, which rounds nothing (Osborne, J. ACM 7, 338, 1960).

/// Rounds before the search gives up.
const MOST: usize = 100;

/// Returns units of the components in which rows and columns of a matrix are of similar size: powers of two. `size` is that of the
/// entry in a row and a column; the entry in these units is the product with the column's unit over the row's.
pub(crate) fn units(n: usize, size: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut units = vec![1.0_f64; n];
    for _ in 0..MOST {
        let mut changed = false;
        for i in 0..n {
            let others = || (0..n).filter(|j| *j != i);
            let row: f64 = others().map(|j| size(i, j) * units[j]).sum::<f64>() / units[i];
            let column: f64 = others().map(|j| size(j, i) / units[j]).sum::<f64>() * units[i];
            if row == 0.0 || column == 0.0 {
                continue;
            }
            let mut factor = 1.0;
            while column * factor * factor < row / 4.0 {
                factor *= 2.0;
            }
            while column * factor * factor > row * 4.0 {
                factor /= 2.0;
            }
            changed |= factor != 1.0;
            units[i] *= factor;
        }
        if !changed {
            break;
        }
    }
    units
}
