//! Ideal magnetohydrodynamics with fluxes through edges: order, shocks, and a divergence that stays.

use std::f64::consts::TAU;

use physics::systems::IdealMhd;
use stencil_compiler::model::check;
use stencil_runtime::problem::Problem;
use stencil_runtime::{Axis, Boundary, Definition, Devices, Simulation, System, SystemDef};
use stencil_tests::linear_waves::divergence;
use stencil_tests::{OrPanic, Runs, takes_in_turn};

use crate::solutions::support::{begun, changed, solved};

/// Returns a problem's setting for the first scheme of the library with HLLD and another time integrator.
fn by(time: &str) -> String {
    format!("scheme={{ riemann = \"hlld\", time = \"{time}\" }}")
}

/// Each scheme takes a circularly polarized wave around the box, predictors with a smaller error than Runge and Kutta's method.
#[test]
fn alfven_waves_travel_at_second_order() {
    let error = |scheme: &str, n: usize| {
        let cells = format!("mesh.cells=[{}, {n}]", 2 * n);
        let (problem, mut simulation) = solved::<f64>("ideal_alfven", &[scheme, &cells]);
        let kept = divergence(&mut simulation);
        assert!(kept < 1e-12, "{kept}");
        let errors = problem.errors(&simulation).or_panic();
        let all = ["m_z", "b_x", "b_y", "b_z"].map(|name| errors[name].l1);
        all.iter().sum::<f64>()
    };
    let of_steps = error("scheme=plm_hlld", 16);
    let predictors = check::predictors().into_iter().map(by);
    let all = ["scheme=plm_hlld", "scheme=plm_hll", "scheme={ riemann = \"seven_waves\" }"];
    for scheme in all.map(String::from).into_iter().chain(predictors) {
        let [coarse, fine] = [8, 16].map(|n| error(&scheme, n));
        let order = (coarse / fine).log2();
        println!("{scheme}: {coarse:.3e} {fine:.3e}, order {order:.2}");
        assert!(order > 1.8, "{scheme}: {coarse} {fine}");
        assert!(!scheme.contains("time") || fine < of_steps, "{scheme}: {fine} {of_steps}");
    }
}

/// Brio and Wu's tube: densities between the waves (Brio and Wu 1988, Figure 2), and a field along the tube that is uniform
/// to the bit.
#[test]
fn a_membrane_bursts_in_a_magnetized_gas() {
    let seven = [
        "scheme={ riemann = \"seven_waves\" }",
        "scheme={ riemann = \"seven_waves<else = hll>\" }",
    ];
    for scheme in ["scheme=plm_hlld", "scheme=plm_hll"].into_iter().chain(seven) {
        let (_, simulation) = solved::<f64>("brio_wu", &[scheme]);
        assert!(simulation.flat("b_x").iter().all(|b| *b == 0.75));
        let rho = simulation.flat("rho");
        let at = |x: f64| rho[(x * 400.0) as usize];
        println!("{scheme}: {:.4} {:.4} {:.4} {:.4}", at(0.42), at(0.53), at(0.6), at(0.75));
        // Behind the fast fan, between compound wave and contact, behind the slow shock.
        for (x, exact) in [(0.42, 0.676), (0.53, 0.697), (0.6, 0.235), (0.75, 0.116)] {
            assert!((at(x) - exact).abs() < 0.02, "{scheme}, {x}: {} {exact}", at(x));
        }
    }
}

/// A loop of field in a flow, across the plane too, keeps its shape and its divergence, and makes no field out of the plane.
#[test]
fn a_flow_carries_a_loop_of_field() {
    let predictors = check::predictors().into_iter().map(by);
    for scheme in ["scheme=plm_hlld".to_string()].into_iter().chain(predictors) {
        let across = ["init.m=[2, 1, 1]", "init.E=1/(gamma - 1) + 3"];
        let changes = ["mesh.cells=[48, 24]", "time.end=0.5", &scheme, across[0], across[1]];
        let (_, mut simulation) = begun::<f64>("field_loop", &changes);
        let energy = |simulation: &Simulation<f64>| -> f64 {
            let squares = ["b_x", "b_y"].map(|name| simulation.flat(name));
            squares.iter().flatten().map(|b| b * b).sum()
        };
        let before = energy(&simulation);
        simulation.run_until(0.5, |_, _| ()).or_panic();
        let kept = energy(&simulation) / before;
        let (divergence, out_of_plane) = (divergence(&mut simulation), simulation.flat("b_z"));
        println!("{scheme}: energy {kept:.3}, divergence {divergence:.1e}");
        assert!(kept > 0.6 && kept < 1.0, "{kept}");
        assert!(divergence < 1e-12, "{divergence}");
        assert!(out_of_plane.iter().all(|b| b.abs() < 1e-16), "{scheme}");
    }
}

/// Returns the distance of a plasma from rest and uniformity after so many steps of 0.9 of the limit, over the initial one.
fn growth(definition: &Definition, time: &str, cells: [usize; 3], steps: usize) -> f64 {
    let system = changed(definition, |model| {
        model.scheme.limiter = "central".into();
        (model.scheme.riemann, model.scheme.time) = ("hlld".into(), time.into());
    });
    let builder = Simulation::<f64>::builder(&system).cells(cells).centered(true);
    let mut simulation = builder.cfl(0.9).build().or_panic();
    let ripple = |x: f64, y: f64, z: f64| {
        let waves = [(1.0, 2.0, 1.0), (3.0, -1.0, 2.0), (4.0, 3.0, -1.0), (-5.0, 4.0, 3.0)];
        waves.map(|(a, b, c)| (TAU * (a * x + b * y + c * z) + a).sin()).iter().sum::<f64>() * 1e-4
    };
    let uniform = [("rho", 1.0), ("m_x", 0.5), ("m_y", 0.3), ("m_z", 0.2), ("E", 2.5)];
    for (at, (name, mean)) in uniform.into_iter().enumerate() {
        simulation.fill(name, |x, y, z| mean + ripple(x + 0.1 * at as f64, y, z));
    }
    let potential = |x, y, z| [ripple(y, z, x), 0.4 * x + ripple(z, x, y), y - 0.7 * x];
    match system.model().dimension {
        1 => simulation.fill("b_x", |_, _, _| 1.0),
        _ => simulation.set_curl("b", potential).or_panic(),
    }
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    let distance = |simulation: &Simulation<f64>| -> f64 {
        let of = |name: &String| {
            let all = simulation.flat(name);
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            all.iter().map(|v| (v - mean).powi(2)).sum::<f64>()
        };
        names.iter().map(of).sum::<f64>().sqrt()
    };
    let before = distance(&simulation);
    simulation.steps(steps);
    distance(&simulation) / before
}

/// Waves of all lengths do not grow near the limit of each predictor, one in a run, without a limiter that would hold them.
#[test]
fn predictors_keep_waves_bounded() {
    for (number, time) in check::predictors().into_iter().enumerate() {
        if !takes_in_turn::<f64>(number) {
            continue;
        }
        let all = [
            growth(&IdealMhd::<1>::DEFINITION, time, [16, 1, 1], 200),
            growth(&IdealMhd::<2>::DEFINITION, time, [10, 8, 1], 200),
            growth(&IdealMhd::<3>::DEFINITION, time, [6, 5, 6], 200),
        ];
        println!("{time}: {all:.3?}");
        assert!(all.iter().all(|growth| *growth < 1.0), "{time}: {all:?}");
    }
}

/// Returns a run of a blast in a box between walls that the field goes along, after some steps.
fn boxed(time: &str, patches: [usize; 3]) -> Simulation<f64> {
    let system = changed(&IdealMhd::<2>::DEFINITION, |model| {
        (model.scheme.riemann, model.scheme.time) = ("hlld".into(), time.into());
    });
    let builder = Simulation::<f64>::builder(&system).cells([14, 12, 1]).centered(true);
    let builder = builder.boundary(Axis::X, Boundary::wall()).boundary(Axis::Y, Boundary::wall());
    let devices = Devices::Count(patches.iter().product::<usize>().min(2));
    let mut simulation = builder.patches(patches).devices(devices).cfl(0.4).build().or_panic();
    simulation.fill("rho", |_, _, _| 1.0);
    simulation.fill("E", |x, y, _| if x + y < 0.7 { 5.0 } else { 1.5 });
    let wave = |x: f64| (std::f64::consts::PI * x).sin();
    simulation.set_curl("b", |x, y, _| [0.0, 0.0, 0.2 * wave(x) * wave(y)]).or_panic();
    simulation.steps(12);
    simulation
}

/// Between walls the divergence stays, nothing goes through them, and patches change no bit.
#[test]
fn predictors_keep_the_divergence_between_walls() {
    for time in check::predictors() {
        let mut one = boxed(time, [1, 1, 1]);
        let kept = divergence(&mut one);
        let through =
            one.values("b_x").iter().skip(13).step_by(14).fold(0.0, |a: f64, b| a.max(b.abs()));
        println!("{time}: {kept:.1e}, through walls {through:.1e}");
        assert!(kept < 1e-12 && through < 1e-15, "{time}: {kept} {through}");
        assert!(one.bits().or_panic() == boxed(time, [2, 2, 1]).bits().or_panic(), "{time}");
    }
}

/// Shocks keep the divergence, too: the vortex of Orszag and Tang, and a blast.
#[test]
fn shocks_keep_the_divergence() {
    for (name, cells, end) in
        [("ideal_vortex", "[32, 32]", 0.3), ("magnetic_blast", "[24, 36]", 0.15)]
    {
        let cells = format!("mesh.cells={cells}");
        let (_, mut simulation) = begun::<f64>(name, &[&cells, "precision=f64"]);
        simulation.run_until(end, |_, _| ()).or_panic();
        let kept = divergence(&mut simulation);
        println!("{name}: {kept:.1e}");
        assert!(kept < 1e-12, "{name}: {kept}");
        let rho = simulation.flat("rho");
        let [least, most] = [f64::min, f64::max].map(|of| rho.iter().copied().reduce(of).unwrap());
        assert!(least > 0.0 && most > 1.5 * least, "{name}: {least} {most}");
    }
}

/// A dense disk spins up the field: pressures stay positive, turning the plane by half a turn changes nothing, and the divergence stays.
#[test]
fn a_rotor_winds_up_the_field() {
    for scheme in ["scheme=plm_hlld", &by("van_leer"), &by("corner_transport")] {
        let changes = ["mesh.cells=[48, 48]", "precision=f64", scheme];
        let (_, mut simulation) = begun::<f64>("magnetic_rotor", &changes);
        simulation.run_until(0.15, |_, _| ()).or_panic();
        let kept = divergence(&mut simulation);
        let [rho, e, m_x, m_y] = ["rho", "E", "m_x", "m_y"].map(|name| simulation.values(name));
        let [b_x, b_y] = ["b_x", "b_y"].map(|name| simulation.values(name));
        let (n, mut least, mut most, mut skew) = (48, f64::INFINITY, 0.0_f64, 0.0_f64);
        for ((_, y, x), rho_here) in rho.indexed_iter() {
            let at = [0, y, x];
            let b = [
                (b_x[at] + b_x[[0, y, (x + n - 1) % n]]) / 2.0,
                (b_y[at] + b_y[[0, (y + n - 1) % n, x]]) / 2.0,
            ];
            let moving = (m_x[at].powi(2) + m_y[at].powi(2)) / (2.0 * rho_here);
            let pressure = 0.4 * (e[at] - moving - (b[0].powi(2) + b[1].powi(2)) / 2.0);
            (least, most) = (least.min(pressure), most.max(*rho_here));
            skew = skew.max((rho_here - rho[[0, n - 1 - y, n - 1 - x]]).abs());
        }
        println!("{scheme}: {kept:.1e}, pressure {least:.4}, density {most:.3}, skew {skew:.1e}");
        assert!(kept < 1e-12 && skew < 1e-10, "{scheme}: {kept} {skew}");
        // The disk has spread and is braked, and still dense.
        assert!(
            least > 0.0 && least < 0.2 && most > 3.0 && most < 10.0,
            "{scheme}: {least} {most}"
        );
    }
}

/// So do flows in space, by every scheme.
#[test]
fn flows_in_space_keep_the_divergence() {
    let system = SystemDef::new(&IdealMhd::<3>::DEFINITION).or_panic();
    for scheme in system.model().schemes() {
        let system = system.with_scheme(&scheme.name).or_panic();
        let simulation = Simulation::<f64>::builder(&system).cells([8, 7, 6]).centered(true);
        let mut simulation = simulation.cfl(0.4).build().or_panic();
        let wave = |a: f64, b: f64| 0.1 * (TAU * a).sin() * (TAU * b).cos();
        simulation.fill("rho", |x, y, _| 1.0 + wave(x, y));
        simulation.fill("E", |_, _, _| 4.0);
        for (name, shift) in [("m_x", 0.1), ("m_y", 0.4), ("m_z", 0.7)] {
            simulation.fill(name, |x, y, z| 3.0 * wave(x + shift, y + z));
        }
        let potential = |x: f64, y: f64, z: f64| [wave(y, z), wave(z, x) + 0.5 * x, wave(x, y)];
        simulation.set_curl("b", potential).or_panic();
        let before = simulation.values("b_y");
        simulation.steps(20);
        let kept = divergence(&mut simulation);
        let moved = (simulation.values("b_y") - before).mapv(f64::abs).sum();
        println!("{}: {kept:.1e}, moved by {moved:.1}", scheme.name);
        assert!(kept < 1e-12 && moved > 1.0, "{}: {kept} {moved}", scheme.name);
    }
}

/// A problem with a potential is written as it is read, and a field in cells has none.
#[test]
fn problems_have_potentials_of_fields_on_faces() {
    let (problem, simulation) = begun::<f64>("field_loop", &["mesh.cells=[12, 6]"]);
    let text = problem.to_toml(None);
    assert!(text.contains("b = { potential = ["), "{text}");
    let library = physics::systems::library();
    let again = Problem::parse("again.toml", &text, ".", &library, &[]).or_panic();
    let mut second = again.builder::<f64>().build().or_panic();
    again.initialize(&mut second).or_panic();
    assert_eq!(simulation.flat("b_x"), second.flat("b_x"));
    assert!(second.flat("b_x").iter().any(|b| *b != 0.0));
    for (wrong, expected) in [
        ("m = { potential = [0, 0, 0] }", "`m` is not a vector field of three components on faces"),
        ("b = { potential = [0, 0] }", "2 values for 3 components"),
    ] {
        let name = &wrong[..1];
        let line = text.lines().find(|line| line.starts_with(&format!("{name} = ")));
        let text = match line {
            Some(line) => text.replace(line, wrong),
            None => text.replace("[init]", &format!("[init]\n{wrong}")),
        };
        let error = Problem::parse("wrong.toml", &text, ".", &library, &[]).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}
