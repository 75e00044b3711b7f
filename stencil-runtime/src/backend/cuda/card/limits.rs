//! Limits of a card that kernels are fitted to.

use stencil_compiler::compile::Device;
use stencil_compiler::kernel::Multiprocessor;

/// Returns the facts about the usual card of an architecture: kernels that are compiled ahead cannot know the card.
///
/// ```
/// use stencil_runtime::backend::cuda::usual_device;
///
/// let units = |architecture| usual_device(architecture).units;
/// assert_eq!([units("sm_80"), units("sm_90")], [Some(108), Some(132)]);
/// ```
pub fn usual_device(architecture: &str) -> Device {
    let (kilobytes, threads, blocks) = match architecture {
        "sm_80" => (164, 2048, 32),
        "sm_86" => (100, 1536, 16),
        "sm_87" => (164, 1536, 16),
        "sm_89" | "sm_120" => (100, 1536, 24),
        _ => (228, 2048, 32),
    };
    let units = match architecture {
        "sm_80" => 108,
        "sm_90" => 132,
        _ => 148,
    };
    Device {
        multiprocessor: Multiprocessor {
            shared_bytes: kilobytes << 10,
            threads,
            blocks,
            ..Multiprocessor::NEWEST
        },
        units: Some(units),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_less_shared_memory_on_smaller_cards() {
        let of = |architecture| {
            let device = usual_device(architecture);
            device.multiprocessor.block_shared_bytes()
        };
        assert!(of("sm_86") < of("sm_80") && of("sm_80") < of("sm_90"));
        assert_eq!(of("sm_90"), 232_448);
    }
}
