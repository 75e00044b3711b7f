//! The problem to run: one of the library, or a file.

use std::path::Path;

use physics::problems;
use stencil_compiler::diag::nearest;
use stencil_runtime::SystemDef;
use stencil_runtime::problem::{Change, Problem};

use super::Ended;
use crate::{USAGE, source};

/// Reads the problem of a name or file, with some settings changed.
pub(crate) fn open(wanted: &str, changes: &[Change]) -> Result<Problem, Ended> {
    if let Ok(problem) = problems::find(wanted) {
        return Ok(problem.open(changes)?);
    }
    let library = physics::systems::library();
    let path = Path::new(wanted);
    let is_file = path.extension().is_some_and(|e| e == "toml") || path.is_file();
    match path.extension().and_then(|e| e.to_str()) {
        Some("pde") => Err(wrong(declaration(path))),
        _ if is_file => Ok(Problem::open(path, &library, changes)?),
        _ => Err(wrong(unknown(wanted))),
    }
}

fn wrong(message: String) -> Ended {
    Ended { code: USAGE, message }
}

/// A declaration holds the equations, not the initial values.
fn declaration(path: &Path) -> String {
    let system = match source::system(&path.to_string_lossy(), None) {
        Ok(system) => system,
        Err(error) => return Ended::from(error).message,
    };
    let problem = path.with_extension("toml");
    format!(
        "error: `{}` declares a system; a run also needs a mesh, initial values and an end\n\
         \x20 help: write them into a problem file such as {}, and run that:\n\n{}",
        path.display(),
        problem.display(),
        indented(&minimal(path, &system))
    )
}

/// The shortest problem file of a system.
fn minimal(path: &Path, system: &SystemDef) -> String {
    let model = system.model();
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let cells = vec!["64"; model.dimension].join(", ");
    let mut text = format!("system = \"{file}\"\n\n[mesh]\ncells = [{cells}]\n");
    let params = &system.algorithm().params;
    let open: Vec<_> = params.iter().filter(|p| p.default.is_none()).collect();
    if !open.is_empty() {
        text.push_str("\n[params]\n");
        for param in open {
            text.push_str(&format!("{} = 1\n", param.name));
        }
    }
    text.push_str("\n[init]\n");
    for field in &model.fields {
        text.push_str(&format!("{} = \"exp(-50*(x - 0.5)^2)\"\n", field.name));
    }
    text.push_str("\n[time]\ndt = \"0.1*h^2\"    # h is the smallest spacing\nsteps = 100\n");
    text
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| match line {
        "" => String::new(),
        line => format!("    {line}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn unknown(wanted: &str) -> String {
    let mut message = format!("error: no problem and no file `{wanted}`\n");
    let names = problems::ALL.iter().map(|p| p.name);
    let file = format!("{wanted}.toml");
    if Path::new(&file).is_file() {
        message.push_str(&format!("  help: did you mean the file `{file}`?\n"));
    } else if let Some(near) = nearest(wanted, names) {
        message.push_str(&format!("  help: did you mean `{near}`?\n"));
    } else if let Ok(system) = physics::systems::find(wanted) {
        message.push_str(&format!(
            "  help: {} is a system; name it in a problem file: system = \"{}\"\n",
            system.name(),
            system.name()
        ));
    }
    for problem in problems::ALL {
        message.push_str(&format!("  {:<18}{}\n", problem.name, problem.summary));
    }
    message.push_str("  or the path of a problem file, such as heat.toml");
    message
}
