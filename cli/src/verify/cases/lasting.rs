//! Runs on several devices whose ghost cells last for several substeps.

use stencil_compiler::compile::{self, Target};
use stencil_compiler::schedule::{Halo, Placement, Schedule};
use stencil_runtime::SystemDef;

use super::{Batch, Grid, KINDS, Origin};
use crate::source::Precision;
use crate::verify::VerifyArgs;

/// From this kind on, functions fill ghost cells beside periodic ends: devices cannot fill those of their neighbours then.
const FUNCTIONS_BESIDE_PERIODIC: usize = 6;

/// Returns runs of a schedule whose ghost cells last for some substeps or all of a step, for each kind of boundaries that they
/// can have, on patches that are large enough; none on one device, or for a step of one substep.
pub(super) fn lasting(
    args: &VerifyArgs,
    (system, origin, precision): (&SystemDef, &Origin, Precision),
    grid: Grid,
    mut schedule: Schedule,
) -> Option<Batch> {
    let devices = args.devices?;
    let algorithm = system.algorithm();
    let substeps = algorithm.substeps.len();
    let ghosts = (2..=substeps).find(|ghosts| substeps.is_multiple_of(*ghosts))?;
    for placement in schedule.placements.values_mut() {
        if let Placement::Global(halo) = placement {
            *halo = Halo::Recompute;
        }
    }
    let deep = Schedule { ghosts, ..schedule.clone() };
    let cut = grid.patches.map(|count| count > 1);
    let target = Target::new(precision.get().bytes()).cut(cut);
    let halo = compile::plan(algorithm, &deep, &target).ok()?.halo();
    let cells = std::array::from_fn(|axis| match cut[axis] {
        true => grid.cells[axis].max(halo[axis] as usize * grid.patches[axis]),
        false => grid.cells[axis],
    });
    let of_kind = |kind: usize| match kind {
        0..FUNCTIONS_BESIDE_PERIODIC => (format!("ghosts = {ghosts}"), deep.clone()),
        _ => ("ghosts = 1".into(), schedule.clone()),
    };
    Some(Batch {
        system: system.clone(),
        origin: origin.clone(),
        precision,
        grid: Grid { cells, ..grid },
        devices,
        schedules: (0..KINDS).map(of_kind).collect(),
    })
}
