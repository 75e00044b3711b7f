//! Boundaries of components on faces and edges of cells.
//!
//! A component that lies on faces along the normal of a boundary has a value on the boundary itself: in the first ghost
//! cell at a lower end, in the last cell at an upper one. At a plane of symmetry it is zero there and changes its sign;
//! all other components of fields on faces and edges are mirror images. So a wall lets no magnetic field through and no
//! electric field along it (a perfect conductor), no velocity through and no shear stress along it.
//!
//! | component | lower end | upper end |
//! | --- | --- | --- |
//! | on the boundary, with a number there | the number, and the mirror image about it | the same; the last cell is [held](super::open_faces) at it |
//! | on the boundary, open | the nearest cell, or a line; the normal component of a field whose divergence stays [closes](super::open_faces) the first cell | its equation |
//! | beside the boundary | as in the centres of cells | the same |

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
            Kind::Wall if on_boundary => Ok(self.mirrored(nothing)),
            Kind::Wall => Ok(Rule::Mirror { negative: false }),
            Kind::Dirichlet(value) if on_boundary => self.given(boundary, value),
            Kind::Dirichlet(value) if self.is_carried_in() => {
                let number = self.number("value", value)?;
                Ok(Rule::Extended(extensions.through(OnFace::Value, number, 0)))
            }
            Kind::Dirichlet(value) => Ok(Rule::Dirichlet(self.number("value", value)?)),
            Kind::Neumann(value) if !on_boundary => {
                Ok(Rule::Neumann(self.number("slope", value)?))
            }
            Kind::Neumann(_) => Err(self.refused(
                boundary,
                "has values on the face itself, which its equation gives",
                "choose a value there, `wall`, `outflow` or `extrapolate`; or make the axis periodic",
            )),
            Kind::Characteristic(_) | Kind::Custom(_) => Err(self.refused(
                boundary,
                "lies on faces or edges of cells",
                "give a value or a slope on the face, or choose `wall`, `outflow` or `extrapolate`",
            )),
        }
    }

    /// Returns the rule of a component that lies on the boundary and has a number there.
    fn given(&self, boundary: &Boundary, value: &Value) -> Result<Rule, Error> {
        let is_number = matches!(value, Value::Constant(_));
        let is_zero = matches!(value, Value::Constant(0.0));
        let stays = || self.system.kept_divergences().contains(&self.component.field);
        if !is_zero && stays() {
            return Err(self.refused(
                boundary,
                "goes through the face, where it changes such that its divergence stays",
                "choose 0 or `wall`, so that nothing goes through; `outflow` or `extrapolate`; or give the components along the face",
            ));
        }
        if !is_number && self.face.side == Side::Hi {
            return Err(self.refused(
                boundary,
                "has values on an upper face in the last cell, which its equation gives or a number holds",
                "give a number; a formula to a component that does not lie on the face, such as the one that its equation differentiates there; or turn the axis round, as lower faces take formulas",
            ));
        }
        Ok(self.mirrored(self.number("value", value)?))
    }

    /// Returns the rule that mirrors values of which one is on the face, about a number there.
    fn mirrored(&self, number: Number) -> Rule {
        let in_ghosts = self.face.side == Side::Lo;
        Rule::Extended(extension::mirrored_on_face(in_ghosts, number, self.cells.min(DEEPEST)))
    }

    fn refused(&self, boundary: &Boundary, reason: &str, help: &str) -> Error {
        let name = &self.component.name;
        Error::Boundary {
            place: format!("`{name}` at {}", self.face),
            reason: format!("it is {boundary}, and `{name}` {reason}"),
            help: help.to_string(),
        }
    }
}
