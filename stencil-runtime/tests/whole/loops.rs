//! Loops of functions that end by a test.

use stencil_runtime::{Engine, Error, Number, Simulation};

use crate::runs::text;

/// Roots by Heron's method, and how many iterations they took, in one step of length one.
const ROOTS: &str = "system Roots in 1d {
    field a: scalar; field root: scalar; field count: scalar;
    param tolerance: real = 1e-5;
    fn heron(a: scalar) -> vector {
        let mut x = a;
        for i in 0..9 { x = (x + a/x)/2; until(abs(x^2 - a) <= tolerance*a); }
        [x]
    }
    fn iterations(a: scalar) -> scalar {
        let mut x = a;
        let mut n = 0;
        for i in 0..9 { x = (x + a/x)/2; n = n + 1; until(abs(x^2 - a) <= tolerance*a); }
        n
    }
    ddt(a) = 0;
    ddt(root) = heron(a).x;
    ddt(count) = iterations(a);
}
scheme s for Roots { space: central<order = 2>; time: euler; }";

const CELLS: usize = 50;

fn a(x: f64) -> f64 {
    (x * 12.0 - 3.0).exp2()
}

fn roots_have_the_bits_of_stopping<T: Number>() {
    let system = text(ROOTS);
    for engine in [Engine::Cpu, Engine::Rows] {
        let builder = Simulation::<T>::builder(&system).cells([CELLS, 1, 1]).dt(1.0);
        let mut simulation = builder.engine(engine).build().unwrap();
        simulation.set("a", |x, _, _| a(x)).unwrap();
        simulation.step().unwrap();
        let [a, root, count] = ["a", "root", "count"].map(|name| simulation.to_f64(name).unwrap());
        let mut counts = Vec::new();
        for ((a, root), count) in a.iter().zip(&root).zip(&count) {
            let [half, tolerance] = [0.5, 1e-5].map(T::from_f64);
            let a = T::from_f64(*a);
            let (mut x, mut n) = (a, 0.0);
            loop {
                x = (x + a / x) * half;
                n += 1.0;
                if (x * x - a).to_f64().abs() <= (tolerance * a).to_f64() {
                    break;
                }
            }
            assert_eq!((x.to_f64(), n), (*root, *count), "of {a:?}");
            counts.push(n as u32);
        }
        counts.sort_unstable();
        assert!(counts[0] < 4 && counts[CELLS - 1] > 6, "{counts:?}");
    }
}

#[test]
fn roots_have_the_bits_of_stopping_in_f32() {
    roots_have_the_bits_of_stopping::<f32>();
}

#[test]
fn roots_have_the_bits_of_stopping_in_f64() {
    roots_have_the_bits_of_stopping::<f64>();
}

/// One Euler step of length one from zero.
fn epsilon_is_that_of<T: Number>(epsilon: f64) {
    let system = text(
        "system Precise in 1d { field q: scalar; field one: scalar; ddt(q) = epsilon; ddt(one) = 1 + epsilon/2; }
        scheme s for Precise { space: central<order = 2>; time: euler; }",
    );
    for engine in [Engine::Cpu, Engine::Rows] {
        let builder = Simulation::<T>::builder(&system).cells([4, 1, 1]).dt(1.0);
        let mut simulation = builder.engine(engine).build().unwrap();
        for name in ["q", "one"] {
            simulation.set(name, |_, _, _| 0.0).unwrap();
        }
        simulation.step().unwrap();
        let [q, one] = ["q", "one"].map(|name| simulation.to_f64(name).unwrap());
        assert!(q.iter().all(|q| *q == epsilon), "{q:?}");
        assert!(one.iter().all(|one| *one == 1.0), "{one:?}");
    }
}

#[test]
fn epsilon_is_that_of_the_precision() {
    epsilon_is_that_of::<f32>(2_f64.powi(-23));
    epsilon_is_that_of::<f64>(2_f64.powi(-52));
}

#[test]
fn a_tolerance_below_all_digits_is_told_before_and_after() {
    let steps = ROOTS.replace("abs(x^2 - a) <= tolerance*a", "abs(x - a/x) <= tolerance*x");
    let system = text(&steps);
    let build = |tolerance: f64| {
        let builder = Simulation::<f32>::builder(&system).cells([CELLS, 1, 1]).dt(1.0);
        builder.param("tolerance", tolerance).build().unwrap()
    };
    assert_eq!(build(1e-6).remarks(), [""; 0]);
    let mut simulation = build(1e-12);
    let remarks = simulation.remarks();
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    simulation.set("a", |x, _, _| a(x)).unwrap();
    let error = simulation.step().unwrap_err().to_string();
    assert!(error.contains(&remarks.join("; ")), "{error}");
}

#[test]
fn a_loop_that_does_not_end_stops_the_run_and_is_named() {
    let system = text(ROOTS);
    for (tolerance, ends) in [(1e-5, true), (1e-30, false)] {
        let builder = Simulation::<f64>::builder(&system).cells([CELLS, 1, 1]).dt(1.0);
        let mut simulation = builder.param("tolerance", tolerance).build().unwrap();
        // The root of four is exact, so that loop ends in any case.
        let set = simulation.set("a", |x, _, _| if x < 0.25 { 4.0 } else { a(x) });
        set.unwrap();
        match simulation.step() {
            Ok(()) => assert!(ends),
            Err(Error::NotFinite(found)) => {
                assert!(!ends && found.cell[0] >= CELLS / 4, "{found}");
                let loops = "the loop of `heron` in 9 iterations or the loop of `iterations` in 9 iterations";
                assert_eq!(found.iterations.as_deref(), Some(loops));
                let text = found.to_string();
                assert!(text.contains(&format!("Or {loops} did not end.")), "{text}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}
