//! The three forms of a mixed derivative have one order and different errors, and `either` is the
//! first of them.

use std::f64::consts::TAU;

use stencil_tests::algorithm_of;

use super::observed;
use super::operators::{Derivative, ORDERS, error_on_a_wave, nested};

/// Returns `d[x](d[y](f))`.
fn derivative(order: u32) -> Derivative {
    nested(2, order).swap_remove(1)
}

/// Returns the error of `∂²f/∂x∂y` on waves with equal angles θ a cell along both axes, over θ to the order, as θ
/// vanishes: of the bidiagonal form, and of a first derivative of a first derivative.
///
/// The next terms of the Taylor series of the first and second differences are
/// `(r!)²/(2r+1)! θ^(2r+1)` and `2 (r!)²/(2r+2)! θ^(2r+2)` (Fornberg, Math. Comp. 51, 699, 1988);
/// the bidiagonal form is a quarter of the second one at the angle 2θ.
fn constants(order: u32) -> [f64; 2] {
    let factorial = |n: u32| (1..=n).map(f64::from).product::<f64>();
    let square = factorial(order / 2).powi(2);
    let first = square / factorial(order + 1);
    let second = 2.0 * square / factorial(order + 2);
    [second * 2f64.powi(order as i32 + 2) / 4.0, 2.0 * first]
}

#[test]
fn mixed_forms_have_one_order_and_different_constants() {
    let meshes = [48, 64];
    for order in ORDERS {
        let [bidiagonal, nested] = constants(order);
        for (mixed, constant) in
            [("bidiagonal", bidiagonal), ("product", nested), ("composed", nested)]
        {
            let errors = meshes.map(|n| error_on_a_wave(&derivative(order), order, mixed, n));
            let observed = observed(errors[0], errors[1], 4.0 / 3.0);
            assert!(
                (observed - f64::from(order)).abs() < 0.1,
                "{mixed}, order {order}: observed {observed:.3}"
            );
            let found = errors[1] / (TAU / meshes[1] as f64).powi(order as i32);
            assert!(
                (found / constant - 1.0).abs() < 0.02,
                "{mixed}, order {order}: {found:e} in place of {constant:e}"
            );
        }
    }
}

/// The sixth order of the paper: on the diagonals the wave is half as long, so eight times the error
/// for 12 points in place of 36.
#[test]
fn the_bidiagonal_form_of_order_six_has_eight_times_the_error_of_the_product() {
    let [bidiagonal, nested] = constants(6);
    assert!((bidiagonal - 4.0 / 35.0).abs() < 1e-15, "{bidiagonal}");
    assert!((nested - 1.0 / 70.0).abs() < 1e-15, "{nested}");
    let error = |mixed| error_on_a_wave(&derivative(6), 6, mixed, 64);
    let ratio = error("bidiagonal") / error("product");
    assert!((ratio - 8.0).abs() < 0.1, "{ratio}");
    let same = error("composed") / error("product");
    assert!((same - 1.0).abs() < 1e-9, "{same}");
}

#[test]
fn either_is_the_bidiagonal_form() {
    for order in ORDERS {
        let algorithm = |mixed| algorithm_of(&derivative(order).source(order, mixed, 1));
        let [either, bidiagonal] = ["either", "bidiagonal"].map(algorithm);
        assert!(either == bidiagonal, "order {order}: {}", either.scheme);
        assert!(either.scheme.contains("mixed bidiagonal"), "{}", either.scheme);
        for other in ["product", "composed"] {
            assert!(either != algorithm(other), "{other}, order {order}");
        }
        let [either, bidiagonal] = ["either", "bidiagonal"]
            .map(|mixed| error_on_a_wave(&derivative(order), order, mixed, 32));
        assert_eq!(either.to_bits(), bidiagonal.to_bits(), "order {order}");
    }
}
