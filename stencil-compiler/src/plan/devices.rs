//! Plans for several devices: ghost cells from other devices come by exchanges, beside launches that read none.

use super::{Phase, Plan, Region, Step};

impl Plan {
    /// Returns the plan of a step whose length follows from quantities, which are reduced before it. With `accepts`, the
    /// quantities also decide whether the step before was short enough.
    ///
    /// # Errors
    /// If the plan already reduces quantities, or there are none.
    pub fn adaptive(&self, quantities: Vec<String>, accepts: bool) -> Result<Plan, String> {
        let mut plan = self.clone();
        plan.steps.splice(0..0, accepts.then_some(Step::Accept));
        plan.steps.insert(0, Step::Reduce { quantities });
        plan.check()?;
        Ok(plan)
    }

    /// Returns the plan of a device among several. Each fill takes values of the own device, and an exchange begins with
    /// those of the others. Blocks of the next launch that read no ghost cells run while the values are on their way; all
    /// other blocks run after they have come.
    ///
    /// # Errors
    /// If the plan is one of several devices already.
    pub fn among_devices(&self) -> Result<Plan, String> {
        if self.steps.iter().any(|step| matches!(step, Step::Exchange { .. })) {
            return Err("the plan exchanges ghost cells already".into());
        }
        let mut plan = self.clone();
        plan.steps.clear();
        let mut posted: Vec<Step> = Vec::new();
        for step in &self.steps {
            match step {
                Step::Fill { buffers, depth } => {
                    plan.steps.push(step.clone());
                    let exchange =
                        |phase| Step::Exchange { phase, buffers: buffers.clone(), depth: *depth };
                    plan.steps.push(exchange(Phase::Post));
                    posted.push(exchange(Phase::Wait));
                }
                Step::Launch { launch, .. } if !posted.is_empty() => {
                    let part = |region| Step::Launch { launch: *launch, region };
                    plan.steps.push(part(Region::Interior));
                    plan.steps.append(&mut posted);
                    plan.steps.push(part(Region::Rim));
                }
                _ => {
                    plan.steps.append(&mut posted);
                    plan.steps.push(step.clone());
                }
            }
        }
        plan.check()?;
        Ok(plan)
    }
}
