//! The classical Runge-Kutta method of fourth order.

use num_rational::Ratio;

use super::{Integrator, OLD, Tableau, Value, field, one, register, step};

/// Four substeps; the field at the start of the step and the weighted sum of rates are kept.
pub const INTEGRATOR: Integrator = Integrator {
    name: "rk4",
    order: 4,
    source: "W. Kutta, Z. Math. Phys. 46, 435 (1901)",
    tableau: || {
        let (old, sum) = (Value::Register(0), Value::Register(1));
        let rate = |n, d| step(Ratio::new(n, d), Value::Rate);
        Tableau {
            registers: &[OLD, "sum"],
            substeps: vec![
                vec![
                    register(0, vec![one(Value::Field)]),
                    register(1, vec![rate(1, 6), one(Value::Field)]),
                    field(vec![rate(1, 2), one(Value::Field)]),
                ],
                vec![register(1, vec![rate(1, 3), one(sum)]), field(vec![rate(1, 2), one(old)])],
                vec![register(1, vec![rate(1, 3), one(sum)]), field(vec![rate(1, 1), one(old)])],
                vec![field(vec![rate(1, 6), one(sum)])],
            ],
        }
    },
};
