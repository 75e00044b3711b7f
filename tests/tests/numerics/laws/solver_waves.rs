//! Riemann solvers that a system declares by their waves.

use std::f64::consts::TAU;

use stencil_runtime::SystemDef;
use stencil_tests::Runs;

use super::{WATER, law, started};

/// Sound, whose waves are written as jumps of the fields (LeVeque 2002, section 3.8), and as jumps of the fluxes.
const SOUND: &str = "system Sound in nd {
    conserved p: scalar; conserved u: vector;
    param K: real = 2; param rho: real = 0.8;
    let c = sqrt(K/rho);
    flux p -> K*u;
    flux u -> p/rho*I;
    riemann jumps {
        let Z = sqrt(K*rho);
        let rise = above.p - below.p;
        let push = dot(above.u - below.u, normal);
        wave (Z*push - rise)/2 at -sqrt(K/rho) { p = -1; u = normal/Z; }
        wave 1 at 0 { u = above.u - below.u - push*normal; }
        wave (Z*push + rise)/2 at sqrt(K/rho) { p = 1; u = normal/Z; }
    }
    riemann parts {
        let Z = sqrt(K*rho);
        let push = Z*dot(rise(u), normal);
        wave (push - rise(p))/2 at -sqrt(K/rho) { flux p -> -1; flux u -> normal/Z; }
        wave (push + rise(p))/2 at sqrt(K/rho) { flux p -> 1; flux u -> normal/Z; }
    }
}";

/// Roe's waves of water (LeVeque 2002, section 15.3.3), with the entropy fix of the language.
const ROE: &str = "
    riemann own {
        let a = sqrt(below.h);
        let b = sqrt(above.h);
        let v = (a*below.u + b*above.u)/(a + b);
        let flow = dot(v, normal);
        let speed = sqrt(g*(below.h + above.h)/2);
        let rise = above.h - below.h;
        let push = dot(above.m - below.m, normal);
        let slow = flow - speed;
        let fast = flow + speed;
        let along = v - flow*normal;
        let ahead = slow - (dot(below.u, normal) - below.c);
        let behind = dot(above.u, normal) - above.c - slow;
        let fan = max(max(ahead, behind), 0);
        let slow_size = if abs(slow) < fan { (slow^2 + fan^2)/(2*fan) } else { abs(slow) };
        let to_fast = fast - (dot(below.u, normal) + below.c);
        let from_fast = dot(above.u, normal) + above.c - fast;
        let other = max(max(to_fast, from_fast), 0);
        let fast_size = if abs(fast) < other { (fast^2 + other^2)/(2*other) } else { abs(fast) };
        wave (fast*rise - push)/(2*speed) at slow spread slow_size { h = 1; m = slow*normal + along; }
        wave 1 at flow { m = above.m - below.m - push*normal - rise*along; }
        wave (push - slow*rise)/(2*speed) at fast spread fast_size { h = 1; m = fast*normal + along; }
    }";

/// Returns all values after some steps from waves around one, along all axes.
fn moved(system: &SystemDef, cells: [usize; 3], dt: f64, steps: usize) -> Vec<f64> {
    let mut simulation = started::<f64>(system, cells, false, Some(dt));
    let dimension = system.model().dimension;
    let names: Vec<String> = system.model().fields.iter().map(|f| f.name.clone()).collect();
    let wave = |x: f64, y: f64| (TAU * x + 0.3).sin() * (TAU * y).cos();
    simulation.fill(&names[0], |x, y, _| 1.2 + 0.4 * wave(x, y));
    for (axis, name) in ["x", "y"].into_iter().enumerate().take(dimension) {
        let shift = 0.4 * axis as f64 + 0.1;
        simulation.fill(&format!("{}_{name}", names[1]), |x, y, _| 0.9 * wave(x + shift, y + 0.2));
    }
    simulation.steps(steps);
    let axes = ["x", "y"].into_iter().take(dimension);
    let vector: Vec<String> = axes.map(|axis| format!("{}_{axis}", names[1])).collect();
    let all = std::iter::once(names[0].clone()).chain(vector);
    all.flat_map(|name| simulation.flat(&name)).collect()
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    assert!(a.iter().chain(b).all(|v| v.is_finite()) && a.len() == b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

const RECONSTRUCTIONS: [&str; 3] = ["constant", "plm<limiter = mc>", "waves<limiter = mc>"];

#[test]
fn sound_by_its_waves_is_that_of_the_language() {
    for (dimension, cells) in [(1, [24, 1, 1]), (2, [14, 12, 1])] {
        for reconstruct in RECONSTRUCTIONS {
            let known = law(SOUND, dimension, reconstruct, "roe");
            let known = moved(&known, cells, 0.02, 8);
            for own in ["jumps", "parts"] {
                let waves = moved(&law(SOUND, dimension, reconstruct, own), cells, 0.02, 8);
                let most = farthest(&waves, &known);
                println!("{dimension}d {reconstruct} {own}: {most:e}");
                assert!(most < 1e-13, "{dimension}d {reconstruct} {own}: {most:e}");
            }
        }
    }
}

#[test]
fn water_by_its_waves_is_that_of_the_language() {
    let own = WATER.trim_end().strip_suffix('}').unwrap_or(WATER);
    let own = format!("{own}{ROE} }}");
    for (dimension, cells) in [(1, [24, 1, 1]), (2, [14, 12, 1])] {
        for reconstruct in RECONSTRUCTIONS {
            let [waves, known] = [("own", &own[..]), ("roe", WATER)].map(|(riemann, text)| {
                moved(&law(text, dimension, reconstruct, riemann), cells, 0.015, 8)
            });
            let most = farthest(&waves, &known);
            println!("{dimension}d {reconstruct}: {most:e}");
            assert!(most < 1e-12, "{dimension}d {reconstruct}: {most:e}");
        }
    }
}

/// A jump from -1 to 1 opens into a fan by the entropy fix of a declared wave (LeVeque 2002, Eq. 12.12), and stands without.
#[test]
fn an_entropy_fix_of_a_declared_wave_opens_a_fan() {
    let error = |spread: &str| {
        let text = format!(
            "system Burgers in 1d {{ conserved q: scalar; flux q -> [q^2/2];
                riemann own {{
                    let s = (below.q + above.q)/2;
                    let fan = max((above.q - below.q)/2, 0);
                    wave above.q - below.q at s {spread} {{ q = 1; }}
                }}
            }}"
        );
        let system = law(&text, 1, "constant", "own");
        let n = 80;
        let mut simulation = started::<f64>(&system, [n, 1, 1], true, Some(0.5 / n as f64));
        simulation.fill("q", |x, _, _| if x < 0.5 { -1.0 } else { 1.0 });
        simulation.steps(40);
        simulation.error("q", |x, _, _| ((x - 0.5) / 0.25).clamp(-1.0, 1.0))
    };
    let with = error("spread if abs(s) < fan { (s^2 + fan^2)/(2*fan) } else { abs(s) }");
    let without = error("");
    println!("{with:.3e} {without:.3e}");
    assert!(with < 0.05 && without > 0.2, "{with} {without}");
}
