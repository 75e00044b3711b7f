//! Taylor polynomials in space, and the right-hand sides of a declaration evaluated on them: the meaning of a
//! declaration, found without differences, grids or the compiler's later stages.

use stencil_compiler::catalogue::Function;
use stencil_compiler::expr::{Op, Rational};
use stencil_compiler::model::{Model, Relation, Term, TermKind};
use stencil_tests::written::functions::{self, Piece, Shape};

/// Products of powers of x, y, z up to a degree, and the table of their products.
#[derive(Debug)]
pub(crate) struct Space {
    /// Exponents of x, y, z.
    powers: Vec<[usize; 3]>,
    /// Places of two factors and of their product.
    products: Vec<(usize, usize, usize)>,
}

impl Space {
    /// Makes the space of polynomials of at most this degree, in as many of x, y, z.
    pub(crate) fn new(degree: usize, axes: usize) -> Self {
        let mut powers = Vec::new();
        for z in 0..=degree {
            for y in 0..=degree - z {
                powers.extend((0..=degree - z - y).map(|x| [x, y, z]));
            }
        }
        powers.retain(|power| power[axes..].iter().all(|n| *n == 0));
        powers.sort_by_key(|p| p.iter().sum::<usize>());
        let place = |power| powers.iter().position(|p| *p == power);
        let mut products = Vec::new();
        for (i, a) in powers.iter().enumerate() {
            for (j, b) in powers.iter().enumerate() {
                let sum = std::array::from_fn(|axis| a[axis] + b[axis]);
                products.extend(place(sum).map(|k| (i, j, k)));
            }
        }
        Space { powers, products }
    }

    /// Returns a number.
    pub(crate) fn constant(&self, value: f64) -> Jet {
        let mut jet = vec![0.0; self.powers.len()];
        jet[0] = value;
        jet
    }

    /// Returns `cos(k·x + phase)` around the point where the phase is this.
    pub(crate) fn wave(&self, k: [f64; 3], phase: f64) -> Jet {
        let coefficient = |power: &[usize; 3]| {
            let order: usize = power.iter().sum();
            let quarter = std::f64::consts::FRAC_PI_2 * order as f64;
            let factor: f64 = (0..3)
                .map(|axis| k[axis].powi(power[axis] as i32) / factorial(power[axis]))
                .product();
            factor * (phase + quarter).cos()
        };
        self.powers.iter().map(coefficient).collect()
    }

    fn product(&self, a: &Jet, b: &Jet) -> Jet {
        let mut out = vec![0.0; a.len()];
        for (i, j, k) in &self.products {
            out[*k] += a[*i] * b[*j];
        }
        out
    }

    /// Returns the derivative; its terms of the highest degree are lost.
    fn derivative(&self, a: &Jet, axis: usize) -> Jet {
        let mut out = vec![0.0; a.len()];
        for (from, power) in self.powers.iter().enumerate() {
            let mut lower = *power;
            if power[axis] > 0 {
                lower[axis] -= 1;
                let to = self.powers.iter().position(|p| *p == lower);
                out[to.expect("a lower power")] = power[axis] as f64 * a[from];
            }
        }
        out
    }

    /// Returns a function of a polynomial, from the function's Taylor coefficients at its value.
    fn compose(&self, a: &Jet, coefficients: impl Fn(usize) -> f64) -> Jet {
        let degree = self.powers.last().map_or(0, |p| p.iter().sum());
        let mut change = a.clone();
        change[0] = 0.0;
        (0..degree).rev().fold(self.constant(coefficients(degree)), |sum: Jet, n| {
            let mut next = self.product(&sum, &change);
            next[0] += coefficients(n);
            next
        })
    }

    /// Returns a real power, of a positive value or with a whole exponent.
    fn power(&self, a: &Jet, exponent: f64) -> Jet {
        self.compose(a, |n| {
            let falling: f64 = (0..n).map(|i| exponent - i as f64).product();
            falling / factorial(n) * a[0].powf(exponent - n as f64)
        })
    }
}

fn factorial(n: usize) -> f64 {
    (1..=n).map(|i| i as f64).product()
}

/// Coefficients of a polynomial.
pub(crate) type Jet = Vec<f64>;

fn sum(a: &Jet, b: &Jet, factor: f64) -> Jet {
    a.iter().zip(b).map(|(a, b)| a + factor * b).collect()
}

fn scaled(a: &Jet, factor: f64) -> Jet {
    a.iter().map(|a| factor * a).collect()
}

fn number(value: &Rational) -> f64 {
    *value.numer() as f64 / *value.denom() as f64
}

/// The components of an expression, tensors row by row.
type Value = Vec<Jet>;

/// A model at a point.
#[derive(Debug)]
pub(crate) struct Point<'a> {
    space: &'a Space,
    model: &'a Model,
    params: &'a [f64],
    fields: &'a [Value],
    sources: &'a [Value],
    lets: Vec<Value>,
}

impl<'a> Point<'a> {
    /// Makes the model whose fields, and after them its sources, have these components.
    pub(crate) fn new(
        space: &'a Space,
        model: &'a Model,
        params: &'a [f64],
        values: &'a [Value],
    ) -> Self {
        let (fields, sources) = values.split_at(model.fields.len());
        let mut point = Point { space, model, params, fields, sources, lets: Vec::new() };
        for name in &model.lets {
            let value = point.value(&name.value);
            point.lets.push(value);
        }
        point
    }

    /// Returns the components of an expression.
    pub(crate) fn value(&self, term: &Term) -> Value {
        let space = self.space;
        let of = |term: &Term| self.value(term);
        match &term.kind {
            TermKind::Number(value) => vec![space.constant(number(value))],
            TermKind::Param(i) => vec![space.constant(self.params[*i])],
            TermKind::Field(i) => self.fields[*i].clone(),
            TermKind::Source(i) => self.sources[*i].clone(),
            TermKind::Let(i) => self.lets[*i].clone(),
            TermKind::Neg(a) => of(a).iter().map(|a| scaled(a, -1.0)).collect(),
            TermKind::Add(a, b) => pairs(&of(a), &of(b), |a, b| sum(a, b, 1.0)),
            TermKind::Sub(a, b) => pairs(&of(a), &of(b), |a, b| sum(a, b, -1.0)),
            TermKind::Mul(a, b) => outer(&of(a), &of(b), |a, b| space.product(a, b)),
            TermKind::Div(a, b) => {
                let inverse = vec![space.power(&of(b)[0], -1.0)];
                outer(&of(a), &inverse, |a, b| space.product(a, b))
            }
            TermKind::Pow(a, n) => vec![space.power(&of(a)[0], f64::from(*n))],
            TermKind::Stack(rows) => rows.iter().flat_map(of).collect(),
            TermKind::Component(a, at) => {
                let d = self.model.dimension;
                vec![of(a)[at.iter().fold(0, |place, i| place * d + i)].clone()]
            }
            TermKind::Derivative { axis, times, of: a } => (0..*times)
                .fold(of(a), |a, _| a.iter().map(|a| space.derivative(a, *axis)).collect()),
            TermKind::If(relation, parts) => {
                let (a, b) = (of(&parts[0])[0][0], of(&parts[1])[0][0]);
                let first = match relation {
                    Relation::Less => a < b,
                    Relation::LessEqual => a <= b,
                    Relation::Equal => a == b,
                };
                of(&parts[if first { 2 } else { 3 }])
            }
            TermKind::Call(function, arguments) => {
                let arguments: Vec<Value> = arguments.iter().map(of).collect();
                let width = self.model.dimension.pow(term.rank.indices() as u32);
                self.call(*function, &arguments, width)
            }
            other => panic!("no built-in equation has {other:?}"),
        }
    }

    /// Returns so many components of a function's result.
    fn call(&self, function: Function, arguments: &[Value], width: usize) -> Value {
        let (space, d) = (self.space, self.model.dimension);
        let a = &arguments[0];
        match function {
            Function::Scalar(Op::Sqrt) => return vec![space.power(&a[0], 0.5)],
            Function::Scalar(Op::Exp) => {
                return vec![space.compose(&a[0], |n| a[0][0].exp() / factorial(n))];
            }
            _ => {}
        }
        let shape =
            Shape { components: d, dimension: d, widths: arguments.iter().map(Vec::len).collect() };
        let component = |at: usize| {
            let sum = functions::sum(function, &shape, at);
            let sum = sum.unwrap_or_else(|| panic!("no built-in equation has {function:?}"));
            let parts = sum.iter();
            total(parts.map(|(by, piece)| scaled(&self.piece(piece, arguments), by.to_f64())))
        };
        (0..width).map(component).collect()
    }

    fn piece(&self, piece: &Piece, arguments: &[Value]) -> Jet {
        let space = self.space;
        match piece {
            Piece::Of(of, at) => arguments[*of][*at].clone(),
            Piece::Slope(axis, [of, at]) => space.derivative(&arguments[*of][*at], *axis),
            Piece::Product([a, i], [b, j]) => space.product(&arguments[*a][*i], &arguments[*b][*j]),
            Piece::Difference(axes, of) => {
                let of = self.piece(of, arguments);
                axes.iter().fold(of, |of, axis| space.derivative(&of, *axis))
            }
        }
    }
}

fn pairs(a: &Value, b: &Value, f: impl Fn(&Jet, &Jet) -> Jet) -> Value {
    a.iter().zip(b).map(|(a, b)| f(a, b)).collect()
}

fn outer(a: &Value, b: &Value, f: impl Fn(&Jet, &Jet) -> Jet) -> Value {
    let f = &f;
    a.iter().flat_map(|a| b.iter().map(move |b| f(a, b))).collect()
}

fn total(terms: impl Iterator<Item = Jet>) -> Jet {
    terms.reduce(|a, b| sum(&a, &b, 1.0)).expect("there is an axis")
}
