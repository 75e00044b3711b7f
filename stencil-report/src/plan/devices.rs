//! A plan among several devices: its exchanges, the kernels beside them, and the seconds in which a device waits.

use serde_json::{Value, json};
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::cost::{
    DeviceBox, KnownLink, LINKS, Links, Mover, Place, Timeline, Wait, link, redundant_share,
    usual_link,
};
use stencil_compiler::diag::counted;
use stencil_compiler::schedule::{Overlap, Schedule};
use stencil_runtime::plot::Scene;

use super::candidates::Problem;
use super::text::time;
use crate::Failure;
use crate::explain::schedules::triple;
use crate::pictures::timeline::{self, Drawn};
use crate::table::{Table, paragraph};

/// Hosts with cards, and the links of these.
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    /// The link between cards of a host; the one that is usual for the card if not given.
    pub near: Option<&'static KnownLink>,
    /// The link between cards of different hosts.
    pub far: &'static KnownLink,
    /// Cards of a host.
    pub per_host: usize,
}

impl Default for Cluster {
    /// Hosts of eight cards, each with an adapter of InfiniBand NDR.
    fn default() -> Self {
        Cluster { near: None, far: link("NDR").unwrap_or(&LINKS[0]), per_host: 8 }
    }
}

impl Cluster {
    /// Returns the link between cards of a host, of which each is called so.
    pub(super) fn near(&self, card: &str) -> &'static KnownLink {
        self.near.unwrap_or_else(|| usual_link(card))
    }

    /// Returns the links of a card.
    pub(super) fn links(&self, card: &str) -> Links {
        let (near, far) = (self.near(card).link, self.far.link);
        Links { near, far, mover: Mover::default() }
    }

    /// Names the links of so many cards in short.
    pub(super) fn names(&self, card: &str, devices: usize) -> String {
        let near = self.near(card).name;
        match devices > self.per_host {
            true => format!("{near} in hosts of {}, {} among them", self.per_host, self.far.name),
            false => near.to_string(),
        }
    }

    /// Names the links of so many cards, with the sources of their numbers.
    pub(super) fn words(&self, card: &str, devices: usize) -> String {
        let near = self.near(card);
        let mut words = format!("{} ({})", near.name, near.source);
        if devices > self.per_host {
            let Cluster { far, per_host, .. } = self;
            words += &format!(
                " joins {per_host} cards of a host, {} ({}) cards of different hosts",
                far.name, far.source
            );
        }
        words
    }
}

/// A step of one device, which has the largest of the boxes that the mesh is cut into.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) devices: usize,
    /// Boxes along x, y, z.
    pub(super) boxes: [usize; 3],
    /// The box of the device.
    pub(super) of: DeviceBox,
    /// Seconds of a step.
    pub(super) seconds: f64,
    /// Seconds of it in which the device waits for values.
    pub(super) exposed: f64,
    /// The share of the cells that it computes, but that other devices have.
    pub(super) redundant: f64,
    /// The way in which values of other devices come, and the substeps that they last for.
    pub(super) way: (Overlap, usize),
    timeline: Timeline,
    links: String,
    /// The name and the substep of each launch.
    launches: Vec<(String, usize)>,
}

/// Bytes a second by which an exchange takes no longer than the kernel beside it.
fn hidden_from(wait: &Wait) -> Option<f64> {
    wait.beside.as_ref().map(|beside| wait.all().bytes / beside.seconds)
}

impl Shared {
    /// Plans a schedule for devices that share a periodic mesh, which is cut into so many boxes along each axis.
    ///
    /// # Errors
    /// If the schedule cannot run on a box.
    pub(super) fn new(
        problem: &Problem<'_>,
        schedule: &Schedule,
        boxes: [usize; 3],
        cluster: &Cluster,
    ) -> Result<Self, Failure> {
        let devices = boxes.iter().product();
        let of = DeviceBox::of(problem.cells, boxes).among_hosts(boxes, cluster.per_host);
        let DeviceBox { cells, cut, .. } = of;
        let target = Target::new(problem.precision.bytes()).around(cut.map(|is_cut| !is_cut));
        let target = target.over(cells, 1).cut(cut).storing(of.layers());
        let target = target.on(problem.on.rates.device());
        let wrong = |what: String| {
            let on = counted(devices, "device");
            Failure::new(format!("error: the schedule has no plan for {on}: {what}"))
        };
        let compiled = compile(problem.algorithm, schedule, &target);
        let compiled = compiled.map_err(|error| wrong(error.to_string()))?;
        let plan = compiled.plan.among_devices().map_err(wrong)?;
        let predicted = Problem { cells, ..*problem }.predict(&compiled);
        let predicted = predicted.map_err(|rejection| wrong(rejection.words().to_string()))?;
        let (rates, links) = (&problem.on.rates, cluster.links(problem.on.name));
        let place = Place { rates, device: of, links };
        let timeline = Timeline::new(&plan, (&predicted.costs, &predicted.times), &place);
        let steps = plan.time_steps.max(1) as f64;
        let launches = plan.launches.iter().map(|launch| (launch.name.clone(), launch.substep));
        Ok(Shared {
            devices,
            boxes,
            of,
            seconds: timeline.seconds / steps,
            exposed: timeline.exposed() / steps,
            redundant: redundant_share(&plan, cells),
            way: (plan.overlap(), schedule.ghosts),
            links: cluster.words(problem.on.name, devices),
            launches: launches.collect(),
            timeline,
        })
    }

    /// Returns the table; `alone` is the time of the step of one device with the whole mesh.
    pub(super) fn text(&self, points: f64, alone: f64) -> String {
        let [words, boxes] =
            [self.of.cells, self.boxes].map(|of| of.map(|n| n.to_string()).join(" x "));
        let mut page = format!("\nDEVICES: the step of one device of {}\n", self.devices);
        page += &paragraph(
            "  ",
            &format!(
                "The mesh is cut into {boxes} boxes of {words} cells at most, one for each device; `overlap {}`. A step is predicted to take {}: \
                 {:.0} million points a second of all devices, {:.0} % of {} times the rate of one. The device waits for values \
                 for {} of it, {:.0} %. Link: {}. `received` is what the device gets from others, \
                 `takes` the time of the exchange, `beside` the blocks that need none of it and run meanwhile, and `exposed` \
                 the time by which the launch ends later than with all values there.",
                self.way.0.word(),
                time(self.seconds),
                points / self.seconds / 1e6,
                100.0 * alone / self.seconds / self.devices as f64,
                self.devices,
                time(self.exposed),
                100.0 * self.exposed / self.seconds,
                self.links,
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
        let head = ["substep#", "depth#", "received#", "takes#", "exposed#", "beside", "exchange"];
        let mut table = Table::new(2, &head);
        for wait in &self.timeline.waits {
            let beside = wait.beside.as_ref().map(|beside| {
                format!("{:.0} % of {}", 100.0 * beside.share, self.launches[beside.launch].0)
            });
            table.row([
                (self.launches[wait.launch].1 + 1).to_string(),
                triple(wait.depth),
                format!("{:.2} MB", wait.all().bytes / 1e6),
                time(wait.seconds),
                time(wait.exposed),
                beside.unwrap_or("nothing".into()),
                wait.buffers.join(", "),
            ]);
        }
        page + &table.to_string()
    }

    pub(super) fn json(&self, points: f64, alone: f64) -> Value {
        let exchanges = self.timeline.waits.iter().map(|wait| {
            let all = wait.all();
            json!({
                "substep": self.launches[wait.launch].1 + 1,
                "buffers": wait.buffers,
                "depth": wait.depth,
                "received_bytes": all.bytes,
                "messages": all.messages,
                "predicted_s": wait.seconds,
                "exposed_s": wait.exposed,
                "beside": wait.beside.as_ref().map(|beside| json!({
                    "kernel": self.launches[beside.launch].0,
                    "share": beside.share,
                    "predicted_s": beside.seconds,
                })),
                "hidden_from_bytes_per_s": hidden_from(wait),
            })
        });
        let mut all = json!({
            "count": self.devices,
            "boxes": self.boxes,
            "cells": self.of.cells,
            "overlap": self.way.0.word(),
            "predicted_s": self.seconds,
            "exposed_s": self.exposed,
            "mpts_per_s": points / self.seconds / 1e6,
            "efficiency": alone / self.seconds / self.devices as f64,
            "exchanges": exchanges.collect::<Vec<_>>(),
        });
        if self.redundant > 0.0 {
            all["redundant_share"] = self.redundant.into();
        }
        all
    }

    /// Draws the tasks of a step as boxes in time.
    pub(super) fn scene(&self, title: &str) -> Scene {
        let name = |launch: usize| self.launches[launch].0.clone();
        let drawn = self.timeline.spans.iter().map(|span| Drawn::new(None, span, name));
        let subtitle = format!(
            "predicted; {} of {} waited for values; {}",
            time(self.exposed),
            time(self.seconds),
            self.links
        );
        timeline::draw((title, &subtitle), &drawn.collect::<Vec<_>>())
    }
}
