//! `direct`: one thread a cell, every point read from global memory through the caches.

use super::MOST_THREADS;
use super::rows::point_program;
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::{Condition, Index, Kernel, Relation, Stmt};
use crate::schedule::strategies::direct::STRATEGY;
use crate::schedule::{LaunchKind, Refusal};

pub(super) fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    context.refuse_placements(STRATEGY.name)?;
    let dimension = context.algorithm.dimension;
    let along = |axis: usize, name: &str| {
        if axis < dimension { context.param(name) } else { 1 }
    };
    let threads = [along(0, "x"), along(1, "y"), along(2, "z")];
    let total = threads.iter().try_fold(1u32, |total, t| total.checked_mul(*t));
    if !(1..=MOST_THREADS).contains(&total.unwrap_or(0)) {
        return Err(Refusal::params(
            &["x", "y", "z"],
            format!("`direct` with {threads:?} threads: a block has 1 to {MOST_THREADS}"),
        ));
    }
    let extend = context.launch.extend;
    let mut draft = Draft::new(*context, shape(context, LaunchKind::Blocks, threads, threads)?);
    let mut at = Vec::new();
    let mut inside = Vec::new();
    let mut body = Vec::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let value = Index::Block(axis) * i64::from(threads[axis]) + Index::Thread(axis)
            - Index::Const(i64::from(extend[axis]));
        let var = draft.define(&mut body, name, value);
        at.push(Index::Var(var));
        let end = Index::Size(axis) + Index::Const(i64::from(extend[axis]));
        inside.push(Condition { left: Index::Var(var), relation: Relation::Less, right: end });
    }
    let cell = draft.cell("cell");
    let mut work = vec![Stmt::Cell { cell, at: [at[0].clone(), at[1].clone(), at[2].clone()] }];
    let stores = point_program(&mut draft, &mut work, cell)?;
    work.extend(stores);
    body.push(Stmt::If { conditions: inside, body: work });
    draft.kernel.body = body;
    Ok(draft.kernel)
}
