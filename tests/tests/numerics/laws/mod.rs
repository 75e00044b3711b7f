//! Conservation laws: every reconstruction, limiter and Riemann solver is tested by being in its list.

mod axes;
mod beds;
mod bounded;
mod bounds;
mod carried;
mod choices;
mod combinations;
mod contact;
mod declared;
mod exact;
mod fallback;
mod fluxes;
mod forecasts;
mod gas_waves;
mod given;
mod leveque;
mod library;
mod linear_waves;
mod magnetic;
mod open;
mod order;
mod parabolas;
mod predictors;
mod problems;
mod product_steps;
mod products;
mod properties;
mod ranges;
mod relativistic;
mod scalars;
mod seven_waves;
mod shocks;
mod solids;
mod solver_waves;
mod splitting;
mod transport;
mod transport_faces;
mod tubes;
mod viscous;
mod walls;
mod waves;

use std::sync::LazyLock;

use stencil_compiler::model::Scheme;
use stencil_runtime::{Boundary, Definition, Error, Number, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs, takes_in_turn, with_scheme};

/// All reconstructions of states with each limiter, as a scheme has them.
static RECONSTRUCTIONS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let fits = |text: &String| {
        let set = Scheme::default().with_fluxes("reconstruct", text, &[]);
        set.is_ok_and(|scheme| !corrects_waves(&scheme.reconstruct))
    };
    let limiters = choices("reconstruct", "plm<limiter = unknown>");
    let limiters = limiters.iter().flat_map(|name| {
        ["", ", theta = 1.3"].map(|theta| format!("plm<limiter = {name}{theta}>"))
    });
    let all = choices("reconstruct", "none").into_iter();
    let all = all.filter(|name| name != "plm").chain(limiters);
    all.filter(fits).map(|text| &*text.leak()).collect()
});

/// Does a reconstruction correct waves, in steps of one stage?
fn corrects_waves(reconstruct: &str) -> bool {
    ["waves", "waf"].iter().any(|name| reconstruct.starts_with(name))
}

/// Returns the names that a message lists.
fn choices(key: &str, text: &str) -> Vec<String> {
    let error = Scheme::default().with_fluxes(key, text, &[]);
    let error = error.expect_err("nothing has this name");
    let notes = error.iter().flat_map(|diagnostic| &diagnostic.notes);
    let mut lists = notes.filter_map(|(_, note)| note.strip_prefix("choices: "));
    let names = lists.next().expect("all names").split(", ");
    names.map(str::to_string).collect()
}

/// Riemann solvers that take states.
const SOLVERS: [&str; 8] = ["exact", "force", "hll", "hllc", "hlle", "musta", "roe", "rusanov"];

/// Returns the exact solver of a system of the library, with the functions that it calls.
fn exact_solver(source: &str) -> &str {
    let from = source.find("/// The change of ").unwrap_or_default();
    let to = source.find("observe ").unwrap_or(from);
    &source[from..to]
}

/// Returns the declaration with the solver that the library has for such a law.
fn with_solver(text: &str, riemann: &str) -> String {
    let library = match text.contains("conserved rho") {
        true => include_str!("../../../../physics/src/systems/ideal_gas.rs"),
        false => include_str!("../../../../physics/src/systems/shallow_water.rs"),
    };
    match (riemann, text.trim_end().strip_suffix('}')) {
        ("exact", Some(items)) => format!("{items}{}}}", exact_solver(library)),
        _ => text.to_string(),
    }
}

/// Returns every reconstruction, of all kinds of variables, and every solver, each with some of the others: as the
/// settings `reconstruct` and `riemann`.
fn pairs() -> Vec<(String, &'static str)> {
    let each = |variables: &str, all: &[&str], riemann: &'static str| -> Vec<_> {
        let all = all.iter().map(|made| (format!("{made}{variables}"), riemann));
        all.collect()
    };
    let mut pairs = each("", &RECONSTRUCTIONS, "hll");
    pairs.extend(each(" in primitive", &RECONSTRUCTIONS, "hllc"));
    let waves = ["waves<limiter = mc>", "waves<limiter = van_leer>"];
    pairs.extend(each("", &waves, "roe"));
    let waves = ["waves<limiter = mc>", "waves<limiter = none>"];
    pairs.extend(each("", &waves, "hlle"));
    pairs.extend(each("", &["waf<limiter = mc>"], "roe"));
    pairs.extend(each(" in fluxes", &["constant", "plm<limiter = van_leer>"], "rtvd"));
    let some = ["plm<limiter = mc>", "ppm", "weno5"];
    pairs.extend(each(" in characteristic", &some, "roe"));
    pairs.extend(each(" in characteristic", &["weno_z"], "hllc"));
    pairs.extend(each(" in fluxes", &RECONSTRUCTIONS, "rusanov"));
    for riemann in ["hll", "hlle", "roe"] {
        pairs.extend(each(" in fluxes", &some, riemann));
    }
    for riemann in SOLVERS {
        let some = ["constant", "plm<limiter = mc>"];
        pairs.extend(each("", &some, riemann));
        pairs.extend(each(" in primitive", &some, riemann));
    }
    pairs.sort();
    pairs.dedup();
    pairs
}

/// Returns those whose turn it is.
fn pairs_in_turn() -> impl Iterator<Item = (String, &'static str)> {
    let all = pairs().into_iter().enumerate();
    all.filter(|(number, _)| takes_in_turn::<f64>(*number)).map(|(_, pair)| pair)
}

/// Transport of `q` along x.
const ADVECTION: &str = "system Advection in 1d {
    conserved q: scalar; param a: real = 1;
    flux q -> [a*q];
    primitive { q; }
    waves { flow: [a]; }
    cfl { advective: abs(a); }
}";

/// A gas (Toro 2009, Eqs. 3.1 to 3.6).
const EULER: &str = "system Euler in nd {
    conserved rho: scalar; conserved m: vector; conserved e: scalar;
    param gamma: real = 1.4;
    let u = m / rho;
    let p = (gamma - 1) * (e - dot(m, u)/2);
    let c = sqrt(gamma * p / rho);
    let H = (e + p) / rho;
    flux rho -> m;
    flux m -> outer(m, u) + p*I;
    flux e -> (e + p) * u;
    primitive { rho; u; p; m = rho*u; e = p/(gamma - 1) + rho*dot(u, u)/2; }
    average { rho; u by sqrt(rho); H by sqrt(rho); m = rho*u; e = rho*(H + (gamma - 1)*dot(u, u)/2)/gamma; }
    waves { flow: u; sound: c; density: rho; pressure: p; }
    cfl { advective: norm(u) + c; }
}";

/// Water of depth `h` (LeVeque 2002, Eq. 13.5).
const WATER: &str = "system Water in nd {
    conserved h: scalar; conserved m: vector;
    param g: real = 1;
    let u = m / h;
    let p = g*h^2/2;
    let c = sqrt(g*h);
    flux h -> m;
    flux m -> outer(m, u) + p*I;
    primitive { h; u; m = h*u; }
    average { h; u by sqrt(h); m = h*u; }
    waves { flow: u; sound: c; density: h; pressure: p; }
    cfl { advective: norm(u) + c; }
}";

/// Returns a declaration with a scheme, of one stage if waves are corrected.
fn law(text: &str, dimension: usize, reconstruct: &str, riemann: &str) -> SystemDef {
    let name = text.split_whitespace().nth(1).unwrap_or_default();
    let time = match corrects_waves(reconstruct) {
        true => "euler",
        false => "ssprk3",
    };
    let scheme = format!(
        "scheme s for {name} {{ reconstruct: {reconstruct}; riemann: {riemann}; time: {time}; }}"
    );
    let text = format!("{}\n{scheme}", with_solver(text, riemann));
    SystemDef::from_text_in(name, &text, Some(dimension)).or_panic()
}

/// Returns a law of the library with a scheme as in [`law`], in place of its own.
fn of_library(definition: &Definition, reconstruct: &str, riemann: &str) -> SystemDef {
    let time = match corrects_waves(reconstruct) {
        true => "euler",
        false => "ssprk3",
    };
    with_scheme(
        definition,
        &format!("reconstruct: {reconstruct}; riemann: {riemann}; time: {time};"),
    )
}

/// Returns a run on a unit box, periodic or with outflow along x.
fn started<T: Number>(
    system: &SystemDef,
    cells: [usize; 3],
    outflow: bool,
    dt: Option<f64>,
) -> Simulation<T> {
    let mut builder = Simulation::<T>::builder(system).cells(cells).centered(true);
    if outflow {
        builder = builder.boundary(stencil_runtime::Axis::X, Boundary::outflow());
    }
    builder = match dt {
        // Some steps are chosen to show their error.
        Some(dt) => builder.dt(dt).unchecked_step(true),
        None => builder.cfl(0.4),
    };
    builder.build().or_panic()
}

/// Returns the mean error of a component at `end`, whose exact value is a function of the speed `(x - 1/2)/t` along x.
fn error_of_fan<T: Number>(
    simulation: &mut Simulation<T>,
    component: &str,
    end: f64,
    exact: impl Fn(f64) -> f64,
) -> Result<f64, Error> {
    simulation.run_until(end, |_, _| ())?;
    Ok(simulation.error(component, |x, _, _| exact((x - 0.5) / end)))
}
