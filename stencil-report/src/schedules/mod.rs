//! Schedules by name: presets, schedule files and plan files; and the formulation that a plan file chose.

use std::io;
use std::path::Path;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::diag::nearest;
use stencil_compiler::schedule::{Schedule, text};
use stencil_compiler::search::plans::Plans;
use stencil_compiler::search::{On, presets};
use stencil_runtime::io::read_text;

use crate::Failure;

mod plans;

pub use plans::{chosen, settled};

/// Returns a schedule by name or from a file. From a plan file it is the one for this problem on a mesh of this size, or on the
/// nearest one.
///
/// # Errors
/// If there is no preset and no file of this name; the error lists the presets. If the file has no schedule for this problem.
pub fn schedule(
    wanted: &str,
    algorithm: &Algorithm,
    on: impl Into<On>,
    cells: Option<[usize; 3]>,
) -> Result<Schedule, Failure> {
    let on = on.into();
    if let Some(preset) = presets::find(wanted) {
        return Ok(preset.schedule(algorithm, on));
    }
    match read_text(Path::new(wanted)) {
        Ok(source) => {
            let wrong = |error| Failure::new(format!("error: {wanted}: {error}"));
            if !Plans::is_plans(&source) {
                return text::parse(&source).map_err(wrong);
            }
            let plans = Plans::parse(&source).map_err(wrong)?;
            plans::schedule(wanted, &plans, algorithm, on.precision, cells)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Failure::new(no_schedule(wanted)))
        }
        Err(error) => Err(Failure::new(format!("error: `{wanted}` cannot be read: {error}"))),
    }
}

fn no_schedule(wanted: &str) -> String {
    let mut message = format!("error: no preset and no file `{wanted}`\n");
    if let Some(near) = nearest(wanted, presets::ALL.iter().map(|p| p.name)) {
        message.push_str(&format!("  help: did you mean `{near}`?\n"));
    }
    let width = presets::ALL.iter().map(|preset| preset.name.len()).max();
    let width = width.unwrap_or(0);
    for preset in presets::ALL {
        message.push_str(&format!("  {:<width$} {}\n", preset.name, preset.summary));
    }
    message.push_str("  or the path of a file such as `stencil emit --target schedule` prints");
    message
}
