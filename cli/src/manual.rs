//! `stencil completions` and `stencil man`: the command line for shells and for `man`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::{Ended, OUTPUT, output};

/// The shell.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell; bash reads them by `source <(stencil completions bash)`
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Arguments of `stencil man`.
#[derive(Args, Clone, Debug)]
pub(crate) struct ManArgs {
    /// Folder for the pages, such as ~/.local/share/man/man1; created if it does not exist
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the completions of a shell.
pub(crate) fn completions(
    args: &CompletionsArgs,
    mut command: Command,
    out: &mut dyn Write,
) -> Result<(), Ended> {
    let mut text = Vec::new();
    let name = command.get_name().to_string();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    Ok(output::write(out, &text)?)
}

/// Writes a page for the command and one for each of its subcommands; their paths go to `out`.
pub(crate) fn man(args: &ManArgs, mut command: Command, out: &mut dyn Write) -> Result<(), Ended> {
    // Subcommands then know their full names.
    command.build();
    let unwritten = |path: &Path, error: std::io::Error| Ended {
        code: OUTPUT,
        message: format!("error: `{}` cannot be written: {error}", path.display()),
    };
    fs::create_dir_all(&args.folder).map_err(|e| unwritten(&args.folder, e))?;
    let all = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    let pages: Vec<Command> = [&command].into_iter().chain(all).cloned().collect();
    let mut paths = String::new();
    for page in pages {
        let page = clap_mangen::Man::new(page);
        let path = args.folder.join(page.get_filename());
        let mut text = Vec::new();
        page.render(&mut text).map_err(|e| unwritten(&path, e))?;
        fs::write(&path, text).map_err(|e| unwritten(&path, e))?;
        paths += &format!("{}\n", path.display());
    }
    Ok(output::write(out, paths.as_bytes())?)
}
