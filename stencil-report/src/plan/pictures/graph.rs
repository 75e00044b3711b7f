//! Dependencies in a substep: grid functions in groups that belong together, coloured by their placement.

use std::collections::{BTreeMap, BTreeSet};

use stencil_compiler::algorithm::footprint::needed;
use stencil_compiler::algorithm::{Algorithm, FnId};
use stencil_compiler::diag::counted;
use stencil_compiler::schedule::{Carry, Placement, Schedule};
use stencil_runtime::plot::{Color, Lettering, Scene, Stroke};

use super::layers::{Layout, layout};
use super::{MARGIN, centred, faint, heading, subtitle};
use crate::explain::functions::{Group, groups};
use crate::explain::{substep, updates};
use crate::plan::candidates::Problem;
use crate::plan::declared::computed;
use crate::plan::report::Report;

/// From the top of a picture to the graph.
const TOP: f32 = 110.0;

/// Height of a box with two lines.
const BOX: f32 = 58.0;

/// The placement of the functions of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Field,
    Inline,
    Register,
    Carried,
    Ahead,
    Shared,
    Stored,
    New,
}

impl Place {
    const ALL: [Place; 8] = [
        Place::Field,
        Place::Inline,
        Place::Register,
        Place::Carried,
        Place::Ahead,
        Place::Shared,
        Place::Stored,
        Place::New,
    ];

    fn of(placement: Placement) -> Self {
        match placement {
            Placement::Inline => Place::Inline,
            Placement::Register => Place::Register,
            Placement::Carried(Carry::Behind) => Place::Carried,
            Placement::Carried(Carry::Ahead) => Place::Ahead,
            Placement::Shared => Place::Shared,
            Placement::Global(_) => Place::Stored,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Place::Field => "field",
            Place::Inline => "inline: recomputed where it is used",
            Place::Register => "register: kept while a march passes",
            Place::Carried => "carried: partial sums ride along",
            Place::Ahead => "carried ahead: and complete with the plane",
            Place::Shared => "shared: once a plane, on the tile and its rim",
            Place::Stored => "global: stored by a kernel",
            Place::New => "new values",
        }
    }

    fn color(self) -> Color {
        match self {
            Place::Field => Color(92, 92, 92),
            Place::Inline => Color(150, 158, 170),
            Place::Register => Color(0, 107, 178),
            Place::Carried => Color(0, 148, 110),
            Place::Ahead => Color(88, 110, 0),
            Place::Shared => Color(216, 148, 0),
            Place::Stored => Color(213, 94, 0),
            Place::New => Color(176, 74, 138),
        }
    }
}

/// Grid functions that are drawn as one box.
#[derive(Clone, Debug)]
struct Node {
    label: String,
    place: Place,
    members: BTreeSet<FnId>,
}

/// The name of a box, and the placement of its functions.
type Key = (String, Place);

/// Draws the substep that explanations are about.
pub(super) fn draw(problem: &Problem<'_>, report: &Report<'_>) -> Scene {
    let (nodes, edges) = collected(problem, &report.plan.schedule);
    let details: Vec<String> = nodes.iter().map(|node| detail(problem, report, node)).collect();
    let (bold, small) = (letters(), faint(15.0));
    let sizes: Vec<(f32, f32)> = nodes
        .iter()
        .zip(&details)
        .map(|(node, detail)| (bold.width(&node.label).max(small.width(detail)) + 28.0, BOX))
        .collect();
    let graph = layout(&sizes, &edges);
    let width = (graph.size.0 + 2.0 * MARGIN).max(1000.0);
    let used: BTreeSet<Place> = nodes.iter().map(|node| node.place).collect();
    let mut scene = Scene::new(width, TOP + graph.size.1 + 110.0);
    let title =
        format!("{}: what a substep computes, and where it lives", report.problem.algorithm.name);
    heading(&mut scene, &title, &subtitle(report));
    let origin = ((width - graph.size.0) / 2.0, TOP + 10.0);
    arrows(&mut scene, origin, &graph, &nodes);
    for ((node, detail), ((x, y), (w, h))) in
        nodes.iter().zip(&details).zip(graph.places.iter().zip(&sizes))
    {
        let color = node.place.color();
        let (x, y) = (origin.0 + x, origin.1 + y);
        let pale = color.blend(Color::WHITE, 0.82);
        scene.rect([x, y, *w, *h], Some(pale), Some(Stroke::new(color, 2.4)));
        scene.text((x + w / 2.0, y + 20.0), &node.label, centred(letters()));
        scene.text((x + w / 2.0, y + 42.0), detail, centred(small));
    }
    legend(&mut scene, &used);
    scene
}

fn letters() -> Lettering {
    Lettering { is_bold: true, ..Lettering::new(18.0) }
}

fn arrows(scene: &mut Scene, (x, y): (f32, f32), graph: &Layout, nodes: &[Node]) {
    let pale = |node: usize| nodes[node].place.color().blend(Color::WHITE, 0.45);
    for (from, line) in &graph.lines {
        let line: Vec<_> = line.iter().map(|p| (p.0 + x, p.1 + y)).collect();
        scene.line(&line, Stroke::new(pale(*from), 1.8));
    }
    for (from, (ex, ey)) in &graph.ends {
        let (ex, ey) = (ex + x, ey + y);
        let tip = [(ex, ey), (ex - 9.0, ey - 5.0), (ex - 9.0, ey + 5.0)];
        scene.polygon(&tip, Some(pale(*from)), None);
    }
}

/// The number of functions of a box, the cost of one evaluation of all, and the kernels that evaluate them.
fn detail(problem: &Problem<'_>, report: &Report<'_>, node: &Node) -> String {
    let algorithm = problem.algorithm;
    if node.place == Place::Field {
        return counted(node.members.len(), "component");
    }
    let operations: u32 = node.members.iter().map(|id| algorithm.cost(*id)).sum();
    let mut words = match node.members.len() {
        1 => counted(operations as usize, "operation"),
        n => format!("{n} functions, {}", counted(operations as usize, "operation")),
    };
    let at = substep(algorithm);
    let kernels: Vec<_> = report.plan.kernels().filter(|k| k.launch.substep == at).collect();
    if kernels.len() > 1 {
        let own = kernels.iter().enumerate().filter(|(_, kernel)| {
            let all = computed(algorithm, &kernel.launch);
            all.iter().any(|id| node.members.contains(id))
        });
        let own: Vec<String> = own.map(|(at, _)| (at + 1).to_string()).collect();
        words += &format!(", kernel {}", own.join(" + "));
    }
    words
}

/// Boxes and which of them read which, in an order in which a box comes after those that it reads.
fn collected(problem: &Problem<'_>, schedule: &Schedule) -> (Vec<Node>, Vec<(usize, usize)>) {
    let algorithm = problem.algorithm;
    let groups = groups(algorithm);
    let roots = updates(algorithm, substep(algorithm));
    let mut nodes: BTreeMap<Key, Node> = BTreeMap::new();
    let mut homes: BTreeMap<FnId, Key> = BTreeMap::new();
    for id in needed(algorithm, &roots, &BTreeSet::new()) {
        let Some(key) = key(problem, schedule, id, &groups) else {
            continue;
        };
        let node = nodes.entry(key.clone()).or_insert_with(|| Node {
            label: key.0.clone(),
            place: key.1,
            members: BTreeSet::new(),
        });
        node.members.insert(id);
        homes.insert(id, key);
    }
    let mut edges: BTreeSet<(&Key, &Key)> = BTreeSet::new();
    for (id, to) in &homes {
        let accesses = algorithm.function(*id).def.accesses().into_iter();
        let from = accesses.filter_map(|access| homes.get(&access.of));
        edges.extend(from.filter(|from| *from != to).map(|from| (from, to)));
    }
    let order = in_order(&nodes, &edges);
    let place = |key: &Key| order.iter().position(|own| *own == key);
    let edges = edges.iter().filter_map(|(from, to)| Some((place(from)?, place(to)?)));
    let edges = edges.collect();
    let boxes = order.iter().filter_map(|key| nodes.get(*key).cloned());
    (boxes.collect(), edges)
}

/// Boxes in an order in which one comes after those that it reads; where some read each other, the one
/// whose functions begin first.
fn in_order<'a>(nodes: &'a BTreeMap<Key, Node>, edges: &BTreeSet<(&Key, &Key)>) -> Vec<&'a Key> {
    let mut left: Vec<(&Key, &Node)> = nodes.iter().collect();
    left.sort_by_key(|(_, node)| node.members.first().copied());
    let mut order = Vec::new();
    while !left.is_empty() {
        let waits = |key: &Key| {
            let mut before = edges.iter().filter(|(_, to)| *to == key);
            before.any(|(from, _)| left.iter().any(|(other, _)| other == from))
        };
        let next = left.iter().position(|(key, _)| !waits(key)).unwrap_or(0);
        order.push(left.remove(next).0);
    }
    order
}

/// The box of a grid function; `None` for what is not drawn.
fn key(problem: &Problem<'_>, schedule: &Schedule, id: FnId, groups: &[Group]) -> Option<Key> {
    let algorithm = problem.algorithm;
    let name = &algorithm.function(id).name;
    let place = Place::of(schedule.placement(name));
    match groups.get(id.0 as usize)? {
        Group::Accumulator => None,
        Group::Field => Some((stem(name), Place::Field)),
        Group::Update => {
            let at = substep(algorithm);
            let updates = &algorithm.substeps.get(at)?.updates;
            let own = updates.iter().find(|(_, of)| *of == id);
            // A new value of an accumulator belongs to its field, whose name begins its own.
            let state = own.map_or(name, |(state, _)| &algorithm.state(*state).name);
            Some((format!("new {}", field(problem, state)), Place::New))
        }
        Group::Pair | Group::Derivative => {
            let base = stem(&algorithm.function(base(algorithm, groups, id)).name);
            Some((format!("derivatives of {base}"), place))
        }
        Group::Sum | Group::Point => Some((stem(name), place)),
    }
}

/// The field that a state belongs to.
fn field(problem: &Problem<'_>, state: &str) -> String {
    let names = problem.model.fields.iter().map(|field| field.name.as_str());
    let own = names.filter(|name| {
        let rest = state.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    });
    let longest = own.max_by_key(|name| name.len());
    longest.map_or_else(|| stem(state), str::to_string)
}

/// The function that a derivative is of, down through pairs and derivatives.
fn base(algorithm: &Algorithm, groups: &[Group], id: FnId) -> FnId {
    let is_made = |id: FnId| {
        let group = groups.get(id.0 as usize);
        matches!(group, Some(Group::Pair | Group::Derivative))
    };
    let mut id = id;
    while is_made(id) {
        match algorithm.function(id).def.accesses().first() {
            Some(access) => id = access.of,
            None => break,
        }
    }
    id
}

/// A name without components and numbers: those that differ in these alone are one box.
fn stem(name: &str) -> String {
    let is_component = |part: &str| {
        !part.is_empty()
            && (part.chars().all(|c| "xyz".contains(c)) || part.chars().all(|c| c.is_ascii_digit()))
    };
    let parts = name.split('_').enumerate();
    let kept: Vec<&str> =
        parts.filter(|(at, part)| *at == 0 || !is_component(part)).map(|(_, part)| part).collect();
    kept.join("_")
}

/// The meaning of the colours, in a row at the bottom.
fn legend(scene: &mut Scene, used: &BTreeSet<Place>) {
    let (width, height) = scene.size();
    let letters = Lettering::new(16.0);
    let places = Place::ALL.into_iter().filter(|place| used.contains(place));
    let places: Vec<Place> = places.collect();
    let long: f32 = places.iter().map(|p| letters.width(p.words()) + 58.0).sum();
    // In two rows where one is too long.
    let per_row = match long > width - 2.0 * MARGIN {
        true => places.len().div_ceil(2),
        false => places.len().max(1),
    };
    for (row, places) in places.chunks(per_row).enumerate() {
        let (mut x, y) = (MARGIN, height - 62.0 + 30.0 * row as f32);
        for place in places {
            let color = place.color();
            let pale = color.blend(Color::WHITE, 0.82);
            scene.rect([x, y - 9.0, 22.0, 18.0], Some(pale), Some(Stroke::new(color, 2.4)));
            scene.text((x + 32.0, y), place.words(), letters);
            x += letters.width(place.words()) + 62.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_and_numbers_make_one_box() {
        for (name, wanted) in [
            ("ddt_u_x_products", "ddt_u_products"),
            ("div_3", "div"),
            ("u_x", "u"),
            ("x", "x"),
            ("trace_part", "trace_part"),
            ("A_xy", "A"),
        ] {
            assert_eq!(stem(name), wanted);
        }
    }
}
