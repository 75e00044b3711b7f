//! Spectra of periodic velocity fields.

use std::f64::consts::TAU;
use std::path::Path;

use ndarray::ArrayView3;

use crate::io::{CsvError, Table};
use crate::plot::{ColorMap, LinePlot, Style};

mod synthesis;
mod transform;

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;

pub use synthesis::{Waves, random, white_noise, whole_shells};

/// Smallest share of the largest energy that a plot shows: below is rounding.
const SHOWN: f64 = 1e-16;

/// The reason why a spectrum could not be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpectrumError {
    /// No component, or more than there are axes.
    #[error("a velocity has one to three components, not {0}")]
    Components(usize),
    /// Components of different shapes, or without cells.
    #[error("component {component} has the shape {found:?} [z, y, x]; the first has {expected:?}")]
    Shape {
        /// The component, from 0.
        component: usize,
        /// The shape of the first one.
        expected: [usize; 3],
        /// Its shape.
        found: [usize; 3],
    },
    /// A mesh of a single cell has no waves.
    #[error("the mesh has one cell; a spectrum needs two along some axis")]
    OneCell,
    /// A spacing that is not a positive length.
    #[error("the spacing along axis {axis} is {value}; give a positive length")]
    Spacing {
        /// The axis: 0 is x.
        axis: usize,
        /// The spacing.
        value: f64,
    },
    /// A value that is not finite.
    #[error("component {component} is not finite in cell {cell:?}")]
    NotFinite {
        /// The component, from 0.
        component: usize,
        /// The cell: x, y, z.
        cell: [usize; 3],
    },
}

/// Kinetic energy by wavenumber, see [`kinetic_energy`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spectrum {
    /// Wavenumbers at the middle of the shells, from 0; units of 1/length.
    pub k: Vec<f64>,
    /// Kinetic energy per mass in each shell; units of velocity².
    pub energy: Vec<f64>,
}

/// Returns the kinetic energy ½⟨|u|²⟩ of a periodic velocity field, by shells of its Fourier modes.
///
/// `velocity` holds one to three components, each `[z, y, x]`, of a field that is periodic along
/// each axis with more than one cell; `spacing` is the distance of cells along x, y, z. Shell s
/// holds the modes with wavenumber (s − ½) Δk ≤ |k| < (s + ½) Δk, where Δk = 2π/L for the longest
/// side L of the box. The sum over all shells is the mean kinetic energy (Parseval's theorem);
/// divided by Δk, the energies are the spectral density E(k). Shells beyond π/spacing lie in the
/// corners of the box of modes and are not complete.
///
/// The result has the same bits on any number of threads and for any set of instructions.
///
/// ```
/// use ndarray::Array3;
/// use std::f64::consts::TAU;
/// use stencil_runtime::spectrum::kinetic_energy;
///
/// // u = sin(3x) on 32 x 16 points of a box of side 2π.
/// let h = [TAU / 32.0, TAU / 16.0, 1.0];
/// let u = Array3::from_shape_fn((1, 16, 32), |(_, _, i)| (3.0 * i as f64 * h[0]).sin());
/// let spectrum = kinetic_energy(&[u.view()], h)?;
/// assert_eq!(spectrum.k[3], 3.0);
/// assert!((spectrum.energy[3] - 0.25).abs() < 1e-15); // the mean of sin²/2
/// assert!((spectrum.total() - 0.25).abs() < 1e-15);
/// # Ok::<(), stencil_runtime::spectrum::SpectrumError>(())
/// ```
///
/// # Errors
/// If shapes differ, a spacing is not a positive length or a value is not finite.
pub fn kinetic_energy(
    velocity: &[ArrayView3<'_, f64>],
    spacing: [f64; 3],
) -> Result<Spectrum, SpectrumError> {
    let cells = check(velocity, spacing)?;
    let shells = Shells::new(cells, units(cells, spacing));
    let mut energy = vec![0.0; shells.count()];
    for component in velocity {
        let modes = transform::modes(component);
        for (sum, part) in energy.iter_mut().zip(shells.energy(&modes)) {
            *sum += part;
        }
    }
    let k = (0..energy.len()).map(|s| s as f64 * (TAU / longest(cells, spacing))).collect();
    Ok(Spectrum { k, energy })
}

/// Returns the longest side of the box.
fn longest(cells: [usize; 3], spacing: [f64; 3]) -> f64 {
    let sides = (0..3).filter(|axis| cells[*axis] > 1);
    let sides = sides.map(|axis| cells[axis] as f64 * spacing[axis]);
    sides.fold(0.0, f64::max)
}

/// Returns the steps of the wavenumber along each axis in units of Δk, exact if the box is a cube.
fn units(cells: [usize; 3], spacing: [f64; 3]) -> [f64; 3] {
    let longest = longest(cells, spacing);
    std::array::from_fn(|axis| longest / (cells[axis] as f64 * spacing[axis]))
}

/// Returns the cells along x, y, z if everything fits.
fn check(velocity: &[ArrayView3<'_, f64>], spacing: [f64; 3]) -> Result<[usize; 3], SpectrumError> {
    let shape = |v: &ArrayView3<'_, f64>| <[usize; 3]>::from(v.dim());
    let expected = match velocity {
        [first, ..] if velocity.len() <= 3 => shape(first),
        _ => return Err(SpectrumError::Components(velocity.len())),
    };
    let cells = [expected[2], expected[1], expected[0]];
    if cells.iter().product::<usize>() <= 1 {
        return Err(SpectrumError::OneCell);
    }
    for axis in 0..3 {
        let value = spacing[axis];
        if cells[axis] > 1 && !(value.is_finite() && value > 0.0) {
            return Err(SpectrumError::Spacing { axis, value });
        }
    }
    for (component, values) in velocity.iter().enumerate() {
        let found = shape(values);
        if found != expected {
            return Err(SpectrumError::Shape { component, expected, found });
        }
        let bad = values.indexed_iter().find(|(_, v)| !v.is_finite());
        if let Some(((z, y, x), _)) = bad {
            let cell = [x, y, z];
            return Err(SpectrumError::NotFinite { component, cell });
        }
    }
    Ok(cells)
}

/// The shell of each mode.
struct Shells {
    /// Cells along x, y, z.
    cells: [usize; 3],
    /// Squares of the wavenumbers along x, y, z, in units of Δk².
    squares: [Vec<f64>; 3],
}

impl Shells {
    fn new(cells: [usize; 3], unit: [f64; 3]) -> Self {
        let squares = std::array::from_fn(|axis| {
            let n = cells[axis];
            // Modes above n/2 are negative wavenumbers.
            let wave = |i: usize| if i <= n / 2 { i } else { n - i };
            let unit = if n > 1 { unit[axis] } else { 0.0 };
            (0..n).map(|i| (wave(i) as f64 * unit).powi(2)).collect()
        });
        Shells { cells, squares }
    }

    fn of(square: f64) -> usize {
        (square.sqrt() + 0.5).floor() as usize
    }

    fn count(&self) -> usize {
        let largest = |squares: &Vec<f64>| squares.iter().copied().fold(0.0, f64::max);
        Self::of(self.squares.iter().map(largest).sum()) + 1
    }

    /// Returns half the square of each mode, summed by shells; `modes` are [y][kx][z] for kx ≥ 0. Sums are made for
    /// each y and then added in order, whatever the number of threads.
    fn energy(&self, modes: &transform::Modes) -> Vec<f64> {
        use rayon::prelude::*;

        let [nx, _, nz] = self.cells;
        let [kx2, ky2, kz2] = &self.squares;
        let half = nx / 2 + 1;
        let count = self.count();
        let planes: Vec<Vec<f64>> = modes
            .par_chunks(half * nz)
            .zip(ky2)
            .map(|(plane, ky2)| {
                let mut sums = vec![0.0; count];
                for (i, column) in plane.chunks(nz).enumerate() {
                    // The modes of a real field come in pairs, of which one was computed.
                    let weight = if i == 0 || 2 * i == nx { 0.5 } else { 1.0 };
                    for (mode, kz2) in column.iter().zip(kz2) {
                        sums[Self::of(kx2[i] + ky2 + kz2)] += weight * mode.norm_sqr();
                    }
                }
                sums
            })
            .collect();
        let mut energy = vec![0.0; count];
        for plane in planes {
            for (sum, part) in energy.iter_mut().zip(plane) {
                *sum += part;
            }
        }
        energy
    }
}

impl Spectrum {
    /// Returns the sum over all shells: the mean kinetic energy.
    pub fn total(&self) -> f64 {
        self.energy.iter().sum()
    }

    /// Writes the columns `k` and `energy`; the file appears when it is complete.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save_csv(&self, path: impl AsRef<Path>) -> Result<(), CsvError> {
        Table::new(["k", "energy"], [self.k.clone(), self.energy.clone()]).save(path)
    }

    /// Reads a file of [`Spectrum::save_csv`].
    ///
    /// # Errors
    /// If the file cannot be read or has no such columns.
    pub fn read_csv(path: impl AsRef<Path>) -> Result<Self, CsvError> {
        let table = Table::read(path)?;
        Ok(Spectrum { k: table.column("k")?.to_vec(), energy: table.column("energy")?.to_vec() })
    }

    /// Returns a curve on logarithmic axes, with a dashed line of the slope `guide` above it if one is given, such as
    /// −5/3 (Kolmogorov 1941). The mean flow, k = 0, has no place on the axis.
    ///
    /// ```
    /// use stencil_runtime::spectrum::Spectrum;
    ///
    /// let k: Vec<f64> = (0..64).map(f64::from).collect();
    /// let energy = k.iter().map(|k: &f64| k.max(0.1).powf(-5.0 / 3.0)).collect();
    /// let path = std::env::temp_dir().join(format!("spectrum-doc-{}.png", std::process::id()));
    /// Spectrum { k, energy }.plot(Some(-5.0 / 3.0)).title("Turbulence").save(&path)?;
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), stencil_runtime::plot::PlotError>(())
    /// ```
    pub fn plot(&self, guide: Option<f64>) -> LinePlot {
        let name = if guide.is_some() { "energy" } else { "" };
        curves(&[(name.to_string(), self)], Style::LinePoints, guide)
    }

    /// Returns the wavenumbers and energies that have a place on logarithmic axes.
    fn shown(&self) -> Vec<(f64, f64)> {
        let points = self.k.iter().copied().zip(self.energy.iter().copied());
        let shown = points.filter(|(k, e)| *k > 0.0 && *e > 0.0);
        let highest = shown.clone().map(|(_, e)| e).fold(0.0, f64::max);
        shown.filter(|(_, e)| *e >= SHOWN * highest).collect()
    }
}

/// Returns spectra at several times, each with its name, as curves on logarithmic axes whose colours go from dark to
/// light, with a dashed line of the slope `guide` above them if one is given.
///
/// ```
/// use stencil_runtime::spectrum::{Spectrum, over_time};
///
/// let k: Vec<f64> = (0..32).map(f64::from).collect();
/// let at = |t: f64| Spectrum {
///     energy: k.iter().map(|k| k * k * (-t * k).exp()).collect(),
///     k: k.clone(),
/// };
/// let (early, late) = (at(0.1), at(0.5));
/// let plot = over_time(&[("t = 0.1".into(), &early), ("t = 0.5".into(), &late)], None);
/// assert_eq!(plot.series.len(), 2);
/// ```
pub fn over_time(spectra: &[(String, &Spectrum)], guide: Option<f64>) -> LinePlot {
    let mut plot = curves(spectra, Style::Line, guide);
    let last = spectra.len().saturating_sub(1).max(1) as f64;
    for (at, series) in plot.series.iter_mut().enumerate().take(spectra.len()) {
        // The lightest colours do not show on paper.
        series.color = Some(ColorMap::Sequential.at(0.88 * at as f64 / last));
    }
    plot
}

fn curves(spectra: &[(String, &Spectrum)], style: Style, guide: Option<f64>) -> LinePlot {
    let mut plot =
        LinePlot::new().labels("wavenumber k", "kinetic energy in a shell").log_x().log_y();
    let mut highest: Option<[(f64, f64); 2]> = None;
    for (name, spectrum) in spectra {
        let shown = spectrum.shown();
        let (k, energy): (Vec<f64>, Vec<f64>) = shown.iter().copied().unzip();
        plot = plot.series(name.as_str(), &k, &energy, style);
        let line = guide.and_then(|slope| guide_line(&shown, slope));
        highest = match (highest, line) {
            (Some(a), Some(b)) if b[0].1 > a[0].1 => Some(b),
            (a, b) => a.or(b),
        };
    }
    if let (Some(slope), Some(ends)) = (guide, highest) {
        let (k, energy): (Vec<f64>, Vec<f64>) = ends.into_iter().unzip();
        plot = plot.series(slope_name(slope), &k, &energy, Style::Dashed);
    }
    plot
}

/// Returns two points of a straight line above the spectrum's first decade.
fn guide_line(shown: &[(f64, f64)], slope: f64) -> Option<[(f64, f64); 2]> {
    let (first, last) = (shown.first()?.0, shown.last()?.0);
    let to = (10.0 * first).min(last);
    let level =
        shown.iter().filter(|(k, _)| *k <= to).map(|(k, e)| e / k.powf(slope)).fold(0.0, f64::max);
    let at = |k: f64| (k, 2.0 * level * k.powf(slope));
    (first < to && level.is_finite()).then(|| [at(first), at(to)])
}

/// Writes `k^(−5/3)` for a slope that is a number of thirds, `k^−2.2` for another.
fn slope_name(slope: f64) -> String {
    let thirds = 3.0 * slope;
    let text = if slope.fract() != 0.0 && (thirds - thirds.round()).abs() < 1e-9 {
        format!("({}/3)", thirds.round())
    } else {
        format!("{slope}")
    };
    format!("k^{}", text.replace('-', "−"))
}
