//! Ghost cells at the ends of rows, along x.
//!
//! There are as many rows as cells of a face, each with a few ghost cells at either end. Filled by a pass of their
//! own, each of them is a line of the cache that comes from memory; filled when a row was computed, it is in the
//! cache.

use stencil_compiler::expr::Real;

use super::ghosts::Line;
use crate::mesh::{Axis, Face, Number, Rule, Side};

/// The fills of both ends of every row of a component, found once.
#[derive(Clone, Debug)]
pub(crate) struct Ends<T>([End<T>; 2]);

impl<T: Real> Ends<T> {
    /// Makes the ends of `depth` ghost cells each, of rows of so many cells with the spacing `h`.
    pub(crate) fn new(rules: &[Rule; 2], cells: usize, depth: usize, h: f64) -> Self {
        Ends(Side::ALL.map(|side| End::new(&rules[side as usize], side, cells, depth, h)))
    }

    /// Does filling take no more than constants?
    pub(crate) fn are_plain(&self) -> bool {
        let plain = |end: &End<T>| !matches!(end.change, Change::Other);
        self.0.iter().all(plain)
    }

    /// Fills the ends of a row, which begins with its first ghost cell. Returns the sides that need more than
    /// constants, and that are not filled.
    #[inline]
    pub(crate) fn fill(&self, row: &mut [T]) -> impl Iterator<Item = Side> + use<T> {
        let rest = [self.0[0].fill(row), self.0[1].fill(row)];
        let sides = Side::ALL.into_iter().zip(rest);
        sides.filter_map(|(side, done)| (!done).then_some(side))
    }
}

/// The fill of one end of every row.
#[derive(Clone, Debug)]
struct End<T> {
    /// Ghost cells and the cells that they are filled from, counted from the first ghost cell.
    cells: Vec<(usize, usize)>,
    change: Change<T>,
}

/// The change of a value on the way to a ghost cell.
#[derive(Clone, Debug)]
enum Change<T> {
    None,
    Sign,
    /// Twice the value on the face, less the value.
    Reflect(T),
    /// A number to add at each depth.
    Add(Vec<T>),
    /// Another rule.
    Other,
}

impl<T: Real> End<T> {
    fn new(rule: &Rule, side: Side, cells: usize, depth: usize, h: f64) -> Self {
        let line = Line { cells, face: Face::new(Axis::X, side) };
        let (from, change) = match rule {
            Rule::Periodic => (0, Change::None),
            Rule::Mirror { negative: false } => (1, Change::None),
            Rule::Mirror { negative: true } => (1, Change::Sign),
            Rule::Nearest => (2, Change::None),
            Rule::Dirichlet(Number::Constant(value)) => {
                (1, Change::Reflect(T::from_f64(2.0 * value)))
            }
            Rule::Neumann(Number::Constant(slope)) => {
                let add = (0..depth).map(|k| T::from_f64(slope * ((2 * k + 1) as f64 * h)));
                (1, Change::Add(add.collect()))
            }
            Rule::Dirichlet(_)
            | Rule::Neumann(_)
            | Rule::Extended(_)
            | Rule::Linear(_)
            | Rule::Custom(_) => (0, Change::Other),
        };
        let ghost = |k: usize| match side {
            Side::Lo => depth - 1 - k,
            Side::Hi => depth + cells + k,
        };
        let pairs = (0..depth).map(|k| (ghost(k), depth + line.sources(k)[from]));
        End { cells: pairs.collect(), change }
    }

    /// Fills the ghost cells of a row; returns `false` if that takes more than a constant.
    #[inline]
    fn fill(&self, row: &mut [T]) -> bool {
        let cells = self.cells.iter().copied();
        match &self.change {
            Change::None => cells.for_each(|(to, from)| row[to] = row[from]),
            Change::Sign => cells.for_each(|(to, from)| row[to] = -row[from]),
            Change::Reflect(twice) => cells.for_each(|(to, from)| row[to] = *twice - row[from]),
            Change::Add(add) => {
                for ((to, from), add) in cells.zip(add) {
                    row[to] = *add + row[from];
                }
            }
            Change::Other => return false,
        }
        true
    }
}
