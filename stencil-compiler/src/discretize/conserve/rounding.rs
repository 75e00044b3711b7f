//! Puts an emptied cell onto the bound of its range if only rounding left it beyond.
//!
//! A step that lets out all that a cell holds ends near zero, on either side of it, by the rounding of its sums: a few
//! times the last digit of the largest of their terms. The exact value is the bound, so such a value is set to it. A
//! value further out is no effect of rounding, and stays, so that the run stops.

use super::Law;
use super::algebra::Algebra;
use super::at_face::FaceFlux;
use crate::discretize::Bounds;
use crate::discretize::expand::{Result, States};
use crate::discretize::fractional_steps::FractionalStep;
use crate::discretize::poly::{Poly, Uniform, UniformFactor};
use crate::expr::{Op, Rational};
use crate::model::{Comparison, Model, Range, TermKind};

/// The rounding of a sum, in units of the last digit of the sizes of its terms. In three dimensions there are seven,
/// with other terms eight: each is rounded twice, and each sum once, by half of a unit. That is less than twelve, and
/// leaves fluxes some.
const LOST: i128 = 16;

/// The ranges that contain their bound, `h >= 0` and the like, in which new values of components are kept.
pub(in crate::discretize) fn bounds(
    model: &Model,
    component: impl Fn(usize) -> Option<usize>,
) -> Bounds {
    let kept = model.ranges.iter().filter(|_| model.repairs());
    kept.filter_map(|range| Some((component(field_of(range)?)?, closed(range)?))).collect()
}

/// The field that a range is of.
fn field_of(range: &Range) -> Option<usize> {
    match range.of.kind {
        TermKind::Field(field) => Some(field),
        _ => None,
    }
}

/// The operation that puts a value onto the bound of a range, and the bound, if the range holds it.
fn closed(range: &Range) -> Option<(Op, Rational)> {
    match range.comparison {
        Comparison::GreaterEqual => Some((Op::Max, range.bound)),
        Comparison::LessEqual => Some((Op::Min, range.bound)),
        Comparison::Less | Comparison::Greater => None,
    }
}

impl Law<'_> {
    /// The states after an Euler step, with values that rounding has put beyond a bound set to it.
    pub(super) fn rounded_back(
        &self,
        of: &mut Algebra<'_, '_>,
        mut states: States,
        through: &[Vec<FaceFlux>],
        part: &FractionalStep,
        rest: &[Poly],
    ) -> Result<States> {
        for range in &self.model.ranges {
            let (Some(field), Some((op, bound))) = (field_of(range), closed(range)) else {
                continue;
            };
            let Some((_, component)) = self.components_of(field).next() else {
                continue;
            };
            let lost = self.lost_digits(of, component, through, part, rest)?;
            let bound = Poly::uniform(Uniform::number(bound));
            let value = states.components[component].clone();
            let kept = of.op(op, &[&value, &bound]);
            let kept = match op {
                Op::Max => {
                    let least = of.minus(&bound, &lost)?;
                    of.op(Op::Le, &[&least, &value, &kept, &value])
                }
                _ => {
                    let most = of.plus(&bound, &lost)?;
                    of.op(Op::Le, &[&value, &most, &kept, &value])
                }
            };
            let name = format!("{}_rounded_back", self.components.fields[component]);
            states.components[component] = of.expander.atoms.always_name(&name, kept);
        }
        Ok(states)
    }

    /// The most that rounding may move a component in an Euler step.
    fn lost_digits(
        &self,
        of: &mut Algebra<'_, '_>,
        component: usize,
        through: &[Vec<FaceFlux>],
        part: &FractionalStep,
        rest: &[Poly],
    ) -> Result<Poly> {
        let name = &self.components.fields[component];
        let own = of.expander.atoms.state(component);
        let mut size = of.abs(&own);
        if let Some(rate) = rest.get(component).filter(|rate| part.rest && !rate.0.is_empty()) {
            let rate = of.whole(format!("{name}_rest"), rate.clone());
            let rate = of.abs(&rate);
            let dt = Uniform::power(UniformFactor::Dt, 1).times_number(part.share);
            size = of.plus(&size, &of.scaled_by(&rate, &dt)?)?;
        }
        let at = self.components_conserved();
        let at = at.iter().position(|other| *other == component);
        for axis in part.axes.iter().filter(|_| at.is_some()) {
            let FaceFlux { leaving, entering } = &through[*axis][at.unwrap_or_default()];
            let entering = of.expander.atoms.at(entering, *axis, -1);
            for flux in [leaving, &entering] {
                let flux = of.abs(flux);
                size = of.plus(&size, &of.times_step(&flux, *axis)?)?;
            }
        }
        let size = of.whole(format!("{name}_size"), size);
        let last = Uniform::power(UniformFactor::Epsilon, 1);
        let lost = last.times_number(Rational::from_integer(LOST));
        of.scaled_by(&size, &lost)
    }
}
