//! Kernels over rows as Rust, generic over the registers: the program of the host's processor.
//!
//! The text has no loop over cells: it computes as many neighbouring cells as a register has lanes. Loops, the
//! ends of rows and the safety of accesses are the runtime's business.

use std::collections::BTreeSet;

use super::cells::{Cells, Language};
use super::infix::{self, LOWEST, PRIMARY};
use super::rows::{RowAccess, RowInput, row_access};
use super::{EmitError, comment_lines, loops};
use crate::expr::{Looped, Op};
use crate::kernel::Kernel;

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
    let mut cells = Cells::new(kernel, access, &Rust)?;
    let body = cells.body("        ")?;
    let results = cells.results().enumerate();
    let results = results.map(|(at, new)| new.map_or_else(|| Rust.old(at), str::to_string));
    let results: Vec<String> = results.collect();
    *out += &format!(
        "    #[allow(clippy::all, clippy::pedantic, unused_parens, unused_variables, reason = \"generated\")]\n    #[inline(always)]\n    fn cells<V: {PROGRAM}::Lanes>(at: {PROGRAM}::Cells<'_, Self, V, {sizes}>) -> [V; {}] {{\n        let [{}] = at.uniforms();\n{body}        [{}]\n    }}\n",
        access.outputs.len(),
        cells.uniforms.join(", "),
        results.join(", "),
    );
    Ok(())
}

/// Rust over registers.
struct Rust;

impl Language for Rust {
    fn keywords(&self) -> &'static [&'static str] {
        KEYWORDS
    }
    fn reserved(&self) -> &'static [&'static str] {
        RESERVED
    }
    fn literal(&self, value: f64) -> Result<(u8, String), EmitError> {
        match value.is_finite() {
            true => Ok((PRIMARY, format!("at.literal({value:e}f64)"))),
            false => Err(EmitError::Literal(value)),
        }
    }
    fn op(&self, op: Op, args: &[String]) -> String {
        selecting(op, args)
    }
    fn argument(&self, i: usize) -> u8 {
        // The method is called on the first one.
        if i == 0 { PRIMARY } else { LOWEST }
    }
    fn named(&self, name: &str, value: &str) -> String {
        format!("let {name} = {value};")
    }
    fn load(&self, input: usize, x: i64) -> String {
        format!("at.load({input}, {x})")
    }
    fn old(&self, output: usize) -> String {
        format!("at.old({output})")
    }
    fn has_notes(&self) -> bool {
        true
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
