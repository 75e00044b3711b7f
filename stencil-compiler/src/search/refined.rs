//! The last choices of a search, on the best schedules: they change little, and alike for most schedules, so that other
//! schedules with them are not tried.

use std::collections::BTreeSet;

use crate::expr::real::Precision;
use crate::schedule::strategies::{self, Param, Tried};
use crate::schedule::{Coefficients, Schedule};

impl Schedule {
    /// The last variants of a good schedule that a search tries: all values of the parameters that are [tried
    /// last](Tried::Last), alike in all kernels, and literals if instructions have room for them. Some may be illegal.
    ///
    /// ```
    /// use stencil_compiler::expr::real::Precision;
    /// use stencil_compiler::schedule::text::{parse, print};
    ///
    /// let direct = parse("schedule kernel direct")?;
    /// let refined: Vec<String> = direct.refined(2, Precision::F32).iter().map(print).collect();
    /// assert_eq!(refined, ["schedule\ncoefficients literal\nkernel direct\n"]);
    /// assert!(direct.refined(2, Precision::F64).is_empty());
    ///
    /// let march = parse("schedule kernel march")?;
    /// let refined = march.refined(3, Precision::F64);
    /// assert!(refined.contains(&parse("schedule kernel march refill=1 trim=1")?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refined(&self, dimension: usize, precision: Precision) -> Vec<Self> {
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
        if precision == Precision::F32 {
            all.insert(self.with_coefficients(Coefficients::Literal));
        }
        all.remove(self);
        all.into_iter().collect()
    }

    /// The parameters of its kernels that a search tries last, each once.
    fn tried_last(&self) -> Vec<&'static Param> {
        let mut last: Vec<&'static Param> = Vec::new();
        for strategy in self
            .kernels
            .iter()
            .flat_map(|k| strategies::find(&k.strategy))
        {
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
        let two = schedule("kernel direct kernel march trim=1");
        let refined = two.refined(3, Precision::F64);
        let others = ["trim=0 refill=0", "trim=0 refill=1", "trim=1 refill=1"];
        let others = others.map(|params| schedule(&format!("kernel direct kernel march {params}")));
        assert_eq!(refined.len(), 3);
        assert!(others.iter().all(|other| refined.contains(other)));
    }
}
