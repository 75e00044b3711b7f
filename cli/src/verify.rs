//! `stencil verify`: schedules on a card, and runs on several devices, against the processor, bit for bit. Kernels may be
//! compiled before, on a machine without a card.

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

use clap::Args;
use stencil_compiler::catalogue::Rank;
use stencil_compiler::diag::counted;
use stencil_compiler::schedule::text;
use stencil_report::Failure;
use stencil_report::smooth::{mean, mean_of};
use stencil_report::verify::{Comparison, Comparisons};
use stencil_runtime::backend::cuda::nvrtc::Nvrtc;
use stencil_runtime::backend::cuda::{Cache, Card, CudaError};
use stencil_runtime::report::{clear_note, note};
use stencil_runtime::{Builder, Error, Number};

use crate::source::{self, Backend, MixedChoice, Precision};
use crate::{Ended, output};

mod cases;
mod list;
mod on_card;
mod plans;

use cases::{Batch, Runs, boundaries};
use list::List;

/// Steps of each run: all graphs are replayed, and buffers come back to where they were.
const STEPS: u64 = 5;

/// Arguments of `stencil verify`.
#[derive(Args, Clone, Debug)]
pub(crate) struct VerifyArgs {
    /// Systems by name, or files with declarations; all systems of the library if none is given
    #[arg(value_name = "SYSTEM|FILE.pde")]
    systems: Vec<String>,
    /// Number of dimensions of systems `in nd`; 3 for those of files and 2 for those of the library if not given
    #[arg(long, value_name = "N", value_parser = source::dimension())]
    dimension: Option<usize>,
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
    /// The meaning of a derivative of a derivative, in place of the declared choice; each in turn
    #[arg(long, value_name = "CHOICE,..", value_enum, value_delimiter = ',')]
    mixed: Vec<MixedChoice>,
    /// The schedules of this plan file, too, each against the processor by the formulation that it is of
    #[arg(long, value_name = "FILE")]
    plans: Option<PathBuf>,
    /// Patches along x, y, z that some schedules run in once more
    #[arg(long, value_name = "P,Q,R", value_delimiter = ',', num_args = 1)]
    patches: Vec<usize>,
    /// Compare runs on so many devices, by default with a box of the mesh each, with one device. They are cards if there are
    /// as many, else the processor simulates them
    #[arg(long, value_name = "N", value_parser = source::devices, conflicts_with = "plans")]
    devices: Option<usize>,
    /// Whether the devices are cards or simulated by the processor
    #[arg(long, value_enum, default_value = "auto", requires = "devices")]
    backend: Backend,
    /// Number of steps of each run
    #[arg(long, value_name = "N", default_value_t = STEPS)]
    steps: u64,
    /// The card, counted from 0
    #[arg(long, value_name = "N", default_value = "0")]
    card: usize,
    /// Compile all kernels into a folder, with the list of the cases that need them, and compare nothing; no card is
    /// needed
    #[arg(long, value_name = "DIR", conflicts_with_all = ["card", "devices"])]
    export: Option<PathBuf>,
    /// The cards that kernels are exported for
    #[arg(long, value_name = "ARCH", default_value = "sm_90", requires = "export")]
    arch: String,
    /// Compare the cases that were exported to a folder; nothing is compiled, and no NVRTC is needed
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["export", "systems", "sample", "seed", "precision", "cells", "mixed", "plans", "patches", "devices", "steps"]
    )]
    from: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &VerifyArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let mut runs = Runs {
        steps: args.steps,
        card: args.card,
        cache: None,
        devices: args.devices.unwrap_or(1),
        on_cards: true,
    };
    if let Some(folder) = &args.export {
        let batches = cases::batches(args, &args.arch)?;
        return export(folder, &args.arch, &runs, batches, out);
    }
    // A wrong command line is reported before a missing card.
    let cards = Card::all();
    if let Some(devices) = args.devices {
        let are_cards = cards.as_ref().is_ok_and(|all| all.len() >= devices);
        runs.on_cards = match args.backend {
            Backend::Auto => are_cards,
            Backend::Cuda => true,
            Backend::Cpu | Backend::Compiled | Backend::Rows => false,
        };
    }
    if !runs.on_cards {
        let batches = cases::simulated(args)?;
        let line = format!("{}, simulated by the processor\n", counted(runs.devices, "device"));
        output::write(out, line.as_bytes())?;
        return verify(&runs, &batches, out);
    }
    let card = cards.as_ref().ok().and_then(|all| all.get(args.card));
    let architecture = card.map_or_else(String::new, Card::architecture);
    let batches = match &args.from {
        None => cases::batches(args, &architecture)?,
        Some(folder) => {
            let list = exported(folder, args.card)?;
            runs.steps = list.steps;
            runs.cache = Some(Cache::sealed(folder, list.compiler));
            list.batches.into_iter().map(|(batch, _)| batch).collect()
        }
    };
    let cards = cards.map_err(Error::Cuda)?;
    if let Some(card) = cards.get(args.card) {
        let others = match runs.devices {
            1 => String::new(),
            all => format!(", one of {all} cards that share each run"),
        };
        output::write(out, format!("{}{others}\n", card.name).as_bytes())?;
    }
    verify(&runs, &batches, out)
}

/// Compares everything, and prints a line for each system and precision.
fn verify(runs: &Runs, batches: &[Batch], out: &mut dyn Write) -> Result<(), Ended> {
    output::write(out, Comparisons::heading().as_bytes())?;
    let mut all = Comparisons::default();
    for batch in batches {
        let found = match batch.precision {
            Precision::F32 => compare::<f32>(runs, batch)?,
            Precision::F64 => compare::<f64>(runs, batch)?,
        };
        output::write(out, found.text().as_bytes())?;
        all.0.push(found);
    }
    let end = all.end().map_err(|message| Ended { code: crate::BUG, message })?;
    Ok(output::write(out, end.as_bytes())?)
}

fn name(batch: &Batch) -> String {
    let origin = &batch.origin;
    let mixed = origin.mixed.map(|mixed| mixed.get().name().to_string());
    let form = origin.formulation.map(|form| form.to_string()).or(mixed);
    let what = match (batch.grid.patches, form) {
        ([p, q, r], _) if batch.devices > 1 => {
            let ghosts = batch.schedules.iter().map(|(_, schedule)| schedule.ghosts).max();
            let lasting = ghosts.filter(|ghosts| *ghosts > 1);
            let lasting = lasting.map_or(String::new(), |ghosts| format!(" ghosts {ghosts}"));
            format!("{} {p}x{q}x{r}{lasting}", batch.system.name())
        }
        ([1, 1, 1], None) => batch.system.name().to_string(),
        ([1, 1, 1], Some(form)) => format!("{} {form}", batch.system.name()),
        ([p, q, r], _) => format!("  {p}x{q}x{r} patches"),
    };
    format!(
        "{what:<24} {}d  {:<4}",
        batch.system.algorithm().dimension,
        batch.precision.get().name()
    )
}

fn compare<T: Number>(runs: &Runs, batch: &Batch) -> Result<Comparison, Ended> {
    let kinds = batch.kinds();
    let references: BTreeMap<usize, Vec<u64>> = kinds
        .into_iter()
        .map(|kind| Ok((kind, bits(runs.on_processor::<T>(batch, kind), runs.steps)?)))
        .collect::<Result<_, Ended>>()?;
    // Most of the time goes into compilation: many at once.
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let results = in_parallel(batch, threads, |turn| {
        let kind = batch.kind(turn);
        let run = runs.compared::<T>(batch, kind, &batch.schedules[turn].1);
        differing(bits(run, runs.steps), &references[&kind])
    });
    let mut sums = Comparison { name: name(batch), ..Comparison::default() };
    for (turn, result) in results.into_iter().enumerate() {
        sums.schedules += 1;
        sums.values += references[&batch.kind(turn)].len();
        let differing = result.as_ref().map_or(0, |differing| *differing);
        sums.differing += differing;
        let what = match result {
            Ok(0) => continue,
            Ok(_) => format!("values that differ: {differing}"),
            Err(message) => message,
        };
        let (name, schedule) = &batch.schedules[turn];
        let beyond = boundaries(&batch.system, batch.kind(turn), mean(Rank::Scalar)).0;
        let lines = text::print(schedule).replace('\n', "\n    ");
        sums.wrong.push(format!("{name}, {beyond}: {what}\n    {lines}"));
    }
    Ok(sums)
}

/// Does something with each schedule of a batch, on some threads; says on a terminal how far it is.
fn in_parallel<R: Send>(batch: &Batch, threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let all = &batch.schedules;
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, _)) = all.get(turn) else {
                return;
            };
            let result = work(turn);
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.insert(turn, result);
            let (done, all, system) = (results.len(), all.len(), self::name(batch));
            note(&format!("{system} {done}/{all} {name}"));
        }
    };
    thread::scope(|scope| {
        let threads = 0..threads.clamp(1, all.len().max(1));
        let threads: Vec<_> = threads.map(|_| scope.spawn(work)).collect();
        // The end of a scope does not wait for work that a driver leaves to the end of a thread.
        for thread in threads {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
    clear_note();
    let results = results.into_inner();
    let results = results.unwrap_or_else(PoisonError::into_inner);
    results.into_values().collect()
}

/// Counts values that differ from those of the processor, or gives the reason why there are none.
fn differing(bits: Result<Vec<u64>, Ended>, reference: &[u64]) -> Result<usize, String> {
    let bits = bits.map_err(|ended| {
        let first = ended.message.lines().next().unwrap_or_default();
        first.to_string()
    })?;
    Ok(bits.iter().zip(reference).filter(|(a, b)| a != b).count())
}

/// The bits of all fields and observables after some steps; NaN by one pattern.
fn bits<T: Number>(run: Builder<T>, steps: u64) -> Result<Vec<u64>, Ended> {
    let mut simulation = run.build()?;
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (at, name) in names.iter().enumerate() {
        let (phase, mean) = (at as f64, mean_of(simulation.system(), name));
        simulation.set(name, |x, y, z| {
            let along = x + 2.0 * y - z;
            let turn = std::f64::consts::TAU * along + phase;
            // Limiters and solvers of Riemann problems choose otherwise at jumps.
            let jump = if along.rem_euclid(1.0) < 0.4 { 0.8 } else { 1.0 };
            jump * mean + 0.01 * turn.sin() + 0.003 * (3.0 * turn).cos()
        })?;
    }
    simulation.run(steps, |_, _| ())?;
    Ok(simulation.bits()?)
}

/// Compiles all kernels into a folder, and writes the list of the cases that need them.
fn export(
    folder: &Path,
    arch: &str,
    runs: &Runs,
    batches: Vec<Batch>,
    out: &mut dyn Write,
) -> Result<(), Ended> {
    fs::create_dir_all(folder).map_err(|error| Ended::unwritten(folder, &error))?;
    let nvrtc = Nvrtc::shared().map_err(|error| Error::Cuda(CudaError::Nvrtc(error)))?;
    let mut list = List {
        architecture: arch.to_string(),
        compiler: nvrtc.version(),
        steps: runs.steps,
        batches: Vec::new(),
    };
    let cache = Cache::at(folder);
    for batch in batches {
        let kernels = match batch.precision {
            Precision::F32 => compiled::<f32>(runs, &batch, &cache, arch)?,
            Precision::F64 => compiled::<f64>(runs, &batch, &cache, arch)?,
        };
        let line = format!("{} {:>9} schedules\n", name(&batch), kernels.len());
        output::write(out, line.as_bytes())?;
        list.batches.push((batch, kernels));
    }
    list.write(folder)?;
    let (major, minor) = list.compiler;
    let end = format!(
        "{} kernels for {arch} by NVRTC {major}.{minor}, and {}; where the card is:\n  stencil verify --from {}\n",
        list.kernels().len(),
        list::path(folder).display(),
        folder.display()
    );
    Ok(output::write(out, end.as_bytes())?)
}

/// The names of the files of each schedule's kernels, which are compiled.
fn compiled<T: Number>(
    runs: &Runs,
    batch: &Batch,
    cache: &Cache,
    arch: &str,
) -> Result<Vec<Vec<String>>, Ended> {
    // The kernels of a schedule are compiled at once; few schedules are, as they have kernels in
    // common, which the cache gives to the later one.
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let results = in_parallel(batch, threads.div_ceil(4), |turn| {
        let (_, schedule) = &batch.schedules[turn];
        let run = runs.compared::<T>(batch, batch.kind(turn), schedule);
        run.compile_into(cache, arch)
    });
    let named = batch.schedules.iter().zip(results);
    named
        .map(|((name, _), result)| {
            result.map_err(|error| {
                let mut ended = Ended::from(error);
                ended.message += &format!("\n  in the schedule `{name}` of {}", self::name(batch));
                ended
            })
        })
        .collect()
}

/// The list in a folder, if all its kernels are whole and for this card.
fn exported(folder: &Path, card: usize) -> Result<List, Ended> {
    let list = List::read(folder)?;
    let cache = Cache::at(folder);
    for kernel in list.kernels() {
        cache.check(kernel).map_err(Error::Cuda)?;
    }
    let cards = Card::all().map_err(Error::Cuda)?;
    // A card that is not there is told of by the run.
    if let Some(card) = cards.get(card) {
        let (own, wanted) = (card.architecture(), &list.architecture);
        if own != *wanted {
            return Err(Failure::new(format!(
                "error: {} has kernels for {wanted}; {} is {own}\n  help: export them with --arch {own}",
                folder.display(),
                card.name
            ))
            .into());
        }
        let (major, minor) = list.compiler;
        if u32::try_from(major).is_ok_and(|major| major > card.driver.0) {
            return Err(Failure::new(format!(
                "error: {} has kernels by NVRTC {major}.{minor}, too new for the driver, which speaks CUDA {}.{}\n  \
                 help: export them with NVRTC {} (STENCIL_NVRTC_DIR names its folder)",
                folder.display(),
                card.driver.0,
                card.driver.1,
                card.driver.0
            ))
            .into());
        }
    }
    Ok(list)
}
