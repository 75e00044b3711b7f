//! Kernels over rows as Rust, generic over the value type: the program of the host's processor.
//!
//! A row is computed in chunks. Results go to arrays of the function first: no slice can alias
//! them, so the loop over a chunk becomes vector code without run-time checks.

use std::collections::BTreeMap;

use super::infix::{self, LOWEST, PRIMARY, Spelling};
use super::names::{Names, Scope};
use super::nest::{Nested, nest};
use super::rows::{Places, RowAccess, RowInput, Shift, row_access};
use super::{EmitError, comment_lines, get};
use crate::expr::Op;
use crate::kernel::{BufferId, CellVar, Kernel, Operand, Stmt};

const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Names that the text uses itself.
const RESERVED: &[&str] = &[
    "T", "CHUNK", "n", "c", "x", "input", "output", "start", "width", "usize", "u32", "u64",
];

/// Kernels over rows as the items of a Rust module.
///
/// For kernel i there is `fn kernel_i<T>(n, c, input, output)`, which computes one row of `n`
/// cells from the uniforms `c`, and the tables `NAME_i`, `BUFFERS_i`, `UNIFORMS_i`, `INPUTS_i` and
/// `OUTPUTS_i`, which say what `c`, `input` and `output` hold (see [`row_access`]).
///
/// # Errors
/// Where a kernel is not over rows, a name is no identifier, a literal is not finite or a position
/// is not at a constant distance from the own cell.
pub fn rust(kernels: &[&Kernel]) -> Result<String, EmitError> {
    let mut out = "/// Cells that are computed before their results are written.\nconst CHUNK: usize = 128;\n".to_string();
    for (i, kernel) in kernels.iter().enumerate() {
        let access = row_access(kernel)?;
        out.push('\n');
        tables(&mut out, i, kernel, &access);
        function(&mut out, i, kernel, &access)?;
    }
    Ok(out)
}

fn tables(out: &mut String, i: usize, kernel: &Kernel, access: &RowAccess) {
    let buffers: Vec<&String> = kernel.buffers.iter().map(|buffer| &buffer.name).collect();
    let (inputs, outputs) = (&access.inputs, &access.outputs);
    *out += &format!(
        "/// Name of kernel {i}.\npub const NAME_{i}: &str = {:?};\n",
        kernel.name
    );
    *out += &format!(
        "/// Names of its buffers.\npub const BUFFERS_{i}: [&str; {}] = {buffers:?};\n",
        buffers.len()
    );
    let uniforms = &kernel.uniforms;
    *out += &format!(
        "/// Names of its uniforms.\npub const UNIFORMS_{i}: [&str; {}] = {uniforms:?};\n",
        uniforms.len()
    );
    *out += &format!(
        "/// Rows that it reads.\npub const INPUTS_{i}: [::stencil_runtime::RowInput; {}] = [\n",
        inputs.len()
    );
    for RowInput {
        buffer,
        dy,
        dz,
        x_lo,
        x_hi,
    } in inputs
    {
        *out += &format!(
            "    ::stencil_runtime::RowInput {{ buffer: {buffer}, dy: {dy}, dz: {dz}, x_lo: {x_lo}, x_hi: {x_hi} }},\n"
        );
    }
    *out += &format!(
        "];\n/// Buffers that it writes.\npub const OUTPUTS_{i}: [usize; {}] = {outputs:?};\n",
        outputs.len()
    );
}

fn function(
    out: &mut String,
    i: usize,
    kernel: &Kernel,
    access: &RowAccess,
) -> Result<(), EmitError> {
    let mut row = Row::new(kernel, access)?;
    let body = row.body()?;
    for note in &kernel.notes {
        comment_lines(note).for_each(|line| *out += &format!("/// {line}\n"));
    }
    *out += "#[allow(clippy::all, clippy::pedantic, unused_variables, reason = \"generated\")]\n#[inline(always)]\n";
    *out += &format!(
        "fn kernel_{i}<T: ::stencil_runtime::Real>(\n    n: usize,\n    c: &[T; {}],\n    input: &[&[T]; {}],\n    output: &mut [&mut [T]; {}],\n) {{\n",
        kernel.uniforms.len(),
        access.inputs.len(),
        access.outputs.len()
    );
    row.chunk(out, &body);
    Ok(())
}

/// The text of one function.
struct Row<'a> {
    kernel: &'a Kernel,
    access: &'a RowAccess,
    names: Names,
    scope: Scope,
    /// Names of the uniforms as locals.
    uniforms: Vec<String>,
    /// For each output its slice, the array that collects a chunk, and that array's part in use.
    outputs: Vec<[String; 3]>,
    /// For each input the row of a chunk with its margins.
    inputs: Vec<String>,
    /// For each read of a row the slice of a chunk: input, start in it, name.
    reads: Vec<(usize, i64, String)>,
    /// Reads of outputs: output and name of the slice.
    own: BTreeMap<usize, String>,
}

impl Spelling for Row<'_> {
    fn operand(&self, operand: Operand) -> Result<(u8, String), EmitError> {
        Ok(match operand {
            Operand::Reg(reg) => (
                PRIMARY,
                get(&self.names.registers, reg.0, "register")?.clone(),
            ),
            Operand::Uniform(at) => (PRIMARY, get(&self.uniforms, at, "uniform")?.clone()),
            Operand::Lit(lit) if !lit.value().is_finite() => {
                return Err(EmitError::Literal(lit.value()));
            }
            Operand::Lit(lit) => (PRIMARY, format!("T::from_f64({:e}f64)", lit.value())),
        })
    }
    fn op(&self, op: Op, args: &[String]) -> String {
        op.rust(args)
    }
    fn argument(&self, i: usize) -> u8 {
        // The first one is what the method is called on.
        if i == 0 { PRIMARY } else { LOWEST }
    }
    fn select(&self) -> u8 {
        LOWEST
    }
}

impl<'a> Row<'a> {
    fn new(kernel: &'a Kernel, access: &'a RowAccess) -> Result<Self, EmitError> {
        let names = Names::new(kernel, KEYWORDS, RESERVED)?;
        let mut scope = Scope::new(&[KEYWORDS, RESERVED]);
        for list in [&names.buffers, &names.registers] {
            scope.names("register", list)?;
        }
        let uniforms = scope.names("uniform", &kernel.uniforms)?;
        let mut outputs = Vec::new();
        for buffer in &access.outputs {
            let name = &names.buffers[*buffer];
            let part = scope.name("buffer", &format!("{name}_part"))?;
            outputs.push([
                name.clone(),
                part,
                scope.name("buffer", &format!("{name}_new"))?,
            ]);
        }
        let mut inputs = Vec::new();
        for RowInput { buffer, dy, dz, .. } in &access.inputs {
            let name = format!(
                "{}{}_row",
                names.buffers[*buffer],
                suffix([0, i64::from(*dy), i64::from(*dz)])
            );
            inputs.push(scope.name("buffer", &name)?);
        }
        Ok(Row {
            kernel,
            access,
            names,
            scope,
            uniforms,
            outputs,
            inputs,
            reads: Vec::new(),
            own: BTreeMap::new(),
        })
    }

    /// The statements of one cell; takes note of the slices that they read.
    fn body(&mut self) -> Result<String, EmitError> {
        let mut places = Places::new(self.kernel);
        let mut out = String::new();
        for statement in nest(self.kernel) {
            let line = match statement {
                Nested::Value { reg, value } => {
                    let name = get(&self.names.registers, reg.0, "register")?;
                    format!("let {name} = {};", infix::print(&value, LOWEST, self)?)
                }
                Nested::Store { buffer, value, .. } => {
                    let [_, _, new] = &self.outputs[self.output(buffer)?];
                    format!("{new}[x] = {};", infix::print(&value, LOWEST, self)?)
                }
                Nested::Plain(Stmt::Load {
                    reg,
                    buffer,
                    cell,
                    offset,
                }) => {
                    let slice = self.slice(*buffer, self.shift(&places, *cell, *offset)?)?;
                    format!(
                        "let {} = {slice}[x];",
                        get(&self.names.registers, reg.0, "register")?
                    )
                }
                Nested::Plain(Stmt::Note(note)) => {
                    comment_lines(note).for_each(|line| out += &format!("            // {line}\n"));
                    continue;
                }
                Nested::Plain(stmt) | Nested::Block(stmt, _) => {
                    places.follow(stmt)?;
                    continue;
                }
            };
            out += &format!("            {line}\n");
        }
        Ok(out)
    }

    fn shift(
        &self,
        places: &Places<'_>,
        cell: CellVar,
        offset: [i32; 3],
    ) -> Result<Shift, EmitError> {
        places.shift(cell, offset)
    }

    fn output(&self, buffer: BufferId) -> Result<usize, EmitError> {
        let at = self
            .access
            .outputs
            .iter()
            .position(|output| *output == buffer.0 as usize);
        at.ok_or(EmitError::Unknown {
            what: "output",
            id: buffer.0 as usize,
        })
    }

    /// The name of the slice that a load reads.
    fn slice(&mut self, buffer: BufferId, shift: Shift) -> Result<String, EmitError> {
        let base = get(&self.names.buffers, buffer.0, "buffer")?.clone();
        if let Ok(output) = self.output(buffer) {
            if let Some(name) = self.own.get(&output) {
                return Ok(name.clone());
            }
            let name = self.scope.name("buffer", &format!("{base}_old"))?;
            self.own.insert(output, name.clone());
            return Ok(name);
        }
        let row = |input: &RowInput| {
            (input.buffer, i64::from(input.dy), i64::from(input.dz))
                == (buffer.0 as usize, shift[1], shift[2])
        };
        let input = self.access.inputs.iter().position(row);
        let input = input.ok_or(EmitError::Unknown {
            what: "row of buffer",
            id: buffer.0 as usize,
        })?;
        let start = self.access.inputs[input].x_lo as i64 + shift[0];
        if let Some((_, _, name)) = self
            .reads
            .iter()
            .find(|(i, at, _)| (*i, *at) == (input, start))
        {
            return Ok(name.clone());
        }
        let name = self
            .scope
            .name("buffer", &format!("{base}_at{}", suffix(shift)))?;
        self.reads.push((input, start, name.clone()));
        Ok(name)
    }

    /// The loop over chunks around the statements of a cell.
    fn chunk(&self, out: &mut String, body: &str) {
        let outputs: Vec<&str> = self
            .outputs
            .iter()
            .map(|[name, ..]| name.as_str())
            .collect();
        *out += &format!(
            "    let [{}] = *c;\n    let [{}] = output;\n",
            self.uniforms.join(", "),
            outputs.join(", ")
        );
        for [_, part, _] in &self.outputs {
            *out += &format!("    let mut {part} = [T::ZERO; CHUNK];\n");
        }
        *out += "    let mut start = 0;\n    while start < n {\n        let width = usize::min(CHUNK, n - start);\n";
        for (i, (name, RowInput { x_lo, x_hi, .. })) in
            self.inputs.iter().zip(&self.access.inputs).enumerate()
        {
            let rim = if x_lo + x_hi > 0 {
                format!(" + {}", x_lo + x_hi)
            } else {
                String::new()
            };
            *out += &format!("        let {name} = &input[{i}][start..][..width{rim}];\n");
        }
        for (input, start, name) in &self.reads {
            *out += &format!(
                "        let {name} = &{}[{start}..][..width];\n",
                self.inputs[*input]
            );
        }
        for (output, name) in &self.own {
            *out += &format!(
                "        let {name} = &{}[start..][..width];\n",
                self.outputs[*output][0]
            );
        }
        for [_, part, new] in &self.outputs {
            *out += &format!("        let {new} = &mut {part}[..width];\n");
        }
        *out += &format!("        for x in 0..width {{\n{body}        }}\n");
        for [name, _, new] in &self.outputs {
            *out += &format!("        {name}[start..][..width].copy_from_slice({new});\n");
        }
        *out += "        start += width;\n    }\n}\n";
    }
}

/// A shift as part of a name: `_xm1_yp2` is one cell back along x, two on along y.
fn suffix(shift: Shift) -> String {
    let mut out = String::new();
    for (by, axis) in shift.into_iter().zip(["x", "y", "z"]) {
        match by {
            0 => {}
            by if by < 0 => out += &format!("_{axis}m{}", by.unsigned_abs()),
            by => out += &format!("_{axis}p{by}"),
        }
    }
    out
}
