//! Powers.

use super::{Arithmetic, Constant, LN_2, Parts, Polynomial, round, round_any, scale, split};

/// 2/ln(2): the first coefficient of log2((1+s)/(1-s)) in odd powers of s.
const FIRST: Parts = Parts(2.0 * std::f64::consts::LOG2_E, 4.0710547481862066e-17, -2.1e-33);
/// 2/(3 ln(2)): the second.
const SECOND: Parts = Parts(0.9617966939259756, 5.0577616648125907e-17, -7.1e-34);
/// The others in powers of z = s², for |s| ≤ (√2-1)/(√2+1); the logarithm is then off by 2^-36 and
/// 2^-65 of itself.
const OTHERS: Polynomial = Polynomial {
    f32: &[0.5770801901817322, 0.4118480682373047, 0.3378586173057556],
    f64: &[
        0.577078016355618,
        0.4121985830919659,
        0.32059890226885623,
        0.2623077015429782,
        0.2219839783179987,
        0.19125561775250138,
        0.190381154528701,
    ],
};
/// (2^h - 1 - h ln 2) / h² for |h| ≤ 1/2; 2^h is then off by 2^-28 and 2^-57 of itself.
const EXP2: Polynomial = Polynomial {
    f32: &[
        0.24022647738456726,
        0.05550362169742584,
        0.009618528187274933,
        0.0013390274252742529,
        0.00015320991224143654,
    ],
    f64: &[
        0.24022650695910122,
        0.05550410866482072,
        0.009618129107596742,
        0.0013333558146688123,
        0.00015403530454417087,
        1.5252733545366536e-05,
        1.3215436415256549e-06,
        1.0178185040761178e-07,
        7.073615464909621e-09,
        4.4362847786594304e-10,
    ],
};

/// Exponents of two beyond overflow and underflow; larger ones have the same result.
const LARGEST: Constant = Constant { f32: 200.0, f64: 1200.0 };

/// `x` to the power `y` = 2^(y log2|x|), with the sign of (-1)^y if `x` is negative.
///
/// The logarithm and its product with `y` are sums of two numbers each, with twice the digits of one
/// (Dekker 1971): an error of the exponent counts as often as the result has factors of e.
#[inline(always)]
pub fn pow<A: Arithmetic>(x: A, y: A) -> A {
    let size = x.abs();
    let (log, log_low) = log2(size);
    let exponent = (y * log).named("exponent");
    let low = y.fma(log_low, y.fma(log, -exponent));
    let largest = LARGEST.like(x);
    let low = exponent.abs().if_lt(largest, low, x.lit(0.0));
    let below = exponent.if_lt(-largest, -largest, exponent);
    let bounded = largest.if_lt(exponent, largest, below);
    let value = exp2(bounded.named("bounded"), low.named("low"));
    special(x, y, size, value.named("value"))
}

/// log2 of a positive number as a sum of two.
#[inline(always)]
fn log2<A: Arithmetic>(x: A) -> (A, A) {
    let (m, e) = split(x);
    let (one, two) = (x.lit(1.0), x.lit(2.0));
    let (first, first_low, _) = FIRST.like(x);
    let (second, second_low, _) = SECOND.like(x);
    // s = f / (2 + f), with log2(1 + f) = log2((1 + s) / (1 - s)).
    let f = (m - one).named("f");
    let below = (two + f).named("below");
    let below_low = (f - (below - two)).named("below_low");
    let inverse = (one / below).named("inverse");
    let s = (f * inverse).named("s");
    let left = (-s).fma(below_low, (-s).fma(below, f));
    let s_low = (left * inverse).named("s_low");
    let z = (s * s).named("z");
    let z_low = (two * s).fma(s_low, s.fma(s, -z)).named("z_low");
    // inner = second + z others.
    let others = (z * OTHERS.at(z)).named("others");
    let inner = (second + others).named("inner");
    let inner_low = (((second - inner) + others) + second_low).named("inner_low");
    // outer = first + z inner.
    let product = (z * inner).named("product");
    let product_low = z_low.fma(inner, z.fma(inner_low, z.fma(inner, -product)));
    let outer = (first + product).named("outer");
    let outer_low = ((first - outer) + product) + (first_low + product_low);
    let outer_low = outer_low.named("outer_low");
    // The logarithm is e + s outer.
    let part = (s * outer).named("part");
    let part_low = s_low.fma(outer, s.fma(outer_low, s.fma(outer, -part)));
    let log = (e + part).named("log");
    let log_low = ((e - log) + part) + part_low;
    (log, log_low.named("log_low"))
}

/// 2^(x + low), where `low` is below the last digit of `x`.
#[inline(always)]
fn exp2<A: Arithmetic>(x: A, low: A) -> A {
    let (ln2, ln2_low, _) = LN_2.like(x);
    let n = round(x).named("n");
    let rest = (x - n).named("rest");
    let h = (rest + low).named("h");
    let h_low = (rest - h) + low;
    let tail = (h * h).fma(EXP2.at(h), h.fma(ln2_low, h_low * ln2));
    scale(x.lit(1.0) + h.fma(ln2, tail), n)
}

/// The value, or the result that C99 (F.9.4.4) prescribes for special arguments.
#[inline(always)]
fn special<A: Arithmetic>(x: A, y: A, size: A, value: A) -> A {
    let (zero, one, infinity) = (x.lit(0.0), x.lit(1.0), x.lit(f64::INFINITY));
    // Zero, infinity, and one, whose powers are one even for a NaN exponent.
    let of_zero = y.if_lt(zero, infinity, zero.if_lt(y, zero, y));
    let of_infinity = y.if_lt(zero, zero, zero.if_lt(y, infinity, y));
    let value = size.if_eq(zero, of_zero, size.if_eq(infinity, of_infinity, value));
    let value = size.if_eq(one, one, value);
    // Negative numbers: even powers, odd powers, others.
    let (power, half) = (y.abs(), y.abs() * x.lit(0.5));
    let other = size.if_eq(zero, one, size.if_eq(infinity, one, x.lit(f64::NAN)));
    let odd = round_any(power).if_eq(power, -one, other);
    let sign = round_any(half).if_eq(half, one, odd).named("sign");
    let value = one.copysign(x).if_lt(zero, sign * value, value);
    // NaN, and the power zero, which is one even for NaN.
    y.if_eq(zero, one, x.if_eq(x, value, x))
}
