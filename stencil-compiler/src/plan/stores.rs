//! The rule by which launches may store values in the memory of other devices, in whose patches they are ghost cells.

use super::make::new_name;
use super::{Launch, Place, Plan, max3};
use crate::schedule::Overlap;

/// Patches of devices, one each, that are layers of a mesh across an axis: ghost cells of each lie at its two ends, as layers
/// of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The axis.
    pub axis: usize,
    /// Cells of the thinnest patch along it.
    pub thinnest: usize,
}

impl Place {
    /// May a launch store values of an array at this place in the memory of other devices, too? Each value has an address of its
    /// own there, and the launch computes no ghost cells.
    pub(crate) fn may_send(&self, launch: &Launch) -> bool {
        self.of == 1 && !self.surface && launch.extend == [0; 3]
    }
}

impl Plan {
    /// Returns the plan with the overlap of devices whose patches are such layers; `None` if their launches may not store in
    /// each other's memory. A plan that leaves the choice stores where all its launches may. One that asks for stores where
    /// they may not lets launches wait for the values.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse::parse_str;
    /// use stencil_compiler::plan::{Layers, plan};
    /// use stencil_compiler::schedule::{Overlap, text::parse};
    ///
    /// let model = parse_str("system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 6>; time: euler; }")?;
    /// let algorithm = discretize(&model)?;
    /// let overlap = |schedule: &str, thinnest| {
    ///     let plan = plan(&algorithm, &parse(schedule)?, [false; 3])?;
    ///     Ok::<_, Box<dyn std::error::Error>>(plan.settled(Some(Layers { axis: 2, thinnest })).overlap)
    /// };
    /// assert_eq!(overlap("schedule kernel direct", 3)?, Some(Overlap::Store));
    /// assert_eq!(overlap("schedule kernel direct", 2)?, None);
    /// assert_eq!(overlap("schedule overlap store kernel direct", 2)?, Some(Overlap::None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn settled(self, layers: Option<Layers>) -> Plan {
        let may_store = layers.is_some_and(|layers| self.may_store(layers));
        let overlap = match (self.overlap, may_store) {
            (None, true) => Some(Overlap::Store),
            (Some(Overlap::Store), false) => Some(Overlap::None),
            (overlap, _) => overlap,
        };
        Plan { overlap, ..self }
    }

    /// Do launches write all that other devices read in ways in which they may store it there, and are the ghost cells of each
    /// patch cells of one neighbour at each end?
    fn may_store(&self, layers: Layers) -> bool {
        let depth = self.layers_to_store();
        depth.is_some_and(|depth| depth[layers.axis] as usize <= layers.thinnest)
    }

    /// Returns the depth of the ghost cells whose values launches may store in the memory of other devices; `None` if there are
    /// none, or some launch may not.
    pub fn layers_to_store(&self) -> Option<[u32; 3]> {
        let places = self.places();
        let mut deepest = None;
        for launch in &self.launches {
            for (output, _) in &launch.outputs {
                let Some(depth) = self.shown(output) else { continue };
                let array = self.array_of(output);
                let at = self.buffers.iter().position(|buffer| buffer.name == array)?;
                if !places[at].may_send(launch) {
                    return None;
                }
                deepest = Some(max3(deepest.unwrap_or_default(), depth));
            }
        }
        deepest
    }

    /// Returns how deep other patches show a buffer that a launch writes, as ghost cells.
    fn shown(&self, output: &str) -> Option<[u32; 3]> {
        let is_of = |name: &String| name == output || new_name(name) == output;
        let fills = self.fills().filter(|(_, depth)| !depth.is_local());
        let depths = fills.filter(|(buffers, _)| buffers.iter().any(is_of));
        depths.map(|(_, depth)| depth.towards).reduce(max3)
    }

    /// Returns how deep other devices show a buffer that a launch of a plan [among devices](Plan::among_devices) writes, if the
    /// launch is to store it there.
    pub fn sent(&self, output: &str) -> Option<[u32; 3]> {
        let is_to_store = self.overlap() == Overlap::Store && self.is_among_devices();
        self.shown(output).filter(|_| is_to_store)
    }
}
