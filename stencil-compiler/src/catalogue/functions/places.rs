//! Interpolation between the places of a cell: its centre, its faces, its edges.

use super::super::centering::Centering;
use super::{Arguments, Form, Rank, Row};

/// The rows, in the order in which messages list them.
pub(super) const ROWS: &[&Row] = &[&TO_CELLS, &TO_FACES, &TO_EDGES];

/// All components in the centres of cells.
const TO_CELLS: Row = Row {
    name: "to_cells",
    moves: true,
    rank: |of| Some(of[0]),
    forms: |of| moved(of, Centering::Cell),
    ..Row::OF_ONE
};

/// Component i of a vector on faces along i.
const TO_FACES: Row = Row {
    name: "to_faces",
    moves: true,
    rank: |of| Centering::Face.fits(of[0]).then_some(of[0]),
    wants: "`to_faces` is of a vector: a face has its normal component",
    forms: |of| moved(of, Centering::Face),
    ..Row::OF_ONE
};

/// Component i of a vector on edges along i; component ij of a tensor on edges normal to i and j.
const TO_EDGES: Row = Row {
    name: "to_edges",
    moves: true,
    rank: |of| Centering::Edge.fits(of[0]).then_some(of[0]),
    wants: "`to_edges` is of a vector or a tensor: an edge has the component along it",
    forms: |of| moved(of, Centering::Edge),
    ..Row::OF_ONE
};

/// All components of the argument at the places of a centering.
fn moved(of: &Arguments<'_>, centering: Centering) -> Vec<Form> {
    let width = of.widths[0];
    let rank = match width {
        // The place of the only component is that of a vector's, whatever its rank.
        _ if width == of.components => Rank::Vector,
        1 => Rank::Scalar,
        _ => Rank::Tensor,
    };
    let places = centering.entries(rank, of.components, of.dimension);
    (0..width).zip(places).map(|(at, place)| Form::Of(0, at).at(place)).collect()
}
