//! A numerical check that primitives and conserved fields follow from each other, there and back, at some points.

use super::Law;
use super::sample::Point;
use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::atoms::Atom;
use crate::discretize::expand::{Expander, Result, States, Tensor, name_of};
use crate::discretize::poly::Poly;
use crate::model::{AtFace, Comparison, Primitives, Term, TermKind, Variables, to_f64};

/// Points that are tried.
const POINTS: u64 = 8;

/// Points that are drawn to find those within declared ranges, farther and farther from one.
const DRAWN: u64 = 64 * POINTS;

/// The rounding error of a value, in units of itself or of one.
const ROUNDING: f64 = 1e-6;

impl Law<'_> {
    /// Checks that primitives are recovered from the conserved fields that follow from them.
    ///
    /// # Errors
    /// If a primitive has another value, at its place.
    pub(super) fn check_round_trip(&self, what: &str, primitives: &Primitives) -> Result<()> {
        let mut expander = self.expander_for_forms()?;
        let mut states = self.free(&mut expander, &primitives.variables, 0);
        let given = primitives.variables.iter().filter_map(|variable| {
            let TermKind::Let(at) = variable.kind else {
                return None;
            };
            Some((variable, states.lets.get(&at)?.clone()))
        });
        let given: Vec<(&Term, Tensor)> = given.collect();
        self.follow(&mut expander, primitives, &mut states, "there")?;
        let ranges = self.ranged(&mut expander, &states)?;
        states.lets.clear();
        for (variable, entries) in given {
            let term = |expander: &mut Expander<'_>| expander.term(variable);
            let back = expander.in_states(&states, "back", term)?;
            for (there, back) in entries.iter().zip(&back) {
                self.check_equal(&expander, &ranges, what, variable, [there, back])?;
            }
        }
        Ok(())
    }

    /// The values with a declared range, in these states.
    fn ranged(&self, expander: &mut Expander<'_>, states: &States) -> Result<Vec<Ranged>> {
        let mut all = Vec::new();
        for range in &self.model.ranges {
            let of = expander.in_states(states, "there", |expander| expander.term(&range.of))?;
            let bound = (range.comparison, to_f64(&range.bound));
            all.extend(of.into_iter().map(|of| Ranged { of, bound }));
        }
        Ok(all)
    }

    /// Checks that the scheme makes states of primitives, which values shared at faces require, and that recomputation
    /// changes nothing if both sides are alike.
    ///
    /// # Errors
    /// If one of both does not hold.
    pub(super) fn check_at_face(&self, at_face: &AtFace) -> Result<()> {
        let scheme = &self.model.scheme;
        if scheme.variables != Variables::Primitive || self.reconstruction.row.propagates {
            let name = &self.model.fields[at_face.fields[0].0].name;
            let message = format!(
                "`{name}` has one value at faces, with which primitives are recomputed; write `reconstruct: plm in primitive;`"
            );
            return Err(DiscretizeError::new(Code::NeedsPrimitives, at_face.span, message));
        }
        let Some(primitives) = &self.model.primitives else {
            return Ok(());
        };
        let mut expander = self.expander_for_forms()?;
        let mut states = self.free(&mut expander, &primitives.variables, 0);
        let others = self.others(&mut expander, at_face, &states);
        self.follow(&mut expander, primitives, &mut states, "there")?;
        let ranges = self.ranged(&mut expander, &states)?;
        let mut shared = states.clone();
        for (component, other) in others {
            shared.components[component] = other;
        }
        for (variable, value) in &at_face.recomputed {
            let term = |expander: &mut Expander<'_>, states, label, term| {
                expander.in_states(states, label, |expander| expander.term(term))
            };
            let own = term(&mut expander, &states, "anew", variable)?;
            let recomputed = term(&mut expander, &states, "anew", value)?;
            for (before, after) in own.iter().zip(&recomputed) {
                self.check_equal(&expander, &ranges, "face", variable, [before, after])?;
            }
            let changed = term(&mut expander, &shared, "shared", value)?;
            let same = own.iter().zip(&changed);
            if same.into_iter().all(|(own, changed)| alike(&expander, &ranges, own, changed)) {
                return Err(self.unchanged(at_face, variable, value));
            }
        }
        Ok(())
    }

    /// Free atoms for the shared values, beside those of the primitives.
    fn others(
        &self,
        expander: &mut Expander<'_>,
        at_face: &AtFace,
        free: &States,
    ) -> Vec<(usize, Poly)> {
        let own = self.components.fields.len() + self.components.sources.len();
        let mut last = own + free.lets.values().map(Vec::len).sum::<usize>();
        let fields = at_face.fields.iter();
        let shared = fields.flat_map(|(field, _)| self.components_of(*field));
        let mut other = |(_, component)| {
            last += 1;
            let atom = expander.atoms.intern(Atom::State(last));
            (component, Poly::atom(atom))
        };
        shared.map(&mut other).collect()
    }

    /// The error of a recomputed value that does not change.
    fn unchanged(&self, at_face: &AtFace, variable: &Term, value: &Term) -> DiscretizeError {
        let name = name_of(self.model, variable);
        let shared = at_face.fields.iter().map(|(field, _)| TermKind::Field(*field));
        let shared: Vec<TermKind> = shared.collect();
        let primitives = self.model.primitives.iter().flat_map(|p| &p.variables);
        let primitives: Vec<&TermKind> = primitives.map(|variable| &variable.kind).collect();
        let all = at_face.fields.iter();
        let all: Vec<String> =
            all.map(|(field, _)| format!("`{}`", self.model.fields[*field].name)).collect();
        let help = match self.follower(value, &shared, &primitives) {
            None => "make it of them and of other primitives".to_string(),
            Some(at) => format!("make `{}` a primitive", self.model.lets[at].name),
        };
        let message = format!("`{name}` does not change with {}; {help}", all.join(", "));
        DiscretizeError::new(Code::BadFace, variable.span, message)
    }

    /// A `let` that a term names, which is not primitive and changes with the shared values.
    fn follower(&self, term: &Term, shared: &[TermKind], given: &[&TermKind]) -> Option<usize> {
        if let TermKind::Let(at) = term.kind {
            let changes = !given.contains(&&term.kind) && self.reads(term, shared);
            return changes.then_some(at);
        }
        let mut parts = term.parts().into_iter();
        parts.find_map(|part| self.follower(part, shared, given))
    }

    fn reads(&self, term: &Term, fields: &[TermKind]) -> bool {
        let named = match term.kind {
            TermKind::Let(at) => self.model.lets.get(at),
            _ => None,
        };
        fields.contains(&term.kind)
            || named.is_some_and(|named| self.reads(&named.value, fields))
            || term.parts().iter().any(|part| self.reads(part, fields))
    }

    /// States with a free atom for each component and each entry of a primitive, the numbers of which begin at `first`.
    pub(super) fn free(
        &self,
        expander: &mut Expander<'_>,
        variables: &[Term],
        first: usize,
    ) -> States {
        let count = self.components.fields.len();
        let mut free = first + count + self.components.sources.len();
        let mut states = States {
            components: (first..first + count).map(|i| expander.atoms.state(i)).collect(),
            ..States::default()
        };
        for variable in variables {
            let TermKind::Let(at) = variable.kind else {
                continue;
            };
            let mut entry = |_| {
                free += 1;
                Poly::atom(expander.atoms.intern(Atom::State(free)))
            };
            let entries = (0..self.entries_of(variable)).map(&mut entry).collect();
            states.lets.insert(at, entries);
        }
        states
    }

    fn entries_of(&self, variable: &Term) -> usize {
        crate::discretize::components::suffixes(variable.rank, self.model.components).len()
    }

    /// Compares at points where both have values.
    fn check_equal(
        &self,
        expander: &Expander<'_>,
        ranges: &[Ranged],
        what: &str,
        variable: &Term,
        [there, back]: [&Poly; 2],
    ) -> Result<()> {
        let other = |point: &mut Point<'_, '_>| {
            let [before, after] = [there, back].map(|poly| point.value(poly));
            differ(before, after).then_some((before, after))
        };
        let Some((before, after)) = points(expander, ranges).iter_mut().find_map(other) else {
            return Ok(());
        };
        let name = name_of(self.model, variable);
        let message = format!(
            "`{name}` of what follows from the {what} is another: {after:.4} where `{name}` is {before:.4}; what is \
             conserved and the {what} have to follow from each other, for all values in declared ranges"
        );
        Err(DiscretizeError::new(Code::WrongWayBack, variable.span, message))
    }
}

/// A value with a declared range, and the bound that it keeps.
struct Ranged {
    of: Poly,
    bound: (Comparison, f64),
}

/// Points at which all values with a range are in it; fewer than [`POINTS`] if few of those drawn are.
fn points<'p, 'a>(expander: &'p Expander<'a>, ranges: &[Ranged]) -> Vec<Point<'p, 'a>> {
    let in_ranges = |point: &mut Point<'_, '_>| {
        ranges.iter().all(|Ranged { of, bound }| {
            let (comparison, bound) = bound;
            comparison.holds(&point.value(of), bound)
        })
    };
    let drawn = (0..DRAWN).filter_map(|number| {
        let mut point = Point::spread(expander, number, number / POINTS);
        in_ranges(&mut point).then_some(point)
    });
    drawn.take(POINTS as usize).collect()
}

/// Do two values differ by more than rounding? `false` if one is not finite.
fn differ(before: f64, after: f64) -> bool {
    let difference = (after - before).abs();
    difference.is_finite() && difference > ROUNDING * before.abs().max(1.0)
}

/// Are two values the same at all points where both are finite?
fn alike(expander: &Expander<'_>, ranges: &[Ranged], own: &Poly, changed: &Poly) -> bool {
    points(expander, ranges).iter_mut().all(|point| {
        let [before, after] = [own, changed].map(|poly| point.value(poly));
        !differ(before, after)
    })
}
