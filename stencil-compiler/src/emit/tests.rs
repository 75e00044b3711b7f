//! Emitted texts, and refused kernels.

mod fixtures;
mod march;
mod surfaces;
mod texts;

use fixtures::{Build, heat, lit};
use march::march;

use super::*;
use crate::expr::{Lit, Op};
use crate::kernel::*;
use crate::schedule::LaunchKind;

fn f32_text(kernel: &Kernel) -> String {
    cuda(kernel, Precision::F32).unwrap().text
}

/// A block kernel whose body is made by `fill`.
fn block(fill: impl FnOnce(&mut Build)) -> Kernel {
    let mut b = Build::new(
        "k",
        LaunchKind::Blocks,
        &[("u", Mode::Read), ("out", Mode::Write)],
        &["a", "b"],
    );
    fill(&mut b);
    b.finish()
}

#[test]
fn literals_read_back_to_the_same_value() {
    let values = [0.1, -6.0, 1.0 / 3.0, 1e-45, -0.0, 3.4e38, 16777217.0];
    let kernel = block(|b| {
        let at = b.cell("at", [0.into(), 0.into(), 0.into()]);
        values.iter().for_each(|value| b.store(1, at, lit(*value)));
    });
    for (line, value) in
        f32_text(&kernel).lines().filter(|line| line.contains("out[at]")).zip(values)
    {
        let text = line.split(" = ").nth(1).unwrap().trim_end_matches("f;");
        assert_eq!(text.parse::<f32>().unwrap().to_bits(), (value as f32).to_bits(), "{line}");
    }
}

#[test]
fn signs_and_differences_keep_their_parentheses() {
    let kernel = block(|b| {
        let at = b.cell("at", [0.into(), 0.into(), 0.into()]);
        let (x, y) = (Operand::Uniform(0), Operand::Uniform(1));
        let inner = b.op("inner", Op::Sub, &[x, y]);
        let negated = b.op("negated", Op::Neg, &[inner]);
        let twice = b.op("twice", Op::Neg, &[negated]);
        b.store(1, at, twice);
        let right = b.op("right", Op::Sub, &[x, y]);
        let left = b.op("left", Op::Sub, &[y, lit(-2.0)]);
        let all = b.op("all", Op::Sub, &[left, right]);
        b.store(1, at, all);
        let quotient = b.op("quotient", Op::Div, &[x, y]);
        let product = b.op("product", Op::Mul, &[x, quotient]);
        b.store(1, at, product);
    });
    let text = f32_text(&kernel);
    assert!(text.contains("out[at] = -(-(c.a - c.b));"), "{text}");
    assert!(text.contains("out[at] = c.b - -2e0f - (c.a - c.b);"), "{text}");
    assert!(text.contains("out[at] = c.a * (c.a / c.b);"), "{text}");
}

#[test]
fn a_value_is_not_nested_past_a_queue_that_it_reads() {
    let kernel = block(|b| {
        let queue = b.reg("queue");
        b.kernel.queues.push(queue);
        let at = b.cell("at", [0.into(), 0.into(), 0.into()]);
        let old = b.op("old", Op::Add, &[Operand::Reg(queue), lit(1.0)]);
        b.body.push(Stmt::Set { reg: queue, value: Operand::Uniform(0) });
        b.store(1, at, old);
    });
    let text = f32_text(&kernel);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let expected = ["const float old = queue + 1e0f;", "queue = c.a;", "out[at] = old;"];
    assert!(lines.windows(3).any(|window| window == expected), "{text}");
    assert!(text.contains("  float queue = 0;\n"), "{text}");
}

#[test]
fn nothing_is_nested_into_another_block() {
    let kernel = block(|b| {
        let at = b.cell("at", [0.into(), 0.into(), 0.into()]);
        let sum = b.op("sum", Op::Add, &[Operand::Uniform(0), lit(1.0)]);
        let store =
            Stmt::Store { buffer: BufferId(1), cell: at, offset: [0; 3], values: vec![sum] };
        let test =
            Condition { left: Index::Thread(0), relation: Relation::Less, right: Index::Size(0) };
        b.body.push(Stmt::If { conditions: vec![test], body: vec![store] });
    });
    assert!(
        f32_text(&kernel)
            .contains("const float sum = c.a + 1e0f;\n  if (tx < n0) {\n    out[at] = sum;")
    );
}

#[test]
fn shared_loads_and_stores_are_as_wide_as_the_hardware_allows() {
    let kernel = |bytes| {
        let mut kernel = block(|b| {
            b.kernel.shared.push(SharedArray { name: "tile".into(), len: 64 });
            let base = b.int("base", Index::Thread(0) * 4);
            let regs: Vec<Reg> = (0..4).map(|i| b.reg(&format!("s{i}"))).collect();
            let values = regs.iter().copied().map(Operand::Reg).collect();
            b.body.push(Stmt::LoadShared { regs, array: SharedId(0), base, offset: 4 });
            b.body.push(Stmt::StoreShared { array: SharedId(0), base, offset: 8, values });
        });
        kernel.value_bytes = bytes;
        kernel
    };
    let text = f32_text(&kernel(4));
    assert!(
        text.contains("const float4 v0_ = *reinterpret_cast<const float4*>(&tile[base + 4]);"),
        "{text}"
    );
    assert!(text.contains("const float s3 = v0_.w;"), "{text}");
    assert!(
        text.contains("*reinterpret_cast<float4*>(&tile[base + 8]) = float4{s0, s1, s2, s3};"),
        "{text}"
    );
    let text = cuda(&kernel(8), Precision::F64).unwrap().text;
    assert!(
        text.contains(
            "const double2 v1_ = *reinterpret_cast<const double2*>(&tile[base + 4 + 2]);"
        ),
        "{text}"
    );
    assert!(text.contains("const double s3 = v1_.y;"), "{text}");
    assert!(
        text.contains("*reinterpret_cast<double2*>(&tile[base + 10]) = double2{s2, s3};"),
        "{text}"
    );
}

#[test]
fn an_integer_that_is_defined_again_is_assigned() {
    let kernel = block(|b| {
        let slot = b.int("slot", 0.into());
        let p = b.int_var("p");
        let body = vec![Stmt::Int { var: slot, value: (Index::from(slot) + 1.into()) % 8 }];
        b.body.push(Stmt::For { var: p, from: 0.into(), to: Index::Size(2), unroll: true, body });
    });
    let expected = "  int slot = 0;\n  #pragma unroll\n  for (int p = 0; p < n2; ++p) {\n    slot = (slot + 1) % 8;\n  }\n";
    assert!(f32_text(&kernel).contains(expected));
}

#[test]
fn names_are_checked_and_made_to_differ() {
    assert!(identifier_ok("u_p1", &[]) && identifier_ok("_x", &["x"]));
    assert!(
        ["", "_", "1u", "u v", "u;", "ü", "int"].iter().all(|name| !identifier_ok(name, &["int"]))
    );
    let named = |name: &str| block(|b| b.kernel.buffers[0].name = name.to_string());
    let error = cuda(&named("u; }"), Precision::F32).unwrap_err();
    assert_eq!(error, EmitError::Name { what: "buffer", name: "u; }".into() });
    let text = f32_text(&named("double"));
    assert!(text.contains("const float* __restrict__ double_2"), "{text}");
    let mut kernel = named("u");
    kernel.name = "int".to_string();
    assert!(matches!(cuda(&kernel, Precision::F32), Err(EmitError::Name { what: "kernel", .. })));
}

#[test]
fn a_note_cannot_leave_its_comment() {
    let kernel = block(|b| b.body.push(Stmt::Note("one\\\ntwo \r} \\".into())));
    assert!(f32_text(&kernel).contains("  // one/\n  // two  } /\n}\n"));
}

#[test]
fn what_has_no_text_is_refused() {
    let rows = heat(LaunchKind::Rows);
    assert_eq!(cuda(&rows, Precision::F32), Err(EmitError::Launch { kernel: "heat".into() }));
    let blocks = heat(LaunchKind::Blocks);
    assert_eq!(cuda(&blocks, Precision::F64), Err(EmitError::Precision { kernel: 4, text: 8 }));
    assert_eq!(rust(&[&blocks]), Err(EmitError::Launch { kernel: "heat".into() }));
    let literal = |value: f64| {
        block(|b| {
            let at = b.cell("at", [0.into(), 0.into(), 0.into()]);
            b.store(1, at, Operand::Lit(Lit::new(value)));
        })
    };
    assert_eq!(cuda(&literal(1e39), Precision::F32), Err(EmitError::Literal(1e39)));
    let wide = block(|b| {
        b.int("i", Index::Const(1 << 40));
    });
    assert_eq!(cuda(&wide, Precision::F32), Err(EmitError::Constant(1 << 40)));
    let few = block(|b| {
        b.op("sum", Op::Add, &[lit(1.0)]);
    });
    assert_eq!(cuda(&few, Precision::F32), Err(EmitError::Arity { what: "add", found: 1 }));
    let unknown = block(|b| b.body.push(Stmt::Set { reg: Reg(9), value: lit(1.0) }));
    assert_eq!(cuda(&unknown, Precision::F32), Err(EmitError::Unknown { what: "register", id: 9 }));
}

#[test]
fn rows_count_from_the_region_of_the_launch() {
    let mut kernel = heat(LaunchKind::Rows);
    kernel.launch.extend = [2, 1, 1];
    let Stmt::Cell { at, .. } = &mut kernel.body[0] else { panic!("no cell") };
    *at = [Index::Thread(0) - 2.into(), Index::Block(1) - 1.into(), Index::Block(2) - 1.into()];
    assert_eq!(row_access(&kernel), row_access(&heat(LaunchKind::Rows)));
}

#[test]
fn rows_write_their_own_cells_only() {
    let refused = |change: fn(&mut Build, CellVar)| {
        let buffers = [("u", Mode::Read), ("a", Mode::ReadWrite)];
        let mut b = Build::new("k", LaunchKind::Rows, &buffers, &[]);
        let at = b.cell("at", [Index::Thread(0), Index::Block(1), Index::Block(2)]);
        change(&mut b, at);
        matches!(rust(&[&b.finish()]), Err(EmitError::Rows { .. }))
    };
    assert!(refused(|b, at| {
        b.load("a", 1, at, [1, 0, 0]);
    }));
    assert!(refused(|b, at| b.store(0, at, lit(1.0))));
    assert!(refused(|b, at| {
        b.store(1, at, lit(1.0));
        b.load("a", 1, at, [0; 3]);
    }));
    assert!(refused(|b, _| b.body.push(Stmt::Sync)));
    assert!(refused(|b, _| {
        b.cell("far", [Index::Thread(0) * 2, 0.into(), 0.into()]);
    }));
}
