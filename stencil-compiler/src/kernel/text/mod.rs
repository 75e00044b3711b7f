//! Kernels as text: a header of declarations, then one statement a line, by names.
//!
//! ```text
//! kernel heat {
//!   dimension 3
//!   value_bytes 4
//!   launch blocks threads [8, 4, 2] tile [8, 4, 2] extend [0, 0, 0] blocks_per_unit 2
//!   buffer u read halo [1, 1, 1]
//!   buffer u_new write halo [0, 0, 0]
//!   uniforms c
//!   registers a, b, t
//!   ints x, y, z
//!   cells here
//!   for u_1 a, t
//!   code {
//!     int x = block.x * 8 + thread.x
//!     ..
//!     cell here = (x, y, z)
//!     a = load u[here + (1, 0, 0)]
//!     t = fma(c, a, b)
//!     store u_new[here] = t
//!   }
//! }
//! ```
//!
//! Registers, uniforms, ints and cells share one set of names; buffers, shared arrays and barriers
//! another. [`check`](super::Kernel::check) sees to it that names are unique, as parsing needs.

mod parse;
mod print;
mod statements;

#[cfg(test)]
mod tests;

pub use parse::parse;
pub use print::{print, statement};

/// Names of the axes.
const AXES: [&str; 3] = ["x", "y", "z"];

/// The index that a name with a dot stands for: `block.x`, `thread.y`, `size.z`.
pub(super) fn position(name: &str) -> Option<super::Index> {
    let (what, axis) = name.split_once('.')?;
    let axis = AXES.iter().position(|a| *a == axis)?;
    match what {
        "block" => Some(super::Index::Block(axis)),
        "thread" => Some(super::Index::Thread(axis)),
        "size" => Some(super::Index::Size(axis)),
        _ => None,
    }
}

/// Is this a name that the text can hold?
pub(super) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '@')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '@'))
        && position(name).is_none()
}
