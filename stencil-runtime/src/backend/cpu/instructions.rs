//! Chooses, when the program runs, the instructions that a loop is compiled for.
//!
//! A [`Vectorized`] is compiled once for each entry point: its code is inlined into a function with
//! the target features of that instruction set. All of them round alike; they differ in speed.

use std::fmt;
use std::marker::PhantomData;

use super::lanes::{Lanes, Registers};

/// A set of instructions of the processor.
///
/// ```
/// use stencil_runtime::Instructions;
/// assert!(Instructions::available().contains(&Instructions::best()));
/// assert_eq!(Instructions::from_name("baseline"), Some(Instructions::Baseline));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Instructions {
    /// The instructions that every processor of this architecture has.
    Baseline,
    /// Vectors of 256 bits and fused multiply-adds.
    Avx2,
    /// Vectors of 512 bits.
    Avx512,
}

/// The processor lacks an instruction set that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownInstructions(pub Instructions);

impl fmt::Display for UnknownInstructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let available: Vec<&str> = Instructions::available().iter().map(|i| i.name()).collect();
        write!(f, "this processor has no {}; it has: {}", self.0.name(), available.join(", "))
    }
}

impl std::error::Error for UnknownInstructions {}

impl Instructions {
    /// All instruction sets, slowest first.
    pub const ALL: [Instructions; 3] = [Self::Baseline, Self::Avx2, Self::Avx512];

    /// Returns the instruction sets of the processor that runs this program, slowest first.
    pub fn available() -> Vec<Instructions> {
        Self::ALL.into_iter().filter(|i| i.is_available()).collect()
    }

    /// Returns the fastest instruction set of the processor that runs this program.
    pub fn best() -> Instructions {
        Self::available().pop().unwrap_or(Self::Baseline)
    }

    /// Returns the name: `baseline`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// Returns the instruction set of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|i| i.name() == name)
    }

    #[cfg(target_arch = "x86_64")]
    fn is_available(self) -> bool {
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        match self {
            Self::Baseline => true,
            Self::Avx2 => avx2,
            Self::Avx512 => {
                avx2 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl")
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_available(self) -> bool {
        self == Self::Baseline
    }
}

/// Instructions that the processor was checked to have; there is no other way to make one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked(Instructions);

impl Checked {
    /// Checks that the processor has the instructions.
    pub(crate) fn new(instructions: Instructions) -> Result<Self, UnknownInstructions> {
        if instructions.is_available() {
            Ok(Checked(instructions))
        } else {
            Err(UnknownInstructions(instructions))
        }
    }

    /// Returns the size of a register in bytes.
    pub(crate) fn register_bytes(self) -> usize {
        match self.0 {
            Instructions::Baseline => 16,
            Instructions::Avx2 => 32,
            Instructions::Avx512 => 64,
        }
    }

    /// Returns the instructions.
    pub(crate) fn get(self) -> Instructions {
        self.0
    }
}

/// Work whose `run` is `#[inline(always)]`, with everything hot beneath it.
pub(crate) trait Vectorized {
    /// Does the work.
    fn run(self);
}

/// Does the work with these instructions.
#[cfg(target_arch = "x86_64")]
pub(crate) fn run<V: Vectorized>(instructions: Checked, work: V) {
    match instructions.0 {
        Instructions::Baseline => work.run(),
        // SAFETY: `Checked` is only made if the processor has the features.
        Instructions::Avx2 => unsafe { avx2(work) },
        // SAFETY: as above.
        Instructions::Avx512 => unsafe { avx512(work) },
    }
}

/// Does the work with these instructions.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn run<V: Vectorized>(_: Checked, work: V) {
    work.run();
}

/// Work like [`Vectorized`], over the registers of the instruction set.
pub(crate) trait OnLanes {
    /// Type of the values in the registers.
    type Value: Registers;
    /// Does the work.
    fn run<V: Lanes<Value = Self::Value>>(self);
}

/// Work over chosen registers.
struct On<V, W>(W, PhantomData<V>);

impl<W: OnLanes, V: Lanes<Value = W::Value>> Vectorized for On<V, W> {
    #[inline(always)]
    fn run(self) {
        self.0.run::<V>();
    }
}

/// Does the work with these instructions, in their registers.
pub(crate) fn run_on_lanes<W: OnLanes>(instructions: Checked, work: W) {
    type Baseline<W> = <<W as OnLanes>::Value as Registers>::Baseline;
    #[cfg(target_arch = "x86_64")]
    match instructions.0 {
        Instructions::Baseline => work.run::<Baseline<W>>(),
        // SAFETY: `Checked` is only made if the processor has the features.
        Instructions::Avx2 => unsafe {
            avx2(On::<<W::Value as Registers>::Avx2, W>(work, PhantomData));
        },
        // SAFETY: as above.
        Instructions::Avx512 => unsafe {
            avx512(On::<<W::Value as Registers>::Avx512, W>(work, PhantomData));
        },
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = instructions;
        work.run::<Baseline<W>>();
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<V: Vectorized>(work: V) {
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx2,fma")]
fn avx512<V: Vectorized>(work: V) {
    work.run();
}
