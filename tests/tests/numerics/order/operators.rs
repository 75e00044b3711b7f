//! Every derivative operator of the language in one to three dimensions: exact on polynomials up to
//! its order and not beyond, and of that order on waves.
//!
//! Right-hand sides are multiplied by the common denominator of all weights and spacings are powers
//! of two, so that weights are exact and errors are those of the differences alone.

use std::ops::RangeInclusive;

use stencil_compiler::algorithm::Role;
use stencil_compiler::algorithm::interp::Oracle;
use stencil_compiler::catalogue::operators::{self, upwind};
use stencil_tests::{OrPanic, algorithm_of};

use super::double::{Double, PI, sine};
use super::observed;

pub(crate) const AXES: [&str; 3] = ["x", "y", "z"];
pub(crate) const ORDERS: [u32; 5] = [2, 4, 6, 8, 10];
const SPACING: [f64; 3] = [0.5, 0.25, 1.0];

/// Number of derivatives of a field along each axis, and a factor.
type Term = (f64, [u32; 3]);

/// A linear combination of derivatives as it is written, and its order.
pub(crate) struct Derivative {
    pub(crate) dimension: usize,
    pub(crate) rhs: String,
    pub(crate) terms: Vec<Term>,
    pub(crate) order: u32,
}

impl Derivative {
    /// Returns the number of times that it differentiates.
    fn times(&self) -> u32 {
        self.terms[0].1.iter().sum()
    }

    /// Returns its discrete form by a scheme of an order, times a factor.
    pub(crate) fn source(&self, scheme: u32, mixed: &str, factor: i128) -> String {
        let (d, rhs) = (self.dimension, &self.rhs);
        format!(
            "system S in {d}d {{ field f: scalar; ddt(f) = {factor}*{rhs}; }}
             scheme s for S {{ space: central<order = {scheme}>; mixed: {mixed}; time: euler; }}"
        )
    }

    /// Returns so many cells along the axes that it differentiates, and one along others.
    pub(crate) fn cells(&self, n: usize) -> [usize; 3] {
        let along = |axis| self.terms.iter().any(|(_, times)| times[axis] > 0);
        std::array::from_fn(|axis| if along(axis) { n } else { 1 })
    }
}

fn along(axis: usize, times: u32) -> [u32; 3] {
    std::array::from_fn(|i| if i == axis { times } else { 0 })
}

/// Returns derivatives along one axis, or sums of them along all.
fn straight(dimension: usize, order: u32) -> Vec<Derivative> {
    let new = |rhs, terms, order| Derivative { dimension, rhs, terms, order };
    let all = |times| (0..dimension).map(move |axis| (1.0, along(axis, times)));
    let mut out = Vec::new();
    for (axis, letter) in AXES.into_iter().enumerate().take(dimension) {
        for times in 1..=8 {
            let number = if times > 1 { times.to_string() } else { String::new() };
            let rhs = format!("d{number}[{letter}](f)");
            out.push(new(rhs, vec![(1.0, along(axis, times))], order));
        }
    }
    out.push(new("lap(f)".to_string(), all(2).collect(), order));
    for power in 1..=4 {
        let rhs = format!("hyper(f, {power})");
        out.push(new(rhs, all(2 * power).collect(), order));
    }
    let speeds = ["1", "-0.5", "2"][..dimension].join(", ");
    let terms = all(1).zip([1.0, -0.5, 2.0]);
    let terms = terms.map(|((_, times), speed)| (speed, times)).collect();
    // Without the point furthest downwind the order is one lower.
    out.push(new(format!("upwind([{speeds}], f)"), terms, order - 1));
    out
}

/// Returns derivatives of derivatives, along two axes in both orders or twice along one.
pub(crate) fn nested(dimension: usize, order: u32) -> Vec<Derivative> {
    let pairs = (0..dimension).flat_map(|a| (0..dimension).map(move |b| [a, b]));
    let new = |[a, b]: [usize; 2]| Derivative {
        dimension,
        rhs: format!("d[{}](d[{}](f))", AXES[a], AXES[b]),
        terms: vec![(1.0, std::array::from_fn(|i| u32::from(i == a) + u32::from(i == b)))],
        order,
    };
    pairs.map(new).collect()
}

/// Returns a number that makes all weights of an order whole.
pub(crate) fn denominator(order: u32) -> i128 {
    let all = operators::all().chain([&upwind::OPERATOR]);
    let stencils = all.map(|o| (o.stencil)(order, &[0, 1][..o.times.len()]));
    let weights = stencils.flat_map(|stencil| stencil.into_values());
    weights.fold(1, |all, weight| {
        let (mut a, mut b) = (all, *weight.denom());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        all / a * weight.denom()
    })
}

/// Returns the right-hand side on a periodic box, by one Euler step of length one.
fn rate(source: &str, cells: [usize; 3], f: impl Fn([usize; 3]) -> Double) -> Vec<Double> {
    let algorithm = algorithm_of(source);
    let mut oracle = Oracle::<Double>::new(&algorithm, cells, &[], SPACING, 1.0).or_panic();
    let values: Vec<Double> = each(cells).map(f).collect();
    let (state, _) = algorithm.states_of(Role::Field).next().expect("a field");
    oracle.set(state, &values);
    oracle.step();
    let new = oracle.get(state);
    new.into_iter().zip(values).map(|(a, b)| a - b).collect()
}

fn each([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..nx * ny * nz).map(move |i| [i % nx, i / nx % ny, i / (nx * ny)])
}

/// Returns the largest error on a wave along all axes that are differentiated, with n cells to a wave, over the largest
/// exact value.
pub(crate) fn error_on_a_wave(derivative: &Derivative, scheme: u32, mixed: &str, n: usize) -> f64 {
    let factor = denominator(scheme);
    let cells = derivative.cells(n);
    // The m-th derivatives of a wave of one axis, m up to 8, on unit spacing.
    let whole = 8 * n as i64;
    let wave = |axis: usize, m: u32, i: usize| {
        let wavenumber = PI * 2.0.into() / (n as f64 * SPACING[axis]).into();
        let phase = 8 * i as i64 + [1, 3, 6][axis] + 2 * n as i64 * i64::from(m);
        wavenumber.powi(m as i32) * sine(phase, whole)
    };
    let tables: Vec<Vec<Vec<Double>>> = (0..3)
        .map(|axis| {
            let table = |m| (0..cells[axis]).map(|i| wave(axis, m, i)).collect();
            (0..=8).map(table).collect()
        })
        .collect();
    let product = |times: [u32; 3], at: [usize; 3]| {
        let along = |axis: usize| tables[axis][times[axis] as usize][at[axis]];
        along(0) * along(1) * along(2)
    };
    let source = derivative.source(scheme, mixed, factor);
    let rates = rate(&source, cells, |at| product([0; 3], at));
    let (mut error, mut largest) = (0.0f64, 0.0f64);
    for (rate, at) in rates.into_iter().zip(each(cells)) {
        let terms = derivative.terms.iter();
        let exact = terms.fold(Double::default(), |sum, (c, times)| {
            sum + Double::from(*c) * product(*times, at)
        });
        let exact = exact * Double::from(factor as f64);
        error = error.max((rate - exact).to_f64().abs());
        largest = largest.max(exact.to_f64().abs());
    }
    error / largest
}

fn assert_order(derivative: &Derivative, scheme: u32, mixed: &str) {
    // Three axes have no mixed derivatives, whose leading terms are alone later.
    let axes = derivative.cells(2).iter().filter(|n| **n > 1).count();
    let meshes = if axes == 3 { [24, 28] } else { [64, 80] };
    let [coarse, fine] = meshes.map(|n| error_on_a_wave(derivative, scheme, mixed, n));
    let observed = observed(coarse, fine, meshes[1] as f64 / meshes[0] as f64);
    assert!(
        (observed - f64::from(derivative.order)).abs() < 0.1,
        "{} in {}d, {mixed}, order {scheme}: {coarse:e}, {fine:e}, observed {observed:.3}",
        derivative.rhs,
        derivative.dimension
    );
}

#[test]
fn every_derivative_converges_with_its_order() {
    for order in ORDERS {
        for dimension in 1..=3 {
            for derivative in straight(dimension, order) {
                assert_order(&derivative, order, "bidiagonal");
            }
        }
    }
}

#[test]
fn every_mixed_derivative_converges_with_its_order() {
    for order in ORDERS {
        for dimension in 1..=3 {
            for derivative in nested(dimension, order) {
                for mixed in ["bidiagonal", "product", "composed"] {
                    assert_order(&derivative, order, mixed);
                }
            }
        }
    }
}

/// Returns the error of a derivative of a polynomial at a cell: of the sum of all products of powers whose whole degree
/// is one of these.
fn error_on_a_polynomial(
    derivative: &Derivative,
    scheme: u32,
    degrees: RangeInclusive<u32>,
) -> Double {
    let factor = denominator(scheme);
    let radius = (scheme + derivative.times() - 1) as usize / 2;
    let cells = derivative.cells(2 * radius + 1);
    let highest = *degrees.end();
    // Powers of the places along an axis, which are whole; no term vanishes in the middle.
    let line = |n: usize| -> Vec<Vec<Double>> {
        let place = |i: usize| Double::from(i as f64 - (n / 2) as f64 + 2.0);
        let all = (0..n).map(|i| (0..=highest).map(|p| place(i).powi(p as i32)).collect());
        all.collect()
    };
    let lines = cells.map(line);
    let of_axis = |axis: usize| 0..=if cells[axis] > 1 { highest } else { 0 };
    let powers: Vec<[u32; 3]> = of_axis(2)
        .flat_map(|r| of_axis(1).flat_map(move |q| of_axis(0).map(move |p| [p, q, r])))
        .filter(|powers| degrees.contains(&powers.iter().sum()))
        .collect();
    let value = |at: [usize; 3], times: [u32; 3]| {
        let terms = powers.iter().filter(|p| (0..3).all(|i| p[i] >= times[i]));
        terms.fold(Double::default(), |sum, powers| {
            let along = |axis: usize| {
                let (p, m) = (powers[axis], times[axis]);
                let falling: f64 = (0..m).map(|i| f64::from(p - i)).product();
                let factor = Double::from(falling / SPACING[axis].powi(m as i32));
                factor * lines[axis][at[axis]][(p - m) as usize]
            };
            sum + along(0) * along(1) * along(2)
        })
    };
    let source = derivative.source(scheme, "bidiagonal", factor);
    let rates = rate(&source, cells, |at| value(at, [0; 3]));
    let centre = cells.map(|n| n / 2);
    let found = rates[(centre[2] * cells[1] + centre[1]) * cells[0] + centre[0]];
    derivative.terms.iter().fold(found, |rest, (c, times)| {
        rest - Double::from(c * factor as f64) * value(centre, *times)
    })
}

/// All numbers are whole and have less than 31 digits, so errors are exact.
#[test]
fn every_derivative_is_exact_on_polynomials_up_to_its_order_and_not_beyond() {
    for order in ORDERS {
        for dimension in 1..=3 {
            let all = straight(dimension, order);
            for derivative in all.into_iter().chain(nested(dimension, order)) {
                let highest = derivative.order + derivative.times() - 1;
                let name = format!("{} in {dimension}d, order {order}", derivative.rhs);
                let error = error_on_a_polynomial(&derivative, order, 0..=highest);
                assert_eq!(error, Double::default(), "{name}");
                let next = highest + 1..=highest + 1;
                let error = error_on_a_polynomial(&derivative, order, next);
                assert_ne!(error, Double::default(), "{name} is better than it says");
            }
        }
    }
}
