//! Everything that a report of a plan says, before it is text, JSON or a picture.

use std::collections::BTreeMap;

use serde_json::Value;
use stencil_compiler::compile::Compiled;
use stencil_compiler::cost::{Fills, KernelCost, Occupancy, Time};
use stencil_compiler::emit::{self, Places};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::plan::{Depth, Launch, Step};
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::advice::advised;
use stencil_compiler::search::presets;
use stencil_runtime::backend::cuda;
use stencil_runtime::backend::cuda::nvrtc::Resources;
use stencil_runtime::device_boxes;
use stencil_runtime::plot::Scene;

use super::analyze::{self, Measured};
use super::candidates::{Candidate, Predicted, Problem};
use super::cuts::{Cut, Cuts};
use super::declared::Declared;
use super::devices::{Cluster, Shared};
use super::streamed::{Streamed, Streaming};
use super::ways::Ways;
use super::{json, pictures, text};
use crate::{Failure, Picture, Render};

/// A plan, and what else might have been.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The problem.
    pub(super) problem: Problem<'a>,
    /// The plan.
    pub(super) plan: Planned,
    /// Another one to compare it with.
    pub(super) against: Option<Planned>,
    /// Its cuts, and some that it might have.
    pub(super) cuts: Vec<Cut>,
    /// All other candidates, the fastest first.
    pub(super) rejected: Vec<Candidate>,
    /// The plan of one of several devices, and other ways in which it may get values.
    pub(super) shared: Option<(Shared, Ways)>,
    /// The passes of a mesh that is streamed.
    pub(super) streamed: Option<Streamed>,
}

/// The schedules that a report is to be of.
#[derive(Clone, Debug, Default)]
pub struct Wanted<'a> {
    /// A schedule with its name; the fastest candidate if none is given.
    pub schedule: Option<(&'a str, Schedule)>,
    /// Another one to compare with.
    pub against: Option<(&'a str, Schedule)>,
    /// Schedules of those that a search begins with that are looked at.
    pub candidates: usize,
    /// Are kernels compiled for their registers?
    pub compile: bool,
    /// Devices that share the mesh, if a plan among them is wanted, and the hosts that they are in.
    pub devices: Option<(usize, Cluster)>,
    /// The way in which the mesh passes through the card slab by slab, if it does.
    pub streaming: Option<Streaming>,
}

/// One schedule as a tree of a step.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    /// The schedule's name.
    pub(super) name: String,
    /// Why it is this one.
    pub(super) why: String,
    /// The schedule.
    pub(super) schedule: Schedule,
    /// Its prediction.
    pub(super) predicted: Predicted,
    /// Bytes a point and step that no schedule can avoid.
    pub(super) floor_bytes: f64,
    /// Seconds to copy these.
    pub(super) floor_seconds: f64,
    /// Fills and kernels, by substeps.
    pub(super) substeps: Vec<Vec<Entry>>,
    /// The compiler that reports registers, or the reason why there is none.
    pub(super) compiler: String,
    /// Its measurements, if it was run.
    pub(super) measured: Option<Measured>,
}

/// A part of a substep.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// Ghost cells are filled.
    Fill {
        /// The buffers.
        buffers: Vec<String>,
        /// Their depth.
        depth: [u32; 3],
        /// Their amount.
        fills: Fills,
        /// Predicted seconds.
        seconds: f64,
    },
    /// A kernel runs.
    Kernel(Box<Kernel>),
}

/// A kernel of the step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kernel {
    /// As it is launched.
    pub(super) launch: Launch,
    /// Its cost.
    pub(super) cost: KernelCost,
    /// Its predicted time.
    pub(super) time: Time,
    /// Seconds that it took by itself, where it ran.
    pub(super) measured: Option<f64>,
    /// Equations whose new values it gives, with their lines.
    pub(super) equations: Vec<Declared>,
    /// Grid functions that it stores for other kernels.
    pub(super) stores: Vec<Declared>,
    /// Named intermediates that it evaluates.
    pub(super) lets: Vec<Declared>,
    /// Bytes a point that memory moves.
    pub(super) moved: f64,
    /// Seconds to copy the bytes that must move.
    pub(super) floor_seconds: f64,
    /// Registers that a thread is likely to get, and bytes that it then spills.
    pub(super) likely: (u32, u32),
    /// As the compiler reports them, if there is one.
    pub(super) compiled: Option<Resources>,
    /// Blocks on a multiprocessor, with the registers that are known best.
    pub(super) occupancy: Occupancy,
    /// The share of a multiprocessor's warps that these are.
    pub(super) warps: f64,
}

impl Kernel {
    /// Registers of a thread, and bytes that it spills, as far as they are known.
    pub(super) fn registers(&self) -> (u32, u32) {
        let compiled = self.compiled.as_ref();
        compiled.map_or(self.likely, |c| (c.registers, c.spill_stores + c.spill_loads))
    }

    /// The part of its time in which the bytes that must move could be copied.
    pub(super) fn of_floor(&self) -> f64 {
        self.floor_seconds / self.measured.unwrap_or(self.time.total)
    }

    /// Has another kernel the same numbers, but for its name and substep?
    pub(super) fn is_like(&self, other: &Kernel) -> bool {
        let plain = |kernel: &Kernel| {
            let mut plain = kernel.clone();
            plain.launch.name.clear();
            plain.cost.name.clear();
            (plain.launch.substep, plain.cost.substep) = (0, 0);
            plain.launch.outputs.iter_mut().for_each(|(_, name)| name.clear());
            if let Some(compiled) = &mut plain.compiled {
                compiled.name.clear();
            }
            plain
        };
        plain(self) == plain(other)
    }
}

impl Entry {
    /// Predicted seconds.
    pub(super) fn seconds(&self) -> f64 {
        match self {
            Entry::Fill { seconds, .. } => *seconds,
            Entry::Kernel(kernel) => kernel.time.total,
        }
    }
}

impl Planned {
    /// Takes in measurements. The reports of the card on kernels replace the predictions.
    pub(super) fn analyze(&mut self, problem: &Problem<'_>, measured: Measured) {
        let unit = &problem.on.rates.multiprocessor;
        let kernels = self.substeps.iter_mut().flatten();
        let kernels = kernels.filter_map(|entry| match entry {
            Entry::Kernel(kernel) => Some(kernel),
            Entry::Fill { .. } => None,
        });
        for (number, (kernel, launched)) in kernels.zip(&measured.kernels).enumerate() {
            kernel.measured = measured.seconds_of.get(&number).copied();
            kernel.occupancy = Occupancy { blocks: launched.resident, bound: launched.bound };
            kernel.warps = match launched.occupancy {
                share if share > 0.0 => share,
                _ => unit.share(launched.resident, launched.threads),
            };
            kernel.compiled = Some(launched.resources.clone());
        }
        self.compiler = format!("of {}, where it ran", measured.card);
        self.measured = Some(measured);
    }

    /// Kernels in the order of the step.
    pub(super) fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.substeps.iter().flatten().filter_map(|entry| match entry {
            Entry::Kernel(kernel) => Some(&**kernel),
            Entry::Fill { .. } => None,
        })
    }
}

impl Problem<'_> {
    /// A schedule as a tree.
    ///
    /// # Errors
    /// If it is illegal, or the card cannot run it.
    pub(super) fn planned(
        &self,
        (name, why): (String, String),
        schedule: Schedule,
        compile: bool,
    ) -> Result<Planned, Failure> {
        let compiled = self.compile(&schedule).map_err(|error| {
            // The search for legal ones is long; it is for those who have written a schedule.
            let advised = advised(self.algorithm, &schedule, &self.target());
            let error = advised.err().unwrap_or(error);
            Failure::new(format!("error: schedule `{name}` is illegal: {error}"))
        })?;
        let predicted = self.predict(&compiled).map_err(|rejection| {
            Failure::new(format!(
                "error: no plan of `{name}` for {}: {}\n  help: --on names another card, --schedule another schedule",
                self.on.name,
                rejection.words()
            ))
        })?;
        let (resources, compiler) = match compile {
            true => self.resources(&compiled),
            false => (Vec::new(), "not compiled, as was asked".to_string()),
        };
        let floor_bytes = self.floor();
        Ok(Planned {
            name,
            why,
            floor_bytes,
            floor_seconds: self.copying(floor_bytes),
            substeps: self.substeps(&predicted, &resources),
            predicted,
            schedule,
            compiler,
            measured: None,
        })
    }

    /// The report of the card's compiler on each kernel, and its name, or why there is none.
    fn resources(&self, compiled: &Compiled) -> (Vec<Resources>, String) {
        let (major, minor) = self.on.capability;
        let architecture = format!("sm_{major}{minor}");
        if self.on.capability < cuda::OLDEST {
            let (oldest, after) = cuda::OLDEST;
            let words = format!(
                "not compiled, as generated code needs compute capability {oldest}.{after} and {} has \
                 {major}.{minor}: times are what it would take",
                self.on.name
            );
            return (Vec::new(), words);
        }
        let kernels = compiled.kernels.iter();
        let sources: Result<Vec<_>, _> =
            kernels.map(|kernel| emit::cuda(kernel, self.precision)).collect();
        let found = sources.map_err(|error| error.to_string()).and_then(|sources| {
            let places = Places::of(&compiled.problem);
            let found = cuda::resources(&sources, &places, &architecture);
            found.map_err(|error| error.to_string())
        });
        match found {
            Ok(resources) => (resources, format!("NVRTC for {architecture}")),
            Err(error) => {
                // The places that were tried are what `doctor` is for.
                let line = error.lines().next().unwrap_or_default();
                let line = line.split_once(';').map_or(line, |(what, _)| what);
                let words = format!("not compiled: {line} (`stencil doctor` tells more)");
                (Vec::new(), words)
            }
        }
    }

    fn substeps(&self, predicted: &Predicted, resources: &[Resources]) -> Vec<Vec<Entry>> {
        let launches = predicted.plan.launches.iter();
        let last = launches.map(|launch| launch.substep).max();
        let mut substeps = vec![Vec::new(); last.map_or(0, |last| last + 1)];
        let mut before = Vec::new();
        for step in &predicted.plan.steps {
            match step {
                Step::Fill { buffers, depth } => before.push(self.fill(buffers, *depth)),
                step => {
                    let Some(at) = step.launch() else { continue };
                    let launch = &predicted.plan.launches[at];
                    let kernel = self.kernel(predicted, at, resources.get(at));
                    if let Some(substep) = substeps.get_mut(launch.substep) {
                        substep.append(&mut before);
                        substep.push(Entry::Kernel(Box::new(kernel)));
                    }
                }
            }
        }
        substeps
    }

    fn fill(&self, buffers: &[String], depth: Depth) -> Entry {
        let fills = Fills::new(buffers.len(), depth, self.cells, self.precision.bytes());
        Entry::Fill {
            buffers: buffers.to_vec(),
            depth: depth.towards,
            fills,
            seconds: fills.seconds(&self.on.rates),
        }
    }

    fn kernel(&self, predicted: &Predicted, at: usize, compiled: Option<&Resources>) -> Kernel {
        let (launch, cost) = (&predicted.plan.launches[at], &predicted.costs[at]);
        let likely = cost.likely_registers();
        let registers = compiled.map_or(likely.0, |c| c.registers);
        let unit = &self.on.rates.multiprocessor;
        let occupancy = unit.occupancy(cost.threads, registers, cost.shared_bytes);
        Kernel {
            equations: self.equations(launch),
            stores: self.stores(launch),
            lets: self.lets(launch),
            moved: cost.memory_bytes(self.cells, &self.on.rates.card).unwrap_or(0.0),
            floor_seconds: self.copying(cost.least_bytes()),
            likely,
            measured: None,
            compiled: compiled.cloned(),
            warps: unit.share(occupancy.blocks, cost.threads),
            occupancy,
            launch: launch.clone(),
            cost: cost.clone(),
            time: predicted.times[at],
        }
    }
}

impl<'a> Report<'a> {
    /// Plans a schedule, or the candidate that is predicted to be the fastest, and looks at what else might be.
    ///
    /// # Errors
    /// If the schedule is illegal, or cannot run.
    pub fn new(problem: Problem<'a>, wanted: Wanted<'_>) -> Result<Self, Failure> {
        // A wrong schedule is reported before the long search.
        let asked = |(name, schedule): (&str, Schedule)| {
            let why = presets::find(name).map_or("from a file", |preset| preset.summary);
            let words = (name.to_string(), why.to_string());
            problem.planned(words, schedule, wanted.compile)
        };
        let plan = wanted.schedule.map(asked).transpose()?;
        let against = wanted.against.map(asked).transpose()?;
        let candidates = problem.candidates(wanted.candidates);
        let plan = match plan {
            Some(mut plan) => {
                plan.why += &beside(&plan, &candidates);
                plan
            }
            None => {
                let (words, schedule) = fastest(&problem, &candidates)?;
                problem.planned(words, schedule, wanted.compile)?
            }
        };
        let shared = wanted.devices.filter(|(devices, _)| *devices > 1);
        let shared = shared.map(|(devices, cluster)| {
            let boxes = device_boxes(problem.cells, devices, [true; 3])?;
            let own = Shared::new(&problem, &plan.schedule, boxes, &cluster)?;
            let ways = Ways::new(&problem, (&plan.schedule, &own), &cluster);
            Ok::<_, Failure>((own, ways))
        });
        let streamed = wanted.streaming.map(|asked| Streamed::new(&problem, &plan.schedule, asked));
        let cuts = Cuts { problem: &problem, candidates: &candidates };
        let cuts = cuts.of((&plan.schedule, &plan.predicted));
        let same = |c: &Candidate| match &c.outcome {
            Ok(found) => found.plan == plan.predicted.plan,
            Err(_) => false,
        };
        Ok(Report {
            against,
            cuts,
            rejected: candidates.into_iter().filter(|c| !same(c)).collect(),
            shared: shared.transpose()?,
            streamed: streamed.transpose()?,
            plan,
            problem,
        })
    }

    /// Runs the plan on the first card for a moment. Times and resources of its kernels replace the predicted ones.
    ///
    /// # Errors
    /// If there is no card or no compiler for it, or if a run fails.
    pub fn analyze(&mut self) -> Result<(), Failure> {
        let measured = match self.problem.precision {
            Precision::F32 => analyze::measure::<f32>(&self.problem, &self.plan)?,
            Precision::F64 => analyze::measure::<f64>(&self.problem, &self.plan)?,
        };
        self.plan.analyze(&self.problem, measured);
        Ok(())
    }

    /// Draws the pictures, with names for their files.
    pub fn scenes(&self) -> Vec<(String, Scene)> {
        let Problem { algorithm, precision, .. } = self.problem;
        let stem = format!("{}-{}", algorithm.name, precision.name());
        let all = pictures::scenes(self).into_iter();
        let shared = self.shared.as_ref().map(|(shared, _)| {
            let title = format!("{stem}: a step of one device of {}", shared.devices);
            ("timeline", shared.scene(&title))
        });
        all.chain(shared).map(|(name, scene)| (format!("{stem}-{name}"), scene)).collect()
    }

    /// Million points a second of a step that takes so long.
    pub(super) fn rate(&self, seconds: f64) -> f64 {
        self.problem.points() / seconds / 1e6
    }
}

impl Render for Report<'_> {
    fn text(&self) -> String {
        text::page(self)
    }

    fn json(&self) -> Value {
        json::report(self)
    }

    fn pictures(&self) -> Vec<(String, Picture)> {
        let scenes = self.scenes().into_iter();
        scenes.map(|(name, scene)| (name, scene.into())).collect()
    }
}

type Words = (String, String);

/// Compares a plan that was asked for with the fastest candidate.
fn beside(plan: &Planned, candidates: &[Candidate]) -> String {
    match first(candidates) {
        Some((best, found)) if found.plan != plan.predicted.plan => format!(
            "; as it was asked for. The fastest candidate by the model, `{}`, takes {:.0} % of its time",
            best.name,
            100.0 * found.seconds / plan.predicted.seconds
        ),
        Some(_) => "; by the model no candidate is faster".to_string(),
        None => String::new(),
    }
}

/// The candidate that is predicted to be the fastest.
pub(super) fn fastest(
    problem: &Problem<'_>,
    candidates: &[Candidate],
) -> Result<(Words, Schedule), Failure> {
    let Some((best, found)) = first(candidates) else {
        return Err(Failure::new(format!(
            "error: {} can run none of {} schedules of {} in {}: {}\n  help: --on names another card",
            problem.on.name,
            candidates.len(),
            problem.algorithm.name,
            problem.precision.name(),
            reasons(candidates)
        )));
    };
    let legal = candidates.iter().filter(|c| c.outcome.is_ok()).count();
    let mut why = format!(
        "by the model the fastest of {legal} plans that {} can run (of {} schedules: the presets, some of each \
         kind that a search begins with, and neighbours of the fastest of these)",
        problem.on.name,
        candidates.len()
    );
    if !best.twins.is_empty() {
        why += &format!("; {} come to the same plan", best.names());
    }
    let preset = candidates.iter().find(|c| c.is_preset && c.outcome.is_ok());
    if let Some((name, Ok(of))) = preset.map(|c| (&c.name, &c.outcome))
        && !best.is_preset
    {
        let more = 100.0 * (of.seconds / found.seconds - 1.0);
        why += &format!("; the fastest preset, `{name}`, takes {more:.0} % longer");
    }
    Ok(((best.name.clone(), why), best.schedule.clone()))
}

fn first(candidates: &[Candidate]) -> Option<(&Candidate, &Predicted)> {
    let first = candidates.first()?;
    Some((first, first.outcome.as_ref().ok()?))
}

/// The most common reason why candidates cannot run.
fn reasons(candidates: &[Candidate]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for rejection in candidates.iter().filter_map(|c| c.outcome.as_ref().err()) {
        *counts.entry(rejection.words()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map_or(String::new(), |(words, _)| words.to_string())
}
