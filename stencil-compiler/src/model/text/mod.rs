//! A model as source in its own language: `parse_str(&print(m))` is `m`, except for places.

use super::check::PI;
use super::parse::{number, type_name};
use super::riemann::within_text;
use super::{Average, Comparison, Model, Param, Range, Relation, Repair, Scheme, Term, TermKind};
use crate::catalogue::Rank;
use crate::expr::Rational;

mod lines;
mod spans;
#[cfg(test)]
mod tests;

pub use lines::{face_lines, lets, rates, solver_lines, variable_lines};

/// Prints a model that passes [`Model::check`]. A model of a system `in nd` prints as `in 2d of nd`,
/// with its number of dimensions: the same model is read again, and not another one.
pub fn print(model: &Model) -> String {
    let mut out = String::new();
    for line in &model.doc {
        let space = if line.is_empty() { "" } else { " " };
        out.push_str(&format!("///{space}{line}\n"));
    }
    let generic = if model.generic { " of nd" } else { "" };
    let (name, dimension) = (&model.name, model.dimension);
    out.push_str(&format!("pub system {name} in {dimension}d{generic} {{\n"));
    for line in items(model) {
        out.push_str(&format!("    {line};\n"));
    }
    if let Some(primitives) = &model.primitives {
        out.push_str(&block("primitive", variable_lines(model, primitives, &[])));
    }
    if let Some(at_face) = &model.at_face {
        out.push_str(&block("face", face_lines(model, at_face)));
    }
    if let Some(Average { of, weights }) = &model.average {
        out.push_str(&block("average", variable_lines(model, of, weights)));
    }
    if let Some(waves) = &model.waves {
        out.push_str("    waves {\n");
        for (kind, part) in waves.parts() {
            out.push_str(&format!("        {kind}: {};\n", expression(model, part)));
        }
        out.push_str("    }\n");
    }
    for solver in &model.solvers {
        let lines = solver_lines(model, solver).into_iter();
        out.push_str(&block(&format!("riemann {}", solver.name), lines));
    }
    if !model.speeds.is_empty() {
        out.push_str("    cfl {\n");
        for speed in &model.speeds {
            let value = expression(model, &speed.value);
            out.push_str(&format!("        {}: {value};\n", speed.kind()));
        }
        out.push_str("    }\n");
    }
    out.push_str("}\n");
    for scheme in model.schemes() {
        out.push_str(&scheme_text(model, scheme));
    }
    out
}

/// A block of lines without their semicolons.
fn block(word: &str, lines: impl Iterator<Item = String>) -> String {
    let lines = lines.map(|line| format!("        {line};\n"));
    format!("    {word} {{\n{}    }}\n", lines.collect::<String>())
}

/// The items that end in a semicolon, without it.
fn items(model: &Model) -> Vec<String> {
    let mut out = Vec::new();
    for (i, field) in model.fields.iter().enumerate() {
        let rank = type_name(field.rank, field.symmetry);
        let rank = format!("{rank}{}", model.width_text(field.rank));
        let word = match model.flux_of(i) {
            Some(_) => "conserved",
            None => "field",
        };
        let word = match field.centering.word() {
            "" => word.to_string(),
            place => format!("{place} {word}"),
        };
        let name = &field.name;
        let kept = kept(model, &TermKind::Field(i), name);
        out.push(format!("{word} {name}: {rank}{}{kept}", unit(&field.unit)));
    }
    out.extend(model.params.iter().map(param_text));
    for source in &model.sources {
        let name = &source.name;
        let rank = format!("{}{}", source.rank.name(), model.width_text(source.rank));
        let value = source.value.as_ref();
        let value = value.map_or(String::new(), |v| format!(" = {}", expression(model, v)));
        out.push(format!("source {name}: {rank}{}{value}", unit(&source.unit)));
    }
    for (i, item) in model.lets.iter().enumerate() {
        let value = expression(model, &item.value);
        let kept = kept(model, &TermKind::Let(i), &item.name);
        let within = within_text(item.within.as_ref());
        out.push(format!("let {} = {value}{within}{kept}", item.name));
    }
    for equation in &model.equations {
        out.extend(rates(model, equation).map(|(left, right)| format!("{left}{right}")));
    }
    for item in &model.observables {
        let (name, reduction) = (&item.name, item.reduction.name());
        let value = expression(model, &item.value);
        out.push(format!("observe {name} = {reduction}({value})"));
    }
    out
}

fn scheme_text(model: &Model, scheme: &Scheme) -> String {
    let mut faces = String::new();
    if !model.fluxes.is_empty() {
        let riemann = scheme.riemann_text();
        let made = scheme.reconstruction_text();
        let (sweep, source) = (scheme.sweep.name(), scheme.source.name());
        let repair = scheme.repair.name();
        faces = format!(
            "    riemann: {riemann};\n    reconstruct: {made};\n    sweep: {sweep};\n    source: {source};\n    repair: {repair};\n"
        );
        if !model.products.is_empty() {
            faces.push_str(&format!("    path: {};\n", scheme.path_text()));
        }
    }
    format!(
        "scheme {} for {} {{\n    space: central<order = {}>;\n    mixed: {};\n    arith: {};\n{faces}    time: {};\n}}\n",
        scheme.name,
        model.name,
        scheme.order,
        scheme.mixed.name(),
        scheme.arith.name(),
        scheme.time
    )
}

/// Prints an expression with as few parentheses as it needs.
pub fn expression(model: &Model, term: &Term) -> String {
    let mut out = String::new();
    write(&mut out, model, term, Level::Whole);
    out
}

/// The binding levels of forms, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// Between brackets or on its own.
    Whole,
    Sum,
    Product,
    Unary,
    Power,
    Atom,
}

fn level(term: &Term) -> Level {
    if constant(term).is_some() {
        return Level::Atom;
    }
    match &term.kind {
        TermKind::If(..) => Level::Whole,
        TermKind::Add(..) | TermKind::Sub(..) => Level::Sum,
        TermKind::Mul(..) | TermKind::Div(..) => Level::Product,
        TermKind::Neg(_) => Level::Unary,
        TermKind::Pow(..) => Level::Power,
        TermKind::Number(_)
        | TermKind::Field(_)
        | TermKind::Param(_)
        | TermKind::Let(_)
        | TermKind::Source(_)
        | TermKind::Time
        | TermKind::Epsilon
        | TermKind::Coordinate(_)
        | TermKind::Side(..)
        | TermKind::Normal
        | TermKind::Rise(_)
        | TermKind::Stack(_)
        | TermKind::Component(..)
        | TermKind::Derivative { .. }
        | TermKind::Call(..) => Level::Atom,
    }
}

/// Writes a term where something as tight as `needed` must stand.
fn write(out: &mut String, model: &Model, term: &Term, needed: Level) {
    let parentheses = level(term) < needed;
    if parentheses {
        out.push('(');
    }
    if let Some(word) = constant(term) {
        return out.push_str(word);
    }
    match &term.kind {
        TermKind::Number(value) => out.push_str(&number_text(value)),
        TermKind::Field(i) => out.push_str(name(model.fields.get(*i).map(|f| &f.name))),
        TermKind::Param(i) => out.push_str(name(model.params.get(*i).map(|p| &p.name))),
        TermKind::Let(i) => out.push_str(name(model.lets.get(*i).map(|l| &l.name))),
        TermKind::Source(i) => out.push_str(name(model.sources.get(*i).map(|s| &s.name))),
        TermKind::Time => out.push('t'),
        TermKind::Epsilon => out.push_str("epsilon"),
        TermKind::Coordinate(axis) => out.push(letter(*axis)),
        TermKind::Side(side, of) => {
            out.push_str(side.name());
            out.push('.');
            write(out, model, of, Level::Atom);
        }
        TermKind::Normal => out.push_str("normal"),
        TermKind::Rise(i) => {
            out.push_str(&format!("rise({})", name(model.fields.get(*i).map(|f| &f.name))));
        }
        TermKind::If(relation, parts) => choice(out, model, *relation, parts),
        TermKind::Neg(a) => {
            out.push('-');
            write(out, model, a, Level::Unary);
        }
        TermKind::Add(a, b) => infix(out, model, (a, Level::Sum), " + ", (b, Level::Product)),
        TermKind::Sub(a, b) => infix(out, model, (a, Level::Sum), " - ", (b, Level::Product)),
        TermKind::Mul(a, b) => infix(out, model, (a, Level::Product), " * ", (b, Level::Unary)),
        TermKind::Div(a, b) => infix(out, model, (a, Level::Product), " / ", (b, Level::Unary)),
        TermKind::Pow(a, exponent) => {
            write(out, model, a, Level::Atom);
            if *exponent < 0 {
                out.push_str(&format!("^({exponent})"));
            } else {
                out.push_str(&format!("^{exponent}"));
            }
        }
        TermKind::Stack(entries) => {
            out.push('[');
            list(out, model, entries);
            out.push(']');
        }
        TermKind::Component(a, axes) => {
            write(out, model, a, Level::Atom);
            out.push('.');
            out.extend(axes.iter().map(|axis| letter(*axis)));
        }
        TermKind::Derivative { axis, times, of } => {
            let times = if *times == 1 { String::new() } else { times.to_string() };
            out.push_str(&format!("d{times}[{}](", letter(*axis)));
            write(out, model, of, Level::Whole);
            out.push(')');
        }
        TermKind::Call(function, arguments) => {
            out.push_str(function.name());
            out.push('(');
            list(out, model, arguments);
            out.push(')');
        }
    }
    if parentheses {
        out.push(')');
    }
}

fn infix(
    out: &mut String,
    model: &Model,
    left: (&Term, Level),
    operator: &str,
    right: (&Term, Level),
) {
    write(out, model, left.0, left.1);
    out.push_str(operator);
    write(out, model, right.0, right.1);
}

fn list(out: &mut String, model: &Model, terms: &[Term]) {
    for (i, term) in terms.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        write(out, model, term, Level::Whole);
    }
}

/// `if a < b { c } else { d }`, with `else if` where d is one more.
fn choice(out: &mut String, model: &Model, relation: Relation, parts: &[Term; 4]) {
    let [left, right, then, otherwise] = parts;
    out.push_str("if ");
    write(out, model, left, Level::Sum);
    out.push_str(&format!(" {} ", relation.text()));
    write(out, model, right, Level::Sum);
    out.push_str(" { ");
    write(out, model, then, Level::Whole);
    out.push_str(" } else ");
    if let TermKind::If(relation, parts) = &otherwise.kind {
        return choice(out, model, *relation, parts);
    }
    out.push_str("{ ");
    write(out, model, otherwise, Level::Whole);
    out.push_str(" }");
}

/// The word for a term that has one.
fn constant(term: &Term) -> Option<&'static str> {
    let is = |term: &Term, value: i128| matches!(&term.kind, TermKind::Number(n) if *n == Rational::from_integer(value));
    let is_unit = |i: usize, row: &Term| match &row.kind {
        TermKind::Stack(entries) => {
            (entries.iter().enumerate()).all(|(j, entry)| is(entry, i128::from(i == j)))
        }
        _ => false,
    };
    match &term.kind {
        TermKind::Div(a, b) => (is(a, PI.0) && is(b, PI.1)).then_some("pi"),
        TermKind::Stack(rows) if term.rank == Rank::Tensor => {
            let mut rows = rows.iter().enumerate();
            rows.all(|(i, row)| is_unit(i, row)).then_some("I")
        }
        _ => None,
    }
}

/// A name, or something that does not parse where a model is not valid.
fn name(name: Option<&String>) -> &str {
    name.map_or("?", String::as_str)
}

fn letter(axis: usize) -> char {
    match axis {
        0 => 'x',
        1 => 'y',
        2 => 'z',
        _ => '?',
    }
}

fn unit(unit: &Option<String>) -> String {
    unit.as_ref().map_or(String::new(), |u| format!(" [{u}]"))
}

fn param_text(param: &Param) -> String {
    let mut out = format!("param {}: real{}", param.name, unit(&param.unit));
    if let Some(default) = param.default {
        out.push_str(&format!(" = {}", real(default)));
    }
    out + &bounds_text(&param.name, param.bounds.iter().copied())
}

impl Model {
    /// Its ranges in the language: `rho > 0 and p > 0`; empty without ranges.
    pub fn ranges_text(&self) -> String {
        let one = |range| self.range_text(range).join(" ");
        let all: Vec<String> = self.ranges.iter().map(one).collect();
        all.join(" and ")
    }

    /// One of its ranges in the language: the kept quantity, and the rest.
    pub fn range_text(&self, range: &Range) -> [String; 2] {
        let (sign, bound) = (range.comparison.text(), number_text(&range.bound));
        [expression(self, &range.of), format!("{sign} {bound}")]
    }

    /// The setting that keeps its ranges, and its alternatives; `None` without ranges.
    pub fn repair_text(&self) -> Option<String> {
        let ranges = self.ranges_text();
        let (kept, other) = match self.scheme.repair {
            Repair::Fluxes => (
                "is kept: each flux by which a cell would leave it is replaced by Rusanov's",
                "`repair: none` in the scheme spends nothing on it",
            ),
            Repair::Nothing => (
                "is declared, and nothing keeps it (`repair: none`)",
                "`repair: fluxes` in the scheme does",
            ),
        };
        (!self.ranges.is_empty()).then(|| format!("{ranges} {kept}; {other}"))
    }
}

/// The range of a field or a `let`, if it has one.
fn kept(model: &Model, of: &TermKind, name: &str) -> String {
    let own = model.ranges.iter().filter(|range| range.of.kind == *of);
    bounds_text(name, own.map(|range| (range.comparison, range.bound)))
}

/// ` where nu >= 0 and nu < 1`
fn bounds_text(name: &str, bounds: impl Iterator<Item = (Comparison, Rational)>) -> String {
    let bound = |(i, (comparison, bound)): (usize, (Comparison, Rational))| {
        let word = if i == 0 { "where" } else { "and" };
        format!(" {word} {name} {} {}", comparison.text(), number_text(&bound))
    };
    bounds.enumerate().map(bound).collect()
}

impl Relation {
    /// Its sign in the language.
    pub fn text(self) -> &'static str {
        match self {
            Relation::Less => "<",
            Relation::LessEqual => "<=",
            Relation::Equal => "==",
        }
    }
}

impl Comparison {
    /// Its sign in the language.
    pub fn text(self) -> &'static str {
        match self {
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }
}

/// The shortest text of a number, as a default has it: `0.005`, `-1.054571817e-34`.
pub fn real(value: f64) -> String {
    match number::nearest_decimal(value) {
        Some(exact) => number_text(&exact),
        None => format!("{value:e}"),
    }
}

/// A number: a decimal if there is a finite one, else a fraction in parentheses.
fn number_text(value: &Rational) -> String {
    if let Some(text) = number::print(value) {
        return text;
    }
    let positive = value.numer().checked_neg().map(|n| Rational::new_raw(n, *value.denom()));
    match positive.as_ref().and_then(number::print) {
        Some(text) => format!("-{text}"),
        None => format!("({}/{})", value.numer(), value.denom()),
    }
}
