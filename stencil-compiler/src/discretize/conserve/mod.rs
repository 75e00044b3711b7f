//! Conservation laws: the divergence of a flux as differences of fluxes through faces of cells.
//!
//! For each axis, a reconstruction gives the states of a cell at its two faces, the law the fluxes and
//! speeds of waves of these states, and a Riemann solver the flux through a face from the states on
//! both sides of it. All of these are grid functions at cells; those of faces belong to the cell
//! below. So a schedule recomputes, shares or stores them like any other.

use super::components::Components;
use super::expand::{Expander, Result, States, overflow};
use super::fractional_steps::fractional_steps;
use super::poly::{Poly, Uniform};
use crate::catalogue::Rank;
use crate::catalogue::riemann::{self as rows, Needs};
use crate::diag::{Code, Span};
use crate::model::{Averaged, Model, Sweep, Term, TermKind, Variables, Waves};

mod algebra;
mod at_face;
mod average;
mod blocks;
mod bounds;
mod check_round_trip;
mod edges;
mod families;
mod flowing;
mod fluxes;
mod forecast;
mod gradient;
pub(crate) mod limiters;
mod mid_step;
mod products;
mod ranges;
mod rational;
pub(crate) mod reconstruct;
pub(crate) mod riemann;
mod rounding;
mod sample;
mod spectrum;
mod states;
mod tangent;
mod terms;
#[cfg(test)]
mod tests;
mod waves;

use algebra::Algebra;
use at_face::FaceFlux;
use blocks::Block;
use families::WaveKinds;
use forecast::AtFaces;
pub(super) use rational::are_equal;
use riemann::{Face, Side};
pub(super) use rounding::bounds;

use super::{DerivedWaves, DiscretizeError};

const AXES: [&str; 3] = ["x", "y", "z"];

/// The contribution of a flux along an axis to the rate of a component.
pub(super) struct Outflow {
    /// The axis; one beyond the last for a contribution of no axis.
    pub(super) axis: usize,
    pub(super) component: usize,
    pub(super) rate: Poly,
    /// The place of the flux in the text.
    pub(super) span: Span,
}

/// The contributions of the fluxes of a model to the rates, axis by axis; and for each Euler step the number of upper
/// faces of a cell whose flux was repaired, if the model has ranges. `rest` holds the other terms of each component.
///
/// # Errors
/// If coefficients leave the range of exact numbers, or the scheme names an unknown row.
pub(super) fn rates(
    model: &Model,
    components: &Components,
    expander: &mut Expander<'_>,
    rest: &[Poly],
) -> Result<(Vec<Outflow>, Vec<Poly>)> {
    let (mut all, mut repairs) = (Vec::new(), Vec::new());
    let Some(first) = model.fluxes.first() else {
        return Ok((all, repairs));
    };
    let mut law = Law::new(model, components, first.span)?;
    if fractional_steps(model, false).all.iter().any(|part| part.rest && !part.axes.is_empty()) {
        law.rest = rest.to_vec();
    }
    if let Some(at_face) = &model.at_face {
        law.check_at_face(at_face)?;
    }
    let average = model.average.as_ref().map(|average| &average.of);
    let primitives = model.primitives.iter().map(|all| ("primitives", all));
    for (what, follow) in primitives.chain(average.map(|all| ("averages", all))) {
        law.check_round_trip(what, follow)?;
    }
    law.check_products()?;
    law.check_declared()?;
    law.check_transport(expander)?;
    let mut through = law.through_faces(expander)?;
    let parts = fractional_steps(model, rest.iter().all(|rate| rate.0.is_empty())).all;
    let mut failures = Vec::new();
    for part in &parts {
        failures.push(law.failures(expander, &part.axes)?);
    }
    if model.repairs() {
        let lower = ranges::lower(model);
        let lower = Law::new(&lower, components, first.span).map_err(|mut error| {
            if error.code == Code::NeedsWaves {
                error.message += "; fluxes that keep ranges need the speeds, too, and `repair: none` does without";
            }
            error
        })?;
        let repaired = lower.repair(expander, &law, through, rest)?;
        through = repaired.through;
        let lost = law.conserved().next();
        for mark in repaired.marks {
            repairs.push(mark.repaired);
            // One component suffices: no cell may hold NaN.
            all.extend(lost.map(|(component, span)| Outflow {
                axis: mark.axis,
                component,
                rate: mark.lost,
                span,
            }));
        }
    }
    if failures.iter().any(Option::is_some) {
        repairs.resize(parts.len(), Poly::default());
        for (repaired, failures) in repairs.iter_mut().zip(failures) {
            *repaired =
                repaired.plus(&failures.unwrap_or_default()).map_err(overflow(first.span))?;
        }
    }
    all.extend(law.outflows(expander, through)?);
    Ok((all, repairs))
}

/// The contributions of fluxes between the means of cells, by the solver of the scheme.
///
/// # Errors
/// As those of [`rates`].
pub(super) fn first_order(
    model: &Model,
    components: &Components,
    expander: &mut Expander<'_>,
) -> Result<Vec<Outflow>> {
    let Some(first) = model.fluxes.first() else {
        return Ok(Vec::new());
    };
    let of_means = ranges::of_means(model);
    let law = Law::new(&of_means, components, first.span)?;
    let through = law.through_faces(expander)?;
    law.outflows(expander, through)
}

/// The speeds of all waves of a model with fluxes, or bounds of them, from these alone.
pub(super) fn derived_waves(
    model: &Model,
    components: &Components,
    span: Span,
) -> Option<DerivedWaves> {
    let bare = bare(model);
    let law = Law::new(&bare, components, span).ok()?;
    let error = match law.derived_waves() {
        Ok(waves) => return Some(DerivedWaves { waves, only_bounds: None, blocks: Vec::new() }),
        Err(error) => error,
    };
    // The error, without the way out.
    let why = error.message.split(';').next().map(str::to_string);
    let waves = law.bounding_waves(error).ok()?;
    let blocks = law.derived_blocks().ok()?.unwrap_or_default();
    let only_bounds = why.filter(|_| blocks.is_empty());
    Some(DerivedWaves { waves, only_bounds, blocks: law.named_blocks(&blocks) })
}

/// The model with a scheme without needs.
fn bare(model: &Model) -> Model {
    let mut bare = model.clone();
    bare.scheme.riemann = rows::FORCE.name.to_string();
    bare.scheme.variables = Variables::Conserved;
    bare.scheme.traces = false;
    bare.at_face = None;
    bare
}

/// Do the fluxes of a model consist of what the flow carries, and of the work of its declared pressure?
pub(super) fn carries_contact(model: &Model, components: &Components, span: Span) -> bool {
    let bare = bare(model);
    let law = Law::new(&bare, components, span);
    law.is_ok_and(|law| (0..model.dimension).all(|axis| law.work(axis).is_ok()))
}

/// The fluxes of a model, and the scheme that takes their divergence.
pub(super) struct Law<'a> {
    model: &'a Model,
    components: &'a Components,
    solver: &'static riemann::Method,
    reconstruction: &'static reconstruct::Rule,
    limiter: limiters::Limiter,
    /// The speeds of waves, declared or derived; nothing where no one asks for them.
    waves: Option<Waves>,
    /// The kinds of waves along each axis, if the speeds are those of all waves.
    kinds: Vec<WaveKinds>,
    /// Along each axis the blocks that have waves of their own, if the law has several sounds; else empty.
    blocks: Vec<Vec<Block>>,
    /// The states that Riemann problems are solved between.
    at_faces: AtFaces,
    /// The terms of each component that go into one step with the fluxes beside them.
    rest: Vec<Poly>,
}

impl<'a> Law<'a> {
    /// The law of a model with fluxes, the first of which is at `span`.
    fn new(model: &'a Model, components: &'a Components, span: Span) -> Result<Self> {
        let scheme = &model.scheme;
        let unknown = |what: &str, name: &str| {
            DiscretizeError::new(Code::UnknownChoice, span, format!("no {what} `{name}`"))
        };
        let mut law = Law {
            model,
            components,
            solver: model
                .solver(scheme)
                .and_then(riemann::method)
                .ok_or_else(|| unknown("Riemann solver", &scheme.riemann))?,
            reconstruction: reconstruct::find(&scheme.reconstruct)
                .ok_or_else(|| unknown("reconstruction", &scheme.reconstruct))?,
            limiter: limiters::find(&scheme.limiter)
                .ok_or_else(|| unknown("limiter", &scheme.limiter))?,
            waves: model.waves.clone(),
            kinds: vec![WaveKinds { flow: true, sound: true }; model.dimension],
            blocks: Vec::new(),
            at_faces: AtFaces::of(model),
            rest: vec![Poly::default(); components.fields.len()],
        };
        let by_families = scheme.variables == Variables::Characteristic;
        let needs_all = by_families || scheme.traces || law.solver.row.needs == Needs::All;
        let needs = law.solver.row.needs;
        if law.waves.is_none() && (needs_all || needs != Needs::Nothing) {
            law.waves = Some(match law.derived_waves() {
                // Bounds do where waves are not taken apart.
                Err(error) if !needs_all && error.code == Code::NeedsWaves => {
                    let radius = model.declared_radius().filter(|_| needs == Needs::Radius);
                    law.bounding_waves(error).or_else(|error| radius.ok_or(error))?
                }
                Err(error) if error.code == Code::NeedsWaves => match law.derived_blocks()? {
                    Some(blocks) => {
                        law.blocks = blocks;
                        law.bounding_waves(error)?
                    }
                    None => return Err(error),
                },
                derived => derived?,
            });
        }
        if let Some(waves) = law.waves.as_ref().filter(|_| needs_all && law.blocks.is_empty()) {
            law.kinds = law.kinds_of(waves)?;
        }
        Ok(law)
    }

    /// The components that are conserved, each with the place of its flux, in order.
    fn conserved(&self) -> impl Iterator<Item = (usize, Span)> + '_ {
        self.model.fluxes.iter().flat_map(|flux| {
            let own = self.components_of(flux.field);
            own.map(|(_, component)| (component, flux.span))
        })
    }

    /// A vector of entries along each axis; its other components are zero.
    fn vector(&self, mut entries: Vec<Term>, span: Span) -> Term {
        entries.resize(self.model.components, Term::integer(0, span));
        Term::of(TermKind::Stack(entries), Rank::Vector, span)
    }

    /// The numbers of the components that are conserved.
    fn components_conserved(&self) -> Vec<usize> {
        self.conserved().map(|(component, _)| component).collect()
    }

    /// The contributions of fluxes through upper faces, axis by axis.
    fn outflows(
        &self,
        expander: &mut Expander<'_>,
        through: Vec<Vec<FaceFlux>>,
    ) -> Result<Vec<Outflow>> {
        let mut all = self.through_edges(expander, &through)?;
        for (axis, through) in through.into_iter().enumerate() {
            for ((component, span), flux) in self.conserved().zip(through) {
                if self.is_transported(component) {
                    continue;
                }
                let atom = expander.atoms.outflow(axis, &flux.leaving, &flux.entering);
                let rate = atom.map_err(overflow(span))?.negated();
                all.push(Outflow { axis, component, rate, span });
            }
        }
        Ok(all)
    }

    /// The flux of each conserved component through the upper face of a cell along each axis.
    fn through_faces(&self, expander: &mut Expander<'_>) -> Result<Vec<Vec<FaceFlux>>> {
        let axes = 0..self.model.dimension;
        if !self.reconstruction.row.propagates {
            let through = axes.map(|axis| {
                let mut face = self.face(expander, axis)?;
                let fluxes = face.solved()?;
                self.through(expander, fluxes, axis)
            });
            return through.collect();
        }
        let propagated: Result<Vec<_>> = axes
            .map(|axis| {
                let mut face = self.face(expander, axis)?;
                let solved = face.solved()?;
                self.propagate(&mut face, solved)
            })
            .collect();
        let propagated = propagated?;
        let fluxes = match self.model.scheme.sweep {
            Sweep::Unsplit => self.sideways(expander, &propagated)?,
            Sweep::Dimensional | Sweep::Strang | Sweep::Alternating => {
                propagated.into_iter().map(|propagated| propagated.fluxes).collect()
            }
        };
        let through = fluxes.into_iter().enumerate();
        through.map(|(axis, fluxes)| self.through(expander, fluxes, axis)).collect()
    }

    /// The upper face of a cell along an axis, with the data of both sides.
    fn face<'f, 'e>(
        &'f self,
        expander: &'f mut Expander<'e>,
        axis: usize,
    ) -> Result<Face<'f, 'f, 'e>> {
        let span = self.model.fluxes[0].span;
        let own = self.at_faces(expander, axis)?;
        let [of_below, of_above] = self.fluxes_at_faces(expander, axis)?;
        let sides = match &self.model.at_face {
            None => {
                let [below, above] = own;
                [
                    self.side(expander, below, of_below, axis, "upper", 0)?,
                    self.side(expander, above, of_above, axis, "lower", 1)?,
                ]
            }
            Some(at_face) => {
                let own = self.seen_from_below(expander, own, axis);
                let [below, above] = self.star_states(expander, at_face, own, axis)?;
                [
                    self.side(expander, below, None, axis, "below", 0)?,
                    self.side(expander, above, None, axis, "above", 0)?,
                ]
            }
        };
        let names = self
            .conserved()
            .map(|(component, _)| format!("{}_{}", self.components.fields[component], AXES[axis]));
        let (names, algebra) = (names.collect(), Algebra { expander, span });
        let mut face = Face { algebra, law: self, axis, names, sides };
        self.add_products(&mut face)?;
        Ok(face)
    }

    /// The data of one side of a face: `ahead` cells along the axis from the cell below it. Fluxes are those of the
    /// states, or reconstructed.
    fn side(
        &self,
        expander: &mut Expander<'_>,
        states: States,
        fluxes: Option<Vec<Poly>>,
        axis: usize,
        label: &str,
        ahead: i32,
    ) -> Result<Side> {
        let label = format!("{}_{label}", AXES[axis]);
        let fluxes = match fluxes {
            Some(reconstructed) => reconstructed,
            None => self.fluxes(expander, &states, axis, &label)?,
        };
        let waves = match &self.waves {
            None => None,
            Some(waves) => Some(self.speeds(expander, waves, &states, axis, &label)?),
        };
        let mut of_blocks = Vec::new();
        for (number, block) in self.blocks.get(axis).into_iter().flatten().enumerate() {
            let label = format!("{label}_{number}");
            of_blocks.push(self.speeds(expander, &block.waves, &states, axis, &label)?);
        }
        let knows = self.solver.row.needs == Needs::Contact;
        let contact = match self.waves.as_ref().filter(|_| knows) {
            None => None,
            Some(waves) => self.contact(expander, waves, &states, axis, &label)?,
        };
        let row = self.solver.row;
        // Declared waves are split sideways between both sides.
        let splits = row.takes_apart && self.reconstruction.row.propagates;
        let weighed = match (row.needs, self.model.scheme.average) {
            (Needs::Nothing | Needs::Radius | Needs::Speeds, _) if !splits => Vec::new(),
            (_, Averaged::Faces) => self.weighed(expander, &states, &label)?,
            (_, Averaged::Cells) => {
                let [cell, _] = self.cells(expander, axis);
                self.weighed(expander, &cell, &format!("{}_cell", AXES[axis]))?
            }
        };
        let mut seen = |poly: &Poly| expander.atoms.at(poly, axis, ahead);
        let states = &states.components;
        let conserved = self.conserved().map(|(component, _)| &states[component]);
        Ok(Side {
            conserved: conserved.map(&mut seen).collect(),
            states: states.iter().map(&mut seen).collect(),
            fluxes: fluxes.iter().map(&mut seen).collect(),
            waves: waves.map(|waves| waves.each_ref().map(&mut seen)),
            of_blocks: of_blocks.iter().map(|waves| waves.each_ref().map(&mut seen)).collect(),
            contact: contact.map(|contact| contact.map(&mut seen)),
            weighed: weighed.iter().map(|value| value.map(&mut seen)).collect(),
        })
    }

    /// The speeds of flow and sound along an axis in these states.
    fn flow_and_sound(
        &self,
        expander: &mut Expander<'_>,
        waves: &Waves,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<[Poly; 2]> {
        expander.in_states(states, label, |expander| {
            let mut along = |speed: &Option<Term>, name: &str| -> Result<Poly> {
                let Some(speed) = speed else {
                    return Ok(Poly::default());
                };
                let entries = expander.term(speed)?;
                let entry = if entries.len() == 1 { 0 } else { axis };
                let name = format!("{name}_{label}");
                Ok(expander.atoms.name(&name, entries[entry].clone()))
            };
            Ok([along(&waves.flow, "flow")?, along(&waves.sound, "sound")?])
        })
    }

    /// The slowest and the fastest wave along an axis in these states.
    fn speeds(
        &self,
        expander: &mut Expander<'_>,
        waves: &Waves,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<[Poly; 2]> {
        let [flow, sound] = self.flow_and_sound(expander, waves, states, axis, label)?;
        let mut bound = |name: &str, sound: &Poly| {
            let speed = flow.plus(sound).map_err(overflow(waves.span))?;
            Ok(expander.atoms.name(format!("{name}_{label}"), speed))
        };
        Ok([bound("slowest", &sound.negated())?, bound("fastest", &sound)?])
    }
}

fn half() -> Uniform {
    Uniform::number(crate::expr::Rational::new(1, 2))
}
