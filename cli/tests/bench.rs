//! `stencil bench` as a user runs it, on small meshes: tests of its output, not of its rates.

mod common;

use common::{all_refused, assert_has, folder, good, json, refused, scratch};

const SMALL: &str = "--cells 16 --repeat 2 --steps 2";

fn bench(words: &str) -> String {
    good(&format!("bench {words}"), scratch())
}

#[test]
fn a_table_has_a_row_for_each_case() {
    let printed = bench(&format!("--threads 1,2 --backend cpu,rows {SMALL}"));
    let rows: Vec<&str> = printed.lines().filter(|l| l.starts_with("IsothermalNs")).collect();
    assert_eq!(rows.len(), 8, "{printed}");
    assert_has(&printed, &["of floor", "GFLOP/s", "copy", "triad"]);
}

#[test]
fn sizes_and_discretizations_are_combined() {
    let words = "bench elastic_wave --json --precision f32 --repeat 1 --steps 1 --threads 1 \
                --cells 8 --cells 12,10,8 --mixed bidiagonal,composed --schedule rows";
    let value = json(words, scratch());
    let cases = value["cases"].as_array().map_or(&[][..], |cases| cases);
    let of = |case: &serde_json::Value| {
        let [x, y, z] = [0, 1, 2].map(|axis| &case["cells"][axis]);
        let words = (case["mixed"].as_str(), case["schedule"].as_str());
        format!("{x} {y} {z} {} {}", words.0.unwrap_or(""), words.1.unwrap_or(""))
    };
    let found: Vec<String> = cases.iter().map(of).collect();
    // Four runs of 6 fields with their new values, which are written over previous ones.
    for case in cases {
        let memory = |part: &str| case["memory"][part].as_u64().unwrap_or(0);
        let cells: u64 = (0..3).filter_map(|axis| case["cells"][axis].as_u64()).product();
        assert_eq!(memory("values_bytes"), 4 * 12 * cells);
        let parts = ["values_bytes", "kept_bytes", "ghost_bytes", "padding_bytes", "other_bytes"];
        let sum: u64 = parts.iter().map(|part| memory(part)).sum();
        assert_eq!(memory("bytes"), sum);
        assert!(memory("kept_bytes") == 4 * 6 * cells && memory("ghost_bytes") > 0);
    }
    assert_eq!(
        found,
        [
            "8 8 8 bidiagonal rows",
            "12 10 8 bidiagonal rows",
            "8 8 8 composed rows",
            "12 10 8 composed rows",
        ]
    );
}

#[test]
fn parts_of_a_step_and_schedules_are_told_and_drawn() {
    let folder = folder("parts");
    let args = "heat --precision f64 --threads 1 --cells 16 --repeat 1 --steps 1 --schedule rows,cpu --kernels --pictures";
    let printed = bench(&format!("{args} {}", folder.display()));
    let told = [
        "of first",
        "Heat_3_1                 new temperature ",
        "  a step  ",
        "parts have times of their own where a card does all of a step",
    ];
    for expected in told {
        assert!(printed.contains(expected), "no `{expected}` in\n{printed}");
    }
    for name in [
        "Heat-f64-rows-1-thread-16x16-roofline.png",
        "Heat-f64-cpu-1-thread-16x16-roofline.png",
        "Heat-f64-schedules.png",
    ] {
        assert!(folder.join(name).is_file(), "no {name} of\n{printed}");
    }
    assert!(!folder.join("Heat-f64-rows-1-thread-16x16-shares.png").exists());
    std::fs::remove_dir_all(folder).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn steps_may_adapt_to_speeds() {
    let words = "bench acoustics --precision f64 --threads 1 --cells 16 --repeat 1 --steps 2";
    let of = |more: &str| good(&format!("{words} {more}"), scratch());
    let note = "steps adapt to speeds";
    assert!(!of("").contains(note) && of("--cfl 0.4").contains(note));
    let step = |number: f64| {
        let value = json(&format!("{words} --cfl {number} --json"), scratch());
        let case = &value["cases"][0];
        assert_eq!(case["cfl"], number);
        case["dt"].as_f64().unwrap_or_default()
    };
    let [short, long] = [0.1, 0.4].map(step);
    assert!(short > 0.0 && (long / short - 4.0).abs() < 1e-6, "{short} {long}");
    let message = refused(&format!("{words} --cfl=-1"), scratch(), 2);
    assert_has(&message, &["cfl"]);
}

#[test]
fn json_holds_consistent_numbers() {
    let words = format!("bench heat --precision f64 --threads 1 --json {SMALL}");
    let value = json(&words, scratch());
    let case = &value["cases"][0];
    let number = |name: &str| case[name].as_f64().unwrap_or_else(|| panic!("{name}: {case}"));
    assert_eq!(case["cells"], serde_json::json!([16, 16, 1]));
    let speed = 256.0 / (number("ms_per_step") * 1e-3) / 1e6;
    assert!((speed / number("mpts_per_s") - 1.0).abs() < 1e-9);
    // Three substeps read and write the field, and two of them read its previous value. At the copy's speed.
    let floor = 256.0 * 8.0 * 8.0 / (number("copy_gb_per_s") * 1e9) * 1e3;
    assert!((floor / number("floor_ms") - 1.0).abs() < 1e-9);
    assert!(number("median_mpts_per_s") <= number("mpts_per_s"));
}

/// Devices are simulated here, and rates of this machine are no test: the ratios of the numbers are.
#[test]
fn several_devices_are_compared_with_the_first() {
    let folder = folder("scaling");
    let words = "bench heat --precision f64 --threads 1 --cells 16 --repeat 1 --steps 1 --schedule rows --devices 1,2";
    let drawn = format!("{words} --scaling weak --pictures {}", folder.display());
    let printed = good(&drawn, scratch());
    let told =
        ["weak scaling of Heat f64, rows, 1 thread", "100.0 %", "16×32/1×2", "share this machine"];
    assert_has(&printed, &told);
    for name in ["Heat-f64-weak-scaling.png", "Heat-f64-weak-scaling-efficiency.png"] {
        assert!(folder.join(name).is_file(), "no {name} of\n{printed}");
    }
    std::fs::remove_dir_all(folder).unwrap_or_else(|e| panic!("{e}"));
    let value = json(&format!("{words} --json"), scratch());
    let curve = &value["scaling"]["curves"][0];
    assert_eq!(
        (&value["scaling"]["kind"], &curve["is_simulated"]),
        (&"strong".into(), &true.into())
    );
    let rate = |at: usize| curve["points"][at]["mpts_per_s"].as_f64().unwrap_or_default();
    let efficiency = curve["points"][1]["efficiency"].as_f64().unwrap_or_default();
    assert!((efficiency / (rate(1) / rate(0) / 2.0) - 1.0).abs() < 1e-9, "{curve:#}");
    let one = json(&words.replace(" --devices 1,2", " --json"), scratch());
    assert!(one.get("scaling").is_none() && one["cases"][0]["devices"] == 1);
    let both = refused(&format!("{words} --scaling weak --patches 1,2"), scratch(), 2);
    assert_has(&both, &["--patches are of one mesh"]);
}

#[cfg(unix)]
#[test]
fn another_program_runs_beside_ours() {
    let with = |command: &'static str| {
        let mut words: Vec<&str> = "bench heat --precision f32".split(' ').collect();
        words.extend(SMALL.split(' ').chain(["--beside", command]));
        words
    };
    let printed = good(&with("echo mpts_per_s = 1e-3")[..], scratch());
    assert_has(&printed, &["beside:", "times as fast"]);

    let failing = with("echo the mesh is missing >&2; exit 7");
    let message = refused(&failing[..], scratch(), 2);
    assert_has(&message, &["exit status: 7", "the mesh is missing"]);
}

#[test]
fn mistakes_exit_with_2() {
    all_refused(
        "bench",
        &[
            ("isothermal", "IsothermalNs"),
            ("heat --backend gpu", "cuda"),
            ("heat --cells 0", "cells"),
            ("heat --cells 8,eight", "`eight`"),
            ("heat --mixed neither", "composed"),
            ("--precision f16", "f32"),
            ("--protocol slow", "sustained"),
        ],
        scratch(),
    );
}
