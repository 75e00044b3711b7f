//! The kernel of one run: uniforms that do not change in it are literals.

use super::rename::each_operand;
use super::{Kernel, Operand};
use crate::algorithm::Constants;
use crate::expr::real::Precision;
use crate::expr::{Lit, Real};
use crate::schedule::{Coefficients, LaunchKind};

impl Kernel {
    /// The kernel of a run with these constants, which become literals if `coefficients` says so; others stay uniforms.
    ///
    /// A literal is the value of the uniform, rounded once: no bit of a result changes. Negative zeros, infinities and
    /// NaN stay uniforms, as not every compiler reads them back. So does everything in kernels over rows: a program of
    /// the processor is compiled before a run.
    pub fn of_run(mut self, coefficients: Coefficients, constants: &Constants) -> Self {
        if coefficients == Coefficients::Parameter || self.launch.kind == LaunchKind::Rows {
            return self;
        }
        let mut left = Vec::new();
        let mut places = Vec::new();
        for name in std::mem::take(&mut self.uniforms) {
            let value = constants.get(&name).copied();
            let literal = value.and_then(|value| literal(value, self.value_bytes));
            places.push(literal.unwrap_or(Operand::Uniform(left.len() as u32)));
            if literal.is_none() {
                left.push(name);
            }
        }
        self.uniforms = left;
        each_operand(&mut self.body, &mut |operand| {
            if let Operand::Uniform(at) = *operand
                && let Some(place) = places.get(at as usize)
            {
                *operand = *place;
            }
        });
        self
    }
}

/// A value as a literal of a kernel with values of this many bytes.
fn literal(value: f64, value_bytes: usize) -> Option<Operand> {
    let value = match value_bytes == Precision::F32.bytes() {
        true => f32::from_f64(value).to_f64(),
        false => value,
    };
    let has_text = value.is_finite() && !(value == 0.0 && value.is_sign_negative());
    has_text.then(|| Operand::Lit(Lit::new(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::text::{parse, print};

    /// A kernel over blocks or rows that multiplies by uniforms, some of them in a branch and a loop.
    fn kernel(kind: &str, value_bytes: usize) -> Kernel {
        let text = format!(
            "kernel k {{ dimension 1 value_bytes {value_bytes}
                launch {kind} threads [1, 1, 1] tile [0, 1, 1] extend [0, 0, 0] blocks_per_unit 1
                buffer u read halo [0, 0, 0] buffer v write halo [0, 0, 0]
                uniforms zero, a, dt, huge registers q, p, s, t, sum queues sum ints x, i cells c
                code {{
                    int x = thread.x
                    cell c = (x, 0, 0)
                    q = load u[c]
                    p = q * a
                    for i in 0 .. 2 {{ set sum = a }}
                    s = fma(dt, p, zero)
                    if x < size.x {{ t = s + huge store v[c] = t }}
                }} }}"
        );
        parse(&text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn constants(all: &[(&str, f64)]) -> Constants {
        let named = all.iter().map(|(name, value)| (name.to_string(), *value));
        named.collect()
    }

    #[test]
    fn constants_are_literals_and_the_rest_are_uniforms_in_their_order() {
        let known = constants(&[("a", 0.1), ("huge", 1e300), ("zero", -0.0)]);
        let single = kernel("blocks", 4).of_run(Coefficients::Literal, &known);
        assert_eq!(single.uniforms, ["zero", "dt", "huge"]);
        let text = print(&single);
        let rounded = f64::from(0.1_f32);
        for line in [
            format!("q * {rounded:?}"),
            "fma(dt, p, zero)".into(),
            format!("set sum = {rounded:?}"),
            "s + huge".into(),
        ] {
            assert!(text.contains(&line), "{line}: {text}");
        }
        assert_eq!(single.check(), Ok(()));
        assert_eq!(parse(&text), Ok(single));
        let double = kernel("blocks", 8).of_run(Coefficients::Literal, &known);
        assert_eq!(double.uniforms, ["zero", "dt"]);
        assert!(print(&double).contains("s + 1e300"), "{}", print(&double));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, -1e-60] {
            let known = constants(&[("a", value)]);
            let same = kernel("blocks", 4).of_run(Coefficients::Literal, &known);
            assert_eq!(same, kernel("blocks", 4), "{value}");
        }
    }

    #[test]
    fn parameters_and_programs_of_a_processor_stay_as_they_are() {
        let known = constants(&[("a", 0.5)]);
        for (kind, choice) in [
            ("blocks", Coefficients::Parameter),
            ("rows", Coefficients::Literal),
        ] {
            assert_eq!(kernel(kind, 4).of_run(choice, &known), kernel(kind, 4));
        }
    }
}
