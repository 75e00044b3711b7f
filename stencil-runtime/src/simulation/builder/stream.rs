//! Meshes that pass through a device slab by slab.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::str::FromStr;

use stencil_compiler::plan::{BufferRole, Plan, max3};

use super::Builder;
use super::engine::Chosen;
use crate::backend::cuda;
use crate::backend::stream::{PassTime, Rates, Slabs, WINDOWS, overlap};
use crate::field::{Shape, memory_use};
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

/// Slabs that a mesh on the processor is cut into if no memory is given, or fewer if these are too thin.
const SIMULATED: usize = 4;

/// Most steps of a pass that the model chooses.
const MOST_STEPS: usize = 16;

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
        let room = Room::new::<T>(plan, on.mesh.cells, on.halo);
        if self.stream == Stream::Auto && budget.is_none_or(|b| room.bytes(on.mesh.cells) <= b) {
            return Ok(None);
        }
        let mut read = sources.iter().filter(|(name, _)| plan.buffer(name).is_some());
        let changes = read.any(|(_, source)| matches!(source, Sampled::Unsteady(_)));
        self.check(changes, on)?;
        // Without rates there is no prediction, and a run goes on all the same.
        let rates = if is_card { rates(card, cache).ok().flatten() } else { None };
        let cut = |steps: usize| -> Result<Slabs, Error> {
            let mut slabs = cut(&room, plan, (on, budget), steps)?;
            let time = |rates: &Rates| room.time(&slabs, (rates, plan), self.adapts);
            slabs.time = rates.as_ref().map(time);
            Ok(slabs)
        };
        match self.stream {
            Stream::Steps(steps) if !self.adapts => cut(steps).map(Some),
            Stream::Auto if !self.adapts => {
                let others = (2..=MOST_STEPS).map_while(|steps| cut(steps).ok());
                cut(1).map(|one| Some(others.fold(one, faster)))
            }
            _ => cut(1).map(Some),
        }
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
        if boundaries.has_custom() || boundaries.has_functions() {
            return Err(refused(
                "a boundary is a function of place or time",
                "give a constant, or leave streaming off",
            ));
        }
        match sources_change {
            true => Err(refused("a source changes with time", off)),
            false => Ok(()),
        }
    }
}

/// Returns the rates of the bus of a card, and of its memory.
fn rates(
    card: &mut cuda::Opening,
    cache: Option<&cuda::Cache>,
) -> Result<Option<Rates>, cuda::CudaError> {
    let Some(card) = card.card() else {
        return Ok(None);
    };
    let known = card.kept_calibration(cache)?;
    let by_clock = card.memory_bytes_per_s()?.unwrap_or(f64::INFINITY);
    let copy_bytes = known.map_or(by_clock, |calibration| calibration.rates.copy_bytes);
    Ok(Some(Rates { bus: card.bus(cache, false)?, copy_bytes }))
}

/// Returns the slabs whose pass takes less time for each of its steps, the first ones of equals.
fn faster(best: Slabs, next: Slabs) -> Slabs {
    let of_a_step = |slabs: &Slabs| {
        slabs.time.map_or(f64::INFINITY, |time| time.seconds() / slabs.steps as f64)
    };
    if of_a_step(&next) < of_a_step(&best) { next } else { best }
}

/// Cuts a mesh into slabs for windows on a device with so many bytes.
fn cut(
    room: &Room,
    plan: &Plan,
    (on, budget): (OnMesh<'_>, Option<usize>),
    steps: usize,
) -> Result<Slabs, Error> {
    let axis = on.dimension - 1;
    let layers = on.mesh.cells[axis];
    let deep = overlap(plan, axis, steps).ok_or_else(|| {
        let carried = "the scheme carries values from step to step beside its fields";
        refused(carried, "leave streaming off")
    })?;
    let most = match budget {
        Some(budget) => room.layers(axis, budget / WINDOWS),
        None => layers.div_ceil((layers / deep.max(1)).clamp(1, SIMULATED)) + 2 * deep,
    };
    let slabs = Slabs::new((axis, layers, on.boundaries.periodic[axis]), (deep, steps), most);
    slabs.ok_or_else(|| {
        let steps_need = match steps {
            1 => "a step needs".to_string(),
            several => format!("{several} steps need"),
        };
        let reason = format!(
            "a window of {most} layers has no room for a slab of {deep} layers and as many of both neighbours, which \
             {steps_need}"
        );
        let help = match steps {
            1 => "give it more memory of the card, or fewer cells along the other axes",
            _ => "do fewer steps at once, or give it more memory of the card",
        };
        refused(&reason, help)
    })
}

/// The arrays of a plan in the memory of a device.
struct Room {
    arrays: usize,
    /// Arrays that go to the device, and that come back.
    up: usize,
    down: usize,
    halo: [usize; 3],
    cells: [usize; 3],
    value_bytes: usize,
}

impl Room {
    fn new<T: Number>(plan: &Plan, cells: [usize; 3], halo: [usize; 3]) -> Self {
        // Also where kernels read around the ends of an axis.
        let reads = plan.launches.iter().flat_map(|launch| {
            let reads = launch.inputs.iter().map(|(_, read)| *read);
            reads.map(|read| std::array::from_fn(|axis| read[axis] + launch.extend[axis]))
        });
        let own = reads.fold(plan.halo(), max3);
        let of_roles = |roles: &[BufferRole]| {
            plan.buffers.iter().filter(|buffer| roles.contains(&buffer.role)).count()
        };
        let down = of_roles(&[BufferRole::Field, BufferRole::Count]);
        Room {
            up: down + of_roles(&[BufferRole::Given]),
            down,
            arrays: memory_use::arrays_of(plan, false, false).map(|(_, count)| count).sum(),
            halo: std::array::from_fn(|axis| halo[axis].max(own[axis] as usize)),
            cells,
            value_bytes: T::BYTES,
        }
    }

    /// Returns the bytes of the arrays of so many cells.
    fn bytes(&self, cells: [usize; 3]) -> usize {
        let shape = Shape::new(cells, self.halo, self.value_bytes);
        let array = shape.map_or(usize::MAX, |shape| shape.array_bytes(self.value_bytes));
        array.saturating_mul(self.arrays)
    }

    /// Returns the time of a pass of slabs by the model.
    fn time(&self, slabs: &Slabs, by: (&Rates, &Plan), adapts: bool) -> PassTime {
        let shape = Shape::new(self.cells, self.halo, self.value_bytes);
        let layer = |shape: Shape| shape.layers(slabs.axis, 0..1).len() * self.value_bytes;
        let layer = shape.map_or(0, layer);
        let [up, down] = slabs.moved();
        let bytes = [up * self.up * layer, down * self.down * layer];
        PassTime::new(slabs, by, (layer, bytes), adapts)
    }

    /// Returns the most layers along an axis that fit into so many bytes.
    fn layers(&self, axis: usize, bytes: usize) -> usize {
        let fits = |layers: usize| {
            let mut cells = self.cells;
            cells[axis] = layers;
            self.bytes(cells) <= bytes
        };
        let (mut low, mut high) = (0, self.cells[axis] + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        low
    }
}

fn refused(reason: &str, help: &str) -> Error {
    Error::Stream { reason: reason.into(), help: help.into() }
}
