//! The place of each value: the result of the instruction before, a slot that all blocks share, or a row, if other
//! blocks or later steps read it.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Argument, Instruction, Place, Placed, Source, Step, Work};
use super::select::Selected;
use super::tape::{Operand, ScalarId, Value, ValueId};
use crate::expr::Op;

/// Steps whose rows have places.
pub(super) struct Code {
    pub(super) steps: Vec<Step<Placed>>,
    pub(super) slots: usize,
    pub(super) rows: usize,
}

/// Gives each value its place.
pub(super) fn place(values: &[Value], mut steps: Vec<Step<Selected>>) -> Code {
    steps.iter_mut().for_each(|step| step.code = forwarded(&step.code));
    let mut placer = Placer {
        values,
        reads: reads(values, &steps),
        places: BTreeMap::new(),
        slots: Pool::default(),
        rows: Pool::default(),
    };
    let steps = steps.iter().enumerate();
    let steps = steps.map(|(at, step)| placer.step(at, step)).collect();
    Code { steps, slots: placer.slots.count, rows: placer.rows.count }
}

/// Replaces reads of a value by the result of the instruction before if that is the value.
fn forwarded(code: &[Selected]) -> Vec<Selected> {
    let mut result = None;
    let mut forwarded = Vec::new();
    for selected in code {
        let argument = |row: Operand| {
            if row.x == 0 && Some(row.value) == result {
                Argument::Result
            } else {
                Argument::Row(row)
            }
        };
        let instruction = selected.instruction.map(argument, |scalar| scalar);
        result = selected.completes;
        if instruction != Instruction::new(Work::Copy, &[Argument::Result]) {
            forwarded.push(Selected { instruction, completes: selected.completes });
        }
    }
    forwarded
}

/// The steps that read a value that is not the last result.
struct Reads {
    /// The first step that reads it.
    first: usize,
    /// The last step and the last instruction in it.
    last: (usize, usize),
}

fn reads(values: &[Value], steps: &[Step<Selected>]) -> BTreeMap<ValueId, Reads> {
    let mut reads: BTreeMap<ValueId, Reads> = BTreeMap::new();
    for (s, step) in steps.iter().enumerate() {
        for (i, selected) in step.code.iter().enumerate() {
            let rows = selected.instruction.rows();
            for row in rows.filter(|row| is_computed(&values[row.value.0])) {
                let last = (s, i);
                let all = reads.entry(row.value).or_insert(Reads { first: s, last });
                all.last = last;
            }
        }
    }
    reads
}

fn is_computed(value: &Value) -> bool {
    match value {
        Value::Sum { .. } | Value::Op(..) => true,
        Value::Input { .. } | Value::Own { .. } | Value::Fill(_) => false,
    }
}

struct Placer<'a> {
    values: &'a [Value],
    reads: BTreeMap<ValueId, Reads>,
    places: BTreeMap<ValueId, Place>,
    slots: Pool,
    rows: Pool,
}

impl Placer<'_> {
    fn step(&mut self, s: usize, step: &Step<Selected>) -> Step<Placed> {
        let mut code: Vec<Placed> = Vec::new();
        for (i, selected) in step.code.iter().enumerate() {
            code.push(self.instruction(&selected.instruction));
            // A value that is read for the last time frees its place for the value that is kept.
            let read = selected.instruction.rows().map(|row| row.value);
            for value in read.collect::<BTreeSet<_>>() {
                if self.reads.get(&value).is_some_and(|r| r.last == (s, i))
                    && let Some(Place::Slot(slot)) = self.places.get(&value)
                {
                    self.slots.free.insert(*slot);
                }
            }
            if let Some(value) = selected.completes
                && let Some(place) = self.home(value, s)
            {
                let to = Source { place, x: 0 };
                match code.last_mut() {
                    Some(last) if last.can_keep() => {
                        last.args[Op::MOST_ARGUMENTS - 1] = Argument::Row(to);
                    }
                    _ => code.push(Instruction::keep(to)),
                }
            }
        }
        // Blocks of a row may be read by all blocks of the step.
        for (value, place) in &self.places {
            if let Place::Row(row) = place
                && self.reads[value].last.0 == s
            {
                self.rows.free.insert(*row);
            }
        }
        Step { start: step.start, end: step.end, code }
    }

    /// A place for a value that is read later, unless it has one.
    fn home(&mut self, value: ValueId, step: usize) -> Option<Place> {
        let reads = self.reads.get(&value)?;
        if self.places.contains_key(&value) || !is_computed(&self.values[value.0]) {
            return None;
        }
        let place = if (reads.first, reads.last.0) == (step, step) {
            Place::Slot(self.slots.take())
        } else {
            Place::Row(self.rows.take())
        };
        self.places.insert(value, place);
        Some(place)
    }

    fn instruction(&self, instruction: &Instruction<Operand, ScalarId>) -> Placed {
        let row = |row: Operand| {
            let place = match self.values[row.value.0] {
                Value::Input { input, y, z } => Place::Input { input, y, z },
                Value::Own { output } => Place::Own(output),
                // Values are in order, so each value that is read has its place.
                Value::Fill(_) | Value::Sum { .. } | Value::Op(..) => self.places[&row.value],
            };
            Argument::Row(Source { place, x: row.x })
        };
        instruction.map(row, |scalar| scalar)
    }
}

/// Places of one kind.
#[derive(Default)]
struct Pool {
    free: BTreeSet<usize>,
    count: usize,
}

impl Pool {
    fn take(&mut self) -> usize {
        self.free.pop_first().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }
}
