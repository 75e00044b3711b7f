//! The library of systems for problem files.

use crate::{Definition, Error, SystemDef};

/// Systems by name, for problem files that name one instead of a file.
///
/// ```
/// use stencil_runtime::{System, pde, problem::Library};
/// pde! {
///     /// Growth.
///     #[interpreted]
///     pub system Growth in 1d { field n: scalar; ddt(n) = n; }
/// }
/// let library = Library::new([Growth::DEFINITION]);
/// assert_eq!(library.names().collect::<Vec<_>>(), ["Growth"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Library {
    definitions: Vec<Definition>,
}

impl Library {
    /// Makes a library of these systems. Several of one name differ in their number of dimensions.
    pub fn new(definitions: impl IntoIterator<Item = Definition>) -> Self {
        Library { definitions: definitions.into_iter().collect() }
    }

    /// Makes a library without systems: problems bring their own.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Returns the names of all systems, each once.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        let all = self.definitions.iter().enumerate();
        let first = all.filter(|(at, d)| self.definitions[..*at].iter().all(|b| b.name != d.name));
        first.map(|(_, d)| d.name)
    }

    /// Returns the systems of a name, whatever their number of dimensions; case, `_` and `-` do not matter.
    pub(super) fn find(&self, name: &str) -> Result<Vec<SystemDef>, Error> {
        let same = |d: &&Definition| plain(d.name) == plain(name);
        let found = self.definitions.iter().filter(same);
        found.map(SystemDef::new).collect()
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}
