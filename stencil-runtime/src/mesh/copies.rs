//! Ghost cells as data: boxes of them, each with the patch that they are filled from and the faces whose rules act.

use super::{Mesh, Patch, Patches, Side};

/// Ghost cells of a patch that are filled from the cells of one patch in one way.
///
/// Cell `c` of the box is filled from cell `c + shift` of the patch `from`, along each axis that crosses no face of
/// the mesh. Along an axis that does, `c + shift` lies beyond the cells of `from`, and the rule of the face gives the
/// cell of `from`. Rules act in the order x, y, z: each acts on the results of those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyBox {
    /// The patch whose ghost cells these are, by its place in the list.
    pub(crate) to: usize,
    /// The patch with the cells that they are filled from.
    pub(crate) from: usize,
    /// The first of them, counted from the first cell of `to`.
    pub(crate) lo: [isize; 3],
    /// Number of cells along each axis.
    pub(crate) size: [usize; 3],
    /// Difference from cells of `to` to those of `from`.
    pub(crate) shift: [isize; 3],
    /// The face of the mesh that they lie beyond, along each axis.
    pub(crate) faces: [Option<Side>; 3],
}

impl CopyBox {
    /// Is another box a part of this one, if this has all lines of its patch across an axis?
    fn has(&self, of: &CopyBox, axis: usize) -> bool {
        let along = |of: &CopyBox| (of.to, of.from, of.lo[axis], of.size[axis], of.shift[axis]);
        along(self) == along(of) && of.faces[axis].is_none()
    }
}

/// The patches of a mesh, and the ends that are joined.
#[derive(Clone, Debug)]
pub(crate) struct Neighbours {
    /// All patches: together they have each cell of the mesh once.
    pub(crate) patches: Vec<Patch>,
    /// Cells of the mesh.
    pub(crate) cells: [usize; 3],
    /// Axes whose ends are joined.
    pub(crate) periodic: [bool; 3],
}

/// Cells along one axis of a patch: its own, or ghost cells on one side.
#[derive(Clone, Copy, Debug)]
struct Span {
    lo: isize,
    size: usize,
    is_own: bool,
    face: Option<Side>,
}

impl Neighbours {
    /// Cuts a mesh into patches.
    pub(crate) fn new(patches: &Patches, mesh: &Mesh, periodic: [bool; 3]) -> Self {
        Neighbours { patches: patches.list(), cells: mesh.cells, periodic }
    }

    /// Are both patches of a box in the memory of one device?
    pub(crate) fn is_local(&self, of: &CopyBox) -> bool {
        self.patches[of.to].owner == self.patches[of.from].owner
    }

    /// Returns the boxes of ghost cells of a patch, so many deep; each ghost cell is in one of them.
    pub(crate) fn boxes(&self, to: usize, depth: [usize; 3]) -> Vec<CopyBox> {
        let [xs, ys, zs] = [0, 1, 2].map(|axis| self.spans(to, axis, depth[axis]));
        let mut boxes = Vec::new();
        for z in &zs {
            for y in &ys {
                for x in &xs {
                    let spans = [*x, *y, *z];
                    if !spans.iter().all(|span| span.is_own) {
                        self.of_spans(to, spans, &mut boxes);
                    }
                }
            }
        }
        boxes
    }

    /// Takes from boxes of a patch, so many deep, those that are layers across the last axis which has cells: of all lines of
    /// the patch, their ghost cells included. The layers of one patch go to one box: the patch that they are filled from has
    /// the same ghost cells along the other axes.
    pub(crate) fn take_layers(&self, boxes: &mut Vec<CopyBox>, depth: [usize; 3]) -> Vec<CopyBox> {
        let axis = if self.cells[2] == 1 && depth[2] == 0 { 1 } else { 2 };
        let mut layers: Vec<CopyBox> = Vec::new();
        for of in boxes.iter() {
            let own = &self.patches[of.to];
            let beyond = of.lo[axis] < 0 || of.lo[axis] >= own.cells[axis] as isize;
            let lines = (0..3).filter(|other| *other != axis);
            let is_centre = lines.clone().all(|a| (of.lo[a], of.shift[a]) == (0, 0));
            if !beyond || !is_centre || of.faces[axis].is_some() {
                continue;
            }
            let mut layer = *of;
            for other in lines {
                layer.lo[other] = -(depth[other] as isize);
                layer.size[other] = own.cells[other] + 2 * depth[other];
            }
            let cells = |of: &CopyBox| of.size.iter().product::<usize>();
            let parts = boxes.iter().filter(|of| layer.has(of, axis));
            if parts.map(cells).sum::<usize>() == cells(&layer) {
                layers.push(layer);
            }
        }
        boxes.retain(|of| !layers.iter().any(|layer| layer.has(of, axis)));
        layers
    }

    fn spans(&self, to: usize, axis: usize, depth: usize) -> Vec<Span> {
        let (patch, depth) = (&self.patches[to], depth as isize);
        let (lo, n) = (patch.lo[axis] as isize, patch.cells[axis] as isize);
        let all = self.cells[axis] as isize;
        let span = |from: isize, to: isize, face| Span {
            lo: from,
            size: (to - from).max(0) as usize,
            is_own: from == 0 && to == n,
            face,
        };
        // The ends of the mesh, counted from the patch.
        let (first, end) = match self.periodic[axis] {
            true => (isize::MIN / 2, isize::MAX / 2),
            false => (-lo, all - lo),
        };
        let spans = [
            span(-depth, first.min(0), Some(Side::Lo)),
            span(first.max(-depth), 0, None),
            span(0, n, None),
            span(n, end.min(n + depth), None),
            span(end.max(n), n + depth, Some(Side::Hi)),
        ];
        spans.into_iter().filter(|span| span.size > 0).collect()
    }

    /// Adds the boxes that are so long along each axis: one for each patch, and each time that it is met
    /// around the ends, that has cells there.
    fn of_spans(&self, to: usize, spans: [Span; 3], boxes: &mut Vec<CopyBox>) {
        for (from, patch) in self.patches.iter().enumerate() {
            let [xs, ys, zs] = [0, 1, 2].map(|axis| self.overlaps(to, patch, axis, spans[axis]));
            for z in &zs {
                for y in &ys {
                    for x in &xs {
                        let along = [x, y, z];
                        boxes.push(CopyBox {
                            to,
                            from,
                            lo: along.map(|along| along.0),
                            size: along.map(|along| along.1),
                            shift: along.map(|along| along.2),
                            faces: spans.map(|span| span.face),
                        });
                    }
                }
            }
        }
    }

    /// Returns the parts of a span that follow a patch along an axis: first cell, length and shift of each.
    fn overlaps(
        &self,
        to: usize,
        from: &Patch,
        axis: usize,
        span: Span,
    ) -> Vec<(isize, usize, isize)> {
        let own = &self.patches[to];
        if let Some(side) = span.face {
            let shift = own.lo[axis] as isize - from.lo[axis] as isize;
            let touches = from.touches(axis, side, self.cells);
            return Vec::from_iter(touches.then_some((span.lo, span.size, shift)));
        }
        let (all, size) = (self.cells[axis] as isize, span.size as isize);
        // The first cell of `from`, counted from `to`, in the mesh itself.
        let begin = from.lo[axis] as isize - own.lo[axis] as isize;
        let end = begin + from.cells[axis] as isize;
        let images = match self.periodic[axis] {
            true => {
                (span.lo - end + 1).div_euclid(all)..=(span.lo + size - 1 - begin).div_euclid(all)
            }
            false => 0..=0,
        };
        let part = |image: isize| {
            let first = span.lo.max(begin + image * all);
            let last = (span.lo + size).min(end + image * all);
            (first < last).then_some((first, (last - first) as usize, -(begin + image * all)))
        };
        images.filter_map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each ghost cell is in one box, which leads to the cell of the mesh that it stands for.
    fn check(neighbours: &Neighbours, depth: [usize; 3]) {
        let cells = neighbours.cells.map(|n| n as isize);
        for (to, own) in neighbours.patches.iter().enumerate() {
            let mut seen = std::collections::BTreeSet::new();
            for of in neighbours.boxes(to, depth) {
                let from = &neighbours.patches[of.from];
                let count: usize = of.size.iter().product();
                for i in 0..count {
                    let at =
                        [i % of.size[0], i / of.size[0] % of.size[1], i / of.size[0] / of.size[1]];
                    let cell: [isize; 3] = std::array::from_fn(|a| of.lo[a] + at[a] as isize);
                    assert!(seen.insert(cell), "{cell:?} twice");
                    for axis in 0..3 {
                        let global = own.lo[axis] as isize + cell[axis];
                        let local = cell[axis] + of.shift[axis];
                        let n = from.cells[axis] as isize;
                        match of.faces[axis] {
                            None => {
                                assert!((0..n).contains(&local), "{of:?}");
                                let there = from.lo[axis] as isize + local;
                                assert_eq!(there, global.rem_euclid(cells[axis]), "{of:?}");
                            }
                            Some(Side::Lo) => {
                                assert_eq!((from.lo[axis], local), (0, global));
                            }
                            Some(Side::Hi) => assert_eq!(local - n, global - cells[axis]),
                        }
                        let beyond = !(0..cells[axis]).contains(&global);
                        let by_rule = beyond && !neighbours.periodic[axis];
                        assert_eq!(of.faces[axis].is_some(), by_rule);
                    }
                }
            }
            let whole: usize = (0..3).map(|a| own.cells[a] + 2 * depth[a]).product();
            assert_eq!(seen.len(), whole - own.cells.iter().product::<usize>());
        }
    }

    #[test]
    fn boxes_cover_each_ghost_cell_once_and_lead_to_its_cell() {
        for periodic in [[true; 3], [false; 3], [true, false, true], [false, true, false]] {
            for (counts, cells) in [
                ([1, 1, 1], [4, 3, 2]),
                ([3, 1, 1], [6, 1, 1]),
                ([2, 3, 1], [8, 3, 3]),
                ([2, 2, 2], [6, 6, 6]),
                // Patches that differ.
                ([3, 1, 1], [7, 1, 1]),
                ([2, 3, 2], [3, 4, 5]),
            ] {
                let patches = Patches { counts, mesh: cells, devices: 1 };
                let neighbours = Neighbours { patches: patches.list(), cells, periodic };
                // Deeper than a patch, and than the mesh.
                check(&neighbours, [3, 2, 1]);
                check(&neighbours, [5, 0, 4]);
            }
        }
    }

    /// Layers have the values that all their parts have.
    #[test]
    fn layers_are_those_of_the_patch_behind_the_cut() {
        for periodic in [[true; 3], [false; 3], [true, false, true], [false, true, false]] {
            for (counts, cells, depth, taken) in [
                ([1, 1, 3], [4, 3, 9], [3, 2, 1], 6),
                ([1, 1, 2], [4, 3, 5], [0, 0, 2], 4),
                ([1, 2, 1], [6, 4, 1], [2, 2, 0], 4),
                // Patches beside each other: layers end at their corners.
                ([2, 1, 2], [8, 3, 6], [1, 1, 1], 0),
                ([2, 1, 2], [8, 3, 6], [0, 0, 1], 8),
                ([2, 1, 1], [8, 3, 6], [1, 1, 1], 0),
            ] {
                let patches = Patches { counts, mesh: cells, devices: patches_in(counts) };
                let neighbours = Neighbours { patches: patches.list(), cells, periodic };
                let axis = if cells[2] == 1 { 1 } else { 2 };
                let faces = if periodic[axis] { 0 } else { 2 * taken / (2 * counts[axis]) };
                let mut count = 0;
                for to in 0..patches.count() {
                    let all = neighbours.boxes(to, depth);
                    let mut left: Vec<CopyBox> =
                        all.iter().filter(|of| !neighbours.is_local(of)).copied().collect();
                    let before = left.len();
                    let layers = neighbours.take_layers(&mut left, depth);
                    count += layers.len();
                    let cells = |of: &CopyBox| of.size.iter().product::<usize>();
                    let others = all.iter().filter(|of| !neighbours.is_local(of));
                    let sum: usize = layers.iter().chain(&left).map(cells).sum();
                    assert_eq!(others.map(cells).sum::<usize>(), sum);
                    assert!(layers.is_empty() || left.len() < before);
                }
                assert_eq!(count, taken - faces, "{counts:?} {periodic:?}");
            }
        }
    }

    fn patches_in(counts: [usize; 3]) -> usize {
        counts.iter().product()
    }

    #[test]
    fn patches_may_differ() {
        let patch = |lo, cells| Patch { lo, cells, owner: 0 };
        let patches = vec![
            patch([0, 0, 0], [3, 4, 1]),
            patch([3, 0, 0], [5, 1, 1]),
            patch([3, 1, 0], [5, 3, 1]),
        ];
        for periodic in [[true; 3], [false; 3]] {
            let neighbours = Neighbours { patches: patches.clone(), cells: [8, 4, 1], periodic };
            check(&neighbours, [2, 1, 0]);
        }
    }
}
