//! A kernel of thread blocks in a language like C; a [`Dialect`] has the spellings that differ between vendors.

use std::collections::{BTreeMap, BTreeSet};

use super::dialect::{Dialect, Uses, literal, real, suffix};
use super::index::{self, Places};
use super::infix::{self, PRIMARY, SUM, Spelling};
use super::layouts::{self, Cells};
use super::names::Names;
use super::nest::{Nested, Tree, count_assignments, nest};
use super::{EmitError, Patches, Source, comment_lines, functions, get, head, loops};
use crate::expr::real::Precision;
use crate::expr::{Called, Op};
use crate::kernel::{
    BarrierId, CellVar, Condition, Index, IntVar, Kernel, Operand, Relation, Stmt,
};
use crate::schedule::LaunchKind;

/// Names of the indices of the thread.
pub(super) const THREADS: [&str; 3] = ["tx", "ty", "tz"];
/// Names of the indices of the block.
pub(super) const BLOCKS: [&str; 3] = ["bx", "by", "bz"];
const SIZES: [&str; 3] = ["n0", "n1", "n2"];

/// Writes a kernel in a dialect.
pub(super) fn emit(
    kernel: &Kernel,
    precision: Precision,
    patches: Patches,
    dialect: &dyn Dialect,
) -> Result<Source, EmitError> {
    if kernel.launch.kind != LaunchKind::Blocks {
        return Err(EmitError::Launch { kernel: kernel.name.clone() });
    }
    if kernel.value_bytes != precision.bytes() {
        return Err(EmitError::Precision { kernel: kernel.value_bytes, text: precision.bytes() });
    }
    let functions = functions::names(kernel);
    let reserved: Vec<&str> = functions.iter().map(String::as_str).collect();
    let own = head::reserved(patches, layouts::has_any(kernel));
    let names = Names::new(kernel, dialect.keywords(), &[&own[..], &reserved].concat())?;
    let mut printer = Printer::new(kernel, &names, precision, patches, dialect);
    printer.list(&nest(kernel))?;
    let head = printer.head(patches)?;
    let above = head.lines().count();
    let below = |(line, text): (usize, String)| (above + line, text);
    Ok(Source {
        name: kernel.name.clone(),
        text: format!("{head}{}}}\n", printer.text),
        shared_bytes: kernel.shared_bytes(),
        threads: kernel.launch.threads,
        needs: dialect.needs(&printer.uses),
        line_notes: printer.line_notes.into_iter().map(below).collect(),
        line_origins: printer.line_origins.into_iter().map(below).collect(),
    })
}

/// A text in the making.
pub(super) struct Printer<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) names: &'a Names,
    pub(super) precision: Precision,
    pub(super) patches: Patches,
    pub(super) dialect: &'a dyn Dialect,
    pub(super) cells: Cells,
    /// The places of cells along x, in kernels that keep one value of a warp.
    pub(super) along_x: BTreeMap<CellVar, String>,
    text: String,
    line_notes: Vec<(usize, String)>,
    line_origins: Vec<(usize, String)>,
    /// The grid function that the statement at work computes.
    origin: Option<&'a String>,
    lines: usize,
    /// Integer variables declared in each block of statements around this one.
    declared: Vec<BTreeSet<IntVar>>,
    /// The number of statements that define each integer variable.
    assigned: BTreeMap<IntVar, usize>,
    pub(super) uses: Uses,
    pub(super) vectors: usize,
    /// The names of the values of calls in each block of statements around this one, and how many there are.
    called: Vec<BTreeMap<String, String>>,
    calls: usize,
}

impl Places for Printer<'_> {
    fn var(&self, var: IntVar) -> Result<String, EmitError> {
        get(&self.names.ints, var.0, "integer variable").cloned()
    }
    fn block(&self, axis: usize) -> Result<String, EmitError> {
        axis_name(&BLOCKS, axis)
    }
    fn thread(&self, axis: usize) -> Result<String, EmitError> {
        axis_name(&THREADS, axis)
    }
    fn size(&self, axis: usize) -> Result<String, EmitError> {
        axis_name(&SIZES, axis)
    }
    fn kernel(&self) -> &Kernel {
        self.kernel
    }
}

fn axis_name(names: &[&str; 3], axis: usize) -> Result<String, EmitError> {
    names
        .get(axis)
        .map(|name| name.to_string())
        .ok_or(EmitError::Unknown { what: "axis", id: axis })
}

impl Spelling for Printer<'_> {
    fn operand(&self, operand: Operand) -> Result<(u8, String), EmitError> {
        Ok(match operand {
            Operand::Reg(reg) => (PRIMARY, get(&self.names.registers, reg.0, "register")?.clone()),
            Operand::Uniform(at) => {
                (PRIMARY, format!("c.{}", get(&self.names.uniforms, at, "uniform")?))
            }
            Operand::Lit(lit) => literal(lit.value(), self.precision)?,
        })
    }
    fn op(&self, op: Op, args: &[String]) -> String {
        op.c(args, suffix(self.precision))
    }
    fn argument(&self, _: usize) -> u8 {
        SUM
    }
    fn select(&self) -> u8 {
        PRIMARY
    }
}

impl<'a> Printer<'a> {
    fn new(
        kernel: &'a Kernel,
        names: &'a Names,
        precision: Precision,
        patches: Patches,
        dialect: &'a dyn Dialect,
    ) -> Self {
        let (text, line_notes, line_origins) = Default::default();
        let (declared, uses) = (vec![BTreeSet::new()], Uses::default());
        let mut assigned = BTreeMap::new();
        count_assignments(&kernel.body, &mut assigned);
        Printer {
            kernel,
            names,
            precision,
            patches,
            dialect,
            cells: Cells::of(kernel),
            along_x: BTreeMap::new(),
            text,
            line_notes,
            line_origins,
            origin: None,
            lines: 0,
            declared,
            assigned,
            uses,
            vectors: 0,
            called: vec![BTreeMap::new()],
            calls: 0,
        }
    }

    /// The name of the value type.
    pub(super) fn real(&self) -> &'static str {
        real(self.precision)
    }

    pub(super) fn line(&mut self, text: &str) {
        self.text.push_str(&"  ".repeat(self.declared.len()));
        self.text.push_str(text);
        self.text.push('\n');
        self.lines += 1;
        if let Some(origin) = self.origin {
            self.line_origins.push((self.lines, origin.clone()));
        }
    }

    pub(super) fn index(&mut self, index: &Index, level: u8) -> Result<String, EmitError> {
        self.uses.note(index);
        index::print(index, level, self)
    }

    pub(super) fn linear(&mut self, at: &[Index; 3]) -> Result<String, EmitError> {
        at.iter().for_each(|index| self.uses.note(index));
        index::linear(at, self)
    }

    fn list(&mut self, statements: &[Nested<'_>]) -> Result<(), EmitError> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn block(
        &mut self,
        open: &str,
        first: Option<IntVar>,
        body: &[Nested<'_>],
    ) -> Result<(), EmitError> {
        self.line(open);
        self.declared.push(first.into_iter().collect());
        self.called.push(BTreeMap::new());
        self.list(body)?;
        self.called.pop();
        self.declared.pop();
        self.line("}");
        Ok(())
    }

    fn statement(&mut self, statement: &Nested<'_>) -> Result<(), EmitError> {
        let origins = &self.kernel.origins;
        self.origin = statement.register().and_then(|reg| origins.get(&reg));
        let written = self.unmarked(statement);
        self.origin = None;
        written
    }

    fn unmarked(&mut self, statement: &Nested<'_>) -> Result<(), EmitError> {
        match statement {
            Nested::Value { reg, value: Tree::Op(Op::Call(of), args) } => {
                let value = self.called(*of, args)?;
                self.define(reg.0, &value)?;
            }
            Nested::Value { reg, value } => {
                if self.kernel.queues.contains(reg) {
                    // Values of calls that read the queue are old.
                    self.called.iter_mut().for_each(BTreeMap::clear);
                }
                let value = infix::print(value, SUM, self)?;
                self.define(reg.0, &value)?;
            }
            Nested::Store { buffer, cell, offset, values, .. } => {
                self.store(*buffer, (*cell, *offset), values)?;
            }
            Nested::Block(Stmt::For { var, from, to, unroll, .. }, body) => {
                let name = self.var(*var)?;
                let (from, to) = (self.index(from, SUM)?, self.index(to, SUM)?);
                self.line(self.dialect.unroll(*unroll));
                self.block(
                    &format!("for (int {name} = {from}; {name} < {to}; ++{name}) {{"),
                    Some(*var),
                    body,
                )?;
            }
            Nested::Block(Stmt::If { conditions, .. }, body) => {
                let test = self.conditions(conditions)?;
                self.block(&format!("if ({test}) {{"), None, body)?;
            }
            Nested::Block(_, body) => self.list(body)?,
            Nested::Plain(stmt) => self.plain(stmt)?,
        }
        Ok(())
    }

    /// A value of a routine: the routine is called once in a block of statements for all values of the same arguments.
    fn called(&mut self, of: Called, args: &[Tree]) -> Result<String, EmitError> {
        let args: Result<Vec<String>, EmitError> =
            args.iter().map(|arg| infix::print(arg, SUM, self)).collect();
        let call = format!("{}({})", of.get().function(), args?.join(", "));
        let known = self.called.last().and_then(|block| block.get(&call)).cloned();
        let name = match known {
            Some(name) => name,
            None => {
                let name = self.free("values")?;
                self.line(&format!("const {} {name} = {call};", loops::structure(of.get())));
                if let Some(block) = self.called.last_mut() {
                    block.insert(call, name.clone());
                }
                name
            }
        };
        Ok(format!("{name}.v{}", of.value()))
    }

    /// A name that nothing in the kernel has.
    fn free(&mut self, wanted: &str) -> Result<String, EmitError> {
        let names = self.names;
        let lists = [&names.registers, &names.ints, &names.cells, &names.buffers, &names.shared];
        loop {
            self.calls += 1;
            let name = format!("{wanted}_{}", self.calls);
            let taken = lists.iter().any(|list| list.contains(&name));
            if !taken && !names.barriers.contains(&name) {
                return Ok(name);
            }
        }
    }

    fn plain(&mut self, stmt: &Stmt) -> Result<(), EmitError> {
        match stmt {
            Stmt::Note(note) => self.note(note),
            Stmt::Int { var, value } => self.int(*var, value)?,
            Stmt::Cell { cell, at } => self.cell(*cell, at)?,
            Stmt::Load { reg, buffer, cell, offset } => {
                self.load(reg.0, *buffer, (*cell, *offset))?
            }
            Stmt::LoadShared { regs, array, base, offset } => {
                let array = get(&self.names.shared, array.0, "shared array")?;
                let at = index::shifted(&self.var(*base)?, [*offset, 0, 0]);
                self.load_shared(&regs.iter().map(|reg| reg.0).collect::<Vec<_>>(), array, &at)?;
            }
            Stmt::StoreShared { array, base, offset, values } => {
                let name = get(&self.names.shared, array.0, "shared array")?;
                let values: Vec<Tree> = values.iter().copied().map(Tree::Leaf).collect();
                let base = self.var(*base)?;
                self.write(name, &values, |_, n| Ok(index::shifted(&base, [offset + n, 0, 0])))?;
            }
            Stmt::Sync => self.line(self.dialect.sync()),
            other => self.asynchronous(other)?,
        }
        Ok(())
    }

    /// Copies and the waits for them; other statements are not plain.
    fn asynchronous(&mut self, stmt: &Stmt) -> Result<(), EmitError> {
        match stmt {
            Stmt::Copy { array, to, buffer, from } => {
                self.uses.copies = true;
                let array = get(&self.names.shared, array.0, "shared array")?;
                let buffer = get(&self.names.buffers, buffer.0, "buffer")?;
                let (to, from) = (self.index(to, SUM)?, self.linear(from)?);
                self.line(&format!("copy_16(&{array}[{to}], &{buffer}[{from}]);"));
            }
            Stmt::CopyBox { array, to, buffers, from, barrier, slot, .. } => {
                self.uses.boxes = true;
                let array = get(&self.names.shared, array.0, "shared array")?;
                let map = self.names.maps.get(buffers).ok_or(EmitError::Unknown {
                    what: "map of buffer",
                    id: buffers.first().map_or(0, |buffer| buffer.0 as usize),
                })?;
                let (to, barrier) = (self.index(to, SUM)?, self.barrier(*barrier, slot)?);
                let mut at = Vec::new();
                for (axis, from) in from.iter().enumerate() {
                    at.push(match from {
                        Index::Const(0) => format!("first{axis}"),
                        from => format!("{} + first{axis}", self.index(from, SUM)?),
                    });
                }
                if self.patches == Patches::Many {
                    at.push("number".to_string());
                }
                let at = at.join(", ");
                self.line(&format!("copy_box(&{array}[{to}], &{map}, {at}, {barrier});"));
            }
            Stmt::Expect { barrier, slot, bytes, arrives } => {
                let (used, function) = if *arrives {
                    (&mut self.uses.arrive_expecting, "arrive_expecting")
                } else {
                    (&mut self.uses.expect, "expect_bytes")
                };
                *used = true;
                let barrier = self.barrier(*barrier, slot)?;
                self.line(&format!("{function}({barrier}, {bytes});"));
            }
            Stmt::ArriveCopies { barrier, slot } => {
                self.uses.arrive_copies = true;
                let barrier = self.barrier(*barrier, slot)?;
                self.line(&format!("arrive_copies({barrier});"));
            }
            Stmt::Arrive { barrier, slot } => {
                self.uses.arrive = true;
                let barrier = self.barrier(*barrier, slot)?;
                self.line(&format!("arrive({barrier}, leads);"));
            }
            Stmt::Wait { barrier, slot, parity } => {
                self.uses.wait = true;
                let (barrier, parity) = (self.barrier(*barrier, slot)?, self.index(parity, SUM)?);
                self.line(&format!("wait_phase({barrier}, {parity});"));
            }
            _ => {}
        }
        Ok(())
    }

    fn note(&mut self, note: &str) {
        self.line_notes.push((self.lines + 1, note.to_string()));
        comment_lines(note).for_each(|line| self.line(&format!("// {line}")));
    }

    /// Declares an integer variable, or assigns it if it is declared already.
    fn int(&mut self, var: IntVar, value: &Index) -> Result<(), EmitError> {
        let (name, value) = (self.var(var)?, self.index(value, SUM)?);
        if self.declared.iter().any(|scope| scope.contains(&var)) {
            self.line(&format!("{name} = {value};"));
        } else {
            let kind = if self.assigned.get(&var) == Some(&1) { "const int" } else { "int" };
            self.line(&format!("{kind} {name} = {value};"));
            if let Some(scope) = self.declared.last_mut() {
                scope.insert(var);
            }
        }
        Ok(())
    }

    /// Defines a register by a text.
    pub(super) fn define(&mut self, reg: u32, value: &str) -> Result<(), EmitError> {
        let name = get(&self.names.registers, reg, "register")?;
        let queue = self.kernel.queues.iter().any(|queue| queue.0 == reg);
        let kind = if queue { String::new() } else { format!("const {} ", self.real()) };
        self.line(&format!("{kind}{name} = {value};"));
        Ok(())
    }

    fn barrier(&mut self, barrier: BarrierId, slot: &Index) -> Result<String, EmitError> {
        let name = get(&self.names.barriers, barrier.0, "barrier")?;
        Ok(match slot {
            Index::Const(0) => name.clone(),
            slot => format!("{name} + 8 * {}", self.index(slot, PRIMARY)?),
        })
    }

    fn conditions(&mut self, conditions: &[Condition]) -> Result<String, EmitError> {
        let mut tests = Vec::with_capacity(conditions.len());
        for Condition { left, relation, right } in conditions {
            let sign = match relation {
                Relation::Less => "<",
                Relation::GreaterEqual => ">=",
            };
            tests.push(format!("{} {sign} {}", self.index(left, SUM)?, self.index(right, SUM)?));
        }
        Ok(if tests.is_empty() { "true".to_string() } else { tests.join(" && ") })
    }
}
