//! Whole texts.

use super::fixtures::accumulate;
use super::*;
use crate::plan::Place;

#[test]
fn cuda_of_heat() {
    assert_eq!(f32_text(&heat(LaunchKind::Blocks)), include_str!("heat.cu"));
}

/// The statements of a kernel are the same; the head finds the patch.
#[test]
fn cuda_over_many_patches() {
    let kernel = heat(LaunchKind::Blocks);
    let source = cuda_over(Patches::Many, &kernel, Precision::F32).unwrap();
    assert_eq!(source.text, include_str!("heat_patches.cu"));
    let body = |text: &str| text[text.find("  const int x = ").unwrap()..].to_string();
    assert_eq!(body(&source.text), body(&f32_text(&kernel)));
}

/// The text of one patch, whose blocks are counted from the first one of the part.
#[test]
fn cuda_over_a_part_of_the_blocks() {
    let kernel = heat(LaunchKind::Blocks);
    let text = cuda_over(Patches::Part, &kernel, Precision::F32).unwrap().text;
    let begins = ",\n    const int begin0, const int begin1, const int begin2";
    assert!(text.contains("const int bx = begin0 + blockIdx.x;"), "{text}");
    let whole = [begins, "begin0 + ", "begin1 + ", "begin2 + "];
    let whole = whole.into_iter().fold(text, |text, part| text.replace(part, ""));
    assert_eq!(whole, f32_text(&kernel));
}

/// Values near the ends of a patch are stored in the ghost cells of others, too.
#[test]
fn cuda_of_one_of_several_devices() {
    let mut kernel = heat(LaunchKind::Blocks);
    let output = kernel.buffers.iter_mut().find(|buffer| buffer.mode == Mode::Write).unwrap();
    output.sent = true;
    let name = output.name.clone();
    let text = cuda_over(Patches::Part, &kernel, Precision::F32).unwrap().text;
    assert!(text.contains(
        "const int low, const int high, const int end, const long long to_low, const long long to_high"
    ));
    let stored = text.lines().find(|line| line.contains(&format!("{name}[")));
    let stored = stored.unwrap().trim();
    let (_, at) = stored.split_once('[').unwrap();
    let (at, value) = at.split_once("] = ").unwrap();
    let text: String = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let own = format!("{name}[{at}] = {value}");
    let inside = format!("if (static_cast<unsigned>({at} - low) < inside) {{ {own} }}");
    assert!(text.contains(&format!("{inside} else if ({at} < end) {{ {own} if")), "{text}");
    for (test, to) in [("< low", "to_low"), (">= high", "to_high")] {
        let also = format!("if ({at} {test}) {{ {name}[{to} + {at}] = {value} }}");
        assert!(text.contains(&also), "{also}: {text}");
    }
    // One patch, and launches over many, store their own values alone.
    for patches in [Patches::One, Patches::Many] {
        let [sent, own] = [true, false].map(|sent| {
            let mut kernel = kernel.clone();
            kernel.buffers.iter_mut().for_each(|buffer| buffer.sent &= sent);
            cuda_over(patches, &kernel, Precision::F32).unwrap().text
        });
        assert_eq!(sent, own);
    }
}

/// Threads by one number for all cells: rows and planes of the region, and cells computed beyond the interior.
#[test]
fn cuda_of_numbered_cells() {
    let text = |dimension: usize, extend: [u32; 3]| {
        let mut kernel = block(|b| {
            let number = Index::Block(0) * 64 + Index::Thread(0);
            let number = Index::Var(b.int("number", number));
            let at = [0, 1, 2].map(|axis| Index::Numbered(Box::new(number.clone()), axis));
            b.cell("here", at);
        });
        kernel.dimension = dimension;
        kernel.launch.extend = extend;
        f32_text(&kernel)
    };
    let lines = |text: &str| {
        let found = text.lines().find(|line| line.contains("int here"));
        found.unwrap_or_default().trim().to_string()
    };
    assert_eq!(
        lines(&text(3, [0; 3])),
        "const int here = number % n0 + number / n0 % n1 * pitch + number / (n0 * n1) * plane;"
    );
    assert_eq!(
        lines(&text(2, [4, 1, 0])),
        "const int here = number % (n0 + 8) - 4 + (number / (n0 + 8) - 1) * pitch + number / ((n0 + 8) * (n1 + 2)) * plane;"
    );
}

/// Values of a cell that lie side by side: each access counts them.
#[test]
fn cuda_of_values_that_lie_apart() {
    let mut kernel = heat(LaunchKind::Blocks);
    let together = f32_text(&kernel);
    kernel.buffers[0].beside = Some(Place { at: 1, of: 5, ..Place::alone(0) });
    let text = f32_text(&kernel);
    let read = format!("{}[", kernel.buffers[0].name);
    let accesses = |text: &str| -> Vec<String> {
        let after = text.split(&read).skip(1);
        let of = after.map(|rest| rest.split(']').next().unwrap_or_default());
        of.map(String::from).collect()
    };
    let (plain, apart) = (accesses(&together), accesses(&text));
    assert!(plain.len() > 6 && plain.len() == apart.len());
    for (plain, apart) in plain.iter().zip(&apart) {
        let wanted = match plain.contains(' ') {
            true => format!("({plain}) * 5"),
            false => format!("{plain} * 5"),
        };
        assert_eq!(*apart, wanted);
    }
    assert_eq!(text.matches("* 5]").count(), apart.len(), "other buffers are alone");
}

#[test]
fn cuda_of_accumulate() {
    let text = f32_text(&accumulate(LaunchKind::Blocks));
    assert!(text.contains("float* a,\n"), "read and written: may be the same memory\n{text}");
    assert!(text.contains("= (5e-1f < size ? 5e-1f : size) * 3e0f;"), "{text}");
}

#[test]
fn cuda_of_march() {
    let source = cuda(&march(1), Precision::F32).unwrap();
    assert_eq!(source.text, include_str!("march.cu"));
    assert_eq!(source.shared_bytes, 8 * 40 * 14 * 4 + 2 * 8 * 8);
    assert_eq!(source.threads, [32, 8, 1]);
    let (line, note) = &source.line_notes[0];
    assert_eq!(source.text.lines().nth(line - 1).unwrap().trim(), format!("// {note}"));
    assert_eq!(source.note_at(line + 3), Some(note.as_str()));
    assert_eq!(source.note_at(line - 1), None);
}

/// One thread has boxes copied; arrays are one axis of the maps, and many patches one more.
#[test]
fn cuda_of_boxes() {
    let text = include_str!("../../kernel/interp/tests/boxes.kernel");
    let kernel = crate::kernel::text::parse(text).unwrap();
    let source = cuda(&kernel, Precision::F32).unwrap();
    assert_eq!(source.text, include_str!("boxes.cu"));
    assert_eq!(source.needs, (9, 0));
    assert_eq!(cuda(&march(1), Precision::F32).unwrap().needs, (8, 0));
    let many = cuda_over(Patches::Many, &kernel, Precision::F32).unwrap();
    for part in [
        "cp.async.bulk.tensor.5d.",
        "  const int number = listed[block / (blocks0 * blocks1 * blocks2)];\n",
        ", z0 + p - 1 + first2, number, full + 8 * slot);\n",
    ] {
        assert!(many.text.contains(part), "{part}\n{}", many.text);
    }
    let two = text.replace("buffer u_new", "buffer v read halo [1, 1, 1] buffer u_new");
    let two = crate::kernel::text::parse(&two.replace("<- u(", "<- u, v(")).unwrap();
    let two = f32_text(&two);
    assert!(two.contains(" TensorMap u_map,\n") && !two.contains("v_map"));
    let copies = |text: &str| text.matches("copy_box(&").count();
    assert_eq!(copies(&two), copies(&source.text));
}

#[test]
fn rust_of_rows() {
    let text = rust(&[&heat(LaunchKind::Rows), &accumulate(LaunchKind::Rows)]).unwrap();
    assert_eq!(text, include_str!("rows.rs.txt"));
    text.parse::<proc_macro2::TokenStream>().unwrap();
    syn::parse_file(&text).unwrap();
}

#[test]
fn c_of_rows() {
    let kernels = [&heat(LaunchKind::Rows), &accumulate(LaunchKind::Rows)];
    assert_eq!(c(&kernels, Precision::F32, 16).unwrap(), include_str!("rows.c"));
    let double = c(&kernels, Precision::F64, 8).unwrap();
    assert!(double.contains("enum { LANES = 8 };") && !double.contains("float"), "{double}");
    assert!(c(&[&heat(LaunchKind::Blocks)], Precision::F32, 16).is_err());
}

/// Nothing that a user writes reaches the text but identifiers, none of which a compiler knows.
#[test]
fn c_takes_no_notes_and_no_bare_names() {
    let mut kernel = accumulate(LaunchKind::Rows);
    kernel.notes.push("*/ #include </etc/passwd> \\".to_string());
    kernel.body.insert(0, Stmt::Note("asm(\"nop\"); ??/".to_string()));
    let plain = c(&[&accumulate(LaunchKind::Rows)], Precision::F32, 16).unwrap();
    assert_eq!(c(&[&kernel], Precision::F32, 16).unwrap(), plain);
    let text = |uniform: &str| {
        let mut kernel = accumulate(LaunchKind::Rows);
        kernel.uniforms[0] = uniform.to_string();
        c(&[&kernel], Precision::F32, 16)
    };
    let macros = text("linux").unwrap();
    assert!(macros.contains("const float linux_v = c[0];") && !macros.contains("linux;"));
    for bad in ["a b", "a;b", "é", "1a", "", "a\\\nb"] {
        assert!(text(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn the_same_kernel_gives_the_same_bytes() {
    assert_eq!(f32_text(&march(4)), f32_text(&march(4)));
}
