//! Open faces: characteristic ones and absorbing layers.

use super::*;
use crate::Simulation;

/// Water in a box with waves that go all ways.
const POND: &str = "
system = '''
system Pond in 2d {
    conserved h: scalar where h > 0;
    conserved m: vector;
    let u = m/h;
    flux h -> m;
    flux m -> outer(m, u) + h^2/2*I;
}
scheme s for Pond { reconstruct: plm<limiter = van_leer>; riemann: hll; time: ssprk2; }
'''
[mesh]
cells = [24, 20]
extent = [1.2, 1]
[params]
[let]
depth = 1
[boundary]
x = { kind = 'absorbing', width = '0.3', strength = 40, far = { h = 'depth', m = [0, 0] } }
y = { lo = { kind = 'characteristic', far = { h = 'depth', m_x = 0, m_y = 0 } }, hi = { kind = 'absorbing', width = 0.25, strength = 40, far = { h = '1 + 0*t', m = 0 } } }
[init]
h = '1 + 0.01*exp(-100*((x - 0.6)^2 + (y - 0.5)^2))'
[time]
dt = 'cfl(0.9)'
steps = 30
";

fn started(text: &str) -> (Problem, Simulation<f64>) {
    let problem = parse(text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = problem.builder::<f64>().build().unwrap_or_else(|e| panic!("{e}"));
    problem.initialize(&mut simulation).unwrap();
    (problem, simulation)
}

#[test]
fn layers_are_terms_of_the_system() {
    let (problem, mut simulation) = started(POND);
    let model = problem.system.model();
    let sources: Vec<&str> = model.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(sources, ["absorbing_a", "absorbing_b", "absorbing_b_h"]);
    let lines = problem.boundary_lines().join("\n");
    assert!(
        lines.contains("x.lo: absorbing layer of width 0.3, strength 40, far h = depth"),
        "{lines}"
    );
    assert!(lines.contains("y.lo: characteristic, far h = depth"), "{lines}");
    // Written and read again, with the same bits on four devices.
    let text = problem.to_toml(None);
    assert_eq!(started(&text).0.to_toml(None), text);
    let (_, mut cut) = started(&text.replace("[mesh]", "[mesh]\npatches = [2, 2]\ndevices = 4"));
    for simulation in [&mut simulation, &mut cut] {
        simulation.run(30, |_, _| ()).unwrap();
    }
    for name in ["h", "m_x", "m_y"] {
        assert_eq!(simulation.field(name).unwrap(), cut.field(name).unwrap());
    }
    // The water of a layer is on its way to the far depth.
    let observed = simulation.observe().unwrap();
    assert!(observed["absorbed_h"] > 0.0, "{observed:?}");
}

/// Light in a box: a layer, a formula on the lower face at the places of `e_z`, and a conductor.
const LIGHT: &str = "
system = '''
system Light in 2d {
    edge field e: vector<3>; face field b: vector<3>;
    ddt(e) = curl(b); ddt(b) = -curl(e);
    cfl { advective: 1; }
}
scheme yee for Light { space: central<order = 2>; time: ssprk3; }
'''
[mesh]
cells = [24, 20]
extent = [1.2, 1]
[boundary]
x = { kind = 'absorbing', width = 0.3, strength = 40, far = { e = 0, b = [0, '0.01*sin(t)', 0] } }
y = { lo = { kind = 'outflow', e_z = { dirichlet = 'sin(9*t)*exp(-40*(x - 0.6)^2)' } }, hi = 'wall' }
[init]
e = 0
[time]
dt = 'cfl(0.5)'
steps = 30
";

#[test]
fn layers_and_formulas_are_for_faces_and_edges_too() {
    let (problem, mut simulation) = started(LIGHT);
    let text = problem.to_toml(None);
    assert_eq!(started(&text).0.to_toml(None), text);
    let (_, mut cut) = started(&text.replace("[mesh]", "[mesh]\npatches = [2, 2]\ndevices = 4"));
    for simulation in [&mut simulation, &mut cut] {
        simulation.run(30, |_, _| ()).unwrap();
    }
    for name in ["e_z", "b_x", "b_y"] {
        assert_eq!(simulation.field(name).unwrap(), cut.field(name).unwrap());
        assert!(simulation.field(name).unwrap().iter().any(|value| value.abs() > 0.01), "{name}");
    }
    let upper = LIGHT.replace("hi = 'wall'", "hi = { kind = 'wall', e_z = { dirichlet = 't' } }");
    let problem = parse(&upper, &[]).unwrap_or_else(|e| panic!("{e}"));
    let error = problem.builder::<f64>().build().unwrap_err().to_string();
    assert!(error.contains("`e_z` at y.hi"), "{error}");
}

/// A change, and a part of the message.
const WRONG: [(&str, &str, &str); 14] = [
    ("width = '0.3', ", "", "a face that is absorbing has no `width`"),
    ("width = '0.3'", "width = 0.7", "wider than half of the mesh"),
    ("width = '0.3'", "width = 0.1", "narrower than four cells"),
    ("width = '0.3'", "width = 0", "a number above zero"),
    ("width = '0.3'", "with = 0.3", "did you mean `width`?"),
    ("m = [0, 0]", "m = [0, 0, 0]", "3 values for 2 components"),
    ("m = [0, 0]", "n = 0", "no field or component `n`"),
    ("m = [0, 0]", "m = 0, m_x = 1", "`m_x` is given twice"),
    ("{ h = 'depth', m = [0, 0] }", "{}", "the far state is empty"),
    ("{ h = 'depth', m = [0, 0] }", "1", "a table of fields"),
    ("m_x = 0, ", "m_x = 'x', ", "depends on the place or the time"),
    ("far = { h = 'depth', m_x = 0, m_y = 0 }", "width = 1", "has no `far`"),
    (
        "{ kind = 'absorbing', width = '0.3', strength = 40, far = { h = 'depth', m = [0, 0] } }",
        "'absorbing'",
        "`absorbing` needs a far state",
    ),
    ("let u = m/h;", "let u = m/h; param absorbing_a_h: real = 1;", "do not go with Pond"),
];

#[test]
fn open_faces_that_do_not_fit_are_refused() {
    for (old, new, answer) in WRONG {
        assert_eq!(POND.matches(old).count(), 1, "{old}");
        let error = parse(&POND.replace(old, new), &[]).expect_err(new);
        assert!(error.to_string().contains(answer), "{new}: {error}");
    }
    let built = |text: String| {
        let problem = parse(&text, &[]).unwrap_or_else(|e| panic!("{e}"));
        problem.builder::<f64>().build().err().map(|e| e.to_string()).unwrap_or_default()
    };
    let lacking = built(POND.replace("m_x = 0, ", ""));
    assert!(lacking.contains("the far state has no `m_x`"), "{lacking}");
    let no_waves = built(POND.replace("h = 'depth', m_x", "h = -1, m_x"));
    assert!(no_waves.contains("the far state has no waves"), "{no_waves}");
    let text = POND.replace("conserved h: scalar where h > 0", "field h: scalar");
    let text = text.replace("conserved m", "field m").replace("flux h -> m;", "ddt(h) = -div(m);");
    let text = text.replace("flux m -> outer(m, u) + h^2/2*I;", "ddt(m) = -grad(h);");
    let text = text.replace(
        "reconstruct: plm<limiter = van_leer>; riemann: hll; time: ssprk2",
        "space: central<order = 2>; time: rk4",
    );
    let no_law = built(text.replace("cfl(0.9)", "auto"));
    assert!(
        no_law.contains("Pond has no fluxes") && no_law.contains("absorbing layer"),
        "{no_law}"
    );
}
