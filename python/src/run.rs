//! Runs: a simulation in one of two precisions, its values, and steps without Python's lock.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use ndarray::Array3;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use stencil_compiler::expr::real::Precision;
use stencil_report::run::{pictures, start};
use stencil_runtime::{Builder, Error, Number, Outcome, Quantity, Simulation, Source, SystemDef};

use crate::arrays::{Place, Values, View, taken};
use crate::errors::{Raised, Result};
use crate::pictures::Picture;
use crate::problem::Problem;
use crate::settings;
use crate::shared::SharedValues;
use crate::system::System;

/// A simulation in the precision of its problem.
#[derive(Debug)]
enum Any {
    Single(Simulation<f32>),
    Double(Simulation<f64>),
}

/// Evaluates an expression for a simulation of either precision.
macro_rules! of_each {
    ($any:expr, $simulation:ident => $value:expr) => {
        match $any {
            Any::Single($simulation) => $value,
            Any::Double($simulation) => $value,
        }
    };
}

/// A run of a problem.
#[pyclass(frozen, module = "stencil._stencil")]
#[derive(Debug)]
pub(crate) struct Run {
    any: Mutex<Any>,
    problem: stencil_runtime::problem::Problem,
    /// Each view has another one.
    lives: Arc<()>,
    /// The components whose values other libraries may change.
    lent: Lent,
}

/// Components whose values other libraries may change where they lie.
#[derive(Debug, Default)]
struct Lent {
    /// Each array of another library has another one.
    lives: Arc<()>,
    names: Mutex<BTreeSet<String>>,
}

impl Lent {
    /// Returns the number of arrays of other libraries.
    fn live(&self) -> usize {
        Arc::strong_count(&self.lives) - 1
    }

    /// Refuses to go on while arrays of other libraries live; then tells a run which values they may have changed.
    fn take_back(&self, any: &mut Any) -> Result<()> {
        if self.live() > 0 {
            let arrays = stencil_compiler::diag::counted(self.live(), "array");
            let text = format!(
                "{arrays} of `share(..)` may change values meanwhile; drop what other libraries made of it first (`del`), and itself"
            );
            return Err(Raised::new("ViewsLive", text));
        }
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let changed: Vec<&str> = names.iter().map(String::as_str).collect();
        if !changed.is_empty() {
            of_each!(any, simulation => simulation.shared_changed(&changed))?;
            names.clear();
        }
        Ok(())
    }
}

/// Choices of a run that change no bit.
#[derive(Clone, Copy, Debug)]
struct Choices<'a> {
    backend: &'a str,
    card: Option<usize>,
    schedule: Option<&'a str>,
    threads: Option<usize>,
}

/// Sets up the run of a problem.
fn builder<T: Number>(
    problem: &stencil_runtime::problem::Problem,
    choices: Choices<'_>,
    (sources, evaluates): (BTreeMap<String, Array3<f64>>, &[Quantity]),
) -> Result<Builder<T>> {
    let mut builder = problem.builder::<T>().engine(settings::engine(choices.backend)?);
    if let Some(card) = choices.card {
        builder = builder.card(card);
    }
    if let Some(threads) = choices.threads {
        builder = builder.threads(threads);
    }
    if let Some(wanted) = choices.schedule {
        let (algorithm, cells) = (problem.system.algorithm(), problem.mesh.cells);
        builder =
            builder.schedule(settings::schedule(wanted, algorithm, T::PRECISION, Some(cells))?);
    }
    for (name, values) in sources {
        builder = builder.source(name, Source::array(values));
    }
    Ok(evaluates.iter().fold(builder, Builder::evaluates))
}

/// Builds the run of a problem, with its initial values.
fn begun<T: Number>(
    problem: &stencil_runtime::problem::Problem,
    builder: Builder<T>,
) -> Result<Simulation<T>> {
    let mut simulation = builder.build()?;
    problem.initialize(&mut simulation)?;
    Ok(simulation)
}

/// Reads an expression of the language.
fn quantity(system: &SystemDef, text: &str) -> Result<Quantity> {
    Quantity::new(system, text).map_err(|errors| {
        let rendered = errors.render("expression", text);
        Raised::new("DeclarationError", rendered)
    })
}

/// Does steps until a time or a number of steps, or until so much time on the wall has passed.
fn advance<T: Number>(
    simulation: &mut Simulation<T>,
    (end, last): (Option<f64>, Option<u64>),
    slice: Duration,
) -> std::result::Result<bool, Error> {
    let begun = Instant::now();
    let first = simulation.step_count();
    let is_over = |step: u64| last.is_some_and(|last| step >= last);
    if is_over(first) {
        return Ok(true);
    }
    let flow = |step: u64, _: f64| match is_over(step) || begun.elapsed() >= slice {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let outcome = match (end, last) {
        (Some(end), None) => simulation.run_until(end, flow)?,
        (None, last) => simulation.run(last.unwrap_or(u64::MAX) - first, flow)?,
        (Some(end), Some(last)) => {
            // No more steps at once than are left.
            while simulation.t() < end && simulation.step_count() < last {
                simulation.step_some(last - simulation.step_count(), end)?;
                if begun.elapsed() >= slice {
                    break;
                }
            }
            // Waits for steps that a card has begun.
            simulation.observe()?;
            match simulation.t() < end {
                true => Outcome::Stopped,
                false => Outcome::Finished,
            }
        }
    };
    Ok(outcome == Outcome::Finished || is_over(simulation.step_count()))
}

impl Run {
    /// Returns the number of dimensions of the system.
    pub(crate) fn dimension(&self) -> usize {
        self.problem.system.model().dimension
    }

    /// Returns the simulation, to look at it.
    fn look(&self) -> Result<MutexGuard<'_, Any>> {
        self.any.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                Raised::new("Busy", "the run is doing steps in another thread; wait for them")
            }
            TryLockError::Poisoned(_) => Raised::bug("a call on this run has failed before"),
        })
    }

    /// Returns the simulation, to read values that no other library may change meanwhile.
    fn read(&self) -> Result<MutexGuard<'_, Any>> {
        let mut any = self.look()?;
        self.lent.take_back(&mut any)?;
        Ok(any)
    }

    /// Returns the simulation, to change it: no view may see that.
    fn change(&self) -> Result<MutexGuard<'_, Any>> {
        let any = self.read()?;
        self.unseen()?;
        Ok(any)
    }

    /// Refuses to go on while views live.
    fn unseen(&self) -> Result<()> {
        match Arc::strong_count(&self.lives) {
            1 => Ok(()),
            more => Err(Raised::new(
                "ViewsLive",
                format!(
                    "{} of `view(..)` would see values change; drop it first (`del`), or copy it",
                    stencil_compiler::diag::counted(more - 1, "array")
                ),
            )),
        }
    }
}

#[pymethods]
impl Run {
    /// Sets up a run. Sources are buffers of `f64`, `[z, y, x]`, by component.
    #[new]
    #[pyo3(signature = (problem, backend, card, schedule, threads, sources, evaluates))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        problem: &Problem,
        backend: &str,
        card: Option<usize>,
        schedule: Option<&str>,
        threads: Option<usize>,
        sources: Vec<(String, Bound<'_, PyAny>)>,
        evaluates: Vec<String>,
    ) -> Result<Self> {
        let mut problem = problem.0.clone();
        let cells = problem.mesh.cells;
        let (system, _) = stencil_report::schedules::settled(
            &problem.system,
            schedule.filter(|text| !text.contains('\n')),
            problem.precision,
            cells,
        )?;
        problem.system = system;
        let choices = Choices { backend, card, schedule, threads };
        let read = sources.iter().map(|(name, values)| {
            let array = taken::<f64>(name, values, cells)?;
            Ok((name.clone(), array))
        });
        let sources = read.collect::<Result<BTreeMap<_, _>>>()?;
        let evaluates = evaluates.iter().map(|text| quantity(&problem.system, text));
        let evaluates = evaluates.collect::<Result<Vec<_>>>()?;
        let with = (sources, evaluates.as_slice());
        let any = py.detach(|| match problem.precision {
            Precision::F32 => {
                Ok::<_, Raised>(Any::Single(begun(&problem, builder(&problem, choices, with)?)?))
            }
            Precision::F64 => Ok(Any::Double(begun(&problem, builder(&problem, choices, with)?)?)),
        })?;
        Ok(Run { any: Mutex::new(any), problem, lives: Arc::new(()), lent: Lent::default() })
    }

    /// Does steps until a time or a number of steps, or until so many seconds have passed; returns whether all are done.
    #[pyo3(signature = (end, last, seconds))]
    fn advance(
        &self,
        py: Python<'_>,
        end: Option<f64>,
        last: Option<u64>,
        seconds: f64,
    ) -> Result<bool> {
        let slice = Duration::try_from_secs_f64(seconds).map_err(Raised::setting)?;
        let mut any = self.change()?;
        let any = &mut *any;
        Ok(py.detach(|| of_each!(any, simulation => advance(simulation, (end, last), slice)))?)
    }

    /// The time.
    #[getter]
    fn t(&self) -> Result<f64> {
        Ok(of_each!(&*self.look()?, simulation => simulation.t()))
    }

    /// The number of steps done.
    #[getter]
    fn step(&self) -> Result<u64> {
        Ok(of_each!(&*self.look()?, simulation => simulation.step_count()))
    }

    /// The length of a step: the fixed one, or the last one if steps adapt.
    #[getter]
    fn dt(&self) -> Result<f64> {
        Ok(of_each!(&*self.look()?, simulation => simulation.dt()))
    }

    /// Changes the length of all steps from now on.
    #[setter]
    fn set_dt(&self, dt: f64) -> Result<()> {
        Ok(of_each!(&mut *self.change()?, simulation => simulation.set_dt(dt))?)
    }

    /// The engine that was chosen: `compiled`, `rows` or `cuda`.
    #[getter]
    fn engine(&self) -> Result<&'static str> {
        Ok(of_each!(&*self.look()?, simulation => simulation.engine().name()))
    }

    /// The name of the card, if one runs it.
    #[getter]
    fn card(&self) -> Result<Option<String>> {
        let any = self.look()?;
        Ok(of_each!(&*any, simulation => simulation.card().map(|card| card.name.clone())))
    }

    /// Warnings about the precision.
    #[getter]
    fn remarks(&self) -> Result<Vec<String>> {
        Ok(of_each!(&*self.look()?, simulation => simulation.remarks()))
    }

    /// The system, as it is run.
    #[getter]
    fn system(&self) -> System {
        System(self.problem.system.clone())
    }

    /// The problem that is run.
    #[getter]
    fn problem(&self) -> Problem {
        Problem(self.problem.clone())
    }

    /// The bytes of all arrays, ghost cells included.
    #[getter]
    fn nbytes(&self) -> Result<usize> {
        Ok(of_each!(&*self.look()?, simulation => simulation.bytes()))
    }

    /// The boundaries in words.
    #[getter]
    fn boundaries(&self) -> Result<Vec<String>> {
        Ok(of_each!(&*self.look()?, simulation => simulation.boundaries().to_vec()))
    }

    /// The text of the schedule of the steps.
    #[getter]
    fn schedule(&self) -> Result<String> {
        let any = self.look()?;
        let schedule = of_each!(&*any, simulation => simulation.schedule());
        Ok(stencil_compiler::schedule::text::print(schedule))
    }

    /// Goes on by another schedule: a preset, a file or a text. No bit of a result changes.
    fn reschedule(&self, py: Python<'_>, wanted: &str) -> Result<()> {
        let (algorithm, cells) = (self.problem.system.algorithm(), self.problem.mesh.cells);
        let precision = self.problem.precision;
        let schedule = settings::schedule(wanted, algorithm, precision, Some(cells))?;
        let mut any = self.change()?;
        let any = &mut *any;
        Ok(py.detach(|| of_each!(any, simulation => simulation.reschedule(&schedule)))?)
    }

    /// Values of a component where the run has them.
    fn view(slf: &Bound<'_, Self>, name: &str) -> Result<View> {
        let run = slf.get();
        let any = run.read()?;
        let place = of_each!(&*any, simulation => Place::of(&simulation.field(name)?));
        Ok(View::new(place, slf.clone().unbind(), run.lives.clone()))
    }

    /// Values of a component where the run has them, for other libraries, which may change them.
    fn share(slf: &Bound<'_, Self>, name: &str) -> Result<SharedValues> {
        let run = slf.get();
        let mut any = run.look()?;
        run.unseen()?;
        // Those that were changed before are known to be so before more are lent.
        if run.lent.live() == 0 {
            run.lent.take_back(&mut any)?;
        }
        let shared = of_each!(&mut *any, simulation => simulation.share(name)?);
        run.lent.names.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_string());
        Ok(SharedValues::new(shared, slf.clone().unbind(), run.lent.lives.clone()))
    }

    /// Sets a component from a buffer in the precision of the run, `[z, y, x]`.
    fn set_values(&self, py: Python<'_>, name: &str, values: &Bound<'_, PyAny>) -> Result<()> {
        let cells = self.problem.mesh.cells;
        match &mut *self.change()? {
            Any::Single(simulation) => {
                let values = taken::<f32>(name, values, cells)?;
                py.detach(|| simulation.set_array(name, values.view()))?;
            }
            Any::Double(simulation) => {
                let values = taken::<f64>(name, values, cells)?;
                py.detach(|| simulation.set_array(name, values.view()))?;
            }
        }
        Ok(())
    }

    /// Sets a component from a formula of x, y, z, the parameters and t.
    fn set_text(&self, py: Python<'_>, name: &str, formula: &str) -> Result<()> {
        let mut any = self.change()?;
        let any = &mut *any;
        Ok(py.detach(|| of_each!(any, simulation => simulation.set_text(name, formula)))?)
    }

    /// Evaluates an expression of the language in all cells.
    fn evaluate(&self, py: Python<'_>, expression: &str) -> Result<Values> {
        let quantity = quantity(&self.problem.system, expression)?;
        let mut any = self.change()?;
        let any = &mut *any;
        let values = py.detach(|| of_each!(any, simulation => simulation.evaluate(&quantity)))?;
        Ok(Values::new(values))
    }

    /// The observables of the system at this time.
    fn observe(&self, py: Python<'_>) -> Result<BTreeMap<String, f64>> {
        let mut any = self.change()?;
        let any = &mut *any;
        Ok(py.detach(|| of_each!(any, simulation => simulation.observe()))?)
    }

    /// The number of repairs of the flux through the upper faces of each cell; none if the scheme repairs nothing.
    fn repairs(&self, py: Python<'_>) -> Result<Option<Values>> {
        let any = self.read()?;
        let any = &*any;
        let counts = py.detach(|| of_each!(any, simulation => simulation.repairs()))?;
        Ok(counts.map(|counts| Values::new(counts.mapv(|count| count as f64))))
    }

    /// Norms of the errors against the exact solution of the problem: mean, root of the mean square, largest.
    fn errors(&self, py: Python<'_>) -> Result<BTreeMap<String, [f64; 3]>> {
        let any = self.read()?;
        let any = &*any;
        let norms = py.detach(|| of_each!(any, simulation => self.problem.errors(simulation)))?;
        let three = |norms: stencil_runtime::problem::Norms| [norms.l1, norms.l2, norms.linf];
        Ok(norms.into_iter().map(|(name, norms)| (name, three(norms))).collect())
    }

    /// The bits of all components and observables. They are the same for the same problem on any engine.
    fn bits<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyBytes>> {
        let mut any = self.change()?;
        let any = &mut *any;
        let bits = py.detach(|| of_each!(any, simulation => simulation.bits()))?;
        let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the state, which a run can go on from.
    fn save(&self, py: Python<'_>, path: &str) -> Result<()> {
        let any = self.read()?;
        let any = &*any;
        let save = || of_each!(any, simulation => self.problem.save_npz(simulation, path));
        Ok(py.detach(save)?)
    }

    /// Goes on from a state; returns the settings that differ from those of the run that wrote it.
    fn restore(&self, py: Python<'_>, path: &str) -> Result<Vec<String>> {
        let mut any = self.change()?;
        let any = &mut *any;
        py.detach(|| of_each!(any, simulation => restored(&self.problem, simulation, path)))
    }

    /// The pictures of a problem with the values of this run, with their names.
    fn pictures(&self, py: Python<'_>, problem: &Problem) -> Result<Vec<(String, Picture)>> {
        let mut any = self.change()?;
        let any = &mut *any;
        let drawn = py.detach(|| of_each!(any, simulation => pictures(&problem.0, simulation)))?;
        Ok(drawn.into_iter().map(|(name, picture)| (name, Picture(picture))).collect())
    }

    /// The equations as understood, the settings, and the plan of a step.
    fn summary(&self) -> Result<String> {
        Ok(of_each!(&*self.look()?, simulation => start((&self.problem, None), simulation)))
    }
}

/// Restores a state. Changes are named in the words of the problem file, if the state has them.
fn restored<T: Number>(
    problem: &stencil_runtime::problem::Problem,
    simulation: &mut Simulation<T>,
    path: &str,
) -> Result<Vec<String>> {
    let path = Path::new(path);
    let restored = simulation.restore(path)?;
    Ok(problem.changed_since(simulation, path)?.unwrap_or(restored.changed))
}
