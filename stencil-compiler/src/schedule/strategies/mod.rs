//! Blocking strategies: the ways in which one kernel covers its patch. One file each, listed in [`ALL`]: names,
//! parameters (the tuner's space) and the facts that a plan needs. Their lowerings are in `kernel::blocking`.

use super::{Blame, Blocking, Layout, Placement, Refusal};

pub mod direct;
pub mod lexicographic;
pub mod march;
pub mod plane;
pub mod rows;
pub mod tile3d;

/// Every strategy.
pub const ALL: &[&Strategy] = &[
    &rows::STRATEGY,
    &direct::STRATEGY,
    &lexicographic::STRATEGY,
    &tile3d::STRATEGY,
    &march::STRATEGY,
    &plane::STRATEGY,
];

/// Bytes of one asynchronous copy: tiles, and rows that a kernel reads around their ends, are whole copies.
pub const COPY_BYTES: usize = 16;

/// A way to cover a patch.
#[derive(Debug)]
pub struct Strategy {
    /// Its name in schedules.
    pub name: &'static str,
    /// Its effect, in a sentence.
    pub summary: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// May grid functions ride along in registers (`register`, `carried`)?
    pub marches: bool,
    /// May they be kept plane by plane in shared memory (`shared`)?
    pub stages: bool,
    /// The layouts of arrays that it reads and writes.
    pub layouts: &'static [Layout],
    /// Can a blocking read beyond one end of a periodic axis at the other, so that no ghost cells are
    /// needed?
    pub wraps: fn(&Blocking) -> bool,
    /// The cells that a block covers of each plane, if it goes from plane to plane of a chunk.
    pub(crate) across: Option<Across>,
    /// The device that runs it: a processor row by row, or the thread blocks of a card.
    pub kind: LaunchKind,
    /// Smallest number of space dimensions it can cover.
    pub least_dimension: usize,
}

/// The device that runs a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchKind {
    /// One block for each row. A CPU runs rows in parallel and the cells of a row as a vector loop.
    Rows,
    /// A grid of thread blocks.
    Blocks,
}

/// A parameter of a strategy.
#[derive(Debug)]
pub struct Param {
    /// Its name in schedules.
    pub name: &'static str,
    /// Its meaning.
    pub summary: &'static str,
    /// The value where a schedule gives none.
    pub default: u32,
    /// Values worth trying.
    pub values: &'static [u32],
    /// The values in fewer than three dimensions, if they differ.
    pub flat: Option<&'static [u32]>,
    /// When a search tries its values.
    pub tried: Tried,
}

/// When a search tries the values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// Tried from the start.
    First,
    /// Tried around the best found so far.
    Beside,
    /// Tried on the winner, all values together: the performance model does not tell them apart.
    Last,
}

/// A parameter of blockings that go from plane to plane.
pub(crate) const CHUNK: Param = Param {
    name: "chunk",
    summary: "planes of a block along the march; 0: what fits the grid and the card best",
    default: 0,
    values: &[0, 16, 32, 64, 128],
    flat: None,
    tried: Tried::Beside,
};

/// Most planes of a chunk.
pub(crate) const MOST_PLANES: u32 = 1 << 20;

/// Cells of a tile along x and y, by the values of parameters and the number of dimensions.
type Across = fn(&dyn Fn(&str) -> u32, usize) -> [u32; 2];

/// The value of [`COLUMN`] with which own columns of shared functions ride in registers, too.
pub(crate) const ALL_COLUMNS: u32 = 2;

/// A parameter of blockings whose planes are all in shared memory.
pub(crate) const COLUMN: Param = Param {
    name: "column",
    summary: "1: own columns of what is read ride in registers; 2: and those of shared functions; 0: all is read from shared memory",
    default: 1,
    values: &[0, 1, ALL_COLUMNS],
    flat: None,
    tried: Tried::Beside,
};

/// A parameter of every blocking of a device that bounds the registers of a thread.
pub(crate) const BLOCKS: Param = Param {
    name: "blocks",
    summary: "blocks that are to fit on a multiprocessor, which bounds registers",
    default: 1,
    values: &[1, 2, 3],
    flat: None,
    tried: Tried::Beside,
};

/// The strategy of this name.
///
/// # Errors
/// Lists the strategies if there is none of this name.
pub fn find(name: &str) -> Result<&'static Strategy, Refusal> {
    let known: Vec<&str> = ALL.iter().map(|s| s.name).collect();
    ALL.iter().copied().find(|s| s.name == name).ok_or_else(|| Refusal {
        blame: Blame::Strategy,
        message: format!("no blocking `{name}`; there are {}", known.join(", ")),
    })
}

impl Param {
    /// Values worth trying in this number of dimensions.
    pub fn values(&self, dimension: usize) -> &'static [u32] {
        match self.flat {
            Some(flat) if dimension < 3 => flat,
            _ => self.values,
        }
    }
}

impl Strategy {
    /// Can it serve this placement at all?
    pub fn serves(&self, placement: Placement) -> bool {
        match placement {
            Placement::Register | Placement::Carried(_) => self.marches,
            Placement::Shared => self.stages,
            Placement::Inline | Placement::Global(_) => true,
        }
    }

    /// The value of a parameter in a blocking, or its default; 0 if there is no such parameter.
    pub fn param(&self, blocking: &Blocking, name: &str) -> u32 {
        let known = self.params.iter().find(|p| p.name == name);
        let given = blocking.params.get(name).copied();
        given.or(known.map(|p| p.default)).unwrap_or(0)
    }

    /// Checks that a blocking names only parameters of this strategy.
    ///
    /// # Errors
    /// Lists the parameters.
    pub fn check_params(&self, blocking: &Blocking) -> Result<(), Refusal> {
        for name in blocking.params.keys() {
            if !self.params.iter().any(|p| p.name == name) {
                let known: Vec<&str> = self.params.iter().map(|p| p.name).collect();
                let message = format!(
                    "`{}` has no parameter `{name}`; it has {}",
                    self.name,
                    known.join(", ")
                );
                return Err(Refusal::params(&[name], message));
            }
        }
        Ok(())
    }
}
