//! Names of arrays, and the thread.

use std::io::{Error, ErrorKind};
use std::sync::{Arc, Mutex};

use stencil_compiler::catalogue::centering::CENTRE;
use stencil_compiler::diag::Code;

use super::writer::FrameWriter;
use super::{Format, FrameError, FrameFormat, FrameLayout, Moment, Values};

#[test]
fn names_that_leave_their_folder_are_refused() {
    let layout = |name: &str| FrameLayout {
        dimension: 1,
        cells: [4, 1, 1],
        first: [0.0; 3],
        spacing: [1.0; 3],
        centered: false,
        is_double: true,
        components: vec!["q".into(), name.into()],
        halves: vec![CENTRE; 2],
        variables: Vec::new(),
        about: Vec::new(),
        compress: None,
    };
    let wrong = ["", "..", ".hidden", "a/b", "a\\b", "c:", "a\n", "a\0", "a ", "zarr.json", "q"];
    for name in wrong {
        let error = layout(name).check_names().unwrap_err().to_string();
        assert!(error.contains("rename the field"), "{name:?}: {error}");
    }
    for name in ["u_x", "ρ", "time", "T_xx"] {
        layout(name).check_names().unwrap();
    }
}

#[test]
fn only_names_of_frames_have_steps() {
    assert_eq!(FrameFormat::step_of("frame_000007.npz"), Some(7));
    assert_eq!(FrameFormat::step_of("frame_1234567.vtkhdf"), Some(1_234_567));
    for other in ["frame_7.png", "frame_.npz", "frame_+7.npz", "frames.zarr", "frame_7.npz.part"] {
        assert_eq!(FrameFormat::step_of(other), None, "{other}");
    }
}

fn moment(step: u64) -> Moment {
    Moment { t: 0.5, step, entries: Vec::new() }
}

/// The bytes of each frame, by its step.
type Written = Vec<(u64, Vec<u8>)>;

/// Notes the bytes of each frame, and fails at one step.
struct Noted(Arc<Mutex<Written>>);

impl Format for Noted {
    fn write(&mut self, moment: &Moment, values: &mut dyn Values) -> Result<(), FrameError> {
        let mut all = Vec::new();
        while let Some(bytes) = values.next()? {
            all.extend(bytes);
        }
        if moment.step == 3 {
            let full = Error::from(ErrorKind::StorageFull);
            return Err(FrameError::write("frame".as_ref(), full));
        }
        self.0.lock().unwrap().push((moment.step, all));
        Ok(())
    }
}

#[test]
fn frames_come_in_their_order_until_one_fails() {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let mut writer = FrameWriter::start(vec![Box::new(Noted(Arc::clone(&noted)))], 1).unwrap();
    for step in 0..3 {
        writer.begin(0, moment(step)).unwrap();
        for piece in 0..5 {
            writer.piece(vec![piece, step as u8]).unwrap();
        }
        writer.end().unwrap();
    }
    writer.flush().unwrap();
    writer.check().unwrap();
    let frame = |step: u8| (0..5).flat_map(|piece| [piece, step]).collect::<Vec<u8>>();
    let wanted: Vec<(u64, Vec<u8>)> = (0..3).map(|step| (step, frame(step as u8))).collect();
    assert_eq!(*noted.lock().unwrap(), wanted);

    let mut failed = writer.begin(0, moment(3)).and_then(|()| writer.end());
    for _ in 0..3 {
        failed = failed.and_then(|()| writer.begin(0, moment(4))).and_then(|()| writer.end());
    }
    let error = failed.and_then(|()| writer.flush()).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot write `frame`") && error.contains("free some space"),
        "{error}"
    );
    assert!(!writer.writes());
    assert_eq!(noted.lock().unwrap().len(), 3);
    // Whoever goes on is not left to believe that frames are written.
    assert!(matches!(writer.begin(0, moment(5)), Err(FrameError::Gone)));
    assert!(matches!(writer.flush(), Err(FrameError::Gone)));
}

/// Some pieces, and then an error.
struct Breaks(u8);

impl Values for Breaks {
    fn next(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        self.0 += 1;
        match self.0 {
            1..20 => Ok(Some(vec![self.0])),
            20 => Ok(None),
            _ => Err(FrameError::Values {
                code: Code::CannotWrite,
                reason: "the card is gone".into(),
            }),
        }
    }
}

/// Parts that are read beside the run lie between the pieces before and behind them, and the run is told of one that cannot be
/// read.
#[test]
fn whole_parts_are_read_in_their_order() {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let mut writer = FrameWriter::start(vec![Box::new(Twice(Arc::clone(&noted)))], 4).unwrap();
    for step in 0..2 {
        writer.begin(0, moment(step)).unwrap();
        writer.piece(vec![100]).unwrap();
        writer.end().unwrap();
        writer.part(Box::new(Breaks(0))).unwrap();
    }
    writer.flush().unwrap();
    let wanted: Vec<u8> = [100].into_iter().chain(1..20).collect();
    assert_eq!(*noted.lock().unwrap(), [(0, wanted.clone()), (1, wanted)]);

    writer.begin(0, moment(2)).unwrap();
    writer.piece(vec![100]).unwrap();
    writer.end().unwrap();
    writer.part(Box::new(Breaks(30))).unwrap();
    let error = writer.flush().unwrap_err().to_string();
    assert!(error.contains("the card is gone"), "{error}");
    assert_eq!(noted.lock().unwrap().len(), 2);
}

/// Notes the bytes of frames of two parts.
struct Twice(Arc<Mutex<Written>>);

impl Format for Twice {
    fn write(&mut self, moment: &Moment, values: &mut dyn Values) -> Result<(), FrameError> {
        let mut all = Vec::new();
        for _ in 0..2 {
            while let Some(bytes) = values.next()? {
                all.extend(bytes);
            }
        }
        self.0.lock().unwrap().push((moment.step, all));
        Ok(())
    }
}
