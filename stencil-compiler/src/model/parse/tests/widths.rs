//! Vectors of three components on meshes of fewer axes.

use super::*;

/// A system with these items, in one dimension.
fn system(items: &str) -> String {
    format!("system S in 1d {{ {items} }}")
}

const FIELD: &str = "field B: vector<3> [T]; ddt(B) = 0*B;";

#[test]
fn vectors_of_three_components_are_printed_as_such() {
    let text = "system S in nd {
        field B: vector<3> [T]; field s: symmetric<3>; field rho: scalar;
        source f: vector<3> = [0, sin(x), 0];
        fn turned(a: vector<3>, b: vector) -> vector<3> { cross(a, b) }
        let j = curl(B);
        ddt(B) = curl(turned(j, B)) + f;
        ddt(s) = sym(grad(B)) + trace(s)*I;
        ddt(rho) = div(B)*norm(j) + B.z;
    }";
    for dimension in 1..=3 {
        let model = parse_str_in(text, Some(dimension))
            .unwrap_or_else(|e| panic!("{}", e.render("test", text)));
        assert_eq!((model.dimension, model.components), (dimension, 3));
        let printed = text::print(&model);
        assert_eq!(printed.contains("field B: vector<3> [T]"), dimension < 3);
        assert_eq!(printed.contains("field s: symmetric<3>"), dimension < 3);
        let again = parse_str_in(&printed, None).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(again.without_spans(), model.without_spans(), "{printed}");
        assert_eq!(again.check(), Ok(()));
    }
    // A plain vector has as many as there are axes.
    let plain = parse_str(&system("field u: vector; ddt(u) = grad(u.x);")).unwrap();
    assert_eq!(plain.components, 1);
}

/// The underlined place, with the message.
fn told(items: &str) -> Vec<(String, String)> {
    let text = system(items);
    let errors = parse_str(&text).expect_err(&text);
    let underlined = |span: Span| {
        let [from, to] = [span.start, span.end].map(|place| place.column as usize);
        text[from..to].to_string()
    };
    let errors = errors.iter();
    errors.map(|e| (underlined(e.span), e.message.clone())).collect()
}

#[test]
fn vectors_of_both_kinds_are_told_apart() {
    for (items, underlined, message) in [
        (
            "field u: vector; field B: vector<3>; ddt(u) = 0*u; ddt(B) = 0*B;",
            "vector",
            "`u` is a `vector` of 1 axis, and `B` is a `vector<3>`",
        ),
        (
            "field B: vector<3>; source t2: tensor; ddt(B) = 0*B;",
            "tensor",
            "`t2` is a `tensor` of 1 axis, and `B` is a `vector<3>`",
        ),
        (
            "field f: scalar; fn g(a: vector<3>) -> scalar { a.x } ddt(f) = f;",
            "vector<3>",
            "three components, and vectors of `S` have 1 component",
        ),
        (
            "field B: vector<2>; ddt(B) = 0;",
            "vector<2",
            "a vector or a tensor is one of the axes of the mesh, or one of three components",
        ),
        (
            "field B: scalar<3>; ddt(B) = 0;",
            "scalar<3",
            "a vector or a tensor is one of the axes of the mesh, or one of three components",
        ),
    ] {
        let found = told(items);
        let expected = (underlined.to_string(), message.to_string());
        assert!(found.contains(&expected), "{items}: {found:?}");
    }
}

#[test]
fn stacks_components_and_axes_are_of_their_numbers() {
    for (items, underlined, message) in [
        ("let a = [1, 2];", "[1, 2]", "2 entries in a system of `vector<3>`"),
        ("let a = B.w;", "w", "no component `w` in a system of `vector<3>`"),
        ("let a = d[y](B);", "y", "no component or axis `y` in 1d"),
    ] {
        let found = told(&format!("{FIELD} {items}"));
        assert_eq!(found, [(underlined.to_string(), message.to_string())], "{items}");
    }
}
