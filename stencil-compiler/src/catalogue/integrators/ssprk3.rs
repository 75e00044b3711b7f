//! The strong-stability-preserving Runge-Kutta method of third order.

use num_rational::Ratio;

use super::{Integrator, OLD, Tableau, Value, field, one, register, step, toward_step};

/// Three substeps; the field at the start of the step is kept.
pub const INTEGRATOR: Integrator = Integrator {
    name: "ssprk3",
    order: 3,
    source: "C.-W. Shu and S. Osher, J. Comput. Phys. 77, 439 (1988), Eq. 2.18",
    tableau: || {
        let old = Value::Register(0);
        Tableau {
            registers: &[OLD],
            substeps: vec![
                vec![
                    register(0, vec![one(Value::Field)]),
                    field(vec![step(Ratio::ONE, Value::Rate), one(Value::Field)]),
                ],
                toward_step(old, Ratio::new(1, 4), Ratio::ONE),
                toward_step(old, Ratio::new(2, 3), Ratio::ONE),
            ],
        }
    },
};
