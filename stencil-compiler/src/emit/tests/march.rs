//! A marching kernel: a ring of planes in shared memory, filled by asynchronous copies.

use super::fixtures::{Build, lit};
use crate::expr::Op;
use crate::kernel::*;
use crate::schedule::LaunchKind;

const SLOTS: i64 = 8;
const PITCH: i64 = 40;
const ROWS: i64 = 14;

/// The barrier of a plane and the parity of its phase: slot `p % SLOTS`, phase `p / SLOTS`.
fn slot(p: &Index) -> Index {
    p.clone() % SLOTS
}

fn phase(p: &Index, ahead: i64) -> Index {
    (p.clone() / SLOTS + Index::Const(ahead)) % 2
}

/// Statements that copy plane `p` (counted from the first one visited) of every field.
fn fill(b: &mut Build, fields: u32, p: Index, z: Index) -> Vec<Stmt> {
    let outer = std::mem::take(&mut b.body);
    let chunks = PITCH / 4 * ROWS;
    for field in 0..fields {
        let chunk = Index::Thread(1) * 32 + Index::Thread(0);
        let to = slot(&p) * (PITCH * ROWS * i64::from(fields))
            + Index::Const(i64::from(field) * PITCH * ROWS);
        let copy = Stmt::Copy {
            array: SharedId(0),
            to: to + chunk.clone() * 4,
            buffer: BufferId(field),
            from: [
                Index::Block(0) * 32 - Index::Const(4) + (chunk.clone() % (PITCH / 4)) * 4,
                Index::Block(1) * 8 - Index::Const(3) + chunk.clone() / (PITCH / 4),
                z.clone(),
            ],
        };
        let inside = Condition { left: chunk, relation: Relation::Less, right: chunks.into() };
        b.body.push(Stmt::If { conditions: vec![inside], body: vec![copy] });
    }
    b.body.push(Stmt::ArriveCopies { barrier: BarrierId(0), slot: slot(&p) });
    std::mem::replace(&mut b.body, outer)
}

/// Sixth-order diffusion of some fields, marching along z over chunks of 64 planes.
pub(super) fn march(fields: u32) -> Kernel {
    let inputs: Vec<String> = (0..fields).map(|f| format!("u{f}")).collect();
    let outputs: Vec<String> = (0..fields).map(|f| format!("u{f}_next")).collect();
    let mut buffers: Vec<(&str, Mode)> =
        inputs.iter().map(|name| (name.as_str(), Mode::Read)).collect();
    buffers.extend(outputs.iter().map(|name| (name.as_str(), Mode::Write)));
    let mut b = Build::new("march", LaunchKind::Blocks, &buffers, &["w0", "w1", "w2", "w3", "nu"]);
    b.kernel
        .shared
        .push(SharedArray { name: "ring".into(), len: (SLOTS * PITCH * ROWS) as u32 * fields });
    b.kernel.barriers.push(BarrierArray {
        name: "full".into(),
        slots: SLOTS as u32,
        arrivals: 256,
    });
    b.kernel.barriers.push(BarrierArray { name: "empty".into(), slots: SLOTS as u32, arrivals: 8 });
    let own = b.int(
        "own",
        (Index::Thread(1) + Index::Const(3)) * PITCH + Index::Thread(0) + Index::Const(4),
    );
    let z0 = b.int("z0", Index::Block(2) * 64);
    let planes = b.int(
        "planes",
        Index::Min(Box::new(Index::Const(64)), Box::new(Index::Size(2) - z0.into())) + 6.into(),
    );
    let q = b.int_var("q");
    let body = fill(&mut b, fields, q.into(), Index::from(z0) + q.into() - 3.into());
    b.body.push(Stmt::For { var: q, from: 0.into(), to: (SLOTS - 1).into(), unroll: false, body });
    let p = b.int_var("p");
    let outer = std::mem::take(&mut b.body);
    iteration(&mut b, fields, p, [own, z0, planes]);
    let body = std::mem::replace(&mut b.body, outer);
    b.body.push(Stmt::For { var: p, from: 0.into(), to: planes.into(), unroll: false, body });
    b.finish()
}

fn iteration(b: &mut Build, fields: u32, p: IntVar, [own, z0, planes]: [IntVar; 3]) {
    b.body.push(Stmt::Note("the next plane, into the slot of the one before this".into()));
    let next = b.int("next", Index::from(p) + (SLOTS - 1).into());
    let mut refill = vec![Stmt::Wait {
        barrier: BarrierId(1),
        slot: slot(&next.into()),
        parity: phase(&next.into(), 1),
    }];
    refill.extend(fill(b, fields, next.into(), Index::from(z0) + next.into() - 3.into()));
    let inside = Condition { left: next.into(), relation: Relation::Less, right: planes.into() };
    b.body.push(Stmt::If { conditions: vec![inside], body: refill });
    b.body.push(Stmt::Wait {
        barrier: BarrierId(0),
        slot: slot(&p.into()),
        parity: phase(&p.into(), 0),
    });
    let here = b.int("here", slot(&p.into()) * (PITCH * ROWS * i64::from(fields)) + own.into());
    let results: Vec<Operand> = (0..fields).map(|field| field_sum(b, field, here)).collect();
    b.body.push(Stmt::Arrive { barrier: BarrierId(1), slot: slot(&p.into()) });
    let outer = std::mem::take(&mut b.body);
    let at = b.cell(
        "at",
        [
            Index::Block(0) * 32 + Index::Thread(0),
            Index::Block(1) * 8 + Index::Thread(1),
            Index::from(z0) + p.into() - 6.into(),
        ],
    );
    results
        .into_iter()
        .enumerate()
        .for_each(|(field, value)| b.store(fields + field as u32, at, value));
    let body = std::mem::replace(&mut b.body, outer);
    let complete = Condition { left: p.into(), relation: Relation::GreaterEqual, right: 6.into() };
    b.body.push(Stmt::If { conditions: vec![complete], body });
}

/// In-plane terms of the newest plane are carried to their output with the column in queues.
fn field_sum(b: &mut Build, field: u32, here: IntVar) -> Operand {
    let column: Vec<Reg> = (0..6).map(|k| b.reg(&format!("u{field}_z{k}"))).collect();
    let carried: Vec<Reg> = (0..3).map(|k| b.reg(&format!("sum{field}_z{k}"))).collect();
    b.kernel.queues.extend(column.iter().chain(&carried));
    let shared = |b: &mut Build, name: &str, dx: i32, dy: i32| {
        let reg = b.reg(name);
        let offset = field as i32 * (PITCH * ROWS) as i32 + dy * PITCH as i32 + dx;
        b.body.push(Stmt::LoadShared { regs: vec![reg], array: SharedId(0), base: here, offset });
        Operand::Reg(reg)
    };
    let newest = shared(b, "newest", 0, 0);
    let mut sum = b.op("sum", Op::Mul, &[newest, lit(-5.0)]);
    for k in 1..=3 {
        for (dx, dy) in [(k, 0), (0, k)] {
            let (plus, minus) = (shared(b, "plus", dx, dy), shared(b, "minus", -dx, -dy));
            let pair = b.op("pair", Op::Add, &[plus, minus]);
            sum = b.op("sum", Op::Fma, &[Operand::Uniform(k as u32), pair, sum]);
        }
    }
    let mut total = Operand::Reg(carried[0]);
    for k in 1..=3 {
        let ahead = if k == 3 { newest } else { Operand::Reg(column[3 + k]) };
        let pair = b.op("pair", Op::Add, &[ahead, Operand::Reg(column[3 - k])]);
        total = b.op("total", Op::Fma, &[Operand::Uniform(k as u32), pair, total]);
    }
    let next = b.op("next", Op::Fma, &[Operand::Uniform(4), total, Operand::Reg(column[3])]);
    for (queue, last) in [(&column, newest), (&carried, sum)] {
        for (k, reg) in queue.iter().enumerate() {
            let value = queue.get(k + 1).map_or(last, |next| Operand::Reg(*next));
            b.body.push(Stmt::Set { reg: *reg, value });
        }
    }
    next
}
