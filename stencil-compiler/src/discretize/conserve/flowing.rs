//! The declared fluxes of states.

use super::{AXES, Law};
use crate::discretize::expand::{Expander, Result, States, Tensor};
use crate::discretize::poly::Poly;
use crate::model::Flux;

impl Law<'_> {
    /// The flux along an axis of each conserved component, in these states of all components.
    pub(super) fn fluxes(
        &self,
        expander: &mut Expander<'_>,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<Vec<Poly>> {
        expander.in_states(states, label, |expander| self.flowing(expander, axis, label))
    }

    /// The same by calls of one function for all states, if that is expensive: of solvers that evaluate fluxes in several states.
    pub(super) fn fluxes_called(
        &self,
        expander: &mut Expander<'_>,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<Vec<Poly>> {
        let name = format!("fluxes_{}", AXES[axis]);
        // Fluxes may read sources, whose values are those at the place of the states.
        let span = self.model.fluxes[0].span;
        let sources: Result<Vec<Tensor>> = expander.in_states(states, label, |expander| {
            (0..self.model.sources.len()).map(|at| expander.source(at, span)).collect()
        });
        let sources = sources?;
        let given: Vec<Poly> =
            states.components.iter().chain(sources.iter().flatten()).cloned().collect();
        let make = |inner: &mut Expander<'_>, given: &[Poly]| {
            let (components, mut rest) = given.split_at(states.components.len());
            let mut states = States { components: components.to_vec(), ..States::default() };
            for source in &sources {
                let (own, others) = rest.split_at(source.len());
                states.sources.push(own.to_vec());
                rest = others;
            }
            self.fluxes(inner, &states, axis, "called")
        };
        let Some(called) = expander.of_states(&name, &given, &make)? else {
            return self.fluxes(expander, states, axis, label);
        };
        let called = self.components_conserved().into_iter().zip(called);
        let named = called.map(|(component, flux)| self.named(expander, component, flux, label));
        let named = named.collect();
        Ok(together(expander, named, label))
    }

    /// The fluxes in the states that the expander is in.
    pub(super) fn flowing(
        &self,
        expander: &mut Expander<'_>,
        axis: usize,
        label: &str,
    ) -> Result<Vec<Poly>> {
        let mut all = Vec::new();
        for flux in &self.model.fluxes {
            let row = self.row(expander, flux, axis)?;
            for (at, component) in self.components_of(flux.field) {
                all.push(self.named(expander, component, row[at].clone(), label));
            }
        }
        Ok(together(expander, all, label))
    }

    /// The flux of a component with its name.
    fn named(
        &self,
        expander: &mut Expander<'_>,
        component: usize,
        flux: Poly,
        label: &str,
    ) -> (String, Poly) {
        let name = format!("{}_flux_{label}", self.components.fields[component]);
        let flux = expander.atoms.name(&name, flux);
        (name, flux)
    }

    /// The flux of a field along an axis, entry by entry.
    pub(super) fn row(
        &self,
        expander: &mut Expander<'_>,
        flux: &Flux,
        axis: usize,
    ) -> Result<Vec<Poly>> {
        if let Some(along) = flux.along_normal(axis, self.model.components) {
            let row = expander.term(&along)?;
            expander.check_symmetry(flux.field, &row, flux.span)?;
            return Ok(row);
        }
        let count = self.components.of_field(flux.field).len();
        Ok(expander.term(&flux.value)?[axis * count..][..count].to_vec())
    }
}

/// The fluxes of one state, which share a name.
fn together(expander: &mut Expander<'_>, named: Vec<(String, Poly)>, label: &str) -> Vec<Poly> {
    let fluxes = named.iter().map(|(_, flux)| flux.clone()).collect();
    expander.atoms.labels.together(format!("flux_{label}"), named);
    fluxes
}
