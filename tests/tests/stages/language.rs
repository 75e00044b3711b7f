//! Systems that use all of the language go through every stage and preset with the oracle's bits.

use stencil_compiler::expr::Real;
use stencil_tests::{Case, OrPanic, Reference, algorithm_of, larger};

const SYSTEMS: [(&str, [usize; 3]); 10] = [
    (
        "system Mix in 2d {
            field a: scalar; field v: vector; param k: real = 0.3;
            let pressure = a^2/2 + min(a, 0.5);
            ddt(a) = -div(a*v) + sqrt(abs(a) + 1)/(2 + a^2) - max(a, k)*k/(1 + k);
            ddt(v) = -grad(pressure) + 0.01*lap(v) - dot(v, grad(v)) + [1, 2]*a;
        }",
        [19, 14, 1],
    ),
    (
        "system Induction in 3d {
            field u: vector; field b: vector; param eta: real = 0.02; param mu: real;
            let j = curl(b);
            ddt(u) = cross(j, b)/mu - div(outer(u, u)) + 0.01*(lap(u) + grad(div(u)));
            ddt(b) = curl(cross(u, b) - eta*j);
        }",
        [11, 9, 8],
    ),
    (
        "system Waves in 1d {
            field u: scalar;
            ddt(u) = -u*d[x](u) + 0.02*d2[x](u) - 0.001*d[x](d[x](d[x](u))) - d[x](d2[x](u))/500;
        }",
        [41, 1, 1],
    ),
    (
        "system Tensors in 2d {
            field stress: tensor; field q: vector;
            ddt(stress) = 0.1*lap(stress) - sym(grad(q)) + 0.2*sym_traceless(transpose(stress)) - trace(stress)*outer(q, q);
            ddt(q) = div(stress) + dot(stress, q) - [stress.xy*q.y, dot(q, q)]/10;
        }",
        [15, 13, 1],
    ),
    ("system Still in 3d { field f: scalar; field g: scalar; field h: scalar; ddt(f) = 1; ddt(g) = 0; ddt(h) = f; }", [9, 7, 5]),
    (
        "system Deep in 3d {
            field f: scalar; param a: real = 2; param b: real = 3;
            ddt(f) = 0.001*lap(lap(f)) - 0.01*d[z](f*d[z](f))/(a + b)^2 + div(f*grad(f))/(a*b - 1)/50;
        }
        scheme s for Deep { space: central<order = 4>; }",
        [10, 11, 12],
    ),
    (
        "system Far in 3d { field f: scalar; field u: vector; ddt(f) = div(u); ddt(u) = grad(f) + grad(div(u))/100; }
         scheme s for Far { space: central<order = 10>; time: euler; }",
        [12, 13, 11],
    ),
    (
        "system Mixed in 2d { field f: scalar; ddt(f) = d[x](d[y](f)) + d[y](d[y](f)) + f*d[y](d[x](f))*d[x](f); }
         scheme s for Mixed { space: central<order = 2>; time: rk3_williamson; }",
        [18, 9, 1],
    ),
    (
        "system Implicit in 2d {
            field f: scalar; field u: vector;
            fn root(a: scalar) -> scalar {
                let mut x = 1 + a;
                for i in 0..12 { let step = (x - a/x)/2; x = x - step; until(abs(step) <= 1e-5*x); }
                x
            }
            fn halved(v: vector) -> vector {
                let mut w = v;
                for i in 0..8 { w = w/2; until(dot(w, w) < 0.1); }
                w
            }
            ddt(f) = lap(root(1 + f^2));
            ddt(u) = -halved(u) + 0.01*lap(u) + grad(root(2 + f))/50;
        }
        scheme s for Implicit { space: central<order = 2>; time: rk3_williamson; }",
        [17, 9, 1],
    ),
    (
        "system Precise in 2d {
            field f: scalar; param k: real = 3;
            let small = k*sqrt(epsilon);
            fn root(a: scalar) -> scalar {
                let mut x = 1 + a;
                for i in 0..12 { let step = (x - a/x)/2; x = x - step; until(abs(step) <= 4*epsilon*x); }
                x
            }
            ddt(f) = lap(root(1 + f^2)) + f*small/(epsilon + f^2) - f/(1 + k*epsilon);
        }
        scheme s for Precise { space: central<order = 2>; time: rk3_williamson; }",
        [17, 9, 1],
    ),
];

fn all_stages<T: Real>(source: &str, cells: [usize; 3]) {
    let algorithm = algorithm_of(source);
    let case = Case::new(&algorithm, cells.map(larger)).stepping(1e-3);
    Reference::<T>::of(&algorithm, case, 2).agree_in_turn(3);
}

fn all_of_the_language<T: Real>() {
    for (source, cells) in SYSTEMS {
        for mixed in ["bidiagonal", "product", "composed"] {
            let with_scheme = match source.split_once("scheme s for") {
                Some((system, scheme)) => format!(
                    "{system} scheme s for{}",
                    scheme.replace('}', &format!(" mixed: {mixed}; }}"))
                ),
                None => {
                    let name = source.split_whitespace().nth(1).unwrap_or_default();
                    format!(
                        "{source} scheme s for {name} {{ space: central<order = 6>; mixed: {mixed}; }}"
                    )
                }
            };
            all_stages::<T>(&with_scheme, cells);
        }
    }
}

#[test]
fn all_of_the_language_has_the_same_bits_on_all_engines_in_f32() {
    all_of_the_language::<f32>();
}

#[test]
fn all_of_the_language_has_the_same_bits_on_all_engines_in_f64() {
    all_of_the_language::<f64>();
}

/// Returns `let`s that each use the one before; the last is in the equation.
fn chain(first: &str, next: &str, count: usize) -> String {
    let named = |(i, rhs): (usize, String)| format!("let l{i} = {rhs};\n");
    let all = (1..=count).map(|i| {
        (i, if i == 1 { first.to_string() } else { next.replace("last", &format!("l{}", i - 1)) })
    });
    let lets: String = all.map(named).collect();
    format!(
        "system S in 2d {{ field p: scalar; param a: real = 0.1; {lets} ddt(p) = l{count}*p; }}
         scheme s for S {{ space: central<order = 2>; }}"
    )
}

#[test]
fn long_chains_of_names_stay_small() {
    for source in [
        chain("p*p + p", "last*last", 20),
        chain("lap(p)", "lap(last)", 8),
        chain("sqrt(p*p + 1) + p", "sqrt(last) + min(last, p)", 26),
    ] {
        let algorithm = algorithm_of(&source);
        assert!(algorithm.functions.len() < 1000, "{} grid functions", algorithm.functions.len());
    }
}

#[test]
fn a_power_of_a_parameter_beyond_every_polynomial_has_the_same_bits_on_all_engines() {
    let source = chain("a*a", "last*last", 35);
    all_stages::<f32>(&source, [9, 8, 1]);
    all_stages::<f64>(&source, [9, 8, 1]);
}

#[test]
fn a_number_out_of_range_is_an_error() {
    let source = chain("3/7", "last*last", 35);
    let model = stencil_compiler::model::parse::parse_str(&source).or_panic();
    let error = stencil_compiler::discretize::discretize(&model)
        .expect_err("7^(2^34) is too large a number");
    assert!(error.message.contains("range"), "{error}");
}

#[test]
fn a_name_may_end_as_the_arrays_of_new_values_do() {
    let source = "system S in 2d { field p: scalar; let p_new = p*p; ddt(p) = lap(p_new) + p_new; }
                  scheme s for S { space: central<order = 2>; time: euler; }";
    all_stages::<f32>(source, [9, 8, 1]);
    all_stages::<f64>(source, [9, 8, 1]);
}
