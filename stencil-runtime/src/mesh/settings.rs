//! The user's settings of faces, and the one that counts.

use super::{Axis, Boundary, Face, Faces};
use crate::system::Component;
use crate::{Error, SystemDef};

/// A user's setting of some faces.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    /// A field or a component; all fields if not given.
    pub(crate) of: Option<String>,
    pub(crate) faces: Faces,
    pub(crate) boundary: Boundary,
}

/// Returns the boundary of a component at a face. A setting of a component is stronger than one of its field, and that is
/// stronger than one of all; of equals the last counts.
pub(super) fn chosen(settings: &[Setting], component: &Component, face: Face) -> Boundary {
    let strength = |setting: &Setting| match &setting.of {
        None => Some(0),
        Some(name) if *name == component.field => Some(1 + u32::from(component.indices.is_empty())),
        Some(name) if *name == component.name => Some(2),
        Some(_) => None,
    };
    let known = settings.iter().filter(|setting| setting.faces.contains(face));
    let strongest = known
        .filter_map(|setting| Some((strength(setting)?, &setting.boundary)))
        .max_by_key(|(strength, _)| *strength);
    strongest.map_or_else(Boundary::periodic, |(_, boundary)| boundary.clone())
}

/// Checks that settings are of axes and fields that the system has.
pub(super) fn check_names(
    system: &SystemDef,
    components: &[Component],
    settings: &[Setting],
) -> Result<(), Error> {
    let dimension = system.model().dimension;
    for setting in settings {
        if let Some(axis) = setting.faces.axis().filter(|a| a.index() >= dimension) {
            return Err(Error::Boundary {
                place: axis.to_string(),
                reason: format!("{} has {dimension} dimensions", system.name()),
                help: format!("set boundaries along {} only", axes(dimension)),
            });
        }
        let Some(name) = &setting.of else { continue };
        if !components.iter().any(|c| c.name == *name || c.field == *name) {
            let mut known: Vec<&str> =
                system.model().fields.iter().map(|f| f.name.as_str()).collect();
            known.extend(
                components.iter().filter(|c| !c.indices.is_empty()).map(|c| c.name.as_str()),
            );
            return Err(Error::unknown(
                system.name(),
                "field or component",
                name,
                known.into_iter(),
            ));
        }
    }
    Ok(())
}

fn axes(dimension: usize) -> String {
    let names: Vec<&str> = Axis::ALL[..dimension].iter().map(|a| a.name()).collect();
    names.join(", ")
}
