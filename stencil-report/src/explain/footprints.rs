//! The third part of the page: the points that are read, with nothing stored and with expensive functions stored.

use std::collections::{BTreeMap, BTreeSet};

use stencil_compiler::algorithm::footprint::{Footprint, footprint, points, radius};
use stencil_compiler::algorithm::{Algorithm, Def, FnId, Offset, Role};
use stencil_compiler::diag::counted;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::schedule::Placement;
use stencil_compiler::search::presets;

use super::{planes, substep, updates};
use crate::table::{Table, paragraph};

/// The preset whose stored functions the second table is about.
const STORING: &str = "decomposed";

/// The tables and pictures.
pub(super) fn section(algorithm: &Algorithm, precision: Precision) -> String {
    let mut page = "FOOTPRINTS: the points that one right-hand side reads\n".to_string();
    let inline = read(algorithm, &BTreeSet::new());
    page += "  with everything inline (recomputed wherever it is used)\n";
    page += &describe(algorithm, &inline);
    let stored = stored(algorithm, precision);
    if stored.is_empty() {
        let text = format!(
            "The preset `{STORING}` would store nothing here: no grid function costs enough to recompute."
        );
        return page + "\n" + &paragraph("  ", &text);
    }
    let names: Vec<&str> = stored.iter().map(|id| algorithm.function(*id).name.as_str()).collect();
    page += &paragraph(
        "\n  with grid functions stored, as by the preset `decomposed`: ",
        &names.join(", "),
    );
    let outer = read(algorithm, &stored);
    page += &describe(algorithm, &outer);
    page += "  and for the stored ones themselves\n";
    let mut table = Table::new(4, &["grid function", "reads"]);
    for id in &stored {
        let read = footprint(algorithm, &[*id], &stored);
        let parts: Vec<String> = read
            .iter()
            .map(|(of, at)| format!("{} {}", algorithm.function(*of).name, at.len()))
            .collect();
        table.row([algorithm.function(*id).name.clone(), parts.join(", ")]);
    }
    page + &table.to_string()
}

/// The footprint of the updates without accumulators, which are read in their own cell.
pub(super) fn read(algorithm: &Algorithm, stored: &BTreeSet<FnId>) -> Footprint {
    let mut read = footprint(algorithm, &updates(algorithm, substep(algorithm)), stored);
    read.retain(|id, _| match algorithm.function(*id).def {
        Def::State(state) => algorithm.state(state).role == Role::Field,
        Def::Point(_) | Def::Sum(_) => true,
    });
    read
}

/// Grid functions that the storing preset puts into global memory.
pub(super) fn stored(algorithm: &Algorithm, precision: Precision) -> BTreeSet<FnId> {
    let schedule = presets::find(STORING)
        .map(|preset| preset.schedule(algorithm, precision))
        .unwrap_or_default();
    let global = schedule.placements.iter().filter(|(_, p)| matches!(p, Placement::Global(_)));
    global.filter_map(|(name, _)| algorithm.find(name)).collect()
}

fn describe(algorithm: &Algorithm, read: &Footprint) -> String {
    let mut table = Table::new(4, &["read", "points#", "radius x y z"]);
    for (id, at) in read {
        let [x, y, z] = radius(&BTreeMap::from([(*id, at.clone())]));
        table.row([
            algorithm.function(*id).name.clone(),
            at.len().to_string(),
            format!("{x} {y} {z}"),
        ]);
    }
    let [x, y, z] = radius(read);
    table.row(["all together".to_string(), points(read).to_string(), format!("{x} {y} {z}")]);
    let union: BTreeSet<Offset> = read.values().flatten().copied().collect();
    let off = union.iter().filter(|at| at.iter().all(|c| *c != 0)).count();
    let mut text = table.to_string() + &planes::planes(&union, algorithm.dimension);
    if off > 0 {
        text += &format!("    and {} in none of these planes\n", counted(off, "point"));
    }
    text
}

#[cfg(test)]
mod tests {
    use stencil_compiler::discretize::discretize;
    use stencil_compiler::model::parse::parse_str;

    use super::*;

    const NAVIER_STOKES: &str = include_str!("../../../tests/systems/isothermal_ns.pde");

    /// Points of a component, and of all together.
    fn footprint_of(mixed: &str, is_stored: bool, component: &str) -> [usize; 2] {
        let text = NAVIER_STOKES.replace("mixed: bidiagonal", &format!("mixed: {mixed}"));
        let algorithm = discretize(&parse_str(&text).unwrap()).unwrap();
        let stored = match is_stored {
            true => stored(&algorithm, Precision::F32),
            false => BTreeSet::new(),
        };
        let read = read(&algorithm, &stored);
        let component = algorithm.find(component).unwrap();
        [read[&component].len(), points(&read)]
    }

    #[test]
    fn navier_stokes_reads_what_the_paper_says() {
        assert_eq!(footprint_of("bidiagonal", false, "u_x"), [43, 55]);
        assert_eq!(footprint_of("bidiagonal", false, "lnrho"), [19, 55]);
        assert_eq!(footprint_of("composed", false, "u_z")[0], 97);
        for component in ["u_x", "u_y", "u_z", "lnrho", "div_u"] {
            assert_eq!(footprint_of("composed", true, component), [19, 19]);
        }
    }
}
