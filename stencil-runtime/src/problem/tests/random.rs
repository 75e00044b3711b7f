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

/// All kinds of random fields, of a band.
const NOISY: &str = "
system = 'system Noisy in nd { field q: scalar; field w: scalar; field u: vector; ddt(q) = 0; ddt(w) = 0; ddt(u) = 0*u; }'
[mesh]
cells = [24, 24]
extent = '2*pi'
[random]
a = { kind = 'scalar', spectrum = 'pow(k, -5/3)', band = [2, '4 + 3'], rms = 0.5, seed = 3 }
b = { kind = 'white', rms = 2, seed = 4 }
c = { kind = 'compressive', band = [2, 6], rms = 0.25 }
d = { kind = 'mixed', spectrum = '1/(1 + k^4)' }
[init]
q = 'a'
w = 'b'
u = ['c_x + 0*d_x', 'c_y + 0*d_y']
[time]
dt = 1e-3
steps = 1
";

fn rms(simulation: &Simulation<f64>, names: &[&str]) -> f64 {
    let square = |name: &&str| simulation.to_f64(name).unwrap().mapv(|v| v * v).mean().unwrap();
    names.iter().map(square).sum::<f64>().sqrt()
}

#[test]
fn bands_have_the_size_that_is_asked_for_on_any_mesh_and_devices() {
    let (problem, simulation) = started(NOISY);
    assert!((rms(&simulation, &["q"]) - 0.5).abs() < 1e-12);
    assert!((rms(&simulation, &["u_x", "u_y"]) - 0.25).abs() < 1e-12);
    assert!((rms(&simulation, &["w"]) - 2.0).abs() < 0.2);
    assert_eq!(started(&problem.to_toml(None)).0.to_toml(None), problem.to_toml(None));
    let q = simulation.to_f64("q").unwrap();
    let found = kinetic_energy(&[q.view()], simulation.spacing()).unwrap();
    assert!(found.energy[1] < 1e-30 && found.energy[8] < 1e-30);
    let slope = (found.energy[6] / found.energy[3]).log2();
    assert!((slope + 5.0 / 3.0).abs() < 1e-12, "{slope}");
    // The same bits on four devices, and the same waves on a finer mesh.
    let cut = NOISY.replace("extent", "patches = [2, 2]\ndevices = 4\nextent");
    let (_, cut) = started(&cut);
    let (_, fine) = started(&NOISY.replace("[24, 24]", "[48, 48]"));
    for name in ["q", "w", "u_x", "u_y"] {
        assert_eq!(simulation.to_f64(name).unwrap(), cut.to_f64(name).unwrap());
    }
    for name in ["q", "u_x", "u_y"] {
        let (coarse, fine) = (simulation.to_f64(name).unwrap(), fine.to_f64(name).unwrap());
        let shared = fine.slice(ndarray::s![.., ..;2, ..;2]);
        let differ = (&coarse - &shared).mapv(f64::abs).fold(0.0, |a: f64, b| a.max(*b));
        assert!(differ < 1e-12, "{name}: {differ:e}");
    }
}

/// A change of these, and a part of the message.
const WRONG_BANDS: [(&str, &str, &str); 11] = [
    ("'scalar'", "'scaler'", "did you mean `scalar`?"),
    ("[2, '4 + 3']", "[2, 12]", "ends at k = 12"),
    ("[2, '4 + 3']", "[2.2, 2.8]", "lies between two shells"),
    ("[2, '4 + 3']", "[3, 2]", "is no interval"),
    ("[2, '4 + 3']", "3", "a list"),
    ("rms = 0.5", "rms = 0", "a number above zero"),
    ("'pow(k, -5/3)'", "'-k'", "nowhere above zero"),
    ("'1/(1 + k^4)'", "'1/(k - 3)^2'", "is infinite for some wave"),
    ("rms = 2, ", "", "`random.b` has no size"),
    ("rms = 2", "rms = 2, band = [1, 2]", "it has no spectrum"),
    (", rms = 0.25", "", "`random.c` has no size"),
];

#[test]
fn bands_that_do_not_fit_are_refused() {
    for (old, new, answer) in WRONG_BANDS {
        assert_eq!(NOISY.matches(old).count(), 1, "{old}");
        let error = parse(&NOISY.replace(old, new), &[]).expect_err(new);
        assert!(error.to_string().contains(answer), "{new}: {error}");
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
