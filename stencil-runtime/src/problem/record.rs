//! The settings of its problem in a saved state: those that further steps depend on.

use std::path::{Path, PathBuf};

use super::write::{kind_line, number, numbers, quoted};
use super::{FaceKind, Problem};
use crate::io::{Npz, NpzError};
use crate::simulation::differences;
use crate::{Error, Frames, Number, Simulation};

/// The entry of a state.
const ENTRY: &str = "settings";

impl Problem {
    /// Writes the state of a simulation of this problem, as [`Simulation::save_npz`] does, with the
    /// settings that its further steps depend on in the entry `settings`.
    ///
    /// # Errors
    /// See [`Simulation::save_npz`].
    pub fn save_npz<T: Number>(
        &self,
        simulation: &Simulation<T>,
        path: impl AsRef<Path>,
    ) -> Result<(), Error> {
        simulation.save_with(path.as_ref(), &[(ENTRY, self.settings())])
    }

    /// Hands a frame over to the thread that writes it, as [`Simulation::write_frame`] does; in `.npz` a state has the entry
    /// `settings`, too.
    ///
    /// # Errors
    /// See [`Simulation::write_frame`].
    pub fn write_frame<T: Number>(
        &self,
        simulation: &Simulation<T>,
        frames: &mut Frames,
    ) -> Result<Vec<PathBuf>, Error> {
        simulation.write_frame(frames, &[(ENTRY, self.settings())])
    }

    /// Compares this problem with the run that wrote a state. Returns the settings that differ, a line each:
    /// `params.nu: 0.1 in the file, 0.2 now`. `None` if the file was not written by [`Problem::save_npz`].
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
    /// let read = |changes| Problem::parse("heat.toml", text, ".", &Library::empty(), changes);
    /// let problem = read(&[])?;
    /// let simulation = problem.builder::<f64>().build()?;
    /// let path = std::env::temp_dir().join(format!("settings-doc-{}.npz", std::process::id()));
    /// problem.save_npz(&simulation, &path)?;
    ///
    /// let other = read(&[Change::set("params.k=2"), Change::set("time.steps=9")])?;
    /// let changed = other.changed_since(&simulation, &path)?;
    /// assert_eq!(changed.unwrap_or_default(), ["params.k: 1.0 in the file, 2.0 now"]);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub fn changed_since<T: Number>(
        &self,
        simulation: &Simulation<T>,
        path: impl AsRef<Path>,
    ) -> Result<Option<Vec<String>>, Error> {
        let mut file = Npz::open(path.as_ref())?;
        match file.text(&simulation.entry(ENTRY)) {
            Ok(was) => Ok(Some(differences(&was, &self.settings()))),
            Err(NpzError::Missing { .. }) => Ok(None),
            Err(other) => Err(other.into()),
        }
    }

    /// Returns the settings that the steps depend on, a line `section.key = value` each. System, scheme, precision and
    /// cells are not among them: a state with others is refused.
    pub(super) fn settings(&self) -> String {
        let axes = self.system.model().dimension;
        let mut lines = vec![
            format!("mesh.extent = {}", numbers(&self.mesh.extent[..axes])),
            format!("mesh.origin = {}", numbers(&self.mesh.origin[..axes])),
            format!("mesh.centered = {}", self.mesh.centered),
        ];
        for face in &self.boundary {
            lines.push(boundary_line(face));
        }
        let params = self.params.iter();
        lines.extend(params.map(|(name, value)| format!("params.{name} = {}", number(*value))));
        let lets = self.lets_in_use().into_iter();
        lines.extend(lets.map(|(name, text)| format!("let.{name} = {}", quoted(text))));
        let sources = self.sources.iter();
        lines.extend(sources.map(|(name, value)| format!("source.{name} = {}", value.to_toml())));
        lines.push(format!("time.dt = {}", self.time.dt.to_toml()));
        lines.join("\n")
    }

    /// Returns the named expressions that boundaries and sources use.
    fn lets_in_use(&self) -> Vec<(&str, &str)> {
        let sources = self.sources.values().map(|value| value.text().to_string());
        let mut texts: Vec<String> = self.boundary.iter().map(boundary_line).collect();
        texts.extend(sources);
        let mut used = Vec::new();
        // Each uses only those above it.
        for (name, text) in self.lets.iter().rev() {
            if texts.iter().any(|text| has_word(text, name)) {
                texts.push(text.clone());
                used.push((name.as_str(), text.as_str()));
            }
        }
        used.reverse();
        used
    }
}

/// Writes `boundary.y.hi.u_x = { dirichlet = 0.0 }`.
fn boundary_line(of: &FaceKind) -> String {
    let kind = kind_line(&of.kind);
    match &of.component {
        None => format!("boundary.{} = {{ {kind} }}", of.face),
        Some(component) => format!("boundary.{}.{component} = {{ {kind} }}", of.face),
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|w| w == word)
}
