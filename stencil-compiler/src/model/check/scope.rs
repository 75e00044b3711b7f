//! The names of a system and the facts that were found about them.

use std::collections::{BTreeMap, BTreeSet};

use super::extents::Extent;
use super::terms::Place;
use super::{limits, names};
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Diagnostics, Span, nearest};
use crate::model::parse::ast::{FunctionItem, LetItem, Name, System};
use crate::model::{Flux, Iterations, Let, Term, TermKind, foreign};

/// The meaning of a name. A rank is missing after an error in the declaration.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    Field(usize, Option<Rank>),
    Param(usize),
    Source(usize, Option<Rank>),
    Let(usize),
    Function(usize),
    Observable,
}

impl Meaning {
    /// The kind of thing, with its article.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Meaning::Field(..) => "a field",
            Meaning::Param(_) => "a parameter",
            Meaning::Source(..) => "a source",
            Meaning::Let(_) => "a `let`",
            Meaning::Function(_) => "a function",
            Meaning::Observable => "an observable",
        }
    }
}

/// A function of the user's.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) item: &'a FunctionItem,
    /// Was its definition found to be right?
    pub(super) valid: bool,
}

/// The `let`s of the model so far, with those that expansion adds.
#[derive(Default)]
pub(super) struct Expansion {
    pub(super) lets: Vec<Let>,
    /// Is everything written out in place, as in the value of a source?
    pub(super) inline: bool,
    names: BTreeSet<String>,
    counts: BTreeMap<String, usize>,
    /// Nodes that were repeated because they were written out in place.
    repeated: usize,
    calls: usize,
    /// The extents of the first `let`s.
    extents: Vec<Extent>,
    /// Was it reported that there is too much? Nothing is expanded any more then.
    pub(super) full: bool,
}

/// The operands of a `let`.
#[derive(Clone, Copy, Default)]
struct Operands {
    place: bool,
    /// Fields or sources.
    fields: bool,
}

/// The names of a system and the facts that were found about them.
pub(super) struct Scope<'a> {
    /// The name of the system; `None` for a formula.
    system: Option<&'a str>,
    pub(super) dimension: usize,
    /// The number of components of a vector.
    pub(super) components: usize,
    pub(super) names: BTreeMap<&'a str, (Meaning, Span)>,
    /// The place at which each `let` is defined, as a position among the tokens.
    pub(super) let_at: Vec<usize>,
    let_items: Vec<&'a LetItem>,
    /// The operands of the `let`s.
    operands: Vec<Operands>,
    /// The values of `let`s written out, for sources; `None` after an error.
    pub(super) written_out: BTreeMap<usize, Option<Term>>,
    /// May terms be made of the `normal` of a face, as those of fluxes are?
    pub(super) sees_normal: bool,
    /// The fluxes, once they are known.
    pub(super) fluxes: Vec<Flux>,
    /// The `let`s so far: where they are in the model, and their ranks; `None` after an error.
    pub(super) let_meaning: Vec<Option<(usize, Rank)>>,
    pub(super) functions: Vec<Known<'a>>,
    pub(super) expansion: Expansion,
    /// The depth of the recursion over expressions and functions.
    pub(super) level: u32,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        system: &'a System,
        dimension: usize,
        components: usize,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        let mut scope = Scope::empty(Some(&system.name.text), dimension, diagnostics);
        scope.components = components;
        for (i, item) in system.fields.iter().enumerate() {
            let rank = item.kind.map(|(rank, _)| rank);
            scope.declare(&item.name, Meaning::Field(i, rank));
        }
        for (i, item) in system.params.iter().enumerate() {
            scope.declare(&item.name, Meaning::Param(i));
        }
        for (i, item) in system.sources.iter().enumerate() {
            scope.declare(&item.name, Meaning::Source(i, item.rank));
        }
        for (i, item) in system.lets.iter().enumerate() {
            scope.declare(&item.name, Meaning::Let(i));
            scope.let_at.push(item.at);
            scope.let_items.push(item);
        }
        for (i, item) in system.functions.iter().enumerate() {
            scope.declare(&item.name, Meaning::Function(i));
            scope.functions.push(Known { item, valid: false });
        }
        for item in &system.observables {
            scope.declare(&item.name, Meaning::Observable);
        }
        scope.find_operands();
        scope
    }

    /// The scope of a formula over names that stand for numbers.
    pub(super) fn of_formula(names: &'a [&'a str], diagnostics: &'a mut Diagnostics) -> Self {
        let mut scope = Scope::empty(None, 3, diagnostics);
        scope.expansion.inline = true;
        for (i, name) in names.iter().enumerate() {
            scope.names.insert(name, (Meaning::Param(i), Span::default()));
        }
        scope
    }

    fn empty(system: Option<&'a str>, dimension: usize, diagnostics: &'a mut Diagnostics) -> Self {
        Scope {
            system,
            dimension,
            components: dimension,
            names: BTreeMap::new(),
            let_at: Vec::new(),
            let_items: Vec::new(),
            operands: Vec::new(),
            written_out: BTreeMap::new(),
            sees_normal: false,
            fluxes: Vec::new(),
            let_meaning: Vec::new(),
            functions: Vec::new(),
            expansion: Expansion::default(),
            level: 0,
            diagnostics,
        }
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Adds a note to the errors that came after the first `before` ones.
    pub(super) fn annotate(&mut self, before: usize, span: Span, note: &str) {
        self.diagnostics.annotate(before, span, note);
    }

    pub(super) fn errors(&self) -> usize {
        self.diagnostics.len()
    }

    fn declare(&mut self, name: &'a Name, meaning: Meaning) {
        if name.text.contains('·') {
            self.report(glued(name));
        }
        let problem = match meaning {
            Meaning::Function(_) => names::function_problem(&name.text),
            Meaning::Field(..)
            | Meaning::Param(_)
            | Meaning::Source(..)
            | Meaning::Let(_)
            | Meaning::Observable => names::problem(&name.text),
        };
        if let Some(problem) = problem.filter(|_| !name.text.contains('·')) {
            let diagnostic = Diagnostic::new(Code::BadName, name.span, problem);
            self.report(diagnostic.help(names::WAY_OUT));
        }
        if let Some((_, first)) = self.names.get(name.text.as_str()).copied() {
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic = Diagnostic::new(Code::DuplicateName, name.span, message);
            let diagnostic = diagnostic.note_at(first, "first declared here");
            self.report(diagnostic.help("give one of them another name"));
            return;
        }
        self.names.insert(&name.text, (meaning, name.span));
    }

    /// Does a `let` depend on the place and on no field, so that it is for sources only?
    pub(super) fn is_local(&self, index: usize) -> bool {
        let made = self.operands.get(index).copied().unwrap_or_default();
        made.place && !made.fields
    }

    /// Is a `let` made of fields or of sources?
    pub(super) fn is_of_fields(&self, index: usize) -> bool {
        self.operands.get(index).is_some_and(|made| made.fields)
    }

    /// Finds the operands of each `let`, direct ones and those of others above it.
    fn find_operands(&mut self) {
        for (index, item) in self.let_items.iter().enumerate() {
            let mut made = Operands::default();
            let mut see = |name: &str| {
                match self.names.get(name) {
                    None => made.place |= ["x", "y", "z"].contains(&name),
                    Some((Meaning::Field(..) | Meaning::Source(..), _)) => made.fields = true,
                    Some((Meaning::Let(other), _)) if *other < index => {
                        let other = self.operands[*other];
                        made.place |= other.place;
                        made.fields |= other.fields;
                    }
                    Some(_) => {}
                }
                false
            };
            if let Some(value) = &item.value {
                value.names(&mut see);
            }
            self.operands.push(made);
        }
    }

    /// The value of a `let`, written out for the value of a source.
    pub(super) fn let_of_source(&mut self, index: usize) -> Option<Term> {
        if let Some(known) = self.written_out.get(&index) {
            return known.clone();
        }
        let item = *self.let_items.get(index)?;
        let inline = std::mem::replace(&mut self.expansion.inline, true);
        let value = item.value.as_ref();
        let value = value.and_then(|ast| self.term(ast, item.at, Place::Source));
        self.expansion.inline = inline;
        self.written_out.insert(index, value.clone());
        value
    }

    /// The place at which a `let` is defined, as a position among the tokens.
    pub(super) fn let_at(&self, index: usize) -> usize {
        self.let_at.get(index).copied().unwrap_or(0)
    }

    /// The error for a name that nothing declares; `locals` are those of a function.
    pub(super) fn unknown(&self, name: &Name, locals: &[&str]) -> Diagnostic {
        if name.text.contains('·') {
            return glued(name);
        }
        let text = &name.text;
        let message = match self.system {
            Some(system) => format!("no field, parameter or `let` `{text}` in `{system}`"),
            None => format!("no name `{text}` in the formula"),
        };
        let words =
            ["pi", "epsilon", "t"].into_iter().take(if self.system.is_some() { 3 } else { 1 });
        let all = self.names.keys().chain(locals).copied();
        let near = nearest(text, all.chain(words));
        let help = foreign::name(text).map(String::from);
        let help = help.or_else(|| near.map(|near| format!("did you mean `{near}`?")));
        let mut diagnostic = Diagnostic::new(Code::UnknownName, name.span, message).help_if(help);
        if !locals.is_empty() {
            diagnostic = diagnostic.note(format!("locals: {}", locals.join(", ")));
        }
        for (kind, names) in self.listed() {
            if !names.is_empty() {
                diagnostic = diagnostic.note(format!("{kind}: {}", names.join(", ")));
            }
        }
        diagnostic
    }

    /// All names by kind, each in the order of declaration.
    fn listed(&self) -> [(&'static str, Vec<&'a str>); 4] {
        let mut fields = BTreeMap::new();
        let mut params = BTreeMap::new();
        let mut sources = BTreeMap::new();
        let mut lets = BTreeMap::new();
        for (name, (meaning, _)) in &self.names {
            match meaning {
                Meaning::Field(i, _) => fields.insert(*i, *name),
                Meaning::Param(i) => params.insert(*i, *name),
                Meaning::Source(i, _) => sources.insert(*i, *name),
                Meaning::Let(i) => lets.insert(*i, *name),
                Meaning::Function(_) | Meaning::Observable => None,
            };
        }
        let parameters = match self.system {
            Some(_) => "parameters",
            None => "names",
        };
        [("fields", fields), (parameters, params), ("sources", sources), ("lets", lets)]
            .map(|(kind, names)| (kind, names.into_values().collect()))
    }

    /// A name that starts with `base` and that nothing has.
    fn fresh(&mut self, base: &str) -> String {
        let mut name = base.to_string();
        loop {
            let taken = self.names.contains_key(name.as_str())
                || self.expansion.names.contains(&name)
                || names::problem(&name).is_some();
            if !taken {
                self.expansion.names.insert(name.clone());
                return name;
            }
            let count = self.expansion.counts.entry(base.to_string()).or_insert(1);
            *count += 1;
            name = format!("{}_{count}", names::stem(base));
        }
    }

    /// `name_1`, `name_2` and so on: one for each call of a function.
    pub(super) fn call_name(&mut self, function: &str, span: Span) -> Option<String> {
        self.expansion.calls += 1;
        if self.expansion.calls > limits::CALLS {
            let what = format!("more than {} calls", limits::CALLS);
            return self.too_large(span, &what);
        }
        let function = shortened(function);
        let key = format!("{function} of calls");
        let count = self.expansion.counts.entry(key).or_insert(0);
        *count += 1;
        Some(format!("{function}_{count}"))
    }

    /// Reports an expression that goes too far down by the `let`s that it names, which all that follows would have to go, too.
    pub(super) fn within_limits(&mut self, term: Term) -> Option<Term> {
        let Expansion { extents, lets, .. } = &mut self.expansion;
        Extent::extend(extents, lets);
        let Some((message, help)) = Extent::of(&term, extents).problem() else {
            return Some(term);
        };
        self.report(Diagnostic::new(Code::TooDeep, term.span, message).help(help));
        None
    }

    /// Takes the `let`s from this one on out of the model.
    pub(super) fn split_lets(&mut self, own: usize) -> Vec<Let> {
        self.expansion.extents.truncate(own);
        self.expansion.lets.split_off(own)
    }

    /// A term that may be repeated at no cost: the term itself if it is a leaf, else a new `let` of the model. If
    /// everything is written out in place, the term as it is.
    pub(super) fn shared(&mut self, base: &str, term: Term) -> Option<Term> {
        self.shared_within(base, term, None)
    }

    /// The same for a value that comes out of a loop.
    pub(super) fn shared_within(
        &mut self,
        base: &str,
        term: Term,
        within: Option<Iterations>,
    ) -> Option<Term> {
        match term.is_leaf() || self.expansion.inline {
            true => Some(term),
            false => self.new_let_within(base, term, within),
        }
    }

    /// A new `let` of the model with this value, a leaf or not.
    pub(super) fn new_let(&mut self, base: &str, term: Term) -> Option<Term> {
        self.new_let_within(base, term, None)
    }

    fn new_let_within(
        &mut self,
        base: &str,
        term: Term,
        within: Option<Iterations>,
    ) -> Option<Term> {
        let (rank, span) = (term.rank, term.span);
        if self.expansion.names.len() >= limits::HIDDEN {
            let what = format!("more than {} intermediate expressions", limits::HIDDEN);
            return self.too_large(span, &what);
        }
        let index = self.expansion.lets.len();
        let name = self.fresh(base);
        self.expansion.lets.push(Let { name, value: term, within, span });
        Some(Term::of(TermKind::Let(index), rank, span))
    }

    /// A copy of a result of [`Scope::shared`].
    pub(super) fn repeated(&mut self, term: &Term, span: Span) -> Option<Term> {
        if !term.is_leaf() {
            self.expansion.repeated += term.size();
            if self.expansion.repeated > limits::REPEATED {
                let what = format!("more than {} operations", limits::REPEATED);
                return self.too_large(span, &what);
            }
        }
        Some(Term { span, ..term.clone() })
    }

    /// Reports once that functions and loops expand to too much.
    fn too_large<T>(&mut self, span: Span, what: &str) -> Option<T> {
        if !self.expansion.full {
            self.expansion.full = true;
            let message = format!("functions and loops expand to {what}");
            let diagnostic = Diagnostic::new(Code::TooLarge, span, message)
                .help("call functions less often, with fewer iterations, and name what is used often with `let`");
            self.report(diagnostic);
        }
        None
    }
}

/// A name joined from parts, such that no name is too long or has two underscores in a row.
pub(super) fn joined(first: &str, second: &str) -> String {
    format!("{first}_{}", shortened(second))
}

fn shortened(name: &str) -> &str {
    let end = name.char_indices().nth(20).map_or(name.len(), |(at, _)| at);
    name[..end].trim_matches('_')
}

/// The error for a name with a middle dot in it.
fn glued(name: &Name) -> Diagnostic {
    let text = &name.text;
    let message = format!("`{text}` is one identifier to Rust");
    let factors: Vec<&str> = text.split('·').filter(|part| !part.is_empty()).collect();
    let help = match factors.as_slice() {
        [a, b] => format!("write `dot({a}, {b})`"),
        _ => "write `dot(u, v)`".to_string(),
    };
    Diagnostic::new(Code::GluedName, name.span, message).help(help)
}
