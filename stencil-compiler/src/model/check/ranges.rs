//! Ranges, which conserved fields and functions of them have to keep.

use std::collections::BTreeSet;

use super::conserved::of_states;
use super::scope::{Meaning, Scope};
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic};
use crate::model::parse::ast::{RangeItem, System};
use crate::model::{Let, Range, Term, TermKind};

/// All ranges, those of fields first; `None` after an error.
pub(super) fn resolve<'a>(scope: &mut Scope<'a>, system: &'a System) -> Option<Vec<Range>> {
    let errors = scope.errors();
    let all = system.ranges.iter();
    let mut all: Vec<Range> = all.filter_map(|item| range(scope, system, item)).collect();
    all.sort_by_key(Range::place);
    (scope.errors() == errors).then_some(all)
}

impl Range {
    /// The sort key of its subject: fields in their order, then `let`s.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        match self.of.kind {
            TermKind::Field(field) => Some((0, field)),
            TermKind::Let(at) => Some((1, at)),
            _ => None,
        }
    }
}

impl Term {
    /// Visits its parts and those of the `let`s that it names, each once; itself first.
    pub(in crate::model) fn visit(
        &self,
        lets: &[Let],
        seen: &mut BTreeSet<usize>,
        see: &mut impl FnMut(&Term),
    ) {
        see(self);
        if let TermKind::Let(at) = self.kind
            && let Some(named) = lets.get(at)
            && seen.insert(at)
        {
            named.value.visit(lets, seen, see);
        }
        for part in self.parts() {
            part.visit(lets, seen, see);
        }
    }
}

fn range(scope: &mut Scope<'_>, system: &System, item: &RangeItem) -> Option<Range> {
    let (name, (comparison, bound, span)) = (&item.name, &item.bound);
    let of = match scope.names.get(name.text.as_str())? {
        (Meaning::Field(field, rank), _) => {
            let (field, rank) = (*field, (*rank)?);
            let declared = system.fields.get(field);
            if declared.is_some_and(|declared| !declared.conserved) {
                let message = format!("a range of `{}`, which is not conserved", name.text);
                let diagnostic = Diagnostic::new(Code::BadRange, *span, message);
                scope.report(diagnostic.help("fluxes are repaired to keep a range: declare it `conserved`, or leave the range out"));
                return None;
            }
            Term::of(TermKind::Field(field), rank, name.span)
        }
        (Meaning::Let(at), _) => {
            let (at, rank) = scope.let_meaning.get(*at).copied().flatten()?;
            if system.fluxes.is_empty() {
                let message = "a range in a system without flux";
                let diagnostic = Diagnostic::new(Code::BadRange, *span, message);
                scope.report(diagnostic.help(
                    "fluxes are repaired to keep a range, and nothing flows here: leave it out",
                ));
                return None;
            }
            let of = Term::of(TermKind::Let(at), rank, name.span);
            of_states(scope, "what has a range", &of);
            let conserved = |field: usize| system.fields.get(field).is_some_and(|f| f.conserved);
            let (mut found, mut other) = (false, None);
            let lets = &scope.expansion.lets;
            of.visit(lets, &mut BTreeSet::new(), &mut |part| match part.kind {
                TermKind::Field(field) if conserved(field) => found = true,
                TermKind::Field(_) => other = Some("a field that is not conserved"),
                TermKind::Time => other = Some("the time"),
                _ => {}
            });
            let made = other.or((!found).then_some("nothing that is conserved"));
            if let Some(made) = made {
                let message = format!("a range of `{}`, which is made of {made}", name.text);
                let diagnostic = Diagnostic::new(Code::BadRange, *span, message);
                scope.report(diagnostic.help("fluxes are repaired to keep a range: give it to what is made of conserved fields and parameters"));
                return None;
            }
            of
        }
        _ => return None,
    };
    if of.rank != Rank::Scalar {
        let message = format!("a range of `{}`, which is a {}", name.text, of.rank.name());
        let diagnostic = Diagnostic::new(Code::BadRange, *span, message);
        scope.report(diagnostic.help("give the range to a scalar, such as `let size = norm(u);`"));
        return None;
    }
    Some(Range { of, comparison: *comparison, bound: scope.constant(bound)?, span: *span })
}
