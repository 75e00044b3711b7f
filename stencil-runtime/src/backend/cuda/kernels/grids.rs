//! The grids of a launch: of whole patches, or of parts of them beside an exchange.

use stencil_compiler::emit::Patches;
use stencil_compiler::kernel::{BlockBox, Kernel};
use stencil_compiler::plan::Region;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::memory::patches::MeshShape;

/// Cells that the threads of a launch can number.
const MOST_NUMBERED: usize = 1 << 31;

/// The grids that cover each region of the patches of a card.
#[derive(Clone, Debug)]
pub(crate) struct Grids {
    whole: Vec<Grid>,
    interior: Vec<Grid>,
    rim: Vec<Grid>,
}

/// A grid of blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// Blocks along x, y, z.
    pub(crate) blocks: (u32, u32, u32),
    pub(crate) part: Part,
}

/// The part of the blocks of a patch, or of each of many, that a grid has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// All blocks of the only patch.
    Whole,
    /// Blocks of the only patch of a card, from this one along x, y, z.
    From([i32; 3]),
    /// A box of blocks of each of many patches.
    Over(Over),
}

/// The arrangement of a box of blocks of many patches in one grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Over {
    /// The first block of a patch along x, y, z.
    pub(crate) first: [i32; 3],
    /// Blocks of a patch along x, y, z.
    pub(crate) blocks: [u32; 3],
    /// Values from one patch to the next.
    pub(crate) stride: i64,
}

impl Grids {
    /// Returns the grids of a kernel that covers so many patches, by a text of this kind. With the depth of its rim, it has
    /// parts.
    pub(crate) fn new(
        kernel: &Kernel,
        on: (&MeshShape, usize, Patches),
        rim: Option<[usize; 3]>,
    ) -> Result<Self, CudaError> {
        let cells = on.0.n.map(|n| n as usize);
        let split = rim.map(|rim| kernel.split(cells, rim)).unwrap_or_default();
        let grid = |part: &BlockBox| Grid::new(kernel, on, part);
        Ok(Grids {
            whole: vec![grid(&kernel.whole(cells))?],
            interior: split.interior.iter().map(grid).collect::<Result<_, _>>()?,
            rim: split.rim.iter().map(grid).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the grids of a region.
    pub(crate) fn of(&self, region: Region) -> &[Grid] {
        match region {
            Region::Whole => &self.whole,
            Region::Interior => &self.interior,
            Region::Rim => &self.rim,
        }
    }
}

impl Grid {
    /// Returns the grid of a box of blocks of each patch: the boxes of many patches stand in a row.
    fn new(
        kernel: &Kernel,
        (shape, patches, form): (&MeshShape, usize, Patches),
        part: &BlockBox,
    ) -> Result<Self, CudaError> {
        let wrong =
            |reason: &str| CudaError::Kernel { kernel: kernel.name.clone(), reason: reason.into() };
        let BlockBox { first, blocks } = *part;
        // Threads number their cells with 32 bits, those of the last block behind the last cell too.
        let threads = kernel.launch.threads[0] as usize;
        if kernel.launch.runs && blocks[0].saturating_mul(threads) > MOST_NUMBERED {
            return Err(wrong(
                "its last block would number cells beyond 2^31; let `threads` be a power of two, or use more patches",
            ));
        }
        let [Ok(x), Ok(y), Ok(z)] = blocks.map(u32::try_from) else {
            return Err(wrong("it would have more than 2^32 blocks"));
        };
        let first = first.map(|block| block as i32);
        match form {
            Patches::One => return Ok(Grid { blocks: (x, y, z), part: Part::Whole }),
            Patches::Part => return Ok(Grid { blocks: (x, y, z), part: Part::From(first) }),
            Patches::Many => {}
        }
        let of_a_patch = [x, y, z].map(u64::from).iter().product();
        let all = MeshShape::blocks(&kernel.name, patches, of_a_patch)?;
        let over = Over { first, blocks: [x, y, z], stride: shape.stride() };
        Ok(Grid { blocks: (all, 1, 1), part: Part::Over(over) })
    }
}

#[cfg(test)]
mod tests {
    use stencil_compiler::kernel::text::parse;

    use super::*;
    use crate::field::{Cut, Shape};
    use crate::mesh::{self, Mesh};

    fn on(cells: [usize; 3], counts: [usize; 3]) -> MeshShape {
        let mesh = Mesh { cells, extent: [1.0; 3], origin: [0.0; 3], centered: false };
        let patches = mesh::Patches::new(&mesh, counts, 1).unwrap();
        let shape = Shape::new(cells, [0; 3], 8).unwrap();
        let cut = Cut::new(shape, patches, [0; 3], 8).unwrap();
        MeshShape::new(&cut, &mesh, 0)
    }

    #[test]
    fn an_interior_and_a_rim_are_all_blocks_of_each_patch() {
        let kernel = parse(
            "kernel k { dimension 2 value_bytes 8
                launch blocks threads [32, 4, 1] tile [32, 4, 1] extend [0, 0, 0] blocks_per_unit 1
                code { } }",
        );
        let (kernel, shape) = (kernel.unwrap(), on([200, 40, 1], [2, 1, 1]));
        let on = |form| (&shape, 2, form);
        let grids = Grids::new(&kernel, on(Patches::Many), Some([3, 3, 0])).unwrap();
        let count = |region| grids.of(region).iter().map(|grid| grid.blocks.0).sum::<u32>();
        let [interior] = grids.of(Region::Interior) else { panic!("{grids:?}") };
        let Part::Over(over) = interior.part else { panic!("{interior:?}") };
        assert_eq!((over.first, over.blocks, interior.blocks), ([1, 1, 0], [2, 8, 1], (32, 1, 1)));
        assert_eq!(grids.of(Region::Rim).len(), 4);
        assert_eq!(count(Region::Interior) + count(Region::Rim), count(Region::Whole));
        let alone = Grids::new(&kernel, on(Patches::Part), Some([3, 3, 0])).unwrap();
        let [Grid { blocks: (2, 8, 1), part: Part::From([1, 1, 0]) }] = alone.of(Region::Interior)
        else {
            panic!("{alone:?}")
        };
        let whole = Grids::new(&kernel, on(Patches::Many), None).unwrap();
        assert!(whole.of(Region::Interior).is_empty() && whole.of(Region::Rim).is_empty());
    }

    #[test]
    fn the_last_block_numbers_no_cell_twice() {
        let cells = [i32::MAX as usize, 1, 1];
        let shape = on(cells, [1; 3]);
        for (threads, runs, fits) in [(64, "runs", true), (96, "runs", false), (96, "", true)] {
            let kernel = parse(&format!(
                "kernel k {{ dimension 1 value_bytes 8
                    launch blocks threads [{threads}, 1, 1] tile [{threads}, 1, 1] {runs} extend [0, 0, 0] blocks_per_unit 1
                    code {{ }} }}"
            ));
            let grids = Grids::new(&kernel.unwrap(), (&shape, 1, Patches::One), None);
            assert_eq!(grids.is_ok(), fits, "{threads} {runs}");
        }
    }
}
