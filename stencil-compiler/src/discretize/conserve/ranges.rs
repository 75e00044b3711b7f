//! Repair of fluxes, so that conserved fields keep their ranges.
//!
//! An Euler step of a cell is the mean of its updates by each of its faces alone: of `u - 2 d dt/dx (F - f(u))`, where
//! F is the flux through the upper face along one of d axes and f(u) that of the cell, and the same below. If one of
//! both cells of a face would leave a range by it, or a state at the face has left one already, Rusanov's flux between
//! the means of these cells takes its place, which keeps densities and pressures positive while `2 d dt/dx` times the
//! greatest speed is no more than one (Perthame and Shu, Numer. Math. 73, 119, 1996; Hu, Adams and Shu, J. Comput.
//! Phys. 242, 169, 2013). All values are grid functions: both states, the mark of the face, the flux. Integrators made
//! of Euler steps take means of such steps, and stay in a convex set with them; the convexity of the ranges is not
//! checked.

use super::algebra::Algebra;
use super::at_face::FaceFlux;
use super::riemann::Face;
use super::{AXES, Law};
use crate::catalogue::{reconstructions, riemann};
use crate::discretize::expand::{Expander, Result, States, overflow};
use crate::discretize::fractional_steps::{FractionalStep, fractional_steps};
use crate::discretize::poly::{Poly, Uniform, UniformFactor};
use crate::expr::Op;
use crate::model::{Averaged, Comparison, Model, Range, Variables};

/// Fluxes along each axis, and the marks of their repair.
pub(super) struct Repaired {
    /// The flux of each conserved component through the upper face of a cell, axis by axis.
    pub(super) through: Vec<Vec<FaceFlux>>,
    /// The marks of each Euler step.
    pub(super) marks: Vec<Marks>,
}

/// The marks of the cells in one Euler step.
pub(super) struct Marks {
    /// The number of its upper faces with a repaired flux.
    pub(super) repaired: Poly,
    /// NaN if the step leaves a range, else zero.
    pub(super) lost: Poly,
    /// The first of its axes; one beyond the last if it has none.
    pub(super) axis: usize,
}

/// The state of a cell and its fluxes.
struct CellState {
    /// All components.
    states: Vec<Poly>,
    /// The fluxes of the conserved components.
    fluxes: Vec<Poly>,
}

/// The scheme whose fluxes keep ranges.
pub(super) fn lower(model: &Model) -> Model {
    let mut lower = of_means(model);
    lower.scheme.riemann = riemann::RUSANOV.name.to_string();
    lower.scheme.riemann_parameter = None;
    lower.scheme.fallback = None;
    lower
}

/// The scheme with fluxes between the means of cells.
pub(super) fn of_means(model: &Model) -> Model {
    let mut lower = model.clone();
    lower.scheme.reconstruct = reconstructions::CONSTANT.name.to_string();
    lower.scheme.reconstruct_parameter = None;
    lower.scheme.traces = false;
    lower.scheme.average = Averaged::Faces;
    // Values shared by both sides of a face are made of primitives; and the energy in a cell goes with the field in it, not on a face.
    let of_primitives = lower.at_face.is_some() || lower.is_staggered();
    lower.scheme.variables = match of_primitives && lower.primitives.is_some() {
        true => Variables::Primitive,
        false => Variables::Conserved,
    };
    lower
}

impl Law<'_> {
    /// Fluxes that keep the ranges: those of the law `high`, given as `through`, if they do so by themselves, and those
    /// of this law elsewhere. `rest` holds the other terms of each component.
    pub(super) fn repair(
        &self,
        expander: &mut Expander<'_>,
        high: &Law<'_>,
        mut through: Vec<Vec<FaceFlux>>,
        rest: &[Poly],
    ) -> Result<Repaired> {
        let still = rest.iter().all(|rate| rate.0.is_empty());
        let parts = fractional_steps(self.model, still).all;
        let span = self.model.fluxes[0].span;
        let mut marks = Vec::new();
        for part in &parts {
            let axes = &part.axes;
            let mut repaired = Poly::default();
            for axis in axes {
                let mark;
                (mark, through[*axis]) =
                    self.at_upper_face(expander, high, &through[*axis], *axis, axes.len())?;
                repaired = repaired.plus(&mark).map_err(overflow(span))?;
            }
            let of = &mut Algebra { expander, span };
            let axis = axes.first().copied().unwrap_or(through.len());
            let states = self.after(of, &through, part, rest)?;
            let states = self.rounded_back(of, states, &through, part, rest)?;
            let label = format!("step_{}", AXES.get(axis).unwrap_or(&"rest"));
            let outside = self.outside(of, &states, &label)?;
            // The root of -1 is NaN, and that of -0, which is added to a rate, changes none of its bits.
            let lost = of.op(Op::Sqrt, &[&outside.negated()]);
            marks.push(Marks { repaired, lost, axis });
        }
        Ok(Repaired { through, marks })
    }

    /// The mark at the upper faces of cells: one if a state has left a range, or either cell would leave one by the
    /// flux `high`, else zero. With it come the fluxes, those of this law at marked faces. `axes` is the number of axes
    /// along which a step goes at once.
    fn at_upper_face(
        &self,
        expander: &mut Expander<'_>,
        law: &Law<'_>,
        high: &[FaceFlux],
        axis: usize,
        axes: usize,
    ) -> Result<(Poly, Vec<FaceFlux>)> {
        let mut marks = Vec::new();
        // Solvers may give anything for such states, without an effect in the cells or in the mirror.
        let states = law.at_faces(expander, axis)?;
        for ((states, ahead), word) in states.iter().zip([0, 1]).zip(["upper", "lower"]) {
            let span = self.model.fluxes[0].span;
            let label = format!("{}_{word}", AXES[axis]);
            let outside = self.outside(&mut Algebra { expander, span }, states, &label)?;
            marks.push(expander.atoms.at(&outside, axis, ahead));
        }
        let mut face = self.face(expander, axis)?;
        let low = face.solved()?;
        let low = self.through(face.algebra.expander, low, axis)?;
        let cells = self.cells_at(&mut face)?;
        for ((side, word), cell) in ["below", "above"].into_iter().enumerate().zip(&cells) {
            let states = self.by_face(&mut face, cell, high, side, word, axes)?;
            let label = format!("{}_{word}", AXES[axis]);
            marks.push(self.outside(&mut face.algebra, &states, &label)?);
        }
        let (names, of) = (&face.names, &mut face.algebra);
        let none = Poly::default();
        let mark = marks.iter().fold(none, |all, mark| of.max(&all, mark));
        let mark = of.expander.atoms.always_name(format!("repair_{}", AXES[axis]), mark);
        let pairs = names.iter().zip(low.iter().zip(high));
        let kept = pairs.map(|(name, (low, high))| {
            let mut kept = |low: &Poly, high: &Poly, word: &str| {
                let flux = of.op(Op::Lt, &[&Poly::default(), &mark, low, high]);
                let name = format!("{name}_{word}_kept");
                of.expander.atoms.always_name(&name, flux)
            };
            if high.leaving == high.entering && low.leaving == low.entering {
                return FaceFlux::plain(kept(&low.leaving, &high.leaving, "flux"));
            }
            FaceFlux {
                leaving: kept(&low.leaving, &high.leaving, "leaving"),
                entering: kept(&low.entering, &high.entering, "entering"),
            }
        });
        let kept = kept.collect();
        Ok((mark, kept))
    }

    /// The update of a cell at a face by that face alone.
    fn by_face(
        &self,
        face: &mut Face<'_, '_, '_>,
        own: &CellState,
        through: &[FaceFlux],
        side: usize,
        word: &str,
        axes: usize,
    ) -> Result<States> {
        let (axis, of) = (face.axis, &mut face.algebra);
        let mut states = States { components: own.states.clone(), ..States::default() };
        // The flux through the upper face leaves the cell below it.
        let sign = if side == 0 { -1 } else { 1 };
        for (at, component) in self.components_conserved().into_iter().enumerate() {
            let name = &face.names[at];
            let through = match side {
                0 => &through[at].leaving,
                _ => &through[at].entering,
            };
            let more = of.minus(through, &own.fluxes[at])?;
            let more = of.whole(format!("{name}_more_{word}"), more);
            let change = of.times_step(&more, axis)?;
            let change = of.scaled(&change, sign * 2 * axes as i128, 1)?;
            let name = format!("{name}_by_face_{word}");
            states.components[component] = of.onto(&own.states[component], &change, &name)?;
        }
        Ok(states)
    }

    /// The cells on both sides of a face, with their own fluxes.
    fn cells_at(&self, face: &mut Face<'_, '_, '_>) -> Result<[CellState; 2]> {
        let (axis, expander) = (face.axis, &mut *face.algebra.expander);
        // A cell has one flux of its own, whichever face it is seen from.
        let plain = self.model.at_face.is_none() && !self.has_products();
        if plain && !self.model.flows_by_sources() {
            return Ok(face.sides.each_ref().map(|side| CellState {
                states: side.states.clone(),
                fluxes: side.fluxes.clone(),
            }));
        }
        let [below, above] = self.cells(expander, axis);
        let label = format!("{}_cell", AXES[axis]);
        let fluxes = self.fluxes(expander, &below, axis, &label)?;
        let ahead = fluxes.iter().map(|flux| expander.atoms.at(flux, axis, 1));
        Ok([
            CellState { states: below.components, fluxes: fluxes.clone() },
            CellState { states: above.components, fluxes: ahead.collect() },
        ])
    }

    /// All components after one Euler step with these fluxes along some axes.
    fn after(
        &self,
        of: &mut Algebra<'_, '_>,
        through: &[Vec<FaceFlux>],
        part: &FractionalStep,
        rest: &[Poly],
    ) -> Result<States> {
        let fields = 0..self.components.fields.len();
        let mut states = States {
            components: fields.map(|i| of.expander.atoms.state(i)).collect(),
            ..States::default()
        };
        let dt = Uniform::power(UniformFactor::Dt, 1).times_number(part.share);
        for (at, component) in self.components_conserved().into_iter().enumerate() {
            let own = rest.get(component).filter(|_| part.rest);
            let mut rate = own.cloned().unwrap_or_default();
            for axis in &part.axes {
                let FaceFlux { leaving, entering } = &through[*axis][at];
                let out = of.expander.atoms.outflow(*axis, leaving, entering);
                rate = of.minus(&rate, &out.map_err(overflow(of.span))?)?;
            }
            let change = of.scaled_by(&rate, &dt)?;
            let name = format!("{}_stepped", self.components.fields[component]);
            let value = of.onto(&states.components[component], &change, &name)?;
            states.components[component] = value;
        }
        Ok(states)
    }

    /// One if states are outside of a range or NaN, else zero.
    pub(super) fn outside(
        &self,
        of: &mut Algebra<'_, '_>,
        states: &States,
        label: &str,
    ) -> Result<Poly> {
        let mut all: Option<Poly> = None;
        for range in &self.model.ranges {
            let beyond = self.beyond(of, range, states, label)?;
            all = Some(match all {
                Some(all) => of.max(&all, &beyond),
                None => beyond,
            });
        }
        let (name, all) = (format!("outside_{label}"), all.unwrap_or_default());
        Ok(of.expander.atoms.always_name(&name, all))
    }

    fn beyond(
        &self,
        of: &mut Algebra<'_, '_>,
        range: &Range,
        states: &States,
        label: &str,
    ) -> Result<Poly> {
        let value = of.expander.in_states(states, label, |expander| expander.term(&range.of))?;
        let bound = Poly::uniform(Uniform::number(range.bound));
        let value = value.into_iter().next().unwrap_or_default();
        let (low, high, op) = match range.comparison {
            Comparison::Greater => (bound, value, Op::Lt),
            Comparison::GreaterEqual => (bound, value, Op::Le),
            Comparison::Less => (value, bound, Op::Lt),
            Comparison::LessEqual => (value, bound, Op::Le),
        };
        let [zero, one] = [0, 1].map(|n| of.number(n, 1));
        Ok(of.op(op, &[&low, &high, &zero, &one]))
    }
}
