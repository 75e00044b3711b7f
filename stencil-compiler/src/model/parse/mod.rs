//! Source to [`Model`]: the same parser for the tokens of a macro and for text.
//!
//! Two phases: tokens to a syntax tree (`items`, `expression`), then names and ranks
//! ([`super::check`]). Both go on after an error, so that one run reports them all.

use proc_macro2::{LexError, TokenStream};

use super::Model;
use super::check;
use crate::diag::{Code, Diagnostic, Diagnostics, Place, Span};

pub(super) mod ast;
mod expression;
mod items;
pub(super) mod number;
#[cfg(test)]
mod tests;
mod tokens;
mod unit;

use tokens::Cursor;

/// Reads a system and its scheme from text.
pub fn parse_str(source: &str) -> Result<Model, Diagnostics> {
    match source.parse::<TokenStream>() {
        Ok(tokens) => parse_tokens(tokens),
        Err(error) => Err(lexical(source, &error).into()),
    }
}

/// Reads a system and its scheme from the tokens of a macro.
pub fn parse_tokens(tokens: TokenStream) -> Result<Model, Diagnostics> {
    let mut cursor = Cursor::new(tokens);
    let source = items::source(&mut cursor);
    let mut diagnostics = cursor.into_diagnostics();
    let model = source.and_then(|source| check::resolve::model(&source, &mut diagnostics));
    if model.is_none() && diagnostics.is_empty() {
        let message = "expected a `system`";
        diagnostics.push(Diagnostic::new(Code::Syntax, Span::default(), message));
    }
    // Without a model there are errors, so the alternative is never taken.
    diagnostics
        .into_result(model)
        .and_then(|model| model.ok_or_else(Diagnostics::new))
}

/// The text of a unit with the spacing that the parser gives it; `None` if it is not a unit.
pub(super) fn normal_unit(text: &str) -> Option<String> {
    let mut cursor = Cursor::new(format!("[{text}]").parse().ok()?);
    let unit = unit::bracketed(&mut cursor).ok()??;
    (cursor.at_end() && cursor.into_diagnostics().is_empty()).then_some(unit)
}

/// What to say where the text is not even tokens.
fn lexical(source: &str, error: &LexError) -> Diagnostic {
    let span = Span::of(error.span());
    let found = char_at(source, span.start);
    let message = match found {
        Some(c) => format!("this does not read as a token or its bracket has no partner: `{c}`"),
        None => "the text ends inside a bracket or a literal".to_string(),
    };
    let diagnostic = Diagnostic::new(Code::NotAToken, span, message);
    match found {
        Some('∇') => diagnostic.help("write `grad(f)`, `div(u)` or `curl(u)`"),
        Some('∂') => diagnostic.help("write `d[x](f)`, or `ddt(f)` on the left of an equation"),
        Some('Δ') => diagnostic.help("write `lap(f)`"),
        Some('×') => diagnostic.help("write `cross(u, v)`"),
        Some('\'') => diagnostic.help("a prime is not part of a name"),
        _ => diagnostic,
    }
}

/// The character at a place.
fn char_at(source: &str, place: Place) -> Option<char> {
    let line = source.lines().nth((place.line as usize).checked_sub(1)?)?;
    line.chars().nth(place.column as usize)
}
