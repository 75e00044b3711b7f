//! Compiled programs: what `pde!` expands to, and how a part of a patch is computed by it.

use stencil_compiler::emit::RowInput;
use stencil_compiler::expr::Real;

use super::instructions::{self, Checked, Vectorized};
use super::parts::Part;
use crate::Number;

/// A kernel over rows as the macro writes it: `U` uniforms, `I` rows read, `O` rows written.
pub trait RowKernel<const U: usize, const I: usize, const O: usize> {
    /// Computes one row of `n` cells. Always inlined.
    fn row<T: Real>(n: usize, uniforms: &[T; U], inputs: &[&[T]; I], outputs: &mut [&mut [T]; O]);
}

/// What the rows of a kernel are.
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
    /// Buffers of which a row is written.
    pub outputs: &'static [usize],
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
pub(crate) struct Entry<T>(pub(super) fn(Checked, Work<'_>, Part<'_, T>));

/// Where the rows of a kernel are, the same for each part of the patch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work<'a> {
    /// For each input the distance of its first cell from the first cell of the own row.
    pub(super) shifts: &'a [isize],
    /// For each input how much longer it is than the own row.
    pub(super) margins: &'a [usize],
    /// For each input its array among the part's.
    pub(super) arrays: &'a [usize],
}

impl CompiledKernel {
    /// The kernel `K`.
    pub const fn of<K: RowKernel<U, I, O>, const U: usize, const I: usize, const O: usize>(
        tables: Tables,
    ) -> Self {
        CompiledKernel {
            tables,
            f32: Entry(enter::<K, f32, U, I, O>),
            f64: Entry(enter::<K, f64, U, I, O>),
        }
    }
}

fn enter<K: RowKernel<U, I, O>, T: Number, const U: usize, const I: usize, const O: usize>(
    instructions: Checked,
    work: Work<'_>,
    part: Part<'_, T>,
) {
    let Ok(uniforms) = <&[T; U]>::try_from(part.uniforms) else {
        return;
    };
    instructions::run(
        instructions,
        Rows::<K, T, U, I, O> {
            uniforms,
            work,
            part,
            kernel: std::marker::PhantomData,
        },
    );
}

struct Rows<'a, K, T, const U: usize, const I: usize, const O: usize> {
    uniforms: &'a [T; U],
    work: Work<'a>,
    part: Part<'a, T>,
    kernel: std::marker::PhantomData<K>,
}

impl<K: RowKernel<U, I, O>, T: Number, const U: usize, const I: usize, const O: usize> Vectorized
    for Rows<'_, K, T, U, I, O>
{
    #[inline(always)]
    fn run(self) {
        let Rows {
            uniforms,
            work,
            part,
            ..
        } = self;
        let first = part.shape.index(part.first);
        let pitch = part.shape.layout.pitch;
        let mut rest = part.outputs.into_iter();
        let mut rest: [&mut [T]; O] = std::array::from_fn(|_| rest.next().unwrap_or_default());
        let mut inputs: [&[T]; I] = [&[]; I];
        for row in 0..part.rows {
            let own = first + row * pitch;
            for (slot, input) in inputs.iter_mut().enumerate() {
                let start = own.wrapping_add_signed(work.shifts[slot]);
                *input =
                    &part.inputs[work.arrays[slot]][start..][..part.length + work.margins[slot]];
            }
            let mut outputs = rest.each_mut().map(|rest| {
                let (now, later) = std::mem::take(rest).split_at_mut(if row + 1 < part.rows {
                    pitch
                } else {
                    part.length
                });
                *rest = later;
                &mut now[..part.length]
            });
            K::row(part.length, uniforms, &inputs, &mut outputs);
        }
    }
}
