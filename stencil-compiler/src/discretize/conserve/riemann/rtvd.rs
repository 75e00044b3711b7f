//! Relaxing TVD (Jin and Xin, Comm. Pure Appl. Math. 48, 235, 1995; U.-L. Pen, P. Arras and S. Wong, Astrophys. J. Suppl. 149, 447, 2003;
//! H. Trac and U.-L. Pen, Publ. Astron. Soc. Pac. 115, 303, 2003): with the greatest speed `c` of a state, the flux is the sum of
//! `(f + c q)/2`, which goes ahead, and `(f - c q)/2`, which goes back. Reconstructed fluxes are these parts, each limited by itself.

use super::{Algebra, Face, Method, rows};
use crate::discretize::conserve::{AXES, Law};
use crate::discretize::expand::{Expander, Result};
use crate::discretize::poly::Poly;

pub(super) const METHOD: Method = Method { row: &rows::RTVD, flux, fan: None };

/// The part of the side below that goes ahead, and that of the side above that goes back.
fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let mut all = Vec::new();
    for at in 0..face.len() {
        let law = face.law;
        let [below, above] = &face.sides;
        let of = &mut face.algebra;
        let parts = if law.reconstructs_fluxes() {
            [below.fluxes[at].clone(), above.fluxes[at].clone()]
        } else {
            let mut parts = Vec::new();
            for side in [below, above] {
                let speed = greatest(of, side.waves.as_ref())?;
                parts.push(part(of, [&side.fluxes[at], &side.conserved[at]], &speed)?);
            }
            let [ahead, _] = &parts[0];
            let [_, back] = &parts[1];
            [ahead.clone(), back.clone()]
        };
        // Rounded, so that a mirror image adds the same.
        let parts = parts.map(|part| of.whole("part", part));
        let flux = of.plus(&parts[0], &parts[1])?;
        all.push(face.named(at, flux));
    }
    Ok(all)
}

/// The greatest of two speeds by absolute value.
fn greatest(of: &mut Algebra<'_, '_>, waves: Option<&[Poly; 2]>) -> Result<Poly> {
    let Some([slowest, fastest]) = waves else {
        // The speeds are declared or derived.
        return Ok(Poly::default());
    };
    let (slowest, fastest) = (of.abs(slowest), of.abs(fastest));
    let greatest = of.max(&slowest, &fastest);
    Ok(of.named("greatest", greatest))
}

/// The parts of a flux that go ahead and back, of the flux and the component in one state.
fn part(
    of: &mut Algebra<'_, '_>,
    [flux, conserved]: [&Poly; 2],
    speed: &Poly,
) -> Result<[Poly; 2]> {
    // Rounded apart, so that a mirror image exchanges both parts.
    let carried = of.times(speed, conserved)?;
    let carried = of.whole("carried", carried);
    let flux = of.whole("flux_of_state", flux.clone());
    let twice = [of.plus(&flux, &carried)?, of.minus(&flux, &carried)?];
    let [ahead, back] = twice.map(|twice| of.halved(&twice));
    Ok([of.whole("ahead", ahead?), of.whole("back", back?)])
}

impl Law<'_> {
    /// The parts of the fluxes in a cell along an axis that go ahead and back, of a solver that splits them.
    pub(in crate::discretize::conserve) fn parts_in_cell(
        &self,
        expander: &mut Expander<'_>,
        fluxes: &[Poly],
        axis: usize,
    ) -> Result<Vec<[Poly; 2]>> {
        let cell = self.in_cell(expander);
        let waves = match &self.waves {
            None => None,
            Some(waves) => {
                let label = format!("{}_cell", AXES[axis]);
                Some(self.speeds(expander, waves, &cell, axis, &label)?)
            }
        };
        let span = self.model.fluxes[0].span;
        let of = &mut Algebra { expander, span };
        let speed = greatest(of, waves.as_ref())?;
        let conserved = self.components_conserved().into_iter();
        let parts = conserved.zip(fluxes);
        parts
            .map(|(component, flux)| part(of, [flux, &cell.components[component]], &speed))
            .collect()
    }
}
