//! What a solver of the system gives at a face: the state there, of which the fluxes follow, or the fluxes.

use super::{Face, Needs, Solver};
use crate::discretize::conserve::AXES;
use crate::discretize::expand::{Result, Sides, States, Tensor};
use crate::discretize::poly::Poly;
use crate::model::{Gives, RiemannSolver, TermKind};

/// What stands for each solver of the system.
pub(super) const SOLVER: Solver = Solver {
    name: "declared",
    source: "declared by the system",
    needs: Needs::Nothing,
    parameter: None,
    flux,
};

fn flux(face: &mut Face<'_, '_, '_>) -> Result<Vec<Poly>> {
    let model = face.law.model;
    // The check of the scheme asks for it.
    let Some(solver) = model.declared_solver(&model.scheme) else {
        return Ok(Vec::new());
    };
    let values = values(face, solver)?;
    let fluxes = match solver.gives {
        Gives::State => of_state(face, solver, values)?,
        Gives::Fluxes => {
            let law = face.law;
            let in_order = law.model.fluxes.iter().flat_map(|flux| {
                let of = TermKind::Field(flux.field);
                let own = solver.values.iter().position(|line| line.of.kind == of);
                let entries = own.and_then(|at| values.get(at));
                let own = law.components_of(flux.field).map(|(at, _)| at);
                own.filter_map(move |at| Some(entries?.get(at)?.clone()))
            });
            in_order.collect()
        }
    };
    let named = fluxes.into_iter().enumerate();
    Ok(named.map(|(at, flux)| face.named(at, flux)).collect())
}

/// What the solver gives, line by line.
fn values(face: &mut Face<'_, '_, '_>, solver: &RiemannSolver) -> Result<Vec<Tensor>> {
    let (axis, expander) = (face.axis, &mut *face.algebra.expander);
    let [below, above] = face.law.at_faces(expander, axis)?;
    let along = AXES[axis];
    let sides = Sides {
        axis,
        states: [
            (below, format!("{along}_upper")),
            (above, format!("{along}_lower")),
        ],
    };
    expander.between(sides, &format!("{along}_face"), |expander| {
        let lines = solver.values.iter();
        lines.map(|line| expander.term(&line.value)).collect()
    })
}

/// The fluxes of the state at the face.
fn of_state(
    face: &mut Face<'_, '_, '_>,
    solver: &RiemannSolver,
    values: Vec<Tensor>,
) -> Result<Vec<Poly>> {
    let (law, axis) = (face.law, face.axis);
    let label = format!("{}_face", AXES[axis]);
    let expander = &mut *face.algebra.expander;
    let mut states = States {
        components: vec![Poly::default(); law.components.fields.len()],
        ..States::default()
    };
    for (line, value) in solver.values.iter().zip(values) {
        match line.of.kind {
            TermKind::Field(field) => {
                for (at, component) in law.components_of(field) {
                    let name = format!("{}_{label}", law.components.fields[component]);
                    states.components[component] = expander.atoms.name(&name, value[at].clone());
                }
            }
            TermKind::Let(at) => {
                let name = format!("{}_{label}", law.model.lets[at].name);
                let entries = value.into_iter();
                let entries = entries.map(|entry| expander.atoms.name(&name, entry));
                states.lets.insert(at, entries.collect());
            }
            _ => {}
        }
    }
    if let Some(primitives) = &law.model.primitives
        && solver.gives_primitives(law.model)
    {
        law.follow(expander, primitives, &mut states, &label)?;
    }
    law.fluxes(expander, &states, axis, &label)
}
