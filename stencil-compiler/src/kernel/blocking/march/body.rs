//! The code of a march: prologue, loop, and what each iteration computes.

use std::collections::{BTreeMap, BTreeSet};

use super::March;
use super::copies::{Copies, Frame, at_least, below};
use super::layout::{DONE, FULL, Layout};
use super::reader::Planes;
use crate::algorithm::{Def, FnId, SumTerm};
use crate::kernel::lower::{Draft, label};
use crate::kernel::order::order;
use crate::kernel::pipeline::{Delayed, Pipeline};
use crate::kernel::values::{Value, ValueId, Values, Writer};
use crate::kernel::{CellVar, Index, IntVar, Operand, Reg, Stmt};
use crate::schedule::{Placement, Refusal};

/// Writes the whole body of the kernel.
pub(super) fn emit(
    draft: &mut Draft<'_>,
    march: &March,
    pipeline: &Pipeline,
    layout: &Layout,
) -> Result<(), Refusal> {
    let mut body = Vec::new();
    let frame = frame(draft, &mut body, march, pipeline.axis);
    let own = own_places(draft, &mut body, march, layout);
    let copies = Copies::new(draft, &mut body, march, layout, frame, pipeline.axis);
    for slot in 0..layout.ahead {
        copies.issue(draft, &mut body, Index::Const(i64::from(slot)));
    }
    let mut planes = Planes::new(march, layout, pipeline.axis);
    planes.declare_columns(draft);
    let iteration = draft.int("i");
    let iterations = Index::Var(frame.end)
        - Index::Var(frame.start)
        - Index::Const(i64::from(pipeline.last_lag() + layout.begin));
    let mut inner = Vec::new();
    iterate(
        draft,
        &mut inner,
        pipeline,
        layout,
        &copies,
        &mut planes,
        (iteration, &own, frame),
    )?;
    body.push(Stmt::For {
        var: iteration,
        from: Index::Const(0),
        to: iterations,
        unroll: false,
        body: inner,
    });
    draft.kernel.body = body;
    Ok(())
}

/// The thread's cells and the block's chunk.
fn frame(draft: &mut Draft<'_>, body: &mut Vec<Stmt>, march: &March, axis: usize) -> Frame {
    let extend = draft
        .context
        .launch
        .extend
        .map(|e| Index::Const(i64::from(e)));
    let mut int = |name: &str, value: Index| {
        let var = draft.int(name);
        body.push(Stmt::Int { var, value });
        var
    };
    let tile = march.tile.map(i64::from);
    let x = int(
        "x",
        Index::Block(0) * tile[0] + Index::Thread(0) * i64::from(march.points) - extend[0].clone(),
    );
    let y_value = if axis == 2 {
        Index::Block(1) * tile[1] + Index::Thread(1) - extend[1].clone()
    } else {
        Index::Const(0)
    };
    let y = int("y", y_value);
    let thread = int(
        "thread",
        Index::Thread(1) * i64::from(march.threads()[0]) + Index::Thread(0),
    );
    let chunk = i64::from(march.chunk);
    let start = int("start", Index::Block(axis) * chunk - extend[axis].clone());
    let last = Index::Size(axis) + extend[axis].clone();
    let end = int(
        "end",
        Index::Min(
            Box::new(Index::Var(start) + Index::Const(chunk)),
            Box::new(last),
        ),
    );
    Frame {
        x,
        y,
        thread,
        start,
        end,
    }
}

/// The thread's first cell in a plane of each group.
fn own_places(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    march: &March,
    layout: &Layout,
) -> Vec<IntVar> {
    let mut own = Vec::new();
    for group in &layout.groups {
        let var = draft.int("own");
        let shape = &group.shape;
        let row =
            (Index::Thread(1) + Index::Const(i64::from(shape.rim_y[0]))) * i64::from(shape.width);
        let value = row
            + Index::Thread(0) * i64::from(march.points)
            + Index::Const(i64::from(group.start + shape.rim_x[0]));
        body.push(Stmt::Int { var, value });
        own.push(var);
    }
    own
}

fn iterate(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    pipeline: &Pipeline,
    layout: &Layout,
    copies: &Copies<'_>,
    planes: &mut Planes<'_>,
    (iteration, own, frame): (IntVar, &[IntVar], Frame),
) -> Result<(), Refusal> {
    let phases = i64::from(layout.phases());
    let plane = draft.int("p");
    body.push(Stmt::Int {
        var: plane,
        value: Index::Var(frame.start)
            + Index::Var(iteration)
            + Index::Const(i64::from(layout.begin)),
    });
    copies.refill(draft, body, iteration);
    let parity = Index::Var(iteration) / phases % 2;
    body.push(Stmt::Wait {
        barrier: FULL,
        slot: Index::Var(iteration) % phases,
        parity,
    });
    planes.addresses(draft, body, iteration, own, &ages(pipeline, layout));
    planes.enter_columns(draft, body)?;
    let (operations, results) = compute(draft, pipeline, copies.march(), planes, (plane, frame))?;
    // Nothing is read from a ring after the operations: what takes the place of the oldest planes
    // need not wait for stores.
    let done = Stmt::Arrive {
        barrier: DONE,
        slot: Index::Var(iteration) % phases,
    };
    let work = operations.into_iter().chain([done.clone()]).chain(results);
    let warmup = i64::from(pipeline.first_iteration() - layout.begin);
    if warmup > 0 {
        body.push(Stmt::If {
            conditions: vec![at_least(iteration, Index::Const(warmup))],
            body: work.collect(),
        });
        body.push(Stmt::If {
            conditions: vec![below(iteration, Index::Const(warmup))],
            body: vec![done],
        });
    } else {
        body.extend(work);
    }
    planes.shift_columns(body);
    Ok(())
}

/// Which planes of each group an iteration reads from the ring, by age.
fn ages(pipeline: &Pipeline, layout: &Layout) -> Vec<(usize, u32)> {
    let mut ages = BTreeSet::new();
    for (of, at) in pipeline.reads.keys() {
        let plane = &layout.planes[of];
        let lead = layout.groups[plane.group].shape.lead;
        ages.insert((plane.group, (lead - at[pipeline.axis]).unsigned_abs()));
        ages.insert((plane.group, 0));
    }
    ages.into_iter()
        .filter(|(group, age)| *age <= layout.groups[*group].kept)
        .collect()
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

/// What an iteration computes, and then stores and hands on.
fn compute(
    draft: &mut Draft<'_>,
    pipeline: &Pipeline,
    march: &March,
    planes: &mut Planes<'_>,
    (plane, frame): (IntVar, Frame),
) -> Result<(Vec<Stmt>, Vec<Stmt>), Refusal> {
    let context = draft.context;
    let mut values = Values::new(&context, pipeline.delayed.keys().copied().collect())?;
    let mut writer = Writer::default();
    let mut work = Vec::new();
    let mut sets: Vec<(Reg, ValueId)> = Vec::new();
    for (id, delayed) in &pipeline.delayed {
        let mut pending = Vec::new();
        for point in 0..march.points as i32 {
            let ride = (*id, delayed, point);
            let outer = (draft.computes(Some(*id)), values.computes(Some(*id)));
            pending.push(advance(draft, pipeline.axis, ride, &mut values, &mut sets)?);
            draft.computes(outer.0);
            values.computes(outer.1);
        }
        for value in interleaved(&pending) {
            writer.write(draft, &values, planes, &mut work, value)?;
        }
    }
    let ends = (&mut values, &mut writer);
    let stores = outputs(draft, &mut work, pipeline, march, planes, ends)?;
    let mut assignments = Vec::new();
    for (reg, value) in sets {
        let value = writer.write(draft, &values, planes, &mut work, value)?;
        assignments.push(Stmt::Set { reg, value });
    }
    let kept = kept(planes, &stores, &assignments);
    let mut results = Vec::new();
    store(draft, &mut results, pipeline, stores, (plane, frame));
    results.extend(assignments);
    Ok((order(work, &kept), results))
}

/// Registers that are read after the iteration's operations.
fn kept(planes: &Planes<'_>, stores: &Stores, assignments: &[Stmt]) -> BTreeSet<Reg> {
    let stored = stores
        .values()
        .flat_map(BTreeMap::values)
        .flatten()
        .map(|(_, value)| *value);
    let assigned = assignments.iter().filter_map(|stmt| match stmt {
        Stmt::Set { value, .. } => Some(*value),
        _ => None,
    });
    let regs = stored.chain(assigned).filter_map(|value| match value {
        Operand::Reg(reg) => Some(reg),
        Operand::Uniform(_) | Operand::Lit(_) => None,
    });
    regs.chain(planes.columns()).collect()
}

/// The values of a delayed function at one point in this iteration: its partial sums, or itself.
/// Tells `values` what is complete and what older planes hold, and `sets` what moves on.
fn advance(
    draft: &mut Draft<'_>,
    axis: usize,
    (id, delayed, point): (FnId, &Delayed, i32),
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
        (Def::Sum(terms), Placement::Carried) => carry(
            values,
            axis,
            delayed,
            terms,
            (&function.name, source),
            &queue,
        )?,
        _ => vec![values.define(id, source)?],
    };
    for (reg, value) in queue.sums.iter().zip(&sums).rev() {
        sets.push((*reg, *value));
    }
    let complete = sums[sums.len() - 1];
    values.set(id, place(delayed.lag), complete);
    let past = queue
        .window
        .iter()
        .map(|reg| values.number(Value::Register(*reg), "past"));
    let past: Vec<ValueId> = past.collect();
    for (age, value) in past.iter().enumerate() {
        values.set(id, place(delayed.lag - 1 - age as i32), *value);
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
    (name, source): (&str, [i32; 3]),
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
    march: &March,
    planes: &mut Planes<'_>,
    (values, writer): (&mut Values<'_>, &mut Writer),
) -> Result<Stores, Refusal> {
    let mut stores = Stores::new();
    for (buffer, id, lag) in &pipeline.outputs {
        for point in 0..march.points as i32 {
            let mut at = [point, 0, 0];
            at[pipeline.axis] = *lag;
            let value = output_value(values, pipeline, *id, at)?;
            let value = writer.write(draft, values, planes, body, value)?;
            let points = stores.entry(*lag).or_default();
            points
                .entry(point)
                .or_default()
                .push((buffer.clone(), value));
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
    if pipeline.delayed.contains_key(&id) {
        values.value(id, at)
    } else {
        values.define(id, at)
    }
}

/// Stores of one iteration, where their planes and cells belong to the block.
fn store(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    pipeline: &Pipeline,
    stores: Stores,
    (plane, frame): (IntVar, Frame),
) {
    let axis = pipeline.axis;
    let extend = draft.context.launch.extend.map(i64::from);
    for (lag, points) in stores {
        let target = draft.int("q");
        body.push(Stmt::Int {
            var: target,
            value: Index::Var(plane) + Index::Const(i64::from(lag)),
        });
        let mut conditions = vec![
            at_least(target, Index::Var(frame.start)),
            below(target, Index::Var(frame.end)),
        ];
        let mut at = [Index::Var(frame.x), Index::Const(0), Index::Const(0)];
        if axis == 2 {
            at[1] = Index::Var(frame.y);
            conditions.push(below(frame.y, Index::Size(1) + Index::Const(extend[1])));
        }
        at[axis] = Index::Var(target);
        let cell = draft.cell("cell");
        let mut inner = vec![Stmt::Cell { cell, at }];
        inner.extend(store_points(draft, (frame.x, cell), &points, extend[0]));
        body.push(Stmt::If {
            conditions,
            body: inner,
        });
    }
}

/// Stores of a thread's cells from x on: several at once where all of them exist, one by one at the
/// end of a row.
fn store_points(
    draft: &Draft<'_>,
    (x, cell): (IntVar, CellVar),
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
        conditions: vec![below(x, end(number - 1))],
        body: store(0, number),
    }];
    all.extend((0..number - 1).map(|point| Stmt::If {
        conditions: vec![at_least(x, end(number - 1)), below(x, end(point))],
        body: store(point, 1),
    }));
    all
}
