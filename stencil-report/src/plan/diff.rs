//! Differences between two plans: placements, blockings of kernels, and the costs of a step.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use stencil_compiler::schedule::text::{layout_line, placement_words, print_blocking};
use stencil_compiler::schedule::{Placement, Schedule};

use super::report::{Entry, Kernel, Planned};
use super::text::time;
use crate::table::{Table, paragraph};

/// A quantity of two plans.
struct Quantity {
    name: &'static str,
    /// A name for programs.
    key: &'static str,
    values: [f64; 2],
    show: fn(f64) -> String,
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

fn percent(value: f64) -> String {
    format!("{:.0} %", 100.0 * value)
}

/// The quantities of a step.
fn quantities(from: &Planned, to: &Planned) -> Vec<Quantity> {
    let quantity = |name, key, show, of: &dyn Fn(&Planned) -> f64| Quantity {
        name,
        key,
        values: [of(from), of(to)],
        show,
    };
    let sum = |plan: &Planned, of: &dyn Fn(&Kernel) -> f64| plan.kernels().map(of).sum::<f64>();
    let most =
        |plan: &Planned, of: &dyn Fn(&Kernel) -> f64| plan.kernels().map(of).fold(0.0, f64::max);
    let fills = |plan: &Planned| {
        let all = plan.substeps.iter().flatten();
        all.filter(|e| matches!(e, Entry::Fill { .. })).count() as f64
    };
    vec![
        quantity("kernels", "kernels", whole, &|p| p.kernels().count() as f64),
        quantity("fills of ghost cells", "fills", whole, &fills),
        quantity("bytes at least", "bytes_least", whole, &|p| sum(p, &|k| k.cost.least_bytes())),
        quantity("bytes as tiled", "bytes_tiled", tenths, &|p| sum(p, &|k| k.cost.fetched_bytes())),
        quantity("bytes of memory", "bytes_memory", tenths, &|p| sum(p, &|k| k.moved)),
        quantity("operations", "operations", whole, &|p| sum(p, &|k| k.cost.operations)),
        quantity("flops", "flops", whole, &|p| sum(p, &|k| k.cost.flops)),
        quantity("most registers", "registers", whole, &|p| {
            most(p, &|k| f64::from(k.registers().0))
        }),
        quantity("most bytes of spills", "spilled_bytes", whole, &|p| {
            most(p, &|k| f64::from(k.registers().1))
        }),
        quantity("most shared bytes", "shared_bytes", whole, &|p| {
            most(p, &|k| k.cost.shared_bytes as f64)
        }),
        quantity("fewest warps", "warps", percent, &|p| {
            p.kernels().map(|k| k.warps).fold(1.0, f64::min)
        }),
        quantity("predicted time", "predicted_s", time, &|p| p.predicted.seconds),
        quantity("of the floor", "of_floor", percent, &|p| p.floor_seconds / p.predicted.seconds),
    ]
}

/// Lines of two lists that only one of them has: `-` the first, `+` the second.
fn changed(from: &[String], to: &[String]) -> Vec<String> {
    let gone = from.iter().filter(|line| !to.contains(line));
    let new = to.iter().filter(|line| !from.contains(line));
    gone.map(|line| format!("- {line}")).chain(new.map(|line| format!("+ {line}"))).collect()
}

/// Placements and passes of a schedule, and its settings of all kernels.
fn placements(schedule: &Schedule) -> Vec<String> {
    let placed = schedule.placements.iter();
    let placed = placed.map(|(name, placement)| format!("{name} {}", placement_words(*placement)));
    let passes = schedule.passes.iter();
    let passes = passes.map(|(name, pass)| format!("{name} in pass {pass}"));
    let layout = layout_line(schedule.layout);
    placed.chain(passes).chain(layout).collect()
}

/// Kernels of the substep that has most of them, the first of those, as lines.
fn kernels(plan: &Planned) -> Vec<String> {
    let of = |substep: usize| plan.kernels().filter(move |k| k.launch.substep == substep);
    let substeps = 0..plan.substeps.len();
    let Some(substep) = substeps.rev().max_by_key(|at| of(*at).count()) else {
        return Vec::new();
    };
    of(substep)
        .enumerate()
        .map(|(at, kernel)| {
            let declared = kernel.equations.iter().chain(&kernel.stores);
            let gives: Vec<&str> = declared.map(|d| d.name.as_str()).collect();
            format!(
                "{}: {} gives {}",
                at + 1,
                print_blocking(&kernel.launch.blocking),
                gives.join(", ")
            )
        })
        .collect()
}

/// Grid functions whose placement differs, by what it was and is; and what is in other passes.
fn moved(from: &Schedule, to: &Schedule) -> String {
    let names = from.placements.keys().chain(to.placements.keys());
    let names: BTreeSet<&String> = names.collect();
    let mut by: BTreeMap<[Placement; 2], Vec<&str>> = BTreeMap::new();
    for name in names {
        let both = [from.placement(name), to.placement(name)];
        if both[0] != both[1] {
            by.entry(both).or_default().push(name);
        }
    }
    let mut page = match by.is_empty() {
        true => "  placements: the same\n".to_string(),
        false => "  placements\n".to_string(),
    };
    for ([old, new], names) in by {
        let words = format!("{} -> {}: ", placement_words(old), placement_words(new));
        page += &paragraph("    ", &(words + &names.join(", ")));
    }
    let passes = [from, to].map(|schedule| {
        let passes = schedule.passes.iter();
        let passes: Vec<String> = passes.map(|(name, pass)| format!("{name} {pass}")).collect();
        passes
    });
    if passes[0] != passes[1] {
        let [old, new] = passes.map(|p| match p.is_empty() {
            true => "one for all".to_string(),
            false => p.join(", "),
        });
        page += &paragraph("  passes: ", &format!("{old} -> {new}"));
    }
    page
}

/// The differences as text.
pub(super) fn text(from: &Planned, to: &Planned) -> String {
    let mut page = format!("\nDIFFERENCES from `{}` to `{}`\n", from.name, to.name);
    if from.predicted.plan == to.predicted.plan {
        return page + "  none: both come to the same plan\n";
    }
    page += &moved(&from.schedule, &to.schedule);
    let lines = changed(&kernels(from), &kernels(to));
    match lines.is_empty() {
        true => page += "  kernels of a substep: the same\n",
        false => page += "  kernels of a substep\n",
    }
    for line in lines {
        let (sign, words) = line.split_at(2);
        page += &paragraph(&format!("    {sign}"), words);
    }
    let mut table = Table::new(2, &["a point and step", "from#", "to#", "change#"]);
    for Quantity { name, values, show, .. } in quantities(from, to) {
        let [old, new] = values;
        let change = match (old == new, old == 0.0) {
            (true, _) => "=".to_string(),
            (false, true) => "new".to_string(),
            (false, false) => format!("{:+.0} %", 100.0 * (new / old - 1.0)),
        };
        table.row([name.to_string(), show(old), show(new), change]);
    }
    page + &table.to_string()
}

/// The differences as JSON.
pub(super) fn json(from: &Planned, to: &Planned) -> Value {
    let rows = quantities(from, to).into_iter();
    let rows: serde_json::Map<String, Value> = rows
        .map(|q| (q.key.to_string(), json!({ "from": q.values[0], "to": q.values[1] })))
        .collect();
    json!({
        "from": from.name,
        "to": to.name,
        "placements": changed(&placements(&from.schedule), &placements(&to.schedule)),
        "kernels": changed(&kernels(from), &kernels(to)),
        "step": rows,
    })
}
