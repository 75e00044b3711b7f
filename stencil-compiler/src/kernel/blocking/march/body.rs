//! The code of a march: prologue, loop, and how each iteration's planes come in.

use std::collections::BTreeSet;

use super::March;
use super::copies::{self, Copies, at_least};
use super::layout::{EMPTY, FULL, Layout};
use super::reader::Planes;
use crate::kernel::iteration::{self, compute, frame};
use crate::kernel::lower::Draft;
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{Index, IntVar, Stmt};

/// Writes the whole body of the kernel.
pub(super) fn emit(
    draft: &mut Draft<'_>,
    march: &March,
    pipeline: &Pipeline,
    layout: &Layout,
) -> Result<(), String> {
    let mut body = Vec::new();
    let frame = copies::Frame::from(frame(draft, &mut body, march.cover(), pipeline.axis));
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

impl From<iteration::Frame> for copies::Frame {
    fn from(frame: iteration::Frame) -> Self {
        copies::Frame {
            x: frame.x,
            y: frame.y,
            thread: frame.thread,
            start: frame.start,
            end: frame.end,
        }
    }
}

impl From<copies::Frame> for iteration::Frame {
    fn from(frame: copies::Frame) -> Self {
        iteration::Frame {
            x: frame.x,
            y: frame.y,
            thread: frame.thread,
            start: frame.start,
            end: frame.end,
        }
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
        let row =
            (Index::Thread(1) + Index::Const(i64::from(group.rim_y[0]))) * i64::from(group.width);
        let value = row
            + Index::Thread(0) * i64::from(march.points)
            + Index::Const(i64::from(group.rim_x[0]));
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
    (iteration, own, frame): (IntVar, &[IntVar], copies::Frame),
) -> Result<(), String> {
    let slots = i64::from(layout.slots);
    let plane = draft.int("p");
    body.push(Stmt::Int {
        var: plane,
        value: Index::Var(frame.start)
            + Index::Var(iteration)
            + Index::Const(i64::from(layout.begin)),
    });
    copies.refill(draft, body, iteration);
    let parity = Index::Var(iteration) / slots % 2;
    body.push(Stmt::Wait {
        barrier: FULL,
        slot: Index::Var(iteration) % slots,
        parity,
    });
    planes.addresses(draft, body, iteration, own, &ages(pipeline, layout));
    planes.enter_columns(draft, body)?;
    let warmup = pipeline.first_iteration() - layout.begin;
    let mut work = Vec::new();
    let columns = planes.columns().collect();
    compute(
        draft,
        &mut work,
        pipeline,
        copies.march().points,
        (planes, &columns),
        (plane, frame.into()),
    )?;
    if warmup > 0 {
        let conditions = vec![at_least(iteration, Index::Const(i64::from(warmup)))];
        body.push(Stmt::If {
            conditions,
            body: work,
        });
    } else {
        body.extend(work);
    }
    planes.shift_columns(body);
    let kept = i64::from(layout.kept);
    let release = Stmt::Arrive {
        barrier: EMPTY,
        slot: (Index::Var(iteration) - Index::Const(kept)) % slots,
    };
    body.push(if kept > 0 {
        Stmt::If {
            conditions: vec![at_least(iteration, Index::Const(kept))],
            body: vec![release],
        }
    } else {
        release
    });
    Ok(())
}

/// Which planes of each group an iteration reads from the ring, by age.
fn ages(pipeline: &Pipeline, layout: &Layout) -> Vec<(usize, u32)> {
    let mut ages = BTreeSet::new();
    for (of, at) in pipeline.reads.keys() {
        let plane = &layout.planes[of];
        let lead = layout.groups[plane.group].lead;
        ages.insert((plane.group, (lead - at[pipeline.axis]).unsigned_abs()));
        ages.insert((plane.group, 0));
    }
    ages.into_iter()
        .filter(|(_, age)| *age <= layout.kept)
        .collect()
}
