//! The arrays of a mesh: patches in the memories of one or more simulated devices. Values cross from one memory to
//! another as a message, a list of values, and in no other way.

use std::collections::BTreeMap;

use stencil_compiler::expr::Real;
use stencil_compiler::kernel::interp::GlobalArray;

use super::each;

/// The cut of a mesh into patches of equal shape, and the number of devices that share them.
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
}

/// A periodic mesh and the place of each of its cells.
#[derive(Clone, Copy, Debug)]
struct Places {
    layout: Layout,
    /// Cells of a patch.
    cells: [i64; 3],
}

/// The place of a cell: its device, the patch among those of the device, and the cell there.
#[derive(Clone, Copy, Debug)]
struct Place {
    device: usize,
    patch: usize,
    cell: [i64; 3],
}

impl Places {
    fn count(&self) -> usize {
        self.layout.patches.iter().product()
    }

    /// Returns the cells of the mesh.
    fn mesh(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.layout.patches[axis] * self.cells[axis] as usize)
    }

    fn device_of(&self, patch: usize) -> usize {
        patch * self.layout.devices / self.count()
    }

    /// Returns the patches of a device.
    fn of_device(&self, device: usize) -> Vec<usize> {
        let all = 0..self.count();
        all.filter(|patch| self.device_of(*patch) == device).collect()
    }

    /// Returns the first cell of a patch.
    fn origin(&self, patch: usize) -> [i64; 3] {
        let [p, q, _] = self.layout.patches;
        let at = [patch % p, patch / p % q, patch / (p * q)];
        std::array::from_fn(|axis| at[axis] as i64 * self.cells[axis])
    }

    /// Returns the place of a cell of the mesh, or of the one that it repeats.
    fn find(&self, cell: [i64; 3]) -> Place {
        let counts = self.layout.patches.map(|n| n as i64);
        let home = |axis: usize| cell[axis].rem_euclid(counts[axis] * self.cells[axis]);
        let at: [i64; 3] = std::array::from_fn(|axis| home(axis) / self.cells[axis]);
        let number = (at[2] * counts[1] + at[1]) * counts[0] + at[0];
        let patch = number as usize;
        let device = self.device_of(patch);
        let before = (0..patch).filter(|p| self.device_of(*p) == device).count();
        Place {
            device,
            patch: before,
            cell: std::array::from_fn(|axis| home(axis) % self.cells[axis]),
        }
    }

    /// Visits the ghost cells of all patches of a device, in an order that all devices know: each with the patch among
    /// those of the device, and the place that it is copied from.
    fn ghosts(&self, device: usize, depth: [u32; 3], mut each: impl FnMut(usize, [i64; 3], Place)) {
        let range =
            |axis: usize| -i64::from(depth[axis])..self.cells[axis] + i64::from(depth[axis]);
        for (at, patch) in self.of_device(device).into_iter().enumerate() {
            let origin = self.origin(patch);
            for z in range(2) {
                for y in range(1) {
                    for x in range(0) {
                        let cell = [x, y, z];
                        if (0..3).any(|a| !(0..self.cells[a]).contains(&cell[a])) {
                            let global = std::array::from_fn(|a| origin[a] + cell[a]);
                            each(at, cell, self.find(global));
                        }
                    }
                }
            }
        }
    }
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
    fn fill(&mut self, name: &str, depth: [u32; 3]) {
        let (places, number) = (self.places, self.number);
        places.ghosts(number, depth, |patch, cell, from| {
            if from.device == number {
                let value = self.read(name, from);
                self.write(name, patch, cell, value);
            }
        });
    }

    /// Returns the values for another device's ghost cells, in their order.
    fn pack(&self, to: usize, name: &str, depth: [u32; 3]) -> Vec<Option<T>> {
        let mut message = Vec::new();
        self.places.ghosts(to, depth, |_, _, from| {
            if from.device == self.number {
                message.push(self.read(name, from));
            }
        });
        message
    }

    /// Fills ghost cells from another device's cells.
    fn unpack(&mut self, sender: usize, name: &str, depth: [u32; 3], message: &[Option<T>]) {
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
        let of_patch: [usize; 3] = std::array::from_fn(|axis| {
            let (cells, patches) = (cells[axis], layout.patches[axis]);
            assert_eq!(cells % patches, 0, "{cells} cells in {patches} patches");
            cells / patches
        });
        let places = Places { layout, cells: of_patch.map(|n| n as i64) };
        let array = |(name, halo, apart): &Named| {
            let array = GlobalArray::with_cell_stride(of_patch, *halo, *apart);
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

    /// Returns the cells of a patch.
    pub(super) fn cells(&self) -> [usize; 3] {
        self.places.cells.map(|n| n as usize)
    }

    /// Returns all patches, device by device.
    pub(super) fn patches(&mut self) -> impl Iterator<Item = &mut Arrays<T>> {
        self.devices.iter_mut().flat_map(|d| d.patches.iter_mut())
    }

    /// Sets all cells of an array of the mesh, x fastest.
    pub(super) fn set(&mut self, name: &str, values: &[T]) {
        let (places, mut at) = (self.places, values.iter());
        each(places.mesh(), |cell| {
            let to = places.find(cell);
            let value = at.next().copied();
            self.devices[to.device].write(name, to.patch, to.cell, value);
        });
    }

    /// Returns all cells of an array of the mesh, x fastest.
    pub(super) fn get(&self, name: &str) -> Vec<T> {
        let mut values = Vec::new();
        each(self.places.mesh(), |cell| {
            let from = self.places.find(cell);
            let value = self.devices[from.device].read(name, from);
            values.push(value.expect("a value in every cell"));
        });
        values
    }

    /// Fills ghost cells from all cells of the mesh.
    pub(super) fn fill(&mut self, name: &str, depth: [u32; 3]) {
        self.fill_own(name, depth);
        let messages = self.post(name, depth);
        self.receive(name, depth, &messages);
    }

    /// Fills ghost cells of each device from its own memory.
    pub(super) fn fill_own(&mut self, name: &str, depth: [u32; 3]) {
        self.devices.iter_mut().for_each(|d| d.fill(name, depth));
    }

    /// Returns the axes along which neighbours are on different devices.
    pub(super) fn cut(&self) -> [bool; 3] {
        let places = &self.places;
        let [p, q, _] = places.layout.patches;
        let strides = [1, p, p * q];
        std::array::from_fn(|axis| {
            let is_last = |patch: usize| {
                patch / strides[axis] % places.layout.patches[axis] + 1
                    == places.layout.patches[axis]
            };
            let mut inner = (0..places.count()).filter(|patch| !is_last(*patch));
            inner.any(|patch| places.device_of(patch) != places.device_of(patch + strides[axis]))
        })
    }

    /// Poisons the ghost cells that other devices fill, however deep they are.
    pub(super) fn poison(&mut self, name: &str) {
        for device in &mut self.devices {
            let Some(halo) = device.patches.first().map(|arrays| arrays[name].halo()) else {
                continue;
            };
            let (places, number) = (device.places, device.number);
            places.ghosts(number, halo.map(|h| h as u32), |patch, cell, from| {
                if from.device != number {
                    let array = device.patches[patch].get_mut(name);
                    array.expect("a buffer of the plan").poison(cell);
                }
            });
        }
    }

    /// Returns the messages with the values that devices need from each other now.
    pub(super) fn post(&self, name: &str, depth: [u32; 3]) -> Messages<T> {
        let all = 0..self.devices.len();
        let pairs = all.clone().flat_map(|from| all.clone().map(move |to| [from, to]));
        let pairs = pairs.filter(|[from, to]| from != to);
        let pack = |[from, to]: [usize; 2]| ([from, to], self.devices[from].pack(to, name, depth));
        pairs.map(pack).collect()
    }

    /// Fills ghost cells from messages.
    pub(super) fn receive(&mut self, name: &str, depth: [u32; 3], messages: &Messages<T>) {
        for ([from, to], message) in messages {
            self.devices[*to].unpack(*from, name, depth, message);
        }
    }
}
