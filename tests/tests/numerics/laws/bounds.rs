//! Laws whose waves have no closed form as a whole, by solvers that go by bounds of their speeds.

use std::f64::consts::TAU;

use stencil_runtime::compiler::stability::{Axes, speeds};
use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

/// Values at a place and a time.
type Exact = fn(f64, f64) -> f64;

/// A solid in the plane; waves of pressure and of shear go 2 and 1 in a unit of time.
const SOLID: &str = "system Solid in 2d {
    conserved v: vector; conserved xx: scalar; conserved yy: scalar; conserved xy: scalar;
    param l: real = 2; param m: real = 1;
    flux v -> -[[xx, xy], [xy, yy]]; flux xx -> -[(l + 2*m)*v.x, l*v.y];
    flux yy -> -[l*v.x, (l + 2*m)*v.y]; flux xy -> -m*[v.y, v.x]; }
    scheme s for Solid { reconstruct: plm<limiter = central>; riemann: hll; time: ssprk3; }";

/// Gas in a magnetic field, along one axis (Brio and Wu, J. Comput. Phys. 75, 400, 1988, Eqs. 2 to 8).
const MAGNETIC: &str = "system Magnetic in 1d {
    conserved rho: scalar; conserved mx: scalar; conserved my: scalar; conserved mz: scalar;
    conserved by: scalar; conserved bz: scalar; conserved E: scalar;
    param gamma: real = 5/3; param bx: real = 1;
    let u = mx/rho; let v = my/rho; let w = mz/rho;
    let total = (gamma - 1)*(E - (mx*u + my*v + mz*w)/2) + (2 - gamma)*(bx^2 + by^2 + bz^2)/2;
    flux rho -> [mx]; flux mx -> [mx*u + total - bx^2]; flux my -> [mx*v - bx*by];
    flux mz -> [mx*w - bx*bz]; flux by -> [by*u - bx*v]; flux bz -> [bz*u - bx*w];
    flux E -> [(E + total)*u - bx*(u*bx + v*by + w*bz)]; }
    scheme s for Magnetic { reconstruct: plm<limiter = central>; riemann: hll; time: ssprk3; }";

/// Returns the mean error of the first of some components after a time, and the speed that limited the first step.
fn error(text: &str, n: usize, end: f64, exact: &[(&str, Exact)]) -> (f64, f64) {
    let system = SystemDef::from_text("law.pde", text).or_panic();
    let plane = system.model().dimension > 1;
    let builder = Simulation::<f64>::builder(&system).cells([n, if plane { 4 } else { 1 }, 1]);
    let mut simulation = builder.centered(true).cfl(0.4).build().or_panic();
    for (name, value) in exact {
        simulation.set(name, |x, _, _| value(x, 0.0)).unwrap();
    }
    simulation.step().or_panic();
    // The shares of waves that are as fast along each axis.
    let shares = speeds(system.model(), simulation.spacing(), Axes::Sum);
    let rates: f64 = shares.iter().map(|share| share.rate).sum();
    let speed = 0.4 / (simulation.dt() * rates);
    simulation.run_until(end, |_, _| ()).or_panic();
    let (end, (name, value)) = (simulation.t(), exact[0]);
    (simulation.error(name, |x, _, _| value(x, end)), speed)
}

/// Checks that waves are of second order.
fn converges(text: &str, end: f64, exact: &[(&str, Exact)], fastest: f64) {
    let [(coarse, _), (fine, bound)] = [32, 64].map(|n| error(text, n, end, exact));
    let order = (coarse / fine).log2();
    println!("{}: {coarse:.3e} {fine:.3e}, order {order:.2}", exact[0].0);
    assert!(order > 1.8, "{}: {coarse} {fine}", exact[0].0);
    // The bound is sharp.
    assert!((0.999..1.8).contains(&(bound / fastest)), "{bound} {fastest}");
}

#[test]
fn waves_of_pressure_and_of_shear_go_through_a_solid() {
    let pressure: [(&str, Exact); 3] = [
        ("v_x", |x, t| (TAU * (x - 2.0 * t)).sin()),
        ("xx", |x, t| -2.0 * (TAU * (x - 2.0 * t)).sin()),
        ("yy", |x, t| -(TAU * (x - 2.0 * t)).sin()),
    ];
    let shear: [(&str, Exact); 2] =
        [("v_y", |x, t| (TAU * (x + t)).sin()), ("xy", |x, t| (TAU * (x + t)).sin())];
    converges(SOLID, 0.5, &pressure, 2.0);
    converges(SOLID, 0.5, &shear, 2.0);
}

#[test]
fn a_magnetic_wave_turns_as_it_goes() {
    // Circular polarization is exact at any amplitude: gas and pressure do not notice it.
    let exact: [(&str, Exact); 6] = [
        ("by", |x, t| 0.1 * (TAU * (x - t)).sin()),
        ("bz", |x, t| 0.1 * (TAU * (x - t)).cos()),
        ("my", |x, t| -0.1 * (TAU * (x - t)).sin()),
        ("mz", |x, t| -0.1 * (TAU * (x - t)).cos()),
        ("rho", |_, _| 1.0),
        ("E", |_, _| 0.1 / (2.0 / 3.0) + 0.01 / 2.0 + 1.01 / 2.0),
    ];
    // The fast wave along the field, with a little of it across.
    converges(MAGNETIC, 1.0, &exact, 1.02);
}
