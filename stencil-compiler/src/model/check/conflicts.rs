//! Settings of a scheme that do not go together.

use super::faces::AVERAGE;
use crate::catalogue::predictors::{self, Forecast};
use crate::catalogue::riemann::Solver;
use crate::catalogue::{integrators, reconstructions, riemann};
use crate::diag::Code;
use crate::model::{Averaged, Scheme, Sweep, Variables};

/// The reason why settings do not go together.
pub(super) struct Conflict {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) help: String,
    /// Do the reconstructed variables, behind `in`, ask for the others?
    pub(super) of_variables: bool,
}

impl Scheme {
    /// The reason why the settings do not go together, if they do not; `own` is the row of the solver if the system declares it.
    pub(super) fn conflict(&self, own: Option<&Solver>) -> Option<Conflict> {
        let by = [Some(&self.riemann), self.fallback.as_ref()];
        let mut of_fluxes = by.into_iter().flatten().map(|solver| self.conflict_of_fluxes(solver));
        let conflict = self.conflict_of_waves(own).or_else(|| of_fluxes.find_map(|found| found));
        conflict.or_else(|| self.conflict_of_average()).or_else(|| self.conflict_of_tracing())
    }

    /// States are traced to the middle of a step, where a forecast asks for them.
    fn conflict_of_tracing(&self) -> Option<Conflict> {
        let moves_faces = matches!(self.forecast(), Some(Forecast::Faces | Forecast::Corners));
        (self.traces && !moves_faces).then(|| Conflict {
            code: Code::NeedsForecasts,
            message: format!(
                "`follow` moves states at faces to the middle of the step, and `{}` asks for none there",
                self.time
            ),
            help: "write `time: muscl_hancock;` or `time: corner_transport;`, or leave out `follow`"
                .to_string(),
            of_variables: false,
        })
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

    fn conflict_of_fluxes(&self, solver: &str) -> Option<Conflict> {
        // A declared solver is made of states.
        let combines = riemann::find(solver).is_some_and(|solver| solver.combines);
        if self.variables != Variables::Fluxes || combines {
            return None;
        }
        let serving = riemann::ALL.iter().filter(|solver| solver.combines);
        let serving: Vec<String> = serving.map(|own| format!("`{}`", own.name)).collect();
        Some(Conflict {
            code: Code::NeedsOthersFluxes,
            message: format!(
                "`{solver}` makes fluxes of states, and has no use for reconstructed ones"
            ),
            help: format!("choose one of {}, or reconstruct `in conserved`", serving.join(", ")),
            of_variables: true,
        })
    }

    /// The reason why a forecast does not go with the system, or with other settings; `has_fluxes` and `has_faces` if the system
    /// declares fluxes, and values that both sides of a face share.
    pub(super) fn conflict_of_forecast(
        &self,
        has_fluxes: bool,
        has_faces: bool,
    ) -> Option<Conflict> {
        let forecast = self.forecast()?;
        let of_faces = forecast != Forecast::Cells;
        let (missing, help) = if !has_fluxes {
            ("fluxes through faces, and the system declares none", "write `time: ssprk2;`")
        } else if of_faces && has_faces {
            (
                "states at faces, and `face { .. }` recomputes these on the way of a slope",
                "write `time: van_leer;`",
            )
        } else if of_faces && self.variables == Variables::Fluxes {
            (
                "states at faces, and these fluxes are not made of them",
                "write `time: van_leer;`, or reconstruct `in conserved`",
            )
        } else {
            return None;
        };
        Some(Conflict {
            code: Code::NeedsForecasts,
            message: format!("`{}` forecasts {missing}", self.time),
            help: help.to_string(),
            of_variables: false,
        })
    }

    /// The values that the time integrator forecasts, if it forecasts any.
    pub(crate) fn forecast(&self) -> Option<Forecast> {
        predictors::find(&self.time).map(|predictor| predictor.forecast)
    }

    fn conflict_of_waves(&self, own: Option<&Solver>) -> Option<Conflict> {
        let made = reconstructions::find(&self.reconstruct)?;
        let solver = riemann::find(&self.riemann).or(own);
        let has_waves = solver.is_some_and(|solver| solver.takes_apart);
        let tableau = (integrators::find(&self.time)?.tableau)();
        let missing = if !has_waves {
            format!("a solver that takes jumps apart, and `{}` does not", self.riemann)
        } else if tableau.substeps.len() > 1 {
            format!("whole steps, and `{}` has several in one", self.time)
        } else if self.fallback.is_some() {
            "one solver at all faces".to_string()
        } else if self.variables != Variables::Conserved {
            "what is conserved, and no other variables".to_string()
        } else if made.sweeps && self.sweep == Sweep::Unsplit {
            "a sweep along each axis, such as `sweep: alternating`".to_string()
        } else {
            return None;
        };
        made.propagates.then(|| Conflict {
            code: Code::NeedsWholeSteps,
            message: format!("`{}` corrects waves, and needs {missing}", made.name),
            help: format!(
                "write `reconstruct: {}<limiter = mc>; riemann: roe; time: euler;`, or `riemann: hlle;`, or declare a solver by its waves",
                made.name
            ),
            of_variables: false,
        })
    }
}
