//! The last choices of a search, on the best schedules: they change little, and alike for most schedules, so that other
//! schedules with them are not tried.

use std::collections::BTreeSet;

use crate::schedule::Schedule;
use crate::schedule::strategies::{self, Param, Tried};

impl Schedule {
    /// The last variants of a good schedule that a search tries: all values of the parameters that are [tried
    /// last](Tried::Last), alike in all kernels, and literals if instructions have room for them. Some may be illegal.
    ///
    /// ```
    /// use stencil_compiler::schedule::text::parse;
    ///
    /// assert!(parse("schedule kernel direct")?.refined(2).is_empty());
    /// let refined = parse("schedule kernel march")?.refined(3);
    /// assert!(refined.contains(&parse("schedule kernel march prefetch_point=1 prologue=1")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refined(&self, dimension: usize) -> Vec<Self> {
        let mut all = BTreeSet::from([self.clone()]);
        let mut spelled = self.clone();
        for param in self.tried_last() {
            spelled.set(param, |own| own);
            let with = |schedule: &Schedule, value: u32| {
                let mut other = schedule.clone();
                other.set(param, |_| value);
                other
            };
            let values = param.values(dimension).iter();
            let each = values.flat_map(|value| all.iter().map(|schedule| with(schedule, *value)));
            all = each.collect();
        }
        all.remove(&spelled);
        all.remove(self);
        all.into_iter().collect()
    }

    /// The parameters of its kernels that a search tries last, each once.
    fn tried_last(&self) -> Vec<&'static Param> {
        let mut last: Vec<&'static Param> = Vec::new();
        for strategy in self.kernels.iter().flat_map(|k| strategies::find(&k.strategy)) {
            let params = strategy.params.iter();
            let params = params.filter(|param| param.tried == Tried::Last);
            let new = |param: &&Param| !last.iter().any(|known| known.name == param.name);
            let new: Vec<&'static Param> = params.filter(new).collect();
            last.extend(new);
        }
        last
    }

    /// Gives a parameter a value, made of the one it has, in all kernels that have it.
    fn set(&mut self, param: &Param, value: impl Fn(u32) -> u32) {
        for kernel in &mut self.kernels {
            let Ok(strategy) = strategies::find(&kernel.strategy) else {
                continue;
            };
            if strategy.params.iter().any(|p| p.name == param.name) {
                let own = strategy.param(kernel, param.name);
                kernel.params.insert(param.name.into(), value(own));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::text;

    fn schedule(source: &str) -> Schedule {
        text::parse(&format!("schedule {source}")).unwrap()
    }

    #[test]
    fn all_values_together_of_all_kernels() {
        let two = schedule("kernel direct kernel march prologue=1");
        let refined = two.refined(3);
        let others = [
            "prologue=0 prefetch_point=0",
            "prologue=0 prefetch_point=1",
            "prologue=1 prefetch_point=1",
        ];
        let others = others.map(|params| schedule(&format!("kernel direct kernel march {params}")));
        assert_eq!(refined.len(), 3);
        assert!(others.iter().all(|other| refined.contains(other)));
    }
}
