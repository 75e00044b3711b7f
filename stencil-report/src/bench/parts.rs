//! Costs of the parts of a step: kernels, fills of ghost cells, and the search for the length of the step.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use stencil_compiler::cost::KernelCost;
use stencil_compiler::plan::{BufferRole, Launch, Plan};
use stencil_runtime::backend::cuda::{PartTime, StepPart};

use super::report::shortened;
use super::work::{Grid, Work};
use crate::pictures::roofline::Roofs;

/// Characters of the words for a part in the table; where they are more its label stands there.
const COMPUTES: usize = 44;

/// Names that stand in the words for a kernel, and in a label for it.
const NAMES: [usize; 2] = [3, 1];

/// The part that finds the length of a step.
const TIME_STEP: &str = "time step";

/// A part of a step, or of steps that are done at once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartCost {
    /// The name of a kernel, or of another part.
    pub(super) name: String,
    /// Its outputs in words.
    pub(super) computes: String,
    /// All of its outputs, by which parts are told apart.
    pub(super) whole: String,
    /// Its outputs in fewer words.
    pub(super) label: String,
    /// The names that it reads.
    pub(super) reads: BTreeSet<String>,
    /// From 0, of a kernel.
    pub(super) substep: Option<usize>,
    pub(super) work: Work,
    /// By itself, where it has a time of its own.
    pub(super) seconds: Option<f64>,
    /// The time of the part that does the same under the first schedule over its own, where there are several.
    pub(super) of_first: Option<f64>,
}

/// All parts of a step below the roofs of the machine.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartCosts {
    pub(super) all: Vec<PartCost>,
    pub(super) roofs: Roofs,
    /// Steps that they do at once.
    pub(super) steps: usize,
}

/// The kernels of a plan, and what else a card was found to do in a step.
pub(super) fn parts(
    grid: &Grid<'_>,
    (plan, costs): (&Plan, &[KernelCost]),
    times: &[PartTime],
) -> Vec<PartCost> {
    let kernel = |at: usize| {
        let (launch, cost) = (plan.launches.get(at)?, costs.get(at)?);
        Some(PartCost {
            name: launch.name.clone(),
            computes: computes(plan, launch, grid.dimension, NAMES[0]),
            whole: computes(plan, launch, grid.dimension, usize::MAX),
            reads: launch.inputs.iter().map(|(name, _)| name.clone()).collect(),
            label: computes(plan, launch, grid.dimension, NAMES[1]),
            substep: Some(launch.substep),
            work: Work::of(cost, grid),
            seconds: None,
            of_first: None,
        })
    };
    if times.is_empty() {
        return (0..plan.launches.len()).filter_map(kernel).collect();
    }
    let other = |name: &str, computes: &str, work| PartCost {
        name: name.into(),
        computes: computes.into(),
        whole: computes.into(),
        reads: BTreeSet::new(),
        label: name.into(),
        substep: None,
        work,
        seconds: None,
        of_first: None,
    };
    let value = grid.value_bytes as f64;
    let part = |time: &PartTime| {
        let part = match &time.part {
            StepPart::Kernel(at) => kernel(*at)?,
            StepPart::Fill { values } => {
                let bytes = 2.0 * *values as f64 * value;
                let work = Work { bytes, ..Work::default() };
                other("ghost cells", "ghost cells", work)
            }
            StepPart::TimeStep { costs, reduced, unwritten } => {
                let mut work = Work::default();
                for cost in costs {
                    work.add(&Work::of(cost, grid));
                }
                // Each value is read, and compared or added, by the threads of a warp without memory between them.
                let [reduced, unwritten] = [*reduced, *unwritten].map(|of| of * grid.points());
                work.bytes += (reduced - unwritten) * value;
                work.flops += reduced + unwritten;
                work.operations += reduced + unwritten;
                other(TIME_STEP, "speeds, and the time step", work)
            }
            _ => other("given fields", "given fields", Work::default()),
        };
        let seconds = Some(time.seconds);
        Some(PartCost { seconds, ..part })
    };
    times.iter().filter_map(part).collect()
}

/// Describes a launch: names of so many of its outputs, and the axes along which it reads neighbours, if these are not
/// all.
fn computes(plan: &Plan, launch: &Launch, dimension: usize, most: usize) -> String {
    let role = |buffer: &str| plan.buffer(buffer).map(|own| own.role);
    let outputs = launch.outputs.iter();
    let new = outputs.clone().filter_map(|(buffer, _)| {
        let field = buffer.strip_suffix("_new");
        field.filter(|_| role(buffer) == Some(BufferRole::NewField))
    });
    let mut names: Vec<&str> = new.collect();
    let gives_new = !names.is_empty();
    if !gives_new {
        names = outputs.map(|(_, function)| function.as_str()).collect();
    }
    let mut words = if gives_new { "new " } else { "" }.to_string();
    words += &names[..names.len().min(most)].join(", ");
    if names.len() > most {
        let _ = write!(words, " and {} more", names.len() - most);
    }
    let reads = |axis: &usize| launch.inputs.iter().any(|(_, reach)| reach[*axis] > 0);
    let axes: Vec<usize> = (0..dimension).filter(reads).collect();
    if !axes.is_empty() && axes.len() < dimension {
        let letters: Vec<&str> = axes.iter().map(|axis| ["x", "y", "z"][*axis]).collect();
        let _ = write!(words, ", along {}", letters.join(" and "));
    }
    words
}

/// Parts that do the same in several substeps, as one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Together {
    computes: String,
    whole: String,
    short: String,
    pub(super) times: usize,
    pub(super) work: Work,
    pub(super) seconds: f64,
    /// Seconds of those that do the same under the first schedule, where there are several.
    first: Option<f64>,
}

impl Together {
    /// Their speed over that under the first schedule.
    pub(super) fn of_first(&self) -> Option<f64> {
        self.first.map(|first| first / self.seconds)
    }

    /// Do these do the same as often?
    pub(super) fn is_like(&self, other: &Together) -> bool {
        (&self.whole, self.times) == (&other.whole, other.times)
    }

    /// Their outputs in words, and their number.
    pub(super) fn words(&self) -> String {
        self.often(&self.computes)
    }

    /// The same, shorter.
    pub(super) fn label(&self) -> String {
        self.often(&self.short)
    }

    fn often(&self, words: &str) -> String {
        match self.times {
            1 => words.into(),
            times => format!("{times} x {words}"),
        }
    }
}

impl PartCosts {
    /// Compares kernels with those that compute the same of the same in the same substep of another schedule, and the time step.
    /// Fills of ghost cells are of different arrays, and kernels of several steps do more than those of one.
    pub(super) fn compare(&mut self, first: &PartCosts) {
        let do_as_many = self.steps == first.steps;
        for part in &mut self.all {
            let of = |part: &PartCost| (part.whole.clone(), part.reads.clone(), part.substep);
            let same = |other: &&PartCost| of(other) == of(part);
            let is_alone = part.substep.is_some() || part.name == TIME_STEP;
            let other = first.all.iter().find(same);
            let other = other.filter(|_| is_alone && do_as_many);
            let seconds = other.and_then(|other| other.seconds).zip(part.seconds);
            part.of_first = seconds.map(|(first, own)| first / own);
        }
    }

    /// Seconds of all parts one by one, if they have times of their own.
    pub(super) fn seconds(&self) -> Option<f64> {
        let all: Option<Vec<f64>> = self.all.iter().map(|part| part.seconds).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
    }

    /// The work of all of them.
    pub(super) fn work(&self) -> Work {
        let mut work = Work::default();
        self.all.iter().for_each(|part| work.add(&part.work));
        work
    }

    /// Those that have times of their own, together if they do the same; the longest first.
    pub(super) fn together(&self) -> Vec<Together> {
        let mut all: Vec<Together> = Vec::new();
        for part in &self.all {
            let Some(seconds) = part.seconds else {
                continue;
            };
            let first = part.of_first.map(|ratio| ratio * seconds);
            let same = all.iter_mut().find(|own| own.whole == part.whole);
            if let Some(own) = same {
                own.times += 1;
                own.work.add(&part.work);
                own.seconds += seconds;
                own.first = own.first.zip(first).map(|(sum, more)| sum + more);
            } else {
                all.push(Together {
                    computes: part.computes.clone(),
                    whole: part.whole.clone(),
                    short: part.label.clone(),
                    times: 1,
                    work: part.work,
                    seconds,
                    first,
                });
            }
        }
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        all
    }

    /// A line for each part; `step` is what a step takes in seconds, `of_first` how many times as fast it is as by the first schedule.
    pub(super) fn table(&self, step: f64, of_first: Option<f64>) -> String {
        let mut text = format!(
            "  {:<24} {:<44} {:>8} {:>8} {:>7} {:>5} {:>9} {:>7} {:>8} {:>7} {:>7}",
            "part",
            "computes",
            "MB",
            "Mflop",
            "flop/B",
            "div",
            "us",
            "GB/s",
            "Gflop/s",
            "of roof",
            "share"
        );
        text += if of_first.is_some() { "  of first\n" } else { "\n" };
        let ratio = |own: Option<f64>| match (of_first, own) {
            (None, _) => "\n".to_string(),
            (Some(_), Some(own)) => format!("  {own:>8.2}\n"),
            (Some(_), None) => format!("  {:>8}\n", "-"),
        };
        let all = self.seconds();
        for part in &self.all {
            let time = part.seconds.map(|seconds| (seconds, all.unwrap_or(seconds)));
            let fits = part.computes.chars().count() <= COMPUTES;
            let words = if fits { &part.computes } else { &part.label };
            text += &self.line(&part.name, words, &part.work, time);
            text += &ratio(part.of_first);
        }
        // Their sum has no time of its own; a step has.
        let group = step * self.steps as f64;
        let name = match self.steps {
            1 => "a step".to_string(),
            steps => format!("{steps} steps"),
        };
        let words =
            all.map_or(String::new(), |all| format!("parts one by one: {:.0} us", 1e6 * all));
        text += &self.line(&name, &words, &self.work(), Some((group, group)));
        text + &ratio(of_first)
    }

    fn line(&self, name: &str, words: &str, work: &Work, time: Option<(f64, f64)>) -> String {
        let percent = |part: f64| format!("{:.1} %", 100.0 * part);
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".into());
        let seconds = time.map(|(seconds, _)| seconds);
        let rounded = |rate: f64| format!("{rate:.*}", usize::from(rate < 100.0));
        let rate = |of: f64| or_dash(seconds.map(|s| rounded(of / s / 1e9)));
        let millions = |of: f64| format!("{:.*}", if of < 1e7 { 3 } else { 1 }, of / 1e6);
        let has_flops = work.flops > 0.0;
        format!(
            "  {name:<24} {:<44} {:>8} {:>8} {:>7} {:>5} {:>9} {:>7} {:>8} {:>7} {:>7}",
            shortened(words, COMPUTES),
            millions(work.bytes),
            millions(work.flops),
            or_dash(has_flops.then(|| format!("{:.2}", work.intensity()))),
            or_dash(has_flops.then(|| format!("{:.0} %", 100.0 * work.dividing()))),
            or_dash(seconds.map(|s| format!("{:.1}", 1e6 * s))),
            rate(work.bytes),
            or_dash(seconds.filter(|_| has_flops).map(|_| rate(work.flops))),
            or_dash(seconds.map(|s| percent(work.of_roof(s, &self.roofs)))),
            or_dash(time.map(|(part, all)| percent(part / all))),
        )
    }

    pub(super) fn json(&self) -> Value {
        let all = self.seconds();
        let part = |part: &PartCost| {
            let rate = |of: f64| part.seconds.map(|seconds| of / seconds / 1e9);
            let of_roof = |seconds: f64| part.work.of_roof(seconds, &self.roofs);
            json!({
                "name": part.name,
                "computes": part.computes,
                "substep": part.substep.map(|substep| substep + 1),
                "bytes": part.work.bytes,
                "flops": part.work.flops,
                "operations": part.work.operations,
                "divisions": part.work.divisions,
                "flops_per_byte": part.work.intensity(),
                "us": part.seconds.map(|seconds| 1e6 * seconds),
                "gb_per_s": rate(part.work.bytes),
                "gflops": rate(part.work.flops),
                "of_roof": part.seconds.map(of_roof),
                "share": part.seconds.zip(all).map(|(seconds, all)| seconds / all),
                "rate_of_first": part.of_first,
            })
        };
        let parts: Vec<Value> = self.all.iter().map(part).collect();
        json!({
            "steps": self.steps,
            "copy_gb_per_s": self.roofs.copy,
            "peak_gflops": self.roofs.peak,
            "parts": parts,
        })
    }
}

/// The meaning of the columns.
pub(super) const NOTES: &str = "MB: what memory is predicted to move; of a processor, what must move\n\
     Mflop, flop/B: operations, a multiply-add is two; for each byte\n\
     div: the share of divisions and square roots in the arithmetic instructions, of which each is eight\n\
     us: of each part by itself, with the gap to the next launch; of roof: the time of a copy of its bytes or of its\n\
     \x20 instructions at the peak, whichever is longer, over its time; what caches hold is above 100 %\n\
     of first: how many times as fast as what computes the same of the same by the first schedule, where both do as many steps at once\n";

#[cfg(test)]
mod tests {
    use stencil_compiler::algorithm::Algorithm;
    use stencil_compiler::compile::{Compiled, Target, compile};
    use stencil_compiler::cost;
    use stencil_compiler::model::parse::parse_str;
    use stencil_compiler::{discretize::discretize, schedule::text};

    use super::*;

    fn compiled(schedule: &str) -> (Algorithm, Compiled) {
        let source = "pub system Sound in 2d { conserved p: scalar; conserved u: vector;
            flux p -> u; flux u -> p * I; waves { sound: 1; } }
            scheme s for Sound { reconstruct: waves<limiter = mc>; riemann: roe; sweep: dimensional; time: euler; }";
        let algorithm = discretize(&parse_str(source).unwrap()).unwrap();
        let schedule = text::parse(schedule).unwrap();
        let compiled = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
        (algorithm, compiled)
    }

    fn grid(card: Option<&cost::Card>) -> Grid<'_> {
        Grid { cells: [64, 32, 1], patches: [1; 3], dimension: 2, value_bytes: 8, card }
    }

    #[test]
    fn kernels_are_told_by_what_they_give_and_read() {
        let (_, one) = compiled("schedule kernel direct");
        let costs = cost::kernels(&one).unwrap();
        let parts = parts(&grid(None), (&one.plan, &costs), &[]);
        let words: Vec<&str> = parts.iter().map(|part| part.computes.as_str()).collect();
        assert_eq!(words, ["new p, u_x, u_y, along x", "new p, u_x, u_y, along y"]);
        assert!(parts.iter().all(|part| part.seconds.is_none()));
        // Three fields are read and written.
        assert_eq!(parts[0].work.bytes, 64.0 * 32.0 * 8.0 * 6.0);
        let (_, stored) = compiled(
            "schedule place p_x_flux global exchange place u_x_x_flux global exchange
             place p_x_flux_all_families global exchange place u_x_x_flux_all_families global exchange
             kernel direct kernel direct",
        );
        let costs = cost::kernels(&stored).unwrap();
        let parts = super::parts(&grid(None), (&stored.plan, &costs), &[]);
        assert!(parts[0].computes.ends_with(" and 1 more, along x"), "{}", parts[0].computes);
        // Four names, whatever the words show of them.
        assert_eq!(parts[0].whole.split(", ").count(), 5, "{}", parts[0].whole);
    }

    #[test]
    fn what_a_card_did_in_a_step_is_in_its_order() {
        let (_, one) = compiled("schedule kernel direct");
        let costs = cost::kernels(&one).unwrap();
        let time = |part, us: f64| PartTime { part, seconds: 1e-6 * us };
        let speeds =
            StepPart::TimeStep { costs: costs[..1].to_vec(), reduced: 1.0, unwritten: 0.0 };
        let times = [
            time(speeds, 7.0),
            time(StepPart::Fill { values: 1000 }, 3.0),
            time(StepPart::Kernel(1), 5.0),
        ];
        let card = cost::Card::default();
        let parts = parts(&grid(Some(&card)), (&one.plan, &costs), &times);
        let found: Vec<(&str, Option<usize>, f64)> = parts
            .iter()
            .map(|part| (part.name.as_str(), part.substep, 1e6 * part.seconds.unwrap()))
            .collect();
        let expected =
            [("time step", None, 7.0), ("ghost cells", None, 3.0), ("Sound_2_1", Some(1), 5.0)];
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!((found.0, found.1), (expected.0, expected.1));
            assert!((found.2 - expected.2).abs() < 1e-9);
        }
        assert_eq!(parts[1].work.bytes, 16e3);
        // One more value of each cell is read for its maximum.
        let points = 64.0 * 32.0;
        let kernel = costs[0].memory_bytes([64, 32, 1], &card).unwrap();
        assert!((parts[0].work.bytes - points * (kernel + 8.0)).abs() < 1e-6);
        assert!((parts[0].work.flops - points * (costs[0].flops + 1.0)).abs() < 1e-6);
    }
}
