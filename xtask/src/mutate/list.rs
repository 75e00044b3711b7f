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
//! A line `tests` names the arguments of `cargo test`. A fault is the name of its tests and its file, the text to replace, which
//! stands there once, and the text in its place. Lines that begin with `#` say what follows.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// All faults.
#[derive(Debug, Default)]
pub(super) struct List {
    tests: BTreeMap<String, Vec<String>>,
    pub(super) faults: Vec<Fault>,
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
    /// It on one line.
    pub(super) fn describe(&self) -> String {
        format!(
            "{} {}: `{}` as `{}`",
            self.tests,
            self.file.display(),
            self.from,
            self.to
        )
    }

    /// How often a text has the place.
    pub(super) fn count(&self, text: &str) -> usize {
        text.matches(&self.from).count()
    }
}

impl List {
    /// The arguments of `cargo test` by a name.
    pub(super) fn tests(&self, name: &str) -> Result<&[String], String> {
        let found = self.tests.get(name).map(Vec::as_slice);
        found.ok_or(format!("no line `tests {name}: ..`"))
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
                let arguments = arguments.split_whitespace().map(String::from);
                list.tests.insert(name.to_string(), arguments.collect());
            } else if let Some(from) = line.strip_prefix("- ") {
                let fault = open.as_mut().filter(|fault| fault.2.is_none());
                fault.ok_or(wrong("`-` without a file"))?.2 = Some(from.to_string());
            } else if let Some(to) = line.strip_prefix("+ ") {
                let Some((tests, file, Some(from))) = open.take() else {
                    return Err(wrong("`+` without `-`"));
                };
                list.tests(&tests).map_err(|e| wrong(&e))?;
                list.faults.push(Fault {
                    tests,
                    file,
                    from,
                    to: to.to_string(),
                });
            } else {
                let (tests, file) = line.split_once(' ').ok_or(wrong("no tests and a file"))?;
                if open
                    .replace((tests.to_string(), file.into(), None))
                    .is_some()
                {
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
        let list = List::parse("# all\ntests a: -p b --lib\n\na c.rs\n- 1 - 2\n+ 1 + 2\n");
        let list = list.expect("a list");
        assert_eq!(
            list.tests("a"),
            Ok(&["-p", "b", "--lib"].map(String::from)[..])
        );
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
            ("tests a: b\na b.rs\n- c", "the last fault has no `+`"),
        ] {
            assert_eq!(List::parse(text).map(|_| ()), Err(message.to_string()));
        }
    }
}
