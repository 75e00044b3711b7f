//! Frames of runs, opened by the readers that others use: NumPy, h5py, VTK's reader and xarray.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::{Workspace, cargo};

/// The packages of the readers, with VTK 150 MB.
const PACKAGES: [&str; 6] = [
    "vtk==9.7.2",
    "h5py==3.16.0",
    "xarray==2026.9.0",
    "zarr==3.1.6",
    "numpy==2.4.6",
    "matplotlib==3.11.2",
];
/// A Python that has them, in place of one in the target folder.
const VARIABLE: &str = "STENCIL_READERS_PYTHON";

/// Runs: one to three axes, cells, points and faces, both precisions, vectors, slices, several devices, compressed or not.
const RUNS: [(&str, &str); 9] = [
    ("line", "sod --cells 101 --steps 9 --set output.every=4"),
    ("plane", "gray_scott --cells 33,20 --steps 8 --set output.every=4 --set output.compress=3"),
    ("single", "kelvin_helmholtz --cells 24,20 --steps 8 --precision f32 --set output.every=4"),
    ("time", "kelvin_helmholtz --cells 24 --set time.end=0.1 --set output.every_time=0.025"),
    ("box", "explosion --cells 19,16,11 --steps 6 --set output.every=3"),
    (
        "devices",
        "explosion --cells 19,16,11 --steps 6 --set output.every=3 --patches 2,2,1 --devices 4",
    ),
    ("slice", "explosion --cells 19,16,11 --steps 6 --set output.every=6 --set output.slice=y=0.3"),
    ("faces", "magnetic_blast --cells 12,18 --steps 4 --set output.every=2"),
    ("points", "turbulence --cells 16 --steps 4 --set output.every=2 --set output.compress=1"),
];

/// Writes the frames of all runs into the target folder, and has them read.
pub(crate) fn run(workspace: &Workspace) -> Result<(), String> {
    let base = workspace.target.join("formats");
    let python = readers(&base)?;
    // The program that tests run, of the units that they have.
    let build = ["test", "-p", "stencil-cli", "--test", "problems", "--no-run"];
    succeed(Command::new(cargo()).args(build).current_dir(&workspace.root), "cargo test --no-run")?;
    let stencil = workspace.target.join("debug").join("stencil");
    let script = workspace.root.join("xtask/formats/read.py");
    for (name, words) in RUNS {
        let folder = base.join("runs").join(name);
        let mut run = Command::new(&stencil);
        run.arg("run").args(words.split(' ')).arg("--out").arg(&folder);
        run.args(["--overwrite", "--quiet", "--set", r#"output.format=["npz","vtkhdf","zarr"]"#]);
        succeed(&mut run, words)?;
        let picture = folder.join("readers.png");
        let mut read = Command::new(&python);
        succeed(read.arg(&script).arg(&folder).arg(picture), name)?;
    }
    let (one, four) = (base.join("runs/box"), base.join("runs/devices"));
    same_frames(&one, &four)
}

/// Returns a Python with the packages, in an environment of its own that is made once.
fn readers(base: &Path) -> Result<PathBuf, String> {
    if let Some(own) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return Ok(own.into());
    }
    let folder = base.join("readers");
    let python = folder.join("bin").join("python");
    let marker = folder.join("complete");
    if fs::read_to_string(&marker).is_ok_and(|packages| packages == PACKAGES.join("\n")) {
        return Ok(python);
    }
    eprintln!("fetching {} into {}", PACKAGES.join(", "), folder.display());
    let mut make = Command::new("python3");
    succeed(make.args(["-m", "venv"]).arg(&folder), "python3 -m venv")?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    succeed(pip.args(PACKAGES), "pip install")?;
    fs::write(&marker, PACKAGES.join("\n")).map_err(|e| format!("{}: {e}", marker.display()))?;
    Ok(python)
}

/// Compares the frames of two folders byte for byte.
fn same_frames(one: &Path, two: &Path) -> Result<(), String> {
    let read = |path: &Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    let mut rest = vec![PathBuf::new()];
    let mut count = 0;
    while let Some(inside) = rest.pop() {
        let path = one.join(&inside);
        if path.is_dir() {
            let entries = crate::workspace::entries(&path)?;
            let is_frame = |name: &str| !inside.as_os_str().is_empty() || name.starts_with("frame");
            rest.extend(entries.iter().filter(|(n, _)| is_frame(n)).map(|(n, _)| inside.join(n)));
        } else if read(&path)? == read(&two.join(&inside))? {
            count += 1;
        } else {
            return Err(format!("{} differs in {}", inside.display(), two.display()));
        }
    }
    println!("{count} files of frames by one device and by four have the same bytes");
    Ok(())
}

fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{what}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: {status}")) }
}
