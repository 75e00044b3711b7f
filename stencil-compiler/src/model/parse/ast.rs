//! The syntax tree: what was written, names not resolved.

use crate::diag::Span;
use crate::model::{Comparison, Rank, Rational};

/// A name and where it is.
#[derive(Clone, Debug)]
pub(in crate::model) struct Name {
    pub(in crate::model) text: String,
    pub(in crate::model) span: Span,
}

/// All of one source.
#[derive(Debug)]
pub(in crate::model) struct Source {
    pub(in crate::model) name: Name,
    pub(in crate::model) doc: Vec<String>,
    /// `None` after an error.
    pub(in crate::model) dimension: Option<usize>,
    pub(in crate::model) fields: Vec<FieldItem>,
    pub(in crate::model) params: Vec<ParamItem>,
    pub(in crate::model) lets: Vec<LetItem>,
    pub(in crate::model) equations: Vec<EquationItem>,
    pub(in crate::model) scheme: Option<SchemeItem>,
}

/// `field u: vector [m/s];`
#[derive(Debug)]
pub(in crate::model) struct FieldItem {
    pub(in crate::model) name: Name,
    /// `None` after an error.
    pub(in crate::model) rank: Option<Rank>,
    pub(in crate::model) unit: Option<String>,
}

/// `param nu: real [m^2/s] = 5e-3 where nu >= 0;`
#[derive(Debug)]
pub(in crate::model) struct ParamItem {
    pub(in crate::model) name: Name,
    pub(in crate::model) unit: Option<String>,
    pub(in crate::model) default: Option<(Rational, Span)>,
    pub(in crate::model) bounds: Vec<(Comparison, Rational, Span)>,
}

/// `let s = ..;`
#[derive(Debug)]
pub(in crate::model) struct LetItem {
    pub(in crate::model) name: Name,
    /// `None` after an error.
    pub(in crate::model) value: Option<Ast>,
    /// Position among the tokens, to tell what is above what.
    pub(in crate::model) at: usize,
}

/// `ddt(u) = ..;`
#[derive(Debug)]
pub(in crate::model) struct EquationItem {
    pub(in crate::model) field: Name,
    /// `None` after an error.
    pub(in crate::model) rhs: Option<Ast>,
    pub(in crate::model) span: Span,
    /// Position among the tokens, to tell what is above what.
    pub(in crate::model) at: usize,
}

/// `scheme central6 for IsothermalNs { .. }`
#[derive(Debug)]
pub(in crate::model) struct SchemeItem {
    pub(in crate::model) name: Name,
    pub(in crate::model) system: Name,
    pub(in crate::model) settings: Vec<Setting>,
}

/// `space: central<order = 6>;`
#[derive(Debug)]
pub(in crate::model) struct Setting {
    pub(in crate::model) key: Name,
    pub(in crate::model) choice: Name,
    /// Its name, and the number as written.
    pub(in crate::model) argument: Option<(Name, Name)>,
}

/// An expression.
#[derive(Debug)]
pub(in crate::model) struct Ast {
    pub(in crate::model) kind: AstKind,
    pub(in crate::model) span: Span,
    /// Levels below, bounded so that recursion over the tree is safe.
    pub(in crate::model) depth: u32,
}

/// The forms of an expression.
#[derive(Debug)]
pub(in crate::model) enum AstKind {
    Number(Rational),
    Name(String),
    Neg(Box<Ast>),
    Binary(Binary, Box<Ast>, Box<Ast>),
    Pow(Box<Ast>, i32),
    Stack(Vec<Ast>),
    Component(Box<Ast>, Name),
    Derivative(Name, u32, Box<Ast>),
    Call(Name, Vec<Ast>),
    /// Something that was already reported.
    Wrong,
}

/// The operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
}
