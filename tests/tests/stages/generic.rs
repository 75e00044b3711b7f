//! Systems in any number of dimensions, and expansions of the language, from declaration to run.

use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::parse::parse_str_in;
use stencil_compiler::schedule::{Halo, Placement};
use stencil_runtime::{Simulation, System, SystemDef, pde};
use stencil_tests::{OrPanic, Runs, of_presets};

use super::device_code::systems;

pde! {
    /// Diffusion in any number of dimensions, with a limited flux.
    #[interpreted]
    pub system Limited in nd {
        field q: scalar;
        param k: real = 0.01;
        fn limited(a: scalar) -> scalar {
            let mut r = 1;
            for i in 0..3 { r = r - (r^2 - (1 + a^2))/(2*r); }
            if r > 1 && a != 0 { a/r } else { 0 }
        }
        ddt(q) = k*lap(q) + k*limited(q);
    }
    scheme central2 for Limited { space: central<order = 2>; time: euler; }
}

/// Does the same in Rust: Newton's method for the square root of 1 + a^2.
fn limited(a: f64) -> f64 {
    let mut r = 1.0;
    for _ in 0..3 {
        r -= (r * r - (1.0 + a * a)) / (2.0 * r);
    }
    if r > 1.0 && a != 0.0 { a / r } else { 0.0 }
}

fn uniform(system: &impl stencil_runtime::ToSystem, cells: [usize; 3]) -> f64 {
    let mut simulation = Simulation::<f64>::builder(system)
        .cells(cells)
        .extent([1.0; 3])
        .dt(0.5)
        .unchecked_step(true)
        .build()
        .or_panic();
    simulation.fill("q", |_, _, _| 2.0);
    simulation.run(1, |_, _| ()).or_panic();
    let field = simulation.field("q").or_panic();
    field.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn a_generic_system_is_a_type_for_each_dimension() {
    let expected = 2.0 + 0.5 * 0.01 * limited(2.0);
    let found = [
        uniform(&Limited::<1>, [16, 1, 1]),
        uniform(&Limited::<2>, [16, 8, 1]),
        uniform(&Limited::<3>, [16, 8, 8]),
    ];
    for value in found {
        assert!((value - expected).abs() < 1e-15, "{value} {expected}");
    }
}

#[test]
fn a_generic_system_is_the_one_that_the_text_declares() {
    let text = Limited::<2>::DEFINITION.model;
    assert!(text.contains("pub system Limited in 2d of nd"), "{text}");
    let model = parse_str_in(text, Some(2)).or_panic();
    let system = SystemDef::new(&Limited::<2>::DEFINITION).or_panic();
    assert_eq!(system.model().without_spans(), model.without_spans());
}

/// On a mesh with walls no ghost cells of stored functions are exchanged: they are computed.
#[test]
fn presets_are_legal_on_meshes_with_walls() {
    for (system, algorithm) in systems() {
        for precision in [Precision::F32, Precision::F64] {
            for (name, mut schedule) in of_presets(&algorithm, precision) {
                for placement in schedule.placements.values_mut() {
                    if let Placement::Global(halo) = placement {
                        *halo = Halo::Recompute;
                    }
                }
                let found = compile(&algorithm, &schedule, &Target::new(precision.bytes()));
                assert!(
                    found.is_ok(),
                    "{system} {} {name}: {}",
                    precision.name(),
                    found.unwrap_err()
                );
            }
        }
    }
}
