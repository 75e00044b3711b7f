//! Riemann solvers of the system: made of the states on both sides of a face, and giving all that flows through it.

use std::collections::BTreeSet;

use super::conserved::{at_faces, beside_faces, beside_states};
use super::invariants::{Checked, Sees, ensure};
use super::names;
use super::resolve::unequal;
use super::scope::{Meaning, Scope};
use super::solver_waves;
use super::terms::{Place, Terms, Typed};
use crate::catalogue::{Function, Rank, riemann};
use crate::diag::{Code, Diagnostic, Span};
use crate::model::parse::ast::{Ast, AstKind, LetItem, Name, SolvedItem, SolverItem, System};
use crate::model::riemann::words;
use crate::model::{
    Flux, Gives, Let, Model, Primitives, RiemannSolver, Side, Solved, Term, TermKind,
};

/// The solvers in the order in which they are written; `None` after an error.
pub(super) fn solvers<'a>(
    scope: &mut Scope<'a>,
    system: &'a System,
    law: Option<Law<'_>>,
) -> Option<Vec<RiemannSolver>> {
    let errors = scope.errors();
    if !system.solvers.is_empty() {
        words_are_free(scope);
    }
    let mut all = Vec::new();
    for (i, item) in system.solvers.iter().enumerate() {
        named(scope, system, &system.solvers[..i], &item.name);
        all.extend(solver(scope, law, item));
    }
    (scope.errors() == errors).then_some(all)
}

/// Reports names that are words of solvers.
fn words_are_free(scope: &mut Scope<'_>) {
    for word in WORDS {
        if let Some((_, declared)) = scope.names.get(word).copied() {
            scope.report(taken(word, declared));
        }
    }
}

/// Words with a meaning in solvers only.
pub(super) const WORDS: [&str; 3] = ["below", "above", "normal"];

fn taken(word: &str, span: Span) -> Diagnostic {
    let message = format!("`{word}` has a meaning in Riemann solvers");
    Diagnostic::new(Code::BadName, span, message).help("choose another name")
}

/// Reports a name that no scheme could mean the solver by.
fn named(scope: &mut Scope<'_>, system: &System, earlier: &[SolverItem], name: &Name) {
    if let Some(problem) = names::shape_problem(&name.text) {
        scope.report(Diagnostic::new(Code::BadName, name.span, problem));
    }
    let text = &name.text;
    let twice = earlier.iter().find(|other| other.name.text == *text);
    let known = riemann::find(text).map(|_| "is a Riemann solver of the language");
    if let Some(what) = twice.map(|_| "is declared twice").or(known) {
        let mut diagnostic =
            Diagnostic::new(Code::DuplicateName, name.span, format!("`{text}` {what}"));
        if let Some(first) = twice {
            diagnostic = diagnostic.note_at(first.name.span, "the first is here");
        }
        scope.report(diagnostic.help("schemes choose solvers by name: give it another one"));
    }
    if system.fluxes.is_empty() {
        let diagnostic = Diagnostic::new(Code::BadSolver, name.span, "a solver without flux");
        scope.report(diagnostic.help("write `conserved h: ..;` and `flux h -> ..;`"));
    }
}

fn solver<'a>(
    scope: &mut Scope<'a>,
    law: Option<Law<'_>>,
    item: &'a SolverItem,
) -> Option<RiemannSolver> {
    let (errors, own) = (scope.errors(), scope.expansion.lets.len());
    let mut body = Terms::new(scope, 0, Place::Riemann);
    let mut whole = item.whole;
    for named in &item.lets {
        // After an error the names below it mean nothing.
        whole = whole && body.named_line(named).is_some();
    }
    let mut values = Vec::new();
    for line in item.values.iter().filter(|_| whole) {
        body.at = line.at;
        let value = body.local_value(&line.value);
        values.extend(value.and_then(|value| solved(body.scope, line, value)));
    }
    let given = item.waves.iter().filter(|_| whole);
    let waves: Vec<_> = given.filter_map(|wave| solver_waves::wave(&mut body, wave)).collect();
    let lets = scope.split_lets(own);
    let (name, span, gives) = (item.name.text.clone(), item.name.span, solver_waves::gives(item));
    let solver = RiemannSolver { name, lets, gives, values, waves, span };
    let complete = solver.values.len() == item.values.len();
    if !whole || !complete || solver.waves.len() < item.waves.len() {
        return None;
    }
    if let Some(law) = law.filter(|law| !law.fluxes.is_empty() && scope.errors() == errors) {
        self::complete(scope, law, item, &solver);
    }
    (scope.errors() == errors).then_some(solver)
}

/// One line: a field or a `let`, and its value at the face or its flux.
pub(super) fn solved(scope: &mut Scope<'_>, line: &SolvedItem, value: Term) -> Option<Solved> {
    let (name, span) = (&line.name, line.name.span);
    let of = match scope.names.get(name.text.as_str()).copied() {
        Some((Meaning::Field(field, rank), _)) => Term::of(TermKind::Field(field), rank?, span),
        Some((Meaning::Let(at), _)) => {
            let (at, rank) = scope.let_meaning.get(at).copied().flatten()?;
            Term::of(TermKind::Let(at), rank, span)
        }
        Some((meaning, _)) => {
            let message = format!("`{}` is {}, and not of a face", name.text, meaning.kind());
            let diagnostic = Diagnostic::new(Code::BadSolver, span, message);
            scope.report(diagnostic.help("a solver gives what is primitive, or what is conserved"));
            return None;
        }
        None => {
            let diagnostic = scope.unknown(name, &[]);
            scope.report(diagnostic.help("a name of the solver is made with `let`"));
            return None;
        }
    };
    if of.rank != value.rank {
        let what = match line.gives {
            Gives::State | Gives::Waves => "value",
            Gives::Fluxes | Gives::FluxWaves => "flux along the normal",
        };
        scope.report(unequal(what, &name.text, of.rank, value.rank, value.span));
        return None;
    }
    let span = line.span;
    Some(Solved { of, value, span })
}

/// Reports values that a solver gives twice, lacks, or should not give.
fn complete(scope: &mut Scope<'_>, law: Law<'_>, item: &SolverItem, solver: &RiemannSolver) {
    let wrong = solver_waves::mixed(item, solver.gives);
    if let Some((span, message, help)) = wrong.or_else(|| repeated(item, solver.gives)) {
        scope.report(Diagnostic::new(Code::BadSolver, span, message).help(help));
        return;
    }
    if solver.gives.are_waves() {
        return scope.complete_waves(solver, law.fluxes);
    }
    let (needed, what) = law.needed(solver, &scope.expansion.lets);
    let given = |kind: &TermKind| solver.values.iter().any(|line| line.of.kind == *kind);
    let [before, between] = words(solver.gives);
    for kind in needed.iter().filter(|kind| !given(kind)) {
        let name = scope.name_of(kind);
        let message = format!("`{}` does not give `{name}`", solver.name);
        let help = format!("write `{before}{name}{between}..;`: a solver gives all that is {what}");
        let diagnostic = Diagnostic::new(Code::BadSolver, item.name.span, message);
        scope.report(diagnostic.help(help));
    }
    let lines = solver.values.iter();
    for line in lines.filter(|line| !needed.contains(&line.of.kind)) {
        let name = scope.name_of(&line.of.kind);
        let message = format!("`{}` gives `{name}`, which is not {what}", solver.name);
        let diagnostic = Diagnostic::new(Code::BadSolver, line.span, message);
        let help = "it follows from the others: remove the line, or name a value with `let`";
        scope.report(diagnostic.help(help));
    }
}

/// The error in the lines of a solver by themselves, its place, and the way out.
fn repeated(item: &SolverItem, gives: Gives) -> Option<(Span, String, &'static str)> {
    for (i, line) in item.values.iter().enumerate() {
        let name = &line.name.text;
        if line.gives != gives {
            let message = format!("both the state at a face and a flux of `{name}`");
            let help = "fluxes follow from the state: give one or the other";
            return Some((line.span, message, help));
        }
        let mut earlier = item.values[..i].iter();
        if earlier.any(|other| other.name.text == *name) {
            return Some((line.span, format!("`{name}` is given twice"), "give it once"));
        }
    }
    None
}

/// The conservation law of a system.
#[derive(Clone, Copy)]
pub(super) struct Law<'l> {
    pub(super) fluxes: &'l [Flux],
    pub(super) primitives: Option<&'l Primitives>,
}

impl Law<'_> {
    /// The terms that a solver has to give, and their name: all primitives, or all conserved fields, and for a state
    /// the other fields of which fluxes are made.
    fn needed(&self, solver: &RiemannSolver, lets: &[Let]) -> (Vec<TermKind>, &'static str) {
        let given = |kind: &TermKind| solver.values.iter().any(|line| line.of.kind == *kind);
        let conserved = self.fluxes.iter().map(|flux| TermKind::Field(flux.field));
        let mut needed: Vec<TermKind> = conserved.collect();
        if solver.gives == Gives::Fluxes {
            return (needed, "conserved");
        }
        let primitives = self.primitives.filter(|_| !needed.iter().all(given));
        if let Some(primitives) = primitives {
            let kinds = primitives.variables.iter().map(|v| v.kind.clone());
            needed = kinds.collect();
        }
        let (mut read, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let follow = primitives.iter().flat_map(|p| &p.conserved);
        let values = self.fluxes.iter().map(|flux| &flux.value);
        for value in values.chain(follow.map(|followed| &followed.value)) {
            reads(value, lets, &mut seen, &needed, &mut read);
        }
        let flows = |field: &usize| self.fluxes.iter().any(|flux| flux.field == *field);
        let follows = |field: &usize| {
            let mut follow = primitives.iter().flat_map(|p| &p.conserved);
            follow.any(|followed| followed.field == *field)
        };
        let still = read.into_iter();
        let still = still.filter(|field| !flows(field) && !follows(field));
        needed.extend(still.map(TermKind::Field));
        let what = primitives.map_or("conserved", |_| "primitive");
        (needed, what)
    }
}

/// The fields that a term is made of in addition to the given ones, without those of `let`s that were visited.
fn reads(
    term: &Term,
    lets: &[Let],
    seen: &mut BTreeSet<usize>,
    given: &[TermKind],
    found: &mut BTreeSet<usize>,
) {
    if given.contains(&term.kind) {
        return;
    }
    match &term.kind {
        TermKind::Field(field) => {
            found.insert(*field);
        }
        TermKind::Let(at) => {
            if let Some(named) = lets.get(*at)
                && seen.insert(*at)
            {
                reads(&named.value, lets, seen, given, found);
            }
        }
        _ => {}
    }
    for part in term.parts() {
        reads(part, lets, seen, given, found);
    }
}

impl Scope<'_> {
    /// The name of a field or a `let` of the system.
    pub(super) fn name_of(&self, kind: &TermKind) -> &str {
        let mut declared = self.names.iter();
        let found = declared.find(|(_, (meaning, _))| match (meaning, kind) {
            (Meaning::Field(at, _), TermKind::Field(field)) => at == field,
            (Meaning::Let(at), TermKind::Let(named)) => {
                let known = self.let_meaning.get(*at).copied().flatten();
                known.is_some_and(|(at, _)| at == *named)
            }
            _ => false,
        });
        found.map_or("", |(name, _)| name)
    }
}

impl Terms<'_, '_> {
    /// A `let` of a solver.
    fn named_line(&mut self, item: &LetItem) -> Option<()> {
        self.at = item.at;
        let name = &item.name;
        if WORDS.contains(&name.text.as_str()) {
            self.scope.report(taken(&name.text, name.span));
            return None;
        }
        let value = self.local_value(item.value.as_ref()?)?;
        self.declare_within(&item.name, value, item.within.clone(), false)
    }

    /// The side of a face that an expression is, if it is one.
    pub(super) fn side(&self, ast: &Ast) -> Option<Side> {
        let AstKind::Name(text) = &ast.kind else {
            return None;
        };
        let found = Side::ALL.iter().find(|(name, _)| name == text);
        let found = found.filter(|_| self.place == Place::Riemann);
        found.map(|(_, side)| *side)
    }

    /// `below.p`: a field or a `let` in the state on a side.
    pub(super) fn on_side(&mut self, side: Side, name: &Name) -> Typed {
        let span = name.span;
        let (of, rank) = match self.scope.names.get(name.text.as_str()).copied() {
            Some((Meaning::Field(field, rank), _)) => (TermKind::Field(field), rank?),
            Some((Meaning::Let(index), declared)) => {
                if self.scope.let_at(index) >= self.at {
                    return self.before_definition(name, declared);
                }
                let (at, rank) = self.scope.let_meaning.get(index).copied().flatten()?;
                (TermKind::Let(at), rank)
            }
            Some((meaning, _)) => {
                let (text, kind) = (&name.text, meaning.kind());
                let message = format!("`{text}` is {kind}, and no part of a state");
                let diagnostic = Diagnostic::new(Code::WrongUse, span, message);
                let help = "a state has fields, and `let`s that are made of them";
                self.scope.report(diagnostic.help(help));
                return None;
            }
            None => {
                let diagnostic = self.scope.unknown(name, &[]);
                self.scope.report(diagnostic);
                return None;
            }
        };
        let of = Term::of(of, rank, span);
        let errors = self.scope.errors();
        at_faces(self.scope, "a state", &of);
        let kind = TermKind::Side(side, Box::new(of));
        (self.scope.errors() == errors).then_some((kind, rank))
    }

    /// `flux(below.m)`: the flux of a conserved field along the normal in the state on a side, written out.
    pub(super) fn flux_of_side(&mut self, arguments: &[Ast], span: Span) -> Typed {
        let of = match arguments {
            [Ast { kind: AstKind::Component(of, name), .. }] => self.side(of).zip(Some(name)),
            _ => None,
        };
        let Some((side, name)) = of else {
            let message = "`flux(..)` is of a conserved field on a side of the face";
            let diagnostic = Diagnostic::new(Code::WrongUse, span, message);
            self.scope.report(diagnostic.help("write `flux(below.m)` or `flux(above.m)`"));
            return None;
        };
        let flux = match self.scope.names.get(name.text.as_str()) {
            Some((Meaning::Field(field, _), _)) => {
                let mut all = self.scope.fluxes.iter();
                all.find(|flux| flux.field == *field).cloned()
            }
            Some(_) => None,
            None => {
                let diagnostic = self.scope.unknown(name, &[]);
                self.scope.report(diagnostic);
                return None;
            }
        };
        let Some(flux) = flux else {
            let message = format!("`{}` has no flux", name.text);
            let diagnostic = Diagnostic::new(Code::NoFlux, name.span, message);
            self.scope.report(diagnostic.help("only what is conserved flows"));
            return None;
        };
        let value = seen_on(side, &flux.value, &self.scope.expansion.lets);
        let along = match (flux.value.has_normal(), flux.value.rank) {
            (true, _) => value,
            (false, rank) => {
                let rank = if rank == Rank::Vector { Rank::Scalar } else { Rank::Vector };
                let normal = Term::of(TermKind::Normal, Rank::Vector, span);
                Term::of(TermKind::Call(Function::DOT, vec![normal, value]), rank, span)
            }
        };
        let rank = along.rank;
        let base = format!("flux_{}_{}", name.text, side.name());
        let term = self.scope.shared(&base, along)?;
        Some((term.kind, rank))
    }

    /// Reports a side without a name behind it.
    pub(super) fn bare_side(&mut self, name: &Name) -> Typed {
        let text = &name.text;
        let message = format!("`{text}` is a side of a face");
        let diagnostic = Diagnostic::new(Code::WrongUse, name.span, message);
        self.scope.report(diagnostic.help(format!("write `{text}.p` for `p` on that side")));
        None
    }

    /// A `let` that is the same on both sides, being made of parameters.
    pub(super) fn uniform_let(&mut self, name: &Name, index: usize, declared: Span) -> Typed {
        if self.scope.let_at(index) >= self.at {
            return self.before_definition(name, declared);
        }
        let (at, rank) = self.scope.let_meaning.get(index).copied().flatten()?;
        let of = Term::of(TermKind::Let(at), rank, name.span);
        if of.is_uniform(&self.scope.expansion.lets) {
            return Some((of.kind, rank));
        }
        self.not_visible(name, Meaning::Let(index))
    }
}

/// A function of fields, with fields replaced by those on a side of a face.
fn seen_on(side: Side, of: &Term, lets: &[Let]) -> Term {
    match of.kind {
        TermKind::Let(_) if of.is_uniform(lets) => of.clone(),
        TermKind::Field(_) | TermKind::Let(_) => {
            Term { kind: TermKind::Side(side, Box::new(of.clone())), ..of.clone() }
        }
        _ => of.with_parts(&mut |part| seen_on(side, part, lets)),
    }
}

impl Term {
    /// Is it made of numbers, parameters and the time alone?
    pub(super) fn is_uniform(&self, lets: &[Let]) -> bool {
        let mut found = BTreeSet::new();
        reads(self, lets, &mut BTreeSet::new(), &[], &mut found);
        found.is_empty() && beside_states(self, lets).is_none()
    }
}

impl Model {
    /// The invariants of the solvers.
    pub(super) fn check_solvers(&self) -> Checked {
        let mut names = BTreeSet::new();
        for solver in &self.solvers {
            let name = &solver.name;
            let free = names::shape_problem(name).is_none() && riemann::find(name).is_none();
            ensure(free && names.insert(name), || format!("a second solver `{name}`"))?;
            ensure(!self.fluxes.is_empty(), || format!("`{name}` without fluxes"))?;
            let (all, own) = (self.with_lets_of(solver), self.lets.len());
            for (at, named) in all.lets.iter().enumerate().skip(own) {
                all.check_whole(&named.value, Sees::Sides(own, at))
                    .map_err(|problem| format!("in `let {}` of `{name}`: {problem}", named.name))?;
            }
            let mut given = Vec::new();
            for line in &solver.values {
                all.check_whole(&line.of, Sees::Lets(own))
                    .and_then(|()| all.check_whole(&line.value, Sees::Sides(own, all.lets.len())))
                    .map_err(|problem| format!("in `{name}`: {problem}"))?;
                let fits = line.of.rank == line.value.rank && !given.contains(&&line.of.kind);
                ensure(fits, || format!("`{name}` gives what does not fit"))?;
                given.push(&line.of.kind);
            }
            let (fluxes, primitives) = (&self.fluxes, self.primitives.as_ref());
            self.check_waves(&all, solver, own)?;
            if solver.gives.are_waves() {
                ensure(given.is_empty(), || format!("`{name}` gives more than waves"))?;
                continue;
            }
            let (needed, _) = Law { fluxes, primitives }.needed(solver, &self.lets);
            let complete =
                needed.len() == given.len() && needed.iter().all(|kind| given.contains(&kind));
            ensure(complete, || format!("`{name}` does not give what flows"))?;
        }
        Ok(())
    }

    /// The rank of the name behind a side.
    pub(super) fn rank_on_side(&self, of: &Term) -> Result<Rank, String> {
        let named = matches!(of.kind, TermKind::Field(_) | TermKind::Let(_));
        ensure(named && beside_faces(of, &self.lets).is_none(), || {
            "a side of what is no part of a state".to_string()
        })?;
        Ok(of.rank)
    }
}
