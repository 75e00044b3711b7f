//! Compares schemes at one blast in space: their errors against their cost, after H.-Y. Schive, U.-H. Zhang and T. Chiueh, Int. J. High
//! Perform. Comput. Appl. 26, 367, 2012, who run such a blast by all of them. Writes a table and a picture.
//!
//! `cargo run --release --package stencil-examples --example blast -- 64` takes 64 cells along each axis. The error is that of the density,
//! against the solution of the same blast along a radius on 4000 cells. The cost is processor time of one thread. Each scheme runs in a process
//! of its own, as many at once as there are cores: other programs on the same cores lengthen the wall time, and hardly the processor time.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;
use std::{env, thread};

use physics::systems::IdealGas;
use stencil_examples::processor_time;
use stencil_runtime::plot::{LinePlot, Style};
use stencil_runtime::{Axis, Boundary, Face, Program, Simulation, System, SystemDef};

type Failure = Box<dyn std::error::Error>;

/// The blast of problem `blast`: a ball of hot gas in a cold one.
const GAMMA: f64 = 5.0 / 3.0;
const RADIUS: f64 = 0.1;
const PRESSURES: [f64; 2] = [10.0, 0.1];
const END: f64 = 0.15;

/// Steps at most that wait for the compiled program.
const FIRST: u64 = 4;

/// Steps are this share of the longest stable ones.
const COURANT: f64 = 0.8;

/// Cells along the radius of the solution that errors are measured against, and its length: beyond the corners of the box.
const RADIAL: (usize, f64) = (4000, 0.9);

/// A gas in shells: fluxes through spheres spread over larger areas.
const SHELLS: &str = "system Shells in 1d {
    conserved rho: scalar; conserved m: vector; conserved E: scalar;
    param gamma: real = 1.4;
    source spread: scalar = 2/x;
    let u = m/rho;
    let p = (gamma - 1)*(E - dot(m, u)/2);
    flux rho -> m;
    flux m -> outer(m, u) + p*I;
    flux E -> (E + p)*u;
    ddt(rho) = -spread*m.x;
    ddt(m) = -spread*u.x*m;
    ddt(E) = -spread*(E + p)*u.x;
    primitive { rho; u; p; m = rho*u; E = p/(gamma - 1) + rho*dot(u, u)/2; }
    waves { flow: u; sound: sqrt(gamma*p/rho); density: rho; pressure: p; }
}
scheme s for Shells { reconstruct: plm<limiter = van_leer> in primitive; riemann: hllc; time: ssprk2; }";

/// Schemes of the paper, by the names that it has for them: the integrator, the reconstruction, and how both are declared.
const INTEGRATORS: [(&str, &str); 4] =
    [("RK2", "ssprk2"), ("MHM", "muscl_hancock"), ("VL", "van_leer"), ("CTU", "corner_transport")];
const RECONSTRUCTIONS: [(&str, &str); 2] = [("PLM", "plm<limiter = van_leer>"), ("PPM", "ppm")];
const SOLVERS: [&str; 3] = ["hllc", "roe", "exact"];
const SPLIT_FLUXES: &str = "reconstruct: plm<limiter = van_leer> in fluxes; riemann: rtvd; sweep: alternating; time: van_leer;";
const AVERAGED: &str = "reconstruct: waf<limiter = van_leer>; sweep: alternating; time: euler;";

/// One run.
struct Found {
    /// Were fluxes repaired?
    repaired: bool,
    /// Mean error of the density, over the mean of what the blast changes.
    error: f64,
    /// The largest density.
    peak: f64,
    steps: u64,
    /// Seconds of the processor that a step takes.
    a_step: f64,
}

/// Returns the pressure at first.
fn pressure(radius: f64) -> f64 {
    PRESSURES[usize::from(radius >= RADIUS)]
}

/// Returns the density along a radius, of cells from the centre outwards.
fn along_a_radius() -> Result<Vec<f64>, Failure> {
    let system = SystemDef::from_text("shells", SHELLS)?;
    let (n, length) = RADIAL;
    let builder = Simulation::<f64>::builder(&system).cells([n, 1, 1]).extent([length, 1.0, 1.0]);
    let builder = builder.centered(true).param("gamma", GAMMA).cfl(COURANT);
    let builder = builder.boundary(Face::X_LO, Boundary::wall());
    let mut simulation = builder.boundary(Face::X_HI, Boundary::outflow()).build()?;
    simulation.set("rho", |_, _, _| 1.0)?;
    simulation.set("E", |x, _, _| pressure(x) / (GAMMA - 1.0))?;
    simulation.run_until(END, |_, _| ())?;
    Ok(simulation.to_f64("rho")?.into_iter().collect())
}

/// Returns the mean of a function of the radius over a cell: of 27 points in it.
fn mean_over(cell: [f64; 3], h: f64, values: &[f64]) -> f64 {
    let spacing = RADIAL.1 / RADIAL.0 as f64;
    let thirds = [-h / 3.0, 0.0, h / 3.0];
    let [squares_x, squares_y, squares_z] =
        cell.map(|at| thirds.map(|third| (at + third) * (at + third)));
    let mut sum = 0.0;
    for z in squares_z {
        for y in squares_y {
            for x in squares_x {
                let place = ((x + y + z).sqrt() / spacing - 0.5).max(0.0);
                let (below, share) = (place as usize, place.fract());
                sum += (1.0 - share) * values[below] + share * values[below + 1];
            }
        }
    }
    sum / 27.0
}

/// Runs the blast by one scheme.
fn run(settings: &str, n: usize, radial: &[f64]) -> Result<Found, Failure> {
    let text =
        format!("{}\nscheme s for IdealGas {{ {settings} }}", IdealGas::<3>::DEFINITION.model);
    let system = SystemDef::from_text("gas", &text)?.with_scheme("s")?;
    let mut builder = Simulation::<f64>::builder(&system).cells([n; 3]).origin([-0.5; 3]);
    builder = builder.centered(true).param("gamma", GAMMA).cfl(COURANT).threads(1);
    for axis in Axis::ALL {
        builder = builder.boundary(axis, Boundary::outflow());
    }
    let mut simulation = builder.build()?;
    simulation.set("rho", |_, _, _| 1.0)?;
    let radius = |x: f64, y: f64, z: f64| (x * x + y * y + z * z).sqrt();
    simulation.set("E", |x, y, z| pressure(radius(x, y, z)) / (GAMMA - 1.0))?;
    // A compiler makes the program of the kernels meanwhile; the first steps go without.
    let begins = |of: &Simulation<f64>| of.step_count() < FIRST && of.t() < END / 4.0;
    while begins(&simulation) && simulation.program() == Program::NotYet {
        simulation.step()?;
        thread::sleep(Duration::from_millis(500));
    }
    let (begun, before) = (processor_time(), simulation.step_count());
    simulation.run_until(END, |_, _| ())?;
    let steps = simulation.step_count();
    let a_step = (processor_time() - begun) / (steps - before) as f64;
    let (rho, mesh) = (simulation.to_f64("rho")?, simulation.mesh());
    let at = |axis: usize, cell: usize| mesh.coordinate(axis, cell as isize);
    let (mut error, mut moved, mut peak) = (0.0, 0.0, 0.0);
    for ((z, y, x), found) in rho.indexed_iter() {
        let exact = mean_over([at(0, x), at(1, y), at(2, z)], 1.0 / n as f64, radial);
        error += (found - exact).abs();
        moved += (exact - 1.0).abs();
        peak = f64::max(peak, *found);
    }
    Ok(Found { repaired: false, error: error / moved, peak, steps, a_step })
}

/// Runs a scheme, with repaired fluxes if it needs them.
fn tried(settings: &str, n: usize, radial: &[f64]) -> Result<Found, Failure> {
    match run(&format!("{settings} repair: none;"), n, radial) {
        Ok(found) => Ok(found),
        Err(_) => Ok(Found { repaired: true, ..run(settings, n, radial)? }),
    }
}

/// Runs the scheme of a number in a process of its own.
fn in_a_process(number: usize, n: usize) -> Result<Found, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let arguments = [n, number].map(|number| number.to_string());
    let output = Command::new(program).args(arguments).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [repaired, error, peak, steps, a_step] => {
            Ok(Found { repaired: repaired > 0.0, error, peak, steps: steps as u64, a_step })
        }
        _ => Err(format!("scheme {number} ended without numbers: {text}")),
    }
}

/// A scheme: the family, the solver, and the settings.
type Scheme = (String, String, String);

/// Returns all schemes, those of the cheapest solver first.
fn schemes() -> Vec<Scheme> {
    let mut all = vec![("RTVD".to_string(), String::new(), SPLIT_FLUXES.to_string())];
    for solver in SOLVERS {
        // An exact solver has no waves to average.
        if solver != "exact" {
            all.push(("WAF".into(), solver.into(), format!("{AVERAGED} riemann: {solver};")));
        }
        for (family, time) in INTEGRATORS {
            for (with, made) in RECONSTRUCTIONS {
                // Parabolas are traced by the methods that can.
                let traces = with == "PPM" && matches!(family, "MHM" | "CTU");
                let made = if traces { "ppm<follow = characteristics>" } else { made };
                let settings =
                    format!("reconstruct: {made} in primitive; riemann: {solver}; time: {time};");
                all.push((format!("{family}, {with}"), solver.into(), settings));
            }
        }
    }
    all
}

/// Of each family the name, the seconds in all and the errors in percent, a pair for each solver.
type Families = Vec<(String, Vec<f64>, Vec<f64>)>;

/// Draws errors over costs.
fn draw(families: &Families, n: usize, folder: &Path) -> Result<(), Failure> {
    let mut plot = LinePlot::new()
        .title(format!("A blast on {n}³ cells"))
        .subtitle("mean error of the density; one dot for each Riemann solver")
        .labels("seconds of the processor", "error, %")
        .log_x()
        .legend_beside();
    for (family, costs, errors) in families {
        let style = if family.ends_with("PPM") { Style::LineRings } else { Style::LinePoints };
        plot = plot.series(family, costs, errors, style);
    }
    Ok(plot.save(folder.join("blast.png"))?)
}

/// Returns the row of a table.
fn row((family, solver, _): &Scheme, found: &Found, n: usize) -> String {
    let Found { repaired, error, peak, steps, a_step } = *found;
    let mark = if repaired { ", repaired" } else { "" };
    let (seconds, cells) = (a_step * steps as f64, (n * n * n) as f64);
    format!(
        "| {family}{mark} | {solver} | {:.2} | {peak:.2} | {steps} | {:.1} | {:.2} | {seconds:.1} |",
        100.0 * error,
        1e3 * a_step,
        1e-6 * cells / a_step,
    )
}

/// Runs all schemes, as many at once as there are cores. Returns what was found in their order, and prints each row as it comes.
fn all(schemes: &[Scheme], n: usize) -> Vec<(usize, Result<Found, String>)> {
    let waiting = Mutex::new(0..schemes.len());
    let next = || waiting.lock().ok()?.next();
    let work = || {
        let mut own = Vec::new();
        while let Some(number) = next() {
            let found = in_a_process(number, n);
            match &found {
                Ok(found) => println!("{}", row(&schemes[number], found, n)),
                Err(error) => eprintln!("{error}"),
            }
            own.push((number, found));
        }
        own
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut found: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    });
    found.sort_by_key(|(number, _)| *number);
    found
}

fn main() -> Result<(), Failure> {
    let numbers: Vec<usize> =
        env::args().skip(1).filter_map(|number| number.parse().ok()).collect();
    let n = numbers.first().copied().unwrap_or(64);
    let schemes = schemes();
    if let Some((.., settings)) = numbers.get(1).and_then(|number| schemes.get(*number)) {
        let Found { repaired, error, peak, steps, a_step } =
            tried(settings, n, &along_a_radius()?)?;
        println!("{} {error} {peak} {steps} {a_step}", u8::from(repaired));
        return Ok(());
    }
    let folder = Path::new("out/blast");
    std::fs::create_dir_all(folder)?;
    let mut table = String::from(
        "| scheme | solver | error, % | densest | steps | ms a step | million cells a second | s in all |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut families = Families::new();
    let mut failed = 0;
    for (number, found) in all(&schemes, n) {
        let scheme = &schemes[number];
        // Of a run in which a scheme fails, the others remain.
        let Ok(found) = found else {
            failed += 1;
            continue;
        };
        writeln!(table, "{}", row(scheme, &found, n))?;
        let at = families.iter().position(|(known, _, _)| *known == scheme.0);
        let at = at.unwrap_or_else(|| {
            families.push((scheme.0.clone(), Vec::new(), Vec::new()));
            families.len() - 1
        });
        families[at].1.push(found.a_step * found.steps as f64);
        families[at].2.push(100.0 * found.error);
    }
    draw(&families, n, folder)?;
    std::fs::write(folder.join("blast.md"), &table)?;
    println!("{}", folder.display());
    if failed > 0 { Err(format!("{failed} schemes failed").into()) } else { Ok(()) }
}
