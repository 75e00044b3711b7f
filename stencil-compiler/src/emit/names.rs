//! Names in texts: each checked, none twice.

use std::collections::{BTreeMap, BTreeSet};

use super::layouts::Cells;
use super::{EmitError, get};
use crate::kernel::{BufferId, CellVar, Kernel};

/// Is a name an ASCII identifier, and not one of `keywords`?
pub fn identifier_ok(name: &str, keywords: &[&str]) -> bool {
    spelled_well(name) && !keywords.contains(&name)
}

fn spelled_well(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().any(|b| b != b'_')
}

/// Gives out names that differ from each other and from all that are taken.
pub(super) struct Scope {
    taken: BTreeSet<String>,
}

impl Scope {
    /// A scope in which these names are taken.
    pub(super) fn new(taken: &[&[&str]]) -> Self {
        Scope {
            taken: taken.iter().flat_map(|list| list.iter().map(|name| name.to_string())).collect(),
        }
    }

    /// This name, or the same with the first number behind it that makes it free.
    pub(super) fn name(&mut self, what: &'static str, wanted: &str) -> Result<String, EmitError> {
        if !spelled_well(wanted) {
            return Err(EmitError::Name { what, name: wanted.to_string() });
        }
        let mut name = wanted.to_string();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        Ok(name)
    }

    /// A name for each, in order.
    pub(super) fn names<'a>(
        &mut self,
        what: &'static str,
        wanted: impl IntoIterator<Item = &'a String>,
    ) -> Result<Vec<String>, EmitError> {
        wanted.into_iter().map(|name| self.name(what, name)).collect()
    }
}

/// The names of a kernel's things in a text, indexed as in the kernel.
pub(super) struct Names {
    pub(super) buffers: Vec<String>,
    /// Names of the maps that boxes are copied from: some buffers, called like the first of them.
    pub(super) maps: BTreeMap<Vec<BufferId>, String>,
    pub(super) uniforms: Vec<String>,
    pub(super) shared: Vec<String>,
    pub(super) barriers: Vec<String>,
    pub(super) registers: Vec<String>,
    pub(super) ints: Vec<String>,
    pub(super) cells: Vec<String>,
    /// Names of the places of cells in surfaces, along each axis.
    pub(super) along: BTreeMap<CellVar, [String; 3]>,
}

impl Names {
    /// Names for a language with these keywords; `reserved` are names that the text uses itself.
    /// Uniforms are members of a structure: they may be named like anything else.
    pub(super) fn new(
        kernel: &Kernel,
        keywords: &[&str],
        reserved: &[&str],
    ) -> Result<Self, EmitError> {
        if !identifier_ok(&kernel.name, keywords) || reserved.contains(&kernel.name.as_str()) {
            return Err(EmitError::Name { what: "kernel", name: kernel.name.clone() });
        }
        let mut scope = Scope::new(&[keywords, reserved, &[&kernel.name]]);
        let buffers = scope.names("buffer", kernel.buffers.iter().map(|b| &b.name))?;
        let mut maps = BTreeMap::new();
        for of in kernel.boxes().into_keys() {
            let first = of.first().map_or(u32::MAX, |buffer| buffer.0);
            let wanted = format!("{}_map", get(&buffers, first, "buffer")?);
            maps.insert(of, scope.name("map", &wanted)?);
        }
        let mut names = Names {
            buffers,
            maps,
            uniforms: Scope::new(&[keywords]).names("uniform", &kernel.uniforms)?,
            shared: scope.names("shared array", kernel.shared.iter().map(|s| &s.name))?,
            barriers: scope.names("barrier", kernel.barriers.iter().map(|b| &b.name))?,
            registers: scope.names("register", &kernel.registers)?,
            ints: scope.names("integer variable", &kernel.ints)?,
            cells: scope.names("cell", &kernel.cells)?,
            along: BTreeMap::new(),
        };
        for cell in Cells::of(kernel).in_surfaces {
            let name = get(&names.cells, cell.0, "cell")?;
            let mut along = |axis: &str| scope.name("cell", &format!("{name}_{axis}"));
            let along = [along("x")?, along("y")?, along("z")?];
            names.along.insert(cell, along);
        }
        Ok(names)
    }
}
