//! The table of operations: texts that return, and selects.

use super::text;
use super::{Builder, Expr, Op, Ref};
use crate::syntax::Lexer;

/// `op` of the atoms a, b, c, d.
fn call(op: Op) -> Expr<String> {
    let mut builder = Builder::new();
    let names = ["a", "b", "c", "d"].map(String::from);
    let args: Vec<Ref> =
        names.into_iter().take(op.arity()).map(|name| builder.atom(name)).collect();
    let result = builder.op(op, &args);
    builder.finish(result)
}

fn parsed(source: &str) -> Expr<String> {
    let mut lexer = Lexer::new(source).expect("tokens");
    text::parse(&mut lexer, &text::Operations::new(), &mut |name, _| Ok(name.to_string()))
        .expect("an expression")
}

#[test]
fn texts_of_all_operations_return() {
    for op in Op::ALL {
        let expr = call(*op);
        let printed = text::print(&expr, &mut String::clone);
        assert_eq!(parsed(&printed), expr, "{printed}");
        assert_eq!(Op::from_name(op.name()), Some(*op));
        assert!(op.arity() <= Op::MOST_ARGUMENTS);
    }
}

#[test]
fn selects_compare_and_are_false_for_nan() {
    let value = |op: Op, a: f64, b: f64| {
        call(op).eval(|name| match name.as_str() {
            "a" => a,
            "b" => b,
            "c" => 10.0,
            _ => 20.0,
        })
    };
    for (op, less, equal, more) in
        [(Op::Lt, 10.0, 20.0, 20.0), (Op::Le, 10.0, 10.0, 20.0), (Op::Eq, 20.0, 10.0, 20.0)]
    {
        assert_eq!(value(op, 1.0, 2.0), less);
        assert_eq!(value(op, -0.0, 0.0), equal);
        assert_eq!(value(op, 2.0, 1.0), more);
        assert_eq!(value(op, f64::NAN, 1.0), 20.0);
        assert_eq!(value(op, f64::NAN, f64::NAN), 20.0);
    }
}

/// `a < b && c < d ? 1 : 0` needs no type of truth values.
#[test]
fn conditions_nest() {
    let both = parsed("lt(a, b, lt(c, d, 1.0, 0.0), 0.0)");
    let value = |of: [f64; 4]| both.eval(|name| of[(name.as_bytes()[0] - b'a') as usize]);
    assert_eq!(value([1.0, 2.0, 3.0, 4.0]), 1.0);
    assert_eq!(value([1.0, 2.0, 4.0, 3.0]), 0.0);
    assert_eq!(value([2.0, 1.0, 3.0, 4.0]), 0.0);
}

#[test]
fn values_that_are_used_often_are_printed_once_where_the_text_would_be_large() {
    let mut builder = Builder::new();
    let mut value = builder.atom("a".to_string());
    for i in 0..60 {
        let next = builder.lit(f64::from(i));
        let sum = builder.op(Op::Add, &[value, next]);
        value = builder.op(Op::Mul, &[sum, sum]);
    }
    let expr = builder.finish(value);
    let printed = text::print(&expr, &mut String::clone);
    assert!(printed.len() < 2000, "{printed}");
    assert_eq!(parsed(&printed), expr);
}
