//! Graphs in columns, from left to right: a reader stands to the right of its sources. Long edges run
//! between the boxes of the columns that they cross (Sugiyama, Tagawa and Toda 1981).

use std::collections::BTreeMap;

use stencil_runtime::plot::Point;

/// Between two columns.
const ACROSS: f32 = 62.0;

/// Between two boxes of a column, and beside a line that passes between them.
const BETWEEN: f32 = 20.0;

/// Rounds in which boxes find their order and then their height.
const ROUNDS: usize = 24;

/// Boxes in their places, and lines between them.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Left upper corners, in the order of the nodes.
    pub(super) places: Vec<Point>,
    /// Lines from the right of a box to the left of another, and the node that each comes from.
    pub(super) lines: Vec<(usize, Vec<Point>)>,
    /// Ends of lines at boxes, and the node that each comes from.
    pub(super) ends: Vec<(usize, Point)>,
    /// Width and height of all.
    pub(super) size: (f32, f32),
}

/// A box or a place where a line passes a column.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The node that it is, or that the line comes from.
    node: usize,
    column: usize,
    size: (f32, f32),
    is_box: bool,
    middle: f32,
}

/// Lays out nodes of these sizes. Edges go from a node to a later one; others are left out.
pub(super) fn layout(sizes: &[(f32, f32)], edges: &[(usize, usize)]) -> Layout {
    let mut columns = vec![0; sizes.len()];
    let mut forward: Vec<(usize, usize)> = edges.iter().copied().filter(|(a, b)| a < b).collect();
    forward.sort_unstable();
    forward.dedup();
    for node in 0..sizes.len() {
        let before = forward.iter().filter(|(_, b)| *b == node);
        let before = before.map(|(a, _)| columns[*a] + 1).max();
        columns[node] = before.unwrap_or(0);
    }
    let (mut slots, links) = slots(sizes, &columns, &forward);
    let number = columns.iter().max().map_or(0, |last| last + 1);
    let mut order: Vec<Vec<usize>> = (0..number)
        .map(|column| (0..slots.len()).filter(|s| slots[*s].column == column).collect())
        .collect();
    arrange(&mut slots, &mut order, &links);
    placed(sizes.len(), &slots, &order, &links)
}

/// Boxes, and for each node places in the columns that its lines cross; and links between neighbours.
fn slots(
    sizes: &[(f32, f32)],
    columns: &[usize],
    edges: &[(usize, usize)],
) -> (Vec<Slot>, Vec<(usize, usize)>) {
    let mut slots: Vec<Slot> = (0..sizes.len())
        .map(|node| Slot {
            node,
            column: columns[node],
            size: sizes[node],
            is_box: true,
            middle: 0.0,
        })
        .collect();
    let mut passing: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut links = Vec::new();
    for (from, to) in edges {
        let mut last = *from;
        for column in columns[*from] + 1..columns[*to] {
            let slot = *passing.entry((*from, column)).or_insert_with(|| {
                slots.push(Slot {
                    node: *from,
                    column,
                    size: (0.0, 2.0),
                    is_box: false,
                    middle: 0.0,
                });
                slots.len() - 1
            });
            links.push((last, slot));
            last = slot;
        }
        links.push((last, *to));
    }
    links.sort_unstable();
    links.dedup();
    (slots, links)
}

/// Orders each column by the middles of what it is linked with, then moves it towards them.
fn arrange(slots: &mut [Slot], order: &mut [Vec<usize>], links: &[(usize, usize)]) {
    for column in order.iter() {
        stack(slots, column, None);
    }
    let mean = |slots: &[Slot], slot: usize, before: bool, behind: bool| {
        let others = links.iter().filter_map(|(a, b)| match () {
            () if before && *b == slot => Some(slots[*a].middle),
            () if behind && *a == slot => Some(slots[*b].middle),
            () => None,
        });
        let others: Vec<f32> = others.collect();
        match others.len() {
            0 => slots[slot].middle,
            n => others.iter().sum::<f32>() / n as f32,
        }
    };
    for round in 0..2 * ROUNDS {
        let forward = round % 2 == 0;
        let sorting = round < ROUNDS;
        let number = order.len();
        for at in 0..number {
            let at = if forward { at } else { number - 1 - at };
            let (before, behind) = match sorting {
                true => (forward, !forward),
                false => (true, true),
            };
            let wanted: Vec<(usize, f32)> =
                order[at].iter().map(|slot| (*slot, mean(slots, *slot, before, behind))).collect();
            let mut wanted = wanted;
            if sorting {
                wanted.sort_by(|a, b| a.1.total_cmp(&b.1));
                order[at] = wanted.iter().map(|(slot, _)| *slot).collect();
            }
            let middles: Vec<f32> = wanted.iter().map(|(_, middle)| *middle).collect();
            stack(slots, &order[at], Some(&middles));
        }
    }
}

/// Puts a column below each other without touching, in its order and as near to the wanted middles as it
/// allows, or around zero: the least sum of squares, by pooling neighbours that would touch.
fn stack(slots: &mut [Slot], column: &[usize], wanted: Option<&[f32]>) {
    let mut offset = 0.0;
    let mut pools: Vec<(f32, usize)> = Vec::new();
    let mut offsets = Vec::new();
    for (at, slot) in column.iter().enumerate() {
        let half = slots[*slot].size.1 / 2.0;
        offset += if at > 0 { half + BETWEEN } else { 0.0 };
        offsets.push(offset);
        let mut pool = (wanted.map_or(0.0, |w| w[at]) - offset, 1);
        while let Some(before) = pools.pop_if(|before| before.0 > pool.0) {
            let count = before.1 + pool.1;
            let sum = before.0 * before.1 as f32 + pool.0 * pool.1 as f32;
            pool = (sum / count as f32, count);
        }
        pools.push(pool);
        offset += half;
    }
    let middles = pools.into_iter().flat_map(|(middle, count)| std::iter::repeat_n(middle, count));
    for ((slot, offset), middle) in column.iter().zip(offsets).zip(middles) {
        slots[*slot].middle = middle + offset;
    }
}

fn placed(nodes: usize, slots: &[Slot], order: &[Vec<usize>], links: &[(usize, usize)]) -> Layout {
    let top = |slot: &Slot| slot.middle - slot.size.1 / 2.0;
    let highest = slots.iter().map(top).fold(f32::INFINITY, f32::min);
    let lowest = slots.iter().map(|slot| slot.middle + slot.size.1 / 2.0);
    let lowest = lowest.fold(highest, f32::max);
    let mut lefts = Vec::new();
    let mut x = 0.0;
    for column in order {
        let widest = column.iter().map(|slot| slots[*slot].size.0).fold(0.0, f32::max);
        lefts.push((x, widest));
        x += widest + ACROSS;
    }
    let left = |slot: &Slot| {
        let (x, widest) = lefts[slot.column];
        match slot.is_box {
            true => x + (widest - slot.size.0) / 2.0,
            false => x,
        }
    };
    let right = |slot: &Slot| match slot.is_box {
        true => left(slot) + slot.size.0,
        false => left(slot) + lefts[slot.column].1,
    };
    let mut layout =
        Layout { size: ((x - ACROSS).max(0.0), (lowest - highest).max(0.0)), ..Layout::default() };
    let boxes = slots.iter().take(nodes);
    layout.places = boxes.map(|slot| (left(slot), top(slot) - highest)).collect();
    for (a, b) in links {
        let (from, to) = (&slots[*a], &slots[*b]);
        let begin = (right(from), from.middle - highest);
        let end = (left(to), to.middle - highest);
        let mut line = curve(begin, end);
        if to.is_box {
            layout.ends.push((from.node, end));
        } else {
            // Straight through the column.
            line.push((right(to), end.1));
        }
        layout.lines.push((from.node, line));
    }
    layout
}

/// A curve that leaves and arrives level.
fn curve(a: Point, b: Point) -> Vec<Point> {
    let reach = (b.0 - a.0) * 0.5;
    (0..=20)
        .map(|k| {
            let t = k as f32 / 20.0;
            let s = 1.0 - t;
            let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
            let xs = [a.0, a.0 + reach, b.0 - reach, b.0];
            let ys = [a.1, a.1, b.1, b.1];
            let mix = |of: [f32; 4]| weights.iter().zip(of).map(|(w, v)| w * v).sum::<f32>();
            (mix(xs), mix(ys))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_do_not_touch_and_readers_stand_to_the_right() {
        let sizes: Vec<(f32, f32)> = (0..9).map(|k| (60.0 + 10.0 * k as f32, 30.0)).collect();
        let edges = [
            (0, 2),
            (0, 3),
            (1, 3),
            (1, 8),
            (2, 4),
            (3, 4),
            (3, 5),
            (4, 8),
            (5, 6),
            (6, 7),
            (8, 1),
        ];
        let layout = layout(&sizes, &edges);
        let corner = |node: usize| (layout.places[node], sizes[node]);
        for a in 0..9 {
            for b in 0..a {
                let (((ax, ay), (aw, ah)), ((bx, by), (bw, bh))) = (corner(a), corner(b));
                let apart = ax + aw <= bx || bx + bw <= ax || ay + ah <= by || by + bh <= ay;
                assert!(apart, "{a} {b}: {:?}", layout.places);
            }
        }
        for (from, to) in edges.iter().filter(|(a, b)| a < b) {
            assert!(layout.places[*from].0 + sizes[*from].0 < layout.places[*to].0);
        }
        let inside = |(x, y): &Point| {
            (-0.5..=layout.size.0 + 0.5).contains(x) && (-0.5..=layout.size.1 + 0.5).contains(y)
        };
        assert!(layout.lines.iter().flat_map(|(_, line)| line).all(inside));
    }

    #[test]
    fn nothing_and_one_box_are_laid_out() {
        assert_eq!(layout(&[], &[]).size, (0.0, 0.0));
        let one = layout(&[(50.0, 20.0)], &[]);
        assert_eq!((one.size, one.places), ((50.0, 20.0), vec![(0.0, 0.0)]));
    }
}
