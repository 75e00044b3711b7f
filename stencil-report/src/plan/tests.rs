//! Reports and pictures of made-up measurements.

use stencil_compiler::cost::{Bound, MODELS};
use stencil_compiler::discretize::discretize;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::parse::parse_str;
use stencil_compiler::schedule::text;
use stencil_compiler::search::presets;
use stencil_runtime::backend::cuda::nvrtc::Resources;
use stencil_runtime::backend::cuda::{Doubt, Launched};

use super::*;
use crate::Render;

const HEAT: &str = "system Heat in 3d { field q: scalar [K]; param k: real = 0.5 where k >= 0; ddt(q) = k * lap(q); }";

/// Does something with the report of a system by a preset, by a schedule with another name, or by the fastest candidate.
fn with_report<R>(system: &str, name: Option<&str>, of: impl Fn(Report<'_>) -> R) -> R {
    let model = parse_str(system).unwrap();
    let algorithm = discretize(&model).unwrap();
    let problem = Problem {
        model: &model,
        algorithm: &algorithm,
        chosen: None,
        precision: Precision::F32,
        cells: usual_cells(algorithm.dimension),
        on: &MODELS[0],
    };
    let other = || text::parse("schedule\nkernel direct\n").unwrap();
    let schedule = |name| {
        let preset = presets::find(name);
        preset.map_or_else(other, |preset| preset.schedule(&algorithm, Precision::F32))
    };
    let wanted = Wanted {
        schedule: name.map(|name| (name, schedule(name))),
        candidates: 6,
        ..Wanted::default()
    };
    of(Report::new(problem, wanted).unwrap())
}

#[test]
fn what_was_measured_stands_beside_what_was_predicted() {
    let page = with_report(HEAT, Some("direct"), |mut report| {
        let problem = report.problem;
        let kernels = report.plan.kernels().map(|kernel| Launched {
            name: kernel.launch.name.clone(),
            substep: kernel.launch.substep,
            threads: kernel.cost.threads,
            resources: Resources { registers: 77, spill_loads: 12, ..Resources::default() },
            shared_bytes: kernel.cost.shared_bytes,
            resident: 3,
            occupancy: 0.375,
            bound: Bound::Registers,
        });
        let measured = analyze::Measured {
            card: "Some Card".into(),
            best: 2.0 * report.plan.predicted.seconds,
            median: 3.0 * report.plan.predicted.seconds,
            predicted: 1.6 * report.plan.predicted.seconds,
            doubts: vec![Doubt { what: "the clock, Hz", measured: 1e8, expected: 1.98e9 }],
            copy_bytes: problem.on.rates.copy_bytes,
            launches: 6,
            kernels: kernels.collect(),
            seconds_of: [(0, 0.5 * report.plan.kernels().next().unwrap().time.total)].into(),
        };
        report.plan.analyze(&problem, measured);
        let share = report.plan.floor_seconds / report.plan.predicted.seconds / 2.0;
        let json = report.json();
        assert_eq!(json["plan"]["measured"]["card"], "Some Card");
        let kernel = &json["plan"]["substeps"][0][1];
        assert_eq!(kernel["registers"]["compiled"]["spilled_bytes"], 12);
        let seconds = ["measured_s", "total"].map(|name| match name {
            "total" => kernel["predicted_s"][name].as_f64().unwrap(),
            _ => kernel[name].as_f64().unwrap(),
        });
        assert_eq!(seconds[0], 0.5 * seconds[1]);
        let page = report.text();
        assert!(page.contains(&format!("{:.0} % of", 100.0 * share)), "{page}");
        page
    });
    for words in [
        "  measured  ",
        "a step on Some Card",
        "2.00 times the prediction for H200",
        "1.25 times the one with the numbers of this card",
        "  note      the clock, Hz, was measured as 1.000e8",
        "77 compiled, 12 bytes of spills",
        "measured (0.50 times that)",
        "3 blocks on a multiprocessor, 38 % of its warps; no more for registers",
        "Registers: of Some Card, where it ran.",
    ] {
        let plain = page.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(&words), "{words}\n{page}");
    }
}

#[test]
fn texts_of_pictures_are_inside_and_apart_in_any_dimension() {
    let flow = |dimension: usize| {
        format!(
            "system Flow in {dimension}d {{ field h: scalar; field u: vector; param nu: real = 1;
               ddt(h) = -dot(u, grad(h)) - div(u);
               ddt(u) = -dot(u, grad(u)) - grad(h) + nu * (lap(u) + grad(div(u))/3); }}
             scheme s for Flow {{ space: central<order = 4>; mixed: composed; time: ssprk2; }}"
        )
    };
    // A long name of a schedule is cut.
    let long = "a-schedule-with-a-name-".repeat(8);
    for dimension in 1..=3 {
        for named in [None, Some("decomposed"), Some(&long[..])] {
            let options = named.unwrap_or("");
            let scenes = with_report(&flow(dimension), named, |report| report.scenes());
            for (name, scene) in scenes {
                let what = format!("{dimension}d {name} {options}");
                let (width, height) = scene.size();
                let texts = scene.texts();
                assert!(texts.len() > 4, "{what}");
                for (at, (text, [x, y, w, h])) in texts.iter().enumerate() {
                    let inside = *x >= 0.0 && *y >= 0.0 && x + w <= width && y + h <= height;
                    assert!(inside, "{what}: `{text}` is not inside");
                    for (other, [ox, oy, ow, oh]) in &texts[..at] {
                        let apart = x + w <= *ox || ox + ow <= *x || y + h <= *oy || oy + oh <= *y;
                        assert!(apart, "{what}: `{text}` covers `{other}`");
                    }
                }
            }
        }
    }
}

#[test]
fn a_schedule_in_words_says_what_it_places() {
    let schedule = text::parse(
        "schedule\nplace a global exchange\nplace b carried\npass u 1\nkernel direct\nkernel direct\n",
    )
    .unwrap();
    assert_eq!(candidates::words(&schedule), "direct, a stored, 1 carried, 2 passes");
}
