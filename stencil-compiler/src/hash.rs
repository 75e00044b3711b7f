//! A number for a text, the same on every machine.

/// The 64-bit hash of Fowler, Noll and Vo, variant 1a. Different texts may share it.
///
/// ```
/// assert_eq!(stencil_compiler::hash::fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
/// ```
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
