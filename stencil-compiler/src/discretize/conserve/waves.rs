//! Wave propagation (LeVeque, J. Comput. Phys. 131, 327, 1997; Finite Volume Methods for Hyperbolic Problems, 2002,
//! sections 6.13, 15.5 and 21.2): jumps at faces are split into waves, which correct the fluxes to second order in
//! space and time, limited by the waves that come before them, and part of the inflow of a cell from one side leaves
//! through the faces beside it. The solver decides which waves there are.

use super::algebra::Algebra;
use super::families::sum_of_families;
use super::riemann::{Face, Sideways};
use super::{AXES, Law};
use crate::catalogue::Rank;
use crate::discretize::expand::{Expander, Result, States};
use crate::discretize::poly::Poly;
use crate::expr::Op;

/// The result of wave propagation at the upper face of a cell along an axis.
pub(super) struct Propagation {
    /// The flux of each conserved component.
    pub(super) fluxes: Vec<Poly>,
    /// The fluctuations that enter the cell below and the cell above, with the whole of each correction; they are split
    /// sideways.
    entering: [Vec<Poly>; 2],
    /// The state between both.
    between: States,
}

impl Law<'_> {
    /// The fluxes and fluctuations at a face, from the flux of a solver that splits jumps.
    pub(super) fn propagate(
        &self,
        face: &mut Face<'_, '_, '_>,
        solved: Vec<Poly>,
    ) -> Result<Propagation> {
        let corrections = self.corrections(face)?;
        let label = format!("{}_between", AXES[face.axis]);
        let between = self.between(&mut face.algebra, face.sides.each_ref(), face.axis, &label)?;
        let mut propagated =
            Propagation { fluxes: Vec::new(), entering: [Vec::new(), Vec::new()], between };
        let [below, above] = &face.sides;
        let of = &mut face.algebra;
        for (at, (solved, correction)) in solved.iter().zip(&corrections).enumerate() {
            let name = &face.names[at];
            let flux = of.plus(solved, correction)?;
            let flux = of.named(format!("{name}_flux"), flux);
            // The flux has half of the change by the waves.
            let sent = of.plus(solved, &of.scaled(correction, 2, 1)?)?;
            let sent = of.named(format!("{name}_sent"), sent);
            let into = [of.minus(&sent, &below.fluxes[at])?, of.minus(&above.fluxes[at], &sent)?];
            for ((entering, into), side) in propagated.entering.iter_mut().zip(into).zip(SIDES) {
                entering.push(of.named(format!("{name}_into_{side}"), into));
            }
            propagated.fluxes.push(flux);
        }
        Ok(propagated)
    }

    /// Half of each wave times the absolute value of its speed, less its motion in a step: Lax and Wendroff's
    /// correction, as much of it as the limiter allows (LeVeque 2002, Eq. 6.60).
    fn corrections(&self, face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
        let Some(fan) = self.solver.fan else {
            // The check of the scheme asks for one.
            return Ok(vec![Poly::default(); face.names.len()]);
        };
        let waves = (fan.along)(face)?;
        let axis = face.axis;
        let of = &mut face.algebra;
        let mut all = Vec::new();
        for wave in waves {
            let size = of.abs(&wave.speed);
            let courant = of.times_step(&size, axis)?;
            let rest = of.minus(&of.number(1, 1), &courant)?;
            let upwind = wave.size(of);
            let strength = of.times(&upwind, &rest)?;
            let strength = of.halved(&strength)?;
            let share = self.limited(of, &wave.speed, &wave.parts, axis)?;
            let factor = of.times(&share, &strength)?;
            let factor = of.named("correction", factor);
            let mut corrected = Vec::new();
            for part in &wave.parts {
                let part = of.times(&factor, part)?;
                corrected.push(of.named("corrected", part));
            }
            all.push(corrected);
        }
        sum_of_families(of, &all)
    }

    /// The share of a wave's correction that is kept: the limiter of the ratio of the wave at the face where this one
    /// comes from, projected on this one, to this one (LeVeque 2002, Eq. 9.74).
    fn limited(
        &self,
        of: &mut Algebra<'_, '_>,
        speed: &Poly,
        carried: &[Poly],
        axis: usize,
    ) -> Result<Poly> {
        if self.limiter.row.is_of_waves {
            return Ok(of.number(1, 1));
        }
        let next: Vec<Poly> =
            carried.iter().map(|part| of.expander.atoms.at(part, axis, 1)).collect();
        let own = self.projected(of, [carried, carried], "wave_square")?;
        let with_next = self.projected(of, [carried, &next], "wave_product")?;
        let with_last = of.expander.atoms.at(&with_next, axis, -1);
        let zero = Poly::default();
        let before = of.op(Op::Lt, &[&zero, speed, &with_last, &with_next]);
        let theta = self.model.scheme.theta;
        let slope = self.limiter.slope(of, [&before, &own], theta)?;
        let share = of.over(&slope, &own);
        Ok(of.op(Op::Lt, &[&zero, &own, &share, &zero]))
    }

    /// The sum of the products of the components of two waves; those of one vector are added first, and round alike for each axis.
    fn projected(
        &self,
        of: &mut Algebra<'_, '_>,
        [a, b]: [&[Poly]; 2],
        label: &'static str,
    ) -> Result<Poly> {
        let mut pairs = a.iter().zip(b);
        let mut sum = Poly::default();
        for flux in &self.model.fluxes {
            let count = self.components_of(flux.field).count();
            let mut products = Vec::new();
            for (a, b) in pairs.by_ref().take(count) {
                products.push(of.times(a, b)?);
            }
            let part = match &products[..] {
                [one] if self.model.fields[flux.field].rank == Rank::Scalar => one.clone(),
                all => of.even_sum(label, all)?,
            };
            sum = of.onto(&sum, &part, label)?;
        }
        Ok(sum)
    }

    /// Adds to the fluxes along each axis the fluctuations that enter cells along the others and leave sideways within
    /// half a step (LeVeque 2002, Eqs. 21.15 to 21.17), corrections with it as fluctuations (section 23.7; J. Comput.
    /// Phys. 131, 327, 1997, section 3).
    pub(super) fn sideways(
        &self,
        expander: &mut Expander<'_>,
        propagated: &[Propagation],
    ) -> Result<Vec<Vec<Poly>>> {
        let mut fluxes: Vec<Vec<Poly>> = propagated.iter().map(|p| p.fluxes.clone()).collect();
        let span = self.model.fluxes[0].span;
        for (axis, through) in propagated.iter().enumerate() {
            for (other, fluxes) in fluxes.iter_mut().enumerate() {
                if axis == other {
                    continue;
                }
                let of = &mut Algebra { expander, span };
                for (flux, leaving) in
                    fluxes.iter_mut().zip(self.leaving(of, through, axis, other)?)
                {
                    let half = of.halved(&leaving)?;
                    let moved = of.times_step(&half, axis)?;
                    *flux = of.minus(flux, &moved)?;
                }
            }
        }
        Ok(fluxes)
    }

    /// The fluctuations that leave the cells on both sides of the upper face along `other`, of those entering along
    /// `axis`.
    fn leaving(
        &self,
        of: &mut Algebra<'_, '_>,
        propagated: &Propagation,
        axis: usize,
        other: usize,
    ) -> Result<Vec<Poly>> {
        let label = format!("between_{}", AXES[axis]);
        let Some(fan) = self.solver.fan else {
            return Ok(propagated.fluxes.clone());
        };
        let linear = match fan.sideways {
            Sideways::Declared => None,
            Sideways::Linear(split) => {
                Some((split, self.linear(of, &propagated.between, other, &label)?))
            }
        };
        let mut sums = vec![[Poly::default(), Poly::default()]; propagated.fluxes.len()];
        for (entering, behind) in propagated.entering.iter().zip([0, -1]) {
            let [rising, falling] = match &linear {
                Some((split, blocks)) => {
                    let mut both = [(); 2].map(|()| vec![Poly::default(); entering.len()]);
                    for block in blocks {
                        for (parts, all) in
                            split(block, of, &block.own(entering))?.into_iter().zip(&mut both)
                        {
                            block.put(parts, all);
                        }
                    }
                    both
                }
                None => self.sideways_by_waves(of, &propagated.between, other, &label, entering)?,
            };
            for (sums, parts) in sums.iter_mut().zip(rising.into_iter().zip(falling)) {
                for (sum, part) in sums.iter_mut().zip([parts.0, parts.1]) {
                    let part = of.named("sideways", part);
                    // The cell above a face is seen from the cell below the next one.
                    let part = of.expander.atoms.at(&part, axis, behind);
                    *sum = of.plus(sum, &part)?;
                }
            }
        }
        let (along, beside) = (AXES[axis], AXES[other]);
        let names = self.components_conserved().into_iter();
        let names =
            names.map(|c| format!("{}_{along}_leaving_{beside}", self.components.fields[c]));
        let mut all = Vec::new();
        for (name, [rising, falling]) in names.zip(sums) {
            let (rising, falling) = (of.named("rising", rising), of.named("falling", falling));
            let falling = of.expander.atoms.at(&falling, other, 1);
            let sum = of.plus(&rising, &falling)?;
            all.push((name.clone(), of.named(name, sum)));
        }
        let shared = format!("leaving_{along}_{beside}");
        let labels = &mut of.expander.atoms.labels;
        labels.together(shared, all.clone());
        Ok(all.into_iter().map(|(_, leaving)| leaving).collect())
    }
}

/// The cells below and above a face.
const SIDES: [&str; 2] = ["below", "above"];
