//! Development tasks, as `cargo xtask <task>`.

mod book;
mod formats;
mod mpi;
mod mutate;
mod nvrtc;
mod python;
mod survive;
mod test;
mod tidy;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

use test::Depth;
use workspace::Workspace;

const HELP: &str = "\
Development tasks.

Usage: cargo xtask <task>

Tasks:
  test    format, tidy, clippy, the book, NVRTC, all tests, the package of Python, documentation; stops at the first failure. Each precision walks a third of the
          schedules, another with each commit, or the one that STENCIL_TURN sets (0 to 8, all).
          `test --fast` is the inner loop: each walk takes some of its cases, and much is left out (below);
          `test --deep` walks all schedules in both precisions, with more samples and larger meshes, and records the run in
          docs/measurements/deep.md
  formats writes frames of runs in all formats, and opens them by NumPy, h5py, VTK's reader and xarray: all values have to be the
          same bits. It fetches these packages once (150 MB); or STENCIL_READERS_PYTHON names a Python that has them
  tidy    checks the rules of ARCHITECTURE.md that the compiler cannot
  book    checks the links of the book and builds it by mdBook, which is fetched once; prints its folder
  mutate  compiles the tests with all faults of xtask/faults.txt in them and runs the tests nearest to each with that one alone;
          with words, those whose line holds one of them; `mutate --build` stops before it runs anything, `mutate --run FOLDER`
          runs what was compiled, `mutate --check` finds places that the code has no longer
  survive kills runs at so many random moments and compares the files of those that go on: `survive 200`, on a card
          `survive 200 --backend cuda`
  python  builds the wheel of the package of Python and runs its tests, as `test` does
  nvrtc   fetches NVRTC, so that kernels compile without a CUDA toolkit; prints its folder
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = || match arguments[..] {
        ["test"] => test::run(&Workspace::find()?, Depth::Usual),
        ["test", "--fast"] => test::run(&Workspace::find()?, Depth::Fast),
        ["test", "--deep"] => test::run(&Workspace::find()?, Depth::Deep),
        ["tidy"] => tidy::run(&Workspace::find()?),
        ["book"] => book::build(&Workspace::find()?).map(|folder| println!("{}", folder.display())),
        ["formats"] => formats::run(&Workspace::find()?),
        ["nvrtc"] => {
            nvrtc::fetch(&Workspace::find()?).map(|folder| println!("{}", folder.display()))
        }
        ["survive", kills] => survive::run(&Workspace::find()?, kills, "cpu"),
        ["survive", kills, "--backend", backend] => {
            survive::run(&Workspace::find()?, kills, backend)
        }
        ["python"] => python::run(&Workspace::find()?, !mpi::features().is_empty()),
        ["mutate", "--check"] => mutate::check(&Workspace::find()?),
        ["mutate", "--run", folder] => mutate::run(Path::new(folder)),
        ["mutate", "--build", ref words @ ..] => {
            mutate::build(&Workspace::find()?, words).map(|folder| println!("{}", folder.display()))
        }
        ["mutate", ref words @ ..] => {
            mutate::build(&Workspace::find()?, words).and_then(|folder| mutate::run(&folder))
        }
        ["help" | "--help" | "-h"] => {
            println!("{HELP}\n`test --fast` leaves out {}.", test::left_out());
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
