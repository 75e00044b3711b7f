//! Ghost cells that go from process to process: packed on the card that has their values, unpacked on the card that they
//! belong to.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, LaunchConfig, PushKernelArg};
use stencil_compiler::plan::Depth;

use super::list::{BoxList, OnCard};
use super::{Ghosts, THREADS};
use crate::backend::cuda::CudaError;
use crate::backend::cuda::exchange::{Pinned, Room};
use crate::backend::cuda::memory::Addresses;
use crate::backend::cuda::memory::patches::MeshShape;
use crate::field::GhostDepth;
use crate::mesh::Neighbours;

/// The kernels.
#[derive(Debug)]
pub(crate) struct Packing {
    pub(crate) pack: CudaFunction,
    pub(crate) unpack: CudaFunction,
}

/// A neighbour, and the bytes for it and from it in the rooms of parcels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub(crate) peer: usize,
    pub(crate) sent: Range<usize>,
    pub(crate) coming: Range<usize>,
}

/// Ghost cells of some arrays that this process and its neighbours send to each other.
#[derive(Debug)]
pub(crate) struct Parcels {
    shape: Box<MeshShape>,
    pack: Option<OnCard>,
    unpack: Option<OnCard>,
    pub(crate) neighbours: Vec<Neighbour>,
    /// Room on the card for values that are sent, and for those that come.
    pub(crate) sent: Room,
    pub(crate) come: Room,
    /// The same on the host, if the values go through its memory.
    pub(crate) on_host: OnceLock<[Pinned; 2]>,
}

/// A list of boxes, whose values follow each other.
#[derive(Debug, Default)]
struct List {
    all: BoxList,
    values: usize,
}

/// Ghost cells of an array: the rules that they follow, and their depth.
pub(super) type Job = (usize, usize, Depth);

impl List {
    /// Adds the boxes from patches of one device to those of another. Both devices list them in the same order.
    fn add(&mut self, neighbours: &Neighbours, jobs: &[Job], [from, to]: [usize; 2]) {
        let owner = |patch: usize| neighbours.patches[patch].owner;
        for (array, rules, depth) in jobs {
            let patches = (0..neighbours.patches.len()).filter(|patch| owner(*patch) == to);
            let all = patches.flat_map(|patch| neighbours.boxes(patch, *depth));
            for of in all.filter(|of| owner(of.from) == from) {
                let [lo, size] = [of.lo.map(|n| n as i32), of.size.map(|n| n as i32)];
                self.all.push((*array, *rules), &of, (lo, size), self.values);
                self.values += of.size.iter().product::<usize>();
            }
        }
    }

    fn on_card(&self, stream: &Arc<CudaStream>, read: usize) -> Result<Option<OnCard>, CudaError> {
        // Kernels count blocks and values with 32 bits.
        if self.all.of_block.len().max(self.values) > i32::MAX as usize {
            let reason = "processes have more than 2^31 values for each other; use more of them";
            return Err(CudaError::Kernel { kernel: "pack_ghosts".into(), reason: reason.into() });
        }
        self.all.on_card(stream, read)
    }
}

/// Returns the lists of boxes that one of several devices packs and unpacks, and its neighbours; values have so many bytes.
fn lists(
    neighbours: &Neighbours,
    jobs: &[Job],
    (own, devices): (usize, usize),
    value_bytes: usize,
) -> ([List; 2], Vec<Neighbour>) {
    let (mut pack, mut unpack, mut all) = (List::default(), List::default(), Vec::new());
    for peer in (0..devices).filter(|peer| *peer != own) {
        let (sent, come) = (pack.values, unpack.values);
        pack.add(neighbours, jobs, [own, peer]);
        unpack.add(neighbours, jobs, [peer, own]);
        let bytes = |values: Range<usize>| values.start * value_bytes..values.end * value_bytes;
        let (sent, coming) = (bytes(sent..pack.values), bytes(come..unpack.values));
        if !(sent.is_empty() && coming.is_empty()) {
            all.push(Neighbour { peer, sent, coming });
        }
    }
    ([pack, unpack], all)
}

impl Ghosts {
    /// Returns the ghost cells of some arrays of a shape, each with a component whose rules it follows and a depth, that one
    /// of several devices and its neighbours send to each other; values have so many bytes.
    pub(crate) fn parcels(
        &self,
        stream: &Arc<CudaStream>,
        shape: MeshShape,
        jobs: &[(usize, Option<GhostDepth>, Depth)],
        (devices, value_bytes): ((usize, usize), usize),
    ) -> Result<Parcels, CudaError> {
        let rules = |of: Option<GhostDepth>| of.map_or(self.components, |of| of.component);
        let jobs = jobs.iter().map(|(array, of, depth)| (*array, rules(*of), *depth));
        let jobs: Vec<Job> = jobs.collect();
        let ([pack, unpack], neighbours) = lists(&self.neighbours, &jobs, devices, value_bytes);
        Ok(Parcels {
            shape: Box::new(shape),
            neighbours,
            sent: Room::new(stream.context(), pack.values * value_bytes)?,
            come: Room::new(stream.context(), unpack.values * value_bytes)?,
            on_host: OnceLock::new(),
            pack: pack.on_card(stream, self.read)?,
            unpack: unpack.on_card(stream, 0)?,
        })
    }

    /// Starts the kernel that packs the values to send.
    pub(crate) fn pack(
        &self,
        stream: &Arc<CudaStream>,
        kernels: &Packing,
        parcels: &Parcels,
        arrays: &Addresses,
    ) -> Result<(), CudaError> {
        let Some(OnCard { boxes, of_block, array_of }) = &parcels.pack else {
            return Ok(());
        };
        let to = parcels.sent.address();
        let mut launch = stream.launch_builder(&kernels.pack);
        launch.arg(boxes).arg(of_block);
        launch.arg(&self.rules).arg(&self.tables).arg(&self.weights).arg(&self.patches);
        launch.arg(array_of).arg(arrays).arg(&*parcels.shape).arg(&to);
        // SAFETY: the arguments are those of the kernel; boxes follow cells of patches of this card, and there is room for
        // all of their values.
        let launched = unsafe { launch.launch(config(of_block)) };
        launched.map(|_| ()).map_err(CudaError::driver("packing ghost cells"))
    }
}

impl Parcels {
    /// Starts the kernel that fills ghost cells with the values that have come.
    pub(crate) fn unpack(
        &self,
        stream: &Arc<CudaStream>,
        kernels: &Packing,
        arrays: &Addresses,
    ) -> Result<(), CudaError> {
        let Some(OnCard { boxes, of_block, .. }) = &self.unpack else {
            return Ok(());
        };
        let from = self.come.address();
        let mut launch = stream.launch_builder(&kernels.unpack);
        launch.arg(boxes).arg(of_block).arg(arrays).arg(&*self.shape).arg(&from);
        // SAFETY: the arguments are those of the kernel; boxes lie in the halo of patches of this card.
        let launched = unsafe { launch.launch(config(of_block)) };
        launched.map(|_| ()).map_err(CudaError::driver("unpacking ghost cells"))
    }

    /// Returns the bytes that it takes on the card.
    pub(crate) fn bytes(&self) -> usize {
        let lists = [&self.pack, &self.unpack].into_iter().flatten();
        let lists = lists.map(|list| list.boxes.num_bytes() + list.of_block.num_bytes());
        lists.sum::<usize>() + self.sent.bytes() + self.come.bytes()
    }
}

fn config(of_block: &CudaSlice<i32>) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (of_block.len() as u32, 1, 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    }
}

#[cfg(test)]
mod tests;
