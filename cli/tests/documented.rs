//! Documented commands as a reader types them, one after another in an empty folder with the files that the page shows.
//! Blocks that are marked `sh card` or `sh long` need a card, or measure or search for long: they are left out. All others
//! run, on small meshes.

use std::fs;
use std::path::Path;

mod common;
mod documents;

use common::{folder, good, refused};
use documents::{Documented, commands, documents, root};

/// Words of commands between other words that need a card, or that take longer than a test may.
const LONG: [&str; 8] =
    ["cuda", "cpu,cuda", "tune", "verify", "predict", "bench", "--plan", "--analyze"];

/// The arguments of a command that is run here: those of the page on a small mesh, for few steps.
fn small(command: &Documented) -> Option<Vec<String>> {
    let mut arguments = command.arguments()?.to_vec();
    let is_long = arguments.iter().any(|word| LONG.contains(&word.as_str()));
    if !command.is_whole || command.mark.is_some() || (!command.is_block && is_long) {
        return None;
    }
    if arguments.is_empty() {
        arguments.push("run".to_string());
    }
    let runs = arguments[0] == "run";
    for word in arguments.iter_mut().filter(|word| runs && word.starts_with("mesh.cells=")) {
        *word = "mesh.cells=48,48".to_string();
    }
    let has_mesh = arguments.iter().any(|word| word.starts_with("mesh.cells="));
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
        let Some(arguments) = small(command) else { continue };
        // An example of output may be of a file that only its reader has; a block of commands is to be followed.
        if !command.is_block && !is_ready(&arguments, folder) {
            continue;
        }
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
    // The tutorial has its own files.
    let tutorial = root().join("docs/src/tutorial.md");
    pages.retain(|path| path.starts_with(root().join("docs/src")) && *path != tutorial);
    let count: usize = pages.iter().map(|page| follow(&commands(page), &here)).sum();
    assert!(count >= 15, "{count}");
}

/// The blocks of a page: the words beside their fences, and their texts.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut parts = page.split("\n```");
    parts.next();
    let blocks = parts.step_by(2).filter_map(|part| part.split_once('\n'));
    blocks.map(|(fence, text)| (fence, text.to_string())).collect()
}

#[test]
fn the_page_of_the_tutorial_can_be_followed() {
    let here = folder("tutorial");
    let path = root().join("docs/src/tutorial.md");
    let page = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{e}"));
    for (file, language) in
        [("fisher.pde", "text"), ("colonies.toml", "toml"), ("front.toml", "toml")]
    {
        let text = block(&page, &format!("`{file}`"), language);
        fs::write(here.join(file), text).unwrap_or_else(|e| panic!("{e}"));
    }
    let all = commands(&path);
    let whole = all.iter().filter(|command| command.is_block && command.mark.is_none());
    assert_eq!(follow(&all, &here), whole.count());
    for left in ["out/colonies/population.png", "out/front-sweep/errors.png"] {
        assert!(here.join(left).is_file(), "no {left}");
    }
}

#[test]
fn declarations_are_refused_as_the_book_says() {
    let here = folder("beyond");
    let page = fs::read_to_string(root().join("docs/src/beyond.md"));
    let page = page.unwrap_or_else(|e| panic!("{e}"));
    let (mut taken, mut refused_ones) = (0, 0);
    for (fence, text) in blocks(&page) {
        fs::write(here.join("a.pde"), &text).unwrap_or_else(|e| panic!("{e}"));
        match fence.split(' ').collect::<Vec<_>>()[..] {
            ["pde"] => {
                good("check a.pde", &here);
                taken += 1;
            }
            ["pde", "refused", code] => {
                let said = refused("check a.pde", &here, 2);
                assert!(said.contains(code), "{text}: no {code} in\n{said}");
                refused_ones += 1;
            }
            _ => panic!("neither declared nor refused: {fence}"),
        }
    }
    assert!(taken >= 7 && refused_ones >= 9, "{taken}, {refused_ones}");
}
