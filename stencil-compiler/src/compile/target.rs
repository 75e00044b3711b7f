//! Targets: all that decides, beside the schedule, which plan and which kernels it gives.

use crate::kernel::Multiprocessor;

/// A schedule is carried through for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Periodic axes that a patch covers from end to end: kernels may read beyond one end at the other.
    pub periodic: [bool; 3],
    /// Cells of a patch along x, y, z, and how many patches there are. Where they are not known, every axis is
    /// taken to be long enough to be read around, and chunks stay as the schedule has them.
    pub patches: Option<([usize; 3], usize)>,
    /// What runs the kernels.
    pub device: Device,
}

/// Facts about a card, from its row in [`cost::MODELS`](crate::cost::MODELS) or as its driver tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// What a multiprocessor has.
    pub multiprocessor: Multiprocessor,
    /// Multiprocessors. Where they are not known, chunks stay as the schedule has them.
    pub units: Option<u32>,
}

impl Target {
    /// Any mesh with ghost cells along all axes, and the newest card that is modelled.
    pub fn new(value_bytes: usize) -> Self {
        Target {
            value_bytes,
            periodic: [false; 3],
            patches: None,
            device: Device {
                multiprocessor: Multiprocessor::NEWEST,
                units: None,
            },
        }
    }

    /// A periodic mesh of so many cells in one patch, on a device.
    pub fn periodic(value_bytes: usize, cells: [usize; 3], device: Device) -> Self {
        Target::new(value_bytes)
            .around([true; 3])
            .over(cells, 1)
            .on(device)
    }

    /// The same with patches that cover these periodic axes from end to end.
    pub fn around(self, periodic: [bool; 3]) -> Self {
        Target { periodic, ..self }
    }

    /// The same on so many patches of so many cells each.
    pub fn over(self, cells: [usize; 3], patches: usize) -> Self {
        Target {
            patches: Some((cells, patches)),
            ..self
        }
    }

    /// The same on a device.
    pub fn on(self, device: Device) -> Self {
        Target { device, ..self }
    }
}
