//! `Model::check`: the invariants of every model, however it was made.

use std::collections::BTreeSet;

use super::extents::too_far_down;
use super::ranks::{self, Ranked};
use super::riemann::WORDS;
pub(super) use super::sees::Sees;
use super::sees::visible;
use super::terms::is_zero;
use super::{ORDERS, centering, conserved, limits, names};
use crate::catalogue::riemann::Needs;
use crate::catalogue::{Rank, integrators, limiters, reconstructions, riemann};
use crate::expr::Rational;
use crate::model::parse::{normal_unit, number};
use crate::model::riemann::row;
use crate::model::{
    HIGHEST, Model, Primitives, Range, Scheme, Symmetry, Term, TermKind, Variables, Waves, to_f64,
};

/// The error, in words for the maker of the model.
pub(super) type Checked = Result<(), String>;

impl Model {
    /// Checks names, indices, ranks, numbers and the schemes. A model that passes prints as source that reads back as
    /// the same model.
    ///
    /// # Errors
    /// The first error, in words for the maker of the model.
    pub fn check(&self) -> Checked {
        ensure((1..=3).contains(&self.dimension), || format!("{} dimensions", self.dimension))?;
        ensure([self.dimension, 3].contains(&self.components), || {
            format!("{} components of vectors", self.components)
        })?;
        self.check_names()?;
        self.check_numbers()?;
        self.check_sources()?;
        for (i, item) in self.lets.iter().enumerate() {
            let place = |problem| format!("in `let {}`: {problem}", item.name);
            self.check_whole(&item.value, Sees::Lets(i)).map_err(place)?;
            let within = item.within.as_ref();
            let named = |function: &str| names::function_problem(function).is_none();
            let fits = within.is_none_or(|within| within.most > 0 && named(&within.function));
            ensure(fits, || format!("`let {}` is within no loop", item.name))?;
        }
        if let Some(problem) = centering::problems(self).into_iter().next() {
            return Err(problem.message);
        }
        let rates = self.equations.iter().map(|equation| &equation.rhs);
        let watched = self.observables.iter().map(|observable| &observable.value);
        let rates = rates.chain(self.products.iter().map(|product| &product.value));
        let watched = watched.chain(self.speeds.iter().map(|speed| &speed.value));
        let named = self.lets.iter().map(|named| &named.value);
        if let Some(problem) = too_far_down(&self.lets, named.chain(rates).chain(watched)) {
            return Err(problem);
        }
        self.check_equations()?;
        self.check_fluxes()?;
        self.check_products()?;
        self.check_solvers()?;
        self.check_observables()?;
        self.check_schemes()
    }

    fn check_names(&self) -> Checked {
        let fields = self.fields.iter().map(|f| (&f.name, &f.unit));
        let params = self.params.iter().map(|p| (&p.name, &p.unit));
        let sources = self.sources.iter().map(|s| (&s.name, &s.unit));
        let own = self.solvers.iter().flat_map(|solver| &solver.lets);
        let lets = self.lets.iter().chain(own).map(|l| (&l.name, &None));
        let observables = self.observables.iter().map(|o| (&o.name, &None));
        let all = fields.chain(params).chain(sources);
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (name, unit) in all.chain(lets).chain(observables) {
            if let Some(problem) = names::problem(name) {
                return Err(problem);
            }
            ensure(seen.insert(name), || format!("`{name}` is declared twice"))?;
            let word = WORDS.contains(&name.as_str()) && !self.solvers.is_empty();
            ensure(!word, || format!("`{name}` has a meaning in Riemann solvers"))?;
            if let Some(unit) = unit {
                ensure(normal_unit(unit).as_ref() == Some(unit), || {
                    format!("the unit `{unit}` of `{name}` is not as the parser writes it")
                })?;
            }
        }
        let doc = self.doc.iter().flat_map(|line| line.chars());
        ensure(doc.into_iter().all(|c| c == '\t' || !c.is_control()), || {
            "a doc line contains a control character".to_string()
        })?;
        match names::problem(&self.name) {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }

    fn check_numbers(&self) -> Checked {
        for param in &self.params {
            let bounds = param.bounds.iter().map(|(_, number)| number);
            for number in bounds {
                check_number(&number.max(&-*number).clone())
                    .map_err(|problem| format!("in `param {}`: {problem}", param.name))?;
            }
            if let Some(default) = param.default {
                ensure(default.is_finite(), || {
                    format!("in `param {}`: {default} is no number", param.name)
                })?;
                let mut bounds = param.bounds.iter();
                let holds = bounds.all(|(c, bound)| c.holds(&default, &to_f64(bound)));
                ensure(holds, || format!("the default of `{}` breaks its bounds", param.name))?;
            }
        }
        Ok(())
    }

    fn check_sources(&self) -> Checked {
        for source in &self.sources {
            let Some(value) = &source.value else {
                continue;
            };
            let name = &source.name;
            self.check_whole(value, Sees::Coordinates)
                .map_err(|problem| format!("in `source {name}`: {problem}"))?;
            ensure(value.rank == source.rank, || {
                format!("the value of `{name}` has another rank")
            })?;
        }
        Ok(())
    }

    fn check_equations(&self) -> Checked {
        ensure(!self.fields.is_empty(), || "no field".to_string())?;
        ensure(self.equations.len() == self.fields.len(), || {
            let (equations, fields) = (self.equations.len(), self.fields.len());
            format!("{equations} equations for {fields} fields")
        })?;
        for (i, (field, equation)) in self.fields.iter().zip(&self.equations).enumerate() {
            let name = &field.name;
            let general = field.symmetry == Symmetry::General;
            ensure(general || field.rank == Rank::Tensor, || {
                format!("`{name}` is symmetric and no tensor")
            })?;
            ensure(field.centering.fits(field.rank), || {
                format!("`{name}` is a {} on an {}", field.rank.name(), field.centering.word())
            })?;
            let empty = field.symmetry == Symmetry::Antisymmetric && self.components == 1;
            ensure(!empty, || format!("`{name}` has no component"))?;
            ensure(equation.field == i, || format!("equation {i} is not that of `{name}`"))?;
            self.check_whole(&equation.rhs, Sees::Lets(self.lets.len()))
                .map_err(|problem| format!("in `ddt({name})`: {problem}"))?;
            ensure(equation.rhs.rank == field.rank, || {
                format!("the equation of `{name}` has another rank")
            })?;
        }
        Ok(())
    }

    fn check_fluxes(&self) -> Checked {
        let mut fields = BTreeSet::new();
        let mut last = None;
        let (mut at_faces, mut values) = (Vec::new(), Vec::new());
        for flux in &self.fluxes {
            let field = self.fields.get(flux.field);
            let flowing = field.and_then(|field| conserved::flowing(field.rank));
            ensure(fields.insert(flux.field) && last < Some(flux.field), || {
                "fluxes are not in the order of their fields".to_string()
            })?;
            last = Some(flux.field);
            let along = flux.along_normal(0, self.components);
            let flowing = if along.is_some() { field.map(|field| field.rank) } else { flowing };
            ensure(flowing == Some(flux.value.rank), || {
                format!("the flux of field {} has another rank", flux.field)
            })?;
            values.push(along.unwrap_or_else(|| flux.value.clone()));
        }
        at_faces.extend(&values);
        if let Some(waves) = &self.waves {
            let fits = waves.fit() && !self.fluxes.is_empty();
            ensure(fits, || "speeds of waves that do not fit".to_string())?;
            at_faces.extend(waves.parts().map(|(_, part)| part));
        }
        let mut of_states: Vec<&Term> = Vec::new();
        let averaged = self.average.as_ref().map(|average| &average.of);
        let follows: Vec<&Primitives> = self.primitives.iter().chain(averaged).collect();
        for primitives in &follows {
            of_states.extend(&primitives.variables);
            of_states.extend(primitives.conserved.iter().map(|followed| &followed.value));
        }
        if let Some(average) = &self.average {
            let mut weights = average.weights.iter().flatten();
            let all = average.weights.len() == average.of.variables.len();
            let fits = all && weights.all(|weight| weight.rank == Rank::Scalar);
            ensure(fits, || "weights that do not fit".to_string())?;
            of_states.extend(average.weights.iter().flatten());
        }
        let recomputed = self.at_face.iter().flat_map(|at_face| &at_face.recomputed);
        of_states.extend(recomputed.flat_map(|(variable, value)| [variable, value]));
        of_states.extend(self.ranges.iter().map(|range| &range.of));
        let places: Vec<_> = self.ranges.iter().map(Range::place).collect();
        let flows = |range: &Range| match range.of.kind {
            TermKind::Field(field) => self.flux_of(field).is_some(),
            _ => !self.fluxes.is_empty(),
        };
        let scalar = |range: &Range| range.of.rank == Rank::Scalar && range.place().is_some();
        let fit = |range: &Range| flows(range) && scalar(range);
        ensure(places.is_sorted() && self.ranges.iter().all(fit), || {
            "ranges that do not fit".to_string()
        })?;
        for range in &self.ranges {
            check_number(&range.bound.max(-range.bound))
                .map_err(|problem| format!("in a range: {problem}"))?;
        }
        for value in at_faces.iter().chain(&of_states) {
            self.check_whole(value, Sees::Lets(self.lets.len()))
                .map_err(|problem| format!("at faces: {problem}"))?;
        }
        let beside_faces = at_faces.iter().map(|value| conserved::beside_faces(value, &self.lets));
        let beside = of_states.iter().map(|value| conserved::beside_states(value, &self.lets));
        if let Some((what, _)) = beside_faces.chain(beside).flatten().next() {
            return Err(format!("{what} at faces"));
        }
        let mut wrong = follows.iter().filter_map(|p| self.wrong_primitives(p));
        let at_face = self.at_face.as_ref();
        let wrong = wrong.next().or_else(|| self.wrong_at_face(at_face?));
        wrong.map_or(Ok(()), Err)
    }

    fn check_observables(&self) -> Checked {
        let observables = self.observables.iter();
        let observables = observables.map(|o| (o.name.as_str(), &o.value, false));
        let speeds = self.speeds.iter();
        let speeds = speeds.map(|s| (s.kind(), &s.value, s.power == 1));
        for (name, value, along_axes) in observables.chain(speeds) {
            self.check_whole(value, Sees::Lets(self.lets.len()))
                .map_err(|problem| format!("in `{name}`: {problem}"))?;
            let fits = value.rank == Rank::Scalar || along_axes && value.rank == Rank::Vector;
            ensure(fits, || format!("`{name}` is no scalar"))?;
        }
        let mut powers = BTreeSet::new();
        for speed in &self.speeds {
            let power = speed.power;
            let fits = (1..=4).contains(&power) && powers.insert(power);
            ensure(fits, || format!("a speed of power {power}, or a second one"))?;
        }
        Ok(())
    }

    fn check_schemes(&self) -> Checked {
        let mut seen = BTreeSet::new();
        for scheme in self.schemes() {
            if let Some(problem) = names::shape_problem(&scheme.name) {
                return Err(problem);
            }
            let name = &scheme.name;
            ensure(seen.insert(name), || format!("a second scheme `{name}`"))?;
            let (order, time) = (scheme.order, &scheme.time);
            ensure(ORDERS.contains(&order), || format!("no order {order}, there are {ORDERS:?}"))?;
            ensure(integrators::find(time).is_some(), || format!("no time integrator `{time}`"))?;
            let forecast =
                scheme.conflict_of_forecast(!self.fluxes.is_empty(), self.at_face.is_some());
            ensure(forecast.is_none(), || format!("a forecast by `{time}`"))?;
            self.check_faces(scheme)?;
        }
        Ok(())
    }

    fn check_faces(&self, scheme: &Scheme) -> Checked {
        let solver = self.solver(scheme);
        let made = reconstructions::find(&scheme.reconstruct);
        let limiter = limiters::find(&scheme.limiter);
        let (Some(solver), Some(made), Some(limiter)) = (solver, made, limiter) else {
            return Err("an unknown solver, reconstruction or limiter".to_string());
        };
        let printed = |theta: &Rational| number::print(theta).is_some();
        let theta = scheme.theta.filter(|theta| limiters::THETA.contains(theta) && printed(theta));
        ensure(theta == scheme.theta && theta.is_some() == limiter.has_theta, || {
            format!("a wrong parameter of the limiter `{}`", limiter.name)
        })?;
        let own = self.solvers.iter().find(|own| own.name == scheme.riemann);
        if let Some(problem) = scheme.conflict(own.map(|own| row(own.gives.are_waves()))) {
            return Err(problem.message);
        }
        let normal = Scheme::default();
        let chosen = (&scheme.riemann, &scheme.reconstruct, &scheme.limiter);
        let unused = (&normal.riemann, &normal.reconstruct, &normal.limiter);
        let plain = scheme.variables == normal.variables
            && scheme.sweep == normal.sweep
            && scheme.source == normal.source
            && scheme.repair == normal.repair
            && scheme.points == normal.points;
        ensure(!self.fluxes.is_empty() || (chosen == unused && plain), || {
            "a Riemann solver without fluxes".to_string()
        })?;
        ensure(scheme.path_fits(), || format!("{} points on a path", scheme.points))?;
        ensure(made.limited || scheme.limiter == normal.limiter, || {
            format!("a limiter for `{}`", made.name)
        })?;
        let fits = scheme.riemann_parameter.is_none_or(|value| {
            let fits = |parameter: &riemann::Parameter| parameter.fits(&value);
            solver.parameter.is_some_and(fits) && printed(&value)
        });
        ensure(fits, || format!("a wrong parameter of the solver `{}`", solver.name))?;
        let falls_back = match own {
            None => solver.falls_back(),
            Some(own) => own.gives.no_fallback(own.waves.len(), !self.ranges.is_empty()).is_none(),
        };
        let others = |name: &String| {
            let is_own = riemann::find(name).is_none();
            if is_own && riemann::find(&scheme.riemann).is_none() {
                return false;
            }
            let other = Scheme { riemann: name.clone(), ..scheme.clone() };
            let contact = self.waves.as_ref().is_some_and(Waves::has_contact);
            self.solver(&other).is_some_and(|of| contact || of.needs != Needs::Contact)
        };
        let fits = scheme
            .fallback
            .as_ref()
            .is_none_or(|name| falls_back && *name != scheme.riemann && others(name));
        ensure(fits, || format!("a wrong fallback of the solver `{}`", solver.name))?;
        let others = scheme.variables != Variables::Primitive;
        ensure(others || self.primitives.is_some(), || "a scheme asks for primitives".to_string())?;
        let contact = self.waves.as_ref().is_some_and(Waves::has_contact);
        let knows = contact || solver.needs != Needs::Contact;
        ensure(self.fluxes.is_empty() || knows, || {
            format!("`{}` needs more of the waves", solver.name)
        })
    }

    /// Checks an expression that is part of no other one.
    pub(super) fn check_whole(&self, term: &Term, sees: Sees) -> Checked {
        ensure(shallow(term, limits::DEPTH), || "nested too deeply".to_string())?;
        self.check_term(term, sees)
    }

    fn check_term(&self, term: &Term, sees: Sees) -> Checked {
        let inner = match (&term.kind, sees) {
            (TermKind::Side(..), Sees::Sides(own, _)) => Sees::Lets(own),
            _ => sees,
        };
        for part in term.parts() {
            self.check_term(part, inner)?;
        }
        visible(term, sees)?;
        if let (TermKind::Let(at), Sees::Sides(own, _)) = (&term.kind, sees) {
            ensure(*at >= own || term.is_uniform(&self.lets), || {
                "a Riemann solver reads a `let` beside its sides".to_string()
            })?;
        }
        let rank = self.rank_of(term, sees)?;
        ensure(rank == term.rank, || {
            format!("a {} is marked as a {}", rank.name(), term.rank.name())
        })
    }

    /// The rank that follows from the ranks of the parts.
    fn rank_of(&self, term: &Term, sees: Sees) -> Result<Rank, String> {
        let words = |ranked: Ranked| ranked.map_err(|mismatch| mismatch.message);
        match &term.kind {
            TermKind::Number(value) => check_number(value).map(|()| Rank::Scalar),
            TermKind::Field(i) => {
                let field = self.fields.get(*i);
                field.map(|f| f.rank).ok_or(format!("no field {i}"))
            }
            TermKind::Param(i) => {
                let param = self.params.get(*i);
                param.map(|_| Rank::Scalar).ok_or(format!("no param {i}"))
            }
            TermKind::Let(i) => {
                let seen = matches!(sees, Sees::Lets(lets) | Sees::Sides(_, lets) if *i < lets);
                let item = self.lets.get(*i).filter(|_| seen);
                item.map(|l| l.value.rank).ok_or(format!("no `let` {i} before this"))
            }
            TermKind::Source(i) => {
                let source = self.sources.get(*i);
                source.map(|s| s.rank).ok_or(format!("no source {i}"))
            }
            TermKind::Time | TermKind::Epsilon => Ok(Rank::Scalar),
            TermKind::Coordinate(axis) => {
                ensure(*axis < self.dimension, || format!("no axis {axis}"))?;
                Ok(Rank::Scalar)
            }
            TermKind::If(_, parts) => {
                let [a, b, c, d] = parts.each_ref().map(|part| part.rank);
                ensure(a == Rank::Scalar && b == Rank::Scalar, || {
                    "a comparison of what is no scalar".to_string()
                })?;
                words(ranks::sum(c, d, "choose between"))
            }
            TermKind::Side(_, of) => self.rank_on_side(of),
            TermKind::Normal => Ok(Rank::Vector),
            TermKind::Rise(field) => {
                let flows = self.flux_of(*field).and_then(|_| self.fields.get(*field));
                flows.map(|f| f.rank).ok_or(format!("field {field} has no flux"))
            }
            TermKind::Neg(a) => Ok(a.rank),
            TermKind::Add(a, b) => words(ranks::sum(a.rank, b.rank, "add")),
            TermKind::Sub(a, b) => words(ranks::sum(a.rank, b.rank, "subtract")),
            TermKind::Mul(a, b) => words(ranks::product(a.rank, b.rank)),
            TermKind::Div(_, b) if is_zero(b) => Err("division by zero".to_string()),
            TermKind::Div(a, b) => words(ranks::quotient(a.rank, b.rank)),
            TermKind::Pow(a, n) => {
                let fits = n.unsigned_abs() <= limits::EXPONENT.unsigned_abs();
                ensure(fits && (*n >= 0 || !is_zero(a)), || format!("exponent {n}"))?;
                words(ranks::power(a.rank))
            }
            TermKind::Stack(entries) => {
                let found: Vec<Rank> = entries.iter().map(|e| e.rank).collect();
                words(ranks::stack(&found, self.dimension, self.components))
            }
            TermKind::Component(a, axes) => {
                let inside = axes.iter().all(|axis| *axis < self.components);
                ensure(inside, || "no such axis".to_string())?;
                words(ranks::component(a.rank, axes.len()))
            }
            TermKind::Derivative { axis, times, of } => {
                let fits = *axis < self.dimension && (1..=HIGHEST).contains(times);
                ensure(fits, || format!("derivative {times} along axis {axis}"))?;
                Ok(of.rank)
            }
            TermKind::Call(function, arguments) => {
                let found: Vec<Rank> = arguments.iter().map(|a| a.rank).collect();
                words(ranks::call(*function, &found, self.components))
            }
        }
    }
}

impl Term {
    /// The expressions that it is made of.
    pub fn parts(&self) -> Vec<&Term> {
        match &self.kind {
            TermKind::Number(_)
            | TermKind::Field(_)
            | TermKind::Param(_)
            | TermKind::Let(_)
            | TermKind::Source(_)
            | TermKind::Time
            | TermKind::Epsilon
            | TermKind::Coordinate(_)
            | TermKind::Normal
            | TermKind::Rise(_) => Vec::new(),
            TermKind::If(_, parts) => parts.iter().collect(),
            TermKind::Neg(a)
            | TermKind::Pow(a, _)
            | TermKind::Side(_, a)
            | TermKind::Component(a, _)
            | TermKind::Derivative { of: a, .. } => vec![a],
            TermKind::Add(a, b)
            | TermKind::Sub(a, b)
            | TermKind::Mul(a, b)
            | TermKind::Div(a, b) => vec![a, b],
            TermKind::Stack(parts) | TermKind::Call(_, parts) => parts.iter().collect(),
        }
    }
}

/// Has a term at most this many levels, as [`Term::depth`] counts them? Safe for any depth.
fn shallow(term: &Term, levels: u32) -> bool {
    let comparison = u32::from(matches!(term.kind, TermKind::If(..)));
    levels > 0
        && term.parts().iter().enumerate().all(|(i, part)| {
            let compared = if i < 2 { comparison } else { 0 };
            shallow(part, (levels - 1).saturating_sub(compared))
        })
}

/// Checks that a literal can be written: not negative, and a finite decimal.
fn check_number(value: &Rational) -> Checked {
    ensure(number::print(value).is_some(), || format!("{value} is no literal: use `Neg` and `Div`"))
}

pub(super) fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(problem()) }
}
