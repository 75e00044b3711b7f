//! The `Plan`: the launches, fills, exchanges and reductions of one time step, in their order.
//!
//! Invariants (kept by [`check`](Plan::check)): each buffer is written before it is read; its
//! halo is at least as deep as each read of it; buffers that share memory are never needed at once, but for the previous
//! value of a field, which a launch reads in the cell that it writes; no launch reads ghost cells that are on their way
//! from another device; there is no thread and no vendor.

use crate::schedule::{Blocking, Layout, Overlap, Placement};

pub mod check;
mod deep;
mod depth;
mod devices;
mod fit;
mod layout;
pub mod make;
mod reuse;
mod separate;
mod stores;
#[cfg(test)]
mod tests;
pub mod text;

pub use depth::Depth;
pub(crate) use devices::blocks_of_rim;
pub use fit::{FitTo, crossable};
pub use layout::Place;
pub use make::plan;
pub use stores::Layers;

/// A list of steps that advances the fields by a time step or several, and the arrays that they work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of time steps, at least one.
    pub time_steps: usize,
    /// How the arrays lie in memory.
    pub layout: Layout,
    /// The way in which devices that share the patches get ghost cells from each other, if the schedule chooses one: see
    /// [`overlap`](Plan::overlap).
    pub overlap: Option<Overlap>,
    /// Arrays.
    pub buffers: Vec<Buffer>,
    /// Launches in order of first execution.
    pub launches: Vec<Launch>,
    /// The steps, in their order.
    pub steps: Vec<Step>,
}

/// An array over the patch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The role of its values.
    pub role: BufferRole,
    /// Ghost cells on both sides along x, y, z.
    pub halo: [u32; 3],
    /// The buffer whose memory it lives in, if it has none of its own: they are never needed at
    /// the same time, but for the previous value of a field, which is in the array for its new values.
    pub within: Option<String>,
}

/// The role of the values of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BufferRole {
    /// A component of a field, as the substep finds it.
    Field,
    /// The new values of a field; its name is the field's with `_new`.
    NewField,
    /// An accumulator of the integrator.
    Accumulator,
    /// An accumulator that takes values of a field from before a substep: it follows the new values of the field.
    Kept,
    /// Counts in its own cell; zero when a run begins.
    Count,
    /// A grid function that the schedule placed in global memory.
    Derived,
    /// A field that is given from outside, ghost cells and all: no step of the plan writes it.
    Given,
}

/// One kernel to run: its results, not its code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Launch {
    /// Its name, an identifier.
    pub name: String,
    /// Number of the substep it belongs to.
    pub substep: usize,
    /// Number of its kernel in the substep: index into the blockings of the schedule.
    pub kernel: usize,
    /// Buffers it writes, each with the grid function whose values it gets.
    pub outputs: Vec<(String, String)>,
    /// Buffers it reads, each with the largest offsets of its accesses.
    pub inputs: Vec<(String, [u32; 3])>,
    /// Cells beyond the interior that it computes.
    pub extend: [u32; 3],
    /// Those of them that it computes redundantly, as they are cells of other devices: none of them counts beyond faces.
    pub redundant: [u32; 3],
    /// Periodic axes along which it reads beyond one end at the other, not from ghost cells. There
    /// are at least as many cells along these as it reads beyond an end.
    pub wrapped: [bool; 3],
    /// Placements of the grid functions inside it other than [`Placement::Inline`].
    pub placements: Vec<(String, Placement)>,
    /// How it is blocked.
    pub blocking: Blocking,
}

impl Plan {
    /// Returns the first launch before this one that does the same, in an earlier substep: their kernels differ in name
    /// only.
    pub fn like(&self, launch: usize) -> Option<usize> {
        let own = self.launches.get(launch)?;
        self.launches[..launch].iter().position(|before| before.is_like(own))
    }
}

impl Launch {
    /// Does another launch do the same, under another name or in another substep?
    fn is_like(&self, other: &Launch) -> bool {
        self.work() == other.work()
    }

    /// Returns all that decides its kernel, but for its name.
    fn work(&self) -> impl PartialEq {
        let Launch { kernel, outputs, inputs, extend, wrapped, placements, blocking, .. } = self;
        (kernel, outputs, inputs, extend, wrapped, placements, blocking)
    }
}

/// One entry of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reduces quantities of all cells to one number each: the speeds that limit the length of the step.
    Reduce {
        /// Names of the quantities.
        quantities: Vec<String>,
    },
    /// Accepts the step before, if the reduced quantities allow its length. If they do not, its fields are put back and
    /// it is done again.
    Accept,
    /// Computes the length of the step, the time of each substep and all uniforms.
    Uniforms,
    /// Fills ghost cells of buffers to a depth, from cells of the same device and by the rules of boundaries.
    Fill {
        /// Names of the buffers.
        buffers: Vec<String>,
        /// The depth.
        depth: Depth,
    },
    /// Fills ghost cells of buffers to a depth from cells of other devices.
    Exchange {
        /// The half of the exchange that happens here.
        phase: Phase,
        /// Names of the buffers.
        buffers: Vec<String>,
        /// The depth.
        depth: Depth,
    },
    /// Runs a kernel on a region of each patch.
    Launch {
        /// Index into [`Plan::launches`].
        launch: usize,
        /// The region.
        region: Region,
    },
    /// Exchanges each of these fields with its new values, and then some of the previous values with what was kept before.
    Swap {
        /// Names of the fields.
        fields: Vec<String>,
        /// The accumulators that take previous values, each behind its field.
        kept: Vec<(String, String)>,
    },
}

/// One half of an exchange of ghost cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Sends values: the cells that they come from stay as they are until the wait.
    Post,
    /// Waits for the values and stores them in ghost cells.
    Wait,
}

/// The part of a patch that a launch computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Region {
    /// All blocks.
    #[default]
    Whole,
    /// Blocks that read no ghost cells of other devices: see [`Plan::rim`] and
    /// [`Kernel::split`](crate::kernel::Kernel::split).
    Interior,
    /// All other blocks. They need nothing of the interior, so that both may run at once.
    Rim,
}

impl Launch {
    /// Ghost cells that it needs of a buffer that it reads at offsets up to `read`.
    pub fn depth(&self, read: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| match self.wrapped[axis] {
            true => 0,
            false => read[axis] + self.extend[axis],
        })
    }

    /// Cells beyond the interior that it computes, and those of them whose values count beyond faces of the mesh.
    pub fn computed(&self) -> Depth {
        let beyond =
            std::array::from_fn(|axis| self.extend[axis].saturating_sub(self.redundant[axis]));
        Depth { towards: self.extend, beyond, computed: [0; 3] }
    }

    /// Cells beyond faces of the mesh that it needs of a buffer that it reads at offsets up to `read`.
    pub fn beyond(&self, read: [u32; 3]) -> [u32; 3] {
        let depth = self.depth(read);
        std::array::from_fn(|axis| depth[axis].saturating_sub(self.redundant[axis]))
    }
}

impl Step {
    /// Returns the number of the launch that it runs, the whole of it or its last region; `None` for other steps.
    pub fn launch(&self) -> Option<usize> {
        match self {
            Step::Launch { launch, region } if *region != Region::Interior => Some(*launch),
            _ => None,
        }
    }

    /// Returns the buffers that change places, in their order.
    pub fn exchanged(&self) -> Vec<(String, String)> {
        let Step::Swap { fields, kept } = self else {
            return Vec::new();
        };
        let fields = fields.iter().map(|name| (name.clone(), make::new_name(name)));
        let kept = kept.iter().map(|(field, kept)| (make::new_name(field), kept.clone()));
        fields.chain(kept).collect()
    }
}

impl Plan {
    /// Returns each fill of ghost cells: the buffers and the depth.
    pub fn fills(&self) -> impl Iterator<Item = (&[String], Depth)> {
        self.steps.iter().filter_map(|step| match step {
            Step::Fill { buffers, depth } => Some((buffers.as_slice(), *depth)),
            _ => None,
        })
    }

    /// Do reduced quantities decide the length of a step, and whether the step before is accepted?
    pub fn adapts(&self) -> [bool; 2] {
        let has = |wanted: fn(&Step) -> bool| self.steps.iter().any(wanted);
        [has(|step| matches!(step, Step::Reduce { .. })), has(|step| matches!(step, Step::Accept))]
    }

    /// Returns the steps of each substep, the last of which exchanges fields with their new values.
    pub fn substeps(&self) -> impl Iterator<Item = &[Step]> {
        let ends = |step: &Step| matches!(step, Step::Swap { .. });
        self.steps.split_inclusive(ends)
    }

    /// Returns the cells beyond faces of the mesh, along x, y, z, that launches read of a buffer for values that count.
    pub fn read_beyond(&self, name: &str) -> [u32; 3] {
        let of = |launch: &Launch| {
            let read = launch.inputs.iter().find(|(input, _)| input == name);
            read.map_or([0; 3], |(_, read)| launch.beyond(*read))
        };
        self.launches.iter().map(of).fold([0; 3], max3)
    }

    /// The buffer of this name.
    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.iter().find(|b| b.name == name)
    }

    /// The place among the buffers of the one whose memory a buffer lives in: often its own.
    pub fn memory_of(&self, buffer: usize) -> usize {
        let within = self.buffers.get(buffer).and_then(|b| b.within.as_ref());
        let home = |name: &String| self.buffers.iter().position(|b| b.name == *name);
        within.and_then(home).unwrap_or(buffer)
    }

    /// The name of the array that launches access for a buffer: the previous value of a field is in the array for its new values.
    pub fn array_of<'a>(&'a self, name: &'a str) -> &'a str {
        let home = self.buffer(name).and_then(|b| b.within.as_deref());
        let is_new = |home: &&str| {
            let home = self.buffer(home);
            home.is_some_and(|home| home.role == BufferRole::NewField)
        };
        home.filter(is_new).unwrap_or(name)
    }

    /// Returns the accumulators that hold a field as it was before the step, from the end of the first substep to that of the
    /// step, each behind its field.
    pub fn before_the_step(&self) -> Vec<(&str, &str)> {
        let mut swaps = self.steps.iter().filter_map(|step| match step {
            Step::Swap { kept, .. } => Some(kept),
            _ => None,
        });
        let first = swaps.next().into_iter().flatten();
        let later: Vec<&String> = swaps.flatten().map(|(_, kept)| kept).collect();
        let outputs = || self.launches.iter().flat_map(|launch| &launch.outputs);
        let stays = |kept: &String| !later.contains(&kept) && outputs().all(|(of, _)| of != kept);
        let stays = first.filter(|(_, kept)| stays(kept));
        stays.map(|(field, kept)| (field.as_str(), kept.as_str())).collect()
    }

    /// Number of arrays that the buffers take.
    pub fn memories(&self) -> usize {
        self.buffers.iter().filter(|b| b.within.is_none()).count()
    }

    /// The deepest halo of all buffers: every buffer of a patch is laid out for it.
    pub fn halo(&self) -> [u32; 3] {
        self.buffers.iter().fold([0; 3], |halo, b| max3(halo, b.halo))
    }
}

/// The larger of each component.
pub fn max3(a: [u32; 3], b: [u32; 3]) -> [u32; 3] {
    [a[0].max(b[0]), a[1].max(b[1]), a[2].max(b[2])]
}
