//! THE operation table: one row an operation, with all that any stage knows of it.

use super::Real;

/// One row of the table.
struct Row {
    name: &'static str,
    arity: usize,
    /// Arithmetic instructions; sign changes ride on other instructions for nothing.
    cost: u32,
    /// Spelling in C; `{0}` to `{2}` are arguments, `{f}` the suffix of single-precision functions.
    c: &'static str,
    /// Spelling in Rust, over the trait `Real`.
    rust: &'static str,
}

macro_rules! operations {
    ($($(#[$doc:meta])* $op:ident $name:literal $arity:literal $cost:literal, $c:literal, $rust:literal, |$a:ident| $eval:expr;)*) => {
        /// An exactly rounded operation on reals.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Op { $($(#[$doc])* $op,)* }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &'static [Op] = &[$(Op::$op,)*];

            fn row(self) -> &'static Row {
                match self {
                    $(Op::$op => &Row { name: $name, arity: $arity, cost: $cost, c: $c, rust: $rust },)*
                }
            }

            /// The result for these arguments, rounded once in `T`.
            #[inline(always)]
            pub fn eval<T: Real>(self, a: &[T]) -> T {
                match self { $(Op::$op => { let $a = a; $eval })* }
            }
        }
    };
}

// `min` and `max` are selects, so that signed zeros and NaN agree on every device.
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
    /// `a * b + c`, rounded once.
    Fma "fma" 3 1, "fma{f}({0}, {1}, {2})", "{0}.fma({1}, {2})", |a| a[0].fma(a[1], a[2]);
    /// Square root.
    Sqrt "sqrt" 1 8, "sqrt{f}({0})", "{0}.sqrt()", |a| a[0].sqrt();
    /// Absolute value.
    Abs "abs" 1 0, "fabs{f}({0})", "{0}.abs()", |a| a[0].abs();
    /// The smaller: `b < a ? b : a`.
    Min "min" 2 1, "({1} < {0} ? {1} : {0})", "if {1} < {0} { {1} } else { {0} }", |a| if a[1] < a[0] { a[1] } else { a[0] };
    /// The larger: `b > a ? b : a`.
    Max "max" 2 1, "({1} > {0} ? {1} : {0})", "if {1} > {0} { {1} } else { {0} }", |a| if a[1] > a[0] { a[1] } else { a[0] };
}

impl Op {
    /// Its name in texts.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Number of arguments.
    pub fn arity(self) -> usize {
        self.row().arity
    }

    /// Arithmetic instructions it stands for.
    pub fn cost(self) -> u32 {
        self.row().cost
    }

    /// The operation of this name.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.name() == name)
    }

    /// Spelling in C over argument texts; `suffix` is `f` in single precision.
    pub fn c(self, args: &[String], suffix: &str) -> String {
        fill(self.row().c, args).replace("{f}", suffix)
    }

    /// Spelling in Rust over argument texts.
    pub fn rust(self, args: &[String]) -> String {
        fill(self.row().rust, args)
    }
}

fn fill(template: &str, args: &[String]) -> String {
    let mut out = template.to_string();
    for (i, arg) in args.iter().enumerate() {
        out = out.replace(&format!("{{{i}}}"), arg);
    }
    out
}
