//! The options of all commands that run a problem.

use clap::Args;

use crate::source::{self, Backend, Precision};

/// Options of a run, and of each run of a sweep.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Common {
    /// A setting in place of the file's, such as mesh.cells=64,64, params.nu=1e-3 or, for the first
    /// `[[plot]]`, plot.1.value=rho; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
    /// A parameter of the system; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE")]
    pub(super) params: Vec<String>,
    /// Number of dimensions of a system `in nd`
    #[arg(long, value_name = "N", value_parser = source::dimension())]
    pub(super) dimension: Option<usize>,
    /// Precision of the values
    #[arg(long, value_enum)]
    pub(super) precision: Option<Precision>,
    /// Number of threads of a run. Without it, one for each core, and fewer for a mesh of a few thousand cells; runs at the same
    /// time share the cores
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<usize>,
    /// The engine that computes the steps; the results are the same
    #[arg(long, value_enum, default_value = "cpu")]
    pub(super) backend: Backend,
    /// The schedule: a preset or a file; the results are the same. Without it a run on a card begins by the preset gpu, and
    /// goes on by the schedule that the performance model picks meanwhile. The next run begins by that
    #[arg(long, value_name = "PRESET|FILE")]
    pub(super) schedule: Option<String>,
}
