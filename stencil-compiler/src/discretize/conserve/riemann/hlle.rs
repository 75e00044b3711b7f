//! HLL with the speeds of Roe's linear law, where these are further apart (Einfeldt, SIAM J. Numer. Anal. 25, 294, 1988): a
//! shock by itself is as sharp as Roe's, and density and pressure stay positive.

use super::{Face, Needs, Solver, hll};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const SOLVER: Solver = Solver {
    name: "hlle",
    source: "HLL with the slower and the faster of the speeds at both sides and between (Einfeldt 1988)",
    needs: Needs::Average,
    parameter: None,
    combines: true,
    flux,
};

/// Backwards the slower one of the side below and of the state between, ahead the faster one of the side above.
fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let [Some(below), Some(above)] = face.sides.each_ref().map(|side| side.waves.clone()) else {
        // The speeds are declared or derived.
        return Ok(Vec::new());
    };
    let [slowest, _, fastest] = face.linear()?.speeds;
    let speeds = face.bounds([&below[0], &slowest], [&above[1], &fastest]);
    hll::between(face, &speeds)
}
