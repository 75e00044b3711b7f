//! Riemann solvers: one row each, listed in [`ALL`]. The fluxes that they give are in
//! [`discretize::conserve::riemann`](crate::discretize).

use std::ops::RangeInclusive;

use crate::expr::Rational;

/// One approximate solver.
pub(crate) struct Solver {
    /// Its name in the language.
    pub(crate) name: &'static str,
    /// A description and its source.
    pub(crate) source: &'static str,
    /// The properties of a law that it needs beside the flux.
    pub(crate) needs: Needs,
    /// The number that it takes, if it takes one.
    pub(crate) parameter: Option<&'static Parameter>,
    /// Is the flux a combination of those on both sides and of a multiple of the jump? Then they need not be fluxes of
    /// the states.
    pub(crate) combines: bool,
    /// May a scheme that names no solver get it? One solver for each of the needs.
    pub(crate) by_default: bool,
    /// Does it know of waves, and take jumps apart into them?
    pub(crate) takes_apart: bool,
    /// Is its flux the sum of a part of each side alone? Then reconstructed fluxes are those parts.
    pub(crate) splits: bool,
    /// Is its flux smeared in proportion to the length of the step, as that of Lax and Friedrichs is?
    pub(crate) smears: bool,
    /// The Courant number up to which it keeps small waves bounded, if it is less than that of fluxes upwind.
    pub(crate) most: Option<f64>,
}

impl Solver {
    /// Does it make the law linear at a mean of states, and take reconstructed fluxes? Then these may be the states of cells.
    pub(crate) fn averages(&self) -> bool {
        self.combines && matches!(self.needs, Needs::Average | Needs::All)
    }

    /// Does it make states between waves that the law may not allow? Then another solver may take its place there.
    pub(crate) fn falls_back(&self) -> bool {
        self.needs == Needs::All
    }
}

/// The properties of the waves that a solver needs; one that needs more smears less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Needs {
    /// The flux alone.
    Nothing,
    /// A bound of the sizes of the speeds.
    Radius,
    /// Bounds of the speeds.
    Speeds,
    /// The speeds in a state between both sides, too.
    Average,
    /// Bounds of the speeds, the contact and the work of the pressure.
    Contact,
    /// The speeds of all waves.
    All,
}

/// Every solver of the language.
pub(crate) const ALL: &[&Solver] = &[&FORCE, &HLL, &HLLC, &HLLE, &MUSTA, &ROE, &RTVD, &RUSANOV];

/// A number that a solver or a reconstruction takes.
pub(crate) struct Parameter {
    /// Its name in the language.
    pub(crate) name: &'static str,
    /// The allowed values.
    pub(crate) range: RangeInclusive<Rational>,
    /// Is it a whole number?
    pub(crate) whole: bool,
    /// The default.
    pub(crate) normal: Rational,
}

impl Parameter {
    /// May it be this number?
    pub(crate) fn fits(&self, value: &Rational) -> bool {
        self.range.contains(value) && (value.is_integer() || !self.whole)
    }
}

pub(crate) const FORCE: Solver = Solver {
    name: "force",
    source: "the mean of the fluxes of Lax and Friedrichs and of Richtmyer (Toro and Billett 2000)",
    needs: Needs::Nothing,
    parameter: None,
    combines: false,
    by_default: true,
    takes_apart: false,
    splits: false,
    smears: true,
    most: None,
};

pub(crate) const HLL: Solver = Solver {
    name: "hll",
    source: "one state between the slowest and the fastest wave (Harten, Lax and van Leer 1983)",
    needs: Needs::Speeds,
    parameter: None,
    combines: true,
    by_default: true,
    takes_apart: false,
    splits: false,
    smears: false,
    most: None,
};

pub(crate) const HLLC: Solver = Solver {
    name: "hllc",
    source: "two states between the slowest and the fastest wave, and a contact between them (Toro, Spruce and Speares 1994)",
    needs: Needs::Contact,
    parameter: None,
    combines: false,
    by_default: true,
    takes_apart: true,
    splits: false,
    smears: false,
    most: None,
};

pub(crate) const HLLE: Solver = Solver {
    name: "hlle",
    source: "HLL with the slower and the faster of the speeds at both sides and between (Einfeldt 1988)",
    needs: Needs::Average,
    parameter: None,
    combines: true,
    by_default: true,
    takes_apart: true,
    splits: false,
    smears: false,
    most: None,
};

pub(crate) const MUSTA: Solver = Solver {
    name: "musta",
    source: "FORCE at the end of a local forecast in several stages (Toro and Titarev 2006)",
    needs: Needs::Nothing,
    parameter: Some(&STAGES),
    combines: false,
    by_default: false,
    takes_apart: false,
    splits: false,
    smears: true,
    most: None,
};

pub(crate) const ROE: Solver = Solver {
    name: "roe",
    source: "the exact solution of the law made linear between both sides (Roe 1981), with the entropy fix of Harten and Hyman",
    needs: Needs::All,
    parameter: Some(&FIX),
    combines: true,
    by_default: true,
    takes_apart: true,
    splits: false,
    smears: false,
    most: None,
};

pub(crate) const RTVD: Solver = Solver {
    name: "rtvd",
    source: "fluxes split by the greatest speed of each side: relaxing TVD (Jin and Xin 1995; Trac and Pen 2003)",
    needs: Needs::Radius,
    parameter: None,
    combines: true,
    by_default: false,
    takes_apart: false,
    splits: true,
    smears: false,
    // Trac and Pen 2003 take it for parts that are limited apart; at 0.9 small waves grow.
    most: Some(0.7),
};

pub(crate) const RUSANOV: Solver = Solver {
    name: "rusanov",
    source: "the mean less half the jump times the greatest speed (Rusanov 1961)",
    needs: Needs::Radius,
    parameter: None,
    combines: true,
    by_default: true,
    takes_apart: false,
    splits: false,
    smears: false,
    most: None,
};

/// The stand-in for every solver of a system.
pub(crate) const DECLARED: Solver = Solver {
    name: "declared",
    source: "declared by the system",
    needs: Needs::Nothing,
    parameter: None,
    combines: false,
    by_default: false,
    takes_apart: false,
    splits: false,
    smears: false,
    most: None,
};

/// The stand-in for every solver of a system that gives waves.
pub(crate) const DECLARED_WAVES: Solver = Solver {
    name: "declared_waves",
    source: "declared by the system, as waves and their speeds",
    takes_apart: true,
    ..DECLARED
};

/// The number of stages of the forecast.
const STAGES: Parameter = Parameter {
    name: "stages",
    range: Rational::new_raw(1, 1)..=Rational::new_raw(4, 1),
    whole: true,
    normal: Rational::new_raw(1, 1),
};

/// The width of the entropy fix, in units of that of Harten and Hyman.
const FIX: Parameter = Parameter {
    name: "fix",
    range: Rational::new_raw(0, 1)..=Rational::new_raw(2, 1),
    whole: false,
    normal: Rational::new_raw(1, 1),
};

/// The solver of this name.
pub(crate) fn find(name: &str) -> Option<&'static Solver> {
    ALL.iter().copied().find(|solver| solver.name == name)
}
