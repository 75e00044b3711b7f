//! Targets: the facts beside the schedule that decide its plan and kernels.

use crate::kernel::Multiprocessor;
use crate::plan::Layers;

/// The facts that a schedule is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Periodic axes that a patch covers from end to end: kernels may read beyond one end at the other.
    pub periodic: [bool; 3],
    /// Cells of the largest patch along x, y, z, and the number of patches of the device. If they are unknown, every axis is taken to be long
    /// enough to be read around, and chunks stay as the schedule has them.
    pub patches: Option<([usize; 3], usize)>,
    /// Axes along which a patch has a neighbour on another device.
    pub cut: [bool; 3],
    /// The patches of devices whose launches may store values in each other's memory; a schedule that leaves the
    /// [overlap](crate::schedule::Overlap) does so where it can.
    pub layers: Option<Layers>,
    /// The device that runs the kernels.
    pub device: Device,
    /// Are arrays that hold fields as they were before the step left as they are? A processor goes back to them.
    pub keeps_fields: bool,
}

/// Facts about a card, from its row in [`cost::MODELS`](crate::cost::MODELS) or as its driver tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// The resources of a multiprocessor.
    pub multiprocessor: Multiprocessor,
    /// Number of multiprocessors. If it is unknown, chunks stay as the schedule has them.
    pub units: Option<u32>,
}

impl Target {
    /// A mesh with ghost cells along all axes, and the newest card that is modelled.
    pub fn new(value_bytes: usize) -> Self {
        Target {
            value_bytes,
            periodic: [false; 3],
            patches: None,
            cut: [false; 3],
            layers: None,
            device: Device { multiprocessor: Multiprocessor::NEWEST, units: None },
            keeps_fields: false,
        }
    }

    /// A mesh with ghost cells along all axes, and a processor.
    pub fn processor(value_bytes: usize) -> Self {
        Target { keeps_fields: true, ..Target::new(value_bytes) }
    }

    /// A periodic mesh of these cells in one patch, on a device.
    pub fn periodic(value_bytes: usize, cells: [usize; 3], device: Device) -> Self {
        Target::new(value_bytes).around([true; 3]).over(cells, 1).on(device)
    }

    /// The same target with patches that cover these periodic axes from end to end.
    pub fn around(self, periodic: [bool; 3]) -> Self {
        Target { periodic, ..self }
    }

    /// The same target with this number of patches, the largest of this size.
    pub fn over(self, cells: [usize; 3], patches: usize) -> Self {
        Target { patches: Some((cells, patches)), ..self }
    }

    /// The same target with neighbours on other devices along these axes.
    pub fn cut(self, cut: [bool; 3]) -> Self {
        Target { cut, ..self }
    }

    /// The same target with devices that may store values in each other's memory, if their patches are layers.
    pub fn storing(self, layers: Option<Layers>) -> Self {
        Target { layers, ..self }
    }

    /// The same target on another device.
    pub fn on(self, device: Device) -> Self {
        Target { device, ..self }
    }
}
