//! Boundaries: every kind, in corners too, has the same bits under every engine, schedule and
//! number of threads.

use crate::reference::{Box, Kind, Reference, on_face};
use ndarray::Array3;
use stencil_runtime::compiler::algorithm::Role;
use stencil_runtime::{
    Axis, Boundary, Builder, Engine, Face, Number, Real, Simulation, SystemDef, ToSystem, pde,
};

pde! {
    /// Mixed derivatives of a vector, by derivatives that are stored.
    pub(crate) system Vectors in 3d {
        field u: vector;
        field q: scalar;
        param nu: real = 0.3;
        ddt(u) = nu * (lap(u) + grad(div(u))) - dot(u, grad(u)) - q * grad(q);
        ddt(q) = -dot(u, grad(q)) - div(u);
    }
    scheme composed4 for Vectors { space: central<order = 4>; mixed: composed; time: rk3_williamson; }
}

const DT: f64 = 0.01;
const STEPS: usize = 2;

fn text(system: &str) -> SystemDef {
    SystemDef::from_text("test.pde", system).unwrap_or_else(|e| panic!("{e}"))
}

fn boundary(kind: Kind) -> Boundary {
    match kind {
        Kind::Periodic => Boundary::periodic(),
        Kind::Outflow => Boundary::outflow(),
        Kind::Extrapolate => Boundary::extrapolate(),
        Kind::Neumann(slope) => Boundary::neumann(slope),
        Kind::Dirichlet(value) => {
            Boundary::dirichlet_with(move |_, y, z, t| on_face(value, y, z, t))
        }
        // The text leaves the sign to the component.
        Kind::Even | Kind::Odd => Boundary::wall(),
    }
}

fn initial<T: Number>(cells: [usize; 3], component: usize) -> Vec<T> {
    let count: usize = cells.iter().product();
    let value = |i: usize| 0.2 * ((i * (component + 3)) as f64 * 0.37 + component as f64).sin();
    (0..count).map(|i| T::from_f64(value(i))).collect()
}

/// The settings of a run; they must not change bits.
#[derive(Clone, Copy, Debug)]
struct Way {
    engine: Engine,
    threads: usize,
    preset: Option<&'static str>,
}

/// Faces of each component: the settings of the simulation, and the kinds of the reference.
struct Case {
    cells: [usize; 3],
    settings: Vec<(Face, Kind)>,
}

impl Case {
    fn kinds(&self, system: &SystemDef) -> Vec<[[Kind; 2]; 3]> {
        let states = system.algorithm().states_of(Role::Field);
        let of = |name: &str| {
            let mut kinds = [[Kind::Periodic; 2]; 3];
            for (face, kind) in &self.settings {
                let normal = name.ends_with(&format!("_{}", face.axis));
                let kind = match kind {
                    Kind::Even if normal => Kind::Odd,
                    other => *other,
                };
                kinds[face.axis.index()][face.side as usize] = kind;
            }
            kinds
        };
        states.map(|(_, state)| of(&state.name)).collect()
    }

    fn builder<T: Number>(&self, system: &SystemDef) -> Builder<T> {
        let extent = self.cells.map(|n| 0.25 * n as f64);
        let builder = Simulation::<T>::builder(system)
            .cells(self.cells)
            .extent(extent)
            .centered(false)
            .dt(DT)
            .unchecked_step(true);
        let settings = self.settings.iter();
        settings.fold(builder, |builder, (face, kind)| builder.boundary(*face, boundary(*kind)))
    }

    fn run<T: Number>(&self, system: &SystemDef, way: Way) -> Vec<Vec<u64>> {
        let mut builder = self.builder::<T>(system).engine(way.engine).threads(way.threads);
        if let Some(name) = way.preset {
            let mut schedule = system.preset(name, T::PRECISION).unwrap();
            recompute(&mut schedule);
            builder = builder.schedule(schedule);
        }
        let mut simulation = builder.build().unwrap_or_else(|e| panic!("{e}"));
        let names: Vec<String> = simulation.components().map(str::to_string).collect();
        let [nx, ny, nz] = self.cells;
        for (i, name) in names.iter().enumerate() {
            let values = Array3::from_shape_vec((nz, ny, nx), initial::<T>(self.cells, i)).unwrap();
            simulation.set_array(name, values.view()).unwrap();
        }
        simulation.run(STEPS as u64, |_, _| ()).unwrap_or_else(|e| panic!("{e}"));
        let bits = |name: &String| {
            simulation.field(name).unwrap().iter().map(|v| v.canonical_bits()).collect()
        };
        names.iter().map(bits).collect()
    }

    fn reference<T: Number>(&self, system: &SystemDef) -> Vec<Vec<u64>> {
        let domain = Box {
            cells: self.cells,
            spacing: [0.25; 3],
            kinds: self.kinds(system),
            orders: orders(system),
        };
        let fields: Vec<Vec<T>> = (0..domain.kinds.len()).map(|i| initial(self.cells, i)).collect();
        let mut reference = Reference::new(system.algorithm(), &domain, &fields);
        let mut t = 0.0;
        for _ in 0..STEPS {
            reference.step(t, DT);
            t += DT;
        }
        let bits = |values: Vec<T>| values.iter().map(|v| v.canonical_bits()).collect();
        reference.fields().into_iter().map(bits).collect()
    }
}

/// Returns the order of polynomials through numbers on faces, of each component.
fn orders(system: &SystemDef) -> Vec<Option<usize>> {
    let model = system.model();
    let of = |name: &str| {
        let field = model.fields.iter().position(|f| name.starts_with(&f.name));
        let smoothed = model.is_smoothed(field.unwrap());
        smoothed.then_some(model.scheme.order as usize)
    };
    let states = system.algorithm().states_of(Role::Field);
    states.map(|(_, state)| of(&state.name)).collect()
}

fn recompute(schedule: &mut stencil_runtime::Schedule) {
    use stencil_runtime::compiler::schedule::{Halo, Placement};
    for placement in schedule.placements.values_mut() {
        if let Placement::Global(halo) = placement {
            *halo = Halo::Recompute;
        }
    }
}

fn ways(system: &SystemDef) -> Vec<Way> {
    let mut ways = Vec::new();
    for threads in [1, 2, 5] {
        ways.push((Engine::Cpu, threads, None));
    }
    ways.push((Engine::Rows, 2, None));
    ways.push((Engine::Rows, 2, Some("rows")));
    ways.push((Engine::Rows, 3, Some("decomposed")));
    if system.is_compiled() {
        ways.push((Engine::Compiled, 2, None));
    }
    let way = |(engine, threads, preset)| Way { engine, threads, preset };
    ways.into_iter().map(way).collect()
}

fn agrees<T: Number>(system: &SystemDef, case: &Case) {
    let expected = case.reference::<T>(system);
    assert!(expected.iter().flatten().any(|bits| *bits != 0));
    for way in ways(system) {
        let found = case.run::<T>(system, way);
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let differ = found.iter().zip(expected).filter(|(a, b)| a != b).count();
            assert_eq!(
                differ,
                0,
                "component {i} of {} under {way:?} with {:?}",
                system.name(),
                case.settings
            );
        }
    }
}

/// Returns every kind at each face, next to every other kind at the face that follows.
fn cases(cells: [usize; 3], dimension: usize) -> Vec<Case> {
    let kinds =
        [Kind::Even, Kind::Outflow, Kind::Dirichlet(0.3), Kind::Extrapolate, Kind::Neumann(-0.7)];
    let faces = &Face::ALL[..2 * dimension];
    let case = |shift: usize| {
        let kind = |i: usize| kinds[(i * (1 + shift / 5) + shift) % 5];
        Case {
            cells,
            settings: faces.iter().enumerate().map(|(i, face)| (*face, kind(i))).collect(),
        }
    };
    let mut cases: Vec<Case> = (0..10).map(case).collect();
    // Periodic along one axis, and not along the others.
    for periodic in 0..dimension {
        let mut mixed = case(periodic);
        for (face, kind) in &mut mixed.settings {
            if face.axis.index() == periodic {
                *kind = Kind::Periodic;
            }
        }
        cases.push(mixed);
    }
    cases
}

#[test]
fn every_kind_in_one_dimension() {
    let system = text(
        "pub system Line in 1d { field u: vector; field q: scalar;
             ddt(u) = lap(u) - q * grad(q); ddt(q) = d2[x](q) - dot(u, grad(q)); }
         scheme s for Line { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }",
    );
    for case in cases([7, 1, 1], 1) {
        agrees::<f64>(&system, &case);
        agrees::<f32>(&system, &case);
    }
}

#[test]
fn every_kind_in_two_dimensions() {
    for mixed in ["bidiagonal", "composed"] {
        let system = text(&format!(
            "pub system Plane in 2d {{ field u: vector; field q: scalar;
                 ddt(u) = lap(u) + grad(div(u)) - q * grad(q); ddt(q) = lap(q) - div(u); }}
             scheme s for Plane {{ space: central<order = 4>; mixed: {mixed}; time: rk3_williamson; }}"
        ));
        for case in cases([9, 13, 1], 2) {
            agrees::<f64>(&system, &case);
        }
    }
}

#[test]
fn every_kind_in_three_dimensions() {
    let system = Vectors.to_system().unwrap();
    assert!(
        !system.schedule().placements.is_empty(),
        "derivatives are stored, so that the compiled program has ghost cells to compute"
    );
    for case in cases([11, 9, 10], 3).into_iter().step_by(2) {
        agrees::<f64>(&system, &case);
    }
    agrees::<f32>(&system, &cases([11, 9, 10], 3)[1]);
}

/// A tensor changes its sign at a wall for each normal index.
#[test]
fn walls_mirror_tensors() {
    let system = text(
        "pub system Tensors in 2d { field s: tensor; ddt(s) = lap(s); }
         scheme central for Tensors { space: central<order = 2>; mixed: bidiagonal; time: euler; }",
    );
    let mut simulation = Simulation::<f64>::builder(&system)
        .cells([5, 4, 1])
        .extent([5.0, 4.0, 1.0])
        .boundary(Axis::X, Boundary::wall())
        .dt(0.1)
        .build()
        .unwrap();
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for name in &names {
        simulation.set(name, |_, _, _| 1.0).unwrap();
    }
    simulation.step().unwrap();
    for name in &names {
        // An odd mirror image of 1 is -1: its Laplacian next to the wall is -2.
        let expected = match name.as_str() {
            "s_xx" | "s_yy" => 1.0,
            _ => 1.0 - 0.1 * 2.0,
        };
        let found = simulation.field(name).unwrap()[[0, 2, 0]];
        assert!((found - expected).abs() < 1e-15, "{name}: {found}");
    }
}

/// A function of the user that equals a built-in kind has its bits, corners included.
#[test]
fn functions_can_be_what_is_built_in() {
    let system = Vectors.to_system().unwrap();
    let case = Case {
        cells: [7, 8, 9],
        settings: Face::ALL.iter().map(|face| (*face, Kind::Even)).collect(),
    };
    let expected = case.reference::<f64>(&system);
    let run = |by_text: bool, threads: usize| {
        let mut builder = case.builder::<f64>(&system).threads(threads);
        for name in ["u_x", "u_y", "u_z", "q"] {
            for face in Face::ALL {
                let odd = name == format!("u_{}", face.axis);
                let own = if by_text {
                    Boundary::text(format!("{}{name}", if odd { "-" } else { "" }))
                } else {
                    Boundary::custom(["q", name], move |at| {
                        assert_eq!(at.face, face);
                        if odd { -at.mirrored[1] } else { at.mirrored[1] }
                    })
                };
                builder = builder.boundary_of(name, face, own);
            }
        }
        let mut simulation = builder.build().unwrap();
        for (i, name) in ["u_x", "u_y", "u_z", "q"].into_iter().enumerate() {
            let values = Array3::from_shape_vec((9, 8, 7), initial::<f64>([7, 8, 9], i)).unwrap();
            simulation.set_array(name, values.view()).unwrap();
        }
        simulation.run(STEPS as u64, |_, _| ()).unwrap();
        let bits = |name: &str| -> Vec<u64> {
            simulation.field(name).unwrap().iter().map(|v| v.canonical_bits()).collect()
        };
        ["u_x", "u_y", "u_z", "q"].map(bits).to_vec()
    };
    assert_eq!(run(false, 1), expected);
    assert_eq!(run(false, 3), expected);
    assert_eq!(run(true, 2), expected);
}

/// Functions get the place of a ghost cell, and the values that they read.
#[test]
fn functions_know_where_they_are() {
    let system = text(
        "pub system Advected in 1d { field q: scalar; field p: scalar; ddt(q) = -d[x](q); ddt(p) = 0; }
         scheme s for Advected { space: central<order = 4>; mixed: bidiagonal; time: euler; }",
    );
    // q and p are linear, so a linear continuation by any of these makes the derivative exact.
    let left = Boundary::custom(["p"], |at| {
        assert_eq!(at.wall[0], 1.0);
        assert!((at.position[0] - (1.0 - (at.depth as f64 - 0.5) * 0.5)).abs() < 1e-15);
        // p = 10 x at the mirror image and next to the face.
        assert!((at.mirrored[0] - 10.0 * (2.0 - at.position[0])).abs() < 1e-12);
        assert!((at.nearest[0] - 12.5).abs() < 1e-12);
        2.0 * at.position[0] + at.t
    });
    let mut simulation = Simulation::<f64>::builder(&system)
        .cells([6, 1, 1])
        .extent([3.0, 1.0, 1.0])
        .origin([1.0, 0.0, 0.0])
        .centered(true)
        .boundary(Face::X_LO, left)
        .boundary(Face::X_HI, Boundary::text("2*x + t"))
        .dt(0.01)
        .unchecked_step(true)
        .build()
        .unwrap();
    simulation.set("q", |x, _, _| 2.0 * x).unwrap();
    simulation.set("p", |x, _, _| 10.0 * x).unwrap();
    simulation.step().unwrap();
    for (i, q) in simulation.field("q").unwrap().iter().enumerate() {
        let x = 1.25 + 0.5 * i as f64;
        assert!((q - (2.0 * x - 0.02)).abs() < 1e-13, "{i}: {q}");
    }
}

/// A mesh of fewer cells than the halo is deep may be periodic.
#[test]
fn periodic_axes_may_be_shorter_than_halos() {
    let system = text(
        "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
         scheme s for Heat { space: central<order = 6>; mixed: bidiagonal; time: euler; }",
    );
    for cells in [[2, 1, 1], [1, 5, 1], [5, 2, 1]] {
        agrees::<f64>(&system, &Case { cells, settings: Vec::new() });
    }
}

/// A function that the row engine would store by default needs more ghost cells than a narrow channel has.
#[test]
fn a_law_flows_in_a_channel_of_two_cells() {
    let sound = "system Sound in 2d {
        conserved p: scalar; conserved u: vector;
        flux p -> u; flux u -> p*I;
        waves { sound: 1; }
    }
    scheme s for Sound { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk2; }";
    let system = SystemDef::from_text("sound", sound).unwrap();
    let mut channel = Simulation::<f64>::builder(&system)
        .cells([64, 2, 1])
        .boundary(Axis::Y, Boundary::wall())
        .engine(Engine::Rows)
        .cfl(0.4)
        .build()
        .unwrap();
    channel.set("p", |x, _, _| (std::f64::consts::TAU * x).sin()).unwrap();
    (0..5).for_each(|_| channel.step().unwrap());
    let [p, across] = ["p", "u_y"].map(|name| channel.to_f64(name).unwrap());
    assert!(p.iter().all(|p| p.abs() <= 1.0));
    assert!(across.iter().all(|u| *u == 0.0));
}
