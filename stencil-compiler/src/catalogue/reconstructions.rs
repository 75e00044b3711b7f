//! Reconstructions: one row each, listed in [`ALL`]. The states that they give are in
//! [`discretize::conserve::reconstruct`](crate::discretize).

use super::riemann::Parameter;
use crate::expr::Rational;

/// One way to reconstruct.
pub(crate) struct Reconstruction {
    /// Its name in the language.
    pub(crate) name: &'static str,
    /// A description and its source.
    pub(crate) source: &'static str,
    /// Does it take a limiter?
    pub(crate) limited: bool,
    /// The number that it takes, if it takes one.
    pub(crate) parameter: Option<&'static Parameter>,
    /// Are waves corrected in place of states? Then all of them have to be known, and a step is one.
    pub(crate) propagates: bool,
    /// Do waves along one axis know nothing of the others? Then axes are swept.
    pub(crate) sweeps: bool,
    /// Is it a parabola, which waves cross by parts? Then its states may be traced along characteristics.
    pub(crate) bends: bool,
    /// The number of cells on each side that it reads.
    pub(crate) reach: i32,
    /// The weights of cell means in the value at the upper face, for smooth solutions without a limiter: the offset of
    /// a cell, and its weight.
    pub(crate) unlimited: &'static [(i32, f64)],
    /// The Courant number up to which its limiter keeps an Euler step of upwind fluxes monotone, if it does (Harten, J.
    /// Comput. Phys. 49, 357, 1983).
    pub(crate) monotone: Option<f64>,
}

/// Every reconstruction.
pub(crate) const ALL: &[&Reconstruction] = &[&CONSTANT, &PLM, &PPM, &WAF, &WAVES, &WENO5, &WENO_Z];

pub(crate) const CONSTANT: Reconstruction = Reconstruction {
    name: "constant",
    source: "the mean of the cell, first order (Godunov 1959)",
    limited: false,
    parameter: None,
    propagates: false,
    sweeps: false,
    bends: false,
    reach: 0,
    unlimited: &[(0, 1.0)],
    monotone: Some(1.0),
};

pub(crate) const PLM: Reconstruction = Reconstruction {
    name: "plm",
    source: "a line with a limited slope, second order (van Leer 1979)",
    limited: true,
    parameter: None,
    propagates: false,
    sweeps: false,
    bends: false,
    reach: 1,
    unlimited: &[(-1, -0.25), (0, 1.0), (1, 0.25)],
    // Slopes are at most two steps, so a face is at most as far from the mean as the next mean.
    monotone: Some(0.5),
};

pub(crate) const PPM: Reconstruction = Reconstruction {
    name: "ppm",
    source: "a monotone parabola, up to fourth order (Colella and Woodward 1984)",
    limited: false,
    parameter: None,
    propagates: false,
    sweeps: false,
    bends: true,
    reach: 2,
    unlimited: &[(-1, -1.0 / 12.0), (0, 7.0 / 12.0), (1, 7.0 / 12.0), (2, -1.0 / 12.0)],
    // A face is at most twice as far from the mean as the other one, which lies before the next mean.
    monotone: Some(1.0 / 3.0),
};

pub(crate) const WAF: Reconstruction = Reconstruction {
    name: "waf",
    source: "the mean flux over the regions between limited waves, second order in space and time (Toro 1989)",
    limited: true,
    parameter: None,
    propagates: true,
    sweeps: true,
    bends: false,
    reach: 0,
    unlimited: &[(0, 1.0)],
    monotone: Some(1.0),
};

pub(crate) const WAVES: Reconstruction = Reconstruction {
    name: "waves",
    source: "limited waves that are corrected to second order in space and time and go on sideways (LeVeque 1997)",
    limited: true,
    parameter: None,
    propagates: true,
    sweeps: false,
    bends: false,
    reach: 0,
    unlimited: &[(0, 1.0)],
    monotone: Some(1.0),
};

pub(crate) const WENO5: Reconstruction = Reconstruction {
    name: "weno5",
    source: "three weighted parabolas, fifth order (Jiang and Shu 1996)",
    limited: false,
    parameter: Some(&WENO5_EPS),
    propagates: false,
    sweeps: false,
    bends: false,
    reach: 2,
    unlimited: OF_FIFTH_ORDER,
    monotone: None,
};

pub(crate) const WENO_Z: Reconstruction = Reconstruction {
    name: "weno_z",
    source: "three weighted parabolas, fifth order (Borges et al. 2008)",
    limited: false,
    parameter: Some(&WENO_Z_EPS),
    propagates: false,
    sweeps: false,
    bends: false,
    reach: 2,
    unlimited: OF_FIFTH_ORDER,
    monotone: None,
};

/// The default of HyPar.
pub(crate) const WENO5_EPS: Parameter = eps(Rational::new_raw(1, 1_000_000));

/// No zero in single precision, either.
pub(crate) const WENO_Z_EPS: Parameter = eps(Rational::new_raw(1, 10_i128.pow(30)));

/// The number that is added to the smoothness, so that weights of a constant are the ideal ones, with its default.
const fn eps(normal: Rational) -> Parameter {
    Parameter {
        name: "eps",
        range: Rational::new_raw(1, 10_i128.pow(30))..=Rational::new_raw(1, 1),
        whole: false,
        normal,
    }
}

/// The combination of means with the ideal weights.
const OF_FIFTH_ORDER: &[(i32, f64)] =
    &[(-2, 2.0 / 60.0), (-1, -13.0 / 60.0), (0, 47.0 / 60.0), (1, 27.0 / 60.0), (2, -3.0 / 60.0)];

/// The reconstruction of this name.
pub(crate) fn find(name: &str) -> Option<&'static Reconstruction> {
    ALL.iter().copied().find(|made| made.name == name)
}
