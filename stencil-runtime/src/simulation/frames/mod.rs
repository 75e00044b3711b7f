//! Frames of a run: some components at some times, written by a thread beside the run.

use std::path::{Path, PathBuf};

use ndarray::arr0;
use stencil_compiler::catalogue::Rank;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::Model;

use super::Simulation;
use super::evaluate::check_plane;
use super::restart::RUN;
use crate::io::{
    FrameFormat, FrameLayout, FrameWriter, Moment, VTKHDF_SERIES, Value, Variable, free_memory,
    open_frames,
};
use crate::mesh::{Axis, Mesh};
use crate::{Error, Number};

mod pieces;
#[cfg(test)]
mod tests;

pub(super) use pieces::{Cut, Pieces};

/// Bytes of a piece that goes to the thread, unless a row has more.
const PIECE: usize = if cfg!(test) { 1 << 8 } else { 1 << 22 };
/// The share of the memory that is left which waiting pieces may take: one part of so many.
const SHARE: u64 = 4;

/// The content and the formats of frames.
///
/// ```
/// use stencil_runtime::io::FrameFormat;
/// use stencil_runtime::{FrameChoice, Simulation, SystemDef};
///
/// let heat = SystemDef::from_text("h", "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }")?;
/// let mut simulation = Simulation::<f64>::builder(&heat).cells([8, 1, 1]).dt(1e-3).build()?;
/// let folder = std::env::temp_dir().join(format!("frames-doc-{}", std::process::id()));
/// std::fs::create_dir_all(&folder).unwrap();
/// let choice = FrameChoice { formats: vec![FrameFormat::Npz], ..FrameChoice::all(&simulation) };
/// let mut frames = simulation.frames(&choice, &folder, &[], false)?;
/// for _ in 0..2 {
///     simulation.write_frame(&mut frames, &[])?;
///     simulation.run(10, |_, _| ())?;
/// }
/// frames.finish()?;
/// assert!(folder.join("frame_000010.npz").is_file());
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), stencil_runtime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FrameChoice {
    /// The formats, each of which has all frames.
    pub formats: Vec<FrameFormat>,
    /// The components, by name.
    pub components: Vec<String>,
    /// The plane of cells next to this coordinate along an axis; the whole mesh if not given.
    pub slice: Option<(Axis, f64)>,
    /// The precision of values in files; that of the run if not given.
    pub precision: Option<Precision>,
    /// The level of compression, 1 (fast) to 9 (small); none if not given. VTKHDF is never compressed.
    pub compress: Option<u32>,
}

impl FrameChoice {
    /// Chooses all components on the whole mesh, as `.npz`.
    pub fn all<T: Number>(simulation: &Simulation<T>) -> Self {
        FrameChoice {
            formats: vec![FrameFormat::Npz],
            components: simulation.components().map(str::to_string).collect(),
            slice: None,
            precision: None,
            compress: None,
        }
    }
}

/// The frames of a run on their way into files. Dropped, it waits for those that were handed over.
#[derive(Debug)]
pub struct Frames {
    choice: FrameChoice,
    layout: FrameLayout,
    /// The cell of the slice along its axis.
    plane: Option<(Axis, usize)>,
    folder: PathBuf,
    /// Texts about the run, by name.
    about: Vec<(String, String)>,
    writer: FrameWriter,
    room: usize,
}

impl Frames {
    /// Returns the bytes that may wait for the thread at most: those of a frame in all its formats, or a quarter of the memory
    /// that was left if that is less.
    pub fn room(&self) -> usize {
        self.room
    }

    /// Tells early whether the thread has failed.
    ///
    /// # Errors
    /// If it has.
    pub fn check(&mut self) -> Result<(), Error> {
        Ok(self.writer.check()?)
    }

    /// Waits until all frames that were handed over are in files.
    ///
    /// # Errors
    /// If one could not be written, and no call has told so.
    pub fn finish(mut self) -> Result<(), Error> {
        match self.writer.has_told() {
            true => Ok(()),
            false => Ok(self.writer.flush()?),
        }
    }
}

impl<T: Number> Simulation<T> {
    /// Prepares frames in a folder that exists, and starts the thread that writes them. Texts `about` the run, such as its
    /// number, go into each file. A run that `goes_on` keeps the frames of the folder up to its present step. All
    /// [ranks](crate::Builder::ranks) prepare together, and the first one writes.
    ///
    /// # Errors
    /// If there is no such component or plane, a precision is asked for that the run has not, or the folder holds frames
    /// that these do not continue.
    pub fn frames(
        &self,
        choice: &FrameChoice,
        folder: &Path,
        about: &[(&str, String)],
        goes_on: bool,
    ) -> Result<Frames, Error> {
        for name in &choice.components {
            self.component(name)?;
        }
        let mesh = self.mesh();
        let plane = choice.slice.map(|(axis, at)| (axis, cell_next_to(&mesh, axis, at)));
        if let Some(plane) = plane {
            check_plane(mesh.cells, plane)?;
        }
        let layout = self.layout_of(choice, plane, about)?;
        let open = |from| open_frames(&choice.formats, &layout, folder, from);
        let room = Room::of(&layout, &choice.formats);
        let writer = if self.ranks().is_first() {
            FrameWriter::start(open(goes_on.then_some(self.step_count()))?, room.messages)?
        } else {
            FrameWriter::silent()
        };
        let (choice, folder) = (choice.clone(), folder.to_path_buf());
        let about = about.iter().map(|(name, text)| (name.to_string(), text.clone())).collect();
        Ok(Frames { choice, layout, plane, folder, about, writer, room: room.bytes })
    }

    fn layout_of(
        &self,
        choice: &FrameChoice,
        plane: Option<(Axis, usize)>,
        about: &[(&str, String)],
    ) -> Result<FrameLayout, Error> {
        let is_double = match (choice.precision.unwrap_or(T::PRECISION), T::PRECISION) {
            (Precision::F64, Precision::F32) => {
                return Err(Error::Value {
                    what: "the number of bytes of a value in frames".into(),
                    value: 8.0,
                    help: "the run computes in f32: leave the precision of frames out".into(),
                });
            }
            (wanted, _) => wanted == Precision::F64,
        };
        let (model, mesh) = (self.system().model(), self.mesh());
        let mut first = mesh.point([0; 3]);
        let mut cells = mesh.cells;
        if let Some((axis, at)) = plane {
            first[axis.index()] = mesh.coordinate(axis.index(), at as isize);
            cells[axis.index()] = 1;
        }
        let params: Vec<String> =
            self.params().map(|(name, v)| format!("{name} = {v:?}")).collect();
        let own = [
            ("system", model.name.to_string()),
            ("scheme", self.system().algorithm().scheme.clone()),
            ("params", params.join("\n")),
        ];
        let run = self.run_id().map(|run| (RUN, run.to_string()));
        let about = own.iter().chain(&run).chain(about);
        let about = about.map(|(name, text)| (name.to_string(), text.clone()));
        let layout = FrameLayout {
            dimension: model.dimension,
            cells,
            first,
            spacing: mesh.spacing(),
            centered: mesh.centered,
            is_double,
            components: choice.components.clone(),
            halves: choice.components.iter().map(|name| self.halves_of(name)).collect(),
            variables: variables(model, &choice.components),
            about: about.collect(),
            compress: choice.compress,
        };
        layout.check_names()?;
        Ok(layout)
    }

    /// Hands a frame of this time over to the thread, once its queue has room; returns the files that it will be in.
    /// Frames of all components as they are hold a state in `.npz`, with `more` names and texts, to go on from. All
    /// [ranks](crate::Builder::ranks) hand over together.
    ///
    /// # Errors
    /// If an earlier frame could not be written, a value has no number in the precision of files, or the values are on a card
    /// that fails.
    pub fn write_frame(
        &self,
        frames: &mut Frames,
        more: &[(&str, String)],
    ) -> Result<Vec<PathBuf>, Error> {
        if self.lost {
            return Err(Error::Lost);
        }
        let moment = Moment {
            t: self.t(),
            step: self.step_count(),
            entries: self.frame_entries(frames, more),
        };
        let mut result = Ok(());
        for (number, format) in frames.choice.formats.clone().into_iter().enumerate() {
            result = result.and_then(|()| Ok(frames.writer.begin(number, moment.clone())?));
            for part in format.parts(&frames.layout) {
                // Other ranks send their values whatever becomes of the file.
                result = self.send_part(&part, frames, result);
            }
        }
        result?;
        let formats = frames.choice.formats.iter();
        let mut files: Vec<PathBuf> =
            formats.map(|format| format.path(&frames.folder, self.step_count())).collect();
        if frames.choice.formats.contains(&FrameFormat::Vtkhdf) {
            files.push(frames.folder.join(VTKHDF_SERIES));
        }
        Ok(files)
    }

    /// Returns the entries of a `.npz` beside its arrays.
    fn frame_entries(&self, frames: &Frames, more: &[(&str, String)]) -> Vec<(String, Value)> {
        let mut entries = self.own_entries(frames, more);
        let offset = |(name, [x, y, z]): (&str, [f64; 3])| format!("{name} {x} {y} {z}\n");
        let offsets: String = frames.layout.offsets().map(offset).collect();
        if !offsets.is_empty() {
            entries.push((self.entry("offsets"), Value::Text(offsets)));
        }
        let about = frames.about.iter();
        entries.extend(about.map(|(name, text)| (self.entry(name), Value::Text(text.clone()))));
        entries
    }

    /// Returns those of a state, if a frame is one; else those that a picture needs.
    fn own_entries(&self, frames: &Frames, more: &[(&str, String)]) -> Vec<(String, Value)> {
        let is_chosen = |name: &str| frames.choice.components.iter().any(|chosen| chosen == name);
        let is_double = T::PRECISION == Precision::F64;
        let is_state = self.components().all(is_chosen)
            && frames.plane.is_none()
            && frames.layout.is_double == is_double;
        if is_state {
            return self.state_entries(more);
        }
        let number =
            |name: &str, value: f64| (self.entry(name), Value::F64(arr0(value).into_dyn()));
        let mut entries = vec![
            number("t", self.t()),
            (self.entry("step"), Value::U64(self.step_count())),
            number("dt", self.dt()),
        ];
        let layout = &frames.layout;
        let origin = self.origin();
        for axis in Axis::ALL.into_iter().take(layout.dimension) {
            let i = axis.index();
            let is_cut = frames.plane.is_some_and(|(normal, _)| normal == axis);
            let from = if is_cut { layout.first[i] } else { origin[i] };
            entries.push(number(&format!("origin_{axis}"), from));
            entries.push(number(&format!("spacing_{axis}"), layout.spacing[i]));
        }
        entries.extend(self.run_entry());
        entries
    }
}

/// The room of the queue before the thread.
struct Room {
    messages: usize,
    bytes: usize,
}

impl Room {
    /// Makes room for a frame in all its formats, as far as memory is left.
    fn of(layout: &FrameLayout, formats: &[FrameFormat]) -> Self {
        let value = layout.bytes();
        let most = free_memory::available().map_or(usize::MAX, |free| (free / SHARE) as usize);
        // A piece ends with a row.
        let piece = PIECE + 3 * layout.cells[0] * value;
        let (mut messages, mut bytes) = (0, 0);
        for part in formats.iter().flat_map(|format| format.parts(layout)) {
            let of_part = layout.points() * part.len() * value;
            // Its pieces, one that is not full, and its end.
            messages += of_part / PIECE + 2;
            bytes += of_part;
        }
        if bytes > most {
            messages = (most / piece).max(1);
            bytes = messages * piece;
        }
        // Each format is begun.
        Room { messages: messages + formats.len(), bytes }
    }
}

/// Returns the cell whose point is next to a coordinate along an axis.
fn cell_next_to(mesh: &Mesh, axis: Axis, at: f64) -> usize {
    let i = axis.index();
    let cell = ((at - mesh.coordinate(i, 0)) / mesh.spacing()[i]).round();
    (cell.max(0.0) as usize).min(mesh.cells[i] - 1)
}

/// Returns the fields that components belong to: whole vectors, and single components.
fn variables(model: &Model, components: &[String]) -> Vec<Variable> {
    let mut variables = Vec::new();
    let mut first = 0;
    while let Some(name) = components.get(first) {
        let vector = model.fields.iter().find(|field| {
            let names = Axis::ALL.iter().take(model.components);
            let mut names = names.map(|axis| format!("{}_{axis}", field.name));
            field.rank == Rank::Vector
                && (first..).zip(names.by_ref()).all(|(at, name)| components.get(at) == Some(&name))
        });
        let is_part_of = |field: &str| {
            name.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        let mut fields = model.fields.iter();
        let field = vector.or_else(|| {
            let exact = fields.clone().find(|field| field.name == *name);
            exact.or_else(|| fields.find(|f| f.rank != Rank::Scalar && is_part_of(&f.name)))
        });
        let count = if vector.is_some() { model.components } else { 1 };
        variables.push(Variable {
            name: field.map_or(name, |field| &field.name).clone(),
            first,
            count,
            is_vector: vector.is_some(),
            unit: field.and_then(|field| field.unit.clone()),
        });
        first += count;
    }
    variables
}
