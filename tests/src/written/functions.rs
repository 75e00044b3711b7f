//! The functions of the language by their definitions in texts: one row each. It is a table of the tests alone.

use std::rc::Rc;

use stencil_compiler::catalogue::{Centering, Function};
use stencil_compiler::model::{Model, Term};

use super::evaluate::{Grid, State, reaching, width};
use super::places::moved;
use super::value::Value;
use super::weights::{Stencil, weights};
use super::wide::Wide;

/// A term of a sum, made of the components of arguments: the number of an argument, and that of a component.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A component.
    Of(usize, usize),
    /// The first derivative of a component along an axis.
    Slope(usize, [usize; 2]),
    /// The central difference along these axes by one operator.
    Difference(Vec<usize>, Box<Piece>),
    /// The product of two components.
    Product([usize; 2], [usize; 2]),
}

/// A sum of pieces, each times a number.
pub type Sum = Vec<(Wide, Piece)>;

/// The numbers of components that a call has to do with.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Those of a vector.
    pub components: usize,
    /// The axes of the mesh.
    pub dimension: usize,
    /// Those of each argument.
    pub widths: Vec<usize>,
}

/// The definition of a function.
pub(super) enum Meaning {
    /// Each component is a sum.
    Sum(fn(&Shape, usize) -> Sum),
    /// Each component is evaluated by itself.
    Own {
        value: for<'a> fn(&State<'a>, &'a [Term], usize, [i32; 3]) -> Grid,
        /// Does it hold a first derivative?
        has_slopes: bool,
    },
}

use Meaning::{Own, Sum as Summed};

const TABLE: &[(&str, Meaning)] = &[
    ("grad", Summed(grad)),
    ("div", Summed(div)),
    ("lap", Summed(lap)),
    ("curl", Summed(curl)),
    ("dot", Summed(dot)),
    ("cross", Summed(cross)),
    ("outer", Summed(outer)),
    ("transpose", Summed(|of, at| vec![plus(mirrored(of, at))])),
    ("trace", Summed(|of, _| trace(of).map(plus).collect())),
    ("diagonal", Summed(|of, at| vec![plus(Piece::Of(0, at * (of.components + 1)))])),
    ("sym", Summed(sym)),
    ("sym_traceless", Summed(sym_traceless)),
    ("norm", Own { value: norm, has_slopes: false }),
    ("upwind", Own { value: upwind, has_slopes: true }),
    ("to_cells", Own { value: to_cells, has_slopes: false }),
    ("to_faces", Own { value: to_faces, has_slopes: false }),
    ("to_edges", Own { value: to_edges, has_slopes: false }),
];

impl Meaning {
    /// Returns the definition of a function that is more than an operation on scalars.
    pub(super) fn of(function: Function) -> Option<&'static Meaning> {
        let row = TABLE.iter().find(|(name, _)| *name == function.name());
        assert!(
            row.is_some() || matches!(function, Function::Scalar(_)),
            "no row for `{}`",
            function.name()
        );
        row.map(|(_, meaning)| meaning)
    }

    /// Does a call contain a first derivative?
    pub(super) fn has_slopes(&self, model: &Model, args: &[Term]) -> bool {
        let slope = |(_, piece): &(Wide, Piece)| matches!(piece, Piece::Slope(..));
        match self {
            Summed(sum) => sum(&Shape::new(model, args), 0).iter().any(slope),
            Own { has_slopes, .. } => *has_slopes,
        }
    }
}

impl Shape {
    pub(super) fn new(model: &Model, args: &[Term]) -> Shape {
        let n = model.components;
        Shape {
            components: n,
            dimension: model.dimension,
            widths: args.iter().map(|arg| width(arg, n)).collect(),
        }
    }
}

/// Returns a component of a function's result as a sum; `None` if it is none.
pub fn sum(function: Function, shape: &Shape, at: usize) -> Option<Sum> {
    match Meaning::of(function)? {
        Summed(sum) => Some(sum(shape, at)),
        Own { .. } => None,
    }
}

fn plus(piece: Piece) -> (Wide, Piece) {
    (Wide::ONE, piece)
}

fn minus(piece: Piece) -> (Wide, Piece) {
    (-Wide::ONE, piece)
}

fn grad(of: &Shape, at: usize) -> Sum {
    let width = of.widths[0];
    vec![plus(Piece::Slope(at / width, [0, at % width]))]
}

fn div(of: &Shape, at: usize) -> Sum {
    let n = of.components;
    let part = |axis| plus(Piece::Slope(axis, [0, axis * (of.widths[0] / n) + at]));
    (0..n).map(part).collect()
}

fn lap(of: &Shape, at: usize) -> Sum {
    let second = |axis| Piece::Difference(vec![axis; 2], Box::new(Piece::Of(0, at)));
    (0..of.dimension).map(second).map(plus).collect()
}

fn curl(_: &Shape, at: usize) -> Sum {
    let (j, k) = ((at + 1) % 3, (at + 2) % 3);
    vec![plus(Piece::Slope(j, [0, k])), minus(Piece::Slope(k, [0, j]))]
}

fn dot(of: &Shape, at: usize) -> Sum {
    let n = of.components;
    let columns = of.widths[1] / n;
    let (row, column) = (at / columns, at % columns);
    let part = |k| plus(Piece::Product([0, row * n + k], [1, k * columns + column]));
    (0..n).map(part).collect()
}

fn cross(_: &Shape, at: usize) -> Sum {
    let (j, k) = ((at + 1) % 3, (at + 2) % 3);
    vec![plus(Piece::Product([0, j], [1, k])), minus(Piece::Product([0, k], [1, j]))]
}

fn outer(of: &Shape, at: usize) -> Sum {
    let n = of.widths[1];
    vec![plus(Piece::Product([0, at / n], [1, at % n]))]
}

fn mirrored(of: &Shape, at: usize) -> Piece {
    let n = of.components;
    Piece::Of(0, (at % n) * n + at / n)
}

fn trace(of: &Shape) -> impl Iterator<Item = Piece> {
    let n = of.components;
    (0..n).map(move |i| Piece::Of(0, i * (n + 1)))
}

fn sym(of: &Shape, at: usize) -> Sum {
    let half = Wide::new(0.5);
    vec![(half, Piece::Of(0, at)), (half, mirrored(of, at))]
}

fn sym_traceless(of: &Shape, at: usize) -> Sum {
    let n = of.components;
    let mut sum = sym(of, at);
    if at.is_multiple_of(n + 1) {
        let share = Wide::ratio(-1, n as i128);
        sum.extend(trace(of).map(|piece| (share, piece)));
    }
    sum
}

fn norm<'a>(state: &State<'a>, args: &'a [Term], _: usize, halo: [i32; 3]) -> Grid {
    let p = state.precision;
    let parts = (0..width(&args[0], state.model.components)).map(|k| {
        let a = state.term(&args[0], k, halo);
        state.map(halo, &[&a], |v| p.power(v[0], 2))
    });
    let sum = state.total(parts.collect(), halo);
    state.map(halo, &[&sum], |v| p.sqrt(v[0]))
}

/// Returns advection with differences that leave out the point furthest downwind: the gradient's own differences, less the
/// speed's size times half the distance between the differences that are biased to either side.
fn upwind<'a>(state: &State<'a>, args: &'a [Term], at: usize, halo: [i32; 3]) -> Grid {
    let p = state.precision;
    let parts = (0..state.model.dimension).map(|axis| {
        let apart = sides_apart(axis, state.model.scheme.order);
        let of = state.term(&args[1], at, reaching(halo, &apart));
        let speed: Rc<Grid> = state.term(&args[0], axis, halo);
        let slope = state.first(axis, &args[1], at, halo);
        let step = Wide::new(state.spacing[axis]);
        Grid::new(state.cells, halo, |cell| {
            let (speed, slope): (Value, Value) = (speed.at(cell), slope.at(cell));
            let apart = state.weighted(&apart, step, &of, cell);
            p.difference(p.product(speed, slope), p.product(p.abs(speed), apart))
        })
    });
    state.total(parts.collect(), halo)
}

fn to_cells<'a>(state: &State<'a>, args: &'a [Term], at: usize, halo: [i32; 3]) -> Grid {
    moved(state, args, at, halo, Centering::Cell)
}

fn to_faces<'a>(state: &State<'a>, args: &'a [Term], at: usize, halo: [i32; 3]) -> Grid {
    moved(state, args, at, halo, Centering::Face)
}

fn to_edges<'a>(state: &State<'a>, args: &'a [Term], at: usize, halo: [i32; 3]) -> Grid {
    moved(state, args, at, halo, Centering::Edge)
}

/// Returns half the distance between the first differences without the lowest and without the highest point.
fn sides_apart(axis: usize, order: u32) -> Stencil {
    let radius = order as i32 / 2;
    let biased = |points: std::ops::Range<i32>, sign: i128| {
        let points: Vec<i32> = points.collect();
        let weights = weights(1, &points);
        let place = move |(k, w): (i32, Wide)| {
            let mut at = [0; 3];
            at[axis] = k;
            (at, w * Wide::ratio(sign, 2))
        };
        points.into_iter().zip(weights).map(place)
    };
    let high = biased(1 - radius..radius + 1, 1);
    high.chain(biased(-radius..radius, -1)).collect()
}
