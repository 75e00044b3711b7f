//! Every command that README, the book and a new package's README show is one that this program takes.

use clap::Parser;
use clap::error::ErrorKind;

use crate::Cli;

#[path = "../tests/documents/mod.rs"]
mod documents;

use documents::{Documented, commands, documents};

/// Finds a mistake in a command.
fn mistake(command: &Documented) -> Option<String> {
    let arguments = command.arguments()?.iter().map(String::as_str);
    let error = Cli::try_parse_from(std::iter::once("stencil").chain(arguments)).err()?;
    // Help and the version are printed in place of a command.
    if !error.use_stderr() {
        return None;
    }
    // Between other words a command may be no more than its name, and its arguments placeholders.
    let is_begun = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::InvalidValue
            | ErrorKind::ValueValidation
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    let is_mistake = command.is_whole || !is_begun;
    is_mistake.then(|| format!("{}: {}\n{error}", command.place, command.words.join(" ")))
}

#[test]
fn every_documented_command_is_one_of_this_program() {
    let all: Vec<Documented> = documents().iter().flat_map(|page| commands(page)).collect();
    let mistakes: Vec<String> = all.iter().filter_map(mistake).collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let marks = all.iter().filter_map(|c| c.mark.as_deref());
    assert!(marks.clone().all(|mark| ["card", "long"].contains(&mark)), "{all:?}");
    assert!(all.iter().all(|c| c.is_whole || !c.is_block), "{all:?}");
    // Were the pages written otherwise, none might be found.
    let whole = all.iter().filter(|c| c.is_whole && c.arguments().is_some());
    assert!(whole.count() > 40, "{all:?}");
}

#[test]
fn a_wrong_command_is_found() {
    let command = |text: &str, is_whole| Documented {
        place: "README.md:1".to_string(),
        words: text.split(' ').map(str::to_string).collect(),
        is_whole,
        is_block: is_whole,
        mark: None,
    };
    for wrong in ["stencil ran", "stencil run --cell 3", "stencil emit --target cuda"] {
        assert!(mistake(&command(wrong, true)).is_some(), "{wrong}");
    }
    assert!(mistake(&command("cargo run --release -- run --sets a=1", true)).is_some());
    assert!(mistake(&command("stencil emit --target cuda", false)).is_none());
    assert!(mistake(&command("stencil emit --targets cuda", false)).is_some());
}
