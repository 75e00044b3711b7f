//! Fields on faces and edges: what is read, which places go together, and which divergences are kept.

use super::super::parse_str;
use crate::catalogue::Centering;
use crate::diag::Code;
use crate::discretize::discretize;
use crate::model::text;

/// A system of such fields around an equation of each.
fn system(magnetic: &str, electric: &str, more: &str) -> String {
    format!(
        "system S in 3d {{ field f: scalar; edge field e: vector; face field b: vector; edge field s: symmetric; face field v: vector;
         {more} ddt(f) = div(v); ddt(v) = grad(f) + div(s); ddt(s) = sym(grad(v)) + f*I; ddt(b) = {magnetic}; ddt(e) = {electric}; }}"
    )
}

fn message(source: &str) -> String {
    let errors = parse_str(source).expect_err(source);
    errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>().join("; ")
}

#[test]
fn fields_on_faces_and_edges_are_read_and_printed() {
    let model = parse_str(&system("-curl(e)", "curl(b)", "")).unwrap();
    let places: Vec<Centering> = model.fields.iter().map(|field| field.centering).collect();
    use Centering::{Cell, Edge, Face};
    assert_eq!(places, [Cell, Edge, Face, Edge, Face]);
    assert_eq!(model.check(), Ok(()));
    let printed = text::print(&model);
    assert!(printed.contains("edge field s: symmetric;"), "{printed}");
    assert_eq!(parse_str(&printed).unwrap().without_spans(), model.without_spans());
    let algorithm = discretize(&model).unwrap();
    let printed = crate::algorithm::text::print(&algorithm);
    for line in [
        "state b_y field above y\n",
        "state e_y field above x z\n",
        "state s_xy field above x y\n",
        "state s_xx field\n",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert_eq!(crate::algorithm::text::parse(&printed).as_ref(), Ok(&algorithm));
}

#[test]
fn values_at_different_places_are_refused_with_both_named() {
    for (source, expected) in [
        (
            system("-curl(e) + cross(v, b)", "curl(b)", ""),
            "`cross` of values in faces along y and in faces along z",
        ),
        (
            system("e", "curl(b)", ""),
            "the rate of `b` lies in edges along x, and the field in faces along x",
        ),
        (
            system("-curl(e)", "curl(b) + f*e", ""),
            "a product of values in the centres of cells and in edges along x",
        ),
        (
            system("-curl(e)", "curl(b)", "observe o = mean(dot(b, b));"),
            "`dot` of values in faces along x and in faces along y",
        ),
        (
            system("-curl(e)", "curl(b)", "let w = b.x + b.y;"),
            "a sum of values in faces along x and in faces along y",
        ),
    ] {
        assert!(message(&source).contains(expected), "{}", message(&source));
    }
    // Interpolation is the way out, and derivatives lead to where they belong.
    for magnetic in [
        "curl(to_edges(cross(to_cells(v), to_cells(b))))",
        "lap(b) + 2*t*b",
        "to_faces(to_cells(v))*to_cells(v).x",
    ] {
        let source =
            system(magnetic, "curl(b)", "observe o = max(abs(div(b)) + norm(to_cells(e)));");
        let is_right = parse_str(&source).is_ok();
        assert_eq!(is_right, !magnetic.contains(").x"), "{magnetic}");
    }
}

#[test]
fn the_compiler_tells_which_divergences_are_kept() {
    let kept = |magnetic: &str, order: u32, time: &str| {
        let source = system(magnetic, "curl(b)", "param k: real = 0.3;")
            + &format!("scheme c for S {{ space: central<order = {order}>; time: {time}; }}");
        let model = parse_str(&source).unwrap_or_else(|e| panic!("{}", e.render("s", &source)));
        discretize(&model).unwrap().kept_divergences(order)
    };
    for (order, time) in [(2, "ssprk2"), (4, "rk4"), (6, "rk3_williamson"), (2, "euler")] {
        assert_eq!(kept("-curl(e)", order, time), ["b"], "{order} {time}");
        assert_eq!(
            kept("k^2*curl(k*e) - curl(to_edges(cross(to_cells(v), to_cells(b))))", order, time),
            ["b"]
        );
        for lost in
            ["-curl(e) + k*to_faces(to_cells(b))", "k*lap(b)", "-curl(e) + to_faces([f, 0, 0])"]
        {
            assert!(kept(lost, order, time).is_empty(), "{lost} {order} {time}");
        }
    }
    assert_eq!(kept("-curl(e) - k*b", 4, "rk4"), ["b"]);
}

/// Returns the code of a law with a field on faces.
fn law(flux: &str, scheme: &str) -> Option<Code> {
    let source = format!(
        "system P in 2d {{ conserved m: vector<3>; face conserved b: vector<3>; let u = m/2; let c = to_cells(b);
         flux m -> outer(u, m) - outer(c, c) + (1 + dot(c, c)/2)*I; flux b -> {flux};
         waves {{ flow: u; sound: sqrt(1 + dot(c, c)); }} }}
         scheme s for P {{ space: central<order = 2>; {scheme} }}"
    );
    let model = parse_str(&source).unwrap_or_else(|e| panic!("{}", e.render("s", &source)));
    let made = discretize(&model);
    if let Ok(algorithm) = &made {
        assert_eq!(algorithm.kept_divergences(2), ["b"], "{scheme}");
    }
    made.err().map(|error| error.code)
}

#[test]
fn laws_transport_fields_on_faces_by_schemes_that_can() {
    let flux = "outer(u, c) - outer(c, u)";
    for scheme in [
        "reconstruct: plm; riemann: hll; time: ssprk2;",
        "reconstruct: ppm; riemann: rusanov; time: ssprk3;",
        "reconstruct: weno5; riemann: force; time: rk4;",
        "reconstruct: plm; riemann: hll; time: van_leer;",
        "reconstruct: plm; riemann: hll; time: muscl_hancock;",
        "reconstruct: ppm; riemann: rusanov; time: corner_transport;",
    ] {
        assert_eq!(law(flux, scheme), None, "{scheme}");
        assert_eq!(law("outer(u, c)", scheme), Some(Code::NotTransported));
    }
    for scheme in [
        "reconstruct: plm; riemann: hll; time: ssprk2; sweep: strang;",
        "reconstruct: weno5 in fluxes; riemann: hll; time: ssprk3;",
    ] {
        assert_eq!(law(flux, scheme), Some(Code::NotTransported), "{scheme}");
    }
}
