//! Random fields: waves of a given spectrum, and white noise.

use ndarray::Array3;
use rayon::prelude::*;
use rustfft::num_complex::Complex64;
use stencil_compiler::search::space::Draws;

use super::{Shells, TAU, longest, transform, units};

/// The waves of a random field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waves {
    /// Those of a scalar.
    Scalar,
    /// Those of a vector without divergence: normal to their wavevectors.
    Solenoidal,
    /// Those of a gradient: along their wavevectors.
    Compressive,
    /// Those of a vector whose components are independent: in d dimensions 1/d of its energy is in gradients.
    Mixed,
}

impl Waves {
    /// Returns the number of components in so many dimensions.
    pub fn components(self, dimension: usize) -> usize {
        match self {
            Waves::Scalar => 1,
            Waves::Solenoidal | Waves::Compressive | Waves::Mixed => dimension,
        }
    }
}

/// Returns a random field on a periodic box, the same in all directions: [`Waves::components`] arrays `[z, y, x]`.
/// [`kinetic_energy`](super::kinetic_energy) finds in each whole shell of modes the width times `density` at its middle,
/// if positive, and nothing in other shells.
///
/// Modes are independent of each other (for velocities without divergence: Rogallo, NASA TM 81315, 1981, section 4). They
/// depend on the seed and on the wavevector alone, so that a finer mesh has the same field and shorter waves beside it.
/// The mean is zero. Shells that reach beyond the shortest waves of some axis have modes in some directions only, and are
/// left out.
///
/// ```
/// use std::f64::consts::TAU;
/// use stencil_runtime::spectrum::{Waves, kinetic_energy, random};
///
/// let h = [TAU / 24.0; 3];
/// let density = |k: f64| k.powi(4) * (-2.0 * (k / 4.0).powi(2)).exp();
/// let u = random([24; 3], h, 3, Waves::Solenoidal, 1, density);
/// let found = kinetic_energy(&[u[0].view(), u[1].view(), u[2].view()], h)?;
/// assert!((found.energy[4] / density(4.0) - 1.0).abs() < 1e-12);
/// # Ok::<(), stencil_runtime::spectrum::SpectrumError>(())
/// ```
pub fn random(
    cells: [usize; 3],
    spacing: [f64; 3],
    dimension: usize,
    waves: Waves,
    seed: u64,
    density: impl Fn(f64) -> f64,
) -> Vec<Array3<f64>> {
    let modes =
        Modes { cells, unit: units(cells, spacing), dimension: dimension.min(3), waves, seed };
    let planes = modes.planes();
    let count = planes.iter().flatten().map(|(_, shell)| shell + 1).max();
    let mut energy = vec![0.0; count.unwrap_or(0)];
    let amplitudes = planes.par_iter().map(|waves| {
        let amplitudes = waves.iter().map(|(wave, _)| modes.amplitude(*wave));
        amplitudes.collect::<Vec<[Complex64; 3]>>()
    });
    let amplitudes: Vec<_> = amplitudes.collect();
    let known = || planes.iter().zip(&amplitudes);
    for ((_, shell), amplitude) in known().flat_map(|(waves, of)| waves.iter().zip(of)) {
        let squares = amplitude.map(|a| a.norm_sqr());
        energy[*shell] += 0.5 * squares.iter().sum::<f64>();
    }
    let width = TAU / longest(cells, spacing);
    let wanted = |shell: usize| density(shell as f64 * width).max(0.0) * width;
    let shells = energy.iter().enumerate();
    let factors: Vec<f64> = shells.map(|(shell, found)| (wanted(shell) / found).sqrt()).collect();
    let component = |component: usize| {
        let [nx, ny, nz] = cells;
        let zeros = (0..nx * ny * nz).into_par_iter().map(|_| Complex64::ZERO);
        let mut all: Vec<Complex64> = zeros.collect();
        let planes = all.par_chunks_mut(nx * ny).enumerate();
        planes.for_each(|(z, plane)| {
            // Waves of the shortest length along z are in no shell.
            let own = known().filter(|(waves, _)| {
                waves.first().is_some_and(|(wave, _)| modes.place(*wave)[2] == z)
            });
            for ((wave, shell), amplitude) in own.flat_map(|(waves, of)| waves.iter().zip(of)) {
                let [x, y, _] = modes.place(*wave);
                plane[y * nx + x] = amplitude[component] * factors[*shell];
            }
        });
        transform::field(all, cells)
    };
    (0..modes.waves.components(modes.dimension)).map(component).collect()
}

/// Returns the wavenumbers at the middle of the shells of a box that have all their modes, but for zero; units of
/// 1/length. They are those in which [`random`] has waves.
pub fn whole_shells(cells: [usize; 3], spacing: [f64; 3]) -> Vec<f64> {
    let unit = units(cells, spacing);
    let width = TAU / longest(cells, spacing);
    let whole = (1..).take_while(|shell| is_whole(cells, unit, *shell));
    whole.map(|shell| shell as f64 * width).collect()
}

/// Has a shell all its modes? Those of two cells count as none.
fn is_whole(cells: [usize; 3], unit: [f64; 3], shell: usize) -> bool {
    let mut axes = (0..3).filter(|axis| cells[*axis] > 1).peekable();
    let first_beyond = |axis: usize| ((cells[axis] - 1) / 2 + 1) as f64 * unit[axis];
    axes.peek().is_some() && axes.all(|axis| first_beyond(axis) >= shell as f64 + 0.5)
}

/// Returns independent numbers in the cells of a mesh, nearly normal, of mean zero and variance one. Each depends on the seed
/// and on its cell alone.
pub fn white_noise([nx, ny, nz]: [usize; 3], seed: u64) -> Array3<f64> {
    let mut values = Array3::zeros((nz, ny, nx));
    let rows = values.as_slice_mut().unwrap_or_default().par_chunks_mut(nx);
    rows.enumerate().for_each(|(at, row)| {
        for (x, value) in row.iter_mut().enumerate() {
            let cell = [x, at % ny, at / ny].map(|i| i as i64);
            *value = normal(&mut draws_of(seed, cell));
        }
    });
    values
}

/// The modes of a field before each shell gets its energy.
struct Modes {
    cells: [usize; 3],
    /// Steps of the wavevector along each axis, in widths of a shell.
    unit: [f64; 3],
    dimension: usize,
    waves: Waves,
    seed: u64,
}

impl Modes {
    /// Returns the waves of all whole shells, with their shells: those of one wavenumber along z together. A velocity without
    /// divergence has none in one dimension.
    fn planes(&self) -> Vec<Vec<([i64; 3], usize)>> {
        if self.waves == Waves::Solenoidal && self.dimension < 2 {
            return Vec::new();
        }
        let most = self.cells.map(|n| (n as i64 - 1) / 2);
        let [x, y, z] = most.map(|most| -most..=most);
        let longest = std::array::from_fn(|axis| most[axis] as f64 * self.unit[axis]);
        let shells = 0..=Shells::of(square(longest));
        let whole: Vec<bool> = shells.map(|shell| is_whole(self.cells, self.unit, shell)).collect();
        let plane = |c: i64| {
            let all = y.clone().flat_map(|b| x.clone().map(move |a| [a, b, c]));
            all.filter(|wave| *wave != [0; 3])
                .map(|wave| (wave, Shells::of(square(self.vector(wave)))))
                .filter(|(_, shell)| whole[*shell])
                .collect()
        };
        z.into_par_iter().map(plane).collect()
    }

    fn vector(&self, wave: [i64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| wave[axis] as f64 * self.unit[axis])
    }

    /// Returns the place of a wave in the transform along x, y, z: negative ones are behind the others.
    fn place(&self, wave: [i64; 3]) -> [usize; 3] {
        std::array::from_fn(|axis| wave[axis].rem_euclid(self.cells[axis] as i64) as usize)
    }

    /// Returns the amplitude of a wave; the amplitude of the opposite wave is its conjugate.
    fn amplitude(&self, wave: [i64; 3]) -> [Complex64; 3] {
        let opposite = wave.iter().find(|k| **k != 0).is_some_and(|k| *k < 0);
        let own = wave.map(|k| if opposite { -k } else { k });
        let mut draws = draws_of(self.seed, own);
        let mut amplitude = [Complex64::ZERO; 3];
        for part in &mut amplitude[..self.waves.components(self.dimension)] {
            *part = Complex64::new(normal(&mut draws), normal(&mut draws));
        }
        let k = self.vector(own);
        let along: Complex64 = k.iter().zip(amplitude).map(|(k, a)| a * k).sum();
        let along = along / square(k);
        for (part, k) in amplitude.iter_mut().zip(k) {
            match self.waves {
                Waves::Scalar | Waves::Mixed => {}
                Waves::Solenoidal => *part -= along * k,
                Waves::Compressive => *part = along * k,
            }
            if opposite {
                *part = part.conj();
            }
        }
        amplitude
    }
}

/// Returns the sequence of a seed and three numbers, of a wave or of a cell.
fn draws_of(seed: u64, key: [i64; 3]) -> Draws {
    // The seed is mixed first: neighbouring seeds with neighbouring keys would meet.
    let mixed = Draws::new(seed).below(u64::MAX);
    let seed = key.iter().fold(mixed, |seed, k| {
        Draws::new(seed ^ k.unsigned_abs()).below(u64::MAX) ^ u64::from(*k < 0)
    });
    Draws::new(seed)
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
