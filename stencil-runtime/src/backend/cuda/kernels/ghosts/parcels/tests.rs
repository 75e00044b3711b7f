//! The text of the kernels, compiled for the processor: values that are packed and unpacked are those that one process fills.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs, process};

use libloading::Library;
use stencil_compiler::schedule::{Layout, text};

use super::super::GhostBox;
use super::super::{Coded, FaceRule, PatchPlace};
use super::*;
use crate::backend::cuda::compile::nvrtc::tests::nvrtc;
use crate::backend::cuda::kernels::builtin::packing_source;
use crate::backend::cuda::memory::ARRAYS;
use crate::field::{Cut, Domain, Fields, Shape};
use crate::mesh::{
    Boundaries, Boundary, Face, Faces, Linear, LinearPart, Mesh, Patches, Rule, Setting,
};
use crate::transport::Ranks;
use crate::{Axis, SystemDef};

/// Words of the card in front of the text, and behind it the launches, one thread after the other.
const BEFORE: &str = "#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
struct Dim { unsigned x, y, z; };
static Dim threadIdx, blockIdx, gridDim, blockDim;
static unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned __int128)a * b >> 64; }
static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
";
const BEHIND: &str = "
#define ALL for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) for (threadIdx.x = 0; threadIdx.x < 256; ++threadIdx.x)
extern \"C\" void pack(unsigned blocks, const Box* boxes, const int* of_block, const Rule* rules, const double* tables,
    const double* weights, const Patch* patches, const int* array_of, const Arrays* arrays, const Mesh* mesh, real* packed) {
  ALL pack_ghosts(boxes, of_block, rules, tables, weights, patches, array_of, *arrays, *mesh, packed);
}
extern \"C\" void unpack(unsigned blocks, const Box* boxes, const int* of_block, const Arrays* arrays, const Mesh* mesh,
    const real* packed) {
  ALL unpack_ghosts(boxes, of_block, *arrays, *mesh, packed);
}
";

type Pack = unsafe extern "C" fn(
    u32,
    *const GhostBox,
    *const i32,
    *const FaceRule,
    *const f64,
    *const f64,
    *const PatchPlace,
    *const i32,
    *const Addresses,
    *const MeshShape,
    *mut f64,
);
type Unpack = unsafe extern "C" fn(
    u32,
    *const GhostBox,
    *const i32,
    *const Addresses,
    *const MeshShape,
    *const f64,
);

/// Compiles the text for the processor, if there is a compiler.
fn compiled() -> Option<Library> {
    let folder = env::temp_dir().join(format!("stencil-packing-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let [source, library]: [PathBuf; 2] =
        ["packing.cpp", "packing.so"].map(|name| folder.join(name));
    let text = packing_source::<f64>(Layout::Soa, true).text;
    fs::write(&source, format!("{BEFORE}{text}{BEHIND}")).unwrap();
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC", "-o"]);
    let Ok(done) = compiler.arg(&library).arg(&source).output() else {
        println!("skipped: no g++");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // SAFETY: it has no initializers.
    let library = unsafe { Library::new(&library) }.unwrap();
    fs::remove_dir_all(&folder).unwrap();
    Some(library)
}

/// A run of two components in patches of several devices, on the host and as a card has it.
struct Run {
    fields: Fields<f64>,
    jobs: Vec<Job>,
    shape: MeshShape,
    /// Values of an array, and of a patch.
    lengths: [usize; 2],
}

impl Run {
    fn new(cells: [usize; 3], counts: [usize; 3], devices: usize, walls: bool) -> Self {
        let system = "pub system Pair in 3d { field q: scalar; field p: scalar; ddt(q) = lap(q); ddt(p) = lap(p); }
            scheme s for Pair { space: central<order = 4>; time: euler; }";
        let system = SystemDef::from_text("pair.pde", system).unwrap();
        let schedule = text::parse("schedule kernel direct").unwrap();
        let plan = stencil_compiler::plan::plan(system.algorithm(), &schedule, [false; 3]).unwrap();
        let mesh = Mesh { cells, extent: [1.0, 2.0, 3.0], origin: [0.0; 3], centered: true };
        let set = |faces: Faces, boundary| Setting { of: None, faces, boundary };
        let walls = match walls {
            false => Vec::new(),
            true => vec![
                set(Face::X_LO.into(), Boundary::dirichlet(2.5)),
                set(Face::X_HI.into(), Boundary::outflow()),
                set(Face::Y_LO.into(), Boundary::neumann(-0.3)),
                set(Face::Y_HI.into(), Boundary::wall()),
                set(Axis::Z.into(), Boundary::extrapolate()),
            ],
        };
        let mut boundaries = Boundaries::new(&system, &[], &walls, cells).unwrap();
        if !walls.is_empty() {
            // Sums over both components: along x and, of corners that other rules act on before and after, along y.
            let part = |component: usize, weight: f64| LinearPart { component, weight, far: 0.2 };
            for (own, rules) in boundaries.rules.iter_mut().enumerate() {
                let parts = vec![part(0, 0.3 + own as f64), part(1, -0.7)];
                let linear = Rule::Linear(Linear { far: 0.1 + own as f64, parts });
                (rules[0][1], rules[1][0]) = (linear.clone(), linear);
            }
        }
        let (patches, halo) = (Patches::new(&mesh, counts, devices).unwrap(), [2; 3]);
        let domain = Domain {
            mesh,
            patches,
            boundaries,
            halo,
            passes: false,
            copies: false,
            keep_last: false,
            look_every: 1,
            ranks: Ranks::alone(),
            carrier: None,
        };
        let mut fields = Fields::<f64>::without_arrays(&plan, domain, patches, halo).unwrap();
        fields.allocate(|_| true, crate::field::ALIGNMENT).unwrap();
        for (buffer, by) in fields
            .buffers
            .of_role(stencil_compiler::plan::BufferRole::Field)
            .into_iter()
            .zip([1.0, 7.0])
        {
            fields.set(buffer, |[x, y, z]| by * (1.0 + (x * 3 + y * 50 + z * 700) as f64).sin());
        }
        let cut = Cut::new(Shape::new(cells, halo, 8).unwrap(), patches, halo, 8).unwrap();
        let length = cut.patch.len();
        let lengths = [length, length * plan.buffers.len()];
        let shape = MeshShape::new(&cut, &mesh, lengths[1]);
        let fields_of = fields.ghosts(|_| Some(halo.into())).into_iter().enumerate();
        let jobs =
            fields_of.filter_map(|(at, of)| Some((at, of?.component, halo.into()))).collect();
        Run { fields, jobs, shape, lengths }
    }

    /// Returns the values of all arrays as they lie on a card.
    fn memory(&self) -> Vec<f64> {
        let arrays = self.fields.own_patches().flat_map(|(_, arrays)| arrays);
        arrays.flat_map(|array| array.values().iter().copied()).collect()
    }

    fn addresses(&self, memory: &mut [f64]) -> Addresses {
        let origin = self.fields.shape().layout.origin;
        let mut all = [0; ARRAYS];
        for (at, address) in all.iter_mut().enumerate().take(self.lengths[1] / self.lengths[0]) {
            *address = (&raw mut memory[at * self.lengths[0] + origin]) as u64;
        }
        Addresses::all(all)
    }
}

/// Checks all ghost cells that come from other devices, on each device.
fn check(library: &Library, mut run: Run, devices: usize) -> usize {
    // SAFETY: the functions have these types in the text above.
    let (pack, unpack) = unsafe {
        (library.get::<Pack>(b"pack").unwrap(), library.get::<Unpack>(b"unpack").unwrap())
    };
    let neighbours = run.fields.neighbours.clone();
    let Coded { rules, weights, length } = Coded::new(&run.fields.domain.boundaries, &run.shape);
    let (tables, mut memory) = (vec![0.0; length], run.memory());
    let places: Vec<PatchPlace> = neighbours.patches.iter().map(PatchPlace::new).collect();
    let arrays = run.addresses(&mut memory);
    let all: Vec<_> = (0..devices)
        .map(|own| lists(&neighbours, &run.jobs, (own, devices), size_of::<f64>()))
        .collect();
    let mut sent = Vec::new();
    for ([list, _], _) in &all {
        let mut packed = vec![f64::NAN; list.values];
        let array_of = list.all.arrays(run.fields.domain.boundaries.read()).unwrap();
        // SAFETY: the arguments are those of the kernel, with room for all values.
        unsafe {
            pack(
                list.all.of_block.len() as u32,
                list.all.boxes.as_ptr(),
                list.all.of_block.as_ptr(),
                rules.as_ptr(),
                tables.as_ptr(),
                weights.as_ptr(),
                places.as_ptr(),
                array_of.as_ptr(),
                &raw const arrays,
                &raw const run.shape,
                packed.as_mut_ptr(),
            );
        }
        sent.push(packed);
    }
    let mut checked = 0;
    for (own, ([_, list], neighbours)) in all.iter().enumerate() {
        let mut come = vec![f64::NAN; list.values];
        let values = |bytes: &Range<usize>| bytes.start / 8..bytes.end / 8;
        for of in neighbours {
            let theirs = all[of.peer].1.iter().find(|back| back.peer == own).unwrap();
            come[values(&of.coming)].copy_from_slice(&sent[of.peer][values(&theirs.sent)]);
        }
        // SAFETY: as above.
        unsafe {
            unpack(
                list.all.of_block.len() as u32,
                list.all.boxes.as_ptr(),
                list.all.of_block.as_ptr(),
                &raw const arrays,
                &raw const run.shape,
                come.as_ptr(),
            );
        }
    }
    let all_ghosts = run.fields.ghosts(|_| Some([2_usize; 3].into()));
    let filling = run.fields.filling(&all_ghosts);
    run.fields.fill(&filling, 0.0);
    let (expected, origin) = (run.memory(), run.fields.shape().layout.origin);
    for ([_, list], _) in &all {
        for of in &list.all.boxes {
            for at in 0..of.size.iter().product::<i32>() {
                let cell =
                    [at % of.size[0], at / of.size[0] % of.size[1], at / of.size[0] / of.size[1]];
                let [x, y, z] = [0, 1, 2].map(|axis| (of.lo[axis] + cell[axis]) as isize);
                let layout = run.fields.shape().layout;
                let first =
                    of.to as usize * run.lengths[1] + of.array as usize * run.lengths[0] + origin;
                let at = first as isize + x + y * layout.pitch as isize + z * layout.plane as isize;
                let (found, expected) = (memory[at as usize], expected[at as usize]);
                assert_eq!(
                    found.to_bits(),
                    expected.to_bits(),
                    "{of:?} {:?}: {found} {expected}",
                    [x, y, z]
                );
                checked += 1;
            }
        }
    }
    checked
}

#[test]
fn packed_ghost_cells_are_those_of_one_process() {
    let Some(library) = compiled() else {
        return;
    };
    for walls in [false, true] {
        for (cells, counts, devices) in [
            ([7, 6, 5], [1, 1, 2], 2),
            ([40, 7, 9], [1, 2, 3], 6),
            ([5, 9, 8], [1, 3, 2], 2),
            // Rows that are cut, and patches that are shallower than ghost cells are deep.
            ([6, 5, 7], [2, 2, 3], 4),
            ([9, 4, 3], [1, 4, 1], 4),
        ] {
            let checked = check(&library, Run::new(cells, counts, devices, walls), devices);
            assert!(checked > 100, "{counts:?}");
        }
    }
}

/// The values that one device packs for another follow each other as the other unpacks them.
#[test]
fn both_sides_list_the_same_boxes() {
    let run = Run::new([8, 9, 10], [2, 2, 2], 3, true);
    let neighbours = &run.fields.neighbours;
    for own in 0..3 {
        let ([pack, _], all) = lists(neighbours, &run.jobs, (own, 3), 8);
        for of in all {
            let ([_, unpack], back) = lists(neighbours, &run.jobs, (of.peer, 3), 8);
            let back = back.iter().find(|back| back.peer == own).unwrap();
            let part = |list: &List, bytes: &Range<usize>| -> Vec<_> {
                let values = bytes.start / 8..bytes.end / 8;
                let boxes =
                    list.all.boxes.iter().filter(|of| values.contains(&(of.packed as usize)));
                boxes
                    .map(|of| (of.array, of.to, of.lo, of.size, of.packed - values.start as i32))
                    .collect()
            };
            assert_eq!(part(&pack, &of.sent), part(&unpack, &back.coming));
            assert_eq!(of.sent.len(), back.coming.len());
        }
    }
}

#[test]
fn the_text_compiles_for_a_card() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    for (layout, architecture) in [(Layout::Soa, "sm_80"), (Layout::Aos, "sm_90")] {
        // Rules that read other components call each other.
        for (text, most) in [
            (packing_source::<f32>(layout, false).text, 128),
            (packing_source::<f64>(layout, true).text, 256),
        ] {
            let compiled = nvrtc.compile(&text, "packing.cu", architecture).unwrap();
            let names: Vec<&str> = compiled.kernels.iter().map(|k| &*k.name).collect();
            assert_eq!(names.len(), 2, "{names:?}");
            let spilled: Vec<_> = compiled.kernels.iter().filter(|k| k.spills()).collect();
            assert!(spilled.iter().all(|k| k.spill_loads < most), "{spilled:?}");
        }
    }
}
