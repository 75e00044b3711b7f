//! Injected faults: changes one place of the code at a time and asks the tests nearest to it whether they notice.

mod list;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::workspace::{Workspace, cargo};
use list::{Fault, List};

/// The faults and the tests that are nearest to each.
const LIST: &str = "xtask/faults.txt";

/// How long tests may take; a fault that lets them run on is noticed, too.
const LONGEST: Duration = Duration::from_secs(900);

/// What became of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// A test fails, or does not end.
    Killed,
    /// All tests pass.
    Survived,
    /// It does not compile, so that no test can say anything.
    Refused,
    /// The code has no such place, or several.
    Stale,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Outcome::Killed => "killed",
            Outcome::Survived => "SURVIVED",
            Outcome::Refused => "refused",
            Outcome::Stale => "stale",
        }
    }
}

/// Lists the faults whose places the code has no longer.
pub(crate) fn check(workspace: &Workspace) -> Result<(), String> {
    let list = read(workspace)?;
    let stale = list.faults.iter().filter_map(|fault| {
        let found = workspace.read(&fault.file).map(|text| fault.count(&text));
        (found != Ok(1)).then(|| format!("{}: {} times", fault.describe(), found.unwrap_or(0)))
    });
    let stale: Vec<String> = stale.collect();
    println!(
        "{} faults, {} of them stale",
        list.faults.len(),
        stale.len()
    );
    match stale.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "places that are not there once:\n{}",
            stale.join("\n")
        )),
    }
}

/// Injects the faults whose description holds one of the words, or all, in a copy of the working tree.
pub(crate) fn run(workspace: &Workspace, words: &[&str]) -> Result<(), String> {
    let list = read(workspace)?;
    let chosen = |fault: &&Fault| {
        let text = fault.describe();
        words.is_empty() || words.iter().any(|word| text.contains(word))
    };
    let faults: Vec<&Fault> = list.faults.iter().filter(chosen).collect();
    if faults.is_empty() {
        return Err(format!("no fault of {LIST} holds {}", words.join(" or ")));
    }
    let folder = workspace.target.join("mutate");
    let copy = Copy {
        tree: folder.join("tree"),
        target: folder.join("target"),
    };
    copy.fill(workspace)?;
    let mut report = fs::File::create(folder.join("report.txt")).map_err(|e| e.to_string())?;
    let mut outcomes = Vec::new();
    for (at, fault) in faults.iter().enumerate() {
        let start = Instant::now();
        let outcome = copy.inject(fault, &list)?;
        let line = format!(
            "{:<8} {:5.0} s  {}",
            outcome.word(),
            start.elapsed().as_secs_f64(),
            fault.describe()
        );
        println!("{:3}/{} {line}", at + 1, faults.len());
        writeln!(report, "{line}").map_err(|e| e.to_string())?;
        outcomes.push(outcome);
    }
    let count = |of: Outcome| outcomes.iter().filter(|outcome| **outcome == of).count();
    let summary = [
        Outcome::Killed,
        Outcome::Survived,
        Outcome::Refused,
        Outcome::Stale,
    ]
    .map(|of| format!("{} {}", count(of), of.word()));
    println!("{}", summary.join(", "));
    match count(Outcome::Killed) == outcomes.len() {
        true => Ok(()),
        false => Err("not every fault is killed".into()),
    }
}

fn read(workspace: &Workspace) -> Result<List, String> {
    List::parse(&workspace.read(Path::new(LIST))?).map_err(|e| format!("{LIST}: {e}"))
}

/// A copy of the working tree with a target folder of its own.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Copies the files that git knows of, those that changed alone, so that little is compiled anew.
    fn fill(&self, workspace: &Workspace) -> Result<(), String> {
        let output = Command::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .current_dir(&workspace.root)
            .output()
            .map_err(|error| format!("git ls-files: {error}"))?;
        let names = String::from_utf8_lossy(&output.stdout);
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            let from = workspace.root.join(name);
            let Ok(bytes) = fs::read(&from) else {
                continue;
            };
            let to = self.tree.join(name);
            if fs::read(&to).is_ok_and(|known| known == bytes) {
                continue;
            }
            let folder = to.parent().unwrap_or(&self.tree);
            let made = fs::create_dir_all(folder).and_then(|()| fs::write(&to, bytes));
            made.map_err(|error| format!("{}: {error}", to.display()))?;
        }
        Ok(())
    }

    /// What the tests say of a fault; the copy is as before afterwards.
    fn inject(&self, fault: &Fault, list: &List) -> Result<Outcome, String> {
        let path = self.tree.join(&fault.file);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let whole = fs::read_to_string(&path).map_err(failed)?;
        if fault.count(&whole) != 1 {
            return Ok(Outcome::Stale);
        }
        fs::write(&path, whole.replace(&fault.from, &fault.to)).map_err(failed)?;
        let outcome = self.outcome(list.tests(&fault.tests)?);
        fs::write(&path, &whole).map_err(failed)?;
        outcome
    }

    fn outcome(&self, tests: &[String]) -> Result<Outcome, String> {
        // Filters are for the tests that run; which are built is the same without.
        if !self.cargo(tests, &["--no-run"])? {
            return Ok(Outcome::Refused);
        }
        Ok(match self.cargo(tests, &[])? {
            true => Outcome::Survived,
            false => Outcome::Killed,
        })
    }

    /// Does `cargo test` succeed in time?
    fn cargo(&self, tests: &[String], more: &[&str]) -> Result<bool, String> {
        let mut child = Command::new(cargo())
            .arg("test")
            .args(more)
            .args(tests)
            .env("CARGO_TARGET_DIR", &self.target)
            .env_remove("CARGO_MANIFEST_DIR")
            .current_dir(&self.tree)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cargo: {error}"))?;
        wait(&mut child, LONGEST)
    }
}

/// Does a program succeed in time?
fn wait(child: &mut Child, longest: Duration) -> Result<bool, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(status.success());
        }
        if start.elapsed() > longest {
            let stopped = child.kill().and_then(|()| child.wait());
            return stopped.map(|_| false).map_err(|e| e.to_string());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
