//! Every kernel compiles to machine code without a device, and its resources are pinned. Kernels of the default
//! schedule compile for other architectures, too; those without room there are pinned.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::emit::{self, Patches};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::Kernel;
use stencil_compiler::schedule::{self, Blocking, LaunchKind, Schedule};
use stencil_compiler::search::{heuristic, presets};
use stencil_runtime::SystemDef;
use stencil_runtime::backend::cuda::nvrtc::{Nvrtc, Resources};
use stencil_runtime::backend::cuda::{capability, check_needs};
use stencil_tests::{
    ELASTIC, ISOTHERMAL_NS, OrPanic, algorithm_of, discretized, takes_in_turn, with_mixed,
};

use super::nvrtc::{ARCH, ARCHITECTURES, compiler, resources};
use super::storage::{ACCUMULATORS, by};

/// The default preset: alone on other architectures, and alone of systems for any number of dimensions beside the
/// plane.
const USUAL: &str = "gpu";

struct Job {
    label: String,
    /// Is it a kernel of the default schedule?
    usual: bool,
    /// The text of the kernel under a name that all share: substeps are alike.
    text: String,
    shared: usize,
}

impl Job {
    /// Is it compiled for an architecture? All are for the pinned one.
    fn is_on(&self, architecture: &str) -> bool {
        architecture == ARCH || self.usual
    }
}

/// Returns systems of the library by their own schemes, and two of them by each choice of mixed derivatives.
pub(super) fn systems() -> Vec<(String, Algorithm)> {
    let mut systems = Vec::new();
    for source in [ISOTHERMAL_NS, ELASTIC] {
        for mixed in ["bidiagonal", "product", "composed"] {
            let algorithm = algorithm_of(&with_mixed(source, mixed));
            systems.push((mixed.to_string(), algorithm));
        }
    }
    for definition in physics::systems::ALL {
        let system = SystemDef::new(definition).or_panic();
        let label = format!("{}d library", system.model().dimension);
        systems.push((label, system.algorithm().clone()));
    }
    systems
}

/// Returns the kernels to compile, and how lines of others begin and go on, which another turn compiles. Systems for any
/// number of dimensions come in the plane first, with all presets.
fn jobs() -> (Vec<Job>, Vec<[String; 2]>) {
    let (mut jobs, mut others) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for (number, (system, algorithm)) in systems().into_iter().enumerate() {
        let first = !system.ends_with("library") || seen.insert(algorithm.name.clone());
        for precision in [Precision::F32, Precision::F64] {
            let is_taken = match precision {
                Precision::F32 => takes_in_turn::<f32>(number),
                Precision::F64 => takes_in_turn::<f64>(number),
            };
            if !is_taken {
                let begin = format!("{}_", algorithm.name);
                others.push([begin, format!(" {system} {} ", precision.name())]);
                continue;
            }
            let presets = presets::ALL.iter().map(|p| (p, p.name == USUAL));
            for (preset, usual) in presets.filter(|(_, usual)| first || *usual) {
                let schedule = preset.schedule(&algorithm, precision);
                let legal = |schedule: &Schedule| {
                    let compiled = compile(&algorithm, schedule, &Target::new(precision.bytes()));
                    compiled.unwrap_or_else(|e| panic!("{} {}: {e}", algorithm.name, preset.name))
                };
                let compiled = legal(&schedule);
                if schedule.fuse > 1 {
                    // A run makes single steps, too.
                    legal(&schedule.unfused(&algorithm));
                }
                let (kernels, form) = (compiled.kernels.into_iter(), precision.name());
                let blocks = kernels.filter(|kernel| kernel.launch.kind == LaunchKind::Blocks);
                jobs.extend(blocks.map(|kernel| Job {
                    label: format!("{} {system} {form} {}", kernel.name, preset.name),
                    usual,
                    shared: kernel.shared_bytes(),
                    text: text(kernel, precision),
                }));
            }
        }
    }
    (jobs, others)
}

pub(super) fn text(mut kernel: Kernel, precision: Precision) -> String {
    kernel.name = "kernel".into();
    let source = emit::cuda(&kernel, precision).or_panic();
    source.text
}

/// Returns the resources of each text on each architecture with room for it, on all cores.
fn compiled<'a>(nvrtc: &Nvrtc, jobs: &'a [Job]) -> BTreeMap<(&'static str, &'a str), Resources> {
    let mut distinct = BTreeSet::new();
    for (architecture, most) in ARCHITECTURES {
        let wanted = jobs.iter().filter(|job| job.shared <= most && job.is_on(architecture));
        distinct.extend(wanted.map(|job| (architecture, job.text.as_str())));
    }
    let mut all: Vec<(&'static str, &str)> = distinct.into_iter().collect();
    // The long ones first, so that no core waits for one at the end.
    all.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((architecture, text)) = all.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let resources = resources(nvrtc, text, architecture);
                    let mut found = found.lock().expect("no panic while locked");
                    found.insert((*architecture, *text), resources);
                }
            });
        }
    });
    found.into_inner().expect("no panic while locked")
}

/// Compares lines with a file; `UPDATE_SNAPSHOTS=1 cargo test -p stencil-tests --test stages device_code` writes the
/// pins anew. Pinned lines of other turns are not compared, nor are counts of all lines without them.
fn pinned(file: &str, lines: &[String], others: &[[String; 2]]) {
    let found: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    let path = path.join(file);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        assert!(others.is_empty(), "STENCIL_TURN=all pins all kernels");
        std::fs::write(&path, &found).expect("the snapshot can be written");
    }
    let pinned = std::fs::read_to_string(&path).unwrap_or_default();
    let is_other = |line: &&str| {
        let of = |[begin, next]: &[String; 2]| line.starts_with(begin) && line.contains(next);
        let counts = line.ends_with("have room") && !others.is_empty();
        counts || others.iter().any(of)
    };
    let pinned = pinned.lines().filter(|line| !is_other(line));
    let pinned: String = pinned.map(|line| format!("{line}\n")).collect();
    for (found, pinned) in found.lines().zip(pinned.lines()) {
        assert_eq!(found, pinned, "{file} changed; UPDATE_SNAPSHOTS=1 pins it anew");
    }
    assert_eq!(found, pinned, "{file}: kernels came or went; UPDATE_SNAPSHOTS=1 pins them anew");
}

#[test]
fn every_kernel_compiles_and_its_resources_are_pinned() {
    let Some(nvrtc) = compiler() else { return };
    let (jobs, others) = jobs();
    let resources = compiled(nvrtc, &jobs);
    for (architecture, most) in ARCHITECTURES {
        let mut lines = Vec::new();
        let mut fitting = 0;
        let own: Vec<&Job> = jobs.iter().filter(|job| job.is_on(architecture)).collect();
        for Job { label, text, shared, .. } in &own {
            if *shared > most {
                lines.push(format!("{label}: no room for {shared} bytes shared"));
                continue;
            }
            fitting += 1;
            let r = &resources[&(architecture, text.as_str())];
            assert!(shared + r.shared_bytes as usize <= most, "{label}");
            if architecture == ARCH {
                let spills = r.spill_stores + r.spill_loads;
                lines.push(format!(
                    "{label}: {} registers, {spills} bytes spilled, {shared} bytes shared, {} barriers",
                    r.registers, r.barriers
                ));
            }
        }
        if architecture != ARCH && others.is_empty() {
            lines.insert(0, format!("{fitting} of {} kernels have room", own.len()));
        }
        pinned(&format!("{architecture}.txt"), &lines, &others);
    }
}

/// Blockings and layouts that no preset has: their texts compile, for one patch and for many.
#[test]
fn other_blockings_and_layouts_compile() {
    let Some(nvrtc) = compiler() else { return };
    let flat = ISOTHERMAL_NS.replace("in 3d", "in 2d");
    let of_accumulators = by(ISOTHERMAL_NS, ACCUMULATORS);
    for (source, addresses) in [
        (ISOTHERMAL_NS, 144),
        (&flat, ADDRESSES_OF_SURFACES),
        (&of_accumulators, ADDRESSES_OF_SURFACES),
    ] {
        let algorithm = algorithm_of(source);
        for precision in [Precision::F32, Precision::F64] {
            for schedule in OTHERS {
                let schedule = schedule::text::parse(schedule).or_panic();
                let compiled =
                    compile(&algorithm, &schedule, &Target::new(precision.bytes())).or_panic();
                // The first substep has no previous values to read, and the others are alike.
                for kernel in compiled.kernels.iter().take(2) {
                    for patches in [Patches::One, Patches::Many] {
                        let source = emit::cuda_over(patches, kernel, precision).or_panic();
                        let r = resources(nvrtc, &source.text, ARCH);
                        // Places along three axes take more registers than an address.
                        let has_surfaces = kernel.buffers.iter().any(|b| b.surface);
                        let most = if has_surfaces { addresses } else { 0 };
                        let spilled = r.spill_stores + r.spill_loads;
                        assert!(spilled <= most, "{spilled}: {}", source.text);
                    }
                }
            }
        }
    }
}

/// Bytes that a kernel with surfaces may spill in double precision, if arrays leave it few registers.
const ADDRESSES_OF_SURFACES: u32 = 128;

const OTHERS: [&str; 6] = [
    "schedule kernel lexicographic",
    "schedule layout aos kernel lexicographic",
    "schedule layout aos kernel direct",
    "schedule layout surface kernel direct",
    "schedule layout surface kernel lexicographic",
    "schedule layout surface place ddt_u_x global exchange kernel direct kernel direct",
];

/// Returns a march that carries its mixed derivatives, on a given tile.
pub(super) fn carried(algorithm: &Algorithm, tile: [u32; 2], points: u32) -> Schedule {
    let mut schedule = Schedule::default();
    heuristic::carry(algorithm, &mut schedule.placements);
    let params = [("tile_x", tile[0]), ("tile_y", tile[1]), ("points", points), ("chunk", 86)];
    schedule.kernels = vec![Blocking::new("march", &params)];
    schedule
}

/// Bytes that the last substep may spill in double precision: addresses of the loader, used once an
/// iteration.
pub(super) const ADDRESSES: u32 = 24;

/// A hand-tuned kernel of this form, with accumulators, takes 151 and 165 registers and 218 operations.
#[test]
fn the_carried_march_keeps_to_its_budget() {
    let algorithm = algorithm_of(&by(ISOTHERMAL_NS, ACCUMULATORS));
    for (precision, tile, points) in [(Precision::F32, [64, 12], 2), (Precision::F64, [32, 12], 1)]
    {
        let compiled = compile(
            &algorithm,
            &carried(&algorithm, tile, points),
            &Target::new(precision.bytes()),
        )
        .or_panic();
        for kernel in &compiled.kernels {
            let operations = kernel.operations().cost as u32 / points;
            assert!(operations <= 223, "{}: {operations} operations a point", kernel.name);
            let Some(nvrtc) = compiler() else { continue };
            let r = resources(nvrtc, &text(kernel.clone(), precision), ARCH);
            assert!(r.registers <= 168, "{}: {} registers", kernel.name, r.registers);
            let spilled = r.spill_stores + r.spill_loads;
            let may = match precision {
                Precision::F32 => 0,
                Precision::F64 => ADDRESSES,
            };
            assert!(spilled <= may, "{} spills {spilled} bytes", kernel.name);
        }
    }
}

/// Eight fields in one kernel: functions that wait for the current density take more registers than there are, and none
/// waits if it is ahead.
#[test]
fn factors_ahead_leave_registers_for_eight_fields() {
    let system = physics::systems::find_in("mhd", 3).or_panic();
    for (time, most) in [("rk3_williamson", 176), (ACCUMULATORS, 160)] {
        let mut model = system.model().clone();
        model.scheme.time = time.to_string();
        spill_little_ahead(&discretized(&model), most);
    }
}

/// `most` is the number of bytes of the small tile in double precision.
fn spill_little_ahead(algorithm: &Algorithm, most: u32) {
    let Some(nvrtc) = compiler() else { return };
    let spilled = |precision: Precision, carry: fn(&Algorithm, &mut _), params: &[(&str, u32)]| {
        let mut schedule = Schedule::default();
        carry(algorithm, &mut schedule.placements);
        schedule.kernels = vec![Blocking::new("march", params)];
        let compiled = compile(algorithm, &schedule, &Target::new(precision.bytes())).or_panic();
        let r = resources(nvrtc, &text(compiled.kernels[1].clone(), precision), ARCH);
        r.spill_stores + r.spill_loads
    };
    let tile = [("tile_x", 32), ("tile_y", 8)];
    let large = [("tile_x", 32), ("tile_y", 12)];
    let small = [("tile_x", 16), ("tile_y", 6), ("column", 0)];
    assert!(spilled(Precision::F32, heuristic::carry, &tile) > 0);
    // Two words of a large tile; values of two registers leave some functions waiting.
    for (precision, params, few) in [
        (Precision::F32, &tile[..], 0),
        (Precision::F32, &large, 8),
        (Precision::F64, &small, most),
    ] {
        let bytes = spilled(precision, heuristic::carry_ahead, params);
        assert!(bytes <= few, "{} {params:?}: {bytes}", precision.name());
    }
}

/// Returns marches whose planes come as boxes, in all blocks or in those that read around no end: of a substep that
/// reads previous values and of one that does not.
fn marches_of_boxes() -> Vec<(String, Kernel, Precision)> {
    let mut kernels = Vec::new();
    let flat = |source: &str| source.replace("in 3d", "in 2d").replace(", d2[z](w.z)]", "]");
    let of_library = [ISOTHERMAL_NS, ELASTIC].map(|source| [source.to_string(), flat(source)]);
    for algorithm in of_library.as_flattened().iter().map(|s| algorithm_of(s)) {
        for precision in [Precision::F32, Precision::F64] {
            for (way, points, loader) in [("gathered", 1, 1), ("carried", 2, 1), ("carried", 2, 2)]
            {
                let columns = match algorithm.dimension {
                    3 => 128 / precision.bytes() as u32,
                    _ => 128,
                };
                let mut schedule = carried(&algorithm, [columns, 8], points);
                if way == "gathered" {
                    schedule.placements.clear();
                }
                schedule.kernels[0].params.insert("loader".into(), loader);
                // The first substep has no previous values to read, and the others are alike.
                let wrapped = [loader == 2; 3];
                let target = Target::new(precision.bytes()).around(wrapped);
                let compiled = compile(&algorithm, &schedule, &target).or_panic();
                for kernel in compiled.kernels.into_iter().take(2) {
                    let label = format!(
                        "{} {}d {} {way} by {points}{}",
                        kernel.name,
                        algorithm.dimension,
                        precision.name(),
                        if loader == 2 { " around ends" } else { "" }
                    );
                    kernels.push((label, kernel, precision));
                }
            }
        }
    }
    kernels
}

#[test]
fn boxes_compile_where_cards_copy_them() {
    let Some(nvrtc) = compiler() else { return };
    let mut lines = Vec::new();
    for (label, mut kernel, precision) in marches_of_boxes() {
        kernel.name = "kernel".into();
        let shared = kernel.shared_bytes();
        let of = |patches| {
            let source = emit::cuda_over(patches, &kernel, precision).or_panic();
            assert_eq!(source.needs, (9, 0), "{label}");
            source.text
        };
        let (one, many) = (of(Patches::One), of(Patches::Many));
        for (architecture, most) in ARCHITECTURES {
            if capability(architecture) < Some((9, 0)) || shared > most {
                continue;
            }
            resources(nvrtc, &many, architecture);
            let r = resources(nvrtc, &one, architecture);
            if architecture == ARCH {
                let spills = r.spill_stores + r.spill_loads;
                lines.push(format!(
                    "{label}: {} registers, {spills} bytes spilled, {shared} bytes shared",
                    r.registers
                ));
            }
        }
    }
    pinned("boxes.txt", &lines, &[]);
}

/// Older cards have no boxes: the source needs a newer one.
#[test]
fn older_cards_copy_no_boxes() {
    let Some(nvrtc) = compiler() else { return };
    let (_, kernel, precision) = marches_of_boxes().swap_remove(0);
    let source = emit::cuda(&kernel, precision).or_panic();
    assert!(nvrtc.compile(&source.text, "kernel", "sm_80").is_err());
    let refused = check_needs(&source, "sm_80").expect_err("it needs boxes").to_string();
    assert!(refused.contains("use `loader=0`"), "{refused}");
    assert!(check_needs(&source, ARCH).is_ok());
    let algorithm = algorithm_of(ISOTHERMAL_NS);
    let (schedule, target) = (carried(&algorithm, [64, 8], 1), Target::new(4));
    let plain = compile(&algorithm, &schedule, &target).or_panic();
    for kernel in &plain.kernels {
        let source = emit::cuda(kernel, Precision::F32).or_panic();
        assert_eq!(source.needs, (8, 0));
    }
}

/// Bytes that a kernel may spill more over many patches: its buffers are no parameters any more, and
/// take registers.
const POINTERS: u32 = 64;

#[test]
fn kernels_over_patches_compile_and_hardly_spill_more() {
    let Some(nvrtc) = compiler() else { return };
    let (algorithm, target) = (algorithm_of(ISOTHERMAL_NS), Target::new(4));
    for name in ["direct", "single_pass", "decomposed", "carried"] {
        let preset = presets::find(name).unwrap_or_else(|| panic!("no preset {name}"));
        let schedule = preset.schedule(&algorithm, Precision::F32);
        let compiled = compile(&algorithm, &schedule, &target).or_panic();
        // Substeps differ in their factors only.
        for kernel in compiled.kernels.iter().filter(|k| k.name.contains("_2_")) {
            let of = |patches| {
                let source = emit::cuda_over(patches, kernel, Precision::F32).or_panic();
                let r = resources(nvrtc, &source.text, ARCH);
                r.spill_stores + r.spill_loads
            };
            let [one, part, many] = [Patches::One, Patches::Part, Patches::Many].map(of);
            assert!(many <= one + POINTERS, "{name}: {many} bytes spilled, {one} over one patch");
            assert!(part <= one, "{name}: {part} bytes spilled in parts, {one} over one patch");
        }
    }
}
