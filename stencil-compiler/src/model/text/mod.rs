//! A model as source in its own language: `parse_str(&print(m))` is `m`, but for places.

use super::parse::number;
use super::{Comparison, Equation, Field, Let, Model, Param, Rational, Term, TermKind};
use crate::diag::Span;

#[cfg(test)]
mod tests;

/// Prints a model that passes [`Model::check`].
pub fn print(model: &Model) -> String {
    let mut out = String::new();
    for line in &model.doc {
        let space = if line.is_empty() { "" } else { " " };
        out.push_str(&format!("///{space}{line}\n"));
    }
    out.push_str(&format!(
        "pub system {} in {}d {{\n",
        model.name, model.dimension
    ));
    for field in &model.fields {
        let (name, rank, unit) = (&field.name, field.rank.name(), unit(&field.unit));
        out.push_str(&format!("    field {name}: {rank}{unit};\n"));
    }
    for param in &model.params {
        out.push_str(&format!("    {};\n", param_text(param)));
    }
    for item in &model.lets {
        let value = expression(model, &item.value);
        out.push_str(&format!("    let {} = {value};\n", item.name));
    }
    for equation in &model.equations {
        let rhs = expression(model, &equation.rhs);
        let field = name(model.fields.get(equation.field).map(|f| &f.name));
        out.push_str(&format!("    ddt({field}) = {rhs};\n"));
    }
    out.push_str("}\n");
    let scheme = &model.scheme;
    out.push_str(&format!("scheme {} for {} {{\n", scheme.name, model.name));
    out.push_str(&format!("    space: central<order = {}>;\n", scheme.order));
    out.push_str(&format!("    mixed: {};\n", scheme.mixed.name()));
    out.push_str(&format!("    time: {};\n}}\n", scheme.time));
    out
}

/// Prints an expression with as few parentheses as it needs.
pub fn expression(model: &Model, term: &Term) -> String {
    let mut out = String::new();
    write(&mut out, model, term, Level::Sum);
    out
}

/// How tightly a form binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Unary,
    Power,
    Atom,
}

fn level(term: &Term) -> Level {
    match &term.kind {
        TermKind::Add(..) | TermKind::Sub(..) => Level::Sum,
        TermKind::Mul(..) | TermKind::Div(..) => Level::Product,
        TermKind::Neg(_) => Level::Unary,
        TermKind::Pow(..) => Level::Power,
        TermKind::Number(_)
        | TermKind::Field(_)
        | TermKind::Param(_)
        | TermKind::Let(_)
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
    match &term.kind {
        TermKind::Number(value) => out.push_str(&number_text(value)),
        TermKind::Field(i) => out.push_str(name(model.fields.get(*i).map(|f| &f.name))),
        TermKind::Param(i) => out.push_str(name(model.params.get(*i).map(|p| &p.name))),
        TermKind::Let(i) => out.push_str(name(model.lets.get(*i).map(|l| &l.name))),
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
            let times = if *times == 2 { "2" } else { "" };
            out.push_str(&format!("d{times}[{}](", letter(*axis)));
            write(out, model, of, Level::Sum);
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
        write(out, model, term, Level::Sum);
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
    if let Some(default) = &param.default {
        out.push_str(&format!(" = {}", number_text(default)));
    }
    for (i, (comparison, bound)) in param.bounds.iter().enumerate() {
        let word = if i == 0 { "where" } else { "and" };
        let sign = comparison.text();
        let bound = number_text(bound);
        out.push_str(&format!(" {word} {} {sign} {bound}", param.name));
    }
    out
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

/// A number: a decimal if there is a finite one, else a fraction in parentheses.
fn number_text(value: &Rational) -> String {
    if let Some(text) = number::print(value) {
        return text;
    }
    let positive = value
        .numer()
        .checked_neg()
        .map(|n| Rational::new_raw(n, *value.denom()));
    match positive.as_ref().and_then(number::print) {
        Some(text) => format!("-{text}"),
        None => format!("({}/{})", value.numer(), value.denom()),
    }
}

impl Model {
    /// The model with every place unknown, to compare models from different sources.
    #[must_use]
    pub fn without_spans(&self) -> Model {
        let span = Span::default();
        let field = |f: &Field| Field { span, ..f.clone() };
        let param = |p: &Param| Param { span, ..p.clone() };
        let item = |l: &Let| Let {
            name: l.name.clone(),
            value: l.value.without_spans(),
            span,
        };
        let equation = |e: &Equation| Equation {
            field: e.field,
            rhs: e.rhs.without_spans(),
            span,
        };
        Model {
            name: self.name.clone(),
            doc: self.doc.clone(),
            dimension: self.dimension,
            fields: self.fields.iter().map(field).collect(),
            params: self.params.iter().map(param).collect(),
            lets: self.lets.iter().map(item).collect(),
            equations: self.equations.iter().map(equation).collect(),
            scheme: self.scheme.clone(),
        }
    }
}

impl Term {
    /// The expression with every place unknown.
    #[must_use]
    pub fn without_spans(&self) -> Term {
        let one = |a: &Term| Box::new(a.without_spans());
        let all = |terms: &[Term]| terms.iter().map(Term::without_spans).collect();
        let kind = match &self.kind {
            TermKind::Number(value) => TermKind::Number(*value),
            TermKind::Field(i) => TermKind::Field(*i),
            TermKind::Param(i) => TermKind::Param(*i),
            TermKind::Let(i) => TermKind::Let(*i),
            TermKind::Neg(a) => TermKind::Neg(one(a)),
            TermKind::Add(a, b) => TermKind::Add(one(a), one(b)),
            TermKind::Sub(a, b) => TermKind::Sub(one(a), one(b)),
            TermKind::Mul(a, b) => TermKind::Mul(one(a), one(b)),
            TermKind::Div(a, b) => TermKind::Div(one(a), one(b)),
            TermKind::Pow(a, n) => TermKind::Pow(one(a), *n),
            TermKind::Stack(entries) => TermKind::Stack(all(entries)),
            TermKind::Component(a, axes) => TermKind::Component(one(a), axes.clone()),
            TermKind::Derivative { axis, times, of } => TermKind::Derivative {
                axis: *axis,
                times: *times,
                of: one(of),
            },
            TermKind::Call(function, arguments) => TermKind::Call(*function, all(arguments)),
        };
        Term {
            kind,
            rank: self.rank,
            span: Span::default(),
        }
    }
}
