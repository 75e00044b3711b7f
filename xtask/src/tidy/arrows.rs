//! The allowed dependencies between crates. No other arrow.

use std::path::Path;

use super::Violation;

/// Each member, and the members it may depend on.
const ARROWS: [(&str, &[&str]); 13] = [
    ("stencil-compiler", &[]),
    ("stencil-macros", &["stencil-compiler"]),
    ("stencil-runtime", &["stencil-compiler", "stencil-macros"]),
    ("stencil-report", &["stencil-compiler", "stencil-runtime"]),
    ("stencil-physics", &["stencil-runtime"]),
    ("stencil-cli", CLI),
    ("stencil-python", CLI),
    ("stencil-examples", OUTER),
    ("stencil-tests", OUTER),
    ("stencil-batch-even", BATCH),
    ("stencil-batch-odd", BATCH),
    ("stencil-fuzz", &["stencil-tests"]),
    ("xtask", &[]),
];
const CLI: &[&str] = &["stencil-compiler", "stencil-report", "stencil-runtime", "stencil-physics"];
const OUTER: &[&str] = &["stencil-compiler", "stencil-runtime", "stencil-physics"];
const BATCH: &[&str] = &["stencil-compiler", "stencil-runtime", "stencil-tests"];

/// Checks the manifest of one member.
pub(super) fn check(path: &Path, manifest: &str) -> Vec<Violation> {
    let violation = |line, message| Violation {
        file: path.to_path_buf(),
        line,
        rule: "arrows",
        message,
        way_out: "move the code to the side the arrow comes from, or change ARROWS in xtask and ARCHITECTURE.md",
    };
    let (name, dependencies) = parse(manifest);
    let Some((_, allowed)) = ARROWS.iter().find(|(member, _)| *member == name) else {
        return vec![violation(1, format!("`{name}` has no place among the arrows"))];
    };
    let is_member = |name: &str| ARROWS.iter().any(|(member, _)| *member == name);
    dependencies
        .into_iter()
        .filter(|(_, to)| is_member(to) && !allowed.contains(&to.as_str()))
        .map(|(line, to)| violation(line, format!("`{name}` must not depend on `{to}`")))
        .collect()
}

/// Returns the package's name, and its dependencies of every kind with their lines.
fn parse(manifest: &str) -> (String, Vec<(usize, String)>) {
    let mut name = String::new();
    let mut dependencies = Vec::new();
    let mut section = "";
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            section = header;
            // `[dependencies.stencil-physics]`
            if let Some((_, to)) = section.rsplit_once("dependencies.") {
                dependencies.push((index + 1, to.trim_matches('"').to_owned()));
            }
        } else if let Some((key, value)) = line.split_once('=') {
            let key = key.trim();
            let value = value.trim();
            if section == "package" && key == "name" {
                name = value.trim_matches('"').to_owned();
            } else if section.ends_with("dependencies")
                || (section.contains("dependencies.") && key == "package")
            {
                let renamed =
                    value.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
                let plain =
                    if key == "package" { value } else { key.split('.').next().unwrap_or(key) };
                dependencies
                    .push((index + 1, renamed.unwrap_or(plain).trim_matches('"').to_owned()));
            }
        }
    }
    (name, dependencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(manifest: &str) -> Vec<String> {
        check(Path::new("a/Cargo.toml"), manifest)
            .into_iter()
            .map(|v| format!("{}: {}", v.line, v.message))
            .collect()
    }

    #[test]
    fn allowed_arrows_pass() {
        let manifest = "[package]\nname = \"stencil-physics\"\n[dependencies]\nstencil-runtime.workspace = true\nrayon = \"1\"\n";
        assert!(messages(manifest).is_empty());
    }

    #[test]
    fn every_way_to_write_a_dependency_is_seen() {
        let wrong = ["1: `stencil-compiler` must not depend on `stencil-physics`"];
        for dependency in [
            "[dependencies]\nstencil-physics.workspace = true",
            "[dev-dependencies]\nstencil-physics = { path = \"../physics\" }",
            "[build-dependencies]\nother = { package = \"stencil-physics\", path = \"../physics\" }",
            "[target.'cfg(unix)'.dependencies]\nstencil-physics = \"1\"",
            "[dependencies.stencil-physics]\npath = \"../physics\"",
            "[dependencies.other]\npackage = \"stencil-physics\"",
        ] {
            let manifest = format!("[package]\nname = \"stencil-compiler\"\n{dependency}\n");
            let found = messages(&manifest);
            assert_eq!(found.len(), 1, "{dependency}");
            assert_eq!(found[0].split_once(": ").unwrap().1, wrong[0].split_once(": ").unwrap().1);
        }
    }

    #[test]
    fn a_member_without_a_place_is_an_error() {
        assert_eq!(
            messages("[package]\nname = \"extra\"\n"),
            ["1: `extra` has no place among the arrows"]
        );
    }
}
