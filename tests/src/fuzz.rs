//! Readers of untrusted text or bytes, each as a function of bytes: it gives a value or an error, never a panic, and a
//! value is printed as a text of the same value.
//!
//! The programs in `fuzz/` feed them the inputs of a coverage-guided fuzzer; the tests of this package replay the files
//! of `tests/corpus/` and mutations of them.

use std::fmt::Debug;

use physics::systems;
use stencil_compiler::model::parse::{parse_str, parse_str_in};
use stencil_compiler::search::plans::Plans;
use stencil_compiler::{algorithm, kernel, model, plan, schedule};
use stencil_runtime::io::Npz;
use stencil_runtime::problem::{Change, Library, Problem};

#[cfg(test)]
mod tests;

/// A target: the name of its folder of the corpus, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 9] = [
    ("declaration", declaration),
    ("problem", problem),
    ("set", set),
    ("schedule", schedule),
    ("plans", plans),
    ("algorithm", algorithm),
    ("plan", plan),
    ("kernel", kernel),
    ("npz", npz),
];

/// Reads a declaration of the language (`.pde`).
///
/// # Panics
/// If a model that was read is printed as another one.
pub fn declaration(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for dimension in [None, Some(2)] {
        let Ok(model) = parse_str_in(text, dimension) else {
            continue;
        };
        let printed = model::text::print(&model);
        let again = parse_str(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
        assert_eq!(again.without_spans(), model.without_spans(), "{printed}");
    }
}

/// Reads a problem file.
///
/// # Panics
/// If a problem that was read is written as another one.
pub fn problem(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    written(Problem::parse("fuzz.toml", text, "none", &systems::library(), &[]).ok());
}

/// Reads options `--set`, one a line.
///
/// # Panics
/// If a problem that was changed is written as another one.
pub fn set(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let changes: Vec<Change> = text.lines().map(Change::set).collect();
    written(Problem::parse("fuzz.toml", HEAT, "none", &Library::empty(), &changes).ok());
}

/// A problem with a small system of its own, so that no larger one is read for nothing.
const HEAT: &str = r#"
system = "system Heat in 2d { field T: scalar; param k: real = 0.1; ddt(T) = k*lap(T); } scheme second for Heat { space: central<order = 2>; time: euler; }"
mesh = { cells = 32, extent = 1 }
init = { T = "exp(-x^2)" }
time = { dt = "0.1*h^2/k", end = 1 }
plot = [{ file = "heat", value = "T" }]
"#;

/// Checks that a problem with all its settings is read back as it is.
fn written(problem: Option<Problem>) {
    let Some(problem) = problem.filter(|problem| problem.initial_file().is_none()) else {
        return;
    };
    let printed = problem.to_toml(None);
    let again = Problem::parse("fuzz.toml", &printed, "none", &systems::library(), &[]);
    let again = again.unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(again.to_toml(None), printed);
}

/// Reads a schedule.
///
/// # Panics
/// If a schedule that was read is printed as another one.
pub fn schedule(bytes: &[u8]) {
    stage(bytes, schedule::text::parse, schedule::text::print);
}

/// Reads a file of plans.
///
/// # Panics
/// If plans that were read are printed as others.
pub fn plans(bytes: &[u8]) {
    stage(bytes, Plans::parse, Plans::print);
}

/// Reads the text of an Algorithm.
///
/// # Panics
/// If an Algorithm that was read is printed as another one.
pub fn algorithm(bytes: &[u8]) {
    let read = |text: &str| {
        let read = algorithm::text::parse(text);
        // An Algorithm that was read may be illegal for other stages, so it is checked first.
        read.inspect(|algorithm| drop(algorithm.check()))
    };
    stage(bytes, read, algorithm::text::print);
}

/// Reads the text of a Plan.
///
/// # Panics
/// If a Plan that was read is printed as another one.
pub fn plan(bytes: &[u8]) {
    stage(bytes, plan::text::parse, plan::text::print);
}

/// Reads the text of a Kernel.
///
/// # Panics
/// If a Kernel that was read is printed as another one.
pub fn kernel(bytes: &[u8]) {
    stage(bytes, kernel::text::parse, kernel::text::print);
}

/// Reads a file of arrays.
///
/// # Panics
/// If an entry is read that has another shape than its header.
pub fn npz(bytes: &[u8]) {
    // Larger entries are refused, so that memory stays within bounds.
    const MOST: u64 = 1 << 22;
    let Ok(mut file) = Npz::from_bytes("fuzz.npz", bytes.to_vec()) else {
        return;
    };
    let names: Vec<String> = file.names().map(str::to_string).collect();
    for name in names.iter().take(64) {
        let shape = file.shape(name);
        let _ = (file.f64(name), file.u64(name), file.text(name));
        if let (Ok(array), Ok(shape)) = (file.get_within(name, MOST), shape) {
            match array {
                stencil_runtime::io::Value::F32(array) => assert_eq!(array.shape(), shape),
                stencil_runtime::io::Value::F64(array) => assert_eq!(array.shape(), shape),
                _ => {}
            }
        }
    }
}

/// Longer texts cost time and find nothing else.
const LONGEST: usize = 1 << 14;

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST)
}

/// Checks that a value that a text gives is printed as a text that gives it.
fn stage<T: Debug + PartialEq, E: Debug>(
    bytes: &[u8],
    parse: impl Fn(&str) -> Result<T, E>,
    print: impl Fn(&T) -> String,
) {
    let Some(value) = text(bytes).and_then(|text| parse(text).ok()) else {
        return;
    };
    let printed = print(&value);
    let again = parse(&printed).unwrap_or_else(|e| panic!("{e:?}\n{printed}"));
    // NaN differs from itself.
    let same = again == value || print(&again) == printed;
    assert!(same, "{printed}");
}
