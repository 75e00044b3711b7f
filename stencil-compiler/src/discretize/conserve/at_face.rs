//! States on both sides of a face at which given fields jump, and the effect of their slopes.
//!
//! A field without flux, such as a bed under water, takes one value at a face. Each side is recomputed with it, the
//! star states, before the Riemann solver sees them: hydrostatic reconstruction (Audusse, Bouchut, Bristeau, Klein and
//! Perthame, SIAM J. Sci. Comput. 25, 2050, 2004, Eqs. 2.9 to 2.13). The effect of `C ∂b/∂x` on a cell is the integral
//! of `C` over the change of `b` on a path through it: from the star state at its lower face to the cell's own state
//! there, to its mean, to its own state at the upper face and to the star state there, straight from each to the next,
//! so that trapezoids give it where `C` is linear along them. On each side `b` follows from the primitives of that
//! side, as the system says. At a shore, `h = max(η - b, 0)` and `b = η - h` make the bed that a side sees no higher
//! than its surface, so that `-g h ∂b/∂x` gives `g/2 (h² - h²)` of both ends of each piece with the surface at rest,
//! clipped or not: the pressures of the fluxes (Audusse et al., Eqs. 2.11 and 4.4, in which the pieces inside of a cell
//! are the centered source). So at rest the sum is zero up to rounding.

use super::algebra::Algebra;
use super::{AXES, Law};
use crate::discretize::expand::{Expander, GivenAt, Result, Slope, States};
use crate::discretize::poly::Poly;
use crate::model::check::slopes::Slopes;
use crate::model::{AtFace, TermKind};

/// The flux through the upper face of a cell, of one component.
#[derive(Clone)]
pub(in crate::discretize) struct FaceFlux {
    /// The flux that leaves the cell below.
    pub(super) leaving: Poly,
    /// The flux that enters the cell above: another one if a slope of given data changes it on the way.
    pub(super) entering: Poly,
}

impl FaceFlux {
    /// A flux that enters as it leaves.
    pub(super) fn plain(flux: Poly) -> Self {
        FaceFlux { leaving: flux.clone(), entering: flux }
    }
}

/// A point on the path of a cell.
struct PathPoint {
    states: States,
    /// The fields that have one value at faces, as this side sees them.
    seen: Vec<Poly>,
}

impl Law<'_> {
    /// The states on both sides of the upper face of a cell, from the cells' own ones there.
    pub(super) fn star_states(
        &self,
        expander: &mut Expander<'_>,
        at_face: &AtFace,
        own: [States; 2],
        axis: usize,
    ) -> Result<[States; 2]> {
        let stars = self.stars(expander, at_face, &own, axis)?;
        Ok(stars.map(|star| star.states))
    }

    /// The states of the cells below and above their common face, all seen from the cell below.
    pub(super) fn seen_from_below(
        &self,
        expander: &mut Expander<'_>,
        [below, above]: [States; 2],
        axis: usize,
    ) -> [States; 2] {
        let mut moved = |poly: &Poly| expander.atoms.at(poly, axis, 1);
        let above = States {
            components: above.components.iter().map(&mut moved).collect(),
            lets: (above.lets.iter())
                .map(|(at, values)| (*at, values.iter().map(&mut moved).collect()))
                .collect(),
            slope: None,
            sources: Vec::new(),
            given_at: GivenAt::from_below(above.given_at, axis),
        };
        [below, above]
    }

    fn stars(
        &self,
        expander: &mut Expander<'_>,
        at_face: &AtFace,
        own: &[States; 2],
        axis: usize,
    ) -> Result<[PathPoint; 2]> {
        let mut one = Vec::new();
        for (field, by) in &at_face.fields {
            for (_, component) in self.components_of(*field) {
                let sides = own.each_ref().map(|side| &side.components[component]);
                let value = expander.operation(*by, &sides);
                let name = format!("{}_{}_face", self.components.fields[component], AXES[axis]);
                one.push((component, expander.atoms.name(&name, value)));
            }
        }
        let [below, above] = own;
        Ok([
            self.star(expander, at_face, below, &one, axis, "below")?,
            self.star(expander, at_face, above, &one, axis, "above")?,
        ])
    }

    /// A side recomputed with the values that both share.
    fn star(
        &self,
        expander: &mut Expander<'_>,
        at_face: &AtFace,
        own: &States,
        one: &[(usize, Poly)],
        axis: usize,
        word: &str,
    ) -> Result<PathPoint> {
        let label = format!("{}_{word}", AXES[axis]);
        let mut states = own.clone();
        for (component, value) in one {
            states.components[*component] = value.clone();
        }
        let recomputed = expander.in_states(&states, &label, |expander| {
            let values = at_face.recomputed.iter().map(|(_, value)| expander.term(value));
            values.collect::<Result<Vec<_>>>()
        })?;
        for ((variable, _), values) in at_face.recomputed.iter().zip(recomputed) {
            match variable.kind {
                TermKind::Field(field) => {
                    for (at, component) in self.components_of(field) {
                        let name = format!("{}_{label}", self.components.fields[component]);
                        states.components[component] =
                            expander.atoms.name(&name, values[at].clone());
                    }
                }
                TermKind::Let(at) => {
                    let named = expander.name_let(&self.model.lets[at], &label, values);
                    states.lets.insert(at, named);
                }
                _ => {}
            }
        }
        if let Some(primitives) = &self.model.primitives {
            self.follow(expander, primitives, &mut states, &label)?;
        }
        let seen = one.iter().map(|(component, _)| states.components[*component].clone());
        let seen = seen.collect();
        for (component, value) in one {
            states.components[*component] = value.clone();
        }
        Ok(PathPoint { states, seen })
    }

    /// The flux through the upper face of a cell along an axis, with the effect of slopes on both sides of it.
    pub(super) fn through(
        &self,
        expander: &mut Expander<'_>,
        fluxes: Vec<Poly>,
        axis: usize,
    ) -> Result<Vec<FaceFlux>> {
        let Some(at_face) = &self.model.at_face else {
            let plain = fluxes.into_iter().map(FaceFlux::plain).collect();
            return self.with_products(expander, plain, axis);
        };
        let span = at_face.span;
        let own = self.at_faces(expander, axis)?;
        let own = self.seen_from_below(expander, own, axis);
        let stars = self.stars(expander, at_face, &own, axis)?;
        let cells = self.cells(expander, axis);
        let mut paths = Vec::new();
        for (((cell, own), star), word) in cells.into_iter().zip(own).zip(stars).zip(SIDES) {
            let stops = [self.stop(at_face, cell), self.stop(at_face, own), star];
            let of = &mut Algebra { expander, span };
            paths.push(self.path(of, at_face, stops, axis, word)?);
        }
        let of = &mut Algebra { expander, span };
        let mut all = Vec::new();
        for ((component, flux), paths) in (self.components_conserved().into_iter())
            .zip(fluxes)
            .zip(paths.remove(0).into_iter().zip(paths.remove(0)))
        {
            let name = format!("{}_{}", self.components.fields[component], AXES[axis]);
            let mut beside = |path: Poly, word: &str| match path.0.is_empty() {
                true => Ok(flux.clone()),
                false => {
                    let flux = of.whole(format!("{name}_flux"), flux.clone());
                    let half = of.halved(&path)?;
                    let sum = of.minus(&flux, &half)?;
                    Ok(of.expander.atoms.always_name(format!("{name}_{word}"), sum))
                }
            };
            all.push(FaceFlux {
                leaving: beside(paths.0, "leaving")?,
                entering: beside(paths.1, "entering")?,
            });
        }
        self.with_products(expander, all, axis)
    }

    /// The means of the cells below and above their common face, seen from the cell below.
    pub(super) fn cells(&self, expander: &mut Expander<'_>, axis: usize) -> [States; 2] {
        let cell = self.in_cell(expander);
        self.seen_from_below(expander, [cell.clone(), cell], axis)
    }

    fn stop(&self, at_face: &AtFace, states: States) -> PathPoint {
        let components = at_face.fields.iter().flat_map(|(f, _)| self.components_of(*f));
        let seen = components.map(|(_, component)| states.components[component].clone());
        PathPoint { seen: seen.collect(), states }
    }

    /// Twice the integral from the mean of a cell to the star state at its face, for each conserved component.
    fn path(
        &self,
        of: &mut Algebra<'_, '_>,
        at_face: &AtFace,
        stops: [PathPoint; 3],
        axis: usize,
        word: &str,
    ) -> Result<Vec<Poly>> {
        let mut sums = vec![Poly::default(); self.components_conserved().len()];
        for (at, (field, _)) in at_face.fields.iter().enumerate() {
            for (_, component) in self.components_of(*field) {
                let slope = Slope { component, axis, of_any: false };
                let mut factors = Vec::new();
                for (stop, place) in stops.iter().zip(["cell", "own", "star"]) {
                    let label = format!("{}_{word}_{place}", AXES[axis]);
                    factors.push(self.factors(of, at_face, &stop.states, slope, &label)?);
                }
                for (ends, factors) in stops.windows(2).zip(factors.windows(2)) {
                    let change = of.minus(&ends[1].seen[at], &ends[0].seen[at])?;
                    let change = of.named(format!("{word}_change"), change);
                    let both = factors[0].iter().zip(&factors[1]);
                    for (sum, (first, second)) in sums.iter_mut().zip(both) {
                        let twice = of.plus(first, second)?;
                        if twice.0.is_empty() {
                            continue;
                        }
                        // Rounded one by one, so that both sides of a face are added in one order.
                        let part = of.times(&twice, &change)?;
                        let part = of.whole("piece", part);
                        *sum = of.onto(sum, &part, "path")?;
                    }
                }
            }
        }
        Ok(sums)
    }

    /// The factor of a slope in the rate of each conserved component.
    fn factors(
        &self,
        of: &mut Algebra<'_, '_>,
        at_face: &AtFace,
        states: &States,
        slope: Slope,
        label: &str,
    ) -> Result<Vec<Poly>> {
        let states = States { slope: Some(slope), ..states.clone() };
        let slopes = Slopes::new(at_face, &self.model.lets);
        let mut all = Vec::new();
        for flux in &self.model.fluxes {
            let equation = &self.model.equations[flux.field];
            let parts = slopes.parts(&equation.rhs);
            let entries = self.components.of_field(flux.field);
            let mut sums = vec![Poly::default(); entries.len()];
            for (part, negative) in parts.signed() {
                let values =
                    of.expander.in_states(&states, label, |expander| expander.term(part))?;
                for (sum, value) in sums.iter_mut().zip(values) {
                    let value = if negative { value.negated() } else { value };
                    *sum = of.plus(sum, &value)?;
                }
            }
            for (at, _) in self.components_of(flux.field) {
                all.push(of.whole(format!("factor_{label}"), sums[at].clone()));
            }
        }
        Ok(all)
    }
}

/// The cells below and above a face.
const SIDES: [&str; 2] = ["below", "above"];

#[cfg(test)]
mod tests {
    use crate::catalogue::Rank;
    use crate::diag::Code;
    use crate::discretize::discretize;
    use crate::model::parse::parse_str;
    use crate::model::{Relation, Term, TermKind};

    /// A model that was not checked.
    #[test]
    fn no_slope_is_chosen_by_another_derivative() {
        let text = "system Sloping in 1d {
                conserved q: scalar; field b: scalar;
                let w = q + b;
                flux q -> [q^2/2];
                ddt(q) = -d[x](b)*q;
                ddt(b) = 0;
                primitive { w; q = w - b; }
                face { b by max; }
            }
            scheme s for Sloping { reconstruct: plm in primitive; riemann: force; time: ssprk2; }";
        let mut model = parse_str(text).unwrap();
        discretize(&model).unwrap();
        let (zero, slope) =
            (Term::integer(0, model.equations[0].span), model.equations[0].rhs.clone());
        let scalar = |kind| Term::of(kind, Rank::Scalar, slope.span);
        let steep = |field, times| {
            let of = Box::new(scalar(TermKind::Field(field)));
            scalar(TermKind::Derivative { axis: 0, times, of })
        };
        for compared in [steep(0, 1), steep(1, 2)] {
            let parts = [zero.clone(), compared, slope.clone(), zero.clone()];
            model.equations[0].rhs = scalar(TermKind::If(Relation::Less, Box::new(parts)));
            let error = discretize(&model).unwrap_err();
            assert_eq!(error.code, Code::NotAtFaces, "{error}");
        }
    }
}
