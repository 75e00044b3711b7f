//! Steps of a card, timed in two ways, as its clock depends on its work before. A *burst* is a short batch after a
//! rest, at the clock that the card reaches. *Sustained* steps follow each other for seconds, at the clock that it
//! holds below the power that it may draw.

use std::thread;
use std::time::{Duration, Instant};

use crate::backend::cuda::{Load, Sensors};
use crate::{Error, Number, Simulation};

/// Seconds of a burst: short enough for the card to keep its clock.
pub const BURST: f64 = 0.012;

/// Seconds of a batch of sustained steps: so many that the host's time between two does not count.
const BATCH: f64 = 0.1;

/// Seconds of steps before those that are timed: the clock follows power within tenths of one.
const BEFORE: f64 = 1.2;

/// Seconds of steps that are timed.
const TIMED: f64 = 0.8;

/// Seconds of steps during which the sensors are read, which takes time of its own.
const WATCHED: f64 = 0.4;

/// Times of sustained steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sustained {
    /// Seconds of a step in each batch, in their order.
    pub batches: Vec<f64>,
    /// Clock and power of the card right after these batches, while steps go on.
    pub load: Load,
}

impl Sustained {
    /// Returns the seconds of a step, over all batches.
    pub fn seconds(&self) -> f64 {
        self.batches.iter().sum::<f64>() / self.batches.len() as f64
    }
}

/// Returns the number of steps of about so many seconds: at least one, and whole groups of steps that are done at
/// once. Runs two batches: the first one touches memory for the first time, and captures parts of steps.
///
/// # Errors
/// If a step fails.
pub fn steps_of<T: Number>(simulation: &mut Simulation<T>, seconds: f64) -> Result<u64, Error> {
    let group = simulation.steps_at_once();
    batch(simulation, 2 * group)?;
    let step = batch(simulation, 2 * group)?;
    let steps = (seconds / step).ceil().clamp(1.0, 1e6) as u64;
    Ok(steps.next_multiple_of(group))
}

/// Returns the seconds of a step in a batch of so many, as in a long run: work of every few steps has its share.
///
/// # Errors
/// If a step fails.
pub fn batch<T: Number>(simulation: &mut Simulation<T>, steps: u64) -> Result<f64, Error> {
    let seconds = simulation.timed(steps)?;
    Ok(seconds.max(1e-9) / steps.max(1) as f64)
}

/// Returns the seconds of a step in a batch of so many after a rest.
///
/// # Errors
/// If a step fails.
pub fn burst<T: Number>(
    simulation: &mut Simulation<T>,
    steps: u64,
    rest: Duration,
) -> Result<f64, Error> {
    thread::sleep(rest);
    // The first ones wake the card up.
    simulation.run(simulation.steps_at_once(), |_, _| ())?;
    batch(simulation, steps)
}

/// Times steps for two and a half seconds, of which the last part counts; the sensors are read at the end.
///
/// # Errors
/// If a step fails.
pub fn sustained<T: Number>(
    simulation: &mut Simulation<T>,
    sensors: Option<&Sensors>,
) -> Result<Sustained, Error> {
    let steps = steps_of(simulation, BATCH)?;
    let mut for_seconds = |seconds: f64| -> Result<Vec<f64>, Error> {
        let begun = Instant::now();
        let mut batches = Vec::new();
        while batches.is_empty() || begun.elapsed().as_secs_f64() < seconds {
            batches.push(batch(simulation, steps)?);
        }
        Ok(batches)
    };
    for_seconds(BEFORE)?;
    let batches = for_seconds(TIMED)?;
    let load = match sensors {
        Some(sensors) => {
            let (run, load) = sensors.during(|| for_seconds(WATCHED));
            run?;
            load
        }
        None => Load::default(),
    };
    Ok(Sustained { batches, load })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemDef;

    #[test]
    fn steps_are_timed_in_both_ways() {
        let heat = SystemDef::from_text(
            "heat.pde",
            "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
             scheme s for Heat { space: central<order = 2>; time: euler; }",
        )
        .unwrap();
        let builder = Simulation::<f32>::builder(&heat).cells([64, 64, 1]);
        let mut simulation = builder.dt(1e-6).build().unwrap();
        let steps = steps_of(&mut simulation, 1e-3).unwrap();
        assert!(steps >= 1);
        let seconds = burst(&mut simulation, steps, Duration::from_millis(1)).unwrap();
        assert!(seconds > 0.0 && seconds.is_finite());
        let begun = Instant::now();
        let found = sustained(&mut simulation, None).unwrap();
        assert!(begun.elapsed().as_secs_f64() > BEFORE + TIMED);
        assert!(found.seconds() > 0.0 && found.seconds().is_finite());
        assert_eq!(found.load, Load::default());
        let (least, most) =
            found.batches.iter().fold((f64::MAX, 0.0_f64), |(a, b), s| (a.min(*s), b.max(*s)));
        assert!(least <= found.seconds() && found.seconds() <= most);
    }
}
