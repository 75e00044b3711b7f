//! Quotients with one divisor: how many divisions are left, and which bits they give.

use super::algorithm;
use crate::algorithm::interp::Oracle;
use crate::algorithm::{Algorithm, Def};
use crate::expr::{Node, Op};

/// Three fields with these rates, in steps of Euler.
fn rates(items: &str, [a, b, c]: [&str; 3], arith: &str) -> Algorithm {
    algorithm(&format!(
        "pub system S in 1d {{ field a: scalar; field b: scalar; field c: scalar; {items}
             ddt(a) = {a}; ddt(b) = {b}; ddt(c) = {c}; }}
         scheme s for S {{ space: central<order = 2>; arith: {arith}; time: euler; }}"
    ))
}

/// The number of operations of this kind in an evaluation of all grid functions.
fn count(algorithm: &Algorithm, op: Op) -> usize {
    let nodes = algorithm.functions.iter().flat_map(|f| match &f.def {
        Def::Point(expr) => expr.nodes.as_slice(),
        Def::State(_) | Def::Sum(_) => &[],
    });
    nodes.filter(|node| matches!(node, Node::Op(is, _) if *is == op)).count()
}

/// The number of quotients and reciprocals.
fn divisions(algorithm: &Algorithm) -> usize {
    count(algorithm, Op::Div) + count(algorithm, Op::Reciprocal)
}

#[test]
fn quotients_of_one_divisor_divide_once() {
    let cases = [
        ("", ["b/c", "a/c", "0"], 1),
        ("", ["b/(a + c)", "a/(c + a)", "(a - b)/(a + c)"], 1),
        ("", ["b/c", "1/c", "0"], 1),
        ("", ["1/c^2", "b/c^2", "0"], 1),
        ("let q = b/c;", ["q", "sqrt(q)", "a*a/c"], 1),
        ("fn over(a: scalar, b: scalar) -> scalar { a/b }", ["over(b, c)", "over(a, c)", "0"], 1),
        // Read at neighbours, too.
        ("", ["d[x](b/c)", "a/c", "0"], 1),
        // Two or more divisors each.
        ("", ["b/c + b/a", "a/c", "c/a"], 2),
        // Alone: one value, whoever reads it, and other divisors.
        ("let q = b/c;", ["q", "sqrt(q)", "a/b"], 2),
        ("", ["b/c", "a/d[x](c)", "0"], 2),
    ];
    for (items, written, expected) in cases {
        let made = rates(items, written, "collected");
        assert_eq!(divisions(&made), expected, "{items} {written:?}");
    }
    let vector = "field u: vector; field w: vector; ddt(u) = w/c; ddt(w) = 0*u;";
    let vector = rates(vector, ["0", "0", "0"], "collected");
    assert_eq!([Op::Reciprocal, Op::Mul].map(|op| count(&vector, op) > 0), [true, true]);
    assert!(vector.find("c_reciprocal").is_some());
    let as_written = rates("", ["b/c", "a/c", "0"], "as_written");
    assert_eq!(divisions(&as_written), 2);
}

/// The rates in the only cell.
fn evaluated(algorithm: &Algorithm, values: [f64; 3]) -> [f64; 3] {
    let mut oracle = Oracle::<f64>::new(algorithm, [1, 1, 1], &[], [1.0; 3], 1.0).unwrap();
    let states: Vec<_> = (0..3).map(crate::algorithm::StateId).collect();
    for (state, value) in states.iter().zip(values) {
        oracle.set(*state, &[value]);
    }
    oracle.step();
    [0, 1, 2].map(|at| oracle.get(states[at])[0] - values[at])
}

#[test]
fn lone_quotients_and_those_of_equal_values_are_exact() {
    // No product of 49 with the number nearest to 1/49 is one.
    assert_ne!(49.0 * (1.0 / 49.0), 1.0);
    let alone = rates("", ["b/c - a", "-b", "-c"], "collected");
    assert_eq!(evaluated(&alone, [0.0, 49.0, 49.0])[0], 1.0);
    let shared = rates("", ["c/c + b/c - a", "a/c - b", "-c"], "collected");
    assert_eq!(divisions(&shared), 2);
    assert_eq!(evaluated(&shared, [0.0, 0.0, 49.0])[0], 1.0);
    // Zero stays zero, with its sign.
    let negative = rates("", ["a", "a/c", "b/c"], "collected");
    let mut oracle = Oracle::<f64>::new(&negative, [1, 1, 1], &[], [1.0; 3], 1.0).unwrap();
    for (state, value) in [(0, -0.0), (1, -0.0), (2, 49.0)] {
        oracle.set(crate::algorithm::StateId(state), &[value]);
    }
    oracle.step();
    let b = oracle.get(crate::algorithm::StateId(1))[0];
    assert!(b == 0.0 && b.is_sign_negative());
}

/// A gas in one dimension by a solver and a reconstruction.
fn gas(riemann: &str, reconstruct: &str) -> Algorithm {
    algorithm(&format!(
        "pub system Gas in 1d {{
             conserved rho: scalar; conserved m: vector; conserved e: scalar;
             param gamma: real = 1.4;
             let u = m/rho; let p = (gamma - 1)*(e - dot(m, u)/2); let h = (e + p)/rho;
             flux rho -> m; flux m -> outer(m, u) + p*I; flux e -> (e + p)*u;
             primitive {{ rho; u; p; m = rho*u; e = p/(gamma - 1) + rho*dot(u, u)/2; }}
             average {{ rho; u by sqrt(rho); h by sqrt(rho); m = rho*u; e = rho*(h + (gamma - 1)*dot(u, u)/2)/gamma; }}
             waves {{ flow: u; sound: sqrt(gamma*p/rho); density: rho; pressure: p; }}
         }}
         scheme s for Gas {{ reconstruct: {reconstruct}; riemann: {riemann}; time: ssprk2; }}"
    ))
}

#[test]
fn states_at_faces_share_reciprocals_and_keep_their_mirror_images() {
    // The flow, the sound and the flux of the energy divide by the density on each side.
    let roe = gas("roe", "plm<limiter = minmod>");
    let names = roe.functions.iter().map(|f| f.name.as_str());
    let reciprocals = names.filter(|name| name.ends_with("reciprocal")).count();
    // Both densities, the one between them, the sum of their roots, and the sound; two fans divide by themselves.
    assert_eq!([reciprocals, divisions(&roe)], [5, 7]);
    let n = 12;
    for algorithm in [roe, gas("hllc", "weno_z in primitive")] {
        let run = |mirrored: bool| {
            let mut oracle =
                Oracle::<f64>::new(&algorithm, [n, 1, 1], &[1.4], [0.1; 3], 0.01).unwrap();
            for (at, of) in ["rho", "m_x", "e"].into_iter().enumerate() {
                let value = |i: usize| {
                    let part = (i * i + 5 * at * i + 3) % 11;
                    let part = part as f64 / 11.0;
                    if at == 1 { part - 0.4 } else { 2.0 + 0.7 * part + at as f64 }
                };
                let sign = if mirrored && at == 1 { -1.0 } else { 1.0 };
                let cell = |i: usize| if mirrored { n - 1 - i } else { i };
                let values: Vec<f64> = (0..n).map(|i| sign * value(cell(i))).collect();
                oracle.set(algorithm.find_state(of).unwrap(), &values);
            }
            (0..3).for_each(|_| oracle.step());
            ["rho", "m_x", "e"].map(|of| oracle.get(algorithm.find_state(of).unwrap()))
        };
        let (straight, mirrored) = (run(false), run(true));
        for (at, (straight, mirrored)) in straight.iter().zip(mirrored).enumerate() {
            let sign = if at == 1 { -1.0 } else { 1.0 };
            let back: Vec<f64> = mirrored.iter().rev().map(|v| sign * v).collect();
            assert!(straight.iter().all(|v| v.is_finite()));
            assert_eq!(*straight, back, "{}, component {at}", algorithm.scheme);
        }
    }
}

#[test]
fn states_of_parabolas_in_single_precision_are_those_in_double_whatever_the_size_of_values() {
    let n = 16;
    let shapes: [fn(usize) -> f64; 4] = [
        |i| if i < 8 { 1.0 } else { 0.0 },
        |i| if i % 2 == 0 { 1.0 } else { -1.0 },
        |i| 1.0 - i as f64 / 16.0,
        |i| f64::from(i == 5) + 1e-7 * f64::from(i == 11),
    ];
    for made in ["weno5", "weno5<eps = 1>", "weno5<eps = 1e-30>", "weno_z"] {
        let algorithm = algorithm(&format!(
            "pub system S in 1d {{ conserved q: scalar; flux q -> [q]; waves {{ flow: [1]; }} }}
             scheme s for S {{ reconstruct: {made}; riemann: hll; time: euler; }}"
        ));
        // The sum of weights for each face.
        assert_eq!(divisions(&algorithm), 2, "{made}");
        let q = algorithm.find_state("q").unwrap();
        for size in [1e-18, 1e-9, 1e-3, 1.0, 1e5, 1e6, 1e8, 1e12, 1e17] {
            for shape in shapes {
                let mut single =
                    Oracle::<f32>::new(&algorithm, [n, 1, 1], &[], [1.0; 3], 0.25).unwrap();
                let mut double =
                    Oracle::<f64>::new(&algorithm, [n, 1, 1], &[], [1.0; 3], 0.25).unwrap();
                let values: Vec<f32> = (0..n).map(|i| (size * shape(i)) as f32).collect();
                single.set(q, &values);
                double.set(q, &values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>());
                single.step();
                double.step();
                for (found, exact) in single.get(q).iter().zip(double.get(q)) {
                    let apart = (f64::from(*found) - exact).abs();
                    assert!(apart < 1e-5 * size, "{made}, {size}: {found} {exact}");
                }
            }
        }
    }
}

/// Divisions by a limited depth, on both sides of a face: below as it is, above in the next cell.
#[test]
fn divisors_that_are_functions_of_the_next_cell_share_the_reciprocal_there() {
    let algorithm = algorithm(
        "pub system Lake in 1d {
             conserved h: scalar; conserved m: vector; param dry: real = 0.001;
             let u = m/max(h, dry);
             flux h -> m; flux m -> outer(m, u) + h^2/2*I;
             riemann spread {
                 let back = abs(dot(below.m, normal)/max(below.h, dry)) + sqrt(below.h);
                 let ahead = abs(dot(above.m, normal)/max(above.h, dry)) + sqrt(above.h);
                 let fastest = max(back, ahead);
                 let ms = below.m + above.m; let dh = above.h - below.h;
                 let us = below.m*dot(below.u, normal) + above.m*dot(above.u, normal); let dm = above.m - below.m;
                 let ps = below.h^2/2 + above.h^2/2;
                 flux h -> dot(ms, normal)/2 - fastest/2*dh;
                 flux m -> us/2 + ps/2*normal - fastest/2*dm;
             }
         }
         scheme s for Lake { reconstruct: constant; riemann: spread; time: euler; }",
    );
    assert_eq!(divisions(&algorithm), 1);
}

/// With waves in one direction alone nothing is taken from empty cells.
#[test]
fn what_is_empty_stays_empty_behind_fast_flows() {
    let n = 16;
    for riemann in ["hll", "hlle"] {
        let algorithm = algorithm(&format!(
            "pub system S in 1d {{ conserved q: scalar; conserved v: scalar;
                 flux q -> [v*q]; flux v -> [0*v]; waves {{ flow: [v]; }} }}
             scheme s for S {{ reconstruct: constant; riemann: {riemann}; time: euler; }}"
        ));
        let mut oracle = Oracle::<f64>::new(&algorithm, [n, 1, 1], &[], [1.0; 3], 0.25).unwrap();
        let states = ["q", "v"].map(|name| algorithm.find_state(name).unwrap());
        let full = |i: usize| if i < n / 2 { 0.0 } else { 0.3 + i as f64 };
        oracle.set(states[0], &(0..n).map(full).collect::<Vec<_>>());
        // Their products with their reciprocals are not one.
        let flow = |i: usize| [49.0, 98.0, 103.0, 107.0, 161.0, 187.0, 196.0, 197.0][i % 8];
        assert!((0..8).all(|i| flow(i) * (1.0 / flow(i)) != 1.0));
        oracle.set(states[1], &(0..n).map(flow).collect::<Vec<_>>());
        oracle.step();
        // The first cell is behind the last one, which is full.
        let after = oracle.get(states[0]);
        assert!(after[1..n / 2].iter().all(|q| *q == 0.0), "{riemann}: {after:?}");
    }
}
