//! Any system with smooth values on a periodic mesh, for measurements. A fixed time step is so small that
//! the values hardly change: they stay finite in any system, and the speed does not depend on them.

use stencil_compiler::algorithm::Role;
use stencil_compiler::catalogue::Rank;
use stencil_compiler::model::Field;
use stencil_runtime::{Builder, Error, Number, Simulation, Source, SystemDef};

/// Sets up a run on so many cells, of steps that are all alike.
pub fn run<T: Number>(system: &SystemDef, cells: [usize; 3]) -> Builder<T> {
    let finest = cells.iter().copied().max().unwrap_or(1).max(1) as f64;
    let powers = system.model().speeds.iter().map(|speed| speed.power);
    let power = powers.max().unwrap_or(2).max(2);
    without_steps(system, cells).dt(1e-6 / finest.powi(power as i32))
}

/// Sets up a run on so many cells, of which nothing says how long its steps are.
pub fn without_steps<T: Number>(system: &SystemDef, cells: [usize; 3]) -> Builder<T> {
    let mut builder = Simulation::<T>::builder(system).cells(cells).unchecked_step(true);
    let params = system.algorithm().params.iter();
    for param in params.filter(|p| p.default.is_none()) {
        builder = builder.param(param.name.as_str(), 1.0);
    }
    for (_, given) in system.algorithm().states_of(Role::Given) {
        builder = builder.source(given.name.as_str(), Source::constant(0.0));
    }
    builder
}

/// Returns the number that values of a field are near to: scalars may be densities, which are positive, or energies, which
/// are larger than what moves has of them.
pub fn mean(rank: Rank) -> f64 {
    match rank {
        Rank::Scalar => 1.0,
        Rank::Vector | Rank::Tensor => 0.05,
    }
}

/// Returns the number that values of a component are near to.
pub fn mean_of(system: &SystemDef, component: &str) -> f64 {
    let is_scalar = |f: &Field| f.rank == Rank::Scalar && f.name == component;
    match system.model().fields.iter().any(is_scalar) {
        true => mean(Rank::Scalar),
        false => mean(Rank::Vector),
    }
}

/// Sets its values.
///
/// # Errors
/// If values cannot be set.
pub fn fill<T: Number>(simulation: &mut Simulation<T>) -> Result<(), Error> {
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (at, name) in names.iter().enumerate() {
        let mean = mean_of(simulation.system(), name);
        let phase = at as f64;
        simulation.set(name, |x, y, z| {
            mean + 0.01 * (std::f64::consts::TAU * (x + 2.0 * y - z) + phase).sin()
        })?;
    }
    Ok(())
}

/// Returns numbers for all axes: the usual one if none are given, one given for all, or one for each.
pub fn along_axes(system: &SystemDef, given: &[usize], usual: usize) -> [usize; 3] {
    let dimension = system.model().dimension;
    std::array::from_fn(|axis| match (axis < dimension, given) {
        (false, _) => given.get(axis).copied().unwrap_or(1),
        (true, []) => usual,
        (true, [n]) => *n,
        (true, _) => given.get(axis).copied().unwrap_or(1),
    })
}
