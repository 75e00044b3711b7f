//! The outside of a kernel: its blocks, its shared memory, and the buffers that it copies.

use std::collections::BTreeMap;

use super::{BOX_ALIGNMENT, BufferId, Kernel, Launch, Stmt};

impl Kernel {
    /// Does it store values in ghost cells of other devices, where each has one patch?
    pub fn sends(&self) -> bool {
        self.buffers.iter().any(|buffer| buffer.sent)
    }

    /// Blocks along x, y, z for a patch of `cells` interior cells.
    pub fn blocks(&self, cells: [usize; 3]) -> [usize; 3] {
        let Launch { extend, tile, .. } = self.launch;
        let region = [0, 1, 2].map(|axis| cells[axis] + 2 * extend[axis] as usize);
        let along = |cells: usize, tile: u32| match tile as usize {
            0 => 1,
            tile => cells.div_ceil(tile),
        };
        if self.launch.runs {
            return [along(region.iter().product(), tile[0]), 1, 1];
        }
        [0, 1, 2].map(|axis| along(region[axis], tile[axis]))
    }

    /// Buffers that boxes are copied from, those of a box together, and the extent of these boxes.
    ///
    /// ```
    /// use stencil_compiler::kernel::{BufferId, text::parse};
    ///
    /// let kernel = parse("kernel k { dimension 1 value_bytes 8
    ///     launch blocks threads [32, 1, 1] tile [32, 1, 1] extend [0, 0, 0] blocks_per_unit 1
    ///     buffer u read halo [2, 0, 0] buffer v read halo [2, 0, 0]
    ///     shared line[80] barrier full[1] arrivals 1
    ///     code {
    ///         if thread.x < 1 {
    ///             arrive full[0] bytes 576
    ///             copy box line[0] <- u, v(block.x * 32 - 2, 0, 0) by (36, 1, 1) to full[0]
    ///         }
    ///         wait full[0] parity 0
    ///     } }")?;
    /// assert_eq!(kernel.boxes()[&vec![BufferId(0), BufferId(1)]], [36, 1, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn boxes(&self) -> BTreeMap<Vec<BufferId>, [u32; 3]> {
        fn find(body: &[Stmt], boxes: &mut BTreeMap<Vec<BufferId>, [u32; 3]>) {
            for stmt in body {
                match stmt {
                    Stmt::CopyBox { buffers, extent, .. } => {
                        boxes.insert(buffers.clone(), *extent);
                    }
                    Stmt::For { body, .. } | Stmt::If { body, .. } => find(body, boxes),
                    _ => {}
                }
            }
        }
        let mut boxes = BTreeMap::new();
        find(&self.body, &mut boxes);
        boxes
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.launch.threads.iter().product()
    }

    /// Bytes of shared memory of a block, arrays on 128 bytes and barriers behind them.
    pub fn shared_bytes(&self) -> usize {
        let arrays: usize = self
            .shared
            .iter()
            .map(|a| (a.len as usize * self.value_bytes).next_multiple_of(BOX_ALIGNMENT))
            .sum();
        let barriers: usize = self.barriers.iter().map(|b| b.slots as usize * 8).sum();
        arrays + barriers
    }
}
