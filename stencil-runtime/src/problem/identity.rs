//! The name of a run, which its files carry: a number for everything that its bits follow from.

use std::io::{self, Read};
use std::path::Path;

use stencil_compiler::expr::real::Precision;
use stencil_compiler::hash::fnv1a;
use stencil_compiler::model::{Formulation, text};
use stencil_compiler::stability::Axes;

use super::Problem;
use super::write::{number, quoted};
use crate::Error;
use crate::io::{NpzError, open_regular};

impl Problem {
    /// Returns the name of runs of this problem: 16 hexadecimal digits that follow from the system, its scheme, the
    /// precision, the mesh, the initial values and all settings that steps depend on. The end of the run, its output and
    /// its devices are not among them, so runs of one name have the same bits at the same step.
    ///
    /// ```
    /// use stencil_runtime::problem::{Change, Library, Problem};
    ///
    /// let text = "
    /// system = 'pub system Heat in 1d { field q: scalar; param k: real = 1; ddt(q) = k * lap(q); }'
    /// mesh.cells = 8
    /// init.q = 'x'
    /// time = { dt = 1e-3, steps = 1 }
    /// ";
    /// let name = |changes: &[Change]| -> Result<String, stencil_runtime::Error> {
    ///     Problem::parse("heat.toml", text, ".", &Library::empty(), changes)?.run_id()
    /// };
    /// assert_eq!(name(&[])?, name(&[Change::set("time.steps=9")])?);
    /// assert_ne!(name(&[])?, name(&[Change::set("params.k=2")])?);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the file of initial values cannot be read.
    pub fn run_id(&self) -> Result<String, Error> {
        let mut model = self.system.model().by(Formulation::default());
        model.others.clear();
        let axes = self.system.model().dimension;
        let precision = match self.precision {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        };
        let mut lines = vec![
            text::print(&model),
            self.system.algorithm().scheme.clone(),
            precision.to_string(),
            format!("mesh.cells = {:?}", &self.mesh.cells[..axes]),
            self.settings(),
            format!("time.cfl_limit = {:?}", self.time.cfl_limit),
            format!("time.cfl_axes = {}", self.time.cfl_axes == Axes::Max),
        ];
        for (name, value) in &self.initial.values {
            lines.push(format!("init.{name} = {}", value.to_toml()));
        }
        for (name, curl) in self.initial.curls() {
            lines.push(format!("init.{name} = {curl}"));
        }
        lines.extend(self.lets.iter().map(|(name, text)| format!("let.{name} = {}", quoted(text))));
        for field in &self.random {
            lines.push(format!("random.{} = {}", field.name, field.to_toml()));
        }
        let params = self.params.iter();
        lines.extend(params.map(|(name, value)| format!("params.{name} = {}", number(*value))));
        if let Some(path) = self.initial_file() {
            let contents = contents(path).map_err(|source| NpzError::Io {
                path: path.to_path_buf(),
                action: "read",
                source,
            })?;
            lines.push(format!("init.file = {contents}"));
        }
        Ok(name_of(&lines))
    }
}

/// Returns the name of a run that goes on from the state of another one, by other settings.
pub fn branched(own: &str, from: Option<&str>, step: u64) -> String {
    name_of(&[own.to_string(), from.unwrap_or_default().to_string(), step.to_string()])
}

fn name_of(parts: &[String]) -> String {
    format!("{:016x}", fnv1a(parts.join("\n").as_bytes()))
}

/// Returns the number of bytes of a file, and their checksum.
fn contents(path: &Path) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let (mut buffer, mut bytes, mut sum) = (vec![0; 1 << 18], 0, crc32fast::Hasher::new());
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{bytes} {:08x}", sum.finalize())),
            count => {
                sum.update(&buffer[..count]);
                bytes += count;
            }
        }
    }
}
