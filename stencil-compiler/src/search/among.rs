//! Schedules that differ in the way in which devices that share a mesh get values from each other.

use crate::algorithm::Algorithm;
use crate::schedule::{Overlap, Schedule};

/// Returns the schedules that differ from one in the [overlap](Overlap) of devices that share the mesh, or in the substeps that
/// their ghost cells last for. On one device all of them are the same.
///
/// ```
/// use stencil_compiler::discretize::discretize;
/// use stencil_compiler::model::parse::parse_str;
/// use stencil_compiler::{schedule, search};
///
/// let model = parse_str("system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
///     scheme s for Heat { space: central<order = 2>; time: rk3_williamson; }")?;
/// let schedule = schedule::text::parse("schedule overlap rim kernel direct")?;
/// let others = search::among_devices(&discretize(&model)?, &schedule);
/// let lines: Vec<_> = others.iter().map(|s| (s.overlap.map(|o| o.word()), s.ghosts)).collect();
/// assert_eq!(lines, [(Some("store"), 1), (Some("none"), 1), (Some("rim"), 3)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn among_devices(algorithm: &Algorithm, schedule: &Schedule) -> Vec<Schedule> {
    let overlaps = Overlap::ALL.into_iter().map(|overlap| (Some(overlap), schedule.ghosts));
    // Devices exchange values before each substep, or each group of fused ones, or before some of them.
    let substeps = schedule.problem(algorithm).map_or(0, |problem| problem.substeps.len());
    let lasting = (1..=substeps).filter(|ghosts| substeps.is_multiple_of(*ghosts));
    let lasting = lasting.map(|ghosts| (schedule.overlap, ghosts));
    let with = |(overlap, ghosts)| Schedule { overlap, ghosts, ..schedule.clone() };
    overlaps.chain(lasting).map(with).filter(|other| other != schedule).collect()
}
