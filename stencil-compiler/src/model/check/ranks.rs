//! The rules of ranks, one place for what is written and for what is built by hand.

use crate::diag::Code;
use crate::expr::Op;
use crate::model::{Function, Rank};

/// Why operands do not fit.
pub(super) struct Misfit {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Misfit {
    fn rank(message: String, help: &str) -> Self {
        Misfit {
            code: Code::RankMismatch,
            message,
            help: (!help.is_empty()).then(|| help.to_string()),
        }
    }
}

/// The rank of a result.
pub(super) type Ranked = Result<Rank, Misfit>;

/// Every function that is more than an operation on scalars, by name.
const FUNCTIONS: &[(&str, Function)] = &[
    ("grad", Function::Grad),
    ("div", Function::Div),
    ("lap", Function::Lap),
    ("curl", Function::Curl),
    ("dot", Function::Dot),
    ("cross", Function::Cross),
    ("outer", Function::Outer),
    ("transpose", Function::Transpose),
    ("trace", Function::Trace),
    ("diagonal", Function::Diagonal),
    ("sym", Function::Sym),
    ("sym_traceless", Function::SymTraceless),
    ("norm", Function::Norm),
    ("upwind", Function::Upwind),
];

/// The operations that are functions of the language, by the names that they have as operations.
const SCALAR: &[Op] = &[
    Op::Sqrt,
    Op::Abs,
    Op::Min,
    Op::Max,
    Op::Exp,
    Op::Log,
    Op::Sin,
    Op::Cos,
    Op::Tanh,
    Op::Cbrt,
    Op::Pow,
    Op::Atan2,
];

/// All functions with their names.
fn functions() -> impl Iterator<Item = (&'static str, Function)> {
    let scalar = SCALAR.iter().map(|op| (op.name(), Function::Scalar(*op)));
    FUNCTIONS.iter().copied().chain(scalar)
}

/// The function with a name.
pub(super) fn function(name: &str) -> Option<Function> {
    let found = functions().find(|(n, _)| *n == name);
    found.map(|(_, function)| function)
}

/// The names of all functions.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    functions().map(|(name, _)| name)
}

impl Function {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = functions().find(|(_, function)| *function == self);
        found.map_or("", |(name, _)| name)
    }

    /// The number of its arguments.
    pub fn arity(self) -> usize {
        match self {
            Function::Scalar(op) => op.arity(),
            Function::Dot | Function::Cross | Function::Outer | Function::Upwind => 2,
            Function::Grad
            | Function::Div
            | Function::Lap
            | Function::Curl
            | Function::Transpose
            | Function::Trace
            | Function::Diagonal
            | Function::Sym
            | Function::SymTraceless
            | Function::Norm => 1,
        }
    }
}

impl Rank {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Rank::Scalar => "scalar",
            Rank::Vector => "vector",
            Rank::Tensor => "tensor",
        }
    }

    /// The number of indices.
    pub fn indices(self) -> usize {
        match self {
            Rank::Scalar => 0,
            Rank::Vector => 1,
            Rank::Tensor => 2,
        }
    }

    fn from_indices(indices: usize) -> Option<Rank> {
        [Rank::Scalar, Rank::Vector, Rank::Tensor]
            .get(indices)
            .copied()
    }
}

/// What to write to get from one rank to another.
pub(super) fn way(from: Rank, to: Rank) -> &'static str {
    match (from, to) {
        (Rank::Tensor, Rank::Vector) => "`dot(u, grad(u))` or `div(..)` makes a vector of a tensor",
        (Rank::Vector, Rank::Scalar) => "`dot(u, u)`, `div(u)` or `u.x` makes a scalar of a vector",
        (Rank::Scalar, Rank::Vector) => "`grad(f)` or `[a, b, c]` makes a vector of scalars",
        (Rank::Vector, Rank::Tensor) => "`grad(u)` or `outer(u, v)` makes a tensor of vectors",
        (Rank::Tensor, Rank::Scalar) => "`trace(..)` or `t.xy` makes a scalar of a tensor",
        (Rank::Scalar, Rank::Tensor)
        | (Rank::Scalar, Rank::Scalar)
        | (Rank::Vector, Rank::Vector)
        | (Rank::Tensor, Rank::Tensor) => "",
    }
}

/// `a + b` and `a - b`.
pub(super) fn sum(a: Rank, b: Rank, verb: &str) -> Ranked {
    if a == b {
        return Ok(a);
    }
    let (higher, lower) = (a.max(b), a.min(b));
    let message = format!("cannot {verb} a {} and a {}", a.name(), b.name());
    Err(Misfit::rank(message, way(higher, lower)))
}

/// `a * b`
pub(super) fn product(a: Rank, b: Rank) -> Ranked {
    match (a, b) {
        (Rank::Scalar, other) | (other, Rank::Scalar) => Ok(other),
        (Rank::Vector | Rank::Tensor, Rank::Vector | Rank::Tensor) => {
            let message = format!("`*` of a {} and a {}", a.name(), b.name());
            let help = "write `dot(a, b)`, `outer(a, b)` or `cross(a, b)`";
            Err(Misfit::rank(message, help))
        }
    }
}

/// `a / b`
pub(super) fn quotient(a: Rank, b: Rank) -> Ranked {
    match b {
        Rank::Scalar => Ok(a),
        Rank::Vector | Rank::Tensor => {
            let message = format!("cannot divide by a {}", b.name());
            Err(Misfit::rank(message, ""))
        }
    }
}

/// `a^n`
pub(super) fn power(a: Rank) -> Ranked {
    match a {
        Rank::Scalar => Ok(a),
        Rank::Vector | Rank::Tensor => {
            let message = format!("cannot take a power of a {}", a.name());
            Err(Misfit::rank(message, "write `dot(u, u)` for a square"))
        }
    }
}

/// `[a, b, c]`
pub(super) fn stack(entries: &[Rank], dimension: usize, components: usize) -> Ranked {
    let count = entries.len();
    if count != components {
        let (message, help) = match components == dimension {
            true => (
                format!("{count} entries in {dimension}d"),
                format!("a stack has one entry for each axis: {dimension}"),
            ),
            false => (
                format!("{count} entries in a system of `vector<{components}>`"),
                format!("a stack has one entry for each component of its vectors: {components}"),
            ),
        };
        return Err(Misfit {
            code: Code::WrongDimension,
            message,
            help: Some(help),
        });
    }
    match entries.split_first() {
        Some((first, rest)) if rest.iter().all(|r| r == first) && *first != Rank::Tensor => {
            Rank::from_indices(first.indices() + 1)
                .ok_or_else(|| Misfit::rank("a stack of tensors".to_string(), ""))
        }
        _ => {
            let message = "the entries are neither all scalars nor all vectors".to_string();
            Err(Misfit::rank(message, ""))
        }
    }
}

/// `u.x` with as many letters as `axes`.
pub(super) fn component(of: Rank, axes: usize) -> Ranked {
    if of == Rank::Scalar || of.indices() != axes {
        return Err(Misfit {
            code: Code::NoSuchComponent,
            message: format!("a {} has no such component", of.name()),
            help: match of {
                Rank::Scalar => Some("components are of vectors and tensors".to_string()),
                Rank::Vector => Some("one letter names a component: `u.x`".to_string()),
                Rank::Tensor => Some("two letters name a component: `t.xy`".to_string()),
            },
        });
    }
    Ok(Rank::Scalar)
}

/// A function of the language. The number of arguments is checked here too.
pub(super) fn call(function: Function, arguments: &[Rank], components: usize) -> Ranked {
    let name = function.name();
    if arguments.len() != function.arity() {
        let (expected, found) = (function.arity(), arguments.len());
        return Err(Misfit {
            code: Code::ArgumentCount,
            message: format!("`{name}` takes {expected} argument(s), found {found}"),
            help: Some(format!("write {}", usage(name, expected))),
        });
    }
    if matches!(function, Function::Curl | Function::Cross) && components != 3 {
        return Err(Misfit {
            code: Code::WrongDimension,
            message: format!("`{name}` is defined in 3d, and this system is in {components}d"),
            help: Some(
                "write the component with `d[x](u.y)` and the like, or declare its vectors as `vector<3>`"
                    .to_string(),
            ),
        });
    }
    let result = match (function, arguments) {
        (Function::Grad, [a]) => Rank::from_indices(a.indices() + 1),
        (Function::Div, [a]) => a.indices().checked_sub(1).and_then(Rank::from_indices),
        (Function::Lap, [a]) => Some(*a),
        (Function::Curl, [Rank::Vector]) => Some(Rank::Vector),
        (Function::Dot, [a, b]) if a.indices() > 0 && b.indices() > 0 => {
            Rank::from_indices(a.indices() + b.indices() - 2)
        }
        (Function::Cross, [Rank::Vector, Rank::Vector]) => Some(Rank::Vector),
        (Function::Outer, [Rank::Vector, Rank::Vector]) => Some(Rank::Tensor),
        (Function::Trace, [Rank::Tensor]) => Some(Rank::Scalar),
        (Function::Diagonal, [Rank::Tensor]) => Some(Rank::Vector),
        (Function::Transpose | Function::Sym | Function::SymTraceless, [Rank::Tensor]) => {
            Some(Rank::Tensor)
        }
        (Function::Norm, [Rank::Vector | Rank::Tensor]) => Some(Rank::Scalar),
        (Function::Upwind, [Rank::Vector, advected]) => Some(*advected),
        (Function::Scalar(_), arguments) => arguments
            .iter()
            .all(|rank| *rank == Rank::Scalar)
            .then_some(Rank::Scalar),
        _ => None,
    };
    result.ok_or_else(|| {
        let found: Vec<&str> = arguments.iter().map(|rank| rank.name()).collect();
        let message = format!("`{name}` of a {}", found.join(" and a "));
        Misfit::rank(message, wanted(function))
    })
}

/// A call with as many arguments as there should be, in code quotes.
pub(super) fn usage(name: &str, arguments: usize) -> String {
    let names = ["a", "b", "c", "d"];
    match names.get(..arguments) {
        Some(names) => format!("`{name}({})`", names.join(", ")),
        None => format!("`{name}(a, b, ..)`"),
    }
}

/// What a function wants.
fn wanted(function: Function) -> &'static str {
    match function {
        Function::Grad => "`grad` is of a scalar or a vector",
        Function::Div => "`div` is of a vector or a tensor",
        Function::Lap => "",
        Function::Curl => "`curl` is of a vector",
        Function::Dot => "`dot` is of vectors and tensors; write `*` for a scalar",
        Function::Cross => "`cross` is of two vectors",
        Function::Outer => "`outer` is of two vectors",
        Function::Transpose => "`transpose` is of a tensor",
        Function::Trace => "`trace` is of a tensor",
        Function::Diagonal => "`diagonal` is of a tensor, such as `I`",
        Function::Sym => "`sym` is of a tensor, such as `grad(u)`",
        Function::SymTraceless => "`sym_traceless` is of a tensor, such as `grad(u)`",
        Function::Norm => "`norm` is of a vector or a tensor; write `abs` for a scalar",
        Function::Upwind => "`upwind(u, f)` takes a velocity and what it carries",
        Function::Scalar(Op::Abs) => "`abs` is of a scalar; write `norm(u)` for a length",
        Function::Scalar(op) if op.arity() == 1 => "it is of a scalar",
        Function::Scalar(_) => "it is of two scalars",
    }
}
