//! A numerical check that small waves do not grow by a declared solver: von Neumann's bound for the step that limits of time steps
//! begin with, Euler's step of first order (LeVeque, Finite Volume Methods for Hyperbolic Problems, 2002, sections 4.6 and 8.3).
//!
//! About a state, the flux between two cells changes by `L` times the change below and `R` times the change above. If the phase of a
//! wave turns by an angle from cell to cell, with `z` on the unit circle, a step multiplies it by `1 - dt/h σ`, where σ is an
//! eigenvalue of `L (1 - 1/z) + R (z - 1)`; integrals of products, which change by `P` and `P'`, add `(P (1 + 1/z) + P' (1 + z))/2`. The
//! solver passes if the factors exceed one by little, in the mean of some states, in the time in which the fastest wave crosses a
//! cell. Long waves grow if a solver smears less than upwind fluxes do, and short ones if it smears by more than the fastest speed.
//!
//! The fastest wave has the speed that limits steps: the one of `cfl`, or of declared or derived `waves` if `cfl` gives none. The Jacobian
//! of the law at the state has speeds, too; if one of them is larger, it counts instead. Laws without `waves` have those alone. A state
//! where the Jacobian has complex speeds is left out: there the law itself grows.
//!
//! A solver has no derivative where it compares equal states. So the state above is another by a little, and the growth about a state is
//! the lesser one for jumps of either sign, for one of them may be near a switch. Derivatives are exact for the iterations that
//! loops do. Those that are not finite tell nothing.

use std::cmp::Ordering;
use std::f64::consts::PI;

use num_complex::Complex64;

use super::check_declared::Possible;
use crate::catalogue::Rank;
use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::conserve::algebra::Algebra;
use crate::discretize::conserve::gradient::Gradient;
use crate::discretize::conserve::sample::Point;
use crate::discretize::conserve::{AXES, Law};
use crate::discretize::expand::{Expander, Result, Sides, States};
use crate::discretize::poly::{AtomId, Poly};
use crate::expr::Arithmetic;
use crate::matrix::{Matrix, eigenvalues, fastest, size};
use crate::model::{RiemannSolver, Waves};

/// Possible states at which a solver is tried.
const STATES: usize = 12;

/// The most points that are drawn.
const DRAWN: u64 = 128;

/// Parts of a half turn by which waves turn from cell to cell.
const TURNS: [f64; 4] = [1.0 / 12.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];

/// The most by which the state above is another, relative to its values.
const APART: f64 = 1e-3;

/// The growth in a step, in the mean of all states, by errors of the derivatives, and by approximate waves near states without any.
const SLACK: f64 = 1e-2;

/// A Courant number that errors of the derivatives leave of none.
const NONE: f64 = 0.01;

/// The fluxes between two states that differ by little, along an axis.
struct SmallWaves {
    /// The components of the state that is drawn.
    drawn: Vec<Poly>,
    /// The components below and above; what both sides share is the same.
    sides: [Vec<AtomId>; 2],
    /// The components that waves change.
    changed: Vec<usize>,
    /// The fluxes of these by the solver, and by the law in the state below.
    solved: Vec<Poly>,
    own: Vec<Poly>,
    /// The integrals of products between both states, if there are some.
    products: Vec<Poly>,
    possible: Possible,
}

/// The growth of the wave that grows most.
#[derive(Clone, Copy)]
struct Growth {
    /// The factor in a step of Courant number one.
    factor: f64,
    /// Is it smeared by more than its speed and the step allow?
    is_smeared: bool,
    /// The largest Courant number without growth.
    number: f64,
}

impl Law<'_> {
    /// Checks that small waves along an axis do not grow by a declared solver in the mean of some possible states.
    ///
    /// # Errors
    /// If they grow.
    pub(super) fn check_growth(
        &self,
        solver: &RiemannSolver,
        waves: Option<&Waves>,
        axis: usize,
    ) -> Result<()> {
        let mut expander = self.expander_for_forms()?;
        // The speed that a system declares for its steps comes before those of waves.
        let declared = self.model.declared_radius();
        let waves = declared.as_ref().or(waves);
        let small = self.small_waves(&mut expander, solver, waves, axis)?;
        match small.growth(&expander) {
            None => Ok(()),
            Some(growth) => Err(grows(solver, axis, &growth)),
        }
    }

    /// Two states that differ by little, and the fluxes between them.
    fn small_waves(
        &self,
        expander: &mut Expander<'_>,
        solver: &RiemannSolver,
        waves: Option<&Waves>,
        axis: usize,
    ) -> Result<SmallWaves> {
        let mut drawn = self.drawn(expander, 0);
        let scalars = self.scalars(expander, &drawn);
        self.complete(expander, &mut drawn, "drawn")?;
        let count = drawn.components.len();
        let others = drawn.lets.values().map(Vec::len).sum::<usize>();
        let first = count + self.components.sources.len() + others + 1;
        let conserved = self.components_conserved().into_iter().enumerate();
        let changed = conserved.filter(|(_, component)| !self.components.halves[*component][axis]);
        let (rows, changed): (Vec<usize>, Vec<usize>) = changed.unzip();
        let below = self.free(expander, &[], first);
        let mut above = below.clone();
        for component in &changed {
            above.components[*component] = expander.atoms.state(first + count + component);
        }
        let both = [below, above];
        let (mut possible, mut fluxes) = (Possible::default(), Vec::new());
        possible.scalars = scalars;
        for (states, word) in both.iter().zip(["below", "above"]) {
            possible.extend(self.possible(expander, waves, states, axis, word)?);
            fluxes.push(self.fluxes(expander, states, axis, word)?);
        }
        let atoms = |states: &States| {
            let atoms = states.components.iter().filter_map(Poly::as_scaled_atom);
            atoms.map(|(atom, _)| atom).collect()
        };
        let sides = both.each_ref().map(atoms);
        let of = &mut Algebra { expander, span: solver.span };
        let products = match self.has_products() {
            true => self.integrals(of, both.each_ref(), axis, "small_path")?,
            false => Vec::new(),
        };
        let [below, above] = both;
        let named = [(below, "below".to_string()), (above, "above".to_string())];
        let named = Sides::new(axis, named, 0);
        let solved = self.declared_fluxes(expander, named, [&fluxes[0], &fluxes[1]])?;
        let of_changed = |all: &[Poly]| -> Vec<Poly> {
            rows.iter().filter_map(|row| all.get(*row).cloned()).collect()
        };
        Ok(SmallWaves {
            drawn: drawn.components,
            sides,
            changed,
            solved: of_changed(&solved),
            own: of_changed(&fluxes[0]),
            products: of_changed(&products),
            possible,
        })
    }
}

impl SmallWaves {
    /// The growth about the worst of some possible states, if it is too much in the mean of all.
    fn growth(&self, expander: &Expander<'_>) -> Option<Growth> {
        let mut all: Vec<Growth> = Vec::new();
        // Without ranges, scalars such as densities are meant to be positive; the signs of vectors turn waves around.
        let model = expander.model;
        let is_turned = model.fields.iter().any(|field| field.rank == Rank::Vector);
        let is_positive = model.ranges.is_empty() && is_turned;
        for draw in 0..DRAWN {
            // Values of order one and of any sign; half of the points have other parameters than by default. Larger values round by more
            // than waves grow.
            let number = 8 * draw + 4 * u64::from(draw.count_ones() % 2) + 1;
            let grown = |apart: f64| {
                let mut points = self.possible.points(expander, number);
                if is_positive {
                    points.reverse();
                }
                let mut points = points.into_iter();
                let mut point =
                    points.find_map(|mut point| self.fill(&mut point, apart).then_some(point))?;
                self.grown(&mut point)
            };
            let mut found = grown(APART);
            if found.is_some_and(|growth| growth.factor > 1.0 + SLACK) {
                found = found.into_iter().chain(grown(-APART)).min_by(Growth::order);
            }
            all.extend(found);
            if all.len() == STATES {
                break;
            }
        }
        let sum: f64 = all.iter().map(|growth| (growth.factor - 1.0).max(0.0)).sum();
        let most = SLACK * all.len() as f64;
        all.into_iter().max_by(Growth::order).filter(|_| sum > most)
    }

    /// Gives both states of a point their values, so far apart. Returns whether they are possible.
    fn fill(&self, point: &mut Point<'_, '_>, apart: f64) -> bool {
        let [below, above] = &self.sides;
        let drawn: Vec<f64> = self.drawn.iter().map(|value| point.value(value)).collect();
        for (atom, value) in below.iter().zip(&drawn) {
            point.set(*atom, *value);
        }
        let most = self.changed.len() as f64;
        for (number, component) in self.changed.iter().enumerate() {
            let sign = if number % 2 == 0 { 1.0 } else { -1.0 };
            let by = sign * apart * (number + 1) as f64 / most;
            point.set(above[*component], drawn[*component] * (1.0 + by));
        }
        self.possible.holds(point)
    }

    /// The growth about the state of a point; `None` if the law has no waves there.
    fn grown(&self, point: &mut Point<'_, '_>) -> Option<Growth> {
        let declared = self.possible.waves.chunks(2);
        let declared = declared.map(|pair| pair.iter().map(|v| point.value(v).abs()).sum::<f64>());
        let declared = declared.fold(0.0, f64::max);
        let [below, above] = &self.sides;
        let of = |side: &[AtomId]| -> Vec<AtomId> {
            self.changed.iter().map(|component| side[*component]).collect()
        };
        let n = self.changed.len();
        let mut gradient = Gradient::new(point, &[of(below), of(above)].concat());
        let mut matrices = |all: &[Poly]| -> [Matrix; 2] {
            let rows: Vec<Vec<f64>> = all.iter().map(|flux| gradient.of(flux)).collect();
            let side = |from: usize| rows.iter().map(|row| row[from..from + n].to_vec()).collect();
            [side(0), side(n)]
        };
        let [below, above] = matrices(&self.solved);
        let [jacobian, _] = matrices(&self.own);
        let [from, to] = match self.products.is_empty() {
            true => [(); 2].map(|()| vec![vec![0.0; n]; n]),
            false => matrices(&self.products),
        };
        let whole = |i: usize| (0..n).map(|j| jacobian[i][j] + to[i][j]).collect();
        let (own, is_complex) = fastest(&(0..n).map(whole).collect())?;
        let fastest = own.max(declared);
        if fastest == 0.0 || is_complex {
            return None;
        }
        let mut most = Growth { factor: 0.0, is_smeared: false, number: f64::INFINITY };
        for turn in TURNS {
            let angle = turn * PI;
            let z = Complex64::new(Arithmetic::cos(angle), Arithmetic::sin(angle));
            let symbol = |i: usize, j: usize| {
                let flux = below[i][j] * (1.0 - z.conj()) + above[i][j] * (z - 1.0);
                flux + 0.5 * (from[i][j] * (1.0 + z.conj()) + to[i][j] * (1.0 + z))
            };
            for rate in eigenvalues(square(n, symbol))? {
                most.see(rate / fastest, 1.0 - z.re);
            }
        }
        Some(most)
    }
}

impl Growth {
    /// The order by growth.
    fn order(&self, other: &Growth) -> Ordering {
        self.factor.total_cmp(&other.factor)
    }

    /// Sees another wave: its rate over that of the fastest one, and the real part of the rate of an upwind flux with that speed.
    fn see(&mut self, rate: Complex64, upwind: f64) {
        let factor = size(1.0 - rate);
        if factor > self.factor {
            self.factor = factor;
            self.is_smeared = rate.re > upwind;
        }
        // Long waves grow by little, and limit a step most.
        if factor > 1.0 + SLACK / 10.0 {
            // |1 - ν σ| = 1.
            self.number = self.number.min(2.0 * rate.re / rate.norm_sqr());
        }
    }
}

/// A square matrix of these entries.
fn square(n: usize, entry: impl Fn(usize, usize) -> Complex64) -> Vec<Vec<Complex64>> {
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}

/// The error of a solver by which waves along an axis grow.
fn grows(solver: &RiemannSolver, axis: usize, growth: &Growth) -> DiscretizeError {
    let (own, along, Growth { factor, number, .. }) = (&solver.name, AXES[axis], growth);
    let is_stable = *number > NONE;
    let (cause, help) = match is_stable && growth.is_smeared {
        true => (
            "it smears by more than the fastest speed of the law",
            "smear by that speed along the normal at most",
        ),
        false => (
            "it smears less than upwind fluxes",
            "take each wave from the side that it comes from: look for a wrong sign, or a speed that is too slow",
        ),
    };
    let stable = match is_stable {
        true => format!(
            "is stable to a Courant number of {number:.2}; {help}, or declare a faster speed for steps, `cfl {{ advective: ..; }}`"
        ),
        false => format!("is stable for no step of Euler's method; {help}"),
    };
    let message = format!(
        "`{own}` makes a small wave along {along} {factor:.3} times as large in a step of Courant number 1, about a possible state: {cause}, and \
         {stable}"
    );
    DiscretizeError::new(Code::UnstableSolver, solver.span, message)
}
