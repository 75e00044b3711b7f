//! `Model::check`: the invariants, whoever made the model.

use super::ranks::{self, Ranked};
use super::terms::is_zero;
use super::{ORDERS, integrators, limits, names};
use crate::model::parse::{normal_unit, number};
use crate::model::{Model, Rank, Rational, Term, TermKind};

/// What is wrong, in words for the maker of the model.
type Checked = Result<(), String>;

impl Model {
    /// Checks names, indices, ranks, numbers and the scheme. What passes prints as source that
    /// reads back as the same model.
    pub fn check(&self) -> Checked {
        ensure((1..=3).contains(&self.dimension), || {
            format!("{} dimensions", self.dimension)
        })?;
        self.check_names()?;
        self.check_numbers()?;
        for (i, item) in self.lets.iter().enumerate() {
            let place = |problem| format!("in `let {}`: {problem}", item.name);
            self.check_term(&item.value, i, 0).map_err(place)?;
        }
        self.check_equations()?;
        self.check_scheme()
    }

    fn check_names(&self) -> Checked {
        let fields = self.fields.iter().map(|f| (&f.name, &f.unit));
        let params = self.params.iter().map(|p| (&p.name, &p.unit));
        let lets = self.lets.iter().map(|l| (&l.name, &None));
        let mut seen: Vec<&str> = Vec::new();
        for (name, unit) in fields.chain(params).chain(lets) {
            if let Some(problem) = names::problem(name) {
                return Err(problem);
            }
            ensure(!seen.contains(&name.as_str()), || {
                format!("`{name}` is declared twice")
            })?;
            seen.push(name);
            if let Some(unit) = unit {
                ensure(normal_unit(unit).as_ref() == Some(unit), || {
                    format!("the unit `{unit}` of `{name}` is not as the parser writes it")
                })?;
            }
        }
        let doc = self.doc.iter().flat_map(|line| line.chars());
        ensure(
            doc.into_iter().all(|c| c == '\t' || !c.is_control()),
            || "a doc line contains a control character".to_string(),
        )?;
        match names::problem(&self.name) {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }

    fn check_numbers(&self) -> Checked {
        for param in &self.params {
            let bounds = param.bounds.iter().map(|(_, number)| number);
            for number in param.default.iter().chain(bounds) {
                check_number(&number.max(&-*number).clone())
                    .map_err(|problem| format!("in `param {}`: {problem}", param.name))?;
            }
            if let Some(default) = &param.default {
                let holds = param
                    .bounds
                    .iter()
                    .all(|(c, bound)| c.holds(default, bound));
                ensure(holds, || {
                    format!("the default of `{}` breaks its bounds", param.name)
                })?;
            }
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
            ensure(equation.field == i, || {
                format!("equation {i} is not that of `{name}`")
            })?;
            self.check_term(&equation.rhs, self.lets.len(), 0)
                .map_err(|problem| format!("in `ddt({name})`: {problem}"))?;
            ensure(equation.rhs.rank == field.rank, || {
                format!("the equation of `{name}` has another rank")
            })?;
        }
        Ok(())
    }

    fn check_scheme(&self) -> Checked {
        if let Some(problem) = names::shape_problem(&self.scheme.name) {
            return Err(problem);
        }
        let (order, time) = (self.scheme.order, &self.scheme.time);
        ensure(ORDERS.contains(&order), || format!("no order {order}"))?;
        ensure(integrators().contains(&time.as_str()), || {
            format!("no time integrator `{time}`")
        })
    }

    /// Checks an expression that sees the first `lets` of the `let`s.
    fn check_term(&self, term: &Term, lets: usize, depth: u32) -> Checked {
        ensure(depth < limits::DEPTH, || "nested too deeply".to_string())?;
        for part in term.parts() {
            self.check_term(part, lets, depth + 1)?;
        }
        let rank = self.rank_of(term, lets)?;
        ensure(rank == term.rank, || {
            format!("a {} is marked as a {}", rank.name(), term.rank.name())
        })
    }

    /// The rank that follows from the ranks of the parts.
    fn rank_of(&self, term: &Term, lets: usize) -> Result<Rank, String> {
        let words = |ranked: Ranked| ranked.map_err(|misfit| misfit.message);
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
                let item = self.lets.get(*i).filter(|_| *i < lets);
                item.map(|l| l.value.rank)
                    .ok_or(format!("no `let` {i} before this"))
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
                words(ranks::stack(&found, self.dimension))
            }
            TermKind::Component(a, axes) => {
                let inside = axes.iter().all(|axis| *axis < self.dimension);
                ensure(inside, || "no such axis".to_string())?;
                words(ranks::component(a.rank, axes.len()))
            }
            TermKind::Derivative { axis, times, of } => {
                let fits = *axis < self.dimension && matches!(times, 1 | 2);
                ensure(fits, || format!("derivative {times} along axis {axis}"))?;
                Ok(of.rank)
            }
            TermKind::Call(function, arguments) => {
                let found: Vec<Rank> = arguments.iter().map(|a| a.rank).collect();
                words(ranks::call(*function, &found, self.dimension))
            }
        }
    }
}

impl Term {
    /// The expressions that it is made of.
    pub fn parts(&self) -> Vec<&Term> {
        match &self.kind {
            TermKind::Number(_) | TermKind::Field(_) | TermKind::Param(_) | TermKind::Let(_) => {
                Vec::new()
            }
            TermKind::Neg(a)
            | TermKind::Pow(a, _)
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

/// A literal is what a literal can be: not negative, and a finite decimal.
fn check_number(value: &Rational) -> Checked {
    ensure(number::print(value).is_some(), || {
        format!("{value} is no literal: use `Neg` and `Div`")
    })
}

fn ensure(holds: bool, problem: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(problem()) }
}
