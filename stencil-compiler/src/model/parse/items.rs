//! Systems, schemes and what is in them.

use super::ast::{EquationItem, FieldItem, LetItem, Name, ParamItem, SchemeItem, Setting, Source};
use super::expression;
use super::tokens::{Cursor, Kind, Parsed, Reported};
use super::unit;
use crate::diag::{Code, Diagnostic, Span, nearest};
use crate::model::{Comparison, Rank, Rational};

/// Words that start an item of a system.
const ITEMS: &[&str] = &["field", "param", "let", "ddt"];
/// Words that start a block.
const BLOCKS: &[&str] = &["system", "scheme", "pub"];
/// Words of planned or neighbouring languages, with what to write today.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("bc", "boundary conditions are set where the run is set up"),
    ("cfl", "the time step is given where the run is set up"),
    ("conserved", "write `field` and the equation with `div`"),
    ("const", "write `param` with a default"),
    ("domain", "the domain is given where the run is set up"),
    ("entropy", ""),
    ("flux", "write `ddt(h) = -div(..)`"),
    ("init", "initial values are given where the run is set up"),
    ("invariant", ""),
    ("lowering", "schedules are no part of the model"),
    ("source", "add the term to the equation"),
    ("state", "write `field`"),
    ("store", "whether a `let` is stored is up to the schedule"),
    ("unit", ""),
    ("verify", ""),
    ("watch", "output is chosen where the run is set up"),
    ("waves", ""),
];

/// Reads everything; `None` where there is no system.
pub(super) fn source(cursor: &mut Cursor) -> Option<Source> {
    let mut system: Option<Source> = None;
    let mut scheme: Option<SchemeItem> = None;
    while !cursor.at_end() {
        let before = cursor.position();
        let start = cursor.span();
        let doc = docs(cursor);
        cursor.eat_word("pub");
        if cursor.eat_word("system") {
            let first = system.is_none();
            match block(cursor, doc) {
                Ok(found) if first => system = Some(found),
                Ok(found) => {
                    second(cursor, "system", found.name.span);
                }
                Err(Reported) => cursor.recover(BLOCKS),
            }
        } else if cursor.eat_word("scheme") {
            let first = scheme.is_none();
            match scheme_block(cursor) {
                Ok(found) if first => scheme = Some(found),
                Ok(found) => {
                    second(cursor, "scheme", found.name.span);
                }
                Err(Reported) => cursor.recover(BLOCKS),
            }
        } else if system.is_none() {
            unknown_item(cursor, start, "`system`", &["system", "scheme"]);
            cursor.recover(BLOCKS);
        } else if !unsupported(cursor) {
            let message = format!("expected nothing more, found {}", cursor.found());
            let diagnostic = Diagnostic::new(Code::Trailing, cursor.span(), message);
            cursor.report(diagnostic);
            break;
        } else {
            cursor.recover(BLOCKS);
        }
        progress(cursor, before);
    }
    let mut system = system?;
    system.scheme = scheme;
    Some(system)
}

/// Recovery may stand still; a loop may not.
fn progress(cursor: &mut Cursor, before: usize) {
    if cursor.position() == before {
        cursor.advance();
    }
}

fn second(cursor: &mut Cursor, what: &str, span: Span) -> Reported {
    let message = format!("a second {what}");
    let help = format!("one `{what}` at a time: move it to a `pde!` of its own");
    cursor.report(Diagnostic::new(Code::Trailing, span, message).help(help))
}

/// Doc comments, as lines without their first space. They are also allowed before items, where
/// they are comments.
fn docs(cursor: &mut Cursor) -> Vec<String> {
    let mut lines = Vec::new();
    while cursor.is_punct('#') {
        let hash = cursor.span();
        let is_doc = matches!(
            (cursor.peek_at(1), cursor.peek_at(2), cursor.peek_at(3)),
            (Kind::Open('[', _), Kind::Word(doc), Kind::Punct('=', _)) if doc == "doc"
        );
        let text = match cursor.peek_at(4) {
            Kind::Quoted(literal) if is_doc => syn::parse_str::<syn::LitStr>(literal).ok(),
            _ => None,
        };
        if let Some(text) = text {
            for line in text.value().lines() {
                let line = line.replace(|c: char| c.is_control() && c != '\t', " ");
                lines.push(line.strip_prefix(' ').unwrap_or(&line).to_string());
            }
            if text.value().is_empty() {
                lines.push(String::new());
            }
        } else {
            let message = "attributes other than doc comments have no meaning here";
            cursor.report(Diagnostic::new(Code::Unsupported, hash, message));
        }
        cursor.advance();
        cursor.skip_bracket();
    }
    lines
}

/// Reports a word of another language, if one is next.
fn unsupported(cursor: &mut Cursor) -> bool {
    let Kind::Word(word) = cursor.peek() else {
        return false;
    };
    let Some((word, instead)) = UNSUPPORTED.iter().find(|(w, _)| w == word) else {
        return false;
    };
    let message = format!("`{word}` is not part of the language yet");
    let mut diagnostic = Diagnostic::new(Code::Unsupported, cursor.span(), message).note(
        "a system has `field`, `param`, `let` and `ddt(..) = ..`; beside it there is `scheme`",
    );
    if !instead.is_empty() {
        diagnostic = diagnostic.help(*instead);
    }
    cursor.report(diagnostic);
    true
}

/// Reports a word that starts no item.
fn unknown_item(cursor: &mut Cursor, start: Span, expected: &str, words: &[&str]) {
    if unsupported(cursor) {
        return;
    }
    let near = match cursor.peek() {
        Kind::Word(word) => nearest(word, words.iter().copied()),
        _ => None,
    };
    let span = start.join(cursor.span());
    let message = format!("expected {expected}, found {}", cursor.found());
    let help = near.map(|word| format!("did you mean `{word}`?"));
    cursor.report(Diagnostic::new(Code::Syntax, span, message).help_if(help));
}

fn name(cursor: &mut Cursor, what: &str) -> Parsed<Name> {
    let (text, span) = cursor.expect_name(what)?;
    Ok(Name { text, span })
}

/// `Name in 3d { .. }`
fn block(cursor: &mut Cursor, doc: Vec<String>) -> Parsed<Source> {
    let name = name(cursor, "the name of the system")?;
    let dimension = dimension(cursor).ok();
    cursor.expect_open('{')?;
    let mut source = Source {
        name,
        doc,
        dimension,
        fields: Vec::new(),
        params: Vec::new(),
        lets: Vec::new(),
        equations: Vec::new(),
        scheme: None,
    };
    while !cursor.is_close() {
        let before = cursor.position();
        if item(cursor, &mut source).is_err() {
            cursor.recover(ITEMS);
        }
        progress(cursor, before);
    }
    cursor.expect_close('}')?;
    Ok(source)
}

/// `in 3d`. After an error the next token is the `{`, if there is one.
fn dimension(cursor: &mut Cursor) -> Parsed<usize> {
    cursor.expect_word("in")?;
    let dimension = match cursor.peek() {
        Kind::Number(text) => match text.as_str() {
            "1d" => Some(1),
            "2d" => Some(2),
            "3d" => Some(3),
            _ => None,
        },
        _ => None,
    };
    let outcome = dimension.ok_or_else(|| cursor.expected("`1d`, `2d` or `3d`"));
    while !cursor.at_end() && !cursor.is_open('{') && !cursor.is_punct(';') {
        cursor.advance();
    }
    outcome
}

fn item(cursor: &mut Cursor, source: &mut Source) -> Parsed<()> {
    let start = cursor.span();
    docs(cursor);
    if cursor.is_close() {
        return Err(cursor.expected("an item after the doc comment"));
    }
    let at = cursor.position();
    if cursor.eat_word("field") {
        field(cursor, source)?;
    } else if cursor.eat_word("param") {
        param(cursor, source)?;
    } else if cursor.eat_word("let") {
        let name = name(cursor, "a name")?;
        let outcome = equals(cursor);
        let (value, outcome) = split(outcome);
        source.lets.push(LetItem { name, value, at });
        outcome?;
    } else if cursor.eat_word("ddt") {
        cursor.expect_open('(')?;
        let field = name(cursor, "the name of a field")?;
        cursor.expect_close(')')?;
        let outcome = equals(cursor);
        let (rhs, outcome) = split(outcome);
        source.equations.push(EquationItem {
            field,
            rhs,
            span: start.join(cursor.last_span()),
            at,
        });
        outcome?;
    } else {
        unknown_item(
            cursor,
            cursor.span(),
            "`field`, `param`, `let` or `ddt(..)`",
            ITEMS,
        );
        return Err(Reported);
    }
    semicolon(cursor)
}

/// A result as a value that may be missing and an error that may be there.
fn split<T>(outcome: Parsed<T>) -> (Option<T>, Parsed<()>) {
    match outcome {
        Ok(value) => (Some(value), Ok(())),
        Err(reported) => (None, Err(reported)),
    }
}

fn equals(cursor: &mut Cursor) -> Parsed<super::ast::Ast> {
    cursor.expect_punct('=')?;
    expression::whole(cursor)
}

/// The `;` that ends an item; its absence is reported where it is missing.
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

/// `u: vector [m/s]`
fn field(cursor: &mut Cursor, source: &mut Source) -> Parsed<()> {
    let name = name(cursor, "a name")?;
    // Declared even if the rest is wrong, so that its uses are not reported as well.
    source.fields.push(FieldItem {
        name,
        rank: None,
        unit: None,
    });
    cursor.expect_punct(':')?;
    let rank = match cursor.peek() {
        Kind::Word(word) => [Rank::Scalar, Rank::Vector, Rank::Tensor]
            .into_iter()
            .find(|rank| rank.name() == word),
        _ => None,
    };
    let Some(rank) = rank else {
        return Err(cursor.expected("`scalar`, `vector` or `tensor`"));
    };
    cursor.advance();
    let unit = unit::bracketed(cursor);
    if let Some(field) = source.fields.last_mut() {
        field.rank = Some(rank);
        field.unit = unit?;
    }
    Ok(())
}

/// `nu: real [m^2/s] = 5e-3 where nu >= 0`
fn param(cursor: &mut Cursor, source: &mut Source) -> Parsed<()> {
    let name = name(cursor, "a name")?;
    source.params.push(ParamItem {
        name: name.clone(),
        unit: None,
        default: None,
        bounds: Vec::new(),
    });
    cursor.expect_punct(':')?;
    if !cursor.eat_word("real") {
        return Err(cursor.expected("`real`"));
    }
    let unit = unit::bracketed(cursor)?;
    let mut default = None;
    if cursor.eat_punct('=') {
        default = Some(signed(cursor)?);
    }
    let mut bounds = Vec::new();
    if cursor.eat_word("where") {
        loop {
            bounds.push(bound(cursor, &name)?);
            if !cursor.eat_word("and") && !cursor.eat_punct(',') {
                break;
            }
        }
    }
    if let Some(param) = source.params.last_mut() {
        param.unit = unit;
        param.default = default;
        param.bounds = bounds;
    }
    Ok(())
}

/// `nu >= 0`
fn bound(cursor: &mut Cursor, name: &Name) -> Parsed<(Comparison, Rational, Span)> {
    let start = cursor.span();
    if !cursor.eat_word(&name.text) {
        return Err(cursor.expected(&format!("`{}`", name.text)));
    }
    let or_equal = matches!(cursor.peek_at(1), Kind::Punct('=', _));
    let comparison = match (cursor.peek(), or_equal) {
        (Kind::Punct('<', true), true) => Comparison::LessEqual,
        (Kind::Punct('>', true), true) => Comparison::GreaterEqual,
        (Kind::Punct('<', _), false) => Comparison::Less,
        (Kind::Punct('>', _), false) => Comparison::Greater,
        _ => return Err(cursor.expected("`<`, `<=`, `>` or `>=`")),
    };
    cursor.advance();
    if or_equal {
        cursor.advance();
    }
    let (value, span) = signed(cursor)?;
    Ok((comparison, value, start.join(span)))
}

/// A literal number with an optional sign.
fn signed(cursor: &mut Cursor) -> Parsed<(Rational, Span)> {
    let start = cursor.span();
    let negative = cursor.eat_punct('-');
    let Kind::Number(text) = cursor.peek() else {
        return Err(cursor.expected("a literal number"));
    };
    let text = text.clone();
    let value = expression::literal(cursor, &text)?;
    cursor.advance();
    let span = start.join(cursor.last_span());
    Ok((if negative { -value } else { value }, span))
}

/// `central6 for IsothermalNs { .. }`
fn scheme_block(cursor: &mut Cursor) -> Parsed<SchemeItem> {
    let scheme_name = name(cursor, "the name of the scheme")?;
    cursor.expect_word("for")?;
    let system = name(cursor, "the name of the system")?;
    cursor.expect_open('{')?;
    let mut settings = Vec::new();
    while !cursor.is_close() {
        let before = cursor.position();
        match setting(cursor) {
            Ok(setting) => settings.push(setting),
            Err(Reported) => cursor.recover(&["space", "mixed", "time"]),
        }
        progress(cursor, before);
    }
    cursor.expect_close('}')?;
    Ok(SchemeItem {
        name: scheme_name,
        system,
        settings,
    })
}

/// `space: central<order = 6>;`
fn setting(cursor: &mut Cursor) -> Parsed<Setting> {
    docs(cursor);
    let key = name(cursor, "`space`, `mixed` or `time`")?;
    cursor.expect_punct(':')?;
    let choice = name(cursor, "a choice")?;
    let mut argument = None;
    if cursor.eat_punct('<') {
        let key = name(cursor, "`order`")?;
        cursor.expect_punct('=')?;
        let Kind::Number(text) = cursor.peek() else {
            return Err(cursor.expected("a literal integer"));
        };
        let number = Name {
            text: text.clone(),
            span: cursor.span(),
        };
        cursor.advance();
        cursor.expect_punct('>')?;
        argument = Some((key, number));
    }
    semicolon(cursor)?;
    Ok(Setting {
        key,
        choice,
        argument,
    })
}
