//! Diagnostics: an error, its place and the way out. Values only; printing is [`Diagnostic::render`].

use std::fmt;

mod codes;
mod render;
mod words;

pub use codes::Code;
pub use words::{counted, listed};

/// A place in the source: line from 1, column from 0, as `proc_macro2` counts. The default,
/// line 0, is an unknown place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column in characters, from 0.
    pub column: u32,
}

/// A stretch of source, from `start` up to and without `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Place of the first character.
    pub start: Place,
    /// Place after the last character.
    pub end: Place,
}

impl Span {
    /// The place of a token.
    pub fn of(token: proc_macro2::Span) -> Span {
        let (start, end) = (token.start(), token.end());
        let place = |line: usize, column: usize| Place {
            line: u32::try_from(line).unwrap_or(0),
            column: u32::try_from(column).unwrap_or(0),
        };
        Span { start: place(start.line, start.column), end: place(end.line, end.column) }
    }

    /// Is the place known?
    pub fn is_known(self) -> bool {
        self.start.line > 0
    }

    /// The shortest span that covers both.
    #[must_use]
    pub fn join(self, other: Span) -> Span {
        match (self.is_known(), other.is_known()) {
            (true, true) => {
                Span { start: self.start.min(other.start), end: self.end.max(other.end) }
            }
            (true, false) => self,
            (false, _) => other,
        }
    }
}

/// One error with its place and, where there is one, the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// The text to underline.
    pub span: Span,
    /// One line, lower case, no full stop.
    pub message: String,
    /// Related facts, some with a place of their own.
    pub notes: Vec<(Option<Span>, String)>,
    /// The text to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error without notes or help.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { code, span, message: message.into(), notes: Vec::new(), help: None }
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push((None, text.into()));
        self
    }

    /// Adds a fact about another place.
    #[must_use]
    pub fn note_at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push((Some(span), text.into()));
        self
    }

    /// Adds the text to write instead.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds the text to write instead, if there is one.
    #[must_use]
    pub fn help_if(mut self, text: Option<String>) -> Self {
        self.help = text.or(self.help);
        self
    }
}

impl fmt::Display for Diagnostic {
    /// Without source text: `error[P0101] 3:14: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]", self.code)?;
        if self.span.is_known() {
            let start = self.span.start;
            write!(f, " {}:{}", start.line, u64::from(start.column) + 1)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(help) = &self.help {
            write!(f, " (help: {help})")?;
        }
        Ok(())
    }
}

/// All errors of one run, so that one run reports them all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// No errors yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an error.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of errors.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds a fact about a place to all errors except the first `before` ones.
    pub fn annotate(&mut self, before: usize, span: Span, text: &str) {
        for diagnostic in self.list.iter_mut().skip(before) {
            diagnostic.notes.push((Some(span), text.to_string()));
        }
    }

    /// The errors in the order of the source.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// `value`, or the errors in the order of the source if there are any.
    pub fn into_result<T>(mut self, value: T) -> Result<T, Diagnostics> {
        if self.list.is_empty() {
            return Ok(value);
        }
        self.list.sort_by_key(|d| d.span);
        Err(self)
    }

    /// All errors as text, each with its source lines.
    pub fn render(&self, source_name: &str, source_text: &str) -> String {
        let texts: Vec<String> =
            self.list.iter().map(|d| d.render(source_name, source_text)).collect();
        texts.join("\n")
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Diagnostics { list: vec![diagnostic] }
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.list.iter().enumerate() {
            let line_break = if i == 0 { "" } else { "\n" };
            write!(f, "{line_break}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// The candidate nearest to `name`, if one is near enough to be a slip of the hand.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > 60 {
        return None;
    }
    let allowed = (length / 3).max(1);
    candidates
        .into_iter()
        .map(|c| (edit_distance(name, c), c))
        .filter(|&(distance, c)| distance <= allowed && distance < c.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, c)| c)
}

/// Number of insertions, deletions, substitutions and swaps of neighbours between two words.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j - 1] + cost).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}
