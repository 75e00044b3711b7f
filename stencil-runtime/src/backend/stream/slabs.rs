//! The slabs that a mesh is cut into, and the layers around each that its values depend on.

use std::collections::BTreeMap;
use std::ops::Range;

use stencil_compiler::plan::{BufferRole, Plan, Step};

use super::PassTime;

/// Returns the layers along an axis, at each end of a slab, that so many steps of a plan need around the cells that they
/// compute right: a launch spoils as many as it reads beyond its cells. `None` if a step reads what the one before it left
/// elsewhere than in fields.
pub(crate) fn overlap(plan: &Plan, axis: usize, steps: usize) -> Option<usize> {
    let memory = |name: &str| {
        let at = plan.buffers.iter().position(|buffer| buffer.name == name)?;
        Some(plan.memory_of(at))
    };
    let of_roles = |roles: &[BufferRole]| -> Option<Vec<usize>> {
        let buffers = plan.buffers.iter().filter(|buffer| roles.contains(&buffer.role));
        buffers.map(|buffer| memory(&buffer.name)).collect()
    };
    let changed = of_roles(&[BufferRole::Field, BufferRole::Count])?;
    let given = of_roles(&[BufferRole::Given])?;
    // Spoilt layers of each array with known values.
    let mut spoilt: BTreeMap<usize, usize> =
        changed.iter().chain(&given).map(|at| (*at, 0)).collect();
    for step in (0..steps).flat_map(|_| &plan.steps) {
        if let Some(launch) = step.launch() {
            let launch = &plan.launches[launch];
            let mut after = 0;
            for (name, read) in &launch.inputs {
                let before = spoilt.get(&memory(name)?)?;
                after = after.max(before + (read[axis] + launch.extend[axis]) as usize);
            }
            for (name, _) in &launch.outputs {
                spoilt.insert(memory(name)?, after);
            }
        }
        if matches!(step, Step::Swap { .. }) {
            for (a, b) in step.exchanged() {
                let (a, b) = (memory(&a)?, memory(&b)?);
                let both = [spoilt.remove(&a), spoilt.remove(&b)];
                spoilt.extend(
                    [b, a].into_iter().zip(both).filter_map(|(at, layers)| Some((at, layers?))),
                );
            }
        }
    }
    changed
        .iter()
        .map(|at| spoilt.get(at).copied())
        .try_fold(0, |most, layers| Some(most.max(layers?)))
}

/// Returns the rows of cells along x in some layers across an axis of a mesh with so many cells.
pub(crate) fn rows(axis: usize, cells: [usize; 3], layers: Range<usize>) -> Range<usize> {
    let of_layer = if axis == 1 { 1 } else { cells[1] };
    layers.start * of_layer..layers.end * of_layer
}

/// Layers of a mesh that are computed at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slab {
    /// The layers whose new values it gives.
    pub(crate) own: Range<usize>,
    /// The place of the first of them in a window.
    pub(crate) at: usize,
    /// Layers below and above them that it also needs.
    pub(crate) around: [usize; 2],
    /// Does it begin, and end, at faces of the mesh?
    pub(crate) ends: [bool; 2],
}

/// A mesh cut into slabs along its last axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slabs {
    pub(crate) axis: usize,
    /// Layers of the mesh.
    pub(crate) layers: usize,
    /// Layers of a window, which holds one slab after the other.
    pub(crate) window: usize,
    /// Layers that a slab needs of its neighbours.
    pub(crate) overlap: usize,
    /// The steps of a pass.
    pub(crate) steps: usize,
    /// The time that a pass takes by the model, if the rates of the device are known.
    pub(crate) time: Option<PassTime>,
    pub(crate) all: Vec<Slab>,
}

impl Slabs {
    /// Cuts so many layers into slabs as equal as can be, each for a window of no more than `most` layers; `None` if such
    /// slabs are thinner than their overlap.
    pub(crate) fn new(
        (axis, layers, periodic): (usize, usize, bool),
        (overlap, steps): (usize, usize),
        most: usize,
    ) -> Option<Self> {
        if layers <= most {
            let whole = Slab { own: 0..layers, at: 0, around: [0; 2], ends: [true; 2] };
            let window = layers;
            let (overlap, time, all) = (0, None, vec![whole]);
            return Some(Slabs { axis, layers, window, overlap, steps, time, all });
        }
        let thickest = most.checked_sub(2 * overlap).filter(|layers| *layers > 0)?;
        let count = layers.div_ceil(thickest);
        let window = layers.div_ceil(count) + 2 * overlap;
        let begin = |slab: usize| slab * layers / count;
        let slab = |slab: usize| {
            let own = begin(slab)..begin(slab + 1);
            let ends = [own.start == 0, own.end == layers].map(|end| end && !periodic);
            let at = match ends {
                [true, _] => 0,
                [_, true] => window - own.len(),
                _ => overlap,
            };
            Slab { own, at, around: ends.map(|end| if end { 0 } else { overlap }), ends }
        };
        let all: Vec<Slab> = (0..count).map(slab).collect();
        let is_thick = all.iter().all(|slab| slab.own.len() >= overlap);
        is_thick.then_some(Slabs { axis, layers, window, overlap, steps, time: None, all })
    }

    /// Returns the cells of a window on a mesh of so many.
    pub(crate) fn cells(&self, mut mesh: [usize; 3]) -> [usize; 3] {
        mesh[self.axis] = self.window;
        mesh
    }

    /// Returns the predicted seconds of a step; infinite if the rates of the device are unknown.
    pub(crate) fn seconds_of_a_step(&self) -> f64 {
        self.time.map_or(f64::INFINITY, |time| time.seconds() / self.steps as f64)
    }

    /// Returns the layers that a pass moves to the windows, and back.
    pub(crate) fn moved(&self) -> [usize; 2] {
        let around = self.all.iter().flat_map(|slab| slab.around).sum::<usize>();
        [self.layers + around, self.layers]
    }

    /// Returns the slabs beside one of them, and itself.
    pub(crate) fn near(&self, slab: usize) -> [usize; 3] {
        let count = self.all.len();
        [(slab + count - 1) % count, slab, (slab + 1) % count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_fill_a_mesh_and_lie_within_windows() {
        for layers in 2..40 {
            for overlap in 0..5 {
                for most in 1..layers {
                    for periodic in [false, true] {
                        let cut = Slabs::new((2, layers, periodic), (overlap, 1), most);
                        let Some(Slabs { window, all, .. }) = cut else { continue };
                        assert!(window <= most);
                        let mut end = 0;
                        for Slab { own, at, around: [below, above], ends } in all {
                            assert!(own.start == end && own.len() >= overlap);
                            end = own.end;
                            assert!(below <= at && at + own.len() + above <= window);
                            // Faces of the mesh are faces of the window.
                            assert!(!ends[0] || at == 0);
                            assert!(!ends[1] || at + own.len() == window);
                        }
                        assert_eq!(end, layers);
                    }
                }
            }
        }
        assert_eq!(Slabs::new((2, 16, true), (3, 1), 6), None);
        assert_eq!(Slabs::new((2, 16, true), (3, 1), 16).unwrap().moved(), [16, 16]);
        assert_eq!(Slabs::new((2, 16, false), (3, 1), 11).unwrap().moved(), [16 + 6 * 3, 16]);
    }
}
