//! Derivatives of operations by their arguments.

use super::{Arithmetic, Op};

impl Op {
    /// The derivative by each argument, at these arguments and this result. Of a selection, it is that of the branch
    /// taken; of a piecewise constant operation, zero.
    ///
    /// # Panics
    /// If there are fewer arguments than it takes.
    pub fn slopes(self, a: &[f64], result: f64) -> Vec<f64> {
        match self {
            Op::Loop(of) => of.slopes(a),
            Op::Call(of) => of.slopes(a),
            _ => self.slopes_of_table(a, result)[..self.arity()].to_vec(),
        }
    }

    fn slopes_of_table(self, a: &[f64], result: f64) -> [f64; Op::MOST_ARGUMENTS] {
        let choose = |first: bool| if first { [1.0, 0.0] } else { [0.0, 1.0] };
        let [p, q, r, s] = match self {
            Op::Neg => [-1.0, 0.0, 0.0, 0.0],
            Op::Add => [1.0, 1.0, 0.0, 0.0],
            Op::Sub => [1.0, -1.0, 0.0, 0.0],
            Op::Mul => [a[1], a[0], 0.0, 0.0],
            Op::Div => [1.0 / a[1], -result / a[1], 0.0, 0.0],
            Op::Reciprocal => [-result * result, 0.0, 0.0, 0.0],
            Op::Fma => [a[1], a[0], 1.0, 0.0],
            Op::Sqrt => [0.5 / result, 0.0, 0.0, 0.0],
            Op::Abs => [1.0_f64.copysign(a[0]), 0.0, 0.0, 0.0],
            Op::Min => {
                let [p, q] = choose(a[1] >= a[0] || a[1].is_nan() || a[0].is_nan());
                [p, q, 0.0, 0.0]
            }
            Op::Max => {
                let [p, q] = choose(a[1] <= a[0] || a[1].is_nan() || a[0].is_nan());
                [p, q, 0.0, 0.0]
            }
            Op::Lt | Op::Le | Op::Eq => {
                let holds = match self {
                    Op::Lt => a[0] < a[1],
                    Op::Le => a[0] <= a[1],
                    _ => a[0] == a[1],
                };
                let [r, s] = choose(holds);
                [0.0, 0.0, r, s]
            }
            Op::Copysign => {
                let same = a[0].is_sign_negative() == a[1].is_sign_negative();
                [if same { 1.0 } else { -1.0 }, 0.0, 0.0, 0.0]
            }
            Op::Exponent | Op::PowerOfTwo | Op::Loop(_) | Op::Call(_) => [0.0; 4],
            Op::Significand => [result / a[0], 0.0, 0.0, 0.0],
            Op::Exp => [result, 0.0, 0.0, 0.0],
            Op::Log => [1.0 / a[0], 0.0, 0.0, 0.0],
            Op::Sin => [Arithmetic::cos(a[0]), 0.0, 0.0, 0.0],
            Op::Cos => [-Arithmetic::sin(a[0]), 0.0, 0.0, 0.0],
            Op::Tanh => [1.0 - result * result, 0.0, 0.0, 0.0],
            Op::Sinh => [Arithmetic::cosh(a[0]), 0.0, 0.0, 0.0],
            Op::Cosh => [Arithmetic::sinh(a[0]), 0.0, 0.0, 0.0],
            Op::Erf => {
                [std::f64::consts::FRAC_2_SQRT_PI * Arithmetic::exp(-a[0] * a[0]), 0.0, 0.0, 0.0]
            }
            Op::Floor => [0.0; 4],
            Op::Mod => [1.0, -Arithmetic::floor(a[0] / a[1]), 0.0, 0.0],
            Op::Cbrt => [result / (3.0 * a[0]), 0.0, 0.0, 0.0],
            Op::Pow => [a[1] * result / a[0], result * Arithmetic::log(a[0]), 0.0, 0.0],
            Op::Atan2 => {
                let square = a[0] * a[0] + a[1] * a[1];
                [a[1] / square, -a[0] / square, 0.0, 0.0]
            }
        };
        [p, q, r, s]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_limits_of_differences() {
        let all = [0.7, 1.3, 0.4, 2.1];
        for op in Op::ALL {
            // The first is piecewise constant, the second is one of whole numbers.
            if matches!(op, Op::Exponent | Op::PowerOfTwo) {
                continue;
            }
            let at = &all[..op.arity()];
            let slopes = op.slopes(at, op.eval(at));
            for (i, slope) in slopes.iter().enumerate().take(op.arity()) {
                let moved = |by: f64| {
                    let mut at = at.to_vec();
                    at[i] += by;
                    op.eval(&at)
                };
                let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
                let same = (difference - slope).abs() < 1e-8 * (1.0 + slope.abs());
                assert!(same, "{} by argument {i}: {slope}, {difference}", op.name());
            }
        }
    }
}
