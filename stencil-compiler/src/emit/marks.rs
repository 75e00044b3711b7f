//! Marks in a text that lead compilers and profilers back to the declaration: `#line` directives.
//!
//! They are put in last, and apart from the text: a kernel does not depend on where in a file its equations stand.

use std::collections::BTreeMap;

use super::Source;
use crate::algorithm::Algorithm;

/// The largest line that a directive may name (C++17, 19.4).
const LAST_LINE: u32 = i32::MAX as u32;

/// The places at which the grid functions of an algorithm were declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    file: String,
    lines: BTreeMap<String, u32>,
}

impl Places {
    /// The places that an algorithm carries; none if it does not know its file.
    pub fn of(algorithm: &Algorithm) -> Self {
        let known = |line: u32| (1..=LAST_LINE).contains(&line) && !algorithm.file.is_empty();
        let functions = algorithm.functions.iter();
        let lines = functions.filter(|f| known(f.span.start.line));
        Places {
            file: algorithm.file.clone(),
            lines: lines.map(|f| (f.name.clone(), f.span.start.line)).collect(),
        }
    }
}

/// A text with marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The text.
    pub text: String,
    file: String,
    /// Lines of the text (from 1) with a line of the declaration, and that line.
    lines: BTreeMap<usize, u32>,
}

impl Marked {
    /// The place in the declaration that a line of the text was made from: file and line.
    pub fn place(&self, line: usize) -> Option<(&str, u32)> {
        let at = self.lines.get(&line)?;
        Some((&self.file, *at))
    }

    /// The text with empty lines for marks: a compiler then names its own lines.
    pub fn without_marks(&self) -> String {
        let lines = self.text.lines();
        let kept = lines.map(|line| if is_mark(line) { "" } else { line });
        kept.flat_map(|line| [line, "\n"]).collect()
    }
}

impl Source {
    /// The text with a mark before each line that computes a declared value, and a mark that leads back to the text
    /// itself, which is the file `name`, before each other one. A mark names its file if the one before it is in another.
    pub fn marked(&self, places: &Places, name: &str) -> Marked {
        let mut marked =
            Marked { text: String::new(), file: places.file.clone(), lines: BTreeMap::new() };
        let mut origins = self.line_origins.iter().peekable();
        let mut written = 0;
        let mut elsewhere = false;
        for (at, line) in self.text.lines().enumerate() {
            let origin = origins.next_if(|(of, _)| *of == at + 1);
            match origin.and_then(|(_, function)| places.lines.get(function)) {
                // Lines after a mark count on, so each needs its own.
                Some(declared) => {
                    marked.text += &mark(*declared, (!elsewhere).then_some(places.file.as_str()));
                    marked.lines.insert(written + 2, *declared);
                    written += 1;
                    elsewhere = true;
                }
                None if elsewhere => {
                    marked.text += &mark(written as u32 + 2, Some(name));
                    written += 1;
                    elsewhere = false;
                }
                None => {}
            }
            marked.text += line;
            marked.text.push('\n');
            written += 1;
        }
        marked
    }
}

fn is_mark(line: &str) -> bool {
    line.starts_with("#line ")
}

/// The directive that the next line is this line of a file; of the same one as before without a name.
fn mark(line: u32, file: Option<&str>) -> String {
    let file = file.map_or(String::new(), |file| format!(" \"{}\"", spelled(file)));
    format!("#line {line}{file}\n")
}

/// A file name as it may stand between quotes: nothing in it can end the name or the line, neither
/// here nor in the assembler's text, to which compilers hand the name as it is, without escapes.
fn spelled(file: &str) -> String {
    let letter = |c: char| match c {
        '\\' => '/',
        '"' => '\'',
        // Part of a trigraph, or more than ASCII.
        '?' => '_',
        c if c == ' ' || c.is_ascii_graphic() => c,
        _ => '_',
    };
    file.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        let origins = [(3, "a"), (4, "b"), (5, "lost"), (7, "a")];
        Source {
            name: "k".into(),
            text: "head {\n  int x;\n  a1;\n  b1;\n  lost;\n  if {\n    a2;\n  }\n}\n".into(),
            shared_bytes: 0,
            needs: (8, 0),
            threads: [1; 3],
            line_notes: Vec::new(),
            line_origins: origins.map(|(line, of)| (line, of.to_string())).to_vec(),
        }
    }

    fn places(file: &str) -> Places {
        Places { file: file.into(), lines: [("a".to_string(), 12), ("b".to_string(), 9)].into() }
    }

    #[test]
    fn each_line_that_is_declared_has_its_mark_and_others_lead_to_themselves() {
        let marked = source().marked(&places("heat.pde"), "k.cu");
        let expected = [
            "head {",
            "  int x;",
            "#line 12 \"heat.pde\"",
            "  a1;",
            "#line 9",
            "  b1;",
            "#line 8 \"k.cu\"",
            "  lost;",
            "  if {",
            "#line 12 \"heat.pde\"",
            "    a2;",
            "#line 13 \"k.cu\"",
            "  }",
            "}",
            "",
        ];
        assert_eq!(marked.text, expected.join("\n"));
        assert_eq!(marked.place(4), Some(("heat.pde", 12)));
        assert_eq!(marked.place(6), Some(("heat.pde", 9)));
        assert_eq!(marked.place(8), None);
        assert_eq!(marked.place(11), Some(("heat.pde", 12)));
    }

    #[test]
    fn without_marks_each_line_is_where_it_was() {
        let marked = source().marked(&places("heat.pde"), "k.cu");
        let plain = marked.without_marks();
        for (found, wanted) in plain.lines().zip(marked.text.lines()) {
            assert!(found == wanted || (found.is_empty() && is_mark(wanted)));
        }
        assert_eq!(plain.lines().count(), marked.text.lines().count());
        let words = plain.lines().filter(|line| !line.is_empty());
        assert!(words.eq(source().text.lines()));
    }

    #[test]
    fn a_file_name_stays_inside_of_its_directive() {
        let worst = "a\"b\\c\n#include \"/etc/passwd\"\r\u{2028}\u{202e}\t??/\"é";
        let line = mark(7, Some(worst));
        assert_eq!(line, "#line 7 \"a'b/c_#include '/etc/passwd'______/'_\"\n");
        for c in (0..0x300).filter_map(char::from_u32) {
            let line = mark(7, Some(&c.to_string()));
            let name = line.strip_prefix("#line 7 \"").and_then(|rest| rest.strip_suffix("\"\n"));
            assert!(name.is_some_and(|name| !name.contains(['"', '\\', '\n'])), "{c:?}: {line}");
        }
    }
}
