//! Mistakes in a problem file: collected, so that one reading reports all of them.

use stencil_compiler::diag::{Code, Diagnostic, Diagnostics, Place, Span};

/// A stretch of one of the texts that a problem is read from, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At {
    /// Index into [`Mistakes::sources`].
    pub(super) source: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl At {
    /// The file as a whole, as the place of missing settings.
    pub(super) const FILE: At = At { source: 0, start: usize::MAX, end: usize::MAX };
}

/// A text that a problem is read from: the file, or a setting on the command line.
#[derive(Debug)]
struct Source {
    name: String,
    text: String,
}

/// All mistakes in a problem file, as its user reads them.
///
/// ```
/// use stencil_runtime::problem::{Library, Problem};
///
/// let error = Problem::parse("heat.toml", "sistem = 'heat.pde'", ".", &Library::empty(), &[]).unwrap_err();
/// assert!(error.to_string().contains("heat.toml:1:1"), "{error}");
/// assert!(error.to_string().contains("did you mean `system`?"), "{error}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct ProblemError {
    text: String,
    count: usize,
}

impl ProblemError {
    /// Returns the number of mistakes.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl From<ProblemError> for crate::Error {
    fn from(error: ProblemError) -> Self {
        crate::Error::Declaration(error.text)
    }
}

/// One entry of the report.
#[derive(Debug)]
enum Mistake {
    /// A mistake in one of the sources.
    Here(At, Diagnostic),
    /// A report that has its own places, such as that of a declaration.
    Rendered(String),
}

/// The sources of a problem, and the mistakes in them.
#[derive(Debug, Default)]
pub(super) struct Mistakes {
    sources: Vec<Source>,
    list: Vec<Mistake>,
}

impl Mistakes {
    /// Adds a text; returns its index for [`At::source`].
    pub(super) fn source(&mut self, name: impl Into<String>, text: impl Into<String>) -> usize {
        let (name, text) = (name.into(), text.into());
        self.sources.push(Source { name, text });
        self.sources.len() - 1
    }

    /// Returns the name of a source.
    pub(super) fn name(&self, at: At) -> &str {
        self.sources.get(at.source).map_or("", |s| s.name.as_str())
    }

    /// Returns the characters of a place.
    pub(super) fn raw(&self, at: At) -> &str {
        let text = self.sources.get(at.source).map_or("", |s| s.text.as_str());
        text.get(at.start..at.end).unwrap_or_default()
    }

    /// Returns the number of lines above a string's value, and of characters before it in its line.
    pub(super) fn start_of(&self, at: At, value: &str) -> (usize, usize) {
        let quotes = self.raw(at).find(value).unwrap_or(0);
        let start = At { start: at.start + quotes, ..at };
        let place = self.span(start).start;
        (place.line.saturating_sub(1) as usize, place.column as usize)
    }

    /// Adds a mistake at a place, and its way out.
    pub(super) fn add(
        &mut self,
        code: Code,
        at: At,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let diagnostic = Diagnostic::new(code, Span::default(), message).help(help);
        self.list.push(Mistake::Here(at, diagnostic));
    }

    /// Adds a report that has its own places.
    pub(super) fn rendered(&mut self, text: impl Into<String>) {
        self.list.push(Mistake::Rendered(text.into()));
    }

    /// Adds the errors of an expression at a place: carets point into it.
    pub(super) fn expression(&mut self, at: At, text: &str, errors: &Diagnostics) {
        for error in errors {
            let place = self.inside(at, text, error.span);
            let mut diagnostic = error.clone();
            diagnostic.span = Span::default();
            for (span, _) in &mut diagnostic.notes {
                *span = None;
            }
            let list =
                "a formula has numbers, names, `+ - * / ^`, `if` and functions such as `sin(x)`";
            diagnostic.help.get_or_insert_with(|| list.to_string());
            self.list.push(Mistake::Here(place, diagnostic));
        }
    }

    /// Returns the place of a part of a string's value in the file; of the whole string if it has escapes.
    fn inside(&self, at: At, value: &str, span: Span) -> At {
        let (Some(from), Some(start), Some(end)) =
            (self.raw(at).find(value), offset(value, span.start), offset(value, span.end))
        else {
            return at;
        };
        let start = at.start + from + start;
        At { source: at.source, start, end: (at.start + from + end).max(start) }
    }

    /// Returns `value` if there are no mistakes, else the report, in the order of the sources.
    pub(super) fn into_result<T>(self, value: Option<T>) -> Result<T, ProblemError> {
        if let (true, Some(value)) = (self.list.is_empty(), value) {
            return Ok(value);
        }
        Err(self.error())
    }

    /// Returns the report of all mistakes, in the order of the sources.
    pub(super) fn error(mut self) -> ProblemError {
        let list = std::mem::take(&mut self.list);
        let mut texts: Vec<(At, String)> = list
            .into_iter()
            .map(|mistake| match mistake {
                Mistake::Here(at, diagnostic) => (at, self.render(at, diagnostic)),
                Mistake::Rendered(text) => (At::default(), text),
            })
            .collect();
        texts.sort_by_key(|(at, _)| (at.source, at.start, at.end));
        texts.dedup();
        let texts: Vec<String> =
            texts.into_iter().map(|(_, text)| text.trim_end().to_string()).collect();
        ProblemError { count: texts.len(), text: texts.join("\n\n") }
    }

    fn render(&self, at: At, mut diagnostic: Diagnostic) -> String {
        let Some(source) = self.sources.get(at.source) else {
            return diagnostic.to_string();
        };
        diagnostic.span = self.span(at);
        diagnostic.render(&source.name, &source.text)
    }

    fn span(&self, at: At) -> Span {
        let text = self.sources.get(at.source).map_or("", |s| s.text.as_str());
        if at.start > text.len() {
            return Span::default();
        }
        // A value of several lines is shown by its first one.
        let raw = text.get(at.start..at.end).unwrap_or_default();
        let first = raw.lines().next().map_or(0, str::len);
        Span { start: place(text, at.start), end: place(text, at.start + first) }
    }
}

/// Returns line and column of a byte.
fn place(text: &str, byte: usize) -> Place {
    let before = text.get(..byte.min(text.len())).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count());
    Place {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(u32::MAX),
    }
}

/// Returns the byte at a line and column.
fn offset(text: &str, place: Place) -> Option<usize> {
    let mut start = 0;
    for _ in 1..place.line.max(1) {
        start += text.get(start..)?.find('\n')? + 1;
    }
    let line = text.get(start..)?;
    let column = line.char_indices().nth(place.column as usize);
    Some(start + column.map_or(line.len(), |(byte, _)| byte))
}
