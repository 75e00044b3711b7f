//! Splits Rust source into code, texts and comments, line by line. Enough of a lexer for word rules.

use std::path::{Path, PathBuf};

/// A source file as the rules see it.
#[derive(Debug)]
pub(super) struct Source {
    /// The path from the root of the workspace.
    pub(super) path: PathBuf,
    /// The lines, in order.
    pub(super) lines: Vec<Line>,
}

/// One line, taken apart.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// The line as it is.
    pub(super) raw: String,
    /// The code, with comments and the insides of texts blanked out.
    pub(super) code: String,
    /// The comments.
    pub(super) comment: String,
    /// The literal texts that end on this line.
    pub(super) texts: Vec<String>,
    /// Is the line part of a test?
    pub(super) in_test: bool,
}

enum State {
    Code,
    LineComment,
    BlockComment(u32),
    Text,
    RawText(usize),
}

impl Source {
    /// Takes a file apart.
    pub(super) fn read(path: &Path, text: &str) -> Self {
        let mut lines = split(text);
        mark_tests(&mut lines);
        let of_tests = path
            .components()
            .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
        for line in &mut lines {
            line.in_test |= of_tests;
        }
        Self { path: path.to_path_buf(), lines }
    }

    /// Does the file lie in the folder?
    pub(super) fn is_in(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }

    /// Returns the lines with their numbers, from 1.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Line)> {
        self.lines.iter().enumerate().map(|(index, line)| (index + 1, line))
    }
}

fn split(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut state = State::Code;
    let mut literal = String::new();
    for raw in text.lines() {
        let mut line = Line { raw: raw.to_owned(), ..Line::default() };
        let chars: Vec<char> = raw.chars().collect();
        let mut at = 0;
        while at < chars.len() {
            at += step(&chars, at, &mut state, &mut line, &mut literal);
        }
        if let State::LineComment = state {
            state = State::Code;
        }
        literal.push('\n');
        lines.push(line);
    }
    lines
}

/// Reads one token's worth of characters from `at`, and returns their number.
fn step(
    chars: &[char],
    at: usize,
    state: &mut State,
    line: &mut Line,
    literal: &mut String,
) -> usize {
    let here = chars[at];
    let next = chars.get(at + 1).copied();
    match *state {
        State::Code => return code(chars, at, state, line, literal),
        State::LineComment => line.comment.push(here),
        State::BlockComment(depth) => match (here, next) {
            ('*', Some('/')) => {
                *state = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
                return 2;
            }
            ('/', Some('*')) => {
                *state = State::BlockComment(depth + 1);
                return 2;
            }
            _ => line.comment.push(here),
        },
        State::Text => match here {
            '\\' => {
                literal.extend(next);
                return 2;
            }
            '"' => close(state, line, literal),
            _ => literal.push(here),
        },
        State::RawText(hashes) => {
            let closing =
                chars[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes;
            if here == '"' && closing {
                close(state, line, literal);
                return 1 + hashes;
            }
            literal.push(here);
        }
    }
    1
}

fn close(state: &mut State, line: &mut Line, literal: &mut String) {
    line.texts.push(std::mem::take(literal));
    line.code.push('"');
    *state = State::Code;
}

fn code(
    chars: &[char],
    at: usize,
    state: &mut State,
    line: &mut Line,
    literal: &mut String,
) -> usize {
    let here = chars[at];
    let next = chars.get(at + 1).copied();
    let after_name = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match (here, next) {
        ('/', Some('/')) => *state = State::LineComment,
        ('/', Some('*')) => {
            *state = State::BlockComment(1);
            return 2;
        }
        ('"', _) => {
            *state = State::Text;
            literal.clear();
            line.code.push('"');
        }
        ('r', Some('"' | '#')) if !after_name || chars[at - 1] == 'b' => {
            let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
            if chars.get(at + 1 + hashes) == Some(&'"') {
                *state = State::RawText(hashes);
                literal.clear();
                line.code.push('"');
                return 2 + hashes;
            }
            line.code.push(here);
        }
        // A character, not a lifetime: it closes again.
        ('\'', Some('\\')) => {
            let end = chars
                .iter()
                .skip(at + 3)
                .position(|&c| c == '\'')
                .map_or(chars.len(), |found| at + 4 + found);
            line.code.push_str("' '");
            return end - at;
        }
        ('\'', Some(_)) if chars.get(at + 2) == Some(&'\'') => {
            line.code.push_str("' '");
            return 3;
        }
        _ => line.code.push(here),
    }
    1
}

/// Marks items behind `#[cfg(test)]` or `#[test]`, up to the closing brace.
fn mark_tests(lines: &mut [Line]) {
    let mut depth = 0_i64;
    let mut pending = false;
    let mut until: Option<i64> = None;
    for line in lines {
        pending |= until.is_none()
            && (line.code.contains("#[cfg(test)]") || line.code.contains("#[test]"));
        line.in_test = pending || until.is_some();
        for c in line.code.chars() {
            match c {
                '{' => {
                    if pending {
                        (pending, until) = (false, Some(depth));
                    }
                    depth += 1;
                }
                '}' => {
                    depth -= 1;
                    if until == Some(depth) {
                        until = None;
                    }
                }
                ';' => pending = false,
                _ => {}
            }
        }
    }
}

/// Returns the identifiers of a piece of code or prose.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| !name.is_empty())
}

/// Returns an identifier in snake case, so that `ShallowWater` and `SHALLOW_WATER` are one word.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::new();
    let mut lower = false;
    for c in name.chars() {
        if c.is_uppercase() && lower {
            snake.push('_');
        }
        lower = c.is_lowercase() || c.is_ascii_digit();
        snake.extend(c.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Source {
        Source::read(Path::new("a.rs"), text)
    }

    #[test]
    fn comments_and_texts_are_not_code() {
        let source = read(
            "let a = \"b // c\"; // d\n/* e /* f */\ng */ h('\"', '\\'', 'x'); r#\"i \" j\"#;\nfn k<'a>(l: &'a str) {}\n",
        );
        let code: Vec<&str> = source.lines.iter().map(|line| line.code.trim()).collect();
        assert_eq!(
            code,
            ["let a = \"\";", "", "h(' ', ' ', ' '); \"\";", "fn k<'a>(l: &'a str) {}"]
        );
        assert_eq!(source.lines[0].texts, ["b // c"]);
        assert_eq!(source.lines[0].comment, "/ d");
        assert_eq!(source.lines[2].texts, ["i \" j"]);
    }

    #[test]
    fn texts_may_span_lines() {
        let source = read("let a = \"b\n  unsafe \\\" c\";\nd();");
        assert_eq!(source.lines[1].code, "\";");
        assert_eq!(source.lines[1].texts, ["b\n  unsafe \" c"]);
        assert_eq!(source.lines[2].code, "d();");
    }

    #[test]
    fn tests_end_with_their_brace() {
        let source = read(
            "fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}",
        );
        let marks: Vec<bool> = source.lines.iter().map(|line| line.in_test).collect();
        assert_eq!(marks, [false, true, true, true, true, false, true, true, false]);
        assert!(Source::read(Path::new("a/tests/b.rs"), "x").lines[0].in_test);
    }

    #[test]
    fn names_are_compared_in_snake_case() {
        assert_eq!(
            ["ShallowWater", "SHALLOW_WATER", "mhd", "Mhd2d"].map(snake),
            ["shallow_water", "shallow_water", "mhd", "mhd2d"]
        );
        assert_eq!(names("a::b_c(d)").collect::<Vec<_>>(), ["a", "b_c", "d"]);
    }
}
