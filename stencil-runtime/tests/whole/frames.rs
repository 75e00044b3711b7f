//! Frames have the same bytes wherever the values lie: in patches, in any layout, on the processor or on a card.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use stencil_runtime::compiler::expr::real::Precision;
use stencil_runtime::compiler::schedule::text as schedules;
use stencil_runtime::io::FrameFormat;
use stencil_runtime::{Axis, Builder, Engine, FrameChoice, Simulation};

use crate::patches::{FLOW, text};
use crate::runs::there_is_a_card;

fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => _ = found.insert(path.clone(), fs::read(path).unwrap()),
        }
    }
    found
}

/// Writes frames after each of some steps, and returns their files: steps go on while frames are read and written.
fn written(run: Builder<f64>, slice: Option<Axis>, precision: Precision) -> Vec<Vec<u8>> {
    let mut run = run.build().unwrap();
    run.set_run_id("frames");
    run.set("q", |x, y, z| (x + 2.0 * y).sin() * (1.0 + z).cos() / 8.0).unwrap();
    run.set("u_x", |x, y, z| (x - y + z).cos() / 9.0).unwrap();
    let folder = env::temp_dir().join(format!("whole-frames-{}", process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let choice = FrameChoice {
        formats: FrameFormat::ALL.map(|(_, format)| format).to_vec(),
        slice: slice.map(|axis| (axis, 1.0)),
        precision: Some(precision),
        ..FrameChoice::all(&run)
    };
    let mut frames = run.frames(&choice, &folder, &[], false).unwrap();
    for _ in 0..4 {
        run.write_frame(&mut frames, &[]).unwrap();
        run.run(3, |_, _| ()).unwrap();
    }
    frames.finish().unwrap();
    run.save_npz(folder.join("state.npz")).unwrap();
    let bytes = files(&folder).into_values().collect();
    fs::remove_dir_all(&folder).unwrap();
    bytes
}

#[test]
fn frames_have_the_bytes_of_one_patch_of_the_processor() {
    let mut engines = vec![Engine::Cpu];
    match there_is_a_card() {
        true => engines.push(Engine::Cuda),
        false => eprintln!("skipped on a card: this machine has none"),
    }
    let system = text(&FLOW.replace("DIM", "3"));
    let make = || Simulation::<f64>::builder(&system).cells([40, 17, 11]).dt(1e-4);
    for (slice, precision) in [(None, Precision::F64), (Some(Axis::Y), Precision::F32)] {
        let wanted = written(make(), slice, precision);
        assert!(wanted.len() > 12);
        for engine in &engines {
            for (layout, patches) in [("soa", [1; 3]), ("soa", [2, 1, 3]), ("aos", [1; 3])] {
                let schedule = format!("schedule layout {layout} kernel lexicographic");
                let run = make().schedule(schedules::parse(&schedule).unwrap()).patches(patches);
                let found = written(run.engine(*engine), slice, precision);
                assert!(found == wanted, "{engine:?} {slice:?} {precision:?} {layout} {patches:?}");
            }
        }
    }
}
