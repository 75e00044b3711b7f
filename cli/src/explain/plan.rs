//! `stencil explain --plan`: a whole step as one tree, with the cost of each kernel and the reasons for the choice of
//! the schedule; `--analyze` runs it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use stencil_compiler::cost::{self, KnownLink};
use stencil_report::Failure;
use stencil_report::plan::{
    Asked, Cluster, Forecast, Report, Streaming, Wanted, card, usual_cells,
};
use stencil_runtime::Stream;

use super::ExplainArgs;
use crate::bench::Growth;
use crate::source::{self, BuiltIn};
use crate::{Ended, output};

#[cfg(test)]
mod tests;

/// Arguments that ask for a plan.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlanArgs {
    /// Show a whole step as one tree: fills, kernels, the functions and the cost of each; then the cost and the savings
    /// of stored grid functions, and the other candidates. Without --schedule it is of the candidate that is predicted
    /// to be the fastest
    #[arg(long, group = "shown")]
    plan: bool,
    /// The same, and run the schedule on the first card for a moment: the time of a step, and the actual registers,
    /// spills and occupancy of its kernels
    #[arg(long, group = "shown")]
    analyze: bool,
    /// Predict the rates of the numbers of --devices, as one table: with the same mesh, or with one in which each device has
    /// --cells. With --pictures, draw them against the devices
    #[arg(long, value_name = "strong|weak", value_enum, group = "shown", requires = "devices")]
    scaling: Option<Growth>,
    /// Another plan to compare with, a preset or a file: its placements, its kernels and their cost
    #[arg(long, value_name = "PRESET|FILE", requires = "shown")]
    against: Option<String>,
    /// Schedules that are tried beside the presets: of those that a search begins with, as many of each kind; then half
    /// as many neighbours of the fastest
    #[arg(long, value_name = "N", default_value = "64", requires = "shown")]
    candidates: usize,
    /// Show the plan of one of so many devices, too, each with a box of the mesh: exchanges with their depth, bytes and time, the
    /// kernels that run beside them, and the time in which the device waits. With --scaling, several numbers
    #[arg(long, value_name = "N,..", value_parser = source::devices, value_delimiter = ',', requires = "shown")]
    devices: Vec<usize>,
    /// The link between cards of a host: NVLink4, NVLink3, PCIe5 or PCIe4; the one that is usual for the card if not given
    #[arg(long, value_name = "LINK", value_parser = in_host, requires = "devices")]
    link: Option<&'static KnownLink>,
    /// The link between cards of different hosts, each of which has an adapter: NDR, HDR or Slingshot11
    #[arg(long, value_name = "LINK", value_parser = network, default_value = "NDR", requires = "devices")]
    network: &'static KnownLink,
    /// Cards of a host
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value = "8", requires = "devices")]
    per_host: u32,
    /// Show how the mesh passes through the card slab by slab, too: bytes over the bus, slabs and rates for each number of steps
    /// in a pass. The number, or auto for the one that a run takes
    #[arg(long, value_name = "auto|STEPS", value_parser = passing, requires = "shown", requires = "card_memory", conflicts_with_all = ["devices", "scaling"])]
    stream: Option<Stream>,
    /// Bytes of the memory of the card that the arrays may take, such as 8GiB or 20GB
    #[arg(long, value_name = "BYTES", value_parser = source::bytes, requires = "stream")]
    card_memory: Option<usize>,
    /// Bytes that the bus between the host and the card moves in a second, each way, such as 12GB; those that are usual for the
    /// card if not given
    #[arg(long, value_name = "BYTES", value_parser = source::bytes, requires = "stream")]
    bus: Option<usize>,
    /// Count the reduction by which all devices agree on the length of each step
    #[arg(long, requires = "scaling")]
    adaptive: bool,
    /// Write the plan as JSON in place of text
    #[arg(long, requires = "shown")]
    json: bool,
    /// Draw into this folder the dependencies and placements of grid functions, the points that kernels
    /// read, and all candidates below the roof of the card, each as SVG and PNG
    #[arg(long, value_name = "FOLDER", requires = "shown")]
    pictures: Option<PathBuf>,
    /// Do not compile the kernels of the plan for their registers, even if there is a compiler
    #[arg(long, requires = "shown")]
    no_compile: bool,
}

impl PlanArgs {
    /// Is a plan asked for?
    pub(super) fn is_given(&self) -> bool {
        self.plan || self.analyze || self.scaling.is_some()
    }

    fn streaming(&self) -> Option<Streaming> {
        let (stream, memory) = self.stream.zip(self.card_memory)?;
        Some(Streaming { stream, memory, bus: self.bus.map(|bytes| bytes as f64) })
    }

    fn cluster(&self) -> Cluster {
        Cluster { near: self.link, far: self.network, per_host: self.per_host as usize }
    }
}

/// A way to stream, of a mesh that is streamed.
fn passing(text: &str) -> Result<Stream, String> {
    match text.parse()? {
        Stream::Off => Err("write `auto` or a number of steps, or leave --stream out".into()),
        stream => Ok(stream),
    }
}

/// The known link of this name between cards of a host.
fn in_host(name: &str) -> Result<&'static KnownLink, String> {
    known_link(name, true)
}

/// The known link of this name between hosts.
fn network(name: &str) -> Result<&'static KnownLink, String> {
    known_link(name, false)
}

fn known_link(name: &str, in_host: bool) -> Result<&'static KnownLink, String> {
    let all = cost::LINKS.iter().filter(|link| link.in_host == in_host);
    let names: Vec<&str> = all.map(|link| link.name).collect();
    let found = cost::link(name).filter(|link| link.in_host == in_host);
    found.ok_or_else(|| format!("there are {}", names.join(", ")))
}

/// Runs the command.
pub(super) fn run(
    args: &ExplainArgs,
    built_ins: &[BuiltIn],
    out: &mut dyn Write,
) -> Result<(), Ended> {
    let loaded = source::load(&args.system, built_ins)?;
    let dimension = loaded.algorithm.dimension;
    let given = super::cells(&args.cells, dimension)?;
    let cells = given.unwrap_or(usual_cells(dimension));
    let loaded = loaded.settled(&args.schedule, Some(cells))?;
    if args.plan.analyze {
        card()?;
    }
    let named = |name| loaded.named(name, args.schedule.precision, Some(cells));
    let schedule = args.schedule.schedule.as_deref();
    let problem = super::problem(args, &loaded, cells);
    if let Some(growth) = args.plan.scaling {
        let asked = Asked {
            schedule: schedule.map(named).transpose()?,
            candidates: args.plan.candidates,
            scaling: growth.get(),
            devices: args.plan.devices.clone(),
            cluster: args.plan.cluster(),
            adaptive: args.plan.adaptive,
        };
        let forecast = Forecast::new(problem, asked)?;
        output::print(&forecast, args.plan.json, out)?;
        if let Some(folder) = &args.plan.pictures {
            let files = output::draw(&forecast, folder)?;
            if !args.plan.json {
                output::list(&files, "", out)?;
            }
        }
        return Ok(());
    }
    let devices = match args.plan.devices[..] {
        [] => None,
        [one] => Some((one, args.plan.cluster())),
        _ => {
            let message = "error: a plan is of one number of devices\n  help: --scaling strong compares several";
            return Err(Failure::new(message).into());
        }
    };
    let against = args.plan.against.as_deref();
    let wanted = Wanted {
        schedule: schedule.map(named).transpose()?,
        against: against.map(named).transpose()?,
        candidates: args.plan.candidates,
        compile: !args.plan.no_compile,
        devices,
        streaming: args.plan.streaming(),
    };
    let mut report = Report::new(problem, wanted)?;
    if args.plan.analyze {
        report.analyze()?;
    }
    output::print(&report, args.plan.json, out)?;
    if let Some(folder) = &args.plan.pictures {
        let files = draw(&report, folder)?;
        // A JSON object stands alone.
        if !args.plan.json {
            output::list(&files, "", out)?;
        }
    }
    Ok(())
}

/// Draws the pictures of a plan into a folder, each as SVG and PNG; the files.
fn draw(report: &Report<'_>, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        Failure::new(format!(
            "error: `{}` cannot be made: {error}\n  help: --pictures names a folder that can be written",
            folder.display()
        ))
    })?;
    let mut files = Vec::new();
    for (name, scene) in report.scenes() {
        let saved = scene.save(folder.join(name));
        files.extend(saved.map_err(|error| Failure::new(format!("error: {error}")))?);
    }
    Ok(files)
}
