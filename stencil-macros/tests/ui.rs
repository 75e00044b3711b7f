//! Wrong programs and their messages: each file of `tests/ui` is a mistake, and the file beside it has rustc's
//! messages. The same mistakes, read from text, have the same codes and places.
//!
//! After a message was changed on purpose, `TRYBUILD=overwrite cargo test -p stencil-macros --test ui`
//! writes the files anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use stencil_compiler::diag::{Code, Diagnostic, Diagnostics};
use stencil_compiler::discretize::discretize;
use stencil_compiler::model::parse::{Dimensions, dimensions, parse_str_in};

/// A code with line and column, both from 1.
type Found = (String, u32, u32);

#[test]
fn messages_of_wrong_programs_are_pinned() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
    // Mistakes that a text cannot have.
    cases.compile_fail("tests/ui/linked/*.rs");
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let entries = fs::read_dir(&folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut programs: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    programs.sort();
    programs
}

/// Returns the inside of `pde! { .. }`, at the line and column where it is in the program.
fn declaration(program: &str) -> String {
    let (before, rest) = program.split_once("pde! {").expect("a declaration");
    let (inside, _) = rest.rsplit_once("\n}\n\nfn main").expect("its end");
    format!("{}{inside}\n", "\n".repeat(before.matches('\n').count()))
}

/// Returns the errors of a declaration, as the macro finds them.
fn errors(text: &str) -> Diagnostics {
    let dimension = (dimensions(text) == Some(Dimensions::Any)).then_some(1);
    match parse_str_in(text, dimension) {
        Err(errors) => errors,
        Ok(model) => match discretize(&model) {
            Err(error) => Diagnostic::from(error).into(),
            Ok(_) => Diagnostics::new(),
        },
    }
}

/// Returns the errors in a file of expected messages, without those that belong to notes.
fn pinned(messages: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut code: Option<String> = None;
    for line in messages.lines() {
        if let Some(rest) = line.strip_prefix("error: [") {
            code = rest.split_once("] ").map(|(code, _)| code.to_string());
        } else if let Some((_, place)) = line.split_once("--> ")
            && let Some(code) = code.take()
        {
            let mut parts = place.rsplit(':');
            let mut number = || parts.next().and_then(|n| n.parse().ok()).expect("a number");
            let (column, line) = (number(), number());
            if !code.contains(' ') {
                found.push((code, line, column));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn text_has_the_same_errors_at_the_same_places() {
    let programs = programs();
    assert!(programs.len() >= 40, "only {} programs", programs.len());
    for path in programs {
        let text = declaration(&fs::read_to_string(&path).expect("a program"));
        let messages = fs::read_to_string(path.with_extension("stderr")).expect("its messages");
        let name = path.with_extension("pde");
        let name = name.file_name().expect("a name").to_string_lossy();
        let errors = errors(&text);
        let mut found: Vec<Found> = errors
            .iter()
            .map(|e| {
                let start = e.span.start;
                (e.code.text().to_string(), start.line, start.column + 1)
            })
            .collect();
        found.sort();
        assert_eq!(found, pinned(&messages), "{name}");
        assert!(!found.is_empty(), "{name} has no error");
        let rendered = errors.render(&name, &text);
        for ((code, line, column), error) in found.iter().zip(rendered.split("\n\n")) {
            assert!(error.contains('^'), "{error}");
            assert!(rendered.contains(&format!("error[{code}]: ")), "{rendered}");
            let place = format!("--> {name}:{line}:{column}\n");
            assert!(rendered.contains(&place), "{rendered}");
        }
    }
}

/// Every message of these programs, in the order of the programs and of the source.
#[test]
fn most_errors_have_a_way_out() {
    let mut codes: BTreeSet<Code> = BTreeSet::new();
    let (mut all, mut helped) = (0, 0);
    for path in programs() {
        let text = declaration(&fs::read_to_string(&path).expect("a program"));
        for error in &errors(&text) {
            codes.insert(error.code);
            all += 1;
            helped += usize::from(error.help.is_some());
            let first = error.message.chars().next();
            assert!(first.is_some_and(|c| !c.is_uppercase()), "{error}");
            assert!(!error.message.ends_with('.'), "{error}");
        }
    }
    assert!(codes.len() >= 25, "only {} codes", codes.len());
    // The other messages name what they expected: `;`, or one of a list.
    assert!(10 * helped >= 8 * all, "{helped} of {all} have a way out");
}
