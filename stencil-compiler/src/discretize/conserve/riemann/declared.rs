//! The result of a declared solver at a face: the state there, of which the fluxes follow, or the fluxes.

use super::{Face, Method, rows};
use crate::discretize::conserve::{AXES, Law};
use crate::discretize::expand::{Expander, GivenAt, Result, Sides, States, Tensor};
use crate::discretize::poly::Poly;
use crate::model::{Gives, RiemannSolver, TermKind};

pub(super) const METHOD: Method = Method { row: &rows::DECLARED, flux, fan: None };

fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let (law, axis) = (face.law, face.axis);
    let sides = law.sides(face.algebra.expander, axis)?;
    let fluxes = law.declared(face.algebra.expander, sides)?;
    let named = fluxes.into_iter().enumerate();
    Ok(named.map(|(at, flux)| face.named(at, flux)).collect())
}

impl Law<'_> {
    /// The arguments of a solver: the states that the cells have at their common face, or the star states if given
    /// fields jump.
    fn sides(&self, expander: &mut Expander<'_>, axis: usize) -> Result<Sides> {
        let own = self.at_faces(expander, axis)?;
        let (states, words, ahead) = match &self.model.at_face {
            None => (own, ["upper", "lower"], 1),
            Some(at_face) => {
                let own = self.seen_from_below(expander, own, axis);
                let stars = self.star_states(expander, at_face, own, axis)?;
                (stars, ["below", "above"], 0)
            }
        };
        let labels = words.map(|word| format!("{}_{word}", AXES[axis]));
        let ([below, above], [of_below, of_above]) = (states, labels);
        Ok(Sides { axis, states: [(below, of_below), (above, of_above)], ahead })
    }

    /// The flux of each conserved component between two states, by the solver that the system declares.
    pub(super) fn declared(&self, expander: &mut Expander<'_>, sides: Sides) -> Result<Vec<Poly>> {
        // The check of the scheme asks for it.
        let Some(solver) = self.model.declared_solver(&self.model.scheme) else {
            return Ok(Vec::new());
        };
        let (axis, lines) = (sides.axis, solver.values.iter());
        let label = format!("{}_face", AXES[axis]);
        let values: Vec<Tensor> = expander.between(sides, &label, |expander| {
            lines.map(|line| expander.term(&line.value)).collect()
        })?;
        match solver.gives {
            Gives::State => self.of_state(expander, axis, solver, values),
            Gives::Fluxes => Ok(self.in_order(solver, &values)),
        }
    }

    /// The fluxes of the state at a face.
    fn of_state(
        &self,
        expander: &mut Expander<'_>,
        axis: usize,
        solver: &RiemannSolver,
        values: Vec<Tensor>,
    ) -> Result<Vec<Poly>> {
        let label = format!("{}_face", AXES[axis]);
        let mut states = States {
            components: vec![Poly::default(); self.components.fields.len()],
            given_at: GivenAt::upper_face(axis, 0),
            ..States::default()
        };
        for (line, value) in solver.values.iter().zip(values) {
            match line.of.kind {
                TermKind::Field(field) => {
                    expander.check_symmetry(field, &value, line.span)?;
                    for (at, component) in self.components_of(field) {
                        let name = format!("{}_{label}", self.components.fields[component]);
                        states.components[component] =
                            expander.atoms.name(&name, value[at].clone());
                    }
                }
                TermKind::Let(at) => {
                    let named = expander.name_let(&self.model.lets[at], &label, value);
                    states.lets.insert(at, named);
                }
                _ => {}
            }
        }
        if let Some(primitives) = &self.model.primitives
            && solver.gives_primitives(self.model)
        {
            self.follow(expander, primitives, &mut states, &label)?;
        }
        self.fluxes(expander, &states, axis, &label)
    }

    /// Fluxes as the solver gives them, component by component.
    fn in_order(&self, solver: &RiemannSolver, values: &[Tensor]) -> Vec<Poly> {
        let mut all = Vec::new();
        for flux in &self.model.fluxes {
            let of = TermKind::Field(flux.field);
            let line = solver.values.iter().position(|line| line.of.kind == of);
            let Some(value) = line.and_then(|at| values.get(at)) else {
                continue;
            };
            let own = self.components_of(flux.field);
            all.extend(own.filter_map(|(at, _)| value.get(at).cloned()));
        }
        all
    }
}
