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
    write_box_at(path, amplitude, 0.5);
}

fn write_box_at(path: &Path, amplitude: f64, t: f64) {
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
        file.f64("t", t)?;
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
        ("plot run --line y=1.6,z=#0 --log --range 0.1,1", "run/final_y4_z0.png"),
        ("plot run --volume u", "run/final_u_volume.png"),
        ("plot run --iso u_x=-0.5,0.5 --view 30,-20", "run/final_u_x_iso.png"),
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

/// A run with three frames at uneven times.
fn write_frames(folder: &Path) {
    for (step, t) in [(0, 0.0), (10, 0.1), (20, 0.5)] {
        write_box_at(&folder.join(format!("frame_{step:06}.npz")), 1.0 + t, t);
    }
}

/// The number of pictures of a GIF.
fn pictures(bytes: &[u8]) -> usize {
    // Each begins with a block of its delay.
    bytes.windows(4).filter(|block| *block == b"\x21\xf9\x04\x04").count()
}

#[test]
fn films_have_all_frames() {
    let here = folder("films");
    write_frames(&here);
    let read = |name: &str| std::fs::read(here.join(name)).unwrap_or_else(|e| panic!("{e}"));
    for (args, expected) in [
        ("plot . --animate --field u_x --slice z=#3", "./film_u_x_z3.gif"),
        ("plot . --animate --line y=0,z=#5 --out line.gif --fps 20", "line.gif"),
        ("plot . --animate --iso u_x=0.5 --out iso.gif", "iso.gif"),
    ] {
        assert_eq!(good(args, &here).trim(), expected, "{args}");
        let bytes = read(expected);
        assert!(bytes.starts_with(b"GIF89a"), "{args}");
        assert_eq!(pictures(&bytes), 3, "{args}");
    }
    drawn("plot . --animate --field u --slice z=#3 --out film.png", &here);
    assert!(read("film.png").windows(8).any(|w| w == b"acTL\0\0\0\x03"), "3 pictures");
}

#[cfg(unix)]
#[test]
fn videos_are_encoded_by_another_program() {
    use std::os::unix::fs::PermissionsExt as _;

    let here = folder("videos");
    write_frames(&here);
    let args = "plot . --animate --field u_x --slice z=#3 --out film.mp4";
    let on_path = |path: &Path| {
        let output = common::output(common::command(args, &here).env("PATH", path));
        (output.status.code(), common::text(&output.stderr))
    };
    std::fs::create_dir(here.join("bin")).unwrap_or_else(|e| panic!("{e}"));
    let (code, message) = on_path(&here.join("bin"));
    assert_eq!(code, Some(2), "{message}");
    assert_has(&message, &["no ffmpeg on PATH", ".gif or .apng"]);
    // A program in its place: it counts bytes, or fails.
    let install = |script: &str| {
        let program = here.join("bin/ffmpeg");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n"))
            .and_then(|()| {
                std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))
            })
            .unwrap_or_else(|e| panic!("{e}"));
    };
    install("for last; do :; done; echo \"$@\" > words; /usr/bin/wc -c > \"$last\"");
    let (code, message) = on_path(&here.join("bin"));
    assert_eq!(code, Some(0), "{message}");
    let read = |name: &str| std::fs::read_to_string(here.join(name)).unwrap_or_default();
    let words = read("words");
    let size = words.split_whitespace().skip_while(|w| *w != "-video_size").nth(1);
    let size = size.and_then(|size| size.split_once('x')).unwrap_or_default();
    let sides = [size.0, size.1].map(|side| side.parse::<usize>().unwrap_or(0));
    let count: usize = read("film.mp4").trim().parse().unwrap_or(0);
    assert!(count > 0 && count == 3 * 3 * sides[0] * sides[1], "{count} {words}");
    assert_has(&words, &["-framerate 10", "-pix_fmt yuv420p"]);
    install("echo 'no such encoder' >&2; exit 1");
    let (code, message) = on_path(&here.join("bin"));
    assert_eq!(code, Some(2), "{message}");
    assert_has(&message, &["ffmpeg failed: no such encoder"]);
    let left = std::fs::read_dir(&here).into_iter().flatten().flatten();
    let parts = left.filter(|f| f.file_name().to_string_lossy().ends_with(".part")).count();
    assert_eq!(parts, 0, "no parts are left behind");
}

#[test]
fn lines_and_spectra_are_drawn_over_time() {
    let here = folder("times");
    write_frames(&here);
    for (args, expected) in [
        ("plot . --xt --line y=0,z=#5 --field u_x,u", "./xt_u_x_u_y0_z5.png"),
        ("plot . --spectra --guide -3", "./spectra.png"),
    ] {
        assert_eq!(drawn(args, &here), [expected], "{args}");
    }
    for ending in ["svg", "pdf"] {
        for args in ["--xt --line y=0,z=#5", "--spectra", "--iso u_x=0.5"] {
            let (data, out) = match args.starts_with("--iso") {
                true => ("frame_000010.npz", format!("a.{ending}")),
                false => (".", format!("a.{ending}")),
            };
            let printed = good(&format!("plot {data} {args} --out {out}"), &here);
            assert_eq!(printed.trim(), out, "{args}");
            let bytes = std::fs::read(here.join(&out)).unwrap_or_else(|e| panic!("{e}"));
            let begin = if ending == "svg" { &b"<svg "[..] } else { b"%PDF-" };
            assert!(bytes.starts_with(begin), "{args} {ending}");
        }
    }
}

#[test]
fn frames_that_do_not_serve_say_why() {
    let here = folder("few");
    write_box(&here.join("frame_000000.npz"), 1.0);
    all_refused(
        "plot .",
        &[
            ("--animate", "has one frame, frame_000000.npz, and --animate takes two or more"),
            ("--xt --line y=0,z=0", "and --xt takes two or more"),
            ("--spectra", "and --spectra takes two or more"),
        ],
        &here,
    );
    write_box(&here.join("frame_000010.npz"), 1.0);
    all_refused(
        "plot .",
        &[
            ("--xt", "is of a line; add --line y=0.5,z=#0"),
            ("--xt --line y=0,z=0", "frame_000010.npz: t = 0.5 does not come after t = 0.5"),
            ("--animate --out film.avi", ".gif, .png, .apng or .mp4"),
            ("--animate --fps 0", "choose more than 0"),
            ("--spectra --field v", "frame_000000.npz: the file has no vector `v`"),
            ("--animate --iso u_x=7", "no surface `u_x` = 7; its values run from"),
            ("--animate --log", "has no logarithm; leave --log out"),
            ("--fps 3", "--animate"),
        ],
        &here,
    );
    let write = || {
        let mut file = NpzWriter::create(here.join("frame_000020.npz"))?;
        file.array("u_x", &Array3::<f64>::zeros((4, 4, 4)).view())?;
        file.finish()
    };
    write().unwrap_or_else(|e| panic!("{e}"));
    let message = refused("plot . --animate --field u_x", &here, 2);
    assert_has(&message, &["frame_000020.npz: `u_x` has [4, 4, 4] points"]);
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
    let message = refused("plot wave.npz --volume height", &here, 2);
    assert_has(&message, &["`height` has 50 cells", "boxes of three axes"]);
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
            ("plot . --log", "`u_x` has the value −1, which has no logarithm"),
            ("plot . --series t --log", "column `t` of `./series.csv` has the value 0"),
            ("plot . --volume q", "the file has no field `q`"),
            ("plot . --iso u_x=2", "no surface `u_x` = 2; its values run from −1 to 1"),
            ("plot . --iso u_x", "write a field, `=` and one number or more"),
            ("plot . --iso u_x=0.5 --view 0,91", "from -90 to 90"),
            ("plot . --view 0,9", "add --volume FIELD or --iso FIELD=VALUE"),
            ("plot final.npz --animate", "is no folder; --animate draws every frame_*.npz"),
        ],
        &here,
    );
    let message = refused("plot . --out no/such/folder/a.png", &here, 6);
    assert_has(&message, &["no/such/folder/a.png"]);
}
