//! The rates that the performance model expects of one to thousands of devices.

use serde_json::{Value, json};
use stencil_compiler::cost::DeviceBox;
use stencil_compiler::schedule::Schedule;
use stencil_runtime::device_boxes;
use stencil_runtime::plot::{Color, LinePlot, Series, Style};

use super::candidates::Problem;
use super::devices::{Cluster, Shared};
use super::report::fastest;
use super::text::time;
use crate::bench::Scaling;
use crate::table::{Table, paragraph};
use crate::{Failure, Picture, Render};

/// Cells along each axis of the cube whose cuts weak scaling takes.
const CUBE: usize = 1 << 20;

/// The numbers of devices, and all else that a forecast depends on beside the problem.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// A schedule with its name; the fastest candidate for one device if none is given.
    pub schedule: Option<(&'a str, Schedule)>,
    /// Schedules of those that a search begins with that are looked at.
    pub candidates: usize,
    /// The mesh of several devices: that of the problem, or one of its size for each device.
    pub scaling: Scaling,
    /// Numbers of devices.
    pub devices: Vec<usize>,
    /// Their hosts and links.
    pub cluster: Cluster,
    /// Do steps adapt to speeds, which all devices reduce?
    pub adaptive: bool,
}

/// The expected rates of a system on several numbers of devices.
#[derive(Clone, Debug)]
pub struct Forecast<'a> {
    problem: Problem<'a>,
    asked: Asked<'a>,
    schedule: String,
    points: Vec<Point>,
}

/// A number of devices.
#[derive(Clone, Copy, Debug)]
struct Point {
    devices: usize,
    boxes: [usize; 3],
    of: DeviceBox,
    /// Points of the mesh.
    mesh: f64,
    /// Seconds of a step.
    seconds: f64,
    /// Seconds of it in which the device waits for values, and in which lengths of steps are reduced.
    exposed: f64,
    reduced: f64,
}

impl Point {
    fn rate(&self) -> f64 {
        self.mesh / self.seconds / 1e6
    }

    /// The rate for each device, over that of other devices.
    fn efficiency(&self, first: &Point) -> f64 {
        let each = |of: &Point| of.rate() / of.devices as f64;
        each(self) / each(first)
    }

    /// The share of the step in which devices wait for each other.
    fn waiting(&self) -> f64 {
        (self.exposed + self.reduced) / self.seconds
    }
}

impl<'a> Forecast<'a> {
    /// Predicts a step on each number of devices.
    ///
    /// # Errors
    /// If a mesh cannot be cut into as many boxes, or the schedule cannot run on one.
    pub fn new(problem: Problem<'a>, asked: Asked<'a>) -> Result<Self, Failure> {
        let (name, schedule) = match &asked.schedule {
            Some((name, schedule)) => (name.to_string(), schedule.clone()),
            None => {
                let ((name, _), schedule) =
                    fastest(&problem, &problem.candidates(asked.candidates))?;
                (name, schedule)
            }
        };
        let point = |devices: &usize| point(&problem, &schedule, *devices, &asked);
        let points = asked.devices.iter().map(point).collect::<Result<_, _>>()?;
        Ok(Forecast { problem, asked, schedule: name, points })
    }

    fn title(&self) -> String {
        let Problem { algorithm, precision, on, .. } = self.problem;
        let scaling = self.asked.scaling.name();
        format!("{}, {}, {scaling} scaling on {}", algorithm.name, precision.name(), on.name)
    }

    fn most(&self) -> usize {
        self.asked.devices.iter().max().copied().unwrap_or(1)
    }

    fn links(&self) -> String {
        self.asked.cluster.words(self.problem.on.name, self.most())
    }
}

fn point(
    problem: &Problem<'_>,
    schedule: &Schedule,
    devices: usize,
    asked: &Asked<'_>,
) -> Result<Point, Failure> {
    let cube = problem.cells.map(|cells| if cells > 1 { CUBE } else { 1 });
    let is_weak = asked.scaling == Scaling::Weak;
    let boxes = device_boxes(if is_weak { cube } else { problem.cells }, devices, [true; 3])?;
    let grown = std::array::from_fn(|axis| problem.cells[axis] * boxes[axis]);
    let cells = if is_weak { grown } else { problem.cells };
    let mesh = cells.iter().map(|n| *n as f64).product();
    let problem = Problem { cells, ..*problem };
    let shared = Shared::new(&problem, schedule, boxes, &asked.cluster)?;
    let links = asked.cluster.links(problem.on.name);
    let reduced = match asked.adaptive {
        true => links.reduction(devices, asked.cluster.per_host),
        false => 0.0,
    };
    let Shared { of, seconds, exposed, .. } = shared;
    Ok(Point { devices, boxes, of, mesh, seconds: seconds + reduced, exposed, reduced })
}

fn cross(of: [usize; 3]) -> String {
    of.map(|n| n.to_string()).join("×")
}

impl Render for Forecast<'_> {
    fn text(&self) -> String {
        let mut page = format!("{}\n", self.title());
        let reduced = match self.asked.adaptive {
            true => " All devices reduce the speeds that limit the length of each step.",
            false => "",
        };
        let words = format!(
            "Predicted, not measured: schedule `{}`, {}. Values of a device with the most neighbours in other hosts.{reduced} \
             `waiting` is the share of the step in which devices wait for values of each other, `efficiency` the rate \
             for each device over that of the first row.",
            self.schedule,
            self.links()
        );
        page += &paragraph("  ", &words);
        let head = [
            "devices#",
            "boxes#",
            "cells of one#",
            "step#",
            "exposed#",
            "waiting#",
            "Mpts/s#",
            "efficiency#",
        ];
        let mut table = Table::new(2, &head);
        for of in &self.points {
            table.row([
                of.devices.to_string(),
                cross(of.boxes),
                cross(of.of.cells),
                time(of.seconds),
                time(of.exposed + of.reduced),
                format!("{:.0} %", 100.0 * of.waiting()),
                format!("{:.0}", of.rate()),
                format!("{:.0} %", 100.0 * of.efficiency(&self.points[0])),
            ]);
        }
        page + &table.to_string()
    }

    fn json(&self) -> Value {
        let point = |of: &Point| {
            json!({
                "devices": of.devices,
                "boxes": of.boxes,
                "cells": of.of.cells,
                "predicted_s": of.seconds,
                "exposed_s": of.exposed,
                "reduction_s": of.reduced,
                "mpts_per_s": of.rate(),
                "efficiency": of.efficiency(&self.points[0]),
            })
        };
        json!({
            "system": self.problem.algorithm.name,
            "precision": self.problem.precision.name(),
            "card": self.problem.on.name,
            "kind": self.asked.scaling.name(),
            "schedule": self.schedule,
            "links": self.links(),
            "per_host": self.asked.cluster.per_host,
            "points": self.points.iter().map(point).collect::<Vec<_>>(),
        })
    }

    fn pictures(&self) -> Vec<(String, Picture)> {
        let Problem { algorithm, precision, .. } = self.problem;
        let scaling = self.asked.scaling.name();
        let stem = format!("{}-{}-{scaling}-forecast", algorithm.name, precision.name());
        let [rates, shares] = self.plots();
        vec![(format!("{stem}-efficiency"), shares.into()), (stem, rates.into())]
    }
}

impl Forecast<'_> {
    /// Rates beside those of an ideal machine, and efficiencies beside shares of waiting.
    fn plots(&self) -> [LinePlot; 2] {
        let names = self.asked.cluster.names(self.problem.on.name, self.most());
        let xs: Vec<f64> = self.points.iter().map(|of| of.devices as f64).collect();
        let plot = |label: &str| {
            let plot = LinePlot::new().title(self.title()).subtitle(format!("predicted; {names}"));
            plot.labels("devices", label).log_x()
        };
        let add = |plot: &mut LinePlot, name: &str, (style, color), y: &dyn Fn(&Point) -> f64| {
            let ys = self.points.iter().map(y).collect();
            let color = Some(Color::PALETTE[color]);
            plot.series.push(Series { name: name.into(), xs: xs.clone(), ys, style, color });
        };
        let first = &self.points[0];
        let each = first.rate() / first.devices as f64;
        let mut rates = plot("million points a second").log_y();
        add(&mut rates, "ideal", (Style::Dashed, 2), &|of| each * of.devices as f64);
        add(&mut rates, "predicted", (Style::LinePoints, 0), &Point::rate);
        let mut shares = plot("per cent").y_range(0.0, 105.0);
        add(&mut shares, "efficiency", (Style::LinePoints, 0), &|of| 100.0 * of.efficiency(first));
        add(&mut shares, "waiting", (Style::LinePoints, 1), &|of| 100.0 * of.waiting());
        [rates, shares]
    }
}
