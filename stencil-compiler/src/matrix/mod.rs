//! Small matrices: the numbers behind bounds of steps and checks of solvers.

mod balance;
mod eigen;

pub(crate) use balance::units;
pub(crate) use eigen::eigenvalues;

use num_complex::Complex64;

/// A matrix, row by row.
pub type Matrix = Vec<Vec<f64>>;

/// Imaginary parts of speeds beyond this share of the fastest one belong to no waves.
const COMPLEX: f64 = 1e-6;

/// Returns the absolute value.
pub(crate) fn size(z: Complex64) -> f64 {
    z.norm_sqr().sqrt()
}

/// Returns the size of the greatest eigenvalue, and whether some are not real; `None` if an entry is not finite.
pub(crate) fn fastest(jacobian: &Matrix) -> Option<(f64, bool)> {
    let complex = |row: &Vec<f64>| row.iter().map(|v| Complex64::new(*v, 0.0)).collect();
    let speeds = eigenvalues(jacobian.iter().map(complex).collect())?;
    let fastest = speeds.iter().map(|speed| size(*speed)).fold(0.0, f64::max);
    let is_complex = speeds.iter().any(|speed| speed.im.abs() > COMPLEX * fastest);
    Some((fastest, is_complex))
}
