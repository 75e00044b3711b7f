//! What a schedule leaves to the run: how long the chunks of marches are, once the size of the grid and
//! of the card are known.

use super::{Launch, Plan};
use crate::schedule::COPY_BYTES;
use crate::schedule::strategies::{self, CHUNK, MOST_PLANES};

/// Iterations of a march beside the planes it reads: copies that are under way at its begin.
const LEAD: usize = 2;

/// Fewest planes of a chunk that are worth a block of their own.
const LEAST: usize = 4;

/// What runs a plan, and on what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Space dimensions; marches go along the last of them.
    pub dimension: usize,
    /// Cells of a patch along x, y, z.
    pub cells: [usize; 3],
    /// Patches.
    pub patches: usize,
    /// Multiprocessors of the card.
    pub units: u32,
}

/// Axes along which kernels may read beyond one end of a patch at the other, if it has both ends of
/// them and they are periodic: where a whole copy of a row does not reach across the end, and a stencil
/// not around the mesh. `halo` is that of the plan without such reads.
pub fn crossable(halo: [u32; 3], cells: [usize; 3], value_bytes: usize) -> [bool; 3] {
    let copied = (COPY_BYTES / value_bytes.max(1)).max(1);
    std::array::from_fn(|axis| {
        let whole = axis > 0 || cells[axis].is_multiple_of(copied);
        whole && cells[axis] >= (halo[axis] as usize).next_multiple_of(copied)
    })
}

impl Plan {
    /// The same plan, with chunks that were left to the run (`chunk=0`) as long as lets the card finish
    /// soonest: blocks run in waves, as many at once as fit, and each reads the planes before and
    /// behind its chunk too.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse;
    /// use stencil_compiler::plan::{Room, plan};
    /// use stencil_compiler::schedule::text;
    ///
    /// let model = parse::parse_str("pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 6>; mixed: bidiagonal; time: euler; }")?;
    /// let algorithm = discretize(&model)?;
    /// let schedule = text::parse("schedule\nkernel march tile_x=64 tile_y=12 chunk=0")?;
    /// let plan = plan(&algorithm, &schedule, [false; 3])?;
    /// let on = |n| Room { dimension: 3, cells: [n; 3], patches: 1, units: 132 };
    /// let chunk = |n| plan.clone().fitted(on(n)).launches[0].blocking.params["chunk"];
    /// // 4 x 22 tiles in 3 chunks are two whole waves; 2 x 11 tiles in 6 chunks are one.
    /// assert_eq!((chunk(256), chunk(128)), (86, 22));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fitted(mut self, room: Room) -> Self {
        for launch in &mut self.launches {
            if let Some(chunk) = fitting(launch, room) {
                launch.blocking.params.insert(CHUNK.name.into(), chunk);
            }
        }
        self
    }
}

/// The chunk of a launch that leaves it to the run.
fn fitting(launch: &Launch, room: Room) -> Option<u32> {
    let strategy = strategies::find(&launch.blocking.strategy).ok()?;
    let across = strategy.across?;
    let param = |name: &str| strategy.param(&launch.blocking, name);
    if param(CHUNK.name) != 0 {
        return None;
    }
    let slowest = room.dimension.clamp(1, 3) - 1;
    let computed = |axis: usize| room.cells[axis] + 2 * launch.extend[axis] as usize;
    let tile = across(&param, slowest + 1);
    let tiles = |axis: usize| computed(axis).div_ceil(tile[axis].max(1) as usize);
    let tiles = (0..slowest).map(tiles).product::<usize>() * room.patches.max(1);
    let at_once = (room.units * param(strategies::BLOCKS.name)).max(1) as usize;
    let reach = launch.inputs.iter().map(|(_, reach)| reach[slowest]);
    let before = 2 * reach.max().unwrap_or(0) as usize + LEAD;
    let planes = computed(slowest);
    let longest_first = (1..=planes.div_ceil(LEAST)).map(|parts| planes.div_ceil(parts));
    let legal = longest_first.filter(|chunk| *chunk <= MOST_PLANES as usize);
    let chunk = legal.min_by_key(|chunk| {
        let waves = (tiles * planes.div_ceil(*chunk)).div_ceil(at_once);
        waves * (chunk + before)
    });
    chunk.and_then(|chunk| u32::try_from(chunk).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discretize::discretize;
    use crate::model::parse;
    use crate::plan::plan;
    use crate::schedule::text;

    fn chunk(dimension: usize, kernel: &str, cells: [usize; 3]) -> u32 {
        let source = format!(
            "system S in {dimension}d {{ field q: scalar; ddt(q) = lap(q); }}
             scheme s for S {{ space: central<order = 6>; mixed: bidiagonal; time: euler; }}"
        );
        let model = parse::parse_str(&source).unwrap();
        let schedule = text::parse(&format!("schedule\nkernel {kernel}")).unwrap();
        let plan = plan(&discretize(&model).unwrap(), &schedule, [false; 3]).unwrap();
        let room = Room {
            dimension,
            cells,
            patches: 1,
            units: 132,
        };
        plan.fitted(room).launches[0].blocking.params["chunk"]
    }

    #[test]
    fn axes_are_crossed_by_whole_copies_and_not_around_the_mesh() {
        let halo = [3; 3];
        assert_eq!(crossable(halo, [64; 3], 4), [true; 3]);
        assert_eq!(crossable(halo, [66, 64, 64], 4), [false, true, true]);
        assert_eq!(crossable(halo, [66, 64, 64], 8), [true; 3]);
        // Whole copies of four values reach over more cells than there are.
        assert_eq!(crossable(halo, [64, 3, 4], 4), [true, false, true]);
    }

    #[test]
    fn a_chunk_that_was_given_stays() {
        assert_eq!(chunk(3, "march tile_x=64 chunk=32", [256; 3]), 32);
    }

    #[test]
    fn chunks_are_legal_on_all_grids() {
        // One tile: as many blocks as the card has room for, or whole where planes are few.
        assert_eq!(chunk(2, "march tile_x=64", [64, 1320, 1]), 10);
        assert_eq!(chunk(3, "plane", [256, 256, 1]), 1);
        let longest = chunk(2, "march tile_x=64", [1 << 16, 1 << 24, 1]);
        assert!((1..=MOST_PLANES).contains(&longest), "{longest}");
    }
}
