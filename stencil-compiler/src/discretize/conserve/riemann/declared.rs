//! The result of a declared solver at a face: the state there, of which the fluxes follow, or the fluxes.

use std::collections::BTreeMap;

use super::{Face, Method, rows};
use crate::discretize::conserve::algebra::Algebra;
use crate::discretize::conserve::{AXES, Law};
use crate::discretize::expand::{Expander, GivenAt, Result, Sides, States, Tensor};
use crate::discretize::poly::Poly;
use crate::model::{Gives, RiemannSolver, Solved, TermKind};

pub(super) const METHOD: Method = Method { row: &rows::DECLARED, flux, fan: None };

fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let (law, axis) = (face.law, face.axis);
    let sides = law.sides(face.algebra.expander, axis)?;
    let fluxes = law.declared(face.algebra.expander, sides)?;
    let named = fluxes.into_iter().enumerate();
    Ok(named.map(|(at, flux)| face.named(at, flux)).collect())
}

impl Law<'_> {
    /// The arguments of a declared solver: the states that the cells have at their common face, or the star states if given
    /// fields jump.
    pub(super) fn sides(&self, expander: &mut Expander<'_>, axis: usize) -> Result<Sides> {
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
        Ok(Sides::new(axis, [(below, of_below), (above, of_above)], ahead))
    }

    /// The arguments of a declared solver with the rises of fluxes, if it asks for them.
    pub(super) fn with_rises(
        &self,
        expander: &mut Expander<'_>,
        solver: &RiemannSolver,
        mut sides: Sides,
    ) -> Result<Sides> {
        if !solver.asks_for_rises() {
            return Ok(sides);
        }
        let (axis, ahead) = (sides.axis, sides.ahead);
        let [(below, of_below), (above, of_above)] = &sides.states;
        let low = self.fluxes(expander, below, axis, of_below)?;
        let high = self.fluxes(expander, above, axis, of_above)?;
        let mut seen = |poly: &Poly| expander.atoms.at(poly, axis, ahead);
        let high: Vec<Poly> = high.iter().map(&mut seen).collect();
        let components = above.components.iter().map(&mut seen).collect();
        let above = States { components, ..States::default() };
        let of = &mut Algebra { expander, span: solver.span };
        let integrals =
            self.integrals(of, [below, &above], axis, &format!("{}_path", AXES[axis]))?;
        let mut rises = BTreeMap::new();
        for (((low, high), integral), component) in
            low.iter().zip(&high).zip(&integrals).zip(self.components_conserved())
        {
            let jump = of.minus(high, low)?;
            let rise = of.plus(&jump, integral)?;
            let name = format!("{}_{}_rise", self.components.fields[component], AXES[axis]);
            rises.insert(component, of.named(name, rise));
        }
        for flux in &self.model.fluxes {
            let entries = self.components.of_field(flux.field).iter();
            let values = entries.map(|entry| match entry {
                None => Poly::default(),
                Some((component, negative)) => {
                    let rise = rises.get(component).cloned().unwrap_or_default();
                    if *negative { rise.negated() } else { rise }
                }
            });
            sides.rises.insert(flux.field, values.collect());
        }
        Ok(sides)
    }

    /// The flux of each conserved component between two states, by the solver that the system declares.
    pub(super) fn declared(&self, expander: &mut Expander<'_>, sides: Sides) -> Result<Vec<Poly>> {
        // The check of the scheme asks for it.
        let Some(solver) = self.model.declared_solver(&self.model.scheme) else {
            return Ok(Vec::new());
        };
        let sides = self.with_rises(expander, solver, sides)?;
        let (axis, lines) = (sides.axis, solver.values.iter());
        let label = format!("{}_face", AXES[axis]);
        let values: Vec<Tensor> = expander.between(sides, &label, |expander| {
            lines.map(|line| expander.term(&line.value)).collect()
        })?;
        match solver.gives {
            Gives::State => self.of_state(expander, axis, solver, values),
            // The waves have a method of their own.
            Gives::Fluxes | Gives::Waves | Gives::FluxWaves => {
                Ok(self.in_order(&solver.values, &values))
            }
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

    /// The values of some lines in the order of the conserved components; zero for those that have no line.
    pub(super) fn in_order(&self, lines: &[Solved], values: &[Tensor]) -> Vec<Poly> {
        let mut all = Vec::new();
        for flux in &self.model.fluxes {
            let of = TermKind::Field(flux.field);
            let line = lines.iter().position(|line| line.of.kind == of);
            let value = line.and_then(|at| values.get(at));
            let own = self.components_of(flux.field);
            all.extend(
                own.map(|(at, _)| value.and_then(|v| v.get(at)).cloned().unwrap_or_default()),
            );
        }
        all
    }
}
