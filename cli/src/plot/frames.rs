//! Pictures of all frames of a run: one of each, a film, and a line over time.

use std::fs;
use std::path::{Path, PathBuf};

use stencil_report::Failure;
use stencil_report::snapshot::{Diagram, Look, Shot, Snapshot};
use stencil_runtime::plot::{Film, Reel, Scene};
use stencil_runtime::report::{Progress, clear_note, note};

use super::{PlotArgs, listed, missing, named, undrawn, wrong};
use crate::Ended;

/// The frames of a folder, in their order; at least one.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, Ended> {
    let is_frame = |name: &String| name.starts_with("frame_") && name.ends_with(".npz");
    let found: Vec<PathBuf> =
        listed(folder).into_iter().filter(is_frame).map(|name| folder.join(name)).collect();
    match found.is_empty() {
        true => Err(missing(folder, "frame_*.npz")),
        false => Ok(found),
    }
}

/// The frames of a folder, two or more.
pub(super) fn several(folder: &Path, option: &str) -> Result<Vec<PathBuf>, Ended> {
    let found = files(folder)?;
    match found.len() {
        1 => Err(wrong(format_args!(
            "`{}` has one frame, {}, and {option} takes two or more; let the run write more, with a smaller `every` under [output]",
            folder.display(),
            name(&found[0])
        ))),
        _ => Ok(found),
    }
}

/// Names the file of an error that is about one of many.
pub(super) fn in_file(file: &Path, failure: Failure) -> Ended {
    let mut ended = Ended::from(failure);
    let told = ended.message.strip_prefix("error: ").map(str::to_string);
    if let Some(told) = told {
        ended.message = format!("error: {}: {told}", name(file));
    }
    ended
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads all frames in turn, and says so.
pub(super) fn read_all(
    files: &[PathBuf],
    mut each: impl FnMut(&mut Snapshot) -> Result<(), Failure>,
) -> Result<(), Ended> {
    for (at, file) in files.iter().enumerate() {
        note(&format!("reads frame {} of {}", at + 1, files.len()));
        let read = Snapshot::open(file).and_then(|mut snapshot| each(&mut snapshot));
        if let Err(failure) = read {
            clear_note();
            return Err(in_file(file, failure));
        }
    }
    clear_note();
    Ok(())
}

/// The part that is drawn of all files, and their common range.
fn seen(args: &PlotArgs, files: &[PathBuf]) -> Result<(Shot, Look), Ended> {
    let shot = args.shot(&mut Snapshot::open(&files[0])?)?;
    let mut look = args.look(&shot);
    read_all(files, |snapshot| {
        look.see(&shot.take(snapshot)?);
        Ok(())
    })?;
    shot.check(&look)?;
    Ok((shot, look))
}

/// Draws one frame; gives its time, too.
fn drawn(file: &Path, shot: &Shot, look: &Look) -> Result<(Scene, f64), Ended> {
    let mut snapshot = Snapshot::open(file)?;
    let picture = shot.take(&mut snapshot).map_err(|failure| in_file(file, failure))?;
    let scene = picture.scene(look, true).map_err(|e| undrawn(&e))?;
    Ok((scene, snapshot.time.unwrap_or(0.0)))
}

/// Draws one picture a frame. All frames are read first: the range is the same in all pictures.
pub(super) fn each(args: &PlotArgs) -> Result<Vec<PathBuf>, Ended> {
    let files = files(&args.path)?;
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|e| Ended::unwritten(folder, &e))?;
    }
    let (shot, look) = seen(args, &files)?;
    let mut progress = Progress::new(files.len() as u64, 0, false);
    let mut paths = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let beside = named(args, file, &shot.suffix());
        let path = match (&args.out, beside.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => beside,
        };
        let (scene, t) = drawn(file, &shot, &look)?;
        scene.save_as(&path).map_err(|e| undrawn(&e))?;
        paths.push(path);
        progress.update(at as u64 + 1, t);
    }
    Ok(paths)
}

/// Draws a film of all frames.
pub(super) fn film(args: &PlotArgs) -> Result<PathBuf, Ended> {
    let files = several(&args.path, "--animate")?;
    let (shot, look) = seen(args, &files)?;
    let beside = || {
        let film = args.path.join("film");
        named(args, &film, &shot.suffix()).with_extension("gif")
    };
    let path = args.out.clone().unwrap_or_else(beside);
    let mut samples = Vec::new();
    for at in [0, files.len() / 2, files.len() - 1] {
        samples.push(drawn(&files[at], &shot, &look)?.0);
    }
    let reel = Reel { count: files.len(), rate: args.fps };
    let mut film = Film::create(&path, reel, &samples).map_err(|e| undrawn(&e))?;
    let mut progress = Progress::new(files.len() as u64, 0, false);
    for (at, file) in files.iter().enumerate() {
        let (scene, t) = drawn(file, &shot, &look)?;
        film.push(&scene).map_err(|e| undrawn(&e))?;
        progress.update(at as u64 + 1, t);
    }
    film.finish().map_err(|e| undrawn(&e))?;
    Ok(path)
}

/// Draws a line over time.
pub(super) fn diagram(args: &PlotArgs) -> Result<PathBuf, Ended> {
    let files = several(&args.path, "--xt")?;
    let shot = args.shot(&mut Snapshot::open(&files[0])?)?;
    let mut diagram = Diagram::new(&shot, args.look(&shot))?;
    read_all(&files, |snapshot| diagram.add(snapshot))?;
    let path =
        args.out.clone().unwrap_or_else(|| named(args, &args.path.join("xt"), &shot.suffix()));
    diagram.scene()?.save_as(&path).map_err(|e| undrawn(&e))?;
    Ok(path)
}
