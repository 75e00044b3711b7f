//! The part of files that pictures show, chosen once for all files of a run.

use stencil_runtime::plot::{Camera, Rendering};

use super::picture::{Content, Solid};
use super::view::{Kind, View};
use super::{AXES, Cut, Field, Look, Mesh, Picture, Snapshot, short, wrong};
use crate::Failure;
use crate::planes::through_middle;

/// Fields, and the part of each that is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    fields: Vec<Field>,
    subject: Subject,
}

/// The part that is shown.
#[derive(Clone, Debug, PartialEq)]
enum Subject {
    /// Planes or a line.
    Cuts(Vec<View>),
    /// All of a box.
    Solid(Mesh, Rendering, Camera),
}

impl Shot {
    /// Chooses the plane at `slice` or the line through `line` of some fields, or of all if none is named. If neither is
    /// given, it is all of a line or a plane; of a box, the three planes through its middle, or one if there are more
    /// than three fields.
    ///
    /// # Errors
    /// If there is no such field, fields differ in their meshes, or the mesh has no such plane or line.
    pub fn cuts(
        snapshot: &mut Snapshot,
        names: &[String],
        slice: Option<Cut>,
        line: &[Cut],
    ) -> Result<Shot, Failure> {
        let fields = snapshot.fields(names)?;
        let mesh = common_mesh(snapshot, &fields)?;
        let is_usual = slice.is_none() && line.is_empty();
        let planes = through_middle(fields.len());
        let views = match is_usual && mesh.dimension == 3 && planes.len() > 1 {
            true => View::slices(&mesh, planes)?,
            false => vec![View::new(mesh, slice, line)?],
        };
        Ok(Shot { fields, subject: Subject::Cuts(views) })
    }

    /// Chooses all of one field in a box.
    ///
    /// # Errors
    /// If there is no such field, or it is not in a box.
    pub fn solid(
        snapshot: &mut Snapshot,
        name: &str,
        rendering: Rendering,
        camera: Camera,
    ) -> Result<Shot, Failure> {
        let fields = snapshot.fields(&[name.to_string()])?;
        let mesh = common_mesh(snapshot, &fields)?;
        if mesh.points.contains(&1) {
            return Err(wrong(format_args!(
                "`{name}` has {}, and surfaces and clouds are of boxes of three axes; leave --volume and --iso out",
                mesh.cells()
            )));
        }
        Ok(Shot { fields, subject: Subject::Solid(mesh, rendering, camera) })
    }

    /// Returns the number of fields.
    pub fn count(&self) -> usize {
        self.fields.len()
    }

    /// Reads a file's part.
    ///
    /// # Errors
    /// If a field cannot be read, or has another mesh.
    pub fn take(&self, snapshot: &mut Snapshot) -> Result<Picture<'_>, Failure> {
        let content = match &self.subject {
            Subject::Cuts(views) => {
                let mut parts = Vec::new();
                for field in &self.fields {
                    let mut cuts = Vec::new();
                    for view in views {
                        let points = view.mesh().points;
                        cuts.push(snapshot.read(field, points, |values| view.cut(values))?);
                    }
                    parts.push(cuts);
                }
                Content::Cuts(views, parts)
            }
            Subject::Solid(mesh, rendering, camera) => Content::Solid(Solid {
                values: snapshot.whole(&self.fields[0], mesh.points)?,
                mesh,
                rendering,
                camera: *camera,
            }),
        };
        Ok(Picture {
            fields: &self.fields,
            content,
            system: snapshot.system.clone(),
            caption: snapshot.caption.clone(),
        })
    }

    /// Checks that values which were seen can be shown: on a logarithmic scale, and at surfaces.
    ///
    /// # Errors
    /// If there are values without a logarithm, or no surface of a value.
    pub fn check(&self, look: &Look) -> Result<(), Failure> {
        look.check(&self.fields)?;
        let Subject::Solid(_, Rendering::Surfaces(values), _) = &self.subject else {
            return Ok(());
        };
        let label = &self.fields[0].label;
        let Some((low, high)) = look.seen(0) else {
            return Err(wrong(format_args!("`{label}` has no finite value, and so no surface")));
        };
        let none = values.iter().find(|value| !(low < **value && **value <= high));
        match none {
            Some(value) => Err(wrong(format_args!(
                "there is no surface `{label}` = {}; its values run from {} to {}",
                short(*value),
                short(low),
                short(high)
            ))),
            None => Ok(()),
        }
    }

    /// Names the part in the name of a file; the usual one has no name.
    pub fn suffix(&self) -> String {
        match &self.subject {
            Subject::Cuts(views) => views.iter().map(View::suffix).collect(),
            Subject::Solid(_, Rendering::Cloud, _) => format!("_{}_volume", self.fields[0].plain()),
            Subject::Solid(_, Rendering::Surfaces(_), _) => {
                format!("_{}_iso", self.fields[0].plain())
            }
        }
    }

    /// Returns the fields and the one line that is shown of each, with its axis.
    ///
    /// # Errors
    /// If planes or a box are shown.
    pub(super) fn line(&self) -> Result<(&[Field], &View, usize), Failure> {
        match &self.subject {
            Subject::Cuts(views) => match &views[..] {
                [view @ View { kind: Kind::Line(axis), .. }] => Ok((&self.fields, view, *axis)),
                [view, ..] => {
                    let dimension = view.mesh().dimension;
                    let line = if dimension == 2 { "y=0.5" } else { "y=0.5,z=#0" };
                    Err(wrong(format_args!(
                        "the data have the axes {}, and a diagram over x and t is of a line; add --line {line}",
                        AXES[..dimension].join(", ")
                    )))
                }
                [] => Err(wrong("there is no field to draw")),
            },
            Subject::Solid(..) => Err(wrong("a diagram over x and t is of a line, not of a box")),
        }
    }
}

/// The mesh of all fields.
fn common_mesh(snapshot: &mut Snapshot, fields: &[Field]) -> Result<Mesh, Failure> {
    let mut common: Option<Mesh> = None;
    for field in fields {
        let mesh = snapshot.mesh(field)?;
        match &common {
            Some(first) if *first != mesh => {
                return Err(wrong(format_args!(
                    "`{}` has {}, and `{}` {}; choose with --field",
                    fields[0].label,
                    first.cells(),
                    field.label,
                    mesh.cells()
                )));
            }
            _ => common = Some(mesh),
        }
    }
    common.ok_or_else(|| wrong("there is no field to draw"))
}
