//! No stage knows a system by its names: with other ones, every schedule, its cost and its emitted text stay the same.

use std::collections::BTreeMap;
use std::thread;

use physics::systems;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::cost::kernels;
use stencil_compiler::emit;
use stencil_compiler::expr::real::Precision;
use stencil_compiler::model::Model;
use stencil_compiler::model::parse::parse_str;
use stencil_compiler::schedule::LaunchKind;
use stencil_compiler::search::{self, presets};
use stencil_tests::{ELASTIC, ISOTHERMAL_NS, OrPanic, algorithm_of, rename, with_mixed};

/// Returns the declaration with other names for the system, its fields and parameters, in another alphabetical order.
fn renamed(source: &str, model: &Model) -> String {
    let fields = model.fields.iter().map(|f| f.name.clone());
    let names = fields.chain(model.params.iter().map(|p| p.name.clone()));
    let names = names.chain([model.name.clone()]).enumerate();
    names
        .fold(source.to_string(), |text, (at, name)| rename(&text, &name, &format!("q{}", 99 - at)))
}

/// Returns a text with numbers in place of words, in the order of their first occurrence.
fn without_names<'a>(text: &'a str, numbers: &mut BTreeMap<&'a str, usize>) -> String {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let is_word = is_of_word(next);
        let end = rest.find(|c| is_of_word(c) != is_word);
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        if is_word && !next.is_ascii_digit() {
            let count = numbers.len();
            out.push_str(&format!("w{}", numbers.entry(part).or_insert(count)));
        } else {
            out.push_str(part);
        }
        rest = after;
    }
    out
}

/// Returns a kernel's text without names, and its parameters, in their order.
fn emitted(source: &str) -> (String, Vec<String>) {
    let (_, kernel) = source.split_once("__global__").expect("a kernel");
    let (head, body) = kernel.split_once(") {").expect("parameters");
    let (_, params) = head.rsplit_once('(').expect("parameters");
    let mut numbers = BTreeMap::new();
    let body = without_names(body, &mut numbers);
    let params = params.split(',');
    let mut params: Vec<_> = params.map(|p| without_names(p.trim(), &mut numbers)).collect();
    params.sort();
    (body, params)
}

/// The results of a preset: how many functions it places, and its kernels, without names.
#[derive(Debug, PartialEq)]
struct Made {
    placed: usize,
    costs: Vec<String>,
    texts: Vec<(String, Vec<String>)>,
}

impl Made {
    fn by(preset: &presets::Preset, algorithm: &Algorithm, precision: Precision) -> Self {
        let schedule = preset.schedule(algorithm, precision);
        let compiled = compile(algorithm, &schedule, &Target::new(precision.bytes()));
        let compiled = compiled.unwrap_or_else(|e| panic!("{}: {e}", preset.name));
        let mut costs = kernels(&compiled).or_panic();
        for cost in &mut costs {
            cost.name.clear();
            cost.inputs.iter_mut().for_each(|input| input.name.clear());
            cost.inputs.sort_by_key(|input| (input.points, input.rim));
            cost.outputs.iter_mut().for_each(String::clear);
        }
        let kernels = compiled.kernels.iter();
        let on_card = kernels.filter(|kernel| kernel.launch.kind == LaunchKind::Blocks);
        let text = |kernel| {
            let source = emit::cuda(kernel, precision).or_panic();
            emitted(&source.text)
        };
        Made {
            placed: schedule.placements.len(),
            costs: costs.iter().map(|cost| format!("{cost:?}")).collect(),
            texts: on_card.map(text).collect(),
        }
    }
}

/// Checks that the results for both differ in nothing but names.
fn alike(one: &Algorithm, other: &Algorithm, precision: Precision, presets: &[&presets::Preset]) {
    for preset in presets {
        let (one_made, other_made) =
            (Made::by(preset, one, precision), Made::by(preset, other, precision));
        let label = || format!("{} {} {precision:?}", one.name, preset.name);
        assert_eq!(one_made.placed, other_made.placed, "{}", label());
        assert_eq!(one_made.costs, other_made.costs, "{}", label());
        assert!(one_made.texts == other_made.texts, "{}", label());
    }
}

#[test]
fn other_names_change_no_schedule_and_no_cost() {
    let presets: Vec<_> = presets::ALL.iter().collect();
    for source in [ISOTHERMAL_NS, ELASTIC] {
        for mixed in ["bidiagonal", "composed"] {
            let source = with_mixed(source, mixed);
            let model = parse_str(&source).or_panic();
            let (one, other) = (algorithm_of(&source), algorithm_of(&renamed(&source, &model)));
            assert_ne!(one.functions[0].name, other.functions[0].name);
            for precision in [Precision::F32, Precision::F64] {
                alike(&one, &other, precision, &presets);
            }
            let count = |algorithm| search::first(algorithm).len();
            assert_eq!(count(&one), count(&other));
        }
    }
}

#[test]
fn no_system_of_the_library_is_known_by_its_names() {
    let presets = ["direct", "shared", "gpu"].map(|name| presets::find(name).unwrap());
    thread::scope(|scope| {
        for part in systems::ALL.chunks(systems::ALL.len().div_ceil(2)) {
            scope.spawn(move || {
                for definition in part {
                    let model = parse_str(definition.model).or_panic();
                    let (one, other) = (
                        algorithm_of(definition.model),
                        algorithm_of(&renamed(definition.model, &model)),
                    );
                    assert_ne!(one.name, other.name);
                    alike(&one, &other, Precision::F64, &presets);
                }
            });
        }
    });
}
