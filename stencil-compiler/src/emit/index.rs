//! Integer expressions in C.

use super::EmitError;
use super::infix::{PRIMARY, PRODUCT, SUM, parenthesized};
use crate::kernel::{Index, IntVar, Kernel};

/// The names that integer expressions are written with.
pub(super) trait Places {
    /// The text of a variable.
    fn var(&self, var: IntVar) -> Result<String, EmitError>;
    /// The text of the index of the block along an axis.
    fn block(&self, axis: usize) -> Result<String, EmitError>;
    /// The text of the index of the thread along an axis.
    fn thread(&self, axis: usize) -> Result<String, EmitError>;
    /// The text of the number of interior cells along an axis.
    fn size(&self, axis: usize) -> Result<String, EmitError>;
    /// The kernel that they are of.
    fn kernel(&self) -> &Kernel;
}

/// The text of an integer expression, in parentheses if it binds weaker than `level`.
pub(super) fn print(index: &Index, level: u8, places: &dyn Places) -> Result<String, EmitError> {
    let (own, text) = match index {
        Index::Const(value) => {
            let value = i32::try_from(*value).map_err(|_| EmitError::Constant(*value))?;
            (if value < 0 { SUM } else { PRIMARY }, value.to_string())
        }
        Index::Var(var) => (PRIMARY, places.var(*var)?),
        Index::Block(axis) => (PRIMARY, places.block(*axis)?),
        Index::Thread(axis) => (PRIMARY, places.thread(*axis)?),
        Index::Size(axis) => (PRIMARY, places.size(*axis)?),
        Index::Add(a, b) => binary(SUM, a, "+", b, places)?,
        Index::Sub(a, b) => binary(SUM, a, "-", b, places)?,
        Index::Mul(a, by) => binary(PRODUCT, a, "*", &Index::Const(*by), places)?,
        Index::Div(a, by) => binary(PRODUCT, a, "/", &Index::Const(*by), places)?,
        Index::Rem(a, by) => binary(PRODUCT, a, "%", &Index::Const(*by), places)?,
        Index::Min(a, b) => {
            (PRIMARY, format!("min({}, {})", print(a, SUM, places)?, print(b, SUM, places)?))
        }
        Index::Wrap(a, axis) => {
            (PRIMARY, format!("wrap_index({}, {})", print(a, SUM, places)?, places.size(*axis)?))
        }
        Index::Numbered(a, axis) => numbered(a, *axis, places)?,
    };
    Ok(parenthesized(text, own < level))
}

/// The coordinate along an axis of the cell with a number: `number / (n0 + 2) % (n1 + 2) - 1`.
fn numbered(a: &Index, axis: usize, places: &dyn Places) -> Result<(u8, String), EmitError> {
    let kernel = places.kernel();
    let extend = |axis: usize| kernel.launch.extend.get(axis).copied().unwrap_or(0);
    let region = |axis: usize| {
        let size = places.size(axis)?;
        Ok(match extend(axis) {
            0 => size,
            more => format!("({size} + {})", 2 * more),
        })
    };
    let faster = (0..axis).map(region).collect::<Result<Vec<_>, EmitError>>()?;
    let mut text = print(a, PRODUCT, places)?;
    match faster.as_slice() {
        [] => {}
        [one] => text += &format!(" / {one}"),
        all => text += &format!(" / ({})", all.join(" * ")),
    }
    if axis + 1 < kernel.dimension {
        text += &format!(" % {}", region(axis)?);
    }
    Ok(match extend(axis) {
        0 => (PRODUCT, text),
        more => (SUM, format!("{text} - {more}")),
    })
}

fn binary(
    own: u8,
    a: &Index,
    sign: &str,
    b: &Index,
    places: &dyn Places,
) -> Result<(u8, String), EmitError> {
    Ok((own, format!("{} {sign} {}", print(a, own, places)?, print(b, own + 1, places)?)))
}

/// The position of a cell in a buffer: `x + y * pitch + z * plane`.
pub(super) fn linear(at: &[Index; 3], places: &dyn Places) -> Result<String, EmitError> {
    let mut text =
        if at[0] == Index::Const(0) { String::new() } else { print(&at[0], SUM, places)? };
    for (index, stride) in [(&at[1], "pitch"), (&at[2], "plane")] {
        let term = match index {
            Index::Const(0) => continue,
            Index::Const(1) => stride.to_string(),
            other => format!("{} * {stride}", print(other, PRODUCT, places)?),
        };
        text = if text.is_empty() { term } else { format!("{text} + {term}") };
    }
    Ok(if text.is_empty() { "0".to_string() } else { text })
}

/// `cell + dy * pitch + dz * plane + dx`: the constant comes last, where it can ride on the access.
pub(super) fn shifted(cell: &str, offset: [i32; 3]) -> String {
    let mut text = cell.to_string();
    for (by, stride) in [(offset[1], "pitch"), (offset[2], "plane")] {
        let sign = if by < 0 { '-' } else { '+' };
        match by.unsigned_abs() {
            0 => {}
            1 => text += &format!(" {sign} {stride}"),
            by => text += &format!(" {sign} {by} * {stride}"),
        }
    }
    match offset[0] {
        0 => {}
        dx => text += &format!(" {} {}", if dx < 0 { '-' } else { '+' }, dx.unsigned_abs()),
    }
    text
}
