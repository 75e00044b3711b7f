//! Expressions of a problem file: formulas of the coordinates, the time, the parameters and of names from `[let]`.

use std::cell::RefCell;
use std::sync::Arc;

use stencil_compiler::diag::Diagnostics;
use stencil_compiler::model::formula::{Formula, Meaning, Scratch};

use super::document::{Data, Item, Table};
use super::reader::{Name, Reader};
use super::write::{number, quoted};
use crate::backend::cpu::AlongX;

/// Names of numbers that do not depend on place and time.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    names: Vec<String>,
    values: Vec<f64>,
}

impl Constants {
    /// Adds a number, or replaces an older one of this name.
    pub(super) fn set(&mut self, name: &str, value: f64) {
        match self.names.iter().position(|n| n == name) {
            Some(at) => self.values[at] = value,
            None => {
                self.names.push(name.to_string());
                self.values.push(value);
            }
        }
    }

    /// Is `name` one of these, and used in a formula of them?
    pub(super) fn uses(&self, name: &str, text: &str) -> bool {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let formula = Formula::parse(text, &names);
        names.contains(&name) && formula.is_ok_and(|formula| formula.uses(name))
    }

    /// Returns the value of a formula of these names.
    pub(super) fn evaluate(&self, text: &str) -> Result<f64, Diagnostics> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        Ok(Formula::parse(text, &names)?.eval(&self.values))
    }
}

/// A formula of the coordinates, the time, the parameters and of named expressions.
///
/// ```
/// use stencil_runtime::problem::{Library, Problem};
///
/// let text = "
/// system = 'pub system Wave in 1d { field q: scalar; param c: real = 2; ddt(q) = -c * d[x](q); }'
/// mesh.cells = 32
/// mesh.extent = '2*pi'
/// time = { dt = 0.01, end = 1 }
/// exact.q = 'sin(x - c*t)'
/// ";
/// let problem = Problem::parse("wave.toml", text, ".", &Library::empty(), &[])?;
/// let exact = &problem.exact["q"];
/// assert_eq!(exact.at([2.0, 0.0, 0.0], 1.0, &[]), 0.0);
/// assert_eq!(exact.text(), "sin(x - c*t)");
/// # Ok::<(), stencil_runtime::problem::ProblemError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    body: Body,
}

#[derive(Clone, Debug)]
enum Body {
    Number(f64),
    Formula(Arc<Parts>),
}

#[derive(Debug)]
struct Parts {
    /// Values of all names; coordinates, time, named expressions and components are filled in at each evaluation.
    values: Vec<f64>,
    axes: usize,
    /// The named expressions that are used and vary, with the place of their value.
    lets: Vec<(usize, Arc<Formula>)>,
    /// Index of the first component.
    components: usize,
    /// Indices of the components that are used.
    reads: Vec<usize>,
    formula: Formula,
    varies: Varies,
}

/// Does an expression depend on the place or the time?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Varies {
    pub(super) place: bool,
    pub(super) time: bool,
}

impl Expression {
    /// Returns the formula as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its value at a point and a time; components, if it uses them, have these values.
    pub fn at(&self, point: [f64; 3], t: f64, components: &[f64]) -> f64 {
        match &self.body {
            Body::Number(value) => *value,
            Body::Formula(parts) => parts.at(point, t, components),
        }
    }

    /// Sets a value for each of these x, at one y and z and at a time. It reads no components.
    pub(super) fn along_x(&self, xs: &[f64], [y, z]: [f64; 2], t: f64, values: &mut [f64]) {
        match &self.body {
            Body::Number(value) => values.fill(*value),
            Body::Formula(parts) => parts.along_x(xs, [y, z], t, values),
        }
    }

    /// Returns the value, if it is the same everywhere and always.
    pub fn constant(&self) -> Option<f64> {
        match &self.body {
            Body::Number(value) => Some(*value),
            Body::Formula(parts) => {
                let fixed = parts.varies == Varies::default() && parts.reads.is_empty();
                fixed.then(|| parts.at([0.0; 3], 0.0, &[]))
            }
        }
    }

    /// Returns it as a formula of x, y, z and t; `None` if it is a number, or made of components.
    pub(super) fn to_formula(&self) -> Option<Formula> {
        match &self.body {
            Body::Formula(parts) if parts.reads.is_empty() => Some(parts.to_formula()),
            Body::Formula(_) | Body::Number(_) => None,
        }
    }

    /// Does its value depend on the time?
    pub fn uses_time(&self) -> bool {
        match &self.body {
            Body::Number(_) => false,
            Body::Formula(parts) => parts.varies.time,
        }
    }

    /// Does its value depend on the place or the time?
    pub(super) fn varies(&self) -> bool {
        match &self.body {
            Body::Number(_) => false,
            Body::Formula(parts) => parts.varies != Varies::default(),
        }
    }

    /// Returns the indices of the components that it reads.
    pub fn reads(&self) -> &[usize] {
        match &self.body {
            Body::Number(_) => &[],
            Body::Formula(parts) => &parts.reads,
        }
    }
}

impl Parts {
    fn to_formula(&self) -> Formula {
        let names = ["x", "y", "z", "t"].map(String::from);
        let mut named: Vec<(usize, Formula)> = Vec::with_capacity(self.lets.len());
        for (slot, formula) in &self.lets {
            let closed = formula.over(&names, &self.meanings(&named));
            named.push((*slot, closed));
        }
        self.formula.over(&names, &self.meanings(&named))
    }

    /// Returns the meaning of each name for a formula of x, y, z and t.
    fn meanings<'f>(&self, named: &'f [(usize, Formula)]) -> Vec<Meaning<'f>> {
        let mut all: Vec<Meaning<'f>> = self.values.iter().copied().map(Meaning::Number).collect();
        for (axis, slot) in all.iter_mut().enumerate().take(self.axes) {
            *slot = Meaning::Name(axis);
        }
        all[self.axes] = Meaning::Name(3);
        for (slot, formula) in named {
            all[*slot] = Meaning::Formula(formula);
        }
        all
    }

    fn at(&self, point: [f64; 3], t: f64, components: &[f64]) -> f64 {
        WORK.with_borrow_mut(|(values, scratch)| {
            values.clear();
            values.extend_from_slice(&self.values);
            values[..self.axes].copy_from_slice(&point[..self.axes]);
            values[self.axes] = t;
            for (slot, value) in values[self.components..].iter_mut().zip(components) {
                *slot = *value;
            }
            for (slot, formula) in &self.lets {
                values[*slot] = formula.eval_with(scratch, &values[..*slot]);
            }
            self.formula.eval_with(scratch, values)
        })
    }

    fn along_x(&self, xs: &[f64], [y, z]: [f64; 2], t: f64, values: &mut [f64]) {
        let mut names = self.values.clone();
        names[..self.axes].copy_from_slice(&[0.0, y, z][..self.axes]);
        names[self.axes] = t;
        let (lets, formula) = (&self.lets[..], &self.formula);
        AlongX { names: &names, lets, formula, xs, values }.eval();
    }
}

thread_local! {
    /// Room for values: expressions are evaluated millions of times, on several threads.
    static WORK: RefCell<(Vec<f64>, Scratch)> = RefCell::default();
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        let params = |body: &Body| match body {
            Body::Number(value) => vec![*value],
            Body::Formula(parts) => parts.values.clone(),
        };
        self.text == other.text && params(&self.body) == params(&other.body)
    }
}

/// A named expression.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    text: String,
    formula: Arc<Formula>,
    varies: Varies,
}

/// The names that the expressions of a file may use.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    axes: Vec<String>,
    params: Vec<(String, f64)>,
    lets: Vec<Named>,
}

impl Scope {
    /// Makes a scope of coordinates, time and parameters.
    pub(super) fn new(dimension: usize, params: Vec<(String, f64)>) -> Self {
        let axes = ["x", "y", "z"].into_iter().take(dimension);
        Scope { axes: axes.map(str::to_string).collect(), params, lets: Vec::new() }
    }

    /// Returns the names in the order of their values: coordinates, t, parameters, named expressions.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.axes.iter().map(String::as_str).collect();
        names.push("t");
        names.extend(self.params.iter().map(|(name, _)| name.as_str()));
        names.extend(self.lets.iter().map(|named| named.name.as_str()));
        names
    }

    /// Returns names and texts of the named expressions.
    pub(super) fn lets(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lets.iter().map(|l| (l.name.as_str(), l.text.as_str()))
    }

    /// Reads `[let]`: each expression may use those above it.
    pub(super) fn read_lets(&mut self, table: &Table, taken: &[&str], reader: &mut Reader) {
        for entry in &table.entries {
            if let Some((message, help)) = self.bad_name(&entry.key, taken) {
                reader.bad(entry.at, message, help);
                continue;
            }
            let Some(text) = formula_text(Name("let", &entry.key), &entry.item, reader) else {
                continue;
            };
            match Formula::parse(&text, &self.names()) {
                Err(errors) => reader.mistakes.expression(entry.item.at, &text, &errors),
                Ok(formula) => {
                    let varies = self.varies(&formula);
                    let named =
                        Named { name: entry.key.clone(), text, formula: Arc::new(formula), varies };
                    self.lets.push(named);
                    if varies == Varies::default() {
                        self.offer(&entry.key, reader);
                    }
                }
            }
        }
    }

    /// Offers a constant to other settings that take numbers.
    fn offer(&self, name: &str, reader: &mut Reader) {
        if let Ok(expression) = self.compile(name, &[]) {
            let value = expression.at([0.0; 3], 0.0, &[]);
            reader.constants.set(name, value);
        }
    }

    /// Returns the reason why a name cannot be given, and the way out.
    pub(super) fn bad_name(&self, name: &str, taken: &[&str]) -> Option<(String, String)> {
        let word = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !word {
            let message = format!("`{name}` cannot be a name");
            return Some((message, "use letters, digits and _, and begin with a letter".into()));
        }
        let of_file = ["x", "y", "z", "t", "h", "pi"];
        let known = self.names();
        if of_file.contains(&name) || known.contains(&name) || taken.contains(&name) {
            let message = format!("the name `{name}` is taken");
            return Some((
                message,
                "choose another name; x, y, z, t, h, pi and names of the system are taken".into(),
            ));
        }
        None
    }

    fn varies(&self, formula: &Formula) -> Varies {
        let used = self.lets.iter().filter(|l| formula.uses(&l.name));
        let own = Varies {
            place: self.axes.iter().any(|axis| formula.uses(axis)),
            time: formula.uses("t"),
        };
        used.fold(own, |a, l| Varies {
            place: a.place || l.varies.place,
            time: a.time || l.varies.time,
        })
    }

    /// Reads a number or a formula; `components` are further names, with values at evaluation.
    pub(super) fn read(
        &self,
        name: Name<'_>,
        item: &Item,
        components: &[String],
        reader: &mut Reader,
    ) -> Option<Expression> {
        let text = match &item.data {
            Data::Integer(number) => return Some(self.number(*number as f64)),
            Data::Number(number) if number.is_finite() => return Some(self.number(*number)),
            _ => formula_text(name, item, reader)?,
        };
        match self.compile(&text, components) {
            Ok(expression) => Some(expression),
            Err(errors) => {
                reader.mistakes.expression(item.at, &text, &errors);
                None
            }
        }
    }

    /// Returns an expression that is the same number everywhere.
    pub(super) fn number(&self, value: f64) -> Expression {
        Expression { text: format!("{value:?}"), body: Body::Number(value) }
    }

    fn compile(&self, text: &str, components: &[String]) -> Result<Expression, Diagnostics> {
        let mut names = self.names();
        let first = names.len();
        names.extend(components.iter().map(String::as_str));
        let formula = Formula::parse(text, &names)?;
        let mut values = vec![0.0; names.len()];
        let params = self.axes.len() + 1;
        for (slot, (_, value)) in values[params..].iter_mut().zip(&self.params) {
            *slot = *value;
        }
        let lets = self.used_lets(&formula, &mut values);
        let parts = Parts {
            values,
            axes: self.axes.len(),
            lets,
            components: first,
            reads: (0..components.len()).filter(|i| formula.uses(&components[*i])).collect(),
            varies: self.varies(&formula),
            formula,
        };
        Ok(Expression { text: text.to_string(), body: Body::Formula(Arc::new(parts)) })
    }

    /// Returns the named expressions that a formula needs, directly or not, in the order of the file. Constant ones
    /// get their values here.
    fn used_lets(&self, formula: &Formula, values: &mut [f64]) -> Vec<(usize, Arc<Formula>)> {
        let first = self.axes.len() + 1 + self.params.len();
        let mut used: Vec<(usize, Arc<Formula>)> = Vec::new();
        for (i, named) in self.lets.iter().enumerate().rev() {
            let needed =
                formula.uses(&named.name) || used.iter().any(|(_, user)| user.uses(&named.name));
            if needed {
                used.push((first + i, named.formula.clone()));
            }
        }
        used.reverse();
        used.retain(|(slot, formula)| {
            let constant = self.lets[*slot - first].varies == Varies::default();
            if constant {
                values[*slot] = formula.eval(&values[..*slot]);
            }
            !constant
        });
        used
    }
}

/// Returns a number or a string as the text of a formula.
fn formula_text(name: Name<'_>, item: &Item, reader: &mut Reader) -> Option<String> {
    match &item.data {
        Data::Text(text) => Some(text.clone()),
        Data::Integer(number) => Some(number.to_string()),
        Data::Number(number) if number.is_finite() => Some(format!("{number:?}")),
        Data::Number(number) => {
            let message = format!("`{}` is {number}", name.path());
            reader.bad(item.at, message, "give a finite number or a formula");
            None
        }
        _ => {
            reader.wrong(name, item, "a number or a formula in quotes");
            None
        }
    }
}

impl Expression {
    /// Writes the expression as a value of a problem file.
    pub(super) fn to_toml(&self) -> String {
        match &self.body {
            Body::Number(value) => number(*value),
            Body::Formula(_) => quoted(&self.text),
        }
    }
}
