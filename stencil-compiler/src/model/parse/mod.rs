//! Source to [`Model`]: the same parser for the tokens of a macro and for text.
//!
//! Two phases: tokens to a syntax tree (`items`, `expression`), then names and ranks
//! ([`super::check`]). Both go on after an error, so that one run reports them all.

use proc_macro2::{LexError, TokenStream};

use super::{Model, Symmetry, check, foreign};
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Diagnostics, Place, Span};

pub(super) mod ast;
mod condition;
mod expression;
mod items;
pub(super) mod number;
#[cfg(test)]
mod tests;
mod tokens;
mod unit;

pub(super) use expression::times;
pub(super) use items::type_name;
use tokens::{Cursor, Kind};

/// A request for a declaration.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    /// The number of dimensions, for a system `in nd`.
    pub(super) dimension: Option<usize>,
    pub(super) schemes: Schemes<'a>,
}

/// The schemes that have to be right.
#[derive(Clone, Copy)]
pub(super) enum Schemes<'a> {
    All,
    /// The one of this name, or the first.
    One(Option<&'a str>),
}

/// The number of dimensions in which a system is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimensions {
    /// This number: `in 2d`, or `in 2d of nd`.
    Fixed(usize),
    /// Any number: `in nd`.
    Any,
}

/// Reads a system and its schemes from text. A system `in nd` needs [`parse_str_in`].
///
/// ```
/// use stencil_compiler::model::parse::parse_str;
///
/// let heat = parse_str("system Heat in 2d { field q: scalar; ddt(q) = lap(q); }")?;
/// assert_eq!((heat.name.as_str(), heat.dimension), ("Heat", 2));
///
/// let errors = parse_str("system Heat in 2d { field q: scalar; ddt(q) = lap(p); }").unwrap_err();
/// assert!(errors.render("heat.pde", "..").starts_with("error[P0101]: no field"));
/// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
/// ```
///
/// # Errors
/// All errors of the text, in its order.
pub fn parse_str(source: &str) -> Result<Model, Diagnostics> {
    parse_str_in(source, None)
}

/// Reads a system and its schemes from text, for a number of dimensions if it is declared `in nd`.
///
/// ```
/// use stencil_compiler::model::parse::{Dimensions, dimensions, parse_str_in};
///
/// let text = "system Heat in nd { field q: scalar; ddt(q) = lap(q); }";
/// assert_eq!(dimensions(text), Some(Dimensions::Any));
/// assert_eq!(parse_str_in(text, Some(3))?.dimension, 3);
/// assert!(parse_str_in(text, None).is_err());
/// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
/// ```
///
/// # Errors
/// All errors of the text; no number of dimensions for a system `in nd`; one that is not 1, 2, 3
/// or the system's own.
pub fn parse_str_in(source: &str, dimension: Option<usize>) -> Result<Model, Diagnostics> {
    parse_tokens_in(lexed(source)?, dimension)
}

/// Reads a system from text as [`parse_str_in`] does, with one of its schemes: the one of this name, or the first.
/// Others are kept if they are right, and left out if they are not.
///
/// ```
/// use stencil_compiler::model::parse::{parse_str, parse_str_with};
///
/// let text = "system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
///     scheme wrong for Heat { space: central<order = 5>; }
///     scheme right for Heat { space: central<order = 4>; }";
/// assert!(parse_str(text).is_err());
/// assert!(parse_str_with(text, None, None).is_err());
/// assert_eq!(parse_str_with(text, None, Some("right"))?.scheme.order, 4);
/// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
/// ```
///
/// # Errors
/// See [`parse_str_in`], without those of schemes that are not requested.
pub fn parse_str_with(
    source: &str,
    dimension: Option<usize>,
    scheme: Option<&str>,
) -> Result<Model, Diagnostics> {
    let request = Request { dimension, schemes: Schemes::One(scheme) };
    parse_request(lexed(source)?, request)
}

/// Reads a system and its schemes from the tokens of a macro, as [`parse_str`] does from text.
///
/// # Errors
/// All errors of the tokens, in their order.
pub fn parse_tokens(tokens: TokenStream) -> Result<Model, Diagnostics> {
    parse_tokens_in(tokens, None)
}

/// Reads a system and its schemes from the tokens of a macro, as [`parse_str_in`] does from text.
///
/// # Errors
/// See [`parse_str_in`].
pub fn parse_tokens_in(
    tokens: TokenStream,
    dimension: Option<usize>,
) -> Result<Model, Diagnostics> {
    let schemes = Schemes::All;
    parse_request(tokens, Request { dimension, schemes })
}

fn parse_request(tokens: TokenStream, request: Request<'_>) -> Result<Model, Diagnostics> {
    let mut cursor = Cursor::new(tokens);
    let system = items::source(&mut cursor);
    let mut diagnostics = cursor.into_diagnostics();
    let model = system.and_then(|system| check::resolve::model(&system, request, &mut diagnostics));
    if model.is_none() && diagnostics.is_empty() {
        let message = "expected a `system`";
        diagnostics.push(Diagnostic::new(Code::Syntax, Span::default(), message));
    }
    // Without a model there are errors, so the alternative is never taken.
    diagnostics.into_result(model).and_then(|model| model.ok_or_else(Diagnostics::new))
}

/// The number of dimensions in which the system of a text is declared, from its first words only; `None` if they cannot
/// be found.
pub fn dimensions(source: &str) -> Option<Dimensions> {
    dimensions_of(source.parse().ok()?)
}

/// [`dimensions`] of the tokens of a macro.
pub fn dimensions_of(tokens: TokenStream) -> Option<Dimensions> {
    let mut cursor = Cursor::new(tokens);
    while !cursor.eat_word("system") {
        if cursor.at_end() {
            return None;
        }
        cursor.advance();
    }
    cursor.expect_name("a name").ok()?;
    cursor.expect_word("in").ok()?;
    match cursor.peek() {
        Kind::Word(word) if word == "nd" => Some(Dimensions::Any),
        Kind::Number(text) => {
            let number = text.strip_suffix('d')?.parse().ok()?;
            (1..=3).contains(&number).then_some(Dimensions::Fixed(number))
        }
        _ => None,
    }
}

/// The arguments and the value of a function.
pub(crate) struct Signature {
    pub(crate) name: String,
    /// The place of the name.
    pub(crate) span: Span,
    pub(crate) arguments: Vec<(String, Rank)>,
    pub(crate) rank: Rank,
}

/// Reads functions and nothing else, and returns the signature of the last one.
pub(crate) fn last_function(tokens: TokenStream) -> Result<Signature, Diagnostics> {
    let mut cursor = Cursor::new(tokens);
    let outcome = items::functions(&mut cursor);
    let all = cursor.into_diagnostics().into_result(outcome)?.ok();
    let last = all.and_then(|all| {
        let item = all.into_iter().next_back()?;
        let function = item.meaning?;
        let arguments = function.arguments.into_iter();
        Some(Signature {
            name: item.name.text,
            span: item.name.span,
            arguments: arguments.map(|(name, rank)| (name.text, rank)).collect(),
            rank: function.rank,
        })
    });
    last.ok_or_else(|| {
        let message = "expected a function: `fn name(a: scalar) -> scalar { .. }`";
        Diagnostic::new(Code::Syntax, Span::default(), message).into()
    })
}

/// The name of a rank in declarations.
pub(crate) fn rank_name(rank: Rank) -> &'static str {
    items::type_name(rank, Symmetry::General)
}

/// Reads one expression and nothing else.
pub(super) fn expression(source: &str) -> Result<ast::Ast, Diagnostics> {
    let mut cursor = Cursor::new(lexed(source)?);
    let outcome = expression::whole(&mut cursor);
    if outcome.is_ok() && !cursor.at_end() {
        cursor.expected("the end of the expression");
    }
    let diagnostics = cursor.into_diagnostics();
    diagnostics.into_result(outcome).and_then(|ast| ast.map_err(|_| Diagnostics::new()))
}

fn lexed(source: &str) -> Result<TokenStream, Diagnostics> {
    source.parse::<TokenStream>().map_err(|error| lexical(source, &error).into())
}

/// The text of a unit with the spacing that the parser gives it; `None` if it is not a unit.
pub(super) fn normal_unit(text: &str) -> Option<String> {
    let mut cursor = Cursor::new(format!("[{text}]").parse().ok()?);
    let unit = unit::bracketed(&mut cursor).ok()??;
    (cursor.at_end() && cursor.into_diagnostics().is_empty()).then_some(unit)
}

/// The error of a text that cannot be split into tokens.
fn lexical(source: &str, error: &LexError) -> Diagnostic {
    let span = Span::of(error.span());
    let found = char_at(source, span.start);
    let message = match found {
        Some(c) => format!("this does not read as a token or its bracket has no partner: `{c}`"),
        None => "the text ends inside a bracket or a literal".to_string(),
    };
    let line = source.lines().nth(span.start.line.saturating_sub(1) as usize);
    let help = line.zip(found).and_then(|(line, found)| {
        let chars = line.chars();
        let before: String = chars.take(span.start.column as usize).collect();
        let after = line.chars().skip(span.start.column as usize + 1);
        foreign::character(&before, found, &after.collect::<String>())
    });
    Diagnostic::new(Code::NotAToken, span, message).help_if(help)
}

/// The character at a place.
fn char_at(source: &str, place: Place) -> Option<char> {
    let line = source.lines().nth((place.line as usize).checked_sub(1)?)?;
    line.chars().nth(place.column as usize)
}
