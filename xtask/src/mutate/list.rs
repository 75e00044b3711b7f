//! The list of faults as text.
//!
//! ```text
//! tests laws: -p stencil-tests --test numerics laws
//!
//! laws stencil-compiler/src/discretize/conserve/limiters.rs
//! - theta.unwrap_or(*THETA.end())
//! + theta.unwrap_or(*THETA.start())
//! ```
//!
//! A line `tests` names a program of tests and parts of the names of its tests. A fault is the name of its tests, its
//! file, the text to replace, which occurs once, and the new text. Lines with `#` describe the next faults.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// All faults.
#[derive(Debug, Default)]
pub(super) struct List {
    tests: BTreeMap<String, Target>,
    pub(super) faults: Vec<Fault>,
}

/// Tests of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) package: String,
    /// The arguments of cargo that choose the program: `--lib`, or `--test` and a name.
    pub(super) kind: Vec<String>,
    /// Parts of names of tests.
    pub(super) filters: Vec<String>,
}

impl Target {
    /// Reads `-p PACKAGE --lib FILTER..` or `-p PACKAGE --test NAME FILTER..`.
    fn parse(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(String::from).collect();
        let [flag, package, rest @ ..] = &words[..] else {
            return None;
        };
        let chosen = match rest.first()?.as_str() {
            "--lib" => 1,
            "--test" => 2,
            _ => return None,
        };
        (flag == "-p" && rest.len() >= chosen).then(|| Self {
            package: package.clone(),
            kind: rest[..chosen].to_vec(),
            filters: rest[chosen..].to_vec(),
        })
    }
}

/// One changed place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The name of the tests nearest to it.
    pub(super) tests: String,
    pub(super) file: PathBuf,
    pub(super) from: String,
    pub(super) to: String,
}

impl Fault {
    /// Returns the fault on one line.
    pub(super) fn describe(&self) -> String {
        format!("{} {}: `{}` as `{}`", self.tests, self.file.display(), self.from, self.to)
    }

    /// Returns the number of times that a text has the place.
    pub(super) fn count(&self, text: &str) -> usize {
        text.matches(&self.from).count()
    }
}

impl List {
    /// Returns the tests of a name.
    pub(super) fn target(&self, name: &str) -> Result<&Target, String> {
        self.tests.get(name).ok_or(format!("no line `tests {name}: ..`"))
    }

    /// Returns the names of all tests.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tests.keys().map(String::as_str)
    }

    /// Reads the list.
    pub(super) fn parse(text: &str) -> Result<List, String> {
        let mut list = List::default();
        let mut open: Option<(String, PathBuf, Option<String>)> = None;
        let lines = text.lines().enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let wrong = |what: &str| format!("line {}: {what}", number + 1);
            if let Some((name, arguments)) =
                line.strip_prefix("tests ").and_then(|l| l.split_once(": "))
            {
                let target = Target::parse(arguments)
                    .ok_or(wrong("no `-p PACKAGE --lib` or `--test NAME`"))?;
                list.tests.insert(name.to_string(), target);
            } else if let Some(from) = line.strip_prefix("- ") {
                let fault = open.as_mut().filter(|fault| fault.2.is_none());
                fault.ok_or(wrong("`-` without a file"))?.2 = Some(from.to_string());
            } else if let Some(to) = line.strip_prefix("+ ") {
                let Some((tests, file, Some(from))) = open.take() else {
                    return Err(wrong("`+` without `-`"));
                };
                list.target(&tests).map_err(|e| wrong(&e))?;
                list.faults.push(Fault { tests, file, from, to: to.to_string() });
            } else {
                let (tests, file) = line.split_once(' ').ok_or(wrong("no tests and a file"))?;
                if open.replace((tests.to_string(), file.into(), None)).is_some() {
                    return Err(wrong("the fault before it has no `+`"));
                }
            }
        }
        match open {
            None => Ok(list),
            Some(_) => Err("the last fault has no `+`".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_with_their_tests() {
        let list = List::parse("# all\ntests a: -p b --lib c\n\na c.rs\n- 1 - 2\n+ 1 + 2\n");
        let list = list.expect("a list");
        let target = list.target("a").expect("tests");
        assert_eq!((target.package.as_str(), &target.filters[..]), ("b", &["c".to_string()][..]));
        let fault = &list.faults[0];
        assert_eq!(fault.describe(), "a c.rs: `1 - 2` as `1 + 2`");
        assert_eq!(fault.count("1 - 2 and 1 - 2"), 2);
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        for (text, message) in [
            ("- a", "line 1: `-` without a file"),
            ("a b.rs\n+ c", "line 2: `+` without `-`"),
            ("a b.rs\n- c\n+ d", "line 3: no line `tests a: ..`"),
            ("tests a: b", "line 1: no `-p PACKAGE --lib` or `--test NAME`"),
            ("tests a: -p b --lib\na b.rs\n- c", "the last fault has no `+`"),
        ] {
            assert_eq!(List::parse(text).map(|_| ()), Err(message.to_string()));
        }
    }
}
