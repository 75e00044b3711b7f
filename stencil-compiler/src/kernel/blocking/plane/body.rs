//! The code: a loop in which each iteration fetches for the next one, computes, and brings columns
//! and planes up to date.

use std::collections::BTreeSet;

use super::layout::Layout;
use super::loader::Loader;
use super::reader::Planes;
use crate::kernel::iteration::{Cover, compute, frame};
use crate::kernel::lower::Draft;
use crate::kernel::pipeline::Pipeline;
use crate::kernel::{Condition, Index, Stmt};
use crate::schedule::Refusal;

/// Writes the whole body of the kernel.
pub(super) fn emit(
    draft: &mut Draft<'_>,
    cover: Cover,
    pipeline: &Pipeline,
    layout: &Layout,
    buffers: u32,
) -> Result<(), Refusal> {
    let axis = pipeline.axis;
    let mut body = Vec::new();
    let frame = frame(draft, &mut body, cover, axis);
    let loader = Loader::new(draft, &mut body, cover, layout, (frame, axis));
    let mut planes = Planes::new(draft, cover, layout, axis);
    // The first iteration does no more than fetch.
    let begin = layout.begin - 1;
    let iteration = draft.int("i");
    let plane = draft.int("p");
    let mut inner = vec![Stmt::Int {
        var: plane,
        value: Index::Var(frame.start) + Index::Var(iteration) + Index::Const(i64::from(begin)),
    }];
    loader.fetch(draft, &mut inner, plane);
    planes.addresses(draft, &mut inner, pipeline, iteration, loader.own());
    let extend = draft.context.launch.extend.map(i64::from);
    let warmup = Index::Const(i64::from(pipeline.first_iteration() - begin));
    let mut conditions = vec![
        Condition::at_least(iteration, warmup),
        Condition::below(frame.x, Index::Size(0) + Index::Const(extend[0])),
    ];
    if axis == 2 {
        let end = Index::Size(1) + Index::Const(extend[1]);
        conditions.push(Condition::below(frame.y, end));
    }
    let columns = planes.columns().values().copied().collect();
    let computed = compute(
        draft,
        pipeline,
        cover.points,
        (&mut planes, &columns, &BTreeSet::new()),
        (plane, frame),
    )?;
    let results: Vec<Stmt> = computed.results().collect();
    inner.push(Stmt::If {
        conditions,
        body: computed.operations.into_iter().chain(results).collect(),
    });
    planes.shift(&mut inner, |of, point| loader.next(of, point));
    if !layout.groups.is_empty() {
        if buffers == 1 {
            inner.push(Stmt::Sync);
        }
        loader.put(draft, &mut inner, iteration, planes.columns());
        inner.push(Stmt::Sync);
    }
    body.push(Stmt::For {
        var: iteration,
        from: Index::Const(0),
        to: Index::Var(frame.end)
            - Index::Var(frame.start)
            - Index::Const(i64::from(pipeline.last_lag() + begin)),
        unroll: false,
        body: inner,
    });
    draft.kernel.body = body;
    Ok(())
}
