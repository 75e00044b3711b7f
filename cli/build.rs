//! Tells the program which commit it is of, for `stencil --version`. Without git, or outside of a repository, it tells
//! none; nothing here makes a build fail.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Parts of the repository that become part of the program.
const SOURCES: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    "cli",
    "physics",
    "stencil-compiler",
    "stencil-macros",
    "stencil-report",
    "stencil-runtime",
];

fn main() {
    println!("cargo::rerun-if-env-changed=STENCIL_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let here = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let root = here.as_deref().and_then(Path::parent);
    // Whoever packs sources without their repository may name the commit.
    let given = std::env::var("STENCIL_COMMIT").ok();
    let given = given.filter(|commit| !commit.is_empty());
    let commit = match (given, root) {
        (Some(given), _) => Some(given),
        (None, Some(root)) => of_repository(root, "git"),
        (None, None) => None,
    };
    let commit = commit.as_deref().and_then(|commit| commit.lines().next());
    let is_on =
        |name: &&str| std::env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some();
    let on: Vec<&str> = ["compiled", "mpi"].into_iter().filter(is_on).collect();
    let features = if on.is_empty() { "none".to_string() } else { on.join(", ") };
    println!(
        "cargo::rustc-env=STENCIL_VERSION={} ({}; features: {features})",
        std::env::var("CARGO_PKG_VERSION").unwrap_or_default(),
        commit.unwrap_or("of no known commit")
    );
}

/// The commit of the repository whose root is this folder and its day, and whether sources differ from it; `None` if
/// the folder is not its root or the program `git` is missing.
pub(crate) fn of_repository(root: &Path, git: &str) -> Option<String> {
    let ask = |arguments: &[&str]| {
        let output = Command::new(git).arg("-C").arg(root).args(arguments).output();
        let output = output.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.trim().to_string())
    };
    // Sources unpacked inside of another repository are not of its commit.
    let top = ask(&["rev-parse", "--show-toplevel"])?;
    if std::fs::canonicalize(top).ok()? != std::fs::canonicalize(root).ok()? {
        return None;
    }
    // The log of HEAD grows with every commit and checkout; sources may come to differ from the commit.
    for file in ["HEAD", "logs/HEAD"] {
        let path = ask(&["rev-parse", "--git-path", file]);
        watch(path.map(|path| root.join(path)));
    }
    SOURCES.iter().for_each(|part| watch(Some(root.join(part))));
    let commit = ask(&["log", "-1", "--format=%h, %cs", "--abbrev=10"])?;
    let status = ["status", "--porcelain", "--untracked-files=no", "--"];
    let changes = ask(&[&status[..], &SOURCES[..]].concat())?;
    let changed = if changes.is_empty() { "" } else { ", with changes" };
    Some(commit + changed)
}

/// Has this script run again when a file changes. A file that is not there would have it run every time.
fn watch(path: Option<PathBuf>) {
    if let Some(path) = path.filter(|path| path.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}
