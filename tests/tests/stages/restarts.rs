//! A run goes on from the two files that it leaves, the resolved problem and its last state, with the
//! bits of a run that was never stopped.

use std::collections::BTreeSet;
use std::path::PathBuf;

use physics::problems::{self, BuiltIn};
use physics::systems;
use stencil_runtime::problem::{Change, Problem};
use stencil_runtime::{Engine, Number, Simulation};

/// A problem with few cells, and in the plane enough of them for an inflow to have its width.
fn small(problem: &BuiltIn, changes: &[&str]) -> Option<Problem> {
    let open = |cells: &str| {
        let changes = changes.iter().map(|change| Change::set(change));
        let all: Vec<Change> = [Change::set(cells)].into_iter().chain(changes).collect();
        problem.open(&all)
    };
    // As many axes as the problem has.
    let sizes = ["mesh.cells=8,12,10", "mesh.cells=64,32", "mesh.cells=24"];
    sizes.into_iter().find_map(|cells| open(cells).ok())
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("restarts-{}-{name}.npz", std::process::id()))
}

fn bits<T: Number>(simulation: &Simulation<T>) -> Vec<u64> {
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    let values = names.iter().flat_map(|name| {
        let field = simulation.field(name).unwrap();
        field.iter().map(|v| v.to_f64().to_bits()).collect::<Vec<_>>()
    });
    values.chain([simulation.t().to_bits(), simulation.dt().to_bits()]).collect()
}

/// Compares some steps in one run with the same ones in two; the second one knows only the files of the first.
fn goes_on<T: Number>(problem: &Problem, name: &str, engines: [Engine; 2]) -> Result<(), String> {
    let build = |problem: &Problem, engine| {
        let built = problem.builder::<T>().engine(engine).threads(1).build();
        built.map_err(|e| format!("{name}: {e}"))
    };
    let mut whole = build(problem, engines[0])?;
    problem.initialize(&mut whole).map_err(|e| format!("{name}: {e}"))?;
    let step = |simulation: &mut Simulation<T>| {
        simulation.run(2, |_, _| ()).map_err(|e| format!("{name}: {e}"))
    };
    step(&mut whole)?;
    let state = file(name);
    problem.save_npz(&whole, &state).map_err(|e| format!("{name}: {e}"))?;
    step(&mut whole)?;

    let text = problem.to_toml(None);
    let again = Problem::parse("problem.toml", &text, "", &systems::library(), &[]);
    let again = again.map_err(|e| format!("{name}: {e}"))?;
    let mut second = build(&again, engines[1])?;
    let restored = second.restore(&state).map_err(|e| format!("{name}: {e}"))?;
    let changed = again.changed_since(&second, &state).map_err(|e| format!("{name}: {e}"))?;
    std::fs::remove_file(&state).map_err(|e| e.to_string())?;
    if !restored.changed.is_empty() || changed.is_none_or(|changed| !changed.is_empty()) {
        return Err(format!("{name}: {restored:?}"));
    }
    step(&mut second)?;
    match bits(&whole) == bits(&second) {
        true => Ok(()),
        false => Err(format!("{name}: other bits")),
    }
}

/// Every problem of the library that is not one of another's system and scheme, in both precisions,
/// between two engines.
#[test]
fn every_problem_goes_on_from_its_own_files() {
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for built_in in problems::ALL {
        let Some(problem) = small(built_in, &[]) else {
            wrong.push(format!("{} has no small mesh", built_in.name));
            continue;
        };
        let model = problem.system.model();
        let scheme = problem.system.algorithm().scheme.clone();
        if !seen.insert((model.name.clone(), model.dimension, scheme)) {
            continue;
        }
        let at = seen.len();
        let engines = match at % 2 {
            0 => [Engine::Rows, Engine::Cpu],
            _ => [Engine::Cpu, Engine::Rows],
        };
        let done = match at % 3 {
            0 => goes_on::<f32>(&problem, built_in.name, engines),
            _ => goes_on::<f64>(&problem, built_in.name, engines),
        };
        wrong.extend(done.err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Schemes that are chosen by name, that a table makes, and that a plan would settle.
#[test]
fn every_scheme_goes_on_from_its_own_files() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for name in ["sod", "dam_break", "burgers", "rotation", "acoustic_pulse", "heat_blob"] {
        let built_in = problems::find(name).unwrap();
        let Some(first) = small(built_in, &[]) else {
            wrong.push(format!("{name} has no small mesh"));
            continue;
        };
        let model = first.system.model();
        let named = model.others.iter().map(|scheme| format!("scheme={}", scheme.name));
        let tables = ["scheme.time=rk4", "scheme.arith=given", "scheme.order=2"];
        let changes = named.chain(tables.map(str::to_string));
        for change in changes {
            // Not every scheme has differences, or goes with every integrator.
            if let Some(problem) = small(built_in, &[&change]) {
                let name = format!("{name}-{}", change.replace(['=', '.'], "-"));
                tried += 1;
                wrong.extend(goes_on::<f64>(&problem, &name, [Engine::Rows; 2]).err());
            }
        }
    }
    assert!(wrong.is_empty() && tried > 20, "{tried} tried:\n{}", wrong.join("\n"));
}
