//! Steps taken apart: how long each of their parts takes on a card.

use super::{Pace, Simulation};
use crate::backend::Machine;
use crate::backend::cuda::PartTime;
use crate::clock::Asked;
use crate::{Error, Number};

impl<T: Number> Simulation<T> {
    /// How long each part of a step takes on a card by itself, in their order. A step was done before. Parts are done many
    /// times; fields, and what was counted, are put back afterwards. There are none on the processor, where the host takes part in a step, where
    /// fields are not kept ([`keep_last`](crate::Builder::keep_last)), and where steps adapt that a schedule fuses.
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
    /// Those of a step.
    pub fn part_times(&mut self) -> Result<Vec<PartTime>, Error> {
        self.settle()?;
        let asked = match self.pace {
            Pace::Fixed(_) => None,
            Pace::Adaptive { number, most, .. } => Some(Asked {
                t: self.t,
                end: f64::INFINITY,
                most: most.unwrap_or(f64::INFINITY),
                number,
            }),
        };
        let Machine::Cuda(machine) = &mut self.machine else {
            return Ok(Vec::new());
        };
        let on_card = self
            .watch
            .as_ref()
            .map(|watch| watch.speeds_on_card(&self.setup.mesh));
        let speeds = on_card.flatten().map(|(speeds, _)| speeds);
        machine.part_times(speeds.zip(asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemDef;

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
        let patch = run.machine.patch();
        let count = patch.count("repairs").unwrap();
        assert_eq!(patch.counts_at(), [count]);
        let (mut changed, mut expected) = (patch.changed_at(), patch.fields_at());
        expected.push(count);
        changed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(changed, expected);
    }
}
