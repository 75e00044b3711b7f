//! Functions of cell values by themselves: `#[pointwise]` compiles them for the processor, and systems link their text.
//!
//! A function is compiled as one of a system whose fields are its arguments and which observes its value. It is checked
//! and rounded as in any other system that passes it single values and shares none of its divisors.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::algorithm::{Algorithm, Atom, Def, SumTerm, UniformAtom};
use crate::catalogue::Rank;
use crate::diag::{Code, Diagnostic, Diagnostics, Span};
use crate::discretize::observe;
use crate::expr::{Builder, Expr, Node, Op, Ref};
use crate::model::Model;
use crate::model::parse::{self, parse_tokens};

const AXES: [&str; 3] = ["x", "y", "z"];

/// A function of cell values.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointwise {
    /// Its name.
    pub name: String,
    /// Its arguments in order.
    pub arguments: Vec<(String, Rank)>,
    /// The rank of its value.
    pub rank: Rank,
    /// The components of its value, for each number of dimensions in which it has a meaning; an atom is the position of
    /// a component among those of all arguments. A function of scalars alone has one entry.
    pub bodies: Vec<(usize, Expr<usize>)>,
}

impl Pointwise {
    /// Does the rank of an argument or of the value depend on the number of dimensions?
    pub fn is_of_axes(&self) -> bool {
        let ranks = self.arguments.iter().map(|(_, rank)| rank);
        ranks.chain([&self.rank]).any(|rank| *rank != Rank::Scalar)
    }
}

/// Compiles the last of some functions; it may call those above it.
///
/// ```
/// use stencil_compiler::pointwise::pointwise;
///
/// let text = "fn harmonic(a: scalar, b: scalar) -> scalar { if a*b > 0 { 2*a*b/(a + b) } else { 0 } }";
/// let mean = pointwise(text.parse()?)?;
/// let (_, value) = &mean.bodies[0];
/// assert_eq!(value.eval(|at| [1.0, 3.0][*at]), 1.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors in the number of dimensions with the fewest errors.
pub fn pointwise(functions: TokenStream) -> Result<Pointwise, Diagnostics> {
    let last = parse::last_function(functions.clone())?;
    let mut function = Pointwise {
        name: last.name,
        arguments: last.arguments,
        rank: last.rank,
        bodies: Vec::new(),
    };
    let mut fewest: Option<Diagnostics> = None;
    for dimension in (1..=3).rev() {
        if !function.is_of_axes() && !function.bodies.is_empty() {
            break;
        }
        match body(&function, &functions, dimension, last.span) {
            Ok(body) => function.bodies.insert(0, (dimension, body)),
            Err(errors) if fewest.as_ref().is_none_or(|f| errors.len() < f.len()) => {
                fewest = Some(errors);
            }
            Err(_) => {}
        }
    }
    match fewest {
        Some(errors) if function.bodies.is_empty() => Err(errors),
        _ => Ok(function),
    }
}

/// The components of a function's value in a number of dimensions.
fn body(
    function: &Pointwise,
    functions: &TokenStream,
    dimension: usize,
    span: Span,
) -> Result<Expr<usize>, Diagnostics> {
    let model = parse_tokens(system(function, functions, dimension)?)?;
    let watched = observe(&model).map_err(Diagnostic::from)?;
    let Some(watched) = watched else {
        return Err(Diagnostic::new(Code::Syntax, span, "a function without a value").into());
    };
    let places = places(&model, function.arguments.len());
    inlined(&watched.algorithm, &places).ok_or_else(|| {
        let message = format!("`{}` depends on more than its arguments", function.name);
        let diagnostic = Diagnostic::new(Code::NotVisible, span, message);
        let help = "a function that stands by itself has no time: make it an argument";
        diagnostic.help(help).into()
    })
}

/// A system with the arguments as fields, which watches the components of the value.
fn system(
    function: &Pointwise,
    functions: &TokenStream,
    dimension: usize,
) -> Result<TokenStream, Diagnostics> {
    let mut fields = String::new();
    let mut names = Vec::new();
    let own = function.arguments.iter().map(|(_, rank)| *rank);
    // A system has a field even if the function takes nothing.
    for (at, rank) in own.chain([Rank::Scalar]).enumerate() {
        let (name, rank) = (argument(at), parse::rank_name(rank));
        fields += &format!("field {name}: {rank}; ddt({name}) = 0*{name};");
        names.push(name);
    }
    names.pop();
    let call = format!("{}({})", function.name, names.join(", "));
    let watched = components(function.rank, dimension).into_iter().enumerate();
    let watched =
        watched.map(|(at, component)| format!("observe value_{at} = sum({call}{component});"));
    let lexed = |text: String| {
        let message = "a name that is no token";
        let error = |_| Diagnostic::new(Code::BadName, Span::default(), message);
        text.parse::<TokenStream>().map_err(error)
    };
    let mut inner = lexed(fields)?;
    inner.extend(functions.clone());
    inner.extend(lexed(watched.collect())?);
    let mut all = lexed(format!("system Pointwise in {dimension}d"))?;
    all.extend([TokenTree::from(Group::new(Delimiter::Brace, inner))]);
    Ok(all)
}

/// The field that stands for an argument.
fn argument(at: usize) -> String {
    format!("argument_{at}")
}

/// The suffixes that select the components of a value, in order.
fn components(rank: Rank, dimension: usize) -> Vec<String> {
    let axes = &AXES[..dimension];
    match rank {
        Rank::Scalar => vec![String::new()],
        Rank::Vector => axes.iter().map(|axis| format!(".{axis}")).collect(),
        Rank::Tensor => {
            let rows = axes.iter().flat_map(|row| axes.iter().map(move |column| (row, column)));
            rows.map(|(row, column)| format!(".{row}{column}")).collect()
        }
    }
}

/// The names of the components of the arguments, in order.
fn places(model: &Model, arguments: usize) -> Vec<String> {
    let own = model.fields.iter().take(arguments);
    own.flat_map(|field| {
        let parts = components(field.rank, model.components);
        parts.into_iter().map(|part| field.name.clone() + &part.replace('.', "_"))
    })
    .collect()
}

/// The values of an algorithm that looks at no neighbour, as one expression over its states by their places; `None` if
/// it looks further, or at parameters, lengths or times.
fn inlined(algorithm: &Algorithm, places: &[String]) -> Option<Expr<usize>> {
    let mut all = Inlined { builder: Builder::new(), uniforms: Vec::new(), values: Vec::new() };
    for uniform in &algorithm.uniforms {
        let value = all.uniform(&uniform.value)?;
        all.uniforms.push(value);
    }
    for function in &algorithm.functions {
        let value = match &function.def {
            Def::State(state) => {
                let name = &algorithm.state(*state).name;
                let place = places.iter().position(|place| place == name);
                place.map(|place| all.builder.atom(place))
            }
            Def::Point(expr) => Some(all.point(expr)?),
            Def::Sum(terms) => Some(all.sum(terms)?),
        };
        all.values.push(value);
    }
    let updates = algorithm.substeps.first()?.updates.iter();
    let results = updates.map(|(_, value)| all.values[value.0 as usize]).collect::<Option<_>>();
    Some(all.builder.into_expr(results?))
}

/// A value that no argument changes.
#[derive(Clone, Copy)]
enum Constant {
    /// A number, rounded once.
    Number(f64),
    /// A multiple of a node that holds the epsilon of the precision, as operations in that precision.
    OfPrecision(Ref),
}

struct Inlined {
    builder: Builder<usize>,
    uniforms: Vec<Constant>,
    /// Values of the grid functions so far; `None` for one that is not an argument.
    values: Vec<Option<Ref>>,
}

impl Inlined {
    fn atom(&mut self, atom: &Atom) -> Option<Ref> {
        match atom {
            Atom::Access(access) if access.at == [0; 3] => {
                self.values.get(access.of.0 as usize).copied().flatten()
            }
            Atom::Access(_) => None,
            Atom::Uniform(id) => Some(self.constant(self.uniforms[id.0 as usize], false)),
        }
    }

    /// A constant or its negative.
    fn constant(&mut self, value: Constant, negative: bool) -> Ref {
        match (value, negative) {
            (Constant::Number(number), false) => self.builder.lit(number),
            (Constant::Number(number), true) => self.builder.lit(-number),
            (Constant::OfPrecision(value), false) => value,
            (Constant::OfPrecision(value), true) => self.builder.op(Op::Neg, &[value]),
        }
    }

    /// A uniform that is made of numbers and of the epsilon of the precision alone.
    fn uniform(&mut self, value: &Expr<UniformAtom>) -> Option<Constant> {
        if value.atoms().next().is_none() {
            return Some(Constant::Number(value.eval(|_: &UniformAtom| 0.0)));
        }
        if value.atoms().any(|atom| *atom != UniformAtom::Epsilon) {
            return None;
        }
        let mut own: Vec<Ref> = Vec::with_capacity(value.nodes.len());
        for node in &value.nodes {
            let made = match node {
                Node::Lit(lit) => self.builder.lit(lit.value()),
                Node::Atom(_) => self.epsilon(),
                Node::Op(op, args) => {
                    let args: Vec<Ref> = args.iter().map(|arg| own[arg.0 as usize]).collect();
                    self.builder.op(*op, &args)
                }
            };
            own.push(made);
        }
        let result = own.get(value.result().0 as usize);
        result.copied().map(Constant::OfPrecision)
    }

    /// `|3 (4/3 - 1) - 1|`: the error of 1/3 in the precision of the operations.
    fn epsilon(&mut self) -> Ref {
        let b = &mut self.builder;
        let [one, three, four] = [1.0, 3.0, 4.0].map(|value| b.lit(value));
        let ratio = b.op(Op::Div, &[four, three]);
        let third = b.op(Op::Sub, &[ratio, one]);
        let whole = b.op(Op::Mul, &[three, third]);
        let lacks = b.op(Op::Sub, &[whole, one]);
        b.op(Op::Abs, &[lacks])
    }

    fn point(&mut self, expr: &Expr<Atom>) -> Option<Ref> {
        let mut own = Vec::with_capacity(expr.nodes.len());
        for node in &expr.nodes {
            let value = match node {
                Node::Lit(lit) => self.builder.lit(lit.value()),
                Node::Atom(atom) => self.atom(atom)?,
                Node::Op(op, args) => {
                    let args: Vec<Ref> = args.iter().map(|arg| own[arg.0 as usize]).collect();
                    match op {
                        Op::Loop(of) => of.unrolled_in(&mut self.builder, &args),
                        Op::Call(of) => of.written_out_in(&mut self.builder, &args),
                        _ => self.builder.op(*op, &args),
                    }
                }
            };
            own.push(value);
        }
        own.get(expr.result().0 as usize).copied()
    }

    /// The first term is a product, each further one a multiply-add.
    fn sum(&mut self, terms: &[SumTerm]) -> Option<Ref> {
        let mut sum: Option<Ref> = None;
        for term in terms {
            let value = self.atom(&Atom::Access(term.value))?;
            let factor = term.factor.map(|id| self.uniforms[id.0 as usize]);
            let factor = factor.map(|factor| self.constant(factor, term.negative));
            let builder = &mut self.builder;
            sum = Some(match (sum, factor) {
                (None, Some(factor)) => builder.op(Op::Mul, &[factor, value]),
                (None, None) if term.negative => builder.op(Op::Neg, &[value]),
                (None, None) => value,
                (Some(sum), Some(factor)) => builder.op(Op::Fma, &[factor, value, sum]),
                (Some(sum), None) if term.negative => builder.op(Op::Sub, &[sum, value]),
                (Some(sum), None) => builder.op(Op::Add, &[sum, value]),
            });
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Real;

    fn value<T: Real>(text: &str, arguments: &[f64]) -> f64 {
        let made = pointwise(text.parse().unwrap()).unwrap_or_else(|e| panic!("{e:?}"));
        let (_, body) = &made.bodies[0];
        body.eval(|at| T::from_f64(arguments[*at])).to_f64()
    }

    #[test]
    fn epsilon_is_that_of_the_precision_of_the_arguments() {
        for (text, times) in [
            ("fn small(a: scalar) -> scalar { a*epsilon }", 3.0),
            ("fn small(a: scalar) -> scalar { 2*epsilon + epsilon*a/3 }", 3.0),
            ("fn small(a: scalar) -> scalar { if a < epsilon { a } else { -epsilon } }", -1.0),
        ] {
            assert_eq!(value::<f64>(text, &[3.0]), times * f64::EPSILON, "{text}");
            assert_eq!(value::<f32>(text, &[3.0]), times * f64::from(f32::EPSILON), "{text}");
        }
    }
}
