//! States at faces in the middle of the step, from which the scheme computes fluxes.
//!
//! **Hancock's forecast** (van Leer, SIAM J. Sci. Stat. Comput. 5, 1, 1984; Toro 2009, section 14.4; along all axes at once as in Schive
//! et al., Int. J. High Perform. Comput. Appl. 26, 367, 2012, section 2). Within a cell nothing jumps, so no Riemann problem is solved:
//! both states of a cell at an axis change by half a step of the difference of their own fluxes, and by those of the other axes. The
//! change is that of a state in the cell up to first order, so a step is of second order.
//!
//! **Corner transport** (Colella, J. Comput. Phys. 87, 171, 1990; with six Riemann problems in space, T. Gardiner and J. Stone, J. Comput.
//! Phys. 227, 4123, 2008, section 4). States change by their own fluxes along their own axis, and then by those that flow through the
//! faces beside them, which first Riemann problems give. So a step sees the cells across corners.
//!
//! **Tracing** (Colella and Woodward, J. Comput. Phys. 54, 174, 1984, section 1; Stone et al., Astrophys. J. Suppl. 178, 137, 2008,
//! section 4.2.2). The own fluxes of a cell move a line as far as its waves go. A parabola also bends: each family that goes toward a
//! face brings there the mean over the part of the cell that it crosses.

use super::algebra::Algebra;
use super::states::{LABELS, Normal};
use super::{AXES, Law};
use crate::catalogue::predictors::Forecast;
use crate::discretize::expand::{Expander, Result, States};
use crate::discretize::poly::{Poly, Uniform, UniformFactor};
use crate::expr::Rational;
use crate::model::{Model, Sweep};

/// The states of cells at faces that Riemann problems are solved between.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AtFaces {
    /// As they are reconstructed.
    Reconstructed,
    /// Half a step later, by their own fluxes along all axes.
    MovedByAll,
    /// Half a step later, by their own fluxes along the axis of the face.
    MovedAlong,
    /// The same, and by the fluxes through the faces beside.
    Cornered,
}

impl AtFaces {
    /// The states of a scheme.
    pub(super) fn of(model: &Model) -> Self {
        let is_swept = model.scheme.sweep != Sweep::Unsplit;
        match model.scheme.forecast() {
            Some(Forecast::Cells) | None => AtFaces::Reconstructed,
            Some(Forecast::Faces) => AtFaces::MovedByAll,
            Some(Forecast::Corners) if is_swept => AtFaces::MovedAlong,
            Some(Forecast::Corners) => AtFaces::Cornered,
        }
    }
}

impl Law<'_> {
    /// The states of a cell at its upper face, and those at its lower one.
    pub(super) fn at_faces(&self, expander: &mut Expander<'_>, axis: usize) -> Result<[States; 2]> {
        let own = self.reconstructed(expander, axis, Normal::OnFaces)?;
        let axes = match self.at_faces {
            AtFaces::Reconstructed => return Ok(own),
            AtFaces::MovedByAll if self.model.scheme.sweep == Sweep::Unsplit => {
                0..self.model.dimension
            }
            AtFaces::MovedByAll | AtFaces::MovedAlong | AtFaces::Cornered => axis..axis + 1,
        };
        let changes = self.by_own_fluxes(expander, axes, axis)?;
        let changes = match self.model.scheme.traces {
            true => self.by_curvature(expander, &own, changes, axis)?,
            false => [changes.clone(), changes],
        };
        let mut moved = self.moved(expander, own.clone(), changes, axis, "forecast")?;
        if self.at_faces == AtFaces::Cornered {
            let beside = (0..self.model.dimension).filter(|beside| *beside != axis);
            let changes = self.by_first_fluxes(expander, beside, AXES[axis])?;
            moved = self.moved(expander, moved, [changes.clone(), changes], axis, "corner")?;
        }
        self.with_normals_then(expander, moved, &own, axis)
    }

    /// The law with the states that first Riemann problems are solved between.
    pub(super) fn first(&self) -> Law<'_> {
        Law {
            at_faces: AtFaces::MovedAlong,
            waves: self.waves.clone(),
            kinds: self.kinds.clone(),
            blocks: self.blocks.clone(),
            rest: self.rest.clone(),
            ..*self
        }
    }

    /// Adds a change of each component to the states of a cell at both faces along an axis.
    fn moved(
        &self,
        expander: &mut Expander<'_>,
        mut own: [States; 2],
        changes: [Vec<Poly>; 2],
        axis: usize,
        word: &str,
    ) -> Result<[States; 2]> {
        if changes.iter().flatten().all(|change| change.0.is_empty()) {
            return Ok(own);
        }
        let span = self.model.fluxes[0].span;
        let of = &mut Algebra { expander, span };
        for ((states, label), changes) in own.iter_mut().zip(LABELS).zip(&changes) {
            // `let`s follow from the new values.
            states.lets.clear();
            let names = self.components.fields.iter();
            for ((value, change), name) in states.components.iter_mut().zip(changes).zip(names) {
                let sum = of.plus(value, change)?;
                // Rounded: the forecast is the same, whatever is added to it next.
                *value = of.whole(format!("{name}_{}_{label}_{word}", AXES[axis]), sum);
            }
        }
        Ok(own)
    }

    /// The change of each component of a cell in half the time of an update along an axis, by the fluxes of its own states at faces
    /// along some axes, and by the terms without flux.
    pub(super) fn by_own_fluxes(
        &self,
        expander: &mut Expander<'_>,
        axes: std::ops::Range<usize>,
        axis: usize,
    ) -> Result<Vec<Poly>> {
        let normal = match self.at_faces {
            AtFaces::MovedAlong => Normal::Centred,
            _ => Normal::OnFaces,
        };
        let mut parts: Vec<Vec<Poly>> = vec![Vec::new(); self.components.fields.len()];
        for along in axes {
            let own = self.reconstructed(expander, along, normal)?;
            let mut fluxes = Vec::new();
            for (states, label) in own.iter().zip(LABELS) {
                let label = format!("{}_{label}_own", AXES[along]);
                fluxes.push(self.fluxes(expander, states, along, &label)?);
            }
            let products = self.through_cell(expander, &own, along)?;
            for (at, (component, span)) in self.conserved().enumerate() {
                let of = &mut Algebra { expander, span };
                let name = format!("{}_{}_rise", self.components.fields[component], AXES[along]);
                let rise = of.minus(&fluxes[0][at], &fluxes[1][at])?;
                let rise = of.plus(&rise, &products[at])?;
                let rise = of.named(name, rise);
                parts[component].push(half_of_outflow(of, &rise, along)?);
            }
        }
        let share = self.model.share_along(axis) / Rational::from_integer(2);
        let half = Uniform::power(UniformFactor::Dt, 1).times_number(share);
        let span = self.model.fluxes[0].span;
        let of = &mut Algebra { expander, span };
        let mut all = Vec::new();
        for (at, parts) in parts.iter().enumerate() {
            let name = format!("{}_half_a_step", self.components.fields[at]);
            let flow = of.even_sum("part", parts)?;
            let rest = self.centred_rest(of.expander, at)?;
            let change = of.plus(&flow, &of.scaled_by(&rest, &half)?)?;
            all.push(whole_unless_nothing(of, name, change));
        }
        Ok(all)
    }

    /// The changes of a cell's states at its upper and at its lower face, beside those by its own fluxes, by which each state is the
    /// mean over all that reaches the face by the middle of the step: the curvature of the parabola through the mean and both
    /// states, of the families that go toward the face.
    fn by_curvature(
        &self,
        expander: &mut Expander<'_>,
        [upper, lower]: &[States; 2],
        changes: Vec<Poly>,
        axis: usize,
    ) -> Result<[Vec<Poly>; 2]> {
        let span = self.model.fluxes[0].span;
        let of = &mut Algebra { expander, span };
        let cell = self.in_cell(of.expander);
        let conserved = self.components_conserved();
        let mut curvature = Vec::new();
        for component in &conserved {
            let name = format!("{}_{}", self.components.fields[*component], AXES[axis]);
            let mut excess = |side: &States| {
                let excess =
                    of.minus(&side.components[*component], &cell.components[*component])?;
                Ok(of.whole(format!("{name}_excess"), excess))
            };
            let (above, below) = (excess(upper)?, excess(lower)?);
            let sum = of.plus(&above, &below)?;
            let sum = of.whole(format!("{name}_excesses"), sum);
            curvature.push(of.scaled(&sum, -3, 1)?);
        }
        let mut all = [changes.clone(), changes];
        for block in self.linear(of, &cell, axis, "cell")? {
            let split = block.split(of, &block.own(&curvature), None)?;
            for (at, changes) in all.iter_mut().enumerate() {
                let shares = block.speeds.each_ref().map(|speed| {
                    let toward = if at == 0 { speed.clone() } else { speed.negated() };
                    crossed(of, &toward, axis)
                });
                let [slowest, flow, fastest] = shares;
                let (slowest, flow, fastest) = (slowest?, flow?, fastest?);
                let more = block.apply(of, [&slowest, &flow, &fastest], &split)?;
                for (component, more) in block.own(&conserved).into_iter().zip(more) {
                    let label = format!("{}_traced", self.components.fields[component]);
                    changes[component] = of.onto(&changes[component], &more, label)?;
                }
            }
        }
        Ok(all)
    }

    /// The change of each component of a cell in half a step by the fluxes of first Riemann problems through its faces along some axes.
    pub(super) fn by_first_fluxes(
        &self,
        expander: &mut Expander<'_>,
        axes: impl Iterator<Item = usize>,
        word: &str,
    ) -> Result<Vec<Poly>> {
        let first = self.first();
        let mut parts: Vec<Vec<Poly>> = vec![Vec::new(); self.components.fields.len()];
        for axis in axes {
            let fluxes = first.face(expander, axis)?.solved()?;
            let through = first.through(expander, fluxes, axis)?;
            for ((component, span), flux) in self.conserved().zip(through) {
                let of = &mut Algebra { expander, span };
                let name =
                    format!("{}_{}_first_out", self.components.fields[component], AXES[axis]);
                let entering = of.expander.atoms.at(&flux.entering, axis, -1);
                let out = of.minus(&flux.leaving, &entering)?;
                let out = of.named(name, out);
                parts[component].push(half_of_outflow(of, &out, axis)?);
            }
        }
        let span = self.model.fluxes[0].span;
        let of = &mut Algebra { expander, span };
        let mut all = Vec::new();
        for (parts, name) in parts.iter().zip(&self.components.fields) {
            let change = of.even_sum("part", parts)?;
            all.push(whole_unless_nothing(of, format!("{name}_beside_{word}"), change));
        }
        Ok(all)
    }
}

/// The change of a cell in half a step by what flows out of it along an axis.
fn half_of_outflow(of: &Algebra<'_, '_>, out: &Poly, axis: usize) -> Result<Poly> {
    of.scaled(&of.times_step(out, axis)?, -1, 2)
}

/// The factor `n/2 - n²/3` of a curvature in the mean over the part of a cell that a wave crosses in a step, with its Courant number
/// `n` toward the face, and zero for a wave that goes away (Colella and Woodward, J. Comput. Phys. 54, 174, 1984, Eq. 1.12).
fn crossed(of: &mut Algebra<'_, '_>, toward: &Poly, axis: usize) -> Result<Poly> {
    let toward = of.max(toward, &Poly::default());
    let number = of.times_step(&toward, axis)?;
    let number = of.whole("crossed", number);
    let rest = of.minus(&of.number(1, 2), &of.scaled(&number, 1, 3)?)?;
    let rest = of.whole("not_crossed", rest);
    let share = of.times(&number, &rest)?;
    Ok(of.whole("crossing", share))
}

/// A change as one rounded value.
fn whole_unless_nothing(of: &mut Algebra<'_, '_>, name: String, change: Poly) -> Poly {
    if change.0.is_empty() { change } else { of.whole(name, change) }
}
