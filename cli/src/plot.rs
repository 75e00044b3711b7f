//! `stencil plot`: pictures of the files of a run.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use stencil_report::snapshot::{Cut, Look, Picture, Snapshot, View};
use stencil_runtime::plot::{ColorMap, Format, PlotError};

use crate::{Ended, USAGE, output};

mod table;

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
    /// Plane of a box: a coordinate, z=0.5, or the number of a cell, z=#12; the middle if not given
    #[arg(long, value_name = "AXIS=PLACE", conflicts_with = "line")]
    slice: Option<Cut>,
    /// Line through a box or a plane, along the axis that is not named: y=0.5,z=#0
    #[arg(long, value_name = "AXIS=PLACE,..", value_delimiter = ',')]
    line: Vec<Cut>,
    /// Curves over time of columns of series.csv; of all if none is named
    #[arg(long, value_name = "NAME,..", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["field", "slice", "line", "spectrum", "frames"])]
    series: Option<String>,
    /// Energy by wavenumber: spectrum.csv, or computed from the velocity in a .npz of a periodic box
    #[arg(long, conflicts_with_all = ["slice", "line", "frames"])]
    spectrum: bool,
    /// A dashed line of this slope beside the spectrum, which it asks for: -5/3
    #[arg(long, value_name = "SLOPE", value_parser = slope, allow_hyphen_values = true, conflicts_with_all = ["series", "slice", "line", "frames"])]
    guide: Option<f64>,
    /// One picture of each frame_*.npz of a folder, all with the same range
    #[arg(long)]
    frames: bool,
    /// The picture, which ends in .png, .svg or .pdf, or with --frames the folder of the pictures; beside the data if not given
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Values at the ends of the colours, or of the y axis
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// Colours, or the y axis, on a logarithmic scale
    #[arg(long)]
    log: bool,
    /// Colours: viridis, magma, inferno, plasma, cividis or diverging; chosen by the values if not given
    #[arg(long, value_name = "NAME", value_parser = map)]
    map: Option<ColorMap>,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let pair = text
        .split_once(',')
        .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
    match pair {
        Some((low, high)) if f64::is_finite(high - low) && low < high => Ok((low, high)),
        _ => Err("write two numbers, the smaller one first: -1,1".into()),
    }
}

fn slope(text: &str) -> Result<f64, String> {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let parsed = (above.trim().parse::<f64>(), below.trim().parse::<f64>());
    match parsed {
        (Ok(above), Ok(below)) if (above / below).is_finite() => Ok(above / below),
        _ => Err("write a number or a fraction: -5/3".into()),
    }
}

fn map(text: &str) -> Result<ColorMap, String> {
    let names = ColorMap::ALL.map(|(name, _)| name);
    ColorMap::find(text).ok_or_else(|| {
        let near = stencil_compiler::diag::nearest(text, names);
        let hint = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!("{hint}there are: {}", names.join(", "))
    })
}

/// Runs the command: the pictures' paths go to `out`, one a line.
pub(crate) fn run(args: &PlotArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let what = fs::metadata(&args.path)
        .map_err(|e| wrong(format_args!("cannot read `{}`: {e}", args.path.display())))?;
    // Checked before anything is read, which may take long.
    if let Some(path) = args.out.as_ref().filter(|_| !args.frames) {
        Format::of(path).map_err(|e| undrawn(&e))?;
    }
    let pictures = if args.frames {
        if !what.is_dir() {
            return Err(wrong(format_args!(
                "`{}` is no folder; --frames draws every frame_*.npz of one",
                args.path.display()
            )));
        }
        frames(args)?
    } else {
        vec![single(args, what.is_dir())?]
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
    let fields = snapshot.fields(&args.field)?;
    let view = View::of(&mut snapshot, &fields, args.slice, &args.line)?;
    let picture = Picture::cut(&mut snapshot, &fields, &view)?;
    let path = named(args, &file, &view);
    let mut look = Look::new(args.range, args.log, args.map, fields.len());
    look.see(&picture);
    picture.save(&look, &path).map_err(|e| undrawn(&e))?;
    Ok(path)
}

/// One picture a frame. All frames are read first: the range is the same in all pictures.
fn frames(args: &PlotArgs) -> Result<Vec<PathBuf>, Ended> {
    let is_frame = |name: &str| name.starts_with("frame_") && name.ends_with(".npz");
    let files: Vec<PathBuf> = listed(&args.path)
        .into_iter()
        .filter(|name| is_frame(name))
        .map(|name| args.path.join(name))
        .collect();
    let Some(first) = files.first() else {
        return Err(missing(&args.path, "frame_*.npz"));
    };
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|e| Ended::unwritten(folder, &e))?;
    }
    let mut snapshot = Snapshot::open(first)?;
    let fields = snapshot.fields(&args.field)?;
    let view = View::of(&mut snapshot, &fields, args.slice, &args.line)?;
    let mut look = Look::new(args.range, args.log, args.map, fields.len());
    for file in &files {
        look.see(&Picture::cut(&mut Snapshot::open(file)?, &fields, &view)?);
    }
    let draw = |file: &PathBuf| {
        let picture = Picture::cut(&mut Snapshot::open(file)?, &fields, &view)?;
        let beside = named(args, file, &view);
        let path = match (&args.out, beside.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => beside,
        };
        picture.save(&look, &path).map_err(|e| undrawn(&e))?;
        Ok(path)
    };
    files.iter().map(draw).collect()
}

/// The picture's path: the given one, or beside the data with the view in its name.
fn named(args: &PlotArgs, file: &Path, view: &View) -> PathBuf {
    if let Some(path) = args.out.as_ref().filter(|_| !args.frames) {
        return path.clone();
    }
    let mut name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for field in &args.field {
        name.push('_');
        name.push_str(field);
    }
    name.push_str(&view.suffix());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_the_command_line() {
        assert_eq!(range("-1, 2"), Ok((-1.0, 2.0)));
        for text in ["1", "2,1", "1,1", "nan,1", "-inf,1", "a,b"] {
            assert!(range(text).is_err(), "{text}");
        }
        assert_eq!(slope("-5/3"), Ok(-5.0 / 3.0));
        assert_eq!(slope("-3"), Ok(-3.0));
        assert!(slope("1/0").is_err() && slope("steep").is_err());
        assert_eq!(map("cividis"), Ok(ColorMap::Cividis));
        assert!(map("virdis").unwrap_err().contains("did you mean `viridis`?"));
    }
}
