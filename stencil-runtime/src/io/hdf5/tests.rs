//! Files read by another implementation.

use std::io::Cursor;

use hdf5_pure::{AttrValue, File};

use super::{Attribute, Hdf5Writer, Kind};

#[test]
fn another_reader_finds_groups_attributes_and_arrays() {
    let mut file = Hdf5Writer::new(Cursor::new(Vec::new())).unwrap();
    let mut links = Vec::new();
    let names: Vec<String> = (0..40).map(|n| format!("array of ρ {n}")).collect();
    for (n, name) in names.iter().enumerate() {
        let at = file.position();
        for value in 0..6 {
            file.put(&f64::to_le_bytes(value as f64 + n as f64)).unwrap();
        }
        links.push((name.as_str(), file.array(Kind::F64, &[2, 3], at).unwrap()));
    }
    let at = file.position();
    file.put(&1.5_f32.to_le_bytes()).unwrap();
    links.push(("single", file.array(Kind::F32, &[1, 1, 1, 1, 1], at).unwrap()));
    let group = file.group(&links, &[Attribute::text("unit", "m/s²")]).unwrap();
    let attributes = [
        Attribute::text("empty", ""),
        Attribute::numbers("numbers", &[1, -2]),
        Attribute::floats("t", &[0.1]).scalar(),
    ];
    let root = file.group(&[("data", group)], &attributes).unwrap();
    let bytes = file.finish(root).unwrap().into_inner();

    let file = File::from_bytes(bytes).unwrap();
    for (n, name) in names.iter().enumerate() {
        let array = file.dataset(&format!("data/{name}")).unwrap();
        assert_eq!(array.shape().unwrap(), [2, 3]);
        let wanted: Vec<f64> = (0..6).map(|value| value as f64 + n as f64).collect();
        assert_eq!(array.read_f64().unwrap(), wanted);
    }
    assert_eq!(file.dataset("data/single").unwrap().read_f32().unwrap(), [1.5]);
    let attributes = file.root().attrs().unwrap();
    assert_eq!(attributes.get("t").and_then(AttrValue::as_f64), Some(0.1));
    assert_eq!(attributes.get("numbers").and_then(AttrValue::to_i64s), Some(vec![1, -2]));
    let unit = file.group("data").unwrap().attrs().unwrap();
    assert_eq!(unit.get("unit").and_then(AttrValue::as_str), Some("m/s²"));
}

#[test]
fn what_headers_cannot_hold_is_an_error() {
    let mut file = Hdf5Writer::new(Cursor::new(Vec::new())).unwrap();
    let long = "x".repeat(1 << 16);
    for result in [
        file.group(&[], &[Attribute::text("text", &long)]),
        file.group(&[], &[Attribute::text(&long, "text")]),
        file.group(&[(&long, 48)], &[]),
    ] {
        assert!(result.unwrap_err().to_string().contains("too long for a header"));
    }
}
