//! Formulas at neighbouring points, a register of them at a time. Each point has the bits that it has alone.

use std::sync::Arc;

use stencil_compiler::algorithm::rows::Cells;
use stencil_compiler::expr::{Node, Op};
use stencil_compiler::model::formula::Formula;

use super::instructions::{Checked, Instructions, OnLanes, run_on_lanes};
use super::interpreted::Wide;
use super::lanes::Lanes;

/// Values in the widest register.
const MOST_LANES: usize = 8;

/// A formula at points along x.
pub(crate) struct AlongX<'a> {
    /// The values of all names; the first one is x.
    pub(crate) names: &'a [f64],
    /// Formulas of some of the names, each over those before it.
    pub(crate) lets: &'a [(usize, Arc<Formula>)],
    pub(crate) formula: &'a Formula,
    pub(crate) xs: &'a [f64],
    /// A value for each x.
    pub(crate) values: &'a mut [f64],
}

impl AlongX<'_> {
    /// Evaluates with the best instructions of this processor.
    pub(crate) fn eval(self) {
        if let Ok(instructions) = Checked::new(Instructions::best()) {
            run_on_lanes(instructions, self);
        }
    }
}

impl OnLanes for AlongX<'_> {
    type Value = f64;

    #[inline(always)]
    fn run<V: Lanes<Value = f64>>(self) {
        let AlongX { names, lets, formula, xs, values } = self;
        let mut names: Vec<V> = names.iter().map(|value| V::splat(*value)).collect();
        let mut known: Vec<V> = Vec::new();
        let mut room = [0.0; MOST_LANES];
        let lets = || lets.iter().map(|(slot, formula)| (*slot, &**formula));
        for (xs, values) in xs.chunks(V::COUNT).zip(values.chunks_mut(V::COUNT)) {
            room[..xs.len()].copy_from_slice(xs);
            names[0] = Wide::<V>::load(&room);
            // The code of all operations is here once.
            for (slot, formula) in lets().chain([(names.len(), formula)]) {
                known.clear();
                let expr = formula.operations();
                for node in &expr.nodes {
                    let value = match node {
                        Node::Lit(lit) => V::splat(lit.value()),
                        Node::Atom(name) => match names.get(*name).filter(|_| *name < slot) {
                            Some(value) => *value,
                            None => V::splat(f64::NAN),
                        },
                        Node::Op(op, args) => {
                            let mut a = [V::splat(0.0); Op::MOST_ARGUMENTS];
                            for (slot, arg) in a.iter_mut().zip(args) {
                                *slot = known[arg.0 as usize];
                            }
                            op.eval(&a[..args.len()])
                        }
                    };
                    known.push(value);
                }
                let value = known[expr.result().0 as usize];
                match names.get_mut(slot) {
                    Some(name) => *name = value,
                    None => Wide::<V>::store(value, &mut room),
                }
            }
            values.copy_from_slice(&room[..values.len()]);
        }
    }
}
