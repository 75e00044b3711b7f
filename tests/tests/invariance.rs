//! No schedule changes a bit: the row engine, every preset and sampled schedules on the kernel
//! interpreter, all against the oracle.

use std::collections::BTreeSet;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::blocking;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::schedule::space::{Draws, sample};
use stencil_compiler::schedule::{Schedule, check, presets, text};
use stencil_tests::{
    Case, ELASTIC, ISOTHERMAL_NS, algorithm_of, differing, interpreted, oracle, rename, row_engine,
    with_mixed,
};

const ODD: [usize; 3] = [37, 22, 19];
const STEPS: usize = 10;
/// Slots of fields swap every step, so what a schedule does repeats after two.
const SAMPLED_STEPS: usize = 3;
const MIXED: [&str; 3] = ["bidiagonal", "product", "composed"];

/// Runs a schedule on the kernel interpreter and compares with the reference.
fn agree<T: Real>(
    algorithm: &Algorithm,
    schedule: &Schedule,
    case: &Case,
    steps: usize,
    seed: u64,
    reference: &[Vec<T>],
) {
    let about = || {
        format!(
            "{} {} {}\n{}",
            algorithm.scheme,
            T::NAME,
            seed,
            text::print(schedule)
        )
    };
    let compiled =
        check::check(algorithm, schedule, T::BYTES).unwrap_or_else(|e| panic!("{e}\n{}", about()));
    let result = interpreted::<T>(algorithm, &compiled, case, steps, seed, Shadow::Full);
    let result = result.unwrap_or_else(|fault| panic!("{fault}\n{}", about()));
    assert_eq!(
        differing(&result, reference),
        0,
        "values differ: {}",
        about()
    );
}

fn engines_and_presets<T: Real>(source: &str) {
    for mixed in MIXED {
        let algorithm = algorithm_of(&with_mixed(source, mixed));
        let case = Case::new(&algorithm, ODD);
        let reference = oracle::<T>(&algorithm, &case, STEPS);
        assert!(
            reference.iter().flatten().all(|v| v.to_f64().is_finite()),
            "the case is unstable"
        );
        let rows = row_engine::<T>(&algorithm, &case, STEPS);
        assert_eq!(
            differing(&rows, &reference),
            0,
            "the row engine differs: {} {}",
            algorithm.scheme,
            T::NAME
        );
        for (seed, preset) in presets::ALL.iter().enumerate() {
            let schedule = (preset.make)(&algorithm, T::PRECISION);
            agree(&algorithm, &schedule, &case, STEPS, seed as u64, &reference);
        }
    }
}

/// Sampled schedules: as many as `count`, spread over the mixed forms.
fn sampled<T: Real>(source: &str, count: usize, seed: u64) {
    for (form, mixed) in MIXED.iter().enumerate() {
        let algorithm = algorithm_of(&with_mixed(source, mixed));
        let case = Case::new(&algorithm, ODD);
        let reference = oracle::<T>(&algorithm, &case, SAMPLED_STEPS);
        let mut draws = Draws::new(seed + form as u64);
        for number in (form..count).step_by(MIXED.len()) {
            let schedule = sample(&algorithm, T::BYTES, &mut draws).expect("legal schedules exist");
            agree(
                &algorithm,
                &schedule,
                &case,
                SAMPLED_STEPS,
                number as u64,
                &reference,
            );
        }
    }
}

/// A blocking that samples never hold would pass unseen.
#[test]
fn samples_hold_every_blocking() {
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    let mut draws = Draws::new(1);
    let mut drawn = BTreeSet::new();
    for _ in 0..60 {
        let schedule = sample(&algorithm, 4, &mut draws).expect("legal schedules exist");
        drawn.extend(schedule.kernels.into_iter().map(|kernel| kernel.strategy));
    }
    for strategy in blocking::ALL {
        assert!(drawn.contains(strategy.name), "no {}", strategy.name);
    }
}

#[test]
fn navier_stokes_has_the_same_bits_on_all_engines_in_f32() {
    engines_and_presets::<f32>(ISOTHERMAL_NS);
}

#[test]
fn navier_stokes_has_the_same_bits_on_all_engines_in_f64() {
    engines_and_presets::<f64>(ISOTHERMAL_NS);
}

#[test]
fn elastic_waves_have_the_same_bits_on_all_engines_in_f32() {
    engines_and_presets::<f32>(ELASTIC);
}

#[test]
fn elastic_waves_have_the_same_bits_on_all_engines_in_f64() {
    engines_and_presets::<f64>(ELASTIC);
}

#[test]
fn fifty_sampled_schedules_of_navier_stokes_have_the_same_bits_in_f32() {
    sampled::<f32>(ISOTHERMAL_NS, 50, 1);
}

#[test]
fn fifty_sampled_schedules_of_navier_stokes_have_the_same_bits_in_f64() {
    sampled::<f64>(ISOTHERMAL_NS, 50, 100);
}

#[test]
fn fifty_sampled_schedules_of_elastic_waves_have_the_same_bits_in_f32() {
    sampled::<f32>(ELASTIC, 50, 200);
}

#[test]
fn fifty_sampled_schedules_of_elastic_waves_have_the_same_bits_in_f64() {
    sampled::<f64>(ELASTIC, 50, 300);
}

/// Ghost cells of a stored grid function that are computed, not copied: kernels cover more than
/// the interior.
#[test]
fn recomputed_halos_have_the_same_bits() {
    for blocking in [
        "rows",
        "direct",
        "march tile_x=32 tile_y=4 chunk=8",
        "march tile_x=16 tile_y=8 points=2 chunk=16 column=0",
        "plane tile_x=32 tile_y=4 chunk=8",
        "plane tile_x=16 tile_y=8 points=2 chunk=16 buffers=1",
    ] {
        let algorithm = algorithm_of(&with_mixed(ISOTHERMAL_NS, "composed"));
        let schedule =
            format!("schedule place div_u global recompute kernel {blocking} kernel {blocking}");
        let schedule = text::parse(&schedule).unwrap_or_else(|e| panic!("{e}"));
        let case = Case::new(&algorithm, ODD);
        agree(
            &algorithm,
            &schedule,
            &case,
            1,
            2,
            &oracle::<f32>(&algorithm, &case, 1),
        );
        agree(
            &algorithm,
            &schedule,
            &case,
            1,
            3,
            &oracle::<f64>(&algorithm, &case, 1),
        );
    }
}

/// The same declaration with other names, orders and dimensions goes through the same code.
#[test]
fn other_orders_dimensions_and_names_have_the_same_bits() {
    for (order, cells) in [(2, [13, 9, 7]), (4, [12, 11, 9]), (8, [21, 10, 9])] {
        let source = ISOTHERMAL_NS.replace("order = 6", &format!("order = {order}"));
        small::<f64>(&source, cells);
    }
    let flat = ISOTHERMAL_NS.replace("in 3d", "in 2d");
    small::<f32>(&flat, [45, 23, 1]);
    small::<f64>(&flat.replace("order = 6", "order = 2"), [33, 18, 1]);
    small::<f64>(&ISOTHERMAL_NS.replace("in 3d", "in 1d"), [50, 1, 1]);
}

fn small<T: Real>(source: &str, cells: [usize; 3]) {
    for mixed in MIXED {
        let source = with_mixed(source, mixed);
        let algorithm = algorithm_of(&source);
        let renamed = algorithm_of(&rename(&rename(&source, "lnrho", "heat"), "u", "wind"));
        let case = Case::new(&algorithm, cells);
        let reference = oracle::<T>(&algorithm, &case, 2);
        assert_eq!(
            differing(&oracle::<T>(&renamed, &case, 2), &reference),
            0,
            "names change bits: {mixed}"
        );
        assert_eq!(
            differing(&row_engine::<T>(&algorithm, &case, 2), &reference),
            0,
            "the row engine differs"
        );
        for preset in presets::ALL {
            let schedule = (preset.make)(&algorithm, T::PRECISION);
            agree(&algorithm, &schedule, &case, 2, 5, &reference);
            agree(
                &renamed,
                &(preset.make)(&renamed, T::PRECISION),
                &case,
                2,
                5,
                &reference,
            );
        }
    }
}
