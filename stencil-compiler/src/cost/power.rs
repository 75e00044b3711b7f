//! The share of its clock that a card holds in a long run: above a limit of power, multiprocessors slow down by an
//! amount that depends on the units that a step keeps busy.
//!
//! A burst after a rest runs at the full clock, for which times are predicted. Memory takes the same time at any clock.

/// The clock that is held, as a share of the one after a rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// The most that any step holds.
    pub most: f64,
    /// The load of multiprocessors at which they begin to slow down.
    pub spare: f64,
    /// The share of the clock that memory costs if it is busy all the time.
    pub memory: f64,
    /// The share of the clock that arithmetic costs if it is busy all the time.
    pub arithmetic: f64,
}

impl Power {
    /// No limit is known: all of the clock is held.
    pub const UNKNOWN: Self = Power { most: 1.0, spare: 0.0, memory: 0.0, arithmetic: 0.0 };

    /// The share that a step holds which keeps memory and arithmetic busy for these parts of its time.
    pub fn held(&self, memory: f64, arithmetic: f64) -> f64 {
        let busy = self.memory * memory + self.arithmetic * arithmetic;
        (1.0 + self.spare - busy).min(self.most)
    }

    /// Is nothing known of it?
    pub fn is_unknown(&self) -> bool {
        // The clock held by multiply-adds alone, which may have been measured, gives no limit.
        self.memory == 0.0 && self.arithmetic == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::{MODELS, model};

    #[test]
    fn what_computes_alone_holds_its_clock_and_memory_takes_of_it() {
        let power = MODELS[0].rates.power;
        assert_eq!((power.held(0.0, 1.0), power.held(0.3, 0.3)), (1.0, 1.0));
        let (less, more) = (power.held(0.6, 0.3), power.held(0.8, 0.3));
        assert!(more < less && less < 1.0, "{less} {more}");
        assert!(power.held(0.7, 0.4) < power.held(0.7, 0.2));
        // The clock that a card was seen to hold is the most.
        let slow = Power { most: 0.8, ..power };
        assert_eq!(slow.held(0.0, 1.0), 0.8);
    }

    #[test]
    fn a_card_that_nothing_is_known_of_holds_all() {
        let power = model("K40").unwrap().rates.power;
        assert!(power.is_unknown());
        assert_eq!(power.held(1.0, 1.0), 1.0);
        let calibrated = Power { most: 0.999, ..power };
        assert!(calibrated.is_unknown());
    }

    /// Rates without rests over those of bursts, as measured on an H200, with the parts of the time that memory and arithmetic
    /// take by the model, at the speed that was measured.
    const MEASURED: [(&str, f64, f64, f64); 13] = [
        ("Navier-Stokes, f32, 256 cells a side", 0.73, 0.36, 0.930),
        ("512", 0.71, 0.36, 0.933),
        ("f64, 256", 0.75, 0.37, 0.905),
        ("512", 0.71, 0.35, 0.923),
        ("composed, shared, f32", 0.62, 0.31, 0.908),
        ("MHD, f32, 256", 0.45, 0.38, 0.982),
        ("512", 0.49, 0.41, 0.937),
        ("f64, 256", 0.71, 0.43, 0.900),
        ("512", 0.70, 0.42, 0.922),
        ("heat of order 2, fused, f32", 0.54, 0.15, 0.984),
        ("f64", 0.60, 0.17, 0.966),
        ("order 6, f32", 0.79, 0.24, 0.907),
        ("f64", 0.78, 0.24, 0.930),
    ];

    #[test]
    fn what_was_measured_is_met() {
        let power = MODELS[0].rates.power;
        let mut squares = 0.0;
        for (what, memory, arithmetic, measured) in MEASURED {
            let held = power.held(memory, arithmetic);
            let clocked = (1.0 - memory * memory) / (held * held);
            let off = 1.0 / (memory * memory + clocked).sqrt() - measured;
            assert!(off.abs() < 0.03, "{what}: {off}");
            squares += off * off;
        }
        assert!((squares / MEASURED.len() as f64).sqrt() < 0.015, "{squares}");
    }
}
