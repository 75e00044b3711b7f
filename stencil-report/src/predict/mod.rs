//! Whether it pays to decompose a step into several kernels, by the model of times, for any card (the question that
//! Pekkilä et al. 2017 leave open in their sections 4 and 7).

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stencil_compiler::cost::{KernelCost, Model, StepTime};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::schedule::{Placement, Schedule, text};
use stencil_runtime::SystemDef;

use crate::Render;
use crate::smooth::along_axes;
use crate::table::Table;

mod search;

use search::Costs;

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

/// The prediction for one system in one precision on one card.
#[derive(Clone, Debug)]
pub struct Case {
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
#[derive(Clone, Debug)]
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
            "schedule": text::print(&self.schedule),
        })
    }
}

impl Case {
    fn rate(&self, wanted: fn(Method) -> bool) -> f64 {
        let of = self.best.iter().filter(|(method, _)| wanted(**method));
        of.map(|(_, best)| best.rate()).fold(0.0, f64::max)
    }

    /// The rate of the best of several kernels over that of the best of one, if there are both.
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

/// Predicts the best schedule of each method on each card, of those that a search begins with.
pub fn cases(
    system: &SystemDef,
    cells: Option<[usize; 3]>,
    precision: Precision,
    cards: &[&'static Model],
) -> Vec<Case> {
    let has_order = system.has_differences().unwrap_or(false);
    let usual = [1 << 22, 4096, 256][system.model().dimension.clamp(1, 3) - 1];
    let cells = cells.unwrap_or_else(|| along_axes(system, &[], usual));
    let algorithm = system.algorithm();
    let best = search::best(algorithm, precision.bytes(), (cells, cards));
    let points: f64 = cells.iter().map(|n| *n as f64).product();
    let of_step = |(method, (_, schedule)): (Method, (f64, Schedule)), card: &Model| {
        let costs = Costs::of(algorithm, &schedule, precision.bytes(), (cells, &[card]));
        let costs = costs.first()?.as_ref()?;
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
        best: best.into_iter().filter_map(|found| of_step(found, card)).collect(),
    });
    cases.collect()
}

/// All that was predicted.
#[derive(Clone, Debug, Default)]
pub struct Cases(pub Vec<Case>);

impl Render for Cases {
    fn text(&self) -> String {
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
        for case in &self.0 {
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

    fn json(&self) -> Value {
        json!({ "cases": self.0.iter().map(Case::json).collect::<Vec<_>>() })
    }
}
