//! `stencil doctor`: checks whether this machine can run on cards, and lists the missing parts.

use std::io::Write;

use clap::Args;
use stencil_report::machine;

use crate::{Ended, output};

/// Arguments of `stencil doctor`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DoctorArgs {
    /// Measure the rates of each card, and of a link of each kind between them, also if that was done before: about two seconds
    /// a card, on which nothing else should run
    #[arg(long)]
    measure: bool,
}

/// Runs the command.
pub(crate) fn run(args: &DoctorArgs, out: &mut dyn Write) -> Result<(), Ended> {
    Ok(output::write(out, machine::page(args.measure).as_bytes())?)
}
