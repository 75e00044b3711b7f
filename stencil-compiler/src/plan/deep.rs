//! Plans for several devices whose ghost cells last for several substeps: between two exchanges each device also computes
//! the cells of its neighbours that its own will depend on.

use std::collections::{BTreeMap, BTreeSet};

use super::make::WHOLE_CELLS;
use super::{BufferRole, Depth, Plan, Step, max3};

/// Cells around a patch, along the axes that are cut, in which later launches need the values of each buffer.
type Needs = BTreeMap<String, [u32; 3]>;

impl Plan {
    /// Returns the plan with ghost cells that last for `every` substeps, or groups of fused ones. `cut` has the axes along
    /// which a patch of a device has a neighbour on another one. Of the fills, those of each `every`-th substep take values of other
    /// devices; launches compute what the other fills would have taken.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse::parse_str;
    /// use stencil_compiler::plan::plan;
    /// use stencil_compiler::schedule::text::parse;
    ///
    /// let model = parse_str("system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 6>; time: rk3_williamson; }")?;
    /// let plan = plan(&discretize(&model)?, &parse("schedule kernel direct")?, [false; 3])?;
    /// let deep = plan.deepened(3, [false, false, true])?;
    /// let redundant = [0, 1, 2].map(|launch| deep.launches[launch].redundant);
    /// assert_eq!(redundant, [[0, 0, 6], [0, 0, 3], [0; 3]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the substeps of the plan are no multiple of `every`.
    pub fn deepened(&self, every: usize, cut: [bool; 3]) -> Result<Plan, String> {
        let substeps: Vec<&[Step]> = self.substeps().collect();
        if every == 1 || !cut.contains(&true) {
            return Ok(self.clone());
        }
        let count = substeps.len();
        if every == 0 || !count.is_multiple_of(every) {
            let divisors = (1..=count).filter(|d| count.is_multiple_of(*d));
            let words: Vec<String> = divisors.map(|d| d.to_string()).collect();
            return Err(format!(
                "ghost cells cannot last for {every} of the {count} substeps of a step; give {}",
                words.join(" or ")
            ));
        }
        let mut deep = Deep { cut, needs: Needs::new(), plan: self.clone() };
        let mut steps: Vec<Step> = Vec::new();
        for (substep, of_substep) in substeps.into_iter().enumerate().rev() {
            let mut own = deep.substep(of_substep, substep.is_multiple_of(every));
            own.append(&mut steps);
            steps = own;
        }
        let mut plan = deep.plan;
        plan.steps = steps;
        plan.settle_halos();
        plan.check()?;
        Ok(plan)
    }
}

/// A walk through the steps of a plan, from the last one.
struct Deep {
    cut: [bool; 3],
    needs: Needs,
    plan: Plan,
}

impl Deep {
    /// Returns the steps of a substep. The one that `exchanges` takes all values of other devices that are needed.
    fn substep(&mut self, of_substep: &[Step], exchanges: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        for step in of_substep.iter().rev() {
            steps.push(match step {
                Step::Fill { buffers, depth } => self.fill(buffers, *depth, exchanges),
                Step::Launch { launch, .. } => {
                    self.launch(*launch);
                    step.clone()
                }
                Step::Swap { .. } => {
                    self.swap(step);
                    step.clone()
                }
                _ => step.clone(),
            });
        }
        steps.reverse();
        if exchanges {
            let is_first = |step: &Step| matches!(step, Step::Fill { .. } | Step::Launch { .. });
            let first = steps.iter().position(is_first).unwrap_or(steps.len());
            let others = self.others();
            steps.splice(first..first, others);
        }
        steps
    }

    /// Returns what is needed of a buffer.
    fn need(&self, buffer: &str) -> [u32; 3] {
        self.needs.get(buffer).copied().unwrap_or_default()
    }

    /// Needs cells of a buffer that a device may compute or get from others.
    fn add(&mut self, buffer: &str, need: [u32; 3]) {
        let role = self.plan.buffer(buffer).map(|buffer| buffer.role);
        if !matches!(role, None | Some(BufferRole::Given | BufferRole::Count)) {
            let known = self.needs.entry(buffer.into()).or_default();
            *known = max3(*known, need);
        }
    }

    fn along_cuts(&self, cut: [u32; 3], others: [u32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| if self.cut[axis] { cut[axis] } else { others[axis] })
    }

    /// Fills the ghost cells of fields with all that is needed until the next exchange, or goes around what was computed.
    fn fill(&mut self, buffers: &[String], depth: Depth, exchanges: bool) -> Step {
        let need = buffers.iter().map(|name| self.need(name)).fold([0; 3], max3);
        let role = |name: &String| self.plan.buffer(name).map(|buffer| buffer.role);
        let are_stored = buffers.iter().any(|name| role(name) == Some(BufferRole::Derived));
        let comes = exchanges && !are_stored;
        for name in buffers {
            match comes {
                true => drop(self.needs.remove(name)),
                false => self.add(name, need),
            }
        }
        let depth = Depth {
            towards: self.along_cuts(need, depth.towards),
            beyond: depth.beyond,
            computed: if comes { [0; 3] } else { need },
        };
        Step::Fill { buffers: buffers.to_vec(), depth }
    }

    /// Fills the cells around patches that are needed of values without a fill of their own, which are read in the cell
    /// that they are in.
    fn others(&mut self) -> Vec<Step> {
        let mut by_need: BTreeMap<[u32; 3], Vec<String>> = BTreeMap::new();
        for (name, need) in std::mem::take(&mut self.needs) {
            if need != [0; 3] {
                by_need.entry(need).or_default().push(name);
            }
        }
        let fill = |(need, buffers)| {
            let depth = Depth { towards: need, ..Depth::default() };
            Step::Fill { buffers, depth }
        };
        by_need.into_iter().map(fill).collect()
    }

    /// Computes the cells around patches that are needed of the results of a launch, and needs its inputs there.
    fn launch(&mut self, launch: usize) {
        let outputs: BTreeSet<String> =
            self.plan.launches[launch].outputs.iter().map(|(name, _)| name.clone()).collect();
        let need = outputs.iter().map(|name| self.need(name)).fold([0; 3], max3);
        self.needs.retain(|name, _| !outputs.contains(name));
        let cut = self.cut;
        let launch = &mut self.plan.launches[launch];
        let own = launch.extend;
        launch.extend = max3(own, need);
        launch.extend[0] = launch.extend[0].next_multiple_of(WHOLE_CELLS);
        launch.redundant = std::array::from_fn(|axis| launch.extend[axis] - own[axis]);
        let reads: Vec<(String, [u32; 3])> =
            launch.inputs.iter().map(|(name, read)| (name.clone(), launch.depth(*read))).collect();
        for (name, depth) in reads {
            self.add(&name, std::array::from_fn(|axis| if cut[axis] { depth[axis] } else { 0 }));
        }
    }

    /// Needs values in the arrays that they are in before a swap.
    fn swap(&mut self, swap: &Step) {
        let pairs = swap.exchanged();
        // Previous values are in the arrays that new ones come from.
        for (_, new) in &pairs {
            let shares = |name: &String| self.plan.array_of(name) == new && name != new;
            let previous: Vec<String> =
                self.needs.keys().filter(|name| shares(name)).cloned().collect();
            for name in previous {
                let need = self.needs.remove(&name).unwrap_or_default();
                self.add(new, need);
            }
        }
        for (a, b) in pairs.iter().rev() {
            let [of_a, of_b] = [a, b].map(|name| self.needs.remove(name).unwrap_or_default());
            self.add(a, of_b);
            self.add(b, of_a);
        }
    }
}
