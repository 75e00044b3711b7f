//! The syntax tree: the declaration with names not resolved.

use crate::catalogue::{Centering, Rank};
use crate::diag::Span;
use crate::expr::Rational;
use crate::model::{Comparison, Gives, Iterations, Symmetry};

/// A name and its place.
#[derive(Clone, Debug)]
pub(in crate::model) struct Name {
    pub(in crate::model) text: String,
    pub(in crate::model) span: Span,
}

/// The text after `in`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) struct Written {
    /// The number in `2d`; `None` for `nd`.
    pub(in crate::model) number: Option<usize>,
    /// `nd`, or `2d of nd`: the system of any number of dimensions, in one of them.
    pub(in crate::model) generic: bool,
    pub(in crate::model) span: Span,
}

/// All items of one source.
#[derive(Debug)]
pub(in crate::model) struct System {
    pub(in crate::model) name: Name,
    pub(in crate::model) doc: Vec<String>,
    /// `None` after an error.
    pub(in crate::model) dimension: Option<Written>,
    pub(in crate::model) fields: Vec<FieldItem>,
    pub(in crate::model) params: Vec<ParamItem>,
    pub(in crate::model) sources: Vec<SourceItem>,
    pub(in crate::model) functions: Vec<FunctionItem>,
    pub(in crate::model) lets: Vec<LetItem>,
    pub(in crate::model) ranges: Vec<RangeItem>,
    pub(in crate::model) equations: Vec<EquationItem>,
    pub(in crate::model) fluxes: Vec<FluxItem>,
    pub(in crate::model) products: Vec<FluxItem>,
    /// The place of the `waves` block, if there is one.
    pub(in crate::model) waves: Option<Span>,
    pub(in crate::model) wave_speeds: Vec<SpeedItem>,
    pub(in crate::model) primitive: Option<VariablesBlock>,
    pub(in crate::model) face: Option<VariablesBlock>,
    pub(in crate::model) average: Option<VariablesBlock>,
    pub(in crate::model) solvers: Vec<SolverItem>,
    pub(in crate::model) observables: Vec<ObserveItem>,
    /// The place of the `cfl` block, if there is one.
    pub(in crate::model) cfl: Option<Span>,
    pub(in crate::model) speeds: Vec<SpeedItem>,
    pub(in crate::model) schemes: Vec<SchemeItem>,
}

impl System {
    /// A system without items.
    pub(in crate::model) fn new(name: Name, doc: Vec<String>, dimension: Option<Written>) -> Self {
        System {
            name,
            doc,
            dimension,
            fields: Vec::new(),
            params: Vec::new(),
            sources: Vec::new(),
            functions: Vec::new(),
            lets: Vec::new(),
            ranges: Vec::new(),
            equations: Vec::new(),
            fluxes: Vec::new(),
            products: Vec::new(),
            waves: None,
            wave_speeds: Vec::new(),
            primitive: None,
            face: None,
            average: None,
            solvers: Vec::new(),
            observables: Vec::new(),
            cfl: None,
            speeds: Vec::new(),
            schemes: Vec::new(),
        }
    }
}

/// The text of a type.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::model) struct Width {
    /// Is it written with `<3>`, so that its vectors have three components?
    pub(in crate::model) three: bool,
    pub(in crate::model) span: Span,
}

/// `field u: vector [m/s];` or `conserved u: vector [m/s];`
#[derive(Debug)]
pub(in crate::model) struct FieldItem {
    pub(in crate::model) name: Name,
    pub(in crate::model) conserved: bool,
    pub(in crate::model) centering: Centering,
    /// `None` after an error.
    pub(in crate::model) kind: Option<(Rank, Symmetry)>,
    pub(in crate::model) width: Width,
    pub(in crate::model) unit: Option<String>,
}

/// `param nu: real [m^2/s] = 5e-3 where nu >= 0;`
#[derive(Debug)]
pub(in crate::model) struct ParamItem {
    pub(in crate::model) name: Name,
    pub(in crate::model) unit: Option<String>,
    pub(in crate::model) default: Option<Ast>,
    pub(in crate::model) bounds: Vec<(Comparison, Ast, Span)>,
}

/// `source f: vector [m/s^2] = [sin(x), 0, 0];`
#[derive(Debug)]
pub(in crate::model) struct SourceItem {
    pub(in crate::model) name: Name,
    /// `None` after an error.
    pub(in crate::model) rank: Option<Rank>,
    pub(in crate::model) width: Width,
    pub(in crate::model) unit: Option<String>,
    pub(in crate::model) value: Option<Ast>,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `fn limiter(a: scalar, b: scalar) -> scalar { .. }`
#[derive(Debug)]
pub(in crate::model) struct FunctionItem {
    pub(in crate::model) name: Name,
    /// `None` after an error in the head or the body.
    pub(in crate::model) meaning: Option<Function>,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// A function without its name.
#[derive(Debug)]
pub(in crate::model) struct Function {
    pub(in crate::model) arguments: Vec<(Name, Rank)>,
    pub(in crate::model) rank: Rank,
    /// The first type in its head with `<3>`.
    pub(in crate::model) three: Option<Span>,
    pub(in crate::model) statements: Vec<Statement>,
    pub(in crate::model) value: Ast,
}

/// One statement of a function.
#[derive(Debug)]
pub(in crate::model) enum Statement {
    /// `let x = ..;` or, if it may change, `let mut x = ..;`
    Let { name: Name, mutable: bool, value: Ast },
    /// `x = ..;`
    Assign { name: Name, value: Ast },
    /// `for i in 0..8 { .. }` or `for i in 0..8 { ..; until(abs(step) < 1e-6); }`
    For {
        index: Name,
        from: i64,
        to: i64,
        /// The bounds.
        span: Span,
        /// The condition that ends the loop.
        until: Option<Ast>,
        body: Vec<Statement>,
    },
}

/// `let s = ..;`
#[derive(Debug)]
pub(in crate::model) struct LetItem {
    pub(in crate::model) name: Name,
    /// `None` after an error.
    pub(in crate::model) value: Option<Ast>,
    /// The loop that it comes out of, where functions are written out.
    pub(in crate::model) within: Option<Iterations>,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `where h > 0`, behind a field or a `let`.
#[derive(Debug)]
pub(in crate::model) struct RangeItem {
    pub(in crate::model) name: Name,
    pub(in crate::model) bound: (Comparison, Ast, Span),
}

/// `ddt(u) = ..;`
#[derive(Debug)]
pub(in crate::model) struct EquationItem {
    pub(in crate::model) field: Name,
    /// `None` after an error.
    pub(in crate::model) rhs: Option<Ast>,
    pub(in crate::model) span: Span,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `flux u -> outer(u, u);` or `product m -> g*h*grad(depth);`
#[derive(Debug)]
pub(in crate::model) struct FluxItem {
    pub(in crate::model) field: Name,
    /// `None` after an error.
    pub(in crate::model) value: Option<Ast>,
    pub(in crate::model) span: Span,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `primitive { .. }`, `face { .. }` or `average { .. }`: variables from which the conserved fields follow.
#[derive(Debug)]
pub(in crate::model) struct VariablesBlock {
    /// The beginning of the block.
    pub(in crate::model) span: Span,
    pub(in crate::model) items: Vec<VariableItem>,
}

/// `p;`, `p by sqrt(rho);` or `m = rho*u;` of such a block.
#[derive(Debug)]
pub(in crate::model) struct VariableItem {
    pub(in crate::model) name: Name,
    /// The value of a conserved field; `None` for a variable.
    pub(in crate::model) value: Option<Ast>,
    /// The weight of a variable in its mean, or the choice of its shared value.
    pub(in crate::model) weight: Option<Ast>,
    pub(in crate::model) span: Span,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `riemann exact { .. }`
#[derive(Debug)]
pub(in crate::model) struct SolverItem {
    pub(in crate::model) name: Name,
    /// Its `let`s.
    pub(in crate::model) lets: Vec<LetItem>,
    /// The fields and `let`s that it gives, by their values or fluxes.
    pub(in crate::model) values: Vec<SolvedItem>,
    /// The waves that it gives.
    pub(in crate::model) waves: Vec<WaveItem>,
    /// Was it read to its end?
    pub(in crate::model) whole: bool,
}

/// `p = ..;` or `flux m -> ..;` of a solver.
#[derive(Debug)]
pub(in crate::model) struct SolvedItem {
    pub(in crate::model) name: Name,
    pub(in crate::model) gives: Gives,
    pub(in crate::model) value: Ast,
    pub(in crate::model) span: Span,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `wave a at s spread b { h = 1; m = ..; }` of a solver.
#[derive(Debug)]
pub(in crate::model) struct WaveItem {
    pub(in crate::model) strength: Ast,
    pub(in crate::model) speed: Ast,
    pub(in crate::model) spread: Option<Ast>,
    pub(in crate::model) vector: Vec<SolvedItem>,
    /// From its word to its speed.
    pub(in crate::model) span: Span,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `observe energy = mean(dot(u, u) / 2);`
#[derive(Debug)]
pub(in crate::model) struct ObserveItem {
    pub(in crate::model) name: Name,
    pub(in crate::model) reduction: Name,
    /// `None` after an error.
    pub(in crate::model) value: Option<Ast>,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `advective: norm(u) + cs;` of a `cfl` block, `flow: u` of a `waves` block.
#[derive(Debug)]
pub(in crate::model) struct SpeedItem {
    pub(in crate::model) kind: Name,
    pub(in crate::model) value: Ast,
    /// Position among the tokens, which decides the items above it.
    pub(in crate::model) at: usize,
}

/// `scheme central6 for IsothermalNs { .. }`
#[derive(Debug)]
pub(in crate::model) struct SchemeItem {
    pub(in crate::model) name: Name,
    pub(in crate::model) system: Name,
    pub(in crate::model) settings: Vec<Setting>,
}

/// `space: central<order = 6>;` or `reconstruct: weno_z in primitive;`
#[derive(Debug)]
pub(in crate::model) struct Setting {
    pub(in crate::model) key: Name,
    pub(in crate::model) choice: Name,
    /// Their names, and the numbers or names as written.
    pub(in crate::model) arguments: Vec<(Name, Name)>,
    /// The name after `in`.
    pub(in crate::model) variables: Option<Name>,
}

/// An expression.
#[derive(Debug)]
pub(in crate::model) struct Ast {
    pub(in crate::model) kind: AstKind,
    pub(in crate::model) span: Span,
    /// Levels below, bounded so that recursion over the tree is safe.
    pub(in crate::model) depth: u32,
}

impl Ast {
    /// Does it name something of which this is true?
    pub(in crate::model) fn names(&self, is_meant: &mut dyn FnMut(&str) -> bool) -> bool {
        match &self.kind {
            AstKind::Name(name) => is_meant(name),
            AstKind::Number(_) | AstKind::Real(_) | AstKind::Wrong => false,
            AstKind::Neg(a)
            | AstKind::Not(a)
            | AstKind::Pow(a, _)
            | AstKind::Component(a, _)
            | AstKind::Derivative(_, _, a) => a.names(is_meant),
            AstKind::Binary(_, a, b) => a.names(is_meant) || b.names(is_meant),
            AstKind::Stack(all) | AstKind::Call(_, all) => all.iter().any(|a| a.names(is_meant)),
            AstKind::If(parts) => parts.iter().any(|a| a.names(is_meant)),
        }
    }
}

/// The forms of an expression. Conditions are expressions to the parser.
#[derive(Debug)]
pub(in crate::model) enum AstKind {
    Number(Rational),
    /// A literal that no exact fraction holds, which the default of a parameter may be.
    Real(f64),
    Name(String),
    Neg(Box<Ast>),
    Not(Box<Ast>),
    Binary(Binary, Box<Ast>, Box<Ast>),
    Pow(Box<Ast>, i32),
    Stack(Vec<Ast>),
    Component(Box<Ast>, Name),
    Derivative(Name, u32, Box<Ast>),
    Call(Name, Vec<Ast>),
    /// Condition, value if it holds, value otherwise.
    If(Box<[Ast; 3]>),
    /// Something that was already reported.
    Wrong,
}

/// The operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum Binary {
    Or,
    And,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Add,
    Sub,
    Mul,
    Div,
}

impl Binary {
    /// Is the result a condition?
    pub(in crate::model) fn is_condition(self) -> bool {
        self.precedence() <= Binary::Less.precedence()
    }

    /// Its precedence.
    pub(in crate::model) fn precedence(self) -> u32 {
        match self {
            Binary::Or => 1,
            Binary::And => 2,
            Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::Equal
            | Binary::NotEqual => 3,
            Binary::Add | Binary::Sub => 4,
            Binary::Mul | Binary::Div => 5,
        }
    }
}
