//! Walks a plan on the kernel interpreter, over all patches of a mesh.

use std::collections::{BTreeMap, BTreeSet};

use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::compile::Compiled;
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::interp::{self, Fault, FaultKind, GlobalArray, Options, Shadow};
use stencil_compiler::kernel::{BlockBox, Kernel, Split};
use stencil_compiler::plan::{Phase, Place, Plan, Region, Step};
use stencil_compiler::schedule::LaunchKind;

use super::Case;
use super::memory::{Arrays, Layout, Memory, Messages, Named};

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
        }
        let steps = match layout.devices {
            1 => plan.steps.clone(),
            _ => plan.among_devices().expect("a plan of one device").steps,
        };
        Machine {
            compiled,
            steps,
            under_way: BTreeMap::new(),
            kernels: compiled.kernels.clone(),
            memory,
            places: plan.places(),
            case: case.clone(),
            t: 0.0,
            substep: None,
            uniforms: BTreeMap::new(),
            seed,
            shadow,
        }
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
                    self.memory.patches().for_each(|patch| swap(patch, &exchanged));
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
        for patch in self.memory.patches() {
            let take = |name: &str| {
                let array = patch.get(&home(&self.compiled.plan, name)).cloned();
                array.expect("a buffer of the plan")
            };
            let mut buffers: Vec<GlobalArray<T>> =
                kernel.buffers.iter().map(|b| take(&b.name)).collect();
            self.seed += 1;
            let options = Options { seed: self.seed, shadow: self.shadow };
            let Some(parts) = parts(kernel, (cells, uneven), region, self.seed) else {
                continue;
            };
            match interp::run_parts(kernel, cells, &mut buffers, &uniforms, options, &parts) {
                // The other region has these cells.
                Err(fault) if region != Region::Whole && fault.kind == FaultKind::NotWritten => {}
                ran => drop(ran?),
            }
            for (buffer, array) in kernel.buffers.iter().zip(buffers) {
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
/// as if ghost cells were on their way: half of all whole launches are in such parts. Ghost cells begin a cell earlier in
/// patches that have a cell less.
fn parts(
    kernel: &Kernel,
    (cells, uneven): ([usize; 3], [bool; 3]),
    region: Region,
    seed: u64,
) -> Option<Vec<BlockBox>> {
    let halo = |axis: usize| kernel.buffers.iter().map(move |b| b.halo[axis] as usize).max();
    let rim = std::array::from_fn(|axis| match halo(axis) {
        None | Some(0) => 0,
        Some(halo) => halo + usize::from(uneven[axis]),
    });
    let Split { interior, rim } = match kernel.launch.kind {
        LaunchKind::Rows => Split::default(),
        LaunchKind::Blocks => kernel.split(cells, rim),
    };
    match region {
        Region::Whole if seed.is_multiple_of(2) => Some(Vec::new()),
        Region::Whole => Some(interior.into_iter().chain(rim).collect()),
        Region::Interior => interior.map(|part| vec![part]),
        Region::Rim if interior.is_some() && rim.is_empty() => None,
        Region::Rim => Some(rim),
    }
}

/// Exchanges the arrays of buffers, pair by pair.
fn swap<T>(patch: &mut Arrays<T>, pairs: &[(String, String)]) {
    for (a, b) in pairs {
        let [of_a, of_b] = [a, b].map(|name| patch.remove(name).expect("a buffer of the plan"));
        patch.extend([(a.clone(), of_b), (b.clone(), of_a)]);
    }
}
