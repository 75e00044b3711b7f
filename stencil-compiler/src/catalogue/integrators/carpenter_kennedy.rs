//! Carpenter and Kennedy's fourth-order Runge-Kutta method in 2N storage.

use num_rational::Ratio;

use super::{Integrator, Tableau};
use crate::expr::Rational;

/// Alpha and beta of each substep.
const PAIRS: &[(Rational, Rational)] = &[
    (Ratio::ZERO, Ratio::new_raw(1_432_997_174_477, 9_575_080_441_755)),
    (
        Ratio::new_raw(-567_301_805_773, 1_357_537_059_087),
        Ratio::new_raw(5_161_836_677_717, 13_612_068_292_357),
    ),
    (
        Ratio::new_raw(-2_404_267_990_393, 2_016_746_695_238),
        Ratio::new_raw(1_720_146_321_549, 2_090_206_949_498),
    ),
    (
        Ratio::new_raw(-3_550_918_686_646, 2_091_501_179_385),
        Ratio::new_raw(3_134_564_353_537, 4_481_467_310_338),
    ),
    (
        Ratio::new_raw(-1_275_806_237_668, 842_570_457_699),
        Ratio::new_raw(2_277_821_191_437, 14_882_151_754_819),
    ),
];

/// Five substeps from the previous value of each field.
pub const INTEGRATOR: Integrator = Integrator {
    name: "rk4_carpenter_kennedy",
    order: 4,
    source: "M. H. Carpenter and C. A. Kennedy, NASA TM 109112 (1994), solution 3 of Table 1",
    tableau: || Tableau::two_n_of_states(PAIRS),
};

/// The same method as published: one accumulator a field.
pub const OF_ACCUMULATORS: Integrator = Integrator {
    name: "rk4_carpenter_kennedy<storage = accumulator>",
    tableau: || Tableau::two_n(PAIRS),
    ..INTEGRATOR
};
