//! The lengths of chunks of marches, which a schedule may leave to the run: they depend on the size of the grid and of
//! the card.

use super::{Launch, Plan, Region, Step, blocks_of_rim};
use crate::schedule::COPY_BYTES;
use crate::schedule::strategies::{self, CHUNK, MOST_PLANES};

/// Iterations of a march beyond the planes that it reads, while its first copies are under way.
const LEAD: usize = 2;

/// The fewest planes of a chunk.
const LEAST: usize = 4;

/// The sizes that chunks are fitted to: of the patches, and of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitTo {
    /// Space dimensions; marches go along the last of them.
    pub dimension: usize,
    /// Cells of the largest patch along x, y, z.
    pub cells: [usize; 3],
    /// Patches of the card.
    pub patches: usize,
    /// Axes along which a patch has a neighbour on another card.
    pub cut: [bool; 3],
    /// Multiprocessors of the card.
    pub units: u32,
}

/// Returns the axes along which kernels may read beyond one end of a patch at the other, if it has both ends and they are
/// periodic: no copy of several values reaches across the end, and no stencil around the mesh. `halo` is that of the plan
/// without such reads.
pub fn crossable(halo: [u32; 3], cells: [usize; 3], value_bytes: usize) -> [bool; 3] {
    let copied = (COPY_BYTES / value_bytes.max(1)).max(1);
    std::array::from_fn(|axis| {
        let whole = axis > 0 || cells[axis].is_multiple_of(copied);
        whole && cells[axis] >= (halo[axis] as usize).next_multiple_of(copied)
    })
}

impl Plan {
    /// Returns the plan with a length for each chunk that was left to the run (`chunk=0`): the one with which the card
    /// finishes soonest. Blocks run in waves, as many at once as fit, and each also reads the planes before and behind
    /// its chunk. A launch that runs its interior beside an exchange has one if the patch allows it: the chunks at cut ends
    /// are its rim, whose blocks begin when the values have come and blocks of the interior leave room.
    ///
    /// ```
    /// use stencil_compiler::discretize::discretize;
    /// use stencil_compiler::model::parse;
    /// use stencil_compiler::plan::{FitTo, plan};
    /// use stencil_compiler::schedule::text;
    ///
    /// let model = parse::parse_str("pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
    ///     scheme s for Heat { space: central<order = 6>; mixed: bidiagonal; time: euler; }")?;
    /// let algorithm = discretize(&model)?;
    /// let schedule = text::parse("schedule\nkernel march tile_x=64 tile_y=12 chunk=0")?;
    /// let plan = plan(&algorithm, &schedule, [false; 3])?;
    /// let on = |n| FitTo { dimension: 3, cells: [n; 3], patches: 1, cut: [false; 3], units: 132 };
    /// let chunk = |n| plan.clone().fitted(on(n)).launches[0].blocking.params["chunk"];
    /// // 4 x 22 tiles in 3 chunks are two whole waves; 2 x 11 tiles in 6 chunks are one.
    /// assert_eq!((chunk(256), chunk(128)), (86, 22));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fitted(mut self, to: FitTo) -> Self {
        let rims = self.rims_of_split(to);
        for (launch, rim) in self.launches.iter_mut().zip(rims) {
            if let Some(chunk) = fitting(launch, rim, to) {
                launch.blocking.params.insert(CHUNK.name.into(), chunk);
            }
        }
        self
    }

    /// Returns the rim of each launch that runs its interior beside an exchange; other launches have none.
    fn rims_of_split(&self, to: FitTo) -> Vec<[usize; 3]> {
        let cut = to.cut;
        let among = match cut.contains(&true) {
            true => self.among_devices().ok(),
            false => None,
        };
        let steps = &among.as_ref().unwrap_or(self).steps;
        let is_split = |at: usize| {
            let interior = Step::Launch { launch: at, region: Region::Interior };
            steps.contains(&interior)
        };
        let rim = |at: usize| if is_split(at) { self.rim(at, cut) } else { [0; 3] };
        (0..self.launches.len()).map(rim).collect()
    }
}

/// Returns the chunk of a launch that leaves it to the run.
fn fitting(launch: &Launch, rim: [usize; 3], to: FitTo) -> Option<u32> {
    let strategy = strategies::find(&launch.blocking.strategy).ok()?;
    let across = strategy.across?;
    let param = |name: &str| strategy.param(&launch.blocking, name);
    if param(CHUNK.name) != 0 {
        return None;
    }
    let slowest = to.dimension.clamp(1, 3) - 1;
    let computed = |axis: usize| to.cells[axis] + 2 * launch.extend[axis] as usize;
    // All blocks along an axis, and those of the interior.
    let along = |axis: usize, tile: usize| {
        let all = computed(axis).div_ceil(tile);
        let [low, high] = blocks_of_rim(computed(axis), tile, rim[axis]);
        [all, all - low - high]
    };
    let tile = across(&param, slowest + 1);
    let tiles = (0..slowest).map(|axis| along(axis, tile[axis].max(1) as usize));
    let [all, inner] = tiles.fold([to.patches.max(1); 2], |a, b| [a[0] * b[0], a[1] * b[1]]);
    let at_once = (to.units * param(strategies::BLOCKS.name)).max(1) as usize;
    let reach = launch.inputs.iter().map(|(_, reach)| reach[slowest]);
    let before = 2 * reach.max().unwrap_or(0) as usize + LEAD;
    let planes = computed(slowest);
    let longest_first = (1..=planes.div_ceil(LEAST)).map(|parts| planes.div_ceil(parts));
    let legal = longest_first.filter(|chunk| *chunk <= MOST_PLANES as usize);
    let chunk = legal.min_by_key(|chunk| {
        let [parts, inner_parts] = along(slowest, *chunk);
        let (blocks, interior) = (all * parts, inner * inner_parts);
        let waves = blocks.div_ceil(at_once);
        (interior == 0, waves * (chunk + before), (blocks - interior) * chunk)
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

    fn chunk_beside(cut: [bool; 3], dimension: usize, kernel: &str, cells: [usize; 3]) -> u32 {
        let source = format!(
            "system S in {dimension}d {{ field q: scalar; ddt(q) = lap(q); }}
             scheme s for S {{ space: central<order = 6>; mixed: bidiagonal; time: euler; }}"
        );
        let model = parse::parse_str(&source).unwrap();
        let schedule = text::parse(&format!("schedule overlap rim\nkernel {kernel}")).unwrap();
        let plan = plan(&discretize(&model).unwrap(), &schedule, [false; 3]).unwrap();
        let to = FitTo { dimension, cells, patches: 1, cut, units: 132 };
        let fitted = plan.clone().fitted(to);
        assert_eq!(plan.among_devices().unwrap().fitted(to).launches, fitted.launches);
        fitted.launches[0].blocking.params["chunk"]
    }

    fn chunk(dimension: usize, kernel: &str, cells: [usize; 3]) -> u32 {
        chunk_beside([false; 3], dimension, kernel, cells)
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
    /// The chunks at both ends are the rim of a cut axis, and one at least lies between them.
    #[test]
    fn a_march_along_a_cut_axis_has_an_interior() {
        let march = "march tile_x=64 tile_y=12";
        let along = |axis: usize| std::array::from_fn(|a| a == axis);
        for planes in [12, 13, 16, 64, 128, 256, 1000] {
            for cells in [[64, 12, planes], [256, 256, planes]] {
                let chunk = chunk_beside(along(2), 3, march, cells) as usize;
                assert!(chunk >= LEAST && planes.div_ceil(chunk) >= 3, "{chunk} of {planes}");
                let [low, high] = blocks_of_rim(planes, chunk, 3);
                assert!(low + high < planes.div_ceil(chunk), "{chunk} of {planes}");
                // Cuts along other axes leave chunks long.
                assert!(chunk_beside(along(0), 3, march, cells) >= chunk as u32);
            }
        }
        // 8 x 43 tiles of one chunk take three waves; of three chunks, eight that are shorter.
        let chunk_of = |cut| chunk_beside(cut, 3, march, [512, 512, 64]);
        assert_eq!((chunk_of([false; 3]), chunk_of(along(2))), (64, 22));
        // There is no room for three chunks.
        assert_eq!(chunk_beside(along(2), 3, march, [64, 12, 8]), chunk(3, march, [64, 12, 8]));
        assert!(chunk_beside(along(1), 2, "plane", [256, 256, 1]) <= 85);
    }
}
