//! A system on a mesh, stepping in time.

mod adapting;
mod advance;
pub(crate) mod builder;
mod cause;
mod compiling;
mod evaluate;
mod frames;
mod handover;
mod law;
mod parts;
mod picking;
mod potential;
mod rejected;
mod reschedule;
mod restart;
mod speeds;
mod stable;
mod timed;
mod values;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::ThreadPool;
use stencil_compiler::plan::Plan;
use stencil_compiler::stability::Axes;

use crate::backend::cpu::Checked;
use crate::backend::cuda::{Card, Launched};
use crate::backend::stream::{Passes, Slabs};
use crate::backend::{self, Device};
use crate::mesh::{Mesh, Patches, Sampled};
use crate::step::{Fused, Rules};
use crate::transport::{Carrier, Ranks};
use crate::{Error, Instructions, MemoryUse, Number, Schedule, SystemDef, ToSystem};
use builder::{number, rules};
use watch::Watch;

pub use advance::{Flow, Outcome, Timings};
pub use builder::{Builder, Devices, Engine, Stream};
pub(crate) use compiling::Compiling;
pub use compiling::Program;
pub use evaluate::Quantity;
pub use frames::{FrameChoice, Frames};
pub(crate) use picking::{Found, Picking, Wanted};
pub use picking::{Pick, Picked};
pub use rejected::RejectedStep;
pub use restart::Restored;
pub(crate) use restart::differences;
pub(crate) use values::sampled;

/// A run of a system on a box with cells of equal size.
///
/// Components have names: a scalar field `lnrho` is `lnrho`, a vector field `u` is `u_x`, `u_y`,
/// `u_z`. Arrays are `[z, y, x]`.
///
/// ```
/// use stencil_runtime::{Simulation, SystemDef};
///
/// let waves = SystemDef::from_text("waves.pde", "
///     pub system Waves in 2d {
///         field h: scalar;
///         field v: vector;
///         param c: real = 1 where c > 0;
///         ddt(h) = -div(v);
///         ddt(v) = -c^2 * grad(h);
///     }
///     scheme central6 for Waves { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }
/// ")?;
/// let mut simulation = Simulation::<f64>::builder(&waves)
///     .cells([48, 40, 1])
///     .extent([6.0, 5.0, 1.0])
///     .param("c", 2.0)
///     .dt(0.01)
///     .build()?;
/// simulation.set("h", |x, y, _| (-((x - 3.0).powi(2) + (y - 2.5).powi(2))).exp())?;
/// simulation.run(10, |step, t| eprintln!("{step} {t}"))?;
/// assert_eq!(simulation.step_count(), 10);
/// assert_eq!(simulation.field("v_x")?.dim(), (1, 40, 48));
///
/// let error = simulation.field("v").unwrap_err();
/// assert!(error.to_string().contains("did you mean `v_x`"), "{error}");
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
#[derive(Debug)]
pub struct Simulation<T> {
    setup: Setup,
    device: Box<dyn Device<T>>,
    watch: Option<Watch>,
    sources: BTreeMap<String, Sampled>,
    pool: Arc<ThreadPool>,
    rules: Rules,
    pace: Pace,
    last_dt: f64,
    t: f64,
    steps: u64,
    /// Number of steps that were done again.
    rejected: u64,
    /// The last of them.
    last_rejected: Option<RejectedStep>,
    /// Has the user set values since the last step?
    is_set: bool,
    /// The longest step that was compared with the stability limit; `None` if none was.
    checked: Option<f64>,
    /// Is there no limit to check it against?
    unknown: bool,
    /// The step before which the length of automatic steps was found last; `None` if it was not.
    found_at: Option<u64>,
    /// The number of adaptive steps that a device is asked for at once, at most.
    at_once: u64,
    /// Are the fields those of a failed step?
    lost: bool,
    /// The name of the run, if it has one.
    run: Option<String>,
    timings: Timings,
    picking: Picking<T>,
    compiling: Compiling,
}

/// The lengths of time steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    Fixed(f64),
    /// Lengths that follow from the equations themselves, and no longer than this.
    Auto {
        most: Option<f64>,
    },
    /// A Courant number, the largest step, and the largest Courant number at the end of a step.
    Adaptive {
        number: f64,
        most: Option<f64>,
        limit: Option<f64>,
    },
}

/// The parts of a run that stay until it goes on by another schedule.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) system: SystemDef,
    /// The plan of single steps.
    pub(crate) plan: Plan,
    /// The slabs of a mesh that passes through its device.
    pub(crate) slabs: Option<Slabs>,
    /// The plan of fused steps.
    pub(crate) fused: Option<Fused>,
    pub(crate) schedule: Schedule,
    pub(crate) mesh: Mesh,
    pub(crate) patches: Patches,
    /// The boundaries in words.
    pub(crate) boundaries: Vec<String>,
    /// The components of sources that were given, each in words.
    pub(crate) sources: Vec<(String, String)>,
    pub(crate) params: Vec<f64>,
    /// The combination of limits of axes in steps that adapt.
    pub(crate) cfl_axes: Axes,
    /// Are steps of any length done?
    pub(crate) unchecked: bool,
    pub(crate) engine: Engine,
    pub(crate) instructions: Checked,
}

/// The parts of a run that change.
#[derive(Debug)]
pub(crate) struct Parts<T> {
    pub(crate) device: Box<dyn Device<T>>,
    pub(crate) watch: Option<Watch>,
    /// Sources by the name of the component.
    pub(crate) sources: BTreeMap<String, Sampled>,
    pub(crate) pool: Arc<ThreadPool>,
    pub(crate) picking: Picking<T>,
    pub(crate) compiling: Compiling,
    pub(crate) timings: Timings,
}

impl<T: Number> Simulation<T> {
    /// Returns the builder of a run of a declared type or of a [`SystemDef`].
    pub fn builder(system: &impl ToSystem) -> Builder<T> {
        Builder::new(system)
    }

    pub(crate) fn assemble(setup: Setup, parts: Parts<T>, pace: Pace) -> Result<Self, Error> {
        let Parts { device, watch, sources, pool, picking, compiling, timings } = parts;
        let rules = rules::<T>(&setup.system, &setup.params, &setup.mesh, setup.cfl_axes);
        let mut simulation = Simulation {
            setup,
            device,
            watch,
            sources,
            pool,
            rules,
            pace,
            last_dt: match pace {
                Pace::Fixed(dt) => dt,
                Pace::Auto { most } | Pace::Adaptive { most, .. } => most.unwrap_or(0.0),
            },
            checked: None,
            unknown: false,
            found_at: None,
            t: 0.0,
            steps: 0,
            rejected: 0,
            last_rejected: None,
            is_set: false,
            at_once: adapting::FIRST,
            lost: false,
            run: None,
            timings,
            picking,
            compiling,
        };
        simulation.sample_steady()?;
        simulation.sample_unsteady(0.0)?;
        Ok(simulation)
    }

    /// Returns the system's observables (`observe name = sum(..);`), by name, at this time.
    ///
    /// Values in cells are computed in the precision of the run; sums are taken in `f64`, in an
    /// order that no number of threads changes: a row is halved (the first half is the longer one)
    /// down to runs of at most 16 values, which are added one after another; sums of rows are added
    /// to one of their plane by the same rule, and planes likewise. Extremes are NaN where a value is.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let heat = SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 1d {
    ///         field q: scalar;
    ///         ddt(q) = lap(q);
    ///         observe heat = mean(q);
    ///         observe steepest = max(abs(d[x](q)));
    ///     }
    /// ")?;
    /// let mut simulation = Simulation::<f64>::builder(&heat).cells([64, 1, 1]).dt(1e-5).build()?;
    /// simulation.set("q", |x, _, _| 1.0 + (std::f64::consts::TAU * x).cos())?;
    /// assert!((simulation.observe()?["heat"] - 1.0).abs() < 1e-12);
    /// assert!((simulation.observe()?["steepest"] - std::f64::consts::TAU).abs() < 1e-3);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the values are on a card that fails, or that made one which is not finite.
    pub fn observe(&mut self) -> Result<BTreeMap<String, f64>, Error> {
        self.settle()?;
        if self.watch.as_ref().is_some_and(Watch::observables_read_sources) {
            self.sample_unsteady(self.t)?;
        }
        let (mesh, t) = (&self.setup.mesh, self.t);
        match &self.watch {
            Some(watch) => watch.observables(self.device.as_mut(), mesh, t),
            None => Ok(BTreeMap::new()),
        }
    }

    /// Returns warnings: of tests of loops that this precision cannot meet, each with the way out; and of cells in which a law with
    /// products has no waves now, as two of its speeds are complex.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let roots = SystemDef::from_text("roots.pde", "
    ///     pub system Roots in 1d {
    ///         field a: scalar;
    ///         fn root(a: scalar) -> scalar {
    ///             let mut x = a;
    ///             for i in 0..9 { let old = x; x = (x + a/x)/2; until(abs(x - old) <= 1e-12*x); }
    ///             x
    ///         }
    ///         ddt(a) = root(a);
    ///     }
    /// ")?;
    /// let double = Simulation::<f64>::builder(&roots).cells([64, 1, 1]).dt(1e-5).build()?;
    /// assert!(double.remarks().is_empty());
    /// let single = Simulation::<f32>::builder(&roots).cells([64, 1, 1]).dt(1e-5).build()?;
    /// assert!(single.remarks()[0].contains("write `4*epsilon` (4.8e-7 in f32) or more"));
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn remarks(&self) -> Vec<String> {
        let model = self.system().model();
        let found = model.too_fine(T::PRECISION, &self.setup.params);
        found.iter().map(ToString::to_string).chain(self.lost_waves()).collect()
    }

    /// Changes to this time step from now on; steps do not adapt any longer.
    ///
    /// # Errors
    /// If it is not a positive number.
    pub fn set_dt(&mut self, dt: f64) -> Result<(), Error> {
        let help = "give a positive number".into();
        number("the time step".into(), dt, |v| v > 0.0, help)?;
        self.pace = Pace::Fixed(dt);
        self.last_dt = dt;
        self.checked = self.checked.filter(|checked| dt <= *checked);
        Ok(())
    }

    /// Returns the time.
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Returns the number of steps done.
    pub fn step_count(&self) -> u64 {
        self.steps
    }

    /// Returns the time step: the fixed one, or the last one if steps adapt.
    pub fn dt(&self) -> f64 {
        match self.pace {
            Pace::Fixed(dt) => dt,
            Pace::Auto { .. } | Pace::Adaptive { .. } => self.last_dt,
        }
    }

    /// Returns the Courant number that time steps adapt to; `None` if they are fixed.
    pub fn cfl(&self) -> Option<f64> {
        match self.pace {
            Pace::Fixed(_) | Pace::Auto { .. } => None,
            Pace::Adaptive { number, .. } => Some(number),
        }
    }

    /// Returns the parts of the time of the run.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// Returns the system.
    pub fn system(&self) -> &SystemDef {
        &self.setup.system
    }

    /// Returns the launches, the storage and the fills of a step, or of as many as the schedule fuses.
    pub fn plan(&self) -> &Plan {
        let fused = self.setup.fused.as_ref();
        fused.map_or(&self.setup.plan, |fused| &fused.plan)
    }

    /// Returns the schedule that the plan was made by.
    pub fn schedule(&self) -> &Schedule {
        &self.setup.schedule
    }

    /// Returns the mesh.
    pub fn mesh(&self) -> Mesh {
        self.setup.mesh
    }

    /// Returns the cells along x, y, z.
    pub fn cells(&self) -> [usize; 3] {
        self.setup.mesh.cells
    }

    /// Returns the number of patches along x, y, z that the mesh is cut into.
    pub fn patches(&self) -> [usize; 3] {
        self.setup.patches.counts
    }

    /// Returns the number of devices that share the patches. Without a [card](Self::card) they are simulated.
    pub fn devices(&self) -> usize {
        self.setup.patches.devices
    }

    /// Returns the processes that do the run together.
    pub fn ranks(&self) -> &Ranks {
        &self.device.fields().domain.ranks
    }

    /// Returns the library that carries values between the cards of [ranks](Self::ranks), if they have cards.
    pub fn carrier(&self) -> Option<Carrier> {
        backend::on_card(self.device.as_ref())?.carrier()
    }

    /// Returns the coordinates of the first cell.
    pub fn origin(&self) -> [f64; 3] {
        self.setup.mesh.point([0; 3])
    }

    /// Returns the distance of cells along x, y, z.
    pub fn spacing(&self) -> [f64; 3] {
        self.setup.mesh.spacing()
    }

    /// Returns the boundaries in words: a line for each axis, such as `x.lo: wall, x.hi: outflow`, and one more for
    /// components that differ.
    pub fn boundaries(&self) -> &[String] {
        &self.setup.boundaries
    }

    /// Returns names and values of the parameters.
    pub fn params(&self) -> impl Iterator<Item = (&str, f64)> {
        let names = self.setup.system.model().params.iter().map(|p| p.name.as_str());
        names.zip(self.setup.params.iter().copied())
    }

    /// Returns the engine that was chosen: [`Engine::Compiled`], [`Engine::Rows`] or [`Engine::Cuda`].
    pub fn engine(&self) -> Engine {
        self.setup.engine
    }

    /// Returns the card that runs it, if one does.
    pub fn card(&self) -> Option<&Card> {
        backend::on_card(self.device.as_ref()).map(|machine| machine.card())
    }

    /// Returns the kernels of a step on a card, in their order, with the resources that they take; none on the
    /// processor.
    pub fn launched(&self) -> Vec<Launched> {
        let machine = backend::on_card(self.device.as_ref());
        machine.map_or_else(Vec::new, |machine| machine.launched())
    }

    /// Returns the number of steps that are done at once if their number and length allow it; 1 if each is done by
    /// itself.
    pub fn steps_at_once(&self) -> u64 {
        self.device.steps_at_once().map_or(1, |steps| steps as u64)
    }

    /// Returns the number of kernels that a step launches on a card, fills of ghost cells included; 0 on the
    /// processor.
    pub fn launches_a_step(&self) -> usize {
        let machine = backend::on_card(self.device.as_ref());
        machine.map_or(0, |machine| machine.launches_a_step())
    }

    /// Returns how often a card could not capture work to replay it, and was told each part of that work each time instead:
    /// steps are slower then, and their results are the same. 0 on the processor.
    pub fn uncaptured(&self) -> u64 {
        backend::on_card(self.device.as_ref()).map_or(0, |machine| machine.uncaptured)
    }

    /// Returns how the mesh passes through its device, if it is [streamed](crate::Builder::stream).
    pub fn passes(&self) -> Option<Passes> {
        backend::streamed(self.device.as_ref())
    }

    /// Returns the instructions that were chosen.
    pub fn instructions(&self) -> Instructions {
        self.setup.instructions.get()
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Returns the memory that it takes on its device, part by part.
    pub fn memory_use(&self) -> MemoryUse {
        self.device.memory_use()
    }

    /// Returns the bytes of all arrays, ghost cells included.
    pub fn bytes(&self) -> usize {
        self.memory_use().bytes()
    }
}
