//! `rows`: one row after the other, all its cells in a vector loop. The blocking of CPUs.

use crate::algorithm::{FnId, Offset};
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::order::order_from;
use crate::kernel::values::{Reader, Values, Writer};
use crate::kernel::{CellVar, Index, Kernel, Operand, Stmt};
use crate::schedule::strategies::rows::STRATEGY;
use crate::schedule::{LaunchKind, Refusal};

pub(super) fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    context.refuse_placements(STRATEGY.name)?;
    let extend = context.launch.extend;
    let mut draft = Draft::new(*context, shape(context, LaunchKind::Rows, [1; 3], [0, 1, 1])?);
    let own = |index: Index, axis: usize| index - Index::Const(i64::from(extend[axis]));
    let at = [own(Index::Thread(0), 0), own(Index::Block(1), 1), own(Index::Block(2), 2)];
    let cell = draft.cell("cell");
    let mut work = Vec::new();
    let stores = point_program(&mut draft, &mut work, cell)?;
    let results = stores.iter().filter_map(|store| match store {
        Stmt::Store { values, .. } => match values[..] {
            [Operand::Reg(reg)] => Some(reg),
            _ => None,
        },
        _ => None,
    });
    let mut body = vec![Stmt::Cell { cell, at }];
    body.extend(order_from(work, &results.collect::<Vec<_>>()));
    body.extend(stores);
    draft.kernel.body = body;
    Ok(draft.kernel)
}

/// Loads and operations of all outputs at one cell; returns the stores.
pub(super) fn point_program(
    draft: &mut Draft<'_>,
    body: &mut Vec<Stmt>,
    cell: CellVar,
) -> Result<Vec<Stmt>, Refusal> {
    let context = draft.context;
    let mut values = Values::new(&context, Vec::new())?;
    let mut writer = Writer::default();
    let mut reader = Direct { cell };
    let mut stores = Vec::new();
    for (buffer, function) in context.outputs()? {
        let id = values.define(function, [0; 3])?;
        let value = writer.write(draft, &values, &mut reader, body, id)?;
        let buffer = draft.find_buffer(&buffer).ok_or_else(|| format!("no buffer `{buffer}`"))?;
        stores.push(Stmt::Store { buffer, cell, offset: [0; 3], values: vec![value] });
    }
    Ok(stores)
}

/// Reads each point from global memory.
struct Direct {
    cell: CellVar,
}

impl Reader for Direct {
    fn read(
        &mut self,
        draft: &mut Draft<'_>,
        out: &mut Vec<Stmt>,
        of: FnId,
        at: Offset,
        name: &str,
    ) -> Result<Operand, Refusal> {
        let buffer_name = &draft.context.algorithm.function(of).name;
        let buffer =
            draft.find_buffer(buffer_name).ok_or_else(|| format!("no buffer `{buffer_name}`"))?;
        let reg = draft.reg(&format!("{name}_v"));
        out.push(Stmt::Load { reg, buffer, cell: self.cell, offset: at });
        Ok(Operand::Reg(reg))
    }
}
