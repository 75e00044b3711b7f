//! Setting up a simulation: everything is checked before memory is taken.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use stencil_compiler::model::{Comparison, Param};
use stencil_compiler::plan;
use stencil_compiler::schedule::check::{self, ScheduleError};

use crate::backend::cpu::{Checked, Choice, Machine};
use crate::simulation::Setup;
use crate::{Error, Instructions, Number, Schedule, Simulation, SystemDef, ToSystem};

/// What computes the steps. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// The compiled program where there is one for the schedule, else the row engine.
    #[default]
    Auto,
    /// The compiled program.
    Compiled,
    /// The row engine, which runs any system under any schedule.
    Rows,
}

impl Engine {
    /// `auto`, `compiled` or `rows`.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Compiled => "compiled",
            Engine::Rows => "rows",
        }
    }
}

/// Collects the settings of a [`Simulation`].
#[derive(Debug)]
pub struct Builder<T> {
    system: Result<SystemDef, Error>,
    cells: Option<[usize; 3]>,
    extent: [f64; 3],
    origin: [f64; 3],
    params: BTreeMap<String, f64>,
    dt: Option<f64>,
    threads: Option<usize>,
    engine: Engine,
    schedule: Option<Schedule>,
    instructions: Option<Instructions>,
    number: PhantomData<T>,
}

impl<T: Number> Builder<T> {
    pub(crate) fn new(system: &impl ToSystem) -> Self {
        Builder {
            system: system.to_system(),
            cells: None,
            extent: [1.0; 3],
            origin: [0.0; 3],
            params: BTreeMap::new(),
            dt: None,
            threads: None,
            engine: Engine::Auto,
            schedule: None,
            instructions: None,
            number: PhantomData,
        }
    }

    /// Number of cells along x, y, z; 1 along axes that the system does not have.
    pub fn cells(mut self, cells: [usize; 3]) -> Self {
        self.cells = Some(cells);
        self
    }

    /// Lengths of the periodic box along x, y, z; 1 if not set.
    pub fn extent(mut self, extent: [f64; 3]) -> Self {
        self.extent = extent;
        self
    }

    /// Coordinates of the first cell; 0 if not set. Cell i is at `origin + i * extent / cells`.
    pub fn origin(mut self, origin: [f64; 3]) -> Self {
        self.origin = origin;
        self
    }

    /// Sets a parameter of the system in place of its default.
    pub fn param(mut self, name: impl Into<String>, value: f64) -> Self {
        self.params.insert(name.into(), value);
        self
    }

    /// The time step.
    pub fn dt(mut self, dt: f64) -> Self {
        self.dt = Some(dt);
        self
    }

    /// Number of threads; one for each core if not set.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// What computes the steps.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Where intermediate grid functions live; the system's own schedule if not set.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = Some(schedule);
        self
    }

    /// Instructions of the processor to use; the best there are if not set.
    pub fn instructions(mut self, instructions: Instructions) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// Checks all settings, takes memory and starts the threads.
    ///
    /// # Errors
    /// The first setting that does not fit, with what would.
    pub fn build(self) -> Result<Simulation<T>, Error> {
        let system = self.system?;
        let cells = check_cells(&system, self.cells)?;
        for axis in 0..system.model().dimension {
            let name = ["x", "y", "z"][axis];
            let help = "give a positive length".to_string();
            number(
                format!("the extent along {name}"),
                self.extent[axis],
                |v| v > 0.0,
                help,
            )?;
            number(
                format!("the origin along {name}"),
                self.origin[axis],
                |_| true,
                "give a coordinate".into(),
            )?;
        }
        let dt = self
            .dt
            .ok_or_else(|| missing("the time step", "add `.dt(..)`"))?;
        number(
            "the time step".into(),
            dt,
            |v| v > 0.0,
            "give a positive number".into(),
        )?;
        let params = params(&system, &self.params)?;
        let instructions = Checked::new(self.instructions.unwrap_or_else(Instructions::best))?;
        let (choice, schedule) = choose::<T>(&system, self.engine, self.schedule)?;
        let plan = plan::plan(system.algorithm(), &schedule).map_err(|message| ScheduleError {
            message,
            help: Vec::new(),
        })?;
        let threads = self.threads.unwrap_or(0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| Error::Threads {
            threads,
            reason: e.to_string(),
        })?;
        let machine =
            pool.install(|| Machine::new(system.algorithm(), &plan, cells, choice, instructions))?;
        let engine = match choice {
            Choice::Compiled(_) => Engine::Compiled,
            Choice::Rows => Engine::Rows,
        };
        let setup = Setup {
            system,
            plan,
            schedule,
            cells,
            extent: self.extent,
            origin: self.origin,
            params,
            engine,
            instructions,
        };
        Ok(Simulation::assemble(setup, machine, pool, dt))
    }
}

fn missing(what: &str, help: &str) -> Error {
    Error::Missing {
        what: what.to_string(),
        help: help.to_string(),
    }
}

pub(crate) fn number(
    what: String,
    value: f64,
    good: impl Fn(f64) -> bool,
    help: String,
) -> Result<(), Error> {
    if value.is_finite() && good(value) {
        Ok(())
    } else {
        Err(Error::Value { what, value, help })
    }
}

fn check_cells(system: &SystemDef, cells: Option<[usize; 3]>) -> Result<[usize; 3], Error> {
    let dimension = system.model().dimension;
    let cells =
        cells.ok_or_else(|| missing("the number of cells", "add `.cells([nx, ny, nz])`"))?;
    let fail = |help| Error::Cells {
        system: system.name().to_string(),
        dimension,
        cells,
        help,
    };
    if cells[dimension..].iter().any(|n| *n != 1) {
        return Err(fail("give 1 along the axes that it does not have"));
    }
    if cells.iter().any(|n| !(1..=1 << 20).contains(n)) {
        return Err(fail("give from 1 to 1048576 cells along each axis"));
    }
    Ok(cells)
}

/// Values of all parameters in the order of their declaration.
fn params(system: &SystemDef, given: &BTreeMap<String, f64>) -> Result<Vec<f64>, Error> {
    let model = system.model();
    if let Some(name) = given
        .keys()
        .find(|name| !model.params.iter().any(|p| p.name == **name))
    {
        let known = model.params.iter().map(|p| p.name.as_str());
        return Err(Error::unknown(system.name(), "parameter", name, known));
    }
    model
        .params
        .iter()
        .zip(&system.algorithm().params)
        .map(|(param, resolved)| {
            let value = given.get(&param.name).copied().or(resolved.default);
            let what = format!("the parameter `{}`", param.name);
            let value = value.ok_or_else(|| {
                missing(
                    &what,
                    &format!("it has no default; add `.param({:?}, ..)`", param.name),
                )
            })?;
            let help = bounds(param).map_or("give a number".to_string(), |b| {
                format!("the declaration asks for {b}")
            });
            number(
                what,
                value,
                |v| {
                    param
                        .bounds
                        .iter()
                        .all(|(c, bound)| holds(*c, v, ratio(bound)))
                },
                help,
            )?;
            Ok(value)
        })
        .collect()
}

fn ratio(value: &stencil_compiler::model::Rational) -> f64 {
    *value.numer() as f64 / *value.denom() as f64
}

fn holds(comparison: Comparison, value: f64, bound: f64) -> bool {
    match comparison {
        Comparison::Less => value < bound,
        Comparison::LessEqual => value <= bound,
        Comparison::Greater => value > bound,
        Comparison::GreaterEqual => value >= bound,
    }
}

/// `nu >= 0`, as the declaration has it.
fn bounds(param: &Param) -> Option<String> {
    let text = |(comparison, bound): &(Comparison, _)| {
        let sign = match comparison {
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        };
        format!("{} {sign} {}", param.name, ratio(bound))
    };
    let all: Vec<String> = param.bounds.iter().map(text).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

/// The compiled program if it fits, and the schedule to follow.
fn choose<T: Number>(
    system: &SystemDef,
    engine: Engine,
    schedule: Option<Schedule>,
) -> Result<(Choice, Schedule), Error> {
    let not_compiled = |why| Error::NotCompiled {
        system: system.name().to_string(),
        why,
    };
    if let Some(schedule) = &schedule {
        check::check(system.algorithm(), schedule, T::BYTES)?;
    }
    let fits = schedule.as_ref().is_none_or(|s| s == system.schedule());
    let schedule = schedule.unwrap_or_else(|| system.schedule().clone());
    let choice = match (engine, system.kernels()) {
        (Engine::Auto | Engine::Compiled, Some(kernels)) if fits => Choice::Compiled(kernels),
        (Engine::Auto | Engine::Rows, _) => Choice::Rows,
        (Engine::Compiled, Some(_)) => return Err(not_compiled("for this schedule")),
        (Engine::Compiled, None) => return Err(not_compiled("in this binary")),
    };
    Ok((choice, schedule))
}
