//! Plans for several devices: ghost cells from other devices come by exchanges, beside launches that read none.

use super::{Phase, Plan, Region, Step, max3};
use crate::schedule::Overlap;

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
    /// those of the others. With [`Overlap::Rim`], blocks of the next launch that read no ghost cells run while the values
    /// are on their way, and all other blocks after they have come; a launch that writes to the memory of a buffer on its
    /// way runs after that as a whole. So does each launch with any other overlap.
    ///
    /// # Errors
    /// If the plan is one of several devices already.
    pub fn among_devices(&self) -> Result<Plan, String> {
        if self.is_among_devices() {
            return Err("the plan exchanges ghost cells already".into());
        }
        let mut plan = self.clone();
        plan.steps.clear();
        let mut posted: Vec<Step> = Vec::new();
        for step in &self.steps {
            match step {
                Step::Fill { depth, .. } if depth.is_local() => plan.steps.push(step.clone()),
                Step::Fill { buffers, depth } => {
                    plan.steps.push(step.clone());
                    let exchange =
                        |phase| Step::Exchange { phase, buffers: buffers.clone(), depth: *depth };
                    plan.steps.push(exchange(Phase::Post));
                    posted.push(exchange(Phase::Wait));
                }
                Step::Launch { launch, .. }
                    if plan.overlap() == Overlap::Rim
                        && !posted.is_empty()
                        && !self.overwrites(*launch, &posted) =>
                {
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

    /// Returns the way in which devices that share the patches get ghost cells from each other.
    pub fn overlap(&self) -> Overlap {
        self.overlap.unwrap_or(Overlap::Rim)
    }

    /// Do devices exchange values by it?
    pub(super) fn is_among_devices(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Exchange { .. }))
    }

    /// Does a launch write to the memory of a buffer that one of these exchanges fills?
    fn overwrites(&self, launch: usize, exchanges: &[Step]) -> bool {
        let memory = |name: &String| {
            let at = self.buffers.iter().position(|buffer| buffer.name == *name);
            at.map(|at| self.memory_of(at))
        };
        let outputs = self.launches.get(launch).into_iter().flat_map(|launch| &launch.outputs);
        let written: Vec<Option<usize>> = outputs.map(|(name, _)| memory(name)).collect();
        exchanges.iter().any(|step| match step {
            Step::Exchange { buffers, .. } => {
                buffers.iter().any(|name| written.contains(&memory(name)))
            }
            _ => false,
        })
    }

    /// Returns how near to the ends of its region, along x, y and z, a launch reads ghost cells that other devices send.
    /// `cut` has the axes along which a patch of a device has a neighbour on another one.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse::parse_str;
    /// use stencil_compiler::plan::plan;
    /// use stencil_compiler::schedule::text::parse;
    ///
    /// let model = parse_str("system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 6>; time: euler; }")?;
    /// let plan = plan(&discretize(&model)?, &parse("schedule kernel direct")?, [false; 3])?;
    /// assert_eq!(plan.rim(0, [false, true, true]), [0, 3, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rim(&self, launch: usize, cut: [bool; 3]) -> [usize; 3] {
        let launch = &self.launches[launch];
        let sent = |name: &String| self.fills().any(|(buffers, _)| buffers.contains(name));
        let read = launch.inputs.iter().filter(|(name, _)| sent(name));
        let depths = read.map(|(_, read)| launch.depth(*read));
        let rim = depths.fold([0; 3], max3);
        std::array::from_fn(|axis| if cut[axis] { rim[axis] as usize } else { 0 })
    }

    /// Returns the [rim](Self::rim) for blocks, which cover as many cells of each patch as of the largest. Along `uneven`
    /// axes some patches have a cell less: their ghost cells begin a cell earlier, and the rim is a cell wider.
    pub fn rim_of_blocks(&self, launch: usize, cut: [bool; 3], uneven: [bool; 3]) -> [usize; 3] {
        let rim = self.rim(launch, cut);
        std::array::from_fn(|axis| rim[axis] + usize::from(uneven[axis] && rim[axis] > 0))
    }
}

/// Returns how many of the blocks along an axis compute a cell of the rim, at the lower and at the upper end. `cells` are
/// those of the region along the axis, and a tile of 0 is all of them.
pub(crate) fn blocks_of_rim(cells: usize, tile: usize, rim: usize) -> [usize; 2] {
    let tile = if tile == 0 { cells.max(1) } else { tile };
    let (all, rim) = (cells.div_ceil(tile), rim.min(cells));
    if rim == 0 {
        return [0; 2];
    }
    let low = rim.div_ceil(tile).min(all);
    [low, (all - (cells - rim) / tile).min(all - low)]
}
