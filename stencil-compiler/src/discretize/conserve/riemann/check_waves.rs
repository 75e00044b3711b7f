//! A numerical check that the waves of a declared solver add up to the jumps between two states.

use std::collections::BTreeSet;

use super::check_declared::{Pairs, Possible, Wrong};
use super::declared_waves::DeclaredWave;
use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::conserve::algebra::Algebra;
use crate::discretize::conserve::families::sum_of_families;
use crate::discretize::conserve::{AXES, Law};
use crate::discretize::expand::{Expander, Result, Sides, States};
use crate::discretize::poly::Poly;
use crate::model::{Gives, RiemannSolver, Waves};

impl Law<'_> {
    /// Checks that waves add up to the jump of the conserved components, and with their speeds as factors to that of the
    /// fluxes; those of fluxes to the latter.
    ///
    /// # Errors
    /// If they do not, at more than a few of some pairs of states.
    pub(super) fn check_waves(
        &self,
        solver: &RiemannSolver,
        waves: Option<&Waves>,
        axis: usize,
    ) -> Result<()> {
        let mut expander = self.expander_for_forms()?;
        let (both, scalars) = self.pair(&mut expander, axis)?;
        let (mut possible, mut fluxes) = (Possible::default(), Vec::new());
        possible.scalars = scalars;
        for (states, word) in both.iter().zip(["below", "above"]) {
            possible.extend(self.possible(&mut expander, waves, states, axis, word)?);
            fluxes.push(self.fluxes(&mut expander, states, axis, word)?);
        }
        let of = &mut Algebra { expander: &mut expander, span: solver.span };
        let [below, above] = both.each_ref().map(|states| states.clone());
        let named = [(below, "below".to_string()), (above, "above".to_string())];
        let sides = Sides::new(axis, named, 0);
        let declared = self.declared_waves(of, sides, "pair")?;
        let integrals = self.integrals(of, both.each_ref(), axis, "pair_path")?;
        let mut own = Vec::new();
        for (at, component) in self.components_conserved().into_iter().enumerate() {
            let rise = of.minus(&fluxes[1][at], &fluxes[0][at])?;
            own.push([
                of.minus(&both[1].components[component], &both[0].components[component])?,
                of.plus(&rise, &integrals[at])?,
            ]);
        }
        let [sums, moved] = sums(of, &declared)?;
        let [faster, next] = neighbours(of, &declared);
        let (jumps, rises): (Vec<Poly>, Vec<Poly>) = own.into_iter().map(<(_, _)>::from).unzip();
        let all = match solver.gives {
            Gives::FluxWaves => vec![("flux", sums, rises)],
            _ => vec![("", sums, jumps), ("flux", moved, rises)],
        };
        let pairs = |solved, own| Pairs { solved, own, possible: possible.clone() };
        for (what, solved, own) in all {
            if let Some(wrong) = pairs(solved, own).wrong(&expander) {
                return Err(self.other_jump(solver, axis, what, &wrong));
            }
        }
        // Another solver looks at the states between waves, in their order.
        let is_ordered = self.model.scheme.fallback.is_some() && !faster.is_empty();
        match is_ordered.then(|| pairs(faster, next).wrong(&expander)).flatten() {
            Some(Wrong::Other(at, speeds)) => Err(out_of_order(solver, at, speeds)),
            _ => Ok(()),
        }
    }

    /// Two states whose values are drawn, which share what lies on the face between them, and the numbers of the scalars among these.
    fn pair(
        &self,
        expander: &mut Expander<'_>,
        axis: usize,
    ) -> Result<([States; 2], BTreeSet<usize>)> {
        let below = self.drawn(expander, 0);
        let others = below.lets.values().map(Vec::len).sum::<usize>();
        let beyond = below.components.len() + self.components.sources.len() + others + 1;
        let mut both = [below, self.drawn(expander, beyond)];
        let [below, above] = &mut both;
        let halves = self.components.halves[..below.components.len()].iter();
        for (component, _) in halves.enumerate().filter(|(_, halves)| halves[axis]) {
            above.components[component] = below.components[component].clone();
        }
        let scalars = both.iter().flat_map(|states| self.scalars(expander, states)).collect();
        for (states, word) in both.iter_mut().zip(["below", "above"]) {
            self.complete(expander, states, word)?;
        }
        Ok((both, scalars))
    }

    fn other_jump(
        &self,
        solver: &RiemannSolver,
        axis: usize,
        what: &str,
        wrong: &Wrong,
    ) -> DiscretizeError {
        let (Wrong::Other(at, _) | Wrong::None(at)) = wrong else {
            return self.untried(solver);
        };
        let component = self.components_conserved().get(*at).copied();
        let name = component.map_or("", |component| &self.components.fields[component]);
        let (along, own) = (AXES[axis], &solver.name);
        let of = match what {
            "" => format!("`{name}`"),
            _ => format!("the flux of `{name}` along {along}"),
        };
        let speeds = if what.is_empty() || solver.gives == Gives::FluxWaves {
            ""
        } else {
            ", times their speeds,"
        };
        let message = match wrong {
            Wrong::Other(_, [found, jump]) => format!(
                "between two states the waves of `{own}`{speeds} add up to {found:.4} of {of}, which jumps by {jump:.4}; waves with \
                 approximate speeds or vectors are written with `flux`, and add up to the jumps of the fluxes for any speeds"
            ),
            _ => format!(
                "the waves of `{own}` have no finite sum of {of} between any two of the states that were tried"
            ),
        };
        DiscretizeError::new(Code::OtherJump, solver.span, message)
    }
}

/// The error of a wave that stands before a slower one: with these speeds.
fn out_of_order(solver: &RiemannSolver, at: usize, [speed, next]: [f64; 2]) -> DiscretizeError {
    let message = format!(
        "wave {} of `{}` has the speed {speed:.4}, and the next one {next:.4}; `else` looks at the states between waves, so write \
         them from the slowest to the fastest",
        at + 1,
        solver.name
    );
    let span = solver.waves.get(at).map_or(solver.span, |wave| wave.span);
    DiscretizeError::new(Code::OtherJump, span, message)
}

/// The faster of the speeds of each wave and the next one, and those of the next ones: the same if waves stand from the slowest to the
/// fastest.
fn neighbours(of: &mut Algebra<'_, '_>, waves: &[DeclaredWave]) -> [Vec<Poly>; 2] {
    let two = waves.windows(2).map(|two| [&two[0].wave.speed, &two[1].wave.speed]);
    let both = two.map(|[own, next]| (of.max(own, next), next.clone()));
    both.unzip().into()
}

/// The sums of waves over all of them, and those of their products with their speeds.
fn sums(of: &mut Algebra<'_, '_>, waves: &[DeclaredWave]) -> Result<[Vec<Poly>; 2]> {
    let (mut parts, mut moved) = (Vec::new(), Vec::new());
    for DeclaredWave { wave, .. } in waves {
        parts.push(wave.parts.clone());
        let products = wave.parts.iter().map(|part| of.times(&wave.speed, part));
        moved.push(products.collect::<Result<Vec<Poly>>>()?);
    }
    Ok([sum_of_families(of, &parts)?, sum_of_families(of, &moved)?])
}
