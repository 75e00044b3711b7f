//! That primitives and what is conserved follow from each other: the way there and back, at some points.

use super::Law;
use super::sample::Point;
use crate::diag::Code;
use crate::discretize::DiscretizeError;
use crate::discretize::atoms::Atom;
use crate::discretize::expand::{Expander, Result, States, Tensor, name_of};
use crate::discretize::poly::Poly;
use crate::model::{Primitives, Term, TermKind};

/// Points that are tried.
const POINTS: u64 = 8;

/// What rounding may do to a value of order one.
const ROUNDING: f64 = 1e-6;

impl Law<'_> {
    /// Checks that primitives are what they were after what is conserved follows from them.
    ///
    /// # Errors
    /// Where a primitive has another value, at its place.
    pub(super) fn check_way_back(&self, what: &str, primitives: &Primitives) -> Result<()> {
        let mut expander = self.expander_for_forms()?;
        let mut free = self.components.fields.len() + self.components.sources.len();
        let fields = 0..self.components.fields.len();
        let mut states = States {
            components: fields.map(|i| expander.atoms.state(i)).collect(),
            ..States::default()
        };
        let mut given: Vec<(&Term, Tensor)> = Vec::new();
        for variable in &primitives.variables {
            let TermKind::Let(at) = variable.kind else {
                continue;
            };
            let mut entry = |_: &Poly| {
                free += 1;
                Poly::atom(expander.atoms.intern(Atom::State(free)))
            };
            let shape = vec![Poly::default(); self.entries_of(variable)];
            let entries: Tensor = shape.iter().map(&mut entry).collect();
            states.lets.insert(at, entries.clone());
            given.push((variable, entries));
        }
        self.follow(&mut expander, primitives, &mut states, "there")?;
        states.lets.clear();
        for (variable, entries) in given {
            let term = |expander: &mut Expander<'_>| expander.term(variable);
            let back = expander.in_states(&states, "back", term)?;
            for (there, back) in entries.iter().zip(&back) {
                self.check_equal(&expander, (what, variable), [there, back])?;
            }
        }
        Ok(())
    }

    fn entries_of(&self, variable: &Term) -> usize {
        crate::discretize::components::suffixes(variable.rank, self.model.dimension).len()
    }

    /// Compares at points where both have values.
    fn check_equal(
        &self,
        expander: &Expander<'_>,
        (what, variable): (&str, &Term),
        [there, back]: [&Poly; 2],
    ) -> Result<()> {
        for number in 0..POINTS {
            let mut point = Point::new(expander, number);
            let [before, after] = [there, back].map(|poly| point.value(poly));
            let difference = (after - before).abs();
            // What is not finite says nothing.
            if difference.is_finite() && difference > ROUNDING {
                let name = name_of(self.model, variable);
                let message = format!(
                    "`{name}` of what follows from the {what} is another: {after:.4} where `{name}` is \
                     {before:.4}; what is conserved and the {what} have to follow from each other"
                );
                return Err(DiscretizeError::new(
                    Code::WrongWayBack,
                    variable.span,
                    message,
                ));
            }
        }
        Ok(())
    }
}
