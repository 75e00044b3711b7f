//! A pass: all slabs go through the windows of a device.

use stencil_compiler::plan::BufferRole;

use super::slabs::{self, Slab};
use super::window::{Finished, Layers, Own};
use super::{Job, Slabs, Speeds, Streamed, Window};
use crate::field::{Array, BadValue};
use crate::step::{After, Failure, Moment};
use crate::{Error, Number};

impl<T: Number, W: Window<T>> Streamed<T, W> {
    /// Does steps on all slabs. The fields are lost if they fail.
    pub(super) fn pass(&mut self, moments: &[Moment]) -> Result<(), Failure> {
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
                // The next slab needs the old values that these replace.
                let both = self.windows.get_disjoint_mut([before, window]);
                let [behind, ahead] = both.map_err(|_| Error::Bug("one window of many".into()))?;
                behind.wait_for(ahead)?;
                self.download(before)?;
            }
        }
        before.map_or(Ok(()), |last| self.download(last))?;
        self.first = (first + 1) % count;
        Ok(())
    }

    /// Keeps the layers of a slab that the last one of a pass needs.
    fn set_aside(&mut self, slab: usize) -> Result<(), Failure> {
        for at in 0..self.windows.len() {
            if self.jobs[at].is_some_and(|job| job.slab == slab) {
                self.finish(at)?;
            }
        }
        // The last slab of the pass before may still be copied from there.
        self.windows.iter().try_for_each(Window::wait_for_copies)?;
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
            let own = slabs::rows(*axis, self.host.domain.mesh.cells, all[slab].own.clone());
            for (to, row) in speeds.rows[own].iter_mut().zip(rows) {
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
            failure @ Failure::Other(_) => failure,
        }
    }

    /// Waits for all slabs.
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
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
