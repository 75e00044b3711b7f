//! Slopes of fields that have one value at faces: their places in equations of conserved fields, and the check that
//! each is multiplied by a factor with a value at faces.

use std::collections::BTreeMap;

use super::conserved::beside_states;
use super::terms::is_zero;
use crate::catalogue::Function;
use crate::diag::{Code, Diagnostic, Span};
use crate::model::{AtFace, Equation, Let, Model, Term, TermKind};

/// Summands beyond which `let`s stay whole: a chain of sums may have as many as the paths through it.
const MOST_PARTS: usize = 1000;

/// Knows which terms hold derivatives of some fields: those that have one value at faces, or all.
pub(crate) struct Slopes<'a> {
    fields: Vec<usize>,
    lets: &'a [Let],
    /// For each `let`: is it made of shared fields, and does it hold a derivative of them?
    known: Vec<[bool; 2]>,
}

/// The summands of a right-hand side, each with a sign: true for minus.
#[derive(Default)]
pub(crate) struct Parts<'t> {
    /// The summands with derivatives of shared fields.
    pub(crate) products: Vec<&'t Term>,
    signs: Vec<bool>,
    rest: Vec<(&'t Term, bool)>,
}

impl<'t> Parts<'t> {
    fn len(&self) -> usize {
        self.products.len() + self.rest.len()
    }

    /// The summands with derivatives of shared fields, each with its sign.
    pub(crate) fn signed(&self) -> impl Iterator<Item = (&'t Term, bool)> + '_ {
        self.products.iter().copied().zip(self.signs.iter().copied())
    }

    /// The remainder without them; `None` if it is empty.
    pub(crate) fn rest(&self) -> Option<Term> {
        let mut rest = self.rest.iter();
        let (first, negative) = rest.next()?;
        let of = |kind| Term::of(kind, first.rank, first.span);
        let start = match negative {
            true => of(TermKind::Neg(Box::new((*first).clone()))),
            false => (*first).clone(),
        };
        Some(rest.fold(start, |sum, (term, negative)| {
            let (a, b) = (Box::new(sum), Box::new((*term).clone()));
            of(match negative {
                true => TermKind::Sub(a, b),
                false => TermKind::Add(a, b),
            })
        }))
    }
}

/// The reason why a slope cannot be integrated through faces.
pub(crate) enum Refused {
    /// Another derivative than the first, or of more than the field.
    Other(Span),
    /// It is not a factor of a product.
    Product(Span),
    /// Its factor has no value at faces.
    Factor(&'static str, Span),
}

impl Refused {
    /// The same in words; `name` is one of the shared fields.
    pub(super) fn diagnostic(self, name: &str) -> Diagnostic {
        let product = format!("write a sum of products such as `-g*h*grad({name})`");
        match self {
            Refused::Other(span) => {
                let message = format!(
                    "`{name}` has one value at faces, and this is no first derivative of it alone"
                );
                Diagnostic::new(Code::NotASlope, span, message).help(product)
            }
            Refused::Product(span) => {
                let message = format!("this is not linear in the slope of `{name}`");
                Diagnostic::new(Code::NotASlope, span, message).help(product)
            }
            Refused::Factor(what, span) => {
                let message = format!(
                    "the slope of `{name}` is multiplied by what has a value at faces, and {what} has none there"
                );
                Diagnostic::new(Code::NotAtFaces, span, message).help(product)
            }
        }
    }
}

impl<'a> Slopes<'a> {
    pub(crate) fn new(at_face: &AtFace, lets: &'a [Let]) -> Self {
        let fields = at_face.fields.iter().map(|(field, _)| *field);
        Slopes::of_fields(fields.collect(), lets)
    }

    /// Those of these fields.
    pub(crate) fn of_fields(fields: Vec<usize>, lets: &'a [Let]) -> Self {
        let mut slopes = Slopes { fields, lets, known: Vec::new() };
        for item in lets {
            let known = [slopes.is_made_of(&item.value), slopes.holds(&item.value)];
            slopes.known.push(known);
        }
        slopes
    }

    fn is_shared(&self, term: &Term) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| term.kind == TermKind::Field(*field))
    }

    /// Is a term made of shared fields?
    fn is_made_of(&self, term: &Term) -> bool {
        match term.kind {
            TermKind::Let(at) => self.known.get(at).is_some_and(|[made, _]| *made),
            _ => self.is_shared(term) || term.parts().iter().any(|part| self.is_made_of(part)),
        }
    }

    /// Does it hold a derivative of a function of shared fields?
    fn holds(&self, term: &Term) -> bool {
        let parts = || term.parts().into_iter();
        match &term.kind {
            TermKind::Let(at) => self.known.get(*at).is_some_and(|[_, holds]| *holds),
            TermKind::Derivative { of, .. } => self.is_made_of(of),
            TermKind::Call(function, _) if function.differentiates() => {
                parts().any(|part| self.is_made_of(part))
            }
            _ => parts().any(|part| self.holds(part)),
        }
    }

    /// A right-hand side as its summands; `let`s that hold such derivatives are taken apart, too.
    pub(crate) fn parts<'t>(&'t self, rhs: &'t Term) -> Parts<'t> {
        let mut parts = Parts::default();
        self.split(rhs, false, &mut parts);
        parts
    }

    fn split<'t>(&'t self, term: &'t Term, negative: bool, parts: &mut Parts<'t>) {
        if !self.holds(term) {
            if !is_nothing(term) {
                parts.rest.push((term, negative));
            }
            return;
        }
        match &term.kind {
            TermKind::Neg(a) => self.split(a, !negative, parts),
            TermKind::Add(a, b) => {
                self.split(a, negative, parts);
                self.split(b, negative, parts);
            }
            TermKind::Sub(a, b) => {
                self.split(a, negative, parts);
                self.split(b, !negative, parts);
            }
            TermKind::Let(at) if self.lets.get(*at).is_some() && parts.len() < MOST_PARTS => {
                self.split(&self.lets[*at].value, negative, parts);
            }
            _ => {
                parts.products.push(term);
                parts.signs.push(negative);
            }
        }
    }

    /// Is this part linear in slopes, with factors that have values at faces?
    pub(crate) fn linear(&self, part: &Term) -> Result<(), Refused> {
        match self.degree(part, &mut BTreeMap::new())? {
            1 => Ok(()),
            _ => Err(Refused::Product(part.span)),
        }
    }

    /// The number of slopes multiplied in each summand of a term: none or one; `known` are those of `let`s.
    fn degree(&self, term: &Term, known: &mut BTreeMap<usize, u32>) -> Result<u32, Refused> {
        if !self.holds(term) {
            return match beside_states(term, self.lets) {
                Some((what, span)) => Err(Refused::Factor(what, span)),
                None => Ok(0),
            };
        }
        if let TermKind::Let(at) = term.kind {
            if let Some(degree) = known.get(&at) {
                return Ok(*degree);
            }
            let degree = self.degree(&self.lets[at].value, known)?;
            known.insert(at, degree);
            return Ok(degree);
        }
        if let TermKind::If(_, parts) = &term.kind {
            // Compared terms are evaluated where the slope is, too.
            for compared in &parts[..2] {
                if self.degree(compared, known)? > 0 {
                    return Err(Refused::Product(term.span));
                }
            }
        }
        let mut degrees = |parts: &mut dyn Iterator<Item = &Term>| -> Result<Vec<u32>, Refused> {
            parts.map(|part| self.degree(part, known)).collect()
        };
        let product = |degrees: Vec<u32>| match degrees.iter().sum() {
            degree @ 0..=1 => Ok(degree),
            _ => Err(Refused::Product(term.span)),
        };
        let mut sum = |parts: &[&Term]| {
            let mut parts = parts.iter().copied().filter(|part| !is_nothing(part));
            match degrees(&mut parts)?.iter().all(|degree| *degree == 1) {
                true => Ok(1),
                false => Err(Refused::Product(term.span)),
            }
        };
        match &term.kind {
            TermKind::Derivative { times: 1, of, .. } if self.is_shared(of) => Ok(1),
            TermKind::Call(function, of)
                if [Function::GRAD, Function::DIV].contains(function) && self.is_shared(&of[0]) =>
            {
                Ok(1)
            }
            TermKind::Derivative { .. } => Err(Refused::Other(term.span)),
            TermKind::Call(function, _) if function.differentiates() => {
                Err(Refused::Other(term.span))
            }
            TermKind::Neg(a) | TermKind::Component(a, _) => self.degree(a, known),
            TermKind::Add(..) | TermKind::Sub(..) | TermKind::Stack(_) => sum(&term.parts()),
            TermKind::Mul(..) => product(degrees(&mut term.parts().into_iter())?),
            TermKind::Div(_, b) if !self.holds(b) => {
                product(degrees(&mut term.parts().into_iter())?)
            }
            TermKind::If(_, parts) => {
                let [_, _, then, otherwise] = &**parts;
                sum(&[then, otherwise])
            }
            TermKind::Call(function, parts) if function.is_multilinear() => {
                product(degrees(&mut parts.iter())?)
            }
            _ => Err(Refused::Product(term.span)),
        }
    }
}

impl Model {
    /// The terms of an equation without products with slopes that are integrated through faces.
    pub(crate) fn rest_of(&self, equation: &Equation) -> Term {
        let at_face = self.at_face.as_ref();
        let at_face = at_face.filter(|_| self.flux_of(equation.field).is_some());
        let Some(at_face) = at_face else {
            return equation.rhs.clone();
        };
        let slopes = Slopes::new(at_face, &self.lets);
        let parts = slopes.parts(&equation.rhs);
        let (rank, span) = (equation.rhs.rank, equation.rhs.span);
        let nothing = || Term::zero(rank, self.components, span);
        match parts.signed().next() {
            None => equation.rhs.clone(),
            Some(_) => parts.rest().unwrap_or_else(nothing),
        }
    }
}

/// Is it zero, of any rank?
fn is_nothing(term: &Term) -> bool {
    match &term.kind {
        TermKind::Stack(entries) => entries.iter().all(is_nothing),
        _ => is_zero(term),
    }
}
