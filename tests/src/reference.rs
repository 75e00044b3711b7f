//! Schedules on the kernel interpreter beside the oracle.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Compiled, Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::hash::fnv1a;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::schedule::{Schedule, text};
use stencil_compiler::search::presets;
use stencil_compiler::search::space::{Draws, Space};

use crate::{
    Case, OrPanic, differing, interpreted, oracle, row_engine, samples, takes, takes_in_turn,
};

/// The oracle's fields after some steps of a case.
pub struct Reference<'a, T> {
    algorithm: &'a Algorithm,
    case: Case,
    steps: usize,
    /// The values of each field.
    pub fields: Vec<Vec<T>>,
}

impl<'a, T: Real> Reference<'a, T> {
    /// Runs the default case on these cells.
    pub fn new(algorithm: &'a Algorithm, cells: [usize; 3], steps: usize) -> Self {
        Self::of(algorithm, Case::new(algorithm, cells), steps)
    }

    /// Runs a case.
    ///
    /// # Panics
    /// If a value is not finite.
    pub fn of(algorithm: &'a Algorithm, case: Case, steps: usize) -> Self {
        let fields = oracle::<T>(algorithm, &case, steps);
        let is_finite = fields.iter().flatten().all(|v| v.to_f64().is_finite());
        assert!(is_finite, "{} is unstable", algorithm.scheme);
        Self { algorithm, case, steps, fields }
    }

    /// Runs a schedule on a mesh whose axes are all wrapped if rows are whole copies.
    ///
    /// # Panics
    /// If the kernel interpreter finds a fault or other bits.
    pub fn agree(&self, schedule: &Schedule, seed: u64) {
        let axes = [self.case.cells[0].is_multiple_of(4); 3];
        self.agree_around(axes, schedule, seed);
    }

    /// Runs a schedule given as text.
    ///
    /// # Panics
    /// See [`agree`](Self::agree).
    pub fn agree_by(&self, schedule: &str, seed: u64) {
        self.agree(&text::parse(schedule).or_panic(), seed);
    }

    /// Runs a schedule on a mesh on which these axes are wrapped.
    ///
    /// # Panics
    /// See [`agree`](Self::agree).
    pub fn agree_around(&self, axes: [bool; 3], schedule: &Schedule, seed: u64) -> Compiled {
        let (algorithm, form) = (self.algorithm, text::print(schedule));
        let about = || format!("{} {} {seed} {axes:?}\n{form}", algorithm.scheme, T::NAME);
        let compiled = compile(algorithm, schedule, &Target::new(T::BYTES).around(axes))
            .unwrap_or_else(|e| panic!("{e}\n{}", about()));
        let found =
            interpreted::<T>(algorithm, &compiled, &self.case, self.steps, seed, Shadow::Full);
        let found = found.unwrap_or_else(|fault| panic!("{fault}\n{}", about()));
        assert_eq!(differing(&found, &self.fields), 0, "{}", about());
        compiled
    }

    /// Runs the row engine, all presets and some sampled schedules, for systems that no other precision has.
    ///
    /// # Panics
    /// See [`agree`](Self::agree).
    pub fn agree_by_all(&self, sampled: usize) {
        self.walk(sampled, takes);
    }

    /// Runs the row engine, all presets and some sampled schedules, for systems that both precisions have: see
    /// [`takes_in_turn`].
    ///
    /// # Panics
    /// See [`agree`](Self::agree).
    pub fn agree_in_turn(&self, sampled: usize) {
        self.walk(sampled, takes_in_turn::<T>);
    }

    fn walk(&self, sampled: usize, takes: fn(usize) -> bool) {
        let Self { algorithm, steps, .. } = *self;
        let rows = row_engine::<T>(algorithm, &self.case, steps);
        let name = format!("{} {}", algorithm.name, algorithm.scheme);
        assert_eq!(differing(&rows, &self.fields), 0, "the row engine: {name} {}", T::NAME);
        let number = fnv1a(name.as_bytes());
        let first = (number % 3) as usize;
        // Making schedules takes longer than running them: those of other turns are not made.
        let presets = presets::ALL.iter().enumerate();
        let presets = presets.filter(|(at, _)| takes(first + at));
        let presets = presets.map(|(_, preset)| preset.schedule(algorithm, T::PRECISION));
        let drawn = (0..samples(sampled)).filter(|at| takes(first + at));
        let space = Space::new(algorithm, T::BYTES);
        let drawn =
            drawn.filter_map(|at| space.sample(&mut Draws::new(number.wrapping_add(at as u64))));
        let mut known: Vec<Schedule> = Vec::new();
        for (seed, schedule) in presets.chain(drawn).enumerate() {
            let is_whole = steps.is_multiple_of(algorithm.steps_of(schedule.fuse));
            if is_whole && !known.contains(&schedule) {
                self.agree(&schedule, seed as u64);
                known.push(schedule);
            }
        }
    }
}
