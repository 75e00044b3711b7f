//! Checks of single settings.

use std::collections::BTreeMap;

use stencil_compiler::model::{Comparison, Param, to_f64};

use crate::{Error, SystemDef};

/// Most cells along an axis.
pub(crate) const MOST_CELLS: usize = 1 << 30;

pub(super) fn missing(what: &str, help: &str) -> Error {
    Error::Missing { what: what.to_string(), help: help.to_string() }
}

pub(crate) fn number(
    what: String,
    value: f64,
    good: impl Fn(f64) -> bool,
    help: String,
) -> Result<(), Error> {
    if value.is_finite() && good(value) { Ok(()) } else { Err(Error::Value { what, value, help }) }
}

pub(super) fn check_cells(
    system: &SystemDef,
    cells: Option<[usize; 3]>,
) -> Result<[usize; 3], Error> {
    let dimension = system.model().dimension;
    let cells =
        cells.ok_or_else(|| missing("the number of cells", "add `.cells([nx, ny, nz])`"))?;
    let fail = |help| Error::Cells { system: system.name().to_string(), dimension, cells, help };
    if cells[dimension..].iter().any(|n| *n != 1) {
        return Err(fail("give 1 along the axes that it does not have".into()));
    }
    if cells.iter().any(|n| !(1..=MOST_CELLS).contains(n)) {
        return Err(fail(format!("give from 1 to {MOST_CELLS} cells along each axis")));
    }
    Ok(cells)
}

/// Returns the values of all parameters in the order of their declaration.
pub(super) fn params(system: &SystemDef, given: &BTreeMap<String, f64>) -> Result<Vec<f64>, Error> {
    let model = system.model();
    if let Some(name) = given.keys().find(|name| !model.params.iter().any(|p| p.name == **name)) {
        let known = model.params.iter().map(|p| p.name.as_str());
        return Err(Error::unknown(system.name(), "parameter", name, known));
    }
    model
        .params
        .iter()
        .zip(&system.algorithm().params)
        .map(|(param, resolved)| {
            let value = given.get(&param.name).copied().or(resolved.default);
            let what = format!("the parameter `{}`", param.name);
            let value = value.ok_or_else(|| {
                missing(&what, &format!("it has no default; add `.param({:?}, ..)`", param.name))
            })?;
            let help = bounds(param)
                .map_or("give a number".to_string(), |b| format!("the declaration asks for {b}"));
            number(
                what,
                value,
                |v| param.bounds.iter().all(|(c, bound)| c.holds(&v, &to_f64(bound))),
                help,
            )?;
            Ok(value)
        })
        .collect()
}

/// Returns the bounds of a parameter as declared: `nu >= 0`.
fn bounds(param: &Param) -> Option<String> {
    let text = |(comparison, bound): &(Comparison, _)| {
        let sign = match comparison {
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        };
        format!("{} {sign} {}", param.name, to_f64(bound))
    };
    let all: Vec<String> = param.bounds.iter().map(text).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}
