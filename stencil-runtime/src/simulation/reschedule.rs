//! Another schedule for a run that goes on.

use stencil_compiler::plan::BufferRole;

use super::builder::{self, Chosen, On, Scheduled, Started, choose};
use super::{Compiling, Engine, Pace, Picked, Picking, Program, Sampled, Setup, Simulation};
use crate::backend::{Device, cuda, on_card, on_card_mut};
use crate::{Error, Number, Schedule};

impl Setup {
    /// Returns the setup of the same run by another schedule, and the engine that follows it.
    pub(super) fn by(&self, scheduled: Scheduled) -> (Self, Chosen) {
        let Scheduled { engine, schedule, plan, fused } = scheduled;
        let setup = Setup { plan, fused, schedule, engine: engine.engine(), ..self.clone() };
        (setup, engine)
    }
}

impl<T: Number> Simulation<T> {
    /// Goes on by another schedule, whatever the performance model [picks](crate::Pick). All further steps have the bits that they would have had by the old one: fields,
    /// the time, the number of steps and their lengths stay. A run on a card stays on it, one on the processor there.
    ///
    /// ```
    /// use stencil_runtime::compiler::schedule::text;
    /// # use stencil_runtime::{Simulation, SystemDef};
    ///
    /// # let heat = SystemDef::from_text("heat.pde", "
    /// #     pub system Heat in 2d { field q: scalar; let g = grad(q); ddt(q) = div(g); }
    /// #     scheme s for Heat { space: central<order = 4>; mixed: composed; time: ssprk2; }")?;
    /// let stored = text::parse("schedule place g_x global exchange place g_y global exchange kernel direct kernel direct")?;
    /// let run = |other| -> Result<Vec<u64>, stencil_runtime::Error> {
    ///     let mut simulation = Simulation::<f64>::builder(&heat).cells([16, 8, 1]).dt(1e-4).build()?;
    ///     simulation.set("q", |x, y, _| x * y)?;
    ///     simulation.run(2, |_, _| ())?;
    ///     if let Some(other) = other {
    ///         simulation.reschedule(other)?;
    ///     }
    ///     simulation.run(2, |_, _| ())?;
    ///     simulation.bits()
    /// };
    /// assert_eq!(run(Some(&stored))?, run(None)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the schedule is illegal, with the legal choices; if the memory does not hold the arrays of both schedules at
    /// once. The run then goes on by the old one. If a step that a card has begun before turns out to have failed, as
    /// [`step`](Self::step).
    pub fn reschedule(&mut self, schedule: &Schedule) -> Result<(), Error> {
        self.go_on_by(schedule)?;
        self.picking = Picking::Over(Picked::Unwanted);
        self.compiling = Compiling::Over(Program::Unwanted);
        Ok(())
    }

    /// Goes on by another schedule.
    pub(super) fn go_on_by(&mut self, schedule: &Schedule) -> Result<(), Error> {
        let engine = match on_card(self.device.as_ref()) {
            Some(_) => Engine::Cuda,
            None if self.setup.engine == Engine::Rows => Engine::Rows,
            None => Engine::Cpu,
        };
        self.change_to(engine, Some(schedule))
    }

    /// Goes on with an engine, by another schedule or by its usual one.
    pub(super) fn change_to(
        &mut self,
        engine: Engine,
        schedule: Option<&Schedule>,
    ) -> Result<(), Error> {
        self.settle()?;
        if self.lost {
            return Err(Error::Lost);
        }
        let (setup, (mut device, watch)) = self.rebuilt(engine, schedule)?;
        take_fields(device.as_mut(), self.device.as_ref())?;
        device.bound(self.device.fields().most().to_f64());
        let old = (
            std::mem::replace(&mut self.setup, setup),
            std::mem::replace(&mut self.device, device),
            std::mem::replace(&mut self.watch, watch),
        );
        let sampled = self.sample_steady().and_then(|()| self.sample_unsteady(self.t));
        if let Err(error) = sampled {
            (self.setup, self.device, self.watch) = old;
            return Err(error);
        }
        Ok(())
    }

    /// Makes the parts of the same run by another schedule, with fields of zeros.
    fn rebuilt(
        &self,
        engine: Engine,
        schedule: Option<&Schedule>,
    ) -> Result<(Setup, Started<T>), Error> {
        let Setup { system, mesh, patches, .. } = &self.setup;
        if self.setup.slabs.is_some() {
            return Err(Error::Stream {
                reason: "slabs are cut for the schedule that a run begins by".into(),
                help: "give the schedule to the builder".into(),
            });
        }
        let domain = self.device.fields().domain.clone();
        let boundaries = &domain.boundaries;
        let (mut card, cache) = match on_card(self.device.as_ref()) {
            Some(machine) => (machine.opened(), machine.cache()),
            None => (cuda::Opening::new(Vec::new()), None),
        };
        let is_steady = |source: &Sampled| !matches!(source, Sampled::Unsteady(_));
        let steps_alike =
            matches!(self.pace, Pace::Fixed(_)) && self.sources.values().all(is_steady);
        let chosen = choose::<T>(
            system,
            (engine, &mut card),
            schedule.cloned(),
            (boundaries.periodic, steps_alike),
            mesh.cells,
        )?;
        let on = On { boundaries, patches, halo: domain.halo, processes: domain.ranks.count() };
        let scheduled = Scheduled::new::<T>(system, chosen, on)?;
        let (setup, engine) = self.setup.by(scheduled.at_pace(system, self.pace, patches)?);
        let of = (engine, domain, &self.sources);
        let started = builder::device(&setup, of, self.pool.clone(), (&mut card, cache))?;
        Ok((setup, started))
    }

    /// Takes the values of all fields from another run of the system on the same mesh and card, if both are on a card;
    /// returns `false` if they have to be set.
    pub(crate) fn take_fields(&mut self, from: &Self) -> Result<bool, Error> {
        self.settle()?;
        let taken = take_on_card(self.device.as_mut(), from.device.as_ref())?;
        self.is_set |= taken;
        Ok(taken)
    }
}

/// Copies fields within the memory of a card; returns `false` if that is not possible.
fn take_on_card<T: Number>(own: &mut dyn Device<T>, from: &dyn Device<T>) -> Result<bool, Error> {
    match (on_card_mut(own), on_card(from)) {
        (Some(own), Some(from)) => Ok(own.take_fields(from)?),
        _ => Ok(false),
    }
}

/// Copies all that steps change from one device of a run to another: fields and counts. Values that are not copied within
/// a card go through the host, an array after the other.
pub(super) fn take_fields<T: Number>(
    own: &mut dyn Device<T>,
    from: &dyn Device<T>,
) -> Result<(), Error> {
    let on_card = take_on_card(own, from)?;
    let buffers = &from.fields().buffers;
    for buffer in buffers.changed() {
        let (name, role) = (buffers.name(buffer), buffers.role(buffer));
        if on_card && role == BufferRole::Field {
            continue;
        }
        let bug = || Error::Bug(format!("the schedules have no `{name}` in common"));
        let to = own.fields().buffers.find(name, role).ok_or_else(bug)?;
        let values = from.interior(buffer)?;
        own.set(to, &|cell| {
            let [x, y, z] = cell.map(|i| i as usize);
            values[[z, y, x]]
        })?;
    }
    Ok(())
}
