//! Names, files and messages.

use std::fs;

use stencil_compiler::algorithm::text::fingerprint;
use stencil_compiler::schedule::text;
use stencil_compiler::search::plans::{Key, Plan, Plans};
use stencil_compiler::search::presets;
use stencil_runtime::backend::cuda::Card;

use super::*;

const HEAT: &str = "system Heat in 2d { field q: scalar; param k: real = 1; ddt(q) = k * lap(q); }";

fn built_ins() -> Vec<BuiltIn> {
    vec![BuiltIn { name: "heat".into(), summary: "diffusion".into(), text: HEAT.into() }]
}

fn args(system: &str) -> SystemArgs {
    SystemArgs { dimension: None, system: system.into(), order: None, mixed: None }
}

fn failure(args: &SystemArgs) -> String {
    load(args, &built_ins()).unwrap_err().to_string()
}

#[test]
fn a_system_is_found_however_it_is_spelled() {
    for name in ["heat", "Heat", "he-at"] {
        assert_eq!(load(&args(name), &built_ins()).unwrap().algorithm.name, "Heat");
    }
}

#[test]
fn the_scheme_can_be_changed() {
    let args = SystemArgs { order: Some(4), mixed: Some(MixedChoice::Composed), ..args("heat") };
    let scheme = load(&args, &built_ins()).unwrap().algorithm.scheme;
    assert_eq!(scheme, "command_line: central order 4, mixed composed, time rk3_williamson");
    let wrong = SystemArgs { order: Some(5), ..args };
    assert!(failure(&wrong).contains('5'), "{}", failure(&wrong));
}

#[test]
fn unknown_names_are_answered_with_what_there_is() {
    let text = failure(&args("haet"));
    assert!(
        text.starts_with("error: no system and no file `haet`\n  help: did you mean `heat`?\n"),
        "{text}"
    );
    assert!(text.contains("diffusion"));
    assert!(failure(&args("none.pde")).starts_with("error: `none.pde` cannot be read: "));
    let algorithm = load(&args("heat"), &built_ins()).unwrap().algorithm;
    let text = schedule("gqu", &algorithm, real::Precision::F32, None).unwrap_err().to_string();
    assert!(text.contains("did you mean `gpu`?"), "{text}");
    assert!(presets::ALL.iter().all(|preset| text.contains(preset.summary)));
}

/// A file of plans for a declaration, each for a number of cells and with as wide tiles.
fn plans(algorithm: &Algorithm, widths: &[u32]) -> String {
    let plan = |width: &u32| Plan {
        key: Key {
            system: algorithm.name.clone(),
            problem: fingerprint(algorithm),
            precision: real::Precision::F32,
            cells: [*width as usize, *width as usize, 1],
            // The card of this machine, if it has one.
            card: Card::all()
                .ok()
                .and_then(|all| all.into_iter().next())
                .map_or("some card".into(), |card| card.name),
        },
        chosen: None,
        rate: 1.0,
        schedule: text::parse(&format!("schedule\nkernel march tile_x={width}")).unwrap(),
    };
    Plans(widths.iter().map(plan).collect()).print()
}

#[test]
fn a_plan_file_is_the_schedule_of_what_was_tuned() {
    let algorithm = load(&args("heat"), &built_ins()).unwrap().algorithm;
    let file = std::env::temp_dir().join(format!("stencil-plans-{}", std::process::id()));
    fs::write(&file, plans(&algorithm, &[64, 512])).unwrap();
    let file = file.to_str().unwrap();
    let of = |algorithm: &Algorithm, precision, cells| {
        let found = schedule(file, algorithm, precision, cells);
        found.map(|schedule| schedule.kernels[0].params["tile_x"])
    };
    let f32 = real::Precision::F32;
    assert_eq!(of(&algorithm, f32, Some([512, 512, 1])).unwrap(), 512);
    assert_eq!(of(&algorithm, f32, Some([70, 70, 1])).unwrap(), 64);
    assert!(of(&algorithm, f32, None).is_ok());

    let told = of(&algorithm, real::Precision::F64, None).unwrap_err();
    assert!(told.to_string().contains("no plan for Heat in f64"), "{told}");
    let changed = [BuiltIn { text: HEAT.replace("lap(q)", "2 * lap(q)"), ..built_ins().remove(0) }];
    let changed = load(&args("heat"), &changed).unwrap().algorithm;
    let told = of(&changed, f32, None).unwrap_err().to_string();
    for expected in ["as it is declared now", "f32 for 64x64x1", "stencil tune Heat"] {
        assert!(told.contains(expected), "no `{expected}` in {told}");
    }
    fs::write(file, plans(&algorithm, &[64, 64])).unwrap();
    let told = of(&algorithm, f32, None).unwrap_err().to_string();
    assert!(told.contains("there twice"), "{told}");
    fs::remove_file(file).unwrap();
}

#[test]
fn errors_show_the_line() {
    let text = "system A in 1d {\n    field q: scalar;\n    ddt(q) = lap(p);\n}\n";
    let built_ins = [BuiltIn { name: "a".into(), summary: String::new(), text: text.into() }];
    let shown = load(&args("a"), &built_ins).unwrap_err().to_string();
    assert!(shown.contains("<a>:3:18") && shown.contains("^"), "{shown}");
    let text = "system A in 2d {\n    field v: vector;\n    field v_x: scalar;\n    ddt(v) = v;\n    ddt(v_x) = v_x;\n}\n";
    let built_ins = [BuiltIn { name: "a".into(), summary: String::new(), text: text.into() }];
    let shown = load(&args("a"), &built_ins).unwrap_err().to_string();
    assert!(
        shown.starts_with("error: the component `v_x`")
            && shown.contains("<a>:3:")
            && shown.contains('^'),
        "{shown}"
    );
}

#[test]
fn a_system_of_any_dimension_is_read_in_one() {
    let built_in = BuiltIn {
        name: "any".into(),
        summary: String::new(),
        text: "pub system Any in nd { field q: scalar; ddt(q) = lap(q); }".into(),
    };
    for (given, expected) in [(None, 3), (Some(1), 1), (Some(2), 2)] {
        let args = SystemArgs { dimension: given, ..args("any") };
        let loaded = load(&args, std::slice::from_ref(&built_in)).unwrap();
        assert_eq!(loaded.model.dimension, expected);
    }
    let args = SystemArgs { dimension: Some(4), ..args("any") };
    assert!(load(&args, std::slice::from_ref(&built_in)).is_err());
}

/// The library has a system `in nd` once in each of its dimensions.
#[test]
fn a_system_of_the_library_is_read_in_each_dimension() {
    let all = crate::built_ins();
    for (given, expected) in [(None, 2), (Some(1), 1), (Some(2), 2), (Some(3), 3)] {
        let loaded = load(&SystemArgs { dimension: given, ..args("wave") }, &all).unwrap();
        assert_eq!(loaded.model.dimension, expected);
    }
}
