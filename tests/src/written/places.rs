//! The places of values on faces and edges of cells, and the differences and means between them, from their definitions.

use std::rc::Rc;

use stencil_compiler::catalogue::{Centering, Function};
use stencil_compiler::model::{Model, Term, TermKind};

use super::evaluate::{Grid, State, reaching, width};
use super::functions::{self, Piece, Shape};
use super::value::Value;
use super::weights::{Stencil, weights};
use super::wide::Wide;

/// For each axis: does a value lie half a cell above the centre of its cell?
type Halves = [bool; 3];

/// Returns the places of the component of a field in a cell, by its centering and its axes.
fn of_component(model: &Model, centering: Centering, indices: &[usize]) -> Halves {
    std::array::from_fn(|axis| {
        let odd = indices.iter().filter(|index| **index == axis).count() % 2 == 1;
        axis < model.dimension
            && match (centering, indices.len()) {
                (Centering::Cell, _) => false,
                (Centering::Edge, 1) => !odd,
                _ => odd,
            }
    })
}

fn indices(model: &Model, of: &Term, at: usize) -> Vec<usize> {
    let n = model.components;
    match of.rank as u32 {
        0 => Vec::new(),
        1 => vec![at],
        _ => vec![at / n, at % n],
    }
}

/// Returns the place of a component of a term; `None` if it is the same everywhere.
pub(super) fn place(model: &Model, term: &Term, at: usize) -> Option<Halves> {
    let n = model.components;
    let of = |term: &Term, at: usize| place(model, term, at);
    let entry = |term: &Term| if width(term, n) == 1 { 0 } else { at };
    match &term.kind {
        TermKind::Field(i) => {
            Some(of_component(model, model.fields[*i].centering, &indices(model, term, at)))
        }
        TermKind::Source(_) => Some([false; 3]),
        TermKind::Let(i) => of(&model.lets[*i].value, at),
        TermKind::Neg(a) => of(a, at),
        TermKind::Pow(a, _) => of(a, 0),
        TermKind::Add(a, b) | TermKind::Sub(a, b) => of(a, at).or_else(|| of(b, at)),
        TermKind::Mul(a, b) | TermKind::Div(a, b) => of(a, entry(a)).or_else(|| of(b, entry(b))),
        TermKind::Stack(parts) => {
            let width = width(&parts[0], n);
            of(&parts[at / width], at % width)
        }
        TermKind::Component(a, axes) => of(a, axes.iter().fold(0, |at, axis| at * n + axis)),
        TermKind::Derivative { axis, times, of: a } => halfway(of(a, at), *axis, *times == 1),
        TermKind::If(_, parts) => {
            let compared = || parts[..2].iter().find_map(|part| of(part, 0));
            compared().or_else(|| parts[2..].iter().find_map(|part| of(part, at)))
        }
        TermKind::Call(function, args) => called(model, *function, args, at),
        _ => None,
    }
}

fn halfway(place: Option<Halves>, axis: usize, is_first: bool) -> Option<Halves> {
    let mut place = place?;
    place[axis] ^= is_first;
    Some(place)
}

fn called(model: &Model, function: Function, args: &[Term], at: usize) -> Option<Halves> {
    if let Some(centering) = target(function) {
        return Some(of_component(model, centering, &indices(model, &args[0], at)));
    }
    let Some(sum) = functions::sum(function, &Shape::new(model, args), at) else {
        return args.iter().find_map(|arg| place(model, arg, 0));
    };
    sum.into_iter().find_map(|(_, piece)| of_piece(model, &piece, args))
}

fn of_piece(model: &Model, piece: &Piece, args: &[Term]) -> Option<Halves> {
    match piece {
        Piece::Of(of, at) => place(model, &args[*of], *at),
        Piece::Slope(axis, _) if *axis >= model.dimension => None,
        Piece::Slope(axis, [of, at]) => halfway(place(model, &args[*of], *at), *axis, true),
        Piece::Difference(_, of) => of_piece(model, of, args),
        Piece::Product(a, b) => {
            [a, b].into_iter().find_map(|[of, at]| place(model, &args[*of], *at))
        }
    }
}

/// The centering that a function interpolates to.
fn target(function: Function) -> Option<Centering> {
    match function.name() {
        "to_cells" => Some(Centering::Cell),
        "to_faces" => Some(Centering::Face),
        "to_edges" => Some(Centering::Edge),
        _ => None,
    }
}

/// Returns the weights of a value or a first difference halfway between places along an axis: above the centres of cells,
/// or from values above them.
fn between(order: u32, axis: usize, times: usize, from_halves: bool) -> Stencil {
    let radius = order as i32 / 2;
    let cells: Vec<i32> = match from_halves {
        true => (-radius..radius).collect(),
        false => (1 - radius..=radius).collect(),
    };
    // In half cells from the place of the result.
    let shift = if from_halves { 1 } else { -1 };
    let points: Vec<i32> = cells.iter().map(|cell| 2 * cell + shift).collect();
    let per_cell = Wide::integer(2_i128.pow(times as u32));
    let place = |(cell, weight): (i32, Wide)| {
        let mut at = [0; 3];
        at[axis] = cell;
        (at, weight * per_cell)
    };
    cells.into_iter().zip(weights(times, &points)).map(place).collect()
}

impl<'a> State<'a> {
    /// Returns a first derivative in a system with values on faces or edges.
    pub(super) fn halfway(&self, axis: usize, of: &'a Term, at: usize, halo: [i32; 3]) -> Grid {
        let Some(from) = place(self.model, of, at) else {
            return Grid::new(self.cells, halo, |_| Value::exact(Wide::ZERO));
        };
        let stencil = between(self.model.scheme.order, axis, 1, from[axis]);
        let step = Wide::new(self.spacing[axis]);
        let of = self.term(of, at, reaching(halo, &stencil));
        Grid::new(self.cells, halo, |cell| self.weighted(&stencil, step, &of, cell))
    }
}

/// Returns a component at the place that a function interpolates to.
pub(super) fn moved<'a>(
    state: &State<'a>,
    args: &'a [Term],
    at: usize,
    halo: [i32; 3],
    centering: Centering,
) -> Grid {
    let model = state.model;
    let from = place(model, &args[0], at).filter(|_| model.is_staggered());
    let to = of_component(model, centering, &indices(model, &args[0], at));
    let axes: Vec<usize> =
        (0..3).filter(|axis| from.is_some_and(|from| from[*axis] != to[*axis])).collect();
    let order = model.scheme.order;
    let stencils: Vec<Stencil> =
        axes.iter().map(|axis| between(order, *axis, 0, !to[*axis])).collect();
    // The halo that each step reads, the last step first.
    let mut halos = vec![halo];
    for stencil in stencils.iter().rev() {
        halos.push(reaching(halos[halos.len() - 1], stencil));
    }
    let first = halos.pop().unwrap_or(halo);
    let mut value: Rc<Grid> = state.term(&args[0], at, first);
    for (stencil, halo) in stencils.iter().zip(halos.into_iter().rev()) {
        let of = value;
        value = Rc::new(Grid::new(state.cells, halo, |cell| {
            state.weighted(stencil, Wide::ONE, &of, cell)
        }));
    }
    Grid::new(state.cells, halo, |cell| value.at(cell))
}
