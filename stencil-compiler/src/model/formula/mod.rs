//! Formulas: scalar expressions over named numbers, evaluated on the host in `f64`.
//!
//! Initial data, boundary values and sources are formulas. They are read by the parser of the
//! language and checked like its expressions, and evaluated with the operations of
//! [`crate::expr::op`], so that they have the same bits everywhere.

use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Diagnostics, Span};
use crate::expr::{Expr, Node, Op};
use crate::model::{Model, Term, check, parse};

mod lower;
#[cfg(test)]
mod tests;

/// A scalar expression over a list of names.
///
/// It may use numbers, the names, `pi`, the operators of the language, its functions of scalars,
/// and `if`.
///
/// ```
/// use stencil_compiler::model::formula::Formula;
///
/// let wave = Formula::parse("a * sin(2*pi*x) + (if x > 1/2 { 1 } else { 0 })", &["a", "x", "t"])?;
/// assert_eq!(wave.eval(&[3.0, 0.25, 0.0]), 3.0);
/// assert!(wave.uses("x") && !wave.uses("t"));
///
/// let errors = Formula::parse("sin(radus)", &["radius"]).unwrap_err().to_string();
/// assert_eq!(errors, "error[P0101] 1:5: no name `radus` in the formula (help: did you mean `radius`?)");
/// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    names: Vec<String>,
    expr: Expr<usize>,
}

/// The meaning of a name of a formula over other names.
#[derive(Clone, Copy, Debug)]
pub enum Meaning<'a> {
    /// One of the other names, by its place.
    Name(usize),
    /// A number.
    Number(f64),
    /// A formula over the other names.
    Formula(&'a Formula),
}

/// Memory that evaluations use again; any formula may use any scratch.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    values: Vec<f64>,
}

impl Formula {
    /// Reads a formula over `names`; [`Formula::eval`] takes their values in the same order. A name in the list hides a
    /// word of the language.
    ///
    /// # Errors
    /// All errors of the text, with places in it: line from 1, column from 0.
    pub fn parse(text: &str, names: &[&str]) -> Result<Formula, Diagnostics> {
        let ast = parse::expression(text)?;
        let mut diagnostics = Diagnostics::new();
        let term = check::resolve::formula(&ast, names, &mut diagnostics);
        let term = diagnostics.into_result(term)?.ok_or_else(Diagnostics::new)?;
        let mut exprs = lower::lower(&term, names.len());
        match (exprs.pop(), exprs.is_empty()) {
            (Some(expr), true) => {
                Ok(Formula { names: names.iter().map(|name| (*name).to_string()).collect(), expr })
            }
            _ => {
                let message = "a formula is one number";
                Err(Diagnostic::new(Code::RankMismatch, term.span, message).into())
            }
        }
    }

    /// The same formula over other names: each of its own has a meaning, in their order.
    ///
    /// ```
    /// use stencil_compiler::model::formula::{Formula, Meaning};
    ///
    /// let width = Formula::parse("2*x", &["x", "t"])?;
    /// let bell = Formula::parse("a*exp(-(x/width)^2)", &["x", "a", "width"])?;
    /// let names = ["x", "t"].map(String::from);
    /// let meanings = [Meaning::Name(0), Meaning::Number(3.0), Meaning::Formula(&width)];
    /// let closed = bell.over(&names, &meanings);
    /// assert_eq!(closed.eval(&[0.5, 0.0]), bell.eval(&[0.5, 3.0, 1.0]));
    /// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
    /// ```
    ///
    /// A name without a meaning is not a number, and so is one beyond `names`.
    pub fn over(&self, names: &[String], meanings: &[Meaning<'_>]) -> Formula {
        let mut builder = crate::expr::Builder::new();
        let mut at = Vec::with_capacity(self.expr.nodes.len());
        for node in &self.expr.nodes {
            let moved = match node {
                Node::Lit(value) => builder.lit(value.value()),
                Node::Atom(name) => match meanings.get(*name) {
                    Some(Meaning::Name(name)) => builder.atom(*name),
                    Some(Meaning::Number(value)) => builder.lit(*value),
                    Some(Meaning::Formula(formula)) => builder.splice(&formula.expr),
                    None => builder.lit(f64::NAN),
                },
                Node::Op(op, args) => {
                    let args: Vec<_> = args.iter().map(|arg| at[arg.0 as usize]).collect();
                    builder.op(*op, &args)
                }
            };
            at.push(moved);
        }
        let expr = builder.finish(at[self.expr.result().0 as usize]);
        Formula { names: names.to_vec(), expr }
    }

    /// The formula that is `value` everywhere.
    pub fn constant(value: f64) -> Formula {
        let mut builder = crate::expr::Builder::new();
        let result = builder.lit(value);
        Formula { names: Vec::new(), expr: builder.finish(result) }
    }

    /// Its value, if it uses no name.
    ///
    /// ```
    /// use stencil_compiler::model::formula::Formula;
    ///
    /// assert_eq!(Formula::parse("2*pi", &["x"])?.as_constant(), Some(2.0 * std::f64::consts::PI));
    /// assert_eq!(Formula::parse("2*x", &["x"])?.as_constant(), None);
    /// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
    /// ```
    pub fn as_constant(&self) -> Option<f64> {
        let none = self.expr.atoms().next().is_none();
        none.then(|| self.eval(&[]))
    }

    /// The names, in the order of the values that [`Formula::eval`] takes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Its operations, arguments first; an atom is the place of a name.
    pub fn operations(&self) -> &Expr<usize> {
        &self.expr
    }

    /// Does its value depend on the value of a name?
    pub fn uses(&self, name: &str) -> bool {
        let mut atoms = self.expr.atoms();
        atoms.any(|atom| self.names.get(*atom).is_some_and(|n| n == name))
    }

    /// The value for values of the names, in their order; a value that is missing is not a number.
    pub fn eval(&self, values: &[f64]) -> f64 {
        self.eval_with(&mut Scratch::default(), values)
    }

    /// [`Formula::eval`] without an allocation for each call.
    ///
    /// ```
    /// use stencil_compiler::model::formula::{Formula, Scratch};
    ///
    /// let square = Formula::parse("x^2", &["x"])?;
    /// let mut scratch = Scratch::default();
    /// let sum: f64 = (0..4).map(|i| square.eval_with(&mut scratch, &[f64::from(i)])).sum();
    /// assert_eq!(sum, 14.0);
    /// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
    /// ```
    pub fn eval_with(&self, scratch: &mut Scratch, values: &[f64]) -> f64 {
        let known = &mut scratch.values;
        known.clear();
        for node in &self.expr.nodes {
            let value = match node {
                Node::Lit(lit) => lit.value(),
                Node::Atom(name) => values.get(*name).copied().unwrap_or(f64::NAN),
                Node::Op(op, args) => {
                    let mut a = [0.0; Op::MOST_ARGUMENTS];
                    for (slot, arg) in a.iter_mut().zip(args) {
                        *slot = known[arg.0 as usize];
                    }
                    op.eval(&a[..args.len()])
                }
            };
            known.push(value);
        }
        known[self.expr.result().0 as usize]
    }
}

/// The value that a declaration gives to a source: one formula for each component, row by row, over the names of
/// [`source_names`]. `None` if it has no value or there is no such source.
///
/// ```
/// use stencil_compiler::model::{formula, parse::parse_str};
///
/// let model = parse_str("system S in 2d {
///     field q: vector; param k: real; source f: vector = [sin(k*x), t];
///     ddt(q) = f;
/// }")?;
/// assert_eq!(formula::source_names(&model), ["k", "x", "y", "z", "t"]);
/// let components = formula::of_source(&model, 0).unwrap_or_default();
/// assert_eq!(components.len(), 2);
/// assert_eq!(components[1].eval(&[0.0, 0.0, 0.0, 0.0, 7.0]), 7.0);
/// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
/// ```
pub fn of_source(model: &Model, source: usize) -> Option<Vec<Formula>> {
    let value = model.sources.get(source)?.value.as_ref()?;
    let names = source_names(model);
    let exprs = lower::lower(value, model.params.len());
    let formula = |expr| Formula { names: names.clone(), expr };
    Some(exprs.into_iter().map(formula).collect())
}

/// The arguments of a model's source values: its parameters, `x`, `y`, `z` and `t`.
pub fn source_names(model: &Model) -> Vec<String> {
    let params = model.params.iter().map(|p| p.name.clone());
    params.chain(["x", "y", "z", "t"].map(String::from)).collect()
}

/// The value of a scalar of numbers only; `None` if it is another term.
pub(super) fn value(term: &Term) -> Option<f64> {
    let mut exprs = lower::lower(term, 0);
    let expr = exprs.pop().filter(|_| exprs.is_empty())?;
    let names = Vec::new();
    Formula { names, expr }.as_constant()
}

/// Reports a formula that is not a scalar.
pub(super) fn no_scalar(rank: Rank, span: Span) -> Diagnostic {
    let message = format!("a formula is a number, and this is a {}", rank.name());
    Diagnostic::new(Code::RankMismatch, span, message).help("write one formula for each component")
}
