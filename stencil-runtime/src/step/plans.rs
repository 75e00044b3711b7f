//! The plans of a run.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::discretize::Observation;
use stencil_compiler::plan::{BufferRole, Plan};

/// The plans of a run: of single steps, and, if there is one, of several steps at once, on the same arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plans<'a> {
    /// The problem and the plan of a step.
    pub(crate) single: (&'a Algorithm, &'a Plan),
    pub(crate) fused: Option<&'a Fused>,
    /// Quantities that are evaluated between steps.
    pub(crate) watched: Option<&'a Observation>,
}

impl<'a> Plans<'a> {
    /// Returns each plan with its problem, single steps first.
    pub(crate) fn all(self) -> impl Iterator<Item = (&'a Algorithm, &'a Plan)> {
        let fused = self.fused.map(|fused| (&fused.problem, &fused.plan));
        std::iter::once(self.single).chain(fused)
    }
}

/// The plan of fused substeps.
#[derive(Clone, Debug)]
pub(crate) struct Fused {
    /// The problem that it is a plan of.
    pub(crate) problem: Algorithm,
    pub(crate) plan: Plan,
}

impl Fused {
    /// Have both plans the same arrays? They use the same memory in turn.
    pub(crate) fn fits(&self, single: &Plan) -> bool {
        let arrays = |plan: &Plan| -> Vec<(String, BufferRole, usize)> {
            let buffers = plan.buffers.iter().enumerate();
            let all = buffers.map(|(at, b)| (b.name.clone(), b.role, plan.memory_of(at)));
            all.collect()
        };
        arrays(&self.plan) == arrays(single)
    }
}
