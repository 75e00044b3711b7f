//! Diagnostics as `compile_error!` at the user's tokens.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use stencil_compiler::diag::{self, Diagnostic, Diagnostics, Place};

/// Makes one `compile_error!` for each diagnostic, and one for each note with a place of its own: stable Rust has no
/// secondary labels.
pub(crate) fn compile_errors(input: &TokenStream, diagnostics: &Diagnostics) -> TokenStream {
    let mut tokens = Vec::new();
    flatten(input.clone(), &mut tokens);
    let mut out = TokenStream::new();
    for diagnostic in diagnostics {
        out.extend(error_at(&tokens, diagnostic.span, &message(diagnostic)));
        for (span, text) in &diagnostic.notes {
            if let Some(span) = span.filter(|span| span.is_known()) {
                let text = format!("[{} related] {text}", diagnostic.code);
                out.extend(error_at(&tokens, span, &text));
            }
        }
    }
    out
}

/// Returns the message with its notes and its help, one a line.
fn message(diagnostic: &Diagnostic) -> String {
    let mut text = format!("[{}] {}", diagnostic.code, diagnostic.message);
    for (span, note) in &diagnostic.notes {
        if span.is_none() {
            text.push_str(&format!("\n  = note: {note}"));
        }
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("\n  = help: {help}"));
    }
    text
}

/// Makes `compile_error! { "text" }`, which rustc underlines from its first token to its braces.
fn error_at(tokens: &[Span], span: diag::Span, text: &str) -> TokenStream {
    let (first, last) = ends(tokens, span);
    let mut bang = Punct::new('!', Spacing::Alone);
    bang.set_span(first);
    let mut literal = Literal::string(text);
    literal.set_span(last);
    let mut braces = Group::new(Delimiter::Brace, TokenTree::from(literal).into());
    braces.set_span(last);
    let name = Ident::new("compile_error", first);
    [TokenTree::from(name), bang.into(), braces.into()].into_iter().collect()
}

/// Returns the first and the last token inside of a span; the macro's call site if there is none.
fn ends(tokens: &[Span], span: diag::Span) -> (Span, Span) {
    let starts_inside = |token: &&Span| span.is_known() && start(token) >= span.start;
    let ends_inside = |token: &&Span| span.is_known() && diag::Span::of(**token).end <= span.end;
    let first = tokens.iter().find(starts_inside);
    let last = tokens.iter().rev().find(ends_inside);
    match (first, last) {
        (Some(first), Some(last)) if start(first) <= start(last) => (*first, *last),
        // A place between tokens: the token after it, or the one before the end of input.
        (Some(token), _) | (None, Some(token)) => (*token, *token),
        (None, None) => (Span::call_site(), Span::call_site()),
    }
}

fn start(token: &Span) -> Place {
    diag::Span::of(*token).start
}

/// Adds the places of all tokens in the order of the source.
fn flatten(stream: TokenStream, out: &mut Vec<Span>) {
    let mut open = vec![(stream.into_iter(), None)];
    while let Some((stream, close)) = open.last_mut() {
        match stream.next() {
            Some(TokenTree::Group(group)) => {
                let visible = group.delimiter() != Delimiter::None;
                if visible {
                    out.push(group.span_open());
                }
                let close = visible.then(|| group.span_close());
                open.push((group.stream().into_iter(), close));
            }
            Some(tree) => out.push(tree.span()),
            None => {
                out.extend(close.take());
                open.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stencil_compiler::diag::Code;

    fn tokens(source: &str) -> TokenStream {
        source.parse().expect("the test source is tokens")
    }

    #[test]
    fn an_error_spans_from_its_first_to_its_last_token() {
        let input = tokens("a = grad(u)\n + v;");
        let span =
            diag::Span { start: Place { line: 1, column: 4 }, end: Place { line: 2, column: 4 } };
        let diagnostic = Diagnostic::new(Code::RankMismatch, span, "no \"fit\"").help("way out");
        let out = compile_errors(&input, &diagnostic.into());
        let trees: Vec<TokenTree> = out.into_iter().collect();
        assert_eq!(trees.len(), 3);
        assert_eq!(diag::Span::of(trees[0].span()).start, span.start);
        assert_eq!(diag::Span::of(trees[2].span()).end, span.end);
        let text = trees[2].to_string();
        assert!(text.contains("[P0201] no \\\"fit\\\""), "{text}");
        assert!(text.contains("= help: way out"), "{text}");
    }

    #[test]
    fn a_note_with_a_place_is_an_error_of_its_own() {
        let input = tokens("a b");
        let place = |column| Place { line: 1, column };
        let span = diag::Span { start: place(2), end: place(3) };
        let diagnostic = Diagnostic::new(Code::DuplicateName, diag::Span::default(), "twice")
            .note_at(span, "here");
        let trees: Vec<TokenTree> =
            compile_errors(&input, &diagnostic.into()).into_iter().collect();
        assert_eq!(trees.len(), 6);
        assert_eq!(diag::Span::of(trees[3].span()), span);
        assert!(trees[5].to_string().contains("[P0103 related] here"));
    }
}
