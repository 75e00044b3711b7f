//! `stencil verify --export` and `--from`: kernels that are compiled on one machine for another.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

mod common;

use common::{all_refused, assert_has, folder, refused, stencil, text};

fn verify(words: &str, here: &Path) -> Output {
    stencil(&format!("verify {words}"), here)
}

/// Names and bytes of files.
type Files = BTreeMap<String, Vec<u8>>;

/// Returns all files of a folder.
fn files(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{e}"));
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap_or_else(|e| panic!("{e}")).path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{e}"));
        (name.into_owned(), bytes)
    };
    entries.map(file).collect()
}

const SYSTEM: &str = "
    /// Spreads, and says how much there is.
    pub system Spreads in 2d {
        field q: scalar;
        param k: real = 0.1;
        ddt(q) = k * lap(q);
        observe total = sum(q);
        cfl { diffusive: k }
    }
    scheme s for Spreads { space: central<order = 4>; mixed: bidiagonal; time: ssprk2; }
";

/// An export of a system in a file, or `None` without NVRTC, which the tests' command always has.
fn export(here: &Path, into: &str) -> Option<String> {
    // Line tables of machine code have the time of the file that lines lead to: it is written once.
    let file = here.join("spreads.pde");
    if !file.exists() {
        fs::write(file, SYSTEM).unwrap_or_else(|e| panic!("{e}"));
    }
    let words = format!("spreads.pde --precision f32 --export {into}");
    let output = verify(&words, here);
    let said = text(&output.stderr);
    if said.contains("no usable NVRTC") {
        let wanted = std::env::var_os("STENCIL_NVRTC_DIR").is_some();
        assert!(!wanted, "{said}");
        eprintln!("skipped, for want of NVRTC");
        return None;
    }
    assert!(output.status.success(), "{said}");
    Some(text(&output.stdout))
}

/// Makes the export `one` for all tests, since compiling takes long, and returns its folder, the words of the command and
/// the files.
fn first() -> Option<&'static (PathBuf, String, Files)> {
    static FIRST: OnceLock<Option<(PathBuf, String, Files)>> = OnceLock::new();
    let made = || {
        let here = folder("export");
        let said = export(&here, "one")?;
        let files = files(&here.join("one"));
        Some((here, said, files))
    };
    FIRST.get_or_init(made).as_ref()
}

#[test]
fn an_export_is_whole_and_the_same_each_time() {
    let Some((here, said, one)) = first() else {
        return;
    };
    let kernels = one.keys().filter(|name| name.ends_with(".cubin")).count();
    assert!(kernels > 3, "{said}");
    assert!(said.contains(&format!("{kernels} kernels for sm_90 by NVRTC")), "{said}");
    assert_has(said, &["stencil verify --from one"]);
    export(here, "two");
    assert!(*one == files(&here.join("two")));

    // The declaration comes along: the file is not needed where the card is.
    fs::remove_file(here.join("spreads.pde")).unwrap_or_else(|e| panic!("{e}"));
    let output = verify("--from one", here);
    let said = text(&output.stderr);
    assert!(
        output.status.success()
            || said.contains("no NVIDIA driver")
            || said.contains("finds no card")
            || said.contains("help: export them with"),
        "{said}"
    );
}

#[test]
fn a_damaged_export_is_told_of() {
    let Some((_, _, good)) = first() else {
        return;
    };
    let here = folder("damaged");
    let kernel = good.keys().find(|name| name.ends_with(".cubin"));
    let kernel = kernel.unwrap_or_else(|| panic!("no kernel"));
    let told = |change: &dyn Fn(&Path), expected: &str| {
        let bad = folder("damaged/bad");
        for (name, bytes) in good {
            fs::write(bad.join(name), bytes).unwrap_or_else(|e| panic!("{e}"));
        }
        change(&bad);
        let said = refused("verify --from bad", &here, 2);
        assert!(said.contains(expected), "no `{expected}` in {said}");
        assert!(said.contains("xport"), "no way out in {said}");
    };
    let replaced = |from: &'static str, to: &'static str| {
        move |bad: &Path| {
            let list = bad.join("cases.json");
            let text = fs::read_to_string(&list).unwrap_or_else(|e| panic!("{e}"));
            assert!(text.contains(from), "{text}");
            fs::write(&list, text.replacen(from, to, 1)).unwrap_or_else(|e| panic!("{e}"));
        }
    };
    told(&replaced("\"steps\": 5", "\"steps\": 6"), "its checksum");
    told(&replaced("{", ""), "cases.json is damaged");
    told(&|bad| fs::remove_file(bad.join("cases.json")).unwrap_or(()), "cannot be read");
    told(&|bad| fs::remove_file(bad.join(kernel)).unwrap_or(()), &format!("{kernel} is not there"));
    let half = &good[kernel][..good[kernel].len() / 2];
    told(&|bad| fs::write(bad.join(kernel), half).unwrap_or(()), &format!("{kernel} is damaged"));
    let mut other = good[kernel].clone();
    let middle = other.len() / 2;
    other[middle] ^= 1;
    told(&|bad| fs::write(bad.join(kernel), &other).unwrap_or(()), &format!("{kernel} is damaged"));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let here = folder("refused");
    all_refused(
        "verify",
        &[
            ("--from x --sample 3", "--sample"),
            ("heat --from x", "--from"),
            ("--arch sm_90", "--export"),
            ("--from x --export y", "cannot be used with"),
            ("--from nowhere", "nowhere"),
        ],
        &here,
    );
    let output = verify("heat --export x --arch fermi", &here);
    let said = text(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains("`fermi` names no GPU architecture") || said.contains("no usable NVRTC"),
        "{said}"
    );
}
