//! PPM against the equations in print, and their consequences for extrema.

use stencil_tests::{OrPanic, Runs};

use super::{ADVECTION, law, started};

/// Returns the slope of Colella and Woodward 1984, Eqs. 1.7 and 1.8, on equal cells.
fn slope(below: f64, own: f64, above: f64) -> f64 {
    let mean = 0.5 * (above - below);
    if (above - own) * (own - below) <= 0.0 {
        return 0.0;
    }
    let most = 2.0 * (own - below).abs().min((above - own).abs());
    mean.abs().min(most) * mean.signum()
}

/// Returns the values of the parabola of the cell `i` at its lower and at its upper face: Eqs. 1.6 and 1.10.
fn parabola(a: &[f64], i: usize) -> [f64; 2] {
    let n = a.len();
    let at = |k: isize| a[(i as isize + k).rem_euclid(n as isize) as usize];
    let slope = |k: isize| slope(at(k - 1), at(k), at(k + 1));
    let face = |k: isize| at(k) + 0.5 * (at(k + 1) - at(k)) - (slope(k + 1) - slope(k)) / 6.0;
    let (own, mut low, mut high) = (at(0), face(-1), face(0));
    if (high - own) * (own - low) <= 0.0 {
        return [own, own];
    }
    let (step, beyond) = (high - low, own - 0.5 * (low + high));
    if step * beyond > step * step / 6.0 {
        low = 3.0 * own - 2.0 * high;
    } else if step * beyond < -step * step / 6.0 {
        high = 3.0 * own - 2.0 * low;
    }
    [low, high]
}

/// Returns the values after one step along x, with speed one or minus one.
fn stepped(a: &[f64], speed: f64, courant: f64) -> Vec<f64> {
    let text = ADVECTION.replace("a: real = 1", &format!("a: real = {speed}"));
    let mut scheme = law(&text, 1, "ppm", "roe").model().clone();
    scheme.scheme.time = "euler".to_string();
    let text = stencil_compiler::model::text::print(&scheme);
    let system = stencil_runtime::SystemDef::from_text("Advection", &text).or_panic();
    let n = a.len();
    let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(courant / n as f64));
    let set = simulation.set("q", |x, _, _| a[(x * n as f64) as usize]);
    set.and_then(|()| simulation.step()).or_panic();
    simulation.flat("q")
}

/// Returns numbers between -1 and 1, the same in every run.
fn numbers(n: usize) -> Vec<f64> {
    let mut state: u32 = 12_345;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 23) - 1.0
    };
    (0..n).map(next).collect()
}

/// Returns rising, falling, steep and flat cells in a row, rough ones and smooth ones.
fn data() -> Vec<f64> {
    let rough = numbers(40);
    let mut sum = 0.0;
    // Steps of one sign and of all sizes.
    let rising = numbers(40).into_iter().map(|step| {
        sum += step.abs().powi(4);
        sum
    });
    let smooth = (0..40).map(|i| (0.37 * f64::from(i)).sin());
    rough.iter().copied().chain(rising).chain(smooth).chain([0.5; 4]).collect()
}

#[test]
fn parabolas_are_those_in_print() {
    let (a, courant) = (data(), 0.3);
    let n = a.len();
    let faces: Vec<[f64; 2]> = (0..n).map(|i| parabola(&a, i)).collect();
    let flattened = faces.iter().zip(&a).filter(|(f, own)| f[0] == **own).count();
    // All cases of Eq. 1.10 are there.
    assert!(flattened > 10 && flattened < n / 2, "{flattened}");
    for speed in [1.0, -1.0] {
        let found = stepped(&a, speed, courant);
        for i in 0..n {
            let (below, above) = ((i + n - 1) % n, (i + 1) % n);
            let out = match speed > 0.0 {
                true => faces[i][1] - faces[below][1],
                false => faces[i][0] - faces[above][0],
            };
            let exact = a[i] - courant * out;
            assert!((found[i] - exact).abs() < 1e-13, "{speed}, {i}: {} {exact}", found[i]);
        }
    }
}

/// At a face the value lies between the cells beside it, and in a cell that is an extremum there is no slope: so one
/// step of an upwind flux makes no new extremum while less than a third of a cell leaves.
#[test]
fn parabolas_make_no_new_extrema() {
    let a = data();
    let n = a.len();
    for speed in [1.0, -1.0] {
        let found = stepped(&a, speed, 1.0 / 3.0);
        for i in 0..n {
            let from = if speed > 0.0 { (i + n - 1) % n } else { (i + 1) % n };
            let (least, most) = (a[i].min(a[from]), a[i].max(a[from]));
            let within = found[i] > least - 1e-13 && found[i] < most + 1e-13;
            assert!(within, "{speed}, {i}: {} of {least} and {most}", found[i]);
        }
    }
}
