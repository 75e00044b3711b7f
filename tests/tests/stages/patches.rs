//! A mesh in patches gives the bits of one patch, in one memory or two: every system of the library
//! under a preset and a drawn schedule, on the kernel interpreter against the oracle.

use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::catalogue::Rank;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::model::Model;
use stencil_compiler::schedule::{Schedule, text};
use stencil_compiler::search::presets;
use stencil_compiler::search::space::{Draws, Space};
use stencil_runtime::SystemDef;
use stencil_tests::{
    Case, Layout, OrPanic, algorithm_of, differing, interpreted_on, oracle, takes_in_turn,
};

/// Cells by the number of dimensions; patches differ by a cell, and are thinner than the halo.
const CELLS: [[usize; 3]; 3] = [[19, 1, 1], [11, 8, 1], [9, 5, 5]];
const PATCHES: [[usize; 3]; 3] = [[3, 1, 1], [2, 3, 1], [2, 1, 3]];
/// Slots of fields swap every step.
const STEPS: usize = 2;

fn layouts(dimension: usize) -> [Layout; 3] {
    let patches = PATCHES[dimension - 1];
    [Layout::ONE, Layout { patches, devices: 1 }, Layout { patches, devices: 2 }]
}

fn same_bits_in_all_layouts<T: Real>(number: usize, system: &SystemDef) {
    let algorithm = system.algorithm();
    let mut case = Case::new(algorithm, CELLS[algorithm.dimension - 1]);
    case.dt = 1e-3;
    case.means = means(system.model(), system.algorithm());
    let reference = oracle::<T>(algorithm, &case, STEPS);
    let finite = reference.iter().flatten();
    assert!(
        finite.clone().all(|v| v.to_f64().is_finite()),
        "{}: the case is unstable",
        system.name()
    );
    let preset = &presets::ALL[number % presets::ALL.len()];
    let mut draws = Draws::new(number as u64);
    let drawn = Space::new(algorithm, T::BYTES).sample(&mut draws).expect("legal schedules exist");
    for schedule in [preset.schedule(algorithm, T::PRECISION), drawn] {
        let compiled = compile(algorithm, &schedule, &Target::new(T::BYTES)).or_panic();
        for layout in layouts(algorithm.dimension) {
            let found = interpreted_on::<T>(
                layout,
                algorithm,
                &compiled,
                &case,
                STEPS,
                (number as u64, Shadow::Off),
            );
            let about = || about(system, T::NAME, layout, &schedule);
            let found = found.unwrap_or_else(|fault| panic!("{fault}\n{}", about()));
            assert_eq!(differing(&found, &reference), 0, "{}", about());
        }
    }
}

/// Returns means: a scalar of a law may be a density, or a property of a medium, which are positive.
pub(super) fn means(model: &Model, algorithm: &Algorithm) -> Vec<f64> {
    let fields = model.fields.iter();
    let is_law = !model.fluxes.is_empty();
    let positive = fields.filter(|f| f.rank == Rank::Scalar && is_law);
    let positive: Vec<&String> = positive.map(|f| &f.name).collect();
    let states = algorithm.states_of(Role::Field);
    let mean = |name: &String| if positive.contains(&name) { 1.0 } else { 0.0 };
    states.map(|(_, state)| mean(&state.name)).collect()
}

fn about(system: &SystemDef, precision: &str, layout: Layout, schedule: &Schedule) -> String {
    let name = system.name();
    format!("{name} {precision} {layout:?}\n{}", text::print(schedule))
}

fn every_system<T: Real>(first: usize) {
    let systems = physics::systems::ALL.iter().enumerate();
    for (number, definition) in systems.filter(|(number, _)| takes_in_turn::<T>(*number)) {
        let system = SystemDef::new(definition).or_panic();
        same_bits_in_all_layouts::<T>(first + number, &system);
    }
}

#[test]
fn every_system_has_the_same_bits_in_f32() {
    every_system::<f32>(0);
}

#[test]
fn every_system_has_the_same_bits_in_f64() {
    every_system::<f64>(4);
}

/// Patches of 96 and 97 cells: the third block of 32 cells reads ghost cells of the shorter ones alone.
#[test]
fn no_block_of_the_interior_reads_ghost_cells_of_shorter_patches() {
    let algorithm = algorithm_of(
        "system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
        scheme s for Heat { space: central<order = 2>; time: ssprk2; }",
    );
    let schedule = text::parse("schedule kernel direct x=32").or_panic();
    let compiled = compile(&algorithm, &schedule, &Target::new(f64::BYTES)).or_panic();
    let mut case = Case::new(&algorithm, [290, 1, 1]);
    case.dt = 1e-3;
    let reference = oracle::<f64>(&algorithm, &case, STEPS);
    for devices in 1..=3 {
        let layout = Layout { patches: [3, 1, 1], devices };
        let with = (0, Shadow::Off);
        let found = interpreted_on(layout, &algorithm, &compiled, &case, STEPS, with).or_panic();
        assert_eq!(differing(&found, &reference), 0, "{devices} devices");
    }
}
