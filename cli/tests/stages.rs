//! Every stage between a declaration and the text for a card, as `stencil emit` prints it, of systems of the library that
//! differ. The texts are in `snapshots/`; after a change that is meant, `INSTA_UPDATE=always cargo test -p stencil-cli --test
//! stages` writes them anew.

mod common;

use common::{good, scratch};

/// Systems, and of their kernels one launch on a card and one on the processor.
const SYSTEMS: [(&str, &str, &str); 8] = [
    ("heat", "1", "1"),
    ("isothermal_ns --order 2", "0", "0"),
    ("mhd --order 2", "0", "0"),
    ("ideal_gas", "2", "1"),
    ("shallow_water", "1", "1"),
    ("elastic_wave --order 2", "0", "0"),
    ("gray_scott", "1", "1"),
    ("layered_acoustics", "3", "3"),
];

#[test]
fn stages_of_systems_do_not_change() {
    for (system, card, processor) in SYSTEMS {
        let targets = [
            "model".to_string(),
            "algorithm".to_string(),
            "schedule".to_string(),
            "plan".to_string(),
            format!("kernel --launch {card}"),
            format!("rust --launch {processor}"),
            format!("cuda --no-marks --launch {card}"),
        ];
        let stages = targets.map(|target| {
            let words = format!("emit {system} --target {target}");
            format!("$ stencil {words}\n{}", good(&words, scratch()))
        });
        let (name, _) = system.split_once(' ').unwrap_or((system, ""));
        insta::assert_snapshot!(name, stages.join("\n"));
    }
}
