//! Tests of this stage: texts, checks, footprints, and the two engines against each other.

pub(crate) mod engines;
mod fuse;

use std::collections::BTreeSet;

use super::footprint::{footprint, points, radius};
use super::{Algorithm, Def, text};
use crate::diag::{Place, Span};

/// Heat conduction with a Laplacian of order 6, low-storage Runge-Kutta; the first substep has no
/// accumulator term.
const HEAT: &str = r#"
algorithm Heat 3d
scheme "central order 6, \"time\" rk3"
param kappa = 0.1
param unset                       # no default
state t field
state t_acc accumulator
uniform w0 = kappa * lit(-49.0) / 18.0 * (1.0 / (dx * dx) + 1.0 / (dy * dy) + 1.0 / (dz * dz))
uniform x1 = kappa * 1.5 / (dx * dx)
uniform x2 = kappa * -0.15 / (dx * dx)
uniform x3 = kappa / 90.0 / (dx * dx)
uniform z1 = kappa * 1.5 / (dz * dz)
uniform z2 = kappa * -0.15 / (dz * dz)
uniform z3 = kappa / 90.0 / (dz * dz)
uniform alpha = lit(-0.5)
uniform beta = 0.25
uniform h = dt
fn t = state t
fn t_acc = state t_acc
fn s1 = t[1,0,0] + t[-1,0,0] + (t[0,1,0] + t[0,-1,0])
fn s2 = t[2,0,0] + t[-2,0,0] + (t[0,2,0] + t[0,-2,0])
fn s3 = t[3,0,0] + t[-3,0,0] + (t[0,3,0] + t[0,-3,0])
fn lap = sum { + z3 * t[0,0,-3], + z2 * t[0,0,-2], + z1 * t[0,0,-1], + w0 * t, + x1 * s1, + x2 * s2, + x3 * s3, + z1 * t[0,0,1], + z2 * t[0,0,2], + z3 * t[0,0,3] } @3:4-3:20
fn acc_1 = h * lap
fn t_1 = fma(beta, acc_1, t)
fn acc_2 = fma(alpha, t_acc, h * lap)
fn t_2 = fma(beta, acc_2, t)
substep { t = t_1, t_acc = acc_1 }
substep { t = t_2, t_acc = acc_2 }
"#;

/// functions, a subtraction without factor, a bare number, every operation, state copies. functions, a subtraction
/// without factor, a number alone, every operation, state copies.
const COUPLED: &str = r#"
algorithm Coupled 3d
scheme "mixed"
param nu = 0.01
state a field
state b field
state c field
state a_acc accumulator
state b_acc accumulator
uniform d1 = 0.75 / dx
uniform d2 = 0.15 / dy
uniform d3 = 1.0 / 60.0 / dz
uniform m1 = 270.0 / 720.0 * nu / (dy * dz)
uniform m2 = lit(-27.0) / 720.0 * nu / (dy * dz)
uniform m3 = 2.0 / 720.0 * nu / (dy * dz)
uniform h = dt
fn a = state a
fn b = state b
fn c = state c
fn acc = state a_acc
fn b_acc = state b_acc
fn e1 = a[1,0,0] - a[-1,0,0]
fn e2 = a[2,0,0] - a[-2,0,0]
fn e3 = a[3,0,0] - a[-3,0,0]
fn a_x = sum { + d1 * e1, - d2 * e2, + d3 * e3 }
fn q1 = b[0,1,0] - b[0,-1,0]
fn q2 = b[0,2,0] - b[0,-2,0]
fn q3 = b[0,3,0] - b[0,-3,0]
fn b_yz = sum { - m3 * q3[0,0,-3], - m2 * q2[0,0,-2], - m1 * q1[0,0,-1], + m1 * q1[0,0,1], + m2 * q2[0,0,2], + m3 * q3[0,0,3] }
fn two = 2.0 * (nu_like + 1.5)
fn p = sqrt(abs(a * b) + 1.0) / max(abs(b), two) - min(a, 0.25)
fn p_x = sum { - p[0,0,-2], + a_x, + d1 * p[1,0,0], - d1 * p[-1,-1,0], - two, + p[0,0,2] }
fn p_xx = sum { - d2 * p_x[-2,0,0], + d2 * p_x[2,1,0], - d3 * b_yz }
fn rhs_a = fma(a_x, b, -p_x) + fma(two, b_yz, 0.5)
fn rhs_b = fma(a, 0.125, p_xx * two) - fma(h, 2.0, b)
fn a_acc1 = fma(0.5, acc, h * rhs_a)
fn b_acc1 = acc
fn a_1 = a + 0.25 * a_acc1
fn b_1 = b + h * rhs_b
fn b_2 = fma(b_acc, h, b)
substep { a = a_1, b = b_1, c = c, a_acc = a_acc1, b_acc = b_acc1 }
substep { a = b, b = b_2, c = two, a_acc = b_acc }
"#;

fn coupled() -> String {
    COUPLED.replace("uniform h = dt", "uniform h = dt\nuniform nu_like = nu")
}

fn parsed(text: &str) -> Algorithm {
    text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn numbers_beyond_all_are_refused() {
    let text = coupled().replace("fma(0.5, acc", "fma(1e999, acc");
    let error = text::parse(&text).expect_err("it is no number");
    assert!(error.to_string().contains("larger than any"), "{error}");
}

#[test]
fn texts_return() {
    for source in
        [HEAT.to_string(), coupled(), engines::LINE.into(), engines::PLANE.into(), grad_div()]
    {
        let alg = parsed(&source);
        alg.check().unwrap_or_else(|e| panic!("{e}\n{source}"));
        let printed = text::print(&alg);
        assert_eq!(parsed(&printed), alg, "{printed}");
        assert_eq!(text::print(&parsed(&printed)), printed);
    }
    let heat = parsed(HEAT);
    assert_eq!(heat.scheme, "central order 6, \"time\" rk3");
    let lap = heat.find("lap").map(|id| heat.function(id).span);
    assert_eq!(
        lap,
        Some(Span { start: Place { line: 3, column: 4 }, end: Place { line: 3, column: 20 } })
    );
    // Names that are words of the grammar, one of them alone in a definition.
    let odd = "algorithm A 1d scheme \"\" state state field state fn field fn state = state state fn sum = (state) \
               fn fn = state fn fn param = sum + fn[1,0,0] substep { state = sum, fn = param }";
    let alg = parsed(odd);
    assert_eq!(alg.check(), Ok(()));
    assert_eq!(parsed(&text::print(&alg)), alg);
}

/// Invalid texts, the line of the error, and a part of the message.
const BAD_TEXTS: &[(&str, usize, &str)] = &[
    ("", 1, "expected `algorithm`"),
    ("algorithm A 4d", 1, "4 dimensions"),
    ("algorithm A 1d\nscheme 3", 2, "expected a quoted string"),
    ("algorithm A 1d scheme \"\"\nfoo", 2, "no declaration begins with `foo`"),
    ("algorithm A 1d scheme \"\"\n)", 2, "expected a declaration"),
    ("algorithm A 1d scheme \"\"\nstate a thing", 2, "not `thing`"),
    ("algorithm A 1d scheme \"\" state a field\nstate a field", 2, "defined twice"),
    ("algorithm A 1d scheme \"\"\nfn a = state b", 2, "no state `b`"),
    ("algorithm A 1d scheme \"\"\nfn a = 1.0 + b", 2, "no function or uniform `b`"),
    ("algorithm A 1d scheme \"\"\nuniform u = dx[1,0,0]", 2, "has no offset"),
    ("algorithm A 1d scheme \"\"\nuniform u = 1.0 fn a = u[0,0,0]", 2, "has no offset"),
    ("algorithm A 1d scheme \"\"\nuniform u = v", 2, "no parameter `v`"),
    ("algorithm A 1d scheme \"\"\nfn a = 1.0\nfn b = sum { a }", 3, "expected `+`"),
    ("algorithm A 1d scheme \"\"\nfn a = 1.0\nfn b = sum { + a + a }", 3, "expected `,`"),
    ("algorithm A 1d scheme \"\"\nfn a = 1.0 @x:1-2:3", 2, "expected a line"),
    ("algorithm A 1d scheme \"\"\nfn a = 1.0 @1:1-2:99999999999", 2, "too large"),
    ("algorithm A 1d scheme \"\"\nsubstep { a = b", 2, "no state `a`"),
];

#[test]
fn bad_texts_are_answered_with_a_line() {
    for (source, line, message) in BAD_TEXTS {
        match text::parse(source) {
            Ok(_) => panic!("`{source}` parses"),
            Err(error) => {
                assert_eq!(error.line, *line, "{source}: {error}");
                assert!(error.message.contains(message), "{source}: {error}");
            }
        }
    }
    // Every beginning of a text gives a value or an error, never a panic.
    for (end, _) in HEAT.char_indices() {
        let _ = text::parse(&HEAT[..end]);
    }
}

/// Replacements in `HEAT` that break it, and a part of the message.
const VIOLATIONS: &[(&str, &str, &str)] = &[
    ("param unset", "param dx", "parameter `dx`"),
    ("param unset", "param t", "`t` is declared twice"),
    ("param unset", "param s1", "function `s1` has the name of something else"),
    ("Heat 3d", "Heat 2d", "there is no axis 2"),
    (
        "+ z2 * t[0,0,-2], + z1",
        "+ z2 * t[0,0,2], + z1",
        "`lap`: the terms of the sum are not in the order",
    ),
    ("sum { + z3", "sum { } fn l2 = sum { + z3", "`lap`: the sum has no term"),
    (
        "fn acc_1 = h * lap",
        "fn acc_0 = h * lap + t_acc[1,0,0] fn acc_1 = acc_0",
        "reads `t_acc` at [1, 0, 0]",
    ),
    ("fn acc_1 = h * lap", "fn q = t_acc fn acc_1 = h * lap + q[0,0,1]", "reads `q` at [0, 0, 1]"),
    ("fn acc_1 = h * lap", "fn acc_1 = sum { + t_acc }", "sum `acc_1` reads accumulator `t_acc`"),
    ("{ t = t_2, t_acc = acc_2 }", "{ t = t_2, t = t_1 }", "substep 2: state `t` is updated twice"),
    ("{ t = t_2, t_acc = acc_2 }", "{ t_acc = acc_2 }", "substep 2: field `t` is not updated"),
];

#[test]
fn violations_are_named() {
    for (from, to, message) in VIOLATIONS {
        let source = HEAT.replacen(from, to, 1);
        let error = parsed(&source).check().expect_err(to);
        assert!(error.contains(message), "{error}");
    }
    let mut alg = parsed(HEAT);
    alg.functions[2].name = "s-1".into();
    assert!(alg.check().is_err_and(|e| e.contains("`s-1` is not a name")));
    let mut alg = parsed(HEAT);
    alg.functions.swap(2, 5);
    assert!(alg.check().is_err_and(|e| e.contains("which is not defined before it")));
    let mut alg = parsed(HEAT);
    alg.functions[1].def = Def::State(super::StateId(0));
    assert!(
        alg.check().is_err_and(
            |e| e.contains("function `t_acc` has the name") || e.contains("two functions")
        )
    );
    let mut alg = parsed(HEAT);
    alg.substeps.clear();
    assert!(alg.check().is_err_and(|e| e.contains("no substep")));
}

/// grad(div u) by first derivatives of first derivatives, and the points of a Laplacian.
fn grad_div() -> String {
    let mut out = String::from("algorithm GradDiv 3d scheme \"composed\" uniform w = 1.0 / dx\n");
    for field in ["ux", "uy", "uz"] {
        out += &format!("state {field} field fn {field} = state {field}\n");
    }
    let along = |axis: usize, k: i32| match axis {
        0 => format!("[{k},0,0]"),
        1 => format!("[0,{k},0]"),
        _ => format!("[0,0,{k}]"),
    };
    let mut terms = [Vec::new(), Vec::new(), Vec::new()];
    for (axis, field) in ["ux", "uy", "uz"].into_iter().enumerate() {
        for k in [-3_i32, -2, -1, 1, 2, 3] {
            let plane = if axis == 2 { k.signum() + 1 } else { 1 };
            terms[plane as usize].push(format!("+ w * {field}{}", along(axis, k)));
        }
    }
    out += &format!("fn div = sum {{ {} }}\n", terms.concat().join(", "));
    for (axis, field) in ["ux", "uy", "uz"].into_iter().enumerate() {
        let terms = [-3, -2, -1, 1, 2, 3].map(|k| format!("+ w * div{}", along(axis, k)));
        out += &format!("fn {field}_1 = sum {{ {} }}\n", terms.join(", "));
        let cross = [1, 2, 3].map(|k| {
            format!("{field}[0,{k},0] + {field}[0,-{k},0] + {field}[0,0,{k}] + {field}[0,0,-{k}]")
        });
        out += &format!("fn {field}_lap = {field} + {}\n", cross.join(" + "));
    }
    out + "substep { ux = ux_1, uy = uy_1, uz = uz_1 }\n"
}

#[test]
fn footprints_have_the_points_of_the_papers() {
    let none = BTreeSet::new();
    let heat = parsed(HEAT);
    let lap = heat.find("lap").expect("defined");
    let cross = footprint(&heat, &[lap], &none);
    assert_eq!((points(&cross), radius(&cross)), (19, [3, 3, 3]));

    let composed = parsed(&grad_div());
    let id = |name: &str| composed.find(name).expect("defined");
    let roots = [id("ux_1"), id("uy_1"), id("uz_1"), id("ux_lap")];
    let inline = footprint(&composed, &roots, &none);
    assert_eq!(inline[&id("ux")].len(), 97);
    assert_eq!(radius(&inline), [6, 6, 6]);
    let stored = BTreeSet::from([id("div")]);
    let second = footprint(&composed, &roots, &stored);
    let counts = (second[&id("div")].len(), second[&id("ux")].len());
    assert_eq!((second.len(), counts, radius(&second)), (2, (18, 13), [3, 3, 3]));
    // A stored root is computed, not read; together with its readers it is both.
    assert_eq!(footprint(&composed, &[id("div")], &stored)[&id("ux")].len(), 6);
    let both = footprint(&composed, &[id("div"), id("ux_1")], &stored);
    assert_eq!((both[&id("div")].len(), both[&id("ux")].len()), (6, 6));
    // A root that is a state is read in its own cell.
    assert_eq!(points(&footprint(&composed, &[id("ux")], &none)), 1);
}

#[test]
fn diagonal_mixed_derivatives_read_55_points() {
    let mut source = String::from(
        "algorithm M 3d scheme \"\" state f field fn f = state f uniform w = 1.0 / dx\n",
    );
    let mut names = Vec::new();
    for k in 1..=3 {
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let corner = |i: i32, j: i32| {
                let mut at = [0; 3];
                (at[a], at[b]) = (i * k, j * k);
                format!("f[{},{},{}]", at[0], at[1], at[2])
            };
            let (p, q, r, s) = (corner(1, 1), corner(-1, -1), corner(1, -1), corner(-1, 1));
            source += &format!("fn m{a}{b}{k} = {p} + {q} - ({r} + {s})\n");
            names.push(format!("w * m{a}{b}{k}"));
        }
        for axis in 0..3 {
            let at = |k: i32| {
                (0..3)
                    .map(|i| if i == axis { k.to_string() } else { "0".into() })
                    .collect::<Vec<_>>()
                    .join(",")
            };
            source += &format!("fn c{axis}{k} = f[{}] + f[{}]\n", at(k), at(-k));
            names.push(format!("w * c{axis}{k}"));
        }
    }
    source += &format!("fn f_1 = f + {}\nsubstep {{ f = f_1 }}", names.join(" + "));
    let alg = parsed(&source);
    assert_eq!(alg.check(), Ok(()));
    let all = footprint(&alg, &[alg.find("f_1").expect("defined")], &BTreeSet::new());
    assert_eq!((points(&all), radius(&all)), (55, [3, 3, 3]));
}
