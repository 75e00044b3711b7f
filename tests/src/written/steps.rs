//! Runge-Kutta methods as Butcher's tableaus.

use super::wide::Wide;

/// Stages `y_i = f + dt sum_j a_ij k_j` at `t + c_i dt`, and `f + dt sum_i b_i k_i`.
pub(super) struct Tableau {
    pub(super) a: Vec<Vec<Wide>>,
    pub(super) b: Vec<Wide>,
}

impl Tableau {
    fn of(a: &[&[(i128, i128)]], b: &[(i128, i128)]) -> Self {
        let row = |row: &[(i128, i128)]| row.iter().map(|(n, d)| Wide::ratio(*n, *d)).collect();
        Tableau { a: a.iter().map(|of| row(of)).collect(), b: row(b) }
    }

    /// Returns the tableau of a method in 2N storage, `w = A w + k; f = f + B dt w` (J. H. Williamson, J. Comput. Phys.
    /// 35, 48, 1980): each row sums the shares of each `k` in each `w`.
    fn of_two_n(pairs: &[[(i128, i128); 2]]) -> Self {
        let mut held: Vec<Wide> = Vec::new();
        let mut sums: Vec<Wide> = Vec::new();
        let mut a = Vec::new();
        for [alpha, beta] in pairs {
            a.push(sums.clone());
            let [alpha, beta] = [alpha, beta].map(|(n, d)| Wide::ratio(*n, *d));
            held = held.into_iter().map(|w| alpha * w).collect();
            held.push(Wide::ONE);
            sums.push(Wide::ZERO);
            for (sum, w) in sums.iter_mut().zip(&held) {
                *sum = *sum + beta * *w;
            }
        }
        Tableau { a, b: sums }
    }

    /// Returns the time of a stage, in steps.
    pub(super) fn time(&self, stage: usize) -> Wide {
        self.a[stage].iter().fold(Wide::ZERO, |sum, a| sum + *a)
    }

    /// Returns the method of a scheme, whatever it stores.
    ///
    /// # Panics
    /// If it is unknown.
    pub(super) fn named(name: &str) -> Self {
        let method = METHODS
            .iter()
            .find(|(own, ..)| *own == name.trim_end_matches("<storage = accumulator>"));
        let (.., make) = method.unwrap_or_else(|| panic!("no tableau of `{name}`"));
        make()
    }
}

/// A method: its name, its order and its tableau.
type Method = (&'static str, u32, fn() -> Tableau);

pub(super) const METHODS: &[Method] = &[
    ("euler", 1, || Tableau::of(&[&[]], &[(1, 1)])),
    // Heun's method: C.-W. Shu and S. Osher, J. Comput. Phys. 77, 439 (1988), Eq. 2.16.
    ("ssprk2", 2, || Tableau::of(&[&[], &[(1, 1)]], &[(1, 2), (1, 2)])),
    // The same, Eq. 2.18, which E. Fehlberg's tableau is: S. Gottlieb, D. Ketcheson and C.-W. Shu (2011), section 2.4.
    ("ssprk3", 3, || Tableau::of(&[&[], &[(1, 1)], &[(1, 4), (1, 4)]], &[(1, 6), (1, 6), (2, 3)])),
    // R. J. Spiteri and S. J. Ruuth, SIAM J. Numer. Anal. 40, 469 (2002).
    ("ssprk43", 3, || {
        Tableau::of(
            &[&[], &[(1, 2)], &[(1, 2), (1, 2)], &[(1, 6), (1, 6), (1, 6)]],
            &[(1, 6), (1, 6), (1, 6), (1, 2)],
        )
    }),
    // D. I. Ketcheson, SIAM J. Sci. Comput. 30, 2113 (2008).
    ("ssprk104", 4, || {
        let stage = |i: usize| (0..i).map(move |j| if i >= 5 && j < 5 { (1, 15) } else { (1, 6) });
        let a: Vec<Vec<(i128, i128)>> = (0..10).map(|i| stage(i).collect()).collect();
        let rows: Vec<&[(i128, i128)]> = a.iter().map(Vec::as_slice).collect();
        Tableau::of(&rows, &[(1, 10); 10])
    }),
    // W. Kutta, Z. Math. Phys. 46, 435 (1901).
    ("rk4", 4, || {
        Tableau::of(
            &[&[], &[(1, 2)], &[(0, 1), (1, 2)], &[(0, 1), (0, 1), (1, 1)]],
            &[(1, 6), (1, 3), (1, 3), (1, 6)],
        )
    }),
    // J. H. Williamson, J. Comput. Phys. 35, 48 (1980), case 7, as a tableau.
    ("rk3_williamson", 3, || {
        Tableau::of(&[&[], &[(1, 3)], &[(-3, 16), (15, 16)]], &[(1, 6), (3, 10), (8, 15)])
    }),
    // M. H. Carpenter and C. A. Kennedy, NASA TM 109112 (1994), Table 1, solution 3.
    ("rk4_carpenter_kennedy", 4, || {
        Tableau::of_two_n(&[
            [(0, 1), (1_432_997_174_477, 9_575_080_441_755)],
            [(-567_301_805_773, 1_357_537_059_087), (5_161_836_677_717, 13_612_068_292_357)],
            [(-2_404_267_990_393, 2_016_746_695_238), (1_720_146_321_549, 2_090_206_949_498)],
            [(-3_550_918_686_646, 2_091_501_179_385), (3_134_564_353_537, 4_481_467_310_338)],
            [(-1_275_806_237_668, 842_570_457_699), (2_277_821_191_437, 14_882_151_754_819)],
        ])
    }),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// J. C. Butcher's conditions up to an order, of the trees that two indices and powers of times give.
    #[test]
    fn tableaus_meet_the_conditions_of_their_order() {
        for (name, order, make) in METHODS {
            let tableau = make();
            let stages = tableau.b.len();
            let time = |i: usize| tableau.time(i);
            let weighted = |of: &dyn Fn(usize) -> Wide| {
                (0..stages).fold(Wide::ZERO, |sum, i| sum + tableau.b[i] * of(i))
            };
            let below = |i: usize, of: &dyn Fn(usize) -> Wide| {
                let terms = tableau.a[i].iter().enumerate();
                terms.fold(Wide::ZERO, |sum, (j, a)| sum + *a * of(j))
            };
            let inner = |i: usize| below(i, &time);
            let conditions: [(u32, Wide, i128); 8] = [
                (1, weighted(&|_| Wide::ONE), 1),
                (2, weighted(&time), 2),
                (3, weighted(&|i| time(i).powi(2)), 3),
                (3, weighted(&inner), 6),
                (4, weighted(&|i| time(i).powi(3)), 4),
                (4, weighted(&|i| time(i) * inner(i)), 8),
                (4, weighted(&|i| below(i, &|j| time(j).powi(2))), 12),
                (4, weighted(&|i| below(i, &inner)), 24),
            ];
            // The coefficients of Table 1 have 13 digits.
            let met = |(_, sum, below): &(u32, Wide, i128)| {
                (*sum - Wide::ratio(1, *below)).size() < 1e-11
            };
            let highest = conditions.iter().filter(|condition| !met(condition));
            let highest = highest.map(|(of, ..)| of - 1).min().unwrap_or(4);
            assert_eq!(highest, *order, "{name}");
        }
    }
}
