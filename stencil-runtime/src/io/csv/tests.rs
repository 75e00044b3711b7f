//! Tables there and back, and series that are killed, resumed and dropped.

use std::fs::{self, OpenOptions};

use super::series::part_of;
use super::*;

/// A path of a test's own; the file is removed with it.
struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("csv-{}-{name}.csv", std::process::id())))
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_file(part_of(&self.0));
    }
}

#[test]
fn every_number_reads_back_as_itself() {
    let values = [
        0.0,
        -0.0,
        0.1 + 0.2,
        1e-300,
        -1e300,
        f64::MIN_POSITIVE,
        123_456_789.0,
        f64::INFINITY,
        f64::NAN,
    ];
    let temp = Temp::new("numbers");
    let table = Table::new(["v"], [values.to_vec()]);
    table.save(&temp.0).unwrap();
    let read = Table::read(&temp.0).unwrap();
    for (value, read) in values.iter().zip(read.column("v").unwrap()) {
        let same = value.to_bits() == read.to_bits() || (value.is_nan() && read.is_nan());
        assert!(same, "{value} {read}");
    }
    assert!(temp.text().contains("\n123456789\n"), "{}", temp.text());
}

#[test]
fn a_killed_run_leaves_whole_lines_that_the_next_one_keeps() {
    let temp = Temp::new("killed");
    let columns = ["step", "t"];
    let mut series = SeriesWriter::create(&temp.0, &columns).unwrap();
    for step in 0..4 {
        series.push(&[f64::from(step), 0.1 * f64::from(step)]).unwrap();
    }
    let second = SeriesWriter::create(&temp.0, &columns).unwrap_err();
    assert!(second.to_string().contains("another process"), "{second}");
    assert!(!temp.0.exists());
    // Killed: what it wrote stays, with half a line, and its lock is gone.
    drop(series);
    fs::rename(&temp.0, part_of(&temp.0)).unwrap();
    let mut part = OpenOptions::new().append(true).open(part_of(&temp.0)).unwrap();
    part.write_all(b"1,0.").unwrap();

    let mut series = SeriesWriter::resume(&temp.0, &columns, 2).unwrap();
    assert_eq!(series.last_step(), Some(2.0));
    series.push(&[3.0, 7.0]).unwrap();
    series.finish().unwrap();
    assert_eq!(temp.text(), "step,t\n0,0\n1,0.1\n2,0.2\n3,7\n");
    assert!(!part_of(&temp.0).exists());
}

#[test]
fn going_on_gives_the_bytes_of_an_uninterrupted_run() {
    let (whole, parts) = (Temp::new("whole"), Temp::new("parts"));
    let columns = ["step", "e"];
    let row = |step: u32| [f64::from(step), (f64::from(step) * 0.7).sin()];
    let write = |mut series: SeriesWriter, steps: std::ops::RangeInclusive<u32>| {
        steps.for_each(|step| series.push(&row(step)).unwrap());
        series.finish().unwrap();
    };
    write(SeriesWriter::create(&whole.0, &columns).unwrap(), 0..=9);
    write(SeriesWriter::create(&parts.0, &columns).unwrap(), 0..=6);
    write(SeriesWriter::resume(&parts.0, &columns, 4).unwrap(), 5..=9);
    assert_eq!(whole.text(), parts.text());
}

#[test]
fn a_run_that_fails_keeps_its_rows() {
    let temp = Temp::new("dropped");
    let mut series = SeriesWriter::create(&temp.0, &["step"]).unwrap();
    series.push(&[1.0]).unwrap();
    drop(series);
    assert_eq!(temp.text(), "step\n1\n");
}

#[test]
fn other_columns_are_refused_and_the_old_file_stays() {
    let temp = Temp::new("columns");
    fs::write(&temp.0, "step,mass\n0,1\n").unwrap();
    let message = SeriesWriter::resume(&temp.0, &["step", "energy"], 5).unwrap_err().to_string();
    assert!(
        message.contains("has the columns step, mass, and the run writes step, energy"),
        "{message}"
    );
    assert_eq!(temp.text(), "step,mass\n0,1\n");
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let temp = Temp::new("wrong");
    for (text, expected) in [
        ("", "is empty"),
        ("a,b\n1,2\n\n3\n", "line 4: 1 values for 2 columns"),
        ("a,b\n1,2\n3,four\n", "line 3, column `b`: `four` is not a number"),
    ] {
        fs::write(&temp.0, text).unwrap();
        let message = Table::read(&temp.0).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    assert!(Table::read("/no/such.csv").is_err());
    for names in [["a", "a"], ["a,b", "c"], ["", "c"], [" a", "c"]] {
        assert!(
            matches!(SeriesWriter::create(&temp.0, &names), Err(CsvError::Name { .. })),
            "{names:?}"
        );
    }
    let mut series = SeriesWriter::create(&temp.0, &["a", "b"]).unwrap();
    assert!(matches!(series.push(&[1.0]), Err(CsvError::Width { line: 2, .. })));
}
