//! One state between the slowest and the fastest wave (Harten, Lax and van Leer, SIAM Rev. 25, 35, 1983;
//! Toro 2009, Eq. 10.21), with the speeds that the system declares.

use super::{Face, Method, rows};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const METHOD: Method = Method { row: &rows::HLL, flux, fan: None };

fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let speeds = face.speeds();
    between(face, &speeds)
}

/// With `s⁻ = min(s_slowest, 0)` and `s⁺ = max(s_fastest, 0)` the flux is
/// `(f₀ + f₁)/2 - k (f₁ - f₀)/2 + (k² - 1) (s⁺ - s⁻)/4 (q₁ - q₀)` with `k = (s⁺ + s⁻)/(s⁺ - s⁻)`: a form whose mirror image has
/// the mirrored bits, and that is the flux of one side to the last bit where all waves go one way.
pub(super) fn between(
    face: &mut Face<'_, '_, '_>,
    [slowest, fastest]: &[Poly; 2],
) -> Result<Vec<Poly>> {
    let (of, zero) = (&mut face.algebra, Poly::default());
    let (back, ahead) = (of.min(slowest, &zero), of.max(fastest, &zero));
    let (back, ahead) = (of.named("back", back), of.named("ahead", ahead));
    // If nothing moves, the quotient is zero.
    let least = of.number(1, 10_i128.pow(30));
    let width = of.minus(&ahead, &back)?;
    let width = of.named("width", width);
    let sum = of.plus(&ahead, &back)?;
    let divisor = of.max(&width, &least);
    let divisor = of.named("divisor", divisor);
    let skew = of.over(&sum, &divisor);
    let skew = of.named("skew", skew);
    let square = of.times(&skew, &skew)?;
    let excess = of.minus(&square, &of.number(1, 1))?;
    let excess = of.named("excess", excess);
    let quarter = of.scaled(&width, 1, 4)?;
    let diffusion = of.times(&excess, &quarter)?;
    let diffusion = of.named("diffusion", diffusion);
    let mut all = Vec::new();
    for at in 0..face.len() {
        let [sum, jump] = face.sum_and_jump(at)?;
        let rise = face.rise(at)?;
        let of = &mut face.algebra;
        let skewed = of.times(&skew, &rise)?;
        let mean = of.minus(&sum, &skewed)?;
        let diffused = of.times(&diffusion, &jump)?;
        let flux = of.plus(&of.halved(&mean)?, &diffused)?;
        all.push(face.named(at, flux));
    }
    Ok(all)
}
