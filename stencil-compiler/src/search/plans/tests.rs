//! Keeping, finding and merging plans of plan files.

use super::*;
use crate::model::parse::parse_str;
use crate::schedule::Blocking;

fn key(cells: [usize; 3]) -> Key {
    Key {
        system: "Heat".into(),
        problem: 0x0123_4567_89ab_cdef,
        precision: Precision::F64,
        cells,
        card: "Some Card 200".into(),
    }
}

fn plan(n: usize) -> Plan {
    Plan {
        key: key([n; 3]),
        chosen: None,
        rate: 1234.5,
        schedule: Schedule {
            placements: Default::default(),
            kernels: vec![Blocking::new("march", &[("tile_x", n as u32)])],
            ..Schedule::default()
        },
    }
}

#[test]
fn what_is_printed_is_read_again() {
    let plans = Plans(vec![plan(64), plan(128)]);
    assert_eq!(Plans::parse(&plans.print()), Ok(plans.clone()));
    let noted = plans.print().replace("\nrate", "\n# measured twice\n\nrate");
    assert_eq!(Plans::parse(&noted), Ok(plans));
    assert!(Plans::is_plans(&noted) && !Plans::is_plans("schedule\nkernel rows"));
}

#[test]
fn a_new_plan_takes_the_place_of_one_for_the_same() {
    let mut plans = Plans(vec![plan(64)]);
    plans.merge(Plan { rate: 2000.0, ..plan(64) });
    plans.merge(plan(128));
    assert_eq!(plans.0.iter().map(|p| p.rate).collect::<Vec<_>>(), [2000.0, 1234.5]);
}

/// A plan of another problem, that of a choice that the declaration of [`plan`] leaves open.
fn settled(n: usize, formulation: &str, problem: u64) -> Plan {
    let chosen =
        Some(Chosen { formulation: formulation.parse().unwrap(), of: key([n; 3]).problem });
    let key = Key { problem, ..key([n; 3]) };
    Plan { key, chosen, ..plan(n) }
}

#[test]
fn a_formulation_is_read_again_and_chosen_for_the_nearest_mesh() {
    let plans = Plans(vec![
        plan(64),
        settled(64, "mixed composed", 1),
        settled(256, "mixed product arith as_written", 2),
    ]);
    let text = plans.print();
    assert_eq!(Plans::parse(&text), Ok(plans.clone()));
    let line =
        "problem 0000000000000001\nformulation mixed composed of 0123456789abcdef\nrate 1234.5\n";
    assert!(text.contains(line), "{text}");
    let of = |mixed: &str, arith: &str| {
        let text = format!(
            "pub system S in 1d {{ field a: scalar; ddt(a) = d2[x](a); }}
             scheme s for S {{ space: central<order = 2>; mixed: {mixed}; arith: {arith}; time: euler; }}"
        );
        parse_str(&text).unwrap().scheme
    };
    let chosen = |n, scheme: &Scheme| {
        let chosen = plans.chosen(&key([n; 3]), scheme);
        chosen.map(|c| c.formulation.to_string())
    };
    // Each declaration takes the formulation chosen among the choices that it leaves open.
    let one = of("either", "collected");
    assert_eq!(chosen(80, &one).as_deref(), Some("mixed composed"));
    assert_eq!(chosen(256, &one).as_deref(), Some("mixed composed"));
    let both = of("either", "either");
    let product = Some("mixed product arith as_written");
    assert_eq!(chosen(256, &both).as_deref(), product);
    assert_eq!(chosen(64, &of("composed", "collected")), None);
    // A plan that was not to choose holds no choice.
    assert_eq!(Plans(vec![plan(64)]).chosen(&key([64; 3]), &one), None);
    let other = Key { precision: Precision::F32, ..key([64; 3]) };
    assert_eq!(plans.chosen(&other, &one), None);
}

#[test]
fn a_declaration_has_one_formulation_for_a_mesh() {
    let mut plans = Plans(vec![plan(64), settled(64, "mixed composed", 1)]);
    plans.merge(settled(128, "mixed composed", 1));
    assert_eq!(plans.0.len(), 3);
    plans.merge(settled(64, "mixed product", 2));
    let problems = |plans: &Plans| plans.0.iter().map(|p| p.key.problem).collect::<Vec<_>>();
    // The plain plan stays: it settles nothing.
    assert_eq!(problems(&plans), [plan(64).key.problem, 2, 1]);
    // The default formulation, if it is chosen, has the same key as the plain plan.
    plans.merge(settled(64, "mixed bidiagonal", plan(64).key.problem));
    assert_eq!(problems(&plans), [plan(64).key.problem, 1]);
    assert!(plans.0[0].chosen.is_some());
    plans.merge(plan(64));
    assert!(plans.0[0].chosen.is_some());
    let two = Plans(vec![settled(64, "mixed composed", 1), settled(64, "mixed product", 2)]);
    let error = Plans::parse(&two.print()).unwrap_err();
    assert!(error.message.contains("there twice"), "{error:?}");
}

#[test]
fn the_nearest_mesh_of_the_same_card_and_problem_is_found() {
    let plans = Plans(vec![plan(64), plan(256)]);
    let found = |cells| plans.find(&key(cells)).map(|p| p.key.cells[0]);
    assert_eq!(found([256; 3]), Some(256));
    assert_eq!((found([80; 3]), found([4096, 64, 64])), (Some(64), Some(256)));
    let others = [
        Key { card: "another".into(), ..key([64; 3]) },
        Key { problem: 1, ..key([64; 3]) },
        Key { precision: Precision::F32, ..key([64; 3]) },
    ];
    assert!(others.iter().all(|key| plans.find(key).is_none()));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let good = Plans(vec![plan(64)]).print();
    for (from, to, line, message) in [
        ("plans", "plan", 1, "begins with `plans`"),
        ("f64", "f16", 3, "no precision `f16`"),
        ("64x64x64", "64x64", 3, "is no mesh"),
        ("card Some Card 200\n", "", 4, "expected `card`"),
        ("0123456789abcdef", "xyz", 5, "no fingerprint"),
        ("1234.5", "fast", 6, "is no rate"),
        ("rate", "formulation mixed composed\nrate", 6, "of FINGERPRINT"),
        ("rate", "formulation mixed either of 7\nrate", 6, "settles no choice"),
        ("rate", "formulation mixed composed of x\nrate", 6, "no fingerprint"),
        ("rate 1234.5", "formulation mixed composed of 7", 7, "expected `rate`"),
        ("kernel march", "kernel march 7", 8, ""),
        ("end", "", 3, "has no `end`"),
    ] {
        let error = Plans::parse(&good.replace(from, to)).unwrap_err();
        assert!(error.line == line && error.message.contains(message), "{to}: {error:?}");
    }
    let twice = good.clone() + good.strip_prefix("plans").unwrap();
    assert!(Plans::parse(&twice).unwrap_err().message.contains("there twice"));
}
