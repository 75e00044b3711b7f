//! Row values to instructions, in steps whose instructions can follow each other block by block.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Argument, Instruction, Pair, Step, Work};
use super::lower::{Extent, operands};
use super::tape::{Arg, Operand, ScalarId, Value, ValueId};
use crate::expr::Op;

/// An instruction whose rows have no places yet.
#[derive(Clone, Debug)]
pub(super) struct Selected {
    pub(super) instruction: Instruction<Operand, ScalarId>,
    /// The value that its result completes, if any.
    pub(super) completes: Option<ValueId>,
}

/// Reads of a sum or difference up to which it is computed anew at each. It costs one load more
/// than a row that is kept, which costs a store and instructions of its own.
const READS: usize = 2;

/// The instructions of all values that are needed, and those that write the results.
pub(super) fn select(
    values: &[Value],
    extents: &[Option<Extent>],
    results: &[Arg],
) -> Vec<Step<Selected>> {
    let mut selector = Selector {
        values,
        pairs: pairs(values, extents, results),
        steps: Vec::new(),
        of_this_step: BTreeSet::new(),
    };
    let (soon, late) = selector.writes(extents, results);
    for (id, value) in values.iter().enumerate() {
        let id = ValueId(id);
        let (Some(extent), false) = (extents[id.0], selector.pairs.contains_key(&id)) else {
            continue;
        };
        selector.value(id, value, extent);
        for output in soon.get(&id).into_iter().flatten() {
            let row = Arg::Row(Operand { value: id, x: 0 });
            selector.write(*output, row);
        }
    }
    for output in late {
        selector.write(output, results[output]);
    }
    selector.steps
}

/// Sums and differences that the terms of sums compute themselves.
fn pairs(
    values: &[Value],
    extents: &[Option<Extent>],
    results: &[Arg],
) -> BTreeMap<ValueId, (Pair, Operand, Operand)> {
    let pair = |(id, value): (usize, &Value)| match value {
        Value::Op(Op::Add, args) => both(args).map(|(a, b)| (ValueId(id), (Pair::Sum, a, b))),
        Value::Op(Op::Sub, args) => {
            both(args).map(|(a, b)| (ValueId(id), (Pair::Difference, a, b)))
        }
        _ => None,
    };
    let mut pairs: BTreeMap<_, _> = values.iter().enumerate().filter_map(pair).collect();
    let mut reads: BTreeMap<ValueId, usize> = BTreeMap::new();
    let needed = values.iter().zip(extents).filter_map(|(v, e)| e.map(|_| v));
    for value in needed {
        let before = match value {
            Value::Sum { before, terms } => {
                for (_, row) in terms {
                    *reads.entry(row.value).or_default() += 1;
                }
                before.iter().copied().collect()
            }
            Value::Input { .. } | Value::Own { .. } | Value::Fill(_) | Value::Op(..) => {
                operands(value)
            }
        };
        before.iter().for_each(|row| {
            pairs.remove(&row.value);
        });
    }
    for result in results {
        if let Arg::Row(row) = result {
            pairs.remove(&row.value);
        }
    }
    pairs.retain(|id, _| reads.get(id).is_some_and(|count| *count <= READS));
    // Among nested pairs the outer one is part of the term.
    let outer: Vec<_> = pairs.values().copied().collect();
    for (_, a, b) in outer {
        pairs.remove(&a.value);
        pairs.remove(&b.value);
    }
    pairs
}

fn both(args: &[Arg]) -> Option<(Operand, Operand)> {
    match args {
        [Arg::Row(a), Arg::Row(b)] => Some((*a, *b)),
        _ => None,
    }
}

fn further(row: Operand, x: i32) -> Operand {
    Operand { value: row.value, x: row.x + x }
}

struct Selector<'a> {
    values: &'a [Value],
    pairs: BTreeMap<ValueId, (Pair, Operand, Operand)>,
    steps: Vec<Step<Selected>>,
    /// Values that the last step computes.
    of_this_step: BTreeSet<ValueId>,
}

impl Selector<'_> {
    /// The outputs that are written as soon as their value is computed, and the others, which are written last.
    fn writes(
        &self,
        extents: &[Option<Extent>],
        results: &[Arg],
    ) -> (BTreeMap<ValueId, Vec<usize>>, Vec<usize>) {
        let mut last_read: BTreeMap<usize, usize> = BTreeMap::new();
        for (id, value) in self.values.iter().enumerate() {
            for row in self.reads(value) {
                if let Value::Own { output } = self.values[row.value.0] {
                    last_read.insert(output, id);
                }
            }
        }
        let (mut soon, mut late) = (BTreeMap::<_, Vec<usize>>::new(), Vec::new());
        for (output, result) in results.iter().enumerate() {
            let Arg::Row(Operand { value, x }) = *result else {
                late.push(output);
                continue;
            };
            match self.values[value.0] {
                // The old values stay; those of other outputs were copied.
                Value::Own { .. } => {}
                Value::Sum { .. } | Value::Op(..)
                    if x == 0
                        && extents[value.0] == Some((0, 0))
                        && last_read.get(&output).is_none_or(|last| *last <= value.0) =>
                {
                    soon.entry(value).or_default().push(output);
                }
                Value::Input { .. } | Value::Fill(_) | Value::Sum { .. } | Value::Op(..) => {
                    late.push(output);
                }
            }
        }
        (soon, late)
    }

    /// The rows that a value is computed from, through pairs.
    fn reads(&self, value: &Value) -> Vec<Operand> {
        let through = |row: Operand| match self.pairs.get(&row.value) {
            Some((_, a, b)) => vec![further(*a, row.x), further(*b, row.x)],
            None => vec![row],
        };
        operands(value).into_iter().flat_map(through).collect()
    }

    fn value(&mut self, id: ValueId, value: &Value, extent: Extent) {
        let mut code: Vec<(Work, Vec<Argument<Operand, ScalarId>>)> = match value {
            Value::Input { .. } | Value::Own { .. } | Value::Fill(_) => return,
            Value::Sum { before, terms } => self.sum(*before, terms),
            Value::Op(Op::Loop(of), args) => {
                let pass =
                    |(at, arg): (usize, &Arg)| (Work::Pass(at as u32), vec![self.argument(*arg)]);
                let passed = args.iter().enumerate().map(pass);
                passed.chain([(Work::Loop(*of), Vec::new())]).collect()
            }
            Value::Op(op, args) => {
                let args = args.iter().map(|arg| self.argument(*arg));
                vec![(Work::Op(*op), args.collect())]
            }
        };
        let reads = self.reads(value);
        let last = code.pop();
        for (work, args) in code {
            self.push(&reads, extent, Instruction::new(work, &args), None);
        }
        if let Some((work, args)) = last {
            self.push(&reads, extent, Instruction::new(work, &args), Some(id));
        }
        self.of_this_step.insert(id);
    }

    /// The instructions of a sum.
    fn sum(
        &self,
        before: Option<Operand>,
        terms: &[(ScalarId, Operand)],
    ) -> Vec<(Work, Vec<Argument<Operand, ScalarId>>)> {
        let mut code = Vec::new();
        let mut terms = terms.iter();
        if let Some(before) = before {
            let before = self.argument(Arg::Row(before));
            match terms.as_slice().first() {
                // The result of the instruction before may be the row of the term as well.
                Some((factor, row)) if !self.pairs.contains_key(&row.value) => {
                    let row = self.argument(Arg::Row(*row));
                    let args = vec![Argument::Scalar(*factor), row, before];
                    code.push((Work::Op(Op::Fma), args));
                    terms.next();
                }
                _ => code.push((Work::Copy, vec![before])),
            }
        }
        for (factor, row) in terms {
            let (pair, a, b) = match self.pairs.get(&row.value) {
                Some((pair, a, b)) => {
                    let argument = |of: &Operand| self.argument(Arg::Row(further(*of, row.x)));
                    (*pair, argument(a), argument(b))
                }
                None => (Pair::One, self.argument(Arg::Row(*row)), Argument::None),
            };
            let work = if code.is_empty() { Work::Product(pair) } else { Work::Term(pair) };
            code.push((work, vec![a, b, Argument::Scalar(*factor)]));
        }
        code
    }

    fn argument(&self, arg: Arg) -> Argument<Operand, ScalarId> {
        match arg {
            Arg::Scalar(scalar) => Argument::Scalar(scalar),
            Arg::Row(row) => match self.values[row.value.0] {
                Value::Fill(scalar) => Argument::Scalar(scalar),
                Value::Input { .. } | Value::Own { .. } | Value::Sum { .. } | Value::Op(..) => {
                    Argument::Row(row)
                }
            },
        }
    }

    fn write(&mut self, output: usize, arg: Arg) {
        let argument = self.argument(arg);
        let reads = match argument {
            Argument::Row(row) => vec![row],
            Argument::None | Argument::Result | Argument::Scalar(_) => Vec::new(),
        };
        let copy = Instruction::new(Work::Copy, &[argument]);
        let completes = reads.first().and_then(|row| (row.x == 0).then_some(row.value));
        self.push(&reads, (0, 0), copy, completes);
        let write = Instruction::new(Work::Write(output as u32), &[]);
        self.push(&[], (0, 0), write, completes);
    }

    /// Adds an instruction to the last step, or to a new one where the last computes other cells, or
    /// a value of which the instruction needs other cells than those of its own block.
    fn push(
        &mut self,
        reads: &[Operand],
        (start, end): Extent,
        instruction: Instruction<Operand, ScalarId>,
        completes: Option<ValueId>,
    ) {
        let shifted = |row: &Operand| row.x != 0 && self.of_this_step.contains(&row.value);
        let fits = |step: &Step<_>| (step.start, step.end) == (start, end);
        if !self.steps.last().is_some_and(fits) || reads.iter().any(shifted) {
            self.of_this_step.clear();
            self.steps.push(Step { start, end, code: Vec::new() });
        }
        if let Some(step) = self.steps.last_mut() {
            step.code.push(Selected { instruction, completes });
        }
    }
}
