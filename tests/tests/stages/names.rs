//! No stage knows a system by its names: with other ones, every schedule and what it costs stay the same.

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::cost::{KernelCost, kernels};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::parse::parse_str;
use stencil_compiler::schedule::{check::check, presets, search};
use stencil_tests::{ELASTIC, ISOTHERMAL_NS, algorithm_of, rename, with_mixed};

/// The declaration with other names for the system, its fields and parameters, in another alphabetical
/// order.
fn renamed(source: &str) -> String {
    let model = parse_str(source).unwrap_or_else(|errors| panic!("{errors}"));
    let fields = model.fields.iter().map(|f| f.name.clone());
    let names = fields.chain(model.params.iter().map(|p| p.name.clone()));
    let names = names.chain([model.name.clone()]).enumerate();
    names.fold(source.to_string(), |text, (at, name)| {
        rename(&text, &name, &format!("q{}", 99 - at))
    })
}

/// What the kernels of every preset cost, but for their names.
fn costs(algorithm: &Algorithm, precision: Precision) -> Vec<(usize, Vec<KernelCost>)> {
    let of_preset = |preset: &presets::Preset| {
        let schedule = (preset.make)(algorithm, precision);
        let compiled = check(algorithm, &schedule, precision.bytes());
        let compiled = compiled.unwrap_or_else(|e| panic!("{}: {e}", preset.name));
        let mut costs = kernels(&compiled).unwrap_or_else(|e| panic!("{e}"));
        for cost in &mut costs {
            cost.name.clear();
            cost.inputs.iter_mut().for_each(|input| input.name.clear());
            cost.inputs.sort_by_key(|input| (input.points, input.rim));
            cost.outputs.iter_mut().for_each(String::clear);
        }
        (schedule.placements.len(), costs)
    };
    presets::ALL.iter().map(of_preset).collect()
}

#[test]
fn other_names_change_no_schedule_and_no_cost() {
    for source in [ISOTHERMAL_NS, ELASTIC] {
        for mixed in ["bidiagonal", "composed"] {
            let source = with_mixed(source, mixed);
            let (one, other) = (algorithm_of(&source), algorithm_of(&renamed(&source)));
            assert_ne!(one.functions[0].name, other.functions[0].name);
            for precision in [Precision::F32, Precision::F64] {
                let (one, other) = (costs(&one, precision), costs(&other, precision));
                let pairs = presets::ALL.iter().zip(one.iter().zip(&other));
                for (preset, (one, other)) in pairs {
                    assert_eq!(one, other, "{} {mixed} {precision:?}", preset.name);
                }
            }
            let count = |algorithm| search::first(algorithm).len();
            assert_eq!(count(&one), count(&other));
        }
    }
}
