//! A step of one device among several as tasks in their order of time: fills, exchanges and the parts of launches.

use super::computed_cells;
use super::time::share;
use super::{DeviceBox, Exchange, Fills, KernelCost, Links, Mover, Rates, Time};
use crate::plan::{Phase, Plan, Region, Step, blocks_of_rim};
use crate::schedule::Overlap;

/// Seconds by which a launch in two regions takes longer than as a whole, in addition to the time of a kernel that moves values
/// beside it: multiprocessors are idle until the rim may begin, and at its end. Pairs of rates of one H100 and of two differ by
/// 70 to 87 us a substep, by the copy engine as by a kernel, and by 43 us with smaller tiles. A short launch loses its own time at most.
const BESIDE: f64 = 75e-6;

/// Threads of a block of a kernel that moves values, and registers of each.
const MOVING: (u32, u32) = (256, 32);

/// A stream of a device. Tasks of one stream follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// Fills and launches.
    Launches,
    /// Exchanges, and rims that begin as soon as their values have come.
    Exchanges,
}

/// The task of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Fills ghost cells from cells of the same device.
    Fill,
    /// Gets values of other devices.
    Exchange,
    /// Runs the launch of this number on a region.
    Launch(usize, Region),
    /// Reduces values of all cells to numbers.
    Reduce,
}

/// A task, and the seconds of its begin and its end after the begin of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The stream.
    pub stream: Stream,
    /// The task.
    pub task: Task,
    /// The begin.
    pub begin: f64,
    /// The end.
    pub end: f64,
}

/// An exchange that a launch waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// The number of the launch.
    pub launch: usize,
    /// The buffers whose ghost cells come.
    pub buffers: Vec<String>,
    /// The depth along x, y and z.
    pub depth: [u32; 3],
    /// Values from devices of the same host, and of others.
    pub received: [Exchange; 2],
    /// Predicted seconds of the exchange by itself.
    pub seconds: f64,
    /// The blocks that run meanwhile.
    pub beside: Option<Beside>,
    /// Seconds by which the launch ends later than if all values were there.
    pub exposed: f64,
}

impl Wait {
    /// All values that come.
    pub fn all(&self) -> Exchange {
        let [mut all, far] = self.received;
        all.add(&far);
        all
    }
}

/// The blocks of a launch that run while values are on their way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beside {
    /// The number of the launch.
    pub launch: usize,
    /// Their share of all blocks.
    pub share: f64,
    /// Predicted seconds in which they are done.
    pub seconds: f64,
}

/// The machine and the box of a device.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The device.
    pub rates: &'a Rates,
    /// Its box.
    pub device: DeviceBox,
    /// Its links.
    pub links: Links,
}

/// The tasks of a step of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// All tasks, those of the launches first, each stream in the order of time.
    pub spans: Vec<Span>,
    /// The exchanges.
    pub waits: Vec<Wait>,
    /// Seconds of the step, or of several that are done at once.
    pub seconds: f64,
}

/// An interior that runs, with the exchanges beside it.
#[derive(Clone, Copy, Debug)]
struct Running {
    launch: usize,
    begin: f64,
    end: f64,
    /// The end of all blocks of the launch, if no value is waited for.
    all: f64,
}

impl Timeline {
    /// Predicts the tasks of a plan [among devices](Plan::among_devices), whose launches have these costs and times.
    pub fn new(plan: &Plan, launches: (&[KernelCost], &[Time]), place: &Place<'_>) -> Self {
        let mut building = Building {
            plan,
            launches,
            place,
            now: 0.0,
            exchanged: 0.0,
            running: None,
            waiting: Vec::new(),
            done: Timeline::default(),
        };
        plan.steps.iter().for_each(|step| building.step(step));
        let seconds = building.now;
        building.done.spans.sort_by_key(|span| span.stream);
        Timeline { seconds, ..building.done }
    }

    /// Seconds by which the step takes longer than if all values were there.
    pub fn exposed(&self) -> f64 {
        self.waits.iter().map(|wait| wait.exposed).sum()
    }
}

/// A timeline that is being made.
struct Building<'a> {
    plan: &'a Plan,
    launches: (&'a [KernelCost], &'a [Time]),
    place: &'a Place<'a>,
    /// The end of the last task of the stream of launches.
    now: f64,
    /// The end of the last exchange.
    exchanged: f64,
    running: Option<Running>,
    waiting: Vec<Wait>,
    done: Timeline,
}

impl Building<'_> {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Reduce { .. } => self.launched(Task::Reduce, 0.0),
            Step::Fill { buffers, depth } => {
                let seconds = self.fill(buffers.len(), depth.towards);
                self.launched(Task::Fill, seconds);
            }
            Step::Exchange { phase: Phase::Post, buffers, depth } => {
                self.post(buffers, depth.towards);
            }
            Step::Exchange { phase: Phase::Wait, .. } => {}
            Step::Launch { launch, region: Region::Interior } => self.interior(*launch),
            Step::Launch { launch, region: Region::Rim } => self.rim(*launch),
            Step::Launch { launch, region } => self.whole(*launch, *region),
            Step::Accept | Step::Uniforms | Step::Swap { .. } => {}
        }
    }

    /// Adds a task of the stream of launches.
    fn launched(&mut self, task: Task, seconds: f64) {
        let begin = self.now;
        self.now += seconds;
        self.span(Stream::Launches, task, [begin, self.now]);
    }

    fn span(&mut self, stream: Stream, task: Task, [begin, end]: [f64; 2]) {
        if end > begin {
            self.done.spans.push(Span { stream, task, begin, end });
        }
    }

    /// Returns the seconds in which ghost cells are filled that are no values of other devices.
    fn fill(&self, buffers: usize, depth: [u32; 3]) -> f64 {
        let Place { rates, device, .. } = self.place;
        let value_bytes = self.value_bytes();
        let mut fills = Fills::new(buffers, depth, device.cells, value_bytes);
        fills.bytes -= 2.0 * Exchange::new(buffers, depth, device, value_bytes).bytes;
        if fills.bytes > 0.0 { fills.seconds(rates) } else { 0.0 }
    }

    fn value_bytes(&self) -> usize {
        self.launches.0.first().map_or(0, |cost| cost.value_bytes)
    }

    fn post(&mut self, buffers: &[String], depth: [u32; 3]) {
        let Place { device, links, .. } = self.place;
        let received = Exchange::by_host(buffers.len(), depth, device, self.value_bytes());
        let seconds = Links { mover: self.mover(), ..*links }.seconds(&received);
        let begin = self.now.max(self.exchanged);
        self.exchanged = begin + seconds;
        self.span(Stream::Exchanges, Task::Exchange, [begin, self.exchanged]);
        let (launch, buffers) = (0, buffers.to_vec());
        self.waiting.push(Wait {
            launch,
            buffers,
            depth,
            received,
            seconds,
            beside: None,
            exposed: 0.0,
        });
    }

    /// Returns the mover of values: launches that store them are slower by as much as a kernel that moves them, and the copy
    /// engine moves layers across the last axis.
    fn mover(&self) -> Mover {
        let Place { device, links, .. } = self.place;
        match self.plan.overlap() {
            Overlap::Store => Mover::Kernel,
            Overlap::Rim | Overlap::None if device.is_layer() => Mover::Engine,
            Overlap::Rim | Overlap::None => links.mover,
        }
    }

    /// Begins an interior. If its blocks leave no room, a kernel that moves values takes their places, so the launch takes
    /// longer by its time; and if they are on all multiprocessors, that kernel waits for the first of them to end.
    fn interior(&mut self, launch: usize) {
        let (Place { rates, links, .. }, time) = (self.place, &self.launches.1[launch]);
        let ([inner, all], total) = (self.blocks(launch), self.seconds(launch));
        let part = |blocks| share(blocks, all, rates.card.units, time.resident);
        let mut seconds = part(inner) * total;
        let mover = self.mover();
        let by_kernel: f64 = match mover {
            Mover::Kernel if !self.has_room(launch) => {
                self.waiting.iter().map(|w| w.received[0].seconds(&links.near, mover)).sum()
            }
            Mover::Kernel | Mover::Engine => 0.0,
        };
        let at_once = (rates.card.units * time.resident) as usize;
        if by_kernel > 0.0 && inner >= at_once {
            self.begin_later(part(at_once) * total);
        }
        let waits = self.waiting.iter().any(|wait| wait.all().messages > 0);
        let more = if waits && inner > 0 { by_kernel + BESIDE.min(total) } else { 0.0 };
        let beside = Beside { launch, share: inner as f64 / all.max(1) as f64, seconds };
        for wait in &mut self.waiting {
            wait.beside = (inner > 0).then_some(beside);
        }
        seconds += more;
        let (begin, all) = (self.now, self.now + total + more);
        self.now += seconds;
        self.running = Some(Running { launch, begin, end: self.now, all });
        self.span(Stream::Launches, Task::Launch(launch, Region::Interior), [begin, self.now]);
    }

    /// Does a block of a kernel that moves values fit on a multiprocessor beside those of a launch?
    fn has_room(&self, launch: usize) -> bool {
        let (cost, resident) = (&self.launches.0[launch], self.launches.1[launch].resident);
        let taken = resident * cost.threads;
        let unit = &self.place.rates.multiprocessor;
        taken * cost.likely_registers().0 + MOVING.0 * MOVING.1 <= unit.registers
            && taken + MOVING.0 <= unit.threads
    }

    /// Lets the exchanges that are waited for begin later.
    fn begin_later(&mut self, seconds: f64) {
        self.exchanged += seconds;
        let last = self.done.spans.iter_mut().rev();
        let exchanges = last.filter(|span| span.task == Task::Exchange).take(self.waiting.len());
        for span in exchanges {
            (span.begin, span.end) = (span.begin + seconds, span.end + seconds);
        }
    }

    /// Ends the exchanges that a launch waits for, which ends so many seconds later than without them.
    fn wait(&mut self, launch: usize, exposed: f64) {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let joined = waiting.reduce(|mut first, other| {
            first.buffers.extend(other.buffers);
            first.seconds += other.seconds;
            for (own, other) in first.received.iter_mut().zip(&other.received) {
                own.add(other);
            }
            for (own, other) in first.depth.iter_mut().zip(other.depth) {
                *own = other.max(*own);
            }
            first
        });
        let exposed = exposed.max(0.0);
        self.done.waits.extend(joined.map(|wait| Wait { launch, exposed, ..wait }));
    }

    /// Runs a launch as a whole, once the values have come.
    fn whole(&mut self, launch: usize, region: Region) {
        if !self.waiting.is_empty() {
            let begin = self.now.max(self.exchanged);
            self.wait(launch, begin - self.now);
            self.now = begin;
        }
        let seconds = self.seconds(launch) + self.place.rates.launch;
        self.launched(Task::Launch(launch, region), seconds);
    }

    /// Runs the rim once the values have come. Blocks of the interior and of the rim share the places of the device, so both
    /// are not done before all blocks could be.
    fn rim(&mut self, launch: usize) {
        let Some(running) = self.running.take().filter(|running| running.launch == launch) else {
            return;
        };
        let (Place { rates, .. }, time) = (self.place, &self.launches.1[launch]);
        let ([inner, all], total) = (self.blocks(launch), self.seconds(launch));
        let begin = self.exchanged.max(running.begin);
        let seconds = share(all - inner, all, rates.card.units, time.resident) * total;
        let end = (begin + seconds).max(running.end).max(running.all);
        self.wait(launch, end - running.begin - total);
        self.span(Stream::Exchanges, Task::Launch(launch, Region::Rim), [begin, end]);
        self.now = end + rates.launch;
        self.exchanged = self.now;
    }

    /// Returns the seconds of a launch by itself. Cells of other devices that it computes take as long as its own.
    fn seconds(&self, launch: usize) -> f64 {
        let [all, own] = computed_cells(&self.plan.launches[launch], self.place.device.cells);
        self.launches.1[launch].total * all / own
    }

    /// Returns the blocks of the interior of a launch, and all of them.
    fn blocks(&self, launch: usize) -> [usize; 2] {
        let DeviceBox { cells, cut, uneven, .. } = self.place.device;
        let (cost, rim) = (&self.launches.0[launch], self.plan.rim_of_blocks(launch, cut, uneven));
        let extend = self.plan.launches[launch].extend;
        let computed: [usize; 3] = std::array::from_fn(|a| cells[a] + 2 * extend[a] as usize);
        let all = cost.blocks_on(computed);
        if cost.runs {
            return [0, all];
        }
        let inner = (0..3).map(|axis| {
            let ends = blocks_of_rim(computed[axis], cost.tile[axis] as usize, rim[axis]);
            cost.blocks_along(axis, computed) - ends[0] - ends[1]
        });
        [inner.product(), all]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Target, compile};
    use crate::cost::{MODELS, kernels, usual_link};
    use crate::discretize::discretize;
    use crate::model::parse::parse_str;
    use crate::schedule::text::parse;

    /// Returns the step of one of so many devices along z, by this mover, and the time of its launches by themselves.
    fn step(mesh: [usize; 3], devices: usize, mover: Mover) -> (Timeline, f64) {
        let text = "pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
             scheme s for Heat { space: central<order = 6>; time: rk3_williamson; }";
        let algorithm = discretize(&parse_str(text).unwrap()).unwrap();
        let rates = &MODELS[0].rates;
        let device = DeviceBox::of(mesh, [1, 1, devices]);
        let cut = device.cut;
        let target = Target::new(4).around(cut.map(|is_cut| !is_cut)).over(device.cells, 1);
        let target = target.cut(cut).on(rates.device());
        let schedule =
            parse("schedule overlap rim kernel march tile_x=64 tile_y=12 chunk=0").unwrap();
        let compiled = compile(&algorithm, &schedule, &target).unwrap();
        let costs = kernels(&compiled).unwrap();
        let times =
            costs.iter().map(|c| c.time(device.cells, rates, c.likely_registers()).unwrap());
        let times: Vec<Time> = times.collect();
        let alone = times.iter().map(|time| time.total + rates.launch).sum();
        let links = Links { mover, ..Links::in_host(usual_link("H200").link) };
        let plan = compiled.plan.among_devices().unwrap();
        (Timeline::new(&plan, (&costs, &times), &Place { rates, device, links }), alone)
    }

    #[test]
    fn one_device_waits_for_nothing() {
        let (of, alone) = step([256; 3], 1, Mover::Kernel);
        assert!(of.waits.is_empty() && (of.seconds / alone - 1.0).abs() < 1e-12);
        assert_eq!(of.spans.len(), 3);
    }

    #[test]
    fn a_step_is_longer_by_what_is_exposed() {
        for (mesh, mover) in
            [([256; 3], Mover::Kernel), ([64; 3], Mover::Kernel), ([64; 3], Mover::Engine)]
        {
            let (of, alone) = step(mesh, 2, mover);
            assert_eq!(of.waits.len(), 3);
            let more = of.seconds - alone;
            assert!(
                (more - of.exposed()).abs() < 1e-12,
                "{mesh:?} {mover:?}: {more} {}",
                of.exposed()
            );
            for wait in &of.waits {
                assert_eq!(wait.all().messages, 2);
                assert!(wait.exposed >= 0.0 && wait.seconds > 0.0, "{wait:?}");
            }
        }
    }

    #[test]
    fn tasks_of_a_stream_follow_each_other() {
        let (of, _) = step([256; 3], 4, Mover::Kernel);
        for stream in [Stream::Launches, Stream::Exchanges] {
            let own: Vec<&Span> = of.spans.iter().filter(|span| span.stream == stream).collect();
            assert!(own.len() >= 3);
            for pair in own.windows(2) {
                assert!(pair[0].end <= pair[1].begin + 1e-15, "{pair:?}");
            }
        }
        let last = of.spans.iter().map(|span| span.end).fold(0.0, f64::max);
        assert!(last <= of.seconds);
    }
}
