//! A box of results at the end of a run.

use std::fmt;

/// A title, rows of names and values, and sections, in a box as wide as its widest line.
///
/// ```
/// use stencil_runtime::report::Summary;
///
/// let text = Summary::new("Taylor–Green vortex")
///     .row("grid", "64 × 64 × 64")
///     .row("steps", 500)
///     .section("Speed")
///     .row("points", format_args!("{:.1} Mpts/s", 812.34))
///     .to_string();
/// assert_eq!(text, "\
/// ╭─ Taylor–Green vortex ─╮
/// │ grid    64 × 64 × 64  │
/// │ steps   500           │
/// ├─ Speed ───────────────┤
/// │ points  812.3 Mpts/s  │
/// ╰───────────────────────╯");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    title: String,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Section(String),
    Row(String, String),
    Text(String),
}

impl Summary {
    /// Makes an empty box; the title may be empty.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: one_line(&title.into()), lines: Vec::new() }
    }

    /// Adds a name and its value. Values stand below each other; a value of several lines continues in the same
    /// column.
    pub fn row(mut self, name: impl fmt::Display, value: impl fmt::Display) -> Self {
        let mut name = one_line(&name.to_string());
        let value = value.to_string();
        for part in value.split('\n') {
            self.lines.push(Line::Row(std::mem::take(&mut name), one_line(part)));
        }
        self
    }

    /// Starts a section.
    pub fn section(mut self, title: impl Into<String>) -> Self {
        self.lines.push(Line::Section(one_line(&title.into())));
        self
    }

    /// Adds a text over the whole width; line ends are kept.
    pub fn text(mut self, text: impl fmt::Display) -> Self {
        let text = text.to_string();
        self.lines.extend(text.split('\n').map(|t| Line::Text(one_line(t))));
        self
    }

    /// Returns the columns between the two bars.
    fn width(&self, names: usize) -> usize {
        let line = |line: &Line| match line {
            Line::Section(title) => heading_width(title),
            Line::Row(_, value) => names + 2 + width(value) + 2,
            Line::Text(text) => width(text) + 2,
        };
        self.lines.iter().map(line).max().unwrap_or(0).max(heading_width(&self.title))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |line: &Line| match line {
            Line::Row(name, _) => width(name),
            Line::Section(_) | Line::Text(_) => 0,
        };
        let names = self.lines.iter().map(name).max().unwrap_or(0);
        let inside = self.width(names);
        heading(f, '╭', &self.title, '╮', inside)?;
        for line in &self.lines {
            f.write_str("\n")?;
            match line {
                Line::Section(title) => heading(f, '├', title, '┤', inside)?,
                Line::Row(name, value) => {
                    let rest = inside - 2 - names - 2;
                    write!(f, "│ {name:names$}  {value:rest$} │")?;
                }
                Line::Text(text) => write!(f, "│ {text:rest$} │", rest = inside - 2)?,
            }
        }
        write!(f, "\n╰{}╯", "─".repeat(inside))
    }
}

fn heading(
    f: &mut fmt::Formatter<'_>,
    l: char,
    title: &str,
    r: char,
    inside: usize,
) -> fmt::Result {
    if title.is_empty() {
        return write!(f, "{l}{}{r}", "─".repeat(inside));
    }
    write!(f, "{l}─ {title} {}{r}", "─".repeat(inside - width(title) - 3))
}

/// Returns the width of `─ title ─`.
fn heading_width(title: &str) -> usize {
    if title.is_empty() { 2 } else { width(title) + 4 }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Replaces tabs and line ends, which would break the box.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(summary: &Summary) -> Vec<usize> {
        summary.to_string().lines().map(width).collect()
    }

    #[test]
    fn all_lines_are_as_wide_as_the_widest() {
        let boxes = [
            Summary::new(""),
            Summary::new("a title wider than all the rest").row("a", 1),
            Summary::new("t").row("name", "a long value, with ρ, ∂ and ×"),
            Summary::new("t").row("a", 1).section("a section wider than the rest"),
            Summary::new("t").text("a text wider than the rest\nof two lines").row("a", "b"),
            Summary::new("t").row("a\tb", "x\r\ny").section("").row("", ""),
        ];
        for summary in boxes {
            let widths = widths(&summary);
            assert!(widths.iter().all(|w| *w == widths[0]), "{summary}\n{widths:?}");
        }
    }

    #[test]
    fn no_column_is_wasted() {
        let text = Summary::new("t").row("name", "0123456789").to_string();
        assert_eq!(text, "╭─ t ──────────────╮\n│ name  0123456789 │\n╰──────────────────╯");
    }

    #[test]
    fn a_long_value_goes_on_in_its_column() {
        let text = Summary::new("").row("files", "a.png\nb.npz").to_string();
        assert_eq!(text, "╭──────────────╮\n│ files  a.png │\n│        b.npz │\n╰──────────────╯");
    }
}
