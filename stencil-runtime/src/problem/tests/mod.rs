//! Problem files: reading, refusing, and writing again.

use super::*;

mod cases;
mod open_faces;
mod random;
mod reading;
mod wrong;

/// A right problem that has every kind of setting.
pub(super) const FLOW: &str = r#"title = "Flow"
system = '''
pub system Flow in 2d {
    field rho: scalar;
    field u: vector;
    param nu: real = 0.1 where nu >= 0;
    param c: real;
    source f: vector;
    ddt(rho) = -div(u) + f.x;
    ddt(u) = nu*lap(u) - c^2*grad(rho) + f;
    observe mass = sum(rho);
}
'''
scheme = { order = 4, mixed = "composed", time = "euler" }
precision = "f64"

[mesh]
cells = [16, 12]
extent = ["2*pi", 3]
origin = [0, -1.5]
centered = true

[boundary]
x = "periodic"

[boundary.y.lo]
kind = "wall"
u_x = { dirichlet = "sin(x - t)" }

[boundary.y.hi]
neumann = 0
u = { dirichlet = ["speed", 0] }
rho = { expr = "near_rho + 0.1*(rho - near_rho)" }

[params]
c = "2*3"

[let]
speed = "c/4"
r = "sqrt(x^2 + y^2)"
bump = "exp(-r^2)"

[init]
rho = "1 + bump"
u = [0, "speed*y"]

[source]
f_x = 0
f_y = "sin(t)*x"

[exact]
rho = 1

[time]
dt = "0.1*h/c"
end = 1
steps = 100

[output]
dir = "out/flow"
every = 10
fields = ["u", "rho"]
series_every = 2
spectrum = false

[[plot]]
value = "sqrt(u_x^2 + u_y^2)"
label = "|u|"
map = "magma"
range = [0, 1]

[[plot]]
value = "rho"

[[plot]]
value = "d[x](u.y) - d[y](u.x)"
title = "vorticity"
"#;

pub(super) fn parse(text: &str, changes: &[Change]) -> Result<Problem, ProblemError> {
    Problem::parse("flow.toml", text, "", &Library::empty(), changes)
}

/// Returns the problem with one stretch replaced.
pub(super) fn with(old: &str, new: &str) -> String {
    assert_eq!(FLOW.matches(old).count(), 1, "{old}");
    FLOW.replace(old, new)
}
