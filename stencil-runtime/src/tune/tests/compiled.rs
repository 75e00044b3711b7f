//! Searches by the model that compile the schedules predicted to be fastest.

use super::*;

/// Runs such a search with a compiler that takes so long for a schedule.
fn with(compiler: Compiler, (compiles, budget): (u64, u64)) -> Result<Tuned, Error> {
    let forms = alone(heat());
    let mut machine = Machine::of(&forms, |_, model| Ok(model), |_| false);
    machine.compiler = Some(compiler);
    machine.compiles = Duration::from_secs(compiles);
    let options = Options { budget: Duration::from_secs(budget), ..Options::on(CELLS) };
    let mut progress = |_| ();
    Tuner::new(&forms, &options, &mut machine, &mut progress).by_model()
}

fn is_march(schedule: &Schedule) -> bool {
    schedule.kernels[0].strategy == "march"
}

#[test]
fn what_is_found_was_compiled_and_nothing_is_faster_by_its_registers() {
    let usual = with(|_| Some((64, 0)), (1, 1_000)).unwrap();
    let best = |tuned: &Tuned| {
        let mut best = tuned.trials.iter().filter(|t| t.fate == Fate::Best);
        best.next().unwrap().clone()
    };
    assert!(is_march(&best(&usual).schedule));
    assert_eq!(best(&usual).resources(), [(64, 0)]);
    // If marches spill, another blocking is faster.
    let spill = |schedule: &Schedule| Some((64, if is_march(schedule) { 40_000 } else { 0 }));
    let spilling = with(spill, (1, 1_000)).unwrap();
    let other = best(&spilling);
    assert!(!is_march(&other.schedule) && other.spilled() == 0);
    let known = spilling.trials.iter().filter(|t| !t.resources().is_empty());
    for trial in known {
        assert!(trial.predicted >= other.predicted);
        assert_eq!(trial.spilled() > 0, is_march(&trial.schedule));
    }
}

#[test]
fn what_a_compiler_rejects_is_not_found() {
    let tuned = with(|s| (!is_march(s)).then_some((64, 0)), (1, 1_000)).unwrap();
    assert!(!is_march(&tuned.plan.unwrap().schedule));
    let is_failed = |t: &&Trial| matches!(t.fate, Fate::Failed { .. });
    let rejected: Vec<&Trial> = tuned.trials.iter().filter(is_failed).collect();
    assert!(!rejected.is_empty() && rejected.iter().all(|t| is_march(&t.schedule)));
    let reason = with(|_| None, (0, 1_000)).err().map(|e| e.to_string());
    let reason = reason.unwrap_or_default();
    assert!(reason.contains("the compiler gives up"), "{reason}");
}

/// At most one batch is in progress when the time is up.
#[test]
fn compilers_are_not_started_when_the_time_is_up() {
    for budget in [0, 30, 100] {
        let tuned = with(|_| Some((255, 400)), (20, budget)).unwrap();
        let over = tuned.took.saturating_sub(Duration::from_secs(budget));
        assert!(over <= Duration::from_secs(4 * 20), "{over:?} of {budget}");
        assert!(tuned.plan.is_some());
    }
}
