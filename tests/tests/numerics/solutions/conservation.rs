//! Sums of conserved quantities stay, to rounding if the equations are written as conservation laws, and to the order
//! of the scheme if they are not.

use std::f64::consts::TAU;

use physics::systems;
use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::OrPanic;

use super::support::{changed, observed, settle};

fn definition(name: &str, dimension: usize) -> stencil_runtime::Definition {
    let all = systems::ALL.iter().filter(|d| d.name == name);
    let fits = |d: &&stencil_runtime::Definition| {
        SystemDef::new(d).is_ok_and(|s| s.model().dimension == dimension)
    };
    *all.clone().find(fits).expect("a system")
}

/// Returns a run from waves in all components.
fn started(system: &SystemDef, n: usize, dt: f64) -> Simulation<f64> {
    let d = system.model().dimension;
    let mut simulation = Simulation::<f64>::builder(system)
        .cells(std::array::from_fn(|i| if i < d { n } else { 1 }))
        .extent(std::array::from_fn(|i| if i < d { TAU } else { 1.0 }))
        .dt(dt)
        .build()
        .or_panic();
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (c, name) in names.iter().enumerate() {
        let shift = 0.8 * c as f64;
        settle(&mut simulation, name, |[x, y, z]| {
            0.1 * ((x + shift).sin() * (y - shift).cos() + (z + x + 2.0 * shift).cos())
        });
    }
    simulation
}

/// Returns the largest change of an observable in a run, and its value at the start.
fn drift(
    simulation: &mut Simulation<f64>,
    steps: u64,
    of: impl Fn(&Observed) -> f64,
) -> (f64, f64) {
    let start = of(&simulation.observe().unwrap());
    let mut largest: f64 = 0.0;
    for _ in 0..steps {
        simulation.step().or_panic();
        largest = largest.max((of(&simulation.observe().unwrap()) - start).abs());
    }
    (largest, start)
}

type Observed = std::collections::BTreeMap<String, f64>;

#[test]
fn conservation_laws_hold_to_rounding() {
    for (name, dimension, quantity) in
        [("Heat", 1, "heat"), ("Heat", 3, "heat"), ("Burgers", 1, "momentum"), ("Kdv", 1, "mass")]
    {
        let system = SystemDef::new(&definition(name, dimension)).or_panic();
        let mut simulation = started(&system, 20, 1e-3);
        let before =
            simulation.to_f64(simulation.components().next().expect("one").to_string().as_str());
        let (change, _) = drift(&mut simulation, 100, |o| o[quantity]);
        assert!(change < 1e-15, "{name} in {dimension}d: {quantity} changes by {change:e}");
        let after =
            simulation.to_f64(simulation.components().next().expect("one").to_string().as_str());
        let moved = (before.expect("a field") - after.expect("a field")).mapv(f64::abs).sum();
        assert!(moved > 1e-3, "{name} in {dimension}d: nothing happened");
    }
}

#[test]
fn invariants_of_other_forms_hold_to_the_order_of_the_scheme() {
    type Invariant = fn(&Observed) -> f64;
    let cases: [(&str, usize, Invariant, [usize; 2]); 4] = [
        ("Wave", 2, |o| o["energy"], [12, 16]),
        ("Kdv", 1, |o| o["momentum"], [16, 20]),
        ("IsothermalNs", 3, |o| o["mass"], [10, 14]),
        ("Mhd", 3, |o| o["mass"], [10, 14]),
    ];
    for (name, dimension, invariant, meshes) in cases {
        let system = changed(&definition(name, dimension), |model| {
            model.scheme.time = "rk4".to_string();
        });
        let change = |n| {
            let (change, start) = drift(&mut started(&system, n, 2e-3), 50, invariant);
            change / start.abs()
        };
        let (coarse, fine) = (change(meshes[0]), change(meshes[1]));
        let order = f64::from(system.model().scheme.order);
        let observed = observed(coarse, fine, meshes[1] as f64 / meshes[0] as f64);
        assert!(
            fine < 1e-14 || observed > order - 1.0,
            "{name}: {coarse:e}, {fine:e}, observed {observed:.2}"
        );
    }
}

/// Viscosity, resistivity and waves turn energy of motion and field into heat: the sum of all energies stays.
#[test]
fn energy_of_a_magnetized_gas_is_conserved() {
    let system = changed(&definition("Mhd", 3), |model| {
        model.scheme.time = "rk4".to_string();
    });
    let total: fn(&Observed) -> f64 =
        |o| o["kinetic_energy"] + o["magnetic_energy"] + o["internal_energy"];
    let of = |n| {
        let mut simulation = started(&system, n, 4e-3);
        let before = simulation.observe().unwrap();
        let (change, _) = drift(&mut simulation, 25, total);
        let lost = before["kinetic_energy"] + before["magnetic_energy"]
            - simulation.observe().unwrap()["kinetic_energy"]
            - simulation.observe().unwrap()["magnetic_energy"];
        (change, lost)
    };
    let ((coarse, _), (fine, lost)) = (of(14), of(20));
    let observed = observed(coarse, fine, 20.0 / 14.0);
    assert!(observed > 4.5, "{coarse:e}, {fine:e}, observed {observed:.2}");
    assert!(fine < 1e-2 * lost.abs(), "{fine:e} of {lost:e}");
}
