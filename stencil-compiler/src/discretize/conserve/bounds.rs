//! Bounds of the speeds of waves, from the fluxes, for laws whose speeds have no closed form as a whole.
//!
//! If some conserved components do not depend on the others, the Jacobian falls apart: its eigenvalues are those of
//! blocks along its diagonal, the strongly connected parts of its graph, and these may have closed forms. The
//! eigenvalues of a law are real, so those of a block less their mean, with `B = A - tr A/n`, are bounded by `tr B⁴`
//! (or `tr B²`, if that takes fewer terms): it is the sum of their powers. If they come in pairs of both signs, half of
//! it is a bound. Numbers are tried to see that there are states with waves.

use super::rational::{Quotient, Refused};
use super::sample::Point;
use super::spectrum::{Found, Jacobian, MOST_TERMS, Matrix, POINTS, less, product, sizes, trace};
use super::{Law, terms};
use crate::catalogue::Function;
use crate::discretize::expand::{Expander, Result};
use crate::discretize::poly::{Poly, Uniform};
use crate::expr::{Op, Rational};
use crate::model::{Term, TermKind, Waves};

/// The relative amount by which a bound may fall short, and a sum of odd powers exceed zero, through rounding.
const ROUNDING: f64 = 1e-6;

/// Squarings of a matrix, after which its size is that of its greatest eigenvalue.
const SQUARINGS: u32 = 40;

type Written<T> = std::result::Result<T, Refused>;

/// A bound of the speeds through a flow.
struct Bound {
    flow: Quotient,
    /// Some power of it.
    power: Quotient,
    /// The number of roots to be taken of it.
    roots: usize,
}

impl Law<'_> {
    /// Bounds of the speeds of all waves; `refused` is the reason why there are no exact speeds.
    ///
    /// # Errors
    /// If there are none: with that reason.
    pub(super) fn bounding_waves(&self, refused: super::DiscretizeError) -> Result<Waves> {
        let span = self.model.fluxes[0].span;
        let (mut flows, mut sounds) = (Vec::new(), Vec::new());
        for axis in 0..self.model.dimension {
            let mut expander = self.expander_for_forms()?;
            let jacobian = self.jacobian(&mut expander, axis, None)?;
            let Some([flow, sound]) = self.bounds(&expander, &jacobian) else {
                return Err(refused);
            };
            flows.push(flow);
            sounds.push(sound);
        }
        let vector = |entries: Vec<Term>| self.vector(entries, span);
        Ok(Waves {
            flow: Some(vector(flows)),
            sound: Some(vector(sounds)),
            density: None,
            pressure: None,
            span,
        })
    }

    /// The flow and the sound along an axis, if there are bounds.
    fn bounds(&self, expander: &Expander<'_>, jacobian: &Jacobian) -> Option<[Term; 2]> {
        let span = self.model.fluxes[0].span;
        let to_term = |quotient: &Quotient| terms::term(self, expander, quotient, span);
        let rooted = |quotient: &Quotient, roots: usize| {
            (0..roots).fold(to_term(quotient), |of, _| terms::root(of, span))
        };
        let mut parts: Vec<[Term; 2]> = Vec::new();
        for block in jacobian.blocks() {
            let zero = Term::integer(0, span);
            let part = match block.found(expander) {
                Ok(Found { flow, square }) => {
                    let sound = square.as_ref().map_or(zero, |square| rooted(square, 1));
                    [to_term(&flow), sound]
                }
                Err(_) => {
                    let bound = block.bound(expander).ok()?;
                    [to_term(&bound.flow), rooted(&bound.power, bound.roots)]
                }
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        joined(&parts)
    }
}

/// The flow and the sound that all of some have between them.
fn joined(parts: &[[Term; 2]]) -> Option<[Term; 2]> {
    let (flow, span) = (parts.first()?[0].clone(), parts.first()?[0].span);
    let choice = |op: Op, a: Term, b: Term| {
        let kind = TermKind::Call(Function::Scalar(op), vec![a, b]);
        Term::scalar(kind, span)
    };
    let most = |op: Op, all: Vec<Term>| all.into_iter().reduce(|a, b| choice(op, a, b));
    let zero = Term::integer(0, span);
    if parts.iter().all(|part| part[0] == flow) {
        let mut sounds: Vec<Term> = parts.iter().map(|part| part[1].clone()).collect();
        sounds.retain(|sound| *sound != zero);
        return Some([flow, most(Op::Max, sounds).unwrap_or(zero)]);
    }
    let both = |a: &Term, b: &Term, kind: fn(Box<Term>, Box<Term>) -> TermKind| {
        Term::scalar(kind(Box::new(a.clone()), Box::new(b.clone())), span)
    };
    let ends = parts.iter().map(|[flow, sound]| match *sound == zero {
        true => (flow.clone(), flow.clone()),
        false => (both(flow, sound, TermKind::Sub), both(flow, sound, TermKind::Add)),
    });
    let (below, above): (Vec<Term>, Vec<Term>) = ends.unzip();
    let (slowest, fastest) = (most(Op::Min, below)?, most(Op::Max, above)?);
    let two = Term::integer(2, span);
    let half = |of: Term| both(&of, &two, TermKind::Div);
    let sum = both(&fastest, &slowest, TermKind::Add);
    let difference = both(&fastest, &slowest, TermKind::Sub);
    Some([half(sum), half(difference)])
}

impl Jacobian {
    /// The blocks along the diagonal, once components are in the order in which they see each other.
    fn blocks(&self) -> Vec<Jacobian> {
        let n = self.rows.len();
        let mut sees: Vec<Vec<bool>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(|entry| !entry.0.is_empty()).collect())
            .collect();
        // Dependencies through others (Warshall).
        for through in 0..n {
            for from in 0..n {
                for to in 0..n {
                    sees[from][to] |= sees[from][through] && sees[through][to];
                }
            }
        }
        let mut taken = vec![false; n];
        let mut all = Vec::new();
        for first in 0..n {
            if taken[first] {
                continue;
            }
            let with =
                |other: &usize| *other == first || sees[first][*other] && sees[*other][first];
            let block: Vec<usize> = (0..n).filter(with).collect();
            let row = |i: &usize| block.iter().map(|j| self.rows[*i][*j].clone()).collect();
            all.push(Jacobian { rows: block.iter().map(row).collect(), declared: None });
            block.iter().for_each(|i| taken[*i] = true);
        }
        all
    }

    /// A bound by the sum of fourth powers, or of squares, if it is one.
    fn bound(&self, expander: &Expander<'_>) -> Written<Bound> {
        let (flow, entries) = self.beyond_mean(expander)?;
        let n = entries.len();
        let squared = |rows: &[Vec<Quotient>]| {
            let row = |i: usize| (0..n).map(|j| entry(rows, i, j)).collect::<Written<Vec<_>>>();
            (0..n).map(row).collect::<Written<Vec<_>>>()
        };
        let squares = squared(&entries)?;
        let pairs = self.is_of_pairs(expander);
        let share = |power: i128| {
            // The others add up to the greatest, in the best of cases.
            let others = (n as i128 - 1).pow(power as u32 - 1);
            match pairs {
                true => Rational::new(1, 2),
                false => Rational::new(others, others + 1),
            }
        };
        let of = |sum: Quotient, power: i128| sum.scaled(&Uniform::number(share(power)));
        let fourth = trace_of_square(&squares).and_then(|sum| of(sum, 4));
        let mut found = Bound { power: of(trace_of(&squares)?, 2)?, flow, roots: 1 };
        // A sum of squares bounds real eigenvalues only.
        let has_waves = self.has_waves(expander, &found);
        if let Ok(power) = fourth
            && power.terms() <= MOST_TERMS
            && terms::fits(&power, &expander.atoms)
        {
            (found.power, found.roots) = (power, 2);
        }
        let fits = [&found.flow, &found.power]
            .iter()
            .all(|found| found.terms() <= MOST_TERMS && terms::fits(found, &expander.atoms));
        match fits && has_waves {
            true => Ok(found),
            false => Err(Refused::Large),
        }
    }

    /// Do speeds less their mean come in pairs of both signs? Then sums of odd powers are zero.
    fn is_of_pairs(&self, expander: &Expander<'_>) -> bool {
        let n = self.rows.len();
        let mut points = self.points(expander).peekable();
        points.peek().is_some()
            && points.all(|matrix| {
                let beyond = less(&matrix, trace(&matrix) / n as f64);
                let (square, of_sizes) = (product(&beyond, &beyond), sizes(&beyond));
                let square_of_sizes = product(&of_sizes, &of_sizes);
                let (mut odd, mut odd_of_sizes) = (beyond, of_sizes);
                (1..n.div_ceil(2)).all(|_| {
                    odd = product(&odd, &square);
                    odd_of_sizes = product(&odd_of_sizes, &square_of_sizes);
                    trace(&odd).abs() <= ROUNDING * trace(&odd_of_sizes)
                })
            })
    }

    /// The values of the matrix at points at which it is finite.
    fn points<'j>(&'j self, expander: &'j Expander<'_>) -> impl Iterator<Item = Matrix> + 'j {
        (0..POINTS).filter_map(|number| self.at(&mut Point::anywhere(expander, number)))
    }

    /// Are there states in which no eigenvalue is beyond the bound by squares? In others eigenvalues are not real, and the law has no waves there, as
    /// that of a gas whose pressure is negative.
    fn has_waves(&self, expander: &Expander<'_>, bound: &Bound) -> bool {
        (0..POINTS).any(|number| {
            let mut point = Point::new(expander, number);
            let mut value = |of: &Quotient| point.value(&of.above) / point.value(&of.below);
            let (flow, power) = (value(&bound.flow), value(&bound.power));
            let most = (0..bound.roots).fold(power, |of, _| of.sqrt());
            let matrix = self.at(&mut point);
            matrix.is_some_and(|matrix| greatest(&less(&matrix, flow)) <= most * (1.0 + ROUNDING))
        })
    }
}

/// An entry of the square of a matrix.
fn entry(rows: &[Vec<Quotient>], i: usize, j: usize) -> Written<Quotient> {
    let mut sum = Quotient::whole(Poly::default());
    for (first, row) in rows[i].iter().zip(rows) {
        sum = sum.plus(&first.times(&row[j])?)?;
    }
    Ok(sum)
}

fn trace_of(rows: &[Vec<Quotient>]) -> Written<Quotient> {
    let mut sum = Quotient::whole(Poly::default());
    for (i, row) in rows.iter().enumerate() {
        sum = sum.plus(&row[i])?;
    }
    Ok(sum)
}

fn trace_of_square(rows: &[Vec<Quotient>]) -> Written<Quotient> {
    let mut sum = Quotient::whole(Poly::default());
    for i in 0..rows.len() {
        sum = sum.plus(&entry(rows, i, i)?)?;
    }
    Ok(sum)
}

/// The size of the greatest eigenvalue: that of a high power of the matrix, to one over that power (Gelfand).
fn greatest(matrix: &Matrix) -> f64 {
    let (mut power, mut log) = (matrix.clone(), 0.0);
    for _ in 0..SQUARINGS {
        let size = sizes(&power).iter().flatten().fold(0.0, |a, b| f64::max(a, *b));
        if size == 0.0 {
            return 0.0;
        }
        power.iter_mut().flatten().for_each(|entry| *entry /= size);
        log = 2.0 * (log + Op::Log.eval(&[size]));
        power = product(&power, &power);
    }
    let size = sizes(&power).iter().flatten().fold(0.0, |a, b| f64::max(a, *b));
    Op::Exp.eval(&[(log + Op::Log.eval(&[size])) / (1_u64 << SQUARINGS) as f64])
}
