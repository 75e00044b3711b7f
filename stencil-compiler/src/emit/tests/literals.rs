//! Constants of a run in its text.

use super::{block, f32_text};
use crate::expr::Op;
use crate::kernel::{Index, Operand};
use crate::schedule::Coefficients;

/// Constants of a run stand in its text, in the shortest form that reads back; other uniforms are passed.
#[test]
fn cuda_of_constants() {
    let kernel = block(|b| {
        let here = b.cell("here", [0, 1, 2].map(Index::Thread));
        let value = b.load("value", 0, here, [0; 3]);
        let scaled = b.op("scaled", Op::Mul, &[Operand::Uniform(0), value]);
        let out = b.op(
            "sum",
            Op::Fma,
            &[Operand::Uniform(1), scaled, Operand::Uniform(0)],
        );
        b.store(1, here, out);
    });
    let of_run = |constants: &[(&str, f64)]| {
        let constants = constants
            .iter()
            .map(|(name, value)| (name.to_string(), *value));
        f32_text(
            &kernel
                .clone()
                .of_run(Coefficients::Literal, &constants.collect()),
        )
    };
    let text = of_run(&[("a", -0.1)]);
    assert!(text.contains("fmaf(c.b, -1e-1f * value, -1e-1f)"), "{text}");
    assert!(text.contains("struct Uniforms {\n  float b;\n}"), "{text}");
    let text = of_run(&[("a", 0.1), ("b", 3.0)]);
    assert!(!text.contains("Uniforms"), "{text}");
    let other = [("other", 1.0), ("b", f64::NAN)];
    assert_eq!(of_run(&other), f32_text(&kernel));
}
