//! Absorbing layers: terms that let fields relax towards a far state beside faces of the mesh.
//!
//! In a layer the equation of a field q has the term `-rate*(q - far)`. The rate rises from zero, where the layer begins, with
//! the third power of the depth, so that the layer itself reflects little (Israeli and Orszag, J. Comput. Phys. 41, 115,
//! 1981). Layers that overlap at edges and corners add up.
//!
//! Rates and far values that vary are sources, which lie in the centres of cells. For components on faces and edges they are
//! interpolated to their places. All fields of a wave relax at one rate, so a layer takes up what enters it along its normal
//! without a reflection (R. Holland and J. W. Williams, IEEE Trans. Nucl. Sci. 30, 4583, 1983).

use std::collections::BTreeMap;

use super::{Equation, Model, Observable, Param, Reduction, Source, Symmetry, Term, TermKind};
use crate::catalogue::{Centering, Function, Rank};
use crate::diag::Span;
use crate::expr::Op;

/// Layers with one far state.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The faces of the mesh that they lie beside.
    pub faces: Vec<LayerFace>,
    /// The far values of components: those of other components are left alone.
    pub far: BTreeMap<String, Far>,
}

/// A layer beside a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerFace {
    /// The axis of the face: 0 is x.
    pub axis: usize,
    /// Is it the upper face of the axis?
    pub upper: bool,
    /// The coordinate at which the layer begins, inside of the mesh.
    pub begin: f64,
    /// The length from there to the face.
    pub width: f64,
    /// The rate at the face, in units of 1/time.
    pub strength: f64,
}

/// A far value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Far {
    /// The same everywhere and always.
    Number(f64),
    /// A source, to be given by the run under [this name](far_name).
    Given,
}

/// The most layers with far states of their own: one for each face.
const LETTERS: &str = "abcdef";

/// The name of what belongs to a layer, by its number.
fn name(layer: usize, of: &str) -> String {
    let letter = LETTERS.chars().nth(layer).unwrap_or('z');
    match of {
        "" => format!("absorbing_{letter}"),
        _ => format!("absorbing_{letter}_{of}"),
    }
}

/// The name of the far value of a component in a layer, by its number.
pub fn far_name(layer: usize, component: &str) -> String {
    name(layer, component)
}

impl Model {
    /// The model with absorbing layers, and for each conserved component an observable `absorbed_..`: the mean over the mesh of
    /// the rate at which they take it away.
    ///
    /// # Errors
    /// If a name is taken, a conserved field on faces has a far value, or the terms do not fit the model.
    pub fn with_layers(&self, layers: &[Layer]) -> Result<Model, String> {
        let mut made = self.clone();
        let mut absorbed: BTreeMap<String, Term> = BTreeMap::new();
        self.check_transport(layers)?;
        for (number, layer) in layers.iter().enumerate() {
            let mut adding = Adding { model: &mut made, number, layer };
            let rate = adding.rate();
            adding.relax(&rate, &mut absorbed);
        }
        for (component, value) in absorbed {
            let name = format!("absorbed_{component}");
            let (reduction, span) = (Reduction::Mean, Span::default());
            made.observables.push(Observable { name, reduction, value, span });
        }
        made.check().map_err(|problem| problem.to_string())?;
        Ok(made)
    }

    /// Checks that layers leave conserved fields on faces alone: their divergence is to stay.
    fn check_transport(&self, layers: &[Layer]) -> Result<(), String> {
        let is_of = |component: &String, field: &str| {
            component.strip_prefix(field).is_some_and(|axes| axes.starts_with('_'))
        };
        for (at, field) in self.fields.iter().enumerate() {
            let transported = field.centering != Centering::Cell && self.flux_of(at).is_some();
            let far = |layer: &Layer| layer.far.keys().any(|name| is_of(name, &field.name));
            if transported && layers.iter().any(far) {
                let name = &field.name;
                return Err(format!(
                    "`{name}` is conserved on faces, and a layer would change its divergence: leave it out of `far`"
                ));
            }
        }
        Ok(())
    }
}

/// A layer that is being added to a model.
struct Adding<'a> {
    model: &'a mut Model,
    number: usize,
    layer: &'a Layer,
}

fn scalar(kind: TermKind) -> Term {
    Term::scalar(kind, Span::default())
}

fn boxed(kind: TermKind) -> Box<Term> {
    Box::new(scalar(kind))
}

impl Adding<'_> {
    fn param(&mut self, of: &str, value: f64) -> TermKind {
        self.model.params.push(Param {
            name: name(self.number, of),
            default: Some(value),
            bounds: Vec::new(),
            unit: None,
            span: Span::default(),
        });
        TermKind::Param(self.model.params.len() - 1)
    }

    fn source(&mut self, of: &str, value: Option<Term>) -> TermKind {
        self.model.sources.push(Source {
            name: name(self.number, of),
            rank: Rank::Scalar,
            unit: None,
            value,
            span: Span::default(),
        });
        TermKind::Source(self.model.sources.len() - 1)
    }

    /// Declares the rate of the layer as a source: the sum over faces of `strength*max(0, depth)^3`.
    fn rate(&mut self) -> Term {
        let mut sum: Option<Term> = None;
        for face in &self.layer.faces {
            let side = if face.upper { "hi" } else { "lo" };
            let own = |word: &str| format!("{}_{side}_{word}", ["x", "y", "z"][face.axis]);
            let begin = self.param(&own("begin"), face.begin);
            let width = self.param(&own("width"), face.width);
            let strength = self.param(&own("strength"), face.strength);
            let (from, to) = match face.upper {
                true => (TermKind::Coordinate(face.axis), begin),
                false => (begin, TermKind::Coordinate(face.axis)),
            };
            let inwards = TermKind::Sub(boxed(from), boxed(to));
            let depth = scalar(TermKind::Div(boxed(inwards), boxed(width)));
            let zero = Term::integer(0, Span::default());
            let depth = TermKind::Call(Function::Scalar(Op::Max), vec![zero, depth]);
            let cube = TermKind::Pow(boxed(depth), 3);
            let part = scalar(TermKind::Mul(boxed(strength), boxed(cube)));
            sum = Some(match sum {
                Some(sum) => scalar(TermKind::Add(Box::new(sum), Box::new(part))),
                None => part,
            });
        }
        scalar(self.source("", sum))
    }

    /// Subtracts from each equation the rate times the difference from the far state, and adds up the same of conserved
    /// components.
    fn relax(&mut self, rate: &Term, absorbed: &mut BTreeMap<String, Term>) {
        for field in 0..self.model.fields.len() {
            let n = self.model.components;
            let (rank, symmetry, in_cells) = {
                let field = &self.model.fields[field];
                (field.rank, field.symmetry, field.centering == Centering::Cell)
            };
            let indices: Vec<Vec<usize>> = match rank {
                Rank::Scalar => vec![Vec::new()],
                Rank::Vector => (0..n).map(|i| vec![i]).collect(),
                Rank::Tensor => (0..n * n).map(|at| vec![at / n, at % n]).collect(),
            };
            let mut known: BTreeMap<String, Option<TermKind>> = BTreeMap::new();
            let mut entries = Vec::new();
            for axes in indices {
                let (own, negative) = stored(&axes, symmetry);
                let component = component_name(&self.model.fields[field].name, &own);
                let is_new = !known.contains_key(&component);
                let far = match known.get(&component) {
                    Some(far) => far.clone(),
                    None => self.far(&component),
                };
                known.insert(component.clone(), far.clone());
                let diagonal = symmetry == Symmetry::Antisymmetric && axes[0] == axes[1];
                let Some(far) = far.filter(|_| !diagonal) else {
                    entries.push(Term::integer(0, Span::default()));
                    continue;
                };
                let whole = Term::of(TermKind::Field(field), rank, Span::default());
                let value = match axes.is_empty() {
                    true => whole,
                    false => scalar(TermKind::Component(Box::new(whole), axes.clone())),
                };
                let place = (field, axes.as_slice());
                let far = Box::new(self.at_place(place, scalar(far)));
                let difference = match negative {
                    true => TermKind::Add(Box::new(value), far),
                    false => TermKind::Sub(Box::new(value), far),
                };
                let moved = self.at_place(place, rate.clone());
                let lost = scalar(TermKind::Mul(Box::new(moved), boxed(difference.clone())));
                if is_new && self.model.flux_of(field).is_some() {
                    let sum = match absorbed.remove(&component) {
                        Some(sum) => scalar(TermKind::Add(Box::new(sum), Box::new(lost.clone()))),
                        None => lost.clone(),
                    };
                    absorbed.insert(component, sum);
                }
                entries.push(if in_cells { scalar(difference) } else { lost });
            }
            if known.values().any(Option::is_some) {
                self.subtract(field, Some(rate).filter(|_| in_cells), entries);
            }
        }
    }

    /// A scalar in the centres of cells at the place of a component; numbers lie everywhere.
    fn at_place(&self, (field, axes): (usize, &[usize]), value: Term) -> Term {
        let centering = self.model.fields[field].centering;
        let moves = Function::find(&format!("to_{}s", centering.word()));
        let Some(moves) = moves.filter(|_| matches!(value.kind, TermKind::Source(_))) else {
            return value;
        };
        let n = self.model.components;
        let stack =
            |of: &Term, rank| Term::of(TermKind::Stack(vec![of.clone(); n]), rank, Span::default());
        let vector = stack(&value, Rank::Vector);
        let all = if axes.len() == 1 { vector } else { stack(&vector, Rank::Tensor) };
        let rank = all.rank;
        let moved = Term::of(TermKind::Call(moves, vec![all]), rank, Span::default());
        scalar(TermKind::Component(Box::new(moved), axes.to_vec()))
    }

    /// Subtracts a value with these entries, times the rate if it is given, from the equation of a field.
    fn subtract(&mut self, field: usize, rate: Option<&Term>, mut entries: Vec<Term>) {
        let (n, rank) = (self.model.components, self.model.fields[field].rank);
        let stack =
            |parts: Vec<Term>, rank| Term::of(TermKind::Stack(parts), rank, Span::default());
        let difference = match rank {
            Rank::Scalar => entries.swap_remove(0),
            Rank::Vector => stack(entries, Rank::Vector),
            Rank::Tensor => {
                let rows = entries.chunks(n).map(|row| stack(row.to_vec(), Rank::Vector));
                stack(rows.collect(), Rank::Tensor)
            }
        };
        let lost = match rate {
            Some(rate) => {
                let lost = TermKind::Mul(Box::new(rate.clone()), Box::new(difference));
                Term::of(lost, rank, Span::default())
            }
            None => difference,
        };
        let lost = Box::new(lost);
        let equations = self.model.equations.iter_mut();
        for Equation { rhs, .. } in equations.filter(|equation| equation.field == field) {
            let span = rhs.span;
            let own = std::mem::replace(rhs, Term::integer(0, span));
            *rhs = Term::of(TermKind::Sub(Box::new(own), lost.clone()), rank, span);
        }
    }

    /// Declares the far value of a component, if it has one.
    fn far(&mut self, component: &str) -> Option<TermKind> {
        match self.layer.far.get(component)? {
            Far::Number(value) => Some(self.param(component, *value)),
            Far::Given => Some(self.source(component, None)),
        }
    }
}

/// The axes of the entry that holds one, and whether with the other sign.
fn stored(axes: &[usize], symmetry: Symmetry) -> (Vec<usize>, bool) {
    match (symmetry, axes) {
        (Symmetry::Symmetric, [i, j]) if i > j => (vec![*j, *i], false),
        (Symmetry::Antisymmetric, [i, j]) if i > j => (vec![*j, *i], true),
        _ => (axes.to_vec(), false),
    }
}

fn component_name(field: &str, axes: &[usize]) -> String {
    let axes: String = axes.iter().map(|axis| ["x", "y", "z"][*axis]).collect();
    if axes.is_empty() { field.to_string() } else { format!("{field}_{axes}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discretize::discretize;
    use crate::model::parse::parse_str;
    use crate::model::text;

    /// Fields of all ranks and symmetries, in layers with numbers and with sources.
    #[test]
    fn a_model_with_layers_reads_back() {
        let model = parse_str(
            "system All in 2d {
                conserved q: scalar; field u: vector; field s: symmetric; field w: antisymmetric;
                source v: vector = [1, y];
                flux q -> q*v;
                ddt(u) = div(s) + div(w); ddt(s) = sym(grad(u)); ddt(w) = 0*w;
            }
            scheme s for All { space: central<order = 2>; reconstruct: plm; riemann: hll; time: ssprk2; }",
        )
        .unwrap_or_else(|e| panic!("{e:?}"));
        let face = |axis, upper| LayerFace { axis, upper, begin: 0.25, width: 0.2, strength: 3.0 };
        let far = |names: &[&str], far| names.iter().map(|name| (name.to_string(), far)).collect();
        let layers = [
            Layer {
                faces: vec![face(0, false), face(1, true)],
                far: far(&["q", "u_x", "s_xy", "s_yy", "w_xy"], Far::Number(0.5)),
            },
            Layer { faces: vec![face(0, true)], far: far(&["q", "w_xy"], Far::Given) },
        ];
        let made = model.with_layers(&layers).unwrap_or_else(|e| panic!("{e}"));
        let printed = text::print(&made);
        let again =
            parse_str(&printed).unwrap_or_else(|e| panic!("{}", e.render("printed", &printed)));
        assert_eq!(again.without_spans(), made.without_spans(), "{printed}");
        assert_eq!(made.observables.len(), 1);
        assert_eq!(made.equations[1].rhs.rank, Rank::Vector);
        discretize(&made).unwrap_or_else(|e| panic!("{e:?}"));
        let names: Vec<&str> = made.sources.iter().map(|source| source.name.as_str()).collect();
        let expected = ["v", "absorbing_a", "absorbing_b", "absorbing_b_q", "absorbing_b_w_xy"];
        assert_eq!(names, expected);
        let taken = Layer { far: far(&["q"], Far::Number(1.0)), ..layers[0].clone() };
        assert!(made.with_layers(&[taken]).is_err());
    }
}
