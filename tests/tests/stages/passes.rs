//! Steps whose kernels each renew some fields, or store some of the functions that one could: the same bits.

use stencil_compiler::compile::{Target, compile};
use stencil_compiler::schedule::{Halo, Placement, Schedule, text};
use stencil_compiler::search::{cuts, passes};
use stencil_tests::{Case, ISOTHERMAL_NS, OrPanic, Reference, algorithm_of, with_mixed};

use super::invariance::{ODD, STEPS};

/// A kernel that stores functions which the last one reads at neighbours, and renews some fields with it.
#[test]
fn a_cut_step_has_the_same_bits() {
    let algorithm = algorithm_of(
        "pub system Two in 3d { field q: scalar; field w: scalar;
            ddt(q) = lap(q) + q*d[x](q)*d[y](q) + q*exp(lap(w) + d[x](w)*d[y](w));
            ddt(w) = lap(w)*(1 + q); }
         scheme s for Two { space: central<order = 4>; mixed: bidiagonal; time: rk3_williamson; }",
    );
    let reference = Reference::<f32>::new(&algorithm, ODD, STEPS);
    let cut = cuts::cuts(&algorithm).remove(0);
    assert!(!cut.placements.is_empty() && !cut.passes.is_empty());
    for (seed, blocking) in
        ["rows", "direct", "tile3d x=32 y=4 z=2", "march tile_x=32 tile_y=4", "plane"]
            .into_iter()
            .enumerate()
    {
        let blockings = format!("schedule kernel {blocking} kernel {blocking}");
        let schedule = Schedule {
            placements: cut.placements.clone(),
            passes: cut.passes.clone(),
            ..text::parse(&blockings).or_panic()
        };
        reference.agree(&schedule, seed as u64);
        // As on a mesh with walls: stored functions are read in their own cell, so no ghost cells are computed.
        let mut walled = schedule.clone();
        for placement in walled.placements.values_mut() {
            *placement = Placement::Global(Halo::Recompute);
        }
        let same = compile(&algorithm, &walled, &Target::new(4)).or_panic();
        assert!(same.plan.launches.iter().all(|launch| launch.extend == [0; 3]));
    }
}

/// Kernels that each store a part of the functions that one could.
#[test]
fn what_is_stored_apart_has_the_same_bits() {
    let algorithm = algorithm_of(
        "pub system Water in 3d { conserved h: scalar; conserved m: vector; let u = m/h;
            flux h -> m; flux m -> outer(m, u) + h^2/2*I; }
         scheme s for Water { reconstruct: plm; riemann: hll; time: ssprk2; }",
    );
    // Water that is nowhere dry.
    let case = Case { means: vec![1.0], ..Case::new(&algorithm, ODD) };
    let reference = Reference::<f32>::of(&algorithm, case, STEPS);
    let names = algorithm.functions.iter().map(|f| f.name.clone());
    let fluxes = names.filter(|name| name.ends_with("_flux"));
    for (seed, (halo, parts)) in
        [(Halo::Exchange, 2), (Halo::Exchange, 3), (Halo::Recompute, 3)].into_iter().enumerate()
    {
        let placed = fluxes.clone().map(|name| (name, Placement::Global(halo)));
        let placements = placed.collect();
        let passes = passes::of_stored(&algorithm, &placements, passes::Parts::Of(parts))
            .expect("axes are parts");
        let schedule = Schedule { passes, ..Schedule::placing(placements) };
        for blocking in ["rows", "direct", "tile3d", "march tile_x=32 tile_y=4"] {
            let blocked = text::parse(&format!("schedule kernel {blocking}")).unwrap();
            let blocked = schedule.clone().blocked(&algorithm, blocked.kernels[0].clone());
            assert_eq!(blocked.kernels.len(), parts + 1);
            reference.agree(&blocked, seed as u64);
        }
    }
}

/// Kernels are shared only if each value is there before it is needed.
#[test]
fn kernels_that_cannot_be_shared_are_refused() {
    let algorithm = algorithm_of(&with_mixed(ISOTHERMAL_NS, "composed"));
    let refused = |schedule: &str| {
        let schedule = text::parse(schedule).or_panic();
        compile(&algorithm, &schedule, &Target::new(4)).unwrap_err().message
    };
    let split = "pass u_x 1 pass u_y 1 pass u_z 1";
    let merged =
        format!("schedule place div_u global exchange {split} kernel direct kernel direct");
    let schedule = text::parse(&merged).unwrap();
    assert!(compile(&algorithm, &schedule, &Target::new(4)).is_ok(), "{merged}");
    let found =
        refused("schedule place div_u global exchange pass lnrho 1 kernel direct kernel direct");
    assert!(found.contains("of other cells"), "{found}");
    let found = refused(&merged.replace("exchange", "recompute"));
    assert!(found.contains("needed in ghost cells"), "{found}");
}
