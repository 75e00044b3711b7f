//! Kernels over rows as Rust, generic over the registers: the program of the host's processor.
//!
//! The text has no loop over cells: it computes as many neighbouring cells as a register has lanes. Loops, the
//! ends of rows and the safety of accesses are the runtime's business.

use std::collections::BTreeSet;

use super::infix::{self, LOWEST, PRIMARY, Spelling};
use super::names::{Names, Scope};
use super::nest::{Nested, nest};
use super::rows::{Places, RowAccess, RowInput, Shift, row_access};
use super::{EmitError, comment_lines, get, loops};
use crate::expr::{Looped, Op};
use crate::kernel::{BufferId, Kernel, Operand, Stmt};

pub(super) const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Names that the text uses itself.
const RESERVED: &[&str] = &["V", "at", "f64", "usize"];
/// The module of the types that the text uses.
const PROGRAM: &str = "::stencil_runtime::program";

/// Kernels over rows as the items of a Rust module.
///
/// For kernel i there is a type `Kernel{i}`, a `RowKernel`: its tables list the rows that the kernel reads and writes
/// (see [`row_access`]), its function computes neighbouring cells. `KERNELS` lists them all.
///
/// # Errors
/// If a kernel is not over rows, a name is not an identifier, a literal is not finite or a position is not at a
/// constant distance from the own cell.
pub fn rust(kernels: &[&Kernel]) -> Result<String, EmitError> {
    let mut out = String::new();
    let loops: BTreeSet<Looped> =
        kernels.iter().flat_map(|kernel| kernel.defined().loops).collect();
    for looped in loops {
        out += &loops::rust(looped, &format!("{PROGRAM}::Lanes"));
    }
    let mut list = String::new();
    for (i, kernel) in kernels.iter().enumerate() {
        let access = row_access(kernel)?;
        let sizes =
            format!("{}, {}, {}", kernel.uniforms.len(), access.inputs.len(), access.outputs.len());
        for note in &kernel.notes {
            comment_lines(note).for_each(|line| out += &format!("/// {line}\n"));
        }
        out +=
            &format!("struct Kernel{i};\n\nimpl {PROGRAM}::RowKernel<{sizes}> for Kernel{i} {{\n");
        tables(&mut out, kernel, &access);
        function(&mut out, kernel, &access, &sizes)?;
        out += "}\n\n";
        list += &format!("    {PROGRAM}::CompiledKernel::of::<Kernel{i}, {sizes}>(),\n");
    }
    // A static, not a constant: its functions are compiled in one crate only.
    out += &format!(
        "/// One kernel for each launch.\nstatic KERNELS: [{PROGRAM}::CompiledKernel; {}] = [\n{list}];\n",
        kernels.len()
    );
    Ok(out)
}

fn tables(out: &mut String, kernel: &Kernel, access: &RowAccess) {
    let buffers: Vec<&String> = kernel.buffers.iter().map(|buffer| &buffer.name).collect();
    *out += &format!(
        "    const TABLES: {PROGRAM}::Tables = {PROGRAM}::Tables {{\n        name: {:?},\n        buffers: &{buffers:?},\n        uniforms: &{:?},\n        inputs: &[\n",
        kernel.name, kernel.uniforms
    );
    for (i, RowInput { buffer, dy, dz, x_lo, x_hi }) in access.inputs.iter().enumerate() {
        *out += &format!(
            "            /* {i} */ ::stencil_runtime::RowInput {{ buffer: {buffer}, dy: {dy}, dz: {dz}, x_lo: {x_lo}, x_hi: {x_hi} }},\n"
        );
    }
    *out += &format!("        ],\n        outputs: &{:?},\n    }};\n\n", access.outputs);
}

fn function(
    out: &mut String,
    kernel: &Kernel,
    access: &RowAccess,
    sizes: &str,
) -> Result<(), EmitError> {
    let mut cells = Cells::new(kernel, access)?;
    let body = cells.body()?;
    *out += &format!(
        "    #[allow(clippy::all, clippy::pedantic, unused_parens, unused_variables, reason = \"generated\")]\n    #[inline(always)]\n    fn cells<V: {PROGRAM}::Lanes>(at: {PROGRAM}::Cells<'_, Self, V, {sizes}>) -> [V; {}] {{\n        let [{}] = at.uniforms();\n{body}        [{}]\n    }}\n",
        access.outputs.len(),
        cells.uniforms.join(", "),
        cells.results()?.join(", "),
    );
    Ok(())
}

/// The text of one function.
struct Cells<'a> {
    kernel: &'a Kernel,
    access: &'a RowAccess,
    names: Names,
    /// Names of the uniforms as locals.
    uniforms: Vec<String>,
    /// For each output the name of its new value, and whether it has one already.
    outputs: Vec<(String, bool)>,
}

impl Spelling for Cells<'_> {
    fn operand(&self, operand: Operand) -> Result<(u8, String), EmitError> {
        Ok(match operand {
            Operand::Reg(reg) => (PRIMARY, get(&self.names.registers, reg.0, "register")?.clone()),
            Operand::Uniform(at) => (PRIMARY, get(&self.uniforms, at, "uniform")?.clone()),
            Operand::Lit(lit) if !lit.value().is_finite() => {
                return Err(EmitError::Literal(lit.value()));
            }
            Operand::Lit(lit) => (PRIMARY, format!("at.literal({:e}f64)", lit.value())),
        })
    }
    fn op(&self, op: Op, args: &[String]) -> String {
        selecting(op, args)
    }
    fn argument(&self, i: usize) -> u8 {
        // The method is called on the first one.
        if i == 0 { PRIMARY } else { LOWEST }
    }
    fn select(&self) -> u8 {
        PRIMARY
    }
}

/// A name that no item around a system has: `let H = ..` beside a constant `H` would compare with it.
fn local(name: &str) -> String {
    match name.ends_with("_v") {
        true => name.to_string(),
        false => format!("{name}_v"),
    }
}

impl<'a> Cells<'a> {
    fn new(kernel: &'a Kernel, access: &'a RowAccess) -> Result<Self, EmitError> {
        let mut names = Names::new(kernel, KEYWORDS, RESERVED)?;
        let mut scope = Scope::new(&[KEYWORDS, RESERVED]);
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
        Ok(Cells { kernel, access, names, uniforms, outputs })
    }

    /// The statements of a cell.
    fn body(&mut self) -> Result<String, EmitError> {
        let mut places = Places::new(self.kernel);
        let mut out = String::new();
        for statement in nest(self.kernel) {
            let line = match statement {
                Nested::Value { reg, value } => {
                    let name = get(&self.names.registers, reg.0, "register")?;
                    format!("let {name} = {};", infix::print(&value, LOWEST, self)?)
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
                    format!("let {} = {value};", self.outputs[at].0)
                }
                Nested::Plain(Stmt::Load { reg, buffer, cell, offset }) => {
                    let from = self.load(*buffer, places.shift(*cell, *offset)?)?;
                    let name = get(&self.names.registers, reg.0, "register")?;
                    format!("let {name} = {from};")
                }
                Nested::Plain(Stmt::Note(note)) => {
                    comment_lines(note).for_each(|line| out += &format!("        // {line}\n"));
                    continue;
                }
                Nested::Plain(stmt) | Nested::Block(stmt, _) => {
                    places.follow(stmt)?;
                    continue;
                }
            };
            out += &format!("        {line}\n");
        }
        Ok(out)
    }

    /// The new values of all outputs.
    fn results(&self) -> Result<Vec<String>, EmitError> {
        let result = |(at, (name, is_written)): (usize, &(String, bool))| match is_written {
            true => name.clone(),
            false => format!("at.old({at})"),
        };
        Ok(self.outputs.iter().enumerate().map(result).collect())
    }

    fn output(&self, buffer: BufferId) -> Result<usize, EmitError> {
        let at = self.access.outputs.iter().position(|output| *output == buffer.0 as usize);
        at.ok_or(EmitError::Unknown { what: "output", id: buffer.0 as usize })
    }

    fn load(&self, buffer: BufferId, shift: Shift) -> Result<String, EmitError> {
        if let Ok(output) = self.output(buffer) {
            return Ok(format!("at.old({output})"));
        }
        let row = |input: &RowInput| {
            (input.buffer, i64::from(input.dy), i64::from(input.dz))
                == (buffer.0 as usize, shift[1], shift[2])
        };
        let input = self.access.inputs.iter().position(row);
        let input =
            input.ok_or(EmitError::Unknown { what: "row of buffer", id: buffer.0 as usize })?;
        Ok(format!("at.load({input}, {})", shift[0]))
    }
}

/// An operation over texts of its arguments; branches on values become selections in Rust, as in lanes.
pub(super) fn selecting(op: Op, args: &[String]) -> String {
    match (op, args) {
        (Op::Min, [a, b]) => format!("{}.smaller({b})", receiver(a)),
        (Op::Max, [a, b]) => format!("{}.larger({b})", receiver(a)),
        (Op::Lt, [a, b, yes, no]) => format!("{}.if_lt({b}, {yes}, {no})", receiver(a)),
        (Op::Le, [a, b, yes, no]) => format!("{}.if_le({b}, {yes}, {no})", receiver(a)),
        (Op::Eq, [a, b, yes, no]) => format!("{}.if_eq({b}, {yes}, {no})", receiver(a)),
        _ => op.rust(args),
    }
}

/// A text that a method can be called on.
fn receiver(text: &str) -> String {
    let is_infix = text.contains(' ') || text.starts_with('-');
    infix::parenthesized(text.to_string(), is_infix)
}
