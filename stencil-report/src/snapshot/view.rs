//! Which part of a box a picture shows.

use std::str::FromStr;

use ndarray::{Array2, Array3, Axis, s};

use super::{AXES, Mesh, short, wrong};
use crate::Failure;

/// A place along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// A coordinate: the nearest point is meant.
    Coordinate(f64),
    /// The number of a point, from 0.
    Point(usize),
}

/// A place on a named axis: `z=0.5`, `z=#12`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// 0 is x.
    pub(super) axis: usize,
    pub(super) place: Place,
}

impl FromStr for Cut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cut = text.split_once('=').and_then(|(axis, place)| {
            let axis = AXES.iter().position(|name| *name == axis.trim())?;
            let place = match place.trim().strip_prefix('#') {
                Some(point) => Place::Point(point.parse().ok()?),
                None => {
                    Place::Coordinate(place.trim().parse().ok().filter(|x: &f64| x.is_finite())?)
                }
            };
            Some(Cut { axis, place })
        });
        cut.ok_or_else(|| {
            "write x, y or z, `=`, and a coordinate or # and a cell: z=0.5, z=#12".into()
        })
    }
}

impl Cut {
    /// The point that is meant.
    fn point(&self, mesh: &Mesh) -> Result<usize, Failure> {
        let (axis, name) = (self.axis, AXES[self.axis]);
        if axis >= mesh.dimension {
            let known = AXES[..mesh.dimension].join(", ");
            return Err(wrong(format_args!("the data have no axis {name}; they have {known}")));
        }
        let count = mesh.points[axis];
        match self.place {
            Place::Point(point) if point < count => Ok(point),
            Place::Point(point) => Err(wrong(format_args!(
                "there is no cell #{point} along {name}; they run from #0 to #{}",
                count - 1
            ))),
            Place::Coordinate(at) => {
                let (low, high) = mesh.edges(axis);
                if !(low..=high).contains(&at) {
                    return Err(wrong(format_args!(
                        "{name} = {at} is outside of the mesh, which runs from {} to {}",
                        short(low),
                        short(high)
                    )));
                }
                let point = ((at - low) / mesh.spacing[axis]).floor() as usize;
                Ok(point.min(count - 1))
            }
        }
    }
}

/// The part of each field that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct View {
    pub(super) kind: Kind,
    /// Points of the cuts, in the order of the axes.
    at: Vec<(usize, usize)>,
    /// Whether the cuts were asked for.
    asked: bool,
    mesh: Mesh,
}

/// A plane or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Columns and rows of the picture are these axes.
    Plane([usize; 2]),
    /// Along this axis.
    Line(usize),
}

/// The axes that are cut and the points there, in the order of the axes.
fn points(mesh: &Mesh, slice: Option<Cut>, line: &[Cut]) -> Result<Vec<(usize, usize)>, Failure> {
    let middle = Cut { axis: 2, place: Place::Point(mesh.points[2] / 2) };
    let cuts: Vec<Cut> = match (mesh.dimension, slice) {
        _ if !line.is_empty() => line.to_vec(),
        (1 | 2, Some(_)) => {
            return Err(wrong(
                "--slice cuts a box, and the data have no third axis; use --line for a cut through a plane",
            ));
        }
        (_, Some(cut)) => vec![cut],
        (3, None) => vec![middle],
        _ => Vec::new(),
    };
    let mut at: Vec<(usize, usize)> = Vec::new();
    for cut in &cuts {
        if at.iter().any(|(axis, _)| *axis == cut.axis) {
            let name = AXES[cut.axis];
            return Err(wrong(format_args!("two places along {name}; name each axis once")));
        }
        at.push((cut.axis, cut.point(mesh)?));
    }
    at.sort_unstable();
    Ok(at)
}

impl View {
    /// Planes through the middle of a box, normal to these axes.
    pub(super) fn slices(
        mesh: &Mesh,
        normals: &[stencil_runtime::Axis],
    ) -> Result<Vec<View>, Failure> {
        let middle = |axis: usize| Cut { axis, place: Place::Point(mesh.points[axis] / 2) };
        let plane = |axis: usize| {
            let view = View::new(mesh.clone(), Some(middle(axis)), &[])?;
            Ok(View { asked: false, ..view })
        };
        normals.iter().map(|axis| plane(axis.index())).collect()
    }

    /// A plane at `slice`, or a line through `line`; as much as there is if neither is given.
    pub(super) fn new(mesh: Mesh, slice: Option<Cut>, line: &[Cut]) -> Result<View, Failure> {
        let at = points(&mesh, slice, line)?;
        let dimension = mesh.dimension;
        let free: Vec<usize> =
            (0..dimension).filter(|axis| !at.iter().any(|(cut, _)| cut == axis)).collect();
        let kind = match free[..] {
            [axis] => Kind::Line(axis),
            [columns, rows] if line.is_empty() => Kind::Plane([columns, rows]),
            _ => {
                return Err(wrong(match dimension {
                    1 => "the data have one axis and are drawn as a line; leave --line out",
                    2 => "a line in a plane needs 1 place, as in --line y=0.5",
                    _ => "a line in a box needs 2 places, as in --line y=0.5,z=#0",
                }));
            }
        };
        Ok(View { kind, at, asked: slice.is_some() || !line.is_empty(), mesh })
    }

    /// The part of `values` that is shown; a line is one row.
    pub(super) fn cut(&self, values: &Array3<f64>) -> Array2<f64> {
        // Arrays are [z, y, x].
        let mut part = values.view();
        for (axis, point) in &self.at {
            part = part.slice_axis_move(Axis(2 - axis), (*point..*point + 1).into());
        }
        match self.kind {
            Kind::Line(_) => {
                let line: Vec<f64> = part.iter().copied().collect();
                Array2::from_shape_vec((1, line.len()), line).unwrap_or_default()
            }
            Kind::Plane([0, 1]) => part.slice(s![0, .., ..]).to_owned(),
            Kind::Plane([0, _]) => part.slice(s![.., 0, ..]).to_owned(),
            Kind::Plane(_) => part.slice(s![.., .., 0]).to_owned(),
        }
    }

    /// The mesh it was made for.
    pub(super) fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// `z = 0.5`, where the cuts are.
    pub(super) fn places(&self) -> Vec<String> {
        let place = |(axis, point): &(usize, usize)| {
            format!("{} = {}", AXES[*axis], short(self.mesh.at(*axis, *point)))
        };
        self.at.iter().map(place).collect()
    }

    /// Names the view in the name of a file; the usual one has no name.
    pub(super) fn suffix(&self) -> String {
        if !self.asked {
            return String::new();
        }
        let cut = |(axis, point): &(usize, usize)| format!("_{}{point}", AXES[*axis]);
        self.at.iter().map(cut).collect()
    }
}
