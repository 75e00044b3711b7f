//! Expressions as infix text that parses back to the same list of nodes.

use super::{Builder, Expr, Lit, Node, Op, Ref};
use crate::syntax::{Lexer, TextError, Token};

const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const SIGN: u8 = 3;
const PRIMARY: u8 = 4;

/// Depth of nesting that the parser follows before it gives up.
const DEEPEST: usize = 500;

/// Prints the first result of an expression; `atom` prints its atoms.
pub fn print<A: Clone + Ord>(expr: &Expr<A>, atom: &mut dyn FnMut(&A) -> String) -> String {
    print_at(expr, expr.result(), SUM, atom)
}

fn print_at<A: Clone + Ord>(
    expr: &Expr<A>,
    at: Ref,
    level: u8,
    atom: &mut dyn FnMut(&A) -> String,
) -> String {
    let (own, text) = match expr.node(at) {
        Node::Lit(lit) => (PRIMARY, literal(*lit)),
        Node::Atom(a) => (PRIMARY, atom(a)),
        Node::Op(Op::Neg, args) => (SIGN, format!("-{}", print_at(expr, args[0], SIGN, atom))),
        Node::Op(op @ (Op::Add | Op::Sub | Op::Mul | Op::Div), args) => {
            let own = if matches!(op, Op::Add | Op::Sub) {
                SUM
            } else {
                PRODUCT
            };
            let left = print_at(expr, args[0], own, atom);
            let right = print_at(expr, args[1], own + 1, atom);
            (own, op.c(&[left, right], ""))
        }
        Node::Op(op, args) => {
            let args: Vec<String> = args.iter().map(|a| print_at(expr, *a, SUM, atom)).collect();
            (PRIMARY, format!("{}({})", op.name(), args.join(", ")))
        }
    };
    if own < level {
        format!("({text})")
    } else {
        text
    }
}

fn literal(lit: Lit) -> String {
    let value = lit.value();
    if value.is_sign_negative() {
        format!("lit(-{:?})", -value)
    } else {
        format!("{value:?}")
    }
}

/// Reads the atom that a name, with its offset if one follows, stands for.
pub type ReadAtom<'a, A> = dyn FnMut(&str, Option<[i32; 3]>) -> Result<A, String> + 'a;

/// Parses one expression.
///
/// # Errors
/// Where the text is no expression, or `atom` does not know a name.
pub fn parse<A: Clone + Ord>(
    lexer: &mut Lexer,
    atom: &mut ReadAtom<'_, A>,
) -> Result<Expr<A>, TextError> {
    let mut parser = Parser {
        lexer,
        atom,
        builder: Builder::new(),
        depth: 0,
    };
    let result = parser.sum()?;
    Ok(parser.builder.finish(result))
}

struct Parser<'a, 'b, A> {
    lexer: &'a mut Lexer,
    atom: &'a mut ReadAtom<'b, A>,
    builder: Builder<A>,
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
                if self.lexer.eat('(') {
                    self.call(&name)
                } else {
                    self.name(&name)
                }
            }
            other => self
                .lexer
                .error(format!("expected a value, found {other:?}")),
        }
    }

    fn call(&mut self, name: &str) -> Result<Ref, TextError> {
        if name == "lit" {
            let value = self.lexer.real()?;
            self.lexer.expect(')')?;
            return Ok(self.builder.lit(value));
        }
        let Some(op) = Op::from_name(name) else {
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

    fn name(&mut self, name: &str) -> Result<Ref, TextError> {
        let offset = if self.lexer.is('[') {
            Some(self.lexer.offset()?)
        } else {
            None
        };
        match (self.atom)(name, offset) {
            Ok(atom) => Ok(self.builder.atom(atom)),
            Err(message) => self.lexer.error(message),
        }
    }
}
