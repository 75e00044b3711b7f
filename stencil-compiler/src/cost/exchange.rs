//! The time of exchanges of ghost cells between devices, and the part of it that no computation hides.

use crate::plan::{Phase, Plan, Region, Step};

/// A link between two devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Bytes that it moves in a second, in one direction.
    pub bytes_per_s: f64,
    /// Seconds of the smallest message.
    pub latency_s: f64,
}

/// An exchange: the values that one patch gets from other devices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exchange {
    /// Their bytes.
    pub bytes: f64,
    /// Boxes of ghost cells, each of all buffers: faces, edges and corners.
    pub messages: usize,
}

impl Exchange {
    /// The exchange of this many buffers to a depth around a patch of `cells`, which has neighbours on other devices along
    /// the axes of `cut`.
    ///
    /// ```
    /// use stencil_compiler::cost::Exchange;
    ///
    /// // Faces of 8 x 8 cells at both ends of z, one cell deep.
    /// let exchange = Exchange::new(2, [1; 3], [8; 3], [false, false, true], 4);
    /// assert_eq!((exchange.bytes, exchange.messages), (2.0 * 2.0 * 4.0 * 10.0 * 10.0, 2));
    /// ```
    pub fn new(
        buffers: usize,
        depth: [u32; 3],
        cells: [usize; 3],
        cut: [bool; 3],
        value_bytes: usize,
    ) -> Self {
        let around = |axis: usize| cells[axis] + 2 * depth[axis] as usize;
        let is_cut = |axis: usize| cut[axis] && depth[axis] > 0;
        let own = |axis: usize| if is_cut(axis) { cells[axis] } else { around(axis) };
        let all = (0..3).map(around).product::<usize>();
        let ghosts = all - (0..3).map(own).product::<usize>();
        let sides = |axis: usize| if is_cut(axis) { 3 } else { 1 };
        Exchange {
            bytes: (buffers * ghosts * value_bytes) as f64,
            messages: (0..3).map(sides).product::<usize>() - 1,
        }
    }

    /// The exchanges that a plan among devices waits for, each beside the interior of a launch, or beside none.
    ///
    /// Exchanges that are waited for at once are one.
    pub fn of(
        plan: &Plan,
        cells: [usize; 3],
        cut: [bool; 3],
        value_bytes: usize,
    ) -> Vec<(Self, Option<usize>)> {
        let mut found: Vec<(Self, Option<usize>)> = Vec::new();
        let mut beside = None;
        for (at, step) in plan.steps.iter().enumerate() {
            match step {
                Step::Launch { launch, region: Region::Interior } => beside = Some(*launch),
                Step::Exchange { phase: Phase::Wait, buffers, depth } => {
                    let one = Exchange::new(buffers.len(), *depth, cells, cut, value_bytes);
                    let is_next = matches!(
                        at.checked_sub(1).map(|before| &plan.steps[before]),
                        Some(Step::Exchange { phase: Phase::Wait, .. })
                    );
                    match found.last_mut() {
                        Some((last, _)) if is_next => {
                            last.bytes += one.bytes;
                            last.messages += one.messages;
                        }
                        _ => found.push((one, beside)),
                    }
                }
                Step::Launch { .. } => beside = None,
                _ => {}
            }
        }
        found
    }

    /// Predicted seconds over a link, message by message.
    pub fn seconds(&self, link: &Link) -> f64 {
        self.messages as f64 * link.latency_s + self.bytes / link.bytes_per_s
    }

    /// The seconds for which the device waits, if an interior runs beside the exchange for so many seconds.
    pub fn exposed(&self, link: &Link, interior: f64) -> f64 {
        (self.seconds(link) - interior).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::text::parse;

    const LINK: Link = Link { bytes_per_s: 1e9, latency_s: 1e-6 };

    #[test]
    fn values_come_from_all_neighbours_that_a_cut_has() {
        let of = |depth, cut| Exchange::new(1, depth, [10; 3], cut, 8);
        let all = of([2; 3], [true; 3]);
        assert_eq!((all.bytes, all.messages), (8.0 * (14.0 * 14.0 * 14.0 - 1000.0), 26));
        // Ghost cells beside the uncut axis belong to the same faces.
        let two = of([2; 3], [true, true, false]);
        assert_eq!((two.bytes, two.messages), (8.0 * 14.0 * (14.0 * 14.0 - 100.0), 8));
        let flat = of([0, 2, 0], [true, true, true]);
        assert_eq!((flat.bytes, flat.messages), (8.0 * 400.0, 2));
        assert_eq!(of([2; 3], [false; 3]), Exchange::default());
    }

    #[test]
    fn what_an_interior_hides_is_not_waited_for() {
        let exchange = Exchange { bytes: 1e6, messages: 2 };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(exchange.seconds(&LINK), 1.002e-3));
        assert!(near(exchange.exposed(&LINK, 1e-3), 2e-6));
        assert_eq!(exchange.exposed(&LINK, 2e-3), 0.0);
    }

    #[test]
    fn exchanges_are_those_that_launches_wait_for() {
        let plan = parse(
            "plan overlap rim buffer q field halo [1, 0, 0] buffer q_new new halo [1, 0, 0] buffer r field halo [2, 0, 0]
             launch one substep 0 kernel 0 extend [0, 0, 0] { read q [1, 0, 0] read r [2, 0, 0] write q_new = q_1 kernel direct }
             uniforms fill [1, 0, 0] q fill [2, 0, 0] r run one swap q",
        );
        let plan = plan.unwrap_or_else(|e| panic!("{e}")).among_devices().unwrap();
        let [(exchange, beside)] = Exchange::of(&plan, [16, 1, 1], [true, false, false], 4)[..]
        else {
            panic!("{plan:?}");
        };
        assert_eq!((exchange.bytes, exchange.messages, beside), (4.0 * (2.0 + 4.0), 4, Some(0)));
    }
}
