//! The text of the kernels for ghost cells compiles.

use stencil_compiler::emit::Patches;
use stencil_compiler::schedule::Layout;

use crate::backend::cuda::compile::nvrtc::tests::nvrtc;
use crate::backend::cuda::kernels::builtin::own_text;

/// Each text for one architecture, and each layout for all of them: a text takes seconds.
#[test]
fn the_text_compiles_for_each_architecture() {
    let Some(nvrtc) = nvrtc() else {
        return;
    };
    let architectures = ["sm_80", "sm_90", "sm_100"];
    for (first, patches) in [Patches::One, Patches::Many].into_iter().enumerate() {
        let texts = Layout::ALL.into_iter().flat_map(|layout| {
            let of = [own_text::<f32>(patches, layout), own_text::<f64>(patches, layout)];
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
