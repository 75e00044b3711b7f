//! Weighted essentially non-oscillatory states of fifth order: three parabolas, each weighted by how smooth
//! it is (Jiang and Shu, J. Comput. Phys. 126, 202, 1996; here of cell means, their Table I for k = 3).
//!
//! Everything is written in differences of neighbours, so that a constant is kept to the bit and a mirror image gives
//! mirrored bits.

use super::Cell;
use crate::catalogue::riemann::Parameter;
use crate::discretize::conserve::algebra::Algebra;
use crate::discretize::expand::Result;
use crate::discretize::poly::{Poly, Uniform};
use crate::expr::{Op, Rational};

/// The weights in tenths that together give fifth order, from the far parabola on.
const IDEAL: [i128; 3] = [1, 6, 3];

/// The way in which weights follow from the smoothness of parabolas.
pub(super) struct Weights {
    /// The number that is added to the smoothness.
    pub(super) floor: &'static Parameter,
    /// The factor of an ideal weight, up to a common factor: from the product of the squares of the other two `β`, all
    /// three squares, and the difference of both outer `β`.
    pub(super) weight: fn(&mut Algebra<'_, '_>, &Poly, &[Poly; 3], &Poly) -> Result<Poly>,
}

/// The inverse of the least smoothness, relative to the power of two below the sum of both outer ones. So large a weight
/// leaves nothing to the others, and sums of products of squares stay far from the smallest numbers, in single
/// precision, too.
const LEAST: i128 = 10_i128.pow(12);

/// The excess of the states at the lower and at the upper face over the mean.
///
/// A bend is the difference of both steps of a parabola, and its rise twice the slope at the mean. These make four times
/// the smoothness `β`, `13/3 bend² + rise²`, and with one of the steps beside the mean the excess at both faces.
pub(super) fn faces(cell: &mut Cell<'_, '_, '_>, weights: &Weights) -> Result<[Poly; 2]> {
    let (below, above) = (cell.step(-1)?, cell.step(0)?);
    let bends = [
        cell.around(-1, "bend", bend)?,
        cell.around(0, "bend", bend)?,
        cell.around(1, "bend", bend)?,
    ];
    let floor = cell.parameter.unwrap_or(weights.floor.normal);
    let bent = |cell: &mut Cell<'_, '_, '_>, ahead| bent(cell, ahead, floor);
    let bent = [
        cell.around(-1, "bent", bent)?,
        cell.around(0, "bent", bent)?,
        cell.around(1, "bent", bent)?,
    ];
    let (name, of) = (cell.name, &mut cell.algebra);
    let rises = [
        of.plus(&of.scaled(&below, 2, 1)?, &bends[0])?,
        of.plus(&below, &above)?,
        of.minus(&of.scaled(&above, 2, 1)?, &bends[2])?,
    ];
    let rises = rises.map(|rise| of.named(format!("{name}_rise"), rise));
    let mut smoothness = bent;
    for (smoothness, rise) in smoothness.iter_mut().zip(&rises) {
        let square = of.times(rise, rise)?;
        *smoothness = of.onto(smoothness, &square, format!("{name}_smoothness"))?;
    }
    let weights = weights.relative(of, name, &smoothness)?;
    let upper =
        Parabolas { steps: [&below, &above], rises: rises.each_ref(), weights: weights.each_ref() };
    let upper = upper.weighted(of, &format!("{name}_upper"))?;
    let [low, middle, high] = rises.each_ref();
    let [first, second, third] = weights.each_ref();
    let lower = Parabolas {
        steps: [&above, &below],
        rises: [high, middle, low],
        weights: [third, second, first],
    };
    let lower = lower.weighted(of, &format!("{name}_lower"))?;
    Ok([lower.negated(), upper])
}

/// The change of the differences across the cell at this offset.
fn bend(cell: &mut Cell<'_, '_, '_>, ahead: i32) -> Result<Poly> {
    let (below, above) = (cell.step(ahead - 1)?, cell.step(ahead)?);
    cell.algebra.minus(&above, &below)
}

/// Four times the smoothness of a parabola that does not rise, and that much of the number that is added to it.
fn bent(cell: &mut Cell<'_, '_, '_>, ahead: i32, floor: Rational) -> Result<Poly> {
    let bend = bend(cell, ahead)?;
    let of = &mut cell.algebra;
    let bend = of.named(format!("{}_bend", cell.name), bend);
    let square = of.times(&bend, &bend)?;
    let floor = Poly::uniform(Uniform::number(floor * Rational::from_integer(4)));
    of.plus(&of.scaled(&square, 13, 3)?, &floor)
}

impl Weights {
    /// The factors of the ideal weights, up to a common factor: with that, the product of all squares, no parabola has
    /// a division of its own. A power of two brings the sum of both outer `β` between one and two before, so that the
    /// products are never too large: where they are small, so is that between, `β₁ ≤ 8/3 (β₀ + β₂)`.
    fn relative(
        &self,
        of: &mut Algebra<'_, '_>,
        name: &str,
        smoothness: &[Poly; 3],
    ) -> Result<[Poly; 3]> {
        let sum = of.plus(&smoothness[0], &smoothness[2])?;
        let exponent = of.op(Op::Exponent, &[&sum]);
        let unit = of.op(Op::PowerOfTwo, &[&exponent.negated()]);
        let unit = of.named(format!("{name}_unit"), unit);
        let [mut ratios, mut squares] = [smoothness.clone(), smoothness.clone()];
        for (ratio, square) in ratios.iter_mut().zip(&mut squares) {
            let own = of.times(ratio, &unit)?;
            let own = of.plus(&own, &of.number(1, LEAST))?;
            *ratio = of.named(format!("{name}_ratio"), own);
            *square = of.times(ratio, ratio)?;
            *square = of.named(format!("{name}_square"), square.clone());
        }
        let difference = of.minus(&ratios[0], &ratios[2])?;
        let difference = of.named(format!("{name}_difference"), difference);
        let mut all = squares.clone();
        for (weight, [first, second]) in all.iter_mut().zip([[1, 2], [0, 2], [0, 1]]) {
            let others = of.times(&squares[first], &squares[second])?;
            let own = (self.weight)(of, &others, &squares, &difference)?;
            *weight = of.named(format!("{name}_weight"), own);
        }
        Ok(all)
    }
}

/// Three parabolas that end at a face, from the one that begins farthest from it: the steps on the far and on the near
/// side of the mean, and of each the rise and the factor of its ideal weight.
struct Parabolas<'p> {
    steps: [&'p Poly; 2],
    rises: [&'p Poly; 3],
    weights: [&'p Poly; 3],
}

impl Parabolas<'_> {
    /// The weighted mean of the parabolas, less the mean of the cell. Parabolas are multiples of six, so their ideal
    /// weights are sixths of those in the divisor.
    fn weighted(self, of: &mut Algebra<'_, '_>, name: &str) -> Result<Poly> {
        let [far_step, near_step] = self.steps;
        let parabolas = [
            of.minus(&of.scaled(self.rises[0], 2, 1)?, far_step)?,
            of.plus(self.rises[1], near_step)?,
            of.plus(self.rises[2], near_step)?,
        ];
        // The outer two first, so that the order is that of the mirror image.
        let [mut sum, mut weights] = [Poly::default(), Poly::default()];
        for at in [0, 2, 1] {
            let parabola = of.named(format!("{name}_parabola"), parabolas[at].clone());
            let weight = of.scaled(self.weights[at], IDEAL[at], 6)?;
            let weight = of.whole(format!("{name}_weight"), weight);
            let part = of.times(&weight, &parabola)?;
            sum = of.onto(&sum, &part, format!("{name}_sum"))?;
            let ideal = of.number(IDEAL[at], 1);
            weights = match at {
                0 => self.weights[at].clone(),
                _ => of.op(Op::Fma, &[&ideal, self.weights[at], &weights]),
            };
            weights = of.named(format!("{name}_weights"), weights);
        }
        let inverse = of.over(&of.number(1, 1), &weights);
        of.times(&sum, &inverse)
    }
}
