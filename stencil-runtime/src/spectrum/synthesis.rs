//! Random velocities of a given spectrum.

use ndarray::Array3;
use rayon::prelude::*;
use rustfft::num_complex::Complex64;
use stencil_compiler::search::space::Draws;

use super::{Shells, TAU, longest, transform, units};

/// Returns a random velocity without divergence on a periodic box, `dimension` components `[z, y, x]`.
/// [`kinetic_energy`](super::kinetic_energy) finds in each shell of modes the width times `density` at its middle, if
/// positive.
///
/// Modes are independent of each other and normal to their wavevectors (Rogallo, NASA TM 81315, 1981, section 4). They depend on
/// the seed and on the wavevector alone, so that a finer mesh has the same flow and shorter waves beside it. The mean flow is
/// zero, and so are waves of two cells.
///
/// ```
/// use std::f64::consts::TAU;
/// use stencil_runtime::spectrum::{kinetic_energy, solenoidal};
///
/// let h = [TAU / 24.0; 3];
/// let density = |k: f64| k.powi(4) * (-2.0 * (k / 4.0).powi(2)).exp();
/// let u = solenoidal([24; 3], h, 3, 1, density);
/// let found = kinetic_energy(&[u[0].view(), u[1].view(), u[2].view()], h)?;
/// assert!((found.energy[4] / density(4.0) - 1.0).abs() < 1e-12);
/// # Ok::<(), stencil_runtime::spectrum::SpectrumError>(())
/// ```
pub fn solenoidal(
    cells: [usize; 3],
    spacing: [f64; 3],
    dimension: usize,
    seed: u64,
    density: impl Fn(f64) -> f64,
) -> Vec<Array3<f64>> {
    let modes = Modes { cells, unit: units(cells, spacing), dimension: dimension.min(3), seed };
    let waves = modes.waves();
    let count = waves.iter().map(|(_, shell)| shell + 1).max();
    let mut energy = vec![0.0; count.unwrap_or(0)];
    let amplitudes = waves.par_iter().map(|(wave, _)| modes.amplitude(*wave));
    let amplitudes: Vec<[Complex64; 3]> = amplitudes.collect();
    for ((_, shell), amplitude) in waves.iter().zip(&amplitudes) {
        let squares = amplitude.map(|a| a.norm_sqr());
        energy[*shell] += 0.5 * squares.iter().sum::<f64>();
    }
    let width = TAU / longest(cells, spacing);
    let wanted = |shell: usize| density(shell as f64 * width).max(0.0) * width;
    let shells = energy.iter().enumerate();
    let factors: Vec<f64> = shells.map(|(shell, found)| (wanted(shell) / found).sqrt()).collect();
    let component = |component: usize| {
        let mut all = vec![Complex64::ZERO; cells.iter().product()];
        for ((wave, shell), amplitude) in waves.iter().zip(&amplitudes) {
            all[modes.place(*wave)] = amplitude[component] * factors[*shell];
        }
        transform::field(all, cells)
    };
    (0..modes.dimension).map(component).collect()
}

/// The modes of a velocity before each shell gets its energy.
struct Modes {
    cells: [usize; 3],
    /// Steps of the wavevector along each axis, in widths of a shell.
    unit: [f64; 3],
    dimension: usize,
    seed: u64,
}

impl Modes {
    /// Returns all waves but the mean flow and those of two cells, with their shells. A velocity in one dimension has
    /// none: its modes would all be along their wavevectors.
    fn waves(&self) -> Vec<([i64; 3], usize)> {
        if self.dimension < 2 {
            return Vec::new();
        }
        let [x, y, z] = self.cells.map(|n| {
            let most = (n as i64 - 1) / 2;
            -most..=most
        });
        let all = z.flat_map(|c| {
            let x = x.clone();
            y.clone().flat_map(move |b| x.clone().map(move |a| [a, b, c]))
        });
        all.filter(|wave| *wave != [0; 3])
            .map(|wave| (wave, Shells::of(square(self.vector(wave)))))
            .collect()
    }

    fn vector(&self, wave: [i64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| wave[axis] as f64 * self.unit[axis])
    }

    /// Returns the place of a wave in the transform: negative ones are behind the others.
    fn place(&self, wave: [i64; 3]) -> usize {
        let [nx, ny, _] = self.cells;
        let [x, y, z]: [usize; 3] =
            std::array::from_fn(|axis| wave[axis].rem_euclid(self.cells[axis] as i64) as usize);
        (z * ny + y) * nx + x
    }

    /// Returns the amplitude of a wave; the amplitude of the opposite wave is its conjugate.
    fn amplitude(&self, wave: [i64; 3]) -> [Complex64; 3] {
        let opposite = wave.iter().find(|k| **k != 0).is_some_and(|k| *k < 0);
        let own = wave.map(|k| if opposite { -k } else { k });
        let seed = own.iter().fold(self.seed, |seed, k| {
            Draws::new(seed ^ k.unsigned_abs()).below(u64::MAX) ^ u64::from(*k < 0)
        });
        let mut draws = Draws::new(seed);
        let mut amplitude = [Complex64::ZERO; 3];
        for part in &mut amplitude[..self.dimension] {
            *part = Complex64::new(normal(&mut draws), normal(&mut draws));
        }
        let k = self.vector(own);
        let along: Complex64 = k.iter().zip(amplitude).map(|(k, a)| a * k).sum();
        let along = along / square(k);
        for (part, k) in amplitude.iter_mut().zip(k) {
            *part -= along * k;
            if opposite {
                *part = part.conj();
            }
        }
        amplitude
    }
}

fn square(vector: [f64; 3]) -> f64 {
    vector.iter().map(|k| k * k).sum()
}

/// Returns a number that is nearly normal, of mean zero and variance one: the sum of twelve uniform ones, which has
/// the same bits on every machine.
fn normal(draws: &mut Draws) -> f64 {
    let uniform = |_| draws.below(1 << 32) as f64 / (1_u64 << 32) as f64;
    (0..12).map(uniform).sum::<f64>() - 6.0
}
