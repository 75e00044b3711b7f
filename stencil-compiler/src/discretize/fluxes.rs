//! Derivatives of products that hold a derivative, such as `div(k*grad(q))`, by way of the faces of cells.
//!
//! The product is computed at faces, halfway between cells: derivatives along the axis are differences of the two sides
//! there, and other factors are interpolated. The difference of two faces is the derivative. So the operator is
//! compact: it couples even and odd cells, and the outflow of one cell enters the next (B. Fornberg, SIAM Rev. 40, 685,
//! 1998, for weights halfway between points). A scheme that composes first differences says so, and gets them.

use super::atoms::{Atom, Atoms, Difference};
use super::names::Label;
use super::poly::{AtomId, Monomial, Overflow, Poly};

impl Atoms {
    /// Splits a polynomial into the terms that are differentiated along an axis by way of faces, and the rest.
    pub(super) fn split_fluxes(&self, axis: usize, poly: &Poly) -> (Poly, Poly) {
        let (mut fluxes, mut rest) = (Poly::default(), Poly::default());
        for (monomial, c) in &poly.0 {
            let part = match self.is_flux(axis, monomial) {
                true => &mut fluxes,
                false => &mut rest,
            };
            part.0.insert(monomial.clone(), c.clone());
        }
        (fluxes, rest)
    }

    /// Is it a product that holds a first derivative along the axis?
    fn is_flux(&self, axis: usize, monomial: &Monomial) -> bool {
        self.by_faces()
            && monomial.len() > 1
            && monomial.iter().any(|atom| self.holds_slope(axis, *atom))
    }

    /// Does it name a polynomial with a product that is differentiated by way of faces?
    pub(super) fn names_flux(&self, axis: usize, atom: AtomId) -> bool {
        let Atom::Named(at) = self.get(atom) else {
            return false;
        };
        let mut terms = self.named[*at].1.0.keys();
        terms.any(|monomial| match monomial.as_slice() {
            [atom] => self.names_flux(axis, *atom),
            _ => self.is_flux(axis, monomial),
        })
    }

    /// Is it, or does it stand for something that holds, a first derivative along the axis?
    fn holds_slope(&self, axis: usize, atom: AtomId) -> bool {
        match self.get(atom) {
            Atom::Derivative { difference: Difference::Central(axes), .. } => {
                axes.as_slice() == [axis]
            }
            Atom::Named(at) => {
                let mut parts = self.named[*at].1.0.keys().flatten();
                parts.any(|part| self.holds_slope(axis, *part))
            }
            Atom::Derivative { .. } | Atom::At { .. } | Atom::State(_) | Atom::Call(..) => false,
        }
    }

    /// The derivative along an axis of products, by way of faces.
    pub(super) fn across(
        &mut self,
        axis: usize,
        fluxes: &Poly,
        name: &Label,
    ) -> Result<Poly, Overflow> {
        if fluxes.0.is_empty() {
            return Ok(Poly::default());
        }
        let at_face = self.at_face(axis, fluxes)?;
        let axis_name = ["x", "y", "z"][axis];
        let label = name.map(|name| format!("{name}_at_{axis_name}"));
        let named = self.always_name(label, at_face);
        let of = named.0.keys().flatten().copied().last();
        let difference = Difference::Across(axis);
        Ok(of.map_or_else(Poly::default, |of| {
            Poly::atom(self.intern(Atom::Derivative { difference, of }))
        }))
    }

    /// A polynomial at the upper faces of cells along an axis.
    pub(super) fn at_face(&mut self, axis: usize, poly: &Poly) -> Result<Poly, Overflow> {
        let mut out = Poly::default();
        for (monomial, c) in &poly.0 {
            let mut product = Poly::uniform(c.clone());
            for atom in monomial {
                let factor = self.atom_at_face(axis, *atom)?;
                product = product.times(&factor)?;
            }
            out = out.plus(&product)?;
        }
        Ok(out)
    }

    fn atom_at_face(&mut self, axis: usize, atom: AtomId) -> Result<Poly, Overflow> {
        let (difference, of) = match self.get(atom).clone() {
            Atom::Derivative { difference: Difference::Central(axes), of } if axes == [axis] => {
                (Difference::SlopeAtFace(axis), of)
            }
            Atom::Named(at) if self.holds_slope(axis, atom) => {
                let (label, poly) = self.named[at].clone();
                let value = self.at_face(axis, &poly)?;
                let axis_name = ["x", "y", "z"][axis];
                let label = label.map(|name| format!("{name}_at_{axis_name}"));
                return Ok(self.name(label, value));
            }
            _ => (Difference::AtFace(axis), atom),
        };
        Ok(Poly::atom(self.intern(Atom::Derivative { difference, of })))
    }
}
