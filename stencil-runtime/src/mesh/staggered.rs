//! Boundaries of components on faces and edges of cells.
//!
//! A component that lies on faces along the normal of a boundary has a value on the boundary itself: in the first ghost
//! cell at a lower end, in the last cell at an upper one. At a plane of symmetry it is zero there and changes its sign;
//! all other components of fields on faces and edges are mirror images. So a wall lets no magnetic field through and no
//! electric field along it (a perfect conductor), no velocity through and no shear stress along it.

use stencil_compiler::catalogue::weights::OnFace;

use super::boundary::{Kind, Value};
use super::extension::{self, Extensions};
use super::resolve::Of;
use super::{Boundary, DEEPEST, Number, Rule, Side};
use crate::Error;

impl Of<'_> {
    /// Returns the rule of a component on faces or edges.
    pub(super) fn staggered(
        &self,
        boundary: &Boundary,
        extensions: &mut Extensions,
    ) -> Result<Rule, Error> {
        let nothing = Number::Constant(0.0);
        let on_boundary = self.component.halves[self.face.axis.index()];
        match &boundary.0 {
            Kind::Periodic => Ok(Rule::Periodic),
            Kind::Outflow => Ok(Rule::Nearest),
            Kind::Extrapolate => {
                Ok(Rule::Extended(extensions.through(OnFace::Nothing, nothing, 2)))
            }
            Kind::Wall if on_boundary => Ok(self.mirrored()),
            Kind::Wall => Ok(Rule::Mirror { negative: false }),
            Kind::Dirichlet(Value::Constant(0.0)) if on_boundary => Ok(self.mirrored()),
            Kind::Dirichlet(value @ Value::Constant(_)) if !on_boundary => {
                Ok(Rule::Dirichlet(self.number("value", value)?))
            }
            Kind::Neumann(value @ Value::Constant(_)) if !on_boundary => {
                Ok(Rule::Neumann(self.number("slope", value)?))
            }
            _ => Err(self.refused(boundary, on_boundary)),
        }
    }

    /// Returns the rule that mirrors values of which one is on the face, and zero.
    fn mirrored(&self) -> Rule {
        let in_ghosts = self.face.side == Side::Lo;
        Rule::Extended(extension::mirrored_on_face(in_ghosts, self.cells.min(DEEPEST)))
    }

    fn refused(&self, boundary: &Boundary, on_boundary: bool) -> Error {
        let name = &self.component.name;
        let (reason, help) = match on_boundary {
            true => (
                format!(
                    "it is {boundary}, and `{name}` has values on the face itself, which its equation gives"
                ),
                "choose `wall` or the value 0, with which it stays zero there; `outflow` or `extrapolate`; or make the axis periodic",
            ),
            false => (
                format!("it is {boundary}, and `{name}` lies on faces or edges of cells"),
                "give a constant value or slope, or choose `wall`, `outflow` or `extrapolate`",
            ),
        };
        Error::Boundary { place: format!("`{name}` at {}", self.face), reason, help: help.into() }
    }
}
