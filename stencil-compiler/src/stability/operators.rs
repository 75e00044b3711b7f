//! The largest symbols of derivatives, in the form in which a system writes them and its scheme discretizes them.

use std::f64::consts::PI;

use num_complex::Complex64;

use super::speeds::Axes;
use crate::catalogue::operators::{Stencil, first, higher, second, staggered};
use crate::expr::Arithmetic;
use crate::matrix::size;
use crate::model::{Mixed, Model, Seconds, to_f64};

/// Angles of a half turn at which symbols of operators are evaluated.
const ANGLES: u32 = 720;

pub(super) fn turned(angle: f64) -> Complex64 {
    Complex64::new(Arithmetic::cos(angle), Arithmetic::sin(angle))
}

pub(super) fn angles() -> impl Iterator<Item = f64> {
    (1..=ANGLES).map(|k| f64::from(k) * PI / f64::from(ANGLES))
}

/// The largest symbol of a derivative of this order, in the scheme's order of accuracy, along any direction. A speed
/// holds in every direction. A second derivative along every axis adds up to the Laplacian, a fourth one to its square.
pub(super) fn symbol(model: &Model, power: u32, lengths: &[f64], axes: Axes) -> f64 {
    let order = model.scheme.order;
    let squares = axes.of(lengths.iter().map(|h| 1.0 / (h * h)));
    let (seconds, diffuses) =
        (model.second_derivatives(), model.speeds.iter().any(|speed| speed.power == 2));
    let swings = !diffuses && seconds != Seconds::default();
    let twice = twice(model, seconds);
    let own = match power {
        // Waves of an equation of second order swing by the root of a second derivative.
        1 if swings => twice.sqrt(),
        1 if model.is_staggered() => largest((staggered::SLOPE.stencil)(order, &[0])),
        1 => largest((first::OPERATOR.stencil)(order, &[0])),
        2 => twice,
        _ => higher::operator(power).map_or(0.0, |of| largest((of.stencil)(order, &[0]))),
    };
    // Nested operators may have a larger symbol than one of the same order.
    let nested = if power == 4 { twice * twice } else { 0.0 };
    let root = squares.sqrt();
    (0..power).fold(own.max(nested), |value, _| value * root)
}

/// The largest symbol of a second derivative along an axis: of a compact one; of nested first derivatives if the scheme
/// composes them and no compact one is written; by way of faces if a product is differentiated.
fn twice(model: &Model, seconds: Seconds) -> f64 {
    let order = model.scheme.order;
    let squared = |stencil: Stencil| {
        let of_one = largest(stencil);
        of_one * of_one
    };
    let compact = largest((second::OPERATOR.stencil)(order, &[0]));
    let composes = model.scheme.mixed.settled() == Mixed::Composed;
    match (composes, seconds) {
        (true, Seconds { compact: false, nested: true, .. }) => {
            squared((first::OPERATOR.stencil)(order, &[0]))
        }
        (false, Seconds { products: true, .. }) => {
            compact.max(squared((staggered::SLOPE.stencil)(order, &[0])))
        }
        _ => compact,
    }
}

/// The largest symbol along the first axis.
fn largest(stencil: Stencil) -> f64 {
    angles().fold(0.0_f64, |most, angle| {
        let value = stencil.iter().map(|(at, w)| turned(f64::from(at[0]) * angle) * to_f64(w));
        most.max(size(value.sum()))
    })
}
