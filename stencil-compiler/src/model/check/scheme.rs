//! The settings of a scheme.

use super::{ORDERS, faces, integrators, names, predictors};
use crate::catalogue::integrators::{STORAGES, rk3_williamson, ssprk3, stored};
use crate::catalogue::{limiters, reconstructions, riemann};
use crate::diag::{Code, Diagnostic, Diagnostics, Span, nearest};
use crate::model::parse::Schemes;
use crate::model::parse::ast::{Name, SchemeItem, Setting, System};
use crate::model::{
    Arith, Averaged, Equation, Flux, Mixed, Model, Product, Repair, Scheme, Splitting, Sweep, Term,
    Variables,
};

/// The settings that there are.
pub(in crate::model) const SETTINGS: &[&str] = &[
    "space",
    "mixed",
    "arith",
    "time",
    "riemann",
    "reconstruct",
    "sweep",
    "source",
    "repair",
    "path",
];

impl Scheme {
    /// The settings of a scheme, by their names in the language.
    ///
    /// ```
    /// use stencil_compiler::model::Scheme;
    ///
    /// assert!(Scheme::SETTINGS.contains(&"riemann"));
    /// ```
    pub const SETTINGS: &[&str] = SETTINGS;
}

/// The limiter if none is chosen, or none is needed.
pub(super) const LIMITER: &str = limiters::MC.name;

impl Arith {
    /// All choices, by their names in the language.
    pub const ALL: &[(&str, Arith)] = &[
        ("collected", Arith::Collected),
        ("as_written", Arith::AsWritten),
        ("differences", Arith::Differences),
        ("either", Arith::Either),
    ];

    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = Arith::ALL.iter().find(|(_, arith)| *arith == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Mixed {
    /// All choices, by their names in the language.
    pub const ALL: &[(&str, Mixed)] = &[
        ("bidiagonal", Mixed::Bidiagonal),
        ("product", Mixed::Product),
        ("composed", Mixed::Composed),
        ("either", Mixed::Either),
    ];

    /// Its name in the language.
    pub fn name(self) -> &'static str {
        let found = Mixed::ALL.iter().find(|(_, mixed)| *mixed == self);
        found.map_or("", |(name, _)| name)
    }
}

impl Default for Scheme {
    /// The scheme of a system that comes without one.
    fn default() -> Self {
        Scheme {
            name: "default".to_string(),
            order: 6,
            mixed: Mixed::Either,
            arith: Arith::Collected,
            time: rk3_williamson::INTEGRATOR.name.to_string(),
            riemann: riemann::HLL.name.to_string(),
            riemann_parameter: None,
            fallback: None,
            average: Averaged::Faces,
            reconstruct: reconstructions::PLM.name.to_string(),
            limiter: LIMITER.to_string(),
            theta: None,
            reconstruct_parameter: None,
            traces: false,
            points: 2,
            variables: Variables::Conserved,
            sweep: Sweep::Unsplit,
            source: Splitting::Unsplit,
            repair: Repair::Fluxes,
        }
    }
}

impl Model {
    /// Are there ranges that the scheme keeps?
    pub fn repairs(&self) -> bool {
        !self.ranges.is_empty() && self.scheme.repair == Repair::Fluxes
    }

    /// The flux of a field, by its index, if it has one.
    pub fn flux_of(&self, field: usize) -> Option<&Flux> {
        self.fluxes.iter().find(|flux| flux.field == field)
    }

    /// The product with slopes of a field, by its index, if it has one.
    pub fn product_of(&self, field: usize) -> Option<&Product> {
        self.products.iter().find(|product| product.field == field)
    }

    /// Does a field change by its flux and its product alone?
    pub fn only_flows(&self, equation: &Equation) -> bool {
        let rhs = &equation.rhs;
        let zero = Term::zero(rhs.rank, self.components, rhs.span);
        self.flux_of(equation.field).is_some() && rhs.without_spans() == zero.without_spans()
    }

    /// All schemes, the chosen one first.
    pub fn schemes(&self) -> impl Iterator<Item = &Scheme> {
        std::iter::once(&self.scheme).chain(&self.others)
    }

    /// The model with another of its schemes chosen; `None` if there is none of this name.
    ///
    /// ```
    /// use stencil_compiler::model::parse::parse_str;
    ///
    /// let model = parse_str(
    ///     "system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
    ///      scheme fine for Heat { space: central<order = 6>; }
    ///      scheme fast for Heat { space: central<order = 2>; }",
    /// )?;
    /// assert_eq!(model.scheme.name, "fine");
    /// let fast = model.with_scheme("fast").ok_or_else(stencil_compiler::diag::Diagnostics::new)?;
    /// assert_eq!((fast.scheme.order, fast.others[0].name.as_str()), (2, "fine"));
    /// assert!(model.with_scheme("fsat").is_none());
    /// # Ok::<(), stencil_compiler::diag::Diagnostics>(())
    /// ```
    pub fn with_scheme(&self, name: &str) -> Option<Model> {
        let scheme = self.schemes().find(|scheme| scheme.name == name)?.clone();
        let others = self.schemes().filter(|scheme| scheme.name != name);
        let others = others.cloned().collect();
        Some(Model { scheme, others, ..self.clone() })
    }
}

/// The requested scheme, or the first one, and the others; `None` after an error. If one is requested, others that are
/// wrong are left out.
pub(super) fn resolve(
    system: &System,
    asked: Schemes<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<(Scheme, Vec<Scheme>)> {
    let chosen = match asked {
        Schemes::All => None,
        Schemes::One(name) => {
            let named = |item: &SchemeItem| Some(item.name.text.as_str()) == name;
            Some(system.schemes.iter().position(named).unwrap_or(0))
        }
    };
    let mut all = Some(Vec::new());
    for (i, item) in system.schemes.iter().enumerate() {
        let mut unheard = Diagnostics::new();
        let is_other = chosen.is_some_and(|chosen| chosen != i);
        let heard = match is_other {
            true => &mut unheard,
            false => &mut *diagnostics,
        };
        twice(item, &system.schemes[..i], heard);
        match one(system, item, heard) {
            Some(_) if !unheard.is_empty() => {}
            None if is_other => {}
            Some(found) => all.iter_mut().for_each(|all| match chosen == Some(i) {
                true => all.insert(0, found.clone()),
                false => all.push(found.clone()),
            }),
            None => all = None,
        }
    }
    let mut all = all?.into_iter();
    let first = all.next().unwrap_or_else(|| start(system));
    Some((first, all.collect()))
}

/// Reports a scheme with the name of an earlier one.
fn twice(item: &SchemeItem, earlier: &[SchemeItem], diagnostics: &mut Diagnostics) {
    if let Some(first) = earlier.iter().find(|s| s.name.text == item.name.text) {
        let message = format!("a second scheme `{}`", item.name.text);
        let diagnostic = Diagnostic::new(Code::DuplicateName, item.name.span, message)
            .note_at(first.name.span, "the first is here")
            .help("schemes are chosen by name: give this one another name");
        diagnostics.push(diagnostic);
    }
}

/// The settings of a scheme by default.
fn start(system: &System) -> Scheme {
    // The solver is chosen once there is a model.
    let riemann = (!system.fluxes.is_empty()).then(String::new);
    let scheme = Scheme::default();
    // Ranges are kept by Euler steps.
    let time = (!system.ranges.is_empty()).then(|| ssprk3::INTEGRATOR.name.to_string());
    Scheme {
        riemann: riemann.unwrap_or(scheme.riemann),
        time: time.unwrap_or(scheme.time),
        ..scheme
    }
}

/// One scheme; `None` after an error.
fn one(system: &System, item: &SchemeItem, diagnostics: &mut Diagnostics) -> Option<Scheme> {
    let before = diagnostics.len();
    heading(system, item, diagnostics);
    let mut scheme = Scheme { name: item.name.text.clone(), ..start(system) };
    let mut seen: Vec<&str> = Vec::new();
    for setting in &item.settings {
        let key = setting.key.text.as_str();
        if seen.contains(&key) {
            let message = format!("`{key}` is set twice");
            diagnostics.push(Diagnostic::new(Code::BadSchemeKey, setting.key.span, message));
        }
        seen.push(key);
        if let Some(variables) = setting.variables.as_ref().filter(|_| key != "reconstruct") {
            let message = format!("`in` after a setting of `{key}`");
            let diagnostic = Diagnostic::new(Code::BadSchemeKey, variables.span, message);
            diagnostics.push(diagnostic.help("write `reconstruct: plm in primitive;`"));
        }
        match key {
            "riemann" | "reconstruct" | "sweep" | "source" | "repair" | "path" => {
                faces::setting(system, &mut scheme, setting, diagnostics)
            }
            _ => apply(&mut scheme, setting, diagnostics),
        }
    }
    let made = reconstructions::find(&scheme.reconstruct);
    if !seen.contains(&"sweep") && made.is_some_and(|made| made.sweeps) {
        scheme.sweep = Sweep::Alternating;
    }
    if diagnostics.len() == before && !scheme.riemann.is_empty() {
        faces::together(system, &scheme, &item.settings, diagnostics);
    }
    if diagnostics.len() == before {
        forecasts(system, &scheme, &item.settings, diagnostics);
    }
    // After an error in a setting it may have been the missing one.
    if !seen.contains(&"space") && system.fluxes.is_empty() && diagnostics.is_empty() {
        let message = "the scheme does not set `space`";
        let diagnostic = Diagnostic::new(Code::BadSchemeKey, item.name.span, message);
        diagnostics.push(diagnostic.help("write `space: central<order = 6>;`"));
    }
    (diagnostics.len() == before).then_some(scheme)
}

/// Reports a forecast that does not go with the system or with other settings, at the integrator.
fn forecasts(
    system: &System,
    scheme: &Scheme,
    settings: &[Setting],
    diagnostics: &mut Diagnostics,
) {
    let has_faces = system.face.is_some();
    if let Some(conflict) = scheme.conflict_of_forecast(!system.fluxes.is_empty(), has_faces) {
        let asks = settings.iter().find(|setting| setting.key.text == "time");
        let span = asks.map_or(Span::default(), |setting| setting.choice.span);
        let diagnostic = Diagnostic::new(conflict.code, span, conflict.message);
        diagnostics.push(diagnostic.help(conflict.help));
    }
}

fn heading(system: &System, item: &SchemeItem, diagnostics: &mut Diagnostics) {
    if let Some(problem) = names::shape_problem(&item.name.text) {
        diagnostics.push(Diagnostic::new(Code::BadName, item.name.span, problem));
    }
    if item.system.text != system.name.text {
        let name = &system.name.text;
        let message =
            format!("the scheme is for `{}`, and the system is `{name}`", item.system.text);
        let diagnostic = Diagnostic::new(Code::SchemeForOther, item.system.span, message)
            .note_at(system.name.span, "the system is here")
            .help(format!("write `for {name}`"));
        diagnostics.push(diagnostic);
    }
}

fn apply(scheme: &mut Scheme, setting: &Setting, diagnostics: &mut Diagnostics) {
    match setting.key.text.as_str() {
        "space" => scheme.order = space(setting, diagnostics).unwrap_or(scheme.order),
        "mixed" => {
            let found = chosen(setting, "mixed derivative", Mixed::ALL, diagnostics);
            scheme.mixed = found.unwrap_or(scheme.mixed);
        }
        "arith" => {
            let found = chosen(setting, "arithmetic", Arith::ALL, diagnostics);
            scheme.arith = found.unwrap_or(scheme.arith);
        }
        "time" => {
            if let Some(name) = integrator(setting, diagnostics) {
                scheme.time = name;
            }
        }
        key => {
            let message = format!("a scheme has no setting `{key}`");
            let near = nearest(key, SETTINGS.iter().copied());
            let diagnostic = Diagnostic::new(Code::BadSchemeKey, setting.key.span, message)
                .note(format!("settings: {}", SETTINGS.join(", ")))
                .help_if(near.map(|near| format!("did you mean `{near}`?")));
            diagnostics.push(diagnostic);
        }
    }
}

/// The name of an integrator with its storage.
fn integrator(setting: &Setting, diagnostics: &mut Diagnostics) -> Option<String> {
    let choice = &setting.choice;
    let known = [integrators(), predictors()].concat();
    if !known.contains(&choice.text.as_str()) {
        unknown(choice, "time integrator", &known, diagnostics);
        return None;
    }
    let in_storage = |storage: &str| stored(&choice.text, storage);
    let has_storages = STORAGES.iter().all(|storage| in_storage(storage).is_some());
    let (first, others) = match &setting.arguments[..] {
        [first, others @ ..] if has_storages => (first, others),
        _ => {
            without_argument(setting, diagnostics);
            return Some(choice.text.clone());
        }
    };
    let (key, storage) = first;
    let known = STORAGES.join("` or `storage = ");
    let mut refused = |key: &Name, message: String| {
        let diagnostic = Diagnostic::new(Code::BadSchemeKey, key.span, message);
        diagnostics.push(diagnostic.help(format!("write `storage = {known}`")));
    };
    if key.text != "storage" {
        refused(key, format!("`{}` has no setting `{}`", choice.text, key.text));
    }
    for (key, _) in others {
        let message = format!("`{}` has no second setting `{}`", choice.text, key.text);
        refused(key, message);
    }
    let found = in_storage(&storage.text);
    if found.is_none() && key.text == "storage" {
        unknown(storage, "storage", STORAGES, diagnostics);
    }
    Some(found?.name.to_string())
}

/// One of a list of choices.
pub(super) fn chosen<T: Copy>(
    setting: &Setting,
    what: &str,
    choices: &[(&str, T)],
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    without_argument(setting, diagnostics);
    let choice = &setting.choice;
    let found = choices.iter().find(|(name, _)| *name == choice.text);
    if found.is_none() {
        let all: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        unknown(choice, what, &all, diagnostics);
    }
    found.map(|(_, chosen)| *chosen)
}

/// `central<order = 6>`
fn space(setting: &Setting, diagnostics: &mut Diagnostics) -> Option<u32> {
    if setting.choice.text != "central" {
        unknown(&setting.choice, "space discretization", &["central"], diagnostics);
        return None;
    }
    let Some((key, number)) = setting.arguments.first() else {
        bad_order("`central` needs its order", setting.choice.span, diagnostics);
        return None;
    };
    if key.text != "order" {
        let message = format!("`central` has no setting `{}`", key.text);
        let diagnostic = Diagnostic::new(Code::BadSchemeKey, key.span, message);
        diagnostics.push(diagnostic.help("write `central<order = 6>`"));
        return None;
    }
    if let Some((key, _)) = setting.arguments.get(1) {
        let message = format!("`central` has no second setting `{}`", key.text);
        diagnostics.push(Diagnostic::new(Code::BadSchemeKey, key.span, message));
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
    let help = format!("write `central<order = 6>`; the orders are {}", orders.join(", "));
    diagnostics.push(Diagnostic::new(Code::BadOrder, span, message).help(help));
}

pub(super) fn without_argument(setting: &Setting, diagnostics: &mut Diagnostics) {
    for (key, _) in &setting.arguments {
        let message = format!("`{}` has no settings", setting.choice.text);
        diagnostics.push(Diagnostic::new(Code::BadSchemeKey, key.span, message));
    }
}

pub(super) fn unknown(choice: &Name, what: &str, all: &[&str], diagnostics: &mut Diagnostics) {
    let message = format!("no {what} `{}`", choice.text);
    let near = nearest(&choice.text, all.iter().copied());
    let diagnostic = Diagnostic::new(Code::UnknownChoice, choice.span, message)
        .note(format!("choices: {}", all.join(", ")))
        .help_if(near.map(|near| format!("did you mean `{near}`?")));
    diagnostics.push(diagnostic);
}
