//! The symbol of the linearized problem over all wavenumbers, and the longest step that is stable for it.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use num_complex::Complex64;

use super::linear::{Row, State, is_linear, rows};
use super::outgoing::Matrix;
use super::region::Region;
use crate::algorithm::{Algorithm, FnId, Role, StateId};
use crate::catalogue::integrators;
use crate::expr::Arithmetic;
use crate::expr::real::Precision;
use crate::matrix::{eigenvalues, size};
use crate::model::Model;

/// A time step so long that the old values are lost in a new one: a power of two, so that it costs no digit.
const LONG: f64 = (1_u128 << 100) as f64;

/// A step follows a uniform mode that turns by less than this angle, and its error in growth goes to zero with the
/// step.
const FOLLOWED: f64 = 0.5;

/// Parts of a half turn between two wavenumbers that are tried first, by the number of axes with more than one cell.
const PARTS: [i32; 4] = [1, 32, 8, 4];

/// The number of times that the distance of wavenumbers is halved around the worst one.
const REFINED: u32 = 8;

/// A system without fluxes, prepared for linearization: the functions that are the first updates of its fields.
#[derive(Clone, Debug)]
pub struct Symbol<'a> {
    algorithm: &'a Algorithm,
    region: Region,
    fields: Vec<StateId>,
    updates: Vec<FnId>,
    /// The end of the first substep, in parts of the step.
    part: f64,
}

/// The state about which the problem is linearized, and the mesh.
pub struct About<'a> {
    /// The parameters, in the order of the algorithm.
    pub params: &'a [f64],
    /// Distances of cells along x, y, z.
    pub spacing: [f64; 3],
    /// Cells along x, y, z: an axis with one cell has one wavenumber, zero.
    pub cells: [usize; 3],
    /// The time.
    pub t: f64,
    /// The values around the cell.
    pub state: &'a dyn State,
}

/// The longest stable step, and the mode that limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Longest {
    /// Its length; infinite if no mode grows at any length, and zero if one grows at each.
    pub dt: f64,
    /// The angle from cell to cell of the first mode that grows at longer steps.
    pub angle: [f64; 3],
    /// The relative rate of change of the mode: decays and oscillates.
    pub rate: Complex64,
}

/// The problem about one state: the derivatives of the rate of each field.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    rows: Vec<Row>,
    cells: [usize; 3],
    dimension: usize,
}

impl<'a> Symbol<'a> {
    /// The symbol of a model's algorithm; `None` for conservation laws, whose limiters and solvers have no derivative
    /// at a uniform state: their limit follows from speeds (see [`speeds`](super::speeds())).
    pub fn new(model: &Model, algorithm: &'a Algorithm) -> Option<Self> {
        let tableau = (integrators::find(&model.scheme.time)?.tableau)();
        let first = algorithm.substeps.first()?;
        if !model.fluxes.is_empty() || algorithm.substeps.len() != tableau.substeps.len() {
            return None;
        }
        let is_field = |state: &StateId| algorithm.state(*state).role == Role::Field;
        let updates = first.updates.iter().filter(|(state, _)| is_field(state));
        let (fields, updates) = updates.copied().unzip();
        Some(Symbol {
            algorithm,
            region: Region::new(&tableau),
            fields,
            updates,
            part: tableau.times().get(1).copied().unwrap_or(1.0),
        })
    }

    /// The integrator's region.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// Is the limit the same about every state, in every cell and at all times?
    pub fn is_linear(&self) -> bool {
        is_linear(self.algorithm, &self.updates) && !self.algorithm.depends_on_time()
    }

    /// The problem about a state. The first substep of an explicit method is an Euler step, from which rates follow.
    pub fn about(&self, about: &About<'_>) -> Linear {
        let About { params, spacing, t, .. } = *about;
        let uniforms = self.algorithm.uniform_values(Precision::F64, params, spacing, (LONG, t));
        let mut rows = rows(self.algorithm, &self.updates, &uniforms, about.state);
        for (row, field) in rows.iter_mut().zip(&self.fields) {
            *row.entry((*field, [0; 3])).or_insert(0.0) -= 1.0;
            for value in row.values_mut() {
                *value /= LONG * self.part;
            }
        }
        Linear { rows, cells: about.cells, dimension: self.algorithm.dimension }
    }

    /// The speed of the fastest wave along each axis, from terms that are differentiated once by central differences of
    /// second order, which are exact for waves that turn by a quarter from cell to cell. `None` if a derivative is not
    /// finite.
    pub fn speeds(&self, linear: &Linear, spacing: [f64; 3]) -> Option<[f64; 3]> {
        let mut speeds = [0.0; 3];
        for axis in linear.axes() {
            let mut angle = [0.0; 3];
            angle[axis] = 0.5 * PI;
            let rates = eigenvalues(linear.at(angle, &self.fields))?;
            let fastest = rates.into_iter().map(size).fold(0.0, f64::max);
            speeds[axis] = fastest * spacing[axis];
        }
        Some(speeds)
    }

    /// The Jacobian of the fluxes along an axis, row by row, from differences of second order such as those of
    /// [`SplitLaw::flows`](super::SplitLaw): fluxes over fields, in the order of the algorithm.
    pub fn jacobian(&self, linear: &Linear, spacing: [f64; 3], axis: usize) -> Matrix {
        let mut ahead = [0; 3];
        ahead[axis] = 1;
        let of_row = |row: &Row| {
            let entry = |field: &StateId| row.get(&(*field, ahead)).copied().unwrap_or_default();
            // Half of the next cell's flux over the spacing leaves.
            self.fields.iter().map(|field| -2.0 * spacing[axis] * entry(field)).collect()
        };
        linear.rows.iter().map(of_row).collect()
    }

    /// The fields, in the order of rates.
    pub fn fields(&self) -> &[StateId] {
        &self.fields
    }

    /// The longest step, at most `most`, at which no mode grows more than the exact solution; `None` if a derivative is
    /// not finite.
    pub fn longest(&self, linear: &Linear, most: f64) -> Option<Longest> {
        let uniform = eigenvalues(linear.at([0.0; 3], &self.fields))?;
        let followed = |dt: f64| {
            let turned = uniform.iter().map(|rate| rate * dt);
            let followed = turned.filter(|z| size(*z) < FOLLOWED);
            followed.map(|z| self.region.growth(z)).fold(1.0, f64::max)
        };
        let mut found = Longest { dt: most, angle: [0.0; 3], rate: Complex64::ZERO };
        let look = |angle: [f64; 3], found: &mut Longest| -> Option<()> {
            for rate in eigenvalues(linear.at(angle, &self.fields))? {
                let dt = self.region.longest(rate, found.dt, followed);
                if dt < found.dt {
                    // An oscillation without decay at once leaves a region that only touches the axis.
                    let swings = rate.re > -1e-6 * size(rate) && dt * size(rate) < 0.1;
                    let dt = if swings { 0.0 } else { dt };
                    *found = Longest { dt, angle, rate };
                }
            }
            Some(())
        };
        for angle in linear.angles() {
            look(angle, &mut found)?;
        }
        let mut step = PI / f64::from(PARTS[linear.axes().count()]);
        for _ in 0..REFINED {
            step *= 0.5;
            for axis in linear.axes() {
                for by in [step, -step] {
                    let mut near = found.angle;
                    near[axis] += by;
                    look(near, &mut found)?;
                }
            }
        }
        Some(found)
    }
}

impl Linear {
    /// The sum of the absolute values of all derivatives, an estimate of the largest rate.
    pub fn size(&self) -> f64 {
        self.rows.iter().flat_map(|row| row.values()).map(|v| v.abs()).sum()
    }

    /// Axes with more than one cell.
    fn axes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.dimension).filter(|axis| self.cells[*axis] > 1)
    }

    /// Angles from cell to cell. A wave and its mirror image through the origin grow alike, so one of both is left out.
    fn angles(&self) -> Vec<[f64; 3]> {
        let parts = PARTS[self.axes().count()];
        let first = self.axes().next();
        let mut all = vec![[0.0; 3]];
        for axis in self.axes() {
            let from = if Some(axis) == first { 0 } else { 1 - parts };
            let of = |k: i32| f64::from(k) * PI / f64::from(parts);
            let with = |angle: &[f64; 3]| {
                let mut all = Vec::new();
                for k in from..=parts {
                    let mut angle = *angle;
                    angle[axis] = of(k);
                    all.push(angle);
                }
                all
            };
            all = all.iter().flat_map(with).collect();
        }
        all
    }

    /// The matrix that maps amplitudes of waves of this angle to their rates.
    fn at(&self, angle: [f64; 3], fields: &[StateId]) -> Vec<Vec<Complex64>> {
        let mut phases: BTreeMap<[i32; 3], Complex64> = BTreeMap::new();
        let of_row = |row: &Row| {
            let mut entries = vec![Complex64::ZERO; fields.len()];
            for ((field, offset), value) in row {
                let Some(column) = fields.iter().position(|f| f == field) else {
                    continue;
                };
                let phase = phases.entry(*offset).or_insert_with(|| {
                    let turned = (0..3).map(|a| angle[a] * f64::from(offset[a]));
                    let turned: f64 = turned.sum();
                    Complex64::new(Arithmetic::cos(turned), Arithmetic::sin(turned))
                });
                entries[column] += *phase * *value;
            }
            entries
        };
        self.rows.iter().map(of_row).collect()
    }
}
