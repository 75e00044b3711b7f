//! Running a pipeline: threads march through parts of the patch.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use stencil_compiler::algorithm::rows::RowScratch;
use stencil_compiler::plan;

use super::finite::finite;
use super::instructions::Checked;
use super::pipeline::Pipeline;
use super::prepare::{Code, Prepared};
use super::program::{Steps, Work};
use super::row_blocks::{Block, Region, RowBlock};
use super::view::{Extent, Ring, Target, View};
use crate::Number;
use crate::field::{Array, Fields, Shape};

/// Bytes of the rings and rows of a march that should stay in a core's cache.
const CACHE: usize = 512 * 1024;

/// Parts begin on a multiple of this many cells along x.
const UNIT: usize = 64;

/// Planes of a part at least: a part also recomputes planes of its neighbour.
const LEAST: usize = 32;

/// The place of the values of a launch's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feed {
    Array(usize),
    /// The ring of an output of an earlier link.
    Ring(usize, usize),
}

/// A pipeline and how it covers a patch.
#[derive(Debug)]
pub(super) struct March {
    pub(super) pipeline: Pipeline,
    /// The inputs of each link.
    feeds: Vec<Vec<Feed>>,
    /// The extents of the outputs of each link but the last.
    rings: Vec<Vec<Extent>>,
    /// Cells along x that are computed at a time, and rows of a block.
    tile: [usize; 2],
    /// Cells at the ends of a patch that depend on values of other devices.
    rim: [usize; 3],
}

impl March {
    /// Looks names up, and fits rings and rows to the cache. `rim` is that of the last launch; all cells of several launches
    /// together are the rim.
    pub(super) fn new<T: Number>(
        pipeline: Pipeline,
        launches: &[Prepared<T>],
        fields: &Fields<T>,
        rim: [usize; 3],
    ) -> Self {
        let prepared = |link: usize| &launches[pipeline.links[link].launch];
        let count = pipeline.links.len();
        let made_by = |input: &usize, before: usize| {
            (0..before).find_map(|link| {
                let output = prepared(link).outputs.iter().position(|o| o == input)?;
                Some(Feed::Ring(link, output))
            })
        };
        let feeds = |link: usize| {
            let inputs = prepared(link).inputs.iter();
            let feed = |input: &usize| made_by(input, link).unwrap_or(Feed::Array(*input));
            inputs.map(feed).collect::<Vec<_>>()
        };
        let mut march = March {
            feeds: (0..count).map(feeds).collect(),
            rings: Vec::new(),
            tile: [fields.shape().cells[0], 1],
            rim: if pipeline.links.len() == 1 { rim } else { [usize::MAX; 3] },
            pipeline,
        };
        march.settle(launches, fields);
        march
    }

    fn is_single(&self) -> bool {
        self.pipeline.links.len() == 1
    }

    /// Chooses the tile and the rings for it.
    fn settle<T: Number>(&mut self, launches: &[Prepared<T>], fields: &Fields<T>) {
        let cells = fields.shape().cells;
        let along_y = self.pipeline.axis == 1;
        if self.is_single() {
            let launch = &launches[self.pipeline.links[0].launch];
            self.tile = [cells[0] + 2 * launch.extend[0], launch.rows];
            return;
        }
        let bytes = self.planes(launches) * T::BYTES;
        let fitting = |most: usize, bytes: usize| (CACHE / bytes.max(1)).min(most);
        if along_y {
            let fits = fitting(cells[0], bytes) / UNIT * UNIT;
            // Parts of nearly equal length.
            let parts = cells[0].div_ceil(fits.max(2 * UNIT));
            self.tile[0] = cells[0].div_ceil(parts).next_multiple_of(UNIT);
        } else {
            self.tile[0] = cells[0].next_multiple_of(UNIT).min(1024);
            let rim = self.reach(1, |low, high| high - low).max(0) as usize;
            let fits = fitting(cells[1] + rim, bytes * self.tile[0]);
            self.tile[1] = fits.saturating_sub(rim).clamp(4, 64).min(cells[1]);
        }
        let links = &self.pipeline.links[..self.pipeline.links.len() - 1];
        let rings = links.iter().map(|link| {
            let wide = |axis: usize| (link.high[axis] - link.low[axis]) as usize;
            let before = |axis: usize| (-link.low[axis]).max(0) as usize;
            let window = |output: &usize| {
                let name = fields.buffers.name(*output);
                link.windows.get(name).copied().unwrap_or(1)
            };
            let ring = |output: &usize| Extent {
                before: [before(0), before(1)],
                size: [self.tile[0] + wide(0), self.tile[1] + wide(1)],
                window: window(output),
                along_y,
            };
            launches[link.launch].outputs.iter().map(ring).collect()
        });
        self.rings = rings.collect();
    }

    /// Returns the number of planes of all inputs and outputs that an iteration touches.
    fn planes<T>(&self, launches: &[Prepared<T>]) -> usize {
        let mut fields: BTreeMap<&String, usize> = BTreeMap::new();
        let mut planes = 0;
        for link in &self.pipeline.links {
            for (name, read) in &link.reads {
                let known = fields.entry(name).or_default();
                *known = (*known).max(*read);
            }
            let written = launches[link.launch].outputs.len() - link.windows.len();
            planes += written + link.windows.values().sum::<usize>();
        }
        planes + fields.into_values().sum::<usize>()
    }

    /// Returns the largest value of a function of the cells that links compute along an axis.
    fn reach(&self, axis: usize, of: impl Fn(isize, isize) -> isize) -> isize {
        let links = self.pipeline.links.iter();
        let all = links.map(|link| of(link.low[axis], link.high[axis]));
        all.max().unwrap_or(0)
    }

    /// Runs all links on a part of the arrays of a patch; `false` if a new value of a field is not finite, or larger than
    /// `most`.
    pub(super) fn run<T: Number>(
        &self,
        part: plan::Region,
        launches: &[Prepared<T>],
        (shape, arrays): (&Shape, &mut [Array<T>]),
        (instructions, most): (Checked, T),
    ) -> bool {
        let links = &self.pipeline.links;
        let all: Vec<&Prepared<T>> = links.iter().map(|s| &launches[s.launch]).collect();
        let Some(last) = all.last() else {
            return true;
        };
        // Output arrays leave the list meanwhile, so that the others can be shared.
        let taken = last.outputs.iter().map(|i| std::mem::take(&mut arrays[*i]));
        let mut written: Vec<Array<T>> = taken.collect();
        let region = Region { shape, extend: last.extend, rows: self.tile[1] };
        let marching = Marching::new(self, &all, arrays, region, (instructions, most));
        let mut blocks = region.cut(written.iter_mut().map(Array::values_mut).collect());
        match part {
            plan::Region::Whole => {}
            plan::Region::Interior => blocks.retain(|block| !region.is_rim(block, self.rim)),
            plan::Region::Rim => blocks.retain(|block| region.is_rim(block, self.rim)),
        }
        let [line, length] = self.lines(blocks.len(), &region);
        let lines = blocks.par_chunks_mut(line);
        let lines = lines.flat_map(|line| line.par_chunks_mut(length));
        let worker = || Worker::new(self, &all);
        let run = |worker: &mut Worker<T>, line: &mut [Block<'_, T>]| marching.run(worker, line);
        let finite = lines.map_init(worker, run).reduce(|| true, |a, b| a & b);
        for ((i, mut array), ends) in last.outputs.iter().zip(written).zip(&last.ends) {
            array.ends = if ends.is_some() { shape.halo[0] } else { 0 };
            arrays[*i] = array;
        }
        finite
    }

    /// Returns how many of so many blocks follow each other along the march, and how many of these a thread marches
    /// through: few enough for all threads.
    fn lines(&self, blocks: usize, region: &Region<'_>) -> [usize; 2] {
        if self.is_single() || blocks == 0 {
            return [blocks.max(1), 1];
        }
        let line = match self.pipeline.axis {
            1 => blocks,
            _ => region.size(2),
        };
        let threads = rayon::current_num_threads();
        let parts = match threads {
            1 => 1,
            _ => (4 * threads).div_ceil(blocks / line),
        };
        [line, line.div_ceil(parts).max(LEAST)]
    }
}

/// Memory of one thread.
struct Worker<T> {
    /// The rings of each link but the last.
    rings: Vec<Vec<Ring<T>>>,
    /// The scratch memory of each link that the row engine computes.
    scratches: Vec<Option<RowScratch<T>>>,
}

impl<T: Number> Worker<T> {
    fn new(march: &March, launches: &[&Prepared<T>]) -> Self {
        let rings = |extents: &Vec<Extent>| extents.iter().map(|e| Ring::new(*e)).collect();
        let scratch = |launch: &&Prepared<T>| match &launch.code {
            Code::Rows(program) => Some(program.scratch(&launch.uniforms)),
            Code::Compiled { .. } => None,
        };
        Worker {
            rings: march.rings.iter().map(rings).collect(),
            scratches: launches.iter().map(scratch).collect(),
        }
    }
}

/// A march in progress.
struct Marching<'a, T> {
    march: &'a March,
    /// The launch of each link.
    launches: &'a [&'a Prepared<T>],
    arrays: &'a [Array<T>],
    /// The inputs of each link, if they are arrays alone.
    views: Vec<Option<Vec<View<'a, T>>>>,
    region: Region<'a>,
    /// Cells along x that are computed at a time, and the steps of each link.
    parts: Vec<(Range<isize>, Vec<Steps>)>,
    instructions: Checked,
    /// The largest size of a new value of a field.
    most: T,
}

/// The cells that a link computes at a time.
#[derive(Clone, Copy)]
struct Cells<'a> {
    first: [isize; 3],
    rows: usize,
    length: usize,
    steps: &'a Steps,
}

impl<'a, T: Number> Marching<'a, T> {
    fn new(
        march: &'a March,
        launches: &'a [&'a Prepared<T>],
        arrays: &'a [Array<T>],
        region: Region<'a>,
        (instructions, most): (Checked, T),
    ) -> Self {
        let view = |feed: &Feed| match *feed {
            Feed::Array(at) => Some(View::whole(arrays[at].values(), region.shape.layout)),
            Feed::Ring(..) => None,
        };
        let views = march.feeds.iter();
        let views = views.map(|feeds| feeds.iter().map(view).collect());
        let start = -(region.extend[0] as isize);
        let end = start + region.size(0) as isize;
        let parts = (start..end).step_by(march.tile[0]).map(|x| {
            let x = x..(x + march.tile[0] as isize).min(end);
            let steps = march.pipeline.links.iter().map(|link| {
                let cells = link.cells(&x);
                // Cells at multiples of the number of lanes begin at aligned memory.
                let skew = (-cells.start).rem_euclid(UNIT as isize) as usize;
                let length = cells.end.abs_diff(cells.start);
                Steps::new::<T>(instructions, length, skew)
            });
            let steps = steps.collect();
            (x, steps)
        });
        Marching {
            march,
            launches,
            arrays,
            views: views.collect(),
            region,
            parts: parts.collect(),
            instructions,
            most,
        }
    }

    /// Computes blocks that follow each other along the march; `false` if a new value of a field is
    /// not finite.
    fn run(&self, worker: &mut Worker<T>, blocks: &mut [Block<'_, T>]) -> bool {
        let mut finite = true;
        for part in 0..self.parts.len() {
            finite &= self.strip(worker, blocks, part);
        }
        finite
    }

    /// Computes some cells of each row of all blocks.
    fn strip(&self, worker: &mut Worker<T>, blocks: &mut [Block<'_, T>], part: usize) -> bool {
        let (axis, links) = (self.march.pipeline.axis, &self.march.pipeline.links);
        let (x, steps) = &self.parts[part];
        let is_last = part + 1 == self.parts.len();
        let first = blocks[0].first;
        let rings = worker.rings.iter_mut().flatten();
        rings.for_each(|ring| ring.begin(x.start, first[1]));
        let last = links.len() - 1;
        let lead = self.march.reach(axis, |low, high| high - low);
        let mut finite = true;
        for p in -lead..blocks.len() as isize {
            for (s, link) in links[..last].iter().enumerate() {
                if p + link.high[axis] < link.low[axis] {
                    continue;
                }
                let along = link.cells(x);
                let mut cell = [along.start, first[1], first[2]];
                let mut rows = 1;
                if axis == 2 {
                    cell[1] += link.low[1];
                    rows = blocks[0].rows + (link.high[1] - link.low[1]) as usize;
                }
                cell[axis] = first[axis] + p + link.high[axis];
                let cells = Cells {
                    first: cell,
                    rows,
                    length: along.end.abs_diff(along.start),
                    steps: &steps[s],
                };
                self.store(worker, s, cells);
            }
            if p >= 0 {
                let block = &mut blocks[p as usize];
                self.update(worker, block, x.clone(), &steps[last]);
                finite &= !is_last || self.finish(block);
            }
        }
        finite
    }

    /// Computes the stored functions of a link.
    fn store(&self, worker: &mut Worker<T>, link: usize, cells: Cells<'_>) {
        let (before, own) = worker.rings.split_at_mut(link);
        let targets = own[0].iter_mut().map(|ring| ring.target(cells.first));
        let scratch = &mut worker.scratches[link];
        self.compute(link, before, scratch, cells, targets.collect());
    }

    /// Computes new values of a block.
    fn update(
        &self,
        worker: &mut Worker<T>,
        block: &mut Block<'_, T>,
        x: Range<isize>,
        steps: &Steps,
    ) {
        let last = self.launches.len() - 1;
        let layout = self.region.shape.layout;
        let at = self.region.margin() + x.start.abs_diff(block.first[0]);
        let cells = Cells {
            first: [x.start, block.first[1], block.first[2]],
            rows: block.rows,
            length: x.end.abs_diff(x.start),
            steps,
        };
        let targets = block.outputs.iter_mut().map(|values| Target {
            values: &mut values[at..],
            pitch: layout.pitch,
            plane: layout.plane,
        });
        let scratch = &mut worker.scratches[last];
        self.compute(last, &worker.rings, scratch, cells, targets.collect());
    }

    fn compute(
        &self,
        link: usize,
        rings: &[Vec<Ring<T>>],
        scratch: &mut Option<RowScratch<T>>,
        cells: Cells<'_>,
        outputs: Vec<Target<'_, T>>,
    ) {
        let launch = self.launches[link];
        let layout = self.region.shape.layout;
        let view = |feed: &Feed| match *feed {
            Feed::Array(at) => View::whole(self.arrays[at].values(), layout),
            Feed::Ring(link, output) => rings[link][output].view(),
        };
        let views: Vec<View<'_, T>>;
        let inputs = match &self.views[link] {
            Some(views) => views,
            None => {
                views = self.march.feeds[link].iter().map(view).collect();
                &views
            }
        };
        let part = RowBlock {
            first: cells.first,
            rows: cells.rows,
            length: cells.length,
            inputs,
            outputs,
            uniforms: &launch.uniforms,
            steps: cells.steps,
            looks_ahead: self.march.is_single() && self.region.shape.cells[2] > 1,
        };
        match (&launch.code, scratch) {
            (Code::Compiled { entry, arrays, .. }, _) => {
                entry.run(self.instructions, Work { arrays }, part);
            }
            (Code::Rows(program), Some(scratch)) => {
                T::rows(self.instructions, program, scratch, part);
            }
            (Code::Rows(_), None) => {}
        }
    }

    /// Finishes a block while it is in the cache: fills the ends of its rows. Are the new values of fields finite? Cells
    /// beyond the patch are not looked at: other devices have them, or faces of the mesh lie before them.
    fn finish(&self, block: &mut Block<'_, T>) -> bool {
        let launch = self.launches[self.launches.len() - 1];
        let (pitch, margin) = (self.region.shape.layout.pitch, self.region.margin());
        let length = self.region.size(0);
        for (values, ends) in block.outputs.iter_mut().zip(&launch.ends) {
            if let Some(ends) = ends {
                for row in values.chunks_mut(pitch) {
                    // Only sides with constants are here, so the filling cannot fail.
                    let _ = ends.fill(&mut row[..length + 2 * margin]);
                }
            }
        }
        let Some([first, rows]) = self.region.own_rows(block) else {
            return true;
        };
        let fields = launch.fields.iter();
        let values = fields.filter_map(|at| block.outputs.get(*at));
        let begin = first * pitch + margin + self.region.extend[0];
        let length = self.region.shape.cells[0];
        let mut own = values.map(|values| &values[begin..][..(rows - 1) * pitch + length]);
        own.all(|rows| finite(self.instructions, (rows, self.most), length, pitch))
    }
}

#[cfg(test)]
mod tests;
