//! The arrays of a mesh: patches in the memories of one or more simulated devices. Values cross from one memory to
//! another as a message, a list of values, and in no other way.

use std::collections::BTreeMap;
use std::ops::Range;

use stencil_compiler::expr::Real;
use stencil_compiler::kernel::interp::GlobalArray;
use stencil_compiler::plan::Depth;

use super::each;

/// The cut of a mesh into patches that differ by a cell at most, and the number of devices that share them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Patches along x, y, z; they are counted along x first.
    pub patches: [usize; 3],
    /// Memories; each has an equal part of the patches, one after the other.
    pub devices: usize,
}

impl Layout {
    /// One patch in one memory.
    pub const ONE: Layout = Layout { patches: [1; 3], devices: 1 };

    fn count(self) -> usize {
        self.patches.iter().product()
    }

    fn device_of(self, patch: usize) -> usize {
        patch * self.devices / self.count()
    }

    /// Returns the axes along which neighbours are on different devices.
    pub fn cut(self) -> [bool; 3] {
        let [p, q, _] = self.patches;
        let strides = [1, p, p * q];
        std::array::from_fn(|axis| {
            let is_last =
                |patch: usize| patch / strides[axis] % self.patches[axis] + 1 == self.patches[axis];
            let mut inner = (0..self.count()).filter(|patch| !is_last(*patch));
            inner.any(|patch| self.device_of(patch) != self.device_of(patch + strides[axis]))
        })
    }
}

/// A periodic mesh and the place of each of its cells.
#[derive(Clone, Copy, Debug)]
struct Places {
    layout: Layout,
    /// Cells of the mesh.
    mesh: [usize; 3],
}

/// The place of a cell: its device, the patch among those of the device, and the cell there.
#[derive(Clone, Copy, Debug)]
struct Place {
    device: usize,
    patch: usize,
    cell: [i64; 3],
}

impl Places {
    /// Returns the cells of the largest patch.
    fn largest(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.mesh[axis].div_ceil(self.layout.patches[axis]))
    }

    /// Returns the patches of a device.
    fn of_device(&self, device: usize) -> Vec<usize> {
        let all = 0..self.layout.count();
        all.filter(|patch| self.layout.device_of(*patch) == device).collect()
    }

    /// Returns the cells of a patch in the mesh along each axis.
    fn ranges(&self, patch: usize) -> [Range<usize>; 3] {
        let [p, q, _] = self.layout.patches;
        let at = [patch % p, patch / p % q, patch / (p * q)];
        let begin = |axis: usize, at: usize| at * self.mesh[axis] / self.layout.patches[axis];
        std::array::from_fn(|axis| begin(axis, at[axis])..begin(axis, at[axis] + 1))
    }

    /// Returns the place of a cell of the mesh, or of the one that it repeats.
    fn find(&self, cell: [i64; 3]) -> Place {
        let home: [usize; 3] =
            std::array::from_fn(|axis| cell[axis].rem_euclid(self.mesh[axis] as i64) as usize);
        let holds =
            |patch: &usize| (0..3).all(|axis| self.ranges(*patch)[axis].contains(&home[axis]));
        let patch = (0..self.layout.count()).find(holds).expect("patches have all cells");
        let device = self.layout.device_of(patch);
        let before = (0..patch).filter(|p| self.layout.device_of(*p) == device).count();
        let ranges = self.ranges(patch);
        Place {
            device,
            patch: before,
            cell: std::array::from_fn(|axis| (home[axis] - ranges[axis].start) as i64),
        }
    }

    /// Visits the ghost cells of all patches of a device, in an order that all devices know: each with the patch among
    /// those of the device, and the place that it is copied from. Beside cells that the patch computes, others compute
    /// theirs.
    fn ghosts(&self, device: usize, depth: Depth, mut each: impl FnMut(usize, [i64; 3], Place)) {
        let computed = depth.computed.map(i64::from);
        for (at, patch) in self.of_device(device).into_iter().enumerate() {
            let ranges = self.ranges(patch);
            let cells = ranges.each_ref().map(Range::len);
            around(cells, depth.towards, [false; 3], |cell| {
                let is_there =
                    |a: usize| (-computed[a]..cells[a] as i64 + computed[a]).contains(&cell[a]);
                if (0..3).all(is_there) {
                    return;
                }
                let beside: [i64; 3] = std::array::from_fn(|a| match computed[a] {
                    0 => 0,
                    _ => cell[a] - cell[a].clamp(0, cells[a] as i64 - 1),
                });
                let global = std::array::from_fn(|a| ranges[a].start as i64 + cell[a] - beside[a]);
                let mut from = self.find(global);
                (0..3).for_each(|a| from.cell[a] += beside[a]);
                each(at, cell, from);
            });
        }
    }
}

/// Visits the cells around a box, as deep as this at each end and a cell deeper at the upper ends of `deeper` axes.
fn around(cells: [usize; 3], depth: [u32; 3], deeper: [bool; 3], mut visit: impl FnMut([i64; 3])) {
    let depth = depth.map(|depth| depth as usize);
    let all = std::array::from_fn(|a| cells[a] + 2 * depth[a] + usize::from(deeper[a]));
    each(all, |at| {
        let cell: [i64; 3] = std::array::from_fn(|a| at[a] - depth[a] as i64);
        if (0..3).any(|a| !(0..cells[a] as i64).contains(&cell[a])) {
            visit(cell);
        }
    });
}

/// Sets to NaN the cells that a launch reads, as deep as this, for cells alone that a patch does not have: it computes as
/// many of each patch as of the largest. Results that follow from one are wrong.
pub(super) fn blank<T: Real>(array: &mut GlobalArray<T>, cells: [usize; 3], depth: [u32; 3]) {
    let is_short = std::array::from_fn(|axis| cells[axis] < array.cells()[axis]);
    let end: [i64; 3] = std::array::from_fn(|axis| cells[axis] as i64 + i64::from(depth[axis]));
    around(cells, depth, is_short, |cell| {
        if (0..3).any(|axis| cell[axis] == end[axis]) {
            array.set(cell, T::from_f64(f64::NAN));
        }
    });
}

/// The name of an array, its halo, and the values from one cell to the next.
pub(super) type Named = (String, [usize; 3], usize);

/// Arrays of a patch by name.
pub(super) type Arrays<T> = BTreeMap<String, GlobalArray<T>>;

/// Values for ghost cells, by the devices that send and receive them.
pub(super) type Messages<T> = Vec<([usize; 2], Vec<Option<T>>)>;

/// The memory of a device, and the mesh, which all devices know.
#[derive(Clone, Debug)]
struct Device<T> {
    number: usize,
    places: Places,
    patches: Vec<Arrays<T>>,
}

impl<T: Real> Device<T> {
    fn read(&self, name: &str, place: Place) -> Option<T> {
        self.patches[place.patch][name].get(place.cell)
    }

    fn write(&mut self, name: &str, patch: usize, cell: [i64; 3], value: Option<T>) {
        let array = self.patches[patch].get_mut(name);
        if let Some(value) = value {
            array.expect("a buffer of the plan").set(cell, value);
        }
    }

    /// Fills ghost cells from cells of this memory.
    fn fill(&mut self, name: &str, depth: Depth) {
        let (places, number) = (self.places, self.number);
        places.ghosts(number, depth, |patch, cell, from| {
            if from.device == number {
                let value = self.read(name, from);
                self.write(name, patch, cell, value);
            }
        });
    }

    /// Returns the values for another device's ghost cells, in their order.
    fn pack(&self, to: usize, name: &str, depth: Depth) -> Vec<Option<T>> {
        let mut message = Vec::new();
        self.places.ghosts(to, depth, |_, _, from| {
            if from.device == self.number {
                message.push(self.read(name, from));
            }
        });
        message
    }

    /// Fills ghost cells from another device's cells.
    fn unpack(&mut self, sender: usize, name: &str, depth: Depth, message: &[Option<T>]) {
        let (places, number) = (self.places, self.number);
        let mut values = message.iter();
        places.ghosts(number, depth, |patch, cell, from| {
            if from.device == sender {
                let value = values.next().expect("a value for each ghost cell");
                self.write(name, patch, cell, *value);
            }
        });
        assert!(values.next().is_none(), "a value that nobody asked for");
    }
}

/// The memories of all devices.
#[derive(Clone, Debug)]
pub(super) struct Memory<T> {
    places: Places,
    devices: Vec<Device<T>>,
}

impl<T: Real> Memory<T> {
    /// Allocates arrays of poison with names and halos, and the values from one cell to the next.
    pub(super) fn new(cells: [usize; 3], layout: Layout, names: &[Named]) -> Self {
        let places = Places { layout, mesh: cells };
        let array = |(name, halo, apart): &Named| {
            let array = GlobalArray::with_cell_stride(places.largest(), *halo, *apart);
            (name.clone(), array)
        };
        let arrays: Arrays<T> = names.iter().map(array).collect();
        let device = |number: usize| Device {
            number,
            places,
            patches: vec![arrays.clone(); places.of_device(number).len()],
        };
        Memory { places, devices: (0..layout.devices).map(device).collect() }
    }

    /// Returns the cells of the largest patch.
    pub(super) fn cells(&self) -> [usize; 3] {
        self.places.largest()
    }

    /// Returns the axes along which some patches have a cell less.
    pub(super) fn uneven(&self) -> [bool; 3] {
        let Places { layout, mesh } = self.places;
        std::array::from_fn(|axis| !mesh[axis].is_multiple_of(layout.patches[axis]))
    }

    /// Returns all patches, device by device: the cells of each, and its arrays.
    pub(super) fn patches(&mut self) -> impl Iterator<Item = ([usize; 3], &mut Arrays<T>)> {
        let places = self.places;
        self.devices.iter_mut().flat_map(move |device| {
            let numbers = places.of_device(device.number).into_iter();
            let cells = numbers.map(move |patch| places.ranges(patch).map(|range| range.len()));
            cells.zip(&mut device.patches)
        })
    }

    /// Sets all cells of an array of the mesh, x fastest.
    pub(super) fn set(&mut self, name: &str, values: &[T]) {
        let (places, mut at) = (self.places, values.iter());
        each(places.mesh, |cell| {
            let to = places.find(cell);
            let value = at.next().copied();
            self.devices[to.device].write(name, to.patch, to.cell, value);
        });
    }

    /// Returns all cells of an array of the mesh, x fastest.
    pub(super) fn get(&self, name: &str) -> Vec<T> {
        let mut values = Vec::new();
        each(self.places.mesh, |cell| {
            let from = self.places.find(cell);
            let value = self.devices[from.device].read(name, from);
            values.push(value.expect("a value in every cell"));
        });
        values
    }

    /// Fills ghost cells from all cells of the mesh.
    pub(super) fn fill(&mut self, name: &str, depth: [u32; 3]) {
        let depth = depth.into();
        self.fill_own(name, depth);
        let messages = self.post(name, depth);
        self.receive(name, depth, &messages);
    }

    /// Fills ghost cells of each device from its own memory.
    pub(super) fn fill_own(&mut self, name: &str, depth: Depth) {
        self.devices.iter_mut().for_each(|d| d.fill(name, depth));
    }

    /// Poisons the ghost cells that other devices fill, however deep they are.
    pub(super) fn poison(&mut self, name: &str) {
        for device in &mut self.devices {
            let Some(halo) = device.patches.first().map(|arrays| arrays[name].halo()) else {
                continue;
            };
            let (places, number) = (device.places, device.number);
            places.ghosts(number, halo.into(), |patch, cell, from| {
                if from.device != number {
                    let array = device.patches[patch].get_mut(name);
                    array.expect("a buffer of the plan").poison(cell);
                }
            });
        }
    }

    /// Returns the messages with the values that devices need from each other now.
    pub(super) fn post(&self, name: &str, depth: Depth) -> Messages<T> {
        let all = 0..self.devices.len();
        let pairs = all.clone().flat_map(|from| all.clone().map(move |to| [from, to]));
        let pairs = pairs.filter(|[from, to]| from != to);
        let pack = |[from, to]: [usize; 2]| ([from, to], self.devices[from].pack(to, name, depth));
        pairs.map(pack).collect()
    }

    /// Fills ghost cells from messages.
    pub(super) fn receive(&mut self, name: &str, depth: Depth, messages: &Messages<T>) {
        for ([from, to], message) in messages {
            self.devices[*to].unpack(*from, name, depth, message);
        }
    }
}
