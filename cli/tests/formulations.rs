//! Formulations that declarations leave open: searched on demand, kept in plan files, and used where these are.

use std::path::{Path, PathBuf};

use stencil_compiler::algorithm::text::fingerprint;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::Formulation;
use stencil_compiler::schedule::Schedule;
use stencil_compiler::search::plans::{Chosen, Key, Plan, Plans};
use stencil_runtime::SystemDef;
use stencil_runtime::backend::cuda::Card;
use stencil_runtime::io::Npz;

mod common;

use common::{assert_has, good, stencil, text};

/// Waves of which the choice matters: a derivative of a sum of derivatives.
const WAVES: &str = "pub system Waves in 2d {
    field q: scalar; field p: scalar; param c: real = 0.3;
    let s = d[x](q) + d[y](q);
    ddt(q) = p; ddt(p) = c*(d[x](s) - 2*d[y](s) + lap(q));
}
scheme open for Waves { space: central<order = 4>; mixed: either; time: rk3_williamson; }
";

const PROBLEM: &str = "system = 'waves.pde'
mesh.cells = [24, 20]
init.q = 'sin(2*pi*x)*cos(2*pi*y) + 0.1*sin(4*pi*(x + y))'
init.p = '0.2*cos(2*pi*(x - y))'
time = { dt = 1e-3, steps = 4 }
precision = 'f64'
";

/// Runs a command that is refused, and returns all that it printed.
fn refused(words: &str, folder: &Path) -> String {
    let output = stencil(words, folder);
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words}: {printed}");
    printed
}

/// A folder of a test's own, with the waves and their problem.
fn folder(name: &str) -> PathBuf {
    let folder = common::folder(name);
    for (name, text) in [("waves.pde", WAVES), ("waves.toml", PROBLEM)] {
        std::fs::write(folder.join(name), text).unwrap_or_else(|e| panic!("{e}"));
    }
    folder
}

/// A plan of the processor's schedule for a system by a formulation.
fn plan(system: &SystemDef, formulation: &str, precision: Precision) -> Plan {
    let formulation: Formulation = formulation.parse().unwrap_or_else(|e| panic!("{e}"));
    let settled = system.by(formulation).unwrap_or_else(|e| panic!("{e}"));
    let card = Card::all().ok().and_then(|all| all.into_iter().next());
    Plan {
        key: Key {
            system: system.name().to_string(),
            problem: fingerprint(settled.algorithm()),
            precision,
            cells: [24, 20, 1],
            card: card.map_or("some card".into(), |card| card.name),
        },
        chosen: Some(Chosen { formulation, of: fingerprint(system.algorithm()) }),
        rate: 1.0,
        schedule: Schedule { placements: Default::default(), ..settled.schedule().clone() },
    }
}

/// A plan file that settles the waves otherwise in each precision.
fn settle(folder: &Path) {
    let system = SystemDef::from_text("waves.pde", WAVES).unwrap_or_else(|e| panic!("{e}"));
    let plans = Plans(vec![
        plan(&system, "mixed product", Precision::F32),
        plan(&system, "mixed composed", Precision::F64),
    ]);
    std::fs::write(folder.join("some.plans"), plans.print()).unwrap_or_else(|e| panic!("{e}"));
}

/// The bits of a field at the end of a run.
fn bits(folder: &Path) -> Vec<u64> {
    let mut file = Npz::open(folder.join("final.npz")).unwrap_or_else(|e| panic!("{e}"));
    let field = file.array_f64("p").unwrap_or_else(|e| panic!("{e}"));
    field.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn a_run_with_a_plan_has_the_bits_of_the_explicit_choice() {
    let here = folder("run");
    settle(&here);
    let printed = good("run waves.toml --schedule some.plans --out plan", &here);
    assert_has(
        &printed,
        &[
            "open: central order 4, mixed composed",
            "mixed composed, as some.plans chose; the declaration leaves it open",
            "mixed composed, by some.plans",
        ],
    );
    good("run waves.toml --set scheme.mixed=composed --out explicit", &here);
    good("run waves.toml --out usual", &here);
    let of = |out: &str| bits(&here.join(out));
    assert_eq!(of("plan"), of("explicit"));
    assert_ne!(of("plan"), of("usual"));
    // The command line beats the plan, and the usual choice is bidiagonal.
    good("run waves.toml --set scheme.mixed=bidiagonal --out said", &here);
    assert_eq!(of("said"), of("usual"));
    let told = refused(
        "run waves.toml --set scheme.mixed=bidiagonal --schedule some.plans --out no",
        &here,
    );
    assert_has(&told, &["no plan for Waves in f64"]);
    // The other precision was settled otherwise.
    let args = "run waves.toml --precision f32 --schedule some.plans --json --out f32";
    let json = good(args, &here);
    assert_has(&json, &["\"choice\":\"mixed product\""]);
    assert_has(&json, &["mixed product, time"]);
    // A state goes on by the same formulation, whoever chose it, and by no other one.
    let go_on = "run waves.toml --steps 6 --out on --overwrite --restart";
    good(&format!("{go_on} explicit/final.npz --schedule some.plans"), &here);
    good(&format!("{go_on} plan/final.npz --set scheme.mixed=composed"), &here);
    good(&format!("{go_on} said/final.npz"), &here);
    let told = refused(&format!("{go_on} usual/final.npz --schedule some.plans"), &here);
    assert_has(&told, &["its scheme is `open: central order 4, mixed bidiagonal"]);
    // The problem file that a run writes gives its bits again.
    good("run plan/problem.toml --out again", &here);
    assert_eq!(of("again"), of("plan"));
}

#[test]
fn other_commands_follow_a_plan_where_the_declaration_is_open() {
    let here = folder("others");
    settle(&here);
    let of = "waves.pde --schedule some.plans --precision f64";
    let told = "mixed composed, as some.plans chose; the declaration leaves it open";
    for args in [format!("explain {of}"), format!("emit --target algorithm {of}")] {
        let printed = good(&args, &here).split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = if args.starts_with("emit") { "mixed composed, time" } else { told };
        assert!(printed.contains(expected), "no `{expected}` in\n{printed}");
    }
    let args = "bench waves.pde --schedule some.plans --cells 24,20 --repeat 1 --steps 1 --json";
    let json = good(args, &here);
    assert!(
        ["composed", "product"].iter().all(|m| json.contains(&format!("\"mixed\": \"{m}\""))),
        "{json}"
    );
    let printed = good("emit --target algorithm waves.pde --mixed product", &here);
    assert_has(&printed, &["open: central order 4, mixed product"]);
    // A declaration that makes the choice has no use for the plan.
    let made = WAVES.replace("either", "bidiagonal");
    std::fs::write(here.join("waves.pde"), made).unwrap_or_else(|e| panic!("{e}"));
    let told = refused(&format!("explain {of}"), &here);
    assert_has(&told, &["as it is declared now"]);
    // Unless it is opened again.
    let printed = good(&format!("emit --target algorithm {of} --mixed either"), &here);
    assert_has(&printed, &["mixed composed"]);
}

#[test]
fn a_search_by_the_model_keeps_the_formulation_that_it_finds() {
    let here = folder("tune");
    let tune = "tune waves.pde --on H200 --cells 64,64 --precision f32 --rounds 1 --plans a.plans";
    let printed = good(&format!("{tune} --tune-scheme --json all.json"), &here);
    assert_has(
        &printed,
        &[
            "3 formulations",
            "million points a second, predicted for a burst, mixed ",
            "predicted without rests: ",
        ],
    );
    let read = || {
        let text = std::fs::read_to_string(here.join("a.plans")).unwrap_or_else(|e| panic!("{e}"));
        Plans::parse(&text).unwrap_or_else(|e| panic!("{e}"))
    };
    let plans = read();
    let chosen = plans.0[0].chosen.unwrap_or_else(|| panic!("{plans:?}"));
    let system = SystemDef::from_text("waves.pde", WAVES).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(chosen.of, fingerprint(system.algorithm()));
    let settled = system.by(chosen.formulation).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(plans.0[0].key.problem, fingerprint(settled.algorithm()));
    let json = std::fs::read_to_string(here.join("all.json")).unwrap_or_else(|e| panic!("{e}"));
    for formulation in ["mixed bidiagonal", "mixed product", "mixed composed"] {
        let expected = format!("\"formulation\": \"{formulation}\"");
        assert!(json.contains(&expected), "no {expected}");
    }
    // It is there, also where nothing is to be searched for, and for a search that follows the file.
    for more in ["--tune-scheme", "--tune-scheme --locked", "--locked"] {
        let printed = good(&format!("{tune} {more}"), &here);
        let expected = format!("{}, as found before", chosen.formulation);
        assert!(printed.contains(&expected), "{more}: {printed}");
    }
    // One that is searched for a choice stands beside it and settles nothing.
    good(&format!("{tune} --mixed product --tune-scheme"), &here);
    let plans = read();
    assert!(plans.0.len() <= 2 && plans.0.iter().filter(|p| p.chosen.is_some()).count() <= 1);
    let other = tune.replace("f32", "f64");
    let told = refused(&format!("{other} --tune-scheme --locked"), &here);
    assert_has(&told, &["that chose its formulation"]);
}

/// A plan of the model is for its card, and the one of this machine may be another.
fn for_this_card(file: &Path) {
    let Some(card) = Card::all().ok().and_then(|all| all.into_iter().next()) else {
        return;
    };
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{e}"));
    let text = text.replace("H200 by the model", &card.name);
    std::fs::write(file, text).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn what_is_searched_for_a_choice_is_found_by_that_choice() {
    let here = folder("said");
    let closed = WAVES.replace("either", "bidiagonal");
    std::fs::write(here.join("waves.pde"), closed).unwrap_or_else(|e| panic!("{e}"));
    for (system, cells) in [("waves.pde", "24,20"), ("isothermal_ns", "32")] {
        let of = format!("{system} --mixed composed --precision f64");
        let tune = format!("tune --on H200 --budget 0 --plans of.plans --cells {cells}");
        good(&format!("{tune} {of}"), &here);
        let told = good(&format!("{tune} {of} --locked"), &here);
        assert_has(&told, &["as found before"]);
        for_this_card(&here.join("of.plans"));
        let with = format!("{of} --schedule of.plans");
        for args in [
            format!("emit --target schedule {with} --cells {cells}"),
            format!("explain --plan --no-compile --candidates 0 {with} --cells {cells}"),
            format!("bench {with} --cells {cells} --repeat 1 --steps 1"),
        ] {
            good(&args, &here);
        }
        // It is no plan for what was declared.
        let told = refused(&format!("explain {system} --precision f64 --schedule of.plans"), &here);
        assert_has(&told, &["as it is declared now"]);
    }
    let run = "run waves.toml --schedule of.plans --out";
    good(&format!("{run} said --set scheme.mixed=composed"), &here);
    let told = refused(&format!("{run} no"), &here);
    assert_has(&told, &["no plan for Waves in f64"]);
}

#[test]
fn what_is_not_open_is_said_and_what_is_not_there_is_missed() {
    let here = folder("closed");
    let tune = "tune --tune-scheme --locked --on H200 --precision f64";
    let told = refused(&format!("{tune} isothermal_ns"), &here);
    assert_has(
        &told,
        &[
            "its scheme `central6` says `mixed: bidiagonal`; `mixed: either`, or --mixed either",
            "has no plan for IsothermalNs f64 256x256x256 on H200 by the model, as it is declared now\n",
        ],
    );
    let told = refused(&format!("{tune} isothermal_ns --mixed either"), &here);
    assert_has(&told, &["as it is declared now, that chose its formulation"]);
    let told = refused(&format!("{tune} waves.pde --mixed composed"), &here);
    assert_has(&told, &["--mixed says composed"]);
    let heat = "system Heat in 2d { field q: scalar; ddt(q) = d[x](q); }";
    std::fs::write(here.join("heat.pde"), heat).unwrap_or_else(|e| panic!("{e}"));
    let told = refused(&format!("{tune} heat.pde"), &here);
    assert_has(&told, &["comes to one discrete problem"]);
}
