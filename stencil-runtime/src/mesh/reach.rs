//! Do boundaries reach as far as ghost cells are read?

use stencil_compiler::algorithm::{Algorithm, NEW};
use stencil_compiler::compile::ScheduleError;
use stencil_compiler::plan::{BufferRole, Launch, Plan};
use stencil_compiler::schedule::Blame;

use super::{Axis, Boundaries, Extension, Face, Patches, Rule};
use crate::{Error, SystemDef};

impl Boundaries {
    /// Do stored grid functions cross only seams that are periodic?
    pub(crate) fn check_exchanges(&self, plan: &Plan) -> Result<(), Error> {
        for (buffers, depth) in plan.fills() {
            let derived = buffers
                .iter()
                .find(|name| plan.buffer(name).is_some_and(|b| b.role == BufferRole::Derived));
            let crossed = Axis::ALL
                .into_iter()
                .find(|a| depth.beyond[a.index()] > 0 && !self.periodic[a.index()]);
            if let (Some(name), Some(axis)) = (derived, crossed) {
                return Err(Error::Boundary {
                    place: format!("{axis}.lo"),
                    reason: format!(
                        "the schedule exchanges the ghost cells of `{name}`, and only fields have boundary conditions"
                    ),
                    help: format!("place `{name} global recompute`, or make {axis} periodic"),
                });
            }
        }
        Ok(())
    }

    /// Can devices compute cells of their neighbours? These are cells of the patches beside theirs, and the values beyond
    /// faces are the same whichever device fills them.
    pub(crate) fn check_redundant(
        &self,
        plan: &Plan,
        patches: &Patches,
    ) -> Result<(), ScheduleError> {
        let refused = |message: String, help: &str| ScheduleError {
            blame: Blame::Nothing,
            kernel: None,
            message,
            help: vec![help.into()],
        };
        let (cut, once) = (patches.cut(), "let ghost cells last for one: `ghosts = 1`");
        for axis in Axis::ALL.into_iter().filter(|axis| cut[axis.index()]) {
            let depths = plan.fills().map(|(_, depth)| depth.towards[axis.index()] as usize);
            let (deepest, cells) = (depths.max().unwrap_or(0), patches.smallest()[axis.index()]);
            if cells < deepest {
                return Err(refused(
                    format!(
                        "the schedule lets ghost cells last for several substeps; they are {deepest} deep along {axis} then, where a patch has {cells} cells"
                    ),
                    "let ghost cells last for fewer substeps, or use fewer devices along the axis",
                ));
            }
        }
        let functions = |rule: &Rule| match rule {
            Rule::Dirichlet(number) | Rule::Neumann(number) => number.is_function(),
            Rule::Extended(extension) => extension.number.is_function(),
            _ => false,
        };
        let turns = Axis::ALL.into_iter().find(|a| cut[a.index()] && self.periodic[a.index()]);
        let mut rules = self.rules.iter().flatten().flatten();
        if self.reads_others() {
            return Err(refused(
                "the schedule lets ghost cells last for several substeps, and a boundary is a function of several components: devices cannot fill it beside cells of others".into(),
                once,
            ));
        }
        match turns.filter(|_| rules.any(functions)) {
            Some(axis) => Err(refused(
                format!(
                    "the schedule lets ghost cells last for several substeps, and values on a face are a function, which need not be the same across the periodic ends of {axis}"
                ),
                once,
            )),
            None => Ok(()),
        }
    }

    /// Have the patches beside faces as many cells as the rules read? `halo` are ghost cells that are read outside
    /// of the plan.
    pub(crate) fn check_depth(
        &self,
        system: &SystemDef,
        plan: &Plan,
        halo: [usize; 3],
        patches: &Patches,
    ) -> Result<(), Error> {
        let components = system.components();
        let depth =
            |name: &str, axis: usize| (plan.read_beyond(name)[axis] as usize).max(halo[axis]);
        let fields = components.iter().map(|component| &component.name);
        for (name, rules) in fields.chain(&self.sources).zip(&self.rules) {
            for face in Face::ALL {
                let axis = face.axis.index();
                let cells = patches.smallest()[axis];
                let deepest = components.iter().map(|c| depth(&c.name, axis)).max();
                let depth = match deepest {
                    Some(deepest) if self.reads_others() => deepest,
                    Some(_) | None => depth(name, axis),
                };
                let rule = &rules[axis][face.side as usize];
                let (needed, how) = match rule {
                    _ if depth == 0 => continue,
                    Rule::Periodic => continue,
                    Rule::Nearest | Rule::Linear(_) => (1, "repeats a cell".to_string()),
                    Rule::Extended(Extension { deepest, .. }) if depth > *deepest => {
                        return Err(Error::Boundary {
                            place: format!("`{}` at {face}", name),
                            reason: format!(
                                "it is read {depth} cells beyond the face, and ghost values go on for {deepest}"
                            ),
                            help: "choose a lower order, more cells, or another boundary".into(),
                        });
                    }
                    Rule::Extended(extension) => {
                        let cells = extension.read(depth);
                        (cells, format!("extrapolates {cells} cells"))
                    }
                    Rule::Mirror { .. }
                    | Rule::Dirichlet(_)
                    | Rule::Neumann(_)
                    | Rule::Custom(_) => (depth, format!("mirrors {depth} cells")),
                };
                if cells < needed {
                    let reader = reader(system.algorithm(), plan, name, axis);
                    let [there, give] = match patches.counts[axis] {
                        1 => ["there are", "at least"],
                        _ => ["a patch has", "each patch at least"],
                    };
                    return Err(Error::Boundary {
                        place: format!("`{}` at {face}", name),
                        reason: format!(
                            "it {how}{reader}, and {there} {cells} along {}",
                            face.axis
                        ),
                        help: format!(
                            "give {give} {needed} cells along {}, or another boundary",
                            face.axis
                        ),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Returns the equation that reads a component farthest along an axis, for a message.
fn reader(algorithm: &Algorithm, plan: &Plan, name: &str, axis: usize) -> String {
    let reach = |launch: &&Launch| {
        let read = launch.inputs.iter().find(|(n, _)| n == name);
        read.map_or(0, |(_, reach)| launch.beyond(*reach)[axis])
    };
    let Some(launch) = plan.launches.iter().max_by_key(reach) else {
        return String::new();
    };
    let stored = plan.buffers.iter().filter(|b| b.role == BufferRole::Derived);
    let stored = stored.filter_map(|b| algorithm.find(&b.name)).collect();
    let far = |function: &str| {
        let id = algorithm.find(function)?;
        let read = stencil_compiler::algorithm::footprint::bounds(algorithm, &[id], &stored);
        Some(read.get(&algorithm.find(name)?)?.radius()[axis])
    };
    let farthest = launch.outputs.iter().rev().max_by_key(|(_, function)| far(function));
    match farthest {
        Some((buffer, _)) => match buffer.strip_suffix(NEW) {
            Some(field) => format!(" for the equation of `{field}`"),
            None => format!(" for `{buffer}`"),
        },
        None => String::new(),
    }
}
