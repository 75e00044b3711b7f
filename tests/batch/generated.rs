//! Generated systems as compiled programs: each instruction set has the oracle's bits.
//!
//! The crates are not optimized: compiling sixty programs within a minute is worth more than running them fast. `cargo
//! test --release` runs them optimized, too.

use stencil_compiler::algorithm::Algorithm;
use stencil_runtime::{Engine, Instructions, Number, SystemDef};
use stencil_tests::{Case, differing, oracle, random, simulated};

// Lints are not for generated code.
#[cfg(not(clippy))]
include!(concat!(env!("OUT_DIR"), "/systems.rs"));
#[cfg(clippy)]
static SYSTEMS: &[(u64, stencil_runtime::Definition)] = &[];

const STEPS: u64 = 3;

/// Returns the case of a seed. Its spacings times a number of cells are exact, so the simulation, which gets the
/// extent, finds the same ones.
fn case(seed: u64, algorithm: &Algorithm) -> Case {
    Case {
        spacing: [5.0 / 16.0, 9.0 / 32.0, 11.0 / 32.0],
        ..Case::new(algorithm, random::cells(seed, algorithm.dimension))
    }
}

/// Returns, for each instruction set with other bits than the oracle's, the differences; nothing if the oracle's values
/// overflow.
fn disagreements<T: Number>(seed: u64, system: &SystemDef) -> Option<Vec<String>> {
    let case = case(seed, system.algorithm());
    let reference = oracle::<T>(system.algorithm(), &case, STEPS as usize);
    let is_finite = reference.iter().flatten().all(|v| v.to_f64().is_finite());
    let compare = |instructions: Instructions| {
        let found = simulated::<T>(system, &case, STEPS, |builder| {
            let builder = builder.engine(Engine::Compiled).threads(2);
            builder.instructions(instructions)
        });
        let problem = match found.map(|found| differing(&found, &reference)) {
            Ok(0) => return None,
            Ok(count) => format!("{count} values differ"),
            Err(error) => error.to_string(),
        };
        let (name, precision) = (instructions.name(), T::NAME);
        Some(format!("seed {seed}, {name}, {precision}: {problem}"))
    };
    let all = Instructions::available().into_iter();
    is_finite.then(|| all.filter_map(compare).collect())
}

fn all_agree<T: Number>() {
    let (mut compared, mut failures) = (0, Vec::new());
    for (seed, definition) in SYSTEMS {
        let system = SystemDef::new(definition).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(system.is_compiled(), "seed {seed}");
        if let Some(found) = disagreements::<T>(*seed, &system) {
            compared += 1;
            if !found.is_empty() {
                failures.push(format!("{}\n{}", found.join("\n"), random::system(*seed)));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(100 * compared >= 95 * SYSTEMS.len(), "the values of {compared} systems are finite");
}

#[test]
fn compiled_programs_agree_in_double_precision() {
    all_agree::<f64>();
}

#[test]
fn compiled_programs_agree_in_single_precision() {
    all_agree::<f32>();
}
