//! The end of a search, on the made-up machine.

use stencil_compiler::schedule::Coefficients;

use super::*;

/// Literals are tried last, of the winner, in single precision; they stay if they are faster.
#[test]
fn a_search_ends_with_literals_where_these_have_room() {
    let forms = alone(heat());
    let search = |precision: Precision, behaves: Behaves, budget: Duration| {
        let mut machine = Machine::of(&forms, behaves, |_| false);
        machine.precision = precision;
        let options = Options {
            budget,
            ..Options::on(CELLS)
        };
        let mut progress = |_| ();
        let tuner = Tuner::new(&forms, &options, &mut machine, &mut progress);
        tuner.search().unwrap()
    };
    let is_literal = |schedule: &Schedule| schedule.coefficients == Coefficients::Literal;
    let count = |tuned: &Tuned| {
        let all = tuned.trials.iter();
        all.filter(|t| is_literal(&t.schedule)).count()
    };
    let faster: Behaves = |s, model| match s.coefficients {
        Coefficients::Literal => Ok(0.99 * model),
        Coefficients::Parameter => Ok(model),
    };
    let slower: Behaves = |s, model| match s.coefficients {
        Coefficients::Literal => Ok(1.01 * model),
        Coefficients::Parameter => Ok(model),
    };
    let long = Duration::from_secs(100);
    for (behaves, wins) in [(faster, true), (slower, false)] {
        let tuned = search(Precision::F32, behaves, long);
        let plan = tuned.plan.clone().unwrap();
        assert_eq!(
            is_literal(&plan.schedule),
            wins,
            "{}",
            print(&plan.schedule)
        );
        assert!((1..=3).contains(&count(&tuned)), "{}", count(&tuned));
        let timed = |t: &&Trial| is_literal(&t.schedule) && t.seconds().is_finite();
        assert_eq!(tuned.trials.iter().filter(timed).count(), count(&tuned));
    }
    assert_eq!(count(&search(Precision::F64, faster, long)), 0);
    let short = Duration::from_millis(700);
    assert_eq!(count(&search(Precision::F32, faster, short)), 0);
}
