//! A function as the list of operations that it performs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::expr::real::{Arithmetic, Precision};
use crate::expr::{Builder, Expr, Node, Op, Ref};

/// The operations of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The operations, in the order in which they are written; an atom is an argument's position.
    pub expr: Expr<usize>,
    /// Names of values, no two of them alike.
    pub names: BTreeMap<Ref, String>,
}

/// The operations of which `op` is made in this precision; `None` if it is made of no others.
///
/// ```
/// use stencil_compiler::expr::{Op, math::recorded, real::Precision};
/// let sine = recorded(Op::Sin, Precision::F64).expect("a function");
/// let value: f64 = sine.expr.eval(|_| 1.25);
/// assert_eq!(value, Op::Sin.eval(&[1.25]));
/// assert_eq!(recorded(Op::Add, Precision::F64), None);
/// ```
pub fn recorded(op: Op, precision: Precision) -> Option<Recording> {
    if let Op::Loop(_) | Op::Call(_) = op {
        return None;
    }
    let tape = Tape {
        precision,
        builder: RefCell::new(Builder::new()),
        names: RefCell::new(BTreeMap::new()),
    };
    let arg = |i: usize| Recorded { tape: &tape, at: tape.builder.borrow_mut().atom(i) };
    let args: Vec<Recorded<'_>> = (0..op.arity()).map(arg).collect();
    let result = op.eval(&args).at;
    let expr = tape.builder.into_inner().into_expr(vec![result]);
    let names = tape.names.into_inner();
    let operations = expr.nodes.iter().filter(|n| matches!(n, Node::Op(..)));
    (operations.count() > 1).then_some(Recording { expr, names })
}

#[derive(Debug)]
struct Tape {
    precision: Precision,
    builder: RefCell<Builder<usize>>,
    names: RefCell<BTreeMap<Ref, String>>,
}

/// A value of which only the way to it is known.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    tape: &'a Tape,
    at: Ref,
}

impl Recorded<'_> {
    fn op<const N: usize>(self, op: Op, args: [Self; N]) -> Self {
        let args = args.map(|arg| arg.at);
        Recorded { tape: self.tape, at: self.tape.builder.borrow_mut().op(op, &args) }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident)*) => {
        $(impl $trait for Recorded<'_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.op(Op::$trait, [self, other])
            }
        })*
    };
}
operators!(Add add Sub sub Mul mul Div div);

impl Neg for Recorded<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.op(Op::Neg, [self])
    }
}

impl Arithmetic for Recorded<'_> {
    fn precision(self) -> Precision {
        self.tape.precision
    }
    fn lit(self, value: f64) -> Self {
        let value = match self.tape.precision {
            Precision::F32 => f64::from(value as f32),
            Precision::F64 => value,
        };
        Recorded { tape: self.tape, at: self.tape.builder.borrow_mut().lit(value) }
    }
    fn named(self, name: &'static str) -> Self {
        let mut names = self.tape.names.borrow_mut();
        let taken = |text: &str| names.values().any(|known| known == text);
        let mut text = name.to_string();
        let mut number = 1;
        while taken(&text) {
            number += 1;
            text = format!("{name}_{number}");
        }
        names.entry(self.at).or_insert(text);
        self
    }
    fn fma(self, b: Self, c: Self) -> Self {
        self.op(Op::Fma, [self, b, c])
    }
    fn sqrt(self) -> Self {
        self.op(Op::Sqrt, [self])
    }
    fn abs(self) -> Self {
        self.op(Op::Abs, [self])
    }
    fn if_lt(self, b: Self, yes: Self, no: Self) -> Self {
        self.op(Op::Lt, [self, b, yes, no])
    }
    fn if_le(self, b: Self, yes: Self, no: Self) -> Self {
        self.op(Op::Le, [self, b, yes, no])
    }
    fn if_eq(self, b: Self, yes: Self, no: Self) -> Self {
        self.op(Op::Eq, [self, b, yes, no])
    }
    fn is_positive(self) -> bool {
        false
    }
    fn copysign(self, sign: Self) -> Self {
        self.op(Op::Copysign, [self, sign])
    }
    fn exponent(self) -> Self {
        self.op(Op::Exponent, [self])
    }
    fn significand(self) -> Self {
        self.op(Op::Significand, [self])
    }
    fn power_of_two(self) -> Self {
        self.op(Op::PowerOfTwo, [self])
    }
}
