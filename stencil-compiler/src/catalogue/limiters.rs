//! Limiters: one row each, listed in [`ALL`]. The slopes that they give are in
//! [`discretize::conserve::limiters`](crate::discretize).

use std::ops::RangeInclusive;

use crate::expr::Rational;

/// One limiter.
#[derive(Debug)]
pub(crate) struct Limiter {
    /// Its name in the language.
    pub(crate) name: &'static str,
    /// Does it have a parameter?
    pub(crate) has_theta: bool,
    /// Does it leave waves whole (Lax and Wendroff, Comm. Pure Appl. Math. 13, 217, 1960)? Then it makes no slopes of cells.
    pub(crate) is_of_waves: bool,
    /// Has a line another slope toward the lower face of its cell than toward the upper one, that of the mirror image?
    pub(crate) is_sided: bool,
    /// The state at the upper face of a cell where the solution is smooth and nothing is limited, where the slope is not the mean of
    /// both differences: how many cells ahead, and with which weight.
    pub(crate) unlimited: Option<&'static [(i32, f64)]>,
}

/// Every limiter.
pub(crate) const ALL: &[&Limiter] = &[
    &CENTRAL,
    &GENERALIZED_MINMOD,
    &HYBRID,
    &KOREN,
    &MC,
    &MINMOD,
    &NONE,
    &SUPERBEE,
    &VAN_ALBADA,
    &VAN_LEER,
];

#[rustfmt::skip]
pub(crate) const CENTRAL: Limiter = Limiter { name: "central", ..OF_STEPS };
pub(crate) const KOREN: Limiter = Limiter {
    name: "koren",
    is_sided: true,
    unlimited: Some(&[(-1, -1.0 / 6.0), (0, 5.0 / 6.0), (1, 1.0 / 3.0)]),
    ..OF_STEPS
};
#[rustfmt::skip]
pub(crate) const MC: Limiter = Limiter { name: "mc", ..OF_STEPS };
#[rustfmt::skip]
pub(crate) const MINMOD: Limiter = Limiter { name: "minmod", ..OF_STEPS };
#[rustfmt::skip]
pub(crate) const SUPERBEE: Limiter = Limiter { name: "superbee", ..OF_STEPS };
#[rustfmt::skip]
pub(crate) const VAN_ALBADA: Limiter = Limiter { name: "van_albada", ..OF_STEPS };
#[rustfmt::skip]
pub(crate) const VAN_LEER: Limiter = Limiter { name: "van_leer", ..OF_STEPS };
#[rustfmt::skip]
pub(crate) const GENERALIZED_MINMOD: Limiter = Limiter { name: "generalized_minmod", ..WITH_THETA };
#[rustfmt::skip]
pub(crate) const HYBRID: Limiter = Limiter { name: "hybrid", ..WITH_THETA };
#[rustfmt::skip]
pub(crate) const NONE: Limiter = Limiter { name: "none", is_of_waves: true, ..OF_STEPS };

/// A limiter of the differences below and above a cell alone.
const OF_STEPS: Limiter =
    Limiter { name: "", has_theta: false, is_of_waves: false, is_sided: false, unlimited: None };

/// The same with a parameter.
const WITH_THETA: Limiter = Limiter { has_theta: true, ..OF_STEPS };

/// The range of a parameter: monotone lines from the smallest slopes to the steepest.
pub(crate) const THETA: RangeInclusive<Rational> =
    Rational::new_raw(1, 1)..=Rational::new_raw(2, 1);

/// The limiter of this name.
pub(crate) fn find(name: &str) -> Option<&'static Limiter> {
    ALL.iter().copied().find(|limiter| limiter.name == name)
}
