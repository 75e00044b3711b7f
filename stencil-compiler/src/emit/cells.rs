//! The cells of a kernel over rows as statements of a language: those of one cell, or of a register of cells.

use super::infix::{self, LOWEST, PRIMARY, Spelling};
use super::names::{Names, Scope};
use super::nest::{Nested, nest};
use super::rows::{Places, RowAccess, RowInput, Shift};
use super::{EmitError, comment_lines, get};
use crate::expr::Op;
use crate::kernel::{BufferId, Kernel, Operand, Stmt};

/// The spellings of a language.
pub(super) trait Language {
    /// Words that cannot be names.
    fn keywords(&self) -> &'static [&'static str];
    /// Names that the text uses itself.
    fn reserved(&self) -> &'static [&'static str];
    /// A literal, and how tightly its text binds.
    fn literal(&self, value: f64) -> Result<(u8, String), EmitError>;
    /// An operation over texts of its arguments.
    fn op(&self, op: Op, args: &[String]) -> String;
    /// The least precedence of argument `i` of a call.
    fn argument(&self, i: usize) -> u8;
    /// The statement that gives a value a name.
    fn named(&self, name: &str, value: &str) -> String;
    /// The value of a row that is only read, `x` cells further along.
    fn load(&self, input: usize, x: i64) -> String;
    /// The old value of a row that is written.
    fn old(&self, output: usize) -> String;
    /// Are notes of the kernel comments of the text?
    fn has_notes(&self) -> bool;
}

/// The text of the cells of one kernel.
pub(super) struct Cells<'a> {
    kernel: &'a Kernel,
    access: &'a RowAccess,
    language: &'a dyn Language,
    names: Names,
    /// Names of the uniforms as locals.
    pub(super) uniforms: Vec<String>,
    /// For each output the name of its new value, and whether it has one already.
    outputs: Vec<(String, bool)>,
}

impl Spelling for Cells<'_> {
    fn operand(&self, operand: Operand) -> Result<(u8, String), EmitError> {
        Ok(match operand {
            Operand::Reg(reg) => (PRIMARY, get(&self.names.registers, reg.0, "register")?.clone()),
            Operand::Uniform(at) => (PRIMARY, get(&self.uniforms, at, "uniform")?.clone()),
            Operand::Lit(lit) => self.language.literal(lit.value())?,
        })
    }
    fn op(&self, op: Op, args: &[String]) -> String {
        self.language.op(op, args)
    }
    fn argument(&self, i: usize) -> u8 {
        self.language.argument(i)
    }
    fn select(&self) -> u8 {
        PRIMARY
    }
}

/// A name that no item around a system has: `let H = ..` beside a constant `H` would compare with it. Nor is it a macro
/// that a compiler of C defines, such as `linux`.
fn local(name: &str) -> String {
    match name.ends_with("_v") {
        true => name.to_string(),
        false => format!("{name}_v"),
    }
}

impl<'a> Cells<'a> {
    pub(super) fn new(
        kernel: &'a Kernel,
        access: &'a RowAccess,
        language: &'a dyn Language,
    ) -> Result<Self, EmitError> {
        let (keywords, reserved) = (language.keywords(), language.reserved());
        let mut names = Names::new(kernel, keywords, reserved)?;
        let mut scope = Scope::new(&[keywords, reserved]);
        scope.names("buffer", &names.buffers)?;
        let registers: Vec<String> = names.registers.iter().map(|name| local(name)).collect();
        names.registers = scope.names("register", &registers)?;
        let uniforms: Vec<String> = kernel.uniforms.iter().map(|name| local(name)).collect();
        let uniforms = scope.names("uniform", &uniforms)?;
        let mut outputs = Vec::new();
        for buffer in &access.outputs {
            let name = format!("{}_result", names.buffers[*buffer]);
            outputs.push((scope.name("buffer", &name)?, false));
        }
        Ok(Cells { kernel, access, language, names, uniforms, outputs })
    }

    /// The statements, each with the indent before it.
    pub(super) fn body(&mut self, indent: &str) -> Result<String, EmitError> {
        let mut places = Places::new(self.kernel);
        let mut out = String::new();
        for statement in nest(self.kernel) {
            let line = match statement {
                Nested::Value { reg, value } => {
                    let name = get(&self.names.registers, reg.0, "register")?;
                    self.language.named(name, &infix::print(&value, LOWEST, self)?)
                }
                Nested::Store { buffer, values, .. } => {
                    let [value] = &values[..] else {
                        return Err(EmitError::Arity {
                            what: "a store in a row",
                            found: values.len(),
                        });
                    };
                    let value = infix::print(value, LOWEST, self)?;
                    let at = self.output(buffer)?;
                    self.outputs[at].1 = true;
                    self.language.named(&self.outputs[at].0, &value)
                }
                Nested::Plain(Stmt::Load { reg, buffer, cell, offset }) => {
                    let from = self.load(*buffer, places.shift(*cell, *offset)?)?;
                    let name = get(&self.names.registers, reg.0, "register")?;
                    self.language.named(name, &from)
                }
                Nested::Plain(Stmt::Note(note)) => {
                    if self.language.has_notes() {
                        comment_lines(note).for_each(|line| out += &format!("{indent}// {line}\n"));
                    }
                    continue;
                }
                Nested::Plain(stmt) | Nested::Block(stmt, _) => {
                    places.follow(stmt)?;
                    continue;
                }
            };
            out += &format!("{indent}{line}\n");
        }
        Ok(out)
    }

    /// The new value of each output, if the kernel gives it one.
    pub(super) fn results(&self) -> impl Iterator<Item = Option<&str>> {
        self.outputs.iter().map(|(name, is_written)| is_written.then_some(name.as_str()))
    }

    fn output(&self, buffer: BufferId) -> Result<usize, EmitError> {
        let at = self.access.outputs.iter().position(|output| *output == buffer.0 as usize);
        at.ok_or(EmitError::Unknown { what: "output", id: buffer.0 as usize })
    }

    fn load(&self, buffer: BufferId, shift: Shift) -> Result<String, EmitError> {
        if let Ok(output) = self.output(buffer) {
            return Ok(self.language.old(output));
        }
        let row = |input: &RowInput| {
            (input.buffer, i64::from(input.dy), i64::from(input.dz))
                == (buffer.0 as usize, shift[1], shift[2])
        };
        let input = self.access.inputs.iter().position(row);
        let input =
            input.ok_or(EmitError::Unknown { what: "row of buffer", id: buffer.0 as usize })?;
        Ok(self.language.load(input, shift[0]))
    }
}
