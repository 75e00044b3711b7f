//! Reports of plans: text, JSON, differences, pictures, and errors of the command line.

use std::fs;
use std::path::PathBuf;

use clap::Parser;
use serde_json::Value;
use stencil_runtime::backend::cuda;

use crate::explain::tests::{Command, NAVIER_STOKES, explain, fits, has_lines, try_explain};

/// The smallest search, without a compiler: tests are of the reports.
const FEW: &str = "--candidates 3 --no-compile --cells 64";

fn plan(line: &str) -> String {
    explain(&format!("{line} --plan {FEW}"))
}

fn json(line: &str) -> Value {
    serde_json::from_str(&plan(&format!("{line} --json"))).unwrap()
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap()
}

/// A folder of a test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("plan-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// A declaration in a file.
fn declared(name: &str, text: &str) -> PathBuf {
    let folder = folder(name);
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("system.pde");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn a_step_is_a_tree_of_substeps_fills_and_kernels() {
    let page = plan("ns --mixed composed --schedule decomposed");
    has_lines(
        &page,
        &[
            "PLAN of IsothermalNs in f32, 64 x 64 x 64 cells on H200",
            "  placed    global exchange div_u",
            "├─ substep 1 of 3",
            "└─ substep 3 of 3",
            "│  ├─ kernel IsothermalNs_1_1",
            "│  │  ├─ stores      div_u (line",
            "│  └─ kernel IsothermalNs_1_2",
            "│     ├─ equations   ddt(lnrho) (line",
            "│     ├─ lets        s (line",
            "│     ├─ reads       lnrho, u_x, u_y, u_z, div_u at 19 points, radius 3",
            "│     ├─ registers",
            "│     ├─ occupancy   1 block on a multiprocessor",
            "    div_u",
            "REJECTED",
        ],
    );
    // The kernels of two substeps that store the same function are shown once.
    assert!(page.contains(": as IsothermalNs_1_1\n"), "{page}");
    fits(&page);
    assert_eq!(page, plan("ns --mixed composed --schedule decomposed"));
}

#[test]
fn a_step_is_told_for_a_burst_and_without_rests() {
    let words = |page: &str| {
        let words = page.split_whitespace().filter(|word| *word != "│");
        words.collect::<Vec<_>>().join(" ")
    };
    let line = "ns --schedule carried --cells 256";
    let page = explain(&format!("{line} --plan --no-compile"));
    assert!(words(&page).contains(" of the clock; 3 kernels"), "{page}");
    let page = plan("ns --schedule direct --on K40");
    let known = words(&page).contains("; no limit of power is known of K40; 3 kernels");
    assert!(known, "{page}");
    let report: Value =
        serde_json::from_str(&explain(&format!("{line} --plan --no-compile --json"))).unwrap();
    let plan = &report["plan"];
    let (burst, held) = (&plan["predicted_s"], &plan["sustained"]["clock_held"]);
    let ratio = number(&plan["sustained"]["predicted_s"]) / number(burst);
    // A kernel that memory bounds takes no longer.
    assert!(ratio > 1.0 && number(held) < 1.0 && ratio < 1.0 / number(held));
    assert_eq!(plan["sustained"]["is_power_known"], true);
}

#[test]
fn fills_stand_before_the_kernels_that_wait_for_them() {
    let page = plan("heat --schedule direct");
    let lines: Vec<&str> = page.lines().collect();
    let fill = lines.iter().position(|l| l.contains("fill ghost cells, 3 deep, of q"));
    assert!(lines[fill.unwrap() + 1].contains("kernel Heat_1_1"), "{page}");
    // A march reads beyond one end of a periodic mesh at the other.
    assert!(!plan("heat --schedule gathered").contains("fill ghost"));
}

/// Two arrays of 64 x 64 x 3 cells at either end, one for each field and the stored function.
#[test]
fn several_devices_have_exchanges_and_kernels_beside_them() {
    let line = "ns --mixed composed --schedule decomposed --devices 2";
    let page = plan(line);
    has_lines(
        &page,
        &[
            "DEVICES: the step of one device of 2",
            "  The mesh is cut into 1 x 1 x 2 boxes of 64 x 64 x 32 cells at most",
            "  substep  depth  received    takes  exposed  beside",
        ],
    );
    fits(&page);
    let devices = &json(line)["devices"];
    assert_eq!((&devices["count"], &devices["boxes"]), (&2.into(), &serde_json::json!([1, 1, 2])));
    let exchanges = devices["exchanges"].as_array().unwrap();
    // Before both kernels of each substep.
    assert_eq!(exchanges.len(), 6);
    for exchange in exchanges {
        let buffers = exchange["buffers"].as_array().unwrap().len() as f64;
        assert_eq!(exchange["depth"], serde_json::json!([0, 0, 3]));
        assert_eq!(number(&exchange["received_bytes"]), buffers * 2.0 * 3.0 * 64.0 * 64.0 * 4.0);
        let beside = &exchange["beside"];
        assert!(beside.is_null() || (0.0..1.0).contains(&number(&beside["share"])), "{exchange:#}");
    }
    let alone = "ns --schedule direct";
    assert!(!plan(alone).contains("DEVICES") && json(alone)["devices"].is_null());
    let line = format!("{alone} --plan {FEW} --devices 1000003");
    assert!(
        try_explain(&line).unwrap_err().to_string().contains("cannot be cut into 1000003 boxes")
    );
}

#[test]
fn json_has_all_of_it_and_its_parts_add_up() {
    let report = json("ns --mixed composed --schedule decomposed");
    let plan = &report["plan"];
    assert_eq!(plan["placements"]["div_u"], "global exchange");
    let substeps = plan["substeps"].as_array().unwrap();
    let entries: Vec<&Value> = substeps.iter().flat_map(|s| s.as_array().unwrap()).collect();
    let kernels: Vec<&&Value> = entries.iter().filter(|e| e["kernel"].is_string()).collect();
    assert_eq!((substeps.len(), kernels.len()), (3, 6));
    let mut seconds = 0.0;
    for entry in &entries {
        seconds += match entry["kernel"].is_string() {
            true => {
                number(&entry["predicted_s"]["total"])
                    + stencil_compiler::cost::MODELS[0].rates.launch
            }
            false => number(&entry["predicted_s"]),
        };
    }
    assert!((seconds / number(&plan["predicted_s"]) - 1.0).abs() < 1e-9);
    for kernel in kernels {
        assert!(number(&kernel["bytes"]["memory"]) >= number(&kernel["bytes"]["least"]));
        assert!(
            number(&kernel["occupancy"]["warps"]) > 0.0
                && kernel["registers"]["compiled"].is_null()
        );
        let given = kernel["equations"].as_array().unwrap().len();
        assert!(given + kernel["stores"].as_array().unwrap().len() > 0, "{kernel}");
    }
}

#[test]
fn fused_substeps_are_told_of_where_the_plan_has_none() {
    let page = plan("ns");
    assert!(page.contains("  fused substeps: fused, +"), "{page}");
    // Two substeps at once with accumulators do not fit.
    let accumulators = "rk3_williamson<storage = accumulator>";
    let given = declared("accumulators", &NAVIER_STOKES.replace("rk3_williamson", accumulators));
    let page = plan(given.to_str().unwrap());
    assert!(page.contains("  fused substeps: none of"), "{page}");
    assert!(page.contains("2 substeps fused"), "{page}");
    let given = declared(
        "unfused",
        "pub system Pulled in 2d { field q: scalar; ddt(q) = lap(q) + t; }
         scheme s for Pulled { space: central<order = 2>; time: euler; }",
    );
    let page = plan(given.to_str().unwrap());
    assert!(page.contains("  fused substeps: not possible: "), "{page}");
}

#[test]
fn where_speeds_of_waves_come_from_is_told() {
    let of = |items: &str| {
        let text = format!(
            "pub system S in 1d {{ conserved h: scalar; conserved m: vector; {items} }}
             scheme s for S {{ reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk2; }}"
        );
        plan(declared("waves", &text).to_str().unwrap())
    };
    let declared = of("flux h -> m; flux m -> outer(m, m)/h + h^2/2*I;
        waves { flow: m/h; sound: sqrt(h); }");
    assert!(declared.contains("  waves     as declared: flow"));
    let derived = of("flux h -> m; flux m -> outer(m, m)/h + h^2/2*I;");
    assert!(derived.contains("  waves     derived from the fluxes"));
    let bounds =
        "pub system S in 1d { conserved a: scalar; conserved b: scalar; conserved c: scalar;
        flux a -> [b]; flux b -> [c]; flux c -> [7*b - 2*a]; }
        scheme s for S { reconstruct: constant; riemann: hll; time: euler; }";
    let bounds = plan(self::declared("bounds", bounds).to_str().unwrap());
    assert!(bounds.contains("  waves     bounds from the fluxes"), "{bounds}");
    assert!(!plan("heat").contains("  waves "));
}

#[test]
fn a_cut_has_the_bound_of_the_paper() {
    let report = json("ns --mixed composed --schedule decomposed");
    let cuts = report["cuts"].as_array().unwrap();
    let cut = cuts.iter().find(|cut| cut["what"] == "div_u").unwrap();
    assert_eq!(cut["is_made"], true);
    // M_initial / sum of M_i, times BW_max / BW_initial.
    let (initial, after) = (number(&cut["uncut"]["bytes"]), number(&cut["cut"]["bytes"]));
    let bound = initial / after / number(&cut["uncut"]["of_copy"]);
    assert!((bound / number(&cut["bound"]) - 1.0).abs() < 1e-9);
    assert!(number(&cut["bound"]) >= number(&cut["predicted"]));
    assert!(number(&cut["bytes"]) > 0.0);
    assert!(cuts.iter().any(|cut| cut["is_made"] == false));
}

#[test]
fn without_a_schedule_the_fastest_candidate_is_the_plan() {
    let report = json("heat");
    let own = number(&report["plan"]["predicted_s"]);
    let rejected = report["rejected"].as_array().unwrap();
    let times: Vec<f64> = rejected.iter().filter_map(|r| r["predicted_s"].as_f64()).collect();
    assert!(!times.is_empty() && times.iter().all(|seconds| *seconds >= own));
    let refused: Vec<&Value> = rejected.iter().filter(|r| r["runs"] == false).collect();
    assert!(refused.iter().any(|r| r["reason"].as_str().unwrap().contains("for a processor")));
    assert!(rejected.iter().all(|r| !r["reason"].as_str().unwrap().is_empty()));
    assert!(report["plan"]["why"].as_str().unwrap().starts_with("by the model the fastest of"));
    // Presets that come to one plan are one candidate.
    let twins = rejected.iter().flat_map(|r| r["same_as"].as_array().unwrap());
    assert!(twins.count() > 0 || report["plan"]["why"].as_str().unwrap().contains(" = "));
}

#[test]
fn pages_name_what_all_kernels_have_and_is_not_the_default() {
    let folder = folder("layout");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("x.schedule");
    for (layout, named) in [("aos", true), ("surface", true), ("soa", false)] {
        fs::write(&file, format!("schedule\nlayout {layout}\nkernel direct\n")).unwrap();
        let line = format!("ns --mixed composed --schedule {}", file.display());
        for page in [plan(&line), explain(&line)] {
            let is_it = |line: &str| line.split_whitespace().eq(["layout", layout]);
            assert_eq!(page.lines().any(is_it), named, "{page}");
        }
        let units = plan(&line).contains("texture units");
        assert_eq!(units, layout == "surface");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn boxes_are_refused_by_cards_that_have_none() {
    let folder = folder("boxes");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("boxes.schedule");
    fs::write(&file, "schedule\nkernel march tile_x=32 tile_y=8 loader=1\n").unwrap();
    let line = |on: &str| format!("heat --plan {FEW} --on {on} --schedule {}", file.display());
    assert!(try_explain(&line("H200")).is_ok());
    let error = try_explain(&line("A100")).unwrap_err().to_string();
    assert!(error.contains("compute capability 9.0, and A100 has 8.0"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn two_plans_are_compared() {
    let page = plan("ns --mixed composed --schedule decomposed --against carried");
    let diff = &page[page.find("DIFFERENCES from `carried` to `decomposed`").unwrap()..];
    has_lines(diff, &["    inline -> global exchange: div_u", "  kernels ", "  predicted time "]);
    assert!(diff.lines().any(|l| l.starts_with("    + 1: march") && l.ends_with("gives div_u")));
    let row = diff.lines().find(|l| l.starts_with("  kernels  ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["kernels", "3", "6", "+100", "%"]);
    let same = plan("heat --schedule gathered --against decomposed");
    assert!(same.contains("none: both come to the same plan"), "{same}");
    let report = json("ns --mixed composed --schedule decomposed --against carried");
    let step = &report["differences"]["step"];
    assert_eq!((number(&step["kernels"]["from"]), number(&step["kernels"]["to"])), (3.0, 6.0));
    assert_eq!(report["against"]["name"], "carried");
}

#[test]
fn what_is_wrong_is_told_with_the_way_out() {
    for (line, words) in [
        ("heat --plan --schedule marched", "no preset and no file `marched`"),
        ("heat --plan --against marched", "no preset and no file `marched`"),
        ("heat --plan --schedule cpu", "its rows are for a processor\n  help: --on names"),
        ("heat --plan --cells 0", "--cells takes one number"),
        ("heat --plan --cells 4,4", "--cells takes one number"),
        (
            "heat --plan --no-compile --candidates 1 --pictures /proc/none",
            "--pictures names a folder",
        ),
    ] {
        let error = try_explain(line).unwrap_err().to_string();
        assert!(error.contains(words), "{line}: {error}");
    }
    for line in ["--json", "--against cpu", "--pictures x", "--candidates 3", "--plan --analyze"] {
        let words = ["explain", "heat"].into_iter().chain(line.split_whitespace());
        assert!(Command::try_parse_from(words).is_err(), "{line}");
    }
}

#[test]
fn an_illegal_schedule_is_answered_with_legal_ones() {
    let folder = folder("illegal");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("x.schedule");
    fs::write(&file, "schedule\nplace ddt_u_x carried\nkernel direct\n").unwrap();
    let line = format!("ns --plan {FEW} --schedule {}", file.display());
    let error = try_explain(&line).unwrap_err().to_string();
    assert!(
        error.contains("is illegal: `ddt_u_x` is placed carried")
            && error.contains("help: `ddt_u_x` may be placed"),
        "{error}"
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn without_a_card_nothing_is_analyzed() {
    if cuda::Card::all().is_ok_and(|cards| !cards.is_empty()) {
        return;
    }
    let error = try_explain("heat --analyze").unwrap_err().to_string();
    assert!(
        error.starts_with("error: ") && error.contains("--plan predicts without a card"),
        "{error}"
    );
}

#[test]
fn pictures_are_saved_and_named() {
    let folder = folder("pictures");
    let page = plan(&format!("heat --schedule gathered --pictures {}", folder.display()));
    for name in ["graph", "stencil", "roofline"] {
        for kind in ["svg", "png"] {
            let file = folder.join(format!("Heat-f32-{name}.{kind}"));
            assert!(page.lines().any(|line| line == file.display().to_string()), "{page}");
            assert!(fs::metadata(&file).unwrap().len() > 1000);
        }
    }
    let svg = fs::read_to_string(folder.join("Heat-f32-stencil.svg")).unwrap();
    // Three faces of each of the 19 cubes.
    assert!(svg.matches("<polygon").count() > 57, "{svg}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_forecast_has_a_row_for_each_number_of_devices() {
    let line = "ns --schedule direct --cells 64 --devices 1,8,64";
    for (scaling, cells) in [("strong", [16, 16, 16]), ("weak", [64, 64, 64])] {
        let line = format!("{line} --scaling {scaling}");
        let page = try_explain(&line).unwrap();
        has_lines(&page, &["  devices  boxes  cells of one"]);
        let words = page.contains("NVLink4") && page.contains("NDR");
        assert!(words && page.contains("Predicted, not measured"), "{page}");
        let text = try_explain(&format!("{line} --json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let points = json["points"].as_array().unwrap();
        assert_eq!((points.len(), number(&points[0]["efficiency"])), (3, 1.0));
        assert_eq!(points[2]["cells"], serde_json::json!(cells));
        let shares: Vec<f64> = points.iter().map(|point| number(&point["efficiency"])).collect();
        assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
    }
    let several = try_explain("ns --plan --devices 1,2").unwrap_err().to_string();
    assert!(several.contains("--scaling"), "{several}");
}

/// Ways of devices differ in when values come, not in the step of one device; the planned one is among them.
#[test]
fn several_devices_have_ways_to_get_values() {
    let line = "ns --schedule direct --on H100 --devices 2";
    let page = plan(line);
    has_lines(&page, &["  overlap  ghosts  ", "  store         1  "]);
    fits(&page);
    let devices = &json(line)["devices"];
    let ways = devices["ways"].as_array().unwrap();
    let named = |way: &&Value| way["overlap"] == devices["overlap"] && way["ghosts"] == 1;
    let planned = ways.iter().find(named).unwrap();
    assert_eq!(
        (&devices["overlap"], &planned["predicted_s"]),
        (&"store".into(), &devices["predicted_s"])
    );
    let seconds: Vec<f64> = ways.iter().map(|way| number(&way["predicted_s"])).collect();
    assert!(seconds.len() >= 4 && seconds.is_sorted(), "{seconds:?}");
    // Ghost cells that last are computed twice; along two cut axes no launch stores.
    let lasts = ways.iter().find(|way| way["ghosts"] == 3).unwrap();
    assert!(number(&lasts["redundant_share"]) > 0.0);
    let cut = &json("ns --schedule direct --on H100 --devices 8")["devices"];
    assert!(cut["ways"].as_array().unwrap().iter().all(|way| way["overlap"] != "store"));
}

#[test]
fn a_streamed_mesh_has_a_row_for_each_number_of_steps_in_a_pass() {
    let line = "ns --schedule direct --plan --candidates 3 --no-compile --cells 32,32,1024";
    let shown = |more: &str| try_explain(&format!("{line} {more}"));
    let page = shown("--stream auto --card-memory 30MB --bus 2GB --on H100").unwrap();
    has_lines(&page, &["STREAMED: ", "  steps  slabs  layers  of each"]);
    // Whatever line a word is on.
    let says = |page: &str, words: &str| {
        let all: Vec<&str> = page.split_whitespace().collect();
        assert!(all.join(" ").contains(words), "{page}");
    };
    says(&page, "Bus: 2.0 GB/s each way, as given");
    fits(&page);
    let text = shown("--stream auto --card-memory 30MB --bus 2GB --json --on H100").unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let streamed = &json["streamed"];
    let passes = streamed["passes"].as_array().unwrap();
    let step = |of: &Value| number(&of["predicted_s_a_step"]);
    let least = passes.iter().map(step).fold(f64::INFINITY, f64::min);
    let chosen = passes.iter().find(|of| of["steps_a_pass"] == streamed["chosen_steps_a_pass"]);
    let chosen = chosen.unwrap();
    // A slow bus: more steps in a pass pay.
    assert!(step(chosen) <= least && number(&chosen["steps_a_pass"]) > 1.0, "{passes:#?}");
    let bytes = |of: &Value| number(&of["bytes_down_a_pass"]);
    assert!(passes.iter().all(|of| bytes(of) == bytes(chosen)));
    let asked = shown("--stream 2 --card-memory 30MB --on H100").unwrap();
    says(&asked, "asked for");
    says(&asked, "PCIe5, 50.0 GB/s each way");
    let whole = shown("--stream auto --card-memory 30GB --on H100").unwrap();
    says(&whole, "does not stream");
    let told = |more: &str| shown(more).unwrap_err().to_string();
    assert!(told("--stream 400 --card-memory 30MB --on H100").contains("no room"));
    assert!(told("--stream auto --card-memory 30MB --on K40").contains("no bus is known for K40"));
}
