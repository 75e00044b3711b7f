//! The places in a cell at which the components of fields have their values.

use super::Rank;

/// For each axis: does a value lie half a cell above the centre of its cell, on the upper face?
pub type Halves = [bool; 3];

/// The centre of a cell.
pub const CENTRE: Halves = [false; 3];

/// The places of the values of a field (K. S. Yee, IEEE Trans. Antennas Propag. 14, 302, 1966).
///
/// | centering | vector: component i | tensor: component ij |
/// | --- | --- | --- |
/// | `Cell` | centre | centre |
/// | `Face` | upper face along i | – |
/// | `Edge` | upper edge that is parallel to i | centre if i = j, else upper edge normal to i and j |
///
/// A mesh has no halves along axes that it lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Centering {
    /// All components in the centres of cells.
    #[default]
    Cell,
    /// Normal components on faces.
    Face,
    /// Parallel components on edges; shear stresses on edges, normal ones in the centres.
    Edge,
}

impl Centering {
    /// Those that a declaration names, by their words.
    pub(crate) const NAMED: [(&str, Centering); 2] =
        [("face", Centering::Face), ("edge", Centering::Edge)];

    /// Returns its word in declarations; nothing for cells.
    pub fn word(self) -> &'static str {
        Self::NAMED.iter().find(|(_, centering)| *centering == self).map_or("", |(word, _)| word)
    }

    /// Does it go with a field of this rank?
    pub(crate) fn fits(self, rank: Rank) -> bool {
        match self {
            Centering::Cell => true,
            Centering::Face => rank == Rank::Vector,
            Centering::Edge => rank != Rank::Scalar,
        }
    }

    /// Returns the place of a component, by its axes, on a mesh of so many dimensions.
    pub fn halves(self, indices: &[usize], dimension: usize) -> Halves {
        let of_index = |axis: usize| indices.iter().filter(|index| **index == axis).count() % 2;
        std::array::from_fn(|axis| {
            axis < dimension
                && match (self, indices) {
                    (Centering::Cell, _) => false,
                    (Centering::Edge, [along]) => axis != *along,
                    (Centering::Face | Centering::Edge, _) => of_index(axis) == 1,
                }
        })
    }

    /// Returns the places of all entries of a value of this rank, row by row.
    pub fn entries(self, rank: Rank, components: usize, dimension: usize) -> Vec<Halves> {
        let axes = || 0..components;
        match rank {
            Rank::Scalar => vec![self.halves(&[], dimension)],
            Rank::Vector => axes().map(|i| self.halves(&[i], dimension)).collect(),
            Rank::Tensor => {
                let pairs = axes().flat_map(|i| axes().map(move |j| [i, j]));
                pairs.map(|pair| self.halves(&pair, dimension)).collect()
            }
        }
    }
}

/// Names a place on a mesh of so many dimensions: `the centres of cells`, `faces along x`, `edges along z`, `corners`.
pub fn place_name(at: Halves, dimension: usize) -> String {
    const AXES: [&str; 3] = ["x", "y", "z"];
    let halves: Vec<&str> = (0..3).filter(|axis| at[*axis]).map(|axis| AXES[axis]).collect();
    match (&halves[..], dimension) {
        ([], _) => "the centres of cells".to_string(),
        ([axis], _) => format!("faces along {axis}"),
        ([_, _], 3) => {
            let along = (0..3).find(|axis| !at[*axis]).map_or("", |axis| AXES[axis]);
            format!("edges along {along}")
        }
        _ => "corners".to_string(),
    }
}
