//! Curves of the tables of a run: time series and spectra.

use std::path::{Path, PathBuf};

use stencil_compiler::diag::nearest;
use stencil_report::Failure;
use stencil_report::snapshot::Snapshot;
use stencil_runtime::io::Table;
use stencil_runtime::plot::{LinePlot, Style};
use stencil_runtime::report::significant;
use stencil_runtime::spectrum::{Spectrum, SpectrumError, kinetic_energy, over_time};

use super::{FINAL, PlotArgs, frames, missing, present, undrawn, wrong};
use crate::Ended;

const SERIES: &str = "series.csv";
const SPECTRUM: &str = "spectrum.csv";
/// Spectra over time at most; of more frames some are left out.
const MOST: usize = 7;

/// Draws columns of a series over time.
pub(super) fn series(args: &PlotArgs, folder: bool) -> Result<PathBuf, Ended> {
    let file = if !folder {
        args.path.clone()
    } else if let Ok(file) = present(&args.path, SERIES) {
        file
    } else {
        // A run that goes on.
        present(&args.path, "series.csv.part").map_err(|_| missing(&args.path, SERIES))?
    };
    let table = Table::read(&file).map_err(wrong)?;
    let over = ["t", "step"].into_iter().find(|n| table.names().any(|c| c == *n));
    let over = over.or_else(|| table.names().next()).unwrap_or_default().to_string();
    let names = columns(args, &table, &file)?;
    let mut plot = LinePlot::new().title("Time series").subtitle(file.display().to_string());
    let xs = table.column(&over).map_err(wrong)?;
    for name in &names {
        let label = if names.len() > 1 { name } else { "" };
        let ys = table.column(name).map_err(wrong)?;
        if args.log && args.range.is_none() {
            positive(&file, name, ys)?;
        }
        plot = plot.series(label, xs, ys, Style::Line);
    }
    plot = plot.labels(over, if let [name] = &names[..] { name } else { "" });
    if args.log {
        plot = plot.log_y();
    }
    plot.y_range = args.range;
    save(args, &plot, &file, "series.png")
}

/// The columns to draw: those named, or all except clocks.
fn columns(args: &PlotArgs, table: &Table, file: &Path) -> Result<Vec<String>, Ended> {
    let wanted = args.series.as_deref().unwrap_or_default();
    let named: Vec<String> = wanted
        .split(',')
        .map(|name| name.trim().to_string())
        .filter(|name| !name.is_empty())
        .collect();
    if let Some(unknown) = named.iter().find(|n| !table.names().any(|c| c == **n)) {
        let help = match nearest(unknown, table.names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has: {}", table.names().collect::<Vec<_>>().join(", ")),
        };
        return Err(wrong(format_args!("`{}` has no column `{unknown}`; {help}", file.display())));
    }
    if !named.is_empty() {
        return Ok(named);
    }
    let all = table.names().filter(|n| !["step", "t", "dt"].contains(n));
    let all: Vec<String> = all.map(str::to_string).collect();
    if all.is_empty() {
        return Err(wrong(format_args!("`{}` has no columns but its clock", file.display())));
    }
    Ok(all)
}

/// Draws `spectrum.csv`, or the spectrum of the velocity in a `.npz`.
pub(super) fn spectrum(args: &PlotArgs, folder: bool) -> Result<PathBuf, Ended> {
    let file = if !folder {
        args.path.clone()
    } else if let Ok(file) = present(&args.path, SPECTRUM) {
        file
    } else {
        present(&args.path, FINAL).map_err(|_| missing(&args.path, SPECTRUM))?
    };
    let (spectrum, system, caption) = if file.extension().is_some_and(|e| e == "npz") {
        of_snapshot(args, &file)?
    } else {
        let read = Spectrum::read_csv(&file).map_err(wrong)?;
        (read, String::new(), file.display().to_string())
    };
    let mut plot = spectrum.plot(args.guide).title(title(&system)).subtitle(caption);
    plot.y_range = args.range;
    save(args, &plot, &file, "spectrum.png")
}

/// Refuses values that have no logarithm.
fn positive(file: &Path, name: &str, values: &[f64]) -> Result<(), Ended> {
    match values.iter().find(|v| **v <= 0.0) {
        Some(value) => Err(wrong(format_args!(
            "column `{name}` of `{}` has the value {value}, which has no logarithm; leave --log out, name other columns with --series, or give the positive range to be shown, as in --range 1e-3,1",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// The name of the vector whose spectrum is drawn.
fn vector(args: &PlotArgs) -> Result<&str, Ended> {
    match &args.field[..] {
        [] => Ok("u"),
        [name] => Ok(name),
        _ => Err(wrong("a spectrum is of one vector; name one with --field")),
    }
}

/// The spectrum of a vector, and the number of cells.
fn computed(snapshot: &mut Snapshot, name: &str) -> Result<(Spectrum, String), Failure> {
    let vector = snapshot.vector(name)?;
    let mesh = snapshot.mesh(&vector)?;
    let mut values = Vec::new();
    for component in vector.components() {
        values.push(snapshot.component(component)?);
    }
    let views: Vec<_> = values.iter().map(|v| v.view()).collect();
    let spectrum = kinetic_energy(&views, mesh.spacing)
        .map_err(|e: SpectrumError| Failure::new(format!("error: {e}")))?;
    Ok((spectrum, mesh.cells()))
}

/// The spectrum of a vector in a `.npz`, with the system's name and a caption.
fn of_snapshot(args: &PlotArgs, file: &Path) -> Result<(Spectrum, String, String), Ended> {
    let mut snapshot = Snapshot::open(file)?;
    let (spectrum, cells) = computed(&mut snapshot, vector(args)?)?;
    let caption = [snapshot.caption.clone(), cells]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    Ok((spectrum, snapshot.system, caption))
}

/// Draws spectra of frames, evenly chosen from the first to the last one.
pub(super) fn spectra(args: &PlotArgs) -> Result<PathBuf, Ended> {
    let files = frames::several(&args.path, "--spectra")?;
    let name = vector(args)?;
    let count = files.len().min(MOST);
    let chosen: Vec<PathBuf> =
        (0..count).map(|i| files[i * (files.len() - 1) / (count - 1)].clone()).collect();
    let (mut found, mut system, mut caption) = (Vec::new(), String::new(), String::new());
    frames::read_all(&chosen, |snapshot| {
        let (spectrum, cells) = computed(snapshot, name)?;
        let time = snapshot.time.map(|t| format!("t = {}", significant(t, 4)));
        let label = time.unwrap_or_else(|| format!("frame {}", found.len() + 1));
        found.push((label.replace('-', "−"), spectrum));
        (system, caption) = (snapshot.system.clone(), cells);
        Ok(())
    })?;
    let curves: Vec<(String, &Spectrum)> =
        found.iter().map(|(label, spectrum)| (label.clone(), spectrum)).collect();
    let mut plot = over_time(&curves, args.guide).title(title(&system)).subtitle(caption);
    plot.y_range = args.range;
    save(args, &plot, &args.path.join("frames"), "spectra.png")
}

fn title(system: &str) -> String {
    match system {
        "" => "Spectrum of kinetic energy".to_string(),
        system => format!("{system}: spectrum of kinetic energy"),
    }
}

fn save(args: &PlotArgs, plot: &LinePlot, file: &Path, name: &str) -> Result<PathBuf, Ended> {
    let path = args.out.clone().unwrap_or_else(|| file.with_file_name(name));
    plot.save(&path).map_err(|e| undrawn(&e))?;
    Ok(path)
}
