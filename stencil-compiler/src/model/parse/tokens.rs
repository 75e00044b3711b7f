//! A flat list of tokens and a place in it.
//!
//! Flat, so that nothing recurses over brackets; brackets know their partners, so that recovery
//! after an error is a jump.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use crate::diag::{Code, Diagnostic, Diagnostics, Span};

/// An error that was already reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

/// The result of a parsing function.
pub(super) type Parsed<T> = Result<T, Reported>;

/// The kind of a token. Brackets are their characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A name or keyword.
    Word(String),
    /// A number with its suffix.
    Number(String),
    /// A string or character literal, as written.
    Quoted(String),
    /// An operator character, and whether another follows without space.
    Punct(char, bool),
    /// An opening bracket, and the place of its partner.
    Open(char, usize),
    /// A closing bracket.
    Close(char),
    /// After the last token.
    End,
}

/// A token with its place.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

/// The tokens, the next one, and the errors so far.
pub(super) struct Cursor {
    tokens: Vec<Token>,
    next: usize,
    diagnostics: Diagnostics,
}

impl Cursor {
    pub(super) fn new(stream: TokenStream) -> Self {
        Cursor { tokens: flatten(stream), next: 0, diagnostics: Diagnostics::new() }
    }

    pub(super) fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics
    }

    /// The next token.
    pub(super) fn peek(&self) -> &Kind {
        self.peek_at(0)
    }

    /// The token after `ahead` others.
    pub(super) fn peek_at(&self, ahead: usize) -> &Kind {
        // The list ends in `End`, and is never empty.
        self.tokens.get(self.next + ahead).map_or(&Kind::End, |token| &token.kind)
    }

    /// The place of the next token.
    pub(super) fn span(&self) -> Span {
        let at = self.next.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(at).map_or(Span::default(), |t| t.span)
    }

    /// The place of the token just read.
    pub(super) fn last_span(&self) -> Span {
        let last = self.next.checked_sub(1).and_then(|i| self.tokens.get(i));
        last.map_or(self.span(), |t| t.span)
    }

    pub(super) fn at_end(&self) -> bool {
        *self.peek() == Kind::End
    }

    /// The number of tokens that were read.
    pub(super) fn position(&self) -> usize {
        self.next
    }

    pub(super) fn advance(&mut self) {
        if !self.at_end() {
            self.next += 1;
        }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Kind::Word(w) if w == word)
    }

    pub(super) fn is_punct(&self, punct: char) -> bool {
        matches!(self.peek(), Kind::Punct(c, _) if *c == punct)
    }

    pub(super) fn is_open(&self, bracket: char) -> bool {
        matches!(self.peek(), Kind::Open(c, _) if *c == bracket)
    }

    pub(super) fn is_close(&self) -> bool {
        matches!(self.peek(), Kind::Close(_) | Kind::End)
    }

    /// Reads the word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next += 1;
        }
        found
    }

    /// Reads the operator character if it is next.
    pub(super) fn eat_punct(&mut self, punct: char) -> bool {
        let found = self.is_punct(punct);
        if found {
            self.next += 1;
        }
        found
    }

    /// Reads an operator of two characters, without space between them, if it is next.
    pub(super) fn eat_pair(&mut self, pair: [char; 2]) -> bool {
        let found = *self.peek() == Kind::Punct(pair[0], true)
            && matches!(self.peek_at(1), Kind::Punct(c, _) if *c == pair[1]);
        if found {
            self.next += 2;
        }
        found
    }

    /// Reads the opening bracket if it is next.
    pub(super) fn eat_open(&mut self, bracket: char) -> bool {
        let found = self.is_open(bracket);
        if found {
            self.next += 1;
        }
        found
    }

    pub(super) fn expect_punct(&mut self, punct: char) -> Parsed<()> {
        if self.eat_punct(punct) {
            return Ok(());
        }
        Err(self.expected(&format!("`{punct}`")))
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) {
            return Ok(());
        }
        Err(self.expected(&format!("`{word}`")))
    }

    pub(super) fn expect_open(&mut self, bracket: char) -> Parsed<()> {
        if self.eat_open(bracket) {
            return Ok(());
        }
        Err(self.expected(&format!("`{bracket}`")))
    }

    pub(super) fn expect_close(&mut self, bracket: char) -> Parsed<()> {
        if *self.peek() == Kind::Close(bracket) {
            self.next += 1;
            return Ok(());
        }
        Err(self.expected(&format!("`{bracket}`")))
    }

    /// Reads a word that is to be a name.
    pub(super) fn expect_name(&mut self, what: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        if let Kind::Word(word) = self.peek() {
            let word = word.clone();
            self.next += 1;
            return Ok((word, span));
        }
        Err(self.expected(what))
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.diagnostics.push(diagnostic);
        Reported
    }

    /// Reports that the next token is not the expected one.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let message = format!("expected {what}, found {}", self.found());
        let diagnostic = Diagnostic::new(Code::Syntax, self.span(), message);
        self.report(diagnostic)
    }

    /// The next token for a message.
    pub(super) fn found(&self) -> String {
        match self.peek() {
            Kind::Word(text) | Kind::Number(text) | Kind::Quoted(text) => format!("`{text}`"),
            Kind::Punct(c, _) | Kind::Open(c, _) | Kind::Close(c) => format!("`{c}`"),
            Kind::End => "the end".to_string(),
        }
    }

    /// Jumps over the bracket whose opening is next, with all that is in it.
    pub(super) fn skip_bracket(&mut self) {
        if let Kind::Open(_, partner) = self.peek() {
            self.next = partner + 1;
        }
    }

    /// After an error in an item that starts at `start`: leaves the brackets that were opened since,
    /// reads up to and with the next `;` or `{..}`, stops before the end of the block and before a
    /// word that `starts` an item on a new line.
    pub(super) fn recover(&mut self, start: usize, starts: &[&str]) {
        let line = self.last_span().end.line;
        if self.leave_brackets(start) && !self.is_word("else") {
            self.eat_punct(';');
            return;
        }
        loop {
            match self.peek() {
                Kind::End | Kind::Close('}') => return,
                Kind::Punct(';', _) => return self.advance(),
                Kind::Open('{', _) => {
                    self.skip_bracket();
                    // An `if` may go on, and an item that contains one still has its `;`.
                    if !self.is_word("else") {
                        self.eat_punct(';');
                        return;
                    }
                }
                Kind::Open(..) => self.skip_bracket(),
                Kind::Word(word)
                    if starts.contains(&word.as_str()) && self.span().start.line > line =>
                {
                    return;
                }
                Kind::Word(_)
                | Kind::Number(_)
                | Kind::Quoted(_)
                | Kind::Punct(..)
                | Kind::Close(_) => self.advance(),
            }
        }
    }

    /// Goes on behind the bracket that was opened since `start` and is not closed yet, if there is
    /// one; answers whether it is a `{..}`.
    fn leave_brackets(&mut self, start: usize) -> bool {
        let (mut at, mut block) = (start, false);
        while at < self.next {
            let open = match self.tokens.get(at).map(|t| &t.kind) {
                Some(Kind::Open(c, partner)) => Some((*c, *partner)),
                _ => None,
            };
            block = open.is_some_and(|(c, partner)| c == '{' && partner >= self.next);
            at = open.map_or(at, |(_, partner)| partner) + 1;
        }
        self.next = at.min(self.tokens.len().saturating_sub(1));
        block
    }
}

/// The tree of tokens as a list that ends in [`Kind::End`].
fn flatten(stream: TokenStream) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut last = Span::default();
    // Streams that are not used up, each with the bracket that it is inside of.
    let mut open: Vec<(proc_macro2::token_stream::IntoIter, Option<Bracket>)> =
        vec![(stream.into_iter(), None)];
    while let Some((stream, bracket)) = open.last_mut() {
        let Some(tree) = stream.next() else {
            if let Some(bracket) = bracket.take() {
                last = bracket.end;
                bracket.close(&mut out);
            }
            open.pop();
            continue;
        };
        let span = Span::of(tree.span());
        let kind = match tree {
            TokenTree::Group(group) => {
                let bracket = Bracket::open(&group, &mut out);
                open.push((group.stream().into_iter(), bracket));
                continue;
            }
            TokenTree::Ident(ident) => Kind::Word(ident.to_string()),
            TokenTree::Punct(punct) => {
                Kind::Punct(punct.as_char(), punct.spacing() == Spacing::Joint)
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.starts_with(|c: char| c.is_ascii_digit()) {
                    Kind::Number(text)
                } else {
                    Kind::Quoted(text)
                }
            }
        };
        last = span;
        out.push(Token { kind, span });
    }
    let end = Span { start: last.end, end: last.end };
    out.push(Token { kind: Kind::End, span: end });
    out
}

/// A bracket whose content is being read.
struct Bracket {
    at: usize,
    close: char,
    end: Span,
}

impl Bracket {
    /// Writes the opening bracket. An invisible one, which a macro puts around an expression it
    /// passes on, groups like a parenthesis; around a single token it is nothing.
    fn open(group: &proc_macro2::Group, out: &mut Vec<Token>) -> Option<Bracket> {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ('(', ')'),
            Delimiter::Bracket => ('[', ']'),
            Delimiter::Brace => ('{', '}'),
            Delimiter::None if group.stream().into_iter().nth(1).is_some() => ('(', ')'),
            Delimiter::None => return None,
        };
        let at = out.len();
        out.push(Token { kind: Kind::Open(open, at), span: Span::of(group.span_open()) });
        Some(Bracket { at, close, end: Span::of(group.span_close()) })
    }

    /// Writes the closing bracket and records its place in the opening one.
    fn close(self, out: &mut Vec<Token>) {
        let partner = out.len();
        if let Some(Kind::Open(_, at)) = out.get_mut(self.at).map(|t| &mut t.kind) {
            *at = partner;
        }
        out.push(Token { kind: Kind::Close(self.close), span: self.end });
    }
}
