//! Exchanged axes exchange results to the bit, and functions of one axis are the same along each.

use super::*;
use crate::algorithm::StateId;
use crate::algorithm::interp::Oracle;

const GAS: &str =
    "conserved rho: scalar; conserved m: vector; conserved en: scalar; param g: real = 1.4;
     let u = m/rho; let p = (g - 1)*(en - dot(m, u)/2);
     flux rho -> m; flux m -> outer(m, u) + p*I; flux en -> (en + p)*u;
     waves { flow: u; sound: sqrt(g*p/rho); }";

const VISCOUS: &str = "field rho: scalar; field m: vector; field en: scalar; param g: real = 0.01;
     ddt(rho) = g*lap(rho) - dot(m, grad(rho)) - div(m);
     ddt(m) = -dot(m, grad(m)) + g*(lap(m) + norm(sym(grad(m)))*m);
     ddt(en) = lap(g*en) + norm(m)*en;";

/// The axis of a component, by the last letter of its name.
fn axis_of(name: &str) -> Option<(&str, usize)> {
    let (field, letter) = name.rsplit_once('_')?;
    Some((field, "xyz".find(letter)?))
}

/// The fields after three steps from values of cells and components, as `f32` in the order of their states.
fn after(
    algorithm: &Algorithm,
    cells: [usize; 3],
    start: &dyn Fn(&str, [usize; 3]) -> f32,
) -> Vec<Vec<f32>> {
    let params: Vec<f64> = algorithm.params.iter().filter_map(|p| p.default).collect();
    let oracle = Oracle::<f32>::new(algorithm, cells, &params, [0.1; 3], 0.003);
    let mut oracle = oracle.unwrap_or_else(|e| panic!("{e}"));
    let place = |i: usize| [i % cells[0], i / cells[0] % cells[1], i / cells[0] / cells[1]];
    let fields = names(algorithm, Role::Field);
    let all = 0..cells.iter().product();
    for (i, name) in fields.iter().enumerate() {
        let values: Vec<f32> = all.clone().map(|cell| start(name, place(cell))).collect();
        oracle.set(StateId(i as u32), &values);
    }
    for _ in 0..3 {
        oracle.step();
    }
    let fields = 0..fields.len() as u32;
    fields.map(|i| oracle.get(StateId(i))).collect()
}

/// A number between 0 and 1 that looks like none of the others.
fn some(name: &str, at: [usize; 3]) -> f32 {
    let letters = name.bytes().map(usize::from).sum::<usize>();
    let mixed =
        (at[0] * 7919 + at[1] * 104_729 + at[2] * 1_299_709 + letters * 15_485_863) % 10_007;
    mixed as f32 / 10_007.0
}

fn value(name: &str, at: [usize; 3]) -> f32 {
    match axis_of(name) {
        Some(_) => 0.4 * some(name, at) - 0.2,
        None if name == "en" => 3.0 + 0.5 * some(name, at),
        None => 0.8 + 0.1 * some(name, at),
    }
}

fn systems(dimension: usize) -> Vec<Algorithm> {
    let solver =
        |name: &str| format!("reconstruct: plm<limiter = mc>; riemann: {name}; time: ssprk3;");
    let laws = ["hll", "hlle", "rusanov", "force"].map(|name| (GAS, solver(name)));
    let of = |order: u32, mixed: &str| {
        let scheme = format!(
            "space: central<order = {order}>; mixed: {mixed}; arith: differences; time: rk3_williamson;"
        );
        (VISCOUS, scheme)
    };
    let all = laws.into_iter().chain([of(2, "composed"), of(6, "bidiagonal")]);
    let made = all.map(|(items, scheme)| {
        algorithm(&format!(
            "pub system S in {dimension}d {{ {items} }} scheme s for S {{ {scheme} }}"
        ))
    });
    made.collect()
}

#[test]
fn exchanged_axes_exchange_the_bits() {
    let cells = [9, 9, 1];
    for algorithm in systems(2) {
        let other = |name: &str| match axis_of(name) {
            Some((field, axis)) => format!("{field}_{}", ["y", "x"][axis]),
            None => name.to_string(),
        };
        let straight = after(&algorithm, cells, &value);
        let exchanged = after(&algorithm, cells, &|name, [x, y, z]| value(&other(name), [y, x, z]));
        let fields = names(&algorithm, Role::Field);
        for (name, straight) in fields.iter().zip(&straight) {
            let to = fields.iter().position(|field| *field == other(name)).unwrap();
            for (i, value) in straight.iter().enumerate() {
                let got = exchanged[to][i % 9 * 9 + i / 9];
                assert_eq!(value.to_bits(), got.to_bits(), "{}: {name}", algorithm.scheme);
            }
        }
    }
}

#[test]
fn what_depends_on_one_axis_has_the_same_bits_along_each() {
    for algorithm in systems(3) {
        let along = |axis: usize| {
            let mut cells = [2; 3];
            cells[axis] = 9;
            let start = |name: &str, at: [usize; 3]| match axis_of(name) {
                Some((field, own)) if own == axis => value(&format!("{field}_x"), [at[axis], 0, 0]),
                Some(_) => 0.0,
                None => value(name, [at[axis], 0, 0]),
            };
            let end = after(&algorithm, cells, &start);
            let stride: usize = cells[..axis].iter().product();
            let fields = names(&algorithm, Role::Field);
            let profile = fields
                .iter()
                .zip(end)
                .filter(|(name, _)| axis_of(name).is_none_or(|(_, own)| own == axis));
            profile
                .map(|(_, end)| (0..9).map(|i| end[i * stride].to_bits()).collect())
                .collect::<Vec<Vec<u32>>>()
        };
        assert_eq!(along(0), along(1), "{}", algorithm.scheme);
        assert_eq!(along(0), along(2), "{}", algorithm.scheme);
    }
}
