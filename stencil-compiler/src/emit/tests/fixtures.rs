//! Kernels to emit.

use crate::expr::{Lit, Op};
use crate::kernel::*;
use crate::schedule::LaunchKind;

/// Builds a kernel statement by statement.
pub(super) struct Build {
    pub(super) kernel: Kernel,
    pub(super) body: Vec<Stmt>,
}

pub(super) fn lit(value: f64) -> Operand {
    Operand::Lit(Lit::new(value))
}

impl Build {
    /// A kernel over these buffers and uniforms, for values of 4 bytes.
    pub(super) fn new(
        name: &str,
        kind: LaunchKind,
        buffers: &[(&str, Mode)],
        uniforms: &[&str],
    ) -> Self {
        let buffer = |(name, mode): &(&str, Mode)| Buffer {
            name: name.to_string(),
            mode: *mode,
            halo: [4, 3, 3],
            beside: None,
            surface: false,
            sent: false,
            extreme: None,
        };
        let (threads, tile) = match kind {
            LaunchKind::Rows => ([1, 1, 1], [0, 1, 1]),
            LaunchKind::Blocks => ([32, 8, 1], [32, 8, 1]),
        };
        let kernel = Kernel {
            name: name.to_string(),
            notes: Vec::new(),
            dimension: 3,
            value_bytes: 4,
            launch: Launch { kind, threads, tile, runs: false, extend: [0; 3], blocks_per_unit: 2 },
            buffers: buffers.iter().map(buffer).collect(),
            uniforms: uniforms.iter().map(|name| name.to_string()).collect(),
            shared: Vec::new(),
            barriers: Vec::new(),
            registers: Vec::new(),
            origins: Default::default(),
            queues: Vec::new(),
            ints: Vec::new(),
            cells: Vec::new(),
            body: Vec::new(),
        };
        Build { kernel, body: Vec::new() }
    }

    pub(super) fn reg(&mut self, name: &str) -> Reg {
        self.kernel.registers.push(name.to_string());
        Reg(self.kernel.registers.len() as u32 - 1)
    }

    pub(super) fn int_var(&mut self, name: &str) -> IntVar {
        self.kernel.ints.push(name.to_string());
        IntVar(self.kernel.ints.len() as u32 - 1)
    }

    pub(super) fn int(&mut self, name: &str, value: Index) -> IntVar {
        let var = self.int_var(name);
        self.body.push(Stmt::Int { var, value });
        var
    }

    pub(super) fn cell(&mut self, name: &str, at: [Index; 3]) -> CellVar {
        self.kernel.cells.push(name.to_string());
        let cell = CellVar(self.kernel.cells.len() as u32 - 1);
        self.body.push(Stmt::Cell { cell, at });
        cell
    }

    pub(super) fn op(&mut self, name: &str, op: Op, args: &[Operand]) -> Operand {
        let reg = self.reg(name);
        self.body.push(Stmt::Let { reg, op, args: args.to_vec() });
        Operand::Reg(reg)
    }

    pub(super) fn load(
        &mut self,
        name: &str,
        buffer: u32,
        cell: CellVar,
        offset: [i32; 3],
    ) -> Operand {
        let reg = self.reg(name);
        self.body.push(Stmt::Load { reg, buffer: BufferId(buffer), cell, offset });
        Operand::Reg(reg)
    }

    pub(super) fn store(&mut self, buffer: u32, cell: CellVar, value: Operand) {
        self.body.push(Stmt::Store {
            buffer: BufferId(buffer),
            cell,
            offset: [0; 3],
            values: vec![value],
        });
    }

    pub(super) fn finish(mut self) -> Kernel {
        self.kernel.body = self.body;
        self.kernel
    }
}

/// The own cell of a thread, or of a row.
fn own_cell(b: &mut Build) -> CellVar {
    match b.kernel.launch.kind {
        LaunchKind::Rows => b.cell("at", [Index::Thread(0), Index::Block(1), Index::Block(2)]),
        LaunchKind::Blocks => {
            let x = b.int("x", Index::Block(0) * 32 + Index::Thread(0));
            let y = b.int("y", Index::Block(1) * 8 + Index::Thread(1));
            b.cell("at", [x.into(), y.into(), Index::Block(2)])
        }
    }
}

/// One explicit step of the heat equation, 7 points.
pub(super) fn heat(kind: LaunchKind) -> Kernel {
    let mut b = Build::new("heat", kind, &[("u", Mode::Read), ("u_next", Mode::Write)], &["k"]);
    b.kernel.notes.push("ddt(u) = k * lap(u)".to_string());
    let at = own_cell(&mut b);
    let outer = std::mem::take(&mut b.body);
    let centre = b.load("u0", 0, at, [0; 3]);
    b.body.push(Stmt::Note("the sum of the neighbours".to_string()));
    let mut sum = b.op("sum", Op::Mul, &[centre, lit(-6.0)]);
    for axis in 0..3 {
        let mut offset = [0; 3];
        offset[axis] = 1;
        let plus = b.load("plus", 0, at, offset);
        let minus = b.load("minus", 0, at, offset.map(|o| -o));
        let pair = b.op("pair", Op::Add, &[plus, minus]);
        sum = b.op("sum", Op::Add, &[sum, pair]);
    }
    let next = b.op("next", Op::Fma, &[Operand::Uniform(0), sum, centre]);
    b.store(1, at, next);
    guard(b, outer)
}

/// Puts the statements of a cell under the condition that the cell is interior.
fn guard(mut b: Build, mut outer: Vec<Stmt>) -> Kernel {
    if b.kernel.launch.kind == LaunchKind::Blocks {
        let inside = |axis: u32| Condition {
            left: Index::Var(IntVar(axis)),
            relation: Relation::Less,
            right: Index::Size(axis as usize),
        };
        outer.push(Stmt::If {
            conditions: vec![inside(0), inside(1)],
            body: std::mem::take(&mut b.body),
        });
    } else {
        outer.append(&mut b.body);
    }
    b.body = outer;
    b.finish()
}

/// A second-derivative sum of radius 3 along each axis (19 points), an accumulator in place, and a
/// limited value as a second output.
pub(super) fn accumulate(kind: LaunchKind) -> Kernel {
    let buffers = [
        ("u", Mode::Read),
        ("a", Mode::ReadWrite),
        ("u_next", Mode::Write),
        ("limited", Mode::Write),
    ];
    let mut b =
        Build::new("accumulate", kind, &buffers, &["alpha", "beta", "w0", "w1", "w2", "w3"]);
    let at = own_cell(&mut b);
    let outer = std::mem::take(&mut b.body);
    let centre = b.load("u0", 0, at, [0; 3]);
    let mut rhs = b.op("rhs", Op::Mul, &[Operand::Uniform(2), centre]);
    for axis in 0..3 {
        for k in 1..=3 {
            let mut offset = [0; 3];
            offset[axis] = k;
            let plus = b.load("plus", 0, at, offset);
            let minus = b.load("minus", 0, at, offset.map(|o| -o));
            let pair = b.op("pair", Op::Add, &[plus, minus]);
            rhs = b.op("rhs", Op::Fma, &[Operand::Uniform(2 + k as u32), pair, rhs]);
        }
    }
    let old = b.load("a_old", 1, at, [0; 3]);
    let a = b.op("a_new", Op::Fma, &[Operand::Uniform(0), old, rhs]);
    b.store(1, at, a);
    let next = b.op("next", Op::Fma, &[Operand::Uniform(1), a, centre]);
    b.store(2, at, next);
    let size = b.op("size", Op::Abs, &[next]);
    let low = b.op("low", Op::Min, &[size, lit(0.5)]);
    let scaled = b.op("scaled", Op::Mul, &[low, lit(3.0)]);
    let high = b.op("high", Op::Max, &[scaled, lit(0.25)]);
    let limited = b.op("bounded", Op::Neg, &[high]);
    b.store(3, at, limited);
    guard(b, outer)
}
