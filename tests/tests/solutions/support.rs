//! Setting up runs of built-in systems with other schemes.

use stencil_compiler::model::{Model, parse, text};
use stencil_runtime::{Definition, Number, Simulation, SystemDef};

/// The declaration of a built-in system.
pub(crate) fn model_of(definition: &Definition) -> Model {
    parse::parse_str(definition.model).unwrap_or_else(|e| panic!("{}: {e}", definition.name))
}

/// A built-in system after a change of its declaration.
pub(crate) fn changed(definition: &Definition, change: impl FnOnce(&mut Model)) -> SystemDef {
    let mut model = model_of(definition);
    change(&mut model);
    SystemDef::from_text(definition.name, &text::print(&model)).unwrap_or_else(|e| panic!("{e}"))
}

/// Sets a component from a function of the point.
pub(crate) fn settle<T: Number>(
    simulation: &mut Simulation<T>,
    name: &str,
    value: impl Fn([f64; 3]) -> f64 + Sync,
) {
    let set = simulation.set(name, |x, y, z| value([x, y, z]));
    set.unwrap_or_else(|e| panic!("{e}"));
}

/// The observed order between two errors on meshes whose spacings have this ratio.
pub(crate) fn observed(coarse: f64, fine: f64, ratio: f64) -> f64 {
    (coarse / fine).ln() / ratio.ln()
}
