//! Rules about words: names that a folder must never mention.

use super::Violation;
use super::scan::{Line, Source, names, snake};

const COMPILER: &str = "stencil-compiler/src";
const EMIT: &str = "stencil-compiler/src/emit";
/// Folders that call libraries of the system, and the file that hands memory to other libraries of Python.
const UNSAFE: [&str; 3] =
    ["stencil-runtime/src/backend", "stencil-runtime/src/transport", "python/src/shared.rs"];

const IMPURE_MODULES: [&str; 4] = ["fs", "env", "time", "net"];
const PRINTS: [&str; 4] = ["println", "eprintln", "print", "eprint"];
const UNORDERED: [&str; 2] = ["HashMap", "HashSet"];
const VENDOR: [&str; 4] = ["cuda", "nvidia", "nvrtc", "ptx"];
/// Stages, and the word each must not know.
const STAGES: [(&str, &str, &str); 4] = [
    (
        "stencil-compiler/src/plan",
        "Scheme",
        "schemes end with `discretize`; put what is needed into the Algorithm",
    ),
    (
        "stencil-compiler/src/kernel",
        "Scheme",
        "schemes end with `discretize`; put what is needed into the Algorithm",
    ),
    (EMIT, "Scheme", "schemes end with `discretize`; put what is needed into the Algorithm"),
    (
        "stencil-compiler/src/discretize",
        "Schedule",
        "a schedule must not change a bit; it begins after `discretize`",
    ),
];

/// Names of systems that are words of the field, and of the language: a wave is a part of a jump.
const OF_THE_FIELD: [&str; 1] = ["wave"];

/// Checks one file. `systems` are the names of the physical systems.
pub(super) fn check(source: &Source, systems: &[String]) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut add = |line, rule, message, way_out| {
        found.push(Violation { file: source.path.clone(), line, rule, message, way_out });
    };
    if source.is_in(COMPILER) {
        impure_groups(source, &mut add);
    }
    for (number, line) in source.numbered() {
        unfinished(line, |message| {
            add(number, "unfinished", message, "finish it, or leave it out")
        });
        let may_be = UNSAFE.iter().any(|folder| source.is_in(folder));
        if !may_be && names(&line.code).any(|name| name == "unsafe") {
            let message =
                "`unsafe` outside the backends, the transport and what Python shares".to_owned();
            add(number, "unsafe", message, "use the safe interface of a backend, or add one there");
        }
        for (folder, word, way_out) in STAGES {
            if source.is_in(folder) && !line.in_test && names(&line.code).any(|name| name == word) {
                add(number, "stages", format!("`{word}` in {folder}"), way_out);
            }
        }
        if !source.is_in(COMPILER) {
            continue;
        }
        if !source.is_in(EMIT) {
            vendor(line, |message| {
                add(number, "vendor", message, "a vendor's name belongs in `emit` or a backend")
            });
        }
        if !line.in_test {
            impure(line, |message| {
                add(
                    number,
                    "purity",
                    message,
                    "the compiler is pure; let the caller do it and pass the value",
                );
            });
            physics(line, systems, |message| {
                add(
                    number,
                    "systems",
                    message,
                    "treat every system alike; decide by a property of the Model",
                );
            });
        }
    }
    found
}

fn unfinished(line: &Line, mut add: impl FnMut(String)) {
    let prose = [line.code.as_str(), line.comment.as_str()];
    for word in ["TODO", "FIXME"] {
        if prose.iter().any(|text| names(text).any(|name| name == word)) {
            add(format!("`{word}`"));
        }
    }
    for word in ["todo!(", "unimplemented!(", "dbg!(", "#[ignore"] {
        if line.code.contains(word) {
            add(format!("`{word}`"));
        }
    }
}

fn vendor(line: &Line, mut add: impl FnMut(String)) {
    let is_digit = |c: char| c.is_ascii_digit();
    for name in names(&line.raw) {
        let snake = snake(name);
        let parts: Vec<&str> = snake.split('_').collect();
        let mut pairs = parts.windows(2);
        let architecture = pairs.any(|pair| pair[0] == "sm" && pair[1].starts_with(is_digit));
        if architecture || parts.iter().any(|part| VENDOR.contains(part)) {
            add(format!("`{name}`"));
        }
    }
}

fn impure(line: &Line, mut add: impl FnMut(String)) {
    let code: String = line.code.split_whitespace().collect::<Vec<_>>().join(" ");
    for module in IMPURE_MODULES {
        let path = format!("std::{module}");
        let whole = |at: usize| {
            !code[at + path.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
        };
        if code.match_indices(&path).any(|(at, _)| whole(at)) {
            add(format!("`{path}`"));
        }
    }
    for print in PRINTS {
        if names(&code).any(|name| name == print) && code.contains(&format!("{print}!")) {
            add(format!("`{print}!`"));
        }
    }
    for name in names(&code).filter(|name| UNORDERED.contains(name)) {
        add(format!("`{name}`, whose order changes from run to run"));
    }
}

/// Finds `use std::{fs, env};`, which may span lines.
fn impure_groups(source: &Source, add: &mut impl FnMut(usize, &'static str, String, &'static str)) {
    let mut group: Option<(i32, bool)> = None;
    for (number, line) in source.numbered().filter(|(_, line)| !line.in_test) {
        let mut rest = line.code.as_str();
        if group.is_none() {
            let Some((_, inside)) = rest.split_once("std::{") else {
                continue;
            };
            (group, rest) = (Some((1, true)), inside);
        }
        for word in rest.split_inclusive(['{', '}', ',', ';', ':', ' ']) {
            let Some((depth, first)) = &mut group else {
                break;
            };
            let name = word.trim_end_matches(['{', '}', ',', ';', ':', ' ']);
            if *depth == 1 && *first && IMPURE_MODULES.contains(&name) {
                add(
                    number,
                    "purity",
                    format!("`std::{name}`"),
                    "the compiler is pure; let the caller do it and pass the value",
                );
            }
            *first = word.ends_with([',', '{']) || (*first && name.is_empty());
            *depth += i32::from(word.ends_with('{')) - i32::from(word.ends_with('}'));
            if *depth <= 0 {
                group = None;
            }
        }
    }
}

/// Finds a system's name as an identifier, or as a whole text that something is compared with.
fn physics(line: &Line, systems: &[String], mut add: impl FnMut(String)) {
    let texts = line.texts.iter().map(|text| text.trim());
    for name in names(&line.code).chain(texts) {
        let name_of_system = snake(name);
        let is_of_the_field = OF_THE_FIELD.contains(&name_of_system.as_str());
        if !is_of_the_field && systems.contains(&name_of_system) {
            add(format!("`{name}` names a physical system"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn rules(path: &str, text: &str) -> Vec<(usize, &'static str)> {
        let systems = ["euler".to_owned(), "shallow_water".to_owned(), "wave".to_owned()];
        check(&Source::read(Path::new(path), text), &systems)
            .into_iter()
            .map(|v| (v.line, v.rule))
            .collect()
    }

    #[test]
    fn the_compiler_is_pure() {
        let path = "stencil-compiler/src/facts.rs";
        for impure in [
            "use std::fs;",
            "std::env::var(x)",
            "let t = std::time::Instant::now();",
            "println!(\"\");",
            "use std::collections::HashMap;",
            "use std::{fmt, fs};",
            "use std::{collections::{BTreeMap, BTreeSet}, env::{var, vars}};",
        ] {
            assert_eq!(rules(path, impure), [(1, "purity")], "{impure}");
            assert!(rules("cli/src/main.rs", impure).is_empty());
        }
        assert_eq!(rules(path, "use std::{\n    fmt,\n    net,\n};\n"), [(3, "purity")]);
        for pure in [
            "use std::fmt;",
            "use std::{fmt, collections::{fs}};",
            "// std::fs",
            "let a = \"println!\";",
            "use std::env_like;",
        ] {
            assert!(rules(path, pure).is_empty(), "{pure}");
        }
        assert!(rules(path, "#[cfg(test)]\nmod tests {\n use std::fs;\n}\n").is_empty());
    }

    #[test]
    fn vendors_are_named_in_emit_only() {
        for vendor in [
            "// as in CUDA",
            "struct CudaDialect;",
            "fn emit_ptx() {}",
            "let a = \"sm_90\";",
            "NVIDIA",
        ] {
            assert_eq!(
                rules("stencil-compiler/src/cost/mod.rs", vendor),
                [(1, "vendor")],
                "{vendor}"
            );
            assert!(rules("stencil-compiler/src/emit/c_like.rs", vendor).is_empty());
            assert!(rules("stencil-runtime/src/cache.rs", vendor).is_empty());
        }
        for plain in ["// cudaclaw", "let captx = 1;", "mechanism_9"] {
            assert!(rules("stencil-compiler/src/cost/mod.rs", plain).is_empty(), "{plain}");
        }
    }

    #[test]
    fn no_system_is_special() {
        let path = "stencil-compiler/src/model/mod.rs";
        for special in ["if name == \"euler\" {}", "struct ShallowWater;", "let shallow_water = 1;"]
        {
            assert_eq!(rules(path, special), [(1, "systems")], "{special}");
        }
        for plain in [
            "/// Such as euler.",
            "fn forward_euler() {}",
            "struct Wave;",
            "\"the euler equations\"",
            "#[cfg(test)]\nmod t { fn euler() {} }",
        ] {
            assert!(rules(path, plain).is_empty(), "{plain}");
        }
        assert!(rules("cli/src/main.rs", "euler::run()").is_empty());
    }

    #[test]
    fn stages_do_not_know_each_others_inputs() {
        assert_eq!(
            rules("stencil-compiler/src/plan/mod.rs", "fn a(s: &Scheme) {}"),
            [(1, "stages")]
        );
        assert_eq!(
            rules("stencil-compiler/src/kernel/check.rs", "use x::Scheme;"),
            [(1, "stages")]
        );
        assert_eq!(
            rules("stencil-compiler/src/discretize/mod.rs", "Schedule::default()"),
            [(1, "stages")]
        );
        assert!(rules("stencil-compiler/src/discretize/mod.rs", "fn a(s: &Scheme) {}").is_empty());
        assert!(
            rules("stencil-compiler/src/plan/mod.rs", "fn a(s: &Schedule, t: SchemeName) {}")
                .is_empty()
        );
    }

    #[test]
    fn unfinished_work_and_unsafe_code_are_found_everywhere() {
        for word in [
            "// TODO: later",
            "todo!()",
            "dbg!(x);",
            "#[ignore = \"slow\"]",
            "/* FIXME */",
            "unimplemented!()",
        ] {
            assert_eq!(rules("cli/src/main.rs", word), [(1, "unfinished")], "{word}");
        }
        assert!(rules("cli/src/main.rs", "let a = \"TODO\"; // todo list").is_empty());
        assert_eq!(rules("cli/src/main.rs", "unsafe { a() }"), [(1, "unsafe")]);
        assert!(rules("cli/src/main.rs", "#![forbid(unsafe_code)] // unsafe").is_empty());
        assert!(
            rules("stencil-runtime/src/backend/cuda/compile/nvrtc.rs", "unsafe { a() }").is_empty()
        );
    }
}
