//! Systems, schemes and their items; one file for each kind of item.

use super::ast::{Ast, EquationItem, FunctionItem, LetItem, Name, System, Written};
use super::expression;
use super::tokens::{Cursor, Kind, Parsed, Reported};
use crate::catalogue::Centering;
use crate::diag::{Code, Diagnostic, Span};

mod conserved;
mod declared;
mod function;
mod observables;
mod riemann;
mod scheme;
mod words;

pub(in crate::model) use declared::type_name;
use words::{BLOCKS, ITEMS, docs, unknown_item, unsupported};

/// Reads everything; `None` without a system.
pub(super) fn source(cursor: &mut Cursor) -> Option<System> {
    let mut system: Option<System> = None;
    let mut schemes = Vec::new();
    let mut functions = Vec::new();
    while !cursor.at_end() {
        let before = cursor.position();
        let start = cursor.span();
        let doc = docs(cursor);
        cursor.eat_word("pub");
        let at = cursor.position();
        if system.is_none() && cursor.eat_word("fn") {
            if function::function(cursor, &mut functions, at).is_err() {
                cursor.recover(before, BLOCKS);
            }
        } else if cursor.eat_word("system") {
            let first = system.is_none();
            match block(cursor, doc) {
                Ok(found) if first => system = Some(found),
                Ok(found) => second_system(cursor, found.name.span),
                Err(Reported) => cursor.recover(before, BLOCKS),
            }
        } else if cursor.eat_word("scheme") {
            match scheme::block(cursor) {
                Ok(found) => schemes.push(found),
                Err(Reported) => cursor.recover(before, BLOCKS),
            }
        } else if system.is_none() {
            unknown_item(cursor, start, "`system` or `fn`", BLOCKS);
            cursor.recover(before, BLOCKS);
        } else if unsupported(cursor) {
            cursor.recover(before, BLOCKS);
        } else {
            let message = format!("expected nothing more, found {}", cursor.found());
            let diagnostic = Diagnostic::new(Code::Trailing, cursor.span(), message);
            cursor.report(diagnostic);
            break;
        }
        progress(cursor, before);
    }
    let mut system = system?;
    system.schemes = schemes;
    functions.append(&mut system.functions);
    system.functions = functions;
    Some(system)
}

/// Reads functions and nothing else.
pub(super) fn functions(cursor: &mut Cursor) -> Parsed<Vec<FunctionItem>> {
    let mut all = Vec::new();
    while !cursor.at_end() {
        let at = cursor.position();
        cursor.expect_word("fn")?;
        function::function(cursor, &mut all, at)?;
    }
    Ok(all)
}

/// Recovery may stand still; a loop may not.
fn progress(cursor: &mut Cursor, before: usize) {
    if cursor.position() == before {
        cursor.advance();
    }
}

fn second_system(cursor: &mut Cursor, span: Span) {
    let diagnostic = Diagnostic::new(Code::Trailing, span, "a second system")
        .help("one `system` at a time: move it to a `pde!` of its own");
    cursor.report(diagnostic);
}

fn name(cursor: &mut Cursor, what: &str) -> Parsed<Name> {
    let (text, span) = cursor.expect_name(what)?;
    Ok(Name { text, span })
}

/// `Name in 3d { .. }`
fn block(cursor: &mut Cursor, doc: Vec<String>) -> Parsed<System> {
    let name = name(cursor, "the name of the system")?;
    let dimension = dimension(cursor).ok();
    cursor.expect_open('{')?;
    let mut system = System::new(name, doc, dimension);
    while !cursor.is_close() {
        let before = cursor.position();
        if item(cursor, &mut system).is_err() {
            cursor.recover(before, ITEMS);
        }
        progress(cursor, before);
    }
    cursor.expect_close('}')?;
    Ok(system)
}

/// `in 3d`, `in nd`, or `in 3d of nd`. After an error the next token is the `{`, if there is one.
fn dimension(cursor: &mut Cursor) -> Parsed<Written> {
    cursor.expect_word("in")?;
    let span = cursor.span();
    let number = match cursor.peek() {
        Kind::Number(text) => ["1d", "2d", "3d"].iter().position(|d| d == text),
        _ => None,
    };
    let outcome = if cursor.eat_word("nd") {
        Ok((None, true))
    } else if let Some(number) = number {
        cursor.advance();
        let generic = cursor.eat_word("of");
        match generic {
            true => cursor.expect_word("nd").map(|()| (Some(number + 1), true)),
            false => Ok((Some(number + 1), false)),
        }
    } else {
        Err(cursor.expected("`1d`, `2d`, `3d` or `nd`"))
    };
    let span = span.join(cursor.last_span());
    while !cursor.at_end() && !cursor.is_open('{') && !cursor.is_punct(';') {
        cursor.advance();
    }
    outcome.map(|(number, generic)| Written { number, generic, span })
}

fn item(cursor: &mut Cursor, system: &mut System) -> Parsed<()> {
    let start = cursor.span();
    docs(cursor);
    if cursor.is_close() {
        return Err(cursor.expected("an item after the doc comment"));
    }
    let at = cursor.position();
    let word = match cursor.peek() {
        Kind::Word(word) if ITEMS.contains(&word.as_str()) => word.clone(),
        _ => {
            let items = "`field`, `conserved`, `param`, `source`, `let`, `fn`, `ddt(..)`, `flux`, `product`, `primitive`, `face`, `average`, `waves`, `riemann`, `observe` or `cfl`";
            unknown_item(cursor, cursor.span(), items, ITEMS);
            return Err(Reported);
        }
    };
    cursor.advance();
    match word.as_str() {
        "field" => declared::field(cursor, system, (false, Centering::Cell))?,
        "conserved" => declared::field(cursor, system, (true, Centering::Cell))?,
        "param" => declared::param(cursor, system)?,
        "source" => declared::source(cursor, system, at)?,
        "let" => named(cursor, system, at)?,
        "fn" => return function::function(cursor, &mut system.functions, at),
        "ddt" => equation(cursor, system, at, start)?,
        "flux" => conserved::flux(cursor, &mut system.fluxes, at, start)?,
        "product" => conserved::flux(cursor, &mut system.products, at, start)?,
        "waves" => return conserved::waves(cursor, system),
        "primitive" => return conserved::primitive(cursor, system),
        "face" if cursor.is_open('{') => return conserved::face(cursor, system),
        "face" | "edge" => centered(cursor, system, &word)?,
        "average" => return conserved::average(cursor, system),
        "riemann" => return riemann::solver(cursor, system),
        "observe" => observables::observe(cursor, system, at)?,
        "cfl" => return observables::cfl(cursor, system),
        _ => declared::unit(cursor)?,
    }
    semicolon(cursor)
}

/// `field b: vector` or `conserved b: vector`, behind the word for the places of its values.
fn centered(cursor: &mut Cursor, system: &mut System, word: &str) -> Parsed<()> {
    let conserved = cursor.eat_word("conserved");
    if !conserved && !cursor.eat_word("field") {
        return Err(cursor.expected("`field` or `conserved`"));
    }
    let mut named = Centering::NAMED.into_iter().filter(|(name, _)| *name == word);
    let centering = named.next().map_or(Centering::Cell, |(_, centering)| centering);
    declared::field(cursor, system, (conserved, centering))
}

/// `s = ..`, `p = .. where p > 0`, or `r = .. within 20 iterations of root`
fn named(cursor: &mut Cursor, system: &mut System, at: usize) -> Parsed<()> {
    let (item, outcome) = let_item(cursor, at)?;
    let declared = item.name.clone();
    system.lets.push(item);
    outcome?;
    declared::ranges(cursor, system, &declared)
}

/// `s = ..` or `r = .. within 20 iterations of root`, declared even if the rest is wrong.
fn let_item(cursor: &mut Cursor, at: usize) -> Parsed<(LetItem, Parsed<()>)> {
    let name = name(cursor, "a name")?;
    let (value, outcome) = split(equals(cursor));
    let (within, outcome) = match outcome.is_ok() && cursor.eat_word("within") {
        true => split(function::iterations(cursor)),
        false => (None, outcome),
    };
    let item = LetItem { name, value, within, at };
    Ok((item, outcome))
}

/// `(u) = ..`
fn equation(cursor: &mut Cursor, system: &mut System, at: usize, start: Span) -> Parsed<()> {
    cursor.expect_open('(')?;
    let field = field_of_rate(cursor)?;
    let (rhs, outcome) = split(equals(cursor));
    system.equations.push(EquationItem { field, rhs, span: start.join(cursor.last_span()), at });
    outcome
}

/// `u)`, the name of a field.
fn field_of_rate(cursor: &mut Cursor) -> Parsed<Name> {
    let start = cursor.span();
    if cursor.is_word("ddt") && matches!(cursor.peek_at(1), Kind::Open('(', _)) {
        let message = "a second derivative in time";
        let help = "declare the first one as a field: `field v: scalar;`, `ddt(q) = v;` and `ddt(v) = ..;`";
        return Err(cursor.report(Diagnostic::new(Code::Syntax, start, message).help(help)));
    }
    let field = name(cursor, "the name of a field")?;
    if matches!(cursor.peek(), Kind::Punct(..) | Kind::Open(..)) {
        let span = start.join(cursor.span());
        let message = "`ddt(..)` is of a field, and this is an expression";
        let help =
            "let what is differentiated be a field, or write the rate of each of its factors";
        return Err(cursor.report(Diagnostic::new(Code::Syntax, span, message).help(help)));
    }
    cursor.expect_close(')')?;
    Ok(field)
}

/// A result as a value that may be missing and an error that may be there.
fn split<T>(outcome: Parsed<T>) -> (Option<T>, Parsed<()>) {
    match outcome {
        Ok(value) => (Some(value), Ok(())),
        Err(reported) => (None, Err(reported)),
    }
}

fn equals(cursor: &mut Cursor) -> Parsed<Ast> {
    cursor.expect_punct('=')?;
    expression::whole(cursor)
}

/// The `;` that ends an item. If it is missing, the end of the item is underlined.
fn semicolon(cursor: &mut Cursor) -> Parsed<()> {
    if cursor.eat_punct(';') {
        return Ok(());
    }
    if cursor.is_close() || cursor.span().start.line > cursor.last_span().end.line {
        let message = "expected `;` after this";
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.last_span(), message);
        return Err(cursor.report(diagnostic));
    }
    Err(cursor.expected("`;`"))
}
