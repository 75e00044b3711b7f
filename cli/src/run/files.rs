//! The files of a run, and their writing.

use std::fmt::Display;
use std::fs;
use std::io::{self, Read, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{self, ScopedJoinHandle};

use stencil_compiler::diag::Code;
use stencil_report::run::{Picture, pictures};
use stencil_runtime::io::{FrameFormat, PartFile, open_regular, read_text, way_out};
use stencil_runtime::problem::Problem;
use stencil_runtime::spectrum::kinetic_energy;
use stencil_runtime::{Error, Number, Quantity, Simulation, SystemDef};

use super::Ended;
use super::folder::{FINAL, Folder, INITIAL, PROBLEM};
use super::latest::run_line;
use crate::OUTPUT;

/// The slope of an inertial range, beside spectra.
const INERTIAL: f64 = -5.0 / 3.0;

/// The first words of a remark in a settings file.
const REMARK: &str = "# changed while it ran: ";

/// Components of the velocity, whose energy spectra show.
const VELOCITY: [&str; 3] = ["u.x", "u.y", "u.z"];

/// The folder of a run, and the files written into it. Of several ranks the first one alone has the folder.
#[derive(Debug)]
pub(super) struct Files {
    folder: Option<Folder>,
    written: Vec<PathBuf>,
    state: PathBuf,
}

/// Something could not be written.
pub(super) fn cannot_write(error: &dyn Display) -> Ended {
    Ended::coded(OUTPUT, Code::CannotWrite, &error.to_string())
}

impl Files {
    /// Writes the problem with everything resolved into its folder.
    /// The first line names the run, if it has a name.
    pub(super) fn create(
        (problem, run): (&Problem, Option<&str>),
        folder: Option<Folder>,
    ) -> Result<Self, Ended> {
        let mut files = Files { state: PathBuf::new(), folder, written: Vec::new() };
        files.state = files.path(FINAL);
        if !files.writes() {
            return Ok(files);
        }
        let initial = files.copy_initial(problem)?;
        let path = files.path(PROBLEM);
        let text = run_line(run) + &problem.to_toml(initial);
        files.write(&path, text.as_bytes())?;
        files.add(path);
        Ok(files)
    }

    /// Initial values that come from a file go with the problem that reads them.
    fn copy_initial(&mut self, problem: &Problem) -> Result<Option<&'static str>, Ended> {
        let Some(from) = problem.initial_file() else {
            return Ok(None);
        };
        let to = self.path(INITIAL);
        let same =
            matches!((fs::canonicalize(from), fs::canonicalize(&to)), (Ok(a), Ok(b)) if a == b);
        if !same {
            let mut bytes = Vec::new();
            let read = open_regular(from).and_then(|mut file| file.read_to_end(&mut bytes));
            read.map_err(|e| {
                let out = way_out(&e);
                cannot_write(&format!("cannot read `{}`: {e}{out}", from.display()))
            })?;
            self.write(&to, &bytes)?;
        }
        self.add(to);
        Ok(Some(INITIAL))
    }

    /// The path of a name in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.as_ref().map_or(PathBuf::from(name), |folder| folder.path().join(name))
    }

    /// Does this process write files?
    pub(super) fn writes(&self) -> bool {
        self.folder.is_some()
    }

    /// Does the run go on that the folder holds?
    pub(super) fn go_on(&self) -> bool {
        self.folder.as_ref().is_some_and(Folder::goes_on)
    }

    /// Notes that a file is there. Frames are noted again if they have a file in common.
    pub(super) fn add(&mut self, path: PathBuf) {
        let is_of_all = path.file_name().and_then(|name| name.to_str());
        if !is_of_all.is_some_and(FrameFormat::is_of_all) || !self.written.contains(&path) {
            self.written.push(path);
        }
    }

    /// The folder, if this process writes files.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_ref().map(Folder::path)
    }

    /// Notes that a file is there no longer.
    pub(super) fn forget(&mut self, path: &Path) {
        self.written.retain(|written| written != path);
    }

    /// Everything that was written.
    pub(super) fn written(&self) -> &[PathBuf] {
        &self.written
    }

    /// The file of the last state.
    pub(super) fn state(&self) -> &Path {
        &self.state
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Ended> {
        let write = || {
            let mut file = PartFile::create(path)?;
            file.write_all(bytes)?;
            file.finish()
        };
        write().map_err(|e: io::Error| {
            let out = way_out(&e);
            cannot_write(&format!("cannot write `{}`: {e}{out}", path.display()))
        })
    }

    /// Writes a remark below the first line of the settings file: the run is no longer that of its settings.
    pub(super) fn remark(&mut self, line: &str) -> Result<(), Ended> {
        if !self.writes() {
            return Ok(());
        }
        let path = self.path(PROBLEM);
        let text = read_text(&path).map_err(|e| Ended::unread(&path, &e))?;
        let at = text.find('\n').map_or(text.len(), |at| at + 1);
        let (first, rest) = text.split_at(at);
        // Remarks are in the order of their steps.
        let earlier = rest.split_inclusive('\n').take_while(|line| line.starts_with(REMARK));
        let earlier = earlier.map(str::len).sum();
        let (remarks, settings) = rest.split_at(earlier);
        self.write(&path, format!("{first}{remarks}{REMARK}{line}\n{settings}").as_bytes())
    }

    /// Writes the state from which a run can go on.
    pub(super) fn last<T: Number>(
        &mut self,
        problem: &Problem,
        simulation: &Simulation<T>,
        name: &str,
    ) -> Result<(), Ended> {
        self.state = self.path(name);
        problem.save_npz(simulation, &self.state)?;
        self.add(self.state.clone());
        Ok(())
    }

    /// Writes the state at the end of a run, and draws the pictures meanwhile.
    pub(super) fn end<T: Number>(
        &mut self,
        problem: &Problem,
        simulation: &mut Simulation<T>,
    ) -> Result<(), Ended> {
        let pictures = pictures(problem, simulation)?.into_iter();
        let pictures = pictures.map(|(name, picture)| (self.path(&format!("{name}.png")), picture));
        let pictures: Vec<(PathBuf, Picture)> = pictures.collect();
        let writes = self.writes();
        let draw = || match writes {
            true => pictures.iter().try_for_each(|(path, picture)| picture.save(path)),
            false => Ok(()),
        };
        let drawn = thread::scope(|scope| {
            let beside = thread::Builder::new().spawn_scoped(scope, draw).ok();
            self.last(problem, simulation, FINAL)?;
            match beside.map(ScopedJoinHandle::join) {
                Some(drawn) => drawn.unwrap_or_else(|panic| resume_unwind(panic)),
                // The system has no more threads.
                None => draw(),
            }
            .map_err(|e| cannot_write(&e))
        });
        drawn?;
        pictures.into_iter().for_each(|(path, _)| self.add(path));
        Ok(())
    }

    /// Writes the energy spectrum, if it is asked for.
    pub(super) fn spectra<T: Number>(
        &mut self,
        problem: &Problem,
        simulation: &mut Simulation<T>,
    ) -> Result<(), Ended> {
        match problem.output.spectrum {
            true => self.spectrum(&problem.system, simulation),
            false => Ok(()),
        }
    }

    /// The velocity is a field, or an intermediate of the system.
    fn spectrum<T: Number>(
        &mut self,
        system: &SystemDef,
        simulation: &mut Simulation<T>,
    ) -> Result<(), Ended> {
        let mut velocity = Vec::new();
        for name in &VELOCITY[..system.model().dimension] {
            let component = Quantity::new(system, name).map_err(|e| Error::Bug(e.to_string()))?;
            velocity.push(simulation.evaluate(&component)?);
        }
        if !self.writes() {
            return Ok(());
        }
        let views: Vec<_> = velocity.iter().map(|v| v.view()).collect();
        let spectrum = kinetic_energy(&views, simulation.spacing())
            .map_err(|e| Ended::from(Error::Bug(e.to_string())))?;
        let (table, plot) = (self.path("spectrum.csv"), self.path("spectrum.png"));
        spectrum.save_csv(&table).map_err(|e| cannot_write(&e))?;
        self.add(table);
        let run = simulation.run_id().map(str::to_string);
        let curve = spectrum.plot(Some(INERTIAL)).run(run);
        curve.save(&plot).map_err(|e| cannot_write(&e))?;
        self.add(plot);
        Ok(())
    }
}
