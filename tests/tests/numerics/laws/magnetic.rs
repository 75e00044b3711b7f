//! Gas in a magnetic field along one and two axes: vectors of three components agree with scalars.

use stencil_runtime::{Axis, Boundary, Engine, Face, Number, Side, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

/// The law with vectors of three components.
const WIDE: &str = "
    conserved rho: scalar; conserved m: vector<3>; conserved E: scalar; conserved B: vector<3>;
    param gamma: real = 2;
    let u = m/rho;
    let p = (gamma - 1)*(E - (dot(m, u) + dot(B, B))/2);
    let total = p + dot(B, B)/2;
    flux rho -> m; flux m -> outer(u, m) - outer(B, B) + total*I;
    flux E -> (E + total)*u - dot(u, B)*B; flux B -> outer(u, B) - outer(B, u);
    waves { flow: u; sound: sqrt((gamma*p + dot(B, B))/rho); }";

/// The same as scalars; `VECTOR` makes a vector of the axes of three values.
const SCALARS: &str = "
    conserved rho: scalar; conserved m_x: scalar; conserved m_y: scalar; conserved m_z: scalar;
    conserved E: scalar; conserved B_x: scalar; conserved B_y: scalar; conserved B_z: scalar;
    param gamma: real = 2;
    let u_x = m_x/rho; let u_y = m_y/rho; let u_z = m_z/rho;
    let squared = B_x^2 + B_y^2 + B_z^2;
    let p = (gamma - 1)*(E - (m_x*u_x + m_y*u_y + m_z*u_z + squared)/2);
    let total = p + squared/2;
    let work = u_x*B_x + u_y*B_y + u_z*B_z;
    flux rho -> VECTOR(m_x; m_y);
    flux m_x -> VECTOR(u_x*m_x - B_x*B_x + total; u_y*m_x - B_y*B_x);
    flux m_y -> VECTOR(u_x*m_y - B_x*B_y; u_y*m_y - B_y*B_y + total);
    flux m_z -> VECTOR(u_x*m_z - B_x*B_z; u_y*m_z - B_y*B_z);
    flux E -> VECTOR((E + total)*u_x - work*B_x; (E + total)*u_y - work*B_y);
    flux B_x -> VECTOR(u_x*B_x - B_x*u_x; u_y*B_x - B_y*u_x);
    flux B_y -> VECTOR(u_x*B_y - B_x*u_y; u_y*B_y - B_y*u_y);
    flux B_z -> VECTOR(u_x*B_z - B_x*u_z; u_y*B_z - B_y*u_z);
    waves { flow: VECTOR(u_x; u_y); sound: sqrt((gamma*p + squared)/rho); }";

const COMPONENTS: [&str; 8] = ["rho", "m_x", "m_y", "m_z", "E", "B_x", "B_y", "B_z"];

/// Returns a law in so many dimensions.
fn law(items: &str, dimension: usize) -> SystemDef {
    let mut text = String::new();
    let mut rest = items;
    while let Some((before, behind)) = rest.split_once("VECTOR(") {
        // Brackets are in pairs.
        let mut depth = 1;
        let end = behind.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        let (of, after) = behind.split_at(end.unwrap());
        let entries: Vec<&str> = of.split(';').take(dimension).collect();
        text += &format!("{before}[{}]", entries.join(", "));
        rest = &after[1..];
    }
    let text = format!(
        "system Magnetic in {dimension}d {{ {text}{rest} }}
        scheme s for Magnetic {{ reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk3; }}"
    );
    SystemDef::from_text("law.pde", &text).or_panic()
}

/// Brio and Wu's tube (J. Comput. Phys. 75, 400, 1988) with all components, turned by a third of a right angle in the plane.
fn initial(component: usize, wall: bool, x: f64, y: f64) -> f64 {
    let left = x + 0.5 * y < 0.6;
    let [rho, p, across] = if left { [1.0, 1.0, 1.0] } else { [0.125, 0.1, -1.0] };
    // Nothing flows but along walls.
    let field = if wall { [0.0, 0.0, 0.4 * across] } else { [0.75, across, 0.3] };
    let flow = [0.1, -0.05, 0.2];
    let square = |v: [f64; 3]| v.iter().map(|v| v * v).sum::<f64>();
    match component {
        0 => rho,
        at @ 1..=3 => rho * flow[at - 1],
        4 => p + (rho * square(flow) + square(field)) / 2.0,
        at => field[at - 5],
    }
}

/// Returns all components after some steps.
fn run<T: Number>(items: &str, dimension: usize, wall: bool, engine: Engine) -> Vec<Vec<f64>> {
    let cells = [[64, 1, 1], [24, 20, 1]][dimension - 1];
    let system = law(items, dimension);
    let mut builder = Simulation::<T>::builder(&system).cells(cells);
    if wall {
        for axis in Axis::ALL.into_iter().take(dimension) {
            for side in Side::ALL {
                builder = builder.boundary(Face::new(axis, side), Boundary::wall());
            }
        }
    }
    let builder = builder.engine(engine).dt(1e-3);
    let mut simulation = builder.build().or_panic();
    for (at, name) in COMPONENTS.iter().enumerate() {
        simulation.set(name, |x, y, _| initial(at, wall, x, y)).unwrap();
    }
    simulation.steps(60);
    let values = COMPONENTS.map(|name| simulation.to_f64(name).unwrap().into_iter().collect());
    values.to_vec()
}

#[test]
fn vectors_of_three_components_are_their_scalars_in_a_tube_and_in_the_plane() {
    for dimension in [1, 2] {
        let [wide, scalars] =
            [WIDE, SCALARS].map(|items| run::<f64>(items, dimension, false, Engine::Cpu));
        for ((name, wide), scalars) in COMPONENTS.iter().zip(&wide).zip(&scalars) {
            let apart = wide.iter().zip(scalars).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f64::max);
            println!("{dimension}d {name}: {apart:e}");
            assert!(apart <= 2e-14, "{dimension}d {name}: {apart:e}");
        }
        // The gas moves.
        let moved = (0..8).filter(|at| {
            let values = wide[*at].iter();
            values.clone().any(|v| (v - wide[*at][0]).abs() > 1e-3)
        });
        assert!(moved.count() >= 7);
    }
}

#[test]
fn walls_turn_the_component_along_their_axis() {
    for dimension in [1, 2] {
        let [rows, compiled] =
            [Engine::Rows, Engine::Cpu].map(|engine| run::<f32>(WIDE, dimension, true, engine));
        assert_eq!(rows, compiled);
        assert!(rows.iter().flatten().all(|v| v.is_finite()));
        // Walls let nothing through, and hold nothing up.
        for (at, name) in [(0, "rho"), (3, "m_z"), (7, "B_z")] {
            let (sum, begin) = (rows[at].iter().sum::<f64>(), begin(at, dimension));
            assert!((sum - begin).abs() < 1e-4 * begin.abs(), "{name}: {sum} {begin}");
        }
    }
}

/// Returns the initial sum of a component.
fn begin(component: usize, dimension: usize) -> f64 {
    let [nx, ny] = [[64, 1], [24, 20]][dimension - 1];
    let cell = |i: usize, n: usize| (i as f64 + 0.5) / n as f64;
    let all = (0..ny).flat_map(|j| (0..nx).map(move |i| (i, j)));
    let values = all.map(|(i, j)| initial(component, true, cell(i, nx), cell(j, ny)));
    values.sum()
}
