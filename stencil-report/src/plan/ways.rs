//! The ways in which devices that share a mesh may get values from each other, each with its predicted step.

use serde_json::{Value, json};
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search;

use super::candidates::Problem;
use super::devices::{Cluster, Shared};
use super::text::time;
use crate::table::{Table, paragraph};

/// Steps by one schedule with each overlap and number of substeps that ghost cells last for, the fastest first.
#[derive(Clone, Debug)]
pub(super) struct Ways(Vec<Shared>);

impl Ways {
    /// Predicts the ways of a schedule that are possible, beside its own step.
    pub(super) fn new(
        problem: &Problem<'_>,
        (schedule, own): (&Schedule, &Shared),
        cluster: &Cluster,
    ) -> Self {
        let mut all = vec![own.clone()];
        let others = search::among_devices(problem.algorithm, schedule);
        for other in others {
            // Those that cannot run are no choice.
            let Ok(step) = Shared::new(problem, &other, own.boxes, cluster) else { continue };
            if all.iter().all(|known| known.way != step.way) {
                all.push(step);
            }
        }
        all.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Ways(all)
    }

    /// Returns the table; `own` is the step that is planned.
    pub(super) fn text(&self, points: f64, own: &Shared) -> String {
        let mut page = paragraph(
            "  ",
            "Other ways to get values of other devices, by `overlap` and `ghosts` in the schedule. A search, and the pick of a run \
             that is given no schedule, choose among them. `twice` is the share of the cells that are computed by their device, too.",
        );
        let head = ["overlap", "ghosts#", "step#", "exposed#", "twice#", "Mpts/s#", ""];
        let mut table = Table::new(2, &head);
        for of in &self.0 {
            let (overlap, ghosts) = of.way;
            let mark = if of.way == own.way { "planned" } else { "" };
            table.row([
                overlap.word().to_string(),
                ghosts.to_string(),
                time(of.seconds),
                time(of.exposed),
                format!("{:.1} %", 100.0 * of.redundant),
                format!("{:.0}", points / of.seconds / 1e6),
                mark.to_string(),
            ]);
        }
        page += &table.to_string();
        page
    }

    pub(super) fn json(&self, points: f64) -> Value {
        let all = self.0.iter().map(|of| {
            json!({
                "overlap": of.way.0.word(),
                "ghosts": of.way.1,
                "predicted_s": of.seconds,
                "exposed_s": of.exposed,
                "redundant_share": of.redundant,
                "mpts_per_s": points / of.seconds / 1e6,
            })
        });
        all.collect()
    }
}
