//! Output of commands: reports as text or JSON, and files of pictures.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use stencil_report::{Failure, Render};

use crate::{Ended, OUTPUT};

/// Writes to a pipe or terminal. A closed pipe is not a failure.
pub(crate) fn write(out: &mut dyn Write, bytes: &[u8]) -> Result<(), Failure> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("error: the output cannot be written: {error}"))),
    }
}

/// Prints a report as text, or as one JSON object.
pub(crate) fn print(
    report: &impl Render,
    as_json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let text = match as_json {
        true => format!("{:#}\n", report.json()),
        false => report.text(),
    };
    write(out, text.as_bytes())
}

/// Draws the pictures of a report into a folder, as PNG; the files.
pub(crate) fn draw(report: &impl Render, folder: &Path) -> Result<Vec<PathBuf>, Ended> {
    fs::create_dir_all(folder).map_err(|e| Ended::unwritten(folder, &e))?;
    let drawn = report.pictures().into_iter().map(|(name, picture)| {
        let file = folder.join(format!("{name}.png"));
        picture
            .save_png(&file)
            .map_err(|error| Ended { code: OUTPUT, message: format!("error: {error}") })?;
        Ok(file)
    });
    drawn.collect()
}

/// Prints the names of files, a line each.
pub(crate) fn list(files: &[PathBuf], indent: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let lines = files.iter().map(|file| format!("{indent}{}\n", file.display()));
    write(out, lines.collect::<String>().as_bytes())
}

/// Escapes the control characters of a text; line ends and tabs stay.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_who_leaves_is_no_failure() {
        struct Closed(io::ErrorKind);
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert!(write(&mut Closed(io::ErrorKind::BrokenPipe), b"x").is_ok());
        assert!(write(&mut Closed(io::ErrorKind::StorageFull), b"x").is_err());
    }
}
