//! The first part of the page: the equations as understood, and the scheme in words.

use stencil_compiler::catalogue::{Centering, integrators};
use stencil_compiler::diag::counted;
use stencil_compiler::discretize::{DerivedWaves, WaveBlock};
use stencil_compiler::expr::Rational;
use stencil_compiler::model::text::{expression, face_lines, lets, rates, real, variable_lines};
use stencil_compiler::model::{Average, Gives, Mixed, Model, Waves, to_f64};

use super::solver;
use crate::ByPlan;
use crate::table::{Table, equation, paragraph};

/// Fields, parameters, equations and scheme.
pub(super) fn section(model: &Model, chosen: Option<&ByPlan>) -> String {
    let mut page = format!("{} in {}d\n", model.name, model.dimension);
    for line in &model.doc {
        page += &paragraph("  ", line);
    }
    page += "\nEQUATIONS, as understood\n";
    for (name, value) in lets(model) {
        page += &equation(&format!("  let {name} = "), &value);
    }
    for (left, right) in model.equations.iter().flat_map(|row| rates(model, row)) {
        page += &equation(&format!("  {left}"), &right);
    }
    if let Some(primitives) = &model.primitives {
        page += &variables("primitive", variable_lines(model, primitives, &[]));
    }
    if let Some(at_face) = &model.at_face {
        page += &variables("face", face_lines(model, at_face));
    }
    if let Some(Average { of, weights }) = &model.average {
        page += &variables("average", variable_lines(model, of, weights));
    }
    for (kind, part) in model.waves.iter().flat_map(|waves| waves.parts()) {
        page += &equation(&format!("  {kind} of waves: "), &expression(model, part));
    }
    let derived = model.derived_waves();
    for derived in derived.iter() {
        let how = match (&derived.only_bounds, derived.blocks.is_empty()) {
            (None, true) => "derived",
            _ => "bound",
        };
        for (kind, part) in derived.waves.parts() {
            let left = format!("  {kind} of waves, {how}: ");
            page += &equation(&left, &expression(model, part));
        }
        for block in &derived.blocks {
            page += &paragraph("  ", &block_text(model, block));
        }
        if let Some(why) = &derived.only_bounds {
            page += &paragraph("  waves are not taken apart: ", why);
        }
    }
    if let Some(solver) = model.declared_solver(&model.scheme) {
        let values = solver.values.iter().map(|line| expression(model, &line.of));
        let with_lets = model.with_lets_of(solver);
        let waves = solver.waves.iter().map(|wave| expression(&with_lets, &wave.speed));
        let given: Vec<String> = values.chain(waves).collect();
        let what = match solver.gives {
            Gives::State => "at a face",
            Gives::Fluxes => "as fluxes",
            Gives::Waves => "as waves at the speeds",
            Gives::FluxWaves => "as waves of the fluxes at the speeds",
        };
        page +=
            &paragraph(&format!("  riemann {} gives, {what}: ", solver.name), &given.join(", "));
    }
    let loops = model.iterations_text();
    if !loops.is_empty() {
        page += &paragraph("  ends by a test: ", &loops);
    }
    page.push('\n');
    page += &names(model);
    page += "\nSCHEME\n";
    for line in scheme(model) {
        page += &paragraph("  ", &line);
    }
    if let Some(chosen) = chosen {
        page += &paragraph("  ", &chosen.words());
    }
    page
}

/// A part of a law that has waves of its own.
fn block_text(model: &Model, block: &WaveBlock) -> String {
    let parts = block.waves.parts();
    let parts = parts.map(|(kind, part)| format!("{kind} {}", expression(model, part)));
    let speeds: Vec<String> = parts.collect();
    let (along, components) = (block.along, block.components.join(", "));
    format!("waves along {along} of {components}: {}", speeds.join(", "))
}

/// The origin of the speeds of waves, and its reason; `None` without fluxes.
pub(crate) fn waves(model: &Model) -> Option<String> {
    if model.fluxes.is_empty() {
        return None;
    }
    let words = |waves: &Waves| {
        let parts = waves.parts();
        let parts = parts.map(|(kind, part)| format!("{kind} {}", expression(model, part)));
        parts.collect::<Vec<_>>().join(", ")
    };
    if let Some(declared) = &model.waves {
        return Some(format!("as declared: {}", words(declared)));
    }
    let allowed = |except: &str| {
        let solver = model.default_solver(&model.scheme)?;
        let names = solver.allowed.iter().map(|name| format!("`{name}`"));
        Some(format!(". They do for {}{except}", names.collect::<Vec<_>>().join(", ")))
    };
    let allowed = |except: &str| allowed(except).unwrap_or_default();
    Some(match model.derived_waves() {
        Some(DerivedWaves { blocks, .. }) if !blocks.is_empty() => {
            let blocks: Vec<String> = blocks.iter().map(|block| block_text(model, block)).collect();
            format!(
                "derived from the fluxes block by block, as the law falls apart into parts with one sound each: {}{}",
                blocks.join("; "),
                allowed("")
            )
        }
        Some(DerivedWaves { waves, only_bounds: None, .. }) => format!(
            "derived from the fluxes, whose speeds have a closed form: {}{}",
            words(&waves),
            allowed("; `hllc` needs `density` and `pressure` of `waves { .. }`, too")
        ),
        Some(DerivedWaves { waves, only_bounds: Some(why), .. }) => format!(
            "bounds from the fluxes: {}{}, but {why}",
            words(&waves),
            allowed(
                ", and for waves of `hlle`; `roe` and characteristic variables need each speed"
            )
        ),
        None => {
            format!("none: not declared, and no bounds of them can be written out{}", allowed(""))
        }
    })
}

/// The variables of a block, and the fields that follow from them, each on a line.
fn variables(word: &str, lines: impl Iterator<Item = String>) -> String {
    let (follow, names): (Vec<String>, Vec<String>) = lines.partition(|line| line.contains(" = "));
    let mut page = paragraph(&format!("  {word}: "), &names.join(", "));
    for line in follow {
        page += &equation("  ", &line);
    }
    page
}

fn names(model: &Model) -> String {
    let unit = |unit: &Option<String>| unit.as_ref().map_or(String::new(), |u| format!("[{u}]"));
    let mut table = Table::new(2, &["name", "is", "unit", "default and bounds"]);
    for (i, field) in model.fields.iter().enumerate() {
        let conserved = model.flux_of(i).map_or("", |_| ", conserved");
        let places = match field.centering {
            Centering::Cell => "",
            Centering::Face => " on faces",
            Centering::Edge => " on edges",
        };
        table.row([
            field.name.clone(),
            format!("{} field{places}{conserved}", field.rank.name()),
            unit(&field.unit),
            String::new(),
        ]);
    }
    for param in &model.params {
        let mut values: Vec<String> = param.default.iter().map(|value| real(*value)).collect();
        values.extend(
            param.bounds.iter().map(|(sign, bound)| format!("{} {}", sign.text(), number(bound))),
        );
        table.row([
            param.name.clone(),
            "parameter".to_string(),
            unit(&param.unit),
            values.join(", "),
        ]);
    }
    table.to_string()
}

/// A number in the shortest digits that name it in double precision.
fn number(value: &Rational) -> String {
    format!("{:?}", to_f64(value))
}

fn scheme(model: &Model) -> Vec<String> {
    let mut lines = Vec::new();
    if !model.equations.iter().all(|row| model.only_flows(row)) {
        lines.extend(derivatives(model));
    }
    if let Some((reconstruction, solver)) = model.faces() {
        lines.push(format!("Fluxes: {reconstruction}, at both faces of each cell; {solver}."));
    }
    lines.extend(solver::by_default(model));
    if let Some(kept) = model.repair_text() {
        lines.push(format!("Ranges: {kept}."));
    }
    if let Some(integrator) = integrators::find(&model.scheme.time) {
        let tableau = (integrator.tableau)();
        let flows = model.equations.iter().all(|row| model.only_flows(row));
        let tableau = if flows { tableau.of_fluxes() } else { tableau };
        let storage = match tableau.registers {
            [] => "no array beside each field".to_string(),
            [integrators::PREVIOUS] => {
                "the previous value of each field in the array for new values".to_string()
            }
            [one] => format!("one array `{one}` beside each field"),
            several => format!("arrays {} beside each field", several.join(", ")),
        };
        lines.push(format!(
            "Time: {}, order {}, {} a step, {storage} ({}).",
            integrator.name,
            integrator.order,
            counted(tableau.substeps.len(), "right-hand side"),
            integrator.source
        ));
    }
    lines.push(
        "These choices change the numbers. The schedules below do not change a bit of them."
            .to_string(),
    );
    lines
}

fn derivatives(model: &Model) -> Vec<String> {
    let order = model.scheme.order;
    let mut lines = vec![format!(
        "Derivatives along one axis: central differences of order {order} on {order} neighbours, up to {} away.",
        counted(order as usize / 2, "cell")
    )];
    let mixed = match model.scheme.mixed {
        // Settled as the bidiagonal form where any will do.
        Mixed::Bidiagonal | Mixed::Either => format!(
            "Derivatives along two different axes (mixed: bidiagonal): one difference on {} points of the two diagonals.",
            2 * order
        ),
        Mixed::Product => "Derivatives along two different axes (mixed: product): the first derivative along one axis of the first \
            derivative along the other. Twice along the same axis: the difference for second derivatives."
            .to_string(),
        Mixed::Composed => "Derivatives of derivatives (mixed: composed): first derivatives of grid functions that are made of first \
            derivatives, as written."
            .to_string(),
    };
    // On one axis there are no two different ones.
    if model.dimension > 1 || model.scheme.mixed == Mixed::Composed {
        lines.push(mixed);
    }
    lines
}
