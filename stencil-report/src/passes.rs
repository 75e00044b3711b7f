//! How a mesh passes through its device slab by slab, in words and as JSON.

use serde_json::{Value, json};
use stencil_compiler::diag::counted;
use stencil_runtime::Passes;

/// Returns lines about the slabs, the bytes of a step over the bus, and the memory of the host and the device.
pub(crate) fn lines(passes: &Passes, of_device: usize) -> Vec<String> {
    let Passes { slabs, layers, overlap, steps, up, down, host, time, .. } = *passes;
    let a_step = |bytes: usize| gigabytes(bytes as f64 / steps as f64);
    let mut lines = vec![
        format!(
            "streamed: {} of up to {layers} layers, {overlap} of them of each neighbour, {} a pass",
            counted(slabs, "slab"),
            counted(steps, "step")
        ),
        format!("a step moves {} to the device and {} back", a_step(up), a_step(down)),
        format!(
            "the host takes {}, the device {}",
            gigabytes(host as f64),
            gigabytes(of_device as f64)
        ),
    ];
    if let Some(time) = time {
        lines[1] += &format!(
            ", by the model in {:.3e} s, {:.0} % of the copies behind the steps",
            time.seconds() / steps as f64,
            100.0 * time.hidden()
        );
    }
    lines
}

/// Returns the bytes a second of a step that takes so long, in both directions.
pub(crate) fn rates(passes: &Passes, seconds: f64) -> [f64; 2] {
    [passes.up, passes.down].map(|bytes| bytes as f64 / passes.steps as f64 / seconds)
}

/// Returns all of it as JSON; `seconds` are those of a step.
pub(crate) fn json(passes: &Passes, seconds: f64) -> Value {
    let [up, down] = rates(passes, seconds);
    json!({
        "slabs": passes.slabs,
        "layers": passes.layers,
        "overlap": passes.overlap,
        "steps_a_pass": passes.steps,
        "bytes_up_a_pass": passes.up,
        "bytes_down_a_pass": passes.down,
        "host_bytes": passes.host,
        "up_gb_per_s": up / 1e9,
        "down_gb_per_s": down / 1e9,
        "predicted_s_a_step": passes.time.map(|time| time.seconds() / passes.steps as f64),
        "predicted_hidden": passes.time.map(|time| time.hidden()),
    })
}

/// Returns bytes in a short form: `1.25 GB`.
pub(crate) fn gigabytes(bytes: f64) -> String {
    match bytes {
        few if few < 1e6 => format!("{:.1} kB", few / 1e3),
        some if some < 1e9 => format!("{:.1} MB", some / 1e6),
        many => format!("{:.2} GB", many / 1e9),
    }
}
