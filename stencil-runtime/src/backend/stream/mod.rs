//! A mesh in the memory of the host whose slabs take turns on a device: copied to a window of it, stepped, copied back.
//!
//! A pass goes through all slabs, and does one step or several. The windows of the device hold a few slabs at a time, so that
//! one is copied to it while another is stepped and a third one is copied back. A slab goes to its window with layers of its
//! neighbours around it: values near the ends of a window are spoilt step by step, and only the slab's own come back.
//!
//! Values come back in place. The slab before has been copied whole when a slab's new values come back, the slab behind
//! needs the old ones of its neighbour and has been copied by then, too; and the layers of the first slab that the last one
//! needs are set aside when a pass begins. A pass begins with the slab behind the first one of the pass before, so that it
//! need not wait for the last one.

mod slabs;
mod time;
mod window;

use std::sync::Arc;

use ndarray::ArrayView3;
use rayon::ThreadPool;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::{BufferRole, Plan};

use super::device::OnHost;
use super::{Device, Reducer, Renew};
use crate::field::{Array, BadValue, Domain, Fields, PAGE, Shape, array_of, memory_use};
use crate::io::free_memory;
use crate::mesh::Patches;
use crate::step::{After, Asked, Failure, Length, Moment, Rules};
use crate::{Error, MemoryUse, Number};

use slabs::Slab;
pub(crate) use slabs::{Slabs, overlap};
pub(crate) use time::Rates;
pub use time::{Bus, PassTime};
pub(crate) use window::{Finished, Layers, Own, Window};

/// Windows of a device: one is copied to, one is stepped, one is copied back.
pub(crate) const WINDOWS: usize = 3;

/// A mesh on the host, and the windows through which its slabs pass.
#[derive(Debug)]
pub(crate) struct Streamed<T, W> {
    /// They are dropped before the arrays that they copy.
    windows: Vec<W>,
    /// The whole mesh.
    host: Fields<T>,
    /// Layers of the slab that a pass begins with, by buffer, as they were before the pass; empty for buffers that no step
    /// changes.
    aside: Vec<Array<T>>,
    aside_shape: Shape,
    /// The work of each window.
    jobs: Vec<Option<Job>>,
    slabs: Slabs,
    /// The slab that the next pass begins with.
    first: usize,
    /// The window of the next slab.
    next: usize,
    rules: Rules,
    /// A failure that is still to be told.
    failed: Option<Failure>,
    /// The speeds that limit a step: they are reduced as slabs pass.
    speeds: Option<Speeds>,
    pool: Arc<ThreadPool>,
}

/// Quantities that are reduced as slabs pass, and the numbers of all rows of the mesh.
#[derive(Debug)]
struct Speeds {
    reducer: Reducer,
    uniforms: Vec<f64>,
    /// Empty rows are of values that have changed since.
    rows: Vec<Vec<f64>>,
}

/// A slab in a window.
#[derive(Clone, Copy, Debug)]
struct Job {
    slab: usize,
    /// The last step of its pass.
    moment: Moment,
    /// Do its values come back?
    comes_back: bool,
}

impl<T: Number, W: Window<T>> Streamed<T, W> {
    /// Takes memory of the host for a mesh whose slabs pass through windows; these are made for their domain.
    pub(crate) fn new(
        plan: &Plan,
        domain: Domain,
        (slabs, rules): (Slabs, Rules),
        pool: Arc<ThreadPool>,
        mut window: impl FnMut(Domain) -> Result<W, Error>,
    ) -> Result<Self, Error> {
        let cells = slabs.cells(domain.mesh.cells);
        let count = slabs.all.len().min(WINDOWS);
        let of_window = || Domain {
            patches: Patches::one(cells),
            passes: true,
            keep_last: false,
            look_every: 1,
            ..domain.clone()
        };
        let mut windows: Vec<W> =
            (0..count).map(|_| window(of_window())).collect::<Result<_, _>>()?;
        let halo = windows.first().map_or([0; 3], |window| window.shape().halo);
        let patches = domain.patches;
        let mut host = Fields::without_arrays(plan, domain, patches, halo)?;
        let of_aside = {
            let mut cells = cells;
            cells[slabs.axis] = slabs.overlap.max(1);
            cells
        };
        let bug = || Error::Bug("a mesh has a shape, and a part of it has none".into());
        let aside_shape = Shape::new(of_aside, halo, T::BYTES).ok_or_else(bug)?;
        let changed = host.buffers.changed();
        let crosses =
            |at: &usize| host.buffers.role(*at) == BufferRole::Given || changed.contains(at);
        let held: Vec<usize> = (0..host.buffers.count()).filter(crosses).collect();
        let of_role = |role| host.buffers.of_role(role).len();
        let needed = [
            ("fields", of_role(BufferRole::Field)),
            ("counts", of_role(BufferRole::Count)),
            ("sources", of_role(BufferRole::Given)),
        ];
        let needed: Vec<_> = needed.into_iter().filter(|(_, count)| *count > 0).collect();
        let (mesh, free) = (host.domain.mesh.cells, free_memory::available());
        memory_use::fits(&needed, (mesh, halo), [1; 3], T::BYTES, free)?;
        let is_kept = |at: usize| changed.contains(&at) && slabs.all.len() > 1;
        let mut aside: Vec<Array<T>> = pool.install(|| {
            host.allocate(|at| held.contains(&at), PAGE)?;
            let all = (0..host.buffers.count()).map(|at| match is_kept(at) {
                true => array_of(&aside_shape, PAGE),
                false => Ok(Array::default()),
            });
            all.collect::<Result<_, Error>>()
        })?;
        if let Some(first) = windows.first_mut() {
            for at in held {
                first.share(host.array_mut(at))?;
            }
            let mut kept = aside.iter_mut().filter(|array| !array.values().is_empty());
            kept.try_for_each(|array| first.share(array))?;
        }
        let jobs = windows.iter().map(|_| None).collect();
        let (first, next) = (0, 0);
        Ok(Streamed {
            windows,
            host,
            aside,
            aside_shape,
            jobs,
            slabs,
            first,
            next,
            rules,
            failed: None,
            speeds: None,
            pool,
        })
    }

    /// Returns one of the windows.
    pub(crate) fn window(&self) -> Option<&W> {
        self.windows.first()
    }

    /// Does steps on all slabs. The fields are lost if they fail.
    fn pass(&mut self, moments: &[Moment]) -> Result<(), Failure> {
        let done = self.try_pass(moments);
        if done.is_err() {
            self.abandon();
        }
        done
    }

    /// Waits for all slabs, whatever becomes of them.
    fn abandon(&mut self) {
        for window in &mut self.windows {
            // The first failure is told.
            let _ = window.finish();
        }
        self.jobs.fill(None);
    }

    fn try_pass(&mut self, moments: &[Moment]) -> Result<(), Failure> {
        let Some(moment) = moments.last() else {
            return Ok(());
        };
        let (count, first) = (self.slabs.all.len(), self.first);
        self.set_aside(first)?;
        let mut before = None;
        for slab in (first..count).chain(0..first) {
            let window = self.next;
            self.next = (window + 1) % self.windows.len();
            self.finish(window)?;
            // Values of the pass before that are still on their way.
            for at in 0..self.windows.len() {
                let comes = |job: &Job| job.comes_back && self.slabs.near(slab).contains(&job.slab);
                if self.jobs[at].as_ref().is_some_and(comes) {
                    self.finish(at)?;
                }
            }
            // Copies to windows are made in their order, so that each slab waits for those of all before.
            let last = (window + self.windows.len() - 1) % self.windows.len();
            self.between(window, last)?;
            self.upload(slab, window, (slab + 1) % count == first)?;
            self.jobs[window] = Some(Job { slab, moment: *moment, comes_back: false });
            let of = &self.slabs.all[slab];
            let looked = (self.slabs.axis, of.at..of.at + of.own.len());
            let begun = self.windows[window].begin_steps(moments, looked.clone());
            begun.map_err(|failure| self.on_mesh(slab, failure))?;
            if let Some(Speeds { reducer, uniforms, .. }) = &self.speeds {
                self.windows[window].begin_rows((reducer, uniforms), looked)?;
            }
            if let Some(before) = before.replace(window) {
                self.between(before, window)?;
                self.download(before)?;
            }
        }
        before.map_or(Ok(()), |last| self.download(last))?;
        self.first = (first + 1) % count;
        Ok(())
    }

    /// Lets a window wait for all that another one copies from the host.
    fn between(&mut self, window: usize, other: usize) -> Result<(), Error> {
        match self.windows.get_disjoint_mut([window, other]) {
            Ok([window, other]) => window.wait_for(other),
            // There is one window.
            Err(_) => Ok(()),
        }
    }

    /// Keeps the layers of a slab that the last one of a pass needs.
    fn set_aside(&mut self, slab: usize) -> Result<(), Failure> {
        for at in 0..self.windows.len() {
            if self.jobs[at].is_some_and(|job| job.slab == slab) {
                self.finish(at)?;
            }
        }
        let Slabs { axis, overlap, .. } = self.slabs;
        let (shape, first) = (*self.host.shape(), self.slabs.all[slab].own.start as isize);
        let from = shape.layers(axis, first..first + overlap as isize);
        let to = self.aside_shape.layers(axis, 0..overlap as isize);
        let host = &self.host;
        self.pool.install(|| {
            for (at, aside) in self.aside.iter_mut().enumerate() {
                if !aside.values().is_empty() {
                    aside.copy_part(to.clone(), host.array_ref(at), from.clone());
                }
            }
        });
        Ok(())
    }

    /// Begins to copy a slab and the layers around it to a window; those above it from what was set `aside`, or from the
    /// mesh.
    fn upload(&mut self, slab: usize, window: usize, aside: bool) -> Result<(), Error> {
        let Slabs { axis, layers, .. } = self.slabs;
        let Slab { own, at, around: [below, above], ends } = &self.slabs.all[slab];
        let (shape, window) = (*self.host.shape(), &mut self.windows[window]);
        let (start, count) = (own.start as isize, own.len());
        for buffer in 0..self.host.buffers.count() {
            let array = self.host.array_ref(buffer);
            if array.values().is_empty() {
                continue;
            }
            let is_given = self.host.buffers.role(buffer) == BufferRole::Given;
            let mut copy = |from: Layers<&Array<T>>, count: usize, to: isize| match count {
                0 => Ok(()),
                _ => window.upload(buffer, from, Own { axis, count, first: to }),
            };
            let of_host = |first: isize| Layers { array, shape, first };
            let to = *at as isize;
            // No step of a plan fills the ghost cells of given fields.
            let [under, over] = ends.map(|end| if end && is_given { shape.halo[axis] } else { 0 });
            copy(of_host(start - under as isize), under + count + over, to - under as isize)?;
            let first = (start - *below as isize).rem_euclid(layers as isize);
            copy(of_host(first), *below, to - *below as isize)?;
            let beyond = match aside && !is_given {
                true => Layers { array: &self.aside[buffer], shape: self.aside_shape, first: 0 },
                false => of_host((own.end % layers) as isize),
            };
            copy(beyond, *above, to + count as isize)?;
        }
        Ok(())
    }

    /// Begins to copy the slab in a window back.
    fn download(&mut self, window: usize) -> Result<(), Error> {
        let job = self.jobs[window].as_mut().ok_or_else(|| Error::Bug("an empty window".into()))?;
        job.comes_back = true;
        let Slab { own, at, .. } = &self.slabs.all[job.slab];
        let shape = *self.host.shape();
        for buffer in self.host.buffers.changed() {
            let to =
                Layers { array: self.host.array_mut(buffer), shape, first: own.start as isize };
            let (axis, count, first) = (self.slabs.axis, own.len(), *at as isize);
            self.windows[window].download(buffer, Own { axis, count, first }, to)?;
        }
        Ok(())
    }

    /// Waits for the work of a window.
    fn finish(&mut self, window: usize) -> Result<(), Failure> {
        let Some(Job { slab, moment, .. }) = self.jobs[window].take() else {
            return Ok(());
        };
        let Finished { bad, rows } = self.windows[window].finish()?;
        if let Some(bad) = bad {
            let substep = self.rules.times.len().saturating_sub(1);
            let (fields, unseen) = (After::Lost, self.slabs.steps as u64 - 1);
            let failure = Failure::NotFinite { bad, moment, substep, fields, unseen };
            return Err(self.on_mesh(slab, failure));
        }
        if let Some(speeds) = &mut self.speeds {
            let Slabs { axis, all, .. } = &self.slabs;
            let of_layer = if *axis == 1 { 1 } else { self.host.domain.mesh.cells[1] };
            let first = all[slab].own.start * of_layer;
            for (to, row) in speeds.rows[first..].iter_mut().zip(rows) {
                *to = row;
            }
        }
        Ok(())
    }

    /// Returns the failure of a slab as one of the mesh, whose other slabs are of other times.
    fn on_mesh(&self, slab: usize, failure: Failure) -> Failure {
        match failure {
            Failure::NotFinite {
                bad: BadValue { component, mut cell },
                moment,
                substep,
                unseen,
                ..
            } => {
                let Slab { own, at, .. } = &self.slabs.all[slab];
                cell[self.slabs.axis] = cell[self.slabs.axis] + own.start - at;
                let (bad, fields) = (BadValue { component, cell }, After::Lost);
                Failure::NotFinite { bad, moment, substep, fields, unseen }
            }
            other => other,
        }
    }

    /// Waits for all slabs.
    fn settle(&mut self) -> Result<(), Failure> {
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        let done = (0..self.windows.len()).try_for_each(|window| self.finish(window));
        if done.is_err() {
            self.abandon();
        }
        done
    }
}

/// How a mesh passes through a device, slab by slab.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Passes {
    /// The number of slabs.
    pub slabs: usize,
    /// The layers along the last axis that the device holds of each, those of its neighbours included.
    pub layers: usize,
    /// The layers that a slab needs of each neighbour.
    pub overlap: usize,
    /// The steps of a pass.
    pub steps: usize,
    /// The bytes that a pass copies to the device.
    pub up: usize,
    /// The bytes that it copies back.
    pub down: usize,
    /// The bytes of all arrays on the host.
    pub host: usize,
    /// The time that a pass takes by the model, if the rates of the device are known.
    pub time: Option<PassTime>,
}

/// A mesh that passes through a device.
pub(crate) trait Passing {
    /// Returns how it does.
    fn passes(&self) -> Passes;
}

impl<T: Number, W: Window<T>> Passing for Streamed<T, W> {
    fn passes(&self) -> Passes {
        let Slabs { axis, window, overlap, steps, .. } = self.slabs;
        let buffers = &self.host.buffers;
        let layer = self.host.shape().layers(axis, 0..1).len() * T::BYTES;
        let changed = buffers.changed().len();
        let given = buffers.of_role(BufferRole::Given).len();
        let [up, down] = self.slabs.moved();
        let all = (0..buffers.count()).map(|at| self.host.array_ref(at)).chain(&self.aside);
        Passes {
            slabs: self.slabs.all.len(),
            layers: window,
            overlap,
            steps,
            up: up * layer * (changed + given),
            down: down * layer * changed,
            time: self.slabs.time,
            host: all.map(|array| array.values().len() * T::BYTES).sum(),
        }
    }
}

impl<T: Number, W: Window<T>> Device<T> for Streamed<T, W> {
    fn fields(&self) -> &Fields<T> {
        &self.host
    }

    fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error> {
        self.wait()?;
        self.host.interior(buffer)
    }

    fn set(
        &mut self,
        buffer: usize,
        value: &(dyn Fn([isize; 3]) -> T + Sync),
    ) -> Result<(), Error> {
        self.wait()?;
        self.pool.install(|| self.host.set(buffer, value));
        if let Some(speeds) = &mut self.speeds {
            speeds.rows.iter_mut().for_each(Vec::clear);
        }
        Ok(())
    }

    fn on_host(&mut self, evaluate: OnHost<'_, T>) -> Result<(), Error> {
        self.wait()?;
        self.pool.install(|| evaluate(&mut self.host));
        Ok(())
    }

    fn on_host_amid(&mut self, _evaluate: OnHost<'_, T>) -> Result<(), Error> {
        Err(no_return())
    }

    fn add_reducer(
        &mut self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<usize, Error> {
        let windows = self.windows.iter_mut();
        let numbers = windows.map(|window| window.prepare_reducer(algorithm, updates));
        numbers.collect::<Result<Vec<_>, _>>().map(|numbers| numbers.first().copied().unwrap_or(0))
    }

    fn reduce(&mut self, reducer: &Reducer, uniforms: &[f64], t: f64) -> Result<Vec<f64>, Error> {
        self.wait()?;
        let Reducer { evaluation, reductions, .. } = reducer;
        let fields = &mut self.host;
        Ok(self.pool.install(|| evaluation.reduce(fields, reductions, uniforms, t)))
    }

    fn bound(&mut self, most: f64) {
        self.host.bound(most);
        self.windows.iter_mut().for_each(|window| window.bound(most));
    }

    fn first_not_finite(&mut self) -> Result<Option<BadValue>, Error> {
        self.wait()?;
        Ok(self.pool.install(|| self.host.first_not_finite()))
    }

    fn begin(
        &mut self,
        speeds: &Reducer,
        uniforms: &[f64],
        asked: Asked,
    ) -> Result<Option<(Vec<f64>, Length)>, Error> {
        if let Err(failure) = self.settle() {
            self.failed = Some(failure);
            return Err(Error::Bug("a pass has failed, and its steps were not checked".into()));
        }
        let known = self.speeds.as_ref().filter(|own| own.rows.iter().all(|row| !row.is_empty()));
        let numbers = match known {
            Some(own) => own.reducer.total(&own.rows, self.host.domain.mesh.cells),
            None => self.reduce(speeds, uniforms, asked.t)?,
        };
        if self.speeds.is_none() && speeds.is_local() {
            let [_, ny, nz] = self.host.domain.mesh.cells;
            let (reducer, uniforms) = (speeds.clone(), uniforms.to_vec());
            self.speeds = Some(Speeds { reducer, uniforms, rows: vec![Vec::new(); ny * nz] });
        }
        let length = self.rules.step(asked, &numbers);
        Ok(Some((numbers, length)))
    }

    fn memory_use(&self) -> MemoryUse {
        let windows = self.windows.iter().map(Window::memory_use);
        windows.reduce(MemoryUse::and).unwrap_or_default()
    }

    fn step(
        &mut self,
        moment: Moment,
        _begun: bool,
        renew: Option<Renew<'_, T>>,
    ) -> Result<(), Failure> {
        match renew {
            None => self.pass(&[moment]),
            Some(_) => Err(Error::Bug("a source that changes amid a pass".into()).into()),
        }
    }

    fn steps_at_once(&self) -> Option<usize> {
        Some(self.slabs.steps).filter(|steps| *steps > 1)
    }

    fn steps(&mut self, moments: &[Moment]) -> Result<(), Failure> {
        self.pass(moments)
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.settle()
    }

    fn undo(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    fn begin_again(&mut self, _moment: Moment) -> Result<(), Error> {
        Err(no_return())
    }

    fn substep_again(&mut self, _moment: Moment, _substep: usize) -> Result<(), Error> {
        Err(no_return())
    }

    fn wait(&self) -> Result<(), Error> {
        self.windows.iter().try_for_each(Window::wait)
    }
}

/// Returns the error for a step that was to be undone.
fn no_return() -> Error {
    Error::Bug("the fields before a pass are not kept".into())
}
