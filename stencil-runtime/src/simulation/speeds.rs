//! The speeds that limit a step, and the error for a bad one.

use stencil_compiler::algorithm::Role;
use stencil_compiler::model::text::expression;

use super::Simulation;
use super::watch::Watch;
use crate::step::{Asked, Length};
use crate::{BadSpeed, Error, Number};

/// Components whose values are in the message.
const TOLD: usize = 8;

impl<T: Number> Simulation<T> {
    /// Returns the speeds, the length of an adaptive step, and whether a card has begun it.
    pub(super) fn found(&mut self, asked: Asked) -> Result<(Vec<f64>, Length, bool), Error> {
        let mesh = &self.setup.mesh;
        let steady = self.watch.as_ref().and_then(|w| w.steady_speeds::<T>(mesh));
        let begun = match steady {
            Some((speeds, uniforms)) => self.device.begin(speeds, &uniforms, asked)?,
            None => None,
        };
        let reads_sources = self.watch.as_ref().is_some_and(Watch::speeds_read_sources);
        if begun.is_none() && reads_sources {
            self.sample_unsteady(asked.t)?;
        }
        let Some(watch) = &self.watch else {
            return Err(Error::Bug("an adaptive time step without speeds".into()));
        };
        let (speeds, length) = match begun {
            Some((speeds, length)) => (speeds, Some(length)),
            None => {
                let device = self.device.as_mut();
                (watch.speeds(device, &self.setup.mesh, asked.t)?, None)
            }
        };
        if let Some((speed, value)) = watch.bad_speed(&speeds) {
            return Err(self.no_speed((speed, value), asked.t).unwrap_or_else(|e| e));
        }
        let by_host = || self.rules.step(asked, &speeds);
        let begun = length.is_some();
        let length = length.unwrap_or_else(by_host);
        Ok((speeds, length, begun))
    }

    /// Makes the error for a speed that is NaN or negative, with the first cell that has it, and the fields there.
    fn no_speed(&mut self, (speed, value): (usize, f64), t: f64) -> Result<Error, Error> {
        let Some(watch) = &self.watch else {
            return Err(Error::Bug("a speed of no system".into()));
        };
        let device = self.device.as_mut();
        let (kind, cell) = watch.fastest(speed, device, &self.setup.mesh, t)?;
        let model = self.system().model();
        let share = self.rules.share(speed);
        let term = share.and_then(|share| model.speeds.get(share.of));
        let term = term.map_or(kind.to_string(), |speed| expression(model, &speed.value));
        let fields = self.system().algorithm().states_of(Role::Field);
        let names: Vec<String> = fields.map(|(_, state)| state.name.clone()).collect();
        let mut state = Vec::new();
        for name in names.iter().take(TOLD) {
            let [x, y, z] = cell;
            state.push(format!("{name} = {:e}", self.to_f64(name)?[[z, y, x]]));
        }
        Ok(Error::Speed(Box::new(BadSpeed {
            kind,
            term,
            cell,
            at: self.point(cell),
            state: state.join(", "),
            value,
            t,
        })))
    }
}
