//! Tests of sweeps: their orders, tables and pictures.

use serde_json::json;

use super::*;

fn run(error: f64, t: f64, sum: f64) -> State {
    let results = Results::of(&json!({
        "steps": 7, "t": t, "wall_s": 0.5,
        "errors": { "q": { "l1": error, "l2": error, "linf": 2.0 * error } },
        "sums": { "total": { "first": 0.0, "last": sum } },
    }));
    State::Done(results.unwrap())
}

/// Runs of two viscosities on meshes of 8 and 16 cells; the error of one falls by 16, of the other by 4.
fn sweep() -> Sweep {
    let member = |nu: &str, cells: &str, state| Member {
        values: vec![nu.to_string(), cells.to_string()],
        name: format!("nu={nu},cells={cells}"),
        spacing: vec![1.0 / cells.parse::<f64>().unwrap(); 2],
        state,
    };
    Sweep {
        problem: "waves".to_string(),
        keys: vec!["params.nu".to_string(), "mesh.cells".to_string()],
        members: vec![
            member("1", "8", run(1.6e-1, 1.0, 3.0)),
            member("1", "16", run(1e-2, 1.0, 4.0)),
            member("2", "8", run(4e-2, 1.0, 5.0)),
            member("2", "16", run(1e-2, 1.0, 6.0)),
        ],
    }
}

#[test]
fn orders_are_those_between_meshes_of_equal_settings() {
    let sweep = sweep();
    let orders = |at| sweep.orders(at, "q").map(|order| order.map(|order| order.round()));
    assert_eq!([0, 2].map(orders), [[None; 3]; 2]);
    assert_eq!(orders(1), [Some(4.0); 3]);
    assert_eq!(orders(3), [Some(2.0); 3]);
}

#[test]
fn runs_that_cannot_be_compared_have_no_order() {
    let changes: [fn(&mut Member); 4] = [
        |fine| fine.state = run(1e-2, 0.5, 0.0),
        |fine| fine.state = run(0.0, 1.0, 0.0),
        |fine| fine.state = State::Open,
        |fine| fine.spacing = vec![1.0 / 16.0, 1.0 / 8.0],
    ];
    for change in changes {
        let mut sweep = sweep();
        change(&mut sweep.members[1]);
        assert_eq!(sweep.orders(1, "q"), [None; 3]);
    }
}

#[test]
fn all_forms_have_the_same_facts() {
    let mut sweep = sweep();
    let message = "error[x]: not finite\n  help: a shorter step".to_string();
    sweep.members[2].state = State::Failed { code: 5, message };
    let text = sweep.text();
    for part in ["4 runs, 3 done, 1 failed", "4.00", "params.nu=2 mesh.cells=8 failed with code 5"]
    {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let json = sweep.json();
    assert_eq!(json["members"][1]["errors"]["q"]["l2"]["error"], json!(1e-2));
    assert_eq!(json["members"][2]["code"], json!(5));
    let csv = sweep.csv();
    let lines: Vec<&str> = csv.lines().collect();
    let columns = lines[0].split(',').count();
    assert!(lines[0].ends_with(",total") && lines.len() == 5, "{csv}");
    assert!(lines[2].starts_with("1,16,\"nu=1,cells=16\",done,6.25e-2,7,1e0,5e-1,1e-2,"), "{csv}");
    // The name of a folder has a comma, within quotes.
    assert!(lines[1..].iter().all(|line| line.split(',').count() == columns + 1), "{csv}");
}

#[test]
fn pictures_have_a_curve_for_each_other_setting() {
    let sweep = sweep();
    let names: Vec<String> = sweep.pictures().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["errors", "observed_total"]);
    let Some((_, Picture::Plot(plot))) = sweep.pictures().into_iter().next() else {
        panic!("no plot")
    };
    let curves: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(curves, ["q, nu = 1", "q, nu = 2"]);
    assert_eq!(plot.series[0].ys, [1e-2, 1.6e-1]);
}
