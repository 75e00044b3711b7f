//! Functions that are defined by themselves: called in Rust, and linked by systems.

use stencil_runtime::{Engine, Number, Simulation, pde};

/// Functions of a library.
mod library {
    use stencil_runtime::pointwise;

    /// Returns twice the harmonic mean of slopes of one sign.
    #[pointwise]
    pub(crate) fn harmonic(a: scalar, b: scalar) -> scalar {
        if a * b > 0 { 2 * a * b / (a + b) } else { 0 }
    }

    /// Returns the real root of `r^3 + r = a`.
    #[pointwise]
    pub(crate) fn root(a: scalar) -> scalar {
        let mut r = a / (1 + abs(a));
        for i in 0..20 {
            let step = (r ^ 3 + r - a) / (3 * r ^ 2 + 1);
            r = r - step;
            until(abs(step) <= 1e-5 * abs(r));
        }
        r
    }

    /// Returns the part of a vector across another one.
    #[pointwise]
    pub(crate) fn across(u: vector, n: vector) -> vector {
        u - dot(u, n) / dot(n, n) * n
    }

    /// Returns the symmetric part, and the vector in it.
    #[pointwise]
    pub(crate) fn strained(w: tensor, u: vector) -> tensor {
        sym(w) + 1 / 3 * outer(u, u)
    }

    /// Calls another one, and is for three dimensions alone.
    #[pointwise(harmonic, super::library::root as solved)]
    pub(crate) fn turned(u: vector, v: vector, a: scalar) -> vector {
        harmonic(a, solved(a)) * cross(u, v)
    }
}

use library::{across, harmonic, root, strained, turned};

pde! {
    use library::{harmonic as mean_of, root};
    use crate::pointwise::library::harmonic;
    use stencil_tests::half;
    /// Transport with limited slopes.
    pub system Limited in 1d {
        field q: scalar;
        field mean: scalar;
        field solved: scalar;
        let s = half(d[x](q));
        ddt(q) = -s;
        ddt(mean) = mean_of(q, solved);
        ddt(solved) = root(q);
        observe lowest = min(root(q));
        observe highest = max(root(q));
    }
    scheme s for Limited { space: central<order = 2>; time: euler; }
}

const Q: [f64; 6] = [0.3, -1.25, 2.5, 1e-3, -7.0, 0.1];
const SOLVED: [f64; 6] = [0.7, -0.5, -2.5, 3.0, -1.0, 0.3];

fn one<T: Number>(engine: Engine) {
    let of = |value: f64| T::from_f64(value);
    let run = Simulation::<T>::builder(&Limited).cells([6, 1, 1]);
    let run = run.dt(1.0).unchecked_step(true);
    let mut simulation = run.engine(engine).build().unwrap();
    for (name, values) in [("q", Q), ("solved", SOLVED)] {
        let cell = |x: f64, _: f64, _: f64| values[(6.0 * x) as usize];
        simulation.set(name, cell).unwrap();
    }
    let roots = Q.map(|q| root(of(q)).to_f64());
    let watched = simulation.observe().unwrap();
    assert_eq!(watched["lowest"], roots.into_iter().fold(f64::MAX, f64::min));
    assert_eq!(watched["highest"], roots.into_iter().fold(f64::MIN, f64::max));
    simulation.step().unwrap();
    let mean = simulation.field("mean").unwrap();
    for (i, now) in mean.iter().enumerate() {
        let expected = harmonic(of(Q[i]), of(SOLVED[i]));
        assert_eq!(*now, expected, "{} {i}", T::NAME);
    }
}

#[test]
fn a_function_has_the_bits_of_systems_that_link_it() {
    for engine in [Engine::Cpu, Engine::Rows] {
        one::<f64>(engine);
        one::<f32>(engine);
    }
}

#[test]
fn values_are_those_of_the_mathematics() {
    assert_eq!(harmonic(1.0, 3.0), 1.5);
    assert_eq!(harmonic(1.0_f32, -3.0), 0.0);
    assert_eq!(stencil_tests::half(3.0), 1.5);
    let r: f64 = root(10.0);
    assert!((r - 2.0).abs() < 1e-9, "{r}");
    assert_eq!(across([3.0, 4.0], [1.0, 0.0]), [0.0, 4.0]);
    assert_eq!(across([3.0, 4.0, 5.0], [0.0, 2.0, 0.0]), [3.0, 0.0, 5.0]);
    assert_eq!(across([3.0], [2.0]), [0.0]);
    let t = [[1.0, 2.0], [4.0, 8.0]];
    assert_eq!(strained(t, [3.0, 0.0]), [[4.0, 3.0], [3.0, 8.0]]);
    let turned: [f64; 3] = turned([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], 2.0);
    let factor = harmonic(2.0, root(2.0));
    assert_eq!(turned, [0.0, 0.0, factor]);
}

#[test]
fn a_linked_function_is_the_same_as_one_in_the_system() {
    let inside =
        "fn harmonic(a: scalar, b: scalar) -> scalar { if a*b > 0 { 2*a*b/(a + b) } else { 0 } }
        pub system Limited in 1d { field q: scalar; field p: scalar;
            ddt(q) = harmonic(d[x](q), p); ddt(p) = 0*p; }";
    let above = stencil_compiler::model::parse::parse_str(inside).unwrap();
    let moved = inside.replace("pub system Limited in 1d {", "");
    let (function, system) = moved.split_once("field q").unwrap();
    let inside = format!("pub system Limited in 1d {{ {function} field q{system}");
    let inside = stencil_compiler::model::parse::parse_str(&inside).unwrap();
    let printed = |model| stencil_compiler::model::text::print(model);
    assert_eq!(printed(&above), printed(&inside));
}
