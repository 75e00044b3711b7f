//! The files of the book's page on studies: all existing ones are named, and give the bits of the definition.

use std::fs;
use std::path::PathBuf;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Compiled, Target, compile};
use stencil_compiler::discretize::discretize;
use stencil_compiler::emit;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::model::parse::parse_str;
use stencil_compiler::schedule::text;
use stencil_tests::{Case, Layout, Machine, OrPanic, differing, interpreted, oracle};

const PAGE: &str = include_str!("../../../docs/src/studies.md");

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/studies")
}

fn algorithm(file: &str) -> Algorithm {
    let source = fs::read_to_string(folder().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let model =
        parse_str(&source).unwrap_or_else(|errors| panic!("{}", errors.render(file, &source)));
    discretize(&model).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn compiled(algorithm: &Algorithm, schedule: &str) -> Compiled {
    let source = fs::read_to_string(folder().join(schedule)).or_panic();
    let schedule = text::parse(&source).unwrap_or_else(|error| panic!("{schedule}: {error}"));
    compile(algorithm, &schedule, &Target::new(size_of::<f64>())).or_panic()
}

/// The page names exactly the files that exist.
#[test]
fn files_and_commands_name_each_other() {
    let words = PAGE.split(|c: char| c.is_whitespace() || "`,()".contains(c));
    let endings = [".pde", ".schedule", ".toml"];
    let is_file = |word: &&str| endings.iter().any(|ending| word.ends_with(ending));
    let mut named: Vec<String> = words.filter(is_file).map(String::from).collect();
    named.sort();
    named.dedup();
    let entries = fs::read_dir(folder()).or_panic();
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.or_panic();
        entry.file_name().to_string_lossy().into_owned()
    };
    let mut files: Vec<String> = entries.map(name).collect();
    files.sort();
    assert_eq!(named, files);
}

/// Compares fields after some steps by each schedule with those of the definition around these means.
fn bits(system: &str, schedules: &[&str], means: &[f64], (cells, steps): ([usize; 3], usize)) {
    let algorithm = algorithm(system);
    let case = Case { means: means.to_vec(), dt: 1e-3, ..Case::new(&algorithm, cells) };
    let expected = oracle::<f64>(&algorithm, &case, steps);
    let are_numbers = expected.iter().flatten().all(|value| value.is_finite());
    assert!(are_numbers, "{system}");
    for schedule in schedules {
        let compiled = compiled(&algorithm, schedule);
        let found = interpreted::<f64>(&algorithm, &compiled, &case, steps, 7, Shadow::Off);
        let found = found.unwrap_or_else(|fault| panic!("{system}, {schedule}: {fault}"));
        assert_eq!(differing(&expected, &found), 0, "{system}, {schedule}");
        for kernel in &compiled.kernels {
            emit::cuda(kernel, Precision::F64).or_panic();
        }
    }
}

#[test]
fn sweeps_taken_apart_give_the_bits_of_the_definition() {
    let plane = ([9, 8, 1], 2);
    let (sound, water) = ("acoustics_2d_swept.pde", "water_swept.pde");
    bits(sound, &["acoustics_2d_apart.schedule"], &[], plane);
    bits(water, &["water_apart.schedule"], &[2.0], plane);
    let (sound, space) = ("acoustics_3d_swept.pde", ([7, 6, 5], 2));
    bits(sound, &["acoustics_3d_apart.schedule"], &[], space);
}

#[test]
fn stored_operations_of_a_gas_give_the_bits_of_the_definition() {
    let schedules =
        ["ns_tiled.schedule", "ns_lexicographic.schedule", "ns_lexicographic_aos.schedule"];
    let means = [2.0, 0.0, 0.0, 0.0, 4.0];
    bits("compressible_ns.pde", &schedules, &means, ([7, 6, 5], 1));
}

#[test]
fn surfaces_and_shared_memory_give_the_bits_of_the_definition() {
    let schedules = ["shared_16.schedule", "surface_16.schedule"];
    let means = [2.0, 0.0, 0.0, 0.0, 2.0];
    bits("interpolation.pde", &schedules, &means, ([7, 6, 5], 1));
    let schedules = ["shared_16.schedule", "surface_16.schedule", "both_frames.schedule"];
    bits("nuclei.pde", &schedules, &means, ([5, 4, 4], 1));
}

/// Threads whose loops end early wait for the last one of their warp.
#[test]
fn threads_that_wait_for_others_in_loops_are_counted() {
    let text = "system Count in 1d {
        field q: scalar;
        fn passed(q: scalar) -> scalar {
            let mut left = q;
            for i in 0..9 { left = left - 1; until(left <= 0); }
            left
        }
        ddt(q) = passed(q);
    }
    scheme euler for Count { space: central<order = 2>; time: euler; }";
    let algorithm = stencil_tests::algorithm_of(text);
    let schedule = text::parse("schedule\nkernel direct x=32\n").or_panic();
    let compiled = compile(&algorithm, &schedule, &Target::new(size_of::<f64>())).or_panic();
    let case = Case::new(&algorithm, [64, 1, 1]);
    let mut machine =
        Machine::<f64>::new(&algorithm, &compiled, &case, Layout::ONE, 0, Shadow::Off);
    // One warp takes 1 or 4 iterations a thread, the other 2.
    let counts: Vec<f64> = (0..64).map(|i| if i >= 32 { 2.0 } else { [1.0, 4.0][i % 2] }).collect();
    machine.set("q", &counts);
    machine.step().or_panic();
    let report = machine.reports().values().next().copied().unwrap_or_default();
    assert_eq!([report.iterations, report.iteration_slots], [16 * 5 + 64, 32 * 4 + 64]);
    assert_eq!(report.idle(), 0.0);
    assert_eq!(report.idle_in_loops(), 1.0 - 144.0 / 192.0);
}

/// The functions that each kernel of a substep stores, in the order of the page.
#[test]
fn each_operation_of_a_gas_with_friction_is_a_kernel() {
    let algorithm = algorithm("compressible_ns.pde");
    let compiled = compiled(&algorithm, "ns_tiled.schedule");
    let launches = compiled.plan.launches.iter().filter(|launch| launch.substep == 0);
    let outputs: Vec<(usize, &str)> =
        launches.map(|launch| (launch.outputs.len(), launch.outputs[0].1.as_str())).collect();
    let weights = outputs[..3].iter().all(|(count, name)| *count == 15 && name.ends_with("weight"));
    assert!(weights, "{outputs:?}");
    let values = outputs[3..6].iter().all(|(count, name)| *count == 10 && name.ends_with("upper"));
    assert!(values, "{outputs:?}");
    assert_eq!(outputs[6], (9, "dx_u_x"));
    assert_eq!(outputs[7], (9, "stress_xx"));
    let fluxes = outputs[8..11].iter().all(|(count, name)| *count == 5 && name.ends_with("flux"));
    assert!(fluxes, "{outputs:?}");
    assert_eq!(outputs.len(), 12);
}
