//! Development tasks, as `cargo xtask <task>`.

mod mutate;
mod nvrtc;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

const HELP: &str = "\
Development tasks.

Usage: cargo xtask <task>

Tasks:
  test    format, tidy, clippy, NVRTC, all tests, documentation; stops at the first failure
  tidy    checks the rules of ARCHITECTURE.md that the compiler cannot
  mutate  injects the faults of xtask/faults.txt one by one and runs the tests nearest to each; with words, those whose line holds
          one of them; `mutate --check` finds places that the code has no longer
  nvrtc   fetches NVRTC, so that kernels compile without a CUDA toolkit; prints its folder
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = || match arguments[..] {
        ["test"] => test::run(&Workspace::find()?),
        ["tidy"] => tidy::run(&Workspace::find()?),
        ["nvrtc"] => {
            nvrtc::fetch(&Workspace::find()?).map(|folder| println!("{}", folder.display()))
        }
        ["mutate", "--check"] => mutate::check(&Workspace::find()?),
        ["mutate", ref words @ ..] => mutate::run(&Workspace::find()?, words),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        [] => Err(format!("which task?\n\n{HELP}")),
        _ => Err(format!("no such task: {}\n\n{HELP}", arguments.join(" "))),
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
