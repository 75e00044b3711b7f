//! Frames tell where the components of fields on faces and edges lie: a formula at the places that a file has is the values.

use super::*;

fn light(dimension: usize) -> SystemDef {
    let text = format!(
        "pub system Light in {dimension}d {{
            field q: scalar; edge field e: vector; face field b: vector; edge field s: symmetric;
            ddt(q) = 0*q; ddt(e) = 0*e; ddt(b) = 0*b; ddt(s) = 0*s;
        }}
        scheme yee for Light {{ space: central<order = 2>; time: ssprk2; }}"
    );
    SystemDef::from_text("light.pde", &text).unwrap()
}

/// Coordinates along the axes of a component in Zarr, by the names of its dimensions, x first.
fn coordinates(folder: &Path, name: &str) -> Vec<(String, Vec<f64>)> {
    let text = fs::read_to_string(folder.join("frames.zarr/zarr.json")).unwrap();
    let store: Json = serde_json::from_str(&text).unwrap();
    let all = &store["consolidated_metadata"]["metadata"];
    let names = all[name]["dimension_names"].as_array().unwrap().iter().skip(1).rev();
    let along = |axis: &Json| {
        let axis = axis.as_str().unwrap().to_string();
        let bytes = fs::read(folder.join("frames.zarr").join(&axis).join("c.0")).unwrap();
        let shift = &all[axis.as_str()]["attributes"]["c_grid_axis_shift"];
        assert_eq!(shift.as_f64(), axis.ends_with("_face").then_some(0.5));
        (axis, bytes.as_chunks::<8>().0.iter().map(|value| f64::from_le_bytes(*value)).collect())
    };
    names.map(along).collect()
}

/// The lines of a `.npz` that tell offsets in cells, by component.
fn offsets(folder: &Path) -> BTreeMap<String, Vec<f64>> {
    let text = Npz::open(FrameFormat::Npz.path(folder, 0)).unwrap().text("offsets").unwrap();
    let line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next().unwrap().to_string();
        (name, words.map(|word| word.parse().unwrap()).collect())
    };
    text.lines().map(line).collect()
}

#[test]
fn values_lie_at_the_places_that_frames_tell() {
    for (dimension, slice) in [(2, None), (3, None), (3, Some((Axis::Y, 0.6)))] {
        let here = folder("places");
        let cells = std::array::from_fn(|axis| if axis < dimension { 4 + axis } else { 1 });
        let run =
            Simulation::<f64>::builder(&light(dimension)).cells(cells).origin([0.5, 0.25, -1.0]);
        let mut run = run.centered(true).dt(1e-3).build().unwrap();
        let formula = |[x, y, z]: [f64; 3]| x + 10.0 * y + 100.0 * z;
        let names: Vec<String> = run.components().map(str::to_string).collect();
        for name in &names {
            run.set(name, |x, y, z| formula([x, y, z])).unwrap();
        }
        let choice = FrameChoice { formats: ALL.to_vec(), slice, ..FrameChoice::all(&run) };
        let mut frames = run.frames(&choice, &here, &[], false).unwrap();
        run.write_frame(&mut frames, &[]).unwrap();
        frames.finish().unwrap();
        let offsets = offsets(&here);
        assert_eq!(offsets["b_x"], [0.5, 0.0, 0.0]);
        assert_eq!(offsets.get("q").or(offsets.get("s_xx")), None);
        let file = File::open(FrameFormat::Vtkhdf.path(&here, 0)).unwrap();
        let spacing = run.mesh().spacing();
        for name in &names {
            let values = zarr(&here, 0, std::slice::from_ref(name));
            assert_eq!(values, npz(&here, 0, std::slice::from_ref(name)));
            // Components at different places are no vector of VTK.
            let data = file.dataset(&format!("VTKHDF/CellData/{name}")).unwrap();
            assert_eq!(values, data.read_f64().unwrap(), "{name}");
            let told = file.dataset(&format!("VTKHDF/FieldData/offset_{name}")).ok();
            let told = told.map(|offset| offset.read_f64().unwrap());
            assert_eq!(told.as_ref(), offsets.get(name));

            let axes = coordinates(&here, name);
            let centres = coordinates(&here, "q");
            let counts: Vec<usize> = axes.iter().map(|(_, along)| along.len()).collect();
            for (at, value) in values.iter().enumerate() {
                let (mut rest, mut place) = (at, [run.mesh().coordinate(2, 0); 3]);
                for (axis, count) in counts.iter().enumerate() {
                    let offset = told.as_ref().map_or(0.0, |offset| offset[axis]) * spacing[axis];
                    assert!(
                        (centres[axis].1[rest % count] + offset - axes[axis].1[rest % count]).abs()
                            < 1e-12
                    );
                    place[axis] = axes[axis].1[rest % count];
                    rest /= count;
                }
                assert!((value - formula(place)).abs() < 1e-10, "{name} {place:?} {value}");
            }
        }
        fs::remove_dir_all(&here).unwrap();
    }
}
