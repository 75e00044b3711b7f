//! A second oracle: a model's expressions as they are written, in twice the precision, each value with a bound of the
//! errors of an evaluation in the working precision.
//!
//! It shares the declaration with the compiler and nothing else: it has operators, integrators and boundaries of its
//! own. Engines are right within the bound, which follows from the expressions as they are written: a square of a
//! difference has the relative error of the difference, so that an engine that multiplies it out is detected.

mod evaluate;
mod faces;
pub mod functions;
mod law;
mod layout;
mod linear;
mod places;
mod real;
mod steps;
mod value;
pub mod weights;
mod wide;

use stencil_compiler::expr::Real;
use stencil_compiler::model::{Model, Term};

use evaluate::State;
use layout::Layout;
use steps::{METHODS, Tableau};

pub use faces::{Faces, Ghost, PERIODIC, random as random_faces};
pub use law::knows;
pub use value::{Precision, Value};
pub use wide::Wide;

/// Rounding errors that a bound allows for each operation: an engine may multiply by a reciprocal, distribute a factor
/// over a sum, and add the terms of nested sums one after the other.
const ALLOWED: f64 = 4.0;

/// Returns the names of the integrators that are known here.
pub fn integrators() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|(name, ..)| *name)
}

/// A run to evaluate as it is written.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The system.
    pub model: &'a Model,
    /// Interior cells.
    pub cells: [usize; 3],
    /// Grid spacings.
    pub spacing: [f64; 3],
    /// Parameters in order of declaration.
    pub params: &'a [f64],
    /// The time step.
    pub dt: f64,
    /// The boundary conditions of the mesh.
    pub faces: Faces,
}

impl Run<'_> {
    /// Returns the components of the fields after some steps from these values of fields, then sources.
    ///
    /// # Panics
    /// If the system has a scheme that is not known here; see [`knows`] for those of conservation laws.
    pub fn fields<T: Real>(&self, initial: &[Vec<T>], steps: usize) -> Vec<Vec<Value>> {
        let fluxes = self.model.fluxes.is_empty() || knows(self.model);
        assert!(fluxes, "the scheme is no known one");
        let layout = Layout::new(self.model);
        let mut values = exact(initial);
        let tableau = Tableau::named(&self.model.scheme.time);
        for step in 0..steps {
            let t = Wide::new(self.dt) * Wide::integer(step as i128);
            values = self.step::<T>(&layout, &tableau, t, values);
        }
        values.truncate(layout.evolved.len());
        values
    }

    /// Returns a scalar made of these values of fields, then sources, in each cell at time zero.
    pub fn scalar<T: Real>(&self, term: &Term, initial: &[Vec<T>]) -> Vec<Value> {
        let layout = Layout::new(self.model);
        let values = exact(initial);
        let state = self.state::<T>(&layout, Wide::ZERO, &values);
        state.everywhere(term, 0)
    }

    fn state<'b, T: Real>(
        &'b self,
        layout: &'b Layout,
        t: Wide,
        components: &'b [Vec<Value>],
    ) -> State<'b> {
        State {
            model: self.model,
            layout,
            cells: self.cells,
            spacing: self.spacing,
            params: self.params,
            faces: &self.faces,
            precision: precision::<T>(),
            t,
            components,
            known: Default::default(),
        }
    }

    fn step<T: Real>(
        &self,
        layout: &Layout,
        tableau: &Tableau,
        t: Wide,
        begin: Vec<Vec<Value>>,
    ) -> Vec<Vec<Value>> {
        let p = precision::<T>();
        let dt = Wide::new(self.dt);
        let advanced = |rates: &[Vec<Vec<Value>>], weights: &[Wide]| {
            let mut values = begin.clone();
            for (rates, weight) in rates.iter().zip(weights) {
                let by = p.rounded(dt * *weight);
                for (values, rates) in values.iter_mut().zip(rates) {
                    for (value, rate) in values.iter_mut().zip(rates) {
                        *value = p.sum(*value, p.product(by, *rate));
                    }
                }
            }
            values
        };
        let mut rates: Vec<Vec<Vec<Value>>> = Vec::new();
        for (stage, weights) in tableau.a.iter().enumerate() {
            let values = advanced(&rates, weights);
            let state = self.state::<T>(layout, t + dt * tableau.time(stage), &values);
            let rate = |(field, entry): &(usize, usize)| -> Vec<Value> {
                let equation = self.model.equations.iter().find(|e| e.field == *field);
                let equation = equation.expect("an equation for each field");
                let mut rates = state.everywhere(&equation.rhs, *entry);
                for flux in self.model.fluxes.iter().filter(|flux| flux.field == *field) {
                    let inflow = law::inflow(&state, *field, &flux.value);
                    let both = rates.iter().zip(inflow);
                    rates = both.map(|(rest, inflow)| p.sum(*rest, inflow)).collect();
                }
                rates
            };
            rates.push(layout.evolved.iter().map(rate).collect());
        }
        advanced(&rates, &tableau.b)
    }
}

/// Returns the largest error of values in parts of its bound, and the number of values that have one.
///
/// # Errors
/// The first value that is further away than its bound.
pub fn within<T: Real>(found: &[Vec<T>], bounds: &[Vec<Value>]) -> Result<(f64, usize), String> {
    assert_eq!(found.len(), bounds.len(), "components");
    let (mut worst, mut count) = (0.0_f64, 0);
    for (component, (found, bounds)) in found.iter().zip(bounds).enumerate() {
        assert_eq!(found.len(), bounds.len(), "cells");
        for (cell, (found, bound)) in found.iter().zip(bounds).enumerate() {
            if !bound.error.is_finite() {
                continue;
            }
            let error = (Wide::new(found.to_f64()) - bound.exact).size();
            // Errors below the normal range.
            let allowed = bound.error + smallest::<T>();
            if error.is_nan() || error > allowed {
                return Err(format!(
                    "component {component}, cell {cell}: {} for {:e}, which is off by {error:e} where {allowed:e} is allowed",
                    found.to_f64(),
                    bound.exact.to_f64()
                ));
            }
            worst = worst.max(error / allowed);
            count += 1;
        }
    }
    Ok((worst, count))
}

fn smallest<T: Real>() -> f64 {
    if T::BYTES == 4 { 1e-36 } else { 1e-300 }
}

fn precision<T: Real>() -> Precision {
    let single = T::BYTES == 4;
    let digits = if single { f64::from(f32::EPSILON) } else { f64::EPSILON };
    Precision { unit: ALLOWED * digits / 2.0, single }
}

fn exact<T: Real>(values: &[Vec<T>]) -> Vec<Vec<Value>> {
    let value = |value: &T| Value::exact(Wide::new(value.to_f64()));
    let all = values.iter();
    all.map(|of| of.iter().map(value).collect()).collect()
}

/// Visits cells with x the fastest.
fn cells([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [i32; 3]> {
    let each = move |i: usize| [i % nx, i / nx % ny, i / (nx * ny)].map(|c| c as i32);
    (0..nx * ny * nz).map(each)
}
