//! Functions of [`math`] as device functions: the operations of which they are made, written out.

use std::collections::{BTreeMap, BTreeSet};

use super::dialect::{Numbers, literal, real, suffix};
use super::infix::{self, PRIMARY, SIGN, SUM, Spelling};
use super::names::{Scope, identifier_ok};
use super::nest::Tree;
use super::{EmitError, loops};
use crate::expr::math::{self, Recording};
use crate::expr::real::Precision;
use crate::expr::{Defined, Expr, Node, Op, Ref};
use crate::kernel::{Kernel, Operand, Reg, Stmt};

/// Operations in one expression, at most.
const MOST_OPS: usize = 4;

/// The prefix of names of functions that are not the language's own.
const PREFIX: &str = "stencil_";

/// Names of all functions that the text of a kernel may define.
pub(super) fn names(kernel: &Kernel) -> Vec<String> {
    let defined = kernel.defined();
    let spellings = Op::ALL.iter().flat_map(|op| ["f", ""].map(|suffix| op.c(&[], suffix)));
    let of_table = spellings
        .filter_map(|text| text.split_once('(').map(|(name, _)| name.to_string()))
        .filter(|name| name.starts_with(PREFIX));
    let loops = defined.loops.iter().map(|looped| looped.function());
    let routines = defined.routines.iter().flat_map(|of| [of.function(), loops::structure(of)]);
    of_table.chain(loops).chain(routines).collect()
}

/// The functions that kernels call, and those that they call, each defined once before its first use.
pub(super) fn definitions(
    kernels: &[&Kernel],
    precision: Precision,
    dialect: &dyn Numbers,
) -> Result<String, EmitError> {
    let mut used = BTreeSet::new();
    kernels.iter().for_each(|kernel| operations(&kernel.body, &mut used));
    definitions_of(used, precision, dialect)
}

/// The functions for these operations, and those that they call.
fn definitions_of(
    mut used: BTreeSet<Op>,
    precision: Precision,
    dialect: &dyn Numbers,
) -> Result<String, EmitError> {
    let mut recordings = BTreeMap::new();
    let mut defined = Defined::default();
    used.iter().for_each(|op| defined.add(*op));
    for routine in &defined.routines {
        used.extend(routine.body.nodes.iter().filter_map(Node::operation));
    }
    for looped in &defined.loops {
        used.extend(looped.body.nodes.iter().filter_map(Node::operation));
    }
    for op in used.clone() {
        let native = dialect.native().definition(op, precision);
        if let Some(recording) = math::recorded(op, precision).filter(|_| native.is_none()) {
            used.extend(recording.expr.nodes.iter().filter_map(Node::operation));
            recordings.insert(op, recording);
        }
    }
    let mut out = String::new();
    for text in used.iter().filter_map(|op| dialect.native().definition(*op, precision)) {
        out += text;
        out += "\n";
    }
    for (op, recording) in &recordings {
        out += &definition(*op, recording, precision, dialect)?;
        out += "\n";
    }
    for looped in defined.loops {
        out += &loops::definition(looped, precision, dialect)?;
        out += "\n";
    }
    for routine in defined.routines {
        out += &loops::routine(routine, precision, dialect)?;
        out += "\n";
    }
    Ok(out)
}

fn operations(body: &[Stmt], used: &mut BTreeSet<Op>) {
    for stmt in body {
        match stmt {
            Stmt::Let { op, .. } => {
                used.insert(*op);
            }
            Stmt::For { body, .. } | Stmt::If { body, .. } => operations(body, used),
            _ => {}
        }
    }
}

/// Names of arguments, as the table of operations calls them.
const ARGUMENTS: [&str; 4] = ["a", "b", "c", "d"];

fn definition(
    op: Op,
    recording: &Recording,
    precision: Precision,
    dialect: &dyn Numbers,
) -> Result<String, EmitError> {
    let real = real(precision);
    let argument = |at: usize| ARGUMENTS[at].to_string();
    let function = Function::new(recording, &argument, precision, dialect)?;
    let arguments = &ARGUMENTS[..op.arity()];
    let parameters: Vec<String> = arguments.iter().map(|a| format!("{real} {a}")).collect();
    let names: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
    let call = op.c(&names, suffix(precision));
    let name = call.split('(').next().unwrap_or_default();
    let mut out = format!(
        "// {}({}) from exactly rounded operations, with minimax coefficients (Remez algorithm).\n",
        op.name(),
        arguments.join(", ")
    );
    out += &format!("{} {real} {name}({}) {{\n", dialect.function(), parameters.join(", "));
    out += &function.body(recording.expr.result())?;
    Ok(out + "}\n")
}

/// Expressions over numbers as device functions of `f64`, with the functions that they call: `double name(const double*
/// a)`, in which an atom is the index of its value.
pub(super) fn of_numbers(
    functions: &[(&str, &Expr<usize>)],
    dialect: &dyn Numbers,
) -> Result<String, EmitError> {
    let precision = Precision::F64;
    let nodes = functions.iter().flat_map(|(_, expr)| &expr.nodes);
    let used = nodes.filter_map(Node::operation).collect();
    let mut out = definitions_of(used, precision, dialect)?;
    for (name, expr) in functions {
        if !identifier_ok(name, dialect.keywords()) {
            return Err(EmitError::Name { what: "function", name: (*name).to_string() });
        }
        let recording = Recording { expr: (*expr).clone(), names: BTreeMap::new() };
        let argument = |at: usize| format!("a[{at}]");
        let function = Function::new(&recording, &argument, precision, dialect)?;
        let body = function.body(expr.result())?;
        let head = dialect.function();
        out += &format!("{head} double {name}(const double* a) {{\n{body}}}\n\n");
    }
    Ok(out)
}

/// A recording as statements.
pub(super) struct Function<'a> {
    precision: Precision,
    dialect: &'a dyn Numbers,
    names: BTreeMap<Ref, String>,
    literals: BTreeMap<Ref, f64>,
    /// Values that are statements.
    trees: Vec<(Ref, Tree)>,
}

impl<'a> Function<'a> {
    pub(super) fn new(
        recording: &Recording,
        argument: &dyn Fn(usize) -> String,
        precision: Precision,
        dialect: &'a dyn Numbers,
    ) -> Result<Self, EmitError> {
        let mut function = Function {
            precision,
            dialect,
            names: BTreeMap::new(),
            literals: BTreeMap::new(),
            trees: Vec::new(),
        };
        let mut scope = Scope::new(&[dialect.keywords(), &ARGUMENTS]);
        for (at, name) in &recording.names {
            function.names.insert(*at, scope.name("value", name)?);
        }
        let nodes = &recording.expr.nodes;
        let uses = uses(recording);
        let mut nested: BTreeMap<Ref, Tree> = BTreeMap::new();
        for (i, node) in nodes.iter().enumerate() {
            let at = Ref(i as u32);
            match node {
                Node::Lit(lit) => {
                    function.literals.insert(at, lit.value());
                }
                Node::Atom(place) => {
                    function.names.insert(at, argument(*place));
                }
                Node::Op(..) if uses[i] == 0 => {}
                Node::Op(op, args) => {
                    let tree = |arg: &Ref| nested.remove(arg).unwrap_or_else(|| leaf(*arg));
                    let tree = Tree::Op(*op, args.iter().map(tree).collect());
                    let named = function.names.contains_key(&at);
                    if uses[i] == 1 && !named && tree.ops() < MOST_OPS {
                        nested.insert(at, tree);
                    } else {
                        if !named {
                            function.names.insert(at, scope.name("value", "t")?);
                        }
                        function.trees.push((at, tree));
                    }
                }
            }
        }
        Ok(function)
    }

    /// The statements of all values but one, each behind this margin.
    pub(super) fn statements(&self, but: Option<Ref>, margin: &str) -> Result<String, EmitError> {
        let real = real(self.precision);
        let mut out = String::new();
        for (at, tree) in self.trees.iter().filter(|(at, _)| Some(*at) != but) {
            let text = infix::print(tree, SUM, self)?;
            out += &format!("{margin}const {real} {} = {text};\n", self.names[at]);
        }
        Ok(out)
    }

    /// A value that is a statement, an argument or a number.
    pub(super) fn value(&self, at: Ref) -> Result<String, EmitError> {
        infix::print(&leaf(at), SUM, self)
    }

    /// The statements, which return `result`.
    fn body(&self, result: Ref) -> Result<String, EmitError> {
        let out = self.statements(Some(result), "  ")?;
        let tree = self.trees.iter().find(|(at, _)| *at == result);
        let text = match tree {
            Some((_, tree)) => infix::print(tree, SUM, self)?,
            None => self.value(result)?,
        };
        Ok(out + &format!("  return {text};\n"))
    }
}

/// The number of uses of each value; results are used twice, so that they are statements.
fn uses(recording: &Recording) -> Vec<usize> {
    let nodes = &recording.expr.nodes;
    let mut uses = vec![0; nodes.len()];
    for result in &recording.expr.results {
        uses[result.0 as usize] = 2;
    }
    for (i, node) in nodes.iter().enumerate().rev() {
        if let Node::Op(_, args) = node
            && uses[i] > 0
        {
            args.iter().for_each(|arg| uses[arg.0 as usize] += 1);
        }
    }
    uses
}

/// A reference to a value, as a register of that number.
fn leaf(at: Ref) -> Tree {
    Tree::Leaf(Operand::Reg(Reg(at.0)))
}

impl Spelling for Function<'_> {
    fn operand(&self, operand: Operand) -> Result<(u8, String), EmitError> {
        let Operand::Reg(Reg(id)) = operand else {
            return Err(EmitError::Unknown { what: "value of a function", id: 0 });
        };
        match (self.literals.get(&Ref(id)), self.names.get(&Ref(id))) {
            (Some(value), _) if value.is_nan() => {
                Ok((PRIMARY, self.dialect.nan(self.precision).to_string()))
            }
            (Some(value), _) if value.is_infinite() => {
                let infinity = self.dialect.infinity(self.precision);
                Ok(match *value > 0.0 {
                    true => (PRIMARY, infinity.to_string()),
                    false => (SIGN, format!("-{infinity}")),
                })
            }
            (Some(value), _) => literal(*value, self.precision),
            (None, Some(name)) => Ok((PRIMARY, name.clone())),
            (None, None) => {
                Err(EmitError::Unknown { what: "value of a function", id: id as usize })
            }
        }
    }
    fn op(&self, op: Op, args: &[String]) -> String {
        op.c(args, suffix(self.precision))
    }
    fn argument(&self, _: usize) -> u8 {
        SUM
    }
    fn select(&self) -> u8 {
        PRIMARY
    }
}
