//! Every stage's text parses back to the same value, and the same input gives the same bytes.

use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::search::presets;
use stencil_compiler::search::space::{Draws, Space};
use stencil_compiler::{algorithm, emit, kernel, model, plan, schedule};
use stencil_tests::{ELASTIC, ISOTHERMAL_NS, OrPanic, algorithm_of, with_mixed};

#[test]
fn every_text_parses_back() {
    for source in [ISOTHERMAL_NS, ELASTIC] {
        for mixed in ["bidiagonal", "product", "composed"] {
            let source = with_mixed(source, mixed);
            let declared = model::parse::parse_str(&source).or_panic();
            let printed = model::text::print(&declared);
            let again = model::parse::parse_str(&printed).or_panic();
            assert_eq!(again.without_spans(), declared.without_spans());

            let mut discrete = algorithm_of(&source);
            discrete.file = "of \"many\"\\\nlines".to_string();
            let text = algorithm::text::print(&discrete);
            assert_eq!(algorithm::text::parse(&text).or_panic(), discrete);

            let (space, mut draws) = (Space::new(&discrete, 4), Draws::new(11));
            let sampled = (0..6).filter_map(|_| space.sample(&mut draws));
            let named = presets::ALL.iter().map(|p| p.schedule(&discrete, Precision::F32));
            for chosen in named.chain(sampled) {
                later_stages(&discrete, &chosen);
            }
        }
    }
}

fn later_stages(discrete: &algorithm::Algorithm, chosen: &schedule::Schedule) {
    let text = schedule::text::print(chosen);
    assert_eq!(schedule::text::parse(&text).or_panic(), *chosen);
    let compiled = compile(discrete, chosen, &Target::new(4)).or_panic();
    assert_eq!(plan::text::parse(&plan::text::print(&compiled.plan)).or_panic(), compiled.plan);
    for made in &compiled.kernels {
        let text = kernel::text::print(made);
        assert_eq!(kernel::text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), *made);
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let source = || {
        let discrete = algorithm_of(ISOTHERMAL_NS);
        let mut out = algorithm::text::print(&discrete);
        for preset in presets::ALL {
            let compiled =
                compile(&discrete, &preset.schedule(&discrete, Precision::F32), &Target::new(4))
                    .or_panic();
            out += &plan::text::print(&compiled.plan);
            for made in &compiled.kernels {
                out += &kernel::text::print(made);
                if made.launch.kind == schedule::LaunchKind::Blocks {
                    out += &emit::cuda(made, Precision::F32).or_panic().text;
                }
            }
        }
        out
    };
    assert_eq!(source(), source());
}
