//! Loops that end by a test as functions: written once, called wherever a kernel needs their values.

use std::collections::BTreeMap;

use super::EmitError;
use super::dialect::{Numbers, real};
use super::functions::Function;
use super::rust::selecting;
use crate::expr::math::Recording;
use crate::expr::real::Precision;
use crate::expr::{Looped, Node, Ref, Routine};

/// Names of arguments, in order.
fn argument(at: usize) -> String {
    format!("a{at}")
}

/// A loop as a device function, which returns as soon as the test holds.
pub(super) fn definition(
    looped: Looped,
    precision: Precision,
    dialect: &dyn Numbers,
) -> Result<String, EmitError> {
    let real = real(precision);
    let recording = Recording { expr: looped.body.clone(), names: BTreeMap::new() };
    let function = Function::new(&recording, &argument, precision, dialect)?;
    let parameters: Vec<String> =
        (0..looped.arguments).map(|at| format!("{real} {}", argument(at))).collect();
    let mut out = format!(
        "// The loop of {}: at most {} iterations.\n{} {real} {}({}) {{\n",
        looped.name,
        looped.most,
        dialect.called(),
        looped.function(),
        parameters.join(", ")
    );
    out += &format!("  for (int i = 0; i < {}; ++i) {{\n", looped.most);
    out += &function.statements(None, "    ")?;
    let values = &looped.body.results;
    // A new value may read the old one of a variable that has its new value already.
    for (at, value) in values.iter().take(looped.variables).enumerate() {
        out += &format!("    const {real} b{at} = {};\n", function.value(*value)?);
    }
    let test = function.value(values[looped.variables])?;
    out += &format!("    if (0 < {test}) return b0;\n");
    // Variables that are all NaN stay so, and the test fails in each iteration to come: cells of a tile beyond the mesh have
    // such values, and whole warps of them.
    let stays = |at: usize| format!("{0} != {0} && b{at} != b{at}", argument(at));
    let stay: Vec<String> = (0..looped.variables).map(stays).collect();
    out += &format!("    if ({}) break;\n", stay.join(" && "));
    for at in 0..looped.variables {
        out += &format!("    {} = b{at};\n", argument(at));
    }
    Ok(out + &format!("  }}\n  return {};\n}}\n", dialect.nan(precision)))
}

/// The name of the values of a routine together.
pub(super) fn structure(of: &Routine) -> String {
    format!("{}_values", of.function())
}

/// A routine as a device function, which returns all values together.
pub(super) fn routine(
    of: &Routine,
    precision: Precision,
    dialect: &dyn Numbers,
) -> Result<String, EmitError> {
    let real = real(precision);
    let recording = Recording { expr: of.body.clone(), names: BTreeMap::new() };
    let function = Function::new(&recording, &argument, precision, dialect)?;
    let parameters: Vec<String> =
        (0..of.arguments).map(|at| format!("{real} {}", argument(at))).collect();
    let structure = structure(of);
    let values: Vec<String> = (0..of.values.len()).map(|at| format!("{real} v{at};")).collect();
    let mut out = format!("typedef struct {{ {} }} {structure};\n", values.join(" "));
    let (head, parameters) = (dialect.called(), parameters.join(", "));
    out += &format!("{head} {structure} {}({parameters}) {{\n", of.function());
    out += &function.statements(None, "  ")?;
    let results: Result<Vec<String>, EmitError> =
        of.body.results.iter().map(|at| function.value(*at)).collect();
    let results = results?.join(", ");
    Ok(out + &format!("  const {structure} all = {{{results}}};\n  return all;\n}}\n"))
}

/// A loop as a function of Rust, over lanes: one whose test has held keeps its values until all have. No item around a system
/// has the names of its values.
pub(super) fn rust(looped: Looped, lanes: &str) -> String {
    let argument = |at: usize| format!("a{at}_v");
    let value = |at: Ref| format!("v{}_v", at.0);
    let parameters: Vec<String> =
        (0..looped.arguments).map(|at| format!("mut {}: V", argument(at))).collect();
    let mut out = format!(
        "/// The loop of {}: at most {} iterations.\n#[allow(clippy::all, clippy::pedantic, unused_mut, unused_parens, unused_variables, reason = \"generated\")]\n#[inline(always)]\nfn {}<V: {lanes}>({}) -> V {{\n",
        looped.name,
        looped.most,
        looped.function(),
        parameters.join(", ")
    );
    let literal = |number: &str| format!("a0_v.lit({number})");
    out += &format!("    let (zero_v, one_v) = ({}, {});\n", literal("0.0"), literal("1.0"));
    out += &format!("    let mut held_v = zero_v;\n    for _ in 0..{} {{\n", looped.most);
    for (at, node) in looped.body.nodes.iter().enumerate() {
        let text = match node {
            Node::Lit(lit) => literal(&format!("{:e}f64", lit.value())),
            Node::Atom(at) => argument(*at),
            Node::Op(op, args) => {
                selecting(*op, &args.iter().map(|arg| value(*arg)).collect::<Vec<_>>())
            }
        };
        out += &format!("        let v{at}_v = {text};\n");
    }
    let results = &looped.body.results;
    for (at, result) in results.iter().take(looped.variables).enumerate() {
        let (own, new) = (argument(at), value(*result));
        out += &format!("        {own} = zero_v.if_lt(held_v, {own}, {new});\n");
    }
    let test = value(results[looped.variables]);
    out += &format!("        held_v = zero_v.if_lt(held_v, one_v, {test});\n");
    out += "        if held_v.is_positive() {\n            break;\n        }\n    }\n";
    out + &format!("    zero_v.if_lt(held_v, a0_v, {})\n}}\n\n", literal("f64::NAN"))
}
