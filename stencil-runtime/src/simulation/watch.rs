//! Numbers that a run watches: the observables of its system, and the speeds that limit its time step.

use std::collections::BTreeMap;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::discretize::{Observation, Quantity};
use stencil_compiler::model::Reduction;

use crate::backend::cpu::Checked;
use crate::backend::{Device, Reducer};
use crate::mesh::Mesh;
use crate::step::{groups, kind};
use crate::{Error, Number, SystemDef};

/// The quantities of a system.
#[derive(Debug)]
pub(crate) struct Watch {
    algorithm: Algorithm,
    params: Vec<f64>,
    observables: Group,
    speeds: Group,
}

/// Quantities that are evaluated together.
#[derive(Debug, Default)]
struct Group {
    quantities: Vec<Quantity>,
    /// `None` if there are no quantities.
    reducer: Option<Reducer>,
}

impl Group {
    fn reads_sources(&self) -> bool {
        self.reducer.as_ref().is_some_and(Reducer::reads_sources)
    }
}

impl Watch {
    /// Prepares the quantities of an observation; `params` are those of the system, in its order.
    pub(crate) fn new<T: Number>(
        observation: &Observation,
        (system, params): (&SystemDef, &[f64]),
        device: &mut dyn Device<T>,
        instructions: Checked,
    ) -> Result<Self, Error> {
        let Observation { algorithm, quantities } = observation;
        let value = |name: &str| {
            let at = system.algorithm().params.iter().position(|p| p.name == name);
            let value = at.and_then(|at| params.get(at).copied());
            value.ok_or_else(|| Error::Bug(format!("an observation of the parameter `{name}`")))
        };
        let params = algorithm.params.iter().map(|p| value(&p.name));
        let params = params.collect::<Result<_, _>>()?;
        let mut group = |chosen: &[(usize, Reduction)]| -> Result<Group, Error> {
            if chosen.is_empty() {
                return Ok(Group::default());
            }
            Ok(Group {
                reducer: Some(Reducer::new(device, algorithm, chosen, instructions)?),
                quantities: chosen.iter().map(|(i, _)| quantities[*i].clone()).collect(),
            })
        };
        let [observables, speeds] = groups(observation);
        Ok(Watch {
            observables: group(&observables)?,
            speeds: group(&speeds)?,
            params,
            algorithm: algorithm.clone(),
        })
    }

    /// Do the observables read sources?
    pub(crate) fn observables_read_sources(&self) -> bool {
        self.observables.reads_sources()
    }

    /// Do the speeds read sources?
    pub(crate) fn speeds_read_sources(&self) -> bool {
        self.speeds.reads_sources()
    }

    /// Returns the observables by name, at the time `t`.
    pub(crate) fn observables<T: Number>(
        &self,
        device: &mut dyn Device<T>,
        mesh: &Mesh,
        t: f64,
    ) -> Result<BTreeMap<String, f64>, Error> {
        let values = self.values(&self.observables, device, mesh, t)?;
        let names = self.observables.quantities.iter().map(|q| q.name.clone());
        Ok(names.zip(values).collect())
    }

    /// Returns the speeds that limit the time step, at the time `t`, in the order of the model.
    pub(crate) fn speeds<T: Number>(
        &self,
        device: &mut dyn Device<T>,
        mesh: &Mesh,
        t: f64,
    ) -> Result<Vec<f64>, Error> {
        self.values(&self.speeds, device, mesh, t)
    }

    /// Returns the name of a speed, and the first cell with its largest value at the time `t`.
    pub(crate) fn fastest<T: Number>(
        &self,
        speed: usize,
        device: &mut dyn Device<T>,
        mesh: &Mesh,
        t: f64,
    ) -> Result<(&'static str, [usize; 3]), Error> {
        let missing = || Error::Bug(format!("there is no speed {speed}"));
        let Group { quantities, reducer } = &self.speeds;
        let power = quantities.get(speed).and_then(|quantity| quantity.speed);
        let reducer = reducer.as_ref().ok_or_else(missing)?;
        let uniforms = self.uniforms::<T>(mesh, t);
        let cell = reducer.first_largest(device, speed, &uniforms, t)?;
        Ok((kind(power.ok_or_else(missing)?), cell))
    }

    /// Returns the speeds and their uniforms if a device can evaluate them by itself: fields are all that changes with
    /// time in them.
    pub(crate) fn steady_speeds<T: Number>(&self, mesh: &Mesh) -> Option<(&Reducer, Vec<f64>)> {
        let speeds = self.speeds.reducer.as_ref()?;
        let steady = !self.speeds_read_sources() && !self.algorithm.depends_on_time();
        steady.then(|| (speeds, self.uniforms::<T>(mesh, 0.0)))
    }

    /// Returns the first of these speeds that limits no step, and its value.
    pub(crate) fn bad_speed(&self, speeds: &[f64]) -> Option<(usize, f64)> {
        let limits = |value: &f64| value.is_finite() && *value >= 0.0;
        let at = speeds.iter().position(|value| !limits(value))?;
        Some((at, speeds[at]))
    }

    fn values<T: Number>(
        &self,
        group: &Group,
        device: &mut dyn Device<T>,
        mesh: &Mesh,
        t: f64,
    ) -> Result<Vec<f64>, Error> {
        let Some(reducer) = &group.reducer else {
            return Ok(Vec::new());
        };
        device.reduce(reducer, &self.uniforms::<T>(mesh, t), t)
    }

    /// Returns the uniforms of the algorithm at the time `t`.
    fn uniforms<T: Number>(&self, mesh: &Mesh, t: f64) -> Vec<f64> {
        let spacing = mesh.spacing();
        self.algorithm.uniform_values(T::PRECISION, &self.params, spacing, (0.0, t))
    }
}
