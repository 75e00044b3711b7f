//! Colours of messages. `anstream` leaves them out where they are not wanted: in a pipe, with `NO_COLOR`, `CLICOLOR=0` or
//! `TERM=dumb`; with `CLICOLOR_FORCE` it keeps them in a pipe.

use anstyle::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HELP: Style = AnsiColor::Green.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();
const MARGIN: Style = AnsiColor::Blue.on_default().bold();

/// Labels at the beginning of a line, with their colours.
const LABELS: [(&str, Style); 4] =
    [("error", ERROR), ("help", HELP), ("note", NOTE), ("warning", NOTE)];

/// A message with its labels, margins and carets in colour.
pub(crate) fn painted(message: &str) -> String {
    let lines: Vec<String> = message.split('\n').map(line).collect();
    lines.join("\n")
}

fn line(text: &str) -> String {
    let body = text.trim_start();
    let indent = &text[..text.len() - body.len()];
    // ` = help: ..` is a label below source lines.
    let (sign, rest) = match body.strip_prefix("= ") {
        Some(rest) => (paint(MARGIN, "=") + " ", rest),
        None => (String::new(), body),
    };
    if let Some((label, style)) = label(rest) {
        return format!("{indent}{sign}{}{}", paint(style, label), &rest[label.len()..]);
    }
    if let Some(place) = body.strip_prefix("-->") {
        return format!("{indent}{}{place}", paint(MARGIN, "-->"));
    }
    match body.split_once('|') {
        Some((number, source)) if number.trim_end().chars().all(|c| c.is_ascii_digit()) => {
            let margin = paint(MARGIN, &format!("{number}|"));
            let carets = source.trim();
            let is_marked = !carets.is_empty() && carets.chars().all(|c| c == '^');
            match is_marked {
                true => format!("{indent}{margin}{}", paint(ERROR, source)),
                false => format!("{indent}{margin}{source}"),
            }
        }
        _ => text.to_string(),
    }
}

/// `error:`, `error[P0101]:`, `help:` and the like at the beginning of a text, with its colour.
fn label(text: &str) -> Option<(&str, Style)> {
    LABELS.iter().find_map(|(word, style)| {
        let after = text.strip_prefix(word)?;
        let code = match after.strip_prefix('[') {
            Some(code) => code.find(']')? + 2,
            None => 0,
        };
        let colon = after[code..].starts_with(':');
        colon.then(|| (&text[..word.len() + code + 1], *style))
    })
}

fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = "error[P0101]: no field `haet`\n --> a.pde:3:21\n  |\n3 |     ddt(heat) = lap(haet);\n  \
                           |                     ^^^^\n  = help: did you mean `heat`?\nerrors: |x| is no label, 3 | 4";

    #[test]
    fn colours_add_nothing_but_colours() {
        let painted = painted(MESSAGE);
        let plain = anstream::adapter::strip_str(&painted).to_string();
        assert_eq!(plain, MESSAGE);
        for colored in [
            paint(ERROR, "error[P0101]:"),
            paint(HELP, "help:"),
            paint(MARGIN, "3 |"),
            paint(MARGIN, "-->"),
        ] {
            assert!(painted.contains(&colored), "{painted:?}");
        }
        assert!(painted.contains(&format!("{ERROR}                     ^^^^")), "{painted:?}");
        assert!(painted.ends_with("\nerrors: |x| is no label, 3 | 4"), "{painted:?}");
    }

    #[test]
    fn any_text_is_painted() {
        for odd in
            ["", "\n", "error", "error[", "error[]", "= ", "|", "é|^", "error[é]: x", " = error"]
        {
            let painted = painted(odd);
            assert_eq!(anstream::adapter::strip_str(&painted).to_string(), odd);
        }
    }
}
