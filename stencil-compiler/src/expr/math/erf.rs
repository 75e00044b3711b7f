//! The error function.

use super::exp::{beyond_linear, reduced};
use super::{Arithmetic, Constant, Parts, Polynomial};

/// erf(x)/x - 1 in powers of z = x², for |x| ≤ 3/4; the error function is then off by 2^-29 and 2^-60 of itself.
const NEAR: Polynomial = Polynomial {
    f32: &[
        0.12837916612625122,
        -0.3761261999607086,
        0.11283393204212189,
        -0.026835434138774872,
        0.00511598028242588,
        -0.0006761085242033005,
    ],
    f64: &[
        0.1283791670955126,
        -0.37612638903183715,
        0.11283791670952632,
        -0.026866170644436756,
        0.005223977615516107,
        -0.0008548326195100944,
        0.00012055289823679485,
        -1.4924202708814682e-05,
        1.6430780914445763e-06,
        -1.5940875938207117e-07,
        1.1475375777726014e-08,
    ],
};

/// (-log(erfc(3/4 + t)) + log(erfc(3/4))) / t for 3/4 + t up to 4 (`f32`) and 6 (`f64`); the complement of the error
/// function is then off by 2^-31 and 2^-59 of one.
const FAR: Polynomial = Polynomial {
    f32: &[
        2.2258737087249756,
        0.8078487515449524,
        0.05292109400033951,
        -0.012781959027051926,
        0.002421431941911578,
        -0.0003047222853638232,
        1.788303052308038e-05,
    ],
    f64: &[
        2.2258736679806863,
        0.8078515419193544,
        0.052899989578269434,
        -0.012705625233336487,
        0.002270447070472744,
        -0.0001296185591479716,
        -0.00010588803950463992,
        5.428443571201723e-05,
        -1.4302107582814393e-05,
        1.3717777523139861e-06,
        7.646575885238858e-07,
        -5.13979747363942e-07,
        1.847238738307225e-07,
        -4.739611332884551e-08,
        9.09450623966254e-09,
        -1.2889843821658474e-09,
        1.283950359835882e-10,
        -8.113667324047784e-12,
        2.566105238623953e-13,
        -1.344639348329811e-15,
    ],
};

/// Up to here the first polynomial holds.
const BORDER: f64 = 0.75;
/// -log(erfc(3/4)).
const AT_BORDER: Parts = Parts(1.241867260678887, 6.515855086183219e-17, 0.0);

/// From here on the result rounds to one.
const LARGEST: Constant = Constant { f32: 4.0, f64: 6.0 };

/// The error function, 2/√π times the integral of e^(-s²) from zero to `x`.
///
/// Beyond the border it is 1 - e^(-g), with a polynomial for the logarithm of its complement.
#[inline(always)]
pub fn erf<A: Arithmetic>(x: A) -> A {
    let (one, border) = (x.lit(1.0), x.lit(BORDER));
    let size = x.abs().named("size");
    let z = (size * size).named("z");
    let near = size.fma(NEAR.at(z), size).named("near");
    let largest = LARGEST.like(x);
    let bounded = largest.if_lt(size, largest, size);
    let t = border.if_lt(bounded, bounded - border, x.lit(0.0)).named("t");
    let (first, first_low, _) = AT_BORDER.like(x);
    let product = (t * FAR.at(t)).named("product");
    let g = (first + product).named("g");
    // The rounding error of the sum (Knuth 1969).
    let part = (g - first).named("part");
    let lost = (first - (g - part)) + (product - part);
    let (n, r, s) = reduced(-g);
    let s = (s - (lost + first_low)).named("s");
    let power = n.power_of_two().named("power");
    let change = (r + (s + beyond_linear(r + s))).named("change");
    let far = (-power).fma(change, one - power);
    size.if_le(border, near, size.if_eq(size, far, size)).copysign(x)
}
