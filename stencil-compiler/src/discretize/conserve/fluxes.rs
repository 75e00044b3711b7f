//! Fluxes that are reconstructed themselves. They are conservative finite differences (Shu and Osher, J.
//! Comput. Phys. 77, 439, 1988; Shu, ICASE Report 97-65, 1997, section 2.2.2; here as in HyPar, Eqs. 9 and 10).
//!
//! Values are taken as point values at cell centres. The fluxes there are the means, over a cell and along one axis, of
//! a function whose differences between faces are exact, so a reconstruction from means gives that function at faces.
//! Along each axis by itself that is of the order of the reconstruction, whatever the law.

use super::algebra::Algebra;
use super::reconstruct::Steps;
use super::{AXES, Law};
use crate::discretize::expand::{Expander, Result};
use crate::discretize::poly::Poly;
use crate::model::Variables;

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
}
