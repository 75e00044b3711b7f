//! Sums of derivatives with uniform factors: the parts of their derivatives.

use stencil_compiler::catalogue::Function;
use stencil_compiler::model::{Mixed, Model, Term, TermKind};

use super::evaluate::{factors, width};
use super::functions::{self, Meaning, Piece, Shape};
use super::wide::Wide;

/// An expression that is differentiated as one grid function.
#[derive(Clone)]
pub(super) enum Atom<'a> {
    /// A component of a term.
    Whole(&'a Term, usize),
    /// The product of two components.
    Product([(&'a Term, usize); 2]),
    /// A central difference along these axes.
    Difference(Vec<usize>, Box<Atom<'a>>),
}

impl<'a> Atom<'a> {
    /// Makes that of a piece; a slope is none.
    pub(super) fn new(piece: &Piece, args: &'a [Term]) -> Self {
        match piece {
            Piece::Of(of, at) => Atom::Whole(&args[*of], *at),
            Piece::Product([a, i], [b, j]) => Atom::Product([(&args[*a], *i), (&args[*b], *j)]),
            Piece::Difference(axes, of) => {
                Atom::Difference(axes.clone(), Box::new(Atom::new(of, args)))
            }
            Piece::Slope(..) => unreachable!("a slope is what a scheme makes of it"),
        }
    }
}

/// A term of a sum.
#[derive(Clone)]
pub(super) struct SumTerm<'a> {
    pub(super) number: Wide,
    /// Uniforms, which multiply it or divide it.
    pub(super) factors: Vec<(&'a Term, bool)>,
    pub(super) atom: Atom<'a>,
}

impl<'a> SumTerm<'a> {
    fn whole(atom: Atom<'a>) -> Self {
        SumTerm { number: Wide::ONE, factors: Vec::new(), atom }
    }

    fn scaled(mut self, number: Wide) -> Self {
        self.number = self.number * number;
        self
    }

    fn by(mut self, factor: &'a Term, divides: bool) -> Self {
        self.factors.push((factor, divides));
        self
    }

    /// Is it a product that holds a first derivative, such as upwind advection? A derivative of it is distributed, or a
    /// difference of faces, which is not known here.
    pub(super) fn is_flux(&self, model: &Model) -> bool {
        match &self.atom {
            Atom::Product(pair) => pair.iter().any(|(term, _)| holds_slope(model, term)),
            Atom::Whole(term, _) => match &term.kind {
                TermKind::Call(function, args) => has_slopes(model, *function, args),
                TermKind::Pow(..) => holds_slope(model, term),
                _ => false,
            },
            Atom::Difference(..) => false,
        }
    }

    /// Returns its first derivative: of a first derivative the compact second one or the mixed one of the scheme.
    pub(super) fn differentiated(self, axis: usize, mixed: Mixed) -> Self {
        SumTerm { atom: derivative(axis, self.atom, mixed), ..self }
    }
}

fn derivative(axis: usize, atom: Atom<'_>, mixed: Mixed) -> Atom<'_> {
    let difference = |axes: &[usize], of| Atom::Difference(axes.to_vec(), Box::new(of));
    let Atom::Difference(axes, of) = &atom else {
        return difference(&[axis], atom);
    };
    let (&[known], of) = (axes.as_slice(), (**of).clone()) else {
        return difference(&[axis], atom);
    };
    let (low, high) = (known.min(axis), known.max(axis));
    match mixed {
        _ if low == high => difference(&[axis, axis], of),
        Mixed::Product => difference(&[high], difference(&[low], of)),
        Mixed::Bidiagonal | Mixed::Composed | Mixed::Either => difference(&[low, high], of),
    }
}

fn has_slopes(model: &Model, function: Function, args: &[Term]) -> bool {
    Meaning::of(function).is_some_and(|meaning| meaning.has_slopes(model, args))
}

/// Does a term contain a first derivative?
fn holds_slope(model: &Model, term: &Term) -> bool {
    let below = |terms: &[&Term]| terms.iter().any(|term| holds_slope(model, term));
    match &term.kind {
        TermKind::Derivative { times, of, .. } => *times == 1 || below(&[of]),
        TermKind::Call(function, args) if has_slopes(model, *function, args) => true,
        TermKind::Let(i) => holds_slope(model, &model.lets[*i].value),
        TermKind::Neg(a) | TermKind::Pow(a, _) | TermKind::Component(a, _) => below(&[a]),
        TermKind::Add(a, b) | TermKind::Sub(a, b) | TermKind::Mul(a, b) | TermKind::Div(a, b) => {
            below(&[a, b])
        }
        TermKind::Stack(parts) | TermKind::Call(_, parts) => {
            parts.iter().any(|part| holds_slope(model, part))
        }
        TermKind::If(_, parts) => parts.iter().any(|part| holds_slope(model, part)),
        TermKind::Number(_)
        | TermKind::Param(_)
        | TermKind::Time
        | TermKind::Epsilon
        | TermKind::Field(_)
        | TermKind::Source(_)
        | TermKind::Coordinate(_)
        | TermKind::Side(..)
        | TermKind::Normal
        | TermKind::Rise(_) => false,
    }
}

/// Is it the same everywhere: made of numbers, parameters and the time?
pub(super) fn is_uniform(model: &Model, term: &Term) -> bool {
    let all = |terms: &[&Term]| terms.iter().all(|term| is_uniform(model, term));
    match &term.kind {
        TermKind::Number(_) | TermKind::Param(_) | TermKind::Time | TermKind::Epsilon => true,
        TermKind::Field(_) | TermKind::Source(_) | TermKind::Coordinate(_) => false,
        TermKind::Side(..) | TermKind::Normal | TermKind::Rise(_) => false,
        TermKind::Let(i) => is_uniform(model, &model.lets[*i].value),
        TermKind::Neg(a) | TermKind::Pow(a, _) | TermKind::Component(a, _) => all(&[a]),
        TermKind::Derivative { of, .. } => all(&[of]),
        TermKind::Add(a, b) | TermKind::Sub(a, b) | TermKind::Mul(a, b) | TermKind::Div(a, b) => {
            all(&[a, b])
        }
        TermKind::Stack(parts) | TermKind::Call(_, parts) => {
            parts.iter().all(|part| is_uniform(model, part))
        }
        TermKind::If(_, parts) => parts.iter().all(|part| is_uniform(model, part)),
    }
}

/// Returns a component of a term as a sum.
pub(super) fn linear<'a>(
    model: &'a Model,
    term: &'a Term,
    at: usize,
    mixed: Mixed,
) -> Vec<SumTerm<'a>> {
    let n = model.components;
    let of = |term: &'a Term, at: usize| linear(model, term, at, mixed);
    let whole = || vec![SumTerm::whole(Atom::Whole(term, at))];
    match &term.kind {
        TermKind::Let(i) => of(&model.lets[*i].value, at),
        TermKind::Neg(a) => minus(of(a, at)),
        TermKind::Add(a, b) => [of(a, at), of(b, at)].concat(),
        TermKind::Sub(a, b) => [of(a, at), minus(of(b, at))].concat(),
        TermKind::Mul(a, b) => {
            let (i, j) = factors(a, b, at, n);
            product(model, [(a, i), (b, j)], mixed)
        }
        TermKind::Div(a, b) if is_uniform(model, b) => {
            let parts = of(a, at).into_iter();
            parts.map(|part| part.by(b, true)).collect()
        }
        TermKind::Pow(a, 1) => of(a, at),
        TermKind::Stack(parts) => {
            let width = width(&parts[0], n);
            of(&parts[at / width], at % width)
        }
        TermKind::Component(a, axes) => of(a, axes.iter().fold(0, |at, axis| at * n + axis)),
        TermKind::Derivative { axis, times: 1, of } => first(model, *axis, (of, at), mixed),
        TermKind::Derivative { axis, times, of } => {
            let axes = vec![*axis; *times as usize];
            let of = Box::new(Atom::Whole(of, at));
            vec![SumTerm::whole(Atom::Difference(axes, of))]
        }
        TermKind::Call(function, args) => {
            called(model, *function, args, at, mixed).unwrap_or_else(whole)
        }
        TermKind::Number(_)
        | TermKind::Field(_)
        | TermKind::Param(_)
        | TermKind::Source(_)
        | TermKind::Time
        | TermKind::Epsilon
        | TermKind::Coordinate(_)
        | TermKind::Side(..)
        | TermKind::Normal
        | TermKind::Rise(_)
        | TermKind::Div(..)
        | TermKind::Pow(..)
        | TermKind::If(..) => whole(),
    }
}

/// Returns a component of a call as a sum; `None` if it is not a sum.
fn called<'a>(
    model: &'a Model,
    function: Function,
    args: &'a [Term],
    at: usize,
    mixed: Mixed,
) -> Option<Vec<SumTerm<'a>>> {
    let sum = functions::sum(function, &Shape::new(model, args), at)?;
    let parts = sum.into_iter().map(|(number, piece)| {
        let parts = match &piece {
            Piece::Of(of, at) => linear(model, &args[*of], *at, mixed),
            Piece::Slope(axis, [of, at]) => first(model, *axis, (&args[*of], *at), mixed),
            Piece::Product([a, i], [b, j]) => {
                product(model, [(&args[*a], *i), (&args[*b], *j)], mixed)
            }
            Piece::Difference(..) => vec![SumTerm::whole(Atom::new(&piece, args))],
        };
        parts.into_iter().map(move |part| part.scaled(number))
    });
    Some(parts.flatten().collect())
}

/// Returns the first derivative of a component along an axis.
fn first<'a>(
    model: &'a Model,
    axis: usize,
    (term, at): (&'a Term, usize),
    mixed: Mixed,
) -> Vec<SumTerm<'a>> {
    if axis >= model.dimension {
        return Vec::new();
    }
    let parts = linear(model, term, at, mixed).into_iter();
    parts.map(|part| part.differentiated(axis, mixed)).collect()
}

/// Returns a sum with its sign changed.
fn minus(parts: Vec<SumTerm<'_>>) -> Vec<SumTerm<'_>> {
    let negated = parts.into_iter().map(|part| part.scaled(-Wide::ONE));
    negated.collect()
}

/// Returns a product as a sum, if one of its factors is uniform.
fn product<'a>(model: &'a Model, pair: [(&'a Term, usize); 2], mixed: Mixed) -> Vec<SumTerm<'a>> {
    let [(a, i), (b, j)] = pair;
    let scaled = |by: &'a Term, of: &'a Term, at: usize| -> Vec<SumTerm<'a>> {
        let parts = linear(model, of, at, mixed).into_iter();
        parts.map(|part| part.by(by, false)).collect()
    };
    let scalar = |term: &Term| width(term, model.components) == 1;
    if is_uniform(model, a) && scalar(a) {
        return scaled(a, b, j);
    }
    if is_uniform(model, b) && scalar(b) {
        return scaled(b, a, i);
    }
    vec![SumTerm::whole(Atom::Product(pair))]
}
