//! Places in the workspace: the root, the target folder, the members, the source files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace that xtask works on.
pub(crate) struct Workspace {
    /// The folder of the root manifest.
    pub(crate) root: PathBuf,
    /// The folder in which cargo builds, as the environment or the configuration sets it.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Asks cargo, so that `CARGO_TARGET_DIR` and `build.target-dir` are respected.
    pub(crate) fn find() -> Result<Self, String> {
        // At run time: two checkouts that share a target folder may share this program, too.
        let folder = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("run this as `cargo xtask`")?;
        let manifest = Path::new(&folder).join("Cargo.toml");
        let output = Command::new(cargo())
            .args([
                "metadata",
                "--no-deps",
                "--offline",
                "--format-version",
                "1",
                "--manifest-path",
            ])
            .arg(manifest)
            .output()
            .map_err(|error| format!("cargo metadata: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let field = |name| json_text(&text, name).ok_or(format!("cargo metadata has no {name}"));
        Ok(Self {
            root: field("workspace_root")?.into(),
            target: field("target_directory")?.into(),
        })
    }

    /// Returns all Rust files, sorted, by their paths from the root.
    pub(crate) fn rust_files(&self) -> Result<Vec<PathBuf>, String> {
        self.files(|name| name.ends_with(".rs"))
    }

    /// Returns all pages of Markdown, sorted, by their paths from the root.
    pub(crate) fn pages(&self) -> Result<Vec<PathBuf>, String> {
        self.files(|name| name.ends_with(".md"))
    }

    /// Returns the manifests of the members, by their paths from the root.
    pub(crate) fn manifests(&self) -> Result<Vec<PathBuf>, String> {
        let mut manifests = self.files(|name| name == "Cargo.toml")?;
        manifests.retain(|path| path != Path::new("Cargo.toml"));
        Ok(manifests)
    }

    /// Returns the files with such a name, sorted, by their paths from the root, without built ones.
    fn files(&self, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, String> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for (name, path) in entries(&folder)? {
                let hidden = name.starts_with('.');
                if path.is_dir()
                    && !hidden
                    && name != "target"
                    && name != "out"
                    && path != self.target
                {
                    folders.push(path);
                } else if is_wanted(&name) {
                    files.push(path.strip_prefix(&self.root).unwrap_or(&path).to_path_buf());
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// Returns the text of a file.
    pub(crate) fn read(&self, path: &Path) -> Result<String, String> {
        fs::read_to_string(self.root.join(path))
            .map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Returns the cargo that runs us, or the one in the path.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns names and paths in a folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(entries
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .collect())
}

/// Returns the first text field of that name in a JSON document.
fn json_text(json: &str, name: &str) -> Option<String> {
    let start = json.rfind(&format!("\"{name}\":\""))? + name.len() + 4;
    let mut text = String::new();
    let mut chars = json[start..].chars();
    loop {
        match chars.next()? {
            '"' => return Some(text),
            '\\' => text.push(chars.next()?),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fields_are_read_from_json() {
        let json = r#"{"version":1,"workspace_root":"/a \"b\"","target_directory":"/t","x":[]}"#;
        assert_eq!(json_text(json, "workspace_root").as_deref(), Some("/a \"b\""));
        assert_eq!(json_text(json, "target_directory").as_deref(), Some("/t"));
        assert_eq!(json_text(json, "missing"), None);
    }

    #[test]
    fn manifests_of_members_are_found_in_any_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let target = root.join("target");
        let manifests = Workspace { root, target }.manifests().expect("a workspace");
        for (path, is_found) in [
            ("physics/Cargo.toml", true),
            ("tests/batch/odd/Cargo.toml", true),
            ("Cargo.toml", false),
        ] {
            let found = manifests.contains(&PathBuf::from(path));
            assert_eq!(found, is_found, "{path}");
        }
    }
}
