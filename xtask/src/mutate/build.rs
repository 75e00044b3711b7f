//! Compiles programs of tests with faults in them, from a copy of the working tree.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::list::{Fault, List, Target};
use super::run::{Plan, Subject, Tests};
use super::switch::switch;
use crate::workspace::{Workspace, cargo};

/// A copy of the working tree with a target folder and built programs beside it.
pub(super) struct Copy {
    pub(super) folder: PathBuf,
    tree: PathBuf,
}

impl Copy {
    /// Copies the files that git knows of, those that changed alone, so that little is compiled anew.
    pub(super) fn fill(workspace: &Workspace) -> Result<Self, String> {
        let folder = workspace.target.join("mutate");
        let copy = Self { tree: folder.join("tree"), folder };
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&workspace.root)
            .output()
            .map_err(|error| format!("git ls-files: {error}"))?;
        let names = String::from_utf8_lossy(&output.stdout);
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            if let Ok(bytes) = fs::read(workspace.root.join(name)) {
                copy.write(Path::new(name), &bytes)?;
            }
        }
        Ok(copy)
    }

    /// Writes a file of the copy, unless it is so already.
    fn write(&self, name: &Path, bytes: &[u8]) -> Result<(), String> {
        let to = self.tree.join(name);
        if fs::read(&to).is_ok_and(|known| known == bytes) {
            return Ok(());
        }
        let folder = to.parent().unwrap_or(&self.tree);
        let made = fs::create_dir_all(folder).and_then(|()| fs::write(&to, bytes));
        made.map_err(|error| format!("{}: {error}", to.display()))
    }

    fn read(&self, name: &Path) -> Result<String, String> {
        let path = self.tree.join(name);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Compiles the tests of some names with faults of some numbers in them, and returns the programs. Faults that cannot be chosen at
    /// run time have programs of their own.
    pub(super) fn build(
        &self,
        list: &List,
        names: &[&str],
        faults: &[(usize, &Fault)],
    ) -> Result<Plan, String> {
        let mut files: BTreeMap<&Path, Vec<(usize, &Fault)>> = BTreeMap::new();
        for fault in faults {
            files.entry(&fault.1.file).or_default().push(*fault);
        }
        let (mut texts, mut together) = (Vec::new(), Vec::new());
        for (name, faults) in files {
            let text = self.read(name)?;
            let (switched, numbers) = switch(&text, &faults);
            self.write(name, switched.as_bytes())?;
            texts.push((name, text));
            together.extend(numbers);
        }
        let built = self.tests(list, names, "all");
        for (name, text) in texts {
            self.write(name, text.as_bytes())?;
        }
        let tests = built?;
        let mut subjects = Vec::new();
        for (number, fault) in faults {
            let is_everywhere = together.contains(number);
            let tests = match is_everywhere {
                true => tests.iter().find(|tests| tests.name == fault.tests).cloned(),
                false => self.apart(list, *number, fault)?,
            };
            let tests = tests.ok_or(format!("{} has no tests", fault.describe()))?;
            subjects.push(Subject {
                number: *number,
                tests,
                is_everywhere,
                text: fault.describe(),
            });
        }
        Ok(Plan { tests, subjects })
    }

    /// Compiles the nearest tests with one fault.
    fn apart(&self, list: &List, number: usize, fault: &Fault) -> Result<Option<Tests>, String> {
        println!("{number:3}  {}: in a program of its own", fault.describe());
        let text = self.read(&fault.file)?;
        self.write(&fault.file, text.replace(&fault.from, &fault.to).as_bytes())?;
        let tests = self.tests(list, &[&fault.tests], &number.to_string());
        self.write(&fault.file, text.as_bytes())?;
        Ok(tests?.pop())
    }

    /// Compiles the tests of some names, and keeps the programs in a folder.
    fn tests(&self, list: &List, names: &[&str], kept: &str) -> Result<Vec<Tests>, String> {
        let kept = self.folder.join("programs").join(kept);
        fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
        let of_name = |name: &&str| {
            let target = list.target(name)?;
            let built = self.cargo(target)?;
            let file = built.file_name().ok_or("a program without a name")?;
            let program = kept.join(file);
            fs::copy(&built, &program).map_err(|error| format!("{}: {error}", built.display()))?;
            Ok(Tests {
                name: name.to_string(),
                program,
                folder: self.tree.join(self.package(&target.package)?),
                filters: target.filters.clone(),
            })
        };
        names.iter().map(of_name).collect()
    }

    /// Compiles a program of tests and returns its path.
    fn cargo(&self, target: &Target) -> Result<PathBuf, String> {
        let output = Command::new(cargo())
            .args(["test", "--no-run", "-p", &target.package])
            .args(&target.kind)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .env("CARGO_PROFILE_TEST_STRIP", "true")
            // A function with a fault may leave arguments unused.
            .env("RUSTFLAGS", "--cap-lints warn")
            .env_remove("CARGO_MANIFEST_DIR")
            .current_dir(&self.tree)
            .stdout(Stdio::null())
            .output()
            .map_err(|error| format!("cargo: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("faults that do not compile:\n{text}"));
        }
        let mut found = text.lines().filter(|line| line.trim_start().starts_with("Executable"));
        let path = found
            .next_back()
            .and_then(|line| line.rsplit_once('('))
            .and_then(|(_, path)| path.strip_suffix(')'));
        path.map(|path| self.tree.join(path)).ok_or(format!("cargo built no program:\n{text}"))
    }

    /// The folder of a package.
    fn package(&self, name: &str) -> Result<PathBuf, String> {
        let line = format!("name = \"{name}\"");
        let tree = Workspace { root: self.tree.clone(), target: self.folder.join("target") };
        for manifest in tree.manifests()? {
            if self.read(&manifest)?.lines().any(|known| known == line) {
                return Ok(manifest.parent().unwrap_or(Path::new("")).to_path_buf());
            }
        }
        Err(format!("no package {name}"))
    }
}
