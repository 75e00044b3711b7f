//! The code of a march: prologue, loop, and the arrival of each iteration's planes.

use std::collections::BTreeSet;

use super::March;
use super::loader::Loader;
use super::prefetch_point::PrefetchPoint;
use super::prologue::{Branch, branches};
use super::reads::Planes;
use super::rings::{DONE, Rings};
use super::stage::{Places, Stage};
use crate::algorithm::FnId;
use crate::kernel::iteration::{Computed, Frame, compute, frame};
use crate::kernel::lower::Draft;
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{Condition, Index, IntVar, Operand, Stmt};
use crate::schedule::Refusal;

/// Writes the whole body of the kernel.
pub(super) fn emit(
    draft: &mut Draft<'_>,
    (march, prefetch_point): (&March, PrefetchPoint),
    pipeline: &Pipeline,
    (rings, stage): (&Rings, &Stage),
) -> Result<(), Refusal> {
    let mut body = Vec::new();
    let frame = frame(draft, &mut body, march.cover(), pipeline.axis);
    let own = own_places(draft, &mut body, march, rings);
    let place = (march, rings, frame);
    let places = Places::new(draft, &mut body, place, stage, &own);
    let with = (march, prefetch_point);
    let loader = Loader::new(draft, &mut body, with, rings, (frame, pipeline));
    loader.fill_first(draft, &mut body);
    let mut planes = Planes::new(march, rings, places, pipeline.axis);
    planes.declare_columns(draft);
    let iteration = Iteration {
        march,
        pipeline,
        rings,
        loader: &loader,
        own: &own,
        frame,
        number: draft.int("i"),
    };
    let inner = iteration.emit(draft, &mut planes)?;
    body.push(Stmt::For {
        var: iteration.number,
        from: Index::Const(0),
        to: loader.turns.clone(),
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
    rings: &Rings,
) -> Vec<IntVar> {
    let groups = rings.groups.iter();
    let own = groups.map(|group| {
        let x = Index::Thread(0) * i64::from(march.points);
        draft.define(body, "own", group.place(x, Index::Thread(1)))
    });
    own.collect()
}

/// An iteration of the loop.
struct Iteration<'a> {
    march: &'a March,
    pipeline: &'a Pipeline,
    rings: &'a Rings,
    loader: &'a Loader<'a>,
    /// The thread's first cell in a plane of each group.
    own: &'a [IntVar],
    frame: Frame,
    number: IntVar,
}

impl Iteration<'_> {
    fn emit(&self, draft: &mut Draft<'_>, planes: &mut Planes<'_>) -> Result<Vec<Stmt>, Refusal> {
        let (pipeline, number) = (self.pipeline, self.number);
        let mut body = Vec::new();
        let start = Index::Var(self.frame.start);
        let begin = Index::Const(i64::from(self.rings.begin));
        let plane = draft.define(&mut body, "p", start + Index::Var(number) + begin);
        // Load.
        let prefetch =
            |here: PrefetchPoint, draft: &mut Draft<'_>| self.loader.prefetch(here, draft, number);
        body.extend(prefetch(PrefetchPoint::Before, draft));
        // Wait.
        self.loader.wait(&mut body, number);
        // Compute and store.
        planes.addresses(draft, &mut body, number, self.own, &self.ages());
        planes.enter_columns(draft, &mut body)?;
        let rims = [planes.rims(draft, true)?, planes.rims(draft, false)?];
        let (columns, early) = (planes.columns().collect(), planes.early());
        let computed = compute(
            draft,
            pipeline,
            self.march.points,
            (planes, &columns, &early),
            (plane, self.frame),
        )?;
        let warmup = pipeline.first_iteration() - self.rings.begin;
        let warm = (warmup > 0).then(|| Index::Const(i64::from(warmup)));
        let is_warm = warm.clone().map(|warm| Condition::at_least(number, warm));
        for branch in branches(draft, pipeline, computed, (plane, self.frame, is_warm))? {
            let Branch { computed, when } = branch;
            let amid = prefetch(PrefetchPoint::Amid, draft);
            let work = self.work(planes, (&early, &rims), computed, amid);
            body.extend(when.run(draft, work));
        }
        if let Some(warm) = warm {
            let mut work = prefetch(PrefetchPoint::Amid, draft);
            work.push(self.done());
            body.push(Stmt::If { conditions: vec![Condition::below(number, warm)], body: work });
        }
        body.extend(prefetch(PrefetchPoint::After, draft));
        planes.shift_columns(&mut body);
        if planes.is_staged() && !self.march.split {
            body.push(Stmt::Sync);
        }
        Ok(body)
    }

    /// The statements that compute and store, in order.
    fn work(
        &self,
        planes: &Planes<'_>,
        (early, [ahead, rims]): (&BTreeSet<FnId>, &[Vec<Stmt>; 2]),
        computed: Computed,
        prefetch: Vec<Stmt>,
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
        // The wait that comes with it is the one for values that other warps share.
        work.extend(prefetch);
        work.extend(rims.clone());
        work.extend(computed.operations);
        // Nothing is read from a ring after the operations, so slots are handed back before stores. A split barrier
        // is all that readers of shared functions wait for: it comes after their stores.
        if self.march.split {
            work.extend(store(last));
            work.push(self.done());
        } else {
            work.push(self.done());
            work.extend(store(last));
        }
        work.extend(results);
        work
    }

    /// Hands back the slots that this iteration has read.
    fn done(&self) -> Stmt {
        Stmt::Arrive {
            barrier: DONE,
            slot: Index::Var(self.number) % i64::from(self.rings.phases()),
        }
    }

    /// The ages of the planes of each group that an iteration reads from the ring.
    fn ages(&self) -> Vec<(usize, u32)> {
        let mut ages = BTreeSet::new();
        for (of, at) in self.pipeline.reads.keys() {
            let plane = &self.rings.planes[of];
            let lead = self.rings.groups[plane.group].shape.lead;
            ages.insert((plane.group, (lead - at[self.pipeline.axis]).unsigned_abs()));
            ages.insert((plane.group, 0));
        }
        ages.into_iter().filter(|(group, age)| *age <= self.rings.groups[*group].kept).collect()
    }
}
