//! A launch of the plan to a kernel: the parts that all blocking strategies share.

use std::collections::BTreeMap;

use super::{
    Buffer, BufferId, CellVar, Index, IntVar, Kernel, Launch as Shape, Mode, Multiprocessor, Reg,
    Stmt, blocking,
};
use crate::algorithm::{Access, Algorithm, FnId, Offset, UniformId};
use crate::plan::{Launch, Place, Plan};
use crate::schedule::strategies::{self, BLOCKS, Param};
use crate::schedule::{LaunchKind, Placement, Refusal};

/// The input of a blocking strategy.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The discrete problem.
    pub algorithm: &'a Algorithm,
    /// The plan that the launch belongs to.
    pub plan: &'a Plan,
    /// The launch to lower.
    pub launch: &'a Launch,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// The multiprocessor that runs its blocks.
    pub multiprocessor: &'a Multiprocessor,
}

/// Lowers one launch of a plan by its blocking strategy.
///
/// # Errors
/// If there is no such launch or strategy, or the strategy cannot serve the launch; the message says why.
pub fn lower(
    algorithm: &Algorithm,
    plan: &Plan,
    launch: usize,
    (value_bytes, multiprocessor): (usize, &Multiprocessor),
) -> Result<Kernel, Refusal> {
    let Some(launch) = plan.launches.get(launch) else {
        return Err(format!("no launch {launch} in the plan").into());
    };
    let strategy = strategies::find(&launch.blocking.strategy)?;
    strategy.check_params(&launch.blocking)?;
    strategy.check_layout(plan.layout)?;
    let context = Context { algorithm, plan, launch, value_bytes, multiprocessor };
    let kernel = blocking::lower(strategy, &context)?;
    check_boxes(&kernel, plan)?;
    let (blocks, shared) = (kernel.launch.blocks_per_unit as usize, kernel.shared_bytes());
    let Multiprocessor { shared_bytes: all, reserved_bytes: reserved, .. } = multiprocessor;
    if blocks * (shared + reserved) > *all && blocks > 1 {
        return Err(Refusal::params(
            &[BLOCKS.name],
            format!(
                "`{}={blocks}` with {shared} bytes of shared memory each: a multiprocessor has {all}, of which it keeps {reserved} for a block",
                BLOCKS.name
            ),
        ));
    }
    Ok(kernel)
}

/// A box is told of its first array, how many there are, and how far they are apart.
fn check_boxes(kernel: &Kernel, plan: &Plan) -> Result<(), Refusal> {
    for buffers in kernel.boxes().keys() {
        let buffers = buffers.iter().map(|at| &kernel.buffers[at.0 as usize]);
        let names: Vec<&str> = buffers.map(|buffer| buffer.name.as_str()).collect();
        let wrong = |why| format!("a box of arrays that are not one series: {why}");
        plan.check_apart(&names).map_err(wrong)?;
    }
    Ok(())
}

impl<'a> Context<'a> {
    /// Outputs of the launch: the buffer's name and the grid function.
    pub(super) fn outputs(&self) -> Result<Vec<(String, FnId)>, Refusal> {
        let find = |(buffer, name): &(String, String)| Ok((buffer.clone(), self.find(name)?));
        self.launch.outputs.iter().map(find).collect()
    }

    /// The grid function of this name.
    pub(super) fn find(&self, name: &str) -> Result<FnId, Refusal> {
        self.algorithm.find(name).ok_or_else(|| format!("no grid function `{name}`").into())
    }

    /// A parameter of the blocking.
    pub(super) fn param(&self, name: &str) -> u32 {
        let blocking = &self.launch.blocking;
        strategies::find(&blocking.strategy).map_or(0, |strategy| strategy.param(blocking, name))
    }

    /// A parameter of the blocking that is 0 or 1.
    pub(super) fn switch(&self, param: &Param) -> Result<bool, Refusal> {
        let name = param.name;
        match self.param(name) {
            value @ (0 | 1) => Ok(value == 1),
            value => {
                let message = format!("`{name}={value}`: there are 0 and 1");
                Err(Refusal::params(&[name], message))
            }
        }
    }

    /// Returns the index at which a kernel reads a cell along an axis: around the ends, if the launch wraps that axis.
    pub(super) fn wrapped(&self, at: Index, axis: usize) -> Index {
        match self.launch.wrapped[axis] {
            true => Index::Wrap(Box::new(at), axis),
            false => at,
        }
    }

    /// Grid functions that live in registers across iterations.
    pub(super) fn placed(&self) -> Result<BTreeMap<FnId, Placement>, Refusal> {
        let placed = self.launch.placements.iter().map(|(name, p)| Ok((self.find(name)?, *p)));
        placed.collect()
    }

    /// For strategies that keep nothing from one iteration to the next.
    pub(super) fn refuse_placements(&self, strategy: &str) -> Result<(), Refusal> {
        match self.launch.placements.first() {
            Some((name, p)) => Err(Refusal::placement(
                name,
                format!(
                    "`{name}` is placed {} but `{strategy}` does not march; use `inline` or `global`",
                    crate::schedule::text::placement_words(*p)
                ),
            )),
            None => Ok(()),
        }
    }
}

/// A kernel in the making: names are made unique, buffers and uniforms become parameters.
pub(super) struct Draft<'a> {
    pub(super) context: Context<'a>,
    pub(super) kernel: Kernel,
    names: BTreeMap<String, u32>,
    uniforms: BTreeMap<UniformId, u32>,
    /// The grid function that new registers belong to.
    origin: Option<FnId>,
}

impl<'a> Draft<'a> {
    /// Starts with the buffers of the launch as parameters.
    pub(super) fn new(context: Context<'a>, launch: Shape) -> Self {
        let kernel = Kernel {
            name: context.launch.name.clone(),
            notes: context
                .launch
                .outputs
                .iter()
                .map(|(buffer, f)| format!("{buffer} = {f}"))
                .collect(),
            dimension: context.algorithm.dimension,
            value_bytes: context.value_bytes,
            launch,
            buffers: Vec::new(),
            uniforms: Vec::new(),
            shared: Vec::new(),
            barriers: Vec::new(),
            registers: Vec::new(),
            origins: BTreeMap::new(),
            queues: Vec::new(),
            ints: Vec::new(),
            cells: Vec::new(),
            body: Vec::new(),
        };
        let mut draft = Draft {
            context,
            kernel,
            names: BTreeMap::new(),
            uniforms: BTreeMap::new(),
            origin: None,
        };
        for uniform in &context.algorithm.uniforms {
            draft.names.insert(uniform.name.clone(), 1);
        }
        let places = context.plan.places();
        for (name, _) in &context.launch.inputs {
            let name = context.plan.array_of(name);
            let written = context.launch.outputs.iter().any(|(output, _)| output == name);
            let mode = if written { Mode::ReadWrite } else { Mode::Read };
            draft.buffer(name, mode, &places);
        }
        for (name, _) in &context.launch.outputs {
            if draft.find_buffer(name).is_none() {
                draft.buffer(name, Mode::Write, &places);
            }
        }
        draft
    }

    fn buffer(&mut self, name: &str, mode: Mode, places: &[Place]) {
        let plan = self.context.plan;
        let at = plan.buffers.iter().position(|b| b.name == name);
        let place = at.and_then(|at| places.get(at).copied());
        let may_send = place.is_some_and(|place| place.may_send(self.context.launch));
        self.names.insert(name.to_string(), 1);
        self.kernel.buffers.push(Buffer {
            name: name.to_string(),
            mode,
            halo: at.map_or([0; 3], |at| plan.buffers[at].halo),
            beside: place.filter(|place| place.of > 1),
            surface: place.is_some_and(|place| place.surface),
            sent: mode != Mode::Read && may_send && plan.sent(name).is_some(),
            extreme: None,
        });
    }

    /// The parameter that a buffer of the plan is accessed through.
    pub(super) fn find_buffer(&self, name: &str) -> Option<BufferId> {
        let name = self.context.plan.array_of(name);
        self.kernel.buffers.iter().position(|b| b.name == name).map(|i| BufferId(i as u32))
    }

    /// A name that nothing else in the kernel has.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let mut free = name.to_string();
        while self.names.contains_key(&free) {
            let count = self.names.entry(name.to_string()).or_insert(1);
            *count += 1;
            free = format!("{name}_{count}");
        }
        self.names.insert(free.clone(), 1);
        free
    }

    pub(super) fn reg(&mut self, name: &str) -> Reg {
        let algorithm = self.context.algorithm;
        let origin = self.origin.map(|of| algorithm.function(of).name.clone());
        self.reg_of(name, origin)
    }

    /// A register for the same as this one, elsewhere in the kernel.
    pub(super) fn another(&mut self, reg: Reg) -> Reg {
        let name = self.kernel.registers[reg.0 as usize].clone();
        let origin = self.kernel.origins.get(&reg).cloned();
        self.reg_of(&name, origin)
    }

    fn reg_of(&mut self, name: &str, origin: Option<String>) -> Reg {
        let name = self.unique(name);
        self.kernel.registers.push(name);
        let reg = Reg(self.kernel.registers.len() as u32 - 1);
        self.kernel.origins.extend(origin.map(|of| (reg, of)));
        reg
    }

    /// Sets the grid function that new registers belong to; returns the one before.
    pub(super) fn computes(&mut self, of: Option<FnId>) -> Option<FnId> {
        std::mem::replace(&mut self.origin, of)
    }

    pub(super) fn queue(&mut self, name: &str) -> Reg {
        let reg = self.reg(name);
        self.kernel.queues.push(reg);
        reg
    }

    pub(super) fn int(&mut self, name: &str) -> IntVar {
        let name = self.unique(name);
        self.kernel.ints.push(name);
        IntVar(self.kernel.ints.len() as u32 - 1)
    }

    /// An integer variable with this value.
    pub(super) fn define(&mut self, body: &mut Vec<Stmt>, name: &str, value: Index) -> IntVar {
        let var = self.int(name);
        body.push(Stmt::Int { var, value });
        var
    }

    pub(super) fn cell(&mut self, name: &str) -> CellVar {
        let name = self.unique(name);
        self.kernel.cells.push(name);
        CellVar(self.kernel.cells.len() as u32 - 1)
    }

    pub(super) fn uniform(&mut self, id: UniformId) -> u32 {
        if let Some(&known) = self.uniforms.get(&id) {
            return known;
        }
        let at = self.kernel.uniforms.len() as u32;
        let name = self.context.algorithm.uniform(id).name.clone();
        self.kernel.uniforms.push(name);
        self.uniforms.insert(id, at);
        at
    }
}

/// A name for a grid function at an offset: `u_x`, `u_x_p1_0_m2`.
pub(super) fn label(name: &str, at: Offset) -> String {
    if at == [0; 3] {
        return name.to_string();
    }
    let part = |v: i32| match v {
        0 => "0".to_string(),
        v if v > 0 => format!("p{v}"),
        v => format!("m{}", -v),
    };
    format!("{name}_{}_{}_{}", part(at[0]), part(at[1]), part(at[2]))
}

/// The sum of two offsets.
pub(super) fn add(a: Offset, b: Offset) -> Offset {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// The cover of a launch's region by threads.
///
/// # Errors
/// If more blocks are to fit on a multiprocessor than it can hold.
pub(super) fn shape(
    context: &Context<'_>,
    kind: LaunchKind,
    threads: [u32; 3],
    tile: [u32; 3],
) -> Result<Shape, Refusal> {
    let blocks_per_unit = match kind {
        LaunchKind::Rows => 1,
        LaunchKind::Blocks => context.param(BLOCKS.name),
    };
    let of_block: u32 = threads.iter().product();
    let most = context.multiprocessor.threads;
    if blocks_per_unit == 0 || blocks_per_unit.saturating_mul(of_block) > most {
        return Err(Refusal::params(
            &[BLOCKS.name],
            format!(
                "`{}={blocks_per_unit}` with {of_block} threads: a multiprocessor is to hold at least one block, and holds {most} threads",
                BLOCKS.name
            ),
        ));
    }
    Ok(Shape { kind, threads, tile, runs: false, extend: context.launch.extend, blocks_per_unit })
}

/// An access by id and offset, for messages.
pub(super) fn describe(algorithm: &Algorithm, access: Access) -> String {
    label(&algorithm.function(access.of).name, access.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::text::parse;
    use crate::plan::{Step, plan};
    use crate::schedule::{Blame, text};

    const PAIR: &str = "algorithm Pair 3d scheme \"pair\"
state a field
state b field
fn a = state a
fn b = state b
fn a_1 = b[1,0,0] - a[-1,0,0]
fn b_1 = a[1,0,0] - b[-1,0,0]
substep { a = a_1, b = b_1 }";

    #[test]
    fn a_box_of_arrays_that_are_no_series_is_found() {
        let pair = parse(PAIR).unwrap();
        let schedule = text::parse("schedule kernel march loader=1").unwrap();
        let good = plan(&pair, &schedule, [false; 3]).unwrap();
        let kernel = lower(&pair, &good, 0, (4, &Multiprocessor::NEWEST)).unwrap();
        let most = kernel.boxes().into_keys().map(|of| of.len()).max();
        assert_eq!(most, Some(2));
        let check = |change: &dyn Fn(&mut Plan)| {
            let mut other = good.clone();
            change(&mut other);
            check_boxes(&kernel, &other)
        };
        assert_eq!(check(&|_| ()), Ok(()));
        let refused = |change: &dyn Fn(&mut Plan)| {
            let refusal = check(change).unwrap_err();
            assert_eq!(refusal.blame, Blame::Nothing);
            let message = refusal.message;
            assert!(message.contains("are not one series"), "{message}");
        };
        // One of them changes places alone, in a walk that leaves it there, or that brings it back.
        for times in [1, 2] {
            refused(&|plan| {
                plan.steps.retain(|step| !matches!(step, Step::Swap { .. }));
                let fields = vec!["a".to_string()];
                let swap = Step::Swap { fields, kept: Vec::new() };
                plan.steps.extend(vec![swap; times]);
            });
        }
        // They lie the other way round, or one is missing.
        refused(&|plan| plan.buffers.reverse());
        refused(&|plan| plan.buffers.retain(|buffer| buffer.name != "b"));
    }
}
