//! Damped sound (Pekkilä et al. 2017, Eqs. 1-3, linearized) by each mixed form: a mode keeps its shape, is multiplied
//! in each step by the factor of the discrete dispersion relation, and its frequency and damping converge to the exact
//! ones.

use std::f64::consts::TAU;
use std::ops::{Add, Mul};

use physics::systems::IsothermalNs;
use stencil_compiler::model::Mixed;
use stencil_runtime::{Simulation, System};
use stencil_tests::OrPanic;

use super::support::{changed, observed, settle};
use super::symbols;

const ALL: [Mixed; 3] = [Mixed::Bidiagonal, Mixed::Product, Mixed::Composed];
const CS: f64 = 1.2;
const NU: f64 = 0.05;
const AMPLITUDE: f64 = 1e-6;

#[derive(Clone, Copy, Debug)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn modulus(self) -> f64 {
        self.re.hypot(self.im)
    }

    fn ln(self) -> Complex {
        let (re, im) = (self.modulus().ln(), self.im.atan2(self.re));
        Complex { re, im }
    }
}

impl Add<f64> for Complex {
    type Output = Complex;
    fn add(self, real: f64) -> Complex {
        let (re, im) = (self.re + real, self.im);
        Complex { re, im }
    }
}

impl Mul for Complex {
    type Output = Complex;
    fn mul(self, b: Complex) -> Complex {
        let (re, im) = (self.re * b.re - self.im * b.im, self.re * b.im + self.im * b.re);
        Complex { re, im }
    }
}

impl Mul<f64> for Complex {
    type Output = Complex;
    fn mul(self, b: f64) -> Complex {
        let (re, im) = (self.re * b, self.im * b);
        Complex { re, im }
    }
}

/// A wave along the x axis, or along the diagonal of x and y, with the velocity along it.
#[derive(Clone, Copy, Debug)]
struct Sound {
    /// The wavenumber along each of its axes.
    k: f64,
    /// One or two.
    axes: usize,
    cells: usize,
    mixed: Mixed,
    dt: f64,
    steps: u64,
}

impl Sound {
    /// Returns the first difference along an axis, over i.
    fn first(&self) -> f64 {
        let h = TAU / self.cells as f64;
        symbols::odd(6, self.k * h) / h
    }

    /// Returns the rate of a mode that varies as `exp(i k·x + rate t)`: the root with negative frequency of `rate² - s
    /// rate + cs² axes D² = 0`, with the viscous rate s of a velocity along the wave.
    fn rate(&self) -> Complex {
        let h = TAU / self.cells as f64;
        let second = symbols::even(6, self.k * h) / (h * h);
        let square = -self.first().powi(2);
        let same = match self.mixed {
            Mixed::Composed => square,
            _ => second,
        };
        let other = match self.mixed {
            Mixed::Bidiagonal => symbols::diagonal(6, self.k * h, self.k * h) / (h * h),
            _ => square,
        };
        let axes = self.axes as f64;
        let s = NU * (axes * second + (same + (axes - 1.0) * other) / 3.0);
        let im = -f64::sqrt(-CS * CS * axes * square - s * s / 4.0);
        Complex { re: s / 2.0, im }
    }

    /// Returns the rate of the equations without differences.
    fn exact_rate(&self) -> Complex {
        let square = self.axes as f64 * self.k * self.k;
        let re = -2.0 * NU * square / 3.0;
        let im = -f64::sqrt(CS * CS * square - re * re);
        Complex { re, im }
    }

    /// Returns the factor of the mode over all steps together.
    fn growth(&self) -> Complex {
        let z = self.rate() * self.dt;
        let step = z * (z * (z * (1.0 / 3.0) + 1.0) * 0.5 + 1.0) + 1.0;
        let one = Complex { re: 1.0, im: 0.0 };
        (0..self.steps).fold(one, |power, _| power * step)
    }

    /// Returns the same from a run: the part of the density and of the velocity that is this wave, over that at the
    /// start.
    fn measured(&self) -> [Complex; 2] {
        let system = changed(&IsothermalNs::DEFINITION, |model| {
            model.scheme.mixed = self.mixed;
        });
        let across = if self.axes > 1 { self.cells } else { 1 };
        let mut simulation = Simulation::<f64>::builder(&system)
            .cells([self.cells, across, 1])
            .extent([TAU, TAU, 1.0])
            .param("cs", CS)
            .param("nu", NU)
            .dt(self.dt)
            .build()
            .or_panic();
        let phase = |at: [f64; 3]| at[..self.axes].iter().map(|x| self.k * x).sum::<f64>();
        // From `rate lnrho = -i axes D u`.
        let i = Complex { re: 0.0, im: 1.0 };
        let ratio = i * self.rate() * (1.0 / (self.axes as f64 * self.first()));
        let set = |simulation: &mut Simulation<f64>, name, shape: Complex| {
            settle(simulation, name, |at| {
                AMPLITUDE * (shape.re * phase(at).cos() - shape.im * phase(at).sin())
            });
        };
        let one = Complex { re: 1.0, im: 0.0 };
        set(&mut simulation, "lnrho", one);
        for name in &["u_x", "u_y"][..self.axes] {
            set(&mut simulation, name, ratio);
        }
        simulation.run(self.steps, |_, _| ()).or_panic();
        let inverse = Complex { re: ratio.re, im: -ratio.im } * (1.0 / ratio.modulus().powi(2));
        [("lnrho", one), ("u_x", inverse)]
            .map(|(name, over)| self.part(&simulation, name) * over * (1.0 / AMPLITUDE))
    }

    /// Returns the complex amplitude of the wave in a component.
    fn part(&self, simulation: &Simulation<f64>, name: &str) -> Complex {
        let (field, h) = (simulation.field(name), TAU / self.cells as f64);
        let field = field.expect("a component");
        let mut sum = Complex { re: 0.0, im: 0.0 };
        for ((_, y, x), value) in field.indexed_iter() {
            let phase = self.k * h * (x + y) as f64;
            sum.re += value * phase.cos();
            sum.im -= value * phase.sin();
        }
        sum * (2.0 / field.len() as f64)
    }
}

#[test]
fn sound_has_the_amplitude_and_phase_of_the_discrete_dispersion_relation() {
    for mixed in ALL {
        for (cells, axes, k) in [(16, 1, 1.0), (16, 1, 5.0), (16, 2, 2.0), (24, 2, 7.0)] {
            let sound = Sound { k, axes, cells, mixed, dt: 0.02, steps: 40 };
            let expected = sound.growth();
            for measured in sound.measured() {
                let (amplitude, phase) =
                    (measured.modulus() / expected.modulus(), measured.ln().im - expected.ln().im);
                assert!(
                    (amplitude - 1.0).abs() < 1e-9 && phase.abs() < 1e-9,
                    "{sound:?}: amplitude {amplitude}, phase {phase:e}"
                );
            }
        }
    }
}

#[test]
fn frequency_and_damping_of_sound_converge_with_the_order_of_the_scheme() {
    for mixed in ALL {
        for axes in [1, 2] {
            let errors = [36, 48].map(|cells| {
                // The error of the integrator falls with the same order.
                let steps = (cells * cells / 12) as u64;
                let end = 0.9;
                let sound = Sound { k: 1.0, axes, cells, mixed, dt: end / steps as f64, steps };
                let (rate, exact) = (sound.measured()[0].ln() * (1.0 / end), sound.exact_rate());
                [rate.re / exact.re - 1.0, rate.im / exact.im - 1.0]
            });
            for (part, name) in ["damping", "frequency"].into_iter().enumerate() {
                let (coarse, fine) = (errors[0][part].abs(), errors[1][part].abs());
                let observed = observed(coarse, fine, 48.0 / 36.0);
                assert!(
                    (observed - 6.0).abs() < 0.1,
                    "{name}, {mixed:?}, {axes} axes: {coarse:e}, {fine:e}, observed {observed:.3}"
                );
            }
        }
    }
}

/// Short waves are damped too little, by each form in its own way: the second difference along the
/// diagonal sees a wave half as long, and a difference of a difference hardly sees the shortest.
#[test]
fn the_mixed_forms_damp_short_sound_differently() {
    let damping = |axes, mixed| {
        let sound = Sound { k: 7.0, axes, cells: 24, mixed, dt: 0.01, steps: 40 };
        let rate = sound.measured()[0].modulus().ln() / 0.4;
        rate / sound.exact_rate().re
    };
    let [bidiagonal, product, composed] = ALL.map(|mixed| damping(1, mixed));
    assert!((bidiagonal - product).abs() < 1e-12, "along an axis");
    assert!(composed < bidiagonal - 0.01, "{composed} {bidiagonal}");
    let [bidiagonal, product, composed] = ALL.map(|mixed| damping(2, mixed));
    for (found, expected) in [(bidiagonal, 0.8907), (product, 0.9322), (composed, 0.9046)] {
        assert!((found - expected).abs() < 1e-4, "{found} in place of {expected}");
    }
}
