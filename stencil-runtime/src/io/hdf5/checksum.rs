//! The checksum of HDF5's headers: `hashlittle` of Bob Jenkins' `lookup3.c` (public domain), begun with zero.

/// Returns the checksum of some bytes.
pub(super) fn of(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        let (block, behind) = rest.split_at(12);
        add(&mut state, block);
        mix(&mut state);
        rest = behind;
    }
    if !rest.is_empty() {
        add(&mut state, rest);
        scramble(&mut state);
    }
    state[2]
}

/// Adds up to 12 bytes; those that are missing count as zeros.
fn add(state: &mut [u32; 3], bytes: &[u8]) {
    for (word, bytes) in state.iter_mut().zip(bytes.chunks(4)) {
        let mut four = [0; 4];
        four[..bytes.len()].copy_from_slice(bytes);
        *word = word.wrapping_add(u32::from_le_bytes(four));
    }
}

fn mix(state: &mut [u32; 3]) {
    // Each round changes one word by the next two, in turn.
    for (round, turn) in [4, 6, 8, 16, 19, 4].into_iter().enumerate() {
        let [a, b, c] = [round, round + 1, round + 2].map(|i| i % 3);
        state[a] = state[a].wrapping_sub(state[c]) ^ state[c].rotate_left(turn);
        state[c] = state[c].wrapping_add(state[b]);
    }
}

fn scramble(state: &mut [u32; 3]) {
    for (round, turn) in [14, 11, 25, 16, 4, 14, 24].into_iter().enumerate() {
        let (c, b) = ((round + 2) % 3, (round + 1) % 3);
        state[c] = (state[c] ^ state[b]).wrapping_sub(state[b].rotate_left(turn));
    }
}

#[cfg(test)]
mod tests {
    /// Values of the `hashlittle` that HDF5's library has, printed by its own tests.
    #[test]
    fn checksums_are_those_of_lookup3() {
        assert_eq!(super::of(b""), 0xdead_beef);
        assert_eq!(super::of(b"Four score and seven years ago"), 0x1777_0551);
    }
}
