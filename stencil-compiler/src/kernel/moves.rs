//! The assignments of queues at the end of an iteration. All of them read the values of the iteration, so no register
//! may be set before another one is set to it.

use std::collections::BTreeSet;

use super::{Operand, Reg, Stmt};

/// Statements that set registers as if all were set at once, in the given order if that is one.
///
/// # Errors
/// If registers exchange their values, for which there is no order.
pub(super) fn at_once(mut moves: Vec<(Reg, Operand)>) -> Result<Vec<Stmt>, String> {
    let mut out = Vec::new();
    while !moves.is_empty() {
        let is_read = |(at, reg): (usize, Reg)| {
            let mut others = moves.iter().enumerate().filter(|(other, _)| *other != at);
            others.any(|(_, (_, value))| *value == Operand::Reg(reg))
        };
        let targets = moves.iter().enumerate().map(|(at, (reg, _))| (at, *reg));
        let mut free = targets.filter(|target| !is_read(*target));
        let (at, _) = free.next().ok_or("queues that exchange their values")?;
        let (reg, value) = moves.remove(at);
        out.push(Stmt::Set { reg, value });
    }
    Ok(out)
}

/// A register that is read by a statement after the one that sets it, with nothing but such statements between.
pub(super) fn read_late(body: &[Stmt]) -> Option<Reg> {
    let mut set = BTreeSet::new();
    body.iter().find_map(|stmt| match stmt {
        Stmt::Set { value: Operand::Reg(read), .. } if set.contains(read) => Some(*read),
        Stmt::Set { reg, .. } => {
            set.insert(*reg);
            None
        }
        _ => {
            set.clear();
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(moves: &[(u32, u32)]) -> Vec<(Reg, Operand)> {
        let of = |(to, from): &(u32, u32)| (Reg(*to), Operand::Reg(Reg(*from)));
        moves.iter().map(of).collect()
    }

    #[test]
    fn what_reads_a_queue_comes_before_what_sets_it() {
        let set = |moves: &[(u32, u32)]| -> Vec<Stmt> {
            let set = given(moves).into_iter();
            set.map(|(reg, value)| Stmt::Set { reg, value }).collect()
        };
        for (moves, ordered) in [
            (vec![(2, 1), (1, 9), (3, 8)], vec![(2, 1), (1, 9), (3, 8)]),
            (vec![(2, 1), (1, 9), (3, 1)], vec![(2, 1), (3, 1), (1, 9)]),
            (vec![(1, 9), (2, 1), (3, 2)], vec![(3, 2), (2, 1), (1, 9)]),
            (vec![(1, 1), (2, 1)], vec![(2, 1), (1, 1)]),
        ] {
            assert_eq!(at_once(given(&moves)), Ok(set(&ordered)));
            assert_eq!(read_late(&set(&ordered)), None);
            assert_eq!(read_late(&set(&moves)).is_some(), moves != ordered);
        }
        assert!(at_once(given(&[(1, 2), (2, 1)])).is_err());
    }

    #[test]
    fn a_register_may_be_read_where_more_than_assignments_is_between() {
        let one = |reg, value| Stmt::Set { reg: Reg(reg), value: Operand::Reg(Reg(value)) };
        assert_eq!(read_late(&[one(1, 9), one(2, 1)]), Some(Reg(1)));
        assert_eq!(read_late(&[one(1, 9), Stmt::Sync, one(2, 1)]), None);
    }
}
