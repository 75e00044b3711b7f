//! Branches of an iteration that exclude each other: the work on most planes, and the smaller work before and behind a
//! chunk.

use super::{Condition, Stmt};

/// Statements without branches that do less than another one which runs when they do not.
pub(super) fn usual(body: &[Stmt]) -> impl Iterator<Item = &Stmt> {
    let others = move |at: usize| {
        let others = body.iter().enumerate();
        others.filter(move |(other, _)| *other != at)
    };
    let usual = body.iter().enumerate().filter(move |(at, stmt)| {
        let Stmt::If { conditions, body } = stmt else {
            return true;
        };
        let own = (work(body), std::cmp::Reverse(*at));
        own.0 == 0
            || others(*at).all(|(number, other)| match other {
                Stmt::If { conditions: of, body } if exclude(conditions, of) => {
                    (work(body), std::cmp::Reverse(number)) < own
                }
                _ => true,
            })
    });
    usual.map(|(_, stmt)| stmt)
}

/// Do these conditions exclude those, as one is the contrary of another?
fn exclude(these: &[Condition], those: &[Condition]) -> bool {
    let contrary = |a: &Condition, b: &Condition| {
        a.relation != b.relation && a.left == b.left && a.right == b.right
    };
    these.iter().any(|a| those.iter().any(|b| contrary(a, b)))
}

/// Operations that are written out.
fn work(body: &[Stmt]) -> usize {
    let of = |stmt: &Stmt| match stmt {
        Stmt::Let { .. } => 1,
        Stmt::If { body, .. } | Stmt::For { body, .. } => work(body),
        _ => 0,
    };
    body.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Op;
    use crate::kernel::{Index, IntVar, Operand, Reg};

    fn branch(condition: Condition, operations: u32) -> Stmt {
        let one = |reg| Stmt::Let { reg: Reg(reg), op: Op::Neg, args: vec![Operand::Uniform(0)] };
        Stmt::If { conditions: vec![condition], body: (0..operations).map(one).collect() }
    }

    #[test]
    fn of_branches_that_exclude_each_other_the_one_with_most_work_is_usual() {
        let (below, from) = (
            |n| Condition::below(IntVar(0), Index::Const(n)),
            |n| Condition::at_least(IntVar(0), Index::Const(n)),
        );
        let usual = |body: &[Stmt]| -> Vec<usize> {
            let found = usual(body).map(|stmt| body.iter().position(|s| std::ptr::eq(s, stmt)));
            found.flatten().collect()
        };
        assert_eq!(usual(&[branch(below(3), 1), branch(from(3), 2)]), [1]);
        assert_eq!(usual(&[branch(below(3), 2), branch(from(3), 2)]), [0]);
        // Both may hold, or one only says when.
        assert_eq!(usual(&[branch(below(3), 1), branch(from(2), 2)]), [0, 1]);
        assert_eq!(usual(&[branch(below(3), 0), branch(from(3), 2)]), [0, 1]);
    }
}
