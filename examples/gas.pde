/// A gas (Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, 2009, Eqs. 3.1 to 3.6).
system Gas in nd {
    conserved rho: scalar [kg/m^3];
    conserved m: vector [kg/m^2/s];
    conserved E: scalar [J/m^3];
    param gamma: real = 1.4;
    let u = m / rho;
    let p = (gamma - 1) * (E - dot(m, u)/2);
    flux rho -> m;
    flux m -> outer(m, u) + p * I;
    flux E -> (E + p) * u;
    primitive { rho; u; p; m = rho*u; E = p/(gamma - 1) + rho*dot(u, u)/2; }
    waves { flow: u; sound: sqrt(gamma * p / rho); density: rho; pressure: p; }
    observe mass = mean(rho);
}
scheme lines for Gas { reconstruct: plm<limiter = mc> in primitive; riemann: hllc; time: ssprk2; }
scheme families for Gas { reconstruct: weno_z in characteristic; riemann: roe; time: ssprk3; }
