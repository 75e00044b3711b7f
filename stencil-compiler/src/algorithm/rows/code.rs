//! Instructions on blocks of cells. Each computes the result from its arguments; one that keeps or
//! writes the result leaves it as it is.

use super::tape::ScalarId;
use crate::expr::{Looped, Op};

/// The work of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// The first argument.
    Copy,
    /// An operation of the table, of the arguments.
    Op(Op),
    /// Passes the first argument on to a loop, as its argument of this number. The result stays.
    Pass(u32),
    /// A loop of what was passed to it.
    Loop(Looped),
    /// The third argument, a number, times the pair of the first two.
    Product(Pair),
    /// The same, added to the result with one rounding.
    Term(Pair),
    /// Stores the result in the row of the last argument, as all work with a spare argument does.
    Keep,
    /// Stores the result in an output's row.
    Write(u32),
}

/// The pair of arguments that the number of a term multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    /// The first argument.
    One,
    /// The sum of both.
    Sum,
    /// The difference of both.
    Difference,
}

/// An argument of an instruction: a row of kind `R` or a number of kind `S`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Argument<R, S> {
    None,
    /// The result of the instruction before.
    Result,
    Scalar(S),
    Row(R),
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Instruction<R, S> {
    pub(super) work: Work,
    pub(super) args: [Argument<R, S>; Op::MOST_ARGUMENTS],
}

impl<R: Copy, S: Copy> Instruction<R, S> {
    pub(super) fn new(work: Work, args: &[Argument<R, S>]) -> Self {
        let mut all = [Argument::None; Op::MOST_ARGUMENTS];
        all[..args.len()].copy_from_slice(args);
        Instruction { work, args: all }
    }

    /// Stores the result in a row.
    pub(super) fn keep(to: R) -> Self {
        let mut keep = Instruction::new(Work::Keep, &[]);
        keep.args[Op::MOST_ARGUMENTS - 1] = Argument::Row(to);
        keep
    }

    /// Is the last argument free to name a row that receives the result?
    pub(super) fn can_keep(&self) -> bool {
        match self.work {
            Work::Write(_) | Work::Keep | Work::Pass(_) => false,
            Work::Op(op) => op.arity() < Op::MOST_ARGUMENTS,
            Work::Copy | Work::Loop(_) | Work::Product(_) | Work::Term(_) => true,
        }
    }

    /// The same with other rows and numbers.
    pub(super) fn map<Q: Copy, V: Copy>(
        &self,
        mut row: impl FnMut(R) -> Argument<Q, V>,
        scalar: impl Fn(S) -> V,
    ) -> Instruction<Q, V> {
        let args = self.args.map(|arg| match arg {
            Argument::None => Argument::None,
            Argument::Result => Argument::Result,
            Argument::Scalar(s) => Argument::Scalar(scalar(s)),
            Argument::Row(r) => row(r),
        });
        Instruction { work: self.work, args }
    }

    /// The rows among the arguments.
    pub(super) fn rows(&self) -> impl Iterator<Item = R> {
        self.args.iter().filter_map(|arg| match arg {
            Argument::Row(row) => Some(*row),
            Argument::None | Argument::Result | Argument::Scalar(_) => None,
        })
    }
}

/// The place of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A block that the blocks of a step use one after the other.
    Slot(usize),
    /// A row of its own.
    Row(usize),
    Input {
        input: usize,
        y: i32,
        z: i32,
    },
    /// The old values of an output.
    Own(usize),
}

/// A row, read `x` cells further along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) place: Place,
    pub(super) x: i32,
}

/// One pass over a row: `code` for one block of cells after the other, from cell `start` to `end`
/// beyond the last.
#[derive(Clone, Debug)]
pub(super) struct Step<I> {
    pub(super) start: i32,
    pub(super) end: i32,
    pub(super) code: Vec<I>,
}

/// An instruction whose rows have places.
pub(super) type Placed = Instruction<Source, ScalarId>;

/// The place where a block begins, without the offset that all arguments of the block share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Address {
    Input { row: u32, at: isize },
    Register { at: isize, moves: bool },
    Own(u32),
}

/// An instruction as it is executed.
pub(super) type Loaded<T> = Instruction<Address, T>;
