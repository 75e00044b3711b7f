//! Frames in several formats, by time, and of runs that go on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::common::refused;
use super::{assert_has, bytes, folder, good};

const ALL: &str = r#"--set output.format=["npz","vtkhdf","zarr"]"#;

/// All files of frames in a folder, by their paths there.
fn frames(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut rest = vec![folder.to_path_buf()];
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            rest.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.strip_prefix(folder).unwrap().to_path_buf();
        if name.to_string_lossy().starts_with("frame") {
            found.insert(name, bytes(&path));
        }
    }
    found
}

/// By steps, and by time with steps that adapt: a run that goes on leaves the frames of one that did not end.
#[test]
fn frames_of_a_run_that_goes_on_are_those_of_one_that_did_not_end() {
    for (name, every) in [("steps", "every = 3\n"), ("time", "every_time = 0.1\n")] {
        let here = folder(&format!("frames-{name}"));
        let text = fs::read_to_string(here.join("drift.toml")).unwrap();
        fs::write(here.join("drift.toml"), text.replace("every = 4\n", every)).unwrap();
        let run = format!("run drift.toml {ALL} -q --threads 1");
        good(&format!("{run} --out whole"), &here);
        good(&format!("{run} --out parts --set time.steps=7"), &here);
        // Frames beyond the state are of no run that goes on from it.
        good(&format!("{run} --out parts --restart parts/final.npz"), &here);
        let whole = frames(&here.join("whole"));
        assert!(whole.len() > 12, "{:?}", whole.keys());
        assert!(whole == frames(&here.join("parts")), "{name}");
        assert!(bytes(&here.join("whole/final.npz")) == bytes(&here.join("parts/final.npz")));
    }
}

/// Output changes no bit of a run, and a folder is cleared of all frames.
#[test]
fn frames_change_no_bit_and_go_with_their_run() {
    let here = folder("frames-bits");
    let run = "run drift.toml -q --threads 1 --out out";
    let more = "--set output.compress=1 --set output.slice=y=1 --set output.precision=f32";
    good(&format!("{run} {ALL} {more}"), &here);
    let last = bytes(&here.join("out/final.npz"));
    assert!(here.join("out/frames.zarr/zarr.json").is_file());
    let used = "run drift.toml -q --out out --set output.every=100000";
    refused(used, &here, 2);
    good(&format!("{used} --overwrite --threads 1"), &here);
    assert!(last == bytes(&here.join("out/final.npz")));
    let left: Vec<PathBuf> = frames(&here.join("out")).into_keys().collect();
    assert_eq!(left, [PathBuf::from("frame_000000.npz")]);
}

/// A disk that takes no more, or a limit of files: the run ends with its error, and the frames before are whole.
#[cfg(unix)]
#[test]
fn a_frame_that_cannot_be_written_ends_the_run() {
    use std::process::Command;

    let here = folder("frames-full");
    for format in ["vtkhdf", "zarr"] {
        let stencil = env!("CARGO_BIN_EXE_stencil");
        let words = format!(
            "ulimit -f 8; exec {stencil} run drift.toml -q --threads 1 --out {format} \
             --set output.format={format} --set mesh.cells=200,100"
        );
        let ended = Command::new("bash").args(["-c", &words]).current_dir(&here).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(6), "{told}");
        assert_has(&told, &["error[R0201]: cannot write `", "ulimit -f"]);
        assert!(!here.join(format!("{format}/frame_000000.vtkhdf")).exists());
        assert!(!here.join(format!("{format}/frames.zarr/zarr.json")).exists());
    }
}
