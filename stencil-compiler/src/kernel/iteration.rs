//! The work of an iteration along the slowest axis, independent of the way in which its planes arrive: the values of
//! the pipeline, the registers that ride along from one iteration to the next, the cells of a thread.

use std::collections::{BTreeMap, BTreeSet};

use super::lower::{Context, Draft, label};
use super::moves::at_once;
use super::order::{order, part, read_by};
use super::pipeline::{Delayed, Pipeline};
use super::values::{Reader, Value, ValueId, Values, Writer};
use super::{CellVar, Condition, Index, IntVar, Operand, Reg, Stmt};
use crate::algorithm::{Def, FnId, SumTerm};
use crate::schedule::text::placement_words;
use crate::schedule::{Placement, Refusal};

/// The cells that a block covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cover {
    /// Cells of the tile along x and y; in two dimensions it has one row.
    pub(super) tile: [u32; 2],
    /// Cells of a thread along x.
    pub(super) points: u32,
    /// Planes of a chunk.
    pub(super) chunk: u32,
}

/// Integer variables that all parts of a kernel use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// The thread's first cell along x.
    pub(super) x: IntVar,
    /// The thread's cell along y.
    pub(super) y: IntVar,
    /// Number of the thread in its block.
    pub(super) thread: IntVar,
    /// First output plane of the chunk.
    pub(super) start: IntVar,
    /// End of the output planes of the chunk.
    pub(super) end: IntVar,
}

impl Cover {
    /// Threads of a block along x and y.
    pub(super) fn threads(&self) -> [u32; 2] {
        [self.tile[0] / self.points, self.tile[1]]
    }
}

/// Lags and windows of the values that ride along, in words.
pub(super) fn describe(context: &Context<'_>, pipeline: &Pipeline) -> Vec<String> {
    let mut notes = Vec::new();
    for (id, d) in &pipeline.delayed {
        let name = &context.algorithm.function(*id).name;
        let word = placement_words(d.placement);
        notes.push(format!("{name}: {word}, evaluated on plane p{:+}, complete on plane p{:+}, {} registers a point", d.source, d.lag, d.registers()));
    }
    notes
}

/// The thread's cells and the block's chunk.
pub(super) fn frame(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    cover: Cover,
    axis: usize,
) -> Frame {
    let extend = draft.context.launch.extend.map(|e| Index::Const(i64::from(e)));
    let mut int = |name: &str, value: Index| {
        let var = draft.int(name);
        body.push(Stmt::Int { var, value });
        var
    };
    let tile = cover.tile.map(i64::from);
    let x = int(
        "x",
        Index::Block(0) * tile[0] + Index::Thread(0) * i64::from(cover.points) - extend[0].clone(),
    );
    let y_value = if axis == 2 {
        Index::Block(1) * tile[1] + Index::Thread(1) - extend[1].clone()
    } else {
        Index::Const(0)
    };
    let y = int("y", y_value);
    let thread = int("thread", Index::Thread(1) * i64::from(cover.threads()[0]) + Index::Thread(0));
    let chunk = i64::from(cover.chunk);
    let start = int("start", Index::Block(axis) * chunk - extend[axis].clone());
    let last = Index::Size(axis) + extend[axis].clone();
    let end =
        int("end", Index::Min(Box::new(Index::Var(start) + Index::Const(chunk)), Box::new(last)));
    Frame { x, y, thread, start, end }
}

/// Registers of one delayed function at one point.
struct Queue {
    /// Accumulators of incomplete outputs, by term offset low..high.
    sums: Vec<Reg>,
    /// Older complete values, newest first.
    window: Vec<Reg>,
}

fn declare_queue(draft: &mut Draft<'_>, name: &str, delayed: &Delayed) -> Queue {
    let sums = (delayed.low..delayed.high)
        .map(|o| draft.queue(&label(&format!("{name}_sum"), [0, 0, o])))
        .collect();
    let window = (1..=delayed.window)
        .map(|age| draft.queue(&label(&format!("{name}_past"), [0, 0, age])))
        .collect();
    Queue { sums, window }
}

/// The work of an iteration.
pub(super) struct Computed {
    /// Loads and operations that the values of `early` functions are made of, in order.
    pub(super) ahead: Vec<Stmt>,
    /// All other statements, in order.
    pub(super) operations: Vec<Stmt>,
    /// Values of shared functions for the thread's cells.
    pub(super) staged: Vec<(FnId, Vec<Operand>)>,
    /// The stores after the operations, by the lag of their plane.
    pub(super) stores: Vec<(i32, Vec<Stmt>)>,
    /// The assignments of queues after that, all at once.
    pub(super) sets: Vec<Stmt>,
}

impl Computed {
    /// The stores and assignments after the operations.
    pub(super) fn results(&self) -> impl Iterator<Item = Stmt> {
        let stores = self.stores.iter().flat_map(|(_, stores)| stores);
        stores.chain(&self.sets).cloned()
    }
}

/// The operations, stores and assignments of an iteration on a plane; `columns` are the registers of `reader` that stay
/// for the next one, `early` the shared functions whose values come ahead.
pub(super) fn compute(
    draft: &mut Draft<'_>,
    pipeline: &Pipeline,
    points: u32,
    (reader, columns, early): (&mut dyn Reader, &BTreeSet<Reg>, &BTreeSet<FnId>),
    (plane, frame): (IntVar, Frame),
) -> Result<Computed, Refusal> {
    let context = draft.context;
    let is_staged = |id: &&FnId| pipeline.staged.contains_key(id);
    let riding = pipeline.delayed.keys().filter(|id| !is_staged(id));
    let mut values = Values::new(&context, riding.copied().collect())?;
    values.staged(pipeline.staged.keys().copied());
    let mut writer = Writer::default();
    let mut work = Vec::new();
    let mut sets: Vec<(Reg, ValueId)> = Vec::new();
    let mut staged = Vec::new();
    for (id, delayed) in &pipeline.delayed {
        let mut pending = Vec::new();
        for point in 0..points as i32 {
            let outer = (draft.computes(Some(*id)), values.computes(Some(*id)));
            let axis = pipeline.axis;
            let parts = advance(draft, axis, *id, delayed, point, &mut values, &mut sets)?;
            pending.push(parts);
            draft.computes(outer.0);
            values.computes(outer.1);
        }
        for value in interleaved(&pending) {
            writer.write(draft, &values, reader, &mut work, value)?;
        }
        if is_staged(&id) {
            let mut of_points = Vec::new();
            for value in pending.into_iter().flatten() {
                of_points.push(writer.write(draft, &values, reader, &mut work, value)?);
            }
            staged.push((*id, of_points));
        }
    }
    let stores = outputs(draft, &mut work, pipeline, points, reader, &mut values, &mut writer)?;
    let mut assignments = Vec::new();
    for (reg, value) in sets {
        let value = writer.write(draft, &values, reader, &mut work, value)?;
        assignments.push((reg, value));
    }
    let assignments = at_once(assignments)?;
    let kept = kept(columns, &stores, &assignments, &staged);
    let stores = store(draft, pipeline, stores, plane, frame);
    let is_early = |(id, _): &&(FnId, Vec<Operand>)| early.contains(id);
    let values = staged.iter().filter(is_early).flat_map(|(_, of)| of);
    let [ahead, work] = part(work, registers(values).collect());
    let before = &kept | &read_by(&work);
    Ok(Computed {
        ahead: order(ahead, &before),
        operations: order(work, &kept),
        staged,
        stores,
        sets: assignments,
    })
}

/// Registers that are read after the iteration's operations.
fn kept(
    columns: &BTreeSet<Reg>,
    stores: &Stores,
    assignments: &[Stmt],
    staged: &[(FnId, Vec<Operand>)],
) -> BTreeSet<Reg> {
    let staged = staged.iter().flat_map(|(_, values)| values);
    let stored = stores.values().flat_map(BTreeMap::values).flatten().map(|(_, value)| value);
    let assigned = assignments.iter().filter_map(|stmt| match stmt {
        Stmt::Set { value, .. } => Some(value),
        _ => None,
    });
    let regs = registers(stored.chain(assigned).chain(staged));
    regs.chain(columns.iter().copied()).collect()
}

/// Operands that are registers.
pub(super) fn registers<'a>(
    values: impl Iterator<Item = &'a Operand>,
) -> impl Iterator<Item = Reg> {
    values.filter_map(|value| match value {
        Operand::Reg(reg) => Some(*reg),
        Operand::Uniform(_) | Operand::Lit(_) => None,
    })
}

/// The values of a delayed function at one point in this iteration: its partial sums, or itself. Gives `values` the
/// complete ones and those of older planes, and `sets` the ones that move on.
fn advance(
    draft: &mut Draft<'_>,
    axis: usize,
    id: FnId,
    delayed: &Delayed,
    point: i32,
    values: &mut Values<'_>,
    sets: &mut Vec<(Reg, ValueId)>,
) -> Result<Vec<ValueId>, Refusal> {
    let function = draft.context.algorithm.function(id);
    let queue = declare_queue(draft, &function.name, delayed);
    let place = |lag: i32| {
        let mut at = [point, 0, 0];
        at[axis] = lag;
        at
    };
    let source = place(delayed.source);
    let sums = match (&function.def, delayed.placement) {
        (Def::Sum(terms), Placement::Carried(_)) => {
            carry(values, axis, delayed, terms, &function.name, source, &queue)?
        }
        _ => vec![values.define(id, source)?],
    };
    for (reg, value) in queue.sums.iter().zip(&sums).rev() {
        sets.push((*reg, *value));
    }
    let complete = sums[sums.len() - 1];
    // A shared function is read from the iteration after, in its own column too.
    let newest = match delayed.placement {
        Placement::Shared => delayed.source,
        _ => {
            values.set(id, place(delayed.lag), complete);
            delayed.lag
        }
    };
    let past = queue.window.iter().map(|reg| values.number(Value::Register(*reg), "past"));
    let past: Vec<ValueId> = past.collect();
    for (age, value) in past.iter().enumerate() {
        values.set(id, place(newest - 1 - age as i32), *value);
    }
    for age in (0..queue.window.len()).rev() {
        let newer = if age == 0 { complete } else { past[age - 1] };
        sets.push((queue.window[age], newer));
    }
    Ok(sums)
}

/// Order of evaluation: partial sums of opposite offsets one after the other, since they add the
/// same values; the plane's own terms last.
fn interleaved(points: &[Vec<ValueId>]) -> Vec<ValueId> {
    let mut order = Vec::new();
    let len = points.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..len.div_ceil(2) {
        for sums in points {
            order.extend(sums.get(at));
            order.extend(sums.get(len - 1 - at));
        }
    }
    order
}

/// The partial sums of a carried sum after this plane, by term offset; the last is complete.
fn carry(
    values: &mut Values<'_>,
    axis: usize,
    delayed: &Delayed,
    terms: &[SumTerm],
    name: &str,
    source: [i32; 3],
    queue: &Queue,
) -> Result<Vec<ValueId>, Refusal> {
    let mut sums = Vec::new();
    for offset in delayed.low..=delayed.high {
        let mut sum = match offset - delayed.low {
            0 => None,
            n => Some(values.number(Value::Register(queue.sums[n as usize - 1]), "sum")),
        };
        for term in terms.iter().filter(|t| t.value.at[axis] == offset) {
            let mut at = [
                source[0] + term.value.at[0],
                source[1] + term.value.at[1],
                source[2] + term.value.at[2],
            ];
            at[axis] = source[axis];
            let value = values.value(term.value.of, at)?;
            sum = Some(values.term(term, value, sum, &format!("{name}_sum")));
        }
        sums.push(sum.ok_or_else(|| format!("`{name}` has no term to begin with"))?);
    }
    Ok(sums)
}

/// Values to be stored: by lag, then point, the buffer's name and the value.
type Stores = BTreeMap<i32, BTreeMap<i32, Vec<(String, Operand)>>>;

fn outputs(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    pipeline: &Pipeline,
    points: u32,
    reader: &mut dyn Reader,
    values: &mut Values<'_>,
    writer: &mut Writer,
) -> Result<Stores, Refusal> {
    let mut stores = Stores::new();
    for (buffer, id, lag) in &pipeline.outputs {
        for point in 0..points as i32 {
            let mut at = [point, 0, 0];
            at[pipeline.axis] = *lag;
            let value = output_value(values, pipeline, *id, at)?;
            let value = writer.write(draft, values, reader, body, value)?;
            let points = stores.entry(*lag).or_default();
            points.entry(point).or_default().push((buffer.clone(), value));
        }
    }
    Ok(stores)
}

fn output_value(
    values: &mut Values<'_>,
    pipeline: &Pipeline,
    id: FnId,
    at: [i32; 3],
) -> Result<ValueId, Refusal> {
    if pipeline.delayed.contains_key(&id) { values.value(id, at) } else { values.define(id, at) }
}

/// Stores of one iteration, where their planes and cells belong to the block.
fn store(
    draft: &mut Draft<'_>,
    pipeline: &Pipeline,
    stores: Stores,
    plane: IntVar,
    frame: Frame,
) -> Vec<(i32, Vec<Stmt>)> {
    let axis = pipeline.axis;
    let extend = draft.context.launch.extend.map(i64::from);
    let mut all = Vec::new();
    for (lag, points) in stores {
        let target = draft.int("q");
        let plane =
            Stmt::Int { var: target, value: Index::Var(plane) + Index::Const(i64::from(lag)) };
        let mut conditions = vec![
            Condition::at_least(target, Index::Var(frame.start)),
            Condition::below(target, Index::Var(frame.end)),
        ];
        let mut at = [Index::Var(frame.x), Index::Const(0), Index::Const(0)];
        if axis == 2 {
            at[1] = Index::Var(frame.y);
            conditions.push(Condition::below(frame.y, Index::Size(1) + Index::Const(extend[1])));
        }
        at[axis] = Index::Var(target);
        let cell = draft.cell("cell");
        let mut inner = vec![Stmt::Cell { cell, at }];
        inner.extend(store_points(draft, frame.x, cell, &points, extend[0]));
        let stores = Stmt::If { conditions, body: inner };
        all.push((lag, vec![plane, stores]));
    }
    all
}

/// Stores of a thread's cells from x on: several at once where all of them exist, one by one at the
/// end of a row.
fn store_points(
    draft: &Draft<'_>,
    x: IntVar,
    cell: CellVar,
    points: &BTreeMap<i32, Vec<(String, Operand)>>,
    extend: i64,
) -> Vec<Stmt> {
    let end = |of: i32| Index::Size(0) + Index::Const(extend - i64::from(of));
    let store = |first: i32, count: i32| -> Vec<Stmt> {
        let outputs = points.get(&first).into_iter().flatten().enumerate();
        let stores = outputs.filter_map(|(at, (buffer, _))| {
            let values = (first..first + count).filter_map(|p| points.get(&p)?.get(at));
            Some(Stmt::Store {
                buffer: draft.find_buffer(buffer)?,
                cell,
                offset: [first, 0, 0],
                values: values.map(|(_, value)| *value).collect(),
            })
        });
        stores.collect()
    };
    let number = points.len() as i32;
    let mut all = vec![Stmt::If {
        conditions: vec![Condition::below(x, end(number - 1))],
        body: store(0, number),
    }];
    all.extend((0..number - 1).map(|point| Stmt::If {
        conditions: vec![Condition::at_least(x, end(number - 1)), Condition::below(x, end(point))],
        body: store(point, 1),
    }));
    all
}
