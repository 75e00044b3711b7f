//! `stencil plot` as a user runs it: pictures of files, and its messages if there is none.

use std::path::Path;

use ndarray::Array3;
use stencil_runtime::io::{NpzWriter, SeriesWriter};

mod common;

use common::{all_refused, assert_has, folder, good, refused};

/// The paths that a good run prints.
fn drawn(args: &str, folder: &Path) -> Vec<String> {
    let printed = good(args, folder);
    let paths: Vec<String> = printed.lines().map(str::to_string).collect();
    for path in &paths {
        let bytes = std::fs::read(folder.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert_eq!(&bytes[1..4], b"PNG", "{path}");
    }
    paths
}

/// A flow on a box, as a run would leave it.
fn write_box(path: &Path, amplitude: f64) {
    let h = std::f64::consts::TAU / 16.0;
    let wave = |axis: usize| {
        Array3::from_shape_fn((16, 16, 16), |(z, y, x)| {
            amplitude * (h * [y, z, x][axis] as f64 * (axis + 1) as f64).sin()
        })
    };
    let write = || {
        let mut file = NpzWriter::create(path)?;
        for (axis, name) in ["u_x", "u_y", "u_z"].into_iter().enumerate() {
            file.array(name, &wave(axis).view())?;
        }
        for axis in ["x", "y", "z"] {
            file.f64(&format!("origin_{axis}"), 0.0)?;
            file.f64(&format!("spacing_{axis}"), h)?;
        }
        file.f64("t", 0.5)?;
        file.u64("step", 10)?;
        file.text("system", "/// A flow.\npub system Flow in 3d {}")?;
        file.finish()
    };
    write().unwrap_or_else(|e| panic!("{e}"));
}

fn write_series(path: &Path) {
    let write = || {
        let mut series = SeriesWriter::create(path, &["step", "t", "mass", "energy"])?;
        for step in 0..20 {
            let t = 0.1 * f64::from(step);
            series.push(&[f64::from(step), t, 1.0, (-t).exp()])?;
        }
        series.finish()
    };
    write().unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn planes_lines_series_and_spectra_are_drawn_beside_the_data() {
    let here = folder("all");
    std::fs::create_dir(here.join("run")).unwrap_or_else(|e| panic!("{e}"));
    write_box(&here.join("run/final.npz"), 1.0);
    write_series(&here.join("run/series.csv"));
    for (args, expected) in [
        ("plot run", "run/final.png"),
        ("plot run --field u", "run/final_u.png"),
        ("plot run --field u_x,u_y --slice y=#3", "run/final_u_x_u_y_y3.png"),
        ("plot run --line y=1.6,z=#0 --log", "run/final_y4_z0.png"),
        ("plot run --series", "run/series.png"),
        ("plot run --series energy --log --out e.png", "e.png"),
        ("plot run/series.csv", "run/series.png"),
        ("plot run --spectrum --guide -5/3", "run/spectrum.png"),
        ("plot run/final.npz --range -1,1 --map magma", "run/final.png"),
    ] {
        assert_eq!(drawn(args, &here), [expected], "{args}");
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    let here = folder("bytes");
    write_box(&here.join("final.npz"), 1.0);
    for out in ["a.png", "b.png"] {
        drawn(&format!("plot . --field u --out {out}"), &here);
    }
    let read = |name| std::fs::read(here.join(name)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read("a.png"), read("b.png"));
}

#[test]
fn all_frames_have_one_range() {
    let here = folder("frames");
    for (step, amplitude) in [(0, 1.0), (10, 0.5), (20, 0.5)] {
        write_box(&here.join(format!("frame_{step:06}.npz")), amplitude);
    }
    let args = "plot . --frames --field u_x --out film";
    let expected = [0, 10, 20].map(|step| format!("film/frame_{step:06}_u_x.png"));
    assert_eq!(drawn(args, &here), expected);
    let read = |name: &str| std::fs::read(here.join(name)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read(&expected[1]), read(&expected[2]));
    // By itself the frame has a range of its own, and so another picture.
    let alone = "plot frame_000010.npz --field u_x --out one.png";
    drawn(alone, &here);
    assert_ne!(read(&expected[1]), read("one.png"));
    let fixed = "plot frame_000010.npz --field u_x --out two.png --range -1,1";
    drawn(fixed, &here);
    assert_eq!(read(&expected[1]), read("two.png"));
}

#[test]
fn one_axis_gives_a_curve_and_foreign_arrays_are_drawn() {
    let here = folder("line");
    let write = || {
        let mut file = NpzWriter::create(here.join("wave.npz"))?;
        let wave = ndarray::Array1::from_shape_fn(50, |i| (0.2 * i as f64).sin() as f32);
        file.array("height", &wave.view())?;
        file.finish()
    };
    write().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(drawn("plot wave.npz", &here), ["wave.png"]);
    let message = refused("plot wave.npz --slice x=3", &here, 2);
    assert_has(&message, &["--slice cuts a box"]);
}

#[test]
fn mistakes_name_the_thing_and_the_way_out() {
    let here = folder("mistakes");
    write_box(&here.join("final.npz"), 1.0);
    write_series(&here.join("series.csv"));
    std::fs::write(here.join("broken.npz"), b"not a zip").unwrap_or_else(|e| panic!("{e}"));
    std::fs::create_dir(here.join("empty")).unwrap_or_else(|e| panic!("{e}"));
    all_refused(
        "",
        &[
            ("plot nowhere", "cannot read `nowhere`"),
            ("plot empty", "`empty` has no final.npz"),
            ("plot . --field ux", "did you mean `u_x`?"),
            ("plot . --slice z=7", "runs from"),
            ("plot . --slice z=#16", "from #0 to #15"),
            ("plot . --line z=1", "needs 2 places"),
            ("plot . --series enregy", "did you mean `energy`?"),
            ("plot . --frames", "it has: broken.npz, final.npz, series.csv"),
            ("plot broken.npz", "broken.npz"),
            ("plot . --spectrum --field v", "name one with --field: u"),
            ("plot . --map jet", "viridis, magma"),
            ("plot . --range 1,0", "the smaller one first"),
            ("plot . --log --range -1,1", "positive on a logarithmic scale"),
        ],
        &here,
    );
    let message = refused("plot . --out no/such/folder/a.png", &here, 6);
    assert_has(&message, &["no/such/folder/a.png"]);
}
