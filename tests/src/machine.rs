//! Walks a plan on the kernel interpreter, over all patches of a mesh.

use std::collections::{BTreeMap, BTreeSet};

use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::compile::Compiled;
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::interp::{self, Fault, GlobalArray, Options, Report, Shadow};
use stencil_compiler::kernel::{BlockBox, Kernel, Mode, Split};
use stencil_compiler::plan::{Phase, Place, Plan, Region, Step};
use stencil_compiler::schedule::Overlap;

use super::memory::{Arrays, Layout, Memory, Messages, Named, blank};
use super::{Case, each};

/// A fault in the regions or the exchanges of a plan, for tests of those that find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeded {
    /// The first exchange is missing.
    Missing,
    /// All exchanges come after the rim.
    Late,
    /// Exchanges are one cell too shallow along an axis.
    Shallow(usize),
    /// The interior has blocks of the rim: those of its last box.
    Wide,
    /// The last box of the rim is missing.
    Without,
}

/// Walks a plan on the kernel interpreter.
pub struct Machine<'a, T> {
    compiled: &'a Compiled,
    /// The kernels of a run of the case.
    kernels: Vec<Kernel>,
    /// The steps of the plan, with exchanges if there are several devices.
    steps: Vec<Step>,
    memory: Memory<T>,
    /// Messages between devices, by the buffer.
    under_way: BTreeMap<String, Messages<T>>,
    /// The place of each buffer, as a device would have it now.
    places: Vec<Place>,
    case: Case,
    t: f64,
    substep: Option<usize>,
    uniforms: BTreeMap<String, T>,
    seed: u64,
    shadow: Shadow,
    /// Axes along which launches have a rim: those that are cut between devices, and all on one device.
    cut: [bool; 3],
    fault: Option<Seeded>,
    /// Blocks that ran while ghost cells were on their way.
    beside: u64,
    /// The statistics of each kernel.
    reports: BTreeMap<String, Report>,
}

/// Returns the buffer whose memory a buffer uses.
fn home(plan: &Plan, name: &str) -> String {
    let within = plan.buffer(name).and_then(|b| b.within.clone());
    within.unwrap_or_else(|| name.to_string())
}

impl<'a, T: Real> Machine<'a, T> {
    /// Allocates the buffers and sets the fields.
    pub fn new(
        algorithm: &Algorithm,
        compiled: &'a Compiled,
        case: &Case,
        layout: Layout,
        seed: u64,
        shadow: Shadow,
    ) -> Self {
        // A memory is as large as the largest of the buffers that use it.
        let plan = &compiled.plan;
        let mut arrays: BTreeMap<String, ([usize; 3], usize)> = BTreeMap::new();
        for (buffer, place) in plan.buffers.iter().zip(plan.places()) {
            let (known, apart) = arrays.entry(home(plan, &buffer.name)).or_default();
            *known = std::array::from_fn(|axis| known[axis].max(buffer.halo[axis] as usize));
            *apart = place.of;
        }
        let named = |(name, (halo, apart))| (name, halo, apart);
        let names: Vec<Named> = arrays.into_iter().map(named).collect();
        let mut memory = Memory::new(case.cells, layout, &names);
        for (i, state) in case.set_states(algorithm) {
            memory.set(&algorithm.state(state).name, &case.initial::<T>(i));
        }
        for (_, state) in algorithm.states_of(Role::Given) {
            let halo = compiled.plan.buffer(&state.name).map(|b| b.halo);
            memory.fill(&state.name, halo.unwrap_or_default());
        }
        for (_, state) in algorithm.states_of(Role::Count) {
            memory.set(&state.name, &vec![T::from_f64(0.0); case.cells.iter().product()]);
            let halo = plan.buffer(&state.name).map(|b| b.halo);
            memory.fill(&state.name, halo.unwrap_or_default());
        }
        let steps = match layout.devices {
            1 => plan.steps.clone(),
            _ => {
                let overlap = plan.overlap.or(Some(Overlap::Rim));
                let plan = Plan { overlap, ..plan.clone() };
                plan.among_devices().expect("a plan of one device").steps
            }
        };
        Machine {
            compiled,
            steps,
            under_way: BTreeMap::new(),
            kernels: compiled.kernels.clone(),
            cut: if layout.devices == 1 { [true; 3] } else { layout.cut() },
            memory,
            places: plan.places(),
            case: case.clone(),
            t: 0.0,
            substep: None,
            uniforms: BTreeMap::new(),
            seed,
            shadow,
            fault: None,
            beside: 0,
            reports: BTreeMap::new(),
        }
    }

    /// Puts a fault into the steps, or into their regions.
    pub fn with_fault(mut self, fault: Seeded) -> Self {
        let exchange =
            |step: &Step, of: Phase| matches!(step, Step::Exchange { phase, .. } if *phase == of);
        match fault {
            Seeded::Missing => {
                for phase in [Phase::Post, Phase::Wait] {
                    let at = self.steps.iter().position(|step| exchange(step, phase));
                    self.steps.remove(at.expect("an exchange"));
                }
            }
            Seeded::Late => {
                for at in (0..self.steps.len() - 1).rev() {
                    let is_rim =
                        matches!(self.steps[at + 1], Step::Launch { region: Region::Rim, .. });
                    if exchange(&self.steps[at], Phase::Wait) && is_rim {
                        self.steps.swap(at, at + 1);
                    }
                }
            }
            Seeded::Shallow(axis) => {
                for step in &mut self.steps {
                    if let Step::Exchange { depth, .. } = step {
                        depth.towards[axis] = depth.towards[axis].saturating_sub(1);
                    }
                }
            }
            Seeded::Wide | Seeded::Without => {}
        }
        self.fault = Some(fault);
        self
    }

    /// Returns the number of blocks that ran while ghost cells were on their way.
    pub fn beside(&self) -> u64 {
        self.beside
    }

    /// Returns the statistics of each kernel, by its name, of all steps so far.
    pub fn reports(&self) -> &BTreeMap<String, Report> {
        &self.reports
    }

    /// Sets the interior values of a buffer, x fastest.
    ///
    /// # Panics
    /// If there is no such buffer, or another number of values.
    pub fn set(&mut self, name: &str, values: &[T]) {
        self.memory.set(name, values);
    }

    /// Walks once through the plan: a time step, or as many as are fused.
    ///
    /// # Errors
    /// The first fault that the interpreter finds.
    pub fn step(&mut self) -> Result<(), Fault> {
        let steps = self.steps.clone();
        for step in &steps {
            match step {
                Step::Fill { buffers, depth } => buffers.iter().for_each(|name| {
                    let home = home(&self.compiled.plan, name);
                    self.memory.fill_own(&home, *depth);
                }),
                Step::Exchange { phase, buffers, depth } => buffers.iter().for_each(|name| {
                    let home = home(&self.compiled.plan, name);
                    if *phase == Phase::Post {
                        let messages = self.memory.post(&home, *depth);
                        self.memory.poison(&home);
                        self.under_way.insert(home, messages);
                    } else if let Some(messages) = self.under_way.remove(&home) {
                        self.memory.receive(&home, *depth, &messages);
                    }
                }),
                Step::Launch { launch, region } => {
                    self.enter(self.compiled.plan.launches[*launch].substep);
                    self.launch(*launch, *region)?;
                }
                Step::Uniforms => self.substep = None,
                Step::Reduce { .. } | Step::Accept => {}
                Step::Swap { .. } => {
                    let exchanged = step.exchanged();
                    self.memory.patches().for_each(|(_, patch)| swap(patch, &exchanged));
                    for (a, b) in &exchanged {
                        let [a, b] = [a, b].map(|name| self.at(name));
                        self.places.swap(a, b);
                    }
                }
            }
        }
        self.t += self.case.dt * self.compiled.plan.time_steps as f64;
        self.substep = None;
        Ok(())
    }

    fn at(&self, name: &str) -> usize {
        let buffers = &self.compiled.plan.buffers;
        let at = buffers.iter().position(|buffer| buffer.name == name);
        at.expect("a buffer of the plan")
    }

    /// Checks the distances of the buffers of a series: a device copies boxes of several buffers as if these were one
    /// array with an axis more. Tests turn them round, so this cannot check the order.
    fn check_series(&self, kernel: &Kernel) {
        for buffers in kernel.boxes().into_keys() {
            let names = buffers.iter().map(|b| &kernel.buffers[b.0 as usize].name);
            let before: Vec<usize> = names.map(|n| self.places[self.at(n)].before).collect();
            let apart = |pair: &[usize]| pair[1] as i64 - pair[0] as i64;
            let all: BTreeSet<i64> = before.windows(2).map(apart).collect();
            let name = &kernel.name;
            assert!(all.len() < 2 && !all.contains(&0), "{name}: a box of arrays at {before:?}");
        }
    }

    /// Sets the uniforms of a substep.
    fn enter(&mut self, substep: usize) {
        if self.substep == Some(substep) {
            return;
        }
        self.substep = Some(substep);
        let problem = &self.compiled.problem;
        let at = problem.substeps[substep].at;
        let t = self.case.dt.mul_add(at, self.t);
        let values = self.case.uniforms_at::<T>(problem, t);
        let names = problem.uniforms.iter().map(|u| u.name.clone());
        self.uniforms = names.zip(values).collect();
    }

    /// Runs a kernel on a region of each patch.
    fn launch(&mut self, at: usize, region: Region) -> Result<(), Fault> {
        let kernel = &self.kernels[at];
        let uniforms: Vec<T> = kernel.uniforms.iter().map(|name| self.uniforms[name]).collect();
        self.check_series(kernel);
        let (cells, uneven) = (self.memory.cells(), self.memory.uneven());
        let rim = self.compiled.plan.rim_of_blocks(at, self.cut, uneven);
        let launch = &self.compiled.plan.launches[at];
        for (own, patch) in self.memory.patches() {
            let take = |name: &str| {
                let array = patch.get(&home(&self.compiled.plan, name)).cloned();
                array.expect("a buffer of the plan")
            };
            let mut buffers: Vec<GlobalArray<T>> =
                kernel.buffers.iter().map(|b| take(&b.name)).collect();
            self.seed += 1;
            let options = Options { seed: self.seed, shadow: self.shadow };
            if region != Region::Rim {
                forget(kernel, cells, &mut buffers);
            }
            for (name, read) in &launch.inputs {
                let from = home(&self.compiled.plan, name);
                let all = kernel.buffers.iter().zip(&mut buffers);
                for (_, array) in all.filter(|(b, _)| home(&self.compiled.plan, &b.name) == from) {
                    blank(array, own, launch.depth(*read));
                }
            }
            let parts = parts(kernel, (cells, rim), region, (self.seed, self.fault));
            if let Some(parts) = parts {
                let all =
                    interp::run_parts(kernel, cells, &mut buffers, &uniforms, options, &parts)?;
                self.beside += if region == Region::Interior { all.blocks } else { 0 };
                *self.reports.entry(kernel.name.clone()).or_default() += all;
            }
            let all = kernel.buffers.iter().zip(buffers);
            for (buffer, array) in all.filter(|(buffer, _)| buffer.mode != Mode::Read) {
                patch.insert(home(&self.compiled.plan, &buffer.name), array);
            }
        }
        Ok(())
    }

    /// Returns the interior values of a buffer, x fastest.
    pub fn get(&self, name: &str) -> Vec<T> {
        self.memory.get(name)
    }
}

/// Returns boxes of the blocks of a region: none if it has no block, an empty list for all blocks. The interior is first,
/// as if ghost cells were on their way: half of all whole launches are in such parts.
fn parts(
    kernel: &Kernel,
    (cells, rim): ([usize; 3], [usize; 3]),
    region: Region,
    (seed, fault): (u64, Option<Seeded>),
) -> Option<Vec<BlockBox>> {
    let Split { interior, mut rim } = kernel.split(cells, rim);
    let mut inner: Vec<BlockBox> = interior.into_iter().collect();
    match fault {
        Some(Seeded::Wide) => inner.extend(rim.pop()),
        Some(Seeded::Without) => drop(rim.pop()),
        _ => {}
    }
    let parts = match region {
        Region::Whole if seed.is_multiple_of(2) => return Some(Vec::new()),
        Region::Whole => [inner, rim].concat(),
        Region::Interior => inner,
        Region::Rim => rim,
    };
    Some(parts).filter(|parts| !parts.is_empty())
}

/// Poisons the interior cells of buffers that a launch is to write.
fn forget<T: Real>(kernel: &Kernel, cells: [usize; 3], buffers: &mut [GlobalArray<T>]) {
    for (buffer, array) in kernel.buffers.iter().zip(buffers) {
        if buffer.mode == Mode::Write {
            each(cells, |cell| array.poison(cell));
        }
    }
}

/// Exchanges the arrays of buffers, pair by pair.
fn swap<T>(patch: &mut Arrays<T>, pairs: &[(String, String)]) {
    for (a, b) in pairs {
        let [of_a, of_b] = [a, b].map(|name| patch.remove(name).expect("a buffer of the plan"));
        patch.extend([(a.clone(), of_b), (b.clone(), of_a)]);
    }
}
