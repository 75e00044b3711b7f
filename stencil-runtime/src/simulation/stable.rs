//! Stability of steps: their length against the limit that follows from the equations about the state, or from speeds.

use std::collections::BTreeMap;

use ndarray::ArrayView3;
use stencil_compiler::algorithm::{Algorithm, Offset, StateId};
use stencil_compiler::discretize::discretize;
use stencil_compiler::model::Model;
use stencil_compiler::stability::{self, About, Axes, Linear, SplitLaw, State, Symbol};

use super::{Pace, Sampled, Simulation};
use crate::error::Unstable;
use crate::mesh::{Axis, Mesh};
use crate::report::told_point;
use crate::simulation::builder::{AUTO, rules};
use crate::step::Asked;
use crate::{Error, Number};

/// Cells among which those with the least and the largest values are searched.
const LOOKED_AT: u64 = 4096;

/// Values that are larger than initial values by this factor have grown without bound.
const GROWTH: f64 = 1e30;

/// The number of cells about whose states all waves are examined.
const MOST_STATES: usize = 8;

/// Steps of automatic length after which the limit of a nonlinear problem is found again.
const EVERY: u64 = 32;

/// A step may exceed the limit by this share: the accuracy of the search over waves.
const SLACK: f64 = 1e-3;

/// The reason why steps are not checked.
const UNKNOWN: &str = "the length of steps is not checked: no limit follows from the equations about the initial values, whose derivatives by \
     them are no numbers, and no speeds are declared; a run that grows without bound is stopped";

/// The limit, the linearization about the state with it, and its cell.
pub(super) struct Strictest {
    pub(super) dt: f64,
    pub(super) cell: [usize; 3],
}

impl<T: Number> Simulation<T> {
    /// Bounds values by the initial ones: larger ones grow without end.
    pub(super) fn bound_values(&mut self) -> Result<(), Error> {
        let around = self.around()?;
        let largest = |cell: &[usize; 3]| {
            let values = around.fields.values();
            let sizes = values.map(|v| v[[cell[2], cell[1], cell[0]]].to_f64().abs());
            sizes.fold(1.0, f64::max)
        };
        let largest = around.looked_at().iter().map(largest).fold(1.0, f64::max);
        self.device.bound(GROWTH * largest);
        Ok(())
    }

    /// Compares the length of steps with the stability limit, as the first step does by itself. Returns the reason if
    /// no limit is known, except for steps that are [not to be checked](crate::Builder::unchecked_step).
    ///
    /// ```
    /// use stencil_runtime::{Simulation, SystemDef};
    ///
    /// // The root has no derivative where it is zero.
    /// let text = "pub system Grows in 1d { field q: scalar; ddt(q) = sqrt(q); }";
    /// let system = SystemDef::from_text("grows.pde", text)?;
    /// let mut simulation = Simulation::<f64>::builder(&system).cells([8, 1, 1]).dt(0.1).build()?;
    /// assert!(simulation.check_length()?.is_some_and(|why| why.contains("not checked")));
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If steps are longer than the stability limit, or no step is stable; and if initial values are not finite.
    pub fn check_length(&mut self) -> Result<Option<&'static str>, Error> {
        self.check_ready()?;
        Ok(self.unknown.then_some(UNKNOWN))
    }

    /// Does the same for values that were checked.
    pub(super) fn check_step(&mut self) -> Result<(), Error> {
        if self.checked.is_some() || self.setup.unchecked {
            return Ok(());
        }
        let by_speeds = self.system().has_speeds();
        let of_law = !self.system().model().fluxes.is_empty();
        let dt = match self.pace {
            Pace::Auto { .. } => None,
            Pace::Fixed(dt) => Some(dt),
            Pace::Adaptive { number, most, .. } => {
                let asked = Asked { number, ..Asked::given(self.t, most.unwrap_or(f64::INFINITY)) };
                let dt = self.by_speeds(asked, self.setup.cfl_axes)?;
                dt.map(|(dt, _)| dt)
            }
        };
        if let Some(dt) = dt.filter(|dt| dt.is_finite()) {
            let is_known = match of_law && by_speeds {
                true => self.check_against_speeds(dt)?,
                false => self.check_against_symbol(dt)?,
            };
            self.unknown = !is_known;
        }
        self.checked = dt.or(Some(0.0));
        Ok(())
    }

    /// Returns the length that the speeds allow now, and the speed that limits it most; `None` if there are no speeds,
    /// or they are not finite.
    fn by_speeds(&mut self, asked: Asked, axes: Axes) -> Result<Option<(f64, usize)>, Error> {
        let Some(watch) = self.watch.as_ref().filter(|_| self.setup.system.has_speeds()) else {
            return Ok(None);
        };
        if watch.speeds_read_sources() {
            self.sample_unsteady(asked.t)?;
        }
        let Some(watch) = &self.watch else {
            return Ok(None);
        };
        let speeds = watch.speeds(self.device.as_mut(), &self.setup.mesh, asked.t)?;
        let setup = &self.setup;
        let rules = rules::<T>(&setup.system, &setup.params, &setup.mesh, axes);
        let dt = rules.step(asked, &speeds).dt;
        let known = speeds.iter().all(|speed| speed.is_finite() && *speed >= 0.0);
        Ok(known.then(|| (dt, rules.strictest(&speeds))))
    }

    /// Returns whether there is a limit; an error if the step is beyond it.
    fn check_against_speeds(&mut self, dt: f64) -> Result<bool, Error> {
        let asked = Asked::given(self.t, f64::INFINITY);
        let Some((limit, strictest)) = self.by_speeds(asked, Axes::Sum)? else {
            return Ok(false);
        };
        if dt <= limit * (1.0 + SLACK) {
            return Ok(true);
        }
        let (mesh, t) = (self.setup.mesh, self.t);
        let Some(watch) = &self.watch else {
            return Ok(false);
        };
        let (kind, cell) = watch.fastest(strictest, self.device.as_mut(), &mesh, t)?;
        let share = self.rules.share(strictest);
        let axis = share.and_then(|share| share.axis);
        let along = axis.map_or(String::new(), |axis| format!(" along {}", Axis::ALL[axis]));
        let is_wave = share.is_some_and(|share| share.power == 1);
        let kept = if is_wave { self.kept() } else { String::new() };
        let term = format!("the {kind} speed{along}{kept}");
        Err(self.unstable(dt, term, &Strictest { dt: limit, cell }))
    }

    /// Returns, in words, the ranges that limit waves through faces, if they do so more than stability.
    pub(super) fn kept(&self) -> String {
        let model = self.system().model();
        match stability::keeps_ranges(model) {
            true => format!(", keeping {},", model.ranges_text()),
            false => String::new(),
        }
    }

    /// Checks against the limit by the symbol.
    fn check_against_symbol(&self, dt: f64) -> Result<bool, Error> {
        let Some(found) = self.by_symbol(dt * (1.0 + SLACK))? else {
            return Ok(false);
        };
        if dt <= found.dt {
            return Ok(true);
        }
        // The limit itself, and the term whose absence would raise it most.
        let whole = self.by_symbol(f64::INFINITY)?.unwrap_or(found);
        let term = self.strictest_term(&whole)?;
        match whole.dt > 0.0 {
            true => Err(self.unstable(dt, term, &whole)),
            false => Err(self.no_stable_step(term)),
        }
    }

    fn no_stable_step(&self, term: String) -> Error {
        Error::NoStableStep {
            term,
            scheme: self.system().algorithm().scheme.clone(),
            stable: stability::integrators_for(self.system().model()).join(", "),
        }
    }

    /// Returns the term whose absence would allow the longest step about the state in a cell.
    fn strictest_term(&self, limit: &Strictest) -> Result<String, Error> {
        let around = self.around()?;
        let model = self.system().model();
        if let Some(apart) = SplitLaw::of(model) {
            return Ok(self.strictest_part(&around, &apart, limit.cell));
        }
        let mut most: Option<(f64, String)> = None;
        for (words, rest) in model.summands() {
            let Ok(algorithm) = discretize(&rest) else {
                continue;
            };
            let longest = around.longest(&rest, &algorithm, limit.cell);
            let longest = longest.unwrap_or(0.0);
            if most.as_ref().is_none_or(|(known, _)| longest > *known) {
                most = Some((longest, words));
            }
        }
        Ok(most.map_or_else(|| "the right-hand side".to_string(), |(_, words)| words))
    }

    /// Returns the limit of the equations about the state in some cells, if it is less than `most`; `None` if no limit
    /// is known.
    fn by_symbol(&self, most: f64) -> Result<Option<Strictest>, Error> {
        let around = self.around()?;
        let (model, algorithm) = (self.system().model(), self.system().algorithm());
        Ok(match SplitLaw::of(model) {
            Some(apart) => self.of_law(&around, &apart, most),
            None => around.strictest(model, algorithm, most),
        })
    }

    /// Returns the length of an automatic step: a part of the limit, found anew every so many steps.
    pub(super) fn automatic(&mut self, most: Option<f64>) -> Result<f64, Error> {
        let due = self.steps / EVERY * EVERY;
        if self.found_at.is_some_and(|at| at >= due) {
            return Ok(self.last_dt);
        }
        self.settle()?;
        let model = self.system().model();
        let is_linear =
            Symbol::new(model, self.system().algorithm()).is_some_and(|s| s.is_linear());
        let most = most.unwrap_or(f64::INFINITY);
        let found = self.by_symbol(most / AUTO)?;
        let missing = |help: &str| Error::Missing {
            what: "what limits the time step".into(),
            help: help.into(),
        };
        let Some(found) = found else {
            return Err(missing(
                "it does not follow from the equations about these values: declare `cfl { advective: ..; }` in the system, or give a time step",
            ));
        };
        if found.dt == 0.0 {
            let term = self.strictest_term(&found)?;
            return Err(self.no_stable_step(term));
        }
        if !found.dt.is_finite() {
            return Err(missing("nothing does: give a time step"));
        }
        self.found_at = Some(if is_linear { u64::MAX } else { due });
        self.last_dt = AUTO * found.dt;
        Ok(self.last_dt)
    }

    /// Continues with automatic steps of this length, that of the last step, until the limit has to be found again: before
    /// the next step, if it would have been found there.
    pub(super) fn go_on_with(&mut self, dt: f64) {
        (self.last_dt, self.found_at) = (dt, Some(self.steps.saturating_sub(1) / EVERY * EVERY));
    }

    fn unstable(&self, dt: f64, term: String, limit: &Strictest) -> Error {
        let number = match self.pace {
            Pace::Adaptive { number, .. } => {
                format!(", or cfl({:.2})", 0.99 * number * limit.dt / dt)
            }
            Pace::Fixed(_) | Pace::Auto { .. } => String::new(),
        };
        Error::Unstable(Box::new(Unstable {
            dt,
            t: self.t,
            term,
            limit: limit.dt,
            place: format!(" in cell {:?}, at {}", limit.cell, told_point(&self.point(limit.cell))),
            // A number that is less by a hundredth stays below the limit with two digits.
            write: format!("{:.2e}", 0.99 * limit.dt),
            number,
        }))
    }

    /// Returns all current values.
    pub(super) fn around(&self) -> Result<Around<'_, T>, Error> {
        let names: Vec<String> = self.components().map(str::to_string).collect();
        let fields = names.into_iter().map(|name| Ok((name.clone(), self.field(&name)?)));
        Ok(Around {
            fields: fields.collect::<Result<_, Error>>()?,
            sources: &self.sources,
            mesh: self.setup.mesh,
            periodic: self.device.fields().domain.boundaries.periodic,
            params: &self.setup.params,
            t: self.t,
        })
    }
}

/// Values around cells: beyond an end, the cell at the end, or at the other one if the axis is periodic.
pub(super) struct Around<'a, T> {
    fields: BTreeMap<String, ArrayView3<'a, T>>,
    sources: &'a BTreeMap<String, Sampled>,
    pub(super) mesh: Mesh,
    periodic: [bool; 3],
    params: &'a [f64],
    t: f64,
}

/// Zero everywhere.
const NOTHING: fn(StateId, Offset) -> f64 = |_, _| 0.0;

/// The values around a cell, by the states of an algorithm.
pub(super) struct Near<'n, 'a, T> {
    around: &'n Around<'a, T>,
    fields: Vec<Option<ArrayView3<'a, T>>>,
    sources: Vec<Option<&'a Sampled>>,
    cell: [usize; 3],
}

impl<T: Number> State for Near<'_, '_, T> {
    fn at(&self, state: StateId, offset: Offset) -> f64 {
        let Around { mesh, periodic, t, .. } = self.around;
        let home: [usize; 3] = std::array::from_fn(|a| {
            let (at, count) = (self.cell[a] as isize, mesh.cells[a] as isize);
            let at = at + offset[a] as isize;
            let home = match periodic[a] {
                true => at.rem_euclid(count),
                false => at.clamp(0, count - 1),
            };
            home as usize
        });
        let at = state.0 as usize;
        if let Some(Some(values)) = self.fields.get(at) {
            return values[[home[2], home[1], home[0]]].to_f64();
        }
        let source = self.sources.get(at).copied().flatten();
        let cell = home.map(|i| i as isize);
        source.map_or(0.0, |source| source.at(mesh, cell, *t))
    }
}

impl<'a, T: Number> Around<'a, T> {
    /// Returns the values around a cell.
    pub(super) fn near<'n>(&'n self, algorithm: &Algorithm, cell: [usize; 3]) -> Near<'n, 'a, T> {
        let states = algorithm.states.iter();
        Near {
            around: self,
            fields: states.clone().map(|s| self.fields.get(&s.name).copied()).collect(),
            sources: states.map(|s| self.sources.get(&s.name)).collect(),
            cell,
        }
    }

    /// Returns everything that is the same about every cell, with values that are zero.
    pub(super) fn given(&self) -> About<'_> {
        About {
            params: self.params,
            spacing: self.mesh.spacing(),
            cells: self.mesh.cells,
            t: self.t,
            state: &NOTHING,
        }
    }

    fn about(&self, symbol: &Symbol<'_>, algorithm: &Algorithm, cell: [usize; 3]) -> Linear {
        let near = self.near(algorithm, cell);
        symbol.about(&About { state: &near, ..self.given() })
    }

    /// Returns the limit of a system without fluxes about the state in some cells, if it is less than `most`; `None`
    /// if none of the states has finite derivatives.
    pub(super) fn strictest(
        &self,
        model: &Model,
        algorithm: &Algorithm,
        most: f64,
    ) -> Option<Strictest> {
        let symbol = Symbol::new(model, algorithm)?;
        let mut states: Vec<(Linear, [usize; 3])> = Vec::new();
        let cells = if symbol.is_linear() { vec![[0; 3]] } else { self.cells() };
        for cell in cells {
            let linear = self.about(&symbol, algorithm, cell);
            if states.iter().all(|(known, _)| *known != linear) {
                states.push((linear, cell));
            }
        }
        // Sizes that are NaN come last.
        states.retain(|(linear, _)| linear.size().is_finite());
        states.sort_by(|(a, _), (b, _)| b.size().total_cmp(&a.size()));
        let mut found = None;
        for (linear, cell) in states.iter().take(MOST_STATES) {
            let known = found.as_ref().map_or(most, |known: &Strictest| known.dt);
            if let Some(longest) = symbol.longest(linear, known)
                && (longest.dt < known || found.is_none())
            {
                let (dt, cell) = (longest.dt, *cell);
                found = Some(Strictest { dt, cell });
            }
        }
        found
    }

    /// Returns the longest step of another model with the same fields.
    pub(super) fn longest(
        &self,
        model: &Model,
        algorithm: &Algorithm,
        cell: [usize; 3],
    ) -> Option<f64> {
        let symbol = Symbol::new(model, algorithm)?;
        let linear = self.about(&symbol, algorithm, cell);
        Some(symbol.longest(&linear, f64::INFINITY)?.dt)
    }

    /// Returns cells of a coarse lattice, and those with the least and largest value of each field on a finer one.
    pub(super) fn cells(&self) -> Vec<[usize; 3]> {
        let cells = self.mesh.cells;
        let axes = cells.iter().filter(|n| **n > 1).count();
        let fine = self.looked_at();
        let longest = cells.iter().copied().max().unwrap_or(1);
        let mut chosen = self.lattice(longest.div_ceil([1, 8, 3, 2][axes]).max(1));
        for values in self.fields.values() {
            let value = |cell: &[usize; 3]| values[[cell[2], cell[1], cell[0]]].to_f64();
            let order = |a: &&[usize; 3], b: &&[usize; 3]| value(a).total_cmp(&value(b));
            chosen.extend(fine.iter().min_by(order));
            chosen.extend(fine.iter().max_by(order));
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns a lattice of some thousand cells, or all cells if there are fewer.
    fn looked_at(&self) -> Vec<[usize; 3]> {
        let mut stride = 1;
        let count = |stride: usize| {
            let along = self.mesh.cells.map(|n| n.div_ceil(stride) as u64);
            along.iter().product::<u64>()
        };
        while count(stride) > LOOKED_AT {
            stride *= 2;
        }
        self.lattice(stride)
    }

    /// Returns every so many cells along each axis.
    fn lattice(&self, stride: usize) -> Vec<[usize; 3]> {
        let [nx, ny, nz] = self.mesh.cells;
        let along = |n: usize| (0..n).step_by(stride);
        let mut cells = Vec::new();
        for z in along(nz) {
            for y in along(ny) {
                cells.extend(along(nx).map(|x| [x, y, z]));
            }
        }
        cells
    }
}
