//! Builds the grid functions of an algorithm: names, uniforms, paired differences, ordered sums.

use std::collections::BTreeMap;

use num_traits::{One, Signed, Zero};

use super::poly::{Overflow, Uniform, UniformFactor};
use super::values::added;
use crate::algorithm::{
    Access, Atom, Def, FnId, GridFn, Offset, SumTerm, Uniform as NamedUniform, UniformAtom,
    UniformId,
};
use crate::catalogue::operators::{Operator, Stencil};
use crate::diag::Span;
use crate::expr::{Builder, Expr, Op, Rational, Ref, to_f64};

/// One linear term: its factor, the access that it multiplies, and the number of stored levels below.
pub(super) type Linear = (Uniform, Access, u32);

/// The combination of the values `k` cells ahead and behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pair {
    /// `f(+k) - f(-k)`
    Difference,
    /// `f(+k) + f(-k)`
    Sum,
    /// `(f(+k) - f(0)) - (f(0) - f(-k))`: one neighbour's gain is the other's loss, to the bit.
    Flow,
}

/// The order in which sums add their terms.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    /// The axis whose planes are read one after the other.
    pub(super) slowest: usize,
    /// Are even differences made of differences of neighbours?
    pub(super) of_neighbours: bool,
    /// Are values of both sides of a face added, for which a mirror image needs the same order?
    pub(super) of_sides: bool,
}

/// The nodes of opaque uniforms in an expression, by their number.
type Known = BTreeMap<usize, Ref>;

/// Grid functions and uniforms as they come to be.
pub(super) struct Functions {
    pub(super) functions: Vec<GridFn>,
    pub(super) uniforms: Vec<NamedUniform>,
    /// For each function, the number of derivatives of derived grid functions below it.
    pub(super) depth: Vec<u32>,
    known_uniforms: BTreeMap<Uniform, UniformId>,
    /// The function that is read, the axis, the two offsets along it, and their combination.
    pairs: BTreeMap<(FnId, usize, [i32; 2], Pair), FnId>,
    names: BTreeMap<String, u32>,
    opaque: Vec<(Op, Vec<Uniform>)>,
    sums: Sums,
    /// Span of the equation at work, given to functions as they are made.
    pub(super) span: Span,
}

impl Functions {
    /// `reserved` names are taken.
    pub(super) fn new(
        sums: Sums,
        opaque: Vec<(Op, Vec<Uniform>)>,
        reserved: impl Iterator<Item = String>,
    ) -> Self {
        Functions {
            functions: Vec::new(),
            uniforms: Vec::new(),
            depth: Vec::new(),
            known_uniforms: BTreeMap::new(),
            pairs: BTreeMap::new(),
            names: reserved.map(|name| (name, 1)).collect(),
            opaque,
            sums,
            span: Span::default(),
        }
    }

    /// Adds a grid function; a name that is taken gets a number.
    pub(super) fn add(&mut self, name: &str, def: Def, depth: u32) -> FnId {
        let name = self.reserve(name);
        self.put(name, def, depth)
    }

    /// Adds a grid function with a name that is kept for it.
    pub(super) fn put(&mut self, name: String, def: Def, depth: u32) -> FnId {
        let id = FnId(self.functions.len() as u32);
        self.functions.push(GridFn { name, def, span: self.span });
        self.depth.push(depth);
        id
    }

    /// Keeps a name; one that is taken gets a number.
    pub(super) fn reserve(&mut self, name: &str) -> String {
        let mut free = name.to_string();
        while self.names.contains_key(&free) {
            let count = self.names.entry(name.to_string()).or_insert(1);
            *count += 1;
            free = format!("{name}_{count}");
        }
        self.names.insert(free.clone(), 1);
        free
    }

    pub(super) fn name(&self, id: FnId) -> &str {
        &self.functions[id.0 as usize].name
    }

    pub(super) fn depth_of(&self, id: FnId) -> u32 {
        self.depth[id.0 as usize]
    }

    pub(super) fn is_state(&self, id: FnId) -> bool {
        matches!(self.functions[id.0 as usize].def, Def::State(_))
    }

    /// The uniform of this value, new or known; named `c` and a number unless a name is given.
    pub(super) fn uniform(&mut self, value: &Uniform, name: Option<&str>) -> UniformId {
        if let Some(&known) = self.known_uniforms.get(value) {
            return known;
        }
        let id = UniformId(self.uniforms.len() as u32);
        let name = name.map_or_else(|| format!("c{}", id.0), str::to_string);
        let name = self.reserve(&name);
        let value_expr = self.uniform_expr(value);
        self.uniforms.push(NamedUniform { name, value: value_expr });
        self.known_uniforms.insert(value.clone(), id);
        id
    }

    /// The values of all uniforms, in order.
    pub(super) fn uniform_values(&self) -> Vec<Uniform> {
        let mut values = vec![Uniform::default(); self.uniforms.len()];
        for (value, id) in &self.known_uniforms {
            values[id.0 as usize] = value.clone();
        }
        values
    }

    fn uniform_expr(&self, value: &Uniform) -> Expr<UniformAtom> {
        let mut builder = Builder::new();
        let result = self.uniform_ref(value, &mut builder, &mut BTreeMap::new());
        builder.finish(result)
    }

    /// Opaque uniforms that are known are made once, however often one is made of another.
    fn uniform_ref(&self, value: &Uniform, b: &mut Builder<UniformAtom>, known: &mut Known) -> Ref {
        let mut sum: Option<Ref> = None;
        for (monomial, c) in &value.0 {
            let mut product: Option<Ref> = None;
            let mut below: Option<Ref> = None;
            for (factor, exponent) in monomial {
                let atom = self.factor_ref(*factor, b, known);
                for _ in 0..exponent.unsigned_abs() {
                    let side = if *exponent > 0 { &mut product } else { &mut below };
                    *side = Some(side.map_or(atom, |so_far| b.op(Op::Mul, &[so_far, atom])));
                }
            }
            let size = c.abs();
            let mut term = match product {
                Some(product) if size.is_one() => product,
                Some(product) => {
                    let number = b.lit(to_f64(size));
                    b.op(Op::Mul, &[number, product])
                }
                None => b.lit(to_f64(size)),
            };
            if let Some(below) = below {
                term = b.op(Op::Div, &[term, below]);
            }
            sum = Some(match (sum, c.is_negative()) {
                (None, false) => term,
                (None, true) => b.op(Op::Neg, &[term]),
                (Some(sum), false) => b.op(Op::Add, &[sum, term]),
                (Some(sum), true) => b.op(Op::Sub, &[sum, term]),
            });
        }
        sum.unwrap_or_else(|| b.lit(0.0))
    }

    fn factor_ref(
        &self,
        factor: UniformFactor,
        b: &mut Builder<UniformAtom>,
        known: &mut Known,
    ) -> Ref {
        match factor {
            UniformFactor::Param(i) => b.atom(UniformAtom::Param(i)),
            UniformFactor::Spacing(axis) => b.atom(UniformAtom::Spacing(axis)),
            UniformFactor::Dt => b.atom(UniformAtom::Dt),
            UniformFactor::Time => b.atom(UniformAtom::Time),
            UniformFactor::Epsilon => b.atom(UniformAtom::Epsilon),
            UniformFactor::Opaque(at) => {
                if let Some(known) = known.get(&at) {
                    return *known;
                }
                let (op, args) = &self.opaque[at];
                let args = args.iter().map(|a| self.uniform_ref(a, b, known));
                let args: Vec<Ref> = args.collect();
                let made = b.op(*op, &args);
                known.insert(at, made);
                made
            }
        }
    }

    /// The terms of a stencil on a grid function. In-plane pairs become differences `e_k = f(+k) - f(-k)` and sums `s_k
    /// = f(+k) + f(-k)`, which first, second and mixed derivatives share and which a reflection maps onto themselves.
    /// Along the slowest axis only the own column of a state is paired; all else stays as terms that a march may carry.
    /// If a scheme says so, derivatives of even order are made of differences of neighbours along every axis.
    pub(super) fn stencil_terms(
        &mut self,
        of: FnId,
        stencil: &Stencil,
        scale: &Uniform,
    ) -> Result<Vec<Linear>, Overflow> {
        let depth = if self.is_state(of) { 0 } else { self.depth_of(of) + 1 };
        let mut parts: Vec<(FnId, Stencil)> = vec![(of, stencil.clone())];
        for axis in 0..=self.sums.slowest {
            let mut next = Vec::new();
            for (base, points) in parts {
                if self.sums.of_neighbours && is_even_difference(&points, axis) {
                    next.extend(self.differences_of_neighbours(base, points, axis));
                } else if axis == self.sums.slowest && !self.is_state(base) {
                    next.push((base, points));
                } else {
                    next.extend(self.pair(base, points, axis));
                }
            }
            parts = next;
        }
        let mut terms = Vec::new();
        for (base, points) in parts {
            for (at, weight) in points {
                terms.push((
                    scale.times(&Uniform::number(weight))?,
                    Access { of: base, at },
                    depth,
                ));
            }
        }
        Ok(terms)
    }

    /// Splits a stencil that is even or odd along an axis into its pairs.
    fn pair(&mut self, base: FnId, points: Stencil, axis: usize) -> Vec<(FnId, Stencil)> {
        let mirror = |at: &Offset| {
            let mut to = *at;
            to[axis] = -to[axis];
            to
        };
        let even = points.iter().all(|(at, w)| points.get(&mirror(at)) == Some(w));
        let odd = points.iter().all(|(at, w)| points.get(&mirror(at)) == Some(&-w));
        let on_axis = points.keys().all(|at| at[axis] == 0);
        if on_axis || (!even && !odd) {
            return vec![(base, points)];
        }
        let kind = if even { Pair::Sum } else { Pair::Difference };
        let mut out: BTreeMap<i32, Stencil> = BTreeMap::new();
        for (at, weight) in points {
            let mut rest = at;
            rest[axis] = 0;
            if at[axis] >= 0 {
                out.entry(at[axis]).or_default().insert(rest, weight);
            }
        }
        let pair = |(k, points): (i32, Stencil)| {
            (if k == 0 { base } else { self.paired(base, axis, [k, -k], kind) }, points)
        };
        out.into_iter().map(pair).collect()
    }

    /// The terms of a stencil halfway between cells, of an axis: the two sides that lie alike are subtracted or added, and
    /// then weighted, so that a mirror image has the mirrored bits.
    pub(super) fn halfway_terms(
        &mut self,
        of: FnId,
        operator: &Operator,
        axis: usize,
        order: u32,
        c: &Uniform,
    ) -> Result<Vec<Linear>, Overflow> {
        let depth = if self.is_state(of) { 0 } else { self.depth_of(of) + 1 };
        let even = operator.times == [0];
        let kind = if even { Pair::Sum } else { Pair::Difference };
        let mut scale = c.clone();
        if !even {
            scale = scale.times(&Uniform::power(UniformFactor::Spacing(axis), -1))?;
        }
        let stencil = (operator.stencil)(order, &[axis]);
        let points: Vec<(i32, _)> = stencil.iter().map(|(at, w)| (at[axis], *w)).collect();
        let half = points.len() / 2;
        let mut terms = Vec::new();
        for k in 0..half {
            let ((above, weight), (below, _)) = (points[half + k], points[half - 1 - k]);
            let pair = self.paired(of, axis, [above, below], kind);
            let access = Access { of: pair, at: [0; 3] };
            terms.push((scale.times(&Uniform::number(weight))?, access, depth));
        }
        Ok(terms)
    }

    /// An even difference without the value at its centre.
    fn differences_of_neighbours(
        &mut self,
        base: FnId,
        points: Stencil,
        axis: usize,
    ) -> Vec<(FnId, Stencil)> {
        let ahead = points.into_iter().filter(|(at, _)| at[axis] > 0);
        let flow = |(at, weight): (Offset, Rational)| {
            let of = self.paired(base, axis, [at[axis], -at[axis]], Pair::Flow);
            (of, Stencil::from([([0; 3], weight)]))
        };
        ahead.map(flow).collect()
    }

    /// The combination of two values along an axis.
    fn paired(&mut self, base: FnId, axis: usize, ends: [i32; 2], pair: Pair) -> FnId {
        if let Some(&known) = self.pairs.get(&(base, axis, ends, pair)) {
            return known;
        }
        let at = |offset: i32| {
            let mut at = [0; 3];
            at[axis] = offset;
            Atom::Access(Access { of: base, at })
        };
        let mut b = Builder::new();
        let (plus, minus) = (b.atom(at(ends[0])), b.atom(at(ends[1])));
        let (kind, result) = match pair {
            Pair::Difference => ('e', b.op(Op::Sub, &[plus, minus])),
            Pair::Sum => ('s', b.op(Op::Add, &[plus, minus])),
            Pair::Flow => {
                let here = b.atom(at(0));
                let flows = [[plus, here], [here, minus]].map(|ends| b.op(Op::Sub, &ends));
                ('d', b.op(Op::Sub, &flows))
            }
        };
        let [above, below] = ends;
        let of = match above == -below {
            true => above.to_string(),
            false => format!("{}{}", above.abs(), below.abs()),
        };
        let name = format!("{}_{kind}{}{of}", self.name(base), ["x", "y", "z"][axis]);
        let id = self.add(&name, Def::Point(b.finish(result)), self.depth_of(base));
        self.pairs.insert((base, axis, ends, pair), id);
        id
    }

    /// Terms of equal access become one; terms that cancel go.
    pub(super) fn merge(terms: Vec<Linear>) -> Result<Vec<Linear>, Overflow> {
        let mut merged: Vec<Linear> = Vec::new();
        for (c, access, depth) in terms {
            match merged.iter_mut().find(|(_, a, d)| *a == access && *d == depth) {
                Some(known) => known.0 = known.0.plus(&c)?,
                None => merged.push((c, access, depth)),
            }
        }
        merged.retain(|(c, ..)| !c.is_zero());
        Ok(merged)
    }

    /// An ordered sum of linear terms, by plane along the slowest axis, with a name that is kept for it.
    pub(super) fn sum(
        &mut self,
        name: String,
        mut terms: Vec<(Uniform, Access)>,
        depth: u32,
    ) -> FnId {
        terms.sort_by_key(|(_, access)| access.at[self.sums.slowest]);
        let terms: Vec<SumTerm> =
            terms.into_iter().map(|(c, value)| self.sum_term(&c, value)).collect();
        self.put(name, Def::Sum(terms), depth)
    }

    /// A sum of values, none of which is a difference. Those of laws are added in the order of their factors, whatever
    /// their cells: a mirror image reads the other side of a face, and has the same bits.
    pub(super) fn sum_of_values(
        &mut self,
        name: String,
        mut terms: Vec<(Uniform, Access)>,
        depth: u32,
    ) -> FnId {
        if !self.sums.of_sides {
            return self.sum(name, terms, depth);
        }
        let size = |c: &Uniform| match c.is_negative() {
            true => c.negated(),
            false => c.clone(),
        };
        let plane = |access: &Access| access.at[self.sums.slowest];
        terms.sort_by_cached_key(|(c, access)| (!c.is_unit(), size(c), plane(access)));
        if terms.is_sorted_by_key(|(_, access)| plane(access)) {
            return self.sum(name, terms, depth);
        }
        let mut b = Builder::new();
        let mut sum: Option<Ref> = None;
        for (c, access) in terms {
            let SumTerm { negative, factor, .. } = self.sum_term(&c, access);
            let value = b.atom(Atom::Access(access));
            let factor = factor.map(|factor| b.atom(Atom::Uniform(factor)));
            let (first, second) = match factor {
                Some(factor) => (factor, Some(value)),
                None => (value, None),
            };
            sum = Some(added(&mut b, sum, first, second, negative));
        }
        let sum = sum.unwrap_or_else(|| b.lit(0.0));
        self.put(name, Def::Point(b.finish(sum)), depth)
    }

    fn sum_term(&mut self, c: &Uniform, value: Access) -> SumTerm {
        let negative = c.is_negative();
        let size = if negative { c.negated() } else { c.clone() };
        let factor = if size.is_one() { None } else { Some(self.uniform(&size, None)) };
        SumTerm { negative, factor, value }
    }
}

/// Is a stencil along this axis alone the same in both directions, and zero for a constant?
fn is_even_difference(points: &Stencil, axis: usize) -> bool {
    let behind = |at: &Offset| at.map(|along| -along);
    let is_along = |at: &Offset| (0..3).all(|other| other == axis || at[other] == 0);
    let mut all = points.iter();
    points.len() > 1
        && all.all(|(at, weight)| is_along(at) && points.get(&behind(at)) == Some(weight))
        && points.values().sum::<Rational>().is_zero()
}
