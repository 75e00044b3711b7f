//! A run as it is watched: a field on a plane at one step, its pictures for a page and for a terminal, and the observables so
//! far.

use std::sync::OnceLock;

use ndarray::Array2;
use serde_json::{Value, json};
use stencil_runtime::problem::Problem;
use stencil_runtime::report::significant;
use stencil_runtime::{Axis, Error, Number, Simulation};

mod blocks;
mod pictures;
mod series;
#[cfg(test)]
mod tests;

pub use blocks::Colors;
pub use pictures::Look;
pub use series::Series;

/// Digits of times and places.
const DIGITS: usize = 6;
/// The size of curves beside a picture, in pixels.
const CURVE: (u16, u16) = (620, 300);

/// A component on a plane of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The component.
    pub field: String,
    /// The axis that the plane is normal to.
    pub normal: Axis,
    /// The cell of the plane along this axis, from 0.
    pub at: usize,
}

/// One axis of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The axis.
    pub axis: Axis,
    /// The number of cells.
    pub cells: usize,
    /// The coordinate of the first cell.
    pub first: f64,
    /// The distance of cells.
    pub spacing: f64,
    /// Is it periodic?
    pub is_periodic: bool,
}

impl Line {
    /// Returns the coordinate of a cell.
    pub fn point(&self, cell: usize) -> f64 {
        self.spacing.mul_add(cell as f64, self.first)
    }

    /// Returns both ends of the axis, half a cell beyond the outermost points.
    fn ends(&self) -> [f64; 2] {
        let half = 0.5 * self.spacing;
        [self.first - half, self.point(self.cells.saturating_sub(1)) + half]
    }
}

/// The mesh and the components that may be viewed.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The axes x, y, z; those that the system does not have are of one cell.
    pub lines: [Line; 3],
    /// The number of axes of the system.
    pub dimension: usize,
    /// The components with their units, in the order of the declaration.
    pub fields: Vec<(String, Option<String>)>,
}

impl Scope {
    /// Makes the scope of a run.
    pub fn new<T: Number>(problem: &Problem, simulation: &Simulation<T>) -> Self {
        let (mesh, model) = (simulation.mesh(), simulation.system().model());
        let line = |axis: Axis| Line {
            axis,
            cells: mesh.cells[axis.index()],
            first: mesh.coordinate(axis.index(), 0),
            spacing: mesh.spacing()[axis.index()],
            is_periodic: problem.is_periodic(axis),
        };
        let unit = |name: &str| {
            let mut fields = model.fields.iter();
            let of = fields.find(|field| {
                let rest = name.strip_prefix(field.name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
            });
            of.and_then(|field| field.unit.clone())
        };
        let fields = simulation.components().map(|name| (name.to_string(), unit(name)));
        Scope { lines: Axis::ALL.map(line), dimension: model.dimension, fields: fields.collect() }
    }

    /// Returns the view that a run begins with: the first component, in the middle of a box.
    pub fn first(&self) -> View {
        let field = self.fields.first().map(|(name, _)| name.clone()).unwrap_or_default();
        View { field, normal: Axis::Z, at: self.lines[2].cells / 2 }
    }

    /// Returns the axes that a plane may be normal to: all of a box, z of a system with fewer axes.
    pub fn normals(&self) -> &[Axis] {
        if self.dimension == 3 { &Axis::ALL } else { &Axis::ALL[2..] }
    }

    /// Returns whether there are such a component, such planes and such a cell.
    pub fn has(&self, view: &View) -> bool {
        self.fields.iter().any(|(name, _)| *name == view.field)
            && self.normals().contains(&view.normal)
            && view.at < self.lines[view.normal.index()].cells
    }

    /// Returns the object for a page.
    pub fn json(&self) -> Value {
        let fields = self.fields.iter();
        let fields: Vec<Value> =
            fields.map(|(name, unit)| json!({ "name": name, "unit": unit })).collect();
        let lines = self.lines[..self.dimension].iter().map(|line| {
            json!({
                "axis": line.axis.name(),
                "cells": line.cells,
                "first": line.first,
                "spacing": line.spacing,
                "periodic": line.is_periodic,
            })
        });
        let normals: Vec<&str> = self.normals().iter().map(|axis| axis.name()).collect();
        json!({
            "dimension": self.dimension,
            "axes": lines.collect::<Vec<_>>(),
            "normals": normals,
            "fields": fields,
        })
    }
}

/// A component on a plane, copied from a run after one step.
#[derive(Clone, Debug)]
pub struct Shot {
    /// Counts the shots of a run, from 1.
    pub number: u64,
    /// The component and the plane.
    pub view: View,
    /// The number of steps done.
    pub step: u64,
    /// The time.
    pub t: f64,
    unit: Option<String>,
    /// The axes of the picture, horizontal first.
    axes: [Line; 2],
    /// The place of the plane, in a box.
    place: Option<f64>,
    is_curve: bool,
    /// `[vertical, horizontal]`.
    values: Array2<f64>,
    /// Found by the first viewer that asks, not by the loop over steps.
    facts: OnceLock<Facts>,
}

/// Numbers about all values of a shot.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// The least and the largest finite value, if there is one.
    range: Option<(f64, f64)>,
    /// Their mean.
    mean: Option<f64>,
    is_finite: bool,
}

impl Shot {
    /// Copies a component on a plane. Nothing else is copied from a processor; a card gives the component.
    ///
    /// # Errors
    /// If there is no such component or plane, or the values are on a card that fails.
    pub fn take<T: Number>(
        simulation: &Simulation<T>,
        (scope, view): (&Scope, &View),
        number: u64,
    ) -> Result<Self, Error> {
        let values = simulation.field_plane(&view.field, (view.normal, view.at))?;
        let axes = match view.normal {
            Axis::X => [1, 2],
            Axis::Y => [0, 2],
            Axis::Z => [0, 1],
        };
        let normal = &scope.lines[view.normal.index()];
        let unit = scope.fields.iter().find(|(name, _)| *name == view.field);
        Ok(Shot {
            number,
            view: view.clone(),
            step: simulation.step_count(),
            t: simulation.t(),
            unit: unit.and_then(|(_, unit)| unit.clone()),
            axes: axes.map(|axis| scope.lines[axis].clone()),
            place: (scope.dimension == 3).then(|| normal.point(view.at)),
            is_curve: scope.dimension == 1,
            values,
            facts: OnceLock::new(),
        })
    }

    /// Returns the cells along both axes of the picture, horizontal first.
    pub fn cells(&self) -> [usize; 2] {
        [self.values.ncols(), self.values.nrows()]
    }

    /// Returns the component with its unit: `u_x [m/s]`.
    fn label(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} [{unit}]", self.view.field),
            None => self.view.field.clone(),
        }
    }

    /// Returns the time, the step and the place: `t = 0.5, step 100, z = 0.25`.
    pub fn caption(&self) -> String {
        let mut text = format!("t = {}, step {}", significant(self.t, DIGITS), self.step);
        if let Some(place) = self.place {
            let place = significant(place, DIGITS);
            text.push_str(&format!(", {} = {place}", self.view.normal));
        }
        text
    }

    fn finite(&self) -> impl Iterator<Item = f64> {
        self.values.iter().copied().filter(|value| value.is_finite())
    }

    fn facts(&self) -> Facts {
        *self.facts.get_or_init(|| {
            let first = (0_usize, 0.0, f64::INFINITY, f64::NEG_INFINITY);
            let (count, sum, low, high) = self
                .finite()
                .fold(first, |(n, sum, low, high), v| (n + 1, sum + v, low.min(v), high.max(v)));
            Facts {
                range: (count > 0).then_some((low, high)),
                mean: (count > 0).then(|| sum / count as f64),
                is_finite: count == self.values.len(),
            }
        })
    }

    /// Returns the least and the largest finite value, if there is one.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.facts().range
    }

    /// Returns the object for a page.
    pub fn json(&self) -> Value {
        let Facts { range, mean, .. } = self.facts();
        json!({
            "number": self.number,
            "field": self.view.field,
            "normal": self.view.normal.name(),
            "at": self.view.at,
            "place": self.place,
            "step": self.step,
            "t": self.t,
            "axes": self.axes.each_ref().map(|line| line.axis.name()),
            "cells": self.cells(),
            "min": range.map(|(low, _)| low),
            "max": range.map(|(_, high)| high),
            "mean": mean,
            "has_spectrum": self.has_spectrum(),
        })
    }
}
