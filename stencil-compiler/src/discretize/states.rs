//! States that terms are evaluated in.

use std::collections::BTreeMap;

use super::expand::Tensor;
use super::poly::Poly;

/// The states on both sides of a face: those of the cell below at its upper face, and of the cell above at its lower one.
pub(super) struct Sides {
    pub(super) axis: usize,
    /// Each with the part of its names that tells them from those of others.
    pub(super) states: [(States, String); 2],
    /// The cell that the states above are seen from, counted from the one below.
    pub(super) ahead: i32,
    /// For each conserved field the jump of its flux and the integral of its product, as seen from the cell below, if the solver asks
    /// for it.
    pub(super) rises: BTreeMap<usize, Tensor>,
}

impl Sides {
    /// Two states, without the rises of fluxes.
    pub(super) fn new(axis: usize, states: [(States, String); 2], ahead: i32) -> Self {
        Sides { axis, states, ahead, rises: BTreeMap::new() }
    }
}

/// States that terms are evaluated in.
#[derive(Clone, Default)]
pub(super) struct States {
    /// The value of each component of the fields.
    pub(super) components: Vec<Poly>,
    /// The values of `let`s; others are computed from the components.
    pub(super) lets: BTreeMap<usize, Tensor>,
    /// The only slope that is not zero, which is one; nothing where slopes are differences.
    pub(super) slope: Option<Slope>,
    /// The values of sources, if they are not read.
    pub(super) sources: Vec<Tensor>,
    /// The place that sources are read at; the cell itself if not given.
    pub(super) given_at: Option<GivenAt>,
}

/// A place along an axis at which sources are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct GivenAt {
    pub(super) axis: usize,
    /// The cell, counted from that at work.
    pub(super) ahead: i32,
    /// Is it the upper face of that cell?
    pub(super) at_face: bool,
}

impl GivenAt {
    /// The upper face along an axis of a cell so many ahead.
    pub(super) fn upper_face(axis: usize, ahead: i32) -> Option<Self> {
        Some(GivenAt { axis, ahead, at_face: true })
    }

    /// The same place, seen from one cell before.
    pub(super) fn from_below(place: Option<Self>, axis: usize) -> Option<Self> {
        let own = GivenAt { axis, ahead: 0, at_face: false };
        let place = place.unwrap_or(own);
        Some(GivenAt { ahead: place.ahead + 1, ..place })
    }
}

/// The derivative of a component along an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Slope {
    pub(super) component: usize,
    pub(super) axis: usize,
    /// May it be of any field? If not, it is of one that has one value at faces.
    pub(super) of_any: bool,
}
