//! Documented commands as a reader types them, one after another in an empty folder with the files that the page shows.
//! Commands that need a card, or that measure or search for long, are left out, and meshes are small.

use std::fs;
use std::path::Path;

mod common;
mod documents;

use common::{folder, good};
use documents::{Documented, commands, documents, root};

/// Words of commands that need a card, or that take longer than a test may.
const LONG: [&str; 8] =
    ["cuda", "cpu,cuda", "tune", "verify", "predict", "bench", "--plan", "--analyze"];

/// The arguments of a command that is run here: those of the page on a small mesh, for few steps.
fn small(command: &Documented) -> Option<Vec<String>> {
    let mut arguments = command.arguments()?.to_vec();
    if !command.is_whole || arguments.iter().any(|word| LONG.contains(&word.as_str())) {
        return None;
    }
    if arguments.is_empty() {
        arguments.push("run".to_string());
    }
    for word in &mut arguments {
        if word.starts_with("mesh.cells=") {
            *word = "mesh.cells=48,48".to_string();
        }
    }
    let has_mesh = arguments.iter().any(|word| word.starts_with("mesh.cells="));
    let runs = arguments[0] == "run";
    for (option, value, is_added) in [("--cells", "48", runs && !has_mesh), ("--steps", "2", runs)]
    {
        match arguments.iter().position(|word| word == option) {
            Some(at) => arguments[at + 1] = value.to_string(),
            None if is_added => arguments.extend([option, value].map(str::to_string)),
            None => {}
        }
    }
    Some(arguments)
}

/// Whether all files that a command reads are there.
fn is_ready(arguments: &[String], folder: &Path) -> bool {
    let is_file = |word: &&String| {
        let (_, ending) = word.rsplit_once('.').unwrap_or_default();
        ["pde", "toml", "npz", "schedule", "plans"].contains(&ending)
    };
    let mut files = arguments.iter().filter(is_file);
    files.all(|file| folder.join(file).is_file())
}

/// Runs commands in a folder; how many that were.
fn follow(all: &[Documented], folder: &Path) -> usize {
    let mut count = 0;
    for command in all {
        let Some(arguments) = small(command).filter(|words| is_ready(words, folder)) else {
            continue;
        };
        // A failure shows the place of the command.
        eprintln!("{}", command.place);
        good(&arguments[..], folder);
        count += 1;
    }
    count
}

/// The block of a language that follows a text in a page.
fn block(page: &str, before: &str, language: &str) -> String {
    let (_, after) = page.split_once(before).unwrap_or_else(|| panic!("no {before}"));
    let fence = format!("```{language}\n");
    let (_, block) = after.split_once(&fence).unwrap_or_else(|| panic!("no {fence}"));
    let (block, _) = block.split_once("```").unwrap_or_else(|| panic!("no end"));
    block.to_string()
}

#[test]
fn the_commands_of_the_readme_run() {
    let here = folder("readme");
    let readme = root().join("README.md");
    let page = fs::read_to_string(&readme).unwrap_or_else(|e| panic!("{e}"));
    let gray_scott = block(&page, "`gray_scott.pde`:", "text");
    for (name, text) in [
        ("gray_scott.pde", &gray_scott),
        // A reader's own system.
        ("my_system.pde", &gray_scott),
        ("problem.toml", &block(&page, "`problem.toml` beside it:", "toml")),
    ] {
        fs::write(here.join(name), text).unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(follow(&commands(&readme), &here) >= 9);
    for left in ["out/explosion/final.npz", "out/gs/series.csv"] {
        assert!(here.join(left).is_file(), "no {left}");
    }
}

#[test]
fn the_commands_of_a_new_package_run() {
    let here = folder("new");
    let readme = root().join("cli/src/new/template/README.md");
    good("new my-dye", &here);
    let mut all = commands(&readme);
    // Cargo's own are run where the package is tested.
    all.retain(|command| command.words[0] == "stencil");
    assert_eq!(follow(&all, &here.join("my-dye")), 3);
}

#[test]
fn the_commands_of_the_book_run() {
    let here = folder("book");
    let readme = fs::read_to_string(root().join("README.md")).unwrap_or_else(|e| panic!("{e}"));
    let problems = root().join("docs/src/problems.md");
    let problem = fs::read_to_string(problems).unwrap_or_else(|e| panic!("{e}"));
    for (name, text) in [
        ("gray_scott.pde", block(&readme, "`gray_scott.pde`:", "text")),
        ("gray_scott.toml", block(&problem, "# Problem files", "toml")),
    ] {
        fs::write(here.join(name), text).unwrap_or_else(|e| panic!("{e}"));
    }
    let mut pages = documents();
    pages.retain(|path| path.starts_with(root().join("docs/src")));
    let count: usize = pages.iter().map(|page| follow(&commands(page), &here)).sum();
    assert!(count >= 15, "{count}");
}
