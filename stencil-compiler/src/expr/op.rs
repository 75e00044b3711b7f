//! The operation table: one row for each operation, with the facts that every stage needs.

use super::loops::Looped;
use super::real::Arithmetic;
use super::routines::Called;

/// One row of the table.
struct Row {
    name: &'static str,
    arity: usize,
    /// Arithmetic instructions; sign changes ride on other instructions at no cost.
    cost: u32,
    /// Spelling in C; `{0}` to `{3}` are arguments, `{f}` the suffix of single-precision functions.
    c: &'static str,
    /// Spelling in Rust, over the trait `Real`.
    rust: &'static str,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $op:ident $name:literal $arity:literal $cost:literal, $c:literal, $rust:literal, |$a:ident| $eval:expr;)*) => {
        /// An operation on reals with the same bits on every device: exactly rounded, or made of exactly rounded ones.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Op {
            $($(#[$doc])* $op,)*
            /// A loop that ends by a test.
            Loop(Looped),
            /// A value of a routine.
            Call(Called),
        }

        impl Op {
            /// Every operation of the table, in its order.
            pub const ALL: &'static [Op] = &[$(Op::$op,)*];

            /// The most arguments that any operation of the table takes.
            pub const MOST_ARGUMENTS: usize = {
                let arities: &[usize] = &[$($arity),*];
                let (mut most, mut i) = (0, 0);
                while i < arities.len() {
                    if arities[i] > most {
                        most = arities[i];
                    }
                    i += 1;
                }
                most
            };

            /// Its row, or the name, the arguments and the cost of one that has no row.
            fn row(self) -> Result<&'static Row, (&'static str, usize, u32)> {
                match self {
                    $(Op::$op => Ok(&Row { name: $name, arity: $arity, cost: $cost, c: $c, rust: $rust }),)*
                    Op::Loop(of) => Err((&of.get().name, of.arguments, of.cost())),
                    Op::Call(of) => Err((of.name(), of.get().arguments, of.cost())),
                }
            }

            /// [`eval`](Self::eval) of an operation of the table; a loop is its first argument.
            #[inline(always)]
            pub(crate) fn eval_of_table<T: Arithmetic>(self, a: &[T]) -> T {
                match self {
                    $(Op::$op => { let $a = a; $eval })*
                    Op::Loop(_) | Op::Call(_) => a[0],
                }
            }

            /// [`eval`](Self::eval) of an operation of the table in every lane; which operation it is, is asked once.
            pub(crate) fn eval_lanes<T: Arithmetic, const LANES: usize>(
                self,
                args: &[&[T; LANES]; Self::MOST_ARGUMENTS],
                results: &mut [T; LANES],
            ) {
                match self {
                    $(Op::$op => for lane in 0..LANES {
                        let $a: [T; Self::MOST_ARGUMENTS] =
                            [args[0][lane], args[1][lane], args[2][lane], args[3][lane]];
                        results[lane] = $eval;
                    })*
                    Op::Loop(_) | Op::Call(_) => *results = *args[0],
                }
            }
        }
    };
}

// `min` and `max` are selects, so that signed zeros and NaN agree on every device. The functions at the end cost as
// much as their operations; a test adds them up.
operations! {
    /// The argument with its sign changed.
    Neg "neg" 1 0, "-{0}", "-{0}", |a| -a[0];
    /// Sum.
    Add "add" 2 1, "{0} + {1}", "{0} + {1}", |a| a[0] + a[1];
    /// Difference.
    Sub "sub" 2 1, "{0} - {1}", "{0} - {1}", |a| a[0] - a[1];
    /// Product.
    Mul "mul" 2 1, "{0} * {1}", "{0} * {1}", |a| a[0] * a[1];
    /// Quotient.
    Div "div" 2 8, "{0} / {1}", "{0} / {1}", |a| a[0] / a[1];
    /// One over the argument, zero or infinite where [`reciprocal`](super::math::reciprocal) says.
    Reciprocal "reciprocal" 1 8, "stencil_reciprocal{f}({0})", "{0}.reciprocal()", |a| a[0].reciprocal();
    /// `a * b + c`, rounded once.
    Fma "fma" 3 1, "fma{f}({0}, {1}, {2})", "{0}.fma({1}, {2})", |a| a[0].fma(a[1], a[2]);
    /// Square root.
    Sqrt "sqrt" 1 8, "sqrt{f}({0})", "{0}.sqrt()", |a| a[0].sqrt();
    /// Absolute value.
    Abs "abs" 1 0, "fabs{f}({0})", "{0}.abs()", |a| a[0].abs();
    /// The smaller: `b < a ? b : a`.
    Min "min" 2 1, "({1} < {0} ? {1} : {0})", "{0}.smaller({1})", |a| a[0].smaller(a[1]);
    /// The larger: `b > a ? b : a`.
    Max "max" 2 1, "({1} > {0} ? {1} : {0})", "{0}.larger({1})", |a| a[0].larger(a[1]);
    /// `a < b ? c : d`; `d` if `a` or `b` is not a number.
    Lt "lt" 4 2, "({0} < {1} ? {2} : {3})", "if {0} < {1} { {2} } else { {3} }", |a| a[0].if_lt(a[1], a[2], a[3]);
    /// `a <= b ? c : d`; `d` if `a` or `b` is not a number.
    Le "le" 4 2, "({0} <= {1} ? {2} : {3})", "if {0} <= {1} { {2} } else { {3} }", |a| a[0].if_le(a[1], a[2], a[3]);
    /// `a == b ? c : d`; `d` if `a` or `b` is not a number.
    Eq "eq" 4 2, "({0} == {1} ? {2} : {3})", "if {0} == {1} { {2} } else { {3} }", |a| a[0].if_eq(a[1], a[2], a[3]);
    /// The magnitude of the first argument with the sign bit of the second.
    Copysign "copysign" 2 1, "copysign{f}({0}, {1})", "{0}.copysign({1})", |a| a[0].copysign(a[1]);
    /// The integer e with 2^e ≤ a < 2^(e+1), for a positive normal number a.
    Exponent "exponent" 1 3, "stencil_exponent{f}({0})", "{0}.exponent()", |a| a[0].exponent();
    /// `a / 2^e`, between 1 and 2, for a positive normal number a.
    Significand "significand" 1 1, "stencil_significand{f}({0})", "{0}.significand()", |a| a[0].significand();
    /// 2^n, for an integer n such that this is a normal number.
    PowerOfTwo "power_of_two" 1 2, "stencil_power_of_two{f}({0})", "{0}.power_of_two()", |a| a[0].power_of_two();
    /// e^a.
    Exp "exp" 1 32, "stencil_exp{f}({0})", "{0}.exp()", |a| a[0].exp();
    /// Natural logarithm.
    Log "log" 1 47, "stencil_log{f}({0})", "{0}.log()", |a| a[0].log();
    /// Sine of an angle in radians.
    Sin "sin" 1 55, "stencil_sin{f}({0})", "{0}.sin()", |a| a[0].sin();
    /// Cosine of an angle in radians.
    Cos "cos" 1 54, "stencil_cos{f}({0})", "{0}.cos()", |a| a[0].cos();
    /// Hyperbolic tangent.
    Tanh "tanh" 1 49, "stencil_tanh{f}({0})", "{0}.tanh()", |a| a[0].tanh();
    /// Hyperbolic sine.
    Sinh "sinh" 1 59, "stencil_sinh{f}({0})", "{0}.sinh()", |a| a[0].sinh();
    /// Hyperbolic cosine.
    Cosh "cosh" 1 58, "stencil_cosh{f}({0})", "{0}.cosh()", |a| a[0].cosh();
    /// The error function.
    Erf "erf" 1 72, "stencil_erf{f}({0})", "{0}.erf()", |a| a[0].erf();
    /// The largest integer that is not larger.
    Floor "floor" 1 8, "stencil_floor{f}({0})", "{0}.floor()", |a| a[0].floor();
    /// The remainder a - b floor(a/b), with the sign of b.
    Mod "mod" 2 39, "stencil_mod{f}({0}, {1})", "{0}.modulo({1})", |a| a[0].modulo(a[1]);
    /// Cube root.
    Cbrt "cbrt" 1 47, "stencil_cbrt{f}({0})", "{0}.cbrt()", |a| a[0].cbrt();
    /// a to the power b.
    Pow "pow" 2 142, "stencil_pow{f}({0}, {1})", "{0}.pow({1})", |a| a[0].pow(a[1]);
    /// The angle of the point (b, a) from the x axis, in radians between -π and π.
    Atan2 "atan2" 2 66, "stencil_atan2{f}({0}, {1})", "{0}.atan2({1})", |a| a[0].atan2(a[1]);
}

impl Op {
    /// Returns the result for these arguments in the precision of `T`: rounded once, or within the stated bound
    /// for a function of [`math`](super::math).
    ///
    /// # Panics
    /// If there are fewer arguments than it takes.
    #[inline(always)]
    pub fn eval<T: Arithmetic>(self, a: &[T]) -> T {
        match self {
            Op::Loop(of) => of.eval(a),
            Op::Call(of) => of.eval(a),
            _ => self.eval_of_table(a),
        }
    }

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self.row() {
            Ok(row) => row.name,
            Err((name, ..)) => name,
        }
    }

    /// Number of arguments.
    pub fn arity(self) -> usize {
        match self.row() {
            Ok(row) => row.arity,
            Err((_, arity, _)) => arity,
        }
    }

    /// Arithmetic instructions it stands for; of a loop, in the iterations that are expected.
    pub fn cost(self) -> u32 {
        match self.row() {
            Ok(row) => row.cost,
            Err((.., cost)) => cost,
        }
    }

    /// The operation of the table with this name.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// Spelling in C over argument texts; `suffix` is `f` in single precision.
    pub fn c(self, args: &[String], suffix: &str) -> String {
        match self.row() {
            Ok(row) => fill(row.c, args).replace("{f}", suffix),
            Err(_) => self.called(args),
        }
    }

    /// Spelling in Rust over argument texts.
    pub fn rust(self, args: &[String]) -> String {
        match self.row() {
            Ok(row) => fill(row.rust, args),
            Err(_) => self.called(args),
        }
    }

    /// The call of a function that a text defines.
    fn called(self, args: &[String]) -> String {
        let args = args.join(", ");
        match self {
            Op::Loop(of) => format!("{}({args})", of.function()),
            Op::Call(of) => format!("{}({args}).v{}", of.get().function(), of.value()),
            _ => args,
        }
    }
}

fn fill(template: &str, args: &[String]) -> String {
    let mut out = template.to_string();
    for (i, arg) in args.iter().enumerate() {
        out = out.replace(&format!("{{{i}}}"), arg);
    }
    out
}
