//! Runs that stop and go on: the bits, the notes about what changed, and signals.

use std::process::{Command, Stdio};

use stencil_runtime::io::Npz;

use super::common::{self, refused};
use super::{assert_has, bytes, folder, good, text};

#[test]
fn a_restart_goes_on_with_the_same_bits() {
    let here = folder("restart");
    good("run drift.toml --out whole -q", &here);
    good("run drift.toml --out parts --set time.steps=6 -q", &here);
    let printed = good("run drift.toml --out parts --restart parts/final.npz", &here);
    assert_has(&printed, &["goes on from parts/final.npz: step 6"]);
    for file in ["final.npz", "series.csv", "frame_000008.npz"] {
        let (one, two) = (here.join("whole").join(file), here.join("parts").join(file));
        assert!(bytes(&one) == bytes(&two), "{file}");
    }
}

#[test]
fn a_restart_names_what_changed() {
    let here = folder("changed");
    let top = "--set boundary.y.hi.dirichlet=top --set let.top=1+t";
    let run = |options: &str| {
        let printed = good(&format!("run drift.toml {options}"), &here);
        let notes = printed.lines().filter_map(|l| l.trim().strip_prefix("note: "));
        notes.map(str::to_string).collect::<Vec<_>>()
    };
    run(&format!("{top} --set time.steps=3"));
    let again = "--restart out/final.npz --out again --overwrite --set time.steps=5";
    let same = run(&format!("{top} {again} --set output.every=2"));
    assert!(same.is_empty(), "{same:?}");
    let faster = top.replace("1+t", "1+2*t");
    assert_eq!(
        run(&format!("{faster} {again} --param k=0.1 --set boundary.x=outflow --dt 0.01")),
        [
            "boundary.x.lo: not set in the file, { kind = \"outflow\" } now",
            "boundary.x.hi: not set in the file, { kind = \"outflow\" } now",
            "params.k: 0.05 in the file, 0.1 now",
            "let.top: \"1+t\" in the file, \"1+2*t\" now",
            "time.dt: \"cfl(0.3)\" in the file, 0.01 now",
        ]
    );
    assert_eq!(
        run(&format!("{again} --set boundary.y.hi=wall")),
        [
            "boundary.y.hi: { dirichlet = \"top\" } in the file, { kind = \"wall\" } now",
            "let.top: \"1+t\" in the file, not set now",
        ]
    );
    refused("run drift.toml --restart out/final.npz --cells 8", &here, 2);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_its_state() {
    let here = folder("interrupt");
    let words = "run drift.toml --set time.dt=1e-7 --set output.every=100000";
    let child = common::command(&format!("{words} --out cut"), &here)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.unwrap_or_else(|e| panic!("{e}"));
    // Signals are caught before the first frame is written.
    while !here.join("cut/frame_000000.npz").is_file() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    let output = child.wait_with_output().unwrap_or_else(|e| panic!("{e}"));
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{printed}");
    assert_has(&printed, &["--restart cut/interrupted.npz"]);
    let mut state = Npz::open(here.join("cut/interrupted.npz")).unwrap_or_else(|e| panic!("{e}"));
    let step = state.u64("step").unwrap();
    let end = step + 5;
    let both = |out, more| {
        let words = format!("{words} --set time.steps={end} -q --out {out} {more}");
        good(&words, &here);
        bytes(&here.join(out).join("final.npz"))
    };
    let whole = both("whole", "");
    assert!(whole == both("cut", "--restart cut/interrupted.npz"));
}
