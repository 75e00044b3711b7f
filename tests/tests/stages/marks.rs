//! Marks that lead from machine code back to lines of the declaration.

use std::collections::BTreeSet;

use stencil_compiler::compile::{Target, compile};
use stencil_compiler::emit::{self, Places};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::search::{heuristic, presets};
use stencil_tests::{ISOTHERMAL_NS, OrPanic, algorithm_of};

use super::nvrtc::{ARCH, compiler};

/// Returns the sections of machine code that hold instructions: names and contents.
fn instructions(cubin: &[u8]) -> Vec<(String, Vec<u8>)> {
    let number = |at: usize, bytes: usize| -> usize {
        let part = &cubin[at..at + bytes];
        part.iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte))
    };
    // ELF, 64 bits: the table of sections, the size and number of its entries, the one of names.
    let (table, size, count, names) = (number(40, 8), number(58, 2), number(60, 2), number(62, 2));
    let header = |at: usize| table + at * size;
    let content = |at: usize| {
        let start = number(header(at) + 24, 8);
        start..start + number(header(at) + 32, 8)
    };
    let name = |at: usize| {
        let start = content(names).start + number(header(at), 4);
        let end = cubin[start..].iter().position(|b| *b == 0).expect("a name ends");
        String::from_utf8_lossy(&cubin[start..start + end]).into_owned()
    };
    let code = (0..count).filter(|at| name(*at).starts_with(".text"));
    code.map(|at| (name(at), cubin[content(at)].to_vec())).collect()
}

/// Marks tell profilers the origin of instructions; they change none of them.
#[test]
fn marks_change_no_instruction() {
    let Some(nvrtc) = compiler() else { return };
    let mut algorithm = algorithm_of(ISOTHERMAL_NS);
    algorithm.file = "navier_stokes.pde".to_string();
    let mut bytes = [0, 0];
    for preset in ["direct", "carried", "single_pass", "decomposed"] {
        let schedule =
            presets::find(preset).expect("a preset").schedule(&algorithm, Precision::F32);
        let compiled = compile(&algorithm, &schedule, &Target::new(4)).or_panic();
        let kernel = &compiled.kernels[0];
        let source = emit::cuda(kernel, Precision::F32).or_panic();
        let marked = source.marked(&Places::of(&algorithm), "kernel.cu");
        let marks = marked.text.matches("\n#line").count();
        let lines = source.line_origins.len();
        assert!(lines * 4 > source.text.lines().count(), "{preset}: {lines}");
        assert!(marks >= lines, "{preset}: {marks} marks for {lines} lines");
        let plain = nvrtc.compile(&source.text, "kernel.cu", ARCH).or_panic();
        let with = nvrtc.compile_marked(&marked, "kernel.cu", ARCH).or_panic();
        assert_eq!(plain.kernels, with.kernels, "{preset}");
        let code = instructions(&plain.cubin);
        assert!(!code.is_empty());
        assert!(code == instructions(&with.cubin), "{preset}: other instructions");
        bytes = [bytes[0] + plain.cubin.len(), bytes[1] + with.cubin.len()];
    }
    println!("bytes without and with marks: {bytes:?}");
}

/// Numbers do not depend on the place of a declaration: nor do texts, except for the marks.
#[test]
fn moving_a_declaration_changes_its_marks_only() {
    let texts = |source: &str| {
        let mut algorithm = algorithm_of(source);
        algorithm.file = "navier_stokes.pde".to_string();
        let schedule = heuristic::gpu(&algorithm, Precision::F32);
        let compiled = compile(&algorithm, &schedule, &Target::new(4)).or_panic();
        let kernel = &compiled.kernels[0];
        let text = stencil_compiler::kernel::text::print(kernel);
        let source = emit::cuda(kernel, Precision::F32).or_panic();
        let marked = source.marked(&Places::of(&algorithm), "kernel.cu").text;
        (text, source, marked)
    };
    let (here, below) = (texts(ISOTHERMAL_NS), texts(&format!("\n\n{ISOTHERMAL_NS}")));
    assert_eq!(here.0, below.0);
    assert_eq!(here.1, below.1);
    let lines = |text: &str| -> Vec<u32> {
        let mut declared = false;
        let marks = text.lines().filter_map(|line| line.strip_prefix("#line ")).filter(|mark| {
            // A mark without a file is in that of the one before.
            declared = mark.contains("navier_stokes.pde") || (declared && !mark.contains('"'));
            declared
        });
        marks.filter_map(|mark| mark.split(' ').next()?.parse().ok()).collect()
    };
    let (here, below) = (lines(&here.2), lines(&below.2));
    // Its `let` and both equations, each term on the line where it is first written.
    assert_eq!(BTreeSet::from_iter(here.iter().copied()), BTreeSet::from([8, 9, 10, 11]));
    assert!(here.iter().map(|l| l + 2).eq(below));
}
