//! Read row values to steps on registers: which cells of each row are needed, and which rows share
//! a buffer because they are not alive together.

use std::collections::BTreeSet;

use super::tape::{Arg, Operand, ScalarId, Tape, Value, ValueId};
use super::{Output, RowProgram};
use crate::algorithm::{Algorithm, FnId, StateId};
use crate::expr::{Lit, Op};

/// Where a row is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Register(usize),
    Input { input: usize, y: i32, z: i32 },
    Own(usize),
}

/// A row, read `x` cells further along.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) place: Place,
    pub(super) x: i32,
}

/// A row or a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read {
    Row(Source),
    Scalar(ScalarId),
}

/// What a step computes.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Fill(ScalarId),
    Sum {
        before: Option<Source>,
        terms: Vec<(ScalarId, Source)>,
    },
    Op(Op, Vec<Read>),
}

/// One pass over a row: `work` into register `to`, from cell `start` to `end` beyond the last.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) to: usize,
    pub(super) start: i32,
    pub(super) end: i32,
    pub(super) work: Work,
}

/// The program of some functions of a checked algorithm.
pub(super) fn lower(
    alg: &Algorithm,
    roots: &[(FnId, Option<StateId>)],
    stored: &BTreeSet<FnId>,
) -> RowProgram {
    let (mut tape, mut results) = Tape::new(alg, roots, stored);
    for (output, result) in results.iter_mut().enumerate() {
        detach(&mut tape, output, result);
    }
    let extents = extents(&tape.values, &results);
    let (steps, results, registers) = assign(&tape.values, &results, &extents);
    let margin = steps
        .iter()
        .fold((0, 0), |m, step| (m.0.max(-step.start), m.1.max(step.end)));
    let mut halo = [0; 3];
    for (value, extent) in tape.values.iter().zip(&extents) {
        if let (Value::Input { y, z, .. }, Some((start, end))) = (value, extent) {
            for (largest, component) in halo.iter_mut().zip([(*end).max(-*start), y.abs(), z.abs()])
            {
                *largest = component.max(*largest);
            }
        }
    }
    let in_place = |output: usize| tape.values.contains(&Value::Own { output });
    let outputs = roots.iter().enumerate();
    let outputs = outputs.map(|(i, (function, state))| Output {
        function: *function,
        state: *state,
        in_place: in_place(i),
    });
    RowProgram {
        outputs: outputs.collect(),
        steps,
        results,
        uniforms: alg.uniforms.len(),
        registers,
        margin,
        halo,
        scalars: tape.scalars,
        inputs: tape.inputs,
    }
}

/// Copies a result that lies in another output's row, which that output may overwrite first.
fn detach(tape: &mut Tape<'_>, output: usize, result: &mut Arg) {
    if let Arg::Row(row) = *result
        && let Value::Own { output: other } = tape.values[row.value.0]
        && other != output
    {
        let one = tape.literal(Lit::new(1.0));
        *result = Arg::Row(tape.value(Value::Sum {
            before: None,
            terms: vec![(one, row)],
        }));
    }
}

/// The rows that a value is computed from.
fn operands(value: &Value) -> Vec<Operand> {
    match value {
        Value::Input { .. } | Value::Own { .. } | Value::Fill(_) => Vec::new(),
        Value::Sum { before, terms } => before
            .iter()
            .copied()
            .chain(terms.iter().map(|(_, row)| *row))
            .collect(),
        Value::Op(_, args) => args.iter().filter_map(row).collect(),
    }
}

fn row(arg: &Arg) -> Option<Operand> {
    match arg {
        Arg::Row(row) => Some(*row),
        Arg::Scalar(_) => None,
    }
}

/// The cells of each value that its consumers need: the first from the first cell of a chunk, the
/// last from its last; `None` where nothing does.
fn extents(values: &[Value], results: &[Arg]) -> Vec<Option<(i32, i32)>> {
    let mut extents: Vec<Option<(i32, i32)>> = vec![None; values.len()];
    let need = |extents: &mut Vec<Option<(i32, i32)>>, row: Operand, (start, end): (i32, i32)| {
        let extent = extents[row.value.0].get_or_insert((start + row.x, end + row.x));
        *extent = (extent.0.min(start + row.x), extent.1.max(end + row.x));
    };
    results
        .iter()
        .filter_map(row)
        .for_each(|row| need(&mut extents, row, (0, 0)));
    for id in (0..values.len()).rev() {
        if let Some(extent) = extents[id] {
            operands(&values[id])
                .into_iter()
                .for_each(|row| need(&mut extents, row, extent));
        }
    }
    extents
}

/// Steps of the values that are needed, where results lie, and the number of registers.
fn assign(
    values: &[Value],
    results: &[Arg],
    extents: &[Option<(i32, i32)>],
) -> (Vec<Step>, Vec<Read>, usize) {
    let mut last_use: Vec<usize> = vec![0; values.len()];
    for (id, value) in values
        .iter()
        .enumerate()
        .filter(|(id, _)| extents[*id].is_some())
    {
        operands(value)
            .into_iter()
            .for_each(|row| last_use[row.value.0] = id);
    }
    results
        .iter()
        .filter_map(row)
        .for_each(|row| last_use[row.value.0] = usize::MAX);

    let mut registers = Registers {
        of: vec![None; values.len()],
        free: BTreeSet::new(),
        count: 0,
    };
    let mut steps = Vec::new();
    for (id, value) in values.iter().enumerate() {
        let Some((start, end)) = extents[id] else {
            continue;
        };
        let source = |row: &Operand| registers.source(values, *row);
        let work = match value {
            Value::Input { .. } | Value::Own { .. } => continue,
            Value::Fill(scalar) => Work::Fill(*scalar),
            Value::Sum { before, terms } => Work::Sum {
                before: before.as_ref().map(source),
                terms: terms
                    .iter()
                    .map(|(factor, row)| (*factor, source(row)))
                    .collect(),
            },
            Value::Op(op, args) => Work::Op(
                *op,
                args.iter()
                    .map(|arg| registers.from(values, *arg))
                    .collect(),
            ),
        };
        // The target is taken before operands are given back: no step writes what it reads.
        let to = registers.take(ValueId(id));
        for row in operands(value) {
            if last_use[row.value.0] == id {
                registers.give_back(row.value);
            }
        }
        steps.push(Step {
            to,
            start,
            end,
            work,
        });
    }
    let results = results
        .iter()
        .map(|result| registers.from(values, *result))
        .collect();
    (steps, results, registers.count)
}

/// Which register each live value is in.
struct Registers {
    of: Vec<Option<usize>>,
    free: BTreeSet<usize>,
    count: usize,
}

impl Registers {
    fn take(&mut self, value: ValueId) -> usize {
        let register = self.free.pop_first().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.of[value.0] = Some(register);
        register
    }

    fn give_back(&mut self, value: ValueId) {
        self.free.extend(self.of[value.0].take());
    }

    fn source(&self, values: &[Value], row: Operand) -> Source {
        let place = match values[row.value.0] {
            Value::Input { input, y, z } => Place::Input { input, y, z },
            Value::Own { output } => Place::Own(output),
            // Values are in order, so an operand has its register.
            Value::Fill(_) | Value::Sum { .. } | Value::Op(..) => Place::Register(
                self.of[row.value.0].expect("an operand is computed before it is used"),
            ),
        };
        Source { place, x: row.x }
    }

    fn from(&self, values: &[Value], arg: Arg) -> Read {
        match arg {
            Arg::Row(row) => Read::Row(self.source(values, row)),
            Arg::Scalar(scalar) => Read::Scalar(scalar),
        }
    }
}
