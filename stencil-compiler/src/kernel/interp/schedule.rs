//! The order of warps, and the times at which copies arrive.

/// A small generator of pseudo-random numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, 0 if that is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % (end.max(1) as u64)) as usize
    }

    pub(super) fn shuffle<A>(&mut self, list: &mut [A]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.below(i + 1));
        }
    }
}

/// The choice among the warps that can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// Always the first of a fixed order: it runs ahead as far as it can, the last one lags.
    Furthest,
    /// Any.
    Any,
    /// Each in turn.
    Turns,
}

/// When complete copies arrive on their barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// When no warp can run without.
    Last,
    /// Now and then.
    Sometime,
    /// At once.
    First,
}

/// The choices of a run, all from its seed.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    pub(super) random: Random,
    order: Order,
    arrival: Arrival,
    ranks: Vec<usize>,
    turn: usize,
}

impl Scheduler {
    pub(super) fn new(seed: u64, warps: usize) -> Self {
        let order = [Order::Furthest, Order::Any, Order::Turns][(seed % 3) as usize];
        let arrival = [Arrival::Last, Arrival::Sometime, Arrival::First][(seed / 3 % 3) as usize];
        Scheduler {
            random: Random::new(seed),
            order,
            arrival,
            ranks: (0..warps).collect(),
            turn: 0,
        }
    }

    /// A new order of warps for a new block.
    pub(super) fn restart(&mut self) {
        self.random.shuffle(&mut self.ranks);
        self.turn = 0;
    }

    /// The warp to run, if any can.
    pub(super) fn choose(&mut self, can_run: impl Fn(usize) -> bool) -> Option<usize> {
        let count = self.ranks.len();
        let start = match self.order {
            Order::Furthest => 0,
            Order::Any => self.random.below(count),
            Order::Turns => self.turn,
        };
        let found = (0..count).map(|i| (start + i) % count).find(|at| can_run(self.ranks[*at]))?;
        self.turn = (found + 1) % count;
        Some(self.ranks[found])
    }

    /// Does one of the waiting arrivals come before the next turn? `stuck`: no warp can run.
    pub(super) fn arrives(&mut self, stuck: bool) -> bool {
        stuck
            || match self.arrival {
                Arrival::Last => false,
                Arrival::Sometime => self.random.below(4) == 0,
                Arrival::First => true,
            }
    }
}
