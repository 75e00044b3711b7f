//! The one expression type of all stages: a flat, hash-consed list of nodes in evaluation order.
//!
//! The type parameter of [`Expr`] names what is *not* arithmetic at a stage (a field access, a
//! parameter), so a stage cannot hold another stage's atoms.

use std::collections::BTreeMap;

pub(crate) mod change;
pub mod loops;
pub mod math;
pub mod op;
mod rational;
pub mod real;
mod routines;
mod slopes;
#[cfg(test)]
mod tests;
pub mod text;

pub use loops::{Defined, Loop, Looped};
pub use op::Op;
pub use rational::Rational;
pub(crate) use rational::to_f64;
pub use real::{Arithmetic, Real};
pub use routines::{Called, Routine};

/// A node's position in its [`Expr`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ref(pub u32);

/// A literal: an `f64`, rounded once more where a stage computes in less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lit(u64);

impl Lit {
    /// The literal of this value.
    pub fn new(value: f64) -> Self {
        Lit(value.to_bits())
    }

    /// Its value.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// One node: a literal, an atom of the stage, or an operation on earlier nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node<A> {
    /// A literal.
    Lit(Lit),
    /// An operand that is not an operation at this stage.
    Atom(A),
    /// An operation; as many arguments as [`Op::arity`] says.
    Op(Op, Vec<Ref>),
}

impl<A> Node<A> {
    /// The operation, if it is one.
    pub fn operation(&self) -> Option<Op> {
        match self {
            Node::Op(op, _) => Some(*op),
            Node::Lit(_) | Node::Atom(_) => None,
        }
    }
}

/// A pure value: nodes in evaluation order, each defined once, and the results among them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expr<A> {
    /// Nodes; arguments precede their users.
    pub nodes: Vec<Node<A>>,
    /// The values of the expression, in order; most have one.
    pub results: Vec<Ref>,
}

impl<A: Clone + Ord> Expr<A> {
    /// An expression that is one atom.
    pub fn atom(atom: A) -> Self {
        let mut builder = Builder::new();
        let result = builder.atom(atom);
        builder.finish(result)
    }

    /// The first (mostly the only) result.
    pub fn result(&self) -> Ref {
        self.results[0]
    }

    /// The node at a reference.
    pub fn node(&self, at: Ref) -> &Node<A> {
        &self.nodes[at.0 as usize]
    }

    /// The atoms, in order of first use.
    pub fn atoms(&self) -> impl Iterator<Item = &A> + Clone {
        self.nodes.iter().filter_map(|node| match node {
            Node::Atom(atom) => Some(atom),
            Node::Lit(_) | Node::Op(..) => None,
        })
    }

    /// The same expression over other atoms.
    pub fn map_atoms<B: Clone + Ord>(&self, mut f: impl FnMut(&A) -> B) -> Expr<B> {
        let nodes = self.nodes.iter().map(|node| match node {
            Node::Lit(lit) => Node::Lit(*lit),
            Node::Atom(atom) => Node::Atom(f(atom)),
            Node::Op(op, args) => Node::Op(*op, args.clone()),
        });
        Expr { nodes: nodes.collect(), results: self.results.clone() }
    }

    /// Value of the first result, with atoms valued by `f`, each operation rounded in `T`.
    pub fn eval<T: Real>(&self, f: impl FnMut(&A) -> T) -> T {
        self.eval_in(&mut Vec::with_capacity(self.nodes.len()), f)
    }

    /// The same with room for the values of nodes, whatever it holds: for one expression in many cells.
    pub fn eval_in<T: Real>(&self, values: &mut Vec<T>, mut f: impl FnMut(&A) -> T) -> T {
        values.clear();
        for node in &self.nodes {
            let value = match node {
                Node::Lit(lit) => T::from_f64(lit.value()),
                Node::Atom(atom) => f(atom),
                Node::Op(op @ (Op::Loop(_) | Op::Call(_)), args) => {
                    let a: Vec<T> = args.iter().map(|arg| values[arg.0 as usize]).collect();
                    op.eval(&a)
                }
                Node::Op(op, args) => {
                    let mut a = [T::ZERO; Op::MOST_ARGUMENTS];
                    for (slot, arg) in a.iter_mut().zip(args) {
                        *slot = values[arg.0 as usize];
                    }
                    op.eval_of_table(&a)
                }
            };
            values.push(value);
        }
        values[self.result().0 as usize]
    }

    /// Checks that arguments precede their users, arities fit and results exist.
    pub fn check(&self) -> Result<(), String> {
        for (i, node) in self.nodes.iter().enumerate() {
            if let Node::Op(op, args) = node {
                if args.len() != op.arity() {
                    return Err(format!(
                        "{} takes {} arguments, not {}",
                        op.name(),
                        op.arity(),
                        args.len()
                    ));
                }
                if args.iter().any(|arg| arg.0 as usize >= i) {
                    return Err(format!("node {i} uses a value that is not yet defined"));
                }
            }
        }
        if self.results.is_empty() || self.results.iter().any(|r| r.0 as usize >= self.nodes.len())
        {
            return Err("a result is missing".into());
        }
        Ok(())
    }
}

/// Builds an [`Expr`]; equal nodes become one.
#[derive(Clone, Debug)]
pub struct Builder<A> {
    nodes: Vec<Node<A>>,
    known: BTreeMap<Node<A>, Ref>,
}

impl<A: Clone + Ord> Default for Builder<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: Clone + Ord> Builder<A> {
    /// An empty builder.
    pub fn new() -> Self {
        Builder { nodes: Vec::new(), known: BTreeMap::new() }
    }

    /// The reference of a node, new or known.
    pub fn node(&mut self, node: Node<A>) -> Ref {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let at = Ref(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.known.insert(node, at);
        at
    }

    /// A literal.
    pub fn lit(&mut self, value: f64) -> Ref {
        self.node(Node::Lit(Lit::new(value)))
    }

    /// An atom.
    pub fn atom(&mut self, atom: A) -> Ref {
        self.node(Node::Atom(atom))
    }

    /// An operation.
    pub fn op(&mut self, op: Op, args: &[Ref]) -> Ref {
        self.node(Node::Op(op, args.to_vec()))
    }

    /// A whole expression over the same atoms; returns its first result.
    pub fn splice(&mut self, expr: &Expr<A>) -> Ref {
        let mut map: Vec<Ref> = Vec::with_capacity(expr.nodes.len());
        for node in &expr.nodes {
            let moved = match node {
                Node::Op(op, args) => {
                    Node::Op(*op, args.iter().map(|a| map[a.0 as usize]).collect())
                }
                Node::Lit(_) | Node::Atom(_) => node.clone(),
            };
            map.push(self.node(moved));
        }
        map[expr.result().0 as usize]
    }

    /// All nodes in the order in which they were added, and these results.
    pub fn into_expr(self, results: Vec<Ref>) -> Expr<A> {
        Expr { nodes: self.nodes, results }
    }

    /// The expression of one result: only what it uses, in depth-first evaluation order, so that
    /// equal expressions have equal lists.
    pub fn finish(&self, result: Ref) -> Expr<A> {
        self.finish_all(&[result])
    }

    /// The same with several results, in the order of their first use.
    pub fn finish_all(&self, results: &[Ref]) -> Expr<A> {
        let mut out = Builder::new();
        let mut map: BTreeMap<Ref, Ref> = BTreeMap::new();
        let mut stack: Vec<(Ref, bool)> = results.iter().rev().map(|at| (*at, false)).collect();
        while let Some((at, ready)) = stack.pop() {
            if map.contains_key(&at) {
                continue;
            }
            match &self.nodes[at.0 as usize] {
                Node::Op(op, args) if ready => {
                    let args: Vec<Ref> = args.iter().map(|a| map[a]).collect();
                    let moved = out.op(*op, &args);
                    map.insert(at, moved);
                }
                Node::Op(_, args) => {
                    stack.push((at, true));
                    stack.extend(args.iter().rev().map(|a| (*a, false)));
                }
                leaf @ (Node::Lit(_) | Node::Atom(_)) => {
                    let moved = out.node(leaf.clone());
                    map.insert(at, moved);
                }
            }
        }
        let results = results.iter().map(|at| map[at]).collect();
        Expr { nodes: out.nodes, results }
    }
}
