//! Programs that a user would write, one file each in `examples/`. All but `laws` and `blast`, which measure, are also tests.
//!
//! `cargo run --release --package stencil-examples --example heat` runs the first.

use std::fs;
use std::time::SystemTime;

/// Returns the processor time of all threads in seconds, which Linux counts in hundredths: fields 14 and 15 of proc(5),
/// behind the name. On other systems it returns the wall time.
pub fn processor_time() -> f64 {
    let Ok(text) = fs::read_to_string("/proc/self/stat") else {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        return since.unwrap_or_default().as_secs_f64();
    };
    let rest = text.rsplit(')').next().unwrap_or_default();
    let fields = rest.split_whitespace().skip(11).take(2);
    let ticks: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}
