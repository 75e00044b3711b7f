//! The kernel interpreter catches every seeded fault in the marches that the compiler makes.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::algorithm::text::fingerprint;
use stencil_compiler::compile::{Compiled, Target, compile};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::interp::{Shadow, faults};
use stencil_compiler::kernel::{Index, Kernel, Operand, Reg, Relation, Stmt};
use stencil_compiler::schedule::{Blocking, Placement, Schedule, text};
use stencil_compiler::search::heuristic;
use stencil_tests::{Case, ISOTHERMAL_NS, OrPanic, algorithm_of, differing, interpreted, oracle};

mod ahead;
mod boxes;
mod ends;
mod stage;

const CELLS: [usize; 3] = [37, 12, 13];

/// Interleavings that a fault may need to show: all orders of warps and times of copies.
const SEEDS: u64 = 9;

/// Benches by their mesh, algorithm and schedule: tests share the runs of sound kernels, which take most of the time.
static BENCHES: Mutex<BTreeMap<String, &OnceLock<Bench>>> = Mutex::new(BTreeMap::new());

struct Bench {
    algorithm: Algorithm,
    case: Case,
    compiled: Compiled,
    reference: Vec<Vec<f32>>,
}

impl Bench {
    /// Makes two steps of Navier-Stokes by a march over a small tile, so that blocks have several warps.
    fn new(carried: bool) -> &'static Self {
        let params = [("tile_x", 32), ("tile_y", 8), ("points", 2), ("chunk", 8)];
        Bench::of(carried, Blocking::new("march", &params))
    }

    /// Makes the same with planes that come as boxes.
    fn boxes(carried: bool) -> &'static Self {
        let params = [("tile_x", 32), ("tile_y", 8), ("points", 2), ("chunk", 8), ("loader", 1)];
        Bench::of(carried, Blocking::new("march", &params))
    }

    /// Makes the same with planes in shared memory.
    fn plane(carried: bool, points: u32, buffers: u32) -> &'static Self {
        let params =
            [("tile_x", 32), ("tile_y", 8), ("points", points), ("chunk", 8), ("buffers", buffers)];
        Bench::of(carried, Blocking::new("plane", &params))
    }

    fn of(carried: bool, blocking: Blocking) -> &'static Self {
        let algorithm = algorithm_of(ISOTHERMAL_NS);
        let mut placements = BTreeMap::new();
        if carried {
            heuristic::carry(&algorithm, &mut placements);
        }
        Bench::with(algorithm, placements, blocking)
    }

    fn with(
        algorithm: Algorithm,
        placements: BTreeMap<String, Placement>,
        blocking: Blocking,
    ) -> &'static Self {
        Bench::on((CELLS, [false; 3]), algorithm, placements, blocking)
    }

    /// Makes the same on a mesh with these wrapped axes.
    fn on(
        (cells, wrapped): ([usize; 3], [bool; 3]),
        algorithm: Algorithm,
        placements: BTreeMap<String, Placement>,
        blocking: Blocking,
    ) -> &'static Self {
        let schedule = Schedule { placements, kernels: vec![blocking], ..Schedule::default() };
        let (number, form) = (fingerprint(&algorithm), text::print(&schedule));
        let key = format!("{cells:?} {wrapped:?} {number} {form}");
        let mut benches = BENCHES.lock().unwrap_or_else(|broken| broken.into_inner());
        let bench = *benches.entry(key).or_insert_with(|| Box::leak(Box::default()));
        drop(benches);
        bench.get_or_init(|| Bench::made((cells, wrapped), algorithm, &schedule))
    }

    /// Compiles a schedule and runs its sound kernels under all seeds.
    fn made(
        (cells, wrapped): ([usize; 3], [bool; 3]),
        algorithm: Algorithm,
        schedule: &Schedule,
    ) -> Self {
        let bytes = Precision::F32.bytes();
        let compiled =
            compile(&algorithm, schedule, &Target::new(bytes).around(wrapped)).or_panic();
        let case = Case::new(&algorithm, cells);
        let reference = oracle::<f32>(&algorithm, &case, 1);
        let bench = Bench { algorithm, case, compiled, reference };
        for seed in 0..SEEDS {
            assert!(
                !bench.shows(&bench.compiled, seed),
                "the sound kernel is refused under seed {seed}"
            );
        }
        bench
    }

    /// Returns the slots of the planes of the second substep.
    fn slots(&self) -> i64 {
        let kernel = &self.compiled.kernels[1];
        let slots = kernel.notes.iter().find_map(|note| {
            let (slots, _) = note.split_once(" planes of ")?;
            slots.parse().ok()
        });
        slots.unwrap_or_else(|| panic!("no planes in {:?}", kernel.notes))
    }

    /// Does a run under this seed report a fault or give other bits?
    fn shows(&self, compiled: &Compiled, seed: u64) -> bool {
        match interpreted::<f32>(&self.algorithm, compiled, &self.case, 1, 3 * seed, Shadow::Full) {
            Ok(result) => differing(&result, &self.reference) > 0,
            Err(_) => true,
        }
    }

    /// Applies a fault to the kernel of the second substep and checks that it is caught.
    fn catches(&self, what: &str, fault: impl Fn(&Kernel) -> Option<Kernel>) -> bool {
        let mut compiled = self.compiled.clone();
        let Some(broken) = fault(&compiled.kernels[1]) else {
            return false;
        };
        assert_ne!(broken, compiled.kernels[1], "{what} changes nothing");
        compiled.kernels[1] = broken;
        assert!((0..SEEDS).any(|seed| self.shows(&compiled, seed)), "{what} is not caught");
        true
    }

    /// Applies a fault at each of its places (or a spread of them, if there are many).
    fn catches_all(
        &self,
        what: &str,
        least: usize,
        stride: usize,
        fault: impl Fn(&Kernel, usize) -> Option<Kernel>,
    ) {
        let mut count = 0;
        while self.catches(&format!("{what} {count}"), |kernel| fault(kernel, count * stride)) {
            count += 1;
        }
        assert!(count >= least, "{what}: only {count} places");
    }
}

#[test]
fn dropped_and_mistaken_waits() {
    for carried in [false, true] {
        let bench = Bench::new(carried);
        bench.catches_all("a dropped wait", 2, 1, faults::drop_wait);
        bench.catches_all("a wait on the wrong phase", 2, 1, faults::flip_wait);
        bench.catches_all("a dropped arrival", 1, 1, faults::drop_arrive);
    }
}

#[test]
fn offsets_off_by_one() {
    for carried in [false, true] {
        let bench = Bench::new(carried);
        bench.catches_all("a shared offset off by one", 4, 9, |kernel, n| {
            faults::shift_shared(kernel, n, 1)
        });
        // The first planes are read in part only; the loop's copies are read in full.
        let prologue = copies(&bench.compiled.kernels[1].body, false);
        bench.catches_all("a copy off by one", 2, 1, |kernel, n| {
            faults::shift_copy(kernel, prologue + n, n % 3, 1)
        });
    }
}

fn copies(body: &[Stmt], loops: bool) -> usize {
    let count = |stmt: &Stmt| match stmt {
        Stmt::Copy { .. } => 1,
        Stmt::If { body, .. } => copies(body, loops),
        Stmt::For { body, .. } if loops => copies(body, loops),
        _ => 0,
    };
    body.iter().map(count).sum()
}

#[test]
fn a_rim_one_short() {
    for carried in [false, true] {
        let bench = Bench::new(carried);
        for bound in [Bound::Plane, Bound::Column, Bound::Row, Bound::Count] {
            let found = bench
                .catches(&format!("{bound:?} one short"), |kernel| Some(shortened(kernel, bound)));
            assert!(found);
        }
    }
}

/// A bound that keeps a copy inside of the cells that are needed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    Plane,
    Column,
    Row,
    Count,
}

/// Returns copies of the loop with one bound lower by one: the last plane, column or row is missing.
fn shortened(kernel: &Kernel, bound: Bound) -> Kernel {
    let mut kernel = kernel.clone();
    for stmt in &mut kernel.body {
        if let Stmt::For { body, .. } = stmt {
            shorten(body, bound);
        }
    }
    kernel
}

fn shorten(body: &mut [Stmt], bound: Bound) {
    for stmt in body {
        let Stmt::If { conditions, body } = stmt else {
            continue;
        };
        let copies = self::copies(body, false) > 0;
        let loads = body.iter().any(|stmt| matches!(stmt, Stmt::Load { .. }));
        if !copies && !loads {
            continue;
        }
        shorten(body, bound);
        for condition in conditions.iter_mut().filter(|c| c.relation == Relation::Less) {
            let of = match &condition.right {
                Index::Const(_) => Bound::Count,
                right if mentions(right, 0) => Bound::Column,
                right if mentions(right, 1) => Bound::Row,
                _ => Bound::Plane,
            };
            if of == bound {
                // Columns of copies come in whole copies.
                let by = if copies && bound == Bound::Column { COPY } else { 1 };
                condition.right = condition.right.clone() - Index::Const(by);
            }
        }
    }
}

/// Cells of one copy in single precision.
const COPY: i64 = 4;

fn mentions(index: &Index, axis: usize) -> bool {
    match index {
        Index::Size(of) => *of == axis,
        Index::Add(a, b) | Index::Sub(a, b) | Index::Min(a, b) => {
            mentions(a, axis) || mentions(b, axis)
        }
        Index::Mul(a, _)
        | Index::Div(a, _)
        | Index::Rem(a, _)
        | Index::Wrap(a, _)
        | Index::Numbered(a, _) => mentions(a, axis),
        Index::Const(_) | Index::Var(_) | Index::Block(_) | Index::Thread(_) => false,
    }
}

#[test]
fn a_ring_one_plane_too_small() {
    // The planes that are read at once, and two on their way.
    for (carried, slots) in [(false, 9), (true, 6)] {
        let bench = Bench::new(carried);
        for by in [1, 2] {
            assert!(bench.catches(&format!("a ring {by} planes too small"), |kernel| {
                let shrunk = |index| shrink(index, slots, slots - by);
                Some(faults::map_indices(kernel, &mut |index| shrunk(index)))
            }));
        }
    }
}

#[test]
fn one_phase_too_few() {
    for carried in [false, true] {
        let bench = Bench::new(carried);
        let phases = i64::from(bench.compiled.kernels[1].barriers[0].slots);
        for by in [1, 2] {
            assert!(bench.catches(&format!("{by} phases too few"), |kernel| {
                let shrunk = |index| shrink(index, phases, phases - by);
                let mut kernel = faults::map_indices(kernel, &mut |index| shrunk(index));
                for barrier in &mut kernel.barriers {
                    barrier.slots = (phases - by) as u32;
                }
                Some(kernel)
            }));
        }
    }
}

fn shrink(index: Index, from: i64, to: i64) -> Index {
    match index {
        Index::Rem(a, n) if n == from => Index::Rem(a, to),
        Index::Div(a, n) if n == from => Index::Div(a, to),
        other => other,
    }
}

#[test]
fn an_accumulator_shifted_late() {
    for bench in [Bench::new(true), Bench::plane(true, 1, 2)] {
        bench.catches_all("an accumulator shifted late", 6, 3, |kernel, n| {
            late_shift(kernel, "_sum", n)
        });
    }
}

/// Makes the n-th queue of this kind take its neighbour's value from before this plane in place of the one now.
fn late_shift(kernel: &Kernel, kind: &str, n: usize) -> Option<Kernel> {
    let sums = |kernel: &Kernel| -> Vec<u32> {
        let is_sum = |q: &&Reg| kernel.registers[q.0 as usize].contains(kind);
        kernel.queues.iter().filter(is_sum).map(|q| q.0).collect()
    };
    let queue = *sums(kernel).get(n)?;
    let mut kernel = kernel.clone();
    let before = sums(&kernel).into_iter().filter(|q| *q < queue).max();
    replace_set(&mut kernel.body, queue, before).then_some(kernel)
}

fn replace_set(body: &mut Vec<Stmt>, queue: u32, by: Option<u32>) -> bool {
    let is_set = |stmt: &Stmt| matches!(stmt, Stmt::Set { reg, .. } if reg.0 == queue);
    if let Some(at) = body.iter().position(is_set) {
        match (by, &mut body[at]) {
            (Some(by), Stmt::Set { value, .. }) => *value = Operand::Reg(Reg(by)),
            _ => {
                body.remove(at);
            }
        }
        return true;
    }
    body.iter_mut().any(|stmt| match stmt {
        Stmt::If { body, .. } | Stmt::For { body, .. } => replace_set(body, queue, by),
        _ => false,
    })
}

#[test]
fn barriers_around_a_plane() {
    for carried in [false, true] {
        for (buffers, syncs) in [(1, 2), (2, 1)] {
            let bench = Bench::plane(carried, 1, buffers);
            bench.catches_all("a dropped barrier", syncs, 1, faults::drop_sync);
            assert!(faults::drop_sync(&bench.compiled.kernels[1], syncs).is_none());
        }
    }
}

#[test]
fn planes_in_the_wrong_buffer() {
    for carried in [false, true] {
        let bench = Bench::plane(carried, 2, 2);
        let slots = bench.slots();
        bench.catches_all("a buffer for another", 3, 1, |kernel, n| turned(kernel, slots, n));
    }
}

/// Moves the n-th position in a ring of this many slots one slot on.
fn turned(kernel: &Kernel, slots: i64, n: usize) -> Option<Kernel> {
    let mut seen = 0;
    let kernel = faults::map_indices(kernel, &mut |index| match index {
        Index::Rem(a, by) if by == slots => {
            seen += 1;
            let on = if seen == n + 1 { 1 } else { 0 };
            Index::Rem(Box::new(*a + Index::Const(on)), by)
        }
        other => other,
    });
    (seen > n).then_some(kernel)
}

#[test]
fn a_plane_too_few() {
    for carried in [false, true] {
        let bench = Bench::plane(carried, 1, 2);
        let slots = bench.slots();
        let found = bench.catches("a plane too few", |kernel| {
            Some(faults::map_indices(kernel, &mut |index| shrink(index, slots, slots - 1)))
        });
        assert!(found);
    }
}

#[test]
fn a_plane_that_is_not_brought_up_to_date() {
    for (carried, points) in [(false, 2), (true, 1)] {
        let bench = Bench::plane(carried, points, 1);
        bench.catches_all("a dropped store", 4, 3, faults::drop_store_shared);
        bench.catches_all("a store off by one", 4, 3, |kernel, n| {
            faults::shift_store_shared(kernel, n, 1)
        });
        bench.catches_all("a load off by one", 4, 5, |kernel, n| {
            faults::shift_load(kernel, n, n % 3, 1)
        });
        bench.catches_all("a read off by one", 4, 19, |kernel, n| {
            faults::shift_shared(kernel, n, 1)
        });
        bench.catches_all("a column that moves late", 4, 7, |kernel, n| {
            late_shift(kernel, "_column", n)
        });
    }
}

#[test]
fn a_rim_of_a_plane_one_short() {
    for (carried, points) in [(false, 1), (true, 2)] {
        let bench = Bench::plane(carried, points, 2);
        for bound in [Bound::Plane, Bound::Column, Bound::Row, Bound::Count] {
            let found = bench
                .catches(&format!("{bound:?} one short"), |kernel| Some(shortened(kernel, bound)));
            assert!(found);
        }
    }
}
