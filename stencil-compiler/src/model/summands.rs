//! The terms that are added up in right-hand sides.

use super::{Model, Term, TermKind, text};

impl Model {
    /// Each term that an equation adds up, in words, with the model that lacks it.
    ///
    /// ```
    /// let model = stencil_compiler::model::parse::parse_str("pub system S in 1d {
    ///     field q: scalar; param k: real;
    ///     ddt(q) = k*lap(q) - d[x](q);
    /// }")?;
    /// let words: Vec<String> = model.summands().into_iter().map(|(words, _)| words).collect();
    /// assert_eq!(words, ["`k * lap(q)` of `ddt(q)`", "`-d[x](q)` of `ddt(q)`"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn summands(&self) -> Vec<(String, Model)> {
        let mut all = Vec::new();
        for (at, equation) in self.equations.iter().enumerate() {
            let terms = signed(&equation.rhs);
            let field = self.fields.get(equation.field);
            let field = field.map_or("", |field| &field.name);
            for (i, (negative, term)) in terms.iter().enumerate() {
                let sign = if *negative { "-" } else { "" };
                let words = text::expression(self, term);
                let mut rest = self.clone();
                let others = terms.iter().enumerate().filter(|(j, _)| *j != i);
                let sum = added(others.map(|(_, term)| term));
                let nothing = || Term::zero(equation.rhs.rank, self.components, equation.rhs.span);
                rest.equations[at].rhs = sum.unwrap_or_else(nothing);
                all.push((format!("`{sign}{words}` of `ddt({field})`"), rest));
            }
        }
        all
    }
}

/// The terms of a sum, each with whether it is subtracted.
fn signed(term: &Term) -> Vec<(bool, &Term)> {
    match &term.kind {
        TermKind::Add(a, b) => [signed(a), signed(b)].concat(),
        TermKind::Sub(a, b) => [signed(a), turned(signed(b))].concat(),
        TermKind::Neg(a) => turned(signed(a)),
        _ => vec![(false, term)],
    }
}

/// The same terms with the other sign.
fn turned(terms: Vec<(bool, &Term)>) -> Vec<(bool, &Term)> {
    let turned = terms.into_iter().map(|(negative, term)| (!negative, term));
    turned.collect()
}

/// The sum of signed terms; `None` of none.
fn added<'a>(terms: impl Iterator<Item = &'a (bool, &'a Term)>) -> Option<Term> {
    let mut sum: Option<Term> = None;
    for (negative, term) in terms {
        let own = Box::new((*term).clone());
        let kind = match (sum.map(Box::new), negative) {
            (None, false) => own.kind,
            (None, true) => TermKind::Neg(own),
            (Some(sum), false) => TermKind::Add(sum, own),
            (Some(sum), true) => TermKind::Sub(sum, own),
        };
        sum = Some(Term { kind, rank: term.rank, span: term.span });
    }
    sum
}
