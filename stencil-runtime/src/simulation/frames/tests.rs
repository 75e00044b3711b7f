//! Frames read back: by NumPy's layout, by another implementation of HDF5, and by what Zarr's description says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hdf5_pure::File;
use serde_json::Value as Json;
use stencil_compiler::expr::real::Precision;

use super::{FrameChoice, Frames};
use crate::io::{FrameFormat, Npz, VTKHDF_SERIES, Value};
use crate::{Axis, Error, Number, Simulation, SystemDef};

mod places;

const ALL: [FrameFormat; 3] = [FrameFormat::Npz, FrameFormat::Vtkhdf, FrameFormat::Zarr];

/// A scalar, a vector and a tensor, with units.
fn system(dimension: usize) -> SystemDef {
    let text = format!(
        "pub system Heat in {dimension}d {{
            field q: scalar [K]; field u: vector [m/s]; field s: tensor;
            ddt(q) = lap(q); ddt(u) = lap(u); ddt(s) = lap(s);
        }}
        scheme one for Heat {{ space: central<order = 2>; mixed: bidiagonal; time: euler; }}"
    );
    SystemDef::from_text("heat.pde", &text).unwrap()
}

/// A number that depends on every bit of a place.
fn noise(seed: usize, [x, y, z]: [f64; 3]) -> f64 {
    let mut hash = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    for bits in [x.to_bits(), y.to_bits(), z.to_bits()] {
        hash = (hash ^ bits).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^= hash >> 29;
    }
    (hash >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

fn simulation<T: Number>(
    cells: [usize; 3],
    (patches, devices): ([usize; 3], usize),
) -> Simulation<T> {
    let dimension = 1 + usize::from(cells[1] > 1) + usize::from(cells[2] > 1);
    let run = Simulation::<T>::builder(&system(dimension)).cells(cells).origin([-0.5, 2.0, 0.25]);
    let run = run.centered(cells[0] % 2 == 1).dt(1e-6).patches(patches).devices(devices);
    let mut run = run.threads(1).build().unwrap();
    let names: Vec<String> = run.components().map(str::to_string).collect();
    for (seed, name) in names.iter().enumerate() {
        run.set(name, |x, y, z| noise(seed, [x, y, z])).unwrap();
    }
    run
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("frames-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// All files below a folder, by their paths there.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut rest = vec![folder.to_path_buf()];
    while let Some(path) = rest.pop() {
        if path.is_dir() {
            rest.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            let name = path.strip_prefix(folder).unwrap().to_path_buf();
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

fn about() -> Vec<(&'static str, String)> {
    vec![("campaign", "0123abcd".to_string())]
}

/// Steps and frames: after none, three and five steps.
fn three<T: Number>(run: &mut Simulation<T>, frames: &mut Frames) -> Vec<Vec<f64>> {
    let mut values = Vec::new();
    for steps in [0, 3, 2] {
        run.run(steps, |_, _| ()).unwrap();
        run.write_frame(frames, &[]).unwrap();
        let names: Vec<String> = run.components().map(str::to_string).collect();
        let all = names.iter().flat_map(|name| run.to_f64(name).unwrap().into_iter());
        values.push(all.collect());
    }
    values
}

fn npz(folder: &Path, step: u64, names: &[String]) -> Vec<f64> {
    let mut file = Npz::open(FrameFormat::Npz.path(folder, step)).unwrap();
    let mut all = Vec::new();
    for name in names {
        match file.get(name).unwrap() {
            Value::F32(array) => all.extend(array.iter().map(|v| f64::from(*v))),
            Value::F64(array) => all.extend(array.iter()),
            other => panic!("{other:?}"),
        }
    }
    all
}

/// Values of a component in VTKHDF, in its place among those of a vector.
fn vtkhdf(folder: &Path, step: u64, names: &[String]) -> Vec<f64> {
    let file = File::open(FrameFormat::Vtkhdf.path(folder, step)).unwrap();
    let mut all = Vec::new();
    for name in names {
        let data = ["CellData", "PointData"].into_iter().find_map(|data| {
            let (field, at) = match name.strip_prefix("u_") {
                Some(axis) => ("u", "xyz".find(axis).unwrap()),
                None => (name.as_str(), 0),
            };
            let array = file.dataset(&format!("VTKHDF/{data}/{field}")).ok()?;
            let count = if field == "u" { 3 } else { 1 };
            let values = array.read_f64().unwrap();
            Some(values.into_iter().skip(at).step_by(count).collect::<Vec<f64>>())
        });
        all.extend(data.unwrap_or_else(|| panic!("{name}")));
    }
    all
}

/// Values of a component in Zarr, put together from chunks as the description says.
fn zarr(folder: &Path, frame: usize, names: &[String]) -> Vec<f64> {
    let folder = FrameFormat::Zarr.path(folder, 0);
    let text = fs::read_to_string(folder.join("zarr.json")).unwrap();
    let store: Json = serde_json::from_str(&text).unwrap();
    let mut all = Vec::new();
    for name in names {
        let array = &store["consolidated_metadata"]["metadata"][name];
        let own = fs::read_to_string(folder.join(name).join("zarr.json")).unwrap();
        assert_eq!(serde_json::from_str::<Json>(&own).unwrap(), *array);
        let sizes = |value: &Json| -> Vec<usize> {
            value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
        };
        let shape = sizes(&array["shape"]);
        let chunk = sizes(&array["chunk_grid"]["configuration"]["chunk_shape"]);
        assert!(frame < shape[0] && chunk[0] == 1);
        for index in 0..shape[1..].iter().product() {
            let (mut rest, mut place, mut offset, mut stride) = (index, Vec::new(), 0, 1);
            for axis in (1..shape.len()).rev() {
                let at = rest % shape[axis];
                rest /= shape[axis];
                place.push((at / chunk[axis]).to_string());
                offset += at % chunk[axis] * stride;
                stride *= chunk[axis];
            }
            place.push(frame.to_string());
            place.reverse();
            let bytes = fs::read(folder.join(name).join(format!("c.{}", place.join(".")))).unwrap();
            all.push(if array["data_type"] == "float32" {
                assert_eq!(bytes.len(), stride * 4);
                f64::from(f32::from_le_bytes(bytes[4 * offset..][..4].try_into().unwrap()))
            } else {
                assert_eq!(bytes.len(), stride * 8);
                f64::from_le_bytes(bytes[8 * offset..][..8].try_into().unwrap())
            });
        }
    }
    all
}

/// Writes frames of a run, and compares them with its fields.
fn come_back<T: Number>(cells: [usize; 3]) {
    let here = folder(&format!("back-{}-{cells:?}", T::BYTES));
    let mut run = simulation::<T>(cells, ([1; 3], 1));
    let choice = FrameChoice { formats: ALL.to_vec(), ..FrameChoice::all(&run) };
    let mut frames = run.frames(&choice, &here, &about(), false).unwrap();
    assert!(frames.room() >= 2 * run.bits().unwrap().len() * T::BYTES);
    let values = three(&mut run, &mut frames);
    frames.finish().unwrap();
    for (frame, (step, wanted)) in [0, 3, 5].into_iter().zip(&values).enumerate() {
        assert_eq!(npz(&here, step, &choice.components), *wanted, "{cells:?}");
        assert_eq!(vtkhdf(&here, step, &choice.components), *wanted, "{cells:?}");
        assert_eq!(zarr(&here, frame, &choice.components), *wanted, "{cells:?}");
    }
    assert_ne!(values[0], values[2]);
    // Frames of all components are states.
    let mut again = simulation::<T>(cells, ([1; 3], 1));
    let restored = again.restore(here.join("frame_000005.npz")).unwrap();
    assert_eq!((restored.step, again.bits().unwrap()), (5, run.bits().unwrap()));
    fs::remove_dir_all(&here).unwrap();
}

#[test]
fn values_come_back_from_all_formats() {
    for cells in [[33, 1, 1], [40, 1, 1], [7, 5, 1], [12, 4, 1], [5, 4, 3], [4, 3, 5]] {
        come_back::<f64>(cells);
    }
    come_back::<f32>([7, 5, 1]);
    come_back::<f32>([6, 3, 4]);
}

/// Boxes that are cut and rows that are whole; patches of several sizes.
#[test]
fn patches_and_devices_change_no_byte() {
    for slice in [None, Some((Axis::X, 0.1)), Some((Axis::Z, 0.6))] {
        let mut known = None;
        for (number, cut) in
            [([1; 3], 1), ([2, 1, 1], 1), ([2, 2, 3], 4), ([1, 1, 3], 3)].into_iter().enumerate()
        {
            let here = folder(&format!("cut-{number}-{}", slice.is_some()));
            let mut run = simulation::<f64>([7, 5, 6], cut);
            let components = ["q", "u_y", "u_z"].map(String::from).to_vec();
            let choice = FrameChoice {
                formats: ALL.to_vec(),
                components,
                slice,
                precision: Some(Precision::F32),
                compress: Some(1),
            };
            let mut frames = run.frames(&choice, &here, &about(), false).unwrap();
            three(&mut run, &mut frames);
            frames.finish().unwrap();
            let found = files(&here);
            assert!(found.len() > 9);
            assert!(*known.get_or_insert_with(|| found.clone()) == found, "{cut:?} {slice:?}");
            fs::remove_dir_all(&here).unwrap();
        }
    }
}

#[test]
fn a_slice_has_the_cells_next_to_its_plane() {
    for (axis, at, cell) in [(Axis::X, 0.05, 3), (Axis::Y, 2.0, 0), (Axis::Z, 1.2, 4)] {
        let here = folder("slice");
        let run = simulation::<f64>([7, 5, 5], ([1; 3], 1));
        let choice = FrameChoice {
            formats: ALL.to_vec(),
            slice: Some((axis, at)),
            precision: Some(Precision::F32),
            ..FrameChoice::all(&run)
        };
        let mut frames = run.frames(&choice, &here, &about(), false).unwrap();
        run.write_frame(&mut frames, &[]).unwrap();
        frames.finish().unwrap();
        let planes = choice.components.iter().flat_map(|name| {
            let plane = run.field_plane(name, (axis, cell)).unwrap();
            plane.into_iter().map(|value| f64::from(value as f32))
        });
        let wanted: Vec<f64> = planes.collect();
        assert_eq!(npz(&here, 0, &choice.components), wanted);
        assert_eq!(vtkhdf(&here, 0, &choice.components), wanted);
        assert_eq!(zarr(&here, 0, &choice.components), wanted);
        fs::remove_dir_all(&here).unwrap();
    }
}

/// A run that ended amid its frames, and one that did not, leave the same files.
#[test]
fn a_run_that_goes_on_adds_to_its_frames() {
    let (whole, parts) = (folder("whole"), folder("parts"));
    let mut run = simulation::<f64>([6, 5, 1], ([1; 3], 1));
    let choice = FrameChoice { formats: ALL.to_vec(), ..FrameChoice::all(&run) };
    let mut frames = run.frames(&choice, &whole, &about(), false).unwrap();
    three(&mut run, &mut frames);
    frames.finish().unwrap();

    let mut run = simulation::<f64>([6, 5, 1], ([1; 3], 1));
    let mut frames = run.frames(&choice, &parts, &about(), false).unwrap();
    three(&mut run, &mut frames);
    frames.finish().unwrap();
    run.restore(parts.join("frame_000003.npz")).unwrap();
    fs::remove_file(parts.join("frame_000005.npz")).unwrap();
    fs::remove_file(parts.join("frame_000005.vtkhdf")).unwrap();
    let mut frames = run.frames(&choice, &parts, &about(), true).unwrap();
    let series = fs::read_to_string(parts.join(VTKHDF_SERIES)).unwrap();
    assert!(series.contains("frame_000003") && !series.contains("frame_000005"), "{series}");
    run.run(2, |_, _| ()).unwrap();
    run.write_frame(&mut frames, &[]).unwrap();
    frames.finish().unwrap();
    assert!(files(&whole) == files(&parts));

    let fewer = FrameChoice { components: vec!["q".into()], ..choice };
    let error = run.frames(&fewer, &parts, &about(), true).unwrap_err().to_string();
    assert!(error.contains("frames of another mesh or of other arrays"), "{error}");
    fs::write(parts.join(VTKHDF_SERIES), "{}").unwrap();
    let fewer = FrameChoice { formats: vec![FrameFormat::Vtkhdf], ..fewer };
    let error = run.frames(&fewer, &parts, &about(), true).unwrap_err().to_string();
    assert!(error.contains("no list of frames"), "{error}");
    for folder in [whole, parts] {
        fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn wrong_choices_and_full_disks_are_errors() {
    let here = folder("wrong");
    let run = simulation::<f64>([8, 1, 1], ([1; 3], 1));
    let frames = |choice: FrameChoice| run.frames(&choice, &here, &[], false);
    let all = || FrameChoice { formats: ALL.to_vec(), ..FrameChoice::all(&run) };
    let error = frames(FrameChoice { components: vec!["qq".into()], ..all() }).unwrap_err();
    assert!(matches!(error, Error::Unknown { .. }), "{error}");
    let twice = vec!["q".into(), "q".into()];
    let error = frames(FrameChoice { components: twice, ..all() }).unwrap_err().to_string();
    assert!(error.contains("there are two of this name"), "{error}");
    let single = simulation::<f32>([8, 1, 1], ([1; 3], 1));
    let double = FrameChoice { precision: Some(Precision::F64), ..all() };
    let error = single.frames(&double, &here, &[], false).unwrap_err().to_string();
    assert!(error.contains("leave the precision of frames out"), "{error}");

    // Something is in the way of each format.
    for format in ALL {
        let path = format.path(&here, 0);
        if format == FrameFormat::Zarr {
            fs::write(&path, "in the way").unwrap();
        } else {
            fs::create_dir_all(path.join("in the way")).unwrap();
        }
        let mut frames = frames(FrameChoice { formats: vec![format], ..all() }).unwrap();
        let written = run.write_frame(&mut frames, &[]).and_then(|_| frames.finish());
        let error = written.unwrap_err();
        assert!(error.code().is_some(), "{error}");
        let shown = error.to_string();
        assert!(
            shown.starts_with("cannot write `") && shown.contains(path.to_str().unwrap()),
            "{shown}"
        );
    }

    let mut run = simulation::<f64>([8, 1, 1], ([1; 3], 1));
    run.set("q", |_, _, _| 1e200).unwrap();
    let single = FrameChoice { precision: Some(Precision::F32), ..all() };
    let mut frames = run.frames(&single, &here, &[], false).unwrap();
    let error = run.write_frame(&mut frames, &[]).unwrap_err().to_string();
    assert!(error.contains("beyond the numbers of f32"), "{error}");
    drop(frames);
    fs::remove_dir_all(&here).unwrap();
}

/// A frame that is given up leaves no file, and those before it are whole.
#[test]
fn frames_in_the_queue_are_written_though_the_run_ends() {
    let here = folder("dropped");
    let mut run = simulation::<f64>([8, 1, 1], ([1; 3], 1));
    let choice = FrameChoice { precision: Some(Precision::F32), ..FrameChoice::all(&run) };
    let mut frames = run.frames(&choice, &here, &[], false).unwrap();
    run.write_frame(&mut frames, &[]).unwrap();
    run.run(1, |_, _| ()).unwrap();
    run.set("u_x", |_, _, _| 1e200).unwrap();
    run.write_frame(&mut frames, &[]).unwrap_err();
    drop(frames);
    let names: Vec<PathBuf> = files(&here).into_keys().collect();
    assert_eq!(names, [PathBuf::from("frame_000000.npz")]);
    fs::remove_dir_all(&here).unwrap();
}
