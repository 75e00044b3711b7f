//! The atoms of polynomials: the operands of an equation after its tensors are expanded.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{Label, Labels};
use super::poly::{AtomId, Overflow, Poly, Uniform, UniformFactor};
use crate::algorithm::Offset;
use crate::catalogue::Halves;
use crate::catalogue::operators::Operator;
use crate::diag::Span;
use crate::expr::Op;
use crate::model::Mixed;

/// The meaning of an atom.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Atom {
    /// A component of a field or source, by its number.
    State(usize),
    /// A difference of a grid function.
    Derivative {
        /// The kind of difference.
        difference: Difference,
        /// The differentiated atom.
        of: AtomId,
    },
    /// Another atom at another cell; these do not nest.
    At {
        /// The atom.
        of: AtomId,
        /// The offset of the cell.
        at: Offset,
    },
    /// A polynomial with a name of its own; index into [`Atoms::named`].
    Named(usize),
    /// An operation that polynomials do not have.
    Call(Op, Vec<Poly>),
}

/// The differences that operators stand for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Difference {
    /// A central derivative along these axes: one or two different ones, or one as often as it is
    /// differentiated. Sorted.
    Central(Vec<usize>),
    /// The difference by an operator that is no derivative, along this axis.
    Own(&'static Operator, usize),
    /// The value at the upper face along this axis.
    AtFace(usize),
    /// The first derivative along this axis at the upper face.
    SlopeAtFace(usize),
    /// The first derivative along this axis of a value at upper faces.
    Across(usize),
    /// The value in a cell, along this axis, of one at upper faces.
    BetweenFaces(usize),
    /// The outflow of a cell: the flux through the upper face, less the one through the lower face, over the spacing.
    Outflow {
        /// Along which axis.
        axis: usize,
        /// The flux that enters the cell above through its lower face.
        entering: AtomId,
    },
}

/// Interned atoms, in order of first use.
pub(super) struct Atoms {
    atoms: Vec<Atom>,
    /// The place at which each atom was first written.
    spans: Vec<Span>,
    /// The place of the current term.
    pub span: Span,
    known: BTreeMap<Atom, AtomId>,
    /// Named polynomials, as they were called first.
    pub named: Vec<(Label, Poly)>,
    known_named: BTreeMap<Poly, usize>,
    /// The labels of atoms.
    pub labels: Labels,
    /// Operations on uniforms that polynomials do not have.
    pub opaque: Vec<(Op, Vec<Uniform>)>,
    /// Divisors of vectors and tensors.
    divisors: BTreeSet<Poly>,
    /// Named sums whose terms are rounded before they are added, so that they round alike.
    pub(super) even: BTreeSet<usize>,
    mixed: Mixed,
    /// The place of each component and of each atom, in a system with values on faces or edges.
    pub(super) halves: Option<Vec<Halves>>,
    pub(super) places: Vec<Halves>,
}

impl Atoms {
    /// An empty table; `mixed` is the settled meaning of a derivative of a derivative. `halves` are the places of the
    /// components, in a system with values on faces or edges.
    pub(super) fn new(mixed: Mixed, halves: Option<Vec<Halves>>) -> Self {
        Atoms {
            atoms: Vec::new(),
            spans: Vec::new(),
            span: Span::default(),
            known: BTreeMap::new(),
            named: Vec::new(),
            known_named: BTreeMap::new(),
            labels: Labels::default(),
            opaque: Vec::new(),
            divisors: BTreeSet::new(),
            even: BTreeSet::new(),
            mixed,
            halves,
            places: Vec::new(),
        }
    }

    /// Are products that hold a derivative differentiated by way of faces?
    pub(super) fn by_faces(&self) -> bool {
        self.mixed != Mixed::Composed
    }

    /// The meaning of an atom.
    pub(super) fn get(&self, id: AtomId) -> &Atom {
        &self.atoms[id as usize]
    }

    /// The place at which an atom was first written; unknown if only collecting terms made it.
    pub(super) fn span_of(&self, id: AtomId) -> Span {
        self.spans[id as usize]
    }

    /// The number of atoms.
    pub(super) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// The id of an atom, new or known.
    pub(super) fn intern(&mut self, atom: Atom) -> AtomId {
        if let Some(&id) = self.known.get(&atom) {
            return id;
        }
        let id = self.atoms.len() as AtomId;
        if self.halves.is_some() {
            self.places.push(self.place_of_new(&atom));
        }
        self.atoms.push(atom.clone());
        self.spans.push(self.span);
        self.known.insert(atom, id);
        id
    }

    /// Says that a vector or tensor is divided by this.
    pub(super) fn divide_vector(&mut self, by: &Poly) {
        self.divisors.insert(by.clone());
    }

    /// Is a vector or tensor divided by this?
    pub(super) fn divides_vector(&self, by: &Poly) -> bool {
        self.divisors.contains(by)
    }

    /// A uniform made by an operation that polynomials do not have.
    pub(super) fn opaque(&mut self, op: Op, args: Vec<Uniform>) -> Uniform {
        let entry = (op, args);
        let at = self.opaque.iter().position(|known| *known == entry).unwrap_or_else(|| {
            self.opaque.push(entry);
            self.opaque.len() - 1
        });
        Uniform::power(UniformFactor::Opaque(at), 1)
    }

    /// The named or called atom with this value, if there is one.
    pub(super) fn of_value(&self, value: &Poly) -> Option<AtomId> {
        let named = || self.known.get(&Atom::Named(*self.known_named.get(value)?));
        let made = value.as_atom().or_else(|| named().copied())?;
        match self.get(made) {
            Atom::State(_) | Atom::At { .. } => None,
            Atom::Named(_) | Atom::Call(..) | Atom::Derivative { .. } => Some(made),
        }
    }

    /// The operands of an atom.
    pub(super) fn below(&self, atom: AtomId) -> Vec<AtomId> {
        let all = |poly: &Poly| -> Vec<AtomId> { poly.0.keys().flatten().copied().collect() };
        match self.get(atom) {
            Atom::State(_) => Vec::new(),
            Atom::Derivative { difference: Difference::Outflow { entering, .. }, of } => {
                vec![*of, *entering]
            }
            Atom::Derivative { of, .. } | Atom::At { of, .. } => vec![*of],
            Atom::Named(at) => all(&self.named[*at].1),
            Atom::Call(_, args) => args.iter().flat_map(all).collect(),
        }
    }

    /// Gives a polynomial a name, so that it is one grid function wherever it occurs. A single scaled atom gets no name
    /// of its own; an operation is labelled itself.
    pub(super) fn name(&mut self, label: impl Into<Label>, poly: Poly) -> Poly {
        if let Some(atom) = poly.as_atom()
            && let Atom::Named(_) | Atom::Call(..) = self.get(atom)
        {
            self.labels.give(atom, label.into());
            return poly;
        }
        if poly.as_scaled_atom().is_some() || poly.as_uniform().is_some() {
            return poly;
        }
        Poly::atom(self.named_atom(label.into(), poly))
    }

    /// The polynomial as a factor of a product: one grid function. A single atom keeps its name.
    pub(super) fn factor(&mut self, poly: &Poly) -> Poly {
        match poly.as_scaled_atom() {
            Some(_) => poly.clone(),
            None => self.name("factor", poly.clone()),
        }
    }

    /// The polynomial as a factor of a product, without the number or uniform that all of its terms have in common: this is
    /// multiplied by the product, and one grid function serves all multiples.
    pub(super) fn primitive_factor(&mut self, poly: &Poly) -> Result<Poly, Overflow> {
        let Some((common, primitive)) = poly.primitive() else {
            return Ok(self.factor(poly));
        };
        self.factor(&primitive).scaled(&common)
    }

    /// Gives a polynomial a name, even if it is a single atom.
    pub(super) fn always_name(&mut self, label: impl Into<Label>, poly: Poly) -> Poly {
        Poly::atom(self.named_atom(label.into(), poly))
    }

    /// The first derivative of a polynomial along an axis. The scheme's `mixed` decides the form of derivatives of
    /// derivatives; a product is differentiated as one grid function (`name`), by way of faces if it holds a derivative
    /// along the axis.
    pub(super) fn first(
        &mut self,
        axis: usize,
        poly: &Poly,
        name: &Label,
    ) -> Result<Poly, Overflow> {
        if self.halves.is_some() {
            return self.halfway(axis, poly, name);
        }
        let (fluxes, rest) = self.split_fluxes(axis, poly);
        let across = self.across(axis, &fluxes, name)?;
        let poly = &rest;
        if self.mixed == Mixed::Composed
            && poly.as_scaled_atom().is_none()
            && self.holds_derivative(poly)
        {
            let whole = self.name(name.clone(), poly.clone());
            let whole =
                self.linear(&whole, name, &mut |atoms, of| Ok(atoms.derivative(vec![axis], of)))?;
            return across.plus(&whole);
        }
        let rest = self.linear(poly, name, &mut |atoms, of| atoms.first_of_atom(axis, of))?;
        across.plus(&rest)
    }

    /// The compact second or higher derivative of a polynomial along an axis. A function of derivatives is one grid
    /// function: there is no compact operator to distribute to.
    pub(super) fn higher(
        &mut self,
        axis: usize,
        times: u32,
        poly: &Poly,
        name: &Label,
    ) -> Result<Poly, Overflow> {
        self.difference(Difference::Central(vec![axis; times as usize]), poly, name)
    }

    /// The difference of a polynomial along an axis by an operator that approximates no derivative.
    pub(super) fn along(
        &mut self,
        by: &'static Operator,
        axis: usize,
        poly: &Poly,
        name: &Label,
    ) -> Result<Poly, Overflow> {
        self.difference(Difference::Own(by, axis), poly, name)
    }

    /// The outflow of a cell along an axis over the spacing, from the flux that leaves through its upper face, and the
    /// part of it that enters the cell above.
    pub(super) fn outflow(
        &mut self,
        axis: usize,
        leaving: &Poly,
        entering: &Poly,
    ) -> Result<Poly, Overflow> {
        if leaving == entering {
            return self.difference_of(leaving, &"flux".into(), &|of| Difference::Outflow {
                axis,
                entering: of,
            });
        }
        let [of, entering] = [leaving, entering].map(|flux| self.always_name("flux", flux.clone()));
        let [of, entering] = [of, entering].map(|flux| flux.0.keys().flatten().copied().last());
        let (Some(of), Some(entering)) = (of, entering) else {
            return Ok(Poly::default());
        };
        let difference = Difference::Outflow { axis, entering };
        Ok(Poly::atom(self.intern(Atom::Derivative { difference, of })))
    }

    /// The component of a field or source by its number.
    pub(super) fn state(&mut self, component: usize) -> Poly {
        Poly::atom(self.intern(Atom::State(component)))
    }

    /// A polynomial at the cell `ahead` cells further along an axis.
    pub(super) fn at(&mut self, poly: &Poly, axis: usize, ahead: i32) -> Poly {
        let mut out = Poly::default();
        for (monomial, c) in &poly.0 {
            let mut moved: Vec<AtomId> = Vec::new();
            for atom in monomial {
                let (of, mut at) = match self.get(*atom) {
                    Atom::At { of, at } => (*of, *at),
                    _ => (*atom, [0; 3]),
                };
                at[axis] += ahead;
                moved.push(self.elsewhere(of, at));
            }
            moved.sort_unstable();
            out.0.insert(moved, c.clone());
        }
        out
    }

    /// An atom of this cell, read at another one.
    pub(super) fn elsewhere(&mut self, of: AtomId, at: Offset) -> AtomId {
        match at {
            [0, 0, 0] => of,
            at => self.intern(Atom::At { of, at }),
        }
    }

    pub(super) fn difference(
        &mut self,
        difference: Difference,
        poly: &Poly,
        name: &Label,
    ) -> Result<Poly, Overflow> {
        self.difference_of(poly, name, &|_| difference.clone())
    }

    /// A difference of each atom of a polynomial.
    pub(super) fn difference_of(
        &mut self,
        poly: &Poly,
        name: &Label,
        difference: &dyn Fn(AtomId) -> Difference,
    ) -> Result<Poly, Overflow> {
        let whole = match poly.as_scaled_atom() {
            None if self.holds_derivative(poly) => self.name(name.clone(), poly.clone()),
            _ => poly.clone(),
        };
        self.linear(&whole, name, &mut |atoms, of| {
            let difference = difference(of);
            Ok(Poly::atom(atoms.intern(Atom::Derivative { difference, of })))
        })
    }

    /// Applies a linear operator term by term; a term that is not linear becomes one named grid function.
    fn linear(
        &mut self,
        poly: &Poly,
        name: &Label,
        operator: &mut dyn FnMut(&mut Self, AtomId) -> Result<Poly, Overflow>,
    ) -> Result<Poly, Overflow> {
        let mut out = Poly::default();
        let mut products = Poly::default();
        for (monomial, c) in &poly.0 {
            match monomial.as_slice() {
                [] => {}
                [atom] => out = out.plus(&operator(self, *atom)?.scaled(c)?)?,
                _ => products.add_term(monomial.clone(), c)?,
            }
        }
        if !products.0.is_empty() {
            let is_all = products == *poly;
            let label = match is_all {
                true => name.clone(),
                false => name.map(|name| format!("{name}_products")),
            };
            let named = self.named_atom(label, products);
            out = out.plus(&operator(self, named)?)?;
        }
        Ok(out)
    }

    /// The atom of a named polynomial, new or known.
    fn named_atom(&mut self, label: Label, poly: Poly) -> AtomId {
        let at = match self.known_named.get(&poly) {
            Some(&at) => at,
            None => {
                self.known_named.insert(poly.clone(), self.named.len());
                self.named.push((label.clone(), poly));
                self.named.len() - 1
            }
        };
        let atom = self.intern(Atom::Named(at));
        self.labels.give(atom, label);
        atom
    }

    fn derivative(&mut self, mut axes: Vec<usize>, of: AtomId) -> Poly {
        axes.sort_unstable();
        let difference = Difference::Central(axes);
        Poly::atom(self.intern(Atom::Derivative { difference, of }))
    }

    fn first_of_atom(&mut self, axis: usize, of: AtomId) -> Result<Poly, Overflow> {
        let compact = self.mixed != Mixed::Composed;
        match self.get(of).clone() {
            // A sum of derivatives is differentiated term by term where the scheme has an
            // operator for each.
            Atom::Named(at)
                if self.names_flux(axis, of) || (compact && self.named[at].1.is_linear()) =>
            {
                let (name, poly) = self.named[at].clone();
                self.first(axis, &poly, &name)
            }
            Atom::Derivative { difference: Difference::Central(axes), of: inner }
                if compact && axes.len() == 1 =>
            {
                if axes[0] == axis {
                    return Ok(self.derivative(vec![axis, axis], inner));
                }
                if self.mixed == Mixed::Bidiagonal {
                    return Ok(self.derivative(vec![axes[0], axis], inner));
                }
                // Product form: the slower axis outermost, so that a march may carry it.
                let (low, high) = (axes[0].min(axis), axes[0].max(axis));
                let inner = self.intern(Atom::Derivative {
                    difference: Difference::Central(vec![low]),
                    of: inner,
                });
                Ok(self.derivative(vec![high], inner))
            }
            _ => Ok(self.derivative(vec![axis], of)),
        }
    }

    /// Does any term contain a derivative, directly or under a name?
    fn holds_derivative(&self, poly: &Poly) -> bool {
        let mut open: Vec<AtomId> = poly.0.keys().flatten().copied().collect();
        let mut seen: BTreeSet<AtomId> = BTreeSet::new();
        while let Some(atom) = open.pop() {
            if !seen.insert(atom) {
                continue;
            }
            match self.get(atom) {
                Atom::Derivative { .. } => return true,
                Atom::Named(at) => open.extend(self.named[*at].1.0.keys().flatten()),
                Atom::At { of, .. } => open.push(*of),
                Atom::State(_) | Atom::Call(..) => {}
            }
        }
        false
    }
}
