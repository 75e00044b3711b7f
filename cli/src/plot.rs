//! `stencil plot`: pictures of the files of a run.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use stencil_report::snapshot::{Cut, Look, Shot, Snapshot};
use stencil_runtime::plot::{Camera, ColorMap, FilmFormat, Format, PlotError, Rendering};

use crate::{Ended, USAGE, output};

mod frames;
mod table;
mod words;

/// The file that a run writes at its end.
const FINAL: &str = "final.npz";

/// Arguments of `stencil plot`.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlotArgs {
    /// The folder of a run, or a file in it: `.npz`, `series.csv`, `spectrum.csv`
    #[arg(value_name = "FOLDER|FILE")]
    path: PathBuf,
    /// Components such as u_x; the name of a vector is its length; all components if not given
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    field: Vec<String>,
    /// Plane of a box: a coordinate, z=0.5, or the number of a cell, z=#12; three planes of up to three fields if not given
    #[arg(long, value_name = "AXIS=PLACE", conflicts_with = "line")]
    slice: Option<Cut>,
    /// Line through a box or a plane, along the axis that is not named: y=0.5,z=#0
    #[arg(long, value_name = "AXIS=PLACE,..", value_delimiter = ',')]
    line: Vec<Cut>,
    /// A field of a box as a cloud that glows in the colours of its values
    #[arg(long, value_name = "FIELD", conflicts_with_all = ["field", "slice", "line", "iso"])]
    volume: Option<String>,
    /// Surfaces in a box on which a field has these values, the last one opaque: rho=0.5,1
    #[arg(long, value_name = "FIELD=VALUE,..", value_parser = words::surfaces, conflicts_with_all = ["field", "slice", "line"])]
    iso: Option<words::Surfaces>,
    /// Direction from which a box is seen, in degrees: the angle around z from x, and that above the plane; -60,25 if not given
    #[arg(long, value_name = "AZIMUTH,ELEVATION", value_parser = words::view, allow_hyphen_values = true)]
    view: Option<Camera>,
    /// Curves over time of columns of series.csv; of all if none is named
    #[arg(long, value_name = "NAME,..", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["field", "slice", "line", "volume", "iso", "spectrum", "spectra", "frames", "animate", "xt"])]
    series: Option<String>,
    /// Energy by wavenumber: spectrum.csv, or computed from the velocity in a .npz of a periodic box
    #[arg(long, conflicts_with_all = ["slice", "line", "volume", "iso", "frames", "animate", "xt"])]
    spectrum: bool,
    /// Energy by wavenumber at several times, computed from the velocity in frame_*.npz of a periodic box
    #[arg(long, conflicts_with_all = ["slice", "line", "volume", "iso", "frames", "animate", "xt", "spectrum"])]
    spectra: bool,
    /// A dashed line of this slope beside the spectrum, which it asks for: -5/3
    #[arg(long, value_name = "SLOPE", value_parser = words::slope, allow_hyphen_values = true, conflicts_with_all = ["series", "slice", "line", "volume", "iso", "frames", "animate", "xt"])]
    guide: Option<f64>,
    /// One picture of each frame_*.npz of a folder, all with the same range
    #[arg(long, conflicts_with_all = ["animate", "xt"])]
    frames: bool,
    /// One film of all frame_*.npz of a folder, with the same range throughout
    #[arg(long, conflicts_with = "xt")]
    animate: bool,
    /// Pictures a second of a film
    #[arg(long, value_name = "NUMBER", default_value_t = 10.0, requires = "animate")]
    fps: f64,
    /// A line over time, from all frame_*.npz of a folder: place to the right, time upwards
    #[arg(long, conflicts_with_all = ["slice", "volume", "iso"])]
    xt: bool,
    /// The picture, which ends in .png, .svg or .pdf, the film, which ends in .gif, .png, .apng or .mp4, or with --frames the folder of the pictures; beside the data if not given
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Values at the ends of the colours, or of the y axis
    #[arg(long, value_name = "LOW,HIGH", value_parser = words::range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// Colours, or the y axis, on a logarithmic scale
    #[arg(long)]
    log: bool,
    /// Colours: viridis, magma, inferno, plasma, cividis, diverging or cyclic; chosen by the values if not given
    #[arg(long, value_name = "NAME", value_parser = words::map)]
    map: Option<ColorMap>,
}

impl PlotArgs {
    /// The part of files that is drawn.
    fn shot(&self, snapshot: &mut Snapshot) -> Result<Shot, Ended> {
        let solid = match (&self.volume, &self.iso) {
            (Some(field), _) => Some((field, Rendering::Cloud)),
            (None, Some(iso)) => Some((&iso.field, Rendering::Surfaces(iso.values.clone()))),
            (None, None) => None,
        };
        let shot = match solid {
            Some((field, rendering)) => {
                Shot::solid(snapshot, field, rendering, self.view.unwrap_or_default())
            }
            None => Shot::cuts(snapshot, &self.field, self.slice, &self.line),
        };
        Ok(shot?)
    }

    fn look(&self, shot: &Shot) -> Look {
        Look::new(self.range, self.log, self.map, shot.count())
    }

    /// Is it about all frames of a folder?
    fn wants_frames(&self) -> Option<&'static str> {
        let asked = [
            (self.frames, "--frames"),
            (self.animate, "--animate"),
            (self.xt, "--xt"),
            (self.spectra, "--spectra"),
        ];
        asked.into_iter().find_map(|(is_asked, name)| is_asked.then_some(name))
    }

    /// Refuses what does not fit together, before anything is read, which may take long.
    fn check(&self) -> Result<(), Ended> {
        if self.view.is_some() && self.volume.is_none() && self.iso.is_none() {
            return Err(wrong(
                "--view is the view of a box; add --volume FIELD or --iso FIELD=VALUE",
            ));
        }
        match &self.out {
            Some(path) if self.animate => FilmFormat::of(path).map(|_| ()),
            Some(path) if !self.frames => Format::of(path).map(|_| ()),
            _ => Ok(()),
        }
        .map_err(|e| undrawn(&e))
    }
}

/// Runs the command: the pictures' paths go to `out`, one a line.
pub(crate) fn run(args: &PlotArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let what = fs::metadata(&args.path)
        .map_err(|e| wrong(format_args!("cannot read `{}`: {e}", args.path.display())))?;
    args.check()?;
    let pictures = match args.wants_frames() {
        Some(option) if !what.is_dir() => {
            return Err(wrong(format_args!(
                "`{}` is no folder; {option} draws every frame_*.npz of one",
                args.path.display()
            )));
        }
        Some("--frames") => frames::each(args)?,
        Some("--animate") => vec![frames::film(args)?],
        Some("--xt") => vec![frames::diagram(args)?],
        Some(_) => vec![table::spectra(args)?],
        None => vec![single(args, what.is_dir())?],
    };
    let lines: String = pictures.iter().map(|path| format!("{}\n", path.display())).collect();
    Ok(output::write(out, lines.as_bytes())?)
}

fn single(args: &PlotArgs, folder: bool) -> Result<PathBuf, Ended> {
    let table = !folder && args.path.extension().is_some_and(|e| e == "csv");
    let is_spectrum = table && args.path.file_stem().is_some_and(|name| name == "spectrum");
    if args.spectrum || args.guide.is_some() || is_spectrum {
        return table::spectrum(args, folder);
    }
    if args.series.is_some() || table {
        return table::series(args, folder);
    }
    let file = if folder { present(&args.path, FINAL)? } else { args.path.clone() };
    let mut snapshot = Snapshot::open(&file)?;
    let shot = args.shot(&mut snapshot)?;
    let picture = shot.take(&mut snapshot)?;
    let path = args.out.clone().unwrap_or_else(|| named(args, &file, &shot.suffix()));
    let mut look = args.look(&shot);
    look.see(&picture);
    shot.check(&look)?;
    let scene = picture.scene(&look, false).map_err(|e| undrawn(&e))?;
    scene.save_as(&path).map_err(|e| undrawn(&e))?;
    Ok(path)
}

/// The path of a picture beside the data, with its fields and its view in its name.
fn named(args: &PlotArgs, file: &Path, view: &str) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for field in &args.field {
        name.push('_');
        name.push_str(field);
    }
    name.push_str(view);
    file.with_file_name(name + ".png")
}

/// A file of a folder, if it is there.
fn present(folder: &Path, name: &str) -> Result<PathBuf, Ended> {
    let path = folder.join(name);
    if path.is_file() { Ok(path) } else { Err(missing(folder, name)) }
}

fn missing(folder: &Path, name: &str) -> Ended {
    let known: Vec<String> = listed(folder)
        .into_iter()
        .filter(|name| name.ends_with(".npz") || name.ends_with(".csv"))
        .collect();
    let help = if known.is_empty() {
        ", nor any other .npz or .csv; give the folder that a run wrote to".to_string()
    } else {
        format!("; it has: {}", known.join(", "))
    };
    wrong(format_args!("`{}` has no {name}{help}", folder.display()))
}

/// The names in a folder, in order; none if it cannot be read.
fn listed(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn wrong(message: impl std::fmt::Display) -> Ended {
    Ended { code: USAGE, message: format!("error: {message}") }
}

fn undrawn(error: &PlotError) -> Ended {
    match error {
        PlotError::Io { path, source } => Ended::unwritten(path, source),
        _ => wrong(error),
    }
}
