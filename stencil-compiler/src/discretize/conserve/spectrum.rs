//! How fast the waves of a law are: found from its fluxes, or checked where the system says it.
//!
//! The speeds are the eigenvalues of the Jacobian `A` of the fluxes along an axis. There is a closed form where they are
//! the flow `u = tr A/n` and `u ± c`: then `B = A - u` has `B (B² - c²) = 0`, and `tr B² = 2k c²` if `k` waves run
//! ahead and as many back. Sound, gases and shallow water are so. That the polynomial is zero, so that there
//! are no other speeds and there are eigenvectors enough, is tried with numbers.

use std::collections::BTreeMap;

use super::algebra::Algebra;
use super::families::Kinds;
use super::rational::{Quotient, Refused};
use super::sample::Point;
use super::tangent::Tangent;
use super::{AXES, Law, written};
use crate::diag::Code;
use crate::discretize::expand::{Expander, Result, States, overflow};
use crate::discretize::poly::{Overflow, Poly, Uniform};
use crate::discretize::{DiscretizeError, settled};
use crate::model::{Rank, Rational, Term, TermKind, Waves};

/// Points that are tried.
const POINTS: u64 = 64;

/// What rounding may do to a value of order one.
const ROUNDING: f64 = 1e-9;

/// A matrix of numbers, row by row.
type Matrix = Vec<Vec<f64>>;

/// The Jacobian of the fluxes along an axis, row by row, and the waves that the system declares.
struct Jacobian {
    rows: Vec<Vec<Poly>>,
    /// Flow and sound.
    declared: Option<[Poly; 2]>,
}

/// Speeds along an axis as quotients: the flow, and the square of the sound; none where nothing moves through the flow.
struct Found {
    flow: Quotient,
    square: Option<Quotient>,
}

impl Law<'_> {
    /// Which kinds of waves there are along any axis, where the declared ones are all.
    ///
    /// # Errors
    /// Where there are others.
    pub(super) fn kinds_of(&self, waves: &Waves) -> Result<Kinds> {
        let mut kinds = Kinds {
            flow: false,
            sound: false,
        };
        for (axis, along) in AXES.iter().enumerate().take(self.model.dimension) {
            let mut expander = self.expander_for_forms()?;
            let jacobian = self.jacobian(&mut expander, axis, Some(waves))?;
            let Some(found) = jacobian.kinds(&expander) else {
                let message = format!(
                    "along {along} there are waves that are neither as fast as `flow` nor slower or faster by `sound`, \
                     and the scheme needs all; correct `waves`, or choose `hll`"
                );
                return Err(DiscretizeError::new(Code::OtherWaves, waves.span, message));
            };
            kinds.flow |= found.flow;
            kinds.sound |= found.sound;
        }
        Ok(kinds)
    }

    /// The speeds of all waves, from the fluxes alone.
    ///
    /// # Errors
    /// Where they have no such closed form.
    pub(super) fn derived_waves(&self) -> Result<Waves> {
        let span = self.model.fluxes[0].span;
        let (mut flows, mut sounds) = (Vec::new(), Vec::new());
        for (axis, along) in AXES.iter().enumerate().take(self.model.dimension) {
            let mut expander = self.expander_for_forms()?;
            let jacobian = self.jacobian(&mut expander, axis, None)?;
            let found = jacobian.found(&expander).map_err(|refused| {
                match refused {
                    Some(Refused::Range) => overflow(span)(Overflow),
                    Some(Refused::Large) | None => DiscretizeError::new(
                        Code::NeedsWaves,
                        span,
                        format!(
                            "the speeds of the waves along {along} have no closed form that is seen here: only a flow, and \
                             what is slower and faster than it by a sound; declare `waves {{ flow: ..; sound: ..; }}` \
                             with bounds of them, or choose `riemann: force`"
                        ),
                    ),
                }
            })?;
            let to_term = |quotient: &Quotient| written::term(self, &expander, quotient, span);
            flows.push(to_term(&found.flow));
            let zero = Term::integer(0, span);
            let square = found.square.as_ref().map(to_term);
            sounds.push(square.map_or(zero, |square| written::root(square, span)));
        }
        let vector = |entries: Vec<Term>| Term::of(TermKind::Stack(entries), Rank::Vector, span);
        let alike = sounds.iter().all(|sound| *sound == sounds[0]);
        let sound = if alike {
            sounds.swap_remove(0)
        } else {
            vector(sounds)
        };
        Ok(Waves {
            flow: Some(vector(flows)),
            sound: Some(sound),
            density: None,
            pressure: None,
            span,
        })
    }

    /// An expander of its own: nothing of what it makes is evaluated in a run.
    pub(super) fn expander_for_forms(&self) -> Result<Expander<'_>> {
        let mixed = settled(self.model.scheme.mixed);
        Expander::new(self.model, self.components, mixed)
    }

    fn jacobian(
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
            Some(waves) => Some(self.flow_and_sound(expander, waves, &states, (axis, "form"))?),
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
        Ok(Jacobian { rows, declared })
    }
}

impl Jacobian {
    /// The matrix at a point, if all of it is finite there.
    fn at(&self, point: &mut Point<'_, '_>) -> Option<Matrix> {
        let row = |row: &Vec<Poly>, point: &mut Point<'_, '_>| {
            row.iter()
                .map(|entry| point.value(entry))
                .collect::<Vec<f64>>()
        };
        let matrix: Matrix = self.rows.iter().map(|r| row(r, point)).collect();
        let finite = matrix.iter().flatten().all(|entry| entry.is_finite());
        finite.then_some(matrix)
    }

    /// Which kinds of waves there are, if the declared ones are all.
    fn kinds(&self, expander: &Expander<'_>) -> Option<Kinds> {
        let [flow, sound] = self.declared.as_ref()?;
        let mut found: Option<Kinds> = None;
        for number in 0..POINTS {
            let mut point = Point::new(expander, number);
            let (flow, sound) = (point.value(flow), point.value(sound));
            let Some(matrix) = self.at(&mut point).filter(|_| (flow + sound).is_finite()) else {
                continue;
            };
            let kinds = kinds(&less(&matrix, flow), sound * sound, size(&matrix))?;
            let all = found.get_or_insert(kinds);
            all.flow |= kinds.flow;
            all.sound |= kinds.sound;
        }
        found
    }

    /// Speeds of this form; the reason if there is one other than that there are none.
    fn found(&self, expander: &Expander<'_>) -> std::result::Result<Found, Option<Refused>> {
        let pairs = self.pairs(expander).ok_or(None)?;
        let atoms = &expander.atoms;
        let mut entries: Vec<Vec<Quotient>> = Vec::new();
        for row in &self.rows {
            let row: std::result::Result<_, _> =
                row.iter().map(|entry| Quotient::of(entry, atoms)).collect();
            entries.push(row?);
        }
        let nothing = Quotient::whole(Poly::default());
        let mut trace = nothing.clone();
        for (i, row) in entries.iter().enumerate() {
            trace = trace.plus(&row[i])?;
        }
        let n = entries.len() as i128;
        let flow = trace.scaled(&Uniform::number(Rational::new(1, n)))?;
        if pairs == 0 {
            return Ok(Found { flow, square: None });
        }
        let minus = flow.scaled(&Uniform::number(Rational::from_integer(-1)))?;
        for (i, row) in entries.iter_mut().enumerate() {
            row[i] = row[i].plus(&minus)?;
        }
        let mut squares = nothing;
        for (i, row) in entries.iter().enumerate() {
            for (entry, other) in row.iter().zip(&entries) {
                squares = squares.plus(&entry.times(&other[i])?)?;
            }
        }
        let square = squares.scaled(&Uniform::number(Rational::new(1, 2 * pairs as i128)))?;
        Ok(Found {
            flow,
            square: Some(square),
        })
    }

    /// How many waves run ahead through the flow, if all are of this form.
    fn pairs(&self, expander: &Expander<'_>) -> Option<usize> {
        let n = self.rows.len();
        let mut possible: Vec<usize> = (0..=n / 2).collect();
        let mut tried = 0;
        for number in 0..POINTS {
            let Some(matrix) = self.at(&mut Point::new(expander, number)) else {
                continue;
            };
            let trace: f64 = (0..n).map(|i| matrix[i][i]).sum();
            let beyond = less(&matrix, trace / n as f64);
            let squares = product(&beyond, &beyond);
            let squares: f64 = (0..n).map(|i| squares[i][i]).sum();
            // Elsewhere the law has no waves, as a gas of negative pressure.
            let size = size(&matrix);
            if squares < -ROUNDING * size * size {
                continue;
            }
            tried += 1;
            possible.retain(|pairs| {
                let square = squares / (2 * (*pairs).max(1)) as f64;
                let moves = kinds(&beyond, if *pairs == 0 { 0.0 } else { square }, size);
                moves.is_some_and(|kinds| kinds.sound == (*pairs > 0))
            });
        }
        (tried > 0).then(|| possible.first().copied()).flatten()
    }
}

/// Which kinds of waves a matrix less the flow has, if it has no others than these.
fn kinds(beyond: &Matrix, square: f64, size: f64) -> Option<Kinds> {
    let size = size.max(square.abs().sqrt()).max(f64::MIN_POSITIVE);
    if square <= ROUNDING * ROUNDING * size * size {
        let still = largest(beyond) <= ROUNDING * size;
        return still.then_some(Kinds {
            flow: true,
            sound: false,
        });
    }
    let rest = less(&product(beyond, beyond), square);
    let all = product(beyond, &rest);
    let is_zero = largest(&all) <= ROUNDING * size * size * size;
    is_zero.then(|| Kinds {
        flow: largest(&rest) > ROUNDING * size * size,
        sound: true,
    })
}

fn largest(matrix: &Matrix) -> f64 {
    matrix
        .iter()
        .flatten()
        .fold(0.0, |most, entry| entry.abs().max(most))
}

/// A bound of all that comes of a matrix.
fn size(matrix: &Matrix) -> f64 {
    largest(matrix) * matrix.len() as f64
}

/// A matrix less a number on the diagonal.
fn less(matrix: &Matrix, by: f64) -> Matrix {
    let mut rest = matrix.clone();
    for (i, row) in rest.iter_mut().enumerate() {
        row[i] -= by;
    }
    rest
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let n = a.len();
    let entry = |i: usize, j: usize| (0..n).map(|k| a[i][k] * b[k][j]).sum();
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}
