//! Rows of a mesh whose patches several ranks have. The rank with the first cell of a row reduces it.

use std::ops::Range;

use crate::Number;
use crate::field::Fields;
use crate::io::Element;
use crate::mesh::Patch;
use crate::transport::{Message, Ranks};

/// The rank of rows that are not wanted.
const NOBODY: usize = usize::MAX;

/// The rows of a mesh, and the ranks that have them. Rows are counted by their place along y, then z.
pub(super) struct SharedRows<'a> {
    ranks: &'a Ranks,
    patches: &'a [Patch],
    cells: [usize; 3],
    /// The rank of the first cell of each row.
    leaders: Vec<usize>,
    /// The rows that this rank has cells of, in their order.
    own: Vec<usize>,
    are_cut: bool,
}

impl<'a> SharedRows<'a> {
    /// Takes the rows that are wanted; others are nobody's.
    pub(super) fn new<T: Number>(fields: &'a Fields<T>, is_wanted: impl Fn(usize) -> bool) -> Self {
        let (ranks, cells) = (&fields.domain.ranks, fields.domain.mesh.cells);
        let patches = fields.neighbours.patches.as_slice();
        let rows_of = |patch: &Patch| {
            let [_, y, z] = patch.lo;
            let planes = z..z + patch.cells[2];
            let rows = y..y + patch.cells[1];
            planes.flat_map(move |z| rows.clone().map(move |y| y + cells[1] * z))
        };
        let count = cells[1] * cells[2];
        if fields.ranks().is_none() {
            let (leaders, own) = (Vec::new(), (0..count).filter(|row| is_wanted(*row)).collect());
            return SharedRows { ranks, patches, cells, leaders, own, are_cut: false };
        }
        let mut leaders = vec![NOBODY; count];
        for patch in patches.iter().filter(|patch| patch.lo[0] == 0) {
            rows_of(patch).filter(|row| is_wanted(*row)).for_each(|row| leaders[row] = patch.owner);
        }
        let mut is_own = vec![false; count];
        for patch in patches.iter().filter(|patch| patch.owner == ranks.rank()) {
            rows_of(patch).for_each(|row| is_own[row] = true);
        }
        let own = (0..count).filter(|row| is_own[*row] && is_wanted(*row)).collect();
        let are_cut = fields.domain.patches.cut()[0];
        SharedRows { ranks, patches, cells, leaders, own, are_cut }
    }

    /// Has a row cells of several ranks?
    pub(super) fn are_cut(&self) -> bool {
        self.are_cut
    }

    /// Returns the rows that this rank has cells of.
    pub(super) fn own(&self) -> &[usize] {
        &self.own
    }

    /// Returns the rows that a rank reduces.
    fn led_by(&self, rank: usize) -> impl Iterator<Item = usize> {
        let all = self.leaders.iter().enumerate();
        all.filter(move |(_, leader)| **leader == rank).map(|(row, _)| row)
    }

    /// Returns the cells of a row that a rank has.
    fn parts(&self, row: usize, rank: usize) -> impl Iterator<Item = Range<usize>> {
        let [y, z] = [row % self.cells[1], row / self.cells[1]];
        let is_there = move |patch: &&Patch| {
            let is_in = |axis: usize, at: usize| {
                (patch.lo[axis]..patch.lo[axis] + patch.cells[axis]).contains(&at)
            };
            patch.owner == rank && is_in(1, y) && is_in(2, z)
        };
        let range = |patch: &Patch| patch.lo[0]..patch.lo[0] + patch.cells[0];
        self.patches.iter().filter(is_there).map(range)
    }

    /// Returns the values of a row in the cells of this rank, function by function.
    pub(super) fn own_part<T: Number>(&self, row: usize, values: &[&[T]]) -> Vec<T> {
        let parts: Vec<Range<usize>> = self.parts(row, self.ranks.rank()).collect();
        let of_function = |values: &&[T]| {
            let parts = parts.iter().map(|part| &values[part.clone()]);
            parts.collect::<Vec<_>>().concat()
        };
        values.iter().flat_map(of_function).collect()
    }

    /// Sends the parts of own rows to the ranks that reduce these. Returns the whole rows that this rank reduces, each
    /// function by function.
    pub(super) fn put_together<T: Number>(
        &self,
        parts: Vec<Vec<T>>,
        functions: usize,
    ) -> Vec<Vec<Vec<T>>> {
        let own = self.ranks.rank();
        let cells = |row: usize, rank: usize| self.parts(row, rank).map(|part| part.len()).sum();
        let message = |peer: usize| {
            let parts = self.own.iter().zip(&parts);
            let parts = parts.filter(|(row, _)| self.leaders[**row] == peer);
            let coming: usize = self.led_by(own).map(|row| -> usize { cells(row, peer) }).sum();
            Message {
                peer,
                bytes: bytes_of(parts.flat_map(|(_, values)| values.iter().copied())),
                coming: coming * functions * T::BYTES,
            }
        };
        let messages: Vec<Message> = (0..self.ranks.count()).map(message).collect();
        let (mut here, mut sent) = (Vec::new(), Vec::new());
        for message in messages {
            match message {
                Message { peer, bytes, .. } if peer == own => here = bytes,
                message if message.bytes.is_empty() && message.coming == 0 => {}
                message => sent.push(message),
            }
        }
        let peers: Vec<usize> = sent.iter().map(|message| message.peer).collect();
        let come = self.ranks.post(sent).wait();
        let all = peers.into_iter().zip(come).chain([(own, here.into_boxed_slice())]);
        let led: Vec<usize> = self.led_by(own).collect();
        let mut rows = vec![vec![vec![T::ZERO; self.cells[0]]; functions]; led.len()];
        for (rank, bytes) in all {
            let mut rest = &bytes[..];
            for (row, values) in led.iter().zip(&mut rows) {
                for values in values {
                    for part in self.parts(*row, rank) {
                        let (first, others) = rest.split_at(part.len() * T::BYTES);
                        T::take(&mut values[part], first);
                        rest = others;
                    }
                }
            }
        }
        rows
    }

    /// Returns the numbers of all rows that are wanted from those that this rank reduces.
    pub(super) fn gather(&self, own: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        if self.leaders.is_empty() {
            return own;
        }
        let bytes = self.ranks.gather(&bytes_of(own.into_iter().flatten()));
        let mut all = vec![Vec::new(); self.leaders.len()];
        for (rank, bytes) in bytes.iter().enumerate() {
            let rows: Vec<usize> = self.led_by(rank).collect();
            let length = bytes.len() / rows.len().max(1);
            for (row, bytes) in rows.into_iter().zip(bytes.chunks(length.max(1))) {
                all[row] = vec![0.0; length / f64::SIZE];
                f64::take(&mut all[row], bytes);
            }
        }
        let rows = all.into_iter().zip(&self.leaders);
        rows.filter(|(_, leader)| **leader != NOBODY).map(|(row, _)| row).collect()
    }
}

fn bytes_of<T: Element>(values: impl Iterator<Item = T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    T::put(&values.collect::<Vec<T>>(), &mut bytes);
    bytes
}
