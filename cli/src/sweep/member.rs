//! One run of a sweep: its settings, its folder, and the record by which it is known as finished.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stencil_compiler::diag::Code;
use stencil_report::sweep::{Member, Results, State};
use stencil_runtime::io::read_text;

use super::whole;
use crate::run::{self, Ended, RunArgs};
use crate::{BUG, USAGE};

/// The record of a run, in its folder.
const RECORD: &str = "member.json";

/// The longest name of a folder that is made of settings alone.
const LONGEST: usize = 120;

/// A run that is to be done, or is done already.
#[derive(Debug)]
pub(super) struct Planned {
    /// The arguments of the run.
    args: RunArgs,
    /// The name of its folder.
    pub(super) name: String,
    /// Work: cells times steps, of which the number is guessed by the cells along the longest axis.
    pub(super) work: f64,
    /// The results of an earlier run with the same settings.
    pub(super) known: Option<Results>,
    values: Vec<String>,
    spacing: Vec<f64>,
    folder: PathBuf,
    /// All that the results depend on, as text.
    identity: String,
    /// Whether the folder holds a run with other settings.
    changed: bool,
}

impl Planned {
    /// Reads the problem of a run, and the record in its folder.
    pub(super) fn new(mut args: RunArgs, values: &[String]) -> Result<Self, Ended> {
        let problem = args.read()?;
        let folder = problem.output.dir.clone();
        let identity = run::identity(&problem)?;
        let axes = problem.system.model().dimension;
        let cells = &problem.mesh.cells[..axes];
        let points: f64 = cells.iter().map(|n| *n as f64).product();
        let longest = cells.iter().copied().max().unwrap_or(1) as f64;
        let steps = problem.time.steps.map_or(longest, |steps| steps as f64);
        let (mut known, mut changed) = (None, false);
        if let Some(record) = read(&folder)? {
            changed = record["settings"] != json!(identity);
            if !changed {
                known = Results::of(&record["run"]);
            }
            args.again(!changed);
        }
        Ok(Planned {
            args,
            name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            work: points * steps.max(1.0),
            known,
            values: values.to_vec(),
            spacing: problem.mesh.spacing()[..axes].to_vec(),
            folder,
            identity,
            changed,
        })
    }

    /// Does the run; its end.
    pub(super) fn run(&self) -> State {
        match self.results() {
            Ok(results) => State::Done(results),
            Err(ended) if run::leaves_state(ended.code) => State::Open,
            Err(Ended { code, message }) => State::Failed { code, message },
        }
    }

    fn results(&self) -> Result<Results, Ended> {
        fs::create_dir_all(&self.folder).map_err(|e| Ended::unwritten(&self.folder, &e))?;
        // A run that does not come to its end leaves a record without results.
        self.record(&Value::Null)?;
        let mut printed = Vec::new();
        run::alone(&self.args, &mut printed)?;
        let run: Value = serde_json::from_slice(&printed).unwrap_or_default();
        let results = Results::of(&run).ok_or_else(|| Ended {
            code: BUG,
            message: "error: the run printed no results; this is a bug".to_string(),
        })?;
        self.record(&run)?;
        Ok(results)
    }

    fn record(&self, run: &Value) -> Result<(), Ended> {
        let record = json!({ "settings": self.identity, "run": run });
        whole(&self.folder.join(RECORD), &format!("{record:#}\n"))
    }

    /// Returns the member of the report.
    pub(super) fn member(&self, state: State) -> Member {
        Member {
            values: self.values.clone(),
            name: self.name.clone(),
            spacing: self.spacing.clone(),
            state,
        }
    }
}

/// Reads the record in a folder; `None` if there is none.
fn read(folder: &Path) -> Result<Option<Value>, Ended> {
    let path = folder.join(RECORD);
    if !path.exists() {
        return Ok(None);
    }
    let wrong = |why: String| {
        let message = format!(
            "`{}` is no record of a run: {why}\n  help: remove this folder, or name another one by --out",
            path.display()
        );
        Ended::coded(USAGE, Code::CannotRead, &message)
    };
    let text = read_text(&path).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map(Some).map_err(|error| wrong(error.to_string()))
}

/// Refuses runs whose settings are not those of their folders, unless they may be replaced.
pub(super) fn check(planned: &[Planned], overwrite: bool) -> Result<(), Ended> {
    let changed: Vec<&Planned> = planned.iter().filter(|planned| planned.changed).collect();
    let Some(first) = changed.first().filter(|_| !overwrite) else { return Ok(()) };
    let message = format!(
        "{} of {} runs were done with other settings, the first of them in `{}`\n  \
         help: add --overwrite to run them again, or name another folder by --out",
        changed.len(),
        planned.len(),
        first.folder.display()
    );
    Err(Ended::coded(USAGE, Code::FolderUsed, &message))
}

/// Returns the name of a run's folder: `nu=1e-3,cells=64`. Characters that not all file systems and shells take plainly become `_`;
/// then, and if it is long, the name ends in a checksum of the settings.
pub(super) fn folder_name(keys: &[String], values: &[String]) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_string();
    let shorts: Vec<String> = keys.iter().map(|key| last(key)).collect();
    let (mut name, mut whole) = (String::new(), String::new());
    for (at, (key, value)) in keys.iter().zip(values).enumerate() {
        let is_shared = shorts.iter().filter(|short| **short == shorts[at]).count() > 1;
        let shown = if is_shared { key } else { &shorts[at] };
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(name, "{comma}{shown}={value}");
        let _ = writeln!(whole, "{key}={value}");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "=.,-+_".contains(c);
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    if plain == name && plain.len() <= LONGEST {
        return plain;
    }
    let short: String = plain.chars().take(LONGEST).collect();
    format!("{short}-{:08x}", crc32fast::hash(whole.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(pairs: &[(&str, &str)]) -> String {
        let (keys, values): (Vec<String>, Vec<String>) =
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).unzip();
        folder_name(&keys, &values)
    }

    #[test]
    fn folders_have_names_of_settings() {
        assert_eq!(name(&[("params.nu", "1e-3"), ("mesh.cells", "64")]), "nu=1e-3,cells=64");
        assert_eq!(
            name(&[("plot.1.log", "true"), ("plot.2.log", "false")]),
            "plot.1.log=true,plot.2.log=false"
        );
        let lists = ["[8,16]", "[8;16]", "[8,16)"].map(|value| name(&[("mesh.cells", value)]));
        assert!(lists[0].starts_with("cells=_8,16_-"), "{lists:?}");
        // Other settings, other folders.
        assert!(lists[0] != lists[1] && lists[0] != lists[2], "{lists:?}");
        let long = name(&[("init.U", &"x+".repeat(200))]);
        assert!(long.len() < 140, "{long}");
        assert!(!name(&[("system", "../a.pde")]).contains('/'));
    }
}
