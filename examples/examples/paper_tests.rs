//! Two tests of Pekkilä et al. 2017 (section 6): the decay of a shear wave against the exact one
//! (Fig. 5), and the roundness of an explosion (Fig. 6). Writes tables and pictures.
//!
//! ```text
//! cargo run --release -p stencil-examples --example paper_tests
//! ```

use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;

use physics::problems;
use physics::systems::IsothermalNs;
use stencil_runtime::plot::{LinePlot, Style};
use stencil_runtime::problem::Change;
use stencil_runtime::{Number, Simulation, System, SystemDef};

type Failure = Box<dyn std::error::Error>;

/// Wavenumber, viscosity and time of the shear wave; the paper gives the first and the last.
const SHEAR: (f64, f64, f64) = (13.0, 5e-3, 1.5);
const SHEAR_CELLS: [usize; 7] = [32, 48, 64, 128, 256, 384, 512];

/// Returns the root mean square error of the shear wave on n cells, with steps as the square of the spacing.
fn shear_error<T: Number>(system: &SystemDef, n: usize) -> Result<f64, Failure> {
    let ((k, nu, end), h) = (SHEAR, TAU / n as f64);
    let steps = (end / (0.08 * h * h / nu).min(0.3 * h)).ceil();
    let mut simulation = Simulation::<T>::builder(system)
        .cells([n, 1, 1])
        .extent([TAU, 1.0, 1.0])
        .param("nu", nu)
        .dt(end / steps)
        .build()?;
    simulation.set("u_y", |x, _, _| (k * x).sin())?;
    simulation.run(steps as u64, |_, _| ())?;
    let decay = (-nu * k * k * end).exp();
    let values = simulation.to_f64("u_y")?;
    let errors =
        values.iter().enumerate().map(|(i, value)| value - decay * (k * i as f64 * h).sin());
    Ok((errors.map(|e| e * e).sum::<f64>() / n as f64).sqrt())
}

/// Fig. 5: errors over spacings.
fn shear(folder: &Path) -> Result<(), Failure> {
    let declared = IsothermalNs::DEFINITION.model;
    let composed = declared.replace("mixed: bidiagonal", "mixed: composed");
    let (single, stored) =
        (SystemDef::new(&IsothermalNs::DEFINITION)?, SystemDef::from_text("composed", &composed)?);
    type Error = fn(&SystemDef, usize) -> Result<f64, Failure>;
    let runs: [(&str, &SystemDef, Error); 4] = [
        ("bidiagonal, f64", &single, shear_error::<f64>),
        ("bidiagonal, f32", &single, shear_error::<f32>),
        ("composed, f64", &stored, shear_error::<f64>),
        ("composed, f32", &stored, shear_error::<f32>),
    ];
    let spacings = SHEAR_CELLS.map(|n| TAU / n as f64);
    let mut plot = LinePlot::new()
        .title("Decay of a shear wave, k = 13")
        .subtitle("root mean square error at t = 1.5")
        .labels("spacing", "error")
        .log_x()
        .log_y();
    let mut table = String::from(
        "| cells | bidiagonal, f64 | order | bidiagonal, f32 | composed, f64 | composed, f32 |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let mut columns = Vec::new();
    for (name, system, error) in runs {
        let errors =
            SHEAR_CELLS.iter().map(|n| error(system, *n)).collect::<Result<Vec<_>, _>>()?;
        let style = if name.ends_with("f64") { Style::LinePoints } else { Style::Points };
        plot = plot.series(name, &spacings, &errors, style);
        columns.push(errors);
    }
    let reference: Vec<f64> =
        spacings.iter().map(|h| columns[0][4] * (h / spacings[4]).powi(6)).collect();
    plot = plot.series("sixth power", &spacings, &reference, Style::Dashed);
    for (i, n) in SHEAR_CELLS.iter().enumerate() {
        let order = if i == 0 {
            "–".to_string()
        } else {
            let errors = columns[0][i - 1] / columns[0][i];
            format!("{:.2}", errors.ln() / (spacings[i - 1] / spacings[i]).ln())
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(|run| columns[run][i]);
        writeln!(table, "| {n} | {a:.3e} | {order} | {b:.3e} | {c:.3e} | {d:.3e} |")?;
    }
    plot.save(folder.join("shear.png"))?;
    println!("{table}");
    std::fs::write(folder.join("shear.md"), table)?;
    Ok(())
}

/// The seven lines of the paper: the axes and the diagonals of the box.
const LINES: [[isize; 3]; 7] =
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, -1], [1, -1, 1], [1, -1, -1]];
const EXPLOSION_CELLS: [usize; 2] = [64, 128];
/// The paper varies the viscosity; Re is the largest velocity times the length 1 over it.
const VISCOSITIES: [f64; 5] = [0.1, 0.05, 0.02, 0.01, 0.005];

/// Returns relative standard deviations of the sums of density and speed along the lines.
fn deviations(n: usize, nu: f64) -> Result<[f64; 2], Failure> {
    let changes =
        [Change::set(&format!("mesh.cells={n}")), Change::set(&format!("params.nu={nu}"))];
    let problem = problems::find("explosion")?.open(&changes)?;
    let mut simulation = problem.builder::<f32>().build()?;
    problem.initialize(&mut simulation)?;
    simulation.run_until(problem.time.end.unwrap_or(0.6), |_, _| ())?;
    let fields = ["lnrho", "u_x", "u_y", "u_z"].map(|name| simulation.to_f64(name));
    let [lnrho, x, y, z] = fields;
    let (lnrho, u) = (lnrho?, [x?, y?, z?]);
    let sums = LINES.map(|line| {
        let (n, h) = (n as isize, simulation.spacing()[0]);
        let length = h * (line.iter().map(|i| i * i).sum::<isize>() as f64).sqrt();
        // All lines to the same distance from the centre, where the gas is at rest.
        let last = (TAU / 2.0 / length) as isize;
        let mut sums = [0.0; 2];
        for i in -last..=last {
            let [x, y, z] = line.map(|step| (n / 2 + i * step).rem_euclid(n) as usize);
            let square: f64 = u.iter().map(|u| u[[z, y, x]].powi(2)).sum();
            sums[0] += length * (lnrho[[z, y, x]].exp() - 1.0);
            sums[1] += length * square.sqrt();
        }
        // The density is one at rest.
        [sums[0] + TAU, sums[1]]
    });
    Ok([0, 1].map(|i| {
        let mean = sums.iter().map(|s| s[i]).sum::<f64>() / 7.0;
        let squares: f64 = sums.iter().map(|s| (s[i] / mean - 1.0).powi(2)).sum();
        (squares / 7.0).sqrt()
    }))
}

/// Fig. 6: deviations over Reynolds numbers.
fn explosion(folder: &Path) -> Result<(), Failure> {
    let reynolds = VISCOSITIES.map(|nu| 1.0 / nu);
    let mut table = String::from("| cells | Re | density | speed |\n| --- | --- | --- | --- |\n");
    let mut plot = LinePlot::new()
        .title("Roundness of an explosion")
        .subtitle("relative standard deviation of sums along seven lines, t = 0.6")
        .labels("Reynolds number", "deviation")
        .log_x()
        .log_y();
    for n in EXPLOSION_CELLS {
        let mut all = Vec::new();
        for (nu, re) in VISCOSITIES.iter().zip(reynolds) {
            let found = deviations(n, *nu)?;
            writeln!(table, "| {n}^3 | {re:.0} | {:.3e} | {:.3e} |", found[0], found[1])?;
            all.push(found);
        }
        for (i, name) in ["density", "speed"].into_iter().enumerate() {
            let values: Vec<f64> = all.iter().map(|d| d[i]).collect();
            plot = plot.series(format!("{name}, {n}^3"), &reynolds, &values, Style::LinePoints);
        }
    }
    plot.save(folder.join("explosion.png"))?;
    println!("{table}");
    std::fs::write(folder.join("explosion.md"), table)?;
    Ok(())
}

fn main() -> Result<(), Failure> {
    let folder = Path::new("out/paper_tests");
    std::fs::create_dir_all(folder)?;
    shear(folder)?;
    explosion(folder)?;
    println!("{}", folder.display());
    Ok(())
}
