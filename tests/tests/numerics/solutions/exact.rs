//! Problems of the library with an exact solution: their error falls with the order of the scheme.

use physics::problems;
use stencil_tests::{OrPanic, takes_in_turn};

use super::support::{observed, solved};

/// A problem on two meshes, with steps such that errors of the integrator fall no slower than those
/// of the differences.
struct Case {
    problem: &'static str,
    cells: [&'static str; 2],
    /// The ratio of the spacings.
    ratio: f64,
    dt: &'static str,
    end: &'static str,
    /// Other settings.
    more: &'static [&'static str],
    order: f64,
    /// The largest difference of the observed order from it.
    within: f64,
}

const CASES: [Case; 13] = [
    Case {
        problem: "shear",
        cells: ["64,1,1", "80,1,1"],
        ratio: 1.25,
        dt: "0.3*h^2",
        end: "0.5",
        more: &[],
        order: 6.0,
        within: 0.1,
    },
    Case {
        problem: "sound",
        cells: ["40,40,1", "52,52,1"],
        ratio: 1.3,
        dt: "0.5*h^2",
        end: "0.5",
        more: &[],
        order: 6.0,
        within: 0.1,
    },
    Case {
        problem: "alfven",
        cells: ["48,48,1", "60,60,1"],
        ratio: 1.25,
        dt: "0.4*h^2",
        end: "0.5",
        more: &[],
        order: 6.0,
        within: 0.1,
    },
    Case {
        problem: "solitons",
        cells: ["1100", "1320"],
        ratio: 1.2,
        dt: "0.2*h^3",
        end: "0.3",
        // Tails of the solitons end at the edges, where the box repeats; here they are rounding.
        more: &["mesh.extent=88", "mesh.origin=-48"],
        order: 8.0,
        within: 0.1,
    },
    Case {
        problem: "burgers",
        cells: ["420", "525"],
        ratio: 1.25,
        dt: "0.2*h^2/nu",
        end: "0.4",
        more: &[],
        order: 6.0,
        within: 0.1,
    },
    Case {
        problem: "rotation",
        cells: ["160,160", "192,192"],
        ratio: 1.2,
        dt: "4*h^2",
        end: "0.05",
        more: &[],
        order: 6.0,
        within: 0.1,
    },
    Case {
        problem: "vortex",
        cells: ["48,48", "64,64"],
        ratio: 4.0 / 3.0,
        dt: "cfl(1)",
        end: "1",
        more: &[],
        // Means of cells are taken for values in the middle, and parabolas are cut at extrema.
        order: 2.0,
        within: 0.15,
    },
    Case {
        problem: "bowl",
        cells: ["40,40", "60,60"],
        ratio: 1.5,
        dt: "cfl(1)",
        end: "1.1",
        more: &[],
        // The depth has a bend at the shore, which is somewhere in a cell.
        order: 1.25,
        within: 0.2,
    },
    Case {
        problem: "viscous_shock",
        cells: ["200", "250"],
        ratio: 1.25,
        dt: "cfl(0.4)",
        end: "0.25",
        more: &[],
        // As above.
        order: 2.0,
        within: 0.15,
    },
    Case {
        problem: "stoker",
        cells: ["100", "400"],
        ratio: 4.0,
        dt: "cfl(0.4)",
        end: "2",
        more: &[],
        // The bore is somewhere in a cell or two.
        order: 0.5,
        within: 0.15,
    },
    Case {
        problem: "ritter",
        cells: ["100", "400"],
        ratio: 4.0,
        dt: "cfl(0.8)",
        end: "2",
        more: &[],
        // Water piles up at the end.
        order: 1.0,
        within: 0.25,
    },
    Case {
        problem: "ideal_alfven",
        cells: ["16,8", "32,16"],
        ratio: 2.0,
        dt: "cfl(0.4)",
        end: "0.5",
        more: &[],
        order: 2.0,
        within: 0.3,
    },
    Case {
        problem: "acoustic_ball",
        cells: ["20,20,20", "30,30,30"],
        ratio: 1.5,
        dt: "cfl(0.84)",
        end: "0.5",
        // Wider than in the file, so that few cells are enough.
        more: &["let.width=0.3"],
        // Values in the middle of cells are taken for means at the begin.
        order: 2.0,
        within: 0.3,
    },
];

/// Returns the largest root mean square of the errors of all components.
fn error(case: &Case, cells: &str) -> f64 {
    let meshes = [
        format!("mesh.cells={cells}"),
        format!("time.dt='{}'", case.dt),
        format!("time.end={}", case.end),
    ];
    let changes: Vec<&str> = meshes.iter().map(String::as_str).collect();
    let (problem, simulation) = solved::<f64>(case.problem, &[&changes, case.more].concat());
    let errors = problem.errors(&simulation).or_panic();
    assert!(!errors.is_empty(), "{} has no exact solution", case.problem);
    errors.values().map(|norms| norms.l2).fold(0.0, f64::max)
}

#[test]
fn problems_converge_to_their_exact_solutions() {
    let mut wrong = String::new();
    let in_turn = CASES.iter().enumerate().filter(|(number, _)| takes_in_turn::<f64>(*number));
    for (_, case) in in_turn {
        let [coarse, fine] = case.cells.map(|cells| error(case, cells));
        let observed = observed(coarse, fine, case.ratio);
        let row = format!(
            "{:<9} order {}: {coarse:.2e}, {fine:.2e}, observed {observed:.3}\n",
            case.problem, case.order
        );
        print!("{row}");
        // NaN fails this comparison.
        let right = (observed - case.order).abs() < case.within;
        if !right {
            wrong += &row;
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_exact_solution_is_tested() {
    for built_in in problems::ALL {
        let problem = built_in.open(&[]).or_panic();
        let tested = CASES.iter().any(|case| case.problem == built_in.name);
        assert_eq!(!problem.exact.is_empty(), tested, "{}", built_in.name);
    }
}
