//! Expressions, by precedence: `||` below `&&` below comparisons below `+ -` below `* /` below
//! unary `-` and `!` below `^` below `.x`.

use super::ast::{Ast, AstKind, Binary, Name};
use super::condition;
use super::number::{self, NumberError};
use super::tokens::{Cursor, Kind, Parsed, Reported};
use crate::diag::{Code, Diagnostic, Span};
use crate::expr::Rational;
use crate::model::HIGHEST;
use crate::model::check::{functions, limits};

/// Reads an expression and reports an operand that follows it.
pub(super) fn whole(cursor: &mut Cursor) -> Parsed<Ast> {
    inner(cursor, 0)
}

/// The precedence of a sign and of `!`.
const PREFIX: u32 = 6;

/// An operator that waits for its right operand.
#[derive(Clone, Copy)]
enum Waiting {
    /// A sign and its place.
    Neg(Span),
    /// A `!` and its place.
    Not(Span),
    Binary(Binary),
}

impl Waiting {
    /// Its precedence.
    fn precedence(self) -> u32 {
        match self {
            Waiting::Binary(operator) => operator.precedence(),
            Waiting::Neg(_) | Waiting::Not(_) => PREFIX,
        }
    }
}

/// An expression inside of `nesting` brackets. Precedence is kept with a list and not by
/// recursion, so that the depth of the stack follows the brackets only.
pub(super) fn inner(cursor: &mut Cursor, nesting: u32) -> Parsed<Ast> {
    if nesting > limits::NESTING {
        return Err(too_deep(cursor, cursor.span()));
    }
    let mut operands: Vec<Ast> = Vec::new();
    let mut waiting: Vec<Waiting> = Vec::new();
    loop {
        while let Some(prefix) = prefix(cursor) {
            waiting.push(prefix);
            cursor.advance();
        }
        let operand = atom(cursor, nesting)?;
        operands.push(suffixes(cursor, operand)?);
        let operator = operator(cursor)?;
        let next = operator.map_or(0, |o| Waiting::Binary(o).precedence());
        while let Some(top) = waiting.pop_if(|top| top.precedence() >= next) {
            apply(cursor, top, &mut operands)?;
        }
        match operator {
            Some(operator) => waiting.push(Waiting::Binary(operator)),
            None => break,
        }
    }
    end(cursor, operands.pop(), nesting)
}

/// The sign or `!` that is next.
fn prefix(cursor: &Cursor) -> Option<Waiting> {
    match cursor.peek() {
        Kind::Punct('-', _) => Some(Waiting::Neg(cursor.span())),
        Kind::Punct('!', _) => Some(Waiting::Not(cursor.span())),
        _ => None,
    }
}

/// Reads an operator with two operands, if one is next.
fn operator(cursor: &mut Cursor) -> Parsed<Option<Binary>> {
    if let Some(operator) = condition::operator(cursor)? {
        return Ok(Some(operator));
    }
    let operator = match cursor.peek() {
        Kind::Punct('+', _) => Binary::Add,
        Kind::Punct('-', _) => Binary::Sub,
        Kind::Punct('*', _) => Binary::Mul,
        Kind::Punct('/', _) => Binary::Div,
        _ => return Ok(None),
    };
    let start = cursor.span();
    cursor.advance();
    if operator == Binary::Mul && cursor.is_punct('*') {
        let span = start.join(cursor.span());
        let diagnostic = Diagnostic::new(Code::Syntax, span, "there is no operator `**`")
            .help("write `a^2` for a power");
        return Err(cursor.report(diagnostic));
    }
    Ok(Some(operator))
}

/// Replaces the operands of an operator by its result.
fn apply(cursor: &mut Cursor, operator: Waiting, operands: &mut Vec<Ast>) -> Parsed<()> {
    let Some(right) = operands.pop() else {
        return Err(cursor.expected("an expression"));
    };
    let result = match operator {
        Waiting::Neg(sign) => {
            let (span, depth) = (sign.join(right.span), right.depth);
            node(cursor, AstKind::Neg(Box::new(right)), span, depth)?
        }
        Waiting::Not(sign) => {
            let (span, depth) = (sign.join(right.span), right.depth);
            node(cursor, AstKind::Not(Box::new(right)), span, depth)?
        }
        Waiting::Binary(operator) => {
            let Some(left) = operands.pop() else {
                return Err(cursor.expected("an expression"));
            };
            let span = left.span.join(right.span);
            let depth = left.depth.max(right.depth);
            let kind = AstKind::Binary(operator, Box::new(left), Box::new(right));
            node(cursor, kind, span, depth)?
        }
    };
    operands.push(result);
    Ok(())
}

/// Ends an expression: no other operand may follow.
fn end(cursor: &mut Cursor, ast: Option<Ast>, nesting: u32) -> Parsed<Ast> {
    let Some(ast) = ast else {
        return Err(cursor.expected("an expression"));
    };
    let operand = match cursor.peek() {
        // These words join bounds, loops and parts of waves to expressions, and bounds to each other.
        Kind::Word(word) => !["where", "and", "within", "at", "spread"].contains(&word.as_str()),
        Kind::Number(_) | Kind::Open('(' | '[', _) => true,
        _ => false,
    };
    // On a new line it is rather the next item, and a `;` is missing.
    if operand && (nesting > 0 || cursor.span().start.line == ast.span.end.line) {
        if let Some((function, span)) = last_function(&ast) {
            return Err(without_parentheses(cursor, function, span));
        }
        let message = format!("expected an operator before {}", cursor.found());
        let span = ast.span.join(cursor.span());
        let diagnostic =
            Diagnostic::new(Code::Juxtaposition, span, message).help("write `*` for a product");
        return Err(cursor.report(diagnostic));
    }
    Ok(ast)
}

/// The function of the language that is the last operand of an expression, and its place.
fn last_function(ast: &Ast) -> Option<(&str, Span)> {
    let mut last = ast;
    loop {
        last = match &last.kind {
            AstKind::Neg(of) | AstKind::Not(of) | AstKind::Binary(_, _, of) => of,
            AstKind::Name(name) if functions().contains(&name.as_str()) => {
                return Some((name, last.span));
            }
            _ => return None,
        };
    }
}

/// Reports a function with its argument beside it: `grad q`.
fn without_parentheses(cursor: &mut Cursor, function: &str, span: Span) -> Reported {
    let message = format!("`{function}` without parentheses");
    let argument = match cursor.peek() {
        Kind::Word(text) | Kind::Number(text) => text.as_str(),
        _ => "..",
    };
    let help = format!("write `{function}({argument})`");
    let span = span.join(cursor.span());
    cursor.report(Diagnostic::new(Code::Juxtaposition, span, message).help(help))
}

/// Components and a power: `u.x^2`.
fn suffixes(cursor: &mut Cursor, mut ast: Ast) -> Parsed<Ast> {
    while cursor.eat_punct('.') {
        let (text, span) = cursor.expect_name("a component, such as `x`")?;
        let (whole, depth) = (ast.span.join(span), ast.depth);
        let kind = AstKind::Component(Box::new(ast), Name { text, span });
        ast = node(cursor, kind, whole, depth)?;
    }
    if !cursor.eat_punct('^') {
        return Ok(ast);
    }
    let exponent = exponent(cursor)?;
    let (span, depth) = (ast.span.join(cursor.last_span()), ast.depth);
    if cursor.is_punct('^') {
        let message = "a power of a power needs parentheses";
        let diagnostic = Diagnostic::new(Code::BadExponent, span.join(cursor.span()), message)
            .help("write `(a^2)^3`");
        return Err(cursor.report(diagnostic));
    }
    node(cursor, AstKind::Pow(Box::new(ast), exponent), span, depth)
}

/// A literal integer, with a sign, in parentheses or not.
fn exponent(cursor: &mut Cursor) -> Parsed<i32> {
    let start = cursor.span();
    let parenthesis = cursor.eat_open('(');
    let negative = cursor.eat_punct('-');
    let value = match cursor.peek() {
        Kind::Number(text) => {
            let text = text.clone();
            Some(literal(cursor, &text)?)
        }
        _ => None,
    };
    let is_number = value.is_some();
    let value = value
        .filter(Rational::is_integer)
        .and_then(|v| i32::try_from(v.to_integer()).ok())
        .filter(|v| *v <= limits::EXPONENT);
    let closed = !parenthesis || *cursor.peek_at(usize::from(value.is_some())) == Kind::Close(')');
    let (Some(value), true) = (value, closed) else {
        let largest = limits::EXPONENT;
        let message = format!("the exponent is a literal integer from -{largest} to {largest}");
        let help = match is_number {
            true => "`sqrt(a)` and `cbrt(a)` are roots, and `pow(a, b)` takes any exponent",
            false => "write `pow(a, b)` for an exponent that is an expression",
        };
        let diagnostic =
            Diagnostic::new(Code::BadExponent, start.join(cursor.span()), message).help(help);
        return Err(cursor.report(diagnostic));
    };
    cursor.advance();
    if parenthesis {
        cursor.expect_close(')')?;
    }
    Ok(if negative { -value } else { value })
}

fn atom(cursor: &mut Cursor, nesting: u32) -> Parsed<Ast> {
    let span = cursor.span();
    if cursor.eat_open('(') {
        let mut ast = inner(cursor, nesting + 1)?;
        close_parenthesis(cursor)?;
        ast.span = span.join(cursor.last_span());
        return Ok(ast);
    }
    if cursor.eat_open('[') {
        let entries = list(cursor, ']', nesting)?;
        let depth = deepest(&entries);
        let span = span.join(cursor.last_span());
        return node(cursor, AstKind::Stack(entries), span, depth);
    }
    match cursor.peek() {
        Kind::Word(word) if word == "if" => condition::if_expression(cursor, nesting),
        Kind::Word(word) if KEYWORDS.contains(&word.as_str()) => {
            let message = format!("expected an expression, found `{word}`");
            let diagnostic = Diagnostic::new(Code::Syntax, span, message)
                .help("statements stand in functions, and a branch of an `if` is one expression");
            Err(cursor.report(diagnostic))
        }
        Kind::Word(_) => named(cursor, nesting),
        _ => number_atom(cursor),
    }
}

/// Words that start or join statements.
const KEYWORDS: &[&str] = &["let", "mut", "for", "fn", "else"];

/// The `)` around an expression.
fn close_parenthesis(cursor: &mut Cursor) -> Parsed<()> {
    if cursor.is_punct(',') {
        let message = "expected `)`, found `,`";
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message)
            .help("a vector is written `[a, b, c]`");
        return Err(cursor.report(diagnostic));
    }
    cursor.expect_close(')')
}

fn number_atom(cursor: &mut Cursor) -> Parsed<Ast> {
    let span = cursor.span();
    let Kind::Number(text) = cursor.peek() else {
        let help = match cursor.peek() {
            Kind::Punct('.', _) => "a number starts with a digit: `0.5`",
            Kind::Punct('|', _) => {
                "write `abs(a)` for the size of a number, `norm(u)` for that of a vector"
            }
            _ => return Err(cursor.expected("an expression")),
        };
        let diagnostic = Diagnostic::new(Code::Syntax, span, "expected an expression").help(help);
        return Err(cursor.report(diagnostic));
    };
    let text = text.clone();
    // A bad number has the place of a number, so the text after it is still read.
    let kind = match number::real(&text) {
        Some(value) => AstKind::Real(value),
        None => literal(cursor, &text).map_or(AstKind::Wrong, AstKind::Number),
    };
    cursor.advance();
    node(cursor, kind, span, 0)
}

/// An expression that starts with a word: a name, a call or a derivative.
fn named(cursor: &mut Cursor, nesting: u32) -> Parsed<Ast> {
    let (text, span) = cursor.expect_name("a name")?;
    if cursor.eat_open('(') {
        let arguments = list(cursor, ')', nesting)?;
        let depth = deepest(&arguments);
        let whole = span.join(cursor.last_span());
        let kind = AstKind::Call(Name { text, span }, arguments);
        return node(cursor, kind, whole, depth);
    }
    if !cursor.is_open('[') {
        return node(cursor, AstKind::Name(text), span, 0);
    }
    let (axis, times) = derivative(cursor, &text)?;
    let of = inner(cursor, nesting + 1)?;
    cursor.expect_close(')')?;
    let depth = of.depth;
    let kind = AstKind::Derivative(axis, times, Box::new(of));
    node(cursor, kind, span.join(cursor.last_span()), depth)
}

/// The order of the derivative `d`, `d2` and so on; `None` for another word.
pub(in crate::model) fn times(word: &str) -> Option<u32> {
    match word.strip_prefix('d')? {
        "" => Some(1),
        digits => digits.parse().ok().filter(|n| (2..=HIGHEST).contains(n)),
    }
}

/// `[x](` after `d`, `d2` and so on: the axis, and how many times.
fn derivative(cursor: &mut Cursor, word: &str) -> Parsed<(Name, u32)> {
    let Some(times) = times(word) else {
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), "there is no indexing");
        let digits = word.strip_prefix('d').unwrap_or(word);
        let help = match digits.parse::<u32>() {
            Ok(_) => {
                format!("derivatives are `d[x](f)`, `d2[x](f)` and so on to `d{HIGHEST}[x](f)`")
            }
            Err(_) => format!("write `{word}.x` for a component"),
        };
        return Err(cursor.report(diagnostic.help(help)));
    };
    cursor.expect_open('[')?;
    let (text, span) = cursor.expect_name("an axis, such as `x`")?;
    let several = text.len() > 1 && text.chars().all(|c| "xyz".contains(c));
    if cursor.is_punct(',') || several {
        let message = "a derivative is along one axis";
        let help = "write `d[x](d[y](f))` for a mixed derivative, `d2[x](f)` for a second one";
        let diagnostic = Diagnostic::new(Code::Syntax, span.join(cursor.span()), message);
        return Err(cursor.report(diagnostic.help(help)));
    }
    cursor.expect_close(']')?;
    if !cursor.is_open('(') {
        let message = format!("expected `(`, found {}", cursor.found());
        let help = format!("write `{word}[{text}](f)`");
        let diagnostic = Diagnostic::new(Code::Syntax, cursor.span(), message);
        return Err(cursor.report(diagnostic.help(help)));
    }
    cursor.expect_open('(')?;
    Ok((Name { text, span }, times))
}

/// Expressions between commas, up to and with the closing bracket.
fn list(cursor: &mut Cursor, close: char, nesting: u32) -> Parsed<Vec<Ast>> {
    let mut entries = Vec::new();
    while !cursor.is_close() {
        entries.push(inner(cursor, nesting + 1)?);
        if !cursor.eat_punct(',') && !cursor.is_close() {
            return Err(cursor.expected(&format!("`,` or `{close}`")));
        }
    }
    cursor.expect_close(close)?;
    Ok(entries)
}

fn deepest(entries: &[Ast]) -> u32 {
    entries.iter().map(|e| e.depth).max().unwrap_or(0)
}

/// A node over children of the given depth.
pub(super) fn node(cursor: &mut Cursor, kind: AstKind, span: Span, below: u32) -> Parsed<Ast> {
    let depth = below + 1;
    if depth > limits::DEPTH {
        return Err(too_deep(cursor, span));
    }
    Ok(Ast { kind, span, depth })
}

fn too_deep(cursor: &mut Cursor, span: Span) -> Reported {
    let message = format!(
        "more than {} nested brackets or {} nested operations",
        limits::NESTING,
        limits::DEPTH
    );
    let diagnostic = Diagnostic::new(Code::TooDeep, span, message)
        .help("name parts of the expression with `let`");
    cursor.report(diagnostic)
}

/// The value of the number that is next.
pub(super) fn literal(cursor: &mut Cursor, text: &str) -> Parsed<Rational> {
    let (code, message, help) = match number::parse(text) {
        Ok(value) => return Ok(value),
        Err(NumberError::Suffix(number, suffix)) => (
            Code::GluedName,
            format!("`{text}` is one literal to Rust"),
            Some(format!("write `{number}*{suffix}`")),
        ),
        Err(NumberError::TypeSuffix(number)) => (
            Code::BadNumber,
            "numbers are exact and have no type".to_string(),
            Some(format!("write `{number}`")),
        ),
        Err(NumberError::NotDecimal) => {
            let message = "numbers are decimal".to_string();
            (Code::BadNumber, message, None)
        }
        Err(NumberError::TooLarge) => {
            let message = format!("`{text}` cannot be held as an exact fraction");
            (Code::BadNumber, message, None)
        }
    };
    let diagnostic = Diagnostic::new(code, cursor.span(), message).help_if(help);
    Err(cursor.report(diagnostic))
}
