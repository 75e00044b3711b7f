//! Riemann solvers: the flux through a face from the states on both sides of it.

use super::algebra::Algebra;
use super::average::Weighed;
use super::families::Linear;
use super::{AXES, Law};
use crate::catalogue::riemann::{self as rows, Solver};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;
use crate::expr::{Op, Rational};

mod check_declared;
mod check_growth;
mod check_waves;
#[cfg(test)]
mod checks;
mod contact;
mod declared;
mod declared_waves;
mod fallback;
mod force;
#[cfg(test)]
mod growth_tests;
mod hll;
mod hllc;
mod hlle;
mod musta;
mod roe;
mod rtvd;
mod rusanov;
#[cfg(test)]
mod tests;

use contact::Contact;

/// A solver with its code.
pub(super) struct Method {
    /// Its row.
    pub(super) row: &'static Solver,
    /// The flux of each conserved component.
    pub(super) flux: fn(&mut Face<'_, '_, '_>) -> Result<Vec<Poly>>,
    /// The way in which it splits jumps into waves, if it has one.
    pub(super) fan: Option<&'static Fan>,
}

/// A wave: a part of a jump that moves with a speed.
pub(in crate::discretize) struct Wave {
    /// Its speed.
    pub(in crate::discretize) speed: Poly,
    /// The part of each conserved component, or of its flux.
    pub(in crate::discretize) parts: Vec<Poly>,
    /// Are they parts of fluxes?
    pub(in crate::discretize) of_fluxes: bool,
}

impl Wave {
    /// A part of the jump of the conserved components.
    fn of_jump((speed, parts): (Poly, Vec<Poly>)) -> Self {
        Wave { speed, parts, of_fluxes: false }
    }

    /// The factor that makes of its parts what the flux is spread by: the absolute value of its speed, or the sign if
    /// they have the speed as a factor.
    pub(in crate::discretize) fn size(&self, of: &mut Algebra<'_, '_>) -> Poly {
        match self.of_fluxes {
            false => of.abs(&self.speed),
            true => {
                let (zero, one) = (Poly::default(), of.number(1, 1));
                let back = of.op(Op::Lt, &[&self.speed, &zero, &one.negated(), &zero]);
                of.op(Op::Lt, &[&zero, &self.speed, &one, &back])
            }
        }
    }
}

/// Waves from the slowest to the fastest, so that a mirror reverses them.
pub(in crate::discretize) type Carried = Vec<Wave>;

/// The way to split jumps into waves.
pub(super) struct Fan {
    /// The waves of the jump at a face.
    pub(in crate::discretize) along: fn(&mut Face<'_, '_, '_>) -> Result<Carried>,
    /// The parts of an inflow that rise and fall along another axis, each times its speed.
    pub(in crate::discretize) sideways: Sideways,
}

/// Splits the inflow of a cell into the parts that rise and fall, by a law.
type Split = fn(&Linear, &mut Algebra<'_, '_>, &[Poly]) -> Result<[Vec<Poly>; 2]>;

/// The way to split the inflow of a cell into the parts that rise and fall.
pub(super) enum Sideways {
    /// By the law made linear between both sides.
    Linear(Split),
    /// By the waves that the system declares, for a small jump.
    Declared,
}

/// The code of every solver, and of declared ones.
const METHODS: &[Method] = &[
    force::METHOD,
    hll::METHOD,
    hllc::METHOD,
    hlle::METHOD,
    musta::METHOD,
    roe::METHOD,
    rtvd::METHOD,
    rusanov::METHOD,
    declared::METHOD,
    declared_waves::METHOD,
];

/// The code of a solver.
pub(super) fn method(solver: &Solver) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.row.name == solver.name)
}

/// The data of one side of a face.
pub(super) struct Side {
    /// All components.
    pub(super) states: Vec<Poly>,
    /// The conserved components.
    pub(super) conserved: Vec<Poly>,
    /// Their fluxes.
    pub(super) fluxes: Vec<Poly>,
    /// The slowest and the fastest wave.
    pub(super) waves: Option<[Poly; 2]>,
    /// Those of each block, if the law falls apart.
    pub(super) of_blocks: Vec<[Poly; 2]>,
    /// The data that a contact needs.
    pub(super) contact: Option<Contact>,
    /// The operands of a state between both sides.
    pub(super) weighed: Vec<Weighed>,
}

/// A face between two cells.
pub(in crate::discretize) struct Face<'f, 'e, 'a> {
    pub(super) algebra: Algebra<'e, 'a>,
    pub(super) law: &'f Law<'f>,
    pub(super) axis: usize,
    /// Conserved components with the axis, for names.
    pub(super) names: Vec<String>,
    /// Below and above.
    pub(super) sides: [Side; 2],
}

impl Face<'_, '_, '_> {
    /// The number of conserved components.
    fn len(&self) -> usize {
        self.names.len()
    }

    /// The flux of each conserved component; parts that several share are named after the solver.
    pub(super) fn solved(&mut self) -> Result<Vec<Poly>> {
        let own = (self.law.solver.flux)(self)?;
        let fluxes = self.or_fallback(own)?;
        let shared = format!("{}_{}", self.law.model.scheme.riemann, AXES[self.axis]);
        let names = self.names.iter().map(|name| format!("{name}_flux"));
        let members = names.zip(fluxes.iter().cloned()).collect();
        let labels = &mut self.algebra.expander.atoms.labels;
        labels.together(shared, members);
        Ok(fluxes)
    }

    /// The sum of a component's fluxes on both sides, and the jump of the component.
    fn sum_and_jump(&mut self, at: usize) -> Result<[Poly; 2]> {
        let ([below, above], of) = (&self.sides, &mut self.algebra);
        let sum = of.plus(&below.fluxes[at], &above.fluxes[at])?;
        let jump = of.minus(&above.conserved[at], &below.conserved[at])?;
        let name = &self.names[at];
        Ok([of.named(format!("{name}_flux_sum"), sum), of.named(format!("{name}_jump"), jump)])
    }

    /// The means of the fluxes on both sides less half of what spreads each component.
    fn mean_less(&mut self, spread: &[Poly]) -> Result<Vec<Poly>> {
        let mut all = Vec::new();
        for (at, spread) in spread.iter().enumerate() {
            let [sum, _] = self.sum_and_jump(at)?;
            let of = &mut self.algebra;
            let twice = of.minus(&sum, spread)?;
            let flux = of.halved(&twice)?;
            all.push(self.named(at, flux));
        }
        Ok(all)
    }

    /// The difference of a component's flux above and below.
    fn rise(&mut self, at: usize) -> Result<Poly> {
        let ([below, above], of) = (&self.sides, &mut self.algebra);
        let rise = of.minus(&above.fluxes[at], &below.fluxes[at])?;
        Ok(of.named(format!("{}_flux_jump", self.names[at]), rise))
    }

    /// The number that the solver takes; zero for one that takes none.
    fn parameter(&self) -> Rational {
        let normal = self.law.solver.row.parameter.map(|parameter| parameter.normal);
        let given = self.law.model.scheme.riemann_parameter;
        given.or(normal).unwrap_or_default()
    }

    /// The jumps from below to above, and the rises of the fluxes where they stand for the Jacobian times these: where they are
    /// reconstructed by themselves they do not, and `|A|` is that of the jumps (HyPar, Eq. 10).
    pub(super) fn jumps(&mut self) -> Result<(Vec<Poly>, Option<Vec<Poly>>)> {
        let (mut jumps, mut rises) = (Vec::new(), Vec::new());
        let of_states = !self.law.reconstructs_fluxes();
        for at in 0..self.len() {
            let [_, jump] = self.sum_and_jump(at)?;
            jumps.push(jump);
            if of_states {
                rises.push(self.rise(at)?);
            }
        }
        Ok((jumps, of_states.then_some(rises)))
    }

    /// The law made linear between both sides, block by block.
    pub(super) fn linear(&mut self) -> Result<Vec<Linear>> {
        let (label, [below, above]) = (format!("{}_between", AXES[self.axis]), &self.sides);
        let of = &mut self.algebra;
        let states = self.law.between(of, [below, above], self.axis, &label)?;
        self.law.linear(of, &states, self.axis, "between")
    }

    /// The greatest of the speeds on both sides by absolute value.
    fn greatest_speed(&mut self) -> Poly {
        let [slowest, fastest] = self.speeds();
        let of = &mut self.algebra;
        let (slowest, fastest) = (of.abs(&slowest), of.abs(&fastest));
        let greatest = of.max(&slowest, &fastest);
        of.named(format!("greatest_{}", AXES[self.axis]), greatest)
    }

    /// Bounds of the speeds on both sides: the slowest and the fastest.
    fn speeds(&mut self) -> [Poly; 2] {
        let [Some(below), Some(above)] = self.sides.each_ref().map(|side| side.waves.clone())
        else {
            // The check of the scheme asks for them.
            return [Poly::default(), Poly::default()];
        };
        self.bounds([&below[0], &above[0]], [&below[1], &above[1]])
    }

    /// The slower and the faster of two speeds each.
    fn bounds(&mut self, slow: [&Poly; 2], fast: [&Poly; 2]) -> [Poly; 2] {
        let (axis, of) = (AXES[self.axis], &mut self.algebra);
        let (slowest, fastest) = (of.min(slow[0], slow[1]), of.max(fast[0], fast[1]));
        [of.named(format!("slowest_{axis}"), slowest), of.named(format!("fastest_{axis}"), fastest)]
    }

    /// The flux as a grid function.
    fn named(&mut self, at: usize, flux: Poly) -> Poly {
        let name = format!("{}_flux", self.names[at]);
        self.algebra.named(&name, flux)
    }
}
