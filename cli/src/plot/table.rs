//! Curves of the tables of a run: time series and spectra.

use std::path::{Path, PathBuf};

use stencil_compiler::diag::nearest;
use stencil_report::snapshot::Snapshot;
use stencil_runtime::io::Table;
use stencil_runtime::plot::{LinePlot, Style};
use stencil_runtime::spectrum::{Spectrum, kinetic_energy};

use super::{FINAL, PlotArgs, missing, present, undrawn, wrong};
use crate::Ended;

const SERIES: &str = "series.csv";
const SPECTRUM: &str = "spectrum.csv";

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
    let (spectrum, title, caption) = if file.extension().is_some_and(|e| e == "npz") {
        of_snapshot(args, &file)?
    } else {
        let read = Spectrum::read_csv(&file).map_err(wrong)?;
        (read, String::new(), file.display().to_string())
    };
    let title = match title.as_str() {
        "" => "Spectrum of kinetic energy".to_string(),
        system => format!("{system}: spectrum of kinetic energy"),
    };
    let mut plot = spectrum.plot(args.guide).title(title).subtitle(caption);
    plot.y_range = args.range;
    save(args, &plot, &file, "spectrum.png")
}

/// The spectrum of a vector in a `.npz`, with the system's name and a caption.
fn of_snapshot(args: &PlotArgs, file: &Path) -> Result<(Spectrum, String, String), Ended> {
    let mut snapshot = Snapshot::open(file)?;
    let name = match &args.field[..] {
        [] => "u",
        [name] => name,
        _ => return Err(wrong("a spectrum is of one vector; name one with --field")),
    };
    let vector = snapshot.vector(name)?;
    let mesh = snapshot.mesh(&vector)?;
    let mut values = Vec::new();
    for component in vector.components() {
        values.push(snapshot.component(component)?);
    }
    let views: Vec<_> = values.iter().map(|v| v.view()).collect();
    let spectrum = kinetic_energy(&views, mesh.spacing).map_err(wrong)?;
    let caption = [snapshot.caption.clone(), mesh.cells()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    Ok((spectrum, snapshot.system, caption))
}

fn save(args: &PlotArgs, plot: &LinePlot, file: &Path, name: &str) -> Result<PathBuf, Ended> {
    let path = args.out.clone().unwrap_or_else(|| file.with_file_name(name));
    plot.save(&path).map_err(|e| undrawn(&e))?;
    Ok(path)
}
