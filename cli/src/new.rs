//! `stencil new`: a package to start from, with a run, a picture and a test that passes.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::{Ended, USAGE, output};

/// Files of the package. `{{..}}` stands for text that differs between packages.
const FILES: [(&str, &str); 8] = [
    ("Cargo.toml", include_str!("new/template/Cargo.toml.in")),
    (".gitignore", "/target\n/out\n"),
    ("README.md", include_str!("new/template/README.md")),
    ("src/lib.rs", include_str!("new/template/src/lib.rs")),
    ("src/main.rs", include_str!("new/template/src/main.rs")),
    ("tests/exact.rs", include_str!("new/template/tests/exact.rs")),
    ("system.pde", include_str!("new/template/system.pde")),
    ("problem.toml", include_str!("new/template/problem.toml")),
];

/// The folder of this package at the time it was compiled.
const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Words that cannot name a package: keywords, and crates that would be hidden.
const TAKEN: &[&str] = &[
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "stencil_runtime",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// Arguments of `stencil new`.
#[derive(Args, Clone, Debug)]
pub(crate) struct NewArgs {
    /// Name of the package: letters, digits, `-` and `_`
    #[arg(value_name = "NAME", value_parser = name)]
    name: String,
    /// Folder to make; NAME in the current folder if not given
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Folder with the sources of this program; by default the one in which it was built
    #[arg(long, value_name = "DIR")]
    source: Option<PathBuf>,
}

/// A name that Cargo and Rust both take.
fn name(text: &str) -> Result<String, String> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let proposal: String = text
        .chars()
        .map(|c| if goes_on(c) { c } else { '-' })
        .skip_while(|c| !c.is_ascii_alphabetic())
        .collect();
    let proposal = proposal.trim_end_matches('-').to_lowercase();
    let way_out = match proposal.as_str() {
        "" => "write a name such as my-waves".to_string(),
        _ => format!("write {proposal}"),
    };
    if !starts {
        return Err(format!("a name begins with a letter; {way_out}"));
    }
    if !text.chars().all(goes_on) {
        return Err(format!("a name has letters, digits, `-` and `_` only; {way_out}"));
    }
    if text.chars().any(|c| c.is_ascii_uppercase()) {
        return Err(format!("a name has no capital letters; {way_out}"));
    }
    if TAKEN.contains(&text.replace('-', "_").as_str()) {
        return Err(format!("this word has a meaning in Rust; write my-{text}"));
    }
    Ok(text.to_string())
}

/// Runs the command.
pub(crate) fn run(args: &NewArgs, out: &mut dyn Write) -> Result<(), Ended> {
    let root = sources(args.source.as_deref())?;
    let folder = args.dir.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    let mut part = folder.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    free(&folder)?;
    free(&part)?;
    let made = fill(args, &root, &part).and_then(|()| appear(&part, &folder));
    made.map_err(|e| {
        let _ = fs::remove_dir_all(&part);
        Ended::unwritten(&folder, &e)
    })?;
    let mut text = String::new();
    for (file, _) in FILES {
        text.push_str(&format!("{}\n", folder.join(file).display()));
    }
    text.push_str(&format!(
        "\nnext:\n  cd {}\n  cargo run --release\n  cargo test\n",
        folder.display()
    ));
    Ok(output::write(out, text.as_bytes())?)
}

/// The folder of the workspace, with the library in it.
fn sources(given: Option<&Path>) -> Result<PathBuf, Ended> {
    let built = Path::new(HERE).parent().unwrap_or(Path::new(HERE));
    let root = given.unwrap_or(built);
    let found = fs::canonicalize(root).ok().filter(|root| {
        root.join("stencil-runtime/Cargo.toml").is_file() && root.to_str().is_some()
    });
    found.ok_or_else(|| Ended {
        code: USAGE,
        message: format!(
            "error: the sources of this program are not in `{}`; a package depends on them by their path: give their folder with --source",
            root.display()
        ),
    })
}

/// Refuses a folder whose files would be overwritten.
fn free(folder: &Path) -> Result<(), Ended> {
    let refused = |what: &str| Ended {
        code: USAGE,
        message: format!(
            "error: {what}; nothing was changed. Choose another name, or another folder with --dir"
        ),
    };
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(refused(&format!("the folder `{}` is not empty", folder.display()))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => Err(refused(&format!("`{}` exists and is no empty folder", folder.display()))),
    }
}

/// Writes all files.
fn fill(args: &NewArgs, root: &Path, folder: &Path) -> io::Result<()> {
    let runtime = root.join("stencil-runtime");
    let runtime = toml_string(&runtime.to_string_lossy());
    for (file, text) in FILES {
        let path = folder.join(file);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let text = text
            .replace("{{name}}", &args.name)
            .replace("{{crate}}", &args.name.replace('-', "_"))
            .replace("{{runtime}}", &runtime);
        fs::write(path, text)?;
    }
    // The versions that the library is tested with, and that are there without a network.
    let lock = root.join("Cargo.lock");
    if lock.is_file() {
        fs::copy(lock, folder.join("Cargo.lock"))?;
    }
    Ok(())
}

/// The folder appears as a whole, in place of an empty one.
fn appear(part: &Path, folder: &Path) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir(folder)?;
    }
    fs::rename(part, folder)
}

/// A string as TOML writes it.
fn toml_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_packages() {
        for good in ["waves", "my-waves", "w2_d"] {
            assert_eq!(name(good), Ok(good.to_string()));
        }
        for (bad, way_out) in [
            ("2waves", "write waves"),
            ("My Waves", "write my-waves"),
            ("Waves", "write waves"),
            ("wave/s", "write wave-s"),
            ("fn", "write my-fn"),
            ("stencil-runtime", "write my-stencil-runtime"),
            ("", "write a name such as"),
            ("...", "write a name such as"),
        ] {
            let message = name(bad).unwrap_err();
            assert!(message.contains(way_out), "{bad}: {message}");
        }
    }

    #[test]
    fn the_same_system_is_declared_in_rust_and_in_text() {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (rust, text) = (FILES[3].1, FILES[6].1);
        assert!(plain(rust).contains(&plain(text)), "{rust}\n{text}");
    }

    #[test]
    fn strings_are_quoted() {
        assert_eq!(toml_string("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000A\"");
    }
}
