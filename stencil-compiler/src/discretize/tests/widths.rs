//! Vectors of three components on meshes of fewer axes: derivatives along the axes that are not there are zero.

use super::*;
use crate::algorithm::text;

fn of(dimension: usize, items: &str, scheme: &str) -> Algorithm {
    algorithm(&format!("pub system S in {dimension}d {{ {items} }} scheme s for S {{ {scheme} }}"))
}

#[test]
fn components_are_named_by_their_letters() {
    let items = "field B: vector<3>; field s: symmetric<3>; source f: vector<3>; ddt(B) = f; ddt(s) = outer(B, B);";
    let made = of(1, items, "space: central<order = 2>; time: euler;");
    assert_eq!(made.dimension, 1);
    assert_eq!(
        names(&made, Role::Field),
        ["B_x", "B_y", "B_z", "s_xx", "s_xy", "s_xz", "s_yy", "s_yz", "s_zz"]
    );
    assert_eq!(names(&made, Role::Given), ["f_x", "f_y", "f_z"]);
}

/// Both have the same functions, whatever these are called.
fn alike(dimension: usize, wide: &str, narrow: &str) {
    let scheme = "space: central<order = 4>; mixed: bidiagonal; time: euler;";
    let [wide, narrow] = [wide, narrow].map(|items| {
        let made = of(dimension, items, scheme);
        let mut sums: Vec<String> = text::print(&made)
            .lines()
            .filter(|line| line.starts_with("fn ddt_") || line.starts_with("update"))
            .filter_map(|line| Some(line.split_once(" = ")?.1.split(" @").next()?.to_string()))
            .collect();
        sums.sort();
        sums
    });
    assert!(!wide.is_empty());
    assert_eq!(wide, narrow);
}

#[test]
fn operators_go_along_the_axes_that_there_are() {
    alike(
        1,
        "field B: vector<3>; ddt(B) = curl(B);",
        "field B_x: scalar; field B_y: scalar; field B_z: scalar;
         ddt(B_x) = 0; ddt(B_y) = -d[x](B_z); ddt(B_z) = d[x](B_y);",
    );
    alike(
        2,
        "field B: vector<3>; ddt(B) = grad(div(B)) + lap(B);",
        "field B_x: scalar; field B_y: scalar; field B_z: scalar;
         ddt(B_x) = d2[x](B_x) + d[x](d[y](B_y)) + d2[x](B_x) + d2[y](B_x);
         ddt(B_y) = d[y](d[x](B_x)) + d2[y](B_y) + d2[x](B_y) + d2[y](B_y);
         ddt(B_z) = d2[x](B_z) + d2[y](B_z);",
    );
}

#[test]
fn laws_of_gas_in_a_magnetic_field_are_those_of_their_scalars() {
    let wide = "conserved rho: scalar; conserved m: vector<3>; conserved E: scalar; conserved B: vector<3>;
         param gamma: real = 5/3;
         let u = m/rho;
         let total = (gamma - 1)*(E - dot(m, u)/2) + (2 - gamma)*dot(B, B)/2;
         flux rho -> m; flux m -> outer(m, u) - outer(B, B) + total*I;
         flux E -> (E + total)*u - dot(u, B)*B; flux B -> outer(u, B) - outer(B, u);";
    for (dimension, axes) in [(1, vec!["x"]), (2, vec!["x", "y"])] {
        let made =
            of(dimension, wide, "reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk2;");
        let all: Vec<&str> = made.functions.iter().map(|f| &f.name[..]).collect();
        for axis in ["x", "y", "z"] {
            let flows = all.iter().any(|name| *name == format!("m_z_{axis}_flux"));
            assert_eq!(flows, axes.contains(&axis), "{axis}: {all:?}");
        }
    }
}

#[test]
fn every_solver_and_kind_of_variables_has_wide_vectors() {
    let gas = "conserved rho: scalar where rho > 0; conserved m: vector<3>; conserved E: scalar;
         param gamma: real = 1.4;
         let u = m/rho; let p = (gamma - 1)*(E - dot(m, u)/2); let c = sqrt(gamma*p/rho); let H = (E + p)/rho;
         flux rho -> m; flux m -> outer(u, m) + p*I; flux E -> (E + p)*u;
         primitive { rho; u; p; m = rho*u; E = p/(gamma - 1) + rho*dot(u, u)/2; }
         average { rho; u by sqrt(rho); H by sqrt(rho); m = rho*u; E = rho*(H + (gamma - 1)*dot(u, u)/2)/gamma; }
         waves { flow: u; sound: c; density: rho; pressure: p; }
         riemann halfway {
             let flow = dot(below.u + above.u, normal)/2; let speed = (below.c + above.c)/2;
             let inertia = (below.rho + above.rho)/2*speed;
             let middle = flow - (above.p - below.p)/(2*inertia);
             let pressed = (below.p + above.p)/2 - inertia*dot(above.u - below.u, normal)/2;
             let near = if 0 < middle { below.u } else { above.u };
             let across = near - dot(near, normal)*normal;
             let rho_near = if 0 < middle { below.rho } else { above.rho };
             let p_near = if 0 < middle { below.p } else { above.p };
             let taken = if speed <= abs(flow) { dot(near, normal) } else { middle };
             p = if speed <= abs(flow) { p_near } else { pressed };
             rho = if speed <= abs(flow) { rho_near } else { rho_near + (pressed - p_near)/speed^2 };
             u = across + taken*normal;
         }";
    for dimension in [1, 2] {
        for (reconstruct, riemann) in [
            ("plm<limiter = mc> in primitive", "hllc"),
            ("weno_z in characteristic", "roe"),
            ("weno5 in fluxes", "rusanov"),
            ("plm<limiter = mc> in primitive", "halfway"),
            ("plm<limiter = mc>", "musta"),
        ] {
            let scheme = format!("reconstruct: {reconstruct}; riemann: {riemann}; time: ssprk2;");
            let made = of(dimension, gas, &scheme);
            assert!(made.find_state("m_z").is_some(), "{scheme}");
        }
    }
    // Speeds that follow from the fluxes, and fluxes that do so without a third axis.
    let bare = gas.split("primitive").next().unwrap_or_default();
    for (reconstruct, riemann) in [("plm<limiter = mc>", "roe"), ("waves<limiter = mc>", "roe")] {
        let scheme = format!("reconstruct: {reconstruct}; riemann: {riemann}; time: euler;");
        assert_eq!(of(1, bare, &scheme).dimension, 1);
    }
}

#[test]
fn speeds_go_along_the_axes_that_there_are() {
    let law = "pub system S in 2d {
        conserved q: scalar; conserved B: vector<3>; flux q -> q^2*B; flux B -> outer(B, B);
        waves { flow: 2*q*B; sound: norm(B); } CFL
    } scheme s for S { reconstruct: plm; riemann: hll; time: ssprk2; }";
    for cfl in ["", "cfl { advective: 3*B; }"] {
        let mut model = model(&law.replace("CFL", cfl));
        if model.speeds.is_empty() {
            model.speeds = model.implied_speeds();
        }
        assert_eq!(model.check(), Ok(()));
        let watched = observe(&model).unwrap().unwrap();
        let names: Vec<&str> = watched.quantities.iter().map(|q| &q.name[..]).collect();
        assert_eq!(names, ["speed_1_x", "speed_1_y"]);
        // The printed model reads back.
        let again = parse_str(&crate::model::text::print(&model)).unwrap();
        assert_eq!(again.without_spans(), model.without_spans());
    }
}
