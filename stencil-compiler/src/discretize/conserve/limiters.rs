//! Limiters: the slope of a cell from the differences to the cells below and above it.
//!
//! All but `central` and `none` are zero where the two differ in sign; all but `none` are symmetric, and all odd in the sign of both.

use std::ops::RangeInclusive;

use super::algebra::Algebra;
use crate::discretize::expand::Result;
use crate::discretize::poly::{Poly, Uniform};
use crate::model::Rational;

/// One limiter.
#[derive(Clone, Copy)]
pub(crate) struct Limiter {
    /// Its name in the language.
    pub(crate) name: &'static str,
    slope: Slope,
}

/// The slope across a cell from the differences below and above it.
#[derive(Clone, Copy)]
enum Slope {
    /// Of these alone.
    Fixed(fn(&mut Algebra<'_, '_>, &Poly, &Poly) -> Result<Poly>),
    /// That of the cell where a wave comes from counts for nothing: for waves alone, which have a side to come from.
    Own,
    /// With a parameter.
    WithTheta(fn(&mut Algebra<'_, '_>, &Poly, &Poly, Rational) -> Result<Poly>),
}

/// All limiters.
#[rustfmt::skip]
pub(crate) const ALL: &[Limiter] = &[
    Limiter { name: "central", slope: Slope::Fixed(central) },
    Limiter { name: "generalized_minmod", slope: Slope::WithTheta(generalized_minmod) },
    Limiter { name: "hybrid", slope: Slope::WithTheta(hybrid) },
    Limiter { name: "mc", slope: Slope::Fixed(mc) },
    Limiter { name: "minmod", slope: Slope::Fixed(minmod) },
    Limiter { name: "none", slope: Slope::Own },
    Limiter { name: "superbee", slope: Slope::Fixed(superbee) },
    Limiter { name: "van_albada", slope: Slope::Fixed(van_albada) },
    Limiter { name: "van_leer", slope: Slope::Fixed(van_leer) },
];

/// What a parameter may be: monotone lines from the smallest slopes on to the steepest.
pub(crate) const THETA: RangeInclusive<Rational> =
    Rational::new_raw(1, 1)..=Rational::new_raw(2, 1);

/// The limiter of this name.
pub(crate) fn find(name: &str) -> Option<Limiter> {
    ALL.iter().copied().find(|limiter| limiter.name == name)
}

impl Limiter {
    /// Does it have a parameter?
    pub(crate) fn has_theta(&self) -> bool {
        matches!(self.slope, Slope::WithTheta(_))
    }

    /// Does it leave waves whole (Lax and Wendroff, Comm. Pure Appl. Math. 13, 217, 1960)? Then it makes no slopes of cells.
    pub(crate) fn is_of_waves(&self) -> bool {
        matches!(self.slope, Slope::Own)
    }

    /// The slope across a cell from the differences below and above it, of waves from the one where they come from and their own;
    /// without its parameter it has the steepest.
    pub(super) fn slope(
        &self,
        of: &mut Algebra<'_, '_>,
        [below, above]: [&Poly; 2],
        theta: Option<Rational>,
    ) -> Result<Poly> {
        match self.slope {
            Slope::Fixed(slope) => slope(of, below, above),
            Slope::Own => Ok(above.clone()),
            Slope::WithTheta(slope) => slope(of, below, above, theta.unwrap_or(*THETA.end())),
        }
    }
}

/// No limit: the mean of both (Fromm, J. Comput. Phys. 3, 176, 1968). Not monotone.
fn central(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let sum = of.plus(below, above)?;
    of.halved(&sum)
}

/// The mean, but neither difference more than so many times: `minmod` with one, `mc` with two (van Leer, J. Comput. Phys. 32,
/// 101, 1979; Kurganov and Tadmor, J. Comput. Phys. 160, 241, 2000, Eq. 4.9).
fn generalized_minmod(
    of: &mut Algebra<'_, '_>,
    below: &Poly,
    above: &Poly,
    theta: Rational,
) -> Result<Poly> {
    let theta = Uniform::number(theta);
    let (most_below, most_above) = (of.scaled_by(below, &theta)?, of.scaled_by(above, &theta)?);
    let mean = central(of, below, above)?;
    least(of, &[&most_below, &most_above, &mean])
}

/// The harmonic mean, but neither difference more than so many times: `minmod` with one, and with two `van_leer`, which is never
/// steeper (Schive, Zhang and Chiueh, Int. J. High Perform. Comput. Appl. 26, 367, 2012, section 2, after Athena: Stone et al.,
/// Astrophys. J. Suppl. 178, 137, 2008). Both codes take the central difference as a bound, too; the harmonic mean is no larger.
fn hybrid(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly, theta: Rational) -> Result<Poly> {
    let theta = Uniform::number(theta);
    let (most_below, most_above) = (of.scaled_by(below, &theta)?, of.scaled_by(above, &theta)?);
    let harmonic = van_leer(of, below, above)?;
    least(of, &[&most_below, &most_above, &harmonic])
}

/// Monotonized central differences (van Leer, J. Comput. Phys. 23, 276, 1977).
pub(super) fn mc(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    generalized_minmod(of, below, above, *THETA.end())
}

/// The smaller of both (Roe, Annu. Rev. Fluid Mech. 18, 337, 1986).
fn minmod(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    least(of, &[below, above])
}

/// The larger of two slopes with one difference doubled (Roe 1986).
fn superbee(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let (twice_below, twice_above) = (of.scaled(below, 2, 1)?, of.scaled(above, 2, 1)?);
    let first = least(of, &[&twice_below, above])?;
    let second = least(of, &[below, &twice_above])?;
    let (largest, smallest) = (of.max(&first, &second), of.min(&first, &second));
    joined(of, &largest, &smallest)
}

/// The harmonic mean (van Leer, J. Comput. Phys. 14, 361, 1974).
fn van_leer(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let product = of.times(below, above)?;
    let product = of.named("both", product);
    let (twice, sum) = (of.scaled(&product, 2, 1)?, of.plus(below, above)?);
    let mean = of.over(&twice, &sum);
    Ok(of.if_positive(&product, &mean))
}

/// Van Albada, van Leer and Roberts, Astron. Astrophys. 108, 76, 1982, without their small number.
fn van_albada(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let product = of.times(below, above)?;
    let product = of.named("both", product);
    let sum = of.plus(below, above)?;
    let weighted = of.times(&product, &sum)?;
    let square = |of: &mut Algebra<'_, '_>, a: &Poly| {
        let square = of.times(a, a)?;
        Ok(of.named("square", square))
    };
    let squares = [square(of, below)?, square(of, above)?];
    let squares = of.plus(&squares[0], &squares[1])?;
    let mean = of.over(&weighted, &squares);
    Ok(of.if_positive(&product, &mean))
}

/// The one nearest to zero, if all have one sign; else zero.
pub(super) fn least(of: &mut Algebra<'_, '_>, all: &[&Poly]) -> Result<Poly> {
    let (mut smallest, mut largest) = (all[0].clone(), all[0].clone());
    for next in &all[1..] {
        smallest = of.min(&smallest, next);
        largest = of.max(&largest, next);
    }
    joined(of, &smallest, &largest)
}

/// What of the first is positive, and of the second negative.
fn joined(of: &mut Algebra<'_, '_>, positive: &Poly, negative: &Poly) -> Result<Poly> {
    let zero = Poly::default();
    let (positive, negative) = (of.max(positive, &zero), of.min(negative, &zero));
    let (positive, negative) = (of.named("rising", positive), of.named("falling", negative));
    of.plus(&positive, &negative)
}
