//! The strong-stability-preserving Runge-Kutta method of second order (Heun's method).

use num_rational::Ratio;

use super::{Integrator, OLD, Tableau, Value, field, one, register, step, toward_step};

/// Two substeps; the field at the start of the step is kept.
pub const INTEGRATOR: Integrator = Integrator {
    name: "ssprk2",
    order: 2,
    source: "S. Gottlieb, C.-W. Shu and E. Tadmor, SIAM Rev. 43, 89 (2001), Eq. 4.1",
    tableau: || {
        let old = Value::Register(0);
        Tableau {
            registers: &[OLD],
            substeps: vec![
                vec![
                    register(0, vec![one(Value::Field)]),
                    field(vec![step(Ratio::ONE, Value::Rate), one(Value::Field)]),
                ],
                toward_step(old, Ratio::new(1, 2), Ratio::ONE),
            ],
        }
    },
};
