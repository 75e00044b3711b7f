//! The commands that the documents tell their readers to type.

use std::fs;
use std::path::{Path, PathBuf};

/// A command with its place.
#[derive(Clone, Debug)]
pub(crate) struct Documented {
    /// `README.md:75`
    pub(crate) place: String,
    /// Its words, from the name of the program on; without comments, and without redirections of the output.
    pub(crate) words: Vec<String>,
    /// Whether it is in a block of commands, all of it, and not between other words.
    pub(crate) is_whole: bool,
    /// Whether it is in a block of commands, not beside their output.
    pub(crate) is_block: bool,
    /// The reason why tests do not run it: `card` or `long`, beside `sh` at the head of its block.
    pub(crate) mark: Option<String>,
}

impl Documented {
    /// The words after `stencil`, or after `cargo run --release --`; none for other programs.
    pub(crate) fn arguments(&self) -> Option<&[String]> {
        match self.words.split_first() {
            Some((program, rest)) if program == "stencil" => Some(rest),
            Some((program, rest)) if program == "cargo" => match rest {
                [run, release] if run == "run" && release == "--release" => Some(&[]),
                [run, release, dashes, rest @ ..]
                    if run == "run" && release == "--release" && dashes == "--" =>
                {
                    Some(rest)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// README, the pages of the book, and the README of a new package.
pub(crate) fn documents() -> Vec<PathBuf> {
    let root = root();
    let book = fs::read_dir(root.join("docs/src")).unwrap_or_else(|e| panic!("{e}"));
    let pages = book.flatten().map(|entry| entry.path());
    let mut pages: Vec<PathBuf> =
        pages.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    pages.sort();
    pages.insert(0, root.join("README.md"));
    pages.push(root.join("cli/src/new/template/README.md"));
    pages
}

/// The commands of a document: the lines of its `sh` blocks, those after `$` in other blocks, and those between backquotes.
pub(crate) fn commands(document: &Path) -> Vec<Documented> {
    let text =
        fs::read_to_string(document).unwrap_or_else(|e| panic!("{}: {e}", document.display()));
    let name = document.strip_prefix(root()).unwrap_or(document).display();
    let (mut found, mut fence, mut open) = (Vec::new(), None, String::new());
    for (at, line) in text.lines().enumerate() {
        let mut push = |text: &str, is_whole, is_block| {
            let words = words(text);
            if !words.is_empty() {
                let place = format!("{name}:{}", at + 1);
                let mark = fence.and_then(|language: &str| language.strip_prefix("sh "));
                let mark = mark.map(str::to_string);
                found.push(Documented { place, words, is_whole, is_block, mark });
            }
        };
        match (fence, line.strip_prefix("```")) {
            (None, Some(language)) => fence = Some(language),
            (Some(_), Some(_)) => fence = None,
            (Some(language), None) if language.split(' ').next() == Some("sh") => {
                match line.strip_suffix('\\') {
                    Some(begin) => open.push_str(begin),
                    None => push(&(std::mem::take(&mut open) + line), true, true),
                }
            }
            (Some(_), None) => {
                if let Some(command) = line.strip_prefix("$ ") {
                    push(command, true, false);
                }
            }
            (None, None) => {
                let quoted = line.split('`').skip(1).step_by(2);
                quoted
                    .filter(|text| text.starts_with("stencil "))
                    .for_each(|text| push(text, false, false));
            }
        }
    }
    found
}

/// The words of a command as a shell sees them, up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, '>' | '|') => break,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
