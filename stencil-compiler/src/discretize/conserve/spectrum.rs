//! The speeds of the waves of a law: found from its fluxes, or checked if the system declares them.
//!
//! The speeds are the eigenvalues of the Jacobian `A` of the fluxes along an axis. They have a closed form if they are
//! the flow `u = tr A/n` and `u ± c`: then `B = A - u` has `B (B² - c²) = 0`, and `tr B² = 2k c²` if `k` waves run
//! ahead and as many back. That holds for sound, gases and shallow water. Whether the polynomial is zero, so that there
//! are no other speeds and there are eigenvectors enough, is tried with numbers.

use std::collections::BTreeMap;

use super::algebra::Algebra;
use super::families::WaveKinds;
use super::rational::{Quotient, Refused};
use super::sample::Point;
use super::tangent::Tangent;
use super::{AXES, Law, terms};
use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::expand::{Expander, Result, States, overflow};
use crate::discretize::poly::{Overflow, Poly, Uniform};
use crate::expr::Rational;
use crate::model::{Term, Waves};

/// Points that are tried.
pub(super) const POINTS: u64 = 64;

/// The rounding error of a value of order one.
const ROUNDING: f64 = 1e-9;

/// Terms beyond which a speed is not written out.
pub(super) const MOST_TERMS: usize = 64;

/// A matrix of numbers, row by row.
pub(super) type Matrix = Vec<Vec<f64>>;

/// The Jacobian of the fluxes along an axis, row by row, and the waves that the system declares.
pub(super) struct Jacobian {
    pub(super) rows: Vec<Vec<Poly>>,
    /// Flow and sound.
    pub(super) declared: Option<[Poly; 2]>,
}

/// Speeds along an axis as quotients: the flow, and the square of the sound; `None` if nothing moves through the flow.
pub(super) struct Found {
    pub(super) flow: Quotient,
    pub(super) square: Option<Quotient>,
}

impl Law<'_> {
    /// The kinds of waves along each axis, if the declared ones are all.
    ///
    /// # Errors
    /// If there are others.
    pub(super) fn kinds_of(&self, waves: &Waves) -> Result<Vec<WaveKinds>> {
        let mut all = Vec::new();
        for (axis, along) in AXES.iter().enumerate().take(self.model.dimension) {
            let mut expander = self.expander_for_forms()?;
            let jacobian = self.jacobian(&mut expander, axis, Some(waves))?;
            all.push(jacobian.kinds(&expander).map_err(|no_point| {
                let what = match no_point {
                    true => "no state was found that `waves` and the fluxes have finite values in",
                    false => {
                        "not all waves are as fast as `flow`, or slower or faster than it by `sound`, with as many \
                         directions as there are waves"
                    }
                };
                let message = format!(
                    "along {along} {what}, and the scheme takes jumps apart into waves; leave `waves` out to have them \
                     derived, or choose `hll` and what is conserved or primitive"
                );
                DiscretizeError::new(Code::OtherWaves, waves.span, message)
            })?);
        }
        Ok(all)
    }

    /// The speeds of all waves, from the fluxes alone.
    ///
    /// # Errors
    /// If they have no such closed form.
    pub(super) fn derived_waves(&self) -> Result<Waves> {
        let span = self.model.fluxes[0].span;
        let (mut flows, mut sounds) = (Vec::new(), Vec::new());
        for (axis, along) in AXES.iter().enumerate().take(self.model.dimension) {
            let mut expander = self.expander_for_forms()?;
            let jacobian = self.jacobian(&mut expander, axis, None)?;
            let found = jacobian.found(&expander);
            let found = found.map_err(|refused| self.not_derived(along, refused))?;
            let to_term = |quotient: &Quotient| terms::term(self, &expander, quotient, span);
            flows.push(to_term(&found.flow));
            let zero = Term::integer(0, span);
            let square = found.square.as_ref().map(to_term);
            sounds.push(square.map_or(zero, |square| terms::root(square, span)));
        }
        let vector = |entries: Vec<Term>| self.vector(entries, span);
        let alike = sounds.iter().all(|sound| *sound == sounds[0]);
        let sound = if alike { sounds.swap_remove(0) } else { vector(sounds) };
        Ok(Waves {
            flow: Some(vector(flows)),
            sound: Some(sound),
            density: None,
            pressure: None,
            span,
        })
    }

    fn not_derived(&self, along: &str, refused: Option<Refused>) -> DiscretizeError {
        let span = self.model.fluxes[0].span;
        let why = match refused {
            Some(Refused::Range) => return overflow(span)(Overflow),
            Some(Refused::Large) => "take too many terms to be written out",
            None => "are not a flow, and what is slower and faster than it by a sound",
        };
        let message = format!(
            "the speeds of the waves along {along} {why}; declare `waves {{ flow: ..; sound: ..; }}` with bounds of \
             them for `hll`, or choose `riemann: force` and what is conserved or primitive"
        );
        DiscretizeError::new(Code::NeedsWaves, span, message)
    }

    /// An expander of its own: a run evaluates none of its functions.
    pub(super) fn expander_for_forms(&self) -> Result<Expander<'_>> {
        let mixed = self.model.scheme.mixed.settled();
        Expander::new(self.model, self.components, mixed)
    }

    pub(super) fn jacobian(
        &self,
        expander: &mut Expander<'_>,
        axis: usize,
        waves: Option<&Waves>,
    ) -> Result<Jacobian> {
        let components = 0..self.components.fields.len();
        let states = States {
            components: components.map(|i| expander.atoms.state(i)).collect(),
            ..States::default()
        };
        let declared = match waves {
            None => None,
            Some(waves) => Some(self.flow_and_sound(expander, waves, &states, axis, "form")?),
        };
        let fluxes = self.fluxes(expander, &states, axis, "form")?;
        let conserved = self.components_conserved();
        let mut rows = vec![Vec::new(); conserved.len()];
        let span = self.model.fluxes[0].span;
        let mut of = Algebra { expander, span };
        for column in &conserved {
            let one = of.number(1, 1);
            let state = states.components[*column].as_scaled_atom();
            let changes = state.map(|(atom, _)| (atom, one)).into_iter().collect();
            let nothing = BTreeMap::new();
            let mut tangent = Tangent::new(changes, &nothing);
            for (row, flux) in rows.iter_mut().zip(&fluxes) {
                row.push(tangent.of(&mut of, flux)?);
            }
        }
        let products = self.conserved_columns(&mut of, &states, axis, "form")?;
        for (row, factors) in rows.iter_mut().zip(products) {
            for (column, factor) in factors {
                row[column] = of.plus(&row[column], &factor)?;
            }
        }
        Ok(Jacobian { rows, declared })
    }
}

impl Jacobian {
    /// The matrix at a point, if all of it is finite there.
    pub(super) fn at(&self, point: &mut Point<'_, '_>) -> Option<Matrix> {
        let row = |row: &Vec<Poly>, point: &mut Point<'_, '_>| {
            row.iter().map(|entry| point.value(entry)).collect::<Vec<f64>>()
        };
        let matrix: Matrix = self.rows.iter().map(|r| row(r, point)).collect();
        let finite = matrix.iter().flatten().all(|entry| entry.is_finite());
        finite.then_some(matrix)
    }

    /// The kinds of waves, if the declared ones are all; else whether there was no point to try.
    pub(super) fn kinds(&self, expander: &Expander<'_>) -> std::result::Result<WaveKinds, bool> {
        let [flow, sound] = self.declared.as_ref().ok_or(true)?;
        let mut trials = Vec::new();
        for number in 0..POINTS {
            let mut point = Point::anywhere(expander, number);
            let (flow, sound) = (point.value(flow), point.value(sound));
            if let Some(matrix) = self.at(&mut point).filter(|_| (flow + sound).is_finite()) {
                trials.push(match sound < 0.0 {
                    true => Trial::Others,
                    false => trial(&matrix, flow, sound * sound),
                });
            }
        }
        majority(&trials)
    }

    /// Speeds of this form; otherwise the reason, if it is not that they do not exist.
    pub(super) fn found(
        &self,
        expander: &Expander<'_>,
    ) -> std::result::Result<Found, Option<Refused>> {
        let pairs = self.pairs(expander).ok_or(None)?;
        let (flow, entries) = self.beyond_mean(expander)?;
        let fits = |found: &Quotient| terms::fits(found, &expander.atoms);
        if !fits(&flow) {
            return Err(Some(Refused::Large));
        }
        if pairs == 0 {
            return Ok(Found { flow, square: None });
        }
        let mut squares = Quotient::whole(Poly::default());
        for (i, row) in entries.iter().enumerate() {
            for (entry, other) in row.iter().zip(&entries) {
                squares = squares.plus(&entry.times(&other[i])?)?;
            }
        }
        let square = squares.scaled(&Uniform::number(Rational::new(1, 2 * pairs as i128)))?;
        if [&flow, &square].iter().any(|found| found.terms() > MOST_TERMS || !fits(found)) {
            return Err(Some(Refused::Large));
        }
        Ok(Found { flow, square: Some(square) })
    }

    /// The mean of the speeds, and the matrix less that.
    pub(super) fn beyond_mean(
        &self,
        expander: &Expander<'_>,
    ) -> std::result::Result<(Quotient, Vec<Vec<Quotient>>), Refused> {
        let atoms = &expander.atoms;
        let mut entries: Vec<Vec<Quotient>> = Vec::new();
        for row in &self.rows {
            let row: std::result::Result<_, _> =
                row.iter().map(|entry| Quotient::of(entry, atoms)).collect();
            entries.push(row?);
        }
        let mut trace = Quotient::whole(Poly::default());
        for (i, row) in entries.iter().enumerate() {
            trace = trace.plus(&row[i])?;
        }
        let n = entries.len() as i128;
        let flow = trace.scaled(&Uniform::number(Rational::new(1, n)))?;
        let minus = flow.scaled(&Uniform::number(Rational::from_integer(-1)))?;
        for (i, row) in entries.iter_mut().enumerate() {
            row[i] = row[i].plus(&minus)?;
        }
        Ok((flow, entries))
    }

    /// The number of waves that run ahead through the flow, if all are of this form.
    fn pairs(&self, expander: &Expander<'_>) -> Option<usize> {
        let n = self.rows.len();
        let mut trials: Vec<Vec<Trial>> = vec![Vec::new(); n / 2 + 1];
        for number in 0..POINTS {
            let Some(matrix) = self.at(&mut Point::anywhere(expander, number)) else {
                continue;
            };
            let flow = trace(&matrix) / n as f64;
            let beyond = less(&matrix, flow);
            let squares = trace(&product(&beyond, &beyond));
            for (pairs, trials) in trials.iter_mut().enumerate() {
                let square = match pairs {
                    0 => 0.0,
                    pairs => squares / (2 * pairs) as f64,
                };
                trials.push(trial(&matrix, flow, square));
            }
        }
        let fits = |(pairs, trials): (usize, &Vec<Trial>)| {
            majority(trials).is_ok_and(|kinds| kinds.sound == (pairs > 0))
        };
        trials.iter().enumerate().position(fits)
    }
}

/// The result of a point for waves of given speeds.
#[derive(Clone, Copy)]
enum Trial {
    /// All waves are of these kinds.
    Only(WaveKinds),
    /// There are.
    Others,
    /// There is no sound, and yet more than a flow: too few directions, or a sound too small to see.
    Short,
    /// No result: here the law has no waves, as a gas of negative pressure, or rounding hides them.
    Silent,
}

/// The result of most points: rounding may speak against it at some. An error tells whether there was none.
fn majority(trials: &[Trial]) -> std::result::Result<WaveKinds, bool> {
    let mut kinds = WaveKinds { flow: false, sound: false };
    let (mut with, mut against, mut short) = (0, 0, 0);
    for trial in trials {
        match trial {
            Trial::Only(found) => {
                with += 1;
                kinds.flow |= found.flow;
                kinds.sound |= found.sound;
            }
            Trial::Others => against += 1,
            Trial::Short => short += 1,
            Trial::Silent => {}
        }
    }
    // If there is sound at other points, it was too small here.
    if !kinds.sound {
        against += short;
    }
    match with > 8 * against {
        true => Ok(kinds),
        false => Err(with + against == 0),
    }
}

/// Are these the speeds of a matrix? Each entry is compared with the rounding of its terms, so units do not matter.
fn trial(matrix: &Matrix, flow: f64, square: f64) -> Trial {
    let beyond = less(matrix, flow);
    let sizes = less(&sizes(matrix), -flow.abs());
    let squares = product(&sizes, &sizes);
    let whole = trace(&squares);
    if square.abs() <= f64::EPSILON * f64::EPSILON * whole {
        return match below(&beyond, &sizes) {
            true => Trial::Only(WaveKinds { flow: true, sound: false }),
            false => Trial::Short,
        };
    }
    if square < ROUNDING * whole {
        return Trial::Silent;
    }
    let rest = less(&product(&beyond, &beyond), square);
    let rests = less(&squares, -square);
    match below(&product(&beyond, &rest), &product(&sizes, &rests)) {
        true => Trial::Only(WaveKinds { flow: !below(&rest, &rests), sound: true }),
        false => Trial::Others,
    }
}

/// Is every entry nothing but rounding of these sizes?
fn below(matrix: &Matrix, sizes: &Matrix) -> bool {
    let mut entries = matrix.iter().flatten().zip(sizes.iter().flatten());
    entries.all(|(entry, size)| entry.abs() <= ROUNDING * size)
}

pub(super) fn sizes(matrix: &Matrix) -> Matrix {
    let row = |row: &Vec<f64>| row.iter().map(|entry| entry.abs()).collect();
    matrix.iter().map(row).collect()
}

pub(super) fn trace(matrix: &Matrix) -> f64 {
    matrix.iter().enumerate().map(|(i, row)| row[i]).sum()
}

/// A matrix less a number on the diagonal.
pub(super) fn less(matrix: &Matrix, by: f64) -> Matrix {
    let mut rest = matrix.clone();
    for (i, row) in rest.iter_mut().enumerate() {
        row[i] -= by;
    }
    rest
}

pub(super) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let n = a.len();
    let entry = |i: usize, j: usize| (0..n).map(|k| a[i][k] * b[k][j]).sum();
    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
}
