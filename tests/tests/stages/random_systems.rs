//! Generated systems: every engine gives the oracle's bits, for any equations.

use std::panic::{AssertUnwindSafe, catch_unwind};

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::model::{self, Model};
use stencil_compiler::search::presets;
use stencil_compiler::search::space::{Draws, Space};
use stencil_tests::written::{self, PERIODIC, Run, within};
use stencil_tests::{
    Case, differing, discretized, interpreted, laws, oracle, random, row_engine, samples, shrink,
    takes,
};

const SYSTEMS: u64 = 200;
const LAWS: u64 = 32;
const STEPS: usize = 2;

/// Returns the error of the engines on a model, if there is one.
fn problem<T: Real>(model: &Model, seed: u64) -> Option<String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| compare::<T>(model, seed)));
    outcome.unwrap_or_else(|_| Err("a stage panics".into())).err()
}

fn compare<T: Real>(model: &Model, seed: u64) -> Result<(), String> {
    let algorithm = discretized(model);
    let case = Case::new(&algorithm, random::cells(seed, algorithm.dimension));
    let reference = oracle::<T>(&algorithm, &case, STEPS);
    if model.fluxes.is_empty() || written::knows(model) {
        as_written(model, &algorithm, &case, &reference)?;
    }
    let same = |what: &str, found: &[Vec<T>]| match differing(found, &reference) {
        0 => Ok(()),
        count => Err(format!("{what}: {count} values differ in {}", T::NAME)),
    };
    same("rows", &row_engine::<T>(&algorithm, &case, STEPS))?;
    // The processor's own schedule, and the others in turn.
    let turn = &presets::ALL[seed as usize / 2 % presets::ALL.len()];
    let chosen = presets::ALL.iter().filter(|p| p.name == "cpu" || p.name == turn.name);
    for preset in chosen {
        let schedule = preset.schedule(&algorithm, T::PRECISION);
        let compiled = compile(&algorithm, &schedule, &Target::new(T::BYTES));
        let compiled = compiled.map_err(|e| format!("{}: {e}", preset.name))?;
        let found = interpreted::<T>(&algorithm, &compiled, &case, STEPS, seed, Shadow::Full);
        same(preset.name, &found.map_err(|e| format!("{}: {e}", preset.name))?)?;
    }
    let space = Space::new(&algorithm, T::BYTES);
    let Some(schedule) = space.sample(&mut Draws::new(seed)) else {
        return Err("no legal schedule is found".into());
    };
    let compiled =
        compile(&algorithm, &schedule, &Target::new(T::BYTES)).map_err(|e| e.to_string())?;
    let found = interpreted::<T>(&algorithm, &compiled, &case, STEPS, seed, Shadow::Full);
    same("a sampled schedule", &found.map_err(|e| e.to_string())?)
}

/// Compares fields with the model's expressions as they are written.
fn as_written<T: Real>(
    model: &Model,
    algorithm: &Algorithm,
    case: &Case,
    found: &[Vec<T>],
) -> Result<(), String> {
    let run = Run {
        model,
        cells: case.cells,
        spacing: case.spacing,
        params: &case.params,
        dt: case.dt,
        faces: PERIODIC,
    };
    let states = case.set_states(algorithm).into_iter();
    let initial: Vec<Vec<T>> = states.map(|(i, _)| case.initial(i)).collect();
    let bounds = run.fields(&initial, STEPS);
    let checked = within(found, &bounds);
    checked.map(|_| ()).map_err(|e| format!("as written in {}: {e}", T::NAME))
}

fn read(text: &str) -> Model {
    model::parse::parse_str(text).unwrap_or_else(|e| panic!("{}", e.render("random", text)))
}

/// Returns the seeds below a number that this run takes.
fn seeds(count: u64) -> impl Iterator<Item = u64> {
    (0..samples(count as usize)).filter(|seed| takes(*seed)).map(|seed| seed as u64)
}

fn check_seed<T: Real>(seed: u64) {
    check_model::<T>(&read(&random::system(seed)), seed);
}

fn check_model<T: Real>(model: &Model, seed: u64) {
    let Some(first) = problem::<T>(model, seed) else {
        return;
    };
    let smallest = shrink::shrink(model, &|m| problem::<T>(m, seed).is_some());
    let found = problem::<T>(&smallest, seed).unwrap_or(first);
    panic!("seed {seed}: {found}\n{}", model::text::print(&smallest));
}

#[test]
fn even_seeds_agree_in_double_precision() {
    seeds(SYSTEMS).filter(|seed| seed % 2 == 0).for_each(check_seed::<f64>);
}

#[test]
fn odd_seeds_agree_in_single_precision() {
    seeds(SYSTEMS).filter(|seed| seed % 2 == 1).for_each(check_seed::<f32>);
}

/// Vectors of three components along one and two axes.
#[test]
fn systems_of_wide_vectors_agree() {
    for seed in seeds(SYSTEMS / 4) {
        let text = random::wide_system(seed);
        assert!(text.contains("vector<3>"), "{text}");
        match seed % 2 {
            0 => check_model::<f64>(&read(&text), seed),
            _ => check_model::<f32>(&read(&text), seed),
        }
    }
    let all: Vec<String> = (0..SYSTEMS / 4).map(random::wide_system).collect();
    for word in ["in 1d", "in 2d", "curl(", "cross(", "div(", ".z"] {
        let count = all.iter().filter(|text| text.contains(word)).count();
        assert!(count >= 5, "only {count} systems have `{word}`");
    }
}

/// Laws with random fluxes by every solver of scalars, half of them as they are written.
#[test]
fn conservation_laws_agree() {
    let mut known = 0;
    for seed in 0..LAWS {
        let model = read(&laws::random(seed, seed % 4 < 2));
        known += usize::from(written::knows(&model));
        match seed % 2 {
            0 => check_model::<f64>(&model, seed),
            _ => check_model::<f32>(&model, seed),
        }
    }
    assert!(known > LAWS as usize / 3, "{known}");
}

#[test]
fn generated_systems_use_the_language() {
    let all: Vec<String> = (0..SYSTEMS).map(random::system).collect();
    for word in [
        "in 1d",
        "in 2d",
        "in 3d",
        "if ",
        "source",
        "let",
        "d4[",
        "lap(",
        "grad(div(",
        "upwind",
        "tanh",
        "composed",
        "product",
        "as_written",
        "differences",
        "rk4",
        "order = 8",
        "))^2",
        "norm((",
        "sqrt((",
        "square((",
        "distance(",
        "share(",
    ] {
        let count = all.iter().filter(|text| text.contains(word)).count();
        assert!(count >= 5, "only {count} systems have `{word}`");
    }
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert!(distinct.len() > 190);
}

/// The shrinker keeps the cause and drops the rest.
#[test]
fn failures_shrink() {
    let model = read(
        "pub system S in 1d { field f: scalar; param a: real = 1;
         ddt(f) = a*(f + 3*d[x](f*f)) - sqrt(1 + f^2); }",
    );
    let fails = |m: &Model| model::text::print(m).contains("d[x](");
    let text = model::text::print(&shrink::shrink(&model, &fails));
    assert!(text.contains("ddt(f) = d[x](f);"), "{text}");
}
