//! Names of the language and of schedules stand in their rows only: elsewhere the compiler and the runtime take them from there.

use std::path::Path;

use super::Violation;
use super::scan::Source;

const FOLDERS: [&str; 2] = ["stencil-compiler/src", "stencil-runtime/src"];

/// Files and folders that have rows.
const HOMES: [&str; 8] = [
    "stencil-compiler/src/catalogue/functions",
    "stencil-compiler/src/catalogue/integrators",
    "stencil-compiler/src/catalogue/limiters.rs",
    "stencil-compiler/src/catalogue/operators",
    "stencil-compiler/src/catalogue/predictors",
    "stencil-compiler/src/catalogue/reconstructions.rs",
    "stencil-compiler/src/catalogue/riemann.rs",
    "stencil-compiler/src/schedule/strategies",
];

/// Names of the types of rows.
const KINDS: [&str; 6] = ["Integrator", "Limiter", "Reconstruction", "Row", "Solver", "Strategy"];

/// Names that are words for other things, too.
const WORDS: [&str; 8] = ["central", "direct", "div", "none", "outer", "plane", "rows", "waves"];

/// Whether a file may have rows.
pub(super) fn is_home(path: &Path) -> bool {
    HOMES.iter().any(|home| path.starts_with(home))
}

/// The names of the rows of a file: the first text behind each `= Kind {`.
pub(super) fn of(source: &Source) -> Vec<String> {
    let begins = |code: &str| {
        let kind = code.split_once("= ").and_then(|(_, row)| row.split_once(" {"));
        kind.is_some_and(|(kind, _)| KINDS.contains(&kind))
    };
    let from = (0..source.lines.len()).map(|at| source.lines[at..].iter().take(2));
    let rows = from.filter(|row| row.clone().next().is_some_and(|line| begins(&line.code)));
    rows.filter_map(|mut row| row.find_map(|line| line.texts.first().cloned()))
        .filter(|name| !name.is_empty() && !WORDS.contains(&name.as_str()))
        .collect()
}

/// Checks that a file of the compiler or of the runtime has no text that is one of these names, outside of rows and tests.
pub(super) fn check(source: &Source, rows: &[String]) -> Vec<Violation> {
    if !FOLDERS.iter().any(|folder| source.is_in(folder)) || is_home(&source.path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (line, of_line) in source.numbered().filter(|(_, line)| !line.in_test) {
        for text in of_line.texts.iter().filter(|text| rows.contains(text)) {
            found.push(Violation {
                file: source.path.clone(),
                line,
                rule: "rows",
                message: format!("`{text}` is the name of a row"),
                way_out: "write `ROW.name`, or decide by what the row says",
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_their_rows_only() {
        let home = "stencil-compiler/src/catalogue/riemann.rs";
        let row = "const HLL: Solver = Solver {\n    name: \"hll\",\n};\n\
            const FIX: Parameter = Parameter {\n    name: \"fix\",\n};\n\
            const NONE: Limiter = Limiter { name: \"none\" };\n\
            const MC: Limiter = Limiter { name: \"mc\" };\n";
        let rows = of(&Source::read(Path::new(home), row));
        assert_eq!(rows, ["hll", "mc"]);
        let lines = |path: &str, text: &str| -> Vec<usize> {
            let found = check(&Source::read(Path::new(path), text), &rows);
            found.into_iter().map(|v| v.line).collect()
        };
        let other = "stencil-compiler/src/model/check/scheme.rs";
        assert_eq!(lines(other, "\nlet a = \"hll\";"), [2]);
        for text in [
            "// \"hll\"",
            "let a = \"use `hll`\";",
            "let a = \"fix\";",
            "#[cfg(test)]\nmod tests {\n    const A: &str = \"hll\";\n}",
        ] {
            assert!(lines(other, text).is_empty(), "{text}");
        }
        assert!(lines(home, "\"hll\"").is_empty());
        assert!(lines("cli/src/main.rs", "\"hll\"").is_empty());
    }
}
