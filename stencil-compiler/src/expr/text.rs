//! Expressions as infix text that parses back to the same list of nodes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Builder, Called, Expr, Lit, Loop, Looped, Node, Op, Ref, Routine};
use crate::syntax::{Lexer, TextError, Token};

const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const SIGN: u8 = 3;
const PRIMARY: u8 = 4;

/// Depth of nesting that the parser follows before it gives up.
const DEEPEST: usize = 500;

/// Operations beyond which a text gives numbers to values that are used twice, in place of writing them twice.
const MOST_OPERATIONS: u64 = 10_000;

/// Prints the first result of an expression; `atom` prints its atoms.
pub fn print<A: Clone + Ord>(expr: &Expr<A>, atom: &mut dyn FnMut(&A) -> String) -> String {
    print_at(expr, expr.result(), atom)
}

/// Prints one value of an expression.
fn print_at<A: Clone + Ord>(expr: &Expr<A>, at: Ref, atom: &mut dyn FnMut(&A) -> String) -> String {
    let mut printer = Printer { expr, atom, shared: shared(expr, at), kept: BTreeMap::new() };
    printer.at(at, SUM)
}

/// Prints a loop, which expressions then call by its name: `root 2 to 1 within 20 iterations { .. }`, with the numbers of
/// its arguments and variables, then the new values of these and the test, of arguments `a0` and so on.
pub fn print_loop(of: &Loop) -> String {
    let value = |at: &Ref| print_at(&of.body, *at, &mut |argument| format!("a{argument}"));
    let values: Vec<String> = of.body.results.iter().map(value).collect();
    let Loop { name, arguments, variables, most, .. } = of;
    let values = values.join(", ");
    format!("{name} {arguments} to {variables} within {most} iterations {{ {values} }}")
}

/// Prints a routine, whose values expressions then call by their names: `flow 2 { flow_x = a0 * a1, flow_y = a1 }`, with the
/// number of its arguments.
pub fn print_routine(of: &Routine) -> String {
    let value = |at: &Ref| print_at(&of.body, *at, &mut |argument| format!("a{argument}"));
    let values = of.values.iter().zip(&of.body.results);
    let values: Vec<String> = values.map(|(name, at)| format!("{name} = {}", value(at))).collect();
    format!("{} {} {{ {} }}", of.name, of.arguments, values.join(", "))
}

/// The loops and the values of routines that a text has declared, by name.
pub type Operations = BTreeMap<String, Op>;

/// Takes the name of a new operation.
fn new_operation(lexer: &mut Lexer, known: &Operations) -> Result<String, TextError> {
    let name = lexer.name()?;
    match known.contains_key(&name) || Op::from_name(&name).is_some() {
        true => lexer.error(format!("`{name}` is an operation already")),
        false => Ok(name),
    }
}

/// Parses an expression of arguments.
fn of_arguments(lexer: &mut Lexer, known: &Operations) -> Result<Expr<usize>, TextError> {
    parse(lexer, known, &mut |atom, offset| {
        let place = atom.strip_prefix('a').and_then(|at| at.parse::<usize>().ok());
        place.filter(|_| offset.is_none()).ok_or_else(|| format!("no argument `{atom}`"))
    })
}

/// Parses a routine, and adds its values to the operations that are known.
///
/// # Errors
/// If the text is no routine, or an operation with the name of a value is known.
pub fn parse_routine(lexer: &mut Lexer, known: &mut Operations) -> Result<(), TextError> {
    let name = lexer.name()?;
    let arguments = lexer.count()?;
    lexer.expect('{')?;
    let mut builder = Builder::new();
    let (mut values, mut results) = (Vec::new(), Vec::new());
    while !lexer.eat('}') {
        if !results.is_empty() {
            lexer.expect(',')?;
        }
        values.push(new_operation(lexer, known)?);
        lexer.expect('=')?;
        let value = of_arguments(lexer, known)?;
        results.push(builder.splice(&value));
    }
    let body = builder.finish_all(&results);
    match Called::all(Routine { name, values, arguments, body }) {
        Ok(all) => {
            known.extend(all.into_iter().map(|value| (value.name().to_string(), Op::Call(value))));
            Ok(())
        }
        Err(message) => lexer.error(message),
    }
}

/// Parses a loop, and adds it to those that are known.
///
/// # Errors
/// If the text is no loop, or one with its name is known.
pub fn parse_loop(lexer: &mut Lexer, known: &mut Operations) -> Result<(), TextError> {
    let name = new_operation(lexer, known)?;
    let arguments = lexer.count()?;
    lexer.keyword("to")?;
    let variables = lexer.count()?;
    lexer.keyword("within")?;
    let most = lexer.count()?;
    let Ok(most) = u32::try_from(most) else {
        return lexer.error(format!("{most} iterations are too many"));
    };
    lexer.keyword("iterations")?;
    lexer.expect('{')?;
    let mut builder = Builder::new();
    let mut results = Vec::new();
    while !lexer.eat('}') {
        if !results.is_empty() {
            lexer.expect(',')?;
        }
        let value = of_arguments(lexer, &Operations::new())?;
        results.push(builder.splice(&value));
    }
    let body = builder.finish_all(&results);
    let of = Loop { name: name.clone(), arguments, variables, most, body };
    match Looped::new(of) {
        Ok(of) => {
            known.insert(name, Op::Loop(of));
            Ok(())
        }
        Err(message) => lexer.error(message),
    }
}

/// The operations that get numbers: none in a text that is not large.
fn shared<A: Clone + Ord>(expr: &Expr<A>, result: Ref) -> BTreeSet<Ref> {
    let mut sizes: Vec<u64> = Vec::with_capacity(expr.nodes.len());
    let (mut once, mut twice) = (BTreeSet::new(), BTreeSet::new());
    for node in &expr.nodes {
        let mut size = 1;
        if let Node::Op(_, args) = node {
            for arg in args {
                size = sizes[arg.0 as usize].saturating_add(size);
                let is_op = matches!(expr.node(*arg), Node::Op(..));
                if is_op && !once.insert(*arg) {
                    twice.insert(*arg);
                }
            }
        }
        sizes.push(size);
    }
    match sizes[result.0 as usize] > MOST_OPERATIONS {
        true => twice,
        false => BTreeSet::new(),
    }
}

struct Printer<'p, A> {
    expr: &'p Expr<A>,
    atom: &'p mut dyn FnMut(&A) -> String,
    shared: BTreeSet<Ref>,
    /// The numbers of the nodes that were printed.
    kept: BTreeMap<Ref, usize>,
}

impl<A: Clone + Ord> Printer<'_, A> {
    /// `keep(2, a + b)` where a value with a number is met first, and `kept(2)` from then on.
    fn at(&mut self, at: Ref, level: u8) -> String {
        if let Some(number) = self.kept.get(&at) {
            return format!("kept({number})");
        }
        if !self.shared.contains(&at) {
            return self.whole(at, level);
        }
        let text = self.whole(at, SUM);
        let number = self.kept.len();
        self.kept.insert(at, number);
        format!("keep({number}, {text})")
    }

    fn whole(&mut self, at: Ref, level: u8) -> String {
        let (own, text) = match self.expr.node(at) {
            Node::Lit(lit) => (PRIMARY, literal(*lit)),
            Node::Atom(a) => (PRIMARY, (self.atom)(a)),
            Node::Op(Op::Neg, args) => (SIGN, format!("-{}", self.at(args[0], SIGN))),
            Node::Op(op @ (Op::Add | Op::Sub | Op::Mul | Op::Div), args) => {
                let own = if matches!(op, Op::Add | Op::Sub) { SUM } else { PRODUCT };
                let left = self.at(args[0], own);
                let right = self.at(args[1], own + 1);
                (own, op.c(&[left, right], ""))
            }
            Node::Op(op, args) => {
                let args: Vec<String> = args.iter().map(|a| self.at(*a, SUM)).collect();
                (PRIMARY, format!("{}({})", op.name(), args.join(", ")))
            }
        };
        if own < level { format!("({text})") } else { text }
    }
}

fn literal(lit: Lit) -> String {
    let value = lit.value();
    if value.is_sign_negative() { format!("lit(-{:?})", -value) } else { format!("{value:?}") }
}

/// Reads the atom that a name, with its offset if one follows, stands for.
pub type ReadAtom<'a, A> = dyn FnMut(&str, Option<[i32; 3]>) -> Result<A, String> + 'a;

/// Parses one expression, which may call these operations beside those of the table.
///
/// # Errors
/// If the text is not an expression, or `atom` does not know a name.
pub fn parse<A: Clone + Ord>(
    lexer: &mut Lexer,
    known: &Operations,
    atom: &mut ReadAtom<'_, A>,
) -> Result<Expr<A>, TextError> {
    let builder = Builder::new();
    let mut parser = Parser { lexer, known, atom, builder, kept: Vec::new(), depth: 0 };
    let result = parser.sum()?;
    Ok(parser.builder.finish(result))
}

struct Parser<'a, 'b, A> {
    lexer: &'a mut Lexer,
    known: &'a Operations,
    atom: &'a mut ReadAtom<'b, A>,
    builder: Builder<A>,
    /// Values with numbers.
    kept: Vec<Ref>,
    depth: usize,
}

impl<A: Clone + Ord> Parser<'_, '_, A> {
    fn sum(&mut self) -> Result<Ref, TextError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.lexer.error("the expression is nested too deeply");
        }
        let mut left = self.product()?;
        loop {
            let op = match self.lexer.peek() {
                Token::Punct('+') => Op::Add,
                Token::Punct('-') => Op::Sub,
                _ => break,
            };
            self.lexer.take();
            let right = self.product()?;
            left = self.builder.op(op, &[left, right]);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn product(&mut self) -> Result<Ref, TextError> {
        let mut left = self.sign()?;
        loop {
            let op = match self.lexer.peek() {
                Token::Punct('*') => Op::Mul,
                Token::Punct('/') => Op::Div,
                _ => return Ok(left),
            };
            self.lexer.take();
            let right = self.sign()?;
            left = self.builder.op(op, &[left, right]);
        }
    }

    fn sign(&mut self) -> Result<Ref, TextError> {
        let mut signs = 0;
        while self.lexer.eat('-') {
            signs += 1;
        }
        let mut value = self.primary()?;
        for _ in 0..signs {
            value = self.builder.op(Op::Neg, &[value]);
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Ref, TextError> {
        match self.lexer.peek().clone() {
            Token::Punct('(') => {
                self.lexer.take();
                let value = self.sum()?;
                self.lexer.expect(')')?;
                Ok(value)
            }
            Token::Number(_) => {
                let value = self.lexer.real()?;
                Ok(self.builder.lit(value))
            }
            Token::Name(name) => {
                self.lexer.take();
                if self.lexer.eat('(') { self.call(&name) } else { self.name(&name) }
            }
            other => self.lexer.error(format!("expected a value, found {other:?}")),
        }
    }

    fn call(&mut self, name: &str) -> Result<Ref, TextError> {
        if name == "lit" {
            let value = self.lexer.real()?;
            self.lexer.expect(')')?;
            return Ok(self.builder.lit(value));
        }
        if name == "keep" || name == "kept" {
            return self.kept(name == "keep");
        }
        let known = self.known.get(name).copied();
        let Some(op) = known.or_else(|| Op::from_name(name)) else {
            return self.lexer.error(format!("no operation `{name}`"));
        };
        let mut args = vec![self.sum()?];
        while self.lexer.eat(',') {
            args.push(self.sum()?);
        }
        self.lexer.expect(')')?;
        if args.len() != op.arity() {
            return self.lexer.error(format!(
                "`{name}` takes {} arguments, not {}",
                op.arity(),
                args.len()
            ));
        }
        Ok(self.builder.op(op, &args))
    }

    /// `2, a + b)` or `2)`: a value with its number, or that number.
    fn kept(&mut self, is_new: bool) -> Result<Ref, TextError> {
        let number = self.lexer.real()?;
        if is_new {
            self.lexer.expect(',')?;
            let value = self.sum()?;
            self.kept.push(value);
        }
        self.lexer.expect(')')?;
        // New ones come in their order.
        let found = self.kept.get(number as usize).copied();
        let is_last = !is_new || number as usize + 1 == self.kept.len();
        match found.filter(|_| is_last) {
            Some(value) => Ok(value),
            None => self.lexer.error(format!("no value has the number {number}")),
        }
    }

    fn name(&mut self, name: &str) -> Result<Ref, TextError> {
        let offset = if self.lexer.is('[') { Some(self.lexer.offset()?) } else { None };
        match (self.atom)(name, offset) {
            Ok(atom) => Ok(self.builder.atom(atom)),
            Err(message) => self.lexer.error(message),
        }
    }
}
