//! Sums of derivatives with uniform factors: the parts of their derivatives.

use stencil_compiler::catalogue::Function;
use stencil_compiler::model::{Mixed, Model, Term, TermKind};

use super::evaluate::{factors, width};
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
        SumTerm {
            number: Wide::ONE,
            factors: Vec::new(),
            atom,
        }
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
            Atom::Whole(term, _) => {
                let upwinds = matches!(term.kind, TermKind::Call(Function::Upwind, _));
                upwinds || matches!(term.kind, TermKind::Pow(..)) && holds_slope(model, term)
            }
            Atom::Difference(..) => false,
        }
    }

    /// Returns its first derivative: of a first derivative the compact second one or the mixed one of the scheme.
    pub(super) fn differentiated(self, axis: usize, mixed: Mixed) -> Self {
        SumTerm {
            atom: derivative(axis, self.atom, mixed),
            ..self
        }
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

/// Does a term contain a first derivative?
fn holds_slope(model: &Model, term: &Term) -> bool {
    let below = |terms: &[&Term]| terms.iter().any(|term| holds_slope(model, term));
    match &term.kind {
        TermKind::Derivative { times, of, .. } => *times == 1 || below(&[of]),
        TermKind::Call(Function::Grad | Function::Div | Function::Curl | Function::Upwind, _) => {
            true
        }
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
        | TermKind::Normal => false,
    }
}

/// Is it the same everywhere: made of numbers, parameters and the time?
pub(super) fn is_uniform(model: &Model, term: &Term) -> bool {
    let all = |terms: &[&Term]| terms.iter().all(|term| is_uniform(model, term));
    match &term.kind {
        TermKind::Number(_) | TermKind::Param(_) | TermKind::Time | TermKind::Epsilon => true,
        TermKind::Field(_) | TermKind::Source(_) | TermKind::Coordinate(_) => false,
        TermKind::Side(..) | TermKind::Normal => false,
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
    let n = model.components;
    let of = |term: &'a Term, at: usize| linear(model, term, at, mixed);
    let first = |axis: usize, term: &'a Term, at: usize| first(model, axis, (term, at), mixed);
    Some(match function {
        Function::Grad => {
            let width = width(&args[0], n);
            first(at / width, &args[0], at % width)
        }
        Function::Div => {
            let step = width(&args[0], n) / n;
            let parts = (0..n).map(|axis| first(axis, &args[0], axis * step + at));
            parts.collect::<Vec<_>>().concat()
        }
        Function::Curl => {
            let (j, k) = ((at + 1) % 3, (at + 2) % 3);
            [first(j, &args[0], k), minus(first(k, &args[0], j))].concat()
        }
        Function::Lap => {
            let second = |axis| {
                let of = Box::new(Atom::Whole(&args[0], at));
                SumTerm::whole(Atom::Difference(vec![axis; 2], of))
            };
            (0..model.dimension).map(second).collect()
        }
        Function::Dot => {
            let columns = width(&args[1], n) / n;
            let (row, column) = (at / columns, at % columns);
            let pair = |k| [(&args[0], row * n + k), (&args[1], k * columns + column)];
            let parts = (0..n).map(|k| product(model, pair(k), mixed));
            parts.collect::<Vec<_>>().concat()
        }
        Function::Cross => {
            let (j, k) = ((at + 1) % 3, (at + 2) % 3);
            let pair = |j, k| product(model, [(&args[0], j), (&args[1], k)], mixed);
            [pair(j, k), minus(pair(k, j))].concat()
        }
        Function::Outer => product(model, [(&args[0], at / n), (&args[1], at % n)], mixed),
        Function::Transpose => of(&args[0], (at % n) * n + at / n),
        Function::Diagonal => of(&args[0], at * (n + 1)),
        Function::Trace => trace(model, &args[0], mixed),
        Function::Sym | Function::SymTraceless => {
            let both = [of(&args[0], at), of(&args[0], (at % n) * n + at / n)].concat();
            let half = both.into_iter().map(|part| part.scaled(Wide::new(0.5)));
            let mut parts: Vec<SumTerm<'a>> = half.collect();
            if function == Function::SymTraceless && at.is_multiple_of(n + 1) {
                let share = Wide::ratio(-1, n as i128);
                let trace = trace(model, &args[0], mixed).into_iter();
                parts.extend(trace.map(|part| part.scaled(share)));
            }
            parts
        }
        Function::Norm | Function::Upwind | Function::Scalar(_) => return None,
    })
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

fn trace<'a>(model: &'a Model, term: &'a Term, mixed: Mixed) -> Vec<SumTerm<'a>> {
    let n = model.components;
    let parts = (0..n).map(|i| linear(model, term, i * (n + 1), mixed));
    parts.collect::<Vec<_>>().concat()
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
