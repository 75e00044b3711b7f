//! The text of the kernels for ghost cells compiles.

use stencil_compiler::emit::Patches;
use stencil_compiler::schedule::Layout;

use crate::backend::cuda::compile::nvrtc::tests::nvrtc;
use crate::backend::cuda::kernels::builtin::{Form, own_text};

/// Each text for one architecture, and each layout for all of them: a text takes seconds.
#[test]
fn the_text_compiles_for_each_architecture() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let architectures = ["sm_80", "sm_90", "sm_100"];
    for (first, patches) in [Patches::One, Patches::Many].into_iter().enumerate() {
        let texts = Layout::ALL.into_iter().flat_map(|layout| {
            // Rules that read other components, in one precision for each number of patches.
            let [single, double] = [Patches::One, Patches::Many].map(|in_turn| Form {
                patches,
                layout,
                across: patches == in_turn,
            });
            let of = [own_text::<f32>(single), own_text::<f64>(double)];
            of.map(|text| (text, layout))
        });
        let turns = architectures.iter().cycle().skip(first);
        for ((text, layout), architecture) in texts.zip(turns) {
            let compiled = nvrtc.compile(&text, "own.cu", architecture).unwrap();
            let names: Vec<&str> = compiled.kernels.iter().map(|k| &*k.name).collect();
            let reduce = ["reduce_values", "reduce_parts", "reduce_numbers"];
            for kernel in ["fill_ghosts", "find_bad", "take_cells"].iter().chain(&reduce) {
                assert!(names.contains(kernel), "{kernel}");
            }
            let moves = names.contains(&"move_values");
            assert_eq!(moves, layout == Layout::Aos);
        }
    }
}
