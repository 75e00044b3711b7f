//! The strong-stability-preserving Runge-Kutta method of fourth order with ten substeps.

use num_rational::Ratio;

use super::{
    Combination, Integrator, OLD, Tableau, Target, Value, field, one, register, step, times,
};

/// Ten substeps; one array beside the field. It keeps what Euler steps of a sixth of the length keep.
///
/// Both means are written as a value and a share of a difference, which keeps what is conserved: the kept value halfway is five
/// halves of Ketcheson's.
pub const INTEGRATOR: Integrator = Integrator {
    name: "ssprk104",
    order: 4,
    source: "D. I. Ketcheson, SIAM J. Sci. Comput. 30, 2113 (2008), SSP(10,4)",
    tableau: || {
        let part = |n, d| Ratio::new(n, d);
        let euler = || field(vec![step(part(1, 6), Value::Rate), one(Value::Field)]);
        let (kept, minus) = (Value::Register(0), -Ratio::ONE);
        let change = |mut terms: Vec<_>, from: Value| {
            terms.insert(0, times(minus, from));
            Combination { into: Target::Part("change"), terms }
        };
        let moved = vec![one(Value::Field), step(part(1, 6), Value::Rate)];
        let halfway = vec![
            change(moved, kept),
            register(0, vec![times(part(9, 10), Value::New(0)), one(kept)]),
            field(vec![times(part(2, 5), Value::New(0)), one(kept)]),
        ];
        let back = vec![
            change(vec![one(kept)], Value::Field),
            field(vec![
                times(part(2, 5), Value::New(0)),
                step(part(1, 10), Value::Rate),
                one(Value::Field),
            ]),
        ];
        let mut substeps = vec![vec![register(0, vec![one(Value::Field)]), euler()]];
        substeps.extend((1..4).map(|_| vec![euler()]));
        substeps.push(halfway);
        substeps.extend((5..9).map(|_| vec![euler()]));
        substeps.push(back);
        Tableau { registers: &[OLD], substeps }
    },
};
