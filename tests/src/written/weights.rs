//! Weights of differences, from the points alone.

use super::wide::Wide;

/// Returns weights for the derivative taken this many times at zero, from values at these points on unit spacing: exact
/// for every polynomial of a degree below the number of points.
///
/// B. Fornberg, Math. Comp. 51, 699 (1988): weights of more and more points, one after the other.
#[expect(clippy::needless_range_loop, reason = "all weights of a node change together")]
pub fn weights(times: usize, points: &[i32]) -> Vec<Wide> {
    let at = |i: usize| Wide::integer(i128::from(points[i]));
    let mut all = vec![vec![Wide::ZERO; points.len()]; times + 1];
    all[0][0] = Wide::ONE;
    let mut before = Wide::ONE;
    for n in 1..points.len() {
        let mut product = Wide::ONE;
        let last: Vec<Wide> = all.iter().map(|of| of[n - 1]).collect();
        for i in 0..n {
            let apart = at(n) - at(i);
            product = product * apart;
            for m in (0..=times).rev() {
                let lower = if m > 0 { all[m - 1][i] } else { Wide::ZERO };
                all[m][i] = (at(n) * all[m][i] - Wide::integer(m as i128) * lower) / apart;
            }
        }
        for m in 0..=times {
            let lower = if m > 0 { last[m - 1] } else { Wide::ZERO };
            let new = Wide::integer(m as i128) * lower - at(n - 1) * last[m];
            all[m][n] = before / product * new;
        }
        before = product;
    }
    all.swap_remove(times)
}

/// Points and weights of a difference, on unit spacing.
pub(super) type Stencil = Vec<([i32; 3], Wide)>;

/// Returns the central difference of an order along axes: one as often as it is differentiated, or two different ones,
/// whose mixed derivative is a quarter of the difference of the second derivatives along the diagonals.
pub(super) fn central(order: usize, axes: &[usize]) -> Stencil {
    let line = |times: usize, radius: usize| {
        let radius = radius as i32;
        let points: Vec<i32> = (-radius..=radius).collect();
        let weights = weights(times, &points);
        points.into_iter().zip(weights)
    };
    let place = |steps: &[(usize, i32)]| {
        let mut at = [0; 3];
        for (axis, step) in steps {
            at[*axis] = *step;
        }
        at
    };
    match axes {
        [a, b] if a != b => {
            let along = |sign: i32| {
                let second = line(2, order / 2);
                second.map(move |(k, w)| {
                    let quarter = w / Wide::new(f64::from(4 * sign));
                    (place(&[(*a, k), (*b, sign * k)]), quarter)
                })
            };
            let both = along(1).chain(along(-1));
            both.filter(|(at, _)| *at != [0; 3]).collect()
        }
        _ => {
            let times = axes.len();
            // As many points as the order needs, and one more for symmetry.
            let line = line(times, (order + times - 1) / 2);
            line.map(|(k, w)| (place(&[(axes[0], k)]), w)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_exact_on_polynomials() {
        for (times, points) in [(1, -3..=3), (2, -5..=5), (4, -3..=3), (1, -4..=3), (8, -5..=6)] {
            let points: Vec<i32> = points.collect();
            let weights = weights(times, &points);
            for power in 0..points.len() as i32 {
                let terms = points.iter().zip(&weights);
                let sum = terms.fold(Wide::ZERO, |sum, (x, w)| {
                    sum + *w * Wide::new(f64::from(*x)).powi(power)
                });
                let exact = match power as usize == times {
                    true => (1..=times).product::<usize>(),
                    false => 0,
                };
                let error = (sum - Wide::integer(exact as i128)).size();
                assert!(error < 1e-20, "{times} times, x^{power}: {error:e}");
            }
        }
    }
}
