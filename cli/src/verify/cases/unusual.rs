//! Schedules that no preset has.

use std::collections::BTreeMap;
use std::iter;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::schedule::{Blocking, Layout, Schedule};
use stencil_compiler::search::heuristic;

use super::{KINDS, PERIODIC};
use crate::source::Precision;
use crate::verify::on_card::on_card;

/// Blockings and layouts of arrays that no preset has.
const UNUSUAL: [(&str, Layout); 5] = [
    ("direct", Layout::Aos),
    ("direct", Layout::Surface),
    ("lexicographic", Layout::Soa),
    ("lexicographic", Layout::Aos),
    ("lexicographic", Layout::Surface),
];

/// Schedules that no preset has. If values lie apart or in surfaces, other code fills ghost cells and copies fields, so
/// these cover everything beyond faces. One more has literals.
pub(super) fn unusual(
    algorithm: &Algorithm,
    precision: Precision,
    architecture: &str,
) -> Vec<(String, Schedule)> {
    let all = UNUSUAL.iter().flat_map(|(strategy, layout)| {
        let laid_out = Schedule { layout: *layout, ..Schedule::default() };
        let schedule = laid_out.blocked(algorithm, Blocking::new(strategy, &[]));
        let runs = match layout {
            Layout::Soa => 1,
            Layout::Aos | Layout::Surface => KINDS - PERIODIC,
        };
        let named = (format!("{strategy} {}", layout.word()), schedule);
        iter::repeat_n(named, runs)
    });
    let march = march(algorithm, precision).filter(|schedule| on_card(schedule, architecture));
    let march = march.map(|schedule| ("march, prologue".to_string(), schedule));
    all.chain(march).collect()
}

/// A march whose sums ride along, with a prologue and the later prefetch point; `None` if it is illegal.
fn march(algorithm: &Algorithm, precision: Precision) -> Option<Schedule> {
    let mut placements = BTreeMap::new();
    heuristic::carry(algorithm, &mut placements);
    let params = [("prologue", 1), ("prefetch_point", 1), ("chunk", 16)];
    let schedule =
        Schedule::placing(placements).blocked(algorithm, Blocking::new("march", &params));
    let is_legal = compile(algorithm, &schedule, &Target::new(precision.get().bytes())).is_ok();
    is_legal.then_some(schedule)
}
