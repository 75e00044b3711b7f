//! Limits of a card that kernels are fitted to.

/// Returns the number of multiprocessors that cards of an architecture usually have: kernels that are compiled ahead
/// cannot know the card.
///
/// ```
/// use stencil_runtime::backend::cuda::usual_units;
///
/// assert_eq!([usual_units("sm_80"), usual_units("sm_90")], [108, 132]);
/// ```
pub fn usual_units(architecture: &str) -> u32 {
    match architecture {
        "sm_80" => 108,
        "sm_90" => 132,
        _ => 148,
    }
}

/// The multiprocessors that kernels are fitted to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    pub(crate) count: u32,
    /// Bytes of shared memory that a block may have.
    pub(crate) shared_bytes: usize,
}

impl Units {
    /// Returns the limits of the usual card of an architecture.
    pub(crate) fn usual(architecture: &str) -> Self {
        let kilobytes = match architecture {
            "sm_80" | "sm_87" => 163,
            "sm_86" | "sm_89" | "sm_120" => 99,
            _ => 227,
        };
        Units {
            count: usual_units(architecture),
            shared_bytes: kilobytes << 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_less_shared_memory_on_smaller_cards() {
        let of = |architecture| Units::usual(architecture).shared_bytes;
        assert!(of("sm_86") < of("sm_80") && of("sm_80") < of("sm_90"));
        assert_eq!(of("sm_90"), 232_448);
    }
}
