//! Sections of numbers and words: mesh, parameters, time and output.

use std::time::Duration;

use stencil_compiler::diag::Code;
use stencil_compiler::model::{Comparison, Model, to_f64};
use stencil_compiler::stability::Axes;

use super::document::{Data, Item, Table};
use super::mistakes::At;
use super::reader::{Name, Reader};
use super::system::Resolved;
use crate::mesh::Patches;
use crate::simulation::builder::MOST_CELLS;
use crate::{Devices, Mesh, Stream};

/// The time step of a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimeStep {
    /// This length always.
    Fixed(f64),
    /// This part of the largest stable one, by the speeds that the system declares.
    Cfl(f64),
    /// A part of the largest stable one, by the speeds or by the equations themselves.
    Auto,
}

/// The time steps of a problem, and the length of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time {
    /// The time step.
    pub dt: TimeStep,
    /// The Courant number that no step may exceed at its end, if steps are checked for it.
    pub cfl_limit: Option<f64>,
    /// The combination of the limits of axes in the step that a Courant number is a part of.
    pub cfl_axes: Axes,
    /// Are steps beyond the stability limit done?
    pub unchecked_step: bool,
    /// Are the fields kept as they were, to go back to if a value is not finite?
    pub keep_last: bool,
    /// Steps of a card between two checks of values, if it is set.
    pub look_every: Option<usize>,
    /// The time at which the run ends, if it ends by time.
    pub end: Option<f64>,
    /// The number of steps after which it ends at the latest.
    pub steps: Option<u64>,
    /// The time on the wall after which it writes its state and ends, to be continued.
    pub wall: Option<Duration>,
}

/// Reads `[mesh]` but for `centered`, whose default depends on boundaries.
pub(super) fn mesh(document: &Table, dimension: usize, reader: &mut Reader) -> Option<Mesh> {
    let (table, at) = reader.section(document, "mesh");
    reader.keys("mesh", &table);
    let name = |key| Name("mesh", key);
    let Some(item) = table.get("cells") else {
        let message = "the number of cells is not given";
        let help = "add cells = [..] under [mesh], one number for each axis";
        reader.mistakes.add(Code::MissingSetting, at, message, help);
        return None;
    };
    let cells = reader.axes(name("cells"), item, dimension, |reader, item| {
        let count = reader.count(name("cells"), item)?;
        if count > MOST_CELLS as u64 {
            let message = format!("{count} cells along an axis");
            reader.bad(item.at, message, format!("give at most {MOST_CELLS}"));
            return None;
        }
        usize::try_from(count).ok()
    });
    let extent = table.get("extent").map(|item| {
        reader.axes(name("extent"), item, dimension, |reader, item| {
            reader.positive(name("extent"), item)
        })
    });
    let origin = table.get("origin").map(|item| {
        reader.axes(name("origin"), item, dimension, |reader, item| {
            reader.number(name("origin"), item)
        })
    });
    Some(Mesh {
        cells: fill(cells?, 1),
        extent: fill(extent.unwrap_or_else(|| Some(Vec::new()))?, 1.0),
        origin: fill(origin.unwrap_or_else(|| Some(Vec::new()))?, 0.0),
        centered: false,
    })
}

/// Reads whether points are the centres of cells, if `[mesh]` tells.
pub(super) fn centered(document: &Table, reader: &mut Reader) -> Option<bool> {
    let item = document.table("mesh")?.get("centered")?;
    reader.flag(Name("mesh", "centered"), item)
}

/// Reads the devices of `[mesh]`: a number, a list of numbers, or text.
pub(super) fn devices(document: &Table, reader: &mut Reader) -> Option<Devices> {
    let Some(item) = document.table("mesh").and_then(|t| t.get("devices")) else {
        return Some(Devices::default());
    };
    let word = |item: &Item| match &item.data {
        Data::Integer(number) => Some(number.to_string()),
        Data::Text(text) => Some(text.clone()),
        _ => None,
    };
    let text = match &item.data {
        Data::List(list) => {
            let words: Option<Vec<String>> = list.iter().map(word).collect();
            words.map(|words| format!("[{}]", words.join(",")))
        }
        _ => word(item),
    };
    let Some(text) = text else {
        reader.wrong(Name("mesh", "devices"), item, "a number, a list of cards or \"all\"");
        return None;
    };
    text.parse().map_err(|wrong: String| reader.told(item.at, &wrong)).ok()
}

/// Reads how the mesh passes through its device, if `[mesh]` tells: a number of steps, or text.
pub(super) fn stream(document: &Table, reader: &mut Reader) -> Option<Stream> {
    let Some(item) = document.table("mesh").and_then(|t| t.get("stream")) else {
        return Some(Stream::Off);
    };
    let text = match &item.data {
        Data::Integer(number) => number.to_string(),
        Data::Text(text) => text.clone(),
        _ => {
            reader.wrong(Name("mesh", "stream"), item, "\"off\", \"auto\" or a number of steps");
            return None;
        }
    };
    text.parse().map_err(|wrong: String| reader.told(item.at, &wrong)).ok()
}

/// Reads the patches of `[mesh]`, if they are given.
pub(super) fn patches(
    document: &Table,
    (mesh, devices): (Option<&Mesh>, Option<&Devices>),
    dimension: usize,
    reader: &mut Reader,
) -> Option<Option<[usize; 3]>> {
    let Some(item) = document.table("mesh").and_then(|t| t.get("patches")) else {
        return Some(None);
    };
    let name = Name("mesh", "patches");
    let counts = reader.axes(name, item, dimension, |reader, item| {
        usize::try_from(reader.count(name, item)?).ok()
    });
    let counts = fill(counts?, 1);
    let devices = devices.and_then(Devices::known).unwrap_or(1);
    if let Some(Err(error)) = mesh.map(|mesh| Patches::new(mesh, counts, devices)) {
        reader.told(item.at, &error.to_string());
        return None;
    }
    Some(Some(counts))
}

/// Returns three values, the last ones of a kind.
fn fill<T: Copy>(values: Vec<T>, rest: T) -> [T; 3] {
    std::array::from_fn(|axis| values.get(axis).copied().unwrap_or(rest))
}

/// Reads `[params]`: all parameters of the system, in its order.
pub(super) fn params(
    document: &Table,
    resolved: &Resolved,
    reader: &mut Reader,
) -> Vec<(String, f64)> {
    let (table, at) = reader.section(document, "params");
    let model = resolved.system.model();
    let names = || model.params.iter().map(|p| p.name.as_str());
    for entry in &table.entries {
        if !names().any(|name| name == entry.key) {
            let message = format!("{} has no parameter `{}`", model.name, entry.key);
            reader.unknown(entry.at, message, &entry.key, names());
        }
    }
    let mut values = Vec::new();
    for (param, known) in model.params.iter().zip(&resolved.system.algorithm().params) {
        let name = Name("params", &param.name);
        let value = match table.get(&param.name) {
            Some(item) => {
                let value = reader.number(name, item);
                value.filter(|value| in_bounds(model, &param.name, *value, item.at, reader))
            }
            None => {
                if known.default.is_none() {
                    let message = format!("the parameter `{}` has no value", param.name);
                    let help = format!(
                        "add {} = .. under [params]; {} has no default",
                        param.name, model.name
                    );
                    let code = Code::MissingSetting;
                    reader.mistakes.add(code, at, message, help);
                }
                known.default
            }
        };
        // A wrong value is replaced by some value, so that settings that use it can be checked.
        let value = value.unwrap_or(1.0);
        reader.constants.set(&param.name, value);
        values.push((param.name.clone(), value));
    }
    values
}

fn in_bounds(model: &Model, name: &str, value: f64, at: At, reader: &mut Reader) -> bool {
    let bounds = model.params.iter().filter(|p| p.name == name);
    for (comparison, bound) in bounds.flat_map(|p| &p.bounds) {
        let limit = to_f64(bound);
        let (holds, sign) = match comparison {
            Comparison::Less => (value < limit, "<"),
            Comparison::LessEqual => (value <= limit, "<="),
            Comparison::Greater => (value > limit, ">"),
            Comparison::GreaterEqual => (value >= limit, ">="),
        };
        if !holds {
            let message = format!("`{name}` is {value}");
            let help = format!("{} asks for {name} {sign} {limit}", model.name);
            reader.bad(at, message, help);
            return false;
        }
    }
    true
}

/// Reads `[time]`; `h` is the smallest spacing.
pub(super) fn time(
    document: &Table,
    model: &Model,
    h: Option<f64>,
    reader: &mut Reader,
) -> Option<Time> {
    let (table, at) = reader.section(document, "time");
    reader.keys("time", &table);
    let missing = |reader: &mut Reader, message: &str, help: &str| {
        reader.mistakes.add(Code::MissingSetting, at, message, help);
    };
    let end = table.get("end");
    let end = end.map(|item| reader.positive(Name("time", "end"), item));
    let steps = table.get("steps");
    let steps = steps.map(|item| reader.whole(Name("time", "steps"), item, 0));
    let wall = table.get("wall").map(|item| super::checkpoint::wall(item, reader));
    if end.is_none() && steps.is_none() {
        let help = "add end = .. (a time) or steps = .. (a number of steps) under [time]";
        missing(reader, "nothing says when the run ends", help);
    }
    let dt = match table.get("dt") {
        Some(_) => time_step(&table, model, h, reader),
        None => {
            let help = "add dt = .. under [time]: \"auto\", a number, \"cfl(0.4)\", or a formula of h and the parameters";
            missing(reader, "no time step is given", help);
            None
        }
    };
    let cfl_limit = match table.get("cfl_limit") {
        Some(item) => cfl_limit(item, dt, reader).map(Some),
        None => Some(None),
    };
    let cfl_axes = table.get("cfl_axes");
    let cfl_axes = cfl_axes.map(|item| reader.choice(Name("time", "cfl_axes"), item, &Axes::ALL));
    let unchecked = table.get("unchecked_step");
    let unchecked = unchecked.map(|item| reader.flag(Name("time", "unchecked_step"), item));
    let keep_last = table.get("keep_last");
    let keep_last = keep_last.map(|item| (item, reader.flag(Name("time", "keep_last"), item)));
    if let (Some((item, Some(false))), Some(Some(_))) = (&keep_last, cfl_limit) {
        let message = "steps that are too long are done again from what is kept";
        let help = "leave keep_last out, or cfl_limit";
        reader.mistakes.add(Code::Contradiction, item.at, message, help);
        return None;
    }
    let look_every = table.get("look_every");
    let look_every = look_every.map(|item| reader.count(Name("time", "look_every"), item));
    let look_every = look_every.map(|steps| usize::try_from(steps?).ok());
    Some(Time {
        dt: dt?,
        cfl_limit: cfl_limit?,
        cfl_axes: cfl_axes.unwrap_or(Some(Axes::default()))?,
        unchecked_step: unchecked.unwrap_or(Some(false))?,
        keep_last: keep_last.map_or(Some(true), |(_, keep)| keep)?,
        look_every: look_every.map_or(Some(None), |steps| steps.map(Some))?,
        end: end.map_or(Some(None), |end| end.map(Some))?,
        steps: steps.map_or(Some(None), |steps| steps.map(Some))?,
        wall: wall.map_or(Some(None), |wall| wall.map(Some))?,
    })
}

/// Reads the limit of the Courant number, which needs steps that adapt.
fn cfl_limit(item: &Item, dt: Option<TimeStep>, reader: &mut Reader) -> Option<f64> {
    let limit = reader.positive(Name("time", "cfl_limit"), item)?;
    let (message, help) = match dt {
        None => return Some(limit),
        Some(TimeStep::Cfl(number)) if limit >= number => return Some(limit),
        Some(TimeStep::Cfl(number)) => (
            format!("the limit {limit} is smaller than the Courant number {number} itself"),
            "give a larger limit: steps are chosen by the one and may come close to the other",
        ),
        Some(TimeStep::Fixed(_) | TimeStep::Auto) => (
            "only steps of a Courant number have a limit of it".to_string(),
            "leave cfl_limit out, or write dt = \"cfl(0.4)\"",
        ),
    };
    reader.mistakes.add(Code::Contradiction, item.at, message, help);
    None
}

fn time_step(
    table: &Table,
    model: &Model,
    h: Option<f64>,
    reader: &mut Reader,
) -> Option<TimeStep> {
    let item = table.get("dt")?;
    let name = Name("time", "dt");
    if matches!(&item.data, Data::Text(text) if text.trim() == "auto") {
        return Some(TimeStep::Auto);
    }
    if let Data::Text(text) = &item.data
        && let Some(inner) = text.trim().strip_prefix("cfl(")
        && let Some(number) = inner.strip_suffix(')')
    {
        if !model.limits_steps() {
            let message = format!("{} declares no speeds that limit the time step", model.name);
            let help = "write dt = \"auto\", add cfl { advective: ..; } to the system, or give dt as a number or a formula: dt = \"0.3*h\"";
            reader.mistakes.add(Code::Contradiction, item.at, message, help);
            return None;
        }
        let mut inner = item.clone();
        inner.data = Data::Text(number.to_string());
        return reader.positive(name, &inner).map(TimeStep::Cfl);
    }
    if let Data::Text(text) = &item.data
        && reader.constants.uses("h", text)
    {
        let message =
            format!("`h` is the smallest spacing here, and a parameter of {}", model.name);
        let help = "rename the parameter, or write its value or that of the spacing as a number";
        reader.mistakes.add(Code::Contradiction, item.at, message, help);
        return None;
    }
    // Only the time step may depend on the spacing.
    let constants = reader.constants.clone();
    reader.constants.set("h", h.unwrap_or(1.0));
    let dt = reader.positive(name, item);
    reader.constants = constants;
    dt.map(TimeStep::Fixed)
}
