//! Functions that are factors of products: the other factors have to wait for one that completes late.

use std::collections::BTreeSet;

use crate::algorithm::{Algorithm, Atom, Def, FnId};
use crate::expr::{Expr, Node, Op, Ref};

/// Functions that are factors of products, or arguments of operations other than sums, and those that are added up to
/// such ones.
pub(super) fn factors(algorithm: &Algorithm) -> BTreeSet<FnId> {
    let mut found = BTreeSet::new();
    // All readers of a function come after it.
    for (id, function) in algorithm.ids().collect::<Vec<_>>().into_iter().rev() {
        let is_factor = found.contains(&id);
        match &function.def {
            Def::State(_) => {}
            Def::Sum(terms) if is_factor => found.extend(terms.iter().map(|t| t.value.of)),
            Def::Sum(_) => {}
            Def::Point(expr) => found.extend(multiplied(expr, is_factor)),
        }
    }
    found
}

/// Functions that an expression multiplies; all of them if it is a factor itself.
fn multiplied(expr: &Expr<Atom>, is_factor: bool) -> BTreeSet<FnId> {
    let varies = varying(expr);
    let mut factors = vec![is_factor; expr.nodes.len()];
    let mut found = BTreeSet::new();
    for (at, node) in expr.nodes.iter().enumerate().rev() {
        match node {
            Node::Op(op, args) => {
                let parts = match factors[at] {
                    true => args,
                    false => parts(*op, args, &varies),
                };
                for part in parts {
                    factors[part.0 as usize] = true;
                }
            }
            Node::Atom(Atom::Access(access)) if factors[at] => {
                found.insert(access.of);
            }
            Node::Atom(_) | Node::Lit(_) => {}
        }
    }
    found
}

/// The nodes that differ from cell to cell.
fn varying(expr: &Expr<Atom>) -> Vec<bool> {
    let mut varies: Vec<bool> = Vec::with_capacity(expr.nodes.len());
    for node in &expr.nodes {
        varies.push(match node {
            Node::Op(_, args) => args.iter().any(|arg| varies[arg.0 as usize]),
            Node::Atom(atom) => matches!(atom, Atom::Access(_)),
            Node::Lit(_) => false,
        });
    }
    varies
}

/// Arguments of an operation that it neither adds nor multiplies by a value that is the same in all cells.
fn parts<'a>(op: Op, args: &'a [Ref], varies: &[bool]) -> &'a [Ref] {
    let is_free = |at: usize| !varies[args[at].0 as usize];
    match op {
        Op::Add | Op::Sub | Op::Neg => &[],
        Op::Mul | Op::Fma if is_free(0) || is_free(1) => &[],
        Op::Fma => &args[..2],
        Op::Div if is_free(1) => &[],
        _ => args,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::text;

    #[test]
    fn what_is_only_added_or_scaled_is_no_factor() {
        let source =
            "algorithm Parts 3d scheme \"parts\" uniform c = 0.5 state q field fn q = state q
            fn scaled = sum { + c * q[0,0,-1], + c * q[0,0,1] }
            fn inner = sum { + c * q[0,1,0], + c * q[0,-1,0] }
            fn outer = sum { + inner, - c * q }
            fn under = sum { + q[1,0,0], - q[-1,0,0] }
            fn q_1 = fma(c, scaled, outer * (q / 3.0)) + (sqrt(under) - scaled) / 4.0
            substep { q = q_1 }";
        let algorithm = text::parse(source).unwrap_or_else(|e| panic!("{e}"));
        let names = factors(&algorithm);
        let names: Vec<&str> =
            names.into_iter().map(|id| algorithm.function(id).name.as_str()).collect();
        assert_eq!(names, ["q", "inner", "outer", "under"]);
    }
}
