//! The exact solution of the law made linear between both sides (Roe, J. Comput. Phys. 43, 357, 1981), with an entropy fix
//! (Harten and Hyman, J. Comput. Phys. 50, 235, 1983).

use super::{Algebra, Carried, Face, Fan, Linear, Method, Side, Sideways, Wave, rows};
use crate::discretize::conserve::families::families_of_blocks;
use crate::discretize::expand::Result;
use crate::discretize::poly::{Poly, Uniform};
use crate::expr::Op;

pub(super) const METHOD: Method = Method {
    row: &rows::ROE,
    flux,
    fan: Some(&Fan { along, sideways: Sideways::Linear(sideways) }),
};

/// The families of the linear law.
fn along(face: &mut Face<'_, '_, '_>) -> Result<Carried> {
    let blocks = face.linear()?;
    let (jumps, rises) = face.jumps()?;
    let families = families_of_blocks(&mut face.algebra, &blocks, &jumps, rises.as_deref())?;
    Ok(families.into_iter().map(Wave::of_jump).collect())
}

fn sideways(
    linear: &Linear,
    of: &mut Algebra<'_, '_>,
    entering: &[Poly],
) -> Result<[Vec<Poly>; 2]> {
    let zero = Poly::default();
    let up = linear.speeds.each_ref().map(|speed| of.max(speed, &zero));
    let down = linear.speeds.each_ref().map(|speed| of.min(speed, &zero));
    let split = linear.split(of, entering, None)?;
    Ok([linear.apply(of, up.each_ref(), &split)?, linear.apply(of, down.each_ref(), &split)?])
}

/// `(f₀ + f₁)/2 - |A| (q₁ - q₀)/2`. With Roe's property `A (q₁ - q₀) = f₁ - f₀` a jump that one wave carries is carried
/// by one wave, and the waves add up to the jump of the fluxes in any case, since that replaces `A (q₁ - q₀)`, unless
/// fluxes are reconstructed by themselves.
fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let spread = face.spread()?;
    face.mean_less(&spread)
}

impl Face<'_, '_, '_> {
    /// `|A| (q₁ - q₀)`, with the entropy fix.
    fn spread(&mut self) -> Result<Vec<Poly>> {
        let blocks = self.linear()?;
        let (jumps, rises) = self.jumps()?;
        let mut all = vec![Poly::default(); jumps.len()];
        for (number, block) in blocks.iter().enumerate() {
            let rises = rises.as_ref().map(|rises| block.own(rises));
            let spread = self.spread_of(number, block, &block.own(&jumps), rises.as_deref())?;
            block.put(spread, &mut all);
        }
        Ok(all)
    }

    /// The part of it of a block. If the state between has no sound, as when its pressure is negative, the jump times the
    /// greatest speed on both sides.
    fn spread_of(
        &mut self,
        number: usize,
        linear: &Linear,
        jumps: &[Poly],
        rises: Option<&[Poly]>,
    ) -> Result<Vec<Poly>> {
        let split = linear.split(&mut self.algebra, jumps, rises)?;
        let sizes = self.sizes(number, linear)?;
        let of = &mut self.algebra;
        let spread = linear.apply(of, sizes.each_ref(), &split)?;
        if !linear.kinds.sound || linear.sound.as_uniform().is_some() {
            return Ok(spread);
        }
        let greatest = self.greatest_speed();
        let (of, zero) = (&mut self.algebra, Poly::default());
        let mut all = Vec::new();
        for (spread, jump) in spread.iter().zip(jumps) {
            let bound = of.times(&greatest, jump)?;
            all.push(of.op(Op::Lt, &[&zero, &linear.sound, spread, &bound]));
        }
        Ok(all)
    }

    /// The absolute values of the three speeds. Those of waves that steepen are never less than half of `d`, `fix`
    /// times the most that the speed between is ahead of that below or behind that above, in a fan: `(s² + d²)/(2 d)`
    /// for `|s| < d`.
    fn sizes(&mut self, number: usize, linear: &Linear) -> Result<[Poly; 3]> {
        let fix = Uniform::number(self.parameter());
        let of_block = |side: &Side| side.of_blocks.get(number).cloned();
        let waves = self.sides.each_ref().map(|side| of_block(side).or_else(|| side.waves.clone()));
        let [Some(below), Some(above)] = waves else {
            // The speeds are declared or derived.
            return Ok(linear.speeds.clone());
        };
        let of = &mut self.algebra;
        let mut sizes = linear.speeds.each_ref().map(|speed| of.abs(speed));
        for (at, size) in sizes.iter_mut().enumerate() {
            let steepens = (at == 1) != linear.kinds.sound;
            let (own, side) = (&linear.speeds[at], usize::from(at == 2));
            let ahead = of.minus(own, &below[side])?;
            let behind = of.minus(&above[side], own)?;
            // Waves of one speed everywhere make no fan.
            if !steepens || fix.is_zero() || (ahead.0.is_empty() && behind.0.is_empty()) {
                continue;
            }
            let most = of.max(&ahead, &behind);
            let most = of.max(&most, &Poly::default());
            let width = of.scaled_by(&most, &fix)?;
            let width = of.named("width_of_fan", width);
            let (square, other) = (of.times(size, size)?, of.times(&width, &width)?);
            let sum = of.plus(&square, &other)?;
            let twice = of.scaled(&width, 2, 1)?;
            let smooth = of.over(&sum, &twice);
            *size = of.op(Op::Lt, &[size, &width, &smooth, size]);
        }
        Ok(sizes)
    }
}
