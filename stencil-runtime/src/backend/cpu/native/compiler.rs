//! The C compiler of this machine.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

use stencil_compiler::emit::C_OPTIONS;

use super::Instructions;

/// The environment variable that names the C compiler; none is used if it is empty.
pub(super) const VARIABLE: &str = "STENCIL_CC";

/// Names of compilers, the first choice first.
const NAMES: [&str; 3] = ["cc", "gcc", "clang"];

/// Characters of a compiler's message that are told.
const MOST_OF_A_MESSAGE: usize = 200;

/// A compiler that takes the options of GCC.
#[derive(Clone, Debug)]
pub(super) struct CCompiler {
    path: PathBuf,
    version: String,
}

impl CCompiler {
    /// The compiler that [`VARIABLE`] names, or the first one on the path.
    pub(super) fn of_user() -> Result<Self, String> {
        CCompiler::among(env::var_os(VARIABLE), &env::var_os("PATH").unwrap_or_default())
    }

    /// The compiler of a name, or the first one on a path.
    pub(super) fn among(own: Option<OsString>, path: &OsStr) -> Result<Self, String> {
        match own {
            Some(own) if own.is_empty() => Err(format!("{VARIABLE} is empty")),
            Some(own) => {
                let missing = || format!("there is no compiler {}", own.display());
                CCompiler::at(&found(path, &own).ok_or_else(missing)?)
            }
            None => {
                let found = NAMES.iter().find_map(|name| found(path, OsStr::new(name)));
                let missing = || format!("there is no C compiler ({})", NAMES.join(", "));
                CCompiler::at(&found.ok_or_else(missing)?)
            }
        }
    }

    fn at(path: &Path) -> Result<Self, String> {
        let failed = |why: &str| format!("{} does not tell its version{why}", path.display());
        let told = Command::new(path).arg("--version").stdin(Stdio::null()).output();
        let told = told.map_err(|error| failed(&format!(": {error}")))?;
        match told.status.success() {
            false => Err(failed("")),
            true => Ok(CCompiler {
                version: format!("{}: {}", path.display(), String::from_utf8_lossy(&told.stdout)),
                path: path.to_path_buf(),
            }),
        }
    }

    /// Its path and its version, in its own words.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a text to a library.
    pub(super) fn compile(&self, text: &str, options: &[&str], to: &Path) -> Result<(), String> {
        let failed = |why: &str| format!("{} failed: {why}", self.path.display());
        let mut command = Command::new(&self.path);
        command.args(options).arg("-o").arg(to).arg("-").arg("-lm");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(&error.to_string()))?;
        let stdin = child.stdin.take();
        // Both ends of its pipes are served, so that neither side waits for the other.
        let done = thread::scope(|scope| {
            scope.spawn(|| stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
            child.wait_with_output()
        });
        let done = done.map_err(|error| failed(&error.to_string()))?;
        match done.status.success() && to.is_file() {
            true => Ok(()),
            false => {
                let told = String::from_utf8_lossy(&done.stderr);
                let line = told.lines().find(|line| line.contains("error"));
                let line = line.or(told.lines().next()).unwrap_or("it gave no library");
                let clean = |c: char| if c.is_control() { ' ' } else { c };
                let line: String = line.chars().map(clean).take(MOST_OF_A_MESSAGE).collect();
                Err(failed(&line))
            }
        }
    }
}

/// Returns the file of a program: at its path if it has one, else in the first folder that has it. Folders without an
/// absolute path are passed over: they would be others elsewhere.
fn found(path: &OsStr, name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).is_absolute() {
        return Some(PathBuf::from(name)).filter(|file| is_program(file));
    }
    if Path::new(name).components().count() != 1 {
        return None;
    }
    let folders = env::split_paths(path).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Returns the options for the instructions of the processor.
pub(super) fn options(instructions: Instructions) -> Result<Vec<&'static str>, String> {
    let own: &[&str] = match instructions {
        Instructions::Baseline if cfg!(target_arch = "x86_64") => {
            return Err("the instructions `baseline` have no fused multiply-adds".to_string());
        }
        Instructions::Baseline => &[],
        Instructions::Avx2 => &["-mavx2", "-mfma"],
        Instructions::Avx512 => {
            &["-mavx2", "-mfma", "-mavx512f", "-mavx512vl", "-mprefer-vector-width=512"]
        }
    };
    Ok([C_OPTIONS, own, &["-shared", "-fPIC"]].concat())
}
