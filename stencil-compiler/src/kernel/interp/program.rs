//! Statements as a flat list of instructions: names resolved, loops and conditions as jumps.

use crate::expr::{Op, Real, Routine};
use crate::kernel::{Condition, Index, Kernel, Operand, Stmt};

/// An index, and whether all threads of a block agree on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar<'k> {
    pub(super) index: &'k Index,
    pub(super) uniform: bool,
}

/// One comparison: `less`, else greater or equal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Test<'k> {
    pub(super) left: Scalar<'k>,
    pub(super) right: Scalar<'k>,
    pub(super) less: bool,
}

/// An access of a cell of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) buffer: usize,
    pub(super) cell: usize,
    pub(super) offset: [i32; 3],
}

/// One instruction.
#[derive(Clone, Debug)]
pub(super) enum Inst<'k> {
    Nothing,
    Int {
        var: usize,
        value: Scalar<'k>,
    },
    Cell {
        cell: usize,
        at: [Scalar<'k>; 3],
    },
    Let {
        reg: usize,
        op: Op,
        args: [usize; Op::MOST_ARGUMENTS],
        count: usize,
    },
    Call {
        reg: usize,
        op: Op,
        args: Vec<usize>,
        /// Is it the first value of these arguments? A program calls a routine once for all of its values.
        first: bool,
    },
    Set {
        reg: usize,
        value: usize,
    },
    Load {
        reg: usize,
        access: Access,
    },
    Store {
        access: Access,
        values: Vec<usize>,
    },
    LoadShared {
        regs: Vec<usize>,
        array: usize,
        base: usize,
        offset: i64,
    },
    StoreShared {
        array: usize,
        base: usize,
        offset: i64,
        values: Vec<usize>,
    },
    Copy {
        array: usize,
        to: Scalar<'k>,
        buffer: usize,
        from: [Scalar<'k>; 3],
    },
    CopyBox {
        array: usize,
        to: Scalar<'k>,
        buffers: Vec<usize>,
        from: [Scalar<'k>; 3],
        extent: [u32; 3],
        barrier: usize,
        slot: Scalar<'k>,
    },
    ArriveCopies {
        barrier: usize,
        slot: Scalar<'k>,
    },
    Expect {
        barrier: usize,
        slot: Scalar<'k>,
        bytes: u32,
        arrives: bool,
    },
    Arrive {
        barrier: usize,
        slot: Scalar<'k>,
    },
    Wait {
        barrier: usize,
        slot: Scalar<'k>,
        parity: Scalar<'k>,
    },
    Sync,
    For {
        var: usize,
        from: Scalar<'k>,
        to: Scalar<'k>,
        end: usize,
    },
    EndFor,
    If {
        tests: Vec<Test<'k>>,
        end: usize,
    },
    EndIf,
}

/// A kernel's instructions and the statement of each.
#[derive(Clone, Debug)]
pub(super) struct Program<'k, T> {
    pub(super) insts: Vec<Inst<'k>>,
    pub(super) stmts: Vec<&'k Stmt>,
    /// Uniforms and literals: the registers behind the kernel's own.
    pub(super) constants: Vec<T>,
}

impl<'k, T: Real> Program<'k, T> {
    /// Compiles a kernel that has passed its check.
    pub(super) fn new(kernel: &'k Kernel, uniforms: &[T]) -> Self {
        let program = Program { insts: Vec::new(), stmts: Vec::new(), constants: Vec::new() };
        let mut compiler = Compiler {
            program,
            uniforms,
            registers: kernel.registers.len(),
            varying: vec![false; kernel.ints.len()],
            known: Vec::new(),
        };
        compiler.body(&kernel.body);
        compiler.program
    }
}

impl Inst<'_> {
    /// Does another warp get a turn before this instruction?
    pub(super) fn synchronizes(&self) -> bool {
        matches!(
            self,
            Inst::ArriveCopies { .. }
                | Inst::Arrive { .. }
                | Inst::Expect { .. }
                | Inst::Wait { .. }
                | Inst::Sync
        )
    }
}

struct Compiler<'k, 'u, T> {
    program: Program<'k, T>,
    uniforms: &'u [T],
    registers: usize,
    varying: Vec<bool>,
    /// Calls of this block of statements.
    known: Vec<(&'static Routine, Vec<usize>)>,
}

impl<'k, T: Real> Compiler<'k, '_, T> {
    fn push(&mut self, stmt: &'k Stmt, inst: Inst<'k>) -> usize {
        self.program.insts.push(inst);
        self.program.stmts.push(stmt);
        self.program.insts.len() - 1
    }

    fn body(&mut self, body: &'k [Stmt]) {
        let outside = std::mem::take(&mut self.known);
        self.block(body);
        self.known = outside;
    }

    fn block(&mut self, body: &'k [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::For { var, from, to, body, .. } => {
                    let (from, to, var) = (self.scalar(from), self.scalar(to), var.0 as usize);
                    self.varying[var] = false;
                    let start = self.push(stmt, Inst::For { var, from, to, end: 0 });
                    self.body(body);
                    let end = self.push(stmt, Inst::EndFor);
                    self.program.insts[start] = Inst::For { var, from, to, end };
                }
                Stmt::If { conditions, body } => {
                    let tests: Vec<Test<'k>> = conditions.iter().map(|c| self.test(c)).collect();
                    let start = self.push(stmt, Inst::Nothing);
                    self.body(body);
                    let end = self.push(stmt, Inst::EndIf);
                    self.program.insts[start] = Inst::If { tests, end };
                }
                simple => {
                    let inst = self.simple(simple);
                    self.push(simple, inst);
                }
            }
        }
    }

    fn simple(&mut self, stmt: &'k Stmt) -> Inst<'k> {
        match stmt {
            // Loops and conditions are instructions of their own.
            Stmt::Note(_) | Stmt::For { .. } | Stmt::If { .. } => Inst::Nothing,
            Stmt::Int { var, value } => {
                let (value, var) = (self.scalar(value), var.0 as usize);
                self.varying[var] = !value.uniform;
                Inst::Int { var, value }
            }
            Stmt::Cell { cell, at } => Inst::Cell { cell: cell.0 as usize, at: self.scalars(at) },
            Stmt::Let { reg, op: op @ (Op::Loop(_) | Op::Call(_)), args } => {
                let args: Vec<usize> = args.iter().map(|arg| self.arg(*arg)).collect();
                let first = self.is_first(*op, &args);
                Inst::Call { reg: reg.0 as usize, op: *op, args, first }
            }
            Stmt::Let { reg, op, args } => {
                // No lane looks at arguments that an operation does not take.
                let mut fixed = [0; Op::MOST_ARGUMENTS];
                for (slot, arg) in fixed.iter_mut().zip(args) {
                    *slot = self.arg(*arg);
                }
                Inst::Let { reg: reg.0 as usize, op: *op, args: fixed, count: args.len() }
            }
            Stmt::Set { reg, value } => {
                // Values of calls that read the register are old.
                self.known.clear();
                Inst::Set { reg: reg.0 as usize, value: self.arg(*value) }
            }
            Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::LoadShared { .. }
            | Stmt::StoreShared { .. }
            | Stmt::Copy { .. }
            | Stmt::CopyBox { .. } => self.access(stmt),
            Stmt::ArriveCopies { barrier, slot } => {
                Inst::ArriveCopies { barrier: barrier.0 as usize, slot: self.scalar(slot) }
            }
            Stmt::Arrive { barrier, slot } => {
                Inst::Arrive { barrier: barrier.0 as usize, slot: self.scalar(slot) }
            }
            Stmt::Expect { barrier, slot, bytes, arrives } => Inst::Expect {
                barrier: barrier.0 as usize,
                slot: self.scalar(slot),
                bytes: *bytes,
                arrives: *arrives,
            },
            Stmt::Wait { barrier, slot, parity } => Inst::Wait {
                barrier: barrier.0 as usize,
                slot: self.scalar(slot),
                parity: self.scalar(parity),
            },
            Stmt::Sync => Inst::Sync,
        }
    }

    /// Is a call the first of its routine with these arguments in a block of statements?
    fn is_first(&mut self, op: Op, args: &[usize]) -> bool {
        let Op::Call(of) = op else { return true };
        let is_same = |known: &(&'static Routine, Vec<usize>)| {
            std::ptr::eq(known.0, of.get()) && known.1 == args
        };
        let first = !self.known.iter().any(is_same);
        if first {
            self.known.push((of.get(), args.to_vec()));
        }
        first
    }

    fn access(&mut self, stmt: &'k Stmt) -> Inst<'k> {
        match stmt {
            Stmt::Load { reg, buffer, cell, offset } => {
                let access =
                    Access { buffer: buffer.0 as usize, cell: cell.0 as usize, offset: *offset };
                Inst::Load { reg: reg.0 as usize, access }
            }
            Stmt::Store { buffer, cell, offset, values } => {
                let access =
                    Access { buffer: buffer.0 as usize, cell: cell.0 as usize, offset: *offset };
                Inst::Store {
                    access,
                    values: values.iter().map(|value| self.arg(*value)).collect(),
                }
            }
            Stmt::LoadShared { regs, array, base, offset } => Inst::LoadShared {
                regs: regs.iter().map(|r| r.0 as usize).collect(),
                array: array.0 as usize,
                base: base.0 as usize,
                offset: i64::from(*offset),
            },
            Stmt::StoreShared { array, base, offset, values } => Inst::StoreShared {
                array: array.0 as usize,
                base: base.0 as usize,
                offset: i64::from(*offset),
                values: values.iter().map(|value| self.arg(*value)).collect(),
            },
            _ => self.copied(stmt),
        }
    }

    /// A copy, which arrives later.
    fn copied(&mut self, stmt: &'k Stmt) -> Inst<'k> {
        match stmt {
            Stmt::Copy { array, to, buffer, from } => Inst::Copy {
                array: array.0 as usize,
                to: self.scalar(to),
                buffer: buffer.0 as usize,
                from: self.scalars(from),
            },
            Stmt::CopyBox { array, to, buffers, from, extent, barrier, slot } => Inst::CopyBox {
                array: array.0 as usize,
                to: self.scalar(to),
                buffers: buffers.iter().map(|buffer| buffer.0 as usize).collect(),
                from: self.scalars(from),
                extent: *extent,
                barrier: barrier.0 as usize,
                slot: self.scalar(slot),
            },
            _ => Inst::Nothing,
        }
    }

    fn test(&self, condition: &'k Condition) -> Test<'k> {
        Test {
            left: self.scalar(&condition.left),
            right: self.scalar(&condition.right),
            less: condition.relation == crate::kernel::Relation::Less,
        }
    }

    /// The register of an operand.
    fn arg(&mut self, operand: Operand) -> usize {
        let value = match operand {
            Operand::Reg(reg) => return reg.0 as usize,
            Operand::Uniform(at) => self.uniforms[at as usize],
            Operand::Lit(lit) => T::from_f64(lit.value()),
        };
        let constants = &mut self.program.constants;
        let same = |known: &T| known.to_f64().to_bits() == value.to_f64().to_bits();
        let at = constants.iter().position(same).unwrap_or_else(|| {
            constants.push(value);
            constants.len() - 1
        });
        self.registers + at
    }

    fn scalars(&self, at: &'k [Index; 3]) -> [Scalar<'k>; 3] {
        [self.scalar(&at[0]), self.scalar(&at[1]), self.scalar(&at[2])]
    }

    fn scalar(&self, index: &'k Index) -> Scalar<'k> {
        Scalar { index, uniform: self.agrees(index) }
    }

    fn agrees(&self, index: &Index) -> bool {
        match index {
            Index::Const(_) | Index::Block(_) | Index::Size(_) => true,
            Index::Thread(_) => false,
            Index::Var(var) => !self.varying[var.0 as usize],
            Index::Add(a, b) | Index::Sub(a, b) | Index::Min(a, b) => {
                self.agrees(a) && self.agrees(b)
            }
            Index::Mul(a, _) | Index::Div(a, _) | Index::Rem(a, _) => self.agrees(a),
            Index::Wrap(a, _) | Index::Numbered(a, _) => self.agrees(a),
        }
    }
}
