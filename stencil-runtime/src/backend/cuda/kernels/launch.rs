//! The launches of a plan as kernels on a card.

use std::sync::Arc;

use cudarc::driver::sys::CUfunction_attribute;
use cudarc::driver::{
    CudaFunction, CudaModule, CudaSlice, CudaStream, DevicePtr, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::Device;
use stencil_compiler::emit::{self, Patches, Places, Source};
use stencil_compiler::kernel::Kernel;
use stencil_compiler::kernel::lower::lower;
use stencil_compiler::plan::{FitTo, Launch, Plan, Region, Step};
use stencil_compiler::schedule::LaunchKind;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::card::{Card, Opened};
use crate::backend::cuda::compile::cache::Cache;
use crate::backend::cuda::compile::nvrtc::{Compiled, Resources};
use crate::backend::cuda::compile::{Compiler, compile};
use crate::backend::cuda::kernels::grids::{Grid, Grids, Over, Part};
use crate::backend::cuda::kernels::info::Launched;
use crate::backend::cuda::kernels::sends::Sends;
use crate::backend::cuda::memory::patches::MeshShape;
use crate::backend::cuda::memory::tensor_maps::{Maps, Series, TensorMap};
use crate::backend::cuda::memory::{Memory, bytes};
use crate::{Number, mesh};

/// A launch of the plan as text, not compiled yet. Launches of several substeps that do the same have one text, with
/// the name of the first.
#[derive(Debug)]
pub(crate) struct Text {
    kernel: Kernel,
    pub(crate) source: Source,
}

/// Returns the plan for these patches of so many dimensions on a device.
pub(crate) fn fitted(
    plan: &Plan,
    dimension: usize,
    patches: &mesh::Patches,
    device: &Device,
) -> Plan {
    let (cells, cut) = (patches.largest(), patches.cut());
    let room = |units| FitTo { dimension, cells, patches: patches.of_a_device(), cut, units };
    let plan = plan.clone();
    match device.units {
        Some(units) => plan.fitted(room(units)),
        None => plan,
    }
}

/// Returns the texts of all launches of a plan over one patch or many on a device.
pub(crate) fn texts<T: Number>(
    algorithm: &Algorithm,
    plan: &Plan,
    on: (Patches, &Device),
) -> Result<Vec<Text>, CudaError> {
    texts_changed::<T>(algorithm, plan, on, |kernel| kernel)
}

/// The same, with each kernel changed by a function.
pub(crate) fn texts_changed<T: Number>(
    algorithm: &Algorithm,
    plan: &Plan,
    (patches, device): (Patches, &Device),
    change: impl Fn(Kernel) -> Kernel,
) -> Result<Vec<Text>, CudaError> {
    let text = |at: usize, launch: &Launch| {
        let wrong = |reason: String| CudaError::Kernel { kernel: launch.name.clone(), reason };
        let on = (T::BYTES, &device.multiprocessor);
        let kernel = lower(algorithm, plan, at, on).map_err(|e| wrong(e.message))?;
        let kernel = change(kernel);
        if kernel.launch.kind != LaunchKind::Blocks {
            let strategy = &launch.blocking.strategy;
            return Err(wrong(format!("`{strategy}` is a blocking of the processor")));
        }
        let source = emit::cuda_over(patches, &kernel, T::PRECISION)?;
        Ok(Text { kernel, source })
    };
    let mut texts: Vec<Text> = Vec::new();
    for (at, launch) in plan.launches.iter().enumerate() {
        texts.push(match plan.like(at).map(|before| &texts[before]) {
            Some(Text { kernel, source }) => {
                let kernel = Kernel { name: launch.name.clone(), ..kernel.clone() };
                Text { kernel, source: source.clone() }
            }
            None => text(at, launch)?,
        });
    }
    Ok(texts)
}

/// Returns the depth of the ghost cells that the kernels may access.
pub(crate) fn halo(texts: &[Text]) -> [usize; 3] {
    let buffers = texts.iter().flat_map(|text| &text.kernel.buffers);
    buffers.fold([0; 3], |halo, buffer| {
        std::array::from_fn(|axis| halo[axis].max(buffer.halo[axis] as usize))
    })
}

/// A kernel on the card, ready to be launched.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) substep: usize,
    /// The resources of the card that it takes.
    pub(crate) launched: Launched,
    function: CudaFunction,
    module: Arc<CudaModule>,
    /// Threads of a block, and bytes of its shared memory.
    block: ((u32, u32, u32), u32),
    grids: Grids,
    /// Places of its buffers in the plan.
    buffers: Vec<usize>,
    /// The maps of the buffers that it copies boxes of.
    maps: Vec<Maps>,
    /// The place of cell 0 in these maps and in surfaces, and the arrangement of the patches in surfaces.
    places: Vec<i32>,
    /// Places of its uniforms in the algorithm.
    pub(crate) uniforms: Vec<usize>,
    /// Interior cells of the largest patch, values of a row and of a plane.
    sizes: [i32; 5],
    /// The number of its card among those of the run: it covers the patches of that card.
    owner: usize,
    /// The patch that its buffers are those of, if its card has no other.
    patch: Option<usize>,
    /// The cells that it also stores in the memory of other cards, if it is made for that.
    sends: Option<Sends>,
}

/// Machine code in the memory of the card, with the resources of its kernels.
struct Loaded {
    module: Arc<CudaModule>,
    resources: Vec<Resources>,
}

/// Returns a function as text that calls one of others, which have these names, by its number.
pub(crate) fn choice(name: &str, names: &[String]) -> String {
    let cases = names.iter().enumerate();
    let cases: String =
        cases.map(|(at, name)| format!("    case {at}: return {name}(a);\n")).collect();
    format!(
        "static __device__ double {name}(int which, const double* a) {{\n  \
         switch (which) {{\n{cases}    default: return 0.0;\n  }}\n}}\n\n"
    )
}

/// Compiles and loads a text of this backend.
pub(crate) fn one(
    card: &Opened,
    cache: Option<&Cache>,
    source: &Source,
) -> Result<Arc<CudaModule>, CudaError> {
    let missing =
        CudaError::Kernel { kernel: source.name.clone(), reason: "it was not compiled".into() };
    let module = modules(card, cache, &[source], &Places::default())?.pop();
    Ok(module.ok_or(missing)?.module)
}

/// Returns a kernel of a module.
pub(crate) fn function(module: &Arc<CudaModule>, name: &str) -> Result<CudaFunction, CudaError> {
    let found = module.load_function(name);
    found.map_err(CudaError::driver("looking for a kernel"))
}

/// Loads a module for each launch, so that each has uniforms of its own.
fn modules(
    card: &Opened,
    cache: Option<&Cache>,
    sources: &[&Source],
    places: &Places,
) -> Result<Vec<Loaded>, CudaError> {
    let compiler = Compiler::new(Some(card.card.driver.0), cache)?;
    let code = compile(sources, places, &card.card.architecture(), compiler)?;
    let load = |Compiled { cubin, kernels, .. }| {
        let module = card.context.load_module(Ptx::from_binary(cubin));
        let module = module.map_err(CudaError::driver("loading a kernel"))?;
        Ok(Loaded { module, resources: kernels })
    };
    code.into_iter().map(load).collect()
}

/// Compiles and loads the launches of a plan, for the patches of a card: that of this number among those of the run.
pub(crate) fn load(
    (owner, card): (usize, &Opened),
    cache: Option<&Cache>,
    (algorithm, plan): (&Algorithm, &Plan),
    texts: &[Text],
    (shape, memory, sends): (&MeshShape, &Memory, Option<Sends>),
) -> Result<Vec<Ready>, CudaError> {
    let form = memory.launched_over();
    let sources: Vec<&Source> = texts.iter().map(|t| &t.source).collect();
    let modules = modules(card, cache, &sources, &Places::of(algorithm))?;
    let mut launches = Vec::new();
    let (on, cut) = ((shape, memory.patches_of(owner), form), memory.cut());
    let uneven = memory.uneven();
    for (at, (text, loaded)) in texts.iter().zip(modules).enumerate() {
        let has_parts = plan.steps.contains(&Step::Launch { launch: at, region: Region::Interior });
        let rim = has_parts.then(|| plan.rim_of_blocks(at, cut, uneven));
        let grids = Grids::new(&text.kernel, on, rim)?;
        let launch = &plan.launches[at];
        let mut ready = Ready::new(card, (algorithm, plan), launch, text, (shape, grids), loaded)?;
        ready.owner = owner;
        ready.patch = (form == Patches::Part).then(|| memory.first_of(owner));
        let is_made_for_it = form == Patches::Part && text.kernel.sends();
        ready.sends = is_made_for_it.then_some(sends.unwrap_or(Sends::NONE));
        ready.describe(&card.stream, plan, &text.kernel, (shape, memory))?;
        launches.push(ready);
    }
    Ok(launches)
}

/// Lets a kernel have its shared memory.
fn take_shared(card: &Card, function: &CudaFunction, text: &Text) -> Result<(), CudaError> {
    let (needed, limit) = (text.source.shared_bytes, card.shared_bytes);
    if needed > limit {
        return Err(CudaError::Shared {
            kernel: text.kernel.name.clone(),
            needed,
            name: card.name.clone(),
            limit,
        });
    }
    let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    let taken = function.set_attribute(attribute, needed as i32);
    taken.map_err(CudaError::driver("asking for shared memory"))
}

impl Ready {
    fn new(
        card: &Opened,
        (algorithm, plan): (&Algorithm, &Plan),
        launch: &Launch,
        text: &Text,
        (shape, grids): (&MeshShape, Grids),
        loaded: Loaded,
    ) -> Result<Self, CudaError> {
        let Text { kernel, source } = text;
        let Loaded { module, resources } = loaded;
        let function = self::function(&module, &source.name)?;
        let wrong = |reason: String| CudaError::Kernel { kernel: kernel.name.clone(), reason };
        take_shared(&card.card, &function, text)?;
        let mut resources = resources.into_iter();
        let resources = resources.find(|r| r.name == source.name);
        let resources = resources.unwrap_or_default();
        let unit = &card.card.multiprocessor;
        let launched = Launched::new(unit, &function, source, launch, resources)?;
        let buffer = |name: &str| {
            let at = plan.buffers.iter().position(|b| b.name == name);
            at.ok_or_else(|| wrong(format!("the plan has no buffer `{name}`")))
        };
        let uniform = |name: &String| {
            let at = algorithm.uniforms.iter().position(|u| u.name == *name);
            at.ok_or_else(|| wrong(format!("the algorithm has no uniform `{name}`")))
        };
        let [tx, ty, tz] = source.threads;
        let [nx, ny, nz] = shape.n;
        Ok(Ready {
            substep: launch.substep,
            launched,
            function,
            module,
            block: ((tx, ty, tz), source.shared_bytes as u32),
            grids,
            buffers: kernel.buffers.iter().map(|b| buffer(&b.name)).collect::<Result<_, _>>()?,
            uniforms: kernel.uniforms.iter().map(uniform).collect::<Result<_, _>>()?,
            sizes: [nx, ny, nz, shape.pitch, shape.plane],
            owner: 0,
            patch: None,
            sends: None,
            maps: Vec::new(),
            places: Vec::new(),
        })
    }

    /// Returns the address of its uniforms, if it takes any.
    pub(crate) fn constants(&self, stream: &Arc<CudaStream>) -> Result<Option<u64>, CudaError> {
        if self.uniforms.is_empty() {
            return Ok(None);
        }
        let constants = self.module.get_global("c", stream);
        let constants = constants.map_err(CudaError::driver("looking for constants"))?;
        Ok(Some(constants.device_ptr(stream).0))
    }

    /// Describes all arrays that boxes may be copied from, and the place of cells in these and in surfaces.
    fn describe(
        &mut self,
        stream: &Arc<CudaStream>,
        plan: &Plan,
        kernel: &Kernel,
        (shape, memory): (&MeshShape, &Memory),
    ) -> Result<(), CudaError> {
        for (buffers, extent) in kernel.boxes() {
            let buffers = buffers.iter().map(|at| self.buffers[at.0 as usize]);
            let series = Series::new(plan, buffers.collect());
            let maps = Maps::new(stream, (memory, self.patch), series, extent)?;
            self.maps.push(maps);
        }
        let has_surfaces = kernel.buffers.iter().any(|buffer| buffer.surface);
        if has_surfaces || !self.maps.is_empty() {
            self.places.extend(memory.rows().first());
        }
        if has_surfaces && !shape.is_one() {
            self.places.extend(shape.in_surfaces());
        }
        Ok(())
    }

    /// Replaces the uniforms; `all` are the uniforms of the substep, in the algorithm's order.
    pub(crate) fn set_uniforms<T: Number>(
        &self,
        stream: &Arc<CudaStream>,
        all: &[T],
    ) -> Result<(), CudaError> {
        if self.uniforms.is_empty() {
            return Ok(());
        }
        let failed = CudaError::driver("copying uniforms to the card");
        let values: Vec<T> = self.uniforms.iter().map(|at| all[*at]).collect();
        let mut constants = self.module.get_global("c", stream).map_err(&failed)?;
        let copy = stream.memcpy_htod(bytes(&values), &mut constants);
        copy.map_err(&failed)
    }

    /// Does it also store values in the memory of other cards?
    pub(crate) fn sends(&self) -> bool {
        self.sends.is_some_and(|sends| sends.low > 0 || sends.high < i32::MAX)
    }

    /// Returns how many kernels start for a region.
    pub(crate) fn count(&self, region: Region) -> usize {
        self.grids.of(region).len()
    }

    /// Starts the kernel on a region of all patches of its card; `slots` has the slot of each buffer of the plan.
    pub(crate) fn launch(
        &self,
        stream: &Arc<CudaStream>,
        region: Region,
        memory: &Memory,
        slots: &[usize],
    ) -> Result<(), CudaError> {
        let first = self.patch.unwrap_or_default();
        let address = |buffer: &usize| memory.address_in(stream, first, slots[*buffer]);
        let addresses: Vec<u64> = self.buffers.iter().map(address).collect();
        let misplaced = || CudaError::Kernel {
            kernel: self.launched.name.clone(),
            reason: "arrays that it copies boxes of are not equally far apart".into(),
        };
        let place = |buffer: usize| memory.place(slots[buffer]);
        let maps = self.maps.iter().map(|maps| maps.now(place));
        let maps: Option<Vec<&TensorMap>> = maps.collect();
        let maps = maps.ok_or_else(misplaced)?;
        let mut grids = self.grids.of(region).iter();
        grids.try_for_each(|grid| {
            self.start(stream, grid, memory.listed(self.owner), (&addresses, &maps))
        })
    }

    fn start(
        &self,
        stream: &Arc<CudaStream>,
        grid: &Grid,
        listed: &CudaSlice<i32>,
        (addresses, maps): (&[u64], &[&TensorMap]),
    ) -> Result<(), CudaError> {
        let mut launch = stream.launch_builder(&self.function);
        for address in addresses {
            launch.arg(address);
        }
        for size in &self.sizes {
            launch.arg(size);
        }
        if let Part::Over(_) = &grid.part {
            launch.arg(listed);
        }
        if let Part::From(first) | Part::Over(Over { first, .. }) = &grid.part {
            first.iter().for_each(|along| {
                launch.arg(along);
            });
        }
        if let Some(Sends { low, high, end, to_low, to_high }) = &self.sends {
            launch.arg(low).arg(high).arg(end).arg(to_low).arg(to_high);
        }
        if let Part::Over(Over { blocks, stride, .. }) = &grid.part {
            blocks.iter().for_each(|along| {
                launch.arg(along);
            });
            launch.arg(stride);
        }
        for map in maps {
            launch.arg(*map);
        }
        self.places.iter().for_each(|place| {
            launch.arg(place);
        });
        let (block_dim, shared_mem_bytes) = self.block;
        let config = LaunchConfig { grid_dim: grid.blocks, block_dim, shared_mem_bytes };
        // SAFETY: the arguments are those that the kernel was generated with. It accesses its buffers no further than
        // the halo that they were allocated with, boxes of them within the memory that the maps describe, and
        // surfaces, which live as long as the memory, nowhere beyond them.
        let launched = unsafe { launch.launch(config) };
        launched.map_err(CudaError::driver("launching a kernel"))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use stencil_compiler::compile::{Target, compile};
    use stencil_compiler::expr::real::Precision;
    use stencil_compiler::schedule;

    use super::*;
    use crate::backend::cuda::{Cards, usual_device};
    use crate::{Simulation, SystemDef};

    /// Tools show the kernels for a mesh that a run on it compiles: chunks, reads around ends of axes.
    #[test]
    fn kernels_for_a_mesh_are_those_of_a_run_on_it() {
        let text =
            "pub system Heat in 3d { field q: scalar; param k: real = 0.5; ddt(q) = k * lap(q); }
            scheme s for Heat { space: central<order = 4>; time: ssprk2; }";
        let system = SystemDef::from_text("heat.pde", text).unwrap();
        let cells = [64, 48, 80];
        for blocking in ["march chunk=0", "march chunk=0 loader=2", "direct"] {
            let schedule = format!("schedule kernel {blocking}");
            let schedule = schedule::text::parse(&schedule).unwrap();
            let target = Target::periodic(4, cells, usual_device("sm_90"));
            let shown = compile(system.algorithm(), &schedule, &target).unwrap();
            let run = Simulation::<f32>::builder(&system).cells(cells).dt(1e-6);
            let run = run.schedule(schedule).ahead(&Cards::usual("sm_90")).unwrap();
            let compiled: Vec<String> = run.pieces().map(|piece| piece.source.text).collect();
            for kernel in &shown.kernels {
                let text = emit::cuda(kernel, Precision::F32).unwrap().text;
                assert!(compiled.contains(&text), "{text}");
            }
        }
    }
}
