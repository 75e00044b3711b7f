//! Constrained transport: fields on faces that flow, with fluxes through edges (C. R. Evans and J. F. Hawley, Astrophys. J. 332,
//! 659, 1988).
//!
//! The flux of such a vector is antisymmetric: that of component b along axis a is the electromotive force along the third
//! axis, and that of component a along b is the same with the other sign. A Riemann solver gives it at faces along a and
//! along b. Its value at the edge where these meet is the mean of four faces (D. S. Balsara and D. S. Spicer, J. Comput.
//! Phys. 149, 270, 1999), and a change from there to the edge that is taken from the side that the flow comes from (T. A. Gardiner and
//! J. M. Stone, J. Comput. Phys. 205, 509, 2005, Eqs. 41, 45 and 50): a wave along an axis has the flux of the solver. The rate
//! is a difference of edges, so the fluxes of the divergence through the faces of a cell cancel.

use super::algebra::Algebra;
use super::at_face::FaceFlux;
use super::{AXES, Law, Outflow};
use crate::catalogue::Centering;
use crate::catalogue::centering::CENTRE;
use crate::diag::{Code, Span};
use crate::discretize::DiscretizeError;
use crate::discretize::atoms::Difference;
use crate::discretize::expand::{Expander, Result, overflow};
use crate::discretize::poly::Poly;
use crate::expr::Op;
use crate::model::{Flux, Sweep, Variables};

impl Law<'_> {
    /// The fluxes of fields on faces.
    fn transported(&self) -> impl Iterator<Item = &Flux> {
        let on_faces = |flux: &&Flux| self.model.fields[flux.field].centering == Centering::Face;
        self.model.fluxes.iter().filter(on_faces)
    }

    /// Is it a component that is transported by fluxes through edges?
    pub(super) fn is_transported(&self, component: usize) -> bool {
        self.components.halves[component] != CENTRE
    }

    /// A component in the centre of a cell: the mean of both faces if it lies on them.
    pub(super) fn centred(&self, expander: &mut Expander<'_>, component: usize) -> Result<Poly> {
        let own = expander.atoms.state(component);
        let name = (&self.components.fields[component]).into();
        let span = self.model.fluxes[0].span;
        expander.atoms.moved(CENTRE, &own, &name).map_err(overflow(span))
    }

    /// The values of a component at the upper and at the lower face of a cell, if it lies on faces along the axis: both
    /// sides of a face have the same.
    pub(super) fn on_faces(
        &self,
        expander: &mut Expander<'_>,
        component: usize,
        axis: usize,
    ) -> Option<[Poly; 2]> {
        self.components.halves[component][axis].then(|| {
            let own = expander.atoms.state(component);
            let lower = expander.atoms.at(&own, axis, -1);
            [own, lower]
        })
    }

    /// Checks that the settings of the scheme go with fields on faces, and that their fluxes are antisymmetric.
    ///
    /// # Errors
    /// If they do not or are not.
    pub(super) fn check_transport(&self, expander: &mut Expander<'_>) -> Result<()> {
        let Some(flux) = self.transported().next() else {
            return Ok(());
        };
        let scheme = &self.model.scheme;
        if scheme.order != 2 {
            let name = &self.model.fields[flux.field].name;
            let message = format!(
                "`{name}` lies on faces, and fluxes through edges are differences of second order; the scheme has order {}: \
                 write `space: central<order = 2>;`",
                scheme.order
            );
            return Err(DiscretizeError::new(Code::NotTransported, flux.span, message));
        }
        let with = if self.reconstruction.row.propagates {
            Some("the reconstruction of waves")
        } else if scheme.variables == Variables::Characteristic {
            Some("reconstruction by families of waves")
        } else if scheme.variables == Variables::Fluxes {
            Some("reconstructed fluxes")
        } else if self.solver.row.splits {
            Some("a solver that splits fluxes")
        } else if scheme.sweep != Sweep::Unsplit {
            Some("a step that is split by axes")
        } else if scheme.forecast().is_some() {
            Some("a forecast of fluxes")
        } else if self.model.repairs() {
            Some("repaired fluxes")
        } else if self.model.at_face.is_some() {
            Some("values that both sides of a face share")
        } else {
            None
        };
        if let Some(with) = with {
            let name = &self.model.fields[flux.field].name;
            let message = format!(
                "`{name}` lies on faces and is transported by fluxes through edges, which does not go with {with}; \
                 choose `reconstruct: plm`, in conserved or primitive variables, `sweep: unsplit`, `repair: none` and \
                 a Runge-Kutta method such as `ssprk2`"
            );
            return Err(DiscretizeError::new(Code::NotTransported, flux.span, message));
        }
        for flux in self.transported() {
            let value = expander.term(&flux.value)?;
            let n = self.model.components;
            let odd = |at: usize| value[at] == value[at % n * n + at / n].negated();
            if !(0..n * n).all(odd) {
                let name = &self.model.fields[flux.field].name;
                let message = format!(
                    "the flux of `{name}`, which lies on faces, is not antisymmetric; for a field that keeps its \
                     divergence it is `outer(u, b) - outer(b, u)` with `b = to_cells({name})`"
                );
                return Err(DiscretizeError::new(Code::NotTransported, flux.value.span, message));
            }
        }
        Ok(())
    }

    /// The rates of the components that lie on faces, from the fluxes through faces along each axis.
    pub(super) fn through_edges(
        &self,
        expander: &mut Expander<'_>,
        through: &[Vec<FaceFlux>],
    ) -> Result<Vec<Outflow>> {
        let mut all = Vec::new();
        let conserved = self.components_conserved();
        let place = |component: usize| conserved.iter().position(|other| *other == component);
        for flux in self.transported() {
            let entries = self.components.of_field(flux.field);
            let component = |axis: usize| entries[axis].map_or(0, |(component, _)| component);
            let in_cells = expander.term(&flux.value)?;
            for (a, b) in pairs(self.model.dimension) {
                let (Some(of_b), Some(of_a)) = (place(component(b)), place(component(a))) else {
                    continue;
                };
                let mut edge = Edge {
                    axes: [a, b],
                    name: format!(
                        "{}_emf_{}{}",
                        self.model.fields[flux.field].name, AXES[a], AXES[b]
                    ),
                    at_a: through[a][of_b].leaving.clone(),
                    at_b: through[b][of_a].leaving.negated(),
                    in_cell: in_cells[a * self.model.components + b].clone(),
                };
                let emf = edge.value(self, expander, flux.span)?;
                for (axis, component, rate) in
                    [(a, component(b), emf.negated()), (b, component(a), emf.clone())]
                {
                    let across = Difference::Across(axis);
                    let rate = expander.atoms.difference(across, &rate, &"emf".into());
                    let rate = rate.map_err(overflow(flux.span))?;
                    all.push(Outflow { axis, component, rate, span: flux.span });
                }
            }
        }
        Ok(all)
    }

    /// The flow at the upper face of a cell along an axis, with the sign of that of both sides; nothing if it is not known.
    fn flow_at_face(&self, of: &mut Algebra<'_, '_>, axis: usize) -> Result<Option<Poly>> {
        let Some(waves) = self.waves.as_ref().filter(|waves| waves.flow.is_some()) else {
            return Ok(None);
        };
        let [below, above] = self.at_faces(of.expander, axis)?;
        let mut flow = |states, word: &str| {
            let label = format!("{}_{word}", AXES[axis]);
            let both = self.flow_and_sound(of.expander, waves, states, axis, &label)?;
            Ok(both[0].clone())
        };
        let (below, above) = (flow(&below, "upper")?, flow(&above, "lower")?);
        let above = of.expander.atoms.at(&above, axis, 1);
        let sum = of.plus(&below, &above)?;
        Ok(Some(of.named(format!("flow_{}", AXES[axis]), sum)))
    }
}

/// Two different axes each, in order.
fn pairs(dimension: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dimension).flat_map(move |a| (a + 1..dimension).map(move |b| (a, b)))
}

/// The upper edge of a cell along two axes, with the flux of the component of the second one along the first.
struct Edge {
    axes: [usize; 2],
    name: String,
    /// At the upper face of the cell along the first axis.
    at_a: Poly,
    /// At that along the second one.
    at_b: Poly,
    in_cell: Poly,
}

impl Edge {
    /// The flux at the edge.
    fn value(&mut self, law: &Law<'_>, expander: &mut Expander<'_>, span: Span) -> Result<Poly> {
        let [a, b] = self.axes;
        let of = &mut Algebra { expander, span };
        for (value, word) in
            [(&mut self.at_a, "a"), (&mut self.at_b, "b"), (&mut self.in_cell, "cell")]
        {
            *value = of.expander.atoms.always_name(format!("{}_{word}", self.name), value.clone());
        }
        let (at_a, at_b) = (self.at_a.clone(), self.at_b.clone());
        let pair = |of: &mut Algebra<'_, '_>, value: &Poly, axis: usize| {
            let next = of.expander.atoms.at(value, axis, 1);
            let sum = of.plus(value, &next)?;
            Ok(of.named("pair", sum))
        };
        let (of_a, of_b) = (pair(of, &at_a, b)?, pair(of, &at_b, a)?);
        let mut sum = of.plus(&of_a, &of_b)?;
        sum = of.named("faces", sum);
        for (axis, beside, other) in [(a, b, &at_b), (b, a, &at_a)] {
            if let Some(flow) = law.flow_at_face(of, axis)? {
                let change = self.upwinded(of, &flow, axis, beside, other)?;
                sum = of.plus(&sum, &change)?;
                sum = of.named("upwinded", sum);
            }
        }
        let quarter = of.scaled(&sum, 1, 4)?;
        Ok(of.expander.atoms.always_name(self.name.clone(), quarter))
    }

    /// Four times the changes towards the edge from the two faces along `axis` that meet there: on each, that from the
    /// centre to the face along `beside` of the cell that the flow comes from.
    fn upwinded(
        &self,
        of: &mut Algebra<'_, '_>,
        flow: &Poly,
        axis: usize,
        beside: usize,
        other: &Poly,
    ) -> Result<Poly> {
        let next = of.expander.atoms.at(&self.in_cell, beside, 1);
        let mut sides = Vec::new();
        for (in_cell, ahead, word) in [(&self.in_cell, 0, "near"), (&next, 1, "far")] {
            let change = of.minus(other, in_cell)?;
            let change = of.named(format!("{}_{word}", AXES[axis]), change);
            let flow = of.expander.atoms.at(flow, beside, ahead);
            sides.push(from_flow(of, &flow, &change, axis)?);
        }
        let sum = of.plus(&sides[0], &sides[1])?;
        Ok(of.named("change", sum))
    }
}

/// A value of the cell that the flow through its upper face comes from; the mean of both if nothing flows.
fn from_flow(of: &mut Algebra<'_, '_>, flow: &Poly, value: &Poly, axis: usize) -> Result<Poly> {
    let zero = Poly::default();
    let above = of.expander.atoms.at(value, axis, 1);
    let sum = of.plus(value, &above)?;
    let sum = of.named("both", sum);
    let mean = of.halved(&sum)?;
    let backward = of.op(Op::Lt, &[flow, &zero, &above, &mean]);
    let chosen = of.op(Op::Lt, &[&zero, flow, value, &backward]);
    Ok(of.named("from_flow", chosen))
}
