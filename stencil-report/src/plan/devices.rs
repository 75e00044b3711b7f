//! A plan among several devices: its exchanges, and the kernels beside them.

use serde_json::{Value, json};
use stencil_compiler::compile::{Compiled, Target, compile};
use stencil_compiler::cost::{Exchange, computed_cells, redundant_share};
use stencil_compiler::diag::counted;
use stencil_compiler::plan::{Phase, Plan, Region, Step};
use stencil_compiler::schedule::Schedule;
use stencil_runtime::device_boxes;

use super::candidates::{Predicted, Problem};
use super::text::time;
use crate::Failure;
use crate::explain::schedules::triple;
use crate::table::{Table, paragraph};

/// A step of one device, which has the largest of the boxes that the mesh is cut into.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    devices: usize,
    /// Boxes along x, y, z.
    boxes: [usize; 3],
    /// Cells of the box.
    cells: [usize; 3],
    /// Seconds of a step that waits for no exchange.
    seconds: f64,
    /// The share of the cells that it computes, but that other devices have.
    redundant: f64,
    exchanges: Vec<Wait>,
}

/// An exchange that a device waits for.
#[derive(Clone, Debug)]
struct Wait {
    substep: usize,
    buffers: Vec<String>,
    depth: [u32; 3],
    /// Values that the device receives.
    received: Exchange,
    beside: Option<Beside>,
}

/// The blocks of a kernel that run while values are on their way.
#[derive(Clone, Debug)]
struct Beside {
    kernel: String,
    /// Their share of all blocks.
    share: f64,
    /// Seconds in which they are predicted to be done.
    seconds: f64,
}

impl Wait {
    /// Bytes a second by which the exchange takes no longer than the kernel beside it.
    fn hidden_from(&self) -> Option<f64> {
        self.beside.as_ref().map(|beside| self.received.bytes / beside.seconds)
    }
}

impl Shared {
    /// Plans a schedule for so many devices that share a periodic mesh.
    ///
    /// # Errors
    /// If the mesh cannot be cut into as many boxes, or the schedule cannot run on one.
    pub(super) fn new(
        problem: &Problem<'_>,
        schedule: &Schedule,
        devices: usize,
    ) -> Result<Self, Failure> {
        let boxes = device_boxes(problem.cells, devices, [true; 3])?;
        let cells = std::array::from_fn(|axis| problem.cells[axis].div_ceil(boxes[axis]));
        let cut = boxes.map(|count| count > 1);
        let target = Target::new(problem.precision.bytes()).around(cut.map(|is_cut| !is_cut));
        let target = target.over(cells, 1).cut(cut).on(problem.on.rates.device());
        let wrong = |what: String| {
            let on = counted(devices, "device");
            Failure::new(format!("error: the schedule has no plan for {on}: {what}"))
        };
        let compiled = compile(problem.algorithm, schedule, &target);
        let compiled = compiled.map_err(|error| wrong(error.to_string()))?;
        let plan = compiled.plan.among_devices().map_err(wrong)?;
        let predicted = Problem { cells, ..*problem }.predict(&compiled);
        let predicted = predicted.map_err(|rejection| wrong(rejection.words().to_string()))?;
        let uneven = std::array::from_fn(|axis| !problem.cells[axis].is_multiple_of(boxes[axis]));
        let on = (cells, [cut, uneven], problem.precision.bytes());
        Ok(Shared {
            devices,
            boxes,
            cells,
            seconds: predicted.seconds + redundant_seconds(&plan, &predicted, cells),
            redundant: redundant_share(&plan, cells),
            exchanges: exchanges(&plan, (&compiled, &predicted), on),
        })
    }

    /// Returns the table.
    pub(super) fn text(&self, points: f64) -> String {
        let [words, boxes] =
            [self.cells, self.boxes].map(|of| of.map(|n| n.to_string()).join(" x "));
        let mut page = format!("\nDEVICES: the step of one device of {}\n", self.devices);
        page += &paragraph(
            "  ",
            &format!(
                "The mesh is cut into {boxes} boxes of {words} cells at most, one for each device. A step takes {} if it waits for \
                 no values: {:.0} million points a second of all devices. `received` is what the device gets from others, \
                 `beside` the blocks that need none of it and run meanwhile. Nothing is waited for if \
                 values come at the rate `hidden from`, or faster.",
                time(self.seconds),
                points / self.seconds / 1e6
            ),
        );
        if self.redundant > 0.0 {
            page += &paragraph(
                "  ",
                &format!(
                    "Ghost cells last for several substeps: {:.1} % of the cells that the device computes are those of others.",
                    100.0 * self.redundant
                ),
            );
        }
        let head =
            ["substep#", "depth#", "received#", "messages#", "hidden from#", "beside", "exchange"];
        let mut table = Table::new(2, &head);
        for wait in &self.exchanges {
            let beside = wait
                .beside
                .as_ref()
                .map(|beside| format!("{:.0} % of {}", 100.0 * beside.share, beside.kernel));
            let rate = wait.hidden_from().map(|rate| format!("{:.1} GB/s", rate / 1e9));
            table.row([
                (wait.substep + 1).to_string(),
                triple(wait.depth),
                format!("{:.2} MB", wait.received.bytes / 1e6),
                wait.received.messages.to_string(),
                rate.unwrap_or("-".into()),
                beside.unwrap_or("nothing".into()),
                wait.buffers.join(", "),
            ]);
        }
        page + &table.to_string()
    }

    pub(super) fn json(&self, points: f64) -> Value {
        let exchanges = self.exchanges.iter().map(|wait| {
            json!({
                "substep": wait.substep + 1,
                "buffers": wait.buffers,
                "depth": wait.depth,
                "received_bytes": wait.received.bytes,
                "messages": wait.received.messages,
                "beside": wait.beside.as_ref().map(|beside| json!({
                    "kernel": beside.kernel,
                    "share": beside.share,
                    "predicted_s": beside.seconds,
                })),
                "hidden_from_bytes_per_s": wait.hidden_from(),
            })
        });
        let mut all = json!({
            "count": self.devices,
            "boxes": self.boxes,
            "cells": self.cells,
            "predicted_s": self.seconds,
            "mpts_per_s": points / self.seconds / 1e6,
            "exchanges": exchanges.collect::<Vec<_>>(),
        });
        if self.redundant > 0.0 {
            all["redundant_share"] = self.redundant.into();
        }
        all
    }
}

/// Returns the exchanges of a step in their order. Those that are waited for at once are one.
fn exchanges(
    plan: &Plan,
    (compiled, predicted): (&Compiled, &Predicted),
    (cells, [cut, uneven], value_bytes): ([usize; 3], [[bool; 3]; 2], usize),
) -> Vec<Wait> {
    let mut all = Vec::new();
    let (mut interior, mut waiting): (Option<usize>, Vec<Wait>) = (None, Vec::new());
    for step in &plan.steps {
        match step {
            Step::Launch { launch, region: Region::Interior } => interior = Some(*launch),
            Step::Exchange { phase: Phase::Wait, buffers, depth } => {
                let received = Exchange::new(buffers.len(), depth.towards, cells, cut, value_bytes);
                let beside = interior.and_then(|launch| {
                    let kernel = &compiled.kernels[launch];
                    let rim = plan.rim_of_blocks(launch, cut, uneven);
                    let inner = kernel.split(cells, rim).interior;
                    let share = inner?.count() as f64 / kernel.whole(cells).count().max(1) as f64;
                    let [all, own] = computed_cells(&plan.launches[launch], cells);
                    let seconds = share * predicted.times[launch].total * all / own;
                    Some(Beside { kernel: plan.launches[launch].name.clone(), share, seconds })
                });
                let (buffers, depth) = (buffers.clone(), depth.towards);
                waiting.push(Wait { substep: 0, buffers, depth, received, beside });
            }
            Step::Launch { launch, .. } => {
                interior = None;
                let substep = plan.launches[*launch].substep;
                all.extend(joined(&mut waiting).map(|wait| Wait { substep, ..wait }));
            }
            _ => {}
        }
    }
    all
}

/// Returns the seconds of a step in which kernels compute redundant cells: as long as others for each of them.
fn redundant_seconds(plan: &Plan, predicted: &Predicted, cells: [usize; 3]) -> f64 {
    let all = plan.launches.iter().zip(&predicted.times);
    let seconds = all.map(|(launch, time)| {
        let [all, own] = computed_cells(launch, cells);
        time.total * (all - own) / own
    });
    seconds.sum::<f64>() / plan.time_steps as f64
}

/// Takes exchanges that are waited for at once as one.
fn joined(waiting: &mut Vec<Wait>) -> Option<Wait> {
    let one = |mut first: Wait, other: Wait| {
        first.buffers.extend(other.buffers);
        first.received.bytes += other.received.bytes;
        first.received.messages += other.received.messages;
        for (own, other) in first.depth.iter_mut().zip(other.depth) {
            *own = other.max(*own);
        }
        first
    };
    std::mem::take(waiting).into_iter().reduce(one)
}
