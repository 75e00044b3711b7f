//! `stencil predict`: on which cards it pays to decompose a step into several kernels (the question that
//! Pekkilä et al. 2017 leave open in their sections 4 and 7), by the model of times.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use serde_json::{Value, json};
use stencil_compiler::cost::{KernelCost, MODELS, Model, StepTime};
use stencil_compiler::schedule::{Placement, Schedule};
use stencil_runtime::SystemDef;
use stencil_runtime::report::{clear_note, note};

use crate::bench;
use crate::explain::table::Table;
use crate::explain::{card, cells};
use crate::run::Ended;
use crate::smooth::along_axes;
use crate::source::{self, MixedChoice, Precision};

mod search;

use search::Costs;

/// What is predicted.
#[derive(Args, Clone, Debug)]
pub(crate) struct PredictArgs {
    /// Systems by name, or files with declarations
    #[arg(value_name = "SYSTEM|FILE.pde", default_value = "isothermal_ns")]
    systems: Vec<String>,
    /// Number of dimensions of systems `in nd`; 3 for those of files and 2 for those of the library if not given
    #[arg(long, value_name = "N", value_parser = source::dimension())]
    dimension: Option<usize>,
    /// Cells along x, y, z; one number is for all axes
    #[arg(long, value_name = "NX,NY,NZ", value_delimiter = ',', num_args = 1)]
    cells: Vec<usize>,
    /// Precisions of the values
    #[arg(long, value_name = "f32,f64", value_enum, value_delimiter = ',', default_values = ["f32", "f64"])]
    precision: Vec<Precision>,
    /// What a derivative of a derivative means, in place of the declared choice
    #[arg(long, value_name = "CHOICE,..", value_enum, value_delimiter = ',')]
    mixed: Vec<MixedChoice>,
    /// Orders of the central differences, in place of the declared one: 2, 4, 6, 8 or 10
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    order: Vec<u32>,
    /// The cards: H200, A100 or K40; all of them if none is given
    #[arg(long, value_name = "CARD,..", value_parser = card, value_delimiter = ',')]
    on: Vec<&'static Model>,
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
}

/// How a step is decomposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Method {
    /// One kernel that recomputes, or carries along, what it needs.
    One,
    /// One kernel that keeps derived functions in shared memory.
    Shared,
    /// Derived functions are stored by kernels of their own.
    Stored,
    /// Fields get their new values in several kernels.
    Parted,
}

const METHODS: [Method; 4] = [Method::One, Method::Shared, Method::Stored, Method::Parted];

impl Method {
    fn of(schedule: &Schedule) -> Self {
        let places = |wanted: fn(&Placement) -> bool| schedule.placements.values().any(wanted);
        if schedule.more_passes() > 0 {
            Method::Parted
        } else if places(|p| matches!(p, Placement::Global(_))) {
            Method::Stored
        } else if places(|p| *p == Placement::Shared) {
            Method::Shared
        } else {
            Method::One
        }
    }

    fn name(self) -> &'static str {
        match self {
            Method::One => "one_kernel",
            Method::Shared => "shared",
            Method::Stored => "stored",
            Method::Parted => "parted",
        }
    }

    fn is_decomposed(self) -> bool {
        matches!(self, Method::Stored | Method::Parted)
    }
}

/// What is predicted for one system in one precision on one card.
struct Case {
    system: String,
    precision: &'static str,
    mixed: &'static str,
    order: u32,
    cells: [usize; 3],
    card: &'static str,
    /// Are there differences whose order could be another?
    has_order: bool,
    best: BTreeMap<Method, Best>,
}

/// The best schedule of a method.
struct Best {
    schedule: Schedule,
    /// Points of the mesh.
    points: f64,
    step: StepTime,
    /// Bytes a point that memory moves in a step.
    bytes: f64,
    /// Arithmetic instructions a point of a step.
    operations: f64,
    /// The most of a kernel: registers that a thread is likely to get, and bytes that it spills.
    registers: (u32, u32),
}

impl Best {
    /// Million points a second in a burst.
    fn rate(&self) -> f64 {
        self.points / self.step.total / 1e6
    }

    fn json(&self) -> Value {
        json!({
            "mpts_per_s": self.rate(),
            "sustained_mpts_per_s": self.points / self.step.sustained / 1e6,
            "clock_held": self.step.held,
            "bound_by": self.step.limit.name(),
            "bytes_per_point": self.bytes,
            "operations_per_point": self.operations,
            "registers": self.registers.0,
            "spilled_bytes": self.registers.1,
            "schedule": stencil_compiler::schedule::text::print(&self.schedule),
        })
    }
}

impl Case {
    fn rate(&self, wanted: fn(Method) -> bool) -> f64 {
        let of = self.best.iter().filter(|(method, _)| wanted(**method));
        of.map(|(_, best)| best.rate()).fold(0.0, f64::max)
    }

    /// How many times as fast the best of several kernels is as the best of one, where there are both.
    fn gain(&self) -> Option<f64> {
        let several = self.rate(Method::is_decomposed);
        let one = self.rate(|method| !method.is_decomposed());
        (several > 0.0 && one > 0.0).then(|| several / one)
    }

    /// The order of the differences, if there are any.
    fn order(&self) -> Option<u32> {
        self.has_order.then_some(self.order)
    }

    fn json(&self) -> Value {
        let best = self.best.iter();
        let methods = best.map(|(method, best)| (method.name().to_string(), best.json()));
        json!({
            "system": self.system,
            "precision": self.precision,
            "mixed": self.mixed,
            "order": self.order(),
            "cells": self.cells,
            "card": self.card,
            "methods": methods.collect::<serde_json::Map<_, _>>(),
            "gain_of_decomposing": self.gain(),
        })
    }
}

/// Runs the command.
pub(crate) fn run(args: &PredictArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let systems = bench::of_orders(
        bench::systems(&args.systems, args.dimension, &args.mixed)?,
        &args.order,
    )?;
    let cards: Vec<&Model> = match &args.on[..] {
        [] => MODELS.iter().collect(),
        given => given.to_vec(),
    };
    let mut cases = Vec::new();
    for system in &systems {
        for precision in &args.precision {
            let (name, order) = (system.name(), system.model().scheme.order);
            note(&format!(
                "{name} order {order} {} ..",
                precision.get().name()
            ));
            let given = cells(&args.cells, system.model().dimension).map_err(crate::usage)?;
            cases.extend(predict(system, given, precision.get(), &cards)?);
        }
    }
    clear_note();
    let text = match args.json {
        true => format!(
            "{:#}\n",
            json!({ "cases": cases.iter().map(Case::json).collect::<Vec<_>>() })
        ),
        false => table(&cases),
    };
    source::write(out, text.as_bytes()).map_err(crate::usage)
}

/// The best schedule of each method on each card, of those that a search begins with.
fn predict(
    system: &SystemDef,
    cells: Option<[usize; 3]>,
    precision: stencil_compiler::expr::real::Precision,
    cards: &[&'static Model],
) -> Result<Vec<Case>, Ended> {
    let has_order = system.has_differences().unwrap_or(false);
    let usual = [1 << 22, 4096, 256][system.model().dimension.clamp(1, 3) - 1];
    let cells = cells.unwrap_or_else(|| along_axes(system, &[], usual));
    let algorithm = system.algorithm();
    let best = search::best(algorithm, precision.bytes(), (cells, cards));
    let points: f64 = cells.iter().map(|n| *n as f64).product();
    let of_step = |(method, (_, schedule)): (Method, (f64, Schedule)), card: &Model| {
        let costs = Costs::of(algorithm, &schedule, precision.bytes(), (cells, &[card]))?;
        let costs = costs.first()?;
        let sum = |of: &dyn Fn(&KernelCost) -> f64| costs.kernels.iter().map(of).sum::<f64>();
        let likely = || costs.kernels.iter().map(KernelCost::likely_registers);
        let best = Best {
            schedule,
            points,
            step: costs.step(cells, card)?,
            bytes: sum(&|cost| cost.memory_bytes(cells, &card.rates.card).unwrap_or(0.0)),
            operations: sum(&|cost| cost.operations),
            registers: (
                likely().map(|of| of.0).max().unwrap_or(0),
                likely().map(|of| of.1).max().unwrap_or(0),
            ),
        };
        Some((method, best))
    };
    let cases = cards.iter().zip(best).map(|(card, best)| Case {
        system: system.name().to_string(),
        precision: precision.name(),
        mixed: system.model().scheme.mixed.settled().name(),
        order: system.model().scheme.order,
        has_order,
        cells,
        card: card.name,
        best: best
            .into_iter()
            .filter_map(|found| of_step(found, card))
            .collect(),
    });
    Ok(cases.collect())
}

fn table(cases: &[Case]) -> String {
    let mut table = Table::new(
        0,
        &[
            "system",
            "",
            "mixed",
            "order#",
            "card",
            "one kernel#",
            "shared#",
            "stored#",
            "parted#",
            "decomposing#",
        ],
    );
    for case in cases {
        let [one, shared, stored, parted] = METHODS.map(|method| {
            let rate = case.best.get(&method);
            rate.map_or("-".to_string(), |best| format!("{:.0}", best.rate()))
        });
        let dash = || "-".to_string();
        table.row([
            case.system.clone(),
            case.precision.to_string(),
            case.mixed.to_string(),
            case.order().map_or_else(dash, |order| order.to_string()),
            case.card.to_string(),
            one,
            shared,
            stored,
            parted,
            case.gain().map_or_else(dash, |gain| format!("{gain:.2}")),
        ]);
    }
    format!(
        "{table}\nmillion points a full step and second of the best schedule of each kind, predicted for bursts; nothing was run\n\
         one kernel: all is recomputed or carried along; shared: derived functions are kept in shared memory\n\
         stored: derived functions are stored by kernels of their own; parted: fields are renewed in several kernels\n\
         decomposing: the best of several kernels over the best of one\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: PredictArgs,
    }

    fn outcome(words: &[&str]) -> Result<String, Ended> {
        let words = ["predict"].iter().chain(words);
        let args = Cli::try_parse_from(words).unwrap().args;
        let mut out = Vec::new();
        run(&args, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn printed(words: &[&str]) -> String {
        outcome(words).unwrap_or_else(|e| panic!("{}", e.message))
    }

    fn refused(words: &[&str]) -> String {
        outcome(words).unwrap_err().message
    }

    #[test]
    fn decomposing_pays_where_much_is_recomputed() {
        let file = std::env::temp_dir().join(format!("predict-{}.pde", std::process::id()));
        let text = "pub system Flow in 3d { field u: vector; param nu: real = 1;
                ddt(u) = nu * (lap(u) + grad(div(u))/3); }
             scheme s for Flow { space: central<order = 6>; mixed: composed; time: euler; }";
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let words = "--precision f32 --on K40 --mixed composed,bidiagonal --cells 256 --json";
        let words: Vec<&str> = [file].into_iter().chain(words.split(' ')).collect();
        let found: Value = serde_json::from_str(&printed(&words)).unwrap();
        std::fs::remove_file(file).unwrap();
        let cases = found["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 2);
        let gain = |at: usize| cases[at]["gain_of_decomposing"].as_f64().unwrap();
        assert!(gain(0) > 1.0 && gain(1) < 1.0, "{found}");
        let methods = cases[0]["methods"].as_object().unwrap();
        for method in METHODS {
            let found = &methods[method.name()];
            let number = |name: &str| found[name].as_f64().unwrap();
            assert!(number("mpts_per_s") > 0.0 && number("bytes_per_point") > 0.0);
            // No limit of power is known of it.
            assert_eq!(number("sustained_mpts_per_s"), number("mpts_per_s"));
        }
    }

    #[test]
    fn a_system_that_has_nothing_to_decompose_has_one_method() {
        let text = printed(&[
            "heat",
            "--precision",
            "f64",
            "--on",
            "A100",
            "--cells",
            "64",
        ]);
        let row = text.lines().nth(1).unwrap();
        assert!(row.starts_with("Heat"), "{text}");
        assert!(row.ends_with("-"), "{row}");
    }

    #[test]
    fn fluxes_of_reconstructed_states_have_no_order() {
        let words = [
            "acoustics",
            "--precision",
            "f32",
            "--on",
            "K40",
            "--cells",
            "64",
        ];
        let row = printed(&words);
        assert!(row.lines().nth(1).unwrap().contains(" -  K40 "), "{row}");
        let asked: Vec<&str> = words.into_iter().chain(["--order", "4"]).collect();
        let told = refused(&asked);
        assert!(
            told.contains("`Acoustics` has no central differences") && told.contains("help: "),
            "{told}"
        );
        let told = refused(&["heat", "--order", "3"]);
        assert!(
            told.contains("no order 3, there are [2, 4, 6, 8, 10]"),
            "{told}"
        );
    }
}
