//! Films as APNG.

use std::cell::RefCell;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use super::{Encode, Frame, Reel};
use crate::io::PartFile;

/// The denominator of delays: they are in thousandths of a second.
const THOUSANDTHS: u16 = 1000;

/// The file, of which the encoder has a share: it keeps what it writes to.
struct Shared(Rc<RefCell<PartFile>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

pub(super) struct Apng {
    file: Rc<RefCell<PartFile>>,
    writer: png::Writer<Shared>,
    is_first: bool,
}

impl Apng {
    pub(super) fn create(path: &Path, reel: Reel, (w, h): (i32, i32)) -> io::Result<Self> {
        let file = Rc::new(RefCell::new(PartFile::create(path)?));
        let mut encoder = png::Encoder::new(Shared(Rc::clone(&file)), w as u32, h as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let count = u32::try_from(reel.count).map_err(io::Error::other)?;
        // Played again and again.
        encoder.set_animated(count, 0).map_err(io::Error::other)?;
        let delay = (f64::from(THOUSANDTHS) / reel.rate).round().clamp(1.0, f64::from(u16::MAX));
        encoder.set_frame_delay(delay as u16, THOUSANDTHS).map_err(io::Error::other)?;
        let writer = encoder.write_header().map_err(io::Error::other)?;
        Ok(Apng { file, writer, is_first: true })
    }
}

impl Encode for Apng {
    fn push(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let area = frame.changed;
        // The first picture is whole by the format.
        if !self.is_first {
            let [x, y, w, h] = [area.x, area.y, area.w, area.h].map(|n| n as u32);
            // The part must fit at its place at any moment, so it goes to the corner first.
            self.writer.set_frame_position(0, 0).map_err(io::Error::other)?;
            self.writer.set_frame_dimension(w, h).map_err(io::Error::other)?;
            self.writer.set_frame_position(x, y).map_err(io::Error::other)?;
        }
        self.is_first = false;
        let bytes: Vec<u8> = frame.fresh().flat_map(|c| [c.0, c.1, c.2]).collect();
        self.writer.write_image_data(&bytes).map_err(io::Error::other)
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.writer.finish().map_err(io::Error::other)?;
        let file = Rc::into_inner(self.file);
        let file = file.ok_or_else(|| io::Error::other("the encoder still writes"))?;
        file.into_inner().finish()
    }
}
