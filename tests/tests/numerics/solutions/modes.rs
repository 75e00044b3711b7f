//! Waves that solve a system exactly: an advected one is carried along, one of heat decays, sound,
//! elastic and Alfvén waves travel. Errors against them fall with the order of the scheme.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

use stencil_compiler::model::Model;
use stencil_runtime::{Simulation, Source};
use stencil_tests::{OrPanic, takes_in_turn};

use super::support::{describe, forms, observed, root_mean_square, settle, steps, system_of};

/// A system and its solution.
struct Mode {
    system: &'static str,
    params: &'static [(&'static str, f64)],
    sources: &'static [(&'static str, f64)],
    /// A component from the dimensions, the component's number, the phase `k·x` and the time.
    exact: fn(f64, usize, f64, f64) -> f64,
}

/// The wavevector, in as many dimensions as there are: along a diagonal, so that all axes are alike.
const K: [f64; 3] = [1.0, -1.0, 1.0];
const END: f64 = 0.4;

const MODES: [Mode; 6] = [
    Mode {
        system: "Advection",
        params: &[],
        sources: &[("u_x", 0.7), ("u_y", -0.4), ("u_z", 0.9)],
        exact: |d, _, phase, t| (phase - [0.7, 1.1, 2.0][d as usize - 1] * t).sin(),
    },
    Mode {
        system: "Heat",
        params: &[("kappa", 0.1)],
        sources: &[],
        exact: |d, _, phase, t| 2.0 + (-0.1 * d * t).exp() * phase.sin(),
    },
    Mode {
        system: "Wave",
        params: &[("c", 1.3)],
        sources: &[],
        exact: |d, component, phase, t| {
            let frequency = 1.3 * d.sqrt();
            let phase = phase - frequency * t;
            [phase.cos(), frequency * phase.sin()][component]
        },
    },
    // Without the second chemical the first one diffuses and is fed.
    Mode {
        system: "GrayScott",
        params: &[("du", 0.2), ("dv", 0.1), ("feed", 0.4), ("kill", 0.6)],
        sources: &[],
        exact: |d, component, phase, t| match component {
            0 => 1.0 + 0.5 * (-(0.2 * d + 0.4) * t).exp() * phase.cos(),
            _ => 0.0,
        },
    },
    // Along the diagonal of the crystal a wave is longitudinal; its frequency is the root of
    // c11 + 2 c12 + 4 c44.
    Mode {
        system: "ElasticWave",
        params: &[("c11", 2.7), ("c12", 1.1), ("c44", 0.7)],
        sources: &[],
        exact: |_, component, phase, t| {
            let frequency = (2.7f64 + 2.0 * 1.1 + 4.0 * 0.7).sqrt();
            let phase = phase - frequency * t;
            let wave = [phase.cos(), frequency * phase.sin()][component / 3];
            K[component % 3] * wave
        },
    },
    // A circularly polarized Alfvén wave along a field of strength one: neither its magnetic pressure
    // nor its speed varies, so of an ideal gas it is a solution at any amplitude.
    Mode {
        system: "Mhd",
        params: &[
            ("nu", 0.0),
            ("eta", 0.0),
            ("conductivity", 0.0),
            ("bx0", FIELD),
            ("by0", -FIELD),
            ("bz0", FIELD),
        ],
        sources: &[],
        exact: |d, component, phase, t| {
            let phase = phase - d.sqrt() * t;
            let axis = (component + 2) % 3;
            let across = 0.5 * (phase.cos() * ACROSS[0][axis] - phase.sin() * ACROSS[1][axis]);
            match component {
                1..4 => across,
                4..7 => across / d.sqrt(),
                _ => 0.0,
            }
        },
    },
];

/// A component of a unit vector along `K`.
const FIELD: f64 = 0.577_350_269_189_625_8;

/// Unit vectors across `K`; their cross product points against it.
const ACROSS: [[f64; 3]; 2] = {
    let (a, b) = (FRAC_1_SQRT_2, 0.408_248_290_463_863);
    [[a, a, 0.0], [b, -b, -2.0 * b]]
};

/// Returns the root mean square of the errors of all components at the end of a run.
fn error(mode: &Mode, model: &Model, n: usize) -> f64 {
    let d = model.dimension;
    let steps = steps(model, n, 36.0);
    let mut builder = Simulation::<f64>::builder(&system_of(model))
        .cells(std::array::from_fn(|i| if i < d { n } else { 1 }))
        .extent(std::array::from_fn(|i| if i < d { TAU } else { 1.0 }))
        .dt(END / steps as f64);
    for (name, value) in mode.params {
        builder = builder.param(*name, *value);
    }
    for (name, value) in mode.sources.iter().take(d) {
        builder = builder.source(*name, Source::constant(*value));
    }
    let mut simulation = builder.build().or_panic();
    let phase = |at: [f64; 3]| (0..d).map(|i| K[i] * at[i]).sum::<f64>();
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (c, name) in names.iter().enumerate() {
        settle(&mut simulation, name, |at| (mode.exact)(d as f64, c, phase(at), 0.0));
    }
    simulation.run(steps, |_, _| ()).or_panic();
    let mesh = simulation.mesh();
    let errors = names.iter().enumerate().flat_map(|(c, name)| {
        let values = simulation.field(name).expect("a component");
        let cells: Vec<_> = values.indexed_iter().map(|(at, v)| (at, *v)).collect();
        cells.into_iter().map(move |((z, y, x), value)| {
            let cell = [x, y, z].map(|i| i as isize);
            let at = std::array::from_fn(|i| mesh.coordinate(i, cell[i]));
            value - (mode.exact)(d as f64, c, phase(at), END)
        })
    });
    root_mean_square(errors)
}

/// In turn.
#[test]
fn exact_waves_are_met_with_the_order_of_the_scheme() {
    let (mut wrong, mut tested) = (String::new(), 0);
    let meshes = [24, 30];
    for model in forms() {
        let Some(mode) = MODES.iter().find(|mode| mode.system == model.name) else {
            continue;
        };
        tested += 1;
        if !takes_in_turn::<f64>(tested) {
            continue;
        }
        let [coarse, fine] = meshes.map(|n| error(mode, &model, n));
        let observed = observed(coarse, fine, 30.0 / 24.0);
        let order = f64::from(model.scheme.order);
        let row = format!(
            "{} order {order}: {coarse:.2e}, {fine:.2e}, observed {observed:.3}\n",
            describe(&model)
        );
        print!("{row}");
        // NaN fails this comparison.
        let right = (observed - order).abs() < 0.1;
        if !right {
            wrong += &row;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    // Four systems in three dimensions, one of them by two schemes; elastic and Alfvén waves by
    // three mixed forms.
    assert_eq!(tested, 21);
}
