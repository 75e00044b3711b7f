//! The setting of a scheme for the integrals of products with slopes.

use super::faces::parameter;
use super::scheme::unknown;
use crate::catalogue::riemann::Parameter;
use crate::diag::Diagnostics;
use crate::expr::Rational;
use crate::model::Scheme;
use crate::model::parse::ast::Setting;

/// `straight<points = 2>`: the path through states that products with slopes are integrated along.
pub(super) fn path(scheme: &mut Scheme, setting: &Setting, diagnostics: &mut Diagnostics) {
    let choice = &setting.choice;
    if choice.text != STRAIGHT {
        return unknown(choice, "path", &[STRAIGHT], diagnostics);
    }
    let points = parameter(STRAIGHT, Some(&POINTS), &[], setting, diagnostics);
    let points = points.and_then(|points| u32::try_from(points.to_integer()).ok());
    scheme.points = points.unwrap_or(scheme.points);
}

/// The path that is a straight line in the space of conserved fields.
const STRAIGHT: &str = "straight";

/// The number of points on it.
const POINTS: Parameter = Parameter {
    name: "points",
    range: Rational::new_raw(1, 1)..=Rational::new_raw(5, 1),
    whole: true,
    normal: Rational::new_raw(2, 1),
};

impl Scheme {
    /// The path that products with slopes are integrated along, as it is written.
    pub fn path_text(&self) -> String {
        format!("{STRAIGHT}<{} = {}>", POINTS.name, self.points)
    }

    /// Is the number of points on it one that there is?
    pub(super) fn path_fits(&self) -> bool {
        POINTS.fits(&Rational::from_integer(i128::from(self.points)))
    }
}
