//! Divergences of fields on faces that stay zero: in the divergence of the new values all fluxes cancel, one by one.
//!
//! The new value of a component is a sum of grid functions with uniform factors, as far as it is linear. In the divergence
//! of the new values, each of these stands with factors that add up to zero, but for the divergence of values from before.
//! The factors are numbers here: spacings and the step are different powers of two, so that products with them are exact.

use std::collections::BTreeMap;

use super::{Access, Algorithm, Atom, Def, FnId, Offset, StateId, SumTerm};
use crate::catalogue::centering::Halves;
use crate::catalogue::operators::staggered;
use crate::expr::real::Precision;
use crate::expr::{Expr, Node, Op, to_f64};

/// Spacings and the time step.
const SPACINGS: [f64; 3] = [0.5, 0.0625, 0.001_953_125];
const STEP: f64 = 0.000_122_070_312_5;

/// The rest of factors of order one that is rounding.
const ROUNDING: f64 = 1e-13;

/// Grid functions at offsets with factors.
type Form = BTreeMap<Access, f64>;

/// A vector on faces, or an accumulator of one: its name and its components along the axes.
pub(super) struct OnFaces {
    pub(super) name: String,
    pub(super) components: Vec<StateId>,
}

impl Algorithm {
    /// Returns the fields on faces whose divergence stays zero where it is: by differences of this order, whatever the values
    /// are, and up to rounding. Names are those of the fields.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse::parse_str;
    ///
    /// let light = "system Light in 3d { edge field e: vector; face field b: vector;
    ///     ddt(e) = curl(b); ddt(b) = -curl(e) + RATE; }";
    /// let kept = |rate: &str| {
    ///     let model = parse_str(&light.replace("+ RATE", rate)).unwrap();
    ///     let algorithm = discretize(&model).unwrap();
    ///     algorithm.kept_divergences(model.scheme.order)
    /// };
    /// assert_eq!(kept(""), ["b"]);
    /// assert_eq!(kept("- curl(2*e)"), ["b"]);
    /// assert!(kept("+ 1e-9*to_faces(to_cells(b))").is_empty());
    /// ```
    pub fn kept_divergences(&self, order: u32) -> Vec<String> {
        let all = self.on_faces();
        let params: Vec<f64> = (0..self.params.len()).map(|i| 1.0 + 0.37 * i as f64).collect();
        let uniforms = self.uniform_values(Precision::F64, &params, SPACINGS, (STEP, 0.0));
        let keeps = |field: &&OnFaces| {
            let own = |other: &&OnFaces| {
                other.name == field.name || other.name.starts_with(&format!("{}_", field.name))
            };
            let own: Vec<&OnFaces> = all.iter().filter(own).collect();
            (0..self.substeps.len()).all(|substep| {
                let form = self.divergence_of_new(field, substep, order, &uniforms);
                form.is_some_and(|form| self.is_of_divergences(form, &own, order))
            })
        };
        let is_field = |of: &&OnFaces| {
            let first = of.components.first();
            first.is_some_and(|state| self.state(*state).role == super::Role::Field)
        };
        let kept = all.iter().filter(is_field).filter(keeps);
        kept.map(|field| field.name.clone()).collect()
    }

    /// Vectors on faces, fields and accumulators.
    pub(super) fn on_faces(&self) -> Vec<OnFaces> {
        const AXES: [&str; 3] = ["x", "y", "z"];
        let along = |axis: usize| -> Halves { std::array::from_fn(|other| other == axis) };
        let mut all = Vec::new();
        for (at, state) in self.states.iter().enumerate() {
            // `b_x`, `b_x_acc`
            let named = |axis: usize| {
                let (before, after) = state.name.rsplit_once("_x")?;
                Some(format!("{before}_{}{after}", AXES[axis]))
            };
            if state.halves != along(0) {
                continue;
            }
            let mut components = vec![StateId(at as u32)];
            for axis in 1..self.dimension {
                let other = named(axis).and_then(|name| self.find_state(&name));
                let other = other.filter(|other| self.state(*other).halves == along(axis));
                components.extend(other);
            }
            if components.len() == self.dimension
                && let Some((before, after)) = state.name.rsplit_once("_x")
            {
                all.push(OnFaces { name: format!("{before}{after}"), components });
            }
        }
        all
    }

    /// The divergence of the values of a field after a substep; `None` if one of its components does not change.
    fn divergence_of_new(
        &self,
        field: &OnFaces,
        substep: usize,
        order: u32,
        uniforms: &[f64],
    ) -> Option<Form> {
        let mut sum = Form::new();
        for (axis, state) in field.components.iter().enumerate() {
            let updates = &self.substeps.get(substep)?.updates;
            let new = updates.iter().find(|(of, _)| of == state).map(|(_, new)| *new)?;
            for (offset, weight) in weights(order, axis) {
                add(&mut sum, weight, &self.linear(new, offset, uniforms));
            }
        }
        Some(sum)
    }

    /// Are these divergences of fields and accumulators, and nothing else?
    fn is_of_divergences(&self, mut form: Form, all: &[&OnFaces], order: u32) -> bool {
        let largest = form.values().fold(0.0_f64, |largest, factor| largest.max(factor.abs()));
        for of in all {
            let function = |state: StateId| {
                let is_it = |def: &Def| *def == Def::State(state);
                self.functions.iter().position(|f| is_it(&f.def)).map(|at| FnId(at as u32))
            };
            let mut divergence = Form::new();
            for (axis, state) in of.components.iter().enumerate() {
                let Some(of) = function(*state) else { continue };
                let points = weights(order, axis).into_iter();
                divergence.extend(points.map(|(at, weight)| (Access { of, at }, weight)));
            }
            let first = divergence.iter().next();
            let share = first.and_then(|(access, weight)| Some(form.get(access)? / weight));
            add(&mut form, -share.unwrap_or(0.0), &divergence);
        }
        form.values().all(|factor| factor.abs() <= ROUNDING * largest)
    }

    /// A grid function at an offset as a sum of others that are not linear, and of state variables.
    fn linear(&self, root: FnId, at: Offset, uniforms: &[f64]) -> Form {
        let mut form = Form::from([(Access { of: root, at }, 1.0)]);
        let mut leaves = Form::new();
        // Functions read earlier ones only.
        while let Some((access, factor)) = form.pop_last() {
            let made = match &self.function(access.of).def {
                Def::State(_) => None,
                Def::Sum(terms) => Some(of_terms(terms, uniforms)),
                Def::Point(expr) => of_expression(expr, uniforms),
            };
            match made {
                Some(made) => {
                    let moved = made.into_iter().map(|(read, by)| {
                        let at = std::array::from_fn(|axis| read.at[axis] + access.at[axis]);
                        (Access { at, ..read }, by)
                    });
                    add(&mut form, factor, &moved.collect());
                }
                None => add(&mut leaves, factor, &Form::from([(access, 1.0)])),
            }
        }
        leaves
    }
}

/// The points and weights of the difference across a cell of values on faces along an axis.
fn weights(order: u32, axis: usize) -> Vec<(Offset, f64)> {
    let stencil = (staggered::ACROSS.stencil)(order, &[axis]);
    stencil.into_iter().map(|(at, weight)| (at, to_f64(weight) / SPACINGS[axis])).collect()
}

fn add(to: &mut Form, factor: f64, more: &Form) {
    for (access, value) in more {
        *to.entry(*access).or_insert(0.0) += factor * value;
    }
}

fn of_terms(terms: &[SumTerm], uniforms: &[f64]) -> Form {
    let mut form = Form::new();
    for term in terms {
        let size = term.factor.map_or(1.0, |of| uniforms[of.0 as usize]);
        let factor = if term.negative { -size } else { size };
        add(&mut form, factor, &Form::from([(term.value, 1.0)]));
    }
    form
}

/// A number, or a sum of grid functions.
#[derive(Clone)]
enum Linear {
    Number(f64),
    Form(Form),
}

/// The value of an expression as a sum, without a number of its own; `None` if it is no sum.
fn of_expression(expr: &Expr<Atom>, uniforms: &[f64]) -> Option<Form> {
    let mut values: Vec<Linear> = Vec::with_capacity(expr.nodes.len());
    for node in &expr.nodes {
        let value = match node {
            Node::Lit(value) => Linear::Number(value.value()),
            Node::Atom(Atom::Uniform(of)) => Linear::Number(uniforms[of.0 as usize]),
            Node::Atom(Atom::Access(access)) => Linear::Form(Form::from([(*access, 1.0)])),
            Node::Op(op, args) => {
                let args: Vec<Linear> = args.iter().map(|a| values[a.0 as usize].clone()).collect();
                of_operation(*op, &args)?
            }
        };
        values.push(value);
    }
    match values.into_iter().nth(expr.result().0 as usize)? {
        Linear::Form(form) => Some(form),
        Linear::Number(_) => None,
    }
}

fn of_operation(op: Op, args: &[Linear]) -> Option<Linear> {
    use Linear::{Form as Sum, Number};
    let scaled = |by: f64, form: &Form| {
        Sum(form.iter().map(|(access, factor)| (*access, by * factor)).collect())
    };
    let plus = |sign: f64, a: &Linear, b: &Linear| match (a, b) {
        (Sum(a), Sum(b)) => {
            let mut sum = a.clone();
            add(&mut sum, sign, b);
            Some(Sum(sum))
        }
        (Number(a), Number(b)) => Some(Number(a + sign * b)),
        _ => None,
    };
    let times = |a: &Linear, b: &Linear| match (a, b) {
        (Number(by), Sum(form)) | (Sum(form), Number(by)) => Some(scaled(*by, form)),
        (Number(a), Number(b)) => Some(Number(a * b)),
        (Sum(_), Sum(_)) => None,
    };
    match (op, args) {
        (Op::Neg, [a]) => times(&Number(-1.0), a),
        (Op::Add, [a, b]) => plus(1.0, a, b),
        (Op::Sub, [a, b]) => plus(-1.0, a, b),
        (Op::Mul, [a, b]) => times(a, b),
        (Op::Div, [a, Number(b)]) => times(&Number(1.0 / b), a),
        (Op::Fma, [a, b, c]) => plus(1.0, &times(a, b)?, c),
        _ => None,
    }
}
