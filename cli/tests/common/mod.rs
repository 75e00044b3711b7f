//! The command as tests run it, in folders of their own.
#![allow(dead_code, reason = "each program of tests uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Words of a command line: a text with spaces between them, or one each.
pub(crate) trait Words {
    /// Returns the words.
    fn words(&self) -> Vec<&str>;
}

impl Words for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Words for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl<W: AsRef<str>> Words for [W] {
    fn words(&self) -> Vec<&str> {
        self.iter().map(AsRef::as_ref).collect()
    }
}

/// Prepares `stencil` in a folder; whether there are colours does not depend on where tests run.
pub(crate) fn command(words: &(impl Words + ?Sized), folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stencil"));
    for unset in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(unset);
    }
    command.args(words.words()).current_dir(folder);
    command.stdin(Stdio::null());
    command
}

/// Runs a command to its end.
pub(crate) fn output(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|e| panic!("{e}"))
}

/// Runs `stencil` in a folder.
pub(crate) fn stencil(words: &(impl Words + ?Sized), folder: &Path) -> Output {
    output(&mut command(words, folder))
}

/// Runs a command that goes well, and returns the text that it printed.
pub(crate) fn good(words: &(impl Words + ?Sized), folder: &Path) -> String {
    let output = stencil(words, folder);
    let (printed, wrong) = (text(&output.stdout), text(&output.stderr));
    let words = words.words();
    assert!(output.status.success(), "{words:?}: {printed}\n{wrong}");
    printed
}

/// Runs a command that ends with a code, and returns its message.
pub(crate) fn refused(words: &(impl Words + ?Sized), folder: &Path, code: i32) -> String {
    let output = stencil(words, folder);
    let message = text(&output.stderr);
    let words = words.words();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {message}");
    message
}

/// Runs commands that end with 2; each has a text in its message.
pub(crate) fn all_refused(begin: &str, cases: &[(&str, &str)], folder: &Path) {
    for (words, expected) in cases {
        let message = refused(&format!("{begin} {words}"), folder, 2);
        assert!(message.contains(expected), "{words}: no `{expected}` in\n{message}");
    }
}

/// Runs a command that goes well, and returns the object that it printed.
pub(crate) fn json(words: &(impl Words + ?Sized), folder: &Path) -> serde_json::Value {
    serde_json::from_str(&good(words, folder)).unwrap_or_else(|e| panic!("{e}"))
}

/// Asserts that a text has all of these parts.
pub(crate) fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

/// Returns bytes as text.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The folder of the programs of tests.
pub(crate) fn scratch() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// Makes an empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = scratch().join(env!("CARGO_CRATE_NAME")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
    folder
}
