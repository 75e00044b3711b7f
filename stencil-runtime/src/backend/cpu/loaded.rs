//! Kernels over rows that were compiled from C and loaded.

use stencil_compiler::emit::RowInput;
use stencil_compiler::expr::Real;

use super::prefetch::Prefetch;
use super::program::{Step, Work};
use super::row::{Stage, first_read, first_written};
use super::row_blocks::RowBlock;

/// The function of a kernel in a library, see [`emit::c`](stencil_compiler::emit::c).
pub(super) type Function<T> = unsafe extern "C" fn(
    inputs: *const *const T,
    outputs: *const *mut T,
    uniforms: *const T,
    steps: *const Step,
    count: usize,
    ahead: *const *const T,
    aheads: usize,
);

/// A kernel of a library that stays loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loaded<T> {
    function: Function<T>,
    inputs: &'static [RowInput],
    outputs: usize,
    lanes: usize,
}

impl<T: Real> Loaded<T> {
    /// A kernel that reads and writes rows in registers with so many lanes.
    ///
    /// # Safety
    /// The function is that of a kernel with these rows and lanes, its library stays loaded, and the processor has its
    /// instructions.
    pub(super) unsafe fn new(
        function: Function<T>,
        inputs: &'static [RowInput],
        outputs: usize,
        lanes: usize,
    ) -> Self {
        Loaded { function, inputs, outputs, lanes }
    }

    /// Computes a part of a patch.
    ///
    /// # Panics
    /// If a row of the part does not lie in its array.
    pub(super) fn run(&self, work: Work<'_>, mut part: RowBlock<'_, T>) {
        let (count, length) = (part.rows, part.length);
        let steps = part.steps.of(length, self.lanes);
        let mut ahead = Prefetch::new(&part, self.inputs, work.arrays);
        let views = work.arrays.iter().map(|array| &part.inputs[*array]);
        let inputs = self.inputs.iter().zip(views).map(|(row, view)| first_read(row, view, &part));
        let (mut inputs, read): (Vec<*const T>, Vec<usize>) = inputs.unzip();
        let outputs = part.outputs.iter_mut().map(|target| first_written(target, [count, length]));
        let (mut outputs, written): (Vec<*mut T>, Vec<usize>) = outputs.unzip();
        assert_eq!((inputs.len(), outputs.len()), (self.inputs.len(), self.outputs), "all rows");
        let mut stage = (length < self.lanes)
            .then(|| Stage::new(self.inputs, self.outputs, length, self.lanes));
        let mut asides = vec![T::ZERO; 2 * self.outputs * self.lanes];
        for row in 0..count {
            match &mut stage {
                None => self.row(
                    &inputs,
                    &outputs,
                    part.uniforms,
                    steps,
                    &mut asides,
                    ahead.of_row(row),
                ),
                Some(stage) => {
                    stage.fill(&inputs, &outputs);
                    let (from, to) = stage.rows();
                    let (from, to): (Vec<_>, Vec<_>) = (from.collect(), to.collect());
                    self.row(&from, &to, part.uniforms, steps, &mut asides, &[]);
                    stage.give_back(&outputs);
                }
            }
            inputs.iter_mut().zip(&read).for_each(|(row, pitch)| *row = row.wrapping_add(*pitch));
            outputs
                .iter_mut()
                .zip(&written)
                .for_each(|(row, pitch)| *row = row.wrapping_add(*pitch));
        }
    }

    /// Computes a row of at least as many cells as a register has lanes.
    fn row(
        &self,
        inputs: &[*const T],
        outputs: &[*mut T],
        uniforms: &[T],
        steps: &[Step],
        asides: &mut [T],
        ahead: &[*const T],
    ) {
        let mut targets = outputs.to_vec();
        targets.extend(asides.chunks_mut(self.lanes).map(<[T]>::as_mut_ptr));
        // SAFETY: rows are as long as the steps were made for, with the cells around them that the kernel reads; memory
        // aside has a register for each output of the first and of the last cells; uniforms are those of the kernel.
        unsafe {
            (self.function)(
                inputs.as_ptr(),
                targets.as_ptr(),
                uniforms.as_ptr(),
                steps.as_ptr(),
                steps.len(),
                ahead.as_ptr(),
                ahead.len(),
            );
        }
        for step in steps.iter().take_while(|step| step.to > 0) {
            let own = asides.chunks((self.outputs * self.lanes).max(1)).nth(step.to - 1);
            let values = own.unwrap_or_default().chunks(self.lanes);
            for (values, row) in values.zip(outputs) {
                // SAFETY: the row has the cells of the step, and nothing else refers to them.
                let to = unsafe { std::slice::from_raw_parts_mut(row.add(step.x), self.lanes) };
                to.copy_from_slice(values);
            }
        }
    }
}
