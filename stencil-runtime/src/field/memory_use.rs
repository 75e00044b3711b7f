//! Memory of a run: how much it takes for each purpose, and how much there is.

use std::fmt::Write as _;

use stencil_compiler::plan::{BufferRole, Plan};

use super::Shape;
use crate::mesh::Patch;

/// Bytes that a run takes on the device of its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Values that a step as it is scheduled needs: cells of fields, of their new values if these are apart, of
    /// accumulators, of stored functions, and of sources.
    pub values: usize,
    /// Values of fields as they were, to go back to.
    pub kept: usize,
    /// Ghost cells around all of these.
    pub ghosts: usize,
    /// Padding of rows and arrays, so that the next one is aligned.
    pub padding: usize,
    /// Everything else: sums of rows, lists of ghost cells, room to pack arrays in.
    pub others: usize,
}

impl MemoryUse {
    /// Returns the use of arrays on all patches and of kept fields, which take so many bytes.
    pub(crate) fn of_arrays(
        (patches, halo): (&[Patch], [usize; 3]),
        value_bytes: usize,
        [arrays, kept]: [usize; 2],
        bytes: usize,
    ) -> Self {
        let cells = |halo: [usize; 3]| {
            let of =
                |patch: &Patch| (0..3).map(|a| patch.cells[a] + 2 * halo[a]).product::<usize>();
            patches.iter().map(of).sum::<usize>()
        };
        let inside = cells([0; 3]);
        let around = cells(halo) - inside;
        let of = |arrays: usize, cells: usize| arrays * cells * value_bytes;
        let all = of(arrays + kept, inside + around);
        debug_assert!(all <= bytes, "{all} bytes of cells in {bytes}");
        MemoryUse {
            values: of(arrays, inside),
            kept: of(kept, inside),
            ghosts: of(arrays + kept, around),
            padding: bytes.saturating_sub(all),
            others: 0,
        }
    }

    /// Returns the use of this and another.
    pub(crate) fn and(self, other: Self) -> Self {
        MemoryUse {
            values: self.values + other.values,
            kept: self.kept + other.kept,
            ghosts: self.ghosts + other.ghosts,
            padding: self.padding + other.padding,
            others: self.others + other.others,
        }
    }

    /// Returns the sum of all parts.
    pub fn bytes(&self) -> usize {
        self.values + self.kept + self.ghosts + self.padding + self.others
    }

    /// Returns the ratio of all bytes to the values that a step needs.
    pub fn ratio(&self) -> f64 {
        self.bytes() as f64 / self.values.max(1) as f64
    }
}

/// Arrays of a run on the host that do not fit into its memory.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", shortage(self))]
#[non_exhaustive]
pub struct Shortage {
    /// Cells along x, y, z.
    pub cells: [usize; 3],
    /// Bytes that all arrays take.
    pub needed: f64,
    /// Bytes that are free, if the system tells.
    pub free: Option<u64>,
    /// The arrays, and the bytes of each.
    pub parts: Vec<(String, f64)>,
    /// Cells along x, y, z of the largest mesh of this shape that fits, if that is known.
    pub fits: Option<[usize; 3]>,
}

fn shortage(of: &Shortage) -> String {
    let [nx, ny, nz] = of.cells;
    let mut text =
        format!("a run of {nx} x {ny} x {nz} cells needs {} of memory, ", gigabytes(of.needed));
    match of.free {
        Some(free) => {
            let _ = writeln!(text, "and {} are free:", gigabytes(free as f64));
        }
        None => text.push_str("which the system does not give:\n"),
    }
    for (what, bytes) in &of.parts {
        let _ = writeln!(text, "  {:>12}  {what}", gigabytes(*bytes));
    }
    match of.fits {
        Some([nx, ny, nz]) => {
            let _ = write!(
                text,
                "the largest mesh of this shape that fits has {nx} x {ny} x {nz} cells; `f32` takes half of what `f64` does"
            );
        }
        None => text.push_str("use fewer cells or `f32`"),
    }
    text
}

fn gigabytes(bytes: f64) -> String {
    match bytes / 1e9 {
        large if large >= 1e6 => format!("{large:.2e} GB"),
        small => format!("{small:.3} GB"),
    }
}

/// Returns arrays of the host by their roles: those of a plan that have memory of their own, and kept fields.
pub(crate) fn arrays_of(
    plan: &Plan,
    has_rings: bool,
    keep_last: bool,
) -> impl Iterator<Item = (&'static str, usize)> {
    let of_role = move |role| {
        let buffers = plan.buffers.iter().enumerate();
        let own = buffers.filter(|(at, _)| plan.memory_of(*at) == *at);
        own.filter(|(_, buffer)| buffer.role == role).count()
    };
    let fields = plan.buffers.iter().filter(|b| b.role == BufferRole::Field);
    let kept = fields.count() - plan.before_the_step().len();
    let kept = if keep_last { kept } else { 0 };
    let derived = if has_rings { 0 } else { of_role(BufferRole::Derived) };
    let all = [
        ("fields", of_role(BufferRole::Field)),
        ("new values of fields", of_role(BufferRole::NewField)),
        ("accumulators", of_role(BufferRole::Accumulator)),
        ("fields as they were before a substep", of_role(BufferRole::Kept)),
        ("counts", of_role(BufferRole::Count)),
        ("stored grid functions", derived),
        ("sources", of_role(BufferRole::Given)),
        ("fields as they were, for `keep_last`", kept),
    ];
    all.into_iter().filter(|(_, count)| *count > 0)
}

/// Checks that so many arrays on each patch of a mesh, of so many patches along each axis, fit into so many free bytes.
///
/// # Errors
/// If they do not: the bytes that they take, and the largest mesh of the same shape that fits.
pub(crate) fn fits(
    arrays: &[(&'static str, usize)],
    (cells, halo): ([usize; 3], [usize; 3]),
    patches: [usize; 3],
    value_bytes: usize,
    free: Option<u64>,
) -> Result<(), Shortage> {
    let of_a_patch: usize = arrays.iter().map(|(_, count)| count).sum();
    let patches_in_all: usize = patches.iter().product();
    let count = of_a_patch * patches_in_all;
    // Bytes as a real number: those of an absurdly large mesh may overflow 64 bits.
    let bytes_of = |cells: [usize; 3]| {
        let cells: [usize; 3] = std::array::from_fn(|axis| cells[axis].div_ceil(patches[axis]));
        let array =
            Shape::new(cells, halo, value_bytes).map(|shape| shape.array_bytes(value_bytes));
        let values = (0..3).map(|axis| cells[axis] as f64 + 2.0 * halo[axis] as f64);
        array.map_or_else(|| values.product::<f64>() * value_bytes as f64, |bytes| bytes as f64)
    };
    let needed = |cells: [usize; 3]| bytes_of(cells) * count as f64;
    let most = free.map_or(isize::MAX as f64, |free| free as f64);
    if needed(cells) <= most {
        return Ok(());
    }
    let part = |(what, count): &(&str, usize)| {
        let count = count * patches_in_all;
        (format!("{count} {what}"), count as f64 * bytes_of(cells))
    };
    let fits = largest(cells, |cells| needed(cells) <= most);
    Err(Shortage {
        cells,
        needed: needed(cells),
        free,
        parts: arrays.iter().map(part).collect(),
        fits: Some(std::array::from_fn(|axis| fits[axis].max(patches[axis]))),
    })
}

/// Makes the error for an array that the system does not give.
pub(crate) fn of_array(shape: &Shape, value_bytes: usize) -> Shortage {
    let bytes = shape.array_bytes(value_bytes) as f64;
    Shortage {
        cells: shape.cells,
        needed: bytes,
        free: None,
        parts: vec![("1 array".to_string(), bytes)],
        fits: None,
    }
}

/// Returns the largest mesh of the same shape that fits.
pub(crate) fn largest(cells: [usize; 3], fits: impl Fn([usize; 3]) -> bool) -> [usize; 3] {
    let scaled = |part: f64| cells.map(|n| ((n as f64 * part) as usize).max(1));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if fits(scaled(middle)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    scaled(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Patches;

    #[test]
    fn arrays_are_values_ghost_cells_and_padding() {
        // Rows of 12 values with ghost cells before and behind fill lines of 32 values.
        let shape = Shape::new([12, 5, 4], [2, 1, 0], 4).unwrap();
        let (bytes, patches) = (3 * 4 * shape.len(), Patches::one(shape.cells).list());
        let room = MemoryUse::of_arrays((&patches, shape.halo), 4, [2, 1], bytes);
        let cells = 12 * 5 * 4;
        assert_eq!((room.values, room.kept), (2 * 4 * cells, 4 * cells));
        assert_eq!(room.ghosts, 3 * 4 * (16 * 7 * 4 - cells));
        assert_eq!(room.bytes(), bytes);
        assert!(room.padding >= 3 * 4 * 16 * 7 * 4);
        assert_eq!(room.ratio(), bytes as f64 / (2 * 4 * cells) as f64);
        assert_eq!(MemoryUse::default().ratio(), 0.0);
    }
    /// Each array alone would fit.
    #[test]
    fn arrays_fit_together_or_not_at_all() {
        let arrays = [("fields", 5), ("new values of fields", 5)];
        let (cells, halo) = ([64, 32, 1], [2, 2, 0]);
        let array = Shape::new(cells, halo, 8).unwrap().array_bytes(8) as u64;
        assert_eq!(fits(&arrays, (cells, halo), [1; 3], 8, Some(10 * array)), Ok(()));
        let error = fits(&arrays, (cells, halo), [1; 3], 8, Some(10 * array - 1)).unwrap_err();
        assert_eq!(error.needed, 10.0 * array as f64);
        let there = error.fits.unwrap();
        assert_eq!(fits(&arrays, (there, halo), [1; 3], 8, Some(10 * array - 1)), Ok(()));
        assert!(there[0] < 64 && there[0] >= 48 && there[2] == 1, "{there:?}");
        let text = error.to_string();
        assert!(
            text.contains("5 new values of fields")
                && text.contains("the largest mesh of this shape"),
            "{text}"
        );
    }

    /// Numbers of cells whose product is 0 in 64 bits, and whose bytes overflow.
    #[test]
    fn no_mesh_is_too_large_for_its_message() {
        for cells in [[1 << 22, 1 << 21, 1 << 21], [1 << 30; 3]] {
            let error = fits(&[("fields", 1)], (cells, [3; 3]), [1; 3], 8, None).unwrap_err();
            let points = cells.iter().map(|n| *n as f64).product::<f64>();
            assert!(error.needed >= 8.0 * points && error.fits.is_some(), "{error}");
            assert!(error.to_string().contains("e1"), "{error}");
        }
    }
}
