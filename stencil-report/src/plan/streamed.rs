//! A mesh that passes through a card slab by slab: the passes of each number of steps, and the choice among them.

use serde_json::{Value, json};
use stencil_compiler::compile::{self, Target};
use stencil_compiler::cost::{KnownLink, usual_bus};
use stencil_compiler::schedule::Schedule;
use stencil_runtime::{Bus, Passes, Stream, Transit};

use super::candidates::Problem;
use super::text::time;
use crate::Failure;
use crate::passes::gigabytes;
use crate::table::{Table, paragraph};

/// A way to stream that is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Streaming {
    /// The steps of a pass, or the choice of the model.
    pub stream: Stream,
    /// Bytes of the memory of the card that the arrays may take.
    pub memory: usize,
    /// Bytes a second over the bus in each direction at once; those that are usual for the card if not given.
    pub bus: Option<f64>,
}

/// The passes of a mesh through a card.
#[derive(Clone, Debug)]
pub(super) struct Streamed {
    asked: Streaming,
    /// The bus in words, with the source of its rate.
    bus: String,
    /// Bytes of all arrays of the whole mesh on the card.
    whole: usize,
    /// Passes of one step, two, and so on; none if the card has room for the mesh.
    compared: Vec<Passes>,
    /// The steps of a pass that a run does.
    chosen: Option<usize>,
}

impl Streamed {
    /// Predicts the passes of a periodic mesh by a schedule.
    ///
    /// # Errors
    /// If the card has no room for slabs, if no bus is known for it, or if the schedule has no plan.
    pub(super) fn new(
        problem: &Problem<'_>,
        schedule: &Schedule,
        asked: Streaming,
    ) -> Result<Self, Failure> {
        let Problem { algorithm, precision, cells, on, .. } = *problem;
        if algorithm.dimension < 2 {
            let message =
                "error: a mesh of one dimension has no layers\n  help: leave out --stream";
            return Err(Failure::new(message));
        }
        let (each_way, bus) = bus(asked.bus, on.name)?;
        let target = Target::periodic(precision.bytes(), cells, on.rates.device());
        let plan = compile::plan(algorithm, &schedule.unfused(algorithm), &target);
        let plan = plan.map_err(|error| Failure::new(format!("error: {error}")))?;
        let along = (algorithm.dimension - 1, true);
        let of_arrays = (cells, [0; 3], precision.bytes());
        let transit = Transit::new(&plan, of_arrays, along, Some(asked.memory));
        let both = Bus { up: each_way, down: each_way, both: [each_way; 2] };
        let transit = transit.by(both, on.rates.copy_bytes);
        let whole = transit.bytes(cells);
        if asked.stream == Stream::Auto && transit.fits() {
            return Ok(Streamed { asked, bus, whole, compared: Vec::new(), chosen: None });
        }
        let mut compared = transit.compared()?;
        let chosen = match asked.stream {
            Stream::Steps(steps) => {
                let passes = transit.passes(steps)?;
                if compared.iter().all(|known| known.steps != steps) {
                    compared.push(passes);
                }
                steps
            }
            Stream::Off | Stream::Auto => transit.best()?.steps,
        };
        Ok(Streamed { asked, bus, whole, compared, chosen: Some(chosen) })
    }

    /// Returns the page; `points` are those of the mesh.
    pub(super) fn text(&self, points: f64) -> String {
        let mut page = "\nSTREAMED: the mesh passes through the card slab by slab\n".to_string();
        let (whole, memory) = (gigabytes(self.whole as f64), gigabytes(self.asked.memory as f64));
        let Some(chosen) = self.chosen else {
            let words = format!(
                "The arrays take {whole} of the {memory} that they may take: `--stream auto` does not stream."
            );
            return page + &paragraph("  ", &words);
        };
        page += &paragraph(
            "  ",
            &format!(
                "All arrays would take {whole}; they may take {memory} of the card, in windows that hold a slab each. More steps in a pass \
                 move fewer bytes a step, and compute more layers twice. Bus: {}. `steps` are those of a pass, `layers` those of a \
                 window, `of each` those of each neighbour, `up` and `back` the bytes of a step over the bus, `hidden` the share of \
                 the copies beside which steps run. Steps are predicted to take as long as the \
                 memory of the card needs for their values, or longer if the bus does.",
                self.bus
            ),
        );
        let head = [
            "steps#", "slabs#", "layers#", "of each#", "up#", "back#", "hidden#", "step#",
            "Mpts/s#", "",
        ];
        let mut table = Table::new(2, &head);
        for of in &self.compared {
            let a_step = |bytes: usize| gigabytes(bytes as f64 / of.steps as f64);
            let seconds = seconds(of);
            let mark = match self.asked.stream {
                _ if of.steps != chosen => "",
                Stream::Steps(_) => "asked for",
                Stream::Off | Stream::Auto => "auto",
            };
            table.row([
                of.steps.to_string(),
                of.slabs.to_string(),
                of.layers.to_string(),
                of.overlap.to_string(),
                a_step(of.up),
                a_step(of.down),
                of.time.map_or(String::new(), |time| format!("{:.0} %", 100.0 * time.hidden())),
                time(seconds),
                format!("{:.0}", points / seconds / 1e6),
                mark.to_string(),
            ]);
        }
        page + &table.to_string()
    }

    pub(super) fn json(&self, points: f64) -> Value {
        let compared = self.compared.iter().map(|of| {
            json!({
                "steps_a_pass": of.steps,
                "slabs": of.slabs,
                "layers": of.layers,
                "overlap": of.overlap,
                "bytes_up_a_pass": of.up,
                "bytes_down_a_pass": of.down,
                "predicted_hidden": of.time.map(|time| time.hidden()),
                "predicted_s_a_step": seconds(of),
                "mpts_per_s": points / seconds(of) / 1e6,
            })
        });
        json!({
            "bus": self.bus,
            "bytes_of_all_arrays": self.whole,
            "bytes_of_card": self.asked.memory,
            "passes": compared.collect::<Vec<_>>(),
            "chosen_steps_a_pass": self.chosen,
        })
    }
}

/// Returns the predicted seconds of a step.
fn seconds(of: &Passes) -> f64 {
    of.time.map_or(f64::INFINITY, |time| time.seconds() / of.steps as f64)
}

/// Returns the bytes a second over the bus in each direction, and words with their source.
fn bus(given: Option<f64>, card: &str) -> Result<(f64, String), Failure> {
    match (given, usual_bus(card)) {
        (Some(rate), _) => Ok((rate, format!("{:.1} GB/s each way, as given", rate / 1e9))),
        (None, Some(KnownLink { name, link, .. })) => {
            let rate = link.copies;
            let source = "four fifths of the rate of its 16 lanes";
            Ok((rate, format!("{name}, {:.1} GB/s each way, {source}", rate / 1e9)))
        }
        (None, None) => Err(Failure::new(format!(
            "error: no bus is known for {card}\n  help: --bus 12GB gives the bytes a second in each direction"
        ))),
    }
}
