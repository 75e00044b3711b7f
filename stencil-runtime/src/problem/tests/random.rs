//! Random fields in initial values.

use super::*;
use crate::Simulation;
use crate::spectrum::kinetic_energy;

const STIRRED: &str = "
system = 'system Stirred in nd { field q: scalar; field u: vector; ddt(q) = lap(q); ddt(u) = lap(u); }'
[mesh]
cells = [16, 12]
extent = [4, 3]
[let]
size = 0.1
[random]
first = { spectrum = 'size*k^2*exp(-k)', seed = 3 }
second = { spectrum = '1/(1 + k^4)' }
[init]
q = 'x + second_y'
u = ['first_x', 'first_y']
[time]
dt = 1e-3
steps = 2
";

fn started(text: &str) -> (Problem, Simulation<f64>) {
    let problem = parse(text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = problem.builder::<f64>().build().unwrap();
    problem.initialize(&mut simulation).unwrap();
    (problem, simulation)
}

#[test]
fn random_fields_have_their_spectra() {
    let (problem, simulation) = started(STIRRED);
    assert_eq!(problem.random.len(), 2);
    let u = ["u_x", "u_y"].map(|name| simulation.to_f64(name).unwrap());
    let found = kinetic_energy(&[u[0].view(), u[1].view()], simulation.spacing()).unwrap();
    for (k, energy) in found.k.iter().zip(&found.energy).take(6).skip(1) {
        let wanted = 0.1 * k * k * (-k).exp() * found.k[1];
        assert!((energy / wanted - 1.0).abs() < 1e-12, "k = {k}: {energy} {wanted}");
    }
    // A formula may add a number to a field, which itself has no mean.
    let q = simulation.to_f64("q").unwrap();
    let mean = q.sum() / q.len() as f64;
    assert!((mean - 0.25 * 7.5).abs() < 1e-12, "{mean}");
    assert!(q[[0, 0, 0]] != 0.0);
}

#[test]
fn a_problem_with_random_fields_survives_writing() {
    let (problem, mut simulation) = started(STIRRED);
    let (again, mut other) = started(&problem.to_toml(None));
    assert_eq!(again.to_toml(None), problem.to_toml(None));
    for simulation in [&mut simulation, &mut other] {
        simulation.run(2, |_, _| ()).unwrap();
    }
    for name in ["q", "u_x", "u_y"] {
        assert_eq!(simulation.field(name).unwrap(), other.field(name).unwrap());
    }
}

/// A change, and a part of the message.
const WRONG: [(&str, &str, &str); 9] = [
    ("seed = 3", "seeds = 3", "did you mean `seed`?"),
    ("seed = 3", "seed = 0.5", "a whole number"),
    ("spectrum = '1/(1 + k^4)'", "seed = 2", "add spectrum ="),
    ("{ spectrum = '1/(1 + k^4)' }", "3", "a table with a spectrum"),
    ("k^2*exp(-k)", "x*exp(-k)", "a formula of the wavenumber k"),
    ("k^2*exp(-k)", "q*exp(-k)", "q"),
    ("size = 0.1", "size = 0.1\nk = 2", "the name `k` is taken"),
    ("size = 0.1", "size = 0.1\nfirst_y = 2", "the name `first_y` is taken"),
    ("second = {", "first_x = {", "help"),
];

#[test]
fn what_is_wrong_in_random_fields_is_said() {
    for (old, new, answer) in WRONG {
        assert_eq!(STIRRED.matches(old).count(), 1, "{old}");
        let error = parse(&STIRRED.replace(old, new), &[]).expect_err(new);
        assert!(error.to_string().contains(answer), "{new}: {error}");
    }
    let line = STIRRED
        .replace("[16, 12]", "[16]")
        .replace("[4, 3]", "[4]")
        .replace("['first_x', 'first_y']", "0");
    let error = parse(&line, &[]).expect_err("one dimension");
    assert!(error.to_string().contains("without divergence"), "{error}");
}
