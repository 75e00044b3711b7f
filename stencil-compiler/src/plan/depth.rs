//! The depth to which ghost cells are filled.

use super::max3;

/// The ghost cells of a patch that a fill or an exchange renews, along x, y, z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth {
    /// Cells on sides where the mesh goes on.
    pub towards: [u32; 3],
    /// Cells beyond faces of the mesh.
    pub beyond: [u32; 3],
    /// Those of the cells on sides where the mesh goes on that launches have computed: the fill goes around the patch and them.
    pub computed: [u32; 3],
}

impl From<[u32; 3]> for Depth {
    /// Returns the same depth on all sides.
    fn from(depth: [u32; 3]) -> Self {
        Depth { towards: depth, beyond: depth, computed: [0; 3] }
    }
}

impl From<[usize; 3]> for Depth {
    /// Returns the same depth on all sides.
    fn from(depth: [usize; 3]) -> Self {
        Depth::from(depth.map(|cells| cells as u32))
    }
}

impl Depth {
    /// Returns the depth with all ghost cells of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let towards = max3(self.towards, other.towards);
        let is_computed = |of: Self, axis: usize| of.towards[axis] == of.computed[axis];
        let computed = |axis: usize| match is_computed(self, axis) && is_computed(other, axis) {
            true => towards[axis],
            false => 0,
        };
        Depth {
            towards,
            beyond: max3(self.beyond, other.beyond),
            computed: std::array::from_fn(computed),
        }
    }

    /// Returns the same depth, with the cells that were computed among those that are filled.
    #[must_use]
    pub fn whole(self) -> Self {
        Depth { computed: [0; 3], ..self }
    }

    /// Returns the most cells that it reaches along each axis.
    pub fn deepest(self) -> [u32; 3] {
        max3(self.towards, self.beyond)
    }

    /// Is every cell filled from cells of the same device? Values of other devices were computed.
    pub fn is_local(self) -> bool {
        self.computed != [0; 3]
    }
}
