//! Runs programs of tests with faults in them, several at a time, and reports the faults that no test notices.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::switch::VARIABLE;

/// Tests with a fault may take this many times as long as without, for each thread; a fault that lets them run on counts as killed.
const LONGER: usize = 3;

/// Threads that run the tests of one fault.
const THREADS: usize = 2;

/// Tests to run: a program, its folder, the names that its tests hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tests {
    pub(super) name: String,
    pub(super) program: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) filters: Vec<String>,
}

/// A fault and the program that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) number: usize,
    pub(super) tests: Tests,
    /// Whether the programs of all tests have it.
    pub(super) is_everywhere: bool,
    pub(super) text: String,
}

/// All programs to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// All tests, which pass without a fault.
    pub(super) tests: Vec<Tests>,
    pub(super) subjects: Vec<Subject>,
}

impl Tests {
    fn fields(&self) -> String {
        let (program, folder) = (self.program.display(), self.folder.display());
        format!("{}\t{program}\t{folder}\t{}", self.name, self.filters.join(" "))
    }

    fn parse(fields: &[&str]) -> Option<Self> {
        let [name, program, folder, filters] = fields else {
            return None;
        };
        Some(Self {
            name: (*name).into(),
            program: program.into(),
            folder: folder.into(),
            filters: filters.split_whitespace().map(String::from).collect(),
        })
    }

    /// Do all tests pass with a fault, none for 0, on so many threads? Stops at the first that does not.
    fn pass(&self, fault: usize, threads: usize, longest: Duration) -> Result<bool, String> {
        let mut child = Command::new(&self.program)
            .args(&self.filters)
            .current_dir(&self.folder)
            .env(VARIABLE, fault.to_string())
            .env("RUST_TEST_THREADS", threads.to_string())
            .env("INSTA_UPDATE", "no")
            .env("STENCIL_TURN", "all")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        let out = child.stdout.take().ok_or("no output of tests")?;
        let (send, failures) = std::sync::mpsc::channel();
        let reader = thread::spawn(move || {
            let lines = BufReader::new(out).lines().map_while(Result::ok);
            for line in lines.filter(|line| line.ends_with("... FAILED")) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let passed = wait(&mut child, longest, || failures.try_recv().is_ok());
        let _ = reader.join();
        passed
    }
}

/// Waits for a program: does it succeed in time, without a sign of failure?
fn wait(
    child: &mut Child,
    longest: Duration,
    has_failed: impl Fn() -> bool,
) -> Result<bool, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(status.success());
        }
        if start.elapsed() > longest || has_failed() {
            let stopped = child.kill().and_then(|()| child.wait());
            return stopped.map(|_| false).map_err(|e| e.to_string());
        }
        thread::sleep(Duration::from_millis(20));
    }
}

impl Plan {
    /// Writes it as a text that [`Plan::read`] reads.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for tests in &self.tests {
            let _ = writeln!(out, "tests\t{}", tests.fields());
        }
        for subject in &self.subjects {
            let Subject { number, tests, is_everywhere, text } = subject;
            let _ = writeln!(out, "fault\t{number}\t{is_everywhere}\t{text}\t{}", tests.fields());
        }
        out
    }

    /// Reads a plan.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut plan = Self::default();
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let wrong = || format!("{}: `{line}` is no line of a plan", path.display());
            match &fields[..] {
                ["tests", rest @ ..] => plan.tests.push(Tests::parse(rest).ok_or_else(wrong)?),
                ["fault", number, is_everywhere, text, rest @ ..] => plan.subjects.push(Subject {
                    number: number.parse().map_err(|_| wrong())?,
                    is_everywhere: *is_everywhere == "true",
                    text: (*text).into(),
                    tests: Tests::parse(rest).ok_or_else(wrong)?,
                }),
                _ => return Err(wrong()),
            }
        }
        Ok(plan)
    }

    /// Runs all tests without a fault, then with each, and prints a line for each. An error if one of the faults is not noticed.
    pub(super) fn run(&self, report: &Path) -> Result<(), String> {
        let times = self.times()?;
        let next = AtomicUsize::new(0);
        let lines = Mutex::new(BTreeMap::new());
        let jobs = (processors() / THREADS).max(1);
        let work = || -> Result<(), String> {
            while let Some(subject) = self.subjects.get(next.fetch_add(1, Ordering::Relaxed)) {
                let start = Instant::now();
                let killer = self.killer(subject, &times)?;
                let word = killer.map_or("SURVIVED".into(), |name| format!("killed by {name}"));
                let line =
                    format!("{word:<24} {:4.0} s  {}", start.elapsed().as_secs_f64(), subject.text);
                println!("{line}");
                lines.lock().map_err(|e| e.to_string())?.insert(subject.number, line);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let all: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
            all.into_iter().try_for_each(|one| {
                one.join().map_err(|_| "a thread of tests panicked".to_string())?
            })
        })?;
        let lines = lines.into_inner().map_err(|e| e.to_string())?;
        let text: String = lines.values().map(|line| format!("{line}\n")).collect();
        fs::write(report, text).map_err(|e| format!("{}: {e}", report.display()))?;
        let killed = lines.values().filter(|line| line.starts_with("killed")).count();
        println!("{killed} of {} faults are killed", lines.len());
        match killed == lines.len() {
            true => Ok(()),
            false => Err("not every fault is killed".into()),
        }
    }

    /// Times all tests without a fault.
    fn times(&self) -> Result<BTreeMap<&str, Duration>, String> {
        let mut times = BTreeMap::new();
        for tests in &self.tests {
            let start = Instant::now();
            if !tests.pass(0, processors(), Duration::from_secs(3600))? {
                return Err(format!("tests `{}` fail without a fault", tests.name));
            }
            println!("{:<24} {:4.0} s  without a fault", tests.name, start.elapsed().as_secs_f64());
            times.insert(tests.name.as_str(), start.elapsed());
        }
        Ok(times)
    }

    /// Returns the tests that notice a fault: those nearest to it, else others.
    fn killer(
        &self,
        subject: &Subject,
        times: &BTreeMap<&str, Duration>,
    ) -> Result<Option<String>, String> {
        let others = self
            .tests
            .iter()
            .filter(|tests| subject.is_everywhere && tests.name != subject.tests.name);
        for tests in std::iter::once(&subject.tests).chain(others) {
            let usual = times.get(tests.name.as_str()).copied().unwrap_or_default();
            // All threads ran them without a fault.
            let longer = LONGER * processors().div_ceil(THREADS);
            let longest = usual * longer as u32 + Duration::from_secs(60);
            if !tests.pass(subject.number, THREADS, longest)? {
                return Ok(Some(tests.name.clone()));
            }
        }
        Ok(None)
    }
}

/// Returns the number of threads that run at once.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Tests {
        let filters = ["-c".to_string(), script.replace(' ', "${IFS}")];
        Tests {
            name: "sh".into(),
            program: "/bin/sh".into(),
            folder: "/".into(),
            filters: filters.into(),
        }
    }

    #[test]
    fn plans_are_read_as_they_were_written() {
        let tests = shell("exit 0");
        let subject = Subject {
            number: 3,
            tests: tests.clone(),
            is_everywhere: true,
            text: "`a` as `b`".into(),
        };
        let plan = Plan { tests: vec![tests], subjects: vec![subject] };
        let path = std::env::temp_dir().join(format!("stencil-faults-{}", std::process::id()));
        fs::write(&path, plan.text()).expect("a file");
        let read = Plan::read(&path);
        fs::remove_file(&path).expect("a file");
        assert_eq!(read, Ok(plan));
    }

    #[test]
    fn failures_are_seen_at_once() {
        let long = Duration::from_secs(60);
        assert_eq!(shell("true").pass(0, 1, long), Ok(true));
        assert_eq!(shell("false").pass(0, 1, long), Ok(false));
        assert_eq!(shell("test $STENCIL_FAULT = 7").pass(7, 1, long), Ok(true));
        let start = Instant::now();
        assert_eq!(shell("echo test a ... FAILED; exec sleep 50").pass(0, 1, long), Ok(false));
        assert_eq!(shell("exec sleep 50").pass(0, 1, Duration::from_millis(50)), Ok(false));
        assert!(start.elapsed() < Duration::from_secs(40));
    }
}
