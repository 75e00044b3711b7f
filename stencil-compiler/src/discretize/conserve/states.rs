//! States on both sides of faces: of the conserved fields, or of primitive variables, from which the
//! conserved ones follow.

use super::algebra::Algebra;
use super::reconstruct::Cell;
use super::{AXES, Law};
use crate::discretize::check_symmetry;
use crate::discretize::components::suffixes;
use crate::discretize::expand::{Expander, Result, States, Tensor, name_of};
use crate::discretize::poly::Poly;
use crate::model::{Primitives, TermKind, Variables};

/// Where a reconstructed value belongs.
enum Place {
    Component(usize),
    Let(usize),
}

/// What is reconstructed: its name and its values in cells.
struct Variable {
    name: String,
    own: Poly,
    place: Place,
}

impl Law<'_> {
    /// The states of a cell at its upper face, and those at its lower one.
    pub(super) fn at_faces(&self, expander: &mut Expander<'_>, axis: usize) -> Result<[States; 2]> {
        let components = vec![Poly::default(); self.components.fields.len()];
        let mut sides = ["upper", "lower"].map(|_| States {
            components: components.clone(),
            ..States::default()
        });
        for variable in self.variables(expander)? {
            let name = format!("{}_{}", variable.name, AXES[axis]);
            let span = self.model.fluxes[0].span;
            let mut cell = Cell {
                algebra: Algebra { expander, span },
                own: &variable.own,
                axis,
                name: &name,
                limiter: self.limiter,
                theta: self.model.scheme.theta,
            };
            let [lower, upper] = (self.reconstruction.faces)(&mut cell)?;
            for ((states, label), value) in sides.iter_mut().zip(LABELS).zip([upper, lower]) {
                let value = cell.algebra.named(&format!("{name}_{label}"), value);
                match variable.place {
                    Place::Component(component) => states.components[component] = value,
                    Place::Let(at) => states.lets.entry(at).or_default().push(value),
                }
            }
        }
        if let Some(primitives) = self.primitives() {
            for (states, label) in sides.iter_mut().zip(LABELS) {
                let label = format!("{}_{label}", AXES[axis]);
                self.follow(expander, primitives, states, &label)?;
            }
        }
        Ok(sides)
    }

    /// The primitives, where the scheme reconstructs them.
    fn primitives(&self) -> Option<&Primitives> {
        match self.model.scheme.variables {
            Variables::Conserved => None,
            Variables::Primitive => self.model.primitives.as_ref(),
        }
    }

    /// What is reconstructed: all components, or those that are primitive or do not flow, and the entries of
    /// primitive `let`s.
    fn variables(&self, expander: &mut Expander<'_>) -> Result<Vec<Variable>> {
        let primitives = self.primitives();
        let follows = |component: usize| {
            let mut conserved = primitives.into_iter().flat_map(|p| &p.conserved);
            conserved.any(|followed| {
                self.components_of(followed.field)
                    .any(|(_, c)| c == component)
            })
        };
        let mut all = Vec::new();
        for (component, name) in self.components.fields.iter().enumerate() {
            if !follows(component) {
                all.push(Variable {
                    name: name.clone(),
                    own: expander.atoms.state(component),
                    place: Place::Component(component),
                });
            }
        }
        for variable in primitives.into_iter().flat_map(|p| &p.variables) {
            let TermKind::Let(at) = variable.kind else {
                continue;
            };
            let base = name_of(self.model, variable);
            let suffixes = suffixes(variable.rank, self.model.dimension);
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

    /// The entries of a field that are components of their own, each with its number.
    fn components_of(&self, field: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
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
            Ok(conserved
                .map(|followed| expander.term(&followed.value))
                .collect())
        })?;
        for (followed, value) in primitives.conserved.iter().zip(values?) {
            check_symmetry(self.model, followed.field, &value, followed.span)?;
            for (at, component) in self.components_of(followed.field) {
                let name = format!("{}_{label}", self.components.fields[component]);
                states.components[component] = expander.atoms.name(&name, value[at].clone());
            }
        }
        Ok(())
    }
}

/// The faces of a cell that is below a face and of one that is above it.
const LABELS: [&str; 2] = ["upper", "lower"];
