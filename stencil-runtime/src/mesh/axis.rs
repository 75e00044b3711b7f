//! Axes, and the faces at their ends.

use std::fmt;

/// An axis of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// The fastest axis of arrays.
    X,
    /// The second axis.
    Y,
    /// The slowest axis of arrays.
    Z,
}

impl Axis {
    /// x, y, z.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// Returns 0 for x, 1 for y, 2 for z.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns `x`, `y` or `z`.
    pub fn name(self) -> &'static str {
        ["x", "y", "z"][self.index()]
    }

    /// Returns the axis of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.name() == name)
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An end of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Before the first cell.
    Lo,
    /// Behind the last cell.
    Hi,
}

impl Side {
    /// The lower and the upper end.
    pub const ALL: [Side; 2] = [Side::Lo, Side::Hi];

    /// Returns `lo` or `hi`.
    pub fn name(self) -> &'static str {
        match self {
            Side::Lo => "lo",
            Side::Hi => "hi",
        }
    }
}

/// A face of the mesh.
///
/// ```
/// use stencil_runtime::Face;
/// assert_eq!(Face::Y_LO.to_string(), "y.lo");
/// assert_eq!(Face::from_name("y.lo"), Some(Face::Y_LO));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Face {
    /// The axis that it is normal to.
    pub axis: Axis,
    /// The end of the axis.
    pub side: Side,
}

impl Face {
    /// Before the first cell along x.
    pub const X_LO: Face = Face::new(Axis::X, Side::Lo);
    /// Behind the last cell along x.
    pub const X_HI: Face = Face::new(Axis::X, Side::Hi);
    /// Before the first cell along y.
    pub const Y_LO: Face = Face::new(Axis::Y, Side::Lo);
    /// Behind the last cell along y.
    pub const Y_HI: Face = Face::new(Axis::Y, Side::Hi);
    /// Before the first cell along z.
    pub const Z_LO: Face = Face::new(Axis::Z, Side::Lo);
    /// Behind the last cell along z.
    pub const Z_HI: Face = Face::new(Axis::Z, Side::Hi);
    /// Every face.
    pub const ALL: [Face; 6] =
        [Self::X_LO, Self::X_HI, Self::Y_LO, Self::Y_HI, Self::Z_LO, Self::Z_HI];

    /// Makes the face at an end of an axis.
    pub const fn new(axis: Axis, side: Side) -> Self {
        Face { axis, side }
    }

    /// Returns the face of a name such as `x.lo`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.to_string() == name)
    }
}

impl fmt::Display for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.axis, self.side.name())
    }
}

/// Some faces: one, both of an axis, or all. An [`Axis`] or a [`Face`] converts to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Faces {
    /// Every face of every axis that the system has.
    All,
    /// Both faces of an axis.
    Of(Axis),
    /// One face.
    One(Face),
}

impl Faces {
    /// Is this face one of them?
    pub fn contains(self, face: Face) -> bool {
        match self {
            Faces::All => true,
            Faces::Of(axis) => face.axis == axis,
            Faces::One(one) => face == one,
        }
    }

    /// Returns the axis, if it is only one.
    pub(crate) fn axis(self) -> Option<Axis> {
        match self {
            Faces::All => None,
            Faces::Of(axis) | Faces::One(Face { axis, .. }) => Some(axis),
        }
    }
}

impl From<Axis> for Faces {
    fn from(axis: Axis) -> Self {
        Faces::Of(axis)
    }
}

impl From<Face> for Faces {
    fn from(face: Face) -> Self {
        Faces::One(face)
    }
}
