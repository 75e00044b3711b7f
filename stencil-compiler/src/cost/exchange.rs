//! The exchanges of ghost cells between devices: their values, and their time over the links that join the devices.

use super::Link;
use crate::plan::{Launch, Layers, Plan};

/// The box of cells of one device among several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceBox {
    /// Its cells along x, y, z: those of the largest box.
    pub cells: [usize; 3],
    /// Axes along which other devices have the neighbours.
    pub cut: [bool; 3],
    /// Axes along which some boxes have a cell less.
    pub uneven: [bool; 3],
    /// The lower and the upper side along each axis: does a device of another host have the neighbour?
    pub far: [[bool; 2]; 3],
}

impl DeviceBox {
    /// The largest of the boxes that a mesh is cut into, so many along each axis. All devices are of one host.
    pub fn of(mesh: [usize; 3], boxes: [usize; 3]) -> Self {
        DeviceBox {
            cells: std::array::from_fn(|axis| mesh[axis].div_ceil(boxes[axis])),
            cut: boxes.map(|count| count > 1),
            uneven: std::array::from_fn(|axis| !mesh[axis].is_multiple_of(boxes[axis])),
            far: [[false; 2]; 3],
        }
    }

    /// The same box where each host has so many devices, which follow each other along x, then y, then z, around a periodic
    /// mesh: that of the device with the most neighbours in other hosts.
    ///
    /// ```
    /// use stencil_compiler::cost::DeviceBox;
    ///
    /// // Two hosts of four devices: each has one half of the mesh along z.
    /// let of = DeviceBox::of([64; 3], [2, 2, 2]).among_hosts([2, 2, 2], 4);
    /// assert_eq!(of.far, [[false; 2], [false; 2], [true; 2]]);
    /// ```
    #[must_use]
    pub fn among_hosts(self, boxes: [usize; 3], per_host: usize) -> Self {
        let host =
            |at: [usize; 3]| (at[0] + boxes[0] * (at[1] + boxes[1] * at[2])) / per_host.max(1);
        let far = |at: [usize; 3]| {
            [0, 1, 2].map(|axis: usize| {
                [boxes[axis] - 1, 1].map(|step| {
                    let mut other = at;
                    other[axis] = (at[axis] + step) % boxes[axis];
                    host(other) != host(at)
                })
            })
        };
        let count = |far: &[[bool; 2]; 3]| far.iter().flatten().filter(|is_far| **is_far).count();
        let [x, y, z] = boxes;
        let all = (0..x * y * z).map(|at| far([at % x, at / x % y, at / (x * y)]));
        DeviceBox { far: all.max_by_key(count).unwrap_or_default(), ..self }
    }

    /// Is it a layer of the mesh across its last axis, whose neighbours are devices of the same host?
    pub fn is_layer(&self) -> bool {
        self.layers().is_some()
    }

    /// Returns the boxes of all devices, one each, if they are layers of the mesh across its last axis, and all devices are of
    /// the same host.
    ///
    /// ```
    /// use stencil_compiler::cost::DeviceBox;
    /// use stencil_compiler::plan::Layers;
    ///
    /// let layers = |boxes| DeviceBox::of([8, 8, 11], boxes).layers();
    /// assert_eq!(layers([1, 1, 2]), Some(Layers { axis: 2, thinnest: 5 }));
    /// assert_eq!((layers([1, 2, 1]), layers([1, 2, 2])), (None, None));
    /// ```
    pub fn layers(&self) -> Option<Layers> {
        let axis = if self.cells[2] > 1 || self.cut[2] { 2 } else { 1 };
        let is_cut = std::array::from_fn(|other| other == axis);
        let thinnest = self.cells[axis] - usize::from(self.uneven[axis]);
        let is_layer = self.cut == is_cut && self.far == [[false; 2]; 3];
        is_layer.then_some(Layers { axis, thinnest })
    }

    /// Sides beyond which other devices of the same host have the neighbours.
    fn near(&self) -> [[bool; 2]; 3] {
        std::array::from_fn(|axis| self.far[axis].map(|is_far| self.cut[axis] && !is_far))
    }
}

/// Values that a device gets from others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exchange {
    /// Their bytes.
    pub bytes: f64,
    /// Boxes of ghost cells, each of all buffers: faces, edges and corners.
    pub messages: usize,
}

impl Exchange {
    /// The values of this many buffers to a depth beyond some sides of a box, the lower and the upper one along each axis.
    fn beyond(
        buffers: usize,
        depth: [u32; 3],
        (of, sides): (&DeviceBox, [[bool; 2]; 3]),
        value_bytes: usize,
    ) -> Self {
        let deep = |axis: usize| depth[axis] as usize;
        let open = |axis: usize| match deep(axis) {
            0 => 0,
            _ => sides[axis].iter().filter(|is_open| **is_open).count(),
        };
        // Ghost cells beside an axis that is not cut belong to the same faces.
        let own = |axis: usize| of.cells[axis] + if of.cut[axis] { 0 } else { 2 * deep(axis) };
        let all: usize = (0..3).map(|axis| own(axis) + open(axis) * deep(axis)).product();
        let ghosts = all - (0..3).map(own).product::<usize>();
        Exchange {
            bytes: (buffers * ghosts * value_bytes) as f64,
            messages: (0..3).map(|axis| 1 + open(axis)).product::<usize>() - 1,
        }
    }

    /// The exchange of this many buffers to a depth around a box.
    ///
    /// ```
    /// use stencil_compiler::cost::{DeviceBox, Exchange};
    ///
    /// // Faces of 8 x 8 cells at both ends of z, one cell deep.
    /// let exchange = Exchange::new(2, [1; 3], &DeviceBox::of([8, 8, 16], [1, 1, 2]), 4);
    /// assert_eq!((exchange.bytes, exchange.messages), (2.0 * 2.0 * 4.0 * 10.0 * 10.0, 2));
    /// ```
    pub fn new(buffers: usize, depth: [u32; 3], of: &DeviceBox, value_bytes: usize) -> Self {
        Exchange::beyond(buffers, depth, (of, of.cut.map(|cut| [cut; 2])), value_bytes)
    }

    /// Its parts from devices of the same host and from those of others. Edges and corners that lie beyond a side with
    /// neighbours in another host come from there.
    pub fn by_host(
        buffers: usize,
        depth: [u32; 3],
        of: &DeviceBox,
        value_bytes: usize,
    ) -> [Self; 2] {
        let all = Exchange::new(buffers, depth, of, value_bytes);
        let near = Exchange::beyond(buffers, depth, (of, of.near()), value_bytes);
        let (bytes, messages) = (all.bytes - near.bytes, all.messages - near.messages);
        [near, Exchange { bytes, messages }]
    }

    /// Adds values that are waited for at once.
    pub fn add(&mut self, other: &Exchange) {
        self.bytes += other.bytes;
        self.messages += other.messages;
    }

    /// Predicted seconds over a link.
    pub fn seconds(&self, link: &Link, mover: Mover) -> f64 {
        if self.messages == 0 {
            return 0.0;
        }
        let rate = match mover {
            Mover::Kernel => link.reads,
            Mover::Engine => link.copies,
        };
        link.latency + self.messages as f64 * link.message + self.bytes / rate
    }
}

/// The mover of the values of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mover {
    /// A kernel that reads the memory of other devices. It needs multiprocessors.
    #[default]
    Kernel,
    /// A copy engine, or an adapter of a network.
    Engine,
}

/// The links of a device to others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Links {
    /// To those of the same host.
    pub near: Link,
    /// To those of other hosts.
    pub far: Link,
    /// The mover of values in the same host.
    pub mover: Mover,
}

impl Links {
    /// Links of one host, by a kernel.
    pub fn in_host(near: Link) -> Self {
        Links { near, far: near, mover: Mover::default() }
    }

    /// Predicted seconds of an exchange, whose parts move at the same time.
    pub fn seconds(&self, [near, far]: &[Exchange; 2]) -> f64 {
        near.seconds(&self.near, self.mover).max(far.seconds(&self.far, Mover::Engine))
    }

    /// Predicted seconds in which all of so many devices, and so many in each host, know a number that is reduced: in rounds,
    /// in each of which pairs of devices exchange what they have, first in a host and then among hosts.
    pub fn reduction(&self, devices: usize, per_host: usize) -> f64 {
        let rounds = |count: usize| f64::from(count.max(1).next_power_of_two().ilog2());
        let (inner, hosts) = (devices.min(per_host.max(1)), devices.div_ceil(per_host.max(1)));
        rounds(inner) * self.near.latency + rounds(hosts) * (self.far.latency + self.far.message)
    }
}

/// Returns the cells that a launch computes on a patch of `cells`, and those of them that are not redundant: cells of other
/// devices, beside ghost cells that last for several substeps. All sides along a cut axis count as cut.
pub fn computed_cells(launch: &Launch, cells: [usize; 3]) -> [f64; 2] {
    let computed = launch.computed();
    [computed.towards, computed.beyond].map(|extend| {
        (0..3).map(|axis| cells[axis] as f64 + 2.0 * f64::from(extend[axis])).product()
    })
}

/// Returns the share of the cells that the launches of a plan compute on a patch of `cells` that is redundant.
pub fn redundant_share(plan: &Plan, cells: [usize; 3]) -> f64 {
    let launches = plan.steps.iter().filter_map(|step| plan.launches.get(step.launch()?));
    let [all, own] = launches.fold([0.0; 2], |[all, own], launch| {
        let [more, less] = computed_cells(launch, cells);
        [all + more, own + less]
    });
    if all == 0.0 { 0.0 } else { (all - own) / all }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::text::parse;
    use crate::plan::{Phase, Step};

    const LINK: Link = Link { reads: 1e9, copies: 2e9, latency: 1e-6, message: 1e-7 };

    fn of_cut(cut: [bool; 3]) -> DeviceBox {
        DeviceBox { cells: [10; 3], cut, uneven: [false; 3], far: [[false; 2]; 3] }
    }

    #[test]
    fn values_come_from_all_neighbours_that_a_cut_has() {
        let of = |depth, cut| Exchange::new(1, depth, &of_cut(cut), 8);
        let all = of([2; 3], [true; 3]);
        assert_eq!((all.bytes, all.messages), (8.0 * (14.0 * 14.0 * 14.0 - 1000.0), 26));
        // Ghost cells beside the uncut axis belong to the same faces.
        let two = of([2; 3], [true, true, false]);
        assert_eq!((two.bytes, two.messages), (8.0 * 14.0 * (14.0 * 14.0 - 100.0), 8));
        let flat = of([0, 2, 0], [true, true, true]);
        assert_eq!((flat.bytes, flat.messages), (8.0 * 400.0, 2));
        assert_eq!(of([2; 3], [false; 3]), Exchange::default());
    }

    #[test]
    fn values_of_other_hosts_come_by_their_own_link() {
        let mut device = of_cut([true; 3]);
        device.far[2] = [true, false];
        let [near, far] = Exchange::by_host(1, [1; 3], &device, 4);
        // One layer of 12 x 12 cells beyond the far side, with its edges and corners.
        assert_eq!((far.bytes, far.messages), (4.0 * 144.0, 9));
        assert_eq!(near.messages, 17);
        let links = Links { near: LINK, far: Link { copies: 1e8, ..LINK }, mover: Mover::Kernel };
        assert_eq!(links.seconds(&[near, far]), far.seconds(&links.far, Mover::Engine));
        let alone = links.seconds(&[near, Exchange::default()]);
        assert_eq!(alone, near.seconds(&LINK, Mover::Kernel));
        assert!(
            alone > Links { mover: Mover::Engine, ..links }.seconds(&[near, Exchange::default()])
        );
    }

    #[test]
    fn a_reduction_takes_a_round_for_each_doubling() {
        let links = Links::in_host(LINK);
        assert_eq!(links.reduction(1, 8), 0.0);
        assert!((links.reduction(8, 8) - 3e-6).abs() < 1e-15);
        assert!((links.reduction(33, 8) - (3e-6 + 3.0 * 1.1e-6)).abs() < 1e-15);
    }

    /// Fewer messages of more bytes, and cells that are computed twice.
    #[test]
    fn deep_ghost_cells_come_less_often() {
        let launch = |substep: usize| {
            format!(
                "launch k{substep} substep {substep} kernel 0 extend [0, 0, 0] {{ read q [2, 2, 2] write q_new = q_1 kernel direct }}"
            )
        };
        let steps = [0, 1, 2].map(|k| format!("fill [2, 2, 2] q run k{k} swap q")).join(" ");
        let plan = parse(&format!(
            "plan buffer q field halo [2, 2, 2] buffer q_new new halo [2, 2, 2] {} uniforms {steps}",
            [0, 1, 2].map(launch).join(" ")
        ));
        let plan = plan.unwrap_or_else(|e| panic!("{e}"));
        let (cells, cut) = ([32; 3], [false, false, true]);
        let of = |ghosts: usize| {
            let plan = plan.deepened(ghosts, cut).and_then(|plan| plan.among_devices());
            let plan = plan.unwrap_or_else(|e| panic!("{e}"));
            let device = DeviceBox { cells, ..of_cut(cut) };
            let mut all = Exchange::default();
            for step in &plan.steps {
                if let Step::Exchange { phase: Phase::Wait, buffers, depth } = step {
                    all.add(&Exchange::new(buffers.len(), depth.towards, &device, 8));
                }
            }
            (all.bytes, all.messages, redundant_share(&plan, cells))
        };
        let plane = 8.0 * 36.0 * 36.0;
        assert_eq!(of(1), (3.0 * 4.0 * plane, 6, 0.0));
        // 4 and 2 planes at both ends in the first two of three substeps.
        assert_eq!(of(3), (12.0 * plane, 2, 12.0 / (3.0 * 32.0 + 12.0)));
    }
}
