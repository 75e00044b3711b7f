//! The speed of a card and of its links, measured once: the numbers that the performance model divides by.
//!
//! Two cards of one name differ, and so do their clocks under load. The measurements are kept in the cache of the
//! user, by card and driver.

mod bus;
mod graphs;
mod kept;
mod links;
mod probes;

use std::fmt;

use stencil_compiler::cost::{self, MODELS, Power, Rates};

use crate::backend::cuda::{Cache, Card, CudaError};

pub(super) use probes::timed;

/// Measurements of a card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Bytes of a copy in a second, read and written; the best of several.
    pub copy_bytes: f64,
    /// Cycles in a second of multiprocessors that multiply and add for 12 ms after a rest.
    pub clock: f64,
    /// The same after a second without a rest, in which the card has to keep below a power.
    pub held: f64,
    /// Multiply-adds on four bytes of a multiprocessor in a cycle.
    pub single: f64,
    /// Multiply-adds on eight bytes of a multiprocessor in a cycle.
    pub double: f64,
    /// Words of four bytes that the shared memory of a multiprocessor gives in a cycle.
    pub words: f64,
    /// Seconds between kernels of a captured graph, with the begin and the end of each.
    pub launch: f64,
    /// Seconds of a launch that fills few ghost cells, in such a graph.
    pub fill: f64,
}

/// The largest factor between a measured number and the number of the data sheet or the driver. A number further off
/// was disturbed.
const MOST_OFF: f64 = 3.0;

/// The same factor for numbers that neither tells: they are expected as another card has them.
const MOST_OFF_ANOTHER: f64 = 10.0;

/// A measured number that cannot be right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Doubt {
    /// The name of the number, and the unit.
    pub what: &'static str,
    /// The number.
    pub measured: f64,
    /// The number that is used in its place.
    pub expected: f64,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Doubt { what, measured, expected } = self;
        write!(
            f,
            "{what}, was measured as {measured:.3e}, which is too far from the {expected:.3e} that were expected and are \
             used; `stencil doctor --measure` measures again: nothing else should run on the card meanwhile"
        )
    }
}

/// The measurements of a card, and the rates that follow from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The numbers as measured.
    pub measured: Measured,
    /// The rates that predictions use.
    pub rates: Rates,
    /// Numbers that were rejected.
    pub doubts: Vec<Doubt>,
}

impl Calibration {
    /// Accepts the numbers that are near to a data sheet.
    fn new(measured: Measured, sheet: &Rates) -> Self {
        let mut doubts = Vec::new();
        let mut believed = |what, most_off: f64, measured: f64, expected: f64| {
            let off = measured / expected;
            // NaN is not near to anything.
            if (1.0 / most_off..=most_off).contains(&off) {
                return measured;
            }
            doubts.push(Doubt { what, measured, expected });
            expected
        };
        let mut near = |what, measured, expected| believed(what, MOST_OFF, measured, expected);
        let lanes = near(
            "arithmetic in f32, multiply-adds a multiprocessor and cycle",
            measured.single,
            sheet.lanes,
        );
        let double = near(
            "arithmetic in f64, multiply-adds a multiprocessor and cycle",
            measured.double,
            sheet.lanes / sheet.double,
        );
        let copy_bytes =
            near("the speed of a copy, bytes a second", measured.copy_bytes, sheet.copy_bytes);
        let clock = near("the clock, Hz", measured.clock, sheet.clock);
        let held = near("the clock held, Hz", measured.held, clock);
        let words =
            near("shared memory, words a multiprocessor and cycle", measured.words, sheet.words);
        let mut like_another =
            |what, measured, expected| believed(what, MOST_OFF_ANOTHER, measured, expected);
        let launch = like_another("the gap between kernels, s", measured.launch, sheet.launch);
        let fill = like_another("a fill of few ghost cells, s", measured.fill, sheet.fill);
        let rates = Rates {
            copy_bytes,
            clock,
            lanes,
            double: lanes / double,
            words,
            launch,
            fill,
            // No step holds a higher clock than multiply-adds alone.
            power: Power { most: (held / clock).min(sheet.power.most), ..sheet.power },
            ..*sheet
        };
        Calibration { measured, rates, doubts }
    }
}

impl Card {
    /// Returns the calibration of the card, from a cache or else measured now, which takes two seconds and is kept;
    /// `again` measures in any case. Nothing else should run on the card.
    ///
    /// # Errors
    /// If there is no compiler for its kernels, or the card fails.
    pub fn calibration(
        &self,
        cache: Option<&Cache>,
        again: bool,
    ) -> Result<Calibration, CudaError> {
        if !again && let Some(kept) = self.kept_calibration(cache)? {
            return Ok(kept);
        }
        let copy_bytes = 1e9 * self.copy_gb_s()?;
        let sheet = self.sheet(copy_bytes)?;
        let measured = probes::measure(self, cache, copy_bytes, &sheet)?;
        if let Some(cache) = cache {
            // A cache that cannot be written costs time, no more.
            let _ = kept::keep(cache, self, &measured);
        }
        Ok(Calibration::new(measured, &self.sheet(measured.copy_bytes)?))
    }

    /// Returns the calibration if the card was measured before.
    ///
    /// # Errors
    /// If the driver does not tell what the card should do.
    pub fn kept_calibration(
        &self,
        cache: Option<&Cache>,
    ) -> Result<Option<Calibration>, CudaError> {
        let Some(measured) = cache.and_then(|cache| kept::find(cache, self)) else {
            return Ok(None);
        };
        let sheet = self.sheet(measured.copy_bytes)?;
        Ok(Some(Calibration::new(measured, &sheet)))
    }

    /// Returns the expected rates, by the driver and by the compute capability. If the driver does not tell the speed
    /// of the memory, it is taken to be as fast as measured.
    fn sheet(&self, copy_bytes: f64) -> Result<Rates, CudaError> {
        Ok(Rates {
            copy_bytes: self.memory_bytes_per_s()?.unwrap_or(copy_bytes),
            clock: self.clock_hz()?,
            lanes: f64::from(self.lanes()),
            double: self.double(),
            power: cost::power(&self.name),
            multiprocessor: self.multiprocessor,
            card: cost::Card { units: self.multiprocessors, ..cost::Card::default() },
            // Numbers that are nearly the same on all cards.
            ..MODELS[0].rates
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Rates {
        MODELS[0].rates
    }

    fn measured() -> Measured {
        Measured {
            copy_bytes: 4.2e12,
            clock: 1.9e9,
            held: 1.7e9,
            single: 127.5,
            double: 63.5,
            words: 31.5,
            launch: 1.25e-6,
            fill: 7.5e-6,
        }
    }

    #[test]
    fn what_is_measured_is_used() {
        let found = Calibration::new(measured(), &sheet());
        let Rates {
            copy_bytes,
            clock,
            lanes,
            double,
            words,
            launch,
            fill,
            power,
            multiprocessor,
            card,
        } = found.rates;
        assert_eq!(
            (copy_bytes, clock, lanes, words, launch, fill),
            (4.2e12, 1.9e9, 127.5, 31.5, 1.25e-6, 7.5e-6)
        );
        assert!((double - 127.5 / 63.5).abs() < 1e-12);
        let sheet = sheet();
        assert!((power.most - 1.7 / 1.9).abs() < 1e-12);
        let most = sheet.power.most;
        assert_eq!(Power { most, ..power }, sheet.power);
        assert_eq!((multiprocessor, card), (sheet.multiprocessor, sheet.card));
        assert!(found.doubts.is_empty());
    }

    #[test]
    fn what_cannot_be_is_not_believed_and_told() {
        let wrong = Measured {
            copy_bytes: f64::NAN,
            clock: 0.0,
            held: f64::NAN,
            single: f64::INFINITY,
            double: -64.0,
            words: 32.0 * 3.1,
            launch: 1.5e-6 / 11.0,
            fill: -1e-7,
        };
        let found = Calibration::new(wrong, &sheet());
        assert_eq!((found.rates, found.doubts.len()), (sheet(), 8));
        let told: Vec<String> = found.doubts.iter().map(Doubt::to_string).collect();
        assert!(
            told[3].contains("the clock, Hz, was measured as 0.000e0")
                && told[3].contains("from the 1.980e9"),
            "{told:?}"
        );
        // Three times as much is still believed.
        let far = Measured {
            words: 96.0,
            clock: sheet().clock / 2.9,
            fill: sheet().fill / 9.0,
            ..measured()
        };
        assert!(Calibration::new(far, &sheet()).doubts.is_empty());
    }
}
