//! Rules about sentences: their first words, and phrases that have a plain form.

use std::path::Path;

use super::Violation;
use super::scan::Source;

/// First words of sentences that hide their subject.
const OPENINGS: [&str; 2] = ["What", "Where"];
/// Phrases that readers have to decode, and the plain form of each.
const PHRASES: [(&str, &str); 4] = [
    ("is no number", "write `is not finite` or `is NaN`"),
    ("are no numbers", "write `are not finite` or `are NaN`"),
    ("nothing is said", "write `by default`"),
    ("goes without saying", "write `is the default`"),
];

/// Checks the doc comments of a Rust file.
pub(super) fn docs(source: &Source) -> Vec<Violation> {
    let doc = |comment: &str| match comment.strip_prefix("//") {
        Some(text) => (!text.starts_with('/')).then(|| text.to_owned()),
        None => comment.strip_prefix("/!").map(str::to_owned),
    };
    let lines = source.numbered();
    check(&source.path, lines.map(|(at, l)| (at, doc(&l.comment))))
}

/// Checks a page of Markdown.
pub(super) fn page(path: &Path, text: &str) -> Vec<Violation> {
    let lines = text.lines().enumerate();
    check(path, lines.map(|(at, line)| (at + 1, Some(line.to_owned()))))
}

fn check(path: &Path, lines: impl Iterator<Item = (usize, Option<String>)>) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut add = |line, message, way_out| {
        found.push(Violation {
            file: path.to_path_buf(),
            line,
            rule: "sentences",
            message,
            way_out,
        });
    };
    for (line, sentence) in sentences(lines) {
        let opening = sentence.split(|c: char| !c.is_alphabetic()).next();
        if let Some(word) = opening.filter(|word| OPENINGS.contains(word))
            && !sentence.ends_with('?')
        {
            let way_out = "begin with the thing, or end the question with `?`";
            add(line, format!("a sentence begins with `{word}`"), way_out);
        }
        for (phrase, way_out) in PHRASES {
            if sentence.contains(phrase) {
                add(line, format!("`{phrase}`"), way_out);
            }
        }
    }
    found
}

/// Splits prose into sentences without the markup at their ends, each with its first line. Leaves out fenced code.
fn sentences(lines: impl Iterator<Item = (usize, Option<String>)>) -> Vec<(usize, String)> {
    let is_markup = |c: char| "*_\"'“”()[]#>-|".contains(c);
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
    for (number, line) in lines {
        let line = line.unwrap_or_default();
        let line = line.trim();
        is_code ^= line.starts_with("```");
        // A blank line, a heading, a row of a table and an entry of a list end a sentence.
        is_open &= !line.is_empty() && !line.starts_with(['#', '|', '-', '*', '>', '`']);
        for word in line.split_whitespace().filter(|_| !is_code) {
            let end = word.trim_end_matches(is_markup);
            let ends = end.ends_with(['.', '?', '!']) || word == "|";
            let word = if ends { end } else { word };
            match found.last_mut().filter(|_| is_open) {
                Some((_, sentence)) => sentence.extend([" ", word]),
                None => {
                    let word = word.trim_start_matches(is_markup);
                    if word.is_empty() {
                        continue;
                    }
                    found.push((number, word.to_owned()));
                }
            }
            is_open = !ends;
        }
        is_open &= !line.starts_with('#');
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_docs(path: &str, text: &str) -> Vec<usize> {
        let found = docs(&Source::read(Path::new(path), text));
        found.into_iter().map(|violation| violation.line).collect()
    }

    fn in_page(text: &str) -> Vec<usize> {
        let found = page(Path::new("README.md"), text);
        found.into_iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn doc_comments_begin_with_the_thing() {
        let path = "stencil-runtime/src/lib.rs";
        for riddle in [
            "/// What a buffer holds.",
            "//! Where kernels find rows.",
            "    /// A row. What is left.",
            "/// # Errors\n/// Where it fails.",
            "/// A value that\n/// is no number.",
            "/// **What a schedule is**, in short",
        ] {
            assert_eq!(in_docs(path, riddle).len(), 1, "{riddle}");
        }
        assert_eq!(in_docs(path, "/// A row: the\n/// first. What\n/// is left."), [2]);
        for plain in [
            "/// The role of a buffer.",
            "/// What does a buffer hold?",
            "/// A row\n/// Whatever it is",
            "// What is left.",
            "//// What is left.",
            "let text = \"/// What a buffer holds.\";",
            "/// ```\n/// What is code?\n/// Where it runs.\n/// ```",
        ] {
            assert!(in_docs(path, plain).is_empty(), "{plain}");
        }
    }

    #[test]
    fn pages_begin_sentences_with_the_thing() {
        let page =
            "# What it is\n\nA row.\nWhere it\nends.\n\n- What else\n\n| where | What it is |\n";
        assert_eq!(in_page(page), [1, 4, 7, 9]);
        assert_eq!(in_page("By default: nothing is said."), [1]);
        for plain in [
            "## What is a plan?",
            "| Where is it? | there |",
            "```\nWhat is code.\n```\n",
            "as in \"What\nis it?\"",
        ] {
            assert!(in_page(plain).is_empty(), "{plain}");
        }
    }
}
