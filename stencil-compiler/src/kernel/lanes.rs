//! The accesses of a warp to shared memory: the number of rounds that each takes.
//!
//! Shared memory has banks of four bytes and gives a word of each in a round; threads that want different words of one
//! bank wait for each other, and wide values are served to a part of the warp at a time. Counted for the first warp of
//! the first block: positions of others differ by an offset that all their threads have in common.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Index, IntVar, Kernel, Stmt, WARP};

/// Banks of shared memory.
const BANKS: i64 = 32;

/// Bytes of a word of a bank.
const WORD: i64 = 4;

/// Integer variables of a kernel by their definitions.
pub(super) struct Lanes<'k> {
    kernel: &'k Kernel,
    ints: BTreeMap<IntVar, &'k Index>,
    /// Positions of the threads of the first warp.
    warp: Vec<[i64; 3]>,
    /// The values of variables in each of these threads.
    values: RefCell<BTreeMap<IntVar, Rc<[i64]>>>,
    /// Rounds of reads and writes of this many values, by the variable that gives the position.
    rounds: RefCell<BTreeMap<(IntVar, usize), u64>>,
}

impl<'k> Lanes<'k> {
    pub(super) fn new(kernel: &'k Kernel) -> Self {
        let mut lanes = Lanes {
            kernel,
            ints: BTreeMap::new(),
            warp: warp(kernel).collect(),
            values: RefCell::default(),
            rounds: RefCell::default(),
        };
        lanes.find(&kernel.body);
        lanes
    }

    fn find(&mut self, body: &'k [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Int { var, value } => drop(self.ints.insert(*var, value)),
                Stmt::For { body, .. } | Stmt::If { body, .. } => self.find(body),
                _ => {}
            }
        }
    }

    /// The definition of an integer variable.
    pub(super) fn int(&self, var: IntVar) -> Option<&'k Index> {
        self.ints.get(&var).copied()
    }

    /// Rounds in which shared memory serves a warp whose threads each read or write this many values, beginning at a
    /// variable and the same distance from it.
    pub(super) fn rounds(&self, base: IntVar, values: usize) -> u64 {
        let known = self.rounds.borrow().get(&(base, values)).copied();
        known.unwrap_or_else(|| {
            let rounds = self.count_rounds(base, values);
            self.rounds.borrow_mut().insert((base, values), rounds);
            rounds
        })
    }

    fn count_rounds(&self, base: IntVar, values: usize) -> u64 {
        let bytes = self.kernel.value_bytes as i64;
        let words = (values as i64 * bytes / WORD).max(1);
        let at_once = (BANKS / words).max(1) as usize;
        let first = self.of_variable(base);
        let rounds = |part: &[i64]| {
            let wanted = part.iter().map(|first| first * bytes / WORD);
            let wanted: BTreeSet<i64> = wanted.flat_map(|word| word..word + words).collect();
            let mut banks = [0; BANKS as usize];
            for word in wanted {
                banks[word.rem_euclid(BANKS) as usize] += 1;
            }
            banks.into_iter().max().unwrap_or(0)
        };
        first.chunks(at_once).map(rounds).sum()
    }

    /// The value of a variable in each thread.
    fn of_variable(&self, var: IntVar) -> Rc<[i64]> {
        let known = self.values.borrow().get(&var).cloned();
        known.unwrap_or_else(|| {
            let index = self.ints.get(&var);
            // Variables of loops are the same for all threads.
            let same = || vec![0; self.warp.len()];
            let values: Rc<[i64]> = index.map_or_else(same, |index| self.of(index)).into();
            self.values.borrow_mut().insert(var, values.clone());
            values
        })
    }

    /// A position in each thread, up to an offset that is the same in all of them.
    fn of(&self, index: &Index) -> Vec<i64> {
        let each = |of: &Index, f: &dyn Fn(i64) -> i64| -> Vec<i64> {
            let of = self.of(of).into_iter();
            of.map(f).collect()
        };
        let both = |a: &Index, b: &Index, f: fn((i64, i64)) -> i64| -> Vec<i64> {
            let both = self.of(a).into_iter().zip(self.of(b));
            both.map(f).collect()
        };
        let same = |value: i64| vec![value; self.warp.len()];
        match index {
            Index::Const(value) => same(*value),
            Index::Var(var) => self.of_variable(*var).to_vec(),
            Index::Block(_) | Index::Size(_) | Index::Numbered(_, 1..) => same(0),
            Index::Thread(axis) => self.warp.iter().map(|thread| thread[*axis]).collect(),
            Index::Add(a, b) => both(a, b, |(a, b)| a + b),
            Index::Sub(a, b) => both(a, b, |(a, b)| a - b),
            Index::Mul(a, by) => each(a, &|a| a * by),
            Index::Div(a, by) => each(a, &|a| a.div_euclid(*by)),
            Index::Rem(a, by) => each(a, &|a| a.rem_euclid(*by)),
            // An end of the patch, which the first block does not meet.
            Index::Min(a, _) | Index::Wrap(a, _) | Index::Numbered(a, 0) => self.of(a),
        }
    }
}

/// Positions of the threads of the first warp of a block.
fn warp(kernel: &Kernel) -> impl Iterator<Item = [i64; 3]> + use<> {
    let [x, y, z] = kernel.launch.threads.map(|n| n.max(1));
    let all = (x * y * z).min(WARP);
    (0..all).map(move |thread| [thread % x, thread / x % y, thread / x / y].map(i64::from))
}

#[cfg(test)]
mod tests {
    use crate::kernel::text::parse;

    /// Rounds of a read of this many values by a block of threads whose rows lie this far apart.
    fn rounds(threads: [u32; 2], pitch: u32, values: u32, value_bytes: u32) -> u64 {
        let [x, y] = threads;
        let read = match values {
            1 => "a = line[own]".to_string(),
            _ => "a, b = line[own]".to_string(),
        };
        let text = format!(
            "kernel r {{ dimension 2 value_bytes {value_bytes}
            launch blocks threads [{x}, {y}, 1] tile [{x}, {y}, 1] extend [0, 0, 0] blocks_per_unit 1
            buffer v write halo [0, 0, 0] shared line[4096]
            registers a, b ints own, p cells d
            code {{
                int own = thread.y * {pitch} + thread.x * {values}
                cell d = (block.x, 0, 0)
                for p in 0 .. size.y {{ {read} store v[d] = a }}
            }} }}"
        );
        let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        kernel.operations().rounds
    }

    #[test]
    fn words_of_one_bank_take_a_round_each() {
        // A row of words, and one whose rows do not overlap in banks.
        assert_eq!(rounds([32, 4], 40, 1, 4), 1);
        assert_eq!(rounds([16, 4], 48, 1, 4), 1);
        // Half of the second row meets banks of the first; all of it.
        assert_eq!(rounds([16, 4], 24, 1, 4), 2);
        assert_eq!(rounds([16, 4], 32, 1, 4), 2);
        // Eight rows of four threads, one above the other.
        assert_eq!(rounds([4, 8], 32, 1, 4), 8);
        // Every thread reads the same word.
        assert_eq!(rounds([1, 32], 0, 1, 4), 1);
    }

    #[test]
    fn wide_values_are_served_to_a_part_of_the_warp() {
        assert_eq!(rounds([32, 4], 72, 2, 4), 2);
        assert_eq!(rounds([32, 4], 40, 1, 8), 2);
        assert_eq!(rounds([32, 4], 72, 2, 8), 4);
        // Two rows of eight threads with two words each: the rows of a half overlap by half.
        assert_eq!(rounds([8, 4], 24, 2, 4), 4);
    }
}
