//! Coefficients as literals: no other bits, and texts that compile.

use stencil_compiler::compile::{Compiled, Target, compile};
use stencil_compiler::emit;
use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::Kernel;
use stencil_compiler::schedule::Coefficients;
use stencil_compiler::search::presets;
use stencil_tests::{Case, ISOTHERMAL_NS, OrPanic, Reference, algorithm_of};

use super::device_code::ADDRESSES;
use super::invariance::{ODD, STEPS};
use super::nvrtc::{ARCH, compiler, resources};

/// Checks that numbers in the text of a kernel equal the ones that it would be handed.
fn literals<T: Real>() {
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    let case = Case::new(&algorithm, ODD);
    let reference = Reference::<T>::new(&algorithm, ODD, STEPS);
    for name in ["direct", "carried", "decomposed", "plane"] {
        let preset = presets::find(name).unwrap_or_else(|| panic!("no preset {name}"));
        let schedule = preset
            .schedule(&algorithm, T::PRECISION)
            .with_coefficients(Coefficients::Literal);
        let compiled = compile(&algorithm, &schedule, &Target::new(T::BYTES)).or_panic();
        let constants = compiled
            .problem
            .constants(T::PRECISION, &case.params, case.spacing);
        let of_run = compiled.clone().of_run(&constants);
        for (kernel, usual) in of_run.kernels.iter().zip(&compiled.kernels) {
            assert_eq!(kernel.check(), Ok(()));
            // The time step remains as a parameter.
            let by_step = usual.uniforms.iter().filter(|u| u.starts_with("beta_dt"));
            assert!(
                kernel.uniforms.iter().eq(by_step),
                "{name}: {:?}",
                kernel.uniforms
            );
            assert!(usual.uniforms.len() > kernel.uniforms.len() + 10, "{name}");
        }
        reference.agree(&schedule, 5);
    }
}

#[test]
fn literals_give_the_bits_of_parameters() {
    literals::<f32>();
    literals::<f64>();
}

/// Numbers in place of parameters: every kernel compiles, and none spills more for it.
#[test]
fn coefficients_as_literals_compile() {
    let Some(nvrtc) = compiler() else { return };
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    for precision in [Precision::F32, Precision::F64] {
        let constants = algorithm.constants(precision, &[1.5, 0.003], [0.1, 0.2, 0.4]);
        for name in ["direct", "single_pass", "decomposed", "carried", "plane"] {
            let preset = presets::find(name).unwrap_or_else(|| panic!("no preset {name}"));
            let schedule = preset
                .schedule(&algorithm, precision)
                .with_coefficients(Coefficients::Literal);
            let usual = compile(&algorithm, &schedule, &Target::new(precision.bytes())).or_panic();
            let literal = usual.clone().of_run(&constants);
            // Substeps differ in their factors only.
            let last = |compiled: &Compiled| compiled.kernels.last().cloned();
            let spills = |kernel: Option<Kernel>| {
                let kernel = kernel.unwrap_or_else(|| panic!("no kernel of {name}"));
                let source = emit::cuda(&kernel, precision).or_panic();
                let r = resources(nvrtc, &source.text, ARCH);
                (source.text, r.spill_stores + r.spill_loads)
            };
            let ((text, literal), (parameters, usual)) =
                (spills(last(&literal)), spills(last(&usual)));
            let fields = |text: &str| text.lines().take_while(|line| *line != "};").count();
            assert!(fields(&text) < 4 && fields(&parameters) > 10, "{name}");
            assert!(
                literal <= usual + ADDRESSES,
                "{name}: {literal} bytes spilled, not {usual}"
            );
        }
    }
}
