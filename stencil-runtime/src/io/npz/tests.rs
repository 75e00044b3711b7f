//! Archives there and back, damaged, and larger than expected.

use super::*;
use ndarray::{Array0, Array1, Array3, arr2};

struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("npz-{}-{name}.npz", std::process::id())))
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn write(path: &Path) {
    let mut file = NpzWriter::create(path).unwrap();
    let cube = Array3::from_shape_fn((3, 40, 100), |(z, y, x)| (z * 4000 + y * 100 + x) as f64);
    file.array("cube", &cube.view()).unwrap();
    // A transposed view is not contiguous in C order.
    file.array("turned", &arr2(&[[1.0_f32, 2.0], [3.0, f32::NAN]]).t()).unwrap();
    file.array("line", &Array1::from(vec![0.1_f64, -0.0]).view()).unwrap();
    file.array("none", &Array1::<f32>::zeros(0).view()).unwrap();
    file.array("point", &Array0::from_elem((), 7.5_f32).view()).unwrap();
    file.f64("t", 0.1 + 0.2).unwrap();
    file.u64("step", u64::MAX).unwrap();
    file.i64("offset", i64::MIN).unwrap();
    file.text("note", "∂ρ/∂t = −∇·(ρv)").unwrap();
    file.text("empty", "").unwrap();
    file.finish().unwrap();
}

#[test]
fn what_is_written_is_read() {
    let temp = Temp::new("round");
    write(&temp.0);
    let mut file = Npz::open(&temp.0).unwrap();
    assert_eq!(file.names().next(), Some("cube"));
    let cube = file.array_f64("cube").unwrap();
    assert_eq!(cube.shape(), [3, 40, 100]);
    assert_eq!(cube[[2, 39, 99]], 11999.0);
    let turned = file.array_f32("turned").unwrap();
    assert_eq!((turned[[0, 1]], turned[[1, 0]]), (3.0, 2.0));
    assert!(turned[[1, 1]].is_nan());
    let line = file.array_f64("line").unwrap();
    assert_eq!(line[1].to_bits(), (-0.0_f64).to_bits());
    assert_eq!(file.array_f32("none").unwrap().len(), 0);
    assert_eq!(file.array_f32("point").unwrap()[[]], 7.5);
    assert_eq!(file.f64("t").unwrap(), 0.1 + 0.2);
    assert_eq!(file.u64("step").unwrap(), u64::MAX);
    assert_eq!(file.i64("offset").unwrap(), i64::MIN);
    assert_eq!(file.text("note").unwrap(), "∂ρ/∂t = −∇·(ρv)");
    assert_eq!(file.text("empty").unwrap(), "");
}

#[test]
fn equal_values_give_equal_bytes() {
    let (a, b) = (Temp::new("a"), Temp::new("b"));
    write(&a.0);
    write(&b.0);
    assert_eq!(std::fs::read(&a.0).unwrap(), std::fs::read(&b.0).unwrap());
}

#[test]
fn errors_name_file_and_reason() {
    let temp = Temp::new("errors");
    write(&temp.0);
    let mut file = Npz::open(&temp.0).unwrap();
    let path = temp.0.display().to_string();
    let message = file.array_f64("rho").unwrap_err().to_string();
    assert!(message.contains(&path) && message.contains("no entry `rho`; it has: cube,"));
    let message = file.array_f64("turned").unwrap_err().to_string();
    assert!(message.contains("expected an f64 array, found f32 array of shape [2, 2]"));
    assert!(matches!(file.u64("offset"), Err(NpzError::Kind { .. })));
    assert!(matches!(Npz::open("/no/such.npz"), Err(NpzError::Io { action: "read", .. })));
    assert!(NpzWriter::create("/no/such/folder/a.npz").is_err());
}

#[test]
fn a_damaged_entry_is_named() {
    let temp = Temp::new("damaged");
    write(&temp.0);
    let mut bytes = std::fs::read(&temp.0).unwrap();
    bytes[1000] ^= 1;
    std::fs::write(&temp.0, &bytes).unwrap();
    let message = Npz::open(&temp.0).unwrap_err().to_string();
    assert!(message.contains("damaged: its bytes have"), "{message}");
    // Without the seal, as files of NumPy are, the entry's own checksum shows it.
    bytes.extend([0; 1]);
    std::fs::write(&temp.0, &bytes).unwrap();
    let mut file = Npz::open(&temp.0).unwrap();
    assert!(!file.is_sealed());
    let message = file.get("cube").unwrap_err().to_string();
    assert!(message.contains("entry `cube`: damaged: checksum"), "{message}");
}

#[test]
fn arrays_are_read_within_what_is_expected() {
    let temp = Temp::new("within");
    write(&temp.0);
    let mut file = Npz::open(&temp.0).unwrap();
    assert!(file.is_sealed());
    assert_eq!(file.shape("cube").unwrap(), [3, 40, 100]);
    assert_eq!(file.shape("t").unwrap(), [0; 0]);
    assert!(file.get_within("cube", 8 * 12_000 + 128).is_ok());
    let message = file.get_within("cube", 8 * 12_000).unwrap_err().to_string();
    assert!(message.contains("entry `cube`: it announces"), "{message}");
    // An array where a number or text is expected is not read, however large it is.
    assert!(file.u64("cube").is_err() && file.f64("cube").is_err());
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let message = Npz::open(std::env::temp_dir()).unwrap_err().to_string();
    assert!(message.contains("no regular file"), "{message}");
    let message = Npz::open("/dev/zero").unwrap_err().to_string();
    assert!(message.contains("no regular file"), "{message}");
}

#[test]
fn bad_names_are_refused_and_nothing_appears() {
    let temp = Temp::new("names");
    let mut file = NpzWriter::create(&temp.0).unwrap();
    file.f64("t", 1.0).unwrap();
    for name in ["", "a/b", "t"] {
        assert!(matches!(file.f64(name, 1.0), Err(NpzError::Entry { .. })), "{name:?}");
    }
    drop(file);
    assert!(!temp.0.exists());
}

#[test]
fn deflated_archives_are_smaller_and_come_back() {
    let (plain, packed) = (Temp::new("plain"), Temp::new("packed"));
    let smooth = Array3::from_shape_fn((3, 40, 100), |(z, y, _)| (z + y) as f64);
    for (temp, level) in [(&plain, None), (&packed, Some(1))] {
        let mut file = NpzWriter::create(&temp.0).unwrap().compressed(level);
        file.array("smooth", &smooth.view()).unwrap();
        file.text("note", "Δ").unwrap();
        file.u64("step", 7).unwrap();
        file.finish().unwrap();
    }
    let size = |temp: &Temp| std::fs::metadata(&temp.0).unwrap().len();
    assert!(4 * size(&packed) < size(&plain));
    let mut file = Npz::open(&packed.0).unwrap();
    assert!(file.is_sealed());
    assert_eq!(file.array_f64("smooth").unwrap(), smooth.into_dyn());
    assert_eq!((file.text("note").unwrap(), file.u64("step").unwrap()), ("Δ".into(), 7));
    assert_eq!(file.shape("smooth").unwrap(), [3, 40, 100]);

    let mut bytes = std::fs::read(&packed.0).unwrap();
    bytes[200] ^= 1;
    std::fs::write(&packed.0, &bytes).unwrap();
    let damaged = Npz::open(&packed.0).and_then(|mut file| file.get("smooth"));
    assert!(damaged.is_err());
}
