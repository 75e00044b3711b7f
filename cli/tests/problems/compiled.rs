//! Runs by a program that the C compiler of this machine makes.

use std::path::Path;
use std::process::Output;

use super::common::{assert_has, command, output, text};
use super::{bytes, folder};

/// Runs into a folder, with a compiler and a cache in place of those of the user.
fn run(here: &Path, words: &str, [compiler, cache]: [Option<&str>; 2]) -> Output {
    let mut run = command(&format!("run drift.toml -q {words}"), here);
    for (name, value) in [("STENCIL_CC", compiler), ("STENCIL_CACHE_DIR", cache)] {
        match value {
            Some(value) => run.env(name, value),
            None => run.env_remove(name),
        };
    }
    output(&mut run)
}

#[test]
fn compiled_code_writes_the_files_of_the_row_engine() {
    let here = folder("compiled");
    let rows = run(&here, "--backend rows --out rows", [None, Some("cache")]);
    assert!(rows.status.success(), "{}", text(&rows.stderr));
    // Compiled, taken from the cache, and compiled without one.
    for (out, cache) in [("first", "cache"), ("second", "cache"), ("third", "")] {
        let words = format!("--backend compiled --out {out}");
        let done = run(&here, &words, [None, Some(cache)]);
        let told = text(&done.stderr);
        if told.contains("no fused multiply-adds") {
            return;
        }
        assert!(done.status.success(), "{told}");
        for file in ["final.npz", "frame_000004.npz", "series.csv", "q.png", "slope.png"] {
            let [own, wanted] = [out, "rows"].map(|folder| bytes(&here.join(folder).join(file)));
            assert!(own == wanted, "{out}: {file}");
        }
    }
    assert_eq!(std::fs::read_dir(here.join("cache/programs")).unwrap().count(), 2);
}

#[test]
fn a_compiler_that_is_missing_is_told() {
    let here = folder("without");
    for (compiler, why) in [("", "STENCIL_CC is empty"), ("/no/such/cc", "no compiler /no/such/cc")]
    {
        let refused = run(&here, "--backend compiled", [Some(compiler), Some("")]);
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        if !told.contains("no fused multiply-adds") {
            assert_has(&told, &["Drift has no compiled program in this binary", why]);
        }
        let rows = run(&here, "--out rows --overwrite", [Some(compiler), Some("")]);
        assert!(rows.status.success(), "{}", text(&rows.stderr));
    }
}
