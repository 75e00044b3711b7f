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
        let names = self
            .conserved()
            .map(|(component, _)| format!("{}_flux_{label}", self.components.fields[component]));
        let all: Vec<(String, Poly)> = names.zip(called).collect();
        let all = expander.name_all(format!("flux_{label}"), all.into_iter());
        Ok(all)
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
            all.extend(self.flux(expander, flux, axis, label)?);
        }
        expander.atoms.labels.together(format!("flux_{label}"), all.clone());
        Ok(all.into_iter().map(|(_, value)| value).collect())
    }

    /// The flux of one field, with names.
    fn flux(
        &self,
        expander: &mut Expander<'_>,
        flux: &Flux,
        axis: usize,
        label: &str,
    ) -> Result<Vec<(String, Poly)>> {
        let row = self.row(expander, flux, axis)?;
        let own = self.components_of(flux.field).map(|(at, component)| {
            let name = &self.components.fields[component];
            (format!("{name}_flux_{label}"), row[at].clone())
        });
        Ok(own
            .map(|(name, value)| {
                let value = expander.atoms.name(&name, value);
                (name, value)
            })
            .collect())
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
