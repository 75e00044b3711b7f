//! Reconstructions: the states of a cell at its two faces along an axis.

use super::algebra::Algebra;
use super::limiters::Limiter;
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;
use crate::model::Rational;

mod constant;
mod plm;
mod ppm;
mod weno;
mod weno5;
mod weno_z;

/// One way to reconstruct.
pub(crate) struct Reconstruction {
    /// Its name in the language.
    pub(crate) name: &'static str,
    /// What it is, and where it is from.
    pub(crate) source: &'static str,
    /// Does it take a limiter?
    pub(crate) limited: bool,
    /// The values of a variable at the lower and at the upper face of a cell.
    pub(in crate::discretize) faces: fn(&mut Cell<'_, '_, '_>) -> Result<[Poly; 2]>,
}

/// All reconstructions.
pub(crate) const ALL: &[Reconstruction] = &[
    constant::RECONSTRUCTION,
    plm::RECONSTRUCTION,
    ppm::RECONSTRUCTION,
    weno5::RECONSTRUCTION,
    weno_z::RECONSTRUCTION,
];

/// The reconstruction of this name.
pub(crate) fn find(name: &str) -> Option<&'static Reconstruction> {
    ALL.iter().find(|made| made.name == name)
}

/// A variable in the cells along an axis.
pub(in crate::discretize) struct Cell<'c, 'e, 'a> {
    pub(super) algebra: Algebra<'e, 'a>,
    /// Its mean, a grid function.
    pub(super) own: &'c Poly,
    pub(super) axis: usize,
    /// The variable and the axis, for names.
    pub(super) name: &'c str,
    pub(super) limiter: Limiter,
    pub(super) theta: Option<Rational>,
}

impl Cell<'_, '_, '_> {
    /// The mean of the cell so many cells ahead.
    fn mean(&mut self, ahead: i32) -> Poly {
        let atoms = &mut self.algebra.expander.atoms;
        atoms.at(self.own, self.axis, ahead)
    }
}
