//! Derivatives of derivatives have the order of the scheme up to faces of every kind, by manufactured solutions.

use stencil_runtime::{Axis, Boundary, Face, Faces, Simulation, SystemDef};

/// Forms of one term, `(k q')'`, as they are written: of a source, a field, a named flux, a product of the unknown, in a
/// cylinder, and with `k` the same everywhere.
const FORMS: [(&str, Conductivity); 8] = [
    ("div(k*grad(q))", Conductivity::Given),
    ("d[x](k*d[x](q))", Conductivity::Given),
    ("div(flux)", Conductivity::Given),
    ("div(k*grad(k*q) - q*k*grad(k))", Conductivity::Square),
    ("div((1 + q^2)*grad(q))", Conductivity::OfUnknown),
    ("div(r*k*grad(q))/r", Conductivity::Cylinder),
    ("lap(q)", Conductivity::One),
    ("div(grad(q))", Conductivity::One),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Conductivity {
    One,
    Given,
    Square,
    OfUnknown,
    Cylinder,
}

/// The manufactured solution `q = exp(-t) s(x)`, with two derivatives of `s`, and `k` with one.
#[derive(Clone, Copy)]
struct Exact {
    s: fn(f64) -> [f64; 3],
    k: fn(f64) -> [f64; 2],
}

/// Neither even nor odd at faces.
const OPEN: Exact = Exact {
    s: |x| {
        let (sin, cos) = (2.0 * x + 0.5).sin_cos();
        [cos, -2.0 * sin, -4.0 * cos]
    },
    k: |x| [1.0 + x, 1.0],
};

/// Even at both faces, and periodic.
const EVEN: Exact = Exact {
    s: |x| {
        let w = std::f64::consts::TAU;
        let (sin, cos) = (w * x).sin_cos();
        [cos, -w * sin, -w * w * cos]
    },
    k: |x| {
        let w = std::f64::consts::TAU;
        [1.0 + 0.3 * (w * x).cos(), -0.3 * w * (w * x).sin()]
    },
};

impl Exact {
    fn q(self, x: f64, t: f64) -> f64 {
        (-t).exp() * (self.s)(x)[0]
    }

    fn slope(self, x: f64, t: f64) -> f64 {
        (-t).exp() * (self.s)(x)[1]
    }

    /// Returns the source that the rate lacks.
    fn source(self, conductivity: Conductivity, x: f64, t: f64) -> f64 {
        let [q, slope, curve] = (self.s)(x).map(|s| (-t).exp() * s);
        let [k, rise] = match conductivity {
            Conductivity::One => [1.0, 0.0],
            Conductivity::Given | Conductivity::Cylinder => (self.k)(x),
            Conductivity::Square => {
                let [k, rise] = (self.k)(x);
                [k * k, 2.0 * k * rise]
            }
            Conductivity::OfUnknown => [1.0 + q * q, 2.0 * q * slope],
        };
        let round = match conductivity {
            Conductivity::Cylinder => k * slope / radius(x),
            _ => 0.0,
        };
        -q - rise * slope - k * curve - round
    }
}

/// Long enough for errors of faces to reach some cells.
const END: f64 = 2e-2;

/// The radius in an annulus.
fn radius(x: f64) -> f64 {
    1.5 + x
}

fn system(form: &str, mixed: &str, order: u32) -> SystemDef {
    let text = format!(
        "system Bar in 1d {{ field q: scalar; source k: scalar; source r: scalar; source f: scalar;
             let flux = k*grad(q);
             ddt(q) = {form} + f + 0*k*r; }}
         scheme s for Bar {{ space: central<order = {order}>; mixed: {mixed}; time: rk4; }}"
    );
    SystemDef::from_text("bar", &text).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns the root of the mean square error after a while.
fn error(
    (system, conductivity): (&SystemDef, Conductivity),
    exact: Exact,
    boundaries: &[(Faces, Boundary)],
    n: usize,
) -> f64 {
    let h = 1.0 / n as f64;
    let mut builder = Simulation::<f64>::builder(system)
        .cells([n, 1, 1])
        .centered(true)
        .source(
            "f",
            stencil_runtime::Source::unsteady(move |x, _, _, t| exact.source(conductivity, x, t)),
        )
        .source("k", stencil_runtime::Source::steady(move |x, _, _| (exact.k)(x)[0]))
        .source("r", stencil_runtime::Source::steady(|x, _, _| radius(x)))
        .dt(0.05 * h * h);
    for (faces, boundary) in boundaries {
        builder = builder.boundary(*faces, boundary.clone());
    }
    let mut bar = builder.build().unwrap_or_else(|e| panic!("{e}"));
    bar.set("q", |x, _, _| exact.q(x, 0.0)).unwrap();
    bar.run_until(END, |_, _| ()).unwrap();
    let values = bar.field("q").unwrap();
    let of_cell = |(i, q): (usize, &f64)| (q - exact.q((i as f64 + 0.5) * h, END)).powi(2);
    (values.iter().enumerate().map(of_cell).sum::<f64>() * h).sqrt()
}

/// The name of a kind, a solution that it fits, and the boundaries.
type Kind = (&'static str, Exact, Vec<(Faces, Boundary)>);

/// Returns boundaries of each kind, with the solutions to try.
fn kinds() -> Vec<Kind> {
    let value = || Boundary::dirichlet_with(|x, _, _, t| OPEN.q(x, t));
    let slope =
        || Boundary::neumann_with(|x, _, _, t| OPEN.slope(x, t) * if x < 0.5 { -1.0 } else { 1.0 });
    let all = Faces::from(Axis::X);
    vec![
        ("periodic", EVEN, Vec::new()),
        ("wall", EVEN, vec![(all, Boundary::wall())]),
        ("values", OPEN, vec![(all, value())]),
        ("slopes", OPEN, vec![(all, slope())]),
        ("value and slope", OPEN, vec![(Face::X_LO.into(), value()), (Face::X_HI.into(), slope())]),
    ]
}

#[test]
fn every_form_has_the_order_of_the_scheme_at_every_kind_of_face() {
    let mut missed = Vec::new();
    for (form, conductivity) in FORMS {
        for order in [2, 4, 6] {
            // Nested differences have one form for each way of writing.
            let mixed = match conductivity {
                Conductivity::Given if form.starts_with("div(k") => &["bidiagonal", "composed"][..],
                _ => &["bidiagonal"],
            };
            for mixed in mixed {
                let system = system(form, mixed, order);
                for (kind, exact, boundaries) in kinds() {
                    let known = kind == "wall" || kind == "periodic";
                    if known && conductivity == Conductivity::Cylinder {
                        // The radius is neither even nor periodic.
                        continue;
                    }
                    // At numbers on faces orders are reached from below, as cells become smaller.
                    let (cells, slack) = match (known, order) {
                        (false, 6) => ([64, 128], 0.1),
                        (false, 4) | (true, 6) => ([32, 64], 0.1),
                        _ => ([16, 32], 0.1),
                    };
                    let of = |n| error((&system, conductivity), exact, &boundaries, n);
                    let errors = cells.map(of);
                    let found = (errors[0] / errors[1]).log2();
                    if found < f64::from(order) - slack && errors[1] > 1e-13 {
                        missed.push(format!(
                            "{form}, {mixed}, order {order}, {kind}: order {found:.2} from {errors:?}"
                        ));
                    }
                }
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// A wave of two cells decays, so a steady state has none.
#[test]
fn even_and_odd_cells_do_not_part() {
    // Conductivities of the ghost values of such a state would make no sense.
    let forms = FORMS.iter().filter(|(_, k)| *k != Conductivity::OfUnknown);
    for (form, _) in forms {
        for order in [2, 4, 6] {
            let system = system(form, "bidiagonal", order);
            let mut bar = Simulation::<f64>::builder(&system)
                .cells([16, 1, 1])
                .boundary(Axis::X, Boundary::dirichlet(0.0))
                .source("k", 1.0)
                .source("r", 1.0)
                .source("f", 0.0)
                .dt(2e-4)
                .build()
                .unwrap();
            let sign = |x: f64| {
                if ((16.0 * x) as usize).is_multiple_of(2) { 1.0 } else { -1.0 }
            };
            bar.set("q", |x, _, _| sign(x)).unwrap();
            bar.run(100, |_, _| ()).unwrap();
            let values = bar.to_f64("q").unwrap();
            let jump = |i: usize| (values[[0, 0, i + 1]] - values[[0, 0, i]]).abs();
            let roughest = (0..15).map(jump).fold(0.0, f64::max);
            assert!(roughest < 0.05, "{form}, order {order}: {roughest}");
        }
    }
}

/// A source beyond a wall is an image as a field is.
#[test]
fn what_a_source_conducts_stays_within_walls() {
    let bar = |declared: &str| {
        let text = format!(
            "system Bar in 1d {{ field q: scalar; {declared} ddt(q) = div(k*grad(q)); observe total = sum(q); }}
             scheme s for Bar {{ space: central<order = 4>; time: rk3_williamson; }}"
        );
        SystemDef::from_text("bar", &text).unwrap_or_else(|e| panic!("{e}"))
    };
    let conductivity = |x: f64| 1.0 + 3.0 * x;
    let given = bar("source k: scalar;");
    let evolved = bar("field k: scalar; ddt(k) = 0;");
    let builder = |system: &SystemDef| {
        let builder = Simulation::<f64>::builder(system).cells([16, 1, 1]).dt(1e-4);
        builder.boundary(Axis::X, Boundary::wall())
    };
    let by_source = builder(&given)
        .source("k", stencil_runtime::Source::steady(move |x, _, _| conductivity(x)));
    let mut by_source = by_source.build().unwrap();
    let mut by_field = builder(&evolved).build().unwrap();
    by_field.set("k", |x, _, _| conductivity(x)).unwrap();
    let mut totals = Vec::new();
    for run in [&mut by_source, &mut by_field] {
        run.set("q", |x, _, _| (-20.0 * (x - 0.2).powi(2)).exp()).unwrap();
        totals.push(run.observe().unwrap()["total"]);
        run.run(100, |_, _| ()).unwrap();
        totals.push(run.observe().unwrap()["total"]);
    }
    for total in &totals {
        assert!((total / totals[0] - 1.0).abs() < 1e-14, "{totals:?}");
    }
    assert_eq!(by_source.field("q").unwrap(), by_field.field("q").unwrap());
}

/// No formula of a source is evaluated beyond a face: it may have no value there.
#[test]
fn sources_have_values_beyond_faces_where_their_formulas_have_none() {
    let system = SystemDef::from_text(
        "bar",
        "system Bar in 1d { field q: scalar; source k: scalar; source e: vector;
             ddt(q) = div(k*grad(q)) + div(q*e); }
         scheme s for Bar { space: central<order = 4>; time: rk3_williamson; }",
    )
    .unwrap();
    let value = |q: f64| Boundary::dirichlet(q);
    for boundary in [
        Boundary::wall(),
        Boundary::outflow(),
        Boundary::extrapolate(),
        value(0.1),
        Boundary::neumann(0.1),
        Boundary::text("2*q - near_q"),
    ] {
        let mut bar = Simulation::<f64>::builder(&system)
            .cells([16, 1, 1])
            .boundary(Axis::X, boundary.clone())
            .source("k", stencil_runtime::Source::text("sqrt(x*(1 - x)) + 0*log(x + t)"))
            .source("e_x", stencil_runtime::Source::text("sqrt(x*(1 - x))"))
            .dt(1e-4)
            .build()
            .unwrap();
        bar.set("q", |x, _, _| x).unwrap();
        bar.run(20, |_, _| ()).unwrap_or_else(|e| panic!("{boundary}: {e}"));
    }
}
