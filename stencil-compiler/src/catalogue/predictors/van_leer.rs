//! Van Leer's predictor and corrector: fluxes of first order to the middle of the step.

use num_rational::Ratio;

use super::{Forecast, Predictor};
use crate::catalogue::integrators::{Integrator, OLD, Tableau, Value, field, one, register, step};

/// Two substeps; the field at the start of the step is kept.
const METHOD: Integrator = Integrator {
    name: "van_leer",
    order: 2,
    source: "B. van Leer, Commun. Comput. Phys. 1, 192 (2006); J. M. Stone and T. Gardiner, New Astron. 14, 139 (2009)",
    tableau: || Tableau {
        registers: &[OLD],
        substeps: vec![
            vec![
                register(0, vec![one(Value::Field)]),
                field(vec![step(Ratio::new(1, 2), Value::FirstOrder), one(Value::Field)]),
            ],
            vec![field(vec![step(Ratio::ONE, Value::Rate), one(Value::Register(0))])],
        ],
    },
};

/// The method with its forecast.
pub const PREDICTOR: Predictor = Predictor { method: METHOD, forecast: Forecast::Cells };
