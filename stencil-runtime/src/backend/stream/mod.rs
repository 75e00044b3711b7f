//! A mesh in the memory of the host whose slabs take turns on a device: copied to a window of it, stepped, copied back.
//!
//! A pass goes through all slabs, and does one step or several. The windows of the device hold a few slabs at a time, so that
//! one is copied to it while another is stepped and a third one is copied back. A slab goes to its window with layers of its
//! neighbours around it: values near the ends of a window are spoilt step by step, and only the slab's own come back.
//!
//! New values of a slab come back in place, once the next slab is in its window: it needs old values of this one. The last slab
//! of a pass needs old values of the first one, too; these are set aside when the pass begins. A pass begins with another slab
//! than the pass before, the one behind: its neighbours came back long ago, so it need not wait for the last slab.

mod device;
mod pass;
mod passes;
mod slabs;
#[cfg(test)]
mod tests;
mod time;
mod transit;
mod window;

use std::sync::Arc;

use rayon::ThreadPool;
use stencil_compiler::plan::{BufferRole, Plan};

use super::Reducer;
use crate::field::{Array, Domain, Fields, PAGE, Shape, array_of, memory_use};
use crate::io::free_memory;
use crate::mesh::Patches;
use crate::step::{Failure, Moment, Rules};
use crate::{Error, Number};

pub use passes::Passes;
pub(crate) use passes::Passing;
pub(crate) use slabs::{Slabs, overlap, rows};
use time::Rates;
pub use time::{Bus, PassTime};
pub use transit::Transit;
pub(crate) use transit::refused;
pub(crate) use window::{Finished, Layers, Own, Window};

/// Windows of a device: one is copied to, one is stepped, one is copied back.
pub(crate) const WINDOWS: usize = 3;

/// The roles of buffers that pass: fields, counts and sources.
const CROSS: [BufferRole; 3] = [BufferRole::Field, BufferRole::Count, BufferRole::Given];

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
        check_memory::<T>(plan, &domain)?;
        let cells = slabs.cells(domain.mesh.cells);
        let count = slabs.all.len().min(WINDOWS);
        let of_window = || Domain {
            patches: Patches::one(cells),
            passes: true,
            copies: false,
            keep_last: false,
            look_every: 1,
            ..domain.clone()
        };
        let mut windows: Vec<W> =
            (0..count).map(|_| window(of_window())).collect::<Result<_, _>>()?;
        let halo = windows.first().map_or([0; 3], |window| window.shape().halo);
        let patches = domain.patches;
        let mut host = Fields::without_arrays(plan, domain, patches, halo)?;
        let mut of_aside = cells;
        of_aside[slabs.axis] = slabs.overlap.max(1);
        let bug = || Error::Bug("a mesh has a shape, and a part of it has none".into());
        let aside_shape = Shape::new(of_aside, halo, T::BYTES).ok_or_else(bug)?;
        let all = 0..host.buffers.count();
        let passes: Vec<bool> = all.map(|at| CROSS.contains(&host.buffers.role(at))).collect();
        let changed = host.buffers.changed();
        let is_kept = |at: &usize| changed.contains(at) && slabs.all.len() > 1;
        let mut aside: Vec<Array<T>> = pool.install(|| {
            host.allocate(|at| passes[at], PAGE)?;
            let all = (0..passes.len()).map(|at| match is_kept(&at) {
                true => array_of(&aside_shape, PAGE),
                false => Ok(Array::default()),
            });
            all.collect::<Result<_, Error>>()
        })?;
        // The last window is dropped last: no copy of another one is in progress then.
        if let Some(last) = windows.last_mut() {
            for at in (0..passes.len()).filter(|at| passes[*at]) {
                last.share(host.array_mut(at))?;
            }
            for at in (0..passes.len()).filter(is_kept) {
                last.share(&mut aside[at])?;
            }
        }
        Ok(Streamed {
            jobs: windows.iter().map(|_| None).collect(),
            windows,
            host,
            aside,
            aside_shape,
            slabs,
            first: 0,
            next: 0,
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
}

/// Checks that the host has memory for all fields of a mesh, before any is taken.
fn check_memory<T: Number>(plan: &Plan, domain: &Domain) -> Result<(), Error> {
    let (halo, cells) = (plan.halo(), domain.mesh.cells);
    let halo = std::array::from_fn(|axis| domain.halo[axis].max(halo[axis] as usize));
    let count = |role| plan.buffers.iter().filter(|buffer| buffer.role == role).count();
    let arrays = CROSS.map(count);
    let needed = ["fields", "counts", "sources"].into_iter().zip(arrays);
    let needed: Vec<_> = needed.filter(|(_, count)| *count > 0).collect();
    Ok(memory_use::fits(&needed, (cells, halo), [1; 3], T::BYTES, free_memory::available())?)
}
