//! Windows that do their work as late, as early and in as strange an order as streams of a card may: a pass that did not wait
//! where it has to would read values of another step.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use rayon::ThreadPool;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{self, Target};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::Reduction;
use stencil_compiler::search::heuristic;

use super::window::{Finished, Layers, Own};
use super::{Slabs, Streamed, Window, overlap};
use crate::backend::cpu::{self, Checked, Choice};
use crate::backend::{Device, Reducer};
use crate::field::{Array, Domain, Shape};
use crate::mesh::{Boundaries, Mesh, Patches, Setting};
use crate::step::{Failure, Moment, Rules};
use crate::{Axis, Boundary, Error, Instructions, MemoryUse, Ranks, SystemDef};

/// Work of a window that was not done yet. Places of the host are addresses.
#[derive(Debug)]
enum Work {
    Upload {
        buffer: usize,
        from: (usize, usize),
        to: Range<usize>,
    },
    Steps(Vec<Moment>, (usize, Range<usize>)),
    Download {
        buffer: usize,
        from: Range<usize>,
        to: (usize, usize),
    },
    /// The end of copies from the host.
    Mark,
    /// Waits for so many marks of a window.
    Await(usize, usize),
}

/// All windows: a machine each, its work, and the marks that it has passed.
#[derive(Debug)]
struct World {
    machines: Vec<cpu::Machine<f64>>,
    work: Vec<VecDeque<Work>>,
    marks: Vec<usize>,
    random: u64,
}

impl World {
    fn random(&mut self, below: usize) -> usize {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) as usize % below
    }

    /// Does the next work of a window; returns `false` if there is none, or if it has to wait.
    fn advance(&mut self, window: usize) -> bool {
        if let Some(Work::Await(other, marks)) = self.work[window].front()
            && self.marks[*other] < *marks
        {
            return false;
        }
        let machine = &mut self.machines[window];
        match self.work[window].pop_front() {
            None => return false,
            Some(Work::Await(..)) => {}
            Some(Work::Mark) => self.marks[window] += 1,
            Some(Work::Steps(moments, looked)) => {
                let done = machine.begin_steps(&moments, looked);
                done.unwrap_or_else(|failure| panic!("{failure:?}"));
            }
            Some(Work::Upload { buffer, from: (address, length), to }) => {
                // SAFETY: the arrays of the host outlive the windows, and this is the only thread.
                let from = unsafe { std::slice::from_raw_parts(address as *const f64, length) };
                let copied = machine.on_host(&mut |fields| {
                    let array = fields.array_mut(buffer);
                    array.ends = 0;
                    array.values_mut()[to.clone()].copy_from_slice(from);
                });
                copied.unwrap_or_else(|error| panic!("{error}"));
            }
            Some(Work::Download { buffer, from, to: (address, length) }) => {
                // SAFETY: as above.
                let to = unsafe { std::slice::from_raw_parts_mut(address as *mut f64, length) };
                to.copy_from_slice(&machine.fields().array_ref(buffer).values()[from]);
            }
        }
        true
    }

    /// Does some work of some windows, as a card may at any time.
    fn stir(&mut self) {
        for _ in 0..self.random(6) {
            let window = self.random(self.work.len());
            self.advance(window);
        }
    }

    /// Works until a window has passed so many marks, or has no work.
    fn until(&mut self, window: usize, is_over: impl Fn(&Self) -> bool) {
        while !is_over(self) {
            let other = self.random(self.work.len());
            if !self.advance(window) {
                self.advance(other);
            }
        }
    }
}

/// A window that leaves its work to the world.
#[derive(Debug)]
struct Late {
    number: usize,
    world: Arc<Mutex<World>>,
    marks: usize,
}

impl Late {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    fn push(&self, work: Work) {
        let mut world = self.world();
        world.work[self.number].push_back(work);
        world.stir();
    }
}

impl Window<f64> for Late {
    fn shape(&self) -> Shape {
        Window::shape(&self.world().machines[self.number])
    }

    fn memory_use(&self) -> MemoryUse {
        MemoryUse::default()
    }

    fn bound(&mut self, most: f64) {
        Window::bound(&mut self.world().machines[self.number], most);
    }

    fn upload(&mut self, buffer: usize, from: Layers<&Array<f64>>, to: Own) -> Result<(), Error> {
        let values = &from.array.values()[to.values(&from.shape, from.first)];
        let from = (values.as_ptr() as usize, values.len());
        let to = to.values(&self.shape(), to.first);
        self.push(Work::Upload { buffer, from, to });
        Ok(())
    }

    fn begin_steps(
        &mut self,
        moments: &[Moment],
        looked: (usize, Range<usize>),
    ) -> Result<(), Failure> {
        self.marks += 1;
        self.push(Work::Mark);
        self.push(Work::Steps(moments.to_vec(), looked));
        Ok(())
    }

    fn prepare_reducer(&mut self, _: &Algorithm, _: &[(usize, Reduction)]) -> Result<usize, Error> {
        Ok(0)
    }

    fn begin_rows(&mut self, _: (&Reducer, &[f64]), _: (usize, Range<usize>)) -> Result<(), Error> {
        Ok(())
    }

    fn download(
        &mut self,
        buffer: usize,
        from: Own,
        to: Layers<&mut Array<f64>>,
    ) -> Result<(), Error> {
        let values = &mut to.array.values_mut()[from.values(&to.shape, to.first)];
        let to = (values.as_mut_ptr() as usize, values.len());
        let from = from.values(&self.shape(), from.first);
        self.push(Work::Download { buffer, from, to });
        Ok(())
    }

    fn wait_for(&mut self, other: &Self) -> Result<(), Error> {
        self.push(Work::Await(other.number, other.marks));
        Ok(())
    }

    fn wait_for_copies(&self) -> Result<(), Error> {
        let (number, marks) = (self.number, self.marks);
        self.world().until(number, |world| world.marks[number] >= marks);
        Ok(())
    }

    fn wait(&self) -> Result<(), Error> {
        let number = self.number;
        self.world().until(number, |world| world.work[number].is_empty());
        Ok(())
    }

    fn finish(&mut self) -> Result<Finished, Error> {
        self.wait()?;
        Ok(Finished::default())
    }
}

/// Compares passes with windows of these layers with a machine that has the whole mesh.
fn check(walls: bool, most: usize, at_once: usize, pool: &Arc<ThreadPool>) -> Result<usize, Error> {
    let text = "pub system Flow in 2d { field q: scalar; field u: vector;
        ddt(q) = -dot(u, grad(q)) - div(u); ddt(u) = lap(u)/9 - dot(u, grad(u)) - q*grad(q); }
        scheme s for Flow { space: central<order = 2>; time: rk3_williamson; }";
    let system = SystemDef::from_text("flow.pde", text)?;
    let (cells, wall) = ([5, 60, 1], Boundary::wall());
    let setting = Setting { of: None, faces: Axis::Y.into(), boundary: wall };
    let settings = if walls { vec![setting] } else { Vec::new() };
    let mesh = Mesh { cells, extent: [1.0; 3], origin: [0.0; 3], centered: walls };
    let algorithm = system.algorithm();
    let plan = compile::plan(algorithm, &heuristic::recomputing(algorithm), &Target::processor(8))?;
    let rules = Rules::new(algorithm, &[], mesh.spacing(), (Precision::F64, Vec::new()));
    let domain = Domain {
        mesh,
        patches: Patches::one(cells),
        boundaries: Boundaries::new(&system, &[], &settings, cells)?,
        halo: [0; 3],
        passes: false,
        copies: false,
        keep_last: false,
        look_every: 1,
        ranks: Ranks::alone(),
        carrier: None,
    };
    let instructions = Checked::new(Instructions::best())?;
    let machine = |domain: Domain| {
        let of = (domain, rules.clone());
        cpu::Machine::<f64>::new((algorithm, &plan), of, Choice::Rows, instructions, pool.clone())
    };
    let deep = overlap(&plan, 1, at_once).expect("fields carry all values");
    let Some(slabs) = Slabs::new((1, 60, !walls), (deep, at_once), most) else { return Ok(0) };
    let set = |device: &mut dyn Device<f64>| {
        device.fields().buffers.changed().into_iter().try_for_each(|buffer| {
            let value = |cell: [isize; 3]| (cell[0] + 7 * cell[1] + 5 * buffer as isize) as f64;
            device.set(buffer, &|cell| (0.3 * value(cell)).sin())
        })
    };
    let moments = |pass: usize| -> Vec<Moment> {
        let steps = (0..at_once).map(|step| pass * at_once + step);
        steps.map(|step| Moment { step: step as u64 + 1, t: step as f64, dt: 1e-4 }).collect()
    };
    for seed in 0..6 {
        let (machines, work, marks) = (Vec::new(), Vec::new(), Vec::new());
        let world = Arc::new(Mutex::new(World { machines, work, marks, random: seed }));
        let window = |domain: Domain| {
            let mut all = world.lock().unwrap();
            all.machines.push(machine(domain)?);
            all.work.push(VecDeque::new());
            all.marks.push(0);
            Ok(Late { number: all.machines.len() - 1, world: world.clone(), marks: 0 })
        };
        let of = (slabs.clone(), rules.clone());
        let mut streamed = Streamed::new(&plan, domain.clone(), of, pool.clone(), window)?;
        set(&mut streamed)?;
        let mut other = machine(domain.clone())?;
        set(&mut other)?;
        for pass in 0..7 {
            let moments = moments(pass);
            streamed.steps(&moments).unwrap_or_else(|failure| panic!("{failure:?}"));
            other.steps(&moments).unwrap_or_else(|failure| panic!("{failure:?}"));
        }
        for buffer in streamed.fields().buffers.changed() {
            let about = format!("walls: {walls}, {most} layers, {at_once} steps, seed {seed}");
            assert_eq!(streamed.interior(buffer)?, other.interior(buffer)?, "{about}");
        }
    }
    Ok(slabs.all.len())
}

#[test]
fn passes_wait_where_they_have_to() -> Result<(), Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = Arc::new(pool.map_err(|e| Error::Bug(e.to_string()))?);
    let mut counts = Vec::new();
    for walls in [false, true] {
        for (most, at_once) in [(50, 1), (30, 1), (16, 1), (11, 1), (40, 2), (22, 2), (60, 1)] {
            counts.push(check(walls, most, at_once, &pool)?);
        }
    }
    counts.sort_unstable();
    counts.dedup();
    assert!(
        counts.contains(&2) && counts.contains(&3) && counts.iter().any(|n| *n > 5),
        "{counts:?}"
    );
    Ok(())
}
