//! Conservation laws: the divergence of a flux as differences of what flows through faces of cells.
//!
//! For each axis, a reconstruction gives the states of a cell at its two faces, the law the fluxes and
//! speeds of waves of these states, and a Riemann solver the flux through a face from the states on
//! both sides of it. All of these are grid functions at cells; those of faces belong to the cell
//! below. So a schedule recomputes, shares or stores them like any other.

use super::components::Components;
use super::expand::{Expander, Result, States, overflow};
use super::poly::{Poly, Uniform};
use crate::diag::{Code, Span};
use crate::model::{Flux, Model, Term, Waves};

mod algebra;
pub(crate) mod limiters;
mod rational;
pub(crate) mod reconstruct;
pub(crate) mod riemann;
mod states;
#[cfg(test)]
mod tests;
mod undone;

use algebra::Algebra;
use riemann::{Face, Side};

use super::DiscretizeError;

const AXES: [&str; 3] = ["x", "y", "z"];

/// What the fluxes of a model give to the rate of each component of a field, with the place of the flux;
/// nothing for components without one.
///
/// # Errors
/// Where coefficients leave the range of exact numbers, or the scheme names what is not there.
pub(super) fn rates(
    model: &Model,
    components: &Components,
    expander: &mut Expander<'_>,
) -> Result<Vec<Option<(Poly, Span)>>> {
    let mut rates = vec![None; components.fields.len()];
    let Some(first) = model.fluxes.first() else {
        return Ok(rates);
    };
    let law = Law::new(model, components, first.span)?;
    if let Some(primitives) = &model.primitives {
        law.check_way_back(primitives)?;
    }
    for axis in 0..model.dimension {
        let through = law.through(expander, axis)?;
        for ((component, span), flux) in law.conserved().zip(through) {
            let atom = expander
                .atoms
                .outflow(axis, &flux)
                .map_err(overflow(span))?;
            let (sum, _) = rates[component].take().unwrap_or_default();
            let rate = sum.plus(&atom.negated()).map_err(overflow(span))?;
            rates[component] = Some((rate, span));
        }
    }
    Ok(rates)
}

/// The fluxes of a model, and the scheme that takes their divergence.
pub(super) struct Law<'a> {
    model: &'a Model,
    components: &'a Components,
    solver: &'static riemann::Solver,
    reconstruction: &'static reconstruct::Reconstruction,
    limiter: limiters::Limiter,
}

impl<'a> Law<'a> {
    fn new(model: &'a Model, components: &'a Components, span: Span) -> Result<Self> {
        let scheme = &model.scheme;
        let unknown = |what: &str, name: &str| {
            DiscretizeError::new(Code::UnknownChoice, span, format!("no {what} `{name}`"))
        };
        Ok(Law {
            model,
            components,
            solver: riemann::find(&scheme.riemann)
                .ok_or_else(|| unknown("Riemann solver", &scheme.riemann))?,
            reconstruction: reconstruct::find(&scheme.reconstruct)
                .ok_or_else(|| unknown("reconstruction", &scheme.reconstruct))?,
            limiter: limiters::find(&scheme.limiter)
                .ok_or_else(|| unknown("limiter", &scheme.limiter))?,
        })
    }

    /// The components that are conserved, each with the place of its flux, in order.
    fn conserved(&self) -> impl Iterator<Item = (usize, Span)> + '_ {
        self.model.fluxes.iter().flat_map(|flux| {
            let entries = self.components.of_field(flux.field).iter();
            entries.filter_map(|entry| Some((entry.as_ref()?.0, flux.span)))
        })
    }

    /// The numbers of the components that are conserved.
    fn components_conserved(&self) -> Vec<usize> {
        self.conserved().map(|(component, _)| component).collect()
    }

    /// The flux of each conserved component through the upper face of a cell along an axis.
    fn through(&self, expander: &mut Expander<'_>, axis: usize) -> Result<Vec<Poly>> {
        let span = self.model.fluxes[0].span;
        let [below, above] = self.at_faces(expander, axis)?;
        let sides = [
            self.side(expander, below, axis, "upper", 0)?,
            self.side(expander, above, axis, "lower", 1)?,
        ];
        let names = self
            .conserved()
            .map(|(component, _)| format!("{}_{}", self.components.fields[component], AXES[axis]));
        let mut face = Face {
            algebra: Algebra { expander, span },
            law: self,
            axis,
            names: names.collect(),
            sides,
        };
        (self.solver.flux)(&mut face)
    }

    /// What is known on one side of a face: `ahead` cells along the axis from the cell below it.
    fn side(
        &self,
        expander: &mut Expander<'_>,
        states: States,
        axis: usize,
        label: &str,
        ahead: i32,
    ) -> Result<Side> {
        let label = format!("{}_{label}", AXES[axis]);
        let fluxes = self.fluxes(expander, &states, axis, &label)?;
        let waves = match &self.model.waves {
            None => None,
            Some(waves) => Some(self.speeds(expander, waves, &states, (axis, &label))?),
        };
        let knows = self.solver.needs == riemann::Needs::Contact;
        let contact = match self.model.waves.as_ref().filter(|_| knows) {
            None => None,
            Some(waves) => self.contact(expander, waves, &states, (axis, &label))?,
        };
        let mut seen = |poly: &Poly| expander.atoms.at(poly, axis, ahead);
        let states = &states.components;
        let conserved = self.conserved().map(|(component, _)| &states[component]);
        Ok(Side {
            conserved: conserved.map(&mut seen).collect(),
            states: states.iter().map(&mut seen).collect(),
            fluxes: fluxes.iter().map(&mut seen).collect(),
            waves: waves.map(|waves| waves.each_ref().map(&mut seen)),
            contact: contact.map(|contact| contact.map(&mut seen)),
        })
    }

    /// The slowest and the fastest wave along an axis in these states.
    fn speeds(
        &self,
        expander: &mut Expander<'_>,
        waves: &Waves,
        states: &States,
        (axis, label): (usize, &str),
    ) -> Result<[Poly; 2]> {
        let both = expander.in_states(states, label, |expander| {
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
        });
        let [flow, sound] = both?;
        let mut bound = |name: &str, sound: &Poly| {
            let speed = flow.plus(sound).map_err(overflow(waves.span))?;
            Ok(expander.atoms.name(&format!("{name}_{label}"), speed))
        };
        Ok([
            bound("slowest", &sound.negated())?,
            bound("fastest", &sound)?,
        ])
    }

    /// The flux along an axis of each conserved component, in these states of all components.
    pub(super) fn fluxes(
        &self,
        expander: &mut Expander<'_>,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<Vec<Poly>> {
        expander.in_states(states, label, |expander| {
            let mut all = Vec::new();
            for flux in &self.model.fluxes {
                all.extend(self.flux(expander, flux, axis, label)?);
            }
            Ok(all)
        })
    }

    fn flux(
        &self,
        expander: &mut Expander<'_>,
        flux: &Flux,
        axis: usize,
        label: &str,
    ) -> Result<Vec<Poly>> {
        let flowing = expander.term(&flux.value)?;
        let entries = self.components.of_field(flux.field);
        let row = &flowing[axis * entries.len()..][..entries.len()];
        let own = entries.iter().zip(row).filter_map(|(entry, value)| {
            let name = &self.components.fields[entry.as_ref()?.0];
            Some((format!("{name}_flux_{label}"), value.clone()))
        });
        Ok(own
            .map(|(name, value)| expander.atoms.name(&name, value))
            .collect())
    }
}

fn half() -> Uniform {
    Uniform::number(crate::model::Rational::new(1, 2))
}
