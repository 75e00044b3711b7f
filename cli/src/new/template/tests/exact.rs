//! The run against the exact solution.

use stencil_runtime::Error;
use {{crate}}::{error, set_up};

#[test]
fn errors_shrink_with_the_sixth_power_of_the_spacing() -> Result<(), Error> {
    let run = |n| {
        let (mut simulation, steps) = set_up(n)?;
        simulation.run(steps, |_, _| ())?;
        error(&simulation)
    };
    let (coarse, fine) = (run(48)?, run(96)?);
    let order = (coarse / fine).log2();
    assert!(order > 5.7, "observed order {order:.2}: errors {coarse:.2e} and {fine:.2e}");
    Ok(())
}

#[test]
fn the_amount_of_dye_is_conserved() -> Result<(), Error> {
    let (mut simulation, steps) = set_up(48)?;
    let before = simulation.field("c")?.sum();
    simulation.run(steps, |_, _| ())?;
    let after = simulation.field("c")?.sum();
    assert!((after / before - 1.0).abs() < 1e-12, "{before} {after}");
    Ok(())
}
