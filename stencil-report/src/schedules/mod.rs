//! Schedules by name: presets, schedule files and plan files; and the formulation that a plan file chose.

use std::path::Path;
use std::{fs, io, process};

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

/// Returns the plans of a file; none if there is no file yet.
///
/// # Errors
/// If the file cannot be read or parsed.
pub fn read(file: &Path) -> Result<Plans, Failure> {
    let text = match read_text(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Plans::default()),
        Err(error) => {
            let message = format!("error: `{}` cannot be read: {error}", file.display());
            return Err(Failure::new(message));
        }
    };
    Plans::parse(&text).map_err(|error| {
        Failure::new(format!(
            "error: {}: {error}\n  help: name another file with --plans",
            file.display()
        ))
    })
}

/// Replaces a plan file at once.
///
/// # Errors
/// If it cannot be written.
pub fn write(file: &Path, plans: &Plans) -> io::Result<()> {
    let part = file.with_extension(format!("{}.part", process::id()));
    fs::write(&part, plans.print()).and_then(|()| fs::rename(&part, file))
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
