//! Constrained transport beside every kind of face: the divergence stays in each cell, and a run is the mirror image of the one
//! with exchanged ends, whose open faces are on the side that an equation changes.

use std::f64::consts::TAU;

use physics::systems::IdealMhd;
use stencil_compiler::model::layer::{Far, Layer, LayerFace};
use stencil_runtime::{Axis, Boundary, Builder, Definition, Face, Simulation, System, SystemDef};
use stencil_tests::linear_waves::divergence;
use stencil_tests::{OrPanic, Runs};

/// A flow through a mesh of so many cells along each axis, or its mirror image along x, between faces of these kinds along x, and
/// along y and z.
fn flow(
    definition: &Definition,
    (n, is_mirrored): (usize, bool),
    kinds: [&str; 2],
) -> Simulation<f64> {
    let system = SystemDef::new(definition).or_panic();
    let dimension = system.model().dimension;
    let cells = std::array::from_fn(|axis| if axis < dimension { n } else { 1 });
    let run = Simulation::<f64>::builder(&system).cells(cells).centered(true);
    let run = across(kinds[1], dimension, along_x(kinds[0], run));
    let mut run = run.dt(0.08 / n as f64).build().or_panic();
    let in_space = if dimension == 3 { 1.0 } else { 0.0 };
    let sign = if is_mirrored { -1.0 } else { 1.0 };
    let from = |x: f64| if is_mirrored { 1.0 - x } else { x };
    let wave = |x: f64, y: f64, z: f64| (TAU * (from(x) + y + in_space * z)).sin();
    run.fill("rho", |x, y, z| 1.0 + 0.3 * wave(x, y, z));
    run.fill("m_x", |x, y, z| sign * (0.2 * wave(x, 2.0 * y, z) - 0.5));
    run.fill("m_y", |x, y, z| 0.3 + 0.2 * wave(2.0 * x, y, z));
    run.fill("m_z", |x, y, z| 0.2 + 0.2 * wave(x, y, 2.0 * z));
    run.fill("E", |_, _, _| 4.0);
    // No field goes through a wall.
    let [along, across] = kinds.map(|kind| {
        move |at: f64| match kind {
            "wall" => 1.0 - (TAU * at).cos(),
            "periodic" => 0.5 + (TAU * at).sin(),
            _ => 0.5 + (4.0 * at + 0.3).sin(),
        }
    });
    let slow = |z: f64| 1.0 + 0.5 * in_space * (TAU * z).cos();
    let potential =
        |x: f64, y: f64, z: f64| [0.0, 0.0, sign * 0.1 * along(from(x)) * across(y) * slow(z)];
    run.set_curl("b", potential).or_panic();
    run
}

/// Sets faces along x of a kind.
fn along_x(kind: &str, run: Builder<f64>) -> Builder<f64> {
    match kind {
        "periodic" => run,
        "wall" => run.boundary(Axis::X, Boundary::wall()),
        "extrapolate" => {
            let run = run.boundary(Axis::X, Boundary::outflow());
            run.boundary_of("b", Axis::X, Boundary::extrapolate())
        }
        "formula" => {
            let run = run.boundary(Axis::X, Boundary::outflow());
            let run = run.boundary_of("rho", Axis::X, Boundary::dirichlet_text("1 + 0.1*sin(t)"));
            run.boundary_of("b_y", Axis::X, Boundary::dirichlet_text("0.2*cos(2*pi*y)*cos(t)"))
        }
        _ => run.boundary(Axis::X, Boundary::outflow()),
    }
}

/// Sets faces along y, and open ones along z, too.
fn across(kind: &str, dimension: usize, run: Builder<f64>) -> Builder<f64> {
    match kind {
        "wall" => run.boundary(Axis::Y, Boundary::wall()),
        "outflow" if dimension == 3 => {
            let run = run.boundary(Axis::Y, Boundary::outflow());
            run.boundary(Axis::Z, Boundary::outflow())
        }
        "outflow" => run.boundary(Axis::Y, Boundary::outflow()),
        _ => run,
    }
}

const KINDS: [&str; 5] = ["periodic", "wall", "outflow", "extrapolate", "formula"];

/// Beside one face, and beside two and three that meet.
#[test]
fn the_divergence_stays_beside_every_kind_of_face() {
    for (definition, n) in [(&IdealMhd::<2>::DEFINITION, 12), (&IdealMhd::<3>::DEFINITION, 6)] {
        for along in KINDS {
            for across in ["periodic", "wall", "outflow"] {
                let mut run = flow(definition, (n, false), [along, across]);
                let before = run.values("b_y");
                run.steps(12);
                let kept = divergence(&mut run);
                let moved = (run.values("b_y") - before).mapv(f64::abs).sum();
                let what = format!("{}d, {along}, across {across}", run.system().model().dimension);
                println!("{what}: {kept:.1e}, moved by {moved:.1}");
                assert!(kept < 1e-12 && moved > 0.1, "{what}: {kept} {moved}");
            }
        }
    }
}

/// The equation changes the normal component on the upper face, and the rule the one on the lower face: they agree. Values
/// that are given beside a face continue the field beyond the lower one without a divergence, and beyond the upper one as it is.
#[test]
fn both_ends_of_an_axis_are_mirror_images() {
    for kind in &KINDS[1..4] {
        let n = 16;
        let [run, image] = [false, true].map(|is_mirrored| {
            let ends = [*kind, "periodic"];
            let mut run = flow(&IdealMhd::<2>::DEFINITION, (n, is_mirrored), ends);
            run.steps(40);
            run
        });
        for name in ["rho", "m_x", "m_y", "m_z", "E", "b_x", "b_y", "b_z"] {
            let sign = if name.ends_with("_x") { -1.0 } else { 1.0 };
            let (found, image) = (run.values(name), image.values(name));
            // A face has the cell below it, so the image of the last one is the lower face of the mesh.
            let ends = if name == "b_x" { n - 1 } else { n };
            let mut worst = 0.0_f64;
            for ((_, y, x), value) in found.indexed_iter().filter(|((.., x), _)| *x < ends) {
                worst = worst.max((value - sign * image[[0, y, ends - 1 - x]]).abs());
            }
            assert!(worst < 1e-12, "{kind}, {name}: {worst}");
        }
    }
}

/// A field goes through a face as its divergence wants, so it is not given there; a layer would change the divergence.
#[test]
fn fields_through_faces_are_not_given() {
    let system = SystemDef::new(&IdealMhd::<2>::DEFINITION).or_panic();
    for (face, boundary) in [
        (Face::X_LO, Boundary::dirichlet(0.5)),
        (Face::X_LO, Boundary::dirichlet_text("t")),
        (Face::X_HI, Boundary::dirichlet(0.5)),
    ] {
        let run = Simulation::<f64>::builder(&system).cells([8, 8, 1]).dt(1e-3);
        let run = run.boundary(Axis::X, Boundary::outflow()).boundary_of("b_x", face, boundary);
        let error = run.build().err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("such that its divergence stays"), "{error}");
    }
    let face = LayerFace { axis: 0, upper: true, begin: 0.8, width: 0.2, strength: 9.0 };
    let far = [("b_z".to_string(), Far::Number(0.0))].into();
    let error = system.model().with_layers(&[Layer { faces: vec![face], far }]).unwrap_err();
    assert!(error.contains("`b` is conserved on faces"), "{error}");
}
