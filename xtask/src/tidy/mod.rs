//! The rules of ARCHITECTURE.md that neither the compiler nor clippy can keep.

mod arrows;
mod floors;
mod layout;
mod rows;
mod scan;
mod sentences;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::workspace::{Workspace, entries};
use scan::Source;

/// Folders in which each file is one entry of a list, and each entry one file.
const REGISTRIES: [&str; 5] = [
    "stencil-compiler/src/catalogue/operators",
    "stencil-compiler/src/catalogue/integrators",
    "stencil-compiler/src/schedule/strategies",
    "stencil-compiler/src/kernel/blocking",
    SYSTEMS,
];
const SYSTEMS: &str = "physics/src/systems";

/// One breach of one rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Violation {
    file: PathBuf,
    line: usize,
    rule: &'static str,
    message: String,
    way_out: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, rule, message, way_out } = self;
        write!(f, "{}:{line}: {rule}: {message} — {way_out}", file.display())
    }
}

/// Checks the whole workspace, and prints every violation.
pub(crate) fn run(workspace: &Workspace) -> Result<(), String> {
    let mut found = Vec::new();
    for path in workspace.manifests()? {
        found.extend(arrows::check(&path, &workspace.read(&path)?));
    }
    let systems = registered(workspace, SYSTEMS)?;
    let files = workspace.rust_files()?;
    let mut rows = Vec::new();
    for path in files.iter().filter(|path| rows::is_home(path)) {
        rows.extend(rows::of(&Source::read(path, &workspace.read(path)?)));
    }
    let mut long = Vec::new();
    for path in &files {
        let source = Source::read(path, &workspace.read(path)?);
        found.extend(rows::check(&source, &rows));
        found.extend(floors::check(&source));
        found.extend(layout::check(&source, &mut long));
        found.extend(words::check(&source, &systems));
        found.extend(sentences::docs(&source));
    }
    for path in workspace.pages()? {
        found.extend(sentences::page(&path, &workspace.read(&path)?));
    }
    for folder in REGISTRIES {
        found.extend(registry(workspace, folder)?);
    }
    for (path, lines) in long {
        println!(
            "warning: {}: {lines} lines, more than {}: consider a split",
            path.display(),
            layout::SOFT
        );
    }
    found.sort();
    for violation in &found {
        eprintln!("{violation}");
    }
    match found.len() {
        0 => {
            println!("tidy: {} files keep the rules", files.len());
            Ok(())
        }
        count => Err(format!("{count} breaches of the rules in ARCHITECTURE.md")),
    }
}

/// Returns the modules in a folder, sorted; none if there is no such folder.
fn registered(workspace: &Workspace, folder: &str) -> Result<Vec<String>, String> {
    let folder = workspace.root.join(folder);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let module = |(name, path): (String, PathBuf)| match name.strip_suffix(".rs") {
        Some("mod" | "tests") => None,
        Some(module) => Some(module.to_owned()),
        None => path.join("mod.rs").is_file().then_some(name),
    };
    let mut names: Vec<String> = entries(&folder)?.into_iter().filter_map(module).collect();
    names.sort();
    Ok(names)
}

fn registry(workspace: &Workspace, folder: &str) -> Result<Vec<Violation>, String> {
    if !workspace.root.join(folder).is_dir() {
        return Ok(Vec::new());
    }
    let inside = Path::new(folder).join("mod.rs");
    let beside = Path::new(folder).with_extension("rs");
    let list = if workspace.root.join(&inside).is_file() { inside } else { beside };
    let source = Source::read(&list, &workspace.read(&list)?);
    Ok(layout::registry(&source, &registered(workspace, folder)?))
}
