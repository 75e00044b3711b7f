//! Any two settings of a scheme: they compile together and stay bounded, or an error with a code refuses them.

use std::f64::consts::TAU;

use stencil_compiler::model::check;
use stencil_runtime::{Axis, Boundary, Error, Simulation, SystemDef};
use stencil_tests::Runs;

use super::choices;

/// Water that slows down, with a range, and with these fluxes, other terms and primitive variables.
fn water(pushed: &str, more: &str, primitive: &str) -> String {
    format!(
        "system Water in nd {{
            conserved h: scalar where h > 0; conserved m: vector;
            source grip: scalar = 0.2;
            let u = m/h; let p = h^2/2;
            flux h -> m; {pushed}
            ddt(m) = -grip*m{more};
            primitive {{ h; u; m = h*u; {primitive} }}
            average {{ h; u by sqrt(h); m = h*u; }}
            waves {{ flow: u; sound: sqrt(h); density: h; pressure: p; }}
            riemann parts {{
                let c = sqrt((below.h + above.h)/2);
                let v = (below.u + above.u)/2;
                let flow = dot(v, normal);
                let rise_m = dot(rise(m), normal);
                let back = ((flow + c)*rise(h) - rise_m)/(2*c);
                let ahead = (rise_m - (flow - c)*rise(h))/(2*c);
                let along = v - flow*normal;
                wave back at flow - c {{ flux h -> 1; flux m -> (flow - c)*normal + along; }}
                wave 1 at flow {{ flux m -> rise(m) - rise_m*normal - rise(h)*along; }}
                wave ahead at flow + c {{ flux h -> 1; flux m -> (flow + c)*normal + along; }}
            }}
        }}"
    )
}

/// Returns the values of each setting, in an order in which neighbours differ in kind.
fn settings() -> Vec<(&'static str, Vec<String>)> {
    let owned = |all: &[&str]| all.iter().map(|one| one.to_string()).collect::<Vec<String>>();
    let made = choices("reconstruct", "none").into_iter();
    let made = made.flat_map(|name| {
        ["", " in primitive", " in characteristic", " in fluxes"].map(|of| format!("{name}{of}"))
    });
    let mut made: Vec<String> = made.collect();
    made.push("ppm<follow = characteristics> in primitive".to_string());
    let mut solvers = choices("riemann", "none");
    solvers.extend(owned(&["roe<else = hlle>", "parts"]));
    let times = [check::predictors(), check::integrators()].concat();
    vec![
        ("reconstruct", made),
        ("time", owned(&times)),
        ("riemann", solvers),
        ("sweep", owned(&["unsplit", "dimensional", "strang", "alternating"])),
        ("source", owned(&["unsplit", "godunov", "strang"])),
        ("repair", owned(&["none", "fluxes"])),
    ]
}

/// Returns schemes among which every two values of two settings are together at least once: each is the one that adds most
/// pairs, of some that begin with a pair that is missing.
fn schemes() -> Vec<String> {
    let settings = settings();
    let sizes: Vec<usize> = settings.iter().map(|(_, values)| values.len()).collect();
    let mut missing = std::collections::BTreeSet::new();
    for (a, of_a) in sizes.iter().enumerate() {
        for (b, of_b) in sizes.iter().enumerate().skip(a + 1) {
            missing.extend((0..*of_a).flat_map(|i| (0..*of_b).map(move |j| (a, i, b, j))));
        }
    }
    let mut all = Vec::new();
    while let Some((a, i, b, j)) = missing.first().copied() {
        let mut row: Vec<Option<usize>> = vec![None; sizes.len()];
        (row[a], row[b]) = (Some(i), Some(j));
        for c in 0..sizes.len() {
            if row[c].is_some() {
                continue;
            }
            let news = |value: usize| {
                let known = row.iter().enumerate().filter_map(|(d, of)| Some((d, (*of)?)));
                let pairs = known.map(|(d, of)| match d < c {
                    true => (d, of, c, value),
                    false => (c, value, d, of),
                });
                pairs.filter(|pair| missing.contains(pair)).count()
            };
            row[c] = (0..sizes[c]).max_by_key(|value| (news(*value), sizes[c] - value));
        }
        let row: Vec<usize> = row.into_iter().flatten().collect();
        missing.retain(|(a, i, b, j)| row[*a] != *i || row[*b] != *j);
        let words = settings.iter().zip(&row);
        all.push(words.map(|((key, values), at)| format!("{key}: {}; ", values[*at])).collect());
    }
    all
}

/// Returns a run, or the error that refuses the scheme.
fn begun(text: &str, dimension: usize) -> Result<Simulation<f64>, Error> {
    let system = SystemDef::from_text_in("water.pde", text, Some(dimension))?;
    let cells = if dimension == 1 { [16, 1, 1] } else { [8, 6, 1] };
    let builder = Simulation::<f64>::builder(&system).cells(cells).centered(true).cfl(0.8);
    builder.boundary(Axis::X, Boundary::outflow()).build()
}

/// Runs a dam that breaks for a few steps, if the scheme fits; false if an error with a code refuses it.
fn runs(text: &str, dimension: usize, scheme: &str) -> bool {
    let text = format!("{text}\nscheme s for Water {{ {scheme} }}");
    let mut run = match begun(&text, dimension) {
        Ok(run) => run,
        Err(error) => {
            let words = error.to_string();
            let has_code = error.code().is_some() || words.contains("[P0");
            assert!(has_code, "{dimension}d {scheme}: {words}");
            return false;
        }
    };
    run.fill("h", |x, y, _| if x < 0.5 { 1.0 + 0.1 * (TAU * y).sin() } else { 0.6 });
    if text.contains("field bed") {
        run.fill("bed", |x, _, _| if (x - 0.3).abs() < 0.1 { 0.1 } else { 0.0 });
    }
    if let Err(error) = run.run(6, |_, _| ()) {
        panic!("{dimension}d {scheme}: {error}");
    }
    for value in run.flat("h") {
        assert!(value > 0.4 && value < 1.3, "{dimension}d {scheme}: a depth of {value}");
    }
    true
}

#[test]
fn any_two_settings_run_or_are_refused() {
    let flux = "flux m -> outer(m, u) + p*I;";
    let bed = format!("field bed: scalar; ddt(bed) = 0; let surface = h + bed; {flux}");
    let face = "surface; bed = surface - h; } face { bed by max; h = max(surface - bed, 0);";
    let texts = [
        water(flux, "", ""),
        water("flux m -> outer(m, u); product m -> h*grad(h);", "", ""),
        water(&bed, " - h*grad(bed)", face),
    ];
    let (mut ran, mut refused) = (0, 0);
    for (number, scheme) in schemes().into_iter().enumerate() {
        match runs(&texts[number % 3], 1 + number % 2, &scheme) {
            true => ran += 1,
            false => refused += 1,
        }
    }
    println!("{ran} ran, {refused} were refused");
    assert!(ran > 40 && refused > 40, "{ran} ran, {refused} were refused");
}
