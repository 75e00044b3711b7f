//! Reductions with a fixed tree, so that no number of threads and no blocking changes a bit.

use stencil_compiler::expr::Real;
use stencil_compiler::model::Reduction;

/// Values that are added in order; longer runs are halved.
const LEAF: usize = 16;

/// Returns a sum by halves: the first half has as many values as the second, or one more; runs of at most 16 are added
/// from the first to the last.
pub(crate) fn sum(values: &[f64]) -> f64 {
    halves(values, &|v| *v)
}

fn halves<T>(values: &[T], value: &impl Fn(&T) -> f64) -> f64 {
    if values.len() <= LEAF {
        return values.iter().map(value).fold(0.0, |sum, v| sum + v);
    }
    let (first, second) = values.split_at(values.len().div_ceil(2));
    halves(first, value) + halves(second, value)
}

fn is_nan<T: Real>(value: T) -> bool {
    value.to_f64().is_nan()
}

/// Returns the larger of two numbers, NaN if one is.
fn larger<T: Real>(a: T, b: T) -> T {
    if b > a || is_nan(b) { b } else { a }
}

/// Returns the smaller of two numbers, NaN if one is.
fn smaller<T: Real>(a: T, b: T) -> T {
    if b < a || is_nan(b) { b } else { a }
}

/// Reduces one row. Sums are taken in `f64`, whatever the precision of the values.
pub(crate) fn row<T: Real>(reduction: Reduction, values: &[T]) -> f64 {
    let fold = |of: fn(T, T) -> T| {
        let first = values.first().copied().unwrap_or_default();
        values.iter().fold(first, |a, b| of(a, *b)).to_f64()
    };
    match reduction {
        Reduction::Sum | Reduction::Mean => halves(values, &|v: &T| v.to_f64()),
        Reduction::Max => fold(larger),
        Reduction::Min => fold(smaller),
    }
}

/// Reduces the numbers of all rows of `cells`, plane by plane: rows of a plane first, then planes, each by the same
/// tree.
pub(crate) fn rows(reduction: Reduction, shares: &[f64], cells: [usize; 3]) -> f64 {
    let fold = |of: fn(f64, f64) -> f64| {
        let first = shares.first().copied().unwrap_or_default();
        shares.iter().fold(first, |a, b| of(a, *b))
    };
    let total = || {
        let planes: Vec<f64> = shares.chunks(cells[1].max(1)).map(sum).collect();
        sum(&planes)
    };
    match reduction {
        Reduction::Sum => total(),
        Reduction::Mean => total() / cells.iter().product::<usize>() as f64,
        Reduction::Max => fold(larger),
        Reduction::Min => fold(smaller),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_the_one_that_is_described() {
        // Small numbers are lost one by one in the large one, but not their sum.
        let value = |i: i32| if i == 20 { 1e16 } else { 0.3 * f64::from(i) };
        let values: Vec<f64> = (0..35).map(value).collect();
        let run = |from: usize, to: usize| values[from..to].iter().fold(0.0, |sum, v| sum + v);
        // 35 = 18 + 17 = (9 + 9) + (9 + 8).
        let expected = (run(0, 9) + run(9, 18)) + (run(18, 27) + run(27, 35));
        assert_eq!(sum(&values).to_bits(), expected.to_bits());
        let in_order = run(0, 35);
        assert_ne!(in_order.to_bits(), expected.to_bits(), "values that can tell");
    }

    #[test]
    fn sums_are_taken_in_double_precision() {
        let values = vec![1.0_f32; 100];
        let small: Vec<f32> = [[1e8_f32].as_slice(), &values].concat();
        assert_eq!(row(Reduction::Sum, &small), 1e8 + 100.0);
    }

    #[test]
    fn no_number_is_seen_wherever_it_is() {
        for at in 0..3 {
            let mut values = [1.0, 3.0, 2.0];
            values[at] = f64::NAN;
            for reduction in [Reduction::Max, Reduction::Min, Reduction::Sum] {
                assert!(row(reduction, &values).is_nan());
                assert!(rows(reduction, &values, [1, 3, 1]).is_nan());
            }
        }
        assert_eq!(row(Reduction::Max, &[1.0, 3.0, 2.0]), 3.0);
        assert_eq!(row(Reduction::Min, &[1.0, -3.0, 2.0]), -3.0);
        assert_eq!(rows(Reduction::Mean, &[1.0, 3.0, 2.0], [2, 3, 1]), 1.0);
    }
}
