//! Is everything here that ranks of MPI are built and tested with?

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The arguments of cargo that build ranks.
const FEATURES: [&str; 2] = ["--features", "stencil-cli/mpi"];

/// Folders in which distributions keep `libclang`, by which the interface of MPI is read.
const CLANG: [&str; 4] = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/opt/llvm/lib"];

/// Returns the arguments of cargo that build ranks, or none if a part is missing, and says which.
pub(crate) fn features() -> &'static [&'static str] {
    let missing: Vec<&str> = [
        ("mpirun", is_program("mpirun")),
        ("mpicc", is_program("mpicc")),
        ("libclang", has_clang()),
    ]
    .into_iter()
    .filter_map(|(part, is_there)| (!is_there).then_some(part))
    .collect();
    if missing.is_empty() {
        println!("ranks of MPI are built and tested");
        return &FEATURES;
    }
    println!("ranks of MPI are left out: there is no {}", missing.join(" and no "));
    &[]
}

fn is_program(name: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).any(|folder| folder.join(name).is_file())
}

fn has_clang() -> bool {
    let folders = CLANG.iter().map(PathBuf::from);
    env::var_os("LIBCLANG_PATH").is_some()
        || folders.flat_map(|folder| below(&folder)).any(|folder| holds_clang(&folder))
}

/// Returns a folder, those in it such as `x86_64-linux-gnu`, and their folders `lib`.
fn below(folder: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let inside = inside.flat_map(|path| [path.join("lib"), path]);
    inside.chain([folder.to_path_buf()]).collect()
}

fn holds_clang(folder: &Path) -> bool {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.into_iter().any(|name| {
        let name = name.to_string_lossy();
        name.starts_with("libclang.so")
            || name.starts_with("libclang-") && name.contains(".so") && !name.contains("cpp")
            || name.starts_with("libclang.dylib")
    })
}
