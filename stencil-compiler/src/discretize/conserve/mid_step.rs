//! Fields on faces in the middle of the step, at which predictors solve Riemann problems.
//!
//! The values on faces move by half a step of their own rates, so both sides of a face share one and the divergence of all stays:
//! Hancock's forecast, in which nothing jumps, takes the mean of the fluxes in the four cells around an edge (S. Fromang, P. Hennebelle and
//! R. Teyssier, Astron. Astrophys. 457, 371, 2006), and corner transport the fluxes at edges of its first Riemann problems (T. A. Gardiner
//! and J. M. Stone, J. Comput. Phys. 227, 4123, 2008, section 4). The flux in a cell, from which an edge is upwinded, is that of the
//! cell's state in the middle of the step.
//!
//! Along one axis alone the divergence of such a field is not zero. First states move as if nothing changed along the axis; those of the
//! last ones see the rise of the field along it together with the fluxes beside, which balance it. Gardiner and Stone add terms
//! in this rise to both. Those of last states are in the fluxes here. Those of first states are left out, also `dt/2 v_y d[x](b_x)` of
//! a field across: first fluxes enter with half a step as a factor, so a step stays of second order.

use std::collections::BTreeMap;

use super::algebra::Algebra;
use super::forecast::AtFaces;
use super::{AXES, Law};
use crate::discretize::atoms::Difference;
use crate::discretize::expand::{Expander, Result, States, overflow};
use crate::discretize::poly::{Poly, Uniform, UniformFactor};
use crate::expr::Rational;

impl Law<'_> {
    /// States at the faces of a cell along an axis, with the components that lie there in the middle of the step; those of `own`
    /// before a Riemann problem told how these move.
    pub(super) fn with_normals_then(
        &self,
        expander: &mut Expander<'_>,
        mut moved: [States; 2],
        own: &[States; 2],
        axis: usize,
    ) -> Result<[States; 2]> {
        let halves = self.components.halves[..self.components.fields.len()].iter();
        let normals = halves.enumerate().filter(|(_, halves)| halves[axis]);
        let normals: Vec<usize> = normals.map(|(component, _)| component).collect();
        if normals.is_empty() {
            return Ok(moved);
        }
        let then = match self.at_faces {
            AtFaces::Reconstructed | AtFaces::MovedAlong => BTreeMap::new(),
            AtFaces::MovedByAll | AtFaces::Cornered => self.on_faces_then(expander)?,
        };
        for component in normals {
            for ((states, own), ahead) in moved.iter_mut().zip(own).zip([0, -1]) {
                states.components[component] = match then.get(&component) {
                    Some(upper) => expander.atoms.at(upper, axis, ahead),
                    None => own.components[component].clone(),
                };
            }
        }
        Ok(moved)
    }

    /// The mean state of a cell in the middle of the step; nothing if Riemann problems are solved at its beginning.
    pub(super) fn in_cells_then(&self, expander: &mut Expander<'_>) -> Result<Option<States>> {
        let axes = 0..self.model.dimension;
        let changes = match self.at_faces {
            AtFaces::Reconstructed | AtFaces::MovedAlong => return Ok(None),
            AtFaces::MovedByAll => self.by_own_fluxes(expander, axes, 0)?,
            AtFaces::Cornered => self.by_first_fluxes(expander, axes, "all")?,
        };
        let then = self.on_faces_then(expander)?;
        let span = self.model.fluxes[0].span;
        let of = &mut Algebra { expander, span };
        let mut states = self.in_cell(of.expander);
        for (component, change) in changes.into_iter().enumerate() {
            let name = format!("{}_then", self.components.fields[component]);
            states.components[component] = match then.get(&component) {
                Some(upper) => {
                    let axis = self.components.halves[component].iter().position(|half| *half);
                    let between = Difference::BetweenFaces(axis.unwrap_or_default());
                    let mean = of.expander.atoms.difference(between, upper, &name.clone().into());
                    mean.map_err(overflow(span))?
                }
                None => {
                    let mut sum = of.plus(&states.components[component], &change)?;
                    if self.at_faces == AtFaces::Cornered {
                        sum = of.plus(&sum, &half_a_step(of, &self.rest[component])?)?;
                    }
                    of.whole(name, sum)
                }
            };
        }
        Ok(Some(states))
    }

    /// The components on faces in the middle of the step, each at the upper face of a cell.
    fn on_faces_then(&self, expander: &mut Expander<'_>) -> Result<BTreeMap<usize, Poly>> {
        let rates = match self.at_faces {
            AtFaces::Cornered if self.model.dimension > 1 => {
                let first = self.first();
                let through = first.through_faces(expander)?;
                first.through_edges(expander, &through)?
            }
            _ => self.between_cells(expander)?,
        };
        let span = self.model.fluxes[0].span;
        let of = &mut Algebra { expander, span };
        let mut all = BTreeMap::new();
        for (component, name) in self.components.fields.iter().enumerate() {
            if !self.is_transported(component) {
                continue;
            }
            let own = rates.iter().filter(|rate| rate.component == component);
            let own: Vec<Poly> = own.map(|rate| rate.rate.clone()).collect();
            let flow = of.even_sum("flow", &own)?;
            let rate = of.plus(&flow, &self.rest[component])?;
            let change = half_a_step(of, &rate)?;
            let before = of.expander.atoms.state(component);
            let sum = of.plus(&before, &change)?;
            all.insert(component, of.whole(format!("{name}_then"), sum));
        }
        Ok(all)
    }

    /// The terms without flux of a component, in the centre of a cell.
    pub(super) fn centred_rest(
        &self,
        expander: &mut Expander<'_>,
        component: usize,
    ) -> Result<Poly> {
        let rest = &self.rest[component];
        let axis = self.components.halves[component].iter().position(|half| *half);
        let Some(axis) = axis.filter(|_| !rest.0.is_empty()) else {
            return Ok(rest.clone());
        };
        let name = format!("{}_rest_{}", self.components.fields[component], AXES[axis]);
        let of = &mut Algebra { expander, span: self.model.fluxes[0].span };
        let rest = of.whole(name.clone(), rest.clone());
        let between = Difference::BetweenFaces(axis);
        let mean = of.expander.atoms.difference(between, &rest, &name.clone().into());
        mean.map_err(overflow(of.span))
    }
}

/// The change by a rate in half a step.
fn half_a_step(of: &Algebra<'_, '_>, rate: &Poly) -> Result<Poly> {
    let half = Uniform::power(UniformFactor::Dt, 1).times_number(Rational::new(1, 2));
    of.scaled_by(rate, &half)
}
