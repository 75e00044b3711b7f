//! Statements with other operands, and once more under other names.

use std::collections::BTreeMap;

use super::lower::Draft;
use super::{Operand, Reg, Stmt};

/// Changes each operand that is a value, wherever it is read.
pub(super) fn each_operand(body: &mut [Stmt], change: &mut impl FnMut(&mut Operand)) {
    for stmt in body {
        match stmt {
            Stmt::Let { args, .. } => args.iter_mut().for_each(&mut *change),
            Stmt::Set { value, .. } => change(value),
            Stmt::Store { values, .. } | Stmt::StoreShared { values, .. } => {
                values.iter_mut().for_each(&mut *change);
            }
            Stmt::For { body, .. } | Stmt::If { body, .. } => each_operand(body, change),
            Stmt::Note(_)
            | Stmt::Int { .. }
            | Stmt::Cell { .. }
            | Stmt::Load { .. }
            | Stmt::LoadShared { .. }
            | Stmt::Copy { .. }
            | Stmt::ArriveCopies { .. }
            | Stmt::Arrive { .. }
            | Stmt::CopyBox { .. }
            | Stmt::Expect { .. }
            | Stmt::Wait { .. }
            | Stmt::Sync => {}
        }
    }
}

/// Gives the registers that statements define other names: they stand in the kernel once more.
pub(super) fn renamed(draft: &mut Draft<'_>, mut statements: Vec<Stmt>) -> Vec<Stmt> {
    let mut names = BTreeMap::new();
    define(&mut statements, &mut |reg| *names.entry(reg).or_insert_with(|| draft.another(reg)));
    each_operand(&mut statements, &mut |operand| {
        if let Operand::Reg(reg) = operand {
            *reg = names.get(reg).copied().unwrap_or(*reg);
        }
    });
    statements
}

/// Changes the registers that loads and operations define.
fn define(statements: &mut [Stmt], name: &mut impl FnMut(Reg) -> Reg) {
    for stmt in statements {
        match stmt {
            Stmt::Let { reg, .. } | Stmt::Load { reg, .. } => *reg = name(*reg),
            Stmt::LoadShared { regs, .. } => regs.iter_mut().for_each(|reg| *reg = name(*reg)),
            Stmt::If { body, .. } | Stmt::For { body, .. } => define(body, name),
            _ => {}
        }
    }
}
