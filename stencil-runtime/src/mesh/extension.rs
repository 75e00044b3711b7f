//! Ghost values on polynomials through the cells next to a face and the number on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use stencil_compiler::catalogue::weights::{OnFace, beyond_face};
use stencil_compiler::model::{Model, to_f64};

use super::Number;

/// The highest order of ghost values at a face: beyond it, second derivatives have complex eigenvalues.
const HIGHEST: u32 = 6;

/// Ghost cells beyond a face that have weights.
pub(crate) const DEEPEST: usize = 32;

/// Extrapolation beyond a face: the polynomial through a number on the face, if there is one, and so many cells.
#[derive(Clone, Debug)]
pub(crate) struct Extension {
    pub(crate) on_face: OnFace,
    /// The number on the face, or of its slope along the outward normal; zero if there is none.
    pub(crate) number: Number,
    /// Cells next to the face that the polynomial goes through.
    pub(crate) cells: usize,
    /// Ghost cells that it reaches.
    pub(crate) deepest: usize,
    weights: Arc<[Weights]>,
}

/// The weights of one ghost cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weights {
    /// Weight of the number on the face; of a slope, times the spacing.
    pub(crate) face: f64,
    /// Weights of the cells, the one next to the face first.
    pub(crate) cells: Vec<f64>,
}

impl Extension {
    /// Returns the weights of ghost cell `k`, from 0; beyond [`DEEPEST`] those of the last one, which nothing reads.
    pub(crate) fn weights(&self, k: usize) -> &Weights {
        &self.weights[k.min(DEEPEST - 1)]
    }

    /// Returns the number of cells that so many ghost cells read.
    pub(crate) fn read(&self, depth: usize) -> usize {
        let read = |of: &Weights| of.cells.iter().rposition(|weight| *weight != 0.0);
        let cells = self.weights.iter().take(depth).filter_map(read);
        cells.max().map_or(0, |last| last + 1)
    }

    /// Returns the weights of all ghost cells that have some.
    pub(crate) fn all(&self) -> &[Weights] {
        &self.weights
    }
}

/// Returns the mirror images about a number of values of which one lies on the face: the first ghost cell if it is
/// `in_ghosts`, else the cell next to the face. There the value is the number.
pub(super) fn mirrored_on_face(in_ghosts: bool, number: Number, cells: usize) -> Extension {
    let weights = |k: usize| {
        // The image of ghost cell k, if it is not on the face itself.
        let image = if in_ghosts { k.checked_sub(1) } else { Some(k + 1) };
        let weight = |cell| if Some(cell) == image { -1.0 } else { 0.0 };
        Weights {
            face: if image.is_some() { 2.0 } else { 1.0 },
            cells: (0..cells).map(weight).collect(),
        }
    };
    Extension {
        on_face: OnFace::Value,
        number,
        cells,
        deepest: cells.saturating_sub(1),
        weights: (0..DEEPEST).map(weights).collect(),
    }
}

/// Extensions, whose weights are found once.
#[derive(Debug, Default)]
pub(super) struct Extensions(BTreeMap<(OnFace, usize), Arc<[Weights]>>);

impl Extensions {
    /// Returns the extension through so many cells.
    pub(super) fn through(&mut self, on_face: OnFace, number: Number, cells: usize) -> Extension {
        let weights = self.0.entry((on_face, cells)).or_insert_with(|| {
            let weights = |k| {
                let beyond = beyond_face(on_face, cells, k);
                Weights {
                    face: to_f64(&beyond.face),
                    cells: beyond.cells.iter().map(to_f64).collect(),
                }
            };
            (0..DEEPEST).map(weights).collect()
        });
        Extension { on_face, number, cells, deepest: DEEPEST, weights: weights.clone() }
    }
}

/// Returns the order of extrapolated ghost values: the order of the scheme's differences, at most six, or two if
/// fluxes go through faces.
pub(super) fn order(model: &Model) -> usize {
    match model.fluxes.is_empty() {
        true => model.scheme.order.min(HIGHEST) as usize,
        false => 2,
    }
}
