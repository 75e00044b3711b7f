//! The settings of a scheme.

use super::{ORDERS, integrators, names};
use crate::diag::{Code, Diagnostic, Diagnostics, Span, nearest};
use crate::model::parse::ast::{Name, SchemeItem, Setting, Source};
use crate::model::{Mixed, Scheme};

/// The settings that there are.
const KEYS: &[&str] = &["space", "mixed", "time"];
/// The meanings of a derivative of a derivative.
const MIXED: &[(&str, Mixed)] = &[
    ("bidiagonal", Mixed::Bidiagonal),
    ("product", Mixed::Product),
    ("composed", Mixed::Composed),
];

impl Mixed {
    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = MIXED.iter().find(|(_, mixed)| *mixed == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Default for Scheme {
    /// The scheme of a system that comes without one.
    fn default() -> Self {
        Scheme {
            name: "default".to_string(),
            order: 6,
            mixed: Mixed::Bidiagonal,
            time: "rk3_williamson".to_string(),
        }
    }
}

/// The scheme; `None` after an error.
pub(super) fn resolve(source: &Source, diagnostics: &mut Diagnostics) -> Option<Scheme> {
    let Some(item) = &source.scheme else {
        return Some(Scheme::default());
    };
    let before = diagnostics.len();
    heading(source, item, diagnostics);
    let mut scheme = Scheme {
        name: item.name.text.clone(),
        ..Scheme::default()
    };
    let mut seen: Vec<&str> = Vec::new();
    for setting in &item.settings {
        let key = setting.key.text.as_str();
        if seen.contains(&key) {
            let message = format!("`{key}` is set twice");
            diagnostics.push(Diagnostic::new(
                Code::BadSchemeKey,
                setting.key.span,
                message,
            ));
        }
        seen.push(key);
        apply(&mut scheme, setting, diagnostics);
    }
    // After an error in a setting it may have been the missing one.
    if !seen.contains(&"space") && diagnostics.is_empty() {
        let message = "the scheme does not set `space`";
        let diagnostic = Diagnostic::new(Code::BadSchemeKey, item.name.span, message);
        diagnostics.push(diagnostic.help("write `space: central<order = 6>;`"));
    }
    (diagnostics.len() == before).then_some(scheme)
}

fn heading(source: &Source, item: &SchemeItem, diagnostics: &mut Diagnostics) {
    if let Some(problem) = names::shape_problem(&item.name.text) {
        diagnostics.push(Diagnostic::new(Code::BadName, item.name.span, problem));
    }
    if item.system.text != source.name.text {
        let system = &source.name.text;
        let message = format!(
            "the scheme is for `{}`, and the system is `{system}`",
            item.system.text
        );
        let diagnostic = Diagnostic::new(Code::SchemeForOther, item.system.span, message)
            .note_at(source.name.span, "the system is here")
            .help(format!("write `for {system}`"));
        diagnostics.push(diagnostic);
    }
}

fn apply(scheme: &mut Scheme, setting: &Setting, diagnostics: &mut Diagnostics) {
    let choice = &setting.choice;
    match setting.key.text.as_str() {
        "space" => scheme.order = space(setting, diagnostics).unwrap_or(scheme.order),
        "mixed" => {
            without_argument(setting, diagnostics);
            let found = MIXED.iter().find(|(name, _)| *name == choice.text);
            match found {
                Some((_, mixed)) => scheme.mixed = *mixed,
                None => {
                    let all: Vec<&str> = MIXED.iter().map(|(name, _)| *name).collect();
                    unknown(choice, "mixed derivative", &all, diagnostics);
                }
            }
        }
        "time" => {
            without_argument(setting, diagnostics);
            if integrators().contains(&choice.text.as_str()) {
                scheme.time = choice.text.clone();
            } else {
                unknown(choice, "time integrator", &integrators(), diagnostics);
            }
        }
        key => {
            let message = format!("a scheme has no setting `{key}`");
            let near = nearest(key, KEYS.iter().copied());
            let diagnostic = Diagnostic::new(Code::BadSchemeKey, setting.key.span, message)
                .note("settings: space, mixed, time")
                .help_if(near.map(|near| format!("did you mean `{near}`?")));
            diagnostics.push(diagnostic);
        }
    }
}

/// `central<order = 6>`
fn space(setting: &Setting, diagnostics: &mut Diagnostics) -> Option<u32> {
    if setting.choice.text != "central" {
        unknown(
            &setting.choice,
            "space discretization",
            &["central"],
            diagnostics,
        );
        return None;
    }
    let Some((key, number)) = &setting.argument else {
        bad_order(
            "`central` needs its order",
            setting.choice.span,
            diagnostics,
        );
        return None;
    };
    if key.text != "order" {
        let message = format!("`central` has no setting `{}`", key.text);
        let diagnostic = Diagnostic::new(Code::BadSchemeKey, key.span, message);
        diagnostics.push(diagnostic.help("write `central<order = 6>`"));
        return None;
    }
    let order = number.text.parse().ok().filter(|n| ORDERS.contains(n));
    if order.is_none() {
        let message = format!("there are no central differences of order {}", number.text);
        bad_order(&message, number.span, diagnostics);
    }
    order
}

fn bad_order(message: &str, span: Span, diagnostics: &mut Diagnostics) {
    let orders: Vec<String> = ORDERS.iter().map(u32::to_string).collect();
    let help = format!(
        "write `central<order = 6>`; the orders are {}",
        orders.join(", ")
    );
    diagnostics.push(Diagnostic::new(Code::BadOrder, span, message).help(help));
}

fn without_argument(setting: &Setting, diagnostics: &mut Diagnostics) {
    if let Some((key, _)) = &setting.argument {
        let message = format!("`{}` has no settings", setting.choice.text);
        diagnostics.push(Diagnostic::new(Code::BadSchemeKey, key.span, message));
    }
}

fn unknown(choice: &Name, what: &str, all: &[&str], diagnostics: &mut Diagnostics) {
    let message = format!("no {what} `{}`", choice.text);
    let near = nearest(&choice.text, all.iter().copied());
    let diagnostic = Diagnostic::new(Code::UnknownChoice, choice.span, message)
        .note(format!("choices: {}", all.join(", ")))
        .help_if(near.map(|near| format!("did you mean `{near}`?")));
    diagnostics.push(diagnostic);
}
