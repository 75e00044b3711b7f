//! Meshes that pass through a device slab by slab.

use std::fmt::{self, Display};
use std::str::FromStr;

use stencil_compiler::plan::Plan;

use super::engine::Chosen;
use crate::backend::stream::{Slabs, WINDOWS, overlap};
use crate::field::{Shape, memory_use};
use crate::mesh::{Boundaries, Mesh, Sampled};
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

/// Windows that a mesh on the processor is cut for if no memory is given.
const SIMULATED: usize = 4;

/// The settings that decide how a mesh passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streaming {
    pub(super) stream: Stream,
    /// Bytes of the device that the run may take.
    pub(super) memory: Option<usize>,
    /// Is each step of the length of the one before?
    pub(super) steps_alike: bool,
    pub(super) alone: bool,
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
    /// Returns the slabs of a mesh that passes through its device, if it does. `free` are the bytes of the card.
    pub(super) fn slabs<T: Number>(
        self,
        (engine, free): (Chosen, Option<usize>),
        (plan, sources): (&Plan, &[&Sampled]),
        on: OnMesh<'_>,
    ) -> Result<Option<Slabs>, Error> {
        let is_card = matches!(engine, Chosen::Cuda);
        let budget = match (self.memory, free) {
            (Some(memory), Some(free)) => Some(memory.min(free)),
            (memory, free) => memory.or(free),
        };
        let cells = on.mesh.cells;
        let room = Room::new::<T>(plan, cells, on.halo);
        let steps = match self.stream {
            Stream::Off => return Ok(None),
            Stream::Auto if !is_card => return Ok(None),
            Stream::Auto if budget.is_some_and(|budget| room.bytes(cells) <= budget) => {
                return Ok(None);
            }
            Stream::Auto => 1,
            Stream::Steps(_) if !self.steps_alike => 1,
            Stream::Steps(steps) => steps,
        };
        self.check(sources, on)?;
        let axis = on.dimension - 1;
        let layers = cells[axis];
        let carried = "the scheme carries values from step to step beside its fields";
        let deep =
            overlap(plan, axis, steps).ok_or_else(|| refused(carried, "leave streaming off"))?;
        let most = match budget {
            Some(budget) => room.layers(axis, budget / WINDOWS),
            None => layers.div_ceil(SIMULATED) + 2 * deep,
        };
        let slabs = Slabs::new((axis, layers, on.boundaries.periodic[axis]), (deep, steps), most);
        slabs.map(Some).ok_or_else(|| {
            let reason = format!(
                "a window of {most} layers has no room for a slab of {deep} layers and as many of both neighbours, which {steps} \
                 steps need"
            );
            let help = match steps {
                1 => "give it more memory of the card, or fewer cells along the other axes",
                _ => "do fewer steps at once, or give it more memory of the card",
            };
            refused(&reason, help)
        })
    }

    /// Can a run pass through its device?
    fn check(self, sources: &[&Sampled], on: OnMesh<'_>) -> Result<(), Error> {
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
        match sources.iter().any(|source| matches!(source, Sampled::Unsteady(_))) {
            true => Err(refused("a source changes with time", off)),
            false => Ok(()),
        }
    }
}

/// The arrays of a plan in the memory of a device.
struct Room {
    arrays: usize,
    halo: [usize; 3],
    cells: [usize; 3],
    value_bytes: usize,
}

impl Room {
    fn new<T: Number>(plan: &Plan, cells: [usize; 3], halo: [usize; 3]) -> Self {
        let own = plan.halo();
        Room {
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
