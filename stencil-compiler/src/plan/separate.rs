//! Plans whose accumulators all have arrays of their own.

use super::{BufferRole, Plan};
use crate::algorithm::Algorithm;

impl Plan {
    /// Returns the same plan of an algorithm with an array for each accumulator: launches store previous values of fields there,
    /// too. Single substeps then have the arrays of fused ones that keep other values between them.
    #[must_use]
    pub fn with_own_accumulators(mut self, algorithm: &Algorithm) -> Plan {
        for at in 0..self.buffers.len() {
            let buffer = &mut self.buffers[at];
            let name = buffer.name.clone();
            let home = buffer.within.take_if(|_| buffer.role == BufferRole::Accumulator);
            let Some((home, state)) = home.zip(algorithm.find_state(&name)) else {
                continue;
            };
            for launch in &mut self.launches {
                let mut updates = algorithm.substeps[launch.substep].updates.iter();
                let kept = updates.find(|(of, _)| *of == state);
                if let Some((_, id)) = kept.filter(|_| launch.outputs.iter().any(|o| o.0 == home)) {
                    let kept = algorithm.function(*id).name.clone();
                    launch.outputs.push((name.clone(), kept));
                }
            }
        }
        self
    }
}
