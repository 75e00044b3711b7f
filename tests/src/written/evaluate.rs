//! Terms of a model in every cell, as they are written.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use stencil_compiler::catalogue::Function;
use stencil_compiler::expr::Op;
use stencil_compiler::model::{Mixed, Model, Relation, Term, TermKind};

use super::cells;
use super::faces::{Component, Faces, PERIODIC};
use super::functions::{Meaning, Piece, Shape};
use super::layout::{Entry, Layout};
use super::linear::{Atom, SumTerm, is_uniform, linear};
use super::value::{Precision, Value};
use super::weights::{Stencil, central};
use super::wide::Wide;

/// Values of one component of a term in the cells, and so many cells beyond.
pub(super) struct Grid {
    cells: [usize; 3],
    halo: [i32; 3],
    values: Vec<Value>,
}

impl Grid {
    pub(super) fn new(
        cells: [usize; 3],
        halo: [i32; 3],
        mut value: impl FnMut([i32; 3]) -> Value,
    ) -> Grid {
        let ends = |axis: usize| -halo[axis]..cells[axis] as i32 + halo[axis];
        let mut values = Vec::new();
        for z in ends(2) {
            for y in ends(1) {
                for x in ends(0) {
                    values.push(value([x, y, z]));
                }
            }
        }
        Grid { cells, halo, values }
    }

    pub(super) fn at(&self, cell: [i32; 3]) -> Value {
        let size = |axis: usize| self.cells[axis] + 2 * self.halo[axis] as usize;
        let [x, y, z] = std::array::from_fn(|axis| (cell[axis] + self.halo[axis]) as usize);
        self.values[(z * size(1) + y) * size(0) + x]
    }
}

/// Grids of terms' components by their places in memory, with the cells beyond the mesh that they cover.
type Known = HashMap<(usize, usize), ([i32; 3], Rc<Grid>)>;

/// The state of a system at a time.
pub(super) struct State<'a> {
    pub(super) model: &'a Model,
    pub(super) layout: &'a Layout,
    pub(super) cells: [usize; 3],
    pub(super) spacing: [f64; 3],
    pub(super) params: &'a [f64],
    pub(super) faces: &'a Faces,
    pub(super) precision: Precision,
    pub(super) t: Wide,
    /// Components of fields, then those of sources.
    pub(super) components: &'a [Vec<Value>],
    pub(super) known: RefCell<Known>,
}

impl<'a> State<'a> {
    /// Returns a component of a term in the cells and so many beyond.
    pub(super) fn term(&self, term: &'a Term, at: usize, halo: [i32; 3]) -> Rc<Grid> {
        if let TermKind::Let(i) = term.kind {
            return self.term(&self.model.lets[i].value, at, halo);
        }
        let key = (std::ptr::from_ref(term) as usize, at);
        let known = self.known.borrow().get(&key).cloned();
        if let Some((reach, grid)) = known
            && (0..3).all(|axis| reach[axis] >= halo[axis])
        {
            return grid;
        }
        let grid = Rc::new(self.make(term, at, halo));
        self.known.borrow_mut().insert(key, (halo, grid.clone()));
        grid
    }

    /// Returns the same state with other values of its components.
    pub(super) fn with<'b>(&'b self, components: &'b [Vec<Value>]) -> State<'b> {
        State {
            model: self.model,
            layout: self.layout,
            cells: self.cells,
            spacing: self.spacing,
            params: self.params,
            faces: self.faces,
            precision: self.precision,
            t: self.t,
            components,
            known: RefCell::default(),
        }
    }

    /// Returns a component of a term in each cell.
    pub(super) fn everywhere(&self, term: &'a Term, at: usize) -> Vec<Value> {
        let grid = self.term(term, at, [0; 3]);
        cells(self.cells).map(|cell| grid.at(cell)).collect()
    }

    /// Returns a uniform.
    pub(super) fn number(&self, term: &'a Term) -> Value {
        self.term(term, 0, [0; 3]).at([0; 3])
    }

    fn same(&self, halo: [i32; 3], value: Value) -> Grid {
        Grid::new(self.cells, halo, |_| value)
    }

    pub(super) fn map(
        &self,
        halo: [i32; 3],
        of: &[&Grid],
        value: impl Fn(&[Value]) -> Value,
    ) -> Grid {
        let mut values = Vec::new();
        Grid::new(self.cells, halo, |cell| {
            values.clear();
            values.extend(of.iter().map(|grid| grid.at(cell)));
            value(&values)
        })
    }

    fn make(&self, term: &'a Term, at: usize, halo: [i32; 3]) -> Grid {
        let (p, n) = (self.precision, self.model.components);
        let two =
            |a: &'a Term, i: usize, b: &'a Term, j: usize, f: &dyn Fn(Value, Value) -> Value| {
                let (a, b) = (self.term(a, i, halo), self.term(b, j, halo));
                self.map(halo, &[&a, &b], |v| f(v[0], v[1]))
            };
        match &term.kind {
            TermKind::Number(value) => {
                let value = p.rounded(Wide::ratio(*value.numer(), *value.denom()));
                self.same(halo, value)
            }
            TermKind::Param(i) => self.same(halo, p.rounded(Wide::new(self.params[*i]))),
            TermKind::Time => self.same(halo, p.rounded(self.t)),
            TermKind::Epsilon => self.same(halo, Value::exact(Wide::new(p.epsilon()))),
            TermKind::Field(i) => self.read(self.layout.fields[*i][at], halo, self.faces),
            TermKind::Source(i) => self.read(self.layout.sources[*i][at], halo, &PERIODIC),
            TermKind::Neg(a) => {
                let a = self.term(a, at, halo);
                self.map(halo, &[&a], |v| v[0].negated())
            }
            TermKind::Add(a, b) => two(a, at, b, at, &|a, b| p.sum(a, b)),
            TermKind::Sub(a, b) => two(a, at, b, at, &|a, b| p.difference(a, b)),
            TermKind::Mul(a, b) => {
                let (i, j) = factors(a, b, at, n);
                let squared = is_same(a, b);
                two(a, i, b, j, &|a, b| match p.product(a, b) {
                    square if squared => square.never_negative(),
                    product => product,
                })
            }
            TermKind::Div(a, b) => two(a, at, b, 0, &|a, b| p.quotient(a, b)),
            TermKind::Pow(a, exponent) => {
                let a = self.term(a, 0, halo);
                self.map(halo, &[&a], |v| p.power(v[0], *exponent))
            }
            TermKind::Stack(parts) => {
                let width =
                    n.pow(u32::from(parts[0].rank != stencil_compiler::catalogue::Rank::Scalar));
                self.copied(&parts[at / width], at % width, halo)
            }
            TermKind::Component(of, axes) => {
                let at = axes.iter().fold(0, |at, axis| at * n + axis);
                self.copied(of, at, halo)
            }
            TermKind::Derivative { axis, times: 1, of } => self.first(*axis, of, at, halo),
            TermKind::Derivative { axis, times, of } => {
                let stencil = vec![*axis; *times as usize];
                self.difference(&stencil, &Atom::Whole(of, at), halo)
            }
            TermKind::If(relation, parts) => self.choice(*relation, parts, at, halo),
            TermKind::Call(function, args) => self.call(*function, args, at, halo),
            TermKind::Let(_)
            | TermKind::Coordinate(_)
            | TermKind::Side(..)
            | TermKind::Normal
            | TermKind::Rise(_) => {
                unreachable!("no part of an equation")
            }
        }
    }

    fn copied(&self, term: &'a Term, at: usize, halo: [i32; 3]) -> Grid {
        let grid = self.term(term, at, halo);
        self.map(halo, &[&grid], |v| v[0])
    }

    fn read(&self, entry: Entry, halo: [i32; 3], faces: &Faces) -> Grid {
        let Some((component, negative)) = entry else {
            return self.same(halo, Value::exact(Wide::ZERO));
        };
        let component = Component {
            cells: self.cells,
            spacing: self.spacing,
            faces,
            indices: &self.layout.indices[component],
            values: &self.components[component],
            precision: self.precision,
        };
        Grid::new(self.cells, halo, |cell| match negative {
            true => component.at(cell).negated(),
            false => component.at(cell),
        })
    }

    fn choice(&self, relation: Relation, parts: &'a [Term; 4], at: usize, halo: [i32; 3]) -> Grid {
        let [a, b] = [0, 1].map(|i| self.term(&parts[i], 0, halo));
        let [c, d] = [2, 3].map(|i| self.term(&parts[i], at, halo));
        self.map(halo, &[&a, &b, &c, &d], |v| {
            let apart = v[0].exact - v[1].exact;
            let holds = match relation {
                Relation::Less => apart.to_f64() < 0.0,
                Relation::LessEqual => apart.to_f64() <= 0.0,
                Relation::Equal => apart.to_f64() == 0.0,
            };
            let near = v[0].error + v[1].error;
            let sure = near == 0.0 || apart.size() > near;
            self.precision.choice(holds, sure, v[2], v[3])
        })
    }

    fn call(&self, function: Function, args: &'a [Term], at: usize, halo: [i32; 3]) -> Grid {
        let sum = match (function, Meaning::of(function)) {
            (_, Some(Meaning::Sum(sum))) => sum(&Shape::new(self.model, args), at),
            (_, Some(Meaning::Own { value, .. })) => return value(self, args, at, halo),
            (Function::Scalar(op), None) => {
                let args: Vec<Rc<Grid>> = args.iter().map(|a| self.term(a, 0, halo)).collect();
                let grids: Vec<&Grid> = args.iter().map(|grid| &**grid).collect();
                return self.map(halo, &grids, |v| scalar(self.precision, op, v));
            }
            (Function::Row(_), None) => unreachable!("each has a row"),
        };
        let parts = sum.into_iter().map(|(number, piece)| {
            let of = self.piece(&piece, args, halo);
            match number.to_f64() {
                1.0 => of,
                -1.0 => self.map(halo, &[&of], |v| v[0].negated()),
                _ => {
                    let by = self.precision.rounded(number);
                    self.map(halo, &[&of], |v| self.precision.product(by, v[0]))
                }
            }
        });
        self.total(parts.collect(), halo)
    }

    fn piece(&self, piece: &Piece, args: &'a [Term], halo: [i32; 3]) -> Grid {
        match piece {
            Piece::Slope(axis, [of, at]) => self.first(*axis, &args[*of], *at, halo),
            Piece::Product([a, i], [b, j]) => {
                let squared = is_same(&args[*a], &args[*b]) && i == j;
                let (a, b) = (self.term(&args[*a], *i, halo), self.term(&args[*b], *j, halo));
                self.map(halo, &[&a, &b], |v| match self.precision.product(v[0], v[1]) {
                    square if squared => square.never_negative(),
                    product => product,
                })
            }
            Piece::Of(..) | Piece::Difference(..) => self.atom(&Atom::new(piece, args), halo),
        }
    }

    pub(super) fn total(&self, parts: Vec<Grid>, halo: [i32; 3]) -> Grid {
        let parts: Vec<&Grid> = parts.iter().collect();
        self.map(halo, &parts, |v| {
            let rest = v[1..].iter();
            rest.fold(v[0], |sum, part| self.precision.sum(sum, *part))
        })
    }

    /// Returns the first derivative, of a sum of derivatives term by term if the scheme has an operator for each.
    pub(super) fn first(&self, axis: usize, of: &'a Term, at: usize, halo: [i32; 3]) -> Grid {
        let mixed = self.model.scheme.mixed.settled();
        if axis >= self.model.dimension {
            return self.same(halo, Value::exact(Wide::ZERO));
        }
        if self.model.is_staggered() {
            return self.halfway(axis, of, at, halo);
        }
        if mixed == Mixed::Composed {
            return self.difference(&[axis], &Atom::Whole(of, at), halo);
        }
        let parts = linear(self.model, of, at, mixed);
        if parts.iter().any(|part| part.is_flux(self.model)) {
            return self.same(halo, Value::unknown());
        }
        let parts = parts.into_iter();
        let parts = parts
            .filter(|part| !matches!(part.atom, Atom::Whole(of, _) if is_uniform(self.model, of)));
        let parts: Vec<Grid> =
            parts.map(|part| self.part(&part.differentiated(axis, mixed), halo)).collect();
        match parts.is_empty() {
            true => self.same(halo, Value::exact(Wide::ZERO)),
            false => self.total(parts, halo),
        }
    }

    /// Returns a part of a sum.
    fn part(&self, part: &SumTerm<'a>, halo: [i32; 3]) -> Grid {
        let p = self.precision;
        let number = p.rounded(part.number);
        let by = part.factors.iter().fold(number, |by, (factor, divides)| {
            let factor = self.number(factor);
            match divides {
                true => p.quotient(by, factor),
                false => p.product(by, factor),
            }
        });
        let of = self.atom(&part.atom, halo);
        self.map(halo, &[&of], |v| p.product(by, v[0]))
    }

    fn atom(&self, atom: &Atom<'a>, halo: [i32; 3]) -> Grid {
        match atom {
            Atom::Whole(term, at) => self.copied(term, *at, halo),
            Atom::Product([(a, i), (b, j)]) => {
                let (a, b) = (self.term(a, *i, halo), self.term(b, *j, halo));
                self.map(halo, &[&a, &b], |v| self.precision.product(v[0], v[1]))
            }
            Atom::Difference(axes, of) => self.difference(axes, of, halo),
        }
    }

    /// Returns the central difference along these axes.
    fn difference(&self, axes: &[usize], of: &Atom<'a>, halo: [i32; 3]) -> Grid {
        let stencil = central(self.model.scheme.order as usize, axes);
        let step = axes.iter().fold(Wide::ONE, |step, axis| step * Wide::new(self.spacing[*axis]));
        let of = self.atom(of, reaching(halo, &stencil));
        Grid::new(self.cells, halo, |cell| self.weighted(&stencil, step, &of, cell))
    }

    /// Returns the weighted sum of values around a cell, over the step.
    pub(super) fn weighted(
        &self,
        stencil: &Stencil,
        step: Wide,
        of: &Grid,
        cell: [i32; 3],
    ) -> Value {
        let p = self.precision;
        let mut sum = Value::exact(Wide::ZERO);
        let mut sizes = 0.0;
        for (at, weight) in stencil {
            let place = std::array::from_fn(|axis| cell[axis] + at[axis]);
            let (value, weight) = (of.at(place), *weight / step);
            sum.exact = sum.exact + weight * value.exact;
            sum.error += weight.size() * value.error;
            sizes += weight.size() * value.exact.size();
        }
        sum.error += p.unit * sizes;
        sum.no_sign = false;
        sum
    }
}

/// Returns a halo with the reach of a stencil beyond it.
pub(super) fn reaching(halo: [i32; 3], stencil: &Stencil) -> [i32; 3] {
    let furthest = |axis: usize| stencil.iter().map(|(at, _)| at[axis].abs()).max();
    std::array::from_fn(|axis| halo[axis] + furthest(axis).unwrap_or(0))
}

/// Returns the number of components.
pub(super) fn width(term: &Term, dimension: usize) -> usize {
    dimension.pow(term.rank as u32)
}

/// Returns the components of the factors of a product's component.
pub(super) fn factors(a: &Term, b: &Term, at: usize, dimension: usize) -> (usize, usize) {
    let of = |term: &Term| if width(term, dimension) == 1 { 0 } else { at };
    (of(a), of(b))
}

/// Do two terms read the same values in the same way?
fn is_same(a: &Term, b: &Term) -> bool {
    match (&a.kind, &b.kind) {
        (TermKind::Field(a), TermKind::Field(b)) | (TermKind::Let(a), TermKind::Let(b)) => a == b,
        (TermKind::Component(a, i), TermKind::Component(b, j)) => i == j && is_same(a, b),
        (TermKind::Add(a, b), TermKind::Add(c, d)) | (TermKind::Sub(a, b), TermKind::Sub(c, d)) => {
            is_same(a, c) && is_same(b, d)
        }
        _ => false,
    }
}

/// Evaluates a function of numbers.
fn scalar(p: Precision, op: Op, v: &[Value]) -> Value {
    let a = v[0];
    match op {
        Op::Sqrt => p.sqrt(a),
        Op::Abs => p.abs(a),
        Op::Min => p.extreme(a, v[1], false),
        Op::Max => p.extreme(a, v[1], true),
        Op::Exp => {
            let exact = a.exact.exp();
            p.function(a, exact, exact.size() * a.error.exp()).never_negative()
        }
        Op::Log => p.log(a),
        Op::Sin => p.function(a, a.exact.sin(), 1.0),
        Op::Cos => p.function(a, a.exact.cos(), 1.0),
        Op::Sinh => {
            let slope = (a.exact.magnitude() + Wide::new(a.error)).cosh().size();
            p.function(a, a.exact.sinh(), slope)
        }
        Op::Cosh => {
            let slope = (a.exact.magnitude() + Wide::new(a.error)).cosh().size();
            p.function(a, a.exact.cosh(), slope).never_negative()
        }
        Op::Erf => p.function(a, a.exact.erf(), std::f64::consts::FRAC_2_SQRT_PI),
        Op::Floor => p.floor(a),
        Op::Mod => p.remainder(a, v[1]),
        Op::Tanh => p.function(a, a.exact.tanh(), 1.0),
        Op::Cbrt => p.cbrt(a),
        Op::Pow => p.pow(a, v[1]),
        Op::Atan2 => p.atan2(a, v[1]),
        other => panic!("no oracle for `{}`", other.name()),
    }
}
