//! Lists the places and files where NVRTC may be; the caller opens them.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Names for the system loader, the newest major version first.
const NAMES: [&str; 3] = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];

/// Folders inside `site-packages` into which the wheels of NVIDIA put the library.
const WHEELS: [&str; 3] = ["nvidia/cu13/lib", "nvidia/cu12/lib", "nvidia/cuda_nvrtc/lib"];

/// One place to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A folder, whose files are opened by absolute path.
    Folder(PathBuf),
    /// A bare name for the system loader.
    Name(&'static str),
}

/// The parts of the environment that the search reads, as plain data.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// `STENCIL_NVRTC_DIR`. If it is set nothing else is searched: a wrong folder must not be
    /// papered over by some other version.
    pub(super) own: Option<PathBuf>,
    /// Roots of active Python environments.
    pub(super) environments: Vec<PathBuf>,
    /// Roots of CUDA toolkits.
    pub(super) toolkits: Vec<PathBuf>,
}

impl Search {
    pub(super) fn from_env() -> Self {
        let path = |variable: &str| {
            env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        let paths =
            |variables: [&str; 2]| variables.into_iter().filter_map(path).collect::<Vec<_>>();
        let mut toolkits = paths(["CUDA_HOME", "CUDA_PATH"]);
        toolkits.push(PathBuf::from("/usr/local/cuda"));
        toolkits.dedup();
        Self {
            own: path(super::DIR_VARIABLE),
            environments: paths(["VIRTUAL_ENV", "CONDA_PREFIX"]),
            toolkits,
        }
    }

    /// Returns all places, in the order in which they are tried.
    pub(super) fn places(&self) -> Vec<Place> {
        if let Some(own) = &self.own {
            return vec![Place::Folder(own.clone())];
        }
        let mut places = Vec::new();
        for root in &self.environments {
            places.extend(
                site_packages(root).iter().flat_map(|site| WHEELS.map(|wheel| site.join(wheel))),
            );
            places.push(root.join("lib"));
        }
        for root in &self.toolkits {
            places.push(root.join("lib64"));
            places.push(root.join(format!("targets/{}-linux/lib", env::consts::ARCH)));
        }
        let names = NAMES.map(Place::Name);
        places.into_iter().map(Place::Folder).chain(names).collect()
    }
}

/// `lib/python3.x/site-packages` of an environment, the newest Python first.
fn site_packages(root: &Path) -> Vec<PathBuf> {
    let mut found = names_in(&root.join("lib")).unwrap_or_default();
    found.retain(|name| name.starts_with("python3"));
    found.sort_by_key(|name| std::cmp::Reverse(numbers(name)));
    found.iter().map(|name| root.join("lib").join(name).join("site-packages")).collect()
}

/// Returns the NVRTC libraries of a folder, each file once, the newest first.
pub(super) fn libraries_in(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut names = names_in(folder)?;
    names.retain(|name| is_library(name, "libnvrtc.so"));
    names.sort_by_key(|name| std::cmp::Reverse(numbers(name)));
    let mut files: Vec<PathBuf> = Vec::new();
    for name in names {
        // An absolute path: the loader would look for a bare one elsewhere.
        let file =
            fs::canonicalize(folder.join(&name)).map_err(|error| format!("{name}: {error}"))?;
        if !files.contains(&file) {
            files.push(file);
        }
    }
    if files.is_empty() { Err("no libnvrtc.so in this folder".to_owned()) } else { Ok(files) }
}

/// Returns the builtins beside a library that is given by path; none for a bare name.
pub(super) fn builtins_beside(library: &Path) -> Vec<PathBuf> {
    let Some(folder) = library.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Vec::new();
    };
    let mut names = names_in(folder).unwrap_or_default();
    names.retain(|name| is_library(name, "libnvrtc-builtins.so"));
    names.sort();
    names.iter().map(|name| folder.join(name)).collect()
}

/// `libx.so` or `libx.so.1.2`, and not the `.alt` build, which lacks features.
fn is_library(name: &str, stem: &str) -> bool {
    name.strip_prefix(stem).is_some_and(|rest| rest.chars().all(|c| c == '.' || c.is_ascii_digit()))
}

fn names_in(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    Ok(entries
        .flatten()
        .map(|entry| entry.file_name())
        .filter_map(|name: OsString| name.into_string().ok())
        .collect())
}

/// The numbers in a name, so that 3.10 comes after 3.9.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}
