//! Rules for the length of a step and for the uniforms of its substeps: expressions over numbers, which the host
//! evaluates, or a card by the same operations and so with the same bits.

use stencil_compiler::algorithm::{Algorithm, UniformAtom};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::expr::{Builder, Expr, Op, Ref};
use stencil_compiler::stability::{Axes, Share};

/// A step that would leave less than this share of itself to the end of a run goes to the end.
const SLIVER: f64 = 1e-9;

/// Indices of the numbers that rules read; behind them follow the spacing, the epsilon of the precision, the
/// parameters and the speeds.
pub(crate) mod place {
    /// The time at which the step begins; in a rule of a substep, the time of the substep.
    pub(crate) const T: usize = 0;
    /// The length of the step.
    pub(crate) const DT: usize = 1;
    /// The time at which the run ends.
    pub(crate) const END: usize = 2;
    /// The largest length.
    pub(crate) const MOST: usize = 3;
    /// The Courant number.
    pub(crate) const NUMBER: usize = 4;
    /// The number of these.
    pub(crate) const COUNT: usize = 5;
}

/// A request for a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Asked {
    /// The time at which it begins.
    pub(crate) t: f64,
    /// The time at which the run ends; infinity if it does not.
    pub(crate) end: f64,
    /// The largest length; infinity if there is none.
    pub(crate) most: f64,
    /// The Courant number; any positive one if no speed limits the step.
    pub(crate) number: f64,
}

impl Asked {
    /// Returns the request for a step of a given length.
    pub(crate) fn given(t: f64, dt: f64) -> Self {
        Asked { t, end: f64::INFINITY, most: dt, number: 1.0 }
    }
}

/// A request for several steps whose lengths follow from speeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Several {
    /// The first of them.
    pub(crate) asked: Asked,
    /// The largest Courant number at the end of a step that is accepted; infinity if any is.
    pub(crate) limit: f64,
    /// The number of the first step, from 1.
    pub(crate) first: u64,
    /// The number of steps, at most.
    pub(crate) count: usize,
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Length {
    pub(crate) dt: f64,
    /// The time at which it ends.
    pub(crate) end: f64,
}

/// The rules of a system on a mesh.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// The spacing, the epsilon of the precision and the parameters.
    given: Vec<f64>,
    /// The share of a step that each speed takes.
    shares: Vec<Share>,
    /// The length of the step.
    pub(crate) length: Expr<usize>,
    /// The time at which it ends, for a given length.
    pub(crate) end: Expr<usize>,
    /// The time of each substep.
    pub(crate) times: Vec<Expr<usize>>,
    /// The uniforms of a substep.
    pub(crate) uniforms: Vec<Expr<usize>>,
    /// Does any of them change from substep to substep?
    pub(crate) depend_on_time: bool,
}

impl Rules {
    /// Makes the rules of an algorithm, whose steps are limited by speeds that take these shares of them: see
    /// [`length`].
    pub(crate) fn new(
        algorithm: &Algorithm,
        params: &[f64],
        spacing: [f64; 3],
        (precision, shares): (Precision, Vec<Share>),
    ) -> Self {
        let epsilon = [precision.epsilon()];
        let given = spacing.iter().chain(&epsilon).chain(params);
        let given: Vec<f64> = given.copied().collect();
        let place = |atom: &UniformAtom| match *atom {
            UniformAtom::Spacing(axis) => place::COUNT + axis,
            UniformAtom::Epsilon => place::COUNT + spacing.len(),
            UniformAtom::Param(i) => place::COUNT + spacing.len() + epsilon.len() + i,
            UniformAtom::Dt => place::DT,
            UniformAtom::Time => place::T,
        };
        let uniforms = algorithm.uniforms.iter();
        // Numbers of a card are finite.
        let finite = |share: Share| Share { rate: share.rate.min(f64::MAX), ..share };
        let shares: Vec<Share> = shares.into_iter().map(finite).collect();
        let (length, end) = length(&shares, place::COUNT + given.len());
        Rules {
            length,
            end,
            times: algorithm.substeps.iter().map(|s| time(s.at)).collect(),
            uniforms: uniforms.map(|u| u.value.map_atoms(place)).collect(),
            depend_on_time: algorithm.depends_on_time(),
            shares,
            given,
        }
    }

    /// Returns the number of numbers that the rules read.
    pub(crate) fn count(&self) -> usize {
        self.first_speed() + self.shares.len()
    }

    /// Returns the index of the first speed.
    pub(crate) fn first_speed(&self) -> usize {
        place::COUNT + self.given.len()
    }

    /// Returns the numbers, with the length still zero; missing speeds are zero and limit nothing.
    pub(crate) fn numbers(&self, asked: Asked, speeds: &[f64]) -> Vec<f64> {
        let Asked { t, end, most, number } = asked;
        let mut numbers = vec![t, 0.0, end, most, number];
        numbers.extend(&self.given);
        numbers.extend(speeds);
        numbers.resize(self.count(), 0.0);
        numbers
    }

    /// Returns the length of a step that these speeds limit.
    pub(crate) fn step(&self, asked: Asked, speeds: &[f64]) -> Length {
        let mut numbers = self.numbers(asked, speeds);
        let dt = self.length.eval(|at| numbers[*at]);
        numbers[place::DT] = dt;
        let end = self.end.eval(|at| numbers[*at]);
        Length { dt, end }
    }

    /// Returns the speed that shortens a step most, the first one of equals.
    pub(crate) fn strictest(&self, speeds: &[f64]) -> usize {
        let share = |i: usize| taken(&self.shares[i], i, |at| speeds[at]);
        let stricter = |most, i| if share(i) > share(most) { i } else { most };
        (0..speeds.len()).reduce(stricter).unwrap_or(0)
    }

    /// Returns the share of a step that one of the speeds takes.
    pub(crate) fn share(&self, at: usize) -> Option<&Share> {
        self.shares.get(at)
    }

    /// Returns the uniforms of a substep at the time `t`, in a step of length `dt`.
    pub(crate) fn uniforms_at(&self, t: f64, dt: f64) -> Vec<f64> {
        let mut numbers = self.numbers(Asked::given(t, dt), &[]);
        numbers[place::DT] = dt;
        let all = self.uniforms.iter();
        all.map(|uniform| uniform.eval(|at| numbers[*at])).collect()
    }

    /// Returns the time of a substep of a step.
    pub(crate) fn time(&self, substep: usize, t: f64, dt: f64) -> f64 {
        let value = |at: &usize| if *at == place::T { t } else { dt };
        self.times[substep].eval(value)
    }
}

/// Returns the share of a unit of time that a speed takes, by the operations of [`length`].
fn taken(share: &Share, i: usize, speed: impl Fn(usize) -> f64) -> f64 {
    let product = speed(i) * share.rate;
    match share.over {
        Some(_) if speed(i) == 0.0 => 0.0,
        Some(over) => product * speed(i) / speed(over),
        None => product,
    }
}

/// Returns the Courant number times the largest stable step, `1 / sum over speeds of value * rate`; no more than the
/// largest length, and no further than the end of the run. With it the time at which it ends.
///
/// The rates are those of [`speeds`](stencil_compiler::stability::speeds()): shares of a step for a speed of one. A
/// speed damped by another takes `value^2 * rate / other`. Shares of a speed along each axis are added, or the largest
/// counts.
fn length(shares: &[Share], first: usize) -> (Expr<usize>, Expr<usize>) {
    let mut b = Builder::new();
    let [t, dt, end, most, number] =
        [place::T, place::DT, place::END, place::MOST, place::NUMBER].map(|at| b.atom(at));
    let mut rates = b.lit(0.0);
    let mut begin = 0;
    for along in shares.chunk_by(|a, b| a.of == b.of) {
        let parts: Vec<Ref> =
            (begin..begin + along.len()).map(|i| part(&mut b, &shares[i], i, first)).collect();
        begin += along.len();
        if along.iter().all(|share| share.axes == Axes::Sum) {
            rates = parts.iter().fold(rates, |sum, p| b.op(Op::Add, &[sum, *p]));
        } else {
            let most = parts.into_iter().reduce(|a, c| b.op(Op::Max, &[a, c]));
            rates = most.map_or(rates, |most| b.op(Op::Add, &[rates, most]));
        }
    }
    let limit = b.op(Op::Div, &[number, rates]);
    let whole = b.op(Op::Min, &[limit, most]);
    let left = b.op(Op::Sub, &[end, t]);
    let cut = landing(&mut b, [t, whole, end], [left, whole]);
    let after = b.op(Op::Add, &[t, dt]);
    let at_end = b.op(Op::Sub, &[end, t]);
    // A step that was cut ends at the end, even if the sum is rounded.
    let ends = b.op(Op::Eq, &[dt, at_end, end, after]);
    (b.finish(cut), b.finish(ends))
}

/// Records the share of a unit of time that the speed of this number takes; the speeds begin at `first`.
fn part(b: &mut Builder<usize>, share: &Share, i: usize, first: usize) -> Ref {
    let [value, rate] = [b.atom(first + i), b.lit(share.rate)];
    let part = b.op(Op::Mul, &[value, rate]);
    let Some(over) = share.over else {
        return part;
    };
    let (other, zero) = (b.atom(first + over), b.lit(0.0));
    let square = b.op(Op::Mul, &[part, value]);
    let damped = b.op(Op::Div, &[square, other]);
    b.op(Op::Eq, &[value, zero, zero, damped])
}

/// Records the first of two values if a step of this length lands at the end of the run, or nearly so.
fn landing(b: &mut Builder<usize>, [t, dt, end]: [Ref; 3], values: [Ref; 2]) -> Ref {
    let factor = b.lit(1.0 + SLIVER);
    let reach = b.op(Op::Mul, &[dt, factor]);
    let there = b.op(Op::Add, &[t, reach]);
    b.op(Op::Le, &[end, there, values[0], values[1]])
}

/// Returns the time of a substep that is at this part of its step.
fn time(at: f64) -> Expr<usize> {
    let mut b = Builder::new();
    let [dt, at, t] = [b.atom(place::DT), b.lit(at), b.atom(place::T)];
    let time = b.op(Op::Fma, &[dt, at, t]);
    b.finish(time)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::SystemDef;

    /// Uniforms that change with time; limited by a speed of the second power, then by one of the first.
    pub(crate) fn rules() -> Rules {
        let text = "pub system Damped in 2d {
            field q: scalar; param k: real = 1; param w: real = 3;
            ddt(q) = k * lap(q) - sin(w * t) * q;
            cfl { diffusive: k; advective: abs(q) }
        }
        scheme s for Damped { space: central<order = 2>; time: rk3_williamson; }";
        let system = SystemDef::from_text("damped.pde", text).unwrap();
        let shares = vec![of(0, 2, DIFFUSIVE), of(1, 1, ADVECTIVE)];
        Rules::new(system.algorithm(), &[0.5, 3.0], [0.1, 0.2, 1.0], (Precision::F64, shares))
    }

    /// Returns the share of the speed at an index.
    fn of(at: usize, power: u32, rate: f64) -> Share {
        Share { of: at, axis: None, power, rate, over: None, axes: Axes::Sum }
    }

    const DIFFUSIVE: f64 = 400.0;
    const ADVECTIVE: f64 = 10.0;

    fn asked(end: f64, most: f64) -> Asked {
        let (t, number) = (1.0, 0.5);
        Asked { t, end, most, number }
    }

    #[test]
    fn speeds_the_largest_length_and_the_end_limit_a_step() {
        let (rules, never) = (rules(), f64::INFINITY);
        let limit = 0.5 / (2.0 * DIFFUSIVE + 3.0 * ADVECTIVE);
        let free = rules.step(asked(never, never), &[2.0, 3.0]);
        assert_eq!((free.dt, free.end), (limit, 1.0 + limit));
        assert_eq!(rules.step(asked(never, 1e-5), &[2.0, 3.0]).dt, 1e-5);
        let cut = rules.step(asked(1.0 + 1e-7, never), &[2.0, 3.0]);
        assert_eq!((cut.dt, cut.end), (1.0 + 1e-7 - 1.0, 1.0 + 1e-7));
        // Longer by less than a billionth, rather than a step of nearly nothing after it.
        let end = 1.0 + limit * (1.0 + 1e-10);
        assert_eq!(rules.step(asked(end, never), &[2.0, 3.0]).end, end);
        assert_eq!(rules.step(asked(never, never), &[0.0, 0.0]).dt, never);
        assert!(rules.step(asked(never, never), &[f64::NAN, 0.0]).dt.is_nan());
    }

    #[test]
    fn a_step_that_is_cut_ends_at_the_end_whatever_its_sum_rounds_to() {
        let half = f64::EPSILON / 2.0;
        let (t, end) = (half, 1.0 + f64::EPSILON);
        let asked = Asked { t, ..asked(end, f64::INFINITY) };
        let cut = rules().step(asked, &[0.0, 0.0]);
        assert_eq!(cut.end, end);
        assert!(t + cut.dt != end, "a sum that rounds");
    }

    #[test]
    fn the_strictest_speed_is_not_the_largest_number() {
        for (speeds, strictest) in [([1.0, 30.0], 0), ([0.01, 30.0], 1), ([0.0, 0.0], 0)] {
            assert_eq!(rules().strictest(&speeds), strictest, "{speeds:?}");
        }
    }

    /// Euler's method: `value^2 / (2 other)`, and zero for a fluid at rest.
    #[test]
    fn a_speed_may_be_limited_by_what_damps_it() {
        let system = "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }";
        let system = SystemDef::from_text("heat.pde", system).unwrap();
        let damped = Share { over: Some(1), ..of(0, 1, 0.5) };
        let shares = vec![damped, of(1, 2, 2.0)];
        let rules = Rules::new(system.algorithm(), &[], [1.0; 3], (Precision::F64, shares));
        let dt = |speeds: [f64; 2]| rules.step(asked(f64::INFINITY, f64::INFINITY), &speeds).dt;
        assert_eq!(dt([3.0, 0.25]), 0.5 / (9.0 * 0.5 / 0.25 + 0.25 * 2.0));
        assert_eq!(dt([0.0, 0.0]), f64::INFINITY);
        assert_eq!(dt([3.0, 0.0]), 0.0);
        assert_eq!((rules.strictest(&[3.0, 0.25]), rules.strictest(&[0.1, 0.25])), (0, 1));
    }

    /// Waves of speeds 3 and 1 along x and y that take 10 and 20 each, beside diffusion: 30 + 20 + 8, or the greater of both.
    #[test]
    fn speeds_along_axes_add_up_or_the_strictest_counts() {
        let system = "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }";
        let system = SystemDef::from_text("heat.pde", system).unwrap();
        for (axes, rates) in [(Axes::Sum, 58.0), (Axes::Max, 38.0)] {
            let along = |axis, rate| Share { axis: Some(axis), axes, ..of(0, 1, rate) };
            let shares = vec![along(0, 10.0), along(1, 20.0), of(1, 2, 4.0)];
            let rules = Rules::new(system.algorithm(), &[], [1.0; 3], (Precision::F64, shares));
            let speeds = [3.0, 1.0, 2.0];
            let dt = rules.step(asked(f64::INFINITY, f64::INFINITY), &speeds).dt;
            assert_eq!(dt, 0.5 / rates, "{axes:?}");
            assert_eq!(rules.strictest(&speeds), 0);
        }
    }

    #[test]
    fn a_step_that_is_given_is_taken_as_it_is() {
        let given = rules().step(Asked::given(0.3, 0.1), &[]);
        assert_eq!((given.dt, given.end), (0.1, 0.3 + 0.1));
        assert_eq!(rules().time(1, 0.3, 0.1), 0.1_f64.mul_add(1.0 / 3.0, 0.3));
    }

    #[test]
    fn uniforms_are_those_of_the_algorithm() {
        let text = "pub system Forced in 1d { field q: scalar; param w: real = 3;
            ddt(q) = w * lap(q) + sin(w * t) + w * epsilon * q^2; }";
        let system = SystemDef::from_text("forced.pde", text).unwrap();
        let (algorithm, spacing) = (system.algorithm(), [0.1, 1.0, 1.0]);
        for precision in [Precision::F32, Precision::F64] {
            let rules = Rules::new(algorithm, &[3.0], spacing, (precision, Vec::new()));
            let all = rules.uniforms_at(0.7, 0.01);
            assert!(rules.depend_on_time && all.contains(&(3.0 * precision.epsilon())));
            let expected = algorithm.uniform_values(precision, &[3.0], spacing, (0.01, 0.7));
            assert_eq!(all, expected);
        }
    }
}
