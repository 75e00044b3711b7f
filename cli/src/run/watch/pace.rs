//! The share of the time on the wall that watching may take.

use std::time::Duration;

/// The largest share of the time of a run that copies and drawings take.
pub(in crate::run) const SHARE: f64 = 0.03;

/// The least time between two shots: a page asks no more often.
const LEAST: Duration = Duration::from_millis(100);

/// Spaces shots so that what they take stays a share of the time between them. A time without shots is not made up for later,
/// so the share holds between any two shots.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct Pace {
    /// The time from which on the next shot is due.
    next: Duration,
    /// The time that all have taken.
    spent: Duration,
    shots: u64,
}

impl Pace {
    /// Is a shot due at this time since the run began?
    pub(in crate::run) fn is_due(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// Notes a shot that began and took so long.
    pub(in crate::run) fn shot(&mut self, begun: Duration, took: Duration) {
        self.shots += 1;
        self.spent += took;
        self.next = begun + took.div_f64(SHARE).max(LEAST);
    }

    /// Notes the drawing of the last shot, beside the steps.
    pub(in crate::run) fn drawn(&mut self, took: Duration) {
        self.spent += took;
        self.next += took.div_f64(SHARE);
    }

    /// Returns the time that all shots and drawings have taken.
    pub(in crate::run) fn spent(&self) -> Duration {
        self.spent
    }

    /// Returns the number of shots.
    pub(in crate::run) fn shots(&self) -> u64 {
        self.shots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps, copies and drawings of all lengths; a viewer that leaves for an hour and comes back.
    #[test]
    fn the_share_holds_between_any_two_shots() {
        let (mut pace, mut now, mut random) = (Pace::default(), Duration::ZERO, 7_u64);
        let mut micros = |most: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Duration::from_micros((random >> 33) % most)
        };
        let mut at_shots: Vec<(Duration, Duration)> = Vec::new();
        while pace.shots() < 300 {
            now += micros(20_000);
            if pace.shots() == 100 {
                now += Duration::from_secs(3600);
            }
            if !pace.is_due(now) {
                continue;
            }
            at_shots.push((now, pace.spent()));
            let (copy, drawing) = (micros(9_000), micros(60_000));
            pace.shot(now, copy);
            now += copy;
            pace.drawn(drawing);
        }
        for (at, (begun, spent)) in at_shots.iter().enumerate() {
            for (later, spent_then) in &at_shots[at + 1..] {
                let (part, whole) = (*spent_then - *spent, *later - *begun);
                assert!(part <= whole.mul_f64(SHARE * 1.000_001), "{part:?} of {whole:?}");
                assert!(whole >= LEAST);
            }
        }
        assert!(pace.spent() > Duration::from_secs(5));
    }
}
