//! Launches whose interior runs beside an exchange have the bits of whole ones. Ghost cells are poison until the exchange
//! has come, so that faults in it show.

use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::compile::{Compiled, Target, compile};
use stencil_compiler::kernel::interp::{Fault, Shadow};
use stencil_compiler::plan::{Phase, Step};
use stencil_compiler::schedule::text;
use stencil_compiler::search::heuristic;
use stencil_tests::{Case, Layout, Machine, OrPanic, Seeded, algorithm_of, differing, oracle};

/// Steps of each run: values that are missing in one are read in the next.
const STEPS: usize = 2;

/// The cells of a mesh, its patches and the devices that share them.
type Cut = ([usize; 3], [usize; 3], usize);

/// Meshes by the number of dimensions: cuts along one axis or two, into patches that are equal or not.
/// Tiles of 32 x 2 or 16 x 2 x 2 cells leave an interior on all axes. Some devices have neighbours along a cut axis on
/// their own, too.
const LAYOUTS: [&[Cut]; 2] = [
    &[
        ([96, 40, 1], [1, 2, 1], 2),
        ([191, 39, 1], [2, 2, 1], 2),
        ([192, 40, 1], [2, 2, 1], 3),
        ([287, 20, 1], [3, 1, 1], 3),
    ],
    &[([48, 10, 20], [1, 1, 2], 2), ([32, 25, 25], [1, 2, 2], 3), ([95, 10, 10], [2, 1, 1], 2)],
];

/// The same for ghost cells that last: patches have as many cells as others compute of theirs.
const DEEP: [&[Cut]; 2] = [
    &[([64, 24, 1], [1, 2, 1], 2), ([191, 25, 1], [2, 2, 1], 4), ([192, 24, 1], [2, 2, 1], 3)],
    &[([8, 6, 44], [1, 1, 2], 2), ([8, 29, 29], [1, 2, 2], 4), ([160, 6, 6], [2, 1, 1], 2)],
];

/// A problem, with what its schedules have in common.
struct Problem {
    algorithm: Algorithm,
    /// Lines before the kernels, and the number of kernels.
    schedules: Vec<(String, usize)>,
    means: Vec<f64>,
    /// Time steps that a plan does at once.
    at_once: usize,
    /// Substeps that ghost cells last for.
    ghosts: usize,
}

/// Stored functions with ghost cells that are exchanged, that are computed, and that are not stored.
fn flow() -> Problem {
    let algorithm = algorithm_of(
        "system Flow in 3d { field q: scalar; field u: vector; let div_u = div(u);
            ddt(q) = -dot(u, grad(q)) - div_u; ddt(u) = grad(div_u)/5 + lap(u)/9 - q*grad(q); }
         scheme s for Flow { space: central<order = 4>; mixed: composed; time: rk3_williamson<storage = states>; }",
    );
    let line = |kind: &str| (format!("place div_u global {kind}"), 2);
    let schedules = vec![(String::new(), 1), line("exchange"), line("recompute")];
    Problem { algorithm, schedules, means: Vec::new(), at_once: 1, ghosts: 1 }
}

/// A law with fluxes and repairs.
fn water() -> Problem {
    let algorithm = algorithm_of(
        "system Water in 2d { conserved h: scalar where h > 0; conserved m: vector; param g: real = 9.81;
            let u = m/h; flux h -> m; flux m -> outer(m, u) + 0.5*g*h^2*I;
            waves { flow: u; sound: sqrt(g*h); } }
         scheme s for Water { reconstruct: plm; riemann: hll; time: ssprk2; }",
    );
    Problem {
        algorithm,
        schedules: vec![(String::new(), 1)],
        means: vec![1.0],
        at_once: 1,
        ghosts: 1,
    }
}

/// Two steps by one pass over memory.
fn fused() -> Problem {
    let algorithm = algorithm_of(
        "system Reacting in 3d { field u: scalar; field v: scalar;
            ddt(u) = lap(u) - u * v^2; ddt(v) = lap(v)/2 + u * v^2; }
         scheme s for Reacting { space: central<order = 2>; time: euler; }",
    );
    Problem {
        algorithm,
        schedules: vec![("fuse 2".into(), 1)],
        means: Vec::new(),
        at_once: 2,
        ghosts: 1,
    }
}

/// Problems whose devices exchange values before some substeps only. Accumulators come along if these are in the midst of
/// a step.
fn deep() -> Vec<Problem> {
    let heat = |time: &str, (lines, at_once, ghosts): (&str, usize, usize)| Problem {
        algorithm: algorithm_of(&format!(
            "system Reacting in 3d {{ field u: scalar; field v: scalar;
                ddt(u) = lap(u) - u * v^2; ddt(v) = lap(v)/2 + u * v^2; }}
             scheme s for Reacting {{ space: central<order = 4>; time: {time}; }}"
        )),
        schedules: vec![(lines.into(), 1)],
        means: Vec::new(),
        at_once,
        ghosts,
    };
    vec![
        Problem { ghosts: 3, ..flow() },
        Problem { ghosts: 2, ..water() },
        heat("rk3_williamson<storage = accumulator>", ("", 1, 3)),
        heat("rk4", ("", 1, 2)),
        heat("rk3_williamson", ("fuse 2", 1, 2)),
    ]
}

/// Blockings whose blocks are small, and whether their blocks are boxes of cells.
fn blockings(dimension: usize) -> Vec<(&'static str, bool)> {
    match dimension {
        2 => vec![
            ("direct x=16 y=2", true),
            ("tile3d x=16 y=2 z=1 rolls=2", true),
            ("march tile_x=32 chunk=2", true),
            ("plane tile_x=16 tile_y=2 chunk=2", true),
            ("lexicographic threads=32", false),
        ],
        _ => vec![
            ("direct x=16 y=2 z=2", true),
            ("tile3d x=16 y=2 z=1 rolls=2", true),
            ("march tile_x=16 tile_y=2 chunk=2", true),
            ("march tile_x=16 tile_y=2 chunk=2 loader=1 prologue=1", true),
            ("plane tile_x=16 tile_y=2 chunk=2", true),
            ("lexicographic threads=64", false),
            ("rows", false),
        ],
    }
}

impl Problem {
    /// Compiles one of its schedules with a blocking, for patches that nothing reads around.
    fn compiled(
        &self,
        (lines, kernels): &(String, usize),
        blocking: &str,
        layout: Layout,
    ) -> Compiled {
        let kernels = vec![format!("kernel {blocking}"); *kernels].join("\n");
        let mut schedule = text::parse(&format!("schedule\n{lines}\n{kernels}")).or_panic();
        if schedule.fuse > 1 && blocking.starts_with("march") {
            let problem = self.algorithm.fused(schedule.fuse).or_panic();
            schedule.placements = heuristic::fused(&problem);
        }
        schedule.ghosts = self.ghosts;
        // Some read around the ends of patches that have both.
        let around = self.ghosts > 1 && !blocking.starts_with("direct");
        let around = layout.patches.map(|count| around && count == 1);
        let target = Target::new(4).cut(layout.cut()).around(around);
        compile(&self.algorithm, &schedule, &target).or_panic()
    }

    fn layouts(&self) -> Vec<(Layout, Case)> {
        let dimension = self.algorithm.dimension;
        let layout = |(cells, patches, devices): &Cut| {
            let mut case = Case::new(&self.algorithm, *cells).stepping(1e-3);
            case.means.clone_from(&self.means);
            (Layout { patches: *patches, devices: *devices }, case)
        };
        let all = if self.ghosts > 1 { DEEP } else { LAYOUTS };
        all[dimension - 2].iter().map(layout).collect()
    }

    /// Runs the steps; returns the fields, and the number of blocks that ran beside an exchange.
    fn run(
        &self,
        compiled: &Compiled,
        (layout, case): (Layout, &Case),
        fault: Option<Seeded>,
    ) -> Result<(Vec<Vec<f32>>, u64), Fault> {
        let mut machine =
            Machine::<f32>::new(&self.algorithm, compiled, case, layout, 7, Shadow::Off);
        if let Some(fault) = fault {
            machine = machine.with_fault(fault);
        }
        for _ in 0..STEPS {
            machine.step()?;
        }
        let fields = self.algorithm.states_of(Role::Field);
        let fields = fields.map(|(_, state)| machine.get(&state.name)).collect();
        Ok((fields, machine.beside()))
    }

    /// Every schedule with every blocking, in turn over the layouts.
    fn has_the_same_bits_by_regions(&self) {
        for (at, (layout, case)) in self.layouts().into_iter().enumerate() {
            let wanted = oracle::<f32>(&self.algorithm, &case, STEPS * self.at_once);
            for (turn, (blocking, has_boxes)) in (at..).zip(blockings(self.algorithm.dimension)) {
                let about = format!("{layout:?} {blocking} {}", self.algorithm.name);
                let schedule = &self.schedules[turn % self.schedules.len()];
                let found =
                    self.run(&self.compiled(schedule, blocking, layout), (layout, &case), None);
                let (found, beside) = found.unwrap_or_else(|fault| panic!("{fault}\n{about}"));
                assert_eq!(differing(&found, &wanted), 0, "{about}");
                assert!(beside > 0 || !has_boxes, "{about}");
            }
        }
    }

    /// On patches that are equal and on others, in turn.
    fn shows_faults(&self) {
        let slowest = self.algorithm.dimension - 1;
        let layouts = &self.layouts()[..2];
        for (turn, (blocking, has_boxes)) in
            blockings(self.algorithm.dimension).into_iter().enumerate()
        {
            for (of, schedule) in self.schedules.iter().enumerate() {
                let (layout, case) = &layouts[(turn + of) % 2];
                let compiled = self.compiled(schedule, blocking, *layout);
                let mut faults = vec![Seeded::Missing, Seeded::Late, Seeded::Shallow(slowest)];
                if has_boxes {
                    faults.extend([Seeded::Wide, Seeded::Without]);
                }
                for fault in faults {
                    let found = self.run(&compiled, (*layout, case), Some(fault));
                    assert!(found.is_err(), "{fault:?} {blocking} {}", self.algorithm.name);
                }
            }
        }
    }
}

#[test]
fn regions_of_a_flow_have_the_same_bits() {
    flow().has_the_same_bits_by_regions();
}

#[test]
fn regions_of_a_law_have_the_same_bits() {
    water().has_the_same_bits_by_regions();
}

#[test]
fn regions_of_fused_steps_have_the_same_bits() {
    fused().has_the_same_bits_by_regions();
}

#[test]
fn faults_in_exchanges_and_regions_show() {
    for problem in [flow(), water(), fused()] {
        problem.shows_faults();
    }
}

#[test]
fn ghost_cells_that_last_change_no_bit() {
    for problem in deep() {
        problem.has_the_same_bits_by_regions();
    }
}

#[test]
fn ghost_cells_that_last_are_as_deep_as_they_must_be() {
    for problem in deep().into_iter().step_by(2) {
        problem.shows_faults();
    }
}

/// Devices send values before every other substep of four, accumulators among them.
#[test]
fn accumulators_are_sent_amid_a_step() {
    let problem = deep().swap_remove(3);
    let (layout, _) = problem.layouts()[0];
    let plan = problem.compiled(&problem.schedules[0], "direct", layout).plan;
    let plan = plan.among_devices().or_panic();
    let sent = |steps: &[Step]| -> Vec<String> {
        let sent = steps.iter().filter_map(|step| match step {
            Step::Exchange { phase: Phase::Post, buffers, .. } => Some(buffers.join(" ")),
            _ => None,
        });
        sent.collect()
    };
    let sent: Vec<Vec<String>> = plan.substeps().map(sent).collect();
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert!(sent[1].is_empty() && sent[3].is_empty() && sent[2].len() > sent[0].len(), "{sent:?}");
}
