//! Text in columns, at most [`WIDTH`] wide.

use std::fmt;

/// Columns of a terminal that a page is written for.
pub const WIDTH: usize = 100;

/// Rows of cells under a head. Columns are aligned; the last one wraps.
pub(crate) struct Table {
    indent: usize,
    /// Whether each column is of numbers, which end below each other.
    numbers: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with this head; a title that ends in `#` stands over numbers.
    pub(crate) fn new(indent: usize, head: &[&str]) -> Self {
        let numbers = head.iter().map(|title| title.ends_with('#')).collect();
        let titles = head.iter().map(|title| title.trim_end_matches('#').to_string()).collect();
        Table { indent, numbers, rows: vec![titles] }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    /// Whether there is nothing under the head.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.numbers.len() - 1;
        let widths: Vec<usize> = (0..last).map(|column| self.width(column)).collect();
        let before = self.indent + widths.iter().map(|width| width + 2).sum::<usize>();
        for row in &self.rows {
            let mut line = " ".repeat(self.indent);
            for (column, cell) in row.iter().enumerate() {
                let width = if column < last {
                    widths[column]
                } else if self.numbers[last] {
                    self.width(last)
                } else {
                    0
                };
                let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
                if self.numbers[column] {
                    line += &gap;
                    line += cell;
                } else if column < last {
                    line += cell;
                    line += &gap;
                } else {
                    line += &wrap(cell, WIDTH.saturating_sub(before).max(20))
                        .join(&format!("\n{}", " ".repeat(before)));
                }
                if column < last {
                    line += "  ";
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Breaks a text at spaces into lines of at most `width` characters, where words allow it.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split(' ') {
        let size = word.chars().count();
        let Some(line) = lines.last_mut() else { break };
        if length > 0 && length + 1 + size > width {
            lines.push(word.to_string());
            length = size;
        } else {
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(word);
            length += size;
        }
    }
    lines
}

/// A paragraph, its first line after `first`, all others as far to the right.
pub(crate) fn paragraph(first: &str, text: &str) -> String {
    let indent = first.chars().count();
    let lines = wrap(text, WIDTH.saturating_sub(indent).max(20));
    format!("{first}{}\n", lines.join(&format!("\n{}", " ".repeat(indent))))
}

/// An expression as a paragraph, broken between terms rather than inside of brackets.
pub(crate) fn equation(first: &str, text: &str) -> String {
    let mut depth = 0;
    let glued: String = text
        .chars()
        .map(|c| {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
            if c == ' ' && depth > 0 { GLUE } else { c }
        })
        .collect();
    let glued =
        paragraph(first, &glued.replace(" * ", "\u{a0}*\u{a0}").replace(" / ", "\u{a0}/\u{a0}"));
    let fits = glued.lines().all(|line| line.chars().count() <= WIDTH);
    if fits { glued.replace(GLUE, " ") } else { paragraph(first, text) }
}

/// A space at which no line ends.
const GLUE: char = '\u{a0}';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_the_last_wraps() {
        let mut table = Table::new(2, &["name", "cost#", "reads"]);
        table.row(["a".into(), "1".into(), "u".into()]);
        table.row(["long".into(), "100".into(), ["u_x 19,"; 20].join(" ")]);
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["  name  cost  reads", "  a        1  u"]);
        assert!(lines[2].starts_with("  long   100  u_x 19, u_x 19,"));
        assert!(lines[3].starts_with(&" ".repeat(14)) && !lines[3].starts_with(&" ".repeat(15)));
        assert!(lines.iter().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn equations_break_between_terms() {
        let term = "dot(u, grad(u))";
        let text = [term; 8].join(" + ");
        let page = equation("  ddt(u) = ", &text);
        assert!(
            page.lines().all(|line| line.matches('(').count() == line.matches(')').count()
                && line.len() <= WIDTH)
        );
        let long = format!("f({})", [term; 9].join(" + "));
        assert!(equation("", &long).lines().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn long_words_stay_whole() {
        assert_eq!(wrap("ab cd efghijkl m", 5), ["ab cd", "efghijkl", "m"]);
        assert_eq!(paragraph("  x = ", "y"), "  x = y\n");
    }
}
