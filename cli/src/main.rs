//! The `stencil` command. Without arguments it runs the first problem of the library.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use signal_hook::consts::SIGUSR1;
use stencil_runtime::report::clear_note;

mod bench;
mod check;
mod doctor;
#[cfg(test)]
mod documented;
mod emit;
mod explain;
mod manual;
mod new;
mod output;
mod plot;
mod predict;
mod run;
mod source;
mod style;
mod sweep;
mod systems;
mod tune;
mod verify;

use run::Ended;
use source::BuiltIn;

/// The run went well.
const OK: u8 = 0;
/// The program itself is wrong.
const BUG: u8 = 1;
/// The command line, the declaration or a setting is wrong.
const USAGE: u8 = 2;
/// The solution is no longer finite.
const NUMERICAL: u8 = 5;
/// A file cannot be written.
const OUTPUT: u8 = 6;
/// The time on the wall ended the run, which left its state behind; the code of `timeout`.
const OUT_OF_TIME: u8 = 124;
/// Ctrl-C ended the run, which left its state behind: 128 and the number of the signal, as shells have it.
const INTERRUPTED: u8 = 130;
/// SIGUSR1 ended the run, which left its state behind.
const TOLD_TO_END: u8 = 128 + SIGUSR1 as u8;
/// SIGTERM ended the run, which left its state behind.
const TERMINATED: u8 = 143;

/// Declared partial differential equations, compiled and run.
#[derive(Debug, Parser)]
#[command(
    name = "stencil",
    version = env!("STENCIL_VERSION"),
    after_help = "Exit codes: 0 all went well, 1 an internal error, 2 a wrong command line, declaration or setting,\n\
                  5 the solution is no longer finite, 6 a file cannot be written. The state is kept, and --restart latest goes on, after\n\
                  124 the limit of the time on the wall, 130 Ctrl-C, 138 SIGUSR1, 143 SIGTERM."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a problem and make pictures of it; `explosion` if none is named
    Run(run::RunArgs),
    /// Run a problem over values of its settings; errors, orders and observables side by side
    Sweep(sweep::SweepArgs),
    /// Draw fields, time series and spectra of a run
    Plot(plot::PlotArgs),
    /// Make a package to start from: equations, a run, a picture and a test
    New(new::NewArgs),
    /// Check a declaration or a problem file, and show how it is understood
    Check(check::CheckArgs),
    /// Measure systems next to the limits of the machine
    Bench(bench::BenchArgs),
    /// Search for the fastest schedule of a system on a card, and keep it in a plan file
    Tune(tune::TuneArgs),
    /// Predict for modelled cards whether it pays to decompose a step into several kernels
    Predict(predict::PredictArgs),
    /// Compare schedules on a card with the processor, bit for bit; their kernels may be compiled before
    Verify(verify::VerifyArgs),
    /// Check whether this machine can run on cards, and list the missing parts
    Doctor(doctor::DoctorArgs),
    /// List the problems that can be run and the systems that can be explained
    List,
    /// Show a system as the compiler sees it, its reads and the cost of each schedule
    Explain(explain::ExplainArgs),
    /// Explain an error code
    ExplainError(explain::ExplainErrorArgs),
    /// Print one stage of the compiler for a system
    Emit(emit::EmitArgs),
    /// Print the completions of commands, options and their values for a shell
    Completions(manual::CompletionsArgs),
    /// Write the pages of the manual into a folder
    Man(manual::ManArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; neither is a reader that has left.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { OK });
        }
    };
    run::outlive_limits();
    let (mut out, mut notes) = (io::stdout().lock(), anstream::stderr());
    let result = match cli.command.unwrap_or_else(|| Command::Run(run::RunArgs::first())) {
        Command::Run(args) => run::run(&args, &mut out),
        Command::Sweep(args) => sweep::run(&args, &mut out),
        Command::Plot(args) => plot::run(&args, &mut out),
        Command::New(args) => new::run(&args, &mut out),
        Command::Check(args) => check::run(&args, &mut out),
        Command::Bench(args) => bench::run(&args, &mut out),
        Command::Tune(args) => tune::run(&args, &mut out),
        Command::Predict(args) => predict::run(&args, &mut out),
        Command::Verify(args) => verify::run(&args, &mut out),
        Command::Doctor(args) => doctor::run(&args, &mut out),
        Command::List => output::write(&mut out, list().as_bytes()).map_err(Ended::from),
        Command::Explain(args) => explain::run(&args, &built_ins(), &mut out),
        Command::ExplainError(args) => explain::run_error(&args, &mut out).map_err(Ended::from),
        Command::Emit(args) => {
            emit::run(&args, &built_ins(), &mut out, &mut notes).map_err(Ended::from)
        }
        Command::Completions(args) => manual::completions(&args, Cli::command(), &mut out),
        Command::Man(args) => manual::man(&args, Cli::command(), &mut out),
    };
    match result {
        Ok(()) => ExitCode::from(OK),
        Err(Ended { code, message }) => {
            tell(&message);
            ExitCode::from(code)
        }
    }
}

/// Prints the message of an error.
fn tell(message: &str) {
    clear_note();
    // Whoever has left misses nothing.
    let _ = writeln!(anstream::stderr(), "{}", style::painted(&output::visible(message)));
}

fn list() -> String {
    let systems = built_ins();
    let systems: Vec<&BuiltIn> = source::once(&systems).collect();
    let problems = physics::problems::ALL.iter();
    let names = problems.clone().map(|p| p.name.len());
    let width = names.chain(systems.iter().map(|s| s.name.len())).max();
    let width = width.unwrap_or(0) + 2;
    let of = problems.clone().map(|p| p.system.len()).max().unwrap_or(0) + 2;
    let line = |p: &physics::problems::BuiltIn| {
        format!("  {:<width$}{:<of$}{}\n", p.name, p.system, p.summary)
    };
    let problems = problems.map(line);
    let systems = systems.into_iter().map(|s| format!("  {:<width$}{}\n", s.name, s.summary));
    let (problems, systems): (String, String) = (problems.collect(), systems.collect());
    format!(
        "problems, for `stencil run`:\n{problems}\nsystems, for `stencil explain` and `stencil emit`:\n{systems}"
    )
}

/// The first clause of a documentation, without sources and consequences.
fn first_clause(doc: &str) -> String {
    let ends = [" (", ". ", ": [", ", `"].iter();
    let end = ends.filter_map(|end| doc.find(end)).min();
    doc[..end.unwrap_or(doc.len())].trim_end_matches('.').to_string()
}

/// The systems of the library, as text.
fn built_ins() -> Vec<BuiltIn> {
    let all = physics::systems::ALL.iter();
    all.map(|system| {
        let doc = system.model.lines();
        let doc = doc.map_while(|line| line.strip_prefix("/// "));
        BuiltIn {
            name: system.name.to_string(),
            summary: first_clause(&doc.collect::<Vec<_>>().join(" ")),
            text: system.model.to_string(),
        }
    })
    .collect()
}
