//! Lowering of row values to steps: the needed cells of each row, and the instructions that compute them.

use std::collections::BTreeSet;

use super::code::{Placed, Step};
use super::place::place;
use super::select::select;
use super::tape::{Arg, Operand, Tape, Value};
use super::{Output, Read, RowProgram};
use crate::algorithm::{Algorithm, FnId, StateId};
use crate::expr::Lit;

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
    let placed = place(&tape.values, select(&tape.values, &extents, &results));
    let in_place = |output: usize| tape.values.contains(&Value::Own { output });
    let outputs = roots.iter().enumerate();
    let outputs = outputs.map(|(i, (function, state))| Output {
        function: *function,
        state: *state,
        in_place: in_place(i),
    });
    RowProgram {
        outputs: outputs.collect(),
        margin: margin(&placed.steps),
        reads: reads(&tape.values, &extents),
        steps: placed.steps,
        slots: placed.slots,
        rows: placed.rows,
        uniforms: alg.uniforms.len(),
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
        *result = Arg::Row(tape.value(Value::Sum { before: None, terms: vec![(one, row)] }));
    }
}

/// The rows that a value is computed from.
pub(super) fn operands(value: &Value) -> Vec<Operand> {
    match value {
        Value::Input { .. } | Value::Own { .. } | Value::Fill(_) => Vec::new(),
        Value::Sum { before, terms } => {
            before.iter().copied().chain(terms.iter().map(|(_, row)| *row)).collect()
        }
        Value::Op(_, args) => args.iter().filter_map(row).collect(),
    }
}

fn row(arg: &Arg) -> Option<Operand> {
    match arg {
        Arg::Row(row) => Some(*row),
        Arg::Scalar(_) => None,
    }
}

/// The first cell counted from the first of a chunk, and the last from its last.
pub(super) type Extent = (i32, i32);

/// The cells of each value that its consumers need; `None` for one without consumers.
fn extents(values: &[Value], results: &[Arg]) -> Vec<Option<Extent>> {
    let mut extents: Vec<Option<Extent>> = vec![None; values.len()];
    let need = |extents: &mut Vec<Option<Extent>>, row: Operand, (start, end): Extent| {
        let extent = extents[row.value.0].get_or_insert((start + row.x, end + row.x));
        *extent = (extent.0.min(start + row.x), extent.1.max(end + row.x));
    };
    results.iter().filter_map(row).for_each(|row| need(&mut extents, row, (0, 0)));
    for id in (0..values.len()).rev() {
        if let Some(extent) = extents[id] {
            operands(&values[id]).into_iter().for_each(|row| need(&mut extents, row, extent));
        }
    }
    extents
}

/// Cells before the first and after the last of a chunk that steps compute.
fn margin(steps: &[Step<Placed>]) -> (i32, i32) {
    let widest = |m: (i32, i32), step: &Step<_>| (m.0.max(-step.start), m.1.max(step.end));
    steps.iter().fold((0, 0), widest)
}

/// The rows of inputs that are read, and how far.
fn reads(values: &[Value], extents: &[Option<Extent>]) -> Vec<Read> {
    let read = |(value, extent): (&Value, &Option<Extent>)| match (value, extent) {
        (Value::Input { input, y, z }, Some((start, end))) => Some(Read {
            input: *input,
            dy: *y,
            dz: *z,
            x_lo: (-*start).max(0) as usize,
            x_hi: (*end).max(0) as usize,
        }),
        _ => None,
    };
    values.iter().zip(extents).filter_map(read).collect()
}
