//! The choice of the engine of a run, and of its schedule.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::Target;
use stencil_compiler::kernel::Multiprocessor;
use stencil_compiler::schedule::{Halo, LaunchKind, Placement};
use stencil_compiler::search::advice::advised;
use stencil_compiler::search::heuristic;

use super::Builder;
use crate::backend::cpu::{Checked, Choice, native};
use crate::backend::cuda;
use crate::simulation::{Compiling, Program};
use crate::{Error, Number, Schedule, SystemDef};

/// The engine of the steps. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The host's processor: the compiled program if there is one for the schedule, else the row engine, and after some steps
    /// the program that is compiled [meanwhile](crate::Program).
    #[default]
    Cpu,
    /// A card if one can be used and the schedule, if one is set, is for cards; else as [`Cpu`](Engine::Cpu).
    Auto,
    /// The compiled program. If the binary has none, it is compiled by the C compiler of this machine before the run.
    Compiled,
    /// The row engine, which runs any system under any schedule.
    Rows,
    /// An NVIDIA GPU, which runs any system; kernels are compiled when the simulation is built.
    Cuda,
}

impl Engine {
    /// Returns `cpu`, `auto`, `compiled`, `rows` or `cuda`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Cpu => "cpu",
            Engine::Auto => "auto",
            Engine::Compiled => "compiled",
            Engine::Rows => "rows",
            Engine::Cuda => "cuda",
        }
    }
}

/// The engine of the steps.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chosen {
    Cpu(Choice),
    Cuda,
}

impl Chosen {
    /// Returns whether a program is compiled meanwhile: only the row engine gains by one, of a run that is open to it.
    pub(super) fn compiling(self, is_open: bool) -> Compiling {
        match self {
            Chosen::Cpu(Choice::Rows) if is_open => Compiling::Open,
            Chosen::Cpu(_) | Chosen::Cuda => Compiling::Over(Program::Unwanted),
        }
    }

    /// Returns the engine as the user may choose it.
    pub(crate) fn engine(self) -> Engine {
        match self {
            Chosen::Cpu(Choice::Compiled(_)) => Engine::Compiled,
            Chosen::Cpu(Choice::Rows) => Engine::Rows,
            Chosen::Cuda => Engine::Cuda,
        }
    }
}

/// With fewer cells than this between walls, the row engine stores no grid functions.
const NARROW: usize = 16;

/// Chooses the compiled program if it fits, and the schedule to follow.
///
/// Stored grid functions have no boundary conditions: on a mesh that is not periodic the system's own schedule
/// computes their ghost cells from those of the fields. The program is the same, since the rows that it computes may
/// begin and end anywhere.
pub(crate) fn choose<T: Number>(
    system: &SystemDef,
    (engine, card): (Engine, &mut cuda::Opening),
    schedule: Option<Schedule>,
    (periodic, steps_alike): ([bool; 3], bool),
    cells: [usize; 3],
) -> Result<(Chosen, Schedule), Error> {
    let mut is_for_cards = true;
    if let Some(schedule) = &schedule {
        let compiled = advised(system.algorithm(), schedule, &Target::new(T::BYTES))?;
        let mut kinds = compiled.kernels.iter().map(|kernel| kernel.launch.kind);
        is_for_cards = kinds.all(|kind| kind == LaunchKind::Blocks);
    }
    let algorithm = system.algorithm();
    let can_fuse = periodic == [true; 3] && steps_alike;
    let own = |unit| match can_fuse {
        true => heuristic::gpu(algorithm, (T::PRECISION, unit)),
        false => heuristic::one_by_one(algorithm, (T::PRECISION, unit)),
    };
    // A schedule is looked for while the card is being taken into use, and again where it has other multiprocessors.
    let wanted = |card: &mut cuda::Opening| {
        schedule.clone().unwrap_or_else(|| {
            let usual = own(Multiprocessor::NEWEST);
            match card.multiprocessor() {
                Some(unit) if unit != Multiprocessor::NEWEST => own(unit),
                Some(_) | None => usual,
            }
        })
    };
    let on_card = match engine {
        Engine::Cuda => Some(wanted(card)),
        Engine::Auto if is_for_cards && !card.is_hopeless() => {
            let wanted = wanted(card);
            card.is_usable().then_some(wanted)
        }
        Engine::Auto | Engine::Cpu | Engine::Compiled | Engine::Rows => None,
    };
    if let Some(wanted) = on_card {
        let schedule = on_mesh(algorithm, &wanted, periodic, steps_alike);
        if schedule != wanted {
            advised(algorithm, &schedule, &Target::new(T::BYTES))?;
        }
        return Ok((Chosen::Cuda, schedule));
    }
    on_processor::<T>(system, engine, schedule, (periodic, cells))
}

impl<T: Number> Builder<T> {
    /// Returns the system with a compiled program, if the run asks for one that the binary does not have.
    pub(super) fn compiled(
        &self,
        system: SystemDef,
        instructions: Checked,
    ) -> Result<SystemDef, Error> {
        if self.engine != Engine::Compiled || system.kernels::<T>().is_some() {
            return Ok(system);
        }
        let found = native::program::<T>((system.algorithm(), system.schedule()), instructions);
        let kernels = found.map_err(|reason| Error::NotCompiled {
            system: system.name().to_string(),
            why: format!("in this binary, and none was made: {reason}"),
        })?;
        Ok(system.with_kernels(kernels))
    }
}

/// Chooses without a card.
fn on_processor<T: Number>(
    system: &SystemDef,
    engine: Engine,
    schedule: Option<Schedule>,
    (periodic, cells): ([bool; 3], [usize; 3]),
) -> Result<(Chosen, Schedule), Error> {
    let not_compiled = |why: &str| {
        let (system, why) = (system.name().to_string(), why.to_string());
        Error::NotCompiled { system, why }
    };
    let algorithm = system.algorithm();
    let recomputed = recomputed(system.schedule());
    // Rows beyond a patch are rows like others.
    let own = |s: &Schedule| {
        let lasting = |own: &Schedule| *s == Schedule { ghosts: s.ghosts, ..own.clone() };
        lasting(system.schedule()) || lasting(&recomputed)
    };
    let fits = schedule.iter().all(own);
    let choice = match (engine, system.kernels::<T>()) {
        (Engine::Cpu | Engine::Auto | Engine::Compiled, Some(kernels)) if fits => {
            Choice::Compiled(kernels)
        }
        (Engine::Cpu | Engine::Auto | Engine::Rows, _) => Choice::Rows,
        (Engine::Compiled, Some(_)) => return Err(not_compiled("for this schedule")),
        (Engine::Compiled, None) => return Err(not_compiled("in this binary")),
        (Engine::Cuda, _) => return Err(Error::Bug("a card was chosen above".into())),
    };
    // Stored functions need more ghost cells, and a wall cannot mirror more cells than there are.
    let is_narrow = (0..3).any(|axis| !periodic[axis] && cells[axis] < NARROW);
    let schedule = schedule.unwrap_or_else(|| match choice {
        Choice::Rows if is_narrow => heuristic::recomputing(algorithm),
        Choice::Rows => heuristic::row_engine(algorithm),
        Choice::Compiled(_) if periodic == [true; 3] => system.schedule().clone(),
        Choice::Compiled(_) => recomputed,
    });
    let schedule = schedule.unfused(algorithm);
    Ok((Chosen::Cpu(choice), schedule))
}

/// Returns a schedule for a card on a mesh with these periodic axes. On other axes only fields have boundary
/// conditions, and values between fused substeps have none. Steps that differ from each other are done one by one.
pub(super) fn on_mesh(
    algorithm: &Algorithm,
    schedule: &Schedule,
    periodic: [bool; 3],
    steps_alike: bool,
) -> Schedule {
    match periodic {
        [true, true, true] if steps_alike => schedule.clone(),
        [true, true, true] => schedule.unfused(algorithm),
        _ => recomputed(&schedule.unfused(algorithm)),
    }
}

/// Returns a schedule that exchanges no ghost cells of stored grid functions.
fn recomputed(schedule: &Schedule) -> Schedule {
    let mut schedule = schedule.clone();
    for placement in schedule.placements.values_mut() {
        if let Placement::Global(halo) = placement {
            *halo = Halo::Recompute;
        }
    }
    schedule
}
