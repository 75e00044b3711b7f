//! The settings of a scheme that make fluxes through faces.

use super::scheme::{WITHOUT_WAVES, unknown, without_argument};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::discretize::conserve::{limiters, reconstruct, riemann};
use crate::model::parse::ast::{Name, Setting, System};
use crate::model::{Scheme, Variables};

/// What may be reconstructed.
const VARIABLES: &[(&str, Variables)] = &[
    ("conserved", Variables::Conserved),
    ("primitive", Variables::Primitive),
];

impl Variables {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = VARIABLES.iter().find(|(_, variables)| *variables == self);
        found.map_or("", |(name, _)| name)
    }
}

/// `riemann: hll;` and `reconstruct: plm<limiter = mc> in primitive;`
pub(super) fn setting(
    system: &System,
    scheme: &mut Scheme,
    setting: &Setting,
    diagnostics: &mut Diagnostics,
) {
    let key = &setting.key;
    if system.fluxes.is_empty() {
        let message = format!("`{}` in a scheme of a system without flux", key.text);
        let diagnostic = Diagnostic::new(Code::BadSchemeKey, key.span, message);
        diagnostics.push(diagnostic.help("write `conserved h: ..;` and `flux h -> ..;`"));
    } else if key.text == "riemann" {
        solver(system, scheme, setting, diagnostics);
    } else {
        reconstruction(scheme, setting, diagnostics);
        if let Some(name) = &setting.variables {
            variables(system, scheme, name, diagnostics);
        }
    }
}

fn solver(system: &System, scheme: &mut Scheme, setting: &Setting, diagnostics: &mut Diagnostics) {
    let choice = &setting.choice;
    without_argument(setting, diagnostics);
    let names: Vec<&str> = riemann::ALL.iter().map(|solver| solver.name).collect();
    match riemann::find(&choice.text) {
        None => unknown(choice, "Riemann solver", &names, diagnostics),
        Some(solver) if solver.needs_waves && system.waves.is_none() => {
            let message = format!("`{}` needs the speeds of the waves", solver.name);
            let diagnostic = Diagnostic::new(Code::NeedsWaves, choice.span, message);
            diagnostics.push(diagnostic.help(format!(
                "declare `waves {{ flow: ..; sound: ..; }}`, or choose `{WITHOUT_WAVES}`"
            )));
        }
        Some(solver) => scheme.riemann = solver.name.to_string(),
    }
}

fn reconstruction(scheme: &mut Scheme, setting: &Setting, diagnostics: &mut Diagnostics) {
    let choice = &setting.choice;
    let names: Vec<&str> = reconstruct::ALL.iter().map(|made| made.name).collect();
    let Some(made) = reconstruct::find(&choice.text) else {
        return unknown(choice, "reconstruction", &names, diagnostics);
    };
    scheme.reconstruct = made.name.to_string();
    match &setting.argument {
        None => {}
        Some((key, limiter)) if made.limited && key.text == "limiter" => {
            let names: Vec<&str> = limiters::ALL.iter().map(|l| l.name).collect();
            match names.iter().find(|name| **name == limiter.text) {
                Some(name) => scheme.limiter = name.to_string(),
                None => unknown(limiter, "limiter", &names, diagnostics),
            }
        }
        Some((key, _)) => {
            let message = format!("`{}` has no setting `{}`", made.name, key.text);
            diagnostics.push(Diagnostic::new(Code::BadSchemeKey, key.span, message));
        }
    }
}

/// What stands after `in`.
fn variables(system: &System, scheme: &mut Scheme, name: &Name, diagnostics: &mut Diagnostics) {
    let found = VARIABLES.iter().find(|(known, _)| *known == name.text);
    match found {
        None => {
            let names: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
            unknown(name, "choice of variables", &names, diagnostics);
        }
        Some((_, Variables::Primitive)) if system.primitive.is_none() => {
            let message = format!("`{}` declares no primitives", system.name.text);
            let diagnostic = Diagnostic::new(Code::NeedsPrimitives, name.span, message);
            diagnostics.push(diagnostic.note_at(system.name.span, "the system is here").help(
                "write `primitive { rho; u; m = rho*u; }` into it: what is primitive, and how what is conserved follows",
            ));
        }
        Some((_, chosen)) => scheme.variables = *chosen,
    }
}
