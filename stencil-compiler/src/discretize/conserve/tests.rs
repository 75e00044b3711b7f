//! Which fluxes solvers accept that know the contact.

use crate::diag::Code;
use crate::discretize::discretize;
use crate::model::parse::parse_str;

/// A gas with these fluxes of momentum and energy.
fn gas(momentum: &str, energy: &str, setting: &str) -> String {
    format!(
        "system Gas in 2d {{
            conserved rho: scalar; conserved m: vector; conserved e: scalar;
            param gamma: real = 1.4; param a: real = 2;
            let u = m / rho;
            let p = (gamma - 1) * (e - dot(m, u)/2);
            let h = (e + p) / rho;
            flux rho -> m;
            flux m -> {momentum};
            flux e -> {energy};
            waves {{ flow: u; sound: sqrt(gamma*p/rho); density: rho; pressure: p; }}
        }}
        scheme s for Gas {{ reconstruct: constant; riemann: hllc; time: euler; {setting} }}"
    )
}

#[test]
fn fluxes_that_are_advection_and_the_work_of_a_pressure_are_seen_to_be() {
    let momenta = [
        "outer(m, u) + p*I",
        "rho*outer(u, u) + p*I",
        "outer(m, m)/rho + p*I",
        "outer(m, u) + p/2*a*I",
    ];
    let energies = [
        "(e + p) * u",
        "h * m",
        "rho*h*u",
        "e*u + p*m/rho",
        "(e + 3*p)*m/rho",
        "e*dot(u, u)/dot(m, u)*m + p*u",
    ];
    for setting in ["", "arith: as_written;"] {
        for (momentum, energy) in momenta.into_iter().zip(energies.into_iter().cycle()) {
            let source = gas(momentum, energy, setting);
            let found = discretize(&parse_str(&source).unwrap());
            assert!(found.is_ok(), "{momentum}, {energy}: {:?}", found.err());
        }
        for energy in energies {
            let source = gas(momenta[0], energy, setting);
            let found = discretize(&parse_str(&source).unwrap());
            assert!(found.is_ok(), "{energy}: {:?}", found.err());
        }
    }
}

#[test]
fn other_fluxes_are_refused_where_they_are_written() {
    let own = "outer(m, u) + p*I";
    let cases = [
        // The pressure is not named.
        (
            "outer(m, u) + (gamma - 1)*(e - dot(m, u)/2)*I",
            "(e + p)*u",
            "m",
        ),
        // Not moved with the flow.
        ("2*outer(m, u) + p*I", "(e + p)*u", "m"),
        (own, "(e + p)*m", "e"),
        (own, "(e + p)*u + 0.1*m", "e"),
        // Not linear in the pressure.
        ("outer(m, u) + p^2*I", "(e + p)*u", "m"),
        ("outer(m, u) + sqrt(p)*I", "(e + p)*u", "m"),
        (own, "(e + e/p)*u", "e"),
        // Neither a number nor the flow.
        ("outer(m, u) + p*rho*I", "(e + p)*u", "m"),
        (own, "(e + p*dot(u, u))*u", "e"),
        (own, "e*u + p*[u.y, u.x]", "e"),
    ];
    for (momentum, energy, field) in cases {
        let source = gas(momentum, energy, "");
        let error = discretize(&parse_str(&source).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::NotContactForm, "{momentum}, {energy}");
        assert!(error.message.contains(&format!("`{field}")), "{error}");
        let (line, column) = (error.span.start.line, error.span.start.column);
        let written = source.lines().nth(line as usize - 1).unwrap();
        let wrong = if field == "m" { momentum } else { energy };
        let found: String = written.chars().skip(column as usize).collect();
        assert!(found.starts_with(wrong), "{found}: {wrong}");
    }
}

/// A gas with these ways back.
fn primitive(momentum: &str, energy: &str) -> String {
    format!(
        "system Gas in 2d {{
            conserved rho: scalar; conserved m: vector; conserved e: scalar; field bed: scalar;
            param gamma: real where gamma > 1; param a: real = 2;
            let u = m / rho;
            let p = (gamma - 1) * (e - dot(m, u)/2 - a*bed);
            let s = log(p/pow(rho, gamma));
            flux rho -> m;
            flux m -> outer(m, u) + p*I;
            flux e -> (e + p)*u;
            ddt(bed) = 0;
            primitive {{ rho; u; s; m = {momentum}; e = {energy}; }}
        }}
        scheme c for Gas {{ reconstruct: plm in primitive; riemann: force; time: euler; }}"
    )
}

#[test]
fn primitives_and_what_is_conserved_follow_from_each_other() {
    let thermal = "exp(s)*pow(rho, gamma)/(gamma - 1)";
    let energies = [
        format!("{thermal} + rho*dot(u, u)/2 + a*bed"),
        format!("a*bed + rho*norm(u)^2/2 + {thermal}"),
    ];
    for energy in energies {
        let found = discretize(&parse_str(&primitive("rho*u", &energy)).unwrap());
        assert!(found.is_ok(), "{energy}: {:?}", found.err());
    }
    let right = format!("{thermal} + rho*dot(u, u)/2 + a*bed");
    let cases = [
        ("2*rho*u", right.clone(), "`u`"),
        ("[rho*u.y, rho*u.x]", right, "`u`"),
        ("rho*u", format!("{thermal} + rho*dot(u, u) + a*bed"), "`s`"),
        ("rho*u", format!("{thermal} + rho*dot(u, u)/2"), "`s`"),
    ];
    for (momentum, energy, name) in cases {
        let source = primitive(momentum, &energy);
        let error = discretize(&parse_str(&source).unwrap()).unwrap_err();
        assert_eq!(error.code, Code::WrongWayBack, "{momentum}, {energy}");
        assert!(error.message.starts_with(name), "{error}");
        let line = source
            .lines()
            .nth(error.span.start.line as usize - 1)
            .unwrap();
        assert!(line.contains("primitive {"), "{line}");
    }
}
