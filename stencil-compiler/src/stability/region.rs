//! The region of stability of an integrator, from its tableau.

use num_complex::Complex64;

use crate::catalogue::integrators::{Combination, Tableau, Target, Term, Value};
use crate::expr::Arithmetic;
use crate::matrix::size;
use crate::model::to_f64;

/// A step may make a mode larger by this part of it and still count as stable: rounding does as much to an eigenvalue
/// on the edge of a region.
const SLACK: f64 = 1e-6;

/// The number of times that a length is halved in search of a stable one.
const HALVINGS: i32 = 40;

/// The polynomial P of an explicit integrator: a step of length dt multiplies a mode of `f' = lambda f` by P(lambda dt).
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// The coefficients of P, that of the zeroth power first.
    coefficients: Vec<f64>,
}

impl Region {
    /// The region of an integrator: its combinations are applied to `f' = lambda f`, as polynomials of lambda dt.
    pub fn new(tableau: &Tableau) -> Self {
        let mut field = vec![1.0];
        let mut registers: Vec<Vec<f64>> = vec![Vec::new(); tableau.registers.len()];
        for substep in &tableau.substeps {
            let (start, kept) = (field.clone(), registers.clone());
            let mut new: Vec<Vec<f64>> = Vec::new();
            for combination in substep {
                let made = combined(combination, &start, &kept, &new);
                match combination.into {
                    Target::Field => field.clone_from(&made),
                    Target::Register(at) => registers[at].clone_from(&made),
                    Target::Part(_) => {}
                }
                new.push(made);
            }
        }
        Region { coefficients: field }
    }

    /// The coefficients of P, that of the zeroth power first.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The factor by which a step multiplies a mode: |P(z)|.
    pub fn growth(&self, z: Complex64) -> f64 {
        let terms = self.coefficients.iter().rev();
        size(terms.fold(Complex64::ZERO, |sum, c| sum * z + c))
    }

    /// Does a step keep a mode with this product of rate and length from growing?
    pub(super) fn is_stable(&self, z: Complex64) -> bool {
        self.growth(z) <= 1.0 + SLACK
    }

    /// The longest step, at most `most`, that makes no mode of this rate larger than the exact solution: a mode that
    /// decays or oscillates stays below its size, and one that grows may grow by the square of its exact growth. `also`
    /// is a further factor on a mode for a step of a given length.
    pub fn longest(&self, rate: Complex64, most: f64, also: impl Fn(f64) -> f64) -> f64 {
        let speed = size(rate);
        // No polynomial of few substeps is small that far out, so longer steps are not tried.
        let far = 100.0 / speed;
        let mut unstable = None;
        let is_stable = |dt: f64| {
            let z = rate * dt;
            // Most modes decay or oscillate, and exponentials take longest.
            let truth = if z.re > 0.0 { Arithmetic::exp(2.0 * z.re) } else { 1.0 };
            self.growth(z) <= truth.max(also(dt)).max(1.0) * (1.0 + SLACK)
        };
        let mut dt = if far < most { far } else { most };
        if speed == 0.0 || !dt.is_finite() {
            return most;
        }
        for _ in 0..HALVINGS {
            if !is_stable(dt) {
                unstable = Some(dt);
            }
            dt *= 0.5;
        }
        let Some(mut above) = unstable else {
            return most;
        };
        let mut below = 0.5 * above;
        for _ in 0..40 {
            let middle = 0.5 * (below + above);
            if is_stable(middle) {
                below = middle;
            } else {
                above = middle;
            }
        }
        below
    }

    /// The length of the region along a direction: the largest |z| up to which it is stable.
    fn reach(&self, direction: Complex64) -> f64 {
        let reach = self.longest(direction, f64::INFINITY, |_| 1.0);
        // A region that touches an axis in the origin alone gets a short reach by the slack; it counts as zero.
        let edge = 0.1;
        if reach < edge { 0.0 } else { reach }
    }

    /// The length along the negative real axis, for decay: 2 for Euler's method.
    pub fn real(&self) -> f64 {
        self.reach(Complex64::new(-1.0, 0.0))
    }

    /// The length along the imaginary axis, for oscillation: 0 for Euler's method.
    pub fn imaginary(&self) -> f64 {
        self.reach(Complex64::new(0.0, 1.0))
    }
}

/// A combination as a polynomial of lambda dt. A register that holds a rate without the step is a polynomial of lambda,
/// one power less: it is kept multiplied by the step, as each use of it is.
fn combined(
    combination: &Combination,
    field: &[f64],
    registers: &[Vec<f64>],
    new: &[Vec<f64>],
) -> Vec<f64> {
    let mut sum: Vec<f64> = Vec::new();
    for Term { factor, of, .. } in &combination.terms {
        let risen: Vec<f64>;
        let part: &[f64] = match of {
            Value::Field => field,
            Value::Rate | Value::FirstOrder | Value::Rest => {
                risen = std::iter::once(0.0).chain(field.iter().copied()).collect();
                &risen
            }
            Value::Register(at) => &registers[*at],
            Value::New(at) => &new[*at],
        };
        sum.resize(sum.len().max(part.len()), 0.0);
        for (to, value) in sum.iter_mut().zip(part) {
            *to += to_f64(factor) * value;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::integrators;

    fn region(name: &str) -> Region {
        Region::new(&(integrators::find(name).unwrap().tableau)())
    }

    /// A method of order p has the first p + 1 terms of the exponential, 1, 1, 1/2, 1/6, ..
    #[test]
    fn polynomials_begin_as_the_exponential_does_up_to_the_order() {
        for integrator in integrators::ALL {
            let region = region(integrator.name);
            let mut factorial = 1.0;
            for power in 0..=integrator.order {
                factorial *= f64::from(power.max(1));
                let c = region.coefficients()[power as usize];
                assert!((c * factorial - 1.0).abs() < 1e-12, "{}", integrator.name);
            }
        }
    }

    /// Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.2: 2, 2.51, 2.79 along the real axis for
    /// order 1 and 2, 3, 4 in as many substeps; 0, 0, sqrt(3), sqrt(8) along the imaginary one.
    #[test]
    fn regions_reach_as_far_as_textbooks_say() {
        let known = [
            ("euler", 2.0, 0.0),
            ("ssprk2", 2.0, 0.0),
            ("ssprk3", 2.512_745_3, 3.0_f64.sqrt()),
            ("rk3_williamson", 2.512_745_3, 3.0_f64.sqrt()),
            ("rk3_williamson<storage = accumulator>", 2.512_745_3, 3.0_f64.sqrt()),
            ("rk4", 2.785_293_6, 8.0_f64.sqrt()),
        ];
        for (name, real, imaginary) in known {
            let region = region(name);
            assert!((region.real() - real).abs() < 1e-4, "{name}");
            assert!((region.imaginary() - imaginary).abs() < 1e-4, "{name}");
        }
    }

    /// Williamson's method of five substeps reaches further than one of three, by less than five thirds.
    #[test]
    fn growth_of_the_solution_itself_is_no_instability() {
        let euler = region("euler");
        let grows = Complex64::new(1.0, 0.0);
        assert_eq!(euler.longest(grows, 0.5, |_| 1.0), 0.5);
        let swings = Complex64::new(0.0, 1.0);
        assert!(euler.longest(swings, 0.5, |_| 1.0) < 2e-3);
        assert_eq!(euler.longest(swings, 0.5, |_| 2.0), 0.5);
    }
}
