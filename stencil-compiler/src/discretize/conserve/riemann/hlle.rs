//! HLL with the speeds of Roe's linear law, where these are further apart (Einfeldt, SIAM J. Numer. Anal. 25, 294, 1988): a
//! shock by itself is as sharp as Roe's, and density and pressure stay positive.

use super::{Algebra, Carried, Face, Fan, Linear, Method, Sideways, Wave, hll, rows};
use crate::discretize::conserve::families::pair;
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const METHOD: Method = Method {
    row: &rows::HLLE,
    flux,
    fan: Some(&Fan { along, sideways: Sideways::Linear(sideways) }),
};

fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let speeds = face.outer_speeds()?;
    hll::between(face, &speeds)
}

/// The slowest and the fastest wave, and between them the one state that conserves (LeVeque 2002, section 15.3.7).
fn along(face: &mut Face<'_, '_, '_>) -> Result<Carried> {
    let speeds = face.outer_speeds()?;
    let mut jumps = Vec::new();
    for at in 0..face.len() {
        let [_, jump] = face.sum_and_jump(at)?;
        jumps.push((jump, face.rise(at)?));
    }
    let waves = pair(&mut face.algebra, speeds.each_ref(), &jumps)?;
    Ok(speeds.into_iter().zip(waves).map(Wave::of_jump).collect())
}

/// The two waves of the linear law.
pub(super) fn sideways(
    linear: &Linear,
    of: &mut Algebra<'_, '_>,
    entering: &[Poly],
) -> Result<[Vec<Poly>; 2]> {
    let [slowest, _, fastest] = linear.speeds.each_ref();
    let advanced = linear.advanced(of, entering)?;
    let jumps: Vec<_> = entering.iter().cloned().zip(advanced).collect();
    let waves = pair(of, [slowest, fastest], &jumps)?;
    let zero = Poly::default();
    let up = [of.max(slowest, &zero), of.max(fastest, &zero)];
    let down = [of.min(slowest, &zero), of.min(fastest, &zero)];
    let mut both = [Vec::new(), Vec::new()];
    for (all, speeds) in both.iter_mut().zip([up, down]) {
        for at in 0..entering.len() {
            let mut sum = Poly::default();
            for (speed, jumps) in speeds.iter().zip(&waves) {
                let part = of.times(speed, &jumps[at])?;
                sum = of.onto(&sum, &part, "some_parts")?;
            }
            all.push(sum);
        }
    }
    Ok(both)
}

impl Face<'_, '_, '_> {
    /// Bounds of the speeds: backwards the slower one of the side below and of the state between, ahead the faster one of the side
    /// above and of the state between (Einfeldt 1988).
    pub(super) fn outer_speeds(&mut self) -> Result<[Poly; 2]> {
        let [Some(below), Some(above)] = self.sides.each_ref().map(|side| side.waves.clone())
        else {
            // The speeds are declared or derived.
            return Ok([Poly::default(), Poly::default()]);
        };
        // Bounds of the speeds are those of the whole law.
        let whole = self.linear()?.swap_remove(0);
        let [slowest, _, fastest] = whole.speeds;
        Ok(self.bounds([&below[0], &slowest], [&above[1], &fastest]))
    }
}
