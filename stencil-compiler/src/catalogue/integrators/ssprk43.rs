//! The strong-stability-preserving Runge-Kutta method of third order with four substeps.

use num_rational::Ratio;

use super::{Integrator, OLD, Tableau, Value, field, one, register, step, toward_step};

/// Four substeps of half a step each; the field at the start of the step is kept. It keeps what Euler steps of half the length keep.
pub const INTEGRATOR: Integrator = Integrator {
    name: "ssprk43",
    order: 3,
    source: "R. J. Spiteri and S. J. Ruuth, SIAM J. Numer. Anal. 40, 469 (2002), SSP(4,3)",
    tableau: || {
        let half = Ratio::new(1, 2);
        let euler = || field(vec![step(half, Value::Rate), one(Value::Field)]);
        let old = Value::Register(0);
        Tableau {
            registers: &[OLD],
            substeps: vec![
                vec![register(0, vec![one(Value::Field)]), euler()],
                vec![euler()],
                toward_step(old, Ratio::new(1, 3), half),
                vec![euler()],
            ],
        }
    },
};
