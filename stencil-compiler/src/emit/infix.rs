//! Expressions as infix text with no more parentheses than they need.

use super::EmitError;
use super::nest::{Tree, repeats};
use crate::expr::Op;
use crate::kernel::Operand;

/// Binds weaker than any operator.
pub(super) const LOWEST: u8 = 0;
/// Operands of sums.
pub(super) const SUM: u8 = 1;
/// Operands of products.
pub(super) const PRODUCT: u8 = 2;
/// A signed value.
pub(super) const SIGN: u8 = 3;
/// A name, a call, or anything in parentheses.
pub(super) const PRIMARY: u8 = 4;

/// The spellings that differ between languages.
pub(super) trait Spelling {
    /// An operand, and how tightly its text binds.
    fn operand(&self, operand: Operand) -> Result<(u8, String), EmitError>;
    /// An operation over texts of its arguments.
    fn op(&self, op: Op, args: &[String]) -> String;
    /// The least precedence of argument `i` of a call.
    fn argument(&self, i: usize) -> u8;
    /// The precedence of the text of an operation that compares its arguments.
    fn select(&self) -> u8;
}

/// The text of an expression, in parentheses if it binds weaker than `level`.
pub(super) fn print(tree: &Tree, level: u8, spelling: &dyn Spelling) -> Result<String, EmitError> {
    let (own, text) = match tree {
        Tree::Leaf(operand) => spelling.operand(*operand)?,
        Tree::Op(op, args) if args.len() == op.arity() => operation(*op, args, spelling)?,
        Tree::Op(op, args) => {
            return Err(EmitError::Arity { what: op.name(), found: args.len() });
        }
    };
    Ok(parenthesized(text, own < level))
}

/// The text, in parentheses if so.
pub(super) fn parenthesized(text: String, needed: bool) -> String {
    if needed { format!("({text})") } else { text }
}

fn operation(op: Op, args: &[Tree], spelling: &dyn Spelling) -> Result<(u8, String), EmitError> {
    let infix = match op {
        Op::Neg => Some(SIGN),
        Op::Add | Op::Sub => Some(SUM),
        Op::Mul | Op::Div => Some(PRODUCT),
        _ => None,
    };
    let compares = matches!(op, Op::Lt | Op::Le | Op::Eq);
    let mut texts = Vec::with_capacity(args.len());
    for (i, arg) in args.iter().enumerate() {
        let level = match infix {
            // Two signs in a row are another operator in some languages.
            Some(SIGN) => PRIMARY,
            Some(own) => own + u8::from(i > 0),
            None if repeats(op) => PRIMARY,
            None if compares && i < 2 => SUM,
            None => spelling.argument(i),
        };
        texts.push(print(arg, level, spelling)?);
    }
    let call = if compares || repeats(op) { spelling.select() } else { PRIMARY };
    Ok((infix.unwrap_or(call), spelling.op(op, &texts)))
}
