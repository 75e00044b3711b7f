//! A problem as a file with everything resolved.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stencil_compiler::expr::real::Precision;

use super::boundary::Kind;
use super::checkpoint::wall_text;
use super::system::scheme_text;
use stencil_compiler::stability::Axes;

use super::{Expression, FaceKind, Origin, Problem, Shown, TimeStep, open_faces};
use crate::io::FrameFormat;
use crate::plot::ColorMap;
use crate::{Axis, Devices, Face, Side, Stream};

impl Problem {
    /// Returns the problem as a file in which every setting is given: reading it gives this problem again, and running
    /// it the same bits. A file of initial values is called `initial`, if it is given.
    ///
    /// ```
    /// use stencil_runtime::problem::{Library, Problem};
    ///
    /// let text = "
    /// system = 'pub system Heat in 1d { field q: scalar; param k: real = 1; ddt(q) = k * lap(q); }'
    /// mesh.cells = 8
    /// init.q = 'x'
    /// time = { dt = 'h^2/4', steps = 1 }
    /// ";
    /// let problem = Problem::parse("heat.toml", text, ".", &Library::empty(), &[])?;
    /// let resolved = problem.to_toml(None);
    /// assert!(resolved.contains("dt = 0.00390625"));
    /// let again = Problem::parse("heat.toml", &resolved, ".", &Library::empty(), &[])?;
    /// assert_eq!(again.to_toml(None), resolved);
    /// # Ok::<(), stencil_runtime::problem::ProblemError>(())
    /// ```
    pub fn to_toml(&self, initial: Option<&str>) -> String {
        let mut out = String::new();
        self.write_head(&mut out);
        self.write_mesh(&mut out);
        self.write_boundary(&mut out);
        section(&mut out, "params", self.params.iter().map(|(n, v)| (n.as_str(), number(*v))));
        section(&mut out, "let", self.lets.iter().map(|(n, t)| (n.as_str(), quoted(t))));
        let random = self.random.iter().map(|field| (field.name.as_str(), field.to_toml()));
        section(&mut out, "random", random);
        let file = initial.map(|file| ("file", quoted(file)));
        let values = file.into_iter().chain(lines(&self.initial.values));
        section(&mut out, "init", values.chain(self.initial.curls()));
        section(&mut out, "source", lines(&self.sources));
        section(&mut out, "exact", lines(&self.exact));
        self.write_time(&mut out);
        self.write_output(&mut out);
        section(&mut out, "checkpoint", self.checkpoint.lines().into_iter());
        self.write_plots(&mut out);
        out
    }

    fn write_head(&self, out: &mut String) {
        let system = match &self.origin {
            Origin::Library(name) => quoted(name),
            Origin::Text(text) => long_text(text),
        };
        let head = [
            ("title", quoted(&self.title)),
            ("system", system),
            ("scheme", scheme_text(self.system.model())),
            ("precision", quoted(word(self.precision))),
        ];
        for (key, value) in head {
            let _ = writeln!(out, "{key} = {value}");
        }
    }

    fn write_mesh(&self, out: &mut String) {
        let axes = self.system.model().dimension;
        let counts = |of: &[usize; 3]| format!("{:?}", &of[..axes]);
        // One patch and one device are the default.
        let is_cut = |patches: &[usize; 3]| *patches != [1; 3];
        let patches = self.patches.filter(is_cut).map(|patches| ("patches", counts(&patches)));
        let devices = match &self.devices {
            Devices::Count(1) => None,
            Devices::All => Some(("devices", quoted("all"))),
            given => Some(("devices", given.to_string())),
        };
        let stream = match self.stream {
            Stream::Off => None,
            Stream::Auto => Some(("stream", quoted("auto"))),
            Stream::Steps(steps) => Some(("stream", steps.to_string())),
        };
        let mesh = [
            ("cells", counts(&self.mesh.cells)),
            ("extent", numbers(&self.mesh.extent[..axes])),
            ("origin", numbers(&self.mesh.origin[..axes])),
            ("centered", self.mesh.centered.to_string()),
        ];
        section(out, "mesh", mesh.into_iter().chain(patches).chain(devices).chain(stream));
    }

    fn write_boundary(&self, out: &mut String) {
        for axis in Axis::ALL {
            for side in Side::ALL {
                let face = Face::new(axis, side);
                let of_face = |f: &&FaceKind| f.face == face;
                let kinds: Vec<&FaceKind> = self.boundary.iter().filter(of_face).collect();
                if kinds.is_empty() {
                    continue;
                }
                let _ = writeln!(out, "\n[boundary.{face}]");
                for FaceKind { component, kind, .. } in kinds {
                    let _ = match component {
                        None => writeln!(out, "{}", kind_lines(kind).join("\n")),
                        Some(component) => writeln!(out, "{component} = {{ {} }}", kind_line(kind)),
                    };
                }
            }
        }
    }

    fn write_time(&self, out: &mut String) {
        let dt = self.time.dt.to_toml();
        let limit = self.time.cfl_limit.map(|v| ("cfl_limit", number(v)));
        let axes = Axes::ALL.iter().find(|(_, axes)| *axes == self.time.cfl_axes);
        let axes = axes.filter(|(_, axes)| *axes != Axes::default());
        let axes = axes.map(|(name, _)| ("cfl_axes", quoted(name)));
        let unchecked = self.time.unchecked_step;
        let unchecked = unchecked.then(|| ("unchecked_step", "true".to_string()));
        let keep = (!self.time.keep_last).then(|| ("keep_last", "false".to_string()));
        let look = self.time.look_every;
        let look = look.map(|steps| ("look_every", steps.to_string()));
        let end = self.time.end.map(|end| ("end", number(end)));
        let steps = self.time.steps.map(|steps| ("steps", steps.to_string()));
        let wall = self.time.wall.map(|wall| ("wall", quoted(&wall_text(wall))));
        section(
            out,
            "time",
            [("dt", dt)]
                .into_iter()
                .chain(limit)
                .chain(axes)
                .chain(unchecked)
                .chain(keep)
                .chain(look)
                .chain(end)
                .chain(steps)
                .chain(wall),
        );
    }

    fn write_output(&self, out: &mut String) {
        let output = &self.output;
        let fields: Vec<String> = output.fields.iter().map(|f| quoted(f)).collect();
        let dir = ("dir", quoted(&output.dir.to_string_lossy()));
        let every = output.every.map(|every| ("every", every.to_string()));
        let every_time = output.every_time.map(|time| ("every_time", number(time)));
        let formats: Vec<String> = output.formats.iter().map(|f| quoted(f.word())).collect();
        // One format, `npz`, is the default.
        let is_usual = output.formats == [FrameFormat::Npz];
        let formats = (!is_usual).then(|| ("format", format!("[{}]", formats.join(", "))));
        let slice = output.slice.map(|(axis, at)| ("slice", quoted(&format!("{axis} = {at:?}"))));
        let precision = output.precision.map(|precision| ("precision", quoted(word(precision))));
        let compress = output.compress.map(|level| ("compress", level.to_string()));
        let frames = [every, every_time, formats, slice, precision, compress];
        let rest = [
            ("fields", format!("[{}]", fields.join(", "))),
            ("series_every", output.series_every.to_string()),
            ("spectrum", output.spectrum.to_string()),
        ];
        let lines = [dir].into_iter().chain(frames.into_iter().flatten()).chain(rest);
        section(out, "output", lines);
    }

    fn write_plots(&self, out: &mut String) {
        for plot in &self.plots {
            let map = ColorMap::ALL.iter().find(|(_, map)| Some(*map) == plot.map);
            let map = map.map(|(name, _)| ("map", quoted(name)));
            let slice = plot.slice.map(|(axis, at)| ("slice", quoted(&format!("{axis} = {at:?}"))));
            let range = plot.range.map(|range| ("range", numbers(&range)));
            let value = match &plot.value {
                Shown::Pointwise(expression) => expression.to_toml(),
                Shown::Quantity(quantity) => quoted(quantity.text()),
            };
            let lines = [
                ("value", value),
                ("file", quoted(&plot.file)),
                ("title", quoted(&plot.title)),
                ("label", quoted(&plot.label)),
                ("log", plot.log.to_string()),
            ];
            section(out, "[plot]", lines.into_iter().chain(map).chain(slice).chain(range));
        }
    }
}

impl TimeStep {
    pub(super) fn to_toml(self) -> String {
        match self {
            TimeStep::Fixed(dt) => number(dt),
            TimeStep::Auto => quoted("auto"),
            TimeStep::Cfl(part) => quoted(&format!("cfl({part:?})")),
        }
    }
}

fn word(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "f32",
        Precision::F64 => "f64",
    }
}

/// Writes a section, if it has lines.
fn section<'a>(out: &mut String, name: &str, lines: impl Iterator<Item = (&'a str, String)>) {
    for (i, (key, value)) in lines.enumerate() {
        if i == 0 {
            let _ = writeln!(out, "\n[{name}]");
        }
        let _ = writeln!(out, "{key} = {value}");
    }
}

fn lines(values: &BTreeMap<String, Expression>) -> impl Iterator<Item = (&str, String)> {
    values.iter().map(|(name, e)| (name.as_str(), e.to_toml()))
}

/// Writes the settings of a kind, a line each.
fn kind_lines(kind: &Kind) -> Vec<String> {
    let one = match kind {
        Kind::Named(name) => format!("kind = {}", quoted(name)),
        Kind::Dirichlet(value) => format!("dirichlet = {}", value.to_toml()),
        Kind::Neumann(slope) => format!("neumann = {}", slope.to_toml()),
        Kind::Formula(ghost) => format!("expr = {}", ghost.to_toml()),
        Kind::Characteristic(far) => return open_faces::characteristic_lines(far),
        Kind::Absorbing(absorbing) => return absorbing.lines(),
    };
    vec![one]
}

/// Writes the settings of a kind as those of a table in one line.
pub(super) fn kind_line(kind: &Kind) -> String {
    kind_lines(kind).join(", ")
}

/// Writes a number so that it reads back as the same bits.
pub(super) fn number(value: f64) -> String {
    format!("{value:?}")
}

pub(super) fn numbers(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|v| number(*v)).collect();
    format!("[{}]", values.join(", "))
}

/// Writes a TOML string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Writes a text of several lines, as it is if TOML can hold it so.
fn long_text(text: &str) -> String {
    let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.contains("'''") || text.ends_with('\'') || !text.chars().all(plain) {
        return quoted(text);
    }
    // The line end after the quotes is not part of the text.
    format!("'''\n{text}'''")
}
