//! Building of a simulation from its settings.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use rayon::ThreadPool;
use stencil_compiler::algorithm::Role;
use stencil_compiler::model::formula::Formula;
use stencil_compiler::plan::Plan;
use stencil_compiler::stability::{self, Axes};

use super::check::{check_cells, missing, number, params};
use super::engine::{Chosen, choose};
use super::scheduled::{On, Scheduled};
use super::stream::OnMesh;
use super::{Builder, Engine};
use crate::backend::cpu::{self, Checked};
use crate::backend::stream::Streamed;
use crate::backend::{Device, cuda};
use crate::field::Domain;
use crate::mesh::{
    Axis, Boundaries, Mesh, Patches, Sampled, Written, device_boxes, formula, open_faces,
};
use crate::simulation::watch::Watch;
use crate::simulation::{Pace, Parts, Picked, Picking, Setup, Timings, sampled};
use crate::step::{Plans, Rules, halo_of, kind};
use crate::transport::Ranks;
use crate::{Error, Instructions, Number, Schedule, Simulation, Source, SystemDef};

/// The part of the limit that automatic steps take.
pub(crate) const AUTO: f64 = 0.8;

/// Steps between two checks of values, if fields are kept to do these steps again.
const LOOK: usize = 32;

/// A run before memory is taken.
pub(super) struct Planned {
    pub(super) mesh: Mesh,
    pub(super) patches: Patches,
    pub(super) params: Vec<f64>,
    pub(super) boundaries: Boundaries,
    pub(super) scheduled: Scheduled,
    /// Ghost cells that are read outside of the plan.
    pub(super) halo: [usize; 3],
}

impl<T: Number> Builder<T> {
    /// Checks all settings, takes memory and starts the threads.
    ///
    /// # Errors
    /// The first setting that does not fit, with a way out.
    pub fn build(mut self) -> Result<Simulation<T>, Error> {
        let system = match self.system {
            Ok(ref system) => system.clone(),
            Err(error) => return Err(error),
        };
        let pace = self.pace(&system)?;
        let look_every = self.looks()?;
        let instructions = Checked::new(self.instructions.unwrap_or_else(Instructions::best))?;
        let system = self.compiled(open_faces::resolved(system, &self.boundaries), instructions)?;
        let cache = self.cache.clone().or_else(cuda::Cache::of_user);
        if self.ranks.count() > 1 && matches!(self.engine, Engine::Cuda | Engine::Auto) {
            self.card = self.ranks.number_on_host() % cuda::Card::count().unwrap_or(1).max(1);
        }
        let mut card = cuda::Opening::new(self.ordinals());
        if matches!(self.engine, Engine::Cuda | Engine::Auto) {
            card.begin(cache.as_ref());
        }
        let usual = self.planned(&system, (self.engine, &mut card), self.schedule.clone())?;
        let begun = Instant::now();
        let (pick, picking) = self.picked(&system, &usual, (&mut card, cache.as_ref()));
        let timings = Timings { pick: begun.elapsed(), ..Timings::default() };
        let Planned { mesh, patches, params, boundaries, scheduled, halo } = usual;
        let at_pace = |scheduled: Scheduled| scheduled.at_pace(&system, pace, &patches);
        let pick = pick.map(at_pace).transpose()?;
        let Scheduled { engine, schedule, plan, fused } = at_pace(scheduled)?;
        let is_free = self.schedule.is_none() && self.ranks.count() == 1;
        let streaming = self.streaming(pace, &patches);
        let given = in_words(&self.sources);
        let sources = sources(&system, &params, self.sources, &mesh)?;
        let dimension = system.model().dimension;
        let on = OnMesh { dimension, mesh: &mesh, boundaries: &boundaries, halo };
        let device_of = (engine, &mut card, cache.as_ref());
        let slabs = streaming.slabs::<T>(device_of, (&plan, &sources), on)?;
        // Picks and fused steps are made for the whole mesh.
        let (pick, picking, fused) = match slabs {
            Some(_) => (None, Picking::Over(Picked::Unwanted), None),
            None => (pick, picking, fused),
        };
        let is_open = is_free && slabs.is_none() && self.engine != Engine::Rows;
        let compiling = engine.compiling(is_open);
        let threads = self.threads.unwrap_or_else(|| busy_threads(mesh.cells, &self.ranks));
        let pool = Arc::new(pool(threads)?);
        let setup = Setup {
            boundaries: boundaries.words.clone(),
            sources: given,
            engine: engine.engine(),
            system,
            plan,
            slabs,
            fused,
            schedule,
            mesh,
            patches,
            params,
            instructions,
            cfl_axes: self.cfl_axes,
            unchecked: self.unchecked_step,
        };
        let (keep_last, ranks) = (self.keep_last, self.ranks);
        let carrier = self.carrier;
        let domain = Domain {
            mesh,
            patches,
            boundaries,
            halo,
            passes: false,
            copies: self.card_memory.is_none(),
            keep_last,
            look_every,
            ranks,
            carrier,
        };
        let start = |setup: &Setup, engine: Chosen| {
            let of = (engine, domain.clone(), &sources);
            device::<T>(setup, of, pool.clone(), (&mut card, cache.clone()))
        };
        let (setup, (device, watch), picking) = start_by(pick, (setup, engine), picking, start)?;
        let parts = Parts { device, watch, sources, pool, picking, compiling, timings };
        Simulation::assemble(setup, parts, pace)
    }

    /// Compiles all kernels of this run for cards of an architecture, such as `sm_90`, and keeps them; no card is
    /// needed. Returns the names of the cache's entries, for [`Cache::check`](cuda::Cache::check). A run with a
    /// [sealed](cuda::Cache::sealed) cache, on a machine with a card, compiles nothing.
    ///
    /// # Errors
    /// The first setting that does not fit; if there is no NVRTC, or the folder cannot be written.
    pub fn compile_into(
        self,
        cache: &cuda::Cache,
        architecture: &str,
    ) -> Result<Vec<String>, Error> {
        let ahead = self.ahead(&cuda::Cards::usual(architecture))?;
        ahead.compile(cache).map_err(Error::Cuda)
    }

    /// Returns all kernels of this run as texts for some cards.
    pub(crate) fn ahead(self, cards: &cuda::Cards) -> Result<cuda::Ahead, Error> {
        let system = match self.system {
            Ok(ref system) => system.clone(),
            Err(error) => return Err(error),
        };
        let system = open_faces::resolved(system, &self.boundaries);
        let Planned { scheduled, patches, mesh, params, boundaries, .. } = self.planned(
            &system,
            (Engine::Cuda, &mut cuda::Opening::ahead(cards.device.multiprocessor)),
            self.schedule.clone(),
        )?;
        let Scheduled { plan, fused, .. } = scheduled.among(&patches)?;
        let sources = sources(&system, &params, self.sources, &mesh)?;
        let unsteady = cuda::Unsteady::new(formulas(&sources, &plan), &boundaries, &params);
        let plans = Plans {
            single: (system.algorithm(), &plan),
            fused: fused.as_ref(),
            watched: system.observation(),
        };
        let rules = rules::<T>(&system, &params, &mesh, self.cfl_axes);
        let on = (&patches, &boundaries);
        cuda::ahead::<T>(cards, plans, on, (&unsteady, &rules))
    }

    /// Plans the run: its schedule, its plans and its rules.
    pub(super) fn planned(
        &self,
        system: &SystemDef,
        (engine, card): (Engine, &mut cuda::Opening),
        schedule: Option<Schedule>,
    ) -> Result<Planned, Error> {
        let mesh = self.mesh(system)?;
        let params = params(system, &self.params)?;
        let boundaries = Boundaries::new(system, &params, &self.boundaries, mesh.cells)?;
        let (engine, mut schedule) = choose::<T>(
            system,
            (engine, card),
            schedule,
            (boundaries.periodic, self.steps_alike(system, &params)),
            mesh.cells,
        )?;
        schedule.ghosts = self.ghosts.unwrap_or(schedule.ghosts);
        let patches = self.cut(&mesh, boundaries.periodic, matches!(engine, Chosen::Cuda))?;
        let observed = system.observation().map_or(Ok([0; 3]), halo_of)?;
        let halo = std::array::from_fn(|axis| observed[axis].max(self.halo[axis]));
        let on = self.on_patches(&boundaries, &patches, halo);
        let scheduled = Scheduled::new::<T>(system, (engine, schedule), on)?;
        Ok(Planned { mesh, patches, params, boundaries, scheduled, halo })
    }

    /// Returns the facts of a mesh that decide the plans of its run.
    pub(super) fn on_patches<'a>(
        &self,
        boundaries: &'a Boundaries,
        patches: &'a Patches,
        halo: [usize; 3],
    ) -> On<'a> {
        On { boundaries, patches, halo, processes: self.ranks.count() }
    }

    /// Cuts the mesh into the patches that were asked for, or into a box for each device.
    pub(super) fn cut(
        &self,
        mesh: &Mesh,
        periodic: [bool; 3],
        on_cards: bool,
    ) -> Result<Patches, Error> {
        let devices = self.devices.count(on_cards);
        let counts = match self.patches {
            Some(counts) => counts,
            // Ranks with cards have whole rows.
            None if on_cards && self.ranks.count() > 1 => {
                let [_, ny, nz] = mesh.cells;
                device_boxes([1, ny, nz], devices, periodic).map_err(|_| Error::RowsOfRanks)?
            }
            None => device_boxes(mesh.cells, devices, periodic)?,
        };
        Patches::new(mesh, counts, devices)
    }

    pub(super) fn mesh(&self, system: &SystemDef) -> Result<Mesh, Error> {
        let cells = check_cells(system, self.cells)?;
        for axis in Axis::ALL.into_iter().take(system.model().dimension) {
            let (extent, origin) = (self.extent[axis.index()], self.origin[axis.index()]);
            let what = format!("the extent along {axis}");
            number(what, extent, |v| v > 0.0, "give a positive length".into())?;
            let what = format!("the origin along {axis}");
            number(what, origin, |_| true, "give a coordinate".into())?;
        }
        let walled = self.boundaries.iter().any(|s| !s.boundary.is_periodic());
        Ok(Mesh {
            cells,
            extent: self.extent,
            origin: self.origin,
            centered: self.centered.unwrap_or(walled),
        })
    }

    /// Returns the steps between two checks of values on a card.
    fn looks(&self) -> Result<usize, Error> {
        let usual = if self.keep_last { LOOK } else { 1 };
        let steps = self.look_every.unwrap_or(usual);
        let what = "the steps between two looks at values".to_string();
        number(what, steps as f64, |v| v >= 1.0, "give at least one".into())?;
        Ok(steps)
    }

    fn pace(&self, system: &SystemDef) -> Result<Pace, Error> {
        let positive = |what: &str, value: f64| {
            let help = "give a positive number".to_string();
            number(what.into(), value, |v| v > 0.0, help)
        };
        if let Some(dt) = self.dt {
            positive("the time step", dt)?;
        }
        let limit = self.cfl_limit;
        if let Some(limit) = limit {
            let help = match (self.cfl, self.keep_last) {
                (None, _) => "add `.cfl(..)`, the Courant number that steps are to have",
                (_, false) => "leave out `.keep_last(false)`: a step is undone from what was kept",
                (Some(_), true) => "give a number that is no smaller than that of `.cfl(..)`",
            };
            let fits = |v: f64| self.keep_last && self.cfl.is_some_and(|cfl| v >= cfl);
            number("the limit of the cfl number".into(), limit, fits, help.into())?;
        }
        if self.auto && self.cfl.is_none() && !system.has_speeds() {
            return Ok(Pace::Auto { most: self.dt });
        }
        let auto = self.auto.then_some(AUTO);
        let Some(cfl) = self.cfl.or(auto) else {
            let help = "add `.dt(..)`, `.cfl(..)` or `.auto_step()`";
            return Ok(Pace::Fixed(self.dt.ok_or_else(|| missing("the time step", help))?));
        };
        positive("the cfl number", cfl)?;
        if !system.has_speeds() {
            return Err(missing(
                "the speed that time steps adapt to",
                "declare `cfl { advective: ..; }` in the system, or give `.auto_step()`, or `.dt(..)` without `.cfl(..)`",
            ));
        }
        check_scheme(system)?;
        Ok(Pace::Adaptive { number: cfl, most: self.dt, limit })
    }
}

/// Is there a step that is stable for the system's speeds?
fn check_scheme(system: &SystemDef) -> Result<(), Error> {
    let model = system.model();
    let shares = stability::speeds(model, [1.0; 3], Axes::Sum);
    match shares.iter().find(|share| !share.rate.is_finite()) {
        None => Ok(()),
        Some(share) => Err(Error::NoStableStep {
            term: format!("the {} speed", kind(share.power)),
            scheme: system.algorithm().scheme.clone(),
            stable: stability::integrators_for(model).join(", "),
        }),
    }
}

/// Makes the rules for the length of steps and the uniforms of substeps; limits of axes are combined by `axes`.
pub(crate) fn rules<T: Number>(
    system: &SystemDef,
    params: &[f64],
    mesh: &Mesh,
    axes: Axes,
) -> Rules {
    let shares = stability::speeds(system.model(), mesh.spacing(), axes);
    Rules::new(system.algorithm(), params, mesh.spacing(), (T::PRECISION, shares))
}

/// Most threads of a run, more than any machine has cores.
const MOST_THREADS: usize = 1024;

/// Cells that are worth a thread: with fewer, waking another thread takes longer than computing them.
const CELLS_A_THREAD: usize = 1024;

/// Returns as many threads as the cells of a rank keep busy, and no more than there are cores for it.
fn busy_threads(cells: [usize; 3], ranks: &Ranks) -> usize {
    let all = cells.into_iter().fold(1, usize::saturating_mul);
    let busy = all / ranks.count() / CELLS_A_THREAD;
    let cores = rayon::current_num_threads();
    let cores = if ranks.count() == 1 { cores } else { ranks.cores().unwrap_or(cores).min(cores) };
    busy.clamp(1, cores)
}

/// Starts threads; 0 means one on each core.
fn pool(threads: usize) -> Result<ThreadPool, Error> {
    if threads > MOST_THREADS {
        return Err(Error::Threads {
            threads,
            reason: format!(
                "there may be {MOST_THREADS} at most; leave it out for one on each core"
            ),
        });
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| Error::Threads { threads, reason: e.to_string() })
}

/// Returns given sources with their words, which a saved state has.
fn in_words(given: &BTreeMap<String, Source>) -> Vec<(String, String)> {
    given.iter().map(|(name, source)| (name.clone(), format!("{source:?}"))).collect()
}

/// Returns the values of all components of sources: given, or declared.
fn sources(
    system: &SystemDef,
    params: &[f64],
    mut given: BTreeMap<String, Source>,
    mesh: &Mesh,
) -> Result<BTreeMap<String, Sampled>, Error> {
    let states = || system.algorithm().states_of(Role::Given).map(|(_, s)| s.name.as_str());
    let mut sources = BTreeMap::new();
    for name in states() {
        let read = |written: &Written| {
            let what = format!("the source `{name}`");
            formula::source(system, params, &what, written)
        };
        if let Some(faces) = system.open_faces().filter(|faces| faces.marks == name) {
            sources.insert(name.to_string(), open_faces::marks(faces, mesh));
            continue;
        }
        let source = match given.remove(name) {
            Some(source) => sampled(name, source, mesh.cells, read)?,
            None => formula::default_source(system, params, name).ok_or_else(|| {
                missing(
                    &format!("the source `{name}`"),
                    &format!("it has no default; add `.source({name:?}, ..)`"),
                )
            })?,
        };
        sources.insert(name.to_string(), source);
    }
    match given.keys().next() {
        None => Ok(sources),
        Some(name) => Err(Error::unknown(system.name(), "component of a source", name, states())),
    }
}

/// Returns the sources that change with time and are formulas, of those that the plan reads.
fn formulas(sources: &BTreeMap<String, Sampled>, plan: &Plan) -> Vec<(String, Formula)> {
    let read = sources.iter().filter(|(name, _)| plan.buffer(name).is_some());
    let formula = |(name, source): (&String, &Sampled)| match source {
        Sampled::Unsteady(function) => Some((name.clone(), function.formula()?.clone())),
        Sampled::Steady(_) | Sampled::Values(_) => None,
    };
    read.filter_map(formula).collect()
}

/// The device of a run, and the quantities that it watches.
pub(crate) type Started<T> = (Box<dyn Device<T>>, Option<Watch>);

/// Starts a run by a pick. Starts it by the usual schedule if there is none, or if it fails: its arrays may take more memory.
fn start_by<T: Number>(
    pick: Option<Scheduled>,
    (usual, engine): (Setup, Chosen),
    picking: Picking<T>,
    mut start: impl FnMut(&Setup, Chosen) -> Result<Started<T>, Error>,
) -> Result<(Setup, Started<T>, Picking<T>), Error> {
    let picking = match pick.map(|pick| usual.by(pick)) {
        Some((setup, engine)) => match start(&setup, engine) {
            Ok(started) => return Ok((setup, started, picking)),
            Err(error) => Picking::failed(&error),
        },
        None => picking,
    };
    let started = start(&usual, engine)?;
    Ok((usual, started, picking))
}

/// Makes the device of the steps, with its arrays, and the quantities that it watches; cards are those of the numbers, with
/// their kernels from the cache.
pub(crate) fn device<T: Number>(
    setup: &Setup,
    (engine, domain, sources): (Chosen, Domain, &BTreeMap<String, Sampled>),
    pool: Arc<ThreadPool>,
    (card, cache): (&mut cuda::Opening, Option<cuda::Cache>),
) -> Result<Started<T>, Error> {
    let (algorithm, plan) = (setup.system.algorithm(), &setup.plan);
    let plans = Plans {
        single: (algorithm, plan),
        fused: setup.fused.as_ref(),
        watched: setup.system.observation(),
    };
    let rules = rules::<T>(&setup.system, &setup.params, &setup.mesh, setup.cfl_axes);
    let mut device: Box<dyn Device<T>> = match engine {
        Chosen::Cpu(choice) => {
            let new = |domain: Domain| {
                let (of, on) = ((algorithm, plan), (domain, rules.clone()));
                cpu::Machine::new(of, on, choice, setup.instructions, pool.clone())
            };
            match &setup.slabs {
                None => Box::new(new(domain)?),
                Some(slabs) => {
                    let slabs = (slabs.clone(), rules.clone());
                    Box::new(Streamed::new(plan, domain, slabs, pool.clone(), new)?)
                }
            }
        }
        Chosen::Cuda => {
            let cards = card.finish()?;
            let formulas = formulas(sources, plan);
            let unsteady = cuda::Unsteady::new(formulas, &domain.boundaries, &setup.params);
            let new = |cards: Vec<cuda::Opened>, domain: Domain| {
                let of = (domain, &unsteady, rules.clone());
                cuda::Machine::new(cards, cache.clone(), plans, of, pool.clone())
            };
            match &setup.slabs {
                None => Box::new(new(cards, domain)?),
                Some(slabs) => {
                    let slabs = (slabs.clone(), rules.clone());
                    let window = |domain: Domain| {
                        let card = cards.first().ok_or_else(|| Error::Bug("no card".into()))?;
                        cuda::CardWindow::new(new(vec![card.beside()?], domain)?)
                    };
                    Box::new(Streamed::new(plan, domain, slabs, pool.clone(), window)?)
                }
            }
        }
    };
    let of = (&setup.system, &setup.params[..]);
    let watch = setup.system.observation();
    let watch = watch.map(|o| Watch::new(o, of, device.as_mut(), setup.instructions));
    Ok((device, watch.transpose()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_any_machine_has_are_refused() {
        let error = pool(10_000).unwrap_err().to_string();
        assert!(error.contains("10000") && error.contains("1024"), "{error}");
        assert!(pool(2).is_ok());
    }
}
