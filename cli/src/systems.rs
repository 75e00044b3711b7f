//! Several systems at once, each in the forms that the command line lists.

use clap::Args;
use stencil_report::Failure;
use stencil_runtime::SystemDef;

use crate::Ended;
use crate::source::{self, MixedChoice, Precision};

/// Systems, their mesh and their forms.
#[derive(Args, Clone, Debug)]
pub(crate) struct SystemsArgs {
    /// Systems by name, or files with declarations
    #[arg(value_name = "SYSTEM|FILE.pde", default_value = "isothermal_ns")]
    systems: Vec<String>,
    /// Number of dimensions of systems `in nd`; 3 for those of files and 2 for those of the library if not given
    #[arg(long, value_name = "N", value_parser = source::dimension())]
    dimension: Option<usize>,
    /// Cells along x, y, z; one number is for all axes
    #[arg(long, value_name = "NX,NY,NZ", value_delimiter = ',', num_args = 1)]
    pub(crate) cells: Vec<usize>,
    /// Precisions of the values
    #[arg(long, value_name = "f32,f64", value_enum, value_delimiter = ',', default_values = ["f32", "f64"])]
    pub(crate) precision: Vec<Precision>,
    /// The meaning of a derivative of a derivative, in place of the declared choice; each in turn
    #[arg(long, value_name = "CHOICE,..", value_enum, value_delimiter = ',')]
    pub(crate) mixed: Vec<MixedChoice>,
}

impl SystemsArgs {
    /// The systems in each form.
    pub(crate) fn systems(&self) -> Result<Vec<SystemDef>, Ended> {
        systems(&self.systems, self.dimension, &self.mixed)
    }
}

/// Systems by name or from files, by each choice of mixed derivatives if any are given.
pub(crate) fn systems(
    names: &[String],
    dimension: Option<usize>,
    mixed: &[MixedChoice],
) -> Result<Vec<SystemDef>, Ended> {
    let mut systems = Vec::new();
    for name in names {
        let declared = source::system(name, dimension)?;
        if mixed.is_empty() {
            systems.push(declared);
            continue;
        }
        for mixed in mixed {
            systems.push(declared.with_mixed(mixed.get())?);
        }
    }
    Ok(systems)
}

/// The systems with differences of each order, if any are given.
pub(crate) fn of_orders(systems: Vec<SystemDef>, orders: &[u32]) -> Result<Vec<SystemDef>, Ended> {
    if orders.is_empty() {
        return Ok(systems);
    }
    for system in &systems {
        if !system.has_differences()? {
            let (name, scheme) = (system.name(), &system.model().scheme.name);
            return Err(Failure::new(format!(
                "`{name}` has no central differences whose order could be another, by its scheme `{scheme}`\n  \
                 help: leave --order out for this system, and give it to the others alone"
            ))
            .into());
        }
    }
    let each =
        systems.iter().flat_map(|system| orders.iter().map(|order| system.with_order(*order)));
    Ok(each.collect::<Result<_, _>>()?)
}
