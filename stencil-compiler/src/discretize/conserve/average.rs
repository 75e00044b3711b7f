//! The state between both sides of a face at which a law is made linear.

use super::Law;
use super::algebra::Algebra;
use super::riemann::Side;
use super::states::Place;
use crate::discretize::components::suffixes;
use crate::discretize::expand::{Expander, GivenAt, Result, States, name_of};
use crate::discretize::poly::Poly;
use crate::model::TermKind;

/// A value on one side, and how much it weighs there.
#[derive(Clone)]
pub(super) struct Weighed {
    name: String,
    place: Place,
    value: Poly,
    weight: Option<Poly>,
}

impl Weighed {
    /// The same, with each value mapped.
    pub(super) fn map(&self, mut seen: impl FnMut(&Poly) -> Poly) -> Self {
        Weighed {
            value: seen(&self.value),
            weight: self.weight.as_ref().map(&mut seen),
            ..self.clone()
        }
    }
}

impl Law<'_> {
    /// The averaged variables in the states on one side: those that the system declares, or its components.
    pub(super) fn weighed(
        &self,
        expander: &mut Expander<'_>,
        states: &States,
        label: &str,
    ) -> Result<Vec<Weighed>> {
        let average = self.model.average.as_ref();
        let follows = |component| average.is_some_and(|a| self.follows(&a.of, component));
        let mut all = Vec::new();
        for (component, name) in self.components.fields.iter().enumerate() {
            if !follows(component) {
                all.push(Weighed {
                    name: name.clone(),
                    place: Place::Component(component),
                    value: states.components[component].clone(),
                    weight: None,
                });
            }
        }
        let Some(average) = average else {
            return Ok(all);
        };
        for (variable, weight) in average.of.variables.iter().zip(&average.weights) {
            let weight = match weight {
                None => None,
                Some(weight) => {
                    let term = |expander: &mut Expander<'_>| expander.term(weight);
                    let weight = expander.in_states(states, label, term)?[0].clone();
                    Some(expander.atoms.name(format!("weight_{label}"), weight))
                }
            };
            match variable.kind {
                TermKind::Let(at) => {
                    let term = |expander: &mut Expander<'_>| expander.term(variable);
                    let values = expander.in_states(states, label, term)?;
                    let base = name_of(self.model, variable);
                    let suffixes = suffixes(variable.rank, self.model.components);
                    all.extend(values.into_iter().zip(suffixes).map(|(value, suffix)| {
                        let name = format!("{base}{suffix}");
                        Weighed {
                            value: expander.atoms.name(format!("{name}_{label}"), value),
                            name,
                            place: Place::Let(at),
                            weight: weight.clone(),
                        }
                    }));
                }
                TermKind::Field(field) => {
                    let own = |place: &Place| {
                        let mut of = self.components_of(field);
                        of.any(|(_, component)| *place == Place::Component(component))
                    };
                    for weighed in all.iter_mut().filter(|weighed| own(&weighed.place)) {
                        weighed.weight = weight.clone();
                    }
                }
                _ => {}
            }
        }
        Ok(all)
    }

    /// The state between two sides, all of which has names.
    pub(super) fn between(
        &self,
        of: &mut Algebra<'_, '_>,
        [below, above]: [&Side; 2],
        axis: usize,
        label: &str,
    ) -> Result<States> {
        let mut states = States {
            components: vec![Poly::default(); self.components.fields.len()],
            given_at: GivenAt::upper_face(axis, 0),
            ..States::default()
        };
        for (low, high) in below.weighed.iter().zip(&above.weighed) {
            let mean = mean(of, low, high)?;
            let name = format!("{}_{label}", low.name);
            let mean = of.expander.atoms.always_name(&name, mean);
            match low.place {
                Place::Component(component) => states.components[component] = mean,
                Place::Let(at) => states.lets.entry(at).or_default().push(mean),
            }
        }
        if let Some(average) = &self.model.average {
            self.follow(of.expander, &average.of, &mut states, label)?;
            for (component, value) in states.components.iter_mut().enumerate() {
                let name = format!("{}_{label}", self.components.fields[component]);
                *value = of.expander.atoms.always_name(&name, value.clone());
            }
        }
        Ok(states)
    }
}

/// The mean of both, in a form whose mirror image has the same bits.
fn mean(of: &mut Algebra<'_, '_>, low: &Weighed, high: &Weighed) -> Result<Poly> {
    let (Some(first), Some(second)) = (&low.weight, &high.weight) else {
        let twice = of.plus(&low.value, &high.value)?;
        return of.halved(&twice);
    };
    let (a, b) = (of.times(first, &low.value)?, of.times(second, &high.value)?);
    let (a, b) = (of.named("weighed", a), of.named("weighed", b));
    let sum = of.plus(&a, &b)?;
    let weights = of.plus(first, second)?;
    let inverse = of.over(&of.number(1, 1), &weights);
    of.times(&sum, &inverse)
}
