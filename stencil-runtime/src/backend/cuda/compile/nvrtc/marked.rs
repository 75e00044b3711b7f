//! Compiles texts with marks: machine code knows the lines of the declaration, and messages name
//! both the line of the text and that of the declaration.

use stencil_compiler::emit::Marked;

use super::{Compiled, Nvrtc, NvrtcError};

/// Writes a table from instructions to lines into the machine code, and nothing else.
const LINES: &str = "--generate-line-info";

impl Nvrtc {
    /// Compiles a text with marks to machine code that profilers can lead back to the declaration.
    /// `name` stands for the file name of the text. See [`compile`](Self::compile).
    pub fn compile_marked(
        &self,
        marked: &Marked,
        name: &str,
        arch: &str,
    ) -> Result<Compiled, NvrtcError> {
        let compiled = self.compile_with(&marked.text, name, arch, &[LINES]);
        let has_messages = match &compiled {
            Ok(compiled) => warns(&compiled.log),
            Err(NvrtcError::Compile { .. }) => true,
            Err(_) => false,
        };
        if !has_messages {
            return compiled;
        }
        // Marks hide the lines of the text, so it is compiled again without them for their messages.
        let again = self.compile_with(&marked.without_marks(), name, arch, &[]);
        match (compiled, again) {
            (Ok(compiled), Ok(Compiled { log, .. })) => {
                Ok(Compiled { log: with_places(&log, name, marked), ..compiled })
            }
            (
                Err(NvrtcError::Compile { .. }),
                Err(NvrtcError::Compile { name, arch, reason, log }),
            ) => Err(NvrtcError::Compile {
                log: with_places(&log, &name, marked),
                name,
                arch,
                reason,
            }),
            (first, _) => first,
        }
    }
}

fn warns(log: &str) -> bool {
    log.lines().any(|line| line.contains("): warning"))
}

/// The log with the place in the declaration behind each line of the text: `k.cu(57) [heat.pde:12]`.
fn with_places(log: &str, name: &str, marked: &Marked) -> String {
    let placed = |line: &str| -> Option<String> {
        let (number, rest) = line.strip_prefix(name)?.strip_prefix('(')?.split_once(')')?;
        let (file, declared) = marked.place(number.parse().ok()?)?;
        Some(format!("{name}({number}) [{file}:{declared}]{rest}"))
    };
    let lines = log.lines();
    let lines = lines.map(|line| placed(line).unwrap_or_else(|| line.to_string()));
    lines.flat_map(|line| [line, "\n".to_string()]).collect()
}
