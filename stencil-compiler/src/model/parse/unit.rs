//! The text in unit brackets. Units are not interpreted, but their spacing is normal, so that
//! equal units are equal texts.

use super::tokens::{Cursor, Kind, Parsed};
use crate::diag::{Code, Diagnostic};

/// Reads `[m/s^2]` if there is one.
pub(super) fn bracketed(cursor: &mut Cursor) -> Parsed<Option<String>> {
    if !cursor.eat_open('[') {
        return Ok(None);
    }
    let mut text = String::new();
    let mut parentheses = 0_u32;
    // The last character, to put a space between words and to refuse `//`, which starts a comment.
    let mut last = ' ';
    loop {
        let class = match cursor.peek() {
            Kind::Word(_) | Kind::Number(_) => 'a',
            Kind::Punct(c @ ('*' | '/' | '^' | '-'), _) => *c,
            Kind::Open('(', _) => '(',
            Kind::Close(')') if parentheses > 0 => ')',
            Kind::Close(']') if parentheses == 0 && matches!(last, 'a' | ')') => break,
            _ => return Err(not_a_unit(cursor)),
        };
        let operator = |c: char| matches!(c, '*' | '/' | '^');
        if operator(class) && (operator(last) || matches!(last, ' ' | '-')) {
            return Err(not_a_unit(cursor));
        }
        match (class, cursor.peek()) {
            ('a', Kind::Word(word) | Kind::Number(word)) => {
                if matches!(last, 'a' | ')') {
                    text.push(' ');
                }
                text.push_str(word);
            }
            _ => text.push(class),
        }
        parentheses = match class {
            '(' => parentheses + 1,
            ')' => parentheses.saturating_sub(1),
            _ => parentheses,
        };
        last = class;
        cursor.advance();
    }
    cursor.expect_close(']')?;
    Ok(Some(text))
}

fn not_a_unit(cursor: &mut Cursor) -> super::tokens::Reported {
    let message = format!("expected a unit, found {}", cursor.found());
    let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message)
        .help("units are written like `[m/s^2]`, and `[1]` is no unit");
    cursor.report(diagnostic)
}
