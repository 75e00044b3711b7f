//! `stencil sweep`: a problem over values of its settings, each combination a run with a folder of its own.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use stencil_report::Render;
use stencil_report::sweep::{Member, State, Sweep};
use stencil_runtime::io::PartFile;
use stencil_runtime::problem::{Change, Over, combinations};

use crate::run::{RunArgs, Shared, refuse_ranks};
use crate::{Ended, OUT_OF_TIME, USAGE, output};

mod drive;
mod member;

use member::{Planned, folder_name};

/// Arguments of `stencil sweep`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    shared: Shared,
    /// A setting and its values: params.nu=1e-3,3e-3 or `mesh.cells=[64,64],[128,64]`; A..B/N is N numbers of equal distances,
    /// A..B/Nlog of equal ratios. May be repeated: all combinations run, in an order in which the last setting changes
    /// fastest
    #[arg(long, value_name = "KEY=VALUE,..", required = true)]
    over: Vec<String>,
    /// Folder of the sweep, with a folder for each run; out/NAME-sweep for the problem NAME if not given
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Do those runs again whose settings have changed since they were done in this folder; without it they are refused
    #[arg(long)]
    overwrite: bool,
    /// Runs at once; each gets its share of the cores
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

impl SweepArgs {
    /// Returns the arguments of the run with these changes in a folder.
    fn arguments(&self, over: &[Change], folder: &Path) -> RunArgs {
        let jobs = usize::from(self.jobs);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (jobs > 1).then(|| (cores / jobs).max(1));
        let mut run = self.shared.arguments(over.to_vec(), Some(folder), threads);
        if self.quiet || jobs > 1 {
            run.hush();
        }
        run
    }
}

/// Runs the command.
pub(crate) fn run(args: &SweepArgs, out: &mut dyn Write) -> Result<(), Ended> {
    refuse_ranks()?;
    let overs = args.over.iter().map(|text| Over::read(text));
    let overs = overs.collect::<Result<Vec<_>, _>>()?;
    let keys: Vec<String> = overs.iter().map(|over| over.key().to_string()).collect();
    if keys.iter().any(|key| key == "output.dir") {
        let message = "error: each run of a sweep has its own folder\n  \
                       help: leave output.dir out, and name the folder of the sweep by --out";
        return Err(Ended { code: USAGE, message: message.to_string() });
    }
    let all = combinations(&overs, &args.shared.changes())?;
    let (name, folder) = place(args, &all[0].1)?;
    // A mistake of any of them is told before the first one runs.
    let planned = all.iter().map(|(values, changes)| {
        Planned::new(args.arguments(changes, &folder.join(folder_name(&keys, values))), values)
    });
    let planned = planned.collect::<Result<Vec<_>, _>>()?;
    member::check(&planned, args.overwrite)?;
    fs::create_dir_all(&folder).map_err(|e| Ended::unwritten(&folder, &e))?;
    let (states, stopped) = drive::all(&planned, usize::from(args.jobs), args.quiet);
    let members = planned.iter().zip(states).map(|(planned, state)| planned.member(state));
    let sweep = Sweep { problem: name, keys, members: members.collect() };
    let files = write(&sweep, &folder)?;
    if args.json || !args.quiet {
        output::print(&sweep, args.json, out)?;
    }
    if !args.json && !args.quiet {
        output::write(out, b"\nfiles\n")?;
        output::list(&files, "  ", out)?;
    }
    ended(&sweep, stopped, &folder)
}

/// Returns the name of the problem, and the folder of the sweep.
fn place(args: &SweepArgs, first: &[Change]) -> Result<(String, PathBuf), Ended> {
    let name = args.shared.arguments(first.to_vec(), None, None).read()?.name;
    let folder = || Path::new("out").join(format!("{name}-sweep"));
    let folder = args.out.clone().unwrap_or_else(folder);
    Ok((name, folder))
}

/// Writes the tables and pictures of a sweep into its folder; their paths.
fn write(sweep: &Sweep, folder: &Path) -> Result<Vec<PathBuf>, Ended> {
    let mut files = Vec::new();
    for (name, text) in
        [("sweep.csv", sweep.csv()), ("sweep.json", format!("{:#}\n", sweep.json()))]
    {
        let path = folder.join(name);
        whole(&path, &text)?;
        files.push(path);
    }
    files.extend(output::draw(sweep, folder)?);
    Ok(files)
}

/// Writes a file that appears when it is complete.
fn whole(path: &Path, text: &str) -> Result<(), Ended> {
    let written = PartFile::create(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.finish()
    });
    written.map_err(|error| Ended::unwritten(path, &error))
}

/// Returns the end of the command: that of the first run that failed, if one did.
fn ended(sweep: &Sweep, stopped: Option<u8>, folder: &Path) -> Result<(), Ended> {
    let [_, failed, open] = sweep.counts();
    let all = sweep.members.len();
    // Runs that no signal stopped are open by the limit of their time.
    if let Some(code) = stopped.or((open > 0).then_some(OUT_OF_TIME)) {
        let message = format!(
            "ended with {open} of {all} runs open; finished ones are kept in {}\n  help: the same command goes on",
            folder.display()
        );
        return Err(Ended { code, message });
    }
    let code = sweep.members.iter().find_map(|member: &Member| match member.state {
        State::Failed { code, .. } => Some(code),
        State::Open | State::Done(_) => None,
    });
    match code {
        None => Ok(()),
        Some(code) => {
            let message = format!(
                "error: {failed} of {all} runs failed; {} has their messages\n  help: the same command runs them again, and keeps the others",
                folder.join("sweep.json").display()
            );
            Err(Ended { code, message })
        }
    }
}
