//! The user's functions: checked where they are defined, expanded where they are called.
//!
//! Every local and every iteration becomes a `let` of the model, so nothing is written twice.

use std::collections::BTreeMap;

use super::resolve::unequal;
use super::scope::{Expansion, Scope, joined};
use super::terms::{Place, Terms};
use super::{limits, names};
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{Ast, Function, FunctionItem, Name, Statement};
use crate::model::{Iterations, Let, Term, TermKind};

/// The names inside of a function.
#[derive(Default)]
pub(super) struct Locals {
    pub(super) known: BTreeMap<String, Local>,
    /// The name of the function.
    pub(super) function: String,
    /// The prefix of the names of a call's `let`s.
    prefix: String,
    pub(super) iterations: u32,
}

/// A local name: its value so far, which may be repeated.
pub(super) struct Local {
    pub(super) value: Term,
    mutable: bool,
    declared: Span,
}

impl Locals {
    pub(super) fn names(&self) -> Vec<&str> {
        self.known.keys().map(String::as_str).collect()
    }
}

/// Checks every function, whether it is called or not.
pub(super) fn define_all(scope: &mut Scope<'_>) {
    for index in 0..scope.functions.len() {
        let item = scope.functions[index].item;
        // A name that cannot be used was reported with its declaration, and nothing is called after it.
        let usable = names::function_problem(&item.name.text).is_none();
        let Some(function) = item.meaning.as_ref().filter(|_| usable) else {
            continue;
        };
        let before = std::mem::take(&mut scope.expansion);
        let arguments = function
            .arguments
            .iter()
            .map(|(name, rank)| placeholder(&mut scope.expansion, name, *rank))
            .collect();
        let value = scope.expand(item, function, arguments);
        scope.expansion = before;
        scope.functions[index].valid = value.is_some();
    }
}

/// A stand-in for an argument while the function is checked: a `let` of its rank.
fn placeholder(expansion: &mut Expansion, name: &Name, rank: Rank) -> Term {
    let index = expansion.lets.len();
    expansion.lets.push(Let {
        name: name.text.clone(),
        value: Term::of(TermKind::Time, rank, name.span),
        within: None,
        span: name.span,
    });
    Term::of(TermKind::Let(index), rank, name.span)
}

impl<'a> Scope<'a> {
    /// The value of a function for some arguments.
    fn expand(
        &mut self,
        item: &FunctionItem,
        function: &Function,
        arguments: Vec<Term>,
    ) -> Option<Term> {
        let prefix = self.call_name(&item.name.text, item.name.span)?;
        let mut body = Terms::new(self, item.at, Place::Function);
        body.locals.prefix = prefix.clone();
        body.locals.function = item.name.text.clone();
        for ((name, _), value) in function.arguments.iter().zip(arguments) {
            body.declare(name, value, false)?;
        }
        body.run(&function.statements)?;
        let value = body.local_value(&function.value)?;
        if value.rank != function.rank {
            let name = &item.name.text;
            self.report(unequal("value", name, function.rank, value.rank, value.span));
            return None;
        }
        self.shared(&prefix, value)
    }
}

impl Terms<'_, '_> {
    /// A call of the user's function with this index.
    pub(super) fn call_user(
        &mut self,
        index: usize,
        name: &Name,
        declared: Span,
        arguments: Option<Vec<Term>>,
        span: Span,
    ) -> Option<Term> {
        let known = *self.scope.functions.get(index)?;
        if known.item.at == self.at && self.place == Place::Function {
            let message = format!("`{}` calls itself", name.text);
            let diagnostic = Diagnostic::new(Code::UsedBeforeDefinition, name.span, message)
                .help("a loop repeats: `for i in 0..8 { .. }`");
            self.scope.report(diagnostic);
            return None;
        }
        if known.item.at >= self.at {
            return self.before_definition(name, declared);
        }
        let function = known.item.meaning.as_ref().filter(|_| known.valid)?;
        let arguments = arguments?;
        let (expected, found) = (function.arguments.len(), arguments.len());
        if expected != found {
            return self.wrong_count(&name.text, expected, found, span);
        }
        let mut fits = true;
        for ((argument, rank), value) in function.arguments.iter().zip(&arguments) {
            if value.rank != *rank {
                let diagnostic = unequal("argument", &argument.text, *rank, value.rank, value.span)
                    .note_at(argument.span, "the argument is declared here");
                self.scope.report(diagnostic);
                fits = false;
            }
        }
        let errors = self.scope.errors();
        let value = fits.then(|| self.scope.expand(known.item, function, arguments)).flatten();
        if fits {
            let note = format!("in this call of `{}`", name.text);
            self.scope.annotate(errors, span, &note);
        }
        Some(Term { span, ..value? })
    }

    /// The value of a local name; `Some(None)` if there is none of this name.
    pub(super) fn local(&mut self, text: &str, span: Span) -> Option<Option<Term>> {
        match self.locals.known.get(text) {
            Some(local) => self.scope.repeated(&local.value, span).map(Some),
            None => Some(None),
        }
    }

    pub(super) fn run(&mut self, statements: &[Statement]) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Let { name, mutable, value } => {
                    let value = self.local_value(value)?;
                    self.declare(name, value, *mutable)?;
                }
                Statement::Assign { name, value } => self.assign(name, value)?,
                Statement::For { index, from, to, span, until, body } => {
                    let test = until.as_ref();
                    self.repeat(index, *from..*to, *span, test, body)?;
                }
            }
        }
        Some(())
    }

    /// An expression of the body, not too deep to be printed.
    pub(super) fn local_value(&mut self, ast: &Ast) -> Option<Term> {
        let term = self.term(ast)?;
        if term.depth() <= limits::DEPTH {
            return self.scope.within_limits(term);
        }
        let message = format!("expands to more than {} nested operations", limits::DEPTH);
        let diagnostic = Diagnostic::new(Code::TooDeep, ast.span, message);
        self.scope.report(diagnostic.help("name parts of the expression with `let`"));
        None
    }

    pub(super) fn declare(&mut self, name: &Name, value: Term, mutable: bool) -> Option<()> {
        self.declare_within(name, value, None, mutable)
    }

    /// The same for a value that may come out of a loop.
    pub(super) fn declare_within(
        &mut self,
        name: &Name,
        value: Term,
        within: Option<Iterations>,
        mutable: bool,
    ) -> Option<()> {
        if let Some(problem) = names::local_problem(&name.text) {
            self.scope.report(Diagnostic::new(Code::BadName, name.span, problem));
            return None;
        }
        if let Some(first) = self.locals.known.get(&name.text) {
            let message = format!("`{}` is declared twice in this function", name.text);
            let diagnostic = Diagnostic::new(Code::DuplicateName, name.span, message)
                .note_at(first.declared, "first declared here")
                .help("a name made with `let mut` takes new values: `x = ..;`");
            self.scope.report(diagnostic);
            return None;
        }
        let value = self.named_within(&name.text, value, within)?;
        let local = Local { value, mutable, declared: name.span };
        self.locals.known.insert(name.text.clone(), local);
        Some(())
    }

    /// A value that may be repeated, in a `let` named after the call and the local name.
    fn named(&mut self, name: &Name, value: Term) -> Option<Term> {
        self.named_within(&name.text, value, None)
    }

    /// The same for a value that comes out of a loop.
    pub(super) fn named_within(
        &mut self,
        name: &str,
        value: Term,
        within: Option<Iterations>,
    ) -> Option<Term> {
        let base = match self.place {
            // They are printed with the solver, and read again with the same names.
            Place::Riemann => name.to_string(),
            _ => joined(&self.locals.prefix, name),
        };
        self.scope.shared_within(&base, value, within)
    }

    fn assign(&mut self, name: &Name, value: &Ast) -> Option<()> {
        let value = self.local_value(value)?;
        let Some(local) = self.locals.known.get(&name.text) else {
            let diagnostic = self.scope.unknown(name, &self.locals.names());
            self.scope
                .report(diagnostic.help(format!("write `let mut {} = ..;` first", name.text)));
            return None;
        };
        if !local.mutable {
            let message = format!("`{}` does not change", name.text);
            let diagnostic = Diagnostic::new(Code::NotMutable, name.span, message)
                .note_at(local.declared, "declared here")
                .help(format!("write `let mut {} = ..;` there", name.text));
            self.scope.report(diagnostic);
            return None;
        }
        if local.value.rank != value.rank {
            let diagnostic =
                unequal("new value", &name.text, local.value.rank, value.rank, value.span);
            self.scope.report(diagnostic);
            return None;
        }
        let value = self.named(name, value)?;
        if let Some(local) = self.locals.known.get_mut(&name.text) {
            local.value = value;
        }
        Some(())
    }
}
