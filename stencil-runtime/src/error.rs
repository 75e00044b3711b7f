//! Errors of the runtime, each with the thing's name and the way out.

use std::io;
use std::path::PathBuf;

use stencil_compiler::compile::ScheduleError;
use stencil_compiler::diag::{Code, Diagnostics, counted};

use crate::backend::cpu::UnknownInstructions;
use crate::backend::cuda::CudaError;
use crate::io::{FrameError, NpzError, way_out};
use crate::mesh::Axis;
use crate::report::{told, told_point};
use crate::{RejectedStep, Shortage};

/// The reason why a system or a simulation could not be made, or a run had to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The declaration has errors; the text shows each with its line.
    #[error("{0}")]
    Declaration(String),
    /// A search for a schedule found none that runs.
    #[error("no schedule of {system} was found: {reason}")]
    NoSchedule {
        /// The system.
        system: String,
        /// The reason.
        reason: String,
    },
    /// A file that declares a system cannot be read.
    #[error("cannot read `{}`: {source}{}", path.display(), way_out(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A number of cells that the system cannot have.
    #[error("{system} is {dimension}-dimensional and cannot have {cells:?} cells; {help}")]
    Cells {
        /// The system.
        system: String,
        /// Its number of dimensions.
        dimension: usize,
        /// The cells along x, y, z.
        cells: [usize; 3],
        /// The way out.
        help: String,
    },
    /// A number of patches of which some would have no cell.
    #[error(
        "the cells along {axis} ({cells}) cannot be cut into {patches} patches; give a number of patches from 1 to {cells}"
    )]
    Patches {
        /// The axis.
        axis: Axis,
        /// Cells along it.
        cells: usize,
        /// Patches along it.
        patches: usize,
    },
    /// A number of devices that cannot share the patches of the mesh.
    #[error(
        "{devices} devices cannot share {patches} patches; give a number of devices from 1 to {patches}, or more patches"
    )]
    Devices {
        /// The devices.
        devices: usize,
        /// The patches.
        patches: usize,
    },
    /// Several processes, each with cards.
    #[error(
        "ranks that drive cards have whole rows along x: cut the mesh along y or z only, as it is cut without `patches`, or run the ranks on processors"
    )]
    RowsOfRanks,
    /// Values that do not lie in one array of one memory.
    #[error("values cannot be shared: {reason}; copy them instead, or run one patch on one device")]
    NotShared {
        /// The reason.
        reason: String,
    },
    /// A run that cannot pass through its device slab by slab.
    #[error("the mesh cannot be streamed: {reason}; {help}")]
    Stream {
        /// The reason.
        reason: String,
        /// The way out.
        help: String,
    },
    /// More devices than a mesh can be cut into boxes for.
    #[error(
        "a mesh of {} × {} × {} cells cannot be cut into {devices} boxes, one for each device; give {}, or more cells",
        cells[0], cells[1], cells[2], counted(*fewer, "device")
    )]
    Boxes {
        /// The devices.
        devices: usize,
        /// The cells along x, y, z.
        cells: [usize; 3],
        /// The most devices below that there is a cut for.
        fewer: usize,
    },
    /// A length, an origin or a time step that makes no sense.
    #[error("{what} is {value}; {help}")]
    Value {
        /// The name of the value.
        what: String,
        /// The number.
        value: f64,
        /// The way out.
        help: String,
    },
    /// A setting that has no default was not given.
    #[error("{what} is not set; {help}")]
    Missing {
        /// The name of the setting.
        what: String,
        /// The way out.
        help: String,
    },
    /// There is nothing of this name.
    #[error("{system} has no {kind} `{name}`; {}", suggest(nearest.as_deref(), known))]
    Unknown {
        /// The system, or the list that was searched.
        system: String,
        /// `parameter`, `field` or another kind of thing.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// Values of another shape than the mesh.
    #[error("`{name}` has {expected} values {order}, not {found}")]
    Shape {
        /// The field.
        name: String,
        /// The shape of the field.
        expected: String,
        /// The shape of the values.
        found: String,
        /// The order of the axes or components.
        order: &'static str,
    },
    /// The schedule cannot be carried out.
    #[error("illegal schedule: {0}")]
    Schedule(#[from] ScheduleError),
    /// The compiled engine was asked for, but the program has no code for it.
    #[error(
        "{system} has no compiled program {why}; use `Engine::Cpu` or `Engine::Rows`, or declare it with `pde!` without `#[interpreted]`"
    )]
    NotCompiled {
        /// The system.
        system: String,
        /// The case without a program.
        why: String,
    },
    /// The processor lacks the instructions that were asked for.
    #[error(transparent)]
    Instructions(#[from] UnknownInstructions),
    /// A card could not be used, or failed.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {reason}; ask for fewer")]
    Threads {
        /// Their number.
        threads: usize,
        /// The system's message.
        reason: String,
    },
    /// The arrays do not fit into memory.
    #[error(transparent)]
    Memory(Box<Shortage>),
    /// A boundary condition that cannot be met.
    #[error("boundary of {place}: {reason}; {help}")]
    Boundary {
        /// A face such as `x.lo`, with the component if it matters.
        place: String,
        /// The fault.
        reason: String,
        /// The way out.
        help: String,
    },
    /// A formula with errors.
    #[error("{what} is no formula\n{}", errors.render("formula", formula))]
    Formula {
        /// The place of the formula: ``the value of `u_x` at x.lo``.
        what: String,
        /// Its text.
        formula: String,
        /// All errors, each with its place in the text.
        errors: Diagnostics,
    },
    /// Initial values that are not finite.
    #[error(
        "`{field}` is set to a value that is not finite in cell {cell:?}, at {}; look at the function or array that it was set from",
        told_point(at)
    )]
    Initial {
        /// The component.
        field: String,
        /// The first such cell: x, y, z.
        cell: [usize; 3],
        /// Its coordinates.
        at: [f64; 3],
    },
    /// A value of the solution is not finite.
    #[error(transparent)]
    NotFinite(Box<NotFinite>),
    /// There is no state to go on from.
    #[error(
        "a step has failed, and the fields before it were not kept; restore a state, or build with `.keep_last(true)`"
    )]
    Lost,
    /// A speed that cannot limit the time step.
    #[error(transparent)]
    Speed(Box<BadSpeed>),
    /// A step turned out too long, even after it was shortened several times.
    #[error(
        "at t = {:?} a step was done {times} times, and the speeds at its end allowed no more than dt = {dt:?} at last, as the {} speed was {} in cell {:?}, at {:?}; start with a smaller Courant number, or allow a larger limit",
        last.t, last.speed, last.value, last.cell, last.at
    )]
    StepRejected {
        /// The number of tries.
        times: u32,
        /// The length that was allowed at last.
        dt: f64,
        /// The last try, and the speed that was too fast at its end.
        last: Box<RejectedStep>,
    },
    /// A time step that is longer than the stability limit.
    #[error(transparent)]
    Unstable(Box<Unstable>),
    /// An integrator that is stable for no step.
    #[error(
        "{term} grows at every step in the scheme `{scheme}`: its integrator is stable for no length; choose {stable} (or insist with `--unchecked-step`, `.unchecked_step(true)`)"
    )]
    NoStableStep {
        /// The term that grows.
        term: String,
        /// The scheme in words.
        scheme: String,
        /// Integrators that are stable for some step.
        stable: String,
    },
    /// A time step that is zero or not finite.
    #[error(
        "the time step is {} at t = {}; if all speeds are zero, limit it by `.dt(..)`, and if it is too small for the time to change, the solution has become too steep",
        told(*dt),
        told(*t)
    )]
    NoTimeStep {
        /// The time.
        t: f64,
        /// The time step.
        dt: f64,
    },
    /// A file that a run cannot go on from.
    #[error("cannot go on from `{}`: {reason}; {help}", path.display())]
    Restart {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
        /// The way out.
        help: String,
    },
    /// A file could not be written or read.
    #[error(transparent)]
    Output(#[from] NpzError),
    /// A frame could not be written.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The program is wrong, not its user.
    #[error("internal error: {0}. Please report this")]
    Bug(String),
}

/// A time step longer than the stability limit about the state before it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the time step {dt} is longer than is stable at t = {}: {term} allows no more than {}{place}; write dt = {write} or less{number} (or insist with `--unchecked-step`, `.unchecked_step(true)`)",
    told(*t),
    told(*limit)
)]
#[non_exhaustive]
pub struct Unstable {
    /// The step.
    pub dt: f64,
    /// The time before it.
    pub t: f64,
    /// The term of an equation, or the speed, that limits it.
    pub term: String,
    /// The longest stable step.
    pub limit: f64,
    /// The cell where it is found, in words.
    pub place: String,
    /// A number below the limit.
    pub write: String,
    /// The Courant number to write in place of one that is too large, in words.
    pub number: String,
}

/// A speed that is NaN or negative.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the {kind} speed is {} at t = {}: `{term}` in cell {cell:?}, at {}, where {state}; a speed is a number that is not \
     negative: take `abs(..)` or `norm(..)`, or look for what made the state",
    told(*value),
    told(*t),
    told_point(at)
)]
#[non_exhaustive]
pub struct BadSpeed {
    /// `advective`, `diffusive`, `dispersive` or `hyperdiffusive`.
    pub kind: &'static str,
    /// The speed as it is declared or follows from the fluxes.
    pub term: String,
    /// The first cell with the value.
    pub cell: [usize; 3],
    /// Its coordinates.
    pub at: Vec<f64>,
    /// The fields in the cell, in words.
    pub state: String,
    /// Its largest value.
    pub value: f64,
    /// The time.
    pub t: f64,
}

/// A step that made a value which is infinite or NaN.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "`{field}` is not finite, or larger than {}, in cell {cell:?}, at {}, after {}; {}.{} {}",
    told(*most),
    told_point(at),
    made(*unseen, (*substep, *step, *t), equation),
    state(*kept),
    perhaps(cause.is_none(), ranges.as_deref(), (iterations.as_deref(), remarks.as_deref())),
    cause.as_deref().unwrap_or("A smaller time step, a larger viscosity or more cells may help")
)]
#[non_exhaustive]
pub struct NotFinite {
    /// The component.
    pub field: String,
    /// The largest size of a value: 1e30 times the largest initial value, or 1e30.
    pub most: f64,
    /// The first such cell: x, y, z.
    pub cell: [usize; 3],
    /// Its coordinates.
    pub at: Vec<f64>,
    /// The step that failed.
    pub step: u64,
    /// The substep that failed, from 1.
    pub substep: usize,
    /// The time of the substep.
    pub t: f64,
    /// The equation, with its line if that is known.
    pub equation: String,
    /// The step after which the fields were as they are now; `None` if they are those of the failed step.
    pub kept: Option<u64>,
    /// The number of earlier steps that may have made the value: they were not checked, and the fields before them
    /// were not kept (see [`look_every`](crate::Builder::look_every)).
    pub unseen: u64,
    /// The ranges that the system declares, if there are some: a cell that leaves one although its fluxes were
    /// repaired is not finite, either.
    pub ranges: Option<String>,
    /// The loops that end by a test, if there are some: a loop whose test never holds gives NaN.
    pub iterations: Option<String>,
    /// The loops whose tests the precision cannot meet: see [`remarks`](crate::Simulation::remarks).
    pub remarks: Option<String>,
    /// The cause, and the way out, if they are known: a ghost value, a source, a root, a quotient. `None` if values
    /// became too large little by little, or the fields before the step were not kept.
    pub cause: Option<String>,
}

/// Returns the time of the failure, and the equation if it is known: a bad value spreads to other fields.
fn made(unseen: u64, (substep, step, t): (usize, u64, f64), equation: &str) -> String {
    let before = match unseen {
        0 => {
            return format!("substep {substep} of step {step} (t = {}), by {equation}", told(t));
        }
        1 => "the step before".to_string(),
        steps => format!("one of the {steps} steps before"),
    };
    format!(
        "step {step} (t = {}), by that step or {before}, which were not looked at: `look_every` of 1 tells the step and the \
         equation, and so do fields that are kept (`keep_last`)",
        told(t)
    )
}

/// Names possible causes if the cause is not known: ranges and loops mark a failure by a NaN.
fn perhaps(
    is_unknown: bool,
    ranges: Option<&str>,
    (iterations, remarks): (Option<&str>, Option<&str>),
) -> String {
    let ranges = ranges.filter(|_| is_unknown).map(|ranges| {
        format!(" Or the cell does not stay where {ranges}, even with repaired fluxes.")
    });
    let loops = iterations.filter(|_| is_unknown);
    let remarks = remarks.map(|remarks| format!(" Mind that {remarks}."));
    let remarks = remarks.unwrap_or_default();
    let loops = loops.map(|loops| format!(" Or {loops} did not end.{remarks}"));
    ranges.into_iter().chain(loops).collect()
}

impl From<Shortage> for Error {
    fn from(shortage: Shortage) -> Self {
        Error::Memory(Box::new(shortage))
    }
}

impl Error {
    /// Returns the code, if there is one: `stencil explain-error` tells more.
    pub fn code(&self) -> Option<Code> {
        match self {
            Error::Memory(_) => Some(Code::TooMuchMemory),
            Error::Cuda(CudaError::Memory { .. }) => Some(Code::TooMuchMemory),
            Error::Restart { .. } => Some(Code::NoState),
            Error::Output(error) => Some(error.code()),
            Error::Frame(error) => Some(error.code()),
            Error::Read { .. } => Some(Code::CannotRead),
            Error::Unstable(_) => Some(Code::TooLongAStep),
            Error::NoStableStep { .. } => Some(Code::NoStableStep),
            _ => None,
        }
    }

    /// Makes the error for a name that is not in `system`; the nearest of the `known` names is suggested.
    pub fn unknown<'a>(
        system: &str,
        kind: &'static str,
        name: &str,
        known: impl Iterator<Item = &'a str>,
    ) -> Error {
        let known: Vec<String> = known.map(str::to_string).collect();
        let nearest = stencil_compiler::diag::nearest(name, known.iter().map(String::as_str))
            .map(str::to_string);
        Error::Unknown { system: system.to_string(), kind, name: name.to_string(), nearest, known }
    }
}

fn state(kept: Option<u64>) -> String {
    match kept {
        Some(step) => format!("the fields are those after step {step}"),
        None => "the fields are those of the failed step".to_string(),
    }
}

fn suggest(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "it has none".to_string(),
        None => format!("there are: {}", known.join(", ")),
    }
}
