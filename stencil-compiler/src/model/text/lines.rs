//! Parts of a declaration as lines, for readers of it as well as for the text of the whole.

use super::{expression, name};
use crate::model::riemann::{Solved, within_text, words};
use crate::model::{AtFace, Equation, Let, Model, Primitives, Repeated, RiemannSolver, Term};

/// The names and values of all `let`s, to be read: of a loop that ends by a test the first iteration, and its result as the value
/// behind that, within so many iterations.
pub fn lets(model: &Model) -> Vec<(&str, String)> {
    let loops: Vec<(usize, Repeated)> =
        (0..model.lets.len()).filter_map(|at| Some((at, model.repeated(at)?))).collect();
    let is_further = |at: usize| loops.iter().any(|(_, of)| of.further.contains(&at));
    let text = |(at, item): (usize, &'_ Let)| {
        let of = loops.iter().find(|(result, _)| *result == at);
        let value = expression(model, of.map_or(&item.value, |(_, of)| &of.once));
        format!("{value}{}", within_text(item.within.as_ref().filter(|_| of.is_some())))
    };
    let all = model.lets.iter().enumerate().filter(|(at, _)| !is_further(*at));
    all.map(|(at, item)| (item.name.as_str(), text((at, item)))).collect()
}

/// The declarations of a field's rate, as the left and the right side of each item: its flux and its product, if it has them,
/// and its equation, unless there is nothing else.
pub fn rates<'a>(
    model: &'a Model,
    equation: &'a Equation,
) -> impl Iterator<Item = (String, String)> + 'a {
    let field = name(model.fields.get(equation.field).map(|f| &f.name));
    let flux = model.flux_of(equation.field);
    let only = model.only_flows(equation);
    let flux = flux.map(|flux| (format!("flux {field} -> "), expression(model, &flux.value)));
    let rest = (!only).then(|| (format!("ddt({field}) = "), expression(model, &equation.rhs)));
    let product = model
        .product_of(equation.field)
        .map(|product| (format!("product {field} -> "), expression(model, &product.value)));
    flux.into_iter().chain(product).chain(rest)
}

/// The lines of a block of variables, without their semicolons.
pub fn variable_lines<'a>(
    model: &'a Model,
    primitives: &'a Primitives,
    weights: &'a [Option<Term>],
) -> impl Iterator<Item = String> + 'a {
    let variables = primitives.variables.iter();
    let followed = primitives.conserved.iter().map(|followed| {
        let field = name(model.fields.get(followed.field).map(|f| &f.name));
        format!("{field} = {}", expression(model, &followed.value))
    });
    let variables = variables.enumerate().map(|(at, variable)| {
        let weight = weights.get(at).and_then(Option::as_ref);
        let weight = weight.map_or(String::new(), |w| format!(" by {}", expression(model, w)));
        format!("{}{weight}", expression(model, variable))
    });
    variables.chain(followed)
}

/// The lines of a `face` block, without their semicolons.
pub fn face_lines<'a>(model: &'a Model, at_face: &'a AtFace) -> impl Iterator<Item = String> + 'a {
    let fields = at_face.fields.iter().map(|(field, by)| {
        let field = name(model.fields.get(*field).map(|f| &f.name));
        format!("{field} by {}", by.name())
    });
    let recomputed = at_face.recomputed.iter();
    fields.chain(recomputed.map(|(variable, value)| {
        let variable = expression(model, variable);
        format!("{variable} = {}", expression(model, value))
    }))
}

/// The lines of a Riemann solver, without their semicolons.
pub fn solver_lines(model: &Model, solver: &RiemannSolver) -> Vec<String> {
    let model = &model.with_lets_of(solver);
    let named = solver.lets.iter().map(|item| {
        let value = expression(model, &item.value);
        format!("let {} = {value}{}", item.name, within_text(item.within.as_ref()))
    });
    let [before, between] = words(solver.gives);
    let solved = |line: &Solved| {
        let (of, value) = (expression(model, &line.of), expression(model, &line.value));
        format!("{before}{of}{between}{value}")
    };
    let waves = solver.waves.iter().map(|wave| {
        let (strength, speed) = (expression(model, &wave.strength), expression(model, &wave.speed));
        let spread = wave.spread.as_ref();
        let spread =
            spread.map_or(String::new(), |of| format!(" spread {}", expression(model, of)));
        let vector: Vec<String> = wave.vector.iter().map(solved).collect();
        format!("wave {strength} at {speed}{spread} {{ {} }}", vector.join("; "))
    });
    named.chain(solver.values.iter().map(solved)).chain(waves).collect()
}
