//! The card as a race sees it: schedules are compiled at once, timed one after the other, and
//! compared with the processor.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use stencil_compiler::cost::{self, Rates};
use stencil_compiler::schedule::Schedule;
use stencil_compiler::schedule::plans::Key;

use super::{Options, Subject};
use crate::backend::cuda::{BOXES, Cache, Calibration, Card, CudaError, Doubt, Launched, Sensors};
use crate::bench::{self, BURST, Sustained};
use crate::builder::Predicted;
use crate::{Builder, Engine, Error, Number, Simulation};

/// Cells of meshes on which bits are compared, by the number of dimensions: no tile divides them.
pub const ODD: [[usize; 3]; 3] = [[1037, 1, 1], [137, 53, 1], [37, 53, 29]];

/// Rest before a batch.
const REST: Duration = Duration::from_millis(20);

/// What a search asks of the machine that schedules are for.
pub(super) trait Track {
    /// What the schedule that is found is for.
    fn key(&self) -> Key;

    /// What the machine does in a second.
    fn rates(&self) -> Rates;

    /// What was measured of it and not believed.
    fn doubts(&self) -> Vec<Doubt>;

    /// A schedule carried as far as it goes without running, if it is legal and fits.
    fn predicted(&self, schedule: &Schedule) -> Option<Predicted>;

    /// Makes schedules ready, the first ones first and as many at once as there are cores; none is begun after
    /// this time but those. `done` hears how many are ready; returns how many were begun.
    fn prepare(
        &self,
        schedules: &[&Schedule],
        until: Duration,
        done: &mut (dyn FnMut(usize) + Send),
    ) -> usize;

    /// Seconds of a step in a batch of them; the schedule stays under this number until it leaves.
    fn time(&mut self, number: usize, schedule: &Schedule) -> Result<f64, Error>;

    /// The schedule of this number without a rest, while it is there.
    fn sustained(&mut self, number: usize) -> Result<Option<Sustained>, Error>;

    /// The kernels of the schedule of this number, while it is there.
    fn kernels(&self, number: usize) -> Vec<Launched>;

    /// The schedule of this number is not timed any more.
    fn leave(&mut self, number: usize);

    /// How many values of a small run are not those of the processor.
    fn differing(&self, schedule: &Schedule) -> Result<usize, Error>;

    /// Time since the search began.
    fn elapsed(&self) -> Duration;
}

/// A simulation that is timed again and again.
struct Runner<T> {
    simulation: Simulation<T>,
    /// Steps of a batch.
    steps: u64,
}

impl<T: Number> Runner<T> {
    /// Finds how many steps make a batch.
    fn new(mut simulation: Simulation<T>) -> Result<Self, Error> {
        let steps = bench::steps_of(&mut simulation, BURST)?;
        Ok(Runner { simulation, steps })
    }
}

/// A card, and the simulations that are on it.
pub(super) struct OnCard<'a, T: Number> {
    subject: Subject<'a, T>,
    options: &'a Options,
    card: Card,
    cache: Cache,
    calibration: Calibration,
    sensors: Option<Sensors>,
    begun: Instant,
    there: BTreeMap<usize, Runner<T>>,
    /// The last one that has left, while no other is there: its values are used again.
    spare: Option<Runner<T>>,
}

impl<'a, T: Number> OnCard<'a, T> {
    /// The card of the options.
    pub(super) fn new(subject: Subject<'a, T>, options: &'a Options) -> Result<Self, Error> {
        let begun = Instant::now();
        let card = options.find_card()?;
        let own = || Cache::at(std::env::temp_dir().join("stencil-kernels"));
        let cache = Cache::of_user().unwrap_or_else(own);
        let calibration = card.calibration(Some(&cache), false);
        Ok(OnCard {
            subject,
            options,
            sensors: Sensors::open(&card),
            card,
            cache,
            calibration: calibration.map_err(Error::Cuda)?,
            begun,
            there: BTreeMap::new(),
            spare: None,
        })
    }

    /// A run of a schedule on so many cells.
    fn run(&self, cells: [usize; 3], schedule: &Schedule) -> Builder<T> {
        let run = (self.subject.run)(cells).schedule(schedule.clone());
        run.engine(Engine::Cuda)
            .card(self.options.card)
            .kernels(self.cache.clone())
    }

    fn runner(&self, schedule: &Schedule) -> Result<Runner<T>, Error> {
        let mut simulation = self.run(self.options.cells, schedule).build()?;
        // The host takes longer to set values than a race takes to time a schedule.
        let other = self.there.values().chain(&self.spare).next();
        let taken = other.map(|other| simulation.take_fields(&other.simulation));
        if !taken.transpose()?.unwrap_or(false) {
            (self.subject.fill)(&mut simulation)?;
        }
        Runner::new(simulation)
    }
}

impl<T: Number> Track for OnCard<'_, T> {
    fn key(&self) -> Key {
        let system = self.subject.system;
        self.options.key_on(&self.card, system, T::PRECISION)
    }

    fn rates(&self) -> Rates {
        self.calibration.rates
    }

    fn doubts(&self) -> Vec<Doubt> {
        self.calibration.doubts.clone()
    }

    fn predicted(&self, schedule: &Schedule) -> Option<Predicted> {
        let run = (self.subject.run)(self.options.cells);
        let units = self.card.multiprocessors;
        let predicted = run.predicted(self.subject.system, schedule, units).ok()?;
        let fits = |cost: &cost::KernelCost| {
            let has_boxes = cost.work.boxes == 0 || self.card.capability >= BOXES;
            has_boxes && cost.shared_bytes <= self.card.shared_bytes
        };
        predicted.costs.iter().all(fits).then_some(predicted)
    }

    /// Compiles kernels into the cache. What fails here fails again when it is built, and is told then.
    fn prepare(
        &self,
        schedules: &[&Schedule],
        until: Duration,
        told: &mut (dyn FnMut(usize) + Send),
    ) -> usize {
        // Each of them compiles its own kernels at once.
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let at_once = cores.div_ceil(3).min(schedules.len());
        let (begun, done) = (Mutex::new(0), AtomicUsize::new(0));
        // Whoever is late comes after all that are in time.
        let next = || {
            let mut begun = begun.lock().unwrap_or_else(PoisonError::into_inner);
            let in_time = *begun < at_once || self.elapsed() < until;
            let schedule = schedules.get(*begun).filter(|_| in_time)?;
            *begun += 1;
            Some(schedule)
        };
        let architecture = self.card.architecture();
        let told = Mutex::new(told);
        let work = || {
            while let Some(schedule) = next() {
                let run = (self.subject.run)(self.options.cells).schedule((*schedule).clone());
                let _ = run.compile_into(&self.cache, &architecture);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                told.lock().unwrap_or_else(PoisonError::into_inner)(done);
            }
        };
        thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(work);
            }
        });
        begun.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where memory is short, all others have to go.
    fn time(&mut self, number: usize, schedule: &Schedule) -> Result<f64, Error> {
        if !self.there.contains_key(&number) {
            let mut runner = self.runner(schedule);
            let is_full = matches!(runner, Err(Error::Cuda(CudaError::Memory { .. })));
            if is_full && !(self.there.is_empty() && self.spare.is_none()) {
                self.there.clear();
                self.spare = None;
                runner = self.runner(schedule);
            }
            self.there.insert(number, runner?);
            self.spare = None;
        }
        let lost = || Error::Bug("a simulation that was built is gone".into());
        let runner = self.there.get_mut(&number).ok_or_else(lost)?;
        bench::burst(&mut runner.simulation, runner.steps, REST)
    }

    fn sustained(&mut self, number: usize) -> Result<Option<Sustained>, Error> {
        let Some(runner) = self.there.get_mut(&number) else {
            return Ok(None);
        };
        let sensors = self.sensors.as_ref();
        bench::sustained(&mut runner.simulation, sensors).map(Some)
    }

    fn kernels(&self, number: usize) -> Vec<Launched> {
        let runner = self.there.get(&number);
        runner.map_or_else(Vec::new, |runner| runner.simulation.launched())
    }

    fn leave(&mut self, number: usize) {
        let runner = self.there.remove(&number);
        if self.there.is_empty() {
            self.spare = runner.or(self.spare.take());
        }
    }

    fn differing(&self, schedule: &Schedule) -> Result<usize, Error> {
        let dimension = self.subject.system.algorithm().dimension;
        let cells = ODD[dimension.clamp(1, 3) - 1];
        let bits = |mut simulation: Simulation<T>, steps: u64| -> Result<Vec<u64>, Error> {
            (self.subject.fill)(&mut simulation)?;
            simulation.run(steps, |_, _| ())?;
            simulation.bits()
        };
        let ours = self.run(cells, schedule).build()?;
        // Fields change places after each group: two of them, and single steps.
        let steps = 2 * ours.steps_at_once() + 1;
        let ours = bits(ours, steps)?;
        let reference = bits(
            (self.subject.run)(cells).engine(Engine::Cpu).build()?,
            steps,
        )?;
        Ok(ours.iter().zip(&reference).filter(|(a, b)| a != b).count())
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}
