//! Values on faces and edges: the places of atoms, derivatives that lead halfway, and interpolation.

use super::atoms::{Atom, Atoms, Difference};
use super::names::Label;
use super::poly::{AtomId, Overflow, Poly};
use crate::catalogue::Halves;
use crate::catalogue::centering::CENTRE;

impl Atoms {
    /// The place of an atom that gets the next number: the checks of a model let all operands have one place.
    pub(super) fn place_of_new(&self, atom: &Atom) -> Halves {
        match atom {
            Atom::State(component) => {
                let halves = self.halves.as_ref().and_then(|halves| halves.get(*component));
                halves.copied().unwrap_or(CENTRE)
            }
            Atom::At { of, .. } => self.place_of(*of),
            Atom::Derivative { difference, of } => {
                let mut at = self.place_of(*of);
                match difference {
                    Difference::AtFace(axis) | Difference::SlopeAtFace(axis) => at[*axis] = true,
                    Difference::Across(axis)
                    | Difference::BetweenFaces(axis)
                    | Difference::Outflow { axis, .. } => at[*axis] = false,
                    Difference::Central(_) | Difference::Own(..) => {}
                }
                at
            }
            Atom::Named(at) => self.place(&self.named[*at].1),
            Atom::Call(_, args) => {
                let mut known = args.iter().filter(|arg| arg.as_uniform().is_none());
                known.next().map_or(CENTRE, |arg| self.place(arg))
            }
        }
    }

    fn place_of(&self, atom: AtomId) -> Halves {
        self.places.get(atom as usize).copied().unwrap_or(CENTRE)
    }

    /// The place of a polynomial; the centre if it is the same everywhere.
    fn place(&self, poly: &Poly) -> Halves {
        let mut atoms = poly.0.keys().flatten();
        atoms.next().map_or(CENTRE, |atom| self.place_of(*atom))
    }

    /// The first derivative of a polynomial along an axis, at the place halfway between two of its values.
    pub(super) fn halfway(
        &mut self,
        axis: usize,
        poly: &Poly,
        name: &Label,
    ) -> Result<Poly, Overflow> {
        let difference = match self.place(poly)[axis] {
            true => Difference::Across(axis),
            false => Difference::SlopeAtFace(axis),
        };
        self.difference(difference, poly, name)
    }

    /// A polynomial at another place, by interpolation along each axis where it lies elsewhere. In a system without
    /// values on faces or edges all lie in the centres of cells.
    pub(super) fn moved(
        &mut self,
        place: Halves,
        poly: &Poly,
        name: &Label,
    ) -> Result<Poly, Overflow> {
        let mut value = poly.clone();
        if self.halves.is_none() || poly.as_uniform().is_some() {
            return Ok(value);
        }
        let from = self.place(poly);
        for axis in (0..3).filter(|axis| from[*axis] != place[*axis]) {
            let whole = self.name(name.clone(), value);
            let difference = match place[axis] {
                true => Difference::AtFace(axis),
                false => Difference::BetweenFaces(axis),
            };
            value = self.difference(difference, &whole, name)?;
        }
        Ok(value)
    }
}
