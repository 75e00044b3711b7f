//! The schedules that a search predicts when predicting takes time.

use super::*;

/// Runs a search in which each prediction takes a second.
fn with(budget: u64, by_model: bool) -> Tuned {
    let forms = alone(heat());
    let mut machine = Machine::of(&forms, |_, model| Ok(model), |_| false);
    machine.predicts = Duration::from_secs(1);
    let options = Options { budget: Duration::from_secs(budget), ..Options::on(CELLS) };
    let mut progress = |_| ();
    let tuner = Tuner::new(&forms, &options, &mut machine, &mut progress);
    let tuned = match by_model {
        true => tuner.by_model(),
        false => tuner.search(),
    };
    tuned.unwrap()
}

/// Returns the time of the predictions in progress when the time is up.
fn at_once() -> Duration {
    Duration::from_secs(rayon::current_num_threads() as u64)
}

#[test]
fn a_search_by_the_model_ends_with_the_budget() {
    let all = with(1_000_000, true);
    let most = all.took.as_secs();
    assert!(most > 400, "{most}");
    let mut before = 0;
    for budget in [20, 200, most] {
        let tuned = with(budget, true);
        let over = tuned.took.saturating_sub(Duration::from_secs(budget));
        assert!(over <= 2 * at_once(), "{over:?} of {budget}");
        let predicted = tuned.trials.iter().map(|t| t.predicted);
        let best = tuned.trials.iter().find(|t| t.fate == Fate::Best).unwrap();
        assert_eq!(best.predicted, predicted.fold(f64::INFINITY, f64::min));
        assert!(before < tuned.trials.len(), "{budget}");
        before = tuned.trials.len();
    }
}

#[test]
fn without_time_a_search_has_what_a_run_has_without_a_plan() {
    for by_model in [true, false] {
        let tuned = with(0, by_model);
        let usual = heuristic::gpu(heat().algorithm(), Precision::F32);
        let trials: Vec<&Schedule> = tuned.trials.iter().map(|t| &t.schedule).collect();
        assert_eq!(trials, [&usual]);
        assert_eq!(tuned.plan.unwrap().schedule, usual);
    }
}

#[test]
fn a_race_has_half_of_the_time_however_long_predictions_take() {
    let tuned = with(60, false);
    let timed = tuned.trials.iter().filter(|t| t.seconds().is_finite());
    assert!(timed.count() > 10);
    let looked_at = Duration::from_secs(30) + 2 * at_once();
    assert!(tuned.trials.len() as u64 <= 50 + looked_at.as_secs());
    let over = tuned.took.saturating_sub(Duration::from_secs(60));
    assert!(over <= 2 * at_once(), "{over:?}");
}

/// Little time goes to some of each placement and blocking, not to all of the first.
#[test]
fn what_there_is_little_time_for_is_of_every_kind() {
    let tuned = with(60, true);
    let strategies = tuned.trials.iter().map(|t| t.schedule.kernels[0].strategy.as_str());
    let strategies: BTreeSet<&str> = strategies.collect();
    for name in ["direct", "march", "plane", "tile3d"] {
        assert!(strategies.contains(name), "{strategies:?}");
    }
}
