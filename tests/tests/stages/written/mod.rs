//! Every engine's values are those of the expressions as they are written, in twice the precision, within the bounds of
//! rounding.

mod faces;
mod squares;

use stencil_compiler::catalogue::{Function, Rank};
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::interp::Shadow;
use stencil_compiler::model::{self, Arith, Mixed, Model};
use stencil_compiler::search::presets;
use stencil_tests::written::{self, PERIODIC, Run, within};
use stencil_tests::{Case, differing, discretized, interpreted, oracle, row_engine};

const STEPS: usize = 2;

fn read(text: &str) -> Model {
    model::parse::parse_str(text).unwrap_or_else(|e| panic!("{}", e.render("test", text)))
}

fn run<'a>(model: &'a Model, case: &'a Case) -> Run<'a> {
    Run {
        model,
        cells: case.cells,
        spacing: case.spacing,
        params: &case.params,
        dt: case.dt,
        faces: PERIODIC,
    }
}

/// Returns initial values of fields, then sources.
fn initial<T: Real>(model: &Model, case: &Case) -> Vec<Vec<T>> {
    let algorithm = discretized(model);
    let states = case.set_states(&algorithm).into_iter();
    states.map(|(i, _)| case.initial(i)).collect()
}

/// Returns the largest error of the engines on a model in parts of its bound.
///
/// # Errors
/// An engine whose values are beyond it, or have other bits than another's.
fn engines<T: Real>(model: &Model, case: &Case, steps: usize) -> Result<f64, String> {
    let algorithm = discretized(model);
    let bounds = run(model, case).fields::<T>(&initial(model, case), steps);
    let all: usize = bounds.iter().map(Vec::len).sum();
    let found = oracle::<T>(&algorithm, case, steps);
    let (worst, bounded) = within(&found, &bounds)?;
    let composed = model.scheme.mixed == Mixed::Composed;
    if bounded < all && composed {
        return Err(format!("{} of {all} values have no bound", all - bounded));
    }
    let same = |what: &str, values: &[Vec<T>]| match differing(values, &found) {
        0 => Ok(()),
        count => Err(format!("{what}: {count} bits")),
    };
    same("rows", &row_engine(&algorithm, case, steps))?;
    let cpu = presets::ALL.iter().find(|preset| preset.name == "cpu");
    let schedule = cpu.expect("a preset").schedule(&algorithm, T::PRECISION);
    let compiled =
        compile(&algorithm, &schedule, &Target::new(T::BYTES)).map_err(|e| e.to_string())?;
    let values = interpreted::<T>(&algorithm, &compiled, case, steps, 1, Shadow::Full);
    same("kernels", &values.map_err(|e| e.to_string())?)?;
    Ok(worst)
}

fn cells(dimension: usize) -> [usize; 3] {
    [[23, 1, 1], [11, 9, 1], [7, 6, 5]][dimension - 1]
}

/// Returns a model by each mixed form and each way to write sums.
fn forms(model: &Model) -> Vec<Model> {
    let mut all = Vec::new();
    for mixed in [Mixed::Bidiagonal, Mixed::Product, Mixed::Composed] {
        for arith in [Arith::Collected, Arith::AsWritten] {
            let mut model = model.clone();
            model.scheme.mixed = mixed;
            model.scheme.arith = arith;
            all.push(model);
        }
    }
    all
}

/// All systems of the library without fluxes.
#[test]
fn systems_of_the_library_are_as_they_are_written() {
    let mut count = 0;
    for definition in physics::systems::ALL {
        let declared = read(definition.model);
        if !declared.fluxes.is_empty() {
            continue;
        }
        // Derivatives between faces and cells have one form.
        let first = if declared.is_staggered() { 4 } else { 0 };
        for model in forms(&declared).into_iter().skip(first) {
            let algorithm = discretized(&model);
            let mut case = Case::new(&algorithm, cells(model.dimension));
            case.dt = 1e-3;
            case.means = vec![1.0; algorithm.states.len()];
            let scheme = &model.scheme;
            let name = format!("{} {:?} {:?}", definition.name, scheme.mixed, scheme.arith);
            for (precision, found) in [
                ("f64", engines::<f64>(&model, &case, STEPS)),
                ("f32", engines::<f32>(&model, &case, STEPS)),
            ] {
                let worst = found.unwrap_or_else(|e| panic!("{name} {precision}: {e}"));
                // A bound that is never approached proves nothing.
                let approached = (1e-3..=1.0).contains(&worst);
                assert!(
                    approached || scheme.mixed != Mixed::Composed,
                    "{name} {precision}: {worst}"
                );
            }
            count += 1;
        }
    }
    assert!(count >= 50, "{count} forms");
}

/// Functions of scalars whose values other tests have no bounds of, jumps among them.
#[test]
fn functions_of_scalars_are_as_they_are_written() {
    let model = read(
        "system Functions in 2d {
            field q: scalar;
            field r: scalar;
            param k: real = 0.31;
            ddt(q) = sinh(2*q) - cosh(r) + erf(2*q - r);
            ddt(r) = mod(q + 2*r, k) + floor(5*q)*r - mod(r, -k);
        }
        scheme s for Functions { space: central<order = 2>; time: ssprk2; }",
    );
    let mut case = Case::new(&discretized(&model), cells(2));
    case.dt = 1e-3;
    for found in [engines::<f64>(&model, &case, STEPS), engines::<f32>(&model, &case, STEPS)] {
        let worst = found.unwrap_or_else(|e| panic!("{e}"));
        assert!((1e-3..=1.0).contains(&worst), "{worst}");
    }
}

/// Each operator of the language by every order and integrator.
#[test]
fn operators_and_integrators_are_as_they_are_written() {
    let times: Vec<&str> = written::integrators().collect();
    let bodies = [
        "field f: scalar; field v: vector; param k: real = 0.3;
         ddt(f) = k*lap(f) + div(f*v) - upwind(v, f) + 1e-3*d3[x](f) - 1e-4*d4[y](f) + t*f;
         ddt(v) = grad(f*f) + grad(div(v)) - dot(v, grad(v)) + curl(v) - 1e-6*d6[z](v);",
        "field f: scalar; field s: symmetric; field w: antisymmetric;
         let e = sym_traceless(grad(div(s)));
         ddt(f) = norm(e) + trace(s)/(1 + f^2) - d[y](d[x](f)) + 1e-5*d5[x](f) + 1e-9*d8[z](f);
         ddt(s) = e - s*f;
         ddt(w) = grad(div(w)) - transpose(grad(div(w))) + 1e-7*d7[y](w);",
    ];
    for (i, body) in bodies.into_iter().enumerate() {
        for (j, time) in times.iter().enumerate() {
            let order = [2, 4, 6, 8, 10][(i + j) % 5];
            let text = format!(
                "pub system S in 3d {{ {body} }} scheme s for S {{ space: central<order = {order}>; time: {time}; }}"
            );
            for model in &forms(&read(&text))[j % 2..] {
                let case = Case::new(&discretized(model), cells(3));
                let worst = engines::<f64>(model, &case, 1);
                worst.unwrap_or_else(|e| panic!("{time} {order} {:?}: {e}", model.scheme.mixed));
            }
        }
    }
}

/// Every function by itself, of all fields that it takes: a row of the language is tested by being there.
#[test]
fn every_function_is_as_it_is_written() {
    let fields = [(Rank::Scalar, "f"), (Rank::Vector, "v"), (Rank::Tensor, "s")];
    let rows = Function::all().filter(|function| matches!(function, Function::Row(_)));
    for function in rows {
        let mut calls: Vec<Vec<(Rank, &str)>> = vec![Vec::new()];
        for _ in 0..function.arity() {
            let more = |call: &Vec<_>| fields.map(|field| [call.clone(), vec![field]].concat());
            calls = calls.iter().flat_map(more).collect();
        }
        for call in calls {
            let (ranks, names): (Vec<Rank>, Vec<&str>) = call.into_iter().unzip();
            let Some(made) = function.rank(&ranks) else {
                continue;
            };
            let rate = |(rank, name): (Rank, &str)| match rank == made {
                true => format!("ddt({name}) = {}({});", function.name(), names.join(", ")),
                false => format!("ddt({name}) = 0*{name};"),
            };
            let text = format!(
                "pub system S in 3d {{ field f: scalar; field v: vector; field s: tensor; {} }}
                 scheme s for S {{ space: central<order = 4>; time: euler; }}",
                fields.map(rate).concat()
            );
            let all = forms(&read(&text));
            for model in [&all[0], &all[5]] {
                let case = Case::new(&discretized(model), cells(3));
                let worst = engines::<f64>(model, &case, 1);
                worst.unwrap_or_else(|e| panic!("{text}: {e}"));
            }
        }
    }
}

/// Vectors of three components along fewer axes, by every operator that they have.
#[test]
fn vectors_of_three_components_are_as_they_are_written() {
    let body = "field f: scalar; field v: vector<3>; field s: symmetric<3>;
        let j = curl(v);
        ddt(f) = div(f*v) - upwind(v, f) + dot(v, grad(f)) + norm(j) + trace(s)/3;
        ddt(v) = cross(j, v) + grad(f*f) + grad(div(v)) - dot(v, grad(v)) + lap(v) + div(s) + curl(j) + [f, 2, f*f];
        ddt(s) = sym_traceless(grad(v)) - f*s + outer(v, v) + sym(grad(v)) + f*I;";
    for dimension in [1, 2] {
        let text = format!(
            "pub system S in {dimension}d {{ {body} }} scheme s for S {{ space: central<order = 4>; time: ssprk2; }}"
        );
        for model in &forms(&read(&text)) {
            let case = Case::new(&discretized(model), cells(dimension));
            let worst = engines::<f64>(model, &case, STEPS);
            worst.unwrap_or_else(|e| panic!("{dimension}d {:?}: {e}", model.scheme.mixed));
            let worst = engines::<f32>(model, &case, STEPS);
            worst.unwrap_or_else(|e| panic!("{dimension}d {:?}: {e}", model.scheme.mixed));
        }
    }
}
