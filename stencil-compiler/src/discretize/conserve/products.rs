//! Products with slopes of fields: `∂q/∂t + ∂f/∂x + B(q) ∂q/∂x = 0`, with `B` that is no derivative of a flux.
//!
//! At jumps of fields the product is the integral of `B dq` on a path between both sides, here the straight one (Dal Maso, LeFloch and
//! Murat, J. Math. Pures Appl. 74, 483, 1995; Parés, SIAM J. Numer. Anal. 44, 300, 2006), by Gauss and Legendre's quadrature. With `P`
//! for that of a face, the fluctuations are `D⁻ = F - f(q₀) + P/2` and `D⁺ = f(q₁) - F + P/2`, which add up to `f(q₁) - f(q₀) + P`. The flux
//! `F` of a solver that adds the fluxes of both sides and a multiple of their rise knows of the product if these are `f(q₀) - P/2` and
//! `f(q₁) + P/2`: their mean is the same, and they rise by `A (q₁ - q₀)` with the matrix `A` of the whole law. Within a cell the
//! product is integrated from its mean to its states at faces (Castro, Gallardo and Parés, Math. Comput. 75, 1103, 2006). A forecast
//! moves states by the integral between both, too, and then the mean is that of the moved ones.

use std::collections::BTreeMap;

use super::algebra::Algebra;
use super::at_face::FaceFlux;
use super::forecast::AtFaces;
use super::riemann::Face;
use super::{AXES, Law};
use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::expand::{Expander, Result, Slope, States};
use crate::discretize::poly::{Poly, Uniform};
use crate::expr::Rational;
use crate::model::{Gives, Variables};

/// For each conserved component the factors of slopes, by the component whose slope it is.
pub(super) type Columns = Vec<BTreeMap<usize, Poly>>;

impl Law<'_> {
    /// Are there products?
    pub(super) fn has_products(&self) -> bool {
        !self.model.products.is_empty()
    }

    /// The factors of slopes along an axis in the product of each conserved component, in a state.
    pub(super) fn columns(
        &self,
        expander: &mut Expander<'_>,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<Columns> {
        let mut all: Columns = vec![BTreeMap::new(); self.components_conserved().len()];
        if !self.has_products() {
            return Ok(all);
        }
        for component in 0..self.components.fields.len() {
            let slope = Some(Slope { component, axis, of_any: true });
            let states = States { slope, ..states.clone() };
            let mut first = 0;
            for flux in &self.model.fluxes {
                let own: Vec<usize> = self.components_of(flux.field).map(|(at, _)| at).collect();
                let rows = first..first + own.len();
                first = rows.end;
                let Some(product) = self.model.product_of(flux.field) else {
                    continue;
                };
                let term = |expander: &mut Expander<'_>| expander.term(&product.value);
                let values = expander.in_states(&states, label, term)?;
                expander.check_symmetry(flux.field, &values, product.span)?;
                for (row, at) in rows.zip(own) {
                    if !values[at].0.is_empty() {
                        let name = format!("slope_factor_{label}");
                        let factor = expander.atoms.name(name, values[at].clone());
                        all[row].insert(component, factor);
                    }
                }
            }
        }
        Ok(all)
    }

    /// The factors of the slopes of conserved components alone, by their numbers among these.
    pub(super) fn conserved_columns(
        &self,
        of: &mut Algebra<'_, '_>,
        states: &States,
        axis: usize,
        label: &str,
    ) -> Result<Columns> {
        let conserved = self.components_conserved();
        let place = |(component, factor): (usize, Poly)| {
            let at = conserved.iter().position(|own| *own == component)?;
            Some((at, factor))
        };
        let all = self.columns(of.expander, states, axis, label)?.into_iter();
        Ok(all.map(|row| row.into_iter().filter_map(place).collect()).collect())
    }

    /// The integral of the product of each conserved component from one state to another.
    pub(super) fn integrals(
        &self,
        of: &mut Algebra<'_, '_>,
        ends: [&States; 2],
        axis: usize,
        label: &str,
    ) -> Result<Vec<Poly>> {
        let (mut jumps, mut means) = (Vec::new(), Vec::new());
        for (from, to) in ends[0].components.iter().zip(&ends[1].components) {
            let jump = of.minus(to, from)?;
            jumps.push(of.named(format!("jump_{label}"), jump));
            let mean = of.halved(&of.plus(from, to)?)?;
            means.push(of.named(format!("middle_{label}"), mean));
        }
        let rule = GAUSS[self.model.scheme.points.clamp(1, 5) as usize - 1];
        let mut sums = vec![Poly::default(); self.components_conserved().len()];
        for (number, (node, weight)) in rule.iter().enumerate() {
            // Points that a mirror exchanges are added first.
            let mut pair = Vec::new();
            for (side, sign) in [(0, -1), (1, 1)] {
                if *node == 0 && side == 1 {
                    continue;
                }
                let by = Uniform::number(Rational::new(sign * node, 2 * WHOLE));
                let mut components = Vec::new();
                for (mean, jump) in means.iter().zip(&jumps) {
                    let at = of.plus(mean, &of.scaled_by(jump, &by)?)?;
                    components.push(of.named(format!("on_path_{label}"), at));
                }
                let states = States { components, ..States::default() };
                let label = format!("{label}_{number}{}", ["", "_ahead"][side]);
                let columns = self.columns(of.expander, &states, axis, &label)?;
                pair.push(along(of, &columns, &jumps)?);
            }
            let weight = Uniform::number(Rational::new(*weight, 2 * WHOLE));
            for (at, sum) in sums.iter_mut().enumerate() {
                let mut both = Poly::default();
                for one in &pair {
                    both = of.onto(&both, &one[at], "of_both")?;
                }
                let part = of.scaled_by(&both, &weight)?;
                *sum = of.onto(sum, &part, format!("integral_{label}"))?;
            }
        }
        Ok(sums)
    }

    /// The states on both sides of the upper face of a cell, seen from there: those that its Riemann problem is solved between.
    fn sides_of_face(&self, expander: &mut Expander<'_>, axis: usize) -> Result<[States; 2]> {
        let own = self.at_faces(expander, axis)?;
        let own = self.seen_from_below(expander, own, axis);
        match &self.model.at_face {
            None => Ok(own),
            Some(at_face) => self.star_states(expander, at_face, own, axis),
        }
    }

    /// The integrals between both sides of a face.
    pub(super) fn between_sides(&self, of: &mut Algebra<'_, '_>, axis: usize) -> Result<Vec<Poly>> {
        let [below, above] = self.sides_of_face(of.expander, axis)?;
        self.integrals(of, [&below, &above], axis, &format!("{}_path", AXES[axis]))
    }

    /// Adds half of the integrals to the fluxes on both sides of a face, with opposite signs.
    pub(super) fn add_products(&self, face: &mut Face<'_, '_, '_>) -> Result<()> {
        if !self.has_products() {
            return Ok(());
        }
        let integrals = self.between_sides(&mut face.algebra, face.axis)?;
        let of = &mut face.algebra;
        for (side, sign) in face.sides.iter_mut().zip([-1, 1]) {
            for ((flux, integral), name) in side.fluxes.iter_mut().zip(&integrals).zip(&face.names)
            {
                let half = of.scaled(integral, sign, 2)?;
                let sum = of.plus(flux, &half)?;
                *flux = of.named(format!("{name}_flux_with_product"), sum);
            }
        }
        Ok(())
    }

    /// Fluxes through the upper face of a cell, with the products between and beside both sides.
    pub(super) fn with_products(
        &self,
        expander: &mut Expander<'_>,
        fluxes: Vec<FaceFlux>,
        axis: usize,
    ) -> Result<Vec<FaceFlux>> {
        if !self.has_products() {
            return Ok(fluxes);
        }
        let span = self.model.products[0].span;
        let of = &mut Algebra { expander, span };
        let between = self.between_sides(of, axis)?;
        let sides = self.sides_of_face(of.expander, axis)?;
        let own = self.at_faces(of.expander, axis)?;
        let own = self.seen_from_below(of.expander, own, axis);
        let middles = self.middles(of, axis)?;
        let mut within = Vec::new();
        for (stops, word) in middles.iter().zip(&own).zip(&sides).zip(["below", "above"]) {
            let ((cell, own), star) = stops;
            let label = format!("{}_{word}", AXES[axis]);
            let inner = self.integrals(of, [cell, own], axis, &format!("{label}_cell"))?;
            let outer = self.integrals(of, [own, star], axis, &format!("{label}_own"))?;
            let mut sums = Vec::new();
            for (inner, outer) in inner.iter().zip(&outer) {
                sums.push(of.onto(inner, outer, format!("within_{label}"))?);
            }
            within.push(sums);
        }
        let names = self.components_conserved().into_iter();
        let names = names.map(|c| format!("{}_{}", self.components.fields[c], AXES[axis]));
        let mut all = Vec::new();
        for (at, (flux, name)) in fluxes.into_iter().zip(names).enumerate() {
            let mut with = |flux: &Poly, sign: i128, within: &Poly, word: &str| {
                if between[at].0.is_empty() && within.0.is_empty() {
                    return Ok(flux.clone());
                }
                let flux = of.whole(format!("{name}_flux"), flux.clone());
                let half = of.scaled(&between[at], sign, 2)?;
                let beside = of.plus(&half, within)?;
                let beside = of.named(format!("{name}_product_{word}"), beside);
                let sum = of.plus(&flux, &beside)?;
                Ok(of.expander.atoms.always_name(format!("{name}_{word}"), sum))
            };
            all.push(FaceFlux {
                leaving: with(&flux.leaving, 1, &within[0][at], "leaving")?,
                entering: with(&flux.entering, -1, &within[1][at], "entering")?,
            });
        }
        Ok(all)
    }

    /// The integrals between the states of a cell at its lower and at its upper face; zero without products.
    pub(super) fn through_cell(
        &self,
        expander: &mut Expander<'_>,
        [upper, lower]: &[States; 2],
        axis: usize,
    ) -> Result<Vec<Poly>> {
        let Some(product) = self.model.products.first() else {
            return Ok(vec![Poly::default(); self.components_conserved().len()]);
        };
        let of = &mut Algebra { expander, span: product.span };
        self.integrals(of, [lower, upper], axis, &format!("{}_own_path", AXES[axis]))
    }

    /// The states in the middle of the cells below and above a face, seen from there: their means, or, of states that a forecast moves,
    /// the means of both, so that the line through a cell is that between them.
    fn middles(&self, of: &mut Algebra<'_, '_>, axis: usize) -> Result<[States; 2]> {
        if self.at_faces == AtFaces::Reconstructed {
            return Ok(self.cells(of.expander, axis));
        }
        let [upper, lower] = self.at_faces(of.expander, axis)?;
        let mut components = Vec::new();
        for (upper, lower) in upper.components.iter().zip(&lower.components) {
            let mean = of.halved(&of.plus(upper, lower)?)?;
            components.push(of.named(format!("moved_{}", AXES[axis]), mean));
        }
        let middle = States { components, ..States::default() };
        Ok(self.seen_from_below(of.expander, [middle.clone(), middle], axis))
    }

    /// Checks that the scheme integrates products.
    ///
    /// # Errors
    /// If its solver or its reconstruction does not.
    pub(super) fn check_products(&self) -> Result<()> {
        let Some(product) = self.model.products.first() else {
            return Ok(());
        };
        let scheme = &self.model.scheme;
        let declared = self.model.declared_solver(scheme);
        let knows =
            self.solver.row.combines || declared.is_some_and(|solver| solver.gives != Gives::State);
        let name = &self.model.fields[product.field].name;
        let (what, help) = if !knows || scheme.fallback.is_some() {
            let text = scheme.riemann_text();
            (
                format!("`{text}` knows nothing of products"),
                "choose `rusanov`, `hll`, `hlle`, `roe`, or a solver of the system by its waves",
            )
        } else if scheme.variables == Variables::Fluxes {
            ("reconstructed fluxes are without them".to_string(), "reconstruct `in conserved`")
        } else {
            return Ok(());
        };
        let message = format!("`{name}` has a product with slopes, and {what}; {help}");
        Err(DiscretizeError::new(Code::NeedsPaths, product.span, message))
    }
}

/// The sum of the products of factors and slopes, for each conserved component.
pub(super) fn along(
    of: &mut Algebra<'_, '_>,
    columns: &Columns,
    slopes: &[Poly],
) -> Result<Vec<Poly>> {
    let mut all = Vec::new();
    for row in columns {
        let mut sum = Poly::default();
        for (component, factor) in row {
            if slopes[*component].0.is_empty() {
                continue;
            }
            let part = of.times(factor, &slopes[*component])?;
            let part = of.whole("with_slope", part);
            sum = of.onto(&sum, &part, "with_slopes")?;
        }
        all.push(sum);
    }
    Ok(all)
}

/// The unit of nodes and weights.
const WHOLE: i128 = 1 << 52;

/// Nodes from 0 to 1 of Gauss and Legendre's rules with 1 to 5 points on [-1, 1], each with its weight there: a node beside 0 stands for
/// two, of both signs.
const GAUSS: [&[(i128, i128)]; 5] = [
    &[(0, 9_007_199_254_740_992)],
    &[(2_600_154_457_184_654, 4_503_599_627_370_496)],
    &[(0, 4_003_199_668_773_774), (3_488_473_270_958_372, 2_501_999_792_983_609)],
    &[
        (1_531_138_501_201_791, 2_937_000_676_430_437),
        (3_878_213_172_010_179, 1_566_598_950_940_059),
    ],
    &[
        (0, 2_562_047_788_015_216),
        (2_425_050_184_342_402, 2_155_551_902_109_783),
        (4_081_071_216_500_021, 1_067_023_831_253_106),
    ],
];
