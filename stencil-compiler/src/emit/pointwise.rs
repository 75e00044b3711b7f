//! Functions of cell values as functions of Rust, generic over the precision.

use super::names::Scope;
use super::rust::{KEYWORDS, selecting};
use super::{EmitError, get};
use crate::catalogue::Rank;
use crate::expr::{Expr, Node};
use crate::pointwise::Pointwise;

/// Names that the text uses itself.
const RESERVED: &[&str] = &["D", "T"];
/// The trait of its numbers.
const REAL: &str = "::stencil_runtime::Real";

/// A function as an item without attributes and visibility. Scalars are a `T`, vectors `[T; D]` and tensors `[[T; D]; D]`, in `D` dimensions.
///
/// ```
/// use stencil_compiler::{emit, pointwise::pointwise};
///
/// let square = pointwise("fn square(a: scalar) -> scalar { a^2 }".parse()?)?;
/// let text = emit::pointwise(&square)?;
/// assert!(text.starts_with("fn square<T: ::stencil_runtime::Real>(a: T) -> T {"), "{text}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a name is not an identifier of Rust.
pub fn pointwise(function: &Pointwise) -> Result<String, EmitError> {
    let mut scope = Scope::new(&[KEYWORDS, RESERVED]);
    let names = function.arguments.iter().map(|(name, _)| name);
    let names = scope.names("argument", names)?;
    let mut own = Scope::new(&[KEYWORDS]);
    let name = own.name("function", &function.name)?;
    if name != function.name {
        return Err(EmitError::Name { what: "function", name: function.name.clone() });
    }
    let ranks = function.arguments.iter().map(|(_, rank)| *rank);
    let takes = names.iter().zip(ranks.clone());
    let takes: Vec<String> =
        takes.map(|(name, rank)| format!("{name}: {}", of_rank(rank))).collect();
    let dimension = if function.is_of_axes() { ", const D: usize" } else { "" };
    let gives = of_rank(function.rank);
    let mut out = format!("fn {name}<T: {REAL}{dimension}>({}) -> {gives} {{\n", takes.join(", "));
    let mut bodies = Vec::new();
    for (dimension, expr) in &function.bodies {
        let own = names.iter().zip(ranks.clone());
        let places: Vec<String> =
            own.flat_map(|(name, rank)| components(name, rank, *dimension)).collect();
        let mut scope = Scope::new(&[KEYWORDS, RESERVED]);
        scope.names("argument", &names)?;
        let values = vec!["v".to_string(); expr.nodes.len()];
        let values = scope.names("value", &values)?;
        let text = statements(expr, &places, &values)? + &result(expr, function.rank, &values);
        bodies.push((*dimension, text));
    }
    out += &choice(function, &bodies);
    Ok(out + "}\n")
}

/// The type of a value.
fn of_rank(rank: Rank) -> &'static str {
    match rank {
        Rank::Scalar => "T",
        Rank::Vector => "[T; D]",
        Rank::Tensor => "[[T; D]; D]",
    }
}

/// The body for the number of dimensions at hand; others do not compile.
fn choice(function: &Pointwise, bodies: &[(usize, String)]) -> String {
    if !function.is_of_axes() {
        return bodies.iter().map(|(_, text)| text.as_str()).collect();
    }
    let known: Vec<String> = bodies.iter().map(|(d, _)| format!("D == {d}")).collect();
    let mut out = format!(
        "    const {{ assert!({}, \"`{}` is not for this number of dimensions\") }};\n    match D {{\n",
        known.join(" || "),
        function.name
    );
    for (dimension, text) in bodies {
        out += &format!("    {dimension} => {{\n{text}    }}\n");
    }
    out + "    _ => unreachable!(),\n    }\n"
}

/// The components of an argument, by indexing, as the number of dimensions is a parameter.
fn components(name: &str, rank: Rank, dimension: usize) -> Vec<String> {
    let all = 0..dimension;
    match rank {
        Rank::Scalar => vec![name.to_string()],
        Rank::Vector => all.map(|at| format!("{name}[{at}]")).collect(),
        Rank::Tensor => {
            let pairs = all.clone().flat_map(|row| all.clone().map(move |column| (row, column)));
            pairs.map(|(row, column)| format!("{name}[{row}][{column}]")).collect()
        }
    }
}

/// A statement for each value.
fn statements(
    expr: &Expr<usize>,
    places: &[String],
    values: &[String],
) -> Result<String, EmitError> {
    let mut out = String::new();
    for (node, name) in expr.nodes.iter().zip(values) {
        let value = match node {
            Node::Lit(lit) if lit.value().is_nan() => "T::from_f64(f64::NAN)".to_string(),
            Node::Lit(lit) if lit.value().is_infinite() => {
                let sign = if lit.value() > 0.0 { "" } else { "-" };
                format!("T::from_f64({sign}f64::INFINITY)")
            }
            Node::Lit(lit) => format!("T::from_f64({:e}f64)", lit.value()),
            Node::Atom(place) => get(places, *place as u32, "argument")?.clone(),
            Node::Op(op, args) => {
                let args = args.iter().map(|arg| values[arg.0 as usize].clone());
                selecting(*op, &args.collect::<Vec<_>>())
            }
        };
        out += &format!("    let {name} = {value};\n");
    }
    Ok(out)
}

/// The value of a function.
fn result(expr: &Expr<usize>, rank: Rank, values: &[String]) -> String {
    let all = expr.results.iter().map(|at| values[at.0 as usize].as_str());
    let list = all.collect::<Vec<_>>().join(", ");
    match rank {
        Rank::Scalar => format!("    {list}\n"),
        Rank::Vector => {
            format!("    let all = [{list}];\n    ::core::array::from_fn(|i| all[i])\n")
        }
        Rank::Tensor => format!(
            "    let all = [{list}];\n    ::core::array::from_fn(|i| ::core::array::from_fn(|j| all[i * D + j]))\n"
        ),
    }
}
