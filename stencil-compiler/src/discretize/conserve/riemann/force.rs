//! The mean of the fluxes of Lax and Friedrichs and of Richtmyer (Toro 2009, Eqs. 7.28 to 7.33; Toro and Billett, IMA
//! J. Numer. Anal. 20, 47, 2000): needs only the flux.
//!
//! If a step goes along `d` axes at once, both are those of a step of `d dt` along one axis (Toro, Hidalgo and Dumbser,
//! J. Comput. Phys. 228, 3368, 2009, with α = d): the step is the mean of `d` such, and monotone while the sum of
//! squares of the Courant numbers along the axes is no more than `1/d`, as it is where none is more than `1/d`. Half a
//! step of a sweep has the fluxes of a whole one, so that no axis is smeared more than another.

use super::{Face, Method, rows};
use crate::discretize::expand::{GivenAt, Result, States};
use crate::discretize::poly::Poly;

pub(super) const METHOD: Method = Method { row: &rows::FORCE, flux, fan: None };

pub(super) fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let (axis, conserved) = (face.axis, face.law.components_conserved());
    let mut states = Vec::new();
    let [below, above] = &face.sides;
    let of = &mut face.algebra;
    for (component, (a, b)) in below.states.iter().zip(&above.states).enumerate() {
        let twice = of.plus(a, b)?;
        let mut twice = of.named("both_sides", twice);
        if let Some(at) = conserved.iter().position(|c| *c == component) {
            let rise = of.minus(&above.fluxes[at], &below.fluxes[at])?;
            let rise = of.named(format!("{}_flux_jump", face.names[at]), rise);
            twice = of.minus(&twice, &of.times_own_step(&rise, axis, false)?)?;
        }
        let state = of.halved(&twice)?;
        states.push(of.named("between", state));
    }
    let label = format!("{}_between", super::super::AXES[axis]);
    let given_at = GivenAt::upper_face(axis, 0);
    let states = States { components: states, given_at, ..States::default() };
    let between = face.law.fluxes_called(of.expander, &states, axis, &label)?;
    let mut all = Vec::new();
    for (at, richtmyer) in between.iter().enumerate() {
        let [sum, jump] = face.sum_and_jump(at)?;
        let of = &mut face.algebra;
        let jumps = of.times_own_step(&jump, axis, true)?;
        let twice = of.minus(&sum, &jumps)?;
        let lax = of.halved(&twice)?;
        let both = of.plus(&lax, richtmyer)?;
        let flux = of.halved(&both)?;
        all.push(face.named(at, flux));
    }
    Ok(all)
}
