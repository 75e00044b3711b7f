//! A numerical check that a declared solver gives the declared flux where nothing jumps, and waves that add up where something does.
//!
//! Points are of any sign and size, and of the primitives if the system declares them. So there are impossible states among
//! them, at which a law has values and a solver may have others. Those tell nothing: the ones outside of a range, and those
//! without waves. Rounding may speak against a good solver at some of the others, and at some a wrong one agrees. A solver
//! that no possible state speaks for is refused.

use std::collections::BTreeSet;

use super::super::sample::Point;
use super::super::{AXES, Law};
use crate::catalogue::{Centering, Rank};
use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::atoms::Atom;
use crate::discretize::components::suffixes;
use crate::discretize::expand::{Expander, Result, Sides, States};
use crate::discretize::poly::Poly;
use crate::model::{Primitives, RiemannSolver, Waves, to_f64};

/// Points at which a solver is tried.
const POINTS: u64 = 64;

/// Possible states for which more points are drawn, where fewer than these are possible.
const ENOUGH: u32 = 16;

/// The most points that are drawn.
const DRAWN: u64 = 64 * POINTS;

/// The error of a flux of parts of order one by rounding, and by loops that end by a test.
const ROUNDING: f64 = 1e-5;

/// Values by the solver, and those that they should have: fluxes along an axis between a state and itself, or sums of waves.
pub(super) struct Pairs {
    /// The values by the solver.
    pub(super) solved: Vec<Poly>,
    /// The values by the law.
    pub(super) own: Vec<Poly>,
    /// Is a state possible?
    pub(super) possible: Possible,
}

/// Values of a state, or of several, that tell whether it is possible.
#[derive(Clone, Default)]
pub(super) struct Possible {
    /// Values that are finite for every possible state: the flow and the sound along the axis, if they are known.
    pub(super) waves: Vec<Poly>,
    /// Values that stay in the ranges of the model, those of one state after those of the other.
    ranged: Vec<Poly>,
    /// The numbers of scalars, which are positive where values of any sign are impossible.
    pub(super) scalars: BTreeSet<usize>,
}

/// The error of a solver.
pub(super) enum Wrong {
    /// This value is the first number and not the second one.
    Other(usize, [f64; 2]),
    /// It gives no finite value of this number, where that of the law is finite.
    None(usize),
    /// No state that was drawn is possible.
    Untried,
}

impl Law<'_> {
    /// Checks that a declared solver gives the flux of a state between that state and itself, at all but a few of some
    /// points, that its waves add up, and that small waves do not grow by it.
    ///
    /// # Errors
    /// If it gives another flux, or none; or waves do not add up, or grow.
    pub(in crate::discretize::conserve) fn check_declared(&self) -> Result<()> {
        let Some(solver) = self.model.declared_solver(&self.model.scheme) else {
            return Ok(());
        };
        let derived = || self.derived_waves().ok();
        let waves = self.model.waves.clone().or_else(derived);
        let mut expander = self.expander_for_forms()?;
        for axis in 0..self.model.dimension {
            let pairs = self.pairs(&mut expander, waves.as_ref(), axis)?;
            if let Some(wrong) = pairs.wrong(&expander) {
                return Err(self.other_flux(solver, axis, &wrong));
            }
            if solver.gives.are_waves() {
                self.check_waves(solver, waves.as_ref(), axis)?;
            }
        }
        (0..self.model.dimension)
            .try_for_each(|axis| self.check_growth(solver, waves.as_ref(), axis))
    }

    fn pairs(
        &self,
        expander: &mut Expander<'_>,
        waves: Option<&Waves>,
        axis: usize,
    ) -> Result<Pairs> {
        let label = "alone";
        let mut states = self.drawn(expander, 0);
        let scalars = self.scalars(expander, &states);
        self.complete(expander, &mut states, label)?;
        let both = ["below", "above"].map(|word| (states.clone(), word.to_string()));
        let both = Sides::new(axis, both, 0);
        let mut possible = self.possible(expander, waves, &states, axis, label)?;
        possible.scalars = scalars;
        let own = self.fluxes(expander, &states, axis, label)?;
        let solved = self.declared_fluxes(expander, both, [&own, &own])?;
        Ok(Pairs { solved, own, possible })
    }

    /// A state whose values are drawn, with numbers of atoms from `first`: its components, and its primitives if there are some.
    pub(super) fn drawn(&self, expander: &mut Expander<'_>, first: usize) -> States {
        let variables = self.drawn_from().map_or(&[][..], |all| &all.variables);
        self.free(expander, variables, first)
    }

    /// Computes the conserved components that follow from drawn primitives.
    pub(super) fn complete(
        &self,
        expander: &mut Expander<'_>,
        states: &mut States,
        label: &str,
    ) -> Result<()> {
        match self.drawn_from() {
            Some(primitives) => self.follow(expander, primitives, states, label),
            None => Ok(()),
        }
    }

    /// The primitives that states are drawn of. Fields on faces, which both sides of one share, are drawn themselves.
    fn drawn_from(&self) -> Option<&Primitives> {
        let on_faces = |field: usize| self.model.fields[field].centering == Centering::Face;
        let primitives = self.model.primitives.as_ref();
        primitives.filter(|all| !all.conserved.iter().any(|followed| on_faces(followed.field)))
    }

    /// The numbers of the free atoms of scalars in a state, and of those of sources.
    pub(super) fn scalars(&self, expander: &Expander<'_>, states: &States) -> BTreeSet<usize> {
        let fields = self.model.fields.iter().enumerate();
        let fields = fields.filter(|(_, field)| field.rank == Rank::Scalar);
        let own = fields.flat_map(|(field, _)| self.components_of(field));
        let own = own.map(|(_, component)| &states.components[component]);
        let is_scalar = |at: usize| self.model.lets[at].value.rank == Rank::Scalar;
        let lets = states.lets.iter().filter(|(at, _)| is_scalar(**at));
        let all = own.chain(lets.flat_map(|(_, values)| values));
        let number = |value: &Poly| match expander.atoms.get(value.as_scaled_atom()?.0) {
            Atom::State(number) => Some(*number),
            _ => None,
        };
        let mut numbers: BTreeSet<usize> = all.filter_map(number).collect();
        let mut first = self.components.fields.len();
        for source in &self.model.sources {
            numbers.extend((source.rank == Rank::Scalar).then_some(first));
            first += suffixes(source.rank, self.model.components).len();
        }
        numbers
    }

    /// The error of a solver that no state was found for.
    pub(super) fn untried(&self, solver: &RiemannSolver) -> DiscretizeError {
        let help = match self.drawn_from() {
            None => "declare `primitive { .. }`, from whose values states are drawn",
            Some(_) => "write ranges that primitives of order one keep",
        };
        let message = format!(
            "`{}` cannot be checked: of {DRAWN} states none is inside of the ranges (`where`) and has finite waves and fluxes; {help}",
            solver.name
        );
        DiscretizeError::new(Code::NoPossibleState, solver.span, message)
    }

    /// The values of a state that tell whether it is possible: speeds of waves, and what has a range.
    pub(super) fn possible(
        &self,
        expander: &mut Expander<'_>,
        waves: Option<&Waves>,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<Possible> {
        let waves = match waves {
            None => Vec::new(),
            Some(waves) => Vec::from(self.flow_and_sound(expander, waves, states, axis, label)?),
        };
        let ranged = expander.in_states(states, label, |expander| {
            let ranges = self.model.ranges.iter();
            let values: Result<Vec<_>> = ranges.map(|range| expander.term(&range.of)).collect();
            Ok(values?.concat())
        })?;
        Ok(Possible { waves, ranged, scalars: BTreeSet::new() })
    }

    fn other_flux(&self, solver: &RiemannSolver, axis: usize, wrong: &Wrong) -> DiscretizeError {
        let (Wrong::Other(at, _) | Wrong::None(at)) = wrong else {
            return self.untried(solver);
        };
        let component = self.components_conserved().get(*at).copied();
        let name = component.map_or("", |component| &self.components.fields[component]);
        let (along, own) = (AXES[axis], &solver.name);
        let message = match wrong {
            Wrong::Other(_, [found, own_flux]) => format!(
                "between a state and itself `{own}` lets {found:.4} of `{name}` flow along {along}, and the flux of that state is \
                 {own_flux:.4}; where nothing jumps a solver gives the flux as it is declared; states outside \
                 of ranges (`where`) say nothing"
            ),
            _ => format!(
                "between a state and itself `{own}` gives no finite flux of `{name}` along {along}, at any of the states that were tried; \
                 where nothing jumps a solver gives the flux as it is declared"
            ),
        };
        DiscretizeError::new(Code::OtherFlux, solver.span, message)
    }
}

impl Possible {
    /// Adds the values of another state.
    pub(super) fn extend(&mut self, other: Possible) {
        self.waves.extend(other.waves);
        self.ranged.extend(other.ranged);
        self.scalars.extend(other.scalars);
    }

    /// The points with a number: of values of any sign, and of positive scalars.
    pub(super) fn points<'p, 'a>(
        &'p self,
        expander: &'p Expander<'a>,
        number: u64,
    ) -> [Point<'p, 'a>; 2] {
        [Point::anywhere(expander, number), Point::positive(expander, number, &self.scalars)]
    }

    /// Is the state at a point possible?
    pub(super) fn holds(&self, point: &mut Point<'_, '_>) -> bool {
        let model = point.expander.model;
        let mut ranges = model.ranges.iter().cycle().zip(&self.ranged);
        let mut waves = self.waves.iter();
        waves.all(|speed| point.value(speed).is_finite())
            && ranges.all(|(range, value)| {
                let value = point.value(value);
                range.comparison.holds(&value, &to_f64(&range.bound))
            })
    }
}

impl Pairs {
    /// The error at too many points, or at all of them.
    pub(super) fn wrong(&self, expander: &Expander<'_>) -> Option<Wrong> {
        // The numbers of points that speak for the solver and against it, for positive states and for those of any
        // sign, of which fewer may be possible.
        let mut counts = [[0_u32, 0]; 2];
        let (mut other, mut none) = (None, None);
        for number in 0..DRAWN {
            if number >= POINTS && counts.as_flattened().iter().sum::<u32>() >= ENOUGH {
                break;
            }
            let mut points = self.possible.points(expander, number).into_iter();
            let Some(mut point) =
                points.find_map(|mut point| self.possible.holds(&mut point).then_some(point))
            else {
                continue;
            };
            let mut values =
                |all: &[Poly]| -> Vec<f64> { all.iter().map(|poly| point.value(poly)).collect() };
            let (solved, own) = (values(&self.solved), values(&self.own));
            if !own.iter().all(|value| value.is_finite()) {
                continue;
            }
            if let Some(at) = solved.iter().position(|value| !value.is_finite()) {
                none = none.or(Some(at));
                continue;
            }
            let [with, against] = &mut counts[number as usize % 2];
            match (0..own.len()).find(|at| self.differs(&mut point, *at)) {
                None => *with += 1,
                Some(at) => {
                    *against += 1;
                    other = other.or(Some(Wrong::Other(at, [solved[at], own[at]])));
                }
            }
        }
        if counts == [[0, 0]; 2] {
            return Some(none.map_or(Wrong::Untried, Wrong::None));
        }
        let agrees = |[with, against]: &[u32; 2]| *against == 0 || *with > 8 * against;
        other.filter(|_| !counts.iter().all(agrees))
    }

    /// Does a component have another flux, by more than the rounding of its terms?
    fn differs(&self, point: &mut Point<'_, '_>, at: usize) -> bool {
        let both = [&self.solved[at], &self.own[at]];
        let [found, own] = both.map(|poly| point.value(poly));
        let [size, other] = both.map(|poly| point.size(poly));
        (found - own).abs() > ROUNDING * size.max(other)
    }
}
