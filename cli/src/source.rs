//! From the command line to a discrete problem and a schedule: names, files, and their errors.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::diag::{Code, Diagnostic, nearest};
use stencil_compiler::discretize::{DiscretizeError, discretize};
use stencil_compiler::expr::real;
use stencil_compiler::model::parse::{Dimensions, dimensions, parse_str_with};
use stencil_compiler::model::{Mixed, Model};
use stencil_compiler::schedule::Schedule;
use stencil_report::{ByPlan, Failure};
use stencil_runtime::io::read_text;
use stencil_runtime::{Devices, Engine, Error, SystemDef};

/// Dimensions of a system `in nd` of a file if none are given.
const USUAL: usize = 3;

pub(crate) use stencil_report::schedules::{chosen, schedule, settled};

#[cfg(test)]
mod tests;

/// A system that comes with the command.
#[derive(Clone, Debug)]
pub(crate) struct BuiltIn {
    /// Its name on the command line.
    pub(crate) name: String,
    /// Its summary, in a few words.
    pub(crate) summary: String,
    /// Its declaration in the language.
    pub(crate) text: String,
}

/// The equations, and their discretization.
#[derive(Args, Clone, Debug)]
pub(crate) struct SystemArgs {
    /// A system by name, or a file with a declaration
    #[arg(value_name = "SYSTEM|FILE.pde")]
    pub(crate) system: String,
    /// Number of dimensions of a system `in nd`; 3 if not given
    #[arg(long, value_name = "N", value_parser = dimension())]
    pub(crate) dimension: Option<usize>,
    /// Order of the central differences, in place of the declared one: 2, 4, 6, 8 or 10
    #[arg(long, value_name = "N")]
    pub(crate) order: Option<u32>,
    /// The meaning of a derivative of a derivative, in place of the declared choice
    #[arg(long, value_name = "CHOICE")]
    pub(crate) mixed: Option<MixedChoice>,
}

/// `mixed` on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MixedChoice {
    /// Twelve points on the diagonals (at order 6)
    Bidiagonal,
    /// First derivatives of first derivatives, for two different axes
    Product,
    /// Every derivative of a derivative as it is written
    Composed,
    /// Any of them: the choice of a plan file, else bidiagonal
    Either,
}

impl MixedChoice {
    /// The compiler's word for it.
    pub(crate) fn get(self) -> Mixed {
        match self {
            MixedChoice::Bidiagonal => Mixed::Bidiagonal,
            MixedChoice::Product => Mixed::Product,
            MixedChoice::Composed => Mixed::Composed,
            MixedChoice::Either => Mixed::Either,
        }
    }
}

/// The schedule, and its precision.
#[derive(Args, Clone, Debug)]
pub(crate) struct ScheduleArgs {
    /// A preset by name, or a file with a schedule
    #[arg(long, value_name = "PRESET|FILE")]
    pub(crate) schedule: Option<String>,
    /// Precision of the values
    #[arg(long, value_enum, default_value = "f32")]
    pub(crate) precision: Precision,
}

/// The precision on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Precision {
    /// Four bytes
    F32,
    /// Eight bytes
    F64,
}

impl Precision {
    /// The compiler's word for it.
    pub(crate) fn get(self) -> real::Precision {
        match self {
            Precision::F32 => real::Precision::F32,
            Precision::F64 => real::Precision::F64,
        }
    }
}

/// Reads a number of devices.
pub(crate) fn devices(text: &str) -> Result<usize, String> {
    match text.parse()? {
        Devices::Count(count) => Ok(count),
        Devices::All | Devices::Cards(_) => Err("write numbers of devices such as 2".into()),
    }
}

/// Reads a number of bytes with a unit, such as `8GiB`.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    const UNITS: [(&str, f64); 7] = [
        ("GiB", (1_u64 << 30) as f64),
        ("MiB", (1 << 20) as f64),
        ("KiB", (1 << 10) as f64),
        ("GB", 1e9),
        ("MB", 1e6),
        ("kB", 1e3),
        ("B", 1.0),
    ];
    let unit = UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)));
    let (number, size) = unit.unwrap_or((text, &1.0));
    let number: Option<f64> =
        number.trim().parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
    let bytes = number.map(|number| (number * size) as usize);
    bytes.ok_or_else(|| "write a number and a unit, such as 8GiB or 20GB".into())
}

/// The engine, on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// A card if one can be used, else the processor
    Auto,
    /// The processor: compiled code if there is some, else the row engine until the C compiler of this machine has made some
    #[default]
    Cpu,
    /// The processor, by compiled code from the first step on
    Compiled,
    /// The row engine, which runs any system on the processor
    Rows,
    /// An NVIDIA GPU
    Cuda,
}

impl Backend {
    /// The runtime's word for it.
    pub(crate) fn engine(self) -> Engine {
        match self {
            Backend::Auto => Engine::Auto,
            Backend::Cpu => Engine::Cpu,
            Backend::Compiled => Engine::Compiled,
            Backend::Rows => Engine::Rows,
            Backend::Cuda => Engine::Cuda,
        }
    }
}

/// A system that was read and discretized.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The equations.
    pub(crate) model: Model,
    /// The discrete problem.
    pub(crate) algorithm: Algorithm,
    /// Its formulation, if a plan file chose it.
    pub(crate) chosen: Option<ByPlan>,
}

impl Loaded {
    /// The same in the formulation that a plan file chose for it, if one is given and the declaration leaves one open.
    pub(crate) fn settled(
        self,
        schedule: &ScheduleArgs,
        cells: Option<[usize; 3]>,
    ) -> Result<Self, Failure> {
        let of = (&self.model, &self.algorithm);
        let precision = schedule.precision.get();
        let wanted = schedule.schedule.as_deref();
        let found = wanted.map(|wanted| chosen(wanted, of, precision, cells));
        let Some(found) = found.transpose()?.flatten() else {
            return Ok(self);
        };
        let model = self.model.by(found.formulation);
        let wrong = |error: DiscretizeError| Failure::new(format!("error: {error}"));
        let mut algorithm = discretize(&model).map_err(wrong)?;
        algorithm.file = self.algorithm.file;
        Ok(Loaded { model, algorithm, chosen: Some(found) })
    }
}

impl Loaded {
    /// A schedule by name or from a file for this problem, with the name.
    pub(crate) fn named<'a>(
        &self,
        name: &'a str,
        precision: Precision,
        cells: Option<[usize; 3]>,
    ) -> Result<(&'a str, Schedule), Failure> {
        let found = schedule(name, &self.algorithm, precision.get(), cells)?;
        Ok((name, found))
    }
}

/// Parses the value of `--dimension`.
pub(crate) fn dimension() -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u8).range(1..=3).map(usize::from)
}

/// The dimension to read a text in: the given one, or for a system `in nd` the usual one.
fn in_dimension(text: &str, given: Option<usize>) -> Option<usize> {
    match dimensions(text) {
        Some(Dimensions::Any) => Some(given.unwrap_or(USUAL)),
        Some(Dimensions::Fixed(_)) | None => given,
    }
}

/// A system by name or from a file, in a number of dimensions if it is declared `in nd`.
pub(crate) fn system(name: &str, dimension: Option<usize>) -> Result<SystemDef, Error> {
    if !is_file(name) {
        return match dimension {
            Some(dimension) => physics::systems::find_in(name, dimension),
            None => physics::systems::find(name),
        };
    }
    match read_text(Path::new(name)) {
        Ok(text) => SystemDef::from_text_in(name, &text, in_dimension(&text, dimension)),
        // The error that says why.
        Err(_) => SystemDef::from_file(name),
    }
}

/// Is a system read from a file?
pub(crate) fn is_file(name: &str) -> bool {
    name.ends_with(".pde") || std::path::Path::new(name).is_file()
}

/// Reads a system, changes its scheme as told, and discretizes it.
pub(crate) fn load(args: &SystemArgs, built_ins: &[BuiltIn]) -> Result<Loaded, Failure> {
    let (name, text) = find(&args.system, args.dimension, built_ins)?;
    let mut model = parse_str_with(&text, in_dimension(&text, args.dimension), None)
        .map_err(|errors| Failure::new(errors.render(&name, &text) + &other(&text, args)))?;
    let declared = model.scheme.clone();
    if let Some(order) = args.order {
        model.scheme.order = order;
    }
    if let Some(mixed) = args.mixed {
        model.scheme.mixed = mixed.get();
    }
    if args.order.is_some() || args.mixed.is_some() {
        // A scheme that only settles an open choice keeps its name.
        if !model.scheme.settles(&declared) {
            model.scheme.name = "command_line".to_string();
        }
        model.check().map_err(|problem| Failure::new(format!("error: {problem}")))?;
    }
    let mut algorithm =
        discretize(&model).map_err(|error| Failure::new(render(&error, &name, &text)))?;
    algorithm.file = name.clone();
    algorithm.check().map_err(|problem| {
        Failure::new(format!(
            "error: {name}: {problem}; this is a bug of the compiler, please report it"
        ))
    })?;
    Ok(Loaded { model, algorithm, chosen: None })
}

/// Says in which other dimensions a system `in nd` can be read, where none was asked for.
fn other(text: &str, args: &SystemArgs) -> String {
    if args.dimension.is_some() || dimensions(text) != Some(Dimensions::Any) {
        return String::new();
    }
    let others = (1..=3).filter(|n| *n != USUAL && parse_str_with(text, Some(*n), None).is_ok());
    let others: Vec<String> = others.map(|n| format!("--dimension {n}")).collect();
    match others.is_empty() {
        true => String::new(),
        false => format!(
            "  help: a system `in nd` is read in {USUAL}d unless told otherwise; this one is right with {}",
            others.join(" and ")
        ),
    }
}

/// The text of a system, and the name that messages call it by; of one for any number of dimensions that in the given number.
fn find(
    system: &str,
    dimension: Option<usize>,
    built_ins: &[BuiltIn],
) -> Result<(String, String), Failure> {
    let same = || built_ins.iter().filter(|b| plain(&b.name) == plain(system));
    let wanted = dimension.map(Dimensions::Fixed);
    let fits = |b: &&BuiltIn| wanted.is_some() && dimensions(&b.text) == wanted;
    if let Some(built_in) = same().find(fits).or_else(|| same().next()) {
        return Ok((format!("<{}>", built_in.name), built_in.text.clone()));
    }
    match read_text(Path::new(system)) {
        Ok(text) => Ok((system.to_string(), text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !system.ends_with(".pde") => {
            Err(Failure::new(unknown(system, built_ins)))
        }
        Err(error) => Err(Failure::new(format!("error: `{system}` cannot be read: {error}"))),
    }
}

/// Drops hyphens, underscores and capitals from a name.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Systems of the library, one of each name.
pub(crate) fn once(built_ins: &[BuiltIn]) -> impl Iterator<Item = &BuiltIn> {
    let mut known = BTreeSet::new();
    built_ins.iter().filter(move |system| known.insert(system.name.as_str()))
}

fn unknown(system: &str, built_ins: &[BuiltIn]) -> String {
    let mut message = format!("error: no system and no file `{system}`\n");
    if let Some(near) = nearest(system, built_ins.iter().map(|b| b.name.as_str())) {
        message.push_str(&format!("  help: did you mean `{near}`?\n"));
    }
    for built_in in once(built_ins) {
        message.push_str(&format!("  {:<20} {}\n", built_in.name, built_in.summary));
    }
    message.push_str("  or the path of a file with a declaration, such as heat.pde");
    message
}

/// An error without a code, under the lines that it is about.
fn render(error: &DiscretizeError, name: &str, text: &str) -> String {
    let rendered =
        Diagnostic::new(Code::Syntax, error.span, error.message.clone()).render(name, text);
    let place = rendered.split_once('\n').map_or("", |(_, place)| place);
    format!("error: {}\n{place}", error.message)
}
