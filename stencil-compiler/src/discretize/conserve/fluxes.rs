//! Fluxes of states, and fluxes that are reconstructed themselves. The latter are conservative finite differences (Shu and Osher, J.
//! Comput. Phys. 77, 439, 1988; Shu, ICASE Report 97-65, 1997, section 2.2.2; here as in HyPar, Eqs. 9 and 10).
//!
//! Values are taken as point values at cell centres. The fluxes there are the means, over a cell and along one axis, of
//! a function whose differences between faces are exact, so a reconstruction from means gives that function at faces.
//! Along each axis by itself that is of the order of the reconstruction, whatever the law.

use super::algebra::Algebra;
use super::reconstruct::Steps;
use super::{AXES, Law};
use crate::discretize::expand::{Expander, Result, States, Tensor};
use crate::discretize::poly::Poly;
use crate::model::{Flux, Variables};

impl Law<'_> {
    /// Are fluxes reconstructed in addition to states?
    pub(super) fn reconstructs_fluxes(&self) -> bool {
        self.model.scheme.variables == Variables::Fluxes
    }

    /// The fluxes along an axis at the upper and at the lower face of a cell; `None` if they are those of the states
    /// there.
    pub(super) fn fluxes_at_faces(
        &self,
        expander: &mut Expander<'_>,
        axis: usize,
    ) -> Result<[Option<Vec<Poly>>; 2]> {
        if !self.reconstructs_fluxes() {
            return Ok([None, None]);
        }
        let in_cells = self.flowing(expander, axis, &format!("{}_cell", AXES[axis]))?;
        // The flux that goes ahead meets others at the upper face, and the one that goes back at the lower face.
        let parts: Vec<[Poly; 2]> = match self.solver.row.splits {
            true => self.parts_in_cell(expander, &in_cells, axis)?,
            false => in_cells.into_iter().map(|own| [own.clone(), own]).collect(),
        };
        let (mut uppers, mut lowers) = (Vec::new(), Vec::new());
        for ((component, span), [ahead, back]) in self.conserved().zip(parts) {
            let name = format!("{}_flux_{}", self.components.fields[component], AXES[axis]);
            let of = &mut Algebra { expander, span };
            let [_, upper] = self.flux_at_faces(of, ahead, axis, &name)?;
            let [lower, _] = self.flux_at_faces(of, back, axis, &name)?;
            lowers.push(lower);
            uppers.push(upper);
        }
        Ok([Some(uppers), Some(lowers)])
    }

    /// One component of them, at the lower and at the upper face.
    fn flux_at_faces(
        &self,
        of: &mut Algebra<'_, '_>,
        own: Poly,
        axis: usize,
        name: &String,
    ) -> Result<[Poly; 2]> {
        // The same everywhere.
        if own.as_uniform().is_some() {
            return Ok([own.clone(), own]);
        }
        let own = of.whole(name, own);
        let [lower, upper] = self.changes(of, Steps::Of(&own), axis, name)?;
        let mut at_face = |change: &Poly, label: &str| {
            let value = of.plus(&own, change)?;
            Ok(of.named(format!("{name}_{label}"), value))
        };
        Ok([at_face(&lower, "lower")?, at_face(&upper, "upper")?])
    }

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
        let flowing = expander.term(&flux.value)?;
        let entries = self.components.of_field(flux.field);
        let row = &flowing[axis * entries.len()..][..entries.len()];
        let own = entries.iter().zip(row).filter_map(|(entry, value)| {
            let name = &self.components.fields[entry.as_ref()?.0];
            Some((format!("{name}_flux_{label}"), value.clone()))
        });
        Ok(own
            .map(|(name, value)| {
                let value = expander.atoms.name(&name, value);
                (name, value)
            })
            .collect())
    }
}
