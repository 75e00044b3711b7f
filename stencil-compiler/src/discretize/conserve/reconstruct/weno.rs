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

/// The weights in tenths that together give fifth order, from the far parabola on.
const IDEAL: [i128; 3] = [1, 6, 3];

/// The way in which weights follow from the smoothness of parabolas.
pub(super) struct Weights {
    /// The number that is added to the smoothness.
    pub(super) floor: &'static Parameter,
    /// The factor of an ideal weight, up to a common factor: from the product of the squares of the other two `β`, that
    /// of the own parabola, and the difference of both outer ones.
    pub(super) weight: fn(&mut Algebra<'_, '_>, &Poly, &Poly, &Poly) -> Result<Poly>,
}

/// The least smoothness, relative to the sum of both outer ones. So large a weight leaves nothing to the others, and
/// the products of squares below stay far from the smallest numbers, in single precision, too.
const LEAST: i128 = 10_i128.pow(12);

/// The excess of the states at the lower and at the upper face over the mean.
///
/// A parabola that ends at a face adds half a step and part of a bend, the difference of two steps. Six times that is a
/// sum of whole numbers, exact up to its last rounding, in whatever order.
pub(super) fn faces(cell: &mut Cell<'_, '_, '_>, weights: &Weights) -> Result<[Poly; 2]> {
    let (below, above) = (cell.step(-1)?, cell.step(0)?);
    let bends = [
        cell.around(-1, "bend", bend)?,
        cell.around(0, "bend", bend)?,
        cell.around(1, "bend", bend)?,
    ];
    let (name, of) = (cell.name, &mut cell.algebra);
    let smoothness = smoothness(of, name, [&below, &above], &bends)?;
    let floor = cell.parameter.unwrap_or(weights.floor.normal);
    let floor = Poly::uniform(Uniform::number(floor));
    let weights = weights.relative(of, name, &smoothness, &floor)?;
    let upper = Parabolas {
        steps: [&below, &above, &above].map(|step| (step, 1)),
        bends: bends.each_ref(),
        weights: weights.each_ref(),
    };
    let upper = upper.weighted(of, &format!("{name}_upper"))?;
    let [low, middle, high] = bends.each_ref();
    let [first, second, third] = weights.each_ref();
    let lower = Parabolas {
        steps: [&above, &below, &below].map(|step| (step, -1)),
        bends: [high, middle, low],
        weights: [third, second, first],
    };
    let lower = lower.weighted(of, &format!("{name}_lower"))?;
    Ok([lower, upper])
}

/// The change of the differences across the cell at this offset.
fn bend(cell: &mut Cell<'_, '_, '_>, ahead: i32) -> Result<Poly> {
    let (below, above) = (cell.step(ahead - 1)?, cell.step(ahead)?);
    cell.algebra.minus(&above, &below)
}

/// The smoothness of each of the three parabolas, from the lowest on, by its bend and its slope.
fn smoothness(
    of: &mut Algebra<'_, '_>,
    name: &str,
    [below, above]: [&Poly; 2],
    bends: &[Poly; 3],
) -> Result<[Poly; 3]> {
    let rises = [
        of.plus(&of.scaled(below, 2, 1)?, &bends[0])?,
        of.plus(below, above)?,
        of.minus(&of.scaled(above, 2, 1)?, &bends[2])?,
    ];
    let mut all = [(); 3].map(|()| Poly::default());
    for ((smoothness, rise), bend) in all.iter_mut().zip(rises).zip(bends) {
        let rise = of.named(format!("{name}_rise"), rise);
        let (bend, rise) = (of.times(bend, bend)?, of.times(&rise, &rise)?);
        let bends = of.named(format!("{name}_bends"), of.scaled(&bend, 13, 12)?);
        let rise = of.scaled(&rise, 1, 4)?;
        *smoothness = of.onto(&bends, &rise, format!("{name}_smoothness"))?;
    }
    Ok(all)
}

impl Weights {
    /// The factors of the ideal weights, up to a common factor: with that, the product of all squares, no parabola has
    /// a division of its own. The sum of both outer ones is one before, so that the products are never too large: where
    /// they are small, so is that between, `β₁ ≤ 8/3 (β₀ + β₂)`.
    fn relative(
        &self,
        of: &mut Algebra<'_, '_>,
        name: &str,
        smoothness: &[Poly; 3],
        floor: &Poly,
    ) -> Result<[Poly; 3]> {
        let mut floored = [(); 3].map(|()| Poly::default());
        for (floored, own) in floored.iter_mut().zip(smoothness) {
            let sum = of.plus(own, floor)?;
            *floored = of.named(format!("{name}_floored"), sum);
        }
        let sum = of.plus(&floored[0], &floored[2])?;
        let unit = of.over(&of.number(1, 1), &sum);
        for own in &mut floored {
            let ratio = of.times(own, &unit)?;
            let ratio = of.plus(&ratio, &of.number(1, LEAST))?;
            *own = of.named(format!("{name}_ratio"), ratio);
        }
        let difference = of.minus(&floored[0], &floored[2])?;
        let difference = of.abs(&difference);
        let mut all = [(); 3].map(|()| Poly::default());
        for (at, weight) in all.iter_mut().enumerate() {
            let [first, second] = [[1, 2], [0, 2], [0, 1]][at];
            let others = of.times(&floored[first], &floored[second])?;
            let others = of.named(format!("{name}_others"), others);
            let squares = of.times(&others, &others)?;
            let own = (self.weight)(of, &squares, &floored[at], &difference)?;
            *weight = of.named(format!("{name}_weight"), own);
        }
        Ok(all)
    }
}

/// Three parabolas that end at a face, from the one that begins farthest from it: the difference that each takes half
/// of, with a sign, its bend, and the factor of its ideal weight.
struct Parabolas<'p> {
    steps: [(&'p Poly, i128); 3],
    bends: [&'p Poly; 3],
    weights: [&'p Poly; 3],
}

impl Parabolas<'_> {
    /// The weighted mean of the parabolas, less the mean of the cell.
    fn weighted(self, of: &mut Algebra<'_, '_>, name: &str) -> Result<Poly> {
        let mut parts = [(); 3].map(|()| Poly::default());
        let mut weights = parts.clone();
        for at in 0..3 {
            let (step, sign) = self.steps[at];
            let (step, bend) = (of.scaled(step, sign, 1)?, self.bends[at]);
            let (steps, bends) = if at == 0 { (1, 1) } else { (2, -1) };
            let bent = of.plus(&step, &of.scaled(bend, bends, 1)?)?;
            let bent = of.named(format!("{name}_bent"), bent);
            // `3s + 2b` is `s + 2(s + b)`, and `3s - b` is `2s + (s - b)`.
            let rest = of.scaled(&step, steps, 1)?;
            let value = of.plus(&rest, &of.scaled(&bent, 3 - steps, 1)?)?;
            let value = of.named(format!("{name}_parabola"), value);
            let own = of.scaled(self.weights[at], IDEAL[at], 1)?;
            weights[at] = of.whole(format!("{name}_weight"), own);
            let part = of.times(&weights[at], &value)?;
            parts[at] = of.named(format!("{name}_part"), part);
        }
        let (sum, weights) = (total(of, name, &parts)?, total(of, name, &weights)?);
        let share = of.over(&sum, &weights);
        let share = of.named(format!("{name}_share"), share);
        of.scaled(&share, 1, 6)
    }
}

/// The outer two first, so that the order is that of the mirror image.
fn total(of: &mut Algebra<'_, '_>, name: &str, [far, middle, near]: &[Poly; 3]) -> Result<Poly> {
    let outer = of.plus(far, near)?;
    let outer = of.named(format!("{name}_outer"), outer);
    of.plus(&outer, middle)
}
