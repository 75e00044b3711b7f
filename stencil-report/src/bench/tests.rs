//! Numbers, tables and the program beside.

use std::collections::BTreeSet;

use serde_json::Value;

use super::case::{best_and_median, or_noted};
use super::other_program::{OtherProgram, speed};
use stencil_compiler::cost::Bound;
use stencil_runtime::MemoryUse;
use stencil_runtime::backend::cuda::nvrtc::Resources;
use stencil_runtime::backend::cuda::{Launched, Load};

use super::card::{Card, Kernel};
use super::parts::{PartCost, PartCosts};
use super::report::{BesideResult, Measured, Processor, kernels, notes};
use super::work::Work;
use super::{Protocol, Results};
use crate::Render;
use crate::pictures::roofline::Roofs;

mod of_parts;

pub(super) fn measured() -> Measured {
    Measured {
        system: "Heat".into(),
        precision: "f64",
        mixed: "bidiagonal",
        order: 6,
        engine: "compiled",
        schedule: None,
        cfl: None,
        dt: 1e-3,
        cells: [64, 32, 1],
        patches: [1; 3],
        devices: 1,
        dimension: 2,
        steps: 10,
        repeat: 3,
        best_mpts: 20.0,
        median_mpts: 16.0,
        ms_per_step: 0.5,
        processor: Some(Processor {
            instructions: "avx2",
            threads: 2,
            peak_gflops: 40.0,
            triad_gb_s: 7.0,
            gflops: Some(10.0),
        }),
        card: None,
        parts: None,
        timeline: Vec::new(),
        of_first: None,
        copy_gb_s: 8.0,
        floor_bytes: 80.0,
        floor_ms: 0.1,
        room: MemoryUse {
            values: 32_768,
            kept: 16_384,
            ghosts: 8_192,
            padding: 4_096,
            others: 4_096,
        },
        passes: None,
        beside: Some(BesideResult {
            command: "other --fast".into(),
            best_s: 1.5,
            median_s: 2.0,
            best_mpts: Some(10.0),
            median_mpts: Some(8.0),
        }),
        bare_mpts: None,
    }
}

fn kernel(name: &str, registers: u32, occupancy: f64) -> Kernel {
    Kernel {
        launched: Launched {
            name: name.into(),
            substep: 0,
            threads: 256,
            resources: Resources {
                registers,
                spill_loads: registers / 2,
                barriers: 1,
                ..Resources::default()
            },
            shared_bytes: 62_720,
            resident: 2,
            occupancy,
            bound: Bound::Registers,
        },
        predicted_bytes: 40.5,
    }
}

pub(super) fn on_card(power_w: Option<f64>) -> Measured {
    Measured {
        engine: "cuda",
        schedule: Some("carried".into()),
        processor: None,
        card: Some(Card {
            name: "Some Card".into(),
            launches: 5,
            kernels: vec![kernel("Heat_1_1", 128, 0.25), kernel("Heat_2_1", 160, 0.125)],
            protocol: Protocol::Both,
            load: Load { clock_mhz: Some(1979.6), power_w },
            sustained: power_w.map(|power_w| {
                let load = Load { clock_mhz: Some(1540.4), power_w: Some(power_w + 188.0) };
                (15.0, load)
            }),
            start: 0.125,
        }),
        beside: None,
        bare_mpts: None,
        ..measured()
    }
}

/// Two substeps with a kernel each, a fill of ghost cells, and the time step.
pub(super) fn parts() -> PartCosts {
    let part = |name: &str, computes: &str, substep, work, us: f64| PartCost {
        name: name.into(),
        computes: computes.into(),
        whole: computes.into(),
        reads: BTreeSet::new(),
        label: computes.into(),
        substep,
        work,
        seconds: Some(1e-6 * us),
        of_first: None,
    };
    let work = |bytes, flops, operations, divisions| Work {
        bytes: 1e6 * bytes,
        flops: 1e6 * flops,
        operations: 1e6 * operations,
        divisions: 1e6 * divisions,
    };
    let kernel = work(40.0, 100.0, 80.0, 1.0);
    let speeds = work(20.0, 12.0, 32.0, 3.0);
    PartCosts {
        all: vec![
            part("time step", "speeds, and the time step", None, speeds, 10.0),
            part("ghost cells", "ghost cells", None, work(2.0, 0.0, 0.0, 0.0), 4.0),
            part("Heat_1_1", "new q", Some(0), kernel, 20.0),
            part("Heat_2_1", "new q", Some(1), kernel, 30.0),
        ],
        roofs: Roofs { peak: 20_000.0, copy: 4_000.0 },
        steps: 1,
    }
}

/// The object of one result.
fn json(measured: Measured) -> Value {
    let mut results = Results::new(false, false);
    results.push(measured);
    results.json()
}

#[test]
fn the_median_is_the_middle() {
    assert_eq!(best_and_median(&[3.0, 1.0, 2.0]), (1.0, 2.0));
    assert_eq!(best_and_median(&[4.0, 1.0, 2.0, 3.0]), (1.0, 2.5));
    assert_eq!(best_and_median(&[7.0]), (7.0, 7.0));
    assert!(best_and_median(&[]).0.is_nan());
}

#[test]
fn what_cannot_be_measured_is_noted() {
    let mut note = Vec::new();
    assert_eq!(or_noted(Ok::<_, String>(1), "a part", &mut note), Some(1));
    assert!(note.is_empty());
    assert_eq!(or_noted(Err::<u8, _>("no events"), "a part", &mut note), None);
    let note = String::from_utf8(note).unwrap();
    assert_eq!(note, "note: a part could not be measured: no events\n");
}

#[test]
fn a_reported_speed_is_found_in_text_and_json() {
    assert_eq!(speed("size 3\nmpts_per_s = 12.5\n"), Some(12.5));
    assert_eq!(speed("{\"t\": 1, \"mpts_per_s\": 3.2e1, \"n\": 4}"), Some(32.0));
    assert_eq!(speed("mpts_per_s=1\nmpts_per_s=2"), Some(2.0));
    for none in ["", "mpts_per_s", "mpts_per_s = fast", "mpts_per_s = -1", "mpts 3"] {
        assert_eq!(speed(none), None, "{none}");
    }
}

#[test]
fn a_row_is_followed_by_that_of_the_same_without_neighbours() {
    let row = Measured { bare_mpts: Some(25.0), ..measured() };
    let text = row.row();
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("  without neighbours:"), "{last}");
    assert!(last.ends_with("25.00            ours is 80.0 % of it"), "{last}");
}

#[cfg(unix)]
#[test]
fn a_program_beside_is_timed_and_its_failure_is_told() {
    let mut good = OtherProgram::new(
        "sleep 0.02; echo mpts_per_s = $BENCH_RATE",
        [("BENCH_RATE", "4".to_string())],
    );
    good.run().unwrap();
    good.run().unwrap();
    let result = good.result();
    assert!(result.best_s >= 0.02 && result.median_s >= result.best_s);
    assert_eq!((result.best_mpts, result.median_mpts), (Some(4.0), Some(4.0)));

    let mut quiet = OtherProgram::new("true", []);
    quiet.run().unwrap();
    assert_eq!(quiet.result().best_mpts, None);

    let mut bad = OtherProgram::new("echo first >&2; echo no such mesh >&2; exit 3", []);
    let message = bad.run().unwrap_err().to_string();
    for expected in ["exit 3`", "exit status: 3", "in round 1", "\n  first\n  no such mesh"] {
        assert!(message.contains(expected), "no `{expected}` in {message}");
    }
}

#[test]
fn a_row_stands_below_its_heading() {
    let row = measured().row();
    let (first, second) = row.trim_end().split_once('\n').unwrap();
    let heading = measured().heading();
    assert_eq!(first.chars().count(), heading.trim_end().chars().count());
    for expected in
        ["64×32", "20.00", "16.00", "25.0 %", "20.0 %", "65.54K     2.000", "bidiagonal"]
    {
        assert!(first.contains(expected), "no `{expected}` in {first}");
    }
    assert!(second.contains("ours is 2.00 times as fast"), "{second}");
    let cut = Measured { patches: [4, 1, 1], ..measured() };
    assert!(cut.row().contains(" 64×32/4×1 "), "{}", cut.row());
}

#[test]
fn json_has_numbers_and_fractions() {
    let value = json(measured());
    let case = &value["cases"][0];
    assert_eq!(case["mpts_per_s"], 20.0);
    assert_eq!(case["processor"]["peak_fraction"], 0.25);
    assert!(case["card"].is_null());
    assert_eq!(case["floor_fraction"], 0.2);
    assert_eq!(
        (&case["memory"]["bytes"], &case["memory"]["of_values"]),
        (&65_536.into(), &2.0.into())
    );
    assert_eq!(case["beside"]["best_s"], 1.5);
    assert!(case["simulated_per_s"].is_null());
}

#[test]
fn steps_that_adapt_have_a_simulated_time_a_second() {
    let adaptive = Measured { cfl: Some(0.4), ..measured() };
    let row = adaptive.row();
    let expected = "simulated: 2.000e0 of time a second, in steps of 1.000e-3\n";
    assert!(row.contains(expected), "{row}");
    assert_eq!(json(adaptive)["cases"][0]["simulated_per_s"], 2.0);
}

#[test]
fn a_row_of_a_card_has_columns_of_its_own() {
    let (with, without) = (on_card(Some(512.2)), on_card(None));
    for row in [with.row(), without.row()] {
        let wide = with.heading().trim_end().chars().count();
        assert_eq!(row.trim_end().chars().count(), wide, "{row}");
    }
    let row = with.row();
    let columns: Vec<&str> = row.split_whitespace().collect();
    let wanted = "5 81 160 61.2K 12 % 1980 512 15.00 1540 700 0.12";
    assert!(columns.join(" ").ends_with(wanted), "{row}");
    let row = without.row();
    let end = format!("1980     -  {:>9} {:>5} {:>5}   0.12", "-", "-", "-");
    assert!(row.trim_end().ends_with(&end), "{row}");
    assert!(with.is_other(&measured()) && !with.is_other(&without));
}

#[test]
fn a_card_is_not_measured_by_the_processor() {
    let printed = notes(&[on_card(None)]);
    assert!(printed.contains("Some Card: copy 8.0 GB/s\n"), "{printed}");
    for not in ["GFLOP", "triad", "of peak"] {
        assert!(!printed.contains(not), "{printed}");
    }
    let both = notes(&[measured(), on_card(None)]);
    for expected in ["avx2): copy 8.0 GB/s, triad 7.0", "Some Card: copy", "of peak:"] {
        assert!(both.contains(expected), "no `{expected}` in {both}");
    }
}

#[test]
fn each_kernel_has_a_line_and_an_object() {
    let with = Measured { parts: Some(parts()), ..on_card(None) };
    let printed = kernels(&[measured(), with]);
    let lines: Vec<&str> = printed.trim().lines().collect();
    let [head, columns, first, second, ..] = lines[..] else {
        panic!("{printed}");
    };
    assert_eq!(head, "Heat f64, carried, mixed bidiagonal, order 6, 64×32");
    assert_eq!(first.chars().count(), columns.chars().count());
    assert_eq!(
        second.split_whitespace().collect::<Vec<_>>().join(" "),
        "Heat_2_1 1 256 160 80 62720 1 2 12 % registers 40.5"
    );
    assert!(kernels(&[measured()]).contains("where a card does all of a step"));

    let value = json(on_card(None));
    let case = &value["cases"][0];
    assert!(case["processor"].is_null());
    let card = &case["card"];
    assert_eq!((&card["registers"], &card["occupancy"]), (&160.into(), &0.125.into()));
    assert!(card["power_w"].is_null() && card["sustained"].is_null());
    assert_eq!(card["predicted_bytes_per_point"], 81.0);
    let last = &card["kernels"][1];
    assert_eq!((&last["spilled_bytes"], &last["bound_by"]), (&80.into(), &"registers".into()));
}

#[test]
fn both_rates_of_a_card_have_a_clock_and_a_power() {
    let value = json(on_card(Some(512.0)));
    let card = &value["cases"][0]["card"];
    assert_eq!((&card["clock_mhz"], &card["power_w"]), (&1979.6.into(), &512.0.into()));
    assert_eq!(card["protocol"], "both");
    let sustained = &card["sustained"];
    assert_eq!(
        (&sustained["mpts_per_s"], &sustained["clock_mhz"], &sustained["power_w"]),
        (&15.0.into(), &1540.4.into(), &700.0.into())
    );
    // 700 W over 15 million points a second.
    assert!((sustained["nj_per_point"].as_f64().unwrap() - 700.0 / 15e6 * 1e9).abs() < 1e-6);
}
