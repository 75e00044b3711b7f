//! The strong-stability-preserving Runge-Kutta method of third order.

use num_rational::Ratio;

use super::{Combination, Integrator, Tableau, Value, field, one, register, step, times};

/// Three substeps; the field at the start of the step is kept.
pub const INTEGRATOR: Integrator = Integrator {
    name: "ssprk3",
    order: 3,
    source: "C.-W. Shu and S. Osher, J. Comput. Phys. 77, 439 (1988), Eq. 2.18",
    tableau: || {
        // f = a f_old + b (f + dt rate)
        let blend = |a: (i128, i128), b: (i128, i128)| -> Vec<Combination> {
            let (a, b) = (Ratio::new(a.0, a.1), Ratio::new(b.0, b.1));
            vec![field(vec![
                times(a, Value::Register(0)),
                times(b, Value::Field),
                step(b, Value::Rate),
            ])]
        };
        Tableau {
            registers: &["old"],
            substeps: vec![
                vec![
                    register(0, vec![one(Value::Field)]),
                    field(vec![step(Ratio::ONE, Value::Rate), one(Value::Field)]),
                ],
                blend((3, 4), (1, 4)),
                blend((1, 3), (2, 3)),
            ],
        }
    },
};
