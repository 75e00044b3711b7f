//! Methods in 2N storage: states take two arrays a field, accumulators three, both with the bits of the oracle under any schedule.

use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::catalogue::integrators;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::cost;
use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::Mode;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::model::parse::parse_str;
use stencil_compiler::plan::{BufferRole, Plan};
use stencil_compiler::schedule::{Layout as Lies, Schedule, text};
use stencil_compiler::search::presets;
use stencil_compiler::search::space::{Draws, Space};
use stencil_tests::written::{PERIODIC, Run, Wide};
use stencil_tests::{
    Case, ISOTHERMAL_NS, Layout, Reference, algorithm_of, differing, discretized, interpreted_on,
    oracle,
};

use super::device_code::{ADDRESSES, carried, text as emitted};
use super::invariance::{ODD, STEPS};
use super::nvrtc::{ARCH, compiler, resources};
use super::patches::means;

const STATES: &str = "rk3_williamson";

pub(super) const ACCUMULATORS: &str = "rk3_williamson<storage = accumulator>";

/// Returns a source with another integrator.
pub(super) fn by(source: &str, time: &str) -> String {
    source.replace("time: rk3_williamson;", &format!("time: {time};"))
}

fn navier_stokes(time: &str) -> Algorithm {
    algorithm_of(&by(ISOTHERMAL_NS, time))
}

/// A schedule of as many direct kernels as its placements make.
fn schedule(line: &str) -> Schedule {
    text::parse(&format!("schedule {line}")).unwrap_or_else(|e| panic!("{e}"))
}

fn everywhere<T: Real>(algorithm: &Algorithm, samples: usize) {
    Reference::<T>::new(algorithm, ODD, STEPS).agree_in_turn(samples);
}

/// Other tests of any schedule have states, the default.
#[test]
fn accumulators_have_the_bits_of_the_oracle_under_any_schedule_in_f64() {
    everywhere::<f64>(&navier_stokes(ACCUMULATORS), 10);
}

#[test]
fn accumulators_have_the_bits_of_the_oracle_under_any_schedule_in_f32() {
    everywhere::<f32>(&navier_stokes(ACCUMULATORS), 10);
    everywhere::<f32>(&navier_stokes("rk4_carpenter_kennedy"), 4);
}

/// Substeps that are fused keep another value between them than the field before; whole steps keep nothing.
#[test]
fn fused_substeps_agree() {
    let algorithm = algorithm_of(
        "pub system Heat in 3d { field q: scalar; field r: scalar; ddt(q) = lap(q) + r; ddt(r) = -q; }
         scheme s for Heat { space: central<order = 2>; time: rk3_williamson; }",
    );
    let reference = Reference::<f64>::new(&algorithm, ODD, 2);
    for (fuse, launches, own) in [(2, 2, true), (3, 1, false), (6, 1, false)] {
        let schedule = schedule(&format!("fuse {fuse} kernel direct"));
        let compiled = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
        assert_eq!(compiled.plan.launches.len(), launches);
        let (single, of_state) = (schedule.unfused(&algorithm), "q_previous");
        let single = compile(&algorithm, &single, &Target::new(8)).unwrap().plan;
        let has_own = |plan: &Plan| plan.buffer(of_state).unwrap().within.is_none();
        assert_eq!([has_own(&compiled.plan), has_own(&single)], [own, false]);
        // A run of both has an array for what is kept.
        let apart = single.with_own_accumulators(&algorithm);
        apart.check().unwrap();
        assert!(has_own(&apart));
        reference.agree(&schedule, 5);
    }
}

/// A run does fused and single substeps in turn, on the same arrays. Whole steps that are fused store fields only.
#[test]
fn fused_and_single_substeps_have_the_same_arrays() {
    for (time, fuse) in
        [("ssprk2", 2), ("ssprk3", 2), ("ssprk3", 3), ("rk4", 4), (STATES, 2), (STATES, 3)]
    {
        let algorithm = algorithm_of(&format!(
            "pub system Heat in 3d {{ field q: scalar; field r: scalar; ddt(q) = lap(q) + r; ddt(r) = -q; }}
             scheme s for Heat {{ space: central<order = 2>; time: {time}; }}"
        ));
        let schedule = schedule(&format!("fuse {fuse} kernel direct"));
        let fused = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
        let single = schedule.unfused(&algorithm);
        let single = compile(&algorithm, &single, &Target::new(8)).unwrap().plan;
        let arrays = |plan: &Plan| -> Vec<(String, BufferRole, usize)> {
            let all = plan.buffers.iter().enumerate();
            all.map(|(at, b)| (b.name.clone(), b.role, plan.memory_of(at))).collect()
        };
        let own = fused.plan.clone().with_own_accumulators(&fused.problem);
        let single = single.with_own_accumulators(&algorithm);
        single.check().unwrap();
        own.check().unwrap();
        assert_eq!(arrays(&own), arrays(&single), "{time} by {fuse}");
        if fuse == algorithm.substeps.len() {
            let outputs = own.launches.iter().flat_map(|launch| &launch.outputs);
            assert!(outputs.into_iter().all(|(of, _)| of.ends_with("_new")), "{time}");
        }
        Reference::<f64>::new(&algorithm, ODD, 2).agree(&schedule, 3);
    }
}

/// The single steps of a run that fuses some substeps.
#[test]
fn a_plan_with_arrays_apart_gives_the_same_bits() {
    let algorithm = navier_stokes(STATES);
    let case = Case::new(&algorithm, ODD);
    let reference = oracle::<f32>(&algorithm, &case, STEPS);
    let (schedule, target) = (schedule("kernel march tile_x=32 tile_y=4"), Target::new(4));
    let plan = stencil_compiler::compile::plan(&algorithm, &schedule, &target).unwrap();
    assert_eq!(plan.memories(), 8);
    let plan = plan.with_own_accumulators(&algorithm);
    assert_eq!(plan.memories(), 12);
    let compiled = stencil_compiler::compile::lower(&algorithm, &schedule, plan, &target).unwrap();
    let found =
        interpreted_on::<f32>(Layout::ONE, &algorithm, &compiled, &case, STEPS, (3, Shadow::Full));
    assert_eq!(differing(&found.unwrap(), &reference), 0);
}

#[test]
fn several_patches_agree() {
    let algorithm = navier_stokes(STATES);
    let case = Case::new(&algorithm, [32, 12, 10]);
    let reference = oracle::<f64>(&algorithm, &case, STEPS);
    for layout in Lies::ALL {
        let mut schedule = schedule("kernel direct");
        schedule.layout = layout;
        let compiled = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
        for (patches, devices) in [([2, 1, 1], 1), ([2, 3, 2], 2)] {
            let on = Layout { patches, devices };
            let found =
                interpreted_on::<f64>(on, &algorithm, &compiled, &case, STEPS, (7, Shadow::Full));
            assert_eq!(differing(&found.unwrap(), &reference), 0, "{layout:?} {patches:?}");
        }
    }
}

/// The table of the book: values that a step moves for each cell and field, arrays of a field, and on a processor, which goes back
/// to fields as they were before the step.
const TABLE: [(&str, usize, usize, usize); 10] = [
    ("euler", 2, 2, 3),
    ("ssprk2", 5, 2, 3),
    ("ssprk3", 8, 3, 3),
    ("ssprk43", 9, 3, 3),
    ("ssprk104", 23, 3, 4),
    (STATES, 8, 2, 3),
    (ACCUMULATORS, 10, 3, 4),
    ("rk4", 16, 4, 4),
    ("rk4_carpenter_kennedy", 14, 2, 3),
    ("rk4_carpenter_kennedy<storage = accumulator>", 18, 3, 4),
];

/// The preset of a card, and a march written by hand.
#[test]
fn methods_move_the_words_of_the_table() {
    let preset = presets::find("gpu").expect("a preset");
    let page = include_str!("../../../docs/src/language.md");
    for (integrator, (time, words, arrays, on_processor)) in integrators::ALL.iter().zip(TABLE) {
        assert_eq!(integrator.name, time);
        let row = format!("| `{time}` | {words} | {arrays} |");
        assert!(page.contains(&row), "{row}");
        let algorithm = navier_stokes(time);
        let gpu = preset.schedule(&algorithm, Precision::F32);
        let march = schedule("kernel march tile_x=64 tile_y=8");
        for schedule in [gpu.unfused(&algorithm), march] {
            let compiled = compile(&algorithm, &schedule, &Target::new(4)).unwrap();
            let costs = cost::kernels(&compiled).unwrap();
            let moved: f64 = costs.iter().map(|k| k.least_bytes()).sum();
            let least: f64 =
                (0..algorithm.substeps.len()).map(|at| cost::floor_bytes(&algorithm, at, 4)).sum();
            assert_eq!(moved, least, "{time}");
            let found = (moved / 16.0, compiled.plan.memories());
            assert_eq!(found, (words as f64, 4 * arrays), "{time}");
            let target = Target::processor(4);
            let plan = stencil_compiler::compile::plan(&algorithm, &schedule, &target).unwrap();
            let spare = 4 - plan.before_the_step().len();
            assert_eq!(plan.memories() + spare, 4 * on_processor, "{time}");
        }
    }
}

/// A card in a periodic box reads around the ends of axes, so the arrays have no ghost cells.
#[test]
fn a_card_takes_two_arrays_and_hardly_more() {
    let algorithm = navier_stokes(STATES);
    let card = cost::MODELS.first().expect("a card").rates.device();
    let gpu = presets::find("gpu").expect("a preset");
    for (precision, side) in [(Precision::F32, 512), (Precision::F64, 512), (Precision::F32, 1290)]
    {
        let schedule = gpu.schedule(&algorithm, precision);
        let target = Target::periodic(precision.bytes(), [side; 3], card);
        let plan = stencil_compiler::compile::plan(&algorithm, &schedule, &target).unwrap();
        let around = plan.halo().map(|halo| side + 2 * halo as usize);
        let values = (plan.memories() * around.iter().product::<usize>()) as f64;
        let least = (2 * 4 * side.pow(3)) as f64;
        assert!(values <= 1.02 * least, "{side}: {} of {least}", values);
    }
}

/// Values of fields that are kept change places with new ones: any schedule, layout, cut and number of devices.
#[test]
fn kept_values_have_the_bits_of_the_oracle() {
    for (number, time) in ["ssprk2", "ssprk3", "ssprk43", "ssprk104", "rk4"].iter().enumerate() {
        let algorithm = navier_stokes(time);
        everywhere::<f64>(&algorithm, 1);
        let case = Case::new(&algorithm, [32, 9, 6]);
        let reference = oracle::<f32>(&algorithm, &case, STEPS);
        for layout in Lies::ALL {
            let mut schedule = schedule("kernel march tile_x=32 tile_y=4 loader=1");
            schedule.layout = layout;
            if layout != Lies::Soa {
                schedule = Schedule { layout, ..self::schedule("kernel direct") };
            }
            for target in [Target::new(4), Target::processor(4)] {
                let compiled = compile(&algorithm, &schedule, &target).unwrap();
                for (patches, devices) in [([1, 1, 1], 1), ([2, 3, 2], 2)] {
                    let on = Layout { patches, devices };
                    let seed = (number as u64, Shadow::Full);
                    let found =
                        interpreted_on::<f32>(on, &algorithm, &compiled, &case, STEPS, seed);
                    let differs = differing(&found.unwrap(), &reference);
                    assert_eq!(differs, 0, "{time} {layout:?} {patches:?}");
                }
            }
        }
    }
}

/// Each kernel of a later substep reads and writes one array, and no other one is both.
#[test]
fn kernels_write_over_the_state_before() {
    let algorithm = navier_stokes(STATES);
    let schedule = schedule("kernel march tile_x=64 tile_y=8 loader=1");
    let compiled = compile(&algorithm, &schedule, &Target::new(4)).unwrap();
    for kernel in &compiled.kernels {
        let first = kernel.name.ends_with("_1_1");
        for buffer in &kernel.buffers {
            let expected = match buffer.name.ends_with("_new") {
                true if first => Mode::Write,
                true => Mode::ReadWrite,
                false => Mode::Read,
            };
            assert_eq!(buffer.mode, expected, "{} of {}", buffer.name, kernel.name);
        }
        assert_eq!(kernel.buffers.len(), 8);
    }
    // The arrays before are one box, as accumulators are.
    let boxes = compiled.kernels[1].boxes();
    assert!(boxes.keys().all(|buffers| buffers.len() == 4), "{boxes:?}");
}

/// Both storages are of one method, so they have the same times and steps by the same values.
#[test]
fn tableaus_of_accumulators_are_of_the_same_methods() {
    for of_accumulators in integrators::ALL.iter().filter(|i| i.name.contains('<')) {
        let name = of_accumulators.name.split('<').next().unwrap();
        let method = integrators::find(name).unwrap();
        assert_eq!((method.order, method.source), (of_accumulators.order, of_accumulators.source));
        let times = [method, of_accumulators].map(|i| (i.tableau)().times());
        let pairs = times[0].iter().zip(&times[1]);
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-14), "{times:?}");
    }
}

/// The root of the mean square of errors after some steps, by accumulators and by states, against a run in twice the precision.
fn errors<T: Real>(steps: usize) -> [f64; 2] {
    [ACCUMULATORS, STATES].map(|time| {
        let source = by(ISOTHERMAL_NS, time);
        let model = parse_str(&source).unwrap_or_else(|e| panic!("{}", e.render("test", &source)));
        let algorithm = discretized(&model);
        let case = Case::new(&algorithm, [9, 8, 7]);
        let run = Run {
            model: &model,
            cells: case.cells,
            spacing: case.spacing,
            params: &case.params,
            dt: case.dt,
            faces: PERIODIC,
        };
        let states = case.set_states(&algorithm).into_iter();
        let initial: Vec<Vec<T>> = states.map(|(i, _)| case.initial(i)).collect();
        let exact = run.fields::<T>(&initial, steps);
        let found = oracle::<T>(&algorithm, &case, steps);
        let pairs = found.iter().flatten().zip(exact.iter().flatten());
        let squares =
            pairs.map(|(found, exact)| (Wide::new(found.to_f64()) - exact.exact).to_f64().powi(2));
        let squares: Vec<f64> = squares.collect();
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
    })
}

/// A change of the field that is rounded with the field is fed back by the next substep, so states lose no digits.
#[test]
fn states_are_as_accurate_as_accumulators() {
    for (precision, epsilon, [accumulators, states]) in [
        ("f32", f64::from(f32::EPSILON), errors::<f32>(12)),
        ("f64", f64::EPSILON, errors::<f64>(12)),
    ] {
        assert!(accumulators > 0.0 && states < epsilon, "{precision}: {states}");
        assert!(states < 1.1 * accumulators, "{precision}: {accumulators} {states}");
    }
}

/// The march that a card runs: nothing spills in single precision, and in double precision no more than with accumulators.
#[test]
fn kernels_with_states_compile_without_spills() {
    let Some(nvrtc) = compiler() else { return };
    let algorithm = navier_stokes(STATES);
    for (precision, tile, points, may) in
        [(Precision::F32, [64, 12], 2, 0), (Precision::F64, [32, 12], 1, ADDRESSES)]
    {
        let gpu = presets::find("gpu").expect("a preset");
        let gpu = gpu.schedule(&algorithm, precision);
        for schedule in [carried(&algorithm, tile, points), gpu] {
            let compiled = compile(&algorithm, &schedule, &Target::new(precision.bytes()));
            for kernel in compiled.unwrap_or_else(|e| panic!("{e}")).kernels {
                let r = resources(nvrtc, &emitted(kernel.clone(), precision), ARCH);
                let (spilled, form) = (r.spill_stores + r.spill_loads, precision.name());
                let about =
                    format!("{} {form}: {} registers, {spilled} bytes", kernel.name, r.registers);
                assert!(r.registers <= 168 && spilled <= may, "{about}");
            }
        }
    }
}

/// Every system of the library that keeps no ranges, conservation laws too: a preset, and a draw, on the kernel interpreter.
#[test]
fn systems_of_the_library_take_states() {
    const CELLS: [[usize; 3]; 3] = [[18, 1, 1], [10, 9, 1], [8, 6, 5]];
    for (number, definition) in physics::systems::ALL.iter().enumerate() {
        let mut model = parse_str(definition.model).unwrap_or_else(|e| panic!("{e:?}"));
        if model.repairs() || model.scheme.reconstruct == "waves" {
            continue;
        }
        model.scheme.time = STATES.to_string();
        let algorithm = discretized(&model);
        let fields = algorithm.states_of(Role::Field).count();
        assert_eq!(algorithm.previous_fields().len(), fields, "{}", algorithm.name);
        let mut case = Case::new(&algorithm, CELLS[algorithm.dimension - 1]);
        case.dt = 1e-3;
        case.means = means(&model, &algorithm);
        let reference = Reference::<f64>::of(&algorithm, case, STEPS);
        let preset = presets::ALL[number % presets::ALL.len()].schedule(&algorithm, Precision::F64);
        let drawn = Space::new(&algorithm, 8).sample(&mut Draws::new(number as u64));
        for schedule in [preset, drawn.expect("legal schedules exist")] {
            reference.agree(&schedule, number as u64);
        }
    }
}
