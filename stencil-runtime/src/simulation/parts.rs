//! The time of each part of a step on a card.

use std::collections::BTreeMap;

use super::values::{by_host, samples};
use super::{Pace, Sampled, Simulation};
use crate::backend::cuda::{CardSpan, Machine, PartTime};
use crate::backend::{self, on_card_mut};
use crate::step::Asked;
use crate::{Error, Number};

impl<T: Number> Simulation<T> {
    /// Measures the time of each part of a step on a card by itself, in their order, after at least one step. Parts
    /// are done many times; fields and counters are put back afterwards. There are no parts on the processor, in steps
    /// that fuse and adapt, without kept fields ([`keep_last`](crate::Builder::keep_last)), and if the host takes part
    /// in a step: fills ghost cells, evaluates a source that changes with time, or finds the length of the step. If a
    /// tool that watches launches disturbs the capture of steps, the times are those of launches one by one.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// # let heat = SystemDef::from_text("h", "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }")?;
    /// let mut simulation = Simulation::<f64>::builder(&heat).cells([100, 1, 1]).dt(1e-6).build()?;
    /// simulation.step()?;
    /// for time in simulation.part_times()? {
    ///     println!("{:?}: {:.1} us", time.part, 1e6 * time.seconds);
    /// }
    /// # assert!(simulation.part_times()?.is_empty() && simulation.card().is_none());
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a step fails.
    pub fn part_times(&mut self) -> Result<Vec<PartTime>, Error> {
        self.of_parts(Machine::part_times)
    }

    /// Measures when each task of a step begins and ends on each card, after at least one step; fields are put back afterwards.
    /// There are no tasks where [`part_times`](Self::part_times) has no parts. The step is started task by task and not
    /// replayed as a whole, and the first task of a search for the length of the step contains all others of it.
    ///
    /// # Errors
    /// If a step fails.
    pub fn timeline(&mut self) -> Result<Vec<CardSpan>, Error> {
        self.of_parts(Machine::timeline)
    }

    /// Times parts of a step by a function of the cards and, in steps that adapt, of the speeds and the request.
    fn of_parts<R>(
        &mut self,
        time: impl FnOnce(&mut Machine<T>, Option<(&backend::Reducer, Asked)>) -> Result<Vec<R>, Error>,
    ) -> Result<Vec<R>, Error> {
        self.settle()?;
        let asked = match self.pace {
            Pace::Fixed(_) | Pace::Auto { .. } => None,
            Pace::Adaptive { number, most, .. } => Some(Asked {
                t: self.t,
                end: f64::INFINITY,
                most: most.unwrap_or(f64::INFINITY),
                number,
            }),
        };
        let Some(machine) = on_card_mut(self.device.as_mut()) else {
            return Ok(Vec::new());
        };
        let mesh = &self.setup.mesh;
        let steady = self.watch.as_ref().and_then(|w| w.steady_speeds::<T>(mesh));
        let speeds = steady.map(|(speeds, _)| speeds);
        let samples = |name: &str| samples(machine, name);
        if has_host(self.pace, speeds.is_some(), &self.sources, samples) {
            return Ok(Vec::new());
        }
        time(machine, speeds.zip(asked))
    }
}

/// Does the host find the length of a step, or evaluate a source in it?
fn has_host(
    pace: Pace,
    has_speeds: bool,
    sources: &BTreeMap<String, Sampled>,
    samples: impl Fn(&str) -> bool,
) -> bool {
    let adapts = matches!(pace, Pace::Adaptive { .. });
    (adapts && !has_speeds) || by_host(sources, samples).next().is_some()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stencil_compiler::plan::BufferRole;

    use super::*;
    use crate::SystemDef;
    use crate::mesh::PointFunction;

    #[test]
    fn the_host_has_a_part_where_it_finds_a_length_or_evaluates_a_source() {
        let fixed = Pace::Fixed(0.1);
        let adaptive = Pace::Adaptive { number: 0.4, most: None, limit: None };
        let none = BTreeMap::new();
        let on_card = |name: &str| name == "formula";
        assert!(!has_host(fixed, false, &none, on_card));
        assert!(!has_host(adaptive, true, &none, on_card));
        assert!(has_host(adaptive, false, &none, on_card));
        let steady = Sampled::Steady(Arc::new(|_, _, _| 1.0));
        let with = |name: &str| {
            let function = PointFunction::new(|_, _, _, t| t);
            [(name.to_string(), Sampled::Unsteady(function))]
        };
        let mut sources = BTreeMap::from(with("formula"));
        sources.insert("bed".into(), steady);
        assert!(!has_host(fixed, false, &sources, on_card));
        sources.extend(with("closure"));
        assert!(has_host(fixed, false, &sources, on_card));
    }

    #[test]
    fn a_step_leaves_other_fields_and_counts() {
        let water = SystemDef::from_text(
            "water.pde",
            "pub system Water in 1d { conserved h: scalar where h > 0; conserved m: vector;
                flux h -> m; flux m -> outer(m, m/h) + 5*h^2*I; }
            scheme s for Water { reconstruct: plm; riemann: hll; time: ssprk2; }",
        );
        let water = water.unwrap();
        let run = Simulation::<f64>::builder(&water).cells([8, 1, 1]).dt(1e-3);
        let run = run.build().unwrap();
        let buffers = &run.device.fields().buffers;
        let count = buffers.find("repairs", BufferRole::Count).unwrap();
        assert_eq!(buffers.of_role(BufferRole::Count), [count]);
        let (mut changed, mut expected) = (buffers.changed(), buffers.of_role(BufferRole::Field));
        expected.push(count);
        changed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(changed, expected);
    }
}
