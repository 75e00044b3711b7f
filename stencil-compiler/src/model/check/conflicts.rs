//! Settings of a scheme that do not go together.

use super::faces::AVERAGE;
use crate::catalogue::{integrators, reconstructions, riemann};
use crate::diag::Code;
use crate::model::{Averaged, Scheme, Variables};

/// The reason why settings do not go together.
pub(super) struct Conflict {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) help: String,
    /// Do the reconstructed variables, behind `in`, ask for the others?
    pub(super) of_variables: bool,
}

impl Scheme {
    /// The reason why the settings do not go together, if they do not.
    pub(super) fn conflict(&self) -> Option<Conflict> {
        let conflict = self.conflict_of_waves().or_else(|| self.conflict_of_fluxes());
        conflict.or_else(|| self.conflict_of_average())
    }

    /// The jump of the fluxes of reconstructed states is that of the law made linear between these.
    fn conflict_of_average(&self) -> Option<Conflict> {
        let conflicts = self.average == Averaged::Cells && self.variables != Variables::Fluxes;
        conflicts.then(|| Conflict {
            code: Code::NeedsOthersFluxes,
            message: format!(
                "`{AVERAGE} = cells` goes with reconstructed fluxes, and fluxes of reconstructed states rise by the law between these"
            ),
            help: "reconstruct `in fluxes`, or leave out the average".to_string(),
            of_variables: true,
        })
    }

    fn conflict_of_fluxes(&self) -> Option<Conflict> {
        // A declared solver is made of states.
        let combines = riemann::find(&self.riemann).is_some_and(|solver| solver.combines);
        if self.variables != Variables::Fluxes || combines {
            return None;
        }
        let serving = riemann::ALL.iter().filter(|solver| solver.combines);
        let serving: Vec<String> = serving.map(|own| format!("`{}`", own.name)).collect();
        Some(Conflict {
            code: Code::NeedsOthersFluxes,
            message: format!(
                "`{}` makes fluxes of states, and has no use for reconstructed ones",
                self.riemann
            ),
            help: format!("choose one of {}, or reconstruct `in conserved`", serving.join(", ")),
            of_variables: true,
        })
    }

    fn conflict_of_waves(&self) -> Option<Conflict> {
        let made = reconstructions::find(&self.reconstruct)?;
        // A declared solver knows its own waves only.
        let has_waves = riemann::find(&self.riemann).is_some_and(|own| own.takes_apart);
        let tableau = (integrators::find(&self.time)?.tableau)();
        let missing = if !has_waves {
            format!("a solver that takes jumps apart, and `{}` does not", self.riemann)
        } else if tableau.substeps.len() > 1 {
            format!("whole steps, and `{}` has several in one", self.time)
        } else if self.variables != Variables::Conserved {
            "what is conserved, and no other variables".to_string()
        } else {
            return None;
        };
        made.propagates.then(|| Conflict {
            code: Code::NeedsWholeSteps,
            message: format!("`{}` corrects waves, and needs {missing}", made.name),
            help: "write `reconstruct: waves<limiter = mc>; riemann: roe; time: euler;`, or `riemann: hlle;`"
                .to_string(),
            of_variables: false,
        })
    }
}
