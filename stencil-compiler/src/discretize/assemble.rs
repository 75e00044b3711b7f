//! From collected polynomials to grid functions: the derivatives that join their equation's sum, those that become grid
//! functions of their own, and the order in which terms are added.

use std::collections::BTreeMap;

use super::atoms::{Atom, Atoms, Difference};
use super::build::{Functions, Linear};
use super::collect;
use super::names::Names;
use super::poly::{AtomId, Monomial, Overflow, Poly, Uniform, UniformFactor};
use super::reciprocals::Reciprocals;
use crate::algorithm::{Access, Atom as FnAtom, Def, FnId};
use crate::catalogue::operators::{bidiagonal, first, higher, second, staggered};
use crate::expr::{Builder, Op, Ref};
use crate::model::{Arith, Scheme};

/// The offset of the cell itself.
pub(super) const HERE: [i32; 3] = [0; 3];

/// Turns polynomials into grid functions.
pub(super) struct Assembler<'a> {
    pub(super) atoms: &'a mut Atoms,
    pub(super) functions: Functions,
    pub(super) states: Vec<FnId>,
    pub(super) order: u32,
    /// Are coefficients that terms share collected?
    pub(super) collected: bool,
    pub(super) uses: Vec<u32>,
    pub(super) reciprocals: Reciprocals,
    pub(super) made: BTreeMap<AtomId, FnId>,
    pub(super) names: Names,
    /// Names of grid functions, with numbers, that are kept for atoms.
    pub(super) kept: BTreeMap<AtomId, String>,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(
        atoms: &'a mut Atoms,
        functions: Functions,
        states: Vec<FnId>,
        scheme: &Scheme,
    ) -> Self {
        Assembler {
            atoms,
            functions,
            states,
            order: scheme.order,
            collected: scheme.arith.settled() != Arith::AsWritten,
            uses: Vec::new(),
            reciprocals: Reciprocals::default(),
            made: BTreeMap::new(),
            names: Names::default(),
            kept: BTreeMap::new(),
        }
    }

    /// Splits every equation and every named polynomial into linear and pointwise parts and
    /// collects the latter, all at once. Returns (linear, pointwise) of each equation.
    pub(super) fn prepare(
        &mut self,
        equations: &mut [Poly],
        names: &[String],
    ) -> Result<Vec<(Poly, Poly)>, Overflow> {
        self.count_uses(equations);
        self.dissolve_single_uses(equations)?;
        self.count_uses(equations);
        let mut split: Vec<(Poly, Poly)> = equations.iter().map(|e| self.split(e)).collect();
        if self.collected {
            self.reciprocals = Reciprocals::new(self.atoms, &self.uses);
            let mut pointwise: Vec<Poly> = split.iter().map(|(_, p)| p.clone()).collect();
            collect::extract(self.atoms, &mut pointwise, names)?;
            for ((_, slot), collected) in split.iter_mut().zip(pointwise) {
                *slot = collected;
            }
        }
        self.keep_names(&split);
        Ok(split)
    }

    /// A named sum that is used once, linearly, in an equation is part of that equation; as it is written only one of derivatives is.
    fn dissolve_single_uses(&mut self, equations: &mut [Poly]) -> Result<(), Overflow> {
        for equation in equations.iter_mut() {
            while let Some((monomial, named)) = self.single_use(equation) {
                let Some(c) = equation.0.remove(&monomial) else {
                    break;
                };
                *equation = equation.plus(&self.atoms.named[named].1.clone().scaled(&c)?)?;
            }
        }
        Ok(())
    }

    fn single_use(&self, equation: &Poly) -> Option<(Monomial, usize)> {
        equation.0.keys().find_map(|monomial| match monomial.as_slice() {
            [atom] if self.uses[*atom as usize] == 1 => match self.atoms.get(*atom) {
                Atom::Named(at) if self.atoms.is_even(*at) => None,
                Atom::Named(at) if self.collected || self.is_of_derivatives(*at) => {
                    Some((monomial.clone(), *at))
                }
                Atom::Named(_) => None,
                Atom::State(_) | Atom::At { .. } | Atom::Derivative { .. } | Atom::Call(..) => None,
            },
            _ => None,
        })
    }

    fn count_uses(&mut self, equations: &[Poly]) {
        self.uses = vec![0; self.atoms.len()];
        let mut open: Vec<AtomId> =
            equations.iter().flat_map(|e| e.0.keys().flatten().copied()).collect();
        while let Some(atom) = open.pop() {
            self.uses[atom as usize] += 1;
            if self.uses[atom as usize] > 1 {
                continue;
            }
            match self.atoms.get(atom) {
                Atom::State(_) => {}
                // An atom that is read at other cells is a grid function of its own.
                Atom::Derivative { difference: Difference::Outflow { entering, .. }, of } => {
                    open.extend([*of, *of, *entering, *entering])
                }
                Atom::Derivative { of, .. } | Atom::At { of, .. } => open.extend([*of, *of]),
                Atom::Named(at) => open.extend(self.atoms.named[*at].1.0.keys().flatten()),
                Atom::Call(_, args) => {
                    open.extend(args.iter().flat_map(|a| a.0.keys().flatten().copied()))
                }
            }
        }
    }

    /// Splits into the terms that join the ordered sum and those computed cell by cell.
    fn split(&self, poly: &Poly) -> (Poly, Poly) {
        let joins = |monomial: &Monomial| match monomial.as_slice() {
            [atom] => self.joins(*atom),
            _ => false,
        };
        let has_products = poly.0.keys().any(|m| m.len() != 1);
        let has_joined = poly.0.keys().any(joins);
        if self.collected && self.is_multiple_of_values(poly) {
            return (Poly::default(), poly.clone());
        }
        let (mut linear, mut pointwise) = (Poly::default(), Poly::default());
        for (monomial, c) in &poly.0 {
            let is_state =
                monomial.len() == 1 && matches!(self.atoms.get(monomial[0]), Atom::State(_));
            let in_sum = joins(monomial)
                || (monomial.len() == 1 && !has_products)
                || (is_state && has_joined);
            let part = if in_sum { &mut linear } else { &mut pointwise };
            part.0.insert(monomial.clone(), c.clone());
        }
        (linear, pointwise)
    }

    /// Is it a uniform times a sum of values without derivatives? The sum is rounded before it is multiplied.
    fn is_multiple_of_values(&self, poly: &Poly) -> bool {
        let is_multiple = poly.primitive().is_some_and(|(by, _)| !by.is_unit());
        is_multiple && !poly.0.keys().flatten().any(|atom| self.is_derivative(*atom))
    }

    /// Has a named sum a derivative as a term?
    fn is_of_derivatives(&self, named: usize) -> bool {
        let terms = &self.atoms.named[named].1.0;
        let mut single = terms.keys().filter(|monomial| monomial.len() == 1);
        single.any(|monomial| self.is_derivative(monomial[0]))
    }

    pub(super) fn is_derivative(&self, atom: AtomId) -> bool {
        matches!(self.atoms.get(atom), Atom::Derivative { .. })
    }

    /// The grid function of a split polynomial, with a name that is kept for it. Each level of derived grid functions under its
    /// terms is a sum of its own, so that a schedule may split the equation between kernels there.
    pub(super) fn define(
        &mut self,
        name: &str,
        linear: &Poly,
        pointwise: &Poly,
    ) -> Result<FnId, Overflow> {
        let mut terms: Vec<Linear> = Vec::new();
        for (monomial, c) in &linear.0 {
            terms.extend(self.linear_terms(monomial[0], c)?);
        }
        let mut terms = Functions::merge(terms)?;
        if terms.is_empty() {
            return self.point(name.to_string(), pointwise);
        }
        if !pointwise.0.is_empty() {
            let label = self.functions.reserve(&format!("{name}_products"));
            let of = self.point(label, pointwise)?;
            terms.push((Uniform::one(), Access { of, at: HERE }, self.functions.depth_of(of)));
        }
        let mut levels: BTreeMap<u32, Vec<(Uniform, Access)>> = BTreeMap::new();
        for (c, access, depth) in terms {
            levels.entry(depth).or_default().push((c, access));
        }
        let of_values = !linear.0.keys().any(|m| self.is_derivative(m[0]));
        let sum = |functions: &mut Functions, label, terms, depth| match of_values {
            true => functions.sum_of_values(label, terms, depth),
            false => functions.sum(label, terms, depth),
        };
        if levels.len() == 1 {
            let (depth, terms) = levels.pop_first().unwrap_or_default();
            return Ok(sum(&mut self.functions, name.to_string(), terms, depth));
        }
        let part = |(depth, terms)| {
            let label = self.functions.reserve(&format!("{name}_part{depth}"));
            sum(&mut self.functions, label, terms, depth)
        };
        let parts: Vec<FnId> = levels.into_iter().map(part).collect();
        let mut b = Builder::new();
        let refs: Vec<Ref> =
            parts.iter().map(|of| b.atom(FnAtom::Access(Access { of: *of, at: HERE }))).collect();
        let mut total = refs[0];
        for next in &refs[1..] {
            total = b.op(Op::Add, &[total, *next]);
        }
        let depth = parts.iter().map(|p| self.functions.depth_of(*p)).max().unwrap_or(0);
        let total = Def::Point(b.finish(total));
        Ok(self.functions.put(name.to_string(), total, depth))
    }

    /// The terms of a linear atom: the stencil of a derivative that joins the sum, else the atom itself.
    fn linear_terms(&mut self, atom: AtomId, c: &Uniform) -> Result<Vec<Linear>, Overflow> {
        match self.atoms.get(atom).clone() {
            Atom::Derivative { difference, of } if self.uses.get(atom as usize) == Some(&1) => {
                let base = self.function(of)?;
                self.derivative_terms(&difference, base, c)
            }
            _ => {
                let access = self.access(atom)?;
                Ok(vec![(c.clone(), access, self.functions.depth_of(access.of))])
            }
        }
    }

    fn derivative_terms(
        &mut self,
        difference: &Difference,
        base: FnId,
        c: &Uniform,
    ) -> Result<Vec<Linear>, Overflow> {
        let axes = match difference {
            Difference::Central(axes) => axes.as_slice(),
            Difference::Own(_, axis) => std::slice::from_ref(axis),
            Difference::AtFace(axis)
            | Difference::SlopeAtFace(axis)
            | Difference::Across(axis)
            | Difference::BetweenFaces(axis) => {
                let operator = match difference {
                    Difference::AtFace(_) => &staggered::VALUE,
                    Difference::SlopeAtFace(_) => &staggered::SLOPE,
                    Difference::BetweenFaces(_) => &staggered::CENTRE,
                    _ => &staggered::ACROSS,
                };
                return self.functions.halfway_terms(base, operator, *axis, self.order, c);
            }
            Difference::Outflow { axis, entering } => {
                let entering = self.function(*entering)?;
                return self.outflow_terms(*axis, [base, entering], c);
            }
        };
        let operator = match (difference, axes) {
            (Difference::Own(operator, _), _) => operator,
            (_, [_]) => &first::OPERATOR,
            (_, [a, b]) if a == b => &second::OPERATOR,
            (_, [_, _]) => &bidiagonal::OPERATOR,
            (_, many) => higher::operator(many.len() as u32).ok_or(Overflow)?,
        };
        let mut scale = c.clone();
        for axis in axes {
            scale = scale.times(&Uniform::power(UniformFactor::Spacing(*axis), -1))?;
        }
        let stencil = (operator.stencil)(self.order, axes);
        self.functions.stencil_terms(base, &stencil, &scale)
    }

    /// The difference of leaving and entering fluxes is rounded before anything is added to it.
    fn outflow_terms(
        &mut self,
        axis: usize,
        [leaving, entering]: [FnId; 2],
        c: &Uniform,
    ) -> Result<Vec<Linear>, Overflow> {
        let mut below = HERE;
        below[axis] = -1;
        let mut b = Builder::new();
        let faces = [(leaving, HERE), (entering, below)];
        let faces = faces.map(|(of, at)| b.atom(FnAtom::Access(Access { of, at })));
        let difference = b.op(Op::Sub, &faces);
        let name = format!("{}_out", self.functions.name(leaving));
        let depth = [leaving, entering].map(|of| self.functions.depth_of(of));
        let depth = depth[0].max(depth[1]) + 1;
        let of = self.functions.add(&name, Def::Point(b.finish(difference)), depth);
        let scale = c.times(&Uniform::power(UniformFactor::Spacing(axis), -1))?;
        Ok(vec![(scale, Access { of, at: HERE }, depth)])
    }

    /// The access that reads an atom.
    pub(super) fn access(&mut self, atom: AtomId) -> Result<Access, Overflow> {
        match *self.atoms.get(atom) {
            Atom::At { of, at } => Ok(Access { of: self.function(of)?, at }),
            _ => Ok(Access { of: self.function(atom)?, at: HERE }),
        }
    }

    /// The grid function of an atom, made on first use.
    fn function(&mut self, atom: AtomId) -> Result<FnId, Overflow> {
        if let Some(&made) = self.made.get(&atom) {
            return Ok(made);
        }
        let outer = self.functions.span;
        if self.atoms.span_of(atom).is_known() {
            self.functions.span = self.atoms.span_of(atom);
        }
        let made = match self.atoms.get(atom).clone() {
            Atom::State(i) => self.states[i],
            Atom::At { .. } => {
                let mut b = Builder::new();
                let access = self.access(atom)?;
                let name = format!("{}_moved", self.functions.name(access.of));
                let name = self.functions.reserve(&name);
                let value = b.atom(FnAtom::Access(access));
                self.add_point(name, b.finish(value))
            }
            Atom::Derivative { difference, of } => {
                let base = self.function(of)?;
                let terms = self.derivative_terms(&difference, base, &Uniform::one())?;
                let name = format!("{}_{}", difference.label(), self.functions.name(base));
                let name = self.name_of(atom, &name);
                let depth = terms.first().map_or(0, |(.., depth)| *depth);
                let terms = terms.into_iter().map(|(c, access, _)| (c, access)).collect();
                self.functions.sum(name, terms, depth)
            }
            Atom::Named(at) => {
                let poly = self.atoms.named[at].1.clone();
                let name = self.name_of(atom, "part");
                let (linear, pointwise) = self.split(&poly);
                match self.atoms.is_even(at) {
                    true => self.even(name, &poly)?,
                    false => self.define(&name, &linear, &pointwise)?,
                }
            }
            Atom::Call(op, args) => self.call(atom, op, &args)?,
        };
        self.functions.span = outer;
        self.made.insert(atom, made);
        Ok(made)
    }
}

impl Difference {
    /// The prefix of names of grid functions: `dx`, `dxy`, `d4x`, `upx`.
    fn label(&self) -> String {
        const LETTERS: [&str; 3] = ["x", "y", "z"];
        match self {
            Difference::Central(axes) if axes.len() > 2 => {
                format!("d{}{}", axes.len(), LETTERS[axes[0]])
            }
            Difference::Central(axes) => {
                let letters: String = axes.iter().map(|a| LETTERS[*a]).collect();
                format!("d{letters}")
            }
            Difference::Own(operator, axis) => format!("{}{}", operator.name, LETTERS[*axis]),
            Difference::AtFace(axis) => format!("at{}", LETTERS[*axis]),
            Difference::SlopeAtFace(axis) => format!("slope{}", LETTERS[*axis]),
            Difference::Across(axis) => format!("across{}", LETTERS[*axis]),
            Difference::BetweenFaces(axis) => format!("between{}", LETTERS[*axis]),
            Difference::Outflow { axis, .. } => format!("out{}", LETTERS[*axis]),
        }
    }
}
