//! Parts computed by the row engine.

use std::marker::PhantomData;

use stencil_compiler::algorithm::rows::{Cells, Read, RowProgram, RowScratch};

use super::instructions::{self, Checked, OnLanes};
use super::lanes::{Lanes, Registers};
use super::row_blocks::RowBlock;

/// A part computed by the row engine.
pub(crate) struct Interpreted<'a, T> {
    pub(crate) program: &'a RowProgram,
    pub(crate) scratch: &'a mut RowScratch<T>,
    pub(crate) part: RowBlock<'a, T>,
}

/// The registers of an instruction set, as the row engine fills and stores them.
pub(super) struct Wide<V>(PhantomData<V>);

impl<V: Lanes> Cells for Wide<V> {
    type Value = V::Value;
    type Lanes = V;
    const COUNT: usize = V::COUNT;

    #[inline(always)]
    fn splat(value: V::Value) -> V {
        V::splat(value)
    }
    #[inline(always)]
    fn load(from: &[V::Value]) -> V {
        let from = &from[..V::COUNT];
        // SAFETY: there are as many values as lanes.
        unsafe { V::load(from.as_ptr()) }
    }
    #[inline(always)]
    fn store(lanes: V, to: &mut [V::Value]) {
        let to = &mut to[..V::COUNT];
        // SAFETY: there are as many values as lanes.
        unsafe { lanes.store(to.as_mut_ptr()) }
    }
}

impl<T: Registers> OnLanes for Interpreted<'_, T> {
    type Value = T;

    #[inline(always)]
    fn run<V: Lanes<Value = T>>(self) {
        let RowBlock { first: [x, y, z], rows, length, inputs, outputs, .. } = self.part;
        let mut outputs: Vec<_> =
            outputs.into_iter().map(|target| target.values.chunks_mut(target.pitch)).collect();
        let (program, scratch) = (self.program, self.scratch);
        let mut reads: Vec<&[T]> = Vec::with_capacity(program.reads().len());
        for row in 0..rows {
            let mut now: Vec<&mut [T]> = outputs
                .iter_mut()
                .filter_map(|rows| rows.next())
                .map(|r| &mut r[..length])
                .collect();
            let y = y + row as isize;
            let read = |read: &Read| {
                let at = [x - read.x_lo as isize, y + read.dy as isize, z + read.dz as isize];
                inputs[read.input].from(at)
            };
            reads.clear();
            reads.extend(program.reads().iter().map(read));
            if calls_functions::<V>() {
                program.run_rows(scratch, &reads, &mut now);
            } else {
                program.run_in::<Wide<V>>(scratch, &reads, &mut now);
            }
        }
    }
}

/// Is each multiply-add a call of a function? Then wide registers gain little, and many calls of them
/// make a long program.
const fn calls_functions<V: Lanes>() -> bool {
    const FUSED: bool = cfg!(any(not(target_arch = "x86_64"), target_feature = "fma"));
    const BASELINE_BYTES: usize = 16;
    !FUSED && V::COUNT * size_of::<V::Value>() <= BASELINE_BYTES
}

/// Computes a part by the row engine; not generic, so that it is compiled here and once.
macro_rules! interpreted {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(
            instructions: Checked,
            program: &RowProgram,
            scratch: &mut RowScratch<$type>,
            part: RowBlock<'_, $type>,
        ) {
            instructions::run_on_lanes(instructions, Interpreted { program, scratch, part });
        }
    };
}
interpreted!(rows_f32, f32);
interpreted!(rows_f64, f64);

#[cfg(test)]
mod tests {
    use stencil_compiler::algorithm::rows::Layout;
    use stencil_compiler::algorithm::text::parse;

    use super::*;
    use crate::Instructions;

    const SYSTEM: &str = r#"
algorithm Everything 2d
scheme "none"
state q field
state acc accumulator
uniform c = dt / dx
fn q = state q
fn acc = state acc
fn pair = q[1,0,0] - q[-1,0,0]
fn long = sum { + c * pair, - c * q[2,0,0], + q, - q[-2,0,0], + c * pair[1,0,0], - q, + c * q[1,0,0], + q }
fn limited = max(exp(long) * sin(q), lt(long, q, pair, -q))
fn flux = sqrt(abs(limited[1,0,0])) / (q + 3.0)
fn acc_1 = fma(c, acc, flux - flux[-1,0,0])
fn q_1 = fma(c, acc_1, q)
substep { q = q_1, acc = acc_1 }
"#;

    /// A row of an array that ends with this row, in registers of an instruction set.
    struct OneRow<'a, T> {
        program: &'a RowProgram,
        q: &'a [T],
        rows: &'a mut [Vec<T>; 2],
    }

    fn layout<T>(q: &[T], length: usize, program: &RowProgram) -> Layout {
        Layout { origin: program.halo()[0] as usize, pitch: q.len(), plane: q.len() * length }
    }

    impl<T: Registers> OnLanes for OneRow<'_, T> {
        type Value = T;
        fn run<V: Lanes<Value = T>>(self) {
            let mut outputs = self.rows.each_mut().map(Vec::as_mut_slice);
            let mut scratch = self.program.scratch(&[T::from_f64(0.3)]);
            let halo = self.program.halo()[0] as usize;
            let read = |read: &Read| &self.q[halo - read.x_lo..];
            let reads: Vec<&[T]> = self.program.reads().iter().map(read).collect();
            self.program.run_in::<Wide<V>>(&mut scratch, &reads, &mut outputs);
        }
    }

    fn registers_agree_with_single_cells<T: Registers>(length: usize) {
        let algorithm = parse(SYSTEM).unwrap();
        let program = RowProgram::new(&algorithm, 0).unwrap();
        let value = |i: usize| T::from_f64(((i * 37 + 11) % 101) as f64 / 50.0 - 1.0);
        let q: Vec<T> = (0..length + 2 * program.halo()[0] as usize).map(value).collect();
        let old = [vec![T::ZERO; length], (7..length + 7).map(value).collect()];
        let mut expected = old.clone();
        for x in 0..length {
            let mut scratch = program.scratch(&[T::from_f64(0.3)]);
            let mut cell = expected.each_mut().map(|row| &mut row[x..=x]);
            let layout = layout(&q, length, &program);
            program.run(&mut scratch, &[&q], layout, [x as isize, 0, 0], &mut cell);
        }
        for instructions in Instructions::available() {
            let mut rows = old.clone();
            let work = OneRow { program: &program, q: &q, rows: &mut rows };
            instructions::run_on_lanes(Checked::new(instructions).unwrap(), work);
            let bits = |rows: &[Vec<T>; 2]| {
                rows.concat().into_iter().map(T::canonical_bits).collect::<Vec<_>>()
            };
            assert_eq!(
                bits(&rows),
                bits(&expected),
                "{length} cells, {}, {instructions:?}",
                T::NAME
            );
        }
    }

    #[test]
    fn all_registers_give_the_bits_of_single_cells() {
        for length in [1, 5, 16, 63, 64, 65, 200, 1500] {
            registers_agree_with_single_cells::<f32>(length);
            registers_agree_with_single_cells::<f64>(length);
        }
    }
}
