//! Printing of kernels.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::AXES;
use crate::expr::{self, Lit, Op};
use crate::kernel::{
    BarrierId, BufferId, CellVar, Condition, Index, IntVar, Kernel, Mode, Operand, Reg, Relation,
    SharedId, Stmt,
};
use crate::plan::Place;
use crate::schedule::LaunchKind;
use crate::syntax::quote;

/// The kernel as text that [`parse`](super::parse) reads back as an equal kernel.
pub fn print(kernel: &Kernel) -> String {
    let mut out = format!("kernel {} {{\n", kernel.name);
    for line in header(kernel) {
        out.push_str(&format!("  {line}\n"));
    }
    out.push_str("  code {\n");
    let printer = Printer { kernel };
    printer.block(&kernel.body, 2, &mut out);
    out.push_str("  }\n}\n");
    out
}

/// One statement as text; for a loop or a condition, the line that opens it.
pub fn statement(kernel: &Kernel, stmt: &Stmt) -> String {
    Printer { kernel }.line(stmt)
}

fn header(kernel: &Kernel) -> Vec<String> {
    let launch = &kernel.launch;
    let kind = match launch.kind {
        LaunchKind::Rows => "rows",
        LaunchKind::Blocks => "blocks",
    };
    let mut lines: Vec<String> =
        kernel.notes.iter().map(|n| format!("note {}", quote(n))).collect();
    lines.push(format!("dimension {}", kernel.dimension));
    lines.push(format!("value_bytes {}", kernel.value_bytes));
    lines.push(format!(
        "launch {kind} threads {:?} tile {:?}{} extend {:?} blocks_per_unit {}",
        launch.threads,
        launch.tile,
        if launch.runs { " runs" } else { "" },
        launch.extend,
        launch.blocks_per_unit
    ));
    for buffer in &kernel.buffers {
        let mode = match buffer.mode {
            Mode::Read => "read",
            Mode::Write => "write",
            Mode::ReadWrite => "readwrite",
        };
        let beside = buffer.beside.map_or(String::new(), |Place { before, at, of, .. }| {
            format!(" at {at} of {of} behind {before}")
        });
        let surface = if buffer.surface { " surface" } else { "" };
        let sent = if buffer.sent { " sent" } else { "" };
        let extreme = buffer.extreme.map_or(String::new(), |kept| format!(" {}", kept.name()));
        lines.push(format!(
            "buffer {} {mode} halo {:?}{beside}{surface}{sent}{extreme}",
            buffer.name, buffer.halo
        ));
    }
    lines.extend(kernel.shared.iter().map(|a| format!("shared {}[{}]", a.name, a.len)));
    lines.extend(
        kernel
            .barriers
            .iter()
            .map(|b| format!("barrier {}[{}] arrivals {}", b.name, b.slots, b.arrivals)),
    );
    let defined = kernel.defined();
    let loops = defined.loops.iter().map(|of| format!("loop {}", expr::text::print_loop(of)));
    lines.extend(loops);
    let routines = defined.routines.iter().map(|of| expr::text::print_routine(of));
    lines.extend(routines.map(|text| format!("routine {text}")));
    let printer = Printer { kernel };
    let queues: Vec<String> =
        kernel.queues.iter().map(|q| printer.name(&kernel.registers, q.0)).collect();
    let lists = [
        ("uniforms", &kernel.uniforms),
        ("registers", &kernel.registers),
        ("queues", &queues),
        ("ints", &kernel.ints),
        ("cells", &kernel.cells),
    ];
    let lists = lists.iter().filter(|(_, names)| !names.is_empty());
    lines.extend(lists.map(|(word, names)| format!("{word} {}", names.join(", "))));
    lines.extend(origins(kernel));
    lines
}

/// The registers that each grid function is computed in.
fn origins(kernel: &Kernel) -> Vec<String> {
    let printer = Printer { kernel };
    let mut registers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (reg, function) in &kernel.origins {
        let of = registers.entry(function).or_default();
        of.push(printer.reg(*reg));
    }
    let line =
        |(function, regs): (&str, Vec<String>)| format!("for {function} {}", regs.join(", "));
    registers.into_iter().map(line).collect()
}

struct Printer<'a> {
    kernel: &'a Kernel,
}

const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const PRIMARY: u8 = 3;

impl Printer<'_> {
    fn block(&self, body: &[Stmt], depth: usize, out: &mut String) {
        for stmt in body {
            out.push_str(&format!("{}{}\n", "  ".repeat(depth), self.line(stmt)));
            if let Stmt::For { body, .. } | Stmt::If { body, .. } = stmt {
                self.block(body, depth + 1, out);
                out.push_str(&format!("{}}}\n", "  ".repeat(depth)));
            }
        }
    }

    /// Names out of range print as `?`, which no text parses to: printing must not fail.
    fn name(&self, names: &[String], at: u32) -> String {
        names.get(at as usize).cloned().unwrap_or_else(|| format!("?{at}"))
    }

    fn reg(&self, reg: Reg) -> String {
        self.name(&self.kernel.registers, reg.0)
    }

    fn int(&self, var: IntVar) -> String {
        self.name(&self.kernel.ints, var.0)
    }

    fn buffer(&self, buffer: BufferId) -> String {
        self.kernel.buffers.get(buffer.0 as usize).map_or_else(|| "?".into(), |b| b.name.clone())
    }

    fn array(&self, array: SharedId) -> String {
        self.kernel.shared.get(array.0 as usize).map_or_else(|| "?".into(), |a| a.name.clone())
    }

    fn barrier(&self, barrier: BarrierId, slot: &Index) -> String {
        let name = self.kernel.barriers.get(barrier.0 as usize).map_or("?", |b| b.name.as_str());
        format!("{name}[{}]", self.index(slot))
    }

    fn line(&self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Note(text) => format!("note {}", quote(text)),
            Stmt::Int { var, value } => format!("int {} = {}", self.int(*var), self.index(value)),
            Stmt::Cell { cell, at } => {
                format!("cell {} = {}", self.name(&self.kernel.cells, cell.0), self.place(at))
            }
            Stmt::Let { reg, op, args } => {
                format!("{} = {}", self.reg(*reg), self.operation(*op, args))
            }
            Stmt::Set { reg, value } => {
                format!("set {} = {}", self.reg(*reg), self.operand(*value))
            }
            Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::LoadShared { .. }
            | Stmt::StoreShared { .. }
            | Stmt::Copy { .. }
            | Stmt::CopyBox { .. } => self.access(stmt),
            Stmt::ArriveCopies { barrier, slot } => {
                format!("arrive copies {}", self.barrier(*barrier, slot))
            }
            Stmt::Arrive { barrier, slot } => format!("arrive {}", self.barrier(*barrier, slot)),
            Stmt::Expect { barrier, slot, bytes, arrives } => {
                let word = if *arrives { "arrive" } else { "expect" };
                format!("{word} {} bytes {bytes}", self.barrier(*barrier, slot))
            }
            Stmt::Wait { barrier, slot, parity } => {
                format!("wait {} parity {}", self.barrier(*barrier, slot), self.index(parity))
            }
            Stmt::Sync => "sync".into(),
            Stmt::For { var, from, to, unroll, .. } => {
                let unroll = if *unroll { " unroll" } else { "" };
                format!(
                    "for {} in {} .. {}{unroll} {{",
                    self.int(*var),
                    self.index(from),
                    self.index(to)
                )
            }
            Stmt::If { conditions, .. } => {
                let all: Vec<String> = conditions.iter().map(|c| self.condition(c)).collect();
                format!("if {} {{", all.join(" and "))
            }
        }
    }

    fn access(&self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Load { reg, buffer, cell, offset } => {
                format!(
                    "{} = load {}[{}]",
                    self.reg(*reg),
                    self.buffer(*buffer),
                    self.at(*cell, *offset)
                )
            }
            Stmt::Store { buffer, cell, offset, values } => {
                format!(
                    "store {}[{}] = {}",
                    self.buffer(*buffer),
                    self.at(*cell, *offset),
                    self.operands(values)
                )
            }
            Stmt::LoadShared { regs, array, base, offset } => {
                let regs: Vec<String> = regs.iter().map(|r| self.reg(*r)).collect();
                let index = shifted(self.int(*base), *offset);
                format!("{} = {}[{index}]", regs.join(", "), self.array(*array))
            }
            Stmt::StoreShared { array, base, offset, values } => {
                let index = shifted(self.int(*base), *offset);
                format!("store {}[{index}] = {}", self.array(*array), self.operands(values))
            }
            Stmt::Copy { array, to, buffer, from } => format!(
                "copy {}[{}] <- {}{}",
                self.array(*array),
                self.index(to),
                self.buffer(*buffer),
                self.place(from)
            ),
            Stmt::CopyBox { array, to, buffers, from, extent: [x, y, z], barrier, slot } => {
                let buffers: Vec<String> = buffers.iter().map(|b| self.buffer(*b)).collect();
                format!(
                    "copy box {}[{}] <- {}{} by ({x}, {y}, {z}) to {}",
                    self.array(*array),
                    self.index(to),
                    buffers.join(", "),
                    self.place(from),
                    self.barrier(*barrier, slot)
                )
            }
            _ => String::new(),
        }
    }

    fn operands(&self, operands: &[Operand]) -> String {
        let texts: Vec<String> = operands.iter().map(|v| self.operand(*v)).collect();
        texts.join(", ")
    }

    fn operation(&self, op: Op, args: &[Operand]) -> String {
        let texts: Vec<String> = args.iter().map(|a| self.operand(*a)).collect();
        if matches!(op, Op::Neg | Op::Add | Op::Sub | Op::Mul | Op::Div) && args.len() == op.arity()
        {
            op.c(&texts, "")
        } else {
            format!("{}({})", op.name(), texts.join(", "))
        }
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Uniform(at) => self.name(&self.kernel.uniforms, at),
            Operand::Lit(lit) => literal(lit),
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        let relation = match condition.relation {
            Relation::Less => "<",
            Relation::GreaterEqual => ">=",
        };
        format!("{} {relation} {}", self.index(&condition.left), self.index(&condition.right))
    }

    fn at(&self, cell: CellVar, offset: [i32; 3]) -> String {
        let name = self.name(&self.kernel.cells, cell.0);
        let [x, y, z] = offset;
        if offset == [0; 3] { name } else { format!("{name} + ({x}, {y}, {z})") }
    }

    fn place(&self, at: &[Index; 3]) -> String {
        format!("({}, {}, {})", self.index(&at[0]), self.index(&at[1]), self.index(&at[2]))
    }

    fn index(&self, index: &Index) -> String {
        self.index_at(index, SUM)
    }

    fn index_at(&self, index: &Index, level: u8) -> String {
        let axis = |axis: &usize| AXES.get(*axis).copied().unwrap_or("?");
        let (own, text) = match index {
            Index::Const(value) => (PRIMARY, value.to_string()),
            Index::Var(var) => (PRIMARY, self.int(*var)),
            Index::Block(a) => (PRIMARY, format!("block.{}", axis(a))),
            Index::Thread(a) => (PRIMARY, format!("thread.{}", axis(a))),
            Index::Size(a) => (PRIMARY, format!("size.{}", axis(a))),
            Index::Add(a, b) => {
                (SUM, format!("{} + {}", self.index_at(a, SUM), self.index_at(b, PRODUCT)))
            }
            Index::Sub(a, b) => {
                (SUM, format!("{} - {}", self.index_at(a, SUM), self.index_at(b, PRODUCT)))
            }
            Index::Mul(a, by) => (PRODUCT, format!("{} * {by}", self.index_at(a, PRODUCT))),
            Index::Div(a, by) => (PRODUCT, format!("{} / {by}", self.index_at(a, PRODUCT))),
            Index::Rem(a, by) => (PRODUCT, format!("{} % {by}", self.index_at(a, PRODUCT))),
            Index::Min(a, b) => (PRIMARY, format!("min({}, {})", self.index(a), self.index(b))),
            Index::Wrap(a, along) => {
                (PRIMARY, format!("wrap({}, size.{})", self.index(a), axis(along)))
            }
            Index::Numbered(a, along) => {
                (PRIMARY, format!("numbered({}, size.{})", self.index(a), axis(along)))
            }
        };
        if own < level { format!("({text})") } else { text }
    }
}

fn shifted(base: impl Display, offset: i32) -> String {
    match offset {
        0 => base.to_string(),
        1.. => format!("{base} + {offset}"),
        _ => format!("{base} - {}", i64::from(offset).abs()),
    }
}

fn literal(lit: Lit) -> String {
    let value = lit.value();
    if value.is_nan() {
        "lit(nan)".into()
    } else if value.is_infinite() || value.is_sign_negative() {
        format!("lit({value:?})")
    } else {
        format!("{value:?}")
    }
}
