//! Runs the problem, and leaves a picture and the values.

use std::error::Error;

use stencil_runtime::plot::{Heatmap, Panels};
use stencil_runtime::report::Progress;
use {{crate}}::{SIDE, error, set_up};

fn main() -> Result<(), Box<dyn Error>> {
    let n = 128;
    let (mut simulation, steps) = set_up(n)?;
    let before = simulation.to_f64("c")?.into_shape_with_order((n, n))?;

    let mut progress = Progress::new(steps, (n * n) as u64, false);
    simulation.run(steps, |step, t| progress.update(step, t))?;
    println!("t = {:.3}: largest error {:.1e}", simulation.t(), error(&simulation)?);

    std::fs::create_dir_all("out")?;
    simulation.save_npz("out/final.npz")?;
    let after = simulation.to_f64("c")?.into_shape_with_order((n, n))?;
    // Cells reach half a spacing around their points.
    let (low, high) = (-0.5 * SIDE / n as f64, (1.0 - 0.5 / n as f64) * SIDE);
    let panel = |values, t: f64| {
        Heatmap::new(values, [low, high, low, high])
            .title(format!("t = {t:.2}"))
            .labels("x", "y")
            .color_label("c")
            .range(0.0, 1.0)
    };
    Panels::new([panel(before.view(), 0.0), panel(after.view(), simulation.t())])
        .title("Dye")
        .save("out/dye.png")?;
    println!("out/dye.png\nout/final.npz");
    Ok(())
}
