//! The terminal at standard error: its width, and one line of it that changes.

use std::io::{self, IsTerminal, Write};

use terminal_size::{Width, terminal_size_of};

/// Columns of a terminal that does not tell how many it has.
pub(super) const COLUMNS: usize = 80;
/// Erases the rest of a line.
pub(super) const ERASE: &str = "\x1b[K";

/// Is standard error a terminal whose last line can be drawn again?
pub(super) fn redraws() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && !dumb
}

/// Returns the columns of the terminal at standard error, which change with its window.
pub(super) fn columns() -> Option<usize> {
    terminal_size_of(io::stderr()).map(|(Width(columns), _)| usize::from(columns))
}

/// Shows a text on a terminal, on one line that the next note or output replaces; does nothing elsewhere. A text
/// longer than the terminal is wide is cut.
///
/// ```
/// stencil_runtime::report::note("Heat f64: compiled 3 of 20");
/// stencil_runtime::report::clear_note();
/// ```
pub fn note(text: &str) {
    if redraws() {
        let line = cut(text, columns().unwrap_or(COLUMNS));
        // A closed terminal needs no note.
        let _ = write!(io::stderr(), "\r{line}{ERASE}\r");
    }
}

/// Erases the line of [`note`].
pub fn clear_note() {
    if redraws() {
        let _ = write!(io::stderr(), "\r{ERASE}");
    }
}

/// Cuts a text to a line of so many columns; the last one stays free, as a text there wraps on some terminals.
fn cut(text: &str, columns: usize) -> String {
    let text = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let room = columns.saturating_sub(1);
    if text.clone().count() <= room {
        return text.collect();
    }
    let kept = text.take(room.saturating_sub(1));
    kept.chain((room > 0).then_some('…')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_never_wider_than_the_terminal() {
        let text = "IsothermalNs f32, 12 s: compiled 3 of 20\n";
        for columns in 0..60 {
            let shown = cut(text, columns);
            assert!(shown.chars().count() < columns.max(1), "{columns}: {shown}");
            assert!(!shown.contains('\n'));
            assert_eq!(shown.ends_with('…'), (2..=41).contains(&columns), "{columns}");
        }
        assert_eq!(cut("waves", 6), "waves");
        assert_eq!(cut("waves", 5), "wav…");
    }
}
