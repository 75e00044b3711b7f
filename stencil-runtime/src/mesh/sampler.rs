//! A formula in the cells of a mesh, at one time after the other: each of its operations is done as seldom as its
//! arguments change.
//!
//! | arguments | done | values are in |
//! | --- | --- | --- |
//! | numbers and parameters | once | one number |
//! | these and the time | once for each time | one number |
//! | coordinates along some axes | once | a table along these axes |
//! | these and the time | once for each time | a table along these axes |
//! | coordinates along all axes | once in each cell, if that takes longer than to read it | an array |
//! | all others | in each cell for each time | – |
//!
//! The operations and their order are those of the formula, so the bits are, too.

use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use stencil_compiler::expr::{Expr, Node, Op, Ref};
use stencil_compiler::model::formula::Formula;

use super::Mesh;

/// Operations that take longer than to read their value from memory.
const LONG: u32 = 16;
/// Values that a formula keeps in arrays, at most: 128 MiB.
const MOST_KEPT: usize = 1 << 24;
/// A table is filled by one thread: it has at most so many values, or one for so many cells.
const SHORT: usize = 1 << 12;
const CELLS_OF_VALUE: usize = 64;
/// The bit of the time, behind those of the axes.
const TIME: u8 = 8;
const AXES: u8 = 7;
/// The bits of no value that a formula has: a NaN of its own.
const NONE: u64 = 0x7ff8_0000_5eed_0001;

thread_local! {
    /// Values of steps; cells are evaluated on many threads.
    static STEPS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// A formula, prepared for the cells of a mesh.
pub(crate) struct Sampler {
    mesh: Mesh,
    expr: Expr<usize>,
    /// The axes and the time that each operation depends on.
    masks: Vec<u8>,
    parameters: Vec<f64>,
    coordinates: [Vec<f64>; 3],
    /// Values of operations without coordinates.
    uniform: Vec<f64>,
    tables: Vec<Table>,
    kept: Vec<Kept>,
    /// The operations that are left in each cell.
    rest: Program,
    time: Option<u64>,
}

/// A value that an operation takes.
#[derive(Clone, Copy)]
enum Operand {
    Uniform(usize),
    Coordinate(usize),
    Table(usize),
    Kept(usize),
    /// The result of an earlier step.
    Step(usize),
}

/// Operations in their order.
struct Program {
    steps: Vec<(Op, Vec<Operand>)>,
    result: Operand,
}

/// Values for each place along some axes.
struct Table {
    extent: [usize; 3],
    changes: bool,
    program: Program,
    values: Vec<f64>,
}

/// Values in all cells, each computed when it is first asked for.
struct Kept {
    program: Program,
    /// Bits of values, with those of [`NONE`] turned: zero if there is none yet.
    values: Vec<AtomicU64>,
}

impl Sampler {
    /// Prepares a formula over parameters, x, y, z and t.
    pub(crate) fn new(formula: &Formula, parameters: &[f64], mesh: &Mesh) -> Self {
        let along = |axis: usize| {
            let at = |i: usize| mesh.point([i as isize; 3])[axis];
            (0..mesh.cells[axis]).map(at).collect()
        };
        let expr = formula.operations().clone();
        let mut sampler = Sampler {
            mesh: *mesh,
            masks: masks(&expr, parameters.len(), mesh.cells),
            uniform: vec![f64::NAN; expr.nodes.len()],
            expr,
            parameters: parameters.to_vec(),
            coordinates: [along(0), along(1), along(2)],
            tables: Vec::new(),
            kept: Vec::new(),
            rest: Program { steps: Vec::new(), result: Operand::Uniform(0) },
            time: None,
        };
        sampler.prepare();
        sampler
    }

    /// Returns whether it is for this mesh.
    pub(crate) fn is_for(&self, mesh: &Mesh) -> bool {
        self.mesh == *mesh
    }

    /// Splits the formula into values that are found apart, and the rest.
    fn prepare(&mut self) {
        let root = self.expr.result().0 as usize;
        let mut places: Vec<Option<Operand>> = vec![None; self.expr.nodes.len()];
        let mut leaves = vec![false; places.len()];
        for (at, node) in self.expr.nodes.iter().enumerate() {
            if let Node::Op(_, args) = node {
                for arg in args {
                    leaves[arg.0 as usize] |= self.masks[arg.0 as usize] != self.masks[at];
                }
            }
        }
        leaves[root] = true;
        for at in 0..places.len() {
            places[at] = match &self.expr.nodes[at] {
                _ if self.masks[at] & AXES == 0 => Some(Operand::Uniform(at)),
                Node::Atom(atom) => Some(Operand::Coordinate(atom - self.parameters.len())),
                _ if leaves[at] => self.apart(at, &places),
                _ => None,
            };
        }
        self.rest = program(&self.expr, root, &places);
    }

    /// Makes room for the values of an operation, if they are found apart.
    fn apart(&mut self, at: usize, places: &[Option<Operand>]) -> Option<Operand> {
        let (mask, cells) = (self.masks[at], self.mesh.cells);
        let all = cells.iter().product::<usize>();
        let extent: [usize; 3] =
            std::array::from_fn(|axis| if mask & 1 << axis != 0 { cells[axis] } else { 1 });
        let (count, changes) = (extent.iter().product::<usize>(), mask & TIME != 0);
        let program = program(&self.expr, at, places);
        if count < all {
            let short = count <= SHORT || count <= all / CELLS_OF_VALUE;
            return short.then(|| {
                self.tables.push(Table { extent, changes, program, values: Vec::new() });
                Operand::Table(self.tables.len() - 1)
            });
        }
        let cost: u32 = program.steps.iter().map(|(op, _)| op.cost()).sum();
        let room = all.saturating_mul(self.kept.len() + 1) <= MOST_KEPT;
        (!changes && cost >= LONG && room).then(|| {
            let values = (0..all).map(|_| AtomicU64::new(0)).collect();
            self.kept.push(Kept { program, values });
            Operand::Kept(self.kept.len() - 1)
        })
    }

    /// Evaluates all that does not differ from cell to cell, or along some axis.
    pub(crate) fn renew(&mut self, t: f64) {
        if self.time == Some(t.to_bits()) {
            return;
        }
        let first = self.time.replace(t.to_bits()).is_none();
        for at in 0..self.uniform.len() {
            let mask = self.masks[at];
            if mask & AXES == 0 && (first || mask & TIME != 0) {
                self.uniform[at] = self.uniform_value(at, t);
            }
        }
        for which in 0..self.tables.len() {
            if !first && !self.tables[which].changes {
                continue;
            }
            let mut values = std::mem::take(&mut self.tables[which].values);
            let (extent, program) = (self.tables[which].extent, &self.tables[which].program);
            let [nx, ny, nz] = extent;
            values.clear();
            STEPS.with_borrow_mut(|steps| {
                for at in 0..nx * ny * nz {
                    let cell = [at % nx, at / nx % ny, at / nx / ny];
                    values.push(self.evaluate(program, cell, steps));
                }
            });
            self.tables[which].values = values;
        }
    }

    fn uniform_value(&self, at: usize, t: f64) -> f64 {
        match &self.expr.nodes[at] {
            Node::Lit(value) => value.value(),
            Node::Atom(atom) => match atom.checked_sub(self.parameters.len()) {
                None => self.parameters[*atom],
                Some(3) => t,
                // An axis of one cell.
                Some(axis) => self.coordinates[axis][0],
            },
            Node::Op(op, args) => {
                let of = |arg: &Ref| self.uniform[arg.0 as usize];
                apply(*op, args.iter().map(of))
            }
        }
    }

    /// Returns the value in a cell of the mesh at the time of the last [`renew`](Self::renew).
    pub(crate) fn at(&self, cell: [usize; 3]) -> f64 {
        STEPS.with_borrow_mut(|steps| self.evaluate(&self.rest, cell, steps))
    }

    /// Does the operations; `steps` has room behind what it holds.
    fn evaluate(&self, program: &Program, cell: [usize; 3], steps: &mut Vec<f64>) -> f64 {
        let first = steps.len();
        for (op, args) in &program.steps {
            let mut values = [0.0; Op::MOST_ARGUMENTS];
            for (slot, arg) in values.iter_mut().zip(args) {
                *slot = self.read(*arg, cell, first, steps);
            }
            steps.push(op.eval(&values[..args.len()]));
        }
        let result = self.read(program.result, cell, first, steps);
        steps.truncate(first);
        result
    }

    fn read(&self, from: Operand, cell: [usize; 3], first: usize, steps: &mut Vec<f64>) -> f64 {
        match from {
            Operand::Uniform(at) => self.uniform[at],
            Operand::Coordinate(axis) => self.coordinates[axis][cell[axis]],
            Operand::Table(which) => {
                let table = &self.tables[which];
                table.values[place(table.extent, cell)]
            }
            Operand::Kept(which) => {
                let kept = &self.kept[which];
                let slot = &kept.values[place(self.mesh.cells, cell)];
                // Two threads that find none compute the same.
                match slot.load(Ordering::Relaxed) {
                    0 => {
                        let value = self.evaluate(&kept.program, cell, steps);
                        slot.store(value.to_bits() ^ NONE, Ordering::Relaxed);
                        value
                    }
                    bits => f64::from_bits(bits ^ NONE),
                }
            }
            Operand::Step(at) => steps[first + at],
        }
    }
}

impl fmt::Debug for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tables, kept, left) = (self.tables.len(), self.kept.len(), self.rest.steps.len());
        write!(f, "{tables} tables, {kept} arrays, {left} operations a cell")
    }
}

/// Returns the place of a cell in values for each place along some axes; the others have an extent of one.
fn place(extent: [usize; 3], cell: [usize; 3]) -> usize {
    let along = |axis: usize| if extent[axis] == 1 { 0 } else { cell[axis] };
    (along(2) * extent[1] + along(1)) * extent[0] + along(0)
}

fn apply(op: Op, args: impl Iterator<Item = f64>) -> f64 {
    let mut values = [0.0; Op::MOST_ARGUMENTS];
    let mut count = 0;
    for (slot, arg) in values.iter_mut().zip(args) {
        (*slot, count) = (arg, count + 1);
    }
    op.eval(&values[..count])
}

/// Returns the axes of more than one cell that each operation depends on, and the time.
fn masks(expr: &Expr<usize>, parameters: usize, cells: [usize; 3]) -> Vec<u8> {
    let mut masks: Vec<u8> = Vec::with_capacity(expr.nodes.len());
    for node in &expr.nodes {
        masks.push(match node {
            Node::Lit(_) => 0,
            Node::Atom(atom) => match atom.checked_sub(parameters) {
                None => 0,
                Some(3) => TIME,
                Some(axis) if cells[axis] > 1 => 1 << axis,
                Some(_) => 0,
            },
            Node::Op(_, args) => args.iter().fold(0, |mask, arg| mask | masks[arg.0 as usize]),
        });
    }
    masks
}

/// Returns the operations that lead to one of them from values that have a place.
fn program(expr: &Expr<usize>, target: usize, places: &[Option<Operand>]) -> Program {
    let mut needed = vec![false; target + 1];
    needed[target] = true;
    for at in (0..=target).rev() {
        if let (true, None, Node::Op(_, args)) = (needed[at], places[at], &expr.nodes[at]) {
            args.iter().for_each(|arg| needed[arg.0 as usize] = true);
        }
    }
    let mut steps = Vec::new();
    let mut own: Vec<Option<Operand>> = places[..=target].to_vec();
    for at in 0..=target {
        if let (true, None, Node::Op(op, args)) = (needed[at], places[at], &expr.nodes[at]) {
            let args = args.iter().filter_map(|arg| own[arg.0 as usize]).collect();
            own[at] = Some(Operand::Step(steps.len()));
            steps.push((*op, args));
        }
    }
    Program { steps, result: own[target].unwrap_or(Operand::Uniform(target)) }
}

#[cfg(test)]
mod tests;
