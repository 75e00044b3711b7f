//! One-step methods of conservation laws that forecast half a step before they solve Riemann problems: one file each, listed in
//! [`ALL`]. They are of second order in time.

use num_rational::Ratio;

use super::integrators::{Integrator, Tableau, Value, field, one, part, register, step, times};

pub mod corner_transport;
pub mod muscl_hancock;
pub mod van_leer;

/// Every predictor.
pub const ALL: &[&Predictor] =
    &[&van_leer::PREDICTOR, &muscl_hancock::PREDICTOR, &corner_transport::PREDICTOR];

/// A method with a forecast.
#[derive(Debug)]
pub struct Predictor {
    /// Its name, order, source and coefficients.
    pub method: Integrator,
    /// The values that it moves by half a step.
    pub forecast: Forecast,
}

/// The values that are moved by half a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forecast {
    /// Means of cells, by fluxes of first order: a substep of its own.
    Cells,
    /// Both states of a cell along each axis, by the difference of their own fluxes along all axes.
    Faces,
    /// The same by the difference along the axis alone, and then by the fluxes through the faces beside, of first Riemann problems.
    Corners,
}

/// The predictor of this name.
pub fn find(name: &str) -> Option<&'static Predictor> {
    ALL.iter().copied().find(|predictor| predictor.method.name == name)
}

impl Predictor {
    /// A method that forecasts states at faces: one substep, and another one of the terms without flux.
    const fn at_faces(name: &'static str, source: &'static str, forecast: Forecast) -> Self {
        let method = Integrator { name, order: 2, source, tableau: fluxes_and_heun };
        Predictor { method, forecast }
    }
}

/// A step of the fluxes, which hold a forecast themselves, and Heun's method for the other terms: the mean of their rates before and
/// after.
fn fluxes_and_heun() -> Tableau {
    let before = Value::Register(0);
    Tableau {
        registers: &["rest"],
        substeps: vec![
            vec![
                field(vec![step(Ratio::ONE, Value::Rate), one(Value::Field)]),
                register(0, vec![one(Value::Rest)]),
            ],
            vec![
                part("more", vec![times(-Ratio::ONE, before), one(Value::Rest)]),
                field(vec![step(Ratio::new(1, 2), Value::New(0)), one(Value::Field)]),
            ],
        ],
    }
}
