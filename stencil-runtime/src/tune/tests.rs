//! The search on a made-up machine, whose times are the model's with a known deviation.

use std::collections::BTreeSet;
use std::sync::Mutex;

use stencil_compiler::cost::{MODELS, Rates, ScheduleCost};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::schedule::Schedule;
use stencil_compiler::schedule::text::print;
use stencil_compiler::search::heuristic;
use stencil_compiler::search::plans::Key;

use super::*;
use crate::backend::cuda::{CudaError, Doubt, Launched, Load};
use crate::bench::Sustained;

mod budget;
mod compiled;
mod devices;
mod machine;

use machine::{Behaves, Compiler, Machine};

const CELLS: [usize; 3] = [128, 128, 128];

const RATES: Rates = MODELS[0].rates;

fn heat() -> SystemDef {
    SystemDef::from_text(
        "heat.pde",
        "pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
         scheme s for Heat { space: central<order = 4>; time: euler; }",
    )
    .unwrap()
}

/// Two kernels with different best blockings: one evaluates roots and writes them, one sums many of them.
fn roots() -> SystemDef {
    SystemDef::from_text(
        "roots.pde",
        "pub system Roots in 3d { field q: scalar; fn again(q: scalar) -> scalar { let mut r = q; for i in 0..24 { r = 1/(1 + sqrt(1 + r)); } r }
            let r = again(q); ddt(q) = lap(r); }
         scheme s for Roots { space: central<order = 8>; mixed: composed; time: euler; }",
    )
    .unwrap()
}

fn run(system: &SystemDef) -> Builder<f32> {
    let [x, y, z] = CELLS;
    let is_flat = system.model().dimension == 2;
    let cells = [x, y, if is_flat { 1 } else { z }];
    Simulation::builder(system).cells(cells).dt(1e-6).unchecked_step(true)
}

/// A system in its usual formulation.
fn alone(system: SystemDef) -> [Form; 1] {
    [Form { system, chosen: None }]
}

fn found(behaves: Behaves, is_wrong: fn(&Schedule) -> bool) -> Result<Tuned, Error> {
    let forms = alone(heat());
    let mut machine = Machine::of(&forms, behaves, is_wrong);
    let options = Options { first: 12, ..Options::on(CELLS) };
    let mut heard = Vec::new();
    let mut progress = |progress| heard.push(progress);
    let tuned = Tuner::new(&forms, &options, &mut machine, &mut progress).search();
    let some =
        |p: &Progress| matches!(p, Progress::Ranked { legal, all } if 0 < *legal && legal < all);
    assert!(heard.iter().any(some));
    assert!(heard.iter().any(|p| matches!(p, Progress::Compiled { .. })));
    tuned
}

fn param(schedule: &Schedule, name: &str) -> Option<u32> {
    schedule.kernels[0].params.get(name).copied()
}

/// Marches of 64 cells along x are as fast as the model predicts, with boxes four times as fast, and all other
/// schedules take three times as long: only a search that goes from neighbour to neighbour finds boxes, which are no
/// part of its first race.
fn peaked(schedule: &Schedule, model: f64) -> Result<f64, CudaError> {
    let is_march = schedule.kernels[0].strategy == "march";
    let wide = param(schedule, "tile_x") == Some(64);
    let factor = match (is_march && wide, param(schedule, "loader")) {
        (true, Some(1)) => 0.25,
        (true, _) => 1.0,
        _ => 3.0,
    };
    Ok(factor * model)
}

#[test]
fn a_search_goes_on_from_what_is_fast() {
    let tuned = found(peaked, |_| false).unwrap();
    let plan = tuned.plan.clone().unwrap();
    assert_eq!(param(&plan.schedule, "loader"), Some(1), "{}", print(&plan.schedule));
    let best = tuned.trials.iter().find(|t| t.fate == Fate::Best).unwrap();
    let others = tuned.trials.iter().map(Trial::seconds);
    assert!(others.into_iter().all(|seconds| best.seconds() <= seconds));
    let points = CELLS.iter().product::<usize>() as f64;
    assert!((plan.rate - points / best.seconds() / 1e6).abs() < 0.1);
    assert_eq!(plan.key.card, "made up");
    assert!(tuned.model_error().measured > 12);
    let sustained = |t: &&Trial| t.sustained.is_some();
    assert!(best.sustained.is_some());
    assert!((1..=3).contains(&tuned.trials.iter().filter(sustained).count()));
}

#[test]
fn what_is_fast_and_wrong_does_not_win() {
    let loads_boxes = |s: &Schedule| param(s, "loader") == Some(1);
    let tuned = found(peaked, loads_boxes).unwrap();
    let plan = tuned.plan.unwrap();
    assert_ne!(param(&plan.schedule, "loader"), Some(1));
    let wrong = |t: &&Trial| t.fate == Fate::Wrong { differing: 5 };
    assert!(tuned.trials.iter().any(|t| wrong(&t)));
    // No schedule has the right bits.
    let error = found(peaked, |_| true).unwrap_err().to_string();
    assert!(error.contains("5 values are not the processor's"), "{error}");
}

#[test]
fn what_does_not_run_leaves_and_is_told() {
    let tuned = found(
        |schedule, model| match schedule.kernels[0].strategy.as_str() {
            "direct" => Ok(model),
            _ => Err(CudaError::NoMaps),
        },
        |_| false,
    )
    .unwrap();
    assert_eq!(tuned.plan.unwrap().schedule.kernels[0].strategy, "direct");
    let failed = tuned.trials.iter().filter_map(|t| match &t.fate {
        Fate::Failed { reason } => Some(reason),
        _ => None,
    });
    assert!(failed.clone().count() > 0);
    assert!(failed.into_iter().all(|reason| reason.contains("cuTensorMapEncodeTiled")));
    let error = found(|_, _| Err(CudaError::NoMaps), |_| false).unwrap_err();
    assert!(
        error.to_string().contains("no schedule of Heat was found: the NVIDIA driver"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_compiled_in_time_is_left_out_and_the_best_predicted_are_not() {
    let forms = alone(heat());
    let mut machine = Machine::of(&forms, |_, model| Ok(model), |_| false);
    machine.compiles = Duration::from_secs(10);
    let options = Options { budget: Duration::from_secs(120), ..Options::on(CELLS) };
    let mut progress = |_| ();
    let tuner = Tuner::new(&forms, &options, &mut machine, &mut progress);
    let tuned = tuner.search().unwrap();
    // Six of them in half of two minutes, of neighbours in half of the rest.
    let timed = |t: &&Trial| t.seconds().is_finite();
    let count = tuned.trials.iter().filter(timed).count();
    assert!((7..=11).contains(&count), "{count} were timed");
    assert!(tuned.took <= options.budget, "{:?}", tuned.took);
    assert!(tuned.trials.iter().any(|t| t.fate == Fate::Late));
    let best = tuned.trials.iter().find(|t| t.fate == Fate::Best).unwrap();
    let predicted = tuned.trials.iter().map(|t| t.predicted);
    assert_eq!(best.predicted, predicted.fold(f64::INFINITY, f64::min));
}

#[test]
fn a_race_ends_with_the_budget() {
    let forms = alone(heat());
    // It takes 20 ms to time each once, and a sixth of the budget is kept for the last race.
    for (milliseconds, most) in [(1, 2), (150, 7), (700, 24)] {
        let mut machine = Machine::of(&forms, |_, model| Ok(model), |_| false);
        let options = Options { budget: Duration::from_millis(milliseconds), ..Options::on(CELLS) };
        let mut progress = |_| ();
        let tuner = Tuner::new(&forms, &options, &mut machine, &mut progress);
        let tuned = tuner.search().unwrap();
        let timed = tuned.trials.iter().filter(|t| t.seconds().is_finite());
        let usual = heuristic::gpu(forms[0].system.algorithm(), Precision::F32);
        assert!(timed.clone().any(|t| t.schedule == usual));
        assert_eq!(timed.count(), most, "in {milliseconds} ms");
        let over = tuned.took.saturating_sub(options.budget);
        assert!(over <= Duration::from_millis(40), "{over:?}");
        assert!(tuned.trials.iter().any(|t| t.fate == Fate::Best));
    }
}

#[test]
fn where_what_promises_most_does_not_run_the_others_are_tried() {
    let forms = alone(heat());
    let does = |schedule: &Schedule, model: f64| match schedule.kernels[0].strategy.as_str() {
        "direct" => Ok(model),
        _ => Err(CudaError::NoMaps),
    };
    let mut machine = Machine::of(&forms, does, |_| false);
    machine.compiles = Duration::from_secs(100);
    let options = Options::on(CELLS);
    let mut progress = |_| ();
    let tuner = Tuner::new(&forms, &options, &mut machine, &mut progress);
    let plan = tuner.search().unwrap().plan.unwrap();
    assert_eq!(plan.schedule.kernels[0].strategy, "direct");
}

#[test]
fn a_search_begins_with_kernels_that_are_blocked_each_by_itself() {
    let forms = alone(roots());
    let mut machine = Machine::of(&forms, |_, model| Ok(model), |_| false);
    let options = Options::on(CELLS);
    let mut progress = |_| ();
    let mut tuner = Tuner::new(&forms, &options, &mut machine, &mut progress);
    let first = tuner.beginning(options.budget);
    let two = first.iter().map(|at| &tuner.trials[*at]);
    let two = two.filter(|trial| trial.schedule.kernels.len() == 2);
    let best = two.min_by(|a, b| a.predicted.total_cmp(&b.predicted));
    let best = best.expect("some store");
    let alike = tuner.trials.iter().filter(|trial| {
        let kernels = &trial.schedule.kernels;
        kernels.len() == 2 && kernels[0] == kernels[1]
    });
    let fastest = alike.map(|trial| trial.predicted).fold(f64::MAX, f64::min);
    assert_ne!(best.schedule.kernels[0], best.schedule.kernels[1]);
    assert!(
        best.predicted < 0.99 * fastest,
        "{} {fastest}: {}",
        best.predicted,
        print(&best.schedule)
    );
    // The seconds of the only kernel are those of the step.
    let of_kernel = |number| best.kernel_seconds(number, CELLS, &RATES).unwrap();
    let sum = of_kernel(0) + of_kernel(1);
    assert!(0.8 * best.predicted < sum && sum < best.predicted);
}

/// A system whose formulations differ in their costs: composed, `s` is evaluated at many points or stored.
fn open() -> SystemDef {
    SystemDef::from_text(
        "open.pde",
        "pub system Open in 2d { field q: scalar; let s = d[x](q) + d[y](q); ddt(q) = d[x](s) - 2*d[y](s); }
         scheme s for Open { space: central<order = 6>; mixed: either; time: euler; }",
    )
    .unwrap()
}

/// Returns all formulations of a system, as a search that chooses among them gets them.
fn formulations(system: &SystemDef) -> Vec<Form> {
    let of = fingerprint(system.algorithm());
    let all = system.formulations().unwrap().into_iter();
    let chosen = |formulation| Some(Chosen { formulation, of });
    all.map(|(formulation, system)| Form { system, chosen: chosen(formulation) }).collect()
}

#[test]
fn beside_others_the_usual_formulation_is_looked_at_as_when_alone() {
    let forms = formulations(&open());
    let options = Options::on(CELLS);
    let mut schedules = [&forms[..1], &forms[..]].map(|forms| {
        let mut machine = Machine::of(forms, |_, model| Ok(model), |_| false);
        let mut progress = |_| ();
        let mut tuner = Tuner::new(forms, &options, &mut machine, &mut progress);
        tuner.beginning(options.budget);
        let usual = tuner.trials.iter().filter(|trial| trial.form == 0);
        usual.map(|trial| trial.schedule.clone()).collect::<BTreeSet<_>>()
    });
    let [alone, beside] = &mut schedules;
    assert!(alone.len() > 100);
    alone.retain(|schedule| !beside.contains(schedule));
    // The choice of blockings kernel by kernel depends on the best of all.
    assert!(alone.len() <= 8, "{} are missing", alone.len());
}

#[test]
fn formulations_race_and_the_plan_says_which_one_won() {
    let forms = formulations(&open());
    assert_eq!(forms.len(), 3);
    let options = Options { first: 12, ..Options::on(CELLS) };
    let mut progress = |_| ();
    let mut search = |wrong: fn(&Schedule) -> bool| {
        let mut machine = Machine::of(&forms, |_, model| Ok(model), wrong);
        let tuner = Tuner::new(&forms, &options, &mut machine, &mut progress);
        tuner.search().unwrap()
    };
    let tuned = search(|_| false);
    let best = tuned.trials.iter().find(|t| t.fate == Fate::Best).unwrap();
    let plan = tuned.plan.as_ref().unwrap();
    assert_eq!(plan.chosen, forms[best.form].chosen);
    assert_eq!(plan.key.problem, 7 + best.form as u64);
    // Each was measured, as the model may be off between them, and none was faster.
    for form in 0..3 {
        let of_form = tuned.trials.iter().filter(|t| t.form == form);
        let fastest = of_form.map(Trial::seconds).fold(f64::INFINITY, f64::min);
        assert!(best.seconds() <= fastest && fastest.is_finite(), "{form}");
    }
    // Neighbours have the formulation of their origin.
    let last = tuned.trials.last().unwrap().form;
    assert!(tuned.trials.iter().filter(|t| t.form == last).count() > 1);
}

#[test]
fn without_a_card_the_model_chooses_the_formulation() {
    let forms = formulations(&open());
    let subject =
        Subject::<f32> { forms: &forms, run: &|system, _| run(system), fill: &|_| Ok(()) };
    let options = Options { on: Some(&MODELS[0]), ..Options::on(CELLS) };
    let tuned = tune(subject, &options, &mut |_| ()).unwrap();
    let plan = tuned.plan.as_ref().unwrap();
    let best = tuned.trials.iter().find(|t| t.fate == Fate::Best).unwrap();
    assert_eq!(plan.key.card, "H200 by the model");
    assert_eq!(plan.chosen, forms[best.form].chosen);
    assert_eq!(plan.key.problem, fingerprint(forms[best.form].system.algorithm()));
    assert!(tuned.trials.iter().all(|t| t.seconds().is_infinite()));
    // It is the fastest of all, whose rate the plan has.
    let predicted = tuned.trials.iter().map(|t| t.predicted);
    assert_eq!(best.predicted, predicted.fold(f64::INFINITY, f64::min));
    assert!((0..3).all(|form| tuned.trials.iter().any(|t| t.form == form)));
}
