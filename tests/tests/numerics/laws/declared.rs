//! Riemann solvers that a system declares.

use stencil_runtime::{Number, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs, takes_in_turn};

use super::exact::{GAMMA, Gas, gas as solution};
use super::{EULER, RECONSTRUCTIONS, SOLVERS, law, started, with_solver};

/// Rusanov's solver as a user would write it.
const RUSANOV: &str = "
    let f = outer(m, u) + p*I;
    let g = (e + p)*u;
    riemann own {
        let speed_below = abs(dot(below.u, normal)) + below.c;
        let speed_above = abs(dot(above.u, normal)) + above.c;
        let half = max(speed_below, speed_above)/2;
        flux rho -> dot(below.m + above.m, normal)/2 - half*(above.rho - below.rho);
        flux m -> dot(normal, below.f + above.f)/2 - half*(above.m - below.m);
        flux e -> dot(below.g + above.g, normal)/2 - half*(above.e - below.e);
    }";

/// The state between the waves of the law made linear (Toro 2009, section 9.3), as a user would write it.
const LINEAR: &str = "
    riemann own {
        let flow = dot(below.u + above.u, normal)/2;
        let c = (below.c + above.c)/2;
        let inertia = (below.rho + above.rho)/2*c;
        let middle = flow - (above.p - below.p)/(2*inertia);
        let pressed = (below.p + above.p)/2 - inertia*dot(above.u - below.u, normal)/2;
        let rho_near = if 0 < middle { below.rho } else { above.rho };
        let u_near = if 0 < middle { below.u } else { above.u };
        let p_near = if 0 < middle { below.p } else { above.p };
        let is_inside = if c <= abs(flow) { 0 } else { 1 };
        rho = rho_near + is_inside*(pressed - p_near)/c^2;
        u = u_near + is_inside*(middle - dot(u_near, normal))*normal;
        p = p_near + is_inside*(pressed - p_near);
    }";

fn gas(items: &str, dimension: usize, reconstruct: &str, riemann: &str) -> SystemDef {
    let own = EULER.trim_end().strip_suffix('}').unwrap_or(EULER);
    law(&format!("{own}{items}}}"), dimension, reconstruct, riemann)
}

/// Returns all values of a gas in motion after some steps.
fn moved(system: &SystemDef, cells: [usize; 3]) -> Vec<f64> {
    let mut simulation = started::<f64>(system, cells, false, Some(2e-3));
    let rho = |x: f64, y: f64| 1.5 + (6.3 * x).sin() * (6.3 * y).cos() * 0.4;
    simulation.fill("rho", |x, y, _| rho(x, y));
    simulation.fill("m_x", |x, y, _| 0.7 * rho(x, y) * (6.3 * y).sin());
    simulation.fill("m_y", |x, y, _| -0.3 * rho(x, y) * (6.3 * x).cos());
    simulation.fill("e", |x, y, _| 2.5 + rho(x, y));
    simulation.steps(10);
    values(&simulation, &["rho", "m_x", "m_y", "e"])
}

fn values(simulation: &Simulation<f64>, names: &[&str]) -> Vec<f64> {
    let of = |name: &&str| simulation.values(name);
    names.iter().flat_map(of).collect()
}

#[test]
fn a_solver_that_is_written_out_is_that_of_the_language() {
    for reconstruct in ["plm<limiter = mc>", "weno_z in primitive"] {
        let declared = moved(&gas(RUSANOV, 2, reconstruct, "own"), [18, 14, 1]);
        let known = moved(&gas("", 2, reconstruct, "rusanov"), [18, 14, 1]);
        let differences = declared.iter().zip(&known).map(|(a, b)| (a - b).abs());
        let most = differences.fold(0.0, f64::max);
        assert!(most < 1e-13, "{reconstruct}: {most}");
    }
    let linear = moved(&gas(LINEAR, 2, "constant", "own"), [18, 14, 1]);
    let known = moved(&gas("", 2, "constant", "hllc"), [18, 14, 1]);
    let differences = linear.iter().zip(&known).map(|(a, b)| (a - b).abs());
    let most = differences.fold(0.0, f64::max);
    assert!(0.0 < most && most < 1e-2, "{most}");
}

/// A tube along each axis, by every reconstruction and every solver in turn: all axes have the same bits, whatever their
/// number. Solvers whose fluxes are those of a step that is as many times as long are left out.
#[test]
fn a_tube_has_the_same_bits_along_all_axes() {
    let lines = "plm<limiter = mc> in primitive";
    let solvers = SOLVERS.iter().chain(&["own"]);
    let mut pairs: Vec<(&str, &str)> = solvers.map(|riemann| (lines, *riemann)).collect();
    pairs.extend(RECONSTRUCTIONS.iter().map(|made| (*made, "hll")));
    pairs.push(("waves<limiter = mc>", "roe"));
    pairs.push(("weno_z in characteristic", "roe"));
    pairs.push(("ppm in fluxes", "rusanov"));
    pairs.push(("weno_z in fluxes", "hlle"));
    pairs.push(("weno5 in fluxes", "roe"));
    let mut wrong = String::new();
    let in_turn = pairs.into_iter().enumerate().filter(|(number, _)| takes_in_turn::<f64>(*number));
    for (_, (reconstruct, riemann)) in in_turn {
        let mut all: Vec<Vec<f64>> = Vec::new();
        let systems = [1, 2, 3].map(|dimension| match riemann {
            "own" => gas(RUSANOV, dimension, reconstruct, riemann),
            _ => law(EULER, dimension, reconstruct, riemann),
        });
        for (dimension, axis) in [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)] {
            let system = &systems[dimension - 1];
            let mut cells = [1; 3];
            cells[..dimension].fill(4);
            cells[axis] = 40;
            let builder = Simulation::<f64>::builder(system).cells(cells);
            let mut simulation = builder
                .extent(cells.map(|n| 0.025 * n as f64))
                .dt(4e-3)
                .unchecked_step(true)
                .build()
                .or_panic();
            let left = |x: f64, y: f64, z: f64| [x, y, z][axis] < 0.5;
            simulation.fill("rho", |x, y, z| if left(x, y, z) { 1.0 } else { 0.5 });
            simulation.fill("e", |x, y, z| if left(x, y, z) { 2.5 } else { 1.5 });
            simulation.steps(8);
            let m = ["m_x", "m_y", "m_z"][axis];
            let of = |name: &str| {
                let array = simulation.values(name);
                let mut line = array.view();
                for other in (0..3).filter(|other| *other != axis) {
                    line.collapse_axis(ndarray::Axis(2 - other), 0);
                }
                line.iter().copied().collect::<Vec<f64>>()
            };
            all.push(["rho", m, "e"].into_iter().flat_map(of).collect());
        }
        assert!(all[0].iter().all(|v| v.is_finite()));
        let (plane, space) = (&all[1..3], &all[3..]);
        let by_dimension = [&all[..1], plane, space];
        let alike = match riemann {
            "force" | "musta" => by_dimension.iter().all(|axes| are_equal(axes)),
            _ => are_equal(&all),
        };
        if !alike {
            wrong += &format!("{riemann}, {reconstruct}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn are_equal(all: &[Vec<f64>]) -> bool {
    all.windows(2).all(|pair| pair[0] == pair[1])
}

/// Returns the conserved variables and their fluxes.
fn law_of(Gas { rho, u, p, gamma }: Gas) -> [[f64; 3]; 2] {
    let (m, e) = (rho * u, p / (gamma - 1.0) + 0.5 * rho * u * u);
    [[rho, m, e], [m, m * u + p, (e + p) * u]]
}

/// Returns fluxes between pairs of states of one gas by the exact solver: in one long step of cells `a a b b`, the loss
/// of the second beyond its inflow.
fn fluxes<T: Number>(pairs: &[[Gas; 2]]) -> Vec<[f64; 3]> {
    let text = with_solver(EULER, "exact");
    let text = format!(
        "{text} scheme s for Euler {{ reconstruct: constant in primitive; riemann: exact; time: euler; }}"
    );
    let system = SystemDef::from_text_in("Euler", &text, Some(1)).or_panic();
    let n = 4 * pairs.len();
    let builder = Simulation::<T>::builder(&system).cells([n, 1, 1]);
    let builder = builder.extent([n as f64, 1.0, 1.0]).dt(1.0).unchecked_step(true);
    let builder = builder.param("gamma", pairs[0][0].gamma);
    let mut simulation = builder.build().or_panic();
    let names = ["rho", "m_x", "e"];
    for (k, name) in names.iter().enumerate() {
        let value = |x: f64| {
            let cell = x as usize;
            law_of(pairs[cell / 4][(cell / 2) % 2])[0][k]
        };
        simulation.fill(name, |x, _, _| value(x));
    }
    let before = names.map(|name| simulation.values(name));
    simulation.step().or_panic();
    let after = names.map(|name| simulation.values(name));
    let flux = |(i, pair): (usize, &[Gas; 2])| {
        let [_, inflow] = law_of(pair[0]);
        let at = [0, 0, 4 * i + 1];
        std::array::from_fn(|k| inflow[k] - (after[k][at] - before[k][at]))
    };
    pairs.iter().enumerate().map(flux).collect()
}

/// Returns pairs of states of any ratio, the same ones always.
fn pairs_of_states(count: usize, decades: f64, gamma: f64) -> Vec<[Gas; 2]> {
    let mut drawn = 0.5;
    // Fractions of multiples of the golden ratio.
    let mut next = move || {
        drawn = (drawn + 0.618_033_988_749_895) % 1.0;
        2.0 * drawn - 1.0
    };
    let mut state = move || {
        let [rho, p] = [next(), next()].map(|x| 10f64.powf(0.5 * decades * x));
        let u = 3.0 * next() * (gamma * p / rho).sqrt();
        Gas { rho, u, p, gamma }
    };
    let pairs = (0..count).map(|_| [state(), state()]);
    // The oracle knows no vacuum.
    let parted = |[a, b]: &[Gas; 2]| {
        let sounds: f64 = [a, b].map(|g| (gamma * g.p / g.rho).sqrt()).iter().sum();
        b.u - a.u < 0.98 * 2.0 / (gamma - 1.0) * sounds
    };
    pairs.filter(parted).collect()
}

fn exact_fluxes_are_those_of_the_solution<T: Number>(decades: f64, gamma: f64, tolerance: f64) {
    let pairs = pairs_of_states(400, decades, gamma);
    assert!(pairs.len() > 300);
    for (pair, found) in pairs.iter().zip(fluxes::<T>(&pairs)) {
        let [_, expected] = law_of(solution(pair[0], pair[1], 0.0));
        let [own, inflow] = law_of(pair[0]);
        for k in 0..3 {
            let scale = own[k].abs() + inflow[k].abs() + expected[k].abs();
            let error = (found[k] - expected[k]).abs();
            // NaN fails this comparison.
            let met = error <= tolerance * scale;
            assert!(met, "{pair:?} {k}: {} for {}", found[k], expected[k]);
        }
    }
}

#[test]
fn exact_fluxes_are_those_of_the_solution_in_f64() {
    exact_fluxes_are_those_of_the_solution::<f64>(2.0, GAMMA, 1e-8);
    exact_fluxes_are_those_of_the_solution::<f64>(6.0, GAMMA, 1e-6);
    // Gases of atoms, and of molecules with many degrees of freedom.
    for gamma in [5.0 / 3.0, 1.1] {
        exact_fluxes_are_those_of_the_solution::<f64>(2.0, gamma, 1e-8);
    }
}

#[test]
fn exact_fluxes_are_those_of_the_solution_in_f32() {
    exact_fluxes_are_those_of_the_solution::<f32>(2.0, GAMMA, 1e-4);
}

#[test]
fn nothing_flows_through_a_vacuum() {
    let away = |u: f64| Gas { rho: 1.0, u, p: 0.4, gamma: GAMMA };
    let found = fluxes::<f64>(&[[away(-5.0), away(5.0)], [away(-5.0), away(9.0)]]);
    for flux in found {
        assert!(flux.iter().all(|f| f.abs() < 1e-12), "{flux:?}");
    }
}

/// The exact solver orders the sides by their pressures; if these are equal, mirror images have mirrored bits, too.
#[test]
fn equal_pressures_have_mirrored_bits() {
    let text = with_solver(EULER, "exact");
    let text = format!(
        "{text} scheme s for Euler {{ reconstruct: constant in primitive; riemann: exact; time: euler; }}"
    );
    let system = SystemDef::from_text_in("Euler", &text, Some(1)).or_panic();
    // Few digits, of which none is lost: density, momentum and energy of one pressure.
    let state = |i: usize, rho: usize, u: usize| {
        let slow = f64::powi(0.5, 5 + (i % 14) as i32);
        let (rho, u) = ((9 + rho) as f64 / 16.0, slow * (u as f64 - 16.0));
        [rho, rho * u, 2.5 + rho * u * u / 2.0]
    };
    let pairs: Vec<[[f64; 3]; 2]> =
        (0..4000).map(|i| [state(i, i % 29, i % 33), state(i, i % 31, 7 * i % 33)]).collect();
    let n = 4 * pairs.len();
    let run = |mirrored: bool| {
        let builder = Simulation::<f64>::builder(&system).cells([n, 1, 1]);
        let builder = builder.extent([n as f64, 1.0, 1.0]).dt(0.5).unchecked_step(true);
        let mut simulation = builder.build().or_panic();
        for (k, name) in ["rho", "m_x", "e"].into_iter().enumerate() {
            simulation.fill(name, |x, _, _| {
                let cell = if mirrored { n - 1 - x as usize } else { x as usize };
                let value = pairs[cell / 4][(cell / 2) % 2][k];
                if mirrored && k == 1 { -value } else { value }
            });
        }
        simulation.step().or_panic();
        ["rho", "m_x", "e"].map(|name| simulation.values(name))
    };
    for (k, (found, mut image)) in run(false).into_iter().zip(run(true)).enumerate() {
        image.invert_axis(ndarray::Axis(2));
        let sign = if k == 1 { -1.0 } else { 1.0 };
        let differ = found.iter().zip(&image).filter(|(a, b)| **a != sign * **b);
        assert_eq!(differ.count(), 0, "component {k}");
    }
}
