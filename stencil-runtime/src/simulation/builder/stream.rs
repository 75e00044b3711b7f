//! Meshes that pass through a device slab by slab.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::str::FromStr;

use stencil_compiler::plan::Plan;

use super::Builder;
use super::engine::Chosen;
use crate::backend::cuda;
use crate::backend::stream::{Bus, Slabs, Transit, WINDOWS, refused};
use crate::mesh::{Boundaries, Mesh, Patches, Sampled};
use crate::simulation::Pace;
use crate::{Error, Number};

/// Whether the fields of a run stay in the memory of the host, and pass through its device slab by slab. Results do not
/// depend on it.
///
/// ```
/// use stencil_runtime::Stream;
///
/// let read = |text: &str| text.parse::<Stream>();
/// assert_eq!((read("off"), read("auto")), (Ok(Stream::Off), Ok(Stream::Auto)));
/// assert_eq!(read("4"), Ok(Stream::Steps(4)));
/// assert!(read("0").unwrap_err().contains("write `off`, `auto` or a number of steps"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    /// All arrays are in the memory of the device.
    #[default]
    Off,
    /// They pass if the card has no room for the whole mesh; the number of steps follows from a model.
    Auto,
    /// They pass, and each slab does so many steps each time, or one if the length of steps changes.
    Steps(usize),
}

impl FromStr for Stream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "off" => Ok(Stream::Off),
            "auto" => Ok(Stream::Auto),
            steps => match steps.parse() {
                Ok(steps @ 1..) => Ok(Stream::Steps(steps)),
                _ => Err(format!(
                    "`{steps}` is no way to stream; write `off`, `auto` or a number of steps"
                )),
            },
        }
    }
}

impl Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stream::Off => f.write_str("off"),
            Stream::Auto => f.write_str("auto"),
            Stream::Steps(steps) => write!(f, "{steps}"),
        }
    }
}

impl<T: Number> Builder<T> {
    /// Sets whether the mesh passes through its device slab by slab, from the memory of the host and back; off if not set. A
    /// mesh may then be larger than the memory of a card. Slabs are cut along the last axis. Fields before a step are not
    /// [kept](Self::keep_last), and no bit of the results depends on it. The processor stands for a card.
    ///
    /// ```
    /// # use stencil_runtime::{Error, Simulation, Stream, SystemDef};
    /// # let heat = SystemDef::from_text("heat.pde", "
    /// #     pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }")?;
    /// let bits = |stream| -> Result<Vec<u64>, Error> {
    ///     let run = Simulation::<f64>::builder(&heat).cells([8, 64, 1]).dt(1e-5);
    ///     let mut simulation = run.stream(stream).build()?;
    ///     simulation.set("q", |x, y, _| x * (1.0 - y))?;
    ///     simulation.run(3, |_, _| ())?;
    ///     simulation.bits()
    /// };
    /// assert_eq!(bits(Stream::Off)?, bits(Stream::Steps(1))?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn stream(mut self, stream: Stream) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the bytes of the memory of a card that the arrays of a run may take; all that is free if not set.
    pub fn card_memory(mut self, bytes: usize) -> Self {
        self.card_memory = Some(bytes);
        self
    }

    /// Returns the settings that decide how the mesh passes through its device.
    pub(super) fn streaming(&self, pace: Pace, patches: &Patches) -> Streaming {
        Streaming {
            stream: self.stream,
            memory: self.card_memory,
            adapts: !matches!(pace, Pace::Fixed(_)),
            alone: patches.is_one() && self.ranks.count() == 1,
            undoes: self.cfl_limit.is_some(),
        }
    }
}

/// The settings that decide how a mesh passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streaming {
    pub(super) stream: Stream,
    /// Bytes of the device that the run may take.
    pub(super) memory: Option<usize>,
    /// Does the length of each step follow from the state before it?
    pub(super) adapts: bool,
    /// Is the mesh one patch of one device and one process?
    pub(super) alone: bool,
    /// May steps be undone?
    pub(super) undoes: bool,
}

/// The mesh that is to pass.
#[derive(Clone, Copy)]
pub(super) struct OnMesh<'a> {
    pub(super) dimension: usize,
    pub(super) mesh: &'a Mesh,
    pub(super) boundaries: &'a Boundaries,
    pub(super) halo: [usize; 3],
}

impl Streaming {
    /// Returns the slabs of a mesh that passes through its device, if it does.
    pub(super) fn slabs<T: Number>(
        self,
        (engine, card, cache): (Chosen, &mut cuda::Opening, Option<&cuda::Cache>),
        (plan, sources): (&Plan, &BTreeMap<String, Sampled>),
        on: OnMesh<'_>,
    ) -> Result<Option<Slabs>, Error> {
        let is_card = matches!(engine, Chosen::Cuda);
        if self.stream == Stream::Off || (self.stream == Stream::Auto && !is_card) {
            return Ok(None);
        }
        // Kernels take some memory of a card, too.
        let free = if is_card { card.room(WINDOWS)?.map(|free| free - free / 50) } else { None };
        let budget = self.memory.into_iter().chain(free).min();
        let OnMesh { dimension, mesh, boundaries, halo } = on;
        let of_arrays = (mesh.cells, halo, T::BYTES);
        let axis = dimension.saturating_sub(1);
        let along = (axis, boundaries.periodic[axis]);
        let transit = Transit::new(plan, of_arrays, along, budget).adapting(self.adapts);
        if self.stream == Stream::Auto && transit.fits() {
            return Ok(None);
        }
        let mut read = sources.iter().filter(|(name, _)| plan.buffer(name).is_some());
        let changes = read.any(|(_, source)| matches!(source, Sampled::Unsteady(_)));
        self.check(changes, on)?;
        // Without rates there is no prediction, and a run goes on all the same.
        let rates = if is_card { rates(card, cache).ok().flatten() } else { None };
        let transit = match rates {
            Some((bus, copy_bytes)) => transit.by(bus, copy_bytes),
            None => transit,
        };
        let slabs = match self.stream {
            Stream::Steps(_) if self.adapts => transit.slabs(1),
            Stream::Steps(steps) => transit.slabs(steps),
            Stream::Off | Stream::Auto => transit.best_slabs(),
        };
        slabs.map(Some)
    }

    /// Can a run pass through its device?
    fn check(self, sources_change: bool, on: OnMesh<'_>) -> Result<(), Error> {
        let (off, boundaries) = ("leave streaming off", on.boundaries);
        if on.dimension < 2 {
            return Err(refused("a mesh of one dimension has no layers", off));
        }
        if !self.alone {
            return Err(refused(
                "it is for one device and one patch",
                "leave out devices, patches and ranks",
            ));
        }
        if self.undoes {
            return Err(refused(
                "steps are not kept, and cannot be undone",
                "leave out the limit of the cfl number",
            ));
        }
        if boundaries.reads_others() || boundaries.has_functions() {
            return Err(refused(
                "a boundary is a function of place, time or several components",
                "give a constant, or leave streaming off",
            ));
        }
        match sources_change {
            true => Err(refused("a source changes with time", off)),
            false => Ok(()),
        }
    }
}

/// Returns the bus of a card, and the bytes that its memory copies in a second.
fn rates(
    card: &mut cuda::Opening,
    cache: Option<&cuda::Cache>,
) -> Result<Option<(Bus, f64)>, cuda::CudaError> {
    let Some(card) = card.card() else {
        return Ok(None);
    };
    let known = card.kept_calibration(cache)?;
    let by_clock = card.memory_bytes_per_s()?.unwrap_or(f64::INFINITY);
    let copy_bytes = known.map_or(by_clock, |calibration| calibration.rates.copy_bytes);
    Ok(Some((card.bus(cache, false)?, copy_bytes)))
}
