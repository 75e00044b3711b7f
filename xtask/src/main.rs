//! Development tasks, as `cargo xtask <task>`.

mod mutate;
mod nvrtc;
mod test;
mod tidy;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

use workspace::Workspace;

const HELP: &str = "\
Development tasks.

Usage: cargo xtask <task>

Tasks:
  test    format, tidy, clippy, NVRTC, all tests, documentation; stops at the first failure
  tidy    checks the rules of ARCHITECTURE.md that the compiler cannot
  mutate  compiles the tests with all faults of xtask/faults.txt in them and runs the tests nearest to each with that one alone;
          with words, those whose line holds one of them; `mutate --build` stops before it runs anything, `mutate --run FOLDER`
          runs what was compiled, `mutate --check` finds places that the code has no longer
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
        ["mutate", "--run", folder] => mutate::run(Path::new(folder)),
        ["mutate", "--build", ref words @ ..] => {
            mutate::build(&Workspace::find()?, words).map(|folder| println!("{}", folder.display()))
        }
        ["mutate", ref words @ ..] => {
            mutate::build(&Workspace::find()?, words).and_then(|folder| mutate::run(&folder))
        }
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
