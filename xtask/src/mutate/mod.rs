//! Injected faults: changes single places of the code and checks whether the tests nearest to each notice.

mod build;
mod list;
mod run;
mod switch;

use std::path::Path;

use crate::workspace::Workspace;
use build::Copy;
use list::{Fault, List};
use run::Plan;

/// The faults and the tests that are nearest to each.
const LIST: &str = "xtask/faults.txt";

/// The programs to run, in the folder of compiled programs.
const PLAN: &str = "plan.txt";

/// Lists the faults whose places the code has no longer.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    let list = read(workspace)?;
    let stale = list.faults.iter().filter_map(|fault| {
        let found = workspace.read(&fault.file).map(|text| fault.count(&text));
        (found != Ok(1)).then(|| format!("{}: {} times", fault.describe(), found.unwrap_or(0)))
    });
    let stale: Vec<String> = stale.collect();
    println!("{} faults, {} of them stale", list.faults.len(), stale.len());
    match stale.is_empty() {
        true => Ok(()),
        false => Err(format!("places that are not there once:\n{}", stale.join("\n"))),
    }
}

/// Compiles the tests with the faults whose description holds one of the words, or all, and returns the folder to run.
pub(crate) fn build(workspace: &Workspace, words: &[&str]) -> Result<std::path::PathBuf, String> {
    let list = read(workspace)?;
    let chosen = |fault: &Fault| {
        let text = fault.describe();
        words.is_empty() || words.iter().any(|word| text.contains(word))
    };
    let numbered = list.faults.iter().enumerate().map(|(at, fault)| (at + 1, fault));
    let faults: Vec<(usize, &Fault)> = numbered.filter(|(_, fault)| chosen(fault)).collect();
    if faults.is_empty() {
        return Err(format!("no fault of {LIST} holds {}", words.join(" or ")));
    }
    let nearest = |name: &&str| faults.iter().any(|(_, fault)| fault.tests == *name);
    // Faults that the nearest tests let pass are shown to all others, unless some faults are asked for alone.
    let names = list.names().filter(|name| words.is_empty() || nearest(name));
    let names: Vec<&str> = names.collect();
    let copy = Copy::fill(workspace)?;
    let plan = copy.build(&list, &names, &faults)?;
    let path = copy.folder.join(PLAN);
    std::fs::write(&path, plan.text()).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(copy.folder)
}

/// Runs the tests of a folder that [`build()`] made. The machine need not be the one that compiled them.
pub(crate) fn run(folder: &Path) -> Result<(), String> {
    Plan::read(&folder.join(PLAN))?.run(&folder.join("report.txt"))
}

fn read(workspace: &Workspace) -> Result<List, String> {
    List::parse(&workspace.read(Path::new(LIST))?).map_err(|e| format!("{LIST}: {e}"))
}
