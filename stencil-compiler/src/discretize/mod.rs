//! `Model` to `Algorithm`: operators become stencils, equations become ordered sums, substeps get
//! their updates. All rewriting for fewer operations happens here, and nowhere later.

use std::fmt;

use crate::algorithm::prune::prune;
use crate::algorithm::{Algorithm, Def, FnId, NEW, Param, Role, State, StateId, Substep};
use crate::catalogue::Halves;
use crate::catalogue::integrators::{self, Integrator, Tableau};
use crate::catalogue::reconstructions;
use crate::diag::{Code, Diagnostic, Span};
use crate::expr::{Op, Rational};
use crate::model::check::conserved::beside_states;
use crate::model::{Arith, Equation, Model, Speed, Splitting, Sweep, Variables, Waves};

mod assemble;
mod atoms;
mod axes;
mod bodies;
mod build;
mod calls;
mod collect;
mod components;
pub(crate) mod conserve;
mod expand;
mod fluxes;
mod fractional_steps;
mod halfway;
mod loops;
mod names;
mod observe;
mod poly;
mod products;
mod rates;
mod reciprocals;
mod routines;
mod states;
mod substeps;
mod symmetry;
#[cfg(test)]
mod tests;
mod values;

use assemble::Assembler;
use build::{Functions, Sums};
use components::Components;
use expand::Expander;
pub use observe::{Observation, Quantity, observe};
use poly::Poly;
use substeps::SubstepBuilder;

/// The reason why a model cannot be discretized, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscretizeError {
    /// The code of the error.
    pub code: Code,
    /// The place in the user's text.
    pub span: Span,
    /// The error and the way out.
    pub message: String,
}

impl DiscretizeError {
    pub(crate) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        DiscretizeError { code, span, message: message.into() }
    }
}

impl fmt::Display for DiscretizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DiscretizeError {}

impl From<DiscretizeError> for Diagnostic {
    fn from(error: DiscretizeError) -> Self {
        Diagnostic::new(error.code, error.span, error.message)
    }
}

/// The operations that keep new values of components in their ranges, each with its bound.
type Bounds = Vec<(usize, (Op, Rational))>;

/// Discretizes a checked model.
///
/// # Errors
/// If the scheme names an unknown integrator, component names clash, the right-hand side of a symmetric field is not
/// symmetric, or exact coefficients leave the range of 128-bit rationals.
pub fn discretize(model: &Model) -> Result<Algorithm, DiscretizeError> {
    let tableau = integrator(model)?;
    let components = Components::new(model, &tableau)?;
    let mut expander = Expander::new(model, &components, model.scheme.mixed.settled())?;
    let equations = rates::equations(model, &components, &mut expander, &tableau)?;
    let rest: Vec<Poly> = equations.iter().map(|(rate, _)| rate.clone()).collect();
    let still = rest.iter().all(|rate| rate.0.is_empty());
    let tableau = if still { tableau.of_fluxes() } else { tableau };
    keeps_ranges(model, &tableau)?;
    let parts = fractional_steps::fractional_steps(model, still);
    let (outflows, repairs) = conserve::rates(model, &components, &mut expander, &rest)?;
    let kinds = tableau.rates();
    let rates =
        rates::all(model, &components, &mut expander, (&kinds, &parts), (&equations, outflows))?;
    let count = count_name(model, &components).filter(|_| !repairs.is_empty());
    let counted = repairs.len();
    let registers: Vec<Vec<String>> = tableau
        .registers
        .iter()
        .map(|r| components.fields.iter().map(|n| format!("{n}_{r}")).collect())
        .collect();
    let marks = repairs.into_iter().map(|mark| (mark, Span::default()));
    let roots = Roots {
        labels: rates::labels(model, &components, &kinds, &parts)
            .chain((0..counted).map(|_| ["repaired", "repaired"].map(String::from)))
            .collect(),
        equations: rates.into_iter().chain(marks).collect(),
    };
    let accumulators: Vec<&Vec<String>> = registers.iter().collect();
    let first = |field: usize| components.of_field(field).first().copied().flatten();
    let bounds = conserve::bounds(model, |field| first(field).map(|(component, _)| component));
    let mut made = roots.grid_functions(model, &components, expander, &accumulators, &count)?;
    let repairs = made.rates.split_off(made.rates.len() - counted);
    let mut substeps = Vec::new();
    let fluxes = tableau.of_fluxes();
    for (part, begin) in &parts.order {
        let builder = SubstepBuilder {
            tableau: if parts.all[*part].rest { &tableau } else { &fluxes },
            components: &components,
            fields: &made.fields,
            registers: &made.accumulators,
            rates: &rates::of_part(&made.rates, &kinds, parts.all.len(), *part),
            earlier: substeps.len(),
            begin: *begin,
            share: parts.all[*part].share,
            bounds: &bounds,
        };
        let mut own = builder.substeps(&mut made.functions);
        if let (Some(count), Some(repairs)) = (made.count, repairs.get(*part)) {
            builder.count(&mut made.functions, &mut own, count, *repairs);
        }
        substeps.extend(own);
    }
    Ok(prune(algorithm(model, made.states, made.functions, substeps)))
}

/// The array that counts repaired fluxes: no component and no parameter has its name.
fn count_name(model: &Model, components: &Components) -> Option<String> {
    let mut names = (0..).map(|more| format!("repairs{}", "_".repeat(more)));
    let declared = components.fields.iter().chain(&components.sources);
    let params = model.params.iter().map(|param| &param.name);
    let all: Vec<&String> = declared.chain(params).collect();
    names.find(|name| !all.contains(&name))
}

/// The algorithm of a model with these grid functions.
fn algorithm(
    model: &Model,
    states: Vec<State>,
    functions: Functions,
    substeps: Vec<Substep>,
) -> Algorithm {
    let param = |p: &crate::model::Param| Param { name: p.name.clone(), default: p.default };
    Algorithm {
        name: model.name.clone(),
        file: String::new(),
        dimension: model.dimension,
        scheme: describe(model),
        params: model.params.iter().map(param).collect(),
        states,
        uniforms: functions.uniforms,
        functions: functions.functions,
        substeps,
    }
}

/// Refuses an integrator that does not keep the ranges of a system.
fn keeps_ranges(model: &Model, tableau: &Tableau) -> Result<(), DiscretizeError> {
    let kept = model.ranges.first().filter(|_| model.repairs());
    let Some(range) = kept.filter(|_| tableau.euler_steps().is_none()) else {
        return Ok(());
    };
    let keeps = |i: &&Integrator| (i.tableau)().euler_steps().is_some();
    let all = integrators::ALL.iter().copied().filter(keeps);
    let all: Vec<String> = all.map(|i| format!("`{}`", i.name)).collect();
    let message = format!(
        "`{}` keeps no range: its stages are no means of Euler steps; choose {}, or `repair: none`",
        model.scheme.time,
        all.join(", ")
    );
    Err(DiscretizeError::new(Code::NeedsEulerSteps, range.span, message))
}

/// The tableau of the scheme's integrator.
fn integrator(model: &Model) -> Result<Tableau, DiscretizeError> {
    let name = &model.scheme.time;
    let Some(integrator) = integrators::find(name) else {
        let known: Vec<&str> = integrators::ALL.iter().map(|i| i.name).collect();
        let message = format!("no integrator `{name}`; there are {}", known.join(", "));
        return Err(DiscretizeError::new(Code::UnknownChoice, Span::default(), message));
    };
    Ok((integrator.tableau)())
}

/// The speeds of waves as they follow from fluxes.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedWaves {
    /// A flow and a sound for each axis.
    pub waves: Waves,
    /// The reason why these are only bounds; `None` if they are the speeds of all waves, or those of all are known by blocks.
    pub only_bounds: Option<String>,
    /// The parts of the law that have waves of their own, if it has several sounds; empty if it has one.
    pub blocks: Vec<WaveBlock>,
}

/// Components that have waves of their own along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct WaveBlock {
    /// The axis by its name.
    pub along: &'static str,
    /// The components by their names.
    pub components: Vec<String>,
    /// Their flow and sound: scalars.
    pub waves: Waves,
}

impl Model {
    /// The speeds of waves that follow from the fluxes of a system that does not declare them: a flow, and waves slower
    /// and faster than it by a sound; or bounds of them, if the waves have other speeds. `None` if no bounds can be
    /// written out.
    pub fn derived_waves(&self) -> Option<DerivedWaves> {
        let (None, Some(flux)) = (&self.waves, self.fluxes.first()) else {
            return None;
        };
        let tableau = integrator(self).ok()?;
        let components = Components::new(self, &tableau).ok()?;
        conserve::derived_waves(self, &components, flux.span)
    }

    /// Is each flux what the declared flow carries, and the work of the declared pressure, as at a contact?
    pub(crate) fn carries_contact(&self) -> bool {
        let components = integrator(self).ok().and_then(|of| Components::new(self, &of).ok());
        let known = components.zip(self.fluxes.first());
        known.is_some_and(|(of, flux)| conserve::carries_contact(self, &of, flux.span))
    }

    /// A bound of the sizes of the speeds of all waves, as a sound without flow: the `advective` speed that a system declares for its
    /// time step, if that is a function of the state at a point.
    pub(crate) fn declared_radius(&self) -> Option<Waves> {
        let speed = self.speeds.iter().find(|speed| speed.power == 1)?;
        let of_states = beside_states(&speed.value, &self.lets).is_none();
        of_states.then(|| Waves {
            flow: None,
            sound: Some(speed.value.clone()),
            density: None,
            pressure: None,
            span: speed.span,
        })
    }

    /// Is it a law in which only fluxes are differentiated, and fields that jump at faces with them? Then waves carry
    /// the values at a face into the mesh, and nothing spreads them.
    pub fn only_transports(&self) -> bool {
        let differentiates =
            |equation: &Equation| self.rest_of(equation).differentiates(&self.lets);
        !self.fluxes.is_empty() && !self.equations.iter().any(differentiates)
    }

    /// The speed of waves that limits the time step of a law that declares none, if it follows from the fluxes: the
    /// waves are declared or can be derived, and other terms with derivatives, such as friction, have a declared speed.
    /// It is the size of the flow and the sound, along each axis.
    pub fn implied_speeds(&self) -> Vec<Speed> {
        let has_waves = self.speeds.iter().any(|speed| speed.power == 1);
        let is_whole = self.only_transports() || !self.speeds.is_empty();
        if self.fluxes.is_empty() || has_waves || !is_whole {
            return Vec::new();
        }
        let derived = || self.derived_waves().map(|derived| derived.waves);
        let waves = self.waves.clone().or_else(derived);
        let speed = waves.and_then(|waves| waves.fastest(self.dimension, self.components));
        let speed = speed.map(|value| Speed { power: 1, span: value.span, value });
        speed.into_iter().collect()
    }

    /// Do its speeds, with those that are [implied](Self::implied_speeds), limit a step as a whole? Those of a law
    /// limit its waves, too.
    pub fn limits_steps(&self) -> bool {
        let mut powers = self.speeds.iter().map(|speed| speed.power);
        powers.any(|power| power == 1 || self.fluxes.is_empty())
    }

    /// The reconstruction of states at faces, with the limiter, and the solver for their fluxes: descriptions and
    /// sources. `None` without fluxes.
    pub fn faces(&self) -> Option<(String, String)> {
        let scheme = &self.scheme;
        let found = reconstructions::find(&scheme.reconstruct)?;
        let solver = self.solver(scheme)?;
        let limiter = scheme.limiter_text();
        let limiter = limiter.map_or(String::new(), |text| format!(" with limiter {text}"));
        let variables = match scheme.variables {
            Variables::Conserved => "",
            Variables::Primitive => " of primitive variables",
            Variables::Characteristic => " of each family of waves",
            Variables::Fluxes => " of fluxes",
        };
        let told = |name: &str, source: &str| format!("{name}, {source}");
        (!self.fluxes.is_empty()).then(|| {
            (
                told(&format!("{}{limiter}{variables}", found.name), found.source),
                told(&scheme.riemann, solver.source),
            )
        })
    }
}

/// The scheme in words.
fn describe(model: &Model) -> String {
    let scheme = &model.scheme;
    let limiter = scheme.limiter_text();
    let limiter = limiter.map_or(String::new(), |text| format!(" {text}"));
    let path = match model.products.is_empty() {
        true => String::new(),
        false => format!(", path {}", scheme.path_text()),
    };
    let faces = match model.fluxes.is_empty() {
        true => String::new(),
        false => format!(
            ", reconstruct {}{limiter}{}{}, riemann {}{path}{}{}{}",
            scheme.reconstruct,
            scheme.settings_text(),
            scheme.variables_text(),
            scheme.riemann_text(),
            match scheme.sweep {
                Sweep::Unsplit => String::new(),
                other => format!(", sweep {}", other.name()),
            },
            match scheme.source {
                Splitting::Unsplit => String::new(),
                other => format!(", source {}", other.name()),
            },
            if model.repairs() { ", repair fluxes" } else { "" }
        ),
    };
    format!(
        "{}: central order {}, mixed {}{faces}, time {}",
        scheme.name,
        scheme.order,
        scheme.mixed.settled().name(),
        scheme.time
    )
}

/// Polynomials that become grid functions together, so that they share factors.
struct Roots {
    equations: Vec<(Poly, Span)>,
    /// The name of each, and the common name of those beside it with the same one.
    labels: Vec<[String; 2]>,
}

/// The grid functions of [`Roots`] and of their operands.
struct Made {
    functions: Functions,
    states: Vec<State>,
    fields: Vec<FnId>,
    accumulators: Vec<Vec<FnId>>,
    /// The counter of repairs, if there is one.
    count: Option<(StateId, FnId)>,
    rates: Vec<FnId>,
}

impl Roots {
    /// States are the fields, then the named accumulators, the counter of repairs, then the sources.
    fn grid_functions(
        self,
        model: &Model,
        components: &Components,
        mut expander: Expander<'_>,
        accumulators: &[&Vec<String>],
        count: &Option<String>,
    ) -> Result<Made, DiscretizeError> {
        let opaque = expander.atoms.opaque.clone();
        let arrays = components.fields.iter().map(|n| format!("{n}{NEW}"));
        let params = model.params.iter().map(|p| p.name.clone());
        let sums = Sums {
            slowest: model.dimension - 1,
            of_neighbours: model.scheme.arith == Arith::Differences,
            of_sides: !model.fluxes.is_empty(),
        };
        let mut functions = Functions::new(sums, opaque, params.chain(arrays));
        let mut states = Vec::new();
        let (halves, given) = components.halves.split_at(components.fields.len());
        let mut declare = |names: &[String], halves: &[Halves], role| {
            declare(&mut functions, &mut states, (names, halves), role)
        };
        let fields = declare(&components.fields, halves, Role::Field);
        let accumulators = accumulators.iter();
        let accumulators =
            accumulators.map(|names| declare(names, halves, Role::Accumulator)).collect();
        let counts = declare(count.as_slice(), &[], Role::Count);
        let sources = declare(&components.sources, given, Role::Given);
        let counter = states.iter().position(|state| state.role == Role::Count);
        let count = counter.zip(counts.first()).map(|(at, made)| (StateId(at as u32), *made));
        let readable = fields.iter().chain(&sources).copied().collect();
        let mut assembler = Assembler::new(&mut expander.atoms, functions, readable, &model.scheme);
        let (mut polys, spans): (Vec<Poly>, Vec<Span>) = self.equations.into_iter().unzip();
        let names = assembler.roots(&self.labels, &polys);
        let split = assembler.prepare(&mut polys, &names);
        let split = split.map_err(expand::overflow(Span::default()))?;
        let mut rates = Vec::new();
        for ((i, (linear, pointwise)), span) in split.iter().enumerate().zip(spans) {
            assembler.functions.span = span;
            let made = assembler.define(&names[i], linear, pointwise);
            rates.push(made.map_err(expand::overflow(span))?);
        }
        assembler.functions.span = Span::default();
        Ok(Made { functions: assembler.functions, states, fields, accumulators, count, rates })
    }
}

fn declare(
    functions: &mut Functions,
    states: &mut Vec<State>,
    (names, halves): (&[String], &[Halves]),
    role: Role,
) -> Vec<FnId> {
    let add = |(at, name): (usize, &String)| {
        let id = StateId(states.len() as u32);
        let halves = halves.get(at).copied().unwrap_or_default();
        states.push(State { name: name.clone(), role, halves });
        functions.add(name, Def::State(id), 0)
    };
    names.iter().enumerate().map(add).collect()
}
