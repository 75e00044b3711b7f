//! A step as boxes in time: a lane for each stream of each device, a box for each task.

use serde_json::{Value, json};
use stencil_compiler::cost::{Span, Stream, Task};
use stencil_compiler::plan::Region;
use stencil_runtime::plot::{Anchor, Color, Lettering, Scene, Stroke};

use super::{MARGIN, centred, faint, fitted, heading};

/// The kind of a task, which gives its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Fill,
    Exchange,
    Interior,
    Rim,
    Whole,
    Reduction,
}

impl Kind {
    /// All kinds in the order of the legend.
    const ALL: [Kind; 6] =
        [Kind::Fill, Kind::Exchange, Kind::Interior, Kind::Rim, Kind::Whole, Kind::Reduction];

    fn words(self) -> &'static str {
        match self {
            Kind::Fill => "fill",
            Kind::Exchange => "exchange",
            Kind::Interior => "interior",
            Kind::Rim => "rim",
            Kind::Whole => "whole launch",
            Kind::Reduction => "length of the step",
        }
    }

    fn color(self) -> Color {
        let at = Kind::ALL.iter().position(|kind| *kind == self).unwrap_or(0);
        let order = [4, 1, 0, 2, 5, 3];
        Color::PALETTE[order[at] % Color::PALETTE.len()]
    }
}

/// A task in its lane, with seconds after the begin of the step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) lane: String,
    pub(crate) kind: Kind,
    pub(crate) words: String,
    pub(crate) begin: f64,
    pub(crate) end: f64,
}

impl Drawn {
    /// Draws a task in the lane of its stream; launches have these names.
    pub(crate) fn new(card: Option<usize>, span: &Span, name: impl Fn(usize) -> String) -> Self {
        let (kind, words) = match span.task {
            Task::Fill => (Kind::Fill, "fill".to_string()),
            Task::Exchange => (Kind::Exchange, "exchange".to_string()),
            Task::Reduce => (Kind::Reduction, "reduce".to_string()),
            Task::Launch(launch, Region::Interior) => (Kind::Interior, name(launch)),
            Task::Launch(launch, Region::Rim) => (Kind::Rim, name(launch)),
            Task::Launch(launch, Region::Whole) => (Kind::Whole, name(launch)),
        };
        let stream = match span.stream {
            Stream::Launches => "launches",
            Stream::Exchanges => "exchanges",
        };
        let lane = match card {
            Some(card) => format!("{card}: {stream}"),
            None => stream.to_string(),
        };
        Drawn { lane, kind, words, begin: span.begin, end: span.end }
    }

    /// Returns it as JSON.
    pub(crate) fn json(&self) -> Value {
        json!({
            "lane": self.lane,
            "kind": self.kind.words(),
            "task": self.words,
            "begin_s": self.begin,
            "end_s": self.end,
        })
    }
}

/// The width of a picture, the room before its lanes, and the top of the first one.
const WIDTH: f32 = 1800.0;
const LEFT: f32 = 190.0;
const TOP: f32 = 150.0;

/// The height of a lane with the gap to the next one, and without.
const LANE: (f32, f32) = (64.0, 44.0);

/// Marks of time at most.
const MARKS: f64 = 10.0;

/// Draws tasks in lanes, the first one above.
pub(crate) fn draw((title, subtitle): (&str, &str), tasks: &[Drawn]) -> Scene {
    let mut lanes: Vec<&str> = Vec::new();
    for task in tasks {
        if !lanes.contains(&task.lane.as_str()) {
            lanes.push(&task.lane);
        }
    }
    let bottom = TOP + LANE.0 * lanes.len() as f32;
    let mut scene = Scene::new(WIDTH, bottom + 74.0);
    heading(&mut scene, title, subtitle);
    legend(&mut scene, tasks);
    let end = tasks.iter().map(|task| task.end).fold(0.0, f64::max);
    let room = WIDTH - LEFT - MARGIN;
    let x = |seconds: f64| LEFT + room * if end > 0.0 { (seconds / end) as f32 } else { 0.0 };
    marks(&mut scene, end, bottom, &x);
    for (at, lane) in lanes.iter().enumerate() {
        let y = TOP + LANE.0 * at as f32;
        let letters = Lettering { anchor: Anchor::End, ..Lettering::new(18.0) };
        let words = fitted(lane, letters, LEFT - MARGIN);
        scene.text((LEFT - 14.0, y + LANE.1 / 2.0), words, letters);
        for task in tasks.iter().filter(|task| task.lane == *lane) {
            // A task that is there is seen.
            let wide = (x(task.end) - x(task.begin)).max(1.5);
            let edge = Stroke::new(Color::INK, 0.8);
            scene.rect([x(task.begin), y, wide, LANE.1], Some(task.kind.color()), Some(edge));
            let letters = Lettering { color: Color::WHITE, ..centred(Lettering::new(14.0)) };
            if wide > 60.0 {
                let words = fitted(&task.words, letters, wide - 10.0);
                scene.text((x(task.begin) + wide / 2.0, y + LANE.1 / 2.0), words, letters);
            }
        }
    }
    scene
}

/// Names the colours of kinds that occur.
fn legend(scene: &mut Scene, tasks: &[Drawn]) {
    let mut x = LEFT;
    for kind in Kind::ALL.into_iter().filter(|kind| tasks.iter().any(|task| task.kind == *kind)) {
        let letters = Lettering::new(17.0);
        scene.rect([x, TOP - 44.0, 22.0, 16.0], Some(kind.color()), None);
        scene.text((x + 30.0, TOP - 36.0), kind.words(), letters);
        x += 62.0 + letters.width(kind.words());
    }
}

/// Draws marks of time below the lanes, in microseconds.
fn marks(scene: &mut Scene, end: f64, bottom: f32, x: &impl Fn(f64) -> f32) {
    let least = 1e6 * end / MARKS;
    let power = 10f64.powi(least.max(1e-3).log10().floor() as i32);
    let gap = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|gap| *gap >= least);
    let gap = gap.unwrap_or(power);
    let mut at = 0.0;
    while at <= 1e6 * end * (1.0 + 1e-9) {
        let place = x(at / 1e6);
        scene.line(&[(place, TOP - 8.0), (place, bottom)], Stroke::new(Color::FAINT, 0.6));
        scene.text((place, bottom + 16.0), format!("{at:.0}"), centred(faint(16.0)));
        at += gap;
    }
    let middle = (LEFT + WIDTH - MARGIN) / 2.0;
    scene.text((middle, bottom + 44.0), "microseconds", centred(faint(17.0)));
}
