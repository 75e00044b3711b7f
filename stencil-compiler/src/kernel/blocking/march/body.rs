//! The code of a march: prologue, loop, and the arrival of each iteration's planes.

use std::collections::BTreeSet;

use super::around::{Branch, branches};
use super::boxes;
use super::copies::Copies;
use super::ends::Ends;
use super::layout::{DONE, Layout};
use super::reader::Planes;
use super::stage::{Places, Stage};
use super::{March, Refill};
use crate::algorithm::FnId;
use crate::kernel::iteration::{Computed, Frame, compute, frame};
use crate::kernel::lower::Draft;
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{Condition, Index, IntVar, Operand, Stmt};
use crate::schedule::Refusal;

/// The means that fill the rings: boxes, copies, or boxes and, in blocks that read around an end, copies.
struct Loader<'a> {
    boxes: Option<boxes::Loader<'a>>,
    copies: Option<Copies<'a>>,
}

impl Loader<'_> {
    fn prologue(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>) {
        if let Some(copies) = &self.copies {
            copies.prologue(draft, body);
        }
        if let Some(boxes) = &self.boxes {
            boxes.prologue(draft, body);
        }
    }

    fn refill(&self, draft: &mut Draft<'_>, body: &mut Vec<Stmt>, iteration: IntVar) {
        if let Some(copies) = &self.copies {
            copies.refill(draft, body, iteration);
        }
        if let Some(boxes) = &self.boxes {
            boxes.refill(draft, body, iteration);
        }
    }

    fn wait(&self, body: &mut Vec<Stmt>, iteration: IntVar) {
        if let Some(copies) = &self.copies {
            copies.wait(body, iteration);
        }
        if let Some(boxes) = &self.boxes {
            boxes.wait(body, iteration);
        }
    }
}

/// Writes the whole body of the kernel.
pub(super) fn emit(
    draft: &mut Draft<'_>,
    march: &March,
    pipeline: &Pipeline,
    (layout, stage): (&Layout, &Stage),
) -> Result<(), Refusal> {
    let mut body = Vec::new();
    let frame = frame(draft, &mut body, march.cover(), pipeline.axis);
    let own = own_places(draft, &mut body, march, layout);
    let place = (march, layout, frame);
    let places = Places::new(draft, &mut body, place, stage, &own);
    let mut iterations = Index::Var(frame.end)
        - Index::Var(frame.start)
        - Index::Const(i64::from(pipeline.last_lag() + layout.begin));
    let (mut boxes, mut ends) = (None, None);
    if march.boxes {
        let turns = draft.int("turns");
        body.push(Stmt::Int {
            var: turns,
            value: iterations,
        });
        iterations = Index::Var(turns);
        ends = Ends::new(draft, &mut body, march, layout, pipeline.axis);
        let within = (frame, pipeline, turns);
        let of_boxes = boxes::Loader::new(draft, &mut body, march, layout, within, ends);
        boxes = Some(of_boxes);
    }
    let copies = (!march.boxes || ends.is_some()).then(|| {
        let within = (frame, pipeline.axis);
        Copies::new(draft, &mut body, march, layout, within, ends)
    });
    let loader = Loader { boxes, copies };
    loader.prologue(draft, &mut body);
    let mut planes = Planes::new(march, layout, places, pipeline.axis);
    planes.declare_columns(draft);
    let iteration = draft.int("i");
    let mut inner = Vec::new();
    iterate(
        draft,
        &mut inner,
        pipeline,
        layout,
        (march, &loader),
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
        let x = Index::Thread(0) * i64::from(march.points);
        let value = group.place(x, Index::Thread(1));
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
    (march, loader): (&March, &Loader<'_>),
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
    if march.refill == Refill::Ahead {
        loader.refill(draft, body, iteration);
    }
    loader.wait(body, iteration);
    planes.addresses(draft, body, iteration, own, &ages(pipeline, layout));
    planes.enter_columns(draft, body)?;
    let rims = [planes.rims(draft, true)?, planes.rims(draft, false)?];
    let (columns, early) = (planes.columns().collect(), planes.early());
    let computed = compute(
        draft,
        pipeline,
        march.points,
        (planes, &columns, &early),
        (plane, frame),
    )?;
    let done = Stmt::Arrive {
        barrier: DONE,
        slot: Index::Var(iteration) % phases,
    };
    // The wait that comes with it is the one for the values that others shared.
    let between = |draft: &mut Draft<'_>| {
        let mut refill = Vec::new();
        if march.refill == Refill::Between {
            loader.refill(draft, &mut refill, iteration);
        }
        refill
    };
    let warmup = pipeline.first_iteration() - layout.begin;
    let warm = (warmup > 0).then(|| Index::Const(i64::from(warmup)));
    let is_warm = warm
        .clone()
        .map(|warm| Condition::at_least(iteration, warm));
    for branch in branches(march, pipeline, computed, (plane, frame, is_warm)) {
        let Branch { computed, when } = branch;
        let amid = (between(draft), done.clone());
        let work = work(march, planes, &early, (&rims, computed), amid);
        body.extend(when.run(draft, work));
    }
    if let Some(warm) = warm {
        body.push(Stmt::If {
            conditions: vec![Condition::below(iteration, warm)],
            body: between(draft).into_iter().chain([done]).collect(),
        });
    }
    if march.refill == Refill::Behind {
        loader.refill(draft, body, iteration);
    }
    planes.shift_columns(body);
    if planes.is_staged() && !march.split {
        body.push(Stmt::Sync);
    }
    Ok(())
}

/// The work of an iteration on its planes, in order.
fn work(
    march: &March,
    planes: &Planes<'_>,
    early: &BTreeSet<FnId>,
    ([ahead, rims], computed): (&[Vec<Stmt>; 2], Computed),
    (refill, done): (Vec<Stmt>, Stmt),
) -> Vec<Stmt> {
    let results: Vec<Stmt> = computed.results().collect();
    let staged = computed.staged.into_iter();
    let (first, last): (Vec<_>, Vec<_>) = staged.partition(|(of, _)| early.contains(of));
    let store = |staged: Vec<(FnId, Vec<Operand>)>| {
        let stores = staged.into_iter();
        stores.filter_map(|(of, values)| planes.store(of, values))
    };
    let mut work = ahead.clone();
    work.extend(computed.ahead);
    work.extend(store(first));
    work.extend(refill);
    work.extend(rims.clone());
    work.extend(computed.operations);
    // Nothing is read from a ring after the operations, so the copies over the oldest planes need not wait for stores.
    // But if a barrier is split, readers wait for this alone.
    if march.split {
        work.extend(store(last));
        work.push(done);
    } else {
        work.push(done);
        work.extend(store(last));
    }
    work.extend(results);
    work
}

/// The planes of each group that an iteration reads from the ring, by age.
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
