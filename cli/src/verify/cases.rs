//! Comparisons: systems, schedules, and a run for each kind of boundaries.

use std::collections::BTreeSet;
use std::path::Path;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::real::Precision as RealPrecision;
use stencil_compiler::model::Formulation;
use stencil_compiler::schedule::{Blocking, Layout, Overlap, Schedule};
use stencil_compiler::search::presets;
use stencil_compiler::search::space::{Draws, Space};
use stencil_report::Failure;
use stencil_runtime::io::read_text;
use stencil_runtime::tune::ODD;
use stencil_runtime::{Axis, Boundary, Error, SystemDef, device_boxes};

use super::on_card::on_card;
use super::{VerifyArgs, plans};
use crate::Ended;
use crate::source::{self, MixedChoice, Precision};
use lasting::lasting;
pub(super) use runs::Runs;
use unusual::unusual;

mod lasting;
mod runs;
#[cfg(test)]
mod tests;
mod unusual;

/// Patches that some runs are cut into, by the number of dimensions.
const PATCHES: [[usize; 3]; 3] = [[3, 1, 1], [2, 3, 1], [2, 1, 3]];

/// Values of a copy in single precision: kernels read around the ends of rows of whole copies.
const COPY: usize = 4;

/// The mesh of a system, and its patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) cells: [usize; 3],
    pub(super) patches: [usize; 3],
}

impl Grid {
    /// One patch.
    fn whole(args: &VerifyArgs, dimension: usize) -> Self {
        let mut cells = ODD[dimension - 1];
        for (own, given) in cells.iter_mut().zip(&args.cells).take(dimension) {
            *own = *given;
        }
        Grid { cells, patches: [1; 3] }
    }

    /// One patch whose rows are whole copies.
    fn even(self) -> Self {
        let [x, y, z] = self.cells;
        Grid { cells: [x.next_multiple_of(COPY), y, z], ..self }
    }

    /// Several patches, which differ; none by default if there are fewer cells. Given patches must have cells.
    fn cut(args: &VerifyArgs, dimension: usize) -> Result<Option<Self>, Ended> {
        let cells = Self::whole(args, dimension).cells;
        let mut patches = match args.devices {
            Some(devices) => device_boxes(cells, devices, [true; 3])?,
            None => PATCHES[dimension - 1],
        };
        for (own, given) in patches.iter_mut().zip(&args.patches).take(dimension) {
            *own = *given;
        }
        let (all, devices) = (patches.iter().product(), args.devices.unwrap_or(1));
        if devices > all {
            return Err(Error::Devices { devices, patches: all }.into());
        }
        let uncut = (0..3).find(|a| !(1..=cells[*a]).contains(&patches[*a]));
        match uncut {
            None => Ok(Some(Grid { cells, patches })),
            Some(_) if args.patches.is_empty() && args.devices.is_none() => Ok(None),
            Some(axis) => Err(Failure::new(format!(
                "error: {} cells along {} cannot be cut into {} patches; give other --cells or --patches",
                cells[axis],
                Axis::ALL[axis],
                patches[axis]
            ))
            .into()),
        }
    }
}

/// A system in one precision on one grid, and its schedules.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) system: SystemDef,
    pub(super) origin: Origin,
    pub(super) precision: Precision,
    pub(super) grid: Grid,
    /// Devices that share the patches.
    pub(super) devices: usize,
    /// Schedules with names.
    pub(super) schedules: Vec<(String, Schedule)>,
}

/// The source of a system, and the changes of its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) declared: Declared,
    /// The meaning of a derivative of a derivative, in place of the declared choice.
    pub(super) mixed: Option<MixedChoice>,
    /// The formulation by which a plan settled an open choice.
    pub(super) formulation: Option<Formulation>,
}

/// The place of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    /// The library, by its name and number of dimensions.
    Library { name: String, dimension: usize },
    /// A file, by its name, its text and the number of dimensions that a text `in nd` is read in.
    File { name: String, text: String, dimension: Option<usize> },
}

impl Origin {
    /// The system.
    pub(super) fn system(&self) -> Result<SystemDef, Ended> {
        let system = match &self.declared {
            Declared::Library { name, dimension } => physics::systems::find_in(name, *dimension)?,
            Declared::File { name, text, dimension } => {
                SystemDef::from_text_in(name, text, *dimension)?
            }
        };
        let system = match self.mixed {
            None => system,
            Some(mixed) => system.with_mixed(mixed.get())?,
        };
        Ok(match self.formulation {
            None => system,
            Some(formulation) => system.by(formulation)?,
        })
    }
}

impl Batch {
    /// The kinds of boundaries that its schedules have.
    pub(super) fn kinds(&self) -> BTreeSet<usize> {
        (0..self.schedules.len()).map(|turn| self.kind(turn)).collect()
    }

    /// The kind of the schedule of this number: all of them in turn, those with other boundaries than periodic ones for
    /// arrays that lie apart and for surfaces, and after one that has ends of whole copies for one with other loads
    /// there, and constant steps for schedules that do several at once.
    pub(super) fn kind(&self, turn: usize) -> usize {
        let schedule = |turn: usize| &self.schedules[turn].1;
        match (schedule(turn).fuse, schedule(turn).layout) {
            (1, Layout::Soa) if differs_at_ends(schedule(turn)) => {
                let before = (0..turn).filter(|turn| differs_at_ends(schedule(*turn)));
                match before.count() {
                    0 => WHOLE_COPIES,
                    others => PERIODIC + (others - 1) % (KINDS - PERIODIC),
                }
            }
            (1, Layout::Soa) => turn % KINDS,
            (1, layout @ (Layout::Aos | Layout::Surface)) => {
                let alike = |s: &Schedule| is_apart(s) && s.layout == layout;
                let before = (0..turn).filter(|turn| alike(schedule(*turn))).count();
                PERIODIC + before % (KINDS - PERIODIC)
            }
            _ => ALIKE,
        }
    }
}

/// Does it step one by one, with values apart or in surfaces?
fn is_apart(schedule: &Schedule) -> bool {
    schedule.fuse == 1 && schedule.layout != Layout::Soa
}

/// The loader of a march that does not copy boxes at the ends of axes.
const BOTH: u32 = 2;

/// All batches that the command line asks for, and a card of an architecture can run.
pub(super) fn batches(args: &VerifyArgs, architecture: &str) -> Result<Vec<Batch>, Ended> {
    let mut batches = Vec::new();
    let mut has_planned = false;
    let planned = args.plans.as_deref().map(plans::read).transpose()?;
    for (system, origin) in in_forms(systems(&args.systems, args.dimension)?, &args.mixed)? {
        for precision in &args.precision {
            let schedules = schedules(args, system.algorithm(), *precision, architecture);
            let dimension = system.algorithm().dimension.clamp(1, 3);
            let batch = |grid, schedules| Batch {
                system: system.clone(),
                origin: origin.clone(),
                precision: *precision,
                grid,
                devices: args.devices.unwrap_or(1),
                schedules,
            };
            // For each kind of boundaries one of the presets, those that are no preset, two that have other loads at
            // ends, and one that fuses substeps.
            let (single, fused): (Vec<_>, Vec<_>) =
                schedules.iter().cloned().partition(|(_, s)| s.fuse == 1);
            let at_ends = single.iter().filter(|(_, s)| differs_at_ends(s)).take(2);
            let at_ends: Vec<_> = at_ends.cloned().collect();
            let beside = single.into_iter().filter(|(_, s)| !is_apart(s));
            let some = beside.collect::<Vec<_>>().into_iter().cycle().take(KINDS);
            let some = some.chain(unusual(system.algorithm(), *precision, architecture));
            let some = some.chain(at_ends);
            let some = some.chain(fused.into_iter().take(1));
            // Other cards cannot read surfaces.
            let is_shared = |s: &Schedule| args.devices.is_none() || s.layout != Layout::Surface;
            let some = some.filter(|(_, schedule)| is_shared(schedule)).zip(0..);
            // Schedules that leave the overlap open take turns in all of them.
            let overlapping = |((name, schedule), turn): ((String, Schedule), usize)| {
                let overlap = args.devices.map(|_| Overlap::ALL[turn % Overlap::ALL.len()]);
                (name, Schedule { overlap: schedule.overlap.or(overlap), ..schedule })
            };
            let some = some.map(overlapping).collect();
            if args.devices.is_none() {
                batches.push(batch(Grid::whole(args, dimension), schedules));
            }
            if let Some(grid) = Grid::cut(args, dimension)? {
                batches.push(batch(grid, some));
                let direct =
                    Schedule::default().blocked(system.algorithm(), Blocking::new("direct", &[]));
                batches.extend(lasting(args, (&system, &origin, *precision), grid, direct));
            }
            let planned = planned.iter();
            let of = |planned| plans::of(planned, (&system, &origin), *precision);
            let planned: Vec<_> = planned.map(of).collect::<Result<_, _>>()?;
            for (system, origin, mut schedules) in planned.into_iter().flatten() {
                schedules.retain(|(_, schedule)| on_card(schedule, architecture));
                if schedules.is_empty() {
                    continue;
                }
                has_planned = true;
                batches.push(Batch {
                    system,
                    origin,
                    ..batch(Grid::whole(args, dimension), schedules)
                });
            }
        }
    }
    if let Some(file) = args.plans.as_deref().filter(|_| !has_planned) {
        return Err(plans::none(file, architecture));
    }
    Ok(batches)
}

/// Runs of the processor's own schedules on devices that it simulates, one for each kind of boundaries.
pub(super) fn simulated(args: &VerifyArgs) -> Result<Vec<Batch>, Ended> {
    let mut batches = Vec::new();
    for (system, origin) in in_forms(systems(&args.systems, args.dimension)?, &args.mixed)? {
        let dimension = system.algorithm().dimension.clamp(1, 3);
        let Some(grid) = Grid::cut(args, dimension)? else { continue };
        let own = ("its own schedule".to_string(), system.schedule().clone());
        batches.extend(args.precision.iter().filter_map(|precision| {
            let of = (&system, &origin, *precision);
            lasting(args, of, grid, system.schedule().unfused(system.algorithm()))
        }));
        batches.extend(args.precision.iter().map(|precision| Batch {
            system: system.clone(),
            origin: origin.clone(),
            precision: *precision,
            grid,
            devices: args.devices.unwrap_or(1),
            schedules: vec![own.clone(); KINDS],
        }));
    }
    Ok(batches)
}

/// Systems as they are declared, or in these forms; those whose form changes nothing come once.
fn in_forms(
    systems: Vec<(SystemDef, Origin)>,
    forms: &[MixedChoice],
) -> Result<Vec<(SystemDef, Origin)>, Ended> {
    if forms.is_empty() {
        return Ok(systems);
    }
    let mut all: Vec<(SystemDef, Origin)> = Vec::new();
    for (declared, origin) in systems {
        let first = all.len();
        for form in forms {
            let system = declared.with_mixed(form.get())?;
            let functions = &system.algorithm().functions;
            let mut before = all[first..].iter();
            if before.all(|(other, _)| other.algorithm().functions != *functions) {
                let mixed = Some(*form);
                let origin = Origin { mixed, ..origin.clone() };
                all.push((system, origin));
            }
        }
    }
    Ok(all)
}

fn systems(names: &[String], dimension: Option<usize>) -> Result<Vec<(SystemDef, Origin)>, Ended> {
    let declared = |declared| Origin { declared, mixed: None, formulation: None };
    let of_library = |system: SystemDef| {
        let origin = declared(Declared::Library {
            name: system.name().to_string(),
            dimension: system.model().dimension,
        });
        (system, origin)
    };
    if names.is_empty() {
        let all = physics::systems::ALL.iter();
        return all.map(|d| Ok(of_library(SystemDef::new(d)?))).collect();
    }
    let named = |name: &String| -> Result<(SystemDef, Origin), Ended> {
        let system = source::system(name, dimension)?;
        if !source::is_file(name) {
            return Ok(of_library(system));
        }
        let text = read_text(Path::new(name))
            .map_err(|e| Failure::new(format!("error: `{name}`: {e}")))?;
        let file =
            Declared::File { name: name.clone(), text, dimension: Some(system.model().dimension) };
        Ok((system, declared(file)))
    };
    names.iter().map(named).collect()
}

/// Schedules of a system with names: presets, blockings and layouts that none has, and some drawn at random.
fn schedules(
    args: &VerifyArgs,
    algorithm: &Algorithm,
    precision: Precision,
    architecture: &str,
) -> Vec<(String, Schedule)> {
    let unusual = unusual(algorithm, precision, architecture);
    let precision = precision.get();
    let on_card = |schedule: &Schedule| on_card(schedule, architecture);
    let mut all: Vec<(String, Schedule)> = presets::ALL
        .iter()
        .map(|p| (p.name.to_string(), p.schedule(algorithm, precision)))
        .filter(|(_, schedule)| on_card(schedule))
        .collect();
    all.extend(unusual);
    if let Some(schedule) = around_ends(algorithm, precision).filter(on_card) {
        all.push(("march around ends".to_string(), schedule.clone()));
        all.push(("march around ends beside walls".to_string(), schedule));
    }
    let space = Space::new(algorithm, precision.bytes());
    let mut draws = Draws::new(args.seed);
    for number in 1..=args.sample {
        let mut draw = || space.sample(&mut draws).filter(on_card);
        let drawn = (0..100).find_map(|_| draw());
        all.extend(drawn.map(|schedule| (format!("drawn {number}"), schedule)));
    }
    all
}

/// A march that copies at the ends of periodic axes and has boxes in blocks inside, which its tile is small enough
/// for; `None` where it is illegal.
fn around_ends(algorithm: &Algorithm, precision: RealPrecision) -> Option<Schedule> {
    let tile_x = if algorithm.dimension < 3 { 32 } else { 16 };
    let params = [("tile_x", tile_x), ("tile_y", 8), ("loader", BOTH)];
    let schedule = Schedule::default().blocked(algorithm, Blocking::new("march", &params));
    let is_legal = compile(algorithm, &schedule, &Target::new(precision.bytes())).is_ok();
    is_legal.then_some(schedule)
}

/// Do all of its kernels load boxes inside and copies at ends?
fn differs_at_ends(schedule: &Schedule) -> bool {
    let of_kernel = |k: &Blocking| k.params.get("loader") == Some(&BOTH);
    !schedule.kernels.is_empty() && schedule.kernels.iter().all(of_kernel)
}

/// The number of kinds of [`boundaries`].
const KINDS: usize = 8;

/// This many of the first kinds are periodic along all axes.
const PERIODIC: usize = 2;

/// The one of them with rows of whole copies, around whose ends kernels read.
const WHOLE_COPIES: usize = 1;

/// One more kind: periodic, with steps and sources that do not change, so that several can be done at once.
const ALIKE: usize = KINDS;

/// Boundaries in turn, for fields whose values are near a mean. Fields on faces and edges of cells take neither functions nor numbers.
pub(super) fn boundaries(
    system: &SystemDef,
    turn: usize,
    mean: f64,
) -> (&'static str, [Boundary; 3]) {
    let same = |boundary: Boundary| [boundary.clone(), boundary.clone(), boundary];
    let turn = match turn {
        4..KINDS if system.model().is_staggered() => PERIODIC + turn % 2,
        _ => turn,
    };
    match turn % KINDS {
        _ if turn == ALIKE => ("periodic, equal steps", same(Boundary::periodic())),
        0 | 1 => ("periodic", same(Boundary::periodic())),
        2 => (
            "outflow, wall, periodic",
            [Boundary::outflow(), Boundary::wall(), Boundary::periodic()],
        ),
        3 => (
            "extrapolate, periodic, wall",
            [Boundary::extrapolate(), Boundary::periodic(), Boundary::wall()],
        ),
        4 => (
            "dirichlet, neumann, extrapolate",
            [Boundary::dirichlet(mean - 0.01), Boundary::neumann(0.125), Boundary::extrapolate()],
        ),
        5 => (
            "functions of the place and the time",
            [
                Boundary::dirichlet_with(move |_, y, z, t| mean + 0.01 * (y - z + t).sin()),
                Boundary::neumann_with(|x, _, z, t| 0.01 * (x + z - t).cos()),
                Boundary::outflow(),
            ],
        ),
        6 => (
            "formulas of the place and the time",
            [
                Boundary::neumann_text("0.01*exp(-x)*sin(y + t)"),
                Boundary::dirichlet_text(format!("{mean} + 0.01*sin(x - z + t)")),
                Boundary::periodic(),
            ],
        ),
        _ => (
            "functions of cells",
            [
                Boundary::periodic(),
                Boundary::custom([] as [&str; 0], move |point| mean + 0.001 * point.depth as f64),
                Boundary::wall(),
            ],
        ),
    }
}
