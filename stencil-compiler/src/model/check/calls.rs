//! Calls: functions of the language, those that are expanded into other terms, and the user's.

use super::ranks;
use super::scope::{Meaning, joined};
use super::terms::{Place, Terms, Typed};
use crate::catalogue::{Function, Rank};
use crate::diag::{Code, Diagnostic, Span, nearest};
use crate::model::parse::ast::{Ast, AstKind, Name};
use crate::model::{HIGHEST, Relation, Term, TermKind, foreign};

/// Functions that are expanded into other terms.
pub(super) const WRITTEN_OUT: &[&str] = &["hyper", "sign"];

/// Names that others give to functions without a row.
const SYNONYMS: &[(&str, &str)] = &[("ln", "log"), ("sgn", "sign")];

impl Terms<'_, '_> {
    pub(super) fn call(&mut self, name: &Name, arguments: &[Ast], span: Span) -> Typed {
        if name.text == "hyper" {
            return self.hyper(arguments, span);
        }
        if name.text == "flux" && self.place == Place::Riemann {
            return self.flux_of_side(arguments, span);
        }
        if name.text == "rise" && self.place == Place::Riemann {
            return self.rise(arguments, span);
        }
        self.no_user_function(name)?;
        let terms = self.terms(arguments);
        if let Some((Meaning::Function(index), declared)) =
            self.scope.names.get(name.text.as_str()).copied()
        {
            let term = self.call_user(index, name, declared, terms, span)?;
            return Some((term.kind, term.rank));
        }
        if name.text == "sign" {
            return self.sign(terms?, span);
        }
        let Some(function) = Function::find(&name.text) else {
            let diagnostic = self.not_a_function(name);
            self.scope.report(diagnostic);
            return None;
        };
        if function.differentiates() {
            self.pointwise_only(&name.text, span)?;
        }
        let terms = terms?;
        let found: Vec<Rank> = terms.iter().map(|t| t.rank).collect();
        let rank = self.ranked(ranks::call(function, &found, self.scope.components), span)?;
        Some((TermKind::Call(function, terms), rank))
    }

    /// Reports a derivative where none is allowed.
    pub(super) fn pointwise_only(&mut self, what: &str, span: Span) -> Option<()> {
        let (place, help) = match self.place {
            Place::System => return Some(()),
            Place::Function => (
                "a function is evaluated cell by cell",
                "pass the derivative as an argument: `limiter(d[x](f))`",
            ),
            Place::Riemann => (
                "a Riemann solver is made of the states on both sides of a face",
                "put the term into `ddt(..) = ..;`, beside the flux",
            ),
            Place::Source => (
                "the value of a source is given from outside",
                "write the derivative of the expression, or put the term into an equation",
            ),
            Place::Formula => {
                ("a formula is evaluated point by point", "write the derivative of the expression")
            }
            Place::Constant => (
                "the default or bound of a parameter is a constant",
                "use numbers, `pi` and functions of them",
            ),
        };
        let message = format!("{place}, and `{what}` is a derivative");
        let diagnostic = Diagnostic::new(Code::NotPointwise, span, message);
        self.scope.report(diagnostic.help(help));
        None
    }

    /// `sign(a)`: `if 0 < a { 1 } else if a < 0 { -1 } else { 0 }`.
    fn sign(&mut self, arguments: Vec<Term>, span: Span) -> Typed {
        let [a] = self.counted("sign", arguments, span)?;
        if a.rank != Rank::Scalar {
            let message = format!("`sign` of a {}", a.rank.name());
            let diagnostic = Diagnostic::new(Code::RankMismatch, span, message);
            self.scope.report(diagnostic.help("it is of a scalar"));
            return None;
        }
        let base = self.scope.call_name("sign", span)?;
        let a = self.scope.shared(&joined(&base, "of"), a)?;
        let again = self.scope.repeated(&a, a.span)?;
        let number = |value| Term::integer(value, span);
        let minus = Term::scalar(TermKind::Neg(Box::new(number(1))), span);
        let below = Box::new([again, number(0), minus, number(0)]);
        let otherwise = Term::scalar(TermKind::If(Relation::Less, below), span);
        let above = Box::new([number(0), a, number(1), otherwise]);
        Some((TermKind::If(Relation::Less, above), Rank::Scalar))
    }

    /// `hyper(f, n)`: the sum of the 2n-th derivatives along all axes.
    fn hyper(&mut self, arguments: &[Ast], span: Span) -> Typed {
        let [of, power] = arguments else {
            return self.wrong_count("hyper", 2, arguments.len(), span);
        };
        let term = self.term(of);
        self.pointwise_only("hyper", span)?;
        let highest = HIGHEST / 2;
        let times = match &power.kind {
            AstKind::Number(value) if value.is_integer() => u32::try_from(value.to_integer()).ok(),
            _ => None,
        };
        let Some(times) = times.filter(|n| (1..=highest).contains(n)) else {
            let message =
                format!("the power in `hyper(f, n)` is a literal integer from 1 to {highest}");
            let diagnostic = Diagnostic::new(Code::BadExponent, power.span, message)
                .help("`hyper(f, 2)` sums the fourth derivatives along all axes");
            self.scope.report(diagnostic);
            return None;
        };
        let term = term?;
        let rank = term.rank;
        let base = self.scope.call_name("hyper", span)?;
        let term = self.scope.shared(&joined(&base, "of"), term)?;
        let derivative = |axis| {
            let of = Box::new(term.clone());
            let times = 2 * times;
            Term::of(TermKind::Derivative { axis, times, of }, rank, span)
        };
        let sum = (1..self.scope.dimension).fold(derivative(0), |sum, axis| {
            let kind = TermKind::Add(Box::new(sum), Box::new(derivative(axis)));
            Term::of(kind, rank, span)
        });
        Some((sum.kind, rank))
    }

    /// The arguments, if there are as many as there should be.
    fn counted<const N: usize>(
        &mut self,
        name: &str,
        arguments: Vec<Term>,
        span: Span,
    ) -> Option<[Term; N]> {
        let found = arguments.len();
        match arguments.try_into() {
            Ok(arguments) => Some(arguments),
            Err(_) => self.wrong_count(name, N, found, span),
        }
    }

    pub(super) fn wrong_count<T>(
        &mut self,
        name: &str,
        expected: usize,
        found: usize,
        span: Span,
    ) -> Option<T> {
        let message = format!("`{name}` takes {expected} argument(s), found {found}");
        let diagnostic = Diagnostic::new(Code::ArgumentCount, span, message);
        self.scope.report(diagnostic.help(format!("write {}", ranks::usage(name, expected))));
        None
    }

    fn not_a_function(&self, name: &Name) -> Diagnostic {
        let text = &name.text;
        let is_local = self.locals.names().contains(&text.as_str());
        if is_local || self.scope.names.contains_key(text.as_str()) {
            let message = format!("`{text}` is not a function");
            return Diagnostic::new(Code::WrongUse, name.span, message)
                .help(format!("write `{text} * (..)` for a product"));
        }
        if text == "ddt" {
            let message = "`ddt(..)` stands only on the left of an equation";
            return Diagnostic::new(Code::WrongUse, name.span, message)
                .help("write the right-hand side of that field instead");
        }
        if crate::model::parse::times(text).is_some() {
            let message = format!("`{text}` needs an axis");
            return Diagnostic::new(Code::WrongUse, name.span, message)
                .help(format!("write `{text}[x](..)`"));
        }
        let user = self.scope.functions.iter().map(|f| f.item.name.text.as_str());
        let user: Vec<&str> = user.collect();
        let own = super::functions();
        let near = SYNONYMS
            .iter()
            .find(|(other, _)| other == text)
            .map(|(_, name)| *name)
            .or_else(|| Function::find_synonym(text))
            .or_else(|| nearest(text, own.iter().chain(&user).copied()));
        let message = format!("no function `{text}`");
        let mut diagnostic = Diagnostic::new(Code::UnknownName, name.span, message)
            .note(format!("functions: {}, d[x], d2[x] to d{HIGHEST}[x]", own.join(", ")))
            .help_if(
                foreign::function(text)
                    .or_else(|| near.map(|near| format!("did you mean `{near}`?"))),
            );
        if !user.is_empty() {
            diagnostic = diagnostic.note(format!("functions of the system: {}", user.join(", ")));
        }
        diagnostic
    }
}
