//! Setting up runs of built-in systems with other schemes.

use physics::problems;
use stencil_compiler::catalogue::integrators;
use stencil_compiler::model::{Mixed, Model, parse, text};
use stencil_runtime::problem::{Change, Problem};
use stencil_runtime::{Definition, Number, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

/// Returns a problem of the library with some settings changed, and the run at its begin.
pub(crate) fn begun<T: Number>(name: &str, changes: &[&str]) -> (Problem, Simulation<T>) {
    let changes: Vec<Change> = changes.iter().map(|change| Change::set(change)).collect();
    let built_in = problems::find(name).or_panic();
    let problem = built_in.open(&changes).or_panic();
    let mut simulation = problem.builder::<T>().build().or_panic();
    problem.initialize(&mut simulation).unwrap_or_else(|e| panic!("{name}: {e}"));
    (problem, simulation)
}

/// Returns the same, and the run at its end.
pub(crate) fn solved<T: Number>(name: &str, changes: &[&str]) -> (Problem, Simulation<T>) {
    let (problem, mut simulation) = begun(name, changes);
    let end = problem.time.end.expect("an end");
    simulation.run_until(end, |_, _| ()).unwrap_or_else(|e| panic!("{name}: {e}"));
    (problem, simulation)
}

/// Returns the declaration of a built-in system.
pub(crate) fn model_of(definition: &Definition) -> Model {
    parse::parse_str(definition.model).unwrap_or_else(|e| panic!("{}: {e}", definition.name))
}

/// Returns a built-in system after a change of its declaration.
pub(crate) fn changed(definition: &Definition, change: impl FnOnce(&mut Model)) -> SystemDef {
    let mut model = model_of(definition);
    change(&mut model);
    system_of(&model)
}

/// Returns the system of a declaration.
pub(crate) fn system_of(model: &Model) -> SystemDef {
    SystemDef::from_text(&model.name, &text::print(model)).or_panic()
}

/// Returns every built-in system without fluxes in each of its dimensions, by each of its schemes and, if derivatives
/// are nested, by each mixed form. Schemes of conservation laws are not linear and have tests of their own, and so have
/// values on faces and edges.
pub(crate) fn forms() -> Vec<Model> {
    let mut out = Vec::new();
    let models = physics::systems::ALL.iter().map(model_of);
    let in_cells = |model: &Model| model.fluxes.is_empty() && !model.is_staggered();
    for model in models.filter(in_cells) {
        let text = text::print(&model);
        let nested = text.contains("grad(div(");
        let all = [Mixed::Bidiagonal, Mixed::Product, Mixed::Composed];
        for scheme in [&model.scheme].into_iter().chain(&model.others) {
            for mixed in all.into_iter().take(if nested { 3 } else { 1 }) {
                let mut model = model.clone();
                model.others.clear();
                model.scheme = scheme.clone();
                model.scheme.mixed = mixed;
                out.push(model);
            }
        }
    }
    out
}

/// Returns a form in words.
pub(crate) fn describe(model: &Model) -> String {
    let (scheme, mixed) = (&model.scheme, model.scheme.mixed.name());
    format!("{:<13} {}d  {:<8} {mixed:<10}", model.name, model.dimension, scheme.name)
}

/// Returns the convergence order of a scheme's integrator.
pub(crate) fn order_in_time(model: &Model) -> f64 {
    let integrator = integrators::find(&model.scheme.time).expect("an integrator");
    f64::from(integrator.order)
}

/// Returns about `steps` time steps on a mesh of `n` cells, if these are the steps on a mesh of 36, such that errors of
/// the integrator fall with the order in space.
pub(crate) fn steps(model: &Model, n: usize, steps: f64) -> u64 {
    let power = f64::from(model.scheme.order) / order_in_time(model);
    (steps * (n as f64 / 36.0).powf(power)).round() as u64
}

/// Returns the root of the mean of the squares.
pub(crate) fn root_mean_square(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0, 0.0), |(n, sum), v| (n + 1, sum + v * v));
    (sum / f64::from(count)).sqrt()
}

/// Sets a component from a function of the point.
pub(crate) fn settle<T: Number>(
    simulation: &mut Simulation<T>,
    name: &str,
    value: impl Fn([f64; 3]) -> f64 + Sync,
) {
    simulation.fill(name, |x, y, z| value([x, y, z]));
}

/// Returns the observed order between two errors on meshes whose spacings have this ratio.
pub(crate) fn observed(coarse: f64, fine: f64, ratio: f64) -> f64 {
    (coarse / fine).ln() / ratio.ln()
}
