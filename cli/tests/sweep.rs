//! `stencil sweep`: all combinations, their tables, and what happens when the command is given again.

use std::fs;
use std::path::Path;

mod common;

use common::{assert_has, folder, good, json, refused};

/// A wave of heat that decays, with its exact solution.
const HEAT: &str = r#"
system = "pub system Heat in 1d { field q: scalar; param k: real = 1; ddt(q) = k*lap(q); observe size = mean(q^2); } scheme second for Heat { space: central<order = 2>; time: ssprk3; }"
[mesh]
cells = 8
[exact]
q = "sin(2*pi*x)*exp(-4*pi^2*k*t)"
[time]
dt = "0.2*h^2/k"
end = 0.01
"#;

fn heat(name: &str) -> std::path::PathBuf {
    let here = folder(name);
    fs::write(here.join("heat.toml"), HEAT).unwrap();
    here
}

fn record(here: &Path, member: &str) -> (String, std::time::SystemTime) {
    let path = here.join("out/heat-sweep").join(member).join("member.json");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    (text, fs::metadata(&path).unwrap().modified().unwrap())
}

#[test]
fn a_finer_mesh_has_smaller_errors_by_the_order_of_the_scheme() {
    let here = heat("orders");
    let words = "sweep heat.toml --over params.k=0.5,1 --over mesh.cells=16,32 --jobs 2 --json";
    let sweep = json(words, &here);
    let members = sweep["members"].as_array().unwrap();
    let names: Vec<&str> = members.iter().map(|m| m["folder"].as_str().unwrap()).collect();
    assert_eq!(names, ["k=0.5,cells=16", "k=0.5,cells=32", "k=1,cells=16", "k=1,cells=32"]);
    for (at, member) in members.iter().enumerate() {
        assert_eq!(member["state"], "done");
        let l2 = &member["errors"]["q"]["l2"];
        let order = l2["order"].as_f64();
        assert_eq!(order.is_some(), at % 2 == 1, "{l2}");
        assert!(order.is_none_or(|order| (order - 2.0).abs() < 0.1), "{l2}");
    }
    // A run by itself has the same numbers.
    let alone = json("run heat.toml --param k=1 --cells 32 --out alone --json -q", &here);
    assert_eq!(alone["errors"]["q"]["l2"], members[3]["errors"]["q"]["l2"]["error"]);
    assert_eq!(alone["sums"]["size"]["last"], members[3]["observed"]["size"]);
    for file in
        ["sweep.csv", "sweep.json", "errors.png", "observed_size.png", "k=1,cells=32/final.npz"]
    {
        assert!(here.join("out/heat-sweep").join(file).is_file(), "no {file}");
    }
}

#[test]
fn the_same_command_does_no_run_again_and_more_values_only_the_new_ones() {
    let here = heat("again");
    good("sweep heat.toml --over mesh.cells=8", &here);
    let first = record(&here, "cells=8");
    let table = good("sweep heat.toml --over mesh.cells=8..16/2", &here);
    assert_has(&table, &["2 runs, 2 done", "mesh.cells", "size"]);
    assert_eq!(record(&here, "cells=8"), first);
    // Other settings than those of the folder.
    let message = refused("sweep heat.toml --over mesh.cells=8,16 --set time.end=0.02", &here, 2);
    assert_has(&message, &["2 of 2 runs were done with other settings", "--overwrite"]);
    assert_eq!(record(&here, "cells=8"), first);
    good("sweep heat.toml --over mesh.cells=8 --set time.end=0.02 --overwrite", &here);
    assert_ne!(record(&here, "cells=8").0, first.0);
    // A run that did not come to its end has no results.
    let path = here.join("out/heat-sweep/cells=16/member.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    value["run"] = serde_json::Value::Null;
    fs::write(&path, value.to_string()).unwrap();
    good("sweep heat.toml --over mesh.cells=16", &here);
    let again: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        again["run"]["steps"],
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["run"]["steps"]
    );
}

#[test]
fn a_run_that_fails_does_not_end_the_others() {
    let here = heat("failed");
    let words = "sweep heat.toml --over time.dt=1e-3,1,2e-3";
    let output = common::stencil(words, &here);
    let (table, message) = (common::text(&output.stdout), common::text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_has(&table, &["3 runs, 2 done, 1 failed", "time.dt=1 failed with code 2", "R0401"]);
    assert_has(&message, &["1 of 3 runs failed", "3/3"]);
    let sweep = fs::read_to_string(here.join("out/heat-sweep/sweep.json")).unwrap();
    let sweep: serde_json::Value = serde_json::from_str(&sweep).unwrap();
    assert_eq!(sweep["members"][1]["state"], "failed");
    assert_eq!(sweep["members"][2]["state"], "done");
}

#[test]
fn mistakes_are_told_before_the_first_run() {
    let here = heat("mistakes");
    for (words, parts) in [
        ("--over params.kk=1,2", &["--over params.kk=1"][..]),
        ("--over mesh.cells=8,many", &["many"]),
        ("--over mesh.cells=8,8", &["twice"]),
        ("--over mesh.cells=8 --set mesh.cells=9", &["`mesh.cells` is set twice"]),
        ("--over output.dir=a,b", &["--out"]),
        ("--over params.k=0..1", &["no number of values"]),
        ("--over mesh.cells=8 --jobs 0", &["--jobs"]),
    ] {
        let message = refused(&format!("sweep heat.toml {words}"), &here, 2);
        assert_has(&message, parts);
    }
    assert!(!here.join("out").exists());
}
