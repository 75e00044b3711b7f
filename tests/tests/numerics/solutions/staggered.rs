//! Waves with values on faces and edges of cells against exact solutions, in periodic boxes and between walls.

use std::f64::consts::{PI, TAU};

use physics::systems::{IdealMhd, Maxwell, VelocityStress};
use stencil_runtime::{
    Axis, Boundary, Definition, Devices, Engine, Face, Faces, Number, Simulation, System, SystemDef,
};
use stencil_tests::{OrPanic, Runs};

/// A solution: a component by its name, at a place and a time.
type Exact<'a> = &'a (dyn Fn(&str, [f64; 3], f64) -> f64 + Sync);

/// Returns the largest error of all components at the end, on a mesh of so many cells.
fn error(definition: &Definition, scheme: &str, n: usize, walls: bool, exact: Exact<'_>) -> f64 {
    let system = SystemDef::new(definition).or_panic().with_scheme(scheme).or_panic();
    let dimension = system.model().dimension;
    let cells = std::array::from_fn(|axis| if axis < dimension { n } else { 1 });
    let mut builder = Simulation::<f64>::builder(&system).cells(cells).centered(true).cfl(0.3);
    if walls {
        for axis in Axis::ALL.into_iter().take(dimension) {
            builder = builder.boundary(axis, Boundary::wall());
        }
    }
    let mut simulation = builder.build().or_panic();
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for name in &names {
        simulation.fill(name, |x, y, z| exact(name, [x, y, z], 0.0));
    }
    simulation.run_until(0.4, |_, _| ()).or_panic();
    let mut worst = 0.0_f64;
    for name in &names {
        let mesh = simulation.mesh_of(name).or_panic();
        for ((z, y, x), value) in simulation.values(name).indexed_iter() {
            let at = mesh.point([x, y, z].map(|i| i as isize));
            worst = worst.max((value - exact(name, at, 0.4)).abs());
        }
    }
    worst
}

/// Checks that errors fall with an order.
fn converges(
    definition: &Definition,
    (scheme, order): (&str, f64),
    n: usize,
    walls: bool,
    exact: Exact<'_>,
) {
    let [coarse, fine] = [n, 2 * n].map(|n| error(definition, scheme, n, walls, exact));
    let found = (coarse / fine).log2();
    let name = definition.name;
    println!("{name} {scheme}, walls {walls}: {coarse:.2e} {fine:.2e}, order {found:.2}");
    assert!(found > order - 0.2, "{name} {scheme}, walls {walls}: {coarse} {fine}");
}

fn axis(name: &str) -> usize {
    ["x", "y", "z"].iter().position(|axis| name.ends_with(axis)).unwrap_or(0)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|i| a[i] * b[i]).sum()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

/// A circularly polarized wave along a diagonal, in the mesh's dimensions.
fn light(dimension: usize) -> impl Fn(&str, [f64; 3], f64) -> f64 + Sync {
    let n = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]][dimension - 1];
    let size = dot(n, n).sqrt();
    let along = n.map(|k| k / size);
    // Two directions across it.
    let first = [[0.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [1.0, -1.0, 0.0]][dimension - 1];
    let first = first.map(|e: f64| e / dot(first, first).sqrt());
    let second = cross(along, first);
    move |name, at, t| {
        let phase = TAU * (dot(n, at) - size * t);
        let e: [f64; 3] = std::array::from_fn(|i| first[i] * phase.cos() + second[i] * phase.sin());
        let vector = if name.starts_with('e') { e } else { cross(along, e) };
        vector[axis(name)]
    }
}

#[test]
fn light_travels_with_the_order_of_the_scheme() {
    for (definition, dimension, n) in [
        (&Maxwell::<1>::DEFINITION, 1, 20),
        (&Maxwell::<2>::DEFINITION, 2, 16),
        (&Maxwell::<3>::DEFINITION, 3, 10),
    ] {
        for scheme in [("yee", 2.0), ("yee4", 4.0)] {
            converges(definition, scheme, n, false, &light(dimension));
        }
    }
}

/// A standing wave in a box of perfect conductors.
#[test]
fn light_stands_between_conductors() {
    let frequency = PI * 2_f64.sqrt();
    let exact = |name: &str, [x, y, _]: [f64; 3], t: f64| {
        let (sin_x, cos_x) = (PI * x).sin_cos();
        let (sin_y, cos_y) = (PI * y).sin_cos();
        let (sin_t, cos_t) = (frequency * t).sin_cos();
        match name {
            "e_z" => sin_x * sin_y * cos_t,
            "b_x" => -PI / frequency * sin_x * cos_y * sin_t,
            "b_y" => PI / frequency * cos_x * sin_y * sin_t,
            _ => 0.0,
        }
    };
    for scheme in [("yee", 2.0), ("yee4", 4.0)] {
        converges(&Maxwell::<2>::DEFINITION, scheme, 16, true, &exact);
    }
}

/// Pressure and shear waves along a diagonal.
#[test]
fn elastic_waves_travel_with_the_order_of_the_scheme() {
    let (lambda, mu) = (1.0, 1.0);
    for (definition, dimension, n) in [
        (&VelocityStress::<1>::DEFINITION, 1, 20),
        (&VelocityStress::<2>::DEFINITION, 2, 16),
        (&VelocityStress::<3>::DEFINITION, 3, 10),
    ] {
        let k = [[1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [1.0, -1.0, 1.0]][dimension - 1];
        let size = dot(k, k).sqrt();
        let along = k.map(|k| k / size);
        let across = [1.0 / 2_f64.sqrt(), 1.0 / 2_f64.sqrt(), 0.0];
        for (direction, speed) in [(along, f64::sqrt(lambda + 2.0 * mu)), (across, mu.sqrt())] {
            if dimension == 1 && direction != along {
                continue;
            }
            let exact = |name: &str, at: [f64; 3], t: f64| {
                let wave = (TAU * (dot(k, at) - speed * size * t)).sin();
                if name.starts_with('v') {
                    return direction[axis(name)] * wave;
                }
                let (j, i) = (axis(name), axis(&name[..name.len() - 1]));
                let diagonal = if i == j { lambda * dot(along, direction) } else { 0.0 };
                let shear = along[i] * direction[j] + along[j] * direction[i];
                -(diagonal + mu * shear) / speed * wave
            };
            for scheme in [("virieux", 2.0), ("virieux4", 4.0)] {
                converges(definition, scheme, n, false, &exact);
            }
        }
    }
}

/// A pressure wave that stands between walls.
#[test]
fn sound_stands_between_walls() {
    let speed = 3_f64.sqrt();
    let exact = |name: &str, [x, _, _]: [f64; 3], t: f64| {
        let (sin_t, cos_t) = (PI * speed * t).sin_cos();
        match name {
            "v_x" => (PI * x).sin() * cos_t,
            // The normal stress is the wave's own, and the part of it beside the wave.
            "s_xx" => speed * (PI * x).cos() * sin_t,
            "s_yy" => speed / 3.0 * (PI * x).cos() * sin_t,
            _ => 0.0,
        }
    };
    for scheme in [("virieux", 2.0), ("virieux4", 4.0)] {
        converges(&VelocityStress::<1>::DEFINITION, scheme, 16, true, &exact);
        converges(&VelocityStress::<2>::DEFINITION, scheme, 12, true, &exact);
    }
}

/// The divergence of a field that begins as a curl is rounding, in periodic boxes and between walls.
#[test]
fn a_curl_keeps_its_divergence() {
    for walls in [false, true] {
        let system = SystemDef::new(&Maxwell::<3>::DEFINITION).or_panic();
        let mut builder = Simulation::<f64>::builder(&system).cells([10, 8, 6]).centered(true);
        if walls {
            for axis in Axis::ALL {
                builder = builder.boundary(axis, Boundary::wall());
            }
        }
        let mut simulation = builder.cfl(0.5).build().or_panic();
        // Along walls the potential is zero on them, so that no field goes through.
        let wave = |a: f64, b: f64| (TAU * a).sin() * (TAU * b).sin();
        simulation.set_curl("b", |x, y, z| [wave(y, z), wave(x, z), wave(x, y)]).or_panic();
        simulation.run(50, |_, _| ()).or_panic();
        let divergence = simulation.observe().or_panic()["largest_divergence"];
        println!("walls {walls}: {divergence:.2e}");
        assert!(divergence / 10.0 < 1e-13, "walls {walls}: {divergence}");
        let largest = simulation.values("b_x").iter().fold(0.0_f64, |most, b| most.max(b.abs()));
        assert!(largest > 1.0, "{largest}");
    }
}

/// Returns the bits of a run between walls and open faces on so many patches.
fn bounded<T: Number>(definition: &Definition, engine: Engine, patches: [usize; 3]) -> Vec<u64> {
    let system = SystemDef::new(definition).or_panic();
    let devices = Devices::Count(patches.iter().product::<usize>().min(2));
    let builder = Simulation::<T>::builder(&system).cells([13, 12, 1]).centered(true);
    let builder = builder.engine(engine).patches(patches).devices(devices).dt(2e-3);
    let builder = builder.boundary(Axis::Y, Boundary::wall());
    let builder = builder.boundary(Face::X_LO, Boundary::outflow());
    let mut builder = builder.boundary(Face::X_HI, Boundary::extrapolate());
    // Numbers that are held on upper faces, and formulas at the places of components.
    for (name, face, boundary) in [
        ("e_y", Face::X_HI, Boundary::dirichlet(0.25)),
        ("e_z", Face::X_LO, Boundary::dirichlet_text("0.1*sin(3*y) + t")),
        ("s_xy", Face::X_HI, Boundary::dirichlet(0.0)),
        ("b_z", Face::X_HI, Boundary::dirichlet_text("0.1*cos(3*y) - t")),
    ] {
        if system.algorithm().find_state(name).is_some() {
            builder = builder.boundary_of(name, face, boundary);
        }
    }
    let mut simulation = builder.build().or_panic();
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (at, name) in names.iter().enumerate() {
        let mean = [("rho", 1.0), ("E", 4.0)].iter().find(|(own, _)| own == name);
        let mean = mean.map_or(0.0, |(_, mean)| *mean);
        let shift = 0.7 * at as f64;
        simulation.fill(name, |x, y, _| mean + 0.2 * (5.0 * x + shift).sin() * (4.0 * y).cos());
    }
    simulation.steps(6);
    simulation.bits().or_panic()
}

/// Fields on faces and edges have the same bits on all engines, patches and devices, for each kind of boundary.
#[test]
fn engines_patches_and_devices_have_the_same_bits() {
    for definition in
        [&Maxwell::<2>::DEFINITION, &VelocityStress::<2>::DEFINITION, &IdealMhd::<2>::DEFINITION]
    {
        let one = bounded::<f64>(definition, Engine::Rows, [1, 1, 1]);
        for (engine, patches) in
            [(Engine::Cpu, [1, 1, 1]), (Engine::Rows, [2, 1, 1]), (Engine::Cpu, [2, 2, 1])]
        {
            let other = bounded::<f64>(definition, engine, patches);
            assert!(one == other, "{} on {patches:?}", definition.name);
        }
        let [rows, cpu] =
            [Engine::Rows, Engine::Cpu].map(|engine| bounded::<f32>(definition, engine, [1, 2, 1]));
        assert!(rows == cpu, "{}", definition.name);
    }
}

/// A value that an equation gives on a face is not given by a boundary, too, and a number that no equation reads is none.
#[test]
fn boundaries_that_an_equation_contradicts_are_refused() {
    let system = SystemDef::new(&Maxwell::<2>::DEFINITION).or_panic();
    let build = |name: &str, faces: Faces, boundary: Boundary, others: Boundary| {
        let builder = Simulation::<f64>::builder(&system).cells([8, 8, 1]).dt(1e-3);
        let builder = builder.boundary(Axis::X, others);
        builder.boundary_of(name, faces, boundary).build().err().map(|e| e.to_string())
    };
    let both = Faces::from(Axis::X);
    let [lower, upper] = [Face::X_LO, Face::X_HI].map(Faces::from);
    for (name, faces, boundary, place) in [
        ("b_x", both, Boundary::dirichlet(1.0), "x.lo"),
        ("b_x", both, Boundary::neumann(0.0), "x.lo"),
        ("b_x", upper, Boundary::dirichlet_text("t"), "x.hi"),
        ("e_z", upper, Boundary::dirichlet_text("t"), "x.hi"),
        ("b_y", both, Boundary::text("-b_y"), "x.lo"),
    ] {
        let error = build(name, faces, boundary, Boundary::wall()).unwrap_or_default();
        assert!(error.contains(&format!("`{name}` at {place}")), "{name}: {error}");
    }
    let error = build("b_y", lower, Boundary::dirichlet(1.0), Boundary::outflow());
    let error = error.unwrap_or_default();
    assert!(error.contains("by the equation of `e_z` on the face"), "{error}");
    for (name, faces, boundary) in [
        ("b_x", both, Boundary::dirichlet(0.0)),
        ("b_y", both, Boundary::dirichlet(1.0)),
        ("b_y", both, Boundary::neumann_text("t")),
        ("e_z", both, Boundary::extrapolate()),
        ("e_z", both, Boundary::dirichlet(1.0)),
        ("e_z", lower, Boundary::dirichlet_text("t")),
    ] {
        assert_eq!(build(name, faces, boundary, Boundary::wall()), None, "{name}");
    }
}
