//! The rules of ranks, for declarations and for models built by hand.

use crate::catalogue::{Function, Rank};
use crate::diag::Code;

/// The reason why operands do not fit.
pub(super) struct Mismatch {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

impl Mismatch {
    fn rank(message: String, help: &str) -> Self {
        Mismatch {
            code: Code::RankMismatch,
            message,
            help: (!help.is_empty()).then(|| help.to_string()),
        }
    }
}

/// The rank of a result.
pub(super) type Ranked = Result<Rank, Mismatch>;

/// The way to get from one rank to another.
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
    Err(Mismatch::rank(message, way(higher, lower)))
}

/// `a * b`
pub(super) fn product(a: Rank, b: Rank) -> Ranked {
    match (a, b) {
        (Rank::Scalar, other) | (other, Rank::Scalar) => Ok(other),
        (Rank::Vector | Rank::Tensor, Rank::Vector | Rank::Tensor) => {
            let message = format!("`*` of a {} and a {}", a.name(), b.name());
            let help = "write `dot(a, b)`, `outer(a, b)` or `cross(a, b)`";
            Err(Mismatch::rank(message, help))
        }
    }
}

/// `a / b`
pub(super) fn quotient(a: Rank, b: Rank) -> Ranked {
    match b {
        Rank::Scalar => Ok(a),
        Rank::Vector | Rank::Tensor => {
            let message = format!("cannot divide by a {}", b.name());
            Err(Mismatch::rank(message, ""))
        }
    }
}

/// `a^n`
pub(super) fn power(a: Rank) -> Ranked {
    match a {
        Rank::Scalar => Ok(a),
        Rank::Vector | Rank::Tensor => {
            let message = format!("cannot take a power of a {}", a.name());
            Err(Mismatch::rank(message, "write `dot(u, u)` for a square"))
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
        return Err(Mismatch { code: Code::WrongDimension, message, help: Some(help) });
    }
    match entries.split_first() {
        Some((first, rest)) if rest.iter().all(|r| r == first) && *first != Rank::Tensor => {
            Rank::from_indices(first.indices() + 1)
                .ok_or_else(|| Mismatch::rank("a stack of tensors".to_string(), ""))
        }
        _ => {
            let message = "the entries are neither all scalars nor all vectors".to_string();
            Err(Mismatch::rank(message, ""))
        }
    }
}

/// `u.x` with as many letters as `axes`.
pub(super) fn component(of: Rank, axes: usize) -> Ranked {
    if of == Rank::Scalar || of.indices() != axes {
        return Err(Mismatch {
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
        return Err(Mismatch {
            code: Code::ArgumentCount,
            message: format!("`{name}` takes {expected} argument(s), found {found}"),
            help: Some(format!("write {}", usage(name, expected))),
        });
    }
    if function.is_in_three() && components != 3 {
        return Err(Mismatch {
            code: Code::WrongDimension,
            message: format!("`{name}` is defined in 3d, and this system is in {components}d"),
            help: Some(
                "write the component with `d[x](u.y)` and the like, or declare its vectors as `vector<3>`"
                    .to_string(),
            ),
        });
    }
    let result = function.rank(arguments);
    result.ok_or_else(|| {
        let found: Vec<&str> = arguments.iter().map(|rank| rank.name()).collect();
        let message = format!("`{name}` of a {}", found.join(" and a "));
        Mismatch::rank(message, function.wants())
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
