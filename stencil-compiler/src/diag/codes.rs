//! The table of error codes. A code, once shipped, keeps its meaning.

use std::fmt;

/// One row an error: name, code, title, what it means and how to get out of it.
macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $explanation:literal;)*) => {
        /// A stable error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $name,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The code as printed, such as `P0101`.
            pub fn text(self) -> &'static str {
                match self { $(Code::$name => $code),* }
            }

            /// A few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title),* }
            }

            /// One paragraph for the user who meets the error.
            pub fn explanation(self) -> &'static str {
                match self { $(Code::$name => $explanation),* }
            }
        }
    };
}

codes! {
    NotAToken = "P0001", "not a token",
        "The text cannot be split into Rust tokens: a character that Rust does not know (`∇`, `∂`), a lone quote, or a bracket without its partner. Write `grad(f)` for ∇f and `d[x](f)` for ∂f/∂x.";
    Syntax = "P0002", "syntax error",
        "Something else was expected here. Items of a system end in `;` and are `field`, `param`, `let` and `ddt(..) = ..`.";
    TooDeep = "P0003", "nested too deeply",
        "The expression nests more operations or parentheses than the compiler accepts. Name parts of it with `let`.";
    Trailing = "P0004", "something after the end",
        "The input holds one `system` and at most one `scheme`, and nothing else.";
    Unsupported = "P0005", "not part of the language yet",
        "The word is planned or known from other tools, but this version of the language does not have it. Items of a system are `field`, `param`, `let` and `ddt(..) = ..`; outside a system there is `scheme`.";
    Juxtaposition = "P0006", "two operands without an operator",
        "`2 u` and `(a) (b)` are not products: write `2*u` and `(a) * (b)`.";
    BadNumber = "P0007", "number cannot be held exactly",
        "Numbers are read as exact fractions with 127-bit parts: decimal digits, at most about 38 of them, with an optional decimal exponent, and no type suffix.";
    BadExponent = "P0008", "exponent is not a small integer",
        "The exponent of `^` is a literal integer from -64 to 64. A power of a power needs parentheses.";
    UnknownName = "P0101", "unknown name",
        "The name is not a field, parameter, `let` or function of this system. Names are case-sensitive and local to their system.";
    GluedName = "P0102", "one word to Rust",
        "Rust reads `u·v` as one identifier and `2nu` as one literal with a suffix. Write `dot(u, v)` and `2*nu`.";
    DuplicateName = "P0103", "name declared twice",
        "Fields, parameters and `let`s of a system share one name space.";
    BadName = "P0104", "name cannot be used",
        "Names go into generated Rust, C and device source. They have at most 60 ASCII letters, digits and single underscores, start with a letter, and are no word of these languages and no word of this one (`x`, `t`, `dt`, `grad`, ..).";
    UsedBeforeDefinition = "P0105", "used before its definition",
        "A `let` uses only what is defined above it, and equations use only the `let`s above them. Move the definition up.";
    NoEquation = "P0106", "field without an equation",
        "Every field evolves: give it `ddt(field) = ..;`, or make it a `param` if it is constant.";
    TwoEquations = "P0107", "field with two equations",
        "A field has one equation. Add the right-hand sides.";
    NotAField = "P0108", "only fields evolve",
        "The argument of `ddt(..)` on the left is the name of a field.";
    WrongUse = "P0109", "name of another kind",
        "A function needs its arguments, and a field, parameter or `let` takes none: write `f * (a + b)` for a product.";
    RankMismatch = "P0201", "ranks do not fit",
        "Scalars, vectors and tensors add only to their own kind, and at least one factor of `*` is a scalar. Contract with `dot`, build with `outer`, take components with `u.x`.";
    NoSuchComponent = "P0204", "no such component",
        "A vector has one component for each axis (`u.x`), a tensor one for each pair of axes (`t.xy`). The axes are x in 1d, x and y in 2d, x, y and z in 3d.";
    ArgumentCount = "P0205", "wrong number of arguments",
        "The function takes another number of arguments.";
    WrongDimension = "P0206", "not in this number of dimensions",
        "The system has another number of dimensions: `curl` and `cross` exist in 3d, and a stack `[a, b]` has one entry for each axis.";
    DivisionByZero = "P0207", "division by zero",
        "The divisor is a literal zero.";
    OutOfBounds = "P0208", "default outside its bounds",
        "The default of a parameter does not satisfy its own `where`.";
    SchemeForOther = "P0310", "scheme for another system",
        "The name after `for` is the name of the system beside it.";
    BadSchemeKey = "P0311", "unknown or repeated setting of a scheme",
        "A scheme has `space`, `mixed` and `time`, each at most once.";
    BadOrder = "P0312", "no such order",
        "Central differences exist in the orders 2, 4, 6, 8 and 10.";
    UnknownChoice = "P0313", "unknown choice in a scheme",
        "The setting has a fixed list of choices; the message lists them.";
}

impl Code {
    /// The code that is printed as `text`.
    pub fn from_text(text: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.text() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
