//! The machine: blocks one after another, and in a block one warp's turn after another's.

use super::array::GlobalArray;
use super::barrier::{Barrier, Deferred, PendingCopy, join};
use super::fault::{Fault, FaultKind, Problem};
use super::global::{Accessor, View};
use super::program::{Inst, Program};
use super::schedule::Scheduler;
use super::shared::Shared;
use super::warp::{LANES, Loop, State, Warp};
use super::{Options, Report, Shadow};
use crate::expr::Real;
use crate::kernel::BlockBox;
use crate::kernel::Kernel;
use crate::kernel::text::statement;
use crate::schedule::LaunchKind;

pub(super) type Result<T = ()> = std::result::Result<T, Problem>;

/// All state of a run.
pub(super) struct Machine<'a, T> {
    pub(super) kernel: &'a Kernel,
    pub(super) program: Program<'a, T>,
    pub(super) global: Vec<View<'a, T>>,
    pub(super) shared: Shared<T>,
    pub(super) barriers: Vec<Barrier>,
    /// Index of the first barrier of each array among all.
    pub(super) first_barrier: Vec<usize>,
    pub(super) warps: Vec<Warp<T>>,
    /// Copies of each warp that are not yet bound to a barrier.
    pub(super) unbound: Vec<Vec<PendingCopy>>,
    pub(super) deferred: Vec<Deferred>,
    pub(super) scheduler: Scheduler,
    pub(super) queues: Vec<usize>,
    pub(super) threads: u32,
    cells: [usize; 3],
    pub(super) blocks: [usize; 3],
    pub(super) full: bool,
    pub(super) block: [usize; 3],
    pub(super) report: Report,
}

impl<'a, T: Real> Machine<'a, T> {
    pub(super) fn new(
        kernel: &'a Kernel,
        cells: [usize; 3],
        buffers: &'a mut [GlobalArray<T>],
        uniforms: &[T],
        options: Options,
    ) -> Self {
        let region: [usize; 3] =
            std::array::from_fn(|a| cells[a] + 2 * kernel.launch.extend[a] as usize);
        let (blocks, shape) = match kernel.launch.kind {
            LaunchKind::Rows => ([1, region[1], region[2]], [region[0], 1, 1]),
            LaunchKind::Blocks => (kernel.blocks(cells), kernel.launch.threads.map(|t| t as usize)),
        };
        let threads: usize = shape.iter().product();
        let program = Program::new(kernel, uniforms);
        let slots: usize = kernel.barriers.iter().map(|b| b.slots as usize).sum();
        let actors = 2 * threads.div_ceil(LANES) + slots;
        let warps: Vec<Warp<T>> = (0..threads.div_ceil(LANES))
            .map(|w| Warp::new(kernel, &program.constants, w, threads, shape, (cells, actors)))
            .collect();
        let full = options.shadow == Shadow::Full;
        let (mut barriers, mut first_barrier) = (Vec::new(), Vec::new());
        for array in &kernel.barriers {
            first_barrier.push(barriers.len());
            for slot in 0..array.slots {
                let name = format!("{}[{slot}]", array.name);
                let actor = 2 * warps.len() + barriers.len();
                barriers.push(Barrier::new(
                    name,
                    array.arrivals,
                    (warps.len(), threads as u32),
                    (actor, actors),
                ));
            }
        }
        Machine {
            kernel,
            program,
            global: kernel
                .buffers
                .iter()
                .zip(buffers)
                .map(|(b, array)| View::new(b, array))
                .collect(),
            shared: Shared::new(kernel, warps.len(), full),
            barriers,
            first_barrier,
            unbound: vec![Vec::new(); warps.len()],
            deferred: Vec::new(),
            scheduler: Scheduler::new(options.seed, warps.len()),
            queues: kernel.queues.iter().map(|q| q.0 as usize).collect(),
            warps,
            threads: threads as u32,
            cells,
            blocks,
            full,
            block: [0; 3],
            report: Report::default(),
        }
    }

    /// Runs all blocks, or those of some parts, one part after the other.
    pub(super) fn run(mut self, parts: &[BlockBox]) -> std::result::Result<Report, Fault> {
        let [bx, by, bz] = self.blocks;
        let block = |number: usize| [number % bx, number / bx % by, number / (bx * by)];
        let all = [BlockBox { first: [0; 3], blocks: self.blocks }];
        let parts = if parts.is_empty() { &all } else { parts };
        for part in parts {
            let mut order: Vec<usize> = (0..bx * by * bz).collect();
            order.retain(|number| part.contains(block(*number)));
            self.scheduler.random.shuffle(&mut order);
            for number in order {
                self.block = block(number);
                self.restart(number);
                self.run_block()?;
                self.report.blocks += 1;
            }
        }
        let (kernel, cells) = (self.kernel, self.cells);
        let is_own = |cell: [i64; 3]| {
            let block = kernel.block_of(cell, cells);
            parts.iter().any(|part| part.contains(block))
        };
        let extend = kernel.launch.extend;
        match self.global.iter().find_map(|view| view.badly_written(extend, is_own)) {
            Some((kind, message)) => Err(Fault::of_kernel(kind, message)),
            None => Ok(self.report),
        }
    }

    fn restart(&mut self, number: usize) {
        // Times go on from block to block, so the shadow need not be cleared: all before is known.
        let past = self
            .warps
            .iter()
            .enumerate()
            .map(|(w, warp)| warp.clock[w].max(warp.engine))
            .chain(self.barriers.iter().map(|barrier| barrier.boxes().1))
            .max()
            .unwrap_or(0);
        for (w, warp) in self.warps.iter_mut().enumerate() {
            warp.restart(self.block.map(|b| b as i64), &self.queues);
            warp.clock.fill(past);
            warp.clock[w] = past + 1;
            warp.engine = past + 1;
        }
        self.barriers.iter_mut().for_each(|b| b.restart(past));
        self.unbound.iter_mut().for_each(Vec::clear);
        self.deferred.clear();
        self.scheduler.restart();
        self.shared.block = number as u32 + 1;
    }

    fn run_block(&mut self) -> std::result::Result<(), Fault> {
        loop {
            let (warps, barriers) = (&self.warps, &self.barriers);
            let can_run = |w: usize| match warps[w].state {
                State::Ready => true,
                State::Waiting { barrier, parity } => barriers[barrier].passes(parity),
                State::AtSync | State::Done => false,
            };
            let next = self.scheduler.choose(can_run);
            if !self.deferred.is_empty() && self.scheduler.arrives(next.is_none()) {
                self.deliver()?;
            } else if let Some(w) = next {
                self.turn(w).map_err(|problem| self.fault(w, self.warps[w].pc, problem))?;
            } else if self.warps.iter().all(|w| w.state == State::AtSync) {
                self.join_warps()?;
            } else if self.warps.iter().all(|w| w.state == State::Done) {
                return self.check_boxes();
            } else {
                return Err(self.deadlock());
            }
        }
    }

    /// All warps are at a [`Stmt::Sync`](crate::kernel::Stmt::Sync): they continue together.
    fn join_warps(&mut self) -> std::result::Result<(), Fault> {
        let pc = self.warps[0].pc;
        if let Some(w) = self.warps.iter().position(|warp| warp.pc != pc) {
            let message = "warp 0 waits for the block at another statement".to_string();
            return Err(self.fault(
                w,
                self.warps[w].pc,
                Problem::new(FaultKind::DivergentSync, message),
            ));
        }
        let mut all = vec![0; self.warps[0].clock.len()];
        self.warps.iter().for_each(|warp| join(&mut all, &warp.clock));
        for (w, warp) in self.warps.iter_mut().enumerate() {
            warp.clock.copy_from_slice(&all);
            warp.clock[w] += 1;
            warp.state = State::Ready;
            warp.pc += 1;
        }
        Ok(())
    }

    fn deadlock(&self) -> Fault {
        let mut waits = Vec::new();
        let mut at = 0;
        for (w, warp) in self.warps.iter().enumerate() {
            match warp.state {
                State::Waiting { barrier, .. } => {
                    waits.push(format!("warp {w} at {}", self.barriers[barrier].describe()))
                }
                State::AtSync => waits.push(format!("warp {w} at sync")),
                State::Ready | State::Done => continue,
            }
            at = w;
        }
        let message = format!("no warp can go on: {}", waits.join("; "));
        self.fault(at, self.warps[at].pc, Problem::new(FaultKind::Deadlock, message))
    }

    pub(super) fn fault(&self, w: usize, pc: usize, problem: Problem) -> Fault {
        let name = |var: usize| self.kernel.ints.get(var).cloned().unwrap_or_default();
        Fault {
            kind: problem.kind,
            message: problem.message,
            statement: self
                .program
                .stmts
                .get(pc)
                .map(|stmt| statement(self.kernel, stmt))
                .unwrap_or_default(),
            block: Some(self.block.map(|b| b as u32)),
            warp: Some(w as u32),
            lane: problem.lane.map(|lane| lane as u32),
            loops: self.warps[w].loops.iter().map(|l| (name(l.var), l.now)).collect(),
        }
    }

    /// Runs a warp up to its next synchronizing statement, that one excluded.
    fn turn(&mut self, w: usize) -> Result {
        let mut first = true;
        loop {
            let warp = &mut self.warps[w];
            let Some(inst) = self.program.insts.get(warp.pc) else {
                warp.state = State::Done;
                return Ok(());
            };
            let synchronizes = inst.synchronizes();
            if synchronizes && !first {
                return Ok(());
            }
            first = false;
            self.report.statements += 1;
            self.report.lanes += u64::from(warp.mask.count_ones());
            if synchronizes {
                self.synchronize(w)?;
                if self.warps[w].state != State::Ready {
                    return Ok(());
                }
            } else {
                self.compute(w)?;
            }
            self.warps[w].pc += 1;
        }
    }

    fn compute(&mut self, w: usize) -> Result {
        let warp = &mut self.warps[w];
        match &self.program.insts[warp.pc] {
            Inst::Int { var, value } => warp.ints[*var] = warp.each(*value),
            Inst::Cell { cell, at } => warp.cell(*cell, at),
            Inst::Call { reg, op, args, first } => {
                let [done, slots] = warp.called(*reg, *op, args);
                if *first {
                    self.report.iterations += done;
                    self.report.iteration_slots += slots;
                }
            }
            Inst::Let { reg, op, args, count } => warp.operation(*reg, *op, args, *count),
            Inst::Set { reg, value } => warp.set(*reg, *value),
            Inst::For { var, from, to, end } => {
                let (now, to) = (warp.one(from.index), warp.one(to.index));
                if now < to {
                    warp.ints[*var] = [now; LANES];
                    warp.loops.push(Loop { var: *var, now, to, start: warp.pc });
                } else {
                    warp.pc = *end;
                }
            }
            Inst::EndFor => {
                if let Some(inner) = warp.loops.last_mut() {
                    inner.now += 1;
                    if inner.now < inner.to {
                        warp.ints[inner.var] = [inner.now; LANES];
                        warp.pc = inner.start;
                    } else {
                        warp.loops.pop();
                    }
                }
            }
            Inst::If { tests, end } => {
                let inside = warp.test(tests);
                if inside == 0 {
                    warp.pc = *end;
                } else {
                    warp.masks.push(warp.mask);
                    warp.mask = inside;
                }
            }
            Inst::EndIf => {
                if let Some(outer) = warp.masks.pop() {
                    warp.mask = outer;
                }
            }
            Inst::Load { .. }
            | Inst::Store { .. }
            | Inst::LoadShared { .. }
            | Inst::StoreShared { .. } => return self.access(w),
            Inst::Copy { .. } => return self.copy(w),
            Inst::CopyBox { .. } => return self.copy_box(w),
            Inst::Nothing
            | Inst::ArriveCopies { .. }
            | Inst::Arrive { .. }
            | Inst::Expect { .. }
            | Inst::Wait { .. }
            | Inst::Sync => {}
        }
        Ok(())
    }

    fn access(&mut self, w: usize) -> Result {
        let warp = &mut self.warps[w];
        let accessor = Accessor {
            warp: w,
            block: self.shared.block - 1,
            threads: self.threads,
            mask: warp.mask,
            clock: &warp.clock,
            full: self.full,
        };
        match &self.program.insts[warp.pc] {
            Inst::Load { reg, access } => {
                let (values, known) =
                    self.global[access.buffer].load(accessor, &warp.cells[access.cell], access)?;
                warp.regs[*reg] = values;
                warp.defined[*reg] = known;
            }
            Inst::Store { access, values } => {
                let values = values.iter().map(|v| (&warp.regs[*v], warp.defined[*v]));
                let cell = &warp.cells[access.cell];
                self.global[access.buffer].store(accessor, cell, access, values)?;
            }
            Inst::LoadShared { regs, array, base, offset } => {
                let mut out = [([T::ZERO; LANES], 0); 4];
                let base = (&warp.ints[*base], *offset);
                self.shared.read(
                    *array,
                    base,
                    (w, warp.mask, &warp.clock),
                    &mut out[..regs.len()],
                )?;
                for (reg, (values, known)) in regs.iter().zip(out) {
                    warp.regs[*reg] = values;
                    warp.defined[*reg] = known;
                }
            }
            Inst::StoreShared { array, base, offset, values } => {
                let values = values.iter().map(|v| (&warp.regs[*v], warp.defined[*v]));
                let base = (&warp.ints[*base], *offset);
                let accessor = (w, warp.mask, &warp.clock[..]);
                self.shared.write(*array, base, accessor, values)?;
            }
            _ => {}
        }
        Ok(())
    }
}
