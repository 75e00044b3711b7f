//! Water over beds, some of which lie dry.

use physics::systems::River;
use stencil_compiler::model::{parse, text};
use stencil_runtime::{Number, Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::started;
use crate::solutions::support::{changed, model_of};

/// Solvers as a system may declare them: one that gives fluxes, and one that gives the state.
const DECLARED: &str = "
    riemann spread {
        let ahead = dot(below.u, normal);
        let back = dot(above.u, normal);
        let fastest = max(abs(ahead) + below.c, abs(back) + above.c);
        flux h -> (ahead*below.h + back*above.h)/2 - fastest/2*(above.h - below.h);
        flux m -> (ahead*below.m + back*above.m + (below.p + above.p)*normal)/2 - fastest/2*(above.m - below.m);
    }
    riemann halfway {
        let flow = dot(below.u + above.u, normal)/2;
        let speed = (below.c + above.c)/2;
        let filled = (below.h + above.h)/4*dot(above.u - below.u, normal)/speed;
        let middle = flow - g*(above.h - below.h)/(2*speed);
        let near = if 0 < middle { below.u } else { above.u };
        h = if speed <= flow { below.h } else if flow <= -speed { above.h } else { (below.h + above.h)/2 - filled };
        u = if speed <= flow { below.u } else if flow <= -speed { above.u } else { near + (middle - dot(near, normal))*normal };
        surface = if speed <= flow { below.surface } else if flow <= -speed { above.surface } else { (below.surface + above.surface)/2 - filled };
    }
    waves {";

/// Water in one or two dimensions, by a scheme of these settings.
fn river(dimension: usize, settings: &[(&str, &str)], time: &str) -> SystemDef {
    let definition = match dimension {
        1 => &River::<1>::DEFINITION,
        _ => &River::<2>::DEFINITION,
    };
    changed(definition, |model| {
        let text = text::print(&model_of(definition)).replace("    waves {", DECLARED);
        *model = parse::parse_str(&text).or_panic();
        for (key, text) in settings {
            let scheme = model.scheme.with_fluxes(key, text, &model.solvers);
            model.scheme = scheme.or_panic();
        }
        model.scheme.time = time.to_string();
    })
}

/// A bump, and an island.
fn lake_bed(x: f64, y: f64) -> f64 {
    let hill = |at: f64, height: f64| {
        let square = (x - at).powi(2) + (y - 0.45).powi(2);
        height * (-square / 0.01).exp()
    };
    hill(0.25, 0.5) + hill(0.7, 1.6)
}

/// Returns the largest flow and the largest change of the depth of a lake at rest after a while.
fn disturbed<T: Number>(system: &SystemDef, island: bool) -> [f64; 2] {
    let cells = match system.model().dimension {
        1 => [60, 1, 1],
        _ => [40, 30, 1],
    };
    let plane = system.model().dimension == 2;
    let bed = move |x: f64, y: f64| lake_bed(x, if plane { y } else { 0.45 });
    let surface = if island { 1.0 } else { 2.0 };
    let dt = 0.1 / 60.0 / f64::sqrt(2.0 * G);
    let mut simulation = started::<T>(system, cells, false, Some(dt));
    simulation.fill("bed", |x, y, _| bed(x, y));
    simulation.fill("h", |x, y, _| f64::max(surface - bed(x, y), 0.0));
    let before = simulation.flat("h");
    assert_eq!(before.contains(&0.0), island);
    simulation.run(60, |_, _| ()).or_panic();
    let changes = simulation.flat("h").into_iter().zip(before);
    let most =
        |all: &mut dyn Iterator<Item = f64>| all.fold(0.0, |a, b| if b <= a { a } else { b });
    let flows = ["m_x", "m_y"].into_iter().take(system.model().dimension);
    let mut flows = flows.flat_map(|name| simulation.flat(name));
    [most(&mut flows.by_ref().map(f64::abs)), most(&mut changes.map(|(a, b)| (a - b).abs()))]
}

/// Limits that leave no slope of the surface beside a dry neighbour keep it at rest; the others move it there.
#[test]
fn a_lake_at_rest_stays_so() {
    let limited = ["constant", "plm<limiter = mc>", "plm<limiter = minmod>", "ppm"];
    let others = ["plm<limiter = central>", "weno5", "weno_z"];
    let all = limited.iter().chain(&others);
    let mut pairs: Vec<(&str, &str)> = all.clone().map(|made| (*made, "hll")).collect();
    for riemann in ["force", "hllc", "hlle", "musta", "roe", "rusanov", "spread", "halfway"] {
        pairs.push(("plm<limiter = mc>", riemann));
    }
    let mut wrong = String::new();
    for dimension in [1, 2] {
        for (number, (made, riemann)) in pairs.iter().enumerate() {
            let name = format!("{dimension}d {riemann}, {made}");
            let made_of = format!("{made} in primitive");
            let settings = [("reconstruct", &made_of[..]), ("riemann", riemann)];
            let system = river(dimension, &settings, "ssprk2");
            for island in [false, true] {
                let fine = disturbed::<f64>(&system, island);
                // Every third pair in the other precision, others in other dimensions.
                let coarse = match (number + dimension) % 3 {
                    0 => disturbed::<f32>(&system, island),
                    _ => [0.0; 2],
                };
                println!("{name}, island {island}: {fine:?} {coarse:?}");
                let still = |changes: [f64; 2], least: f64| changes.iter().all(|c| *c < least);
                let stays = !island || limited.contains(made);
                if stays && !(still(fine, 1e-13) && still(coarse, 1e-5)) {
                    wrong += &format!("{name}, island {island}\n");
                }
            }
        }
    }
    let swept = [("sweep", "dimensional")];
    let [flow, change] = disturbed::<f64>(&river(2, &swept, "ssprk2"), true);
    assert!(flow < 1e-13 && change < 1e-13, "{flow} {change}");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Returns the mean error of the depth against this exact one at the end.
fn error(simulation: &mut Simulation<f64>, end: f64, exact: impl Fn(f64, f64) -> f64) -> f64 {
    simulation.run_until(end, |_, _| ()).or_panic();
    simulation.error("h", |x, y, _| exact(x, y))
}

/// The gravity of the system.
const G: f64 = 9.81;

/// A dam of depth one breaks over a dry bed (Ritter, Z. Ver. Dtsch. Ing. 36, 947, 1892; Toro, Shock-Capturing Methods for
/// Free-Surface Shallow Flows, 2001, section 6.3): a single rarefaction.
#[test]
fn a_dam_breaks_over_a_dry_bed() {
    let c = G.sqrt();
    let depth = |s: f64| {
        let fan = (2.0 * c - s).powi(2) / (9.0 * G);
        if s < -c {
            1.0
        } else if s < 2.0 * c {
            fan
        } else {
            0.0
        }
    };
    for riemann in ["hll", "hllc", "rusanov"] {
        let end = 0.06;
        let error = |n: usize, back: bool| {
            let system = river(1, &[("riemann", riemann)], "ssprk2");
            let mut simulation = started::<f64>(&system, [n, 1, 1], true, None);
            let filled = |x: f64| f64::from(u8::from((x < 0.5) != back));
            simulation.fill("h", |x, _, _| filled(x));
            let error = error(&mut simulation, end, |x, _| {
                depth(if back { 0.5 - x } else { x - 0.5 } / end)
            });
            assert!(simulation.flat("h").iter().all(|h| *h >= 0.0));
            error
        };
        let [coarse, fine] = [100, 400].map(|n| error(n, false));
        let order = (coarse / fine).log2() / 2.0;
        println!("{riemann}: {coarse:.2e}, {fine:.2e}, order {order:.2}");
        assert!(order > 0.9 && fine < 1.2e-3, "{riemann}: {fine} {order}");
        let back = error(400, true);
        assert!((back / fine - 1.0).abs() < 1e-9, "{riemann}: {fine} {back}");
    }
}

/// A plane of water swings in a parabolic trough (Thacker, J. Fluid Mech. 107, 499, 1981, section 5), once to and fro.
#[test]
fn water_swings_in_a_trough() {
    let (deep, half, speed) = (0.5, 0.3, 0.5);
    let omega = (2.0 * G * deep).sqrt() / half;
    let depth = move |x: f64, t: f64| {
        let at = (x - 0.5) / half + speed / (2.0 * G * deep).sqrt() * (omega * t).cos();
        f64::max(deep * (1.0 - at * at), 0.0)
    };
    let end = std::f64::consts::TAU / omega;
    let error = |n: usize| {
        let system = river(1, &[], "ssprk2");
        let mut simulation = started::<f64>(&system, [n, 1, 1], false, None);
        simulation.fill("bed", |x, _, _| deep * ((x - 0.5) / half).powi(2));
        simulation.fill("h", |x, _, _| depth(x, 0.0));
        let before: f64 = simulation.flat("h").iter().sum();
        let error = error(&mut simulation, end, |x, _| depth(x, end));
        let after = simulation.flat("h");
        assert!(after.iter().all(|h| *h >= 0.0));
        let lost = (after.iter().sum::<f64>() / before - 1.0).abs();
        assert!(lost < 1e-13, "{lost}");
        error
    };
    let [coarse, fine] = [100, 400].map(error);
    let order = (coarse / fine).log2() / 2.0;
    println!("{coarse:.2e}, {fine:.2e}, order {order:.2}");
    assert!(order > 1.2 && fine < 1e-3, "{fine} {order}");
}

/// Water flows over a smooth bump along each axis, nowhere as fast as its waves: its flux and its energy `m²/(2h²) + g
/// (h + b)` are the same everywhere (Bernoulli).
#[test]
fn a_steady_flow_over_a_bump_is_of_second_order() {
    let (carried, energy) = (1.0, 0.5 + G);
    let bed = |x: f64| 0.1 * (2.0 * std::f64::consts::TAU * x).sin().powi(2);
    let depth = |x: f64| {
        let mut h = 1.0;
        for _ in 0..50 {
            let value = carried * carried / (2.0 * h * h) + G * (h + bed(x)) - energy;
            h -= value / (G - carried * carried / f64::powi(h, 3));
        }
        h
    };
    for (axis, name) in ["m_x", "m_y"].into_iter().enumerate() {
        let error = |n: usize, sign: f64| {
            let system =
                river(2, &[("reconstruct", "plm<limiter = van_leer> in primitive")], "ssprk2");
            let along = |x: f64, y: f64| [x, y][axis];
            let mut cells = [4, 4, 1];
            cells[axis] = n;
            let mut simulation = Simulation::<f64>::builder(&system).cells(cells).centered(true);
            let mut extent = [4.0 / n as f64; 3];
            extent[axis] = 1.0;
            simulation = simulation.extent(extent).cfl(0.8);
            let mut simulation = simulation.build().or_panic();
            simulation.fill("bed", |x, y, _| bed(along(x, y)));
            simulation.fill("h", |x, y, _| depth(along(x, y)));
            simulation.fill(name, |_, _, _| sign * carried);
            error(&mut simulation, 0.2, |x, y| depth(along(x, y)))
        };
        let [coarse, fine] = [40, 80].map(|n| error(n, 1.0));
        let back = error(80, -1.0);
        let order = (coarse / fine).log2();
        println!("{name}: {coarse:.2e}, {fine:.2e}, order {order:.2}; back {back:.2e}");
        assert!(order > 1.8 && fine < 1e-3, "{name}: {fine} {order}");
        assert!((back / fine - 1.0).abs() < 1e-9, "{name}: {fine} {back}");
    }
}

/// Waves as small as rounding allows are proportional to larger ones: no noise from the bed is among them.
#[test]
fn small_waves_over_a_bump_are_in_proportion() {
    let wave = |size: f64| {
        let system = river(1, &[("reconstruct", "plm<limiter = central> in primitive")], "ssprk2");
        let mut simulation = started::<f64>(&system, [100, 1, 1], false, Some(5e-4));
        let bed = |x: f64| lake_bed(x, 0.45) / 4.0;
        let crest = move |x: f64| size * (-((x - 0.45) / 0.05).powi(2)).exp();
        simulation.fill("bed", |x, _, _| bed(x));
        simulation.fill("h", |x, _, _| 1.0 - bed(x) + crest(x));
        simulation.run(150, |_, _| ()).or_panic();
        let depths = simulation.flat("h").into_iter().zip(simulation.flat("bed"));
        depths.map(|(h, bed)| (h + bed - 1.0) / size).collect::<Vec<f64>>()
    };
    let (small, large) = (wave(1e-9), wave(1e-6));
    let apart = small.iter().zip(&large).map(|(a, b)| (a - b).abs());
    let apart = apart.fold(0.0, f64::max);
    let highest = large.iter().copied().fold(0.0, f64::max);
    println!("{apart:.1e} {highest:.3}");
    assert!(apart < 1e-5 && highest > 0.2, "{apart} {highest}");
}

/// A wall of water runs over bumps and an island, and its mirror image the other way.
#[test]
fn floods_have_mirrored_bits_and_keep_their_water() {
    let mut wrong = String::new();
    for (made, riemann, time) in [
        ("plm<limiter = mc>", "hll", "ssprk2"),
        ("plm<limiter = minmod>", "hllc", "ssprk2"),
        ("ppm", "rusanov", "ssprk3"),
        ("weno_z", "hll", "ssprk3"),
        ("constant", "force", "euler"),
        ("plm<limiter = mc>", "roe", "ssprk2"),
    ] {
        let made = format!("{made} in primitive");
        let system = river(2, &[("reconstruct", &made), ("riemann", riemann)], time);
        for axis in 0..2 {
            let run = |mirrored: bool| {
                let seen = |x: f64, y: f64| match (mirrored, axis) {
                    (false, _) => (x, y),
                    (true, 0) => (1.0 - x, y),
                    (true, _) => (x, 1.0 - y),
                };
                let bed = |x: f64, y: f64| {
                    let (x, y) = seen(x, y);
                    // Exact where it is mirrored.
                    (lake_bed(x, y) * 1024.0).round() / 1024.0
                };
                let mut simulation = started::<f64>(&system, [32, 16, 1], false, Some(1.5e-3));
                let high = |x: f64, y: f64| if seen(x, y).0 < 0.2 { 1.5 } else { 0.75 };
                simulation.fill("bed", |x, y, _| bed(x, y));
                simulation.fill("h", |x, y, _| f64::max(high(x, y) - bed(x, y), 0.0));
                let before: f64 = simulation.flat("h").iter().sum();
                let run = simulation.run(40, |_, _| ());
                run.unwrap_or_else(|e| panic!("{riemann}, {made}: {e}"));
                let after: f64 = simulation.flat("h").iter().sum();
                assert!((after / before - 1.0).abs() < 1e-13, "{before} {after}");
                ["h", "m_x", "m_y"].map(|name| simulation.values(name))
            };
            let (straight, image) = (run(false), run(true));
            for (component, (a, b)) in straight.iter().zip(image).enumerate() {
                let mut flipped = b.view();
                flipped.invert_axis(ndarray::Axis(2 - axis));
                let sign = if component == axis + 1 { -1.0 } else { 1.0 };
                let moved = a.iter().any(|v| *v != 0.0 && *v != a[[0, 0, 0]]);
                if !moved || *a != flipped.mapv(|v| sign * v) {
                    wrong += &format!("{riemann}, {made}: {component} along axis {axis}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Not only water is at rest over given data: if `q + b` is the same everywhere, `q²/2` and `q` times the slope of `b`
/// are in balance. Here `b` is reconstructed itself, and the conserved variables follow from it.
#[test]
fn any_law_is_at_rest_over_given_data() {
    for by in ["max", "min"] {
        let text = format!(
            "system Sloping in 1d {{
                conserved q: scalar; field b: scalar;
                let w = q + b;
                flux q -> [q^2/2];
                ddt(q) = -d[x](b)*q;
                ddt(b) = 0;
                primitive {{ w; q = w - b; }}
                face {{ b by {by}; }}
                waves {{ flow: [q]; }}
            }}
            scheme s for Sloping {{ reconstruct: weno_z in primitive; riemann: hll; time: ssprk3; }}"
        );
        let system = SystemDef::from_text("Sloping", &text).or_panic();
        let steps = |extra: f64| {
            let mut simulation = started::<f64>(&system, [50, 1, 1], false, None);
            let hill = |x: f64| lake_bed(x, 0.45);
            simulation.fill("b", |x, _, _| hill(x));
            simulation.fill("q", |x, _, _| 2.0 - hill(x) + extra * x.sin());
            let before = simulation.flat("q");
            simulation.run(80, |_, _| ()).or_panic();
            let after = simulation.flat("q").into_iter().zip(before);
            after.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let (still, moved) = (steps(0.0), steps(0.1));
        assert!(still < 1e-13 && moved > 1e-3, "{by}: {still} {moved}");
    }
}
