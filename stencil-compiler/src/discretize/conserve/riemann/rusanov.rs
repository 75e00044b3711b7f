//! The mean of the fluxes, less half the jump times the greatest speed (Rusanov, USSR Comput. Math. Math.
//! Phys. 1, 304, 1961).

use super::{Face, Method, rows};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const METHOD: Method = Method { row: &rows::RUSANOV, flux, fan: None };

fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let greatest = face.greatest_speed();
    let mut all = Vec::new();
    for at in 0..face.len() {
        let [sum, jump] = face.sum_and_jump(at)?;
        let of = &mut face.algebra;
        let jumps = of.times(&greatest, &jump)?;
        let twice = of.minus(&sum, &jumps)?;
        let flux = of.halved(&twice)?;
        all.push(face.named(at, flux));
    }
    Ok(all)
}
