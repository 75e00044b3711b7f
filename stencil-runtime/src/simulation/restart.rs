//! The state of a run in a file, and back.

use std::collections::BTreeMap;
use std::path::Path;

use ndarray::{ArrayD, ArrayView3, Ix3, arr0};
use stencil_compiler::model::{Formulation, text};

use super::frames::{Cut, Pieces};
use super::values::check_shape;
use super::{Pace, Simulation};
use crate::io::{Npz, NpzError, NpzWriter, Value};
use crate::mesh::Axis;
use crate::{Error, Number};

/// The version of states that this program writes, and the latest that it reads. Files without it are of the first.
const VERSION: u64 = 1;

/// Entries beside the settings.
const VERSION_ENTRY: &str = "state_version";
pub(super) const RUN: &str = "run";

/// The result of [`Simulation::restore`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Restored {
    /// The time of the state.
    pub t: f64,
    /// Number of steps done.
    pub step: u64,
    /// Settings of this run that differ from those of the file, a line each; without any, further steps have the same
    /// bits.
    pub changed: Vec<String>,
}

impl<T: Number> Simulation<T> {
    /// Writes the state to a `.npz`: all components as `[z, y, x]`, the time `t` and the `step`; beside them the
    /// settings of the run: `system`, `scheme`, `params`, `boundaries`, `sources`, `dt`, `cfl` if time steps adapt,
    /// `origin_x`, `spacing_x` and so on; `state_version`, and the [`run`](Self::run_id) if it has a name. A component of
    /// such a name keeps it; the other entry then ends in `_`.
    ///
    /// ```no_run
    /// # fn save(simulation: &stencil_runtime::Simulation<f32>) -> Result<(), stencil_runtime::Error> {
    /// simulation.save_npz("final.npz")?; // numpy.load("final.npz")["u_x"]
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// All [ranks](crate::Builder::ranks) save together, and the first one writes.
    ///
    /// # Errors
    /// If the file cannot be written, or a step has failed and the state before it was not kept.
    pub fn save_npz(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.save_with(path.as_ref(), &[])
    }

    /// Writes as [`save_npz`](Self::save_npz), with more entries, names and texts.
    pub(crate) fn save_with(&self, path: &Path, more: &[(&str, String)]) -> Result<(), Error> {
        if self.lost {
            return Err(Error::Lost);
        }
        let names: Vec<&str> = self.components().collect();
        let Some(mut file) = self.begin_npz(path, &names)? else {
            return Ok(());
        };
        for (name, value) in self.state_entries(more) {
            file.value(&name, &value)?;
        }
        file.finish()?;
        Ok(())
    }

    /// Returns the name of the run, which its files carry: one that [`set_run_id`](Self::set_run_id) gave, that
    /// [`Problem::initialize`](crate::problem::Problem::initialize) derived from the problem, or that of a restored state.
    pub fn run_id(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// Names the run.
    pub fn set_run_id(&mut self, name: impl Into<String>) {
        self.run = Some(name.into());
    }

    /// Returns the entries of a state beside its components, with more names and texts.
    pub(super) fn state_entries(&self, more: &[(&str, String)]) -> Vec<(String, Value)> {
        let mut entries = vec![
            (self.entry("t"), Value::F64(arr0(self.t).into_dyn())),
            (self.entry("step"), Value::U64(self.steps)),
            (self.entry(VERSION_ENTRY), Value::U64(VERSION)),
        ];
        let numbers = self.numbers().into_iter();
        entries.extend(
            numbers.map(|(name, value)| (self.entry(&name), Value::F64(arr0(value).into_dyn()))),
        );
        let texts = self.texts();
        let texts = texts.iter().chain(more);
        entries.extend(texts.map(|(name, text)| (self.entry(name), Value::Text(text.clone()))));
        entries.extend(self.run_entry());
        entries
    }

    /// Returns the entry with the [name of the run](Self::run_id), if it has one.
    pub(super) fn run_entry(&self) -> Option<(String, Value)> {
        let run = self.run_id()?;
        Some((self.entry(RUN), Value::Text(run.to_string())))
    }

    /// Begins a `.npz` with some components as `[z, y, x]`, and returns it with room for more entries; `None` on ranks that do not
    /// write. All [ranks](crate::Builder::ranks) begin it together. The first one has some planes of the mesh at a time, and no
    /// array of all cells.
    ///
    /// ```no_run
    /// # fn save(simulation: &stencil_runtime::Simulation<f32>) -> Result<(), stencil_runtime::Error> {
    /// if let Some(mut file) = simulation.begin_npz("speed.npz", &["u_x", "u_y"])? {
    ///     file.f64("t", simulation.t())?;
    ///     file.finish()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If there is no such component, or the file cannot be written.
    pub fn begin_npz(
        &self,
        path: impl AsRef<Path>,
        components: &[&str],
    ) -> Result<Option<NpzWriter>, Error> {
        let is_first = self.ranks().is_first();
        let mut file = is_first.then(|| NpzWriter::create(path)).transpose();
        let [nx, ny, nz] = self.cells();
        for name in components {
            let cut = Cut::whole::<T>([nx, ny, nz], name);
            let mut pieces = Pieces::new(vec![Some(self.in_order(name)?)], cut);
            let mut unread = None;
            let next = || {
                pieces.next().unwrap_or_else(|error| {
                    unread = Some(error);
                    None
                })
            };
            let of = ((T::DESCR, T::BYTES), [nz, ny, nx]);
            let write = |file: &mut NpzWriter| file.bytes_by(name, of.0, &of.1, next);
            let written = file.as_mut().ok().and_then(Option::as_mut).map_or(Ok(()), write);
            // Others send their values whatever becomes of the file.
            pieces.finish();
            if let Some(error) = unread {
                return Err(error);
            }
            file = written.and(file);
        }
        Ok(file?)
    }

    /// Returns the name of an entry, apart from those of components.
    pub(crate) fn entry(&self, name: &str) -> String {
        let mut name = name.to_string();
        while self.device.fields().buffers.field(&name).is_some() {
            name.push('_');
        }
        name
    }

    /// Returns numbers that describe the run.
    fn numbers(&self) -> Vec<(String, f64)> {
        let mut numbers = vec![("dt".to_string(), self.dt())];
        if let Pace::Adaptive { number, .. } = self.pace {
            numbers.push(("cfl".to_string(), number));
        }
        let (origin, spacing) = (self.origin(), self.spacing());
        for axis in Axis::ALL.into_iter().take(self.system().model().dimension) {
            numbers.push((format!("origin_{axis}"), origin[axis.index()]));
            numbers.push((format!("spacing_{axis}"), spacing[axis.index()]));
        }
        numbers
    }

    /// Returns texts that describe the run.
    fn texts(&self) -> Vec<(&'static str, String)> {
        let params = self.params().map(|(name, value)| format!("{name} = {value:?}"));
        let params: Vec<String> = params.collect();
        let sources = self.setup.sources.iter();
        let sources: Vec<String> = sources.map(|(n, words)| format!("{n} = {words}")).collect();
        // A run that has begun has no open choices and no other scheme.
        let mut model = self.system().model().by(Formulation::default());
        model.others.clear();
        vec![
            ("system", text::print(&model)),
            ("scheme", self.system().algorithm().scheme.clone()),
            ("params", params.join("\n")),
            ("boundaries", self.boundaries().join("\n")),
            ("sources", sources.join("\n")),
        ]
    }

    /// Continues from a state that [`save_npz`](Self::save_npz) wrote. Settings are those of this simulation; if they
    /// are those of the run that wrote the file, all further steps have the bits that they would have had there.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("heat.pde", "
    /// #     pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
    /// #     scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }")?;
    /// # let path = std::env::temp_dir().join(format!("restore-doc-{}.npz", std::process::id()));
    /// let builder = || Simulation::<f64>::builder(&heat).cells([8, 1, 1]).dt(1e-3);
    /// let mut simulation = builder().build()?;
    /// simulation.set("q", |x, _, _| x)?;
    /// simulation.run(10, |_, _| ())?;
    /// simulation.save_npz(&path)?;
    ///
    /// let mut again = builder().build()?;
    /// let state = again.restore(&path)?;
    /// assert_eq!((state.step, state.changed.len()), (10, 0));
    /// assert_eq!(again.field("q")?, simulation.field("q")?);
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, is damaged in one bit or carries no checksum of its bytes, is of a later version of
    /// states, or is of another system, scheme, precision or number of cells. The simulation is then as it was.
    pub fn restore(&mut self, path: impl AsRef<Path>) -> Result<Restored, Error> {
        let path = path.as_ref();
        let mut file = Npz::open(path)?;
        let foreign = |reason: String, help: &str| Error::Restart {
            path: path.to_path_buf(),
            reason,
            help: help.to_string(),
        };
        let no_state = |e: NpzError| match e {
            NpzError::Missing { entry, .. } => {
                foreign(format!("it has no entry `{entry}`"), "give a file that `save_npz` wrote")
            }
            other => Error::Output(other),
        };
        if !file.is_sealed() {
            return Err(foreign(
                "its end is no checksum of its bytes, as that of a state is".to_string(),
                "it is damaged, or another program wrote it: give another state, or its arrays as initial values (`[init] file = ..`)",
            ));
        }
        check_version(&mut file, &self.entry(VERSION_ENTRY))
            .map_err(|(reason, help)| foreign(reason, help))?;
        let run = match file.text(&self.entry(RUN)) {
            Err(NpzError::Missing { .. }) => None,
            found => Some(found?),
        };
        let mut texts = BTreeMap::new();
        for (name, _) in self.texts() {
            texts.insert(name, file.text(&self.entry(name)).map_err(no_state)?);
        }
        self.check_same(&texts).map_err(|(reason, help)| foreign(reason, help))?;
        let (t, step) = (self.entry("t"), self.entry("step"));
        let t = file.f64(&t).map_err(no_state)?;
        let step = file.u64(&step).map_err(no_state)?;
        let mut values: Vec<(String, ArrayD<T>)> = Vec::new();
        let most = self.array_bytes();
        for name in self.device.fields().buffers.fields() {
            if let [nz, ny, nx] = *file.shape(name).map_err(no_state)? {
                check_shape(name, self.cells(), (nz, ny, nx))?;
            }
            let value = file.get_within(name, most).map_err(no_state)?;
            let array = T::array(value).map_err(|found| {
                let reason = format!("`{name}` is {found}, and this run computes in {}", T::NAME);
                foreign(reason, "run in the precision of the file")
            })?;
            values.push((name.to_string(), array));
        }
        let changed = self.changed(&mut file, &texts).map_err(Error::Output)?;
        // Adaptive steps keep the last length until the next one is found.
        let dt = match self.pace {
            Pace::Auto { .. } | Pace::Adaptive { .. } => {
                file.f64(&self.entry("dt")).map_err(no_state)?
            }
            Pace::Fixed(dt) => dt,
        };
        for (name, array) in &values {
            let view: Result<ArrayView3<'_, T>, _> = array.view().into_dimensionality::<Ix3>();
            let view =
                view.map_err(|e| foreign(format!("`{name}`: {e}"), "give arrays [z, y, x]"))?;
            self.set_array(name, view)?;
        }
        (self.t, self.steps, self.lost) = (t, step, false);
        (self.last_dt, self.run) = (dt, run);
        if matches!(self.pace, Pace::Auto { .. }) && step > 0 {
            self.go_on_with(dt);
        }
        Ok(Restored { t, step, changed })
    }

    /// Checks that a state belongs to this system; else returns the reason, and the way out.
    fn check_same(&self, texts: &BTreeMap<&str, String>) -> Result<(), (String, &'static str)> {
        let own: BTreeMap<&str, String> = self.texts().into_iter().collect();
        if nameless(&texts["scheme"]) != nameless(&own["scheme"]) {
            let reason =
                format!("its scheme is `{}`, and this run's `{}`", texts["scheme"], own["scheme"]);
            return Err((reason, "choose the scheme of the file"));
        }
        if nameless_scheme(&texts["system"]) != nameless_scheme(&own["system"]) {
            let head = |text: &str| {
                let line = text.lines().find(|line| line.contains("system "));
                line.unwrap_or_default().trim_end_matches(" {").to_string()
            };
            let (theirs, ours) = (head(&texts["system"]), head(&own["system"]));
            let reason = if theirs == ours {
                format!(
                    "it declares `{ours}` in other words; its entry `system` has the declaration"
                )
            } else {
                format!("it is a state of `{theirs}`, and this is a run of `{ours}`")
            };
            return Err((reason, "run the system that wrote the file"));
        }
        Ok(())
    }

    /// Returns the settings that differ from those of a file.
    ///
    /// # Errors
    /// If an entry is there and cannot be read.
    fn changed(
        &self,
        file: &mut Npz,
        texts: &BTreeMap<&str, String>,
    ) -> Result<Vec<String>, NpzError> {
        let mut number = |name: &str| match file.f64(&self.entry(name)) {
            Ok(value) => Ok(Some(value)),
            Err(NpzError::Missing { .. }) => Ok(None),
            Err(other) => Err(other),
        };
        let mut changed = Vec::new();
        for (name, now) in self.numbers() {
            match number(&name)? {
                Some(was) if was.to_bits() == now.to_bits() => {}
                // The last length of adaptive steps is not a setting.
                Some(_) if name == "dt" && !matches!(self.pace, Pace::Fixed(_)) => {}
                Some(was) => changed.push(format!("{name}: {was} in the file, {now} now")),
                None => changed.push(format!("{name}: {now} now")),
            }
        }
        if self.cfl().is_none()
            && let Some(was) = number("cfl")?
        {
            changed.push(format!("cfl: {was} in the file, fixed time steps now"));
        }
        for (name, now) in self.texts() {
            let was = &texts[name];
            match name {
                "params" | "sources" => changed.extend(differences(was, &now)),
                "boundaries" => changed.extend(differences(&by_axis(was), &by_axis(&now))),
                _ => {}
            }
        }
        Ok(changed)
    }

    /// Returns the bytes of an array of the mesh in a file, in either precision and with its header.
    fn array_bytes(&self) -> u64 {
        let points = self.cells().iter().fold(1_u64, |all, n| all.saturating_mul(*n as u64));
        points.saturating_mul(8).saturating_add(1 << 16)
    }
}

/// Checks that this program knows the version of a state; else returns the reason, and the way out.
fn check_version(file: &mut Npz, entry: &str) -> Result<(), (String, &'static str)> {
    let way_out = "continue by the version of stencil that wrote it, or a later one";
    match file.u64(entry) {
        Err(NpzError::Missing { .. }) => Ok(()),
        Ok(version) if version <= VERSION => Ok(()),
        Ok(version) => Err((
            format!(
                "it is a state of version {version}, and this program reads those up to {VERSION}"
            ),
            way_out,
        )),
        Err(other) => Err((other.to_string(), way_out)),
    }
}

/// Returns `name: choices` of a scheme without the name, which no bit depends on.
fn nameless(scheme: &str) -> &str {
    scheme.split_once(": ").map_or(scheme, |(_, choices)| choices)
}

/// Returns a declaration without the name of its scheme.
fn nameless_scheme(system: &str) -> Vec<&str> {
    let lines = system.lines().map(|line| match line.strip_prefix("scheme ") {
        Some(of) => of.split_once(' ').map_or(of, |(_, of)| of),
        None => line,
    });
    lines.collect()
}

/// Returns lines `name = value` that differ, a note for each name, in the order of `now`.
pub(crate) fn differences(was: &str, now: &str) -> Vec<String> {
    let read = |text: &str| -> Vec<(String, String)> {
        let lines = text.lines().filter_map(|line| line.split_once(" = "));
        lines.map(|(n, v)| (n.to_string(), v.to_string())).collect()
    };
    let (was, now) = (read(was), read(now));
    let of = |list: &[(String, String)], name: &str| {
        let found = list.iter().find(|(n, _)| n == name);
        found.map_or("not set".to_string(), |(_, value)| value.clone())
    };
    let gone = was.iter().filter(|(n, _)| !now.iter().any(|(m, _)| m == n));
    let names = now.iter().chain(gone).map(|(name, _)| name);
    let notes = names.filter_map(|name| {
        let (was, now) = (of(&was, name), of(&now, name));
        (was != now).then(|| format!("{name}: {was} in the file, {now} now"))
    });
    notes.collect()
}

/// Returns boundaries in words as a line `boundary of x = ..` for each axis.
fn by_axis(lines: &str) -> String {
    let of = |axis: Axis| {
        let of_axis = |line: &&str| line.starts_with(axis.name());
        let all: Vec<&str> = lines.lines().filter(of_axis).collect();
        (!all.is_empty()).then(|| format!("boundary of {axis} = {}", all.join("; ")))
    };
    let lines: Vec<String> = Axis::ALL.into_iter().filter_map(of).collect();
    lines.join("\n")
}
