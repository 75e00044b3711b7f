//! Waves with values on faces and edges that enter and leave through boundaries: driven by formulas, along free surfaces, into
//! absorbing layers.

use std::f64::consts::TAU;

use physics::systems::{Maxwell, VelocityStress};
use stencil_compiler::model::layer::{Far, Layer, LayerFace};
use stencil_runtime::{Axis, Boundary, Builder, Definition, Face, Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs};

/// A solution in the plane: a component by its name, at a place and a time.
type Exact<'a> = &'a (dyn Fn(&str, [f64; 3], f64) -> f64 + Sync);

/// Returns the largest error of all components at the end, on a mesh of so many cells.
fn error(
    system: &SystemDef,
    (n, end): (usize, f64),
    exact: Exact<'_>,
    faces: &dyn Fn(Builder<f64>) -> Builder<f64>,
) -> f64 {
    let run = Simulation::<f64>::builder(system).cells([n, n, 1]).centered(true).cfl(0.3);
    let mut run = faces(run).build().or_panic();
    let names: Vec<String> = run.components().map(str::to_string).collect();
    for name in &names {
        run.fill(name, |x, y, z| exact(name, [x, y, z], 0.0));
    }
    run.run_until(end, |_, _| ()).or_panic();
    let mut worst = 0.0_f64;
    for name in &names {
        let mesh = run.mesh_of(name).or_panic();
        for ((_, y, x), value) in run.values(name).indexed_iter() {
            let at = mesh.point([x as isize, y as isize, 0]);
            worst = worst.max((value - exact(name, at, end)).abs());
        }
    }
    worst
}

/// Returns the order between a mesh and one of half its spacing.
fn order(
    definition: &Definition,
    (n, end): (usize, f64),
    exact: Exact<'_>,
    faces: &dyn Fn(Builder<f64>) -> Builder<f64>,
) -> f64 {
    let system = SystemDef::new(definition).or_panic();
    let [coarse, fine] = [n, 2 * n].map(|n| error(&system, (n, end), exact, faces));
    let order = (coarse / fine).log2();
    println!("{}: {coarse:.2e} {fine:.2e}, order {order:.2}", definition.name);
    order
}

/// Light at an angle, by its electric field on the lower face and the magnetic one beside the upper face, for longer than it
/// takes to cross the mesh.
#[test]
fn light_enters_by_formulas_at_second_order() {
    let root = 2_f64.sqrt();
    let exact = |name: &str, [x, y, _]: [f64; 3], t: f64| {
        let wave = (TAU * (x + y) - TAU * root * t).sin();
        match name {
            "e_z" => wave,
            "b_x" => wave / root,
            "b_y" => -wave / root,
            _ => 0.0,
        }
    };
    let electric = Boundary::dirichlet_text("sin(2*pi*y - 2*pi*sqrt(2)*t)");
    let magnetic = Boundary::dirichlet_text("-sin(2*pi*(1 + y) - 2*pi*sqrt(2)*t)/sqrt(2)");
    let faces = |run: Builder<f64>| {
        run.boundary(Axis::X, Boundary::outflow())
            .boundary_of("e_z", Face::X_LO, electric.clone())
            .boundary_of("b_y", Face::X_HI, magnetic.clone())
    };
    let order = order(&Maxwell::<2>::DEFINITION, (12, 1.3), &exact, &faces);
    assert!(order > 1.8, "{order}");
}

/// A pressure wave at an angle: two conditions at each face.
#[test]
fn elastic_waves_enter_by_formulas_at_second_order() {
    let (speed, share) = (3_f64.sqrt(), 1.0 / 2_f64.sqrt());
    let exact = |name: &str, [x, y, _]: [f64; 3], t: f64| {
        let wave = (TAU * (x + y) - TAU * speed * 2_f64.sqrt() * t).sin();
        match name {
            "v_x" | "v_y" => share * wave,
            "s_xy" => -wave / speed,
            _ => -2.0 / speed * wave,
        }
    };
    let at = |x: usize, size: &str| {
        Boundary::dirichlet_text(format!("({size})*sin(2*pi*({x} + y) - 2*pi*sqrt(6)*t)"))
    };
    let faces = |run: Builder<f64>| {
        run.boundary(Axis::X, Boundary::outflow())
            .boundary_of("v_x", Face::X_LO, at(0, "1/sqrt(2)"))
            .boundary_of("s_xy", Face::X_LO, at(0, "-1/sqrt(3)"))
            .boundary_of("s_xx", Face::X_HI, at(1, "-2/sqrt(3)"))
            .boundary_of("v_y", Face::X_HI, at(1, "1/sqrt(2)"))
    };
    let order = order(&VelocityStress::<2>::DEFINITION, (12, 0.7), &exact, &faces);
    assert!(order > 1.8, "{order}");
}

/// Rayleigh's wave along a surface (Lord Rayleigh, Proc. Lond. Math. Soc. 17, 4, 1885) with both of Lamé's constants 1: the
/// velocities and stresses at a depth below the surface, in the direction out of it (n) and along it (t).
struct SurfaceWave {
    speed: f64,
    /// The shares of the wavenumber by which both parts fall with the depth.
    falls: [f64; 2],
}

impl SurfaceWave {
    fn new() -> Self {
        let square = 2.0 - 2.0 / 3_f64.sqrt();
        let falls = [(1.0 - square / 3.0).sqrt(), (1.0 - square).sqrt()];
        SurfaceWave { speed: square.sqrt(), falls }
    }

    /// A component by its name, of a wave in the plane whose surface is the upper face along x.
    fn at(&self, name: &str, [x, y, _]: [f64; 3], t: f64) -> f64 {
        let [q, r] = self.falls;
        let [a, shear] = self.falls.map(|fall| (TAU * fall * (x - 1.0)).exp());
        let b = -2.0 * q / (1.0 + r * r) * shear;
        let (sin, cos) = (TAU * (y - self.speed * t)).sin_cos();
        // Derivatives of the displacement over the wavenumber.
        let [n_n, t_t] = [(q * q * a + r * b) * cos, -(a + r * b) * cos];
        let [n_t, t_n] = [-(q * a + b) * sin, -(q * a + r * r * b) * sin];
        match name {
            "v_x" => -self.speed * n_t,
            "v_y" => -self.speed * t_t,
            "s_xx" => 3.0 * n_n + t_t,
            "s_yy" => 3.0 * t_t + n_n,
            _ => n_t + t_n,
        }
    }

    /// The value of a component on the lower face along x, as a formula of y and t.
    fn below(&self, name: &str) -> Boundary {
        let [cos, sin] = [0.0, 0.25].map(|y| self.at(name, [0.0, y, 0.0], 0.0));
        let phase = format!("2*pi*(y - {:?}*t)", self.speed);
        Boundary::dirichlet_text(format!("({cos:?})*cos({phase}) + ({sin:?})*sin({phase})"))
    }
}

/// Nothing pulls at a free surface: its shear stress lies on it and is held, its normal stress beside it.
#[test]
fn waves_run_along_a_free_surface() {
    let wave = SurfaceWave::new();
    let exact = |name: &str, at: [f64; 3], t: f64| wave.at(name, at, t);
    let faces = |run: Builder<f64>| {
        run.boundary(Axis::X, Boundary::outflow())
            .boundary_of("s_xx", Face::X_HI, Boundary::dirichlet(0.0))
            .boundary_of("s_xy", Face::X_HI, Boundary::dirichlet(0.0))
            .boundary_of("v_x", Face::X_LO, wave.below("v_x"))
            .boundary_of("s_xy", Face::X_LO, wave.below("s_xy"))
    };
    let order = order(&VelocityStress::<2>::DEFINITION, (24, 0.5), &exact, &faces);
    assert!(order > 1.8, "{order}");
}

/// Pulses of light and of pressure run into layers on both sides, and leave less than a ten-thousandth.
#[test]
fn layers_take_up_waves_on_faces_and_edges() {
    for (definition, moving) in [
        (&Maxwell::<2>::DEFINITION, ["e_z", "b_y"]),
        (&VelocityStress::<2>::DEFINITION, ["v_x", "s_xx"]),
    ] {
        let system = SystemDef::new(definition).or_panic();
        let (width, strength) = (0.3, 60.0);
        let face = |upper: bool| {
            let begin = if upper { 1.0 - width } else { width };
            LayerFace { axis: 0, upper, begin, width, strength }
        };
        let run = |system: &SystemDef| {
            let run =
                Simulation::<f64>::builder(system).cells([64, 4, 1]).extent([1.0, 0.0625, 1.0]);
            run.centered(true).cfl(0.5).boundary(Axis::X, Boundary::outflow()).build().or_panic()
        };
        let names: Vec<String> = run(&system).components().map(str::to_string).collect();
        let far = names.iter().map(|name| (name.clone(), Far::Number(0.0))).collect();
        let layer = Layer { faces: [false, true].map(face).into(), far };
        let model = system.model().with_layers(&[layer]).or_panic();
        let mut run = run(&SystemDef::from_model(definition.name, model).or_panic());
        for name in moving {
            run.fill(name, |x, _, _| (-150.0 * (x - 0.5) * (x - 0.5)).exp());
        }
        run.run_until(2.2, |_, _| ()).or_panic();
        // The stress across the wave stays where it began.
        let all = moving.iter().flat_map(|name| run.flat(name));
        let left = all.fold(0.0_f64, |most, value| most.max(value.abs()));
        println!("{}: {left:.1e} is left", definition.name);
        assert!(left < 1e-4, "{}: {left}", definition.name);
    }
}
