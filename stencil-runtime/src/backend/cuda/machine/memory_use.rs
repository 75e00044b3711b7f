//! Memory of a card: is there room for the arrays of a run, and how much do they take?

use stencil_compiler::plan::{BufferRole, Plan};
use stencil_compiler::schedule::Layout;

use super::tasks::Task;
use super::{Machine, RESERVE};
use crate::backend::cuda::CudaError;
use crate::backend::cuda::card::Opened;
use crate::backend::cuda::kernels::formulas::Formulas;
use crate::backend::cuda::memory::{ARRAYS, stride};
use crate::field::memory_use;
use crate::field::{Cut, Shape};
use crate::{Error, MemoryUse, Number};

impl<T: Number> Machine<T> {
    /// Returns the memory that it takes on the card, of several on the first: all of it is allocated when it is made.
    pub(super) fn memory_used(&self) -> MemoryUse {
        let kept = self.kept.len();
        let counts = [self.memory.count() - kept, kept];
        let fused = self.fused.iter().flat_map(|fused| &fused.tasks);
        let tasks = self.substeps.iter().chain(fused).flatten();
        let lists = tasks.map(Task::bytes);
        let formulas = self.formulas.as_ref().map_or(0, Formulas::bytes);
        let others = [
            self.memory.packing(),
            self.tree.bytes(),
            self.clock.bytes(),
            self.ghosts.bytes(),
            formulas,
            self.looks[0].bytes(),
        ];
        let own = &self.cut.patches.list()[self.cut.patches.owned(self.first)];
        let on = (own, self.cut.patch.halo);
        MemoryUse {
            others: others.iter().sum::<usize>() + lists.sum::<usize>(),
            ..MemoryUse::of_arrays(on, T::BYTES, counts, self.memory.bytes())
        }
    }
}

/// Is there room on each card, and are there few enough arrays and cells?
pub(super) fn fits<T: Number>(
    (first, cards): (usize, &[Opened]),
    plan: &Plan,
    cut: &Cut,
    kept: usize,
) -> Result<(), Error> {
    if plan.buffers.len() > ARRAYS {
        return Err(Error::Bug(format!(
            "a plan with {} buffers; kernels of ghost cells take {ARRAYS}",
            plan.buffers.len()
        )));
    }
    let most = plan.places().iter().map(|place| place.of).max();
    counted(&cut.patch, most.unwrap_or(1))?;
    let mut all = (first..).zip(cards);
    all.try_for_each(|(owner, card)| {
        let several = (cut.patches.devices > 1).then_some(card.card.ordinal);
        fits_on::<T>((card, several), plan, cut, (kept, cut.patches.owned(owner).len()))
    })
}

/// Is there room on a card for so many patches? Its number is told if it is one of several.
fn fits_on<T: Number>(
    (card, several): (&Opened, Option<usize>),
    plan: &Plan,
    cut: &Cut,
    (kept, patches): (usize, usize),
) -> Result<(), Error> {
    let shape = &cut.patch;
    // An array that crosses the bus is packed first if its values lie apart, and surfaces begin as copies of zeros.
    let packed = usize::from(plan.layout != Layout::Soa);
    let [free, total] = card.memory()?;
    let count = plan.memories() + kept;
    let needed = |shape: &Shape| (count * patches + packed) * stride::<T>(shape) + RESERVE;
    if needed(shape) <= free {
        return Ok(());
    }
    Err(Error::Cuda(CudaError::Memory {
        card: several,
        needed: needed(shape),
        free,
        total,
        arrays: arrays(plan, kept, patches * stride::<T>(shape)),
        fits: largest(cut, T::BYTES, |shape| needed(shape) <= free),
    }))
}

/// Returns the arrays of a plan by their roles, and kept fields, with their bytes if one takes so many.
fn arrays(plan: &Plan, kept: usize, bytes: usize) -> Vec<(String, usize)> {
    let mut arrays: Vec<(String, usize)> = Vec::new();
    let of_role = |role| {
        let own = plan.buffers.iter().filter(|b| b.within.is_none());
        own.filter(move |b| b.role == role).count()
    };
    for (role, what) in [
        (BufferRole::Field, "fields"),
        (BufferRole::NewField, "new values of fields"),
        (BufferRole::Accumulator, "accumulators"),
        (BufferRole::Kept, "fields as they were before a substep"),
        (BufferRole::Count, "counts"),
        (BufferRole::Derived, "stored grid functions"),
        (BufferRole::Given, "sources"),
    ] {
        arrays.push((format!("{} {what}", of_role(role)), of_role(role) * bytes));
    }
    arrays.push((format!("{kept} fields and counts as they were, for `keep_last`"), kept * bytes));
    arrays.retain(|(_, bytes)| *bytes > 0);
    arrays
}

/// Checks that 32 bits count the values of an array, or of so many arrays that lie side by side, as kernels do.
fn counted(shape: &Shape, of: usize) -> Result<(), CudaError> {
    let values = shape.len().saturating_mul(of);
    if values <= i32::MAX as usize {
        return Ok(());
    }
    Err(CudaError::TooLarge { cells: shape.cells, values, of })
}

/// Returns the largest grid of the same shape, in as many patches, that fits.
fn largest(cut: &Cut, bytes: usize, fits: impl Fn(&Shape) -> bool) -> [usize; 3] {
    let counts = cut.patches.counts;
    let cells = memory_use::largest(cut.patches.mesh, |cells| {
        let of_patch = std::array::from_fn(|axis| cells[axis].div_ceil(counts[axis]));
        let there = Shape::new(of_patch, cut.patch.halo, bytes);
        there.is_some_and(|shape| fits(&shape))
    });
    std::array::from_fn(|axis| cells[axis].max(counts[axis]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kernels_cannot_count_has_a_way_out() {
        let shape = |n: usize| Shape::new([n; 3], [0; 3], 8).unwrap();
        assert!(counted(&shape(1024), 1).is_ok() && counted(&shape(512), 5).is_ok());
        let alone = counted(&shape(1536), 1).unwrap_err().to_string();
        assert!(
            alone.contains("an array of [1536, 1536, 1536] cells") && !alone.contains("layout"),
            "{alone}"
        );
        // Each of five arrays would be counted.
        let beside = counted(&shape(1024), 5).unwrap_err().to_string();
        assert!(
            beside.starts_with("5 arrays of [1024, 1024, 1024] cells")
                && beside.ends_with("or use `layout soa`, or more patches"),
            "{beside}"
        );
    }
}
