//! The folder of a run: its choice, its lock, and the rule that it holds one run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use stencil_compiler::diag::Code;
use stencil_runtime::io::{FrameFormat, way_out, whole_of};
use stencil_runtime::problem::{Problem, picture_names};

use super::Ended;
use crate::{OUTPUT, USAGE};

/// The file that is locked while a run writes.
const LOCK: &str = "run.lock";

/// The settings of a run.
pub(super) const PROBLEM: &str = "problem.toml";
/// Initial values that came from a file.
pub(super) const INITIAL: &str = "initial.npz";
/// The time series.
pub(super) const SERIES: &str = "series.csv";

/// States.
pub(super) const FINAL: &str = "final.npz";
pub(super) const INTERRUPTED: &str = "interrupted.npz";
pub(super) const LAST_GOOD: &str = "last_good.npz";

/// Folders of one name that are tried.
const MOST_FOLDERS: u32 = 100_000;

/// The treatment of a folder that holds files of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IfUsed {
    /// The run ends.
    Refuse,
    /// The next free one of `NAME`, `NAME-2`, `NAME-3` is taken.
    Number,
    /// The files of the earlier run are removed.
    Overwrite,
}

/// A folder that is locked until this is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    lock: File,
    /// Does the run that it holds go on?
    goes_on: bool,
}

/// A state that a run goes on from with the settings that made it.
#[derive(Clone, Copy, Debug)]
pub(super) struct State<'a> {
    pub(super) path: &'a Path,
    pub(super) step: u64,
}

impl Folder {
    /// The folder of a problem, or one of its name with a number. A run goes on in the folder that
    /// holds its state.
    ///
    /// # Errors
    /// If it cannot be made, another process writes there, or it holds another run that is not to
    /// be replaced.
    pub(super) fn take(
        problem: &Problem,
        if_used: IfUsed,
        state: Option<State<'_>>,
    ) -> Result<Self, Ended> {
        let wanted = &problem.output.dir;
        if let Some(state) = state
            && let Some(path) = home_of(state.path, wanted)
        {
            let lock = lock(&path)?.ok_or_else(|| in_use(&path))?;
            let folder = Folder { path, lock, goes_on: true };
            folder.clear(problem, Some(state))?;
            return Ok(folder);
        }
        for number in 1..MOST_FOLDERS {
            let path = numbered(wanted, number);
            fs::create_dir_all(&path).map_err(|e| failed("make the folder", &path, &e))?;
            let Some(lock) = lock(&path)? else {
                match if_used {
                    IfUsed::Number => continue,
                    IfUsed::Refuse | IfUsed::Overwrite => return Err(in_use(&path)),
                }
            };
            let folder = Folder { path, lock, goes_on: false };
            match (folder.is_used(problem)?, if_used) {
                (None, _) => {}
                (Some(_), IfUsed::Number) => continue,
                (Some(file), IfUsed::Refuse) => return Err(used(&folder.path, &file)),
                (Some(_), IfUsed::Overwrite) => {}
            }
            folder.clear(problem, None)?;
            return Ok(folder);
        }
        Err(used(wanted, Path::new(PROBLEM)))
    }

    /// The folder where the last run of a problem has gone, if it would go into one of its name with a number.
    pub(super) fn last_of(problem: &Problem, if_used: IfUsed) -> PathBuf {
        let wanted = &problem.output.dir;
        let numbers = (2..MOST_FOLDERS).map(|number| numbered(wanted, number));
        let others = numbers.take_while(|path| if_used == IfUsed::Number && path.is_dir());
        others.last().unwrap_or_else(|| wanted.clone())
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Does the run go on that it holds?
    pub(super) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// A file of an earlier run, if there is one.
    fn is_used(&self, problem: &Problem) -> Result<Option<PathBuf>, Ended> {
        let files = self.files(problem)?;
        let mut files = files.into_iter().filter(|file| whole_of(file).is_none());
        Ok(files.find(|file| !is_initial(problem, file)))
    }

    /// Removes the files of an earlier run: all of them, or those after a state that the run continues from. The
    /// settings go last, so that a folder never holds states beside settings of another run.
    fn clear(&self, problem: &Problem, state: Option<State<'_>>) -> Result<(), Ended> {
        let stays = |file: &Path| {
            let name = name_of(file);
            is_initial(problem, file)
                || state.is_some_and(|state| {
                    let step = FrameFormat::step_of(name).or_else(|| checkpoint_step(name));
                    let is_earlier = step.is_some_and(|step| step <= state.step);
                    let goes_on =
                        [PROBLEM, INITIAL, SERIES].contains(&name) || FrameFormat::is_of_all(name);
                    is_earlier || goes_on || is_series_part(name) || same(file, state.path)
                })
        };
        let mut files = self.files(problem)?;
        files.retain(|file| !stays(file));
        files.sort_by_key(|file| (name_of(file) == PROBLEM, file.clone()));
        for file in files {
            let is_folder = fs::symlink_metadata(&file).is_ok_and(|file| file.is_dir());
            match if is_folder { fs::remove_dir_all(&file) } else { fs::remove_file(&file) } {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("remove", &file, &e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The files that runs write, for this problem and for the one whose settings are there, and the remains of a
    /// killed run.
    fn files(&self, problem: &Problem) -> Result<Vec<PathBuf>, Ended> {
        let mut pictures: Vec<String> = problem.plots.iter().map(|p| p.file.clone()).collect();
        let settings = stencil_runtime::io::read_text(&self.path.join(PROBLEM));
        pictures.extend(settings.map_or_else(|_| Vec::new(), |text| picture_names(&text)));
        let is_own = |file: &Path| {
            let name = name_of(file);
            let known = [
                PROBLEM,
                INITIAL,
                SERIES,
                FINAL,
                INTERRUPTED,
                LAST_GOOD,
                "spectrum.csv",
                "spectrum.png",
            ];
            let picture = name.strip_suffix(".png");
            known.contains(&name)
                || is_series_part(name)
                || FrameFormat::step_of(name).is_some()
                || FrameFormat::is_of_all(name)
                || checkpoint_step(name).is_some()
                || picture.is_some_and(|name| pictures.iter().any(|picture| picture == name))
        };
        let unreadable = |e: io::Error| failed("read the folder", &self.path, &e);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            if is_own(&file) || whole_of(&file).is_some_and(|whole| is_own(&whole)) {
                files.push(file);
            }
        }
        Ok(files)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // While it is still locked: a process that has opened it meanwhile sees that it is gone.
        let path = self.path.join(LOCK);
        if is_at(&self.lock, &path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Locks a folder; `None` if another process has. File systems that know no locks are trusted.
fn lock(folder: &Path) -> Result<Option<File>, Ended> {
    let path = folder.join(LOCK);
    loop {
        let open = File::options().create(true).append(true).open(&path);
        let file = open.map_err(|e| failed("write", &path, &e))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            Ok(()) if !is_at(&file, &path) => {}
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(Some(file)),
        }
    }
}

/// Is an open file the one that has this path now?
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let key = |of: io::Result<fs::Metadata>| of.map(|of| (of.dev(), of.ino()));
    matches!((key(file.metadata()), key(fs::symlink_metadata(path))), (Ok(a), Ok(b)) if a == b)
}

/// The folder of a state, if it is this one or one of its name with a number.
fn home_of(state: &Path, wanted: &Path) -> Option<PathBuf> {
    let home = match state.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if same(home, wanted) {
        return Some(wanted.to_path_buf());
    }
    let number = name_of(home).strip_prefix(name_of(wanted))?.strip_prefix('-')?;
    let number: u32 = number.parse().ok()?;
    let path = numbered(wanted, number);
    (number > 1 && same(home, &path)).then_some(path)
}

/// `out/x`, `out/x-2`, `out/x-3`
fn numbered(wanted: &Path, number: u32) -> PathBuf {
    if number == 1 {
        return wanted.to_path_buf();
    }
    // `.` and `..` have a name of their own.
    let named = match wanted.file_name() {
        Some(_) => wanted.to_path_buf(),
        None => fs::canonicalize(wanted).unwrap_or_else(|_| wanted.to_path_buf()),
    };
    let mut name = named.file_name().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    named.with_file_name(name)
}

fn same(one: &Path, two: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(two)), (Ok(a), Ok(b)) if a == b)
}

/// Is it the file that the initial values of a problem are read from?
fn is_initial(problem: &Problem, file: &Path) -> bool {
    problem.initial_file().is_some_and(|from| same(from, file))
}

fn is_series_part(name: &str) -> bool {
    name.strip_suffix(".part") == Some(SERIES)
}

/// The name of the state that a run writes on its way, after this step.
pub(super) fn checkpoint_name(step: u64) -> String {
    format!("checkpoint_{step:06}.npz")
}

/// The step of `checkpoint_000100.npz`.
fn checkpoint_step(name: &str) -> Option<u64> {
    let step = name.strip_prefix("checkpoint_")?.strip_suffix(".npz")?.parse().ok()?;
    (checkpoint_name(step) == name).then_some(step)
}

/// The states of a folder that its run has written on its way, with their steps.
pub(super) fn checkpoints(folder: &Path) -> Result<Vec<(u64, PathBuf)>, Ended> {
    let unreadable = |e: io::Error| failed("read the folder", folder, &e);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        found.extend(checkpoint_step(name_of(&path)).map(|step| (step, path)));
    }
    Ok(found)
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn failed(action: &str, path: &Path, error: &io::Error) -> Ended {
    Ended::coded(
        OUTPUT,
        Code::CannotWrite,
        &format!("cannot {action} `{}`: {error}{}", path.display(), way_out(error)),
    )
}

fn in_use(path: &Path) -> Ended {
    Ended::coded(
        USAGE,
        Code::FolderInUse,
        &format!(
            "another run writes into `{}`\n  help: wait for its end, name another folder with --out, or add --number to take the next free name",
            path.display()
        ),
    )
}

fn used(path: &Path, file: &Path) -> Ended {
    Ended::coded(
        USAGE,
        Code::FolderUsed,
        &format!(
            "`{}` holds files of a run, such as `{}`\n  help: add --number to take the next free name, or --overwrite to replace that run, or name another folder with --out",
            path.display(),
            name_of(file)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_run_at_a_time() {
        let path = std::env::temp_dir().join(format!("folder-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let first = lock(&path).unwrap().unwrap();
        assert!(lock(&path).unwrap().is_none());
        drop(Folder { path: path.clone(), lock: first, goes_on: false });
        assert!(!path.join(LOCK).exists());
        // Left by a killed run.
        fs::write(path.join(LOCK), "").unwrap();
        assert!(lock(&path).unwrap().is_some());
        fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn folders_are_numbered_by_name() {
        let at = |number| numbered(Path::new("out/x"), number);
        assert_eq!([at(1), at(2), at(30)], ["out/x", "out/x-2", "out/x-30"].map(PathBuf::from));
        assert_eq!(FrameFormat::step_of("frame_001234567.npz"), Some(1_234_567));
        assert_eq!(FrameFormat::step_of("frame_last.npz"), None);
        assert_eq!(checkpoint_step(&checkpoint_name(1_234_567)), Some(1_234_567));
        assert_eq!(checkpoint_step("checkpoint_12.npz"), None);
    }
}
