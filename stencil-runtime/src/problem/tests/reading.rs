//! The meaning of right files.

use ndarray::Array3;
use stencil_compiler::model::Formulation;

use super::super::boundary::Kind;
use super::*;
use crate::io::{FrameFormat, NpzWriter};
use crate::{Devices, Face, Simulation};

fn flow(changes: &[&str]) -> Problem {
    let changes: Vec<Change> = changes.iter().map(|c| Change::set(c)).collect();
    parse(FLOW, &changes).unwrap_or_else(|e| panic!("{e}"))
}

fn run(problem: &Problem, steps: u64) -> Simulation<f64> {
    let mut simulation = problem.builder::<f64>().build().unwrap();
    problem.initialize(&mut simulation).unwrap();
    simulation.run(steps, |_, _| ()).unwrap();
    simulation
}

/// A restart does not depend on patches.
#[test]
fn patches_arrive_and_are_written_where_there_are_many() {
    let problem = flow(&["mesh.patches=4,3"]);
    assert_eq!(problem.patches, Some([4, 3, 1]));
    let text = problem.to_toml(None);
    assert!(text.contains("patches = [4, 3]"), "{text}");
    let again = parse(&text, &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.to_toml(None), text);
    assert!(!flow(&[]).to_toml(None).contains("patches"));

    let changed = |patches: &str| parse(FLOW, &[Change::set(patches)]).unwrap_err().to_string();
    let message = changed("mesh.patches=2,13");
    let expected = [
        "the cells along y (12) cannot be cut into 13 patches",
        "give a number of patches from 1 to 12",
    ];
    assert!(expected.iter().all(|part| message.contains(part)), "{message}");
    assert!(changed("mesh.patches=0").contains("give a whole number from 1 on"));
}

#[test]
fn devices_arrive_and_are_written_where_there_are_many() {
    for (given, devices, written) in [
        ("mesh.devices=2", Devices::Count(2), "devices = 2"),
        ("mesh.devices=0,1,5", Devices::Cards(vec![0, 1, 5]), "devices = [0, 1, 5]"),
        ("mesh.devices=[1]", Devices::Cards(vec![1]), "devices = [1]"),
        ("mesh.devices=all", Devices::All, "devices = \"all\""),
    ] {
        let problem = flow(&[given]);
        assert_eq!(problem.devices, devices);
        let text = problem.to_toml(None);
        assert!(text.contains(written), "{text}");
        let again = parse(&text, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.to_toml(None), text);
    }
    assert!(!flow(&[]).to_toml(None).contains("devices"));
    // A box for each.
    let mut simulation = run(&flow(&["mesh.devices=4", "time.dt=1e-3"]), 1);
    assert_eq!((simulation.devices(), simulation.patches()), (4, [2, 2, 1]));
    assert_eq!(simulation.bits().unwrap(), run(&flow(&["time.dt=1e-3"]), 1).bits().unwrap());

    for (given, message) in [
        ("mesh.devices=0", "0 devices do no steps"),
        ("mesh.devices=1,1", "card 1 is listed twice"),
        ("mesh.devices=-1", "`-1` is no number of devices"),
        ("mesh.devices=[]", "no devices are given"),
        ("mesh.devices=true", "a number, a list of cards or \"all\""),
        ("mesh.devices=one", "write `all`, a count such as `2`, or cards such as `0,1`"),
    ] {
        let told = parse(FLOW, &[Change::set(given)]).unwrap_err().to_string();
        assert!(told.contains(message), "{told}");
    }
    let few = [Change::set("mesh.patches=2,1"), Change::set("mesh.devices=3")];
    let told = parse(FLOW, &few).unwrap_err().to_string();
    assert!(told.contains("3 devices cannot share 2 patches"), "{told}");
}

#[test]
fn every_setting_arrives() {
    let problem = flow(&[]);
    assert_eq!(problem.mesh.cells, [16, 12, 1]);
    assert_eq!(problem.mesh.extent, [std::f64::consts::TAU, 3.0, 1.0]);
    assert_eq!(problem.mesh.origin, [0.0, -1.5, 0.0]);
    assert!(problem.mesh.centered);
    assert_eq!(problem.params, [("nu".to_string(), 0.1), ("c".to_string(), 6.0)]);
    let scheme = &problem.system.algorithm().scheme;
    assert_eq!(scheme, "problem: central order 4, mixed composed, time euler");
    let h = 0.25;
    assert_eq!(problem.time.dt, TimeStep::Fixed(0.1 * h / 6.0));
    assert_eq!((problem.time.end, problem.time.steps), (Some(1.0), Some(100)));
    assert_eq!(problem.output.fields, ["u_x", "u_y", "rho"]);
    assert_eq!((problem.output.every, problem.output.series_every), (Some(10), 2));
    assert_eq!(problem.plots[0].range, Some([0.0, 1.0]));
    let Shown::Pointwise(speed) = &problem.plots[0].value else { panic!("no formula") };
    assert_eq!(speed.at([0.0; 3], 0.0, &[9.0, 3.0, 4.0]), 5.0);
    assert!(
        matches!(&problem.plots[2].value, Shown::Quantity(q) if q.text() == "d[x](u.y) - d[y](u.x)")
    );
    assert_eq!(problem.plots[1].file, "rho");
}

#[test]
fn frames_are_chosen_and_written_back() {
    let plain = flow(&[]);
    assert_eq!(plain.output.formats, [FrameFormat::Npz]);
    assert!(!plain.to_toml(None).contains("format"));
    let of_frames = "every_time = \"1/8\"\nformat = [\"zarr\", \"npz\"]\nslice = \"y = 0.5\"\n\
         precision = \"f32\"\ncompress = 2\n";
    let problem = parse(&with("every = 10\n", of_frames), &[]).unwrap();
    let output = &problem.output;
    assert_eq!((output.every, output.every_time), (None, Some(0.125)));
    assert_eq!(output.formats, [FrameFormat::Zarr, FrameFormat::Npz]);
    assert_eq!(output.slice, Some((crate::Axis::Y, 0.5)));
    assert_eq!((output.precision, output.compress), (Some(Precision::F32), Some(2)));
    let again = parse(&problem.to_toml(None), &[]).unwrap();
    assert_eq!(again.output, problem.output);

    let single = [Change::set("precision=f32"), Change::set("output.precision=f64")];
    let told = parse(FLOW, &single).unwrap_err().to_string();
    assert!(told.contains("frames in f64 of a run in f32"), "{told}");
}

#[test]
fn expressions_use_what_stands_above_them() {
    let problem = flow(&[]);
    let (x, y) = (0.5_f64, -0.25_f64);
    let rho = &problem.initial.values["rho"];
    let expected = 1.0 + (-(x * x + y * y)).exp();
    assert!((rho.at([x, y, 0.0], 0.0, &[]) - expected).abs() < 1e-14);
    assert_eq!(problem.initial.values["u_y"].at([x, y, 0.0], 0.0, &[]), 1.5 * y);
    assert_eq!(problem.initial.values["u_x"].constant(), Some(0.0));
    assert!(problem.sources["f_y"].uses_time() && !problem.sources["f_x"].uses_time());
}

#[test]
fn faces_have_a_kind_and_components_their_own() {
    let problem = flow(&[]);
    let find = |face: Face, component: Option<&str>| {
        let mut all = problem.boundary.iter();
        let found = all.find(|f| f.face == face && f.component.as_deref() == component);
        &found.unwrap_or_else(|| panic!("{face} {component:?}")).kind
    };
    assert_eq!(find(Face::Y_LO, None), &Kind::Named("wall"));
    assert!(matches!(find(Face::Y_LO, Some("u_x")), Kind::Dirichlet(e) if e.uses_time()));
    assert!(matches!(find(Face::Y_HI, None), Kind::Neumann(e) if e.constant() == Some(0.0)));
    assert!(
        matches!(find(Face::Y_HI, Some("u_x")), Kind::Dirichlet(e) if e.constant() == Some(1.5))
    );
    let Kind::Formula(ghost) = find(Face::Y_HI, Some("rho")) else { panic!("no formula") };
    // Mirror images of rho, u_x, u_y, then the values next to the face.
    assert_eq!(ghost.at([0.0; 3], 0.0, &[3.0, 0.0, 0.0, 2.0, 0.0, 0.0]), 2.1);
    assert_eq!(ghost.reads(), [0, 3]);
}

#[test]
fn settings_can_be_changed_from_outside() {
    let problem = flow(&[
        "mesh.cells=32,24",
        "params.nu = 1e-3",
        "precision=f32",
        "boundary.y=periodic",
        "init.rho=2",
        "let.speed='c/2'",
        "output.dir=elsewhere",
    ]);
    assert_eq!(problem.mesh.cells, [32, 24, 1]);
    assert_eq!(problem.params[0].1, 1e-3);
    assert_eq!(problem.precision, Precision::F32);
    assert!(problem.boundary.iter().all(|f| f.kind == Kind::Named("periodic")));
    assert_eq!(problem.initial.values["rho"].constant(), Some(2.0));
    assert_eq!(problem.output.dir, Path::new("elsewhere"));
    assert_eq!(flow(&["mesh.cells=8"]).mesh.cells, [8, 8, 1]);
    let option = [Change::option("--steps", "time.steps", "7"), Change::remove("time.end")];
    let time = parse(FLOW, &option).unwrap().time;
    assert_eq!((time.steps, time.end), (Some(7), None));
    let path = [Change::text("--out", "output.dir", "a, b = [c]")];
    assert_eq!(parse(FLOW, &path).unwrap().output.dir, Path::new("a, b = [c]"));
}

#[test]
fn what_is_written_reads_as_the_same_and_gives_the_same_bits() {
    let problem = flow(&["mesh.extent=[\"1/3\", 0.7]", "params.nu=0.30000000000000004"]);
    let text = problem.to_toml(None);
    let again = parse(&text, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.to_toml(None), text);
    assert_eq!(again.boundary, problem.boundary);
    assert_eq!(again.plots, problem.plots);
    let (one, two) = (run(&problem, 5), run(&again, 5));
    for name in ["rho", "u_x", "u_y"] {
        assert_eq!(one.field(name).unwrap(), two.field(name).unwrap(), "{name}");
    }
    let moved = one.field("u_y").unwrap().iter().any(|v| *v != 0.0);
    assert!(moved);
}

/// A tracer that flows, with a scheme for its fluxes.
const LAW: &str = r#"
system = """
system Law in 1d {
    conserved q: scalar; let v = q; let p = q;
    flux q -> [v*q];
    primitive { v; q = v; }
    waves { flow: [2*q]; density: q; pressure: p; }
}
scheme first for Law { reconstruct: ppm; riemann: force; }
"""
scheme = { riemann = "rusanov", reconstruct = "plm<limiter = generalized_minmod, theta = 1.5> in primitive" }
[mesh]
cells = 8
[init]
q = 1
[time]
dt = 0.1
end = 1
"#;

#[test]
fn a_scheme_for_fluxes_survives_writing() {
    let problem = parse(LAW, &[]).unwrap_or_else(|e| panic!("{e}"));
    let again = parse(&problem.to_toml(None), &[]).unwrap_or_else(|e| panic!("{e}"));
    let [scheme, same] = [&problem, &again].map(|p| &p.system.model().scheme);
    assert_eq!(
        (scheme.riemann.as_str(), scheme.limiter.as_str()),
        ("rusanov", "generalized_minmod")
    );
    let made = "plm<limiter = generalized_minmod, theta = 1.5> in primitive";
    assert_eq!(scheme.reconstruction_text(), made);
    // The written scheme leaves nothing open.
    assert!(same.settles(scheme) && !same.is_open());
    let waves = "riemann = \"roe<fix = 0.2>\", reconstruct = \"waves<limiter = mc>\", sweep = \"dimensional\", source = \"strang\", time = \"euler\"";
    let made = "riemann = \"rusanov\", reconstruct = \"plm<limiter = generalized_minmod, theta = 1.5> in primitive\"";
    let text = LAW.replace(made, waves);
    let problem = parse(&text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let again = parse(&problem.to_toml(None), &[]).unwrap_or_else(|e| panic!("{e}"));
    let [scheme, same] = [&problem, &again].map(|p| &p.system.model().scheme);
    assert_eq!(scheme.riemann_text(), "roe<fix = 0.2>");
    assert_eq!(scheme.sweep.name(), "dimensional");
    assert_eq!(scheme.source.name(), "strang");
    // The written scheme leaves nothing open.
    assert!(same.settles(scheme) && !same.is_open());
    let own = LAW.replace("waves {", "riemann upwind { q = if 0 < below.v + above.v { below.v } else { above.v }; }\n    waves {");
    let problem = parse(&own.replace("rusanov", "upwind"), &[]).unwrap_or_else(|e| panic!("{e}"));
    let again = parse(&problem.to_toml(None), &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(problem.system.model().scheme.riemann, "upwind");
    assert_eq!(problem.system.model().solvers[0].name, "upwind");
    let open = Formulation::default();
    assert_eq!(
        problem.system.model().by(open).without_spans(),
        again.system.model().without_spans()
    );
    let several = parse(&text.replace("euler", "rk4"), &[]).expect_err("rk4");
    assert!(several.to_string().contains("needs whole steps"), "{several}");
    for (right, wrong, message) in [
        ("\"rusanov\"", "\"rusanow\"", "no Riemann solver `rusanow`"),
        ("\"rusanov\"", "\"hll; time: euler\"", "expected one setting, found `;`"),
        ("theta = 1.5", "theta = 3", "a number from 1 to 2"),
        ("theta = 1.5", "phi = 3", "has no setting `phi`"),
    ] {
        let text = LAW.replace(right, wrong);
        let error = parse(&text, &[]).expect_err(wrong).to_string();
        assert!(error.contains(message), "{wrong}: {error}");
    }
}

#[test]
fn texts_of_all_kinds_survive_writing() {
    for title in ["a \"b\" \\ c", "tab\there", "∂ρ/∂t", "'''"] {
        let problem =
            parse(&with(r#"title = "Flow""#, &format!("title = {}", write::quoted(title))), &[]);
        let problem = problem.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(problem.title, title);
        assert_eq!(parse(&problem.to_toml(None), &[]).unwrap().title, title);
    }
    // A title is one line without control characters.
    for title in ["line\nbreak", "\u{1}", "\u{1b}[31m", "\u{9b}"] {
        let title = format!("title = {}", write::quoted(title));
        let errors = parse(&with(r#"title = "Flow""#, &title), &[]).unwrap_err();
        assert!(errors.to_string().contains("control character"), "{errors}");
    }
}

/// A name that is set keeps its place: names below it still see it.
#[test]
fn a_changed_name_is_seen_by_those_below_it() {
    let at = |changes: &[&str]| {
        let problem = flow(changes);
        let mut simulation = problem.builder::<f64>().build().unwrap();
        problem.initialize(&mut simulation).unwrap();
        simulation.field("rho").unwrap()[[0, 0, 0]]
    };
    let [x, y] = [std::f64::consts::TAU / 32.0, -1.5 + 3.0 / 24.0];
    assert!((at(&[]) - 1.0 - (-(x * x + y * y)).exp()).abs() < 1e-14);
    assert!((at(&["let.r=\"x\""]) - 1.0 - (-x * x).exp()).abs() < 1e-14);
}

#[test]
fn entries_of_lists_are_set_by_number() {
    let problem = flow(&[
        "plot.2.value=u_x",
        "plot.2.file=speed",
        "plot.1.range.2=3",
        "mesh.extent.2=4",
        "init.u.1=x",
    ]);
    let values: Vec<&str> = problem.plots.iter().map(|p| p.value.text()).collect();
    assert_eq!(values, ["sqrt(u_x^2 + u_y^2)", "u_x", "d[x](u.y) - d[y](u.x)"]);
    assert_eq!(problem.plots[1].file, "speed");
    assert_eq!(problem.plots[0].range, Some([0.0, 3.0]));
    assert_eq!(problem.plots[0].label, "|u|");
    assert_eq!(problem.mesh.extent[1], 4.0);
    let simulation = run(&problem, 0);
    let x = problem.mesh.coordinate(0, 3);
    assert_eq!(simulation.field("u_x").unwrap()[[0, 2, 3]], x);
}

#[test]
fn errors_are_those_against_the_exact_solution() {
    let problem =
        parse(&with("rho = 1\n", "rho = \"2 + t\"\n"), &[Change::set("init.rho=1")]).unwrap();
    let mut simulation = problem.builder::<f64>().build().unwrap();
    problem.initialize(&mut simulation).unwrap();
    let norms = problem.errors(&simulation).unwrap()["rho"];
    assert_eq!(norms, Norms { l1: 1.0, l2: 1.0, linf: 1.0 });
    let mut values = Array3::from_elem((1, 12, 16), 2.0);
    values[[0, 3, 5]] = 10.0;
    simulation.set_array("rho", values.view()).unwrap();
    let norms = problem.errors(&simulation).unwrap()["rho"];
    assert_eq!(norms.linf, 8.0);
    assert_eq!(norms.l1, 8.0 / 192.0);
    assert!((norms.l2 - (64.0_f64 / 192.0).sqrt()).abs() < 1e-15);
}

#[test]
fn initial_values_come_from_a_file() {
    let path = std::env::temp_dir().join(format!("problem-initial-{}.npz", std::process::id()));
    let rho = Array3::from_shape_fn((1, 12, 16), |(_, y, x)| (100 * y + x) as f64);
    let mut file = NpzWriter::create(&path).unwrap();
    file.array("rho", &rho.view()).unwrap();
    // Without the axis that the system lacks, and in another precision.
    let flat = rho.index_axis(ndarray::Axis(0), 0).mapv(|v| v as f32);
    file.array("u_x", &flat.view()).unwrap();
    file.finish().unwrap();
    let section = format!("[init]\nfile = '{}'\nu_y = \"y\"\n", path.display());
    let problem = parse(&with("[init]\nrho = \"1 + bump\"\nu = [0, \"speed*y\"]\n", &section), &[]);
    let problem = problem.unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = problem.builder::<f64>().build().unwrap();
    problem.initialize(&mut simulation).unwrap();
    assert_eq!(simulation.field("rho").unwrap(), rho);
    assert_eq!(simulation.field("u_x").unwrap(), rho);
    assert_eq!(simulation.field("u_y").unwrap()[[0, 0, 7]], -1.5 + 0.125);
    let text = problem.to_toml(Some("initial.npz"));
    assert!(text.contains("file = \"initial.npz\"") && text.contains("u_y = \"y\""), "{text}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn the_table_of_settings_has_what_is_read() {
    for key in KEYS.iter().filter(|k| k.key != "NAME") {
        let line = key.example.split('=').next().unwrap().trim();
        assert_eq!(line, key.key, "{key:?}");
        assert!(document::parse(0, key.example, &mut mistakes::Mistakes::default()).is_some());
    }
    // The book has the same table.
    let page = include_str!("../../../../docs/src/problems.md");
    for key in KEYS {
        let cell = |text: &str| text.replace('|', "\\|");
        let row = format!("| `{}` | {} |", cell(key.example), cell(key.meaning));
        assert!(page.contains(&row), "{row}");
    }
    // Every setting of the example is in the table, so reading it exercises the table.
    let sections: Vec<&str> = KEYS.iter().map(|k| k.section).collect();
    for section in keys::SECTIONS {
        assert!(sections.contains(section), "{section}");
    }
}

#[test]
fn a_scheme_that_is_not_asked_for_may_be_wrong() {
    let text = |scheme: &str| {
        format!(
            "system = '''
                system Heat in 1d {{ field q: scalar; ddt(q) = lap(q); }}
                scheme wrong for Heat {{ space: central<order = 5>; time: euler; }}
                scheme right for Heat {{ space: central<order = 4>; time: euler; }}
            '''
            {scheme}
            mesh.cells = 16
            init.q = 'x'
            time = {{ dt = 1e-4, steps = 1 }}"
        )
    };
    let problem = parse(&text("scheme = 'right'"), &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(problem.system.model().scheme.order, 4);
    for scheme in ["", "scheme = 'wrong'"] {
        let error = parse(&text(scheme), &[]).unwrap_err().to_string();
        assert!(error.contains("error[P0312]"), "{error}");
    }
}

#[test]
fn the_spacing_and_a_parameter_are_not_one_name() {
    let text =
        "system = 'system Wave in 1d { field q: scalar; param h: real = 2; ddt(q) = -h*d[x](q); }'
        mesh.cells = 16
        init.q = 'h*x'
        time = { dt = '0.01*h', steps = 1 }";
    let error = parse(text, &[]).unwrap_err().to_string();
    assert!(error.contains("error[F0106]") && error.contains("a parameter of Wave"), "{error}");
    assert!(parse(&text.replace("0.01*h", "0.01"), &[]).is_ok());
}
