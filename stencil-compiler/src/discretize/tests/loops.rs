//! Laws made with loops: each iteration names the one before more than once, so paths through them are too many to go along.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::algorithm::{Def, GridFn, text};
use crate::diag::Code;
use crate::discretize::{DiscretizeError, discretize};
use crate::expr::{Looped, Node, Op};
use crate::model::parse::parse_str;

/// A law of the root of a cubic by Newton's method, with these items and settings.
fn cubic(items: &str, settings: &str) -> String {
    format!(
        "system Cubic in 1d {{
            conserved q: scalar;
            param a: real = 1;
            fn root(a: scalar) -> scalar {{
                let mut v = a;
                for i in 0..20 {{
                    let step = (v^3 + v - a)/(3*v^2 + 1);
                    v = v - step;
                    until(abs(step) <= 1e-12);
                }}
                v
            }}
            {items}
        }}
        scheme s for Cubic {{ {settings} time: ssprk2; }}"
    )
}

/// The error of a law, within a limit of time; `None` if it is discretized.
fn refused(source: String) -> Option<DiscretizeError> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let model = parse_str(&source).unwrap_or_else(|e| panic!("{}", e.render("test", &source)));
        let checked = model.check();
        let made = checked.map(|()| match discretize(&model) {
            // The text of an algorithm is not empty.
            Ok(made) => (!text::print(&made).is_empty()).then_some(None),
            Err(error) => Some(Some(error)),
        });
        // Who waited may have gone.
        let _ = send.send(made);
    });
    let made = receive.recv_timeout(Duration::from_secs(60));
    made.expect("takes too long").unwrap().unwrap()
}

#[test]
fn laws_made_with_loops_are_discretized() {
    let flux = "let v = root(q); flux q -> [v^2/2]; waves { flow: [v/(3*v^2 + 1)]; }";
    let (plain, primitive) = ("reconstruct: plm;", "reconstruct: plm in primitive;");
    let cases = [
        (flux.to_string(), plain, "hll"),
        (format!("{flux} primitive {{ v; q = v^3 + v; }}"), primitive, "hll"),
        (flux.replace("(q);", "(q) where v > 0;"), plain, "hll"),
    ];
    for (items, reconstruct, solver) in cases {
        let source = cubic(&items, &format!("{reconstruct} riemann: {solver};"));
        assert_eq!(refused(source.clone()), None, "{source}");
    }
}

#[test]
fn speeds_of_loops_are_not_written_out() {
    let source =
        cubic("let v = root(q); flux q -> [v^2/2];", "reconstruct: plm; riemann: rusanov;");
    let code = refused(source).map(|error| error.code);
    assert_eq!(code, Some(Code::NeedsWaves));
}

#[test]
fn loops_over_parameters_are_discretized() {
    let items = "let k = root(a); flux q -> [k*q]; waves { flow: [k]; }";
    let settings = "reconstruct: plm; riemann: hll;";
    assert_eq!(refused(cubic(items, settings)), None);
    // The same without a test, which no choice turns into one factor.
    let bare = cubic(items, settings).replace("until(abs(step) <= 1e-12);", "");
    assert_eq!(refused(bare), None);
}

#[test]
fn slopes_may_be_added_in_loops() {
    for slopes in ["-h*doubled(grad(bed))", "doubled(-h*grad(bed))"] {
        let source = format!(
            "system River in 1d {{
                conserved h: scalar; conserved m: vector; field bed: scalar; ddt(bed) = 0;
                fn doubled(b: vector) -> vector {{ let mut v = b; for i in 0..24 {{ v = v + v; }} v }}
                let u = m/h; let surface = h + bed;
                flux h -> m;
                flux m -> outer(m, u) + h^2/2*I;
                ddt(m) = {slopes};
                primitive {{ h; u; surface; m = h*u; bed = surface - h; }}
                face {{ bed by max; h = max(surface - bed, 0); }}
                waves {{ flow: u; sound: sqrt(h); }}
            }}
            scheme s for River {{ reconstruct: plm in primitive; riemann: hll; time: ssprk2; }}"
        );
        assert_eq!(refused(source), None, "{slopes}");
    }
}

#[test]
fn fluxes_with_loops_are_called_for_the_states_of_a_forecast() {
    let items = "let v = root(q); flux q -> [v^2/2];";
    for (solver, calls) in [("force", 1), ("musta<stages = 2>", 7), ("hll", 0)] {
        let waves = if calls == 0 { "waves { flow: [1]; }" } else { "" };
        let settings = format!("reconstruct: plm; riemann: {solver};");
        let source = cubic(&format!("{items} {waves}"), &settings).replace("ssprk2", "euler");
        let model = parse_str(&source).unwrap_or_else(|e| panic!("{}", e.render("test", &source)));
        let made = discretize(&model).unwrap();
        made.check().unwrap();
        assert_eq!(text::parse(&text::print(&made)).as_ref(), Ok(&made), "{source}");
        let defined = made.defined();
        assert_eq!(defined.routines.len(), usize::from(calls > 0), "{solver}");
        // The same loop in cells, on both sides of faces, and in the fluxes that are called.
        assert_eq!(defined.loops.len(), 1, "{solver}");
        let is_call = |f: &GridFn| match &f.def {
            Def::Point(expr) => expr.nodes.iter().any(|n| matches!(n, Node::Op(Op::Call(_), _))),
            Def::State(_) | Def::Sum(_) => false,
        };
        let found = made.functions.iter().filter(|f| is_call(f)).count();
        assert_eq!(found, calls, "{solver}");
    }
}

/// The loops of a system with this function of a value, which are read back from its text.
fn loops(function: &str, rate: &str) -> BTreeSet<Looped> {
    let source = format!(
        "system S in 2d {{
            field q: scalar; field u: vector; param k: real = 3;
            {function}
            ddt(q) = {rate}; ddt(u) = 0*u;
        }}
        scheme s for S {{ space: central<order = 2>; time: euler; }}"
    );
    let model = parse_str(&source).unwrap_or_else(|e| panic!("{}", e.render("test", &source)));
    let made = discretize(&model).unwrap_or_else(|e| panic!("{e}: {source}"));
    made.check().unwrap();
    assert_eq!(text::parse(&text::print(&made)).as_ref(), Ok(&made), "{source}");
    made.defined().loops
}

/// Newton's method for the root of a value, with this body before its test.
fn root(body: &str) -> String {
    format!(
        "fn root(a: scalar) -> scalar {{
            let mut x = a; let mut n = 0;
            for i in 0..12 {{ let step = (x - a/x)/2; {body} x = x - step; until(abs(step) <= 4*epsilon*x); }}
            x + n/100
        }}"
    )
}

#[test]
fn a_loop_is_one_operation_however_often_it_is_called() {
    let found = loops(&root(""), "root(1 + q^2) + root(2 + q^2) - lap(root(3 + dot(u, u)))");
    let found: Vec<Looped> = found.into_iter().collect();
    let [only] = found[..] else { panic!("{found:?}") };
    // The root, the value, and the part of it that ends the loop, which is the same in all cells.
    assert_eq!((only.variables, only.arguments, only.most), (1, 3, 12));
    let value: f64 = Op::Loop(only).eval(&[1.0, 2.0, 4.0 * f64::EPSILON]);
    assert!((value - 2.0_f64.sqrt()).abs() < 1e-15);
}

#[test]
fn variables_of_loops_come_with_those_that_they_depend_on() {
    let count = "n = n + 1;";
    let sizes = |function: &str| -> Vec<(usize, usize)> {
        loops(function, "root(1 + q^2)").iter().map(|of| (of.variables, of.arguments)).collect()
    };
    // The number of iterations alone, and the root that ends them.
    assert_eq!(sizes(&root(count).replace("x + n/100", "n")), [(2, 4)]);
    assert_eq!(sizes(&root(count)), [(2, 4), (1, 3)]);
    // Of vectors, each component needs all of them.
    let halved = "fn halved(v: vector) -> vector {
        let mut w = v; for i in 0..8 { w = w/2; until(dot(w, w) < 0.1); } w
    }";
    let found = loops(halved, "div(halved(u))");
    assert_eq!(
        found.iter().map(|of| (of.variables, of.arguments)).collect::<Vec<_>>(),
        [(2, 2); 2]
    );
}

#[test]
fn loops_in_loops_are_written_out_inside() {
    let function = "fn root(a: scalar) -> scalar {
        let mut x = a;
        for i in 0..9 {
            let mut y = x;
            for j in 0..5 { y = y/2 + a/(2*y); until(abs(y^2 - a) <= 0.1*a); }
            let step = x - y;
            x = y;
            until(abs(step) <= 1e-3*x);
        }
        x
    }";
    let found = loops(function, "root(1 + q^2)");
    assert_eq!(found.iter().map(|of| of.most).collect::<Vec<_>>(), [9]);
}

#[test]
fn some_loops_stay_written_out() {
    let by_number = root("n = n + i;").replace("x + n/100", "n");
    let few = root("").replace("0..12", "0..3");
    let cases = [
        (by_number, "root(1 + q^2)"),
        (few, "root(1 + q^2)"),
        // Of parameters alone.
        (root(""), "root(1 + k)*q"),
    ];
    for (function, rate) in cases {
        assert_eq!(loops(&function, rate), BTreeSet::new(), "{function} {rate}");
    }
}
