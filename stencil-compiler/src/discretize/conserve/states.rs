//! States on both sides of faces: of the conserved fields, or of primitive variables, from which the
//! conserved ones follow.

use std::collections::BTreeMap;

use super::algebra::Algebra;
use super::families::{families_of_blocks, sum_of_families};
use super::reconstruct::{Cell, Steps};
use super::{AXES, Law};
use crate::discretize::components::suffixes;
use crate::discretize::expand::{Expander, GivenAt, Result, States, Tensor, name_of};
use crate::discretize::poly::Poly;
use crate::model::{Primitives, TermKind, Variables};

/// The place of a value in a state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Component(usize),
    Let(usize),
}

/// The component along an axis of a field on faces, in the states at these.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Normal {
    /// The value on each face.
    OnFaces,
    /// The mean of both faces of the cell: nothing else jumps in it.
    Centred,
}

/// A reconstructed variable: its name and its values in cells.
struct Variable {
    name: String,
    own: Poly,
    place: Place,
}

impl Law<'_> {
    /// The states of a cell at its upper face, and those at its lower one, from the means of cells.
    pub(super) fn reconstructed(
        &self,
        expander: &mut Expander<'_>,
        axis: usize,
        normal: Normal,
    ) -> Result<[States; 2]> {
        let components = vec![Poly::default(); self.components.fields.len()];
        let mut sides = [0, -1].map(|ahead| States {
            components: components.clone(),
            given_at: GivenAt::upper_face(axis, ahead),
            ..States::default()
        });
        let span = self.model.fluxes[0].span;
        let of = &mut Algebra { expander, span };
        let variables = self.variables(of.expander)?;
        let by_families = match self.model.scheme.variables {
            Variables::Characteristic => self.by_families(of, axis)?,
            Variables::Conserved | Variables::Primitive | Variables::Fluxes => BTreeMap::new(),
        };
        for variable in variables {
            let name = format!("{}_{}", variable.name, AXES[axis]);
            if let Place::Component(component) = variable.place
                && let Some(mut on_faces) = self.on_faces(of.expander, component, axis)
            {
                if normal == Normal::Centred {
                    on_faces = [variable.own.clone(), variable.own];
                }
                for (states, value) in sides.iter_mut().zip(on_faces) {
                    states.components[component] = value;
                }
                continue;
            }
            let known = match variable.place {
                Place::Component(component) => by_families.get(&component).cloned(),
                Place::Let(_) => None,
            };
            let [lower, upper] = match known {
                Some(changes) => changes,
                None => self.changes(of, Steps::Of(&variable.own), axis, &name)?,
            };
            for ((states, label), change) in sides.iter_mut().zip(LABELS).zip([upper, lower]) {
                let value = of.plus(&variable.own, &change)?;
                let value = of.named(format!("{name}_{label}"), value);
                match variable.place {
                    Place::Component(component) => states.components[component] = value,
                    Place::Let(at) => states.lets.entry(at).or_default().push(value),
                }
            }
        }
        if let Some(primitives) = self.primitives() {
            for (states, label) in sides.iter_mut().zip(LABELS) {
                let label = format!("{}_{label}", AXES[axis]);
                self.follow(of.expander, primitives, states, &label)?;
            }
        }
        Ok(sides)
    }

    /// The excess of a variable over its mean at the lower and at the upper face of a cell.
    pub(super) fn changes(
        &self,
        of: &mut Algebra<'_, '_>,
        steps: Steps<'_>,
        axis: usize,
        name: &str,
    ) -> Result<[Poly; 2]> {
        if let Steps::Around(steps) = &steps
            && steps.values().all(|step| step.0.is_empty())
        {
            return Ok([Poly::default(), Poly::default()]);
        }
        let mut cell = Cell {
            algebra: Algebra { expander: of.expander, span: of.span },
            steps,
            axis,
            name,
            limiter: self.limiter,
            theta: self.model.scheme.theta,
            parameter: self.model.scheme.reconstruct_parameter,
        };
        (self.reconstruction.faces)(&mut cell)
    }

    /// The excess of each conserved component, reconstructed family by family: the differences around a cell are split
    /// into the families of waves there, and every part is limited by itself. The parts of a family are multiples of an
    /// eigenvector, and a limiter takes their factors; for the flow's family, the components themselves.
    fn by_families(
        &self,
        of: &mut Algebra<'_, '_>,
        axis: usize,
    ) -> Result<BTreeMap<usize, [Poly; 2]>> {
        let states = self.in_cell(of.expander);
        let conserved = self.components_conserved();
        let blocks = self.linear(of, &states, axis, "cell")?;
        // For each family and component: the differences.
        let mut parts: Vec<Vec<BTreeMap<i32, Poly>>> = Vec::new();
        for ahead in -self.reconstruction.row.reach..self.reconstruction.row.reach {
            let mut steps = Vec::new();
            for component in &conserved {
                let own = &states.components[*component];
                let next = of.expander.atoms.at(own, axis, 1);
                let step = of.minus(&next, own)?;
                let name = format!("{}_{}_step", self.components.fields[*component], AXES[axis]);
                let step = of.named(&name, step);
                steps.push(of.expander.atoms.at(&step, axis, ahead));
            }
            let families = families_of_blocks(of, &blocks, &steps, None)?;
            for (family, (_, carried)) in families.into_iter().enumerate() {
                if parts.len() <= family {
                    parts.push(vec![BTreeMap::new(); conserved.len()]);
                }
                for (steps, step) in parts[family].iter_mut().zip(carried) {
                    steps.insert(ahead, step);
                }
            }
        }
        let mut all: Vec<Vec<[Poly; 2]>> = Vec::new();
        for family in parts {
            let mut changes = Vec::new();
            for (component, steps) in conserved.iter().zip(family) {
                let name = format!("{}_{}", self.components.fields[*component], AXES[axis]);
                let both = self.changes(of, Steps::Around(steps), axis, &name)?;
                // Rounded before they are added, in whatever order.
                let label = format!("{name}_change");
                changes.push(both.map(|change| of.expander.atoms.always_name(&label, change)));
            }
            all.push(changes);
        }
        let sums = |of: &mut Algebra<'_, '_>, at: usize| {
            let of_face = |changes: &Vec<[Poly; 2]>| {
                let own = changes.iter().map(|both| both[at].clone());
                own.collect::<Vec<Poly>>()
            };
            let all: Vec<Vec<Poly>> = all.iter().map(of_face).collect();
            sum_of_families(of, &all)
        };
        let (lower, upper) = (sums(of, 0)?, sums(of, 1)?);
        let both = lower.into_iter().zip(upper).map(<[Poly; 2]>::from);
        Ok(conserved.into_iter().zip(both).collect())
    }

    /// The mean state of a cell.
    pub(super) fn in_cell(&self, expander: &mut Expander<'_>) -> States {
        let fields = 0..self.components.fields.len();
        let components = fields.map(|i| expander.atoms.state(i)).collect();
        States { components, ..States::default() }
    }

    /// The primitives, where the scheme reconstructs them.
    fn primitives(&self) -> Option<&Primitives> {
        match self.model.scheme.variables {
            Variables::Conserved | Variables::Characteristic | Variables::Fluxes => None,
            Variables::Primitive => self.model.primitives.as_ref(),
        }
    }

    /// The reconstructed variables: all components, or those that are primitive or have no flux, and the entries of
    /// primitive `let`s.
    fn variables(&self, expander: &mut Expander<'_>) -> Result<Vec<Variable>> {
        let primitives = self.primitives();
        let mut all = Vec::new();
        for (component, name) in self.components.fields.iter().enumerate() {
            if !primitives.is_some_and(|primitives| self.follows(primitives, component)) {
                all.push(Variable {
                    name: name.clone(),
                    own: self.centred(expander, component)?,
                    place: Place::Component(component),
                });
            }
        }
        for variable in primitives.into_iter().flat_map(|p| &p.variables) {
            let TermKind::Let(at) = variable.kind else {
                continue;
            };
            let base = name_of(self.model, variable);
            let suffixes = suffixes(variable.rank, self.model.components);
            for (entry, suffix) in expander.term(variable)?.into_iter().zip(suffixes) {
                let name = format!("{base}{suffix}");
                all.push(Variable {
                    own: expander.atoms.name(&name, entry),
                    name,
                    place: Place::Let(at),
                });
            }
        }
        Ok(all)
    }

    /// Does a component follow from these variables?
    pub(super) fn follows(&self, primitives: &Primitives, component: usize) -> bool {
        let own = |field| self.components_of(field).map(|(_, component)| component);
        let mut all = primitives.conserved.iter().flat_map(|f| own(f.field));
        all.any(|other| other == component)
    }

    /// The entries of a field that are components of their own, each with its number.
    pub(super) fn components_of(&self, field: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let entries = self.components.of_field(field);
        let independent = self.components.independent(field).iter();
        independent.filter_map(|at| Some((*at, entries[*at]?.0)))
    }

    /// Adds the conserved fields that follow from the primitives.
    pub(super) fn follow(
        &self,
        expander: &mut Expander<'_>,
        primitives: &Primitives,
        states: &mut States,
        label: &str,
    ) -> Result<()> {
        let values: Result<Vec<Tensor>> = expander.in_states(states, label, |expander| {
            let conserved = primitives.conserved.iter();
            Ok(conserved.map(|followed| expander.term(&followed.value)).collect())
        })?;
        for (followed, value) in primitives.conserved.iter().zip(values?) {
            expander.check_symmetry(followed.field, &value, followed.span)?;
            for (at, component) in self.components_of(followed.field) {
                let name = format!("{}_{label}", self.components.fields[component]);
                states.components[component] = expander.atoms.name(&name, value[at].clone());
            }
        }
        Ok(())
    }
}

/// The faces of a cell that is below a face and of one that is above it.
pub(super) const LABELS: [&str; 2] = ["upper", "lower"];
