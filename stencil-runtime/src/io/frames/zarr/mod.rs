//! Frames as one Zarr store (version 3): an array for each component along the axes time, z, y and x, in chunks of one frame
//! each; and the coordinates of all axes.
//!
//! A frame is there once the store's own description has grown by it, which is written last and at once. So whoever opens the
//! store amid a run, or after a crash, sees whole frames.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::super::failure::{open_regular, read_text};
use super::super::part::PartFile;
use super::written::Written;
use super::{Format, FrameError, FrameLayout, Moment, Values, ZARR_FOLDER};

mod metadata;

use metadata::{Array, Role};

/// Bytes of a chunk, unless a row has more.
const CHUNK: usize = if cfg!(test) { 1 << 8 } else { 1 << 24 };
/// Frames whose times share a chunk.
const TIMES: usize = 1 << 10;
/// The description of an array or a store.
const DESCRIPTION: &str = "zarr.json";

/// Frames of a run.
#[derive(Debug)]
pub(super) struct Frames {
    layout: FrameLayout,
    folder: PathBuf,
    arrays: Vec<Array>,
    written: Written,
}

impl Frames {
    /// Opens the store in a folder. A run that goes on from a step keeps the frames up to it, if they are of the same arrays.
    pub(super) fn open(
        layout: &FrameLayout,
        folder: &Path,
        goes_on_from: Option<u64>,
    ) -> Result<Self, FrameError> {
        layout.check_names()?;
        let folder = folder.join(ZARR_FOLDER);
        let arrays = metadata::arrays(layout);
        let written = Written::default();
        let mut frames = Self { layout: layout.clone(), folder, arrays, written };
        let description = frames.folder.join(DESCRIPTION);
        let read = || frames.read_written();
        let (written, is_cut) = Written::going_on(&description, goes_on_from, read)?;
        frames.written = written;
        if is_cut {
            frames.write_end()?;
        }
        Ok(frames)
    }

    /// Reads steps and times of the frames of the store, which has to be one of these arrays.
    fn read_written(&self) -> Result<Vec<(u64, f64)>, FrameError> {
        let foreign = |path: &Path, reason: &str| FrameError::Foreign {
            path: path.to_path_buf(),
            reason: reason.into(),
        };
        let path = self.folder.join(DESCRIPTION);
        let text = read_text(&path).map_err(|e| FrameError::read(&path, e))?;
        let count = metadata::frames_in(&text, &self.layout, &self.arrays).ok_or_else(|| {
            foreign(&self.folder, "it holds frames of another mesh or of other arrays")
        })?;
        let mut columns = Vec::new();
        for role in [Role::Step, Role::Time] {
            let mut bytes = Vec::new();
            let array = self.arrays.iter().find(|array| array.role == role);
            let array = array.ok_or_else(|| foreign(&path, "it has no times"))?;
            for chunk in 0..count.div_ceil(TIMES) {
                let path = self.folder.join(&array.name).join(format!("c.{chunk}"));
                let chunk = self.read_chunk(&path).map_err(|e| FrameError::read(&path, e))?;
                bytes.extend(chunk);
            }
            let (eights, _) = bytes.as_chunks::<8>();
            let values: Vec<[u8; 8]> = eights.iter().take(count).copied().collect();
            if values.len() < count {
                return Err(foreign(&path, "it has fewer times than frames"));
            }
            columns.push(values);
        }
        let rows = columns[0].iter().zip(&columns[1]);
        Ok(rows.map(|(step, t)| (u64::from_le_bytes(*step), f64::from_le_bytes(*t))).collect())
    }

    fn read_chunk(&self, path: &Path) -> io::Result<Vec<u8>> {
        let most = (TIMES * 8) as u64;
        let (file, mut bytes) = (open_regular(path)?, Vec::new());
        match self.layout.compress {
            Some(_) => GzDecoder::new(file).take(most).read_to_end(&mut bytes)?,
            None => file.take(most).read_to_end(&mut bytes)?,
        };
        Ok(bytes)
    }

    /// Writes a chunk of an array, whole.
    fn write_chunk(&self, array: &str, place: &[usize], bytes: &[u8]) -> Result<(), FrameError> {
        let numbers: Vec<String> = place.iter().map(usize::to_string).collect();
        let path = self.folder.join(array).join(format!("c.{}", numbers.join(".")));
        let level = self.layout.compress.map(flate2::Compression::new);
        let write = || {
            let mut file = PartFile::create(&path)?;
            match level {
                Some(level) => {
                    let mut packed = GzEncoder::new(&mut file, level);
                    packed.write_all(bytes)?;
                    packed.finish()?;
                }
                None => file.write_all(bytes)?,
            }
            file.finish()
        };
        write().map_err(|e| FrameError::write(&path, e))
    }

    /// Writes the values of a component in chunks as they come.
    fn write_values(
        &self,
        array: &Array,
        frame: usize,
        values: &mut dyn Values,
    ) -> Result<(), FrameError> {
        let size = self.layout.bytes();
        let mut pending = Vec::new();
        for (mut place, count) in array.chunks() {
            while pending.len() < count * size
                && let Some(bytes) = values.next()?
            {
                pending.extend(bytes);
            }
            let behind = pending.split_off((count * size).min(pending.len()));
            // Chunks at the end of an axis are as long as all others.
            pending.resize(array.chunk_values() * size, 0);
            place.insert(0, frame);
            self.write_chunk(&array.name, &place, &pending)?;
            pending = behind;
        }
        // The part ends behind its last value.
        while values.next()?.is_some() {}
        Ok(())
    }

    /// Writes the times of the last frames and all descriptions, that of the store last.
    fn write_end(&self) -> Result<(), FrameError> {
        let written = self.written.frames();
        let chunk = written.len().saturating_sub(1) / TIMES;
        let last = &written[chunk * TIMES..];
        for array in &self.arrays {
            let mut bytes: Vec<u8> = match array.role {
                Role::Step => last.iter().flat_map(|(step, _)| step.to_le_bytes()).collect(),
                Role::Time => last.iter().flat_map(|(_, t)| t.to_le_bytes()).collect(),
                Role::Axis(..) | Role::Component(_) => continue,
            };
            bytes.resize(TIMES * 8, 0);
            self.write_chunk(&array.name, &[chunk], &bytes)?;
        }
        let count = written.len();
        for array in &self.arrays {
            let text = format!("{:#}\n", array.description(&self.layout, count));
            self.write_text(&self.folder.join(&array.name).join(DESCRIPTION), &text)?;
        }
        let store = format!("{:#}\n", metadata::store(&self.layout, &self.arrays, count));
        self.write_text(&self.folder.join(DESCRIPTION), &store)
    }

    fn write_text(&self, path: &Path, text: &str) -> Result<(), FrameError> {
        let write = || {
            let mut file = PartFile::create(path)?;
            file.write_all(text.as_bytes())?;
            file.finish()
        };
        write().map_err(|e| FrameError::write(path, e))
    }

    /// Makes the folders of arrays, and writes the coordinates of axes.
    fn begin(&self) -> Result<(), FrameError> {
        for array in &self.arrays {
            let folder = self.folder.join(&array.name);
            fs::create_dir_all(&folder).map_err(|e| FrameError::write(&folder, e))?;
            if let Role::Axis(axis, on_faces) = array.role {
                let layout = &self.layout;
                let half = if on_faces { 0.5 * layout.spacing[axis] } else { 0.0 };
                let first = layout.first[axis] + half;
                let at = |cell| first + cell as f64 * layout.spacing[axis];
                let bytes = (0..layout.cells[axis]).flat_map(|cell| f64::to_le_bytes(at(cell)));
                self.write_chunk(&array.name, &[0], &bytes.collect::<Vec<u8>>())?;
            }
        }
        Ok(())
    }
}

impl Format for Frames {
    fn write(&mut self, moment: &Moment, values: &mut dyn Values) -> Result<(), FrameError> {
        self.written.go_back_before(moment.step);
        let frame = self.written.frames().len();
        if frame == 0 {
            self.begin()?;
        }
        for array in &self.arrays {
            if let Role::Component(_) = array.role {
                self.write_values(array, frame, values)?;
            }
        }
        self.written.add(moment);
        self.write_end()
    }
}
