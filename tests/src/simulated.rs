//! Systems run as a user's program runs them, to be compared with the oracle.

use stencil_compiler::algorithm::Role;
use stencil_runtime::{
    Builder, Engine, Error, Instructions, Number, Simulation, Source, SystemDef,
};

use crate::{Case, OrPanic, differing, oracle};

/// Returns the fields after some steps of a simulation that starts from the case's values and is set up further by
/// `choose`.
///
/// # Errors
/// If the settings do not fit, or a field is not finite.
///
/// # Panics
/// If the simulation's spacing differs from the case's in the last bit.
pub fn simulated<T: Number>(
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

/// Runs a system for three steps on each engine, on several threads, with any instructions and by some presets.
///
/// # Panics
/// If one of them gives other bits than the oracle.
pub fn agree_in_all_ways<T: Number>(system: &SystemDef, cells: [usize; 3], presets: &[&str]) {
    const STEPS: usize = 3;
    let algorithm = system.algorithm();
    let case = Case {
        // Times a number of cells they are exact.
        spacing: [5.0 / 16.0, 9.0 / 32.0, 11.0 / 32.0],
        ..Case::new(algorithm, cells)
    };
    let reference = oracle::<T>(algorithm, &case, STEPS);
    let best = Instructions::best();
    let engines = [Engine::Compiled, Engine::Rows].into_iter();
    let engines = engines.filter(|engine| *engine == Engine::Rows || system.is_compiled());
    let mut ways = Vec::new();
    for engine in engines {
        ways.extend([1, 2, 7].map(|threads| (engine, threads, best, None)));
        let all = Instructions::available().into_iter();
        ways.extend(all.map(|instructions| (engine, 2, instructions, None)));
    }
    ways.extend(presets.iter().map(|name| (Engine::Rows, 2, best, Some(*name))));
    for (engine, threads, instructions, preset) in ways {
        let schedule = preset.map(|name| system.preset(name, T::PRECISION).or_panic());
        let found = simulated::<T>(system, &case, STEPS as u64, |builder| {
            let builder = builder.engine(engine).threads(threads).instructions(instructions);
            match schedule {
                Some(schedule) => builder.schedule(schedule),
                None => builder,
            }
        });
        let count = differing(&found.or_panic(), &reference);
        let (name, instructions) = (system.name(), instructions.name());
        assert_eq!(count, 0, "{name} {} {engine:?} {threads} {instructions} {preset:?}", T::NAME);
    }
}
