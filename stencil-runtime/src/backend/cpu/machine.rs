//! Steps of a plan on the fields of a mesh, in the memory of the host.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use ndarray::ArrayView3;
use rayon::ThreadPool;
use stencil_compiler::algorithm::{Algorithm, NEW};
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::{BufferRole, Plan, Region};

use super::instructions::Checked;
use super::march::March;
use super::pipeline::{self, Pipeline, has_rings};
use super::prepare::{Choice, Code, Prepared};
use crate::backend::device::OnHost;
use crate::backend::{Device, Reducer, Renew};
use crate::field::memory_use;
use crate::field::{ALIGNMENT, Array, BadValue, Domain, Fields, Filling, Planes, Sent, Shared};
use crate::io::free_memory;
use crate::mesh::Patch;
use crate::step::{Action, After, Failure, Ghosts, Moment, Rules, actions};
use crate::{Error, MemoryUse, Number};

/// Arrays of a plan, and the tasks that a step does with them.
#[derive(Debug)]
pub(crate) struct Machine<T> {
    pub(super) fields: Fields<T>,
    /// The tasks of each substep.
    substeps: Vec<Vec<Task>>,
    /// Values that devices have sent, and that have not come yet.
    sent: VecDeque<Sent<T>>,
    launches: Vec<Prepared<T>>,
    /// Pipelines of launches, by the last launch of each.
    marches: BTreeMap<usize, March>,
    /// For each patch of this process a third array of each field that no accumulator holds, by the array of the field.
    spares: Vec<BTreeMap<usize, Array<T>>>,
    /// Fields and the accumulators that hold them as they were before the step.
    held: Vec<(usize, usize)>,
    /// Do these arrays hold the fields as they were before the step?
    holds_last: bool,
    /// Are the new values of an interior finite, whose rim is still to be computed?
    finite_inside: bool,
    rules: Rules,
    /// The length of the step that the uniforms of each substep were computed for.
    uniforms_of: Vec<Option<f64>>,
    pub(super) instructions: Checked,
    /// The numbers of rows that were reduced last, if the machine is a window.
    pub(super) reduced: Vec<Vec<f64>>,
    pub(super) pool: Arc<ThreadPool>,
}

/// One task of a substep.
#[derive(Clone, Debug)]
enum Task {
    /// Fills ghost cells.
    Fill(Filling),
    /// Finds the values that devices send to each other.
    Post(Filling),
    /// Fills ghost cells with the values that were sent first.
    Wait,
    /// A launch of the plan, on a region of each patch.
    Launch(usize, Region),
    /// Buffers change places, pair by pair.
    Swap(Vec<(usize, usize)>),
}

impl<T: Number> Machine<T> {
    /// Allocates the buffers of a plan, all zero, and prepares its launches.
    pub(crate) fn new(
        (algorithm, plan): (&Algorithm, &Plan),
        (domain, rules): (Domain, Rules),
        choice: Choice,
        instructions: Checked,
        pool: Arc<ThreadPool>,
    ) -> Result<Self, Error> {
        let on_threads = pool.clone();
        let new = || Self::on_pool((algorithm, plan), (domain, rules), choice, instructions, pool);
        on_threads.install(new)
    }

    fn on_pool(
        (algorithm, plan): (&Algorithm, &Plan),
        (domain, rules): (Domain, Rules),
        choice: Choice,
        instructions: Checked,
        pool: Arc<ThreadPool>,
    ) -> Result<Self, Error> {
        let (halo, keep_last) = (plan.halo(), domain.keep_last);
        let halo = std::array::from_fn(|axis| domain.halo[axis].max(halo[axis] as usize));
        let mut machine = Machine {
            fields: allocated(plan, domain, halo)?,
            substeps: Vec::new(),
            sent: VecDeque::new(),
            launches: Vec::new(),
            marches: BTreeMap::new(),
            spares: Vec::new(),
            held: Vec::new(),
            holds_last: false,
            finite_inside: true,
            uniforms_of: vec![None; rules.times.len()],
            rules,
            instructions,
            reduced: Vec::new(),
            pool,
        };
        let buffers = &machine.fields.buffers;
        let held = plan.before_the_step().into_iter();
        let held = held.map(|(field, kept)| Ok((buffers.index(field)?, buffers.index(kept)?)));
        machine.held = held.collect::<Result<_, Error>>()?;
        for _ in machine.fields.own_patches() {
            let mut spares = BTreeMap::new();
            let is_held = |field: &usize| machine.held.iter().any(|(held, _)| held == field);
            let fields = machine.fields.buffers.of_role(BufferRole::Field).into_iter();
            for field in fields.filter(|field| keep_last && !is_held(field)) {
                spares.insert(field, machine.fields.array()?);
            }
            machine.spares.push(spares);
        }
        for at in 0..plan.launches.len() {
            let prepared = machine.prepare(algorithm, plan, at, choice)?;
            machine.launches.push(prepared);
        }
        machine.substeps = machine.tasks(plan)?;
        machine.marches = machine.marches(algorithm, plan)?;
        Ok(machine)
    }

    /// Returns the tasks of each substep of a plan.
    fn tasks(&self, plan: &Plan) -> Result<Vec<Vec<Task>>, Error> {
        let fields = &self.fields;
        let all_alike = fields.domain.boundaries.reads_others();
        let filling = |ghosts| match ghosts {
            Ghosts::OfFields(ghosts) => fields.filling(&ghosts),
            Ghosts::OfStored { buffers, depth } => {
                Filling::of_stored(&fields.neighbours, &buffers, depth)
            }
        };
        let task = |action| match action {
            Action::Fill(ghosts) => {
                let [own, _] = filling(ghosts).by_owner(&fields.neighbours);
                Task::Fill(own)
            }
            Action::Post(ghosts) => {
                let [_, others] = filling(ghosts).by_owner(&fields.neighbours);
                Task::Post(others)
            }
            Action::Wait => Task::Wait,
            Action::Launch { launch, region } => Task::Launch(launch, region),
            Action::Swap(pairs) => Task::Swap(pairs),
        };
        let substeps = actions(&fields.buffers, plan, all_alike)?.into_iter();
        Ok(substeps.map(|actions| actions.into_iter().map(task).collect()).collect())
    }

    /// Returns the launches of each substep as one pipeline if rings can keep its stored functions, else one by one.
    fn marches(&self, algorithm: &Algorithm, plan: &Plan) -> Result<BTreeMap<usize, March>, Error> {
        let mut marches = BTreeMap::new();
        let cut = self.fields.domain.patches.cut();
        for substep in pipeline::substeps(plan) {
            let together = if has_rings(plan) { substep.len() } else { 1 };
            for launches in substep.chunks(together.max(1)) {
                let pipeline = Pipeline::new(algorithm, plan, launches)?;
                let Some(last) = launches.last() else { continue };
                let rim = plan.rim(*last, cut);
                marches.insert(*last, March::new(pipeline, &self.launches, &self.fields, rim));
            }
        }
        Ok(marches)
    }

    /// Computes the uniforms of a substep anew, if their inputs have changed.
    fn renew_uniforms(&mut self, substep: usize, t: f64, dt: f64) {
        let known = self.uniforms_of[substep] == Some(dt);
        if known && !self.rules.depend_on_time {
            return;
        }
        let values = self.rules.uniforms_at(t, dt).into_iter();
        let all: Vec<T> = values.map(T::from_f64).collect();
        for launch in self.launches.iter_mut().filter(|l| l.substep == substep) {
            launch.uniforms = match &launch.code {
                Code::Compiled { uniforms, .. } => uniforms.iter().map(|i| all[*i]).collect(),
                Code::Rows(_) => all.clone(),
            };
        }
        self.uniforms_of[substep] = Some(dt);
    }

    /// One substep of a step.
    ///
    /// # Errors
    /// The first new value that is not finite. The fields are then those before the substep.
    fn substep(&mut self, substep: usize, moment: Moment) -> Result<(), BadValue> {
        let Moment { t, dt, .. } = moment;
        let t = self.rules.time(substep, t, dt);
        self.renew_uniforms(substep, t, dt);
        if substep == 0 {
            self.holds_last = false;
        }
        // The list leaves the machine meanwhile, so that the rest can change.
        let tasks = std::mem::take(&mut self.substeps[substep]);
        let pool = self.pool.clone();
        let result = pool.install(|| tasks.iter().try_for_each(|task| self.start(task, t)));
        self.substeps[substep] = tasks;
        result
    }

    /// One substep, whose failure says where it was.
    fn checked_substep(&mut self, substep: usize, moment: Moment) -> Result<(), Failure> {
        let fields = After::Substep;
        let failure = |bad| Failure::NotFinite { bad, moment, substep, fields, unseen: 0 };
        self.substep(substep, moment).map_err(failure)
    }

    fn start(&mut self, task: &Task, t: f64) -> Result<(), BadValue> {
        match task {
            Task::Fill(filling) => self.fields.fill(filling, t),
            Task::Post(filling) => {
                let sent = self.fields.post(filling, t);
                self.sent.push_back(sent);
            }
            Task::Wait => {
                if let Some(sent) = self.sent.pop_front() {
                    self.fields.wait(sent);
                }
            }
            Task::Launch(at, region) => self.launch(*at, *region)?,
            Task::Swap(pairs) => self.swap(pairs),
        }
        Ok(())
    }

    /// Launches on a region of all patches. Values of the interior that are not finite are found with the rim.
    fn launch(&mut self, at: usize, region: Region) -> Result<(), BadValue> {
        let Some(march) = self.marches.get(&at) else {
            return Ok(());
        };
        let looks = (self.instructions, self.fields.most());
        let mut finite = std::mem::replace(&mut self.finite_inside, true);
        for (shape, arrays) in self.fields.patches_mut() {
            finite &= march.run(region, &self.launches, (&shape, arrays), looks);
        }
        if region == Region::Interior {
            self.finite_inside = finite;
            return Ok(());
        }
        match self.fields.domain.ranks.any(!finite) {
            false => Ok(()),
            true => self.find_not_finite(&self.launches[at]).map_or(Ok(()), Err),
        }
    }

    /// Puts new values in the place of the old ones. The values from before the step stay in the spare array, which
    /// costs nothing but its memory, or are copied if later substeps read them, too.
    fn swap(&mut self, pairs: &[(usize, usize)]) {
        let is_kept = |new: usize| pairs.iter().any(|(previous, _)| *previous == new);
        let is_read = |new: usize| self.fields.buffers.is_shared(new) || is_kept(new);
        let read_again: Vec<bool> = pairs.iter().map(|(_, new)| is_read(*new)).collect();
        for ((_, arrays), spares) in self.fields.patches_mut().zip(&mut self.spares) {
            for ((field, new), read_again) in pairs.iter().zip(&read_again) {
                arrays.swap(*field, *new);
                let spare = spares.get_mut(field).filter(|_| !self.holds_last);
                match spare {
                    Some(spare) if *read_again => spare.copy_from(&arrays[*new]),
                    Some(spare) => std::mem::swap(&mut arrays[*new], spare),
                    None => {}
                }
            }
        }
        self.holds_last = true;
    }

    /// Restores the fields from before the last step; returns `false` if they are lost.
    fn restore_last(&mut self) -> bool {
        if !self.holds_last {
            // No substep was completed.
            return true;
        }
        if !self.fields.domain.keep_last {
            return false;
        }
        for ((_, arrays), spares) in self.fields.patches_mut().zip(&mut self.spares) {
            for (field, spare) in spares {
                std::mem::swap(&mut arrays[*field], spare);
            }
            for (field, kept) in &self.held {
                arrays.swap(*field, *kept);
            }
        }
        self.holds_last = false;
        true
    }

    /// Returns the first new value of a launch that is not finite, of those that are looked at.
    fn find_not_finite(&self, launch: &Prepared<T>) -> Option<BadValue> {
        let fields = launch.fields.iter().map(|at| launch.outputs[*at]);
        let found = fields.filter_map(|at| Some((at, self.fields.first_not_finite_of(at)?))).next();
        let (at, cell) = found?;
        let name = self.fields.buffers.name(at);
        Some(BadValue { component: name.strip_suffix(NEW).unwrap_or(name).to_string(), cell })
    }
}

impl<T: Number> Device<T> for Machine<T> {
    fn fields(&self) -> &Fields<T> {
        &self.fields
    }

    fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error> {
        self.fields.interior(buffer)
    }

    fn share(&mut self, buffer: usize) -> Result<Shared, Error> {
        self.fields.share(buffer)
    }

    fn planes(&self, buffer: usize) -> Result<Option<Planes<'_, T>>, Error> {
        Ok(self.fields.planes(buffer))
    }

    fn first_infinite(&self, buffer: usize) -> Result<Option<[usize; 3]>, Error> {
        Ok(self.pool.install(|| self.fields.first_infinite(buffer)))
    }

    fn set(
        &mut self,
        buffer: usize,
        value: &(dyn Fn([isize; 3]) -> T + Sync),
    ) -> Result<(), Error> {
        self.pool.install(|| self.fields.set(buffer, value));
        Ok(())
    }

    fn on_host(&mut self, evaluate: OnHost<'_, T>) -> Result<(), Error> {
        self.pool.install(|| evaluate(&mut self.fields));
        Ok(())
    }

    fn on_host_amid(&mut self, evaluate: OnHost<'_, T>) -> Result<(), Error> {
        self.on_host(evaluate)
    }

    fn add_reducer(
        &mut self,
        _algorithm: &Algorithm,
        _updates: &[(usize, Reduction)],
    ) -> Result<usize, Error> {
        // The host's evaluator needs no other preparation.
        Ok(0)
    }

    fn reduce(&mut self, reducer: &Reducer, uniforms: &[f64], t: f64) -> Result<Vec<f64>, Error> {
        let fields = &mut self.fields;
        Ok(self.pool.install(|| {
            let Reducer { evaluation, reductions, .. } = reducer;
            evaluation.reduce(fields, reductions, uniforms, t)
        }))
    }

    fn bound(&mut self, most: f64) {
        self.fields.bound(most);
    }

    fn first_not_finite(&mut self) -> Result<Option<BadValue>, Error> {
        Ok(self.pool.install(|| self.fields.first_not_finite()))
    }

    /// Functions in rings have no arrays: a ring is a few planes.
    fn memory_use(&self) -> MemoryUse {
        let patches: Vec<Patch> = self.fields.own_patches().map(|(patch, _)| *patch).collect();
        let arrays = self.fields.own_patches().flat_map(|(_, arrays)| arrays);
        let used = arrays.filter(|array| !array.values().is_empty());
        let all = used.clone().chain(self.spares.iter().flat_map(BTreeMap::values));
        let bytes = all.map(|array| array.values().len() * T::BYTES).sum();
        let spares = self.spares.first().map_or(0, BTreeMap::len);
        let counts = [used.count() / patches.len(), spares];
        let on = (patches.as_slice(), self.fields.shape().halo);
        MemoryUse::of_arrays(on, T::BYTES, counts, bytes)
    }

    fn step(
        &mut self,
        moment: Moment,
        _begun: bool,
        renew: Option<Renew<'_, T>>,
    ) -> Result<(), Failure> {
        let mut substeps = 0..self.substeps.len();
        let Some(renew) = renew else {
            // To wake a thread takes longer than a substep on few cells: it is done once.
            let pool = self.pool.clone();
            return pool.install(|| substeps.try_for_each(|at| self.checked_substep(at, moment)));
        };
        substeps.try_for_each(|substep| {
            let t = self.rules.time(substep, moment.t, moment.dt);
            renew(self, t)?;
            self.checked_substep(substep, moment)
        })
    }

    fn undo(&mut self) -> Result<bool, Error> {
        Ok(self.restore_last())
    }

    fn begin_again(&mut self, _moment: Moment) -> Result<(), Error> {
        Ok(())
    }

    fn substep_again(&mut self, moment: Moment, substep: usize) -> Result<(), Error> {
        let done = self.substep(substep, moment);
        done.map_err(|bad| Error::Bug(format!("`{}` is finite, and then not", bad.component)))
    }
}

/// Allocates the arrays of a plan, all zero. Ghost cells reach as far as `halo`.
fn allocated<T: Number>(plan: &Plan, domain: Domain, halo: [usize; 3]) -> Result<Fields<T>, Error> {
    let (patches, keep_last) = (domain.patches, domain.keep_last);
    let has_rings = has_rings(plan);
    let mut fields = Fields::without_arrays(plan, domain, patches, halo)?;
    let arrays: Vec<_> = memory_use::arrays_of(plan, has_rings, keep_last).collect();
    // All ranks of a host share its memory, and there are as many hosts like it as ranks take.
    let ranks = &fields.domain.ranks;
    let hosts = (ranks.count() / ranks.on_this_host()) as u64;
    let free = free_memory::available().map(|free| free.saturating_mul(hosts));
    memory_use::fits(&arrays, (patches.mesh, halo), patches.counts, T::BYTES, free)?;
    let is_ring = |at: usize| has_rings && plan.buffers[at].role == BufferRole::Derived;
    for at in (0..plan.buffers.len()).filter(|at| is_ring(*at)) {
        fields.buffers.separate(at);
    }
    let is_wanted: Vec<bool> =
        (0..plan.buffers.len()).map(|at| !is_ring(at) && fields.buffers.owns_memory(at)).collect();
    fields.allocate(|at| is_wanted[at], ALIGNMENT)?;
    Ok(fields)
}
