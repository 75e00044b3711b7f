//! Problems of the library with an exact solution: their error falls with the order of the scheme.

use physics::problems;
use stencil_runtime::problem::Change;

use crate::support::observed;

/// A problem on two meshes, with steps that leave the error to the differences in space.
struct Case {
    problem: &'static str,
    cells: [&'static str; 2],
    /// The ratio of the spacings.
    ratio: f64,
    dt: &'static str,
    end: &'static str,
    order: f64,
}

const CASES: [Case; 6] = [
    Case {
        problem: "shear",
        cells: ["32,4,1", "48,4,1"],
        ratio: 1.5,
        dt: "0.3*h^2",
        end: "0.5",
        order: 6.0,
    },
    Case {
        problem: "sound",
        cells: ["24,16,1", "36,24,1"],
        ratio: 1.5,
        dt: "0.2*h^2",
        end: "0.5",
        order: 6.0,
    },
    Case {
        problem: "alfven",
        cells: ["24,24,1", "36,36,1"],
        ratio: 1.5,
        dt: "0.2*h^2",
        end: "0.5",
        order: 6.0,
    },
    Case {
        problem: "solitons",
        cells: ["480", "600"],
        ratio: 1.25,
        dt: "0.08*h^3",
        end: "0.5",
        order: 8.0,
    },
    Case {
        problem: "burgers",
        cells: ["240", "320"],
        ratio: 4.0 / 3.0,
        dt: "0.2*h^2/nu",
        end: "0.4",
        order: 6.0,
    },
    Case {
        problem: "rotation",
        cells: ["96,96", "128,128"],
        ratio: 4.0 / 3.0,
        dt: "2*h^2",
        end: "0.1",
        order: 6.0,
    },
];

/// The largest root mean square of the errors of all components.
fn error(case: &Case, cells: &str) -> f64 {
    let changes = [
        Change::set(&format!("mesh.cells={cells}")),
        Change::set(&format!("time.dt='{}'", case.dt)),
        Change::set(&format!("time.end={}", case.end)),
    ];
    let built_in = problems::find(case.problem).unwrap_or_else(|e| panic!("{e}"));
    let problem = built_in.open(&changes).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = problem
        .builder::<f64>()
        .build()
        .unwrap_or_else(|e| panic!("{e}"));
    let end = problem.time.end.expect("an end");
    problem
        .initialize(&mut simulation)
        .and_then(|()| simulation.run_until(end, |_, _| ()))
        .unwrap_or_else(|e| panic!("{}: {e}", case.problem));
    let errors = problem
        .errors(&simulation)
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(!errors.is_empty(), "{} has no exact solution", case.problem);
    errors.values().map(|norms| norms.l2).fold(0.0, f64::max)
}

#[test]
fn problems_converge_to_their_exact_solutions() {
    let mut wrong = String::new();
    for case in &CASES {
        let [coarse, fine] = case.cells.map(|cells| error(case, cells));
        let observed = observed(coarse, fine, case.ratio);
        if (observed - case.order).abs() > 0.4 {
            let name = case.problem;
            wrong += &format!("{name}: {coarse:e}, {fine:e}, observed {observed:.3}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_exact_solution_is_tested() {
    for built_in in problems::ALL {
        let problem = built_in.open(&[]).unwrap_or_else(|e| panic!("{e}"));
        let tested = CASES.iter().any(|case| case.problem == built_in.name);
        assert_eq!(!problem.exact.is_empty(), tested, "{}", built_in.name);
    }
}
