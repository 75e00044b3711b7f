//! Rules about files: their length, their beginning, and the lists they belong to.

use std::path::PathBuf;

use super::Violation;
use super::scan::{Source, names};

/// Longer files are named in a warning.
pub(super) const SOFT: usize = 500;
/// Longer files are an error.
const HARD: usize = 800;

/// Checks length and beginning; files above the soft limit join `long`.
pub(super) fn check(source: &Source, long: &mut Vec<(PathBuf, usize)>) -> Vec<Violation> {
    let violation = |line, rule, message, way_out| Violation {
        file: source.path.clone(),
        line,
        rule,
        message,
        way_out,
    };
    let mut found = Vec::new();
    let length = source.lines.len();
    if length > HARD {
        let message = format!("{length} lines, and {HARD} is the limit");
        found.push(violation(
            HARD + 1,
            "length",
            message,
            "split the module along its second responsibility",
        ));
    } else if length > SOFT {
        long.push((source.path.clone(), length));
    }
    let first = source.numbered().find(|(_, line)| !line.raw.trim().is_empty());
    // Input that the macro refuses begins as a user's program does.
    let is_input = source
        .path
        .parent()
        .is_some_and(|folder| folder.ends_with("tests/ui") || folder.ends_with("tests/ui/linked"));
    if !is_input && !first.is_some_and(|(_, line)| line.raw.starts_with("//!")) {
        let message = "no `//!` comment at the top".to_owned();
        let way_out = "say in a sentence or two what the module is for";
        found.push(violation(
            first.map_or(1, |(line, _)| line),
            "module comment",
            message,
            way_out,
        ));
    }
    found
}

/// Checks that each module of a registry is declared and listed in its `mod.rs`.
pub(super) fn registry(list: &Source, modules: &[String]) -> Vec<Violation> {
    let code: Vec<&str> = list.lines.iter().map(|line| line.code.as_str()).collect();
    let code = code.join("\n");
    let violation = |message, way_out| Violation {
        file: list.path.clone(),
        line: 1,
        rule: "registry",
        message,
        way_out,
    };
    let mut found = Vec::new();
    for module in modules {
        let words: Vec<&str> = names(&code).collect();
        if !words.windows(2).any(|pair| pair[0] == "mod" && pair[1] == module) {
            found.push(violation(
                format!("`{module}` is not declared"),
                "add `mod <name>;`, or remove the file",
            ));
        }
        if !is_used(&code, module) {
            found.push(violation(
                format!("`{module}` is not in the list"),
                "add its line `<name>::..` to the list",
            ));
        }
    }
    found
}

/// Does `name::` occur, as a whole word?
fn is_used(code: &str, name: &str) -> bool {
    let path = format!("{name}::");
    code.match_indices(&path)
        .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn rules(text: &str) -> Vec<&'static str> {
        check(&Source::read(Path::new("a.rs"), text), &mut Vec::new())
            .into_iter()
            .map(|v| v.rule)
            .collect()
    }

    #[test]
    fn files_begin_with_their_purpose() {
        assert!(rules("//! Why.\n").is_empty());
        assert_eq!(rules("use a;\n"), ["module comment"]);
        assert_eq!(rules(""), ["module comment"]);
        assert_eq!(rules("\n// Why.\n"), ["module comment"]);
    }

    #[test]
    fn length_warns_then_fails() {
        let text = |lines| format!("//! Why.\n{}", "\n".repeat(lines - 1));
        let mut long = Vec::new();
        for lines in [SOFT, SOFT + 1, HARD] {
            assert!(check(&Source::read(Path::new("a.rs"), &text(lines)), &mut long).is_empty());
        }
        assert_eq!(long.iter().map(|(_, lines)| *lines).collect::<Vec<_>>(), [SOFT + 1, HARD]);
        assert_eq!(rules(&text(HARD + 1)), ["length"]);
    }

    #[test]
    fn a_registered_module_is_declared_and_listed() {
        let list = "//! L.\nmod heat;\npub mod mhd;\nmod wave; // wave::W\nconst ALL: &[S] = &[heat::S, mhd::S, micro_wave::S];\n";
        let modules = ["euler", "heat", "mhd", "wave"].map(str::to_owned);
        let found = registry(&Source::read(Path::new("mod.rs"), list), &modules);
        let messages: Vec<&str> = found.iter().map(|v| v.message.as_str()).collect();
        assert_eq!(
            messages,
            ["`euler` is not declared", "`euler` is not in the list", "`wave` is not in the list"]
        );
    }
}
