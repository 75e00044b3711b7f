//! `direct`: one thread a cell, every point read from global memory through the caches.

use super::rows::point_program;
use super::{BLOCKS, MOST_THREADS, Param, Strategy, Tried};
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::{Condition, Index, Kernel, LaunchKind, Relation, Stmt};
use crate::schedule::Refusal;

/// The strategy.
pub const STRATEGY: Strategy = Strategy {
    name: "direct",
    summary: "one thread a cell, every point read through the caches",
    params: &[
        Param {
            name: "x",
            summary: "threads along x",
            default: 32,
            values: &[32, 64, 128],
            flat: None,
            tried: Tried::First,
        },
        Param {
            name: "y",
            summary: "threads along y",
            default: 4,
            values: &[1, 2, 4, 8],
            flat: None,
            tried: Tried::First,
        },
        Param {
            name: "z",
            summary: "threads along z",
            default: 2,
            values: &[1, 2, 4],
            flat: None,
            tried: Tried::First,
        },
        BLOCKS,
    ],
    marches: false,
    stages: false,
    wraps: |_| false,
    across: None,
    kind: LaunchKind::Blocks,
    least_dimension: 1,
    lower,
};

fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    context.refuse_placements(STRATEGY.name)?;
    let dimension = context.algorithm.dimension;
    let along = |axis: usize, name: &str| {
        if axis < dimension {
            context.param(name)
        } else {
            1
        }
    };
    let threads = [along(0, "x"), along(1, "y"), along(2, "z")];
    let total = threads
        .iter()
        .try_fold(1u32, |total, t| total.checked_mul(*t));
    if !(1..=MOST_THREADS).contains(&total.unwrap_or(0)) {
        return Err(Refusal::params(
            &["x", "y", "z"],
            format!("`direct` with {threads:?} threads: a block has 1 to {MOST_THREADS}"),
        ));
    }
    let extend = context.launch.extend;
    let mut draft = Draft::new(
        *context,
        shape(context, LaunchKind::Blocks, threads, threads)?,
    );
    let mut at = Vec::new();
    let mut inside = Vec::new();
    let mut body = Vec::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let value = Index::Block(axis) * i64::from(threads[axis]) + Index::Thread(axis)
            - Index::Const(i64::from(extend[axis]));
        let var = draft.int(name);
        body.push(Stmt::Int { var, value });
        at.push(Index::Var(var));
        let end = Index::Size(axis) + Index::Const(i64::from(extend[axis]));
        inside.push(Condition {
            left: Index::Var(var),
            relation: Relation::Less,
            right: end,
        });
    }
    let cell = draft.cell("cell");
    let mut work = vec![Stmt::Cell {
        cell,
        at: [at[0].clone(), at[1].clone(), at[2].clone()],
    }];
    let stores = point_program(&mut draft, &mut work, cell)?;
    work.extend(stores);
    body.push(Stmt::If {
        conditions: inside,
        body: work,
    });
    draft.kernel.body = body;
    Ok(draft.kernel)
}
