//! The loop over instructions: the only hot code of the engine. Everything is always inlined, so that
//! it is compiled for the processor features of the caller.

use super::cells::{BLOCK_BYTES, Block, Cells};
use super::code::{Address, Argument, Loaded, Pair, Work};
use crate::expr::real::Arithmetic;
use crate::expr::{Loop, Op, Real};

/// The arrays that instructions read and write.
pub(super) struct Arrays<'a, 'i, 'o, T> {
    /// The rows that are read, each from the first cell on that any instruction reads.
    pub(super) inputs: &'a [&'i [T]],
    pub(super) registers: &'a mut [T],
    /// Index in `registers` of the result while it is not in the loop's own registers.
    pub(super) result: usize,
    pub(super) outputs: &'a mut [&'o mut [T]],
}

/// The position of the first cell of a block.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) input: isize,
    pub(super) register: isize,
    pub(super) output: isize,
    /// Cells from there on that are needed.
    pub(super) left: usize,
}

/// Cells of a block.
#[inline(always)]
pub(super) const fn cells<C: Cells>() -> usize {
    Block::<C>::CELLS
}

/// Executes instructions on one block.
#[inline(always)]
pub(super) fn block<C: Cells>(
    code: &[Loaded<C::Value>],
    at: At,
    arrays: &mut Arrays<'_, '_, '_, C::Value>,
) {
    let mut code = code.iter();
    while let Some(instruction) = frequent::<C>(&mut code, at, arrays) {
        rare::<C>(instruction, at, arrays);
    }
}

/// The values that an expression of `K` has in each register.
macro_rules! each {
    (|$k:ident| $value:expr) => {
        Block([
            each!(0 $k $value), each!(1 $k $value), each!(2 $k $value), each!(3 $k $value),
        ])
    };
    ($at:literal $k:ident $value:expr) => {{
        const $k: usize = $at;
        $value
    }};
}

/// Executes instructions up to one that is not frequent, or that reaches beyond an array's end. A
/// loop free of calls, whose result comes from memory and goes there, as it would not stay in
/// registers if it lived through the calls of others.
#[inline(always)]
fn frequent<'a, C: Cells>(
    code: &mut std::slice::Iter<'a, Loaded<C::Value>>,
    at: At,
    arrays: &mut Arrays<'_, '_, '_, C::Value>,
) -> Option<&'a Loaded<C::Value>> {
    let mut result = Block::<C>::load(&arrays.registers[arrays.result..]);
    for instruction in code {
        macro_rules! leave {
            () => {{
                result.store(&mut arrays.registers[arrays.result..]);
                return Some(instruction);
            }};
        }
        macro_rules! get {
            ($i:literal) => {
                match instruction.args[$i] {
                    Argument::None | Argument::Result => result,
                    Argument::Scalar(value) => Block::splat(value),
                    Argument::Row(address) => {
                        let Some(values) = row::<C>(address, at, arrays) else { leave!() };
                        Block::load(values)
                    }
                }
            };
        }
        let x = get!(0);
        let y = get!(1);
        result = match instruction.work {
            Work::Term(pair) => {
                let factor = number::<C>(instruction.args[2]);
                match pair {
                    Pair::One => each!(|K| factor.fma(x.0[K], result.0[K])),
                    Pair::Sum => each!(|K| factor.fma(x.0[K] + y.0[K], result.0[K])),
                    Pair::Difference => each!(|K| factor.fma(x.0[K] - y.0[K], result.0[K])),
                }
            }
            Work::Product(pair) => {
                let factor = number::<C>(instruction.args[2]);
                match pair {
                    Pair::One => each!(|K| factor * x.0[K]),
                    Pair::Sum => each!(|K| factor * (x.0[K] + y.0[K])),
                    Pair::Difference => each!(|K| factor * (x.0[K] - y.0[K])),
                }
            }
            Work::Op(Op::Fma) => {
                let z = get!(2);
                each!(|K| x.0[K].fma(y.0[K], z.0[K]))
            }
            Work::Op(Op::Add) => each!(|K| x.0[K] + y.0[K]),
            Work::Op(Op::Sub) => each!(|K| x.0[K] - y.0[K]),
            Work::Op(Op::Mul) => each!(|K| x.0[K] * y.0[K]),
            Work::Op(Op::Div) => each!(|K| x.0[K] / y.0[K]),
            Work::Op(Op::Reciprocal) => each!(|K| x.0[K].reciprocal()),
            Work::Op(Op::Copysign) => each!(|K| x.0[K].copysign(y.0[K])),
            Work::Op(Op::Neg) => each!(|K| -x.0[K]),
            Work::Op(Op::Min) => each!(|K| x.0[K].smaller(y.0[K])),
            Work::Op(Op::Max) => each!(|K| x.0[K].larger(y.0[K])),
            Work::Op(Op::Abs) => each!(|K| x.0[K].abs()),
            Work::Op(Op::Sqrt) => each!(|K| x.0[K].sqrt()),
            Work::Op(Op::Lt) => {
                let (yes, no) = (get!(2), get!(3));
                result = each!(|K| x.0[K].if_lt(y.0[K], yes.0[K], no.0[K]));
                continue;
            }
            Work::Op(Op::Le) => {
                let (yes, no) = (get!(2), get!(3));
                result = each!(|K| x.0[K].if_le(y.0[K], yes.0[K], no.0[K]));
                continue;
            }
            Work::Copy => x,
            Work::Keep => result,
            Work::Write(output) if at.left >= Block::<C>::CELLS => {
                let to = &mut *arrays.outputs[output as usize];
                result.store(&mut to[at.output as usize..]);
                result
            }
            Work::Op(_) | Work::Pass(_) | Work::Loop(_) | Work::Write(_) => leave!(),
        };
        keep(result, instruction.args[3], at, arrays);
    }
    None
}

/// Stores a result in its row, if it has one.
#[inline(always)]
fn keep<C: Cells>(
    result: Block<C>,
    to: Argument<Address, C::Value>,
    at: At,
    arrays: &mut Arrays<'_, '_, '_, C::Value>,
) {
    if let Argument::Row(Address::Register { at: to, moves }) = to {
        result.store(&mut arrays.registers[register(to, moves, at)..]);
    }
}

/// Executes one instruction of any kind.
#[inline(always)]
fn rare<C: Cells>(
    instruction: &Loaded<C::Value>,
    at: At,
    arrays: &mut Arrays<'_, '_, '_, C::Value>,
) {
    fetch(instruction, at, arrays, Block::<C>::CELLS);
    let slots = &mut arrays.registers[arrays.result..];
    let slot = slot_cells::<C::Value>();
    let mut result = Block::<C>::load(slots);
    if let Work::Pass(at) = instruction.work {
        let passed = passed::<C::Value>(at as usize);
        return slots.copy_within(slot..slot + Block::<C>::CELLS, passed);
    }
    let (x, y) = (Block::<C>::load(&slots[slot..]), Block::<C>::load(&slots[2 * slot..]));
    let (z, w) = (Block::<C>::load(&slots[3 * slot..]), Block::<C>::load(&slots[4 * slot..]));
    for (k, value) in result.0.iter_mut().enumerate() {
        let (x, y, z, w) = (x.0[k], y.0[k], z.0[k], w.0[k]);
        *value = match instruction.work {
            Work::Copy => x,
            Work::Op(op) => op.eval_of_table(&[x, y, z, w]),
            Work::Loop(of) => {
                let at = |argument| passed::<C::Value>(argument) + k * C::COUNT;
                let arguments = (0..of.arguments).map(|argument| C::load(&slots[at(argument)..]));
                of.eval_inlined(&arguments.collect::<Vec<_>>())
            }
            Work::Product(pair) => z * paired(pair, x, y),
            Work::Term(pair) => z.fma(paired(pair, x, y), *value),
            // The loop keeps results itself: no register is too short.
            Work::Keep | Work::Pass(_) | Work::Write(_) => *value,
        };
    }
    result.store(slots);
    if instruction.can_keep() {
        keep(result, instruction.args[3], at, arrays);
    }
    if let Work::Write(output) = instruction.work {
        write(output, at, arrays);
    }
}

/// Slots before those of values: the result, the arguments of a rare instruction, and those of a loop.
pub(super) const OWN_SLOTS: usize = 1 + Op::MOST_ARGUMENTS + Loop::MOST_ARGUMENTS;

/// The place of an argument of a loop, from the slot of the result on.
const fn passed<T>(argument: usize) -> usize {
    (1 + Op::MOST_ARGUMENTS + argument) * slot_cells::<T>()
}

/// Cells of a slot.
pub(super) const fn slot_cells<T>() -> usize {
    BLOCK_BYTES / size_of::<T>()
}

/// Copies the arguments of an instruction to their slots. Values beyond the end of an array are not needed, and their
/// slots are left as they are.
#[cold]
#[inline(never)]
fn fetch<T: Real>(
    instruction: &Loaded<T>,
    at: At,
    arrays: &mut Arrays<'_, '_, '_, T>,
    cells: usize,
) {
    for (i, arg) in instruction.args.iter().enumerate() {
        let to = arrays.result + (1 + i) * slot_cells::<T>();
        match *arg {
            Argument::None => {}
            Argument::Scalar(value) => arrays.registers[to..to + cells].fill(value),
            Argument::Result => {
                let result = arrays.result;
                arrays.registers.copy_within(result..result + cells, to);
            }
            Argument::Row(Address::Register { at: from, moves }) => {
                let from = register(from, moves, at);
                arrays.registers.copy_within(from..from + cells, to);
            }
            Argument::Row(Address::Input { row, at: from }) => {
                let values = &arrays.inputs[row as usize][(from + at.input) as usize..];
                let n = cells.min(values.len());
                arrays.registers[to..to + n].copy_from_slice(&values[..n]);
            }
            Argument::Row(Address::Own(output)) => {
                let values = &arrays.outputs[output as usize][at.output as usize..];
                let n = cells.min(values.len());
                arrays.registers[to..to + n].copy_from_slice(&values[..n]);
            }
        }
    }
}

/// Writes the cells of the result that are needed to an output.
#[cold]
#[inline(never)]
fn write<T: Real>(output: u32, at: At, arrays: &mut Arrays<'_, '_, '_, T>) {
    let n = at.left.min(slot_cells::<T>());
    let result = &arrays.registers[arrays.result..][..n];
    arrays.outputs[output as usize][at.output as usize..][..n].copy_from_slice(result);
}

#[inline(always)]
fn paired<V: Arithmetic>(pair: Pair, x: V, y: V) -> V {
    match pair {
        Pair::One => x,
        Pair::Sum => x + y,
        Pair::Difference => x - y,
    }
}

#[inline(always)]
fn number<C: Cells>(arg: Argument<Address, C::Value>) -> C::Lanes {
    match arg {
        Argument::Scalar(value) => C::splat(value),
        Argument::None | Argument::Result | Argument::Row(_) => C::splat(C::Value::ZERO),
    }
}

#[inline(always)]
fn register(to: isize, moves: bool, at: At) -> usize {
    (if moves { to + at.register } else { to }) as usize
}

/// The values of a row from the first cell of a block on, if there are as many.
#[inline(always)]
fn row<'r, C: Cells>(
    address: Address,
    at: At,
    arrays: &'r Arrays<'_, '_, '_, C::Value>,
) -> Option<&'r [C::Value]> {
    // A negative index becomes a huge one, and is caught as out of bounds.
    let (values, from): (&[C::Value], usize) = match address {
        Address::Input { row, at: from } => {
            (arrays.inputs[row as usize], (from + at.input) as usize)
        }
        Address::Register { at: from, moves } => (arrays.registers, register(from, moves, at)),
        Address::Own(output) => (&*arrays.outputs[output as usize], at.output as usize),
    };
    if from <= values.len() && values.len() - from >= Block::<C>::CELLS {
        Some(&values[from..])
    } else {
        None
    }
}
