//! Two states between the slowest and the fastest wave, with a contact between them (Toro, Spruce and Speares, Shock
//! Waves 4, 25, 1994; Toro 2009, section 10.4), with Einfeldt's speeds (Batten, Clarke, Lambert and Causon, SIAM J. Sci. Comput.
//! 18, 1553, 1997, with which density and pressure stay positive and a shock by itself is as sharp as Roe's), of any law whose flux is advection and the work of a pressure.

use super::contact::{Contact, Work};
use super::{Algebra, Carried, Face, Fan, Method, Sideways, Wave, hlle, rows};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;
use crate::expr::Op;

pub(super) const METHOD: Method = Method {
    row: &rows::HLLC,
    flux,
    fan: Some(&Fan { along, sideways: Sideways::Linear(hlle::sideways) }),
};

/// Speed and pressure at the contact.
struct Star {
    speed: Poly,
    pressure: Poly,
}

/// On the side of the contact where the face is, with the outer wave's speed `s` there, bounded by zero, the jump
/// condition through that wave gives the flux `(1 - r) f + r (s* q + p* d(s*))`, `r = s/(s - s*)`: that of the side
/// itself if its wave does not reach the face, and the pressure alone if the contact stands still.
fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let work = face.law.work(face.axis)?;
    let [slowest, fastest] = face.outer_speeds()?;
    let star = star(face, &slowest, &fastest)?;
    let (of, zero) = (&mut face.algebra, Poly::default());
    let (back, ahead) = (of.min(&slowest, &zero), of.max(&fastest, &zero));
    let (back, ahead) = (of.named("back", back), of.named("ahead", ahead));
    let outer = of.op(Op::Lt, &[&zero, &star.speed, &back, &ahead]);
    let outer = of.named("outer", outer);
    let width = of.minus(&outer, &star.speed)?;
    let (size, width) = (of.abs(&outer), of.abs(&width));
    let least = of.number(1, 10_i128.pow(30));
    let width = of.max(&width, &least);
    let width = of.named("width", width);
    let share = of.over(&size, &width);
    let share = of.named("share", share);
    let rest = of.minus(&of.number(1, 1), &share)?;
    let rest = of.named("rest", rest);
    let mut all = Vec::new();
    for (at, work) in work.iter().enumerate() {
        let of = &mut face.algebra;
        let [below, above] = &face.sides;
        let mut near =
            |below: &Poly, above: &Poly| of.op(Op::Lt, &[&zero, &star.speed, below, above]);
        let conserved = near(&below.conserved[at], &above.conserved[at]);
        let flux = near(&below.fluxes[at], &above.fluxes[at]);
        let carried = of.times(&star.speed, &conserved)?;
        let work = done(of, work, &star)?;
        let between = of.plus(&carried, &work)?;
        let between = of.times(&share, &between)?;
        let outside = of.times(&rest, &flux)?;
        let flux = of.plus(&outside, &between)?;
        all.push(face.named(at, flux));
    }
    Ok(all)
}

/// The flux of a component by the work of the pressure at the contact.
fn done(of: &mut Algebra<'_, '_>, work: &Work, star: &Star) -> Result<Poly> {
    match work {
        Work::Number(factor) => of.scaled_by(&star.pressure, factor),
        Work::Flow(factor) => {
            let work = of.times(&star.pressure, &star.speed)?;
            of.scaled_by(&work, factor)
        }
    }
}

/// The slowest and the fastest wave and the contact between them: through an outer wave with the speed `s`, a side `q` with the
/// flux `f` changes by `(f - s* q - p* d(s*))/(s* - s)`, and the contact takes the rest of the jump.
fn along(face: &mut Face<'_, '_, '_>) -> Result<Carried> {
    let work = face.law.work(face.axis)?;
    let [slowest, fastest] = face.outer_speeds()?;
    let star = star(face, &slowest, &fastest)?;
    let of = &mut face.algebra;
    let least = of.number(1, 10_i128.pow(30));
    let mut inverses = Vec::new();
    for [low, high] in [[&slowest, &star.speed], [&star.speed, &fastest]] {
        let width = of.minus(high, low)?;
        let width = of.max(&width, &least);
        let width = of.named("width", width);
        inverses.push(of.over(&of.number(1, 1), &width));
    }
    let mut waves = [Vec::new(), Vec::new(), Vec::new()];
    for (at, work) in work.iter().enumerate() {
        let [_, jump] = face.sum_and_jump(at)?;
        let of = &mut face.algebra;
        let work = done(of, work, &star)?;
        let mut outer = Vec::new();
        for (side, inverse) in face.sides.iter().zip(&inverses) {
            let carried = of.times(&star.speed, &side.conserved[at])?;
            let between = of.plus(&carried, &work)?;
            let between = of.named("between", between);
            let change = of.minus(&side.fluxes[at], &between)?;
            let change = of.times(&change, inverse)?;
            outer.push(of.named("outer_wave", change));
        }
        let [first, last] = [outer[0].clone(), outer[1].clone()];
        let both = of.plus(&first, &last)?;
        let both = of.named("outer_waves", both);
        let middle = of.minus(&jump, &both)?;
        let middle = of.named("middle_wave", middle);
        for (parts, part) in waves.iter_mut().zip([first, middle, last]) {
            parts.push(part);
        }
    }
    Ok([slowest, star.speed, fastest].into_iter().zip(waves).map(Wave::of_jump).collect())
}

/// With the masses `a₀ = ρ₀ (u₀ - s₀)` and `a₁ = ρ₁ (s₁ - u₁)` that the outer waves take up in a time, the contact moves
/// with `(a₀ u₀ + a₁ u₁ + p₀ - p₁)/(a₀ + a₁)` (Toro 2009, Eq. 10.70), never faster than they. Its pressure is
/// that of either side (Eq. 10.69), and the mean of both for the sake of mirror images.
fn star(face: &mut Face<'_, '_, '_>, slowest: &Poly, fastest: &Poly) -> Result<Star> {
    let [Some(below), Some(above)] = face.sides.each_ref().map(|side| side.contact.as_ref()) else {
        // The check of the scheme asks for them.
        return Ok(Star { speed: Poly::default(), pressure: Poly::default() });
    };
    let of = &mut face.algebra;
    let mass = |of: &mut Algebra<'_, '_>, from: &Poly, to: &Poly, side: &Contact| {
        let difference = of.minus(to, from)?;
        let mass = of.times(&side.density, &difference)?;
        Ok(of.named("mass", mass))
    };
    let masses = [mass(of, slowest, &below.flow, below)?, mass(of, &above.flow, fastest, above)?];
    let [first, second] = [(&masses[0], below), (&masses[1], above)];
    let momentum = |of: &mut Algebra<'_, '_>, (mass, side): (&Poly, &Contact)| {
        let momentum = of.times(mass, &side.flow)?;
        Ok(of.named("momentum", momentum))
    };
    let momenta = [momentum(of, first)?, momentum(of, second)?];
    let momentum = of.plus(&momenta[0], &momenta[1])?;
    let momentum = of.named("momentum", momentum);
    let drop = of.minus(&below.pressure, &above.pressure)?;
    let drop = of.named("pressure_drop", drop);
    let total = of.plus(&momentum, &drop)?;
    let least = of.number(1, 10_i128.pow(30));
    let mass = of.plus(&masses[0], &masses[1])?;
    let mass = of.max(&mass, &least);
    let mass = of.named("mass_sum", mass);
    let speed = of.op(Op::Div, &[&total, &mass]);
    let speed = of.min(&speed, fastest);
    let speed = of.max(&speed, slowest);
    let speed = of.named("contact", speed);
    let pressure = |of: &mut Algebra<'_, '_>, sign: i128, (mass, side): (&Poly, &Contact)| {
        let rise = of.minus(&speed, &side.flow)?;
        let rise = of.times(mass, &rise)?;
        let rise = of.named("pressure_rise", rise);
        let pressure = of.plus(&side.pressure, &of.scaled(&rise, sign, 1)?)?;
        Ok(of.named("pressure_star", pressure))
    };
    let pressures = [pressure(of, -1, first)?, pressure(of, 1, second)?];
    let twice = of.plus(&pressures[0], &pressures[1])?;
    let twice = of.named("pressure_sum", twice);
    let pressure = of.halved(&twice)?;
    Ok(Star { speed, pressure })
}
