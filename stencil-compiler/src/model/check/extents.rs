//! How far down expressions go by the `let`s that they name, and what is too far.

use super::limits;
use crate::model::{Let, Term, TermKind};

/// How far down an expression goes by the `let`s that it names.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    /// The longest chain of them.
    chain: u32,
    /// How often what is in it is differentiated, one derivative inside of the other.
    order: u32,
}

impl Extent {
    /// Of each of some `let`s, of which the first have these.
    pub(super) fn extend(extents: &mut Vec<Extent>, lets: &[Let]) {
        for named in lets.iter().skip(extents.len()) {
            let own = Extent::of(&named.value, extents);
            let chain = own.chain + 1;
            extents.push(Extent { chain, ..own });
        }
    }

    /// What goes too far down, and the way out.
    pub(super) fn problem(self) -> Option<(String, &'static str)> {
        if self.chain > limits::CHAIN {
            let message = format!(
                "a chain of more than {} `let`s, each made of the last",
                limits::CHAIN
            );
            let help = "a loop of a function repeats in fewer: `for i in 0..8 { .. }`";
            return Some((message, help));
        }
        let message = format!("more than {} derivatives, one of the other", limits::ORDER);
        let help = "let a part of them be a field of its own";
        (self.order > limits::ORDER).then_some((message, help))
    }

    /// Of a term, whose `let`s have these.
    pub(super) fn of(term: &Term, lets: &[Extent]) -> Self {
        let own = match &term.kind {
            TermKind::Let(at) => lets.get(*at).copied().unwrap_or_default(),
            _ => Extent::default(),
        };
        let parts = term.parts().into_iter().map(|part| Extent::of(part, lets));
        let below = parts.fold(own, |a, b| Extent {
            chain: a.chain.max(b.chain),
            order: a.order.max(b.order),
        });
        let times = match &term.kind {
            TermKind::Derivative { times, .. } => *times,
            TermKind::Call(function, _) => function.times(),
            _ => 0,
        };
        Extent {
            order: below.order.saturating_add(times),
            ..below
        }
    }
}

/// What of these terms, or of the `let`s below them, goes too far down.
pub(super) fn too_far_down<'t>(
    lets: &[Let],
    terms: impl Iterator<Item = &'t Term>,
) -> Option<String> {
    let mut extents = Vec::new();
    Extent::extend(&mut extents, lets);
    let mut problems = terms.filter_map(|term| Extent::of(term, &extents).problem());
    problems.next().map(|(message, _)| message)
}
