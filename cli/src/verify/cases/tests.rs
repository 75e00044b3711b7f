//! Schedules meet all kinds of boundaries, and compared values are numbers.

use clap::Parser;

use super::*;
use crate::verify::bits;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    args: VerifyArgs,
}

#[test]
fn values_that_lie_apart_meet_all_boundaries() {
    let batches_of = |line: &str| {
        let line = Line::try_parse_from(line.split(' ')).unwrap();
        batches(&line.args, "sm_90").unwrap()
    };
    let all = batches_of("verify heat --precision f32 --sample 8");
    assert_eq!(all.len(), 2);
    assert!(all[0].grid.patches == [1; 3] && all[1].grid.patches != [1; 3]);
    for batch in all {
        let kinds_of = |name: &str| -> BTreeSet<usize> {
            let turns = (0..batch.schedules.len()).filter(|t| batch.schedules[*t].0 == name);
            turns.map(|turn| batch.kind(turn)).collect()
        };
        for name in ["direct aos", "lexicographic aos", "direct surface", "lexicographic surface"] {
            assert_eq!(kinds_of(name), (PERIODIC..KINDS).collect(), "{name}");
        }
        assert!(!kinds_of("lexicographic soa").is_empty());
        assert_eq!(kinds_of("march around ends"), BTreeSet::from([WHOLE_COPIES]));
        assert_eq!(kinds_of("march around ends beside walls"), BTreeSet::from([PERIODIC]));
        assert_eq!(batch.kinds(), (0..=ALIKE).collect());
    }
}

/// A comparison says nothing of values that are not numbers.
#[test]
fn laws_stay_finite_with_all_boundaries() {
    let runs = Runs { steps: 2, card: 0, cache: None, devices: 1, on_cards: true };
    for definition in physics::systems::ALL {
        let system = SystemDef::new(definition).unwrap();
        if system.model().fluxes.is_empty() || system.model().dimension > 2 {
            continue;
        }
        let cells = match system.model().dimension {
            1 => [23, 1, 1],
            _ => [13, 11, 1],
        };
        let batch = Batch {
            origin: Origin {
                declared: Declared::Library {
                    name: system.name().to_string(),
                    dimension: system.model().dimension,
                },
                mixed: None,
                formulation: None,
            },
            system,
            precision: Precision::F64,
            grid: Grid { cells, patches: [1; 3] },
            devices: 1,
            schedules: Vec::new(),
        };
        for kind in 0..=ALIKE {
            let run = runs.on_processor::<f64>(&batch, kind);
            let bits = bits(run, runs.steps).unwrap_or_else(|e| panic!("{kind}: {}", e.message));
            let finite = bits.iter().all(|bits| f64::from_bits(*bits).is_finite());
            assert!(finite, "{} with boundaries {kind}", batch.system.name());
        }
    }
}
