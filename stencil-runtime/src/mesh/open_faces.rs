//! The rules of values that lie on faces of a mesh: which components they are for, by the user's settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use stencil_compiler::algorithm::footprint::bounds_by_root;
use stencil_compiler::algorithm::open_faces::{Held, OpenFaces};
use stencil_compiler::algorithm::{FnId, StateId};
use stencil_compiler::catalogue::Centering;
use stencil_compiler::catalogue::weights::OnFace;

use super::boundary::{Kind, Value};
use super::extension::Extensions;
use super::settings::{Setting, chosen};
use super::{Axis, Boundary, Face, Mesh, Number, Rule, Sampled, Side};
use crate::system::Component;
use crate::{Error, SystemDef};

/// The state of marks, unless something else has the name.
const MARKS: &str = "open_faces";

/// Returns the system with the rules that these settings need; the same one if they need none.
///
/// A field on faces whose divergence the system keeps, by differences of second order, is closed at lower faces that are
/// open. Other components that lie on an upper face are held there at a constant value.
pub(crate) fn resolved(system: SystemDef, settings: &[Setting]) -> SystemDef {
    if !system.model().is_staggered() {
        return system;
    }
    let components = system.components();
    let kept = system.kept_divergences();
    let (closed, held) = (closed(&system, settings, &components), held(settings, &components));
    let closed: Vec<_> = closed.into_iter().filter(|(name, _)| kept.contains(name)).collect();
    let of = |held: &Held| components.iter().find(|component| component.name == held.state);
    let is_kept = |held: &Held| of(held).is_some_and(|component| kept.contains(&component.field));
    let held: Vec<Held> = held.into_iter().filter(|held| !is_kept(held)).collect();
    if closed.is_empty() && held.is_empty() {
        return system;
    }
    system.with_open_faces(OpenFaces { marks: system.free_name(MARKS), closed, held })
}

/// Returns fields on faces, each with the axes whose lower faces are open for it.
fn closed(
    system: &SystemDef,
    settings: &[Setting],
    components: &[Component],
) -> Vec<(String, [bool; 3])> {
    let model = system.model();
    // In one dimension a field without divergence is uniform.
    if model.dimension == 1 || model.scheme.order != 2 {
        return Vec::new();
    }
    let on_faces = model.fields.iter().filter(|field| field.centering == Centering::Face);
    let open = |name: &str, axis: Axis| {
        let is_normal = |c: &&Component| c.field == name && c.halves[axis.index()];
        let normal = components.iter().find(is_normal);
        normal.is_some_and(|normal| {
            let boundary = chosen(settings, normal, Face::new(axis, Side::Lo));
            matches!(boundary.0, Kind::Outflow | Kind::Extrapolate)
        })
    };
    let all =
        on_faces.map(|field| (field.name.clone(), Axis::ALL.map(|axis| open(&field.name, axis))));
    all.filter(|(_, open)| open.contains(&true)).collect()
}

/// Returns the components that have a constant value on an upper face on which they lie.
fn held(settings: &[Setting], components: &[Component]) -> Vec<Held> {
    let mut all = Vec::new();
    for component in components {
        for axis in Axis::ALL.into_iter().filter(|axis| component.halves[axis.index()]) {
            let boundary = chosen(settings, component, Face::new(axis, Side::Hi));
            if let Kind::Dirichlet(Value::Constant(value)) = boundary.0
                && value.is_finite()
            {
                all.push(Held { state: component.name.clone(), axis: axis.index(), value });
            }
        }
    }
    all
}

/// Checks that numbers beside lower faces decide something.
///
/// A number of a component beside a face acts by the equations of components on it. At a lower face these do not act, as
/// their values there stand in ghost cells. So those values have to be given, too, or there is another equation that reads
/// the number.
pub(super) fn check_numbers(
    system: &SystemDef,
    components: &[Component],
    kinds: &[[[Boundary; 2]; 3]],
) -> Result<(), Error> {
    let algorithm = system.algorithm();
    let Some(substep) = algorithm.substeps.first() else { return Ok(()) };
    let roots: Vec<FnId> = substep.updates.iter().map(|(_, of)| *of).collect();
    let reads = bounds_by_root(algorithm, &roots, &BTreeSet::new());
    let of_component = |component: &Component| {
        let is_own = |(state, _): &(StateId, FnId)| algorithm.state(*state).name == component.name;
        substep.updates.iter().position(is_own).map(|at| &reads[at])
    };
    for (component, own) in components.iter().zip(kinds) {
        let Some(id) = algorithm.find(&component.name) else { continue };
        for axis in Axis::ALL.into_iter().filter(|axis| !component.halves[axis.index()]) {
            let boundary = &own[axis.index()][Side::Lo as usize];
            if !matches!(boundary.0, Kind::Dirichlet(_) | Kind::Neumann(_)) {
                continue;
            }
            let all = || components.iter().zip(kinds);
            let on_face = |of: &Component| of.halves[axis.index()];
            let reads_it = |of: &Component| of_component(of).and_then(|reads| reads.get(&id));
            let is_below = |of: &Component| reads_it(of).is_some_and(|at| at.low[axis.index()] < 0);
            if all().any(|(of, _)| !on_face(of) && is_below(of)) {
                continue;
            }
            let is_open = |(of, kinds): &(&Component, &[[Boundary; 2]; 3])| {
                let kind = &kinds[axis.index()][Side::Lo as usize].0;
                let open = matches!(kind, Kind::Outflow | Kind::Extrapolate);
                on_face(of) && open && reads_it(of).is_some()
            };
            let kept = || system.kept_divergences();
            if let Some((of, kinds)) =
                all().find(is_open).filter(|(of, _)| !kept().contains(&of.field))
            {
                let face = Face::new(axis, Side::Lo);
                let kind = &kinds[axis.index()][Side::Lo as usize];
                let (name, other) = (&component.name, &of.name);
                return Err(Error::Boundary {
                    place: format!("`{name}` at {face}"),
                    reason: format!(
                        "it is {boundary}, which would act by the equation of `{other}` on the face; but `{other}` is {kind} there, as values on lower faces follow no equation"
                    ),
                    help: format!(
                        "give `{other}` at {face} instead; or turn the axis round, as `{name}` decides at an upper face"
                    ),
                });
            }
        }
    }
    Ok(())
}

/// Returns the rule for the marks beyond a face.
pub(super) fn mark(
    (faces, face): (&OpenFaces, Face),
    is_periodic: bool,
    extensions: &mut Extensions,
) -> Rule {
    let axis = face.axis.index();
    let is_open = faces.closed.iter().any(|(_, open)| open[axis]);
    match (is_periodic, face.side) {
        (true, _) => Rule::Periodic,
        (false, Side::Lo) if is_open => {
            let below = Number::Constant(OpenFaces::below(axis));
            Rule::Extended(extensions.through(OnFace::Value, below, 0))
        }
        (false, _) => Rule::Nearest,
    }
}

/// Returns the marks of the cells of a mesh.
pub(crate) fn marks(faces: &OpenFaces, mesh: &Mesh) -> Sampled {
    let mut axes: Vec<usize> = faces.held.iter().map(|held| held.axis).collect();
    axes.sort_unstable();
    axes.dedup();
    let (spacing, ends) =
        (mesh.spacing(), Axis::ALL.map(|axis| mesh.wall(Face::new(axis, Side::Hi))));
    Sampled::Steady(Arc::new(move |x, y, z| {
        let is_last = |axis: &&usize| [x, y, z][**axis] > ends[**axis] - 0.75 * spacing[**axis];
        axes.iter().filter(is_last).map(|axis| OpenFaces::last(*axis)).sum()
    }))
}
