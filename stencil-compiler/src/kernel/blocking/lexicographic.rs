//! `lexicographic`: threads take cells in the order of x, y, z, a block a run of consecutive ones, wherever rows and
//! planes end (Kim et al. 2022, section 3.1). Every point is read from global memory through the caches.

use super::MOST_THREADS;
use super::rows::point_program;
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::{Condition, Index, Kernel, Stmt};
use crate::schedule::strategies::lexicographic::STRATEGY;
use crate::schedule::{LaunchKind, Refusal};

pub(super) fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    context.refuse_placements(STRATEGY.name)?;
    let threads = context.param("threads");
    if !(1..=MOST_THREADS).contains(&threads) {
        return Err(Refusal::params(
            &["threads"],
            format!("`threads={threads}`: a block has 1 to {MOST_THREADS}"),
        ));
    }
    let along_x = [threads, 1, 1];
    let mut shape = shape(context, LaunchKind::Blocks, along_x, along_x)?;
    shape.runs = true;
    let mut draft = Draft::new(*context, shape);
    let mut body = Vec::new();
    let number = Index::Block(0) * i64::from(threads) + Index::Thread(0);
    let number = draft.define(&mut body, "number", number);
    let mut at = [0; 3].map(Index::Const);
    let mut slowest = (number, 0);
    for axis in 0..context.algorithm.dimension {
        let value = Index::Numbered(Box::new(number.into()), axis);
        let var = draft.define(&mut body, ["x", "y", "z"][axis], value);
        at[axis] = var.into();
        slowest = (var, axis);
    }
    let cell = draft.cell("cell");
    let mut work = vec![Stmt::Cell { cell, at }];
    let stores = point_program(&mut draft, &mut work, cell)?;
    work.extend(stores);
    // Behind the last cell only the slowest axis goes on.
    let (var, axis) = slowest;
    let end = Index::Size(axis) + Index::Const(i64::from(context.launch.extend[axis]));
    body.push(Stmt::If { conditions: vec![Condition::below(var, end)], body: work });
    draft.kernel.body = body;
    Ok(draft.kernel)
}
