//! `stencil verify`: schedules on a card against the processor, bit for bit.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::Args;
use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::expr::Real;
use stencil_compiler::schedule::space::{Draws, sample};
use stencil_compiler::schedule::{Schedule, presets, text};
use stencil_runtime::backend::cuda::Card;
use stencil_runtime::{Boundary, Engine, Error, Number, Simulation, Source, SystemDef};

use crate::source::Precision;
use crate::{Ended, source};

/// Steps of each run: all graphs are replayed, and buffers come back to where they were.
const STEPS: u64 = 5;

/// Sizes that no tile divides, by the number of dimensions.
const CELLS: [[usize; 3]; 3] = [[1037, 1, 1], [137, 53, 1], [37, 53, 29]];

/// Patches that some runs are cut into, by the number of dimensions.
const PATCHES: [[usize; 3]; 3] = [[3, 1, 1], [2, 3, 1], [2, 1, 3]];

/// What is compared.
#[derive(Args, Clone, Debug)]
pub(crate) struct VerifyArgs {
    /// Systems by name, or files with declarations; all systems of the library if none is given
    #[arg(value_name = "SYSTEM|FILE.pde")]
    systems: Vec<String>,
    /// Schedules to draw at random for each system and precision, beside the presets
    #[arg(long, value_name = "N", default_value = "0")]
    sample: u32,
    /// The seed of the random schedules
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Precisions of the values
    #[arg(long, value_name = "f32,f64", value_enum, value_delimiter = ',', default_values = ["f32", "f64"])]
    precision: Vec<Precision>,
    /// Cells along x, y, z in place of a size that no tile divides
    #[arg(long, value_name = "NX,NY,NZ", value_delimiter = ',', num_args = 1)]
    cells: Vec<usize>,
    /// Patches along x, y, z that some schedules run in once more, where they divide the cells
    #[arg(long, value_name = "P,Q,R", value_delimiter = ',', num_args = 1)]
    patches: Vec<usize>,
    /// Number of steps of each run
    #[arg(long, value_name = "N", default_value_t = STEPS)]
    steps: u64,
    /// The card, counted from 0
    #[arg(long, value_name = "N", default_value = "0")]
    card: usize,
}

/// What was found for a system in one precision, on one mesh.
#[derive(Debug, Default)]
struct Found {
    what: String,
    dimension: usize,
    precision: &'static str,
    schedules: usize,
    values: usize,
    differing: usize,
    /// A line for each schedule that is wrong.
    wrong: Vec<String>,
}

impl Found {
    fn row(&self) -> String {
        let mut lines = format!(
            "{:<16} {}d  {:<4} {:>9} {:>12} {:>10}\n",
            self.what, self.dimension, self.precision, self.schedules, self.values, self.differing
        );
        for line in &self.wrong {
            lines += &format!("  {line}\n");
        }
        lines
    }
}

/// What a system runs on.
#[derive(Clone, Copy, Debug)]
struct Grid {
    cells: [usize; 3],
    patches: [usize; 3],
}

impl Grid {
    /// One patch.
    fn whole(args: &VerifyArgs, dimension: usize) -> Self {
        let mut cells = CELLS[dimension - 1];
        for (own, given) in cells.iter_mut().zip(&args.cells).take(dimension) {
            *own = *given;
        }
        Grid {
            cells,
            patches: [1; 3],
        }
    }

    /// Several of them, on a few cells more; on cells that were given only where they divide those.
    fn cut(args: &VerifyArgs, dimension: usize) -> Option<Self> {
        let mut patches = PATCHES[dimension - 1];
        for (own, given) in patches.iter_mut().zip(&args.patches).take(dimension) {
            *own = *given;
        }
        let mut cells = Self::whole(args, dimension).cells;
        let divide = |cells: [usize; 3]| (0..3).all(|a| cells[a].is_multiple_of(patches[a]));
        if args.cells.is_empty() {
            cells = std::array::from_fn(|a| cells[a].next_multiple_of(patches[a].max(1)));
        }
        divide(cells).then_some(Grid { cells, patches })
    }
}

/// Runs the command.
pub(crate) fn run(args: &VerifyArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let cards = Card::all().map_err(Error::Cuda)?;
    if let Some(card) = cards.get(args.card) {
        source::write(out, format!("{}\n", card.name).as_bytes())?;
    }
    let systems = systems(&args.systems)?;
    let heading = format!(
        "{:<16} {}  {:<4} {:>9} {:>12} {:>10}\n",
        "system", "dim", "", "schedules", "values", "differing"
    );
    source::write(out, heading.as_bytes())?;
    let mut wrong = 0;
    for system in &systems {
        for precision in &args.precision {
            for found in match precision {
                Precision::F32 => compare_all::<f32>(args, system)?,
                Precision::F64 => compare_all::<f64>(args, system)?,
            } {
                source::write(out, found.row().as_bytes())?;
                wrong += found.wrong.len();
            }
        }
    }
    if wrong > 0 {
        return Err(Ended {
            code: crate::BUG,
            message: format!("{wrong} schedules do not give the bits of the processor"),
        });
    }
    Ok(source::write(out, b"all bits are equal\n")?)
}

fn systems(names: &[String]) -> Result<Vec<SystemDef>, Ended> {
    if names.is_empty() {
        let all = physics::systems::ALL.iter().map(SystemDef::new);
        return Ok(all.collect::<Result<_, _>>()?);
    }
    let named = |name: &String| -> Result<SystemDef, Ended> { crate::bench::system(name) };
    names.iter().map(named).collect()
}

/// Schedules of a system with names.
fn schedules<T: Number>(args: &VerifyArgs, algorithm: &Algorithm) -> Vec<(String, Schedule)> {
    let on_card = |s: &Schedule| s.kernels.iter().all(|k| k.strategy != "rows");
    let mut all: Vec<(String, Schedule)> = presets::ALL
        .iter()
        .map(|p| (p.name.to_string(), (p.make)(algorithm, T::PRECISION)))
        .filter(|(_, schedule)| on_card(schedule))
        .collect();
    let mut draws = Draws::new(args.seed);
    for number in 1..=args.sample {
        // Rows are a blocking of the processor.
        let drawn = (0..100).find_map(|_| sample(algorithm, T::BYTES, &mut draws).filter(on_card));
        all.extend(drawn.map(|schedule| (format!("drawn {number}"), schedule)));
    }
    all
}

/// How many kinds of [`boundaries`] there are.
const KINDS: usize = 7;

/// What lies beyond the faces, in turn.
fn boundaries(turn: usize) -> (&'static str, [Boundary; 3]) {
    let same = |boundary: Boundary| [boundary.clone(), boundary.clone(), boundary];
    match turn % KINDS {
        0 | 1 => ("periodic", same(Boundary::periodic())),
        2 => (
            "outflow, wall, periodic",
            [Boundary::outflow(), Boundary::wall(), Boundary::periodic()],
        ),
        3 => (
            "extrapolate, periodic, wall",
            [
                Boundary::extrapolate(),
                Boundary::periodic(),
                Boundary::wall(),
            ],
        ),
        4 => (
            "dirichlet, neumann, extrapolate",
            [
                Boundary::dirichlet(0.99),
                Boundary::neumann(0.125),
                Boundary::extrapolate(),
            ],
        ),
        5 => (
            "functions of the place and the time",
            [
                Boundary::dirichlet_with(|_, y, z, t| 1.0 + 0.01 * (y - z + t).sin()),
                Boundary::neumann_with(|x, _, z, t| 0.01 * (x + z - t).cos()),
                Boundary::outflow(),
            ],
        ),
        _ => (
            "functions of cells",
            [
                Boundary::periodic(),
                Boundary::custom([] as [&str; 0], |point| 1.0 + 0.001 * point.depth as f64),
                Boundary::wall(),
            ],
        ),
    }
}

/// All schedules on one patch, and for each kind of boundary one of them on several.
fn compare_all<T: Number>(args: &VerifyArgs, system: &SystemDef) -> Result<Vec<Found>, Ended> {
    let all = schedules::<T>(args, system.algorithm());
    let dimension = system.algorithm().dimension.clamp(1, 3);
    let whole = Grid::whole(args, dimension);
    let mut found = vec![compare::<T>(args, system, whole, &all)?];
    if let Some(grid) = Grid::cut(args, dimension) {
        let some: Vec<_> = all.iter().cycle().take(KINDS).cloned().collect();
        let [p, q, r] = grid.patches;
        found.push(Found {
            what: format!("  {p}x{q}x{r} patches"),
            ..compare::<T>(args, system, grid, &some)?
        });
    }
    Ok(found)
}

fn compare<T: Number>(
    args: &VerifyArgs,
    system: &SystemDef,
    grid: Grid,
    all: &[(String, Schedule)],
) -> Result<Found, Ended> {
    let kinds = KINDS.min(all.len());
    let references: Vec<Vec<u64>> = (0..kinds)
        .map(|kind| bits::<T>(args, system, grid, kind, None))
        .collect::<Result<_, _>>()?;
    // Most of the time goes into compilation: many at once.
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, schedule)) = all.get(turn) else {
                return;
            };
            let kind = turn % kinds;
            let bits = bits::<T>(args, system, grid, kind, Some(schedule));
            let result = differing(bits, &references[kind]);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            found.insert(turn, result);
            if io::stderr().is_terminal() {
                let (done, all) = (found.len(), all.len());
                let _ = write!(
                    io::stderr(),
                    "\r{} {} {done}/{all} {name:<16}",
                    system.name(),
                    T::NAME
                );
            }
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        for _ in 0..threads.min(all.len()) {
            scope.spawn(work);
        }
    });
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r{:60}\r", "");
    }
    let mut sums = Found {
        what: system.name().to_string(),
        dimension: system.algorithm().dimension,
        precision: T::NAME,
        ..Found::default()
    };
    for (turn, result) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        sums.schedules += 1;
        sums.values += references[turn % kinds].len();
        let differing = result.as_ref().map_or(0, |differing| *differing);
        sums.differing += differing;
        let what = match result {
            Ok(0) => continue,
            Ok(_) => format!("{differing} values differ"),
            Err(message) => message,
        };
        let (name, schedule) = &all[turn];
        let beyond = boundaries(turn % kinds).0;
        let lines = text::print(schedule).replace('\n', "\n    ");
        sums.wrong
            .push(format!("{name}, {beyond}: {what}\n    {lines}"));
    }
    Ok(sums)
}

/// How many values are not those of the processor, or why there are none.
fn differing(bits: Result<Vec<u64>, Ended>, reference: &[u64]) -> Result<usize, String> {
    let bits = bits.map_err(|ended| {
        let first = ended.message.lines().next().unwrap_or_default();
        first.to_string()
    })?;
    Ok(bits.iter().zip(reference).filter(|(a, b)| a != b).count())
}

/// The bits of all fields after some steps, and of what is observed then; NaN by one pattern. With a
/// schedule it runs on a card, without on the processor.
fn bits<T: Number>(
    args: &VerifyArgs,
    system: &SystemDef,
    Grid { cells, patches }: Grid,
    kind: usize,
    schedule: Option<&Schedule>,
) -> Result<Vec<u64>, Ended> {
    let dimension = system.algorithm().dimension;
    let finest = cells.iter().copied().max().unwrap_or(1) as f64;
    let mut builder = Simulation::<T>::builder(system)
        .cells(cells)
        .dt(0.01 / (finest * finest));
    if let Some(schedule) = schedule {
        builder = builder.engine(Engine::Cuda).card(args.card).threads(1);
        builder = builder.schedule(schedule.clone()).patches(patches);
    }
    if system.has_speeds() {
        builder = builder.cfl(0.1);
    }
    for param in &system.algorithm().params {
        if param.default.is_none() {
            builder = builder.param(param.name.as_str(), 1.0);
        }
    }
    for (_, source) in system.algorithm().states_of(Role::Given) {
        let value = Source::steady(|x, y, z| 0.01 * (3.0 * x - y + 2.0 * z).sin());
        builder = builder.source(source.name.as_str(), value);
    }
    let (_, beyond) = boundaries(kind);
    let axes = stencil_runtime::Axis::ALL.into_iter().take(dimension);
    for (axis, boundary) in axes.zip(beyond) {
        builder = builder.boundary(axis, boundary);
    }
    let mut simulation = builder.build()?;
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (at, name) in names.iter().enumerate() {
        let phase = at as f64;
        simulation.set(name, |x, y, z| {
            let turn = std::f64::consts::TAU * (x + 2.0 * y - z) + phase;
            1.0 + 0.01 * turn.sin() + 0.003 * (3.0 * turn).cos()
        })?;
    }
    simulation.run(args.steps, |_, _| ())?;
    let mut bits = Vec::new();
    for name in &names {
        bits.extend(simulation.field(name)?.iter().map(|v| v.canonical_bits()));
    }
    let observed = simulation.observe()?;
    bits.extend(observed.values().map(|v| v.canonical_bits()));
    Ok(bits)
}
