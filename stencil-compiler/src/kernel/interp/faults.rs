//! Faults to put into a kernel on purpose: a test of the kernel's tests.

use crate::kernel::{Index, Kernel, Stmt};

/// The kernel without its `n`-th wait, if it has that many.
pub fn drop_wait(kernel: &Kernel, n: usize) -> Option<Kernel> {
    remove(kernel, n, |stmt| matches!(stmt, Stmt::Wait { .. }))
}

/// The kernel without its `n`-th arrival of a warp.
pub fn drop_arrive(kernel: &Kernel, n: usize) -> Option<Kernel> {
    remove(kernel, n, |stmt| matches!(stmt, Stmt::Arrive { .. }))
}

/// The kernel without its `n`-th arrival of copies.
pub fn drop_arrive_copies(kernel: &Kernel, n: usize) -> Option<Kernel> {
    remove(kernel, n, |stmt| matches!(stmt, Stmt::ArriveCopies { .. }))
}

/// The kernel without its `n`-th [`Stmt::Sync`].
pub fn drop_sync(kernel: &Kernel, n: usize) -> Option<Kernel> {
    remove(kernel, n, |stmt| matches!(stmt, Stmt::Sync))
}

/// The kernel without its `n`-th store.
pub fn drop_store(kernel: &Kernel, n: usize) -> Option<Kernel> {
    remove(kernel, n, |stmt| matches!(stmt, Stmt::Store { .. }))
}

/// The kernel whose `n`-th wait is for the other parity.
pub fn flip_wait(kernel: &Kernel, n: usize) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::Wait { parity, .. } => {
            // Not `(parity + 1) % 2`: the parity may be negated already.
            let flipped = Index::Sub(Box::new(Index::Const(1)), Box::new(parity.clone()));
            *parity = flipped;
            true
        }
        _ => false,
    })
}

/// The kernel whose `n`-th read of shared memory is `by` values off.
pub fn shift_shared(kernel: &Kernel, n: usize, by: i32) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::LoadShared { offset, .. } => {
            *offset += by;
            true
        }
        _ => false,
    })
}

/// The kernel without its `n`-th store to shared memory.
pub fn drop_store_shared(kernel: &Kernel, n: usize) -> Option<Kernel> {
    remove(kernel, n, |stmt| matches!(stmt, Stmt::StoreShared { .. }))
}

/// The kernel whose `n`-th store to shared memory is `by` values off.
pub fn shift_store_shared(kernel: &Kernel, n: usize, by: i32) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::StoreShared { offset, .. } => {
            *offset += by;
            true
        }
        _ => false,
    })
}

/// The kernel whose `n`-th load from global memory is `by` cells off along an axis.
pub fn shift_load(kernel: &Kernel, n: usize, axis: usize, by: i32) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::Load { offset, .. } => {
            offset[axis.min(2)] += by;
            true
        }
        _ => false,
    })
}

/// The kernel whose `n`-th copy starts `by` cells off along an axis.
pub fn shift_copy(kernel: &Kernel, n: usize, axis: usize, by: i64) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::Copy { from, .. } => {
            let axis = axis.min(2);
            from[axis] = from[axis].clone() + Index::Const(by);
            true
        }
        _ => false,
    })
}

/// The kernel without its `n`-th box.
pub fn drop_box(kernel: &Kernel, n: usize) -> Option<Kernel> {
    remove(kernel, n, |stmt| matches!(stmt, Stmt::CopyBox { .. }))
}

/// The kernel whose `n`-th box starts `by` cells off along an axis.
pub fn shift_box(kernel: &Kernel, n: usize, axis: usize, by: i64) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::CopyBox { from, .. } => {
            let axis = axis.min(2);
            from[axis] = from[axis].clone() + Index::Const(by);
            true
        }
        _ => false,
    })
}

/// The kernel whose `n`-th box goes `by` values further.
pub fn shift_box_to(kernel: &Kernel, n: usize, by: i64) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::CopyBox { to, .. } => {
            *to = to.clone() + Index::Const(by);
            true
        }
        _ => false,
    })
}

/// The kernel whose `n`-th box of several buffers has them the other way round.
pub fn turn_box(kernel: &Kernel, n: usize) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::CopyBox { buffers, .. } if buffers.len() > 1 => {
            buffers.reverse();
            true
        }
        _ => false,
    })
}

/// The kernel whose `n`-th count of bytes is `by` off.
pub fn miscount(kernel: &Kernel, n: usize, by: i32) -> Option<Kernel> {
    change(kernel, n, |stmt| match stmt {
        Stmt::Expect { bytes, .. } => match bytes.checked_add_signed(by) {
            Some(other) => {
                *bytes = other;
                true
            }
            None => false,
        },
        _ => false,
    })
}

/// The kernel without its `n`-th count of bytes, and without the arrival that may come with it.
pub fn drop_expect(kernel: &Kernel, n: usize) -> Option<Kernel> {
    remove(kernel, n, |stmt| matches!(stmt, Stmt::Expect { .. }))
}

/// The kernel with every index changed by a function, bottom up: to shrink a ring, say, by changing the arguments of
/// remainders.
pub fn map_indices(kernel: &Kernel, f: &mut dyn FnMut(Index) -> Index) -> Kernel {
    let mut kernel = kernel.clone();
    each(&mut kernel.body, &mut |stmt| match stmt {
        Stmt::Int { value, .. } => map(value, f),
        Stmt::Cell { at, .. } => at.iter_mut().for_each(|index| map(index, f)),
        Stmt::Copy { to, from, .. } => {
            map(to, f);
            from.iter_mut().for_each(|index| map(index, f));
        }
        Stmt::CopyBox { to, from, slot, .. } => {
            map(to, f);
            from.iter_mut().for_each(|index| map(index, f));
            map(slot, f);
        }
        Stmt::ArriveCopies { slot, .. } | Stmt::Arrive { slot, .. } | Stmt::Expect { slot, .. } => {
            map(slot, f)
        }
        Stmt::Wait { slot, parity, .. } => {
            map(slot, f);
            map(parity, f);
        }
        Stmt::For { from, to, .. } => {
            map(from, f);
            map(to, f);
        }
        Stmt::If { conditions, .. } => {
            for condition in conditions {
                map(&mut condition.left, f);
                map(&mut condition.right, f);
            }
        }
        Stmt::Note(_)
        | Stmt::Let { .. }
        | Stmt::Set { .. }
        | Stmt::Load { .. }
        | Stmt::Store { .. }
        | Stmt::LoadShared { .. }
        | Stmt::StoreShared { .. }
        | Stmt::Sync => {}
    });
    kernel
}

fn map(index: &mut Index, f: &mut dyn FnMut(Index) -> Index) {
    match index {
        Index::Add(a, b) | Index::Sub(a, b) | Index::Min(a, b) => {
            map(a, f);
            map(b, f);
        }
        Index::Mul(a, _) | Index::Div(a, _) | Index::Rem(a, _) => map(a, f),
        Index::Wrap(a, _) | Index::Numbered(a, _) => map(a, f),
        Index::Const(_) | Index::Var(_) | Index::Block(_) | Index::Thread(_) | Index::Size(_) => {}
    }
    *index = f(index.clone());
}

fn each(body: &mut [Stmt], f: &mut dyn FnMut(&mut Stmt)) {
    for stmt in body {
        f(stmt);
        if let Stmt::For { body, .. } | Stmt::If { body, .. } = stmt {
            each(body, f);
        }
    }
}

/// Changes the `n`-th statement for which `f` returns true; `f` changes only such statements.
fn change(kernel: &Kernel, n: usize, f: impl Fn(&mut Stmt) -> bool) -> Option<Kernel> {
    let mut changed = kernel.clone();
    let mut seen = 0;
    each(&mut changed.body, &mut |stmt| {
        let mut copy = stmt.clone();
        if f(&mut copy) {
            if seen == n {
                *stmt = copy;
            }
            seen += 1;
        }
    });
    (seen > n).then_some(changed)
}

fn remove(kernel: &Kernel, n: usize, is: impl Fn(&Stmt) -> bool) -> Option<Kernel> {
    change(kernel, n, |stmt| {
        let found = is(stmt);
        if found {
            *stmt = Stmt::Note("removed".into());
        }
        found
    })
}
