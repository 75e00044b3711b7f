//! Which folder of the compiler and of the runtime may import which: each floor those above it.

use super::Violation;
use super::scan::Source;

const COMPILER: &str = "stencil-compiler/src";
const RUNTIME: &str = "stencil-runtime/src";

/// The floors of a crate, the highest first; of modules on one floor each may import those before it.
type Floors = &'static [&'static [&'static str]];

/// The crates that have floors, by the folder of their sources.
const HOUSES: [(&str, Floors); 2] = [(COMPILER, &OF_COMPILER), (RUNTIME, &OF_RUNTIME)];

const OF_COMPILER: [&[&str]; 12] = [
    &["diag", "syntax", "hash", "matrix", "expr"],
    &["catalogue"],
    &["model"],
    &["algorithm"],
    &["discretize", "pointwise"],
    &["stability"],
    &["schedule"],
    &["plan"],
    &["kernel"],
    &["compile", "emit"],
    &["cost"],
    &["search"],
];

/// `program` has the types of compiled kernels, which a system carries and the processor runs. `pick` has the functions by
/// which a run asks the tuner for a schedule. Every floor has errors and
/// numbers, which are imported by their types and know devices.
const OF_RUNTIME: [&[&str]; 11] = [
    &["io", "report", "program", "pick", "system", "transport"],
    &["mesh"],
    &["field"],
    &["step"],
    &["backend"],
    &["error", "number"],
    &["simulation", "bench"],
    &["plot"],
    &["spectrum"],
    &["problem"],
    &["tune"],
];

/// Checks the imports of one file; tests may import any module.
pub(super) fn check(source: &Source) -> Vec<Violation> {
    let house = HOUSES.iter();
    let house = house.filter_map(|(folder, floors)| {
        let inside = source.path.strip_prefix(folder).ok()?;
        Some((inside, *floors))
    });
    let Some((inside, floors)) = house.into_iter().next() else {
        return Vec::new();
    };
    let first = inside.components().next();
    let own = first.map(|part| part.as_os_str().to_string_lossy());
    let own = own.unwrap_or_default();
    let own = own.trim_end_matches(".rs");
    if own == "lib" {
        return Vec::new();
    }
    let violation = |line, message| Violation {
        file: source.path.clone(),
        line,
        rule: "floors",
        message,
        way_out: "pass it as a value, or move what both need to the higher floor; HOUSES in xtask and ARCHITECTURE.md have the order",
    };
    let Some(here) = place(floors, own) else {
        return vec![violation(1, format!("`{own}` has no place on the floors"))];
    };
    let mut found = Vec::new();
    for (line, module) in imports(source) {
        let message = match place(floors, &module) {
            Some(there) if there > here => {
                format!("`{own}` is above `{module}` and must not import it")
            }
            Some(_) => continue,
            None => format!("`{module}` has no place on the floors"),
        };
        found.push(violation(line, message));
    }
    found
}

/// The floor of a module, and its place there.
fn place(floors: Floors, module: &str) -> Option<(usize, usize)> {
    let floors = floors.iter().enumerate();
    let mut places = floors.filter_map(|(floor, names)| {
        let at = names.iter().position(|name| *name == module)?;
        Some((floor, at))
    });
    places.next()
}

/// The modules that follow `crate::` outside of tests, with their lines; `crate::{a, b::c}` has two.
fn imports(source: &Source) -> Vec<(usize, String)> {
    let lines = source.numbered().filter(|(_, line)| !line.in_test);
    let code: Vec<(usize, char)> = lines
        .flat_map(|(number, line)| line.code.chars().chain(['\n']).map(move |c| (number, c)))
        .collect();
    let starts: Vec<char> = "crate::".chars().collect();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for at in 0..code.len() {
        let begins = code[at..].iter().map(|(_, c)| c).take(starts.len());
        let is_whole = at == 0 || !is_word(code[at - 1].1);
        if !is_whole || !begins.eq(&starts) {
            continue;
        }
        let mut depth = 0;
        // A module is expected at the begin, and behind commas of the outermost group.
        let mut expected = true;
        let mut module = String::new();
        for &(line, c) in &code[at + starts.len()..] {
            if expected && is_word(c) {
                module.push(c);
                continue;
            }
            if !module.is_empty() {
                found.push((line, std::mem::take(&mut module)));
                expected = false;
            }
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => expected = true,
                _ => {}
            }
            let goes_on = depth > 0 || (expected && c.is_whitespace());
            if !goes_on {
                break;
            }
        }
    }
    // Types and functions of the crate itself are exported by a module.
    found.retain(|(_, module)| module != "self" && !module.starts_with(char::is_uppercase));
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        found_in(COMPILER, path, text)
    }

    fn found_in(house: &str, path: &str, text: &str) -> Vec<(usize, String)> {
        let path = Path::new(house).join(path);
        let found = check(&Source::read(&path, text));
        found.into_iter().map(|v| (v.line, v.message)).collect()
    }

    fn refused(path: &str, text: &str) -> Vec<usize> {
        found(path, text).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn imports_go_down_only() {
        for (path, text) in [
            ("plan/make.rs", "use crate::schedule::Schedule;"),
            ("plan/make.rs", "use crate::plan::check;"),
            ("search/mod.rs", "let a = crate::cost::kernels(b);"),
            ("pointwise.rs", "use crate::discretize::observe;"),
            ("emit/mod.rs", "use crate::{compile, kernel::{Index, plan}};"),
            ("lib.rs", "pub use crate::search;"),
        ] {
            assert!(found(path, text).is_empty(), "{path}: {text}");
        }
        for (path, text, line) in [
            ("plan/make.rs", "\nuse crate::kernel::blocking;", 2),
            ("model/check/mod.rs", "crate::discretize::integrators::ALL", 1),
            ("discretize/mod.rs", "use crate::pointwise;", 1),
            ("schedule/mod.rs", "use crate::{\n    algorithm::{Def, FnId},\n    plan,\n};", 3),
            ("cost/mod.rs", "pub(in crate::search) fn f() {}", 1),
        ] {
            assert_eq!(refused(path, text), [line], "{path}: {text}");
        }
    }

    #[test]
    fn the_runtime_has_floors_of_its_own() {
        for (path, text, lines) in [
            ("backend/cpu/mod.rs", "use crate::field::Array;", 0),
            ("backend/cpu/mod.rs", "use crate::{Error, step};", 0),
            ("mesh/mod.rs", "use crate::field::Array;", 1),
            ("step/mod.rs", "use crate::backend::cuda;", 1),
        ] {
            assert_eq!(found_in(RUNTIME, path, text).len(), lines, "{path}: {text}");
        }
        assert!(found_in("cli/src", "main.rs", "use crate::run;").is_empty());
    }

    #[test]
    fn a_message_names_both_floors() {
        let found = found("model/mod.rs", "use crate::search::first;");
        let message = "`model` is above `search` and must not import it";
        assert_eq!(found, [(1, message.to_owned())]);
        assert_eq!(refused("extra/mod.rs", ""), [1]);
        assert_eq!(refused("model/mod.rs", "use crate::extra::A;"), [1]);
    }

    #[test]
    fn tests_and_comments_may_name_any_module() {
        let text = "/// See [`plan`](crate::plan).\n#[cfg(test)]\nmod tests {\n    use crate::search;\n}\n";
        assert!(found("schedule/mod.rs", text).is_empty());
        assert!(found("schedule/tests.rs", "use crate::search;").is_empty());
    }
}
