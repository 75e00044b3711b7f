//! Plans whose accumulators have arrays of their own.

use std::collections::BTreeSet;

use super::make::kept_names;
use super::{BufferRole, Plan, Step};
use crate::algorithm::{Algorithm, StateId};

impl Plan {
    /// Returns the same plan of an algorithm with an array for each accumulator: previous values of fields change places with what
    /// was kept before. Single substeps then have the arrays of fused ones that keep other values between them.
    #[must_use]
    pub fn with_own_accumulators(self, algorithm: &Algorithm) -> Plan {
        let all = self.buffers.iter().filter_map(|buffer| algorithm.find_state(&buffer.name));
        let all = all.collect();
        self.separated(algorithm, &all)
    }

    /// Returns the same plan of an algorithm with arrays for accumulators that hold fields as they were before the step, so that
    /// these are there when it ends.
    #[must_use]
    pub fn with_fields_before(self, algorithm: &Algorithm) -> Plan {
        let later: BTreeSet<StateId> =
            algorithm.substeps.iter().skip(1).flat_map(|s| &s.updates).map(|u| u.0).collect();
        let first = (!algorithm.substeps.is_empty()).then(|| algorithm.kept(0));
        let first = first.into_iter().flatten().map(|(accumulator, _)| accumulator);
        self.separated(algorithm, &first.filter(|state| !later.contains(state)).collect())
    }

    fn separated(mut self, algorithm: &Algorithm, which: &BTreeSet<StateId>) -> Plan {
        let mut own = BTreeSet::new();
        for at in 1..self.buffers.len() {
            let halo = self.buffers[at - 1].halo;
            let buffer = &mut self.buffers[at];
            let is_accumulator = buffer.role == BufferRole::Accumulator;
            let state = algorithm.find_state(&buffer.name).filter(|state| which.contains(state));
            if let Some(state) = state
                && is_accumulator
                && buffer.within.take().is_some()
            {
                // It changes places with the new values before it.
                (buffer.role, buffer.halo) = (BufferRole::Kept, halo);
                own.insert(state);
            }
        }
        let swaps = self.steps.iter_mut().filter_map(|step| match step {
            Step::Swap { kept, .. } => Some(kept),
            _ => None,
        });
        for (substep, kept) in swaps.enumerate() {
            let mut taken = algorithm.kept(substep);
            taken.retain(|accumulator, _| own.contains(accumulator));
            kept.extend(kept_names(algorithm, taken));
        }
        self
    }
}
