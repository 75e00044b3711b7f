//! `fn limiter(a: scalar, b: scalar) -> scalar { .. }`: functions of cell values.

use super::{declared, equals, name, semicolon, words};
use crate::diag::{Code, Diagnostic, Span};
use crate::model::Iterations;
use crate::model::check::names;
use crate::model::parse::ast::{Ast, Function, FunctionItem, Name, Statement};
use crate::model::parse::expression;
use crate::model::parse::tokens::{Cursor, Kind, Parsed};

/// Loops in loops.
const NESTED_LOOPS: u32 = 6;

/// Reads a function behind the word `fn`.
pub(super) fn function(
    cursor: &mut Cursor,
    functions: &mut Vec<FunctionItem>,
    at: usize,
) -> Parsed<()> {
    let name = name(cursor, "the name of the function")?;
    functions.push(FunctionItem { name, meaning: None, at });
    cursor.expect_open('(')?;
    let (mut arguments, mut three) = (Vec::new(), None);
    while !cursor.is_close() {
        let name = super::name(cursor, "the name of an argument")?;
        cursor.expect_punct(':')?;
        let (rank, width) = declared::rank(cursor)?;
        three = three.or(width.three.then_some(width.span));
        arguments.push((name, rank));
        if !cursor.eat_punct(',') && !cursor.is_close() {
            return Err(cursor.expected("`,` or `)`"));
        }
    }
    cursor.expect_close(')')?;
    if !cursor.eat_pair(['-', '>']) {
        return Err(cursor.expected("`->` and the rank of the result"));
    }
    let (rank, width) = declared::rank(cursor)?;
    three = three.or(width.three.then_some(width.span));
    cursor.expect_open('{')?;
    let statements = statements(cursor, 0)?;
    if cursor.is_close() {
        let message = "a function ends in an expression, its value";
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message)
            .help("write the value last, without `;`");
        return Err(cursor.report(diagnostic));
    }
    let (until, start) = (cursor.is_word("until"), cursor.span());
    let value = expression::whole(cursor)?;
    if until && cursor.is_punct(';') {
        return Err(cursor.report(no_end(start)));
    }
    if cursor.is_punct(';') {
        let message = "the value of a function is its last expression, without `;`";
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message);
        return Err(cursor.report(diagnostic.help("remove the `;`")));
    }
    cursor.expect_close('}')?;
    if let Some(item) = functions.last_mut() {
        item.meaning = Some(Function { arguments, rank, three, statements, value });
    }
    Ok(())
}

/// Statements up to something that starts none.
fn statements(cursor: &mut Cursor, loops: u32) -> Parsed<Vec<Statement>> {
    let mut all = Vec::new();
    loop {
        words::docs(cursor);
        let statement = if cursor.eat_word("let") {
            let mutable = cursor.eat_word("mut");
            let name = name(cursor, "a name")?;
            let value = equals(cursor)?;
            semicolon(cursor)?;
            Statement::Let { name, mutable, value }
        } else if cursor.eat_word("for") {
            repeated(cursor, loops + 1)?
        } else if assignment(cursor) {
            let name = name(cursor, "a name")?;
            let value = equals(cursor)?;
            semicolon(cursor)?;
            Statement::Assign { name, value }
        } else if compound_assignment(cursor) {
            let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), "there is no `+=`")
                .help("write `x = x + a;`");
            return Err(cursor.report(diagnostic));
        } else {
            return Ok(all);
        };
        all.push(statement);
    }
}

/// Is `x = ` next, and not `x ==`?
fn assignment(cursor: &Cursor) -> bool {
    let named = matches!(cursor.peek(), Kind::Word(_));
    let equals = matches!(cursor.peek_at(1), Kind::Punct('=', _));
    let joint = *cursor.peek_at(1) == Kind::Punct('=', true);
    let comparison = joint && matches!(cursor.peek_at(2), Kind::Punct('=', _));
    named && equals && !comparison
}

/// Is `x +=` or the like next?
fn compound_assignment(cursor: &Cursor) -> bool {
    matches!(
        (cursor.peek(), cursor.peek_at(1), cursor.peek_at(2)),
        (Kind::Word(_), Kind::Punct('+' | '-' | '*' | '/', true), Kind::Punct('=', _))
    )
}

/// `i in 0..8 { .. }` or `i in 0..8 { ..; until(abs(step) < 1e-6); }`
fn repeated(cursor: &mut Cursor, loops: u32) -> Parsed<Statement> {
    let index: Name = name(cursor, "the index of the loop")?;
    cursor.expect_word("in")?;
    let start = cursor.span();
    let from = bound(cursor)?;
    if !cursor.eat_pair(['.', '.']) {
        return Err(cursor.expected("`..`"));
    }
    if cursor.is_punct('=') {
        let diagnostic = Diagnostic::new(Code::BadLoop, cursor.span(), "there is no `..=`")
            .help("the last number is not reached: `0..8` goes from 0 to 7");
        return Err(cursor.report(diagnostic));
    }
    let to = bound(cursor)?;
    let span = start.join(cursor.last_span());
    if loops > NESTED_LOOPS {
        let message = format!("more than {NESTED_LOOPS} loops inside of each other");
        return Err(cursor.report(Diagnostic::new(Code::BadLoop, span, message)));
    }
    cursor.expect_open('{')?;
    let body = statements(cursor, loops)?;
    let end = cursor.span();
    let until = match cursor.eat_word("until") {
        true => Some(test(cursor)?),
        false => None,
    };
    if until.is_some() && !cursor.is_close() {
        return Err(cursor.report(no_end(end)));
    }
    if !cursor.is_close() {
        let found = cursor.found();
        let message = format!("expected a statement or `}}`, found {found}");
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message)
            .help("a loop has no value: it assigns to names made with `let mut` above it");
        return Err(cursor.report(diagnostic));
    }
    cursor.expect_close('}')?;
    Ok(Statement::For { index, from, to, span, until, body })
}

/// The error for a test that ends no loop.
fn no_end(span: Span) -> Diagnostic {
    let message = "`until(..);` stands once in a loop, as its last statement";
    Diagnostic::new(Code::BadLoop, span, message)
        .help("write `for i in 0..20 { ..; until(abs(step) <= 1e-9); }`")
}

/// `(abs(step) < 1e-6);`, the end of the body of a loop. It reads like a call, so that functions of Rust may have it.
fn test(cursor: &mut Cursor) -> Parsed<Ast> {
    cursor.expect_open('(')?;
    let test = expression::whole(cursor)?;
    cursor.expect_close(')')?;
    semicolon(cursor)?;
    Ok(test)
}

/// `20 iterations of root`, as it is printed where functions are written out.
pub(super) fn iterations(cursor: &mut Cursor) -> Parsed<Iterations> {
    let start = cursor.span();
    let most = bound(cursor)?;
    let Some(most) = u32::try_from(most).ok().filter(|most| *most > 0) else {
        let message = "a loop has at least one iteration";
        return Err(cursor.report(Diagnostic::new(Code::BadLoop, start, message)));
    };
    cursor.expect_word("iterations")?;
    cursor.expect_word("of")?;
    let Name { text, span } = name(cursor, "the name of a function")?;
    if let Some(problem) = names::function_problem(&text) {
        return Err(cursor.report(Diagnostic::new(Code::BadName, span, problem)));
    }
    Ok(Iterations { function: text, most })
}

/// A literal integer.
fn bound(cursor: &mut Cursor) -> Parsed<i64> {
    let value = match cursor.peek() {
        Kind::Number(text) => text.parse().ok(),
        _ => None,
    };
    let Some(value) = value else {
        let message = format!("expected a literal integer, found {}", cursor.found());
        let diagnostic = Diagnostic::new(Code::BadLoop, cursor.span(), message)
            .help("write `for i in 0..8 { .. }`; the bounds are known when the system is read");
        return Err(cursor.report(diagnostic));
    };
    cursor.advance();
    Ok(value)
}
