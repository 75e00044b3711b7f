//! Frames as VTKHDF, a file each: an image at one time, for VTK's own reader; and a list of all files with their times, as
//! ParaView reads it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::super::failure::read_text;
use super::super::hdf5::{Attribute, Hdf5Writer, Kind};
use super::super::part::PartFile;
use super::written::Written;
use super::{Format, FrameError, FrameFormat, FrameLayout, Moment, Part, VTKHDF_SERIES, Values};

/// The version of the file format.
const VERSION: [i64; 2] = [1, 0];
/// Components of a vector in VTK.
const COMPONENTS: usize = 3;

/// Frames of a run.
#[derive(Debug)]
pub(super) struct Frames {
    layout: FrameLayout,
    folder: PathBuf,
    written: Written,
}

impl Frames {
    /// Opens a folder; a run that goes on from a step keeps the frames up to it in the list.
    pub(super) fn open(
        layout: &FrameLayout,
        folder: &Path,
        goes_on_from: Option<u64>,
    ) -> Result<Self, FrameError> {
        layout.check_names()?;
        let path = folder.join(VTKHDF_SERIES);
        let read = || {
            let text = read_text(&path).map_err(|e| FrameError::read(&path, e))?;
            listed(&text).ok_or_else(|| FrameError::Foreign {
                path: path.clone(),
                reason: "it is no list of frames of a run".into(),
            })
        };
        let (written, is_cut) = Written::going_on(&path, goes_on_from, read)?;
        let frames = Self { layout: layout.clone(), folder: folder.to_path_buf(), written };
        if is_cut {
            frames.write_series()?;
        }
        Ok(frames)
    }

    fn write_file(
        &self,
        path: &Path,
        moment: &Moment,
        values: &mut dyn Values,
    ) -> Result<(), FrameError> {
        let failed = |error| FrameError::write(path, error);
        let file = PartFile::create(path).map_err(failed)?;
        let mut file = Hdf5Writer::new(file).map_err(failed)?;
        let kind = if self.layout.is_double { Kind::F64 } else { Kind::F32 };
        let mut headers = Vec::new();
        for (name, part) in arrays(&self.layout) {
            let at = file.position();
            while let Some(bytes) = values.next()? {
                file.put(&bytes).map_err(failed)?;
            }
            let mut shape = self.shape();
            if part.len() > 1 {
                shape.push(part.len() as u64);
            }
            headers.push((name, file.array(kind, &shape, at).map_err(failed)?));
        }
        let file = self.write_groups(file, &headers, moment).map_err(failed)?;
        file.finish().map_err(failed)
    }

    fn write_groups(
        &self,
        mut file: Hdf5Writer<PartFile>,
        arrays: &[(&str, u64)],
        moment: &Moment,
    ) -> io::Result<PartFile> {
        let data = file.group(arrays, &[])?;
        let at = file.position();
        file.put(&moment.t.to_le_bytes())?;
        let time = file.array(Kind::F64, &[1], at)?;
        let mut fields = vec![("TimeValue".to_string(), time)];
        for (name, offset) in self.layout.offsets() {
            let at = file.position();
            file.put(&offset.map(f64::to_le_bytes).concat())?;
            fields.push((format!("offset_{name}"), file.array(Kind::F64, &[3], at)?));
        }
        let fields: Vec<(&str, u64)> =
            fields.iter().map(|(name, at)| (name.as_str(), *at)).collect();
        let fields = file.group(&fields, &[])?;
        let of_values = if self.layout.centered { "CellData" } else { "PointData" };
        let (extent, origin) = self.extent();
        let image = [
            Attribute::numbers("Version", &VERSION),
            Attribute::text("Type", "ImageData"),
            Attribute::numbers("WholeExtent", &extent),
            Attribute::floats("Origin", &origin),
            Attribute::floats("Spacing", &self.layout.spacing),
            Attribute::floats("Direction", &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
        ];
        let image = file.group(&[(of_values, data), ("FieldData", fields)], &image)?;
        let mut about = vec![
            Attribute::floats("t", &[moment.t]).scalar(),
            Attribute::numbers("step", &[moment.step as i64]).scalar(),
        ];
        let texts = self.layout.about.iter();
        about.extend(texts.map(|(name, text)| Attribute::text(name, text)));
        let root = file.group(&[("VTKHDF", image)], &about)?;
        file.finish(root)
    }

    /// Returns the shape of an array of one component: VTK leaves out the axes along which its image has one point.
    fn shape(&self) -> Vec<u64> {
        let (extent, _) = self.extent();
        let axes = (0..3).rev().filter(|axis| extent[2 * axis + 1] > 0);
        let shape: Vec<u64> = axes.map(|axis| self.layout.cells[axis] as u64).collect();
        if shape.is_empty() { vec![1] } else { shape }
    }

    /// Returns the numbers of the first and the last point along each axis, and the coordinates of point zero.
    fn extent(&self) -> ([i64; 6], [f64; 3]) {
        let layout = &self.layout;
        let mut extent = [0; 6];
        let mut origin = layout.first;
        for axis in 0..3 {
            let cells = layout.cells[axis] as i64;
            let is_flat = axis >= layout.dimension;
            extent[2 * axis + 1] = if layout.centered && !is_flat { cells } else { cells - 1 };
            if layout.centered && !is_flat {
                origin[axis] -= 0.5 * layout.spacing[axis];
            }
        }
        (extent, origin)
    }

    fn write_series(&self) -> Result<(), FrameError> {
        let path = self.folder.join(VTKHDF_SERIES);
        let file = |(step, t): &(u64, f64)| {
            let path = FrameFormat::Vtkhdf.path(Path::new(""), *step);
            json!({ "name": path.to_string_lossy(), "time": t })
        };
        let files: Vec<Json> = self.written.frames().iter().map(file).collect();
        let series = json!({ "file-series-version": "1.0", "files": files });
        let write = || {
            let mut file = PartFile::create(&path)?;
            file.write_all(format!("{series:#}\n").as_bytes())?;
            file.finish()
        };
        write().map_err(|e| FrameError::write(&path, e))
    }
}

/// Returns the arrays of a file: whole vectors, and single components.
pub(super) fn arrays(layout: &FrameLayout) -> Vec<(&str, Part)> {
    let mut arrays = Vec::new();
    for variable in &layout.variables {
        let components = variable.first..variable.first + variable.count;
        // The components of a vector at one point, or each by itself.
        if variable.is_vector && components.clone().all(|c| layout.is_centred(c)) {
            let mut part: Part = components.map(Some).collect();
            part.resize(COMPONENTS, None);
            arrays.push((variable.name.as_str(), part));
        } else {
            let of_one = components.map(|c| (layout.components[c].as_str(), vec![Some(c)]));
            arrays.extend(of_one);
        }
    }
    arrays
}

/// Returns steps and times of a list of files.
fn listed(text: &str) -> Option<Vec<(u64, f64)>> {
    let series: Json = serde_json::from_str(text).ok()?;
    let files = series.get("files")?.as_array()?;
    let entry = |file: &Json| {
        let step = FrameFormat::step_of(file.get("name")?.as_str()?)?;
        Some((step, file.get("time")?.as_f64()?))
    };
    files.iter().map(entry).collect()
}

impl Format for Frames {
    fn write(&mut self, moment: &Moment, values: &mut dyn Values) -> Result<(), FrameError> {
        let path = FrameFormat::Vtkhdf.path(&self.folder, moment.step);
        self.write_file(&path, moment, values)?;
        self.written.go_back_before(moment.step);
        self.written.add(moment);
        self.write_series()
    }
}
