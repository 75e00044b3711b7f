//! Earlier inputs, and mutations of them: nothing panics. `fuzz/` searches further, with a fuzzer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::TARGETS;
use stencil_compiler::search::space::Draws;

/// Mutations of each file.
const MUTATIONS: usize = 40;

#[test]
fn the_corpus_and_its_mutations_are_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut draws = Draws::new(25);
    for (name, target) in TARGETS {
        let entries =
            std::fs::read_dir(corpus.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        assert!(!files.is_empty(), "no corpus of {name}");
        for file in files {
            let seed = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
            target(&seed);
            for _ in 0..MUTATIONS {
                let bytes = mutated(&seed, &mut draws);
                if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
                    panic!("{name}, from {}: {}", file.display(), bytes.escape_ascii());
                }
            }
        }
    }
}

/// Changes some bytes, leaves them out, doubles them, or takes them from another place.
fn mutated(seed: &[u8], draws: &mut Draws) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    let mut below = |end: usize| draws.below(end as u64) as usize;
    for _ in 0..=below(4) {
        let length = bytes.len();
        if length < 2 {
            break;
        }
        let (at, from) = (below(length), below(length));
        let count = below(12).min(length - at.max(from));
        let piece = bytes[from..from + count].to_vec();
        match below(5) {
            0 => bytes[at] ^= 1 << below(8),
            1 => drop(bytes.drain(at..at + count)),
            2 => drop(bytes.splice(at..at, piece)),
            3 => drop(bytes.splice(at..at + count, piece)),
            _ => bytes[at] = b"0(){}[];=.,-\"'\n"[below(15)],
        }
    }
    bytes
}
