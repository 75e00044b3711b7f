//! FORCE at the end of a local forecast: both sides are stepped forward with the flux between them, so that the wave
//! fan opens at the face (Toro, J. Comput. Phys. 211, 2006; Toro and Titarev, J. Comput. Phys. 216, 403, 2006). Steps of the forecast
//! are as long as those of FORCE.

use super::{Face, Method, force, rows};
use crate::discretize::conserve::AXES;
use crate::discretize::expand::{GivenAt, Result, States};
use crate::discretize::poly::Poly;

pub(super) const METHOD: Method = Method { row: &rows::MUSTA, flux, fan: None };

fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let stages = face.parameter().to_integer();
    for stage in 0..stages {
        let between = force::flux(face)?;
        forecast(face, &between, &format!("{}_forecast_{stage}", AXES[face.axis]))?;
    }
    force::flux(face)
}

/// Steps both sides forward: the outflow of one flows into the other.
fn forecast(face: &mut Face<'_, '_, '_>, between: &[Poly], label: &str) -> Result<()> {
    let (axis, conserved) = (face.axis, face.law.components_conserved());
    for (at, below) in [true, false].into_iter().enumerate() {
        let of = &mut face.algebra;
        let side = &mut face.sides[at];
        for (number, (component, flux)) in conserved.iter().zip(between).enumerate() {
            let own = &side.fluxes[number];
            let outflow = match below {
                true => of.minus(flux, own)?,
                false => of.minus(own, flux)?,
            };
            let outflow = of.named("forecast_outflow", outflow);
            // Rounded by itself, so that both sides are added in one order.
            let moved = of.times_own_step(&outflow, axis, false)?;
            let moved = of.whole("moved", moved);
            let state = of.minus(&side.conserved[number], &moved)?;
            let state = of.named(format!("{}_forecast", face.names[number]), state);
            side.conserved[number] = state.clone();
            side.states[*component] = state;
        }
        let given_at = GivenAt::upper_face(axis, 0);
        let states = States { components: side.states.clone(), given_at, ..States::default() };
        let label = format!("{label}_{}", if below { "below" } else { "above" });
        face.sides[at].fluxes = face.law.fluxes_called(of.expander, &states, axis, &label)?;
    }
    Ok(())
}
