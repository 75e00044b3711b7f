//! Kernels as source text: [`cuda()`] for a GPU, [`rust()`] and [`c()`] for the processor of the host.
//!
//! Emission is pure: the same kernel gives the same bytes. Every name is checked before it is
//! written, and every operation is written out, so a compiler that is told not to contract
//! multiply-adds gives the bits that the algorithm states.

use crate::expr::Expr;
use crate::expr::real::Precision;
use crate::kernel::Kernel;
use crate::model::formula::Formula;

mod c;
mod c_like;
mod cells;
mod cuda;
mod dialect;
mod extremes;
mod functions;
mod head;
mod index;
mod infix;
mod layouts;
mod loops;
mod marks;
mod names;
mod nest;
mod pointwise;
mod rows;
mod rust;
#[cfg(test)]
mod tests;
mod vectors;

pub use c::{C_OPTIONS, c};
pub use marks::{Marked, Places};
pub use names::identifier_ok;
pub use pointwise::pointwise;
pub use rows::{RowAccess, RowInput, row_access};
pub use rust::rust;

/// A kernel as text, and the facts that a launch needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of the entry.
    pub name: String,
    /// The text, complete in itself.
    pub text: String,
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: usize,
    /// Threads of a block along x, y, z.
    pub threads: [u32; 3],
    /// The compute capability that a device must have at least, as in `(9, 0)`.
    pub needs: (u32, u32),
    /// Lines of the text (from 1) that are notes of the kernel, in order, and the notes.
    pub line_notes: Vec<(usize, String)>,
    /// Lines of the text (from 1) that compute a grid function, in order, and its name.
    pub line_origins: Vec<(usize, String)>,
}

impl Source {
    /// The note that covers a line of the text: the last one at or above it.
    pub fn note_at(&self, line: usize) -> Option<&str> {
        let after = self.line_notes.partition_point(|(at, _)| *at <= line);
        self.line_notes[..after].last().map(|(_, note)| note.as_str())
    }
}

/// The number of patches that a launch covers. A kernel describes one; the text computes which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patches {
    /// One: the blocks of the grid are those of the patch.
    One,
    /// A part of the blocks of one, whose buffers are those of this patch alone. The text takes three more parameters,
    /// the first block of the part along x, y, z. Buffers stay parameters and take no registers, so this is faster than
    /// many where a card has few patches. It covers as many cells of each as of the largest, as that of many does.
    Part,
    /// Any number of them, in arrays of equal shape and equally far apart. The text covers as many cells of each as of the
    /// largest: those that a patch does not have are ghost cells of it, which no launch reads before they are filled (see
    /// [`Plan::check`](crate::plan::Plan::check)). The text takes four more parameters, the blocks of a patch along x, y, z
    /// and the values from one patch to the next, and is launched on a grid along x with the blocks of all patches. All
    /// patches stand in one surface as they do in the mesh: with surfaces it takes four more behind all others, the patches
    /// along x and y, and the number of rows and planes from one patch to the next.
    Many,
}

/// The reason why a kernel cannot be written as text.
#[derive(Clone, Debug, PartialEq)]
pub enum EmitError {
    /// A name is not an identifier of the language.
    Name {
        /// The named item.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A literal is infinite or not a number in the precision of the text.
    Literal(f64),
    /// A constant of an integer expression does not fit in 32 bits.
    Constant(i64),
    /// The kernel was lowered for values of another size.
    Precision {
        /// Bytes of a value in the kernel.
        kernel: usize,
        /// Bytes of a value in the text.
        text: usize,
    },
    /// The kernel is for another kind of launch.
    Launch {
        /// Its name.
        kernel: String,
    },
    /// An id that the kernel does not define.
    Unknown {
        /// The kind of the id.
        what: &'static str,
        /// The id.
        id: usize,
    },
    /// A statement or position that a kernel over rows cannot have.
    Rows {
        /// Name of the kernel.
        kernel: String,
        /// The statement or position.
        has: &'static str,
    },
    /// An operation or a shared load with a number of operands that it does not take.
    Arity {
        /// The operation or load.
        what: &'static str,
        /// The number of its operands.
        found: usize,
    },
}

impl std::fmt::Display for EmitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EmitError::Name { what, name } => {
                write!(f, "the name {name:?} of a {what} is no identifier")
            }
            EmitError::Literal(value) => write!(f, "the literal {value} has no finite text"),
            EmitError::Constant(value) => write!(f, "the constant {value} does not fit in 32 bits"),
            EmitError::Precision { kernel, text } => {
                write!(f, "the kernel was lowered for values of {kernel} bytes, not {text}")
            }
            EmitError::Launch { kernel } => {
                write!(f, "kernel `{kernel}` is for another kind of launch")
            }
            EmitError::Unknown { what, id } => write!(f, "the kernel has no {what} {id}"),
            EmitError::Rows { kernel, has } => write!(f, "kernel `{kernel}` over rows has {has}"),
            EmitError::Arity { what, found } => write!(f, "{what} cannot take {found} operands"),
        }
    }
}

impl std::error::Error for EmitError {}

/// A kernel of thread blocks as CUDA C++, without includes, for `--fmad=false`.
///
/// Its parameters are the addresses of cell 0 of each buffer, the interior cells along x, y, z, and the values from a
/// row and from a plane to the next. A kernel that copies boxes takes behind all others a tensor map of the buffers of
/// each of [`Kernel::boxes`], in their order, and the place of cell 0 in these maps along x, y, z. A buffer that is a
/// surface has its object in place of an address; such a kernel also takes the place of cell 0 in it.
///
/// # Errors
/// If a name is not an identifier, a literal is not finite, or the kernel is over rows or for values of another size.
pub fn cuda(kernel: &Kernel, precision: Precision) -> Result<Source, EmitError> {
    cuda_over(Patches::One, kernel, precision)
}

/// The same for a launch over patches.
///
/// # Errors
/// As for [`cuda()`].
pub fn cuda_over(
    patches: Patches,
    kernel: &Kernel,
    precision: Precision,
) -> Result<Source, EmitError> {
    c_like::emit(kernel, precision, patches, &cuda::Cuda)
}

/// Formulas as CUDA C++ device functions with these names, for `--fmad=false`: `double name(const
/// double* a)`, where `a` has a number for each of [`Formula::names`]. They give the bits of
/// [`Formula::eval`].
///
/// ```
/// use stencil_compiler::{emit, model::formula::Formula};
///
/// let wave = Formula::parse("a * x + t", &["a", "x", "t"])?;
/// let text = emit::cuda_formulas(&[("wave", &wave)])?;
/// assert!(text.contains("double wave(const double* a)"));
/// assert!(text.contains("a[0] * a[1] + a[2]"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a name is not an identifier of the language.
pub fn cuda_formulas(formulas: &[(&str, &Formula)]) -> Result<String, EmitError> {
    let functions: Vec<_> = formulas.iter().map(|(name, f)| (*name, f.operations())).collect();
    cuda_numbers(&functions)
}

/// Expressions over numbers as CUDA C++ device functions with these names, for `--fmad=false`: `double name(const
/// double* a)`, in which an atom is the index of its value. They give the bits of [`Expr::eval`] in `f64`.
///
/// ```
/// use stencil_compiler::{emit, expr::{Builder, Op}};
///
/// let mut b = Builder::new();
/// let (t, dt) = (b.atom(0), b.atom(1));
/// let end = b.op(Op::Add, &[t, dt]);
/// let text = emit::cuda_numbers(&[("end_of_step", &b.finish(end))])?;
/// assert!(text.contains("return a[0] + a[1];"));
/// # Ok::<(), emit::EmitError>(())
/// ```
///
/// # Errors
/// If a name is not an identifier of the language.
pub fn cuda_numbers(functions: &[(&str, &Expr<usize>)]) -> Result<String, EmitError> {
    functions::of_numbers(functions, &cuda::Cuda)
}

/// A note as the lines of a comment: nothing in it can end or continue the comment.
fn comment_lines(note: &str) -> impl Iterator<Item = String> {
    note.lines().map(|line| {
        line.replace('\\', "/").replace(|c: char| c.is_control(), " ").trim_end().to_string()
    })
}

/// An element of one of a kernel's tables.
fn get<'a, T>(table: &'a [T], id: u32, what: &'static str) -> Result<&'a T, EmitError> {
    table.get(id as usize).ok_or(EmitError::Unknown { what, id: id as usize })
}
