//! The loops over cells: the only hot code of the engine. Everything is always inlined, so that it
//! is compiled for the processor features of the caller.

use crate::expr::{Op, Real};

/// An argument of an operation.
#[derive(Clone, Copy)]
pub(super) enum Input<'a, T> {
    Row(&'a [T]),
    Scalar(T),
}

impl<T: Real> Input<'_, T> {
    /// Its values in `N` cells from `from` on.
    #[inline(always)]
    fn block<const N: usize>(self, from: usize) -> [T; N] {
        match self {
            Input::Row(row) => {
                let mut values = [T::ZERO; N];
                values.copy_from_slice(&row[from..][..N]);
                values
            }
            Input::Scalar(value) => [value; N],
        }
    }
}

/// Cells that are computed at a time: a few vectors.
const BLOCK: usize = 16;

/// Anything with a value in each cell of a row.
trait Lane<T>: Copy {
    /// The same in `n` cells from `from` on, so that the compiler sees that all are equally long.
    fn cut(self, from: usize, n: usize) -> Self;
    fn at(self, i: usize) -> T;
}

impl<T: Real> Lane<T> for &[T] {
    #[inline(always)]
    fn cut(self, from: usize, n: usize) -> Self {
        &self[from..][..n]
    }
    #[inline(always)]
    fn at(self, i: usize) -> T {
        self[i]
    }
}

/// A number as a row.
#[derive(Clone, Copy)]
struct Same<T>(T);

impl<T: Real> Lane<T> for Same<T> {
    #[inline(always)]
    fn cut(self, _: usize, _: usize) -> Self {
        self
    }
    #[inline(always)]
    fn at(self, _: usize) -> T {
        self.0
    }
}

/// Computes `$out` block by block: `$body` sets `$values` to the cells from `$from` on. The last block
/// overlaps the one before it, so that no cell is left to a slow loop over the rest. A macro, as a
/// closure might not be inlined, and would then be compiled without the caller's features.
macro_rules! blocks {
    ($out:ident, |$from:ident, $values:ident| $body:block) => {
        let n = $out.len();
        if n < BLOCK {
            for $from in 0..n {
                let $values: &mut [T; 1] = &mut [T::ZERO];
                $body
                $out[$from] = $values[0];
            }
        } else {
            let mut $from = 0;
            loop {
                // Values are complete before they are stored, whatever the compiler knows of aliases.
                let $values: &mut [T; BLOCK] = &mut [T::ZERO; BLOCK];
                $body
                $out[$from..][..BLOCK].copy_from_slice($values);
                if $from == n - BLOCK {
                    break;
                }
                $from = ($from + BLOCK).min(n - BLOCK);
            }
        }
    };
}

/// `out = op(args)`. Rows among `args` are as long as `out`.
#[inline(always)]
pub(super) fn operation<T: Real>(op: Op, out: &mut [T], args: [Input<'_, T>; Op::MOST_ARGUMENTS]) {
    use Input::{Row, Scalar};
    match (op.arity(), args) {
        (1, [Row(a), ..]) => unary(op, out, a),
        (2, [Row(a), Row(b), ..]) => binary(op, out, a, b),
        (2, [Row(a), Scalar(b), ..]) => binary(op, out, a, Same(b)),
        (2, [Scalar(a), Row(b), ..]) => binary(op, out, Same(a), b),
        (3, [Row(a), Row(b), Row(c), _]) => fma(out, a, b, c),
        (3, [Scalar(a), Row(b), Row(c), _]) => fma(out, Same(a), b, c),
        (3, [Row(a), Row(b), Scalar(c), _]) => fma(out, a, b, Same(c)),
        (3, [Scalar(a), Row(b), Scalar(c), _]) => fma(out, Same(a), b, Same(c)),
        (4, args) => select(op, out, args),
        // Lowering evaluates these once, or makes rows of them.
        _ => {
            unreachable!("an operation of numbers on a row")
        }
    }
}

#[inline(always)]
fn unary<T: Real>(op: Op, out: &mut [T], a: &[T]) {
    macro_rules! each {
        ($($op:ident)*) => { match op {
            $(Op::$op => { blocks!(out, |from, values| {
                let a = a.cut(from, values.len());
                for (i, value) in values.iter_mut().enumerate() {
                    *value = Op::$op.eval(&[a.at(i)]);
                }
            }); })*
            _ => unreachable!("not unary"),
        } };
    }
    each!(Neg Sqrt Abs Exponent Significand PowerOfTwo Exp Log Sin Cos Tanh Cbrt);
}

#[inline(always)]
fn binary<T: Real, A: Lane<T>, B: Lane<T>>(op: Op, out: &mut [T], a: A, b: B) {
    macro_rules! each {
        ($($op:ident)*) => { match op {
            $(Op::$op => { blocks!(out, |from, values| {
                let (a, b) = (a.cut(from, values.len()), b.cut(from, values.len()));
                for (i, value) in values.iter_mut().enumerate() {
                    *value = Op::$op.eval(&[a.at(i), b.at(i)]);
                }
            }); })*
            _ => unreachable!("not binary"),
        } };
    }
    each!(Add Sub Mul Div Min Max Copysign Pow Atan2);
}

#[inline(always)]
fn fma<T: Real, A: Lane<T>, B: Lane<T>, C: Lane<T>>(out: &mut [T], a: A, b: B, c: C) {
    blocks!(out, |from, values| {
        let n = values.len();
        let (a, b, c) = (a.cut(from, n), b.cut(from, n), c.cut(from, n));
        for (i, value) in values.iter_mut().enumerate() {
            *value = Op::Fma.eval(&[a.at(i), b.at(i), c.at(i)]);
        }
    });
}

/// Numbers are copied to blocks as rows are: sixteen forms of a loop are too many.
#[inline(always)]
fn select<T: Real>(op: Op, out: &mut [T], args: [Input<'_, T>; 4]) {
    macro_rules! each {
        ($($op:ident)*) => { match op {
            $(Op::$op => { blocks!(out, |from, values| {
                let (a, b) = (alike(values, args[0], from), alike(values, args[1], from));
                let (c, d) = (alike(values, args[2], from), alike(values, args[3], from));
                for (i, value) in values.iter_mut().enumerate() {
                    *value = Op::$op.eval(&[a[i], b[i], c[i], d[i]]);
                }
            }); })*
            _ => unreachable!("not a select"),
        } };
    }
    each!(Lt Le Eq);
}

/// As many values of an argument as there are in a block.
#[inline(always)]
fn alike<T: Real, const N: usize>(_: &[T; N], arg: Input<'_, T>, from: usize) -> [T; N] {
    arg.block(from)
}

/// `out = before + factor * row + ..`, each term fused; without `before` the first is a product.
#[inline(always)]
pub(super) fn sum<T: Real, const N: usize>(
    out: &mut [T],
    before: Option<&[T]>,
    factors: [T; N],
    rows: [&[T]; N],
) {
    match before {
        Some(before) => {
            blocks!(out, |from, values| {
                let block = before.cut(from, values.len());
                values.copy_from_slice(block);
                add(values, 0, from, &factors, &rows);
            });
        }
        None => {
            blocks!(out, |from, values| {
                let row = rows[0].cut(from, values.len());
                for (i, value) in values.iter_mut().enumerate() {
                    *value = factors[0] * row.at(i);
                }
                add(values, 1, from, &factors, &rows);
            });
        }
    }
}

/// Adds terms from `first` on to one block.
#[inline(always)]
fn add<T: Real, const N: usize, const B: usize>(
    values: &mut [T; B],
    first: usize,
    from: usize,
    factors: &[T; N],
    rows: &[&[T]; N],
) {
    for k in first..N {
        let row = rows[k].cut(from, values.len());
        for (i, value) in values.iter_mut().enumerate() {
            *value = factors[k].fma(row.at(i), *value);
        }
    }
}
