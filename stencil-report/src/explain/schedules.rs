//! The last part of the page: the kernels of each schedule, and their costs.

use std::collections::{BTreeMap, BTreeSet};

use stencil_compiler::algorithm::{Algorithm, FnId};
use stencil_compiler::compile::{Compiled, ScheduleError, Target};
use stencil_compiler::cost::{self, KernelCost, Model};
use stencil_compiler::diag::counted;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::Multiprocessor;
use stencil_compiler::kernel::lower::Context;
use stencil_compiler::kernel::pipeline::{Pipeline, analyze};
use stencil_compiler::plan::{Launch, Plan, Step};
use stencil_compiler::schedule::text::{layout_line, placement_words, print_blocking};
use stencil_compiler::schedule::{Placement, Schedule, strategies};
use stencil_compiler::search::advice::advised;
use stencil_compiler::search::presets;

use super::{Page, substep};
use crate::Failure;
use crate::plan::{Problem, derived};
use crate::table::{Table, paragraph};

mod predicted;

/// The schedules: the one that is asked for, or every preset, with a table of all at the end.
pub(super) fn section(page: &Page<'_>) -> Result<String, Failure> {
    let Problem { algorithm, precision, cells, on, .. } = page.problem;
    let cells = page.predicts.then_some(cells);
    let at = substep(algorithm);
    let named = chosen(page);
    let mut page = heading(algorithm, precision, at);
    let mut seen: BTreeMap<Schedule, String> = BTreeMap::new();
    let mut summary = Table::new(2, &SUMMARY);
    for (name, words, schedule) in named {
        page += &paragraph(&format!("\n{name}: "), &words).replacen("\n\n", "\n", 1);
        if let Some(before) = seen.get(&schedule) {
            page += &format!("  here the same schedule as `{before}`\n");
            continue;
        }
        let device = on.rates.device();
        let target = match cells {
            Some(cells) => Target::periodic(precision.bytes(), cells, device),
            None => Target::new(precision.bytes()).on(device),
        };
        match advised(algorithm, &schedule, &target) {
            Err(error) => page += &illegal(&error),
            Ok(compiled) => {
                let costs = cost::kernels(&compiled)
                    .map_err(|error| Failure::new(format!("error: {error}")))?;
                page += &steps_at_once(&compiled.plan);
                page += &kernels(&compiled.problem, &schedule, &compiled, &costs, precision);
                if let Some(cells) = cells {
                    page += &predicted::table(&costs, at, cells, on);
                }
                summarize(&mut summary, short(&name), &costs, (at, cells, on));
            }
        }
        seen.insert(schedule, name);
    }
    if summary.is_empty() {
        return Ok(page);
    }
    page += "\nSUMMARY of the substep, all kernels: bytes and operations a cell, most registers, most shared bytes,\n\
             and, with --cells, the predicted time\n";
    Ok(page + &summary.to_string())
}

/// The columns of the table at the end.
const SUMMARY: [&str; 9] = [
    "schedule",
    "kernels#",
    "at least#",
    "as tiled#",
    "ops#",
    "flops/byte#",
    "registers#",
    "shared#",
    "us#",
];

/// The heading, with the meaning of the numbers.
fn heading(algorithm: &Algorithm, precision: Precision, at: usize) -> String {
    let (of, precision_name) = (algorithm.substeps.len(), precision.name());
    let looking = at + 1;
    let mut page =
        format!("SCHEDULES, in {precision_name}, looking at substep {looking} of {of}\n");
    page += &paragraph(
        "  ",
        "All numbers are predictions for a large patch, a cell: bytes `at least` if each array is read or written once, and \
         `as tiled` if each block reads its tile with its halo and shares nothing with others (Pekkilä et al. 2017, Eqs. 11 \
         to 13 and 19 to 21). Registers are the values alive at once in the order of the text and an estimate for addresses; a \
         compiler moves loads, so this is a rough guess, and for kernels without shared memory a low one.",
    );
    let floor = cost::floor_bytes(algorithm, at, precision.bytes());
    page + &format!(
        "  The arrays of this substep hold {floor:.0} bytes a cell: no schedule of single substeps moves less.\n"
    )
}

/// The reason why a schedule has no numbers, and the legal choices.
fn illegal(error: &ScheduleError) -> String {
    let help = error.help.iter();
    let help = help.map(|help| paragraph("  help: ", help));
    paragraph("  illegal: ", &error.message) + &help.collect::<String>()
}

/// A line for numbers that are not of one time step.
fn steps_at_once(plan: &Plan) -> String {
    match plan.time_steps {
        0 | 1 => String::new(),
        steps => format!("  Numbers are of {steps} time steps, which are done at once.\n"),
    }
}

/// Names of the schedules, words for them, and what they are.
fn chosen(page: &Page<'_>) -> Vec<(String, String, Schedule)> {
    match &page.schedule {
        None => {
            let problem = &page.problem;
            let make = |p: &presets::Preset| p.schedule(problem.algorithm, problem.chosen_for());
            let all = presets::ALL.iter();
            all.map(|p| (p.name.to_string(), p.summary.to_string(), make(p))).collect()
        }
        Some((name, schedule)) => {
            let words = presets::find(name).map_or("a schedule from a file", |p| p.summary);
            vec![(name.to_string(), words.to_string(), schedule.clone())]
        }
    }
}

/// A preset's name, or that of a file without its folders.
fn short(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.char_indices().nth(24).map_or(file, |(end, _)| &file[..end])
}

fn summarize(
    table: &mut Table,
    name: &str,
    costs: &[KernelCost],
    (at, cells, on): (usize, Option<[usize; 3]>, &Model),
) {
    let here: Vec<&KernelCost> = costs.iter().filter(|c| c.substep == at).collect();
    let sum = |f: fn(&KernelCost) -> f64| here.iter().map(|c| f(c)).sum::<f64>();
    let least = sum(KernelCost::least_bytes);
    table.row([
        name.to_string(),
        here.len().to_string(),
        format!("{least:.0}"),
        format!("{:.1}", sum(KernelCost::fetched_bytes)),
        format!("{:.0}", sum(|c| c.operations)),
        format!("{:.2}", sum(|c| c.flops) / least),
        here.iter().map(|c| c.registers).max().unwrap_or(0).to_string(),
        here.iter().map(|c| c.shared_bytes).max().unwrap_or(0).to_string(),
        cells.map_or("-".into(), |cells| {
            let time = |c: &&KernelCost| c.time(cells, &on.rates, c.likely_registers());
            let times: Option<Vec<_>> = here.iter().map(time).collect();
            let sum = |all: Vec<cost::Time>| all.iter().map(|t| t.total).sum::<f64>();
            times.map_or("-".into(), |all| format!("{:.1}", 1e6 * sum(all)))
        }),
    ]);
}

/// Kernels of the substep, each after the fills that it waits for.
fn kernels(
    algorithm: &Algorithm,
    schedule: &Schedule,
    compiled: &Compiled,
    costs: &[KernelCost],
    precision: Precision,
) -> String {
    let plan = &compiled.plan;
    let at = substep(algorithm);
    let mut page = placements(schedule);
    if let Some(line) = layout_line(plan.layout) {
        page += &format!("  {line}\n");
    }
    let derived = derived(plan);
    if !derived.is_empty() {
        page += &paragraph("  buffers besides those of the states: ", &derived.join(", "));
    }
    let mut fills = Vec::new();
    for step in &plan.steps {
        match step {
            Step::Fill { buffers, depth } => fills.push((buffers, depth)),
            Step::Swap { .. } => fills.clear(),
            step => {
                let Some(index) = step.launch() else { continue };
                let (launch, cost) = (&plan.launches[index], &costs[index]);
                if launch.substep == at {
                    for (buffers, depth) in &fills {
                        page += &paragraph(
                            &format!("  fill ghost cells, {} deep: ", triple(depth.towards)),
                            &buffers.join(", "),
                        );
                    }
                    page += &one(algorithm, plan, launch, cost, precision);
                }
                fills.clear();
            }
        }
    }
    page
}

/// Grid functions by placement.
pub(crate) fn by_placement(schedule: &Schedule) -> BTreeMap<Placement, Vec<&str>> {
    let mut by: BTreeMap<Placement, Vec<&str>> = BTreeMap::new();
    for (name, placement) in &schedule.placements {
        by.entry(*placement).or_default().push(name);
    }
    by
}

fn placements(schedule: &Schedule) -> String {
    let by = by_placement(schedule);
    if by.is_empty() {
        return "  everything inline\n".to_string();
    }
    by.iter()
        .map(|(placement, names)| {
            paragraph(&format!("  placed {}: ", placement_words(*placement)), &names.join(", "))
        })
        .collect()
}

fn one(
    algorithm: &Algorithm,
    plan: &Plan,
    launch: &Launch,
    cost: &KernelCost,
    precision: Precision,
) -> String {
    let mut page = format!("  kernel {}: {}\n", launch.name, print_blocking(&launch.blocking));
    let reads: Vec<String> = cost
        .inputs
        .iter()
        .map(|i| {
            if i.points == 1 {
                i.name.clone()
            } else {
                format!("{} at {} points", i.name, i.points)
            }
        })
        .collect();
    page += &paragraph("    reads       ", &reads.join(", "));
    page += &paragraph("    writes      ", &cost.outputs.join(", "));
    if launch.extend != [0; 3] {
        page +=
            &format!("    computes    {} cells beyond the interior too\n", triple(launch.extend));
    }
    page += &paragraph("    threads     ", &threads(cost));
    let (least, tiled) = (cost.least_bytes(), cost.fetched_bytes());
    page += &format!("    bytes       {least:.0} at least, {tiled:.1} as tiled\n");
    page += &format!(
        "    operations  {:.1}, or {:.1} flops: {:.2} flops a byte\n",
        cost.operations,
        cost.flops,
        cost.intensity()
    );
    if strategies::find(&launch.blocking.strategy).is_ok_and(|strategy| strategy.marches) {
        let context = Context {
            algorithm,
            plan,
            launch,
            value_bytes: precision.bytes(),
            // Lags and windows are the same on all.
            multiprocessor: &Multiprocessor::NEWEST,
        };
        page += &analyze(&context, cost.cells as i32)
            .map_or_else(|error| format!("    {error}\n"), |pipeline| march(algorithm, &pipeline));
    }
    page
}

/// The resources of a block.
pub(crate) fn threads(cost: &KernelCost) -> String {
    if cost.threads > 1 {
        let (threads, cells) =
            (counted(cost.threads as usize, "thread"), counted(cost.cells as usize, "cell"));
        let fit = if cost.registers > cost.register_limit() {
            format!(" ({} fit)", cost.register_limit())
        } else {
            String::new()
        };
        format!(
            "{threads} a block, {cells} each at once; {}{fit}, {} of shared memory",
            counted(cost.registers, "register"),
            counted(cost.shared_bytes, "byte")
        )
    } else {
        "rows, each a vector loop; rows that neighbours read are in caches".to_string()
    }
}

/// The march as a pipeline: the planes of its reads, and the functions that ride along.
fn march(algorithm: &Algorithm, pipeline: &Pipeline) -> String {
    let axis = ["x", "y", "z"][pipeline.axis.min(2)];
    let mut planes: BTreeMap<(i32, i32), Vec<String>> = BTreeMap::new();
    let read: BTreeSet<FnId> = pipeline.reads.keys().map(|(id, _)| *id).collect();
    for id in read {
        let lags =
            || pipeline.reads.keys().filter(|(of, _)| *of == id).map(|(_, at)| at[pipeline.axis]);
        let (low, high) = (lags().min().unwrap_or(0), lags().max().unwrap_or(0));
        planes.entry((low, high)).or_default().push(algorithm.function(id).name.clone());
    }
    let mut page = format!("    march       along {axis}; p is the plane of an iteration\n");
    for ((low, high), names) in planes.iter().rev() {
        let range = if low == high {
            format!("plane {}", plane(*low))
        } else {
            format!("planes {} to {}", plane(*low), plane(*high))
        };
        page += &paragraph(&format!("      reads {range}: "), &names.join(", "));
    }
    let mut stored: BTreeMap<i32, Vec<&str>> = BTreeMap::new();
    for (buffer, _, lag) in &pipeline.outputs {
        stored.entry(*lag).or_default().push(buffer);
    }
    for (lag, names) in &stored {
        page += &paragraph(&format!("      stores plane {}: ", plane(*lag)), &names.join(", "));
    }
    page + &riders(algorithm, pipeline)
}

/// The functions that ride along: partial sums and columns in registers.
fn riders(algorithm: &Algorithm, pipeline: &Pipeline) -> String {
    let mut page = String::new();
    if !pipeline.delayed.is_empty() {
        let mut table = Table::new(
            6,
            &[
                "rides along",
                "placement",
                "evaluated on",
                "complete on",
                "window#",
                "registers a cell#",
            ],
        );
        for (id, d) in &pipeline.delayed {
            table.row([
                algorithm.function(*id).name.clone(),
                placement_words(d.placement).to_string(),
                plane(d.source),
                plane(d.lag),
                d.window.to_string(),
                d.registers().to_string(),
            ]);
        }
        page += &table.to_string();
    }
    page
}

/// `p`, `p+3`, `p-3`.
fn plane(lag: i32) -> String {
    if lag == 0 { "p".to_string() } else { format!("p{lag:+}") }
}

pub(crate) fn triple(of: [u32; 3]) -> String {
    let [x, y, z] = of;
    if x == y && y == z { x.to_string() } else { format!("{x} {y} {z}") }
}
