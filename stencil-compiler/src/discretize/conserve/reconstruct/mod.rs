//! Reconstructions: the states of a cell at its two faces along an axis.

use std::collections::BTreeMap;

use super::algebra::Algebra;
use super::limiters::Limiter;
use crate::catalogue::reconstructions::{self as rows, Reconstruction};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;
use crate::expr::Rational;

mod constant;
mod plm;
mod ppm;
mod waf;
mod waves;
mod weno;
mod weno5;
mod weno_z;

/// A reconstruction with its code.
pub(super) struct Rule {
    /// Its row.
    pub(super) row: &'static Reconstruction,
    /// The excess of a variable's values at the lower and at the upper face of a cell over its mean.
    pub(super) faces: fn(&mut Cell<'_, '_, '_>) -> Result<[Poly; 2]>,
}

/// The code of every reconstruction.
const RULES: &[Rule] =
    &[constant::RULE, plm::RULE, ppm::RULE, waf::RULE, waves::RULE, weno5::RULE, weno_z::RULE];

/// The reconstruction of this name.
pub(super) fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.row.name == name)
}

/// A variable in a cell and its neighbours along an axis.
pub(in crate::discretize) struct Cell<'c, 'e, 'a> {
    pub(super) algebra: Algebra<'e, 'a>,
    pub(super) steps: Steps<'c>,
    pub(super) axis: usize,
    /// The variable and the axis, for names.
    pub(super) name: &'c str,
    pub(super) limiter: Limiter,
    pub(super) theta: Option<Rational>,
    /// The parameter of the reconstruction, if it has one and the scheme gives it.
    pub(super) parameter: Option<Rational>,
}

/// The differences of a variable between neighbouring cells.
pub(super) enum Steps<'c> {
    /// The differences of a grid function, the same wherever they are used.
    Of(&'c Poly),
    /// The differences around one cell, by the offset of the lower cell; at other cells the variable is another one.
    Around(BTreeMap<i32, Poly>),
}

impl Cell<'_, '_, '_> {
    /// The difference between the cell at this offset and the next one.
    fn step(&mut self, ahead: i32) -> Result<Poly> {
        let own = match &self.steps {
            Steps::Around(steps) => return Ok(steps.get(&ahead).cloned().unwrap_or_default()),
            Steps::Of(own) => *own,
        };
        let of = &mut self.algebra;
        let next = of.expander.atoms.at(own, self.axis, 1);
        let step = of.minus(&next, own)?;
        let step = of.named(format!("{}_step", self.name), step);
        Ok(of.expander.atoms.at(&step, self.axis, ahead))
    }

    /// The result of a rule around the cell at this offset: one grid function for all cells if the rule is the same for
    /// all.
    fn around(
        &mut self,
        ahead: i32,
        label: &str,
        rule: impl Fn(&mut Self, i32) -> Result<Poly>,
    ) -> Result<Poly> {
        let (of_cell, seen) = match self.steps {
            Steps::Of(_) => (0, ahead),
            Steps::Around(_) => (ahead, 0),
        };
        let value = rule(self, of_cell)?;
        let of = &mut self.algebra;
        let label = format!("{}_{label}", self.name);
        let value = of.whole(label.clone(), value);
        let value = of.named(label, value);
        Ok(of.expander.atoms.at(&value, self.axis, seen))
    }
}
