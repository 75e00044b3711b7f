//! Each mistake is blamed on its cause, and the choices offered in its place are legal.

use super::advice::advised;
use super::presets;
use crate::algorithm::Algorithm;
use crate::compile::{ScheduleError, Target, compile};
use crate::discretize::discretize;
use crate::expr::real::Precision;
use crate::model::parse::parse_str;
use crate::plan::BufferRole;
use crate::schedule::{Blame, Carry, Placement, Schedule, strategies, text};
use crate::syntax::Lexer;

const BYTES: usize = 8;

/// A flow whose divergence is differentiated again: stored, or recomputed at many places.
fn flow() -> Algorithm {
    let source = "system Flow in 3d { field u: vector; param nu: real = 1;
        ddt(u) = nu * (lap(u) + grad(div(u))) - dot(u, grad(u)); }
        scheme s for Flow { space: central<order = 2>; mixed: composed; time: rk3_williamson; }";
    discretize(&parse_str(source).unwrap()).unwrap()
}

fn schedule(source: &str) -> Schedule {
    text::parse(&format!("schedule {source}")).unwrap()
}

fn error(algorithm: &Algorithm, source: &str) -> ScheduleError {
    advised(algorithm, &schedule(source), &Target::new(BYTES)).unwrap_err()
}

fn is_legal(algorithm: &Algorithm, schedule: &Schedule) -> bool {
    compile(algorithm, schedule, &Target::new(BYTES)).is_ok()
}

fn names(of: &[&str]) -> Blame {
    Blame::Params(of.iter().map(ToString::to_string).collect())
}

/// Placements that the help offers for a function with the same number of kernels.
fn offered(error: &ScheduleError, name: &str) -> Vec<Placement> {
    let line = error.help.iter().find_map(|line| {
        let list = line.strip_prefix(&format!("`{name}` may be placed "))?;
        Some(list.to_string())
    });
    let line = line.unwrap_or_else(|| panic!("no placements of {name}: {error}"));
    let words = line.split(", ").filter(|word| !word.contains("(with"));
    words.map(|word| text::parse_placement(&mut Lexer::new(word).unwrap()).unwrap()).collect()
}

/// Offered are the legal ones and no others, as far as they leave the number of kernels.
fn placements_are_legal(algorithm: &Algorithm, source: &str, name: &str) -> ScheduleError {
    let error = error(algorithm, source);
    assert_eq!(error.blame, Blame::Placement(name.to_string()), "{error}");
    let offered = offered(&error, name);
    let riding = [Carry::Behind, Carry::Ahead].map(Placement::Carried);
    for placement in [Placement::Inline, Placement::Register].into_iter().chain(riding) {
        let mut changed = schedule(source);
        changed.placements.insert(name.to_string(), placement);
        let legal = is_legal(algorithm, &changed);
        assert_eq!(legal, offered.contains(&placement), "{placement:?}: {error}");
    }
    error
}

/// The blockings that the help offers for a kernel, each of them legal there.
fn blockings(algorithm: &Algorithm, source: &str, error: &ScheduleError) -> Vec<String> {
    let kernel = error.kernel.unwrap();
    let begin = format!("kernel {} may be `kernel ", kernel + 1);
    let offered = error.help.iter().filter_map(|line| line.strip_prefix(&begin));
    let offered: Vec<String> = offered.map(|line| line.trim_end_matches('`').to_string()).collect();
    for line in &offered {
        let mut changed = schedule(source);
        changed.kernels[kernel] = text::parse_blocking(&mut Lexer::new(line).unwrap()).unwrap();
        assert!(is_legal(algorithm, &changed), "{line}");
    }
    offered
}

#[test]
fn a_name_that_is_none_is_near_one_that_is() {
    let found = error(&flow(), "place div_v global exchange kernel direct kernel direct");
    assert_eq!(found.blame, Blame::Name("div_v".into()));
    assert_eq!(found.help[0], "did you mean `div_u`?");
    assert_eq!(found.help[1], "the schedule is legal without `place div_v`");
    // A number may differ or be missing: all names that hold the words are offered.
    let numbered = error(&flow(), "place part0_70 shared kernel march");
    assert_eq!(
        numbered.help[0],
        "did you mean `ddt_u_x_part0`, `ddt_u_y_part0` or `ddt_u_z_part0`?"
    );
    let with_pass = "place div_v global exchange pass div_v 1 kernel direct kernel direct";
    assert_eq!(error(&flow(), with_pass).help, found.help);
}

#[test]
fn states_and_what_reads_accumulators_are_not_stored() {
    let flow = flow();
    let state = "place u_x global exchange kernel direct kernel direct";
    let found = error(&flow, state);
    assert_eq!(found.blame, Blame::Placement("u_x".into()));
    assert_eq!(found.help, ["`u_x` may be placed inline (with 1 kernel)"]);
    let last = "place u_x_2 global recompute kernel direct kernel direct";
    let found = error(&flow, last);
    assert_eq!(found.blame, Blame::Placement("u_x_2".into()));
    assert!(found.help[0].contains("inline (with 1 kernel)"), "{found}");
}

#[test]
fn a_placement_that_cannot_be_served_is_answered_with_those_that_can() {
    let flow = flow();
    let found =
        placements_are_legal(&flow, "place ddt_u_x_part0 carried kernel direct", "ddt_u_x_part0");
    assert!(found.to_string().contains("does not march"), "{found}");
    assert!(found.help[0].contains("global exchange (with 2 kernels)"), "{found}");
    // Neighbours in the plane read it.
    placements_are_legal(&flow, "place div_u carried kernel march", "div_u");
    // It is not a sum.
    placements_are_legal(&flow, "place ddt_u_x carried kernel march", "ddt_u_x");
}

#[test]
fn a_sum_is_carried_behind_or_ahead() {
    let source = "place ddt_u_x_part0 carried ahead place ddt_u_y_part0 carried kernel march";
    let printed = text::print(&schedule(source));
    assert_eq!(text::parse(&printed), Ok(schedule(source)), "{printed}");
    for (name, carry) in [("ddt_u_x_part0", Carry::Ahead), ("ddt_u_y_part0", Carry::Behind)] {
        assert_eq!(schedule(source).placement(name), Placement::Carried(carry));
    }
    let found = text::parse("schedule place a carried later kernel march").unwrap_err();
    assert!(found.message.contains("`kernel`"), "{}", found.message);
    let found = text::parse("schedule place a ahead kernel march").unwrap_err();
    assert!(found.message.contains("carried ahead"), "{}", found.message);
    // It is not a sum, and neighbours in the plane read it.
    let flow = flow();
    for (source, name) in [
        ("place ddt_u_x carried ahead kernel march", "ddt_u_x"),
        ("place div_u carried ahead kernel march", "div_u"),
        ("place ddt_u_x_part0 carried ahead kernel direct", "ddt_u_x_part0"),
    ] {
        placements_are_legal(&flow, source, name);
    }
}

#[test]
fn two_mistakes_are_told_one_after_the_other() {
    let found = error(&flow(), "place div_u carried place ddt_u_x carried kernel march");
    let Blame::Placement(name) = &found.blame else { panic!("{found}") };
    let other = if name == "div_u" { "ddt_u_x" } else { "div_u" };
    assert!(found.help[0].starts_with(&format!("no placement of `{name}` alone")), "{found}");
    assert!(found.help[0].contains(&format!("`{other}")), "{found}");
}

#[test]
fn there_are_as_many_blockings_as_kernels() {
    let found = error(&flow(), "place div_u global exchange kernel march tile_x=16");
    assert_eq!(found.blame, Blame::Count(2));
    assert_eq!(found.help, ["legal with `kernel march tile_x=16`, `kernel march tile_x=16`"]);
    let found = error(&flow(), "kernel direct kernel tile3d");
    assert_eq!(found.help, ["legal with `kernel tile3d`"]);
    let found = error(&flow(), "");
    assert_eq!(found.help, ["legal with `kernel direct`"]);
}

#[test]
fn a_strategy_that_is_none_is_answered_with_those_that_serve() {
    let flow = flow();
    let source = "place div_u global exchange kernel direct kernel marsh";
    let found = error(&flow, source);
    assert_eq!((&found.blame, found.kernel), (&Blame::Strategy, Some(1)));
    assert!(found.message.starts_with("kernel 2: no blocking `marsh`"), "{found}");
    let offered = blockings(&flow, source, &found);
    assert_eq!(offered.len(), strategies::ALL.len(), "{found}");
}

#[test]
fn parameters_are_answered_with_names_and_values() {
    let flow = flow();
    let source = "kernel direct thread_x=64";
    let found = error(&flow, source);
    assert_eq!(found.blame, names(&["thread_x"]));
    assert_eq!(blockings(&flow, source, &found), ["direct"]);
    let source = "kernel march tile_c=16";
    assert_eq!(blockings(&flow, source, &error(&flow, source)), ["march tile_x=16"]);
    for (source, blamed, help) in [
        ("kernel march points=3", &["points"][..], "`points` may be 1, 2"),
        ("kernel march ring=2", &["ring"], "`ring` may be 0, "),
        ("kernel march chunk=2000000", &["chunk"], "`chunk` may be 0, 16, "),
        ("kernel march loader=3", &["loader"], "`loader` may be 0, 1, 2"),
        ("kernel march barrier=1", &["barrier"], "`barrier` may be 0"),
        ("kernel march prefetch_point=2", &["prefetch_point"], "`prefetch_point` may be 0, 1"),
        ("kernel march prologue=2", &["prologue"], "`prologue` may be 0, 1"),
        (
            "place div_u shared kernel march tile_x=16 barrier=1 prefetch_point=1",
            &["prefetch_point", "barrier"],
            "`prefetch_point` may be 0",
        ),
        (
            "place div_u shared kernel march tile_x=16 barrier=2",
            &["barrier"],
            "`barrier` may be 0, 1",
        ),
        (
            "kernel march loader=1 tile_x=256 tile_y=4 points=2",
            &["tile_x", "loader"],
            "`tile_x` may be 16, ",
        ),
        ("kernel march tile_x=31", &["tile_x"], "`tile_x` may be 16, 32, "),
        ("kernel direct x=64 y=64", &["x", "y", "z"], "`y` may be 1, 2, 4, 8"),
        ("kernel tile3d x=32 rolls=0", &["rolls"], "`rolls` may be 1, "),
        ("kernel direct blocks=9", &["blocks"], "`blocks` may be 1, 2, 3"),
    ] {
        let found = error(&flow, source);
        assert_eq!(found.blame, names(blamed), "{found}");
        assert!(found.help.iter().any(|line| line.starts_with(help)), "{source}: {found}");
    }
}

#[test]
fn offered_values_are_legal_and_others_are_not() {
    let flow = flow();
    let source = "kernel march tile_x=128 tile_y=24";
    let found = error(&flow, source);
    assert_eq!(found.blame, names(&["tile_x", "tile_y", "points"]));
    for line in &found.help {
        let (name, values) = line.split_once("` may be ").unwrap();
        let name = name.trim_start_matches('`');
        let param = strategies::march::STRATEGY.params.iter().find(|p| p.name == name).unwrap();
        let offered: Vec<u32> = values.split(", ").map(|v| v.parse().unwrap()).collect();
        for value in param.values {
            let mut changed = schedule(source);
            changed.kernels[0].params.insert(name.to_string(), *value);
            assert_eq!(is_legal(&flow, &changed), offered.contains(value), "{name}={value}");
        }
    }
}

#[test]
fn values_are_changed_together_where_one_is_not_enough() {
    let flow = flow();
    let source = "kernel tile3d x=999 y=999 z=999";
    let found = error(&flow, source);
    assert_eq!(found.blame, names(&["x", "y", "z"]));
    assert!(!blockings(&flow, source, &found).is_empty(), "{found}");
}

#[test]
fn fused_substeps_store_new_fields_only_and_are_told_what_is_no_group() {
    let algorithm = flow();
    let fused = "fuse 3 kernel march tile_x=32 tile_y=4";
    let printed = text::print(&schedule(fused));
    assert_eq!(text::parse(&printed), Ok(schedule(fused)), "{printed}");
    let problem = schedule(fused).problem(&algorithm).unwrap().into_owned();
    assert!(problem.find("u_x_1").is_some() && problem.find("u_x_3_at_3").is_some());
    for (source, message) in [
        ("fuse 3 place u_x_1 global exchange kernel direct kernel direct", "cannot be stored"),
        ("fuse 4 kernel direct", "3 substeps"),
        ("fuse 0 kernel direct", "0 substeps"),
        ("fuse 2 place u_x_3_at_3 shared kernel direct", "no grid function"),
    ] {
        let found = error(&algorithm, source);
        assert!(found.message.contains(message), "{source}: {found}");
    }
    let twice = text::parse("schedule fuse 2 fuse 3 kernel direct").unwrap_err();
    assert!(twice.message.contains("twice"), "{}", twice.message);
    let placed = schedule(
        "fuse 3 place u_x_1 shared place u_x_2_at_2 shared place div_u shared kernel march barrier=1",
    );
    let single = placed.unfused(&algorithm);
    assert_eq!(single, schedule("place div_u shared kernel march"));
}

/// Marches and tiles have copies of whole rows.
#[test]
fn fields_lie_side_by_side_where_blockings_read_cell_by_cell() {
    let algorithm = flow();
    let aos = schedule("layout aos kernel direct");
    assert_eq!(text::parse(&text::print(&aos)), Ok(aos));
    let plain = schedule("kernel direct");
    assert_eq!(schedule("layout soa kernel direct"), plain);
    for blocking in ["direct", "lexicographic"] {
        let source = format!("layout aos kernel {blocking}");
        let compiled = compile(&algorithm, &schedule(&source), &Target::new(BYTES));
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
        let buffers = &compiled.kernels[1].buffers;
        assert!(buffers.iter().all(|b| b.cell_stride() == 3), "{buffers:?}");
    }
    for layout in ["aos", "surface"] {
        for blocking in ["rows", "tile3d", "march tile_x=32 tile_y=4", "plane tile_x=32 tile_y=4"] {
            let found = error(&algorithm, &format!("layout {layout} kernel {blocking}"));
            assert_eq!(found.blame, Blame::Layout, "{found}");
            let (strategy, _) = blocking.split_once(' ').unwrap_or((blocking, ""));
            let message = format!(
                "`kernel {strategy}` does not serve `layout {layout}`; use `layout soa` or `kernel direct` or `kernel lexicographic`"
            );
            assert_eq!(found.message, message);
            let help = [
                format!("the schedule is legal without `layout {layout}`"),
                "kernel 1 may be `kernel direct`".into(),
            ];
            assert_eq!(found.help[..2], help, "{found}");
        }
    }
    for (source, message) in [
        ("layout xyz kernel direct", "no layout `xyz`; there are soa, aos, surface"),
        ("layout soa layout aos kernel direct", "`layout` is given twice"),
        ("fuse 1 fuse 2 kernel direct", "`fuse` is given twice"),
    ] {
        let found = text::parse(&format!("schedule {source}")).unwrap_err();
        assert!(found.message.contains(message), "{}", found.message);
    }
}

/// Surfaces have no rows; fields, their new values, and functions that neighbours read lie in them.
#[test]
fn fields_are_surfaces_where_blockings_read_cell_by_cell() {
    let algorithm = flow();
    let surface = schedule("layout surface kernel direct");
    let printed = text::print(&surface);
    assert_eq!(text::parse(&printed), Ok(surface), "{printed}");
    for blocking in ["direct", "lexicographic"] {
        let source = format!(
            "layout surface place div_u global exchange kernel {blocking} kernel {blocking}"
        );
        let compiled = compile(&algorithm, &schedule(&source), &Target::new(BYTES));
        let compiled = compiled.unwrap_or_else(|e| panic!("{e}"));
        for buffer in compiled.kernels.iter().flat_map(|kernel| &kernel.buffers) {
            let role = compiled.plan.buffer(&buffer.name).map(|b| b.role);
            let is_own = matches!(role, Some(BufferRole::Accumulator));
            assert_eq!(buffer.surface, !is_own, "{buffer:?}");
        }
    }
}

/// If memory bounds a march, two substeps at once move half as much.
#[test]
fn the_preset_gpu_fuses_what_waits_for_memory() {
    let fuse = |source: &str, precision: Precision| {
        let algorithm = discretize(&parse_str(source).unwrap()).unwrap();
        presets::find("gpu").map(|gpu| gpu.schedule(&algorithm, precision).fuse)
    };
    let heat = "system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
        scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }";
    let driven = heat.replace("lap(q)", "lap(q) + sin(t)");
    assert_eq!(fuse(heat, Precision::F32), Some(2));
    assert_eq!(fuse(&driven, Precision::F32), Some(1));
    assert_eq!(fuse(&heat.replace("order = 2", "order = 10"), Precision::F64), Some(1));
    // Compared with the march that would run, of one block a multiprocessor.
    let waves =
        "system Wave in 2d { field p: scalar; field v: scalar; ddt(p) = v; ddt(v) = lap(p); }
        scheme s for Wave { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }";
    assert_eq!([Precision::F32, Precision::F64].map(|p| fuse(waves, p)), [Some(2); 2]);
}

/// Functions that are stored by a preset.
fn stored(algorithm: &Algorithm, preset: &str) -> Vec<String> {
    let preset = presets::find(preset).unwrap();
    let schedule = preset.schedule(algorithm, Precision::F64);
    schedule.placements.into_keys().collect()
}

#[test]
fn parts_of_sums_that_need_no_neighbour_of_the_divergence_are_stored_with_it() {
    let source = include_str!("../../../tests/systems/isothermal_ns.pde");
    let composed = parse_str(&source.replace("mixed: bidiagonal", "mixed: composed")).unwrap();
    let composed = discretize(&composed).unwrap();
    assert_eq!(stored(&composed, "decomposed"), ["div_u"]);
    let parts = ["ddt_u_x_part0", "ddt_u_y_part0", "ddt_u_z_part0", "div_u"];
    assert_eq!(stored(&composed, "decomposed_sums"), parts);
    let preset = presets::find("decomposed_sums").unwrap();
    let schedule = preset.schedule(&composed, Precision::F64);
    let compiled = compile(&composed, &schedule, &Target::new(BYTES));
    let plan = compiled.unwrap().plan;
    // Two passes a substep (Algorithm 3), and ghost cells of the divergence only.
    assert_eq!(plan.launches.len(), 6);
    let filled = plan.steps.iter().filter_map(|step| match step {
        crate::plan::Step::Fill { buffers, .. } => Some(buffers),
        _ => None,
    });
    assert!(!filled.flatten().any(|name| name.contains("part")));
    assert_eq!(plan.buffer("ddt_u_x_part0").unwrap().halo, [0; 3]);
    // Nothing is stored, so nothing is split.
    let compact = discretize(&parse_str(source).unwrap()).unwrap();
    assert_eq!(stored(&compact, "decomposed_sums"), stored(&compact, "decomposed"));
}
