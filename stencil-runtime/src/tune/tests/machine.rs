//! The machine of the tests of searches.

use std::collections::BTreeMap;

use stencil_compiler::cost::{Links, usual_link};

use super::*;
use crate::simulation::builder::Predictor;
use crate::tune::trial::Among;

/// Predictions of the model by fingerprints of problems and numbers of devices: most searches predict the same schedules.
static OF_MODEL: Mutex<BTreeMap<(u64, usize, Schedule), Option<ScheduleCost>>> =
    Mutex::new(BTreeMap::new());

/// The time of a schedule on the machine, from the model's.
pub(super) type Behaves = fn(&Schedule, f64) -> Result<f64, CudaError>;

/// Registers and spilled bytes of each kernel of a schedule, if it compiles.
pub(super) type Compiler = fn(&Schedule) -> Option<(u32, u32)>;

pub(super) struct Machine<'a> {
    pub(super) forms: &'a [Form],
    pub(super) precision: Precision,
    /// Devices that share the mesh.
    pub(super) devices: usize,
    pub(super) behaves: Behaves,
    /// Schedules whose values are wrong.
    pub(super) is_wrong: fn(&Schedule) -> bool,
    pub(super) took: Duration,
    /// Time to predict a schedule.
    pub(super) predicts: Duration,
    /// Time of all predictions so far.
    pub(super) predicted: Mutex<Duration>,
    /// Time to compile a schedule.
    pub(super) compiles: Duration,
    /// Time of all compilations so far.
    pub(super) compiled: Mutex<Duration>,
    /// Registers and spilled bytes by a compiler that needs no card, if there is one.
    pub(super) compiler: Option<Compiler>,
    pub(super) there: BTreeSet<usize>,
    pub(super) prepared: Mutex<BTreeSet<Candidate>>,
}

impl Track for Machine<'_> {
    fn key(&self, form: usize) -> Key {
        Key {
            system: "Heat".into(),
            problem: 7 + form as u64,
            precision: self.precision,
            cells: CELLS,
            card: "made up".into(),
        }
    }

    fn rates(&self) -> Rates {
        RATES
    }

    fn doubts(&self) -> Vec<Doubt> {
        Vec::new()
    }

    fn among(&self, form: usize) -> Option<Among> {
        let links = Links::in_host(usual_link("H200").link);
        Some((self.predictor(&self.forms[form].system)?.device()?, links))
    }

    fn predicted(&self, candidate: &Candidate) -> Option<ScheduleCost> {
        *self.predicted.lock().unwrap() += self.predicts;
        self.of_model(candidate)
    }

    fn compiles(&self) -> bool {
        self.compiler.is_some()
    }

    fn compiled(&self, candidate: &Candidate) -> Result<Vec<(u32, u32)>, Error> {
        *self.compiled.lock().unwrap() += self.compiles;
        let is_new = self.prepared.lock().unwrap().insert(candidate.clone());
        assert!(is_new, "it was compiled before: {candidate:?}");
        let taken = self.compiler.and_then(|taken| taken(&candidate.schedule));
        let taken = taken.ok_or_else(|| Error::Bug("the compiler gives up".into()))?;
        let kernels = self.of_model(candidate).unwrap().kernels.len();
        Ok(vec![taken; kernels])
    }

    fn prepare(
        &self,
        candidates: &[Candidate],
        (until, needed): (Duration, usize),
        done: &mut (dyn FnMut(usize) + Send),
    ) -> BTreeSet<usize> {
        let in_time = |number: &usize| {
            *number < needed.min(1)
                || self.elapsed() + self.compiles * u32::try_from(*number).unwrap() < until
        };
        let begun = (0..candidates.len()).take_while(in_time).count();
        *self.compiled.lock().unwrap() += self.compiles * u32::try_from(begun).unwrap();
        let mut prepared = self.prepared.lock().unwrap();
        prepared.extend(candidates[..begun].iter().cloned());
        done(begun);
        (0..begun).collect()
    }

    fn time(&mut self, number: usize, candidate: &Candidate) -> Result<f64, Error> {
        let known = self.prepared.lock().unwrap().contains(candidate);
        assert!(known, "it was not compiled with the others: {candidate:?}");
        self.there.insert(number);
        self.took += Duration::from_millis(20);
        let predicted = self.of_model(candidate).unwrap();
        let on = (CELLS, self.among(candidate.form));
        let model = Trial::new(candidate.clone(), predicted, on, &RATES).predicted;
        Ok((self.behaves)(&candidate.schedule, model)?)
    }

    fn sustained(&mut self, number: usize) -> Result<Option<Sustained>, Error> {
        // A schedule that has left the race has left no simulation behind.
        let batches = vec![f64::from(u32::try_from(number).unwrap())];
        let load = Load::default();
        Ok(self.there.contains(&number).then_some(Sustained { batches, load }))
    }

    fn kernels(&self, _: usize) -> Vec<Launched> {
        Vec::new()
    }

    fn leave(&mut self, number: usize) {
        self.there.remove(&number);
    }

    fn differing(&self, candidate: &Candidate) -> Result<usize, Error> {
        Ok(usize::from((self.is_wrong)(&candidate.schedule)) * 5)
    }

    fn elapsed(&self) -> Duration {
        self.took + *self.predicted.lock().unwrap() + *self.compiled.lock().unwrap()
    }
}

impl<'a> Machine<'a> {
    fn predictor<'s>(&self, system: &'s SystemDef) -> Option<Predictor<'s>> {
        run(system).devices(self.devices).predictor(system, RATES.device()).ok()
    }

    /// Returns the model's prediction of a candidate, without the time for it.
    fn of_model(&self, Candidate { form, schedule }: &Candidate) -> Option<ScheduleCost> {
        let system = &self.forms[*form].system;
        let key = (fingerprint(system.algorithm()), self.devices, schedule.clone());
        if let Some(known) = OF_MODEL.lock().unwrap().get(&key) {
            return known.clone();
        }
        let predicted = self.predictor(system).and_then(|p| p.predicted(schedule).ok());
        OF_MODEL.lock().unwrap().insert(key, predicted.clone());
        predicted
    }

    pub(super) fn of(forms: &'a [Form], behaves: Behaves, is_wrong: fn(&Schedule) -> bool) -> Self {
        Machine {
            forms,
            precision: Precision::F32,
            devices: 1,
            behaves,
            is_wrong,
            took: Duration::ZERO,
            predicts: Duration::ZERO,
            predicted: Mutex::default(),
            compiles: Duration::ZERO,
            compiled: Mutex::default(),
            compiler: None,
            there: BTreeSet::new(),
            prepared: Mutex::default(),
        }
    }
}
