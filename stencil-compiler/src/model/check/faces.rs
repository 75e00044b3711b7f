//! The settings of a scheme that make fluxes through faces.

use super::paths;
use super::reconstruction;
use super::scheme::{chosen, unknown, without_argument};
use super::solver_waves::gives;
use crate::catalogue::riemann;
use crate::catalogue::riemann::{Needs, Parameter};
use crate::diag::{Code, Diagnostic, Diagnostics, Span};
use crate::expr::Rational;
use crate::model::parse::ast::{Name, Setting, System};
use crate::model::parse::{number, parse_str};
use crate::model::riemann::row;
use crate::model::{Averaged, Gives, Repair, RiemannSolver, Scheme, Splitting, Sweep};

/// The orders in which axes are swept.
const SWEEPS: &[(&str, Sweep)] = &[
    ("unsplit", Sweep::Unsplit),
    ("alternating", Sweep::Alternating),
    ("dimensional", Sweep::Dimensional),
    ("strang", Sweep::Strang),
];

/// The ways to combine fluxes and other terms.
const SPLITTINGS: &[(&str, Splitting)] = &[
    ("unsplit", Splitting::Unsplit),
    ("godunov", Splitting::Godunov),
    ("strang", Splitting::Strang),
];

/// The ways to keep ranges.
const REPAIRS: &[(&str, Repair)] = &[("fluxes", Repair::Fluxes), ("none", Repair::Nothing)];

/// The states at which the law is linearized at a face.
const AVERAGES: &[(&str, Averaged)] = &[("faces", Averaged::Faces), ("cells", Averaged::Cells)];

/// The setting of a solver that chooses between these.
pub(super) const AVERAGE: &str = "average";

/// The setting of a solver that gives the one for faces where it fails.
const ELSE: &str = "else";

impl Repair {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = REPAIRS.iter().find(|(_, repair)| *repair == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Sweep {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = SWEEPS.iter().find(|(_, sweep)| *sweep == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Splitting {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = SPLITTINGS.iter().find(|(_, source)| *source == self);
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
    } else if key.text == "sweep" {
        let found = chosen(setting, "sweep", SWEEPS, diagnostics);
        scheme.sweep = found.unwrap_or(scheme.sweep);
    } else if key.text == "source" {
        let found = chosen(setting, "splitting", SPLITTINGS, diagnostics);
        scheme.source = found.unwrap_or(scheme.source);
    } else if key.text == "repair" {
        let found = chosen(setting, "repair", REPAIRS, diagnostics);
        scheme.repair = found.unwrap_or(scheme.repair);
    } else if key.text == "path" {
        paths::path(scheme, setting, diagnostics);
    } else {
        reconstruction::reconstruction(scheme, setting, diagnostics);
        if let Some(name) = &setting.variables {
            reconstruction::variables(system, scheme, name, diagnostics);
        }
    }
}

fn solver(system: &System, scheme: &mut Scheme, setting: &Setting, diagnostics: &mut Diagnostics) {
    let choice = &setting.choice;
    let own = system.solvers.iter().map(|own| own.name.text.as_str());
    (scheme.average, scheme.fallback) = (Averaged::Faces, None);
    if let Some(own) = system.solvers.iter().find(|own| own.name.text == choice.text) {
        (scheme.riemann, scheme.riemann_parameter) = (choice.text.clone(), None);
        let has_ranges = !system.ranges.is_empty();
        if let Some(why) = gives(own).no_fallback(own.waves.len(), has_ranges) {
            return without_fallback(setting, why, diagnostics);
        }
        let others: Vec<&str> = riemann::ALL.iter().map(|solver| solver.name).collect();
        fallback(system, scheme, setting, &others, diagnostics);
        parameter(&choice.text, None, &[ELSE], setting, diagnostics);
        return;
    }
    let known = riemann::ALL.iter().map(|solver| solver.name);
    let names: Vec<&str> = known.chain(own).collect();
    let Some(solver) = riemann::find(&choice.text) else {
        return unknown(choice, "Riemann solver", &names, diagnostics);
    };
    if solver.falls_back() {
        let others: Vec<&str> = names.iter().copied().filter(|name| *name != solver.name).collect();
        fallback(system, scheme, setting, &others, diagnostics);
    }
    if solver.averages()
        && let Some((_, value)) = setting.arguments.iter().find(|(key, _)| key.text == AVERAGE)
    {
        let found = AVERAGES.iter().find(|(name, _)| *name == value.text);
        let names: Vec<&str> = AVERAGES.iter().map(|(name, _)| *name).collect();
        match found {
            Some((_, found)) => scheme.average = *found,
            None => unknown(value, "choice of states", &names, diagnostics),
        }
    }
    let (name, own) = (solver.name, solver.parameter);
    let words = [(AVERAGE, solver.averages()), (ELSE, solver.falls_back())];
    let words: Vec<&str> = words.iter().filter(|(_, has)| *has).map(|(word, _)| *word).collect();
    scheme.riemann_parameter = parameter(name, own, &words, setting, diagnostics);
    if has_contact(system, solver.name, choice.span, diagnostics) {
        scheme.riemann = solver.name.to_string();
    }
}

/// Reports all settings of a declared solver that no other one takes the place of, and the reason.
fn without_fallback(setting: &Setting, why: &str, diagnostics: &mut Diagnostics) {
    let Some((key, _)) = setting.arguments.iter().find(|(key, _)| key.text == ELSE) else {
        return without_argument(setting, diagnostics);
    };
    let message = format!("`{}` has no setting `{ELSE}`: {why}", setting.choice.text);
    diagnostics.push(Diagnostic::new(Code::BadSchemeKey, key.span, message));
}

/// Reads the solver for faces where the chosen one fails, if there is one: one of these.
fn fallback(
    system: &System,
    scheme: &mut Scheme,
    setting: &Setting,
    others: &[&str],
    diagnostics: &mut Diagnostics,
) {
    let Some((_, value)) = setting.arguments.iter().find(|(key, _)| key.text == ELSE) else {
        return;
    };
    if !others.contains(&value.text.as_str()) {
        return unknown(value, "other Riemann solver", others, diagnostics);
    }
    if has_contact(system, &value.text, value.span, diagnostics) {
        scheme.fallback = Some(value.text.clone());
    }
}

/// Does a system declare all that a solver of this name needs of a contact? Reports parts that are missing.
fn has_contact(system: &System, name: &str, span: Span, diagnostics: &mut Diagnostics) -> bool {
    let needs = riemann::find(name).is_some_and(|solver| solver.needs == Needs::Contact);
    let given = |kind: &str| system.wave_speeds.iter().any(|part| part.kind.text == kind);
    let missing: Vec<&str> =
        ["flow", "density", "pressure"].into_iter().filter(|kind| !given(kind)).collect();
    if !needs || missing.is_empty() {
        return true;
    }
    let message = format!("`{name}` needs `{}` in `waves`", missing.join("`, `"));
    let mut diagnostic = Diagnostic::new(Code::NeedsContact, span, message);
    if let Some(waves) = system.waves {
        diagnostic = diagnostic.note_at(waves, "the waves are here");
    }
    diagnostics.push(
        diagnostic.help(
            "write `waves { flow: u; sound: c; density: rho; pressure: p; }`, or choose `hll`",
        ),
    );
    false
}

/// `<fix = 0.1>` behind a name, which may have this parameter and settings that are words; `None` without it, or after an
/// error.
pub(super) fn parameter(
    name: &str,
    parameter: Option<&Parameter>,
    words: &[&str],
    setting: &Setting,
    diagnostics: &mut Diagnostics,
) -> Option<Rational> {
    let mut found = None;
    for (i, (key, value)) in setting.arguments.iter().enumerate() {
        let mut earlier = setting.arguments[..i].iter();
        let twice = earlier.any(|(other, _)| other.text == key.text);
        let own = parameter.filter(|own| own.name == key.text);
        let known = own.is_some() || words.contains(&key.text.as_str());
        if !known || twice {
            let again = if known { " a second time" } else { "" };
            let message = format!("`{name}` has no setting `{}`{again}", key.text);
            diagnostics.push(Diagnostic::new(Code::BadSchemeKey, key.span, message));
        } else if let Some(own) = own {
            found = number(own, value, diagnostics);
        }
    }
    found
}

/// A number that fits a parameter; `None` after an error.
fn number(own: &Parameter, value: &Name, diagnostics: &mut Diagnostics) -> Option<Rational> {
    let found = number::parse(&value.text).ok();
    let found = found.filter(|value| own.fits(value));
    if found.is_none() {
        let bounds = [own.range.start(), own.range.end()];
        let [least, most] = bounds.map(|bound| number::print(bound).unwrap_or_default());
        let kind = if own.whole { "whole number" } else { "number" };
        let message = format!(
            "`{}` is a {kind} from {least} to {most}, and this is `{}`",
            own.name, value.text
        );
        diagnostics.push(Diagnostic::new(Code::UnknownChoice, value.span, message));
    }
    found
}

/// A law that goes with every solver and reconstruction.
const ANY_LAW: &str =
    "system Any in 1d { conserved q: scalar; let p = q; flux q -> [q]; primitive { q; }
    waves { flow: [q]; density: q; pressure: p; } }
    scheme any for Any";

/// Reports settings that do not go together, at the one that asks for the others.
pub(super) fn together(
    system: &System,
    scheme: &Scheme,
    settings: &[Setting],
    diagnostics: &mut Diagnostics,
) {
    let own = system.solvers.iter().find(|own| own.name.text == scheme.riemann);
    let Some(conflict) = scheme.conflict(own.map(|own| row(!own.waves.is_empty()))) else {
        return;
    };
    let asks = settings.iter().find(|s| s.key.text == "reconstruct");
    let asks = asks.map(|setting| match &setting.variables {
        Some(variables) if conflict.of_variables => variables.span,
        _ => setting.choice.span,
    });
    let diagnostic = Diagnostic::new(conflict.code, asks.unwrap_or_default(), conflict.message);
    diagnostics.push(diagnostic.help(conflict.help));
}

impl Scheme {
    /// The scheme with another setting for fluxes, as the language has it: `riemann` and a solver, `reconstruct` and
    /// its value, `sweep`, `source`, `repair` or `path`. `solvers` are those that the system declares.
    ///
    /// ```
    /// use stencil_compiler::model::Scheme;
    ///
    /// let scheme = Scheme::default().with_fluxes("reconstruct", "plm<limiter = minmod> in primitive", &[])?;
    /// assert_eq!(scheme.reconstruction_text(), "plm<limiter = minmod> in primitive");
    /// assert_eq!(scheme.with_fluxes("riemann", "hllc", &[])?.riemann, "hllc");
    /// assert!(scheme.with_fluxes("riemann", "hlld", &[]).is_err());
    /// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    /// Those of the language, without useful places, since there is no declaration. It is not checked that a system has
    /// the parts that the setting needs.
    pub fn with_fluxes(
        &self,
        key: &str,
        text: &str,
        solvers: &[RiemannSolver],
    ) -> Result<Scheme, Diagnostics> {
        if let Some(end) = text.find([';', '{', '}']) {
            let message = format!("expected one setting, found `{}`", &text[end..=end]);
            let diagnostic = Diagnostic::new(Code::Syntax, Span::default(), message);
            return Err(Diagnostics::from(diagnostic));
        }
        // Settings that go with any reconstruction.
        let others = match key {
            "reconstruct" => "riemann: roe; time: euler;",
            _ => "",
        };
        let solver = |own: &RiemannSolver| {
            let gives = match own.gives {
                Gives::Waves => {
                    "wave above.q - below.q at below.q { q = 1; }".repeat(own.waves.len())
                }
                Gives::FluxWaves => "wave rise(q) at 1 { flux q -> 1; }".to_string(),
                Gives::State | Gives::Fluxes => "q = below.q;".to_string(),
            };
            format!("riemann {} {{ {gives} }} ", own.name)
        };
        let solvers: String = solvers.iter().map(solver).collect();
        let mut law = ANY_LAW.replace("waves {", &format!("{solvers} waves {{"));
        if key == "riemann" {
            // Another solver may take the place of one that leaves ranges.
            law = law.replace("conserved q: scalar", "conserved q: scalar where q > 0");
        }
        let read = |others: &str| parse_str(&format!("{law} {{ {others} {key}: {text}; }}"));
        let read = match (read(others), key) {
            // Settings that go with reconstructed fluxes alone.
            (Err(error), "riemann") => read("reconstruct: weno5 in fluxes;").map_err(|_| error)?,
            // And with forecasts alone.
            (Err(error), "reconstruct") => read("time: muscl_hancock;").map_err(|_| error)?,
            (read, _) => read?,
        };
        let read = read.scheme;
        let mut scheme = self.clone();
        match key {
            "riemann" => {
                scheme.riemann = read.riemann;
                scheme.riemann_parameter = read.riemann_parameter;
                scheme.average = read.average;
                scheme.fallback = read.fallback;
            }
            "sweep" => scheme.sweep = read.sweep,
            "source" => scheme.source = read.source,
            "repair" => scheme.repair = read.repair,
            "path" => scheme.points = read.points,
            _ => {
                scheme.reconstruct = read.reconstruct;
                scheme.limiter = read.limiter;
                scheme.theta = read.theta;
                scheme.reconstruct_parameter = read.reconstruct_parameter;
                scheme.traces = read.traces;
                if scheme.sweep == Sweep::Unsplit {
                    scheme.sweep = read.sweep;
                }
                scheme.variables = read.variables;
            }
        }
        Ok(scheme)
    }

    /// The Riemann solver with its parameter, the states that it averages, and the other solver, as it is written.
    pub fn riemann_text(&self) -> String {
        let number = riemann::find(&self.riemann).and_then(|solver| solver.parameter);
        let number = number.and_then(|own| own.text(self.riemann_parameter.as_ref()));
        let average = AVERAGES.iter().find(|(_, average)| *average == self.average);
        let average = average.filter(|_| self.average != Averaged::default());
        let average = average.map(|(name, _)| format!("{AVERAGE} = {name}"));
        let fallback = self.fallback.iter().map(|name| format!("{ELSE} = {name}"));
        format!("{}{}", self.riemann, within(number.into_iter().chain(average).chain(fallback)))
    }
}

impl Parameter {
    /// Its name and value as they are written; `None` without a value.
    pub(super) fn text(&self, value: Option<&Rational>) -> Option<String> {
        Some(format!("{} = {}", self.name, number::print(value?)?))
    }
}

/// Settings in brackets; empty without settings.
pub(super) fn within(settings: impl Iterator<Item = String>) -> String {
    let settings: Vec<String> = settings.collect();
    match settings.is_empty() {
        true => String::new(),
        false => format!("<{}>", settings.join(", ")),
    }
}
