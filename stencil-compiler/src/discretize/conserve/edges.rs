//! Constrained transport: fields on faces that flow, with fluxes through edges (C. R. Evans and J. F. Hawley, Astrophys. J. 332,
//! 659, 1988).
//!
//! The flux of such a vector is antisymmetric: that of component b along axis a is the electromotive force along the third
//! axis, and that of component a along b is the same with the other sign. A Riemann solver gives it at faces along a and
//! along b. Its value at the edge where these meet is the mean of four faces (D. S. Balsara and D. S. Spicer, J. Comput.
//! Phys. 149, 270, 1999), and a change from there to the edge that is taken from the side that the flow comes from (T. A. Gardiner and
//! J. M. Stone, J. Comput. Phys. 205, 509, 2005, Eqs. 41, 45 and 50): a wave along an axis has the flux of the solver. The rate
//! is a difference of edges, so the fluxes of the divergence through the faces of a cell cancel.
//!
//! A predictor solves Riemann problems in the middle of the step (see [`mid_step`](super::mid_step)), with the fluxes in cells of that time.

use super::algebra::Algebra;
use super::at_face::FaceFlux;
use super::{AXES, Law, Outflow};
use crate::catalogue::Centering;
use crate::catalogue::centering::CENTRE;
use crate::diag::{Code, Span};
use crate::discretize::DiscretizeError;
use crate::discretize::atoms::Difference;
use crate::discretize::expand::{Expander, Result, States, overflow};
use crate::discretize::poly::Poly;
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
        } else if self.model.solvers_of(scheme).any(|solver| solver.splits) {
            Some("a solver that splits fluxes")
        } else if scheme.sweep != Sweep::Unsplit {
            Some("a step that is split by axes")
        } else if scheme.traces {
            Some("parabolas that are traced")
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
                 choose `reconstruct: plm`, in conserved or primitive variables, `sweep: unsplit` and `repair: none`"
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
        let conserved = self.components_conserved();
        let flux = |axis: usize, component: usize| {
            let at = conserved.iter().position(|other| *other == component)?;
            Some(through.get(axis)?.get(at)?.leaving.clone())
        };
        let states = self.in_cells_then(expander)?;
        let mut all = Vec::new();
        for edge in self.edges(expander, states.as_ref())? {
            let ([a, b], [of_a, of_b]) = (edge.axes, edge.components);
            let (Some(at_a), Some(at_b)) = (flux(a, of_b), flux(b, of_a)) else {
                continue;
            };
            let emf = edge.between_faces(self, expander, [at_a, at_b.negated()])?;
            all.extend(edge.rates(expander, &emf)?);
        }
        Ok(all)
    }

    /// The rates of the components that lie on faces, from the fluxes in the cells around edges: nothing jumps.
    pub(super) fn between_cells(&self, expander: &mut Expander<'_>) -> Result<Vec<Outflow>> {
        let mut all = Vec::new();
        for edge in self.edges(expander, None)? {
            let emf = edge.between_cells(expander)?;
            all.extend(edge.rates(expander, &emf)?);
        }
        Ok(all)
    }

    /// The edges of a cell, with the fluxes in these states of it; in its mean state without them.
    fn edges(&self, expander: &mut Expander<'_>, states: Option<&States>) -> Result<Vec<Edge>> {
        let mut all = Vec::new();
        for flux in self.transported() {
            let in_cell = match states {
                None => expander.term(&flux.value)?,
                Some(states) => {
                    expander.in_states(states, "then", |expander| expander.term(&flux.value))?
                }
            };
            let entries = self.components.of_field(flux.field);
            let component = |axis: usize| entries[axis].map_or(0, |(component, _)| component);
            for (a, b) in pairs(self.model.dimension) {
                let name = &self.model.fields[flux.field].name;
                all.push(Edge {
                    axes: [a, b],
                    components: [component(a), component(b)],
                    name: format!("{name}_emf_{}{}", AXES[a], AXES[b]),
                    in_cell: in_cell[a * self.model.components + b].clone(),
                    span: flux.span,
                });
            }
        }
        Ok(all)
    }

    /// The part of what differs between both sides of the upper face of a cell along an axis by which the side that the flow comes from
    /// weighs more than the mean: half of it if a step flows through a thousandth of a cell or more, and in proportion if it is slower, so
    /// that the rounding of a flow at rest chooses no side (J. M. Stone, K. Tomida, C. J. White and K. G. Felker, Astrophys. J. Suppl. 249, 4,
    /// 2020, as in their code). Nothing if the flow is not known.
    fn upwind_at_face(&self, of: &mut Algebra<'_, '_>, axis: usize) -> Result<Option<Poly>> {
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
        let sum = of.named(format!("flow_{}", AXES[axis]), sum);
        let steep = of.scaled(&of.times_step(&sum, axis)?, STEEPNESS, 4)?;
        let half = of.number(1, 2);
        let bounded = of.max(&steep, &half.negated());
        let bounded = of.min(&bounded, &half);
        Ok(Some(of.named(format!("upwind_{}", AXES[axis]), bounded)))
    }
}

/// A flow through one cell over this in a step is upwinded by its whole.
const STEEPNESS: i128 = 1000;

/// Two different axes each, in order.
fn pairs(dimension: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dimension).flat_map(move |a| (a + 1..dimension).map(move |b| (a, b)))
}

/// The upper edge of a cell along two axes.
struct Edge {
    axes: [usize; 2],
    /// The components along them.
    components: [usize; 2],
    name: String,
    /// The flux of the second component along the first axis, in the cell.
    in_cell: Poly,
    span: Span,
}

impl Edge {
    /// The rates of both components by the flux through the edge.
    fn rates(&self, expander: &mut Expander<'_>, emf: &Poly) -> Result<[Outflow; 2]> {
        let ([a, b], [of_a, of_b], span) = (self.axes, self.components, self.span);
        let mut rate = |axis: usize, component: usize, through: &Poly| {
            let rate = expander.atoms.difference(Difference::Across(axis), through, &"emf".into());
            Ok(Outflow { axis, component, rate: rate.map_err(overflow(span))?, span })
        };
        Ok([rate(a, of_b, &emf.negated())?, rate(b, of_a, emf)?])
    }

    /// The mean flux of the four cells around the edge.
    fn between_cells(&self, expander: &mut Expander<'_>) -> Result<Poly> {
        let of = &mut Algebra { expander, span: self.span };
        let ([a, b], own) = (self.axes, &self.in_cell);
        let own = of.whole(format!("{}_cell", self.name), own.clone());
        let at_a = of.expander.atoms.at(&own, a, 1);
        let at_b = of.expander.atoms.at(&own, b, 1);
        let beyond = of.expander.atoms.at(&at_a, b, 1);
        // By diagonals, which a mirror and an exchange of axes keep.
        let (along, across) = (of.plus(&own, &beyond)?, of.plus(&at_a, &at_b)?);
        let (along, across) = (of.named("corners", along), of.named("corners", across));
        let sum = of.plus(&along, &across)?;
        let sum = of.named("cells", sum);
        let quarter = of.scaled(&sum, 1, 4)?;
        Ok(of.expander.atoms.always_name(format!("{}_mean", self.name), quarter))
    }

    /// The flux at the edge, from those of the component through the upper faces of the cell along both axes.
    fn between_faces(
        &self,
        law: &Law<'_>,
        expander: &mut Expander<'_>,
        [at_a, at_b]: [Poly; 2],
    ) -> Result<Poly> {
        let [a, b] = self.axes;
        let of = &mut Algebra { expander, span: self.span };
        let mut name = |value: Poly, word: &str| {
            of.expander.atoms.always_name(format!("{}_{word}", self.name), value)
        };
        let (at_a, at_b) = (name(at_a, "a"), name(at_b, "b"));
        let in_cell = name(self.in_cell.clone(), "cell");
        let pair = |of: &mut Algebra<'_, '_>, value: &Poly, axis: usize| {
            let next = of.expander.atoms.at(value, axis, 1);
            let sum = of.plus(value, &next)?;
            Ok(of.named("pair", sum))
        };
        let (of_a, of_b) = (pair(of, &at_a, b)?, pair(of, &at_b, a)?);
        let mut sum = of.plus(&of_a, &of_b)?;
        sum = of.named("faces", sum);
        for (axis, beside, other) in [(a, b, &at_b), (b, a, &at_a)] {
            if let Some(upwind) = law.upwind_at_face(of, axis)? {
                let change = upwinded(of, &upwind, [axis, beside], (&in_cell, other))?;
                sum = of.plus(&sum, &change)?;
                sum = of.named("upwinded", sum);
            }
        }
        let quarter = of.scaled(&sum, 1, 4)?;
        Ok(of.expander.atoms.always_name(self.name.clone(), quarter))
    }
}

/// Four times the changes towards an edge from the two faces along `axis` that meet there: on each, that from the
/// centre to the face along `beside` of the cell that the flow comes from.
fn upwinded(
    of: &mut Algebra<'_, '_>,
    upwind: &Poly,
    [axis, beside]: [usize; 2],
    (in_cell, at_face): (&Poly, &Poly),
) -> Result<Poly> {
    let next = of.expander.atoms.at(in_cell, beside, 1);
    let mut sides = Vec::new();
    for (in_cell, ahead, word) in [(in_cell, 0, "near"), (&next, 1, "far")] {
        let change = of.minus(at_face, in_cell)?;
        let change = of.named(format!("{}_{word}", AXES[axis]), change);
        let upwind = of.expander.atoms.at(upwind, beside, ahead);
        sides.push(from_flow(of, &upwind, &change, axis)?);
    }
    let sum = of.plus(&sides[0], &sides[1])?;
    Ok(of.named("change", sum))
}

/// A value of the cells at an upper face, so much more of that which the flow comes from than the mean.
fn from_flow(of: &mut Algebra<'_, '_>, upwind: &Poly, value: &Poly, axis: usize) -> Result<Poly> {
    let above = of.expander.atoms.at(value, axis, 1);
    let (sum, difference) = (of.plus(value, &above)?, of.minus(value, &above)?);
    let (sum, difference) = (of.named("both", sum), of.named("differ", difference));
    let more = of.times(upwind, &difference)?;
    let chosen = of.plus(&of.halved(&sum)?, &more)?;
    Ok(of.named("from_flow", chosen))
}
