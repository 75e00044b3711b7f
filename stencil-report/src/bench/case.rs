//! One case: a system, a precision, an engine and a number of threads.

use std::fmt::Display;
use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use stencil_compiler::compile::{Target, compile};
use stencil_compiler::cost::{self, KernelCost, Rates};
use stencil_runtime::backend::cuda::{Cache, CardSpan, Load, PartTime, Sensors};
use stencil_runtime::bench::{self, BURST, Peak, Stream, Sustained, peak, stream};
use stencil_runtime::{Builder, Engine, Error, Number, Pick, Picked, Simulation, SystemDef};

use super::card::{Card, Kernel};
use super::other_program::OtherProgram;
use super::parts::{PartCosts, parts};
use super::report::PICK;
use super::work::Grid;
use super::{Protocol, Setup, Timings, report};
use crate::Failure;
use crate::pictures::roofline::Roofs;
use crate::pictures::timeline::Drawn;
use crate::smooth::{self, along_axes};

/// Seconds of a timing if the number of steps is not given.
const TIMING: f64 = 0.2;

/// Steps between two looks at the values of a card whose fields are not kept: as many as where they are.
const SELDOM: usize = 32;

/// Rest of a card before a burst: its power follows within less.
const REST: Duration = Duration::from_millis(120);

/// Bursts, one behind the other, in which the sensors are asked: their numbers are renewed every 20 ms or so.
const WATCHED: u64 = 3;

/// Rounds between two looks at what the machine can do.
const LOOK: u32 = 5;

/// A simulation that is timed.
pub(super) struct Case<T> {
    schedule: Option<String>,
    cfl: Option<f64>,
    simulation: Simulation<T>,
    /// Steps in a timing.
    steps: u64,
    /// Seconds of each timing.
    seconds: Vec<f64>,
    /// The best that the machine could do between the timings.
    copy: f64,
    processor: Option<report::Processor>,
    /// The sensors of the card, and what they told during bursts.
    sensors: Option<Sensors>,
    load: Load,
    /// How steps of a card are timed.
    protocol: Protocol,
    /// Their times without a rest.
    sustained: Option<Sustained>,
    /// Seconds from the settings to the end of the first step, without those that set values.
    start: f64,
    /// Times of the parts of a step, and rates of the card, if these were asked for.
    parts: Option<(Vec<PartTime>, Option<Rates>)>,
    /// The tasks of a step on each card, if these were asked for.
    spans: Vec<CardSpan>,
}

impl<T: Number> Case<T> {
    /// Sets up a run with smooth values.
    pub(super) fn new(system: &SystemDef, setup: &Setup<'_>) -> Result<Self, Failure> {
        let begun = Instant::now();
        let mut simulation = built::<T>(system, setup)?;
        let start = (begun.elapsed() - simulation.timings().pick).as_secs_f64();
        smooth::fill(&mut simulation)?;
        let given = setup.schedule.as_ref().map(|(name, _)| name.to_string());
        Ok(Case {
            schedule: given.or_else(|| picked(&simulation, &mut io::stderr())),
            cfl: setup.cfl,
            sensors: simulation.card().and_then(Sensors::open),
            simulation,
            steps: 1,
            seconds: Vec::new(),
            copy: 0.0,
            processor: None,
            load: Load::default(),
            protocol: Protocol::Both,
            sustained: None,
            start,
            parts: None,
            spans: Vec::new(),
        })
    }

    /// The same steps where no cell reads another one.
    pub(super) fn bare(&self, setup: &Setup<'_>) -> Result<Self, Failure> {
        let system = self.simulation.system().without_neighbours();
        let schedule = self.simulation.schedule().clone();
        let setup = Setup { schedule: Some(("", schedule)), ..setup.clone() };
        Self::new(&system, &setup)
    }

    /// The environment of a program beside.
    pub(super) fn told(&self) -> [(&'static str, String); 6] {
        let simulation = &self.simulation;
        let cells = simulation.cells().map(|n| n.to_string());
        [
            ("BENCH_SYSTEM", simulation.system().name().to_string()),
            ("BENCH_MIXED", mixed(simulation.system()).to_string()),
            ("BENCH_ORDER", simulation.system().model().scheme.order.to_string()),
            ("BENCH_SCHEDULE", self.schedule.clone().unwrap_or_default()),
            ("BENCH_PRECISION", T::NAME.to_string()),
            ("BENCH_CELLS", cells.join(",")),
        ]
    }

    /// Times steps, each time followed by the other program, and between the timings what the machine can
    /// do at that moment.
    pub(super) fn measure(
        &mut self,
        timings: &Timings<'_>,
        mut beside: Option<&mut OtherProgram>,
    ) -> Result<(), Failure> {
        // The first step touches memory for the first time and is no measure.
        self.start += self.time(1)?;
        let is_card = self.simulation.card().is_some();
        self.protocol = timings.protocol;
        self.steps = match timings.steps {
            Some(steps) => steps,
            None if is_card => bench::steps_of(&mut self.simulation, BURST)?,
            None => (TIMING / self.time(1)?).ceil().clamp(1.0, 1e6) as u64,
        };
        if !is_card || self.protocol != Protocol::Sustained {
            for round in 0..timings.repeat {
                if round.is_multiple_of(LOOK) {
                    self.sense()?;
                    self.look()?;
                }
                let seconds = self.timing()?;
                self.seconds.push(seconds);
                if let Some(beside) = beside.as_deref_mut() {
                    beside.run()?;
                }
            }
        }
        if timings.kernels {
            self.take_apart();
        }
        if is_card && self.protocol != Protocol::Burst {
            self.sustain(beside)?;
        }
        self.look()?;
        Ok(())
    }

    /// Times the parts of a step; the rates of the card are measured once. A failure is no more than a note, as the steps
    /// have been measured all the same.
    fn take_apart(&mut self) {
        let note = &mut io::stderr();
        let rates = match self.simulation.card() {
            Some(card) => {
                let found = card.calibration(Cache::of_user().as_ref(), false);
                let Some(found) = or_noted(found, "what the card does in a second", note) else {
                    return;
                };
                Some(found.rates)
            }
            None => None,
        };
        thread::sleep(REST);
        let times = or_noted(self.simulation.part_times(), "parts of a step", note);
        let spans = or_noted(self.simulation.timeline(), "the tasks of a step in time", note);
        self.spans = spans.unwrap_or_default();
        let uncaptured = self.simulation.uncaptured();
        if uncaptured > 0 {
            let _ = writeln!(
                note,
                "note: {uncaptured} parts of steps were not captured, and take longer"
            );
        }
        self.parts = Some((times.unwrap_or_default(), rates));
    }

    /// Steps without a rest; where there are no bursts the batches of these stand for the timings.
    fn sustain(&mut self, beside: Option<&mut OtherProgram>) -> Result<(), Failure> {
        let sustained = bench::sustained(&mut self.simulation, self.sensors.as_ref())?;
        if self.protocol == Protocol::Sustained {
            let a_step = sustained.batches.iter();
            self.seconds = a_step.map(|seconds| seconds * self.steps as f64).collect();
            if let Some(beside) = beside {
                beside.run()?;
            }
        }
        self.sustained = Some(sustained);
        Ok(())
    }

    /// Seconds of the steps of a timing; a card has rested before it.
    fn timing(&mut self) -> Result<f64, Error> {
        match self.simulation.card() {
            Some(_) => {
                let a_step = bench::burst(&mut self.simulation, self.steps, REST)?;
                Ok(a_step * self.steps as f64)
            }
            None => self.time(self.steps),
        }
    }

    fn time(&mut self, steps: u64) -> Result<f64, Error> {
        let start = Instant::now();
        self.simulation.run(steps, |_, _| ())?;
        Ok(start.elapsed().as_secs_f64().max(1e-9))
    }

    /// Keeps the best that was seen of the machine: others may slow it down.
    fn look(&mut self) -> Result<(), Error> {
        if let Some(card) = self.simulation.card() {
            self.copy = self.copy.max(card.copy_gb_s()?);
            return Ok(());
        }
        let threads = self.simulation.threads();
        let Peak { gflops, .. } = peak::<T>(threads);
        let Stream { copy_gb_s, triad_gb_s, .. } = stream(threads);
        self.copy = self.copy.max(copy_gb_s);
        let best = self.processor.take().unwrap_or_default();
        self.processor = Some(report::Processor {
            instructions: self.simulation.instructions().name(),
            threads,
            peak_gflops: best.peak_gflops.max(gflops),
            triad_gb_s: best.triad_gb_s.max(triad_gb_s),
            ..best
        });
        Ok(())
    }

    /// Asks the sensors of the card after a rest, during steps that do not count, as asking takes time. The
    /// last answer stands.
    fn sense(&mut self) -> Result<(), Error> {
        let Some(sensors) = self.sensors.take() else {
            return Ok(());
        };
        thread::sleep(REST);
        let (timed, load) = sensors.during(|| self.time(WATCHED * self.steps));
        self.sensors = Some(sensors);
        timed?;
        self.load = load;
        Ok(())
    }

    /// The result.
    pub(super) fn result(&mut self, beside: Option<OtherProgram>) -> report::Measured {
        let costs = costs(&self.simulation).unwrap_or_default();
        let card = self.card(&costs);
        let flops: f64 = costs.iter().map(|kernel| kernel.flops).sum();
        let parts = self.parts(&costs);
        let processor = self.processor.take();
        let simulation = &self.simulation;
        let system = simulation.system();
        let points: usize = simulation.cells().iter().product();
        let per_second = |seconds: f64| points as f64 * self.steps as f64 / seconds;
        let (best, median) = best_and_median(&self.seconds);
        let copy = self.copy * memories(simulation);
        report::Measured {
            system: system.name().to_string(),
            precision: T::NAME,
            engine: simulation.engine().name(),
            schedule: self.schedule.clone(),
            cfl: self.cfl,
            dt: self.simulation.dt(),
            cells: simulation.cells(),
            patches: simulation.patches(),
            devices: simulation.devices(),
            dimension: system.model().dimension,
            steps: self.steps,
            repeat: self.seconds.len(),
            best_mpts: per_second(best) / 1e6,
            median_mpts: per_second(median) / 1e6,
            ms_per_step: 1e3 * best / self.steps as f64,
            mixed: mixed(system),
            order: system.model().scheme.order,
            processor: processor.map(|processor| report::Processor {
                gflops: (!costs.is_empty()).then(|| flops * per_second(best) / 1e9),
                ..processor
            }),
            card,
            parts,
            timeline: self.timeline(),
            of_first: None,
            copy_gb_s: self.copy,
            room: simulation.memory_use(),
            passes: simulation.passes(),
            floor_bytes: least_bytes(simulation),
            floor_ms: least_bytes(simulation) * points as f64 / (copy * 1e9) * 1e3,
            beside: beside.map(OtherProgram::result),
            bare_mpts: None,
        }
    }

    /// The tasks of a step, to be drawn.
    fn timeline(&self) -> Vec<Drawn> {
        let launched = self.simulation.launched();
        let name = |launch: usize| launched.get(launch).map_or(String::new(), |of| of.name.clone());
        let drawn = |of: &CardSpan| Drawn::new(Some(of.card), &of.span, name);
        self.spans.iter().map(drawn).collect()
    }

    /// The use of a card, if one does the steps.
    fn card(&self, costs: &[KernelCost]) -> Option<Card> {
        let simulation = &self.simulation;
        let card = simulation.card()?;
        let launched = simulation.launched().into_iter().zip(costs);
        let kernels = launched.map(|(launched, cost)| Kernel {
            launched,
            predicted_bytes: cost.fetched_bytes() / simulation.plan().time_steps as f64,
        });
        Some(Card {
            name: card.name.clone(),
            launches: simulation.launches_a_step(),
            kernels: kernels.collect(),
            protocol: self.protocol,
            load: self.load,
            sustained: self.sustained.as_ref().map(|found| {
                let points = simulation.cells().iter().product::<usize>() as f64;
                (points / found.seconds() / 1e6, found.load)
            }),
            start: self.start,
        })
    }

    /// The parts of a step, if they were asked for.
    fn parts(&self, costs: &[KernelCost]) -> Option<PartCosts> {
        let (times, rates) = self.parts.as_ref()?;
        let simulation = &self.simulation;
        let grid = Grid {
            cells: simulation.cells(),
            patches: simulation.patches(),
            dimension: simulation.system().model().dimension,
            value_bytes: T::BYTES,
            card: rates.as_ref().map(|rates| &rates.card),
        };
        let plan = simulation.plan();
        let of_processor = || self.processor.map_or(0.0, |own| own.peak_gflops);
        let peak = rates.map(|rates| rates.peak_flops(T::BYTES) / 1e9);
        Some(PartCosts {
            all: parts(&grid, (plan, costs), times),
            roofs: Roofs {
                peak: peak.map_or_else(of_processor, |peak| peak * memories(simulation)),
                copy: self.copy * memories(simulation),
            },
            steps: plan.time_steps,
        })
    }
}

/// Builds the run of a case. On the processor it waits for its program, if one can be compiled.
fn built<T: Number>(system: &SystemDef, setup: &Setup<'_>) -> Result<Simulation<T>, Failure> {
    let wants = setup.engine == Engine::Cpu && setup.schedule.is_none() && !system.is_compiled();
    if wants {
        match builder::<T>(system, setup).engine(Engine::Compiled).build() {
            Err(error @ Error::NotCompiled { .. }) => {
                // Results can be written even if notes cannot.
                let _ = writeln!(io::stderr(), "note: the row engine is timed: {error}");
            }
            built => return Ok(built?),
        }
    }
    Ok(builder::<T>(system, setup).engine(setup.engine).build()?)
}

/// Returns the builder of a case, without an engine.
fn builder<T: Number>(system: &SystemDef, setup: &Setup<'_>) -> Builder<T> {
    let Setup { cells, patches, devices, threads, cfl, lean, .. } = *setup;
    let Setup { stream, card_memory, ref schedule, .. } = *setup;
    let alike = || smooth::run::<T>(system, cells);
    let mut builder = cfl
        .map_or_else(alike, |number| smooth::without_steps(system, cells).cfl(number))
        .devices(devices)
        .stream(stream)
        .pick(Pick::Before);
    if !patches.is_empty() {
        builder = builder.patches(along_axes(system, patches, 1));
    }
    if let Some(bytes) = card_memory {
        builder = builder.card_memory(bytes);
    }
    if let Some(threads) = threads {
        builder = builder.threads(threads);
    }
    if lean {
        builder = builder.keep_last(false).look_every(SELDOM);
    }
    match schedule {
        Some((_, schedule)) => builder.schedule(schedule.clone()),
        None => builder,
    }
}

/// Returns the name of a schedule that the performance model picked, or writes a note if it picked none.
fn picked<T: Number>(simulation: &Simulation<T>, note: &mut dyn Write) -> Option<String> {
    match simulation.picked() {
        Picked::Unwanted | Picked::NotYet => None,
        Picked::Since(_) => Some(PICK.to_string()),
        Picked::Failed(reason) => {
            // Results can be written even if notes cannot.
            let _ = writeln!(note, "note: the preset gpu is timed, for want of a pick: {reason}");
            None
        }
    }
}

/// The meaning of a derivative of a derivative.
fn mixed(system: &SystemDef) -> &'static str {
    system.model().scheme.mixed.settled().name()
}

/// Returns a measurement, or writes a note of its failure.
pub(super) fn or_noted<V>(
    measured: Result<V, impl Display>,
    what: &str,
    note: &mut dyn Write,
) -> Option<V> {
    let noted = |why| {
        // Results can be written even if notes cannot.
        let _ = writeln!(note, "note: {what} could not be measured: {why}");
    };
    measured.map_err(noted).ok()
}

/// The shortest time and the one in the middle.
pub(crate) fn best_and_median(seconds: &[f64]) -> (f64, f64) {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let at = |i: usize| sorted.get(i).copied().unwrap_or(f64::NAN);
    (at(0), 0.5 * (at(n.saturating_sub(1) / 2) + at(n / 2)))
}

/// Predicted costs of the kernels of the schedule that runs, by the order of a step.
fn costs<T: Number>(simulation: &Simulation<T>) -> Option<Vec<KernelCost>> {
    let algorithm = simulation.system().algorithm();
    let compiled = compile(algorithm, simulation.schedule(), &Target::new(T::BYTES)).ok()?;
    cost::kernels(&compiled).ok()
}

/// Returns the number of memories that move bytes side by side: each card has its own.
fn memories<T: Number>(simulation: &Simulation<T>) -> f64 {
    simulation.card().map_or(1.0, |_| simulation.devices() as f64)
}

/// Bytes a cell and step that no schedule of single substeps can avoid.
fn least_bytes<T: Number>(simulation: &Simulation<T>) -> f64 {
    let algorithm = simulation.system().algorithm();
    let substeps = 0..algorithm.substeps.len();
    substeps.map(|at| cost::floor_bytes(algorithm, at, T::BYTES)).sum()
}
