//! Diagnostics as text with source lines and carets.

use super::{Diagnostic, Span};

/// Lines of a long span that are shown.
const SHOWN_LINES: usize = 6;

impl Diagnostic {
    /// The error with its source lines underlined, its notes and its help, as a terminal shows it.
    pub fn render(&self, source_name: &str, source_text: &str) -> String {
        let lines: Vec<&str> = source_text.lines().collect();
        let spans = self.notes.iter().filter_map(|(span, _)| *span);
        let last = spans.chain([self.span]).map(|s| s.end.line.max(s.start.line)).max();
        let margin = last.unwrap_or(0).to_string().len();
        let mut out = format!("error[{}]: {}\n", self.code, self.message);
        snippet(&mut out, self.span, source_name, &lines, margin);
        for (span, text) in &self.notes {
            match span {
                Some(span) if span.is_known() => {
                    out.push_str(&format!("note: {text}\n"));
                    snippet(&mut out, *span, source_name, &lines, margin);
                }
                _ => out.push_str(&format!("{:margin$} = note: {text}\n", "")),
            }
        }
        if let Some(help) = &self.help {
            out.push_str(&format!("{:margin$} = help: {help}\n", ""));
        }
        out
    }
}

/// ` --> name:line:column` and the lines of the span with carets.
fn snippet(out: &mut String, span: Span, name: &str, lines: &[&str], margin: usize) {
    if !span.is_known() {
        out.push_str(&format!("{:margin$}--> {name}\n", ""));
        return;
    }
    let (line, column) = (span.start.line, u64::from(span.start.column) + 1);
    out.push_str(&format!("{:margin$}--> {name}:{line}:{column}\n", ""));
    out.push_str(&format!("{:margin$} |\n", ""));
    let first = span.start.line as usize;
    let last = (span.end.line as usize).max(first);
    for number in first..=last {
        if number - first == SHOWN_LINES {
            out.push_str(&format!("{:margin$} | ..\n", ""));
            return;
        }
        let Some(text) = lines.get(number - 1) else {
            return;
        };
        // A tab or another control character would move the carets.
        let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        out.push_str(&format!("{number:>margin$} | {}\n", shown.trim_end()));
        let (from, to) = covered(span, number, &shown);
        let carets = "^".repeat(to.saturating_sub(from).max(1));
        // Not a format width: those end at 65535.
        let indent = " ".repeat(from);
        out.push_str(&format!("{:margin$} | {indent}{carets}\n", ""));
    }
}

/// The columns of one line that a span covers.
fn covered(span: Span, number: usize, line: &str) -> (usize, usize) {
    let length = line.trim_end().chars().count();
    let indent = line.chars().take_while(|c| c.is_whitespace()).count();
    let from = if number == span.start.line as usize {
        (span.start.column as usize).min(length)
    } else {
        indent.min(length)
    };
    let to = if number == span.end.line as usize {
        (span.end.column as usize).min(length)
    } else {
        length
    };
    (from, to)
}
