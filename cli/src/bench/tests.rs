//! Numbers, tables and the program beside.

use super::beside::{Beside, speed};
use super::case::best_and_median;
use super::report::{BesideResult, Result as Measured, heading, json};

fn measured() -> Measured {
    Measured {
        system: "Heat".into(),
        precision: "f64",
        engine: "compiled",
        instructions: "avx2".into(),
        schedule: None,
        threads: 2,
        cells: [64, 32, 1],
        patches: [1; 3],
        steps: 10,
        repeat: 3,
        best_mpts: 20.0,
        median_mpts: 16.0,
        ms_per_step: 0.5,
        gflops: Some(10.0),
        peak_gflops: 40.0,
        copy_gb_s: 8.0,
        triad_gb_s: 7.0,
        floor_ms: 0.1,
        beside: Some(BesideResult {
            command: "other --fast".into(),
            best_s: 1.5,
            median_s: 2.0,
            best_mpts: Some(10.0),
            median_mpts: Some(8.0),
        }),
    }
}

#[test]
fn the_median_is_the_middle() {
    assert_eq!(best_and_median(&[3.0, 1.0, 2.0]), (1.0, 2.0));
    assert_eq!(best_and_median(&[4.0, 1.0, 2.0, 3.0]), (1.0, 2.5));
    assert_eq!(best_and_median(&[7.0]), (7.0, 7.0));
    assert!(best_and_median(&[]).0.is_nan());
}

#[test]
fn a_reported_speed_is_found_in_text_and_json() {
    assert_eq!(speed("size 3\nmpts_per_s = 12.5\n"), Some(12.5));
    assert_eq!(
        speed("{\"t\": 1, \"mpts_per_s\": 3.2e1, \"n\": 4}"),
        Some(32.0)
    );
    assert_eq!(speed("mpts_per_s=1\nmpts_per_s=2"), Some(2.0));
    for none in [
        "",
        "mpts_per_s",
        "mpts_per_s = fast",
        "mpts_per_s = -1",
        "mpts 3",
    ] {
        assert_eq!(speed(none), None, "{none}");
    }
}

#[cfg(unix)]
#[test]
fn a_program_beside_is_timed_and_its_failure_is_told() {
    let mut good = Beside::new("sleep 0.02; echo mpts_per_s = 4");
    good.run().unwrap();
    good.run().unwrap();
    let result = good.result();
    assert!(result.best_s >= 0.02 && result.median_s >= result.best_s);
    assert_eq!(
        (result.best_mpts, result.median_mpts),
        (Some(4.0), Some(4.0))
    );

    let mut quiet = Beside::new("true");
    quiet.run().unwrap();
    assert_eq!(quiet.result().best_mpts, None);

    let mut bad = Beside::new("echo first >&2; echo no such mesh >&2; exit 3");
    let message = bad.run().unwrap_err().message;
    for expected in [
        "exit 3`",
        "exit status: 3",
        "in round 1",
        "\n  first\n  no such mesh",
    ] {
        assert!(message.contains(expected), "no `{expected}` in {message}");
    }
}

#[test]
fn a_row_stands_below_its_heading() {
    let row = measured().row();
    let (first, second) = row.trim_end().split_once('\n').unwrap();
    assert_eq!(first.chars().count(), heading().trim_end().chars().count());
    for expected in ["64×32", "20.00", "16.00", "25.0 %", "20.0 %"] {
        assert!(first.contains(expected), "no `{expected}` in {first}");
    }
    assert!(second.contains("ours is 2.00 times as fast"), "{second}");
    let cut = Measured {
        patches: [4, 1, 1],
        ..measured()
    };
    assert!(cut.row().contains(" 64×32/4×1 "), "{}", cut.row());
}

#[test]
fn json_has_numbers_and_fractions() {
    let value: serde_json::Value = serde_json::from_str(&json(&[measured()])).unwrap();
    let case = &value["cases"][0];
    assert_eq!(case["mpts_per_s"], 20.0);
    assert_eq!(case["peak_fraction"], 0.25);
    assert_eq!(case["floor_fraction"], 0.2);
    assert_eq!(case["beside"]["best_s"], 1.5);
}
