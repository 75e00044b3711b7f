//! The heat equation, from its declaration to a picture and an error against the exact solution.

use std::f64::consts::TAU;
use std::path::Path;

use stencil_runtime::plot::{ColorMap, Heatmap};
use stencil_runtime::{Error, Simulation, pde};

pde! {
    /// Diffusion of heat in a plane.
    pub system Heat in 2d {
        field temperature: scalar [K];
        param kappa: real [m^2/s] = 0.1 where kappa >= 0;
        ddt(temperature) = kappa * lap(temperature);
    }
    scheme central6 for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
}

/// Wavenumbers of the mode that cools.
const MODE: (f64, f64) = (2.0, 3.0);

fn mode(x: f64, y: f64) -> f64 {
    (MODE.0 * x).sin() * (MODE.1 * y).sin()
}

/// Cools one mode on n x n cells until t = 1; returns the simulation and its largest error.
fn cool(n: usize) -> Result<(Simulation<f64>, f64), Error> {
    let dt = 0.2 * (TAU / n as f64).powi(2);
    let steps = (1.0 / dt).ceil();
    let builder = Simulation::<f64>::builder(&Heat).cells([n, n, 1]).extent([TAU, TAU, 1.0]);
    let mut simulation = builder.dt(1.0 / steps).build()?;
    simulation.set("temperature", |x, y, _| mode(x, y))?;
    simulation.run(steps as u64, |_, _| ())?;
    let decay = (-0.1 * (MODE.0.powi(2) + MODE.1.powi(2)) * simulation.t()).exp();
    let h = TAU / n as f64;
    let field = simulation.field("temperature")?;
    let error = field
        .indexed_iter()
        .map(|((_, j, i), value)| (value - decay * mode(i as f64 * h, j as f64 * h)).abs());
    let largest = error.fold(0.0, f64::max);
    Ok((simulation, largest))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (simulation, error) = cool(64)?;
    println!("t = {:.3}, largest error {error:.2e}", simulation.t());
    let field = simulation.to_f64("temperature")?;
    let plane = field.index_axis(ndarray::Axis(0), 0);
    let picture = Heatmap::new(plane, [0.0, TAU, 0.0, TAU]).title("Heat").labels("x", "y");
    let picture = picture.color_label("temperature").map(ColorMap::Diverging);
    std::fs::create_dir_all("out/heat")?;
    let path = Path::new("out/heat/temperature.png");
    picture.save(path)?;
    println!("{}", path.display());
    Ok(())
}

#[test]
fn a_mode_decays_with_sixth_order() {
    let error = |n| cool(n).unwrap_or_else(|e| panic!("{e}")).1;
    let observed = (error(16) / error(32)).log2();
    assert!((observed - 6.0).abs() < 0.3, "observed order {observed}");
}
