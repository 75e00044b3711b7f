//! The Riemann solver of a scheme that names none: the least diffusive one that what is known of the waves allows. The
//! rows of [`riemann`](crate::catalogue) say what each solver needs; the choice walks them.

use super::faces;
use crate::catalogue::riemann::{self, Needs, Solver};
use crate::diag::Diagnostics;
use crate::model::parse::ast::System;
use crate::model::{Model, Scheme};

/// The solver that a scheme gets if it names none, and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultSolver {
    /// Its name in the language.
    pub name: &'static str,
    /// All that is known of the waves of the law, as a sentence without its end.
    pub known: &'static str,
    /// All solvers of the language for which that is enough, the least diffusive first.
    pub allowed: Vec<&'static str>,
}

impl Model {
    /// The solver that one of its schemes gets if it names none: of those for which enough is known of the waves, the one
    /// that needs to know most, and so smears least. Solvers that conflict with other settings of the scheme stand back.
    /// The same along every axis. `None` without fluxes.
    ///
    /// ```
    /// use stencil_compiler::model::parse::parse_str;
    ///
    /// let model = parse_str("system Traffic in 1d { conserved q: scalar; flux q -> [q*(1 - q)]; }")?;
    /// let found = model.default_solver(&model.scheme).ok_or_else(stencil_compiler::diag::Diagnostics::new)?;
    /// assert_eq!(found.name, "roe");
    /// assert_eq!(found.known, "the speeds of all waves follow from the fluxes");
    /// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
    /// ```
    pub fn default_solver(&self, scheme: &Scheme) -> Option<DefaultSolver> {
        if self.fluxes.is_empty() {
            return None;
        }
        let (met, known) = self.known_waves();
        let mut allowed: Vec<&Solver> =
            riemann::ALL.iter().copied().filter(|solver| met.contains(&solver.needs)).collect();
        // Stable, so that equals stay in their order.
        allowed.sort_by_key(|solver| std::cmp::Reverse(solver.needs));
        let candidates = || allowed.iter().filter(|solver| solver.by_default);
        let fits = |solver: &&&Solver| {
            let riemann = solver.name.to_string();
            let scheme = Scheme { riemann, ..scheme.clone() };
            let carries = self.products.is_empty() || solver.combines;
            carries && scheme.conflict(None).is_none()
        };
        let name = candidates().find(fits).or_else(|| candidates().next())?.name;
        Some(DefaultSolver { name, known, allowed: allowed.iter().map(|of| of.name).collect() })
    }

    /// The needs of solvers that are met, and all that is known of the waves in words.
    fn known_waves(&self) -> (Vec<Needs>, &'static str) {
        let mut met = vec![Needs::Nothing];
        if let Some(waves) = &self.waves {
            // They bound all waves, so those of a state between both sides add nothing.
            met.extend([Needs::Radius, Needs::Speeds]);
            if waves.has_contact() && self.carries_contact() {
                met.push(Needs::Contact);
                return (met, "`waves` has the speeds and the contact");
            }
            return (
                met,
                "`waves` bounds the speeds, so none between both sides are added as by `hlle`",
            );
        }
        if let Some(derived) = self.derived_waves() {
            met.extend([Needs::Radius, Needs::Speeds, Needs::Average]);
            if derived.only_bounds.is_some() {
                return (met, "bounds of the speeds of all waves follow from the fluxes");
            }
            met.push(Needs::All);
            return (met, "the speeds of all waves follow from the fluxes");
        }
        if self.declared_radius().is_some() {
            met.push(Needs::Radius);
            return (met, "the `advective` speed of `cfl` bounds the sizes of the speeds");
        }
        (met, "nothing is known of the waves")
    }
}

/// Gives schemes that name no Riemann solver that of the model.
pub(super) fn choose(system: &System, model: &mut Model, diagnostics: &mut Diagnostics) {
    let count = 1 + model.others.len();
    for at in 0..count {
        let Some(scheme) = model.schemes().nth(at).filter(|of| of.riemann.is_empty()) else {
            continue;
        };
        let solver = model.default_solver(scheme).map(|found| found.name.to_string());
        let scheme = match at.checked_sub(1) {
            None => &mut model.scheme,
            Some(other) => &mut model.others[other],
        };
        scheme.riemann = solver.unwrap_or_default();
        let item = system.schemes.iter().find(|item| item.name.text == scheme.name);
        if let Some(item) = item {
            faces::together(system, scheme, &item.settings, diagnostics);
        }
    }
}
