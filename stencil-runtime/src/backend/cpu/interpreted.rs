//! Parts computed by the row engine.

use stencil_compiler::algorithm::rows::{RowProgram, RowScratch};

use super::instructions::{self, Checked, Vectorized};
use super::parts::Part;
use crate::Number;

/// A part computed by the row engine.
pub(crate) struct Interpreted<'a, T> {
    pub(crate) program: &'a RowProgram,
    pub(crate) scratch: &'a mut RowScratch<T>,
    pub(crate) part: Part<'a, T>,
}

impl<T: Number> Vectorized for Interpreted<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Part {
            shape,
            first,
            rows,
            length,
            inputs,
            margin,
            outputs,
            ..
        } = self.part;
        let pitch = shape.layout.pitch;
        let mut outputs: Vec<_> = outputs
            .into_iter()
            .map(|values| values[margin..].chunks_mut(pitch))
            .collect();
        for row in 0..rows {
            let mut now: Vec<&mut [T]> = outputs
                .iter_mut()
                .filter_map(|rows| rows.next())
                .map(|r| &mut r[..length])
                .collect();
            let first = [first[0], first[1] + row as isize, first[2]];
            self.program
                .run(self.scratch, inputs, shape.layout, first, &mut now);
        }
    }
}

/// Computes a part by the row engine; not generic, so that it is compiled here and once.
macro_rules! interpreted {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(
            instructions: Checked,
            program: &RowProgram,
            scratch: &mut RowScratch<$type>,
            part: Part<'_, $type>,
        ) {
            instructions::run(
                instructions,
                Interpreted {
                    program,
                    scratch,
                    part,
                },
            );
        }
    };
}
interpreted!(rows_f32, f32);
interpreted!(rows_f64, f64);
