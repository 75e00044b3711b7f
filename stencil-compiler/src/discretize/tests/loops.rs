//! Laws made with loops: each iteration names the one before more than once, so paths through them are too many to go along.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::algorithm::text;
use crate::diag::Code;
use crate::discretize::{DiscretizeError, discretize};
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
