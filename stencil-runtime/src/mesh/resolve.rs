//! Resolves the user's settings of faces to one rule for each component and face.

use std::fmt;
use std::sync::Arc;

use stencil_compiler::algorithm::Role;
use stencil_compiler::catalogue::centering::CENTRE;
use stencil_compiler::catalogue::weights::OnFace;
use stencil_compiler::catalogue::{Centering, Halves};
use stencil_compiler::plan::Layers;

use super::boundary::{Custom, GhostFunction, Kind, PointFunction, Value};
use super::characteristic::{FarStates, Linear};
use super::extension::{self, Extension, Extensions};
use super::formula;
use super::open_faces;
use super::settings::{Setting, check_names, chosen};
use super::{Axis, Boundary, Face, Patches, Side};
use crate::system::{Component, indices};
use crate::{Error, SystemDef};

/// The rule that fills the ghost cells beyond a face.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    Periodic,
    /// The cell next to the face.
    Nearest,
    /// The mirror image.
    Mirror {
        negative: bool,
    },
    /// Twice the value on the face, less the mirror image.
    Dirichlet(Number),
    /// The mirror image, and the slope times the distance of the two.
    Neumann(Number),
    /// A polynomial.
    Extended(Extension),
    /// A sum over components of the cell next to the face.
    Linear(Linear),
    Custom(Ghost),
}

/// A number on a face.
#[derive(Clone)]
pub(crate) enum Number {
    Constant(f64),
    Function(PointFunction),
}

/// A ghost value of the user's own.
#[derive(Clone)]
pub(crate) struct Ghost {
    /// Components that are read, by their place in the list of components.
    pub(crate) reads: Vec<usize>,
    pub(crate) ghost: Arc<GhostFunction>,
}

impl Number {
    /// Does it depend on the place or on the time?
    pub(crate) fn is_function(&self) -> bool {
        matches!(self, Number::Function(_))
    }

    /// Returns its value at a point of the face.
    pub(crate) fn at(&self, point: [f64; 3], t: f64) -> f64 {
        match self {
            Number::Constant(value) => *value,
            Number::Function(value) => value.at(point, t),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Constant(value) => write!(f, "{value}"),
            Number::Function(_) => f.write_str("a function"),
        }
    }
}

impl fmt::Debug for Ghost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a function of components {:?}", self.reads)
    }
}

/// The rules of all components.
#[derive(Clone, Debug)]
pub(crate) struct Boundaries {
    /// Rules by component (fields in the order of the algorithm, then sources), then axis, then side.
    pub(crate) rules: Vec<[[Rule; 2]; 3]>,
    /// Names of the components of sources, in the order of their rules.
    pub(crate) sources: Vec<String>,
    /// The places of components in their cells, in the order of their rules.
    pub(crate) halves: Vec<Halves>,
    /// Axes whose faces are periodic.
    pub(crate) periodic: [bool; 3],
    /// One line for each axis, and for each exception.
    pub(crate) words: Vec<String>,
}

impl Boundaries {
    /// Chooses a boundary for each component and face.
    pub(crate) fn new(
        system: &SystemDef,
        params: &[f64],
        settings: &[Setting],
        cells: [usize; 3],
    ) -> Result<Self, Error> {
        let components = system.components();
        check_names(system, &components, settings)?;
        let dimension = system.model().dimension;
        let mut boundaries = Boundaries {
            rules: Vec::new(),
            sources: Vec::new(),
            halves: components.iter().map(|component| component.halves).collect(),
            periodic: [true; 3],
            words: Vec::new(),
        };
        let kinds: Vec<[[Boundary; 2]; 3]> = components
            .iter()
            .map(|c| {
                Axis::ALL
                    .map(|axis| Side::ALL.map(|side| chosen(settings, c, Face::new(axis, side))))
            })
            .collect();
        for axis in &Axis::ALL[..dimension] {
            boundaries.periodic[axis.index()] = is_periodic(*axis, &components, &kinds)?;
        }
        if system.model().is_staggered() {
            open_faces::check_numbers(system, &components, &kinds)?;
        }
        let (mut extensions, mut far_states) = (Extensions::default(), FarStates::default());
        for (component, kinds) in components.iter().zip(&kinds) {
            let mut rules = [const { [Rule::Periodic, Rule::Periodic] }; 3];
            for face in Face::ALL.into_iter().filter(|f| f.axis.index() < dimension) {
                let (axis, side) = (face.axis.index(), face.side as usize);
                let of = Of {
                    system,
                    params,
                    components: &components,
                    component,
                    face,
                    cells: cells[axis],
                };
                rules[axis][side] =
                    of.rule(&kinds[axis][side], &mut extensions, &mut far_states)?;
            }
            boundaries.rules.push(rules);
        }
        boundaries.words = words(dimension, &components, &kinds);
        for (name, indices) in sources(system) {
            let marks = system.open_faces().filter(|faces| faces.marks == name);
            let rules = Axis::ALL.map(|axis| {
                Side::ALL.map(|side| {
                    let face = Face::new(axis, side);
                    if let Some(marks) = marks {
                        let is_periodic = boundaries.periodic[axis.index()];
                        return open_faces::mark((marks, face), is_periodic, &mut extensions);
                    }
                    let kinds = kinds.iter().map(|kinds| &kinds[axis.index()][side as usize]);
                    let normal = indices.iter().filter(|i| **i == axis.index()).count();
                    let most = extension::order(system.model()).min(cells[face.axis.index()]);
                    of_source(kinds, normal, &mut |on_face, number| {
                        extensions.through(on_face, number, most)
                    })
                })
            });
            boundaries.sources.push(name);
            boundaries.halves.push(CENTRE);
            boundaries.rules.push(rules);
        }
        Ok(boundaries)
    }

    /// Returns the index of the rules of a component of a source.
    pub(crate) fn of_source(&self, name: &str) -> Option<usize> {
        let first = self.rules.len() - self.sources.len();
        let found = self.sources.iter().position(|source| source == name);
        found.map(|at| first + at)
    }

    /// Are there functions of the user, which the host calls?
    pub(crate) fn has_custom(&self) -> bool {
        let mut rules = self.rules.iter().flatten().flatten();
        rules.any(|rule| matches!(rule, Rule::Custom(_)))
    }

    /// Are there rules that read several components, so that all must be filled to the same depth?
    pub(crate) fn reads_others(&self) -> bool {
        let mut rules = self.rules.iter().flatten().flatten();
        rules.any(|rule| matches!(rule, Rule::Linear(_) | Rule::Custom(_)))
    }

    /// Returns the number of components, from the first one on, that linear rules read.
    pub(crate) fn read(&self) -> usize {
        let rules = self.rules.iter().flatten().flatten();
        let linear = rules.filter_map(|rule| match rule {
            Rule::Linear(linear) => Some(&linear.parts),
            _ => None,
        });
        linear.flatten().map(|part| part.component + 1).max().unwrap_or(0)
    }

    /// Is a number on a face a function of place or time?
    pub(crate) fn has_functions(&self) -> bool {
        let function = |number: &Number| matches!(number, Number::Function(_));
        self.rules.iter().flatten().flatten().any(|rule| match rule {
            Rule::Dirichlet(number) | Rule::Neumann(number) => function(number),
            Rule::Extended(extension) => function(&extension.number),
            Rule::Periodic
            | Rule::Nearest
            | Rule::Mirror { .. }
            | Rule::Linear(_)
            | Rule::Custom(_) => false,
        })
    }

    /// Returns the axes along which a kernel may read beyond one end of the mesh at the other: periodic ones, if a
    /// patch has both ends.
    pub(crate) fn around(&self, patches: &Patches) -> [bool; 3] {
        // If functions of the user read components, the host fills all ghost cells.
        let by_card = !self.has_custom();
        std::array::from_fn(|axis| by_card && self.periodic[axis] && patches.counts[axis] == 1)
    }
}

impl Boundaries {
    /// Returns the patches of cards whose launches may store values in each other's memory, as far as the mesh decides. The
    /// memory of another process is out of reach, and the host fills all ghost cells if functions of the user read components.
    pub(crate) fn layers_to_store(&self, patches: &Patches, processes: usize) -> Option<Layers> {
        patches.layers().filter(|_| processes == 1 && !self.has_custom())
    }
}

/// Is an axis periodic? It is for all components and on both faces, or for none.
fn is_periodic(
    axis: Axis,
    components: &[Component],
    kinds: &[[[Boundary; 2]; 3]],
) -> Result<bool, Error> {
    let mut all = components.iter().zip(kinds).flat_map(|(component, kinds)| {
        let sides = Side::ALL.into_iter().zip(&kinds[axis.index()]);
        sides.map(move |(side, kind)| (component, Face::new(axis, side), kind))
    });
    let periodic = Boundary::is_periodic;
    let Some((first, face, kind)) = all.next() else {
        return Ok(true);
    };
    match all.find(|(_, _, other)| periodic(other) != periodic(kind)) {
        None => Ok(periodic(kind)),
        Some((second, other_face, other)) => {
            let (a, b) = ((first, face, kind), (second, other_face, other));
            let (seam, wall) = if periodic(kind) { (a, b) } else { (b, a) };
            let same = seam.0.name == wall.0.name;
            let of = |c: &Component| {
                if same { String::new() } else { format!(" for `{}`", c.name) }
            };
            Err(Error::Boundary {
                place: wall.1.to_string(),
                reason: format!(
                    "it is {}{}, but {} is periodic{}",
                    wall.2,
                    of(wall.0),
                    seam.1,
                    of(seam.0)
                ),
                help: format!(
                    "give {} a boundary of its own, or make both faces of {axis} periodic for all fields",
                    seam.1
                ),
            })
        }
    }
}

/// A component at a face.
pub(super) struct Of<'a> {
    pub(super) system: &'a SystemDef,
    params: &'a [f64],
    components: &'a [Component],
    pub(super) component: &'a Component,
    pub(super) face: Face,
    /// Cells along the axis.
    pub(super) cells: usize,
}

impl Of<'_> {
    fn rule(
        &self,
        boundary: &Boundary,
        extensions: &mut Extensions,
        far_states: &mut FarStates,
    ) -> Result<Rule, Error> {
        if self.component.centering != Centering::Cell {
            return self.staggered(boundary, extensions);
        }
        Ok(match &boundary.0 {
            Kind::Periodic => Rule::Periodic,
            Kind::Outflow => Rule::Nearest,
            Kind::Extrapolate => {
                let nothing = Number::Constant(0.0);
                Rule::Extended(extensions.through(OnFace::Nothing, nothing, 2))
            }
            Kind::Wall => {
                let axis = self.face.axis.index();
                let normal = self.component.indices.iter().filter(|i| **i == axis);
                Rule::Mirror { negative: normal.count() % 2 == 1 }
            }
            Kind::Dirichlet(value) => {
                let number = self.number("value", value)?;
                match self.order() {
                    _ if self.is_carried_in() => {
                        Rule::Extended(extensions.through(OnFace::Value, number, 0))
                    }
                    None => Rule::Dirichlet(number),
                    Some(order) => {
                        let through = (order - 1).min(self.cells);
                        Rule::Extended(extensions.through(OnFace::Value, number, through))
                    }
                }
            }
            Kind::Neumann(value) => {
                let number = self.number("slope", value)?;
                match self.order().map(|order| order.min(self.cells)) {
                    // The parabola through two cells is symmetric but for the slope.
                    None | Some(..3) => Rule::Neumann(number),
                    Some(cells) => Rule::Extended(extensions.through(OnFace::Slope, number, cells)),
                }
            }
            Kind::Characteristic(far) => {
                let of = (self.system, self.params, self.components);
                let ghost = far_states.ghost(of, self.face, self.component, far)?;
                ghost.map_or(Rule::Nearest, Rule::Linear)
            }
            Kind::Custom(Custom::Function { reads, ghost }) => Rule::Custom(Ghost {
                reads: reads.iter().map(|name| self.read(name)).collect::<Result<_, _>>()?,
                ghost: ghost.clone(),
            }),
            Kind::Custom(Custom::Text(text)) => {
                let names: Vec<&str> = self.components.iter().map(|c| c.name.as_str()).collect();
                let what = self.what("ghost value");
                let (reads, ghost) = formula::ghost(self.system, self.params, &what, text, &names)?;
                Rule::Custom(Ghost { reads, ghost })
            }
        })
    }

    /// Returns the order of values beyond a number on the face; `None` if they are mirror images, for a field that
    /// derivatives carry along and do not smooth: polynomials of high order would let disturbances grow.
    fn order(&self) -> Option<usize> {
        let model = self.system.model();
        let smoothed = model.is_smoothed(self.component.of);
        smoothed.then(|| extension::order(model))
    }

    /// Do waves carry a number on the face in, and does nothing else use it? Then ghost cells have that state,
    /// whatever the cells hold: it stays in its range as the number does, and a solver meets it as it is.
    pub(super) fn is_carried_in(&self) -> bool {
        let model = self.system.model();
        model.flux_of(self.component.of).is_some() && model.only_transports()
    }

    fn what(&self, kind: &str) -> String {
        format!("the {kind} of `{}` at {}", self.component.name, self.face)
    }

    pub(super) fn number(&self, kind: &str, value: &Value) -> Result<Number, Error> {
        let what = self.what(kind);
        match value {
            Value::Constant(value) if !value.is_finite() => {
                Err(Error::Value { what, value: *value, help: "give a number".into() })
            }
            Value::Constant(value) => Ok(Number::Constant(*value)),
            Value::Function(value) => Ok(Number::Function(value.clone())),
            Value::Text(text) => {
                let value = formula::point(self.system, self.params, &what, text)?;
                Ok(Number::Function(value))
            }
        }
    }

    fn read(&self, name: &str) -> Result<usize, Error> {
        let found = self.components.iter().position(|c| c.name == name);
        let known = self.components.iter().map(|c| c.name.as_str());
        found.ok_or_else(|| Error::unknown(self.system.name(), "component", name, known))
    }
}

/// Returns the components of sources, in the order of the algorithm, with their indices.
fn sources(system: &SystemDef) -> Vec<(String, Vec<usize>)> {
    let states = system.algorithm().states_of(Role::Given);
    let component = |name: &str| {
        let mut all = system.model().sources.iter();
        let found = all.find_map(|source| indices(&source.name, source.rank, name));
        (name.to_string(), found.unwrap_or_default())
    };
    states.map(|(_, state)| component(&state.name)).collect()
}

/// Returns the rule of a source beyond a face with these boundaries of fields: the mirror image if one of them is a
/// wall, with the other sign if it has an odd number of `normal` indices; the nearest cell if all flow out; else the
/// polynomial of the order of the scheme.
fn of_source<'a>(
    mut kinds: impl Iterator<Item = &'a Boundary> + Clone,
    normal: usize,
    extended: &mut dyn FnMut(OnFace, Number) -> Extension,
) -> Rule {
    let kind = |boundary: &'a Boundary| &boundary.0;
    if kinds.clone().all(Boundary::is_periodic) {
        Rule::Periodic
    } else if kinds.clone().any(|b| matches!(kind(b), Kind::Wall)) {
        Rule::Mirror { negative: normal % 2 == 1 }
    } else if kinds.all(|b| matches!(kind(b), Kind::Outflow)) {
        Rule::Nearest
    } else {
        Rule::Extended(extended(OnFace::Nothing, Number::Constant(0.0)))
    }
}

/// Returns `x: wall`, `y.lo: dirichlet 1, y.hi: outflow`, and components that differ from the first.
fn words(dimension: usize, components: &[Component], kinds: &[[[Boundary; 2]; 3]]) -> Vec<String> {
    let text = |axis: &Axis, kinds: &[[Boundary; 2]; 3]| {
        let [lo, hi] = kinds[axis.index()].each_ref().map(Boundary::to_string);
        if lo == hi { format!("{axis}: {lo}") } else { format!("{axis}.lo: {lo}, {axis}.hi: {hi}") }
    };
    let mut words = Vec::new();
    for axis in &Axis::ALL[..dimension] {
        let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
        for (component, kinds) in components.iter().zip(kinds) {
            let line = text(axis, kinds);
            match groups.iter_mut().find(|(known, _)| *known == line) {
                Some((_, names)) => names.push(&component.name),
                None => groups.push((line, vec![&component.name])),
            }
        }
        let one = groups.len() == 1;
        words.extend(groups.into_iter().map(|(line, names)| {
            if one { line } else { format!("{line} ({})", names.join(", ")) }
        }));
    }
    words
}
