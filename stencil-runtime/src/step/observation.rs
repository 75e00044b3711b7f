//! Quantities that are evaluated between steps.

use stencil_compiler::algorithm::rows::RowProgram;
use stencil_compiler::discretize::Observation;
use stencil_compiler::model::Reduction;

use crate::Error;

/// Returns the ghost cells that the quantities read.
pub(crate) fn halo_of(observation: &Observation) -> Result<[usize; 3], Error> {
    let program = RowProgram::new(&observation.algorithm, 0);
    let program = program.map_err(Error::Bug)?;
    Ok(program.halo().map(|h| h as usize))
}

/// Returns the quantities that are evaluated together, each with its reduction: observables, and speeds. Groups may be
/// empty.
pub(crate) fn groups(observation: &Observation) -> [Vec<(usize, Reduction)>; 2] {
    let quantities = observation.quantities.iter().enumerate();
    [false, true].map(|speeds| {
        let chosen = quantities.clone();
        let chosen = chosen.filter(|(_, quantity)| quantity.speed.is_some() == speeds);
        chosen.map(|(i, quantity)| (i, quantity.reduction)).collect()
    })
}

/// Returns the word of the language for a power.
pub(crate) fn kind(power: u32) -> &'static str {
    match power {
        1 => "advective",
        2 => "diffusive",
        3 => "dispersive",
        _ => "hyperdiffusive",
    }
}
