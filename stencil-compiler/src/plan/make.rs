//! `Algorithm` and `Schedule` to `Plan`: kernels by level of stored grid functions, buffers with
//! their halos, fills before the launches that need them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Buffer, BufferRole, Launch, Plan, Region, Step, max3, reuse};
use crate::algorithm::footprint::{bounds, is_needed};
use crate::algorithm::{Algorithm, Def, FnId, NEW, Role, StateId, Substep};
use crate::schedule::{
    Blame, Halo, Placement, Refusal, Schedule, kernels_of, levels, passes, strategies,
};

/// Plans one time step, or as many as the schedule fuses, of a patch that covers the wrapped axes from end to end,
/// periodic ones: kernels whose blocking can read there without ghost cells do so. Values of a row are to be whole
/// copies.
///
/// # Errors
/// If the schedule fuses substeps that cannot be, places what is not a grid function, places a state
/// variable, or has another number of blockings than its placements and passes make kernels. Passes may share kernels with
/// stored functions, so there may be fewer blockings.
pub fn plan(
    algorithm: &Algorithm,
    schedule: &Schedule,
    wrapped: [bool; 3],
) -> Result<Plan, Refusal> {
    let time_steps = algorithm.steps_of(schedule.fuse);
    let problem = schedule.problem(algorithm)?;
    if schedule.fuse > 1 {
        check_fused(schedule)?;
    }
    let algorithm = problem.as_ref();
    passes::check(algorithm, schedule)?;
    let names = algorithm.by_name();
    let stored = stored_functions(algorithm, &names, schedule)?;
    let levels = levels(algorithm, &stored.keys().copied().collect(), &schedule.passes);
    check_count(algorithm, schedule, &stored, &levels)?;
    let mut planner = Planner {
        algorithm,
        names,
        schedule,
        stored,
        levels,
        previous: algorithm.previous_fields(),
        keepers: algorithm.keepers(),
        wrapped,
        plan: Plan {
            time_steps,
            layout: schedule.layout,
            overlap: schedule.overlap,
            buffers: Vec::new(),
            launches: Vec::new(),
            steps: vec![Step::Uniforms],
        },
    };
    planner.declare_states();
    for substep in 0..algorithm.substeps.len() {
        planner.substep(substep)?;
    }
    planner.settle_halos();
    reuse::share(&mut planner.plan);
    Ok(planner.plan)
}

/// The plan of single substeps has the same arrays and as many kernels: a run goes from one to the other.
fn check_fused(schedule: &Schedule) -> Result<(), Refusal> {
    let is_stored = |placement: &Placement| matches!(placement, Placement::Global(_));
    match schedule.placements.iter().find(|(_, p)| is_stored(p)) {
        None => Ok(()),
        Some((name, _)) => Err(Refusal::placement(
            name,
            format!(
                "`{name}` cannot be stored where substeps are fused: a fused pass stores new fields only"
            ),
        )),
    }
}

/// Returns the grid functions that the schedule stores, each with the origin of its ghost cells.
fn stored_functions(
    algorithm: &Algorithm,
    names: &BTreeMap<&str, FnId>,
    schedule: &Schedule,
) -> Result<BTreeMap<FnId, Halo>, Refusal> {
    let of_accumulators = algorithm.made_of_accumulators();
    let mut stored = BTreeMap::new();
    for (name, placement) in &schedule.placements {
        let Some(id) = names.get(name.as_str()).copied() else {
            return Err(Refusal {
                blame: Blame::Name(name.clone()),
                message: format!(
                    "the schedule places `{name}`, which is no grid function of {}",
                    algorithm.name
                ),
            });
        };
        if matches!(algorithm.function(id).def, Def::State(_)) && *placement != Placement::Inline {
            return Err(Refusal::placement(
                name,
                format!(
                    "`{name}` is a state variable; it lives in global memory and is not placed"
                ),
            ));
        }
        if let Placement::Global(halo) = placement {
            if of_accumulators.contains(&id) {
                return Err(Refusal::placement(
                    name,
                    format!(
                        "`{name}` reads an accumulator and belongs to the last kernel; it cannot be stored"
                    ),
                ));
            }
            stored.insert(id, *halo);
        }
    }
    Ok(stored)
}

/// Checks that there are as many blockings as kernels, or fewer: then the first passes share kernels with
/// stored functions, of which they may need those of their own kernel in their own cell only.
fn check_count(
    algorithm: &Algorithm,
    schedule: &Schedule,
    stored: &BTreeMap<FnId, Halo>,
    levels: &BTreeMap<FnId, usize>,
) -> Result<(), Refusal> {
    let most = kernels_of(levels, schedule);
    let (kernels, passes) = (schedule.kernels.len(), schedule.more_passes() + 1);
    let stages = most - passes;
    let refused = |message: String| Err(Refusal { blame: Blame::Count(most), message });
    if !(stages.max(passes)..=most).contains(&kernels) {
        return refused(format!(
            "these placements make {} a substep, but the schedule blocks {kernels}",
            match stages.max(passes) {
                least if least < most && passes > 1 => format!("{least} to {most} kernels"),
                _ => format!("{most} kernels"),
            }
        ));
    }
    if kernels == most {
        return Ok(());
    }
    let set: BTreeSet<FnId> = stored.keys().copied().collect();
    let name = |id: &FnId| &algorithm.function(*id).name;
    for (substep, Substep { updates, .. }) in algorithm.substeps.iter().enumerate() {
        let pass = passes::of_updates(algorithm, substep, &schedule.passes);
        for ((_, id), pass) in updates.iter().zip(pass) {
            let kernel = kernels - passes + pass;
            for (of, points) in bounds(algorithm, &[*id], &set) {
                let Some(level) = levels.get(&of) else {
                    continue;
                };
                let elsewhere = !points.is_here();
                if level + usize::from(elsewhere) > kernel {
                    return refused(format!(
                        "kernel {} computes `{}`, which needs `{}`{}, and that is there after kernel {} only: these placements and passes make {most} kernels",
                        kernel + 1,
                        name(id),
                        name(&of),
                        if elsewhere { " of other cells" } else { "" },
                        level + 1
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Cells along x that a region is extended by at once, so that its rows begin where copies of
/// several values may begin.
const WHOLE_CELLS: u32 = 4;

struct Planner<'a> {
    algorithm: &'a Algorithm,
    names: BTreeMap<&'a str, FnId>,
    schedule: &'a Schedule,
    stored: BTreeMap<FnId, Halo>,
    levels: BTreeMap<FnId, usize>,
    /// Accumulators that hold previous values of fields, and have the arrays for new values.
    previous: BTreeMap<StateId, StateId>,
    /// Accumulators that may take values of fields, these among them.
    keepers: BTreeMap<StateId, StateId>,
    wrapped: [bool; 3],
    plan: Plan,
}

impl Planner<'_> {
    fn declare_states(&mut self) {
        let alg = self.algorithm;
        let mut buffers: Vec<(String, BufferRole, Option<String>)> = Vec::new();
        for (field, state) in alg.states_of(Role::Field) {
            let new = new_name(&state.name);
            buffers.push((state.name.clone(), BufferRole::Field, None));
            buffers.push((new.clone(), BufferRole::NewField, None));
            for (id, _) in self.keepers.iter().filter(|(_, of)| **of == field) {
                let (role, home) = match self.previous.contains_key(id) {
                    true => (BufferRole::Accumulator, Some(new.clone())),
                    false => (BufferRole::Kept, None),
                };
                buffers.push((alg.state(*id).name.clone(), role, home));
            }
        }
        for (role, of_buffer) in [
            (Role::Accumulator, BufferRole::Accumulator),
            (Role::Count, BufferRole::Count),
            (Role::Given, BufferRole::Given),
        ] {
            let states = alg.states_of(role).filter(|(id, _)| !self.keepers.contains_key(id));
            buffers.extend(states.map(|(_, s)| (s.name.clone(), of_buffer, None)));
        }
        let derived = self.stored.keys().map(|id| alg.function(*id).name.clone());
        buffers.extend(derived.map(|name| (name, BufferRole::Derived, None)));
        let buffer = |(name, role, within)| Buffer { name, role, halo: [0; 3], within };
        self.plan.buffers = buffers.into_iter().map(buffer).collect();
    }

    fn substep(&mut self, substep: usize) -> Result<(), Refusal> {
        let set: BTreeSet<FnId> = self.stored.keys().copied().collect();
        let all = &self.algorithm.substeps[substep].updates;
        let passes = passes::of_updates(self.algorithm, substep, &self.schedule.passes);
        let stored = self.algorithm.stored_updates(substep);
        let updates = all.iter().copied().zip(passes);
        let updates = updates.filter(|(update, _)| stored.contains(update));
        let (updates, passes): (Vec<(StateId, FnId)>, Vec<usize>) = updates.unzip();
        let roots: Vec<FnId> = updates.iter().map(|(_, id)| *id).collect();
        let used = self.used(&roots);
        let kernels = self.schedule.kernels.len();
        let mut outputs: Vec<Vec<(String, FnId)>> = vec![Vec::new(); kernels];
        for id in &used {
            outputs[self.levels[id]].push((self.algorithm.function(*id).name.clone(), *id));
        }
        let first = kernels - 1 - self.schedule.more_passes();
        for ((state, id), pass) in updates.iter().zip(passes) {
            outputs[first + pass].push((self.output_name(*state), *id));
        }
        let others: Vec<BTreeSet<FnId>> = outputs.iter().map(|o| without(&set, o)).collect();
        let reads: Vec<BTreeMap<FnId, [u32; 3]>> = outputs
            .iter()
            .zip(&others)
            .map(|(outputs, others)| self.reads(outputs, others))
            .collect();
        let extends = self.extends(&outputs, &reads);
        // Fields have no new values in ghost cells.
        if let Some(wide) = (first..kernels).find(|kernel| extends[*kernel] != [0; 3]) {
            let most = kernels_of(&self.levels, self.schedule);
            return Err(Refusal {
                blame: Blame::Count(most),
                message: format!(
                    "kernel {} gives fields new values, and stores what is needed in ghost cells, too: these placements and passes make {most} kernels",
                    wide + 1
                ),
            });
        }
        let mut filled: BTreeMap<String, [u32; 3]> = BTreeMap::new();
        for (kernel, outputs) in outputs.into_iter().enumerate() {
            if outputs.is_empty() {
                continue;
            }
            let launch = self.launch(
                (substep, kernel),
                outputs,
                &reads[kernel],
                extends[kernel],
                &others[kernel],
            );
            self.fill(&launch, &mut filled);
            self.plan
                .steps
                .push(Step::Launch { launch: self.plan.launches.len(), region: Region::Whole });
            self.plan.launches.push(launch);
        }
        let fields = updates
            .iter()
            .map(|(state, _)| self.algorithm.state(*state))
            .filter(|s| s.role == Role::Field);
        let fields = fields.map(|s| s.name.clone()).collect();
        let mut kept = self.algorithm.kept(substep);
        kept.retain(|accumulator, _| !self.previous.contains_key(accumulator));
        self.plan.steps.push(Step::Swap { fields, kept: kept_names(self.algorithm, kept) });
        Ok(())
    }

    /// Returns the stored functions that these roots need, directly or through others.
    fn used(&self, roots: &[FnId]) -> BTreeSet<FnId> {
        let is_needed = is_needed(self.algorithm, roots, &BTreeSet::new());
        self.stored.keys().copied().filter(|id| is_needed[id.0 as usize]).collect()
    }

    fn output_name(&self, state: StateId) -> String {
        let state = self.algorithm.state(state);
        if state.role == Role::Field { new_name(&state.name) } else { state.name.clone() }
    }

    fn reads(&self, outputs: &[(String, FnId)], set: &BTreeSet<FnId>) -> BTreeMap<FnId, [u32; 3]> {
        let roots: Vec<FnId> = outputs.iter().map(|(_, id)| *id).collect();
        let read = bounds(self.algorithm, &roots, set).into_iter();
        read.map(|(id, points)| (id, points.radius())).collect()
    }

    /// Returns the number of cells beyond the interior that each kernel computes: as many as later kernels read there of
    /// functions that are recomputed.
    fn extends(
        &self,
        outputs: &[Vec<(String, FnId)>],
        reads: &[BTreeMap<FnId, [u32; 3]>],
    ) -> Vec<[u32; 3]> {
        let mut extends = vec![[0; 3]; outputs.len()];
        for kernel in (0..outputs.len()).rev() {
            for (_, id) in &outputs[kernel] {
                if self.stored.get(id) == Some(&Halo::Recompute) {
                    for later in kernel + 1..outputs.len() {
                        let read = reads[later].get(id).copied();
                        let wrapped = self.wraps(later);
                        let reach = read.map_or([0; 3], |r| add3(r, extends[later]));
                        let reach = std::array::from_fn(|a| if wrapped[a] { 0 } else { reach[a] });
                        extends[kernel] = max3(extends[kernel], reach);
                    }
                }
            }
            extends[kernel][0] = extends[kernel][0].next_multiple_of(WHOLE_CELLS);
        }
        extends
    }

    /// Returns the axes along which a kernel needs no ghost cells.
    fn wraps(&self, kernel: usize) -> [bool; 3] {
        let blocking = &self.schedule.kernels[kernel];
        let strategy = strategies::find(&blocking.strategy);
        let wraps = strategy.is_ok_and(|strategy| (strategy.wraps)(blocking));
        self.wrapped.map(|axis| axis && wraps)
    }

    fn is_given(&self, id: FnId) -> bool {
        match self.algorithm.function(id).def {
            Def::State(state) => self.algorithm.state(state).role == Role::Given,
            Def::Point(_) | Def::Sum(_) => false,
        }
    }

    /// Fills the ghost cells that the next launch reads and that are not filled yet in this substep.
    fn fill(&mut self, launch: &Launch, filled: &mut BTreeMap<String, [u32; 3]>) {
        let mut by_depth: BTreeMap<[u32; 3], Vec<String>> = BTreeMap::new();
        for (name, read) in &launch.inputs {
            let depth = launch.depth(*read);
            let known = filled.get(name).copied().unwrap_or_default();
            if self.is_filled(name) && max3(known, depth) != known {
                let depth = max3(known, depth);
                filled.insert(name.clone(), depth);
                by_depth.entry(depth).or_default().push(name.clone());
            }
        }
        for (depth, buffers) in by_depth {
            self.plan.steps.push(Step::Fill { buffers, depth });
        }
    }

    /// Are the ghost cells of this grid function filled, neither computed nor given?
    fn is_filled(&self, name: &str) -> bool {
        let Some(&id) = self.names.get(name) else {
            return false;
        };
        !self.is_given(id) && self.stored.get(&id) != Some(&Halo::Recompute)
    }

    fn launch(
        &self,
        (substep, kernel): (usize, usize),
        outputs: Vec<(String, FnId)>,
        reads: &BTreeMap<FnId, [u32; 3]>,
        extend: [u32; 3],
        set: &BTreeSet<FnId>,
    ) -> Launch {
        let roots: Vec<FnId> = outputs.iter().map(|(_, id)| *id).collect();
        let inside = is_needed(self.algorithm, &roots, set);
        let placed = self.schedule.placements.iter().filter(|(name, placement)| {
            let here = || self.names.get(name.as_str()).is_some_and(|id| inside[id.0 as usize]);
            matches!(placement, Placement::Register | Placement::Carried(_) | Placement::Shared)
                && here()
        });
        Launch {
            name: format!("{}_{}_{}", self.algorithm.name, substep + 1, kernel + 1),
            substep,
            kernel,
            outputs: outputs
                .into_iter()
                .map(|(buffer, id)| (buffer, self.algorithm.function(id).name.clone()))
                .collect(),
            inputs: reads
                .iter()
                .map(|(id, read)| (self.algorithm.function(*id).name.clone(), *read))
                .collect(),
            extend,
            wrapped: self.wraps(kernel),
            placements: placed.map(|(name, placement)| (name.clone(), *placement)).collect(),
            blocking: self.schedule.kernels[kernel].clone(),
        }
    }

    /// Widens the halo of each buffer to the cells that are read of it, and, if it is recomputed, written to it.
    fn settle_halos(&mut self) {
        for launch in &self.plan.launches {
            for (name, read) in &launch.inputs {
                let depth = launch.depth(*read);
                widen(&mut self.plan.buffers, name, depth);
                widen(&mut self.plan.buffers, &new_name(name), depth);
            }
            for (name, _) in &launch.outputs {
                widen(&mut self.plan.buffers, name, launch.extend);
            }
        }
        // It changes places with the new values before it.
        for at in 1..self.plan.buffers.len() {
            if self.plan.buffers[at].role == BufferRole::Kept {
                self.plan.buffers[at].halo = self.plan.buffers[at - 1].halo;
            }
        }
    }
}

/// Returns the stored functions that a kernel reads from memory: those that it does not compute itself.
fn without(stored: &BTreeSet<FnId>, outputs: &[(String, FnId)]) -> BTreeSet<FnId> {
    let own = |id: &&FnId| outputs.iter().any(|(_, output)| output == *id);
    stored.iter().filter(|id| !own(id)).copied().collect()
}

fn widen(buffers: &mut [Buffer], name: &str, halo: [u32; 3]) {
    if let Some(buffer) = buffers.iter_mut().find(|b| b.name == name) {
        buffer.halo = max3(buffer.halo, halo);
    }
}

fn add3(a: [u32; 3], b: [u32; 3]) -> [u32; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Returns the names of fields and of the accumulators that take their previous values.
pub(super) fn kept_names(
    algorithm: &Algorithm,
    kept: BTreeMap<StateId, StateId>,
) -> Vec<(String, String)> {
    let name = |state| algorithm.state(state).name.clone();
    kept.into_iter().map(|(accumulator, field)| (name(field), name(accumulator))).collect()
}

/// Returns the name of the buffer that takes a field's new values.
pub fn new_name(field: &str) -> String {
    format!("{field}{NEW}")
}
