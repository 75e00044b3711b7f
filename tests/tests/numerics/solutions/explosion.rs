//! The radial explosion (Pekkilä et al. 2017, Eq. 23, Fig. 6): the solution keeps the initial symmetry of a sphere, to
//! the error of the differences.

use physics::{problems, systems};
use stencil_runtime::Simulation;
use stencil_runtime::problem::{Change, Problem};
use stencil_tests::OrPanic;

use super::support::observed;

/// Directions of lines through the centre: the axes, diagonals of faces and of the box.
const LINES: [[isize; 3]; 13] = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [1, 1, 0],
    [1, -1, 0],
    [1, 0, 1],
    [1, 0, -1],
    [0, 1, 1],
    [0, 1, -1],
    [1, 1, 1],
    [1, 1, -1],
    [1, -1, 1],
    [1, -1, -1],
];

fn exploded(n: usize, mixed: &str, more: &[&str]) -> Simulation<f64> {
    let mut changes = vec![
        Change::set(&format!("mesh.cells={n}")),
        Change::set(&format!("scheme={{ mixed = '{mixed}' }}")),
        Change::set("params.nu=0.05"),
        Change::set("time.end=0.3"),
    ];
    changes.extend(more.iter().map(|change| Change::set(change)));
    let built_in = problems::find("explosion").or_panic();
    // A thicker shell, which a coarse mesh resolves.
    let text = built_in.text.replace("thickness = 0.2", "thickness = 0.3");
    let problem =
        Problem::parse("explosion.toml", &text, "", &systems::library(), &changes).or_panic();
    let mut simulation = problem.builder::<f64>().build().or_panic();
    problem
        .initialize(&mut simulation)
        .and_then(|()| simulation.run_until(problem.time.end.unwrap_or(0.0), |_, _| ()))
        .or_panic();
    simulation
}

/// Returns the integrals of the density's change and of the squared speed along a line through the centre. (The speed
/// itself has a kink there.)
fn integrals(simulation: &Simulation<f64>, line: [isize; 3]) -> [f64; 2] {
    let n = simulation.cells()[0] as isize;
    let names = ["lnrho", "u_x", "u_y", "u_z"];
    let fields = names.map(|name| simulation.field(name).expect("a component"));
    let length =
        (line.iter().map(|i| i * i).sum::<isize>() as f64).sqrt() * simulation.spacing()[0];
    let mut sums = [0.0; 2];
    // The gas is at rest beyond a third of the box.
    for i in -n / 3..=n / 3 {
        let [x, y, z] = line.map(|step| (n / 2 + i * step).rem_euclid(n) as usize);
        let [lnrho, u_x, u_y, u_z] = [0, 1, 2, 3].map(|c| fields[c][[z, y, x]]);
        sums[0] += length * (lnrho.exp() - 1.0);
        sums[1] += length * (u_x * u_x + u_y * u_y + u_z * u_z);
    }
    sums
}

/// Returns the standard deviations between lines, over the integral of the squared speed.
fn deviations(simulation: &Simulation<f64>) -> [f64; 2] {
    let all = LINES.map(|line| integrals(simulation, line));
    let count = LINES.len() as f64;
    let mean = |i: usize| all.iter().map(|sums| sums[i]).sum::<f64>() / count;
    let speed = mean(1);
    [0, 1].map(|i| {
        let squares = all.iter().map(|sums| (sums[i] - mean(i)).powi(2));
        (squares.sum::<f64>() / count).sqrt() / speed
    })
}

#[test]
fn an_explosion_stays_round() {
    for mixed in ["bidiagonal", "product", "composed"] {
        let [coarse, fine] = [24, 32].map(|n| deviations(&exploded(n, mixed, &[])));
        for (quantity, (coarse, fine)) in coarse.into_iter().zip(fine).enumerate() {
            let observed = observed(coarse, fine, 32.0 / 24.0);
            assert!(fine < 2e-3, "{mixed}, {quantity}: {fine:e}");
            assert!(observed > 4.5, "{mixed}, {quantity}: {coarse:e}, {fine:e}, {observed:.2}");
        }
    }
}

#[test]
fn axes_of_an_explosion_agree_to_rounding() {
    // Coordinates are exact, so that initial values are symmetric.
    let simulation = exploded(32, "bidiagonal", &["mesh.extent=8", "mesh.origin=-4"]);
    let speed = simulation.field("u_x").expect("a component");
    let largest = speed.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let (y, z) = (simulation.field("u_y"), simulation.field("u_z"));
    let (y, z) = (y.expect("a component"), z.expect("a component"));
    for i in 1..16 {
        let along = [speed[[16, 16, 16 + i]], y[[16, 16 + i, 16]], z[[16 + i, 16, 16]]];
        let opposite = [speed[[16, 16, 16 - i]], y[[16, 16 - i, 16]], z[[16 - i, 16, 16]]];
        assert_eq!(along[0], -opposite[0], "a reflection in x keeps the bits");
        assert_eq!(along[1], -opposite[1], "a reflection in y keeps the bits");
        for value in along.into_iter().chain(opposite.map(|v| -v)) {
            let difference = (value - along[0]).abs() / largest;
            let steps = simulation.step_count() as f64;
            assert!(difference < 8.0 * steps * f64::EPSILON, "{i}: {difference:e}");
        }
    }
}
