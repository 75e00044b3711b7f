//! The parts of a machine: the plans of a run, fitted to its mesh and its card, and the arrays for them.

use std::collections::BTreeMap;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::Device;
use stencil_compiler::plan::{Layers, Plan};
use stencil_compiler::schedule::{Layout, Overlap};

use super::buffer_places::{kept, places};
use super::memory_use::fits;
use super::observables::{self, On, deepest};
use super::tasks::nothing;
use crate::backend::cuda::card::Opened;
use crate::backend::cuda::card::limits::usual_device;
use crate::backend::cuda::kernels::builtin::{Form, Own, own};
use crate::backend::cuda::kernels::formulas::Unsteady;
use crate::backend::cuda::kernels::launch::{Ready, Text, fitted, halo, load, texts};
use crate::backend::cuda::kernels::sends::Sends;
use crate::backend::cuda::memory::patches::{MeshShape, launched_over, over};
use crate::backend::cuda::memory::{Memory, stride};
use crate::backend::cuda::{Cache, CudaError};
use crate::field::{Cut, Domain, Fields};
use crate::mesh::{Neighbours, Patches};
use crate::step::Plans;
use crate::{Error, Number};

/// The plans of a run as texts.
pub(super) struct Programs<'a> {
    /// Each plan with its problem, single steps first.
    all: Vec<(&'a Algorithm, Plan, Vec<Text>)>,
    /// Ghost cells that they and observed functions read.
    pub(super) halo: [usize; 3],
    /// Ghost cells that they would read if none of them read around the ends. The host has as many, so that it can
    /// evaluate all that it can in a run of its own.
    pub(super) reach: [usize; 3],
    /// The arrays and the card that kernels of observed functions are made for.
    pub(super) on: On,
}

impl<'a> Programs<'a> {
    /// Plans the kernels for a device.
    pub(super) fn new<T: Number>(
        plans: Plans<'a>,
        (domain, unsteady): (&Domain, &Unsteady),
        device: Device,
    ) -> Result<Self, Error> {
        let patches = &domain.patches;
        let mut all = Vec::new();
        for (problem, plan) in plans.all() {
            let plan = fitted(plan, problem.dimension, patches, &device);
            let texts = texts::<T>(problem, &plan, (launched_over(patches), &device))?;
            all.push((problem, plan, texts));
        }
        let around = domain.boundaries.around(patches);
        let on = On::new(plans.single.1, (*patches, around), device);
        let mut halos = vec![match plans.watched {
            Some(observation) => observables::halo::<T>(observation, &on)?,
            None => [0; 3],
        }];
        for (_, plan, texts) in &all {
            halos.extend([plan.halo().map(|n| n as usize), halo(texts)]);
        }
        let reach = all.iter().flat_map(|(_, plan, _)| &plan.launches);
        let reach = reach.flat_map(|launch| {
            let reads = launch.inputs.iter().map(|(_, read)| read);
            reads
                .map(|read| std::array::from_fn(|axis| (read[axis] + launch.extend[axis]) as usize))
        });
        let reach = deepest(reach);
        // The host's copies of given fields that the card evaluates have all their ghost cells, and so have layers that are
        // copied whole.
        if domain.passes || !unsteady.sources.is_empty() {
            halos.extend([domain.halo, reach]);
        }
        Ok(Programs { reach, all, halo: deepest(halos), on })
    }

    /// The plan of single steps.
    pub(super) fn single(&self) -> Result<&Plan, Error> {
        let (_, plan, _) = self.all.first().ok_or_else(nothing)?;
        Ok(plan)
    }

    /// The plan of fused substeps.
    pub(super) fn fused(&self) -> Option<&Plan> {
        self.all.get(1).map(|(_, plan, _)| plan)
    }
}

/// Arrays on a card, of zeros, and the kernels that are the same for all plans.
pub(super) struct Arrays<T> {
    /// The whole mesh on the host.
    pub(super) fields: Fields<T>,
    pub(super) cut: Cut,
    pub(super) memory: Memory,
    pub(super) shape: MeshShape,
    pub(super) kept: BTreeMap<usize, usize>,
    /// The kernels of each card.
    pub(super) own: Vec<Own>,
}

impl<T: Number> Arrays<T> {
    /// Allocates arrays with so many ghost cells on the cards, and on the host.
    pub(super) fn new(
        (cards, cache): (&[Opened], Option<&Cache>),
        plan: &Plan,
        domain: Domain,
        [halo, of_host]: [[usize; 3]; 2],
    ) -> Result<Self, Error> {
        let kept = match domain.keep_last {
            true => kept(plan),
            false => BTreeMap::new(),
        };
        let (mesh, patches, first) = (domain.mesh, domain.patches, domain.first_device());
        let one = Patches::one(patches.mesh);
        let fields = Fields::<T>::without_arrays(plan, domain, one, of_host)?;
        let cut = Cut::new(*fields.shape(), patches, halo, T::BYTES)?;
        fits::<T>((first, cards), plan, &cut, kept.len())?;
        let places = places(plan, kept.len());
        let arrays = places.iter().filter(|place| !place.surface).count();
        let shape = MeshShape::new(&cut, &mesh, arrays * stride::<T>(&cut.patch) / T::BYTES);
        let across = fields.domain.boundaries.reads_others();
        let form = Form { patches: over(&patches), layout: plan.layout, across };
        let own = cards.iter().map(|card| own::<T>(card, cache, form));
        let own: Vec<Own> = own.collect::<Result<_, _>>()?;
        let mut memory = Memory::new::<T>((first, cards), &cut.patch, places, patches)?;
        if plan.layout == Layout::Aos {
            memory.move_by::<T>(&cards[0], own[0].of_fields("move_values")?)?;
        }
        Ok(Arrays { fields, cut, memory, shape, kept, own })
    }

    /// Returns the cells that launches on a card store in the memory of others, if those of all plans and all cards can: patches
    /// are layers.
    pub(super) fn sends(&self, owner: usize, programs: &Programs<'_>) -> Option<Sends> {
        let (patches, domain) = (&self.cut.patches, &self.fields.domain);
        let boundaries = &domain.boundaries;
        let Layers { axis, .. } = boundaries.layers_to_store(patches, domain.ranks.count())?;
        let stored = programs.all.iter().map(|(_, plan, _)| {
            let stores = plan.overlap() == Overlap::Store;
            let depth = plan.layers_to_store().filter(|_| stores)?;
            Some(depth[axis] as usize)
        });
        let depth = stored.collect::<Option<Vec<_>>>()?.into_iter().max()?;
        let neighbours = Neighbours::new(patches, boundaries.periodic);
        let of = |owner| {
            let patch = patches.owned(owner).start;
            Sends::new((&neighbours, &self.shape), patch, (axis, depth))
        };
        let all: Option<Vec<Sends>> = (0..patches.devices).map(of).collect();
        all?.get(owner).copied()
    }

    /// Loads the kernels of all plans on a card, ready to be launched on its patches.
    pub(super) fn load(
        &self,
        card: (usize, &Opened),
        cache: Option<&Cache>,
        programs: &Programs<'_>,
    ) -> Result<Vec<Ready>, CudaError> {
        let mut launches = Vec::new();
        for (problem, plan, texts) in &programs.all {
            let on = (&self.shape, &self.memory, self.sends(card.0, programs));
            launches.extend(load(card, cache, (problem, plan), texts, on)?);
        }
        Ok(launches)
    }
}

/// Returns the facts that kernels are fitted to: kernels that were compiled ahead did not know the card.
pub(super) fn facts(card: &Opened, cache: Option<&Cache>) -> Device {
    match cache.and_then(Cache::sealed_by) {
        None => card.card.device(),
        Some(_) => usual_device(&card.card.architecture()),
    }
}

/// Returns the buffers of given fields that are formulas.
pub(super) fn sampled<T: Number>(
    fields: &Fields<T>,
    unsteady: &Unsteady,
) -> Result<Vec<usize>, Error> {
    let buffer = |name: &String| {
        let bug = || Error::Bug(format!("the source `{name}` has no array"));
        fields.buffers.given(name).ok_or_else(bug)
    };
    unsteady.sources.iter().map(|(name, _)| buffer(name)).collect()
}
