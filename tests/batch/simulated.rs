//! Runs a system as a user's program does, to be compared with the oracle.

use stencil_compiler::algorithm::Role;
use stencil_runtime::{Builder, Error, Number, Simulation, Source, SystemDef};
use stencil_tests::Case;

/// Returns the fields after some steps of a simulation that starts from the case's values and is set up further by
/// `choose`.
///
/// # Errors
/// If the settings do not fit, or a field is not finite.
///
/// # Panics
/// If the simulation's spacing differs from the case's in the last bit.
pub(crate) fn simulated<T: Number>(
    system: &SystemDef,
    case: &Case,
    steps: u64,
    choose: impl FnOnce(Builder<T>) -> Builder<T>,
) -> Result<Vec<Vec<T>>, Error> {
    let algorithm = system.algorithm();
    let extent = std::array::from_fn(|axis| case.spacing[axis] * case.cells[axis] as f64);
    let mut builder = Simulation::<T>::builder(system)
        .cells(case.cells)
        .extent(extent)
        .dt(case.dt)
        .unchecked_step(true);
    for (i, state) in case.set_states(algorithm) {
        let state = algorithm.state(state);
        if state.role == Role::Given {
            let values = case.array::<T>(i).mapv(|v| v.to_f64());
            builder = builder.source(&state.name, Source::array(values));
        }
    }
    let mut simulation = choose(builder).build()?;
    assert_eq!(simulation.spacing(), case.spacing, "equal to the last bit");
    for (i, state) in case.set_states(algorithm) {
        let state = algorithm.state(state);
        if state.role == Role::Field {
            simulation.set_array(&state.name, case.array::<T>(i).view())?;
        }
    }
    simulation.run(steps, |_, _| ())?;
    let fields = algorithm.states_of(Role::Field);
    let values = fields.map(|(_, s)| Ok(simulation.field(&s.name)?.iter().copied().collect()));
    values.collect()
}
