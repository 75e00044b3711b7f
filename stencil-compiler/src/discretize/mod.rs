//! `Model` to `Algorithm`: operators become stencils, equations become ordered sums, substeps get
//! their updates. All rewriting for fewer operations happens here, and nowhere later.

use std::fmt;

use crate::algorithm::{
    Access, Algorithm, Atom, Def, FnId, NEW, Param, Role, State, StateId, Substep,
};
use crate::diag::Span;
use crate::expr::{Builder, Op};
use crate::model::{Model, Rank, Rational};

mod assemble;
mod atoms;
mod build;
mod collect;
mod expand;
pub mod integrators;
pub mod operators;
mod poly;
pub mod weights;

use assemble::Assembler;
use build::Functions;
use expand::{Expander, components, to_f64};
use integrators::Tableau;
use poly::{Poly, Uniform, UniformFactor};

/// Why a model cannot be discretized, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscretizeError {
    /// Where in the user's text.
    pub span: Span,
    /// What is wrong and the way out.
    pub message: String,
}

impl DiscretizeError {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        DiscretizeError {
            span,
            message: message.into(),
        }
    }
}

impl fmt::Display for DiscretizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DiscretizeError {}

/// Discretizes a checked model.
///
/// # Errors
/// Where the scheme names an unknown integrator, component names clash, or exact coefficients
/// leave the range of 128-bit rationals.
pub fn discretize(model: &Model) -> Result<Algorithm, DiscretizeError> {
    let tableau = tableau(model)?;
    let names = component_names(model)?;
    let mut expander = Expander::new(model)?;
    let mut equations = Vec::new();
    for equation in &model.equations {
        let parts = expander.term(&equation.rhs)?;
        equations.extend(parts.into_iter().map(|part| (part, equation.span)));
    }
    let arrays = names.iter().map(|n| format!("{n}{NEW}"));
    let reserved = model.params.iter().map(|p| p.name.clone()).chain(arrays);
    let opaque = expander.atoms.opaque.clone();
    let mut functions = Functions::new(model.dimension - 1, opaque, reserved);
    let mut states = Vec::new();
    let fields = declare(&mut functions, &mut states, &names, Role::Field);
    let accumulators = match tableau.len() {
        1 => Vec::new(),
        _ => declare(&mut functions, &mut states, &names, Role::Accumulator),
    };
    let order = model.scheme.order;
    let assembler = Assembler::new(&mut expander.atoms, functions, fields.clone(), order);
    let (mut functions, rhs) = right_hand_sides(assembler, equations, &names)?;
    let substeps = two_n(
        &mut functions,
        &tableau,
        &fields,
        &accumulators,
        &rhs,
        &names,
    );
    let param = |p: &crate::model::Param| Param {
        name: p.name.clone(),
        default: p.default.map(to_f64),
    };
    Ok(prune(Algorithm {
        name: model.name.clone(),
        dimension: model.dimension,
        scheme: describe(model),
        params: model.params.iter().map(param).collect(),
        states,
        uniforms: functions.uniforms,
        functions: functions.functions,
        substeps,
    }))
}

/// The coefficients of the scheme's integrator.
fn tableau(model: &Model) -> Result<Vec<(Rational, Rational)>, DiscretizeError> {
    let name = &model.scheme.time;
    let Some(integrator) = integrators::find(name) else {
        let known: Vec<&str> = integrators::ALL.iter().map(|i| i.name).collect();
        let message = format!("no integrator `{name}`; there are {}", known.join(", "));
        return Err(DiscretizeError::new(Span::default(), message));
    };
    let Tableau::TwoN(tableau) = (integrator.tableau)();
    Ok(tableau)
}

/// The grid functions of all right-hand sides, collected together so that they share factors.
fn right_hand_sides(
    mut assembler: Assembler<'_>,
    equations: Vec<(Poly, Span)>,
    names: &[String],
) -> Result<(Functions, Vec<FnId>), DiscretizeError> {
    let names: Vec<String> = names.iter().map(|n| format!("ddt_{n}")).collect();
    let (mut polys, spans): (Vec<Poly>, Vec<Span>) = equations.into_iter().unzip();
    let split = assembler.prepare(&mut polys, &names);
    let split = split.map_err(expand::overflow(Span::default()))?;
    let mut rhs = Vec::new();
    for (i, (linear, pointwise)) in split.iter().enumerate() {
        assembler.functions.span = spans[i];
        let made = assembler.define(&names[i], linear, pointwise);
        rhs.push(made.map_err(expand::overflow(spans[i]))?);
    }
    assembler.functions.span = Span::default();
    Ok((assembler.functions, rhs))
}

/// The scheme in words.
fn describe(model: &Model) -> String {
    format!(
        "{}: central order {}, mixed {}, time {}",
        model.scheme.name,
        model.scheme.order,
        model.scheme.mixed.name(),
        model.scheme.time
    )
}

/// Suffixes of the arrays that stand beside a field.
const GENERATED: [&str; 2] = ["_acc", NEW];

/// Names of the components of all fields: `lnrho`, `u_x`, `t_xy`.
pub fn component_names(model: &Model) -> Result<Vec<String>, DiscretizeError> {
    let axes = &["x", "y", "z"][..model.dimension];
    let mut names: Vec<String> = Vec::new();
    for field in &model.fields {
        let suffixes: Vec<String> = match field.rank {
            Rank::Scalar => vec![String::new()],
            Rank::Vector => axes.iter().map(|a| format!("_{a}")).collect(),
            Rank::Tensor => axes
                .iter()
                .flat_map(|a| axes.iter().map(move |b| format!("_{a}{b}")))
                .collect(),
        };
        debug_assert_eq!(suffixes.len(), components(field.rank, model.dimension));
        for suffix in suffixes {
            let name = format!("{}{suffix}", field.name);
            if names.contains(&name) {
                let message = format!(
                    "the component `{name}` of `{}` has the name of another field; rename one",
                    field.name
                );
                return Err(DiscretizeError::new(field.span, message));
            }
            names.push(name);
        }
    }
    for field in &model.fields {
        let made = |name: &&String| {
            GENERATED
                .iter()
                .any(|suffix| names.iter().any(|n| **name == format!("{n}{suffix}")))
        };
        if let Some(name) = names
            .iter()
            .filter(|n| n.starts_with(&field.name))
            .find(made)
        {
            let message = format!(
                "`{name}` is the name of an array that another field's integration needs; rename `{}`",
                field.name
            );
            return Err(DiscretizeError::new(field.span, message));
        }
    }
    Ok(names)
}

fn declare(
    functions: &mut Functions,
    states: &mut Vec<State>,
    names: &[String],
    role: Role,
) -> Vec<FnId> {
    let suffix = if role == Role::Accumulator {
        "_acc"
    } else {
        ""
    };
    let mut add = |name: &String| {
        let name = format!("{name}{suffix}");
        let id = StateId(states.len() as u32);
        states.push(State {
            name: name.clone(),
            role,
        });
        functions.add(&name, Def::State(id), 0)
    };
    names.iter().map(&mut add).collect()
}

/// The updates of a 2N-storage method; the accumulator is kept without the time step, so each
/// field takes one multiply-add for it and one for itself.
fn two_n(
    functions: &mut Functions,
    tableau: &[(Rational, Rational)],
    fields: &[FnId],
    accumulators: &[FnId],
    rhs: &[FnId],
    names: &[String],
) -> Vec<Substep> {
    let last = tableau.len() - 1;
    let mut substeps = Vec::new();
    for (s, (alpha, beta)) in tableau.iter().enumerate() {
        let step = Uniform(std::collections::BTreeMap::from([(
            std::collections::BTreeMap::from([(UniformFactor::Dt, 1)]),
            *beta,
        )]));
        let step = functions.uniform(&step, Some(&format!("beta_dt_{}", s + 1)));
        let mut updates = Vec::new();
        let mut stored = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let rate = if s == 0 {
                rhs[i]
            } else {
                let negative = *alpha.numer() < 0;
                let size = Uniform::number(if negative { -alpha } else { *alpha });
                let alpha = functions.uniform(&size, Some(&format!("alpha_{}", s + 1)));
                fused(
                    functions,
                    &format!("{name}_acc_{}", s + 1),
                    (alpha, negative),
                    accumulators[i],
                    rhs[i],
                )
            };
            let new = fused(
                functions,
                &format!("{name}_{}", s + 1),
                (step, false),
                rate,
                fields[i],
            );
            updates.push((StateId(i as u32), new));
            if s < last {
                stored.push((StateId((names.len() + i) as u32), rate));
            }
        }
        updates.extend(stored);
        substeps.push(Substep { updates });
    }
    substeps
}

/// The grid function `± factor * x + y`.
fn fused(
    functions: &mut Functions,
    name: &str,
    factor: (crate::algorithm::UniformId, bool),
    x: FnId,
    y: FnId,
) -> FnId {
    let mut b = Builder::new();
    let mut c = b.atom(Atom::Uniform(factor.0));
    if factor.1 {
        c = b.op(Op::Neg, &[c]);
    }
    let [x_ref, y_ref] = [x, y].map(|of| b.atom(Atom::Access(Access { of, at: [0; 3] })));
    let result = b.op(Op::Fma, &[c, x_ref, y_ref]);
    let depth = functions.depth_of(x).max(functions.depth_of(y));
    functions.add(name, Def::Point(b.finish(result)), depth)
}

/// Drops grid functions that no substep needs.
fn prune(mut algorithm: Algorithm) -> Algorithm {
    let mut needed = vec![false; algorithm.functions.len()];
    for (i, f) in algorithm.functions.iter().enumerate() {
        needed[i] = matches!(f.def, Def::State(_));
    }
    for substep in &algorithm.substeps {
        for (_, id) in &substep.updates {
            needed[id.0 as usize] = true;
        }
    }
    for i in (0..needed.len()).rev() {
        if needed[i] {
            for access in algorithm.functions[i].def.accesses() {
                needed[access.of.0 as usize] = true;
            }
        }
    }
    let mut moved = vec![FnId(0); needed.len()];
    let mut next = 0;
    for (i, needed) in needed.iter().enumerate() {
        if *needed {
            moved[i] = FnId(next);
            next += 1;
        }
    }
    let mut keep = needed.iter();
    algorithm
        .functions
        .retain(|_| *keep.next().unwrap_or(&true));
    for f in &mut algorithm.functions {
        f.def = renumber(&f.def, &moved);
    }
    for substep in &mut algorithm.substeps {
        for (_, id) in &mut substep.updates {
            *id = moved[id.0 as usize];
        }
    }
    algorithm
}

fn renumber(def: &Def, moved: &[FnId]) -> Def {
    let access = |a: &Access| Access {
        of: moved[a.of.0 as usize],
        at: a.at,
    };
    match def {
        Def::State(id) => Def::State(*id),
        Def::Point(expr) => Def::Point(expr.map_atoms(|atom| match atom {
            Atom::Access(a) => Atom::Access(access(a)),
            Atom::Uniform(id) => Atom::Uniform(*id),
        })),
        Def::Sum(terms) => {
            let mut terms = terms.clone();
            for term in &mut terms {
                term.value = access(&term.value);
            }
            Def::Sum(terms)
        }
    }
}
