//! Ghost cells on the card: boxes of them around each patch, and a rule for each face of each component.

mod list;
mod parcels;

use std::sync::Arc;

use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, CudaView, DeviceRepr, LaunchConfig, PushKernelArg,
};

use stencil_compiler::catalogue::Halves;
use stencil_compiler::catalogue::weights::OnFace;
use stencil_compiler::plan::Depth;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::kernels::formulas::Formulas;
use crate::backend::cuda::kernels::layers::Layer;
use crate::backend::cuda::memory::Addresses;
use crate::backend::cuda::memory::patches::MeshShape;
use crate::field::GhostDepth;
use crate::mesh::{Axis, Boundaries, CopyBox, Face, Mesh, Neighbours, Number, Patch, Rule, Side};

use list::{BoxList, OnCard};
pub(crate) use parcels::{Neighbour, Packing, Parcels};

/// The kernels, for values of the type `real` and [`ARRAYS`](crate::backend::cuda::memory::ARRAYS) arrays.
pub(crate) const TEXT: &str = include_str!("ghosts.cu");

/// Threads of a block, as in the text.
const THREADS: u32 = 256;

/// Bytes that the memory of a card moves at once.
const SECTOR: usize = 32;

/// Numbers before and behind all tables: as many as there are values in a sector.
const MARGIN: usize = 8;

/// The same struct as in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
struct FaceRule {
    kind: i32,
    table: i32,
    number: f64,
    cells: i32,
    weights: i32,
}

/// The same struct as in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct GhostBox {
    array: i32,
    rules: i32,
    to: i32,
    from: i32,
    lo: [i32; 3],
    size: [i32; 3],
    shift: [i32; 3],
    face: [i32; 3],
    block: i32,
    blocks: i32,
    lanes: i32,
    packed: i32,
}

/// The same struct as in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct PatchPlace {
    first: [i32; 3],
    n: [i32; 3],
}

// SAFETY: plain numbers in the layout of C, without padding between them.
unsafe impl DeviceRepr for FaceRule {}
// SAFETY: as above.
unsafe impl DeviceRepr for GhostBox {}
// SAFETY: as above.
unsafe impl DeviceRepr for PatchPlace {}

impl PatchPlace {
    fn new(patch: &Patch) -> Self {
        let counted = |cells: [usize; 3]| cells.map(|n| n as i32);
        PatchPlace { first: counted(patch.lo), n: counted(patch.cells) }
    }
}

/// The rule of a face without a condition.
const PERIODIC: FaceRule = FaceRule { kind: 0, table: -1, number: 0.0, cells: 0, weights: 0 };

/// Boxes around patches: those that one launch fills, and layers that are copied.
#[derive(Debug)]
pub(crate) struct Boxes {
    shape: Box<MeshShape>,
    surfaces: bool,
    layers: Vec<Layer>,
    /// Those that are no layers, and the box of each block.
    launched: Option<OnCard>,
    cells: usize,
}

impl Boxes {
    /// Returns the number of ghost cells of all arrays.
    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    /// Returns the number of kernels that fill them.
    pub(crate) fn kernels(&self) -> usize {
        usize::from(self.launched.is_some())
    }

    /// Returns the bytes of the list.
    pub(crate) fn bytes(&self) -> usize {
        self.launched.as_ref().map_or(0, |list| list.boxes.num_bytes() + list.of_block.num_bytes())
    }
}

/// The boxes that one of the cards of a run fills in one launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// The number of the card among those of the run: it fills boxes of its own patches.
    pub(crate) owner: usize,
    pub(crate) values: Origin,
}

/// The origin of values for ghost cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Patches of the same card, and rules of boundaries.
    Own,
    /// Patches of other cards.
    Others,
    /// Those of other cards that their launches have not stored there: at the corners of layers.
    Corners,
}

impl Share {
    /// All boxes of a run on one card.
    pub(crate) const WHOLE: Self = Share { owner: 0, values: Origin::Own };
}

/// The rules of all components on the card.
#[derive(Debug)]
pub(crate) struct Ghosts {
    fill: CudaFunction,
    fill_surfaces: CudaFunction,
    shape: MeshShape,
    neighbours: Neighbours,
    rules: CudaSlice<FaceRule>,
    /// Values of the functions on faces.
    tables: CudaSlice<f64>,
    /// Weights of polynomials.
    weights: CudaSlice<f64>,
    /// The places of patches in the mesh.
    patches: CudaSlice<PatchPlace>,
    /// Values of a sector of memory.
    sector: i32,
    /// The number of components that have rules; the rule of periodic faces follows theirs.
    components: usize,
    /// The number of components, from the first one on, that rules of others may read.
    read: usize,
}

/// The rules of all components as kernels take them.
struct Coded {
    rules: Vec<FaceRule>,
    weights: Vec<f64>,
    /// The number of values of tables, the numbers before them included.
    length: usize,
}

impl Coded {
    fn new(boundaries: &Boundaries, shape: &MeshShape) -> Self {
        let mut rules = Vec::new();
        let mut length = MARGIN;
        // There is at least one number, so that there is an address.
        let mut weights = vec![0.0];
        for of_component in &boundaries.rules {
            for (axis, sides) in Axis::ALL.into_iter().zip(of_component) {
                for rule in sides {
                    let (kind, number) = coded(rule);
                    let mut coded = FaceRule { kind, ..PERIODIC };
                    if let Rule::Extended(extension) = rule {
                        coded.cells = extension.cells as i32;
                        coded.weights = weights.len() as i32;
                        for of_ghost in extension.all() {
                            weights.push(of_ghost.face);
                            weights.extend(&of_ghost.cells);
                        }
                    }
                    if let Rule::Linear(linear) = rule {
                        (coded.number, coded.cells) = (linear.far, linear.parts.len() as i32);
                        coded.weights = weights.len() as i32;
                        let parts = linear.parts.iter();
                        weights.extend(parts.flat_map(|p| [p.component as f64, p.weight, p.far]));
                    }
                    match number {
                        Some(Number::Constant(value)) => coded.number = *value,
                        Some(Number::Function(_)) => {
                            coded.table = length as i32;
                            length += lines(shape, axis).iter().product::<usize>();
                        }
                        None => {}
                    }
                    rules.push(coded);
                }
            }
        }
        rules.extend([PERIODIC; 6]);
        Coded { rules, weights, length }
    }
}

/// A face with a number for each line of cells.
pub(crate) struct Table<'a> {
    pub(crate) face: Face,
    pub(crate) number: &'a Number,
    /// The place of the component in its cells.
    pub(crate) halves: Halves,
}

impl Ghosts {
    pub(crate) fn new(
        stream: &Arc<CudaStream>,
        (fill, fill_surfaces): (CudaFunction, CudaFunction),
        (shape, neighbours): (MeshShape, Neighbours),
        boundaries: &Boundaries,
        value_bytes: usize,
    ) -> Result<Self, CudaError> {
        let Coded { rules, weights, length } = Coded::new(boundaries, &shape);
        // Kernels count them with 32 bits, from MARGIN values before a face to as many behind it.
        if length + MARGIN > i32::MAX as usize {
            return Err(CudaError::Tables { values: length });
        }
        let patches: Vec<_> = neighbours.patches.iter().map(PatchPlace::new).collect();
        let failed = CudaError::driver("copying boundary conditions to the card");
        Ok(Ghosts {
            fill,
            fill_surfaces,
            shape,
            neighbours,
            patches: stream.clone_htod(&patches).map_err(&failed)?,
            rules: stream.clone_htod(&rules).map_err(&failed)?,
            tables: stream.alloc_zeros(length + MARGIN).map_err(&failed)?,
            weights: stream.clone_htod(&weights).map_err(&failed)?,
            sector: (SECTOR / value_bytes) as i32,
            components: boundaries.rules.len(),
            read: boundaries.read(),
        })
    }

    /// Returns the bytes of its rules, tables and places of patches.
    pub(crate) fn bytes(&self) -> usize {
        let numbers = self.tables.num_bytes() + self.weights.num_bytes();
        self.rules.num_bytes() + numbers + self.patches.num_bytes()
    }

    /// Returns the boxes of ghost cells of some arrays of a shape, or surfaces, each with a component whose rules it
    /// follows (`None`: it crosses no face) and a depth, as far as they are this share of them.
    pub(crate) fn boxes(
        &self,
        stream: &Arc<CudaStream>,
        (shape, surfaces): (MeshShape, bool),
        jobs: impl IntoIterator<Item = (usize, Option<GhostDepth>, Depth)>,
        share: Share,
    ) -> Result<Option<Boxes>, CudaError> {
        let (mut list, mut layers) = (BoxList::default(), Vec::new());
        let mut cells = 0;
        // Arrays whose values lie apart share their memory with others.
        let has_layers = share.values == Origin::Others && !surfaces && shape.is_dense();
        for (array, job, depth) in jobs {
            let rules = job.map_or(self.components, |job| job.component);
            let patches = self.neighbours.patches.iter().enumerate();
            let own = patches.filter(|(_, patch)| patch.owner == share.owner);
            let all = own.flat_map(|(to, _)| self.neighbours.boxes(to, depth));
            let mut all: Vec<CopyBox> = all.filter(|of| self.is_of(of, share.values)).collect();
            cells += all.iter().map(|of| of.size.iter().product::<usize>()).sum::<usize>();
            if has_layers {
                let taken = self.neighbours.take_layers(&mut all, depth);
                layers.extend(
                    taken.iter().map(|of| Layer::new(array, of, &shape, self.sector as usize)),
                );
            }
            for of in all {
                list.push((array, rules), &of, self.widened(&of, depth, surfaces), 0);
            }
        }
        if list.boxes.is_empty() && layers.is_empty() {
            return Ok(None);
        }
        if list.of_block.len() > i32::MAX as usize {
            return Err(CudaError::Kernel {
                kernel: "fill_ghosts".into(),
                reason: "it would have more than 2^31 blocks; use fewer or larger patches".into(),
            });
        }
        let launched = list.on_card(stream, self.read)?;
        Ok(Some(Boxes { shape: Box::new(shape), surfaces, layers, launched, cells }))
    }

    /// Does a box have values of this origin?
    fn is_of(&self, of: &CopyBox, values: Origin) -> bool {
        let is_local = self.neighbours.is_local(of);
        match values {
            Origin::Own => is_local,
            Origin::Others => !is_local,
            Origin::Corners => !is_local && of.lo.iter().filter(|first| **first != 0).count() > 1,
        }
    }

    /// Returns the first cell and the size of a box. Its rows begin and end with whole sectors of memory if rows have
    /// room for that: a sector that is written in part is read before.
    fn widened(&self, of: &CopyBox, depth: Depth, surfaces: bool) -> ([i32; 3], [i32; 3]) {
        let (mut lo, mut size) = (of.lo.map(|n| n as i32), of.size.map(|n| n as i32));
        let sector = self.sector;
        let up = |value: i32| (value + sector - 1) / sector * sector;
        let [n, of_source] = [of.to, of.from].map(|at| self.neighbours.patches[at].cells[0] as i32);
        let depth = if of.faces[0].is_some() { depth.beyond } else { depth.towards };
        let (halo, depth) = (self.shape.halo[0], depth[0] as i32);
        let has_room = up(n + halo) + up(halo) <= self.shape.pitch;
        // The added cells come from beside the source of the others.
        let is_one = size[0] == depth && (of.faces[0].is_some() || up(depth) <= of_source);
        if surfaces || !has_room || !is_one {
            return (lo, size);
        }
        if lo[0] == -depth {
            (lo[0], size[0]) = (-up(depth), up(depth));
        } else if lo[0] == n {
            size[0] = up(n + depth) - n;
        }
        (lo, size)
    }

    /// Fills boxes of ghost cells.
    pub(crate) fn fill(
        &self,
        stream: &Arc<CudaStream>,
        boxes: &Boxes,
        arrays: &Addresses,
    ) -> Result<(), CudaError> {
        let bytes = SECTOR / self.sector as usize;
        for layer in &boxes.layers {
            layer.copy(stream, arrays, (boxes.shape.stride(), bytes))?;
        }
        let Some(OnCard { boxes: listed, of_block, array_of }) = &boxes.launched else {
            return Ok(());
        };
        let config = LaunchConfig {
            grid_dim: (of_block.len() as u32, 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let fill = match boxes.surfaces {
            true => &self.fill_surfaces,
            false => &self.fill,
        };
        let mut launch = stream.launch_builder(fill);
        launch.arg(listed).arg(of_block);
        launch.arg(&self.rules).arg(&self.tables).arg(&self.weights).arg(&self.patches);
        launch.arg(array_of).arg(arrays).arg(&*boxes.shape);
        // SAFETY: the arguments are those of the kernel; boxes lie in the halo of the arrays.
        let launched = unsafe { launch.launch(config) };
        launched.map_err(CudaError::driver("filling ghost cells"))?;
        Ok(())
    }

    /// Evaluates the numbers on faces that are formulas, on the card, at a time in its
    /// memory.
    pub(crate) fn evaluate(
        &mut self,
        stream: &Arc<CudaStream>,
        formulas: &Formulas,
        time: &CudaView<'_, f64>,
    ) -> Result<(), CudaError> {
        let mut first = MARGIN;
        for (number, face) in formulas.faces().enumerate() {
            let end = first + lines(&self.shape, face.axis).iter().product::<usize>();
            let mut table = self.tables.slice_mut(first..end);
            formulas.face(stream, number, &mut table, time)?;
            first = end;
        }
        Ok(())
    }

    /// Evaluates the numbers on faces that are functions, at the time `t`.
    pub(crate) fn sample(
        &mut self,
        stream: &Arc<CudaStream>,
        boundaries: &Boundaries,
        mesh: &Mesh,
        t: f64,
    ) -> Result<(), CudaError> {
        let mut values = vec![0.0; MARGIN];
        for Table { face, number, halves } in tables(boundaries) {
            let [along, across] = others(face.axis);
            let first = |a: usize| -(self.shape.halo[a] as isize);
            let [count, rows] = lines(&self.shape, face.axis);
            for j in 0..rows as isize {
                for i in 0..count as isize {
                    let mut cell = [0; 3];
                    cell[along] = first(along) + i;
                    cell[across] = first(across) + j;
                    values.push(number.at(mesh.on_wall(face, cell, halves), t));
                }
            }
        }
        values.resize(values.len() + MARGIN, 0.0);
        let copy = stream.memcpy_htod(&values, &mut self.tables);
        copy.map_err(CudaError::driver("copying boundary values to the card"))
    }
}

/// Returns the faces whose numbers are functions, in the order of their tables.
pub(crate) fn tables(boundaries: &Boundaries) -> impl Iterator<Item = Table<'_>> {
    let sides = |axis: Axis| Side::ALL.map(|side| Face::new(axis, side));
    let all = boundaries.rules.iter().zip(&boundaries.halves);
    all.flat_map(move |(of_component, halves)| {
        let faces = Axis::ALL.into_iter().flat_map(sides);
        let rules = of_component.iter().flatten();
        faces.zip(rules).filter_map(|(face, rule)| {
            let number = coded(rule).1?;
            let table = Table { face, number, halves: *halves };
            matches!(number, Number::Function(_)).then_some(table)
        })
    })
}

/// Are there numbers on faces that are functions?
pub(crate) fn has_tables(boundaries: &Boundaries) -> bool {
    tables(boundaries).next().is_some()
}

/// Returns the kind of a rule as in the text, and its number.
fn coded(rule: &Rule) -> (i32, Option<&Number>) {
    match rule {
        // A user's own function is evaluated on the host, never here.
        Rule::Periodic | Rule::Custom(_) => (0, None),
        Rule::Nearest => (1, None),
        Rule::Mirror { negative: false } => (2, None),
        Rule::Mirror { negative: true } => (3, None),
        Rule::Dirichlet(number) => (4, Some(number)),
        Rule::Neumann(number) => (5, Some(number)),
        Rule::Extended(extension) => match extension.on_face {
            OnFace::Nothing => (6, None),
            OnFace::Value => (7, Some(&extension.number)),
            OnFace::Slope => (8, Some(&extension.number)),
        },
        Rule::Linear(_) => (9, None),
    }
}

/// Returns the axes of a face, the one that is contiguous in tables first.
fn others(axis: Axis) -> [usize; 2] {
    match axis {
        Axis::X => [1, 2],
        Axis::Y => [0, 2],
        Axis::Z => [0, 1],
    }
}

/// Returns the number of lines of cells that end at a face, ghost cells included, along its axes.
fn lines(shape: &MeshShape, axis: Axis) -> [usize; 2] {
    others(axis).map(|a| (shape.all[a] + 2 * shape.halo[a]) as usize)
}

/// Rows that a thread takes a cell or more of, one after the other: looking up a rule takes about as long as reading a
/// value.
const ROWS: [u32; 2] = [16, 2];

/// Returns the number of threads for a row of a box, as a power of two, and the number of blocks for the box. A warp
/// takes a long row, a few threads a short one.
fn threads(size: [i32; 3]) -> (i32, i32) {
    let rows = (size[1] * size[2]).unsigned_abs();
    let width = size[0].unsigned_abs().next_power_of_two().ilog2();
    let (shift, groups) =
        if width < 5 { (width, rows.div_ceil(ROWS[0])) } else { (5, rows.div_ceil(ROWS[1])) };
    (shift as i32, groups.div_ceil(THREADS >> shift) as i32)
}

#[cfg(test)]
mod tests;
