//! Frames as `.npz`, a file each: an array `[z, y, x]` for each component.

use std::path::{Path, PathBuf};

use super::super::NpzWriter;
use super::{Format, FrameError, FrameFormat, FrameLayout, Moment, Values};

/// Frames of a run.
#[derive(Debug)]
pub(super) struct Frames {
    layout: FrameLayout,
    folder: PathBuf,
}

impl Frames {
    pub(super) fn new(layout: &FrameLayout, folder: &Path) -> Self {
        Self { layout: layout.clone(), folder: folder.to_path_buf() }
    }
}

impl Format for Frames {
    fn write(&mut self, moment: &Moment, values: &mut dyn Values) -> Result<(), FrameError> {
        let layout = &self.layout;
        let path = FrameFormat::Npz.path(&self.folder, moment.step);
        let mut file = NpzWriter::create(path)?.compressed(layout.compress);
        for name in &layout.components {
            let mut given_up = None;
            let written =
                file.bytes_by(name, (layout.descr(), layout.bytes()), &layout.shape(), || {
                    values.next().unwrap_or_else(|error| {
                        given_up = Some(error);
                        None
                    })
                });
            if let Some(error) = given_up {
                return Err(error);
            }
            written?;
        }
        for (name, value) in &moment.entries {
            file.value(name, value)?;
        }
        Ok(file.finish()?)
    }
}
