//! The reconstruction of a scheme: `reconstruct: plm<limiter = mc> in primitive;`

use super::faces::{parameter, within};
use super::scheme::unknown;
use crate::catalogue::{limiters, reconstructions};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::expr::Rational;
use crate::model::parse::ast::{Name, Setting, System};
use crate::model::parse::number;
use crate::model::{Scheme, Variables};

/// The variables that may be reconstructed.
const VARIABLES: &[(&str, Variables)] = &[
    ("conserved", Variables::Conserved),
    ("primitive", Variables::Primitive),
    ("characteristic", Variables::Characteristic),
    ("fluxes", Variables::Fluxes),
];

/// The setting of a parabola whose states are traced, and its one value.
const FOLLOW: &str = "follow";
const ALONG: &str = "characteristics";

impl Variables {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = VARIABLES.iter().find(|(_, variables)| *variables == self);
        found.map_or("", |(name, _)| name)
    }
}

/// Reads `plm<limiter = mc>`.
pub(super) fn reconstruction(
    scheme: &mut Scheme,
    setting: &Setting,
    diagnostics: &mut Diagnostics,
) {
    let choice = &setting.choice;
    let names: Vec<&str> = reconstructions::ALL.iter().map(|made| made.name).collect();
    let Some(made) = reconstructions::find(&choice.text) else {
        return unknown(choice, "reconstruction", &names, diagnostics);
    };
    scheme.reconstruct = made.name.to_string();
    (scheme.reconstruct_parameter, scheme.traces) = (None, false);
    if made.parameter.is_some() {
        scheme.reconstruct_parameter =
            parameter(made.name, made.parameter, &[], setting, diagnostics);
        return;
    }
    for (i, (key, value)) in setting.arguments.iter().enumerate() {
        let mut earlier = setting.arguments[..i].iter();
        let twice = earlier.any(|(other, _)| other.text == key.text);
        match key.text.as_str() {
            "limiter" if made.limited && !twice => {
                let names: Vec<&str> = limiters::ALL.iter().map(|l| l.name).collect();
                match names.iter().find(|name| **name == value.text) {
                    Some(name) => scheme.limiter = name.to_string(),
                    None => return unknown(value, "limiter", &names, diagnostics),
                }
            }
            "theta" if made.limited && !twice => scheme.theta = theta(value, diagnostics),
            FOLLOW if made.bends && !twice => match value.text == ALONG {
                true => scheme.traces = true,
                false => {
                    return unknown(value, "way of states through a step", &[ALONG], diagnostics);
                }
            },
            _ => {
                let again = if twice { " a second time" } else { "" };
                let message = format!("`{}` has no setting `{}`{again}", made.name, key.text);
                diagnostics.push(Diagnostic::new(Code::BadSchemeKey, key.span, message));
            }
        }
    }
    if made.limited {
        has_its_theta(scheme, setting, diagnostics);
    }
    if made.limited && !made.propagates {
        limits_slopes(scheme, setting, diagnostics);
    }
}

/// Reports a limiter that is of waves alone.
fn limits_slopes(scheme: &Scheme, setting: &Setting, diagnostics: &mut Diagnostics) {
    if !limiters::find(&scheme.limiter).is_some_and(|limiter| limiter.is_of_waves) {
        return;
    }
    let (made, limiter) = (&scheme.reconstruct, &scheme.limiter);
    let message = format!("`{limiter}` leaves waves whole, and `{made}` makes slopes of cells");
    let diagnostic = Diagnostic::new(Code::BadSchemeKey, setting.choice.span, message);
    diagnostics.push(diagnostic.help(format!(
        "write `{made}<limiter = central>`, whose slopes have no limit, or `waves<limiter = {limiter}>`"
    )));
}

/// Reports a limiter without its parameter, and a parameter without its limiter.
fn has_its_theta(scheme: &Scheme, setting: &Setting, diagnostics: &mut Diagnostics) {
    let needs = limiters::find(&scheme.limiter).is_some_and(|limiter| limiter.has_theta);
    let given = setting.arguments.iter().find(|(key, _)| key.text == "theta");
    let (message, span) = match given {
        None if needs => (format!("`{}` needs `theta`", scheme.limiter), setting.choice.span),
        Some((key, _)) if !needs => (format!("`{}` has no `theta`", scheme.limiter), key.span),
        _ => return,
    };
    let diagnostic = Diagnostic::new(Code::BadSchemeKey, span, message);
    let limiter = match needs {
        true => scheme.limiter.as_str(),
        false => limiters::GENERALIZED_MINMOD.name,
    };
    diagnostics.push(diagnostic.help(format!("write `plm<limiter = {limiter}, theta = 1.3>`")));
}

/// A parameter of a limiter; `None` after an error.
fn theta(value: &Name, diagnostics: &mut Diagnostics) -> Option<Rational> {
    let found = number::parse(&value.text).ok();
    let found = found.filter(|theta| limiters::THETA.contains(theta));
    if found.is_none() {
        let message = format!("`theta` is a number from 1 to 2, and this is `{}`", value.text);
        diagnostics.push(Diagnostic::new(Code::UnknownChoice, value.span, message));
    }
    found
}

/// Reads the name behind `in`.
pub(super) fn variables(
    system: &System,
    scheme: &mut Scheme,
    name: &Name,
    diagnostics: &mut Diagnostics,
) {
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

impl Scheme {
    /// The reconstruction with its limiter or its number, and variables, as it is written.
    pub fn reconstruction_text(&self) -> String {
        let limiter = self.limiter_text();
        let limiter = limiter.map_or(String::new(), |text| format!("<limiter = {text}>"));
        let (settings, variables) = (self.settings_text(), self.variables_text());
        format!("{}{limiter}{settings}{variables}", self.reconstruct)
    }

    /// The settings of the reconstruction in brackets, but for its limiter, where the scheme says them.
    pub(crate) fn settings_text(&self) -> String {
        let number = reconstructions::find(&self.reconstruct).and_then(|made| made.parameter);
        let number = number.and_then(|own| own.text(self.reconstruct_parameter.as_ref()));
        let trace = self.traces.then(|| format!("{FOLLOW} = {ALONG}"));
        within(number.into_iter().chain(trace))
    }

    /// The reconstructed variables, as they are written after a reconstruction; empty for the default.
    pub(crate) fn variables_text(&self) -> String {
        match self.variables {
            Variables::Conserved => String::new(),
            other => format!(" in {}", other.name()),
        }
    }

    /// The limiter with its parameter as it is written, if the reconstruction takes one.
    pub fn limiter_text(&self) -> Option<String> {
        let made = reconstructions::find(&self.reconstruct)?;
        let theta = self.theta.as_ref().and_then(number::print);
        let theta = theta.map_or(String::new(), |theta| format!(", theta = {theta}"));
        made.limited.then(|| format!("{}{theta}", self.limiter))
    }
}
