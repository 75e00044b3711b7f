//! The `Plan`: what is launched, stored and exchanged, in order, for one time step.
//!
//! Invariants (kept by [`check`](Plan::check)): each buffer is written before it is read; its
//! halo is at least as deep as each read of it; what shares memory is never needed at once; there is
//! no thread and no vendor.

use crate::schedule::{Blocking, Layout, Placement};

pub mod check;
mod fit;
mod layout;
pub mod make;
mod reuse;
#[cfg(test)]
mod tests;
pub mod text;

pub use fit::{Room, crossable};
pub use layout::Place;
pub use make::plan;

/// What advances the fields by a time step or several, and the arrays that it works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Time steps that it is, at least one.
    pub time_steps: usize,
    /// How the arrays lie in memory.
    pub layout: Layout,
    /// Arrays.
    pub buffers: Vec<Buffer>,
    /// Launches in order of first execution.
    pub launches: Vec<Launch>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// An array over the patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub role: BufferRole,
    /// Ghost cells on both sides along x, y, z.
    pub halo: [u32; 3],
    /// The buffer whose memory it lives in, if it has none of its own: they are never needed at
    /// the same time.
    pub within: Option<String>,
}

/// What a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BufferRole {
    /// A component of a field, as the substep finds it.
    Field,
    /// The new values of a field; its name is the field's with `_new`.
    NewField,
    /// An accumulator of the integrator.
    Accumulator,
    /// Counts in its own cell; zero when a run begins.
    Count,
    /// A grid function that the schedule placed in global memory.
    Derived,
    /// A field that is given from outside, ghost cells and all: no step of the plan writes it.
    Given,
}

/// One kernel to run: what it computes, not how.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Periodic axes along which it reads beyond one end at the other, not from ghost cells. There
    /// are at least as many cells along these as it reads beyond an end.
    pub wrapped: [bool; 3],
    /// Placements of the grid functions inside it other than [`Placement::Inline`].
    pub placements: Vec<(String, Placement)>,
    /// How it is blocked.
    pub blocking: Blocking,
}

/// One entry of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Fills ghost cells of buffers to a depth.
    Fill {
        /// Which buffers.
        buffers: Vec<String>,
        /// How deep along x, y, z.
        depth: [u32; 3],
    },
    /// Runs a kernel; index into [`Plan::launches`].
    Launch(usize),
    /// Exchanges each of these fields with its new values.
    Swap {
        /// Names of the fields.
        fields: Vec<String>,
    },
}

impl Launch {
    /// Ghost cells that it needs of a buffer that it reads at offsets up to `read`.
    pub fn depth(&self, read: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| match self.wrapped[axis] {
            true => 0,
            false => read[axis] + self.extend[axis],
        })
    }
}

impl Plan {
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

    /// Number of arrays that the buffers take.
    pub fn memories(&self) -> usize {
        self.buffers.iter().filter(|b| b.within.is_none()).count()
    }

    /// The deepest halo of all buffers: every buffer of a patch is laid out for it.
    pub fn halo(&self) -> [u32; 3] {
        self.buffers
            .iter()
            .fold([0; 3], |halo, b| max3(halo, b.halo))
    }
}

/// The larger of each component.
pub fn max3(a: [u32; 3], b: [u32; 3]) -> [u32; 3] {
    [a[0].max(b[0]), a[1].max(b[1]), a[2].max(b[2])]
}
