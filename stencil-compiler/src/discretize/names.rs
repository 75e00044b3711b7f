//! Names of grid functions: by their meaning, or by their part in the function that they are made for.
//!
//! A value with a meaning of its own has a name, the value of a `let` that of the `let`. Every other value made on the
//! way to it is a part of it and is named after it: `c_quotient` is a quotient in `c`. A value that several need is
//! part of the first of them, and of their group if they were named together: components of one vector, fluxes of one
//! solver. So a name depends on the nearby text of the declaration, and only parts of one whole are told apart by
//! numbers.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::assemble::Assembler;
use super::atoms::{Atom, Atoms};
use super::poly::{AtomId, Poly};
use super::reciprocals::is_one;
use crate::expr::Op;

/// The label of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// The name of a value with a meaning of its own.
    Whole(String),
    /// The role of a value in another one.
    Part(String),
}

/// Words that are written out are parts.
impl From<&'static str> for Label {
    fn from(part: &'static str) -> Self {
        Label::Part(part.to_string())
    }
}

/// Names that are formatted tell their meaning.
impl From<String> for Label {
    fn from(whole: String) -> Self {
        Label::Whole(whole)
    }
}

impl From<&String> for Label {
    fn from(whole: &String) -> Self {
        Label::Whole(whole.clone())
    }
}

impl Label {
    /// A label of the same kind with other words.
    pub(super) fn map(&self, words: impl FnOnce(&str) -> String) -> Self {
        match self {
            Label::Whole(name) => Label::Whole(words(name)),
            Label::Part(name) => Label::Part(words(name)),
        }
    }
}

/// Values that were named together, in order, and their common name.
struct Group {
    shared: String,
    members: Vec<(String, Poly)>,
}

/// The labels of atoms, as they are given.
#[derive(Default)]
pub(super) struct Labels {
    /// Names of `let`s by their values, which need not be grid functions of their own.
    lets: BTreeMap<Poly, String>,
    wholes: BTreeMap<AtomId, String>,
    parts: BTreeMap<AtomId, String>,
    groups: Vec<Group>,
}

impl Labels {
    /// Labels an atom; of names, and of parts, the first counts.
    pub(super) fn give(&mut self, atom: AtomId, label: Label) {
        match label {
            Label::Whole(name) => {
                if let Entry::Vacant(free) = self.wholes.entry(atom) {
                    self.groups.push(Group {
                        shared: name.clone(),
                        members: vec![(name.clone(), Poly::atom(atom))],
                    });
                    free.insert(name);
                }
            }
            Label::Part(part) => {
                self.parts.entry(atom).or_insert(part);
            }
        }
    }

    /// Says that these belong together.
    pub(super) fn together(&mut self, shared: String, members: Vec<(String, Poly)>) {
        self.groups.push(Group { shared, members });
    }

    /// The components of a `let`, with their names; of several with one value the first counts.
    pub(super) fn define(&mut self, name: &str, components: Vec<(String, Poly)>) {
        for (component, value) in &components {
            let known = self.lets.entry(value.clone());
            known.or_insert(component.clone());
        }
        self.together(name.to_string(), components);
    }
}

/// The names of atoms, without numbers.
#[derive(Default)]
pub(super) struct Names {
    labels: Labels,
    /// Atoms that are `let`s.
    lets: BTreeMap<AtomId, String>,
    /// The owners of atoms that are parts.
    owners: BTreeMap<AtomId, String>,
    /// The common names of the groups of owners that were named with others.
    families: BTreeMap<AtomId, String>,
}

impl Names {
    /// Settles the owner of every atom.
    pub(super) fn new(atoms: &mut Atoms) -> Self {
        let mut names = Names { labels: std::mem::take(&mut atoms.labels), ..Names::default() };
        let lets = names.labels.lets.iter();
        let lets = lets.filter_map(|(value, name)| Some((atoms.of_value(value)?, name.clone())));
        names.lets = lets.collect();
        let groups = std::mem::take(&mut names.labels.groups);
        let several = groups.iter().filter(|group| group.members.len() > 1);
        let members = several.flat_map(|group| &group.members);
        let with_others = members.filter_map(|member| names.as_whole(member));
        let with_others: BTreeSet<AtomId> = with_others.collect();
        for group in groups {
            let alone = match &group.members[..] {
                [member] => names.as_whole(member),
                _ => None,
            };
            if alone.is_none_or(|atom| !with_others.contains(&atom)) {
                names.claim(atoms, &group);
            }
        }
        names
    }

    /// The atom that is this value and has this name.
    fn as_whole(&self, (name, value): &(String, Poly)) -> Option<AtomId> {
        let atom = value.as_atom()?;
        (self.whole(atom) == Some(name)).then_some(atom)
    }

    /// Gives the atoms below a group to it, as far as they are neither wholes nor parts of others.
    fn claim(&mut self, atoms: &Atoms, group: &Group) {
        let mut found: BTreeMap<AtomId, Option<usize>> = BTreeMap::new();
        for (member, named) in group.members.iter().enumerate() {
            let mut open = match self.as_whole(named) {
                None => named.1.0.keys().flatten().copied().collect(),
                Some(atom) => {
                    self.families.entry(atom).or_insert(group.shared.clone());
                    atoms.below(atom)
                }
            };
            let mut seen = BTreeSet::new();
            while let Some(atom) = open.pop() {
                let known = self.owners.contains_key(&atom) || self.whole(atom).is_some();
                if known || !seen.insert(atom) {
                    continue;
                }
                let first = found.entry(atom).or_insert(Some(member));
                if *first != Some(member) {
                    *first = None;
                }
                open.extend(atoms.below(atom));
            }
        }
        for (atom, member) in found {
            let owner = member.map_or(&group.shared, |member| &group.members[member].0);
            self.owners.insert(atom, owner.clone());
        }
    }

    /// The name of an atom that is something as a whole.
    fn whole(&self, atom: AtomId) -> Option<&String> {
        let defined = self.lets.get(&atom);
        defined.or_else(|| self.labels.wholes.get(&atom))
    }

    /// The name of the `let` with this value.
    pub(super) fn of_value(&self, value: &Poly) -> Option<&String> {
        self.labels.lets.get(value)
    }

    /// The rank in keeping a name: the value of a `let`, another whole, a part.
    fn rank(&self, atom: AtomId) -> u32 {
        if self.lets.contains_key(&atom) {
            0
        } else if self.labels.wholes.contains_key(&atom) {
            1
        } else {
            2
        }
    }

    /// The name of an atom; `None` for one that is named after its operands.
    pub(super) fn of(&self, atoms: &Atoms, atom: AtomId) -> Option<String> {
        if let Some(name) = self.whole(atom) {
            return Some(name.clone());
        }
        let part = match (self.labels.parts.get(&atom), atoms.get(atom)) {
            (Some(part), _) => part.as_str(),
            (None, Atom::Call(Op::Div, args)) if is_one(&args[0]) => return None,
            (None, Atom::Call(op, _)) => word(*op),
            (None, Atom::Named(_)) => "part",
            (None, Atom::State(_) | Atom::At { .. } | Atom::Derivative { .. }) => return None,
        };
        let owner = self.owners.get(&atom)?;
        Some(format!("{owner}_{part}"))
    }

    /// The owner of a value that only this atom leads to.
    pub(super) fn family(&self, atom: AtomId) -> Option<&String> {
        self.families.get(&atom).or_else(|| self.owners.get(&atom))
    }
}

impl Assembler<'_> {
    /// Keeps the names of equations; each comes with its common name.
    pub(super) fn roots(&mut self, labels: &[[String; 2]], equations: &[Poly]) -> Vec<String> {
        let named: Vec<(&[String; 2], &Poly)> = labels.iter().zip(equations).collect();
        for group in named.chunk_by(|(a, _), (b, _)| a[1] == b[1]) {
            let members = group.iter().map(|([own, _], poly)| (own.clone(), (*poly).clone()));
            let shared = group[0].0[1].clone();
            self.atoms.labels.together(shared, members.collect());
        }
        let names = labels.iter().map(|[own, _]| self.functions.reserve(own));
        names.collect()
    }

    /// Keeps a name for every atom that becomes a grid function: those of `let`s come first, then those of other wholes, then those
    /// of parts; equal ones are numbered as they were written.
    pub(super) fn keep_names(&mut self, equations: &[(Poly, Poly)]) {
        self.names = Names::new(self.atoms);
        let mut open: Vec<AtomId> = equations
            .iter()
            .flat_map(|(linear, pointwise)| [linear, pointwise])
            .flat_map(|poly| poly.0.keys().flatten().copied())
            .collect();
        let mut read: BTreeSet<AtomId> = BTreeSet::new();
        while let Some(atom) = open.pop() {
            if read.insert(atom) {
                open.extend(self.atoms.below(atom));
            }
        }
        let mut read: Vec<AtomId> = read.into_iter().collect();
        read.sort_by_key(|atom| self.names.rank(*atom));
        for atom in read {
            if let Some(name) = self.names.of(self.atoms, atom) {
                self.kept.insert(atom, self.functions.reserve(&name));
            }
        }
    }

    /// The name that is kept for an atom, or `otherwise`.
    pub(super) fn name_of(&mut self, atom: AtomId, otherwise: &str) -> String {
        if let Some(kept) = self.kept.get(&atom) {
            return kept.clone();
        }
        let named = self.names.of(self.atoms, atom);
        let named = named.or_else(|| {
            let origin = self.reciprocals.origin(atom)?;
            self.names.of(self.atoms, origin)
        });
        self.functions.reserve(named.as_deref().unwrap_or(otherwise))
    }

    /// The name of the reciprocal of a divisor: after it, if it has a name, or after the dividend.
    pub(super) fn reciprocal_name(&self, divisor: &Poly) -> String {
        let one = divisor.as_atom().map(|atom| match self.atoms.get(atom) {
            Atom::At { of, .. } => *of,
            _ => atom,
        });
        let made = one.and_then(|atom| Some(self.functions.name(*self.made.get(&atom)?)));
        let named = made.or_else(|| self.names.of_value(divisor).map(String::as_str));
        let named = named.or_else(|| {
            let quotient = self.reciprocals.quotient(divisor)?;
            self.names.family(quotient).map(String::as_str)
        });
        named.map_or("reciprocal".to_string(), |of| format!("{of}_reciprocal"))
    }
}

/// The word for the result of an operation: a divergence is `div`, so a quotient has a longer one.
pub(super) fn word(op: Op) -> &'static str {
    match op {
        Op::Div => "quotient",
        Op::Lt | Op::Le | Op::Eq => "choice",
        _ => op.name(),
    }
}
