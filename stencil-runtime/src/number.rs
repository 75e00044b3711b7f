//! The types a simulation may compute with.

use stencil_compiler::algorithm::rows::{RowProgram, RowScratch};
use stencil_compiler::expr::Real;

use crate::backend::cpu::Checked;
use crate::backend::cpu::interpreted::{rows_f32, rows_f64};
use crate::backend::cpu::program::{CompiledKernel, Entry};
use crate::backend::cpu::row_blocks::RowBlock;
use crate::io::Element;

/// A type that a simulation computes with: `f32` or `f64`.
///
/// ```
/// fn bytes<T: stencil_runtime::Number>() -> usize {
///     T::BYTES
/// }
/// assert_eq!(bytes::<f32>(), 4);
/// ```
pub trait Number: Real + Element + sealed::Sealed {
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "sealed: only the runtime calls it")]
    fn entry(kernel: &CompiledKernel) -> Entry<Self>;
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "sealed: only the runtime calls it")]
    fn rows(
        instructions: Checked,
        program: &RowProgram,
        scratch: &mut RowScratch<Self>,
        part: RowBlock<'_, Self>,
    );
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

macro_rules! number {
    ($type:ident, $rows:ident) => {
        impl Number for $type {
            #[expect(private_interfaces, reason = "sealed: only the runtime calls it")]
            fn entry(kernel: &CompiledKernel) -> Entry<Self> {
                kernel.$type
            }
            #[expect(private_interfaces, reason = "sealed: only the runtime calls it")]
            fn rows(
                instructions: Checked,
                program: &RowProgram,
                scratch: &mut RowScratch<Self>,
                part: RowBlock<'_, Self>,
            ) {
                $rows(instructions, program, scratch, part);
            }
        }
    };
}
number!(f32, rows_f32);
number!(f64, rows_f64);
