//! Systems by the number of devices: one device, simulated devices and ranks have the same bits.

use stencil_compiler::schedule::text;

use super::on_ranks;
use crate::mesh::Faces;
use crate::transport::Ranks;
use crate::{Axis, Boundary, Builder, Face, Number, Simulation, Source, SystemDef};

/// The length of steps.
enum Pace {
    Fixed(f64),
    /// Steps adapt to speeds, and are retaken if these have grown beyond a limit.
    Adaptive(f64, f64),
}

/// A boundary on some faces, of one field or of all.
type On = (Option<&'static str>, Faces, Boundary);

/// A system, and a run of it.
struct Row {
    name: &'static str,
    text: &'static str,
    cells: [usize; 3],
    pace: Pace,
    schedule: Option<&'static str>,
    faces: fn() -> Vec<On>,
}

const fn row(name: &'static str, text: &'static str, cells: [usize; 3], pace: Pace) -> Row {
    Row { name, text, cells, pace, schedule: None, faces: Vec::new }
}

const HEAT: &str =
    "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q)/100; observe mass = sum(q); }
    scheme s for Heat { space: central<order = 6>; time: ssprk3; }";
const PLATE: &str = "pub system Plate in 2d { field q: scalar; field u: vector; ddt(q) = lap(q)/90 + d[x](d[y](q))/200;
        ddt(u) = grad(div(u))/80; observe top = max(q); }
    scheme s for Plate { space: central<order = 4>; mixed: composed; time: rk3_williamson; }";
const FLOW: &str = "pub system Flow in 3d { field q: scalar; field u: vector; source f: vector = 0;
        let s = sym_traceless(grad(u));
        ddt(q) = -dot(u, grad(q)) - div(u);
        ddt(u) = lap(u)/9 + 2*dot(s, grad(q))/9 - dot(u, grad(u)) - grad(q) + f;
        observe energy = mean(dot(u, u)); cfl { advective: norm(u) + 1; diffusive: 1/9 } }
    scheme s for Flow { space: central<order = 4>; mixed: bidiagonal; time: rk3_williamson; }";
const WAVES: &str = "pub system Waves in 2d { field h: scalar; field v: vector; ddt(h) = -div(v); ddt(v) = -grad(h);
        observe energy = mean(h^2 + dot(v, v)); }
    scheme s for Waves { space: central<order = 4>; time: rk3_williamson<storage = accumulator>; }";
const EULER: &str =
    "pub system Steps in 2d { field q: scalar; ddt(q) = lap(q)/50; observe mass = sum(q); }
    scheme s for Steps { space: central<order = 2>; time: euler; }";
const DEEP: &str = "pub system Deep in 2d { field q: scalar; ddt(q) = -lap(lap(q))/5000 + lap(q)/100; observe least = min(q); }
    scheme s for Deep { space: central<order = 2>; mixed: composed; time: ssprk2; }";
const WATER: &str = "pub system Water in 2d { conserved h: scalar where h > 0; conserved m: vector;
        source f: vector = 0; let u = m/h;
        flux h -> m; flux m -> outer(m, u) + 4.9*h^2*I; ddt(m) = h*f;
        observe volume = sum(h); observe fastest = max(norm(u)); waves { flow: u; sound: sqrt(9.8*h); } }
    scheme s for Water { reconstruct: plm; riemann: hll; time: ssprk2; }";
const SHORE: &str =
    "pub system Shore in 1d { conserved h: scalar where h > 0; conserved m: vector; let u = m/h;
        flux h -> m; flux m -> outer(m, u) + 4.9*h^2*I;
        observe volume = sum(h); waves { flow: u; sound: sqrt(9.8*h); } }
    scheme s for Shore { reconstruct: weno5; riemann: hll; time: ssprk2; }";
const BURGERS: &str = "pub system Burgers in 3d { conserved q: scalar; param a: real = 0.7;
        flux q -> [0.5*q^2, a*q, -a*q]; ddt(q) = 2*q^3; observe mass = sum(q); observe top = max(q); waves { flow: [q, a, -a]; } }
    scheme s for Burgers { reconstruct: plm<limiter = mc>; riemann: rusanov; time: ssprk2; }";

fn open() -> Vec<On> {
    vec![(None, Axis::X.into(), Boundary::outflow()), (None, Axis::Y.into(), Boundary::wall())]
}

fn extrapolated() -> Vec<On> {
    vec![(None, Axis::X.into(), Boundary::extrapolate())]
}

fn numbers() -> Vec<On> {
    let moving = Boundary::dirichlet_with(|_, y, _, t| 1.0 + 0.1 * (y + t).sin());
    vec![
        (None, Axis::X.into(), Boundary::neumann(0.1)),
        (None, Face::X_LO.into(), moving),
        (None, Axis::Y.into(), Boundary::dirichlet_text("1 + 0.1*x*t")),
    ]
}

fn own() -> Vec<On> {
    let own = Boundary::custom(["h", "m_x"], |at| at.mirrored[0] + 0.1 * at.nearest[1]);
    vec![
        (None, Axis::X.into(), Boundary::outflow()),
        (Some("h"), Face::X_HI.into(), own),
        (None, Axis::Y.into(), Boundary::neumann_text("0.1*sin(t)")),
    ]
}

const TABLE: [Row; 12] = [
    row("differences in 1d", HEAT, [37, 1, 1], Pace::Fixed(1e-3)),
    Row { faces: numbers, ..row("numbers on faces", HEAT, [43, 1, 1], Pace::Fixed(1e-3)) },
    row("mixed derivatives", PLATE, [15, 13, 1], Pace::Fixed(1e-3)),
    Row { faces: extrapolated, ..row("beyond ends", PLATE, [22, 17, 1], Pace::Fixed(1e-3)) },
    row("stored functions and speeds", FLOW, [9, 8, 13], Pace::Adaptive(0.3, 0.3)),
    Row { faces: open, ..row("accumulators", WAVES, [13, 17, 1], Pace::Fixed(1e-2)) },
    Row {
        schedule: Some("fuse 3 kernel rows"),
        ..row("fused", EULER, [24, 12, 1], Pace::Fixed(1e-3))
    },
    Row {
        faces: numbers,
        ..row("derivatives of derivatives", DEEP, [12, 15, 1], Pace::Fixed(1e-4))
    },
    Row { faces: open, ..row("a law", WATER, [17, 14, 1], Pace::Adaptive(0.4, 0.4)) },
    Row {
        faces: own,
        ..row("functions of the user", WATER, [16, 13, 1], Pace::Adaptive(0.4, 0.4))
    },
    Row { faces: open, ..row("repairs", SHORE, [97, 1, 1], Pace::Adaptive(0.4, 0.5)) },
    row("a scalar law", BURGERS, [8, 9, 11], Pace::Adaptive(0.4, 0.4)),
];

/// All bits of a run: fields, observables, the time, repairs, and steps that were retaken.
#[derive(Debug, PartialEq)]
struct Found {
    bits: Vec<u64>,
    t: u64,
    repairs: Vec<u64>,
    retaken: u64,
}

fn run<T: Number>(row: &Row, choose: impl FnOnce(Builder<T>) -> Builder<T>) -> Found {
    let system = SystemDef::from_text("row.pde", row.text).unwrap_or_else(|e| panic!("{e}"));
    let mut run = choose(Simulation::<T>::builder(&system).cells(row.cells).threads(1));
    run = match row.pace {
        Pace::Fixed(dt) => run.dt(dt).unchecked_step(true),
        Pace::Adaptive(number, limit) => run.cfl(number).cfl_limit(limit),
    };
    if row.text.contains("source f") {
        run = run.source("f_x", Source::unsteady(|x, y, z, t| 0.3 * (x - y * t + z).sin()));
    }
    if let Some(schedule) = row.schedule {
        run = run.schedule(text::parse(&format!("schedule {schedule}")).unwrap());
    }
    let is_there = |faces: &Faces| row.cells[1] > 1 || !faces.contains(Face::Y_LO);
    for (of, faces, boundary) in (row.faces)().into_iter().filter(|(_, faces, _)| is_there(faces)) {
        run = match of {
            None => run.boundary(faces, boundary),
            Some(of) => run.boundary_of(of, faces, boundary),
        };
    }
    let mut run = run.build().unwrap_or_else(|e| panic!("{}: {e}", row.name));
    let names: Vec<String> = run.components().map(str::to_string).collect();
    for (at, name) in names.iter().enumerate() {
        let (base, k) = (if name == "h" { 1.01 } else { 0.2 }, 2.0 + at as f64);
        let jet =
            (row.name == "repairs").then(|| if name == "h" { [1.0, 1e-6] } else { [100.0, 1e-4] });
        let value = move |x: f64, y: f64, z: f64| match jet {
            Some([inside, _]) if (0.3..0.5).contains(&x) => inside,
            Some([_, outside]) => outside,
            None => base + (4.0 * k * x + 0.3).sin() * (3.7 * y - k).cos() * (2.9 * z + 1.0).sin(),
        };
        run.set(name, value).unwrap();
    }
    run.run(5, |_, _| ()).unwrap_or_else(|e| panic!("{}: {e}", row.name));
    let repairs = run.repairs().unwrap();
    Found {
        bits: run.bits().unwrap(),
        t: run.t().to_bits(),
        repairs: repairs.into_iter().flatten().collect(),
        retaken: run.rejected_steps(),
    }
}

fn check<T: Number>(row: &Row) -> Found {
    let one = run::<T>(row, |run| run);
    for devices in [2, 3, 4, 6] {
        assert_eq!(run::<T>(row, |run| run.devices(devices)), one, "{}: {devices}", row.name);
    }
    for count in [2, 4] {
        for found in on_ranks(count, |ranks: Ranks| run::<T>(row, |run| run.ranks(ranks))) {
            assert_eq!(found, one, "{}: {count} ranks", row.name);
        }
    }
    one
}

#[test]
fn devices_and_ranks_have_the_bits_of_one_device() {
    let (mut repairs, mut retaken) = (0, 0);
    for (at, row) in TABLE.iter().enumerate() {
        let found = if at % 2 == 0 { check::<f64>(row) } else { check::<f32>(row) };
        repairs += found.repairs.iter().sum::<u64>();
        retaken += found.retaken;
    }
    assert!(repairs > 0 && retaken > 0, "{repairs} repairs, {retaken} steps retaken");
}
