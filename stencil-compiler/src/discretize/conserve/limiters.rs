//! Limiters: the slope of a cell from the differences to the cells below and above it.
//!
//! All but `central` and `none` are zero where the two differ in sign, and all are odd in the sign of both. They are symmetric, but for
//! `none` and for those that are sided: these give the slope toward the upper face.

use super::algebra::Algebra;
use crate::catalogue::limiters::{self as rows, Limiter as Row, THETA};
use crate::discretize::expand::Result;
use crate::discretize::poly::{Poly, Uniform};
use crate::expr::{Op, Rational};

/// A limiter with its code.
#[derive(Clone, Copy)]
pub(super) struct Limiter {
    /// Its row.
    pub(super) row: &'static Row,
    slope: Slope,
}

/// Makes the slope across a cell from the differences below and above it, and from the parameter, if there is one.
type Slope = fn(&mut Algebra<'_, '_>, &Poly, &Poly, Rational) -> Result<Poly>;

/// The slope of every limiter.
const SLOPES: &[(&Row, Slope)] = &[
    (&rows::CENTRAL, |of, below, above, _| central(of, below, above)),
    (&rows::GENERALIZED_MINMOD, generalized_minmod),
    (&rows::HYBRID, hybrid),
    (&rows::KOREN, |of, below, above, _| koren(of, below, above)),
    (&rows::MC, |of, below, above, _| mc(of, below, above)),
    (&rows::MINMOD, |of, below, above, _| minmod(of, below, above)),
    // For waves alone: the jump on the side that a wave comes from does not matter.
    (&rows::NONE, |_, _, above, _| Ok(above.clone())),
    (&rows::SUPERBEE, |of, below, above, _| superbee(of, below, above)),
    (&rows::VAN_ALBADA, |of, below, above, _| van_albada(of, below, above)),
    (&rows::VAN_LEER, |of, below, above, _| van_leer(of, below, above)),
];

/// The limiter of this name.
pub(super) fn find(name: &str) -> Option<Limiter> {
    let mut all = SLOPES.iter().map(|(row, slope)| Limiter { row, slope: *slope });
    all.find(|limiter| limiter.row.name == name)
}

impl Limiter {
    /// The slope across a cell from the differences below and above it, of waves from the one where they come from and their own;
    /// without its parameter it has the steepest.
    pub(super) fn slope(
        &self,
        of: &mut Algebra<'_, '_>,
        [below, above]: [&Poly; 2],
        theta: Option<Rational>,
    ) -> Result<Poly> {
        (self.slope)(of, below, above, theta.unwrap_or(*THETA.end()))
    }
}

/// No limit: the mean of both (Fromm, J. Comput. Phys. 3, 176, 1968). Not monotone.
fn central(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let sum = of.plus(below, above)?;
    of.halved(&sum)
}

/// The mean, with neither difference taken more than this many times: `minmod` with one, `mc` with two (van Leer, J.
/// Comput. Phys. 32, 101, 1979; Kurganov and Tadmor, J. Comput. Phys. 160, 241, 2000, Eq. 4.9).
fn generalized_minmod(
    of: &mut Algebra<'_, '_>,
    below: &Poly,
    above: &Poly,
    theta: Rational,
) -> Result<Poly> {
    let mean = central(of, below, above)?;
    bounded(of, [below, above], theta, &mean)
}

/// The harmonic mean, with neither difference taken more than this many times: `minmod` with one, and with two
/// `van_leer`, which is never steeper (Schive, Zhang and Chiueh, Int. J. High Perform. Comput. Appl. 26, 367, 2012,
/// section 2, after Athena: Stone et al., Astrophys. J. Suppl. 178, 137, 2008). Both codes take the central difference
/// as a bound, too; the harmonic mean is no larger.
fn hybrid(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly, theta: Rational) -> Result<Poly> {
    let harmonic = van_leer(of, below, above)?;
    bounded(of, [below, above], theta, &harmonic)
}

/// A third of the difference below and two thirds of the one above, of third order where the solution is smooth, but neither
/// difference more than twice (Koren, in Vreugdenhil and Koren (eds.), Numerical Methods for Advection-Diffusion Problems, 117, 1993).
fn koren(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    // The mirror image adds in the same order.
    let both = of.plus(below, above)?;
    let both = of.named("both", both);
    let thrice = of.plus(&both, above)?;
    let thrice = of.named("thrice", thrice);
    let mean = of.scaled(&thrice, 1, 3)?;
    bounded(of, [below, above], *THETA.end(), &mean)
}

/// Monotonized central differences (van Leer, J. Comput. Phys. 23, 276, 1977).
pub(super) fn mc(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    generalized_minmod(of, below, above, *THETA.end())
}

/// The smaller of both (Roe, Annu. Rev. Fluid Mech. 18, 337, 1986).
fn minmod(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let twice = twice_least(of, below, above)?;
    of.halved(&twice)
}

/// The larger of two slopes with one difference doubled (Roe 1986).
fn superbee(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let [lower, upper] = [of.abs(below), of.abs(above)];
    let steepest = of.op(Op::Lt, &[&lower, &upper, above, below]);
    bounded(of, [below, above], *THETA.end(), &steepest)
}

/// The harmonic mean (van Leer, J. Comput. Phys. 14, 361, 1974).
fn van_leer(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let product = of.times(below, above)?;
    let product = of.named("both", product);
    let (twice, sum) = (of.scaled(&product, 2, 1)?, of.plus(below, above)?);
    let mean = of.over(&twice, &sum);
    Ok(of.if_positive(&product, &mean))
}

/// Van Albada, van Leer and Roberts, Astron. Astrophys. 108, 76, 1982, without their small number.
fn van_albada(of: &mut Algebra<'_, '_>, below: &Poly, above: &Poly) -> Result<Poly> {
    let product = of.times(below, above)?;
    let product = of.named("both", product);
    let sum = of.plus(below, above)?;
    let weighted = of.times(&product, &sum)?;
    let square = |of: &mut Algebra<'_, '_>, a: &Poly| {
        let square = of.times(a, a)?;
        Ok(of.named("square", square))
    };
    let squares = [square(of, below)?, square(of, above)?];
    let squares = of.plus(&squares[0], &squares[1])?;
    let mean = of.over(&weighted, &squares);
    Ok(of.if_positive(&product, &mean))
}

/// A slope, with neither difference taken more than this many times; zero where the differences differ in sign.
fn bounded(
    of: &mut Algebra<'_, '_>,
    [below, above]: [&Poly; 2],
    theta: Rational,
    slope: &Poly,
) -> Result<Poly> {
    let nearest = nearer(of, below, above);
    let twice = signed(of, [&nearest, &nearest], [below, above])?;
    let most = of.scaled_by(&twice, &Uniform::number(theta / Rational::from_integer(2)))?;
    // A slope that is not a number is taken: the bound may be one, by the sign of the other, which engines differ in.
    Ok(nearer(of, &most, slope))
}

/// Twice the value nearest to zero, if both have one sign; else zero; not a number if one of them is not.
pub(super) fn twice_least(of: &mut Algebra<'_, '_>, a: &Poly, b: &Poly) -> Result<Poly> {
    let nearest = [nearer(of, a, b), nearer(of, b, a)];
    signed(of, nearest.each_ref(), [a, b])
}

/// The sum of two values of one size with these signs. They are compared without a product, which tiny values would turn to zero.
fn signed(of: &mut Algebra<'_, '_>, values: [&Poly; 2], [a, b]: [&Poly; 2]) -> Result<Poly> {
    let [first, second] = values;
    let signed = [(first, a), (second, b)].map(|pair| of.op(Op::Copysign, &[pair.0, pair.1]));
    let twice = of.plus(&signed[0], &signed[1])?;
    Ok(of.named("least", twice))
}

/// The value nearer to zero; the second one if they are as near, or if one is not a number.
fn nearer(of: &mut Algebra<'_, '_>, a: &Poly, b: &Poly) -> Poly {
    let sizes = [of.abs(a), of.abs(b)];
    let nearer = of.op(Op::Lt, &[&sizes[0], &sizes[1], a, b]);
    of.named("nearer", nearer)
}

#[cfg(test)]
mod tests {
    use super::super::{Law, sample::Point};
    use super::*;
    use crate::discretize::components::Components;
    use crate::discretize::integrator;
    use crate::model::parse::parse_str;

    #[test]
    fn every_limiter_has_a_slope() {
        let coded = SLOPES.iter().map(|(row, _)| row.name);
        assert!(coded.eq(rows::ALL.iter().map(|row| row.name)));
    }

    /// Values that are made of two states, at many points, with those of the states.
    fn with_two_states(
        make: &dyn Fn(&mut Algebra<'_, '_>, [&Poly; 2]) -> Vec<Poly>,
    ) -> Vec<([f64; 2], Vec<f64>)> {
        let source =
        "system S in 1d { conserved q: scalar; conserved p: scalar; flux q -> [p]; flux p -> [q]; }
         scheme s for S { riemann: force; }";
        let model = parse_str(source).unwrap();
        let components = Components::new(&model, &integrator(&model).unwrap()).unwrap();
        let span = model.fluxes[0].span;
        let law = Law::new(&model, &components, span).unwrap();
        let mut expander = law.expander_for_forms().unwrap();
        let states = [0, 1].map(|i| expander.atoms.state(i));
        let mut algebra = Algebra { expander: &mut expander, span };
        let made = make(&mut algebra, states.each_ref());
        let at = |number| {
            let mut point = Point::anywhere(&expander, number);
            let values = made.iter().map(|of| point.value(of)).collect();
            (states.each_ref().map(|of| point.value(of)), values)
        };
        (0..256).map(at).collect()
    }

    /// Differences below and above a cell at many points, with a limiter's slopes of these, of the same exchanged, of the same with other
    /// signs, and of the lower one twice.
    fn slopes(row: &Row) -> Vec<([f64; 2], [f64; 4])> {
        let limiter = find(row.name).expect("a slope");
        let theta = row.has_theta.then(|| Rational::new(3, 2));
        with_two_states(&|of, [a, b]| {
            let minus = [a.negated(), b.negated()];
            let pairs = [[a, b], [b, a], [&minus[0], &minus[1]], [a, a]];
            let all = pairs.map(|pair| limiter.slope(of, pair, theta).expect("small numbers"));
            Vec::from(all)
        })
        .into_iter()
        .map(|(states, found)| (states, [found[0], found[1], found[2], found[3]]))
        .collect()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-14 * (a.abs() + b.abs())
    }

    /// Sweby, SIAM J. Numer. Anal. 21, 995, 1984: at most two of either difference, and nothing at extrema.
    #[test]
    fn limiters_are_in_the_region_of_diminishing_variation() {
        let is_free = |row: &Row| row.name == rows::CENTRAL.name || row.is_of_waves;
        for row in rows::ALL.iter().filter(|row| !is_free(row)) {
            for ([a, b], [slope, ..]) in slopes(row) {
                let least = (2.0 * a.abs()).min(2.0 * b.abs()) * (1.0 + 1e-14);
                let fits = match a * b > 0.0 {
                    true => slope * a >= 0.0 && slope.abs() <= least,
                    false => slope == 0.0,
                };
                assert!(fits, "{}: {slope} of {a}, {b}", row.name);
            }
        }
    }

    #[test]
    fn limiters_keep_lines_and_mirror_images() {
        for row in rows::ALL {
            let mut sided = false;
            for ([a, b], [slope, exchanged, negated, of_line]) in slopes(row) {
                let name = row.name;
                assert!(close(of_line, a), "{name}: {of_line} of a line by {a}");
                assert!(close(negated, -slope), "{name}: {negated} of {a}, {b}");
                sided |= !close(slope, exchanged);
            }
            assert_eq!(sided, row.is_sided || row.is_of_waves, "{}", row.name);
        }
    }
}
