//! Accuracy by the oracle: observed orders on refined grids, the three mixed forms compared, the
//! discrete decay of a shear wave, symmetry.

mod decay;
mod double;
mod mixed;
mod operators;
mod symmetry;

/// Returns the observed order between two errors on meshes whose spacings have this ratio.
fn observed(coarse: f64, fine: f64, ratio: f64) -> f64 {
    (coarse / fine).ln() / ratio.ln()
}
