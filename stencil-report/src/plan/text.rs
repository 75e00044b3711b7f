//! A report as text: the tree of a step, then tables of cuts and of other candidates.

use stencil_compiler::diag::counted;
use stencil_compiler::schedule::text::{layout_line, placement_words, print_blocking};

use super::alternatives;
use super::cuts::Cut;
use super::declared::Declared;
use super::diff;
use super::report::{Entry, Kernel, Planned, Report};
use super::tree::Tree;
use crate::explain::equations;
use crate::explain::schedules::{by_placement, threads, triple};
use crate::table::{Table, paragraph};

/// The page.
pub(super) fn page(report: &Report<'_>) -> String {
    let problem = &report.problem;
    let [x, y, z] = report.problem.cells;
    let mut page = format!(
        "PLAN of {} in {}, {x} x {y} x {z} cells on {}\n",
        report.problem.algorithm.name,
        report.problem.precision.name(),
        report.problem.on.name
    );
    page += &paragraph("  scheme    ", &report.problem.algorithm.scheme);
    if let Some(chosen) = problem.chosen {
        page += &paragraph("            ", &chosen.words());
    }
    if let Some(waves) = equations::waves(problem.model) {
        page += &paragraph("  waves     ", &waves);
    }
    let plan = &report.plan;
    page += &paragraph("  schedule  ", &plan.name);
    page += &paragraph("            ", &plan.why);
    if let Some(line) = layout_line(plan.schedule.layout) {
        page += &format!("            {line}\n");
    }
    page += &placements(plan);
    page += &paragraph(
        "  reading   ",
        &format!(
            "lines are of {}. Bytes, operations and flops are for each point. Times are predicted for a \
             periodic mesh in one patch; `floor` is the time of a copy of the bytes that single substeps must move. \
             Registers: {}.",
            report.problem.algorithm.file, plan.compiler
        ),
    );
    page += &measured(report);
    page.push('\n');
    page += &step(report).print();
    if let Some((shared, ways)) = &report.shared {
        page += &shared.text(problem.points(), plan.predicted.seconds);
        page += &ways.text(problem.points(), shared);
    }
    if let Some(streamed) = &report.streamed {
        page += &streamed.text(problem.points());
    }
    if let Some(other) = &report.against {
        page += &diff::text(other, plan);
    }
    page += &cuts(report);
    page + &rejected(report)
}

/// Grid functions that are placed, by placement.
fn placements(plan: &Planned) -> String {
    let mut page = String::new();
    let by = by_placement(&plan.schedule);
    for (placement, names) in &by {
        let words = format!("{} {}", placement_words(*placement), names.join(", "));
        page += &paragraph("  placed    ", &words);
    }
    if by.is_empty() {
        page += "  placed    nothing: all grid functions are recomputed where they are used\n";
    }
    let passes = plan.schedule.more_passes();
    if passes > 0 {
        page += &format!("  passes    {}\n", passes + 1);
    }
    let parted: Vec<&str> = plan.schedule.parted().collect();
    if !parted.is_empty() {
        page += &paragraph(
            "  parted    ",
            &format!("in later kernels than others {}", parted.join(", ")),
        );
    }
    page
}

/// The measured time, beside the predicted one.
fn measured(report: &Report<'_>) -> String {
    let Some(found) = &report.plan.measured else {
        return String::new();
    };
    let plan = &report.plan;
    let points = report.problem.cells.iter().map(|n| *n as f64).product::<f64>();
    let copied = |bytes: f64| bytes * points / found.copy_bytes;
    let flops = plan.predicted.sum(|c| c.flops) * points / found.best / 1e12;
    let steps = plan.predicted.plan.time_steps;
    let moved = plan.kernels().map(|kernel| kernel.moved).sum::<f64>() / steps as f64;
    let mut page = paragraph(
        "  measured  ",
        &format!(
            "{} a step on {} (median {}), {:.0} million points a second: {:.2} times the prediction for {}, {:.2} times \
             the one with the numbers of this card; {:.0} % of the floor by its own copy of {:.2} TB/s. The bytes predicted of memory would be {:.2} TB/s, and it \
             computes {flops:.2} Tflop/s. {}",
            time(found.best),
            found.card,
            time(found.median),
            report.rate(found.best),
            found.best / plan.predicted.seconds,
            report.problem.on.name,
            found.best / found.predicted,
            100.0 * copied(plan.floor_bytes) / found.best,
            found.copy_bytes / 1e12,
            moved * points / found.best / 1e12,
            counted(found.launches, "launch")
        ),
    );
    for doubt in &found.doubts {
        page += &paragraph("  note      ", &doubt.to_string());
    }
    page
}

/// The time of a step without rests.
fn sustained(report: &Report<'_>) -> String {
    let found = &report.plan.predicted;
    if report.problem.on.rates.power.is_unknown() {
        return format!("no limit of power is known of {}", report.problem.on.name);
    }
    format!(
        "sustained {}, {:.0} million, at {:.2} of the clock",
        time(found.sustained),
        report.rate(found.sustained),
        found.held
    )
}

/// The tree of a step.
fn step(report: &Report<'_>) -> Tree {
    let plan = &report.plan;
    let seconds = plan.predicted.seconds;
    let kernels = plan.predicted.costs.len();
    let fills = plan.substeps.iter().flatten();
    let fills = fills.filter(|e| matches!(e, Entry::Fill { .. })).count();
    let mut tree = Tree::new(format!(
        "step  {} predicted, {:.0} million points a second, {:.0} % of the floor ({:.0} bytes); {}; {}, {}",
        time(seconds),
        report.rate(seconds),
        100.0 * plan.floor_seconds / seconds,
        plan.floor_bytes,
        sustained(report),
        counted(kernels, "kernel"),
        match plan.predicted.plan.time_steps {
            1 => counted(fills, "fill"),
            steps => format!("{} for {steps} steps at once", counted(fills, "fill")),
        },
    ));
    let mut seen: Vec<&Kernel> = Vec::new();
    for (at, entries) in plan.substeps.iter().enumerate() {
        let seconds: f64 = entries.iter().map(Entry::seconds).sum();
        let (number, of) = (at + 1, plan.substeps.len());
        let mut substep = Tree::new(format!("substep {number} of {of}  {}", time(seconds)));
        for entry in entries {
            substep.push(match entry {
                Entry::Fill { buffers, depth, seconds, .. } => Tree::new(format!(
                    "fill ghost cells, {} deep, of {}: {}",
                    triple(*depth),
                    buffers.join(", "),
                    time(*seconds)
                )),
                Entry::Kernel(kernel) => {
                    let twin = seen.iter().find(|other| other.is_like(kernel)).copied();
                    seen.push(kernel);
                    self::kernel(kernel, twin)
                }
            });
        }
        tree.push(substep);
    }
    tree
}

/// A kernel, in a line if there was one before with the same numbers.
fn kernel(kernel: &Kernel, twin: Option<&Kernel>) -> Tree {
    let measured = kernel.measured.map(|seconds| {
        let ratio = seconds / kernel.time.total;
        format!(" predicted, {} measured ({ratio:.2} times that)", time(seconds))
    });
    let title = format!(
        "kernel {}  {}{}, {:.0} % of its floor, bound by {}",
        kernel.launch.name,
        time(kernel.time.total),
        measured.unwrap_or_default(),
        100.0 * kernel.of_floor(),
        kernel.time.limit().0.name()
    );
    if let Some(twin) = twin {
        return Tree::new(format!("{title}: as {}", twin.launch.name));
    }
    let mut tree = Tree::new(title);
    let mut leaf = |name: &str, text: String| {
        if !text.is_empty() {
            tree.push(Tree::leaf(name, text));
        }
    };
    leaf("equations", lines(&kernel.equations));
    leaf("stores", lines(&kernel.stores));
    leaf("lets", lines(&kernel.lets));
    leaf("reads", reads(kernel));
    leaf("writes", kernel.cost.outputs.join(", "));
    leaf("blocking", blocking(kernel));
    let cost = &kernel.cost;
    leaf(
        "bytes",
        format!(
            "{:.0} at least, {:.1} as tiled, {:.1} predicted of memory",
            cost.least_bytes(),
            cost.fetched_bytes(),
            kernel.moved
        ),
    );
    leaf(
        "operations",
        format!(
            "{:.1}, or {:.1} flops: {:.2} for each byte that must move",
            cost.operations,
            cost.flops,
            cost.intensity()
        ),
    );
    leaf("block", threads(cost));
    leaf("registers", registers(kernel));
    leaf("occupancy", occupancy(kernel));
    leaf("time", parts(kernel));
    tree
}

/// Names with their lines.
fn lines(declared: &[Declared]) -> String {
    let one = |d: &Declared| match d.lines {
        None => d.name.clone(),
        Some((first, last)) if first == last => format!("{} (line {first})", d.name),
        Some((first, last)) => format!("{} (lines {first} to {last})", d.name),
    };
    declared.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The footprint.
fn reads(kernel: &Kernel) -> String {
    let mut by: Vec<(String, Vec<&str>)> = Vec::new();
    for input in &kernel.cost.inputs {
        let what = match input.points {
            1 => "in the own cell".to_string(),
            n => {
                let reach = kernel.launch.inputs.iter().find(|(name, _)| *name == input.name);
                let radius =
                    reach.map_or(String::new(), |(_, r)| format!(", radius {}", triple(*r)));
                format!("at {n} points{radius}")
            }
        };
        match by.iter_mut().find(|(own, _)| *own == what) {
            Some((_, names)) => names.push(&input.name),
            None => by.push((what, vec![&input.name])),
        }
    }
    let parts = by.into_iter().map(|(what, names)| format!("{} {what}", names.join(", ")));
    parts.collect::<Vec<_>>().join("; ")
}

fn blocking(kernel: &Kernel) -> String {
    let tile = kernel.cost.tile.map(|n| match n {
        0 => "all".to_string(),
        n => n.to_string(),
    });
    let covered = match kernel.cost.runs {
        true => format!("a run of {}", tile[0]),
        false => tile.join(" x "),
    };
    let mut text =
        format!("{}; a block covers {covered} cells", print_blocking(&kernel.launch.blocking));
    if kernel.launch.extend != [0; 3] {
        text += &format!(", and {} beyond the interior", triple(kernel.launch.extend));
    }
    text
}

fn registers(kernel: &Kernel) -> String {
    let spilled = |bytes: u32| match bytes {
        0 => "no spills".to_string(),
        bytes => format!("{bytes} bytes of spills"),
    };
    let (likely, spills) = kernel.likely;
    let predicted = format!("{likely} predicted, {}", spilled(spills));
    match &kernel.compiled {
        None => predicted,
        Some(own) => format!(
            "{} compiled, {} ({predicted})",
            own.registers,
            spilled(own.spill_stores + own.spill_loads)
        ),
    }
}

fn occupancy(kernel: &Kernel) -> String {
    format!(
        "{} on a multiprocessor, {:.0} % of its warps; no more for {}",
        counted(kernel.occupancy.blocks as usize, "block"),
        100.0 * kernel.warps,
        kernel.occupancy.bound.name()
    )
}

fn parts(kernel: &Kernel) -> String {
    let time = &kernel.time;
    let us = |seconds: f64| format!("{:.0}", 1e6 * seconds);
    let texture = match time.texture {
        0.0 => String::new(),
        seconds => format!(", texture units {}", us(seconds)),
    };
    format!(
        "us: memory {}, issue {}, arithmetic {}, shared memory {}{texture}; waves and overhanging tiles {:.0} % more",
        us(time.memory),
        us(time.issue),
        us(time.arithmetic),
        us(time.shared),
        100.0 * (time.waste - 1.0).max(0.0)
    )
}

/// A time in the unit that suits it.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1e-3 => format!("{:.3} ms", 1e3 * s),
        s => format!("{:.1} us", 1e6 * s),
    }
}

fn cuts(report: &Report<'_>) -> String {
    let mut page =
        "\nCUTS: what storing a grid function costs and saves, a point and step\n".to_string();
    if report.cuts.is_empty() {
        return page + "  none: no grid function is evaluated at more than one place\n";
    }
    page += &paragraph(
        "  ",
        "`at most` is the bound of Pekkilä et al. 2017, Eq. 27: so many times faster is a step if all kernels of the cut \
         one move their bytes at the speed of a copy. `speed` is the share of that speed which the uncut one reaches. \
         The uncut step has the fastest blocking that was found for it.",
    );
    for (made, title) in [(true, "  in the plan"), (false, "  not in the plan")] {
        let own: Vec<&Cut> = report.cuts.iter().filter(|c| c.is_made == made).collect();
        if own.is_empty() {
            page += &format!("{title}: none\n");
            continue;
        }
        page += &format!("{title}\n");
        let mut table = Table::new(
            4,
            &[
                "cut",
                "line#",
                "bytes#",
                "operations#",
                "filling#",
                "speed#",
                "at most#",
                "predicted#",
                "uncut",
            ],
        );
        for cut in own {
            table.row([
                cut.what.clone(),
                cut.line.map_or("-".into(), |line| line.to_string()),
                format!("{:+.0}", cut.bytes()),
                format!("{:+.0}", -cut.operations),
                time(cut.filling),
                format!("{:.0} %", 100.0 * cut.initial.speed),
                format!("{:.2}", cut.bound()),
                format!("{:.2}", cut.predicted()),
                if made { cut.initial.words.clone() } else { "the plan".into() },
            ]);
        }
        page += &table.to_string();
    }
    page
}

fn rejected(report: &Report<'_>) -> String {
    let mut page = "\nREJECTED: the other candidates\n".to_string();
    let (shown, left, slowest) = alternatives::shown(report);
    let mut table = Table::new(2, &["time#", "longer#", "candidate and what makes it slower"]);
    let best = &report.plan.predicted;
    for (candidate, found) in shown {
        table.row([
            time(found.seconds),
            format!("{:+.0} %", 100.0 * (found.seconds / best.seconds - 1.0)),
            format!(
                "{}: {}",
                candidate.names(),
                alternatives::slower(&report.problem, best, found)
            ),
        ]);
    }
    if !table.is_empty() {
        page += &table.to_string();
    }
    if left > 0 {
        page += &format!("  and {left} more of these kinds, the slowest with {}\n", time(slowest));
    }
    if let Some(fused) = alternatives::fused(report) {
        page += &paragraph("  fused substeps: ", &fused);
    }
    let (reasons, others) = alternatives::reasons(&report.rejected);
    for (number, words, first) in reasons {
        let which = match number {
            1 => first.name.clone(),
            n => format!("{n} schedules, as {}", first.name),
        };
        page += &paragraph("  cannot run: ", &format!("{which}: {words}"));
    }
    if others > 0 {
        page += &format!("  cannot run: {others} more, for other reasons\n");
    }
    page
}
