//! The schedule that the performance model picks for a run on a card: found earlier and kept, or searched for in a thread
//! while the run goes on.
//!
//! Picks are kept in a plan file beside the compiled kernels. Their keys depend on all that a search does: the problem, its
//! mesh and boundaries, the rates of the card, and the version of this program.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::{fs, io, process, thread};

use rayon::prelude::*;
use stencil_compiler::algorithm::text::fingerprint;
use stencil_compiler::cost::{self, Link, MODELS, Rates, called};
use stencil_compiler::hash::fnv1a;
use stencil_compiler::search::plans::{Key, Plan, Plans};

use super::modelled::{self, Unseen};
use super::{Form, Options, Subject};
use crate::backend::cuda::{Cache, Card, Cards, Piece};
use crate::simulation::{Found, Wanted};
use crate::{Error, Number, Schedule, SystemDef};

/// The file of picks in the folder of a cache.
const FILE: &str = "picks";

/// Picks that a file keeps: the latest ones.
const MOST: usize = 256;

/// Does a thread of this process search?
static IS_BUSY: AtomicBool = AtomicBool::new(false);

/// The right of one thread to search, until it is dropped.
struct Turn;

impl Turn {
    fn take() -> Option<Turn> {
        (!IS_BUSY.swap(true, Ordering::AcqRel)).then_some(Turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        IS_BUSY.store(false, Ordering::Release);
    }
}

/// Returns the pick that an earlier run has kept.
pub(crate) fn kept<T: Number>(wanted: &Wanted<T>) -> Option<Schedule> {
    let (cache, key) = (wanted.cache.as_ref()?, key(wanted));
    let plans = read(cache).0.into_iter();
    plans.filter(|plan| plan.key == key).map(|plan| plan.schedule).next()
}

/// Picks a schedule, compiles its kernels into the cache, and keeps the pick.
///
/// # Errors
/// If no schedule is legal, or there is no compiler for its kernels.
pub(crate) fn find<T: Number>(wanted: &Wanted<T>) -> Result<Schedule, Error> {
    let card = &wanted.card;
    let schedule = search(wanted)?.schedule;
    if let Some(cache) = &wanted.cache {
        let run = wanted.run.again(&wanted.system).schedule(schedule.clone());
        let pieces: Vec<Piece> = run.ahead(&Cards::like(card))?.pieces().collect();
        pieces.into_par_iter().try_for_each(|piece| piece.compile(cache))?;
        keep(wanted, &schedule);
    }
    Ok(schedule)
}

/// Keeps the pick of a run for later ones.
pub(crate) fn keep<T: Number>(wanted: &Wanted<T>, schedule: &Schedule) {
    Slot::of(wanted).keep(schedule);
}

/// The place of the pick of a run in a cache; none without a cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slot(Option<(Cache, Key)>);

impl Slot {
    /// Returns the place of a run's pick.
    pub(crate) fn of<T: Number>(wanted: &Wanted<T>) -> Self {
        let key = || key(wanted);
        Slot(wanted.cache.clone().map(|cache| (cache, key())))
    }

    /// Keeps a schedule there.
    pub(crate) fn keep(&self, schedule: &Schedule) {
        if let Some((cache, key)) = &self.0 {
            let schedule = schedule.clone();
            let plan = Plan { key: key.clone(), chosen: None, rate: 0.0, schedule };
            // A cache that cannot be written costs time, no more.
            let _ = add(cache, plan);
        }
    }
}

/// Finds a pick in a thread on half of the cores. Nobody waits for the thread: a process may end before it. Gives the
/// subject back if another thread searches.
pub(crate) fn begin<T: Number>(
    wanted: Box<Wanted<T>>,
) -> Result<Arc<OnceLock<Found>>, Box<Wanted<T>>> {
    let Some(turn) = Turn::take() else {
        return Err(wanted);
    };
    let found = Arc::new(OnceLock::new());
    let publish = found.clone();
    let search = move || {
        let _turn = turn;
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let pool = rayon::ThreadPoolBuilder::new().num_threads((cores / 2).max(1)).build();
        let picked = match pool {
            Ok(pool) => pool.install(|| find(&wanted)).map_err(|error| reason(&error)),
            Err(error) => Err(error.to_string()),
        };
        let _ = publish.set(picked);
    };
    let begun = thread::Builder::new().name("pick".into()).spawn(search);
    if let Err(error) = begun {
        let _ = found.set(Err(error.to_string()));
    }
    Ok(found)
}

/// Returns the first line of an error.
pub(crate) fn reason(error: &Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}

/// Searches by the model of the card, without timing anything.
fn search<T: Number>(wanted: &Wanted<T>) -> Result<Plan, Error> {
    let forms = [Form { system: wanted.system.clone(), chosen: None }];
    let run = |system: &SystemDef, cells| wanted.run.again(system).cells(cells);
    let subject = Subject { forms: &forms, run: &run, fill: &|_| Ok(()) };
    let Card { name, capability, .. } = &wanted.card;
    let (rates, link) = (rates(wanted), link(wanted));
    let card = Unseen { name: name.clone(), capability: *capability, rates, link };
    modelled::pick(subject, &Options::on(wanted.cells), card)
}

/// Returns the rates of the card: as measured on it if that was done before, else those of the model with its name, or
/// else of the newest one, with its own number of multiprocessors.
fn rates<T: Number>(wanted: &Wanted<T>) -> Rates {
    let Wanted { card, cache, .. } = wanted;
    if let Ok(Some(kept)) = card.kept_calibration(cache.as_ref()) {
        return kept.rates;
    }
    let like = called(&card.name).unwrap_or(&MODELS[0]).rates;
    Rates {
        multiprocessor: card.multiprocessor,
        card: cost::Card { units: card.multiprocessors, ..like.card },
        ..like
    }
}

/// Returns the link of the card to others, as measured or by its name.
fn link<T: Number>(wanted: &Wanted<T>) -> Link {
    wanted.card.link(wanted.cache.as_ref())
}

/// Returns the key of a pick. The fingerprint is not of the problem alone: the mesh decides which schedules are legal, and the
/// rates of the card and its link which one is fastest.
fn key<T: Number>(wanted: &Wanted<T>) -> Key {
    let Wanted { system, cells, on, card, .. } = wanted;
    let version = env!("CARGO_PKG_VERSION");
    let problem = fingerprint(system.algorithm());
    let (rates, link) = (rates(wanted), link(wanted));
    let of = format!("{version} {problem:016x} {on} {rates:?} {link:?}");
    Key {
        system: system.name().to_string(),
        problem: fnv1a(of.as_bytes()),
        precision: T::PRECISION,
        cells: *cells,
        card: card.name.clone(),
    }
}

fn file(cache: &Cache) -> PathBuf {
    cache.folder().join(FILE)
}

/// Reads the picks of a cache; none if there is no file, or an unreadable one.
fn read(cache: &Cache) -> Plans {
    let text = fs::read_to_string(file(cache)).unwrap_or_default();
    Plans::parse(&text).unwrap_or_default()
}

/// Adds a pick to those of a cache; the file appears by rename.
fn add(cache: &Cache, plan: Plan) -> io::Result<()> {
    let mut plans = read(cache);
    plans.merge(plan);
    let excess = plans.0.len().saturating_sub(MOST);
    plans.0.drain(..excess);
    fs::create_dir_all(cache.folder())?;
    let path = file(cache);
    let part = path.with_extension(format!("{}.part", process::id()));
    let written = fs::write(&part, plans.print()).and_then(|()| fs::rename(&part, &path));
    if written.is_err() {
        // The reason is the one above.
        let _ = fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::time::Duration;

    use super::*;
    use crate::Simulation;
    use crate::backend::cuda::nvrtc::Nvrtc;

    /// A card that is not there.
    fn wanted(folder: &str) -> Wanted<f32> {
        let text = "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
             scheme s for Heat { space: central<order = 2>; time: euler; }";
        let system = SystemDef::from_text("heat.pde", text).unwrap();
        let folder = env::temp_dir().join(format!("stencil-{folder}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        Wanted {
            cells: [4096, 1, 1],
            on: "periodic".into(),
            run: Simulation::builder(&system).cells([4096, 1, 1]).dt(1e-9),
            system,
            card: Card {
                ordinal: 0,
                name: "Some Card".into(),
                uuid: "00ff".repeat(8),
                capability: (9, 0),
                bus: "0000:3b:00.0".into(),
                multiprocessors: 100,
                multiprocessor: MODELS[0].rates.multiprocessor,
                shared_bytes: 232_448,
                memory: 150 << 30,
                driver: (13, 0),
            },
            cache: Some(Cache::at(folder)),
        }
    }

    #[test]
    fn a_pick_is_kept_for_its_key_with_its_kernels() {
        let mut wanted = wanted("pick");
        assert_eq!(kept(&wanted), None);
        assert_eq!(rates(&wanted).card.units, 100);
        if Nvrtc::shared().is_err() {
            assert!(find(&wanted).is_err());
            return;
        }
        let cache = wanted.cache.clone().unwrap();
        let schedule = find(&wanted).unwrap();
        assert_eq!(kept(&wanted).as_ref(), Some(&schedule));
        // The kernels are there: a sealed cache has them all.
        let sealed = Cache::sealed(cache.folder(), Nvrtc::shared().unwrap().version());
        let run = wanted.run.again(&wanted.system).schedule(schedule);
        run.ahead(&Cards::like(&wanted.card)).unwrap().compile(&sealed).unwrap();
        wanted.on = "walls".into();
        assert_eq!(kept(&wanted), None);
        wanted.on = "periodic".into();
        wanted.card.name = "NVIDIA A100".into();
        assert_eq!(kept(&wanted), None);
        wanted.card.name = "Some Card".into();
        assert!(kept(&wanted).is_some());
        fs::write(file(&cache), "plans\nplan of nothing").unwrap();
        assert_eq!(kept(&wanted), None);
        fs::remove_dir_all(cache.folder()).unwrap();
    }

    #[test]
    fn one_thread_searches_and_leaves_what_it_found() {
        let turn = Turn::take().unwrap();
        let subject = begin(Box::new(wanted("turn"))).unwrap_err();
        drop(turn);
        let folder = subject.cache.clone().unwrap().folder().to_path_buf();
        let found = begin(subject).unwrap();
        while found.get().is_none() {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(found.get().unwrap().is_ok(), Nvrtc::shared().is_ok());
        let _ = fs::remove_dir_all(folder);
    }
}
