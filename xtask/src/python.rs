//! The package of Python: its wheel, built from what the tests compiled, and its tests on that wheel.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::nvrtc;
use crate::workspace::Workspace;

/// The packages that the tests need beside the wheel; the build tool is the one of `python/pyproject.toml`.
const PACKAGES: [&str; 3] = ["maturin==1.16.0", "numpy", "pytest"];

/// Written last, with the names of the packages: without it, the environment is not complete.
const MARKER: &str = "complete";

/// Builds the wheel, installs it, and runs the tests of the package. Without Python or its packages it says so, and does
/// nothing.
pub(crate) fn run(workspace: &Workspace, has_ranks: bool) -> Result<(), String> {
    let folder = workspace.target.join("python");
    let venv = folder.join("venv");
    if let Err(reason) = environment(&venv) {
        println!("the package of Python is not tested: {reason}");
        return Ok(());
    }
    let bin = venv.join("bin");
    let sources = workspace.root.join("python");
    let wheels = folder.join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    // The settings and the features of the tests, so that nothing but the module itself is compiled and linked.
    let profile = folder.join("profile.toml");
    let settings = settings_of_tests(&workspace.read(Path::new("Cargo.toml"))?);
    fs::write(&profile, settings).map_err(|error| format!("{}: {error}", profile.display()))?;
    let features = if has_ranks { "tests,mpi" } else { "tests" };
    let mut build = Command::new(bin.join("maturin"));
    build.args(["build", "--quiet", "--profile", "dev", "--features", features, "--config"]);
    build.arg(&profile).args(["--auditwheel", "skip", "--out"]).arg(&wheels);
    call(build.arg("--target-dir").arg(&workspace.target).current_dir(&sources))?;
    let wheel = fs::read_dir(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    let wheel = wheel.flatten().next().ok_or("maturin built no wheel")?.path();
    let mut install = Command::new(bin.join("python"));
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]);
    call(install.arg(wheel))?;
    let mut test = Command::new(bin.join("python"));
    test.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).arg(sources.join("tests"));
    // Schedules are searched without a card, and the best are compiled if there is a compiler.
    if let Ok(nvrtc) = nvrtc::fetch(workspace) {
        test.env("STENCIL_NVRTC_DIR", nvrtc);
    }
    // As beside the tests of Rust, no program is compiled.
    test.env("STENCIL_CC", "");
    call(test.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(&folder))
}

/// Returns the settings of the profile `test` in a manifest as those of `dev`: by the profile `test` itself maturin's cargo would
/// build a program of tests.
fn settings_of_tests(manifest: &str) -> String {
    let (mut settings, mut is_inside) = (String::new(), false);
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_inside = line.starts_with("[profile.test");
        }
        if is_inside && !line.starts_with('#') && !line.is_empty() {
            settings += &line.replacen("[profile.test", "[profile.dev", 1);
            settings.push('\n');
        }
    }
    settings
}

/// Makes the environment with all packages, if it is not there.
fn environment(venv: &Path) -> Result<(), String> {
    let marker = venv.join(MARKER);
    let complete = PACKAGES.join(" ");
    if fs::read_to_string(&marker).is_ok_and(|text| text == complete) {
        return Ok(());
    }
    println!("installing {complete} into {}", venv.display());
    call(Command::new("python3").args(["-m", "venv", "--clear"]).arg(venv))?;
    let mut install = Command::new(venv.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    call(install.args(PACKAGES))?;
    fs::write(&marker, complete).map_err(|error| format!("{}: {error}", marker.display()))
}

fn call(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown}: {status}")),
        Err(error) => Err(format!("{shown}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_tests_become_those_of_the_usual_profile() {
        let manifest = "[profile.dev]\nopt-level = 0\n\n[profile.test]\n# Why.\nopt-level = 1\n\n\
                        [profile.test.package]\na.debug = false\n\n[profile.release]\nlto = true\n";
        let settings = "[profile.dev]\nopt-level = 1\n[profile.dev.package]\na.debug = false\n";
        assert_eq!(settings_of_tests(manifest), settings);
        assert!(settings_of_tests(include_str!("../../Cargo.toml")).contains("opt-level"));
    }
}
