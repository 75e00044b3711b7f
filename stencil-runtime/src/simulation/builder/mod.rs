//! Setting up a simulation: everything is checked before memory is taken.

mod build;
mod check;
mod devices;
mod engine;
mod lengths;
mod pick;
mod predict;
mod scheduled;
mod stream;

use std::collections::BTreeMap;
use std::marker::PhantomData;

use stencil_compiler::stability::Axes;

use crate::backend::cuda::Cache;
use crate::mesh::{Faces, Setting};
use crate::simulation::{Pick, Quantity};
use crate::transport::{Carrier, Ranks};
use crate::{Boundary, Error, Instructions, Number, Schedule, Source, SystemDef, ToSystem};

pub(crate) use build::{AUTO, Started, device, rules};
pub(crate) use check::{MOST_CELLS, number};
pub use devices::Devices;
pub use engine::Engine;
pub(crate) use engine::{Chosen, choose};
pub(crate) use predict::Predictor;
pub(crate) use scheduled::{On, Scheduled};
pub use stream::Stream;

/// More cards than any machine has.
const MOST_CARDS: usize = 1024;

/// Collects the settings of a [`Simulation`](crate::Simulation).
#[derive(Debug)]
pub struct Builder<T> {
    system: Result<SystemDef, Error>,
    cells: Option<[usize; 3]>,
    extent: [f64; 3],
    origin: [f64; 3],
    centered: Option<bool>,
    patches: Option<[usize; 3]>,
    devices: Devices,
    ranks: Ranks,
    carrier: Option<Carrier>,
    /// Ghost cells that expressions read between steps.
    halo: [usize; 3],
    boundaries: Vec<Setting>,
    sources: BTreeMap<String, Source>,
    params: BTreeMap<String, f64>,
    dt: Option<f64>,
    cfl: Option<f64>,
    cfl_axes: Axes,
    auto: bool,
    unchecked_step: bool,
    cfl_limit: Option<f64>,
    stream: Stream,
    card_memory: Option<usize>,
    keep_last: bool,
    look_every: Option<usize>,
    threads: Option<usize>,
    engine: Engine,
    /// The number of the first card.
    card: usize,
    cache: Option<Cache>,
    schedule: Option<Schedule>,
    ghosts: Option<usize>,
    pick: Pick,
    timed: Option<Schedule>,
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
            centered: None,
            patches: None,
            devices: Devices::default(),
            ranks: Ranks::alone(),
            carrier: None,
            halo: [0; 3],
            boundaries: Vec::new(),
            sources: BTreeMap::new(),
            params: BTreeMap::new(),
            dt: None,
            cfl: None,
            cfl_axes: Axes::default(),
            auto: false,
            unchecked_step: false,
            cfl_limit: None,
            stream: Stream::Off,
            card_memory: None,
            keep_last: true,
            look_every: None,
            threads: None,
            engine: Engine::Cpu,
            card: 0,
            cache: None,
            schedule: None,
            ghosts: None,
            pick: Pick::default(),
            timed: None,
            instructions: None,
            number: PhantomData,
        }
    }

    /// Sets the number of cells along x, y, z; 1 along axes that the system does not have.
    pub fn cells(mut self, cells: [usize; 3]) -> Self {
        self.cells = Some(cells);
        self
    }

    /// Sets the lengths of the box along x, y, z; 1 if not set.
    pub fn extent(mut self, extent: [f64; 3]) -> Self {
        self.extent = extent;
        self
    }

    /// Sets the coordinates of the lower corner of the box if it is [`centered`](Self::centered), else of the first
    /// cell, so that cell i is at `origin + i * extent / cells`; 0 if not set.
    pub fn origin(mut self, origin: [f64; 3]) -> Self {
        self.origin = origin;
        self
    }

    /// Gives arrays the ghost cells that an expression reads, so that the run can [evaluate](crate::Simulation::evaluate) it.
    ///
    /// ```
    /// # use stencil_runtime::{Error, Quantity, Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("heat.pde", "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
    /// #     scheme s for Heat { space: central<order = 2>; time: euler; }")?;
    /// let far = Quantity::new(&heat, "lap(lap(q))").unwrap();
    /// let run = || Simulation::<f64>::builder(&heat).cells([8, 8, 1]).dt(1e-3);
    /// assert!(run().build()?.evaluate(&far).is_err());
    /// assert!(run().evaluates(&far).build()?.evaluate(&far).is_ok());
    /// # Ok::<(), Error>(())
    /// ```
    pub fn evaluates(mut self, quantity: &Quantity) -> Self {
        let halo = quantity.halo().unwrap_or_default();
        self.halo = std::array::from_fn(|axis| self.halo[axis].max(halo[axis]));
        self
    }

    /// Puts cell i at `origin + (i + 1/2) * extent / cells`, so that faces lie at `origin` and `origin + extent`; they
    /// are half a cell lower otherwise. If not set, a mesh is centred if one of its faces is not periodic.
    ///
    /// ```
    /// # use stencil_runtime::{Axis, Boundary, Face, Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("heat.pde", "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }")?;
    /// let builder = || Simulation::<f64>::builder(&heat).cells([8, 1, 1]).dt(1e-3);
    /// let walled = || builder().boundary(Axis::X, Boundary::wall());
    /// assert_eq!(walled().build()?.mesh().wall(Face::X_LO), 0.0);
    /// assert_eq!(walled().centered(false).build()?.mesh().wall(Face::X_LO), -1.0 / 16.0);
    /// assert_eq!(builder().build()?.mesh().coordinate(0, 0), 0.0);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn centered(mut self, centered: bool) -> Self {
        self.centered = Some(centered);
        self
    }

    /// Sets the patches along x, y, z that the mesh is cut into; one for each [device](Self::devices) if not set. Along an
    /// axis they differ by a cell at most. Every launch covers all patches, and no bit of the results depends on them.
    ///
    /// ```
    /// # use stencil_runtime::{Error, Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("heat.pde", "
    /// #     pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }")?;
    /// let builder = || Simulation::<f64>::builder(&heat).cells([64, 45, 1]).dt(1e-5);
    /// let error = builder().patches([2, 46, 1]).build().unwrap_err();
    /// assert!(error.to_string().contains("give a number of patches from 1 to 45"));
    /// let bits = |patches| -> Result<Vec<u64>, Error> {
    ///     let mut simulation = builder().patches(patches).build()?;
    ///     simulation.set("q", |x, y, _| (6.0 * x).sin() * y)?;
    ///     simulation.run(3, |_, _| ())?;
    ///     simulation.bits()
    /// };
    /// assert_eq!(bits([2, 4, 1])?, bits([1; 3])?);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn patches(mut self, patches: [usize; 3]) -> Self {
        self.patches = Some(patches);
        self
    }

    /// Sets the devices that share the patches; one if not set. Each has patches that follow each other, and no bit of the
    /// results depends on them. Without [`patches`](Self::patches) the mesh is cut into a box for each device, of about as
    /// many cells, with few ghost cells.
    ///
    /// A card keeps its own patches in its memory; the first one also does all work beside the steps. A card that is listed
    /// several times takes several shares. On the processor devices are simulated: the ghost cells of a patch get values of
    /// another device's patch from messages alone, while other launches run.
    ///
    /// ```
    /// # use stencil_runtime::{Error, Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("heat.pde", "
    /// #     pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }")?;
    /// let bits = |devices| -> Result<Vec<u64>, Error> {
    ///     let run = Simulation::<f64>::builder(&heat).cells([8, 12, 1]).dt(1e-3);
    ///     let mut simulation = run.devices(devices).build()?;
    ///     simulation.set("q", |x, y, _| x * (1.0 - y))?;
    ///     simulation.run(3, |_, _| ())?;
    ///     simulation.bits()
    /// };
    /// assert_eq!(bits(1)?, bits(4)?);
    /// let error = bits(97).unwrap_err().to_string();
    /// assert!(error.contains("cannot be cut into 97 boxes"), "{error}");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn devices(mut self, devices: impl Into<Devices>) -> Self {
        self.devices = devices.into();
        self
    }

    /// Sets the processes that do the run together, each with the patches of one device: there are as many
    /// [devices](Self::devices) then. All ranks build the same run and call the same functions in the same order; those that
    /// return values of the whole mesh gather them on every rank. The first rank alone writes files. No bit of the results
    /// depends on the ranks.
    ///
    /// On cards, each rank has one: of the cards of its host that of its number among the ranks there, counted around. The mesh is
    /// cut along y and z only.
    pub fn ranks(mut self, ranks: Ranks) -> Self {
        if ranks.count() > 1 {
            self.devices = Devices::Count(ranks.count());
        }
        self.ranks = ranks;
        self
    }

    /// Sets the library that carries values between the cards of [ranks](Self::ranks); the fastest one that all of them have if
    /// not set. No bit of the results depends on it.
    pub fn carrier(mut self, carrier: Carrier) -> Self {
        self.carrier = Some(carrier);
        self
    }

    /// Sets the condition on a face, both faces of an axis or all faces; periodic if not set. A later setting replaces
    /// an earlier one. See [`Boundary`] for an example.
    pub fn boundary(mut self, faces: impl Into<Faces>, boundary: Boundary) -> Self {
        self.boundaries.push(Setting { of: None, faces: faces.into(), boundary });
        self
    }

    /// Sets the condition on some faces for one field or one component. It is stronger than a setting for all fields,
    /// whatever comes first.
    ///
    /// ```
    /// # use stencil_runtime::{Axis, Boundary, Simulation, SystemDef};
    /// # let flow = SystemDef::from_text("flow.pde", "
    /// #     pub system Flow in 2d { field u: vector; ddt(u) = lap(u); }
    /// #     scheme s for Flow { space: central<order = 2>; mixed: bidiagonal; time: euler; }")?;
    /// // Walls that fluid sticks to, and a lid that moves along x.
    /// let simulation = Simulation::<f64>::builder(&flow)
    ///     .cells([16, 16, 1])
    ///     .boundary(Axis::Y, Boundary::wall())
    ///     .boundary_of("u_x", Axis::Y, Boundary::dirichlet(0.0))
    ///     .boundary_of("u_x", stencil_runtime::Face::Y_HI, Boundary::dirichlet(1.0))
    ///     .dt(1e-4)
    ///     .build()?;
    /// assert_eq!(simulation.boundaries()[1], "y.lo: dirichlet 0, y.hi: dirichlet 1 (u_x)");
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn boundary_of(
        mut self,
        name: impl Into<String>,
        faces: impl Into<Faces>,
        boundary: Boundary,
    ) -> Self {
        self.boundaries.push(Setting { of: Some(name.into()), faces: faces.into(), boundary });
        self
    }

    /// Sets a component of a source, in place of its declared value.
    ///
    /// ```
    /// use stencil_runtime::{Simulation, Source, SystemDef};
    ///
    /// let driven = SystemDef::from_text("driven.pde", "
    ///     pub system Driven in 1d { field q: scalar; source f: vector; ddt(q) = lap(q) + f.x; }
    /// ")?;
    /// let mut simulation = Simulation::<f64>::builder(&driven)
    ///     .cells([8, 1, 1])
    ///     .source("f_x", Source::unsteady(|_, _, _, t| 3.0 * t * t))
    ///     .dt(0.001)
    ///     .build()?;
    /// simulation.run(1000, |_, _| ())?;
    /// assert!((simulation.field("q")?[[0, 0, 0]] - 1.0).abs() < 1e-6);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn source(mut self, component: impl Into<String>, value: impl Into<Source>) -> Self {
        self.sources.insert(component.into(), value.into());
        self
    }

    /// Sets a parameter of the system in place of its default.
    pub fn param(mut self, name: impl Into<String>, value: f64) -> Self {
        self.params.insert(name.into(), value);
        self
    }

    /// Sets whether the fields before a step are kept until it has succeeded, so that they can be written when it
    /// fails; true if not set. It takes the memory of one more array a component, and no time. Without it a card
    /// checks values after each step, unless told to do so [less often](Self::look_every).
    pub fn keep_last(mut self, keep: bool) -> Self {
        self.keep_last = keep;
        self
    }

    /// Sets the steps of a card between two checks that values are finite; 32 if not set, and 1 if fields are [not
    /// kept](Self::keep_last). If a check fails, the steps since the last one are done again from the kept fields, to
    /// find the step that failed. If they were not kept, the error says that it was [one of the
    /// last](crate::NotFinite::unseen). A processor checks values as they are made.
    pub fn look_every(mut self, steps: usize) -> Self {
        self.look_every = Some(steps);
        self
    }

    /// Sets the number of threads; one for each core if not set, and fewer for meshes of a few thousand cells.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Sets the engine of the steps.
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// Sets the card to use, counted from 0 as its driver does; 0 if not set, or the first of [`devices`](Self::devices).
    pub fn card(mut self, ordinal: usize) -> Self {
        self.card = ordinal;
        self
    }

    /// Returns the numbers of the cards, as many as there are devices.
    fn ordinals(&self) -> Vec<usize> {
        match &self.devices {
            _ if self.ranks.count() > 1 => vec![self.card],
            Devices::Cards(cards) => cards.clone(),
            devices => {
                let on_cards = matches!(self.engine, Engine::Cuda | Engine::Auto);
                let count = devices.count(on_cards).min(MOST_CARDS);
                (0..count).map(|behind| self.card.saturating_add(behind)).collect()
            }
        }
    }

    /// Sets the cache of compiled kernels of a card; a folder of this user if not set.
    pub fn kernels(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets the schedule, which places intermediate grid functions; the system's own schedule if not set, and on a card a
    /// [pick](Self::pick).
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = Some(schedule);
        self
    }

    /// Sets the substeps, or groups of fused ones, that ghost cells from other devices last for, whatever the schedule says:
    /// devices exchange values before the first of them, and compute what they need of their neighbours' cells in the others.
    pub fn ghosts(mut self, substeps: usize) -> Self {
        self.ghosts = Some(substeps);
        self
    }

    /// Sets whether the performance model picks the schedule of a run on a card that is given none, and when.
    pub fn pick(mut self, pick: Pick) -> Self {
        self.pick = pick;
        self
    }

    /// Sets a schedule that was timed on a card for this run. It stands in place of the model's pick, and later runs of the
    /// same problem on the same mesh begin by it. [`schedule`](Self::schedule) and [`Pick::Off`] stand against it, and the
    /// processor has no use for it.
    pub fn timed(mut self, schedule: Schedule) -> Self {
        self.timed = Some(schedule);
        self
    }

    /// Sets the instructions of the processor to use; the best there are if not set.
    pub fn instructions(mut self, instructions: Instructions) -> Self {
        self.instructions = Some(instructions);
        self
    }
}
