//! Components of fields and sources: their names, and the entries of tensors.

use std::cmp::Ordering;

use super::DiscretizeError;
use crate::algorithm::NEW;
use crate::catalogue::centering::CENTRE;
use crate::catalogue::integrators::Tableau;
use crate::catalogue::{Halves, Rank};
use crate::diag::{Code, Span};
use crate::model::{Model, Symmetry};

const AXES: [&str; 3] = ["x", "y", "z"];

/// One entry of a scalar, vector or tensor (row by row): the component that holds it, and `true` if with the other
/// sign; `None` if it is zero.
pub(super) type Entry = Option<(usize, bool)>;

/// The components of all fields, then those of all sources.
pub(super) struct Components {
    /// Names of the components of all fields: `lnrho`, `u_x`, `t_xy`.
    pub(super) fields: Vec<String>,
    /// Names of the components of all sources.
    pub(super) sources: Vec<String>,
    /// The places of the components of all fields, then of all sources.
    pub(super) halves: Vec<Halves>,
    entries: Vec<Vec<Entry>>,
    independent: Vec<Vec<usize>>,
    evolved: usize,
}

impl Components {
    /// Lays out the components of a model.
    ///
    /// # Errors
    /// If two names clash, or one with an array that the integrator needs.
    pub(super) fn new(model: &Model, tableau: &Tableau) -> Result<Self, DiscretizeError> {
        let mut this = Components {
            fields: Vec::new(),
            sources: Vec::new(),
            halves: Vec::new(),
            entries: Vec::new(),
            independent: Vec::new(),
            evolved: model.fields.len(),
        };
        for field in &model.fields {
            let names = this.add(&field.name, field.rank, field.symmetry, model.components);
            this.free(&names, &field.name, field.span)?;
            this.fields.extend(names);
            let at = field.centering.entries(field.rank, model.components, model.dimension);
            let independent = this.independent.last().into_iter().flatten();
            this.halves.extend(independent.filter_map(|entry| at.get(*entry)));
        }
        for source in &model.sources {
            let names = this.add(&source.name, source.rank, Symmetry::General, model.components);
            this.free(&names, &source.name, source.span)?;
            this.halves.extend(names.iter().map(|_| CENTRE));
            this.sources.extend(names);
        }
        this.check_generated(model, tableau)?;
        Ok(this)
    }

    /// The entries of a field, row by row.
    pub(super) fn of_field(&self, field: usize) -> &[Entry] {
        &self.entries[field]
    }

    /// The entries of a source, row by row.
    pub(super) fn of_source(&self, source: usize) -> &[Entry] {
        &self.entries[self.evolved + source]
    }

    /// The entries of a field that are components of their own.
    pub(super) fn independent(&self, field: usize) -> &[usize] {
        &self.independent[field]
    }

    /// The names of the rates of a field's components, and of all of them.
    pub(super) fn rates(&self, field: usize, name: &str, suffix: &str) -> Vec<[String; 2]> {
        let independent = self.independent(field).iter();
        let components = independent.filter_map(|at| Some(self.entries[field][*at]?.0));
        let named = components
            .map(|component| [&self.fields[component], name].map(|of| format!("ddt_{of}{suffix}")));
        named.collect()
    }

    /// Lays out one field or source; the names of its components.
    fn add(&mut self, name: &str, rank: Rank, symmetry: Symmetry, n: usize) -> Vec<String> {
        let first = self.fields.len() + self.sources.len();
        let mut names: Vec<String> = Vec::new();
        let mut independent = Vec::new();
        let mut entries: Vec<Entry> = Vec::new();
        for (at, suffix) in suffixes(rank, n).into_iter().enumerate() {
            let (row, column) = (at / n, at % n);
            let mirrored = entries.get(column * n + row).copied().flatten();
            let entry = match (symmetry, row.cmp(&column)) {
                (Symmetry::Antisymmetric, Ordering::Equal) => None,
                (Symmetry::Symmetric, Ordering::Greater) => mirrored,
                (Symmetry::Antisymmetric, Ordering::Greater) => {
                    mirrored.map(|(component, negative)| (component, !negative))
                }
                (Symmetry::General, _)
                | (Symmetry::Symmetric, Ordering::Less | Ordering::Equal)
                | (Symmetry::Antisymmetric, Ordering::Less) => {
                    independent.push(at);
                    names.push(format!("{name}{suffix}"));
                    Some((first + names.len() - 1, false))
                }
            };
            entries.push(entry);
        }
        self.entries.push(entries);
        self.independent.push(independent);
        names
    }

    fn free(&self, names: &[String], owner: &str, span: Span) -> Result<(), DiscretizeError> {
        let taken = |name: &&String| self.fields.contains(name) || self.sources.contains(name);
        match names.iter().find(taken) {
            None => Ok(()),
            Some(name) => Err(DiscretizeError::new(
                Code::ComponentClash,
                span,
                format!(
                    "the component `{name}` of `{owner}` has the name of another field; rename one"
                ),
            )),
        }
    }

    /// No component is named as an array that stands beside another one, and no parameter as either.
    fn check_generated(&self, model: &Model, tableau: &Tableau) -> Result<(), DiscretizeError> {
        let registers = tableau.registers.iter().map(|r| format!("_{r}"));
        let suffixes: Vec<String> = registers.chain([NEW.to_string()]).collect();
        let all = || self.fields.iter().chain(&self.sources);
        let made = |name: &&String| {
            suffixes.iter().any(|suffix| all().any(|n| **name == format!("{n}{suffix}")))
        };
        let is_array = |name: &String| all().any(|n| n == name) || made(&name);
        if let Some(param) = model.params.iter().find(|param| is_array(&param.name)) {
            return Err(DiscretizeError::new(
                Code::ComponentClash,
                param.span,
                format!(
                    "the parameter `{}` has the name of an array: of a component, or of one that a field's integration needs; rename it",
                    param.name
                ),
            ));
        }
        let Some(name) = all().find(made) else {
            return Ok(());
        };
        let owners = model.fields.iter().map(|f| (&f.name, f.span));
        let mut owners = owners.chain(model.sources.iter().map(|s| (&s.name, s.span)));
        let owner = owners.find(|(owner, _)| name.starts_with(*owner));
        Err(DiscretizeError::new(
            Code::ComponentClash,
            owner.map_or(Span::default(), |(_, span)| span),
            format!(
                "`{name}` is the name of an array that another field's integration needs; rename it"
            ),
        ))
    }
}

/// The suffixes of a field's name in those of its entries.
pub(super) fn suffixes(rank: Rank, dimension: usize) -> Vec<String> {
    let axes = &AXES[..dimension];
    match rank {
        Rank::Scalar => vec![String::new()],
        Rank::Vector => axes.iter().map(|a| format!("_{a}")).collect(),
        Rank::Tensor => {
            let pairs = axes.iter().flat_map(|a| axes.iter().map(move |b| (a, b)));
            pairs.map(|(a, b)| format!("_{a}{b}")).collect()
        }
    }
}
