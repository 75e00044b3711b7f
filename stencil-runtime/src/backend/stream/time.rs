//! The time of a pass: what crosses the bus runs beside the steps.

use stencil_compiler::plan::Plan;

use super::Slabs;

/// Rates of the bus between the host and a card, whose copies go both ways at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bus {
    /// Bytes a second to the card, without copies back.
    pub up: f64,
    /// Bytes a second to the host, without copies to the card.
    pub down: f64,
    /// Bytes a second to the card and back, at once.
    pub both: [f64; 2],
}

/// Rates of a device that slabs pass through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    pub(crate) bus: Bus,
    /// Bytes of a copy in its memory in a second, read and written.
    pub(crate) copy_bytes: f64,
}

/// Seconds of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PassTime {
    /// Copies to the device.
    pub up: f64,
    /// Copies back.
    pub down: f64,
    /// Steps, those in layers of neighbours included.
    pub steps: f64,
    /// The first copy to the device and the last one back, beside which nothing runs: where a pass waits for the one before.
    pub ends: f64,
}

impl PassTime {
    /// Returns the prediction for a pass through these slabs, of which so many bytes go up and come back. Passes whose steps
    /// adapt wait for each other.
    pub(crate) fn new(
        slabs: &Slabs,
        (rates, plan): (&Rates, &Plan),
        (layer, [up, down]): (usize, [usize; 2]),
        adapts: bool,
    ) -> Self {
        let [up_rate, down_rate] = rates.bus.both;
        let arrays = plan.launches.iter().map(|launch| launch.inputs.len() + launch.outputs.len());
        let moved = (arrays.sum::<usize>() * layer) as f64 / plan.time_steps as f64;
        let count = slabs.all.len();
        let computed = (count * slabs.window * slabs.steps) as f64;
        let (up, down) = (up as f64 / up_rate, down as f64 / down_rate);
        let ends = if adapts { (up + down) / count as f64 } else { 0.0 };
        PassTime { up, down, steps: computed * moved / rates.copy_bytes, ends }
    }

    /// Returns the seconds of the whole pass: of its longest part, and its ends.
    pub fn seconds(&self) -> f64 {
        self.up.max(self.down).max(self.steps) + self.ends
    }

    /// Returns the share of the time of copies in which steps run.
    pub fn hidden(&self) -> f64 {
        let bus = self.up.max(self.down);
        if bus > 0.0 { self.steps.min(bus) / (bus + self.ends) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_part_is_the_time_of_a_pass() {
        let time = PassTime { up: 2.0, down: 1.0, steps: 0.5, ends: 0.0 };
        assert_eq!((time.seconds(), time.hidden()), (2.0, 0.25));
        let steps = PassTime { steps: 3.0, ..time };
        assert_eq!((steps.seconds(), steps.hidden()), (3.0, 1.0));
        let adapting = PassTime { ends: 0.5, ..steps };
        assert_eq!((adapting.seconds(), adapting.hidden()), (3.5, 0.8));
        assert_eq!(PassTime::default().hidden(), 1.0);
    }
}
