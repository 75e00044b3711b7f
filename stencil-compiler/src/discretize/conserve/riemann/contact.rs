//! The middle wave of a law whose fluxes are advection and the work of a pressure.

use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::atoms::Atom;
use crate::discretize::conserve::rational::{Quotient, Refused};
use crate::discretize::conserve::{AXES, Law};
use crate::discretize::expand::{Expander, Result, States, overflow};
use crate::discretize::poly::{Overflow, Poly, Uniform, UniformFactor};
use crate::model::{Flux, TermKind, Waves};

/// The factor of the pressure in the flux of a component (Toro 2009, Eq. 10.74): a number for the momentum along the
/// axis, the flow times a number for the energy, and zero for the density.
pub(in crate::discretize::conserve) enum Work {
    Number(Uniform),
    Flow(Uniform),
}

/// The data of one side of a contact.
pub(in crate::discretize::conserve) struct Contact {
    pub(super) density: Poly,
    /// Along the axis.
    pub(super) flow: Poly,
    pub(super) pressure: Poly,
}

impl Contact {
    /// The same, with each value mapped.
    pub(in crate::discretize::conserve) fn map(&self, mut seen: impl FnMut(&Poly) -> Poly) -> Self {
        Contact {
            density: seen(&self.density),
            flow: seen(&self.flow),
            pressure: seen(&self.pressure),
        }
    }
}

impl Law<'_> {
    /// Density, flow along an axis and pressure in these states, if the system declares them.
    pub(in crate::discretize::conserve) fn contact(
        &self,
        expander: &mut Expander<'_>,
        waves: &Waves,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<Option<Contact>> {
        let (Some(density), Some(flow), Some(pressure)) =
            (&waves.density, &waves.flow, &waves.pressure)
        else {
            return Ok(None);
        };
        expander.in_states(states, label, |expander| {
            let mut named = |name: &str, term, at: usize| -> Result<Poly> {
                let value = expander.term(term)?[at].clone();
                Ok(expander.atoms.name(format!("{name}_{label}"), value))
            };
            Ok(Some(Contact {
                density: named("density", density, 0)?,
                flow: named("flow", flow, axis)?,
                pressure: named("pressure", pressure, 0)?,
            }))
        })
    }

    /// The factor of the pressure in the flux of each conserved component along an axis.
    ///
    /// # Errors
    /// If a flux is not the flow times the conserved component, and the pressure times a number or the flow.
    pub(in crate::discretize::conserve) fn work(&self, axis: usize) -> Result<Vec<Work>> {
        let Some(waves) = &self.model.waves else {
            return Ok(Vec::new());
        };
        let (Some(flow), Some(pressure)) = (&waves.flow, &waves.pressure) else {
            return Ok(Vec::new());
        };
        let TermKind::Let(pressure) = pressure.kind else {
            return Ok(Vec::new());
        };
        let mut expander = self.expander_for_forms()?;
        let beyond = self.components.fields.len() + self.components.sources.len();
        let free = expander.atoms.intern(Atom::State(beyond));
        let states =
            States { lets: [(pressure, vec![Poly::atom(free)])].into(), ..States::default() };
        expander.in_states(&states, "form", |expander| {
            let flow = expander.term(flow)?[axis].clone();
            let mut all = Vec::new();
            for flux in &self.model.fluxes {
                let row = self.row(expander, flux, axis)?;
                for (at, component) in self.components_of(flux.field) {
                    let conserved = expander.atoms.state(component);
                    let work = work(expander, &row[at], [&flow, &conserved], free);
                    let name = &self.components.fields[component];
                    all.push(work.map_err(|refused| error(flux, name, axis, refused))?);
                }
            }
            Ok(all)
        })
    }
}

/// The coefficient of the pressure, a free atom, in a flux whose rest is the flow times the conserved component.
fn work(
    expander: &Expander<'_>,
    flux: &Poly,
    [flow, conserved]: [&Poly; 2],
    pressure: u32,
) -> std::result::Result<Work, Option<Refused>> {
    let atoms = &expander.atoms;
    let flow = Quotient::of(flow, atoms)?;
    let advected = flow.times(&Quotient::of(conserved, atoms)?)?;
    let flux = Quotient::of(flux, atoms)?;
    let [rest, by] = flux.linear_in(pressure, atoms).ok_or(None)?;
    let is_own = |factor: &Uniform| {
        let mut factors = factor.0.keys().flat_map(|monomial| monomial.keys());
        factors.all(|factor| !matches!(factor, UniformFactor::Opaque(_)))
    };
    if rest.multiple_of(&advected)? != Some(Uniform::one()) {
        return Err(None);
    }
    let one = Quotient::of(&Poly::uniform(Uniform::one()), atoms)?;
    if let Some(factor) = by.multiple_of(&one)?.filter(is_own) {
        return Ok(Work::Number(factor));
    }
    let factor = by.multiple_of(&flow)?.filter(is_own);
    factor.map(Work::Flow).ok_or(None)
}

fn error(flux: &Flux, name: &str, axis: usize, refused: Option<Refused>) -> DiscretizeError {
    let span = flux.value.span;
    match refused {
        Some(Refused::Range) => overflow(span)(Overflow),
        Some(Refused::Large) | None => {
            let why = match refused {
                Some(_) => "has too many terms to see that it is",
                None => "is not",
            };
            let along = AXES[axis];
            let message = format!(
                "the flux of `{name}` along {along} {why} `flow * {name}` and the pressure times a number or \
                 the flow, as `hllc` needs it; write it with the `let` that `waves` names as the pressure, or choose `hll`"
            );
            DiscretizeError::new(Code::NotContactForm, span, message)
        }
    }
}
