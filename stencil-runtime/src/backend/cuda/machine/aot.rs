//! Kernels of a run compiled ahead of it, on a machine that need not have a card.

use std::sync::Arc;

use stencil_compiler::compile::Device;
use stencil_compiler::emit::{Places, Source};
use stencil_compiler::schedule::Layout;

use crate::backend::cuda::card::limits::usual_device;
use crate::backend::cuda::compile::{Compiler, compile, in_parallel};
use crate::backend::cuda::kernels::builtin::{Form, own_sources, packing_source};
use crate::backend::cuda::kernels::clock;
use crate::backend::cuda::kernels::launch::{fitted, texts};
use crate::backend::cuda::machine::{On, watched_sources};
use crate::backend::cuda::memory::patches::{launched_over, over};
use crate::backend::cuda::{Cache, Card, CudaError, Unsteady};
use crate::field::Domain;
use crate::mesh::{Boundaries, Patches};
use crate::step::{Plans, Rules};
use crate::{Error, Number};

/// The cards that kernels are compiled for ahead of a run.
#[derive(Clone, Debug)]
pub(crate) struct Cards {
    architecture: String,
    pub(crate) device: Device,
    /// The version of CUDA that the driver speaks, if there is one.
    driver: Option<u32>,
}

impl Cards {
    /// Returns the usual cards of an architecture, by any driver.
    pub(crate) fn usual(architecture: &str) -> Self {
        let device = usual_device(architecture);
        Cards { architecture: architecture.to_string(), device, driver: None }
    }

    /// Returns cards like this one, by its driver.
    pub(crate) fn like(card: &Card) -> Self {
        let (architecture, device) = (card.architecture(), card.device());
        Cards { architecture, device, driver: Some(card.driver.0) }
    }
}

/// All kernels of a run, as texts for some cards.
pub(crate) struct Ahead {
    cards: Cards,
    /// Texts in groups that are compiled at once: each group has the places of one declaration.
    groups: Vec<(Vec<Source>, Arc<Places>)>,
}

/// One kernel of a run.
pub(crate) struct Piece {
    /// Its text.
    pub(crate) source: Source,
    places: Arc<Places>,
    cards: Cards,
}

impl Ahead {
    /// Compiles and keeps them. Returns the names of the cache's entries.
    pub(crate) fn compile(&self, cache: &Cache) -> Result<Vec<String>, CudaError> {
        let Cards { architecture, driver, .. } = &self.cards;
        let compiler = Compiler::new(*driver, Some(cache))?;
        let mut entries = Vec::new();
        for (sources, places) in &self.groups {
            let sources: Vec<&Source> = sources.iter().collect();
            compile(&sources, places, architecture, compiler)?;
            for source in sources {
                let entry = compiler.entry(source, places, architecture);
                cache.check(&entry)?;
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    /// Returns each kernel by itself.
    pub(crate) fn pieces(self) -> impl Iterator<Item = Piece> {
        let (cards, groups) = (self.cards, self.groups.into_iter());
        groups.flat_map(move |(sources, places)| {
            let cards = cards.clone();
            sources.into_iter().map(move |source| Piece {
                source,
                places: places.clone(),
                cards: cards.clone(),
            })
        })
    }
}

impl Piece {
    /// Compiles and keeps it.
    pub(crate) fn compile(&self, cache: &Cache) -> Result<(), CudaError> {
        let Cards { architecture, driver, .. } = &self.cards;
        let compiler = Compiler::new(*driver, Some(cache))?;
        compile(&[&self.source], &self.places, architecture, compiler).map(drop)
    }
}

/// Returns all texts that a run of some plans compiles on some cards, in some patches with these boundaries.
pub(crate) fn ahead<T: Number>(
    cards: &Cards,
    plans: Plans<'_>,
    (patches, boundaries): (&Patches, &Boundaries),
    (unsteady, rules): (&Unsteady, &Rules),
) -> Result<Ahead, Error> {
    let (over, across) = (over(patches), boundaries.reads_others());
    let device = cards.device;
    let layout = plans.single.1.layout;
    let mut own = own_sources::<T>(Form { patches: over, layout, across });
    if patches.devices > 1 && layout != Layout::Surface {
        own.push(packing_source::<T>(layout, across));
    }
    own.push(clock::source::<T>(rules)?);
    let mut groups = vec![(own, Arc::default())];
    for (problem, plan) in plans.all() {
        let plan = fitted(plan, problem.dimension, patches, &device);
        let texts = texts::<T>(problem, &plan, (launched_over(patches), &device))?;
        let sources = texts.into_iter().map(|t| t.source).collect();
        groups.push((sources, Arc::new(Places::of(problem))));
    }
    if let Some(source) = unsteady.source::<T>(over)? {
        groups.push((vec![source], Arc::default()));
    }
    if let Some(watched) = plans.watched {
        let on = On::new(plans.single.1, (*patches, boundaries.around(patches)), device);
        let sources = watched_sources::<T>(watched, &on)?;
        groups.push((sources, Arc::new(Places::of(&watched.algorithm))));
    }
    Ok(Ahead { cards: cards.clone(), groups })
}

/// Compiles all kernels of a run on all cores, and keeps them in a cache, where those find them that take them one after the
/// other. Failures are theirs to report.
pub(super) fn prepare<T: Number>(
    (card, cache): (&Card, Option<&Cache>),
    plans: Plans<'_>,
    (domain, unsteady, rules): (&Domain, &Unsteady, &Rules),
) {
    let Some(cache) = cache.filter(|cache| cache.sealed_by().is_none()) else {
        return;
    };
    let on = (&domain.patches, &domain.boundaries);
    if let Ok(ahead) = ahead::<T>(&Cards::like(card), plans, on, (unsteady, rules)) {
        let pieces: Vec<Piece> = ahead.pieces().collect();
        in_parallel(pieces.len(), |at| pieces[at].compile(cache));
    }
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use stencil_compiler::schedule;

    use super::*;
    use crate::backend::cuda::compile::nvrtc::tests::nvrtc;
    use crate::{Builder, Simulation, SystemDef};

    fn waves(order: u32) -> Builder<f32> {
        let text = format!(
            "pub system Waves in 2d {{
                field h: scalar; field v: vector; param c: real = 1;
                ddt(h) = -div(v); ddt(v) = -c^2 * grad(h);
                observe energy = sum(h^2); observe highest = max(h);
                cfl {{ advective: c }}
            }}
            scheme s for Waves {{ space: central<order = {order}>; time: ssprk2; }}"
        );
        let system = SystemDef::from_text("waves.pde", &text).unwrap();
        Simulation::builder(&system).cells([20, 10, 1]).cfl(0.3)
    }

    /// Fields side by side, or in surfaces: ghost cells, moves to the host, observations and launches take that
    /// layout.
    #[test]
    fn other_layouts_compile() {
        if nvrtc().is_none() {
            return;
        }
        let folder = env::temp_dir().join(format!("stencil-beside-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        let cache = Cache::at(&folder);
        let compiled = |layout: &str| {
            let schedule = format!("schedule layout {layout} kernel lexicographic");
            let schedule = schedule::text::parse(&schedule).unwrap();
            let entries = waves(2).schedule(schedule).compile_into(&cache, "sm_90");
            entries.unwrap()
        };
        let (soa, aos, surface) = (compiled("soa"), compiled("aos"), compiled("surface"));
        assert_eq!((soa.len(), aos.len(), surface.len()), (6, 6, 7));
        let same = |other: &[String]| soa.iter().filter(|entry| other.contains(entry)).count();
        // The clock alone does not depend on the layout of arrays, and there are arrays beside surfaces.
        assert_eq!((same(&aos), same(&surface)), (1, 2));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_was_compiled_ahead_needs_no_compiler() {
        let Some(nvrtc) = nvrtc() else {
            return;
        };
        let folder = env::temp_dir().join(format!("stencil-ahead-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        let entries = waves(2).compile_into(&Cache::at(&folder), "sm_90").unwrap();
        // Two texts for all systems, the clock, two substeps, and the observed functions with the speeds.
        assert_eq!(entries.len(), 6);
        let kept = || fs::read_dir(&folder).unwrap().count();
        assert_eq!(kept(), 6);

        let sealed = Cache::sealed(&folder, nvrtc.version());
        assert_eq!(waves(2).compile_into(&sealed, "sm_90").unwrap(), entries);
        let missing = [
            waves(4).compile_into(&sealed, "sm_90"),
            waves(2).compile_into(&sealed, "sm_80"),
            waves(2).compile_into(&Cache::sealed(&folder, (0, 1)), "sm_90"),
        ];
        for result in missing {
            let message = result.unwrap_err().to_string();
            assert!(message.contains("is not there"), "{message}");
        }
        for entry in &entries {
            fs::write(folder.join(entry), "no machine code").unwrap();
        }
        let message = waves(2).compile_into(&sealed, "sm_90").unwrap_err();
        assert!(message.to_string().contains("is damaged"), "{message}");
        assert_eq!(kept(), 6, "a sealed folder is written to");
        fs::remove_dir_all(&folder).unwrap();
    }
}
