//! Symbols of central differences on a wave `e^(ikx)`, from textbook weights.

/// Returns weights of the first derivative at the offsets 1, 2, ..; odd.
fn first(order: usize) -> Vec<f64> {
    weights(order, |j| 1.0 / j)
}

/// Returns weights of the second derivative at the offsets 1, 2, ..; even, and their sum vanishes.
fn second(order: usize) -> Vec<f64> {
    weights(order, |j| 2.0 / (j * j))
}

/// Returns `(-1)^(j+1) (r!)² / ((r-j)! (r+j)!)` times a factor (Fornberg, Math. Comp. 51, 699, 1988).
fn weights(order: usize, factor: impl Fn(f64) -> f64) -> Vec<f64> {
    let radius = order / 2;
    let binomial =
        |j: usize| (0..j).fold(1.0, |p, i| p * (radius - i) as f64 / (radius + i + 1) as f64);
    let sign = |j: usize| if j % 2 == 1 { 1.0 } else { -1.0 };
    (1..=radius).map(|j| sign(j) * binomial(j) * factor(j as f64)).collect()
}

/// Returns the symbol of the first derivative on unit spacing, over i.
pub(crate) fn odd(order: usize, angle: f64) -> f64 {
    let terms = first(order).into_iter().zip(1..);
    terms.map(|(w, j)| 2.0 * w * (f64::from(j) * angle).sin()).sum()
}

/// Returns the symbol of the second derivative on unit spacing.
pub(crate) fn even(order: usize, angle: f64) -> f64 {
    let terms = second(order).into_iter().zip(1..);
    terms.map(|(w, j)| -4.0 * w * (0.5 * f64::from(j) * angle).sin().powi(2)).sum()
}

/// Returns the symbol of a derivative along two axes by differences on the diagonals (Pekkilä et al. 2017, Eq. 8), on
/// unit spacings.
pub(crate) fn diagonal(order: usize, a: f64, b: f64) -> f64 {
    (even(order, a + b) - even(order, a - b)) / 4.0
}

/// Returns the factor of a wave in a step of a Runge-Kutta method of order 3 with 3 substeps; its rate of change times
/// the time step is `z` times itself.
pub(crate) fn third_order_growth(z: f64) -> f64 {
    1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0))
}

#[test]
fn symbols_are_those_of_the_paper() {
    // Eqs. 6 and 7 of the paper.
    assert!((first(6)[0] - 45.0 / 60.0).abs() < 1e-15 && (first(6)[2] - 1.0 / 60.0).abs() < 1e-15);
    assert!((second(6)[1] + 27.0 / 180.0).abs() < 1e-15);
    assert!((even(6, std::f64::consts::PI) + 272.0 / 45.0).abs() < 1e-14);
    for order in [2, 4, 6, 8, 10] {
        let error = |angle: f64| diagonal(order, angle, 0.7 * angle) / (0.7 * angle * angle) + 1.0;
        let observed = (error(0.2) / error(0.1)).log2();
        assert!((observed - order as f64).abs() < 0.1, "{order}: {observed}");
    }
}
