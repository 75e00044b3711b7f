//! Compiled programs: the expansion of `pde!`, and the computation of a part of a patch by it.

use std::marker::PhantomData;

use stencil_compiler::emit::RowInput;
use stencil_compiler::expr::Real;

use super::instructions::{self, Checked, OnLanes};
pub use super::lanes::Lanes;
use super::lanes::Registers;
use super::loaded::Loaded;
use super::prefetch::{LINE, Prefetch, prefetch};
use super::row::{Rows, Stage};
use super::row_blocks::RowBlock;

/// A kernel over rows as the macro writes it: `U` uniforms, `I` rows read, `O` rows written.
pub trait RowKernel<const U: usize, const I: usize, const O: usize>: Sized {
    /// The rows of the kernel.
    const TABLES: Tables;
    /// Computes some neighbouring cells of a row: a value for each output. Always inlined.
    fn cells<V: Lanes>(at: Cells<'_, Self, V, U, I, O>) -> [V; O];
}

/// Description of the rows of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// The kernel's name.
    pub name: &'static str,
    /// Buffers, by the names of the plan.
    pub buffers: &'static [&'static str],
    /// Uniforms, by the names of the algorithm.
    pub uniforms: &'static [&'static str],
    /// Rows that are read.
    pub inputs: &'static [RowInput],
    /// Buffers that the kernel writes, a row of each.
    pub outputs: &'static [usize],
}

/// Neighbouring cells in a row of each buffer, as many as `V` has lanes.
///
/// Only the runtime makes one, after it checked that all rows reach as far as the kernel's tables say.
#[derive(Debug)]
pub struct Cells<'a, K, V: Lanes, const U: usize, const I: usize, const O: usize> {
    uniforms: &'a [V; U],
    rows: &'a Rows<V::Value, I, O>,
    /// The first cell.
    x: usize,
    kernel: PhantomData<K>,
}

impl<K: RowKernel<U, I, O>, V: Lanes, const U: usize, const I: usize, const O: usize>
    Cells<'_, K, V, U, I, O>
{
    /// The uniforms, each in all lanes.
    #[inline(always)]
    pub fn uniforms(&self) -> [V; U] {
        *self.uniforms
    }

    /// A literal in all lanes.
    #[inline(always)]
    pub fn literal(&self, value: f64) -> V {
        V::splat(V::Value::from_f64(value))
    }

    /// Reads a row that is only read, `x` cells further along.
    ///
    /// # Panics
    /// If the kernel's tables do not have that cell. Arguments are constants, so this is seen when the kernel is
    /// compiled, and costs nothing.
    #[inline(always)]
    pub fn load(&self, input: usize, x: isize) -> V {
        let RowInput { x_lo, x_hi, .. } = K::TABLES.inputs[input];
        assert!(x >= -(x_lo as isize) && x <= x_hi as isize, "a cell in the tables");
        // SAFETY: `Rows` checked that the row reaches `x_lo` before and `x_hi` behind all cells.
        unsafe { V::load(self.rows.inputs[input].offset(self.x as isize + x)) }
    }

    /// Reads the old values of a row that is written.
    #[inline(always)]
    pub fn old(&self, output: usize) -> V {
        // SAFETY: `Rows` checked that the row has all cells.
        unsafe { V::load(self.rows.outputs[output].add(self.x)) }
    }
}

/// A kernel compiled for both precisions and all instructions.
#[derive(Clone, Copy, Debug)]
pub struct CompiledKernel {
    pub(crate) tables: Tables,
    pub(crate) f32: Entry<f32>,
    pub(crate) f64: Entry<f64>,
}

/// One precision of a compiled kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<T> {
    /// A function of this program.
    Own(fn(Checked, Work<'_>, RowBlock<'_, T>)),
    /// A function that was loaded.
    Loaded(Loaded<T>),
    /// The kernel was compiled for the other precision alone.
    Missing,
}

impl<T: Real> Entry<T> {
    /// Computes a part of a patch.
    pub(super) fn run(&self, instructions: Checked, work: Work<'_>, part: RowBlock<'_, T>) {
        match self {
            Entry::Own(function) => function(instructions, work, part),
            Entry::Loaded(loaded) => loaded.run(work, part),
            // No launch is prepared with it.
            Entry::Missing => {}
        }
    }
}

/// The places of a kernel's rows, the same for each part of the patch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    /// For each input the index of its array among the arrays of the part.
    pub(super) arrays: &'a [usize],
}

impl CompiledKernel {
    /// The kernel `K`.
    pub const fn of<K: RowKernel<U, I, O>, const U: usize, const I: usize, const O: usize>() -> Self
    {
        CompiledKernel {
            tables: K::TABLES,
            f32: Entry::Own(enter::<K, f32, U, I, O>),
            f64: Entry::Own(enter::<K, f64, U, I, O>),
        }
    }
}

fn enter<K: RowKernel<U, I, O>, T: Registers, const U: usize, const I: usize, const O: usize>(
    instructions: Checked,
    work: Work<'_>,
    part: RowBlock<'_, T>,
) {
    let kernel = PhantomData::<K>;
    instructions::run_on_lanes(instructions, Run::<K, T, U, I, O> { work, part, kernel });
}

struct Run<'a, K, T, const U: usize, const I: usize, const O: usize> {
    work: Work<'a>,
    part: RowBlock<'a, T>,
    kernel: PhantomData<K>,
}

impl<K: RowKernel<U, I, O>, T: Registers, const U: usize, const I: usize, const O: usize> OnLanes
    for Run<'_, K, T, U, I, O>
{
    type Value = T;

    #[inline(always)]
    fn run<V: Lanes<Value = T>>(self) {
        let Run { work, part, .. } = self;
        let uniforms: [V; U] = std::array::from_fn(|i| V::splat(part.uniforms[i]));
        let (count, length) = (part.rows, part.length);
        let steps = part.steps.of(length, V::COUNT);
        let mut ahead = Prefetch::new(&part, K::TABLES.inputs, work.arrays);
        let mut rows = Rows::<T, I, O>::of(K::TABLES.inputs, work, part);
        let mut stage =
            (length < V::COUNT).then(|| Stage::new(K::TABLES.inputs, O, length, V::COUNT));
        for row in 0..count {
            // One call, so that the kernel is in the program once.
            let staged = stage.as_mut().map(|stage| {
                stage.fill(&rows.inputs, &rows.outputs);
                Rows::on(stage)
            });
            let now = staged.as_ref().unwrap_or(&rows);
            cells_of_row::<K, V, U, I, O>(&uniforms, now, steps, ahead.of_row(row));
            if let Some(stage) = &stage {
                stage.give_back(&rows.outputs);
            }
            rows.advance();
        }
    }
}

/// Computes a row of at least as many cells as a register has lanes.
#[inline(always)]
fn cells_of_row<K, V: Lanes, const U: usize, const I: usize, const O: usize>(
    uniforms: &[V; U],
    rows: &Rows<V::Value, I, O>,
    steps: &[Step],
    ahead: &[*const V::Value],
) where
    K: RowKernel<U, I, O>,
{
    let mut asides = [[V::splat(V::Value::ZERO); O]; 2];
    let [first, last] = asides.each_mut().map(|values| {
        let address = |value| std::ptr::from_mut::<V>(value).cast();
        values.each_mut().map(address)
    });
    let targets = [rows.outputs, first, last];
    for step in steps {
        if step.looks_ahead {
            prefetch(ahead, step.x);
        }
        let new = K::cells(Cells { uniforms, rows, x: step.x, kernel: PhantomData });
        for (value, row) in new.into_iter().zip(&targets[step.to]) {
            // SAFETY: rows are as long as the steps were made for, asides as a register.
            unsafe { value.store(row.add(step.at)) };
        }
    }
    for step in steps.iter().take_while(|step| step.to > 0) {
        for (value, row) in asides[step.to - 1].into_iter().zip(&rows.outputs) {
            // SAFETY: as above.
            unsafe { value.store(row.add(step.x)) };
        }
    }
}

/// Some neighbouring cells of a row, as many as a register has lanes. Loaded kernels read it as it lies in memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Step {
    /// The first of these cells.
    pub(super) x: usize,
    /// Destination of the values: 0 for their row, other numbers for memory aside, and the place there. Steps aside
    /// are computed first, from old values, and written last.
    pub(super) to: usize,
    pub(super) at: usize,
    /// Are the rows of the next part prefetched?
    pub(super) looks_ahead: bool,
}

/// The steps of a row: whole registers from cell `skew` on, at aligned memory. If some cells are left over, steps for
/// the first and for the last cells follow, some of which other steps compute too. So no cell is left to slower code.
///
/// A list, since the compiler would copy the kernel for each special step in the code.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    length: usize,
    lanes: usize,
    list: Vec<Step>,
}

impl Steps {
    /// The steps of a row of so many cells in the registers of some instructions.
    pub(super) fn new<T: Real>(instructions: Checked, length: usize, skew: usize) -> Self {
        let lanes = instructions.register_bytes() / T::BYTES;
        let (n, skew) = match length < lanes {
            // Short rows are computed in memory with room for a whole register.
            true => (lanes, 0),
            false => (length, skew % lanes),
        };
        let aside = |is_there: bool, x: usize, to: usize| {
            is_there.then_some(Step { x, to, at: 0, looks_ahead: false })
        };
        let first = aside(skew > 0, 0, 1);
        let last = aside(!(n - skew).is_multiple_of(lanes), n - lanes, 2);
        let whole = (0..(n - skew) / lanes).map(|i| Step {
            x: skew + i * lanes,
            to: 0,
            at: skew + i * lanes,
            looks_ahead: (i * lanes * T::BYTES).is_multiple_of(LINE),
        });
        Steps { length, lanes, list: first.into_iter().chain(last).chain(whole).collect() }
    }

    /// The steps, of rows of so many cells in registers with so many lanes.
    ///
    /// # Panics
    /// If the steps were made for other rows.
    #[inline]
    pub(super) fn of(&self, length: usize, lanes: usize) -> &[Step] {
        assert_eq!((self.length, self.lanes), (length, lanes), "steps are for these rows");
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Instructions;

    #[test]
    fn steps_cover_each_cell_and_read_no_new_value() {
        for instructions in Instructions::available() {
            let instructions = Checked::new(instructions).unwrap();
            for n in [1, 5, 16, 17, 31, 64, 129] {
                for skew in [0, 1, 3, 7] {
                    check::<f64>(instructions, n, skew);
                    check::<f32>(instructions, n, skew);
                }
            }
        }
    }

    fn check<T: Real>(instructions: Checked, length: usize, skew: usize) {
        let lanes = instructions.register_bytes() / T::BYTES;
        let n = length.max(lanes);
        let steps = Steps::new::<T>(instructions, length, skew);
        let mut is_written = vec![false; n];
        let mut aside = Vec::new();
        for step in steps.of(length, lanes) {
            let cells = step.x..step.x + lanes;
            // Old values are read here: no step before has written them.
            assert!(!is_written[cells.clone()].contains(&true), "{n} {skew}");
            match step.to {
                0 => is_written[cells].fill(true),
                to => {
                    assert!(!aside.contains(&to), "{n} {skew}");
                    aside.push(to);
                }
            }
        }
        let list = steps.of(length, lanes).iter();
        let last = list.take_while(|step| step.to > 0);
        assert_eq!(last.clone().count(), aside.len(), "{n} {skew}");
        last.for_each(|step| is_written[step.x..step.x + lanes].fill(true));
        assert!(is_written.iter().all(|is| *is), "{n} {skew}");
    }
}
