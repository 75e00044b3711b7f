//! The card as a race sees it: schedules are compiled at once, timed one after the other, and
//! compared with the processor.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use stencil_compiler::compile::Device;
use stencil_compiler::cost::{DeviceBox, KernelCost, Links, Rates, ScheduleCost};
use stencil_compiler::search::plans::Key;

use super::trial::Among;
use super::{Candidate, Options, Subject};
use crate::backend::cuda::{
    Ahead, BOXES, Cache, Calibration, Card, Cards, CudaError, Doubt, Launched, Piece, Sensors,
};
use crate::bench::{self, BURST, Sustained};
use crate::simulation::builder::Predictor;
use crate::{Builder, Engine, Error, Number, Simulation};

/// Cells of meshes on which bits are compared, by the number of dimensions: no tile divides them.
pub const ODD: [[usize; 3]; 3] = [[1037, 1, 1], [137, 53, 1], [37, 53, 29]];

/// Rest before a batch.
const REST: Duration = Duration::from_millis(20);

/// The machine that schedules are for, as a search uses it.
pub(super) trait Track {
    /// Returns the key of a plan for the discrete problem of this number.
    fn key(&self, form: usize) -> Key;

    /// Returns the rates of the machine.
    fn rates(&self) -> Rates;

    /// Returns its measurements that were rejected.
    fn doubts(&self) -> Vec<Doubt>;

    /// Lowers a schedule as far as is possible without running, if it is legal and fits.
    fn predicted(&self, candidate: &Candidate) -> Option<ScheduleCost>;

    /// Returns the box of a device and its links, if several share the run of this number.
    fn among(&self, _form: usize) -> Option<Among> {
        None
    }

    /// Is there a compiler for a card that is not there?
    fn compiles(&self) -> bool {
        false
    }

    /// Returns the registers of the kernels of a schedule, and bytes that they spill, as that compiler reports them.
    fn compiled(&self, _: &Candidate) -> Result<Vec<(u32, u32)>, Error> {
        Err(Error::Bug("there is no compiler without a card".into()))
    }

    /// Prepares schedules, the first ones first, until this time, or until as many are ready as a race needs. `done`
    /// is called with the number that are ready; returns these.
    fn prepare(
        &self,
        candidates: &[Candidate],
        until_and_needed: (Duration, usize),
        done: &mut (dyn FnMut(usize) + Send),
    ) -> BTreeSet<usize>;

    /// Returns the seconds of a step in a batch of them; the schedule keeps this number until it leaves.
    fn time(&mut self, number: usize, candidate: &Candidate) -> Result<f64, Error>;

    /// Times the schedule of this number without a rest, while it is there.
    fn sustained(&mut self, number: usize) -> Result<Option<Sustained>, Error>;

    /// Returns the kernels of the schedule of this number, while it is there.
    fn kernels(&self, number: usize) -> Vec<Launched>;

    /// Drops the schedule of this number, which is not timed any more.
    fn leave(&mut self, number: usize);

    /// Returns the number of values of a small run that differ from those of the processor by the same formulation.
    fn differing(&self, candidate: &Candidate) -> Result<usize, Error>;

    /// Returns the time since the search began.
    fn elapsed(&self) -> Duration;
}

impl<'a, T: Number> Subject<'a, T> {
    /// Returns the run of a formulation on so many cells.
    pub(super) fn run_of(&self, form: usize, cells: [usize; 3]) -> Builder<T> {
        (self.run)(&self.forms[form].system, cells)
    }

    /// Returns the predictor of a formulation on so many cells and a device; `None` if it has no such run.
    fn predictor(&self, form: usize, cells: [usize; 3], device: Device) -> Option<Predictor<'a>> {
        self.run_of(form, cells).predictor(&self.forms[form].system, device).ok()
    }

    /// Returns the predictor of each formulation.
    pub(super) fn predictors(&self, cells: [usize; 3], device: Device) -> Predictors<'a> {
        let forms = 0..self.forms.len();
        Predictors(forms.map(|form| self.predictor(form, cells, device)).collect())
    }
}

/// The predictor of each formulation; `None` for one that has no such run.
pub(super) struct Predictors<'a>(Vec<Option<Predictor<'a>>>);

impl Predictors<'_> {
    /// Lowers a candidate as far as is possible without running, if it is legal.
    pub(super) fn predicted(&self, candidate: &Candidate) -> Option<ScheduleCost> {
        let predictor = self.0.get(candidate.form)?.as_ref()?;
        predictor.predicted(&candidate.schedule).ok()
    }

    /// Returns the box of a device, if several share the run of this formulation.
    pub(super) fn device(&self, form: usize) -> Option<DeviceBox> {
        self.0.get(form)?.as_ref()?.device()
    }
}

/// A simulation that is timed again and again.
struct Runner<T> {
    simulation: Simulation<T>,
    /// Steps of a batch.
    steps: u64,
}

impl<T: Number> Runner<T> {
    /// Finds the number of steps of a batch.
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
    predictors: Predictors<'a>,
    sensors: Option<Sensors>,
    begun: Instant,
    there: BTreeMap<usize, Runner<T>>,
    /// The last one that has left, while there is no other: its values are used again.
    spare: Option<Runner<T>>,
}

impl<'a, T: Number> OnCard<'a, T> {
    /// Opens the card of the options.
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
            predictors: subject.predictors(options.cells, card.device()),
            card,
            cache,
            calibration: calibration.map_err(Error::Cuda)?,
            begun,
            there: BTreeMap::new(),
            spare: None,
        })
    }

    /// Returns a run of a schedule on so many cells.
    fn run(&self, cells: [usize; 3], candidate: &Candidate) -> Builder<T> {
        let run = self.subject.run_of(candidate.form, cells);
        let run = run.schedule(candidate.schedule.clone());
        run.engine(Engine::Cuda).card(self.options.card).kernels(self.cache.clone())
    }

    fn runner(&self, candidate: &Candidate) -> Result<Runner<T>, Error> {
        let mut simulation = self.run(self.options.cells, candidate).build()?;
        // Setting values on the host takes longer than timing a schedule.
        let other = self.there.values().chain(&self.spare).next();
        let taken = other.map(|other| simulation.take_fields(&other.simulation));
        if !taken.transpose()?.unwrap_or(false) {
            (self.subject.fill)(&mut simulation)?;
        }
        Runner::new(simulation)
    }
}

impl<T: Number> Track for OnCard<'_, T> {
    fn key(&self, form: usize) -> Key {
        let system = &self.subject.forms[form].system;
        self.options.key_on(&self.card.name, system, T::PRECISION)
    }

    fn rates(&self) -> Rates {
        self.calibration.rates
    }

    fn doubts(&self) -> Vec<Doubt> {
        self.calibration.doubts.clone()
    }

    fn among(&self, form: usize) -> Option<Among> {
        Some((self.predictors.device(form)?, Links::in_host(self.card.link(Some(&self.cache)))))
    }

    fn predicted(&self, candidate: &Candidate) -> Option<ScheduleCost> {
        let predicted = self.predictors.predicted(candidate)?;
        let fits = |cost: &KernelCost| {
            let has_boxes = cost.work.boxes == 0 || self.card.capability >= BOXES;
            has_boxes && cost.shared_bytes <= self.card.shared_bytes
        };
        predicted.kernels.iter().all(fits).then_some(predicted)
    }

    /// Compiles kernels into the cache. A failure here occurs again when the schedule is built, and is reported then.
    /// A compiler cannot be stopped: its last kernel goes on when the time is up, and nobody waits for it.
    fn prepare(
        &self,
        candidates: &[Candidate],
        (until, needed): (Duration, usize),
        told: &mut (dyn FnMut(usize) + Send),
    ) -> BTreeSet<usize> {
        let cards = Cards::like(&self.card);
        let texts = candidates.par_iter().map(|Candidate { form, schedule }| {
            let run = self.subject.run_of(*form, self.options.cells);
            run.schedule(schedule.clone()).ahead(&cards).ok()
        });
        let texts: Vec<Option<Ahead>> = texts.collect();
        let mut work = Work::new(texts, self.options.budget / SLOW);
        let jobs = Arc::new(Mutex::new(std::mem::take(&mut work.pieces)));
        let (done, heard) = mpsc::channel();
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            let (jobs, done, cache) = (jobs.clone(), done.clone(), self.cache.clone());
            thread::spawn(move || {
                while let Some((piece, of)) = next(&jobs) {
                    let _ = piece.compile(&cache);
                    if done.send(of).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        loop {
            let left = match work.ready.len() {
                0 if needed > 0 => Duration::MAX,
                few if few < needed => self.options.budget.saturating_sub(self.elapsed()),
                _ => until.saturating_sub(self.elapsed()),
            };
            let Ok(of) = heard.recv_timeout(left) else {
                return work.ready;
            };
            if work.is_done(&of) {
                told(work.ready.len());
            }
        }
    }

    /// Times a batch. If memory is short, all others leave but one, whose values are used again; then that one.
    fn time(&mut self, number: usize, candidate: &Candidate) -> Result<f64, Error> {
        if !self.there.contains_key(&number) {
            let mut runner = self.runner(candidate);
            let is_full =
                |of: &Result<_, Error>| matches!(of, Err(Error::Cuda(CudaError::Memory { .. })));
            if is_full(&runner) && self.there.len() > 1 {
                self.spare = self.there.pop_last().map(|(_, one)| one);
                self.there.clear();
                runner = self.runner(candidate);
            }
            if is_full(&runner) && !(self.there.is_empty() && self.spare.is_none()) {
                self.there.clear();
                self.spare = None;
                runner = self.runner(candidate);
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

    fn differing(&self, candidate: &Candidate) -> Result<usize, Error> {
        let form = &self.subject.forms[candidate.form];
        let dimension = form.system.algorithm().dimension;
        let cells = ODD[dimension.clamp(1, 3) - 1];
        let bits = |mut simulation: Simulation<T>, steps: u64| -> Result<Vec<u64>, Error> {
            (self.subject.fill)(&mut simulation)?;
            simulation.run(steps, |_, _| ())?;
            simulation.bits()
        };
        let ours = self.run(cells, candidate).build()?;
        // Fields change places after each group: two of them, and single steps.
        let steps = 2 * ours.steps_at_once() + 1;
        let ours = bits(ours, steps)?;
        let reference = self.subject.run_of(candidate.form, cells);
        let reference = bits(reference.engine(Engine::Cpu).build()?, steps)?;
        Ok(ours.iter().zip(&reference).filter(|(a, b)| a != b).count())
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }
}

/// A schedule waits for all others if one of its kernels is likely to take longer than this part of the budget to
/// compile.
const SLOW: u32 = 3;

/// Returns the time in which NVRTC is likely to compile a text of so many bytes: fitted to 104 kernels of eight systems,
/// which took 0.05 to 2.7 s.
fn compile_time(bytes: usize) -> Duration {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    Duration::from_millis(70) + Duration::from_nanos(3_600) * bytes
}

/// Returns the numbers of schedules, whose longest kernels have so many bytes, in the order in which they are compiled:
/// those whose kernel takes longer than `slow` are behind all others.
fn compile_order(longest: &[usize], slow: Duration) -> Vec<usize> {
    let mut order: Vec<usize> = (0..longest.len()).collect();
    order.sort_by_key(|number| compile_time(longest[*number]) > slow);
    order
}

/// The kernels to compile for some schedules, and the schedules that are ready.
struct Work {
    /// Kernels, each once, with its schedules: kernels of the first schedules first, and of one schedule the longest,
    /// which take longest. Schedules with slow kernels are behind the others.
    pieces: VecDeque<(Piece, Vec<usize>)>,
    /// Kernels of each schedule that are not compiled yet.
    left: Vec<usize>,
    /// Schedules without such kernels.
    ready: BTreeSet<usize>,
}

impl Work {
    /// Collects the kernels; those that take longer than `slow` are behind all others. Schedules without texts fail when
    /// they are built, with the reason.
    fn new(texts: Vec<Option<Ahead>>, slow: Duration) -> Self {
        let ready = BTreeSet::new();
        let mut work = Work { pieces: VecDeque::new(), left: vec![0; texts.len()], ready };
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let pieces = texts.into_iter().map(|text| {
            let pieces = text.map(Ahead::pieces);
            let mut pieces: Vec<Piece> = pieces.into_iter().flatten().collect();
            pieces.sort_by_key(|piece| std::cmp::Reverse(piece.source.text.len()));
            pieces.dedup_by(|a, b| a.source.text == b.source.text);
            pieces
        });
        let mut pieces: Vec<Vec<Piece>> = pieces.collect();
        // The longest one is the first.
        let longest = pieces.iter().map(|of| of.first().map_or(0, |one| one.source.text.len()));
        for number in compile_order(&longest.collect::<Vec<_>>(), slow) {
            let pieces = std::mem::take(&mut pieces[number]);
            work.left[number] = pieces.len();
            if pieces.is_empty() {
                work.ready.insert(number);
            }
            for piece in pieces {
                let text = piece.source.text.clone();
                let at = *known.entry(text).or_insert(work.pieces.len());
                match work.pieces.get_mut(at) {
                    Some((_, of)) => of.push(number),
                    None => work.pieces.push_back((piece, vec![number])),
                }
            }
        }
        work
    }

    /// Notes that a kernel of these schedules is compiled; returns whether this completes one of them.
    fn is_done(&mut self, of: &[usize]) -> bool {
        let before = self.ready.len();
        for number in of {
            self.left[*number] -= 1;
            if self.left[*number] == 0 {
                self.ready.insert(*number);
            }
        }
        self.ready.len() > before
    }
}

/// Returns the next job.
fn next<J>(jobs: &Mutex<VecDeque<J>>) -> Option<J> {
    let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
    jobs.pop_front()
}

#[cfg(test)]
mod tests {
    use stencil_compiler::schedule;

    use super::*;
    use crate::SystemDef;

    #[test]
    fn kernels_of_several_schedules_are_compiled_once() {
        let heat = SystemDef::from_text(
            "heat.pde",
            "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
             scheme s for Heat { space: central<order = 2>; time: euler; }",
        );
        let heat = heat.unwrap();
        let text = |strategy: &str| {
            let schedule = format!("schedule\nkernel {strategy}\n");
            let schedule = schedule::text::parse(&schedule).unwrap();
            let run = Simulation::<f64>::builder(&heat).cells([64, 64, 1]);
            Some(run.dt(1e-6).schedule(schedule).ahead(&Cards::usual("sm_90")).unwrap())
        };
        let each: Vec<usize> =
            ["direct", "march"].map(|s| text(s).unwrap().pieces().count()).into();
        let texts = || vec![text("direct"), None, text("march")];
        let mut work = Work::new(texts(), Duration::MAX);
        assert_eq!(work.ready, [1].into());
        assert_eq!([work.left[0], work.left[2]], each[..]);
        let pieces = std::mem::take(&mut work.pieces);
        assert!(pieces.len() < each[0] + each[1]);
        let own = pieces.iter().filter(|(_, of)| of.contains(&0)).count();
        for (at, (_, of)) in pieces.iter().enumerate() {
            assert!(at >= own || of[0] == 0, "the first ones are first");
            let last_of_first = at + 1 == own;
            let last = at + 1 == pieces.len();
            assert_eq!(work.is_done(of), last_of_first || last);
        }
        assert_eq!(work.ready, [0, 1, 2].into());
    }

    #[test]
    fn schedules_with_slow_kernels_are_compiled_last() {
        let longest = [1 << 20, 1 << 10, 1 << 24, 0];
        assert_eq!(compile_order(&longest, Duration::from_secs(15)), [0, 1, 3, 2]);
        assert_eq!(compile_order(&longest, Duration::from_secs(1)), [1, 3, 0, 2]);
        assert_eq!(compile_order(&longest, Duration::MAX), [0, 1, 2, 3]);
    }
}
