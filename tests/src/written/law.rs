//! Fluxes through faces of cells, by the formulas of the literature.

use stencil_compiler::catalogue::Rank;
use stencil_compiler::model::{Model, Sweep, Term, Variables};

use super::cells;
use super::evaluate::State;
use super::value::{Precision, Value};
use super::wide::Wide;

/// Does this module know the scheme of a law? It knows scalars by constants or lines of their own, unsplit, with the
/// flux of Rusanov or of Harten, Lax and van Leer.
pub fn knows(model: &Model) -> bool {
    let scheme = &model.scheme;
    let lines = scheme.reconstruct == "plm" && LIMITERS.contains(&scheme.limiter.as_str());
    let by_cells = scheme.variables == Variables::Conserved && scheme.sweep == Sweep::Unsplit;
    (scheme.reconstruct == "constant" || lines)
        && ["rusanov", "hll"].contains(&scheme.riemann.as_str())
        && by_cells
        && model.at_face.is_none()
        && model.ranges.is_empty()
        && model.waves.is_some()
}

const LIMITERS: [&str; 6] = ["central", "koren", "mc", "minmod", "superbee", "van_leer"];

/// Returns the rate of a conserved scalar from the fluxes through the faces of each cell.
pub(super) fn inflow<'a>(state: &State<'a>, field: usize, flux: &'a Term) -> Vec<Value> {
    let (p, n) = (state.precision, state.model.dimension);
    let count: usize = state.cells.iter().product();
    let mut rates = vec![Value::exact(Wide::ZERO); count];
    for axis in 0..n {
        let through = through(state, field, flux, axis);
        let step = p.rounded(Wide::new(state.spacing[axis]));
        let along = state.cells[axis] as i32;
        for (rate, cell) in rates.iter_mut().zip(cells(state.cells)) {
            let mut below = cell;
            below[axis] = (cell[axis] - 1).rem_euclid(along);
            let [out, into] = [cell, below].map(|cell| through[index(state.cells, cell)]);
            let outflow = p.quotient(p.difference(out, into), step);
            *rate = p.difference(*rate, outflow);
        }
    }
    rates
}

fn index([nx, ny, _]: [usize; 3], [x, y, z]: [i32; 3]) -> usize {
    (z as usize * ny + y as usize) * nx + x as usize
}

/// Returns the flux through the upper face of each cell.
fn through<'a>(state: &State<'a>, field: usize, flux: &'a Term, axis: usize) -> Vec<Value> {
    let p = state.precision;
    let [lower, upper] = at_faces(state, axis);
    let [below, above] = [state.with(&upper), state.with(&lower)]
        .map(|side| Side { fluxes: side.everywhere(flux, axis), speeds: speeds(&side, axis) });
    let component = state.layout.fields[field][0].map_or(0, |(component, _)| component);
    let face = |(at, cell): (usize, [i32; 3])| {
        let mut next = cell;
        next[axis] = (cell[axis] + 1).rem_euclid(state.cells[axis] as i32);
        let next = index(state.cells, next);
        let states = [upper[component][at], lower[component][next]];
        let fluxes = [below.fluxes[at], above.fluxes[next]];
        let [slow, fast] = [0, 1].map(|end| [below.speeds[end][at], above.speeds[end][next]]);
        match state.model.scheme.riemann.as_str() {
            "rusanov" => rusanov(p, states, fluxes, [slow, fast]),
            _ => hll(p, states, fluxes, [slow, fast]),
        }
    };
    cells(state.cells).enumerate().map(face).collect()
}

/// The state at one side of a face of every cell.
struct Side {
    fluxes: Vec<Value>,
    /// Speeds of the slowest and of the fastest wave.
    speeds: [Vec<Value>; 2],
}

/// Returns the speeds of the slowest and of the fastest wave.
fn speeds(side: &State<'_>, axis: usize) -> [Vec<Value>; 2] {
    let (p, waves) = (side.precision, side.model.waves.as_ref());
    let nothing = || vec![Value::exact(Wide::ZERO); side.cells.iter().product()];
    let of = |term: Option<&Term>| {
        let at = |term: &Term| if term.rank == Rank::Scalar { 0 } else { axis };
        let place = term.map(|term| side.everywhere(term, at(term)));
        place.unwrap_or_else(nothing)
    };
    let flow = of(waves.and_then(|waves| waves.flow.as_ref()));
    let sound = of(waves.and_then(|waves| waves.sound.as_ref()));
    let both = || flow.iter().zip(&sound);
    [
        both().map(|(u, c)| p.difference(*u, *c)).collect(),
        both().map(|(u, c)| p.sum(*u, *c)).collect(),
    ]
}

/// V. V. Rusanov, USSR Comput. Math. Math. Phys. 1, 304 (1961).
fn rusanov(
    p: Precision,
    [l, r]: [Value; 2],
    [fl, fr]: [Value; 2],
    [slow, fast]: [[Value; 2]; 2],
) -> Value {
    let sizes = [slow[0], slow[1], fast[0], fast[1]].map(|speed| p.abs(speed));
    let greatest = sizes[1..].iter().fold(sizes[0], |a, b| p.extreme(a, *b, true));
    let spread = p.product(greatest, p.difference(r, l));
    let twice = p.difference(p.sum(fl, fr), spread);
    p.product(Value::exact(Wide::new(0.5)), twice)
}

/// A. Harten, P. D. Lax and B. van Leer, SIAM Rev. 25, 35 (1983).
fn hll(
    p: Precision,
    [l, r]: [Value; 2],
    [fl, fr]: [Value; 2],
    [slow, fast]: [[Value; 2]; 2],
) -> Value {
    let zero = Value::exact(Wide::ZERO);
    let slowest = p.extreme(p.extreme(slow[0], slow[1], false), zero, false);
    let fastest = p.extreme(p.extreme(fast[0], fast[1], true), zero, true);
    let carried = p.difference(p.product(fastest, fl), p.product(slowest, fr));
    let spread = p.product(p.product(slowest, fastest), p.difference(r, l));
    p.quotient(p.sum(carried, spread), p.difference(fastest, slowest))
}

/// Returns every component at the lower and at the upper face of each cell.
fn at_faces(state: &State<'_>, axis: usize) -> [Vec<Vec<Value>>; 2] {
    let mut faces = [state.components.to_vec(), state.components.to_vec()];
    let scheme = &state.model.scheme;
    if scheme.reconstruct == "constant" {
        return faces;
    }
    let p = state.precision;
    let along = state.cells[axis] as i32;
    for flux in &state.model.fluxes {
        let Some((component, _)) = state.layout.fields[flux.field][0] else {
            continue;
        };
        let values = &state.components[component];
        for (at, cell) in cells(state.cells).enumerate() {
            let beside = |step: i32| {
                let mut other = cell;
                other[axis] = (cell[axis] + step).rem_euclid(along);
                values[index(state.cells, other)]
            };
            let steps = [p.difference(values[at], beside(-1)), p.difference(beside(1), values[at])];
            let [below, above] = steps;
            let [lower, upper] = [[above, below], [below, above]].map(|steps| {
                let slope = limited(p, &scheme.limiter, steps);
                p.product(Value::exact(Wide::new(0.5)), slope)
            });
            faces[0][component][at] = p.difference(values[at], lower);
            faces[1][component][at] = p.sum(values[at], upper);
        }
    }
    faces
}

/// Returns the slope of a line toward the upper face from the differences on both sides; that toward the lower face has them
/// exchanged (R. J. LeVeque, Finite Volume Methods for Hyperbolic
/// Problems, 2002, section 6.9 and 6.11).
fn limited(p: Precision, limiter: &str, [a, b]: [Value; 2]) -> Value {
    let times = |by: f64, of: Value| p.product(Value::exact(Wide::new(by)), of);
    let mean = times(0.5, p.sum(a, b));
    match limiter {
        "central" => mean,
        "minmod" => least(p, &[a, b]),
        // B. Koren (1993): the parabola's slope, of third order.
        "koren" => {
            let third = p.product(p.rounded(Wide::ratio(1, 3)), p.sum(a, times(2.0, b)));
            least(p, &[times(2.0, a), times(2.0, b), third])
        }
        "mc" => least(p, &[times(2.0, a), times(2.0, b), mean]),
        "superbee" => {
            let (first, second) = (least(p, &[times(2.0, a), b]), least(p, &[a, times(2.0, b)]));
            let positive = p.extreme(first, second, true);
            let negative = p.extreme(first, second, false);
            let zero = Value::exact(Wide::ZERO);
            p.sum(p.extreme(positive, zero, true), p.extreme(negative, zero, false))
        }
        _ => {
            let product = p.product(a, b);
            let harmonic = p.quotient(times(2.0, product), p.sum(a, b));
            let rises = product.exact.to_f64() > 0.0;
            let sure = product.exact.size() > product.error;
            p.choice(rises, sure, harmonic, Value::exact(Wide::ZERO))
        }
    }
}

/// Returns the one of the smallest size, if all have one sign; else zero.
fn least(p: Precision, all: &[Value]) -> Value {
    let zero = Value::exact(Wide::ZERO);
    let fold = |larger: bool| all[1..].iter().fold(all[0], |a, b| p.extreme(a, *b, larger));
    let (smallest, largest) = (fold(false), fold(true));
    p.sum(p.extreme(smallest, zero, true), p.extreme(largest, zero, false))
}
