//! Spellings that differ between vendors in texts like C.

use super::EmitError;
use super::infix::{PRIMARY, SIGN};
use crate::expr::Op;
use crate::expr::real::Precision;
use crate::kernel::{Index, Kernel, Mode};

/// The spelling of functions of numbers.
pub(super) trait Numbers {
    /// Words that cannot be names.
    fn keywords(&self) -> &'static [&'static str];
    /// The words before the type of a function that is expanded where it is called.
    fn function(&self) -> &'static str;
    /// The words before the type of a function that is called.
    fn called(&self) -> &'static str;
    /// The definitions of operations in words of the language, which has no functions for them.
    fn native(&self) -> &'static Native;
    /// Infinity.
    fn infinity(&self, precision: Precision) -> &'static str;
    /// A value that is not a number.
    fn nan(&self, precision: Precision) -> &'static str;
}

/// Definitions of operations, in single and in double precision.
pub(super) struct Native {
    /// One with the bits of [`math::reciprocal`](crate::expr::math::reciprocal), where the device has a faster one than that.
    pub(super) reciprocal: Option<[&'static str; 2]>,
    pub(super) exponent: [&'static str; 2],
    pub(super) significand: [&'static str; 2],
    pub(super) power_of_two: [&'static str; 2],
}

impl Native {
    /// The definition of an operation; `None` if it is one of the language, or made of others.
    pub(super) fn definition(&self, op: Op, precision: Precision) -> Option<&'static str> {
        let [single, double] = match op {
            Op::Reciprocal => self.reciprocal?,
            Op::Exponent => self.exponent,
            Op::Significand => self.significand,
            Op::PowerOfTwo => self.power_of_two,
            _ => return None,
        };
        Some(match precision {
            Precision::F32 => single,
            Precision::F64 => double,
        })
    }
}

/// The spelling of one vendor.
pub(super) trait Dialect: Numbers {
    /// Everything before the parameters, without the name.
    fn entry(&self, kernel: &Kernel) -> String;
    /// The parameter of a buffer.
    fn buffer(&self, mode: Mode, value: &str, name: &str) -> String;
    /// The parameter of a buffer that is a surface.
    fn surface(&self, name: &str) -> String;
    /// The parameter that describes a buffer which boxes are copied from.
    fn map(&self, name: &str) -> String;
    /// The least device that has the features used.
    fn needs(&self, uses: &Uses) -> (u32, u32);
    /// The declaration of the uniforms, a structure `Uniforms` named `c`: in memory that the host or
    /// a kernel may write between launches, so that a captured step can be replayed with others.
    fn uniforms(&self) -> &'static str;
    /// The declaration of dynamic shared memory as bytes named `shared_`.
    fn shared(&self) -> &'static str;
    /// Index of the thread in its block along an axis.
    fn thread(&self, axis: usize) -> &'static str;
    /// Index of the block along an axis.
    fn block(&self, axis: usize) -> &'static str;
    /// All threads of the block wait for each other.
    fn sync(&self) -> &'static str;
    /// A line before a loop that is to be written out, or not.
    fn unroll(&self, whole: bool) -> &'static str;
    /// The type of this many values that one instruction loads, if there is one.
    fn vector(&self, precision: Precision, values: usize) -> Option<&'static str>;
    /// Definitions of the helpers that are used, in the order of [`Uses`].
    fn helpers(&self, uses: &Uses, precision: Precision) -> Vec<&'static str>;
}

/// The parts of the language that a kernel's body uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    pub(super) barriers: bool,
    pub(super) copies: bool,
    pub(super) boxes: bool,
    /// Do maps have one patch behind the other?
    pub(super) patches: bool,
    pub(super) expect: bool,
    pub(super) arrive_expecting: bool,
    pub(super) arrive_copies: bool,
    pub(super) arrive: bool,
    pub(super) wait: bool,
    pub(super) wrap: bool,
    pub(super) reads_surfaces: bool,
    pub(super) writes_surfaces: bool,
    /// Stores of the largest and of the smallest value of a warp.
    pub(super) extremes: [bool; 2],
    pub(super) threads: [bool; 3],
    pub(super) blocks: [bool; 3],
}

impl Uses {
    /// Takes note of the thread and block axes that an expression uses.
    pub(super) fn note(&mut self, index: &Index) {
        match index {
            // An unknown axis is reported where it is printed.
            Index::Block(axis) => set(&mut self.blocks, *axis),
            Index::Thread(axis) => set(&mut self.threads, *axis),
            Index::Const(_) | Index::Var(_) | Index::Size(_) => {}
            Index::Mul(a, _) | Index::Div(a, _) | Index::Rem(a, _) | Index::Numbered(a, _) => {
                self.note(a);
            }
            Index::Wrap(a, _) => {
                self.wrap = true;
                self.note(a);
            }
            Index::Add(a, b) | Index::Sub(a, b) | Index::Min(a, b) => {
                self.note(a);
                self.note(b);
            }
        }
    }
}

fn set(axes: &mut [bool; 3], axis: usize) {
    if let Some(used) = axes.get_mut(axis) {
        *used = true;
    }
}

/// The suffix of names of functions of this precision.
pub(super) fn suffix(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "f",
        Precision::F64 => "",
    }
}

/// The name of the value type.
pub(super) fn real(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "float",
        Precision::F64 => "double",
    }
}

/// A literal, rounded to the precision, in the shortest text that is read back to it.
pub(super) fn literal(value: f64, precision: Precision) -> Result<(u8, String), EmitError> {
    let (finite, text) = match precision {
        Precision::F32 => ((value as f32).is_finite(), format!("{:e}f", value as f32)),
        Precision::F64 => (value.is_finite(), format!("{value:e}")),
    };
    match finite {
        true => Ok((if value.is_sign_negative() { SIGN } else { PRIMARY }, text)),
        false => Err(EmitError::Literal(value)),
    }
}
