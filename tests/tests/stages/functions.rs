//! Elementary functions and selects: the same bits on all engines and under all schedules, and
//! device code that compiles.

use stencil_compiler::algorithm::{Algorithm, text};
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::emit;
use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::schedule::LaunchKind;
use stencil_tests::{OrPanic, Reference, of_presets};

use super::nvrtc::{ARCH, compiler, resources};

/// Every function and select, of rows and of numbers; values stay between -2 and 2.
const ALL: &str = r#"
algorithm Functions 3d
scheme "pointwise"
param given = 0.3
state a field
state b field
state c field
uniform k = given
fn a = state a
fn b = state b
fn c = state c
fn size = abs(a) + 0.25
fn grown = exp(2.0 * b[1,0,0]) + log(size[0,1,0])
fn wave = sin(30.0 * a[-1,0,0]) * cos(b[0,0,1] - k)
fn angle = atan2(a, b[0,-1,0]) + tanh(grown)
fn root = cbrt(c - 0.5) + pow(size, 1.0 + 0.5 * b)
fn turned = pow(1.5, a) + atan2(0.5, c) - pow(size, k) * atan2(b, k) + pow(k, 2.5)
fn bits = copysign(significand(size), a) * power_of_two(exponent(size) - 1.0) + copysign(k, c)
fn rows = lt(a, b[1,0,0], root, le(c, 0.125, 2.0, eq(a, a, wave, k)))
fn numbers = lt(k, 0.5, a, b) + le(0.1, a, 0.5, b) * eq(a, 0.0, 1.0, lt(a, 0.0, lit(-1.0), 1.0))
fn none = lt(a / (a - a), 1.0, 1.0, 0.125)
fn more = sinh(a) - cosh(b[0,0,1] + k) + erf(2.0 * c) * floor(4.0 * grown) + mod(a - 3.0 * c[1,0,0], size)
fn a_1 = tanh(more + angle - turned[0,1,0])
fn b_1 = 0.5 * sin(root + bits) + none
fn c_1 = cos(rows[0,0,-1] + numbers + wave)
substep { a = a_1, b = b_1, c = c_1 }
"#;

fn algorithm() -> Algorithm {
    let algorithm = text::parse(ALL).or_panic();
    algorithm.check().or_panic();
    algorithm
}

/// Whole groups of all presets, of which one does two steps at once.
const STEPS: usize = 4;

fn all_engines_agree<T: Real>() {
    let algorithm = algorithm();
    for cells in [[37, 6, 5], [7, 9, 4]] {
        Reference::<T>::new(&algorithm, cells, STEPS).agree_in_turn(0);
    }
}

#[test]
fn functions_have_the_same_bits_on_all_engines() {
    all_engines_agree::<f32>();
    all_engines_agree::<f64>();
}

#[test]
fn what_is_printed_reads_back() {
    let algorithm = algorithm();
    let printed = text::print(&algorithm);
    assert_eq!(text::parse(&printed).or_panic(), algorithm, "{printed}");
}

/// Returns the text for a device in each precision, under each preset.
fn sources() -> Vec<(Precision, emit::Source)> {
    let algorithm = algorithm();
    let mut sources = Vec::new();
    for precision in [Precision::F32, Precision::F64] {
        for (name, schedule) in of_presets(&algorithm, precision) {
            let compiled = compile(&algorithm, &schedule, &Target::new(precision.bytes()))
                .unwrap_or_else(|e| panic!("{e}: {name}"));
            for kernel in &compiled.kernels {
                if kernel.launch.kind != LaunchKind::Blocks {
                    continue;
                }
                let source = emit::cuda(kernel, precision).or_panic();
                sources.push((precision, source));
            }
        }
    }
    sources
}

#[test]
fn a_source_defines_each_function_once_and_only_those_it_calls() {
    let mut calls = 0;
    for (precision, source) in sources() {
        let suffix = if precision == Precision::F32 { "f" } else { "" };
        for name in [
            "exp", "log", "sin", "cos", "tanh", "sinh", "cosh", "erf", "floor", "mod", "cbrt",
            "pow", "atan2", "exponent",
        ] {
            let call = format!("stencil_{name}{suffix}(");
            let definitions = source
                .text
                .lines()
                .filter(|line| line.starts_with("static") && line.contains(&call));
            let count = definitions.count();
            let used = source.text.matches(&call).count() > count;
            assert_eq!(count, usize::from(used), "{name}\n{}", source.text);
            calls += usize::from(used);
        }
    }
    assert!(calls > 0, "no source calls any function");
}

#[test]
fn sources_compile_without_a_device() {
    let Some(nvrtc) = compiler() else { return };
    for (_, source) in sources() {
        resources(nvrtc, &source.text, ARCH);
    }
}
