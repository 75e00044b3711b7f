//! Parsing of statements and their parts.

use super::parse::{Parser, Result};
use super::position;
use crate::expr::{Lit, Op};
use crate::kernel::{BarrierId, CellVar, Condition, Index, IntVar, Operand, Reg, Relation, Stmt};
use crate::syntax::Token;

impl Parser {
    fn barrier(&mut self) -> Result<(BarrierId, Index)> {
        let name = self.lexer.name()?;
        let Some(at) = self.kernel.barriers.iter().position(|b| b.name == name) else {
            return self.lexer.error(format!("`{name}` is not a barrier"));
        };
        self.lexer.expect('[')?;
        let slot = self.index()?;
        self.lexer.expect(']')?;
        Ok((BarrierId(at as u32), slot))
    }

    pub(super) fn block(&mut self) -> Result<Vec<Stmt>> {
        self.deeper()?;
        self.lexer.expect('{')?;
        let mut body = Vec::new();
        while !self.lexer.eat('}') {
            body.push(self.stmt()?);
        }
        self.shallower();
        Ok(body)
    }

    fn stmt(&mut self) -> Result<Stmt> {
        // A register may have the name of a keyword, so the token after the name decides.
        if matches!(self.lexer.peek_second(), Token::Punct('=' | ',')) {
            return self.assignment();
        }
        let word = self.lexer.name()?;
        match word.as_str() {
            "note" => Ok(Stmt::Note(self.lexer.quoted()?)),
            "int" => {
                let var = self.int()?;
                self.lexer.expect('=')?;
                Ok(Stmt::Int { var, value: self.index()? })
            }
            "cell" => {
                let cell = self.cell()?;
                self.lexer.expect('=')?;
                Ok(Stmt::Cell { cell, at: self.place()? })
            }
            "set" => {
                let reg = self.reg()?;
                self.lexer.expect('=')?;
                Ok(Stmt::Set { reg, value: self.operand()? })
            }
            "store" => self.store(),
            "copy" => self.copy(),
            "sync" => Ok(Stmt::Sync),
            "arrive" => self.arrive(),
            "expect" => {
                let (barrier, slot) = self.barrier()?;
                self.lexer.keyword("bytes")?;
                Ok(Stmt::Expect { barrier, slot, bytes: self.number()?, arrives: false })
            }
            "wait" => {
                let (barrier, slot) = self.barrier()?;
                self.lexer.keyword("parity")?;
                Ok(Stmt::Wait { barrier, slot, parity: self.index()? })
            }
            "for" => self.for_loop(),
            "if" => {
                let mut conditions = vec![self.condition()?];
                while self.lexer.eat_name("and") {
                    conditions.push(self.condition()?);
                }
                Ok(Stmt::If { conditions, body: self.block()? })
            }
            _ => self.lexer.error(format!("`{word}` starts no statement")),
        }
    }

    fn store(&mut self) -> Result<Stmt> {
        let arrays = &self.kernel.shared;
        let is_shared = matches!(self.lexer.peek(), Token::Name(name) if arrays.iter().any(|a| a.name == *name));
        if is_shared {
            let array = self.array_id()?;
            let (base, offset) = self.shared_place()?;
            return Ok(Stmt::StoreShared { array, base, offset, values: self.stored()? });
        }
        let buffer = self.buffer_id()?;
        let (cell, offset) = self.at()?;
        Ok(Stmt::Store { buffer, cell, offset, values: self.stored()? })
    }

    fn stored(&mut self) -> Result<Vec<Operand>> {
        self.lexer.expect('=')?;
        let mut values = vec![self.operand()?];
        while self.lexer.eat(',') {
            values.push(self.operand()?);
        }
        Ok(values)
    }

    fn shared_place(&mut self) -> Result<(IntVar, i32)> {
        self.lexer.expect('[')?;
        let base = self.int()?;
        let offset = self.shift()?;
        self.lexer.expect(']')?;
        Ok((base, offset))
    }

    fn assignment(&mut self) -> Result<Stmt> {
        let mut regs = vec![self.reg()?];
        while self.lexer.eat(',') {
            regs.push(self.reg()?);
        }
        self.lexer.expect('=')?;
        if self.lexer.is_name("load") && matches!(self.lexer.peek_second(), Token::Name(_)) {
            self.lexer.take();
            let buffer = self.buffer_id()?;
            let (cell, offset) = self.at()?;
            return self.single(regs).map(|reg| Stmt::Load { reg, buffer, cell, offset });
        }
        if *self.lexer.peek_second() == Token::Punct('[') {
            let array = self.array_id()?;
            let (base, offset) = self.shared_place()?;
            return Ok(Stmt::LoadShared { regs, array, base, offset });
        }
        let reg = self.single(regs)?;
        let (op, args) = self.operation()?;
        Ok(Stmt::Let { reg, op, args })
    }

    fn single(&self, regs: Vec<Reg>) -> Result<Reg> {
        match regs[..] {
            [reg] => Ok(reg),
            _ => self.lexer.error("only reads of shared arrays have several results"),
        }
    }

    fn shift(&mut self) -> Result<i32> {
        let value = match self.lexer.peek() {
            Token::Punct('+') => {
                self.lexer.take();
                self.lexer.integer()?
            }
            Token::Punct('-') => self.lexer.integer()?,
            _ => 0,
        };
        i32::try_from(value)
            .or_else(|_| self.lexer.error(format!("{value} is too large an offset")))
    }

    fn operation(&mut self) -> Result<(Op, Vec<Operand>)> {
        if self.lexer.eat('-') {
            return Ok((Op::Neg, vec![self.operand()?]));
        }
        let call = match (self.lexer.peek(), self.lexer.peek_second()) {
            (Token::Name(name), Token::Punct('(')) => {
                let known = self.operations.get(name).copied();
                known.or_else(|| Op::from_name(name))
            }
            _ => None,
        };
        if let Some(op) = call {
            self.lexer.take();
            self.lexer.expect('(')?;
            let mut args = vec![self.operand()?];
            while self.lexer.eat(',') {
                args.push(self.operand()?);
            }
            self.lexer.expect(')')?;
            return Ok((op, args));
        }
        let left = self.operand()?;
        let op = match self.lexer.peek() {
            Token::Punct('+') => Op::Add,
            Token::Punct('-') => Op::Sub,
            Token::Punct('*') => Op::Mul,
            Token::Punct('/') => Op::Div,
            other => {
                return self.lexer.error(format!("expected an operation, found {other:?}"));
            }
        };
        self.lexer.take();
        Ok((op, vec![left, self.operand()?]))
    }

    fn operand(&mut self) -> Result<Operand> {
        if matches!(self.lexer.peek(), Token::Number(_)) {
            return Ok(Operand::Lit(Lit::new(self.lexer.real()?)));
        }
        let name = self.lexer.name()?;
        if name == "lit" && self.lexer.eat('(') {
            let value = self.literal()?;
            self.lexer.expect(')')?;
            return Ok(Operand::Lit(Lit::new(value)));
        }
        if let Some(at) = self.kernel.uniforms.iter().position(|u| *u == name) {
            return Ok(Operand::Uniform(at as u32));
        }
        self.register(&name, "register or uniform").map(Operand::Reg)
    }

    fn literal(&mut self) -> Result<f64> {
        if self.lexer.eat_name("nan") {
            return Ok(f64::NAN);
        }
        if self.lexer.eat_name("inf") {
            return Ok(f64::INFINITY);
        }
        if *self.lexer.peek_second() == Token::Name("inf".into()) {
            self.lexer.expect('-')?;
            self.lexer.take();
            return Ok(f64::NEG_INFINITY);
        }
        self.lexer.real()
    }

    fn at(&mut self) -> Result<(CellVar, [i32; 3])> {
        self.lexer.expect('[')?;
        let cell = self.cell()?;
        let mut offset = [0; 3];
        if self.lexer.eat('+') {
            for (axis, slot) in offset.iter_mut().enumerate() {
                self.lexer.expect(if axis == 0 { '(' } else { ',' })?;
                let value = self.lexer.integer()?;
                *slot = i32::try_from(value)
                    .or_else(|_| self.lexer.error(format!("{value} is too large an offset")))?;
            }
            self.lexer.expect(')')?;
        }
        self.lexer.expect(']')?;
        Ok((cell, offset))
    }

    fn place(&mut self) -> Result<[Index; 3]> {
        self.lexer.expect('(')?;
        let x = self.index()?;
        self.lexer.expect(',')?;
        let y = self.index()?;
        self.lexer.expect(',')?;
        let z = self.index()?;
        self.lexer.expect(')')?;
        Ok([x, y, z])
    }

    fn copy(&mut self) -> Result<Stmt> {
        // A shared array may be called `box`.
        let boxed = self.lexer.is_name("box") && matches!(self.lexer.peek_second(), Token::Name(_));
        if boxed {
            self.lexer.take();
        }
        let array = self.array_id()?;
        self.lexer.expect('[')?;
        let to = self.index()?;
        self.lexer.expect(']')?;
        self.lexer.expect('<')?;
        self.lexer.expect('-')?;
        let buffer = self.buffer_id()?;
        let mut buffers = vec![buffer];
        while boxed && self.lexer.eat(',') {
            buffers.push(self.buffer_id()?);
        }
        let from = self.place()?;
        if !boxed {
            return Ok(Stmt::Copy { array, to, buffer, from });
        }
        self.lexer.keyword("by")?;
        let extent = self.triple(['(', ')'])?;
        self.lexer.keyword("to")?;
        let (barrier, slot) = self.barrier()?;
        Ok(Stmt::CopyBox { array, to, buffers, from, extent, barrier, slot })
    }

    fn arrive(&mut self) -> Result<Stmt> {
        let copies =
            self.lexer.is_name("copies") && matches!(self.lexer.peek_second(), Token::Name(_));
        if copies {
            self.lexer.take();
        }
        let (barrier, slot) = self.barrier()?;
        // A register may be called `bytes`, and be assigned next.
        let expects =
            self.lexer.is_name("bytes") && matches!(self.lexer.peek_second(), Token::Number(_));
        if copies {
            return Ok(Stmt::ArriveCopies { barrier, slot });
        }
        if !expects {
            return Ok(Stmt::Arrive { barrier, slot });
        }
        self.lexer.take();
        Ok(Stmt::Expect { barrier, slot, bytes: self.number()?, arrives: true })
    }

    fn for_loop(&mut self) -> Result<Stmt> {
        let var = self.int()?;
        self.lexer.keyword("in")?;
        let from = self.index()?;
        self.lexer.expect('.')?;
        self.lexer.expect('.')?;
        let to = self.index()?;
        let unroll = self.lexer.eat_name("unroll");
        Ok(Stmt::For { var, from, to, unroll, body: self.block()? })
    }

    fn condition(&mut self) -> Result<Condition> {
        let left = self.index()?;
        let relation = if self.lexer.eat('<') {
            Relation::Less
        } else {
            self.lexer.expect('>')?;
            self.lexer.expect('=')?;
            Relation::GreaterEqual
        };
        Ok(Condition { left, relation, right: self.index()? })
    }

    fn index(&mut self) -> Result<Index> {
        self.deeper()?;
        let mut left = self.product()?;
        loop {
            if self.lexer.eat('+') {
                left = Index::Add(Box::new(left), Box::new(self.product()?));
            } else if self.lexer.eat('-') {
                left = Index::Sub(Box::new(left), Box::new(self.product()?));
            } else {
                self.shallower();
                return Ok(left);
            }
        }
    }

    fn product(&mut self) -> Result<Index> {
        let mut left = self.primary()?;
        loop {
            if self.lexer.eat('*') {
                left = Index::Mul(Box::new(left), self.lexer.integer()?);
            } else if self.lexer.eat('/') {
                left = Index::Div(Box::new(left), self.lexer.integer()?);
            } else if self.lexer.eat('%') {
                left = Index::Rem(Box::new(left), self.lexer.integer()?);
            } else {
                return Ok(left);
            }
        }
    }

    fn primary(&mut self) -> Result<Index> {
        if self.lexer.eat('(') {
            let inner = self.index()?;
            self.lexer.expect(')')?;
            return Ok(inner);
        }
        if matches!(self.lexer.peek(), Token::Number(_) | Token::Punct('-')) {
            return Ok(Index::Const(self.lexer.integer()?));
        }
        let name = self.lexer.name()?;
        if name == "min" && self.lexer.eat('(') {
            let left = self.index()?;
            self.lexer.expect(',')?;
            let right = self.index()?;
            self.lexer.expect(')')?;
            return Ok(Index::Min(Box::new(left), Box::new(right)));
        }
        if matches!(name.as_str(), "wrap" | "numbered") && self.lexer.eat('(') {
            let value = Box::new(self.index()?);
            self.lexer.expect(',')?;
            let axis = self.lexer.name()?;
            self.lexer.expect(')')?;
            return match position(&axis) {
                Some(Index::Size(axis)) if name == "wrap" => Ok(Index::Wrap(value, axis)),
                Some(Index::Size(axis)) => Ok(Index::Numbered(value, axis)),
                _ => self.lexer.error(format!("`{axis}` is no size")),
            };
        }
        match position(&name) {
            Some(index) => Ok(index),
            None => self
                .find(&self.kernel.ints, &name, "integer variable")
                .map(|at| Index::Var(IntVar(at))),
        }
    }
}
