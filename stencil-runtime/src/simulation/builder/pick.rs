//! The pick of the performance model, where a run is given no schedule.

use super::build::Planned;
use super::engine::Chosen;
use super::scheduled::Scheduled;
use super::{Builder, Engine};
use crate::backend::cuda::{Cache, Opening};
use crate::pick;
use crate::simulation::{Pick, Picked, Picking, Wanted};
use crate::{Number, Stream, SystemDef};

impl<T: Number> Builder<T> {
    /// Returns the plans by the pick of a card, if a pick was kept or is to be waited for; with them the state of the pick.
    /// The usual plans are those without it.
    pub(super) fn picked(
        &self,
        system: &SystemDef,
        usual: &Planned,
        (card, cache): (&mut Opening, Option<&Cache>),
    ) -> (Option<Scheduled>, Picking<T>) {
        let is_sealed = cache.and_then(Cache::sealed_by).is_some();
        let is_open = matches!(usual.scheduled.engine, Chosen::Cuda) && self.schedule.is_none();
        // Ranks would change their schedules at steps of their own.
        let stays = !matches!(self.stream, Stream::Steps(_)) && self.ranks.count() == 1;
        let is_wanted = is_open && !is_sealed && stays && self.pick != Pick::Off;
        let Some(card) = is_wanted.then(|| card.card().cloned()).flatten() else {
            return (None, Picking::Over(Picked::Unwanted));
        };
        let (periodic, alike) =
            (usual.boundaries.periodic, self.steps_alike(system, &usual.params));
        let wanted = Wanted {
            system: system.clone(),
            cells: usual.mesh.cells,
            on: match usual.patches.devices {
                1 => format!("{periodic:?} {:?} {alike}", usual.patches.counts),
                several => {
                    let on = self.on_patches(&usual.boundaries, &usual.patches, usual.halo);
                    let (counts, layers) = (usual.patches.counts, on.target::<T>().layers);
                    let ghosts = self.ghosts;
                    format!("{periodic:?} {counts:?} {several} {layers:?} {ghosts:?} {alike}")
                }
            },
            run: self.again(system),
            card,
            cache: cache.cloned(),
        };
        let found = match self.timed.clone() {
            Some(timed) => {
                pick::keep(&wanted, &timed);
                Ok(timed)
            }
            None => match pick::kept(&wanted) {
                Some(kept) => Ok(kept),
                None if self.pick == Pick::Before => pick::find(&wanted),
                None => return (None, Picking::open(wanted)),
            },
        };
        let planned = found.and_then(|schedule| {
            self.planned(system, (Engine::Cuda, &mut Opening::new(self.ordinals())), Some(schedule))
        });
        match planned {
            Ok(planned) => (Some(planned.scheduled), Picking::Over(Picked::Since(0))),
            Err(error) => (None, Picking::failed(&error)),
        }
    }

    /// Returns the builder of another run of the same steps, without an engine and a schedule.
    pub(crate) fn again(&self, system: &SystemDef) -> Self {
        Builder {
            cells: self.cells,
            extent: self.extent,
            origin: self.origin,
            centered: self.centered,
            patches: self.patches,
            devices: self.devices.clone(),
            ghosts: self.ghosts,
            halo: self.halo,
            boundaries: self.boundaries.clone(),
            sources: self.sources.clone(),
            params: self.params.clone(),
            dt: self.dt,
            cfl: self.cfl,
            cfl_limit: self.cfl_limit,
            cfl_axes: self.cfl_axes,
            auto: self.auto,
            ..Builder::new(system)
        }
    }
}
