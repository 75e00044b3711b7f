//! The CPU program that the macro compiles has the oracle's bits, on any number of threads.

use stencil_runtime::{Number, ToSystem};
use stencil_tests::{OrPanic, agree_in_all_ways};

/// Declares a system three times, once for each form of mixed derivatives, and compiles it.
macro_rules! in_all_forms {
    ($module:ident, $($declaration:tt)*) => {
        mod $module {
            in_all_forms!(@form Bidiagonal bidiagonal $($declaration)*);
            in_all_forms!(@form Product product $($declaration)*);
            in_all_forms!(@form Composed composed $($declaration)*);
        }
    };
    (@form $name:ident $mixed:ident in $dimension:literal $body:tt) => {
        stencil_runtime::pde! {
            /// One form.
            pub(super) system $name in $dimension $body
            scheme central6 for $name { space: central<order = 6>; mixed: $mixed; time: rk3_williamson; }
        }
    };
}

in_all_forms!(navier_stokes, in 3d {
    field lnrho: scalar [1];
    field u: vector [m/s];
    param cs: real [m/s] = 1.0;
    param nu: real [m^2/s] = 5e-3 where nu >= 0;
    let s = sym_traceless(grad(u));
    ddt(lnrho) = -dot(u, grad(lnrho)) - div(u);
    ddt(u) = -dot(u, grad(u)) - cs^2 * grad(lnrho)
           + nu * (lap(u) + grad(div(u))/3 + 2*dot(s, grad(lnrho)));
});

in_all_forms!(elastic, in 3d {
    field w: vector [m];
    field v: vector [m/s];
    param c11: real [m^2/s^2] = 2.7;
    param c12: real [m^2/s^2] = 1.1;
    param c44: real [m^2/s^2] = 0.8;
    ddt(w) = v;
    ddt(v) = c44 * lap(w) + (c12 + c44) * grad(div(w))
           + (c11 - c12 - 2*c44) * [d2[x](w.x), d2[y](w.y), d2[z](w.z)];
});

stencil_runtime::pde! {
    /// Every scalar function, branches, a loop, given fields, time.
    system Functions in 3d {
        field q: scalar;
        field w: vector;
        param a: real = 0.7;
        source f: scalar;
        source g: vector;
        fn solved(a: scalar) -> scalar {
            let mut x = a;
            let mut n = 0;
            for i in 0..9 {
                let step = (x - a/x)/2;
                x = x - step;
                n = n + 1;
                until(abs(step) <= 8*epsilon*x);
            }
            x + n/9
        }
        let p = exp(-q^2) + a * sin(2*t) * tanh(w.x);
        let jump = mod(q + w.z, 0.3) * floor(5*w.z) + 0.1 * erf(2*q) * (sinh(w.x) - cosh(q));
        let root = cbrt(q - 0.5*f) + sqrt(1 + q^2);
        ddt(q) = 0.02 * (lap(q) + jump + solved(1 + 40*w.y^2)) - dot(w, grad(p)) + f * cos(3*t + q)
               + if q < 0.02 { pow(1.5 + q, a*w.y) } else { 0.1 * log(1.2 + abs(q)) };
        ddt(w) = 0.1 * atan2(q, 1 + a*t) * w - 0.2 * grad(root)
               + if w.z <= f { max(q, t) * g } else { sign(q) * min(w.x, w.y) * w };
    }
    scheme central4 for Functions { space: central<order = 4>; mixed: bidiagonal; time: ssprk2; }
}

stencil_runtime::pde! {
    /// Three arrays a field: an accumulator beside the old and the new values.
    system Accumulators in 3d {
        field q: scalar;
        field w: vector;
        ddt(q) = 0.02 * lap(q) - div(w);
        ddt(w) = 0.1 * grad(div(w)) - q * grad(q);
    }
    scheme central4 for Accumulators { space: central<order = 4>; mixed: product; time: rk3_williamson<storage = accumulator>; }
}

fn agrees<T: Number>(system: &impl ToSystem) {
    let system = system.to_system().or_panic();
    assert!(system.is_compiled());
    agree_in_all_ways::<T>(&system, [37, 9, 7], &[]);
}

#[test]
fn navier_stokes_compiled_has_the_oracles_bits() {
    agrees::<f32>(&navier_stokes::Bidiagonal);
    agrees::<f64>(&navier_stokes::Bidiagonal);
    agrees::<f32>(&navier_stokes::Product);
    agrees::<f64>(&navier_stokes::Product);
    agrees::<f32>(&navier_stokes::Composed);
    agrees::<f64>(&navier_stokes::Composed);
}

#[test]
fn elastic_waves_compiled_have_the_oracles_bits() {
    agrees::<f32>(&elastic::Bidiagonal);
    agrees::<f64>(&elastic::Bidiagonal);
    agrees::<f32>(&elastic::Product);
    agrees::<f64>(&elastic::Product);
    agrees::<f32>(&elastic::Composed);
    agrees::<f64>(&elastic::Composed);
}

#[test]
fn functions_compiled_have_the_oracles_bits() {
    agrees::<f32>(&Functions);
    agrees::<f64>(&Functions);
}

#[test]
fn accumulators_compiled_have_the_oracles_bits() {
    agrees::<f32>(&Accumulators);
    agrees::<f64>(&Accumulators);
}
