//! The second part of the page: the grid functions of the algorithm and what each costs.

use std::collections::BTreeSet;

use stencil_compiler::algorithm::footprint::{Footprint, footprint, needed, points};
use stencil_compiler::algorithm::{Access, Algorithm, Atom, Def, FnId, Role};
use stencil_compiler::expr::{Node, Op};

use super::{substep, updates};
use crate::table::{Table, paragraph};

/// Groups of grid functions on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// A component of a field.
    Field,
    /// A value that the integrator carries from substep to substep.
    Accumulator,
    /// The difference or sum of two neighbours of one function.
    Pair,
    /// A sum over such pairs of one function.
    Derivative,
    /// Any other ordered sum.
    Sum,
    /// Products and other arithmetic in a point.
    Point,
    /// The new value of a state variable.
    Update,
}

/// The group of every grid function, by index.
pub(crate) fn groups(algorithm: &Algorithm) -> Vec<Group> {
    let mut updated: BTreeSet<FnId> = BTreeSet::new();
    for at in 0..algorithm.substeps.len() {
        updated.extend(updates(algorithm, at));
    }
    let mut groups: Vec<Group> = Vec::new();
    for (id, function) in algorithm.ids() {
        let group = match &function.def {
            Def::State(state) if algorithm.state(*state).role == Role::Field => Group::Field,
            Def::State(_) => Group::Accumulator,
            Def::Point(_) if pair(algorithm, id).is_some() => Group::Pair,
            Def::Point(_) if is_update(algorithm, id, &updated) => Group::Update,
            Def::Point(_) => Group::Point,
            Def::Sum(terms) => {
                let mut bases: BTreeSet<FnId> = BTreeSet::new();
                for term in terms {
                    bases.insert(
                        pair(algorithm, term.value.of)
                            .map_or(term.value.of, |[a, _]| root(algorithm, a.of)),
                    );
                }
                let one =
                    bases.len() == 1 && terms.len() > 1 && terms.iter().all(|t| t.factor.is_some());
                if one { Group::Derivative } else { Group::Sum }
            }
        };
        groups.push(group);
    }
    groups
}

/// Whether a function is the integrator's: it reads an accumulator, or it is a new value made of
/// the old one. (A right-hand side may be the new value of an accumulator too.)
fn is_update(algorithm: &Algorithm, id: FnId, updated: &BTreeSet<FnId>) -> bool {
    let accesses = algorithm.function(id).def.accesses();
    let reads = |role: Role| {
        let own = |a: &Access| {
            matches!(algorithm.function(a.of).def, Def::State(s) if algorithm.state(s).role == role)
                && a.at == [0; 3]
        };
        accesses.iter().any(own)
    };
    reads(Role::Accumulator) || (updated.contains(&id) && accesses.len() == 2 && reads(Role::Field))
}

/// The two accesses of a difference or sum of neighbours.
fn pair(algorithm: &Algorithm, id: FnId) -> Option<[Access; 2]> {
    let Def::Point(expr) = &algorithm.function(id).def else {
        return None;
    };
    let ops = expr.nodes.iter().filter(|node| matches!(node, Node::Op(..))).count();
    let sums = expr.nodes.iter().any(|node| matches!(node, Node::Op(Op::Add | Op::Sub, _)));
    let uniform = expr.atoms().any(|atom| matches!(atom, Atom::Uniform(_)));
    match algorithm.function(id).def.accesses()[..] {
        [a, b] if ops == 1 && sums && !uniform && a.of == b.of && a.at != b.at => Some([a, b]),
        _ => None,
    }
}

/// The function that a pair is made of, down through pairs.
fn root(algorithm: &Algorithm, id: FnId) -> FnId {
    pair(algorithm, id).map_or(id, |[a, _]| root(algorithm, a.of))
}

/// The table of grid functions.
pub(super) fn section(algorithm: &Algorithm) -> String {
    let groups = groups(algorithm);
    let mut page = "GRID FUNCTIONS, and what each costs\n".to_string();
    page += &paragraph(
        "  ",
        "`own` counts the operations of one evaluation (a multiply-add is one, a division or a root eight), `all` those from \
         the fields up, each grid function once. `reads` counts the points of each field component, and of all together.",
    );
    let names = |group: Group| -> Vec<&str> {
        members(algorithm, &groups, group).map(|id| algorithm.function(id).name.as_str()).collect()
    };
    page += &paragraph("  fields        ", &names(Group::Field).join(", "));
    if !names(Group::Accumulator).is_empty() {
        page += &paragraph("  accumulators  ", &names(Group::Accumulator).join(", "));
    }
    page += &pairs(algorithm, &groups);
    page.push('\n');
    let mut table = Table::new(2, &["group", "grid function", "own#", "all#", "reads"]);
    let shown: BTreeSet<FnId> = updates(algorithm, substep(algorithm)).into_iter().collect();
    let titles = [
        (Group::Derivative, "derivative"),
        (Group::Sum, "sum"),
        (Group::Point, "pointwise"),
        (Group::Update, "update"),
    ];
    for (group, title) in titles {
        for id in members(algorithm, &groups, group)
            .filter(|id| group != Group::Update || shown.contains(id))
        {
            let read = footprint(algorithm, &[id], &BTreeSet::new());
            let own = algorithm.cost(id).to_string();
            table.row([
                title.to_string(),
                algorithm.function(id).name.clone(),
                own,
                whole(algorithm, id).to_string(),
                reads(algorithm, &read),
            ]);
        }
    }
    page += &table.to_string();
    if algorithm.substeps.len() > 1 {
        page += &paragraph(
            "  ",
            &format!(
                "Updates are those of substep {}; the others differ in their constants only.",
                substep(algorithm) + 1
            ),
        );
    }
    page
}

fn members<'a>(
    algorithm: &'a Algorithm,
    groups: &'a [Group],
    group: Group,
) -> impl Iterator<Item = FnId> + 'a {
    algorithm.ids().map(|(id, _)| id).filter(move |id| groups.get(id.0 as usize) == Some(&group))
}

fn pairs(algorithm: &Algorithm, groups: &[Group]) -> String {
    let all: Vec<FnId> = members(algorithm, groups, Group::Pair).collect();
    if all.is_empty() {
        return String::new();
    }
    let nested = all
        .iter()
        .filter(|id| pair(algorithm, **id).is_some_and(|[a, _]| pair(algorithm, a.of).is_some()))
        .count();
    let mut text =
        format!("{} of the form f(+k) - f(-k) or f(+k) + f(-k), one operation each", all.len());
    if nested > 0 {
        text += &format!(
            "; {nested} of them pair up pairs, which makes the diagonals of mixed derivatives"
        );
    }
    paragraph("  pairs         ", &text)
}

/// Operations to compute a grid function from the fields.
fn whole(algorithm: &Algorithm, id: FnId) -> u32 {
    needed(algorithm, &[id], &BTreeSet::new()).into_iter().map(|id| algorithm.cost(id)).sum()
}

/// `u_x 43, u_y 19; 55 in all`.
fn reads(algorithm: &Algorithm, read: &Footprint) -> String {
    let parts: Vec<String> = read
        .iter()
        .map(|(id, at)| format!("{} {}", algorithm.function(*id).name, at.len()))
        .collect();
    if parts.len() > 1 {
        format!("{}; {} in all", parts.join(", "), points(read))
    } else {
        parts.join("")
    }
}
