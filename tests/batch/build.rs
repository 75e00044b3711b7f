//! Writes the generated systems of even or odd seeds as declarations in Rust.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

#[path = "../src/random.rs"]
#[expect(dead_code, unreachable_pub, reason = "only the texts are needed here")]
mod random;

/// Seeds are below this; half of them are in each crate.
const SEEDS: u64 = 120;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=../build.rs");
    println!("cargo::rerun-if-changed=../../src/random.rs");
    let is_odd = env::var("CARGO_PKG_NAME").is_ok_and(|name| name.ends_with("odd"));
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let text = systems((u64::from(is_odd)..SEEDS).step_by(2));
    fs::write(PathBuf::from(folder).join("systems.rs"), text)
}

/// Returns a system with one substep, but all substeps for every fifth: they are compiled by the same rules, and
/// compiling takes most of the time.
fn stepped(system: String, seed: u64) -> String {
    let time = system.rfind("time: ").filter(|_| !(seed / 2).is_multiple_of(5));
    match time {
        Some(at) => {
            let end = system[at..].find(';').map_or(system.len(), |end| at + end);
            format!("{}time: euler{}", &system[..at], &system[end..])
        }
        None => system,
    }
}

/// Returns a module for each seed, and the list of all definitions.
fn systems(seeds: impl Iterator<Item = u64>) -> String {
    let (mut modules, mut list) = (String::new(), String::new());
    for seed in seeds {
        let system = stepped(random::system(seed), seed);
        let _ = writeln!(
            modules,
            "mod seed_{seed} {{\nstencil_runtime::pde! {{\n/// Generated.\n{system}}}\n}}"
        );
        let _ = writeln!(
            list,
            "    ({seed}, <seed_{seed}::Random as stencil_runtime::System>::DEFINITION),"
        );
    }
    format!("{modules}\nstatic SYSTEMS: &[(u64, stencil_runtime::Definition)] = &[\n{list}];\n")
}
