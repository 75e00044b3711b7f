//! Words that start items and blocks, doc comments, and words of other languages.

use crate::diag::{Code, Diagnostic, Span, nearest};
use crate::model::check::functions;
use crate::model::foreign::{self, COMMENT};
use crate::model::parse::tokens::{Cursor, Kind};

/// Words that start an item of a system.
pub(super) const ITEMS: &[&str] = &[
    "field",
    "conserved",
    "param",
    "source",
    "let",
    "fn",
    "ddt",
    "flux",
    "product",
    "primitive",
    "face",
    "edge",
    "average",
    "waves",
    "riemann",
    "observe",
    "cfl",
    "unit",
];
/// Words that start a block.
pub(super) const BLOCKS: &[&str] = &["system", "scheme", "fn", "pub"];
/// Words of planned features or other languages, with their replacements.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("bc", "boundary conditions are set where the run is set up"),
    ("const", "write `param` with a default"),
    ("domain", "the domain is given where the run is set up"),
    ("entropy", ""),
    ("init", "initial values are given where the run is set up"),
    ("invariant", ""),
    ("lowering", "schedules are no part of the model"),
    ("state", "write `field`"),
    ("store", "whether a `let` is stored is up to the schedule"),
    (
        "use",
        "`pde!` links functions of Rust with `use path::name;` before the system; in a file, write them out above it",
    ),
    ("verify", ""),
    ("watch", "write `observe name = mean(..);`"),
];

/// Doc comments, as lines without their first space. They are also allowed before items, where
/// they are comments.
pub(super) fn docs(cursor: &mut Cursor) -> Vec<String> {
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
            comment_or_attribute(cursor, hash);
            continue;
        }
        cursor.advance();
        cursor.skip_bracket();
    }
    lines
}

/// Reports and skips a `#` that begins no doc comment: an attribute, or a comment of other languages.
fn comment_or_attribute(cursor: &mut Cursor, hash: Span) {
    let is_attribute = matches!(cursor.peek_at(1), Kind::Open('[', _));
    cursor.advance();
    if is_attribute {
        let message = "attributes other than doc comments have no meaning here";
        cursor.report(Diagnostic::new(Code::Unsupported, hash, message));
        cursor.skip_bracket();
        return;
    }
    cursor.report(Diagnostic::new(Code::Syntax, hash, "`#` begins no comment").help(COMMENT));
    while cursor.span().start.line == hash.start.line && !cursor.at_end() {
        cursor.advance();
    }
}

/// Reports a word of another language, if one is next.
pub(super) fn unsupported(cursor: &mut Cursor) -> bool {
    let Kind::Word(word) = cursor.peek() else {
        return false;
    };
    let Some((word, instead)) = UNSUPPORTED.iter().find(|(w, _)| w == word) else {
        return false;
    };
    let message = format!("`{word}` is not part of the language yet");
    let mut diagnostic = Diagnostic::new(Code::Unsupported, cursor.span(), message).note(
        "a system has `field`, `conserved`, `param`, `source`, `let`, `fn`, `ddt(..) = ..`, `flux`, `product`, `primitive`, \
         `face`, `average`, `waves`, `riemann`, `observe` and `cfl`; beside it there is `scheme`",
    );
    if !instead.is_empty() {
        diagnostic = diagnostic.help(*instead);
    }
    cursor.report(diagnostic);
    true
}

/// Reports a word that starts no item.
pub(super) fn unknown_item(cursor: &mut Cursor, start: Span, expected: &str, words: &[&str]) {
    if unsupported(cursor) {
        return;
    }
    let near = match cursor.peek() {
        Kind::Word(word) => nearest(word, words.iter().copied()),
        _ => None,
    };
    let span = start.join(cursor.span());
    let message = format!("expected {expected}, found {}", cursor.found());
    let near = near.map(|word| format!("did you mean `{word}`?"));
    let help = match equation(cursor).filter(|_| words == ITEMS) {
        Some((help, true)) => Some(help),
        Some((help, false)) => near.or(Some(help)),
        None => near,
    };
    cursor.report(Diagnostic::new(Code::Syntax, span, message).help_if(help));
}

/// The way out if an equation follows, and whether its first word is certainly not another one misspelt.
fn equation(cursor: &Cursor) -> Option<(String, bool)> {
    let Kind::Word(word) = cursor.peek() else {
        return None;
    };
    let mut ahead = 1;
    loop {
        match cursor.peek_at(ahead) {
            Kind::Punct('=', _) => {
                if let Some(rate) = foreign::rate(word) {
                    return Some((rate, true));
                }
                let is_function = functions().contains(&word.as_str());
                return Some((foreign::equation(word, ahead == 1), is_function));
            }
            Kind::Punct(';', _) | Kind::Open('{', _) | Kind::Close('}') | Kind::End => return None,
            _ => ahead += 1,
        }
    }
}
