//! The section `[output]`: the folder of a run, its frames, and its time series.

use std::path::PathBuf;

use stencil_compiler::catalogue::Rank;
use stencil_compiler::diag::Code;
use stencil_compiler::expr::real::Precision;

use super::boundary::{FaceKind, Kind, lookup};
use super::document::{Data, Item, Table};
use super::mistakes::At;
use super::plot::slice;
use super::reader::{Name, Reader};
use super::system::Resolved;
use crate::io::FrameFormat;
use crate::{Axis, FrameChoice, Mesh};

/// The output of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The folder.
    pub dir: PathBuf,
    /// Steps between frames.
    pub every: Option<u64>,
    /// Time between frames: each is that of the first step which ends at or after a multiple of it.
    pub every_time: Option<f64>,
    /// The formats of frames.
    pub formats: Vec<FrameFormat>,
    /// Components in frames.
    pub fields: Vec<String>,
    /// The plane of frames, if they are not of the whole mesh.
    pub slice: Option<(Axis, f64)>,
    /// The precision of frames, if it is not that of the run.
    pub precision: Option<Precision>,
    /// The level at which frames are compressed, if they are.
    pub compress: Option<u32>,
    /// Steps between rows of the time series.
    pub series_every: u64,
    /// Whether the energy spectrum of `u` is written.
    pub spectrum: bool,
}

impl Output {
    /// Whether frames are written.
    pub fn has_frames(&self) -> bool {
        self.every.is_some() || self.every_time.is_some()
    }

    /// Returns the content and the formats of frames.
    pub fn choice(&self) -> FrameChoice {
        FrameChoice {
            formats: self.formats.clone(),
            components: self.fields.clone(),
            slice: self.slice,
            precision: self.precision,
            compress: self.compress,
        }
    }
}

/// Steps between rows of a time series by default.
const SERIES_EVERY: u64 = 10;
/// Levels of compression.
const LEVELS: std::ops::RangeInclusive<u64> = 1..=9;

/// Reads `[output]` of a problem of this name.
pub(super) fn output(
    document: &Table,
    problem: &str,
    (resolved, precision): (&Resolved, Option<Precision>),
    (mesh, boundary): (Option<&Mesh>, &[FaceKind]),
    reader: &mut Reader,
) -> Option<Output> {
    let (table, _) = reader.section(document, "output");
    reader.keys("output", &table);
    let name = |key| Name("output", key);
    let dir = match table.get("dir") {
        Some(item) => reader.text(name("dir"), item).map(PathBuf::from),
        None => Some(PathBuf::from("out").join(problem)),
    };
    let every = table.get("every").map(|item| reader.count(name("every"), item));
    let every_time = every_time(&table, reader);
    let series_every =
        table.get("series_every").map(|item| reader.count(name("series_every"), item));
    let fields = fields(&table, resolved, reader);
    let formats = formats(&table, reader);
    let slice = table.get("slice").map(|item| slice(name("slice"), item, mesh, reader));
    let of_frames = table.get("precision").map(|item| of_frames(item, precision, reader));
    let compress = compress(&table, formats.as_deref(), reader);
    let spectrum = match table.get("spectrum") {
        Some(item) => reader
            .flag(name("spectrum"), item)
            .filter(|wanted| !wanted || may_transform(resolved, boundary, item.at, reader)),
        None => Some(false),
    };
    Some(Output {
        dir: dir?,
        every: every.map_or(Some(None), |every| every.map(Some))?,
        every_time: every_time?,
        formats: formats?,
        fields: fields?,
        slice: slice.map_or(Some(None), |slice| slice.map(Some))?,
        precision: of_frames.map_or(Some(None), |precision| precision.map(Some))?,
        compress: compress?,
        series_every: series_every.unwrap_or(Some(SERIES_EVERY))?,
        spectrum: spectrum?,
    })
}

/// Reads the time between frames, which excludes the number of steps between them.
fn every_time(table: &Table, reader: &mut Reader) -> Option<Option<f64>> {
    let Some(item) = table.get("every_time") else {
        return Some(None);
    };
    if table.get("every").is_some() {
        let message = "frames are by steps and by time";
        let help = "leave out `every`, or `every_time`";
        reader.mistakes.add(Code::Contradiction, item.at, message, help);
        return None;
    }
    reader.positive(Name("output", "every_time"), item).map(Some)
}

/// Reads one format or a list of them.
fn formats(table: &Table, reader: &mut Reader) -> Option<Vec<FrameFormat>> {
    let Some(all) = table.get("format") else {
        return Some(vec![FrameFormat::Npz]);
    };
    let name = Name("output", "format");
    let items = match &all.data {
        Data::List(items) => items.as_slice(),
        _ => std::slice::from_ref(all),
    };
    if items.is_empty() {
        reader.bad(all.at, "`output.format` names no format", "give one, or leave it out");
        return None;
    }
    let mut formats = Vec::new();
    for item in items {
        let format = reader.choice(name, item, &FrameFormat::ALL)?;
        if formats.contains(&format) {
            let message = format!("`{}` is named twice", format.word());
            reader.bad(all.at, message, "name each format once");
            return None;
        }
        formats.push(format);
    }
    Some(formats)
}

/// Reads the precision of frames, at most that of the run.
fn of_frames(item: &Item, run: Option<Precision>, reader: &mut Reader) -> Option<Precision> {
    let known = [("f32", Precision::F32), ("f64", Precision::F64)];
    let wanted = reader.choice(Name("output", "precision"), item, &known)?;
    if (wanted, run) == (Precision::F64, Some(Precision::F32)) {
        let message = "frames in f64 of a run in f32";
        let help = "leave `output.precision` out, or run in f64: precision = \"f64\" at the top";
        reader.mistakes.add(Code::Contradiction, item.at, message, help);
        return None;
    }
    Some(wanted)
}

/// Reads the level of compression, which VTKHDF has none of.
fn compress(
    table: &Table,
    formats: Option<&[FrameFormat]>,
    reader: &mut Reader,
) -> Option<Option<u32>> {
    let Some(item) = table.get("compress") else {
        return Some(None);
    };
    let level = reader.count(Name("output", "compress"), item)?;
    if !LEVELS.contains(&level) {
        let message = format!("`output.compress` is {level}");
        reader.bad(item.at, message, "give a level from 1 (fast) to 9 (small)");
        return None;
    }
    if formats.is_some_and(|formats| formats == [FrameFormat::Vtkhdf]) {
        let message = "frames in VTKHDF are not compressed";
        let help = "leave `compress` out, or write npz or zarr";
        reader.mistakes.add(Code::Contradiction, item.at, message, help);
        return None;
    }
    Some(u32::try_from(level).ok())
}

fn fields(table: &Table, resolved: &Resolved, reader: &mut Reader) -> Option<Vec<String>> {
    let Some(item) = table.get("fields") else {
        let all = super::system::components(&resolved.fields);
        return Some(all.map(str::to_string).collect());
    };
    let name = Name("output", "fields");
    let mut components = Vec::new();
    for item in reader.list(name, item)? {
        let field = reader.text(name, item)?;
        match lookup(&field, &resolved.fields) {
            Some(found) if found.iter().any(|name| components.contains(name)) => {
                let message = format!("`{field}` is in `output.fields` twice");
                reader.bad(item.at, message, "name each field or component once");
                return None;
            }
            Some(found) => components.extend(found),
            None => {
                let system = resolved.system.name();
                let message = format!("{system} has no field or component `{field}`");
                let known = super::known_names(&resolved.fields);
                reader.unknown(item.at, message, &field, known.iter().map(String::as_str));
                return None;
            }
        }
    }
    Some(components)
}

/// Checks that spectra are possible: they need a periodic vector `u`, a field or an intermediate.
fn may_transform(resolved: &Resolved, boundary: &[FaceKind], at: At, reader: &mut Reader) -> bool {
    let model = resolved.system.model();
    let fields = model.fields.iter().map(|f| (&f.name, f.rank));
    let lets = model.lets.iter().map(|l| (&l.name, l.value.rank));
    let vector = fields.chain(lets).any(|(name, rank)| name == "u" && rank == Rank::Vector);
    let wall = boundary.iter().find(|f| f.kind != Kind::Named("periodic"));
    let problem = match (vector, wall) {
        (false, _) => format!("{} has no vector `u`", resolved.system.name()),
        (true, Some(wall)) => format!("{} is not periodic", wall.face),
        (true, None) => return true,
    };
    let message = format!("there is no energy spectrum: {problem}");
    let help = "leave `spectrum` out";
    reader.mistakes.add(Code::Contradiction, at, message, help);
    false
}
