//! `tile3d`: a block of threads computes a box of cells from a box in shared memory that is larger
//! by the rim of the stencil, then rolls on along the slowest axis: planes that it still needs stay
//! where they are, as slots are counted modulo their number, and new ones take the place of old ones.
//!
//! The single-pass scheme of Pekkilä et al. 2017, section 4.1.

use super::MOST_THREADS;
use crate::kernel::lower::{Context, Draft, shape};
use crate::kernel::values::{Values, Writer};
use crate::kernel::{Condition, Index, Kernel, Relation, Stmt, WARP};
use crate::schedule::strategies::tile3d::STRATEGY;
use crate::schedule::{LaunchKind, Refusal};

mod loader;
mod tile;

use loader::Loader;
use tile::{Staged, Tile};

/// Most boxes of a block.
const MOST_ROLLS: u32 = 1 << 16;

/// The box and its rolls, checked.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Cells of the box along x, y, z.
    cells: [u32; 3],
    /// Boxes of a block along the rolling axis.
    rolls: u32,
    /// The axis along which it rolls: the slowest one; z for a line of cells, which rolls nowhere.
    axis: usize,
    /// Values of one asynchronous copy.
    vector: u32,
}

impl Shape {
    fn new(context: &Context<'_>) -> Result<Self, Refusal> {
        let vector = (crate::schedule::COPY_BYTES / context.value_bytes) as u32;
        let dimension = context.algorithm.dimension;
        let along = |axis: usize, name: &str| match axis < dimension {
            true => context.param(name),
            false => 1,
        };
        let mut cells = [along(0, "x"), along(1, "y"), along(2, "z")];
        // The extents along missing dimensions go along x: no thread is left without a cell.
        for (axis, name) in [(1, "y"), (2, "z")] {
            if axis >= dimension {
                cells[0] = cells[0].saturating_mul(context.param(name));
            }
        }
        let threads = cells.iter().try_fold(1u32, |all, n| all.checked_mul(*n));
        let threads = threads.unwrap_or(0);
        if !(1..=MOST_THREADS).contains(&threads) || !threads.is_multiple_of(WARP) {
            return Err(Refusal::params(
                &["x", "y", "z"],
                format!(
                    "`tile3d` with a box of {cells:?}: it has a thread for each cell, a multiple of {WARP} up to {MOST_THREADS}"
                ),
            ));
        }
        if !cells[0].is_multiple_of(vector) {
            return Err(Refusal::params(
                &["x"],
                format!("`x={}` is no multiple of the {vector} values of a copy", cells[0]),
            ));
        }
        let rolls = context.param("rolls");
        if !(1..=MOST_ROLLS).contains(&rolls) {
            return Err(Refusal::params(
                &["rolls"],
                format!("`rolls={rolls}`: a block computes 1 to {MOST_ROLLS} boxes"),
            ));
        }
        Ok(Shape {
            cells,
            rolls: if dimension == 1 { 1 } else { rolls },
            axis: if dimension == 1 { 2 } else { dimension - 1 },
            vector,
        })
    }

    /// The axis that is neither x nor the one along which it rolls.
    fn side(&self) -> usize {
        3 - self.axis
    }
}

pub(super) fn lower(context: &Context<'_>) -> Result<Kernel, Refusal> {
    context.refuse_placements(STRATEGY.name)?;
    let form = Shape::new(context)?;
    let mut values = Values::new(context, Vec::new())?;
    let mut results = Vec::new();
    for (buffer, function) in context.outputs()? {
        results.push((buffer, values.define(function, [0; 3])?));
    }
    let tile = Tile::new(&form, values.reads());
    let mut covered = form.cells;
    covered[form.axis] *= form.rolls;
    let mut draft = Draft::new(*context, shape(context, LaunchKind::Blocks, form.cells, covered)?);
    tile.declare(&mut draft);
    let limit = context.multiprocessor.block_shared_bytes();
    if draft.kernel.shared_bytes() > limit {
        return Err(Refusal::params(
            &["x", "y", "z"],
            format!(
                "the box and its rim take {} bytes of shared memory and a block has {limit}; use a smaller box, or store what is read far away",
                draft.kernel.shared_bytes()
            ),
        ));
    }
    draft.kernel.notes.push(format!(
        "box of {:?} cells in a tile of {} planes of {} values for each of {} arrays",
        form.cells,
        tile.planes,
        tile.plane_len(),
        tile.staged.len()
    ));
    let body = body(&mut draft, &form, &tile, &mut values, &results)?;
    draft.kernel.body = body;
    Ok(draft.kernel)
}

/// The names of the outputs and the numbers of their values.
type Results = [(String, crate::kernel::values::ValueId)];

fn body(
    draft: &mut Draft<'_>,
    form: &Shape,
    tile: &Tile,
    values: &mut Values<'_>,
    results: &Results,
) -> Result<Vec<Stmt>, Refusal> {
    let extend = draft.context.launch.extend.map(i64::from);
    let mut body = Vec::new();
    let mut own = Vec::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let size =
            i64::from(form.cells[axis]) * i64::from(if axis == form.axis { form.rolls } else { 1 });
        let first = Index::Block(axis) * size + Index::Thread(axis) - Index::Const(extend[axis]);
        own.push(draft.define(&mut body, name, first));
    }
    let size = i64::from(form.cells[form.axis]);
    let first = Index::Block(form.axis) * (size * i64::from(form.rolls));
    let start = draft.define(&mut body, "start", first - Index::Const(extend[form.axis]));
    let chunk = Index::Var(start) + Index::Const(size * i64::from(form.rolls));
    let last = Index::Size(form.axis) + Index::Const(extend[form.axis]);
    let end = draft.define(&mut body, "end", Index::Min(Box::new(chunk), Box::new(last)));
    let loader = Loader::new(draft, &mut body, form, tile, (start, end));
    loader.load(draft, &mut body, Index::Const(0), tile.planes);
    let roll = draft.int("roll");
    let mut inner = Vec::new();
    loader.wait(&mut inner, roll);
    let here = Index::Var(own[form.axis]) + Index::Var(roll) * size;
    own[form.axis] = draft.define(&mut inner, ["x", "y", "z"][form.axis], here);
    inner.extend(work(draft, form, tile, values, results, roll, &own)?);
    if form.rolls > 1 {
        inner.push(Stmt::Sync);
        let new = Index::Var(roll) * size + Index::Const(i64::from(tile.planes));
        loader.load(draft, &mut inner, new, form.cells[form.axis]);
    }
    let rolls = (Index::Var(end) - Index::Var(start) + Index::Const(size - 1)) / size;
    body.push(Stmt::For {
        var: roll,
        from: Index::Const(0),
        to: rolls,
        unroll: false,
        body: inner,
    });
    Ok(body)
}

/// The thread's cell of one box.
fn work(
    draft: &mut Draft<'_>,
    form: &Shape,
    tile: &Tile,
    values: &mut Values<'_>,
    results: &Results,
    roll: crate::kernel::IntVar,
    own: &[crate::kernel::IntVar],
) -> Result<Vec<Stmt>, Refusal> {
    let extend = draft.context.launch.extend.map(i64::from);
    let mut out = Vec::new();
    let cell = draft.cell("cell");
    out.push(Stmt::Cell { cell, at: [own[0], own[1], own[2]].map(Index::Var) });
    let mut reader = Staged::new(draft, &mut out, form, tile, (roll, cell));
    let mut writer = Writer::default();
    let mut stores = Vec::new();
    for (buffer, id) in results {
        let value = writer.write(draft, values, &mut reader, &mut out, *id)?;
        let buffer = draft.find_buffer(buffer).ok_or_else(|| format!("no buffer `{buffer}`"))?;
        stores.push(Stmt::Store { buffer, cell, offset: [0; 3], values: vec![value] });
    }
    out.extend(stores);
    let inside = own.iter().enumerate().map(|(axis, var)| Condition {
        left: Index::Var(*var),
        relation: Relation::Less,
        right: Index::Size(axis) + Index::Const(extend[axis]),
    });
    Ok(vec![Stmt::If { conditions: inside.collect(), body: out }])
}
