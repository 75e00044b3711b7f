//! Boundaries of every kind, as users run them.

use stencil_compiler::expr::Real;
use stencil_runtime::{Axis, Boundary, Face, Number, Side, SystemDef};
use stencil_tests::random;
use stencil_tests::written::{Faces, Ghost, Run, random_faces, within};
use stencil_tests::{Case, OrPanic, discretized, simulated};

use super::{initial, read, run};

const SYSTEMS: u64 = 60;
const STEPS: usize = 2;

fn boundary(ghost: Ghost) -> Boundary {
    match ghost {
        Ghost::Periodic => Boundary::periodic(),
        Ghost::Wall => Boundary::wall(),
        Ghost::Outflow => Boundary::outflow(),
        Ghost::Extrapolate => Boundary::extrapolate(),
        Ghost::Dirichlet(value) => Boundary::dirichlet(value),
        Ghost::Neumann(slope) => Boundary::neumann(slope),
    }
}

/// Returns the fields after some steps of a simulation.
fn run_between<T: Number + Real>(text: &str, case: &Case, faces: &Faces) -> Vec<Vec<T>> {
    let system = SystemDef::from_text("random", text).or_panic();
    let found = simulated::<T>(&system, case, STEPS as u64, |mut builder| {
        for axis in &Axis::ALL[..system.model().dimension] {
            for (side, ghost) in Side::ALL.into_iter().zip(faces[axis.index()]) {
                builder = builder.boundary(Face::new(*axis, side), boundary(ghost));
            }
        }
        builder.centered(true)
    });
    found.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn check<T: Number + Real>(seed: u64) -> usize {
    let text = random::bounded_system(seed);
    let model = read(&text);
    let mut cells = random::cells(seed, model.dimension);
    for n in &mut cells[..model.dimension] {
        *n = (*n).max(9);
    }
    let faces = random_faces(seed, model.dimension, model.scheme.order);
    let mut case = Case::new(&discretized(&model), cells);
    // Powers of two, so that extents over cells are the spacings.
    case.spacing = [0.25, 0.5, 0.125];
    case.dt = 0.005;
    let found = run_between::<T>(&text, &case, &faces);
    let run = Run { faces, ..run(&model, &case) };
    let bounds = run.fields::<T>(&initial(&model, &case), STEPS);
    let (_, count) = within(&found, &bounds)
        .unwrap_or_else(|e| panic!("seed {seed} in {}: {e}\n{faces:?}\n{text}", T::NAME));
    count
}

#[test]
fn boundaries_of_every_kind_are_as_they_are_written() {
    let counts = (0..SYSTEMS).map(|seed| match seed % 2 {
        0 => check::<f64>(seed),
        _ => check::<f32>(seed),
    });
    assert!(counts.sum::<usize>() > 10_000);
    let all = (0..SYSTEMS).map(|seed| random_faces(seed, 3, 2));
    let all: Vec<Ghost> = all.flatten().flatten().collect();
    for kind in [
        Ghost::Periodic,
        Ghost::Wall,
        Ghost::Outflow,
        Ghost::Extrapolate,
        Ghost::Dirichlet(0.0),
        Ghost::Neumann(0.0),
    ] {
        let same = |ghost: &&Ghost| std::mem::discriminant(*ghost) == std::mem::discriminant(&kind);
        assert!(all.iter().filter(same).count() > 20, "{kind:?}");
    }
}
