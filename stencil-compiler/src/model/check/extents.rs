//! The extent of expressions through the `let`s that they name, and its limits.

use super::limits;
use crate::model::{Let, Term, TermKind};

/// The extent of an expression through the `let`s that it names.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    /// The longest chain of them.
    chain: u32,
    /// The number of nested derivatives.
    order: u32,
}

impl Extent {
    /// Appends the extents of the `let`s that have none yet.
    pub(super) fn extend(extents: &mut Vec<Extent>, lets: &[Let]) {
        for named in lets.iter().skip(extents.len()) {
            let own = Extent::of(&named.value, extents);
            let chain = own.chain + 1;
            extents.push(Extent { chain, ..own });
        }
    }

    /// The limit that is exceeded, and the way out.
    pub(super) fn problem(self) -> Option<(String, &'static str)> {
        if self.chain > limits::CHAIN {
            let message =
                format!("a chain of more than {} `let`s, each made of the last", limits::CHAIN);
            let help = "a loop of a function repeats in fewer: `for i in 0..8 { .. }`";
            return Some((message, help));
        }
        let message = format!("more than {} derivatives, one of the other", limits::ORDER);
        let help = "let a part of them be a field of its own";
        (self.order > limits::ORDER).then_some((message, help))
    }

    /// The extent of a term, given those of its `let`s.
    pub(super) fn of(term: &Term, lets: &[Extent]) -> Self {
        let own = match &term.kind {
            TermKind::Let(at) => lets.get(*at).copied().unwrap_or_default(),
            _ => Extent::default(),
        };
        let parts = term.parts().into_iter().map(|part| Extent::of(part, lets));
        let below = parts
            .fold(own, |a, b| Extent { chain: a.chain.max(b.chain), order: a.order.max(b.order) });
        let times = match &term.kind {
            TermKind::Derivative { times, .. } => *times,
            TermKind::Call(function, _) => function.times(),
            _ => 0,
        };
        Extent { order: below.order.saturating_add(times), ..below }
    }
}

/// The limit that one of these terms, or a `let` below it, exceeds.
pub(super) fn too_far_down<'t>(
    lets: &[Let],
    terms: impl Iterator<Item = &'t Term>,
) -> Option<String> {
    let mut extents = Vec::new();
    Extent::extend(&mut extents, lets);
    let mut problems = terms.filter_map(|term| Extent::of(term, &extents).problem());
    problems.next().map(|(message, _)| message)
}
