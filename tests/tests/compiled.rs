//! The CPU program that the macro compiles has the oracle's bits, on any number of threads.

use stencil_compiler::algorithm::Role;
use stencil_runtime::{Engine, Number, Simulation, SystemDef, ToSystem};
use stencil_tests::{Case, differing, oracle};

/// Declares a system three times, once for each form of mixed derivatives, and compiles it.
macro_rules! in_all_forms {
    ($module:ident, $($declaration:tt)*) => {
        mod $module {
            in_all_forms!(@form Bidiagonal bidiagonal $($declaration)*);
            in_all_forms!(@form Product product $($declaration)*);
            in_all_forms!(@form Composed composed $($declaration)*);
        }
    };
    (@form $name:ident $mixed:ident in $dimension:literal $body:tt) => {
        stencil_runtime::pde! {
            /// One form.
            pub(super) system $name in $dimension $body
            scheme central6 for $name { space: central<order = 6>; mixed: $mixed; time: rk3_williamson; }
        }
    };
}

in_all_forms!(navier_stokes, in 3d {
    field lnrho: scalar [1];
    field u: vector [m/s];
    param cs: real [m/s] = 1.0;
    param nu: real [m^2/s] = 5e-3 where nu >= 0;
    let s = sym_traceless(grad(u));
    ddt(lnrho) = -dot(u, grad(lnrho)) - div(u);
    ddt(u) = -dot(u, grad(u)) - cs^2 * grad(lnrho)
           + nu * (lap(u) + grad(div(u))/3 + 2*dot(s, grad(lnrho)));
});

in_all_forms!(elastic, in 3d {
    field w: vector [m];
    field v: vector [m/s];
    param c11: real [m^2/s^2] = 2.7;
    param c12: real [m^2/s^2] = 1.1;
    param c44: real [m^2/s^2] = 0.8;
    ddt(w) = v;
    ddt(v) = c44 * lap(w) + (c12 + c44) * grad(div(w))
           + (c11 - c12 - 2*c44) * [d2[x](w.x), d2[y](w.y), d2[z](w.z)];
});

const CELLS: [usize; 3] = [37, 22, 19];
const STEPS: u64 = 10;

fn agrees<T: Number>(system: &impl ToSystem) {
    let definition: SystemDef = system.to_system().unwrap_or_else(|e| panic!("{e}"));
    let algorithm = definition.algorithm().clone();
    let case = Case::new(&algorithm, CELLS);
    let reference = oracle::<T>(&algorithm, &case, STEPS as usize);
    for (engine, threads) in [
        (Engine::Compiled, 1),
        (Engine::Compiled, 2),
        (Engine::Compiled, 7),
        (Engine::Rows, 2),
    ] {
        let extent = std::array::from_fn(|axis| case.spacing[axis] * CELLS[axis] as f64);
        let builder = Simulation::<T>::builder(&definition)
            .cells(CELLS)
            .extent(extent)
            .dt(case.dt);
        let mut simulation = builder
            .threads(threads)
            .engine(engine)
            .build()
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(
            simulation.spacing(),
            case.spacing,
            "the same spacing to the bit"
        );
        let names: Vec<String> = algorithm
            .states_of(Role::Field)
            .map(|(_, s)| s.name.clone())
            .collect();
        for (i, name) in names.iter().enumerate() {
            let shape = (CELLS[2], CELLS[1], CELLS[0]);
            let values = ndarray::Array3::from_shape_vec(shape, case.initial::<T>(i))
                .expect("as many values as cells");
            simulation
                .set_array(name, values.view())
                .unwrap_or_else(|e| panic!("{e}"));
        }
        simulation
            .run(STEPS, |_, _| ())
            .unwrap_or_else(|e| panic!("{e}"));
        let field = |name: &String| simulation.field(name).map(|f| f.iter().copied().collect());
        let result: Vec<Vec<T>> = names
            .iter()
            .map(|n| field(n).unwrap_or_else(|e| panic!("{e}")))
            .collect();
        assert_eq!(
            differing(&result, &reference),
            0,
            "{} {} {engine:?} on {threads} threads",
            algorithm.scheme,
            T::NAME
        );
    }
}

#[test]
fn navier_stokes_compiled_has_the_oracles_bits() {
    agrees::<f32>(&navier_stokes::Bidiagonal);
    agrees::<f64>(&navier_stokes::Bidiagonal);
    agrees::<f32>(&navier_stokes::Product);
    agrees::<f64>(&navier_stokes::Product);
    agrees::<f32>(&navier_stokes::Composed);
    agrees::<f64>(&navier_stokes::Composed);
}

#[test]
fn elastic_waves_compiled_have_the_oracles_bits() {
    agrees::<f32>(&elastic::Bidiagonal);
    agrees::<f64>(&elastic::Bidiagonal);
    agrees::<f32>(&elastic::Product);
    agrees::<f64>(&elastic::Product);
    agrees::<f32>(&elastic::Composed);
    agrees::<f64>(&elastic::Composed);
}
